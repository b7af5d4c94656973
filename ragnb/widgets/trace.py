"""TRACe on the page: which sentences are relevant, which are utilized, what the response rests on, and what follows."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import pandas as pd
from ipywidgets import IntSlider

from ragnb.errors import InputError
from ragnb.markup import Markup, escape, join, page, tag
from ragnb.metrics.trace_labels import SPECIAL_KEYS
from ragnb.records import require_columns
from ragnb.widgets.browser import Browser
from ragnb.widgets.label_sets import LabelSet, Sentence, Support

NEEDED = ("question", "documents_sentences", "response_sentences")
FOLD = 4
"""Number of plain sentences in a row, inside a document that has others, from which they are folded."""

TINTS = {"R": "#ffe0a3", "U": "#cce5ff", "RU": "#cdefe3"}
FORMULAS = {
    "ragbench": {
        "relevance": "R / D",
        "utilization": "U / D",
        "completeness": "R∩U / R; 1 if R is empty",
        "adherence": "no sentence is unsupported",
        "supported_fraction": "sentences not unsupported",
        "rmse_to_ideal": "distance of the four from 1",
        "consistency": "1 − RMSE to ideal",
    },
    "guide": {
        "relevance": "R / 20, at most 1",
        "utilization": "U / R, at most 1; 0 if R is empty",
        "completeness": "R∩U / R; if R is empty, 1 if U is too, else 0",
        "adherence": "every sentence is fully supported",
        "supported_fraction": "sentences fully supported",
        "rmse_to_ideal": "distance of the four from 1",
        "consistency": "1 − RMSE to ideal",
    },
}
_LINE, _BLOCK = "margin:0.15em 0", "margin:0.6em 0"
_CELL = "text-align:left;padding:0.15em 0.8em 0.15em 0"


class TraceView:
    """One labelled response: its context with the relevant and utilized sentences, its support, and the TRACe scores.

    Relevant sentences stand in ``<mark>`` with a superscript R, utilized ones in bold with U. Documents, and long runs of
    sentences, that are neither are folded. Renders without JavaScript, in JupyterLab, on code-hosting pages and in
    exported HTML.

    Parameters
    ----------
    record
        A row of `ragnb.load_ragbench`, or a mapping with its field names: ``question, documents_sentences,
        response_sentences``, and the labels that there are (see `ragnb.metrics.trace.trace_scores`).
    other
        A second record of the same sentences: another judge's labels, or a human's. Every R, U, verdict and number then
        says by ¹ and ² whose it is, and sentences that are labelled differently are marked by ≠ and counted.
    variant, length
        Of the scores, see `ragnb.metrics.trace.relevance`.
    names
        What the two sets of labels are called.

    Raises
    ------
    InputError
        No record, a missing column, a field of another shape, an unknown option, sentences of `other` that differ.
    """

    def __init__(
        self,
        record: Mapping[str, Any] | pd.Series,
        *,
        other: Mapping[str, Any] | pd.Series | None = None,
        variant: str = "ragbench",
        length: str = "sentence",
        names: Sequence[str] = ("labels", "other"),
    ) -> None:
        _check_names(names)
        records = [record] if other is None else [record, other]
        signs = [""] if other is None else ["¹", "²"]
        self.sets = [
            LabelSet.read(_checked(given), name=name, sign=sign, variant=variant, length=length)
            for given, name, sign in zip(records, names, signs, strict=False)
        ]
        self.record = self.sets[0].record
        _check_same_sentences(self.sets)

    def __repr__(self) -> str:
        shown = f"{len(self._context)} context sentences, {len(self._response)} of the response"
        return f"TraceView({self.record['question']!r}, {shown})"

    def _repr_html_(self) -> Markup:
        return page(
            tag("div", tag("b", self.record["question"]), dir="auto", style=_BLOCK),
            self._legend(),
            *(
                self._document(number, sentences)
                for number, sentences in enumerate(self.sets[0].documents)
            ),
            self._answer(),
            self._numbers(),
            self._venn(),
            self._issues(),
            self._explanations(),
        )

    @property
    def _context(self) -> list[Sentence]:
        return [sentence for document in self.sets[0].documents for sentence in document]

    @property
    def _response(self) -> list[Sentence]:
        """Sentences of the response, then the keys that labels speak of although no sentence has them."""
        sentences = self.sets[0].response
        known = {key for key, _ in sentences}
        labelled = (
            key
            for labels in self.sets
            for key in [*(said.key for said in labels.support), *labels.unsupported]
        )
        return [*sentences, *((key, "") for key in dict.fromkeys(labelled) if key not in known)]

    # ---- the context ---------------------------------------------------------------------------------------------------

    def _legend(self) -> Markup:
        about = [self.record.get(name) for name in ("example_id", "system", "language")]
        parts = [text for text in about if isinstance(text, str)]
        parts += [
            "R relevant",
            "U utilized",
            "D all of the context",
            "✓ fully supported",
            "✗ not",
            "? undecided",
        ]
        if len(self.sets) > 1:
            parts += [f"{labels.sign}\u00a0{labels.name}" for labels in self.sets]
            parts += [f"≠ labelled differently: {self._disagreements()}"]
        return tag("p", tag("small", " · ".join(parts)))

    def _disagreements(self) -> str:
        context = [self._differs(key) for key, _ in self._context]
        response = [self._answers_differ(key) for key, _ in self._response]
        return f"{sum(context)} of {len(context)} in the context, {sum(response)} of {len(response)} in the response"

    def _document(self, number: int, sentences: list[Sentence]) -> Markup:
        title = f"document {number} · {_counted(len(sentences))}"
        runs = [
            (marked, list(run))
            for marked, run in groupby(sentences, key=lambda sentence: self._is_marked(sentence[0]))
        ]
        if not any(marked for marked, _ in runs):
            return self._folded(f"{title}, none relevant or utilized", sentences)
        return tag(
            "div", tag("b", title), *(self._run(marked, run) for marked, run in runs), style=_BLOCK
        )

    def _run(self, marked: bool, sentences: list[Sentence]) -> Markup:
        if marked or len(sentences) < FOLD:
            return join([self._sentence(key, text) for key, text in sentences])
        return self._folded(
            f"[{sentences[0][0]}] … [{sentences[-1][0]}] · {_counted(len(sentences))}, none relevant or utilized",
            sentences,
        )

    def _folded(self, title: str, sentences: list[Sentence]) -> Markup:
        inside = [self._sentence(key, text) for key, text in sentences]
        return tag("details", tag("summary", title), *inside, style="margin:0.3em 0")

    def _sentence(self, key: str, text: str) -> Markup:
        letters = "".join(
            letter for letter in "RU" if any(letter in labels.letters(key) for labels in self.sets)
        )
        whose = "".join(letter + self._signs(letter, key) for letter in letters)
        sign = "≠ " if self._differs(key) else ""
        return _line(
            f"{sign}[{key}]", _emphasised(text, letters), tag("sup", whose) if whose else Markup()
        )

    def _signs(self, letter: str, key: str) -> str:
        return "".join(labels.sign for labels in self.sets if letter in labels.letters(key))

    def _is_marked(self, key: str) -> bool:
        return any(labels.letters(key) for labels in self.sets)

    def _differs(self, key: str) -> bool:
        return len({labels.letters(key) for labels in self.sets}) > 1

    # ---- the response --------------------------------------------------------------------------------------------------

    def _answer(self) -> Markup:
        if not self._response:
            return tag("div", tag("b", "response"), " · ", tag("i", "no sentence"), style=_BLOCK)
        lines = [self._statement(key, text) for key, text in self._response]
        return tag("div", tag("b", "response"), *lines, style=_BLOCK)

    def _statement(self, key: str, text: str) -> Markup:
        sign = "≠ " if self._answers_differ(key) else ""
        named = key in (known for known, _ in self.sets[0].response)
        shown = escape(text) if named else tag("i", "names no sentence of the response")
        return _line(f"{sign}{self._verdict(key)} [{key}]", shown, " ", self._rests_on(key))

    def _verdict(self, key: str) -> str:
        glyphs = ["".join(said.glyph for said in labels.of(key)) or "?" for labels in self.sets]
        if len(set(glyphs)) == 1:
            return glyphs[0]
        return " ".join(
            glyph + labels.sign for glyph, labels in zip(glyphs, self.sets, strict=True)
        )

    def _rests_on(self, key: str) -> Markup:
        sets = self.sets if self._answers_differ(key) else self.sets[:1]
        said = [_support(labels, key) for labels in sets]
        if len(set(said)) > 1:
            said = [
                join([escape(f"{labels.sign} "), what])
                for labels, what in zip(sets, said, strict=True)
            ]
        else:
            said = said[:1]
        return tag("small", "(", join(said, "; "), ")", dir="ltr")

    def _answers_differ(self, key: str) -> bool:
        first, *rest = [labels.statement(key) for labels in self.sets]
        return any(statement != first for statement in rest)

    # ---- the numbers ---------------------------------------------------------------------------------------------------

    def _numbers(self) -> Markup:
        first = self.sets[0]
        head = [
            _head(first.variant),
            _cell(tag("small", f"lengths in {first.length}s")),
            *(_head(labels.name, labels.sign) for labels in self.sets),
        ]
        rows = [
            tag(
                "tr",
                _head(_spelled(name)),
                _cell(tag("small", formula)),
                *(_number(labels, name) for labels in self.sets),
            )
            for name, formula in FORMULAS[first.variant].items()
        ]
        return _table(tag("tr", *head), *rows)

    def _venn(self) -> Markup:
        parts = [(labels, labels.parts) for labels in self.sets]
        head = tag("tr", _head(), *map(_head, parts[0][1]))
        rows = [
            tag(
                "tr",
                _head(labels.name, labels.sign),
                *(_part(labels, keys) for keys in sections.values()),
            )
            for labels, sections in parts
        ]
        return _table(head, *rows)

    def _issues(self) -> Markup:
        issues = [(labels.sign, issue) for labels in self.sets for issue in labels.scores.issues]
        return join([_line(f"⚠{sign}", escape(issue)) for sign, issue in issues])

    def _explanations(self) -> Markup:
        lines = [
            _line(f"{title}{labels.sign}", escape(text))
            for labels in self.sets
            for title, text in _explained(labels)
            if text
        ]
        return tag("details", tag("summary", "explanations"), *lines) if lines else Markup()


class TraceBrowser(Browser):
    """A live browser through labelled responses: one slider, one record after the other.

    Where no kernel runs, the first record is shown as its static view.

    Parameters
    ----------
    frame
        As `ragnb.load_ragbench` returns it: the columns of `TraceView`.
    variant, length
        Of the scores, see `ragnb.metrics.trace.relevance`.
    """

    def __init__(
        self, frame: pd.DataFrame, *, variant: str = "ragbench", length: str = "sentence"
    ) -> None:
        require_columns(frame, NEEDED, "TraceBrowser")
        if frame.empty:
            raise InputError(
                "TraceBrowser needs at least one record; got an empty frame; load some first"
            )
        self._records = frame.to_dict("records")
        self._options = {"variant": variant, "length": length}
        self.number = IntSlider(min=1, max=len(self._records), description="record")
        super().__init__(
            self.number, note="the slider needs a running kernel, this is the first record"
        )

    def __repr__(self) -> str:
        return f"TraceBrowser({len(self._records)} records)"

    def _shown(self) -> Markup:
        return TraceView(self._records[self.number.value - 1], **self._options)._repr_html_()


# ---- pieces of the page ------------------------------------------------------------------------------------------------


def _line(lead: str, *rest: Markup | str) -> Markup:
    """A line that runs as its text does: the key before it has its own direction and says nothing about the text's."""
    return tag("div", tag("span", lead, dir="ltr"), " ", *rest, dir="auto", style=_LINE)


def _emphasised(text: str, letters: str) -> Markup:
    inner = tag("b", text) if "U" in letters else escape(text)
    if not letters:
        return inner
    return tag(
        "mark" if "R" in letters else "span", inner, style=f"background:{TINTS[letters]};color:#111"
    )


def _support(labels: LabelSet, key: str) -> Markup:
    said = [_supporting(labels, support) for support in labels.of(key)] or [
        escape("no support information")
    ]
    listed = [tag("b", "unsupported")] if key in labels.unsupported else []
    return join([*said, *listed], ", ")


def _supporting(labels: LabelSet, support: Support) -> Markup:
    if support.supporting is None:
        return escape("no supporting keys given")
    names = [
        tag("i", key) if key in SPECIAL_KEYS else escape(_shown_key(labels, key))
        for key in support.supporting
    ]
    return join([escape("supported by "), join(names, " ") if names else escape("nothing")])


def _number(labels: LabelSet, name: str) -> Markup:
    value = getattr(labels.scores, name)
    shown = f"{value:.0f}" if name == "adherence" else f"{value:.3f}"
    return _cell(
        tag("b", shown), " ", tag("small", "" if value != value else _behind(labels, name))
    )


def _behind(labels: LabelSet, name: str) -> str:
    if name == "adherence":
        return " ".join(f"[{key}]" for key in labels.against_adherence)
    return "/".join(map(str, labels.fractions.get(name, ())))


def _part(labels: LabelSet, keys: list[str]) -> Markup:
    repeats = {key: max(listed.count(key) for listed in labels.keys.values()) for key in keys}
    shown = (
        _shown_key(labels, key) + (f"×{repeats[key]}" if repeats[key] > 1 else "") for key in keys
    )
    return _cell(tag("b", str(len(keys))), " ", " ".join(shown))


def _shown_key(labels: LabelSet, key: str) -> str:
    return f"[{key}]" if labels.knows(key) else f"[{key}]?"


def _explained(labels: LabelSet) -> Iterable[tuple[str, str]]:
    yield "relevance", labels.explanation("relevance_explanation")
    yield from ((f"[{support.key}]", support.explanation) for support in labels.support)
    yield "overall", labels.explanation("overall_supported_explanation")


def _table(*rows: Markup) -> Markup:
    return tag("table", *rows, style=_BLOCK)


def _head(*children: Markup | str) -> Markup:
    return tag("th", *children, style=_CELL)


def _cell(*children: Markup | str) -> Markup:
    return tag("td", *children, style=_CELL)


def _spelled(name: str) -> str:
    return name.replace("rmse", "RMSE").replace("_", " ")


def _counted(n: int) -> str:
    return f"{n} sentence" if n == 1 else f"{n} sentences"


# ---- what is refused ---------------------------------------------------------------------------------------------------


def _checked(record: Any) -> dict[str, Any]:
    if not isinstance(record, Mapping | pd.Series):
        raise InputError(
            f"TraceView needs a record, one row of a frame; got {type(record).__name__}; pass frame.iloc[0]"
        )
    fields = dict(record)
    require_columns(pd.DataFrame(columns=list(fields)), NEEDED, "TraceView")
    return fields


def _check_names(names: Any) -> None:
    if (
        isinstance(names, str)
        or len(names) != 2
        or len({name for name in names if isinstance(name, str)}) != 2
    ):
        raise InputError(
            f"names needs two different texts, one for each set of labels; got {names!r}; name them apart"
        )


def _check_same_sentences(sets: list[LabelSet]) -> None:
    for what in ("documents", "response"):
        first, *others = (getattr(labels, what) for labels in sets)
        if any(other != first for other in others):
            raise InputError(
                f"two sets of labels need the same sentences of the {what}; got others; compare labels of one response"
            )
