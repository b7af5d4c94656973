"""Generate what the documentation shows: metrics.md, online.md, and the outputs of typed code blocks.

Run ``python docs/build.py`` after a change of a metric, or of something that a code block prints.
The tests compare the same functions with the committed files.
"""

import contextlib
import inspect
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from ragnb import METRICS
from ragnb.scoring import definitions

ROOT = Path(__file__).parents[1]
# Address of the public repository. All links of online.md are made from it.
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"][
    "Repository"
]
BRANCH = "main"
TYPED = ("README.md", "docs/recipes.md")
"""Files whose code blocks are run unchanged. The output of a block is in the next block of type
``text``. Blocks of the types ``py`` and ``console`` are not run."""

BLOCK = re.compile(r"^```(sh|python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

FAMILIES = {
    "rgb": "RGB: noise, rejection, integration and counterfactual robustness",
    "trace": "TRACe: what was relevant, used and supported",
    "answer": "Answers compared with reference texts",
    "retrieval": "Retrieval: the ranked list of passages",
    "language": "Language of the response",
    "cost": "Cost",
    "semantic": "Semantic similarity and judged correctness",
    "judged": "Verdicts of a judge: statements, passages, rubrics and pairs",
    "annotator": "Labels by people",
    "abstention": "Refusals of answerable and unanswerable questions",
    "parts": "Claims, facts, sentences, citations, nuggets and spans",
}

INTRODUCTIONS = {
    "rgb": "RGB's prompt tells the model to reply with a fixed sentence if the passages do not contain "
    "the answer, and with another one if they contain errors. These are the *agreed sentences*. The key "
    "phrase of the first is *insufficient information*, and that of the second is *factual errors*."
}


# ---- metrics.md ----------------------------------------------------------------------------------


def metrics_page() -> str:
    """Write docs/metrics.md: each metric with its definition, options, source and an example."""
    parts = [
        "# Metrics",
        "This page is generated from the code of the metrics (`python docs/build.py`). In a "
        'notebook, `ragnb.definitions("answer.f1")` prints the entry of one metric, '
        '`ragnb.definitions("f1")` lists the metrics whose name or description contains *f1*, and `ragnb.definitions()` '
        "lists them all. The first value of an option is the default. If a metric is undefined, "
        "its value is NaN, never 0. *Computed by* links to the file of the function that computes the "
        "metric; `ragnb.definitions` also prints its line.",
        "## Signatures",
        "A signature names the definition of a number: the version of ragnb, the metric, the "
        f"value of each option and the language. `{_signature()}` is the default "
        "token F1 on English text. Do not compare two numbers with different signatures before you "
        "know how their definitions differ. A signature does not name the data. The idea comes from sacreBLEU. "
        "ragnb prints the signatures under its tables. Put them under your own tables as well.",
    ]
    for family, title in FAMILIES.items():
        parts.append(f"## {title}")
        parts += [INTRODUCTIONS[family]] if family in INTRODUCTIONS else []
        parts += [_entry(name) for name in METRICS if name.partition(".")[0] == family]
    return "\n\n".join(parts) + "\n"


def _signature() -> str:
    metric = METRICS["answer.f1"]
    return metric.signature(dict(metric.options), lang="en")


def _entry(name: str) -> str:
    variants = definitions(name).frame
    facts = variants.iloc[0]
    function = METRICS[name].function
    direction = "higher" if facts["higher_is_better"] else "lower"
    values = f"{facts['lowest']:g} {'or' if METRICS[name].binary else 'to'} {facts['highest']:g}"
    beyond = f" ({facts['beyond']})" if facts["beyond"] else ""
    lines = [
        f"### {name}\n\n{facts['definition']}\n",
        f"- Range: {values}{beyond}; {direction} is better.",
        f"- Columns: {facts['needs']}.",
    ]
    if facts["formula"]:
        lines.append(f"- Formula: {facts['formula']}")
    for option, rows in variants.groupby("option", sort=False):
        lines.append(f"- Option `{option}`:")
        lines += [f"  - `{row.value}`: {row.meaning}" for row in rows.itertuples()]
    if facts["undefined"]:
        lines.append(f"- Undefined: {facts['undefined']}")
    file = f"../{function.__module__.replace('.', '/')}.py"
    lines.append(f"- Computed by: [`{function.__module__}.{function.__name__}`]({file}).")
    lines.append(f"- Source: {facts['source']}.")
    if example := _example(function):
        lines.append(f"\n```pycon\n{example}\n```")
    return "\n".join(lines)


def _example(function: object) -> str:
    """Return the first example of a docstring: its first statements and what they print."""
    text = inspect.getdoc(function) or ""
    found = re.search(r"^>>> .*?(?=\n\s*\n|\Z)", text, flags=re.DOTALL | re.MULTILINE)
    return found.group() if found else ""


# ---- online.md -----------------------------------------------------------------------------------


def online_page() -> str:
    """Write docs/online.md: links that open the notebooks on Binder and Colab."""
    name = REPOSITORY.removeprefix("https://github.com/")
    start = "notebooks/00_start_here.ipynb"
    binder = f"https://mybinder.org/v2/gh/{name}/{BRANCH}?urlpath=lab/tree"
    rows = []
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        file = f"notebooks/{path.name}"
        colab = f"https://colab.research.google.com/github/{name}/blob/{BRANCH}/{file}"
        rows.append(f"| {path.stem} | [Binder]({binder}/{file}) | [Colab]({colab}) |")
    return (
        "\n\n".join(
            [
                "# Run the notebooks online",
                "This page is generated (`python docs/build.py`) from the address of the repository, which "
                f"is in `[project.urls]` of `pyproject.toml`. At present it is `{REPOSITORY}`.",
                "**Binder** builds the environment of the lock files and opens JupyterLab. The folder "
                f"`.binder` configures it. [Start here]({binder}/{start}).",
                "**Colab** opens a single notebook. Run this cell first, which installs ragnb and makes the "
                "files of the repository available:",
                f"```text\n!git clone --quiet --depth 1 {REPOSITORY} ragnb\n"
                '%pip install --quiet "./ragnb[local]"\n%cd ragnb/notebooks\n```',
                "| notebook | | |\n|---|---|---|\n" + "\n".join(rows),
            ]
        )
        + "\n"
    )


# ---- code blocks ---------------------------------------------------------------------------------


def chapters(text: str) -> dict[str, str]:
    """Split a page at its headings of level 2; only those with code blocks that are run."""
    parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    return {name: body for name, body in found.items() if "```python" in body or "```sh" in body}


def typed(chapter: str) -> str:
    """Run the code blocks of a chapter one after the other and insert what they print."""
    names: dict[str, object] = {"__name__": "__main__"}
    printed = ""

    def one(block: re.Match[str]) -> str:
        nonlocal printed
        kind, body = block.groups()
        if kind == "text":
            return f"```text\n{printed}```"
        printed = _in_shell(body) if kind == "sh" else _in_python(body, names)
        return block[0]

    return BLOCK.sub(one, chapter)


@contextlib.contextmanager
def reader_folder() -> "contextlib.AbstractContextManager[Path]":
    """Work in a new folder that contains docs/answers.csv, like a clone of the repository."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("docs").mkdir()
        shutil.copy(ROOT / "docs" / "answers.csv", "docs")
        yield Path(folder)


def _in_shell(body: str) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ran = subprocess.run(
        ["bash", "-euo", "pipefail"],
        input=body,
        env=os.environ | {"PATH": path, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout


def _in_python(body: str, names: dict[str, object]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(body, "block", "exec"), names)
    return out.getvalue()


def main() -> None:
    """Write all generated parts."""
    (ROOT / "docs" / "metrics.md").write_text(metrics_page(), "utf-8")
    (ROOT / "docs" / "online.md").write_text(online_page(), "utf-8")
    for name in TYPED:
        page = ROOT / name
        text = page.read_text("utf-8")
        for chapter in chapters(text).values():
            if "```text" in chapter:
                with reader_folder():
                    text = text.replace(chapter, typed(chapter))
        page.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
