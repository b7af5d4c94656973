"""A response and its language: the scripts of its letters, and the RLC that follows from them."""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import pandas as pd

from ragnb.markup import Markup, characters, hidden
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
    scripts_of,
)
from ragnb.metrics.normalization import VARIANTS
from ragnb.text import SCRIPTS, graphemes
from ragnb.widgets.pages import Page, fields_of, reply_of, sign

NEEDED = ("response", "language")

LBRAG_WORDS = {
    "japanese": "kana and Han characters",
    "han": "Han characters",
    "letter": "letters of any script",
    "any": "letters of any script, kana and Han characters",
}
"""Rule of ``lbrag`` -> which characters belong to the language."""

UNDEFINED = {"unicode": "– no letter to count", "lbrag": "– nothing to count, 1.000 by definition"}
"""Variant -> what is shown instead of RLC if its denominator is 0."""

Kind = frozenset[str]
"""Scripts whose letters are marked together."""

TOGETHER: Kind = scripts_of("ja")
"""Scripts that alternate within a word; where they are foreign, they share one superscript."""


class LanguageView(Page):
    """One response with its letters marked by script, and its RLC under both variants.

    Letters of the language's scripts are in ``<mark>``, other letters in ``<ins>``. Behind the last
    of several words of one kind, a superscript names their scripts, foreign ones with ``≠``.
    Characters that RLC does not count under ``unicode`` are plain: digits, punctuation, and letters
    that scripts share. A grapheme cluster stays whole and is marked like its first letter.

    Each line has the direction of its own text. Hidden characters, such as direction
    overrides, are spelled out in place and named below, see `ragnb.markup.hidden`.

    Parameters
    ----------
    row
        A row of a frame of responses with the columns ``response, language``. Optional columns are
        ``question, system, references, reason``.
    threshold
        Threshold of RLC_OK, see `ragnb.metrics.language.response_in_language`.
    identify
        Whether to show the language that an identifier assigns to the response, see
        `ragnb.metrics.language.identified_language`.

    Raises
    ------
    InputError
        If a column is missing, the language is unknown or the threshold is outside (0, 1].
    """

    def __init__(
        self, row: Mapping[str, Any] | pd.Series, *, threshold: float = 0.6, identify: bool = False
    ) -> None:
        row = fields_of(row, NEEDED, "LanguageView")
        text = reply_of(row)[1] if isinstance(row["response"], str) else ""
        language = row["language"]
        own, letters = scripts_of(language), letters_by_script(text)
        written = ", ".join(_spaced(name) for name in SCRIPTS if name in own)
        ordered = sorted(letters, key=lambda name: (-letters[name], name))
        super().__init__(
            f"LanguageView({language!r}, {letters.total()} letters)",
            "language.html",
            asked=row,
            written=written,
            lines=[_runs(line, own) for line in text.split("\n") if text],
            hidden=[
                (characters(c)[0], unicodedata.name(c, "NO NAME"), n)
                for c, n in Counter(hidden(text)).items()
            ],
            threshold=threshold,
            consistency=list(_consistency(text, language, threshold, written)),
            scripts=[(_spaced(name), letters[name], sign(name in own)) for name in ordered],
            identified=_identified(text, language) if identify else "",
        )


# ---- the letters ---------------------------------------------------------------------------------


def _runs(line: str, own: Kind) -> list[tuple[str, Markup, str]]:
    """Return the runs of a line: element, HTML and superscript.

    The last run of several of one kind names their scripts. A run without letters has no element.
    """
    shown, start, letters = characters(line), 0, ""
    groups = groupby(graphemes(line), key=lambda cluster: _kind(cluster, own))
    runs = [(kind, "".join(clusters)) for kind, clusters in groups]
    later = [kind for kind, _ in runs if kind]
    found = []
    for kind, text in runs:
        html = Markup("".join(shown[start : start + len(text)]))
        start += len(text)
        element, names = "", ""
        if kind:
            element = "mark" if kind == own else "ins"
            letters += text
            later.pop(0)
        if kind and later[:1] != [kind]:
            scripts = letters_by_script(letters)
            names = " ".join("≠"[name in own :] + _spaced(name) for name in scripts)
            letters = ""
        found.append((element, html, names))
    return found


def _kind(cluster: str, own: Kind) -> Kind | None:
    """Return the scripts with which a grapheme cluster is marked; None if it has no letter."""
    script = next(iter(letters_by_script(cluster)), None)
    if script is None:
        return None
    return next((kind for kind in (own, TOGETHER) if script in kind), frozenset([script]))


def _spaced(script: str) -> str:
    return script.replace("_", " ")


# ---- the numbers ---------------------------------------------------------------------------------


def _consistency(
    text: str, language: str, threshold: float, written: str
) -> Iterator[tuple[str, str, float, str]]:
    """Yield each variant of RLC with its value, its verdict, and what it counts."""
    rules = {
        "unicode": f"letters of {written} / letters of any script",
        "lbrag": _lbrag(text, language),
    }
    for variant in VARIANTS:
        hits, counted = consistency_counts(text, language, variant=variant)
        share = f"{hits}/{counted} = {hits / counted:.3f}" if counted else UNDEFINED[variant]
        passed = response_in_language(text, language, variant=variant, threshold=threshold)
        yield variant, share, passed, rules[variant]


def _lbrag(text: str, language: str) -> str:
    """Return the rule of ``lbrag`` for a language, with the counted characters that do not belong."""
    rule = lbrag_rule(language)
    missed = [c for c in text if lbrag_counts(c) and not LBRAG_HITS[rule](c)]
    kinds = {"L": "letter", "M": "mark"}
    counts = Counter(kinds.get(unicodedata.category(c)[0], "sign") for c in missed)
    counted = [f"{n} {kind}" if n == 1 else f"{n} {kind}s" for kind, n in sorted(counts.items())]
    rest = f" · counted, no hit: {', '.join(counted)}" if counted else ""
    belong = LBRAG_WORDS[rule]
    return f"rule {rule!r}: {belong} / all but spaces, digits and {LBRAG_UNCOUNTED}{rest}"


def _identified(text: str, language: str) -> str:
    value = language_identified(text, language)
    return (
        f"{identified_language(text)} {sign(value)}" if value == value else "– no letter to go by"
    )
