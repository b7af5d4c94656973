"""Results display themselves, and remain ordinary data frames."""

import math
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from support.hostile import ELEMENTS, HOSTILE, PAYLOADS, Reader, visible
from support.made_scores import scored

from ragnb.display import Results, html_parts, shown, text_table
from ragnb.numbers import text_width
from ragnb.results import Interval
from ragnb.scoring import compare, summarize
from ragnb.scoring.columns import bounds_of
from ragnb.stats import mean_interval


@pytest.fixture(scope="module")
def scores():
    """18 and 6 correct in 20."""
    good, bad = [1.0] * 18 + [0.0] * 2, [1.0] * 6 + [0.0] * 14
    return scored({"one": good, "two": bad}, "rgb.accuracy")


def cells(frame):
    """The texts of a table's cells, line by line, and the headings with the names behind them."""
    rows = re.findall(r"<tr>(.*?)</tr>", frame._repr_html_(), re.DOTALL)
    texts = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]
    heads = re.findall(r'<th title="([^"]*)"[^>]*>(.*?)</th>', rows[0])
    return dict(heads), [[re.sub("<.*?>", "", cell) for cell in row] for row in texts[1:]]


def test_a_result_is_an_ordinary_frame(scores):
    table = summarize(scores)
    plain = pd.DataFrame(table)
    assert type(plain) is pd.DataFrame
    pd.testing.assert_frame_equal(table, plain)
    assert table.equals(plain)
    assert plain.equals(table)
    again = pickle.loads(pickle.dumps(table))
    assert again._repr_html_() == table._repr_html_()
    assert table.to_csv() == plain.to_csv()
    assert table.groupby("system")["mean"].max().to_dict() == {"one": 0.9, "two": 0.3}


def test_a_choice_of_rows_or_columns_is_still_a_result_and_what_is_computed_is_not(scores):
    table = summarize(scores)
    for kept in (
        table.query("mean > 0.5"),
        table[["system", "mean"]],
        table.round(2),
        table.head(1),
    ):
        assert type(kept) is Results
    for made in (table.pivot(columns="system", values="mean"), table.T):
        assert type(made) is pd.DataFrame


def test_intervals_become_bars_with_the_decimals_that_their_width_needs(scores):
    """Wilson's interval of 18 in 20; on an axis from 0 to 1 in whole per cent."""
    heads, rows = cells(summarize(scores))
    assert heads["low, high"] == "95% interval"
    assert rows[0][:4] == ["one", "rgb.accuracy", "0.90", "[0.70, 0.97]"]
    assert "--a:70%;--b:97%;--m:90%;--z:0%" in summarize(scores)._repr_html_()
    narrow = pd.DataFrame({"mean": [0.04], "low": [0.0373], "high": [0.0427]})
    assert cells(shown(narrow))[1] == [["0.0400", "[0.0373, 0.0427]"]]
    beyond = pd.DataFrame(
        {"mean": [5.0, math.nan], "low": [-10.0, math.nan], "high": [math.inf] * 2}
    )
    page = shown(beyond)._repr_html_()
    assert "--a:0%;--b:100%;--m:100%;--z:67%" in page
    assert page.count("<span") == 1


def test_a_difference_has_a_sign_and_an_axis_with_0(scores):
    heads, rows = cells(compare(scores, baseline="two"))
    assert heads["p_adjusted"] == "adjusted p"
    assert "+0.60" in rows[0]
    assert re.search(r"--z:0%", compare(scores, baseline="two")._repr_html_())


def test_unscored_responses_come_first(scores):
    lossy = scores.assign(reason=None)
    lossy.loc[:1, ["value", "reason"]] = [np.nan, "HTTP 400: flagged"]
    text = repr(shown(lossy))
    assert text.splitlines()[0] == "2 of 40 values are missing: HTTP 400 (2)."
    assert "<p>2 of 40 values are missing: HTTP 400 (2).</p><table>" in shown(lossy)._repr_html_()
    heads, rows = cells(summarize(lossy))
    assert heads["n_scored, n"] == "scored"
    assert "18 of 20" in rows[0]
    assert [*heads].index("unscored") < [*heads].index("mean")


def test_long_frames_show_the_first_rows_and_their_number(scores):
    long = shown(pd.concat([scores] * 10, ignore_index=True))
    assert len(cells(long)[1]) == 10
    assert "First 10 of 400 rows." in repr(long)


def test_a_column_that_tells_rows_apart_stays_in_a_narrow_table():
    estimators = ["mean of ratios", "ratio of means"]
    table = pd.DataFrame({"system": ["lbrag"] * 2, "baseline": "direct", "estimator": estimators})
    table = table.assign(mean=[0.0176, 0.016], low=[0.0096, 0.0099], high=[0.0256, 0.0225])
    table = table.assign(gain=0.44, cost=27.43, method=["t", "Fieller"], signature="")
    printed = text_table(table, 60)
    rows = printed.splitlines()[1:3]
    assert [name in row for name, row in zip(estimators, rows, strict=True)] == [True, True]
    assert "method" in printed.partition("Not shown: ")[2]


def test_an_empty_frame_has_its_columns(scores):
    assert "mean" in repr(summarize(scores).head(0))


def test_text_never_wraps_and_names_what_it_leaves_out(scores):
    table = compare(scores, baseline="two")
    lines = repr(table).splitlines()
    assert max(map(text_width, lines)) <= 80
    assert "p_adjusted" in lines[0]
    assert "Not shown:" in repr(table)
    with pd.option_context("display.width", 300):
        assert "Not shown:" not in repr(table)
    wide = shown(pd.DataFrame({"name": ["東京", "Oslo"], "value": [0.5, 1.0]}))
    assert repr(wide) == "name  value\n東京    0.5\nOslo    1.0"
    named = shown(pd.DataFrame({"a": [1, 2]}, index=["first", "second"]))
    assert repr(named) == "        a\nfirst   1\nsecond  2"


def test_every_column_is_in_the_table_or_named_below_it(scores):
    table = compare(scores, baseline="two")
    page = table._repr_html_()
    named = {name for names in cells(table)[0] for name in names.split(", ")}
    below = page.partition("</table>")[2]
    for name in table.columns:
        assert name in named or name.lower() in below.lower(), name


@pytest.mark.parametrize("text", [*HOSTILE, *PAYLOADS])
def test_text_from_outside_stays_text(text):
    frame = shown(
        pd.DataFrame({"system": [text, "b"], text + "x": [text, 0.5]}).assign(signature=text)
    )
    page = Reader(frame._repr_html_())
    assert set(page.elements) <= ELEMENTS | {"thead", "tbody"}
    assert {name for name, _ in page.attributes} <= {"class", "style", "title", "dir"}
    assert " ".join(visible(text).split()) in " ".join(page.text.split())
    assert "\u202e" not in repr(frame)


def test_an_interval_and_a_test_read_as_a_sentence():
    found = mean_interval([0.0, 1.0, 1.0, 1.0])
    assert repr(found) == str(found) == "0.750 [-0.046, 1.546] (95% t, n = 4)"
    assert found._repr_markdown_() == r"0.750 \[\-0.046, 1.546\] \(95% t, n = 4\)"


@pytest.mark.parametrize(("level", "shown"), [(0.9, "90"), (0.975, "97.5"), (0.999, "99.9")])
def test_confidence_levels_are_not_rounded(scores, level, shown):
    assert f"({shown}% t, n = 3)" in str(mean_interval([0.0, 1.0, 1.0], confidence_level=level))
    summary = summarize(scores, confidence_level=level)
    assert f"confidence_level = {shown}%" in str(summary)
    assert f"{shown}% interval" in summary._repr_html_()


def test_numbers_are_in_the_table_although_they_are_the_same_in_every_row():
    frame = pd.DataFrame(
        {
            "system": ["one", "two"],
            "definition": ["paper", "released"],
            "language": "en",
            "metric": "rgb.accuracy",
            "count": 7,
            "mean": 0.7,
            "low": 0.3968,
            "high": 0.8922,
            "interval": "Wilson",
            "confidence_level": 0.95,
            "n": 10,
            "n_scored": 9,
            "worst_low": 0.6,
            "worst_high": 0.8,
        }
    )
    for columns in (list(frame), [name for name in frame if name != "n_scored"]):
        text = text_table(frame[columns], 200)
        head, *rows, _ = text.splitlines()[:4]
        assert {"count", "mean", "[low,"} <= set(head.split())
        for row in rows:
            assert "0.70  [0.40, 0.89]" in row
            assert " 7 " in row
        said = text[text.index("In every row") :]
        assert not {"count", "mean", "low", "high", "n"} & set(re.findall(r"(\w+) =", said))
        html = "".join(html_parts(frame[columns]))
        assert html.count("[0.40, 0.89]") == 2
    repeated = compare(
        pd.concat(
            pd.DataFrame(
                {"example_id": [f"q{k}" for k in range(9)], "system": name, "value": values}
            ).assign(metric="rgb.accuracy", signature="v")
            for name, values in {"a": [1] * 9, "b": [0] * 9, "c": [0] * 9}.items()
        ),
        baseline="a",
    )
    assert repr(repeated).count("-1.00") == 4  # two rows, each with an estimate and a limit


@pytest.mark.parametrize("width", [72, 80, 100])
def test_the_interval_is_left_out_last(width):
    frame = pd.DataFrame(
        {
            "judge": "gpt-4o-mini-2024-07-18.judged_correct",
            "by": ["overall", "response length"],
            "group": ["all responses", "shortest third of the responses (1-1234)"],
            "difference": [0.05, -0.1],
            "low": [0.01, -0.2],
            "high": [0.09, 0.0],
            "p_adjusted": [0.02, 0.06],
            "test": "exact cluster sign-flip test, scores rounded to 0.001",
            "n_pairs": [300, 100],
        }
    )
    lines = text_table(frame, width).splitlines()
    assert max(map(text_width, lines)) <= width
    assert "[low, high]" in lines[0]
    assert "difference" in lines[0]
    assert "[-0.20, 0.00]" in lines[2]


def test_an_effect_is_never_shown_without_its_kind(scores):
    frame = pd.DataFrame(
        {
            "metric": ["a", "b"],
            "effect": [1.5, -0.25],
            "effect_name": ["odds ratio of discordant items", "d_z"],
        }
    )
    html = shown(frame)._repr_html_()
    assert "odds ratio 1.50" in html
    assert "d_z -0.25" in html


def test_bars_of_small_values_are_visible():
    """All values are below one tenth, so the axis ends at the largest limit, 0.02."""
    frame = pd.DataFrame({"mean": [0.01], "low": [0.005], "high": [0.02], "confidence_level": 0.95})
    html = shown(frame)._repr_html_()
    assert "--a:25%;--b:100%;--m:50%;--z:0%" in html


def test_a_column_is_an_interval_only_with_both_limits():
    lines = text_table(pd.DataFrame({"name": ["a"], "how_high": ["to the top"]}), 80).splitlines()
    assert lines[0].split() == ["name", "how_high"]


def test_an_estimate_that_is_printed_as_zero_has_no_sign():
    interval = Interval(-0.0001, -0.25, -0.00001, 0.95, "t", 12)
    assert str(interval) == "0.000 [-0.250, 0.000] (95% t, n = 12)"


@pytest.mark.parametrize(
    ("values", "bounds"),
    [
        ([], None),
        ([0.0], (0.0, 1.0)),
        ([1.0], (0.0, 1.0)),
        ([1.0, 0.0], (0.0, 1.0)),
        ([1.0, 0.5], None),
        ([2.0], None),
        ([-1.0, 1.0], None),
    ],
)
def test_a_metric_of_your_own_is_a_share_if_all_of_its_values_are_0_or_1(values, bounds):
    assert bounds_of("mine", "", np.array(values)) == bounds
