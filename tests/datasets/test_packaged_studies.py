"""Studies in the package: equal to the published files, and their printed numbers recomputed."""

import gzip
import json
import re
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import krippendorff
import pandas as pd
import pytest
from support.by_hand import contains, tango

import ragnb
from ragnb.datasets import load_responses, load_study, one_row_per_part, studies, study_files
from ragnb.datasets.packaged_studies import FOLDER, STUDIES
from ragnb.datasets.sources import git_blob_sha1, sources_of
from ragnb.errors import InputError

PACKAGE = Path(ragnb.__file__).parent
# The quickstart is an extract, which is compared with docs/answers.csv below.
PUBLISHED = [name for name in STUDIES if not name.startswith("sample-") and name != "quickstart"]
UNPINNED = ("nomiracl", "ragbench-delucionqa", "gpqa-epochs", "trec-rag-judges")
"""Studies whose published files have no checksum in the catalogue, or other names there."""
study_of = cache(load_study)


@pytest.mark.data
@pytest.mark.parametrize(
    "name", [*PUBLISHED, "mtrag.labels", "trec-rag-judges.labels", "trec-rag-judges.repeats"]
)
def test_a_study_equals_the_published_files(name, data_folder):
    from tools.recording.studies import FRAMES, folder_of

    study, _, frame = name.partition(".")
    made = FRAMES[name](data_folder / folder_of(data_folder.path, name).name)
    shipped = study_of(study, frame) if frame else study_of(study)
    pd.testing.assert_frame_equal(
        shipped.astype(object).where(shipped.notna(), None),
        made.astype(object).where(made.notna(), None),
        check_dtype=False,
    )


def test_the_list_of_studies_counts_what_the_frames_contain():
    for study in studies().to_dict("records"):
        frame = study_of(study["name"])
        assert study["n"] == len(frame)
        systems = frame["system"] if study["systems"] else pd.Series()
        assert study["systems"] == systems.nunique()
        assert study["languages"].split(", ") == sorted(frame["language"].unique())
        key = ["example_id", "system", "noise_rate", "repeat"]
        assert not frame.filter(key).duplicated().any()
        assert frame.attrs["source"]["name"] == study["name"]
        assert frame.attrs["source"]["licence"] == study["licence"]
        assert 5 < study["size"] < 1100
        has_answers = bool({"response", "value", "grade"} & {*frame})
        assert (study["systems"] > 0) == has_answers


def test_every_data_file_of_the_package_is_named_with_its_licence():
    notice = (PACKAGE / "NOTICE.md").read_text(encoding="utf-8")
    rows = [line for line in notice.splitlines() if line.startswith("| `")]
    assert all(len(row.split(" | ")) == 4 and row.split(" | ")[3].strip(" |") for row in rows)
    patterns = re.findall(r"`([^`]+)`", "\n".join(row.split(" | ")[0] for row in rows))
    files = [path.relative_to(PACKAGE).as_posix() for path in PACKAGE.glob("*/data/**/*.*")]
    unnamed = [file for file in files if not any(fnmatch(file, each) for each in patterns)]
    assert len(files) > 50
    assert not unnamed
    assert all(any(fnmatch(file, each) for file in files) for each in patterns)


def test_the_wheel_is_small():
    """The files of the package, not compressed, are smaller than 10 MB."""
    files = [path for path in PACKAGE.rglob("*.*") if path.suffix != ".pyc" and path.is_file()]
    assert len(files) > 200
    assert sum(path.stat().st_size for path in files) < 10e6
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 4e6


@pytest.mark.data
@pytest.mark.parametrize("name", [name for name in PUBLISHED if name not in UNPINNED])
def test_the_published_files_are_pinned(name, data_folder, tmp_path, monkeypatch):
    """The files in the folder of test data have the checksums of the catalogue."""
    benchmark = name.removesuffix("-nq")
    (tmp_path / benchmark).mkdir()
    for source in sources_of(benchmark):
        packed = data_folder / benchmark / f"{source.file}.gz"
        plain = data_folder / benchmark / source.file
        content = gzip.decompress(packed.read_bytes()) if packed.exists() else plain.read_bytes()
        assert git_blob_sha1(content) == source.git_sha1
        assert source.url.endswith(f"/{source.file}")
        (tmp_path / benchmark / source.file).write_bytes(content)
    monkeypatch.setenv("RAGNB_DATA", str(tmp_path))
    assert sorted(study_files(name)) == sorted((tmp_path / benchmark).iterdir())


def test_what_has_no_published_files():
    for name, rest in (("sample-en", False), ("mtrag", True)):
        with pytest.raises(InputError, match=f"the catalogue has no .*published files of {name}"):
            study_files(name, rest=rest)


@pytest.mark.data
def test_files_of_nomiracl_are_verified_by_their_replies(data_folder, tmp_path, monkeypatch):
    """The published files have two fields more than those of the test data."""
    for source in sources_of("nomiracl"):
        lines = gzip.decompress((data_folder / "nomiracl" / f"{source.file}.gz").read_bytes())
        records = [json.loads(line) for line in lines.splitlines()]
        whole = [json.dumps(record | {"docids": ["1"], "prompt": "?"}) for record in records]
        file = tmp_path / "nomiracl" / source.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(whole), encoding="utf-8")
    monkeypatch.setenv("RAGNB_DATA", str(tmp_path))
    files = study_files("nomiracl")
    assert len(files) == 16
    text = files[0].read_text(encoding="utf-8")
    files[0].write_text(text.replace("I don't know", "I know", 1), encoding="utf-8")
    with pytest.raises(InputError, match="is not the published version"):
        study_files("nomiracl")
    files[0].write_text(text.split("\n", 1)[1], encoding="utf-8")
    with pytest.raises(InputError, match="11 replies are missing"):
        study_files("nomiracl")


def test_the_rest_of_a_release_is_fetched_from_the_same_commit():
    for study, n in (("evouna", 1), ("delucionqa", 1), ("factscore", 1), ("refchecker", 14)):
        (commit,) = {source.url.split("/")[5] for source in sources_of(study)}
        assert [source.url.split("/")[5] for source in sources_of(f"{study}-rest")] == n * [commit]


def test_a_difference_over_five_runs_is_the_posted_one():
    """5.9 points, 95 % [0.4, 11.3], p = .036, clustered by question (posted in an issue of inspect_ai)."""
    (row,) = ragnb.compare(study_of("gpqa-epochs")).to_dict("records")
    assert (row["n_pairs"], row["n_clusters"]) == (990, 198)
    points = [100 * row[name] for name in ("difference", "low", "high")]
    assert [round(abs(number), 1) for number in points] == [5.9, 11.3, 0.4]
    assert round(row["p_value"], 3) == 0.036


# Quadratic kappa against NIST as the source prints it, over the pairs that a judge has graded.
TREC_KAPPAS = {
    "Claude Opus 4.7": 0.4792,
    "Claude Sonnet 4.6": 0.5123,
    "GPT-5.5": 0.4789,
    "GPT-4o": 0.4065,
    "Gemini 3.1 Pro Preview": 0.4092,
    "Gemini 2.5 Pro": 0.5513,
    "DeepSeek V4 Pro": 0.4705,
    "Qwen 3.6 Plus": 0.4141,
    "Gemma 4 26B": 0.3958,
    "UMBRELA (GPT-4o)": 0.4265,
}


def test_kappas_of_the_judges_of_trec_rag_are_the_printed_ones():
    from sklearn.metrics import cohen_kappa_score

    grades = study_of("trec-rag-judges")
    kappas = {}
    for judge, rows in grades.dropna(subset="grade").groupby("system", sort=False):
        pair = rows["grade"].astype(int), rows["human_grade"].astype(int)
        kappas[judge] = round(cohen_kappa_score(*pair, weights="quadratic"), 4)
    assert kappas == TREC_KAPPAS
    assert grades["grade"].isna().groupby(grades["system"]).sum().loc[
        lambda n: n > 0
    ].to_dict() == {
        "DeepSeek V4 Pro": 325,
        "Gemini 2.5 Pro": 445,
        "Gemini 3.1 Pro Preview": 410,
    }


def test_labels_and_repeats_of_the_judges_of_trec_rag_agree_with_the_grades():
    grades = study_of("trec-rag-judges").set_index(["example_id", "system"])["grade"]
    labels = study_of("trec-rag-judges", "labels")
    of_judges = labels[labels["annotator"] != "NIST"]
    of_judges = of_judges.set_index(["example_id", "annotator"])["grade"]
    assert of_judges.rename_axis(index=grades.index.names).sort_index().equals(grades.sort_index())
    chosen = labels[labels["annotator"].isin(["NIST", "GPT-4o"])]
    agreement = ragnb.agreement(chosen).set_index("metric")
    assert agreement["mean"]["quadratic kappa"] == pytest.approx(TREC_KAPPAS["GPT-4o"], abs=5e-5)
    repeats = study_of("trec-rag-judges", "repeats")
    assert repeats.groupby(["system", "repeat"]).size().eq(50).all()


def test_factscore_is_the_printed_score_and_depends_on_irrelevant_facts():
    """Min et al. (2023) print 58.3 and 71.5."""
    scores = {
        choice: ragnb.score(study_of("factscore"), "parts.supported", irrelevant=choice)
        for choice in ("counted", "left_out")
    }
    means = {
        choice: (100 * frame.groupby("system")["value"].mean()).round(2).to_dict()
        for choice, frame in scores.items()
    }
    assert means["counted"] == {"ChatGPT": 58.28, "PerplexityAI": 71.62}
    assert means["left_out"] == {"ChatGPT": 62.33, "PerplexityAI": 84.02}
    answered = 100 - 100 * study_of("factscore").groupby("system")["refusal"].mean()
    assert answered.round(1).to_dict() == {"ChatGPT": 85.8, "PerplexityAI": 90.7}


def test_one_frame_of_all_kinds():
    """A statement that two citations support, of which the second is not needed; counted by hand."""
    citations = [{"alone": 1, "rest": 1}, {"alone": 0, "rest": 1}]
    frame = pd.DataFrame(
        {
            "example_id": ["1", "2"],
            "response": ["Oslo is big", "Rome"],
            "parts": [[{"text": "big", "label": "supported", "source": "Ana"}], None],
            "spans": [[[0, 4]], None],
            "statements": [None, [{"text": "Rome", "supported": 1, "citations": citations}]],
            "nuggets": [[{"text": "Oslo", "importance": "vital", "assignment": "support"}], None],
        },
        index=[7, 9],
    )
    rows = one_row_per_part(frame)
    assert rows[["example_id", "kind", "part_id", "text"]].values.tolist() == [
        ["1", "parts", 0, "big"],
        ["1", "nuggets", 0, "Oslo"],
        ["1", "spans", 0, "Oslo"],
        ["2", "statements", 0, "Rome"],
        ["2", "citations", 0, "Rome"],
        ["2", "citations", 1, "Rome"],
    ]
    assert rows["label"].tolist()[:2] == ["supported", "support"]
    assert rows["label"].tolist()[3:] == [1, 1, 0]
    scores = ragnb.score(rows, ["parts.supported", "parts.nuggets", "parts.citation_precision"])
    scored = scores.dropna(subset="value").groupby("metric")["value"].agg(["count", "sum"])
    assert scored.to_dict() == {
        "count": {"parts.supported": 1, "parts.nuggets": 1, "parts.citation_precision": 3},
        "sum": {"parts.supported": 1, "parts.nuggets": 1, "parts.citation_precision": 1.5},
    }
    with pytest.raises(InputError, match="needs a column of parts: one of parts,"):
        one_row_per_part(frame[["example_id"]])


def test_sentences_of_a_trace_record_are_parts():
    frame = study_of("sample-ragbench")
    rows = one_row_per_part(frame, "sentences")
    support = [each for labels in frame["sentence_support_information"] for each in labels]
    assert len(rows) == len(support)
    by_hand = sum(bool(each["supporting_sentence_keys"]) for each in support) / len(support)
    assert ragnb.score(rows, "parts.supported")["value"].mean() == pytest.approx(by_hand)
    assert rows["text"].notna().all()


def test_refchecker_shares_of_gpt4():
    """The study prints entailment 91.8, neutral 6.8, contradiction 1.4, with 13 abstentions."""
    frame = study_of("refchecker").query("system == 'gpt4'")
    scores = ragnb.score(frame, ["parts.supported", "parts.contradicted"])
    assert (100 * scores.groupby("metric")["value"].mean()).round(1).to_dict() == {
        "parts.supported": 91.8,
        "parts.contradicted": 1.4,
    }
    assert frame["refusal"].sum() == 13


def test_delucionqa_counts_of_hallucinated_responses():
    """Sadat et al. (2023) print 94 and 122 for dev, 252 and 419 for test."""
    frame = study_of("delucionqa").dropna(subset=["hallucinated"])
    counts = frame.groupby(["split", "hallucinated"]).size()
    assert counts.tolist() == [122, 94, 419, 252]
    scores = ragnb.score(frame, "parts.all_supported")
    same = scores["value"].eq(1).to_numpy() != frame["hallucinated"].astype(bool).to_numpy()
    assert same.sum() == len(frame) - 1  # one response of test has a label of its own


def test_mtrag_aggregate_is_a_harmonic_mean_unless_the_reference_refuses():
    frame = study_of("mtrag")
    rouge, recall, precision = (
        frame[f"mtrag.{name}"] for name in ("RougeL", "Bert-Rec", "Bert-KPrec")
    )
    mean = 3 / (1 / rouge + 2 / (1 + recall) + 2 / (1 + precision))
    idk = frame["mtrag.conditional_idk"]
    refusable = frame["answerability"].isin(["unanswerable", "conversational"])
    expected = mean.mask(refusable, 1.0).where(idk == 1, 0.0)
    assert (abs(frame["mtrag.rb_agg"] - expected) < 1e-9).sum() == 477


@pytest.mark.parametrize(("field", "alpha"), [("faithfulness", 0.47), ("appropriateness", 0.06)])
def test_mtrag_raters_agree_as_far_as_known(field, alpha):
    labels = study_of("mtrag", "labels")
    votes = labels.pivot(index="annotator", columns="item", values=field)
    found = krippendorff.alpha(votes.to_numpy(float), level_of_measurement="ordinal")
    assert round(found, 2) == alpha
    means = labels.groupby(["example_id", "system"])[field].mean().astype(float)
    graded = study_of("mtrag").set_index(["example_id", "system"])[f"human_{field}"]
    pd.testing.assert_series_equal(
        means.sort_index(), graded.sort_index(), check_names=False, check_index_type=False
    )


@pytest.mark.data
def test_accepted_shares_of_evouna_are_recounted_from_the_file(data_folder):
    """As the study's authors say, improper questions and answers without a verdict do not count."""
    records = json.loads((data_folder / "evouna" / "NQ.json").read_text("utf-8"))
    frame = study_of("evouna-nq").query("not improper")
    found = ragnb.summarize(ragnb.score(frame, "annotator.verdict"), by="system")
    for row in found.itertuples():
        verdicts = [each[f"judge_{row.system}"] for each in records if not each["improper"]]
        given = [verdict for verdict in verdicts if verdict is not None]
        assert (row.n_scored, row.n) == (len(given), len(verdicts))
        assert row.mean == pytest.approx(given.count(True) / len(given))
    assert found["n_scored"].sum() == 15_099


# ---- usable rows ---------------------------------------------------------------------------------


def test_usable_rows_have_a_proper_question_a_response_and_a_verdict():
    study = load_study("evouna-nq")
    usable = load_study("evouna-nq", usable=True)
    kept = study[~study["improper"].astype(bool)].dropna(subset=["response", "verdict"])
    assert usable["response"].tolist() == kept["response"].tolist()
    assert usable["system"].unique().tolist() == ["FiD", "GPT-3.5", "ChatGPT", "GPT-4", "New Bing"]
    assert usable.index.tolist() == list(range(len(kept)))
    assert usable.attrs == study.attrs
    # A study without verdicts loses only the rows without a response.
    other = load_study("nomiracl", usable=True)
    assert len(other) == load_study("nomiracl")["response"].notna().sum()


@pytest.mark.data
def test_the_verdicts_of_evouna_differ_in_kind_between_systems(data_folder):
    """The counts of the page on data and of the note, from the published file and another containment."""
    records = json.loads((data_folder / "evouna" / "NQ.json").read_text("utf-8"))
    names = {"chatgpt": "ChatGPT", "newbing": "New Bing", "gpt35": "GPT-3.5", "fid": "FiD"}
    names["gpt4"] = "GPT-4"
    verdicts = {name: {} for name in names.values()}
    proper = [record for record in records if not record["improper"]]
    for number, record in enumerate(proper):
        references = [record["golden_answer"].split("/")]
        for system, name in names.items():
            answer, verdict = record[f"answer_{system}"], record[f"judge_{system}"]
            if answer and isinstance(verdict, bool) and contains(answer, references):
                verdicts[name][number] = verdict
    page = (Path(__file__).parents[2] / "docs" / "data.md").read_text("utf-8")
    for name, of_system in verdicts.items():
        wrong = sum(not verdict for verdict in of_system.values())
        row = f"| {name} | {len(of_system):,} | {wrong} | {wrong / len(of_system):.1%} |"
        assert row.replace("%", " %") in page
    both = verdicts["ChatGPT"].keys() & verdicts["GPT-4"].keys()
    pairs = [(verdicts["ChatGPT"][number], verdicts["GPT-4"][number]) for number in both]
    first, second = pairs.count((False, True)), pairs.count((True, False))
    assert (len(pairs), first, second) == (1566, 50, 2)
    note = load_study("evouna-nq").attrs["source"]["note"]
    assert "GPT-4 both contain it (1,566 questions), only ChatGPT is called incorrect 50" in note
    assert "65 of ChatGPT and 45 of New Bing" in note


def test_the_hundred_questions_with_and_without_the_doubtful_answer():
    docs = Path(__file__).parents[2] / "docs"
    answers = load_responses(docs / "answers.csv")
    verdict = answers["verdict"].astype(int)
    pairs = zip(answers["response"], answers["references"], strict=True)
    contained = [contains(response, references) for response, references in pairs]
    doubtful = answers[pd.Series(contained, answers.index) & (verdict == 0)]
    assert doubtful["system"].tolist() == ["New Bing"]
    wide = answers.assign(verdict=verdict).pivot(
        index="example_id", columns="system", values="verdict"
    )
    page = (docs / "data.md").read_text("utf-8")
    for rows in (wide, wide.drop(doubtful["example_id"])):
        b = (rows["New Bing"] > rows["FiD"]).sum()
        c = (rows["FiD"] > rows["New Bing"]).sum()
        low, high = tango(b, c, len(rows))
        assert f"{(b - c) / len(rows):.2f} [{low:.2f}, {high:.2f}]" in page


def test_load_responses_takes_the_name_of_a_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.testing.assert_frame_equal(load_responses("mtrag", language="en"), load_study("mtrag"))
    with pytest.raises(
        InputError, match=r"load_responses\('mtrag'\) loads a study, .* got language"
    ):
        load_responses("mtrag", language="de")
    with pytest.raises(InputError, match="needs no further arguments, got columns, turn"):
        load_responses("mtrag", {"response": "text"}, turn=1)
    with pytest.raises(InputError, match="'sample-en' contains questions without responses"):
        load_responses("sample-en")
    # A file of this name comes first.
    (tmp_path / "mtrag").mkdir()
    with pytest.raises(InputError, match="'mtrag' is a folder"):
        load_responses("mtrag")


def test_the_quickstart_is_the_file_of_the_documentation():
    """After `pip install`, there is no docs folder, and the name loads the same answers."""
    of_file = ragnb.load_responses(
        Path(__file__).parents[2] / "docs" / "answers.csv", language="en"
    )
    packaged = ragnb.load_responses("quickstart")
    columns = ["example_id", "system", "language", "question", "references", "response", "verdict"]
    for column in columns:
        assert packaged[column].tolist() == of_file[column].tolist(), column
    metrics = ["answer.exact_match", "answer.f1", "answer.contains", "annotator.verdict"]
    tables = [ragnb.score(frame, metrics) for frame in (of_file, packaged)]
    assert tables[0]["value"].tolist() == tables[1]["value"].tolist()
    assert tables[0]["signature"].tolist() == tables[1]["signature"].tolist()
