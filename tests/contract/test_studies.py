"""Every study in every entry point: a call gives the right numbers, or a plain message if the study does not fit."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ragnb
from ragnb.annotation import TASKS
from ragnb.datasets import load_study
from ragnb.datasets.packaged_studies import STUDIES
from ragnb.errors import InputError
from ragnb.widgets import Annotator

METRIC = {
    "quickstart": "annotator.verdict",
    "evouna-nq": "annotator.verdict",
    "nomiracl": "abstention.coverage",
    "mtrag": "answer.f1",
    "delucionqa": "parts.all_supported",
    "factscore": "parts.supported",
    "refchecker": "parts.supported",
    "ragbench-delucionqa": "trace.relevance",
    "sample-ragbench": "trace.relevance",
    "sample-labelled-en": "answer.contains",
    "sample-labelled-multilingual": "answer.contains",
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


SCORES = {"gpqa-epochs", "trec-rag-judges"}
"""Studies of scores and grades, without the responses."""


def test_samples_of_questions_have_no_response_to_score_or_to_annotate(tmp_path):
    questions = {name for name in STUDIES if not int(STUDIES[name]["systems"])}
    assert set(METRIC) | questions | SCORES == set(STUDIES)
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
        assert "cluster" in first[0]["interval"]
