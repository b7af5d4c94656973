"""The data of a review, prepared once for all checks."""

# Tested in tests/reports/test_review_gaps.py.

from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ragnb.columns import CONDITION
from ragnb.errors import InputError
from ragnb.metrics.record import METRICS
from ragnb.reports.reviewing.checks import NotPossible
from ragnb.scoring.columns import conversations
from ragnb.scoring.comparisons import compare
from ragnb.scoring.scores import score

# Columns with the final verdict of people, the first that is there.
PEOPLE = ("verdict", "label", "human_label")
# The metric of these verdicts.
PEOPLE_METRIC = "annotator.verdict"
# Columns with verdicts of 0 and 1 of a judge.
JUDGES = ("judged_correct", "judge_verdict")
# Metrics of a correct answer. Without people's verdicts, the first that can score the responses is the
# main one.
MAIN_METRICS = (
    "semantic.judged_correctness",
    "answer.contains",
    "parts.all_supported",
)
# The metric of decisions to answer or to refuse, which needs no references.
ALIGNMENT = "abstention.alignment"
# In a sentence, up to this number of systems are named; of more, only the first `NAMED`.
MOST_NAMED, NAMED = 5, 4
# Below this number of questions, nothing is tested: an exact test of so few pairs never has a p-value below `ALPHA`.
FEW = 10


class Evidence:
    """The responses and scores under review.

    Attributes
    ----------
    responses
        The responses, numbered from 0. Empty if only scores were given.
    scores
        The scores that were given, or None.
    level
        Confidence level of intervals.
    """

    def __init__(self, responses: pd.DataFrame, scores: pd.DataFrame | None, level: float) -> None:
        self.responses = responses.reset_index(drop=True)
        self.scores = scores
        self.level = level

    def column(self, *names: str) -> str:
        """The first of these columns that the responses have and that is not empty."""
        for name in names:
            if name in self.responses and self.responses[name].notna().any():
                return name
        raise NotPossible(f"the responses have no column {' or '.join(names)}")

    @cached_property
    def systems(self) -> list[Any]:
        """The systems, in the order of their first response."""
        frame = self.responses if "system" in self.responses else self.scores
        if frame is None or "system" not in frame:
            return []
        return list(frame["system"].dropna().unique())

    def require_systems(self, n: int = 2) -> list[Any]:
        """The systems, if there are at least `n`."""
        if len(self.systems) < n:
            raise NotPossible(f"it needs {n} systems or more, got {len(self.systems)}")
        return self.systems

    def require_questions(self) -> None:
        """Raise NotPossible without ids of questions, or with too few questions for a test."""
        self.column("example_id")
        n = self.responses["example_id"].nunique()
        if n < FEW:
            raise NotPossible(f"it needs {FEW} questions or more, got {n}")

    # ---- columns of verdicts -------------------------------------------------------------------

    @cached_property
    def people(self) -> pd.Series:
        """People's verdicts as 1, 0 or NaN."""
        column = self.column(*PEOPLE)
        try:
            return self._values("annotator.verdict", verdict=self.responses[column])
        except InputError as error:
            raise NotPossible(f"the column {column} contains no verdicts ({error})") from None

    @cached_property
    def contains(self) -> pd.Series:
        """Whether each response contains a reference, as 1, 0 or NaN."""
        self.column("response")
        self.column("references")
        return self._values("answer.contains")

    def judge(self) -> tuple[str, pd.Series]:
        """Name of the column of a judge's verdicts, and the verdicts as 1, 0 or NaN."""
        column = self.column(*JUDGES)
        return column, pd.to_numeric(self.responses[column], errors="coerce")

    def _values(self, metric: str, **columns: pd.Series) -> pd.Series:
        """Values of a metric, one per response."""
        scored = score(self.responses.assign(**columns), metric)
        return pd.Series(scored["value"].to_numpy(float), self.responses.index)

    # ---- scores and comparisons ----------------------------------------------------------------

    @cached_property
    def main_scores(self) -> pd.DataFrame:
        """Scores of the main metric: one of the scores, people's verdicts, or one of `MAIN_METRICS`."""
        if self.scores is not None:
            return self.scores[self.scores["metric"] == main_metric_of(self.scores)]
        # Without systems, or without verdicts of people, another metric is tried.
        with suppress(NotPossible):
            self.require_systems(1)
            if self.people.notna().any():
                verdicts = self.responses.assign(verdict=self.people)
                return score(verdicts, "annotator.verdict")
        for name in MAIN_METRICS:
            metric = METRICS[name]
            required = [
                column for argument, column in metric.columns.items() if metric.needs(argument)
            ]
            has_columns = all(column in self.responses for column in required)
            if not has_columns or self.responses[required].isna().all().any():
                # A column that the metric needs is not there, or has no value.
                continue
            try:
                return score(self.responses, name)
            except InputError:
                # The metric refuses a value; the next one may do without it.
                continue
        raise NotPossible(self._why_no_scores())

    def _why_no_scores(self) -> str:
        """Why there is no main metric, and the scores that could be passed."""
        reason = "there is neither a verdict nor a reference by which to score the responses"
        if "answerable" in self.responses and "response" in self.responses:
            # Whether a system answers what it should can be scored without references.
            return (
                f"{reason}. To order the systems by whether they answer the answerable questions only, "
                f"use ragnb.review(responses, ragnb.score(responses, {ALIGNMENT!r}))"
            )
        return f"{reason}. Pass scores of another metric: ragnb.review(responses, scores)"

    @cached_property
    def lower_is_better(self) -> bool:
        """Whether lower values of the main metric are better; of an unknown metric, higher ones are."""
        metric = METRICS.get(self.main_scores["metric"].iloc[0])
        return metric is not None and not metric.higher_is_better

    @cached_property
    def has_binary_scores(self) -> bool:
        """Whether all scores of the main metric are 0 or 1."""
        return bool(self.main_scores["value"].dropna().isin((0, 1)).all())

    @cached_property
    def scores_of_responses(self) -> pd.Series:
        """The main score of each response."""
        return self._aligned("value", float)

    @cached_property
    def is_left_out(self) -> pd.Series:
        """Whether the main metric leaves a response out by definition, such as an answerable question."""
        metric = METRICS.get(self.main_scores["metric"].iloc[0])
        if metric is None or not metric.condition or "reason" not in self.main_scores:
            return pd.Series(False, self.responses.index)
        return self._aligned("reason", object) == metric.condition

    def _aligned(self, column: str, dtype: type) -> pd.Series:
        """A column of the main scores, with one value per response."""
        scores = self.main_scores
        if self.scores is None:
            # `ragnb.score` returns one row per response, in the same order.
            return pd.Series(scores[column].to_numpy(dtype), self.responses.index)
        candidates = ("example_id", "system", "repeat", *CONDITION)
        keys = [
            name
            for name in dict.fromkeys(candidates)
            if name in scores and name in self.responses and self.responses[name].notna().all()
        ]
        if not keys or scores.duplicated(keys).any() or self.responses.duplicated(keys).any():
            raise NotPossible("the scores cannot be assigned to single responses")
        # `merge` would rename a column that both frames have.
        values = scores.set_index(keys)[column]
        index = (
            pd.MultiIndex.from_frame(self.responses[keys]) if keys[1:] else self.responses[keys[0]]
        )
        return pd.Series(values.reindex(index).to_numpy(dtype), self.responses.index)

    @cached_property
    def is_reply_missing(self) -> pd.Series:
        """Whether the reply of each row is missing or blank."""
        texts = self.responses["response"]
        is_blank = texts.map(lambda text: isinstance(text, str) and not text.strip())
        return (texts.isna() | is_blank).astype(bool)

    @cached_property
    def unit(self) -> str | None:
        """Column of the independent units of the main scores, if the responses are not independent."""
        scores = self.main_scores
        # If conversations have several turns, this is their column.
        conversation_column = conversations(scores)
        if conversation_column:
            return conversation_column
        # The examples of one question, such as its translations, share the larger unit.
        for name in ("question_id", "example_id"):
            if name in scores and scores.duplicated(["system", name]).any():
                return name
        return None

    @cached_property
    def comparisons(self) -> pd.DataFrame:
        """All pairs of systems on the main metric, compared on the questions that both answered."""
        self.require_systems()
        if "example_id" not in self.main_scores:
            raise NotPossible("it needs the column example_id, which pairs the systems")
        try:
            return compare(
                self.main_scores,
                by=[],
                cluster=self.unit,
                unpaired="drop",
                confidence_level=self.level,
            )
        except InputError as error:
            raise NotPossible(f"the systems cannot be compared ({error})") from None

    @cached_property
    def order(self) -> list[Any]:
        """The systems by their mean on the main metric, the best first."""
        means = self.main_scores.groupby("system", sort=False)["value"].mean().dropna()
        return list(means.sort_values(ascending=self.lower_is_better, kind="stable").index)

    def best_pair(self) -> dict[str, Any]:
        """The comparison of the best two systems, as a row of `ragnb.compare`."""
        table = self.comparisons
        if len(self.order) < 2:
            raise NotPossible("it needs scores of two systems or more")
        # Either of the two may be the baseline.
        best = set(self.order[:2])
        pairs = zip(table["system"], table["baseline"], strict=True)
        is_best = [set(pair) == best for pair in pairs]
        return dict(table[is_best].iloc[0])

    def changes_order(self, values: pd.Series) -> bool:
        """Whether other values of the responses order the systems differently than people's verdicts."""
        by_system = self.responses["system"]
        before = self.people.groupby(by_system, sort=False).mean()
        after = values.groupby(by_system, sort=False).mean()
        return bool((before.rank() != after.rank()).any())

    @cached_property
    def call_for_scores(self) -> str:
        """The code that gives the scores under review."""
        if self.scores is not None:
            if self.scores["metric"].nunique() == 1:
                return "scores"
            return f"scores[scores['metric'] == {main_metric_of(self.scores)!r}]"
        metric = self.main_scores["metric"].iloc[0]
        if metric == PEOPLE_METRIC:
            # The metric reads the column verdict, and people's verdicts may be in another one.
            column = self.column(*PEOPLE)
            if column != "verdict":
                return f"ragnb.score(responses.assign(verdict=responses[{column!r}]), {metric!r})"
        return f"ragnb.score(responses, {metric!r})"

    # ---- rows ----------------------------------------------------------------------------------

    def rows_where(self, condition: Any) -> list[int]:
        """Positions of the responses for which a condition is true. It has one value per response."""
        flags = np.asarray(condition, dtype=bool)
        return [int(row) for row in np.flatnonzero(flags)]

    @cached_property
    def conditions(self) -> list[str]:
        """Columns of conditions that vary, besides the system."""
        return [
            name
            for name in CONDITION
            if name != "system"
            and name in self.responses
            and self.responses[name].nunique(dropna=False) > 1
        ]


def main_metric_of(scores: pd.DataFrame) -> str:
    """The metric by which systems are ordered: people's verdict if it was scored, or else the first."""
    metrics = scores["metric"].unique()
    return PEOPLE_METRIC if PEOPLE_METRIC in metrics else str(metrics[0])


def count_by_system(evidence: Evidence, condition: Any) -> dict[Any, tuple[int, int]]:
    """System -> number of its responses for which a condition is true, and number of its responses.

    The condition has one value per response.
    """
    flags = pd.Series(np.asarray(condition, dtype=bool), evidence.responses.index)
    if "system" not in evidence.responses:
        return {"the responses": (int(flags.sum()), len(flags))}
    groups = flags.groupby(evidence.responses["system"], sort=False)
    return {system: (int(rows.sum()), len(rows)) for system, rows in groups}


def number_of(n: int, noun: str, plural: str = "") -> str:
    """A number with its noun. The plural has the ending *s* unless it is passed.

    >>> number_of(1, "row"), number_of(2, "row"), number_of(2, "reply", "replies")
    ('1 row', '2 rows', '2 replies')
    """
    if n == 1:
        return f"{n:,} {noun}"
    return f"{n:,} {plural or f'{noun}s'}"


def counts_in_words(counts: dict[Any, tuple[int, int]]) -> str:
    """Counts by system in a sentence, the largest first; systems without any are left out.

    >>> counts_in_words({"a": (0, 9), "b": (3, 12), "c": (5, 10)})
    'c 5 of 10 (50.0%), b 3 of 12 (25.0%)'
    """
    positive = [(system, count, n) for system, (count, n) in counts.items() if count]
    largest_first = sorted(positive, key=lambda entry: entry[1], reverse=True)
    n_named = len(positive) if len(positive) <= MOST_NAMED else NAMED
    texts = [f"{system} {share_of(count, n)}" for system, count, n in largest_first[:n_named]]
    others = [count for _, count, _ in largest_first[n_named:]]
    if others:
        texts.append(f"and {len(others)} more systems with {sum(others):,} together")
    return ", ".join(texts)


def share_of(count: int, n: int, noun: str = "") -> str:
    """A count, the total, and its share of the total.

    >>> share_of(506, 3610), share_of(3, 7000, "rows")
    ('506 of 3,610 (14.0%)', '3 of 7,000 rows (less than 0.1%)')
    """
    share = 100 * count / n if n else 0.0
    # One decimal would show a small share as 0.
    percentage = "less than 0.1" if count and share < 0.05 else f"{share:.1f}"
    total = f"{n:,} {noun}" if noun else f"{n:,}"
    return f"{count:,} of {total} ({percentage}%)"


def view_rows(name: str) -> str:
    """The call that shows the responses of a finding."""
    return f"ragnb.view(responses.loc[review.rows_of({name!r})])"
