"""Response language consistency (RLC): whether a response is in the target language.

`response_language_consistency` uses the script of the letters, and `language_identified` uses a
language identifier. The metrics raise InputError for a response that is not a string, for an
unknown variant and for an unknown language.
"""

import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from copy import copy
from functools import lru_cache
from typing import Annotated, Any

import numpy as np

from ragnb.arguments import accepts
from ragnb.errors import InputError, check_choice
from ragnb.metrics.declaration import Column, Option
from ragnb.metrics.normalization import VARIANTS, check_text, code_form
from ragnb.metrics.record import metric
from ragnb.text import script_of, scripts

# Scripts -> the languages that are written in them.
_WRITTEN_IN = {
    "Latin": "af az bs ca cs cy da de en eo es et eu fi fil fr ga gl ha hr ht hu id ig is it jv la lt lv mg ms mt nb nl nn "
    "no pl pt ro sk sl so sq sv sw tl tr uz vi xh yo zu",
    "Cyrillic": "be bg kk ky mk mn ru tg uk",
    "Latin Cyrillic": "sr",
    "Latin Arabic": "ku",
    "Greek": "el",
    "Arabic": "ar fa ps sd ug ur",
    "Hebrew": "he yi",
    "Devanagari": "hi mr ne sa",
    "Bengali": "as bn",
    "Gurmukhi": "pa",
    "Gujarati": "gu",
    "Oriya": "or",
    "Tamil": "ta",
    "Telugu": "te",
    "Kannada": "kn",
    "Malayalam": "ml",
    "Sinhala": "si",
    "Thaana": "dv",
    "Thai": "th",
    "Lao": "lo",
    "Khmer": "km",
    "Myanmar": "my",
    "Tibetan": "bo dz",
    "Ethiopic": "am ti",
    "Georgian": "ka",
    "Armenian": "hy",
    "Hangul": "ko",
    "Han Hiragana Katakana": "ja",
    "Han Bopomofo": "zh zh_cn zh_hk zh_tw",
}
# Language code -> main Unicode scripts in which the language is written today. For Korean this is
# Hangul only, without Hanja.
LANGUAGE_SCRIPTS = {
    code: frozenset(names.split()) for names, codes in _WRITTEN_IN.items() for code in codes.split()
}

# Code of a country, or another code that ragnb does not use -> the code of the language that is meant.
OFTEN_MEANT = {"jp": "ja", "cn": "zh", "tw": "zh_tw", "hk": "zh_hk", "kr": "ko", "gr": "el", "dk": "da", "cz": "cs"} | {
    "iw": "he", "in": "id", "ua": "uk", "vn": "vi", "ge": "ka", "eng": "en", "deu": "de", "fra": "fr", "zho": "zh"
}  # fmt: skip

# Characters that RLC does not count with ``"lbrag"``, in addition to spaces and digits.
LBRAG_UNCOUNTED = ".,!?;:()[]{}-–—'\"/"

# Languages for which ``"lbrag"`` accepts the letters of all scripts, but no other characters.
LBRAG_ALPHABETIC = ("en", "de", "es", "fr", "it", "pt")


def known_code(language: str | None) -> str:
    """Return the key of `LANGUAGE_SCRIPTS` that corresponds to a language code.

    If the code in lower case with underscores is not a key, its region or script is dropped. An
    unknown or missing code raises InputError.

    Examples
    --------
    >>> known_code("zh-TW"), known_code("pt-BR")
    ('zh_tw', 'pt')
    """
    code = code_form(language) or ""
    for candidate in (code, code.split("_")[0]):
        if candidate in LANGUAGE_SCRIPTS:
            return candidate
    meant = OFTEN_MEANT.get(code)
    hint = f"did you mean {meant!r}?" if meant else "write a code such as 'en', 'zh' or 'hi'"
    raise InputError(f"language must be a code that ragnb knows, got {language!r}; {hint}")


def primary_code(language: str) -> str:
    """Return a language code in lower case without its region or script.

    A language that is not in `LANGUAGE_SCRIPTS` raises InputError.

    Examples
    --------
    >>> primary_code("zh_tw")
    'zh'
    """
    return known_code(language).split("_")[0]


@accepts()
def scripts_of(language: str | None) -> frozenset[str]:
    """Return the names of the main Unicode scripts in which a language is written.

    An unknown or missing code raises InputError.

    Parameters
    ----------
    language
        Code of the language, such as ``'ja'``.

    Examples
    --------
    >>> sorted(scripts_of("ja"))
    ['Han', 'Hiragana', 'Katakana']
    """
    return LANGUAGE_SCRIPTS[known_code(language)]


# ---- by script ---------------------------------------------------------------------------------

_LBRAG = "kanoes/LBRAG-NEW experiments/scripts/experiment.py"
_NO_LETTER = "If the response contains no letters"
_NOTHING_COUNTED = f"{_NO_LETTER}; never under lbrag, which then gives 1."


class Response(Column):
    """Response of the system."""

    column = "response"


class TargetLanguage(Column):
    """Code of the target language.

    ``'unicode'`` requires a language in `LANGUAGE_SCRIPTS`, which lists the main scripts of each
    language. Uzbek, for example, has only Latin. ``'lbrag'`` accepts any code.
    """

    column = "language"


class IdentifiedLanguage(Column):
    """Code of the target language. A region is ignored: ``'zh_tw'`` is treated as ``'zh'``.

    The identifier knows all languages in `LANGUAGE_SCRIPTS` except bo, dv, fil, sd, ti and yi.
    """

    column = "language"


class Variant(Option):
    """Which characters count, and which of them are accepted; see `lbrag_rule` for ``'lbrag'``."""

    values = {
        "unicode": "Letters in a script of the language / all letters.",
        "lbrag": "As in the published code: only letters in a script of the language count for "
        "Chinese and Japanese. For other languages, letters of all scripts count, so English is "
        "accepted as Russian.",
    }


class Threshold(Option):
    """Minimum RLC for a value of 1.0, in (0, 1]."""

    values = {
        0.6: "RLC of at least 0.6, the published threshold.",
        ...: "Another threshold above 0 and at most 1.",
    }
    must_be = "above 0 and at most 1"

    @classmethod
    def allows(cls, value: Any) -> bool:
        """Whether the value is a share above 0."""
        return bool(0 < value <= 1)


class Candidates(Option):
    """Codes of the languages from which the identifier chooses.

    The target language is always included. Add every language that the system might use by mistake,
    usually English. If the target language is the only candidate, InputError is raised.
    """

    values = {
        None: "All languages that are known to both ragnb and the identifier.",
        ...: "Only these languages and the target language. Include those used by mistake.",
    }
    type_name = "str, sequence of str or None"


@metric(
    "language.rlc",
    source=_LBRAG,
    undefined=_NOTHING_COUNTED,
)
def response_language_consistency(
    response: Annotated[str | None, Response],
    language: Annotated[str, TargetLanguage],
    *,
    variant: Annotated[str, Variant] = "unicode",
) -> float:
    """Response language consistency (RLC): share of letters in a script of the target language.

    RLC cannot distinguish languages that share a script; use `language_identified` for that.
    ``'unicode'`` is the share of letters that belong to a script of the language. ``'lbrag'`` is the
    share of accepted characters among all characters except white space, digits and
    `LBRAG_UNCOUNTED`.

    Notes
    -----
    Source: ``compute_rlc`` of kanoes/LBRAG-NEW, experiments/scripts/experiment.py, which
    ``'lbrag'`` reproduces. ``'unicode'`` is from this package.

    Examples
    --------
    >>> response_language_consistency("答案是 4429 meters", "zh")
    0.3333333333333333
    """
    if response is None:
        return math.nan
    hits, counted = consistency_counts(response, language, variant=variant)
    if not counted:
        return 1.0 if variant == "lbrag" else math.nan
    return hits / counted


def consistency_counts(text: str, language: str, *, variant: str = "unicode") -> tuple[int, int]:
    """Return the numerator and the denominator of response language consistency (RLC).

    >>> consistency_counts("答案是 4429 meters", "zh")
    (3, 9)
    >>> consistency_counts("答案是。", "zh", variant="lbrag")
    (3, 4)
    """
    check_choice(variant, VARIANTS, "variant")
    if variant == "unicode":
        letters = letters_by_script(text)
        return sum(letters[name] for name in scripts_of(language)), letters.total()
    rule = lbrag_rule(language)
    accepts_letters = rule in ("letter", "any")
    accepts_han = rule in ("han", "japanese", "any")
    accepts_kana = rule in ("japanese", "any")
    hits = counted = 0
    for character, n in Counter(check_text(text, "response")).items():
        if character.isspace() or character.isdigit() or character in LBRAG_UNCOUNTED:
            continue
        counted += n
        # The blocks are those of the published code, so they do not contain all Han characters.
        is_han = "\u4e00" <= character <= "\u9fff"
        is_kana = "\u3040" <= character <= "\u30ff"
        if (
            (accepts_letters and character.isalpha())
            or (accepts_han and is_han)
            or (accepts_kana and is_kana)
        ):
            hits += n
    return hits, counted


def letters_by_script(text: str) -> Counter[str]:
    """Count the letters of each script in a text, after canonical composition (NFC).

    A Hangul syllable is therefore one letter.

    Examples
    --------
    >>> letters_by_script("각 x") == {"Hangul": 1, "Latin": 1}
    True
    """
    return scripts(unicodedata.normalize("NFC", check_text(text, "response")))


@metric(
    "language.rlc_ok",
    source=_LBRAG,
    binary=True,
    undefined=_NOTHING_COUNTED,
)
def response_in_language(
    response: Annotated[str | None, Response],
    language: Annotated[str, TargetLanguage],
    *,
    variant: Annotated[str, Variant] = "unicode",
    threshold: Annotated[float, Threshold] = 0.6,
) -> float:
    """RLC_OK: 1.0 if the response language consistency (RLC) reaches a threshold, else 0.0.

    Notes
    -----
    Source: ``rlc_binary`` of kanoes/LBRAG-NEW, experiments/scripts/experiment.py, which
    ``'lbrag'`` reproduces with the default threshold.

    Examples
    --------
    >>> response_in_language("答案是 4429 meters", "zh"), response_in_language("答案是 4429 m", "zh")
    (0.0, 1.0)
    """
    share = response_language_consistency(response, language, variant=variant)
    return share if math.isnan(share) else float(share >= threshold)


def lbrag_rule(language: str | None) -> str:
    """Return the name of the rule by which the RLC variant ``'lbrag'`` accepts characters.

    ``'japanese'`` accepts Han characters and kana. ``'han'`` accepts Han characters and is the rule
    for Chinese. ``'letter'`` accepts letters of any script and is the rule for the codes in
    `LBRAG_ALPHABETIC`. ``'any'`` accepts all of these and is the rule for any other code.

    >>> lbrag_rule("zh_tw"), lbrag_rule("de"), lbrag_rule("ru")
    ('han', 'letter', 'any')
    """
    code = code_form(language)
    if not code:
        raise InputError(f"language must be a code such as 'en', got {language!r}")
    if code.startswith("ja"):
        return "japanese"
    if code.startswith("zh"):
        return "han"
    return "letter" if code in LBRAG_ALPHABETIC else "any"


# ---- by identification -------------------------------------------------------------------------


@metric(
    "language.rlc_lid",
    source="Lui and Baldwin 2012; py3langid",
    binary=True,
    undefined=f"{_NO_LETTER}.",
)
def language_identified(
    response: Annotated[str | None, Response],
    language: Annotated[str, IdentifiedLanguage],
    *,
    candidates: Annotated[str | Sequence[str] | None, Candidates] = None,
) -> float:
    """Language identification (RLC_LID): 1.0 if the target language is identified, else 0.0.

    The identifier is py3langid. Unlike response language consistency (RLC), this metric
    distinguishes languages that share a script. It is often wrong for short answers, especially
    names, and for closely related languages. More candidates usually give more errors.

    Notes
    -----
    Source: Lui and Baldwin (2012), langid.py. The model is that of its successor py3langid.

    Examples
    --------
    >>> language_identified("Wie hoch ist der Berg?", "de")
    1.0
    >>> language_identified("How high is it?", "de")
    0.0
    """
    target = _identifier_code(language)
    if response is None or not letters_by_script(response):
        return math.nan
    if candidates is not None:
        others = [candidates] if isinstance(candidates, str) else candidates
        candidates = [language, *others]
    return float(identified_language(response, candidates) == target)


def identified_language(text: str, candidates: Sequence[str] | None = None) -> str:
    """Return the most likely language of a text according to py3langid, without a region.

    The candidates are at least two codes, and by default all languages that the identifier knows. The
    code of Norwegian Bokmål is ``'no'``. The result is arbitrary if the text contains no letters.

    >>> identified_language("¿Cuánto mide la montaña?", ["es", "pt"])
    'es'
    """
    codes = None
    if candidates is not None:
        codes = tuple(sorted(set(map(_identifier_code, candidates))))
        if len(codes) < 2:
            raise InputError(
                "candidates must include a language other than the target language, because the "
                f"identifier always chooses one of them, got {candidates!r}"
            )
    return _identified(check_text(text, "text"), codes)


@lru_cache(maxsize=4096)
def _identified(text: str, codes: tuple[str, ...] | None) -> str:
    """The most likely of some languages. Answers such as refusals occur often, so results are kept."""
    label, _ = _identifier(codes).classify(text)
    return str(label)


def language_probabilities(texts: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Estimate the probability of each language for each text with py3langid.

    A language has probability 0 if the text contains no letter of a script in which the language is
    written. This would exclude every language for a text without letters, so no probability of such
    a text is set to 0. The function returns the codes of the languages, and an array with one row per
    text and one column per language.

    >>> codes, probabilities = language_probabilities(["Où est la tour Eiffel ?"])
    >>> codes[probabilities[0].argmax()]
    'fr'
    """
    identifier = _identifier(None, probabilities=True)
    codes = identifier.nb_classes
    probabilities = np.empty((len(texts), len(codes)), dtype=np.float32)
    for row, text in enumerate(texts):
        # The public method rank() gives the same numbers, but it also sorts them and takes twice as long.
        probabilities[row] = identifier._decide(text)
        is_possible = _written_in(frozenset(map(script_of, set(text))))
        if is_possible.any():
            probabilities[row] *= is_possible
    return codes, probabilities / probabilities.sum(axis=1, keepdims=True)


@lru_cache(maxsize=256)
def _written_in(scripts_of_text: frozenset[str | None]) -> np.ndarray:
    """Whether each language of the identifier is written in one of these scripts."""
    codes = _identifier(None, probabilities=True).nb_classes
    return np.array([not scripts_of_text.isdisjoint(LANGUAGE_SCRIPTS[code]) for code in codes])


def _identifier_code(language: str) -> str:
    """The code that the identifier has for a language; InputError if it does not know the language."""
    # The identifier has "no" for Norwegian Bokmål; no other code contains "nb".
    code = primary_code(language).replace("nb", "no")
    if code not in _identifier(None).labels:
        raise InputError(
            f"the language identifier does not know the language {language!r}; use language.rlc, which "
            "needs only its script"
        )
    return code


@lru_cache(maxsize=32)
def _identifier(candidates: tuple[str, ...] | None, *, probabilities: bool = False) -> Any:
    """The language identifier for some candidates, or for all languages that ragnb knows as well.

    With `probabilities`, its numbers are probabilities; otherwise they are logarithms.
    """
    # `set_languages` changes the identifier in place, so each set of candidates needs a copy. A
    # shallow copy is sufficient, because the arrays of the model are replaced and not changed.
    identifier = copy(_model(probabilities))
    labels = [code for code in LANGUAGE_SCRIPTS if code in identifier.labels]
    identifier.set_languages(candidates or labels)
    return identifier


@lru_cache(maxsize=2)
def _model(probabilities: bool) -> Any:
    """The model of py3langid, loaded once because this takes seconds."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=probabilities)
