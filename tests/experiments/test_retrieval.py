import numpy as np
import pandas as pd
import pytest

from ragnb.datasets import load_multilingual
from ragnb.errors import InputError
from ragnb.experiments import (
    multilingual_contexts,
    rank_bm25,
    rank_passages,
    recorded_embedding,
    recorded_ranking,
)

VECTORS = {
    "How deep is the lake?": (1.0, 0.0),
    "Wie tief ist der See?": (0.96, 0.28),
    "Who built the tower?": (0.0, 1.0),
    "Wer baute den Turm?": (-0.6, 0.8),
    "The lake is 60 m deep.": (1.0, 0.0),
    "Der See ist 60 m tief.": (0.96, 0.28),
    "Ana built the tower.": (0.28, 0.96),
    "Ana baute den Turm.": (0.0, 1.0),
}
"""Vectors of length 1, by hand."""


def by_hand(texts, kind):
    assert kind in ("query", "passage")
    return np.array([VECTORS[text] for text in texts])


EXAMPLES = pd.DataFrame(
    {
        "example_id": ["q/1/en", "q/1/de", "q/2/en", "q/2/de"],
        "question_id": ["1", "1", "2", "2"],
        "language": ["en", "de", "en", "de"],
        "question": [*VECTORS][:4],
        "passages": [[text] for text in [*VECTORS][4:]],
        "references": [[["60 m"]]] * 2 + [[["Ana"]]] * 2,
    }
)


def ranked(ranking):
    """Passage identifiers of each example, best first."""
    return {
        example: list(rows["passage_id"])
        for example, rows in ranking.groupby("example_id", sort=False)
    }


def test_the_most_like_come_first_without_a_question_s_own():
    ranking = rank_passages(EXAMPLES, top_k=2, embedding=by_hand)
    assert ranked(ranking) == {
        "q/1/en": ["q/1/de#0", "q/2/en#0"],
        "q/1/de": ["q/1/en#0", "q/2/en#0"],
        "q/2/en": ["q/2/de#0", "q/1/de#0"],
        "q/2/de": ["q/2/en#0", "q/1/de#0"],
    }
    assert ranking["rank"].tolist() == [1, 2] * 4
    np.testing.assert_allclose(
        ranking["cosine"], [0.96, 0.28, 0.96, 0.5376, 1.0, 0.28, 0.6, -0.352], atol=1e-12
    )


def test_a_passage_that_several_questions_share_counts_once_and_is_left_out_for_all_of_them():
    """As in XQuAD, where a paragraph has about five questions."""
    shared = EXAMPLES.assign(
        passages=[["Ana built the tower."], ["Der See ist 60 m tief."]] * 2
    ).iloc[[0, 2, 1, 3]]
    shared["language"] = ["en", "en", "de", "de"]
    ranking = rank_passages(shared, top_k=1, embedding=by_hand)
    assert ranked(ranking) == {
        "q/1/en": ["q/1/de#0"],
        "q/2/en": ["q/1/de#0"],
        "q/1/de": ["q/1/en#0"],
        "q/2/de": ["q/1/en#0"],
    }
    with pytest.raises(InputError, match="top_k must be at most 1, .* got 2"):
        rank_passages(shared, top_k=2, embedding=by_hand)


def test_contexts_have_the_passages_of_the_ranking_in_its_order():
    contexts = multilingual_contexts(EXAMPLES, rank_passages(EXAMPLES, top_k=2, embedding=by_hand))
    first = contexts.iloc[0]
    assert first["passages"] == ["Der See ist 60 m tief.", "Ana built the tower."]
    assert first["passage_ids"] == ["q/1/de#0", "q/2/en#0"]
    assert first["passage_languages"] == ["de", "en"]
    assert first["passage_scores"] == pytest.approx([0.96, 0.28])


RANKING = rank_passages(EXAMPLES, top_k=1, embedding=by_hand)


@pytest.mark.parametrize(("column", "value"), [("language", None), ("passages", "A text.")])
def test_a_row_that_is_no_example_is_refused_by_name(column, value):
    values = pd.Series([*EXAMPLES[column][:3], value], dtype=object)
    strange = EXAMPLES.assign(**{column: values})
    words = "a language, a question and passages in every row|passages must be a list"
    with pytest.raises(InputError, match=words):
        rank_passages(strange, embedding=by_hand)
    with pytest.raises(InputError, match=words):
        multilingual_contexts(strange, RANKING)


@pytest.mark.parametrize(
    ("change", "got"),
    [
        ({"passage_id": "q/9/en#0"}, "contains passages that no example has, such as 'q/9/en#0'"),
        ({"example_id": "q/1/en", "rank": 2}, "lacks examples, such as 'q/2/de'"),
    ],
)
def test_a_ranking_of_other_passages_or_questions_is_refused(change, got):
    other = pd.DataFrame([*RANKING.to_dict("records")[:-1], RANKING.iloc[-1].to_dict() | change])
    with pytest.raises(InputError, match=got):
        multilingual_contexts(EXAMPLES, other)


# ---- BM25 ------------------------------------------------------------------------------------------------------------

LAKES = EXAMPLES.assign(
    passages=[
        ["The lake is 60 m deep."],
        ["Der See ist 60 m tief."],
        ["Ana built the tower near the lake."],
        ["Ana baute den Turm."],
    ]
)


BM25S = [
    (
        1.2,
        0.75,
        [
            [1.694515, 0.0, 0.697591, 0.0],
            [0.0, 2.150786, 0.0, 0.0],
            [0.309561, 0.0, 1.413387, 0.0],
            [0.0, 0.0, 0.0, 1.875262],
        ],
    ),
    (
        2.0,
        0.3,
        [
            [1.253844, 0.0, 0.557051, 0.0],
            [0.0, 1.591458, 0.0, 0.0],
            [0.229057, 0.0, 1.104834, 0.0],
            [0.0, 0.0, 0.0, 1.282008],
        ],
    ),
]
"""k1, b and the scores that bm25s prints, for the texts in lower case and without punctuation."""


def scores_of(ranking):
    """A table of the scores: one row per question, one column per passage, both in the order of the examples."""
    wide = ranking.pivot(index="example_id", columns="passage_id", values="score")
    order = LAKES["example_id"]
    return wide.loc[order, [f"{example}#0" for example in order]].to_numpy()


@pytest.mark.parametrize(("k1", "b", "expected"), BM25S)
def test_bm25_equals_bm25s(k1, b, expected):
    """bm25s 0.3.16 with method="lucene", which has the same formula."""
    ranking = rank_bm25(LAKES, top_k=4, leave_own_out=False, k1=k1, b=b)
    np.testing.assert_allclose(scores_of(ranking), expected, atol=2e-6)


def test_bm25_by_hand():
    """Only "lake" and "the" are shared with the passage on the tower; two of four passages have each."""
    ranking = rank_bm25(LAKES, top_k=3).query("example_id == 'q/1/en'")
    lengths = {"lake": 6, "see": 6, "tower": 7, "turm": 4}
    saturation = 1.2 * (1 - 0.75 + 0.75 * 7 / (sum(lengths.values()) / 4))
    idf = np.log(1 + (4 - 2 + 0.5) / (2 + 0.5))
    # "lake" occurs once in the passage, and "the" twice.
    by_hand = idf * 1 / (1 + saturation) + idf * 2 / (2 + saturation)
    assert ranking["passage_id"].iloc[0] == "q/2/en#0"
    assert ranking["score"].iloc[0] == pytest.approx(by_hand)
    assert ranking["score"].tolist()[1:] == [0, 0]


def test_bm25_reads_chinese_characters_as_words_and_ignores_case():
    rows = {"example_id": ["a", "b"], "language": "zh", "question": ["LAKE 湖有多深", "谁建了塔"]}
    examples = pd.DataFrame(rows).assign(passages=[["湖深六十米"], ["塔是安娜建的"]])
    ranking = rank_bm25(examples, top_k=1, leave_own_out=False)
    assert ranking["passage_id"].tolist() == ["a#0", "b#0"]
    without_words = examples.assign(passages=[["…"], ["!"]])
    assert rank_bm25(without_words, top_k=1)["score"].tolist() == [0, 0]


def test_a_ranking_by_bm25_becomes_contexts():
    contexts = multilingual_contexts(LAKES, rank_bm25(LAKES, top_k=2))
    assert contexts["passage_ids"].iloc[0] == ["q/2/en#0", "q/1/de#0"]
    assert contexts["passage_scores"].iloc[0][1] == 0


# ---- languages -------------------------------------------------------------------------------------------------------


def test_centring_subtracts_the_mean_cosine_with_the_passages_of_the_language():
    options = {"top_k": 4, "leave_own_out": False, "embedding": by_hand}
    plain = rank_passages(EXAMPLES, **options)
    centred = rank_passages(EXAMPLES, **options, centre_languages=True)
    keys = ["example_id", "passage_id"]
    plain["language"] = plain["passage_id"].str.extract("/(..)#")
    means = plain.groupby(["example_id", "language"])["cosine"].transform("mean")
    plain["expected"] = plain["cosine"] - means
    both = centred.merge(plain, on=keys)
    np.testing.assert_allclose(both["cosine_x"], both["expected"], atol=1e-12)
    assert (centred.groupby("example_id")["cosine"].diff().fillna(-1) <= 1e-12).all()


def test_the_recorded_embeddings_give_the_recorded_ranking():
    examples = load_multilingual("sample-multilingual")
    ranking = rank_passages(examples, embedding=recorded_embedding)
    recorded = recorded_ranking()
    assert ranking["passage_id"].tolist() == recorded["passage_id"].tolist()
    np.testing.assert_allclose(ranking["cosine"], recorded["cosine"], atol=1e-4)
    with pytest.raises(InputError, match="only the questions and passages of sample-multilingual"):
        recorded_embedding(["Another question?"])
