"""One response as a card: what was asked, answered, retrieved, scored and labelled.

A card is a static page. It renders without JavaScript, in JupyterLab, on code-hosting pages and in
exported HTML.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from inspect import signature
from itertools import chain, zip_longest
from typing import Any
from zlib import crc32

import pandas as pd
import regex

from ragnb.arguments import accepts
from ragnb.cells import is_missing
from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.markup import Markup
from ragnb.passages import passage_texts
from ragnb.suggestions import did_you_mean
from ragnb.text import graphemes
from ragnb.widgets import language, rgb, trace
from ragnb.widgets.pages import (
    FALSE,
    Page,
    Sign,
    annotated,
    listed,
    occurrences,
    render,
    reply_of,
)
from ragnb.widgets.rows import ABOUT, SIGNS, VERDICT

JUDGED = ("judged_by", "judge_score", "judge_verdict", "human_label", "annotations", "disagreement")

SECTIONS: dict[str, tuple[Callable[..., dict[str, Any]], tuple[str, ...]]] = {
    "trace": (trace.trace_section, trace.NEEDED),
    "judge": (lambda row: {}, JUDGED),
    "rgb": (rgb.rgb_section, rgb.NEEDED),
    "language": (language.language_section, language.NEEDED),
}
"""Kind of a section -> what makes it of a row, and the columns that it needs."""

PASSAGES = {
    "positive": ("✓ positive", "r-positive"),
    "negative": ("✗ negative", ""),
    "wrong": ("≠ false", "r-wrong"),
}
"""Kind of a passage -> its name with a sign, and its class."""

CLAIMS = ("parts", "statements", "nuggets", "judged_statements", "judged_relevant_statements")
"""Columns with lists of claims, each a mapping."""

LONGEST = 80
"""Longest alias that is marked; a longer one is a model answer, not a name or a date."""

WORD = regex.compile(r"\p{Han}|[\w'’]+")
ALIKE = 0.3
"""Share of common words from which the differences of two responses are marked."""


class Card(Page):
    """One response as a page: question, verdict, scores, answer with its evidence, and passages.

    What answers the question is marked in the response and in the passages: the aliases of the
    references, and false answers by ``≠``. Further sections follow from the columns, see `ragnb.view`.

    Parameters
    ----------
    row
        A row of a frame, or a mapping.
    kind, options
        As for `ragnb.view`.

    Raises
    ------
    InputError
        If the kind or an option is unknown, a column is missing, or a field has another shape.

    >>> Card({"question": "Who?", "response": "Ann"})
    Card('Who?')
    """

    @accepts(kind=tuple(SECTIONS))
    def __init__(
        self, row: Mapping[str, Any] | pd.Series, kind: str | None = None, **options: Any
    ) -> None:
        kinds = kinds_of(pd.DataFrame(columns=[*dict(row)]), kind)
        content = draw(dict(row), kinds, **options)
        super().__init__(f"Card({row.get('question')!r})", "page.html", content=content)


def kinds_of(frame: pd.DataFrame, kind: str | None = None) -> list[str]:
    """Return the kinds of sections that a frame has columns for, or only the given one.

    A section on the language is left out if all responses are in one language and another section
    fits.
    """
    if kind is not None:
        require_columns(frame, SECTIONS[kind][1], f"view of kind {kind!r}")
        return [kind]
    fitting = [name for name, (_, needed) in SECTIONS.items() if set(needed) <= set(frame)]
    if "language" in fitting and len(frame) + len(fitting) > 1 and frame["language"].nunique() < 2:
        fitting.remove("language")
    return fitting


def _options_of(kinds: Sequence[str]) -> list[str]:
    """Options of the sections and of `ragnb.view`."""
    options = ["kind", "changed"]
    for kind in kinds:
        section, _ = SECTIONS[kind]
        options += [*signature(section).parameters][1:]
    return options


def draw(
    row: Mapping[str, Any],
    kinds: Sequence[str],
    *,
    scores: Sequence[Mapping[str, Any]] = (),
    others: Sequence[tuple[str, Mapping[str, Any]]] = (),
    rest: Mapping[str, Any] | None = None,
    **options: Any,
) -> Markup:
    """Return the card of a row.

    Parameters
    ----------
    row, kinds, options
        The row, the kinds of its sections, and their options.
    scores
        Its scores: name, value, meaning, bars and place.
    others
        Responses to the same question, each with its name, which are shown next to this one.
    rest
        Columns for the table below.
    """
    sections = {}
    for kind in kinds:
        section, _ = SECTIONS[kind]
        known = signature(section).parameters
        sections[kind] = section(row, **{key: options[key] for key in options if key in known})
        options = {key: value for key, value in options.items() if key not in known}
    if options:
        raise InputError(
            f"view of kind {', '.join(kinds) or 'plain'} has no option {next(iter(options))}"
            f"{did_you_mean(next(iter(options)), _options_of(kinds))}"
        )
    found = {
        kind: [text for text in texts if len(text) <= LONGEST]
        for kind, texts in phrases_of(row).items()
    }
    card_id = (
        f"r{crc32(repr([row.get(key) for key in ('question', 'response', 'system')]).encode()):x}"
    )
    claims = list(_claims(row))
    passages = list(passages_of(row, found))
    linked = [(f"r-k{passage['rank']}", f"[{passage['rank']}]") for passage in passages]
    linked += [(claim["link"], claim["text"]) for claim in claims]
    cited = {Sign("span", "", link, f"{card_id}-{link}"): [text] for link, text in linked}
    phrases = found | sections.get("rgb", {}).get("phrases", {}) | cited
    own = reply_of(row)[1] if isinstance(row.get("response"), str) else None
    elsewhere = "trace" in kinds or kinds == ["language"]
    answers = [
        _answer(name, each, found if name else phrases, own if name else None)
        for name, each in [("", row), *others]
        if isinstance(each.get("response"), str) and (others or not elsewhere)
    ]
    return render(
        "card.html",
        row=row,
        card_id=card_id,
        badges=[(name, row[name]) for name in ABOUT if not is_missing(row.get(name))],
        verdicts=list(_verdicts(row, sections)),
        history=listed(row, "history"),
        references=_references(row),
        scores=scores,
        answers=answers,
        claims=claims,
        passages=None if "trace" in kinds or is_missing(row.get("passages")) else passages,
        sections=sections,
        rest=rest,
    )


def phrases_of(row: Mapping[str, Any]) -> dict[Sign, list[str]]:
    """Return the aliases of each part of the answer, and the false answers, by how they are marked."""
    parts = [[part] if isinstance(part, str) else [*part] for part in listed(row, "references")]
    found = {Sign("mark", str(number)): part for number, part in enumerate(parts, 1)}
    return found | {FALSE: listed(row, "false_answers")}


def _verdicts(
    row: Mapping[str, Any], sections: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield the sign and the name of each verdict on a response that no section repeats."""
    repeated = ("label", row.get("judged_by")) if "judge" in sections else ()
    given = [(name, row[name]) for name in VERDICT if name in row and name not in repeated]
    for name, value in [*sections.get("rgb", {}).get("verdicts", []), *given]:
        if str(value) in SIGNS:
            yield SIGNS[str(value)], name.replace("_", " ")


def _references(row: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Return each part of the answer, and the false answers, with their aliases."""
    return [
        (
            "false" if kind == FALSE else "and" if number else "answer",
            [
                annotated(text, [(0, len(text), kind)]) if len(text) <= LONGEST else text
                for text in texts
            ],
        )
        for number, (kind, texts) in enumerate(phrases_of(row).items())
        if texts
    ]


def _answer(
    name: str, row: Mapping[str, Any], phrases: Mapping[Sign, Iterable[str]], beside: str | None
) -> dict[str, Any]:
    """Return what is shown of a response: its evidence, and what the one beside it does not have."""
    reasoning, text = reply_of(row)
    words = [] if beside is None else inserted(beside, text)
    return {
        "name": name,
        "reasoning": reasoning,
        "text": annotated(text, [*_marks(text, phrases), *((*at, Sign("ins")) for at in words)]),
        "verdicts": list(_verdicts(row, {})),
        "differs": bool(words),
    }


def _marks(text: str, phrases: Mapping[Sign, Iterable[str]]) -> list[tuple[int, int, Sign]]:
    return [(*at, kind) for kind in phrases for at in occurrences(text, phrases[kind])]


def inserted(before: str, after: str) -> list[tuple[int, int]]:
    """Return the places of the words of a text that another text does not have.

    There are none if the texts have little in common.

    >>> inserted("It is Oslo.", "It was in Oslo.")
    [(3, 9)]
    """
    words = list(WORD.finditer(after))
    matcher = SequenceMatcher(None, WORD.findall(before), [word.group() for word in words], False)
    if matcher.ratio() < ALIKE:
        return []
    changes = [(j, k) for what, _, _, j, k in matcher.get_opcodes() if k > j and what != "equal"]
    return [(words[first].start(), words[last - 1].end()) for first, last in changes]


def _claims(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the claims of a response: text, label and link."""
    claims = chain.from_iterable(listed(row, name) for name in CLAIMS)
    for number, claim in enumerate(claims):
        said = [
            claim[key] for key in ("label", "supported", "relevant", "assignment") if key in claim
        ]
        text = next((claim[key] for key in ("text", "statement") if claim.get(key)), "")
        label = "" if not said or is_missing(said[0]) else SIGNS.get(str(said[0]), str(said[0]))
        yield {"text": str(text), "label": label, "link": f"r-c{number}"}


def passages_of(
    row: Mapping[str, Any], found: Mapping[Sign, list[str]]
) -> Iterator[dict[str, Any]]:
    """Yield what is shown of each passage: its rank, kind, opening, signs and text."""
    kinds = listed(row, "kinds")
    named = listed(row, "passage_ids") or listed(row, "retrieved")
    if not kinds and not is_missing(row.get("relevant")):
        kinds = ["positive" if name in row["relevant"] else "negative" for name in named]
    try:
        passages = passage_texts(row.get("passages")) or []
    except InputError as error:
        raise InputError(f"the response to {row.get('example_id')!r}: {error}") from error
    for rank, (text, kind) in enumerate(zip_longest(passages, kinds), 1):
        text = text or ""  # There are more kinds than passages.
        spans = _marks(text, found)
        name, css = PASSAGES.get(kind, (kind or "", ""))
        yield {
            "rank": rank,
            "name": name,
            "css": f"{css} r-k{rank}",
            "cited": f"[{rank}]" in str(row.get("response")),
            "text": annotated(text, spans),
            "opening": "".join(graphemes(text[:400])[:90]),
            "matched": " · ".join(dict.fromkeys(text[start:end] for start, end, _ in spans)),
            "open": bool(spans),
        }
