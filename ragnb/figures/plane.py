"""Two means of each system against each other: what one costs in terms of the other."""

# Tested in tests/figures/test_choose.py.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import seaborn.objects as so
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.transforms import Bbox

from ragnb.figures.means import draw_on
from ragnb.figures.page import looks_of, text_colour, text_width
from ragnb.figures.words import words_for

# Directions and distances in points at which the name of a point may lie, the preferred ones first.
_DIRECTIONS = ((1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1))
_DISTANCES = (5.5, 12.0, 20.0, 30.0, 42.0, 56.0, 72.0)
_STEPS = tuple(product(_DISTANCES, _DIRECTIONS))
# A name at the smallest distance needs no line to its point.
_NEAR = _DISTANCES[0]
# What each fault of a place is worth, in points of distance: outside the axes, on another name or a dot, on or across
# a line, on an interval.
_OUTSIDE, _ON_NAME, _ON_LINE, _ON_INTERVAL = 1000.0, 300.0, 40.0, 12.0
# More points than this have one colour, because so many colours cannot be distinguished.
_MOST_COLOURS = 6


def draw_plane(
    ax: Axes,
    points: pd.DataFrame,
    series: str,
    better: tuple[bool, bool],
) -> None:
    """Draw one point with two intervals for each value of ``series``, and mark the better corner.

    ``points`` has the columns ``x, x_low, x_high, y, y_low, y_high``; ``better`` says for both axes
    whether higher is better.
    """
    looks, colours = looks_of(list(points[series]), series), point_colours(points, series)
    for row in points.to_dict("records"):
        colour = colours[row[series]]
        marker = looks[row[series]]["marker"] if len(points) <= _MOST_COLOURS else "o"
        point = pd.DataFrame([row]).dropna(subset=["x", "y"])
        cross = so.Plot(point, x="x", y="y")
        cross = cross.add(so.Range(color=colour, linewidth=0.9), ymin="y_low", ymax="y_high")
        cross = cross.add(
            so.Range(color=colour, linewidth=0.9), xmin="x_low", xmax="x_high", orient="y"
        )
        draw_on(ax, cross.add(so.Dot(color=colour, marker=marker, pointsize=4.5)), point)
    ax.margins(0.12)
    _mark_better(ax, better)


def name_points(
    ax: Axes, points: pd.DataFrame, series: str, names: Mapping[Any, str] | None = None
) -> None:
    """Write the name of each point where there is room, with a line if it is far away.

    The page must be complete, because room is measured on it.
    """
    figure: Any = ax.figure
    figure.draw_without_rendering()
    pixels = ax.figure.dpi / 72
    font = FontProperties(size="small")
    colours = point_colours(points, series)
    # From the top to the bottom, so that the lines of a crowd do not cross.
    points = points.dropna(subset=["x", "y"]).sort_values("y", ascending=False, kind="stable")
    places = ax.transData.transform(points[["x", "y"]].to_numpy(float))
    room = _Room(
        page=ax.get_window_extent(),
        dots=[Bbox.from_extents(*(place - 4 * pixels), *(place + 4 * pixels)) for place in places],
        intervals=_interval_boxes(ax, points),
    )
    labels = [words_for(value, names, column=series) for value in points[series]]
    chosen = []
    for place, label in zip(places, labels, strict=True):
        size = text_width(label, font) * pixels, font.get_size_in_points() * pixels
        candidates = [_beside(place, size, step, pixels) for step in _STEPS]
        prices = [room.price(candidate) for candidate in candidates]
        best = candidates[int(np.argmin(prices))]
        room.add(best)
        chosen.append(best)
    to_data = ax.transData.inverted()
    chosen = _without_crossing_lines(chosen, room)
    for best, name, value in zip(chosen, labels, points[series], strict=True):
        x, y = to_data.transform((best.box.x0, (best.box.y0 + best.box.y1) / 2))
        ax.text(
            x,
            y,
            name,
            ha="left",
            va="center_baseline",
            fontsize="small",
            color=text_colour(colours[value]),
        )
        if best.is_far:
            ends = to_data.transform(best.line)
            ax.plot(
                ends[:, 0], ends[:, 1], color="0.6", lw=0.5, zorder=1, scalex=False, scaley=False
            )


@dataclass(frozen=True)
class _Candidate:
    """A place where the name of a point may be written.

    Attributes
    ----------
    box : Bbox
        The place, in pixels.
    line : array of shape (2, 2)
        The line from the point to the nearest edge of the name, in pixels.
    distance : float
        Distance of the name from the point, in points.
    """

    box: Bbox
    line: np.ndarray
    distance: float

    @property
    def is_far(self) -> bool:
        """Whether the name needs a line to its point."""
        return self.distance > _NEAR

    def moved_to(self, box: Bbox) -> "_Candidate":
        """The name of the same point where another name begins."""
        own_box = Bbox.from_bounds(box.x0, box.y0, self.box.width, self.box.height)
        place = self.line[0]
        return _Candidate(own_box, _line_between(place, own_box), self.distance)


def _beside(
    place: np.ndarray,
    size: tuple[float, float],
    step: tuple[float, tuple[int, int]],
    pixels: float,
) -> _Candidate:
    """The place of a text of a size at a distance from a point, in one of the directions."""
    width, height = size
    distance, (right, up) = step
    middle = place + distance * pixels * np.array([right, up])
    # A text right of the point begins there, and a text left of it ends there.
    left = middle[0] - width * (1 - right) / 2
    box = Bbox.from_bounds(left, middle[1] - height / 2, width, height)
    return _Candidate(box, _line_between(place, box), distance)


def _line_between(place: np.ndarray, box: Bbox) -> np.ndarray:
    """The line from a point to the nearest edge of a name, at half of its height."""
    middle = (box.y0 + box.y1) / 2
    return np.array([place, np.clip(place, [box.x0, middle], [box.x1, middle])])


@dataclass
class _Room:
    """What is on the axes already, in pixels."""

    page: Bbox
    dots: list[Bbox]
    intervals: list[Bbox]
    names: list[Bbox] = field(default_factory=list)
    lines: list[np.ndarray] = field(default_factory=list)

    def add(self, chosen: _Candidate) -> None:
        """Add a name and the line to its point."""
        self.names.append(chosen.box)
        if chosen.is_far:
            self.lines.append(chosen.line)

    def price(self, candidate: _Candidate) -> float:
        """How bad a place is: its distance in points, and more for all that it covers or crosses."""
        box = candidate.box
        is_inside = (
            self.page.x0 <= box.x0
            and box.x1 <= self.page.x1
            and self.page.y0 <= box.y0
            and box.y1 <= self.page.y1
        )
        price = candidate.distance + _OUTSIDE * (not is_inside)
        price += _ON_NAME * box.count_overlaps([*self.names, *self.dots])
        price += _ON_INTERVAL * box.count_overlaps(self.intervals)
        price += _ON_LINE * sum(_crosses_box(line, box) for line in self.lines)
        if candidate.is_far:
            line = candidate.line
            price += _ON_LINE * sum(_crosses_box(line, name) for name in self.names)
            # The line begins in the dot of its own point.
            n_other_dots = sum(_crosses_box(line, dot) for dot in self.dots) - 1
            price += _ON_LINE * n_other_dots
            price += _ON_LINE * sum(_cross(line, other) for other in self.lines)
        return price


def _without_crossing_lines(chosen: Sequence[_Candidate], room: _Room) -> list[_Candidate]:
    """Exchange the places of two names whose lines cross, if there is room for both."""
    result = list(chosen)
    for first, second in combinations(range(len(result)), 2):
        pair = result[first], result[second]
        if not (pair[0].is_far and pair[1].is_far and _cross(pair[0].line, pair[1].line)):
            continue
        room_for_pair = replace(room, names=[], lines=[])
        for number, other in enumerate(result):
            if number not in (first, second):
                room_for_pair.add(other)
        exchanged = pair[0].moved_to(pair[1].box), pair[1].moved_to(pair[0].box)
        before, after = (sum(map(room_for_pair.price, both)) for both in (pair, exchanged))
        if after <= before + _ON_LINE:
            result[first], result[second] = exchanged
    return result


def _crosses_box(line: np.ndarray, box: Bbox) -> bool:
    """Whether a line crosses a box."""
    return bool(Path(line).intersects_bbox(box, filled=True))


def _cross(line: np.ndarray, other: np.ndarray) -> bool:
    """Whether two lines cross."""
    return bool(Path(line).intersects_path(Path(other), filled=False))


def _interval_boxes(ax: Axes, points: pd.DataFrame) -> list[Bbox]:
    """The places of the intervals of all points, in pixels."""
    boxes = []
    for row in points.to_dict("records"):
        ends = {
            "x": [(row["x_low"], row["y"]), (row["x_high"], row["y"])],
            "y": [(row["x"], row["y_low"]), (row["x"], row["y_high"])],
        }
        for line in ends.values():
            corners = ax.transData.transform(np.array(line, dtype=float))
            if np.isfinite(corners).all():
                boxes.append(Bbox(corners).padded(1.0))
    return boxes


def point_colours(points: pd.DataFrame, series: str) -> dict[Any, str]:
    """The colour of each point: its own one, or the same dark grey for many points."""
    groups = list(points[series])
    if len(groups) > _MOST_COLOURS:
        return dict.fromkeys(groups, "#404040")
    looks = looks_of(groups, series)
    return {group: looks[group]["color"] for group in groups}


def _mark_better(ax: Axes, better: tuple[bool, bool]) -> None:
    """Write in which corner the best systems are."""
    # The corner as shares of the axes: 1 where higher is better.
    x, y = (float(is_higher) for is_higher in better)
    arrows = {(True, True): "↗", (True, False): "↘", (False, True): "↖", (False, False): "↙"}
    words = f"better\N{NO-BREAK SPACE}{arrows[better]}"
    ax.annotate(
        words,
        (x, y),
        (-4 if x else 4, -4 if y else 4),
        xycoords="axes fraction",
        textcoords="offset points",
        ha="right" if x else "left",
        va="top" if y else "bottom",
        fontsize="small",
        color="0.45",
    )
