"""RGB's own prompts, read from the benchmark's file, so that a run asks what the paper asked."""

import os
from pathlib import Path

from ragnb.datasets.catalogue import find
from ragnb.errors import InputError
from ragnb.prompts.template import Template

_FIELDS = {"{DOCS}": "{passages}", "{QUERY}": "{question}"}


def load_rgb_instructions(source: str | Path = "rgb_instructions") -> dict[str, Template]:
    """The benchmark's prompts by language, as templates that ``rgb_requests(prompt=...)`` takes.

    Parameters
    ----------
    source
        A path to RGB's ``instruction.yaml``, or its catalogue name. The file is the benchmark's (CC BY-NC-SA 4.0) and no
        part of ragnb.

    Raises
    ------
    InputError
        Neither a path nor a known name, or a file without ``system`` and ``instruction`` (with ``{DOCS}`` and ``{QUERY}``) a
        language.

    >>> instructions = load_rgb_instructions("instruction.yaml")  # doctest: +SKIP
    >>> requests = rgb_requests(examples, prompt=instructions["en"])  # doctest: +SKIP
    """
    import yaml

    if not isinstance(source, str | Path):
        raise InputError(
            f"load_rgb_instructions needs a path or a name; got {type(source).__name__}; see ragnb.catalogue()"
        )
    path = Path(source) if os.path.isfile(source) else find(str(source), benchmark="rgb")
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        got = next(iter(str(error).splitlines()), "")
        raise InputError(f"{path.name} needs to be YAML; got {got}; download it again") from error
    if not isinstance(content, dict) or not content:
        raise InputError(
            f"{path.name} needs one entry a language; got {type(content).__name__}; download it again"
        )
    return {
        str(language): _template(str(language), texts, path.name)
        for language, texts in content.items()
    }


def _template(language: str, texts: object, file: str) -> Template:
    known = texts if isinstance(texts, dict) else {}
    system, user = known.get("system"), known.get("instruction")
    if (
        not isinstance(system, str)
        or not isinstance(user, str)
        or not all(field in user for field in _FIELDS)
    ):
        has = " and ".join(_FIELDS)
        raise InputError(
            f"{file} needs, for {language}, a system text and an instruction with {has}; got {texts!r:.60}; fetch it again"
        )
    user = _literal(user)
    for theirs, ours in _FIELDS.items():
        user = user.replace(_literal(theirs), ours)
    return Template(f"rgb.official.{language}", 1, _literal(system), user)


def _literal(text: str) -> str:
    """A text whose braces are no fields of a template."""
    return text.replace("{", "{{").replace("}", "}}")
