"""The agreement of each pair of annotators or judges, as a matrix."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from ragnb.figures.words import words_for


def square(pairs: pd.DataFrame, names: Mapping[Any, str] | None = None) -> pd.DataFrame:
    """The means of a frame with the columns ``first`` and ``second``, as a symmetric matrix.

    The raters are sorted by their mean agreement, so that those that agree lie together.
    """
    raters = list(dict.fromkeys([*pairs["first"], *pairs["second"]]))
    values = pd.DataFrame(np.nan, index=raters, columns=raters)
    for row in pairs.itertuples():
        values.loc[row.first, row.second] = values.loc[row.second, row.first] = row.mean
    order = values.mean().sort_values(ascending=False, kind="stable").index
    words = [words_for(rater, names) for rater in order]
    return values.loc[order, order].set_axis(words, axis=0).set_axis(words, axis=1)


def draw_matrix(ax: Axes, values: pd.DataFrame) -> None:
    """Draw the part of a symmetric matrix below its diagonal, with its values."""
    lower = values.iloc[1:, :-1]
    hidden = np.triu(np.ones(lower.shape, dtype=bool), k=1)
    lowest = min(0.0, float(np.nanmin(lower.to_numpy())))
    sns.heatmap(
        lower,
        mask=hidden | lower.isna().to_numpy(),
        ax=ax,
        annot=True,
        fmt=".2f",
        cmap="Blues",
        vmin=lowest,
        vmax=1,
        cbar=False,
        square=True,
        linewidths=1,
        annot_kws={"fontsize": "small"},
    )
    ax.tick_params(length=0)
    ax.tick_params(axis="y", rotation=0)
    for label in ax.get_xticklabels():
        label.set(rotation=40, ha="right", rotation_mode="anchor")
    ax.set(xlabel="", ylabel="")
    ax.grid(visible=False)
