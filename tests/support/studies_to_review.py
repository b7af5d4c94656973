"""Simulated studies: without a fault, or with one."""

import numpy as np
import pandas as pd

# Everyday words, from which the ends of answers are made.
WORDS = (
    "the passage says so and gives the year and the place as well because it was written by a person "
    "who knew them and had seen the letters that are kept in the library of the town"
).split()
WRONG_WORDS = {
    "en": "This is what I found about it in the passages that were given to me",
    "de": "Das habe ich dazu in den Textstellen gefunden, die mir gegeben wurden",
}


def study(
    rng,
    n=300,
    shares=(0.85, 0.6, 0.45, 0.3),
    *,
    label_errors=0.0,
    rejected=0.0,
    judge_errors=0.1,
    judge_bias=0.0,
    judge_length=0.0,
    german=0.0,
    nobody=0.0,
):
    """Answers of several systems to n questions, with people's verdicts and a judge's.

    ``shares`` are the systems' shares of right answers. ``label_errors`` is the share of labels that
    are wrong, of all systems alike, and ``rejected`` the share of right answers of the first system
    that people call wrong. ``judge_errors`` is the judge's rate of both kinds of errors, which grows
    by ``judge_bias`` for the first system and by ``judge_length`` for answers above the median.
    ``german`` is the share of the first system's answers that are in German, and ``nobody`` the share
    of questions that no system answers.
    """
    difficulty = rng.normal(0, 0.8, n)
    is_dead = rng.random(n) < nobody
    frames = []
    for number, share in enumerate(shares):
        chance = 1 / (1 + np.exp(difficulty - np.log(share / (1 - share))))
        is_right = (rng.random(n) < chance) & ~is_dead
        is_german = (rng.random(n) < german) & (number == 0)
        lengths = rng.integers(1, len(WORDS), n)
        responses = []
        for question in range(n):
            answer = f"Reference{question}" if is_right[question] else f"Other{question}{number}"
            language = "de" if is_german[question] else "en"
            end = " ".join(WORDS[: lengths[question]]) if language == "en" else ""
            responses.append(f"{WRONG_WORDS[language]}: {answer}, {end}.")
        is_long = lengths > len(WORDS) / 2
        is_flipped = rng.random(n) < label_errors
        is_rejected = is_right & (rng.random(n) < rejected) & (number == 0)
        people = np.where(is_rejected, False, is_right ^ is_flipped)
        rate = judge_errors + judge_bias * (number == 0) + judge_length * is_long
        judged = is_right ^ (rng.random(n) < rate)
        frames.append(
            pd.DataFrame(
                {
                    "example_id": [f"q{question}" for question in range(n)],
                    "question": [
                        f"What is the answer to question {question}?" for question in range(n)
                    ],
                    "references": [f"Reference{question}" for question in range(n)],
                    "language": "en",
                    "system": f"system {number}",
                    "response": responses,
                    "verdict": people,
                    "judged_correct": judged.astype(float),
                    "template": "rgb",
                    "temperature": 0.0,
                    "finish_reason": "stop",
                    "prompt": [
                        f"Answer from the passages.\nWhat is the answer to {question}?"
                        for question in range(n)
                    ],
                    "negative": [["A passage about something else."]] * n,
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def repeated_scores(rng, n_units=60, size=5, correlation=0.0, n_systems=2):
    """Scores of systems on units of several rows, which are alike as the correlation says."""
    rows = []
    for system in range(n_systems):
        # A share of the units has one value in all rows, which gives the correlation within units.
        common = rng.random(n_units) < 0.5
        is_common = rng.random((n_units, size)) < np.sqrt(correlation)
        own = rng.random((n_units, size)) < 0.5
        values = np.where(is_common, common[:, None], own)
        for unit in range(n_units):
            for repeat in range(size):
                rows.append(
                    (f"q{unit}", f"system {system}", repeat, "accuracy", values[unit, repeat])
                )
    columns = ["example_id", "system", "repeat", "metric", "value"]
    frame = pd.DataFrame(rows, columns=columns).astype({"value": float})
    return frame.assign(signature="metric:accuracy")
