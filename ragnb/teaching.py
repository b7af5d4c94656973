"""Exercises in notebooks: answers and texts are checked, and copies leave the solutions out."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import regex

from ragnb.arguments import accepts
from ragnb.datasets.files import several_files
from ragnb.errors import InputError
from ragnb.text import fold

# A folded solution in the text of a notebook.
_SOLUTION = re.compile(
    r"\s*<details>\s*<summary>\s*Solutions?\s*</summary>.*?</details>[ \t]*",
    re.DOTALL | re.IGNORECASE,
)
# Digits, and letters of scripts in which words are separated by spaces and not joined to short words.
_SPACED = regex.compile(r"[\p{Latin}\p{Greek}\p{Cyrillic}\p{N}]")
# What a slide begins with. Other cells stay on the slide before them.
_SLIDES = {"# ": "slide", "## ": "slide", "### ": "subslide"}


def check(answer: Any, digest: str, *, hint: str, decimals: int = 3) -> None:
    """Print whether the answer to an exercise is right, and a hint if it is wrong or missing.

    Parameters
    ----------
    answer
        A number, a text, or None while the exercise is open.
    digest
        `answer_digest` of the right answer.
    hint
        A sentence that helps with the next step.
    decimals
        Number of decimals to which numbers are rounded before they are compared.

    >>> check(None, answer_digest(0.5), hint="half of them")
    Your turn. Hint: half of them
    >>> check(0.5, answer_digest(0.5), hint="half of them")
    ✓ Right.
    """
    if answer is None:
        print(f"Your turn. Hint: {hint}")
    elif answer_digest(answer, decimals=decimals) == digest:
        print("✓ Right.")
    else:
        print(f"✗ Not yet: {answer!r} is not it. Hint: {hint}")


def answer_digest(answer: Any, *, decimals: int = 3) -> str:
    """Hash an answer to eight hexadecimal digits, after rounding a number or case-folding a text.

    >>> answer_digest(-1e-17) == answer_digest(0.0)
    True
    """
    text = (
        answer.strip().casefold() if isinstance(answer, str) else _rounded(float(answer), decimals)
    )
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _rounded(number: float, decimals: int) -> str:
    """A number as text; what rounds to zero has no sign."""
    return f"{round(number, decimals) + 0.0:.{decimals}f}"


def rubric(
    text: str | None, points: Mapping[str, Sequence[str]] | Sequence[str], *, hint: str
) -> None:
    """Print the points that a good answer makes, and for a text, whether words of each point are in it.

    A point whose words are in the text need not be made well, and a good text may use other words. So this finds what was
    forgotten, and a person decides what the text is worth.

    Parameters
    ----------
    text
        The text that is handed in, or None while the exercise is open.
    points
        For each point, words or phrases; one of them is enough. Letter case is ignored. A phrase begins where a word of
        the text begins: "report" finds "reported", and "any" does not find "many". In scripts that join words, such as
        Chinese and Arabic, it may be anywhere. A list of points without words is a rubric for a drawing or for labels,
        which only a person can compare with it.
    hint
        A sentence that helps with the next step.

    >>> points = {"gives n": ["n =", "questions"], "gives an interval": ["interval"]}
    >>> rubric(None, points, hint="n is the number of pairs")
    Your turn. A good answer
      - gives n
      - gives an interval
    Hint: n is the number of pairs
    >>> rubric("The difference is 0.1 (n = 40).", points, hint="n is the number of pairs")
      ✓ gives n
      ? gives an interval (none of these words: interval)
    Hint: n is the number of pairs
    """
    words_of = dict(points) if isinstance(points, Mapping) else dict.fromkeys(points, ())
    if text is None:
        print("Your turn. A good answer", *(f"  - {point}" for point in words_of), sep="\n")
        print(f"Hint: {hint}")
        return
    folded = fold(text)
    n_missing = 0
    for point, words in words_of.items():
        if any(_begins_a_word(fold(word), folded) for word in words):
            print(f"  ✓ {point}")
        elif words:
            n_missing += 1
            print(f"  ? {point} (none of these words: {', '.join(words)})")
        else:
            print(f"  - {point}")
    if n_missing:
        print(f"Hint: {hint}")
    else:
        print("✓ Nothing was forgotten. Read it once more: is each point right, and clear?")


def _begins_a_word(phrase: str, text: str) -> bool:
    """Whether a phrase is in a text, and no word character is before it.

    A phrase such as ± may be anywhere. So may Chinese words, which have no space before them, and Arabic words, to which
    "and" or "the" may be joined.
    """
    start = r"(?<!\w)" if _SPACED.match(phrase) else ""
    return re.search(start + re.escape(phrase), text) is not None


# ---- copies for a class --------------------------------------------------------------------------


@accepts()
def students_copy(
    notebooks: str | Path | Sequence[str | Path], folder: str | Path, *, solutions: bool = False
) -> list[Path]:
    """Copy notebooks for students: without the solutions, and with a slide for each section.

    A solution is what a cell of text folds, as in ``<details><summary>Solution</summary> ... </details>``. Everything else,
    with the outputs, stays. The copies are marked so that ``jupyter nbconvert --to slides`` begins a slide at each heading.

    Parameters
    ----------
    notebooks
        A notebook, a folder of notebooks, a pattern such as ``"notebooks/0*.ipynb"``, or a list.
    folder
        Where the copies are written, under the same names. Put it next to the folder of the notebooks, so that links to
        figures and other pages still work. It must be another folder.
    solutions
        Whether to keep the solutions, for the teacher's slides.

    Returns
    -------
    list of Path
        The copies.

    Raises
    ------
    InputError
        There is no notebook, a file is no notebook, or a copy would replace its notebook.
    """
    files = _notebooks(notebooks)
    target = Path(folder).expanduser()
    copies = []
    for file in files:
        copy = target / file.name
        if copy.resolve() == file.resolve():
            raise InputError(
                f"folder must be another folder than that of the notebooks, got {str(folder)!r}"
            )
        try:
            notebook = json.loads(file.read_text("utf-8"))
            notebook["cells"] = _cells_for_students(notebook["cells"], solutions)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{file.name} cannot be read as a notebook ({error})") from error
        target.mkdir(parents=True, exist_ok=True)
        copy.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", "utf-8")
        copies.append(copy)
    return copies


def _notebooks(source: str | Path | Sequence[str | Path]) -> list[Path]:
    """The notebooks in a folder, of a pattern or in a list."""
    if isinstance(source, str | Path) and Path(source).expanduser().is_dir():
        files = sorted(Path(source).expanduser().glob("*.ipynb"))
        if not files:
            raise InputError(
                f"the folder {str(source)!r} contains no notebook, whose name ends in .ipynb"
            )
        return files
    paths = [Path(file).expanduser() for file in several_files(source) or [source]]
    missing = [path for path in paths if not path.is_file()]
    if missing:
        raise InputError(f"the notebook {str(missing[0])!r} does not exist")
    return paths


def _cells_for_students(cells: Sequence[dict[str, Any]], solutions: bool) -> list[dict[str, Any]]:
    """The cells of a copy. A cell that contained nothing but a solution is left out."""
    copied = []
    for cell in cells:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            text = text if solutions else _SOLUTION.sub("\n\n", text).strip()
            if not text:
                continue
        start = text.partition(" ")[0] + " "
        slide = _SLIDES.get(start, "-") if cell["cell_type"] == "markdown" else "-"
        metadata = cell.get("metadata", {}) | {"slideshow": {"slide_type": slide}}
        copied.append(cell | {"source": text, "metadata": metadata})
    return copied
