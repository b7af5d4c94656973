"""Names from data are drawn as they are, whatever matplotlib, SVG or a legend would make of them."""

import io
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from made_scores import scored, with_costs

from ragnb.figures import (
    plot,
    plot_differences,
    plot_judge_bias,
    plot_noise_curve,
    plot_rates,
)
from ragnb.figures.styles import style
from ragnb.reports import efficiency, judge_report
from ragnb.scoring import compare
from ragnb.stats import detectable_effects

NAME = "_$\\foo$ \\$5 系 <b>&\x00\ufffe\u202eb"
SEEN = "_$\\foo$\\$5系<b>&⟨U+0000⟩⟨U+FFFE⟩⟨U+202E⟩b"

RNG = np.random.default_rng(5)
OTHER = "other"


def rates(name, **columns):
    frame = pd.DataFrame(
        {"system": [name, OTHER], "mean": 0.5, "low": 0.4, "high": 0.6, "n_scored": 60}
    )
    return frame.assign(interval="Wilson", confidence_level=0.95, **columns)


def compared(name):
    values = {system: (RNG.random(40) < 0.5).astype(float) for system in (name, OTHER)}
    return compare(scored(values, "rgb.accuracy"), baseline=OTHER)


def costs(name):
    return with_costs({name: ([0.3, 0.5, 0.4], [10, 12, 11]), OTHER: ([0] * 3, [0] * 3)})


def judged(name, language="en"):
    frame = pd.DataFrame(
        {"example_id": range(60), "label": [0.0, 1.0] * 30, "language": [language, "zh"] * 30}
    )
    frame["response"] = "x"
    return judge_report(frame.assign(**{name: RNG.random(60)}), judge=name).bias


DRAWINGS = {
    "noise curve": lambda name: plot_noise_curve(rates(name, noise_rate=0.0)),
    "noise curve, published": lambda name: plot_noise_curve(
        rates("a", noise_rate=0.0), published=rates(name, noise_rate=0.0, n=60)
    ),
    "rates, series": lambda name: plot_rates(rates(name, all="all"), label="all", series="system"),
    "rates, column": lambda name: plot_rates(
        rates(name, all="all"), label="all", series="system", width="column"
    ),
    "rates, column, mark": lambda name: plot_rates(rates("a"), marks={name: 0.4}, width="column"),
    "rates, mark": lambda name: plot_rates(rates("a"), marks={name: 0.4}),
    "rates, xlabel": lambda name: plot_rates(rates("a"), xlabel=name),
    "differences": lambda name: plot_differences(compared(name)),
    "differences, rows": lambda name: plot_differences(compared("a").assign(x=name), label=["x"]),
    "differences, headings": lambda name: plot_differences(compared("a").assign(x=name), group="x"),
    "power": lambda name: plot(detectable_effects([50, 100], [0.2]), names={0.2: name}),
    "power, observed": lambda name: plot(
        detectable_effects([50, 100], [0.2]), reference={name: 68}
    ),
    "plane": lambda name: plot(efficiency(costs(name), baseline=OTHER)),
    "plane, price": lambda name: plot(
        efficiency(costs("a"), baseline=OTHER), reference={name: 0.02}
    ),
    "ranges, reference": lambda name: plot(
        pd.DataFrame({"system": ["a"], "least": 0.1, "most": 0.2}), reference={name: 0.15}
    ),
    "counts, series": lambda name: plot(
        pd.DataFrame({"system": ["a"] * 9, "judge": name}),
        kind="counts",
        rows="system",
        series="judge",
    ),
    "judge bias": lambda name: plot_judge_bias(judged(name)),
    "judge bias, groups": lambda name: plot_judge_bias(judged("a", language=name)),
}


def squeezed(text):
    return "".join(text.split())


@pytest.mark.filterwarnings("ignore:Glyph .* missing")
@pytest.mark.parametrize("drawing", DRAWINGS)
def test_a_name_is_drawn_as_it_is(drawing):
    ax = DRAWINGS[drawing](NAME)
    svg = io.BytesIO()
    with style():
        ax.figure.savefig(svg, format="svg")
    texts = ElementTree.fromstring(svg.getvalue()).findall(".//{*}text")
    drawn = [squeezed("".join(text.itertext())) for text in texts]
    assert any(SEEN in text for text in drawn), drawn
    assert all(text.count("⟨") == text.count("⟩") and "mathdefault" not in text for text in drawn)
