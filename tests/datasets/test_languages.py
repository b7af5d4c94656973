"""The languages of files that do not name them."""

import json

import pandas as pd
import pytest

from ragnb.datasets import identify_languages, load_responses
from ragnb.errors import InputError


def asking(*questions):
    return pd.DataFrame({"question": questions, "references": "x", "response": "x"})


def test_each_row_has_the_language_of_its_question_and_one_line_counts_them(capsys):
    thai, english, german = "เมืองหลวงของไทย?", "Which year was it?", "Wie hoch ist der Berg?"
    frame = load_responses(asking(thai, english, german, english))
    assert frame["language"].tolist() == ["th", "en", "de", "en"]
    assert set(frame["language_from"]) == {"question"}
    told = "ragnb: the frame: language identified from the questions: en 2, th 1, de 1\n"
    assert capsys.readouterr().err.endswith(told)


def test_short_questions_take_the_language_of_the_file_if_they_are_written_in_its_script():
    """By itself, "K2 height?" is English with a probability below 0.8."""
    clear = ["Which year was the treaty signed?", "How high is the mountain?"] * 5
    frame = load_responses(asking(*clear, "K2 height?", None, "谁？"))
    assert frame["language"].tolist() == ["en"] * 12 + ["zh"]
    assert frame["language_from"].tolist() == ["question"] * 10 + ["file", "unsure", "unsure"]


@pytest.mark.parametrize(("question", "guess"), [("भारत की राजधानी?", "hi"), ("谁？", "zh")])
def test_a_guess_says_that_it_is_one(question, guess, capsys):
    frame = load_responses(asking(question))
    assert frame[["language", "language_from"]].values.tolist() == [[guess, "unsure"]]
    assert "unsure for 1 of 1 rows" in capsys.readouterr().err


def test_questions_without_a_letter_have_no_language():
    with pytest.raises(InputError, match="no question contains a letter; pass language="):
        load_responses(asking("2 + 2 = ?", None))


def test_a_language_that_is_named_is_not_identified(capsys):
    named = [asking("谁？").assign(language="ja"), {"language": "ja"}]
    for frame in (load_responses(named[0]), load_responses(asking("谁？"), **named[1])):
        assert frame["language"].tolist() == ["ja"]
        assert "language_from" not in frame
    assert "identified" not in capsys.readouterr().err


# ---- real questions ----------------------------------------------------------------------------


def xquad(folder, language):
    articles = json.loads((folder / f"xquad/xquad.{language}.json").read_text("utf-8"))["data"]
    paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
    return [item["question"] for paragraph in paragraphs for item in paragraph["qas"]]


XQUAD = ("ar", "de", "en", "hi", "ru", "th", "zh")


@pytest.mark.data
@pytest.mark.parametrize("language", XQUAD)
@pytest.mark.parametrize("first", [5, 1190])
def test_a_file_of_xquad_in_one_language_is_identified_without_an_error(
    data_folder, language, first
):
    found = identify_languages(pd.Series(xquad(data_folder, language)[:first]))
    assert set(found["language"]) == {language}
    assert (found["language_from"] == "unsure").mean() < 0.005


@pytest.mark.data
def test_all_of_xquad_in_one_file_is_identified(data_folder):
    rows = [(language, text) for language in XQUAD for text in xquad(data_folder, language)]
    expected, questions = zip(*rows, strict=True)
    found = identify_languages(pd.Series(questions))
    assert (found["language"] == list(expected)).sum() >= len(rows) - 1
    assert (found["language_from"] == "unsure").sum() <= 15


@pytest.mark.data
def test_queries_of_mkqa_are_identified_except_for_english_titles(data_folder):
    """Many of the German and Spanish queries are English titles with a word or two around them."""
    rows = json.loads((data_folder / "mkqa/mkqa_500q_en_ja_de_es_zhcn.json").read_text("utf-8"))
    found = identify_languages(pd.Series([row["question"] for row in rows]))["language"]
    asked = pd.Series([row["question_lang"][:2] for row in rows])
    accuracy = (found == asked).groupby(asked).mean()
    assert accuracy["en"] == 1
    assert accuracy.round(2).to_dict() == {"en": 1, "ja": 0.98, "zh": 0.92, "es": 0.85, "de": 0.83}
    assert set(found[found != asked]) == {"en"}


@pytest.mark.data
def test_a_few_german_questions_in_an_english_file_stay_german(data_folder):
    questions = xquad(data_folder, "en")[:995] + xquad(data_folder, "de")[:5]
    assert (
        identify_languages(pd.Series(questions))["language"].tolist() == ["en"] * 995 + ["de"] * 5
    )
