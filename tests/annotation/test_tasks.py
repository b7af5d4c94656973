"""Tasks and items: what an annotator is asked, what is shown, and which values a field allows."""

import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.labelling import keyed_frame, plain_frame

from ragnb.annotation import TASKS, AnnotationSession, Field, Option, join_labels, read_task
from ragnb.annotation.items import build_items, check_value, item_ids
from ragnb.annotation.tasks import hashed
from ragnb.errors import InputError
from ragnb.metrics.trace_labels import SPECIAL_KEYS
from ragnb.widgets.annotator import Annotator

TRACE, VERDICT, PREFERENCE = TASKS["trace"], TASKS["verdict"], TASKS["preference"]
KEYS = ["0a", "0b", "1a", "1b"]


def declared(**changes):
    """A mapping of one choice, with changes."""
    return {"name": "tone", "fields": [{"name": "tone", "options": ["kind", "curt"]}], **changes}


def with_field(**changes):
    return declared(fields=[{"name": "tone", "options": ["kind", "curt"], **changes}])


def only(examples, task=TRACE):
    return build_items(examples, task)[0]


# ---- tasks ---------------------------------------------------------------------------------------


def test_a_mapping_needs_little_and_may_say_everything():
    task = read_task(declared())
    assert task.fields == (Field("tone", "tone", "choice", "t", (Option("kind"), Option("curt"))),)
    assert task.shows == ("question", "references", "documents", "response")
    more = {"value": "none", "label": "not at all", "implies": {"why": "silent"}}
    tone = {"name": "tone", "label": "Ton", "key": "b", "options": ["kind", more], "each": True}
    fields = [
        {**tone, "required": False},
        {"name": "why", "kind": "text"},
        {"name": "where", "kind": "sentences", "of": "response", "options": ["nowhere"]},
    ]
    task = read_task({**declared(fields=fields), "guideline": "Listen.", "shows": ["response"]})
    options = (Option("kind"), Option("none", "not at all", {"why": "silent"}))
    assert task.fields[0] == Field("tone", "Ton", "choice", "b", options, True, "documents", False)
    assert [field.key for field in task.fields] == ["b", "w", "h"], "w is taken, so h comes first"
    assert read_task(task.schema()) == task


@pytest.mark.parametrize("name", TASKS)
def test_every_task_is_named_where_users_look_for_it(name):
    recipes = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text("utf-8")
    (listing,) = re.findall(r"^# Tasks: .*$", recipes, re.MULTILINE)
    has = {
        f'name "{name}" in the list "# Tasks:" in docs/recipes.md': f'"{name}"' in listing,
        f'name ``"{name}"`` in the docstring of Annotator, in ragnb/widgets/annotator.py': (
            f'``"{name}"``' in Annotator.__doc__
        ),
    }
    assert all(has.values()), "; ".join(advice for advice, is_there in has.items() if not is_there)


TWO = [{"name": "x", "kind": "text", "key": "b"}, {"name": "y", "kind": "text"}]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("tone", "an annotation task must be one of 'trace', .*, got 'tone'"),
        (with_field(kind="colour"), "task: fields.0.kind: Input should be 'choice', .* got 'colour'"),
        (with_field(options=["kind"]), "fields.0: 'tone' is a choice and needs at least two options"),
        (with_field(each=True) | {"shows": ["question"]}, '\'tone\' needs response; list this in "shows" of the task'),
        (with_field(name="note"), "'note' is the name of a column that all tables of labels have; rename the field"),
        (declared(fields=[TWO[0], {**TWO[1], "key": "b"}]), "each field needs its own key, got b, b"),
        (with_field(key="x"), r"task: fields.0.key: must be one of the letters b, c, .*, y, got 'x'"),
        (with_field(key="bc"), r"task: fields.0.key: must be one of the letters b, c, .*, got 'bc'"),
        (with_field(options=["kind", "kind"]), "fields.0: an option of 'tone' is given twice"),
        (with_field(options=["x", {"value": "y", "implies": {"mood": "z"}}]), r"unknown .*\['mood'\]"),
    ],
)  # fmt: skip
def test_what_a_task_cannot_be(schema, message):
    with pytest.raises(InputError, match=message):
        read_task(schema)


def test_hashes_do_not_change_from_one_run_to_the_next():
    assert hashed({"b": [1, "é"], "a": None}) == hashed({"a": None, "b": (1, "é")})
    assert hashed(["ab"]) == "f9ca6d378adafba7", "printf '[\"ab\"]' | sha256sum | cut -c-16"


# ---- values --------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from([*KEYS, *SPECIAL_KEYS])))
def test_keys_come_once_each_and_in_the_order_of_the_text(keys):
    item = only(keyed_frame(1))
    checked = check_value(TRACE.field("supporting"), item, keys)
    assert checked == [key for key in [*KEYS, *SPECIAL_KEYS] if key in keys]


# ---- items ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frame", "id", "message"),
    [
        (keyed_frame(2, example_id="q/0"), "example_id", "must be unique, got 'q/0' more than once"),
        (pd.DataFrame({"x": ["a", None]}), "x", "the id of an item has a missing value in x"),
    ],
)  # fmt: skip
def test_ids_identify_rows(frame, id, message):
    with pytest.raises(InputError, match=message):
        item_ids(frame, id)


@pytest.mark.parametrize(
    ("examples", "task", "message"),
    [
        (plain_frame().drop(columns="question"), "verdict", "item 'q/0' has no column 'question'"),
        (keyed_frame(1).drop(columns="documents_sentences"), "trace", r"keyed_sentences\(passages\)"),
        (keyed_frame(1, response_sentences=[[["0a", "x"]]]), "trace", "must be unique, got '0a' twice"),
        (keyed_frame(0, example_id=[]), "trace", "the frame of examples has no rows"),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_is_named(examples, task, message):
    with pytest.raises(InputError, match=message):
        build_items(examples, TASKS[task])


def test_verdict_shows_passages_and_responses_as_one_sentence_each_unless_there_are_keys():
    item = only(plain_frame(), VERDICT)
    assert item.keys("documents") == ["1", "2"]
    assert item.references == ("Oslo / Kristiania", "Norway")
    assert item.parts[-1].sentences == (("response", "Oslo 0."),)
    assert only(keyed_frame(), VERDICT).keys("response") == ["a", "b"]
    bare = only(plain_frame(1, response=[None]).drop(columns=["references", "passages"]), VERDICT)
    assert (bare.references, [part.sentences for part in bare.parts]) == ((), [(("response", ""),)])


def test_which_of_two_responses_stands_first_is_drawn_from_the_id_and_hides_the_system():
    items = build_items(plain_frame(200), PREFERENCE)
    orders = [item.order for item in items]
    assert 70 <= orders.count(("a", "b")) <= 130, "beyond four standard deviations of a fair coin"
    later = build_items(plain_frame(200, response_a="new")[150:], PREFERENCE)
    assert orders[150:] == [item.order for item in later], "not from texts or rows"
    for item in items:
        n = item.id.removeprefix("q/")
        both = {"a": ("response_a", f"left {n}"), "b": ("response_b", f"right {n}")}
        shown = [part for part in item.parts if part.name != "documents"]
        assert [part.sentences[0] for part in shown] == [both[letter] for letter in item.order]
        assert all(part.heading == "" for part in shown), "headings would distinguish them"
    same = build_items(plain_frame(20, question="Q", response_a="x", response_b="x"), PREFERENCE)
    assert len({item.fingerprint for item in same}) == 2, "the order is part of what is seen"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("question", "Another?"),
        ("response_sentences", [["a", "First 0."], ["b", "Second!"]]),
        ("documents_sentences", [[["0a", "One 0."]], [["0b", "Two."], ["1a", "Three."], ["1b", "Four."]]]),
        ],
)  # fmt: skip
def test_the_fingerprint_changes_with_everything_that_is_seen_and_with_nothing_else(column, value):
    seen = only(keyed_frame(1)).fingerprint
    assert only(keyed_frame(1, **{column: [value]})).fingerprint != seen
    more = {"example_id": "other", "system": "s", "response": "unseen", "split": "test"}
    assert only(keyed_frame(1, **more)).fingerprint == seen
    assert build_items(keyed_frame(2)[::-1], TRACE)[1].fingerprint == seen


@pytest.mark.parametrize("name", TASKS)
def test_every_task_is_labelled_and_joined(name, tmp_path):
    """A new task is tried by this test; its fields must not have the names of columns that it shows."""
    task = TASKS[name]
    fields = [field.name for field in task.fields]
    examples = keyed_frame(1).assign(
        response_a="Oslo.", response_b="Bergen.", language="en", claims=[["Oslo."]]
    )
    examples = examples.drop(columns=[*fields, "parts"], errors="ignore")
    session = AnnotationSession(examples, name, "ana", tmp_path)
    item = session.items[0]
    unit = "claims" if "claims" in task.shows else "response"
    for field in task.fields:
        if field.kind == "choice":
            value = field.options[0].value
        elif field.kind == "sentences":
            value = item.keys(field.of)[:1]
        elif field.kind == "tags":
            value = [session.add_tag("a tag")]
        else:
            value = "a text"
        for sentence in item.keys(unit) if field.each else [None]:
            session.label(field.name, value, sentence)
    assert session.progress()["labelled"] == 1
    joined = join_labels(examples, session)
    assert set(joined) - set(examples)
