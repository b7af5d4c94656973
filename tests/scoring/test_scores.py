import inspect
import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from ragnb.datasets.predictions import load_responses
from ragnb.ensemble.data import feature_frame
from ragnb.errors import InputError
from ragnb.records import COLUMNS, reasoning_apart
from ragnb.reports.methods import methods_paragraph
from ragnb.scoring import METRICS, Metric, compare, score, summarize
from ragnb.version import __version__

REFUSAL = "I can not answer the question because of the insufficient information in documents."
RESPONSES = ["It is Oslo.", None, math.nan, "Bergen", REFUSAL]
VALUES = [1.0, None, None, 0.0, 0.0]


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


def scored(values, metric="rgb.accuracy", **columns):
    ids = [f"mini/{k}" for k in range(len(values))]
    return pd.DataFrame(
        {"example_id": ids, "metric": metric, "value": values, "signature": "s"} | columns
    )


def n_words(response):
    return math.nan if response is None else float(len(response.split()))


def is_brief(response, *, limit=2):
    return math.nan if response is None else float(len(response.split()) <= limit)


WORDS = Metric("own.words", n_words, {"response": "response"}, False, (0.0, math.inf), "here")
BRIEF = Metric(
    "own.brief",
    is_brief,
    {"response": "response"},
    True,
    (0.0, 1.0),
    "here",
    options={"limit": 2},
    binary=True,
)


# ---- score -------------------------------------------------------------------------------------------------------------


def test_every_response_keeps_its_row_and_a_missing_one_never_becomes_0():
    scores = score(frame(), "rgb.accuracy")
    assert scores["example_id"].tolist() == [f"mini/{k}" for k in range(5)]
    assert [None if math.isnan(v) else v for v in scores["value"]] == VALUES
    assert scores["reason"].notna().tolist() == [v is None for v in VALUES]


def test_the_reason_of_a_missing_response_is_carried_over():
    reasons = [None, "the endpoint timed out", None, "left from a first try", None]
    scores = score(frame(reason=pd.Series(reasons, dtype=object)), "rgb.accuracy")
    assert scores["reason"][1] == "the endpoint timed out"
    assert "no response" in scores["reason"][2]
    assert scores["reason"][[0, 3, 4]].isna().all()


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA], ids=repr)
def test_every_kind_of_missing_response_is_unscored(missing):
    assert score(frame([missing, "Oslo"]), "rgb.accuracy")["value"].isna().tolist() == [True, False]


@pytest.mark.parametrize("dtype", ["object", "str", "string"])
def test_the_type_of_the_response_column_changes_nothing(dtype):
    responses = pd.Series(["It is Oslo.", None, "Bergen"], dtype=dtype)
    assert score(frame([None] * 3).assign(response=responses), "rgb.accuracy")[
        "value"
    ].tolist() == pytest.approx([1.0, math.nan, 0.0], nan_ok=True)


def test_long_columns_are_left_out_and_the_others_stay():
    scores = score(
        frame(passages=[["p"]] * 5, kinds=[["positive"]] * 5, question="q?", topic="sea"),
        "rgb.accuracy",
    )
    assert list(scores.columns) == [
        "example_id", "system", "language", "noise_rate", "topic", "metric", "value", "reason", "signature",
    ]  # fmt: skip


def test_the_frame_given_is_not_changed():
    responses = frame()
    before = responses.copy(deep=True)
    score(responses, ["rgb.accuracy", WORDS], explain=True)
    pd.testing.assert_frame_equal(responses, before)


def test_the_index_of_the_frame_does_not_matter():
    shuffled = frame().set_index(pd.Index([7, 7, 3, 0, 7]))
    assert score(shuffled, "rgb.accuracy")["value"].tolist() == pytest.approx(
        [1, math.nan, math.nan, 0, 0], nan_ok=True
    )


def test_explaining_adds_what_decided():
    assert score(frame(), "rgb.accuracy", explain=True)["evidence"].tolist() == [
        "part 1: 'Oslo'",
        "no response",
        "no response",
        "part 1: not found",
        "refusal: 'insufficient information'",
    ]
    assert "evidence" not in score(frame(), "rgb.accuracy")
    assert score(frame(), WORDS, explain=True)["evidence"].tolist() == [
        "",
        "no response",
        "no response",
        "",
        "",
    ]


def test_several_metrics_stand_below_each_other_metrics_of_ones_own_too():
    scores = score(frame(), ["rgb.accuracy", WORDS, BRIEF])
    assert scores["metric"].tolist() == ["rgb.accuracy"] * 5 + ["own.words"] * 5 + ["own.brief"] * 5
    by_metric = {name: group["value"].dropna().tolist() for name, group in scores.groupby("metric")}
    assert by_metric == {"rgb.accuracy": [1, 0, 0], "own.words": [3, 1, 13], "own.brief": [0, 1, 0]}


def test_an_option_reaches_the_metric_that_knows_it_and_its_signature():
    scores = score(frame(["a b c"]), [BRIEF, WORDS], limit=3)
    assert scores["value"].tolist() == [1.0, 3.0]
    assert ["limit:3" in s for s in scores["signature"]] == [True, False]
    assert "limit:2" in score(frame(["a"]), BRIEF)["signature"][0]


def test_the_signature_pins_version_metric_protocol_language_and_prompt():
    scores = score(
        frame(["x", "y"], language=["en", "zh"], template="rgb.answer:1:0a1b2c3d"), "rgb.accuracy"
    )
    assert scores["signature"].tolist() == [
        f"ragnb:{__version__}|metric:rgb.accuracy|protocol:paper|parts:all|lang:{lang}|prompt:rgb.answer:1:0a1b2c3d"
        for lang in ("en", "zh")
    ]


@pytest.mark.parametrize("template", [[None, None], [None, "t:1:ab"]])
def test_a_missing_prompt_is_not_part_of_the_signature(template):
    signature = score(frame(["x", "y"], template=template), "rgb.accuracy")["signature"][0]
    assert signature == f"ragnb:{__version__}|metric:rgb.accuracy|protocol:paper|parts:all|lang:en"


def test_own_phrases_are_part_of_the_signature_in_a_form_that_keeps_its_fields_apart():
    scores = score(
        frame(["I don't know | sorry"]), "rgb.rejection", refusal=["I don't know", "know | sorry"]
    )
    assert scores["value"].tolist() == [1.0]
    fields = dict(part.split(":", 1) for part in scores["signature"][0].split("|"))
    assert json.loads(fields["refusal"]) == ["I don't know", "know | sorry"]


def test_rejection_needs_no_references_and_a_judge_or_label_column_decides_if_it_is_asked_to():
    said = frame([REFUSAL, "Oslo"], judged_refusal=[0.0, None], refusal=[False, True]).drop(
        columns="references"
    )
    assert score(said, "rgb.rejection")["value"].tolist() == [1.0, 0.0]
    assert score(said, "rgb.rejection", refusal="label")["value"].tolist() == [0.0, 1.0]
    judged = score(said, "rgb.rejection", refusal="judge", explain=True)
    assert judged["value"].tolist() == pytest.approx([0.0, math.nan], nan_ok=True)
    assert judged["evidence"].tolist() == ["no refusal phrase", "no verdict"]


def test_the_language_of_each_row_decides():
    answers = frame(["o s l o", "o s l o"], language=["zh", "en"], references=[[["oslo"]]] * 2)
    assert score(answers, "rgb.accuracy")["value"].tolist() == [1.0, 0.0]


def test_no_response_gives_no_row():
    scores = score(frame([]), "rgb.accuracy")
    assert len(scores) == 0
    assert {"metric", "value", "reason", "signature"} <= set(scores.columns)


@pytest.mark.parametrize(
    ("metrics", "options", "words"),
    [
        ("rgb.acuracy", {}, r"'rgb\.acuracy'; did you mean 'rgb\.accuracy'"),
        ("xyz", {}, r"'xyz'; use one of rgb\.accuracy"),
        ("rgb.accuracy", {"protocl": "paper"}, r"options.*\(parts, protocol, refusal\).*protocl"),
        ("rgb.accuracy", {"protocol": "sacred"}, "protocol.*paper.*'sacred'"),
    ],
)
def test_an_unknown_metric_or_option_is_refused(metrics, options, words):
    with pytest.raises(InputError, match=words):
        score(frame(), metrics, **options)


@pytest.mark.parametrize("column", ["response", "references"])
def test_a_missing_column_is_named_with_the_metric(column):
    with pytest.raises(InputError, match=rf"rgb\.accuracy needs.*without {column};"):
        score(frame().drop(columns=column), "rgb.accuracy")


# ---- summarize ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "mean", "worst"),
    [
        ([1, 0, None, None], 1 / 2, (1 / 4, 3 / 4)),
        ([1, 1, 1, 0, None], 3 / 4, (3 / 5, 4 / 5)),
        ([1, 1, 0], 2 / 3, (2 / 3, 2 / 3)),
        ([0], 0, (0, 0)),
        ([1], 1, (1, 1)),
        ([1] * 7 + [0] * 3, 0.7, (0.7, 0.7)),
    ],
)
def test_a_cell_has_its_mean_wilson_interval_and_worst_cases(values, mean, worst):
    row = summarize(scored(pd.Series(values, dtype=float))).iloc[0]
    known = [v for v in values if v is not None]
    assert row["mean"] == pytest.approx(mean)
    assert (row["n"], row["n_scored"]) == (len(values), len(known))
    assert (row["worst_low"], row["worst_high"]) == pytest.approx(worst)
    assert (row["low"], row["high"]) == pytest.approx(
        proportion_confint(sum(known), len(known), method="wilson")
    )
    assert (row["interval"], row["confidence_level"]) == ("Wilson", 0.95)


def test_a_cell_with_nothing_scored_says_so():
    row = summarize(scored([math.nan, math.nan])).iloc[0]
    assert (row["n"], row["n_scored"]) == (2, 0)
    assert row[["mean", "low", "high"]].isna().all()
    assert (row["worst_low"], row["worst_high"]) == (0.0, 1.0)


def test_the_confidence_level_reaches_the_interval():
    row = summarize(scored([1.0, 0.0, 1.0]), confidence_level=0.8).iloc[0]
    assert (row["low"], row["high"]) == pytest.approx(
        proportion_confint(2, 3, alpha=0.2, method="wilson")
    )
    assert row["confidence_level"] == 0.8
    with pytest.raises(InputError, match="confidence_level"):
        summarize(scored([1.0]), confidence_level=95)


def test_cells_are_told_apart_by_the_conditions_in_the_frame():
    responses = pd.concat(
        frame(answers, noise_rate=rate, system=system)
        for system, rate, answers in [
            ("a", 0.0, ["Oslo", "Oslo"]),
            ("a", 0.4, ["Oslo", "?"]),
            ("b", 0.0, ["?", None]),
        ]
    )
    table = summarize(score(responses, ["rgb.accuracy", WORDS]))
    accuracy = table[table["metric"] == "rgb.accuracy"]
    assert accuracy[["system", "noise_rate", "mean", "n", "n_scored"]].values.tolist() == [
        ["a", 0.0, 1.0, 2, 2], ["a", 0.4, 0.5, 2, 2], ["b", 0.0, 0.0, 2, 1],
    ]  # fmt: skip
    assert len(table) == 6


@pytest.mark.parametrize("by", ["topic", ["topic"]])
def test_cells_are_told_apart_by_what_by_names(by):
    table = summarize(scored([1.0, 0.0, 1.0], topic=["sea", "land", "sea"]), by=by)
    assert table[["topic", "mean", "n"]].values.tolist() == [["sea", 1.0, 2], ["land", 0.0, 1]]


def test_a_missing_condition_is_a_cell_of_its_own():
    table = summarize(scored([1.0, 0.0], noise_rate=[0.2, math.nan]))
    assert table["mean"].tolist() == [1.0, 0.0]


def test_a_question_twice_in_one_cell_is_refused():
    twice = scored([1.0, 0.0, 1.0]).assign(example_id=["x", "y", "x"], repeat=[0, 0, 1])
    with pytest.raises(InputError, match=r"one response a question.*'x'.*by="):
        summarize(twice)
    assert summarize(twice, by="repeat")["n"].tolist() == [2, 1]


@pytest.mark.parametrize(
    ("scores", "by", "words"),
    [
        (scored([1.0]).drop(columns="value"), None, "summarize.*without value"),
        (scored([1.0]), "topic", r"summarize\(by=.*topic"),
    ],
)
def test_a_frame_without_what_summaries_need_is_refused(scores, by, words):
    with pytest.raises(InputError, match=words):
        summarize(scores, by=by)


def test_different_signatures_in_one_cell_are_all_shown():
    signatures = ["b", "a", "b"]
    assert summarize(scored([1.0, 0.0, 1.0], signature=signatures))["signature"].tolist() == [
        "a & b"
    ]


def test_a_metric_with_other_values_gets_a_t_interval():
    row = summarize(scored([0.2, 0.4, 0.9], metric="own.words")).iloc[0]
    half = (
        4.302653 * math.sqrt(0.13) / math.sqrt(3)
    )  # t(0.975, 2); the squares 0.09 + 0.01 + 0.16 over 2 are 0.13
    assert (row["mean"], row["low"], row["high"]) == pytest.approx(
        (0.5, 0.5 - half, 0.5 + half), abs=1e-6
    )
    assert row["interval"] == "t"
    assert math.isnan(summarize(scored([0.4], metric="own.words"))["low"][0])


def test_a_binary_metric_of_ones_own_is_summarized_like_a_built_in_one():
    row = summarize(score(frame(["brief", "a b c", None, "x"]), BRIEF)).iloc[0]
    assert row["interval"] == "Wilson"
    assert (row["low"], row["high"]) == pytest.approx(proportion_confint(2, 3, method="wilson"))
    assert (row["worst_low"], row["worst_high"]) == (2 / 4, 3 / 4)


@pytest.mark.parametrize(
    ("values", "worst"), [([0.5, math.nan], (0.25, 0.75)), ([3.0, 1.0, math.nan], (4 / 3, 7 / 3))]
)
def test_the_worst_case_is_beyond_the_bounds_where_values_are(values, worst):
    row = summarize(scored(values).assign(metric="trace.relevance")).iloc[0]
    assert (row["worst_low"], row["worst_high"]) == pytest.approx(worst)


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (
            scored([]),
            {},
            "summarize needs scores, at least one row; got an empty frame; score some",
        ),
        (
            scored([1.0]),
            {"by": "metric"},
            "columns of conditions, each once and none of them metric; got metric;",
        ),
    ],
)
def test_summaries_of_nothing_and_of_doubled_columns_are_refused(frame, options, message):
    with pytest.raises(InputError, match=message):
        summarize(frame, **options)


@pytest.mark.parametrize("protocol", ["paper", "released", "flexible"])
@pytest.mark.parametrize("references", [None, [None] * 4, ["Oslo", None, "Oslo", None]])
def test_a_rejection_needs_no_reference_but_as_released(references, protocol):
    said = frame(
        ["insufficient information", "insufficient information", "Oslo - or Rome", "Oslo - or Rome"]
    )
    said = (
        said.drop(columns="references")
        if references is None
        else said.assign(references=references)
    )
    refused = [1.0, 1.0, 0.0, 0.0]
    if protocol == "released":
        refused = (
            [math.nan] * 4
            if references is None or references[0] is None
            else [1.0, math.nan, 1.0, math.nan]
        )
    found = score(said, "rgb.rejection", protocol=protocol)
    assert found["value"].tolist() == pytest.approx(refused, nan_ok=True)
    assert found["reason"].notna().tolist() == [math.isnan(value) for value in refused]


def test_an_unscored_cell_of_an_unknown_metric_claims_no_bounds():
    row = summarize(score(frame([None, None]), WORDS)).iloc[0]  # a number of words: no upper bound
    assert row["n_scored"] == 0
    assert row[["mean", "worst_low", "worst_high"]].isna().all()


@given(st.lists(st.sampled_from([0.0, 1.0, math.nan]), min_size=1))
def test_worst_cases_enclose_every_way_the_missing_could_have_gone(values):
    row = summarize(scored(values)).iloc[0]
    filled = [np.nan_to_num(values, nan=x).mean() for x in (0.0, 0.5, 1.0)]
    assert all(row["worst_low"] - 1e-12 <= mean <= row["worst_high"] + 1e-12 for mean in filled)
    if row["n_scored"]:
        assert row["worst_low"] - 1e-12 <= row["mean"] <= row["worst_high"] + 1e-12
        assert row["low"] <= row["mean"] + 1e-12
        assert row["mean"] <= row["high"] + 1e-12


# ---- the contract that every entry of the table keeps ------------------------------------------------------------------


@pytest.fixture(params=METRICS.items(), ids=METRICS)
def entry(request):
    name, metric = request.param
    assert name == metric.name
    return metric


def test_a_metric_is_documented_with_source_and_example(entry):
    doc = inspect.getdoc(entry.function)
    assert "Source:" in doc
    assert "NaN" in doc
    assert ">>> " in doc


def test_a_metric_takes_documented_columns_and_keyword_options(entry):
    assert set(entry.columns.values()) <= set(COLUMNS)
    parameters = inspect.signature(entry.function).parameters
    assert set(entry.columns) | set(entry.options) == set(parameters)
    assert all(parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in entry.options)
    assert all(parameters[name].default == value for name, value in entry.options.items())
    if entry.evidence:  # the same arguments, those with defaults by name or as **options
        evidence = inspect.signature(entry.evidence)
        evidence.bind(**dict.fromkeys(parameters))
        assert not set(evidence.parameters) - {*parameters, "options"}


CASES = {  # a value of every column that some metric takes; None last: a response that is missing
    "response": ["Oslo", "", REFUSAL, "There are factual errors: it is 🙂 שלום", None],
    "verdict": [True, "refuse", 0, "correct", None],
    "judged_refusal": [1, 0, True, 0.0, None],
    "judged_detection": [1, 0, True, 0.0, None],
    "judged_similarity": [1, 0, 0.94, 0.0, None],
    "judged_correct": [1, 0, True, 0.0, None],
    "response_embedding": [[1.0, 0.0], [0.5, -0.5], [-1.0, 0.0], [3, 4], None],
    "reference_embedding": [[1.0, 0.0]] * 4 + [None],
    "translations": [[{"text": "Oslo", "token_count": 3}]] * 4 + [None],
    "documents_sentences": [[[["0a", "Oslo."], ["0b", "雨。"]]]] * 4 + [None],
    "response_sentences": [[["a", "Oslo."]]] * 4 + [None],
    "all_relevant_sentence_keys": [["0a"], [], ["0a", "0b"], ["0b"], None],
    "all_utilized_sentence_keys": [["0a"], [], ["0b"], [], None],
    "sentence_support_information": [
        [
            {
                "response_sentence_key": "a",
                "supporting_sentence_keys": keys,
                "fully_supported": bool(keys),
                "explanation": "",
            }
        ]
        for keys in (["0a"], [], ["0b"], ["0a", "0b"])
    ]
    + [None],
}


def test_a_metric_stays_within_its_bounds_and_leaves_the_missing_unscored(entry):
    columns = {
        name: pd.Series(values, dtype=object)
        for name, values in CASES.items()
        if name != "response"
    }
    scores = score(frame(CASES["response"], **columns), entry.name)
    assert math.isnan(scores["value"].iloc[-1])
    said = scores[[bool(text) for text in CASES["response"]]]
    unscored = said["reason"].dropna()
    assert set(unscored) <= {
        entry.condition
    }  # nothing else may leave a response that says something without a value
    assert len(unscored) < 4
    assert scores["value"].dropna().between(*entry.bounds).all()
    assert not entry.binary or set(scores["value"].dropna()) <= {0.0, 1.0}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("documents_sentences", [[["0a", "Oslo.", "!"]]]),
        ("documents_sentences", ["Oslo."]),
        ("all_relevant_sentence_keys", "0a"),
        (
            "sentence_support_information",
            [{"response_sentence_key": "a", "supporting_sentence_keys": "0a"}],
        ),
        ("response_sentences", "Oslo."),
    ],
)
def test_labels_of_another_shape_are_refused_by_the_metrics_that_read_them(field, value):
    labels = {
        name: values[:2]
        for name, values in CASES.items()
        if name.endswith(("sentences", "keys", "information"))
    }
    labels[field] = [labels[field][0], value]
    responses = frame(
        CASES["response"][:2],
        **{name: pd.Series(values, dtype=object) for name, values in labels.items()},
    )
    refused = set()
    for name in [name for name in METRICS if name.startswith("trace.")]:
        try:
            score(responses, name)
        except InputError as error:
            refused.add(str(error).partition(" (")[0])
    assert refused
    assert refused <= {f"{name}, row 1" for name in METRICS}


def test_an_error_names_the_row_and_the_example():
    with pytest.raises(
        InputError,
        match=r"rgb.accuracy, row 1 \(mini/1\): a response must be a text or None, got 5",
    ):
        score(frame(["Oslo", 5]), "rgb.accuracy")


def test_responses_that_a_metric_leaves_out_by_definition_are_no_part_of_its_n():
    responses = frame(["There are factual errors: Oslo", "Oslo", "There are factual errors.", None])
    row = summarize(score(responses, "rgb.error_correction")).iloc[0]
    assert (row["mean"], row["n"], row["n_scored"]) == (
        0.5,
        3,
        2,
    )  # one of two detected; a missing response stays in n
    assert (row["worst_low"], row["worst_high"]) == pytest.approx((1 / 3, 2 / 3))


# ---- one question an id ------------------------------------------------------------------------------------------------


def asked_of_two(questions, others, **columns):
    """Two systems whose ids are the numbers of their rows."""
    rows = [
        (str(k), name, q)
        for name, own in (("a", questions), ("b", others))
        for k, q in enumerate(own)
    ]
    frame = pd.DataFrame(rows, columns=["example_id", "system", "question"], dtype=object)
    return frame.assign(references="Oslo", response="Oslo", language="en").assign(**columns)


def test_systems_that_were_asked_in_another_order_are_not_paired_by_their_rows():
    said = "example_id 0 belongs to 'q0' and to 'q2' (ids with several questions: 2). If the files have a column of ids"
    with pytest.raises(InputError, match=re.escape(said)):
        score(asked_of_two(["q0", "q1", "q2"], ["q2", "q1", "q0"]), "answer.f1")


def test_one_question_in_other_spaces_or_unknown_to_one_system_is_one_question():
    frame = asked_of_two(["दिल्ली कहाँ है?", "q1", None], [" दिल्ली  कहाँ\nहै? ", None, "q2"])
    assert len(score(frame, "answer.f1")) == 6


@pytest.mark.parametrize("name", ["language", "task", "benchmark"])
def test_an_id_may_be_asked_otherwise_in_another_language_task_or_benchmark(name):
    frame = asked_of_two(["Which year?"], ["哪一年?"], **{name: ["en", "zh"]})
    assert len(score(frame, "answer.f1")) == 2


def test_one_system_may_ask_what_it_likes_under_one_id():
    frame = asked_of_two(["q0", "q1"], []).assign(example_id="0")
    assert score(frame, "answer.f1")["value"].tolist() == [1, 1]


# ---- metrics of one's own that are not quite right ---------------------------------------------------------------------


@pytest.mark.parametrize("given", [None, "three"])
def test_a_metric_that_gives_no_number_is_named_with_its_row(given):
    own = Metric(
        "own.word",
        lambda response: given if response == "日本" else 1.0,
        {"response": "response"},
        True,
        (0, 1),
        "here",
    )
    frame = pd.DataFrame({"example_id": ["q/1", "q/2"], "response": ["x", "日本"]})
    said = r"own.word, row 1 \(q/2\): a metric must return a number, got"
    with pytest.raises(InputError, match=said):
        score(frame, own)


def test_an_error_inside_a_metric_of_ones_own_is_shown_as_it_is():
    own = Metric(
        "own.word", lambda response: response + 1, {"response": "response"}, True, (0, 1), "here"
    )
    with pytest.raises(TypeError, match="concatenate"):
        score(pd.DataFrame({"response": ["x"]}), own)


@pytest.mark.parametrize("spelled", ["['Oslo', 'Kristiania']", '[["Oslo", "Kristiania"]]'])
def test_lists_that_pandas_read_as_texts_are_refused_and_load_responses_reads_them(spelled):
    """Else the whole list would be one answer that no response gives."""
    frame = pd.DataFrame({"question": "q", "references": [spelled, None], "response": "Oslo"})
    with pytest.raises(
        InputError,
        match=r"score needs lists in the column references; got texts .*ragnb.load_responses",
    ):
        score(frame, "answer.f1")
    assert score(load_responses(frame, alternatives=True), "answer.f1")["value"][0] == 1.0


def test_one_text_that_is_no_list_leaves_the_others_texts():
    frame = pd.DataFrame({"references": ["[1, 2]", "Oslo"], "response": ["[1, 2]", "Oslo"]})
    assert score(frame, "answer.exact_match")["value"].tolist() == [1.0, 1.0]


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


def test_no_metric_reads_the_reasoning_of_a_reply():
    scores = score(replied(), OF_ANSWERS, explain=True)
    assert scores["value"].tolist() == [0, 1, 0, 1] * 4
    assert scores["reason"].isna().all()
    assert score(replied(), WORDS)["value"].tolist() == [2, 2, 0, 2]


def test_a_reply_whose_reasoning_was_set_apart_before_has_the_same_scores():
    once = reasoning_apart(replied())
    assert once["response"].tolist() == [
        "Howard Florey",
        "Alexander Fleming",
        "",
        "Alexander Fleming",
    ]
    assert reasoning_apart(once) is once
    for options in ({}, {"protocol": "released"}, {"protocol": "flexible"}, {"variant": "lbrag"}):
        metrics = "rgb.accuracy" if "protocol" in options else OF_ANSWERS
        pd.testing.assert_frame_equal(
            score(once, metrics, **options), score(replied(), metrics, **options)
        )


def test_published_code_reads_the_whole_reply():
    assert score(replied(), "rgb.accuracy", protocol="released")["value"].tolist() == [1, 1, 1, 1]
    field = replied(
        ["Howard Florey"], reasoning=["It was Alexander Fleming?"]
    )  # that code would not have seen it
    assert score(field, "rgb.accuracy", protocol="released")["value"].tolist() == [0]


def test_the_signature_says_where_reasoning_was_set_apart():
    scores = score(replied(), [*OF_ANSWERS, WORDS])
    marked = scores["signature"].str.contains("|reasoning:apart", regex=False)
    assert marked.tolist() == [True, True, True, False] * 5
    released = score(replied(), "rgb.accuracy", protocol="released")["signature"]
    assert not released.str.contains("reasoning").any()
    judged = score(replied(judged_correct=1), "semantic.judged_correctness")["signature"]
    assert not judged.str.contains("reasoning").any()
    assert not score(replied(["Fleming"]), OF_ANSWERS)["signature"].str.contains("reasoning").any()


def test_reasoning_is_not_repeated_beside_the_scores_and_the_frame_stays_as_it_was():
    given = replied()
    assert "reasoning" not in score(given, "answer.f1")
    assert given["response"].tolist() == REPLIES
    assert "reasoning" not in given


def test_a_reasoning_model_can_be_compared_with_another():
    plain = replied(
        ["Howard Florey", "Howard Florey", "Alexander Fleming", "Alexander Fleming"], system="plain"
    )
    both = pd.concat([replied(system="thinks"), plain], ignore_index=True)
    scores = score(both, "answer.exact_match")
    row = compare(scores, baseline="plain").iloc[0]
    assert (row["mean"], row["baseline_mean"], row["n_pairs"]) == (0.5, 0.5, 4)
    assert "reasoning:apart" in row["signature"]
    assert feature_frame(scores).columns.tolist() == ["answer.exact_match"]
    assert (
        "answer.exact_match (variant unicode / variant unicode, reasoning apart)"
        in methods_paragraph(scores)
    )
