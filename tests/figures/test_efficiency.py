import math

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scipy.stats
import seaborn as sns

from ragnb.errors import InputError
from ragnb.figures import (
    plot_acceptability,
    plot_cost_effectiveness_plane,
    plot_fieller_set,
)
from ragnb.reports.efficiency import benefits, efficiency
from ragnb.stats.cost_effectiveness import fieller_interval

NAN = math.nan
PRICES = np.linspace(0, 0.05, 21)


def scored(systems, **columns):
    """Scores of systems given as ``{system: (gains over a baseline of 0, costs)}``."""
    n = len(next(iter(systems.values()))[0])
    rows = [
        {
            "example_id": place,
            "system": system,
            "metric": metric,
            "value": value,
            "reason": None,
            "signature": metric,
        }
        for system, both in ({"direct": ([0.0] * n, [0.0] * n)} | systems).items()
        for metric, values in zip(("answer.f1", "cost.translation_tokens"), both, strict=True)
        for place, value in enumerate(values)
    ]
    return pd.DataFrame(rows).assign(**columns)


RAYS = [0.9, 0.6, 0.9], [0.0, 3, 9]
WHOLE = [0.1, 0.6, 0.0], [0.0, 0, 9]
BOUNDED = [0.3, 0.5, 0.4], [10.0, 12, 11]
FREE = [0.3, 0.5, 0.4], [0.0, 0, 0]
WORSE = [-0.3, -0.5, -0.4], [10.0, 12, 11]
UNKNOWN = [0.3, 0.5, 0.4], [NAN, NAN, NAN]


def table_of(**systems):
    return efficiency(scored(systems))


def fieller(table, system):
    return table[table["reading"].str.contains("Fieller") & (table["system"] == system)].iloc[0]


def points(ax):
    """The mean of each system (cost, gain) by its label."""
    return {c.get_label(): tuple(float(data[0]) for data in c[0].get_data()) for c in ax.containers}


def bars(ax, label):
    """The ends of the bars of one system: (low, high) of cost and of gain."""
    (found,) = [c for c in ax.containers if c.get_label() == label]
    across, upright = (lines.get_segments()[0] for lines in found[2])
    return tuple(across[:, 0]), tuple(upright[:, 1])


def wedges(ax):
    """The wedges as (lower slope, upper slope), in the order drawn."""
    found = []
    for area in ax.collections:
        if isinstance(area, mpl.collections.PolyCollection):
            corners = area.get_paths()[0].vertices
            reach = corners[:, 0].max()
            heights = corners[corners[:, 0] == reach, 1] / reach
            found.append((heights.min(), heights.max()))
    return found


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_points_and_bars_stand_at_the_means_and_their_intervals():
    table = table_of(one=BOUNDED, two=WORSE)
    ax = plot_cost_effectiveness_plane(table)
    assert points(ax) == {
        name: pytest.approx((11, gain)) for name, gain in (("one", 0.4), ("two", -0.4))
    }
    for name in ("one", "two"):
        row = fieller(table, name)
        across, upright = bars(ax, name)
        assert across == pytest.approx((row["cost_low"], row["cost_high"]))
        assert upright == pytest.approx((row["gain_low"], row["gain_high"]))
    low, high = ax.get_ylim()
    assert low < min(table["gain_low"])
    assert high > max(table["gain_high"])


def test_a_bounded_set_is_a_wedge_between_its_slopes():
    table = table_of(one=BOUNDED, two=WORSE)
    expected = [
        (fieller(table, name)["low"], fieller(table, name)["high"]) for name in ("one", "two")
    ]
    assert wedges(plot_cost_effectiveness_plane(table)) == [
        pytest.approx(slopes) for slopes in expected
    ]
    assert expected[1][1] == pytest.approx(-expected[0][0])


def test_two_rays_leave_out_what_lies_between_them():
    table = table_of(rays=RAYS)
    ax = plot_cost_effectiveness_plane(table)
    row = fieller(table, "rays")
    below, above = wedges(ax)
    assert below[1] == pytest.approx(row["low"])
    assert above[0] == pytest.approx(row["high"])
    reach = ax.get_xlim()[1]
    assert below[0] * reach < 100 * ax.get_ylim()[0]
    assert above[1] * reach > 100 * ax.get_ylim()[1]
    assert legend(ax) == ["rays (two rays)"]


def test_the_whole_line_fills_everything():
    ax = plot_cost_effectiveness_plane(table_of(whole=WHOLE))
    ((low, high),) = wedges(ax)
    reach = ax.get_xlim()[1]
    assert low * reach < 100 * ax.get_ylim()[0]
    assert high * reach > 100 * ax.get_ylim()[1]
    assert legend(ax) == ["whole (any ratio)"]


def test_what_has_no_set_has_a_point_and_no_wedge():
    ax = plot_cost_effectiveness_plane(table_of(free=FREE))
    assert wedges(ax) == []
    assert points(ax) == {"free (no set)": pytest.approx((0, 0.4))}
    assert ax.get_xlim()[1] == 1
    one = plot_cost_effectiveness_plane(table_of(one=([0.5], [10.0])))
    assert wedges(one) == []
    assert bars(one, "one (no set)") == (
        (10, 10),
        (0.5, 0.5),
    )  # an undefined interval has no length


def test_a_price_is_a_dashed_line_from_the_origin():
    ax = plot_cost_effectiveness_plane(table_of(one=BOUNDED), price=0.02)
    (line,) = [line for line in ax.lines if line.get_linestyle() == "--"]
    x, y = line.get_data()
    assert (x[0], y[0], y[1] / x[1]) == (0, 0, pytest.approx(0.02))
    assert "0.02 F1 a token" in legend(ax)
    assert legend(plot_cost_effectiveness_plane(table_of(one=BOUNDED))) == ["one"]


def test_the_note_names_level_n_and_clusters():
    frame = scored({"one": BOUNDED})
    titles = [
        plot_cost_effectiveness_plane(efficiency(scores, confidence_level=level)).get_title(
            loc="left"
        )
        for scores, level in ((frame, 0.95), (frame.assign(question_id=["a", "a", "b"] * 4), 0.9))
    ]
    assert titles[0] == "95% intervals of both means; wedge: 95% Fieller set of the ratio; n = 3"
    assert (
        titles[1]
        == "90% intervals of both means; wedge: 90% Fieller set of the ratio; n = 3 in 2 questions"
    )


def test_colours_are_those_of_the_style_even_when_drawn_outside_of_it():
    wanted = [mpl.colors.to_rgb(colour) for colour in sns.color_palette("colorblind")[:2]]
    plane = plot_cost_effectiveness_plane(table_of(one=BOUNDED, two=WORSE))
    curves = plot_acceptability(benefits(scored({"one": BOUNDED, "two": WORSE}), PRICES))
    assert [mpl.colors.to_rgb(container[0].get_color()) for container in plane.containers] == wanted
    assert [mpl.colors.to_rgb(line.get_color()) for line in curves.lines[:2]] == wanted


def test_what_is_not_such_a_table_is_refused():
    table = table_of(one=BOUNDED)
    with pytest.raises(InputError, match="n_units"):
        plot_cost_effectiveness_plane(table.drop(columns="n_units"))
    with pytest.raises(InputError, match="one row per system under Fieller; got 0 for 0 systems"):
        plot_cost_effectiveness_plane(table[table["kind"] == ""])
    with pytest.raises(InputError, match="one row per system under Fieller; got 2 for 1 systems"):
        plot_cost_effectiveness_plane(pd.concat([table, table]))


# ---- acceptability -----------------------------------------------------------------------------------------------------


def test_curves_are_those_of_the_frame_in_the_order_of_prices():
    frame = benefits(scored({"one": BOUNDED, "two": WORSE}), PRICES)
    ax = plot_acceptability(frame.sample(frac=1, random_state=0))
    drawn = {line.get_label(): line.get_data() for line in ax.lines}
    for name in ("one", "two"):
        rows = frame[frame["system"] == name]
        assert drawn[name][0] == pytest.approx(rows["price"])
        assert drawn[name][1] == pytest.approx(rows["acceptability"])
    assert [line.get_ydata()[0] for line in ax.lines[2:]] == [0.025, 0.5, 0.975]
    assert ax.get_title(loc="left").endswith("n = 3")


def test_a_curve_needs_prices():
    frame = benefits(scored({"one": BOUNDED}), PRICES)
    with pytest.raises(InputError, match="two prices or more; got 1; give"):
        plot_acceptability(frame[frame["price"] == 0])
    with pytest.raises(InputError, match="acceptability"):
        plot_acceptability(frame.drop(columns="acceptability"))


# ---- Fieller's set -----------------------------------------------------------------------------------------------------

GAINS = np.array([2.0, 1.0, 2.0, 3.0])
DENOMINATORS = {"bounded": [1.0, 1.2, 0.9, 1.1], "two rays": [-1.0, 3.0, 1.0, -2.0]}


def filled(ax):
    """Ratios at which the picture is filled."""
    return np.concatenate([path.vertices[:, 0] for path in ax.collections[0].get_paths()])


@pytest.mark.parametrize("kind", sorted(DENOMINATORS))
def test_the_set_is_filled_between_or_beyond_its_limits(kind):
    found = fieller_interval(GAINS, DENOMINATORS[kind])
    ax = plot_fieller_set(GAINS, DENOMINATORS[kind])
    assert ax.get_title(loc="left") == f"{kind}, n = 4"
    inside, (low, high) = filled(ax), found.limits
    if kind == "bounded":
        assert (inside.min(), inside.max()) == pytest.approx((low, high))
    else:
        assert not ((inside > low + 1e-12) & (inside < high - 1e-12)).any()
        assert (inside.min(), inside.max()) == pytest.approx(ax.get_xlim())


def test_the_curve_is_the_p_value_of_the_t_test():
    ax = plot_fieller_set(GAINS, DENOMINATORS["bounded"])
    ratios, p_values = ax.lines[0].get_data()
    for ratio, p in list(zip(ratios, p_values, strict=True))[::40]:
        expected = scipy.stats.ttest_1samp(
            GAINS - ratio * np.array(DENOMINATORS["bounded"]), 0
        ).pvalue
        assert p == pytest.approx(expected)
    limits = np.isin(ratios, fieller_interval(GAINS, DENOMINATORS["bounded"]).limits)
    assert p_values[limits] == pytest.approx([0.05, 0.05])


def test_clusters_reach_the_curve():
    clusters = ["a", "a", "b", "c"]
    flat, shared = (
        plot_fieller_set(GAINS, DENOMINATORS["bounded"], clusters=each, reach=4)
        for each in (None, clusters)
    )
    assert shared.get_title(loc="left").endswith("n = 3")
    assert not np.allclose(
        np.interp(1.0, *flat.lines[0].get_data()), np.interp(1.0, *shared.lines[0].get_data())
    )


def test_an_undefined_set_is_drawn_empty():
    ax = plot_fieller_set(GAINS, [0.0] * 4)
    assert ax.get_title(loc="left") == "undefined, n = 4"
    assert not len(filled(ax)) if ax.collections[0].get_paths() else True
