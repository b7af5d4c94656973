"""Words and constructions that the package, the pages and the notebooks do not use."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
THING = "row|line|column|curve|label|file|question|response|item|system|name|passage|annotator"
AVOIDED = re.compile(
    rf"\b(mend\w*|told|whose rows?|tells? (\w+ ){{1,2}}apart|by itself|by lot|of which|it got"
    r"|(stands?|stood) (in(?! the response\.)|beside|under|with)|of one's own|escalation curve|(says?|said) of"
    rf"|(?<!makes )(a|one) ({THING}) an? \w+)\b",
    re.IGNORECASE,
)


def texts():
    """Package, pages and notebooks, with the name of each."""
    files = [ROOT / "README.md", *(ROOT / "ragnb").rglob("*"), *(ROOT / "docs").glob("*")]
    files += (ROOT / "tools" / "js" / "src").rglob("*")
    for path in files:
        if path.suffix in {".py", ".md", ".html", ".mjs"} and path.parent.name != "data":
            # One row of contributing.md lists the words.
            yield path.name, re.sub(r"\| Some words are not used.*", "", path.read_text("utf-8"))
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            yield path.name, "".join(cell["source"])


def test_sentences_use_the_words_of_the_field():
    found = [f"{name}: {hit.group()}" for name, text in texts() for hit in AVOIDED.finditer(text)]
    assert not found, "\n".join(found)
