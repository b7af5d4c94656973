"""Figures of a judge compared with people: reliability, bias by group, and scores by people's grade."""

import textwrap
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

from ragnb.display import distinct
from ragnb.errors import InputError
from ragnb.figures.differences import NEEDED as COMPARED
from ragnb.figures.differences import correction_note, plot_differences, shared_size
from ragnb.figures.style import (
    MARKERS,
    WIDTHS,
    caption,
    headline,
    level_of,
    plain,
    reach,
    require_one_each,
    style,
)
from ragnb.records import require_columns
from ragnb.reports.graded import QUANTILES
from ragnb.reports.judge import JudgeReport

CURVE = (
    "judge", "bin_low", "bin_high", "mean_predicted", "mean", "low", "high", "interval", "confidence_level", "n_scored",
    "ece", "expected_if_calibrated",
)  # fmt: skip


def plot_reliability(report: JudgeReport | pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the reliability of a judge's scores: the share of "correct" in each bin, and a histogram.

    Parameters
    ----------
    report
        A report of `ragnb.judge_report`, or its ``curve`` (of one judge or several).
    ax
        Axes to draw on, with room below for the histogram; a new figure of column width by default.

    Returns
    -------
    Axes
        On the dotted diagonal a score is the probability of a label of 1; below it the judge claims too much. The note gives
        the expected calibration error and what of it would be seen under calibration, by chance. A judge of verdicts has two
        points.

    Raises
    ------
    InputError
        Missing columns, or a judge that scored nothing.

    Notes
    -----
    The histogram is an inset below the axes: responses in each bin.
    """
    curve = report if isinstance(report, pd.DataFrame) else report.curve
    require_columns(curve, CURVE, "plot_reliability")
    if curve.empty:
        raise InputError(
            "plot_reliability needs scores with labels, got none; look at judge_reason, or label some responses"
        )
    groups = list(curve.groupby("judge", sort=False))
    notes = []
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["column"], 3.7))[1]
        ax.plot([0, 1], [0, 1], color="0.5", ls=":", lw=0.9, zorder=1)
        below = ax.inset_axes((0.0, -0.3, 1.0, 0.24), sharex=ax)
        for number, (judge, bins) in enumerate(groups):
            # The bars of different judges do not hide each other.
            shift = (number - (len(groups) - 1) / 2) * 0.012
            ends = {limit: bins[limit].fillna(bins["mean"]) for limit in ("low", "high")}
            verdicts = bool(bins["mean_predicted"].isin([0, 1]).all())
            colour = to_hex(f"C{number}")
            look: dict[str, Any] = {"marker": MARKERS[number % len(MARKERS)], "color": colour}
            look |= {"ls": "none" if verdicts else "-", "label": plain(judge), "capsize": 2}
            bars = reach(bins.assign(**ends))
            ax.errorbar(bins["mean_predicted"] + shift, bins["mean"], yerr=bars, elinewidth=0.9, lw=0.9, zorder=3,
                        **look)  # fmt: skip
            width = bins["bin_high"] - bins["bin_low"]
            below.bar(bins["bin_low"], bins["n_scored"], width=width, align="edge", color=colour, alpha=0.45,
                      edgecolor=colour, lw=0.6)  # fmt: skip
            first, whose = bins.iloc[0], f"{judge}: " if len(groups) > 1 else ""
            error = f"ECE {first['ece']:.3f} ({first['expected_if_calibrated']:.3f} if calibrated)"
            n = f"n = {int(bins['n_scored'].sum())}"
            notes.append(f"{whose}{'verdicts of 0 and 1' if verdicts else error}, {n}")
        ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), ylabel="observed share of label 1")
        ax.set_xticks(np.linspace(0, 1, 6))
        ax.set_yticks(np.linspace(0, 1, 6))
        ax.tick_params(axis="x", labelbottom=False, length=0)
        whose = "" if len(groups) > 1 else f" ({groups[0][0]})"
        below.set(xlabel=plain(f"judge's score{whose}"), ylabel="responses")
        below.set_ylim(0, None)
        below.grid(axis="x", visible=False)
        caption(ax, "\n".join([*notes, _intervals(curve)]))
        if len(groups) > 1:
            ax.legend(fontsize="small", loc="upper left")
    return ax


def plot_judge_bias(
    bias: pd.DataFrame, *, judge: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a forest plot of the judge's mean minus that of the labels, overall and for each group.

    Parameters
    ----------
    bias
        The ``bias`` of a report of `ragnb.judge_report`, or some of its rows.
    judge
        The judge to draw, where there are several.
    ax
        Axes to draw on; a new figure of text width by default.

    Returns
    -------
    Axes
        As `ragnb.figures.plot_differences` draws them: right of 0 the judge is lenient, left of it strict; filled where the
        adjusted p-value is below 1 - confidence level. The grey band reaches from minus to plus the minimum
        detectable effect.

    Raises
    ------
    InputError
        Missing columns, an unknown judge, or several judges of whom none is named.
    """
    require_columns(bias, ("judge", "by", "group", *COMPARED), "plot_judge_bias")
    rows = bias if judge is None else bias[bias["judge"] == judge]
    if rows["judge"].nunique() != 1:
        found = distinct(bias["judge"], ", ") or "none"
        raise InputError(
            f"plot_judge_bias needs the name of one judge, got {judge!r}; the judges are {found}"
        )
    ax = plot_differences(rows, label=["group"], group="by", ax=ax)
    with style():
        names = [label.get_text().removeprefix("by ") for label in ax.get_yticklabels()]
        ax.set_yticks(ax.get_yticks(), names)
        first = rows.iloc[0]
        pair = f"{first['system']} - {first['baseline']}"
        ax.set_xlabel(plain(f"stricter  ←  {pair}  →  more lenient"))
        note = correction_note(rows, "over the groups of each heading")
        caption(ax, f"{_intervals(rows)}{shared_size(rows)}\n{note}", x=0)
    return ax


def plot_grades(grades: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the distribution of a judge's scores for each grade that people gave.

    Parameters
    ----------
    grades
        As `ragnb.reports.scores_by_grade` returns it.
    ax
        Axes to draw on; a new figure of column width by default.

    Returns
    -------
    Axes
        For each grade, a grey box from the first to the third quartile with the median, lines to
        the 5 and 95 % quantiles, and the mean with its interval in colour. The labels give the
        number of responses. The title says whether the scores rise with the grades: by Spearman's
        correlation and its interval.

    Raises
    ------
    InputError
        A column is missing, or there is not exactly one row for each grade.
    """
    needed = ("judge", "label", "grade", "n", *QUANTILES, "mean", "low", "high", "interval",
              "confidence_level", "spearman", "spearman_low", "spearman_high")  # fmt: skip
    require_columns(grades, needed, "plot_grades")
    require_one_each(grades, ["grade"], "plot_grades", "choose the rows of one judge")
    rows = grades.sort_values("grade")
    first, places = rows.iloc[0], range(len(rows))
    boxes = [
        {"whislo": row.p5, "q1": row.p25, "med": row.median_, "q3": row.p75, "whishi": row.p95}
        for row in rows.rename(columns={"median": "median_"}).itertuples()
    ]
    grey: Any = {"color": "0.55", "lw": 0.9}
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["column"], 2.8))[1]
        ax.bxp(boxes, positions=places, widths=0.5, showfliers=False, showcaps=False, patch_artist=True,
               boxprops={"facecolor": "0.9", "edgecolor": "0.7"}, medianprops=grey, whiskerprops=grey)  # fmt: skip
        look: Any = {"fmt": MARKERS[0], "color": to_hex("C0"), "capsize": 2, "zorder": 3}
        ax.errorbar(places, rows["mean"], yerr=reach(rows), **look)
        names = [f"{grade}\nn = {n}" for grade, n in zip(rows["grade"], rows["n"], strict=True)]
        ax.set_xticks(places, names)
        ax.grid(axis="x", visible=False)
        ax.set(xlabel=plain(f"people's grade ({first['label']})"), ylabel=plain(first["judge"]))
        value, low, high = first[["spearman", "spearman_low", "spearman_high"]]
        note = f"means with {_intervals(rows)}; boxes: quartiles; lines: 5 and 95 % quantiles; Spearman "
        note = f"{note}{value:.2f} [{low:.2f}, {high:.2f}]"
        note = note.replace("< ", "<\N{NO-BREAK SPACE}").replace(" %", "\N{NO-BREAK SPACE}%")
        caption(ax, textwrap.fill(note, 50))
        rises = "rise with" if low > 0 else "fall with" if high < 0 else "do not follow"
        headline(ax, f"The judge's scores {rises} the grades")
    return ax


def _intervals(rows: pd.DataFrame) -> str:
    """Name the kinds of interval, and whether some are over few clusters."""
    kinds = distinct(rows["interval"].str.split(r" \(fewer than", regex=True).str[0])
    few = " (some: < 30 clusters)" if rows["interval"].str.contains("fewer than").any() else ""
    return f"{level_of(rows)} {kinds} intervals{few}"
