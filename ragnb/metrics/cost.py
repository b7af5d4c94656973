"""Tokens spent on translating passages, and cost-normalised bridging efficiency (CNBE)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ragnb.cells import is_missing
from ragnb.errors import InputError, as_real, check_choice
from ragnb.metrics.record import metric
from ragnb.text import tokens

VARIANTS = ("ratio", "lbrag")


@metric(
    "cost.translation_tokens",
    {"passages": "translations"},
    options={
        "tokenizer": {
            None: "Each translated passage must have a recorded token_count.",
            "unicode": "Passages without a recorded token_count are counted with ragnb.text.tokens: "
            "words, and characters of scripts that are written without spaces.",
        }
    },
    higher_is_better=False,
    bounds=(0.0, math.inf),
    source="kanoes/LBRAG-NEW experiments/scripts/experiment.py",
    undefined="Only if the translations were not recorded. It is 0 if no passage was translated.",
)
def translation_tokens(
    passages: Sequence[Any] | float | None, *, tokenizer: str | None = None
) -> float:
    """Translation tokens: total length of the translated passages for one question, in tokens.

    Parameters
    ----------
    passages : list, number or None
        Total number of tokens in the translated passages, or the retrieved passages, each as a
        mapping, an object, or the translation as a string. In a mapping or object, the number of
        tokens is in ``token_count`` or ``metadata['token_count']``. The translation is in
        ``translated_text`` or, if there is no such field, in ``text``. It is None if the passage
        was not translated.
    tokenizer : {None, 'unicode'}, default=None
        Tokeniser for translations without a number of tokens. ``'unicode'`` uses
        `ragnb.text.tokens`, whose counts only approximate those of a model. With None, these
        translations raise InputError.

    Returns
    -------
    float
        Total number of tokens; lower is better. 0.0 if no passage was translated. NaN if
        `passages` is None or NaN.

    Notes
    -----
    Source: ``total_translation_tokens`` of kanoes/LBRAG-NEW, experiments/scripts/experiment.py,
    where a passage without a count adds 0.

    Examples
    --------
    >>> translation_tokens([{"text": "…", "token_count": 12}, {"text": None},
    ...                     {"text": "…", "metadata": {"token_count": 5}}])
    17.0
    >>> translation_tokens(["It rains in Oslo."], tokenizer="unicode"), translation_tokens(17)
    (4.0, 17.0)
    """
    check_choice(tokenizer, (None, "unicode"), "tokenizer")
    if is_missing(passages):
        return math.nan
    if not isinstance(passages, list | tuple):
        return _total(passages)
    return math.fsum(
        _token_count(passage, place, tokenizer) for place, passage in enumerate(passages, 1)
    )


def _total(count: Any) -> float:
    """The total number of tokens, where it was recorded instead of the passages."""
    if isinstance(count, bool | str | Mapping) or not 0 <= as_real(count) < math.inf:
        raise InputError(
            "translations must be the number of tokens in the translated passages, of at least 0, or "
            f"a list of these passages, got {count!r:.80}"
        )
    return float(count)


def _token_count(passage: Any, place: int, tokenizer: str | None) -> float:
    if passage is None or isinstance(passage, str):
        passage = {"text": passage}
    fields = passage if isinstance(passage, Mapping) else vars(passage)
    count = fields.get("token_count")
    if count is None:
        count = (fields.get("metadata") or {}).get("token_count")
    if count is not None:
        if not 0 <= as_real(count) < math.inf:
            raise InputError(f"token_count of passage {place} must be at least 0, got {count!r}")
        return float(count)
    texts = [fields[name] for name in ("translated_text", "text") if name in fields]
    if texts[:1] == [None]:
        return 0.0
    if tokenizer and texts and isinstance(texts[0], str):
        return float(len(tokens(texts[0])))
    raise InputError(
        f"passage {place} of translations has no token_count; give the number of tokens of its "
        "translation, or text=None if it was not translated, or count its text with "
        "tokenizer='unicode'"
    )


def bridging_efficiency(
    f1_system: float | None,
    f1_direct: float | None,
    cost: float | None,
    *,
    variant: str = "ratio",
    baseline: str = "direct",
    f1: str | None = "unicode",
) -> float:
    """Cost-normalised bridging efficiency (CNBE): gain over the baseline per translated token.

    CNBE = (F1_system - F1_direct) / cost, where F1_direct is the token F1 of a baseline without
    passages. Questions with a low cost dominate the mean of CNBE, so also report the ratio of the
    mean gain to the mean cost.

    Parameters
    ----------
    f1_system, f1_direct : float or None
        Token F1, in [0, 1], of the system and of the baseline on the same question.
    cost : float or None
        Number of tokens in the translated passages of the question; see `translation_tokens`.
    variant : {'ratio', 'lbrag'}, default='ratio'
        Value at a cost of 0: NaN with ``'ratio'``, and 0.0 with ``'lbrag'``.
    baseline : str, default='direct'
        Name of the baseline, for the signature of the score. It does not affect the value.
    f1 : str or None, default='unicode'
        Variant of F1, for the signature of the score. It does not affect the value.

    Returns
    -------
    float
        F1 gain per token; higher is better. Negative if the system has a lower F1 than the
        baseline. NaN if either F1 or the cost is missing, or if the cost is 0 with
        ``'ratio'``.

    Notes
    -----
    Source: kanoes/LBRAG-NEW, experiments/scripts/experiment.py.

    Examples
    --------
    >>> bridging_efficiency(0.75, 0.25, 20), bridging_efficiency(0.5, 0, 0)
    (0.025, nan)
    >>> bridging_efficiency(0.5, 0, 0, variant="lbrag")
    0.0
    """
    check_choice(variant, VARIANTS, "variant")
    if any(map(is_missing, (f1_system, f1_direct, cost))):
        return math.nan
    if not (0 <= as_real(f1_system) <= 1 and 0 <= as_real(f1_direct) <= 1):
        raise InputError(f"F1 must be between 0 and 1, got {f1_system!r} and {f1_direct!r}")
    if cost > 0:  # type: ignore[operator]
        return (f1_system - f1_direct) / cost  # type: ignore[operator]
    return 0.0 if variant == "lbrag" else math.nan
