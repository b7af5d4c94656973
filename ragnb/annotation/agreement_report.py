"""How far annotators agree, and where they differ."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ragnb.annotation.comparison import Comparison, read_everyone
from ragnb.annotation.labels import all_equal
from ragnb.annotation.tasks import Field
from ragnb.arguments import accepts, convert
from ragnb.columns import require_columns
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.reports.frames import as_frame, coefficients, interval_columns
from ragnb.stats.agreement import agreement_interval
from ragnb.stats.intervals import mean_interval


@accepts(confidence_level="level")
def agreement(
    logs: Any,
    *,
    cluster: str | Mapping[str, Any] | pd.Series | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Agreement of annotators on each field: one row per field, pair of annotators and measure.

    Higher is better, and 1 means that the annotators agree on everything. For the chance-corrected coefficients, 0 is the
    agreement that is expected by chance. A value is ``nan`` where nothing can be compared. Kappa and alpha are also ``nan``
    where all labels are the same. The limits are ``nan`` where the labels do not vary enough to estimate them.

    Parameters
    ----------
    logs
        The labels of two or more annotators in one task, each annotator once: paths of logs, a pattern such as
        ``"*.verdict.jsonl"``, open sessions, or frames of labels (`ragnb.annotation.labels.read_labels`,
        `ragnb.datasets.annotations.load_annotations`).
    cluster
        For items that are not independent, such as the answers of several systems to one question: a column of the labels
        that identifies the item or its cluster, such as ``"example_id"``, or a mapping from each item's id to its cluster.
        By default the items are independent.
    confidence_level
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        ``field``; ``pair``, ``rater``, ``against`` (``"all"`` for all annotators together, if there are three or more);
        ``metric``: percent agreement, Cohen's kappa (Fleiss' kappa for all annotators together), Gwet's AC1, Krippendorff's
        alpha, and for fields of sentences the mean overlap. Fields of grades have first the ordinal alpha and (for two
        annotators) the quadratic kappa, which count a small difference less than a large one. ``mean, low, high, interval,
        confidence_level``; ``n_units``, the number of independent units (items or clusters); ``n``, the number of compared
        labels; ``n_unlabelled``, the number of items or sentences that only one annotator labelled, which are left out.

        A field about the whole item is compared once per item. A field about each sentence of the response is compared once
        per sentence. A field of sentences counts as a yes or no for every sentence that could have been
        chosen, including the special answers. Free texts are not compared.

    Raises
    ------
    InputError
        There are fewer than two annotators, one annotator appears twice, the tasks differ, one id has different texts, a
        value is not an option of its field, an item has no cluster, or a frame has no ``sentences`` although the task is
        about them.

    Notes
    -----
    Gwet's AC1 depends on the number of categories. An option of the task counts as a category only if at least one of the
    compared annotators chose it, as in irrCAC and in `ragnb.judge_report`. The other coefficients do not change when a
    task has options that nobody chose. In particular, quadratic kappa weights a disagreement by the squared difference of
    the two grades: on a scale from 1 to 4, the grades 2 and 4 are two grades apart even if nobody chose 3.

    If each item is one unit, percent agreement of two annotators has a Wilson interval. If an item has several units, or the
    items have clusters, the units are not independent, and percent agreement has a cluster-robust t interval. The
    coefficients have a jackknife interval, which leaves out one item or one cluster at a time
    (`ragnb.stats.agreement.agreement_interval`). The mean overlap is the F1 of the two sets, which is 1 if both are empty.
    It is averaged within each item and then over the items, and has a t interval, which is cluster-robust if there are
    clusters.

    References
    ----------
    Artstein, R. & Poesio, M. (2008). Inter-coder agreement for computational linguistics. Computational Linguistics 34,
    555-596.
    """
    people = read_everyone(logs)
    units = _clusters(cluster, people)
    groups = [
        (f"{one} - {two}", one, two, [one, two]) for one, two in combinations(people.names, 2)
    ]
    if len(people.names) > 2:
        groups.append(("all", "all", "all", people.names))
    rows: list[dict[str, Any]] = []
    for asked in people.task.fields:
        if asked.kind == "text":
            continue
        decisions = _decisions(asked, people)
        several = cluster is not None or asked.each or asked.kind == "sentences"
        for pair, rater, against, names in groups:
            shared = {"field": asked.name, "pair": pair, "rater": rater, "against": against}
            found = _coefficients(
                asked, decisions[names], units if several else None, confidence_level
            )
            if asked.kind == "sentences":
                clusters = None if cluster is None else units
                found.append(_overlap(asked, people, names, clusters, confidence_level))
            rows += [shared | row for row in found]
    return as_frame(rows)


@accepts()
def disagreements(logs: Any) -> pd.DataFrame:
    """List the labels on which annotators differ, with the most disputed items first.

    A label that only some annotators gave is no disagreement. Parameters and errors are those of `agreement`.

    Returns
    -------
    DataFrame
        ``item``, ``field``, ``sentence`` (None if the field is asked of the item); ``disagreement``: the share of pairs of
        annotators that differ, or for fields of sentences one minus the mean overlap; ``votes``: what each one said, by
        name. Items are in the order of the sum of their disagreements.
    """
    people = read_everyone(logs)
    rows = [
        (item, field, sentence, 1 - _mean_overlap(people.task.field(field), given.values()), given)
        for item, places in people.votes.items()
        for (field, sentence), given in places.items()
        if not all_equal(given.values())
    ]
    names = ["item", "field", "sentence", "disagreement", "votes"]
    frame = pd.DataFrame(rows, columns=names, dtype=object).astype({"disagreement": float})
    total = frame.groupby("item", sort=False)["disagreement"].transform("sum")
    return shown(frame.iloc[np.argsort(-total, kind="stable")].reset_index(drop=True))


def _mean_overlap(asked: Field, values: Any) -> float:
    """Return the mean agreement over pairs of annotators: F1 of sentence sets, or equality of values.

    The F1 of two empty sets is 1.
    """
    pairs = [*combinations(values, 2)]
    if asked.kind != "sentences":
        return float(np.mean([all_equal(pair) for pair in pairs]))
    sizes = [(len({*one} & {*two}), len({*one}) + len({*two})) for one, two in pairs]
    return float(np.mean([2 * shared / both if both else 1.0 for shared, both in sizes]))


# ---- what is compared ----------------------------------------------------------------------------


def _of_field(asked: Field, people: Comparison) -> list[tuple[str, dict[str, Any]]]:
    """Yield the item and the labels of all annotators for each place of a field."""
    return [
        (item, given)
        for item, places in people.votes.items()
        for (name, _), given in places.items()
        if name == asked.name
    ]


def _decisions(asked: Field, people: Comparison) -> pd.DataFrame:
    """One row per decision and one column per annotator, nan where untouched; the index is the item."""
    rows: list[dict[str, float]] = []
    items: list[str] = []
    for item, given in _of_field(asked, people):
        if asked.kind == "choice":
            code = float if asked.graded else partial(asked.number, what=item)
            rows.append({who: code(value) for who, value in given.items()})
        else:
            keys = people.sentences[item].get(asked.of, [])
            possible = [*keys, *(option.value for option in asked.options)]
            rows += [{who: key in given[who] for who in given} for key in possible]
        items += [item] * (len(rows) - len(items))
    return pd.DataFrame(rows, items, people.names).astype(float)


def _clusters(cluster: str | Mapping[str, Any] | pd.Series | None, people: Comparison) -> pd.Series:
    """The number of each item's cluster, which is the item itself by default."""
    given: Any = cluster
    if cluster is None or isinstance(cluster, str):
        column = cluster or "item"
        require_columns(people.rows, [column], f"agreement(cluster={cluster!r})")
        known = people.rows.dropna(subset=column)
        given = dict(zip(known["item"], known[column], strict=True))
    items = list(people.votes)
    lacking = [item for item in items if item not in given]
    if lacking:
        raise InputError(
            f"cluster must map each item's id to its cluster, got none for {lacking[0]!r}"
        )
    return pd.Series(convert([given[item] for item in items], "clusters", "cluster"), index=items)


# ---- measures ------------------------------------------------------------------------------------


def _coefficients(
    asked: Field, decisions: pd.DataFrame, units: pd.Series | None, level: float
) -> list[dict[str, Any]]:
    n_ratings = decisions.notna().sum(axis=1)
    kept = decisions[n_ratings >= 2]
    clusters = None if units is None else units[kept.index].to_numpy()
    counted = {"n": len(kept), "n_unlabelled": int((n_ratings == 1).sum())}
    ratings = kept.to_numpy()
    graded = ["ordinal alpha", "quadratic kappa"][: 2 if ratings.shape[1] == 2 else 1]
    found = {
        name: agreement_interval(name, ratings, clusters, confidence_level=level)
        for name in graded
        if asked.graded
    }
    found |= coefficients(ratings, clusters, level)
    return [{"metric": name, **interval_columns(one), **counted} for name, one in found.items()]


def _overlap(
    asked: Field, people: Comparison, names: Sequence[str], units: pd.Series | None, level: float
) -> dict[str, Any]:
    places = _of_field(asked, people)
    sets = [(item, [given[who] for who in names if who in given]) for item, given in places]
    several = [(item, _mean_overlap(asked, chosen)) for item, chosen in sets if len(chosen) > 1]
    means = (
        pd.DataFrame(several, columns=["item", "mean"]).groupby("item", sort=False)["mean"].mean()
    )
    clusters = None if units is None else units[means.index].to_numpy()
    interval = mean_interval(means, clusters, bounds=(0.0, 1.0), confidence_level=level)
    return {
        "metric": "mean overlap",
        **interval_columns(interval),
        "n": len(several),
        "n_unlabelled": sum(len(chosen) == 1 for _, chosen in sets),
    }
