"""Methods paragraph for a paper, made from the frames behind the numbers."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from importlib import resources
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.cells import present
from ragnb.columns import CONDITION, questions, require_columns
from ragnb.errors import InputError
from ragnb.markup import escape_latex, escape_markdown, spelled
from ragnb.metrics.record import METRICS
from ragnb.numbers import distinct, enumeration, percent
from ragnb.replies import count_reasons
from ragnb.scoring.experiments import data_name
from ragnb.scoring.glossary import definition_of

# Form of the paragraph -> the function that escapes a text for it.
_ESCAPES: dict[str, Callable[[str], str]] = {
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
# Keys of the sources of methods and models, by the beginning of their names.
_SOURCES = {
    "Wilson": "wilson1927",
    "Clopper-Pearson": "clopper1934",
    "BCa": "efron1987",
    "Tango": "tango1998",
    "McNemar mid-p": "fagerland2013",
    "holm": "holm1979",
    "benjamini-hochberg": "benjamini1995",
    "SmolLM2": "benallal2025",
}
# Column of a condition -> its words in the paragraph, with a gap for the values.
_CONDITIONS = {
    "task": "the task {}",
    "noise_rate": "a noise rate of {}",
    "passage_num": "{} passages",
    "correct_rate": "a share of true passages of {}",
    "order": "a passage order that is {}",
    "repeat": "the repetition {}",
}
# Order of the passages -> its words in the paragraph.
_ORDERS = {
    "per_item": "drawn for each question",
    "released": "that of the released code",
}
# Parameter of a request -> its words in the paragraph. Others are named by their own name.
_PARAMETERS = {"max_tokens": "at most {} tokens", "top_p": "top-p {}"}
_FOLDER = resources.files("ragnb") / "reports/data"
# Marks of a citation in a paragraph that is not yet escaped.
_CITATION = re.compile("\ue000(.*?)\ue001")


@accepts(written=tuple(_ESCAPES), length=("long", "short"))
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
    arguments = {"scores": scores, "summaries": summaries, "comparisons": comparisons}
    frames = {name: frame for name, frame in arguments.items() if frame is not None}
    if not frames:
        raise InputError("methods_paragraph needs scores, summaries or comparisons, got none")
    for name, frame in frames.items():
        require_columns(frame, _NEEDED[name].split(), f"methods_paragraph({name}=...)")
        if frame.empty:
            raise InputError(f"{name} must have at least one row, got an empty frame")
        if scores is None:
            continue
        unknown = _signatures_and_systems(frame) - _signatures_and_systems(scores)
        if unknown:
            raise InputError(
                f"methods_paragraph needs {name} that were computed from the same scores, got "
                f"{min(unknown)!r}, which is not in the scores; pass the frames of one run"
            )
    if responses is not None:
        require_columns(responses, ("parameters",), "methods_paragraph(responses=...)")
    signatures = sorted(set().union(*map(_signatures, frames.values())))
    words = dict(names or {})
    # The gaps of the template. It asks for each frame, also for one that is not there.
    values: dict[str, Any] = {**dict.fromkeys(_NEEDED), **frames}
    values |= {"long": length == "long", "cluster": cluster}
    values["metrics"] = _metrics(signatures, words, short=length == "short")
    values["versions"] = _marks(signatures, "ragnb")
    if scores is not None:
        values |= _data(scores, words) | _generation(scores, responses, signatures, words)
    if comparisons is not None:
        values |= _tests(comparisons, words)
    # The template breaks lines and leaves spaces where a sentence is not needed.
    rendered = re.sub("[ \n]+", " ", _template().render(values)).strip()
    escaped = _ESCAPES[written](rendered)
    return _CITATION.sub(partial(_citation, written), escaped)


@accepts()
def bibliography(text: str) -> str:
    r"""BibTeX entries of the sources that a text cites, in the order of their keys.

    Parameters
    ----------
    text
        LaTeX with the citations of `methods_paragraph`, such as ``\citep{holm1979}``. Keys that
        ragnb does not know are left out.

    Examples
    --------
    >>> print(bibliography(r"corrected \citep{holm1979}").splitlines()[0])
    @article{holm1979,
    """
    # A command such as \citep{holm1979, tango1998} contains several keys.
    lists_of_keys = re.findall(r"\\cite\w*\{([^}]*)\}", text)
    cited = {key.strip() for keys in lists_of_keys for key in keys.split(",")}
    return "\n".join(entry for key, entry in sorted(_entries().items()) if key in cited)


# ---- what the sentences contain --------------------------------------------------------------------


def _data(scores: pd.DataFrame, words: dict[str, str]) -> dict[str, Any]:
    """What the sentences on the data contain: systems, data, languages, conditions, missing values.

    `words` has the words for names, as `methods_paragraph` gets them. The keys of the result are the gaps of the
    template.
    """
    source = scores.attrs.get("source", {})
    facts = []
    languages = scores["language"].dropna().unique() if "language" in scores else []
    if len(languages):
        facts.append(f"{_plural(languages, 'language')} {enumeration(languages)}")
    licence = source.get("licence", "unknown")
    if "unknown" not in licence:
        facts.append(f"licence {licence}")
    data = ""
    if source:
        name = words.get(source.get("name", ""), data_name(source))
        data = name + _citation_of_data(source)
    missing = scores[scores["value"].isna()]
    return {
        "systems": [_called(name, words) for name in scores["system"].unique()],
        "n_questions": questions(scores).nunique(),
        "data": data,
        "n_responses": _n_responses(scores),
        "facts": facts,
        "conditions": _conditions(scores),
        "n_missing": len(missing),
        "reasons": count_reasons(missing.get("reason", [None] * len(missing))),
    }


def _conditions(scores: pd.DataFrame) -> list[str]:
    """The conditions of the responses in words, such as ``a noise rate of 0.2 or 0.4``."""
    phrases = []
    for name, phrase in _CONDITIONS.items():
        if name not in scores:
            continue
        values = scores[name].dropna().unique()
        # A task, a repetition or a share of 0 that all responses have is not worth a mention.
        needs_several = name in ("task", "repeat") or (name == "correct_rate" and not values.any())
        fewest = 2 if needs_several else 1
        if len(values) >= fewest:
            words_of_values = [_ORDERS.get(value, _value_text(value)) for value in values]
            phrases.append(phrase.format(enumeration(words_of_values, "or")))
    return phrases


def _n_responses(scores: pd.DataFrame) -> int:
    """Number of responses behind the scores. Each has one row per metric and definition."""
    keys = [name for name in ("example_id", *CONDITION, "repeat") if name in scores]
    # Rows that are equal in all of these belong to different responses, which a number distinguishes.
    groups = scores.groupby([*keys, "metric", "signature"], dropna=False)
    duplicate_number = groups.cumcount()
    responses = scores[keys].assign(duplicate_number=duplicate_number).drop_duplicates()
    return len(responses)


def _citation_of_data(source: Mapping[str, Any]) -> str:
    """The mark of a citation, which `_cite` makes, if ragnb knows the source.

    Otherwise it is the text of the citation in parentheses; empty if there is none.
    """
    citation = source.get("citation", "")
    # The key of a BibTeX entry is the first author and the year, as in "chen2024".
    author_and_years = re.findall(r"^\w+\b|\b(?:19|20)\d\d\b", citation)
    key = "".join(author_and_years[:2]).lower()
    if key in _entries():
        return _cite(key)
    return f" ({citation})" if citation else ""


def _generation(
    scores: pd.DataFrame,
    responses: pd.DataFrame | None,
    signatures: list[str],
    words: dict[str, str],
) -> dict[str, list[str]]:
    """Models with their files (``models``), and prompts and sampling parameters (``using``), in words."""
    # The details of a single model, if they were recorded when the responses were generated.
    recorded_model = scores.attrs.get("model", {})
    names = scores["model"].dropna().unique().tolist() if "model" in scores else []
    models = [f"{words.get(name, name)}{_source_of(name)}" for name in names]
    if [recorded_model.get("model")] == names and recorded_model.get("file"):
        models[0] += f", file {recorded_model['file']},"
    prompts = []
    for mark in _marks(signatures, "prompt"):
        # A mark such as "rgb.en:2:0f3a9c1d" has a version and a checksum of eight digits.
        name, _, version = re.sub(r":[0-9a-f]{8}$", "", mark).partition(":")
        number = f" (version {version})" if version else ""
        prompts.append(words.get(name, name) + number)
    using = [f"the {_plural(prompts, 'prompt')} {enumeration(prompts)}"] if prompts else []
    parameters_of_responses = [] if responses is None else responses["parameters"].dropna()
    # An empty mapping of parameters has no words.
    settings = {_settings(parameters) for parameters in parameters_of_responses if parameters}
    return {"models": models, "using": [*using, *sorted(settings)]}


def _settings(parameters: Mapping[str, Any]) -> str:
    """Sampling parameters in words, such as ``temperature 0 and at most 512 tokens``."""
    phrases = []
    # Reverse alphabetical order puts top_p and temperature before seed and max_tokens.
    for name in sorted(parameters, reverse=True):
        value = _value_text(parameters[name])
        if name in _PARAMETERS:
            phrases.append(_PARAMETERS[name].format(value))
        else:
            phrases.append(f"{name.replace('_', ' ')} {value}")
    return enumeration(phrases)


def _tests(comparisons: pd.DataFrame, words: dict[str, str]) -> dict[str, Any]:
    """What the sentences on tests contain: pairs of systems, tests, corrections, warnings and detectable effects."""
    pairs = []
    for baseline, rows in comparisons.groupby("baseline", sort=False):
        systems = enumeration(_called(name, words) for name in rows["system"].unique())
        pairs.append(f"{systems} with {_called(baseline, words)}")
    tests = []
    for name in comparisons["test"].unique():
        phrase = f"the {name}" if "test" in name else name
        # "McNemar mid-p" is the name of a test without the word.
        phrase = re.sub("^McNemar (mid-p|exact)$", r"McNemar's \1 test", phrase)
        tests.append(f"{phrase}{_source_of(name)}")
    detectable = []
    for metric, rows in comparisons.dropna(subset="mde").groupby("metric", sort=False):
        detectable.append(f"{_span(rows['mde'])} in {words.get(str(metric), metric)}")
    corrections = []
    for name in comparisons["correction"].unique():
        # A correction has the names of its authors, so the citation need not repeat them.
        corrections.append(f"{name.title()}{_source_of(name, author_named=True)}")
    return {
        "pairs": pairs,
        "tests": tests,
        "corrections": corrections,
        "families": distinct((f"{size:,}" for size in comparisons["family_size"]), " or "),
        "warnings": distinct(filter(None, comparisons.get("warning", ())), "; "),
        "detectable": detectable,
    }


def _metrics(signatures: list[str], words: dict[str, str], short: bool) -> list[str]:
    """Words for each metric and, unless `short`, its definition and the options under which it was scored.

    A signature such as ``ragnb:0.2.0|metric:answer.f1|variant:unicode`` consists of marks and their values.
    """
    # Name of a metric -> the options in each of its signatures, in words.
    options_by_metric: dict[str, list[str]] = {}
    # These marks have sentences of their own, or are no option of the metric.
    no_options = ("ragnb", "metric", "lang", "prompt")
    for signature in signatures:
        marks = {}
        for part in signature.split("|"):
            mark, _, value = part.partition(":")
            marks[mark] = value
        # A signature of another tool has no mark of the metric, and is then the name.
        name = marks.get("metric", signature)
        options = []
        for mark, value in marks.items():
            if mark not in no_options:
                options.append(f"{mark.replace('_', ' ')} {value}")
        options_by_metric.setdefault(name, []).append(", ".join(options))
    phrases = []
    for name, options_in_words in options_by_metric.items():
        word = words.get(name, name)
        # If the metric has another word, its name follows in parentheses.
        original_name = name if word != name else ""
        variants = distinct(filter(None, options_in_words), " and ")
        facts = ", ".join(filter(None, [original_name, variants]))
        if name in METRICS:
            definition = definition_of(METRICS[name]).rstrip(".")
            # A definition may begin with a name of the metric and a colon, as in "Token F1: ...". The name is
            # removed. If more than 40 characters precede a colon, they are no name but part of a sentence.
            definition = re.sub(r"^[^:]{,40}: ", "", definition)
            facts = f"{facts}: {definition}" if facts else definition
        phrases.append(f"{word} ({facts})" if facts and not short else word)
    return phrases


# ---- words ---------------------------------------------------------------------------------------


def _called(name: Any, words: dict[str, str]) -> str:
    """The word for a system, or its name in quotes, because it may be an ordinary word."""
    return words.get(str(name)) or f"“{name}”"


def _signatures(frame: pd.DataFrame) -> set[str]:
    """The signatures in a frame. A value that follows from several scores has several."""
    return set(frame["signature"].str.split(" & ").explode())


def _signatures_and_systems(frame: pd.DataFrame) -> set[str]:
    """The signatures in a frame and the names of its systems and baselines, as texts."""
    names = _signatures(frame)
    for column in ("system", "baseline"):
        if column in frame:
            names.update(map(str, frame[column]))
    return names


def _marks(signatures: Iterable[str], mark: str) -> list[str]:
    """The values of one mark, such as ``prompt``, in signatures; sorted and without duplicates."""
    values = set()
    for signature in signatures:
        for part in signature.split("|"):
            name, _, value = part.partition(":")
            if name == mark:
                values.add(value)
    return sorted(values)


def _span(values: pd.Series) -> str:
    """The lowest and the highest value joined by "to", or one text if both read the same.

    A whole number and a large one have no decimals, other numbers have three digits.
    """
    texts = []
    for value in (values.min(), values.max()):
        # Three digits of a number from 100 on have no decimals.
        has_no_decimals = float(value).is_integer() or abs(value) >= 100
        # The sign # keeps zeros at the end, as in 0.100.
        texts.append(f"{value:,.0f}" if has_no_decimals else f"{value:#.3g}")
    return distinct(texts, " to ")


def _plural(values: Sequence[Any], thing: str) -> str:
    """A noun in the singular for one value, and in the plural for several."""
    return thing if len(values) == 1 else f"{thing}s"


def _value_text(value: Any) -> str:
    """A value as text, without needless decimals."""
    return f"{value:g}" if isinstance(value, float) else str(present(value))


@cache
def _template() -> Any:
    """The sentences, with gaps that `methods_paragraph` fills."""
    from jinja2 import Environment

    environment = Environment()
    environment.filters |= {
        "listed": enumeration,
        "span": _span,
        "plural": _plural,
        "number_of": lambda n, thing: f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s",
        "percent": lambda levels: distinct(map(percent, levels)),
        "source": _source_of,
        "sourced": lambda name: f"{name}{_source_of(name)}",
    }
    return environment.from_string((_FOLDER / "methods.txt").read_text(encoding="utf-8"))


# ---- citations -----------------------------------------------------------------------------------


@cache
def _entries() -> dict[str, str]:
    """BibTeX entries by key."""
    text = (_FOLDER / "references.bib").read_text(encoding="utf-8")
    entries = {}
    # Each entry begins with @ at the start of a line. The first piece is what precedes the first entry.
    _, *pieces = re.split("(?m)^(?=@)", text)
    for entry in pieces:
        key = entry[entry.index("{") + 1 : entry.index(",")]
        entries[key] = entry
    return entries


def _field_of_entry(key: str, name: str) -> str:
    """A field of a BibTeX entry, which is written as ``year = {1979},``."""
    return str(re.findall(rf"\b{name} = \{{(.*?)\}},?\s", _entries()[key])[0])


def _cite(key: str) -> str:
    """The mark of a citation, which `_citation` replaces after the text has been escaped."""
    return f"\ue000{key}\ue001"


def _source_of(name: str, *, author_named: bool = False) -> str:
    """The citation of a method or model, if its source is known, or else an empty text.

    With `author_named`, the sentence names the author, and the citation has only the year: *Holm
    (1979)*.
    """
    for beginning, key in _SOURCES.items():
        if name.startswith(beginning):
            # An equals sign before the key tells `_citation` that the author is named.
            return _cite(f"={key}" if author_named else key)
    return ""


def _citation(written: str, match: re.Match[str]) -> str:
    """Write the citation of a known source: ``(Holm, 1979)``, or ``\\citep{holm1979}``.

    `written` is the form of the paragraph, and `match` is that of a mark of `_cite`.
    """
    # An equals sign says that the sentence names the author, see `_source_of`.
    author_named, key = match[1].startswith("="), match[1].lstrip("=")
    # A name in the data may contain the two marks. They are then no citation, and no font shows them.
    if key not in _entries():
        return ""
    if written == "latex":
        command = r"\citeyearpar" if author_named else r"\citep"
        return f"~{command}{{{key}}}"
    author, year = _field_of_entry(key, "author"), _field_of_entry(key, "year")
    if author_named:
        return f" ({year})"
    # BibTeX writes "Holm, Sture and others".
    surnames = [name.partition(",")[0] for name in author.split(" and ")]
    authors = " and ".join(surnames)
    if len(surnames) > 2 or "others" in surnames:
        authors = f"{surnames[0]} et al."
    return f" ({authors}, {year})"
