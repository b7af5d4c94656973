"""Retrieval metrics against trec_eval's own test, its conventions, and other tools."""

import math

import numpy as np
import pandas as pd
import pytest

import ragnb
from ragnb.datasets import load_run
from ragnb.errors import InputError
from ragnb.metrics import METRICS, retrieval
from ragnb.scoring import score

NAMES = [name for name in METRICS if name.startswith("retrieval.")]

# ---- trec_eval's own test ----------------------------------------------------------------------

PRINTED = {
    "map": "retrieval.average_precision",
    "Rprec": "retrieval.r_precision",
    "recip_rank": "retrieval.reciprocal_rank",
    "ndcg": "retrieval.ndcg",
    "set_P": "retrieval.precision",
    "set_recall": "retrieval.recall",
}
AT_K = {
    "P": "retrieval.precision",
    "recall": "retrieval.recall",
    "ndcg_cut": "retrieval.ndcg",
    "map_cut": "retrieval.average_precision",
    "success": "retrieval.success",
}


def ours(name: str) -> str | None:
    """Our name for a measure of trec_eval; None for those that ragnb does not have."""
    before, _, k = name.rpartition("_")
    return f"{AT_K[before]}@{k}" if before in AT_K else PRINTED.get(name)


@pytest.mark.parametrize(
    ("file", "kept"),
    [
        ("out.test.aq", slice(None)),
        # trec_eval -c of results.trunc: nothing of topic 302, and 84 lines of topic 303
        ("out.test.aqc", [*range(500), *range(1000, 1084)]),
    ],
)
def test_every_topic_and_all_topics_have_the_digits_that_trec_eval_prints(
    data_folder, tmp_path, file, kept
):
    folder = data_folder / "trec_eval"
    lines = np.array((folder / "results.test").read_text().splitlines())[kept]
    (tmp_path / "results").write_text("\n".join(lines))
    frame = load_run(tmp_path / "results", folder / "qrels.test")
    frame["retrieved"] = [retrieved or [] for retrieved in frame["retrieved"]]
    rows = map(str.split, (folder / file).read_text().splitlines())
    printed = {(ours(name), topic): value for name, topic, value in rows if ours(name)}
    scores = score(frame, sorted({name for name, _ in printed}))
    per_topic = scores.set_index(["metric", "example_id"])["value"]
    means = ragnb.summarize(scores).set_index("metric")["mean"]
    found = {key: f"{value:.4f}" for key, value in per_topic.items()}
    found |= {(name, "all"): f"{value:.4f}" for name, value in means.items()}
    assert found == printed
    assert len(found) == 4 * 45


# ---- conventions -------------------------------------------------------------------------------

FRAME = pd.DataFrame(
    {
        "example_id": ["found", "missed", "nothing retrieved", "not run", "nothing relevant"],
        "system": "s",
        "retrieved": [["a", "b", "c"], ["x", "y"], [], None, ["a"]],
        "relevant": [["a", "c"], ["z"], ["z"], ["z"], []],
    }
)


@pytest.mark.parametrize("name", NAMES)
def test_what_was_not_found_is_0_and_what_cannot_be_measured_has_a_reason(name):
    scores = score(FRAME, name)
    assert scores["value"].iloc[0] > 0
    assert scores["value"].iloc[1:3].tolist() == [0.0, 0.0]
    assert scores["value"].iloc[3:].isna().all()
    assert scores["reason"].iloc[3:].tolist() == ["no retrieved", "no relevant passage"]
    zero = score(FRAME, name, when_none_relevant="zero")
    assert zero["value"].iloc[4] == 0


@pytest.mark.parametrize("name", NAMES)
def test_one_question_by_itself_has_the_value_that_it_has_in_a_frame(name):
    random = np.random.default_rng(1)
    options = [{"min_grade": 2}, {"unjudged": "removed"}, {"gain": "exponential"}, {"k": 3}]
    rows = [
        {
            "example_id": str(row),
            "retrieved": random.permutation(12)[: random.integers(13)].tolist(),
            "relevant": {int(i): int(random.integers(4)) for i in random.permutation(12)[:5]},
        }
        for row in range(30)
    ]
    for chosen in [{}, *options]:
        if set(chosen) <= set(METRICS[name].options):
            values = score(pd.DataFrame(rows), name, **chosen)["value"]
            alone = [METRICS[name].function(r["retrieved"], r["relevant"], **chosen) for r in rows]
            assert values.tolist() == pytest.approx(alone, nan_ok=True, abs=0)


def test_exponential_gain_is_that_of_scikit_learn():
    """scikit-learn's ndcg_score takes the gains themselves."""
    from sklearn.metrics import ndcg_score

    random = np.random.default_rng(2)
    for _ in range(20):
        grades = random.integers(4, size=8)
        grades[0] = 3
        order = random.permutation(8)
        ranks = np.argsort(order)
        names = {str(place): int(grade) for place, grade in enumerate(grades)}
        ranked = [str(place) for place in order]
        for k in (None, 3):
            value = retrieval.ndcg(ranked, names, k=k, gain="exponential")
            assert value == pytest.approx(ndcg_score([2.0**grades - 1], [-ranks], k=k))


def test_grades_below_the_smallest_and_unjudged_passages_count_as_not_relevant_or_are_removed():
    assert retrieval.recall(["a"], {"a": 1, "b": 2}, min_grade=2) == 0
    assert math.isnan(retrieval.recall(["b"], {"a": 1}, min_grade=2))
    graded = {"a": 1, "b": 0}
    assert retrieval.precision(["new", "a"], graded, k=1) == 0
    assert retrieval.precision(["new", "a"], graded, k=1, unjudged="removed") == 1
    assert retrieval.reciprocal_rank(["new", "b", "a"], graded, unjudged="removed") == 0.5
    assert retrieval.reciprocal_rank(["b", "a"], {"a": 1, "b": -1}, unjudged="removed") == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"retrieved": ["a", "b", "a"]}, "row 1 .*each id once, got 'a' more than once"),
        ({"retrieved": "a b"}, "row 1 .*retrieved must be a list of ids"),
        ({"relevant": "a"}, "row 1 .*relevant must be a list of ids"),
        ({"relevant": {"a": 0.5}}, "row 1 .*a grade must be a whole number, got 0.5 for 'a'"),
    ],
)
def test_a_message_names_the_row_and_what_is_wrong(change, message):
    rows = FRAME.iloc[:2].to_dict("records")
    with pytest.raises(InputError, match=message):
        score(pd.DataFrame([rows[0], rows[1] | change]), "retrieval.recall")


def test_options_are_checked():
    with pytest.raises(InputError, match="k"):
        score(FRAME, "retrieval.ndcg", k=0)
    for grade in (0, 2.0):
        with pytest.raises(InputError, match="min_grade must be a whole number of at least 1"):
            score(FRAME, "retrieval.recall", min_grade=grade)
    for name in ("retrieval.recall@0.5", "answer.f1@3", "retrieval.r_precision@3"):
        with pytest.raises(InputError, match=name):
            score(FRAME, name)
    with pytest.raises(InputError, match="needs a mapping from ids to grades"):
        score(FRAME, "retrieval.ndcg", unjudged="removed")


# ---- names with a cut-off ----------------------------------------------------------------------


def test_the_cut_off_is_an_option_or_part_of_the_name():
    named, chosen = score(FRAME, "retrieval.recall@1"), score(FRAME, "retrieval.recall", k=1)
    pd.testing.assert_frame_equal(named, chosen)
    assert named["metric"].unique().tolist() == ["retrieval.recall@1"]
    assert "|metric:retrieval.recall|k:1|" in named["signature"][0]
    several = ragnb.summarize(score(FRAME, ["retrieval.recall@1", "retrieval.recall@3"]))
    assert several["mean"].tolist() == pytest.approx([0.5 / 3, 1 / 3])
    assert "recall@1" in ragnb.tables.to_text(several)
