"""The annotator as one HTML file for people who have no Python."""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.annotation.codebook_files import with_codebook
from ragnb.annotation.items import build_items
from ragnb.annotation.lines import FORMAT, VERSION
from ragnb.annotation.session import pinned
from ragnb.annotation.suggestions import suggested_values
from ragnb.annotation.tasks import Task, hashed
from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.markup import Markup
from ragnb.version import __version__
from ragnb.widgets.annotation_page import page_of, task_of, title_of
from ragnb.widgets.pages import STATIC, render


@accepts()
def export_annotator(
    examples: pd.DataFrame,
    task: Task | str | Mapping[str, Any],
    path: str | Path,
    *,
    annotator: str = "",
    suggestions: Any = None,
    suggested_by: str = "suggestion",
    id: str | Sequence[str] = "example_id",
    codebook: Any = None,
) -> Path:
    """Write the annotator as one HTML file, which opens in a browser without a server or a network.

    The browser saves each action at once, so that nobody loses labels when a tab is closed or the
    page is open in two tabs. A button downloads the labels as a file, at any time. That file is
    an annotation log: `ragnb.annotation.read_labels`, `ragnb.agreement`,
    `ragnb.annotation.adjudicate` and `ragnb.annotation.join_labels` read it, and
    `ragnb.widgets.Annotator` continues it. The page requests nothing and sends nothing.

    Parameters
    ----------
    examples
        One row per item, see `ragnb.annotation.items.build_items`. The file contains their texts.
    task
        A name in `ragnb.annotation.tasks.TASKS`, a `Task`, or a mapping that declares one.
    path
        The HTML file.
    annotator
        Name of the person who labels. Without it, the page asks for the name, so that one file can
        go to several people.
    suggestions, suggested_by, id, codebook
        See `ragnb.annotation.session.AnnotationSession`.

    Returns
    -------
    Path
        The HTML file.

    Raises
    ------
    InputError
        If the examples, the task, the codebook or the suggestions cannot be used, or the file cannot be written.
    """
    checked_task = with_codebook(task, codebook)
    path = Path(path).expanduser()
    items = build_items(examples, checked_task, id=id)
    suggested = suggested_values(suggestions, items, checked_task, id=id)
    # The page keeps its labels in the browser under the hash of these contents, and adds a file of labels only if the
    # file has the same hash. Labels of other items, texts or fields would not fit. Suggestions are not part of it,
    # because labels stay valid if they change. The codebook is, because the stored changes of tags refer to it. Without
    # one, the hash is that of earlier versions, whose tasks had no codebook.
    contents = [checked_task.answers(), [[item.id, item.fingerprint] for item in items]]
    if checked_task.codebook:
        contents.append(checked_task.codebook)
    handout = {
        "header": {
            FORMAT: VERSION,
            "task": checked_task.schema(),
            "id": id if isinstance(id, str) else list(id),
            "handout": hashed(contents),
            "ragnb": __version__,
        },
        "annotator": annotator.strip(),
        "task": task_of(checked_task),
        "suggested_by": suggested_by,
        "items": [
            {
                "id": item.id,
                "title": title_of(item),
                "page": page_of(checked_task, item, number),
                "pinned": pinned(item),
                # Pairs of a place and a value, because a place cannot be a key in JSON.
                "suggested": list(suggested.get(item.id, {}).items()),
            }
            for number, item in enumerate(items)
        ],
    }
    style = "".join((STATIC / name).read_text("utf-8") for name in ("annotator.css", "handout.css"))
    script = (STATIC / "handout.js").read_text("utf-8")
    # The policy forbids the page to load or send anything. The hashes allow exactly these inline texts.
    policy = [
        "default-src 'none'",
        f"script-src {_hash_source(script)}",
        f"style-src {_hash_source(style)}",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    # In a script element, a text such as </script> would end it, so that no < may be in the data.
    data = json.dumps(handout, ensure_ascii=False).replace("<", "\\u003c")
    page = render(
        "handout.html",
        title=f"{checked_task.name}: {len(items)} items",
        policy="; ".join(policy),
        style=Markup(style),
        script=Markup(script),
        data=Markup(data),
    )
    try:
        # UTF-8 cannot encode half of a surrogate pair, which becomes an escape of JSON.
        path.write_bytes(page.encode("utf-8", "backslashreplace"))
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or error
        raise InputError(f"{path.name[:100]} cannot be written: {cause}") from error
    return path


def _hash_source(text: str) -> str:
    """The hash of an inline text, as a content security policy names it."""
    digest = sha256(text.encode()).digest()
    return f"'sha256-{b64encode(digest).decode()}'"
