import pandas as pd
import pytest

from ragnb.llm import estimate, price_table


@pytest.fixture
def requests():
    messages = [[{"role": "user", "content": "x" * 396}] for _ in range(2)] + [
        [{"role": "user", "content": "y" * 796}]
    ]
    return pd.DataFrame(
        {"messages": messages, "parameters": [{"max_tokens": 50}, {"max_tokens": 50}, {}]}
    )


def test_an_estimate_worked_by_hand(requests):
    """Equal requests count once: 396/4 + 4 and 796/4 + 4 prompt tokens; 50 and, unsaid, 1,000 completion tokens."""
    told = estimate(requests, model="m", prices={"m": (10.0, 100.0)})
    assert (told.n_requests, told.prompt_tokens, told.completion_tokens) == (2, 103 + 203, 1050)
    assert told.cost_usd == pytest.approx((306 * 10 + 1050 * 100) / 1e6)
    assert str(told) == (
        "2 requests to send (0 stored) to m: about 306 prompt tokens, at most 1,050 completion tokens, about $0.11"
    )


@pytest.mark.parametrize("store", ["typo/s.sqlite", "~/typo/s.sqlite", ":memory:"])
def test_an_estimate_makes_no_store(requests, store, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert estimate(requests, model="m", store=store) == estimate(requests, model="m")
    assert list(tmp_path.iterdir()) == []


def test_every_price_says_when_it_was_read_and_is_no_guess():
    table = price_table()
    assert table["as_of"].str.fullmatch(r"20\d\d-\d\d").all()
    assert (table[["input_usd_per_million", "output_usd_per_million"]] >= 0).all().all()
    assert table["model"].is_unique
