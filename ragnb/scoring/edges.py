"""What each metric says at the edges: of a refusal, of nothing, of a context without a sentence, of another language."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ragnb.metrics.record import METRICS, Metric
from ragnb.scoring.scores import score

REFUSAL = "I can not answer the question because of the insufficient information in documents."
"""The refusal that RGB's prompt agrees on."""


def _support(keys: Sequence[str]) -> dict[str, Any]:
    """Labels of a response of one sentence that rests on some keys, or on none."""
    label = {
        "response_sentence_key": "a",
        "supporting_sentence_keys": list(keys),
        "fully_supported": bool(keys),
    }
    return {
        "sentence_support_information": [label],
        "unsupported_response_sentence_keys": [] if keys else ["a"],
    }


_ORDINARY = {
    "language": "en",
    "references": [["Oslo", "Kristiania"]],
    "false_answers": ["Bergen"],
    "noise_rate": 0.4,
    "response": "The capital is Oslo.",
    "translations": [{"text": "Oslo is the capital of Norway.", "token_count": 7}],
    "documents_sentences": [
        [["0a", "Oslo is the capital of Norway."], ["0b", "It rains often in Bergen."]]
    ],
    "response_sentences": [["a", "The capital is Oslo."]],
    "all_relevant_sentence_keys": ["0a"],
    "all_utilized_sentence_keys": ["0a"],
    **_support(["0a"]),
    "judged_refusal": 0,
    "judged_detection": 0,
    "judged_similarity": 1.0,
    "judged_correct": 1,
    "verdict": "correct",
    "response_embedding": [3.0, 4.0],
    "reference_embedding": [4.0, 3.0],
}
_REFUSED = {
    "response": REFUSAL,
    "response_sentences": [["a", REFUSAL]],
    "all_utilized_sentence_keys": [],
    **_support(["supported_without_sentence"]),
    "judged_refusal": 1,
    "judged_similarity": 0.0,
    "judged_correct": 0,
    "verdict": "refuse",
}
_NO_SENTENCE: dict[str, Any] = {
    "response_sentences": [],
    "all_utilized_sentence_keys": [],
    "sentence_support_information": [],
    "unsupported_response_sentence_keys": [],
}
_UNLABELLED = {**dict.fromkeys(_NO_SENTENCE), "all_relevant_sentence_keys": None}
_UNJUDGED = dict.fromkeys(
    ("judged_refusal", "judged_detection", "judged_similarity", "judged_correct", "verdict")
)
_NOT_COMPARED = dict.fromkeys(
    ("judged_similarity", "judged_correct", "response_embedding", "reference_embedding")
)

CASES: dict[str, Mapping[str, Any]] = {
    "right answer": {},
    "refusal": _REFUSED,
    "refusal after an error": {
        **_REFUSED,
        "response": f"There are factual errors. {REFUSAL}",
        "judged_detection": 1,
    },
    "empty response": {"response": "", **_NO_SENTENCE, **_UNJUDGED, **_NOT_COMPARED},
    "no sentence": {
        "response": "🙂",
        **_NO_SENTENCE,
        "judged_similarity": 0.0,
        "judged_correct": 0,
        "verdict": "incorrect",
    },
    "empty context": {
        "translations": [],
        "documents_sentences": [],
        "all_relevant_sentence_keys": [],
        "all_utilized_sentence_keys": [],
        **_support([]),
    },
    "unreadable judge": {**_UNLABELLED, **_UNJUDGED},
    "another language": {
        "response": "Столица — Осло.",
        "response_sentences": [["a", "Столица — Осло."]],
    },
    "no reference": {"references": None, "false_answers": None, **_NOT_COMPARED},
    "no response": {
        "response": None,
        **_UNLABELLED,
        **_UNJUDGED,
        **_NOT_COMPARED,
        "translations": None,
    },
}
"""Case → the columns in which it differs from an ordinary right answer, its labels and its judges' verdicts."""


def edge_cases(
    metrics: str | Metric | Sequence[str | Metric] | None = None, **options: Any
) -> pd.DataFrame:
    """What each metric says of a refusal, an empty response, an empty context, an unreadable judge and their like.

    Parameters
    ----------
    metrics
        As `score` takes them; by default all that ship.
    **options
        Variants, as `score` takes them: what one definition calls 0 another leaves unscored.

    Returns
    -------
    DataFrame
        One row a metric, one column a case of `CASES`. A cell is the value that `score` gives, or ``nan`` as a text with the
        reason why there is none. What judges, annotators and labels say of a case is part of the case.

    Raises
    ------
    InputError
        As `score`.

    >>> edge_cases("answer.f1").loc["answer.f1", ["refusal", "empty response", "no response"]].tolist()
    [0.0, 0.0, 'nan: no response']
    """
    responses = pd.DataFrame([{**_ORDINARY, **changes} for changes in CASES.values()], dtype=object)
    scores = score(responses, list(METRICS) if metrics is None else metrics, **options)
    why = scores["reason"].astype(object)
    cells = scores["value"].astype(object).where(why.isna(), "nan: " + why.fillna(""))
    names = scores["metric"].iloc[:: len(CASES)].rename(None)
    return pd.DataFrame(cells.to_numpy().reshape(-1, len(CASES)), names, list(CASES))
