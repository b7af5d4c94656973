"""Labelled responses drawn from a known law, to see what a method does when the truth is known."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ragnb.arguments import convert
from ragnb.errors import InputError, as_real

WEIGHTS = {"overlap": 1.2, "likeness": 0.8}
"""The simulated metrics that say something of the label, and how much."""

METRICS = [*WEIGHTS, "question_length"]

_STRENGTH = sum(weight**2 for weight in WEIGHTS.values())


def simulate_labelled(
    n_questions: int,
    *,
    systems: Mapping[str, float] | None = None,
    languages: Sequence[str] = ("en",),
    shift: Mapping[str, float] | None = None,
    question_share: float = 0.5,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Metrics and labels of simulated responses with the true probability of each label: a row a question, language, system.

    Parameters
    ----------
    n_questions
        Number of questions, the independent units.
    systems
        Name → true share of correct responses, strictly between 0 and 1; by default ``{"weak": 0.4, "strong": 0.7}``.
        One such as 0.95 makes one label rare.
    languages
        Codes; every system answers every question in each.
    shift
        Language → how far the metrics flatter in it, in standard deviations of what they do not say; 0 where not named.
        The metrics themselves are drawn alike in all languages, so that nothing but labels can show a shift.
    question_share
        Share, in [0, 1), of what the metrics do not say that belongs to the question and is the same in all its rows.
    rng
        The source of chance.

    Returns
    -------
    DataFrame
        - ``example_id`` (one a question and language), ``question_id``, ``language``, ``system``
        - ``overlap``, ``likeness``: normal with standard deviation 1, higher on average for a better system
        - ``question_length``: normal, one number a question; says nothing of the label, but whoever has seen it in training
          knows the question again: split by rows, a flexible model looks better than it is
        - ``label``: 1 or 0
        - ``probability``: the truth, P(label = 1 | the metrics and the language), for a question not seen before

        ``attrs["metrics"]`` names the metrics, ``attrs["labels"]`` is ``"simulated"``.

    Raises
    ------
    InputError
        Fewer than one question, a share outside its range, a language twice, a shift that is no number or of no language.

    label = 1 when w·x - shift + √question_share · u + √(1 - question_share) · e > 0, with u (one a question) and e (one a
    row) standard normal; so probability = Φ(w·x - shift), whatever the system and ``question_share``. A system's share π of
    correct responses, without shift, comes from metrics whose mean along w lets w·x ~ N(Φ⁻¹(π) √(1 + |w|²), |w|²).

    Source: ours; the latent variable of a probit model with a random intercept.

    >>> drawn = simulate_labelled(3, rng=np.random.default_rng(0))
    >>> drawn[["question_id", "system", "label"]].head(2).to_numpy().tolist()
    [['simulated/0', 'weak', 1], ['simulated/0', 'strong', 1]]
    """
    from scipy.special import ndtr

    shares = {"weak": 0.4, "strong": 0.7} if systems is None else _by_name(systems, "systems")
    given = {} if shift is None else _by_name(shift, "shift")
    convert(n_questions, "size", "n_questions")
    rng = np.random.default_rng(rng)
    _check(shares, languages, given, question_share)
    shifts = dict.fromkeys(languages, 0.0) | given
    rows = pd.MultiIndex.from_product(
        [range(n_questions), languages, shares], names=["number", "language", "system"]
    )
    frame = _with_metrics(rows.to_frame(index=False), shares, rng)
    told = frame[list(WEIGHTS)].to_numpy() @ list(WEIGHTS.values()) - frame["language"].map(
        shifts
    ).to_numpy(dtype=float)
    untold = _untold(frame["number"], question_share, rng)
    drawn = frame.drop(columns="number").assign(
        label=(told + untold > 0).astype(int), probability=ndtr(told)
    )
    drawn.attrs |= {"metrics": list(METRICS), "labels": "simulated"}
    return drawn


def _with_metrics(
    rows: pd.DataFrame, shares: Mapping[str, float], rng: np.random.Generator
) -> pd.DataFrame:
    """The rows with identifiers, and with metrics: noise around the system's mean, and the question's own number."""
    from scipy.special import ndtri

    question = "simulated/" + rows["number"].astype(str)
    rows.insert(0, "example_id", question + "/" + rows["language"])
    rows.insert(1, "question_id", question)
    means = {
        system: ndtri(share) * np.sqrt(1 + _STRENGTH) / _STRENGTH
        for system, share in shares.items()
    }
    quality = rows["system"].map(means).to_numpy(dtype=float)
    told = {
        name: weight * quality + rng.standard_normal(len(rows)) for name, weight in WEIGHTS.items()
    }
    return rows.assign(**told, question_length=_one_a_question(rows["number"], rng))


def _untold(
    number: pd.Series, question_share: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """What the metrics do not say: in part the question's, in part the row's own; variance 1."""
    own = rng.standard_normal(len(number))
    return (
        np.sqrt(question_share) * _one_a_question(number, rng) + np.sqrt(1 - question_share) * own
    )


def _one_a_question(number: pd.Series, rng: np.random.Generator) -> NDArray[np.float64]:
    return rng.standard_normal(number.max() + 1)[number]


def _by_name(values: Any, what: str) -> dict[str, Any]:
    if not isinstance(values, Mapping):
        raise InputError(
            f"{what} needs numbers by name; got {type(values).__name__}; write a mapping"
        )
    return dict(values)


def _check(
    shares: Mapping[str, Any],
    languages: Sequence[str],
    shifts: Mapping[str, Any],
    question_share: Any,
) -> None:
    if not shares or not all(0 < as_real(share) < 1 for share in shares.values()):
        raise InputError(
            f"systems needs a share strictly between 0 and 1 for each name; got {dict(shares)!r}; write 0.7"
        )
    listed = isinstance(languages, list | tuple) and all(
        isinstance(code, str) for code in languages
    )
    if not listed or not languages or len(set(languages)) < len(languages):
        raise InputError(
            f"languages needs different codes in a list; got {languages!r}; write ['en', 'hi']"
        )
    if set(shifts) - set(languages) or not all(
        np.isfinite(as_real(value)) for value in shifts.values()
    ):
        raise InputError(
            f"shift needs a number for some of {', '.join(languages)}; got {dict(shifts)!r}; add the language"
        )
    if not 0 <= as_real(question_share) < 1:
        raise InputError(
            f"question_share needs a number from 0 up and below 1; got {question_share!r}; 0.5 is the default"
        )
