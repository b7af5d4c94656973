import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest
from annotation.annotation_frames import TEXTS
from hypothesis import given
from hypothesis import strategies as st

from ragnb.annotation.log import AnnotationLog, _sync_folder, read_log
from ragnb.annotation.tasks import TASKS
from ragnb.errors import InputError, StoreError

HEADER = {"task": TASKS["verdict"].schema(), "annotator": "ana"}
OTHER_TASK = {**HEADER, "task": TASKS["rgb"].schema()}


def flag(item="q/0", value=True):
    return {"action": "flag", "item": item, "value": value}


def written(path, n=3):
    """A closed log of some actions, as bytes."""
    log = AnnotationLog(path, HEADER)
    for i in range(n):
        log.append({"action": "note", "item": f"q/{i}", "value": f"ü{i}"})
    log.close()
    return path.read_bytes()


@pytest.fixture(scope="module")
def elsewhere():
    """Another process that opens the logs it is told to, and closes them again."""
    arguments = [sys.executable, "-c", OPEN]
    with subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        yield other
        other.stdin.close()


@pytest.fixture
def opened_elsewhere(elsewhere):
    """What another process has to say of a log that it opens."""

    def opened(path, header=HEADER):
        print(json.dumps([str(path), header]), file=elsewhere.stdin, flush=True)
        return elsewhere.stdout.readline().strip()

    return opened


OPEN = """
import json, sys
from ragnb.annotation.log import AnnotationLog
from ragnb.errors import RagnbError
for line in sys.stdin:
    try:
        log = AnnotationLog(*json.loads(line))
        log.close()
        print("opened", len(log.events), flush=True)
    except RagnbError as error:
        print(type(error).__name__, error, flush=True)
"""


# ---- what is in the file -----------------------------------------------------------------------------------------------


def test_the_first_line_says_what_the_log_is_of_without_this_package(tmp_path):
    AnnotationLog(tmp_path / "a.jsonl", {**HEADER, "more": [1, None]}).close()
    line, rest = (tmp_path / "a.jsonl").read_text("utf-8").split("\n")
    first = json.loads(line)
    assert rest == ""
    assert list(first) == ["ragnb_annotation", "task", "annotator", "more", "started"]
    assert first["ragnb_annotation"] == 1
    assert first["annotator"] == "ana"
    assert first["task"]["fields"][0]["options"][0] == {
        "value": "correct",
        "label": "",
        "implies": None,
    }
    assert datetime.fromisoformat(first["started"]).utcoffset().total_seconds() == 0


def test_an_action_is_in_the_file_before_append_returns(tmp_path):
    log = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    with (tmp_path / "a.jsonl").open(encoding="utf-8") as reader:
        reader.readline()
        for n in range(1, 20):
            event = log.append(flag(f"q/{n}"))
            line = reader.readline()
            assert line.endswith("\n")
            assert json.loads(line) == event == {"n": n, "time": event["time"], **flag(f"q/{n}")}
        assert reader.readline() == ""
    assert [event["n"] for event in log.events] == list(range(1, 20))


@pytest.mark.parametrize("text", TEXTS)
def test_text_of_every_kind_comes_back_and_stays_on_its_line(tmp_path, text):
    header = {**HEADER, "annotator": text}
    log = AnnotationLog(tmp_path / "a.jsonl", header)
    log.append({"action": "note", "item": text, "value": text, text: [text]})
    log.append(flag())
    log.close()
    assert (tmp_path / "a.jsonl").read_bytes().count(b"\n") == 3
    again = AnnotationLog(tmp_path / "a.jsonl", header)
    assert again.header["annotator"] == text
    assert again.events == log.events
    assert again.events[0][text] == [text]
    (tmp_path / "a.jsonl").read_bytes().decode("utf-8")


@given(st.text(st.characters()), st.lists(st.text(st.characters()), max_size=4))
def test_any_text_comes_back(tmp_path_factory, annotator, notes):
    path = tmp_path_factory.mktemp("log") / "a.jsonl"
    log = AnnotationLog(path, {**HEADER, "annotator": annotator})
    for note in notes:
        log.append({"action": "note", "item": note, "value": note})
    log.close()
    header, events = read_log(path)
    assert header["annotator"] == annotator
    assert events == log.events
    assert [event["value"] for event in events] == notes


def test_an_action_may_be_longer_than_any_buffer(tmp_path):
    log = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    log.append({"action": "note", "item": "q", "value": "漢" * 1_000_000})
    assert read_log(tmp_path / "a.jsonl")[1] == log.events


def test_a_log_goes_on_where_it_was(tmp_path):
    before = written(tmp_path / "a.jsonl")
    log = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    assert log.mended == ""
    assert [event["value"] for event in log.events] == ["ü0", "ü1", "ü2"]
    assert log.append(flag())["n"] == 4
    assert (tmp_path / "a.jsonl").read_bytes().startswith(before)


def test_a_log_is_read_while_somebody_writes_to_it(tmp_path):
    log = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    log.append(flag())
    with (tmp_path / "a.jsonl").open("ab") as file:
        file.write(b'{"n": 2, "tim')
    assert read_log(tmp_path / "a.jsonl") == (log.header, log.events)


def test_a_log_that_an_editor_gave_other_line_ends_and_blank_lines_is_read(tmp_path):
    content = written(tmp_path / "a.jsonl")
    wanted = read_log(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n\r\n"))
    assert read_log(tmp_path / "a.jsonl") == wanted


# ---- one writer --------------------------------------------------------------------------------------------------------


def test_another_process_is_refused_and_the_first_goes_on(tmp_path, opened_elsewhere):
    log = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    log.append(flag())
    refused = opened_elsewhere(tmp_path / "a.jsonl")
    assert refused.startswith(
        "StoreError a.jsonl needs a single writer; another kernel or program has it open; close that one"
    )
    assert log.append(flag())["n"] == 2
    log.close()
    assert opened_elsewhere(tmp_path / "a.jsonl") == "opened 2"


@pytest.mark.parametrize("header", [OTHER_TASK, {**HEADER, "annotator": "ben"}])
def test_a_process_that_would_be_refused_anyway_waits_for_its_turn_too(
    tmp_path, header, opened_elsewhere
):
    log = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    assert opened_elsewhere(tmp_path / "a.jsonl", header).startswith(
        "StoreError a.jsonl needs a single writer"
    )
    log.close()


def test_another_name_of_the_file_is_the_same_file(tmp_path, opened_elsewhere):
    log = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "a.jsonl")
    assert opened_elsewhere(tmp_path / "link.jsonl").startswith(
        "StoreError a.jsonl needs a single writer"
    )
    AnnotationLog(tmp_path / "link.jsonl", HEADER)
    assert log.closed


HOLD = """
import json, sys
from ragnb.annotation.log import AnnotationLog
log = AnnotationLog(sys.argv[1], json.loads(sys.argv[2]))
print("opened", flush=True)
sys.stdin.readline()
print(log.append({"action": "flag", "item": "q", "value": True})["n"])
"""


def test_another_process_holds_it_and_this_one_is_refused(tmp_path):
    arguments = [sys.executable, "-c", HOLD, str(tmp_path / "a.jsonl"), json.dumps(HEADER)]
    with subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "opened\n"
        for _ in range(3):
            with pytest.raises(
                StoreError,
                match=r"a.jsonl needs a single writer; another kernel or program has it open",
            ):
                AnnotationLog(tmp_path / "a.jsonl", HEADER)
        assert other.communicate("go on\n")[0] == "1\n"
    assert len(AnnotationLog(tmp_path / "a.jsonl", HEADER).events) == 1


def test_a_cell_that_is_run_again_takes_over(tmp_path, opened_elsewhere):
    earlier = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    earlier.append(flag())
    later = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    assert earlier.closed
    assert not later.closed
    assert later.append(flag())["n"] == 2
    with pytest.raises(
        StoreError,
        match=r"a.jsonl needs to be open; it was closed, or opened in another cell; go on there",
    ):
        earlier.append(flag())
    assert len(earlier.events) == 1
    earlier.close()
    assert later.append(flag())["n"] == 3, "closing the earlier one does not close the later"
    assert opened_elsewhere(tmp_path / "a.jsonl").startswith("StoreError")


@pytest.mark.parametrize("header", [OTHER_TASK, {**HEADER, "annotator": "ben"}])
def test_other_work_in_the_same_process_does_not_take_over(tmp_path, header):
    log = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    with pytest.raises(InputError, match=r"a.jsonl needs to be a log of the same (task|annotator)"):
        AnnotationLog(tmp_path / "a.jsonl", header)
    assert log.append(flag())["n"] == 1


def test_closing_twice_does_no_harm(tmp_path):
    log = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    log.close()
    log.close()
    assert log.closed
    with pytest.raises(StoreError, match=r"a.jsonl needs to be open"):
        log.append(flag())


# ---- what a crash leaves -----------------------------------------------------------------------------------------------


def test_a_last_line_cut_at_any_byte_is_put_aside_and_nothing_before_it_is_lost(tmp_path):
    whole = written(tmp_path / "whole.jsonl")
    start = whole.rstrip(b"\n").rfind(b"\n") + 1
    for cut in range(start, len(whole)):
        path = tmp_path / f"{cut}.jsonl"
        path.write_bytes(whole[:cut])
        log = AnnotationLog(path, HEADER)
        assert [event["value"] for event in log.events] == ["ü0", "ü1"]
        assert path.read_bytes() == whole[:start]
        aside = path.with_name(path.name + ".torn")
        if cut == start:
            assert log.mended == ""
            assert not aside.exists()
        else:
            assert (
                log.mended
                == f"{cut - start} bytes of an action that never was whole are now in {aside.name}"
            )
            assert aside.read_bytes() == whole[start:cut] + b"\n"
        assert log.append(flag())["n"] == 3
        log.close()
        assert len(read_log(path)[1]) == 3


def test_a_first_line_cut_at_any_byte_is_put_aside_and_the_log_begun_again(tmp_path):
    whole = written(tmp_path / "whole.jsonl", 0)
    for cut in [*range(40), *range(40, len(whole), 37), len(whole) - 1]:
        path = tmp_path / f"{cut}.jsonl"
        path.write_bytes(whole[:cut])
        log = AnnotationLog(path, HEADER)
        assert log.header["annotator"] == "ana"
        assert bool(log.mended) is bool(cut)
        log.close()
        assert read_log(path)[1] == []


def test_a_second_crash_does_not_write_over_what_the_first_left(tmp_path):
    for rest in (b"first", b"second"):
        written(tmp_path / "a.jsonl", 1)
        with (tmp_path / "a.jsonl").open("ab") as file:
            file.write(rest)
    written(tmp_path / "a.jsonl", 1)
    assert (tmp_path / "a.jsonl.torn").read_bytes() == b"first\nsecond\n"
    assert len(read_log(tmp_path / "a.jsonl")[1]) == 3


@pytest.mark.parametrize(
    "content",
    [b"dear diary", b"{}", b'{"a": 1}\n{"b"', b"\xff\xfe"],
)
def test_a_file_that_is_no_log_is_refused_and_left_as_it_is(tmp_path, content):
    path = tmp_path / "thesis.txt"
    path.write_bytes(content)
    with pytest.raises(
        InputError,
        match=r"thesis.txt (line 1 needs one JSON object|needs to be an annotation log of version 1)",
    ):
        AnnotationLog(path, HEADER)
    assert path.read_bytes() == content
    assert not path.with_name("thesis.txt.torn").exists()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files cannot be counted here")
def test_a_folder_that_cannot_be_synchronised_is_closed_all_the_same(tmp_path, monkeypatch):
    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(os, "fsync", lambda _: os.stat(tmp_path / "nothing"))
    with pytest.raises(OSError, match="nothing"):
        _sync_folder(tmp_path)
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("number", [2, 4])
@pytest.mark.parametrize(
    "damage",
    [b"{", b'{"n": 1', b"[1]", b"\xff\xff", b"\x00" * 40],
    ids=lambda damage: repr(damage[:20]),
)
def test_a_damaged_line_is_named_and_nothing_is_touched(tmp_path, number, damage):
    lines = written(tmp_path / "a.jsonl").split(b"\n")
    lines[number - 1] = damage
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines) + b'{"torn')
    for attempt in (read_log, lambda path: AnnotationLog(path, HEADER)):
        with pytest.raises(
            InputError,
            match=rf"a.jsonl line {number} needs (one JSON object; got .*; mend or remove the line|UTF-8 text; got byte 0xff)",
        ):
            attempt(tmp_path / "a.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == b"\n".join(lines) + b'{"torn'


@pytest.mark.parametrize(("order", "number"), [([0, 2, 1], 3), ([0, 1, 3, 2], 4)])
def test_lines_that_were_moved_are_named(tmp_path, order, number):
    lines = written(tmp_path / "a.jsonl").splitlines(keepends=True)
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines[n] for n in order))
    with pytest.raises(
        InputError,
        match=rf"a.jsonl line {number} needs a number n above \d; got \d; mend or remove the line",
    ):
        AnnotationLog(tmp_path / "a.jsonl", HEADER)


@pytest.mark.parametrize("order", [[0, 1, 1, 2, 3], [0, 1, 2, 3, 1, 2]])
def test_a_line_that_is_there_twice_counts_once(tmp_path, order):
    lines = written(tmp_path / "a.jsonl").splitlines(keepends=True)
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines[n] for n in order))
    with pytest.warns(UserWarning, match="a.jsonl has several lines with one number"):
        assert [event["value"] for event in read_log(tmp_path / "a.jsonl")[1]] == ["ü0", "ü1", "ü2"]


# Two threads at once, as earlier versions let them write: 2 and 3 were given twice, and thread B counted on from 2 again.
TWO_THREADS = [(1, "A1"), (2, "A2"), (3, "A3"), (2, "B1"), (3, "B2"), (4, "B3")]


def numbered(path, actions):
    """A log whose lines have these numbers and notes."""
    AnnotationLog(path, HEADER).close()
    with path.open("a", encoding="utf-8") as file:
        for n, note in actions:
            line = {
                "n": n,
                "time": f"2031-05-04T12:00:0{n}.000+00:00",
                "action": "note",
                "item": "q/0",
                "value": note,
            }
            file.write(json.dumps(line) + "\n")


def test_a_log_of_two_threads_at_once_is_read_in_the_order_of_the_file(tmp_path):
    numbered(tmp_path / "a.jsonl", TWO_THREADS)
    with pytest.warns(
        UserWarning, match="two threads wrote at the same time; all of their actions are read"
    ) as said:
        _, events = read_log(tmp_path / "a.jsonl")
    assert len(said) == 1
    assert [(event["n"], event["value"]) for event in events] == TWO_THREADS


def test_a_log_of_two_threads_goes_on_with_a_number_that_is_new(tmp_path):
    numbered(tmp_path / "a.jsonl", [*TWO_THREADS[:3], (2, "B1")])
    with pytest.warns(UserWarning, match="several lines with one number"):
        log = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    assert log.append(flag())["n"] == 4


@pytest.mark.parametrize("n", ["null", '"2"', "0"])
def test_a_line_without_a_number_is_named(tmp_path, n):
    content = written(tmp_path / "a.jsonl").replace(b'"n": 2', f'"n": {n}'.encode())
    (tmp_path / "a.jsonl").write_bytes(content)
    with pytest.raises(
        InputError,
        match=r"a.jsonl line 3 needs a number n above 1; got .*; mend or remove the line",
    ):
        read_log(tmp_path / "a.jsonl")


def test_after_a_line_was_removed_the_log_goes_on_with_new_numbers(tmp_path):
    lines = written(tmp_path / "a.jsonl").splitlines(keepends=True)
    (tmp_path / "a.jsonl").write_bytes(b"".join([*lines[:2], *lines[3:]]))
    log = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    assert [event["n"] for event in log.events] == [1, 3]
    assert log.append(flag())["n"] == 4


# ---- logs that are refused, and their lock -----------------------------------------------------------------------------


def changed(**changes):
    return {**HEADER, **changes}


REWORDED = json.loads(json.dumps(HEADER["task"]).replace("correct: says", "correct: sings"))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (
            OTHER_TASK,
            r"a.jsonl needs to be a log of the same task; it is of 'verdict', not of 'rgb'; choose another path",
        ),
        (
            changed(task=REWORDED),
            r"a.jsonl needs to be a log of the same task; it is of 'verdict' in another wording; choose",
        ),
        (
            changed(annotator="ben"),
            r"a.jsonl needs to be a log of the same annotator; it is of 'ana', not of 'ben'; choose",
        ),
    ],
)
def test_a_log_of_other_work_is_refused_and_its_lock_released(
    tmp_path, header, message, opened_elsewhere
):
    content = written(tmp_path / "a.jsonl")
    with pytest.raises(InputError, match=message):
        AnnotationLog(tmp_path / "a.jsonl", header)
    assert opened_elsewhere(tmp_path / "a.jsonl") == "opened 3"
    assert (tmp_path / "a.jsonl").read_bytes() == content


@pytest.mark.parametrize(
    ("first", "got"),
    [
        ({"ragnb_annotation": 2, **HEADER}, "2"),
        ({"ragnb_annotation": 1, "annotator": "ana"}, "1"),
        (HEADER, "None"),
    ],
)
def test_a_log_of_another_version_or_shape_is_refused_and_its_lock_released(
    tmp_path, first, got, opened_elsewhere
):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(first) + "\n")
    message = rf"a.jsonl needs to be an annotation log of version 1; its first line has ragnb_annotation={got}; choose another"
    with pytest.raises(InputError, match=message):
        AnnotationLog(path, HEADER)
    path.write_bytes(b"")
    assert opened_elsewhere(path) == "opened 0"


def test_refusals_leave_no_open_files(tmp_path):
    written(tmp_path / "a.jsonl")
    before = (
        len(os.listdir("/proc/self/fd"))
        if Path("/proc/self/fd").is_dir()
        else pytest.skip("no list of open files")
    )
    for _ in range(5):
        with pytest.raises(InputError):
            AnnotationLog(tmp_path / "a.jsonl", OTHER_TASK)
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("name", ["folder", "file/a.jsonl", "locked.jsonl"])
def test_a_path_that_cannot_be_written_is_refused(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "locked.jsonl.lock").mkdir()
    with pytest.raises(
        InputError,
        match=r"an annotation log needs a path that can be written; got '.+' \(.+\); choose another",
    ):
        AnnotationLog(tmp_path / name, HEADER)


@pytest.mark.parametrize("name", ["nothing.jsonl", "folder", "file/a.jsonl"])
def test_what_is_no_file_cannot_be_read(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    with pytest.raises(
        InputError, match=r"an annotation log needs to be a file; got '.+' \(.+\); check it"
    ):
        read_log(tmp_path / name)


def test_what_is_no_json_is_refused_before_anything_is_written(tmp_path, opened_elsewhere):
    log = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    with pytest.raises(TypeError):
        log.append({"action": "note", "item": "q", "value": {1, 2}})
    assert log.append(flag())["n"] == 1
    with pytest.raises(TypeError):
        AnnotationLog(tmp_path / "b.jsonl", {**HEADER, "more": {1, 2}})
    assert opened_elsewhere(tmp_path / "b.jsonl") == "opened 0"


# ---- the file is taken away, the disk is full --------------------------------------------------------------------------


def replaced(path):
    (path.parent / "new").write_bytes(path.read_bytes())
    (path.parent / "new").replace(path)


@pytest.mark.parametrize("taken_away", [Path.unlink, replaced])
def test_a_log_that_is_taken_away_says_so_and_is_begun_again(tmp_path, taken_away):
    log = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    log.append(flag())
    taken_away(tmp_path / "a.jsonl")
    with pytest.raises(
        StoreError,
        match=r"a.jsonl needs to stay where it is; it was removed; run the cell again for a new log",
    ):
        log.append(flag())
    assert len(log.events) == 1
    again = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    assert log.closed
    assert len(again.events) == (taken_away is replaced)


def test_after_removal_even_other_work_may_begin_there(tmp_path):
    AnnotationLog(tmp_path / "a.jsonl", HEADER)
    (tmp_path / "a.jsonl").unlink()
    assert AnnotationLog(tmp_path / "a.jsonl", OTHER_TASK).header["task"]["name"] == "rgb"


@contextmanager
def room_for_files_up_to(size):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("room", [0, 1, 100, 4096])
def test_on_a_full_disk_nothing_of_the_action_remains_and_later_ones_work(tmp_path, room):
    log = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    log.append({"action": "note", "item": "q", "value": "before"})
    size = (tmp_path / "a.jsonl").stat().st_size
    with (
        room_for_files_up_to(size + room),
        pytest.raises(
            StoreError, match=r"a.jsonl needs room on a disk that can be written; got .*; make room"
        ),
    ):
        log.append({"action": "note", "item": "q", "value": "x" * 5000})
    assert (tmp_path / "a.jsonl").stat().st_size == size
    assert len(log.events) == 1
    assert log.append({"action": "note", "item": "q", "value": "after"})["n"] == 2
    assert [event["value"] for event in read_log(tmp_path / "a.jsonl")[1]] == ["before", "after"]


def test_a_log_that_finds_no_room_for_its_first_line_releases_its_lock(tmp_path, opened_elsewhere):
    with (
        room_for_files_up_to(10),
        pytest.raises(StoreError, match=r"a.jsonl needs room on a disk that can be written"),
    ):
        AnnotationLog(tmp_path / "a.jsonl", HEADER)
    assert (tmp_path / "a.jsonl").read_bytes() == b""
    assert opened_elsewhere(tmp_path / "a.jsonl") == "opened 0"


# ---- killed ------------------------------------------------------------------------------------------------------------

LABEL = """
import sys
from ragnb.annotation.session import AnnotationSession
import pandas as pd
examples = pd.DataFrame({"example_id": ["q/0", "q/1"], "question": "?", "response": "!"})
session = AnnotationSession(examples, "verdict", "ana", sys.argv[1])
print("ready", len(session.log.events), flush=True)
n = 0
while True:
    n += 1
    session.note(f"{sys.argv[2]}:{n} " + "é" * (n % 300))
    print(session.log.events[-1]["n"], session.labels.note, flush=True)
"""


def kill_at_random_moments(path, kills):
    """Everything that was acknowledged, in order; each time it is checked against the log."""
    acknowledged, rng = [], random.Random(11)
    for run in range(kills):
        with subprocess.Popen(
            [sys.executable, "-c", LABEL, str(path), str(run)], stdout=subprocess.PIPE
        ) as labelling:
            ready = labelling.stdout.readline().decode().split()
            assert ready[0] == "ready", "the lock is free at once"
            assert int(ready[1]) >= len(acknowledged)
            time.sleep(rng.uniform(0.0, 0.3))
            labelling.send_signal(signal.SIGKILL)
            lines = labelling.stdout.read().decode("utf-8").split("\n")[:-1]
        acknowledged += [(int(line.split(" ", 1)[0]), line.split(" ", 1)[1]) for line in lines]
        notes = {
            event["n"]: event["value"] for event in read_log(path)[1] if event["action"] == "note"
        }
        assert [(n, notes[n]) for n, _ in acknowledged] == acknowledged
        assert len(notes) - len(acknowledged) <= run + 1, (
            "at most one action a kill was written and not acknowledged"
        )
    return acknowledged


def check_kills(path, kills):
    acknowledged = kill_at_random_moments(path, kills)
    assert acknowledged, "the kills fell before the first action, so they tested nothing"
    assert [n for n, _ in acknowledged] == sorted({n for n, _ in acknowledged})
    assert [event["n"] for event in read_log(path)[1]] == list(range(1, len(read_log(path)[1]) + 1))


def test_whatever_was_acknowledged_before_a_kill_is_there(tmp_path):
    check_kills(tmp_path / "a.jsonl", 3)


@pytest.mark.slow
def test_whatever_was_acknowledged_before_thirty_kills_is_there(tmp_path):
    check_kills(tmp_path / "a.jsonl", 30)


def test_nothing_remains_of_an_action_that_was_interrupted(tmp_path, monkeypatch):
    log = AnnotationLog(tmp_path / "a.jsonl", HEADER)
    with monkeypatch.context() as interrupted:
        interrupted.setattr(os, "fsync", lambda descriptor: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            log.append(flag())
    assert log.events == read_log(tmp_path / "a.jsonl")[1] == []
    assert log.append(flag())["n"] == 1
