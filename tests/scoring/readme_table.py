"""The table of metrics in README.md, made again: ``python tests/scoring/readme_table.py README.md``."""

import re
import sys
from pathlib import Path

from ragnb.scoring import definitions

BEGIN, END = "<!-- metrics: made by ragnb.definitions().to_markdown() -->", "<!-- /metrics -->"


def with_table(text):
    """A text with the table of metrics between its markers."""
    made = f"{BEGIN}\n{definitions().to_markdown()}{END}"
    found, n = re.subn(
        f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: made, text, flags=re.DOTALL
    )
    assert n == 1, f"README needs the markers {BEGIN} and {END} once; got {n}"
    return found


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_table(path.read_text("utf-8")), "utf-8")
