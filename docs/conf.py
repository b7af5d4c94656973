"""Sphinx configuration of the site that `make site` builds from README.md, docs/ and notebooks/.

No notebook is run: each is shown with the outputs that it is committed with. The pages load nothing
from other hosts; formulas are MathML, which browsers draw themselves.
"""

import json
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
CONTENTS = {
    "Documentation": [
        "docs/recipes",
        "docs/metrics",
        "docs/formats",
        "docs/data",
        "docs/models",
        "docs/glossary",
        "docs/course",
        "docs/explorables",
        "docs/online",
        "docs/contributing",
    ],
    "Notebooks": [f"notebooks/{path.stem}" for path in NOTEBOOKS],
    "Figures and numbers": ["docs/gallery", "benchmarks/RESULTS", "CHANGELOG", "ragnb/NOTICE"],
}
"""The table of contents: the pages under each caption, in order."""
CONCEPT = re.compile(r"!\[([^\]]+)\]\(\.\./figures/(\w+\.svg)\)")
"""A drawing of an idea in the text of a notebook: its description and its file."""
WORDS = re.compile(r"<td>(?!NaN<)(?=[^<]*[^\W\d_]{3}[^<]*</td>)")
"""The beginning of a table cell with words."""

project = "ragnb"
language = "en"
root_doc = "README"
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "benchmarks/*.md",
    "docs/*.md",
    "notebooks/*.ipynb",
    "ragnb/NOTICE.md",
]
exclude_patterns = [".*", "build"]
extensions = ["myst_nb"]
nb_execution_mode = "off"
nb_render_markdown_format = "myst"
myst_enable_extensions = ["attrs_inline", "dollarmath", "html_image"]
myst_heading_anchors = 3
html_theme = "sphinx_book_theme"
html_theme_options = {"navbar_persistent": [], "footer_content_items": []}
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_title = "ragnb"
html_context = {"default_mode": "auto"}
html_math_renderer = "mathml"


def with_contents(text: str) -> str:
    """Return the start page with the table of contents, which the sidebar shows."""
    for caption, pages in CONTENTS.items():
        text += "\n\n```{toctree}\n:hidden:\n:caption: " + caption + "\n\n"
        text += "\n".join(pages) + "\n```\n"
    return text


def with_pictures(text: str) -> str:
    """Return the gallery with every picture of figures/, under the first notebook that shows it."""
    shown = set()
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text("utf-8"))["cells"]
        source = "\n".join("".join(cell["source"]) for cell in cells)
        title = source.splitlines()[0].removeprefix("# ")
        link = f"../notebooks/{path.name}"
        text += f"\n\n## [{title}]({link})\n\n"
        for alt, name in CONCEPT.findall(source):
            if name not in shown:
                text += linked(ROOT / "figures" / name, link, alt)
                shown.add(name)
        for picture in sorted((ROOT / "figures").glob(f"{path.name[:3]}*.png")):
            alts = [described(cell) for cell in cells if picture.stem in "".join(cell["source"])]
            text += linked(picture, link, "".join(alts))
    text += "\n\n## [Widgets](recipes.md)\n\n"
    for picture in sorted((ROOT / "figures").glob("[a-z]*.png")):
        text += linked(picture, "recipes.md")
    return text


def with_explorables(text: str) -> str:
    """Return the page on explorables with all of them, which run in the page."""
    # Imported here: the tests read this file without loading ragnb.
    from ragnb.explorables import EXPLORABLES, explore

    for name in EXPLORABLES:
        shown = explore(name)._repr_html_()
        text += f"\n\n## `{name}`\n\n``````{{raw}} html\n{shown}\n``````\n"
    return text


def linked(picture: Path, link: str, alt: str = "") -> str:
    """Return a picture as a link, at half the width of the page if it is as narrow as a column."""
    alt = alt or picture.stem.replace("_", " ")
    pixels = int.from_bytes(picture.read_bytes()[16:20], "big")  # the width that a PNG file states
    width = "48%" if picture.suffix == ".png" and pixels < 1000 else "98%"
    return f'[![{alt}](../figures/{picture.name}){{width="{width}"}}]({link})\n'


def with_descriptions(text: str) -> str:
    """Return a notebook with the description of each picture where myst-nb looks for it.

    Table cells with words get a class, so that they are not aligned like numbers.
    """
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            if table := "".join(output.get("data", {}).get("text/html", "")):
                output["data"]["text/html"] = WORDS.sub('<td class="words">', table)
        if described(cell):
            cell["metadata"]["mystnb"] = {"image": {"alt": described(cell)}}
    return json.dumps(notebook)


def described(cell: dict) -> str:
    """Return the description of a cell's picture, or an empty text."""
    for output in cell.get("outputs", []):
        if alt := output.get("metadata", {}).get("image/png", {}).get("alt"):
            return alt
    return ""


def complete(app, page: str, source: list[str]) -> None:
    """Add to the text of a page what is made when the site is built."""
    if page == "README":
        source[0] = with_contents(source[0])
    elif page == "docs/gallery":
        source[0] = with_pictures(source[0])
    elif page == "docs/explorables":
        source[0] = with_explorables(source[0])
    elif page.startswith("notebooks/"):
        source[0] = with_descriptions(source[0])


def mathml(writer, node) -> None:
    """Write a formula as MathML; one on its own lines can be scrolled where it is too wide."""
    # Imported here: the tests read this file in an environment without Sphinx.
    from docutils import nodes
    from latex2mathml.converter import convert

    if isinstance(node, nodes.math_block):
        writer.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    else:
        writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def start_page(app, error: Exception | None) -> None:
    """Let README.html be the page that a browser opens for the folder."""
    if error is None:
        shutil.copy(Path(app.outdir) / "README.html", Path(app.outdir) / "index.html")


def setup(app) -> None:
    """Register the steps above with Sphinx."""
    app.add_html_math_renderer("mathml", (mathml, None), (mathml, None))
    app.connect("source-read", complete)
    app.connect("build-finished", start_page)
