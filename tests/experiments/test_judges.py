import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score
from support.judge import Judge, asked_about, shown

import ragnb
from ragnb.ensemble import BatchJudicator
from ragnb.ensemble.ensemble import verdicts_of
from ragnb.errors import InputError
from ragnb.experiments import (
    judge_pairs,
    judge_responses,
    judgement_requests,
    model_judicator,
    recorded_provenance,
    recorded_responses,
    recorded_store,
)
from ragnb.experiments.judges import JUDGEMENTS

RESPONSES = pd.DataFrame(
    {
        "question": ["Who?", "Where?", "When?"],
        "references": [[["Scott", "R. F. Scott"]], [["Oslo"]], [["1911"], ["1912"]]],
        "response": pd.Series(["I do not know.", None, "In 1912."], dtype=object),
    }
)
CASES = {
    "refusal": ({"verdict": "refuses"}, {"verdict": "answers"}, "rgb.judged_rejection"),
    "detection": (
        {"verdict": "detects"}, {"verdict": "does not detect"}, "rgb.judged_error_detection"
    ),
    "similarity": (
        {"explanation": "", "score": 1}, {"explanation": "", "score": 0.0},
        "semantic.judged_similarity",
    ),
    "correctness": (
        {"explanation": "", "verdict": "correct"}, {"explanation": "", "verdict": "incorrect"},
        "semantic.judged_correctness",
    ),
    "bare_correctness": (
        {"verdict": "same"}, {"verdict": "different"}, "semantic.judged_correctness"
    ),
}  # fmt: skip
"""Judgement -> a reply that gives 1, one that gives 0, and the metric."""


def judge_with(judge, responses=RESPONSES, judgement="similarity", **options):
    with judge:
        return judge_responses(responses, judgement, model="judge", **{**judge.options, **options})


def of(*responses, **columns):
    """A frame of responses to one question, one system."""
    n = len(responses)
    basis = {"example_id": [f"mini/{k}" for k in range(n)], "system": "tiny", "language": "en"}
    basis |= {
        "question": "Where?",
        "references": [[["Oslo"]]] * n,
        "response": pd.Series(responses, dtype=object),
    }
    return pd.DataFrame({**basis, **columns})


@pytest.mark.parametrize("judgement", CASES)
@pytest.mark.parametrize("value", [0.0, 1.0, math.nan])
def test_a_verdict_becomes_a_value_and_what_cannot_be_read_is_nan_with_the_reason(judgement, value):
    yes, no, metric = CASES[judgement]
    reply = {0.0: no, 1.0: yes}.get(value, '{"verdict": "maybe", "score": 7}')
    judged = judge_with(Judge(reply), judgement=judgement)
    column = JUDGEMENTS[judgement].column
    assert judged[column].tolist() == pytest.approx([value, math.nan, value], nan_ok=True)
    first, second, third = judged["judge_reason"]
    assert second == "no response"
    assert judged[list(RESPONSES.columns)].equals(RESPONSES)
    assert ragnb.score(judged, metric)["value"].equals(judged[column].rename("value"))
    if math.isnan(value):
        assert "after a repair turn" in first
        assert judged["judge_keys"].str.len().tolist() == [2, 0, 2]
    else:
        assert first is third is None
        assert judged["judge_keys"].str.len().tolist() == [1, 0, 1]


SAID = "Oslo is the capital of Norway. It has nine million inhabitants. I do not know more."
STATEMENTS = {
    "statements": [
        {"statement": "Oslo is the capital of Norway.", "supported": True},
        {"statement": "Oslo has nine million inhabitants.", "supported": False},
        {"statement": "Norway has a capital.", "supported": True},
    ]
}


def with_passages(*responses):
    passages = [["Oslo is Norway's capital.", "It rains in {Bergen}."], ["Rain."], []]
    return of(*responses, passages=pd.Series(passages[: len(responses)], dtype=object))


def test_faithfulness_is_the_share_of_supported_statements():
    judge = Judge(**{SAID: STATEMENTS, "I do not know.": {"statements": []}})
    judged = judge_with(judge, with_passages(SAID, "I do not know.", "Oslo."), "faithfulness")
    assert judged["judged_statements"].tolist() == [STATEMENTS["statements"], [], None]
    assert judged["judge_reason"].tolist() == [None, None, "no passages"]
    scores = ragnb.score(judged, "judged.faithfulness")
    assert scores["value"].tolist() == pytest.approx([2 / 3, math.nan, math.nan], nan_ok=True)
    assert scores["reason"].tolist()[1:] == [
        "the judge finds no statement, as in a refusal, or a verdict is missing",
        "no judged_statements",
    ]
    strict = ragnb.score(judged, "judged.faithfulness", variant="all")
    assert strict["value"][0] == 0
    asked = judge.calls[0].body["messages"][-1]["content"]
    assert "[1] Oslo is Norway's capital.\n[2] It rains in {Bergen}.\n" in asked


def test_the_judge_and_its_prompt_are_in_the_signature():
    judged = judge_with(Judge(STATEMENTS), with_passages(SAID), "faithfulness")
    score = ragnb.score(judged, "judged.faithfulness").iloc[0]
    prompt = JUDGEMENTS["faithfulness"].template.id
    assert score["signature"].endswith(f"|variant:share|lang:en|judge:judge {prompt}")
    assert "judge_signature" not in score
    plain = ragnb.score(judged, "answer.f1")["signature"][0]
    assert "judge" not in plain
    refusals = judge_with(Judge({"verdict": "refuses"}), judgement="refusal").assign(language="en")
    by_phrase = ragnb.score(refusals, "rgb.accuracy")["signature"][0]
    by_judge = ragnb.score(refusals, "rgb.accuracy", refusal="judge")["signature"][0]
    assert "judge" not in by_phrase
    assert "|judge:judge rgb.judge_refusal:2:" in by_judge


def test_passages_without_a_verdict_leave_the_response_unscored():
    judge = Judge({"verdicts": [{"passage": 2, "useful": True}]})
    judged = judge_with(judge, with_passages("a"), "context_precision")
    assert judged["judged_passages"].tolist() == [None]
    assert judged["judge_reason"].tolist() == [
        "the judge must give a verdict on each of 2 passages, got verdicts on 2"
    ]


@pytest.mark.parametrize(
    ("useful", "value"),
    [
        ((True, False, True), (1 + 2 / 3) / 2),
        ((False, True), 1 / 2),
        ((False, False, True), 1 / 3),
        ((True, True), 1.0),
        ((False,), 0.0),
    ],
)
def test_context_precision_is_average_precision_of_the_passages_in_their_order(useful, value):
    passages = pd.Series([[f"passage {n}" for n in range(len(useful))]], dtype=object)
    verdicts = [{"passage": n, "useful": one} for n, one in enumerate(useful, 1)][::-1]
    frame = of("a", passages=passages).drop(columns="response")
    judged = judge_with(Judge({"verdicts": verdicts}), frame, "context_precision")
    found = ragnb.score(judged, "judged.context_precision")["value"].item()
    assert found == pytest.approx(value)
    if any(useful):
        expected = average_precision_score(useful, -pd.RangeIndex(len(useful)))
        assert found == pytest.approx(expected)
    share = ragnb.score(judged, "judged.context_precision", variant="share")["value"].item()
    assert share == sum(useful) / len(useful)


def test_a_rubric_is_part_of_the_prompt_and_of_its_hash():
    reply = {"explanation": "Curt.", "score": 2}
    judge = Judge(reply)
    judged = judge_with(judge, of("Oslo."), "rubric", rubric="Polite {and} full sentences.")
    assert "Rubric: Polite {and} full sentences.\n" in str(
        judge.calls[0].body["messages"][-1]["content"]
    )
    assert ragnb.score(judged, "judged.rubric")["value"].tolist() == [2.0]
    other = judge_with(Judge(reply), of("Oslo."), "rubric", rubric="Polite.")
    assert judged["judge_signature"].tolist() != other["judge_signature"].tolist()
    for judgement, rubric in (("rubric", None), ("similarity", "Polite.")):
        with pytest.raises(InputError, match="rubric must be the text of your rubric"):
            judgement_requests(of("Oslo."), judgement, rubric=rubric)


def pairs(plain, ours, **columns):
    both = [of(*plain).assign(system="plain"), of(*ours).assign(system="ours", **columns)]
    return pd.concat(both, ignore_index=True)


def judged_pairs(judge, frame):
    with judge:
        return judge_pairs(frame, model="judge", baseline="plain", **judge.options)


def prefers(text):
    """A judge that prefers the response with a text, and calls a tie where both have it or none."""

    def reply(call):
        texts = shown(call.body["messages"])
        has = (text in texts["first-response"], text in texts["second-response"])
        verdict = {(True, False): "first", (False, True): "second"}.get(has, "tie")
        return {"explanation": "", "verdict": verdict}

    return Judge(reply)


def test_pairs_are_shown_in_both_orders_and_become_a_win_rate():
    frame = pairs(["Rome", "Oslo", "Oslo", None, "Oslo"], ["Oslo", "Rome", "Oslo!", "Oslo", ""])
    judged = judged_pairs(prefers("Oslo"), frame)
    assert judged["system"].unique().tolist() == ["ours"]
    assert judged["judged_preference"].tolist()[:3] == [1.0, 0.0, 0.5]
    assert judged["judge_reason"].tolist() == [None, None, None, "no response", "empty response"]
    assert judged["judge_keys"].str.len().tolist() == [2, 2, 2, 0, 0]
    means = ragnb.summarize(ragnb.score(judged, "judged.preference"), by="system")
    assert (means["mean"].item(), means["n_scored"].item()) == (0.5, 3)
    assert "against plain" in means["signature"].item()


def test_a_judge_that_always_prefers_the_first_prefers_nobody():
    first = {"explanation": "", "verdict": "first"}
    judged = judged_pairs(Judge(first), pairs(["a", "b"], ["c", "d"]))
    assert judged["judged_preference"].tolist() == [0.5, 0.5]
    assert judged["judge_verdicts"].tolist() == [[1.0, 0.0]] * 2


def test_pairs_need_a_baseline_that_answered_once():
    frame = pairs(["a"], ["b"])
    with pytest.raises(InputError, match="baseline must be one of at least two systems, got 'x'"):
        judge_pairs(frame, model="judge", baseline="x")
    with pytest.raises(InputError, match="the baseline 'plain' of judge_pairs needs one row"):
        judge_pairs(pd.concat([frame, frame]), model="judge", baseline="plain")


def test_a_judged_frame_is_not_judged_again():
    judged = judge_with(Judge(CASES["similarity"][0]))
    with pytest.raises(
        InputError,
        match="got judge_reason, judge_explanation, judge_keys, judge_signature; rename",
    ):
        judge_with(Judge(CASES["correctness"][0]), judged, "correctness")
    with pytest.raises(InputError, match="got judged_similarity, judge_reason"):
        judge_with(Judge(CASES["similarity"][0]), judged)


TEXT = st.text(st.characters(codec=None), max_size=30)


@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.tuples(TEXT, TEXT, TEXT.filter(bool)), min_size=1, max_size=3),
    TEXT,
    st.sampled_from(list(JUDGEMENTS)),
)
def test_whatever_is_asked_and_said_every_response_ends_with_a_value_or_a_reason(
    rows, said, judgement
):
    frame = pd.DataFrame(rows, columns=["question", "response", "references"], dtype=object)
    frame["passages"] = [[reference] for reference in frame["references"]]
    rubric = {"rubric": "{It} is polite."} if judgement == "rubric" else {}
    judge = Judge(said.encode("utf-8", "replace").decode())
    judged = judge_with(judge, frame, judgement, **rubric)
    there = judged[JUDGEMENTS[judgement].column].notna()
    assert (there ^ judged["judge_reason"].notna()).all()
    assert len(judged) == len(frame)


@pytest.mark.filterwarnings("ignore:.*without a closing mark")
@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("<think>", "</think>"),
        ("[THINK]", "[/THINK]"),
        ("<thinking>", "</thinking>"),
        ("", "</think>"),
        ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
        ("analysisWe need a name. ", "assistantfinal"),
    ],
)
def test_a_judge_is_shown_the_answer_without_the_reasoning(opening, closing):
    thought = f"{opening}It was Alexander Fleming?{closing}"
    frame = of(f"{thought}Howard Florey", "<think>cut off", thought, "</think>")
    shown = judgement_requests(frame, "correctness")
    assert [asked_about(messages) for messages in shown["messages"]] == ["Howard Florey"]


@pytest.mark.filterwarnings("ignore:.*without a closing mark")
def test_a_response_that_is_only_reasoning_is_not_judged_and_says_why():
    frame = of("<think>Oslo or", "</think>", "[THINK]Oslo?[/THINK]", "", None)
    judged = judge_with(prefers("Oslo"), frame, "correctness")
    only = "only reasoning and no answer"
    assert judged["judge_reason"].tolist() == [
        "cut off inside the reasoning", only, only, "empty response", "no response",
    ]  # fmt: skip


# ---- lists that cannot be right ------------------------------------------------------------------


def statements(*verdicts, name="supported"):
    return {"statements": [{"statement": text, name: verdict} for text, verdict in verdicts]}


IMPLAUSIBLE = {
    "one passage useful and not useful": (
        "context_precision",
        {"verdicts": [{"passage": 1, "useful": True}, {"passage": 2, "useful": True}, {"passage": 1, "useful": False}]},
        "one verdict on each passage, got useful both True and False for 1",
    ),
    "a statement supported and not supported": (
        "faithfulness",
        statements(("Oslo is a capital.", True), ("Oslo  is a CAPITAL.", False)),
        "one verdict on each statement, got supported both True and False for 'Oslo  is a CAPITAL.'",
    ),
    "a statement relevant and not relevant": (
        "answer_relevancy",
        statements(("It is.", True), ("It is.", False), name="relevant"),
        "one verdict on each statement, got relevant both True and False",
    ),
    "51 statements for one sentence": (
        "faithfulness",
        statements(*((f"Statement {n}.", True) for n in range(51))),
        "at most one of the statements per word, got 51 statements for 6 words",
    ),
    "51 relevant statements for one sentence": (
        "answer_relevancy",
        statements(*((f"Statement {n}.", True) for n in range(51)), name="relevant"),
        "got 51 statements for 6 words",
    ),
    "a blank statement": (
        "faithfulness", statements(("Oslo is a capital.", True), (" ", True)), "must not be blank",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", IMPLAUSIBLE)
@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_list_that_contradicts_itself_or_is_invented_is_unscored_with_a_reason(what, is_reversed):
    judgement, reply, words = IMPLAUSIBLE[what]
    if is_reversed:  # The order must not decide.
        reply = {name: items[::-1] for name, items in reply.items()}
        words = words.split(", got")[0]
    frame = with_passages("Oslo is the capital of Norway.")
    judged = judge_with(Judge(reply), frame, judgement)
    assert judged[JUDGEMENTS[judgement].column].tolist() == [None]
    assert words in judged["judge_reason"][0]


def test_equal_verdicts_on_one_item_count_once():
    """By hand: one of two statements is supported, although the judge repeats the first."""
    reply = statements(
        ("Oslo is a capital.", True), ("Oslo is a capital.", True), ("It rains.", False)
    )
    judged = judge_with(Judge(reply), with_passages("Oslo is a capital. It rains."), "faithfulness")
    assert ragnb.score(judged, "judged.faithfulness")["value"].tolist() == [0.5]
    twice = {"verdicts": [{"passage": n, "useful": n == 2} for n in (1, 2, 2)]}
    judged = judge_with(Judge(twice), with_passages("Oslo."), "context_precision")
    assert judged["judged_passages"].tolist() == [[0.0, 1.0]]


CORRECT, INCORRECT = (
    {"explanation": "So it is said.", "verdict": verdict} for verdict in ("correct", "incorrect")
)


def indexed_responses(**told):
    """A frame of responses to one question, by index label."""
    said = pd.Series(told, dtype=object)
    frame = pd.DataFrame({"question": "Where?", "response": said})
    return frame.assign(references=[[["Oslo"]]] * len(frame))


def judicator(judge, frame, judgement="correctness", **options):
    return model_judicator(frame, judgement, model="judge", **{**judge.options, **options})


def test_the_verdicts_come_in_the_order_of_the_labels():
    with Judge(Oslo=CORRECT, Bergen=INCORRECT) as judge:
        ask = judicator(judge, indexed_responses(a="Oslo", b="Bergen", c="Oslo"))
        assert isinstance(ask, BatchJudicator)
        assert judge.asked == []
        assert ask(["c", "b", "a"]) == [True, False, True]
        assert verdicts_of(ask, ["b"]) == [False]


@pytest.mark.parametrize(
    ("threshold", "verdicts"), [(0.5, [True, True, False]), (0.51, [True, False, False])]
)
def test_a_similarity_decides_from_its_threshold_on(threshold, verdicts):
    told = {"a": 0.9, "b": 0.5, "c": 0.49}
    with Judge(
        **{name: {"explanation": "", "score": said} for name, said in told.items()}
    ) as judge:
        ask = judicator(
            judge, indexed_responses(x="a", y="b", z="c"), "similarity", threshold=threshold
        )
        assert ask(["x", "y", "z"]) == verdicts


def test_what_gives_no_verdict_is_none():
    frame = indexed_responses(a="Oslo", b="vague", c=None, d=" ", e="broken")
    with Judge("Hm, hard to say.", Oslo=CORRECT, broken=500) as judge:
        ask = judicator(judge, frame, max_concurrency=1)
        assert ask(list("abcde")) == [True, None, None, None, None]


def test_another_session_goes_on_where_one_stopped(tmp_path):
    frame, store = indexed_responses(a="Oslo", b="Bergen", c="Rome"), tmp_path / "replies.sqlite"
    with Judge(INCORRECT, Oslo=CORRECT) as judge:
        assert judicator(judge, frame, store=store)(["a", "b"]) == [True, False]
        assert judicator(judge, frame, store=store)(["a", "b", "c"]) == [True, False, False]
        assert sorted(judge.asked) == ["Bergen", "Oslo", "Rome"]
    assert model_judicator(frame, model="judge", store=store, offline=True)(["c", "a"]) == [
        False,
        True,
    ]


def test_a_label_that_the_responses_do_not_have_is_refused_before_anything_is_sent():
    with Judge(CORRECT) as judge:
        ask = judicator(judge, indexed_responses(a="Oslo"))
        with pytest.raises(
            InputError,
            match="has no response for 2 of the rows, such as 'x'",
        ):
            ask(["a", "x", 0])
        assert judge.asked == []


def test_a_recorded_judge_gives_its_verdicts_again_without_a_model():
    recorded = recorded_responses("judged_evouna")
    options = {"store": recorded_store("judged_evouna"), "offline": True, "prompt_version": 1}
    model = recorded_provenance("judged_evouna")["model"]
    ask = model_judicator(recorded, "bare_correctness", model=model, **options)
    assert ask([*recorded.index]) == recorded["judged_correct"].eq(1).tolist()
