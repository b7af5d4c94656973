"""What each value of a metric's options means: one sentence a value, the default first.

They are the values of `Metric.variants`. Under the key ``...`` stands what an option takes beside the values listed.
"""

from collections.abc import Mapping
from typing import Any

Variants = Mapping[str, Mapping[Any, str]]


# ---- RGB: protocol -----------------------------------------------------------------------------------------------------

_LENIENT = "A lenient re-implementation: "
_RIGHT = "Every answer part is a substring of the response, letter case aside; a refusal is wrong."
_NEARLY_RIGHT = f"{_LENIENT}80 % of the words of a part will do, and what also reads as a refusal can be right."
_BY_PHRASE = "The agreed key phrase occurs, in any letter case, outside <think>…</think>."
_BY_PHRASE_AS_WRITTEN = "The key phrase occurs in lower case, anywhere; "


def _protocol(paper: str, released: str, flexible: str) -> Variants:
    return {"protocol": {"paper": paper, "released": released, "flexible": flexible}}


ACCURACY = _protocol(
    _RIGHT,
    "As in the published code: <think> is searched too, a refusal counts in lower case only, and is right at noise rate 1.",
    _NEARLY_RIGHT,
)
REJECTION = _protocol(
    f"{_BY_PHRASE} Its mean is refusals / n.",
    f"{_BY_PHRASE_AS_WRITTEN}or the answer is right: the mean is the published code's (refusals + right answers) / n.",
    f"{_LENIENT}one of a long list of English phrases occurs; in Chinese the key phrase.",
)
DETECTION = _protocol(
    _BY_PHRASE,
    f"{_BY_PHRASE_AS_WRITTEN}as in the published code.",
    f'{_LENIENT}one of a long list of English phrases occurs, "not X" or "X is wrong" of a false answer X.',
)
CORRECTION = _protocol(
    "Right, among the responses that detect an error: right / detected.",
    "No part missing, among those that detect an error: a refusal counts as corrected, as in the published code.",
    f"{_LENIENT}right, whether or not an error is detected: right / n.",
)
JUDGED_CORRECTION = _protocol(
    _RIGHT,
    "As in the published code: <think> is searched too, and a refusal counts in lower case only.",
    _NEARLY_RIGHT,
)

# ---- TRACe: variant, length, unknown_keys ------------------------------------------------------------------------------

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


def _counted(ragbench: str, guide: str) -> Variants:
    return {**_labelled(ragbench, guide), **_COUNTED}


def _labelled(ragbench: str, guide: str) -> Variants:
    return {"variant": {"ragbench": ragbench, "guide": guide}}


RELEVANCE = _counted(
    "The benchmark: length of the relevant sentences / length of the context.",
    "The visual guide: number of relevant sentences / 20, at most 1, however long the context is.",
)
UTILIZATION = _counted(
    "The benchmark: length of the utilized sentences / length of the context.",
    "The visual guide: number of utilized / number of relevant sentences, at most 1; 0 when none is relevant.",
)
COMPLETENESS = _counted(
    "The benchmark: of the relevant sentences the share that is utilized; 1 when none is relevant.",
    "The visual guide: the same share; when none is relevant, 1 if none is utilized either, else 0.",
)
ADHERENCE = _labelled(
    "The benchmark: no sentence of the response is listed as unsupported.",
    "The visual guide: every sentence is marked fully_supported, where null means no.",
)
SUPPORTED = _labelled(
    "Share of the response's sentences that are not listed as unsupported.",
    "Share of the labelled sentences that are marked fully_supported.",
)
FOUR_SCORES = _counted("Of the benchmark's four scores.", "Of the visual guide's four scores.")

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
