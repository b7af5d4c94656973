"""The seven metrics of multilingual answers: accuracy, language, cost, gain per cost, meaning."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import BLANK_REFERENCE, column_names, questions, require_columns
from ragnb.errors import InputError
from ragnb.metrics.normalization import VARIANTS
from ragnb.reports.frames import Report, TablesAndLines, responses_of_judged_systems
from ragnb.reports.lbrag import SIMILARITY, overview, summary_lines, write_metrics_json
from ragnb.reports.ranking import Ranking, rank_systems
from ragnb.scoring.bridges import CNBE, COST, F1, bridging
from ragnb.scoring.scores import score
from ragnb.scoring.summaries import summarize

# The seven metrics, in the order in which they are printed, with their intervals.
INTERVALS = {
    "answer.exact_match": "wilson",
    F1: "t",
    "language.rlc": "t",
    "language.rlc_ok": "wilson",
    COST: "t",
    CNBE.name: "t",
    SIMILARITY: "t",
}

_COLUMNS = "mean std low high interval confidence_level n n_scored signature".split()


@dataclass(frozen=True, slots=True, repr=False)
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
        ``signature``. A metric that was not requested has n 0 and no mean.
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
        """The summary lines that LBRAG prints: mean±standard deviation, one line per system."""
        return summary_lines(self.table)

    def overview(self) -> pd.DataFrame:
        """One row per system with mean ± standard deviation of each metric, as LBRAG's paper prints it.

        The means with their intervals are in ``table``.
        """
        return overview(self.table)

    def write_metrics_json(self, path: str | Path) -> Path:
        """Write the means and standard deviations as LBRAG's ``metrics.json``, and return its path."""
        return write_metrics_json(self.table, path)

    def ranking(self) -> Ranking:
        """Ranks of the systems in accuracy, language and efficiency; see `ragnb.reports.rank_systems`."""
        return rank_systems(self.scores)

    def _tables_and_lines(self) -> TablesAndLines:
        tables = {"Seven metrics": self.table, "The same by group": self.cells}
        first_line = f"variant {self.variant}; CNBE against {self.baseline}"
        notes = _notes_on_blank_references(self.scores, self.variant)
        notes += _notes_on_costs(self.table)
        return tables, [first_line, *notes]


def _notes_on_costs(table: pd.DataFrame) -> list[str]:
    """A note on the columns that cost and CNBE need, if a system has no response with a known cost."""
    costs = table[table["metric"] == COST]
    systems = costs.loc[costs["n_scored"] == 0, "system"].map(str).tolist()
    if not systems:
        return []
    return [
        f"Cost and CNBE are unscored for {', '.join(systems)}. They need the column token_count "
        "(number of tokens in the translated passages of a question, 0 if none was translated) or "
        "translations (these passages, each with its token_count)."
    ]


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
        ``translations`` contains the translated passages, or their number of tokens: ``[]`` and 0
        cost nothing, None is an unknown cost. If there is no such column, ``token_count`` contains
        the number of tokens. Cost and CNBE need one of the two columns.
        ``judged_similarity`` is a judge's score; a system without any (and without a
        ``judge_reason``) was not judged. ``question_id`` is the same for a question in all its
        languages.
    variant
        ``"unicode"``, or ``"lbrag"``, as the published runs were scored. Under ``"lbrag"`` the
        CNBE of a response without translation is 0.0, and so is a similarity that the judge could
        not give; both count in the mean. A blank reference in a file of `ragnb.load_responses` is
        compared as an empty text under ``"lbrag"``; otherwise its responses are not scored. The
        report states the number of such questions.
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
    >>> table = multilingual_report(pd.DataFrame([direct, cross])).table.query("system == 'cross'")
    >>> table.set_index("metric")["mean"].iloc[:5].to_dict()  # doctest: +NORMALIZE_WHITESPACE
    {'answer.exact_match': 1.0, 'answer.f1': 1.0, 'language.rlc': 1.0, 'language.rlc_ok': 1.0,
     'cost.translation_tokens': 50.0}
    """
    needed = ("example_id", "system", "language", "response", "references")
    require_columns(responses, needed, "multilingual_report")
    if responses.empty:
        raise InputError("multilingual_report needs at least one response, got an empty frame")
    scores = _scores(responses, variant, baseline)
    columns = column_names(by)
    require_columns(scores, columns, "multilingual_report(by=...)")
    if reserved := {"system", "metric"} & set(columns):
        raise InputError(
            "multilingual_report(by=...) needs columns other than system and metric, got "
            f"{', '.join(reserved)}; leave it out"
        )
    table = _table(scores, ["system"], confidence_level)
    cells = _table(scores, ["system", *columns], confidence_level) if columns else table.iloc[:0]
    return MultilingualReport(variant, baseline, table, cells, scores)


def _scores(responses: pd.DataFrame, variant: str, baseline: str) -> pd.DataFrame:
    """The scores of all seven metrics, without the similarity of systems that were not judged.

    `variant` and `baseline` are those of `multilingual_report`.
    """
    if "translations" not in responses:
        responses = responses.assign(translations=responses.get("token_count"))
    # CNBE is computed from the scores of two systems, and only a judge gives a similarity.
    scored_alone = [name for name in INTERVALS if name not in (CNBE.name, SIMILARITY)]
    scores_alone = score(responses, scored_alone, variant=variant)
    variant_of_cnbe = "lbrag" if variant == "lbrag" else "ratio"
    scores_of_cnbe = bridging(scores_alone, baseline=baseline, variant=variant_of_cnbe)
    all_scores = [scores_alone, scores_of_cnbe]
    judged = responses_of_judged_systems(responses, "judged_similarity")
    if len(judged):
        similarity = score(judged, SIMILARITY)
        if variant == "lbrag":
            # The published code counts a similarity that the judge could not give as 0.
            similarity["value"] = similarity["value"].fillna(0.0)
            similarity["signature"] += "|unscored:0"
        all_scores.append(similarity)
    return pd.concat(all_scores, ignore_index=True)


def _notes_on_blank_references(scores: pd.DataFrame, variant: str) -> list[str]:
    """A note on how responses are scored to questions with a blank reference, if there are any."""
    if BLANK_REFERENCE not in scores:
        return []
    # The scores have one row per response and metric, and the note counts questions.
    examples = scores.drop_duplicates("example_id")
    is_blank = examples[BLANK_REFERENCE].fillna(False).astype(bool)
    if not is_blank.any():
        return []
    if variant == "lbrag":
        rule = "Their responses are compared with an empty text, as the published code does"
    else:
        rule = "Their responses have no exact match, F1 and CNBE"
    n_blank, n_examples = int(is_blank.sum()), len(examples)
    return [f"{n_blank} of {n_examples} questions have a blank reference. {rule}"]


def _table(scores: pd.DataFrame, keys: list[str], level: float) -> pd.DataFrame:
    """One row for each cell and metric. Metrics that were not requested have n 0.

    `keys` are the columns that define the cells, and `level` is the confidence level.
    """
    cells = [*keys, "metric"]
    cluster = None
    if "question_id" in scores:
        scores = scores.assign(question_id=questions(scores))
        # The responses of a cell to one question, in several languages, are not independent.
        has_repeated_questions = scores.duplicated([*cells, "question_id"]).any()
        cluster = "question_id" if has_repeated_questions else None
    # Metrics with the same kind of interval are summarized together.
    options: dict[str, Any] = {"by": keys, "cluster": cluster, "confidence_level": level}
    summaries_by_kind = []
    for kind, rows in scores.groupby(scores["metric"].map(INTERVALS)):
        summaries_by_kind.append(summarize(rows, interval=kind, **options))
    summaries = pd.concat(summaries_by_kind)
    groups = scores.groupby(cells, dropna=False, as_index=False)["value"]
    # The standard deviation of the sample, with n - 1. `groups.std()` computes it in another way, with other
    # last digits.
    deviations = groups.agg(lambda values: values.std()).rename(columns={"value": "std"})

    # All seven metrics have a row in each cell, whether or not they were requested.
    metrics = pd.DataFrame({"metric": list(INTERVALS)})
    table = scores[keys].drop_duplicates().merge(metrics, how="cross")
    table = table.merge(summaries, how="left", on=cells)
    table = table.merge(deviations, how="left", on=cells)
    was_not_requested = table["n"].isna()
    if was_not_requested.any():
        table.loc[was_not_requested, "problem"] = "this metric was not requested"
    # What such a metric has in place of a summary.
    fill = {"interval": "t", "confidence_level": level, "n": 0, "n_scored": 0, "signature": ""}
    table = table.fillna(fill).astype({"n": int, "n_scored": int})
    problem = ["problem"] if "problem" in table else []
    return table.reindex(columns=[*cells, *_COLUMNS, *problem])
