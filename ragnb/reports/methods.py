"""The paragraph on methods that a paper owes its numbers, made of the frames behind them: what these lack is not said."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from ragnb.errors import InputError, check_choice
from ragnb.markup import escape_latex, escape_markdown, spelled
from ragnb.records import CONDITION, is_missing, require_columns
from ragnb.reports.efficiency import questions
from ragnb.scoring.columns import check_names, with_numbers
from ragnb.scoring.experiments import data_name, decoding

_WRITTEN: dict[str, Callable[[str], str]] = {
    "text": lambda text: " ".join(spelled(text).split()),
    "markdown": escape_markdown,
    "latex": escape_latex,
}
_NEEDED = {
    "scores": ("example_id", "system", "metric", "value", "signature"),
    "summaries": ("metric", "interval", "confidence_level", "n", "n_scored", "signature"),
    "comparisons": (
        "metric", "system", "baseline", "n_pairs", "n_dropped", "interval", "confidence_level", "test", "p_value",
        "correction", "family_size", "mde", "power", "why", "signature",
    ),
}  # fmt: skip
_NUMBERS = (
    "value",
    "confidence_level",
    "n",
    "n_scored",
    "n_pairs",
    "n_dropped",
    "p_value",
    "family_size",
    "mde",
    "power",
)
_MARKS = ("ragnb", "metric", "lang", "prompt")
"""Parts of a signature that are no option of the metric."""


def methods_paragraph(
    scores: pd.DataFrame | None = None,
    summaries: pd.DataFrame | None = None,
    comparisons: pd.DataFrame | None = None,
    *,
    responses: pd.DataFrame | None = None,
    cluster: str | None = None,
    written: str = "text",
) -> str:
    """Methods paragraph for a paper: data, model, metrics and their definitions, missing values, intervals and tests.

    Everything in it comes from the frames. A frame that is not given has no sentence. Names of systems are in quotes.

    Parameters
    ----------
    scores
        As `ragnb.score` returns them: questions, responses, systems, languages, conditions, and what is unscored and why.
        ``attrs["source"]`` names the data, and ``attrs["model"]`` the file of the model, if they are there.
    summaries
        As `ragnb.summarize` returns them: the intervals, and how many responses are behind a mean.
    comparisons
        As `ragnb.compare` returns them: tests, correction, family, items left out, minimum detectable effect.
    responses
        The responses behind the scores: the models that answered and their sampling parameters.
    cluster
        The column that ``summaries`` were clustered by, which they do not hold; checked against their numbers of clusters.
    written
        ``"text"``, ``"markdown"`` or ``"latex"``, escaped. Of LaTeX nothing is needed but an engine and a font that know
        the scripts of the names.

    Raises
    ------
    InputError
        No frame at all, one without rows or columns that it needs, frames that are not of the same scores, or a ``cluster``
        that does not give the clusters of the summaries.

    >>> scores = pd.DataFrame({"example_id": ["q1", "q2"], "system": "a&b", "metric": "m", "value": [1.0, 0.5]})
    >>> print(methods_paragraph(scores.assign(signature="ragnb:0.1.0|metric:m|variant:x"), written="latex")[:78])
    We scored 2 responses of 1 system (“a\\&b”) to 2 questions under m (variant x).
    """
    check_choice(written, tuple(_WRITTEN), "methods_paragraph(written=...)")
    given = {"scores": scores, "summaries": summaries, "comparisons": comparisons}
    frames = {name: _checked(name, frame) for name, frame in given.items() if frame is not None}
    scores, summaries, comparisons = (frames.get(name) for name in given)
    _check(frames, cluster)
    if responses is not None:
        require_columns(responses, ("parameters",), "methods_paragraph(responses=...)")
    signatures = _signatures(frames)
    sentences = [
        _scored(scores, signatures)
        if scores is not None
        else f"Metrics: {_definitions(signatures)}.",
        *(_conditions(scores) if scores is not None else []),
        *(_models(scores, responses) if scores is not None else []),
        *_prompts(signatures),
        *(_unscored(scores) if scores is not None else []),
        *(_means(summaries, cluster) if summaries is not None else []),
        *(_compared(comparisons) if comparisons is not None else []),
        f"All numbers were computed with ragnb {_listed(_parts(signatures, 'ragnb'))}.",
    ]
    return _WRITTEN[written](" ".join(sentences))


# ---- are they of one run? ----------------------------------------------------------------------------------------------


def _checked(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose numbers are numbers and whose names are names."""
    what = f"methods_paragraph({name}=...)"
    require_columns(frame, _NEEDED[name], what)
    if frame.empty:
        raise InputError(
            f"methods_paragraph needs {name} with rows; got an empty frame; leave it out"
        )
    counted = [column for column in _NEEDED[name] if column in _NUMBERS]
    told = [
        *_NEEDED[name],
        *CONDITION,
        "repeat",
        "model",
        *frame.columns[: list(frame.columns).index("metric")],
    ]
    check_names(
        frame,
        [column for column in dict.fromkeys(told) if column in frame and column not in counted],
        what,
    )
    return with_numbers(frame, counted, what)


def _check(frames: dict[str, pd.DataFrame], cluster: str | None) -> None:
    if not frames:
        raise InputError(
            "methods_paragraph needs scores, summaries or comparisons; got none; pass what is to be described"
        )
    if cluster is not None and not (isinstance(cluster, str) and cluster):
        raise InputError(
            f"methods_paragraph(cluster=...) needs the name of a column; got {cluster!r:.60}; name it"
        )
    if "scores" in frames:
        for name in frames.keys() - {"scores"}:
            _check_origin(name, frames[name], frames["scores"])
    if {"scores", "summaries"} <= frames.keys():
        _check_cells(frames["summaries"], frames["scores"], cluster)
    elif cluster is not None:
        raise InputError(
            "methods_paragraph(cluster=...) needs scores and summaries to check it; got one of them; pass both"
        )


def _check_origin(name: str, frame: pd.DataFrame, scores: pd.DataFrame) -> None:
    """Refuse a frame whose signatures or systems the scores do not have."""
    systems = {
        system for column in ("system", "baseline") if column in frame for system in frame[column]
    }
    strange = [
        *_signatures({name: frame}) - _signatures({"scores": scores}),
        *systems - set(scores["system"]),
    ]
    if strange:
        raise InputError(
            f"methods_paragraph needs {name} that were computed from its scores; got {sorted(map(str, strange))[0]!r}, "
            "which these do not have; pass the frames of one run"
        )


def _check_cells(summaries: pd.DataFrame, scores: pd.DataFrame, cluster: str | None) -> None:
    """Refuse summaries whose cells hold another number of scored responses, or of clusters, than those of the scores."""
    keys = [*summaries.columns[: list(summaries.columns).index("metric")], "metric"]
    require_columns(
        scores, [*keys, *([cluster] if cluster else [])], "methods_paragraph(scores=...)"
    )
    cells, told = [scores[key] for key in keys], summaries.set_index(keys)
    if not _rows(told["n_scored"]) <= _rows(
        scores["value"].groupby(cells, dropna=False, sort=False).count()
    ):
        raise InputError(
            "methods_paragraph needs summaries that were computed from its scores; got other numbers of scored responses "
            "than these have; summarize these scores again"
        )
    if cluster is None:
        return
    units = (
        scores[cluster]
        .where(scores["value"].notna())
        .groupby(cells, dropna=False, sort=False)
        .nunique()
    )
    if not _rows(told["interval"].str.extract(r"(\d+) clusters")[0]) <= _rows(units):
        raise InputError(
            f"methods_paragraph(cluster={cluster!r}) needs the column that the summaries were clustered by; got intervals "
            f"{' / '.join(_distinct(summaries['interval']))}; name that column, or none"
        )


def _rows(cells: pd.Series) -> set[tuple[str, ...]]:
    return {tuple(map(str, row)) for row in cells.reset_index().itertuples(index=False)}


def _signatures(frames: dict[str, pd.DataFrame]) -> set[str]:
    return {
        part
        for frame in frames.values()
        for joined in set(frame["signature"])
        for part in str(joined).split(" & ")
    }


# ---- the sentences -----------------------------------------------------------------------------------------------------


def _scored(scores: pd.DataFrame, signatures: set[str]) -> str:
    systems = [_quoted(name) for name in dict.fromkeys(scores["system"])]
    asked = questions(scores).nunique()
    spoken = sorted(map(str, scores["language"].dropna().unique())) if "language" in scores else []
    languages = f" in {_counted(len(spoken), 'language')} ({_listed(spoken)})" if spoken else ""
    answers = f"{_counted(_responses(scores), 'response')} of {_counted(len(systems), 'system')} ({_listed(systems)})"
    return f"We scored {answers} to {_counted(asked, 'question')}{languages} under {_definitions(signatures)}."


def _responses(scores: pd.DataFrame) -> int:
    """Number of responses: rows that differ in more than metric and definition."""
    keys = [name for name in ("example_id", *CONDITION, "repeat") if name in scores]
    again = scores.groupby([*keys, "metric", "signature"], dropna=False).cumcount()
    return len(scores[keys].assign(again=again).drop_duplicates())


_SAID_ELSEWHERE = ("system", "language", "benchmark")
_CALLED = {"noise_rate": "noise rate", "passage_num": "passages per question", "correct_rate": "share of true passages",
           "order": "passage order", "task": "task"}  # fmt: skip


def _conditions(scores: pd.DataFrame) -> list[str]:
    columns = [name for name in CONDITION if name in scores and name not in _SAID_ELSEWHERE]
    if "correct_rate" in columns and (scores["correct_rate"].fillna(0) == 0).all():
        columns.remove("correct_rate")
    told = [f"{_CALLED[name]} {_listed(_distinct(map(_shown, scores[name])))}" for name in columns]
    repeats = scores["repeat"].nunique() if "repeat" in scores else 1
    told += [_counted(repeats, "repeat")] if repeats > 1 else []
    return [*_data(scores), *([f"Conditions: {'; '.join(told)}."] if told else [])]


def _data(scores: pd.DataFrame) -> list[str]:
    """Where the questions come from. The column ``benchmark`` only says whose format they have."""
    source = scores.attrs.get("source", {})
    formats = _distinct(map(_shown, scores["benchmark"])) if "benchmark" in scores else []
    if source:
        facts = [
            source.get("citation"),
            f"licence {source['licence']}" if source.get("licence") else None,
        ]
        known = "; ".join(fact for fact in facts if fact and "unknown" not in fact)
        written = f", in the format of {_listed(formats)}" if formats else ""
        return [f"Data: {data_name(source)}{f' ({known})' if known else ''}{written}."]
    return (
        [f"The data are in the format of {_listed(formats)}; the scores do not name the file."]
        if formats
        else []
    )


def _models(scores: pd.DataFrame, responses: pd.DataFrame | None) -> list[str]:
    """The models that answered, the file of the model, and how it was sampled."""
    names = _distinct(scores["model"].dropna()) if "model" in scores else []
    known = scores.attrs.get("model", {})
    file = (
        [known["file"], f"SHA-256 {known['sha256'][:12]}…"]
        if [known.get("model")] == names and "sha256" in known
        else []
    )
    told = (
        [f"Model: {_listed(map(str, names))}{f' ({chr(32).join(file)})' if file else ''}."]
        if names
        else []
    )
    if responses is None:
        return told
    sampled = _distinct(decoding(given) for given in responses["parameters"].dropna())
    return [*told, f"Sampling parameters: {' / '.join(sampled)}."]


def _definitions(signatures: set[str]) -> str:
    """The metrics, each with all the options that it was scored under."""
    options: dict[str, dict[str, None]] = {}
    for signature in sorted(signatures):
        parts = [part.partition(":") for part in signature.split("|")]
        name = next((value for key, _, value in parts if key == "metric"), signature)
        chosen = ", ".join(
            f"{key.replace('_', ' ')} {value}" for key, _, value in parts if key not in _MARKS
        )
        options.setdefault(name, {})[chosen] = None
    return _listed(
        f"{name} ({' / '.join(chosen)})" if any(chosen) else name
        for name, chosen in options.items()
    )


def _prompts(signatures: set[str]) -> list[str]:
    found = _parts(signatures, "prompt")
    return [f"{'Prompt' if len(found) == 1 else 'Prompts'}: {_listed(found)}."] if found else []


def _unscored(scores: pd.DataFrame) -> list[str]:
    missing = scores[scores["value"].isna()]
    if missing.empty:
        return ["No value is missing."]
    reasons = (
        missing["reason"]
        if "reason" in missing
        else pd.Series(None, index=missing.index, dtype=object)
    )
    counts = (
        reasons.astype(object).where(reasons.notna(), "no reason is given").value_counts(sort=False)
    )
    told = [f"{n} ({_quoted(why)})" for why, n in counts.items()]
    verb = "is" if len(missing) == 1 else "are"
    return [
        f"Of {len(scores)} values {len(missing)} {verb} missing and left out of the means: {_listed(told)}."
    ]


def _means(summaries: pd.DataFrame, cluster: str | None) -> list[str]:
    by = f", clustered by {cluster}" if cluster else ""
    n = f"{_range(summaries['n_scored'])} scored {'response' if (summaries['n_scored'] == 1).all() else 'responses'}"
    of = f" of {_range(summaries['n'])}" if (summaries["n_scored"] != summaries["n"]).any() else ""
    return [f"We report means over {n}{of} each, with {_intervals(summaries)}{by}."]


def _compared(comparisons: pd.DataFrame) -> list[str]:
    units = _distinct(str(why).partition("; clusters: ")[2] for why in comparisons["why"])
    by = f", with {_listed(filter(None, units))} as clusters" if any(units) else ""
    tests = dict.fromkeys(
        f"{test} ({str(why).partition('; clusters: ')[0]})"
        for test, why in zip(comparisons["test"], comparisons["why"], strict=True)
    )
    corrections = [str(name).capitalize() for name in _distinct(comparisons["correction"])]
    return [
        f"Systems were compared in pairs on the same items ({_range(comparisons['n_pairs'])} each{by}) in "
        f"{_counted(len(comparisons), 'comparison')}: {_pairs(comparisons)}.",
        f"We report differences with {_intervals(comparisons)}; tests: {_listed(tests)}.",
        _families(comparisons, corrections),
        *_undefined(comparisons),
        _dropped(comparisons),
        *_detectable(comparisons),
    ]


def _pairs(comparisons: pd.DataFrame) -> str:
    against: dict[Any, dict[Any, None]] = {}
    for system, baseline in zip(comparisons["system"], comparisons["baseline"], strict=True):
        against.setdefault(baseline, {})[system] = None
    return "; ".join(
        f"{_listed(map(_quoted, names))} against {_quoted(base)}" for base, names in against.items()
    )


def _families(comparisons: pd.DataFrame, corrections: list[str]) -> str:
    sizes = sorted(set(comparisons["family_size"]))
    if sizes == [1]:
        return "There is one test, so its p-value needs no correction."
    over = f"{'a family' if len(sizes) == 1 else 'families'} of {_listed(f'{size:g}' for size in sizes)} tests"
    return f"The p-values are corrected by the method of {_listed(corrections)} over {over}."


def _undefined(comparisons: pd.DataFrame) -> list[str]:
    """P-values that no test gave, and what the tests said of themselves."""
    missing = int(comparisons["p_value"].isna().sum())
    told = (
        [f"{_counted(missing, 'p-value')} {'is' if missing == 1 else 'are'} undefined."]
        if missing
        else []
    )
    warnings = [
        text for text in _distinct(comparisons.get("warning", [])) if isinstance(text, str) and text
    ]
    return [*told, *([f"Warnings: {'; '.join(warnings)}."] if warnings else [])]


def _dropped(comparisons: pd.DataFrame) -> str:
    if not comparisons["n_dropped"].any():
        return "No item was left out of a comparison."
    return f"Items left out of a comparison for want of a value of both systems: {_range(comparisons['n_dropped'])}."


def _detectable(comparisons: pd.DataFrame) -> list[str]:
    """The minimum detectable effect, metric by metric, for their units differ."""
    finite = comparisons[np.isfinite(comparisons["mde"].astype(float))]
    if finite.empty:
        return []
    by_metric = {
        metric: _range(rows["mde"]) for metric, rows in finite.groupby("metric", sort=False)
    }
    told = [
        f"{effect} ({metric})" if len(by_metric) > 1 else effect
        for metric, effect in by_metric.items()
    ]
    missing = len(comparisons) - len(finite)
    none = f"; of {_counted(missing, 'comparison')} it is undefined" if missing else ""
    power = _listed(f"{100 * power:g}%" for power in _distinct(finite["power"]))
    return [
        f"The minimum detectable effect of one comparison, before correction, with {power} power and at the spread seen, is "
        f"{_listed(told)}{none}."
    ]


def _intervals(frame: pd.DataFrame) -> str:
    levels = _listed(f"{100 * level:g}%" for level in _distinct(frame["confidence_level"]))
    kinds = _distinct(frame["interval"])
    return f"{levels} intervals ({' / '.join(kinds)})"


# ---- words -------------------------------------------------------------------------------------------------------------


def _parts(signatures: set[str], mark: str) -> list[str]:
    """What stands behind a mark in the signatures."""
    parts = {part for signature in signatures for part in signature.split("|")}
    return sorted(part.removeprefix(f"{mark}:") for part in parts if part.startswith(f"{mark}:"))


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def _listed(words: Iterable[str]) -> str:
    *first, last = [*words] or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


def _counted(n: int, thing: str) -> str:
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def _shown(value: Any) -> str:
    if is_missing(value):
        return "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _range(values: pd.Series) -> str:
    """From the lowest to the highest, in three digits where they are no whole numbers."""
    ends = [
        f"{end:.0f}" if float(end).is_integer() else f"{end:#.3g}".rstrip(".")
        for end in (values.min(), values.max())
    ]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _quoted(name: Any) -> str:
    """A name in quotes that it cannot close."""
    return f"“{str(name).translate({ord('“'): '‘', ord('”'): '’'})}”"
