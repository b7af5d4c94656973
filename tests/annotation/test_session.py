import os
import random
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from support.labelling import TEXTS, keyed_frame, opened, plain_frame, said, verdict_examples

from ragnb.annotation import TASKS, AnnotationSession, agreement, join_labels, recorded_passes
from ragnb.annotation.log import LabelState, read_log
from ragnb.errors import InputError, StoreError

KEYS = ["0a", "0b", "1a", "1b"]
RELEVANT = ("relevant", None)
WHOLE = [("relevant", None, []), ("utilized", None, []), ("overall", None, True)]
WHOLE += [
    (field, key, value)
    for key in "ab"
    for field, value in (("supporting", ["0a"]), ("support", "full"))
]
SUGGESTED = {"q/0": {"relevant": ["0a", "1b"], "support": {"a": "full"}, "overall": True}}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.sqlite"


def label_all(session):
    for field, sentence, value in WHOLE:
        session.label(field, value, sentence)


def actions(path):
    return [event["action"] for event in read_log(path)[1]]


# ---- saying ------------------------------------------------------------------------------------------------------------


# Values of all types, of which each kind of field allows some.
VALUES = [
    5,
    1.5,
    True,
    float("nan"),
    "text",
    "",
    b"x",
    None,
    ["x"],
    ["0a"],
    [5],
    [["0a"]],
    [],
    ("0a",),
]
VALUES += [{"0a"}, {"a": 1}, {}, object()]


@pytest.mark.parametrize("task", TASKS)
def test_a_value_of_another_type_is_refused_and_the_log_can_be_opened_again(tmp_path, task):
    """Each act with each value ends with a label or an InputError, and never with a log that is refused."""
    frame = keyed_frame() if task == "trace" else plain_frame(claims=[["It rains."]] * 3)
    session = opened(tmp_path / "a.sqlite", frame, task=task)
    sentence_of = {}
    for field in TASKS[task].fields:
        sentence_of[field.name] = session.item.keys(TASKS[task].unit)[0] if field.each else None
    accepted = 0
    for value in VALUES:
        acts = [("note", value), ("go", value)]
        for name, sentence in sentence_of.items():
            acts += [("label", name, value, sentence), ("toggle", name, value, sentence)]
        for act, *arguments in acts:
            try:
                getattr(session, act)(*arguments)
            except InputError:
                continue
            accepted += 1
        session.close()
        session = opened(tmp_path / "a.sqlite", frame, task=task)
    assert accepted >= 2  # the notes "text" and "" at least


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.label("relevant", "0a"), "'relevant' of item 'q/0' must be a list of sentences .*got '0a'"),
        (lambda s: s.label("relevant", 5), "must be a list of sentences of the item, got 5"),
        (lambda s: s.note(5), "note must be a text, got 5"),
        (lambda s: s.go(1.5), "go needs the id of an item or a number below 3, got 1.5"),
        (lambda s: s.toggle("overall", True), "toggle needs a field of sentences or tags, but 'overall' is a choice"),
        (lambda s: s.label("relevance", []), "must be one of 'relevant'.*got 'relevance'"),
        (lambda s: s.label("relevant", ["9z"]), "'relevant' of item 'q/0' must contain only keys .*got '9z'"),
        (lambda s: s.go(3), "go needs the id of an item or a number below 3, got 3"),
        (lambda s: s.label("support", "full"), "the sentence of 'support' must be one of .*, got None"),
        (lambda s: s.toggle("overall", [True]), r"must be one of \[True, False\], got \[True\]"),
    ],
)  # fmt: skip
def test_what_is_refused_is_not_written(path, call, message):
    session = opened(path)
    with pytest.raises(InputError, match=message):
        call(session)
    assert (actions(path), session.item.id, session.labels.values) == ([], "q/0", {})


# ---- where a label comes from ------------------------------------------------------------------------------------------


def test_accepted_changed_and_own_labels_are_told_apart(path):
    session = opened(path, suggestions=SUGGESTED, suggested_by="judge 7B")
    overall, support = ("overall", None), ("support", "a")
    assert session.suggestion() == {RELEVANT: ["0a", "1b"], support: "full", overall: True}
    session.label("relevant", ["1b", "0a"])
    session.label("overall", False)
    session.label("support", "full", "b")
    changed = {"source": "suggestion changed", "suggested": True, "suggested_by": "judge 7B"}
    assert session.labels.details == {
        RELEVANT: {**changed, "source": "suggestion accepted", "suggested": ["0a", "1b"]},
        overall: changed,
        ("support", "b"): {"source": "human"},
    }
    assert session.suggestion() == {support: "full"}, "of what is untouched only"


def test_suggestions_come_from_a_mapping_or_from_a_frame_with_a_column_for_some_fields(tmp_path):
    of_verdict = {"q/0": {"verdict": "correct"}, "q/2": {"verdict": "refuse"}}
    frame = pd.DataFrame(
        {
            "example_id": ["q/2", "q/0", "q/9"],
            "verdict": ["refuse", "correct", "correct"],
            "reply": ["no idea", "Oslo", "of no item here"],
        }
    )
    for number, suggestions in enumerate((of_verdict, frame)):
        path = tmp_path / f"{number}.sqlite"
        session = opened(path, plain_frame(), "verdict", suggestions=suggestions)
        found = []
        for item in range(3):
            session.go(item)
            found.append(session.suggestion().get(("verdict", None)))
        assert found == ["correct", None, "refuse"]


def test_a_frame_of_suggestions_may_lack_fields_of_the_task(path):
    frame = pd.DataFrame({"example_id": ["q/0"], "relevant": [["0a"]]})
    assert opened(path, suggestions=frame).suggestion() == {RELEVANT: ["0a"]}


def test_the_blind_see_nothing_and_their_labels_say_nothing(path):
    session = opened(path, suggestions=SUGGESTED, suggested_by="judge 7B", blind=True)
    assert session.suggestion() == {}
    assert not session.accept()
    session.toggle("relevant", ["0b"])
    session.label("overall", True)
    session.label("support", "full", "a")
    assert session.labels.values[RELEVANT] == ["0b"]
    assert all(of == {"source": "human"} for of in session.labels.details.values())
    assert b"suggest" not in path.read_bytes().lower()
    assert b"judge 7B" not in path.read_bytes()


# ---- undo and redo -----------------------------------------------------------------------------------------------------


class Labelling(RuleBasedStateMachine):
    """A session beside a list of snapshots; opened again at any moment."""

    @initialize()
    def begin(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "a.sqlite"
        self.session = opened(self.path, suggestions=SUGGESTED)
        blank = {"values": {}, "flag": False, "skipped": False, "note": ""}
        self.snapshots, self.at = [{f"q/{i}": blank for i in range(3)}], 0

    def changed(self, **changes):
        """The model: a new snapshot after the current one, those beyond it forgotten."""
        if "values" in changes:
            values = {**self.here["values"], **changes["values"]}
            changes["values"] = {place: one for place, one in values.items() if one is not None}
            changes["skipped"] = False
        after = {**self.snapshots[self.at], self.session.item.id: {**self.here, **changes}}
        self.snapshots = [*self.snapshots[: self.at + 1], after]
        self.at += 1

    @property
    def here(self):
        return self.snapshots[self.at][self.session.item.id]

    @rule(value=st.none() | st.lists(st.sampled_from(KEYS), unique=True))
    def label_sentences(self, value):
        self.session.label("relevant", value)
        self.changed(values={RELEVANT: value if value is None else sorted(value)})

    @rule(value=st.sampled_from(["full", "partial", "none", None]), sentence=st.sampled_from("ab"))
    def label_support(self, value, sentence):
        implied = value == "none" and ("supporting", sentence) not in self.here["values"]
        self.session.label("support", value, sentence)
        follows = {("supporting", sentence): []} if implied else {}
        self.changed(values={("support", sentence): value, **follows})

    @rule(
        keys=st.lists(st.sampled_from(KEYS), min_size=1, unique=True), on=st.none() | st.booleans()
    )
    def toggle(self, keys, on):
        suggested = ["0a", "1b"] if self.session.item.id == "q/0" else []
        before = set(self.here["values"].get(RELEVANT, suggested))
        adding = on if on is not None else bool(set(keys) - before)
        self.session.toggle("relevant", keys, on=on)
        after = before | set(keys) if adding else before - set(keys)
        self.changed(values={RELEVANT: sorted(after)})

    @rule()
    def accept(self):
        suggested = {RELEVANT: ["0a", "1b"], ("support", "a"): "full", ("overall", None): True}
        given = suggested if self.session.item.id == "q/0" else {}
        left = {place: one for place, one in given.items() if place not in self.here["values"]}
        assert self.session.accept() is bool(left)
        if left:
            self.changed(values=left)

    @rule()
    def flag(self):
        self.session.flag()
        self.changed(flag=not self.here["flag"])

    @rule()
    def skip(self):
        self.session.skip()
        self.changed(skipped=not self.here["skipped"])

    @rule(text=st.text(max_size=5) | st.sampled_from(TEXTS))
    def note(self, text):
        if text != self.here["note"]:
            self.changed(note=text)
        self.session.note(text)

    @rule(number=st.integers(0, 2))
    def go(self, number):
        self.session.go(number)

    @rule()
    def undo(self):
        assert (self.session.undo() is None) is (self.at == 0)
        self.at = max(self.at - 1, 0)

    @rule()
    def redo(self):
        assert (self.session.redo() is None) is (self.at == len(self.snapshots) - 1)
        self.at = min(self.at + 1, len(self.snapshots) - 1)

    @rule(closed=st.booleans())
    def open_again(self, closed):
        before, item = self.session, self.session.item.id
        if closed:
            before.close()
        self.session = opened(self.path, suggestions=SUGGESTED)
        assert said(self.session.state) == said(before.state)
        self.session.go(item)

    @invariant()
    def the_live_state_is_the_models_and_the_logs(self):
        for name, wanted in self.snapshots[self.at].items():
            labels = self.session.state.of(name)
            assert {key: getattr(labels, key) for key in wanted} == wanted
            assert labels.details.keys() == labels.values.keys()
        assert said(LabelState(read_log(self.path)[1])) == said(self.session.state)

    def teardown(self):
        if hasattr(self, "session"):
            self.session.close()
            self.folder.cleanup()


TestLabelling = Labelling.TestCase
TestLabelling.settings = settings(max_examples=12, stateful_step_count=25, deadline=None)


# ---- examples that have changed ----------------------------------------------------------------------------------------


def test_an_example_whose_text_changed_is_left_out_with_its_id_and_the_others_go_on(path):
    session = opened(path)
    session.go(1)
    label_all(session)
    session.close()
    changed = keyed_frame(question=["Question 0?", "Another?", "Question 2?"])
    with pytest.warns(UserWarning, match=r"the texts of 1 item \('q/1'\) differ from those that"):
        later = opened(path, changed)
    assert [item.id for item in later.items] == ["q/0", "q/2"]
    label_all(later)
    assert later.next_unlabelled()
    assert later.item.id == "q/2"
    later.close()
    again = opened(path)
    assert [again.status(item) for item in again.items] == ["labelled", "labelled", "untouched"]


def test_examples_that_have_all_changed_are_refused(path):
    session = opened(path, keyed_frame(1))
    label_all(session)
    session.close()
    message = "the texts of 1 examples differ from those that were labelled, such as 'q/0'; load"
    for _ in range(2):
        with pytest.raises(InputError, match=message):
            opened(path, keyed_frame(1, question="Another?"))
    assert opened(path, keyed_frame(1)).progress()["labelled"] == 1


@pytest.mark.parametrize("later", [[1.0, 2.0, 3.0], ["1", "2", "3"]])
def test_whole_numbers_that_became_floats_or_texts_are_the_same_ids(path, later):
    session = opened(path, plain_frame(example_id=[1, 2, 3]), "verdict")
    for number in range(3):
        session.go(number)
        session.label("verdict", "correct")
    session.close()
    frame = plain_frame().assign(example_id=later)
    again = opened(path, frame, "verdict")
    assert (again.progress()["labelled"], again.notices) == (3, [])
    joined = join_labels(frame, again)
    assert joined["verdict"].tolist() == ["correct"] * 3


def test_labelled_items_that_are_not_among_the_examples_are_reported(path):
    session = opened(path, plain_frame(example_id=[1, 2, 3]), "verdict")
    session.label("verdict", "correct")
    session.close()
    message = r"a.sqlite has labels of 1 item \('1'\), which are not among the examples"
    with pytest.warns(UserWarning, match=message):
        again = opened(path, plain_frame(example_id=["a1", "a2", "a3"]), "verdict")
    assert again.progress()["labelled"] == 0
    assert len(again.notices) == 1


def test_more_items_fewer_items_and_another_order_are_fine(path):
    session = opened(path)
    session.label("relevant", ["0a"])
    session.go(2)
    session.flag()
    session.close()
    with pytest.warns(UserWarning, match="which are not among the examples"):
        fewer = opened(path, keyed_frame(2))
    assert fewer.progress() | {"seconds_left": None} == {
        "items": 2, "labelled": 0, "started": 1, "skipped": 0, "untouched": 1, "flagged": 0, "seconds_left": None,
    }  # fmt: skip
    more = opened(path, keyed_frame(5)[::-1])
    assert [item.id for item in more.items if more.state.of(item.id).touched] == ["q/2", "q/0"]


@pytest.fixture
def hasty_threads():
    """Threads give way to each other after every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def in_two_threads(work):
    threads = [threading.Thread(target=work, args=(random.Random(seed),)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_two_threads_on_one_session_leave_a_log_that_is_read_and_says_the_same(path, hasty_threads):
    session, refused = opened(path), []

    def work(draw):
        acts = [session.flag, session.skip, session.undo, session.redo, lambda: session.go(draw.randrange(3)),
                lambda: session.note(str(draw.random())), lambda: session.toggle("relevant", [draw.choice(KEYS)])]  # fmt: skip
        for _ in range(60):
            try:
                draw.choice(acts)()
            except Exception as error:
                refused.append(error)

    in_two_threads(work)
    events = read_log(path)[1]
    assert refused == []
    assert [event["n"] for event in events] == list(range(1, len(events) + 1))
    assert events == session.log.events
    assert said(LabelState(events)) == said(session.state)


# ---- two at a time -----------------------------------------------------------------------------------------------------


def test_a_cell_that_is_run_again_goes_on_and_the_earlier_session_says_so(path):
    earlier = opened(path)
    earlier.flag()
    later = opened(path)
    before = said(earlier.state)
    label, go = lambda: earlier.label("overall", True), lambda: earlier.go(2)
    for action in (earlier.flag, earlier.skip, earlier.undo, label, go):
        with pytest.raises(StoreError, match="was closed, or opened in another cell; continue in"):
            action()
    assert (said(earlier.state), earlier.number) == (before, 0)
    later.label("overall", True)
    assert later.labels.flag


@pytest.fixture
def stop_button():
    """A list; while something is in it, a press of the stop button raises KeyboardInterrupt, once."""
    armed = []

    def pressed(*given):
        if armed:
            armed.clear()
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, pressed)
    yield armed
    assert signal.getsignal(signal.SIGINT) is pressed
    signal.signal(signal.SIGINT, before)


def press_at_random_moments(until):
    rng = random.Random(3)
    while time.monotonic() < until:
        time.sleep(rng.uniform(0.0005, 0.005))
        os.kill(os.getpid(), signal.SIGINT)


def test_the_stop_button_leaves_log_and_labels_as_one(path, stop_button):
    session, stopped = opened(path), 0
    pressing = threading.Thread(target=press_at_random_moments, args=[time.monotonic() + 0.5])
    pressing.start()
    while pressing.is_alive():
        try:
            stop_button.append("armed")
            session.toggle("relevant", ["0a"])
            session.undo()
            session.redo()
            stop_button.clear()
        except KeyboardInterrupt:
            stopped += 1
    pressing.join()
    assert stopped, "nothing was interrupted, so nothing was tested"
    assert said(LabelState(read_log(path)[1])) == said(session.state)


# ---- progress and names --------------------------------------------------------------------------------


def test_progress_counts_and_the_time_left_is_the_median_pace(path):
    session = opened(path, plain_frame(6), "verdict")
    assert session.progress()["seconds_left"] is None
    for number, seconds in enumerate((10, 20, 120)):
        session.go(number)
        session.label("verdict", "correct")
        session.labels.seconds = seconds
    session.move(1)
    session.skip()
    session.flag()
    assert session.progress() == {
        "items": 6, "labelled": 3, "started": 0, "skipped": 1, "untouched": 2, "flagged": 1, "seconds_left": 40
    }  # fmt: skip
    session.close()
    assert opened(path, plain_frame(6), "verdict").item.id == "q/4", "the first that is not done"


def test_an_annotator_has_a_name(path):
    with pytest.raises(InputError, match="annotator must be the name"):
        opened(path, annotator=" ")
    assert not path.exists()


def test_labelling_goes_on_under_the_guideline_of_the_log(path):
    """A built-in guideline was reworded, as in the log that the package contains."""
    first = recorded_passes("verdict")[0]
    begun = read_log(first)[0]["task"]
    assert begun["guideline"] != TASKS["verdict"].guideline
    frame = verdict_examples().head(2)
    session = AnnotationSession(frame, begun, "ana", path)
    session.label("verdict", "correct")
    session.close()
    with pytest.warns(UserWarning, match="a.sqlite was started with another guideline, which is"):
        later = AnnotationSession(frame, "verdict", "ana", path)
    assert later.task.guideline == begun["guideline"]
    other = AnnotationSession(frame, "verdict", "ben", path.with_name("b.sqlite"))
    other.label("verdict", "correct")
    assert agreement([later, other])["mean"].iloc[0] == 1
