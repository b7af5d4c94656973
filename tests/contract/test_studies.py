"""Every study in every entry point: a call gives the right numbers, or a plain message if the study does not fit."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

import ragnb
from ragnb.annotation.tasks import TASKS
from ragnb.datasets.studies import STUDIES, load_study, one_row_per_part
from ragnb.errors import InputError
from ragnb.widgets.annotator import Annotator

METRIC = {
    "evouna-nq": "annotator.verdict",
    "nomiracl": "abstention.coverage",
    "mtrag": "answer.f1",
    "delucionqa": "parts.all_supported",
    "factscore": "parts.supported",
    "refchecker": "parts.supported",
    "sample-ragbench": "trace.relevance",
    "sample-labelled-en": "answer.contains",
    "sample-labelled-multilingual": "answer.contains",
}
LABELLED = [name for name in METRIC if name.startswith("sample-labelled")]
DEFINITIONS = {
    "evouna-nq": ("answer.exact_match", ["unicode", "squad"]),
    "nomiracl": ("abstention.coverage", {rule: {"rule": rule} for rule in ("start", "list")}),
    "mtrag": ("answer.f1", ["unicode", "squad"]),
    "delucionqa": ("abstention.coverage", {rule: {"rule": rule} for rule in ("list", "label")}),
    "factscore": ("parts.supported", {how: {"irrelevant": how} for how in ("counted", "left_out")}),
    "sample-ragbench": ("trace.relevance", ["ragbench", "guide"]),
}
every_study = pytest.mark.parametrize("name", METRIC)


@cache
def some(name):
    """Up to 60 responses per system."""
    frame = load_study(name)
    if "noise_rate" in frame:
        frame = frame.query("noise_rate == 0.4")
    return frame.groupby("system", sort=False).head(60).reset_index(drop=True)


def value(frame, metric, **options):
    return ragnb.score(frame, metric, **options)["value"].to_numpy()


def refused(message):
    return pytest.raises(InputError, match=message)


def test_samples_of_questions_have_no_response_to_score_or_to_annotate(tmp_path):
    questions = {name for name in STUDIES if not int(STUDIES[name]["systems"])}
    assert set(METRIC) | questions == set(STUDIES)
    frame = load_study("sample-en").head(3)
    for call in (ragnb.score, ragnb.compare_definitions):
        with refused("a frame without response"):
            call(frame, "answer.f1")
    with refused("a frame without judged_correct, label"):
        ragnb.judge_report(frame)
    with refused("has no column 'response'"):
        Annotator(frame, "verdict", "ana", tmp_path, id="example_id")
    assert frame["question"][0].split()[0] in ragnb.view(frame)._repr_mimebundle_()["text/html"]
    ragnb.write_table(frame, tmp_path / "mine.csv")
    with refused("no column named .*response"):
        ragnb.load_responses(tmp_path / "mine.csv")


@every_study
def test_summarize_and_compare(name):
    scores = ragnb.score(some(name), METRIC[name])
    found = ragnb.summarize(scores, by="system").set_index("system")
    pd.testing.assert_series_equal(
        found["mean"], scores.groupby("system", sort=False)["value"].mean(), check_names=False
    )
    assert (found["n"] == some(name)["system"].value_counts()[found.index]).all()
    varying = found.drop(index="reference", errors="ignore")  # its F1 with itself is always 1
    assert varying[["low", "high"]].notna().all(axis=None)
    if name == "delucionqa":
        with refused("needs two systems or more, got chatgpt"):
            ragnb.compare(scores)
        return
    two = scores[scores["system"].isin(scores["system"].unique()[:2])]
    (row,) = ragnb.compare(two, by=[], unpaired="drop").to_dict("records")
    values = two.pivot(index="example_id", columns="system", values="value")
    pairs = (values[row["system"]] - values[row["baseline"]]).dropna()
    assert row["n_pairs"] == len(pairs)
    assert row["difference"] == pytest.approx(pairs.mean())


def judged(name):
    """Responses with the score of some judge and the label that people gave."""
    frame = some(name)
    if name == "evouna-nq":
        return frame.assign(judged_correct=value(frame, "answer.contains")), "verdict"
    if name == "nomiracl":
        return frame.assign(judged_correct=value(frame, "abstention.coverage")), "answerable"
    if name == "delucionqa":
        return frame.assign(judged_correct=1 - value(frame, "parts.supported")), "hallucinated"
    if name == "sample-ragbench":
        return frame.assign(judged_correct=frame["overall_supported"]), "adherence_score"
    if name in LABELLED:
        return frame.assign(judged_correct=value(frame, "answer.contains")), "label"
    parts = one_row_per_part(frame)
    supported = parts["label"].eq("supported")
    return parts.assign(label=supported, judged_correct=parts["part_id"] == 0), "label"


@every_study
def test_judge_report(name):
    if name == "mtrag":
        with refused("got 4; for grades, use ragnb.graded_report"):
            ragnb.judge_report(some(name), judge="mtrag.rb_llm", label="human_faithfulness")
        graded = ragnb.graded_report(some(name), judge="mtrag.rb_llm", label="human_faithfulness")
        assert graded["n"].tolist() == [len(some(name))] * len(graded)
        return
    frame, label = judged(name)
    report = ragnb.judge_report(frame, label=label)
    row = report.agreement.query("metric == 'percent agreement'").iloc[0]
    both = frame[[label, "judged_correct"]].astype(float).dropna()
    assert row["n_scored"] == len(both)
    same = both[label] == (both["judged_correct"] >= 0.5)
    assert row["mean"] == pytest.approx(same.mean())
    assert row["low"] <= row["mean"] <= row["high"]


@pytest.mark.parametrize("name", LABELLED)
def test_agreement(name):
    study = load_study(name).drop_duplicates("request_key")
    found = ragnb.agreement(load_study(name, "labels"))
    kappa = found.query('metric == "Cohen\'s kappa"').iloc[0]
    assert kappa["mean"] == pytest.approx(cohen_kappa_score(study["label_a"], study["label_b"]))
    assert kappa["n_units"] == len(study)


def test_agreement_needs_labels_of_several_people():
    with refused("evouna-nq has no labels of several people"):
        load_study("evouna-nq", "labels")
    with refused("agreement needs labels, with one row per item and annotator"):
        ragnb.agreement(some("evouna-nq"))


@every_study
def test_view_and_annotator(name, tmp_path):
    frame = some(name).head(3)
    page = ragnb.view(frame)._repr_mimebundle_()["text/html"]
    assert frame["response"].iloc[0].split()[0] in page
    key, task = ["example_id", "system"], "verdict"
    if "question" not in frame:
        with refused("has no column 'question'; add it, or remove it from \"shows\" of the task"):
            Annotator(frame, task, "ana", tmp_path, id=key)
        task = replace(TASKS["rgb"], shows=("response",))
    session = Annotator(frame, task, "ana", tmp_path / "made", id=key).session
    session.label(session.task.fields[0].name, session.task.fields[0].options[0].value)
    assert session.progress()["items"] == 3
    assert len(ragnb.annotation.read_labels(session)) == 1
    session.log.close()


@pytest.mark.parametrize("name", ["mtrag", "delucionqa", "factscore", "refchecker"])
def test_annotator_of_claims(name, tmp_path):
    """The claims of a study with parts can be labelled again. Other studies have none."""
    frame = some(name)
    if "parts" in frame:
        frame = frame.query("parts.notna()").head(3).assign(question="?")
    task = replace(TASKS["claims"], shows=("response", "claims"))
    options = {"id": ["example_id", "system"]}
    if name == "mtrag":
        with refused("has neither 'claims' nor 'parts'"):
            Annotator(frame, task, "ana", tmp_path, **options)
        return
    session = Annotator(frame, task, "ana", tmp_path, **options).session
    assert len(session.item.keys("claims")) == len(frame["parts"].iloc[0])
    session.log.close()


@pytest.mark.parametrize("name", DEFINITIONS)
def test_compare_definitions(name):
    metric, definitions = DEFINITIONS[name]
    found = ragnb.compare_definitions(some(name), metric, definitions, by=[])
    first, second = found.definitions
    means = found.rates.set_index("definition")["mean"]
    for chosen in (first, second):
        values = value(some(name), metric, **found.definitions[chosen])
        assert means[chosen] == pytest.approx(np.nanmean(values))


@every_study
def test_a_file_of_the_study(name, tmp_path):
    """Labels of people and of parts, and turns of conversations, are read from your own file."""
    frame, path = some(name).head(40), tmp_path / "mine.csv"
    ragnb.write_table(frame, path)
    if "question" not in frame:
        with refused("no column named .*question"):
            ragnb.load_responses(path)
        return
    loaded = ragnb.load_responses(path, keep_empty=True)
    np.testing.assert_array_equal(value(loaded, METRIC[name]), value(frame, METRIC[name]))
    if "answerable" in frame:
        refusal = "abstention.alignment"
        np.testing.assert_array_equal(value(loaded, refusal), value(frame, refusal))
    if "conversation_id" in frame:
        assert loaded["turn"].tolist() == frame["turn"].tolist()
        assert loaded["history"].tolist() == frame["history"].tolist()
        first = [ragnb.summarize(ragnb.score(one, METRIC[name])).iloc[0] for one in (loaded, frame)]
        assert first[0]["interval"] == first[1]["interval"]
        assert "cluster-robust" in first[0]["interval"]
