"""Agreement of annotators against other libraries, examples by hand, and the coverage of its intervals."""

from itertools import combinations

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy.stats import sem, t
from sklearn.metrics import cohen_kappa_score
from support.labelling import (
    LANGUAGES,
    annotated,
    verdict_examples,
    verdicts,
)

from ragnb.annotation import (
    TASKS,
    agreement,
    disagreements,
    panel_agreement,
    read_labels,
    read_task,
)
from ragnb.errors import InputError
from ragnb.stats import agreement_interval, rate_interval

WORDS = ("correct", "incorrect", "refuse")
SENTENCES = {"documents": ["0a", "0b", "1a", "1b"], "response": ["a", "b"]}


def frame(annotator, values, field="verdict", task="verdict", **columns):
    """A frame of labels, as `read_labels` gives it; None is untouched."""
    blank = {asked.name: None for asked in TASKS[task].fields}
    rows = [
        {**blank, "item": f"i{n}", "annotator": annotator, "task": task, field: value, **columns}
        for n, value in enumerate(values)
    ]
    return pd.DataFrame(rows).astype(dict.fromkeys(blank, object))


def trace(annotator, sets, field="relevant"):
    return frame(annotator, sets, field, "trace", sentences=SENTENCES)


def measures(found, pair=None, field=None):
    rows = found[
        (found["pair"] == (pair or found["pair"].iloc[0]))
        & (found["field"] == (field or found["field"].iloc[0]))
    ]
    return rows.set_index("metric")


def drawn(seed, n=60, people=2, share=0.6):
    """Verdicts of several annotators, who often say what the first one does; some untouched."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 3, n)
    codes = np.stack(
        [np.where(rng.random(n) < share, first, rng.integers(0, 3, n)) for _ in range(people)],
        axis=1,
    )
    codes[rng.random(codes.shape) < 0.1] = -1
    return codes


def frames(codes):
    return [
        frame(f"p{k}", [None if c < 0 else WORDS[c] for c in codes[:, k]])
        for k in range(codes.shape[1])
    ]


# ---- items -------------------------------------------------------------------------------------------------------------


def test_verdicts_of_two_against_other_libraries():
    codes = drawn(1)
    found = measures(agreement(frames(codes)))
    both = codes[(codes >= 0).all(axis=1)]
    assert found.loc["Cohen's kappa", "mean"] == pytest.approx(cohen_kappa_score(*both.T))
    options = {"level_of_measurement": "nominal", "value_domain": range(3)}
    alpha = krippendorff.alpha(both.T.astype(float), **options)
    assert found.loc["Krippendorff's alpha", "mean"] == pytest.approx(alpha)
    same = int((both[:, 0] == both[:, 1]).sum())
    wilson, ac1 = rate_interval(same, len(both)), agreement_interval("Gwet's AC1", both)
    for name, known in (("percent agreement", wilson), ("Gwet's AC1", ac1)):
        row = found.loc[name, ["mean", "low", "high"]]
        assert row.tolist() == [known.estimate, known.low, known.high]
    assert set(found["n"]) == set(found["n_units"]) == {len(both)}
    assert set(found["n_unlabelled"]) == {int(((codes >= 0).sum(axis=1) == 1).sum())}


def test_three_annotators_have_a_row_for_all():
    codes = drawn(2, people=3)
    found = agreement(frames(codes))
    assert found["pair"].unique().tolist() == ["p0 - p1", "p0 - p2", "p1 - p2", "all"]
    rows = measures(found, "all")
    kept = codes[(codes >= 0).sum(axis=1) >= 2]
    ratings = np.where(kept < 0, np.nan, kept.astype(float))
    alpha = krippendorff.alpha(ratings.T, level_of_measurement="nominal")
    assert rows.loc["Krippendorff's alpha", "mean"] == pytest.approx(alpha)
    for name in ("Fleiss' kappa", "percent agreement"):
        known = agreement_interval(name, ratings).estimate
        assert rows.loc[name, "mean"] == pytest.approx(known)
    assert rows.loc["percent agreement", "n"] == len(kept)
    assert "Cohen's kappa" not in rows.index


def test_a_published_example_of_ac1_and_kappa():
    """Gwet (2008), table 2: 118 agree on yes, 5 and 2 differ."""
    one = ["correct"] * 118 + ["correct"] * 5 + ["incorrect"] * 2
    two = ["correct"] * 118 + ["incorrect"] * 5 + ["correct"] * 2
    fields = [{"name": "verdict", "options": ["correct", "incorrect"]}]
    task = read_task({"name": "mine", "fields": fields})
    given = [frame(name, values, task="verdict") for name, values in (("a", one), ("b", two))]
    for table in given:
        table.attrs["header"] = {"task": task.schema()}
    found = measures(agreement(given))
    assert found.loc["Gwet's AC1", "mean"] == pytest.approx(0.940776, abs=1e-6)
    assert found.loc["Cohen's kappa", "mean"] == pytest.approx(-0.023392, abs=1e-6)


def test_an_option_that_nobody_chose_is_no_category_of_ac1():
    """40 both correct, 6 and 4 differ, 10 both incorrect; by hand pa = 50/60, pi = 88/120, pe = 2 pi (1 - pi)."""
    one = ["correct"] * 40 + ["correct"] * 6 + ["incorrect"] * 4 + ["incorrect"] * 10
    two = ["correct"] * 40 + ["incorrect"] * 6 + ["correct"] * 4 + ["incorrect"] * 10
    pa, pi = 50 / 60, (46 + 44) / 120
    pe = (pi * (1 - pi) + (1 - pi) * pi) / (2 - 1)
    by_hand = (pa - pe) / (1 - pe)
    given = [frame("a", one), frame("b", two)]
    found = measures(agreement(given))  # the task has a third option, refuse
    assert found.loc["Gwet's AC1", "mean"] == pytest.approx(by_hand, abs=1e-12)
    clustered = measures(agreement(given, cluster={f"i{n}": n // 2 for n in range(60)}))
    assert clustered.loc["Gwet's AC1", "mean"] == pytest.approx(by_hand, abs=1e-12)


# ---- sentences ---------------------------------------------------------------------------------------------------------


def test_sets_of_sentences_by_hand():
    # Item 0: {0a, 0b} and {0a}; item 1: both none; item 2: {1a} and {1b}. Twelve sentences, three differ.
    ana, ben = trace("ana", [["0a", "0b"], [], ["1a"]]), trace("ben", [["0a"], [], ["1b"]])
    found = measures(agreement([ana, ben]))
    assert found.loc["percent agreement", "mean"] == pytest.approx(9 / 12)
    assert found.loc["mean overlap", "mean"] == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert found.loc["percent agreement", ["n", "n_units"]].tolist() == [12, 3]
    assert found.loc["mean overlap", ["n", "n_units"]].tolist() == [3, 3]
    yes = ([1, 1, 0, 0] + [0] * 4 + [0, 0, 1, 0], [1, 0, 0, 0] + [0] * 4 + [0, 0, 0, 1])
    assert found.loc["Cohen's kappa", "mean"] == pytest.approx(cohen_kappa_score(*yes))


# ---- items that belong together ----------------------------------------------------------------------------------------


def test_answers_to_one_question_are_one_unit():
    """With questions of five answers each, the interval of the agreement is that of the 40 means of questions."""
    rng = np.random.default_rng(6)
    agree = rng.random(200) < np.repeat(rng.choice([0.5, 0.98], 40), 5)
    given = [frame("a", ["correct"] * 200), frame("b", np.where(agree, "correct", "refuse"))]
    found = measures(agreement(given, cluster={f"i{n}": n // 5 for n in range(200)}))
    means = agree.reshape(40, 5).mean(axis=1)
    by_scipy = t.interval(0.95, 39, means.mean(), sem(means))
    assert found.loc["percent agreement", ["low", "high"]].tolist() == pytest.approx(by_scipy)
    assert found.loc["percent agreement", ["n", "n_units"]].tolist() == [200, 40]


# ---- logs --------------------------------------------------------------------------------------------------------------


def test_paths_sessions_and_frames_agree_with_each_other(tmp_path):
    said = verdicts("cirrc")
    ana, ben = (annotated(verdict_examples(), "verdict", name, tmp_path, said) for name in "ab")
    expected = agreement([ana, ben])
    both = pd.concat([read_labels(ana), read_labels(ben)])
    for logs in ([ana.log.path, str(ben.log.path)], [read_labels(ana), ben], [both], both):
        pd.testing.assert_frame_equal(agreement(logs), expected)


@pytest.mark.parametrize(
    ("logs", "message"),
    [
        (
            [frame("a", ["correct"])],
            "two or more annotators and one label per item and annotator, got a$",
        ),
        ([frame("a", ["correct"]), trace("b", [["0a"]])], "the same task, .*'verdict', 'trace'"),
        (
            [frame(name, ["correct"], fingerprint=name) for name in "ab"],
            "same texts, but those of 'i0'",
        ),
        ([frame(name, ["correct"]) for name in "ab"], "its cluster, got none for 'i0'"),
    ],
)
def test_what_cannot_be_compared_is_refused(logs, message):
    with pytest.raises(InputError, match=message):
        agreement(logs, cluster={"i1": "q"})


# ---- where they differ -------------------------------------------------------------------------------------------------


def test_the_most_disputed_items_come_first(tmp_path):
    words = {"ana": "cccc", "ben": "cic.", "李": "cirr"}
    logs = [
        annotated(verdict_examples(), "verdict", name, tmp_path, verdicts(given))
        for name, given in words.items()
    ]
    found = disagreements(logs)
    names = list(LANGUAGES)
    assert found["item"].tolist() == [names[3], names[1], names[2]]
    assert found["disagreement"].tolist() == pytest.approx([1, 2 / 3, 2 / 3])
    assert found["votes"].iloc[0] == {"ana": "correct", "李": "refuse"}
    assert found["sentence"].isna().all()


# ---- coverage ----------------------------------------------------------------------------------------------------------

ITEMS, LENGTH = 60, 4


def of_items(rng, n):
    """Yes or no of two annotators on four sentences of each item; how likely a yes is, and how alike they are, is its own."""
    yes, alike = rng.beta(1, 1, (n, 1)), rng.beta(2, 1, (n, 1))
    one = rng.random((n, LENGTH)) < yes
    two = np.where(rng.random((n, LENGTH)) < alike, one, rng.random((n, LENGTH)) < yes)
    return one, two


def coverage(trials, seed):
    """How often the intervals of kappa and of percent agreement hold the true value."""
    rng = np.random.default_rng(seed)
    one, two = of_items(rng, 400_000)
    true = {
        "Cohen's kappa": cohen_kappa_score(one.ravel(), two.ravel()),
        "percent agreement": (one == two).mean(),
    }
    held = dict.fromkeys(true, 0)
    for _ in range(trials):
        sets = [
            [
                [key for key, on in zip(SENTENCES["documents"], row, strict=True) if on]
                for row in said
            ]
            for said in of_items(rng, ITEMS)
        ]
        found = measures(agreement([trace("ana", sets[0]), trace("ben", sets[1])]))
        for name, value in true.items():
            held[name] += found.loc[name, "low"] <= value <= found.loc[name, "high"]
    return {name: count / trials for name, count in held.items()}


@pytest.mark.slow
def test_clustered_intervals_hold_the_truth_as_often_as_they_say():
    """Shares of agreement are as skewed here as in real labels, for which a plain t interval over 60 items holds 94 %."""
    for name, share in coverage(3000, seed=12).items():
        assert 0.925 < share < 0.965, name


def test_an_item_with_several_clusters_is_refused():
    logs = [
        frame(name, ["correct", "refuse"]).assign(topic=["x", topic])
        for name, topic in (("a", "y"), ("b", "z"))
    ]
    with pytest.raises(InputError, match="'topic', got 'y' and 'z' for 'i1'"):
        agreement(logs, cluster="topic")
    # A column of the labels, by item, has one row per annotator. Equal values are one cluster.
    column = pd.concat(logs).set_index("item")["topic"]
    with pytest.raises(InputError, match="one value of cluster, got 'y' and 'z' for 'i1'"):
        agreement(logs, cluster=column)
    equal = pd.Series(["x", "x", "y", "y"], index=["i0", "i0", "i1", "i1"])
    by_item = agreement(logs, cluster={"i0": "x", "i1": "y"})
    pd.testing.assert_frame_equal(agreement(logs, cluster=equal), by_item)


# ---- one annotator and a panel ---------------------------------------------------------------------


def panel_gap(codes):
    """Mean kappa of the columns after the first with each other, minus that with the first; by scikit-learn."""
    n = codes.shape[1]
    kappas = {
        pair: cohen_kappa_score(*codes[(codes[:, pair] >= 0).all(axis=1)][:, pair].T)
        for pair in combinations(range(n), 2)
    }
    with_first = np.mean([kappa for pair, kappa in kappas.items() if 0 in pair])
    between = np.mean([kappa for pair, kappa in kappas.items() if 0 not in pair])
    return with_first, between, between - with_first


def test_a_panel_and_one_annotator_by_hand_with_a_jackknife_over_clusters():
    codes = drawn(3, n=90, people=4)
    units = np.arange(90) // 2
    logs = [log.assign(question=units.astype(str)) for log in frames(codes)]
    found = panel_agreement(logs, "p0", cluster="question")
    rows = found[found["metric"] == "Cohen's kappa"].set_index("agreement")
    whole = np.array(panel_gap(codes))
    left_out = np.array([panel_gap(codes[units != unit]) for unit in range(45)])
    half = t.ppf(0.975, 44) * sem(45 * whole - 44 * left_out)
    names = ["with p0", "between the others", "difference"]
    assert rows.index.tolist() == names
    assert rows["mean"].to_numpy() == pytest.approx(whole)
    assert rows["low"].to_numpy() == pytest.approx(whole - half)
    assert rows["high"].to_numpy() == pytest.approx(whole + half)
    assert rows["n_pairs"].tolist() == [3, 3, 6]
    assert (rows["n_units"] == 45).all()


def test_the_means_of_a_panel_are_those_of_the_pairs():
    logs = frames(drawn(5, n=70, people=4))
    pairs = agreement(logs)
    for metric, rows in panel_agreement(logs, "p2").groupby("metric"):
        of_pairs = pairs[(pairs["metric"] == metric) & (pairs["pair"] != "all")]
        is_with = of_pairs["pair"].str.contains("p2")
        means = rows.set_index("agreement")["mean"]
        assert means["with p2"] == pytest.approx(of_pairs.loc[is_with, "mean"].mean())
        assert means["between the others"] == pytest.approx(of_pairs.loc[~is_with, "mean"].mean())


def test_sentences_of_an_item_are_one_unit_of_a_panel():
    sets = [[["0a"], ["0b"], ["1a"]], [["0a"], ["0b", "1b"], []], [["0a"], ["1b"], ["1a"]]]
    logs = [trace(f"p{k}", chosen) for k, chosen in enumerate(sets)]
    found = panel_agreement(logs, "p0")
    rows = found[(found["field"] == "relevant") & (found["metric"] == "percent agreement")]
    n_keys = 3 * 4
    assert (rows["n"] >= n_keys).all()
    assert (rows["n_units"] == 3).all()


@pytest.mark.parametrize(
    ("people", "annotator", "message"),
    [
        (3, "p7", "annotator must be one of p0, p1, p2, got 'p7'"),
        (2, "p0", "two or more annotators"),
    ],
)
def test_a_panel_needs_a_known_annotator_and_two_others(people, annotator, message):
    with pytest.raises(InputError, match=message):
        panel_agreement(frames(drawn(1, people=people)), annotator)
