import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragnb
from ragnb.errors import InputError
from ragnb.experiments.multilingual import SYSTEMS, translation_requests
from ragnb.experiments.retrieval import multilingual_contexts, rank_passages

QUESTIONS = {
    ("1", "en"): "How deep is the lake?",
    ("1", "de"): "Wie tief ist der See?",
    ("2", "en"): "Who built the tower?",
    ("2", "de"): "Wer baute den Turm?",
}
PASSAGES = {
    ("1", "en"): "The lake is 60 m deep.",
    ("1", "de"): "Der See ist 60 m tief.",
    ("2", "en"): "Ana built the tower.",
    ("2", "de"): "Ana baute den Turm.",
}
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


def frame(**columns):
    rows = [
        {
            "example_id": f"q/{one}/{language}",
            "question_id": one,
            "language": language,
            "question": question,
        }
        for (one, language), question in QUESTIONS.items()
    ]
    passages = [[passage] for passage in PASSAGES.values()]
    shape = {
        "benchmark": "hand",
        "task": "reading",
        "references": [[["60 m"]]] * 2 + [[["Ana"]]] * 2,
        "passages": passages,
    }
    return pd.DataFrame(rows).assign(**{**shape, **columns})


EXAMPLES = frame()


def ranked(ranking):
    """Passage identifiers of each example, best first."""
    return {
        example: list(rows["passage_id"])
        for example, rows in ranking.groupby("example_id", sort=False)
    }


# ---- ranking -----------------------------------------------------------------------------------------------------------


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


def test_with_their_own_passages_questions_find_the_answer_at_home():
    ranking = rank_passages(EXAMPLES, top_k=1, leave_own_out=False, embedding=by_hand)
    assert ranked(ranking)["q/1/en"] == ["q/1/en#0"]
    assert rank_passages(EXAMPLES, top_k=4, leave_own_out=False, embedding=by_hand).shape == (
        16,
        4,
    )  # all there are


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
    with pytest.raises(
        InputError, match="needs top_k from 1 to 1, as every question can have; got 2"
    ):
        rank_passages(shared, top_k=2, embedding=by_hand)


def test_a_text_in_two_languages_is_two_passages():
    same = EXAMPLES.assign(passages=[["Ana built the tower."], ["Ana built the tower."], [], []])
    assert ranked(rank_passages(same, top_k=1, embedding=by_hand))["q/1/de"] == ["q/1/en#0"]


def test_equals_stand_in_the_order_of_the_examples():
    def all_alike(texts, kind):
        return np.array([(1.0, 0.0)] * len(texts))

    ranking = rank_passages(EXAMPLES, top_k=3, embedding=all_alike)
    assert ranked(ranking)["q/1/de"] == ["q/1/en#0", "q/2/en#0", "q/2/de#0"]
    turned = rank_passages(EXAMPLES.iloc[::-1], top_k=3, embedding=all_alike)
    assert ranked(turned)["q/1/de"] == ["q/2/de#0", "q/2/en#0", "q/1/en#0"]


def test_the_embedding_is_asked_once_for_questions_and_once_for_each_passage():
    asked = []

    def noted(texts, kind):
        asked.append((kind, texts))
        return by_hand(texts, kind)

    rank_passages(EXAMPLES, top_k=1, embedding=noted)
    assert asked == [("query", list(QUESTIONS.values())), ("passage", list(PASSAGES.values()))]


@given(
    st.integers(1, 4),
    st.lists(st.sets(st.integers(0, 6), max_size=4), min_size=1, max_size=5),
    st.integers(0, 2**32 - 1),
)
def test_contexts_are_those_of_a_plain_loop(top_k, owned, seed):
    directions = np.random.default_rng(seed).normal(size=(7, 3)).round(1) + 0.01
    vectors = {f"text {n}": one / np.linalg.norm(one) for n, one in enumerate(directions)}
    examples = pd.DataFrame(
        {
            "example_id": [f"e/{n}" for n in range(len(owned))],
            "language": "en",
            "question": [f"text {n}" for n in range(len(owned))],
            "passages": [[f"text {n}" for n in sorted(some, reverse=True)] for some in owned],
        }
    )
    pool = list(dict.fromkeys(text for texts in examples["passages"] for text in texts))
    others = [[text for text in pool if text not in texts] for texts in examples["passages"]]

    def rank():
        return rank_passages(
            examples,
            top_k=top_k,
            embedding=lambda texts, kind: np.array([vectors[one] for one in texts]),
        )

    if min(map(len, others)) < top_k:
        with pytest.raises(InputError, match="needs top_k from 1|needs passages"):
            rank()
        return
    expected = [
        sorted(texts, key=lambda text: -float(vectors[question] @ vectors[text]))[:top_k]
        for question, texts in zip(examples["question"], others, strict=True)
    ]
    contexts = multilingual_contexts(examples, rank())
    scores = [
        [vectors[q] @ vectors[text] for text in texts]
        for q, texts in zip(examples["question"], expected, strict=True)
    ]
    np.testing.assert_allclose(np.array(contexts["passage_scores"].tolist()), scores, atol=1e-12)
    if (
        len({round(score, 9) for row in scores for score in row}) == len(scores) * top_k
    ):  # no ties but for rounding
        assert contexts["passages"].tolist() == expected


# ---- contexts ----------------------------------------------------------------------------------------------------------


def test_contexts_hold_what_was_retrieved_best_first():
    contexts = multilingual_contexts(EXAMPLES, rank_passages(EXAMPLES, top_k=2, embedding=by_hand))
    assert contexts.columns.tolist() == [
        *EXAMPLES.columns,
        "passage_ids",
        "passage_languages",
        "passage_scores",
    ]
    first = contexts.iloc[0]
    assert first["passages"] == ["Der See ist 60 m tief.", "Ana built the tower."]
    assert first["passage_ids"] == ["q/1/de#0", "q/2/en#0"]
    assert first["passage_languages"] == ["de", "en"]
    assert first["passage_scores"] == pytest.approx([0.96, 0.28])
    assert EXAMPLES["passages"].tolist() == [
        [passage] for passage in PASSAGES.values()
    ]  # the examples are left alone


def test_a_retriever_of_one_s_own_names_passages_by_example_and_place():
    shared = EXAMPLES.assign(
        passages=[["The lake is 60 m deep.", "Ana built the tower."], ["Der See ist 60 m tief."]]
        * 2
    )
    shared["language"] = ["en", "de", "en", "de"]
    rows = [
        {"example_id": example, "rank": rank, "passage_id": name, "cosine": 12.5 - rank}
        for example in reversed(shared["example_id"].tolist())
        for rank, name in (
            (2, "q/2/de#0"),
            (1, "q/2/en#1"),
        )  # a later owner of a shared passage may be named as well
    ]
    contexts = multilingual_contexts(shared, pd.DataFrame(rows))
    assert contexts["example_id"].tolist() == shared["example_id"].tolist()
    assert contexts["passages"].tolist() == [["Ana built the tower.", "Der See ist 60 m tief."]] * 4
    assert contexts["passage_languages"].tolist() == [["en", "de"]] * 4
    assert contexts["passage_scores"].tolist() == [[11.5, 10.5]] * 4


def test_questions_may_have_as_many_passages_as_each_deserves():
    ranking = rank_passages(EXAMPLES, top_k=3, embedding=by_hand)
    some = ranking[(ranking["rank"] == 1) | (ranking["example_id"] == "q/2/de")]
    assert multilingual_contexts(EXAMPLES, some)["passages"].str.len().tolist() == [1, 1, 1, 3]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_examples_and_ranking_survive_a_round_trip_to_the_same_requests(ending, tmp_path):
    ranking = rank_passages(EXAMPLES, embedding=by_hand)
    contexts = multilingual_contexts(EXAMPLES, ranking)
    examples, ranks, saved = (
        ragnb.read_table(ragnb.write_table(each, tmp_path / f"{n}.{ending}"))
        for n, each in enumerate((EXAMPLES, ranking, contexts))
    )
    pd.testing.assert_frame_equal(
        rank_passages(examples, embedding=by_hand), ranking, check_dtype=False
    )
    read = multilingual_contexts(examples, ranks)
    positive = {"passage_scores": [[0.9, 0.8, 0.7]] * 4}
    for system in SYSTEMS:
        expected = translation_requests(contexts.assign(**positive), system)
        for frame_read in (read, saved):
            pd.testing.assert_frame_equal(
                translation_requests(frame_read.assign(**positive), system), expected
            )


def test_arrays_as_parquet_gives_them_serve_like_lists(tmp_path):
    EXAMPLES.drop(columns="references").to_parquet(tmp_path / "e.parquet")
    arrays = pd.read_parquet(tmp_path / "e.parquet")
    assert isinstance(arrays["passages"][0], np.ndarray)
    ranking = rank_passages(arrays, embedding=by_hand)
    pd.testing.assert_frame_equal(ranking, rank_passages(EXAMPLES, embedding=by_hand))
    expected = multilingual_contexts(EXAMPLES, ranking)["passages"].tolist()
    assert multilingual_contexts(arrays, ranking)["passages"].tolist() == expected


# ---- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["language", "passages"])
def test_a_missing_column_is_named(column):
    for call in (
        lambda some: rank_passages(some, embedding=by_hand),
        lambda some: multilingual_contexts(some, RANKING),
    ):
        with pytest.raises(
            InputError,
            match=f"a multilingual experiment needs the columns .*; got a frame without {column}",
        ):
            call(EXAMPLES.drop(columns=column))


RANKING = rank_passages(EXAMPLES, top_k=1, embedding=by_hand)
STRANGE = [
    ("language", None),
    ("question", None),
    ("passages", None),
    ("passages", "Der See ist 60 m tief."),
]


@pytest.mark.parametrize(("column", "value"), STRANGE, ids=str)
def test_a_row_that_is_no_example_is_refused_by_name(column, value):
    values = [*EXAMPLES[column][:3], value]
    strange = EXAMPLES.assign(**{column: pd.Series(values, dtype=object)})
    for call in (
        lambda: rank_passages(strange, embedding=by_hand),
        lambda: multilingual_contexts(strange, RANKING),
    ):
        with pytest.raises(
            InputError,
            match=f"needs a language and a question, .*; got .* as {column} of .*; mend it",
        ):
            call()


def test_an_example_that_is_there_twice_is_refused():
    twice = pd.concat([EXAMPLES, EXAMPLES.tail(1)])
    for call in (
        lambda: rank_passages(twice, embedding=by_hand),
        lambda: multilingual_contexts(twice, RANKING),
    ):
        with pytest.raises(
            InputError, match="needs each example once; got 'q/2/de' twice; drop one"
        ):
            call()


@pytest.mark.parametrize("top_k", [0, 4])
def test_a_number_of_passages_that_cannot_be_is_refused(top_k):
    with pytest.raises(
        InputError,
        match=r"rank_passages needs top_k from 1 to 3, as every question can have; got .*change it",
    ):
        rank_passages(EXAMPLES, top_k=top_k, embedding=by_hand)
    assert len(rank_passages(EXAMPLES, top_k=np.int64(3), embedding=by_hand)) == 12


def test_examples_without_passages_are_refused():
    for empty in (EXAMPLES.assign(passages=[[]] * 4), EXAMPLES.head(0)):
        with pytest.raises(
            InputError, match="needs passages; got examples without any; load some that have them"
        ):
            rank_passages(empty, embedding=by_hand)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda vectors: vectors * 3,
        lambda vectors: vectors[:-1],
    ],
    ids=["long", "too few"],
)
def test_vectors_of_another_length_are_refused(spoil):
    with pytest.raises(
        InputError,
        match=r"an embedding needs to give vectors of length 1, one a text; got .*divide each",
    ):
        rank_passages(EXAMPLES, embedding=lambda texts, kind: spoil(by_hand(texts, kind)))


@pytest.mark.parametrize(
    ("change", "got"),
    [
        ({"passage_id": "q/9/en#0"}, "the unknown passage 'q/9/en#0'"),
        ({"passage_id": None}, "the unknown passage None"),
        ({"example_id": "q/1/en", "rank": 2}, "none for 'q/2/de'"),
    ],
)
def test_a_ranking_of_other_passages_or_questions_is_refused(change, got):
    values = RANKING.iloc[-1].to_dict() | change
    other = pd.concat([RANKING.iloc[:-1].astype(object), pd.DataFrame([values]).astype(object)])
    with pytest.raises(
        InputError,
        match=f"needs a ranking of the examples' own passages; got {got}; rank them again",
    ):
        multilingual_contexts(EXAMPLES, other)


def test_a_passage_ranked_twice_for_one_question_is_refused():
    with pytest.raises(InputError, match="got 'q/1/de#0' twice for one question; rank them again"):
        multilingual_contexts(EXAMPLES, pd.concat([RANKING, RANKING.head(1).assign(rank=2)]))
