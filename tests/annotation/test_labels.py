"""Labels as frames, next to responses, in RAGBench's columns, and as suggestions."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from support.labelling import (
    TRACE,
    annotated,
    keyed_frame,
    plain_frame,
    trace_examples,
    verdict_examples,
    verdicts,
)

import ragnb
from ragnb.annotation import (
    TASKS,
    AnnotationSession,
    join_labels,
    read_labels,
    recorded_passes,
    write_ragbench,
)
from ragnb.annotation.conversions import Trace
from ragnb.annotation.items import build_items
from ragnb.annotation.places import nested
from ragnb.annotation.suggestions import suggested_values
from ragnb.errors import InputError
from ragnb.metrics import trace_scores

IDS = ["example_id", "system"]
SAMPLE = ragnb.load_ragbench("sample-ragbench")
ITEMS = build_items(SAMPLE, TASKS["trace"], id=IDS)
KEYED = build_items(keyed_frame(), TASKS["trace"])
PLAIN = build_items(plain_frame(), TASKS["verdict"])
SENTENCES = {"documents": ["0a", "0b", "1a", "1b"], "response": ["a", "b"]}
MEASURES = ("relevance", "utilization", "completeness", "adherence", "supported_fraction")


def verdict_log(folder, words="cir.", **options):
    return annotated(
        verdict_examples(), "verdict", "ána 李", folder / "ana.sqlite", verdicts(words), **options
    )


def trace_log(folder, n=6, **said):
    """Labels of TRACE items by number."""
    given = {f"bench_test/{number[1:]}": values for number, values in said.items()}
    return annotated(trace_examples(n), "trace", "ana", folder, given)


# ---- a frame of labels ---------------------------------------------------------------------------


def test_one_row_per_item_that_was_touched(tmp_path):
    session = verdict_log(tmp_path)
    session.go("th/4")
    session.note("=1+1 ภาษา")
    session.go("hi/5")
    session.skip()
    session.go("ar/6")  # only looked at
    frame = read_labels(session)
    assert frame["item"].tolist() == ["fr/1", "zh/2", "ja/3", "th/4", "hi/5"]
    assert frame["example_id"].tolist() == frame["item"].tolist()
    assert frame["verdict"].tolist() == ["correct", "incorrect", "refuse", None, None]
    assert frame["status"].tolist() == ["labelled", "labelled", "labelled", "untouched", "skipped"]
    assert frame["source"].tolist() == ["human", "human", "human", None, None]
    assert frame["note"].tolist() == ["", "", "", "=1+1 ภาษา", ""]
    assert (set(frame["annotator"]), set(frame["task"])) == ({"ána 李"}, {"verdict"})
    assert frame.attrs["header"]["annotator"] == "ána 李"
    pd.testing.assert_frame_equal(frame, read_labels(str(tmp_path / "ana.sqlite")))


# ---- labels next to responses --------------------------------------------------------------------


def test_verdicts_next_to_responses_are_scored(tmp_path):
    session = verdict_log(tmp_path, "circ")
    responses = verdict_examples().iloc[::-1].assign(extra=range(8)).set_axis(list("hgfedcba"))
    joined = join_labels(responses, session)
    pd.testing.assert_frame_equal(joined[responses.columns], responses)
    values = ragnb.score(joined, "annotator.verdict")["value"].tolist()[::-1]
    assert values[:4] == [1, 0, 0, 1]
    assert np.isnan(values[4:]).all()
    assert joined["label_status"].tolist() == ["untouched"] * 4 + ["labelled"] * 4
    assert joined["annotator"].tolist() == [None] * 4 + ["ána 李"] * 4
    none = join_labels(verdict_examples().iloc[:0], read_labels(session).iloc[:0])
    assert list(none) == [name for name in joined if name != "extra"]


def test_what_does_not_fit_is_refused(tmp_path):
    session, examples = verdict_log(tmp_path, "cir"), verdict_examples()
    fewer = examples.drop(index=[1, 2])
    with pytest.raises(
        InputError, match=r"2 labelled items are not in the frame: 'zh/2', 'ja/3'; add their rows"
    ):
        join_labels(fewer, session)
    labelled = examples.assign(verdict="refuse")
    with pytest.raises(InputError, match="would replace the columns verdict"):
        join_labels(labelled, session)
    assert join_labels(labelled, session, replace=True)["verdict"].isna().sum() == 5
    both = pd.concat([read_labels(session), read_labels(session).assign(annotator="ben")])
    with pytest.raises(InputError, match="labels of one annotator, got ána 李, ben"):
        join_labels(examples, both)


def test_a_label_of_a_text_that_changed_is_reported(tmp_path):
    session, changed = verdict_log(tmp_path, "ci"), verdict_examples()
    labels = read_labels(session)
    pd.testing.assert_frame_equal(join_labels(changed, labels), join_labels(changed, session))
    changed.loc[1, "response"] = "三百三十二米。"
    with pytest.raises(
        InputError, match="texts of 1 examples differ from those that were labelled, such as 'zh/2'"
    ):
        join_labels(changed, labels)


# ---- RAGBench's file -----------------------------------------------------------------------------


def test_ragbench_reads_back_what_was_labelled(tmp_path):
    other = {**TRACE, "overall": False, "support": {"a": "none", "b": "full"}}
    other["supporting"] = {"a": [], "b": ["1b"]}
    session = trace_log(tmp_path, _0=TRACE, _2=other, _3={"overall": True})
    session.go("bench_test/4")
    session.skip()
    counts = write_ragbench(trace_examples(), session, tmp_path / "out.jsonl")
    assert counts == {"written": 2, "started": 1, "skipped": 1, "untouched": 2}
    back = ragnb.load_ragbench(tmp_path / "out.jsonl")
    joined = join_labels(trace_examples(), session).iloc[[0, 2]]
    for name in ("example_id", "question", "passages", "system", "response", "documents_sentences", "response_sentences",
                 "all_relevant_sentence_keys", "all_utilized_sentence_keys", "sentence_support_information",
                 "unsupported_response_sentence_keys", "overall_supported"):  # fmt: skip
        assert back[name].tolist() == joined[name].tolist(), name
    assert set(back["annotating_model_name"]) == {"ana"}


def test_an_id_of_one_part_keeps_the_name_of_the_dataset(tmp_path):
    examples = trace_examples()
    examples["example_id"] = examples["example_id"].str.rpartition("/")[2]
    session = annotated(examples, "trace", "ana", tmp_path, {"0": TRACE})
    write_ragbench(examples.assign(dataset_name="covidqa"), session, tmp_path / "out.jsonl")
    written = pd.read_json(tmp_path / "out.jsonl", lines=True, dtype=str)
    assert written[["dataset_name", "id"]].to_numpy().tolist() == [["covidqa", session.item.id]]
    write_ragbench(examples, session, tmp_path / "without.jsonl")
    without = pd.read_json(tmp_path / "without.jsonl", lines=True, dtype=str)
    assert without["id"].tolist() == [session.item.id]
    assert without.get("dataset_name", pd.Series([None])).isna().all()


def test_only_whole_trace_labels_are_written(tmp_path):
    partly = trace_log(tmp_path, _3={"overall": True})
    message = "log of the task 'trace' with at least one fully labelled item"
    for examples, log in ((verdict_examples(), verdict_log(tmp_path)), (trace_examples(), partly)):
        with pytest.raises(InputError, match=message):
            write_ragbench(examples, log, tmp_path / "x.jsonl")


def test_published_labels_are_not_written_as_those_of_a_log_of_another_task(tmp_path):
    """Records of RAGBench have the columns of labels already, also if the log contains verdicts."""
    published = dict.fromkeys(Trace.published, [["0a"]] * 6)
    examples = trace_examples().assign(**published)
    session = annotated(
        examples, "verdict", "ana", tmp_path / "a.sqlite", {"bench_test/0": {"verdict": "correct"}}
    )
    for log in (session, read_labels(session)):
        with pytest.raises(InputError, match="write_ragbench needs a log of the task 'trace'"):
            write_ragbench(examples, log, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


# ---- TRACe labels there and back -----------------------------------------------------------------


def row_of(values, item):
    """The row of `read_labels` for these values."""
    sentences = {part: item.keys(part) for part in ("documents", "response")}
    return {**nested(values), "sentences": sentences}


def ragbench_labels(labels):
    return Trace().to_columns(labels, {})


def trace_values(record, item):
    return Trace().to_labels(record, item.sentences, TASKS["trace"])


def numbers(record, **options):
    scores = trace_scores(record, **options)
    return [getattr(scores, name) for name in MEASURES]


def test_every_record_of_the_sample_comes_back_with_its_scores():
    for record, item in zip(SAMPLE.to_dict("records"), ITEMS, strict=True):
        values = trace_values(record, item)
        back = ragbench_labels(row_of(values, item))
        whole = len([key for field, key in values if key]) == 2 * len(item.keys("response"))
        kept = values if whole else {place: one for place, one in values.items() if not place[1]}
        assert trace_values(back, item) == kept
        if whole:
            columns = ("all_relevant_sentence_keys", "all_utilized_sentence_keys")
            once = record | {name: list(dict.fromkeys(record[name])) for name in columns}
            for variant in ("ragbench", "guide"):
                options = {"variant": variant, "unknown_keys": "drop"}
                before, after = numbers(once, **options), numbers({**record, **back}, **options)
                assert np.array_equal(before, after, equal_nan=True), item.id


def test_the_labels_by_hand_have_scores_by_hand():
    values = {
        "relevant": ["0a", "1a"], "utilized": ["0a"], "overall": False, "sentences": SENTENCES,
        "supporting": {"a": ["0a"], "b": []}, "support": {"b": "none", "a": "full"},
    }  # fmt: skip
    labels = ragbench_labels(values)
    assert labels["unsupported_response_sentence_keys"] == ["b"]
    assert labels["sentence_support_information"][1] == {
        "response_sentence_key": "b", "supporting_sentence_keys": [], "fully_supported": False, "explanation": ""
    }  # fmt: skip
    record = keyed_frame(1).to_dict("records")[0]
    assert numbers({**record, **labels}) == [2 / 4, 1 / 4, 1 / 2, 0.0, 1 / 2]


def test_untouched_is_none_and_has_no_score_and_empty_is_empty_and_has_one():
    record = keyed_frame(1).to_dict("records")[0]
    labels = ragbench_labels({"sentences": SENTENCES})
    assert set(labels.values()) == {None}
    assert np.isnan(numbers({**record, **labels})).all()
    assert trace_values(labels, KEYED[0]) == {}
    labels = ragbench_labels({"relevant": [], "utilized": [], "sentences": SENTENCES})
    assert numbers({**record, **labels})[:3] == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("array", [list, lambda keys: np.array(keys, dtype=object)])
@pytest.mark.parametrize(
    ("supporting", "fully", "values"),
    [
        (["9z", "general", "0a"], True, {"supporting": ["general", "0a"], "support": "full"}),
        ([], True, {"supporting": [], "support": "none"}),
    ],
)
def test_support_is_read_as_published_files_have_it(array, supporting, fully, values):
    listed = None if supporting is None else array(supporting)
    one = {"supporting_sentence_keys": listed, "fully_supported": fully}
    record = {
        "sentence_support_information": array(
            [{"response_sentence_key": key, **one} for key in ("a", "z")]
        ),
        "all_relevant_sentence_keys": array(["9z", "1a", "0a", "1a", "general"]),
        "overall_supported": math.nan,
        "adherence_score": False,
    }
    assert trace_values(record, KEYED[0]) == {
        ("relevant", None): ["1a", "0a"], ("overall", None): False,
        **{(name, "a"): value for name, value in values.items()},
    }  # fmt: skip


# ---- suggestions ---------------------------------------------------------------------------------


def frame(**columns):
    n = len(next(iter(columns.values())))
    return pd.DataFrame({"example_id": [f"q/{i}" for i in range(n)], **columns})


def verdict(*words):
    return {f"q/{n}": {("verdict", None): word} if word else {} for n, word in enumerate(words)}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (None, {}),
        ({"q/0": {"verdict": "correct"}, "elsewhere": {"verdict": "?"}}, verdict("correct")),
        (frame(verdict=["correct", None, math.nan], other=[1, 2, 3]), verdict("correct", "", "")),
        (frame(judged_correct=[1.0, 0.0, math.nan]), verdict("correct", "incorrect", "")),
        (frame(judged_correct=[1, 1], verdict=["refuse", None]), verdict("refuse", "")),
        # RAGBench's columns in the same frame do not belong to this task.
        (frame(verdict=["correct"], overall_supported=[True]), verdict("correct")),
    ],
)
def test_verdicts_are_suggested_by_a_mapping_a_frame_or_a_judge(given, found):
    assert suggested_values(given, PLAIN, TASKS["verdict"]) == found


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"q/0": {"relevance": ["0a"]}}, "a field of task 'trace' must be one of .*got 'relevance'"),
        ({"q/0": {"support": {"z": "full"}}}, "'support' is suggested for 'z', which is not a sentence"),
        ([], "must be a frame or a mapping from item ids, got a list"),
    ],
)  # fmt: skip
def test_what_cannot_be_suggested(given, message):
    with pytest.raises(InputError, match=message):
        suggested_values(given, KEYED, TASKS["trace"])


@pytest.mark.parametrize(
    ("task", "field", "labels", "metric", "values"),
    [
        (
            "language",
            "right_language",
            ["yes", "no", "mixed", "none"],
            "annotator.right_language",
            [1, 0, 0, math.nan],
        ),
        (
            "preference",
            "preferred",
            ["a", "b", "tie", "neither"],
            "annotator.preference",
            [1, 0, 0.5, 0.5],
        ),
    ],
)
def test_labels_of_the_language_and_of_a_preference_become_scores(
    tmp_path, task, field, labels, metric, values
):
    examples = pd.DataFrame(
        {
            "example_id": [f"q{number}" for number in range(4)],
            "question": "Where?",
            "language": "en",
            "response": "Oslo.",
            "response_a": "Oslo.",
            "response_b": "Bergen.",
        }
    )
    session = AnnotationSession(examples, task, "ana", tmp_path, id="example_id")
    for example, label in zip(examples["example_id"], labels, strict=True):
        session.go(example)
        session.label(field, label)
    joined = join_labels(examples, session)
    scored = ragnb.score(joined, metric)["value"]
    assert scored.tolist() == pytest.approx(values, nan_ok=True)


@pytest.mark.parametrize("kind", [float, str])
def test_a_log_with_whole_numbers_as_floats_is_joined_and_continued(tmp_path, kind):
    """Earlier versions wrote the noise rate 0.0 into the id as it was in the frame."""
    text = recorded_passes("verdict")[0].read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    labelled = {row["item"] for row in rows if row.get("action") == "label"}
    assert any(item.endswith("| 0.0") for item in labelled)
    log = tmp_path / "first.jsonl"
    log.write_text(text, "utf-8")
    study = ragnb.load_study("sample-labelled-en")
    study["noise_rate"] = study["noise_rate"].astype(kind)
    assert join_labels(study, log)["verdict"].notna().sum() == len(labelled)
    id = rows[0]["id"]
    again = AnnotationSession(study, "verdict", rows[0]["annotator"], log, id=id)
    assert again.progress()["labelled"] == len(labelled)
