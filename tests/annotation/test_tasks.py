import json
import string

import pytest
from annotation.annotation_frames import TEXTS
from hypothesis import given
from hypothesis import strategies as st

from ragnb.annotation.tasks import (
    COLUMNS,
    TAKEN,
    TASKS,
    Field,
    Option,
    hashed,
    read_task,
)
from ragnb.errors import InputError
from ragnb.metrics.trace_labels import SPECIAL_KEYS

NAMES = ["trace", "verdict", "rgb", "language", "preference"]
MANY = ["a", "b"]


def declared(**changes):
    """A mapping of one choice, with changes."""
    return {"name": "tone", "fields": [{"name": "tone", "options": ["kind", "curt"]}], **changes}


def with_field(**changes):
    return declared(fields=[{"name": "tone", "options": ["kind", "curt"], **changes}])


# ---- the tasks that have a name ----------------------------------------------------------------------------------------


def test_five_tasks_have_a_name():
    assert list(TASKS) == NAMES
    assert all(task.name == name for name, task in TASKS.items())


@pytest.mark.parametrize("name", NAMES)
def test_a_named_task_is_read_by_name_as_it_is_and_from_its_schema(name):
    task = TASKS[name]
    assert read_task(name) is task
    assert read_task(task) is task
    assert read_task(task.schema()) == task


@pytest.mark.parametrize("name", NAMES)
def test_a_named_task_has_a_guideline_that_speaks_of_it_in_short_lines(name):
    lines = TASKS[name].guideline.split("\n")
    assert 2 <= len(lines) <= 5
    assert all(": " in line and len(line) < 125 for line in lines)


@pytest.mark.parametrize("name", NAMES)
def test_letters_are_free_and_stand_for_one_field_each(name):
    keys = [field.key for field in TASKS[name].fields]
    assert len(set(keys)) == len(keys)
    assert not TAKEN & set(keys)


def test_trace_asks_for_the_columns_of_ragbench():
    asked = {field.name: (field.kind, field.each, field.of) for field in TASKS["trace"].fields}
    assert asked == {
        "relevant": ("sentences", False, "documents"),
        "utilized": ("sentences", False, "documents"),
        "supporting": ("sentences", True, "documents"),
        "support": ("choice", True, "documents"),
        "overall": ("choice", False, "documents"),
    }
    assert [option.value for option in TASKS["trace"].field("supporting").options] == list(
        SPECIAL_KEYS
    )
    assert [option.value for option in TASKS["trace"].field("support").options] == [
        "full",
        "partial",
        "none",
    ]
    assert TASKS["trace"].field("support").options[2].implies == {"supporting": []}


@pytest.mark.parametrize(
    ("name", "field", "values"),
    [
        ("verdict", "verdict", ["correct", "incorrect", "refuse"]),
        ("rgb", "answer_present", [True, False]),
        ("rgb", "refusal", [True, False]),
        ("rgb", "error_detected", [True, False]),
        ("language", "right_language", ["yes", "no", "mixed", "none"]),
        ("preference", "preferred", ["a", "b", "tie", "neither"]),
    ],
)
def test_what_the_other_tasks_allow(name, field, values):
    assert [option.value for option in TASKS[name].field(field).options] == values


# ---- declared ones -----------------------------------------------------------------------------------------------------


def test_a_mapping_needs_little():
    task = read_task(declared())
    assert task.fields == (Field("tone", "tone", "choice", "t", (Option("kind"), Option("curt"))),)
    assert task.shows == ("question", "references", "documents", "response")


def test_a_mapping_may_say_everything():
    more = {"value": "none", "label": "not at all", "implies": {"why": "silent"}}
    fields = [
        {
            "name": "tone",
            "label": "Ton",
            "key": "b",
            "options": ["kind", more],
            "each": True,
            "required": False,
        },
        {"name": "why", "kind": "text"},
        {"name": "where", "kind": "sentences", "of": "response", "options": ["nowhere"]},
    ]
    task = read_task(
        {"name": "tone", "fields": fields, "guideline": "Listen.", "shows": ["response", "mood"]}
    )
    assert task.fields[0] == Field(
        "tone",
        "Ton",
        "choice",
        "b",
        (Option("kind"), Option("none", "not at all", {"why": "silent"})),
        True,
        "documents",
        False,
    )
    assert [field.key for field in task.fields] == ["b", "w", "h"], (
        "w is the second field's, e and r: h comes first"
    )
    assert task.shows == ("response", "mood")
    assert read_task(task.schema()) == task


@pytest.mark.parametrize("text", TEXTS)
def test_names_labels_options_and_guidelines_may_be_in_any_script(text):
    fields = [
        {"name": text, "label": text, "options": [text, text + "!"]},
        {"name": "second " + text, "kind": "text"},
    ]
    task = read_task({"name": text, "fields": fields, "guideline": text})
    assert task.fields[0].key in string.ascii_lowercase
    assert task.fields[0].key != task.fields[1].key
    assert json.loads(json.dumps(task.schema())) == task.schema()
    assert read_task(task.schema()).fingerprint == task.fingerprint


@given(
    st.lists(
        st.text(min_size=1).filter(lambda name: name not in COLUMNS),
        min_size=1,
        max_size=14,
        unique=True,
    )
)
def test_up_to_fourteen_fields_get_letters_of_their_own(names):
    task = read_task({"name": "x", "fields": [{"name": name, "kind": "text"} for name in names]})
    keys = [field.key for field in task.fields]
    assert len(set(keys)) == len(names)
    assert not set(keys) & TAKEN


def test_the_fifteenth_field_finds_no_letter():
    fields = [{"name": f"field {n}", "kind": "text"} for n in range(15)]
    with pytest.raises(
        InputError, match=r"each field of task 'x' needs a key of its own; got ''; change it"
    ):
        read_task({"name": "x", "fields": fields})


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            "tone",
            r"an annotation task must be one of 'trace', 'verdict', 'rgb', 'language', 'preference', got 'tone'",
        ),
        (
            with_field(colour="red"),
            r"a field of a task needs none but name, label, .*; got colour; remove or rename",
        ),
        (
            with_field(kind="colour"),
            r"the kind of field 'tone' of task 'tone' must be one of 'choice', .*got 'colour'",
        ),
        (
            with_field(options=["kind"]),
            r"a choice, needs two options at least; got \['kind'\]; add some",
        ),
        (
            with_field(options=list(range(10))),
            r"needs up to nine different options; got \[0, 1, .*; change them",
        ),
        (
            with_field(options=["x", {"value": "y", "implies": {"mood": "z"}}]),
            r"options of field 'tone' of task 'tone' imply fields that the task has not: \['mood'\]; name its own",
        ),
        (
            declared(shows=["question"], fields=[{"name": "tone", "options": MANY, "each": True}]),
            r"field 'tone' of task 'tone' needs \['response'\] to be shown; got \['question'\]; add it to shows",
        ),
    ],
)
def test_what_a_task_cannot_be(schema, message):
    with pytest.raises(InputError, match=message):
        read_task(schema)


@pytest.mark.parametrize("key", [*sorted(TAKEN)[:2], "A", "ab", "1", "я"])
def test_letters_that_mean_something_else_are_refused_with_those_that_are_free(key):
    free = "".join(sorted(set(string.ascii_lowercase) - TAKEN))
    with pytest.raises(
        InputError,
        match=rf"the key of field 'tone' of task 'tone' needs to be one of {free}; got '.+'; change",
    ):
        read_task(with_field(key=key))


@pytest.mark.parametrize(
    ("word", "second"), [("name", {"name": "x"}), ("key", {"name": "y", "key": "b"})]
)
def test_names_and_letters_are_not_given_twice(word, second):
    fields = [{"name": "x", "kind": "text", "key": "b"}, {"kind": "text", **second}]
    with pytest.raises(
        InputError,
        match=rf"each field of task 'two' needs a {word} of its own; got '[xb]'; change it",
    ):
        read_task({"name": "two", "fields": fields})


def test_truth_values_numbers_and_texts_are_different_options():
    task = read_task(with_field(options=[True, 1, "1", False, 0, "0"]))
    assert len(task.fields[0].options) == 6


# ---- the fingerprint ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        declared(name="mood"),
        declared(guideline="Listen."),
        declared(shows=["response"]),
        with_field(key="b"),
        with_field(options=["curt", "kind"]),
        with_field(options=["kind", "curt", "flat"]),
        with_field(options=["kind", {"value": "curt", "implies": {"tone": "kind"}}]),
        with_field(each=True),
    ],
)
def test_whatever_can_change_the_meaning_of_a_label_changes_the_fingerprint(other):
    assert read_task(other).fingerprint != read_task(declared()).fingerprint


def test_the_fingerprint_does_not_change_from_one_run_to_the_next():
    assert hashed({"b": [1, "é"], "a": None}) == hashed({"a": None, "b": (1, "é")})
    assert hashed(["ab"]) == "f9ca6d378adafba7", "printf '[\"ab\"]' | sha256sum | cut -c-16"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values, json_values)
def test_different_values_have_different_hashes(one, other):
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (hashed(one) == hashed(other)) is same
    assert len(hashed(one)) == 16
