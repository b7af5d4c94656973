"""The prompts that ask a model the questions of RGB; their texts are in ``data/rgb.toml``."""

# Tested in tests/prompts/test_texts.py.

import re

from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.prompts.template import Template, load_family

TEMPLATES: dict[str, dict[str, Template]] = {}
"""Templates by prompt and language: ``TEMPLATES["plain"]["en"]``."""

for _template in load_family("rgb")["templates"].values():
    _, _prompt, _language = _template.name.split(".")
    TEMPLATES.setdefault(_prompt, {})[_language] = _template

PLAIN = TEMPLATES["plain"]
"""The prompt that only asks the question over the passages, by language."""


@accepts()
def template_for(prompt: str | Template, language: str) -> Template:
    """The template of a named prompt in a language; a custom `Template` is returned as it is.

    An unknown prompt, or a language without a template, raises InputError.

    Parameters
    ----------
    prompt
        Name of a prompt, or a template.
    language
        Code of the language.
    """
    if isinstance(prompt, Template):
        return prompt
    if prompt not in TEMPLATES:
        raise InputError(
            f"prompt must be one of {', '.join(TEMPLATES)} or a Template, got {prompt!r}"
        )
    languages = TEMPLATES[prompt]
    code = re.split("[-_]", language.lower())[0]
    if code not in languages:
        raise InputError(
            f"the prompt {prompt!r} exists in the languages {', '.join(languages)}, got "
            f"{language!r}; pass a Template of your own"
        )
    return languages[code]
