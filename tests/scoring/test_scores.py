"""`score`: one row per response and metric, with a reason for each missing value and a signature."""

import json
import math
import re

import pandas as pd
import pytest

from ragnb.datasets import load_responses
from ragnb.errors import InputError
from ragnb.replies import reasoning_apart
from ragnb.scoring import Metric, score
from ragnb.version import __version__

REFUSAL = "I can not answer the question because of the insufficient information in documents."
RESPONSES = ["It is Oslo.", None, math.nan, "Bergen", REFUSAL]
VALUES = [1.0, math.nan, math.nan, 0.0, 0.0]


def frame(responses=RESPONSES, **columns):
    n = len(responses)
    basis = {
        "example_id": [f"mini/{k}" for k in range(n)],
        "system": "tiny",
        "language": "en",
        "noise_rate": 0.2,
        "references": [[["Oslo", "Kristiania"]]] * n,
        "response": pd.Series(responses, dtype=object),
    }
    return pd.DataFrame(basis | columns)


def n_words(response):
    return float(len(response.split()))


def is_brief(response, *, limit=2):
    return float(len(response.split()) <= limit)


def own(function, name="own.word", **more):
    columns = {"response": "response"}
    return Metric(name, function, columns, False, (0.0, math.inf), "here", **more)


WORDS = own(n_words, "own.words")
BRIEF = own(is_brief, "own.brief", options={"limit": 2})


# ---- rows, reasons, columns --------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["object", "str", "string"])
def test_every_response_keeps_its_row_and_a_missing_one_never_becomes_0(kind):
    given = frame(reason=[None, "the endpoint timed out", None, "from a first try", None])
    given = given.set_index(pd.Index([7, 7, 3, 0, 7])).astype({"response": kind})
    before = given.copy(deep=True)
    scores = score(given, "rgb.accuracy", explain=True)
    assert scores["example_id"].tolist() == [f"mini/{k}" for k in range(5)]
    assert scores["value"].tolist() == pytest.approx(VALUES, nan_ok=True)
    assert scores["reason"][1:3].tolist() == ["the endpoint timed out", "no response"]
    assert scores["reason"][[0, 3, 4]].isna().all()
    found, none = ["part 1: 'Oslo'"], ["no response"] * 2
    refused = ["part 1: not found", "refusal: 'insufficient information'"]
    assert scores["evidence"].tolist() == [*found, *none, *refused]
    pd.testing.assert_frame_equal(given, before)


def test_long_columns_are_left_out_and_the_others_stay():
    given = frame(passages=[["p"]] * 5, kinds=[["positive"]] * 5, question="q?", topic="sea")
    given.attrs["source"] = {"name": "mine"}
    scores = score(given, "rgb.accuracy")
    columns = "example_id system language noise_rate topic metric value reason signature"
    assert scores.columns.tolist() == columns.split()
    assert scores.attrs == given.attrs


def test_several_metrics_are_scored_one_after_the_other_custom_ones_too():
    scores = score(frame(), ["rgb.accuracy", WORDS, BRIEF], limit=3)
    assert scores["metric"].tolist() == ["rgb.accuracy"] * 5 + ["own.words"] * 5 + ["own.brief"] * 5
    by_metric = {name: group["value"].dropna().tolist() for name, group in scores.groupby("metric")}
    assert by_metric == {"rgb.accuracy": [1, 0, 0], "own.words": [3, 1, 13], "own.brief": [1, 1, 0]}
    assert scores["signature"].str.contains("limit:3").sum() == 5


def test_many_responses_have_the_scores_of_their_parts():
    """Responses are scored in blocks of all metrics; gaps and ranked lists do not follow the blocks."""
    n = 4_500
    frame = pd.DataFrame({"example_id": [f"q{k}" for k in range(n)]})
    frame["response"] = [None if k % 7 == 0 else f"answer {k % 5}" for k in range(n)]
    frame["references"] = [["answer 1"]] * n
    frame["retrieved"] = [[f"d{k % 3}", "d4"] for k in range(n)]
    frame["relevant"] = [{"d1": 1}] * n
    metrics = ["answer.f1", "retrieval.recall@1", "answer.contains"]
    whole = score(frame, metrics)
    assert whole["metric"].drop_duplicates().tolist() == [
        "answer.f1",
        "retrieval.recall@1",
        "answer.contains",
    ]
    parts = [score(frame.iloc[start : start + 100], metrics) for start in range(0, n, 100)]
    together = pd.concat(parts).sort_values(
        "metric", kind="stable", key=lambda names: names.map(metrics.index)
    )
    pd.testing.assert_frame_equal(whole, together.reset_index(drop=True))
    assert whole["reason"].notna().sum() == 2 * len(range(0, n, 7))


def test_a_response_is_scored_with_all_metrics_while_its_normalised_text_is_kept():
    order = []

    def recorded(name):
        def function(response):
            order.append((name, response))
            return 1.0

        columns = {"response": "response"}
        return Metric(f"own.{name}", function, columns, True, (0.0, 1.0), "own")

    frame = pd.DataFrame({"example_id": range(3_000), "response": [str(k) for k in range(3_000)]})
    score(frame, [recorded("first"), recorded("second")])
    assert len(order) == 6_000
    assert order.index(("second", "0")) < order.index(("first", "2999"))


def test_a_mistake_behind_the_first_block_names_its_row():
    def function(response):
        if response == "2500":
            raise InputError("refused")
        return 1.0

    metric = Metric("own.strict", function, {"response": "response"}, True, (0.0, 1.0), "own")
    frame = pd.DataFrame({"example_id": range(3_000), "response": [str(k) for k in range(3_000)]})
    with pytest.raises(InputError, match=r"own\.strict, row 2500 \(2500\): refused"):
        score(frame, [metric])


# ---- signatures --------------------------------------------------------------------------------


@pytest.mark.parametrize("template", [None, "rgb.answer:1:0a1b2c3d"])
def test_the_signature_names_version_metric_protocol_language_and_prompt(template):
    scores = score(frame(["x", "y"], language=["en", "zh"], template=template), "rgb.accuracy")
    prompt = f"|prompt:{template}" if template else ""
    assert scores["signature"].tolist() == [
        f"ragnb:{__version__}|metric:rgb.accuracy|protocol:paper|parts:all|lang:{lang}{prompt}"
        for lang in ("en", "zh")
    ]


def test_own_phrases_are_part_of_the_signature_in_a_form_that_keeps_its_fields_apart():
    phrases = ["I don't know", "know | sorry"]
    scores = score(frame(["I don't know | sorry"]), "rgb.rejection", refusal=phrases)
    assert scores["value"].tolist() == [1.0]
    fields = dict(part.split(":", 1) for part in scores["signature"][0].split("|"))
    assert json.loads(fields["refusal"]) == phrases


def test_rejection_needs_no_references_and_a_judge_or_label_column_decides_if_requested():
    said = frame([REFUSAL, "Oslo"], judged_refusal=[0.0, None], refusal=[False, True])
    said = said.drop(columns="references")
    assert score(said, "rgb.rejection")["value"].tolist() == [1.0, 0.0]
    assert score(said, "rgb.rejection", refusal="label")["value"].tolist() == [0.0, 1.0]
    judged = score(said, "rgb.rejection", refusal="judge", explain=True)
    assert judged["value"].tolist() == pytest.approx([0.0, math.nan], nan_ok=True)
    assert judged["evidence"].tolist() == ["no refusal phrase", "no verdict"]


def test_a_row_without_documents_is_scored_by_the_guide_and_has_a_reason_under_the_benchmark():
    labels = {
        "all_relevant_sentence_keys": ["0b", "0c", "1a", "1b"],
        "all_utilized_sentence_keys": ["0b", "0c", "1a"],
    }
    documents = [[[f"{d}{s}", "Text."] for s in "abc"] for d in (0, 1)]
    rows = [labels | {"documents_sentences": given} for given in (documents, None, [])]
    frame = pd.DataFrame(rows, dtype=object)
    assert score(frame, "trace.relevance", variant="guide")["value"].tolist()[:2] == [0.20, 0.20]
    scores = score(frame, "trace.relevance")
    assert scores["value"].tolist() == pytest.approx([4 / 6, math.nan, math.nan], nan_ok=True)
    reasons = ["no documents_sentences", "the context has no sentences or a total length of 0"]
    assert scores["reason"].tolist()[1:] == reasons
    without = frame.drop(columns="documents_sentences")
    with pytest.raises(
        InputError,
        match="got a frame without documents_sentences; documents_sentences: list of documents",
    ):
        score(without, "trace.relevance", variant="guide", unknown_keys="drop")


# ---- mistakes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "metrics", "options", "words"),
    [
        (frame(), "rgb.acuracy", {}, r"'rgb\.acuracy'; did you mean 'rgb\.accuracy'"),
        (frame(), [], {}, "at least one metric"),
        (frame(), "xyz", {}, r"'xyz'; ragnb\.definitions\(\) lists all names"),
        (
            frame(),
            "rgb.accuracy",
            {"protocl": "x"},
            r"options must be .*parts, protocol, refusal\), got protocl",
        ),
        (frame(), "rgb.accuracy", {"protocol": "sacred"}, "protocol.*paper.*'sacred'"),
        (frame().drop(columns="response"), "rgb.accuracy", {}, "accuracy needs.*without response;"),
        (frame(["Oslo", 5]), "rgb.accuracy", {}, r"rgb.accuracy, row 1 \(mini/1\): .* got 5"),
        (frame(["x"]), own(lambda response: None), {}, r"own.word, row 0 \(mini/0\): .*number"),
        ([1], "rgb.accuracy", {}, "score needs a pandas DataFrame, got a list"),
    ],
)
def test_a_mistake_is_named_in_one_sentence(given, metrics, options, words):
    with pytest.raises(InputError, match=words):
        score(given, metrics, **options)


@pytest.mark.parametrize("spelled", ["['Oslo', 'Kristiania']", '[["Oslo", "Kristiania"]]'])
def test_lists_that_pandas_read_as_texts_are_refused_and_load_responses_reads_them(spelled):
    """Otherwise the whole list would be one answer that no response gives."""
    given = pd.DataFrame({"question": "q", "references": [spelled, None], "response": "Oslo"})
    with pytest.raises(InputError, match=r"lists in the column references.*ragnb.load_responses"):
        score(given, "answer.f1")
    assert score(load_responses(given, alternatives=True), "answer.f1")["value"][0] == 1.0
    texts = pd.DataFrame({"references": ["[1, 2]", "Oslo"], "response": ["[1, 2]", "Oslo"]})
    assert score(texts, "answer.exact_match")["value"].tolist() == [1.0, 1.0]


def asked_of_two(questions, others, **columns):
    """Two systems whose ids are the numbers of their rows."""
    parts = [
        pd.DataFrame({"example_id": map(str, range(len(asked))), "system": name, "question": asked})
        for name, asked in (("a", questions), ("b", others))
    ]
    both = pd.concat(parts, ignore_index=True)
    return both.assign(references="Oslo", response="Oslo", language="en").assign(**columns)


def test_systems_that_were_asked_in_another_order_are_not_paired_by_their_rows():
    said = "example_id 0 is the id of two different questions, 'q0' and 'q2' (2 ids have this problem). If the files"
    with pytest.raises(InputError, match=re.escape(said)):
        score(asked_of_two(["q0", "q1", "q2"], ["q2", "q1", "q0"]), "answer.f1")


@pytest.mark.parametrize(
    "given",
    [
        asked_of_two(["दिल्ली कहाँ है?", "q1", None, ""], [" दिल्ली  कहाँ\nहै? ", None, "q2", "q3"]),
        *(
            asked_of_two(["Which year?"], ["哪一年?"], **{name: ["en", "zh"]})
            for name in ("language", "task", "benchmark")
        ),
        asked_of_two(["q0", "q1"], []).assign(example_id="0"),
    ],
)
def test_one_question_in_other_spaces_or_unknown_or_translated_is_no_mistake(given):
    assert score(given, "answer.f1")["value"].eq(1).all()


# ---- reasoning ---------------------------------------------------------------------------------------------------------

REPLIES = [
    "<think>Maybe Florey? It was Alexander Fleming? no</think>Howard Florey",
    "<think>Maybe Florey?</think>Alexander Fleming",
    "<think>Alexander Fleming, or",
    "Alexander Fleming",
]
OF_ANSWERS = ["answer.contains", "answer.exact_match", "answer.f1", "rgb.accuracy"]


def replied(replies=REPLIES, **columns):
    return frame(replies, references=[["Alexander Fleming"]] * len(replies), **columns)


pytestmark = pytest.mark.filterwarnings("ignore:.*without a closing mark")


def test_no_metric_reads_the_reasoning_of_a_reply():
    given = replied()
    scores = score(given, OF_ANSWERS, explain=True)
    assert "reasoning" not in scores
    assert given["response"].tolist() == REPLIES
    assert scores["value"].fillna(-1).tolist() == [0, 1, -1, 1] * 4
    reasons = scores["reason"].dropna()
    assert reasons.index.tolist() == [2, 6, 10, 14]
    assert set(reasons) == {"cut off inside the reasoning"}
    assert score(replied(), WORDS)["value"].fillna(-1).tolist() == [2, 2, -1, 2]


@pytest.mark.parametrize(
    "reply",
    [
        "<|channel|>analysis<|message|>Florey? It was Alexander Fleming?<|end|><|start|>assistant"
        "<|channel|>final<|message|>Howard Florey<|return|>",
        "[THINK]Florey? It was Alexander Fleming?[/THINK]Howard Florey",
        "<thinking>Florey? It was Alexander Fleming?</thinking>Howard Florey",
        "<reasoning>It was Alexander Fleming?</reasoning>Howard Florey",
        "analysisFlorey? It was Alexander Fleming?assistantfinalHoward Florey",
    ],
)
def test_reasoning_in_any_mark_is_no_answer(reply):
    scores = score(replied([reply]), [*OF_ANSWERS, "language.code"][:4])
    assert scores["value"].tolist() == [0] * 4
    assert score(replied([reply]), "rgb.accuracy", protocol="released")["value"].tolist() == [1]


def test_a_mark_that_is_not_closed_is_reported():
    with pytest.warns(
        UserWarning, match=r"^1 of 4 responses contain reasoning without a closing mark"
    ):
        score(replied(), "answer.contains")


def test_a_reply_whose_reasoning_was_set_apart_before_has_the_same_scores():
    once = reasoning_apart(replied())
    answers = ["Howard Florey", "Alexander Fleming", None, "Alexander Fleming"]
    assert once["response"].tolist() == answers
    assert reasoning_apart(once) is once
    for options in ({}, {"protocol": "released"}, {"protocol": "flexible"}, {"variant": "lbrag"}):
        metrics = "rgb.accuracy" if "protocol" in options else OF_ANSWERS
        one, two = (score(replies, metrics, **options) for replies in (once, replied()))
        pd.testing.assert_frame_equal(one, two)


def test_the_signature_says_where_reasoning_was_set_apart():
    scores = score(replied(), [*OF_ANSWERS, WORDS])
    marked = scores["signature"].str.contains("|reasoning:apart", regex=False)
    assert marked.tolist() == [True, True, True, False] * 5
    released = score(replied(), "rgb.accuracy", protocol="released")["signature"]
    assert not released.str.contains("reasoning").any()
    judged = score(replied(judged_correct=1), "semantic.judged_correctness")["signature"]
    assert not judged.str.contains("reasoning").any()
    assert not score(replied(["Fleming"]), OF_ANSWERS)["signature"].str.contains("reasoning").any()
