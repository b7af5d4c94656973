"""Two logs or more become one: agreed, adjudicated, resumed, blind."""

import pandas as pd
import pytest
from support.labelling import (
    LANGUAGES,
    TRACE,
    annotated,
    say,
    trace_examples,
    verdict_examples,
    verdicts,
)

import ragnb
from ragnb.annotation import adjudicate, join_labels, read_labels
from ragnb.errors import InputError

NAMES = list(LANGUAGES)
WORDS = {"ana": "ccirc", "ben": "cirr."}


def logs(folder, words=WORDS, **options):
    return [
        annotated(verdict_examples(), "verdict", name, folder, verdicts(said), **options)
        for name, said in words.items()
    ]


def gold(session):
    return read_labels(session).set_index("item")


def ids(session):
    return [item.id for item in session.items]


# ---- verdicts ----------------------------------------------------------------------------------------------------------


def test_two_logs_become_the_gold_labels_made_by_hand(tmp_path):
    session = adjudicate(verdict_examples(), logs(tmp_path), "cleo", tmp_path)
    # Two that differ, and one that only one labelled.
    assert ids(session) == [NAMES[1], NAMES[2], NAMES[4]]
    say(session, verdicts(".ic.c"))
    found = gold(session).loc[NAMES[:5]]
    assert found["verdict"].str[0].tolist() == list("cicrc")
    assert found["source"].str[:2].tolist() == ["ag", "ad", "ad", "ag", "ad"]
    assert set(found["status"]) == {"labelled"}
    assert session.log.path.name == "gold.verdict.sqlite"
    assert session.log.events[0]["set"][0]["of"] == {"ana": "correct", "ben": "correct"}
    assert session.log.events[-1]["set"][0]["of"] == {"ana": "correct"}
    joined = join_labels(verdict_examples(), session)
    assert ragnb.score(joined, "annotator.verdict")["value"].tolist()[:5] == [1, 0, 1, 0, 1]


def test_looking_at_an_item_again_changes_no_label(tmp_path):
    given = logs(tmp_path)
    adjudicate(verdict_examples(), given, "cleo", tmp_path).close()
    given[0].go(NAMES[5])
    adjudicate(verdict_examples(), given, "cleo", tmp_path).close()
    say(given[0], {NAMES[0]: {"verdict": "refuse"}})
    with pytest.raises(InputError, match="was made from other logs; those of 'ana' differ"):
        adjudicate(verdict_examples(), given, "cleo", tmp_path)
    others = [given[0], *logs(tmp_path, {"dan": "c"})]
    with pytest.raises(InputError, match="those of 'ana', 'ben', 'dan' differ"):
        adjudicate(verdict_examples(), others, "cleo", tmp_path)


def test_an_annotators_own_log_is_not_written_to(tmp_path):
    given = logs(tmp_path)
    before = given[0].log.path.read_bytes()
    with pytest.raises(InputError, match=r"ana.verdict is the log of an annotator, but decisions"):
        adjudicate(verdict_examples(), given, "ana", given[0].log.path)
    assert given[0].log.path.read_bytes() == before


def test_where_all_agree_everything_is_there_to_be_looked_through(tmp_path):
    given = logs(tmp_path, {"a": "cir", "b": "cir"})
    session = adjudicate(verdict_examples(), given, "d", tmp_path)
    assert ids(session) == NAMES[:3]
    assert session.progress()["labelled"] == 3
    assert not session.next_unlabelled()
    session.go(NAMES[0])
    session.label("verdict", "refuse")
    decided = gold(session).loc[NAMES[0], ["verdict", "source"]]
    assert decided.tolist() == ["refuse", "adjudicated"]


# ---- who is who --------------------------------------------------------------------------------------------------------


def reachable(session):
    """All texts that a screen may take from a session: its others, items, labels' values and suggestions."""
    shown = (session.suggestion(), session.labels.values, session.progress())
    return str([session.others, session.items, session.suggested, session.task, *shown])


def test_blind_adjudication_shows_letters_and_logs_names(tmp_path):
    words = {"ana-Ω": "ccccc", "ben-Ж": "iiiii", "chi-陳": "rrrrr"}
    session = adjudicate(verdict_examples(), logs(tmp_path, words), "dan", tmp_path, blind=True)
    for name in words:
        assert name not in reachable(session)
    assert all(list(by_name) == ["A", "B", "C"] for by_name in session.others.values())
    say(session, verdicts("r"))
    said = session.log.events[-1]["set"][0]["of"]
    assert said == {"ana-Ω": "correct", "ben-Ж": "incorrect", "chi-陳": "refuse"}


def test_letters_are_dealt_anew_for_each_item_and_stay(tmp_path):
    examples = pd.DataFrame(
        {"example_id": [f"题/{n}" for n in range(60)], "question": "?", "response": "!"}
    )
    labels = pd.DataFrame({"item": examples["example_id"], "task": "verdict"})
    said = {"ana": "correct", "ben": "incorrect"}
    given = [labels.assign(annotator=name, verdict=word) for name, word in said.items()]
    session = adjudicate(examples, given, "dan", tmp_path, blind=True)
    firsts = [session.others[item]["A"]["verdict", None] for item in ids(session)]
    assert 15 < firsts.count("correct") < 45
    session.close()
    again = adjudicate(examples, given, "dan", tmp_path, blind=True)
    assert [again.others[item]["A"]["verdict", None] for item in ids(again)] == firsts


# ---- sentences ---------------------------------------------------------------------------------------------------------


def test_fields_that_agree_are_there_already(tmp_path):
    other = {**TRACE, "relevant": ["0b"], "support": {"a": "full", "b": "none"}}
    other["supporting"] = {"a": ["0a"], "b": []}
    given = [
        annotated(trace_examples(), "trace", name, tmp_path,
                  {"bench_test/0": of_first, "bench_test/1": TRACE})
        for name, of_first in {"ana": TRACE, "ben": other}.items()
    ]  # fmt: skip
    session = adjudicate(trace_examples(), given, "cleo", tmp_path)
    assert ids(session) == ["bench_test/0"]
    assert session.missing() == [("relevant", None), ("supporting", "b"), ("support", "b")]
    decided = {"relevant": ["0a", "0b"], "supporting": {"b": ["1a"]}, "support": {"b": "full"}}
    say(session, {"bench_test/0": decided})
    found = gold(session)
    assert found["status"].tolist() == ["labelled", "labelled"]
    assert found["source"].to_dict() == {"bench_test/0": "mixed", "bench_test/1": "agreed"}
    assert found.loc["bench_test/1", "support"] == TRACE["support"]
    assert found.loc["bench_test/1", "example_id"] == "bench_test/1"


def test_an_optional_label_of_one_annotator_needs_no_decision(tmp_path):
    """It is not among the gold labels either, because nobody confirmed it."""
    reason = {"name": "reason", "kind": "choice", "options": ["old", "wrong"], "required": False}
    task = {"name": "tone", "fields": [{"name": "tone", "options": ["kind", "curt"]}, reason]}
    examples = verdict_examples()[:2].assign(example_id=["q/1", "q/2"])
    annotators = {
        "ana": {"q/1": {"tone": "curt", "reason": "old"}, "q/2": {"tone": "kind", "reason": "old"}},
        "ben": {"q/1": {"tone": "kind"}, "q/2": {"tone": "kind"}},
    }
    given = [annotated(examples, task, name, tmp_path, said) for name, said in annotators.items()]
    session = adjudicate(examples, given, "cleo", tmp_path)
    assert ids(session) == ["q/1"]
    assert session.missing() == [("tone", None)]
    assert gold(session).loc["q/2", ["tone", "reason"]].tolist() == ["kind", None]


# ---- what is refused ---------------------------------------------------------------------------------------------------


def test_other_texts_are_refused(tmp_path):
    given, changed = logs(tmp_path), verdict_examples()
    changed.loc[3, "question"] += " "
    message = f"differ from those that were labelled, such as {NAMES[3]!r}"
    with pytest.raises(InputError, match=message):
        adjudicate(changed, given, "cleo", tmp_path)
    assert not (tmp_path / "gold.verdict.sqlite").exists()
