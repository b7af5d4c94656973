"""The prompts of a multilingual experiment: answers in the question's language, and translations.

The prompt ``"chat"`` gives instructions and works for every language in `LANGUAGE_NAMES`. The prompt
``"few_shot"`` shows examples and is a text for base models to continue. It exists for the languages
in `SHOTS`. The texts are in ``data/multilingual.toml``.
"""

# Tested in tests/prompts/test_texts.py.

from collections.abc import Sequence
from typing import Any

from ragnb.arguments import accepts
from ragnb.errors import InputError, check_choice
from ragnb.prompts.template import Message, Template, in_one_line, keyed_lines, load_family

PROMPTS = ("chat", "few_shot")

_DATA = load_family("multilingual")
LANGUAGE_NAMES: dict[str, str] = _DATA["languages"]
"""Language code -> English name of the language, for every code whose script ragnb knows."""
SHOTS: dict[str, Any] = _DATA["shots"]
"""Language code -> headings (``text``, ``question``, ``answer``) and ``examples`` of each."""


@accepts()
def answer_prompt(
    question: str, passages: Sequence[str], language: str, prompt: str = "chat"
) -> tuple[Template, list[Message] | str]:
    """The template that asks a question over passages, or alone if there are none, and the filled-in prompt.

    An unknown prompt, or a language in which it does not exist, raises InputError.

    Parameters
    ----------
    question
        The question.
    passages
        Texts of the passages, or an empty list.
    language
        Code of the language of the prompt.
    prompt
        ``"chat"`` (instructions) or ``"few_shot"`` (examples and a text to continue).

    Examples
    --------
    >>> template, messages = answer_prompt("How deep?", [], "en")
    >>> template.name, messages[1]
    ('multilingual.closed_book', {'role': 'user', 'content': 'Question: How deep?'})
    """
    code = _known(language, prompt)
    kind = "answer" if len(passages) else "closed_book"
    if prompt == "chat":
        template = _DATA["templates"][f"multilingual.{kind}"]
        context = keyed_lines((str(place), text) for place, text in enumerate(passages, start=1))
    else:
        shots = SHOTS[code]
        # A base model continues a plain text without tags, in which each text keeps to its line.
        labels = [shots[name] for name in ("text", "question", "answer")]
        context = "\n".join(in_one_line(text, labels) for text in passages)
        question = in_one_line(question, labels)
        examples = ""
        for text, example_question, answer in [
            *shots["examples"],
            ("{passages}", "{question}", ""),
        ]:
            above = f"{shots['text']}{text}\n" if len(passages) else ""
            examples += (
                f"{above}{shots['question']}{example_question}\n{shots['answer']}{answer}\n\n"
            )
        name = "few_shot" if len(passages) else "few_shot_closed_book"
        template = _completion(f"{name}.{code}", examples.rstrip())
    texts = {"question": question, "passages": context}
    return template, template.render({**texts, "language": LANGUAGE_NAMES[code]})


@accepts()
def translation_prompt(
    text: str, source: str, language: str, prompt: str = "chat"
) -> tuple[Template, list[Message] | str]:
    """The template that asks for a translation from one language into another, and the filled-in prompt.

    See `answer_prompt` for errors.

    Parameters
    ----------
    text
        The text to translate.
    source, language
        Codes of the language of the text, and of the language to translate it into.
    prompt
        ``"chat"`` (instructions) or ``"few_shot"`` (examples and a text to continue).

    Examples
    --------
    >>> template, shown = translation_prompt("Hallo!", "de", "en", "few_shot")
    >>> shown.splitlines()[-2:]
    ['German: Hallo!', 'English:']
    """
    source, language = _known(source, prompt), _known(language, prompt)
    source_name, language_name = LANGUAGE_NAMES[source], LANGUAGE_NAMES[language]
    if prompt == "chat":
        template = _DATA["templates"]["multilingual.translate"]
    else:
        examples = zip(SHOTS[source]["examples"], SHOTS[language]["examples"], strict=True)
        lines = []
        for (source_text, *_), (same_text, *_) in examples:
            lines.append(f"{source_name}: {source_text}\n{language_name}: {same_text}\n")
        user = "".join(lines) + f"{source_name}: {{text}}\n{language_name}:"
        template = _completion(f"few_shot_translate.{source}.{language}", user)
        text = in_one_line(text, [f"{source_name}:", f"{language_name}:"])
    return template, template.render(
        {"text": text, "source": source_name, "language": language_name}
    )


def _completion(name: str, user: str) -> Template:
    return Template(f"multilingual.{name}", 1, "", user, kind="completion")


def _known(language: str, prompt: str) -> str:
    """Code under which a prompt knows a language: the code itself, or the part before its region."""
    languages = LANGUAGE_NAMES if check_choice(prompt, PROMPTS, "prompt") == "chat" else SHOTS
    code = str(language).lower().replace("-", "_")
    for candidate in (code, code.split("_")[0]):
        if candidate in languages:
            return candidate
    raise InputError(
        f"the prompt {prompt!r} exists in the languages {', '.join(languages)}, got {language!r}"
    )
