"""Checks of labels and judges: missing labels, labels of different kinds, and judges that nobody checked."""

# Tested in tests/reports/test_review_gaps.py.

from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr
from scipy.stats import binomtest, fisher_exact

from ragnb.metrics.judged import VERDICTS_OF_A_MODEL
from ragnb.metrics.references import reference_parts
from ragnb.metrics.words import metric_words
from ragnb.numbers import format_p_value
from ragnb.reports.reviewing.checks import ALPHA, ORDER, SYSTEMS, Finding, NotPossible, check
from ragnb.reports.reviewing.evidence import (
    JUDGES,
    PEOPLE,
    PEOPLE_METRIC,
    Evidence,
    count_by_system,
    counts_in_words,
    number_of,
    share_of,
    view_rows,
)
from ragnb.reports.reviewing.gaps import effect_of_gaps, explanation
from ragnb.text import fold, graphemes, tokens


@check("missing labels", "Does every response have a verdict or a score?")
def missing_labels(evidence: Evidence) -> Iterator[Finding]:
    """Verdicts, grades or scores that are missing."""
    name = "missing labels"
    columns = _columns_of_labels(evidence)
    if not columns:
        raise NotPossible("there are neither labels nor scores")
    for words, missing in columns.items():
        # A column without any value was not filled in, which says nothing about a system.
        if not missing.any() or missing.all():
            continue
        counts = count_by_system(evidence, missing)
        total = share_of(int(missing.sum()), len(missing), "rows")
        sentences = [f"The {words} is missing in {total}: {counts_in_words(counts)}."]
        sentences += _overlap_with_missing_replies(evidence, missing)
        sentences += _questions_left(evidence, missing)
        effect, best_system = effect_of_gaps(evidence, missing)
        why = explanation(evidence, missing)
        if why:
            sentences.append(why.sentence)
        sentences += [best_system] if best_system else []
        call = why.next_call if why else ""
        rows = evidence.rows_where(missing)
        yield Finding(
            " ".join(sentences), float(missing.sum()), rows, effect, call or view_rows(name)
        )


def _columns_of_labels(evidence: Evidence) -> dict[str, pd.Series]:
    """Words for each column of labels -> where it has no value; also for the main score if it was passed."""
    responses = evidence.responses
    columns = {}
    for names, words in ((PEOPLE, "verdict of people"), (JUDGES, "verdict of a judge")):
        with suppress(NotPossible):
            column = evidence.column(*names)
            columns[f"{words} ({column})"] = responses[column].isna()
    if "response" not in responses:
        # The rows are then grades, such as those of judges.
        for name in responses:
            if name in ("grade", "score", "value") or str(name).endswith("_grade"):
                columns[str(name)] = responses[name].isna()
    elif evidence.scores is not None:
        with suppress(NotPossible):
            scores = evidence.scores_of_responses
            metric = str(evidence.main_scores["metric"].iloc[0])
            # A missing reply has a check of its own, and a score that the metric leaves out is not missing.
            missing = scores.isna() & ~evidence.is_reply_missing & ~evidence.is_left_out
            if metric != PEOPLE_METRIC:
                columns[f"score ({metric_words(metric)})"] = missing
    return columns


def _overlap_with_missing_replies(evidence: Evidence, missing: pd.Series) -> list[str]:
    """A sentence about the rows that have no reply either, if there are any."""
    if "response" not in evidence.responses:
        return []
    n_without_reply = int((missing & evidence.is_reply_missing).sum())
    return [f"{n_without_reply:,} of these rows have no reply either."] if n_without_reply else []


def _questions_left(evidence: Evidence, missing: pd.Series) -> list[str]:
    """A sentence about the questions on which all systems can be compared, if there are several systems."""
    responses = evidence.responses
    if len(evidence.systems) < 2 or "example_id" not in responses:
        return []
    is_incomplete = missing.groupby(responses["example_id"]).any()
    n_complete = int((~is_incomplete).sum())
    return [
        f"{n_complete:,} of {len(is_incomplete):,} questions have a value in all rows. A comparison of two systems "
        "with unpaired='drop' leaves out the questions on which one of them has no value."
    ]


@check(
    "labels of different kinds",
    "Are answers that contain the reference called wrong more often for one system than for another?",
    is_test=True,
)
def labels_of_different_kinds(evidence: Evidence) -> Iterator[Finding]:
    """Pairs of systems whose answers contain the reference, if one is called wrong more often."""
    name = "labels of different kinds"
    systems = evidence.require_systems()
    evidence.require_questions()
    people, contains = evidence.people, evidence.contains
    is_rejected = (contains == 1) & (people == 0)
    # 1 if people reject an answer that contains the reference, 0 if they accept it, and else missing.
    is_judged = (contains == 1) & people.notna()
    rejections = _by_question(evidence, is_rejected.where(is_judged))
    pairs = list(combinations(systems, 2))
    findings = []
    for first, second in pairs:
        both = rejections[[first, second]].dropna()
        only_first = int(((both[first] == 1) & (both[second] == 0)).sum())
        only_second = int(((both[first] == 0) & (both[second] == 1)).sum())
        n_discordant = only_first + only_second
        if not n_discordant:
            continue
        # The exact test of McNemar. Each pair is tested, so the rate of false findings is divided.
        p_value = binomtest(only_first, n_discordant).pvalue
        if p_value < ALPHA / len(pairs):
            findings.append((p_value, first, second, only_first, only_second, len(both)))
    if not findings:
        return
    # The pair with the smallest p-value, and of the two the one that is rejected more often first.
    p_value, first, second, only_first, only_second, n_both = min(findings)
    if only_second > only_first:
        first, second, only_first, only_second = second, first, only_second, only_first
    # For each system: answers that are rejected, of the judged ones that contain the reference.
    of_system = evidence.responses["system"]
    rejected_of_contained = {}
    for system, judged in is_judged.groupby(of_system, sort=False):
        n_rejected = int(is_rejected[judged.index].sum())
        rejected_of_contained[system] = (n_rejected, int(judged.sum()))
    pair_words = ""
    if len(pairs) > 1:
        pair_words = f"; of {len(pairs)} pairs of systems, this one has the smallest p-value"
    lengths = evidence.responses["response"].map(
        lambda text: len(tokens(text)) if isinstance(text, str) else np.nan
    )
    medians = lengths[is_judged].groupby(of_system).median()
    n_rejected = int(is_rejected.sum())
    counts = (
        "People reject some of the judged answers that contain the reference: "
        f"{counts_in_words(rejected_of_contained)}."
    )
    same_questions = (
        f"On the {n_both:,} questions on which the answers of both {first} and {second} contain it, "
        f"{number_of(only_first, 'time')} people reject {first} and accept {second}, and "
        f"{number_of(only_second, 'time')} the reverse ({format_p_value(p_value)}{pair_words})."
    )
    n_within_words = _n_within_words(evidence, is_rejected)
    explanations = (
        "There are two explanations: people may have labelled the systems by different standards, or an "
        'answer contains the reference by chance, as "2022" contains "2". '
        f"In {n_within_words:,} of the {n_rejected:,} rejected answers, the reference is only a part of a "
        "longer word or number. Long answers contain more by chance; the medians are "
        f"{medians[first]:.0f} words ({first}) and {medians[second]:.0f} words ({second})."
    )
    sentence = f"{counts} {same_questions} {explanations}"
    # What the order of the systems would be if answers that contain the reference were right.
    repaired = people.where(~is_rejected, 1.0)
    effect = ORDER if evidence.changes_order(repaired) else SYSTEMS
    # The rows and their number are those of all systems, because a reader has to compare them.
    rows = evidence.rows_where(is_rejected)
    yield Finding(sentence, float(is_rejected.sum()), rows, effect, view_rows(name))


def _n_within_words(evidence: Evidence, rows: pd.Series) -> int:
    """Number of responses that contain a part of the reference only within longer words or numbers."""
    frame = evidence.responses.loc[rows, ["response", "references"]]
    n = 0
    for response, reference in zip(frame["response"], frame["references"], strict=True):
        words = _spaced(response)
        parts = reference_parts(reference, can_be_blank=True)
        # Each part needs one of its aliases.
        has_all_parts = all(any(_spaced(alias) in words for alias in part) for part in parts)
        n += not has_all_parts
    return n


def _spaced(text: str) -> str:
    """The words of a text in small letters, with a space before and after each."""
    return f" {' '.join(tokens(fold(text).lower()))} "


def _by_question(evidence: Evidence, values: pd.Series) -> pd.DataFrame:
    """Values of the responses: one row per question and condition, one column per system."""
    keys = ["example_id", *evidence.conditions]
    frame = evidence.responses[[*keys, "system"]].assign(value=values)
    # A question that a system answered several times counts once, by its first answer.
    frame = frame.drop_duplicates([*keys, "system"])
    return frame.pivot(index=keys, columns="system", values="value")


@check("unchecked judge", "Was the judge compared with people?")
def unchecked_judge(evidence: Evidence) -> Iterator[Finding]:
    """Verdicts of a judge without a label of a person."""
    try:
        column, _ = evidence.judge()
        judgements = f"verdicts in {column}"
    except NotPossible:
        metrics = [] if evidence.scores is None else list(evidence.scores["metric"].unique())
        judged = [metric for metric in metrics if str(metric).startswith(VERDICTS_OF_A_MODEL)]
        if not judged:
            raise NotPossible("there are no verdicts of a judge") from None
        judgements = f"scores {', '.join(judged)}"
    try:
        n_labelled = int(evidence.people.notna().sum())
    except NotPossible:
        n_labelled = 0
    if n_labelled:
        return
    sentence = (
        f"The {judgements} are those of a model, and no response has the verdict of a person, so it is not "
        "known how often the judge errs, and for which system."
    )
    call = "ragnb.Annotator(responses.sample(100, random_state=0), 'verdict', 'your name')"
    yield Finding(sentence, float(len(evidence.responses)), [], ORDER, call)


@check("judge cannot tell", "Do the labels show that the judge can tell right from wrong?")
def judge_cannot_tell(evidence: Evidence) -> Iterator[Finding]:
    """A judge that is not shown to accept right answers more often than wrong ones."""
    column, verdicts, people = _judged(evidence)
    is_accepted, is_right, is_wrong = verdicts == 1, people == 1, people == 0
    n_right, n_right_accepted = int(is_right.sum()), int((is_right & is_accepted).sum())
    n_wrong, n_wrong_accepted = int(is_wrong.sum()), int((is_wrong & is_accepted).sum())
    if not (n_right and n_wrong):
        raise NotPossible("people's verdicts on the judged responses are all the same")
    table = [
        [n_right_accepted, n_right - n_right_accepted],
        [n_wrong_accepted, n_wrong - n_wrong_accepted],
    ]
    p_value = fisher_exact(table, alternative="greater").pvalue
    # The finding is that the labels do not show it, so a significant test gives none.
    is_significant = p_value < 1 - evidence.level
    if is_significant:
        return
    sentence = (
        f"The judge ({column}) accepts {n_right_accepted:,} of {n_right:,} right answers and "
        f"{n_wrong_accepted:,} of {n_wrong:,} wrong ones ({format_p_value(p_value)}), so the labels do "
        "not show that it can distinguish them."
    )
    difference = n_right_accepted / n_right - n_wrong_accepted / n_wrong
    call = f"ragnb.judge_report(responses, judge={column!r}, label={_people(evidence)!r})"
    yield Finding(sentence, difference, [], ORDER, call)


@check("judge errs by system", "Does the judge err more often for one system?", is_test=True)
def judge_errs_by_system(evidence: Evidence) -> Iterator[Finding]:
    """Error rates of a judge that differ between systems."""
    systems = evidence.require_systems()
    column, verdicts, people = _judged(evidence)
    pairs = list(combinations(systems, 2))
    of_system = evidence.responses["system"]
    findings: list[tuple[float, str, Any, Any, list[tuple[int, int]]]] = []
    for label, error in ((0, "accepts wrong answers"), (1, "rejects right answers")):
        # Among the responses with this label, whether the verdict is the other one.
        is_error = (verdicts != label)[people == label]
        # System -> number of errors, and number of responses.
        counts = {}
        for system, errors in is_error.groupby(of_system[people == label]):
            counts[system] = (int(errors.sum()), len(errors))
        for first, second in pairs:
            table = [counts.get(first, (0, 0)), counts.get(second, (0, 0))]
            p_value = fisher_exact([[count, n - count] for count, n in table]).pvalue
            # Two kinds of errors are tested for each pair.
            if p_value < ALPHA / (2 * len(pairs)):
                findings.append((p_value, error, first, second, table))
    if not findings:
        return
    p_value, error, first, second, table = min(findings, key=lambda finding: finding[0])
    (n_first, of_first), (n_second, of_second) = table
    sentence = (
        f"The judge ({column}) {error} of {first} in {n_first} of {of_first} cases and of {second} in "
        f"{n_second} of {of_second} ({format_p_value(p_value)}), so a difference that it finds between them "
        "may be its error."
    )
    is_error = (verdicts != people) & of_system.isin([first, second])
    rows = evidence.rows_where(is_error)
    call = f"ragnb.judge_report(responses, judge={column!r}, label={_people(evidence)!r})"
    yield Finding(sentence, float(is_error.sum()), rows, ORDER, call)


@check("judge errs by length", "Does the judge err more often on longer answers?", is_test=True)
def judge_errs_by_length(evidence: Evidence) -> Iterator[Finding]:
    """Errors of a judge that depend on the length of the answer, within systems."""
    name = "judge errs by length"
    evidence.column("response")
    column, verdicts, people = _judged(evidence)
    lengths = evidence.responses["response"].map(
        lambda text: len(graphemes(text)) if isinstance(text, str) else np.nan
    )
    frame = pd.DataFrame(
        {
            "system": evidence.responses.get("system", "all"),
            "label": people,
            "is_error": verdicts != people,
            "length": lengths,
        }
    )[verdicts.notna() & people.notna() & lengths.notna()]
    # The kind of errors with the smaller p-value is reported.
    tests = []
    for label, error in ((0, "accepts wrong answers"), (1, "rejects right answers")):
        strata = [rows for _, rows in frame[frame["label"] == label].groupby("system")]
        p_value, is_longer = _rank_test(strata)
        tests.append((p_value, error, is_longer, label))
    p_value, error, is_longer, label = min(tests)
    if p_value >= ALPHA / len(tests):
        return
    rows = frame[frame["label"] == label]
    medians = rows.groupby("is_error")["length"].median()
    sentence = (
        f"The judge ({column}) {error} more often if they are {'longer' if is_longer else 'shorter'}: "
        f"their median is {medians[True]:,.0f} characters, against {medians[False]:,.0f} of the others "
        f"({format_p_value(p_value)}, within systems)."
    )
    errors = evidence.rows_where((verdicts != people) & (people == label))
    yield Finding(sentence, float(len(errors)), errors, SYSTEMS, view_rows(name))


def _rank_test(strata: list[pd.DataFrame]) -> tuple[float, bool]:
    """Test whether errors are on longer answers, or on shorter ones, within strata.

    Each stratum has the columns ``is_error`` and ``length``. The result is the two-sided p-value, and whether
    errors are on longer answers.

    The stratified Wilcoxon test of van Elteren (1960), with the normal approximation and ties.
    """
    # The sum of the ranks of errors minus its expectation, and its variance, over all strata.
    deviation, variance = 0.0, 0.0
    for rows in strata:
        n, n_errors = len(rows), int(rows["is_error"].sum())
        # Without errors, or with errors only, a stratum has nothing to compare.
        if n_errors in (0, n):
            continue
        # Ranks divided by n + 1 weight each stratum as van Elteren does.
        ranks = rows["length"].rank().to_numpy() / (n + 1)
        is_error = rows["is_error"].to_numpy(bool)
        deviation += ranks[is_error].sum() - n_errors * ranks.mean()
        # Variance of the sum of n_errors ranks that are drawn at random, without replacement, from
        # the n ranks of the stratum. It also holds for tied ranks, because it uses their own variance.
        variance += n_errors * (n - n_errors) / n * ranks.var(ddof=1)
    # In no stratum are there both errors and different lengths, so there is nothing to test.
    if variance == 0:
        return 1.0, False
    # Two tails of the normal distribution.
    return float(2 * ndtr(-abs(deviation) / sqrt(variance))), deviation > 0


def _judged(evidence: Evidence) -> tuple[str, pd.Series, pd.Series]:
    """Column and verdicts of a judge, and people's verdicts, on the responses that have both."""
    column, verdicts = evidence.judge()
    people = evidence.people
    has_both = verdicts.isin((0, 1)) & people.notna()
    if not has_both.any():
        raise NotPossible("no response has the verdicts of both a judge and a person")
    return column, verdicts.where(has_both), people.where(has_both)


def _people(evidence: Evidence) -> str:
    """Column of people's verdicts."""
    return evidence.column(*PEOPLE)
