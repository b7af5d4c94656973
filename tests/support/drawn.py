"""What a figure shows: its texts, and the places of its dots."""

from matplotlib.collections import PathCollection


def small_print(ax):
    """What stands above all axes of a figure of `ragnb.plot`, as one line."""
    return " ".join(text.get_text() for text in ax.figure.texts).replace("\n", " ")


def row_labels(ax):
    """The names of the rows, from the top."""
    ticks = sorted(
        zip(ax.get_yticks(), ax.get_yticklabels(), strict=True),
        reverse=True,
        key=lambda tick: tick[0],
    )
    return [label.get_text().replace("\n", " ") for _, label in ticks]


def names(ax):
    """The texts on the axes and in their legend."""
    legend = ax.get_legend()
    texts = [*ax.texts, *(legend.get_texts() if legend else ())]
    return [text.get_text() for text in texts]


def dots(ax):
    """Horizontal places of the dots of each series."""
    series = [artist for artist in ax.collections if isinstance(artist, PathCollection)]
    return [collection.get_offsets()[:, 0].tolist() for collection in series]
