"""How far annotators agree, and where they differ."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ragnb.annotation.comparison import Comparison, read_annotators
from ragnb.annotation.items import Item, build_items, refuse_changed_texts
from ragnb.annotation.labels import all_equal
from ragnb.annotation.tasks import LISTS, Field
from ragnb.arguments import accepts, convert
from ragnb.columns import require_columns
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.reports.frames import agreement_intervals, as_frame, interval_columns
from ragnb.stats.agreement import GRADED, agreement_interval, panel_intervals
from ragnb.stats.intervals import mean_interval

# The coefficients of two annotators that depend on nobody else, besides those of grades.
_OF_PAIRS = ("percent agreement", "Cohen's kappa", "Krippendorff's alpha")


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
        alpha, and for fields of sentences or tags the mean overlap. Fields of grades have first the ordinal alpha and (for
        two annotators) the quadratic kappa, which count a small difference less than a large one. ``mean, low, high,
        interval, confidence_level``; ``n_units``, the number of independent units (items or clusters); ``n``, the number of
        compared labels; ``n_unlabelled``, the number of labels that are left out because only one annotator labelled the
        item or the sentence.

        A field about the whole item is compared once per item. A field about each sentence of the response is compared once
        per sentence. A field of sentences counts as a yes or no for every sentence that could have been
        chosen, including the special answers. A field of tags counts as a yes or no for every tag that is in the codebook of
        an annotator. Tags whose names differ only in letter case or white space are the same. Free texts are not compared.

    Raises
    ------
    InputError
        There are fewer than two annotators, one annotator appears twice, the tasks differ, one id has different texts, a
        value is not an option of its field, an item has no cluster or several, or a frame has no ``sentences`` although the
        task is about them.

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
    people = read_annotators(logs)
    pairs = list(combinations(people.names, 2))
    return agreement_rows(people, pairs, cluster=cluster, confidence_level=confidence_level)


def agreement_rows(
    people: Comparison,
    pairs: Sequence[tuple[str, str]],
    *,
    cluster: str | Mapping[str, Any] | pd.Series | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """The agreement of some pairs of annotators, and of all together if there are three or more."""
    # By item. Without `cluster`, each item is a cluster of its own.
    clusters = _clusters(cluster, people)
    groups = [(f"{first} - {second}", first, second, [first, second]) for first, second in pairs]
    if len(people.names) > 2:
        groups.append(("all", "all", "all", people.names))
    rows: list[dict[str, Any]] = []
    for field in people.task.fields:
        if field.kind == "text":
            continue
        decisions = _decisions(field, people)
        # Several decisions on one item are not independent. If there is one per item, and no clusters of items, the
        # decisions are independent, and None selects the intervals for this case.
        has_several_per_item = field.each or field.kind in LISTS
        is_clustered = cluster is not None or has_several_per_item
        clusters_of_decisions = clusters if is_clustered else None
        # The overlap is averaged within each item first, so there is one value per item.
        clusters_of_overlaps = None if cluster is None else clusters
        for pair, rater, against, names in groups:
            about = {"field": field.name, "pair": pair, "rater": rater, "against": against}
            measures = _coefficients(
                field, decisions[names], clusters_of_decisions, confidence_level
            )
            if field.kind in LISTS:
                measures.append(
                    _overlap(field, people, names, clusters_of_overlaps, confidence_level)
                )
            rows += [about | measure for measure in measures]
    return as_frame(rows)


@accepts(confidence_level="level")
def panel_agreement(
    logs: Any,
    annotator: str,
    *,
    cluster: str | Mapping[str, Any] | pd.Series | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Compare the agreement of a panel with one annotator to the agreement within the panel.

    Judges that agree with each other more than with people share something that people do not share. The intervals of
    single pairs do not show how clear this is, because all pairs labelled the same items.

    Parameters
    ----------
    logs
        The labels of three or more annotators in one task; see `agreement`, which has the same errors.
    annotator
        The annotator with whom the others, the panel, are compared.
    cluster, confidence_level
        As for `agreement`.

    Returns
    -------
    DataFrame
        Three rows for each field and coefficient, with a jackknife interval each: ``agreement`` names the mean agreement
        with the annotator, the mean agreement of the others with each other, and the *difference*, the second minus the
        first. ``field, metric``: ordinal alpha and quadratic kappa of grades, percent agreement, Cohen's kappa,
        Krippendorff's alpha; ``mean, low, high, interval, confidence_level``; ``n_units``, the number of independent units;
        ``n``, the number of items (or sentences, or tags) with two labels or more; ``n_pairs``, the number of pairs of
        annotators in the mean.

    Raises
    ------
    InputError
        Nobody of this name labelled, or there are fewer than two others.
    """
    people = read_annotators(logs)
    if annotator not in people.names:
        raise InputError(f"annotator must be one of {', '.join(people.names)}, got {annotator!r}")
    others = [name for name in people.names if name != annotator]
    if len(others) < 2:
        raise InputError(
            "panel_agreement needs two or more annotators besides the one with whom they are compared, "
            f"got {len(others)}"
        )
    clusters = _clusters(cluster, people)
    rows: list[dict[str, Any]] = []
    for field in people.task.fields:
        if field.kind == "text":
            continue
        decisions = _decisions(field, people)[[annotator, *others]]
        n_ratings = decisions.notna().sum(axis=1)
        compared = decisions[n_ratings >= 2]
        is_clustered = cluster is not None or field.each or field.kind in LISTS
        cluster_of_row = clusters[compared.index].to_numpy() if is_clustered else None
        n_pairs_of_others = len(others) * (len(others) - 1) // 2
        names = {
            "with": (f"with {annotator}", len(others)),
            "between": ("between the others", n_pairs_of_others),
            "difference": ("difference", len(others) + n_pairs_of_others),
        }
        for coefficient in [*(GRADED if field.graded else ()), *_OF_PAIRS]:
            intervals = panel_intervals(
                coefficient, compared.to_numpy(), cluster_of_row, confidence_level=confidence_level
            )
            for key, interval in intervals.items():
                name, n_pairs = names[key]
                row = {"field": field.name, "metric": coefficient, "agreement": name}
                counts = {"n": len(compared), "n_pairs": n_pairs}
                rows.append(row | interval_columns(interval) | counts)
    return as_frame(rows)


@accepts()
def disagreements(
    logs: Any,
    examples: pd.DataFrame | None = None,
    *,
    id: str | Sequence[str] | None = None,
) -> pd.DataFrame:
    """List the labels on which annotators differ, with the most disputed items first.

    A label that only some annotators gave is no disagreement. Logs do not contain the texts that were labelled, so pass the
    examples to see them.

    Parameters
    ----------
    logs
        The labels of two or more annotators; see `agreement`, which has the same errors.
    examples
        What the annotators were shown. Further rows are ignored.
    id
        Column or columns that identify a row of `examples`; by default those that the logs name.

    Returns
    -------
    DataFrame
        ``item``, ``field``, ``sentence`` (None if the field is asked of the item; with `examples`, the key and the text);
        ``disagreement``: the share of pairs of annotators that differ, or for fields of sentences or tags one minus the mean
        overlap; ``votes``: the label of each annotator, by name. With `examples` also ``question, references, response``, as
        far as the task shows them. Items are in the order of the sum of their disagreements.
    """
    people = read_annotators(logs)
    texts = None if examples is None else texts_of_items(examples, people, id or people.id)
    return disputed_labels(people, texts)


def disputed_labels(
    people: Comparison, texts: Mapping[str, "ItemTexts"] | None = None
) -> pd.DataFrame:
    """The labels on which annotators differ, with the texts of the items if they are known."""
    rows: list[dict[str, Any]] = []
    for item, votes_by_place in people.votes.items():
        shown_texts = {} if texts is None else texts[item].columns
        sentences: Mapping[Any, str] = {} if texts is None else texts[item].sentences
        for (field, sentence), vote_by_name in votes_by_place.items():
            if not all_equal(vote_by_name.values()):
                overlap = overlap_of_votes(people.task.field(field), vote_by_name.values())
                place = {"field": field, "sentence": sentences.get(sentence, sentence)}
                difference = {"disagreement": 1 - overlap, "votes": vote_by_name}
                rows.append({"item": item} | place | difference | shown_texts)
    columns = [] if not texts else list(next(iter(texts.values())).columns)
    names = ["item", "field", "sentence", "disagreement", "votes", *columns]
    frame = pd.DataFrame(rows, columns=names, dtype=object).astype({"disagreement": float})
    # Each row gets the sum of its item. A stable sort keeps the rows of an item together, in the order of the task.
    total = frame.groupby("item", sort=False)["disagreement"].transform("sum")
    return shown(frame.iloc[np.argsort(-total, kind="stable")].reset_index(drop=True))


@dataclass(frozen=True)
class ItemTexts:
    """What annotators saw of an item: its texts by column, and its sentences with their keys."""

    columns: dict[str, str]
    sentences: dict[str, str]


def texts_of_items(
    examples: pd.DataFrame, people: Comparison, id: str | Sequence[str]
) -> dict[str, ItemTexts]:
    """The texts of the labelled items; InputError if there is none for an item, or if they differ."""
    items = {item.id: item for item in build_items(examples, people.task, id=id)}
    missing = [item for item in people.votes if item not in items]
    if missing:
        raise InputError(
            f"disagreements needs an example for each labelled item, got none for {len(missing)} items, such as "
            f"{missing[0]!r}; pass the frame that was labelled, and id= if other columns identify a row"
        )
    labelled = [items[item] for item in people.votes]
    refuse_changed_texts(labelled, people.fingerprints)
    texts = {item.id: _texts_of_item(item) for item in labelled}
    # A column is shown if any item has a text in it.
    names = [
        name
        for name in ("question", "references", "response")
        if any(text.columns[name] for text in texts.values())
    ]
    return {
        item: replace(text, columns={name: text.columns[name] for name in names})
        for item, text in texts.items()
    }


def _texts_of_item(item: Item) -> ItemTexts:
    """The texts of an item without its documents, which are too long to be read beside a label."""
    sentences = {}
    responses: dict[str, str] = {}
    for part in item.parts:
        if part.name == "documents":
            continue
        for key, text in part.sentences:
            sentences[key] = f"[{key}] {text}"
        # Claims repeat what the response says.
        if part.name != "claims":
            responses[part.name] = " ".join(text for _, text in part.sentences)
    # The words are the response again. They are its text only in a task that shows nothing else of it.
    if "response" in responses:
        responses.pop("words", None)
    # Two responses are called a and b, as in the labels, and not in the order of the screen.
    texts = [
        f"{name.removeprefix('response_')}: {text}" if name.startswith("response_") else text
        for name, text in sorted(responses.items())
    ]
    columns = {
        "question": item.question,
        "references": "; ".join(item.references),
        "response": " | ".join(texts),
    }
    return ItemTexts(columns, sentences)


def overlap_of_votes(field: Field, values: Any) -> float:
    """Return the mean agreement over pairs of annotators: F1 of sets of sentences or tags, or equality of values.

    The F1 of two empty sets is 1.
    """
    pairs = combinations(values, 2)
    if field.kind not in LISTS:
        return float(np.mean([all_equal(pair) for pair in pairs]))
    overlaps = []
    for first, second in pairs:
        n_common = len({*first} & {*second})
        n_both = len({*first}) + len({*second})
        overlaps.append(2 * n_common / n_both if n_both else 1.0)
    return float(np.mean(overlaps))


# ---- what is compared ----------------------------------------------------------------------------


def _votes_on_field(field: Field, people: Comparison) -> list[tuple[str, dict[str, Any]]]:
    """Return the item, and the label of each annotator by name, for each place of a field."""
    return [
        (item, vote_by_name)
        for item, votes_by_place in people.votes.items()
        for (field_name, _), vote_by_name in votes_by_place.items()
        if field_name == field.name
    ]


def _decisions(field: Field, people: Comparison) -> pd.DataFrame:
    """One row per decision and one column per annotator, nan where the annotator made none. The index contains the item.

    A choice is one decision. A field of sentences or tags is one decision, yes or no, for each sentence or tag that could
    have been chosen.
    """
    rows: list[dict[str, float]] = []
    items: list[str] = []
    is_tags = field.kind == "tags"
    for item, vote_by_name in _votes_on_field(field, people):
        if field.kind == "choice":
            # A grade is its own number. Any other option has its position among the options.
            code = float if field.graded else partial(field.number, what=item)
            decisions = [{name: float(code(value)) for name, value in vote_by_name.items()}]
        else:
            # Everybody could choose any tag of the codebook, but only the sentences of this item.
            keys = list(people.tags) if is_tags else people.sentences[item].get(field.of, [])
            possible = [*keys, *(option.value for option in field.options)]
            decisions = [
                {name: float(key in chosen) for name, chosen in vote_by_name.items()}
                for key in possible
            ]
        rows += decisions
        items += [item] * len(decisions)
    return pd.DataFrame(rows, items, people.names).astype(float)


def _clusters(cluster: str | Mapping[str, Any] | pd.Series | None, people: Comparison) -> pd.Series:
    """A number for the cluster of each item, by item. By default each item is a cluster."""
    if cluster is None or isinstance(cluster, str):
        column = cluster or "item"
        require_columns(people.rows, [column], f"agreement(cluster={cluster!r})")
        rows = people.rows.dropna(subset=column)
        pairs: Iterable[tuple[Any, Any]] = zip(rows["item"], rows[column], strict=True)
        cluster_name = f"the cluster {column!r}"
    else:
        pairs = cluster.items()
        cluster_name = "cluster"
    cluster_of: dict[Any, Any] = {}
    # A frame of labels, or a column of it, has one row per item and annotator.
    for item, value in pairs:
        if cluster_of.setdefault(item, value) != value:
            raise InputError(
                f"each item must have one value of {cluster_name}, got {cluster_of[item]!r} and {value!r} for "
                f"{item!r}"
            )
    items = list(people.votes)
    missing = [item for item in items if item not in cluster_of]
    if missing:
        raise InputError(
            f"cluster must map each item's id to its cluster, got none for {missing[0]!r}"
        )
    numbers = convert([cluster_of[item] for item in items], "clusters", "cluster")
    return pd.Series(numbers, index=items)


# ---- measures ------------------------------------------------------------------------------------


def _coefficients(
    field: Field, decisions: pd.DataFrame, clusters: pd.Series | None, level: float
) -> list[dict[str, Any]]:
    """The coefficients of some annotators, those for grades first.

    `clusters` has the cluster of each item. It is None if the decisions are independent.
    """
    n_ratings = decisions.notna().sum(axis=1)
    compared = decisions[n_ratings >= 2]
    ratings = compared.to_numpy()
    cluster_of_row = None if clusters is None else clusters[compared.index].to_numpy()
    names = []
    if field.graded:
        names = ["ordinal alpha", "quadratic kappa"] if ratings.shape[1] == 2 else ["ordinal alpha"]
    intervals = {
        name: agreement_interval(name, ratings, cluster_of_row, confidence_level=level)
        for name in names
    }
    intervals |= agreement_intervals(ratings, cluster_of_row, level)
    counts = {"n": len(compared), "n_unlabelled": int((n_ratings == 1).sum())}
    return [
        {"metric": name, **interval_columns(interval), **counts}
        for name, interval in intervals.items()
    ]


def _overlap(
    field: Field, people: Comparison, names: Sequence[str], clusters: pd.Series | None, level: float
) -> dict[str, Any]:
    """The mean overlap of the sets of some annotators. It is averaged within each item first, and then over items.

    `clusters` has the cluster of each item. It is None if the items are independent.
    """
    overlaps = []
    n_unlabelled = 0
    for item, vote_by_name in _votes_on_field(field, people):
        sets = [vote_by_name[name] for name in names if name in vote_by_name]
        if len(sets) > 1:
            overlaps.append((item, overlap_of_votes(field, sets)))
        elif sets:
            n_unlabelled += 1
    frame = pd.DataFrame(overlaps, columns=["item", "mean"])
    means = frame.groupby("item", sort=False)["mean"].mean()
    cluster_of_item = None if clusters is None else clusters[means.index].to_numpy()
    interval = mean_interval(means, cluster_of_item, bounds=(0.0, 1.0), confidence_level=level)
    return {
        "metric": "mean overlap",
        **interval_columns(interval),
        "n": len(overlaps),
        "n_unlabelled": n_unlabelled,
    }
