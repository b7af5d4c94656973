"""The result of an error analysis: how often each tag occurs, where systems differ, and how far readers agree."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ragnb.annotation.agreement_report import overlap_of_votes
from ragnb.annotation.comparison import common_tags, common_task
from ragnb.annotation.items import item_ids
from ragnb.annotation.labels import id_columns, join_labels, read_labels
from ragnb.annotation.tasks import Field, Task
from ragnb.arguments import accepts
from ragnb.cells import is_missing, present
from ragnb.columns import CONDITION, column_names, require_columns, require_frame
from ragnb.datasets.files import several_files
from ragnb.display import LONGEST, shown
from ragnb.errors import InputError
from ragnb.markup import Markup, join, tag
from ragnb.reports.frames import (
    Report,
    TablesAndLines,
    agreement_intervals,
    as_frame,
    interval_columns,
    with_counts,
)
from ragnb.reports.judge import judge_report
from ragnb.scoring.columns import FOREIGN, numbers
from ragnb.scoring.comparisons import compare
from ragnb.scoring.summaries import summarize
from ragnb.stats.multiplicity import CORRECTIONS
from ragnb.tags import tag_key

# The row of the rates for responses with at least one tag.
ANY_TAG = "(any tag)"
# Name of the only system of responses without the column.
ONE_SYSTEM = "responses"
# A tag that fewer responses have says little about agreement or differences.
FEW_USES = 5

# Columns of the comparisons that exist even if only one system was read, those that a comparison adds, and the
# columns of the cases.
_OF_COMPARISON = (
    "tag",
    "system",
    "baseline",
    "n_pairs",
    "difference",
    "low",
    "high",
    "p_adjusted",
)
_ADDED_BY_COMPARISON = ("interval", "confidence_level", "test")
_OF_CASE = ("tag", "case", "item", "system", "question", "response", "score", "tags", "open_note")


@dataclass(frozen=True, slots=True, repr=False)
class ErrorReport(Report):
    """Report of an error analysis. It is displayed as tables, and `ragnb.plot` draws the rates.

    Attributes
    ----------
    reader
        Name of the person whose labels give the rates.
    n_read, n_responses
        Number of responses that this person gave tags, or none of them, and of all responses.
    codebook
        One row per tag, the most frequent one first: ``tag, definition, n`` (responses that were read and have it).
    rates
        One row per tag and system: ``tag, system, count, mean, low, high, interval, confidence_level, n_scored``, where
        ``mean`` is the share of the responses of the system that were read. The last tag, ``"(any tag)"``, counts the
        responses with at least one tag.
    comparisons
        One row per tag and pair of systems, with ``tag`` and the columns of `ragnb.compare`. It is empty if only one system
        was read.
    agreement
        One row per tag, pair of readers and measure, with ``tag, pair, metric``, the columns of an interval, ``n`` responses
        that two or more of these readers read, and the numbers of those that any (``n_either``) or all (``n_both``) of their
        readers gave the tag. The pairs are the first reader with each of the others and, if there are three or more,
        ``"all"``. It is empty if only one person read.
    cases
        The worst and the typical response of each tag: ``tag, case, item, system, question, response, score, tags,
        open_note``.
    """

    reader: str
    n_read: int
    n_responses: int
    codebook: pd.DataFrame
    rates: pd.DataFrame
    comparisons: pd.DataFrame
    agreement: pd.DataFrame
    cases: pd.DataFrame

    def table(self) -> pd.DataFrame:
        """One row per tag and one column per system, with counts and intervals in words, as for a paper."""
        cells: dict[str, dict[str, str]] = {}
        for row in self.rates.to_dict("records"):
            limits = "" if is_missing(row["low"]) else f" ({row['low']:.0%} to {row['high']:.0%})"
            text = f"{row['count']} of {row['n_scored']}{limits}"
            cells.setdefault(row["tag"], {})[str(row["system"])] = text
        rows = [{"tag": name, **by_system} for name, by_system in cells.items()]
        return shown(pd.DataFrame(rows))

    def sentence(self) -> str:
        """What was read and found, in a few sentences that the data support."""
        failures = self.rates[self.rates["tag"] == ANY_TAG]
        n_failed = int(failures["count"].sum())
        parts = [
            f"{self.reader} read {self.n_read:,} of {self.n_responses:,} responses and found "
            f"{'a failure' if n_failed == 1 else 'failures'} in {n_failed:,}."
        ]
        used = self.codebook[self.codebook["n"] > 0]
        if len(used):
            names = [f"{name!r} ({n:,})" for name, n in zip(used["tag"], used["n"], strict=True)]
            listed = ", ".join(names[:3])
            are = "tag is" if len(used) == 1 else "most frequent tags are"
            parts.append(f"The {are} {listed}.")
        parts += self._findings()
        return " ".join(parts)

    def _findings(self) -> Iterator[str]:
        """What the comparisons and the agreement show."""
        if len(self.comparisons):
            is_shown = self.comparisons["p_adjusted"] < 1 - self.comparisons["confidence_level"]
            n = int(self.comparisons["p_value"].notna().sum())
            correction = self.comparisons["correction"].iloc[0]
            yield (
                f"Of {n:,} paired {'comparison' if n == 1 else 'comparisons'}, {int(is_shown.sum()):,} show a difference "
                f"after {correction.title()}'s correction for several tests."
            )
            for row in self.comparisons[is_shown].to_dict("records"):
                more = "more" if row["difference"] > 0 else "less"
                n_pairs = row["n_pairs"]
                n_here, n_there = (round(row[name] * n_pairs) for name in ("mean", "baseline_mean"))
                failure = "any failure" if row["tag"] == ANY_TAG else repr(row["tag"])
                yield (
                    f"{row['system']} shows {failure} {more} often than {row['baseline']}, in {n_here:,} instead of "
                    f"{n_there:,} of {n_pairs:,} questions."
                )
        if self.agreement.empty:
            yield (
                "One person read the responses, so nothing is known about how far another reader would agree."
            )
        else:
            kappas = self.agreement[self.agreement["metric"].str.endswith("kappa")]
            defined = kappas.dropna(subset=["mean"])
            if len(defined):
                yield (
                    f"The readers agree on the tags with a kappa of {defined['mean'].min():.2f} to "
                    f"{defined['mean'].max():.2f}."
                )
            few = kappas.loc[kappas["n_either"] < FEW_USES, "tag"].drop_duplicates()
            if len(few):
                yield (
                    f"Too few responses to judge agreement have the {'tag' if len(few) == 1 else 'tags'} "
                    f"{', '.join(map(repr, few))}."
                )

    def _tables_and_lines(self) -> TablesAndLines:
        columns_of_rates = [
            "tag",
            "system",
            "count",
            "n_scored",
            "mean",
            "low",
            "high",
            "interval",
            "confidence_level",
        ]
        columns_of_differences = [
            name for name in (*_OF_COMPARISON, *_ADDED_BY_COMPARISON) if name in self.comparisons
        ]
        columns_of_agreement = [
            "tag",
            "metric",
            "mean",
            "low",
            "high",
            "interval",
            "n_both",
            "n_either",
            "n",
        ]
        agreement = self.agreement
        if len(agreement):
            # The last pair is that of all readers, or the only pair if there are two.
            is_of_all = agreement["pair"] == agreement["pair"].iloc[-1]
            # To be short, the table has percent agreement and one chance-corrected coefficient, which is kappa.
            is_in_table = ~agreement["metric"].isin(["Gwet's AC1", "Krippendorff's alpha"])
            agreement = agreement[is_of_all & is_in_table][columns_of_agreement]
        tables = {
            "Codebook": self.codebook,
            "Share of the responses that were read": self.rates[columns_of_rates],
            "Differences between systems": self.comparisons[columns_of_differences],
            "Agreement of the readers": agreement,
        }
        return tables, [self.sentence()]

    def __repr__(self) -> str:
        """Each case is a paragraph, because a table would cut the texts off."""
        cases = [
            "\n".join([title, *(f"  {line}" for line in lines)]) for title, lines in self._cases()
        ]
        title = ["Worst and typical responses"] if cases else []
        return "\n\n".join([Report.__repr__(self), *title, *cases])

    def _repr_html_(self) -> Markup:
        items = []
        for title, lines in self._cases():
            texts = [tag("div", line, dir="auto") for line in lines]
            items.append(tag("li", tag("b", title), *texts))
        cases = (
            [tag("p", tag("b", "Worst and typical responses")), tag("ul", *items)] if items else []
        )
        return join([Report._repr_html_(self), *cases])

    def _cases(self) -> Iterator[tuple[str, list[str]]]:
        """The cases, each with lines of its texts."""
        for row in self.cases.to_dict("records"):
            system = str(row["system"])
            # The id of an item often contains the system, which is then not repeated.
            about = [] if system in str(row["item"]) or system == ONE_SYSTEM else [system]
            if not is_missing(row["score"]):
                about.append(f"score {row['score']:.3g}")
            details = f" ({', '.join(about)})" if about else ""
            title = f"{row['tag']}, {row['case']}: {row['item']}{details}"
            lines = [
                f"{name.replace('open_note', 'note')}: {textwrap.shorten(str(row[name]), LONGEST)}"
                for name in ("question", "response", "open_note")
                if not is_missing(row[name]) and row[name]
            ]
            yield title, lines


@accepts(correction=tuple(CORRECTIONS), confidence_level="level")
def error_report(
    responses: pd.DataFrame,
    labels: Any,
    *,
    score: str | None = None,
    id: str | Sequence[str] | None = None,
    cluster: str | None = None,
    baseline: str | None = None,
    correction: str = "holm",
    confidence_level: float = 0.95,
) -> ErrorReport:
    """Count the tags of an error analysis, compare systems by them, and show the worst and the typical response of each tag.

    Parameters
    ----------
    responses
        What was read, with any further rows: the columns that identify an item, ``response``, and if possible ``system``,
        ``example_id`` and ``question``.
    labels
        The labels of one or several people in a task with a field of tags, such as ``"error_analysis"``: paths of logs, a
        pattern such as ``"labels/*.error_analysis.jsonl"``, open sessions, or frames as `ragnb.annotation.read_labels`
        returns them. The first person's labels give the rates, so pass adjudicated labels first. The others show how far
        readers agree.
    score
        Column of `responses` with a score. Higher must be better. It decides which cases are the worst and typical.
    id
        Column or columns that identify a row; by default those that the log names.
    cluster
        Column whose values are the independent units, such as the question in several languages. By default, the responses
        of a system are independent, or its questions (``example_id``) if it has several responses to one of them.
    baseline
        The system that all others are compared with; by default every pair is compared.
    correction
        ``"holm"``, ``"benjamini-hochberg"`` or ``"bonferroni"``, over all tags and pairs of systems.
    confidence_level
        Nominal coverage of the intervals, in (0, 1).

    Returns
    -------
    ErrorReport
        It is displayed as tables. Its attributes are frames, `ErrorReport.table` has one row per tag for a paper, and
        `ErrorReport.sentence` says what was found.

    Raises
    ------
    InputError
        There are no such labels, nothing was read, an id or a text does not fit, or `score` is not a column of numbers.

    Notes
    -----
    A response was read if its field of tags has a value, which may be an empty list. All rates are shares of the responses
    that were read. They estimate the rates of all responses only if those that were read are a random sample. If only
    rejected answers were read, they are shares of the rejected answers.

    Rates have Wilson intervals, or cluster-robust t intervals if there are clusters (`ragnb.summarize`). Systems are
    compared on the questions that were read of both, by the McNemar mid-p test with Tango's interval, or by a clustered
    test (`ragnb.compare`).

    The *worst* response of a tag is the one with the lowest score. Without a score, it is the one with the most tags. The
    *typical* response is the one whose score is nearest to the median score of the responses with this tag. Without a score,
    it is the one whose set of tags has the largest mean overlap (F1) with those of the other responses with this tag. Of
    equal ones, the first response in the order of `responses` is shown, and the typical one is another than the worst one
    if the tag has several responses.

    Examples
    --------
    >>> import ragnb
    >>> responses = pd.DataFrame({
    ...     "example_id": ["1", "2", "1", "2"], "system": ["a", "a", "b", "b"], "response": ["?", "no", "Oslo", "no"]})
    >>> labels = pd.DataFrame({
    ...     "item": ["1 | a", "2 | a", "1 | b", "2 | b"], "annotator": "Ana", "task": "error_analysis", "open_note": None,
    ...     "tags": [["no words"], ["refusal"], [], ["refusal"]]})
    >>> report = ragnb.error_report(responses, labels, id=["example_id", "system"])
    >>> print(report.table().to_string(index=False))
          tag                    a                  b
      refusal   1 of 2 (9% to 91%) 1 of 2 (9% to 91%)
     no words   1 of 2 (9% to 91%) 0 of 2 (0% to 66%)
    (any tag) 2 of 2 (34% to 100%) 1 of 2 (9% to 91%)
    """
    require_frame(responses, "error_report")
    sources = several_files(labels) or [labels]
    frames = [
        source if isinstance(source, pd.DataFrame) else read_labels(source) for source in sources
    ]
    task = common_task(frames)
    if not task.tag_fields:
        raise InputError(
            f"error_report needs labels of a task with a field of tags, such as 'error_analysis', got {task.name!r}"
        )
    definitions = common_tags(frames, task)
    readers = _joined_by_reader(responses, frames, task, id)
    name = next(iter(readers))
    read = readers[name]
    field = task.tag_fields[0]
    if not len(read):
        raise InputError(
            f"error_report needs at least one response with tags, or with an empty list of tags, got none by {name!r}"
        )
    if score is not None:
        require_columns(responses, [score], "error_report(score=...)")
        read = read.assign(**{_SCORE: numbers(read, score, "error_report(score=...)")})
    counts = dict.fromkeys(definitions, 0)
    for tags in read[field]:
        for tag_name in tags:
            counts[tag_name] += 1
    by_frequency = sorted(counts, key=lambda tag_name: -counts[tag_name])
    codebook = pd.DataFrame(
        {
            "tag": by_frequency,
            "definition": [definitions[tag_name] for tag_name in by_frequency],
            "n": [counts[tag_name] for tag_name in by_frequency],
        }
    )
    scores = _as_scores(read, field, by_frequency, cluster)
    return ErrorReport(
        reader=name,
        n_read=len(read),
        n_responses=len(responses),
        codebook=codebook,
        rates=_rates(scores, cluster, confidence_level),
        comparisons=_comparisons(scores, baseline, cluster, correction, confidence_level),
        agreement=_agreement(readers, field, by_frequency, cluster, confidence_level),
        cases=_cases(read, task, field, by_frequency),
    )


@accepts(confidence_level="level")
def tag_judge_report(
    judged: pd.DataFrame,
    labels: Any,
    *,
    id: str | Sequence[str] | None = None,
    clusters: str | None = "example_id",
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Compare the tags of a judge with those of a person: precision, recall and kappa of each tag, with intervals.

    Parameters
    ----------
    judged
        Responses with ``judged_tags``, as `ragnb.apply_codebook` returns them.
    labels
        The labels of one person: a log, a session, or a frame of labels.
    id
        Column or columns that identify a row; by default those that the log names.
    clusters
        Column that names the independent units; see `ragnb.judge_report`. Responses without the default column are
        independent.
    confidence_level
        Nominal coverage of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        One row per tag and ``metric``, which is the precision (share of the judge's tags that the person gave), the recall
        (share of the person's tags that the judge gave) or Cohen's kappa: ``tag, metric, mean, low, high, interval,
        confidence_level``; ``n_person`` and ``n_judge``, the numbers of responses to which each gave the tag; ``n``,
        responses that both read; and ``n_unread``, responses that only the person read, because the judge's reply could not
        be read. These are left out. A value is nan if nobody gave the tag, and the limits are nan if the tags do not vary
        enough.

    Raises
    ------
    InputError
        `judged` has no ``judged_tags``, the labels are of several people or have no tags, or the judge read none of the
        responses.
    """
    # Responses may lack the column of the default, but not a column that the user names.
    columns_of_user = [] if clusters == "example_id" else column_names(clusters)
    require_columns(judged, ["judged_tags", *columns_of_user], "tag_judge_report")
    frames = [labels if isinstance(labels, pd.DataFrame) else read_labels(labels)]
    task = common_task(frames)
    readers = _joined_by_reader(judged, frames, task, id)
    if len(readers) != 1 or not task.tag_fields:
        raise InputError(
            f"tag_judge_report needs the tags of one person, got those of {', '.join(readers) or 'none'}"
        )
    (read,) = readers.values()
    is_judged = [not is_missing(tags) for tags in read["judged_tags"]]
    both = read[is_judged].reset_index(drop=True)
    if both.empty:
        raise InputError(
            f"tag_judge_report needs responses that the person and the judge read, got none among {len(read)}"
        )
    rows: list[dict[str, Any]] = []
    for name in common_tags(frames, task):
        key = tag_key(name)
        person = [float(name in tags) for tags in both[task.tag_fields[0]]]
        judge = [float(key in map(tag_key, tags)) for tags in both["judged_tags"]]
        counts = {
            "n_person": int(sum(person)),
            "n_judge": int(sum(judge)),
            "n": len(both),
            "n_unread": len(read) - len(both),
        }
        measures = _measures_of_judge(
            both.assign(**{_JUDGE: judge, _PERSON: person}), clusters, confidence_level
        )
        rows += [{"tag": name} | measure | counts for measure in measures]
    return as_frame(rows)


_JUDGE, _PERSON = "judge", "person"
# Words for the measures of a judge report.
_MEASURES = {"precision": "precision", "sensitivity": "recall", "Cohen's kappa": "Cohen's kappa"}


def _measures_of_judge(
    frame: pd.DataFrame, clusters: str | None, level: float
) -> list[dict[str, Any]]:
    """Precision, recall and kappa of one tag."""
    # Columns that identify a response.
    names = (*CONDITION, "repeat", "example_id", clusters, "response")
    columns = [name for name in names if name in frame]
    report = judge_report(
        frame[[*dict.fromkeys(columns), _JUDGE, _PERSON]],
        judge=_JUDGE,
        label=_PERSON,
        by=[],
        # Without the column of the default, the responses are independent units.
        clusters=clusters if clusters in frame else None,
        confidence_level=level,
    )
    measures = report.agreement.set_index("metric")
    columns_of_interval = ["mean", "low", "high", "interval", "confidence_level"]
    return [
        {"metric": word, **measures.loc[metric, columns_of_interval].to_dict()}
        for metric, word in _MEASURES.items()
    ]


# ---- who read what ---------------------------------------------------------------------------------

# Columns that this module adds to responses. Their names cannot be those of columns of a user.
_ITEM, _SCORE = "(item)", "(score)"


def _joined_by_reader(
    responses: pd.DataFrame, frames: Sequence[pd.DataFrame], task: Task, id: Any
) -> dict[str, pd.DataFrame]:
    """The responses that each person read, with the labels; tags have the name that the first person gave them."""
    names_by_key = {tag_key(name): name for name in common_tags(frames, task)}
    readers: dict[str, pd.DataFrame] = {}
    for frame in frames:
        columns = column_names(id or id_columns(frame.attrs.get("header", {})))
        for name, rows in frame.groupby("annotator", sort=False):
            if name in readers:
                raise InputError(f"error_report needs one log per person, got two of {name!r}")
            rows.attrs = frame.attrs
            joined = join_labels(_without_labels(responses, task), _complete(rows), id=columns)
            joined[_ITEM] = item_ids(responses, columns)
            field = task.tag_fields[0]
            read = joined[[not is_missing(tags) for tags in joined[field]]].copy()
            read[field] = [
                [names_by_key[tag_key(tag_name)] for tag_name in tags] for tags in read[field]
            ]
            readers[str(name)] = read.reset_index(drop=True)
    return readers


def _without_labels(responses: pd.DataFrame, task: Task) -> pd.DataFrame:
    """The responses without columns that labels add, such as those of an earlier join."""
    added = [field.name for field in task.fields]
    added += ["annotator", "label_status", "label_source", "label_flag", "label_note"]
    return responses.drop(columns=[name for name in added if name in responses])


def _complete(labels: pd.DataFrame) -> pd.DataFrame:
    """Labels with the columns that `join_labels` reads, which those of other tools may lack."""
    defaults = {"status": "labelled", "source": "human", "flag": False, "note": ""}
    missing = {name: value for name, value in defaults.items() if name not in labels}
    completed = labels.assign(**missing)
    completed.attrs = labels.attrs
    return completed


# ---- rates and differences -------------------------------------------------------------------------


def _as_scores(
    read: pd.DataFrame, field: str, tags: Sequence[str], cluster: str | None
) -> pd.DataFrame:
    """Each tag as a metric: 1 for a response that has it, else 0."""
    require_columns(read, column_names(cluster), "error_report(cluster=...)")
    names = dict.fromkeys([*CONDITION, "repeat", "example_id", *column_names(cluster)])
    basis = read[[name for name in names if name in read]]
    # `compare` needs a signature. It says that no metric of ragnb computed these values.
    basis = basis.assign(signature=f"{FOREIGN}tags of an error analysis")
    if "system" not in basis:
        basis["system"] = ONE_SYSTEM
    if "example_id" not in basis:
        basis["example_id"] = read[_ITEM]
    parts = []
    for name in (*tags, ANY_TAG):
        if name == ANY_TAG:
            values = [float(len(tags_of_response) > 0) for tags_of_response in read[field]]
        else:
            values = [float(name in tags_of_response) for tags_of_response in read[field]]
        parts.append(basis.assign(metric=name, value=values))
    return pd.concat(parts, ignore_index=True)


def _rates(scores: pd.DataFrame, cluster: str | None, level: float) -> pd.DataFrame:
    """The share of the responses of each system that have a tag."""
    if cluster is None and scores.duplicated(["system", "metric", "example_id"]).any():
        cluster = "example_id"
    rates = summarize(scores, by="system", cluster=cluster, confidence_level=level)
    rates = with_counts(pd.DataFrame(rates)).rename(columns={"metric": "tag"})
    # By tag, in the order of the tags, and then by system.
    order = {name: place for place, name in enumerate(scores["metric"].unique())}
    rates = rates.iloc[np.argsort(rates["tag"].map(order), kind="stable")]
    columns = [
        "tag",
        "system",
        "count",
        "mean",
        "low",
        "high",
        "interval",
        "confidence_level",
        "n_scored",
    ]
    return shown(rates[columns].reset_index(drop=True))


def _comparisons(
    scores: pd.DataFrame, baseline: str | None, cluster: str | None, correction: str, level: float
) -> pd.DataFrame:
    """Paired differences of the systems, for each tag; empty if there is one system."""
    if scores["system"].nunique() < 2:
        return pd.DataFrame(columns=list(_OF_COMPARISON))
    compared = compare(
        scores,
        baseline=baseline,
        by=[],
        cluster=cluster,
        unpaired="drop",
        correction=correction,
        confidence_level=level,
    )
    return shown(pd.DataFrame(compared).rename(columns={"metric": "tag"}).drop(columns="signature"))


# ---- agreement -------------------------------------------------------------------------------------


def _agreement(
    readers: dict[str, pd.DataFrame],
    field: str,
    tags: Sequence[str],
    cluster: str | None,
    level: float,
) -> pd.DataFrame:
    """Agreement on each tag, of the first reader with each of the others, and of all if there are three or more.

    The first reader's labels give the rates, so it matters how far others agree with this person.
    """
    names = list(readers)
    if len(names) < 2:
        return pd.DataFrame()
    tags_by_reader = {
        name: dict(zip(read[_ITEM], read[field], strict=True)) for name, read in readers.items()
    }
    groups = [(f"{names[0]} - {name}", [names[0], name]) for name in names[1:]]
    if len(names) > 2:
        groups.append(("all", names))
    clusters = _clusters(readers, cluster)
    rows: list[dict[str, Any]] = []
    for pair, members in groups:
        items = [
            item
            for item in dict.fromkeys(item for name in members for item in tags_by_reader[name])
            if sum(item in tags_by_reader[name] for name in members) >= 2
        ]
        cluster_of_row = None if clusters is None else clusters[items].to_numpy()
        for tag_name in tags:
            ratings = np.array(
                [
                    [_rating(tags_by_reader[name].get(item), tag_name) for name in members]
                    for item in items
                ]
            ).reshape(len(items), len(members))
            has_tag = ratings == 1
            is_read = ~np.isnan(ratings)
            # "Both" are all who read the response. With three or more readers, some may not have read it.
            counts = {
                "n_both": int((has_tag | ~is_read).all(axis=1).sum()),
                "n_either": int(has_tag.any(axis=1).sum()),
                "n": len(items),
            }
            for metric, interval in agreement_intervals(ratings, cluster_of_row, level).items():
                about = {"tag": tag_name, "pair": pair, "metric": metric}
                rows.append(about | interval_columns(interval) | counts)
    return as_frame(rows)


def _rating(tags: Sequence[str] | None, tag_name: str) -> float:
    """1 if a reader gave a tag, 0 if not, nan if the response was not read."""
    return float("nan") if tags is None else float(tag_name in tags)


def _clusters(readers: dict[str, pd.DataFrame], cluster: str | None) -> pd.Series | None:
    """A number for the cluster of each item; None if each item is one unit."""
    rows = pd.concat(readers.values()).drop_duplicates(_ITEM)
    if cluster is None and "example_id" in rows and rows["example_id"].duplicated().any():
        # The answers of several systems to one question are not independent.
        cluster = "example_id"
    if cluster is None:
        return None
    require_columns(rows, [cluster], "error_report(cluster=...)")
    codes, _ = pd.factorize(rows[cluster])
    return pd.Series(codes, index=rows[_ITEM])


# ---- cases -----------------------------------------------------------------------------------------


def _cases(read: pd.DataFrame, task: Task, field: str, tags: Sequence[str]) -> pd.DataFrame:
    """The worst and the typical response of each tag."""
    rows: list[dict[str, Any]] = []
    for tag_name in tags:
        places = [
            place
            for place, tags_of_response in enumerate(read[field])
            if tag_name in tags_of_response
        ]
        if not places:
            continue
        rows_with_tag = read.iloc[places]
        place_by_case = _worst_and_typical(rows_with_tag, task.field(field), field)
        for case, place in place_by_case.items():
            response = rows_with_tag.iloc[place].to_dict()
            rows.append(
                {
                    "tag": tag_name,
                    "case": case,
                    "item": response[_ITEM],
                    "system": response.get("system", ONE_SYSTEM),
                    "question": present(response.get("question")),
                    "response": present(response.get("response")),
                    "score": response.get(_SCORE, float("nan")),
                    "tags": response[field],
                    "open_note": _note_of(response, task),
                }
            )
    return shown(pd.DataFrame(rows, columns=list(_OF_CASE)))


def _note_of(response: dict[str, Any], task: Task) -> str | None:
    """The free text about a response, from the first field of texts that has one."""
    for field in task.fields:
        if field.kind == "text" and present(response.get(field.name)):
            return str(response[field.name])
    return None


def _worst_and_typical(rows: pd.DataFrame, field: Field, name: str) -> dict[str, int]:
    """Places of the worst and the typical response among those with a tag; only the typical one if there is one.

    The worst has the lowest score or, without scores, the most tags. The typical one is nearest to the median score or,
    without scores, has the tags that are most similar to those of the others.
    """
    tags = rows[name].tolist()
    scores = rows[_SCORE].to_numpy() if _SCORE in rows else np.full(len(rows), np.nan)
    if np.isnan(scores).all():
        badness = np.array([float(len(tags_of_response)) for tags_of_response in tags])
        # The typical response is the most similar to the others, so its distance is the smallest.
        distance = -np.array(_mean_overlaps(tags, field))
    else:
        # A response without a score is neither the worst nor the typical one.
        badness = np.where(np.isnan(scores), -np.inf, -scores)
        distance = np.abs(scores - np.nanmedian(scores))
        distance = np.where(np.isnan(distance), np.inf, distance)
    if len(rows) == 1:
        return {"typical": 0}
    worst = int(np.argmax(badness))
    distance[worst] = np.inf
    typical = int(np.argmin(distance))
    # If no other response has a score, there is no typical one.
    no_other_has_a_score = np.isinf(distance[typical])
    return {"worst": worst} if no_other_has_a_score else {"worst": worst, "typical": typical}


def _mean_overlaps(tags: Sequence[Sequence[str]], field: Field) -> list[float]:
    """The mean overlap of the tags of each response with those of the others."""
    # Few sets differ, however many responses there are.
    sets = Counter(frozenset(tags_of_response) for tags_of_response in tags)
    if len(tags) == 1:
        return [1.0]
    means = {}
    for tag_set in sets:
        total = 0.0
        for other, n in sets.items():
            # A response is not compared with itself.
            n_others = n - (other == tag_set)
            total += n_others * overlap_of_votes(field, [tag_set, other])
        means[tag_set] = total / (len(tags) - 1)
    return [means[frozenset(tags_of_response)] for tags_of_response in tags]
