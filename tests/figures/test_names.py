"""Names from data are drawn as they are, whatever matplotlib, SVG or a legend would make of them."""

import io
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from support.made_scores import scored, with_costs

from ragnb.figures import plot
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
    "curves": lambda name: plot(rates(name, noise_rate=0.0), along="noise_rate"),
    "curves, published": lambda name: plot(
        rates("a", noise_rate=0.0),
        along="noise_rate",
        published=rates(name, noise_rate=0.0, n=60),
    ),
    "means, rows": lambda name: plot(rates(name)),
    "means, series": lambda name: plot(rates(name, all="all"), rows="all", series="system"),
    "means, reference": lambda name: plot(rates("a"), reference={name: 0.4}),
    "means, words": lambda name: plot(rates("a"), names={"mean": name}),
    "means, title": lambda name: plot(rates("a"), title=name),
    "differences": lambda name: plot(compared(name)),
    "differences, words": lambda name: plot(compared("a"), names={"a": name}),
    "splits": lambda name: plot(pd.DataFrame({"split": [1, 2], "system": name, "value": 0.5})),
    "splits, range": lambda name: plot(
        pd.DataFrame({"split": [1, 2], "system": "a", "value": 0.5}), reference={name: (0.4, 0.6)}
    ),
    "distribution": lambda name: plot(
        pd.DataFrame({"system": name, "value": [0.0, 1.0]}), kind="distribution"
    ),
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
    "judge bias": lambda name: plot(judged(name)),
    "judge bias, groups": lambda name: plot(judged("a", language=name)),
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
    # Each line of a text is an element.
    drawn = squeezed("".join("".join(text.itertext()) for text in texts))
    assert SEEN in drawn, drawn
    assert drawn.count("⟨") == drawn.count("⟩")
    assert "mathdefault" not in drawn
