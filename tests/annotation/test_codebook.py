"""Error analysis: notes and tags of a codebook that grows, with a log that loses nothing."""

import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from support import processes
from support.labelling import TEXTS, opened, plain_frame

import ragnb
from ragnb.annotation import (
    adjudicate,
    agreement,
    join_labels,
    read_codebook,
    read_labels,
    read_task,
    recover_log,
)
from ragnb.annotation.log import read_log
from ragnb.errors import InputError
from ragnb.tags import LONGEST_TAG


@pytest.fixture
def session(tmp_path):
    session = opened(tmp_path / "ana.sqlite", plain_frame(4), "error_analysis")
    yield session
    session.close()


def tags_of(session):
    """The tags of each item, as somebody reads them later."""
    labels = read_labels(session.log.path)
    return dict(zip(labels["item"], labels["tags"], strict=True))


def test_a_codebook_grows_while_one_reads_and_earlier_uses_follow(session):
    session.label("open_note", "repeats the question")
    session.tag("echo")
    session.go("q/1")
    session.tag("Echoes the prompt")
    session.tag("no answer")
    session.go("q/2")
    session.label("tags", [])
    session.merge_tags("Echoes the prompt", into="echo")
    session.rename_tag("echo", "echoed prompt")
    session.define_tag("echoed prompt", " The reply repeats its instructions. ")
    assert tags_of(session) == {
        "q/0": ["echoed prompt"],
        "q/1": ["echoed prompt", "no answer"],
        "q/2": [],
    }
    codebook = read_codebook(session)
    assert codebook.to_dict("list") == {
        "tag": ["echoed prompt", "no answer"],
        "definition": ["The reply repeats its instructions.", ""],
        "n_items": [2, 1],
        "earlier": [["Echoes the prompt", "echo"], []],
    }
    joined = join_labels(plain_frame(4), session)
    assert joined["open_note"].tolist() == ["repeats the question", None, None, None]
    assert joined["tags"].tolist() == [["echoed prompt"], ["echoed prompt", "no answer"], [], None]
    labels = read_labels(session)
    assert labels["status"].tolist() == ["labelled"] * 3
    assert labels.attrs["codebook"] == {
        "echoed prompt": "The reply repeats its instructions.", "no answer": ""
    }  # fmt: skip


def test_every_change_of_the_codebook_can_be_undone_and_redone(session):
    session.tag("a")
    session.go("q/1")
    session.tag("b")
    before = [tags_of(session)]
    steps = [
        lambda: session.rename_tag("a", "c"),
        lambda: session.merge_tags("b", "c"),
        lambda: session.define_tag("c", "both"),
        lambda: session.tag("d"),
    ]
    for step in steps:
        step()
        before.append(tags_of(session))
    assert before[2] == {"q/0": ["c"], "q/1": ["c"]}
    # The last step is two actions: a tag that is added, and the item that gets it.
    for n_undone, expected in zip((2, 1, 1, 1), reversed(before[:-1]), strict=True):
        for _ in range(n_undone):
            session.undo()
        assert tags_of(session) == expected
    assert read_codebook(session)["tag"].tolist() == ["a", "b"]
    for _ in range(5):
        session.redo()
    assert tags_of(session) == before[-1]
    assert [event["action"] for event in read_log(session.log.path)[1]].count("undo") == 5


def test_a_tag_means_what_it_meant_whatever_letter_case_and_white_space_and_former_name(session):
    session.tag("Wrong language")
    session.go("q/1")
    session.tag("  wrong \n LANGUAGE ")
    assert tags_of(session)["q/1"] == ["Wrong language"]
    session.rename_tag("wrong language", "other language")
    session.go("q/2")
    session.tag("wrong language")
    assert tags_of(session)["q/2"] == ["other language"]
    session.rename_tag("other language", "Other Language")
    session.tag("x")
    session.merge_tags("x", "other language")
    with pytest.raises(InputError, match="a tag can only be merged into another one"):
        session.merge_tags("x", "wrong language")
    for name, message in {
        "OTHER  language": "already has the tag 'Other Language'; use it",
        "wrong language": "the tag 'Other Language', which was called 'wrong language' before; use",
        "x": "which was called 'x' before",
        " \t": "must not be blank",
        "y" * (LONGEST_TAG + 1): "at most 100 characters, got 101; put what the tag means",
    }.items():
        with pytest.raises(InputError, match=message):
            session.add_tag(name)
    session.add_tag("y" * LONGEST_TAG)
    with pytest.raises(InputError, match="merge the two tags, or choose another name"):
        session.rename_tag("y" * LONGEST_TAG, "wrong language")
    with pytest.raises(InputError, match="the codebook has no tag 'other langage'; did you mean"):
        session.label("tags", ["other langage"])
    with pytest.raises(InputError, match="tags must be a list of names, got 'x'"):
        session.label("tags", "x")


HOSTILE = [
    "<b>", "</script>", "لغة خاطئة", "🤦🏽‍♀️", "x" * LONGEST_TAG, "=HYPERLINK(1)", "constructor",
    "__proto__", "a, b", "tags", *TEXTS,
]  # fmt: skip


def test_tags_of_every_script_survive_the_log_and_the_static_page(session):
    for name in HOSTILE:
        session.tag(name)
    names = tags_of(session)["q/0"]
    assert len(names) == len(HOSTILE)
    expected = [" ".join(text.encode("utf-8", "replace").decode().split()) for text in HOSTILE]
    assert [name.replace("\ufffd", "?") for name in names] == expected
    exported = session.log.path.with_name("export.jsonl")
    session.log.write_jsonl(exported)
    assert read_labels(exported)["tags"][0] == names
    page = ragnb.widgets.Annotator(session)._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b><" not in page
    assert "</script>" not in page


def test_a_second_reader_starts_with_the_codebook_of_the_first_and_extends_it(session, tmp_path):
    # Who has which tags, by item.
    first = [["echo"], ["echo", "refusal"], [], ["refusal"]]
    second = [["Echo"], ["refusal"], [], ["refusal", "hedges"]]
    session.add_tag("refusal", "Says that it cannot answer.")
    for n, tags in enumerate(first):
        session.go(n)
        session.label("tags", [])
        for tag in tags:
            session.tag(tag)
    other = opened(
        tmp_path / "ben.sqlite", plain_frame(4), "error_analysis", "ben", codebook=session
    )
    assert read_codebook(other)["definition"].tolist() == ["Says that it cannot answer.", ""]
    for n, tags in enumerate(second):
        other.go(n)
        other.label("tags", [])
        for tag in tags:
            other.tag(tag)
    rows = agreement([session, other]).set_index("metric")
    names = ["refusal", "echo", "hedges"]
    decisions = [[tag in map(str.lower, tags) for tags in by for tag in names] for by in (first, second)]  # fmt: skip
    assert rows.loc["Cohen's kappa", "mean"] == pytest.approx(cohen_kappa_score(*decisions))
    assert rows.loc["percent agreement", ["mean", "n"]].tolist() == [10 / 12, 12]
    # F1 of the sets of each item; both empty is 1.
    assert rows.loc["mean overlap", "mean"] == pytest.approx((1 + 2 / 3 + 1 + 2 / 3) / 4)
    gold = adjudicate(plain_frame(4), [session, other], "cy", tmp_path)
    assert [item.id for item in gold.items] == ["q/1", "q/3"]
    assert read_codebook(gold)["tag"].tolist() == names
    gold.accept()
    gold.go("q/3")
    gold.label("tags", ["refusal"])
    assert tags_of(gold) == {
        "q/0": ["echo"], "q/1": ["refusal"], "q/2": [], "q/3": ["refusal"]
    }  # fmt: skip
    for opened_session in (other, gold):
        opened_session.close()


@pytest.mark.parametrize(
    "codebook",
    [
        {"a": "one", "b": ""},
        pd.DataFrame({"tag": ["a", "b"], "definition": ["one", None]}),
    ],
)
def test_a_codebook_can_be_given_in_many_forms(tmp_path, codebook):
    log = tmp_path / "ana.sqlite"
    session = opened(log, plain_frame(1), "error_analysis", codebook=codebook)
    assert read_codebook(session)[["tag", "definition"]].values.tolist() == [
        ["a", "one"],
        ["b", ""],
    ]
    session.rename_tag("a", "c")
    session.close()
    again = opened(tmp_path / "ben.sqlite", plain_frame(1), "error_analysis", "ben", codebook=log)
    assert read_codebook(again)["tag"].tolist() == ["c", "b"]
    again.close()
    kept = opened(log, plain_frame(1), "error_analysis", codebook=["other"])
    assert read_codebook(kept)["tag"].tolist() == ["c", "b"], "a log keeps its codebook"
    kept.close()


@pytest.mark.parametrize(
    ("task", "codebook", "message"),
    [
        ("verdict", ["a"], "task 'verdict' has a codebook, but no field of tags"),
        ("error_analysis", ["a", " A"], "has the tag 'A' twice"),
        ("error_analysis", ["a", "a "], "has the tag 'a' twice"),
        ("error_analysis", [1], "the name of a tag must be a text, got 1"),
        ("error_analysis", 3, "codebook must be a mapping from tags to definitions, .* got int"),
    ],
)
def test_what_a_codebook_cannot_be(tmp_path, task, codebook, message):
    with pytest.raises(InputError, match=message):
        opened(tmp_path / "a.sqlite", plain_frame(1), task, codebook=codebook)


def test_a_task_without_tags_has_no_codebook(tmp_path):
    session = opened(tmp_path / "a.sqlite", plain_frame(1), "verdict")
    with pytest.raises(InputError, match="the task 'verdict' has no field of tags"):
        session.add_tag("x")
    with pytest.raises(InputError, match="the task 'verdict' has no field of tags"):
        read_codebook(session)
    session.close()
    with pytest.raises(InputError, match="'why' is a field of tags, which has no options"):
        read_task({"name": "t", "fields": [{"name": "why", "kind": "tags", "options": ["a"]}]})


def test_suggested_tags_must_be_in_the_codebook(tmp_path):
    suggestions = {"q/0": {"tags": ["Echo"]}}
    options = {"suggestions": suggestions, "suggested_by": "judge"}
    with pytest.raises(InputError, match="for 'q/0' do not fit: .* no tag 'Echo'.* pass codebook="):
        opened(tmp_path / "a.sqlite", plain_frame(1), "error_analysis", **options)
    session = opened(
        tmp_path / "a.sqlite", plain_frame(1), "error_analysis", codebook=["echo"], **options
    )
    session.rename_tag("echo", "repeats")
    assert session.accept()
    labels = read_labels(session)
    assert labels["tags"].tolist() == [["repeats"]]
    assert labels["source"].tolist() == ["suggestion accepted"]
    session.close()


def test_an_action_that_changes_no_codebook_is_refused(session, tmp_path):
    session.tag("a")
    session.log.write_jsonl(tmp_path / "log.jsonl")
    for change, message in {
        '"change": "add"': "must be one of add, rename, define, merge, got 'drop'",
        '"tag": "a"': "must be a text that is not blank",
        '"name": "a"': "key name: is missing",
    }.items():
        key = change.split(":")[0]
        value = {'"change"': '"drop"', '"tag"': '" "', '"name"': "null"}[key]
        path = tmp_path / "damaged.jsonl"
        text = (tmp_path / "log.jsonl").read_text()
        # Without checksums, only the rules of actions can notice the change.
        lines = [line.rpartition(', "checksum"')[0] + "}" for line in text.splitlines()]
        path.write_text("\n".join(lines).replace(change, f"{key}: {value}") + "\n")
        with pytest.raises(InputError, match=message):
            read_log(path)


def test_labels_keep_their_tags_where_the_codebook_is_damaged(session, tmp_path):
    session.tag("lost")
    session.log.write_jsonl(tmp_path / "log.jsonl")
    text = (tmp_path / "log.jsonl").read_text()
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text(text.replace('"change": "add"', '"change": "adx"'))
    assert recover_log(damaged, tmp_path / "whole.sqlite")["lost"] == [2]
    assert read_labels(tmp_path / "whole.sqlite")["tags"].tolist() == [["lost"]]
    assert read_codebook(tmp_path / "whole.sqlite")["tag"].tolist() == ["lost"]


def test_a_log_that_was_killed_in_the_middle_is_resumed(tmp_path):
    log = tmp_path / "ana.sqlite"
    receiving, sending = processes.context.Pipe(duplex=False)
    process = processes.start(processes.tag_items, log, 400, sending)
    while receiving.recv() < 25:
        pass
    processes.kill(process)
    before = read_labels(log)
    assert 26 <= len(before) < 400
    examples = pd.DataFrame(
        {"example_id": [f"q/{i}" for i in range(400)], "question": "?", "response": "!"}
    )
    session = opened(log, examples, "error_analysis")
    assert read_codebook(session)["tag"].tolist() == [*(f"tag {n}" for n in range(6)), "renamed"]
    assert before["tags"][6] == before["tags"][13] == ["renamed"]
    session.next_unlabelled()
    session.tag("tag 6")
    assert tags_of(session)[session.item.id] == ["renamed"]
    session.close()
