import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragnb
from ragnb.errors import InputError
from ragnb.metrics.language import (
    LANGUAGE_SCRIPTS,
    identified_language,
    response_language_consistency,
)
from ragnb.prompts.multilingual import (
    ANSWER,
    CLOSED_BOOK,
    LANGUAGE_NAMES,
    PROMPTS,
    SHOTS,
    TRANSLATE,
    answer_template,
    render_answer,
    render_translation,
    translation_template,
)

SIX = ["en", "de", "ru", "zh", "ar", "hi"]
PAIRS = list(itertools.permutations(SIX, 2))
HOSTILE = "{question} {} {0!r} {{x}} %s \\n ${y}"


def said(rendered):
    """All the text of what is asked."""
    return (
        rendered
        if isinstance(rendered, str)
        else "\n".join(message["content"] for message in rendered)
    )


# ---- the table of languages --------------------------------------------------------------------------------------------


def test_every_language_whose_writing_is_known_has_a_name():
    assert set(LANGUAGE_NAMES) == set(LANGUAGE_SCRIPTS)
    assert all(
        re.fullmatch(r"[A-Z][a-z]+(?: [A-Z][a-z]+)?", name) for name in LANGUAGE_NAMES.values()
    )


def test_a_name_stands_for_one_language():
    """But for Norwegian under two codes, and traditional Chinese of two places."""
    shared = {
        frozenset(code for code in LANGUAGE_NAMES if LANGUAGE_NAMES[code] == name)
        for name in LANGUAGE_NAMES.values()
    }
    assert {codes for codes in shared if len(codes) > 1} == {
        frozenset({"nb", "no"}),
        frozenset({"zh_hk", "zh_tw"}),
    }


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("zh-TW", "Traditional Chinese"),
        ("zh_cn", "Simplified Chinese"),
        ("pt-BR", "Portuguese"),
        ("DE", "German"),
    ],
)
def test_a_region_is_named_where_it_is_known_and_left_out_where_not(code, name):
    assert f"in {name}." in said(render_answer("?", ["p"], code))
    assert f"from {name} into English" in said(render_translation("t", code, "en"))


def test_examples_of_a_region_are_those_of_its_language():
    assert answer_template("zh-TW", "few_shot") == answer_template("zh", "few_shot")
    assert render_translation("t", "zh_cn", "de_AT", "few_shot") == render_translation(
        "t", "zh", "de", "few_shot"
    )


# ---- the examples ------------------------------------------------------------------------------------------------------


def test_the_examples_are_parallel_in_all_six_languages():
    assert list(SHOTS) == SIX
    for shots in SHOTS.values():
        assert len(shots.texts) == 3
        assert len(set(shots.headings)) == 3
        assert all(text.strip() == text and text for triple in shots.texts for text in triple)
    for shots in zip(*(shots.texts for shots in SHOTS.values()), strict=True):
        numbers = [re.findall(r"\d+", " ".join(triple)) for triple in shots]
        assert numbers == [numbers[0]] * 6


@pytest.mark.parametrize("language", SIX)
def test_the_examples_are_written_in_their_language(language):
    shots = SHOTS[language]
    told = [
        *shots.headings,
        *(text for triple in shots.texts for text in triple if not text.isdigit()),
    ]
    assert {response_language_consistency(text, language) for text in told} == {1.0}
    assert identified_language(" ".join(text for text, _, _ in shots.texts), SIX) == language


@pytest.mark.parametrize("language", SIX)
def test_what_the_examples_answer_stands_in_their_texts(language):
    for text, question, answer in SHOTS[language].texts:
        assert answer.lower() in text.lower()
        assert question[-1] in "?？؟"


NAMES = {
    "en": ["Tana", "Blue Nile", "Dracula", "spider"],
    "de": ["Tanasee", "Blaue Nil", "Dracula", "Spinne"],
    "ru": ["Тана", "Голубой Нил", "Дракула", "паук"],
    "zh": ["塔纳湖", "青尼罗", "德古拉", "蜘蛛"],
    "ar": ["تانا", "النيل الأزرق", "دراكولا", "للعنكبوت"],
    "hi": ["ताना झील", "नीली नील", "ड्रैकुला", "मकड़ी"],
}
"""What the examples are about."""


@pytest.mark.parametrize(
    "sample",
    [
        "sample-multilingual",
        *(
            f"sample-{language}{task}"
            for language in ("en", "zh")
            for task in ("", "-int", "-fact")
        ),
    ],
)
def test_no_sample_asks_for_a_fact_of_the_examples(sample):
    for language, names in NAMES.items():
        told = " ".join(text for triple in SHOTS[language].texts for text in triple)
        assert all(name.lower() in told.lower() for name in names)
    load = ragnb.load_multilingual if sample == "sample-multilingual" else ragnb.load_rgb
    for row in load(sample).itertuples():
        words = f"{row.question} {row.references}".lower()
        assert not [name for names in NAMES.values() for name in names if name.lower() in words]


# ---- questions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", [*SIX, "zh_tw", "sw"])
def test_an_instruction_names_the_language_of_the_answer(language):
    open_book, closed = (
        render_answer("Q?", ["p1", "p2"], language),
        render_answer("Q?", [], language),
    )
    for messages in (open_book, closed):
        assert [message["role"] for message in messages] == ["system", "user"]
        assert messages[0]["content"].endswith(f"in {LANGUAGE_NAMES[language]}.")
    assert open_book[1]["content"] == "Texts:\np1\np2\n\nQuestion: Q?"
    assert closed[1]["content"] == "Question: Q?"


@pytest.mark.parametrize("language", SIX)
def test_examples_end_with_the_question_and_an_open_answer(language):
    text, question, answer = SHOTS[language].headings
    rendered = render_answer("Q?", ["p1", "p2"], language, "few_shot")
    assert rendered.endswith(f"\n\n{text}p1\np2\n{question}Q?\n{answer.rstrip()}")
    assert [rendered.count(heading) for heading in (text, question, answer.rstrip())] == [4, 4, 4]
    for shown, asked, told in SHOTS[language].texts:
        assert f"{text}{shown}\n{question}{asked}\n{answer}{told}\n\n" in rendered


@pytest.mark.parametrize("language", SIX)
def test_examples_without_passages_show_no_texts(language):
    text, question, answer = SHOTS[language].headings
    rendered = render_answer("Q?", [], language, "few_shot")
    assert rendered.endswith(f"\n\n{question}Q?\n{answer.rstrip()}")
    assert text not in rendered
    assert all(shown not in rendered for shown, _, _ in SHOTS[language].texts)


def test_passages_may_come_as_an_array():
    for passages in ([], ["a"], ["a", "b"]):
        assert render_answer("Q?", np.array(passages, dtype=object), "en") == render_answer(
            "Q?", passages, "en"
        )


# ---- translations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "language"), [("en", "de"), ("ar", "zh"), ("hi", "ru")])
def test_examples_of_a_translation_are_the_same_texts_in_both_languages(source, language):
    lines = render_translation("NEW", source, language, "few_shot").split("\n")
    here, there = LANGUAGE_NAMES[source], LANGUAGE_NAMES[language]
    assert len(lines) == 2 * 3 + 2
    for place in range(3):
        assert lines[2 * place] == f"{here}: {SHOTS[source].texts[place][0]}"
        assert lines[2 * place + 1] == f"{there}: {SHOTS[language].texts[place][0]}"
    assert lines[-2:] == [f"{here}: NEW", f"{there}:"]


@pytest.mark.parametrize(("source", "language"), [("en", "de"), ("ar", "zh"), ("sw", "fi")])
def test_an_instruction_to_translate_names_both_languages_and_holds_the_text_alone(
    source, language
):
    system, user = render_translation("NEW\ntext", source, language)
    assert f"from {LANGUAGE_NAMES[source]} into {LANGUAGE_NAMES[language]}." in system["content"]
    assert user["content"] == "NEW\ntext"


# ---- hostile text ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("language", ["en", "ar"])
def test_braces_in_what_is_asked_stay_as_they_are(prompt, language):
    assert f"{HOSTILE}\n{HOSTILE}" in said(render_answer("?", [HOSTILE, HOSTILE], language, prompt))
    assert said(render_answer(HOSTILE, [], language, prompt)).count(HOSTILE) == 1
    assert said(render_translation(HOSTILE, "de", language, prompt)).count(HOSTILE) == 1


@given(st.text(), st.lists(st.text(), max_size=3), st.sampled_from(SIX), st.sampled_from(PROMPTS))
def test_whatever_is_asked_stands_in_the_request_whole(question, passages, language, prompt):
    rendered = said(render_answer(question, passages, language, prompt))
    assert question in rendered
    assert "\n".join(passages) in rendered


# ---- names and hashes --------------------------------------------------------------------------------------------------


def all_templates():
    yield from (ANSWER, CLOSED_BOOK, TRANSLATE)
    yield from (
        answer_template(one, "few_shot", closed_book=closed)
        for one in SIX
        for closed in (False, True)
    )
    yield from (translation_template(*pair, "few_shot") for pair in PAIRS)


def test_every_template_has_a_name_and_a_hash_of_its_own():
    templates = list(all_templates())
    assert (
        len({t.name for t in templates})
        == len({t.id.split(":")[-1] for t in templates})
        == 3 + 12 + 30
    )
    assert all(re.fullmatch(rf"{re.escape(t.name)}:1:[0-9a-f]{{8}}", t.id) for t in templates)


def test_a_hash_changes_with_the_text_of_an_example(monkeypatch):
    before = {pair: translation_template(*pair, "few_shot").id for pair in PAIRS}
    answers = {language: answer_template(language, "few_shot").id for language in SIX}
    (text, *rest), *others = SHOTS["ru"].texts
    monkeypatch.setitem(SHOTS, "ru", replace(SHOTS["ru"], texts=((text + "!", *rest), *others)))
    for pair in PAIRS:
        assert (translation_template(*pair, "few_shot").id != before[pair]) == ("ru" in pair)
    assert [one for one in SIX if answer_template(one, "few_shot").id != answers[one]] == ["ru"]


def test_chat_asks_by_one_template_in_every_language():
    assert {answer_template(language) for language in LANGUAGE_NAMES} == {ANSWER}
    assert {answer_template(language, closed_book=True) for language in LANGUAGE_NAMES} == {
        CLOSED_BOOK
    }
    assert translation_template("sw", "fi") is TRANSLATE


# ---- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["xx", None, "tlh-US"])
@pytest.mark.parametrize("prompt", PROMPTS)
def test_an_unknown_language_is_answered_with_the_known_ones(language, prompt):
    calls = [
        lambda: answer_template(language, prompt),
        lambda: render_answer("?", ["p"], language, prompt),
        lambda: render_translation("t", language, "en", prompt),
        lambda: render_translation("t", "en", language, prompt),
    ]
    for call in calls:
        with pytest.raises(
            InputError,
            match=rf"prompt '{prompt}' needs a language out of .*en.*; got .*; choose one",
        ):
            call()


def test_examples_are_refused_in_a_language_that_has_none():
    with pytest.raises(
        InputError,
        match="'few_shot' needs a language out of en, de, ru, zh, ar, hi; got 'fr'; choose one",
    ):
        translation_template("fr", "en", "few_shot")


def test_an_unknown_prompt_is_refused():
    with pytest.raises(
        InputError, match="prompt must be one of 'chat', 'few_shot', got 'zero_shot'"
    ):
        answer_template("en", "zero_shot")


def test_one_text_in_place_of_passages_is_refused():
    with pytest.raises(
        InputError, match="needs a list of passages; got one text; put it in a list"
    ):
        render_answer("?", "one text", "en")
