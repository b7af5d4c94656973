import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnb.errors import InputError
from ragnb.metrics.rgb import detects_error, is_refusal
from ragnb.metrics.rgb_protocols import REFUSAL_PHRASES
from ragnb.prompts.rgb import ANSWER, TEMPLATES, render, template_for
from ragnb.prompts.template import Template

ALL = [(prompt, language) for prompt, languages in TEMPLATES.items() for language in languages]


@pytest.mark.parametrize(("prompt", "language"), ALL)
def test_a_question_over_passages_becomes_messages_or_a_text_to_continue(prompt, language):
    template = template_for(prompt, language)
    rendered = render("Who? 谁?", ["first {question}", "", "2nd {0} %s"], template)
    messages = (
        [{"role": "user", "content": rendered}] if isinstance(rendered, str) else rendered
    )  # a text to continue
    assert [m["role"] for m in messages] == (["system", "user"] if template.system else ["user"])
    said = messages[-1]["content"]
    assert said.count("Who? 谁?") == 1
    assert ("first {question}\n\n2nd {0} %s" in said) == (not prompt.endswith("closed_book"))
    assert all(m["content"].strip() for m in messages)


@pytest.mark.parametrize("language", ["ZH", "zh-TW", "Zh_Hans-CN"])
def test_a_language_is_known_however_its_code_is_written(language):
    assert template_for("answer", language) is TEMPLATES["answer"]["zh"]


@pytest.mark.parametrize("prompt", sorted(TEMPLATES))
def test_every_prompt_speaks_english_and_chinese(prompt):
    assert {"en", "zh"} <= set(TEMPLATES[prompt])
    assert not re.search(
        r"[\u4e00-\u9fff]", TEMPLATES[prompt]["en"].system + TEMPLATES[prompt]["en"].user
    )
    assert re.search(r"[\u4e00-\u9fff]", TEMPLATES[prompt]["zh"].user)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_answer_prompt_teaches_the_refusal_that_the_metric_looks_for(language):
    assert REFUSAL_PHRASES[language] in ANSWER[language].system
    quoted = re.findall(r"['“](.+?)['”]", ANSWER[language].system)
    assert is_refusal(quoted[0], language=language)
    assert {"en": "factual errors", "zh": "事实性错误"}[language] in quoted[1]


@pytest.mark.parametrize(
    ("prompt", "language"), [(p, la) for p, la in ALL if p not in ("answer", "few_shot")]
)
def test_the_other_prompts_do_not_speak_of_refusing(prompt, language):
    template = template_for(prompt, language)
    assert REFUSAL_PHRASES[language] not in template.system + template.user


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_shots_for_base_models_answer_refuse_and_report_an_error_as_the_protocol_wants(
    language,
):
    shown = [
        block.splitlines()[-1]
        for block in template_for("few_shot", language).user.split("\n\n")[:3]
    ]
    assert [is_refusal(line, language=language) for line in shown] == [0.0, 1.0, 0.0]
    assert [detects_error(line, language=language) for line in shown] == [0.0, 0.0, 1.0]


def test_template_names_and_ids_are_unlike():
    templates = [template_for(*pair) for pair in ALL]
    assert len({t.name for t in templates}) == len({t.id for t in templates}) == len(ALL)
    assert all(
        re.fullmatch(rf"{re.escape(t.name)}:{t.version}:[0-9a-f]{{8}}", t.id) for t in templates
    )


def test_a_template_of_ones_own_is_returned_as_it_is():
    own = Template("mine", 3, "", "{question}")
    assert template_for(own, "xx") is own


@pytest.mark.parametrize(
    ("prompt", "language", "words"),
    [
        ("answr", "en", r"prompt.*answer, plain, closed_book.*'answr'"),
        ("plain", "fr", r"'plain'.*en, zh.*'fr'"),
    ],
)
def test_an_unknown_prompt_or_language_is_refused_with_the_known_ones(prompt, language, words):
    with pytest.raises(InputError, match=words):
        template_for(prompt, language)


# ---- templates ---------------------------------------------------------------------------------------------------------


def test_fields_are_named_once_in_order_of_appearance():
    assert Template("t", 1, "{b} {a}", "{a}{c}{{d}}").fields == ("b", "a", "c")
    assert Template("t", 1, "", "plain").fields == ()


@given(st.text(), st.text())
def test_whatever_the_values_hold_is_left_as_it_is(a, b):
    template = Template("t", 1, "[{a}]", "<{b}|{a}>")
    assert template.messages({"a": a, "b": b}) == [
        {"role": "system", "content": f"[{a}]"},
        {"role": "user", "content": f"<{b}|{a}>"},
    ]


def test_an_empty_system_message_is_left_out():
    assert Template("t", 1, "", "hi").messages({}) == [{"role": "user", "content": "hi"}]


BROKEN = [
"Reply { and {question}",
"{} {question}",
"{0}",
'{"verdict": "yes"} {question}',
"{question.text}",
"{question:d}",
]  # fmt: skip


@pytest.mark.parametrize("text", BROKEN)
@pytest.mark.parametrize("place", ["system", "user"])
def test_a_lone_brace_is_refused_where_it_is_written(place, text):
    texts = {"system": "", "user": "{question}", place: text}
    with pytest.raises(
        InputError,
        match=r"template mine needs a field's name between braces.*write \{\{ for a brace",
    ):
        Template("mine", 1, **texts)


def test_a_brace_of_one_message_is_not_closed_by_the_other():
    with pytest.raises(InputError, match="expected '}'|Single '{'"):
        Template("mine", 1, "{question", "} {question}")


@given(st.text())
def test_doubled_braces_are_braces_of_the_text(text):
    doubled = text.replace("{", "{{").replace("}", "}}")
    assert Template("t", 1, "", doubled + "{q}").messages({"q": "?"})[0]["content"] == text + "?"


@given(st.text(alphabet="{}!:[].a0 "))
def test_a_template_that_is_made_can_be_filled_in(text):
    try:
        template = Template("t", 1, "", text)
    except InputError:
        return
    assert len(template.messages(dict.fromkeys(template.fields, "x"))) == bool(text)


def test_a_field_without_a_value_is_named():
    with pytest.raises(InputError, match=r"template t needs.*a, b; got none for b;"):
        Template("t", 1, "", "{a}{b}").messages({"a": "x"})


def test_the_id_changes_with_every_text_and_version_and_with_nothing_else():
    template = Template("t", 1, "sys", "user")
    others = [
        Template("t", 1, "sys", "user!"),
        Template("t", 1, "sys ", "user"),
        Template("t", 2, "sys", "user"),
    ]
    assert (
        len(
            {
                t.id
                for t in [
                    template,
                    *others,
                    Template("t", 1, "sysuser", ""),
                    Template("t", 1, "", "sysuser"),
                ]
            }
        )
        == 6
    )
    assert Template("t", 1, "sys", "user").id == template.id
    assert Template("other", 1, "sys", "user").id.split(":")[1:] == template.id.split(":")[1:]
