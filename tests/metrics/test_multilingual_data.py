"""The answer and language metrics on XQuAD and MKQA: what holds of real answers, and where each metric fails."""

import json
from functools import lru_cache

import numpy as np
import pytest

from ragnb.metrics import (
    contains,
    exact_match,
    language_identified,
    response_in_language,
    response_language_consistency,
    token_f1,
)

pytestmark = pytest.mark.data

LANGUAGES = ["ar", "de", "en", "hi", "ru", "th", "zh"]


@lru_cache
def xquad(folder, language):
    """Contexts, questions and answers of one language."""
    articles = json.loads((folder / "xquad" / f"xquad.{language}.json").read_text("utf-8"))["data"]
    paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
    asked = [qa for paragraph in paragraphs for qa in paragraph["qas"]]
    return (
        [p["context"] for p in paragraphs],
        [q["question"] for q in asked],
        [q["answers"][0]["text"] for q in asked],
    )


def rlc(texts, language, **options):
    return np.array([response_language_consistency(text, language, **options) for text in texts])


@lru_cache
def mkqa(folder):
    rows = json.loads(next((folder / "mkqa").glob("*.json")).read_text("utf-8"))
    return [(row["question_lang"], row["question"], row["answer"] or "") for row in rows]


@pytest.mark.parametrize("language", LANGUAGES)
def test_answers_match_themselves_and_hardly_ever_those_of_other_questions(data_folder, language):
    _, _, answers = xquad(data_folder, language)
    assert {exact_match(text, text) for text in answers} == {1.0}
    assert {token_f1(text, text) for text in answers} == {1.0}
    others = list(zip(answers, answers[7:] + answers[:7], strict=True))
    assert np.mean([exact_match(*pair) for pair in others]) < 0.01
    assert np.mean([token_f1(*pair) for pair in others]) < (
        0.2 if language == "th" else 0.06
    )  # Thai clusters are shared by chance: .156


@pytest.mark.parametrize(
    ("language", "lowest", "highest"),
    [("hi", 0.5, 0.7), ("en", 0, 0.01), ("de", 0, 0.01), ("zh", 0, 0.01), ("ru", 0, 0.01)],
)
def test_lbrag_takes_most_hindi_answers_for_those_of_other_questions(
    data_folder, language, lowest, highest
):
    _, _, answers = xquad(data_folder, language)
    others = zip(answers, answers[7:] + answers[:7], strict=True)
    assert lowest <= np.mean([exact_match(*pair, variant="lbrag") for pair in others]) <= highest


@pytest.mark.parametrize("language", LANGUAGES)
def test_contexts_are_written_in_their_own_language_and_in_no_other(data_folder, language):
    contexts, _, _ = xquad(data_folder, language)
    assert np.mean(rlc(contexts, language)) >= 0.9
    for other in {"ar", "hi", "ru", "th", "zh", "ko"} - {language}:
        assert np.mean(rlc(contexts, other)) < 0.01
    same_script = {"en": "de", "de": "en"}.get(language)
    assert same_script is None or np.mean(rlc(contexts, same_script)) > 0.99


def test_under_lbrag_every_context_is_in_english_and_in_russian(data_folder):
    contexts, _, _ = xquad(data_folder, "ar")
    assert np.mean(rlc(contexts, "ru", variant="lbrag")) > 0.95
    assert np.mean(rlc(contexts, "en", variant="lbrag")) > 0.95
    assert np.mean(rlc(contexts, "ru")) == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_answers_without_a_letter_have_no_rlc(data_folder, language):
    _, _, answers = xquad(data_folder, language)
    shares = rlc(answers, language)
    bare = [not any(c.isalpha() for c in answer) for answer in answers]
    assert np.isnan(shares).tolist() == bare
    assert 0.03 < np.mean(bare) < 0.15


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_answer_stands_in_its_paragraph(data_folder, language):
    file = data_folder / "xquad" / f"xquad.{language}.json"
    pairs = [
        (paragraph["context"], question["answers"][0]["text"])
        for article in json.loads(file.read_text("utf-8"))["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]
    assert np.mean([contains(*pair) for pair in pairs[::7]]) > 0.99


@pytest.mark.parametrize("language", LANGUAGES)
def test_identification_is_sure_of_questions_and_unsure_of_short_answers(data_folder, language):
    _, questions, answers = xquad(data_folder, language)
    rate = np.nanmean([language_identified(text, language) for text in questions[::5]])
    assert rate > 0.96
    short = np.nanmean([language_identified(text, language) for text in answers[::5]])
    assert 0.4 < short < rate
    few = np.nanmean(
        [language_identified(text, language, candidates=LANGUAGES) for text in answers[::5]]
    )
    assert few >= short


def test_mkqa_gold_answers_match_themselves_and_the_empty_ones_are_unscored(data_folder):
    answers = [answer for _, _, answer in mkqa(data_folder)]
    empty = [not any(c.isalnum() for c in answer) for answer in answers]
    assert np.isnan([exact_match(text, text) for text in answers]).tolist() == empty
    assert sum(not answer for answer in answers) == 305
    assert np.nanmin([token_f1(text, text) for text in answers]) == 1


def test_mkqa_questions_in_chinese_and_japanese_hold_english_names_and_rlc_tells(data_folder):
    rows = [(code, text) for code, text, _ in mkqa(data_folder)]
    shares = {"en": (1, 1), "de": (1, 1), "ja": (0.7, 0.9), "zh_cn": (0.7, 0.9)}
    for language, (lowest, highest) in shares.items():
        questions = [text for code, text in rows if code == language]
        assert lowest <= round(np.nanmean(rlc(questions, language)), 3) <= highest
        pure = [text for text in questions if not any(c.isascii() and c.isalpha() for c in text)]
        assert {response_in_language(text, language, threshold=1) for text in pure} <= {1.0}
