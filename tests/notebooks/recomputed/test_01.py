"""Numbers of notebook 01, computed from the recorded replies by hand."""

import pytest
from support.by_hand import mid_p, rate
from support.printed import printed

from ragnb.experiments import recorded_responses


def is_correct(responses):
    """Whether each reply contains an alias of every part, and does not refuse."""
    return [
        all(any(alias.casefold() in reply.casefold() for alias in part) for part in parts)
        and "insufficient information" not in reply.casefold()
        for reply, parts in zip(responses["response"], responses["references"], strict=True)
    ]


@pytest.fixture(scope="module")
def integration():
    """Whether each reply is correct: one row per question, one column per noise rate."""
    responses = recorded_responses("rgb_integration").query("system == 'answer'")
    responses = responses.assign(right=is_correct(responses))
    return responses.pivot(index="example_id", columns="noise_rate", values="right")


def test_accuracies_with_wilson_intervals(integration):
    noise = recorded_responses("rgb_noise").query("system == 'answer' and order == 'per_item'")
    noise = noise.assign(right=is_correct(noise))
    counts = noise.groupby("noise_rate")["right"].sum()
    counted = [(rate_, count, 68) for rate_, count in counts.items()]
    counted += [(rate_, count, 30) for rate_, count in integration.sum().items()]
    for noise_rate, count, n in counted:
        line = f"{noise_rate} {count} {rate(count, n, digits=2)} {n} "
        assert line in printed("01", "report")


def test_no_reply_contains_the_refusal_phrase_and_the_judge_calls_each_a_refusal():
    rejection = recorded_responses("rgb_rejection").query("system == 'answer'")
    assert not rejection["response"].str.contains("insufficient information", case=False).any()
    assert rejection["judged_refusal"].eq(1).all()


def test_overlapping_intervals_of_the_same_questions_decide_nothing(integration):
    """The intervals at the noise rates 0 and 0.4 overlap, and the paired test still finds a fall."""
    lost = int((integration[0.0] & ~integration[0.4]).sum())
    gained = int((~integration[0.0] & integration[0.4]).sum())
    assert (lost, gained) == (5, 0)
    assert mid_p(lost, gained) < 0.05
