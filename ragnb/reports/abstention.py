"""Reports on systems that may abstain: right and wrong refusals, and risk-coverage curves."""

# Tested in tests/reports/test_selective.py.

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import Floats, accepts, convert
from ragnb.columns import column_names, require_columns
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.metrics.judged import is_accepted
from ragnb.numbers import interval_words
from ragnb.reports.frames import Report, TablesAndLines, share
from ragnb.scoring.columns import numbers
from ragnb.scoring.scores import score
from ragnb.scoring.summaries import summarize
from ragnb.stats.prediction import aurc


@accepts(confidence_level="level")
def abstention_report(
    responses: pd.DataFrame,
    *,
    by: str | Sequence[str] = "system",
    confidence_level: float = 0.95,
    **options: Any,
) -> pd.DataFrame:
    """Count answers and refusals on answerable and unanswerable questions, with their shares.

    Parameters
    ----------
    responses
        One row per response, with ``answerable``, ``response`` and the columns that the rule needs.
        If there is a column ``verdict`` (whether the answer is correct), the risk is reported as
        well.
    by
        Columns by which to group the responses. The result has one row per group.
    confidence_level
        Nominal coverage of the intervals, in (0, 1).
    **options
        ``rule``, ``phrases`` and ``empty``: what counts as a refusal, see `ragnb.metrics.abstention`.

    Returns
    -------
    DataFrame
        One row per group: the four counts ``answerable_answered, answerable_refused,
        unanswerable_answered, unanswerable_refused``; ``n_scored`` of the ``n`` responses, and
        ``unscored`` (how many responses are not scored, and why) if there are any. Then come
        ``hallucination`` (of the unanswerable questions, the share that was answered),
        ``over_refusal`` (of the answerable questions, the share that was refused), ``alignment`` (the
        share of right decisions), ``coverage`` (the share that was answered) and ``carefulness`` (of
        the unanswerable questions, the share that was refused); with a column ``verdict`` also
        ``risk`` (of the answers, the share that is wrong). Each has the limits of its interval,
        ``..._low`` and ``..._high``. The last column is the ``signature`` of the rule.

        With ``rule="nomiracl"`` there is a third outcome. The counts ``answerable_invalid`` and
        ``unanswerable_invalid`` follow the other four, and ``invalid`` is the share of all responses
        that are invalid.

        Intervals are Wilson's, or cluster-robust over conversations (see `ragnb.summarize`). A group
        must contain one response per question. A group without any reply has a row in which nothing
        is scored. ``attrs["intervals"]`` names the level and the kinds of the intervals.

    Raises
    ------
    InputError
        A column is missing, or a group contains a question twice.

    Examples
    --------
    >>> import ragnb
    >>> english = ragnb.load_study("nomiracl").query("language == 'en'")
    >>> report = abstention_report(english).set_index("system")
    >>> report.loc["gpt-4-azure", ["unanswerable_answered", "answerable_refused"]].tolist()
    [108, 12]
    """
    groups = column_names(by)
    require_columns(responses, ["answerable", *groups], "abstention_report")
    shares = ["hallucination", "over_refusal", "alignment", "coverage"]
    if "verdict" in responses:
        shares.append("risk")
    scores = score(responses, [f"abstention.{name}" for name in shares], **options)
    summaries = summarize(scores, by=groups, confidence_level=confidence_level)

    # The four counts, or six with NoMIRACL's rule, which has a third outcome.
    has_invalid = options.get("rule") == "nomiracl"
    outcomes = _outcomes(scores, has_invalid)
    keys = [scores.loc[outcomes.index, name] for name in groups]
    counts = outcomes.groupby(keys, sort=False, dropna=False).sum().reset_index()

    # Only the metric coverage counts all responses, so the sizes of a group are those of this metric.
    coverage = summaries[summaries["metric"] == "abstention.coverage"]
    sizes = [name for name in ("n_scored", "n", "unscored") if name in coverage]
    table = counts.merge(coverage[[*groups, *sizes]], on=groups)
    interval_kinds: list[str] = []
    for name in shares:
        rates = summaries[summaries["metric"] == f"abstention.{name}"]
        has_interval = rates["low"].notna()
        interval_kinds += rates.loc[has_interval, "interval"].tolist()
        table = table.merge(_limits(rates, groups, name), on=groups)
    for name, further_scores in _further_scores(scores, outcomes, has_invalid).items():
        rates = summarize(further_scores, by=groups, confidence_level=confidence_level)
        table = table.merge(_limits(rates, groups, name), on=groups)
    report = shown(table.merge(coverage[[*groups, "signature"]], on=groups))
    # The columns have no room for the kinds of the intervals, which figures name.
    report.attrs["intervals"] = f"{100 * confidence_level:g} % {interval_words(interval_kinds)}"
    return report


def _further_scores(
    scores: pd.DataFrame, outcomes: pd.DataFrame, has_invalid: bool
) -> dict[str, pd.DataFrame]:
    """The scores of shares that are no metrics, made from the scores of the metrics.

    They are carefulness and, with `has_invalid`, the share of invalid responses. `outcomes` has the index that the
    rows of coverage have in `scores`. The rows of each metric are in the same order of responses, so values of
    different metrics are combined by position.
    """
    # Carefulness is a share of the responses to unanswerable questions, as hallucination is. The right decision
    # on these questions is a refusal, so 1 for a right decision (alignment) is 1 for a refusal.
    hallucination = scores[scores["metric"] == "abstention.hallucination"]
    alignment = scores.loc[scores["metric"] == "abstention.alignment", "value"].to_numpy()
    is_not_counted = hallucination["value"].isna()
    carefulness = hallucination["value"].where(is_not_counted, alignment)
    further_scores = {"carefulness": hallucination.assign(value=carefulness)}
    if has_invalid:
        is_invalid = outcomes[["answerable_invalid", "unanswerable_invalid"]].any(axis=1)
        # Coverage has a value for each response that is scored, whether its question is answerable or not.
        coverage = scores.loc[outcomes.index]
        is_scored = coverage["value"].notna()
        invalid = is_invalid.where(is_scored).astype(float)
        further_scores["invalid"] = coverage.assign(value=invalid)
    return further_scores


def _outcomes(scores: pd.DataFrame, has_invalid: bool) -> pd.DataFrame:
    """The outcome of each response, from its scores.

    The columns are ``answerable_answered``, ``answerable_refused``, ``unanswerable_answered``,
    ``unanswerable_refused`` and, with `has_invalid`, the two for responses that neither answer nor refuse. A
    cell is True if the response has this outcome. There is one row per response, with the index that the row
    of its coverage has in the scores, by which the caller finds the other columns.
    """
    # Each metric has one row per response, in the same order. With a new index, all rows of a response have
    # the same number, and the columns of different metrics can be combined.
    by_metric = {
        name: scores[scores["metric"] == f"abstention.{name}"].reset_index(drop=True)
        for name in ("coverage", "over_refusal", "alignment")
    }
    coverage = by_metric["coverage"]
    answered = coverage["value"].eq(1)
    columns = {}
    for state, answerable in (("answerable", 1), ("unanswerable", 0)):
        is_in_state = coverage["answerable"].eq(answerable)
        # If the question is answerable, a refusal is an over-refusal. If not, it is a right decision.
        metric = "over_refusal" if answerable else "alignment"
        refused = by_metric[metric]["value"].eq(1)
        columns[f"{state}_answered"] = is_in_state & answered
        columns[f"{state}_refused"] = is_in_state & refused
        if has_invalid:
            # A response that does not answer, and does not refuse either.
            is_no_answer = coverage["value"].eq(0)
            columns[f"{state}_invalid"] = is_in_state & is_no_answer & ~refused
    # The two columns of invalid responses come last.
    order = sorted(columns, key=lambda name: name.endswith("invalid"))
    index_of_coverage = scores.index[scores["metric"] == "abstention.coverage"]
    return pd.DataFrame(columns)[order].set_axis(index_of_coverage)


def _limits(summaries: pd.DataFrame, groups: list[str], name: str) -> pd.DataFrame:
    """The means of a metric and their limits, as three columns that are named after the metric."""
    columns = {"mean": name, "low": f"{name}_low", "high": f"{name}_high"}
    return summaries.rename(columns=columns)[[*groups, *columns.values()]]


@dataclass(frozen=True, slots=True, repr=False)
class RiskCoverageReport(Report):
    """Risk-coverage curves of systems, with a random order of the same answers as the control.

    Attributes
    ----------
    areas
        Three rows per group: ``measure``, ``mean, low, high, interval, confidence_level``, ``n``
        (responses) and ``n_answered``. *AURC* is the area under the curve; *random order* is the
        expected area of the control, which is the error rate of all answers; *difference* is AURC
        minus random order. It is negative if the confidence finds the wrong answers better than a
        random order does.
    curve
        One row per group and threshold: ``threshold``, ``coverage`` (the share of responses with at
        least this confidence), ``n_accepted``, ``risk`` (the share of wrong answers among them)
        with ``low, high, interval, confidence_level``, and the control: ``random`` with
        ``random_low`` and ``random_high``, between which the risk of as many randomly chosen
        answers lies with probability ``confidence_level``. All limits are pointwise.
    groups
        The columns of ``by``.
    """

    areas: pd.DataFrame
    curve: pd.DataFrame
    groups: list[str]

    def _tables_and_lines(self) -> TablesAndLines:
        return {"Area under the risk-coverage curve": self.areas}, []


@accepts(confidence_level="level")
def risk_coverage_report(
    responses: pd.DataFrame,
    *,
    confidence: str,
    correct: str = "verdict",
    by: str | Sequence[str] = "system",
    clusters: str | None = None,
    confidence_level: float = 0.95,
) -> RiskCoverageReport:
    """Compute risk-coverage curves: the error rate of the answers above a threshold of confidence.

    Parameters
    ----------
    responses
        One row per response, with the columns that are named.
    confidence
        Column of the confidence in each answer, on any scale. A response without confidence is an
        abstention: it counts in the coverage and is accepted at no threshold. A group without any
        answer has areas that are nan, and no curve.
    correct
        Column of the verdicts, as in `ragnb.metrics.judged.is_accepted`. Answers without a verdict
        are left out.
    by
        Columns whose values each have a curve of their own.
    clusters
        Column whose values are the independent units, such as the conversation. By default the
        responses are independent.
    confidence_level
        Nominal coverage of the intervals, in (0, 1).

    Returns
    -------
    RiskCoverageReport
        The areas and the curves. `ragnb.plot` draws them.

    Raises
    ------
    InputError
        A column is missing or contains other values, or no answer has a verdict.

    Notes
    -----
    The risk at a threshold that was chosen on the same answers is biased downwards.
    `ragnb.conformal.control.calibrate_selective_risk` chooses a threshold with a guarantee. For a
    confidence c in [0, 1], pass it 0.5 + c / 2 as the probability and the verdicts as the labels; a
    threshold t of the result then means c >= 2 t - 1.

    Examples
    --------
    >>> answers = pd.DataFrame({"system": "a", "sure": [3, 2, 2, 1, None],
    ...                         "verdict": [True, True, False, False, None]})
    >>> report = risk_coverage_report(answers, confidence="sure")
    >>> report.curve[["threshold", "coverage", "risk", "random"]].round(2).values.tolist()
    [[3.0, 0.2, 0.0, 0.5], [2.0, 0.6, 0.33, 0.5], [1.0, 0.8, 0.5, 0.5]]
    >>> report.areas.set_index("measure")["mean"].round(3).to_dict()
    {'AURC': 0.271, 'random order': 0.5, 'difference': -0.229}
    """
    keys = column_names(by)
    needed = [*keys, confidence, correct, *column_names(clusters)]
    require_columns(responses, needed, "risk_coverage_report")
    # The name of a column may be that of another one, so these two have names of their own.
    items = responses[[*keys, *column_names(clusters)]].assign(
        sure=numbers(responses, confidence, "risk_coverage_report"),
        wrong=[1 - is_accepted(verdict) for verdict in responses[correct]],
    )
    lacks_a_value = items["sure"].isna() | items["wrong"].isna()
    if lacks_a_value.all():
        raise InputError(f"no response has both {confidence} and {correct}")
    areas: list[dict[str, Any]] = []
    curve: list[dict[str, Any]] = []
    for cell, rows in items.groupby(keys, sort=False, dropna=False):
        # Answers without a verdict are left out, and abstentions need none. A group in which nothing is left
        # keeps its rows of areas.
        is_abstention = rows["sure"].isna()
        has_verdict = rows["wrong"].notna()
        group = rows[is_abstention | has_verdict]
        columns_of_group = dict(zip(keys, cell, strict=True))
        is_answer = group["sure"].notna().to_numpy()
        answers = group[is_answer]
        wrong, sure = answers["wrong"].to_numpy(float), answers["sure"].to_numpy(float)
        units = None
        if clusters is not None:
            codes = convert(group[clusters], "clusters", clusters)
            # Without the abstentions, codes may be missing, so they are numbered anew.
            _, units = np.unique(codes[is_answer], return_inverse=True)
        sizes = {"n": len(group), "n_answered": len(answers)}
        options: dict[str, Any] = {"confidence_level": confidence_level}
        measures = {
            "AURC": aurc(wrong, sure, units, **options),
            "random order": share(wrong, units, confidence_level),
            "difference": aurc(wrong, sure, units, minus_random=True, **options),
        }
        for measure, interval in measures.items():
            areas.append({**columns_of_group, "measure": measure, **interval.columns(), **sizes})
        # Without an answer there is no threshold, so the group has no curve.
        if len(answers):
            for row in _curve(wrong, sure, units, len(group), confidence_level):
                curve.append({**columns_of_group, **row, **sizes})
    return RiskCoverageReport(pd.DataFrame(areas), pd.DataFrame(curve), keys)


def _curve(
    wrong: Floats, sure: Floats, units: Any, n: int, level: float
) -> Iterator[dict[str, Any]]:
    """Yield one row of the curve per threshold, from the highest to the lowest.

    `wrong` and `sure` have one value per answer: 1 if the answer is wrong, else 0, and its confidence. `units`
    has the number of the cluster of each answer; None if the answers are independent. `n` is the number of
    responses, with abstentions. `level` is the confidence level.
    """
    from scipy.stats import hypergeom

    # Probabilities below which the lower and the upper limit of a central interval lie.
    tails = (1 - level) / 2, (1 + level) / 2
    # A curve has at most 101 points. With more different values, the thresholds are their percentiles. The method
    # "higher" gives only confidences that occur.
    percentiles = np.linspace(0, 1, 101)
    thresholds = np.unique(np.quantile(sure, percentiles, method="higher"))
    for threshold in thresholds[::-1]:
        accepted = sure >= threshold
        accepted_units = None if units is None else units[accepted]
        risk = share(wrong[accepted], accepted_units, level)
        n_accepted = int(accepted.sum())
        # The control: the distribution of the number of wrong answers among as many answers that are chosen
        # at random.
        n_wrong_at_random = hypergeom(wrong.size, int(wrong.sum()), n_accepted)
        random_low, random_high = n_wrong_at_random.ppf(tails) / n_accepted
        yield {
            "threshold": threshold,
            "coverage": n_accepted / n,
            "n_accepted": n_accepted,
            **risk.columns("risk"),
            "random": wrong.mean(),
            "random_low": random_low,
            "random_high": random_high,
        }
