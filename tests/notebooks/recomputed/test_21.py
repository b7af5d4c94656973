"""Numbers of notebook 21, recomputed from the recorded labels with statsmodels, scikit-learn and numpy."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.multitest import multipletests
from support.by_hand import contains, mid_p, tango, wilson
from support.printed import follow, printed

import ragnb
from ragnb import annotation

SYSTEMS = ("FiD", "ChatGPT")


@pytest.fixture(scope="module")
def answers():
    study = ragnb.load_study("evouna-nq", usable=True)
    return study[study["system"].isin(SYSTEMS)]


@pytest.fixture(scope="module")
def tags():
    """The set of tags of each answer: one row per question, one column per system."""
    (log,) = annotation.recorded_passes("error_analysis")
    labels = annotation.read_labels(log)
    return labels.assign(tags=labels["tags"].map(set)).pivot(
        index="example_id", columns="system", values="tags"
    )


def names_of(tags):
    """All tags, and None for any tag."""
    return [*sorted(set().union(*tags.to_numpy().ravel())), None]


def has(tags, name):
    return tags.map(lambda found: bool(found) if name is None else name in found)


def test_the_questions_on_which_both_answers_were_rejected(answers, tags):
    wide = answers.pivot(index="example_id", columns="system", values="verdict").astype(float)
    rejected = wide.index[wide.eq(0).all(axis=1)]
    assert f"{len(rejected)} of {len(wide)} questions" in printed("21", "rejected")
    assert set(tags.index) <= set(rejected)


def test_shares_of_the_tags(tags):
    shown, n = printed("21", "report"), len(tags)
    for name in names_of(tags):
        cells = [name or "(any tag)"]
        for system in SYSTEMS:
            k = int(has(tags, name)[system].sum())
            low, high = wilson(k, n)
            cells.append(f"{k} of {n} ({low:.0%} to {high:.0%})")
        assert " ".join(cells) in shown


def test_differences_by_mid_p_and_tango(tags):
    p_values = {}
    for name in names_of(tags):
        flags = has(tags, name)
        b = int((flags["ChatGPT"] & ~flags["FiD"]).sum())
        c = int((flags["FiD"] & ~flags["ChatGPT"]).sum())
        p_values[name] = mid_p(b, c) if b + c else 1.0
        low, high = tango(b, c, len(tags))
        shown = [(b - c) / len(tags), low, high, p_values[name]]
        follow("21", "differences", f" {name or '(any tag)'} ", shown)
    adjusted = multipletests(list(p_values.values()), method="holm")[1]
    assert min(adjusted) > 0.05
    least = min(p_values, key=p_values.get)
    assert least == "invented detail"
    follow("21", "differences", f" {least} ", [0.19, 0.04, 0.38, p_values[least], min(adjusted)])
    assert "0 show a difference after Holm's correction" in printed("21", "sentence")


def test_chatgpt_has_more_rejected_answers_that_contain_the_reference(answers):
    rejected = answers[answers["verdict"].astype(int) == 0]
    pairs = zip(rejected["response"], rejected["references"], strict=True)
    counts = rejected[[contains(said, parts) for said, parts in pairs]]["system"].value_counts()
    assert counts["ChatGPT"] > 10 * counts["FiD"]


def test_kappas_with_the_simulated_reader(tags):
    (log,) = annotation.recorded_passes("error_analysis")
    first = annotation.read_labels(log)["tags"].map(list).tolist()
    rng = np.random.default_rng(0)
    second = [[name for name in names if rng.random() > 0.25] for names in first]
    for name in names_of(tags)[:-1]:
        one, two = ([name in found for found in reader] for reader in (first, second))
        follow("21", "kappa", f" {name} ", [cohen_kappa_score(one, two)])


def test_a_judge_that_gives_one_tag_by_containment(answers, tags):
    pairs = answers.set_index(["example_id", "system"])
    found, given = [], []
    for (item, system), names in tags.stack().items():
        row = pairs.loc[(item, system)]
        found.append(contains(row["response"], row["references"]))
        given.append("label error" in names)
    both = int(np.sum(np.array(found) & np.array(given)))
    # The answers with the tag are to different questions, so they are independent.
    for metric, n in (("precision", sum(found)), ("recall", sum(given))):
        numbers = [both / n, *wilson(both, n), sum(given), sum(found), len(given)]
        follow("21", "rule", f" {metric} ", numbers)


def test_share_of_all_answers(answers, tags):
    shares = 1 - answers.groupby("system")["verdict"].mean().astype(float)
    for system in SYSTEMS:
        of_rejected = has(tags, "invented detail")[system].mean()
        numbers = [of_rejected, shares[system], of_rejected * shares[system]]
        follow("21", "wrong", f"{system} ", numbers)
