"""RGB's metrics for whole columns: the functions of `ragnb.metrics.rgb`, each text read once."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragnb.errors import InputError
from ragnb.metrics.rgb_reading import (
    Alias,
    Answer,
    FalseAnswer,
    Parts,
    Reading,
    View,
    read,
    read_answer,
    read_false_answers,
    view_of,
)
from ragnb.metrics.rgb_rules import (
    NOT_FOUND,
    REFUSED,
    are_right,
    check_noise_rate,
    insisted_on,
    is_all_noise,
    part_labels,
    refuses,
    reports_error,
)

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Every RGB metric of every response, under one protocol.

    Attributes
    ----------
    protocol
        ``"paper"``, ``"released"`` or ``"flexible"``.
    labels
        As `ragnb.metrics.rgb.answer_labels`; None where there is no response.
    correct, refusal, rejection, detection, correction
        As ``is_correct``, ``is_refusal``, ``is_rejection``, ``detects_error`` and ``corrects_error``: 1.0, 0.0 or nan.
    """

    protocol: str
    labels: list[list[int] | None]
    correct: Values
    refusal: Values
    rejection: Values
    detection: Values
    correction: Values


def verdicts(
    responses: Iterable[str | None],
    answers: Iterable[Answer],
    *,
    false_answers: Iterable[FalseAnswer] | None = None,
    languages: str | Iterable[str] = "en",
    noise_rates: float | Iterable[float | None] | None = None,
    protocol: str = "paper",
) -> Verdicts:
    """All RGB metrics of all responses, equal to those of `ragnb.metrics.rgb` value for value.

    Parameters
    ----------
    responses, answers
        One response and one reference answer a row.
    false_answers
        One a row: a text, a list of texts, or None.
    languages, noise_rates
        One for all rows, or one a row.
    protocol
        ``"paper"``, ``"released"`` or ``"flexible"``.

    Raises
    ------
    InputError
        Columns of unequal length, and what the functions for one response raise, with the row.

    >>> found = verdicts(["Oslo", "insufficient information", None], ["Oslo"] * 3)
    >>> found.correct, found.labels
    (array([ 1.,  0., nan]), [[1], [-1], None])
    """
    said = _column(responses, "responses")
    n = len(said)
    columns: dict[str, list[Any]] = {
        "answers": _column(answers, "answers"),
        "false_answers": [None] * n if false_answers is None else _column(false_answers, "false_answers"),
        "languages": [languages] * n if isinstance(languages, str) else _column(languages, "languages"),
        "noise_rates": _column(noise_rates, "noise_rates") if np.iterable(noise_rates) else [noise_rates] * n,
    }
    for name, column in columns.items():
        if len(column) != n:
            raise InputError(f"verdicts needs columns of one length; got {n} responses and {len(column)} {name}; align them")
    view_of(protocol, "en")  # an empty column has a protocol too
    labels, flat = [], bytearray()  # bytes, for a tuple a row would keep the garbage collector busy
    for row_labels, row_facts in _rows(zip(said, *columns.values(), strict=True), protocol):
        labels.append(row_labels)
        flat.extend(row_facts)
    facts = np.frombuffer(flat, dtype=bool).reshape(n, len(ABSENT))
    at_noise_rate_1 = np.array([is_all_noise(rate) for rate in columns["noise_rates"]], dtype=np.bool_)
    return Verdicts(protocol, labels, *_values(facts, at_noise_rate_1, protocol))


def _column(values: Any, name: str) -> list[Any]:
    if isinstance(values, str | bytes) or not np.iterable(values):
        raise InputError(f"{name} needs a list with one entry a row; got {type(values).__name__}; put it in a list")
    return values.tolist() if hasattr(values, "tolist") else list(values)


Facts = tuple[bool, bool, bool, bool, bool, bool]
ABSENT: Facts = (True, False, False, False, False, False)


def _rows(rows: Iterable[tuple[Any, ...]], protocol: str) -> Iterator[tuple[list[int] | None, Facts]]:
    known: dict[tuple[int, int, View], tuple[Parts, tuple[Alias, ...]]] = {}  # merged frames repeat the same objects
    for number, (response, answer, false_answer, language, noise_rate) in enumerate(rows):
        try:
            check_noise_rate(noise_rate)
            view = view_of(protocol, language)
            asked = id(answer), id(false_answer), view
            if asked not in known:
                known[asked] = read_answer(answer, view), read_false_answers(false_answer, view)
            reading = read(response, view)
        except InputError as error:
            raise InputError(f"row {number}: {error}") from error
        yield (None, ABSENT) if reading is None else _facts(reading, *known[asked])


def _facts(reading: Reading, parts: Parts, false_answers: Sequence[Alias]) -> tuple[list[int], Facts]:
    """Labels of a response, and whether it is absent, right, without missing part, a refusal, a report, insists."""
    refused, lenient = refuses(reading), reading.view.protocol == "flexible"
    labels = [REFUSED] if refused and not lenient else part_labels(reading, parts)
    right = are_right(labels)
    insists = lenient and right and insisted_on(reading, parts, false_answers) is not None
    return labels, (False, right, NOT_FOUND not in labels, refused, reports_error(reading, false_answers), insists)


def _values(facts: NDArray[np.bool_], at_noise_rate_1: NDArray[np.bool_], protocol: str) -> Iterator[Values]:
    """Columns of the five metrics out of the facts, as `ragnb.metrics.rgb_rules` concludes them for one response."""
    absent, right, complete, refused, reported, insists = facts.T
    released = protocol == "released"
    corrected = right & ~insists if protocol == "flexible" else complete if released else right
    uncorrectable = ~reported if protocol != "flexible" else False
    yield np.where(absent, np.nan, right | (refused & at_noise_rate_1 & released))
    yield np.where(absent, np.nan, refused)
    yield np.where(absent, np.nan, refused | (right & released))
    yield np.where(absent, np.nan, reported)
    yield np.where(absent | uncorrectable, np.nan, corrected)
