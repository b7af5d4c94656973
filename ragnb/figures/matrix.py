"""The agreement of each pair of annotators or judges, as a matrix."""

# Tested in tests/figures/test_choose.py.

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from ragnb.figures.words import words_for


def square(
    pairs: pd.DataFrame, names: Mapping[Any, str] | None = None, column: str = "mean"
) -> pd.DataFrame:
    """A column of a frame with the columns ``first``, ``second`` and ``mean``, as a symmetric matrix.

    The raters are sorted by their mean agreement, so that those that agree lie together.
    """
    raters = list(dict.fromkeys([*pairs["first"], *pairs["second"]]))
    values = pd.DataFrame(np.nan, index=raters, columns=raters)
    means = values.copy()
    for row in pairs.to_dict("records"):
        first, second = row["first"], row["second"]
        means.loc[first, second] = means.loc[second, first] = row["mean"]
        values.loc[first, second] = values.loc[second, first] = row[column]
    order = means.mean().sort_values(ascending=False, kind="stable").index
    words = [words_for(rater, names) for rater in order]
    return values.loc[order, order].set_axis(words, axis=0).set_axis(words, axis=1)


def draw_matrix(ax: Axes, values: pd.DataFrame, sizes: pd.DataFrame | None = None) -> None:
    """Draw the part of a symmetric matrix below its diagonal, with its values and the sizes below them."""
    lower = values.iloc[1:, :-1]
    hidden = np.triu(np.ones(lower.shape, dtype=bool), k=1)
    lowest = min(0.0, float(np.nanmin(lower.to_numpy())))
    texts = lower.map("{:z.2f}".format)
    if sizes is not None:
        texts += "\n" + sizes.loc[lower.index, lower.columns].map("{:.0f}".format)
    sns.heatmap(
        lower,
        mask=hidden | lower.isna().to_numpy(),
        ax=ax,
        annot=texts,
        fmt="",
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
