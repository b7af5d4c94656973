"""A response and its language: which letters belong to it, which do not, and what RLC makes of that."""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from typing import Any

import pandas as pd
from ipywidgets import IntSlider

from ragnb.errors import InputError
from ragnb.markup import Markup, boxed, escape, hidden, join, page, superscript, tag
from ragnb.metrics.language import (
    LBRAG_HITS,
    LBRAG_UNCOUNTED,
    consistency_counts,
    identified_language,
    language_identified,
    lbrag_counts,
    lbrag_rule,
    letters_by_script,
    response_in_language,
    response_language_consistency,
    scripts_of,
)
from ragnb.metrics.normalization import VARIANTS
from ragnb.metrics.references import listed
from ragnb.records import require_columns
from ragnb.text import SCRIPTS, graphemes
from ragnb.widgets.browser import Browser
from ragnb.widgets.contexts import reply_of, without_response
from ragnb.widgets.looks import APART, CELL, QUOTED, fact
from ragnb.widgets.rgb import VERDICTS

NEEDED = ("response", "language")

LBRAG_WORDS = {
    "japanese": "kana and Han characters",
    "han": "Han characters",
    "letter": "letters of any script",
    "any": "letters of any script, kana and Han characters",
}
"""What each rule of ``lbrag`` takes for characters of the language."""

UNDEFINED = {"unicode": "– no letter to count", "lbrag": "– nothing to count, 1.000 by definition"}
"""What stands in the place of RLC where its denominator is 0."""

TOGETHER = scripts_of("ja")
"""Scripts that alternate within a word: where they are foreign, they share one superscript."""

Kind = frozenset[str]
Run = tuple[Kind | None, str]

_OWN, _FOREIGN = "background:#cdefe3;color:#111", "background:#f7d9e8;color:#111"


class LanguageView:
    """One response, its letters marked by their script, and the RLC of both variants.

    Letters of the language's scripts stand in ``<mark>``, others in ``<ins>``; behind the last of several words of one kind
    their scripts are named in superscript, foreign ones with ``≠``. What RLC does not count under ``unicode`` is plain:
    digits, punctuation, letters that scripts share. A grapheme cluster stays whole and is marked as its first letter.

    Each line runs as its first letter does. Characters that hide, direction overrides above all, are spelled out where they
    stand and named below. Joiners and variation selectors stay as they are where they shape their neighbours, and are
    spelled out anywhere else, see `ragnb.markup.hidden`. Renders without JavaScript, in JupyterLab, on code-hosting pages
    and in exported HTML.

    Parameters
    ----------
    row
        A row of a responses frame: ``response, language`` and, where there are such, ``question, system, references,
        reason``.
    threshold
        Of RLC_OK, see `ragnb.metrics.language.response_in_language`.
    identify
        Whether to say which language an identifier takes the response for, see `ragnb.metrics.language.identified_language`.

    Raises
    ------
    InputError
        A missing column, an unknown language, a threshold outside (0, 1], and what else the metrics refuse.
    """

    def __init__(
        self, row: Mapping[str, Any] | pd.Series, *, threshold: float = 0.6, identify: bool = False
    ) -> None:
        self.row = dict(row)
        require_columns(pd.DataFrame(columns=list(self.row)), NEEDED, "LanguageView")
        self.language, self.threshold, self.identify = self.row["language"], threshold, identify
        _check(self.language, threshold, identify)
        self._own = scripts_of(self.language)
        self._text = reply_of(self.row)[1] if isinstance(self.row["response"], str) else ""
        self._page = self._drawn()

    def __repr__(self) -> str:
        return f"LanguageView({self.language!r}, {letters_by_script(self._text).total()} letters)"

    def _repr_html_(self) -> Markup:
        return self._page

    def _drawn(self) -> Markup:
        silence = without_response(self.row)
        said = self._said() if silence is None else [silence]
        return page(*self._asked(), *said)

    # ---- what was asked for --------------------------------------------------------------------------------------------

    def _asked(self) -> Iterator[Markup]:
        if isinstance(self.row.get("question"), str):
            yield tag("p", tag("b", self.row["question"]), dir="auto")
        yield _fact("language", f"{self.language}, written in {self._written_in()}")
        if isinstance(self.row.get("system"), str):
            yield _fact("system", self.row["system"])
        parts = [_either(listed(part)) for part in listed(self.row.get("references"))]
        if parts:
            yield _fact("references", join(parts, "; and "))

    def _written_in(self) -> str:
        return ", ".join(_spaced(name) for name in SCRIPTS if name in self._own)

    # ---- what was said -------------------------------------------------------------------------------------------------

    def _said(self) -> Iterator[Markup]:
        yield _fact("response", "" if self._text else tag("i", "empty"))
        if self._text:
            yield tag("div", *map(self._line, self._text.split("\n")), style=f"{APART};{QUOTED}")
        yield from _spelled_out(self._text)
        if isinstance(self.row.get("reason"), str):
            yield _fact("reason", self.row["reason"])
        yield self._consistency()
        yield self._letters()
        if self.identify:
            yield _fact("identified as", self._identified())

    def _line(self, line: str) -> Markup:
        runs = [(kind, "".join(run)) for kind, run in groupby(graphemes(line), key=self._kind)]
        pieces = boxed(line, [0, *accumulate(len(text) for _, text in runs)])
        named = _named(runs)
        shown = [
            self._run(kind, pieces[place], named.get(place, ()))
            for place, (kind, _) in enumerate(runs)
        ]
        return tag("div", *shown, dir=direction(line), style="min-height:1.45em")

    def _kind(self, cluster: str) -> Kind | None:
        """The scripts whose letters are marked together with this cluster's; None without a letter."""
        script = next(iter(letters_by_script(cluster)), None)
        if script is None:
            return None
        return next((kind for kind in (self._own, TOGETHER) if script in kind), frozenset([script]))

    def _run(self, kind: Kind | None, text: Markup, names: Sequence[str]) -> Markup:
        if kind is None:
            return text
        run = (
            tag("mark", text, style=_OWN) if kind == self._own else tag("ins", text, style=_FOREIGN)
        )
        signs = [_spaced(name) if name in self._own else f"≠{_spaced(name)}" for name in names]
        return join([run, superscript(*signs, dir="ltr")]) if signs else run

    # ---- what it is worth ----------------------------------------------------------------------------------------------

    def _consistency(self) -> Markup:
        top = _row("th", "RLC", "value", f"≥ {self.threshold:g}?", "what belongs / what is counted")
        return tag("table", top, *map(self._verdict, VARIANTS), style=APART)

    def _verdict(self, variant: str) -> Markup:
        given = {"response": self._text, "language": self.language, "variant": variant}
        hits, counted = consistency_counts(self._text, self.language, variant=variant)
        share = (
            f"{hits}/{counted} = {response_language_consistency(**given):.3f}"
            if counted
            else UNDEFINED[variant]
        )
        passed = VERDICTS.get(response_in_language(**given, threshold=self.threshold), "–")
        return _row(
            "td", tag("b", variant), share, tag("b", passed), tag("small", self._rule(variant))
        )

    def _rule(self, variant: str) -> str:
        if variant == "unicode":
            return f"letters of {self._written_in()} / letters of any script"
        rule = lbrag_rule(self.language)
        missed = _by_category(
            [c for c in self._text if lbrag_counts(c) and not LBRAG_HITS[rule](c)]
        )
        said = f"rule {rule!r}: {LBRAG_WORDS[rule]} / all but spaces, digits and {LBRAG_UNCOUNTED}"
        return f"{said} · counted, no hit: {missed}" if missed else said

    def _letters(self) -> Markup:
        counts = letters_by_script(self._text)
        top = _row("th", "script", "letters", f"of {self.language}?")
        most_first = sorted(counts, key=lambda name: (-counts[name], name))
        rows = [
            _row("td", _spaced(name), counts[name], VERDICTS[name in self._own])
            for name in most_first
        ]
        return tag("table", top, *rows, style=APART) if rows else escape("")

    def _identified(self) -> str:
        value = language_identified(self._text, self.language)
        return (
            f"{identified_language(self._text)} {VERDICTS[value]}"
            if value in VERDICTS
            else "– no letter to go by"
        )


class LanguageBrowser(Browser):
    """A live browser through responses: one slider, one response after the other.

    Where no kernel runs, the first response is shown as its static view.

    Parameters
    ----------
    responses
        A responses frame: the columns of `LanguageView`.
    threshold, identify
        See `LanguageView`.
    """

    def __init__(
        self, responses: pd.DataFrame, *, threshold: float = 0.6, identify: bool = False
    ) -> None:
        require_columns(responses, NEEDED, "LanguageBrowser")
        if responses.empty:
            raise InputError(
                "LanguageBrowser needs at least one response; got an empty frame; run or load some first"
            )
        for language in responses["language"].unique():
            _check(language, threshold, identify)
        self._rows = responses.to_dict("records")
        self._options: dict[str, Any] = {"threshold": threshold, "identify": identify}
        self.number = IntSlider(min=1, max=len(self._rows), description="response")
        super().__init__(
            self.number, note="the slider needs a running kernel, this is the first response"
        )

    def __repr__(self) -> str:
        return f"LanguageBrowser({len(self._rows)} responses)"

    def _shown(self) -> Markup:
        return LanguageView(self._rows[self.number.value - 1], **self._options)._repr_html_()


def direction(line: str) -> str:
    """Which way a line runs, ``"ltr"`` or ``"rtl"``: as its first letter does; invisible marks of direction do not count.

    >>> direction("\\u200f1. שלום, Anna"), direction("Anna: שלום")
    ('rtl', 'ltr')
    """
    first = next(filter(str.isalpha, line), "")
    return "rtl" if first and unicodedata.bidirectional(first) in ("R", "AL") else "ltr"


# ---- pieces ------------------------------------------------------------------------------------------------------------


def _named(runs: Sequence[Run]) -> dict[int, list[str]]:
    """Place of the last of several runs of one kind, whatever stands between them → their scripts, as they come."""
    lettered = [place for place, (kind, _) in enumerate(runs) if kind]
    stretches = [list(places) for _, places in groupby(lettered, key=lambda place: runs[place][0])]
    return {
        places[-1]: list(letters_by_script("".join(runs[place][1] for place in places)))
        for places in stretches
    }


def _spelled_out(text: str) -> Iterator[Markup]:
    """The names of the characters that hide in a text."""
    found = [
        join([*boxed(c, (0, 1)), escape(f" {_name(c)} ×{n}")])
        for c, n in Counter(hidden(text)).items()
    ]
    if found:
        yield _fact("hidden characters", tag("small", join(found, " · ")))


def _name(character: str) -> str:
    nameless = {"Cc": "CONTROL", "Cs": "LONE SURROGATE"}.get(
        unicodedata.category(character), "UNASSIGNED"
    )
    return unicodedata.name(character, nameless)


def _by_category(characters: Sequence[str]) -> str:
    """Numbers of letters, marks and other signs, in words."""
    kinds = Counter(
        {"L": "letter", "M": "mark"}.get(unicodedata.category(c)[0], "sign") for c in characters
    )
    return ", ".join(
        f"{n} {kind}" if n == 1 else f"{n} {kind}s" for kind, n in sorted(kinds.items())
    )


def _either(texts: Sequence[Any]) -> Markup:
    return join([tag("span", text, dir="auto") for text in texts], " or ")


def _fact(name: str, value: Any) -> Markup:
    return fact(name, tag("span", value, dir="auto"))


def _row(element: str, *cells: Any) -> Markup:
    """A row of a table; only the fourth cell and what follows may be wrapped."""
    styles = [f"{CELL};white-space:nowrap" if place < 3 else CELL for place in range(len(cells))]
    return tag(
        "tr", *(tag(element, cell, style=style) for cell, style in zip(cells, styles, strict=True))
    )


def _spaced(script: str) -> str:
    return script.replace("_", " ")


def _check(language: Any, threshold: float, identify: bool) -> None:
    """Raise what the metrics raise, response or none."""
    response_in_language(None, language, threshold=threshold)
    if identify:
        language_identified(None, language)
