"""How many labels are needed after a change before a judge or a conformal deferral can be trusted again."""

from dataclasses import dataclass
from math import ceil
from typing import Any

import pandas as pd
from scipy.stats import hypergeom

from ragnb.conformal.sets import labels_for_coverage
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.experiments.paired_runs import AFTER, BEFORE
from ragnb.numbers import percent
from ragnb.reports.frames import Report, TablesAndLines
from ragnb.scoring.columns import numbers
from ragnb.stats.confirmation import confirmation_plan

JUDGE, COVERAGE = "the judge's verdicts", "conformal deferral"
# What the labels show about the judge, and whether there are enough of them.
NOTHING_CHANGED, BELOW, NOT_SHOWN = "no change", "below the limit", "not shown"
NEEDED, ENOUGH = "labels needed", "enough labels"


@dataclass(frozen=True, slots=True, repr=False)
class DeferralPlan(Report):
    """Numbers of labels before a judge or a conformal deferral can be trusted after a change.

    Attributes
    ----------
    needs
        One row per ``purpose``, ``"the judge's verdicts"`` and ``"conformal deferral"``: ``n_answers``
        of the run after the change, ``n_changed`` of them, ``n_kept`` (labels from before that stay
        valid, because the text is equal), ``n_new`` (labels of changed answers that are there),
        ``n_needed`` (labels in total: of changed answers for the judge, of any answers for the
        deferral), ``n_more`` (labels still to collect) and ``state``: ``"labels needed"``, or
        ``"enough labels"`` for the deferral. For the judge, it is ``"no change"`` if no answer changed,
        ``"below the limit"`` if enough labels show that of its error rate, and else ``"not shown"``.
    to_label
        Changed answers without a label, drawn at random for the judge: label these.
    sentences
        What the numbers mean, one sentence for each purpose and reservation.
    """

    needs: pd.DataFrame
    to_label: pd.DataFrame
    sentences: tuple[str, ...]

    def sentence(self) -> str:
        """What is needed, in a few sentences."""
        return " ".join(self.sentences)

    def _tables_and_lines(self) -> TablesAndLines:
        return {"Labels before deferring again": self.needs}, list(self.sentences)


@dataclass(frozen=True, slots=True)
class Labelled:
    """The answers after a change, with labels and verdicts of both runs; one row per question.

    The columns are ``is_equal`` (whether the text is that of before), and ``label_before,
    label_after, judge_before, judge_after``, which are 0, 1 or missing.
    """

    rows: pd.DataFrame
    responses: pd.DataFrame


def labelled_answers(
    questions: pd.DataFrame, responses: pd.DataFrame, judge: str, label: str, threshold: float
) -> Labelled:
    """Join the labels and verdicts of both runs to the answers after the change."""
    if "system" in questions:
        raise InputError(
            "labels_before_deferral needs one system; choose it with changes(..., systems=...)"
        )
    if label not in responses:
        raise InputError(
            f"labels_before_deferral needs people's labels in the column {label!r} of the run before; "
            "name their column with label="
        )
    columns = list(questions)
    keys = [name for name in columns[: columns.index(BEFORE)] if name != "question"]
    rows = questions[[*keys, "text", AFTER]].copy()
    for name, column in (("label", label), ("judge", judge)):
        values = pd.Series(float("nan"), responses.index)
        if column in responses:
            values = pd.Series(
                numbers(responses, column, "labels_before_deferral"), responses.index
            )
        if name == "judge":
            values = (values >= threshold).astype(float).where(values.notna())
        elif not values.dropna().isin([0, 1]).all():
            raise InputError(f"labels in {label!r} must be 0 or 1, got {values.max():g}")
        for side in (BEFORE, AFTER):
            is_of_side = responses["system"] == side
            of_side = responses.loc[is_of_side, keys].assign(
                **{f"{name}_{side}": values[is_of_side]}
            )
            rows = rows.merge(of_side, on=keys, how="left")
    answered = rows[AFTER].map(lambda text: isinstance(text, str)).astype(bool)
    rows = rows[answered].reset_index(drop=True)
    after = rows[keys].merge(responses[responses["system"] == AFTER], on=keys, how="left")
    return Labelled(rows.assign(is_equal=rows["text"] == "equal"), after)


def deferral_plan(
    labelled: Labelled,
    *,
    tolerance: float,
    confidence_level: float,
    power: float,
    alpha: Any,
    delta: float,
    seed: int,
) -> DeferralPlan:
    """The plan from the joined labels (see `ragnb.experiments.Changes.labels_before_deferral`)."""
    rows = labelled.rows
    of_judge, about_judge = _for_judge(rows, tolerance, confidence_level, power)
    of_coverage, about_coverage = _for_coverage(rows, alpha, tolerance, delta)
    is_open = ~rows["is_equal"] & rows["label_after"].isna()
    n_drawn = 0 if of_judge is None else min(int(of_judge["n_more"]), int(is_open.sum()))
    to_label = labelled.responses[is_open.to_numpy()].sample(n_drawn, random_state=seed)
    needs = pd.DataFrame([row for row in (of_judge, of_coverage) if row is not None])
    return DeferralPlan(needs, shown(to_label), (*about_judge, *about_coverage))


def _rate(share: float) -> str:
    """A share in percent with at most one decimal."""
    return percent(round(share, 3))


def _counts(rows: pd.DataFrame, purpose: str) -> dict[str, Any]:
    """What both purposes count."""
    is_kept = rows["is_equal"] & (rows["label_before"].notna() | rows["label_after"].notna())
    return {
        "purpose": purpose,
        "n_answers": len(rows),
        "n_changed": int((~rows["is_equal"]).sum()),
        "n_kept": int(is_kept.sum()),
        "n_new": int((~rows["is_equal"] & rows["label_after"].notna()).sum()),
    }


def _for_judge(
    rows: pd.DataFrame, tolerance: float, confidence_level: float, power: float
) -> tuple[dict[str, Any] | None, list[str]]:
    """The row on the judge, and what it means; no row if no answer has a label and a verdict."""
    checked = rows[["judge_before", "label_before"]].dropna()
    if checked.empty:
        return None, ["No answer before the change has both a label and a verdict of the judge."]
    n_wrong = int((checked["judge_before"] != checked["label_before"]).sum())
    error_rate = n_wrong / len(checked)
    limit = error_rate + tolerance
    row = _counts(rows, JUDGE)
    before = f"Before the change, the judge was wrong on {n_wrong:,} of {len(checked):,} labelled answers."
    if not row["n_changed"]:
        return row | {"n_needed": 0, "n_more": 0, "state": NOTHING_CHANGED}, [
            before,
            "No answer has changed, so the judge needs no new labels.",
        ]
    if limit >= 1:
        raise InputError(f"tolerance must be below {1 - error_rate:g}, got {tolerance:g}")
    plan = confirmation_plan(
        error_rate,
        limit,
        n_answers=row["n_changed"],
        confidence_level=confidence_level,
        power=power,
    )
    new = rows.loc[~rows["is_equal"], ["judge_after", "label_after"]].dropna()
    n_more = max(0, plan.n_labels - len(new))
    n_new_wrong = int((new["judge_after"] != new["label_after"]).sum())
    # The smallest number of errors among all changed answers that reaches the limit.
    n_too_many = int(limit * row["n_changed"] + 1e-9) + 1
    p_value = float(hypergeom.cdf(n_new_wrong, row["n_changed"], n_too_many, len(new)))
    state = NEEDED
    if not n_more:
        state = BELOW if p_value <= 1 - confidence_level else NOT_SHOWN
    sentences = [
        before,
        f"Label {plan.n_labels:,} of the {row['n_changed']:,} changed answers, drawn at random: if the "
        f"judge is wrong on at most {plan.most_errors:,} of them, its error rate on the changed answers "
        f"is below {_rate(limit)} ({_rate(confidence_level)} confidence). If it errs as before, this "
        f"happens with probability {plan.power:.2f}.",
    ]
    if len(new):
        shows = "shows" if state == BELOW else "does not show"
        result = f" This {shows} it." if not n_more else f" {n_more:,} more are needed."
        sentences.append(
            f"{len(new):,} are labelled, and the judge is wrong on {n_new_wrong:,}.{result}"
        )
    sentences += _about_unchanged(rows)
    return row | {"n_needed": plan.n_labels, "n_more": n_more, "state": state}, sentences


def _about_unchanged(rows: pd.DataFrame) -> list[str]:
    """Whether the judge itself has changed: its verdicts on equal texts."""
    both = rows.loc[rows["is_equal"], ["judge_before", "judge_after"]].dropna()
    n_other = int((both["judge_before"] != both["judge_after"]).sum())
    if not n_other:
        return []
    return [
        f"On {n_other:,} of {len(both):,} equal texts, the verdict differs from before, so the judge "
        "itself has changed or is random. Check it on all labelled answers with ragnb.judge_report."
    ]


def _for_coverage(
    rows: pd.DataFrame, alpha: Any, tolerance: float, delta: float
) -> tuple[dict[str, Any], list[str]]:
    """The row on conformal deferral, and what it means."""
    n_needed = labels_for_coverage(alpha, tolerance=tolerance, delta=delta)
    row = _counts(rows, COVERAGE)
    is_labelled = rows["label_before"].notna() | rows["label_after"].notna()
    is_valid = rows["is_equal"] | rows["label_after"].notna()
    n_labelled, n_valid = int(is_labelled.sum()), int((is_labelled & is_valid).sum())
    n_lost = n_labelled - n_valid
    if n_labelled >= n_needed:
        # A random choice of the labelled questions suffices, in which as large a share has changed.
        n_more = ceil(n_lost * n_needed / n_labelled - 1e-9)
    else:
        n_more = n_lost + n_needed - n_labelled
    target = float(1 - alpha)
    sentences = [
        f"Conformal deferral needs a calibration set of {n_needed:,} labels of answers after the change: "
        f"its coverage is then at least {_rate(target - tolerance)} with probability {_rate(1 - delta)} "
        f"over calibration sets, for a target of {_rate(target)}.",
        f"{n_labelled:,} questions have a label, and {n_valid:,} of these labels are of the answer after "
        "the change.",
    ]
    if n_more and n_labelled >= n_needed:
        sentences.append(
            f"Draw {n_needed:,} of these questions at random, and label the changed answers among "
            f"them, about {n_more:,}."
        )
    elif n_more:
        sentences.append(
            f"Label the {n_lost:,} changed answers among them and {n_needed - n_labelled:,} answers to "
            "other questions that are drawn at random."
        )
    state = NEEDED if n_more else ENOUGH
    if n_needed > len(rows):
        sentences.append(f"There are only {len(rows):,} answers, so a larger tolerance is needed.")
    return row | {"n_needed": n_needed, "n_more": n_more, "state": state}, sentences
