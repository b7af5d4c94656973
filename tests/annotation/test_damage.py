"""Logs that were damaged or edited: refused in one sentence, and their intact actions are recovered."""

import json
import random
import warnings

import pytest
from support.labelling import TRACE, annotated, trace_examples, verdict_examples, verdicts

import ragnb
from ragnb.annotation import AnnotationSession, join_labels, read_labels, recover_log
from ragnb.annotation.items import WORD
from ragnb.annotation.log import log_file, read_log
from ragnb.errors import InputError, RagnbError, StoreError

BY = {"id": ["example_id", "system"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A log of eight questions with labels, a note, a flag, an undo and a skip, and its export."""
    folder = tmp_path_factory.mktemp("whole")
    session = annotated(
        verdict_examples(), "verdict", "ana", folder / "a.sqlite", verdicts("circir")
    )
    session.note("schön")
    session.flag()
    session.undo()
    session.skip()
    session.log.write_jsonl(folder / "export.jsonl")
    session.close()
    return folder


def outcome(path, whole):
    """What becomes of a log that may be damaged: ``"same"``, ``"warned"``, or the message of an error of ragnb."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            log = read_log(path)
            read_labels(path)
        except RagnbError as error:
            return str(error)
    return "same" if log == whole else "warned" if warned else "other"


@pytest.mark.parametrize("bits", [1_200, pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["a.sqlite", "export.jsonl"])
def test_a_flipped_bit_is_refused_in_one_sentence_or_changes_nothing(folder, tmp_path, name, bits):
    content, whole = (folder / name).read_bytes(), read_log(folder / "a.sqlite")
    every = range(8 * len(content))
    chosen = every if bits is None else random.Random(7).sample(every, bits)
    path = tmp_path / name
    outcomes = set()
    for bit in chosen:
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        found = outcome(path, whole)
        outcomes.add(found)
        assert found != "other", bit
        assert "\n" not in found
        if found == "warned":  # the end of the last line of an export
            assert bit // 8 == len(content) - 1
    assert any("does not match its checksum" in found for found in outcomes)


def test_an_action_that_was_removed_moved_or_doubled_is_refused(folder, tmp_path):
    lines = (folder / "export.jsonl").read_bytes().splitlines(keepends=True)
    others = {
        "removed": [*lines[:3], *lines[4:]],
        "moved": [*lines[:3], lines[4], lines[3], *lines[5:]],
        "without header": lines[1:],
    }
    for name, changed in others.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(b"".join(changed))
        with pytest.raises(InputError, match="must have the number 3, got 4|is not an annotation"):
            read_log(path)


def test_intact_actions_are_recovered(folder, tmp_path):
    header, events = read_log(folder / "a.sqlite")
    for name in ("a.sqlite", "export.jsonl"):
        content = (folder / name).read_bytes()
        path = tmp_path / f"damaged-{name}"
        path.write_bytes(content.replace("schön".encode(), "schän".encode()))
        with pytest.raises(InputError, match="does not match its checksum.*recover_log"):
            AnnotationSession(verdict_examples(), "verdict", "ana", path)
        lost = next(event["n"] for event in events if event["action"] == "note")
        target = tmp_path / f"{name}.recovered.sqlite"
        assert recover_log(path, target) == {"recovered": len(events) - 1, "lost": [lost]}
        session = AnnotationSession(verdict_examples(), "verdict", "ana", target)
        assert session.log.header == header
        labels = read_labels(session)
        assert labels["verdict"].str[0].tolist() == list("circir")
        assert set(labels["note"]) == {""}
        session.close()
        with pytest.raises(InputError, match="the target .* exists; choose the path of a new file"):
            recover_log(path, target)


def test_actions_are_recovered_from_a_file_that_sqlite_cannot_open(folder, tmp_path):
    content = (folder / "a.sqlite").read_bytes()
    (tmp_path / "b.sqlite").write_bytes(b"X" * 100 + content[100:])
    with pytest.raises(StoreError, match="is not an annotation log, or is damaged"):
        read_log(tmp_path / "b.sqlite")
    found = recover_log(tmp_path / "b.sqlite", tmp_path / "c.sqlite")
    assert (found["recovered"], found["lost"]) == (len(read_log(folder / "a.sqlite")[1]), [])
    assert read_log(tmp_path / "c.sqlite") == read_log(folder / "a.sqlite")


def test_a_damaged_header_is_given_again(folder, tmp_path):
    content = (folder / "export.jsonl").read_bytes().replace(b'"ana"', b'"anb"', 1)
    (tmp_path / "a.jsonl").write_bytes(content)
    with pytest.raises(InputError, match="header of a.jsonl is damaged; pass task= and annotator="):
        recover_log(tmp_path / "a.jsonl", tmp_path / "b.sqlite")
    recover_log(tmp_path / "a.jsonl", tmp_path / "b.sqlite", task="verdict", annotator="ana")
    header, events = read_log(tmp_path / "b.sqlite")
    assert (header["annotator"], header["id"]) == ("ana", ["example_id"])
    assert events == read_log(folder / "a.sqlite")[1]


def test_an_undo_of_a_label_that_is_not_allowed_is_reported_as_lost(folder, tmp_path):
    header, _ = read_log(folder / "a.sqlite")
    labels = [{"field": "verdict", "value": value} for value in ("perhaps", "correct")]
    actions = [
        {"action": "label", "set": [labels[0]]},
        {"action": "undo", "of": 1},
        {"action": "redo", "of": 1},
        {"action": "label", "set": [labels[1]]},
        {"action": "flag", "value": True},
        {"action": "undo", "of": 5},
    ]
    common = {"time": "2031-05-04T12:00:00+00:00", "item": "fr/1"}
    numbered = [{"n": n, **common, **action} for n, action in enumerate(actions, start=1)]
    text = "".join(json.dumps(line) + "\n" for line in (header, *numbered))
    (tmp_path / "old.jsonl").write_text(text)
    counts = recover_log(tmp_path / "old.jsonl", tmp_path / "new.sqlite")
    assert counts == {"recovered": 3, "lost": [1, 2, 3]}
    _, recovered = read_log(tmp_path / "new.sqlite")
    assert [(action["n"], action["action"]) for action in recovered] == [
        (1, "label"), (2, "flag"), (3, "undo")
    ]  # fmt: skip
    assert recovered[2]["of"] == 2
    assert read_labels(tmp_path / "new.sqlite")["verdict"].tolist() == ["correct"]


def test_a_log_without_checksums_opens_and_gets_them(folder, tmp_path):
    header, events = read_log(folder / "a.sqlite")
    text = "".join(json.dumps(line) + "\n" for line in (header, *events))
    (tmp_path / "old.jsonl").write_text(text)
    assert read_log(tmp_path / "old.jsonl") == (header, events)
    session = AnnotationSession(verdict_examples(), "verdict", "ana", tmp_path / "old.jsonl")
    session.close()
    assert read_log(tmp_path / "old.sqlite") == (header, events)
    assert (tmp_path / "old.sqlite").read_bytes().count(b'"checksum": "') == len(events) + 1


# ---- edited by hand ------------------------------------------------------------------------------

ODD = [
    None, 5, -1, 1.5, "", "x", "\ud83d", [], {}, [1], ["a"], {"a": 1}, {"a": ["b"]}, True, float("nan"), 10**30,
    "9999-99-99T00:00", "2031-05-04T12:00:00", "0001-01-01T00:00:00+23:59", [{"field": "verdict", "value": "correct"}],
]  # fmt: skip


def places(value, path=()):
    """Every place in a JSON value; of a list, the first two items."""
    yield path
    inner = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value[:2]) if isinstance(value, list) else inner
    for key, one in inner:
        yield from places(one, (*path, key))


def edited(lines, number, path, odd):
    """The lines with one value replaced."""
    lines = json.loads(json.dumps(lines))
    inside = lines
    for key in (number, *path)[:-1]:
        inside = inside[key]
    inside[(number, *path)[-1]] = odd
    return lines


@pytest.mark.parametrize("values", [2, pytest.param(len(ODD), marks=pytest.mark.slow)])
def test_a_line_that_was_edited_by_hand_raises_one_sentence(tmp_path, values):
    frame, rng = trace_examples(2), random.Random(5)
    session = annotated(frame, "trace", "ana", tmp_path / "a.sqlite", {"bench_test/0": TRACE})
    session.note("hello")
    session.flag()
    session.undo()
    lines = [session.log.header, *session.log.events]
    session.close()
    path, refused = tmp_path / "edited.jsonl", []
    for number, line in enumerate(lines):
        for place in places(line):
            for odd in rng.sample(ODD, values):
                text = "".join(json.dumps(one) + "\n" for one in edited(lines, number, place, odd))
                path.write_text(text)
                try:
                    labels = read_labels(path)
                    join_labels(frame, labels, replace=True)
                except RagnbError as error:
                    refused.append(str(error))
    assert len(refused) > 100
    assert not [message for message in refused if "\n" in message]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"action": "label", "item": "q", "set": [{"field": "verdict", "value": "yes"}]},
         r"a.jsonl line 2, item 'q': 'verdict' must be one of \['correct', 'incorrect', 'refuse'\], got 'yes'"),
        ({"action": "flag", "item": "q", "value": 1}, "a.jsonl line 2, key value: must be true or false, got 1"),
        ({"action": "dance", "item": "q"}, "a.jsonl line 2, key action: must be one of 'open', .*, got 'dance'"),
        ({"action": "undo", "item": "q", "of": 7}, "key of: must be the number of an earlier change of item 'q', got 7"),
        ({"action": "note", "item": 5, "value": ""}, "a.jsonl line 2, key item: must be a text, got 5"),
        ({"action": "open", "item": "q", "time": "noon"}, "key time: must be a time with its offset from UTC.*got 'noon'"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_line_is_said(folder, tmp_path, line, message):
    header, _ = read_log(folder / "a.sqlite")
    action = {"n": 1, "time": "2031-05-04T12:00:00+00:00", **line}
    (tmp_path / "a.jsonl").write_text(json.dumps(header) + "\n" + json.dumps(action) + "\n")
    with pytest.raises(InputError, match=message):
        read_log(tmp_path / "a.jsonl")


@pytest.mark.parametrize("name", ["\ud83d", ["example_id", "\ud83d"], [], 5])
def test_a_header_whose_columns_no_frame_can_have_is_refused(folder, tmp_path, name):
    header, _ = read_log(folder / "a.sqlite")
    (tmp_path / "a.jsonl").write_text(json.dumps({**header, "id": name}) + "\n")
    with pytest.raises(InputError, match="key id: must be the name of a column or a list of them"):
        read_labels(tmp_path / "a.jsonl")


@pytest.mark.parametrize("depth", [101, 600, 100_000])
def test_a_log_that_is_nested_too_deeply_is_refused_before_anything_reads_it(
    folder, tmp_path, depth
):
    """The comparison of two tasks would end in a RecursionError."""
    line = json.dumps(read_log(folder / "a.sqlite")[0])
    deep = '{"a":' * depth + "1" + "}" * depth
    (tmp_path / "a.jsonl").write_text(line[:-1] + f', "more": {deep}}}\n')
    with pytest.raises(InputError, match="a.jsonl line 1.*(at most 100 levels|JSON object)"):
        ragnb.agreement([tmp_path / "a.jsonl", tmp_path / "a.jsonl"])


# ---- names and sizes -----------------------------------------------------------------------------


def test_a_name_that_no_file_can_have_is_one_sentence(tmp_path):
    for call in (
        lambda: AnnotationSession(verdict_examples(), "verdict", "ana" * 200, tmp_path),
        lambda: AnnotationSession(verdict_examples(), "verdict", "ana", tmp_path / f"{'a' * 300}.sqlite"),
        lambda: read_log(tmp_path / ("a" * 300)),
        lambda: log_file("a" * 5000, "ana"),
        lambda: read_log(tmp_path / "a\0b.jsonl"),
    ):  # fmt: skip
        with pytest.raises(StoreError, match="cannot be used as an annotation log: .*(long|null)"):
            call()
    session = annotated(verdict_examples(), "verdict", "ana", tmp_path, {})
    with pytest.raises(StoreError, match="cannot be used as an annotation log: No such file"):
        session.log.write_jsonl(tmp_path / "nowhere" / "a.jsonl")
    with pytest.raises(InputError, match="cannot be written: File name too long"):
        ragnb.export_annotator(verdict_examples(), "verdict", tmp_path / f"{'a' * 300}.html")


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    with (tmp_path / "a.jsonl").open("wb") as file:
        file.truncate(2**30 + 1)  # takes no space on the disk
    with pytest.raises(InputError, match="has 1,073,741,825 bytes; .* at most 1,073,741,824"):
        read_log(tmp_path / "a.jsonl")


def test_words_are_found_among_very_many_flags():
    """The search for the end of a flag does not look back at all the flags before it, which would take minutes."""
    flags = "🇩🇪" * 200_000
    assert [word.span(1) for word in WORD.finditer(flags)][-1] == (399_998, 400_000)
    assert [word[1] for word in WORD.finditer("Go 🇩🇪🇫🇷, x")] == ["Go", "🇩🇪", "🇫🇷", ",", "x"]
    assert [word[1] for word in WORD.finditer("🇩🇪\u0301🇫🇷a🇳")] == ["🇩🇪\u0301", "🇫🇷", "a", "🇳"]
