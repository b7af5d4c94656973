"""How far annotators agree, and where they do not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ragnb.annotation.label_state import Place
from ragnb.annotation.labelled import (
    Labelled,
    alike,
    items_of,
    places_of,
    read_everyone,
    sentences_of,
    votes,
)
from ragnb.annotation.tasks import Field
from ragnb.arguments import Integers, convert
from ragnb.errors import InputError
from ragnb.reports.frames import as_frame
from ragnb.reports.judge_agreement import coefficients
from ragnb.reports.judge_data import interval_columns
from ragnb.stats.intervals import mean_interval

OVERLAP = "mean overlap"
COLUMNS = ("field", "pair", "rater", "against", "metric", "mean", "low", "high", "interval", "confidence_level", "n_units",
           "n", "n_unlabelled")  # fmt: skip


def agreement(
    logs: Any,
    *,
    cluster: Mapping[str, Any] | pd.Series | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Agreement of annotators on each field: one row per field, pair of annotators and measure.

    Higher is better, and 1 means that the annotators agree on everything. For the chance-corrected coefficients, 0 is the
    agreement that is expected by chance. A value is ``nan`` where nothing can be compared. Kappa and alpha are also ``nan``
    where all labels are the same. The limits are ``nan`` where the labels do not vary enough to estimate them.

    Parameters
    ----------
    logs
        The labels of two or more annotators in one task, each annotator once: paths of logs, open sessions, or frames of
        labels (`ragnb.annotation.export.read_labels`, `ragnb.datasets.annotations.load_annotations`).
    cluster
        A mapping from each item's id to its cluster, for items that are not independent. An example is the question that
        several systems answered. By default the items are independent.
    confidence_level
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        ``field``; ``pair``, ``rater``, ``against`` (``"all"`` for all annotators together, if there are three or more);
        ``metric``: percent agreement, Cohen's kappa (Fleiss' kappa for all annotators together), Gwet's AC1, Krippendorff's
        alpha, and the mean overlap for fields of sentences; ``mean, low, high, interval, confidence_level``; ``n_units``,
        the number of independent units (items or clusters); ``n``, the number of compared labels; ``n_unlabelled``, the
        number of items or sentences that only one annotator labelled, which are left out.

        A field that is asked of the item is compared once per item. A field that is asked of each sentence of the response
        is compared once per sentence. A field of sentences counts as a yes or no for every sentence that could have been
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
    task has options that nobody chose.

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
    level, people = convert(confidence_level, "level", "confidence_level"), read_everyone(logs)
    groups = _clusters(cluster, items_of(people))
    rows: list[dict[str, Any]] = []
    for asked in people[0].task.fields:
        if asked.kind != "text":
            units = _units(asked, people, groups)
            for told, chosen in _groups(people):
                found = _rows(units, chosen, level) + _overlap(
                    asked, [people[i] for i in chosen], groups, level
                )
                rows += [{"field": asked.name, **told, **row} for row in found]
    return as_frame(rows, COLUMNS)


def disagreements(logs: Any) -> pd.DataFrame:
    """Where annotators differ, one row an item and field (and sentence), the most disputed items first.

    What only some of them labelled is no disagreement. Parameters and errors are those of `agreement`.

    Returns
    -------
    DataFrame
        ``item``, ``field``, ``sentence`` (None where the field is asked of the item); ``disagreement``: the share of pairs
        of annotators that differ, or of fields of sentences one minus the mean overlap; ``votes``: what each one said, by
        name.
        Items come in the order of the sum of their disagreements.
    """
    people = read_everyone(logs)
    rows = [row for item in items_of(people) for row in _disputes(item, people)]
    frame = pd.DataFrame(rows, columns=["item", "field", "sentence", "disagreement", "votes"])
    frame["sentence"] = pd.Series([row["sentence"] for row in rows], dtype=object)
    total = frame.groupby("item", sort=False)["disagreement"].transform("sum")
    return frame.iloc[np.argsort(-total.to_numpy(dtype=np.float64), kind="stable")].reset_index(
        drop=True
    )


def overlap(first: Sequence[Any], second: Sequence[Any]) -> float:
    """F1 of two sets; in [0, 1], 1 where both are empty.

    >>> overlap(["0a", "0b"], ["0b"]), overlap([], [])
    (0.6666666666666666, 1.0)
    """
    one, two = set(first), set(second)
    return 2 * len(one & two) / (len(one) + len(two)) if one or two else 1.0


# ---- what is compared --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Units:
    """Codes of units x annotators, -1 where untouched; what each unit belongs to, where units are not independent."""

    codes: Integers
    clusters: Integers | None


def _clusters(
    cluster: Mapping[str, Any] | pd.Series | None, items: Sequence[str]
) -> dict[str, int] | None:
    """The number of each item's cluster."""
    if cluster is None:
        return None
    given = dict(cluster) if isinstance(cluster, Mapping | pd.Series) else {}
    if lacking := [item for item in items if item not in given]:
        raise InputError(
            f"cluster needs a mapping from each item's id; got none for {lacking[0]!r}; add its question"
        )
    codes = convert([given[item] for item in items], "clusters", "cluster")
    return dict(zip(items, codes.tolist(), strict=True))


def _units(asked: Field, people: list[Labelled], groups: dict[str, int] | None) -> _Units:
    rows: list[list[int]] = []
    clusters: list[int] = []
    for number, item in enumerate(items_of(people)):
        found = _item_codes(asked, item, people)
        rows += found
        clusters += [groups[item] if groups else number] * len(found)
    codes = np.array(rows, dtype=np.int64).reshape(-1, len(people))
    several = groups is not None or asked.each or asked.kind == "sentences"
    return _Units(codes, np.array(clusters, dtype=np.int64) if several else None)


def _item_codes(asked: Field, item: str, people: list[Labelled]) -> list[list[int]]:
    labels = [one.items[item].values if item in one.items else {} for one in people]
    keys = _sentences(asked, item, people) if asked.each or asked.kind == "sentences" else {}
    asked_of = (
        [(asked.name, key) for key in keys["response"]] if asked.each else [(asked.name, None)]
    )
    if asked.kind == "choice":
        return [
            [_choice(asked, values.get(place), item) for values in labels] for place in asked_of
        ]
    universe = [*keys[asked.of], *(option.value for option in asked.options)]
    return [
        [_member(key, values.get(place)) for values in labels]
        for place in asked_of
        for key in universe
    ]


def _sentences(asked: Field, item: str, people: list[Labelled]) -> dict[str, list[str]]:
    keys = sentences_of(item, people)
    if not {"documents", "response"} <= set(keys):
        raise InputError(
            f"agreement on {asked.name!r} needs the keys of all sentences of item {item!r}; got none; pass the log, or the "
            "frame of read_labels with its column sentences"
        )
    return keys


def _choice(asked: Field, value: Any, item: str) -> int:
    if value is None:
        return -1
    found = [n for n, option in enumerate(asked.options) if alike([option.value, value])]
    if not found:
        raise InputError(
            f"{asked.name!r} of item {item!r} needs one of {[option.value for option in asked.options]}; got {value!r}; "
            "map your labels to these"
        )
    return found[0]


def _member(key: Any, chosen: Any) -> int:
    return -1 if chosen is None else int(key in chosen)


def _groups(people: list[Labelled]) -> Iterator[tuple[dict[str, str], list[int]]]:
    """Each pair of annotators and, where they are more than two, all of them."""
    for i, j in combinations(range(len(people)), 2):
        one, two = people[i].annotator, people[j].annotator
        yield {"pair": f"{one} - {two}", "rater": one, "against": two}, [i, j]
    if len(people) > 2:
        yield {"pair": "all", "rater": "all", "against": "all"}, list(range(len(people)))


# ---- measures ----------------------------------------------------------------------------------------------------------


def _rows(units: _Units, chosen: list[int], level: float) -> list[dict[str, Any]]:
    codes = units.codes[:, chosen]
    ratings = (codes >= 0).sum(axis=1)
    kept = ratings >= 2
    clusters = None if units.clusters is None else units.clusters[kept]
    found = coefficients(np.where(codes < 0, np.nan, codes)[kept], clusters, level)
    counted = {"n": int(kept.sum()), "n_unlabelled": int((ratings == 1).sum())}
    return [
        {"metric": name, **interval_columns(interval), **counted}
        for name, interval in found.items()
    ]


def _overlap(
    asked: Field, people: list[Labelled], groups: dict[str, int] | None, level: float
) -> list[dict[str, Any]]:
    if asked.kind != "sentences":
        return []
    means, clusters, n, alone = [], [], 0, 0
    for item in items_of(people):
        said = [
            list(votes(item, place, people).values())
            for place in places_of(item, people)
            if place[0] == asked.name
        ]
        found = [_mean_overlap(values) for values in said if len(values) > 1]
        if found:
            means.append(float(np.mean(found)))
            clusters.append(groups[item] if groups else len(means))
        n, alone = n + len(found), alone + sum(len(values) == 1 for values in said)
    interval = mean_interval(means, clusters if groups else None, confidence_level=level)
    clipped = replace(
        interval, low=float(np.clip(interval.low, 0, 1)), high=float(np.clip(interval.high, 0, 1))
    )
    return [{"metric": OVERLAP, **interval_columns(clipped), "n": n, "n_unlabelled": alone}]


def _mean_overlap(values: Sequence[Any]) -> float:
    return float(np.mean([overlap(one, two) for one, two in combinations(values, 2)]))


# ---- where they differ -------------------------------------------------------------------------------------------------


def _disputes(item: str, people: list[Labelled]) -> Iterator[dict[str, Any]]:
    for place in places_of(item, people):
        said = votes(item, place, people)
        if not alike(said.values()):
            apart = _disagreement(place, list(said.values()), people[0])
            yield {
                "item": item,
                "field": place[0],
                "sentence": place[1],
                "disagreement": apart,
                "votes": said,
            }


def _disagreement(place: Place, values: list[Any], one: Labelled) -> float:
    if one.task.field(place[0]).kind == "sentences":
        return 1 - _mean_overlap(values)
    return float(np.mean([not alike(pair) for pair in combinations(values, 2)]))
