"""RGB's answer labels and accuracy (Chen et al., AAAI 2024, arXiv 2309.01431, section 3).

A reference answer is a list of *parts*, all of which a response must hold; a part is a text or a list of *aliases*, any of
which will do. ``["a", "b"]`` means a AND b; ``[["a", "b"]]`` means a OR b.
"""

import math
from collections.abc import Sequence
from typing import Any

from ragnb.errors import InputError
from ragnb.text import strip_reasoning

Answer = str | Sequence[str | Sequence[str]]

PROTOCOLS = ("paper",)
REFUSAL_PHRASES = {"en": "insufficient information", "zh": "信息不足"}
FOUND, NOT_FOUND, REFUSED = 1, 0, -1


def answer_parts(answer: Answer) -> list[list[str]]:
    """Reference answer as a list of parts, each a list of aliases.

    Raises
    ------
    InputError
        No part, a part without alias, or an empty alias (every response would hold it).

    >>> answer_parts("Tampa"), answer_parts(["a", "b"]), answer_parts([["a", "b"]])
    ([['Tampa']], [['a'], ['b']], [['a', 'b']])
    """
    parts = _listed(answer)
    aliases = [_listed(part) for part in parts]
    if not aliases or not all(aliases) or not all(isinstance(a, str) and a.strip() for part in aliases for a in part):
        raise InputError(
            f"a reference answer needs at least one part, and every part an alias that is not empty; got {answer!r}; "
            "write a text, or a list of parts"
        )
    return aliases


def _listed(value: object) -> list[Any]:
    if isinstance(value, str):
        return [value]
    return list(value) if isinstance(value, list | tuple) else []


def is_refusal(response: str, *, language: str = "en", protocol: str = "paper") -> bool:
    """Whether a response gives the agreed refusal sentence.

    Under ``protocol="paper"``: it holds the sentence's key phrase, ``insufficient information`` or ``信息不足``, in any
    letter case, outside ``<think>…</think>``.

    >>> is_refusal("I can not answer because of the insufficient information in documents.")
    True
    """
    text = _prepared(response, language, protocol)
    return any(phrase in text for phrase in REFUSAL_PHRASES.values())


def answer_labels(response: str, answer: Answer, *, language: str = "en", protocol: str = "paper") -> list[int]:
    """Label of each answer part: 1 found in the response, 0 not found; ``[-1]`` for a refusal.

    A part is found when one of its aliases is a substring of the response; letter case does not count, and for Chinese
    (``language="zh"``) spaces are first removed from the response.

    Raises
    ------
    InputError
        See `answer_parts`; unknown protocol; a response that is no text.

    Source: Chen et al. (2024), section 3; ``checkanswer`` of chen700564/RGB at commit 65ec39e4.

    >>> answer_labels("It was in Tampa.", [["Tampa", "Tampa Bay"], "2021"])
    [1, 0]
    """
    parts = answer_parts(answer)
    if is_refusal(response, language=language, protocol=protocol):
        return [REFUSED]
    text = _prepared(response, language, protocol)
    return [FOUND if any(alias.lower() in text for alias in part) else NOT_FOUND for part in parts]


def is_correct(response: str | None, answer: Answer, *, language: str = "en", protocol: str = "paper") -> float:
    """Accuracy of one response: 1.0 when every answer part is found and it is no refusal, else 0.0.

    Higher is better; 0.0 or 1.0; nan where there is no response (None).

    Its mean over questions is RGB's accuracy, for noise robustness and for information integration:
    right / n, where right means that no part is labelled 0 and at least one is labelled 1.

    Raises
    ------
    InputError
        See `answer_labels`.

    Source: Chen et al. (2024), section 3, "Accuracy".

    >>> is_correct("Oslo or Bergen", ["Oslo"]), is_correct("Bergen", ["Oslo"])
    (1.0, 0.0)
    """
    if response is None:
        return math.nan
    labels = answer_labels(response, answer, language=language, protocol=protocol)
    return float(NOT_FOUND not in labels and FOUND in labels)


def answer_evidence(response: str | None, answer: Answer, *, language: str = "en", protocol: str = "paper") -> str:
    """What decided `is_correct`, in words: the refusal phrase, or the alias found for each part.

    >>> answer_evidence("It was in Tampa.", [["Tampa", "Tampa Bay"], "2021"])
    "part 1: 'Tampa'; part 2: not found"
    """
    if response is None:
        return "no response"
    text = _prepared(response, language, protocol)
    refusal = next((phrase for phrase in REFUSAL_PHRASES.values() if phrase in text), None)
    if refusal:
        return f"refusal: {refusal!r}"
    found = [next((alias for alias in part if alias.lower() in text), None) for part in answer_parts(answer)]
    return "; ".join(f"part {n}: {alias!r}" if alias else f"part {n}: not found" for n, alias in enumerate(found, 1))


def _prepared(response: str, language: str, protocol: str) -> str:
    if protocol not in PROTOCOLS:
        raise InputError(f"protocol needs one of {', '.join(PROTOCOLS)}; got {protocol!r}; choose one")
    if not isinstance(response, str):
        raise InputError(f"a response needs to be a text; got {type(response).__name__}; use None where there is none")
    text = strip_reasoning(response).lower()
    return text.replace(" ", "") if language.startswith("zh") else text
