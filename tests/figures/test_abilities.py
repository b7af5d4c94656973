"""The figure of RGB's four abilities draws every rate of the report, and the published models behind."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

import ragnb
from ragnb.errors import InputError
from ragnb.experiments import recorded_responses
from ragnb.figures import plot, plot_abilities
from ragnb.figures.abilities import GREY

RECORDINGS = ("rgb_noise", "rgb_rejection", "rgb_integration", "rgb_counterfactual")


@cache
def report(protocols=("paper",)):
    frames = [recorded_responses(name) for name in RECORDINGS]
    responses = pd.concat(frames, ignore_index=True)
    return ragnb.rgb_report(responses.query("system in ['answer', 'plain']"), protocols)


@cache
def panels():
    return plot(report()).flat


def is_grey(line):
    return np.allclose(to_rgb(line.get_color()), to_rgb(GREY))


def curves_of(ax, *, grey):
    return [line for line in ax.lines if is_grey(line) == grey and len(line.get_xdata()) > 1]


def heights(ax):
    """Heights of the points of curves that are not grey."""
    curves = curves_of(ax, grey=False)
    return sorted(round(float(value), 6) for line in curves for value in line.get_ydata())


def dots(ax):
    """Horizontal places of the dots of single rates."""
    offsets = [point for dots in ax.collections for point in dots.get_offsets() if dots.get_paths()]
    return sorted({round(float(x), 6) for x, _ in offsets})


@pytest.mark.parametrize(
    ("place", "ability", "n_published"),
    [(0, "noise_robustness", 6), (2, "information_integration", 6)],
)
def test_curves_have_the_means_of_the_report_and_every_published_model(place, ability, n_published):
    ax = panels()[place]
    assert heights(ax) == sorted(getattr(report(), ability)["mean"].round(6))
    table = ragnb.published(f"rgb.{ability}").query("language == 'en'")
    assert len(curves_of(ax, grey=True)) == table["system"].nunique() == n_published


@pytest.mark.parametrize(
    ("place", "ability"), [(1, "negative_rejection"), (3, "counterfactual_robustness")]
)
def test_single_rates_have_the_means_of_the_report(place, ability):
    ax = panels()[place]
    means = getattr(report(), ability)["mean"].dropna().round(6)
    assert set(means) <= set(dots(ax))


def test_the_panels_are_named_and_say_how_sure_the_rates_are():
    axes = panels()
    titles = [ax.get_title(loc="left") for ax in axes]
    assert titles == [
        "Noise robustness",
        "Negative rejection",
        "Information integration",
        "Counterfactual robustness",
    ]
    small_print = [text.get_text() for text in axes[0].texts]
    assert "95 % Wilson intervals, n = 68" in small_print


def test_a_rate_without_denominator_is_named_and_is_not_in_n():
    """No response reports an error, so no response can correct one."""
    ax = panels()[3]
    texts = [text.get_text() for text in ax.texts]
    assert texts.count("undefined, n = 0") == 1
    assert "95 % Wilson intervals, n = 28–40" in texts


def test_two_protocols_are_two_series_and_published_models_can_be_left_out():
    axes = plot_abilities(report(("paper", "released")), published_models=False)
    named = [text.get_text() for text in axes.flat[0].figure.legends[0].get_texts()]
    assert named == ["answer, paper", "plain, paper", "answer, released", "plain, released"]
    assert not curves_of(axes.flat[0], grey=True)


def test_one_ability_keeps_its_own_figure():
    noisy = ragnb.rgb_report(recorded_responses("rgb_noise").query("system == 'plain'"))
    assert plot(noisy).get_xlabel() == "noise rate"


def test_a_report_without_abilities_is_refused():
    closed = recorded_responses("rgb_noise").query("passage_num == 0")
    with pytest.raises(InputError, match="at least one of RGB's four abilities"):
        plot_abilities(ragnb.rgb_report(closed))


def test_the_figure_is_silent_about_the_insides_of_seaborn(recwarn):
    plot(report())
    assert not [str(warning.message) for warning in recwarn]
