"""What missing values can do to a comparison, and which column explains where they are."""

# Tested in tests/reports/test_review_gaps.py.

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import fisher_exact

from ragnb.metrics.record import METRICS
from ragnb.metrics.words import metric_words
from ragnb.reports.reviewing.checks import ALL, ALPHA, ORDER, SYSTEMS, NotPossible
from ragnb.reports.reviewing.evidence import (
    JUDGES,
    PEOPLE,
    Evidence,
    count_by_system,
)

# A value of a column explains missing values if this share of them has it, or more ...
ALMOST_ALL = 0.9
# ... and at most this share of the other rows.
FEW_OTHERS = 0.2
# Shares of two systems that differ by less affect both alike.
SAME_SHARE = 0.01


# ---- which column explains them ----------------------------------------------------------------


@dataclass(frozen=True)
class Explanation:
    """A value of a boolean column that almost all rows with a missing value have, and few others.

    Attributes
    ----------
    sentence
        The numbers behind it.
    next_call
        The call that reviews the responses without these rows. It is empty if the column differs
        between the systems on a question, because the systems would then lose different questions.
    """

    sentence: str
    next_call: str


def explanation(evidence: Evidence, missing: pd.Series) -> Explanation | None:
    """The boolean column that explains where values are missing, or None.

    `missing` has True or False for each response.
    """
    columns = _boolean_columns(evidence)
    candidates = []
    n_missing, n_others = int(missing.sum()), int((~missing).sum())
    for name, flags in columns.items():
        for value in (True, False):
            # A missing flag is neither.
            has_value = flags.isin([value])
            n_explained = int((has_value & missing).sum())
            n_others_with_value = int((has_value & ~missing).sum())
            is_explained = n_explained >= ALMOST_ALL * n_missing
            if not is_explained or n_others_with_value > FEW_OTHERS * n_others:
                continue
            table = [
                [n_explained, n_missing - n_explained],
                [n_others_with_value, n_others - n_others_with_value],
            ]
            # With few missing values, a column can seem to explain them by chance.
            p_value = fisher_exact(table, alternative="greater").pvalue
            if p_value < ALPHA / (2 * len(columns)):
                candidates.append((n_others_with_value, -n_explained, name, value))
    if not candidates:
        return None
    # The best explanation is that which the fewest other rows share.
    n_others_with_value, minus_explained, name, value = min(candidates)
    n_explained = -minus_explained
    rows = (
        f"All {n_missing:,}"
        if n_explained == n_missing
        else f"{n_explained:,} of the {n_missing:,}"
    )
    sentence = f"{rows} rows have {name} = {value}, as do {n_others_with_value:,} of the other {n_others:,} rows."
    if not n_others_with_value:
        sentence = f"{rows} rows have {name} = {value}, and none of the other {n_others:,} rows."
    if not _is_of_question(evidence, columns[name]):
        return Explanation(sentence, "")
    n_left_out = n_explained + n_others_with_value
    sentence += f" The next call leaves out these {n_left_out:,} rows."
    return Explanation(sentence, _call_without(evidence.responses[name], value))


def _boolean_columns(evidence: Evidence) -> dict[str, pd.Series]:
    """Columns of True and False that say something about the rows, besides verdicts on the answers."""
    responses = evidence.responses
    columns = {}
    for name in responses:
        # Leaving out rows by a verdict would choose them by what is compared.
        if name in (*PEOPLE, *JUDGES):
            continue
        values = responses[name]
        if values.dtype == object:
            are_flags = all(isinstance(value, bool | np.bool_) for value in values.dropna())
        else:
            are_flags = pd.api.types.is_bool_dtype(values.dtype)
        if are_flags and values.nunique() > 1:
            columns[str(name)] = values
    return columns


def _is_of_question(evidence: Evidence, flags: pd.Series) -> bool:
    """Whether a column has the same value for all systems on each question."""
    if "example_id" not in evidence.responses:
        return False
    n_values = flags.groupby(evidence.responses["example_id"]).nunique(dropna=False)
    return bool((n_values == 1).all())


def _call_without(values: pd.Series, value: bool) -> str:
    """The call that reviews the responses without those that have this value."""
    column = f"responses[{values.name!r}]"
    if values.dtype == bool:
        condition = f"~{column}" if value else column
    else:
        # A missing value in the column is not this value, so its row remains.
        condition = f"~{column}.isin([{value}])"
    return f"ragnb.review(responses[{condition}])"


# ---- what they can do to the order of the systems ----------------------------------------------


def effect_of_gaps(evidence: Evidence, missing: pd.Series) -> tuple[str, str]:
    """What missing values can do to a conclusion, and a sentence about the best system.

    The sentence is empty if no score depends on these values.
    """
    shares = [count / n for count, n in count_by_system(evidence, missing).values()]
    # Without any name of a system, there are no shares.
    spread = max(shares, default=0.0) - min(shares, default=0.0)
    effect = ALL if spread < SAME_SHARE else SYSTEMS
    sentence, can_change = _best_systems(evidence, missing)
    return (ORDER if can_change else effect), sentence


def _best_systems(evidence: Evidence, missing: pd.Series) -> tuple[str, bool]:
    """The best system without the missing values, and with them as right or as wrong.

    The second value is whether another system could be the best. All other missing scores stay
    missing, so that the answer rests on these rows only.
    """
    try:
        scores = evidence.scores_of_responses
        bounds = _bounds(evidence)
    except NotPossible:
        return "", False
    # What the metric leaves out by definition would have no score with a value either.
    is_open = missing & scores.isna() & ~evidence.is_left_out
    if not is_open.any() or "system" not in evidence.responses:
        return "", False
    lower_is_better = evidence.lower_is_better
    low, high = bounds
    best_value, worst_value = (low, high) if lower_is_better else (high, low)
    systems = evidence.responses["system"]

    leader: Any = None

    def means_with(value: float) -> pd.Series:
        """Mean of each system if the open scores have this value, the best system first."""
        filled = scores.mask(is_open, value)
        means = filled.groupby(systems, sort=False).mean().dropna()
        # The rounding of the sums must not decide which of two equal means comes first.
        means = means.round(12).sort_values(ascending=lower_is_better, kind="stable")
        if leader in means and means[leader] == means.iloc[0]:
            # Of equal means, the system comes first that is the best without these rows.
            return pd.concat([means[[leader]], means.drop(leader)])
        return means

    without = means_with(np.nan)
    if len(without) < 2:
        return "", False
    leader = without.index[0]
    as_best, as_worst = means_with(best_value), means_with(worst_value)
    words, words_for_one = _words_for_bounds(evidence)
    n_open = int(is_open.sum())
    metric = metric_words(str(evidence.main_scores["metric"].iloc[0]))
    start, rows = "", "these rows" if n_open > 1 else "this row"
    if n_open < missing.sum():
        # The others have a score although a value is missing, such as a verdict on a blank reply.
        start = f"{n_open:,} of these rows {'have' if n_open > 1 else 'has'} no score. "
        rows = "them" if n_open > 1 else "it"
    condition = "all of them" if n_open > 1 else "it"
    best, worst = words if n_open > 1 else words_for_one
    sentence = (
        f"{start}The best system by mean score ({metric}) is {_first_two(without, leader)} without {rows}, "
        f"{_first_two(as_best, leader)} if {condition} {best}, and {_first_two(as_worst, leader)} if "
        f"{condition} {worst}."
    )
    if {leader} != {as_best.index[0], as_worst.index[0]}:
        return sentence, True
    # The order is also open if those of the leader are wrong and those of another system right.
    rivals = as_best.drop(leader)
    gaps = rivals - as_worst[leader]
    is_ahead = gaps < 0 if lower_is_better else gaps > 0
    if not is_ahead.any():
        return f"{sentence} So {leader} is the best in any case.", False
    rival = rivals.index[int(np.argmax(is_ahead.to_numpy()))]
    return (
        f"{sentence} If those of {leader} {words[1]} and those of {rival} {words[0]}, it is "
        f"{_first_two(pd.Series({rival: rivals[rival], leader: as_worst[leader]}), leader)}."
    ), True


def _first_two(means: pd.Series, leader: Any) -> str:
    """The best system with its mean, and the system to compare it with.

    This is the second, or the system that is the best without the missing values.
    """
    first = means.index[0]
    other = means.index[1] if first == leader else leader
    if np.isclose(means[first], means[other], rtol=0, atol=1e-12):
        return f"{first} with the same mean as {other} ({means[first]:.3f})"
    # More digits, if they are needed to see which is higher.
    digits = next((n for n in (3, 4, 5) if f"{means[first]:.{n}f}" != f"{means[other]:.{n}f}"), 6)
    return f"{first} ({means[first]:.{digits}f}; {other} {means[other]:.{digits}f})"


def _bounds(evidence: Evidence) -> tuple[float, float]:
    """The lowest and the highest possible score of the main metric."""
    metric = METRICS.get(evidence.main_scores["metric"].iloc[0])
    if metric is None or not np.isfinite(metric.bounds).all():
        raise NotPossible("the scores have no bounds")
    return metric.bounds


def _words_for_bounds(evidence: Evidence) -> tuple[tuple[str, str], tuple[str, str]]:
    """What rows do that have the best and the worst possible score, in the plural and in the singular."""
    metric = METRICS[evidence.main_scores["metric"].iloc[0]]
    # A metric of correctness says what it punishes; other metrics have None.
    measures_correctness = metric.punishes is not None
    if measures_correctness and metric.binary:
        return ("count as right", "count as wrong"), ("counts as right", "counts as wrong")
    return ("get the best possible score", "get the worst possible score"), (
        "gets the best possible score",
        "gets the worst possible score",
    )
