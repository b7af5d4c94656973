"""Numbers of notebook 10, recomputed from its requests and the recorded replies."""

import math

import numpy as np
import pytest
from support.by_hand import contains, wilson
from support.printed import printed

import ragnb
from ragnb.experiments import recorded_responses


@pytest.fixture(scope="module")
def replies():
    return recorded_responses("rgb_noise").query("system == 'plain' and noise_rate <= 0.8")


def tokens(messages):
    """A quarter of the bytes of the text, and four tokens for each message."""
    sent = sum(math.ceil(len(m["content"].encode()) / 4) + 4 for m in messages)
    return sent


def test_estimates_of_tokens_and_prices(replies):
    noisy = replies[replies["passage_num"] > 0]
    each = noisy["messages"].map(tokens)
    first = each.iloc[0]
    price = (first * 0.15 + 64 * 0.6) / 1e6
    assert f"about {first} tokens sent, at most 64 received" in printed("10", "c06")
    assert f"about ${price:.6f}" in printed("10", "c06-cost")
    total = each.sum()
    most = 64 * len(noisy)
    shown = printed("10", "c08-all")
    assert f"about {total:,} prompt tokens, at most {most:,} completion tokens" in shown
    assert f"${(total * 0.15 + most * 0.6) / 1e6:.4f}" in shown
    assert f"${(total * 2 + most * 8) / 1e6:.2f}" in shown
    counted = int(noisy["prompt_tokens"].sum())
    off = f"{total / counted - 1:+.0%}"
    assert f"estimated {total:,}, counted {counted:,}: {off}" in printed("10", "c11")


def test_what_is_left_after_an_interruption(replies):
    noisy = replies[replies["passage_num"] > 0]
    rest = noisy["messages"].map(tokens).iloc[len(noisy) // 2 :]
    shown = printed("10", "c13")
    assert f"{len(rest)} requests to send ({len(noisy) - len(rest)} stored)" in shown
    assert f"about {rest.sum():,} prompt tokens, at most {64 * len(rest):,} completion" in shown
    assert f"{len(rest)} of {len(noisy)} requests have none" in printed("10", "c15")


def test_every_fourth_reply_missing(replies):
    clean = replies.query("noise_rate == 0 and passage_num > 0")
    pairs = zip(clean["response"], clean["references"], strict=True)
    right = np.array([contains(said, parts) for said, parts in pairs], float)
    kept = np.ones(len(right), bool)
    kept[::4] = False
    low, high = wilson(right[kept].sum(), kept.sum())
    worst = right[kept].sum() / len(right), (right[kept].sum() + (~kept).sum()) / len(right)
    line = f"{right[kept].mean():.2f} [{low:.2f}, {high:.2f}] {kept.sum()} of {len(right)}"
    assert f"{line} [{worst[0]:.2f}, {worst[1]:.2f}]" in printed("10", "c21")
    assert "interval = Wilson" in printed("10", "c21")


def test_the_version():
    assert f"ragnb {ragnb.__version__}" in printed("10", "c30")
