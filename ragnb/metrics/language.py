"""Whether a response is written in the language that was asked for (RLC), by its script and by identification."""

import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from copy import copy
from difflib import get_close_matches
from functools import lru_cache
from operator import itemgetter
from typing import Any

from ragnb.errors import InputError, as_real, check_choice
from ragnb.metrics.normalization import VARIANTS, check_text, code_form
from ragnb.text import scripts

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
LANGUAGE_SCRIPTS = {code: frozenset(names.split()) for names, codes in _WRITTEN_IN.items() for code in codes.split()}
"""Language code → the Unicode scripts it is written in today. Korean is written in Hangul; Hanja count as foreign."""

_OFTEN_MEANT = {"jp": "ja", "cn": "zh", "tw": "zh_tw", "hk": "zh_hk", "kr": "ko", "gr": "el", "dk": "da", "cz": "cs"} | {
    "iw": "he", "in": "id", "ua": "uk", "vn": "vi", "ge": "ka", "eng": "en", "deu": "de", "fra": "fr", "zho": "zh"
}  # fmt: skip

LBRAG_UNCOUNTED = ".,!?;:()[]{}-–—'\"/"
"""Signs that RLC leaves out under ``lbrag``, beside spaces and digits."""

LBRAG_ALPHABETIC = ("en", "de", "es", "fr", "it", "pt")


def known_code(language: str | None) -> str:
    """Code under which `LANGUAGE_SCRIPTS` knows a language: the code itself, or the part before its region.

    Raises
    ------
    InputError
        Unknown language.

    >>> known_code("zh-TW"), known_code("pt-BR")
    ('zh_tw', 'pt')
    """
    code = code_form(language) or ""
    found = next((known for known in (code, code.split("_")[0]) if known in LANGUAGE_SCRIPTS), None)
    if found is None:
        raise InputError(f"language needs a code that LANGUAGE_SCRIPTS knows; got {language!r}; {_suggestion(code)}")
    return found


def _suggestion(code: str) -> str:
    near = get_close_matches(code, LANGUAGE_SCRIPTS, n=1)
    meant = _OFTEN_MEANT.get(code) or next(iter(near), None)
    return f"did you mean {meant!r}?" if meant else "write a two-letter code such as 'en', 'zh' or 'hi'"


def primary_code(language: str) -> str:
    """First part of a known language code: ``zh`` for ``zh_tw``.

    >>> primary_code("zh_tw")
    'zh'
    """
    return known_code(language).split("_")[0]


def scripts_of(language: str | None) -> frozenset[str]:
    """Scripts in which a language is written.

    >>> sorted(scripts_of("ja"))
    ['Han', 'Hiragana', 'Katakana']
    """
    return LANGUAGE_SCRIPTS[known_code(language)]


# ---- by script ---------------------------------------------------------------------------------------------------------


def response_language_consistency(response: str | None, language: str, *, variant: str = "unicode") -> float:
    """Share of a response's letters that belong to the writing of the target language (RLC).

    Higher is better; in [0, 1]; nan without response; nothing to count: nan under ``unicode``, 1.0 under ``lbrag``. It
    cannot tell languages apart that share a script: see `language_identified`.

    Parameters
    ----------
    response
        The model's text.
    language
        Code of the target language; see `LANGUAGE_SCRIPTS`. Under ``lbrag`` any text will do.
    variant
        ``unicode``: letters of the language's scripts / letters that have a script of their own, in the composed form (NFC);
        marks belong to their letters. ``lbrag``: hits / characters but spaces, digits and `LBRAG_UNCOUNTED`, where a hit is
        for ``ja`` a kana or Han character, for ``zh`` a Han character, for `LBRAG_ALPHABETIC` a letter of any script, and
        for all others any of these: an English answer to a Russian question scores 1.0.

    Raises
    ------
    InputError
        A response that is no text; an unknown variant or, under ``unicode``, language.

    Source: ``compute_rlc`` of kanoes/LBRAG-NEW, experiments/scripts/experiment.py.

    >>> response_language_consistency("答案是 4429 meters", "zh"), response_language_consistency("4429", "zh")
    (0.3333333333333333, nan)
    """
    hits, counted = consistency_counts(_text(response), language, variant=variant)
    if response is None:
        return math.nan
    if not counted:
        return 1.0 if variant == "lbrag" else math.nan
    return hits / counted


def consistency_counts(text: str, language: str, *, variant: str = "unicode") -> tuple[int, int]:
    """Numerator and denominator of RLC: what belongs to the language, and what is counted at all.

    Parameters and errors as `response_language_consistency`.

    >>> consistency_counts("答案是 4429 meters", "zh"), consistency_counts("答案是。", "zh", variant="lbrag")
    ((3, 9), (3, 4))
    """
    if check_choice(variant, VARIANTS, "variant") == "lbrag":
        hit = LBRAG_HITS[lbrag_rule(language)]
        counted = [character for character in check_text(text, "text") if lbrag_counts(character)]
        return sum(map(hit, counted)), len(counted)
    wanted = scripts_of(language)
    counts = letters_by_script(text)
    return sum(counts[name] for name in wanted), counts.total()


def _text(response: str | None) -> str:
    return "" if response is None else check_text(response, "response")


def letters_by_script(text: str) -> Counter[str]:
    """Number of letters of each script in the composed text (NFC), so that both ways to write a Hangul syllable count alike.

    >>> letters_by_script("각 x") == {"Hangul": 1, "Latin": 1}
    True
    """
    return scripts(unicodedata.normalize("NFC", check_text(text, "text")))


def response_in_language(response: str | None, language: str, *, variant: str = "unicode", threshold: float = 0.6) -> float:
    """Whether a response is consistent enough with the target language: RLC at or above a threshold (RLC_OK).

    Higher is better; 0.0 or 1.0; nan where RLC is. Parameters and errors as `response_language_consistency`, and a threshold
    outside (0, 1].

    Source: ``rlc_binary`` of the same code.

    >>> response_in_language("答案是 4429 meters", "zh"), response_in_language("答案是 4429 m", "zh")
    (0.0, 1.0)
    """
    check_threshold(threshold)
    share = response_language_consistency(response, language, variant=variant)
    return share if math.isnan(share) else float(share >= threshold)


def check_threshold(threshold: float) -> None:
    """Raise InputError unless a threshold of RLC is above 0 and at most 1."""
    if not 0 < as_real(threshold) <= 1:
        raise InputError(f"threshold needs a number above 0 and at most 1; got {threshold!r}; the usual one is 0.6")


def lbrag_counts(character: str) -> bool:
    """Whether RLC counts a character under ``lbrag``."""
    return not (character.isspace() or character.isdigit() or character in LBRAG_UNCOUNTED)


def lbrag_rule(language: str | None) -> str:
    """Which of `LBRAG_HITS` decides for a language.

    Raises
    ------
    InputError
        No language.

    >>> lbrag_rule("zh_tw"), lbrag_rule("de"), lbrag_rule("ru")
    ('han', 'letter', 'any')
    """
    code = code_form(language)
    if not code:
        raise InputError(f"language needs a code such as 'en'; got {language!r}; name the language that was asked for")
    if code.startswith("ja"):
        return "japanese"
    if code.startswith("zh"):
        return "han"
    return "letter" if code in LBRAG_ALPHABETIC else "any"


def _is_han(character: str) -> bool:
    return "\u4e00" <= character <= "\u9fff"


def _is_japanese(character: str) -> bool:
    return _is_han(character) or "\u3040" <= character <= "\u30ff"


LBRAG_HITS: dict[str, Callable[[str], bool]] = {
    "japanese": _is_japanese,
    "han": _is_han,
    "letter": str.isalpha,
    "any": lambda character: character.isalpha() or _is_japanese(character),
}
"""Rule → what RLC takes for a character of the language under ``lbrag``."""


# ---- by identification -------------------------------------------------------------------------------------------------

_IDENTIFIED_AS = {"nb": "no"}  # the identifier knows Bokmål as Norwegian


def language_identified(response: str | None, language: str, *, candidates: Sequence[str] | None = None) -> float:
    """Whether an identifier takes a response for the target language (RLC by language identification).

    Higher is better; 0.0 or 1.0; nan without response or without a letter. Unlike RLC it tells English from German, but it
    errs on short answers, on names above all, and the more often the more candidates it has.

    Parameters
    ----------
    response
        The model's text.
    language
        Code of the target language; regions do not count: ``zh_tw`` is ``zh``.
    candidates
        Codes of the languages that may occur, such as those of the study; by default all that both `LANGUAGE_SCRIPTS` and
        the identifier know. The target always belongs to them.

    Raises
    ------
    InputError
        A response that is no text; a language that is unknown, here or to the identifier.

    Source: Lui and Baldwin (2012), langid.py; its successor py3langid and the model packaged with it.

    >>> language_identified("Wie hoch ist der Berg?", "de"), language_identified("How high is it?", "de")
    (1.0, 0.0)
    """
    target = _identifier_code(language)
    known = None if candidates is None else [language, *_listed(candidates)]
    if response is None or not letters_by_script(check_text(response, "response")):
        return math.nan
    return float(identified_language(response, known) == target)


def identified_language(text: str, candidates: Sequence[str] | None = None) -> str:
    """Most likely language of a text: one of the candidates, by default of all that are known.

    Raises
    ------
    InputError
        A candidate that is unknown, here or to the identifier.

    >>> identified_language("¿Cuánto mide la montaña?", ["es", "pt"])
    'es'
    """
    known = None if candidates is None else tuple(sorted(map(_identifier_code, _listed(candidates))))
    label, _ = _identifier(known).classify(check_text(text, "text"))
    return str(label)


def most_likely_language(texts: Sequence[str]) -> tuple[str, float]:
    """Language with the highest mean probability over some texts, and this mean; ``("", 0.0)`` without any text.

    The probabilities are those of the identifier for each text by itself, over all the languages that are known.

    Raises
    ------
    InputError
        No list of texts.

    >>> most_likely_language(["Où se trouve la tour Eiffel ?", "Quelle est la capitale de la France ?"])[0]
    'fr'
    """
    if not isinstance(texts, list | tuple):
        raise InputError(f"most_likely_language needs a list of texts, got {type(texts).__name__}")
    identifier = _identifier(None, probabilities=True)
    ranks = [identifier.rank(check_text(text, "text")) for text in texts]
    totals = Counter[str]()
    for rank in ranks:
        totals.update(dict(rank))
    return max(((code, total / len(ranks)) for code, total in totals.items()), key=itemgetter(1), default=("", 0.0))


def _listed(candidates: Sequence[str]) -> Sequence[str]:
    if not isinstance(candidates, list | tuple):
        raise InputError(f"candidates needs a list of language codes; got {candidates!r}; list them, or leave it out")
    return candidates


def _identifier_code(language: str) -> str:
    code = primary_code(language)
    code = _IDENTIFIED_AS.get(code, code)
    if code not in _identifier(None).labels:
        raise InputError(f"language needs one that the identifier knows; got {language!r}; judge it by its script instead")
    return code


@lru_cache(maxsize=32)
def _identifier(candidates: tuple[str, ...] | None, *, probabilities: bool = False) -> Any:
    identifier = copy(_model(probabilities))
    identifier.set_languages(candidates or [code for code in LANGUAGE_SCRIPTS if code in identifier.labels])
    return identifier


@lru_cache(maxsize=2)
def _model(probabilities: bool) -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=probabilities)
