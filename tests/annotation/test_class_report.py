"""The labels of a class in one report: files, people, agreement, disputed items, and what goes wrong."""

import json
import shutil

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from support.labelling import (
    LANGUAGES,
    annotated,
    keyed_frame,
    plain_frame,
    verdict_examples,
    verdicts,
)

import ragnb
from ragnb.annotation import AnnotationSession, annotation_report, disagreements, read_labels

EXAMPLES = verdict_examples()
NAMES = list(LANGUAGES)
# Eight items. Everybody agrees on the first; Cy labelled only three.
LINES = {"Ana": "ccirccic", "Ben": "ccircrcc", "Cy": "cir"}


def write_logs(folder, lines=LINES):
    """A log per person, and its name."""
    files = {}
    for name, words in lines.items():
        session = annotated(EXAMPLES, "verdict", name, folder, verdicts(words))
        session.close()
        files[name] = session.log.path
    return files


@pytest.fixture
def logs(tmp_path):
    return write_logs(tmp_path / "labels")


def test_a_folder_a_pattern_and_a_list_give_the_same_report(logs, tmp_path):
    folder = tmp_path / "labels"
    whole = annotation_report(folder, EXAMPLES)
    for labels in (str(folder), folder / "*.verdict.sqlite", list(logs.values()), [folder]):
        assert repr(annotation_report(labels, EXAMPLES)) == repr(whole)
    frames = [read_labels(log) for log in logs.values()]
    by_frames = annotation_report(frames, EXAMPLES)
    pd.testing.assert_frame_equal(by_frames.agreement, whole.agreement)
    sessions = [AnnotationSession(EXAMPLES, "verdict", name, folder) for name in LINES]
    pd.testing.assert_frame_equal(annotation_report(sessions).agreement, whole.agreement)


def test_of_a_log_and_its_longer_export_in_a_folder_the_longer_counts(logs, tmp_path):
    """A student sent the labels twice, and the first ones were opened in an annotator since."""
    folder = tmp_path / "labels"
    earlier = shutil.copy(logs["Cy"], tmp_path / "earlier.sqlite")
    session = annotated(EXAMPLES, "verdict", "Cy", folder, {NAMES[3]: {"verdict": "correct"}})
    session.log.write_jsonl(logs["Cy"].with_suffix(".jsonl"))
    session.close()
    shutil.copy(earlier, logs["Cy"])
    people = annotation_report(folder).people.set_index("annotator")
    assert people["labelled"].to_dict() == {"Ana": 8, "Ben": 8, "Cy": 4}


def test_who_how_many_and_how_far_they_agree(logs):
    report = annotation_report(list(logs.values()), EXAMPLES)
    people = report.people.set_index("annotator")
    assert people["labelled"].tolist() == [8, 8, 3]
    # Items 1 to 3: Ana and Ben agree; Cy agrees on the first only. Items 4 to 8: ccccr... against rcrcc.
    ana = [1, 0.5, 0.5, 1, 1, 0, 0, 1]
    assert people.loc["Ana", "mean"] == pytest.approx(np.mean(ana))
    assert people.loc["Cy", ["mean", "n"]].tolist() == pytest.approx([1 / 3, 3])
    assert (people["low"] <= people["mean"]).all()
    assert (people["mean"] <= people["high"]).all()
    assert (report.n_items, report.n_shared, report.n_single) == (8, 3, 0)
    every = ragnb.agreement(list(logs.values())).query("pair == 'all'").reset_index(drop=True)
    pd.testing.assert_frame_equal(pd.DataFrame(report.agreement), pd.DataFrame(every))
    two = annotation_report([logs["Ana"], logs["Ben"]])
    both = ragnb.agreement([logs["Ana"], logs["Ben"]])
    pd.testing.assert_frame_equal(pd.DataFrame(two.agreement), pd.DataFrame(both))


def test_disputed_items_have_their_texts_and_votes_in_words(logs):
    report = annotation_report(list(logs.values()), EXAMPLES, n_disputed=2)
    differ = disagreements(list(logs.values()), EXAMPLES)
    assert report.disputed["item"].tolist() == differ["item"].tolist()[:2]
    texts = EXAMPLES.set_index("example_id")
    for row in differ.to_dict("records"):
        assert row["question"] == texts.loc[row["item"], "question"]
        assert row["response"] == texts.loc[row["item"], "response"]
        assert row["references"] == "?"
    without = disagreements(list(logs.values()))
    assert "question" not in without
    pd.testing.assert_frame_equal(pd.DataFrame(differ[without.columns]), pd.DataFrame(without))
    votes = dict(zip(report.disputed["item"], report.disputed["votes"], strict=True))
    assert votes["ar/6"] == "correct: Ana; refuse: Ben"
    for text in (repr(report), report._repr_html_()):
        assert texts.loc["ar/6", "question"] in text
        assert "correct: Ana; refuse: Ben" in text
        assert texts.loc["th/4", "question"] not in text


def test_texts_are_escaped(tmp_path):
    frame = EXAMPLES.assign(response="<script>alert(1)</script>")
    logs = [annotated(frame, "verdict", name, tmp_path, verdicts(words)) for name, words in LINES.items()]  # fmt: skip
    page = annotation_report(logs, frame)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_disputed_sentences_and_two_responses_are_shown_with_their_texts(tmp_path):
    keyed = keyed_frame(2)
    said = [{"q/0": {"support": {"a": value}}} for value in ("full", "none")]
    logs = [annotated(keyed, "trace", name, tmp_path, one) for name, one in zip("AB", said, strict=True)]  # fmt: skip
    differ = disagreements(logs, keyed)
    assert differ["sentence"][0] == "[a] First 0."
    plain = plain_frame(2)
    said = [{"q/0": {"preferred": value}} for value in ("a", "b")]
    field = ragnb.annotation.TASKS["preference"].fields[0].name
    said = [{item: {field: next(iter(values.values()))} for item, values in one.items()} for one in said]  # fmt: skip
    logs = [annotated(plain, "preference", name, tmp_path, one) for name, one in zip("AB", said, strict=True)]  # fmt: skip
    assert disagreements(logs, plain)["response"][0] == "a: left 0 | b: right 0"


def test_the_figure_shows_all_coefficients_and_people(logs, tmp_path):
    report = annotation_report(list(logs.values()), EXAMPLES)
    axes = ragnb.plot(report, title="The class", save=tmp_path / "class.png")
    of_all, of_people = np.ravel(axes)
    labels = [text.get_text() for text in of_people.get_yticklabels()]
    assert labels == ["Ana", "Ben", "Cy"]
    assert of_all.get_xlabel() == "agreement of all"
    assert of_people.get_xlabel() == "agreement with the others"
    plt.close("all")


# ---- what goes wrong -----------------------------------------------------------------------------


def refused(labels, **options):
    with pytest.raises(ragnb.InputError) as error:
        annotation_report(labels, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_no_file_at_all(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    assert refused(tmp_path).endswith(
        "contains no file with labels, whose name ends in .jsonl or .sqlite; it contains notes.txt"
    )
    assert refused(f"{tmp_path}/*.verdict.jsonl").startswith("no file matches the pattern")
    assert refused([]) == "annotation_report needs at least one file with labels, got an empty list"


def test_a_broken_file_is_left_out_and_named(logs, tmp_path):
    broken = tmp_path / "labels" / "Dora.verdict.jsonl"
    broken.write_text('{"ragnb_annotation": 1\n')
    with pytest.warns(UserWarning, match=r"Dora.verdict.jsonl is left out: .* must be a JSON"):
        report = annotation_report(tmp_path / "labels")
    assert report.people["annotator"].tolist() == list(LINES)
    assert report.left_out["file"].tolist() == ["Dora.verdict.jsonl"]
    assert "Dora.verdict.jsonl" in repr(report)
    with pytest.warns(UserWarning, match="left out"):
        assert "needs at least one file with labels, got none" in refused([broken])


def test_the_second_download_of_a_person_counts_and_two_different_files_are_refused(tmp_path):
    first = annotated(EXAMPLES, "verdict", "Ana", tmp_path, verdicts("ci"))
    first.log.write_jsonl(tmp_path / "Ana.verdict (1).jsonl")
    later = verdicts("cic")
    first.go("ja/3")
    first.label("verdict", later["ja/3"]["verdict"])
    first.log.write_jsonl(tmp_path / "Ana.verdict (2).jsonl")
    first.close()
    for order in ((1, 2), (2, 1)):
        report = annotation_report([tmp_path / f"Ana.verdict ({n}).jsonl" for n in order])
        assert report.people["labelled"].tolist() == [3]
        assert report.left_out.to_dict("records") == [
            {"file": "Ana.verdict (1).jsonl", "reason": "Ana.verdict (2).jsonl continues it"}
        ]
        assert "Agreement needs the labels of two or more people." in repr(report)
    with pytest.raises(ragnb.InputError, match="the figure of an annotation report needs"):
        ragnb.plot(report)
    other = annotated(EXAMPLES, "verdict", "Ana", tmp_path / "other", verdicts("rr"))
    other.close()
    message = refused([tmp_path / "Ana.verdict (2).jsonl", other.log.path])
    assert message.startswith("two files of 'Ana' have different labels: Ana.verdict (2).jsonl and")
    assert "If they are two people, give them different names" in message


def test_files_of_different_tasks_are_named(logs, tmp_path):
    session = annotated(plain_frame(), "language", "Dora", tmp_path / "labels", {})
    field = session.task.fields[0]
    session.label(field.name, field.options[0].value)
    session.close()
    message = refused(tmp_path / "labels")
    assert "all files must be of the same task, got 'verdict': Ana.verdict.sqlite, Ben" in message
    assert "'language': Dora.language.sqlite; pass the files of one task" in message


def test_people_who_labelled_different_items_have_no_agreement(tmp_path):
    lines = {"Ana": "cc......", "Ben": "....cc.."}
    report = annotation_report(list(write_logs(tmp_path, lines).values()), EXAMPLES)
    assert (report.n_items, report.n_shared, report.n_single) == (4, 0, 4)
    assert report.agreement["n"].eq(0).all()
    assert "No item was labelled by two people" in repr(report)


def test_examples_that_lack_an_item_are_refused(logs):
    message = refused(list(logs.values()), examples=EXAMPLES.tail(6))
    assert (
        "needs an example for each labelled item, got none for 2 items, such as 'fr/1'" in message
    )


def test_a_class_of_twelve_is_one_report(tmp_path):
    random = np.random.default_rng(0)
    lines = {f"s{n:02}": "".join(random.choice(list("cir"), len(LANGUAGES))) for n in range(12)}
    report = annotation_report(list(write_logs(tmp_path, lines).values()), EXAMPLES)
    assert len(report.people) == 12
    assert report.agreement["pair"].eq("all").all()
    # Labels at random have no agreement beyond chance.
    kappa = report.agreement.query('metric == "Fleiss\' kappa"').iloc[0]
    assert kappa["low"] < 0 < kappa["high"]
    shutil.rmtree(tmp_path)
    json.dumps(report.people.to_dict("records"))
