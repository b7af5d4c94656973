"""Contradictions that a task declares in Python, as the annotator finds them."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from ragnb.annotation import TASKS, Contradiction, read_task
from ragnb.errors import InputError
from ragnb.widgets.annotation_page import task_of

NODE = shutil.which("node")
SCRIPT = Path(__file__).parents[2] / "tools" / "js" / "test" / "contradictions_of.mjs"

needs_node = pytest.mark.skipif(NODE is None, reason="NO NODE: contradictions are not tried")


def contradictions(task, keys, labels):
    """The messages for each of some labels."""
    content = json.dumps({"task": task_of(task), "keys": keys, "labels": labels})
    ran = subprocess.run([NODE, str(SCRIPT)], input=content, capture_output=True, text=True, check=True)  # fmt: skip
    return json.loads(ran.stdout)


WHOLE = {
    "relevant": ["0a", "1a"],
    "utilized": ["0a"],
    "overall": False,
    "supporting": {"a": ["0a"], "b": []},
    "support": {"a": "full", "b": "none"},
}
AT_ODDS = "the whole response and its sentences contradict each other"
TRACE = [
    ({}, []),
    ({"supporting": {"a": [], "b": []}}, ["[a] is supported, yet by no sentence"]),
    (
        {"support": {"a": "partial", "b": "none"}, "supporting": {"a": [], "b": []}},
        ["[a] is supported, yet by no sentence"],
    ),
    ({"supporting": {"b": ["1b"]}}, ["[b] is not supported, yet rests on sentences"]),
    ({"utilized": ["0a", "0b"]}, ["[0b] is utilized, yet not relevant"]),
    ({"relevant": None}, []),
    ({"overall": True}, [AT_ODDS]),
    ({"overall": True, "support": {"b": "none"}}, []),
    ({"support": {"a": "full", "b": "full"}, "supporting": {}}, [AT_ODDS]),
    ({"support": {"a": "full", "b": "partial"}, "supporting": {}}, []),
    ({"overall": None}, []),
    (
        {"supporting": {"a": [], "b": ["0a"]}, "utilized": ["1b"], "overall": True},
        [
            "[a] is supported, yet by no sentence",
            "[b] is not supported, yet rests on sentences",
            "[1b] is utilized, yet not relevant",
            AT_ODDS,
        ],
    ),
]


@needs_node
def test_contradictions_of_trace_are_those_of_its_guideline():
    labels = []
    for changes, _ in TRACE:
        values = WHOLE | changes
        labels.append({name: value for name, value in values.items() if value is not None})
    assert contradictions(TASKS["trace"], ["a", "b"], labels) == [found for _, found in TRACE]


@needs_node
def test_a_task_of_your_own_declares_its_contradictions_without_javascript():
    task = read_task(
        {
            "name": "refusals",
            "fields": [
                {"name": "refusal", "options": [True, False]},
                {"name": "grade", "options": [1, 2, 3, 4]},
                {"name": "sources", "kind": "sentences"},
            ],
            "contradictions": [
                {"message": "a refusal with <b>{}</b> sources", "labels": {"refusal": [True], "sources": "some"}},
                {"message": "a refusal with a good grade", "labels": {"refusal": [True], "grade": [3, 4]}},
            ],
        }
    )  # fmt: skip
    labels = [
        {"refusal": True, "grade": 4, "sources": ["0"]},
        {"refusal": True, "grade": 1, "sources": []},
        {"refusal": False, "grade": 4, "sources": ["0"]},
    ]
    expected = [["a refusal with <b></b> sources", "a refusal with a good grade"], [], []]
    assert contradictions(task, [], labels) == expected


@needs_node
def test_other_tasks_have_none():
    for name, task in TASKS.items():
        if name != "trace":
            assert contradictions(task, ["a"], [WHOLE]) == [[]]


FIELDS = [
    {"name": "refusal", "options": [True, False]},
    {"name": "sources", "kind": "sentences"},
    {"name": "words", "kind": "sentences", "of": "response"},
    {"name": "why", "kind": "text"},
]


@pytest.mark.parametrize(
    ("contradiction", "message"),
    [
        ({}, "needs either labels, or chosen and not_chosen"),
        ({"labels": {"refusal": [True]}, "chosen": "sources"}, "needs either labels, or chosen and"),
        ({"chosen": "sources"}, "needs either labels, or chosen and not_chosen"),
        ({"labels": {"other": [True]}}, r"unknown fields, \['other'\]"),
        ({"labels": {"refusal": ["yes"]}}, r"a label of 'refusal' must be one of \[True, False\], got 'yes'"),
        ({"labels": {"refusal": "some"}}, "needs options of a choice, got 'some' for 'refusal'"),
        ({"labels": {"why": ["x"]}}, "needs options of a choice, got .* for 'why'"),
        ({"labels": {"sources": ["0"]}}, "labels of 'sources' must be"),
        ({"labels": {"refusal": [True]}, "every": {"refusal": [True]}}, "asked of each sentence, got 'refusal'"),
        ({"chosen": "sources", "not_chosen": "refusal"}, "two fields of sentences about the whole item, got 'refusal'"),
        ({"chosen": "sources", "not_chosen": "words"}, "compares sentences of 'documents' with those of 'response'"),
    ],
)  # fmt: skip
def test_a_contradiction_that_no_label_can_have_is_refused(contradiction, message):
    task = {"name": "t", "fields": FIELDS, "contradictions": [{"message": "odd", **contradiction}]}
    with pytest.raises(InputError, match=message):
        read_task(task)


def test_a_contradiction_is_declared_in_python_as_well():
    contradiction = Contradiction("odd", labels={"refusal": (True,), "sources": "some"})
    task = read_task({"name": "t", "fields": FIELDS, "contradictions": [contradiction]})
    assert read_task(task.schema()) == task


def test_signs_of_answers_are_those_that_the_task_declares():
    support = next(field for field in task_of(TASKS["trace"])["fields"] if field["name"] == "support")  # fmt: skip
    assert [option["sign"] for option in support["options"]] == ["✓", "◐", "✗"]
    claim = task_of(TASKS["claims"])["fields"][0]
    assert [option["sign"] for option in claim["options"]] == ["supported", "contradicted", "not supported"]  # fmt: skip
    refusal = task_of(TASKS["rgb"])["fields"][1]
    assert [option["sign"] for option in refusal["options"]] == ["✓", "✗"]
