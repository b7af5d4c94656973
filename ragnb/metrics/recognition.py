"""How a refusal or a report of errors is recognised: by phrases, by a judge, or by a person.

The metrics of RGB (`ragnb.metrics.rgb`) and those of refusals (`ragnb.metrics.abstention`) both need
this. RGB's prompt gives the model one sentence for refusing to answer and another for reporting
errors in the passages. These are the *agreed sentences*. Other prompts agree on a phrase such as
*I don't know*. Before phrases are searched, texts are converted to a common form: `folded` is that
of RGB, and `plain` that of the metrics of refusals.

Two functions pass all of their arguments on with ``**locals()``. As this is their first statement, the
local variables are then exactly the parameters.
"""

# Tested in tests/metrics/test_rgb_cases.py.

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any

import regex

from ragnb.columns import list_of_texts
from ragnb.errors import InputError
from ragnb.metrics.declaration import Column, Option, declared
from ragnb.metrics.judged import binary_verdict
from ragnb.replies import no_answer
from ragnb.text import fold, straight_apostrophes, visible

# ---- phrases -----------------------------------------------------------------------------------

# Option of RGB's metrics -> rule -> its phrases in English and Chinese. "phrase" is the key phrase of
# the sentence that RGB's prompt requests, and "sentence" is that sentence without its full stop.
PHRASES: dict[str, dict[str, tuple[str, ...]]] = {
    "refusal": {
        "phrase": ("insufficient information", "信息不足"),
        "sentence": (
            "I can not answer the question because of the insufficient information in documents",
            "文档信息不足，因此我无法基于提供的文档回答该问题",
        ),
    },
    "detection": {
        "phrase": ("factual errors", "事实性错误"),
        "sentence": (
            "There are factual errors in the provided documents",
            "提供文档的文档存在事实性错误",
        ),
    },
}

# English phrases that count as a refusal under RGB's protocol "flexible". There is no Chinese list.
FLEXIBLE_REFUSALS = (
    "i can not answer the question because of the insufficient information in documents",
    "insufficient information in documents",
    "can not answer",
    "cannot answer",
    "i don't know",
    "i cannot",
    "i can't",
    "unable to",
    "not able to",
    "insufficient information",
    "no information",
    "cannot determine",
    "not enough information",
    "don't have enough",
    "unable to determine",
    "cannot find",
    "no relevant",
    "not mentioned",
    "not provided",
    "not specified",
    "unclear",
    "unknown",
    "i'm not sure",
    "i am not sure",
    "cannot be determined",
    "information is not available",
    "does not provide",
)

# English phrases that report an error under RGB's protocol "flexible". There is no Chinese list.
FLEXIBLE_ERRORS = (
    "incorrect",
    "wrong",
    "false",
    "error",
    "mistake",
    "inaccurate",
    "not true",
    "not correct",
    "factually incorrect",
    "contradicts",
    "actually",
    "in fact",
    "however",
    "but actually",
    "the correct answer",
    "should be",
)

# Agreed phrase for a refusal, which most prompts request.
AGREED = ("I don't know",)

# Phrases that count as a refusal under the rule "list" of `outcome_and_why`, by language. The English
# phrases are used for every language. Some of them were collected from DelucionQA, so agreement with
# human labels is likely to be lower on other datasets.
REFUSALS = {
    "ar": ("لا أعرف", "لا أعلم", "لا يمكنني", "لا توجد معلومات"),
    "de": ("ich weiß nicht", "ich weiß es nicht", "kann nicht beantwortet", "keine informationen"),
    "en": (
        "i don't know",
        "i do not know",
        "i'm not sure",
        "cannot answer",
        "can't answer",
        "can not answer",
        "unable to answer",
        "cannot provide",
        "no information",
        "insufficient information",
        "not enough information",
        "does not have information",
        "do not have information",
        "does not provide",
        "do not provide",
        "does not mention",
        "not provided in",
        "not mentioned in",
        "answer is not present",
        "i'm sorry",
        "i am sorry",
        "does not contain",
        "does not specify",
        "does not include",
        "no mention of",
        "not related to the",
    ),
    "es": ("no lo sé", "no sé", "no puedo responder", "no hay información"),
    "fr": ("je ne sais pas", "je ne peux pas répondre", "aucune information"),
    "hi": ("मुझे नहीं पता", "मैं नहीं जानता", "जानकारी नहीं"),
    "ja": ("わかりません", "分かりません", "知りません", "情報がありません", "情報はありません"),
    "ru": ("я не знаю", "не могу ответить", "нет информации"),
    "zh": ("我不知道", "不知道", "无法回答", "没有相关信息", "信息不足"),
}


def _primary(language: str) -> str:
    """A language code without its region or script."""
    return re.split("[-_]", language)[0]


# ---- forms of texts ----------------------------------------------------------------------------

# White space, dashes and double quotation marks that NFKC does not unify.
_FORMS = {
    **{ord(space): " " for space in "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u1680\u2028\u2029"},
    **{ord(hyphen): "-" for hyphen in "\u2010\u2012\u2013\u2014\u2015\u2212"},
    **{ord(quote): '"' for quote in "\u201c\u201d\u201f"},
}
# Marks of emphasis in Markdown. An underscore within a word, as in snake_case, is none.
_EMPHASIS = regex.compile(r"\*+|~~|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])")


def folded(text: str) -> str:
    """Convert a text to NFKC, and unify its white space, hyphens and quotation marks.

    >>> folded("I\u00a0don’t “know”")
    'I don\\'t "know"'
    """
    return unicodedata.normalize("NFKC", straight_apostrophes(text)).translate(_FORMS)


@lru_cache(maxsize=65536)
def plain(text: str) -> str:
    """A text without differences of case, apostrophes, white space, Markdown emphasis and Unicode form.

    >>> plain("**I don’t**  KNOW")
    "i don't know"
    """
    # A zero-width space is deleted and not replaced by a space. Nobody sees it, so it must not hide a
    # phrase that the reader sees: it may be within a word or next to a space, and scripts without
    # spaces between words, such as Thai and Chinese, have it between words or not.
    without_invisible = visible(text).replace("\u200b", "")
    without_emphasis = _EMPHASIS.sub("", straight_apostrophes(without_invisible))
    return fold(without_emphasis)


# ---- verdicts ----------------------------------------------------------------------------------


class JudgedRefusal(Column):
    """Verdict of a judge: 1 for a refusal, 0 otherwise; None if it is missing.

    If there are several rules for recognising a refusal, only the rule ``'judge'`` uses the verdict.
    """

    column = "judged_refusal"


class RefusalLabel(Column):
    """Label of a person: 1 for a refusal, 0 otherwise; None if it is missing.

    Only the rule ``'label'`` uses the label.
    """

    column = "refusal"


# Rules that use the verdict of a judge or of a person instead of phrases.
BY_VERDICT = ("judge", "label")


def verdict_by(rule: str, judged: float | None, label: float | None) -> float:
    """The verdict that a rule uses, that of a judge or of a person: 1.0, 0.0, or NaN if missing."""
    return binary_verdict(judged if rule == "judge" else label)


# ---- RGB: rules --------------------------------------------------------------------------------

# How refusals or reports of errors are recognised: a value of ``refusal`` or ``detection``.
Rule = str | Sequence[str] | Mapping[str, Sequence[str]] | None


def is_nonblank_text(text: object) -> bool:
    """Whether a value is a text with characters other than white space."""
    return isinstance(text, str) and bool(text.strip())


def phrases_of_rule(option: str, rule: Rule, language: str) -> Sequence[str]:
    """The phrases of a rule that the user chose for the option ``'refusal'`` or ``'detection'``.

    The rules ``'judge'`` and ``'label'`` need no phrases, so callers handle them before they call this
    function. The error message names them nevertheless, because it lists all values of the option.

    >>> phrases_of_rule("refusal", {"en": ["I don't know"], "zh": ["不知道"]}, "zh-TW")
    ['不知道']
    """
    if isinstance(rule, str) and rule in PHRASES[option]:
        return PHRASES[option][rule]
    phrases: Any = rule
    if isinstance(rule, Mapping):
        # The phrases for zh apply to zh-TW, too, unless there are phrases for zh-TW.
        phrases = rule.get(language, rule.get(_primary(language)))
    are_phrases = isinstance(phrases, list | tuple) and all(map(is_nonblank_text, phrases))
    if not are_phrases or not phrases:
        raise InputError(
            f"{option} must be 'phrase', 'sentence', 'judge', 'label', a list of phrases, or a "
            f"mapping from language codes such as {language!r} to lists of phrases, got "
            f"{rule!r:.100}"
        )
    return phrases


# ---- refusals of answerable and unanswerable questions -----------------------------------------

Phrases = str | Sequence[str] | Mapping[str, str | Sequence[str]] | None

# Outcomes of a response.
ANSWERED, REFUSED, INVALID = "answered", "refused", "invalid"
# Outcome -> 1.0 if it is a refusal; and the outcome that a verdict on the refusal means.
_IS_REFUSAL = {REFUSED: 1.0, ANSWERED: 0.0, INVALID: 0.0, None: float("nan")}
_OUTCOME_OF_VERDICT = {1.0: REFUSED, 0.0: ANSWERED}

# What may precede a phrase at the start of a text, in any number and order: tags of HTML such as <b>, the
# number of a list item such as "1. ", a label of one word such as "answer:", also after the word "final",
# punctuation, symbols, signs of Markdown, and white space. The "+" in "*+" makes the match
# possessive, so that long texts take no longer.
_BEFORE_PHRASE = regex.compile(
    r"(?:</?[a-z]\w{0,9}>|\d{1,3}[.)](?=\s)|(?:final )?[\p{L}\p{M}]{1,20} ?:|[\p{P}\p{S}\s])*+"
)


class Response(Column):
    """Response of the system."""

    column = "response"


class Language(Column):
    """Language code of the response.

    It selects the phrases if they differ between languages, as with ``rule='list'``.
    """

    column = "language"


class RefusalRule(Option):
    """How a refusal is recognised; see `ragnb.metrics.abstention`."""

    values = {
        "start": "A refusal begins with an agreed phrase.",
        "anywhere": "A refusal contains an agreed phrase.",
        "list": "A refusal contains a listed phrase in its own language or in English.",
        "judge": "The verdict of a judge, in the column judged_refusal.",
        "label": "The verdict of a person, in the column refusal.",
        "nomiracl": 'A refusal contains "I don\'t know", an answer "Yes, answer is present"; all else is '
        "invalid and counts in the denominator.",
    }


class RefusalPhrases(Option):
    """Phrases that indicate a refusal.

    The English phrases of a mapping apply to every language. The rules ``'judge'``, ``'label'`` and
    ``'nomiracl'`` do not use phrases.
    """

    values = {
        None: "The agreed phrase is \"I don't know\"; the list is ragnb's.",
        ...: "Custom phrases, or a mapping from language codes to them.",
    }
    type_name = "str, sequence of str, mapping or None"


class EmptyResponse(Option):
    """Whether an empty response is a refusal."""

    values = {
        None: "An empty response is not scored; under nomiracl it is invalid.",
        "refusal": "An empty response is a refusal.",
    }


@declared
def refused_and_why(
    response: Annotated[str, Response],
    *,
    language: Annotated[str, Language] = "en",
    judged: Annotated[float | None, JudgedRefusal] = None,
    label: Annotated[float | None, RefusalLabel] = None,
    rule: Annotated[str, RefusalRule] = "start",
    phrases: Annotated[Phrases, RefusalPhrases] = None,
    empty: Annotated[str | None, EmptyResponse] = None,
) -> tuple[float, str]:
    """Determine whether a response is a refusal, and explain the result in words.

    The value is 1.0 if the response is a refusal, and 0.0 if it is an answer or invalid. It is NaN if the
    response is empty, if the verdict or label that the rule requires is missing, or if there are no phrases
    in the language and the response contains no English one.

    Examples
    --------
    >>> refused_and_why("**I don’t know.** The contexts do not say.")
    (1.0, "refusal: begins with 'i don't know'")
    >>> refused_and_why("Das kann nicht beantwortet werden.", language="de", rule="list")
    (1.0, "refusal: contains 'kann nicht beantwortet'")
    >>> refused_and_why("Oslo."), refused_and_why("Oslo.", rule="judge")
    ((0.0, 'no refusal phrase'), (nan, 'by the verdict'))
    >>> refused_and_why(""), refused_and_why("Oslo 입니다.", language="ko", rule="list")
    ((nan, 'empty reply'), (nan, "no list of refusals in the language 'ko'"))
    """
    outcome, evidence = outcome_and_why(**locals())
    return _IS_REFUSAL[outcome], evidence


@declared
def outcome_and_why(
    response: Annotated[str, Response],
    *,
    language: Annotated[str, Language] = "en",
    judged: Annotated[float | None, JudgedRefusal] = None,
    label: Annotated[float | None, RefusalLabel] = None,
    rule: Annotated[str, RefusalRule] = "start",
    phrases: Annotated[Phrases, RefusalPhrases] = None,
    empty: Annotated[str | None, EmptyResponse] = None,
) -> tuple[str | None, str]:
    """Determine the outcome of a response, and explain it in words.

    The outcome is ``'answered'``, ``'refused'`` or None. Under ``rule='nomiracl'`` it can also be
    ``'invalid'``.

    Examples
    --------
    >>> outcome_and_why("[1] says so, and [2] as well.", rule="nomiracl")
    ('invalid', 'neither of the two replies')
    """
    return find_outcome(**locals())


def find_outcome(
    response: str,
    *,
    language: str = "en",
    judged: float | None = None,
    label: float | None = None,
    rule: str = "start",
    phrases: Phrases = None,
    empty: str | None = None,
) -> tuple[str | None, str]:
    """Determine the outcome of a response like `outcome_and_why`, for options that were checked."""
    why_no_answer = no_answer(response)
    if why_no_answer and empty == "refusal":
        return REFUSED, f"refusal: {why_no_answer}"
    if rule == "nomiracl":
        return _by_nomiracl(response)
    if rule in BY_VERDICT:
        verdict = verdict_by(rule, judged, label)
        # A judge or a person can call a response without an answer a refusal, but not an answer.
        if why_no_answer and verdict != 1:
            return None, why_no_answer
        # A missing verdict is NaN, which means no outcome.
        return _OUTCOME_OF_VERDICT.get(verdict), "by the verdict"
    if why_no_answer:
        return None, why_no_answer
    if not phrases:
        phrases = REFUSALS if rule == "list" else AGREED
    return _by_phrases(response, language, rule, phrases)


def _by_phrases(
    response: str, language: str, rule: str, phrases: str | Sequence[str] | Mapping[str, Any]
) -> tuple[str | None, str]:
    """Outcome of a response by the phrases that it contains, or with which it begins."""
    has_phrases_of_language = True
    if isinstance(phrases, Mapping):
        language = language.lower()
        phrases, has_phrases_of_language = _phrases_of_language(phrases, language)
    text = plain(response)
    for phrase in map(plain, list_of_texts(phrases)):
        if rule == "start":
            if _begins_with(text, phrase):
                return REFUSED, f"refusal: begins with '{phrase}'"
        elif phrase in text:
            return REFUSED, f"refusal: contains '{phrase}'"
    # Without phrases in its language, a response can be a refusal by an English phrase, but no phrase
    # shows that it is an answer.
    if not has_phrases_of_language:
        return None, f"no list of refusals in the language {language!r}"
    return ANSWERED, "no refusal phrase"


def _phrases_of_language(
    phrases: Mapping[str, str | Sequence[str]], language: str
) -> tuple[list[str], bool]:
    """The phrases for a language followed by the English ones; and whether the first exist."""
    by_code = {code.lower(): texts for code, texts in phrases.items()}
    codes_of_language = [language, _primary(language)]
    has_phrases_of_language = any(list_of_texts(by_code.get(code)) for code in codes_of_language)
    # The keys of a dict leave out duplicates: a code without a region is its own primary code, and
    # the language can be English.
    codes = dict.fromkeys([*codes_of_language, "en"])
    phrases_of_all = [phrase for code in codes for phrase in list_of_texts(by_code.get(code))]
    return phrases_of_all, has_phrases_of_language


def _begins_with(text: str, phrase: str) -> bool:
    """Whether a text begins with a phrase, possibly after punctuation, Markdown or a label."""
    return text.startswith(phrase) or _without_start(text).startswith(_without_start(phrase))


def _by_nomiracl(response: str) -> tuple[str, str]:
    """Outcome of a response under the rule of NoMIRACL's code; see `ragnb.metrics.abstention`."""
    text = plain(response)
    answers, refuses = "yes, answer is present" in text, "i don't know" in text
    if answers and refuses:
        return INVALID, "both of the two replies"
    if answers:
        return ANSWERED, "answer"
    if refuses:
        return REFUSED, "refusal"
    # The published code takes a short text with the number of a passage, such as "[3]", for an answer.
    is_only_citation = len(text) < 10 and re.search(r"\[\d+\]", text) is not None
    if "answer is present" in text or is_only_citation:
        return ANSWERED, "answer"
    if "answer is not present" in text:
        return REFUSED, "refusal"
    return INVALID, "neither of the two replies"


def _without_start(text: str) -> str:
    """A text without the punctuation and the Markdown at its start; unchanged if that is all."""
    start = _BEFORE_PHRASE.match(text)
    remainder = text[start.end() :] if start else text
    return remainder or text
