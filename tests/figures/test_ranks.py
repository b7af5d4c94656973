import numpy as np
import pytest

from ragnb.errors import InputError
from ragnb.figures import plot_critical_difference
from ragnb.stats.several import RankComparison, pairwise_tests, rank_intervals

SYSTEMS = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]


@pytest.fixture
def demsar():
    """Demsar (2006): at .10 C4.5 is worse than C4.5+m and C4.5+m+cf, and C4.5+cf may belong to either."""
    p = (
        (1.0, 0.09, 0.96, 0.07),
        (0.09, 1.0, 0.26, 1.0),
        (0.96, 0.26, 1.0, 0.22),
        (0.07, 1.0, 0.22, 1.0),
    )
    return RankComparison((3.143, 2.0, 2.893, 1.964), p, 0.9, "Nemenyi", 14)


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    return (rng.random((60, 1)) + rng.random((60, 4)) + [0.0, 0.5, 0.05, 0.5]).round(2)


def bars(ax):
    """The bars that join systems: (from, to, height), the highest first."""
    lines = [line for line in ax.lines if line.get_linewidth() == 3]
    found = [(*line.get_xdata(), line.get_ydata()[0]) for line in lines]
    return sorted(found, key=lambda bar: -bar[2])


def points(ax):
    lines = [line for line in ax.lines if line.get_marker() == "o"]
    return [(line.get_xdata()[0], line.get_ydata()[0]) for line in lines]


def spans(ax):
    """Ends of the horizontal intervals, by height."""
    drawn = [segment for lines in ax.collections for segment in lines.get_segments()]
    return {s[0, 1]: tuple(s[:, 0]) for s in drawn if s[0, 1] == s[1, 1]}


def rows(ax):
    labels = [text.get_text() for text in ax.get_yticklabels()]
    return dict(zip(labels, ax.get_yticks(), strict=True))


def test_systems_are_at_their_average_ranks_best_on_top_and_bars_join_those_not_separated(demsar):
    ax = plot_critical_difference(demsar, SYSTEMS)
    assert points(ax) == [(1.964, 3), (2.0, 2), (2.893, 1), (3.143, 0)]
    assert rows(ax) == {"C4.5": 0, "C4.5+cf": 1, "C4.5+m": 2, "C4.5+m+cf": 3}
    assert ax.get_xticks().tolist() == [1, 2, 3, 4]
    assert ax.get_title(loc="left").startswith("Nemenyi, n = 14")
    assert not ax.texts
    first, second = bars(ax)
    assert first[:2] == pytest.approx((1.964, 2.893), abs=0.05)
    assert second[:2] == pytest.approx((2.893, 3.143), abs=0.05)
    assert first[2] > second[2] > 3  # apart from each other, above the first row


def test_intervals_of_ranks_are_in_the_rows(scores):
    ranks = rank_intervals(scores, rng=np.random.default_rng(1))
    ax = plot_critical_difference(pairwise_tests(scores), SYSTEMS, ranks=ranks)
    drawn, placed = spans(ax), rows(ax)
    for name, rank in zip(SYSTEMS, ranks, strict=True):
        assert drawn[placed[name]] == pytest.approx((rank.average_rank.low, rank.average_rank.high))
    notes = [text.get_text() for text in ax.texts]
    assert sum(note.startswith("rank 1-2, best in ") for note in notes) == 2
    assert notes.count("rank 3-4, best in 0%") == 2
    kinds = "95% intervals, 60 units: average rank, BCa; rank by mean score, max-T over pairs"
    assert kinds in ax.get_title(loc="left")


def test_an_undefined_interval_leaves_its_point(scores):
    scores[:, 1] = 9.0  # always best: its rank never varies
    ranks = rank_intervals(scores, rng=np.random.default_rng(1), n_resamples=500)
    ax = plot_critical_difference(pairwise_tests(scores), SYSTEMS, ranks=ranks)
    assert len(spans(ax)) == 3
    assert points(ax)[0] == (1.0, 3)
    assert "rank 1, best in 100%" in [text.get_text() for text in ax.texts]
    one = rank_intervals(scores[:1], rng=np.random.default_rng(1))
    ax = plot_critical_difference(pairwise_tests(scores[:1]), SYSTEMS, ranks=one)
    assert [text.get_text() for text in ax.texts] == ["rank undefined"] * 4


def test_bad_input_says_what_is_needed(demsar, scores):
    ranks = rank_intervals(scores, rng=np.random.default_rng(1), n_resamples=100)
    with pytest.raises(InputError, match="of 4 systems; got 3"):
        plot_critical_difference(demsar, SYSTEMS[:3])
    with pytest.raises(InputError, match="of 4 systems; got 2 and 4"):
        plot_critical_difference(demsar, SYSTEMS, ranks=ranks[:2])
    with pytest.raises(InputError, match="needs average ranks; got undefined ones"):
        plot_critical_difference(pairwise_tests(np.zeros((0, 2))), ["a", "b"])
