import numpy as np
import pandas as pd
import pytest

from ragnb.errors import InputError
from ragnb.experiments import multilingual_contexts, rank_passages

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
