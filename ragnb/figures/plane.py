"""Two means of each system against each other: what one costs in terms of the other."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn.objects as so
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.transforms import Bbox

from ragnb.figures.means import draw_on
from ragnb.figures.page import looks_of, text_colour, text_width
from ragnb.figures.words import words_for

# Directions and distances in points at which the name of a point may lie, the preferred ones first.
_DIRECTIONS = ((1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1))
_DISTANCES = (5.5, 12.0, 20.0, 30.0, 42.0)
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
    page = ax.get_window_extent()
    points = points.dropna(subset=["x", "y"])
    places = ax.transData.transform(points[["x", "y"]].to_numpy(float))
    # No name may cover a point, or a name that is there already.
    radius = 4 * pixels
    obstacles = [Bbox.from_extents(*(place - radius), *(place + radius)) for place in places]
    intervals = _interval_boxes(ax, points)
    colours = point_colours(points, series)
    for place, row in zip(places, points.to_dict("records"), strict=True):
        name = words_for(row[series], names, column=series)
        size = text_width(name, font) * pixels, font.get_size_in_points() * pixels
        box, distance = _free_box(place, size, [*obstacles, *intervals], page, pixels)
        has_no_room = not distance
        if has_no_room or distance > _DISTANCES[1]:
            # It is better to write on an interval than on another name, or far from the point.
            box, distance = _free_box(place, size, obstacles, page, pixels)
        obstacles.append(box)
        is_far = distance > _DISTANCES[0]
        x, y = ax.transData.inverted().transform((box.x0, (box.y0 + box.y1) / 2))
        ax.annotate(
            name,
            (row["x"], row["y"]),
            (x, y),
            ha="left",
            va="center_baseline",
            fontsize="small",
            color=text_colour(colours[row[series]]),
            arrowprops={"arrowstyle": "-", "color": "0.6", "lw": 0.5} if is_far else None,
        )


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


def _free_box(
    place: np.ndarray,
    size: tuple[float, float],
    obstacles: Sequence[Bbox],
    page: Bbox,
    pixels: float,
) -> tuple[Bbox, float]:
    """The nearest free box for a text of a size around a point, and its distance in points.

    If there is none, the box is at the point, and the distance is 0. ``pixels`` is the number of pixels
    per point.
    """
    width, height = size
    for distance in _DISTANCES:
        for right, up in _DIRECTIONS:
            middle = place + distance * pixels * np.array([right, up])
            # A text right of the point begins there, and one left of it ends there.
            left = middle[0] - width * (1 - right) / 2
            box = Bbox.from_bounds(left, middle[1] - height / 2, width, height)
            is_in_width = page.x0 <= box.x0 and box.x1 <= page.x1
            is_in_height = page.y0 <= box.y0 <= page.y1 - height
            if is_in_width and is_in_height and not box.count_overlaps(obstacles):
                return box, distance
    return Bbox.from_bounds(place[0], place[1], width, height), 0.0


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
