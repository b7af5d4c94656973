"""Bundle the front end of the widgets: ``python -m widgets.bundle``, in the folder ``tests``.

It needs npx, which comes with Node.
"""

import subprocess
from pathlib import Path

STATIC = Path(__file__).parents[2] / "ragnb" / "widgets" / "static"
ESBUILD = ["npx", "--yes", "--prefer-offline", "esbuild@0.28.2"]
OPTIONS = ["--bundle", "--minify", "--charset=utf8", "--log-level=warning", "--loader:.css=text"]
FORMATS = {
    "annotator": ["--format=esm"],
    "handout": ["--format=iife"],
    "rows": ["--format=esm"],
    "explore": ["--format=iife", "--global-name=explorables"],
}
"""How each bundle is read: as a module of a widget, or as a script inside a page."""


def bundle(name: str, folder: Path = STATIC) -> Path:
    """Bundle one widget; return the path of the bundle."""
    made = folder / f"{name}.js"
    source = STATIC / "src" / f"{name}.mjs"
    subprocess.run(
        [*ESBUILD, str(source), *OPTIONS, *FORMATS[name], f"--outfile={made}"], check=True
    )
    return made


if __name__ == "__main__":
    for widget in FORMATS:
        bundle(widget)
