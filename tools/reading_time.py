"""Minutes for reading a notebook, by the formula that docs/course.md states.

``python tools/reading_time.py`` writes them into docs/course.md and into the notebooks.
"""

import re
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "notebooks"
COURSE = ROOT / "docs" / "course.md"
# The formula.
WORDS_PER_SECOND = 180 / 60
SECONDS_OF_A_LINE_OF_CODE, SECONDS_OF_AN_OUTPUT, SECONDS_OF_A_VIEWER = 5, 15, 90
# Calls that show a viewer or an explorable.
VIEWERS = re.compile(r"\bragnb\.(?:view|explore|dashboard|Annotator)\(|\bAnnotator\(")
WORDS = {
    5: "five", 10: "ten", 15: "fifteen", 20: "twenty", 25: "twenty-five", 30: "thirty",
    35: "thirty-five", 40: "forty", 45: "forty-five", 50: "fifty", 55: "fifty-five", 60: "sixty",
}  # fmt: skip


def minutes_of(path):
    """Minutes for a notebook without its exercises and what follows them, rounded to five."""
    seconds = 0.0
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            seconds += SECONDS_OF_A_LINE_OF_CODE * len(re.findall(r"\S.*", cell.source))
            is_viewer = VIEWERS.search(cell.source)
            seconds += (
                SECONDS_OF_A_VIEWER if is_viewer else SECONDS_OF_AN_OUTPUT * len(cell.outputs)
            )
            continue
        text, *exercises = re.split(r"^## Exercises$", cell.source, flags=re.MULTILINE)
        # The alternative text of a picture is read instead of the picture.
        words = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text).split()
        seconds += len(words) / WORDS_PER_SECOND
        if exercises:
            break
    return max(5, 5 * round(seconds / 60 / 5))


def row_of_course(path):
    """The pattern of a notebook's row in the table of docs/course.md; its second group is the minutes."""
    return re.compile(rf"({re.escape(path.name)}\) \| [^|\n]* \| )(\d+)( \|)")


TITLE = re.compile(r"\b([Aa]bout )([a-z-]+)( minutes)")


def write_minutes():
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        minutes = minutes_of(path)
        course = COURSE.read_text(encoding="utf-8")
        COURSE.write_text(row_of_course(path).sub(rf"\g<1>{minutes}\3", course), encoding="utf-8")
        text = path.read_text(encoding="utf-8")
        path.write_text(TITLE.sub(rf"\g<1>{WORDS[minutes]}\3", text, count=1), encoding="utf-8")


if __name__ == "__main__":
    write_minutes()
