"""Answers and refusals on answerable and unanswerable questions, as a 2 × 2 table and its shares."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.display import shown
from ragnb.records import column_names, require_columns
from ragnb.scoring.scores import score
from ragnb.scoring.summaries import summarize

SHARES = ("hallucination", "over_refusal", "alignment", "coverage")


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
        ``rule`` and ``phrases``: what counts as a refusal, see `ragnb.metrics.abstention`.

    Returns
    -------
    DataFrame
        One row per group: the four counts ``answerable_answered, answerable_refused,
        unanswerable_answered, unanswerable_refused``; then ``hallucination`` (of the unanswerable
        questions, the share that was answered), ``over_refusal`` (of the answerable questions, the
        share that was refused), ``alignment`` (the share of right decisions), ``coverage`` (the
        share that was answered) and ``carefulness`` (of the unanswerable questions, the share that
        was refused); with a column ``verdict`` also ``risk`` (of the answers, the share that is
        wrong). Each has the limits of its interval, ``..._low`` and ``..._high``. The last column
        is the ``signature`` of the rule. Intervals are Wilson's, or cluster-robust over
        conversations (see `ragnb.summarize`). A group must contain one response per question.

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
    shares = [*SHARES, *(["risk"] if "verdict" in responses else [])]
    metrics = [f"abstention.{share}" for share in shares]
    scores = score(responses, metrics, **options)
    summaries = summarize(scores, by=groups, confidence_level=confidence_level)
    answered = scores[scores["metric"].eq("abstention.coverage") & scores["value"].notna()]
    counts = pd.DataFrame(
        {
            f"{state}_{act}": (answered["answerable"].eq(known) & answered["value"].eq(given))
            for state, known in (("answerable", 1), ("unanswerable", 0))
            for act, given in (("answered", 1), ("refused", 0))
        }
    )
    table = counts.groupby([answered[name] for name in groups], sort=False).sum().reset_index()
    for share in shares:
        found = summaries[summaries["metric"] == f"abstention.{share}"]
        found = found.rename(
            columns={"mean": share, "low": f"{share}_low", "high": f"{share}_high"}
        )
        table = table.merge(found[[*groups, share, f"{share}_low", f"{share}_high"]], on=groups)
    for part, other in (("", ""), ("_low", "_high"), ("_high", "_low")):
        table[f"carefulness{part}"] = 1 - table[f"hallucination{other}"]
    coverage = summaries[summaries["metric"] == "abstention.coverage"]
    return shown(table.merge(coverage[[*groups, "signature"]], on=groups))
