"""Show an explorable as a page that works without a kernel."""

# Tested in tests/widgets/test_explorables.py.

import gzip
import json
from base64 import b64encode
from itertools import product, zip_longest
from textwrap import wrap
from typing import Any

from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.explorables import scenes  # noqa: F401 (fills EXPLORABLES)
from ragnb.explorables.scene import EXPLORABLES as EXPLORABLES  # named by the face of the folder
from ragnb.explorables.scene import Scene
from ragnb.markup import Markup, join, spelled, tag
from ragnb.metrics.trace_labels import VARIANTS
from ragnb.widgets.pages import STATIC, Page


@accepts(name=tuple(EXPLORABLES), variant=VARIANTS, aligned=False)
def explore(name: str, *data: Any, variant: str = "ragbench") -> Page:
    """Show an explorable: an interactive figure with a few controls that answers one question.

    It runs in the page: in JupyterLab without a kernel, in exported HTML, and in the documentation.

    Parameters
    ----------
    name
        One of the explorables in the table at the end, such as ``"mcnemar"``.
    data
        What it shows; see the table at the end. By default, data that ragnb contains.
    variant
        Definition of the numbers of ``"trace"``: ``"ragbench"``, or ``"guide"`` for those of the
        visual guide; see `ragnb.metrics.trace`. The other explorables have no variants.

    Raises
    ------
    InputError
        If the name is unknown, or if the data are not those of the table.

    >>> explore("mcnemar", [1, 1, 0, 1], [1, 0, 0, 0])
    Which questions decide between two systems? The systems differ on 2 questions: ...
    """
    explorable = EXPLORABLES[name]
    if variant != "ragbench" and variant not in explorable.variants:
        raise InputError(f"only 'trace' has the variant {variant!r}, got the name {name!r}")
    options = {"variant": variant} if explorable.variants else {}
    scene = explorable.scene(*(data or explorable.sample()), **options)
    first = scene.frame(*(control.start for control in scene.controls))
    static = scene.static or join([tag("p", text, dir="auto") for _, text in first.lines])
    return Page(
        f"{explorable.question} {first.sentence}",
        "explore.html",
        question=explorable.question,
        sentence=first.sentence,
        static=static,
        picture=first.picture or (first.chart and first.chart.picture()),
        alt=explorable.alt,
        script=Markup((STATIC / "explore.js").read_text("utf-8")),
        packed=_packed(explorable.question, scene),
    )


def _packed(question: str, scene: Scene) -> str:
    """Return the question, the controls and all frames in letters that cannot end a script."""
    frames = None
    if scene.counts is None:
        positions = product(*(control.values for control in scene.controls))
        frames = [scene.frame(*values).contents() for values in positions]
    page = {
        "question": question,
        "heading": spelled(scene.heading),
        "controls": [control.contents() for control in scene.controls],
        "frames": frames,
        "counts": scene.counts and scene.counts.contents(),
    }
    # Without a time stamp, equal pages have equal bytes.
    compressed = gzip.compress(json.dumps(page).encode(), mtime=0)
    return b64encode(compressed).decode()


def _table() -> str:
    """The table of all explorables for the docstring of `explore`."""
    rule = f"    {'=' * 12}  {'=' * 34}  {'=' * 42}"
    lines = [rule, f"    {'name':12}  {'data':34}  what changes", rule]
    for name in sorted(EXPLORABLES):
        data = wrap(EXPLORABLES[name].data, 34)
        changes = wrap(EXPLORABLES[name].changes, 42)
        for texts in zip_longest([name], data, changes, fillvalue=""):
            name_cell, data_cell, changes_cell = texts
            lines.append(f"    {name_cell:12}  {data_cell:34}  {changes_cell}".rstrip())
    return "\n".join([*lines, rule])


explore.__doc__ = f"{explore.__doc__}\n    Notes\n    -----\n{_table()}\n"
