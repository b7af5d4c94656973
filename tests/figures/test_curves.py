import json

import pandas as pd
import pytest

from ragnb.errors import InputError
from ragnb.figures import interval_note, plot_distribution, plot_noise_curve, save_figure


@pytest.fixture
def summaries(noise_summaries):
    return noise_summaries(a=0.9, b=0.7)


def bars(ax):
    return [container for container in ax.containers if container.has_yerr]


def test_every_estimate_has_its_interval_and_points_are_sorted(summaries):
    ax = plot_noise_curve(summaries)
    assert len(bars(ax)) == 2
    line, _, (segments,) = bars(ax)[0]
    assert list(line.get_ydata()) == pytest.approx([0.9, 0.7, 0.5])
    first = segments.get_segments()[0]
    assert first[:, 1] == pytest.approx([0.8, 0.95])


def test_kind_of_interval_and_n_are_on_the_figure(summaries):
    assert plot_noise_curve(summaries).get_title(loc="left") == "95% Wilson intervals, n = 60"
    assert interval_note(summaries.assign(n_scored=[60, 60, 60, 58, 60, 60])).endswith("n = 58-60")


def test_published_curves_stand_behind_and_are_named(summaries):
    published = pd.DataFrame(
        {
            "system": ["P"] * 2,
            "noise_rate": [0.0, 0.8],
            "mean": [0.9, 0.6],
            "low": 0.5,
            "high": 0.95,
            "n": [300, 300],
        }
    )
    ax = plot_noise_curve(summaries, published=published)
    assert "P" in [text.get_text() for text in ax.texts]
    assert [0.9, 0.6] in [list(line.get_ydata()) for line in ax.lines]


def test_saving_gives_four_files_the_same_twice(summaries, tmp_path):
    contents = []
    for folder in ("one", "two"):
        paths = save_figure(
            plot_noise_curve(summaries).figure, "f", summaries, folder=tmp_path / folder, note="é"
        )
        assert [path.suffix for path in paths] == [".pdf", ".svg", ".png", ".json"]
        contents.append([path.read_bytes() for path in paths])
    assert contents[0] == contents[1]
    numbers = json.loads(contents[0][3])
    assert numbers["note"] == "é"
    assert numbers["signatures"] == ["ragnb:0|metric:m"]
    assert len(numbers["numbers"]) == len(summaries)


@pytest.mark.parametrize("column", ["language", "metric"])
def test_several_estimates_are_not_drawn_as_one_line(summaries, column):
    both = pd.concat(
        [
            summaries.assign(**{column: "one"}),
            summaries.assign(**{column: "two"}, mean=0.3, low=0.2, high=0.4),
        ]
    )
    with pytest.raises(
        InputError,
        match="plot_noise_curve needs one rate for each system and noise_rate; got several; .*line=",
    ):
        plot_noise_curve(both)
    with pytest.raises(
        InputError,
        match=r"published=\.\.\.\) needs one rate for each system and noise_rate; got several; choose",
    ):
        plot_noise_curve(summaries, published=both.assign(n=60))
    drawn = plot_noise_curve(both[both["system"] == "a"], line=column)
    assert [list(container[0].get_ydata()) for container in bars(drawn)] == [
        pytest.approx([0.9, 0.7, 0.5]),
        [0.3] * 3,
    ]


def test_a_distribution_names_n_median_and_range():
    ax = plot_distribution(pd.DataFrame({"x": [1.0, 2.0, 2.0, None, 9.0]}), "x")
    assert ax.get_title(loc="left") == "n = 4, median 2 (dashed), range 1 to 9"
    assert sum(bar.get_height() for bar in ax.patches) == 4


def test_every_figure_of_a_notebook_is_shown_not_only_the_first():
    import nbformat
    from nbclient import NotebookClient

    draw = (
        "from ragnb.figures import plot_power\nax = plot_power([10, 100], {'a': 0.1})\ndone = True"
    )
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(draw) for _ in range(2)])
    NotebookClient(book, kernel_name="python3").execute()
    assert [[output.output_type for output in cell.outputs] for cell in book.cells] == [
        ["display_data"]
    ] * 2
