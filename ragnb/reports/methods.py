"""Methods paragraph for a paper, made from the frames behind the numbers."""

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.markup import escape_latex, escape_markdown, spelled
from ragnb.records import CONDITION, count_reasons, present, require_columns
from ragnb.reports.efficiency import questions
from ragnb.reports.frames import distinct
from ragnb.scoring.experiments import data_name, decoding

_WRITTEN: dict[str, Callable[[str], str]] = {
    "text": lambda text: " ".join(spelled(text).split()),
    "markdown": escape_markdown,
    "latex": escape_latex,
}
_NEEDED = {
    "scores": "example_id system metric value signature",
    "summaries": "metric interval confidence_level n n_scored signature",
    "comparisons": "metric system baseline n_pairs n_dropped interval confidence_level test p_value "
    "correction family_size mde power why signature",
}


@accepts(written=tuple(_WRITTEN))
def methods_paragraph(
    scores: pd.DataFrame | None = None,
    summaries: pd.DataFrame | None = None,
    comparisons: pd.DataFrame | None = None,
    *,
    responses: pd.DataFrame | None = None,
    cluster: str | None = None,
    written: str = "text",
) -> str:
    r"""Methods paragraph for a paper: data, model, metrics, missing values, intervals and tests.

    Everything in it comes from the frames. A frame that is not given has no sentence.

    Parameters
    ----------
    scores
        Result of `ragnb.score`: questions, responses, systems, languages, conditions, and what is
        unscored and why. ``attrs["source"]`` names the data, and ``attrs["model"]`` the file of the
        model, if they are there.
    summaries
        Result of `ragnb.summarize`: the intervals, and the number of responses behind a mean.
    comparisons
        Result of `ragnb.compare`: tests, correction, family, items left out, and minimum
        detectable effect.
    responses
        The responses behind the scores, for the sampling parameters.
    cluster
        The column by which ``summaries`` were clustered, which they do not name.
    written
        ``"text"``, ``"markdown"`` or ``"latex"``, escaped. For LaTeX, use an engine and a font that
        contain the scripts of the names.

    Raises
    ------
    InputError
        There is no frame, a frame has no rows or lacks a column, or the signatures or systems of a
        frame are not those of the scores.

    >>> scores = pd.DataFrame({"example_id": ["q1", "q2"], "system": "a&b", "metric": "m"})
    >>> scores = scores.assign(value=[1.0, 0.5], signature="ragnb:0.1.0|metric:m|variant:x")
    >>> print(methods_paragraph(scores, written="latex").split(" Computed")[0])
    We scored 2 responses to 2 questions with m (variant x). Systems: “a\&b”. Missing values: none.
    """
    given = {"scores": scores, "summaries": summaries, "comparisons": comparisons}
    frames = {name: frame for name, frame in given.items() if frame is not None}
    if not frames:
        raise InputError("methods_paragraph needs scores, summaries or comparisons; got none")
    for name, frame in frames.items():
        require_columns(frame, _NEEDED[name].split(), f"methods_paragraph({name}=...)")
        if frame.empty:
            raise InputError(f"methods_paragraph needs {name} with rows; got an empty frame")
        if scores is not None and (strange := _names(frame) - _names(scores)):
            raise InputError(
                f"methods_paragraph needs {name} that were computed from its scores; got "
                f"{min(strange)!r}, which these do not have; pass the frames of one run"
            )
    signatures = sorted(set().union(*map(_signatures, frames.values())))
    sentences = [f"Metrics: {_definitions(signatures)}."]
    if scores is not None:
        sentences = [*_scored(scores, signatures), *_origin(scores)]
    if responses is not None:
        require_columns(responses, ("parameters",), "methods_paragraph(responses=...)")
        sampled = distinct(map(decoding, responses["parameters"].dropna()))
        sentences.append(f"Sampling parameters: {sampled}.")
    if prompts := _marks(signatures, "prompt"):
        sentences.append(f"Prompts: {distinct(prompts, ', ')}.")
    if scores is not None:
        missing = scores[scores["value"].isna()]
        reasons = missing["reason"] if "reason" in missing else [None] * len(missing)
        lost = f"{len(missing)} of {len(scores)}, left out of the means: {count_reasons(reasons)}"
        sentences.append(f"Missing values: {lost if len(missing) else 'none'}.")
    if summaries is not None:
        by = f", clustered by {cluster}" if cluster else ""
        n = f"{_range(summaries['n_scored'])} scored of {_range(summaries['n'])} responses"
        sentences.append(f"Each mean is over {n}, with {_intervals(summaries)}{by}.")
    if comparisons is not None:
        sentences += _compared(comparisons)
    sentences.append(f"Computed with ragnb {distinct(_marks(signatures, 'ragnb'), ', ')}.")
    return _WRITTEN[written](" ".join(sentences))


_CALLED = {
    "noise_rate": "noise rate",
    "passage_num": "passages per question",
    "correct_rate": "share of true passages",
    "order": "passage order",
}


# ---- the sentences -------------------------------------------------------------------------------


def _scored(scores: pd.DataFrame, signatures: list[str]) -> list[str]:
    # A response has one row for each metric and definition.
    keys = [name for name in ("example_id", *CONDITION, "repeat") if name in scores]
    again = scores.groupby([*keys, "metric", "signature"], dropna=False).cumcount()
    n = len(scores[keys].assign(again=again).drop_duplicates())
    asked = questions(scores).nunique()
    named = [f"Systems: {distinct(map(_quoted, scores['system']), ', ')}."]
    if "language" in scores:
        named.append(f"Languages: {distinct(scores['language'].dropna(), ', ')}.")
    elsewhere = {"system", "language", "benchmark"}
    for name in ("correct_rate", "repeat"):
        if name in scores and (scores[name].fillna(0) == 0).all():
            elsewhere.add(name)
    varied = [
        f"{_CALLED.get(name, name)} {distinct(map(_shown, scores[name]), ', ')}"
        for name in (*CONDITION, "repeat")
        if name in scores and name not in elsewhere
    ]
    conditions = [f"Conditions: {'; '.join(varied)}."] if varied else []
    counts = f"{_count(n, 'response')} to {_count(asked, 'question')}"
    return [f"We scored {counts} with {_definitions(signatures)}.", *named, *conditions]


def _origin(scores: pd.DataFrame) -> list[str]:
    """Sentences on the data and the models. ``benchmark`` is only the format of the questions."""
    source, model = scores.attrs.get("source", {}), scores.attrs.get("model", {})
    sentences = []
    if source:
        facts = [source.get("citation"), f"licence {source.get('licence', 'unknown')}"]
        known = "; ".join(fact for fact in facts if fact and "unknown" not in fact)
        sentences.append(f"Data: {data_name(source)}{f' ({known})' if known else ''}.")
    elif "benchmark" in scores:
        formats = distinct(scores["benchmark"], ", ")
        sentences.append(f"Data: in the format of {formats}; the scores do not name the file.")
    names = list(scores["model"].dropna().unique()) if "model" in scores else []
    if names:
        sha = model.get("sha256") if [model.get("model")] == names else None
        file = f" ({model['file']}, SHA-256 {sha[:12]}…)" if sha else ""
        sentences.append(f"Model: {distinct(names, ', ')}{file}.")
    return sentences


def _compared(comparisons: pd.DataFrame) -> list[str]:
    pairs = zip(comparisons["system"], comparisons["baseline"], strict=True)
    against = distinct((f"{_quoted(one)} - {_quoted(two)}" for one, two in pairs), ", ")
    tests = [
        f"{test} ({why})" for test, why in zip(comparisons["test"], comparisons["why"], strict=True)
    ]
    sentences = [
        f"We compared systems in pairs on the same items: {against} "
        f"({_count(len(comparisons), 'comparison')} of {_range(comparisons['n_pairs'])} items; "
        f"{_range(comparisons['n_dropped'])} left out because a value is missing), with "
        f"{_intervals(comparisons)}. Tests: {distinct(tests, '; ')}. P-values are corrected by the "
        f"method of {distinct(comparisons['correction'].str.capitalize())} over families of "
        f"{distinct(comparisons['family_size'])}."
    ]
    undefined = int(comparisons["p_value"].isna().sum())
    if undefined:
        sentences.append(f"Undefined p-values: {undefined}.")
    if "warning" in comparisons and (
        warnings := distinct(filter(None, comparisons["warning"]), "; ")
    ):
        sentences.append(f"Warnings: {warnings}.")
    for metric, rows in comparisons.dropna(subset="mde").groupby("metric", sort=False):
        power = distinct(f"{100 * power:g}%" for power in rows["power"])
        sentences.append(
            f"Minimum detectable effect on {metric} ({power} power, one uncorrected test, at the "
            f"observed spread): {_range(rows['mde'])}."
        )
    return sentences


# ---- words ---------------------------------------------------------------------------------------


def _signatures(frame: pd.DataFrame) -> set[str]:
    return {part for joined in set(frame["signature"]) for part in joined.split(" & ")}


def _names(frame: pd.DataFrame) -> set[str]:
    """Signatures and systems of a frame."""
    columns = [name for name in ("system", "baseline") if name in frame]
    return _signatures(frame).union(*(map(str, frame[name]) for name in columns))


def _marks(signatures: Iterable[str], mark: str) -> list[str]:
    """Values of one mark in signatures, sorted."""
    parts = {part.partition(":") for signature in signatures for part in signature.split("|")}
    return sorted(value for name, _, value in parts if name == mark)


def _definitions(signatures: list[str]) -> str:
    """Name the metrics, each with all options under which it was scored."""
    options: dict[str, list[str]] = {}
    for signature in signatures:
        marks = dict(part.partition(":")[::2] for part in signature.split("|"))
        name = marks.get("metric", signature)
        others = marks.keys() - {"ragnb", "metric", "lang", "prompt"}
        chosen = [f"{mark.replace('_', ' ')} {marks[mark]}" for mark in marks if mark in others]
        options.setdefault(name, []).append(", ".join(chosen))
    listed = {name: distinct(filter(None, chosen)) for name, chosen in options.items()}
    return ", ".join(f"{name} ({chosen})" if chosen else name for name, chosen in listed.items())


def _intervals(frame: pd.DataFrame) -> str:
    levels = distinct(f"{100 * level:g}%" for level in frame["confidence_level"])
    return f"{levels} intervals ({distinct(frame['interval'])})"


def _range(values: pd.Series) -> str:
    """The lowest and the highest value, with three digits if they are no whole numbers."""
    ends = (values.min(), values.max())
    shown = [f"{end:.0f}" if float(end).is_integer() else f"{end:#.3g}" for end in ends]
    return distinct(shown, " to ")


def _count(n: int, thing: str) -> str:
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(present(value))


def _quoted(name: Any) -> str:
    return f"“{name}”"
