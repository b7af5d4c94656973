"""Sphinx configuration of the site that `make site` builds from README.md, docs/ and notebooks/.

No notebook is run: each is shown with the outputs that it is committed with. The pages load nothing
from other hosts; formulas are MathML, which browsers draw themselves.

The reference of the API is made from the docstrings. Its pages, one per face, are written into docs/api
when the site is built.
"""

import ast
import json
import re
import shutil
import sys
import textwrap
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FACES = [
    "ragnb",
    *(f"ragnb.{path.parent.name}" for path in sorted(ROOT.glob("ragnb/*/__init__.py"))),
]
"""Packages with public names. Each has a page in the reference of the API."""
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
    "API": [f"docs/api/{face}" for face in FACES],
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
    "docs/api/*.rst",
    "notebooks/*.ipynb",
    "ragnb/NOTICE.md",
]
exclude_patterns = [".*", "build"]
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
]
autosummary_generate = False
default_role = "py:obj"  # a name in a docstring is a link if it is public
maximum_signature_line_length = 80
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_param = False  # the words of a type are text: "n" is no name
napoleon_use_rtype = False
suppress_warnings = ["ref.footnote"]  # a source under "References" needs no mark in the text
OTHERS = {
    "python": "https://docs.python.org/3/",
    "numpy": "https://numpy.org/doc/stable/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "pandas": "https://pandas.pydata.org/docs/",
    "matplotlib": "https://matplotlib.org/stable/",
}
"""Other packages whose names become links, if their inventories can be fetched."""
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


# ---- the reference of the API --------------------------------------------------------------------


def write_api(app, config) -> None:
    """Write one page per face, with its public names, and fetch the names of other packages."""
    sys.path.insert(0, str(ROOT))
    folder = ROOT / "docs" / "api"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for face in FACES:
        (folder / f"{face}.rst").write_text(api_page(face), "utf-8")
    config.intersphinx_mapping = inventories(ROOT / "build" / "inventories")


def api_page(face: str) -> str:
    """Return the page of a face: what it is for, a table of its names, and their docstrings."""
    import inspect
    from importlib import import_module

    import ragnb

    package = import_module(face)
    title = f"``{face}``"
    # What a face shares with the top level is described there.
    names = [
        name
        for name in package.__all__
        if inspect.isroutine(value := getattr(package, name)) or inspect.isclass(value)
        if face == "ragnb" or getattr(ragnb, name, None) is not value
    ]
    shared = sorted({*package.__all__} & {*ragnb.__all__} - {*names}) if face != "ragnb" else []
    heading = f"{title}\n{'=' * len(title)}"
    parts = [heading, (inspect.getdoc(package) or "").partition("\n\n")[0]]
    if shared:
        links = ", ".join(f":py:obj:`ragnb.{name}`" for name in shared)
        parts.append(f"Also in this package, and described on the page of ``ragnb``: {links}.")
    constants = [name for name in package.__all__ if name not in {*names, *shared, "__version__"}]
    if constants:
        parts.append(f"Constants: {', '.join(f'``{name}``' for name in constants)}.")
    # The names of a submodule would otherwise be looked up in the module that is current.
    parts.append(f".. currentmodule:: {face}")
    if names:
        table = textwrap.indent("\n".join(names), "   ")
        parts.append(f".. autosummary::\n   :nosignatures:\n\n{table}")
    for name in names:
        kind = "class" if inspect.isclass(getattr(package, name)) else "function"
        members = "\n   :members:" if kind == "class" else ""
        parts.append(f".. auto{kind}:: {name}{members}")
    return "\n\n".join(parts) + "\n"


def inventories(folder: Path) -> dict[str, tuple[str, str]]:
    """Return the packages whose inventory could be fetched now or before, each with its file."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, address in OTHERS.items():
        file = folder / f"{name}.inv"
        try:
            with urllib.request.urlopen(f"{address}objects.inv", timeout=5) as answer:
                file.write_bytes(answer.read())
        except OSError:
            pass  # the links are left out, and the site is complete without them
        if file.exists():
            found[name] = (address, str(file))
    return found


def short_signature(app, kind, name, value, options, signature, returns):
    """Show what a caller may pass, as the stubs do, in place of what the function gets after checks."""
    import inspect

    from tools.stubs import Stub, written_out

    if not inspect.isfunction(value) or kind != "function":
        return None
    definition = ast.parse(written_out(Stub(""), "shown", value)).body[0]
    return f"({ast.unparse(definition.args)})", ast.unparse(definition.returns)


def with_own_footnotes(app, kind, name, value, options, lines) -> None:
    """Give the sources of a docstring labels of their own, because many are on one page."""
    label = name.replace(".", "-")
    for number, line in enumerate(lines):
        line = re.sub(r"\[(\d+)\]_", rf"[#{label}-\1]_", line)
        lines[number] = re.sub(r"^(\s*)\.\. \[(\d+)\]", rf"\1.. [#{label}-\2]", line)


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
    """Add the desk, and let README.html be the page that a browser opens for the folder."""
    if error is None:
        shutil.copy(ROOT / "docs" / "desk.html", Path(app.outdir) / "docs" / "desk.html")
        shutil.copy(Path(app.outdir) / "README.html", Path(app.outdir) / "index.html")


def setup(app) -> None:
    """Register the steps above with Sphinx."""
    app.add_html_math_renderer("mathml", (mathml, None), (mathml, None))
    app.connect("config-inited", write_api, priority=1)
    app.connect("autodoc-process-signature", short_signature)
    app.connect("autodoc-process-docstring", with_own_footnotes, priority=1)
    app.connect("source-read", complete)
    app.connect("build-finished", start_page)
