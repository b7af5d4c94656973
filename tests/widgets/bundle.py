"""Bundle the front end of the widgets: ``python -m widgets.bundle``, in the folder ``tests``.

It needs npx, which comes with Node.
"""

import shlex
import subprocess
from pathlib import Path

STATIC = Path(__file__).parents[2] / "ragnb" / "widgets" / "static"
NPX = ["npx", "--yes", "--prefer-offline", "--package=esbuild@0.28.2", "--call"]
OPTIONS = ["--bundle", "--minify", "--charset=utf8", "--log-level=warning", "--loader:.css=text"]
FORMATS = {
    "annotator": ["--format=esm"],
    "handout": ["--format=iife"],
    "rows": ["--format=esm"],
    "explore": ["--format=iife", "--global-name=explorables"],
}
"""How each bundle is read: as a module of a widget, or as a script inside a page."""


def bundle(folder: Path = STATIC) -> None:
    """Bundle every widget into a folder."""
    calls = [
        ["esbuild", str(STATIC / "src" / f"{name}.mjs"), *OPTIONS, *how, f"--outfile={folder}/{name}.js"]
        for name, how in FORMATS.items()
    ]  # fmt: skip
    subprocess.run([*NPX, " && ".join(map(shlex.join, calls))], check=True)


if __name__ == "__main__":
    bundle()
