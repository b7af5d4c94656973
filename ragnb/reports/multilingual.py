"""The seven metrics of multilingual answers: accuracy, language, cost, what the cost bought, and meaning."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ragnb.errors import InputError, check_choice
from ragnb.markup import Markup, join, tag
from ragnb.metrics.normalization import VARIANTS
from ragnb.records import column_names, require_columns
from ragnb.reports import efficiency
from ragnb.scoring.bridges import CNBE, COST, F1, bridging
from ragnb.scoring.comparisons import compare
from ragnb.scoring.mixed import MixedModelResult, mixed_model
from ragnb.scoring.scores import score
from ragnb.scoring.summaries import summarize

SIMILARITY = "semantic.judged_similarity"


class _Field(NamedTuple):
    """One of the seven: its key in metrics.json, its abbreviation, the metric, how it is printed, its interval."""

    key: str
    label: str
    metric: str
    digits: int
    interval: str


FIELDS = (
    _Field("em", "EM", "answer.exact_match", 3, "wilson"),
    _Field("f1", "F1", F1, 3, "t"),
    _Field("rlc", "RLC", "language.rlc", 3, "t"),
    _Field("rlc_ok", "RLC_OK", "language.rlc_ok", 3, "wilson"),
    _Field("cost", "Cost", COST, 1, "t"),
    _Field("cnbe", "CNBE", CNBE.name, 5, "t"),
    _Field("semantic_score", "Sem", SIMILARITY, 3, "t"),
)
"""The seven metrics, in the order in which they are printed."""

_COLUMNS = (
    "mean",
    "std",
    "low",
    "high",
    "interval",
    "confidence_level",
    "n",
    "n_scored",
    "signature",
)


@dataclass(frozen=True, slots=True)
class MultilingualReport:
    """The seven metrics of some systems under one variant.

    Attributes
    ----------
    variant
        ``"unicode"`` or ``"lbrag"``.
    baseline
        The system that CNBE is measured against.
    table
        One row a system and metric: ``mean``, ``std`` (of the sample, n - 1; nan of a single value), ``low, high, interval,
        confidence_level``, ``n, n_scored`` and ``signature``. A metric that was never asked for has n 0 and no mean.
    cells
        The same by the columns of ``by``; empty without them.
    scores
        The values behind it, one row a response and metric, as `ragnb.compare` takes them. A similarity that ``lbrag``
        counts as 0.0 keeps the reason why there is none.
    """

    variant: str
    baseline: str
    table: pd.DataFrame
    cells: pd.DataFrame
    scores: pd.DataFrame

    def lines(self) -> list[str]:
        """Each system in one line as LBRAG prints it: mean±standard deviation of all but RLC_OK."""
        return [_line(system, rows) for system, rows in _by_system(self.table)]

    def metrics_json(self, path: str | Path | None = None) -> dict[str, Any]:
        """The content of LBRAG's metrics.json, and the intervals; written to `path` where there is one.

        Under ``metrics`` the means, standard deviations and ``n`` of each system; under ``intervals``, by the same names,
        ``[low, high, kind, n_scored]``. What is undefined is None, ``null`` in the file.
        """
        systems = dict(_by_system(self.table))
        content = {
            "metrics": {system: _as_published(rows) for system, rows in systems.items()},
            "intervals": {system: _as_intervals(rows) for system, rows in systems.items()},
        }
        if path is not None:
            text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False)
            Path(path).write_text(text + "\n", encoding="utf-8")
        return content

    def efficiency(self, *, confidence_level: float = 0.95) -> pd.DataFrame:
        """F1 gained per translated token in four readings, see `ragnb.reports.efficiency.efficiency`."""
        return efficiency.efficiency(
            self.scores, baseline=self.baseline, confidence_level=confidence_level
        )

    def ratio_differences(self, *, confidence_level: float = 0.95) -> pd.DataFrame:
        """The systems' ratios against each other, see `ragnb.reports.efficiency.ratio_differences`."""
        return efficiency.ratio_differences(
            self.scores, baseline=self.baseline, confidence_level=confidence_level
        )

    def benefits(self, prices: Sequence[float], *, confidence_level: float = 0.95) -> pd.DataFrame:
        """Net benefit and acceptability at some prices of a token, see `ragnb.reports.efficiency.benefits`."""
        return efficiency.benefits(
            self.scores, prices, baseline=self.baseline, confidence_level=confidence_level
        )

    def incremental(self) -> pd.DataFrame:
        """The frontier of the systems from the cheapest up, see `ragnb.reports.efficiency.incremental`."""
        return efficiency.incremental(self.scores, baseline=self.baseline)

    def ranks(
        self, *, rng: np.random.Generator, metric: str = F1, confidence_level: float = 0.95
    ) -> pd.DataFrame:
        """Where each system stands and how sure that is, see `ragnb.reports.efficiency.ranks`."""
        return efficiency.ranks(
            self.scores, rng=rng, metric=metric, confidence_level=confidence_level
        )

    def comparisons(
        self,
        *,
        metric: str = F1,
        by: Sequence[str] = (),
        confidence_level: float = 0.95,
        **options: Any,
    ) -> pd.DataFrame:
        """Every pair of systems under a metric, with shared questions as clusters; options as `ragnb.compare` has them."""
        rows = self.scores[self.scores["metric"] == metric]
        scores, cluster = _clustered(rows, ["system", *by])
        own: dict[str, Any] = {
            "metrics": metric,
            "by": list(by),
            "cluster": cluster,
            "confidence_level": confidence_level,
        }
        return compare(scores, **own, **options)

    def mixed_model(
        self,
        *,
        metric: str = F1,
        baseline: str | None = None,
        interaction: bool = False,
        confidence_level: float = 0.95,
    ) -> MixedModelResult:
        """All systems and languages in one model, with a random question, see `ragnb.scoring.mixed.mixed_model`."""
        return mixed_model(
            self.scores,
            metric=metric,
            baseline=baseline or self.baseline,
            interaction=interaction,
            confidence_level=confidence_level,
        )

    def __repr__(self) -> str:
        systems = ", ".join(map(str, self.table["system"].unique()))
        return f"MultilingualReport({self.variant!r}: {systems})"

    def _repr_html_(self) -> str:
        tables = [table for table in (self.table, self.cells) if len(table)]
        return join([*(_as_html(table) for table in tables), _notes(self)])


def multilingual_report(
    responses: pd.DataFrame,
    *,
    variant: str = "unicode",
    baseline: str = "direct",
    by: str | Sequence[str] | None = None,
    confidence_level: float = 0.95,
) -> MultilingualReport:
    """EM, F1, RLC, RLC_OK, cost, CNBE and judged similarity of every system, with spread, interval and denominator.

    Parameters
    ----------
    responses
        One row a response: ``example_id, system, language, response, references``. ``translations`` is the translated
        passages: ``[]`` costs 0, None is an unknown cost. ``judged_similarity`` is a judge's score; a system without any
        (and without a ``judge_reason``) was not judged. ``question_id`` is what a question keeps in all its languages.
    variant
        ``"unicode"``, or ``"lbrag"``: as the published runs were scored. There the CNBE of a response without translation
        is 0.0 and so is a similarity that the judge was asked for and could not give; both enter the mean.
    baseline
        The system without passages, which CNBE pairs with every other by ``example_id``.
    by
        Columns, such as ``"language"``, that cut the systems into the cells of a second table.
    confidence_level
        Of the intervals, in (0, 1).

    Intervals are Wilson's for EM and RLC_OK and t for the others; where a cell holds a question several times, in several
    languages, they are cluster-robust with the questions as clusters.

    Raises
    ------
    InputError
        Missing columns, what `ragnb.scoring.bridging` refuses, a language without known script (``unicode``), or a
        similarity outside [0, 1].

    Source: the metrics' own, see `ragnb.METRICS`; the seven together are those of kanoes/LBRAG-NEW.

    >>> one = {"example_id": "q1", "language": "en", "references": "Oslo"}
    >>> direct = one | {"system": "direct", "response": "Bergen", "translations": []}
    >>> cross = one | {"system": "cross", "response": "Oslo", "translations": [{"text": "...", "token_count": 50}]}
    >>> print(multilingual_report(pd.DataFrame([direct, cross])).lines()[1])
    cross    | EM=1.000±nan | F1=1.000±nan | RLC=1.000±nan | Cost=50.0±nan | CNBE=0.02000±nan | Sem=nan±nan
    """
    check_choice(variant, VARIANTS, "variant")
    require_columns(
        responses,
        ("example_id", "system", "language", "response", "references"),
        "multilingual_report",
    )
    if responses.empty:
        raise InputError("multilingual_report needs at least one response, got an empty frame")
    scores = _scores(responses, variant, baseline)
    columns = column_names(by, "multilingual_report(by=...)")
    require_columns(scores, columns, "multilingual_report(by=...)")
    if own := {"system", "metric"} & set(columns):
        raise InputError(
            f"multilingual_report(by=...) needs columns beside system and metric; got {', '.join(own)}; leave it out"
        )
    table = _table(scores, ["system"], confidence_level)
    cells = _table(scores, ["system", *columns], confidence_level) if columns else table.iloc[:0]
    return MultilingualReport(variant, baseline, table, cells, scores)


# ---- from responses to scores ------------------------------------------------------------------------------------------


def _scores(responses: pd.DataFrame, variant: str, baseline: str) -> pd.DataFrame:
    if "translations" not in responses:
        responses = responses.assign(translations=None)
    scored_alone = [field.metric for field in FIELDS if field.metric not in (CNBE.name, SIMILARITY)]
    alone = score(responses, scored_alone, variant=variant)
    cnbe = bridging(alone, baseline=baseline, variant="lbrag" if variant == "lbrag" else "ratio")
    return pd.concat([alone, cnbe, *_similarities(responses, variant)], ignore_index=True)


def _similarities(responses: pd.DataFrame, variant: str) -> list[pd.DataFrame]:
    """Scores of the systems that a judge was asked about, if there are any; ``lbrag`` counts unscored ones as 0.0."""
    if "judged_similarity" not in responses:
        return []
    told = responses["judged_similarity"].notna()
    if "judge_reason" in responses:
        told |= responses[
            "judge_reason"
        ].notna()  # a judge that could not be read was asked all the same
    asked = responses[told.groupby(responses["system"]).transform("any").astype(bool)]
    if asked.empty:
        return []
    scores = score(asked, SIMILARITY)
    if variant == "lbrag":
        scores = scores.assign(
            value=scores["value"].fillna(0.0), signature=scores["signature"] + "|unscored:0"
        )
    return [scores]


# ---- from scores to tables ---------------------------------------------------------------------------------------------


def _table(scores: pd.DataFrame, keys: list[str], level: float) -> pd.DataFrame:
    """One row a cell and metric, those that were never scored with n 0."""
    cells = [*keys, "metric"]
    scores, cluster = _clustered(scores, cells)
    spread = (
        scores.groupby(cells, sort=False, dropna=False)["value"].std().rename("std").reset_index()
    )
    every = (
        scores[keys]
        .drop_duplicates()
        .merge(pd.DataFrame({"metric": [field.metric for field in FIELDS]}), how="cross")
    )
    kinds = every.dtypes[keys]  # a key that is missing everywhere would come back as a float
    summaries = _summaries(scores, keys, cluster, level).astype(kinds)
    table = every.merge(summaries, how="left", on=cells).merge(
        spread.astype(kinds), how="left", on=cells
    )
    absent = {
        "n": 0,
        "n_scored": 0,
        "interval": "t",
        "signature": "",
        "confidence_level": level,
    }
    never = table["n"].isna()
    if never.any():
        table.loc[never, "problem"] = "not asked for"
    table = table.fillna(absent).astype({"n": int, "n_scored": int})
    return table[[*cells, *_COLUMNS, *(["problem"] if "problem" in table else [])]]


def _summaries(
    scores: pd.DataFrame, keys: list[str], cluster: str | None, level: float
) -> pd.DataFrame:
    wilson = scores["metric"].isin([field.metric for field in FIELDS if field.interval == "wilson"])
    parts = [
        summarize(rows, by=keys, cluster=cluster, interval=interval, confidence_level=level)
        for interval, rows in (("wilson", scores[wilson]), ("t", scores[~wilson]))
    ]
    return pd.concat(parts, ignore_index=True)


def _clustered(scores: pd.DataFrame, cells: list[str]) -> tuple[pd.DataFrame, str | None]:
    """The scores and, where a cell holds a question several times, the column of questions; one without id stands alone."""
    if "question_id" not in scores:
        return scores, None
    scores = scores.assign(question_id=efficiency.questions(scores))
    return scores, "question_id" if scores.duplicated([*cells, "question_id"]).any() else None


# ---- how it is written -------------------------------------------------------------------------------------------------

_Rows = dict[str, dict[str, Any]]
"""Rows of a table by metric."""


def _by_system(table: pd.DataFrame) -> list[tuple[str, _Rows]]:
    groups = table.groupby("system", sort=False)
    return [
        (str(system), {row["metric"]: row for row in rows.to_dict("records")})
        for system, rows in groups
    ]


def _line(system: str, rows: _Rows) -> str:
    parts = [
        f"{field.label}={_spread(rows[field.metric], field)}"
        for field in FIELDS
        if field.key != "rlc_ok"
    ]
    return " | ".join([f"{system:8s}", *parts])


def _spread(row: dict[str, Any], field: _Field) -> str:
    return f"{row['mean']:.{field.digits}f}±{row['std']:.{field.digits}f}"


def _as_published(rows: _Rows) -> dict[str, float | None]:
    means: dict[str, float | None] = {}
    for field in FIELDS:
        row = rows[field.metric]
        means |= {field.key: _or_null(row["mean"]), f"{field.key}_std": _or_null(row["std"])}
    return means | {"n": float(rows[F1]["n"])}


def _as_intervals(rows: _Rows) -> dict[str, list[Any]]:
    found = {field.key: rows[field.metric] for field in FIELDS}
    return {
        key: [_or_null(row["low"]), _or_null(row["high"]), row["interval"], row["n_scored"]]
        for key, row in found.items()
    }


def _or_null(value: float) -> float | None:
    return None if isnan(value) else float(value)


def _as_html(table: pd.DataFrame) -> Markup:
    keys = list(table.columns[: list(table.columns).index("metric")])
    head = tag("tr", *(tag("th", name) for name in [*keys, *(field.label for field in FIELDS)]))
    step = len(FIELDS)  # the rows of a cell stand together, in the order of the fields
    cells = [
        table.iloc[start : start + step].to_dict("records") for start in range(0, len(table), step)
    ]
    rows = [
        tag("tr", *(tag("td", cell[0][name]) for name in keys), *map(_html_cell, cell, FIELDS))
        for cell in cells
    ]
    return tag("table", head, *rows)


def _html_cell(row: dict[str, Any], field: _Field) -> Markup:
    limits = f" [{row['low']:.{field.digits}f}, {row['high']:.{field.digits}f}]"
    return tag("td", _spread(row, field), tag("small", f"{limits} {row['n_scored']} of {row['n']}"))


def _notes(report: MultilingualReport) -> Markup:
    defined = report.table.loc[report.table["low"].notna(), "interval"]
    kinds = " / ".join(dict.fromkeys(kind.split(",")[0] for kind in defined)) or "no"
    level = f"{report.table['confidence_level'].iloc[0]:.0%}"
    note = f"variant {report.variant}; CNBE against {report.baseline}; mean±standard deviation [{level} {kinds} interval]"
    return tag("p", tag("small", f"{note}, scored of all responses."))
