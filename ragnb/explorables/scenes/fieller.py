"""A ratio of means: which ratios of gain and cost the data do not exclude."""

# Tested in tests/widgets/test_explorables.py.

from typing import Any

import numpy as np
from scipy.special import stdtrit

from ragnb.arguments import Floats, Integers, accepts
from ragnb.errors import InputError
from ragnb.experiments.recorded import recorded_responses
from ragnb.explorables.chart import Chart, Mark
from ragnb.explorables.scene import Control, Frame, Scene, evenly_spaced, explorable
from ragnb.reports.multilingual import multilingual_report
from ragnb.reports.translation import gains_and_costs
from ragnb.stats.cost_effectiveness import fieller_interval
from ragnb.stats.intervals import unit_values


def translation() -> tuple[Any, Any, Any]:
    """Gains and costs of LBRAG over answers without passages, and the questions."""
    report = multilingual_report(recorded_responses("multilingual"))
    pairs = gains_and_costs(report.scores).query("system == 'lbrag'")
    return pairs["gain"], pairs["cost"], pairs["unit"]


@explorable(
    "fieller",
    question="Which ratios of gain and cost do the data not exclude?",
    alt="Mean cost and mean gain in their confidence ellipse; the ratios that are not excluded are shaded.",
    data="gain; cost; optionally clusters",
    changes="confidence set of the ratio gain / cost",
    sample=translation,
)
@accepts(gain="scores", cost="scores", clusters="clusters")
def fieller(gain: Floats, cost: Floats, clusters: Integers | None = None) -> Scene:
    """Return the scene of paired gains and costs. Clusters are replaced by their means."""
    problem = fieller_interval(gain, cost, clusters=clusters).problem
    if problem:
        raise InputError(f"gain and cost must have a confidence set: {problem}")
    gains, costs = unit_values(gain, clusters), unit_values(cost, clusters)
    gain_mean, cost_mean = float(gains.mean()), float(costs.mean())

    # Half widths of the 95 % intervals, squared, and their covariance.
    n = len(gains)
    scaled = np.cov(gains, costs) / n * stdtrit(n - 1, 0.975) ** 2
    gain_square, product, _, cost_square = scaled.ravel()
    cost_half_width = cost_square**0.5
    gain_reach = 2 * max(abs(gain_mean), gain_square**0.5)
    cost_reach = 2 * max(abs(cost_mean), cost_half_width)
    gain_end, cost_end = 1.5 * gain_reach, 1.5 * cost_reach

    # The confidence ellipse around a mean at 0.
    angles = np.linspace(0, 2 * np.pi, 37)
    along = product / (cost_square or 1) ** 0.5
    across = max(0, gain_square - along**2) ** 0.5
    ellipse_gains = along * np.cos(angles) + across * np.sin(angles)
    ellipse_costs = cost_half_width * np.cos(angles)

    def frame(mean_gain: float, mean_cost: float) -> Frame:
        """The confidence ellipse around two means, and the confidence set of their ratio."""
        interval = fieller_interval(gains - gain_mean + mean_gain, costs - cost_mean + mean_cost)
        low, high = interval.limits
        sentences = {
            "bounded": f"bounded, from {_number(low)} to {_number(high)}",
            "two rays": f"two rays: all ratios up to {_number(low)} and all ratios from {_number(high)}",
            "whole line": "the whole line: no ratio can be excluded",
            "undefined": "undefined",
        }
        marks = [
            *_wedges(interval.kind, low, high, cost_end, 100 * gain_end),
            ("axis", [-cost_end, cost_end], [0, 0]),
            ("axis", [0, 0], [-gain_end, gain_end]),
            ("result", mean_cost + ellipse_costs, mean_gain + ellipse_gains),
            ("dot", [mean_cost], [mean_gain]),
        ]
        return Frame(
            f"With a mean gain of {_number(mean_gain)} and a mean cost of {_number(mean_cost)}, the "
            f"ratio is {_number(interval.estimate)}. The 95 % confidence set is "
            f"{sentences[interval.kind]}.",
            Chart((-cost_end, cost_end, "cost"), (-gain_end, gain_end, "gain"), marks),
        )

    controls = [
        _mean("mean gain", gain_mean, gain_reach),
        _mean("mean cost", cost_mean, cost_reach),
    ]
    return Scene(controls, frame)


def _mean(label: str, mean: float, reach: float) -> Control:
    """A slider for a mean, with about two significant digits of its reach."""
    decimals = max(1, 2 - int(np.floor(np.log10(reach))))
    return Control(label, evenly_spaced(-reach, reach, 9, start=mean, decimals=decimals), mean)


def _wedges(kind: str, low: float, high: float, end: float, beyond: float) -> list[Mark]:
    """The points whose ratio is in the confidence set, to the right of 0 and mirrored to the left.

    ``end`` is the largest cost, and ``beyond`` a gain outside of the chart.
    """
    wedges = {
        "bounded": [([0, end, end], [0, low * end, high * end])],
        "two rays": [
            ([0, end, end, 0], [0, high * end, beyond, beyond]),
            ([0, end, end, 0], [0, low * end, -beyond, -beyond]),
        ],
        "whole line": [([0, end, end, 0], [beyond, beyond, -beyond, -beyond])],
        "undefined": [],
    }
    marks: list[Mark] = []
    for costs, gains in wedges[kind]:
        marks.append(("area", np.array(costs), np.array(gains)))
        marks.append(("area", -np.array(costs), -np.array(gains)))
    return marks


def _number(value: float) -> str:
    """Write a number with three significant digits, and without a minus in front of 0."""
    if value != value:
        return "undefined"
    return f"{float(f'{value:.3g}') + 0.0:g}"
