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
    Mark,
    Page,
    annotated,
    listed,
    occurrences,
    render,
    reply_of,
)
from ragnb.widgets.rows import ABOUT, SIGNS, VERDICT

# Columns of the section on a judge.
JUDGED = ("judged_by", "judge_score", "judge_verdict", "human_label", "annotations", "disagreement")

# Kind of a section -> the function that returns its content for a row, and the columns that it needs. The section on a judge
# has no function, because its template reads the columns.
SECTIONS: dict[str, tuple[Callable[..., dict[str, Any]], tuple[str, ...]]] = {
    "trace": (trace.trace_section, trace.NEEDED),
    "judge": (lambda row: {}, JUDGED),
    "rgb": (rgb.rgb_section, rgb.NEEDED),
    "language": (language.language_section, language.NEEDED),
}

# Kind of a passage -> its name with a sign, and its class.
PASSAGES = {
    "positive": ("✓ contains the answer", "r-positive"),
    "negative": ("✗ noise", ""),
    "wrong": ("≠ states a false answer", "r-wrong"),
    "relevant": ("✓ relevant", "r-positive"),
    "not relevant": ("✗ not relevant", ""),
}

# Columns with lists of claims, each a mapping.
CLAIMS = ("parts", "statements", "nuggets", "judged_statements", "judged_relevant_statements")

# Longest alias that is marked; a longer one is a model answer, not a name or a date.
LONGEST = 80

# Words of a response. Chinese is written without spaces, so each of its characters counts as a word.
WORD = regex.compile(r"\p{Han}|[\w'’]+")
# Share of common words from which the differences of two responses are marked. Below it, nearly all words would be.
ALIKE = 0.3


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

    The section on the language is left out of a frame in one language. For a single row, whose card has only the columns
    here, it is left out if another section fits.
    """
    if kind is not None:
        require_columns(frame, SECTIONS[kind][1], f"view of kind {kind!r}")
        return [kind]
    fitting = [name for name, (_, needed) in SECTIONS.items() if set(needed) <= set(frame)]
    if "language" in fitting:
        has_several_languages = frame["language"].nunique() > 1
        is_only_section_of_card = frame.empty and fitting == ["language"]
        if not has_several_languages and not is_only_section_of_card:
            fitting.remove("language")
    return fitting


def _options_of(kinds: Sequence[str]) -> list[str]:
    """Names of the options of the sections and of `ragnb.view`, to suggest one for a misspelled name."""
    options = ["kind", "changed"]
    for kind in kinds:
        section, _ = SECTIONS[kind]
        _, *names = signature(section).parameters  # The first parameter is the row.
        options += names
    return options


def draw(
    row: Mapping[str, Any],
    kinds: Sequence[str],
    *,
    scores: Sequence[Mapping[str, Any]] = (),
    other_responses: Sequence[tuple[str, Mapping[str, Any]]] = (),
    columns_below: Mapping[str, Any] | None = None,
    **options: Any,
) -> Markup:
    """Return the card of a row.

    Parameters
    ----------
    row, kinds, options
        The row, the kinds of its sections, and their options.
    scores
        Its scores; see `ragnb.widgets.rows.Rows.scores`.
    other_responses
        Rows with responses to the same question, each with the name of its system, which are shown next to this one.
    columns_below
        Columns for the table below the card. Without them, there is no table.
    """
    sections = _sections(row, kinds, options)
    aliases = {
        mark: [text for text in texts if len(text) <= LONGEST]
        for mark, texts in phrases_of(row).items()
    }
    # Several cards may be on one page. The same response has the same id in each run.
    identity = repr([row.get(key) for key in ("question", "response", "system")])
    card_id = f"r{crc32(identity.encode()):x}"
    claims = list(_claims(row))
    passages = list(passages_of(row, aliases))

    # A number of a passage or the text of a claim in the response is outlined together with what it refers to.
    links = [(f"r-k{passage['rank']}", f"[{passage['rank']}]") for passage in passages]
    links += [(claim["link"], claim["text"]) for claim in claims]
    citations = {Mark("span", "", link, f"{card_id}-{link}"): [text] for link, text in links}
    phrases = aliases | sections.get("rgb", {}).get("phrases", {}) | citations

    has_passages = "trace" not in kinds and not is_missing(row.get("passages"))
    return render(
        "card.html",
        row=row,
        card_id=card_id,
        badges=[(name, row[name]) for name in ABOUT if not is_missing(row.get(name))],
        verdicts=list(_verdicts(row, sections)),
        history=listed(row, "history"),
        references=_references(row),
        scores=scores,
        answers=_answers(row, kinds, other_responses, phrases, aliases),
        claims=claims,
        passages=passages if has_passages else None,
        sections=sections,
        columns_below=columns_below,
    )


def _sections(
    row: Mapping[str, Any], kinds: Sequence[str], options: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """The content of each section. An option that no section has raises InputError."""
    sections = {}
    unused = dict(options)
    for kind in kinds:
        section, _ = SECTIONS[kind]
        names = signature(section).parameters.keys() & unused.keys()
        options_of_section = {name: unused.pop(name) for name in names}
        sections[kind] = section(row, **options_of_section)
    if unused:
        first = next(iter(unused))
        raise InputError(
            f"view of kind {', '.join(kinds) or 'plain'} has no option {first}"
            f"{did_you_mean(first, _options_of(kinds))}"
        )
    return sections


def _answers(
    row: Mapping[str, Any],
    kinds: Sequence[str],
    other_responses: Sequence[tuple[str, Mapping[str, Any]]],
    phrases: Mapping[Mark, Iterable[str]],
    aliases: Mapping[Mark, Iterable[str]],
) -> list[dict[str, Any]]:
    """What is shown of the response, and of those of other systems next to it.

    ``phrases`` are marked in the response, and only the ``aliases`` of the references in the others, because the other
    phrases belong to this response.
    """
    # These sections show the text of the response themselves.
    is_in_section = "trace" in kinds or kinds == ["language"]
    if is_in_section and not other_responses:
        return []
    answers = []
    own_text = None
    if isinstance(row.get("response"), str):
        own_text = reply_of(row)[1]
        answers.append(_answer("", row, phrases, None))
    for name, other in other_responses:
        if isinstance(other.get("response"), str):
            answers.append(_answer(name, other, aliases, own_text))
    return answers


def phrases_of(row: Mapping[str, Any]) -> dict[Mark, list[str]]:
    """Return the aliases of each part of the answer, and the false answers, by their mark."""
    phrases = {}
    for number, part in enumerate(listed(row, "references"), 1):
        phrases[Mark("mark", str(number))] = [part] if isinstance(part, str) else [*part]
    return {**phrases, FALSE: listed(row, "false_answers")}


def _verdicts(
    row: Mapping[str, Any], sections: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield the sign and the name of each verdict on a response: that of RGB if there is one, then the columns of `VERDICT`.

    A verdict that is there under two names is left out once.
    """
    repeated = set()
    if "judge" in sections:
        # In the rows of a report on judges, ``human_label`` is the label, and ``judge_verdict`` the verdict of the column
        # whose name is in ``judged_by``. The head of the card shows these two, and the section shows them in detail.
        repeated = {"label", row.get("judged_by")}
    verdicts = list(sections.get("rgb", {}).get("verdicts", []))
    verdicts += [(name, row[name]) for name in VERDICT if name in row and name not in repeated]
    for name, value in verdicts:
        if str(value) in SIGNS:
            yield SIGNS[str(value)], name.replace("_", " ")


def _references(row: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Return each part of the answer, and the false answers, with their heading and their aliases."""
    references = []
    for number, (mark, texts) in enumerate(phrases_of(row).items()):
        if not texts:
            continue
        heading = "and" if number else "answer"
        if mark == FALSE:
            heading = "false"
        references.append((heading, [_alias(text, mark) for text in texts]))
    return references


def _alias(text: str, mark: Mark) -> str:
    """An alias, marked as in the response, where longer ones are not marked."""
    return annotated(text, [(0, len(text), mark)]) if len(text) <= LONGEST else text


def _answer(
    name: str, row: Mapping[str, Any], phrases: Mapping[Mark, Iterable[str]], own_text: str | None
) -> dict[str, Any]:
    """What is shown of a response, in which the phrases are marked.

    In a response of another system, the words that the text of the card's own response lacks are marked, too.
    """
    reasoning, text = reply_of(row)
    new_words = [] if own_text is None else inserted(own_text, text)
    spans = _spans(text, phrases)
    spans += [(start, end, Mark("ins")) for start, end in new_words]
    return {
        "name": name,
        "reasoning": reasoning,
        "text": annotated(text, spans),
        "verdicts": list(_verdicts(row, {})),
        "differs": bool(new_words),
    }


def _spans(text: str, phrases: Mapping[Mark, Iterable[str]]) -> list[tuple[int, int, Mark]]:
    """Start, end and mark of each occurrence of the phrases in a text."""
    spans = []
    for mark, texts in phrases.items():
        spans += [(start, end, mark) for start, end in occurrences(text, texts)]
    return spans


def inserted(before: str, after: str) -> list[tuple[int, int]]:
    """Return the places of the words of a text that another text does not have.

    There are none if the texts have little in common.

    >>> inserted("It is Oslo.", "It was in Oslo.")
    [(3, 9)]
    """
    words = list(WORD.finditer(after))
    texts = [word.group() for word in words]
    matcher = SequenceMatcher(None, WORD.findall(before), texts, autojunk=False)
    if matcher.ratio() < ALIKE:
        return []
    places = []
    for operation, _, _, first, end in matcher.get_opcodes():
        # A deletion has no words in this text.
        if operation != "equal" and end > first:
            places.append((words[first].start(), words[end - 1].end()))
    return places


def _claims(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the claims of a response: text, label and link."""
    claims = chain.from_iterable(listed(row, name) for name in CLAIMS)
    for number, claim in enumerate(claims):
        # The name of the label differs between the columns of CLAIMS.
        verdict = None
        for key in ("label", "supported", "relevant", "assignment"):
            if key in claim:
                verdict = claim[key]
                break
        label = "" if is_missing(verdict) else SIGNS.get(str(verdict), str(verdict))
        text = claim.get("text") or claim.get("statement") or ""
        yield {"text": str(text), "label": label, "link": f"r-c{number}"}


def passages_of(
    row: Mapping[str, Any], aliases: Mapping[Mark, list[str]]
) -> Iterator[dict[str, Any]]:
    """Yield what is shown of each passage: its rank, its kind, its opening, and its text with the aliases marked."""
    kinds = listed(row, "kinds")
    ids = listed(row, "passage_ids") or listed(row, "retrieved")
    if not kinds and not is_missing(row.get("relevant")):
        kinds = ["relevant" if id in row["relevant"] else "not relevant" for id in ids]
    try:
        passages = passage_texts(row.get("passages")) or []
    except InputError as error:
        raise InputError(f"the response to {row.get('example_id')!r}: {error}") from error
    response = str(row.get("response"))
    for rank, (text, kind) in enumerate(zip_longest(passages, kinds), 1):
        text = text or ""  # There may be more kinds than passages.
        spans = _spans(text, aliases)
        matches = [text[start:end] for start, end, _ in spans]
        name, css = PASSAGES.get(kind, (kind or "", ""))
        # Whole graphemes, so that no emoji or accented letter is cut in two. Splitting the first 400
        # characters is enough for 90 of them, and much faster than splitting a long passage.
        opening = graphemes(text[:400])[:90]
        yield {
            "rank": rank,
            "name": name,
            "css": f"{css} r-k{rank}",
            "cited": f"[{rank}]" in response,
            "text": annotated(text, spans),
            "opening": "".join(opening),
            "matched": " · ".join(dict.fromkeys(matches)),
            "open": bool(spans),
        }
