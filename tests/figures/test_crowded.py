"""Figures of many, few, long and foreign names: nothing is cut off, and no text covers another."""

import numpy as np
import pandas as pd
import pytest
from support.made_scores import scored

from ragnb.figures import plot
from ragnb.scoring import compare, summarize

RNG = np.random.default_rng(11)
NAMES = {
    "one": ["System A"],
    "two": ["System A", "System B"],
    "twelve": [f"System {letter}" for letter in "ABCDEFGHIJKL"],
    "long": [
        f"Retrieval-augmented model with a long descriptive name, variant {number}"
        for number in range(1, 7)
    ],
    "from the right": ["نظام استرجاع", "שיטה", "система", "Σύστημα"],
}
N_QUESTIONS = {"many": 60, "a single one": 1}


def scores(names, n, metrics=("answer.f1", "answer.contains", "answer.exact_match")):
    """Made-up scores; systems differ, so that their ranks do."""
    frames = []
    for place, metric in enumerate(metrics):
        values = {
            name: (RNG.random(n) < 0.2 + 0.6 * ((number + 2 * place) % 5) / 5).astype(float)
            for number, name in enumerate(names)
        }
        frames.append(scored(values, metric))
    return pd.concat(frames, ignore_index=True)


def means(table):
    return plot(summarize(table))


def means_without_some_intervals(table):
    summary = summarize(table)
    summary.loc[::2, ["low", "high"]] = np.nan
    return plot(summary)


def one_metric(table):
    return plot(summarize(table[table["metric"] == "answer.f1"]))


def distribution(table):
    return plot(table[table["metric"] == "answer.f1"], kind="distribution")


def ranks(table):
    return plot(summarize(table), kind="ranks")


def differences(table):
    first = table["system"].iloc[0]
    return plot(compare(table[table["metric"] == "answer.f1"], baseline=first))


def curves(table):
    steps = [table.assign(noise_rate=rate) for rate in (0.0, 0.4, 0.8)]
    summary = summarize(pd.concat(steps), by=["system", "noise_rate"])
    return plot(summary[summary["metric"] == "answer.f1"], along="noise_rate")


ALWAYS = [means, means_without_some_intervals, one_metric, distribution]
OF_SEVERAL = [ranks, differences, curves]


def texts_of(figure):
    """All visible texts of a figure with their places in pixels; empty ones and ticks outside the axes are none."""
    figure.draw_without_rendering()
    places = []
    for axes in figure.axes:
        texts = [*axes.texts, axes.title, axes._left_title, axes._right_title]
        texts += [axes.xaxis.label, axes.yaxis.label]
        for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            texts += [
                tick.label1
                for tick in axis.get_major_ticks()
                if min(limits) <= tick.get_loc() <= max(limits)
            ]
        if axes.get_legend() is not None:
            texts += axes.get_legend().get_texts()
        places += texts
    places += figure.texts
    return [
        (text.get_text(), text.get_window_extent())
        for text in places
        if text.get_visible() and text.get_text().strip()
    ]


@pytest.mark.filterwarnings("ignore:no installed font")
@pytest.mark.parametrize("n", N_QUESTIONS)
@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("draw", [*ALWAYS, *OF_SEVERAL])
def test_all_texts_are_on_the_page_and_none_covers_another(draw, names, n):
    if draw in OF_SEVERAL and names == "one":
        pytest.skip("the figure needs two systems")
    axes = draw(scores(NAMES[names], N_QUESTIONS[n]))
    figure = np.atleast_1d(axes)[0].figure
    page = figure.bbox
    texts = texts_of(figure)
    # One pixel: extents are rounded outwards.
    for text, box in texts:
        is_wide = box.x0 < page.x0 - 1 or box.x1 > page.x1 + 1
        is_high = box.y0 < page.y0 - 1 or box.y1 > page.y1 + 1
        assert not is_wide, (text, "is cut at a side")
        assert not is_high, (text, "is cut above or below")
    for number, (text, box) in enumerate(texts):
        for other, other_box in texts[number + 1 :]:
            assert not box.padded(-1).overlaps(other_box.padded(-1)), (text, "covers", other)


def test_the_small_print_counts_means_without_an_interval():
    summary = summarize(scores(["a", "b"], 60))
    summary.loc[[0, 1], ["low", "high"]] = np.nan
    header = [text.get_text() for text in plot(summary).figure.texts]
    assert any("(2 of 6 means have none), n = 60" in text.replace("\n", " ") for text in header)


def test_a_name_from_the_right_does_not_turn_the_order_of_a_difference():
    """The marks of Unicode keep "first − second" in this order whatever the scripts of the names."""
    table = scores(["نظام", "שיטה"], 60, metrics=["answer.f1"])
    ax = plot(compare(table, baseline="שיטה"))
    assert ax.get_yticklabels()[0].get_text() == "\u2068نظام\u2069 − \u2068שיטה\u2069"


def test_the_name_of_a_series_is_not_on_the_line_of_a_reference():
    """Three systems and two series, with room for a name on both sides of the line."""
    rows = {"fid": (0.50, 0.66), "gpt": (0.58, 0.73), "bing": (0.62, 0.79)}
    table = pd.DataFrame(
        [
            {
                "metric": metric,
                "system": system,
                "mean": mean,
                "low": mean - 0.02,
                "high": mean + 0.02,
            }
            for system, means_of_system in rows.items()
            for metric, mean in zip(("containment", "people"), means_of_system, strict=True)
        ]
    ).assign(interval="Wilson", confidence_level=0.95, n=3020)
    for reference in (0.55, 0.64, 0.7, 0.76):
        ax = plot(table, rows="system", series="metric", reference=reference)
        ax.figure.draw_without_rendering()
        line = ax.transData.transform((reference, 0))[0]
        named = [text for text in ax.texts if text.get_text() in ("containment", "people")]
        for text in named:
            box = text.get_window_extent()
            assert not box.x0 < line < box.x1, (reference, text.get_text())
