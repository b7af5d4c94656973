"""What each value of a metric's options means: one sentence a value, the default first.

They are the values of `Metric.variants`. Under the key ``...`` stands what an option takes beside the values listed.
"""

from collections.abc import Mapping
from typing import Any

Variants = Mapping[str, Mapping[Any, str]]


# ---- RGB: protocol, refusal, detection, parts --------------------------------------------------------------------------

_LENIENT = "A lenient re-implementation: "
_FOLDED = "letter case and Unicode forms of white space, hyphens and quotation marks aside"
_RIGHT = f"Every answer part is a substring of the response, {_FOLDED}; a refusal is wrong."
_NEARLY_RIGHT = f"{_LENIENT}80 % of the words of a part will do, and what also reads as a refusal can be right."
_BY_PHRASE = f"The agreed key phrase occurs, {_FOLDED}."
_BY_PHRASE_AS_WRITTEN = "The key phrase occurs in lower case, in the reasoning too; "


def _protocol(paper: str, released: str, flexible: str, **rules: Mapping[Any, str]) -> Variants:
    return {"protocol": {"paper": paper, "released": released, "flexible": flexible}, **rules}


def _rule(what: str, judged: str, label: str) -> Mapping[Any, str]:
    return {
        None: f"As the protocol says what {what} is.",
        "phrase": f"{what.capitalize()} contains the key phrase of the agreed sentence.",
        "sentence": f"{what.capitalize()} contains the whole agreed sentence.",
        "judge": f"A judge decides, in the column {judged}.",
        "label": f"A person decides, in the column {label}.",
        ...: "A list of your own phrases, or a mapping from language codes to such lists.",
    }


_REFUSAL = _rule("a refusal", "judged_refusal", "refusal")
_DETECTION = _rule("a report of errors", "judged_detection", "error_detected")

ACCURACY = _protocol(
    _RIGHT,
    "As in the published code: reasoning is read too, a refusal counts in lower case only, and is right at noise rate 1.",
    _NEARLY_RIGHT,
    refusal=_REFUSAL,
    parts={"all": "Every part of the answer must be found, as RGB defines it.", "any": "One part of the answer is enough."},
)
REJECTION = _protocol(
    f"{_BY_PHRASE} Its mean is refusals / n.",
    f"{_BY_PHRASE_AS_WRITTEN}or the answer is right: the mean is the published code's (refusals + right answers) / n.",
    f"{_LENIENT}one of a long list of English phrases occurs; in Chinese the key phrase.",
    refusal=_REFUSAL,
)
DETECTION = _protocol(
    _BY_PHRASE,
    f"{_BY_PHRASE_AS_WRITTEN}as in the published code.",
    f'{_LENIENT}one of a long list of English phrases occurs, "not X" or "X is wrong" of a false answer X.',
    detection=_DETECTION,
)
CORRECTION = _protocol(
    "Right, among the responses that detect an error: right / detected.",
    "No part missing, among those that detect an error: a refusal counts as corrected, as in the published code.",
    f"{_LENIENT}right, whether or not an error is detected: right / n.",
    refusal=_REFUSAL,
    detection=_DETECTION,
)
JUDGED_CORRECTION = _protocol(
    _RIGHT,
    "As in the published code: reasoning is read too, and a refusal counts in lower case only.",
    _NEARLY_RIGHT,
)

# ---- TRACe: variant, length, unknown_keys, when_none_relevant ----------------------------------------------------------

_COUNTED = {
    "length": {
        "sentence": "Every sentence counts one, as in the published dataset.",
        "token": "A sentence counts as many as it has tokens; not with the variant guide.",
        "character": "A sentence counts as many as it has characters (grapheme clusters); not with the variant guide.",
    },
    "unknown_keys": {
        "count": "Keys that name no sentence are counted, as the dataset does; in tokens or characters they have length 0.",
        "drop": "Keys that name no sentence are left out.",
    },
}
_NONE_RELEVANT = {
    "when_none_relevant": {
        None: "By the variant: 1 under ragbench; under guide 1 if no sentence is utilized either, else 0.",
        "one": "Completeness is 1 when no sentence is relevant: nothing that was needed is left out.",
        "zero": "Completeness is 0 when no sentence is relevant: nothing that was needed is used.",
        "undefined": "Completeness has no value when no sentence is relevant: a share of nothing is not defined.",
    },
}


def _counted(ragbench: str, guide: str) -> Variants:
    return {**_labelled(ragbench, guide), **_COUNTED}


def _labelled(ragbench: str, guide: str) -> Variants:
    return {"variant": {"ragbench": ragbench, "guide": guide}}


RELEVANCE = _counted(
    "The benchmark: length of the relevant sentences / length of the context.",
    "The visual guide: number of relevant sentences / 20, at most 1, however long the context is; it needs the labels only.",
)
UTILIZATION = _counted(
    "The benchmark: length of the utilized sentences / length of the context.",
    "The visual guide: number of utilized / number of relevant sentences, at most 1, or 0 when none is relevant. "
    "It needs the labels only.",
)
COMPLETENESS = {
    **_counted(
        "The benchmark: of the relevant sentences the share that is utilized; by default 1 when none is relevant.",
        "The visual guide: the same share; by default, when none is relevant, 1 if none is utilized either, else 0. "
        "It needs the labels only.",
    ),
    **_NONE_RELEVANT,
}
ADHERENCE = _labelled(
    "The benchmark: no sentence of the response is listed as unsupported. If there is no such list, every sentence has a "
    "supporting key, or is marked fully_supported if its list of keys is absent.",
    "The visual guide: every sentence is marked fully_supported, where null means no.",
)
SUPPORTED = _labelled(
    "Share of the response's sentences that are not listed as unsupported. If there is no such list, a sentence is "
    "supported if it has a supporting key, or is marked fully_supported if its list of keys is absent.",
    "Share of the labelled sentences that are marked fully_supported.",
)
FOUR_SCORES = {
    **_counted("Of the benchmark's four scores.", "Of the visual guide's four scores, which need the labels only."),
    **_NONE_RELEVANT,
}

# ---- answers and languages: variant ------------------------------------------------------------------------------------

_EVERY_SCRIPT = "Letters, marks and numbers of every script, articles too, NFKC and case-folded; punctuation is a space"
_FIXED_BLOCKS = "The published code: scripts outside a fixed list (Devanagari, Greek, Tamil, …) vanish"


def _answer(unicode: str, lbrag: str) -> Variants:
    return {"variant": {"unicode": unicode, "lbrag": lbrag}}


TEXT = _answer(f"{_EVERY_SCRIPT}.", f"{_FIXED_BLOCKS}, so any two answers in Hindi are equal; both empty: 1.")
TOKENS = _answer(
    f"{_EVERY_SCRIPT}; grapheme clusters where a script has no spaces, else words.",
    f"{_FIXED_BLOCKS}, so any two answers in Hindi score 1; characters in ja and zh, else words, in Thai too.",
)
SUBSTRING = _answer(f"{_EVERY_SCRIPT}.", f"{_FIXED_BLOCKS}, so a reference in Hindi leaves nothing to look for.")
SCRIPT = _answer(
    "Letters of the language's scripts / all letters.",
    "The published code: in Chinese and Japanese by script; elsewhere a letter of any script will do, "
    "so English passes for Russian.",
)

# ---- options that take other values too --------------------------------------------------------------------------------

THRESHOLD: Variants = {
    "threshold": {0.6: "RLC of at least 0.6, the published one.", ...: "Another number above 0, at most 1."}
}
CANDIDATES: Variants = {
    "candidates": {
        None: "Any language that ragnb and the identifier know may occur.",
        ...: "A list of the language codes that may occur: the fewer, the fewer errors.",
    }
}
WORD_ORDER: Variants = {
    "word_order": {
        0: "chrF: n-grams of characters alone.",
        2: "chrF++: n-grams of one and two words too.",
        ...: "Another length up to which n-grams of words count.",
    }
}
TOKENIZE: Variants = {
    "tokenize": {
        None: "By the language: zh for Chinese, char where words have no spaces between them, else 13a.",
        "13a": "Words and punctuation, as in the WMT campaigns; a Chinese or Thai sentence is then one word.",
        "zh": "Chinese characters one by one, the rest as 13a.",
        "char": "Every character.",
        "intl": "Words and punctuation by the Unicode classes of their characters.",
        "none": "What spaces separate.",
        ...: "Another tokeniser of sacreBLEU; some need a package or a download.",
    }
}
