"""A response and its language: the scripts of its letters, and the RLC that follows from them."""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from ragnb.markup import Markup, characters, hidden
from ragnb.metrics.language import (
    LBRAG_UNCOUNTED,
    consistency_counts,
    lbrag_rule,
    letters_by_script,
    response_in_language,
    scripts_of,
)
from ragnb.metrics.normalization import VARIANTS
from ragnb.text import SCRIPTS, graphemes
from ragnb.widgets.pages import reply_of, sign

NEEDED = ("response", "language")

# Variant of RLC -> what is shown instead of RLC if its denominator is 0.
UNDEFINED = {"unicode": "– no letters to count", "lbrag": "– nothing to count, 1.000 by definition"}


def language_section(row: Mapping[str, Any], *, threshold: float = 0.6) -> dict[str, Any]:
    """Return the runs of a response by script, its hidden characters, and its RLC.

    Letters of the language's scripts are in ``<mark>``, and other letters in ``<ins>``. A superscript
    after each run names its scripts, foreign ones with ``≠``. Characters that RLC does not count
    under ``unicode``, such as digits and punctuation, belong to the run before them. A grapheme
    cluster stays whole and is marked like its first letter.
    """
    text = reply_of(row)[1] if isinstance(row["response"], str) else ""
    language = row["language"]
    own_scripts = scripts_of(language)
    own_names = ", ".join(name.replace("_", " ") for name in SCRIPTS if name in own_scripts)
    hidden_characters = [
        (characters(character)[0], unicodedata.name(character, "NO NAME"), count)
        for character, count in Counter(hidden(text)).items()
    ]
    counts = letters_by_script(text)
    most_frequent_first = sorted(counts, key=lambda name: (-counts[name], name))
    scripts = [
        (name.replace("_", " "), counts[name], sign(name in own_scripts))
        for name in most_frequent_first
    ]
    return {
        "written": own_names,
        "lines": [_runs(line, own_scripts) for line in text.split("\n") if text],
        "hidden": hidden_characters,
        "threshold": threshold,
        "consistency": list(_consistency(text, language, threshold, own_names)),
        "scripts": scripts,
    }


# ---- the letters ---------------------------------------------------------------------------------


def _runs(line: str, own_scripts: frozenset[str]) -> Iterator[tuple[str, Markup, str]]:
    """Yield the runs of a line: element, HTML and superscript.

    The element is ``mark`` for letters of the language's own scripts and ``ins``, which is underlined, for others. The
    superscript names the script.

    Characters that RLC does not count belong to the run before them. At the start of a line they have no element.
    """
    element = ""
    clusters = []
    for cluster in graphemes(line):
        # A cluster has the script of its first letter.
        script = next(iter(letters_by_script(cluster)), None)
        if script is not None:
            element = "mark" if script in own_scripts else "ins"
        clusters.append((element, cluster))
    # The HTML of each character, because a hidden character is spelled out.
    escaped = characters(line)
    start = 0
    for element, group in groupby(clusters, key=itemgetter(0)):
        text = "".join(cluster for _, cluster in group)
        html = Markup("".join(escaped[start : start + len(text)]))
        start += len(text)
        names = []
        for script in letters_by_script(text):
            name = script.replace("_", " ")
            names.append(name if script in own_scripts else f"≠{name}")
        yield element, html, " ".join(names)


# ---- the numbers ---------------------------------------------------------------------------------


def _consistency(
    text: str, language: str, threshold: float, own_names: str
) -> Iterator[tuple[str, str, float, str]]:
    """Yield each variant of RLC with its value, its verdict, and what it counts."""
    rules = {
        "unicode": f"letters of {own_names} / letters of any script",
        "lbrag": f"rule {lbrag_rule(language)!r} / all but spaces, digits and {LBRAG_UNCOUNTED}",
    }
    for variant in VARIANTS:
        n_own, n_counted = consistency_counts(text, language, variant=variant)
        share = UNDEFINED[variant]
        if n_counted:
            share = f"{n_own}/{n_counted} = {n_own / n_counted:.3f}"
        passed = response_in_language(text, language, variant=variant, threshold=threshold)
        yield variant, share, passed, rules[variant]
