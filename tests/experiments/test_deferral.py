import pandas as pd
import pytest
from experiments.judge import Judge

from ragnb.ensemble.ensemble import BatchJudicator, verdicts_of
from ragnb.errors import InputError
from ragnb.experiments.judges import model_judicator
from ragnb.experiments.recorded import (
    recorded_provenance,
    recorded_responses,
    recorded_store,
)

CORRECT, INCORRECT = (
    {"explanation": "So it is said.", "verdict": verdict} for verdict in ("correct", "incorrect")
)


def responses(**told):
    """A frame of responses to one question, by index label."""
    said = pd.Series(told, dtype=object)
    frame = pd.DataFrame({"question": "Where?", "response": said})
    return frame.assign(references=[[["Oslo"]]] * len(frame))


def judicator(judge, frame, judgement="correctness", **options):
    return model_judicator(frame, judgement, model="judge", **{**judge.options, **options})


def test_the_verdicts_come_in_the_order_of_the_labels():
    with Judge(Oslo=CORRECT, Bergen=INCORRECT) as judge:
        ask = judicator(judge, responses(a="Oslo", b="Bergen", c="Oslo"))
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
        ask = judicator(judge, responses(x="a", y="b", z="c"), "similarity", threshold=threshold)
        assert ask(["x", "y", "z"]) == verdicts


def test_what_gives_no_verdict_is_none():
    frame = responses(a="Oslo", b="vague", c=None, d=" ", e="broken")
    with Judge("Hm, hard to say.", Oslo=CORRECT, broken=500) as judge:
        ask = judicator(judge, frame, max_concurrency=1)
        assert ask(list("abcde")) == [True, None, None, None, None]


def test_another_session_goes_on_where_one_stopped(tmp_path):
    frame, store = responses(a="Oslo", b="Bergen", c="Rome"), tmp_path / "replies.sqlite"
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
        ask = judicator(judge, responses(a="Oslo"))
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
