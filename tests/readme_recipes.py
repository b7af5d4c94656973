"""README's recipes: typed as they stand, what they print held against the README. ``python tests/readme_recipes.py README.md``
writes what they print into it."""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FENCE = re.compile(r"^```(sh|python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def recipes(text):
    """Each recipe by its heading."""
    chapter = text[text.index("\n## Five recipes\n") : text.index("\n## Notebooks\n")]
    parts = re.split(r"^### (.*)\n", chapter, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def typed(recipe):
    """A recipe with what its blocks print, run in the current folder one after the other, as the user would."""
    names, printed = {"__name__": "__main__"}, ""

    def one(block):
        nonlocal printed
        kind, body = block.groups()
        printed = (
            printed
            if kind == "text"
            else in_shell(body)
            if kind == "sh"
            else in_python(body, names)
        )
        return f"```text\n{printed}```" if kind == "text" else block[0]

    return FENCE.sub(one, recipe)


def in_shell(body):
    """What a terminal prints in which the environment is active."""
    surroundings = os.environ | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    }
    ran = subprocess.run(
        ["bash", "-euo", "pipefail"],
        input=body,
        env=surroundings,
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout


def in_python(body, names):
    """What a session prints that goes on with these names."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(body, "README.md", "exec"), names)
    return out.getvalue()


def main(path):
    text = path.read_text("utf-8")
    for recipe in recipes(text).values():
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            text = text.replace(recipe, typed(recipe)) if "```text" in recipe else text
    path.write_text(text, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
