"""Made-up frames as large as people have them: every column that some metric reads, from a seeded generator."""

import random

import numpy as np
import pandas as pd

from ragnb.metrics.trace_labels import FIELDS

WORDS = "the a of in river city hill north south old new bridge king queen year war peace red blue Oslo Bergen".split()
HAN = [chr(code) for code in range(0x4E00, 0x4E00 + 60)]
SYSTEMS = ["plain", "reranked", "filtered", "long", "short"]
JUDGED = {"judged_refusal": 0.1, "judged_detection": 0.2, "judged_correct": 0.6, "verdict": 0.6}
"""Columns of verdicts, and the share of them that says yes."""


def conditions(n_questions: int, **columns: list) -> pd.DataFrame:
    """A row for every question under every combination of values, questions innermost; an example has one language."""
    questions = [f"q/{number}" for number in range(n_questions)]
    names = [*columns, "question_id"]
    frame = pd.MultiIndex.from_product([*columns.values(), questions], names=names).to_frame(
        index=False
    )
    of_language = "/" + frame["language"] if "language" in columns else ""
    return frame.assign(example_id=frame["question_id"] + of_language)


def texts(rng: np.random.Generator, languages: pd.Series, size: int) -> list[str]:
    """A text of so many words, or of as many Chinese characters, in each language."""
    drawn = {
        False: rng.choice(WORDS, (len(languages), size)),
        True: rng.choice(HAN, (len(languages), size)),
    }
    return [
        ("" if language == "zh" else " ").join(drawn[language == "zh"][row])
        for row, language in enumerate(languages)
    ]


def answered(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of `conditions` with a response and references; the better a system, the oftener it repeats the reference."""
    rng = np.random.default_rng(len(frame))
    languages = frame["language"] if "language" in frame else pd.Series(["en"] * len(frame))
    wanted, said = texts(rng, languages, 3), texts(rng, languages, 12)
    right = rng.random(len(frame)) < 0.5 + 0.05 * frame["system"].map(SYSTEMS.index)
    return frame.assign(
        language=languages,
        response=[
            f"{told} {word}" if good else told
            for told, word, good in zip(said, wanted, right, strict=True)
        ],
        references=[[[word]] for word in wanted],
        false_answers=[[word] for word in texts(rng, languages, 2)],
    )


def with_all_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of `answered` with labels of sentences, verdicts, translations, embeddings: whatever a metric reads."""
    rng, draw = np.random.default_rng(1), random.Random(1)
    verdicts = {
        name: (rng.random(len(frame)) < share).astype(float) for name, share in JUDGED.items()
    }
    vectors = {
        name: list(rng.normal(size=(len(frame), 64)))
        for name in ("response_embedding", "reference_embedding")
    }
    records = pd.DataFrame(
        [record(draw, number) for number in range(len(frame))], index=frame.index
    )
    tokens = rng.integers(20, 90, (len(frame), 3)).tolist()
    return pd.concat([frame, records], axis=1).assign(
        noise_rate=frame.get("noise_rate", 0.4),
        judged_similarity=rng.random(len(frame)),
        translations=[[{"text": "...", "token_count": count} for count in row] for row in tokens],
        **verdicts,
        **vectors,
    )


def record(rng: random.Random, number: int) -> dict:
    documents = [
        [[f"{d}{s}", f"Sentence {s} of document {d}, record {number}."] for s in "abcde"]
        for d in range(5)
    ]
    known = [key for document in documents for key, _ in document]
    relevant, utilized = (sorted(rng.sample(known, rng.randint(0, most))) for most in (10, 8))
    unsupported = [key for key in "abcd" if rng.random() < 0.1]
    labels = [
        {
            "response_sentence_key": key,
            "explanation": "because",
            "supporting_sentence_keys": [] if key in unsupported else relevant[:2] or ["general"],
            "fully_supported": key not in unsupported,
        }
        for key in "abcd"
    ]
    sentences = [[key, f"Response sentence {key}."] for key in "abcd"]
    return dict(
        zip(FIELDS, (documents, sentences, relevant, utilized, labels, unsupported), strict=True)
    )
