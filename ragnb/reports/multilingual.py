"""The seven metrics of multilingual answers: accuracy, language, cost, gain per cost, meaning."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from ragnb.arguments import accepts
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.metrics.normalization import VARIANTS
from ragnb.records import column_names, require_columns
from ragnb.reports.efficiency import questions
from ragnb.reports.frames import Report, Shown, asked_of_judge
from ragnb.scoring.bridges import CNBE, COST, F1, bridging
from ragnb.scoring.scores import score
from ragnb.scoring.summaries import summarize

SIMILARITY = "semantic.judged_similarity"


class _Field(NamedTuple):
    """One of the seven: its key in metrics.json, abbreviation, metric, decimals and interval."""

    key: str
    label: str
    metric: str
    digits: int
    interval: str


# The seven metrics, in the order in which they are printed.
FIELDS = (
    _Field("em", "EM", "answer.exact_match", 3, "wilson"),
    _Field("f1", "F1", F1, 3, "t"),
    _Field("rlc", "RLC", "language.rlc", 3, "t"),
    _Field("rlc_ok", "RLC_OK", "language.rlc_ok", 3, "wilson"),
    _Field("cost", "Cost", COST, 1, "t"),
    _Field("cnbe", "CNBE", CNBE.name, 5, "t"),
    _Field("semantic_score", "Sem", SIMILARITY, 3, "t"),
)

_COLUMNS = "mean std low high interval confidence_level n n_scored signature".split()


@dataclass(frozen=True, slots=True)
class MultilingualReport(Report):
    """The seven metrics of some systems under one variant.

    `ragnb.reports.efficiency` has functions of ``scores``: F1 gained per translated token, and net
    benefit.

    Attributes
    ----------
    variant
        ``"unicode"`` or ``"lbrag"``.
    baseline
        The system with which CNBE compares the others.
    table
        One row for each system and metric: ``mean``, ``std`` (of the sample, n - 1; nan for a
        single value), ``low, high, interval, confidence_level``, ``n, n_scored`` and
        ``signature``. A metric that was never asked for has n 0 and no mean.
    cells
        The same by the columns of ``by``; empty without them.
    scores
        The values behind it, one row for each response and metric, as for `ragnb.compare`. A
        similarity that ``lbrag`` counts as 0.0 keeps the reason why there is none.
    """

    variant: str
    baseline: str
    table: pd.DataFrame
    cells: pd.DataFrame
    scores: pd.DataFrame

    def lines(self) -> list[str]:
        """One line per system as LBRAG prints it: mean±standard deviation of all but RLC_OK."""
        lines = []
        for system, rows in _by_system(self.table):
            means = [f"{f.label}={_spread(rows, f)}" for f in FIELDS if f.key != "rlc_ok"]
            lines.append(" | ".join([f"{system:8s}", *means]))
        return lines

    def metrics_json(self) -> dict[str, Any]:
        """The content of LBRAG's metrics.json, with intervals.

        Under ``metrics`` the means, standard deviations and ``n`` of each system; under
        ``intervals``, by the same names, ``[low, high, kind, n_scored]``. Undefined values are
        None.
        """
        content: dict[str, Any] = {"metrics": {}, "intervals": {}}
        for system, rows in _by_system(self.table):
            means: dict[str, Any] = {}
            intervals: dict[str, Any] = {}
            for field in FIELDS:
                row = {k: None if v != v else v for k, v in rows[field.metric].items()}
                means |= {field.key: row["mean"], f"{field.key}_std": row["std"]}
                intervals[field.key] = [row["low"], row["high"], row["interval"], row["n_scored"]]
            content["metrics"][system] = means | {"n": float(rows[F1]["n"])}
            content["intervals"][system] = intervals
        return content

    def __repr__(self) -> str:
        return "\n".join([*self.lines(), f"variant {self.variant}; mean±standard deviation"])

    def _shown(self) -> Shown:
        tables = {"Seven metrics": self.table, "The same by group": self.cells}
        return tables, [f"variant {self.variant}; CNBE against {self.baseline}"]


@accepts(variant=tuple(VARIANTS), confidence_level="level")
def multilingual_report(
    responses: pd.DataFrame,
    *,
    variant: str = "unicode",
    baseline: str = "direct",
    by: str | Sequence[str] | None = None,
    confidence_level: float = 0.95,
) -> MultilingualReport:
    """Report seven metrics of multilingual answers for each system, with intervals.

    Parameters
    ----------
    responses
        One row per response: ``example_id, system, language, response, references``.
        ``translations`` contains the translated passages: ``[]`` costs 0, None is an unknown cost.
        ``judged_similarity`` is a judge's score; a system without any (and without a
        ``judge_reason``) was not judged. ``question_id`` is the same for a question in all its
        languages.
    variant
        ``"unicode"``, or ``"lbrag"``, as the published runs were scored. Under ``"lbrag"`` the
        CNBE of a response without translation is 0.0, and so is a similarity that the judge could
        not give; both count in the mean.
    baseline
        The system without passages, with which CNBE pairs every other by ``example_id``.
    by
        Columns, such as ``"language"``, that divide the systems into the cells of a second table.
    confidence_level
        Confidence level of the intervals, in (0, 1).

    Raises
    ------
    InputError
        A column is missing, `ragnb.scoring.bridging` raises it, a language has no known script
        (``unicode``), or a similarity is outside [0, 1].

    Notes
    -----
    Intervals are Wilson's for EM and RLC_OK, and t intervals for the others. If a cell contains a
    question several times, in several languages, they are cluster-robust with the questions as
    clusters. The seven metrics are those of kanoes/LBRAG-NEW; see `ragnb.METRICS` for their
    sources.

    >>> one = {"example_id": "q1", "language": "en", "references": "Oslo"}
    >>> direct = one | {"system": "direct", "response": "Bergen", "translations": []}
    >>> passage = {"text": "...", "token_count": 50}
    >>> cross = one | {"system": "cross", "response": "Oslo", "translations": [passage]}
    >>> print(multilingual_report(pd.DataFrame([direct, cross])).lines()[1][:75])
    cross    | EM=1.000±nan | F1=1.000±nan | RLC=1.000±nan | Cost=50.0±nan | CN
    """
    needed = ("example_id", "system", "language", "response", "references")
    require_columns(responses, needed, "multilingual_report")
    if responses.empty:
        raise InputError("multilingual_report needs at least one response, got an empty frame")
    scores = _scores(responses, variant, baseline)
    columns = column_names(by)
    require_columns(scores, columns, "multilingual_report(by=...)")
    if own := {"system", "metric"} & set(columns):
        raise InputError(
            "multilingual_report(by=...) needs columns other than system and metric, got "
            f"{', '.join(own)}; leave it out"
        )
    table = _table(scores, ["system"], confidence_level)
    cells = _table(scores, ["system", *columns], confidence_level) if columns else table.iloc[:0]
    return MultilingualReport(variant, baseline, table, cells, scores)


def _scores(responses: pd.DataFrame, variant: str, baseline: str) -> pd.DataFrame:
    if "translations" not in responses:
        responses = responses.assign(translations=None)
    scored_alone = [field.metric for field in FIELDS if field.metric not in (CNBE.name, SIMILARITY)]
    alone = score(responses, scored_alone, variant=variant)
    cnbe = bridging(alone, baseline=baseline, variant="lbrag" if variant == "lbrag" else "ratio")
    parts = [alone, cnbe]
    judged = asked_of_judge(responses, "judged_similarity")
    if len(judged):
        similarity = score(judged, SIMILARITY)
        if variant == "lbrag":
            similarity["value"] = similarity["value"].fillna(0.0)
            similarity["signature"] += "|unscored:0"
        parts.append(similarity)
    return pd.concat(parts, ignore_index=True)


def _table(scores: pd.DataFrame, keys: list[str], level: float) -> pd.DataFrame:
    """One row for each cell and metric; metrics that were never scored have n 0."""
    cells, cluster = [*keys, "metric"], None
    if "question_id" in scores:
        scores = scores.assign(question_id=questions(scores))
        cluster = "question_id" if scores.duplicated([*cells, "question_id"]).any() else None
    kinds = scores["metric"].map({field.metric: field.interval for field in FIELDS})
    options: dict[str, Any] = {"by": keys, "cluster": cluster, "confidence_level": level}
    found = pd.concat(
        summarize(rows, interval=kind, **options) for kind, rows in scores.groupby(kinds)
    )
    groups = scores.groupby(cells, dropna=False, as_index=False)["value"]
    spread = groups.agg(lambda values: values.std()).rename(columns={"value": "std"})
    metrics = pd.DataFrame({"metric": [field.metric for field in FIELDS]})
    table = scores[keys].drop_duplicates().merge(metrics, how="cross")
    table = table.merge(found, how="left", on=cells).merge(spread, how="left", on=cells)
    never = table["n"].isna()
    if never.any():
        table.loc[never, "problem"] = "not asked for"
    values = {"interval": "t", "confidence_level": level, "n": 0, "n_scored": 0, "signature": ""}
    table = table.fillna(values).astype({"n": int, "n_scored": int})
    return shown(
        table.reindex(columns=[*cells, *_COLUMNS, *table.columns.intersection(["problem"])])
    )


# ---- printing ------------------------------------------------------------------------------------


def _by_system(table: pd.DataFrame) -> list[tuple[str, dict[str, Any]]]:
    """Group the rows of each system by metric."""
    return [
        (str(system), {row["metric"]: row for row in rows.to_dict("records")})
        for system, rows in table.groupby("system", sort=False, dropna=False)
    ]


def _spread(rows: dict[str, Any], field: _Field) -> str:
    row = rows[field.metric]
    return f"{row['mean']:.{field.digits}f}±{row['std']:.{field.digits}f}"
