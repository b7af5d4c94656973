"""What RGB's protocols conclude from a reading: labels, phrases, and the value of each metric."""

import math
from collections.abc import Iterable, Sequence
from numbers import Real

from ragnb.errors import InputError
from ragnb.metrics.rgb_reading import Alias, Parts, Reading
from ragnb.records import is_missing

FOUND, NOT_FOUND, REFUSED = 1, 0, -1


def holds(reading: Reading, alias: Alias) -> bool:
    """Whether an alias is a substring of the response."""
    return alias.needle in (reading.phrases if alias.verbatim else reading.answers)


def _gives_words(reading: Reading, alias: Alias) -> bool:
    enough = 4 * len(alias.words)  # fifths
    traces = sum([trace in reading.answers for trace in alias.traces])  # saves cutting most responses into words
    return 5 * traces >= enough and 5 * words_given(reading, alias) >= enough


def words_given(reading: Reading, alias: Alias) -> int:
    """Return how many words of an alias are words of the response."""
    return sum(word in reading.words for word in alias.words)


def given_alias(reading: Reading, part: Iterable[Alias]) -> Alias | None:
    """Return the first alias of a part that is a substring or, under ``flexible``, has 80 % of its words in the response."""
    for alias in part:
        if holds(reading, alias) or (alias.words and _gives_words(reading, alias)):
            return alias
    return None


def labels_of(reading: Reading, parts: Parts) -> list[int]:
    """Return the label of each part, or that of a refusal."""
    if reading.view.protocol != "flexible" and refuses(reading):
        return [REFUSED]
    return part_labels(reading, parts)


def part_labels(reading: Reading, parts: Parts) -> list[int]:
    """Return the label of each part."""
    return [NOT_FOUND if given_alias(reading, part) is None else FOUND for part in parts]


def are_right(labels: Sequence[int], parts: str = "all") -> bool:
    """Whether all parts are found, or with ``parts="any"`` at least one; a refusal has neither."""
    return FOUND in labels and (parts == "any" or NOT_FOUND not in labels)


def by_folding(reading: Reading, part: Sequence[Alias]) -> bool:
    """Whether the response contains a part only because ``paper`` folds Unicode forms."""
    if reading.view.protocol != "paper":
        return False
    plain = any(alias.text.lower() in reading.unfolded for alias in part)
    return not plain and given_alias(reading, part) is not None


def insisted_on(reading: Reading, parts: Parts, false_answers: Sequence[Alias]) -> Alias | None:
    """Return the false answer that the response holds while it does not hold the true one, or None."""
    false = next((alias for alias in false_answers if holds(reading, alias)), None)
    true = false and all(any(holds(reading, alias) for alias in part) for part in parts)
    return None if true else false


# ---- phrases -----------------------------------------------------------------------------------------------------------


def refusal_phrase(reading: Reading) -> str | None:
    """Return the first refusal phrase in the response, or None."""
    return _first(reading.phrases, reading.view.refusals)


def refuses(reading: Reading) -> bool:
    """Whether the response is a refusal: by the verdict of a judge or a person if there is one, else by a phrase."""
    return refusal_phrase(reading) is not None if reading.refused is None else reading.refused


def error_phrase(reading: Reading, false_answers: Sequence[Alias] = ()) -> str | None:
    """Return the first phrase in the response that reports an error, or None."""
    return _first(reading.phrases, reading.view.errors) or _denial(reading, false_answers)


def reports_error(reading: Reading, false_answers: Sequence[Alias] = ()) -> bool:
    """Whether the response reports an error: by the verdict of a judge or a person if there is one, else by a phrase."""
    return error_phrase(reading, false_answers) is not None if reading.reported is None else reading.reported


def _denial(reading: Reading, false_answers: Sequence[Alias]) -> str | None:
    if not reading.view.denials:
        return None
    false = [alias.text.lower() for alias in false_answers]
    return _first(reading.phrases, [denial for text in false for denial in (f"not {text}", f"{text} is wrong")])


def _first(text: str, phrases: Iterable[str]) -> str | None:
    for phrase in phrases:
        if phrase in text:
            return phrase
    return None


# ---- the value of each metric ------------------------------------------------------------------------------------------


def correct_value(reading: Reading, labels: Sequence[int], noise_rate: float | None, parts: str = "all") -> float:
    """Return accuracy: right, or under ``released`` refused at noise rate 1."""
    excused = is_all_noise(noise_rate) and reading.view.protocol == "released" and REFUSED in labels
    return float(excused or are_right(labels, parts))


def rejection_value(reading: Reading, labels: Sequence[int]) -> float:
    """Return negative rejection: refused, or under ``released`` refused or right."""
    return float(refuses(reading) or (reading.view.protocol == "released" and are_right(labels)))


def correction_value(reading: Reading, parts: Parts, labels: Sequence[int], false_answers: Sequence[Alias]) -> float:
    """Return error correction; nan under ``paper`` and ``released`` where no error is detected."""
    if reading.view.protocol == "flexible":
        return float(are_right(labels) and insisted_on(reading, parts, false_answers) is None)
    if not reports_error(reading):
        return math.nan
    return float(NOT_FOUND not in labels if reading.view.protocol == "released" else are_right(labels))


def check_noise_rate(noise_rate: float | None) -> None:
    """Raise InputError unless a noise rate is missing or a number in [0, 1]."""
    if noise_rate is None or (type(noise_rate) is float and 0 <= noise_rate <= 1) or is_missing(noise_rate):
        return
    if isinstance(noise_rate, bool) or not isinstance(noise_rate, Real) or not 0 <= noise_rate <= 1:
        raise InputError(f"noise_rate needs a number in [0, 1]; got {noise_rate!r}; use None where it is unknown")


def is_all_noise(noise_rate: float | None) -> bool:
    """Whether a checked noise rate is known and 1."""
    return not is_missing(noise_rate) and noise_rate == 1
