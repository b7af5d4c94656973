"""Methods paragraph for a paper, made from the frames behind the numbers."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.display import distinct
from ragnb.errors import InputError
from ragnb.markup import escape_latex, escape_markdown, spelled
from ragnb.metrics.record import METRICS
from ragnb.records import CONDITION, count_reasons, present, require_columns
from ragnb.reports.efficiency import questions
from ragnb.scoring.experiments import data_name
from ragnb.scoring.glossary import definition_of

_WRITTEN: dict[str, Callable[[str], str]] = {
    "text": lambda text: " ".join(spelled(text).split()),
    "markdown": escape_markdown,
    "latex": escape_latex,
}
_NEEDED = {
    "scores": "example_id system metric value signature",
    "summaries": "metric interval confidence_level n n_scored signature",
    "comparisons": "metric system baseline n_pairs n_dropped interval confidence_level test p_value "
    "correction family_size mde power signature",
}
_SOURCES = {
    "Wilson": "wilson1927",
    "Clopper-Pearson": "clopper1934",
    "BCa": "efron1987",
    "Tango": "tango1998",
    "Newcombe": "newcombe1998",
    "McNemar mid-p": "fagerland2013",
    "holm": "holm1979",
    "benjamini-hochberg": "benjamini1995",
    "SmolLM2": "benallal2025",
}
"""Keys of the sources of methods and models, by the beginning of their names."""
_CITATION = re.compile("\ue000(.*?)\ue001")
"""Marks of a citation in a paragraph that is not yet escaped."""


@accepts(written=tuple(_WRITTEN), length=("long", "short"))
def methods_paragraph(
    scores: pd.DataFrame | None = None,
    summaries: pd.DataFrame | None = None,
    comparisons: pd.DataFrame | None = None,
    *,
    responses: pd.DataFrame | None = None,
    cluster: str | None = None,
    names: Mapping[str, str] | None = None,
    length: str = "long",
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
    names
        Words for systems, metrics, prompts and data. Without a word, a name is printed as it is.
    length
        ``"long"``, or ``"short"`` for a paragraph of two or three sentences.
    written
        ``"text"``, ``"markdown"`` or ``"latex"``, escaped. For LaTeX, use an engine and a font that
        contain the scripts of the names. Known sources are cited, in LaTeX by ``\citep``, and
        `bibliography` returns their entries.

    Raises
    ------
    InputError
        There is no frame, a frame has no rows or lacks a column, or the signatures or systems of a
        frame are not those of the scores.

    >>> scores = pd.DataFrame({"example_id": ["q1", "q2"], "system": "a&b", "metric": "m"})
    >>> scores = scores.assign(value=[1.0, 0.5], signature="ragnb:0.1.0|metric:m|variant:x")
    >>> print(methods_paragraph(scores, length="short", written="latex"))
    We evaluated the system “a\&b” on 2 questions. We report m.
    """
    given = {"scores": scores, "summaries": summaries, "comparisons": comparisons}
    frames = {name: frame for name, frame in given.items() if frame is not None}
    if not frames:
        raise InputError("methods_paragraph needs scores, summaries or comparisons, got none")
    for name, frame in frames.items():
        require_columns(frame, _NEEDED[name].split(), f"methods_paragraph({name}=...)")
        if frame.empty:
            raise InputError(f"{name} must have at least one row, got an empty frame")
        if scores is not None and (strange := _names(frame) - _names(scores)):
            raise InputError(
                f"methods_paragraph needs {name} that were computed from the same scores, got "
                f"{min(strange)!r}, which is not in the scores; pass the frames of one run"
            )
    if responses is not None:
        require_columns(responses, ("parameters",), "methods_paragraph(responses=...)")
    signatures = sorted(set().union(*map(_signatures, frames.values())))
    words = dict(names or {})
    short = length == "short"
    sentences = []
    if scores is not None:
        sentences += _evaluated(scores, words, short)
        if not short:
            sentences += [*_asked(scores), *_generated(scores, responses, signatures, words)]
    sentences.append(f"We report {_metrics(signatures, words, short)}.")
    if scores is not None:
        sentences += _missing(scores, short)
    if summaries is not None:
        sentences.append(_summarized(summaries, cluster, short))
    if comparisons is not None:
        sentences += _compared(comparisons, words, short)
    if not short:
        versions = _listed(_marks(signatures, "ragnb"))
        sentences.append(f"Scores and tests were computed with ragnb {versions}.")
    return _cited(_WRITTEN[written](" ".join(sentences)), written)


def bibliography(text: str) -> str:
    r"""BibTeX entries of the sources that a text cites, in the order of their keys.

    Parameters
    ----------
    text
        LaTeX with the citations of `methods_paragraph`, such as ``\citep{holm1979}``. Keys that
        ragnb does not know are left out.

    >>> print(bibliography(r"corrected \citep{holm1979}").splitlines()[0])
    @article{holm1979,
    """
    cited = {
        key.strip() for keys in re.findall(r"\\cite\w*\{([^}]*)\}", text) for key in keys.split(",")
    }
    return "\n".join(entry for key, entry in sorted(_entries().items()) if key in cited)


# ---- the sentences -------------------------------------------------------------------------------


def _evaluated(scores: pd.DataFrame, words: dict[str, str], short: bool) -> list[str]:
    systems = [_called(name, words) for name in scores["system"].drop_duplicates()]
    those = f"the system{'s' * (len(systems) > 1)} {_listed(systems)}"
    if len(systems) > 8:
        those = f"{len(systems)} systems"
    asked = questions(scores).nunique()
    source = scores.attrs.get("source", {})
    origin = f" of {_data(source, words)}" if source else ""
    sentences = [f"We evaluated {those} on {_count(asked, 'question')}{origin}."]
    if short:
        return sentences
    # A response has one row for each metric and definition.
    keys = [name for name in ("example_id", *CONDITION, "repeat") if name in scores]
    again = scores.groupby([*keys, "metric", "signature"], dropna=False).cumcount()
    n = len(scores[keys].assign(again=again).drop_duplicates())
    licence = source.get("licence", "unknown")
    facts = []
    if "language" in scores and len(languages := scores["language"].dropna().unique()):
        facts.append(f"language{'s' * (len(languages) > 1)} {_listed(languages)}")
    if "unknown" not in licence:
        facts.append(f"licence {licence}")
    more = f" ({'; '.join(facts)})" if facts else ""
    return [*sentences, f"The data consist of {_count(n, 'response')}{more}."]


def _data(source: Mapping[str, Any], words: dict[str, str]) -> str:
    """The name of the data, and its citation."""
    citation = source.get("citation", "")
    found = re.match(r"(\w+)\b.*?\b((?:19|20)\d\d)\b", citation)
    key = f"{found[1].lower()}{found[2]}" if found else ""
    name = words.get(source.get("name", ""), data_name(source))
    if key in _entries():
        return f"{name}{_cite(key)}"
    return f"{name} ({citation})" if citation else name


def _asked(scores: pd.DataFrame) -> list[str]:
    """A sentence on the conditions under which the questions were asked."""
    phrases = []
    for name in ("task", "noise_rate", "passage_num", "correct_rate", "order", "repeat"):
        if name not in scores or scores[name].isna().all():
            continue
        values = scores[name].dropna().drop_duplicates()
        alone = len(values) == 1
        if alone and (name in ("task", "repeat") or (name == "correct_rate" and not values.any())):
            continue
        shown = _listed((_ORDERS.get(value, _shown(value)) for value in values), "or")
        phrases.append(_CONDITIONS[name].format(shown))
    return [f"Each question was asked with {_listed(phrases)}."] if phrases else []


_CONDITIONS = {
    "task": "the task {}",
    "noise_rate": "a noise rate of {}",
    "passage_num": "{} passages",
    "correct_rate": "a share of true passages of {}",
    "order": "a passage order that is {}",
    "repeat": "the repetition {}",
}
_ORDERS = {
    "per_item": "drawn for each question",
    "released": "that of the released code",
}
_PARAMETERS = {"max_tokens": "at most {} tokens", "top_p": "top-p {}"}


def _generated(
    scores: pd.DataFrame,
    responses: pd.DataFrame | None,
    signatures: list[str],
    words: dict[str, str],
) -> list[str]:
    """A sentence on the models, their files, the sampling parameters and the prompts."""
    known = scores.attrs.get("model", {})
    models = list(scores["model"].dropna().unique()) if "model" in scores else []
    by = [f"{_called(name, words, quoted=False)}{_source_of(name)}" for name in models]
    if [known.get("model")] == models and known.get("file"):
        by[0] += f", file {known['file']},"
    using = []
    if prompts := [_prompt(name, words) for name in _marks(signatures, "prompt")]:
        using.append(f"the prompt{'s' * (len(prompts) > 1)} {_listed(prompts)}")
    if responses is not None:
        settings = {_decoding(each) for each in responses["parameters"].dropna() if each}
        using += sorted(settings)
    if not (by or using):
        return []
    generated = f" by {_listed(by)}" if by else ""
    used = f" with {'; '.join(using)}" if using else ""
    return [f"The responses were generated{generated}{used}."]


def _decoding(parameters: Mapping[str, Any]) -> str:
    """Sampling parameters in words, in a fixed order."""
    return _listed(
        _PARAMETERS.get(name, f"{name.replace('_', ' ')} {{}}").format(_shown(parameters[name]))
        for name in sorted(parameters, reverse=True)
    )


def _prompt(name: str, words: dict[str, str]) -> str:
    """Name and version of a prompt, without the checksum of its text."""
    name, _, version = re.sub(r":[0-9a-f]{8}$", "", name).partition(":")
    return f"{words.get(name, name)}{f' (version {version})' if version else ''}"


def _missing(scores: pd.DataFrame, short: bool) -> list[str]:
    missing = scores[scores["value"].isna()]
    if not len(missing):
        return [] if short else ["No value is missing."]
    reasons = missing["reason"] if "reason" in missing else [None] * len(missing)
    are = "is" if len(missing) == 1 else "are"
    why = count_reasons(reasons)
    return [f"Of {len(scores):,} values, {len(missing):,} {are} missing and left out: {why}."]


def _summarized(summaries: pd.DataFrame, cluster: str | None, short: bool) -> str:
    by = f", clustered by {cluster}" if cluster else ""
    if short:
        return f"Means have {_intervals(summaries, plural=True)}{by}."
    n, scored = summaries["n"], summaries["n_scored"]
    of = "" if (n == scored).all() else f" of {_range(n)}"
    return (
        f"Each mean is over {_range(scored)}{of} responses and has a {_intervals(summaries)}{by}."
    )


def _compared(comparisons: pd.DataFrame, words: dict[str, str], short: bool) -> list[str]:
    against = [
        f"{_listed(_called(name, words) for name in rows['system'].drop_duplicates())} with "
        f"{_called(baseline, words)}"
        for baseline, rows in comparisons.groupby("baseline", sort=False)
    ]
    tests = _listed(
        f"{_test(name)}{_source_of(name)}" for name in dict.fromkeys(comparisons["test"])
    )
    corrections = _listed(
        f"{name.title()}{_source_of(name, inside=True)}"
        for name in dict.fromkeys(comparisons["correction"])
    )
    families = distinct((f"{size:,}" for size in comparisons["family_size"]), " or ")
    corrected = f", corrected by the method of {corrections} over {families} comparisons"
    if comparisons["family_size"].max() == 1:
        corrected = ""
    report = "" if short else f" and report each difference with a {_intervals(comparisons)}"
    sentences = [
        f"We compared {_listed(against)} in pairs on {_range(comparisons['n_pairs'])} "
        f"items{report}.",
        f"P-values are those of {tests}{corrected}.",
    ]
    if comparisons["n_dropped"].any():
        dropped = _range(comparisons["n_dropped"])
        sentences.append(f"Items left out because a value is missing: {dropped} per comparison.")
    if undefined := int(comparisons["p_value"].isna().sum()):
        sentences.append(f"Undefined p-values: {undefined}.")
    if "warning" in comparisons and (
        warnings := distinct(filter(None, comparisons["warning"]), "; ")
    ):
        sentences.append(f"Warnings: {warnings}.")
    detectable = comparisons.dropna(subset="mde")
    if short or detectable.empty:
        return sentences
    power = distinct(f"{100 * power:g}%" for power in detectable["power"])
    of_metric = [
        f"{_range(rows['mde'])} in {_called(metric, words, quoted=False)}"
        for metric, rows in detectable.groupby("metric", sort=False)
    ]
    return [
        *sentences,
        f"The minimum detectable effect of a single test ({power} power, observed spread) is "
        f"{_listed(of_metric)}.",
    ]


# ---- words ---------------------------------------------------------------------------------------


def _metrics(signatures: list[str], words: dict[str, str], short: bool) -> str:
    """Name the metrics, each with its definition and the options under which it was scored."""
    options: dict[str, list[str]] = {}
    for signature in signatures:
        marks = dict(part.partition(":")[::2] for part in signature.split("|"))
        name = marks.get("metric", signature)
        others = marks.keys() - {"ragnb", "metric", "lang", "prompt"}
        chosen = [f"{mark.replace('_', ' ')} {marks[mark]}" for mark in marks if mark in others]
        options.setdefault(name, []).append(", ".join(chosen))
    shown = []
    for name, chosen in options.items():
        word = words.get(name, name)
        under = distinct(filter(None, chosen), " and ")
        facts = ", ".join(filter(None, [name * (word != name), under]))
        if not short and name in METRICS:
            definition = definition_of(METRICS[name]).rstrip(".")
            facts = f"{facts}: {definition}" if facts else definition
        shown.append(f"{word} ({facts})" if facts and not short else word)
    return _listed(shown)


def _test(name: str) -> str:
    """The name of a test inside a sentence."""
    mcnemar = re.fullmatch(r"McNemar (mid-p|exact)", name)
    if mcnemar:
        return f"McNemar's {mcnemar[1]} test"
    return f"the {name}" if "test" in name else name


def _called(name: Any, words: dict[str, str], quoted: bool = True) -> str:
    """The word for a name, or the name itself, in quotes if it may be an ordinary word."""
    return words.get(str(name)) or (f"“{name}”" if quoted else str(name))


def _intervals(frame: pd.DataFrame, plural: bool = False) -> str:
    """Level and kind of the intervals, with their sources."""
    levels = distinct(f"{100 * level:g}%" for level in frame["confidence_level"])
    kinds = list(dict.fromkeys(frame["interval"]))
    noun = "intervals" if plural else "interval"
    if len(kinds) == 1 and "," not in kinds[0]:
        return f"{levels} {kinds[0]} {noun}{_source_of(kinds[0])}"
    return f"{levels} {noun} ({_listed(f'{kind}{_source_of(kind)}' for kind in kinds)})"


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


def _listed(values: Iterable[Any], last: str = "and") -> str:
    """Join values as in a sentence: ``a, b and c``."""
    *others, end = map(str, values)
    return f"{', '.join(others)} {last} {end}" if others else end


def _range(values: pd.Series) -> str:
    """The lowest and the highest value, with three digits if they are no whole numbers."""
    ends = (values.min(), values.max())
    shown = [f"{end:,.0f}" if float(end).is_integer() else f"{end:#.3g}" for end in ends]
    return distinct(shown, " to ")


def _count(n: int, thing: str) -> str:
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(present(value))


# ---- citations -----------------------------------------------------------------------------------


@cache
def _entries() -> dict[str, str]:
    """BibTeX entries by key."""
    text = (resources.files("ragnb") / "reports/data/references.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{(\w+),.*?^\}\n", text, re.MULTILINE | re.DOTALL)
    blocks = re.split(r"(?m)^(?=@)", text)[1:]
    return dict(zip(entries, blocks, strict=True))


def _cite(key: str) -> str:
    return f"\ue000{key}\ue001"


def _source_of(name: str, inside: bool = False) -> str:
    """The citation of a method or model, if its source is known.

    With ``inside``, the name of the author before it is part of the sentence.
    """
    keys = (key for known, key in _SOURCES.items() if name.startswith(known))
    return next((_cite(f"{'=' * inside}{key}") for key in keys), "")


def _cited(text: str, written: str) -> str:
    """Write the marked citations of known sources: ``(Holm, 1979)``, or ``\\citep{holm1979}``."""

    def cited(found: re.Match[str]) -> str:
        inside, key = found[1].startswith("="), found[1].lstrip("=")
        entry = _entries().get(key)
        if entry is None:
            return ""
        if written == "latex":
            return rf"~\cite{'yearpar' if inside else 'p'}{{{key}}}"
        year = _field("year", entry)
        if inside:
            return f" ({year})"
        surnames = [author.partition(",")[0] for author in _field("author", entry).split(" and ")]
        who = " and ".join(surnames[:2])
        if len(surnames) > 2 or "others" in surnames:
            who = f"{surnames[0]} et al."
        return f" ({who}, {year})"

    return _CITATION.sub(cited, text)


def _field(name: str, entry: str) -> str:
    return re.findall(rf"\b{name} = \{{(.*?)\}},?\s", entry)[0]
