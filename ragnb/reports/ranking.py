"""Ranks of systems in several dimensions, and which ranks the data do not separate."""

# Tested in tests/reports/test_lbrag.py.

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import require_columns
from ragnb.display import MISSING, shown
from ragnb.errors import InputError
from ragnb.reports.frames import Report, TablesAndLines
from ragnb.reports.letters import letters_of
from ragnb.scoring.bridges import CNBE, F1
from ragnb.scoring.columns import record_of, require_metric_names
from ragnb.scoring.comparisons import compare
from ragnb.stats.several import inseparable_groups

# Dimensions of multilingual answers, each with the metric that ranks the systems in it.
MULTILINGUAL_DIMENSIONS = {"accuracy": F1, "language": "language.rlc", "efficiency": CNBE.name}

_EXPLANATION = (
    "A rank is 1 plus the number of systems with a better mean. The ranks in brackets are those that "
    "the data leave open: a system is placed above another one only if their difference is "
    "significant (adjusted p below {alpha:.2g}, {correction} over all pairs of a dimension)."
)


@dataclass(frozen=True, slots=True, repr=False)
class Ranking(Report):
    """Ranks of systems in several dimensions.

    Attributes
    ----------
    table
        One row per system and one column per dimension. A cell is a rank such as ``2``, or ``2 (1–3)``
        if the data do not separate the system from its neighbours. A dash means that the system has no
        value in this dimension.
    details
        One row per dimension and system: ``dimension, metric, system, mean, n_scored, rank, best_rank,
        worst_rank, not_separated_from, letters``. Systems that share a letter are not separated; see
        `ragnb.reports.letter_display`.
    note
        How the ranks were determined.
    """

    table: pd.DataFrame
    details: pd.DataFrame
    note: str

    def _tables_and_lines(self) -> TablesAndLines:
        return {"Ranks": self.table}, [self.note]


@accepts(confidence_level="level")
def rank_systems(
    scores: pd.DataFrame,
    dimensions: Mapping[str, str] = MULTILINGUAL_DIMENSIONS,
    *,
    correction: str = "holm",
    confidence_level: float = 0.95,
) -> Ranking:
    """Rank systems in several dimensions, and report which ranks the data do not separate.

    Parameters
    ----------
    scores
        As `ragnb.score` returns them, or ``ragnb.multilingual_report(...).scores``.
    dimensions
        Name of each dimension, and the metric whose mean ranks the systems in it.
    correction
        Correction of the p-values over all pairs of systems in a dimension; see `ragnb.compare`.
    confidence_level
        Two systems are separated if the adjusted p-value of their difference is below 1 - confidence
        level.

    Returns
    -------
    Ranking
        Ranks in one small table. The best possible rank of a system is 1 plus the number of systems that
        are significantly better, and its worst possible rank follows from the number of systems that are
        significantly worse. Systems without a value in a dimension have no rank.

    Raises
    ------
    InputError
        A metric of a dimension was not scored, or `ragnb.compare` raises the error.
    """
    require_columns(scores, ["system", "metric", "value", "signature"], "rank_systems")
    require_metric_names(scores, "rank_systems")
    if not dimensions:
        raise InputError("rank_systems needs at least one dimension, got none")
    details = [
        _ranks_in(scores, dimension, metric, correction, confidence_level)
        for dimension, metric in dimensions.items()
    ]
    ranks = pd.concat(details, ignore_index=True)
    systems = scores["system"].drop_duplicates()
    cells = ranks.assign(cell=ranks.apply(_cell, axis=1))
    table = cells.pivot(index="system", columns="dimension", values="cell")
    table = table.reindex(index=systems, columns=list(dimensions)).astype(object).fillna(MISSING)
    # The pivot calls its columns "dimension", which would be printed above them.
    table.columns.name = None
    # The best system of the first dimension comes first.
    first_dimension = ranks[ranks["dimension"] == next(iter(dimensions))]
    first_ranks = first_dimension.set_index("system")["rank"]
    # A system without a rank in it comes last.
    order = first_ranks.reindex(table.index).sort_values(kind="stable").index
    table = table.loc[order]
    note = _EXPLANATION.format(alpha=1 - confidence_level, correction=correction.title())
    return Ranking(shown(table.reset_index()), shown(ranks), note)


def _ranks_in(
    scores: pd.DataFrame, dimension: str, metric: str, correction: str, confidence_level: float
) -> pd.DataFrame:
    """One row per system that has a value of a metric: its rank, with its best and worst possible rank."""
    is_metric = scores["metric"] == metric
    if not is_metric.any():
        names = ", ".join(scores["metric"].drop_duplicates())
        raise InputError(f"the dimension {dimension!r} needs scores of {metric}, got {names}")
    scored = scores[is_metric & scores["value"].notna()]
    # Scores of another tool are not those of ragnb's metric of this name, as one of their signatures shows.
    signatures = " ".join(scored["signature"].astype(str).unique())
    record = record_of(metric, signatures)
    higher_is_better = record is None or record.higher_is_better
    means = scored.groupby("system", sort=False)["value"].agg(["mean", "size"])
    # Equal means share the better rank: 1, 2, 2, 4.
    ranks = means["mean"].rank(method="min", ascending=not higher_is_better).astype(int)
    separated, not_separated = _separated(
        scored, means, higher_is_better, correction, 1 - confidence_level
    )
    best_first = means["mean"].sort_values(ascending=not higher_is_better, kind="stable").index
    groups = inseparable_groups(list(best_first), separated)
    letters = letters_of(means.index, groups)
    rows = []
    for system, values in means.iterrows():
        # A pair in which this system is the worse one has a system that is significantly better, and vice versa.
        n_better = sum(worse_system == system for _, worse_system in separated)
        n_worse = sum(better_system == system for better_system, _ in separated)
        row = {
            "dimension": dimension,
            "metric": metric,
            "system": system,
            "mean": values["mean"],
            "n_scored": int(values["size"]),
            "rank": ranks[system],
            "best_rank": 1 + n_better,
            "worst_rank": len(means) - n_worse,
            "not_separated_from": ", ".join(map(str, not_separated.get(system, []))),
            "letters": letters[system],
        }
        rows.append(row)
    return pd.DataFrame(rows)


def _separated(
    scored: pd.DataFrame,
    means: pd.DataFrame,
    higher_is_better: bool,
    correction: str,
    alpha: float,
) -> tuple[list[tuple[str, str]], dict[str, list[str]]]:
    """Compare all systems, and say which of them the data separate.

    `means` has one row per system. The first result has the pairs (better system, worse system) whose
    difference is significant. The second maps each system to the systems from which it is not separated.
    """
    separated: list[tuple[str, str]] = []
    not_separated: dict[str, list[str]] = {}
    if len(means) < 2:
        return separated, not_separated
    # Conditions such as the language are pooled, and a question in several of them is a cluster.
    cluster = "question_id" if "question_id" in scored and _repeats_questions(scored) else None
    differences = compare(scored, by=[], cluster=cluster, unpaired="drop", correction=correction)
    for row in differences.to_dict("records"):
        system, baseline = row["system"], row["baseline"]
        # An undefined p-value is nan, which is not below alpha.
        if row["p_adjusted"] < alpha:
            system_is_better = (row["difference"] > 0) == higher_is_better
            separated.append((system, baseline) if system_is_better else (baseline, system))
        else:
            not_separated.setdefault(system, []).append(baseline)
            not_separated.setdefault(baseline, []).append(system)
    return separated, not_separated


def _repeats_questions(scored: pd.DataFrame) -> bool:
    """Whether a system answered a question several times, such as in several languages."""
    return bool(scored.duplicated(["system", "question_id"]).any())


def _cell(row: pd.Series) -> str:
    """A rank with the range of ranks that the data leave open, if there are several: ``2 (1–3)``."""
    if row["best_rank"] == row["worst_rank"]:
        return str(row["rank"])
    return f"{row['rank']} ({row['best_rank']}–{row['worst_rank']})"
