"""Small whole frames of every kind that the package takes."""

import numpy as np
import pandas as pd

from ragnb.annotation import read_labels, recorded_passes
from ragnb.datasets import load_ragbench, load_rgb
from ragnb.datasets.evouna import SYSTEMS
from ragnb.scoring import compare, score, summarize

_SENTENCES = {
    "documents_sentences": [[["0a", "Oslo is the capital."], ["0b", "It rains."]]],
    "response_sentences": [["a", "The capital is Oslo."]],
    "all_relevant_sentence_keys": ["0a"],
    "all_utilized_sentence_keys": ["0a"],
    "sentence_support_information": [
        {"response_sentence_key": "a", "supporting_sentence_keys": ["0a"], "fully_supported": True}
    ],
    "unsupported_response_sentence_keys": [],
}
_PARTS = {
    "parts": [{"text": "It is Oslo.", "label": "supported"}],
    "nuggets": [{"text": "Oslo", "importance": "vital", "assignment": "support"}],
    "statements": [{"text": "Oslo.", "supported": 1, "citations": [{"alone": 1, "rest": 0}]}],
    "spans": [[0, 4]],
    "reference_spans": [[0, 3]],
}


def _response(number: int, language: str, system: str) -> dict:
    right = (number + len(system)) % 2
    return {
        "example_id": f"q{number}",
        "question_id": f"q{number // 2}",
        "benchmark": "rgb",
        "task": "noise",
        "language": language,
        "system": system,
        "noise_rate": 0.4,
        "passage_num": 5,
        "correct_rate": 0.0,
        "question": "What is the capital?",
        "references": [["Oslo", "奥斯陆"]],
        "false_answers": ["Bergen"],
        "response": "Oslo." if right else "Bergen 卑尔根",
        "reason": None,
        "judged_refusal": 0.0,
        "judged_detection": 1.0,
        "judged_similarity": 0.5,
        "judged_correct": float(right),
        "judged_statements": [{"statement": "It is Oslo.", "supported": bool(right)}],
        "judged_relevant_statements": [{"statement": "It is Oslo.", "relevant": True}],
        "judged_passages": [1, 0, float(right)],
        "judged_rubric": 4.0,
        "judged_preference": 0.75,
        "verdict": "correct" if right else "refuse",
        "right_language": "yes" if right else "no",
        "preferred": "a" if right else "b",
        "label": float(number % 2),
        "label_b": float(right),
        "translations": [{"text": "…", "token_count": 7}],
        "f1_system": 0.5,
        "f1_direct": 0.25,
        "tokens_spent": 7,
        "retrieved": ["p2", "p1"],
        "relevant": ["p1"],
        "answerable": float(number % 2),
        **_PARTS,
        "response_embedding": [3.0, 4.0],
        "reference_embedding": [4.0, 3.0],
        **_SENTENCES,
    }


def responses() -> pd.DataFrame:
    """Two systems that answer one question in each of four languages."""
    languages = enumerate(["en", "zh", "hi", "ar"])
    rows = [_response(*one, system) for one in languages for system in ("direct", "cross")]
    return pd.DataFrame(rows)


def two_languages() -> pd.DataFrame:
    return responses().head(4)


def rgb_responses() -> pd.DataFrame:
    frame = responses()[lambda frame: frame["language"] != "zh"]
    return frame.assign(noise_rate=[0.0, 0.0, 0.4, 0.4, 1.0, 1.0], language="en")


def run_file() -> pd.DataFrame:
    """A file of responses in two languages, of which one is missing."""
    names = ["example_id", "system", "language", "question", "references", "response"]
    rows = [
        ["a", "m", "hi", "कौन?", [["दिल्ली"]], "दिल्ली।"],
        ["b", "m", "ja", "何?", [["ナイル", "ナイル川"]], None],
    ]
    return pd.DataFrame(rows, columns=names).assign(noise_rate=[0.2, None])


def evouna_file() -> pd.DataFrame:
    record = {"golden_answer": "Ada Lovelace/Lovelace", "improper": False}
    for name in SYSTEMS:
        record |= {f"answer_{name}": f"It is {name}.", f"judge_{name}": name != "fid"}
    return pd.DataFrame([{"question": question, **record} for question in ("who?", "where?")])


def scores() -> pd.DataFrame:
    return score(responses(), ["answer.f1", "rgb.accuracy"])


def summaries() -> pd.DataFrame:
    return summarize(scores())


def comparisons() -> pd.DataFrame:
    return compare(scores(), baseline="direct", cluster="question_id")


def examples() -> pd.DataFrame:
    return load_rgb("sample-en-fact").head(2)


def labelled() -> pd.DataFrame:
    """Labelled responses of RAGBench with the relevance that a judge predicts."""
    return (
        load_ragbench("sample-ragbench")
        .head(4)
        .assign(
            mine=[0.2, 0.4, 0.8, 0.3],
            relevance_score=[0.1, 0.5, 0.9, 0.3],
            utilization_score=0.5,
            adherence_score=[True, False, True, True],
        )
    )


def annotations() -> pd.DataFrame:
    """The verdicts of two annotators on three items."""
    return pd.concat([read_labels(path).head(3) for path in recorded_passes("verdict")])


def features() -> pd.DataFrame:
    """Two metrics of 60 responses, and whether each is correct."""
    rng = np.random.default_rng(0)
    label = np.arange(60) % 2
    return pd.DataFrame({"f1": label + rng.normal(size=60), "em": rng.random(60), "label": label})
