"""Exact match and F1 against the values of the official evaluation scripts."""

import json

import pandas as pd
import pytest

import ragnb
from ragnb.errors import InputError
from ragnb.metrics import exact_match, token_f1
from ragnb.metrics.answer import BOTH_EMPTY
from ragnb.metrics.normalization import OFFICIAL

MEASURES = {"em": "answer.exact_match", "f1": "answer.f1"}


# Before 3.1, pandas may change the last digit of a number that it reads.
EXACT = {"float_precision": "round_trip"}


@pytest.fixture(scope="module")
def judged(data_folder) -> pd.DataFrame:
    """The 7,495 answers of EVOUNA with the values of three scripts."""
    questions = json.loads((data_folder / "evouna" / "NQ.json").read_text("utf-8"))
    values = pd.read_csv(data_folder / "official_scripts" / "evouna_nq.csv", **EXACT)
    chosen = [questions[row] for row in values["row"]]
    responses = [
        one[f"answer_{system}"] for one, system in zip(chosen, values["system"], strict=True)
    ]
    return values.assign(
        example_id=values["row"].astype(str),
        response=[response or "" for response in responses],
        references=[[one["golden_answer"].split("/")] for one in chosen],
    )


@pytest.mark.parametrize("variant", ["squad", "triviaqa", "kilt"])
def test_every_answer_has_the_value_of_the_script(judged, variant):
    assert len(judged) == 7495
    scores = ragnb.score(judged, [*MEASURES.values()], variant=variant)
    for measure, name in MEASURES.items():
        values = scores.loc[scores["metric"] == name, "value"]
        assert values.tolist() == judged[f"{variant}_{measure}"].tolist()


def test_every_span_has_the_value_of_the_script_of_mlqa(data_folder):
    values = pd.read_csv(data_folder / "official_scripts" / "mlqa_xquad.csv", **EXACT)
    rows = []
    for language in values["language"].unique():
        file = data_folder / "xquad" / f"xquad.{language}.json"
        for article in json.loads(file.read_text("utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                for qa in paragraph["qas"]:
                    rows.append((language, qa["id"], paragraph["context"], qa["answers"]))
    found = {(language, example): (text, answers) for language, example, text, answers in rows}
    responses, references = [], []
    for row in values.itertuples():
        text, answers = found[row.language, row.id]
        start, answer = answers[0]["answer_start"], answers[0]["text"]
        responses.append(text[max(0, start - row.margin) : start + len(answer) + row.margin // 2])
        references.append([[one["text"] for one in answers]])
    frame = values.assign(example_id=values["id"], response=responses, references=references)
    assert len(frame) == 1000
    scores = ragnb.score(frame, [*MEASURES.values()], variant="mlqa")
    for measure, name in MEASURES.items():
        found = scores.loc[scores["metric"] == name, "value"]
        assert found.tolist() == values[f"mlqa_{measure}"].tolist()


def test_the_languages_of_mlqa_without_a_file_lose_their_articles():
    assert exact_match("El Niño", "niño", variant="mlqa", language="es") == 1
    assert exact_match("những con mèo", "con mèo", variant="mlqa", language="vi") == 1
    assert exact_match("the cat", "cat", variant="mlqa", language="en-GB") == 1
    assert token_f1("北京市", "北京", variant="mlqa", language="zh-CN") == 0.8


def test_another_language_is_an_error_as_in_the_script_of_mlqa():
    with pytest.raises(InputError, match="language under variant 'mlqa' must be one of 'en'"):
        token_f1("a", "a", variant="mlqa", language="fr")


@pytest.mark.parametrize("variant", OFFICIAL)
def test_two_empty_texts_have_the_value_of_the_script(variant):
    """SQuAD gives F1 = 1 to an empty answer of an unanswerable question; the others give 0."""
    assert token_f1("the", "!", variant=variant, language="en") == (variant == "squad")
    assert exact_match("the", "!", variant=variant, language="en") == 1
    assert token_f1("word", "!", variant=variant, language="en") == 0
    assert set(BOTH_EMPTY) >= set(OFFICIAL)


def test_all_definitions_of_f1_are_shown_side_by_side():
    shown = ragnb.definitions("answer.f1")
    assert shown.frame["value"].tolist() == ["unicode", "lbrag", *OFFICIAL]
    assert "evaluate-v2.0.py" in repr(shown)
