"""The printed table of efficiency: systems by readings, sets that are no interval, notes, three languages."""

import math

import pandas as pd
import pytest
from hostile import HOSTILE, Reader, visible

from ragnb.errors import InputError
from ragnb.reports.efficiency import READINGS, efficiency
from ragnb.stats.cost_effectiveness import fieller_interval, ratio_of_means_bca
from ragnb.tables import to_html, to_latex, to_markdown

NAN = math.nan
SYSTEMS = {
    "direct": ([0.0] * 3, [0.0] * 3),
    "bounded": ([0.3, 0.5, 0.4], [10.0, 12, 11]),
    "rays": ([0.9, 0.6, 0.9], [0.0, 3, 9]),
    "whole": ([0.1, 0.6, 0.0], [0.0, 0, 9]),
    "free": ([0.3, 0.5, 0.4], [0.0, 0, 0]),
    "part": ([0.3, 0.5, NAN], [10.0, 12, 11]),
    "unknown": ([0.3, 0.5, 0.4], [NAN] * 3),
}


def scored(systems, **columns):
    rows = [
        {
            "example_id": place,
            "system": system,
            "metric": metric,
            "value": value,
            "reason": None,
            "signature": f"m:{metric}",
        }
        for system, both in systems.items()
        for metric, values in zip(("answer.f1", "cost.translation_tokens"), both, strict=True)
        for place, value in enumerate(values)
    ]
    return pd.DataFrame(rows).assign(**columns)


@pytest.fixture
def table():
    return efficiency(scored(SYSTEMS))


def cells(markdown):
    """Rows of a Markdown table by their first cell."""
    lines = [
        line.replace("\\", "").strip("| ").split(" | ")
        for line in markdown.splitlines()
        if line.startswith("|")
    ]
    return {line[0]: line[1:] for line in lines}


def printed(interval):
    return f"{interval.estimate:.5f} [{interval.low:.5f}, {interval.high:.5f}]"


def test_systems_by_readings(table):
    rows = cells(to_markdown(table))
    assert rows["system"] == ["gain in F1", "tokens", *READINGS, "n"]
    assert rows["bounded"] == [
        "0.400 [0.152, 0.648]",  # t of mean .4 and standard deviation .1
        "11.0 [8.5, 13.5]",
        "0.03601 [0.02150, 0.05052]",  # of .3/10, .5/12 and .4/11
        "0.03601 [0.02150, 0.05052]",
        printed(fieller_interval(*SYSTEMS["bounded"])),
        printed(ratio_of_means_bca(*SYSTEMS["bounded"])),
        "3",
    ]


def test_sets_that_are_no_interval_are_spelled_out(table):
    rows = cells(to_markdown(table))
    fieller = 2 + list(READINGS).index("ratio of means, Fieller")
    below, above = fieller_interval(*SYSTEMS["rays"]).limits
    assert rows["rays"][fieller] == f"0.20000 (below {below:.5f} or above {above:.5f})"
    assert below < 0 < above
    assert rows["whole"][fieller] == "0.07778 (any ratio)"
    assert rows["free"] == [
        "0.400 [0.152, 0.648]",
        "0.0",
        "undefined",
        "0.00000",
        "undefined",
        "undefined",
        "3",
    ]
    assert rows["unknown"] == ["undefined"] * 6 + ["0 of 3"]
    assert rows["part"][-1] == "2 of 3"


def test_readings_in_rows_are_the_same_cells_turned(table):
    upright, turned = cells(to_markdown(table)), cells(to_markdown(table, rows="reading"))
    assert turned["system"] == list(SYSTEMS)[1:]
    for place, name in enumerate(upright["system"]):
        assert turned[name] == [upright[system][place] for system in turned["system"]]


def test_the_note_defines_every_reading_and_names_what_was_used(table):
    note = to_markdown(table).splitlines()[-1].replace("\\", "")
    assert note.startswith(
        "Token F1 gained over direct per translated token [95% interval: t / Fieller / ABC (analytic BCa)"
    )
    for name, definition in READINGS.items():
        assert f"{name[1:]}: {definition}." in note
    assert (
        "Responses that cost nothing: bounded 0%, rays 33%, whole 67%, free 100%, part 0%." in note
    )
    assert "m:answer.f1; m:cost.translation_tokens" in note
    assert "nan" not in note
    one = to_markdown(table[table["reading"] == "mean of ratios"])
    assert "Fieller" not in one


def test_clusters_stand_beside_n():
    table = efficiency(scored(SYSTEMS, question_id=["a", "a", "b"] * 14))
    assert cells(to_markdown(table))["bounded"][-1] == "3 in 2 questions"
    assert cells(to_markdown(table))["part"][-1] == "2 of 3 in 1 questions"


def test_digits_are_those_asked_for(table):
    assert cells(to_markdown(table, digits=3))["bounded"][2] == "0.036 [0.021, 0.051]"


def test_minus_signs_are_set_as_such_in_latex(table):
    assert "(below $-$0." in to_latex(table)
    assert "[$-$" in to_latex(table)


@pytest.mark.parametrize("name", [HOSTILE[0], "50% & $x_1$ #1 {~}", "模型", "a|b"])
def test_names_cannot_break_out(name):
    frame = efficiency(scored({"direct": SYSTEMS["direct"], name: SYSTEMS["bounded"]}))
    read = Reader(to_html(frame))
    assert set(read.elements) == {"div", "table", "tr", "th", "td", "p", "small"}
    assert visible(name).split("\n")[0] in read.text
    assert len([line for line in to_latex(frame).splitlines() if line.endswith(r"\\")]) == 2


def test_what_is_not_such_a_table_is_refused(table):
    with pytest.raises(InputError, match="one row a system and reading; got 0 rows of 0 systems"):
        to_latex(table.head(0))
    with pytest.raises(InputError, match="one row a system and reading; got 48 rows of 6 systems"):
        to_latex(pd.concat([table, table]))
    with pytest.raises(InputError, match="zero_cost_share"):
        to_latex(table.drop(columns="zero_cost_share"))
    with pytest.raises(InputError, match="rows"):
        to_latex(table, rows="metric")
