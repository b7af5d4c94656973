"""The log: what is in the file, one writer, kills, full disks, logs of earlier versions, and the labels that follow."""

import json
import os
import random
import shutil
import sqlite3
import time
import warnings
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.labelling import TEXTS, trace_examples
from support.processes import context, hold, kill, start, take_notes

from ragnb.annotation import TASKS, AnnotationSession
from ragnb.annotation.log import (
    IDLE,
    AnnotationLog,
    LabelState,
    read_log,
)
from ragnb.annotation.places import nested
from ragnb.errors import InputError, StoreError

HEADER = {"task": TASKS["verdict"].schema(), "annotator": "ana"}
OTHERS = [{**HEADER, "task": TASKS["rgb"].schema()}, {**HEADER, "annotator": "ben"}]
START = datetime(2031, 5, 4, 12, tzinfo=UTC)


def flag(item="q/0", value=True):
    return {"action": "flag", "item": item, "value": value}


def note(value, item="q/0"):
    return {"action": "note", "item": item, "value": value}


def earlier_log(path, *actions, ending="\n"):
    """A log as earlier versions wrote it; an action has a number if it is given one."""
    header = {"ragnb_annotation": 1, **HEADER, "started": START.isoformat()}
    lines = [{"n": n, "time": START.isoformat(), **one} for n, one in enumerate(actions, 1)]
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in [header, *lines]) + ending
    path.write_bytes(text.encode("utf-8", "backslashreplace"))
    return lines


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.sqlite"


# ---- what is in the file -------------------------------------------------------------------------


def test_any_sqlite_tool_reads_the_header_and_each_action_as_soon_as_it_is_written(path):
    log = AnnotationLog(path, {**HEADER, "more": [1, None]})
    for n in range(1, 4):
        (event,) = log.append(flag(f"q/{n}"))
        assert event == {"n": n, "time": event["time"], **flag(f"q/{n}")}
        with sqlite3.connect(path) as reader:
            rows = reader.execute("SELECT line FROM annotation_log ORDER BY number").fetchall()
        header, *events = [json.loads(line) for (line,) in rows]
        checksums = [line.pop("checksum") for line in (header, *events)]
        for (line,), checksum in zip(rows, checksums, strict=True):
            content = line.removesuffix(f', "checksum": "{checksum}"}}') + "}"
            assert checksum == f"{zlib.crc32(content.encode()):08x}"
        assert events == log.events
    assert list(header) == ["ragnb_annotation", "task", "annotator", "more", "started"]
    assert sorted(one.name for one in path.parent.iterdir()) == ["a.sqlite", "a.sqlite-lock"]


@settings(max_examples=30)
@given(st.sampled_from(TEXTS) | st.text(st.characters()))
def test_any_text_comes_back_also_through_an_export(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("log")
    log = AnnotationLog(folder / "a.sqlite", {**HEADER, "annotator": text})
    log.append({**note(text, item=text), text: [text]})
    log.close()
    log.write_jsonl(folder / "copy.jsonl")
    for file in ("a.sqlite", "copy.jsonl"):
        header, events = read_log(folder / file)
        assert (header["annotator"], events) == (text, log.events)
    assert events[0][text] == [text]
    assert (folder / "copy.jsonl").read_bytes().count(b"\n") == 2


# ---- one writer ----------------------------------------------------------------------------------


def test_another_process_is_refused_and_reads_all_the_same(path):
    told, pipe = context.Pipe()
    other = start(hold, path, HEADER, pipe)
    assert told.recv() == "opened"
    (path.parent / "link.sqlite").symlink_to(path)
    for name in (path, path.parent / "link.sqlite"):
        with pytest.raises(StoreError, match="a.sqlite is open in another kernel or program"):
            AnnotationLog(name, HEADER)
    assert read_log(path)[1] == []
    told.send("go on")
    assert told.recv() == 1
    other.join()
    assert len(AnnotationLog(path, HEADER).events) == 1


@pytest.mark.parametrize(
    "header", [*OTHERS, json.loads(json.dumps(HEADER).replace("refuse", "decline"))]
)
def test_other_work_is_refused_and_does_not_take_over(path, header):
    log = AnnotationLog(path, HEADER)
    with pytest.raises(
        InputError,
        match="a.sqlite is a log of the task 'verdict' by 'ana'; it cannot continue with another",
    ):
        AnnotationLog(path, header)
    assert log.append(flag())[0]["n"] == 1


def test_the_second_writer_is_refused_also_without_the_lock_file(path):
    told, pipe = context.Pipe()
    other = start(hold, path, HEADER, pipe)
    assert told.recv() == "opened"
    path.with_name("a.sqlite-lock").unlink()
    for _ in range(2):
        with pytest.raises(StoreError, match="a.sqlite is open in another kernel or program"):
            AnnotationLog(path, HEADER)
    os.link(path, path.with_name("link.sqlite"))
    with pytest.raises(StoreError, match="link.sqlite is open in another kernel or program"):
        AnnotationLog(path.with_name("link.sqlite"), HEADER)
    assert read_log(path)[1] == []
    told.send("go on")
    assert told.recv() == 1
    other.join()
    assert AnnotationLog(path, HEADER).append(flag())[0]["n"] == 2


# ---- what goes wrong -----------------------------------------------------------------------------


def test_a_full_disk_leaves_nothing_of_the_action_and_later_ones_work(path):
    log = AnnotationLog(path, HEADER)
    log.append(note("before"))
    pages = log._db.execute("PRAGMA page_count").fetchone()[0]
    log._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="a.sqlite cannot be written because the disk is full"):
        log.append(note("x" * 50_000))
    log._db.execute(f"PRAGMA max_page_count = {pages + 100}")
    assert log.append(note("after"))[0]["n"] == 2
    assert [event["value"] for event in read_log(path)[1]] == ["before", "after"]


@pytest.mark.parametrize("replace", [False, True])
def test_a_log_that_is_taken_away_says_so(path, replace):
    log = AnnotationLog(path, HEADER)
    log.append(flag())
    if replace:
        shutil.copy(path, path.with_name("copy"))
        path.with_name("copy").replace(path)
    else:
        path.unlink()
    with pytest.raises(StoreError, match="a.sqlite was removed or replaced; run the cell again"):
        log.append(flag())
    assert len(log.events) == 1
    assert len(AnnotationLog(path, HEADER).events) == replace


@pytest.mark.parametrize("name", ["folder.sqlite", "file/a.sqlite", "text.sqlite"])
def test_a_path_that_is_no_log_is_named(tmp_path, name):
    (tmp_path / "folder.sqlite").mkdir()
    for file in ("file", "text.sqlite"):
        (tmp_path / file).write_text("dear diary " * 100)
    with pytest.raises(
        StoreError, match=rf"{Path(name).name} (cannot be used|is not an annotation log)"
    ):
        AnnotationLog(tmp_path / name, HEADER)


def test_what_is_not_there_or_of_another_version_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="no annotation log at '.*none.sqlite'; check the path"):
        read_log(tmp_path / "none.sqlite")
    (tmp_path / "b.jsonl").write_text('{"ragnb_annotation": 2, "task": {}}\n')
    with pytest.raises(InputError, match="b.jsonl is not an annotation log of version 1"):
        read_log(tmp_path / "b.jsonl")


def received(pipe):
    """What a process that has ended wrote into a pipe; the last message may be cut."""
    messages = []
    while True:
        try:
            messages.append(pipe.recv())
        except EOFError:
            return messages


@pytest.mark.parametrize("kills", [3, pytest.param(50, marks=pytest.mark.slow)])
def test_whatever_was_acknowledged_before_a_kill_is_there(path, kills):
    acknowledged, rng = [], random.Random(11)
    for run in range(kills):
        told, pipe = context.Pipe()
        labelling = start(take_notes, path, run, pipe)
        pipe.close()
        assert told.recv() >= len(acknowledged), "the lock is free at once"
        time.sleep(rng.uniform(0.0, 0.3))
        kill(labelling)
        acknowledged += received(told)
        events = read_log(path)[1]
        notes = {event["n"]: event["value"] for event in events if event["action"] == "note"}
        assert [(n, notes[n]) for n, _ in acknowledged] == acknowledged
        assert len(notes) - len(acknowledged) <= run + 1, "one action per kill may be written, too"
    assert acknowledged, "the kills fell before the first action, so they tested nothing"
    assert [event["n"] for event in events] == list(range(1, len(events) + 1))


# ---- logs of earlier versions --------------------------------------------------------------------


def test_a_log_of_an_earlier_version_is_imported_once_and_goes_on_in_sqlite(tmp_path):
    lines = earlier_log(tmp_path / "a.jsonl", note("ü"), note("half \ud83d a pair"), flag())
    content = (tmp_path / "a.jsonl").read_bytes()
    assert read_log(tmp_path / "a.jsonl")[1] == lines
    log = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    assert (log.path, log.imported) == (
        tmp_path / "a.sqlite", "3 actions were imported from a.jsonl"
    )  # fmt: skip
    log.append(flag())
    log.close()
    again = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    assert (again.imported, again.events[:3], len(again.events)) == ("", lines, 4)
    assert read_log(tmp_path / "a.jsonl") == read_log(tmp_path / "a.sqlite"), "the longer one"
    assert (tmp_path / "a.jsonl").read_bytes() == content


def test_an_export_that_went_on_elsewhere_is_imported_and_one_that_differs_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    here = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    here.append(note("here"))
    here.close()
    here.write_jsonl(tmp_path / "elsewhere" / "a.jsonl")
    there = AnnotationLog(tmp_path / "elsewhere" / "a.jsonl", HEADER)
    there.append(note("there"))
    there.write_jsonl(tmp_path / "a.jsonl")
    again = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    assert [event["value"] for event in again.events] == ["here", "there"]
    again.append(flag())
    there.append(note("another"))
    there.write_jsonl(tmp_path / "a.jsonl")
    with pytest.raises(InputError, match="a.jsonl and a.sqlite contain different actions"):
        read_log(tmp_path / "a.jsonl")


def test_a_last_line_cut_anywhere_is_left_out_with_a_warning(tmp_path):
    earlier_log(tmp_path / "whole.jsonl", note("one"), note("two"))
    whole = (tmp_path / "whole.jsonl").read_bytes()
    start = whole.rstrip(b"\n").rfind(b"\n") + 1
    for cut in [*range(0, 60, 20), *range(start, len(whole), 4)]:
        path = tmp_path / f"{cut}.jsonl"
        path.write_bytes(whole[:cut])
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            log = AnnotationLog(path, HEADER)
        assert bool(said) is (cut not in (0, start))
        assert all("ends with an incomplete action" in str(one.message) for one in said)
        assert [event["value"] for event in log.events] == ["one"] * (cut >= start)
        assert path.read_bytes() == whole[:cut]
        assert log.append(flag())[0]["n"] == 1 + (cut >= start)
        log.close()
        assert len(read_log(log.path)[1]) == 1 + (cut >= start)


@pytest.mark.parametrize("damage", ["{", "[1]"])
def test_a_damaged_line_is_named_and_nothing_is_touched(tmp_path, damage):
    earlier_log(tmp_path / "a.jsonl", note("one"))
    with (tmp_path / "a.jsonl").open("a") as file:
        file.write(damage + "\n")
    with pytest.raises(InputError, match="a.jsonl line 3 .*JSON object"):
        AnnotationLog(tmp_path / "a.jsonl", HEADER)
    assert os.listdir(tmp_path) == ["a.jsonl"]


# ---- the labels of an item -----------------------------------------------------------------------


def numbered(*actions):
    """Actions with numbers, one second apart if they have no time."""
    times = [START + timedelta(seconds=one.pop("after", n)) for n, one in enumerate(actions, 1)]
    return [
        {"n": n, "time": time.isoformat(), **one}
        for n, (time, one) in enumerate(zip(times, actions, strict=True), 1)
    ]


def label(item, value, **more):
    return {"action": "label", "item": item, "set": [{"field": "verdict", "value": value}], **more}


def opening(item, after):
    return {"action": "open", "item": item, "fingerprint": "f", "sentences": {}, "after": after}


@pytest.mark.parametrize(
    ("events", "seconds"),
    [
        ([opening("a", 0), label("a", "c", after=7), opening("b", 10), label("b", "r", after=15)],
         {"a": 10, "b": 5}),
        ([opening("a", 0), label("a", "c", after=120)], {"a": 120}),
        ([opening("a", 0), label("a", "c", after=121)], {"a": 120}),
        ([opening("a", 100), label("a", "c", after=40), label("a", "r", after=43)], {"a": 3}),
        ([opening("a", 0), label("a", "c", after=5), opening("b", 5),
          {"action": "undo", "item": "a", "of": 2, "after": 20}, opening("c", 21)],
         {"a": 6, "b": 15, "c": 0}),
        # Agreed labels are written for an item that nobody looks at.
        ([opening("a", 0), {**label("b", "c", after=10), "action": "agreed"}, label("a", "c", after=30)],
         {"a": 30, "b": 0}),
    ],
)  # fmt: skip
def test_time_is_that_between_actions_for_the_item_on_the_screen(events, seconds):
    assert IDLE == 120
    state = LabelState(numbered(*(dict(one) for one in events)))
    assert {name: labels.seconds for name, labels in state.items.items()} == seconds


def test_undo_means_the_action_that_it_names():
    undo = {"action": "undo", "item": "b", "of": 2}
    events = numbered(
        label("a", "correct"), label("b", "refuse"), label("c", "incorrect"), undo, undo
    )
    for event, n in zip(events, (1, 2, 1, 3, 4), strict=True):
        event["n"] = n
    state = LabelState(events)
    assert [nested(state.of(item).values) for item in "abc"] == [
        {"verdict": "correct"}, {}, {"verdict": "incorrect"}
    ]  # fmt: skip


def test_a_log_from_before_a_task_declared_contradictions_is_continued_and_shows_them(tmp_path):
    task = TASKS["trace"].answers()
    assert "contradictions" not in task
    assert '"sign"' not in json.dumps(task)
    AnnotationLog(tmp_path / "ana.sqlite", {"task": task, "annotator": "ana"}).close()
    session = AnnotationSession(trace_examples(1), "trace", "ana", tmp_path / "ana.sqlite")
    assert session.task == TASKS["trace"]
    assert session.notices == []
    session.close()
