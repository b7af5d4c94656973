"""Tokens spent on translating passages, and cost-normalised bridging efficiency (CNBE)."""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from ragnb.cells import is_missing
from ragnb.errors import InputError, as_real
from ragnb.metrics.declaration import Column, Option
from ragnb.metrics.record import metric
from ragnb.text import tokens


class Translations(Column):
    """Translated passages of a question, or the total number of their tokens.

    Each passage is a mapping, an object, or the translation as a string. In a mapping or object, the
    number of tokens is in ``token_count`` or ``metadata['token_count']``. The translation is in
    ``translated_text`` or, if there is no such field, in ``text``. It is None if the passage was not
    translated.
    """

    column = "translations"
    type_name = "list, number or None"


class Tokenizer(Option):
    """Tokeniser for translations without a number of tokens.

    With None, these translations raise InputError. The counts of ``'unicode'`` only approximate those
    of a model.
    """

    values = {
        None: "Each translated passage must have a recorded token_count.",
        "unicode": "Passages without a recorded token_count are counted with ragnb.text.tokens: "
        "words, and characters of scripts that are written without spaces.",
    }


@metric(
    "cost.translation_tokens",
    higher_is_better=False,
    bounds=(0.0, math.inf),
    source="kanoes/LBRAG-NEW experiments/scripts/experiment.py",
    undefined="Only if the translations were not recorded. It is 0 if no passage was translated.",
)
def translation_tokens(
    passages: Annotated[Sequence[Any] | float | None, Translations],
    *,
    tokenizer: Annotated[str | None, Tokenizer] = None,
) -> float:
    """Translation tokens: total length of the translated passages for one question, in tokens.

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
    """The number of tokens in the translation of one passage, which has this place in the list.

    It is the recorded number if there is one. Otherwise, the translation is tokenised.
    """
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
    # The translation is in the first of these fields that exists.
    for field in ("translated_text", "text"):
        if field not in fields:
            continue
        translation = fields[field]
        # None says that the passage was not translated.
        if translation is None:
            return 0.0
        if tokenizer and isinstance(translation, str):
            return float(len(tokens(translation)))
        break
    raise InputError(
        f"passage {place} of translations has no token_count; give the number of tokens of its "
        "translation, or text=None if it was not translated, or count its text with "
        "tokenizer='unicode'"
    )


class F1OfSystem(Column):
    """Token F1 of the system on a question, in [0, 1]."""

    column = "f1_system"


class F1OfBaseline(Column):
    """Token F1 of the baseline on the same question, in [0, 1]."""

    column = "f1_direct"


class TokensSpent(Column):
    """Number of tokens in the translated passages of the question; see `translation_tokens`."""

    column = "tokens_spent"


class Variant(Option):
    """Value if nothing was translated."""

    values = {
        "ratio": "Gain divided by cost; undefined without translation.",
        "lbrag": "The same, and 0 if the cost is 0, as in the released code of LBRAG.",
    }


class Baseline(Option):
    """Name of the baseline, for the signature of the score. It does not affect the value."""

    values = {
        "direct": "The system whose token F1 is subtracted.",
        ...: "The name of another baseline.",
    }


class F1Variant(Option):
    """Variant of F1, for the signature of the score. It does not affect the value."""

    values = {
        "unicode": "The variant of `answer.f1`.",
        ...: "Another variant of `answer.f1`.",
    }


# Why there is no value without translation. It is no ``condition`` of the metric, so these responses
# count in the sample size n and are reported as unscored.
NO_TRANSLATION = "no translation"


@metric(
    "cost.cnbe",
    bounds=(-math.inf, math.inf),
    source="kanoes/LBRAG-NEW experiments/scripts/experiment.py",
    undefined="If nothing was translated; never under lbrag, which then gives 0.",
    reason=lambda **_: NO_TRANSLATION,
)
def bridging_efficiency(
    f1_system: Annotated[float | None, F1OfSystem],
    f1_direct: Annotated[float | None, F1OfBaseline],
    cost: Annotated[float | None, TokensSpent],
    *,
    variant: Annotated[str, Variant] = "ratio",
    baseline: Annotated[str, Baseline] = "direct",
    f1: Annotated[str | None, F1Variant] = "unicode",
) -> float:
    """Cost-normalised bridging efficiency (CNBE): gain over the baseline per translated token.

    CNBE = (F1_system - F1_direct) / cost, where F1_direct is the token F1 of a baseline without
    passages. It is negative if the system has a lower F1 than the baseline. Questions with a low cost
    dominate the mean of CNBE, so also report the ratio of the mean gain to the mean cost.

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
    if any(map(is_missing, (f1_system, f1_direct, cost))):
        return math.nan
    if not (0 <= as_real(f1_system) <= 1 and 0 <= as_real(f1_direct) <= 1):
        raise InputError(f"F1 must be between 0 and 1, got {f1_system!r} and {f1_direct!r}")
    if cost > 0:  # type: ignore[operator]
        return (f1_system - f1_direct) / cost  # type: ignore[operator]
    return 0.0 if variant == "lbrag" else math.nan
