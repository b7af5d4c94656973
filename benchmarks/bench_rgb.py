"""RGB's labels and four metrics, beside a loop over the rows

Made-up responses of about 60 words to 300 questions; both sides give labels, accuracy, rejection, detection and correction
of every response and their means at each noise rate, and the same numbers. The loop is the same definitions written with
pandas `apply` and `re`, one response after the other; ragnb reads each text once for the labels and all four metrics.
"""

import re
import string
import unicodedata

import numpy as np
import pandas as pd
import pytest

from benchmarks.timing import ours, peer, task
from ragnb.metrics.rgb_columns import verdicts
from ragnb.metrics.rgb_phrases import ERROR_PHRASES, FLEXIBLE_ERRORS, FLEXIBLE_REFUSALS, REFUSAL_PHRASES
from ragnb.text import tokens

N, QUESTIONS, WORDS = 100_000, 300, 60
METRICS = ["correct", "rejection", "detection", "correction"]


# ---- made-up responses -------------------------------------------------------------------------------------------------

SYLLABLES = "ba ce di fo gu ha ke li mo nu pa re si to vu wa xe yi zo".split()
HAN = [chr(code) for code in range(0x4E00, 0x4E00 + 1500)]
SAID = {
    "en": [
        "I can not answer the question because of the insufficient information in documents.",
        "There are factual errors in the provided documents.",
        "However, the exact date is unknown.",
        "<think>Let me see: the documents disagree.</think>",
    ],
    "zh": [
        "文档信息不足，因此我无法基于提供的文档回答该问题。",
        "提供文档的文档存在事实性错误。",
        "不过，确切日期 没有 提到。",
        "<think>让我看看：文档不一致。</think>",
    ],
}


LITTLE = ["the", "a", "of", "in", "was"] * 100


def vocabulary(rng: np.random.Generator, language: str) -> list[str]:
    letters, longest = (HAN, 2) if language == "zh" else (SYLLABLES, 4)
    return ["".join(rng.choice(letters, size)) for size in rng.integers(1, longest + 1, 2000)]


def made_up(n: int, language: str) -> pd.DataFrame:
    """A responses frame: one answer in two is given, one response in ten refuses, reports an error, or thinks aloud."""
    rng = np.random.default_rng(n)
    known, join = vocabulary(rng, language), "" if language == "zh" else " "
    phrase = lambda words: join.join(rng.choice(known, words)).capitalize()  # noqa: E731
    references = [
        [[phrase(rng.integers(1, 5)) for _ in range(rng.integers(1, 5))] for _ in range(rng.choice([1, 1, 1, 2]))]
        for _ in range(QUESTIONS)
    ]
    false = [phrase(rng.integers(1, 3)) for _ in range(QUESTIONS)]
    words, fates = rng.choice(known + (LITTLE if language == "en" else []), (n, WORDS)), rng.random((n, 7))
    responses = []
    for number, (said, fate) in enumerate(zip(words.tolist(), fates, strict=True)):
        said[9::10] = [word + ("，" if language == "zh" else ", ").strip() for word in said[9::10]]
        question = number % QUESTIONS
        if fate[0] < 0.5:
            said[20:20] = [part[0] for part in references[question]]
        if fate[1] < 0.2:
            said.insert(40, false[question])
        said[:0] = [SAID[language][kind] for kind in (3, 0, 1, 2) if fate[2 + kind] < 0.1]
        responses.append(join.join(said).strip() + ("。" if language == "zh" else "."))
    return pd.DataFrame(
        {
            "response": responses,
            "references": [references[number % QUESTIONS] for number in range(n)],
            "false_answers": [[false[number % QUESTIONS]] for number in range(n)],
            "language": language,
            "noise_rate": np.resize(np.repeat([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], QUESTIONS), n),
        }
    )


# ---- the two sides -----------------------------------------------------------------------------------------------------


def by_columns(frame: pd.DataFrame, protocol: str) -> pd.DataFrame:
    found = verdicts(
        frame["response"],
        frame["references"],
        false_answers=frame["false_answers"],
        languages=frame["language"],
        noise_rates=frame["noise_rate"],
        protocol=protocol,
    )
    return pd.DataFrame({"labels": found.labels} | {name: getattr(found, name) for name in METRICS})


def by_loop(frame: pd.DataFrame, protocol: str) -> pd.DataFrame:
    scored = pd.DataFrame(index=frame.index)
    scored["refused"] = frame.apply(lambda row: loop_refused(row, protocol), axis=1)
    scored["labels"] = frame.assign(refused=scored["refused"]).apply(lambda row: loop_labels(row, protocol), axis=1)
    scored["detection"] = frame.apply(lambda row: float(loop_detected(row, protocol)), axis=1)
    right = scored["labels"].apply(lambda labels: 0 not in labels and 1 in labels)
    if protocol == "released":
        scored["correct"] = (right | (scored["refused"] & (frame["noise_rate"] == 1))).astype(float)
        scored["rejection"] = (right | scored["refused"]).astype(float)
        scored["correction"] = scored["labels"].apply(lambda labels: float(0 not in labels)).where(scored["detection"] == 1)
        return scored[["labels", *METRICS]]
    scored["correct"], scored["rejection"] = right.astype(float), scored["refused"].astype(float)
    if protocol == "paper":
        scored["correction"] = right.astype(float).where(scored["detection"] == 1)
    else:
        kept = frame.apply(loop_kept, axis=1)
        scored["correction"] = (right & ~kept).astype(float)
    return scored[["labels", *METRICS]]


def loop_said(row: pd.Series, protocol: str) -> str:
    said = row["response"]
    if protocol != "released":
        said = re.sub(r"<think>.*?(</think>|\Z)", "", said, flags=re.DOTALL | re.IGNORECASE)
    if protocol != "flexible" and row["language"] == "zh":
        said = said.replace(" ", "")
    return said if protocol == "released" else said.lower()


def loop_found(text: str, phrases) -> bool:
    return re.search("|".join(map(re.escape, phrases)), text) is not None


def loop_refused(row: pd.Series, protocol: str) -> bool:
    long = protocol == "flexible" and row["language"] != "zh"
    return loop_found(loop_said(row, protocol), FLEXIBLE_REFUSALS if long else REFUSAL_PHRASES.values())


def loop_detected(row: pd.Series, protocol: str) -> bool:
    said = loop_said(row, protocol)
    if protocol != "flexible":
        return loop_found(said, ERROR_PHRASES.values())
    denials = [text for false in row["false_answers"] for text in (f"not {false.lower()}", f"{false.lower()} is wrong")]
    return loop_found(said, [*(ERROR_PHRASES.values() if row["language"] == "zh" else FLEXIBLE_ERRORS), *denials])


def loop_labels(row: pd.Series, protocol: str) -> list[int]:
    if protocol == "flexible":
        text = loop_normalised(loop_said(row, protocol))
        return [int(any(loop_gives(text, alias, row["language"]) for alias in part)) for part in row["references"]]
    if row["refused"]:
        return [-1]
    text = loop_said(row, protocol).lower()
    return [int(any(alias.lower() in text for alias in part)) for part in row["references"]]


def loop_kept(row: pd.Series) -> bool:
    text = loop_normalised(loop_said(row, "flexible"))
    true = all(any(loop_normalised(alias) in text for alias in part) for part in row["references"])
    return not true and any(loop_normalised(false) in text for false in row["false_answers"])


def loop_gives(text: str, alias: str, language: str) -> bool:
    cut = tokens if language == "zh" else str.split
    alias = loop_normalised(alias)
    words, said = cut(alias), set(cut(text))
    return alias in text or sum(word in said for word in words) >= 0.8 * len(words)


PUNCTUATION = re.compile(f"[{re.escape(string.punctuation)}，。：；？！、（）《》“”‘’…—·]")


def loop_normalised(text: str) -> str:
    text = PUNCTUATION.sub("", unicodedata.normalize("NFKC", text).lower())
    return re.sub(r"\s+", " ", re.sub(r"\b(a|an|the)\b", " ", text)).strip()


# ---- timing ------------------------------------------------------------------------------------------------------------


def tables(frame: pd.DataFrame, scored: pd.DataFrame) -> pd.DataFrame:
    return scored[METRICS].groupby(frame["noise_rate"]).mean()


@pytest.fixture(scope="module")
def frames() -> dict[str, pd.DataFrame]:
    return {language: made_up(N, language) for language in ("en", "zh")}


@task("RGB, {language}, {protocol}", N)
@pytest.mark.parametrize("protocol", ["paper", "released", "flexible"])
@pytest.mark.parametrize("language", ["en", "zh"])
class TestColumns:
    @ours()
    def test_ragnb(self, few, frames, language: str, protocol: str) -> None:
        frame = frames[language]
        few(lambda: tables(frame, by_columns(frame, protocol)))

    @peer("`apply` and `re`")
    def test_loop(self, few, frames, language: str, protocol: str) -> None:
        frame = frames[language]
        found = few(lambda: by_loop(frame, protocol), rounds=1, warm=False)
        pd.testing.assert_frame_equal(found, by_columns(frame, protocol))
