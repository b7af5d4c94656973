"""One call from a result to its figure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ragnb.annotation.class_report import AnnotationReport
from ragnb.annotation.tag_report import ErrorReport
from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.experiments.before_after import Changes
from ragnb.figures.ensemble_forms import deferral_figure, splits_figure
from ragnb.figures.fonts import use_fonts_for_all_characters
from ragnb.figures.forms import (
    Drawn,
    changes_figure,
    curves_figure,
    differences_figure,
    distribution_figure,
    matrix_figure,
    means_figure,
    means_of,
    outcomes_figure,
    plane_figure,
    ranks_figure,
    reliability_figure,
)
from ragnb.figures.means import varying
from ragnb.figures.page import Page, width_in_inches
from ragnb.figures.plan_forms import (
    counts_figure,
    efficiency_figure,
    half_widths_figure,
    net_benefit_figure,
    power_figure,
    ranges_figure,
    worth_figure,
)
from ragnb.figures.report_forms import (
    agreement_figure,
    annotation_figure,
    errors_figure,
    failures_figure,
    figure_of,
    grades_figure,
    judge_bias_figure,
    rgb_figure,
    risk_coverage_figure,
    sensitivity_figure,
)
from ragnb.figures.styles import FORMATS, save_figure, style
from ragnb.forwarding import passes_options_to
from ragnb.reports.abstention import RiskCoverageReport
from ragnb.reports.definitions import DefinitionComparison
from ragnb.reports.failures import FailureReport
from ragnb.reports.judge import JudgeReport
from ragnb.reports.multilingual import MultilingualReport
from ragnb.reports.rgb import RgbReport
from ragnb.reports.sensitivity import Sensitivity
from ragnb.reports.trace import TraceReport

Result: TypeAlias = (
    pd.DataFrame
    | AnnotationReport
    | Changes
    | DefinitionComparison
    | ErrorReport
    | FailureReport
    | JudgeReport
    | MultilingualReport
    | RgbReport
    | RiskCoverageReport
    | Sensitivity
    | TraceReport
)


@dataclass(frozen=True)
class Form:
    """A kind of figure: the function that draws it, and the options that it has besides those of all."""

    draw: Callable[[Any, Page], Drawn]
    options: tuple[str, ...] = ()


MEANS = Form(means_figure, ("reference", "rows", "series"))
CURVES = Form(curves_figure, ("reference", "published", "series", "along"))
KINDS = {
    "means": MEANS,
    "curves": CURVES,
    "differences": Form(differences_figure, ("others",)),
    "ranks": Form(ranks_figure),
    "plane": Form(plane_figure),
    "distribution": Form(distribution_figure, ("reference", "series")),
    "outcomes": Form(outcomes_figure),
    "matrix": Form(matrix_figure),
    "splits": Form(splits_figure, ("reference", "ranges", "rows", "series")),
    "counts": Form(counts_figure, ("rows", "series")),
    "ranges": Form(ranges_figure, ("reference", "rows")),
}
# Reports that have a figure of their own.
_OF_REPORTS: dict[type, Form] = {
    AnnotationReport: Form(annotation_figure),
    Changes: Form(changes_figure),
    JudgeReport: Form(judge_bias_figure),
    RgbReport: Form(rgb_figure),
    ErrorReport: Form(errors_figure),
    FailureReport: Form(failures_figure),
    RiskCoverageReport: Form(risk_coverage_figure),
    Sensitivity: Form(sensitivity_figure),
}
# Columns by which a frame is recognised, and its figure. The first that fits counts, because a frame may have
# the columns of several.
_OF_FRAMES: list[tuple[set[str], Form]] = [
    ({"spearman", "grade"}, Form(grades_figure)),
    ({"estimator", "gain", "cost"}, Form(efficiency_figure, ("reference",))),
    ({"price", "net_benefit"}, Form(net_benefit_figure, ("reference",))),
    ({"n_pairs", "discordance", "mde"}, Form(power_figure, ("reference",))),
    ({"n_labels", "half_width"}, Form(half_widths_figure, ("reference",))),
    ({"judge", "worth"}, Form(worth_figure, ("reference", "rows", "series"))),
    ({"least", "most"}, KINDS["ranges"]),
    ({"mean_predicted", "observed"}, Form(reliability_figure)),
    ({"hallucination", "over_refusal"}, KINDS["plane"]),
    ({"pair", "field"}, Form(agreement_figure, ("reference",))),
    ({"judge", "n_systems"}, Form(agreement_figure, ("reference",))),
    ({"judge", "by", "group", "difference"}, Form(judge_bias_figure)),
    ({"difference", "baseline"}, KINDS["differences"]),
    ({"share", "accuracy", "point"}, Form(deferral_figure, ("reference", "along", "series"))),
    ({"split", "value"}, KINDS["splits"]),
]


@accepts()
def plot(
    result: Result,
    *,
    kind: str | None = None,
    title: str = "",
    names: Mapping[Any, str] | None = None,
    width: str | float = "column",
    save: str | Path | None = None,
    reference: float | Mapping[str, float | tuple[float, float] | pd.DataFrame] | None = None,
    published: pd.DataFrame | None = None,
    rows: str | Sequence[str] | None = None,
    series: str | None = None,
    along: str | None = None,
    note: str = "",
) -> Axes | np.ndarray:
    """Draw a result with the figure that fits it.

    Parameters
    ----------
    result
        Scores of `ragnb.score` or `ragnb.load_scores`, which are summarized first; summaries of
        `ragnb.summarize`; comparisons of `ragnb.compare`; or the result of `ragnb.rgb_report`,
        `ragnb.trace_report`, `ragnb.multilingual_report`, `ragnb.judge_report`,
        `ragnb.abstention_report`, `ragnb.reports.risk_coverage_report`, `ragnb.graded_report`,
        `ragnb.changes`, `ragnb.reports.scores_by_grade`, `ragnb.agreement`, `ragnb.annotation_report`,
        `ragnb.error_report`,
        `ragnb.compare_definitions`, `ragnb.reports.efficiency`, `ragnb.stats.reliability_curve`,
        `ragnb.reports.cost_effectiveness`, `ragnb.reports.judge_worth`, `ragnb.stats.net_benefit_curve`,
        `ragnb.stats.detectable_effects`, `ragnb.stats.expected_half_widths`, `ragnb.ensemble.deferral_curve` or
        `ragnb.ensemble.deferral_point`. Means that you computed yourself are in the column ``mean``,
        with ``low``, ``high``, ``interval`` and ``confidence_level`` if they have intervals.
    kind
        The figure, if the result allows several. By default, the one that fits:

        - ``"means"``: a dot with its interval for each mean, and linked dots for two systems;
        - ``"curves"``: means along a condition such as the noise rate, or along another column of
          numbers that ``along`` names. A band shows the bounds if some responses are unscored;
        - ``"differences"``: paired differences with their intervals, of comparisons;
        - ``"ranks"``: the rank of each system along metrics or definitions;
        - ``"plane"``: two metrics against each other;
        - ``"distribution"``: the scores of each system, of one metric;
        - ``"outcomes"``: the questions that both, one or none of two systems have right, as areas;
        - ``"matrix"``: the agreement of each pair of annotators, of one field and measure;
        - ``"splits"``: a number such as the coverage in each of several random splits of the data,
          from a frame with the columns ``split`` and ``value``;
        - ``"counts"``: how many responses of each kind there are, as bars. ``rows`` and ``series``
          name the columns that are counted, of any table with one row per response;
        - ``"ranges"``: what is possible in each row, from the column ``least`` to the column ``most``.
    title
        What the figure shows, in bold above it.
    names
        How systems, metrics and other values are written, such as ``{"fid": "FiD"}``. The words for
        metrics are those of the field by default.
    width
        ``"column"`` (3.03 inches, one column of ACL's style), ``"text"`` (6.3 inches), the name of a
        paper of `ragnb.figures.PAPERS` for one of its columns, or a number of inches.
    save
        Path without an ending: the figure is saved as PDF, SVG and PNG, and its numbers as JSON.
        With one of these endings, only that file is saved.
    reference
        Value to mark by a dashed line, or several by their names, such as ``{"gate": 0.7}``. A
        figure of splits also marks a range, such as ``{"expected": (0.93, 0.97)}``. A figure of
        differences marks other comparisons of the same systems, such as ``{"all questions":
        comparisons}``.
    published
        Published means that are drawn in grey behind curves; see `ragnb.published`.
    rows, series
        Columns of the table of means: those that name the rows, and the one whose values share a row
        in different colours. By default, they are chosen from what varies. Curves and distributions
        have no rows.
    along
        Column of numbers along which curves are drawn. The noise rate by default.
    note
        Remark on the data. It is saved with the numbers.

    Returns
    -------
    Axes or ndarray of Axes
        The axes, on which matplotlib can go on. The small print above them states the kind of the
        intervals, n, and the definition of the metric. A report on several of RGB's abilities
        becomes one figure of all four, with the published models in grey.

    Raises
    ------
    InputError
        The frame is empty or of another kind, the kind of figure does not fit it or has no such
        option, or `ragnb.summarize` refuses the scores.

    Examples
    --------
    >>> rows = {"system": ["a", "b"], "example_id": "q1", "metric": "m", "signature": "s"}
    >>> ax = plot(pd.DataFrame(rows | {"value": [0.25, 0.5]}), title="B is better")
    >>> ax.get_xlabel(), ax.figure.texts[0].get_text()
    ('m (mean)', 'B is better')
    """
    values, ranges, others = _references(reference)
    row_columns = [rows] if isinstance(rows, str) else rows
    page = Page(
        title=title,
        names=dict(names or {}),
        width=width,
        reference=values,
        published=published,
        rows=row_columns,
        series=series,
        along=along,
        ranges=ranges,
        others=others,
    )
    # This refuses a wrong width before anything is computed.
    width_in_inches(width)
    axes, numbers = _draw(result, kind, page)
    if save is not None:
        _save(figure_of(axes), Path(save), numbers, note)
    return axes


def _references(
    reference: float | Mapping[str, float | tuple[float, float] | pd.DataFrame] | None,
) -> tuple[dict[str, float], dict[str, tuple[float, float]], dict[str, pd.DataFrame]]:
    """The values, the ranges and the comparisons that are marked, by their names."""
    if reference is None:
        return {}, {}, {}
    if isinstance(reference, int | float):
        return {f"{reference:g}": reference}, {}, {}
    values, ranges, others = {}, {}, {}
    for name, value in reference.items():
        if isinstance(value, pd.DataFrame):
            others[name] = value
        elif isinstance(value, int | float | np.number):
            values[name] = float(value)
        else:
            low, high = value
            ranges[name] = (float(low), float(high))
    return values, ranges, others


@style()
def _draw(result: Result, kind: str | None, page: Page) -> Drawn:
    """Draw a result as a kind of figure, or as the kind that fits it."""
    if kind is not None and kind not in KINDS:
        raise InputError(f"kind must be one of {', '.join(map(repr, KINDS))}, got {kind!r}")
    form = _fitting(result, page) if kind is None else KINDS[kind]
    for option in ("reference", "ranges", "others", "published", "rows", "series", "along"):
        value = getattr(page, option)
        is_used = value is not None and len(value) > 0
        if is_used and option not in form.options:
            figure = f"a figure of the kind {kind!r}" if kind else "the figure of this result"
            # The user passes these two in reference=.
            arguments = {"ranges": "ranges in reference=", "others": "comparisons in reference="}
            argument = arguments.get(option, f"{option}=")
            raise InputError(f"{figure} has no {argument}; leave it out")
    axes, numbers = form.draw(result, page)
    use_fonts_for_all_characters(figure_of(axes))
    return axes, numbers


def _fitting(result: Any, page: Page) -> Form:
    """The figure of a result if no kind is asked for."""
    if type(result) in _OF_REPORTS:
        return _OF_REPORTS[type(result)]
    columns = {*getattr(result, "columns", ())}
    for needed, form in _OF_FRAMES:
        if needed <= columns:
            return form
    is_curve = "noise_rate" in varying(means_of(result)) and page.rows is None
    return CURVES if is_curve or page.along else MEANS


@accepts()
@passes_options_to(plot, without=["save"])
def save_plot(result: Result, path: str | Path, **options: Any) -> Path:
    """Draw a result and save the figure as ``.pdf``, ``.svg`` or ``.png``; return the path.

    Parameters
    ----------
    result
        See `plot`.
    path
        The file to write.
    **options
        Arguments for `plot`.
    """
    path = Path(path)
    if path.suffix.lower()[1:] not in FORMATS:
        raise InputError(f"a figure must end in .{', .'.join(FORMATS)}, got {str(path)!r}")
    plt.close(figure_of(plot(result, save=path, **options)))
    return path


def _save(figure: Figure, path: Path, numbers: pd.DataFrame, note: str) -> None:
    """Save a figure under a name in all formats with its numbers, or in the format of its ending."""
    if path.suffix.lower()[1:] in FORMATS:
        path.parent.mkdir(parents=True, exist_ok=True)
        with style():
            figure.savefig(path, dpi=200)
        return
    save_figure(figure, path.name, numbers, folder=path.parent, note=note, trim=False)


@style()
def plot_png(result: Result) -> bytes:
    """Draw a result and return the figure as PNG."""
    figure = figure_of(plot(result))
    figure.set_dpi(130)
    # savefig would arrange the figure twice.
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    content = BytesIO()
    plt.imsave(content, np.asarray(canvas.buffer_rgba()), format="png", dpi=130)
    plt.close(figure)
    return content.getvalue()
