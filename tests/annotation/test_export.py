"""Labels as a frame, beside their responses, and in RAGBench's file."""

import csv
import io
import json

import pandas as pd
import pytest
from annotation.labelling import TRACE, annotated, say, trace_examples, verdict_examples, verdicts

import ragnb
from ragnb.annotation.export import join_labels, read_labels, write_ragbench
from ragnb.annotation.session import AnnotationSession
from ragnb.annotation.tasks import read_task
from ragnb.datasets.tables import read_table, write_table
from ragnb.errors import InputError


def verdict_log(folder, words="cir.", **options):
    return annotated(
        verdict_examples(), "verdict", "ána 李", folder / "ana.jsonl", verdicts(words), **options
    )


# ---- a frame of labels -------------------------------------------------------------------------------------------------


def test_one_row_an_item_that_was_touched(tmp_path):
    session = verdict_log(tmp_path)
    session.go("th/4")
    session.note("=1+1 ภาษา")
    session.go("hi/5")
    session.skip()
    session.go("ar/6")  # only looked at
    frame = read_labels(session)
    assert (
        frame["item"].tolist()
        == frame["example_id"].tolist()
        == ["fr/1", "zh/2", "ja/3", "th/4", "hi/5"]
    )
    assert frame["verdict"].tolist() == ["correct", "incorrect", "refuse", None, None]
    assert frame["status"].tolist() == ["labelled", "labelled", "labelled", "untouched", "skipped"]
    assert frame["source"].tolist() == ["human", "human", "human", None, None]
    assert frame["note"].tolist() == ["", "", "", "=1+1 ภาษา", ""]
    assert set(frame["annotator"]) == {"ána 李"}
    assert set(frame["task"]) == {"verdict"}
    assert "sentences" not in frame
    assert frame.attrs["header"]["annotator"] == "ána 李"


def test_a_path_and_an_open_session_say_the_same(tmp_path):
    session = AnnotationSession(verdict_examples(), "verdict", "ána 李", tmp_path / "ana.jsonl")
    session.progress()
    say(session, {name: {"verdict": "refuse"} for name in ("zh/2", "fr/1", "ja/3")})
    session.undo()
    open_, closed = read_labels(session), read_labels(str(tmp_path / "ana.jsonl"))
    pd.testing.assert_frame_equal(open_, closed)
    assert open_["item"].tolist() == ["zh/2", "fr/1"]


def test_an_id_of_several_columns_comes_back_as_they_were(tmp_path):
    examples = pd.DataFrame(
        {
            "n": [1, 1, 2],
            "system": ["a | b", "c", "c"],
            "question": "?",
            "response": ["x", "y", "z"],
        }
    )
    session = annotated(
        examples,
        "verdict",
        "ana",
        tmp_path,
        {"1 | a | b": {"verdict": "correct"}},
        id=["n", "system"],
    )
    frame = read_labels(session)
    assert frame[["item", "n", "system"]].values.tolist() == [["1 | a | b", 1, "a | b"]]


def test_a_log_without_columns_of_its_id_still_has_items(tmp_path):
    verdict_log(tmp_path).close()
    path = tmp_path / "ana.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    lines[0]["id"] = ["a", "b"]
    for line in lines[1:]:
        line.pop("id", None)
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")
    assert list(read_labels(path))[:3] == ["item", "annotator", "task"]


def test_sources_of_labels(tmp_path):
    suggested = {name: {"verdict": "correct"} for name in ("fr/1", "zh/2")}
    session = verdict_log(tmp_path, "ci c", suggestions=suggested)
    assert read_labels(session)["source"].tolist() == [
        "suggestion accepted",
        "suggestion changed",
        "human",
    ]


def test_fields_with_different_sources_are_mixed(tmp_path):
    examples = trace_examples(1)
    session = annotated(
        examples, "trace", "ana", tmp_path, {}, suggestions={"bench_test/0": {"overall": True}}
    )
    say(session, {"bench_test/0": {"overall": True, "relevant": []}})
    row = read_labels(session).iloc[0]
    assert row["source"] == "mixed"
    assert row["status"] == "started"
    assert row["relevant"] == []
    assert row["utilized"] is None
    assert row["sentences"] == {"documents": ["0a", "0b", "1a", "1b"], "response": ["a", "b"]}


def test_an_empty_log_is_an_empty_frame_with_columns(tmp_path):
    frame = read_labels(AnnotationSession(verdict_examples(), "verdict", "ana", tmp_path))
    assert frame.empty
    assert {"item", "example_id", "verdict", "source", "time"} <= set(frame.columns)


def test_a_log_with_actions_that_cannot_be_is_refused(tmp_path):
    verdict_log(tmp_path, "").close()
    with (tmp_path / "ana.jsonl").open("a", encoding="utf-8") as file:
        file.write(
            '{"n": 1, "time": "2026-01-01T00:00:00+00:00", "action": "undo", "item": "fr/1", "of": 9}\n'
        )
    with pytest.raises(InputError, match="actions as an annotator writes them"):
        read_labels(tmp_path / "ana.jsonl")


def test_a_field_cannot_be_named_as_a_column_of_all_labels():
    with pytest.raises(InputError, match="'note', a column of all labels"):
        read_task({"name": "mine", "fields": [{"name": "note", "kind": "text"}]})


# ---- beside the responses ----------------------------------------------------------------------------------------------


def test_verdicts_beside_responses_are_scored(tmp_path):
    joined = join_labels(verdict_examples(), verdict_log(tmp_path, "circ"))
    scores = ragnb.score(joined, "annotator.verdict")
    assert scores["value"].tolist()[:4] == [1, 0, 0, 1]
    assert scores["value"].isna().tolist()[4:] == [True] * 4
    assert joined["label_status"].tolist() == ["labelled"] * 4 + ["untouched"] * 4
    assert joined["annotator"].tolist() == ["ána 李"] * 4 + [None] * 4


def test_the_rows_and_index_of_the_responses_stay(tmp_path):
    session = verdict_log(tmp_path, "ci")
    responses = verdict_examples().iloc[::-1].assign(extra=range(8))
    responses.index = [f"r{n}" for n in range(8)]
    joined = join_labels(responses, session)
    pd.testing.assert_frame_equal(joined[responses.columns], responses)
    assert joined.loc["r7", "verdict"] == "correct"
    assert joined.loc["r6", "verdict"] == "incorrect"


def test_rgb_labels_are_truth_values(tmp_path):
    said = {
        "fr/1": {"answer_present": True, "refusal": False},
        "zh/2": {"answer_present": False, "refusal": True, "error_detected": True},
    }
    examples = verdict_examples().iloc[:2]
    joined = join_labels(examples, annotated(examples, "rgb", "ana", tmp_path, said))
    assert joined["refusal"].dtype == bool
    assert joined["refusal"].tolist() == [False, True]
    assert joined["error_detected"].dtype == "boolean"
    assert joined["error_detected"].isna().tolist() == [True, False]
    whole = join_labels(verdict_examples(), tmp_path / "ana.rgb.jsonl")
    assert whole["answer_present"].sum() == 1


def test_people_and_a_judge_of_refusals_are_compared_by_renaming(tmp_path):
    said = {"fr/1": {"refusal": False}, "zh/2": {"refusal": True}}
    examples = verdict_examples().iloc[:2]
    joined = join_labels(examples, annotated(examples, "rgb", "ana", tmp_path, said))
    scores = ragnb.score(
        joined.rename(columns={"refusal": "judged_refusal"}), "rgb.judged_rejection"
    )
    assert scores["value"].tolist() == [0, 1]


def test_trace_labels_are_scored_in_ragbench_columns(tmp_path):
    session = annotated(
        trace_examples(3),
        "trace",
        "ana",
        tmp_path,
        {"bench_test/0": TRACE, "bench_test/1": {"relevant": ["0a"]}},
    )
    joined = join_labels(trace_examples(3), session)
    value = {
        name: ragnb.score(joined, f"trace.{name}")["value"].tolist()
        for name in ("relevance", "utilization", "adherence")
    }
    assert value["relevance"][:2] == [0.5, 0.25]
    assert value["utilization"][0] == 0.25
    assert value["adherence"][0] == 1
    assert pd.isna([value["relevance"][2], value["utilization"][1], *value["adherence"][1:]]).all()


def test_support_that_is_not_whole_yet_is_missing_not_unsupported(tmp_path):
    half = {"bench_test/0": {**TRACE, "support": {"a": "full"}, "supporting": {"a": ["0a"]}}}
    joined = join_labels(
        trace_examples(1), annotated(trace_examples(1), "trace", "ana", tmp_path, half)
    )
    assert joined["sentence_support_information"].tolist() == [None]
    assert pd.isna(ragnb.score(joined, "trace.adherence")["value"]).all()


def test_labels_without_a_row_are_listed_or_dropped(tmp_path):
    session = verdict_log(tmp_path, "cir")
    with pytest.raises(InputError, match=r"none for 2: 'zh/2', 'ja/3'; add the rows"):
        join_labels(verdict_examples().drop(index=[1, 2]), session)
    assert (
        join_labels(verdict_examples().drop(index=[1, 2]), session, unmatched="drop")["verdict"]
        .notna()
        .sum()
        == 1
    )
    with pytest.raises(InputError, match="unmatched must be one of"):
        join_labels(verdict_examples(), session, unmatched="ignore")


def test_columns_that_are_there_give_way_only_when_told(tmp_path):
    session, responses = verdict_log(tmp_path, "c"), verdict_examples().assign(verdict="refuse")
    with pytest.raises(InputError, match="without the columns that it adds; got verdict"):
        join_labels(responses, session)
    assert join_labels(responses, session, replace=True)["verdict"].tolist() == [
        "correct",
        *[None] * 7,
    ]


def test_labels_of_other_texts_are_refused(tmp_path):
    session, changed = verdict_log(tmp_path, "ci"), verdict_examples()
    changed.loc[1, "response"] = "三百三十二米。"
    with pytest.raises(InputError, match="1 rows show others, such as 'zh/2'"):
        join_labels(changed, session)
    assert join_labels(changed, session, check_texts=False)["verdict"].notna().sum() == 2


def test_no_rows_have_the_same_columns(tmp_path):
    session = verdict_log(tmp_path)
    none = join_labels(verdict_examples().iloc[:0], session, unmatched="drop")
    assert list(none) == list(join_labels(verdict_examples(), session))


def test_doubled_rows_are_refused(tmp_path):
    responses = pd.concat([verdict_examples()] * 2)
    with pytest.raises(InputError, match="unique"):
        join_labels(responses, verdict_log(tmp_path))


def test_a_frame_of_labels_is_joined_as_its_log_is(tmp_path):
    session = verdict_log(tmp_path, "cir")
    frame = read_labels(session)
    pd.testing.assert_frame_equal(
        join_labels(verdict_examples(), frame), join_labels(verdict_examples(), session)
    )
    both = pd.concat([frame, frame.assign(annotator="ben")])
    with pytest.raises(InputError, match="labels of one annotator; got ána 李, ben"):
        join_labels(verdict_examples(), both)


# ---- RAGBench's file ---------------------------------------------------------------------------------------------------


def test_ragbench_reads_back_what_was_labelled(tmp_path):
    said = {"bench_test/0": TRACE, "bench_test/2": {**TRACE, "overall": False, "support": {"a": "none", "b": "full"}, "supporting": {"a": [], "b": ["1b"]}},
            "bench_test/3": {"overall": True}}  # fmt: skip
    session = annotated(trace_examples(), "trace", "ana", tmp_path, said)
    session.go("bench_test/4")
    session.skip()
    counts = write_ragbench(trace_examples(), session, tmp_path / "out.jsonl")
    assert counts == {"written": 2, "started": 1, "skipped": 1, "untouched": 2}
    back, joined = (
        ragnb.load_ragbench(tmp_path / "out.jsonl"),
        join_labels(trace_examples(), session).iloc[[0, 2]],
    )
    shared = ["example_id", "question", "passages", "system", "response", "documents_sentences", "response_sentences",
              "all_relevant_sentence_keys", "all_utilized_sentence_keys", "sentence_support_information",
              "unsupported_response_sentence_keys", "overall_supported"]  # fmt: skip
    for name in shared:
        assert back[name].tolist() == joined[name].tolist(), name
    assert set(back["annotating_model_name"]) == {"ana"}
    for metric in ("trace.relevance", "trace.adherence", "trace.completeness"):
        assert (
            ragnb.score(back, metric)["value"].tolist()
            == ragnb.score(joined, metric)["value"].tolist()
        )


def test_published_labels_that_were_accepted_come_back_equal(tmp_path):
    sample, id = ragnb.load_ragbench("sample-ragbench"), ["example_id", "system"]
    session = AnnotationSession(sample, "trace", "ana", tmp_path, suggestions=sample, id=id)
    for item in session.items:
        session.go(item.id)
        session.accept()
    whole = read_labels(session)["status"] == "labelled"
    counts = write_ragbench(sample, session, tmp_path / "out.jsonl.gz")
    assert counts["written"] == whole.sum() > 20
    back = ragnb.load_ragbench(tmp_path / "out.jsonl.gz").set_index(id)
    was = sample.set_index(id).loc[back.index]
    known = [{key for document in row for key, _ in document} for row in was["documents_sentences"]]
    for name in (
        "all_relevant_sentence_keys",
        "all_utilized_sentence_keys",
    ):  # a doubled or unknown key is in the sample
        assert back[name].map(set).tolist() == [
            set(keys) & there for keys, there in zip(was[name], known, strict=True)
        ]
    assert back["unsupported_response_sentence_keys"].equals(
        was["unsupported_response_sentence_keys"]
    )


def test_only_trace_labels_are_written(tmp_path):
    with pytest.raises(InputError, match="log of task 'trace'; got 'verdict'"):
        write_ragbench(verdict_examples(), verdict_log(tmp_path), tmp_path / "x.jsonl")
    session = annotated(
        trace_examples(), "trace", "ana", tmp_path, {"bench_test/3": {"overall": True}}
    )
    with pytest.raises(InputError, match="fully labelled; got none of 6"):
        write_ragbench(trace_examples(), session, tmp_path / "x.jsonl")
    with pytest.raises(InputError, match=r"ends in \.jsonl"):
        write_ragbench(trace_examples(), session, tmp_path / "x.csv")


# ---- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_frame_of_labels_comes_back_from_disk(tmp_path, ending):
    session = annotated(
        trace_examples(),
        "trace",
        "ana",
        tmp_path,
        {"bench_test/0": TRACE, "bench_test/1": {"relevant": []}},
    )
    frame = read_labels(session)
    back = read_table(write_table(frame, tmp_path / f"labels.{ending}"))
    for name in ("item", "relevant", "utilized", "overall", "status", "sentences"):
        assert [None if value is pd.NA else value for value in back[name]] == [
            None if value is pd.NA else value for value in frame[name]
        ]


def test_a_spreadsheet_gets_no_formulas(tmp_path):
    session = verdict_log(tmp_path, "ci")
    session.note("=cmd|' /C calc'!A0, \"日本\"\n2")
    written = write_table(
        join_labels(verdict_examples(), session), tmp_path / "labels.csv"
    ).read_bytes()
    rows = list(csv.DictReader(io.StringIO(written.decode("utf-8-sig"), newline="")))
    assert rows[1]["label_note"] == "'=cmd|' /C calc'!A0, \"日本\"\n2"
    assert rows[7]["response"] == '\'=HYPERLINK("x")'
    assert rows[2]["response"] == "'＝3776メートル"
    assert json.loads(rows[0]["references"]) == ["?"]
    assert rows[0]["verdict"] == "correct"
    assert rows[5]["verdict"] == ""
    assert rows[0]["label_flag"] == "false"
