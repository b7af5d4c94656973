"""What a model was shown and what it said: a static view of one response, and a browser through many."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from ipywidgets import IntSlider, SelectionSlider

from ragnb.errors import InputError
from ragnb.markup import Markup, join, marked, page, tag
from ragnb.metrics.rgb import NO_RESPONSE, answer_evidence, is_correct
from ragnb.metrics.rgb_protocols import answer_parts
from ragnb.records import require_columns
from ragnb.text import join_reasoning, split_reasoning
from ragnb.widgets.browser import Browser

GLYPHS = {"positive": "✓", "negative": "✗", "wrong": "≠"}
"""Signs before a passage: it holds the answer, it is noise, it holds a false answer."""

NEEDED = ("question", "references", "passages", "kinds", "language")


def without_response(row: Mapping[str, Any]) -> Markup | None:
    """What stands in the place of a verdict: not asked yet, or unscored and why; None where there is a response."""
    if "response" not in row:
        return tag("p", tag("i", "not asked yet"))
    if isinstance(row["response"], str):
        return None
    reason = row.get("reason")
    return tag(
        "p", tag("b", "? unscored "), f"({reason if isinstance(reason, str) else NO_RESPONSE})"
    )


def reply_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """The reasoning in the text of a reply, empty without any, and the answer, whether or not they are in one column."""
    reasoning = row.get("reasoning")
    return split_reasoning(
        join_reasoning(reasoning if isinstance(reasoning, str) else "", row["response"])
    )


class ContextView:
    """One response in its context: the passages with their kind, every alias of the answer marked, and the verdict.

    Renders without JavaScript, in JupyterLab, on code-hosting pages and in exported HTML.

    Parameters
    ----------
    row
        A row of a contexts or responses frame: ``question, references, passages, kinds, language`` and, if there is one,
        ``response`` and ``noise_rate``.
    protocol
        Protocol of the verdict, see `ragnb.metrics.rgb`.
    """

    def __init__(self, row: Mapping[str, Any] | pd.Series, *, protocol: str = "paper") -> None:
        self.row = dict(row)
        self.protocol = protocol
        require_columns(pd.DataFrame(columns=list(self.row)), NEEDED, "ContextView")

    def __repr__(self) -> str:
        return f"ContextView({self.row['question']!r}, {len(self.row['passages'])} passages)"

    def _repr_html_(self) -> Markup:
        aliases = [alias for part in answer_parts(self.row["references"]) for alias in part]
        shown = zip(self.row["passages"], self.row["kinds"], strict=True)
        passages = [
            tag(
                "p",
                tag("b", f"[{number}] {GLYPHS[kind]} "),
                marked(text, aliases),
                dir="auto",
                style="margin:0.3em 0",
            )
            for number, (text, kind) in enumerate(shown, start=1)
        ]
        key = " · ".join(
            f"{glyph} {kind}" for kind, glyph in GLYPHS.items() if kind in self.row["kinds"]
        )
        return page(
            tag("p", tag("b", self.row["question"]), dir="auto"),
            tag("p", tag("small", key)) if key else tag("p", tag("i", "no passages: closed book")),
            join(passages),
            self._verdict(aliases),
        )

    def _verdict(self, aliases: list[str]) -> Markup:
        silence = without_response(self.row)
        if silence is not None:
            return silence
        given = {"language": self.row["language"], "noise_rate": self.row.get("noise_rate")}
        options = given | {"protocol": self.protocol}
        (reasoning, answer), references = reply_of(self.row), self.row["references"]
        response = reasoning + answer if self.protocol == "released" else answer
        right = is_correct(response, references, **options) == 1
        why = tag("small", f"({answer_evidence(response, references, **options)})")
        said = tag("p", tag("b", "response: "), marked(reasoning + answer, aliases), dir="auto")
        return join([said, tag("p", tag("b", "✓ right " if right else "✗ not right "), why)])


class ContextBrowser(Browser):
    """A live browser through responses: one slider for the question, one for the noise rate.

    Where no kernel runs, the first response is shown as its static view.

    Parameters
    ----------
    responses
        A responses frame of one system: the columns of `ContextView`, ``example_id`` and ``noise_rate``.

    Raises
    ------
    InputError
        A missing column, no response, or several to a question at one noise rate.
    """

    def __init__(self, responses: pd.DataFrame) -> None:
        require_columns(responses, (*NEEDED, "example_id", "noise_rate"), "ContextBrowser")
        if responses.empty:
            raise InputError(
                "ContextBrowser needs at least one response; got an empty frame; run or load some first"
            )
        if (twice := responses.duplicated(["example_id", "noise_rate"])).any():
            raise InputError(
                f"ContextBrowser needs one response a question and noise rate; got {twice.sum()} more; choose one system, "
                "or use ragnb.view"
            )
        self._rows = {
            (row["example_id"], row["noise_rate"]): row for row in responses.to_dict("records")
        }
        self._ids = list(dict.fromkeys(responses["example_id"]))
        self.question = IntSlider(min=1, max=len(self._ids), description="question")
        self.noise = SelectionSlider(
            options=sorted(responses["noise_rate"].unique().tolist()), description="noise rate"
        )
        super().__init__(
            self.question,
            self.noise,
            note="sliders need a running kernel, this is the first response",
        )

    def __repr__(self) -> str:
        return f"ContextBrowser({len(self._ids)} questions)"

    def _shown(self) -> Markup:
        row = self._rows.get((self._ids[self.question.value - 1], self.noise.value))
        return ContextView(row)._repr_html_() if row else tag("p", "no response here")
