"""The prompts of a multilingual experiment: answers in the question's language, and translations.

The prompt ``"chat"`` gives instructions and works for every language in `LANGUAGE_NAMES`. The prompt
``"few_shot"`` shows examples and is a text for base models to continue. It exists for the languages
in `SHOTS`. The texts are in ``data/multilingual.toml``.
"""

from collections.abc import Sequence
from typing import Any

from ragnb.errors import InputError, check_choice
from ragnb.prompts.template import Message, Template, load_family

PROMPTS = ("chat", "few_shot")

_DATA = load_family("multilingual")
LANGUAGE_NAMES: dict[str, str] = _DATA["languages"]
"""Language code -> English name of the language, for every code whose script ragnb knows."""
SHOTS: dict[str, Any] = _DATA["shots"]
"""Language code -> headings (``text``, ``question``, ``answer``) and ``examples`` of each."""


def answer_template(language: str, prompt: str = "chat", *, closed_book: bool = False) -> Template:
    """The template that asks for an answer in a language.

    An unknown prompt, or a language in which it does not exist, raises InputError.

    >>> answer_template("de", "few_shot", closed_book=True).user.splitlines()[0]
    'Frage: Welcher Fluss fließt aus dem Tanasee?'
    """
    language = _known(language, prompt)
    if prompt == "chat":
        name = "multilingual.closed_book" if closed_book else "multilingual.answer"
        return _DATA["templates"][name]
    shots = SHOTS[language]
    shown = ""
    for text, question, answer in [*shots["examples"], ("{passages}", "{question}", "")]:
        context = "" if closed_book else f"{shots['text']}{text}\n"
        shown += f"{context}{shots['question']}{question}\n{shots['answer']}{answer}\n\n"
    name = "few_shot_closed_book" if closed_book else "few_shot"
    return Template(f"multilingual.{name}.{language}", 1, "", shown.rstrip(), kind="completion")


def translation_template(source: str, language: str, prompt: str = "chat") -> Template:
    """The template that asks for the translation of a text from one language into another.

    See `answer_template` for errors.

    >>> translation_template("de", "en", "few_shot").user.splitlines()[4]
    'German: Bram Stokers Roman Dracula erschien 1897.'
    """
    source, language = _known(source, prompt), _known(language, prompt)
    if prompt == "chat":
        return _DATA["templates"]["multilingual.translate"]
    here, there = LANGUAGE_NAMES[source], LANGUAGE_NAMES[language]
    examples = zip(SHOTS[source]["examples"], SHOTS[language]["examples"], strict=True)
    shown = [f"{here}: {text}\n{there}: {same}\n" for (text, *_), (same, *_) in examples]
    name = f"multilingual.few_shot_translate.{source}.{language}"
    return Template(name, 1, "", "".join(shown) + f"{here}: {{text}}\n{there}:", kind="completion")


def render_answer(
    question: str, passages: Sequence[str], language: str, prompt: str = "chat"
) -> list[Message] | str:
    """Messages, or a text to continue, that ask a question over passages, or alone if there are none.

    See `answer_template` for errors.

    >>> render_answer("How deep?", [], "en")[1]
    {'role': 'user', 'content': 'Question: How deep?'}
    """
    template = answer_template(language, prompt, closed_book=not len(passages))
    name = LANGUAGE_NAMES[_known(language, prompt)]
    return template.render(
        {"question": question, "passages": "\n".join(passages), "language": name}
    )


def render_translation(
    text: str, source: str, language: str, prompt: str = "chat"
) -> list[Message] | str:
    """Messages, or a text to continue, that ask for a translation."""
    template = translation_template(source, language, prompt)
    here, there = (LANGUAGE_NAMES[_known(code, prompt)] for code in (source, language))
    return template.render({"text": text, "source": here, "language": there})


def _known(language: str, prompt: str) -> str:
    """Code under which a prompt knows a language: the code itself, or the part before its region."""
    known = LANGUAGE_NAMES if check_choice(prompt, PROMPTS, "prompt") == "chat" else SHOTS
    code = str(language).lower().replace("-", "_")
    found = next((each for each in (code, code.split("_")[0]) if each in known), None)
    if found is None:
        raise InputError(
            f"the prompt {prompt!r} exists in the languages {', '.join(known)}, got {language!r}"
        )
    return found
