"""Passages as people have them: one reader for requests, judges, viewers and exports."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import ragnb
from ragnb.errors import InputError
from ragnb.experiments import judgement_requests, label_trace, question_requests
from ragnb.passages import passage_column, passage_texts
from ragnb.widgets.card import passages_of

TEXTS = ["Oslo is a city.", "It rains."]


@dataclass
class Document:
    """As in LangChain."""

    page_content: str
    metadata: dict


SHAPES = {
    "texts": TEXTS,
    "tuple": tuple(TEXTS),
    "array": np.array(TEXTS, dtype=object),
    "array of strings": np.array(TEXTS),
    "page_content": [{"page_content": text, "metadata": {"text": 3}} for text in TEXTS],
    "text": [{"id": 7, "text": text} for text in TEXTS],
    "content": [{"content": text} for text in TEXTS],
    "documents": [Document(text, {}) for text in TEXTS],
    "nodes": [SimpleNamespace(text=text, score=0.5) for text in TEXTS],
    "mixed": [TEXTS[0], {"page_content": TEXTS[1]}],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_passage_is_a_text_or_an_object_with_a_text(shape):
    assert passage_texts(SHAPES[shape]) == TEXTS


@pytest.mark.parametrize("cell", ["Oslo.", {"page_content": "Oslo."}, Document("Oslo.", {})])
def test_a_single_passage_is_a_list_of_one(cell):
    assert passage_texts(cell) == ["Oslo."]


@pytest.mark.parametrize("cell", [None, float("nan"), pd.NA])
def test_a_missing_cell_has_no_passages_and_an_empty_list_none_either(cell):
    assert passage_texts(cell) is None
    assert passage_texts([]) == []


STRANGE = {
    "a list with None": (["Oslo.", None], "passage 2 must be a text, .* got None"),
    "a list with NaN": ([float("nan")], "passage 1 must be a text, .* got nan"),
    "a number": (5, "passages must be a text, .* got 5"),
    "a list of lists": ([["Oslo."]], r"passage 1 must be a text, .* got \['Oslo.'\]"),
    "a record without a text": ([{"id": 3}], r"passage 1 must be a text, .* got \{'id': 3\}"),
    "a text that is none": ([{"text": None}], "passage 1 must be a text"),
}


@pytest.mark.parametrize("what", STRANGE)
def test_anything_else_is_refused_in_a_sentence_that_names_the_row(what):
    cell, words = STRANGE[what]
    cells = pd.Series([["Fine."], cell], dtype=object)
    frame = pd.DataFrame({"question": "Where?", "response": "Oslo.", "passages": cells})
    for read in (
        lambda: passage_column(frame, "responses"),
        lambda: question_requests(frame),
        lambda: judgement_requests(frame, "faithfulness"),
        lambda: label_trace(frame, model="judge"),
        lambda: ragnb.label_parts(frame, "sentences", model="judge", store=":memory:"),
    ):
        with pytest.raises(InputError, match=f"row 1 of the .*: {words}"):
            read()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_prompt_shows_whole_passages_whatever_their_shape(shape):
    frame = pd.DataFrame({"question": ["Where?"], "passages": pd.Series([SHAPES[shape]])})
    user = question_requests(frame)["messages"][0][-1]["content"]
    assert "Documents:\nOslo is a city.\nIt rains.\n" in user
    judged = judgement_requests(frame.assign(response="Oslo."), "faithfulness")
    assert "[1] Oslo is a city.\n[2] It rains." in judged["messages"][0][-1]["content"]


def test_a_single_text_is_not_shown_letter_by_letter():
    frame = pd.DataFrame({"question": ["Where?"], "passages": ["Oslo is a city."]})
    assert (
        "Documents:\nOslo is a city.\n\n" in question_requests(frame)["messages"][0][-1]["content"]
    )


def test_viewers_show_the_texts():
    frame = pd.DataFrame(
        {
            "example_id": ["q/1", "q/2"],
            "system": "a",
            "question": "Where?",
            "response": "Oslo.",
            "references": [[["Oslo"]]] * 2,
            "passages": pd.Series([SHAPES["page_content"], "Oslo is a city."], dtype=object),
        }
    )
    for row in frame.to_dict("records"):
        shown = list(passages_of(row, {}))
        assert [passage["opening"] for passage in shown] == passage_texts(row["passages"])
