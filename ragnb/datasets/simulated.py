"""Simulated labelled responses, which show how a method behaves when the truth is known."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.errors import InputError

WEIGHTS = {"overlap": 1.2, "similarity": 0.8}
"""The simulated metrics that predict the label, with their weights."""

METRICS = [*WEIGHTS, "question_length"]


@accepts(n_questions="size")
def simulate_labelled(
    n_questions: int,
    *,
    systems: Mapping[str, float] | None = None,
    languages: Sequence[str] = ("en",),
    shift: Mapping[str, float] | None = None,
    question_share: float = 0.5,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Simulate metrics and labels of responses, with the true probability of each label.

    Parameters
    ----------
    n_questions
        Number of questions, the independent units.
    systems
        Mapping from a name to the true share of correct responses, strictly between 0 and 1; by default
        ``{"weak": 0.4, "strong": 0.7}``. A share such as 0.95 makes one label rare.
    languages
        Language codes. Every system answers every question in each language.
    shift
        Mapping from a language to the amount by which the metrics overestimate there, in standard deviations of the
        residual; 0 for other languages. The metrics have the same distribution in all languages, so only labels can
        reveal a shift.
    question_share
        Share of the residual variance, in [0, 1), that is common to all rows of a question.
    rng
        Random generator.

    Returns
    -------
    DataFrame
        - ``example_id`` (one per question and language), ``question_id``, ``language``, ``system``
        - ``overlap``, ``similarity``: normal with standard deviation 1, higher on average for a better system
        - ``question_length``: normal, one number per question. It does not predict the label, but it identifies a question
          that was in the training part. After a split by rows, a flexible model therefore looks better than it is
        - ``label``: 1 or 0
        - ``probability``: the truth, P(label = 1 | the metrics and the language), for a question not seen before

        ``attrs["metrics"]`` names the metrics, ``attrs["labels"]`` is ``"simulated"``.

    Raises
    ------
    InputError
        Fewer than one question, a share outside its range, a language twice, a shift that is no number or of no language.

    label = 1 when w·x - shift + √question_share · u + √(1 - question_share) · e > 0, where u (one per question) and e (one
    per row) are standard normal. So probability = Φ(w·x - shift), whatever the system and ``question_share``. For a
    system with the share π of correct responses, without shift, w·x has the distribution N(Φ⁻¹(π) √(1 + |w|²), |w|²).

    Source: ours; the latent variable of a probit model with a random intercept.

    >>> drawn = simulate_labelled(3, rng=np.random.default_rng(0))
    >>> drawn[["question_id", "system", "label"]].head(2).to_numpy().tolist()
    [['simulated/0', 'weak', 1], ['simulated/0', 'strong', 1]]
    """
    from scipy.special import ndtr, ndtri

    shares = pd.Series(systems or {"weak": 0.4, "strong": 0.7}, dtype=float)
    shifts = dict.fromkeys(languages, 0.0) | dict(shift or {})
    is_share = shares.between(0, 1, inclusive="neither")
    if not is_share.all() or set(shifts) != set(languages) or not 0 <= question_share < 1:
        raise InputError(
            "systems must have shares strictly between 0 and 1, shift must be for some of the "
            "languages, and question_share must be at least 0 and below 1, got "
            f"{shares.to_dict()}, {shifts} and {question_share!r}"
        )
    rows = pd.MultiIndex.from_product(
        [range(n_questions), languages, shares.index], names=["number", "language", "system"]
    ).to_frame(index=False)
    weights = np.array(list(WEIGHTS.values()))
    strength = (weights**2).sum()
    means = ndtri(shares) * np.sqrt(1 + strength) / strength
    quality = rows["system"].map(means).to_numpy(dtype=float)
    metrics = {
        name: weight * quality + rng.standard_normal(len(rows)) for name, weight in WEIGHTS.items()
    }
    metrics["question_length"] = rng.standard_normal(n_questions)[rows["number"]]
    # What the metrics do not say is in part the question's and in part the row's own.
    own = rng.standard_normal(len(rows))
    of_question = rng.standard_normal(n_questions)[rows["number"]]
    residual = np.sqrt(question_share) * of_question + np.sqrt(1 - question_share) * own
    explained = np.column_stack([metrics[name] for name in WEIGHTS]) @ weights
    explained -= rows["language"].map(shifts).to_numpy(dtype=float)
    question = "simulated/" + rows["number"].astype(str)
    frame = rows[["language", "system"]].assign(
        **metrics, label=(explained + residual > 0).astype(int), probability=ndtr(explained)
    )
    frame.insert(0, "example_id", question + "/" + rows["language"])
    frame.insert(1, "question_id", question)
    frame.attrs |= {"metrics": list(METRICS), "labels": "simulated"}
    return frame
