"""What changed between two runs of the same questions: answers that flipped, the paired difference, the requests."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.cells import is_missing
from ragnb.columns import column_names
from ragnb.display import shown, text_table
from ragnb.errors import InputError
from ragnb.experiments.paired_runs import (
    AFTER,
    BEFORE,
    DIFFERS,
    PROMPT,
    SAME,
    PairedRuns,
    pair_runs,
    request_differences,
)
from ragnb.experiments.relabelling import DeferralPlan, deferral_plan, labelled_answers
from ragnb.llm.store import Store
from ragnb.metrics.record import Metric
from ragnb.numbers import enumeration, one_line
from ragnb.reports.findings import sentences
from ragnb.reports.frames import Report, TablesAndLines
from ragnb.reports.reviewing.checks import NotPossible
from ragnb.reports.reviewing.evidence import Evidence
from ragnb.scoring.columns import record_of
from ragnb.scoring.comparisons import compare
from ragnb.scoring.scores import score
from ragnb.stats.multiplicity import adjusted_columns

# How an answer changed under a metric of 0 and 1 that is better if it is 1, and under any other one.
RIGHT, WRONG = "right", "wrong"
LOST, GAINED = f"{RIGHT} → {WRONG}", f"{WRONG} → {RIGHT}"
WORSE, BETTER, AS_GOOD = "worse", "better", "same"
NOT_COMPARED = "not compared"
_ORDER = (LOST, WORSE, GAINED, BETTER, RIGHT, WRONG, AS_GOOD, NOT_COMPARED)
# A difference of two scores that is smaller is rounding error.
_ROUNDING = 1e-12
EQUAL, CHANGED = "equal", "changed"
# Parts of a request that name what answered it.
_OF_MODEL = ("model", "served_model", "system_fingerprint")
# Number of flipped answers that a display shows.
_SHOWN = 10


@dataclass(frozen=True, slots=True, repr=False)
class Changes(Report):
    """What changed between two runs of the same questions. It prints as tables.

    `ragnb.plot` draws the four outcomes before and after, or the differences if the scores are
    graded or there are several systems. `ragnb.view` shows the answers that flipped.

    Attributes
    ----------
    questions
        One row per question and condition of either run: ``example_id``, the conditions and
        ``question``; ``before`` and ``after``, the two texts; ``text`` (``"equal"`` or ``"changed"``,
        apart from white space); ``value_before, value_after, change`` under the first metric;
        ``answered`` (``"refused → answered"`` and so on); and ``unpaired``, why a side has no answer.
    comparisons
        The paired differences after - before, with the columns of `ragnb.compare`.
    requests
        What differs in the requests, as far as the runs record it: one row per ``part`` (model,
        endpoint, prompt, parameters) with ``before, after, state, n_pairs, n_differ``.
    unpaired
        How many questions have an answer on one side only, or on none: ``side, reason, n``.
    responses
        The responses of both runs, with ``system`` ``"before"`` or ``"after"``.
    scores
        Their scores, as `ragnb.score` returns them.
    metric
        Name of the first metric; empty if the responses could not be scored.
    notes
        Further findings, one sentence each.
    """

    questions: pd.DataFrame
    comparisons: pd.DataFrame
    requests: pd.DataFrame
    unpaired: pd.DataFrame
    responses: pd.DataFrame
    scores: pd.DataFrame
    metric: str
    notes: tuple[str, ...]

    @property
    def sides(self) -> list[str]:
        """Names of the two runs of the first system in `responses`: those before and after."""
        names = list(dict.fromkeys(self.responses["system"]))
        first = names[: len(names) // 2][:1]
        return [*first, *names[len(names) // 2 :][:1]]

    @property
    def flipped(self) -> pd.DataFrame:
        """The questions whose value changed, with both texts; losses come first."""
        is_flipped = self.questions["change"].isin([LOST, GAINED, WORSE, BETTER])
        rows = self.questions[is_flipped]
        order = rows["change"].map(_ORDER.index)
        return shown(rows.iloc[np.argsort(order.to_numpy(), kind="stable")].reset_index(drop=True))

    def table(self) -> pd.DataFrame:
        """Number of questions by how the value and the text changed: ``change, n, text_equal, text_changed``."""
        both = self.questions[self.questions["text"] != ""]
        rows = []
        for change in _ORDER:
            texts = both.loc[both["change"] == change, "text"]
            if len(texts):
                rows.append(
                    {
                        "change": change,
                        "n": len(texts),
                        "text_equal": int((texts == EQUAL).sum()),
                        "text_changed": int((texts == CHANGED).sum()),
                    }
                )
        return shown(pd.DataFrame(rows, columns=["change", "n", "text_equal", "text_changed"]))

    def sentence(self) -> str:
        """What changed, in one or a few sentences that the data support."""
        both = self.questions[self.questions["text"] != ""]
        n = len(both)
        if not n:
            return "No question has an answer in both runs, so nothing is compared."
        n_equal = int((both["text"] == EQUAL).sum())
        parts = [
            f"{_questions(n)} {_have(n)} an answer in both runs; {n_equal:,} of the texts {_are(n_equal)} equal."
        ]
        counts = both["change"].value_counts()
        if {LOST, GAINED, RIGHT, WRONG} & {*counts.index}:
            lost, gained = (int(counts.get(name, 0)) for name in (LOST, GAINED))
            parts.append(
                f"Under {self.metric}, {lost:,} right {_answers(lost)} became wrong, and {gained:,} "
                f"wrong {_answers(gained)} became right."
            )
        elif self.metric:
            worse, better = (int(counts.get(name, 0)) for name in (WORSE, BETTER))
            parts.append(f"Under {self.metric}, {worse:,} became worse and {better:,} better.")
        if len(self.comparisons):
            is_main = self.comparisons["metric"] == self.metric
            parts += sentences(self.comparisons[is_main])
        return " ".join(parts)

    @accepts(
        threshold="share",
        tolerance="level",
        confidence_level="level",
        power="level",
        alpha="rate",
        delta="level",
        seed="count",
    )
    def labels_before_deferral(
        self,
        *,
        judge: str = "judged_correct",
        label: str = "label",
        threshold: float = 0.5,
        tolerance: float = 0.05,
        confidence_level: float = 0.95,
        power: float = 0.8,
        alpha: float = 0.1,
        delta: float = 0.1,
        seed: int = 0,
    ) -> DeferralPlan:
        """How many labels are needed before a judge, or a conformal ensemble, may decide again.

        A label of an answer stays valid if its text has not changed. The others have to be collected
        anew, because a judge may err more often on the answers of another model or prompt.

        Parameters
        ----------
        judge, label
            Columns of the responses with the judge's verdicts and with people's labels (0, 1, or
            missing). The run before needs both. The labels must be those of randomly drawn answers.
        threshold
            The judge accepts an answer from this score on.
        tolerance
            How much higher than before the error rate of the judge may be, and how far the coverage
            may be below its target.
        confidence_level, power
            Of the test that the error rate of the judge on the changed answers is below that of
            before plus `tolerance`; see `ragnb.stats.confirmation_plan`.
        alpha, delta
            Miscoverage level of the conformal ensemble, and tolerated probability over calibration
            sets that the coverage is too low; see `ragnb.conformal.labels_for_coverage`.
        seed
            Of the draw of the answers to label.

        Returns
        -------
        DeferralPlan
            The numbers of labels for both purposes, and the answers to label for the judge.

        Raises
        ------
        InputError
            There are several systems, a column is missing, or a label is neither 0 nor 1.

        Notes
        -----
        For the judge, the labels are drawn at random from the changed answers, and its error rate
        among them is tested by the exact hypergeometric test (Wilks 1941 is its limit for many
        answers). For conformal deferral, the calibration set must be a random sample of the answers
        after the change. Labels of unchanged answers remain in it; those of changed answers are
        replaced. Its size is that of `ragnb.conformal.labels_for_coverage` (Vovk 2012).
        """
        labelled = labelled_answers(self.questions, self.responses, judge, label, threshold)
        return deferral_plan(
            labelled,
            tolerance=tolerance,
            confidence_level=confidence_level,
            power=power,
            alpha=alpha,
            delta=delta,
            seed=seed,
        )

    def __repr__(self) -> str:
        # A table of text would cut the answers to a few words.
        tables, lines = self._tables_and_lines()
        width = pd.get_option("display.width")
        parts = []
        for title, table in tables.items():
            if title == self._title_of_flipped():
                parts += [f"{title}\n{self._flipped_texts(width)}\n"] if len(table) else []
            elif len(table):
                # Of a table with long texts, only the first words would be left.
                is_prompt = (
                    table["part"] == PROMPT if "part" in table else np.zeros(len(table), bool)
                )
                parts.append(f"{title}\n{text_table(table[~is_prompt], width)}\n")
                for row in table[is_prompt].dropna().to_dict("records"):
                    texts = [f"Prompt ({row['state']})", *_two_texts(row)]
                    parts.append("\n".join(_one_line(line, width) for line in texts) + "\n")
        return "\n".join([*parts, *(fill(line, width) for line in lines)])

    def _title_of_flipped(self) -> str:
        n = len(self.flipped)
        if n <= _SHOWN:
            return "Flipped answers"
        return f"The first {_SHOWN} of {n} flipped answers (all are in the attribute flipped)"

    def _flipped_texts(self, width: int) -> str:
        """The first flipped answers, with one line per text."""
        lines = []
        for row in self.flipped.head(_SHOWN).to_dict("records"):
            question = row.get("question")
            # Without ids, the question itself is the id.
            is_new = not is_missing(question) and question != row["example_id"]
            ending = f": {question}" if is_new else ""
            lines.append(f"{row['example_id']} ({row['change']}){ending}")
            lines += _two_texts(row)
        return "\n".join(_one_line(line, width) for line in lines)

    def _tables_and_lines(self) -> TablesAndLines:
        flipped = self.flipped
        columns = list(flipped)
        identifying = [name for name in columns[: columns.index(BEFORE)] if name != "question"]
        # The question comes last, so that both texts are in view.
        last = [name for name in ("question",) if name in flipped]
        if last and (flipped["question"] == flipped["example_id"]).all():
            last = []
        texts = flipped[[*identifying, BEFORE, AFTER, "change", *last]].head(_SHOWN)
        difference = [
            "metric", "system", "baseline", "n_pairs", "n_dropped", "baseline_mean", "mean", "difference",
            "low", "high", "interval", "confidence_level", "test", "p_adjusted",
        ]  # fmt: skip
        compared = self.comparisons
        compared = compared[
            [name for name in compared if name in difference or name == "signature"]
        ]
        answered = self.questions["answered"]
        refusals = answered[answered.str.contains("→")].value_counts().rename_axis("answered")
        requests = self.requests[["part", "before", "after", "state"]].copy()
        is_counted = (requests["state"] == DIFFERS) & (self.requests["n_pairs"] > 0)
        requests.loc[is_counted, "state"] = [
            f"{DIFFERS} in {row['n_differ']:,} of {row['n_pairs']:,} pairs"
            for row in self.requests[is_counted].to_dict("records")
        ]
        # What is the same needs no row of its own.
        is_same = requests["state"] == SAME
        tables = {
            "Answers in both runs": self.table(),
            "Refusals": shown(refusals.rename("n").reset_index()),
            "Difference after - before": compared,
            self._title_of_flipped(): texts,
            "Questions without a pair": self.unpaired,
            "Requests": requests[~is_same],
        }
        lines = [self.sentence(), *self.notes]
        if is_same.any():
            lines.append(f"The same in both runs: {enumeration(requests.loc[is_same, 'part'])}.")
        return tables, lines


@accepts(by=column_names, confidence_level="level")
def changes(
    before: Store | str | Path | pd.DataFrame,
    after: Store | str | Path | pd.DataFrame,
    metric: str | Metric | Sequence[str | Metric] | None = None,
    *,
    examples: str | Path | pd.DataFrame | None = None,
    systems: Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    cluster: str | None = None,
    confidence_level: float = 0.95,
    **options: Any,
) -> Changes:
    """Compare two runs of the same questions: before and after a change of the prompt or the model.

    Parameters
    ----------
    before, after
        Each run as a store of `ragnb.complete` or `ragnb.run` (file or open `Store`), a file for
        `ragnb.load_responses`, or a frame of responses.
    metric
        Name of a metric, a record, or several. The first one says which answers flipped. By default
        it is that of `ragnb.review`: people's verdicts, a judge's, or whether the response contains
        the reference, the first for which both runs have what it needs.
    examples
        One row per question: ``question`` and, as far as there are, ``example_id``, ``references``
        and ``language``; or a file for `ragnb.datasets.load_examples`. A store of `ragnb.complete`
        contains prompts and no ids. With the examples, a reply belongs to the question whose text is
        in the last message of its prompt. Without them, the replies to equal prompts are paired, so
        that the prompt must not have changed. If one run is a frame with ids and questions, it takes
        the place of the examples.
    systems
        The system before and the system after, if the runs contain several, such as two models in
        one store. By default, systems of the same name are paired. If each run has one system, they
        are paired even if the name has changed.
    by
        Columns that divide the questions into cells, which are compared separately. By default all
        conditions are pooled.
    cluster
        Column of the independent units; see `ragnb.compare`.
    confidence_level
        Confidence level of the intervals.
    **options
        Options of the metrics, such as ``variant="squad"``.

    Returns
    -------
    Changes
        The answers that flipped with both texts, the paired difference with its interval and test,
        what differs in the requests, and which questions have no pair, with the reason. The
        difference is after - before, over the questions with a value in both runs.

    Raises
    ------
    InputError
        The runs have no question in common, a run has several rows of one question, systems cannot
        be paired, or `ragnb.score` or `ragnb.compare` refuses the responses.
    StoreError
        A file is an SQLite database but no store.

    Notes
    -----
    Whether an answer is a refusal is decided by ``abstention.coverage`` with ``rule="list"``, which
    looks for phrases such as *I don't know*. Two texts are equal if they differ in white space only.

    Examples
    --------
    >>> columns = {"example_id": ["q1", "q2"], "references": ["Oslo", "Rome"]}
    >>> old = pd.DataFrame(columns | {"response": ["Oslo", "I do not know."]})
    >>> new = pd.DataFrame(columns | {"response": ["Bergen", "Rome"]})
    >>> changed = changes(old, new, "answer.contains")
    >>> changed.flipped[["example_id", "before", "after", "change"]].values.tolist()
    [['q1', 'Oslo', 'Bergen', 'right → wrong'], ['q2', 'I do not know.', 'Rome', 'wrong → right']]
    """
    runs = pair_runs(before, after, examples, systems)
    arms = list(dict.fromkeys(runs.before["arm"]))
    responses = _responses(runs, arms)
    scores = _scores(responses, metric, confidence_level, options)
    name = str(scores["metric"].iloc[0]) if len(scores) else ""
    comparisons = _comparisons(scores, arms, by, cluster, confidence_level)
    requests = request_differences(runs)
    questions = _questions_table(runs, arms, scores, name)
    notes = [f"{gap}, so it is left out." for gap in runs.left_out]
    if not name:
        notes.append(
            "The answers were not scored: there is no verdict or reference in both runs. Pass "
            "examples= with references, or metric=."
        )
    notes += _notes(questions, requests)
    return Changes(
        questions=_without_arm(questions),
        comparisons=comparisons,
        requests=requests,
        unpaired=_unpaired(questions),
        responses=responses.drop(columns="arm"),
        scores=scores.drop(columns="arm", errors="ignore"),
        metric=name,
        notes=tuple(notes),
    )


def _two_texts(row: dict[Any, Any]) -> list[str]:
    """The texts before and after, one line each."""
    return [f"  {side}: {row[side]}" for side in (BEFORE, AFTER)]


def _one_line(text: str, width: int) -> str:
    """A text in one line of a given width, with its indentation."""
    indentation = text[: len(text) - len(text.lstrip(" "))]
    line = indentation + one_line(text)
    return line if len(line) <= width else f"{line[: width - 2]} …"


# ---- scores and comparisons ----------------------------------------------------------------------


def _name(arm: Any, side: str) -> str:
    """The name of a run as a system: its side, behind the system if there are several."""
    return side if arm == "" else f"{arm} ({side})"


def _responses(runs: PairedRuns, arms: list[Any]) -> pd.DataFrame:
    """The responses of both runs, in which each run is a system."""
    frames = []
    for side, frame in ((BEFORE, runs.before), (AFTER, runs.after)):
        names = [_name(arm, side) for arm in frame["arm"]]
        frames.append(frame.assign(system=names))
    # Empty frames would change the types of the columns.
    filled = [frame for frame in frames if len(frame)] or frames[:1]
    return shown(pd.concat(filled, ignore_index=True))


def _scores(
    responses: pd.DataFrame, metric: Any, confidence_level: float, options: dict[str, Any]
) -> pd.DataFrame:
    """The scores of both runs; an empty frame if nothing can be scored and no metric was named."""
    columns = ["example_id", "system", "metric", "value", "reason", "signature"]
    if responses.empty:
        return pd.DataFrame(columns=columns)
    if metric is not None:
        return score(responses, metric, **options)
    if options:
        raise InputError(f"changes takes {next(iter(options))}= only with metric=")
    # A column that only one run has, such as its labels, cannot compare them.
    is_before = responses["system"].astype(str).str.endswith((BEFORE, f"({BEFORE})"))
    usable = [
        name
        for name in responses
        if responses.loc[is_before, name].notna().any()
        and responses.loc[~is_before, name].notna().any()
    ]
    try:
        return Evidence(pd.DataFrame(responses[usable]), None, confidence_level).main_scores
    except NotPossible:
        return pd.DataFrame(columns=columns)


def _comparisons(
    scores: pd.DataFrame,
    arms: list[Any],
    by: str | Sequence[str] | None,
    cluster: str | None,
    confidence_level: float,
) -> pd.DataFrame:
    """The difference after - before of each system, with p-values that are corrected over all rows."""
    tables = []
    for arm in arms:
        pair = [_name(arm, side) for side in (BEFORE, AFTER)]
        of_arm = scores[scores["system"].isin(pair)]
        if of_arm["system"].nunique() < 2:
            continue
        table = compare(
            of_arm,
            baseline=pair[0],
            by=by or [],
            cluster=cluster,
            unpaired="drop",
            confidence_level=confidence_level,
        )
        tables.append(pd.DataFrame(table))
    if not tables:
        return pd.DataFrame()
    comparisons = pd.concat(tables, ignore_index=True)
    return shown(comparisons.assign(**adjusted_columns(comparisons["p_value"], "holm", None)))


# ---- question by question ------------------------------------------------------------------------


def _questions_table(
    runs: PairedRuns, arms: list[Any], scores: pd.DataFrame, metric: str
) -> pd.DataFrame:
    """One row per question and condition, with what both runs have of it."""
    sides = {}
    for side, frame in ((BEFORE, runs.before), (AFTER, runs.after)):
        sides[side] = _one_side(frame, scores, metric, runs.keys, side)
    keys = runs.keys
    order = _items(runs, arms)
    table = order.merge(sides[BEFORE], on=keys, how="left").merge(sides[AFTER], on=keys, how="left")
    texts = _by_example(runs, "question")
    if texts is not None:
        table.insert(len(keys), "question", table["example_id"].map(texts))
    table["text"] = [_text_state(*pair) for pair in zip(table[BEFORE], table[AFTER], strict=True)]
    table["change"] = _changes_of(table, scores, metric)
    table["answered"] = _refusals(table, runs)
    table["unpaired"] = [_why_unpaired(row, runs) for row in table.to_dict("records")]
    table = table.drop(columns=["is_in_before", "is_in_after", "reason_before", "reason_after"])
    return shown(table)


def _one_side(
    frame: pd.DataFrame, scores: pd.DataFrame, metric: str, keys: list[str], side: str
) -> pd.DataFrame:
    """Texts, values and reasons of one run under the names of its side."""
    columns = frame[keys].copy()
    columns[side] = frame["response"].to_numpy()
    columns[f"reason_{side}"] = frame["reason"].to_numpy() if "reason" in frame else None
    columns[f"is_in_{side}"] = True
    values = np.full(len(frame), np.nan)
    if metric:
        names = {_name(arm, side) for arm in frame["arm"].unique()}
        of_side = scores[(scores["metric"] == metric) & scores["system"].isin(names)]
        # `score` returns one value per response, in the order of the responses.
        values = of_side["value"].to_numpy(float)
    columns[f"value_{side}"] = values
    return columns


def _items(runs: PairedRuns, arms: list[Any]) -> pd.DataFrame:
    """The keys of all rows: those of the first run, those that only the second has, and those of neither."""
    of_runs = [frame[runs.keys] for frame in (runs.before, runs.after) if len(frame)]
    items = pd.concat(of_runs or [runs.before[runs.keys]], ignore_index=True).drop_duplicates()
    if runs.examples is None:
        return items
    # The replies of a store are in the order in which they arrived.
    place = pd.Series(range(len(runs.examples)), runs.examples["example_id"].to_numpy())
    order = items["example_id"].map(place).fillna(len(place))
    items = items.iloc[np.argsort(order.to_numpy(), kind="stable")]
    frames = [items]
    for arm in arms:
        ids = items.loc[items["arm"] == arm, "example_id"]
        others = runs.examples["example_id"]
        others = others[~others.isin(ids)]
        if len(others):
            frames.append(pd.DataFrame({"arm": arm, "example_id": others}))
    return pd.concat(frames, ignore_index=True)


def _by_example(runs: PairedRuns, column: str) -> pd.Series | None:
    """The value of a column for each question, from wherever it is recorded; None if it is not."""
    frames = [runs.before, runs.after, runs.examples]
    recorded = [
        frame[["example_id", column]].dropna()
        for frame in frames
        if frame is not None and column in frame
    ]
    if not recorded:
        return None
    values = pd.concat(recorded).drop_duplicates("example_id")
    return values.set_index("example_id")[column]


def _without_arm(questions: pd.DataFrame) -> pd.DataFrame:
    """The table without the column of the systems if there is only one, and else with its name."""
    if (questions["arm"] == "").all():
        return shown(questions.drop(columns="arm"))
    return shown(questions.rename(columns={"arm": "system"}))


def _text_state(old: Any, new: Any) -> str:
    """Whether two texts are equal apart from white space; empty if one is missing."""
    if not isinstance(old, str) or not isinstance(new, str):
        return ""
    return EQUAL if old.split() == new.split() else CHANGED


def _changes_of(table: pd.DataFrame, scores: pd.DataFrame, metric: str) -> list[str]:
    """How the value of each question changed."""
    old, new = table["value_before"], table["value_after"]
    both = old.notna() & new.notna()
    signature = " ".join(scores["signature"].astype(str).unique()) if metric else ""
    record = record_of(metric, signature) if metric else None
    higher_is_better = record is None or record.higher_is_better
    values = pd.concat([old[both], new[both]])
    is_binary = higher_is_better and values.isin([0, 1]).all()
    changes_of = []
    for before, after, is_paired in zip(old, new, both, strict=True):
        if not is_paired:
            changes_of.append(NOT_COMPARED)
        elif is_binary:
            words = [RIGHT if value == 1 else WRONG for value in (before, after)]
            changes_of.append(words[0] if words[0] == words[1] else " → ".join(words))
        elif abs(after - before) <= _ROUNDING * max(abs(before), abs(after)):
            changes_of.append(AS_GOOD)
        else:
            changes_of.append(BETTER if (after > before) == higher_is_better else WORSE)
    return changes_of


def _refusals(table: pd.DataFrame, runs: PairedRuns) -> list[str]:
    """Whether both texts of each question answer it or refuse to; empty if one has no outcome."""
    if table.empty:
        return []
    outcomes = {}
    languages = _by_example(runs, "language")
    for side in (BEFORE, AFTER):
        cells = [text if isinstance(text, str) else None for text in table[side]]
        texts = pd.DataFrame({"example_id": range(len(table)), "response": cells}, dtype=object)
        if "language" in table:
            texts["language"] = table["language"].fillna("en").to_numpy()
        elif languages is not None:
            texts["language"] = table["example_id"].map(languages).fillna("en").to_numpy()
        coverage = score(texts.assign(system=side), "abstention.coverage", rule="list")["value"]
        outcomes[side] = [
            "" if is_missing(value) else "answered" if value else "refused" for value in coverage
        ]
    states = []
    for old, new in zip(outcomes[BEFORE], outcomes[AFTER], strict=True):
        if not old or not new:
            states.append("")
        else:
            states.append(old if old == new else f"{old} → {new}")
    return states


def _why_unpaired(row: dict[str, Any], runs: PairedRuns) -> str:
    """Why a question has no answer on a side; empty if both have one."""
    gaps = []
    for side in (BEFORE, AFTER):
        if isinstance(row[side], str):
            continue
        reason = row[f"reason_{side}"]
        if row[f"is_in_{side}"] is not True:
            reason = runs.why_missing[side]
        gaps.append(f"{side}: {'no answer' if is_missing(reason) else reason}")
    return "; ".join(gaps)


def _unpaired(questions: pd.DataFrame) -> pd.DataFrame:
    """How many questions have an answer on one side only, or on none, by reason."""
    columns = ["side", "reason", "n"]
    gaps = questions[questions["unpaired"] != ""]
    if gaps.empty:
        return pd.DataFrame(columns=columns)
    has_old, has_new = (
        gaps[side].map(lambda text: isinstance(text, str)) for side in (BEFORE, AFTER)
    )
    side = np.select([has_old, has_new], [f"only {BEFORE}", f"only {AFTER}"], "neither")
    counts = gaps.assign(side=side, reason=gaps["unpaired"]).groupby(["side", "reason"], sort=False)
    return counts.size().rename("n").reset_index()[columns]


def _notes(questions: pd.DataFrame, requests: pd.DataFrame) -> list[str]:
    """What equal and changed texts say about the requests."""
    both = questions[questions["text"] != ""]
    differing = requests.loc[requests["state"] == DIFFERS, "part"].tolist()
    notes = []
    if differing == ["system"] and len(requests) == 1:
        notes.append("The runs record nothing about their requests except the name of the system.")
    elif differing:
        notes.append(f"The requests differ in {enumeration(differing)}.")
    is_flipped = questions["change"].isin([LOST, GAINED, WORSE, BETTER])
    n_odd = int((is_flipped & (questions["text"] == EQUAL)).sum())
    if n_odd:
        notes.append(
            f"{n_odd:,} of the flipped answers {'has' if n_odd == 1 else 'have'} an equal text, so the "
            "metric, a judge or a label gave it another value."
        )
    if both.empty:
        return notes
    n_equal = int((both["text"] == EQUAL).sum())
    model = [part for part in differing if part in _OF_MODEL]
    if model and n_equal:
        notes.append(
            f"{n_equal:,} of {len(both):,} texts are equal although {enumeration(model)} changed."
        )
        if n_equal == len(both) and n_equal > 1:
            notes.append("Every text is equal: check that the new model was really asked.")
    n_changed = len(both) - n_equal
    recorded = requests.loc[requests["part"].isin(["prompt", "model"]), "state"]
    if not differing and n_changed and len(recorded) and (recorded == "same").all():
        notes.append(
            f"{n_changed:,} of {len(both):,} texts changed although the requests are the same as far "
            "as they are recorded. Sampling, or another version of the model behind the same name, "
            "can be the reason."
        )
    return notes


def _questions(n: int) -> str:
    return f"{n:,} {'question' if n == 1 else 'questions'}"


def _have(n: int) -> str:
    return "has" if n == 1 else "have"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _answers(n: int) -> str:
    return "answer" if n == 1 else "answers"
