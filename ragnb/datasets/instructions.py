"""RGB's own prompts, read from the benchmark's file, so that a run asks what the paper asked."""

from pathlib import Path
from typing import Any

from ragnb.datasets.files import locate
from ragnb.errors import InputError
from ragnb.prompts.template import Template

_FIELDS = {"{DOCS}": "{passages}", "{QUERY}": "{question}"}


def load_rgb_instructions(source: str | Path = "rgb_instructions") -> dict[str, Template]:
    """Load RGB's own prompts as templates by language, for ``rgb_requests(prompt=...)``.

    Parameters
    ----------
    source
        A path to RGB's ``instruction.yaml``, or its catalogue name. The file belongs to the
        benchmark (CC BY-NC-SA 4.0) and is not a part of ragnb.

    Raises
    ------
    InputError
        The source is neither a path nor a known name, or the file has no ``system`` and
        ``instruction`` (with ``{DOCS}`` and ``{QUERY}``) for each language.

    >>> instructions = load_rgb_instructions("instruction.yaml")  # doctest: +SKIP
    >>> requests = rgb_requests(examples, prompt=instructions["en"])  # doctest: +SKIP
    """
    import yaml

    path, _ = locate(source, benchmark="rgb", samples={})
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        got = next(iter(str(error).splitlines()), "")
        raise InputError(f"{path.name} must be YAML, got {got}; download it again") from error
    if not isinstance(content, dict) or not content:
        raise InputError(
            f"{path.name} must have one entry per language, got {content!r:.60}; download it again"
        )
    return {language: _template(language, texts, path.name) for language, texts in content.items()}


def _template(language: str, texts: Any, file: str) -> Template:
    known = texts if isinstance(texts, dict) else {}
    system, user = known.get("system"), known.get("instruction")
    if not (isinstance(system, str) and isinstance(user, str) and all(f in user for f in _FIELDS)):
        raise InputError(
            f"{file}, key {language}: must have a system text and an instruction with "
            f"{' and '.join(_FIELDS)}, got {texts!r:.60}; download it again"
        )
    user = _literal(user)
    for theirs, ours in _FIELDS.items():
        user = user.replace(_literal(theirs), ours)
    return Template(f"rgb.official.{language}", 1, _literal(system), user)


def _literal(text: str) -> str:
    """Escape the braces of a text, so that they are not fields of a template."""
    return text.replace("{", "{{").replace("}", "}}")
