"""Choose systems, a metric, a protocol and conditions, and see the means, the figure and the responses."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from ipywidgets import HTML, Dropdown, HBox, Image, Layout, SelectMultiple, VBox
from traitlets import TraitError

from ragnb.arguments import accepts
from ragnb.columns import CONDITION, list_of_texts, require_columns
from ragnb.errors import InputError
from ragnb.figures.choose import plot_png
from ragnb.markup import Markup, join, tag
from ragnb.metrics.record import METRICS
from ragnb.metrics.rgb_protocols import PROTOCOLS
from ragnb.scoring.joined import with_scores
from ragnb.scoring.scores import score
from ragnb.scoring.summaries import summarize
from ragnb.widgets.frame_view import FrameView
from ragnb.widgets.pages import render, with_static

ALL = "all"
# The value of a control under which no condition is chosen. A control shows nothing for None.
_EVERY = ()
_LABELS = {"description_width": "initial"}
# Metrics of the four abilities of RGB, and of answers with references, if no metric is named.
RGB_METRICS = ("rgb.accuracy", "rgb.rejection", "rgb.error_detection")
ANSWER_METRICS = ("answer.exact_match", "answer.f1", "answer.contains")
RGB_TASKS = {"noise", "integration", "counterfactual"}
# Systems that fit into the list without a scroll bar.
_MOST_ROWS = 9


class Dashboard(VBox):
    """Controls above the means, the figure and the responses of what was chosen; see `dashboard`.

    Attributes
    ----------
    summary
        The means of the present choice, as `ragnb.summarize` returns them.
    responses
        The responses of the present choice, with a column for each score.
    """

    def __init__(
        self,
        responses: pd.DataFrame,
        metrics: str | Sequence[str] | None = None,
        *,
        scores: pd.DataFrame | None = None,
        protocols: str | Sequence[str] | None = None,
        **options: Any,
    ) -> None:
        require_columns(responses, ["system", "response"], "dashboard")
        if responses.empty:
            raise InputError("dashboard needs at least one response, got an empty frame")
        self._all = responses.reset_index(drop=True)
        self._options = options
        self._is_setting = False
        self._metrics = list_of_texts(metrics) or _default_metrics(self._all)
        # Protocol -> the scores, and the responses with them. Filled when a protocol is first chosen.
        self._scored_by_protocol: dict[str, tuple[pd.DataFrame, pd.DataFrame]] = {}
        if scores is not None:
            require_columns(scores, ["metric", "value", "signature"], "dashboard(scores=...)")
            self._metrics = list(scores["metric"].unique())
            self._scored_by_protocol[""] = (
                _aligned(self._all, scores),
                with_scores(self._all, scores),
            )
        self._build_controls(_protocols(self._metrics, protocols) if scores is None else [""])
        self._table, self._figure = HTML(), Image(format="png", layout=Layout(max_width="100%"))
        self._list = VBox()
        controls = [self._systems, self._metric, self._protocol, *self._conditions.values()]
        for control in controls:
            control.observe(self._update, "value")
        with_choice = [control for control in controls if len(control.options) > 1]
        self._update()
        super().__init__(
            [
                HBox(with_choice, layout=Layout(flex_flow="row wrap", grid_gap="8px")),
                HBox(
                    [self._table, self._figure],
                    # Otherwise the figure is stretched to the height of the table.
                    layout=Layout(flex_flow="row wrap", grid_gap="16px", align_items="flex-start"),
                ),
                self._list,
            ]
        )
        self.add_class("ragnb-dashboard")

    def _build_controls(self, protocols: list[str]) -> None:
        systems = [str(name) for name in self._all["system"].drop_duplicates()]
        rows = min(len(systems), _MOST_ROWS)
        self._systems = SelectMultiple(
            options=systems, value=systems, rows=rows, description="Systems", style=_LABELS
        )
        self._protocol = Dropdown(options=protocols, description="Protocol", style=_LABELS)
        self._metric = Dropdown(options=self._metrics, description="Metric", style=_LABELS)
        self._conditions: dict[str, Dropdown] = {}
        for name in CONDITION:
            if name == "system" or name not in self._all:
                continue
            values = self._all[name].dropna().unique().tolist()
            if len(values) > 1:
                choices = [(ALL, _EVERY), *((_word(value), value) for value in sorted(values))]
                label = name.replace("_", " ").capitalize()
                # A mean over several tasks has no meaning, so the first view shows one of them.
                first = values[0] if name == "task" else _EVERY
                self._conditions[name] = Dropdown(
                    options=choices, value=first, description=label, style=_LABELS
                )

    def choose(self, **choice: Any) -> None:
        """Set controls by name: ``systems`` (a list), ``metric``, ``protocol``, or a condition (None: all).

        >>> shown = Dashboard(pd.DataFrame({"system": ["a", "b"], "example_id": "q1",
        ...                                 "response": ["Oslo", "Rome"], "references": ["Oslo", "Oslo"]}))
        >>> shown.choose(metric="answer.f1", systems=["a"])
        >>> shown.summary["mean"].tolist()
        [1.0]
        """
        controls: dict[str, Any] = {
            "systems": self._systems,
            "metric": self._metric,
            "protocol": self._protocol,
            **self._conditions,
        }
        unknown = sorted(set(choice) - set(controls))
        if unknown:
            raise InputError(
                f"the controls are {', '.join(controls)}, got {', '.join(map(repr, unknown))}"
            )
        # The page is drawn once, after the last control was set.
        self._is_setting = True
        try:
            for name, value in choice.items():
                self._set(name, controls[name], value)
        finally:
            self._is_setting = False
            self._update()

    def _set(self, name: str, control: Any, value: Any) -> None:
        try:
            control.value = _EVERY if value is None else value
        except TraitError:
            # An option is a value, or a pair of its words and its value.
            values = [
                option[1] if isinstance(option, tuple) else option for option in control.options
            ]
            allowed = ", ".join("None" if value == _EVERY else repr(value) for value in values)
            raise InputError(f"{name} must be among {allowed}, got {value!r}") from None

    @property
    def _chosen_rows(self) -> np.ndarray:
        """Whether each response belongs to the present choice."""
        is_chosen = self._all["system"].astype(str).isin(self._systems.value).to_numpy(copy=True)
        for name, control in self._conditions.items():
            if control.value != _EVERY:
                is_chosen &= (self._all[name] == control.value).to_numpy()
        return is_chosen

    def _update(self, _: object = None) -> None:
        if self._is_setting:
            return
        scores, with_their_scores = self._scored(self._protocol.value)
        is_chosen = self._chosen_rows
        # `score` keeps the order of the responses, so each metric has one row per response.
        of_metric = scores[scores["metric"] == self._metric.value]
        selected = of_metric[is_chosen]
        self.responses = with_their_scores[is_chosen]
        for view in self._list.children:
            view.close()
        if selected.empty:
            self.summary = selected
            self._table.value = tag("p", "No response fits this choice.")
            self._figure.layout.display = "none"
            self._list.children = []
            return
        # Conditions that do not vary are in the controls and would repeat in every row.
        varying = [name for name in CONDITION if name in selected and selected[name].nunique() > 1]
        cells = list(dict.fromkeys(["system", *varying]))
        selected = _in_order(selected, cells)
        self.summary = summarize(selected, by=cells, cluster=self._cluster(selected, cells))
        self._table.value = self.summary._repr_html_() or ""
        self._figure.value = plot_png(self.summary)
        self._figure.layout.display = ""
        self._list.children = [FrameView(self.responses)]

    def _cluster(self, selected: pd.DataFrame, cells: list[str]) -> str | None:
        """The questions as clusters if a cell contains a question several times, such as in repeats."""
        keys = [*cells, "example_id"]
        repeats = "example_id" in selected and selected.duplicated(keys).any()
        return "example_id" if repeats else None

    def _scored(self, protocol: str) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Scores under a protocol, and the responses with them; computed when they are first needed."""
        if protocol not in self._scored_by_protocol:
            options = {**self._options, "protocol": protocol} if protocol else self._options
            scores = score(self._all, self._metrics, **options)
            self._scored_by_protocol[protocol] = scores, with_scores(self._all, scores)
        return self._scored_by_protocol[protocol]

    def __repr__(self) -> str:
        return f"Dashboard({len(self._all)} responses, {len(self._systems.options)} systems)"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Add the table, the figure and the first responses, for pages where no kernel runs."""
        pieces = [tag("p", self._choice_in_words()), Markup(self._table.value)]
        if self._figure.value and self._list.children:
            data = base64.b64encode(self._figure.value).decode("ascii")
            source = f"data:image/png;base64,{data}"
            pieces.append(tag("img", src=source, alt=f"Means of {self._metric.value}"))
            pieces.append(self._list.children[0].static_html())
        bundle = super()._repr_mimebundle_(**options)
        html = render("page.html", content=join(pieces))
        return with_static(bundle, {"text/plain": repr(self), "text/html": html})

    def _choice_in_words(self) -> str:
        words = [f"Systems: {', '.join(self._systems.value)}", f"metric: {self._metric.value}"]
        if len(self._protocol.options) > 1:
            words.append(f"protocol: {self._protocol.value}")
        for name, control in self._conditions.items():
            value = ALL if control.value == _EVERY else _word(control.value)
            words.append(f"{name.replace('_', ' ')}: {value}")
        return "; ".join(words)


@accepts()
def dashboard(
    responses: pd.DataFrame,
    metrics: str | Sequence[str] | None = None,
    *,
    scores: pd.DataFrame | None = None,
    protocols: str | Sequence[str] | None = None,
    **options: Any,
) -> Dashboard:
    """Choose systems, a metric, a protocol and conditions, and see means, figure and responses.

    Parameters
    ----------
    responses
        One row per response, of any number of systems.
    metrics
        Names of the metrics to choose from. By default those of the abilities of RGB if the responses
        belong to its tasks, and otherwise exact match, F1 and containment.
    scores
        Scores of these responses, if you have them already. Nothing is scored then.
    protocols
        Definitions to choose from, if the metrics have the option ``protocol``; by default all of
        `ragnb.metrics.PROTOCOLS`.
    options
        Other options of the metrics, as for `ragnb.score`.

    Returns
    -------
    Dashboard
        Controls above a table of means with intervals, their figure, and the list of responses. If there are
        several tasks, the first view shows the first of them. Every response is scored once per protocol, when
        the protocol is first chosen. In a saved notebook and on a page without a kernel, the last choice is
        shown.

    Raises
    ------
    InputError
        The columns ``system`` and ``response`` are missing, or `ragnb.score` raises the error.

    Examples
    --------
    >>> import ragnb
    >>> dashboard(ragnb.load_study("sample-labelled-en"))  # doctest: +SKIP
    """
    return Dashboard(responses, metrics, scores=scores, protocols=protocols, **options)


def _default_metrics(responses: pd.DataFrame) -> list[str]:
    tasks = set(responses["task"].dropna()) if "task" in responses else set()
    return list(RGB_METRICS if tasks & RGB_TASKS else ANSWER_METRICS)


def _protocols(metrics: Sequence[str], protocols: str | Sequence[str] | None) -> list[str]:
    """The protocols to choose from; one empty name for metrics without protocols."""
    records = [METRICS[name] for name in metrics if name in METRICS]
    if not any("protocol" in record.options for record in records):
        return [""]
    return list_of_texts(protocols) or list(PROTOCOLS)


def _aligned(responses: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """The scores in the order of the responses, one row per response and metric."""
    joined = with_scores(responses, scores)
    signatures = scores.groupby("metric")["signature"].first()
    frames = [
        responses.drop(columns=scores["metric"].unique(), errors="ignore").assign(
            metric=metric, value=joined[metric], reason=None, signature=signatures[metric]
        )
        for metric in scores["metric"].unique()
    ]
    return pd.concat(frames, ignore_index=True)


def _in_order(scores: pd.DataFrame, cells: list[str]) -> pd.DataFrame:
    """The columns of scores that a summary needs, sorted by numbers, and by first occurrence of texts."""
    needed = [*cells, "example_id", "conversation_id", "metric", "value", "reason", "signature"]
    scores = scores[[name for name in dict.fromkeys(needed) if name in scores]]
    places = [
        pd.factorize(scores[name], sort=pd.api.types.is_numeric_dtype(scores[name]))[0]
        for name in cells
    ]
    return scores.iloc[np.lexsort(places[::-1])]


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
