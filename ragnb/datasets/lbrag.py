"""The answers of a run of LBRAG (kanoes/LBRAG-NEW), which `load_responses` reads."""

import pandas as pd

from ragnb.datasets.tables import renamed
from ragnb.errors import InputError

ANSWERS = {
    "example_id": "sample_id",
    "language": "sample_lang",
    "references": "gold_answer",
    "response": "pred_answer",
}
"""ragnb's name -> LBRAG's name of each column that a file of answers has."""
RELEASED = ("em", "f1", "rlc", "rlc_ok", "translate_tokens", "semantic_score", "evidence")
"""Scores and evidence that a run stores with each answer. They are kept as ``released_em`` etc."""


def is_answers(frame: pd.DataFrame) -> bool:
    """Whether a frame contains the answers of a run of LBRAG."""
    return set(ANSWERS.values()) <= set(frame.columns)


def named_answers(frame: pd.DataFrame) -> pd.DataFrame:
    """Rename the columns of a run's answers to ragnb's names.

    An empty gold answer becomes None, and the tokens become those of a translation.
    """
    names = {theirs: ours for ours, theirs in ANSWERS.items()} | {
        name: f"released_{name}" for name in RELEASED
    }
    named = renamed(frame, names)
    named["references"] = [
        None if gold is None or not str(gold).strip() else gold for gold in frame["gold_answer"]
    ]
    if "translate_tokens" in frame:
        try:
            tokens = pd.to_numeric(frame["translate_tokens"]).fillna(0)
        except (TypeError, ValueError) as error:
            raise InputError(f"column translate_tokens must contain numbers ({error})") from error
        counts = tokens.astype(float).tolist()
        named["translations"] = [[{"token_count": count}] if count else [] for count in counts]
    return named
