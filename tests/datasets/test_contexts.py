import math
import random
from collections import Counter
from itertools import chain

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ragnb.datasets.auditing import audit
from ragnb.datasets.contexts import build_contexts, ceil_share
from ragnb.datasets.rgb import load_rgb
from ragnb.errors import InputError

# The last is put together from published predictions, with four true passages each; the others are as published.
FILES = ("en_fact", "zh_fact", "zh_int", "zh_refine", "en_refine_first50")
NOISE = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
RATES = (0, 0.07, 0.1, 0.2, 0.28, 0.3, 0.4, 0.55, 0.6, 0.8, 0.99, 1)


def shown(examples, **options):
    return build_contexts(examples, **options)["passages"].tolist()


# ---- the released code's contexts, to the letter -----------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize("passage_num", [1, 5, 10])
@pytest.mark.parametrize("name", FILES)
def test_released_contexts_of_the_real_files_equal_the_independent_derivation(
    name, passage_num, rgb_file, raw_records, released
):
    examples, records = load_rgb(rgb_file(name)), raw_records(name)
    compared = 0
    for correct in (0.0, 0.2, 0.4) if name.endswith("fact") else (0.0,):
        rates = [
            rate
            for rate in NOISE
            if released.fits(passage_num, rate, correct) or not name.endswith("fact")
        ]
        got = shown(
            examples,
            noise_rate=rates,
            passage_num=passage_num,
            correct_rate=correct,
            order="released",
        )
        expected = [
            released.released_context(r, rate, passage_num, correct)
            for rate in rates
            for r in records
        ]
        assert got == expected
        compared += len(got)
    assert compared >= 6 * len(records)


def texts(prefix, low, high):
    return st.integers(low, high).map(lambda n: [f"{prefix} {k}" for k in range(n)])


def groups():
    return st.lists(st.integers(1, 4), min_size=1, max_size=6).map(
        lambda sizes: [[f"g{g} {k}" for k in range(n)] for g, n in enumerate(sizes)]
    )


def records():
    same = {"query": st.just("q"), "answer": st.just("a"), "negative": texts("neg", 0, 7)}
    base = st.fixed_dictionaries(same | {"positive": texts("pos", 0, 7)})
    integration = st.fixed_dictionaries(same | {"positive": groups()})
    fact = st.fixed_dictionaries(
        same | {"fakeanswer": st.just("f"), "positive": texts("pos", 0, 7)}
    ).map(
        lambda record: (
            record
            | {"positive_wrong": [text.replace("pos", "wrong") for text in record["positive"]]}
        )
    )
    one_file = st.one_of(
        *(st.lists(shape, min_size=1, max_size=3) for shape in (base, integration, fact))
    )
    return one_file.map(lambda rows: [row | {"id": number} for number, row in enumerate(rows)])


@given(records(), st.sampled_from(RATES), st.sampled_from((0, 0, 0.1, 0.4, 1)), st.integers(0, 9))
def test_released_contexts_of_made_up_files_equal_the_independent_derivation(
    released, write_rgb, rows, noise, correct, passage_num
):
    assume("positive_wrong" not in rows[0] or released.fits(passage_num, noise, correct))
    examples = load_rgb(write_rgb(rows))
    got = shown(
        examples, noise_rate=noise, passage_num=passage_num, correct_rate=correct, order="released"
    )
    assert got == [released.released_context(row, noise, passage_num, correct) for row in rows]


def test_building_contexts_leaves_the_examples_and_the_global_generator_alone(make, load):
    examples = load(make.integration(groups=(4, 4)))
    before = examples.to_dict("records")
    state = random.getstate()
    for order in ("released", "per_item"):
        build_contexts(examples, noise_rate=0.2, order=order)
    assert random.getstate() == state
    assert examples.to_dict("records") == before


@pytest.mark.data
def test_the_released_order_is_shared_by_noise_questions_and_not_by_integration_questions(rgb_file):
    """Groups are shuffled first, so 88 questions with two groups have 16 arrangements; in a noise file all share one."""
    integration = build_contexts(load_rgb(rgb_file("zh_int")), noise_rate=0.4, order="released")
    two = integration[integration["positive"].map(len) == 2]
    arrangements = {
        tuple(next((n for n, group in enumerate(groups) if text in group), -1) for text in shown)
        for groups, shown in zip(two["positive"], two["passages"], strict=True)
    }
    assert (len(two), len(arrangements)) == (88, 16)
    noise = build_contexts(load_rgb(rgb_file("zh_refine")), noise_rate=0.8, order="released")
    assert len({tuple(kinds) for kinds in noise["kinds"]}) == 1


@pytest.mark.data
@pytest.mark.parametrize(("name", "at_least"), [("zh_refine", 290), ("en_refine_first50", 49)])
def test_the_only_true_passage_of_five_always_stands_last_in_the_released_order(
    name, at_least, rgb_file
):
    kinds = build_contexts(load_rgb(rgb_file(name)), noise_rate=0.8, order="released")["kinds"]
    alone = [k for k in kinds if len(k) == 5 and k.count("positive") == 1]
    assert len(alone) >= at_least
    assert {k.index("positive") for k in alone} == {4}


def test_the_only_true_passage_of_five_stands_anywhere_in_the_per_item_order(make, load):
    contexts = build_contexts(load(*map(make.base, range(60))), noise_rate=0.8)
    assert {kinds.index("positive") for kinds in contexts["kinds"]} == {0, 1, 2, 3, 4}


@pytest.mark.data
def test_four_positives_make_noise_rate_0_the_same_as_a_fifth(rgb_file):
    examples = load_rgb(rgb_file("en_refine_first50"))
    assert shown(examples, noise_rate=0) == shown(examples, noise_rate=0.2)
    both = build_contexts(examples, noise_rate=[0, 0.2])
    at_zero = both[both["noise_rate"] == 0]["effective_noise_rate"]
    assert (at_zero > 0).all()


@pytest.mark.data
@pytest.mark.parametrize(("name", "few"), [("en_fact", 62), ("zh_fact", 59)])
def test_most_counterfactual_items_show_fewer_than_five_passages(name, few, rgb_file):
    contexts = build_contexts(load_rgb(rgb_file(name)))
    assert (contexts["n_passages"] < 5).sum() == few


# ---- which passages ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("positives", "negatives", "noise", "expected"),
    [
        (5, 5, 0.0, (5, 0)),
        (5, 5, 0.4, (3, 2)),
        (5, 5, 0.3, (3, 2)),  # 1.5 negatives are two
        (5, 5, 1.0, (0, 5)),
        (4, 5, 0.0, (4, 1)),  # negatives fill up
        (5, 1, 0.6, (4, 1)),  # positives fill up
        (5, 3, 1.0, (0, 3)),  # but never at noise rate 1
        (2, 1, 0.2, (2, 1)),  # both short: fewer are shown
        (0, 5, 0.0, (0, 5)),
        (5, 0, 0.8, (5, 0)),
    ],
)
def test_a_base_context_holds_the_positives_and_negatives_that_the_rate_asks_for(
    make, load, positives, negatives, noise, expected
):
    examples = load(make.base(positives=positives, negatives=negatives))
    context = build_contexts(examples, noise_rate=noise).iloc[0]
    assert (context["kinds"].count("positive"), context["kinds"].count("negative")) == expected
    assert context["n_passages"] == len(context["passages"]) == sum(expected)
    assert context["effective_noise_rate"] == pytest.approx(expected[1] / sum(expected))


@pytest.mark.parametrize(
    ("groups", "noise", "expected"),
    [
        ((3, 3), 0.0, [3, 2, 0]),  # firsts, seconds, one third: five
        ((1, 4), 0.0, [1, 4, 0]),
        ((3, 3), 0.4, [2, 1, 2]),
        ((3, 3), 1.0, [1, 1, 3]),  # one a group stays even at noise rate 1
        ((1, 1), 0.0, [1, 1, 3]),
        (
            (1, 1, 1, 1, 1, 1, 1),
            0.4,
            [1, 1, 1, 1, 1, 1, 1, 0],
        ),  # more groups than passages: all of them
    ],
)
def test_an_integration_context_takes_one_of_every_group_in_turn(
    make, load, groups, noise, expected
):
    context = build_contexts(load(make.integration(groups=groups)), noise_rate=noise).iloc[0]
    counts = [
        sum(f"keeper{g}x" in text for text in context["passages"]) for g in range(len(groups))
    ]
    assert [*counts, context["kinds"].count("negative")] == expected
    assert len(set(context["passages"])) == len(context["passages"])


@pytest.mark.parametrize(
    ("positives", "noise", "correct", "expected"),
    [
        (5, 0.0, 0.0, (5, 0, 0)),
        (5, 0.0, 0.4, (3, 2, 0)),
        (5, 0.4, 0.2, (2, 1, 2)),
        (3, 0.0, 0.4, (3, 0, 0)),  # the false ones use up every index
        (4, 0.0, 0.4, (3, 1, 0)),
        (5, 0.0, 1.0, (0, 5, 0)),
        (5, 1.0, 0.0, (0, 0, 5)),
    ],
)
def test_a_counterfactual_context_draws_false_passages_first(
    make, load, positives, noise, correct, expected
):
    context = build_contexts(
        load(make.fact(positives=positives)), noise_rate=noise, correct_rate=correct
    ).iloc[0]
    assert (
        tuple(context["kinds"].count(kind) for kind in ("wrong", "positive", "negative"))
        == expected
    )
    sheets = [
        text[-2]
        for text, kind in zip(context["passages"], context["kinds"], strict=True)
        if kind != "negative"
    ]
    assert len(set(sheets)) == len(sheets), "one passage in both its versions"


@pytest.mark.parametrize("shape", ["base", "integration", "fact"])
def test_kinds_name_the_list_that_each_passage_came_from(make, load, shape):
    record = getattr(make, shape)()
    context = build_contexts(load(record), noise_rate=0.4, correct_rate=0.2).iloc[0]
    flat = record["positive"] if shape != "integration" else list(chain(*record["positive"]))
    lists = {
        "positive": flat,
        "negative": record["negative"],
        "wrong": record.get("positive_wrong", []),
    }
    assert all(
        text in lists[kind]
        for text, kind in zip(context["passages"], context["kinds"], strict=True)
    )


@pytest.mark.parametrize(
    ("passage_num", "rate", "expected"),
    [
        (25, 0.28, 7),
        (25, 0.29, 8),
        (5, 0.2, 1),
        (5, 0.6, 3),
        (10, 0.3, 3),
        (10, 0.7, 7),
        (100, 0.07, 7),
        (5, 0, 0),
        (5, 1, 5),
    ],
)
def test_the_number_of_negatives_is_the_ceiling_of_the_decimal_as_written(
    passage_num, rate, expected
):
    assert ceil_share(passage_num, rate) == expected


@pytest.mark.parametrize("shape", ["base", "integration", "fact"])
@pytest.mark.parametrize("order", ["per_item", "released"])
def test_a_closed_book_context_is_empty(make, load, shape, order):
    context = build_contexts(load(getattr(make, shape)()), passage_num=0, order=order).iloc[0]
    assert context["passages"] == context["kinds"] == []
    assert context["n_passages"] == 0
    assert math.isnan(context["effective_noise_rate"])


def test_conditions_stand_beside_every_context(make, load):
    examples = load(make.fact(1), make.fact(2))
    contexts = build_contexts(examples, noise_rate=(0, 0.2), passage_num=4, correct_rate=0.25)
    assert contexts[["example_id", "noise_rate"]].values.tolist() == [
        ["mini/1", 0.0], ["mini/2", 0.0], ["mini/1", 0.2], ["mini/2", 0.2],
    ]  # fmt: skip
    assert set(contexts["passage_num"]) == {4}
    assert set(contexts["correct_rate"]) == {0.25}
    assert set(contexts["order"]) == {"per_item"}
    assert contexts.loc[0, list(examples.columns)].to_dict() == examples.iloc[0].to_dict()


# ---- the order of its own that each example has ------------------------------------------------------------------------


@given(st.integers(0, 7), st.integers(0, 7), st.sampled_from(RATES), st.integers(0, 9))
def test_both_orders_show_the_same_passages_of_a_base_example(
    make, load, positives, negatives, noise, passage_num
):
    examples = load(make.base(positives=positives, negatives=negatives))
    mine, theirs = (
        shown(examples, noise_rate=noise, passage_num=passage_num, order=o)[0]
        for o in ("per_item", "released")
    )
    assert Counter(mine) == Counter(theirs)


@pytest.mark.parametrize("shape", ["base", "integration", "fact"])
def test_a_context_does_not_depend_on_the_other_rows_or_their_order(make, load, shape):
    examples = load(*map(getattr(make, shape), range(12)))
    options = {"noise_rate": 0.4, "correct_rate": 0.2}
    alone = {
        i: shown(examples[examples["example_id"] == i], **options)[0]
        for i in examples["example_id"]
    }
    together = build_contexts(examples.sample(frac=1, random_state=5), **options)
    assert dict(zip(together["example_id"], together["passages"], strict=True)) == alone


@pytest.mark.parametrize(
    ("shape", "kind", "rates"),
    [
        ("base", "positive", (0, 0.2, 0.4, 0.6, 0.8)),
        ("integration", "positive", (0, 0.2, 0.4)),
        ("fact", "wrong", (0, 0.2, 0.4, 0.6, 0.8)),
    ],
)
def test_a_passage_keeps_its_place_at_every_noise_rate(make, load, shape, kind, rates):
    options = {"groups": (4, 4)} if shape == "integration" else {}
    contexts = build_contexts(
        load(*(getattr(make, shape)(n, **options) for n in range(30))), noise_rate=rates
    )
    assert set(contexts["n_passages"]) == {5}
    for _, of_example in contexts.groupby("example_id"):
        fewest = of_example.iloc[-1]  # the passages of this kind that are shown at every rate
        lasting = [
            text for text, k in zip(fewest["passages"], fewest["kinds"], strict=True) if k == kind
        ]
        places = {
            tuple(passages.index(text) for text in lasting) for passages in of_example["passages"]
        }
        assert len(places) == 1


@pytest.mark.parametrize("shape", ["base", "integration", "fact"])
def test_the_seed_changes_the_order_and_nothing_else_does(make, load, shape):
    examples = load(*map(getattr(make, shape), range(20)))
    assert shown(examples, seed=1) != shown(examples, seed=2)
    assert shown(examples, seed=1) == shown(examples, seed=1)
    assert shown(examples, seed=1, order="released") == shown(examples, seed=2, order="released")


# ---- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"noise_rate": 1.2}, r"noise_rate.*0 to 1.*1\.2"),
        ({"seed": "a"}, "seed needs a whole number; got 'a'"),
        ({"passage_num": -1}, "passage_num.*whole number.*-1"),
        ({"noise_rate": 0.8, "correct_rate": 0.4}, "noise_rate and correct_rate.*2 true.*only 1"),
        ({"order": "random"}, "order.*per_item.*released.*random"),
    ],
)
def test_a_bad_argument_is_refused_with_its_name_and_value(make, load, options, words):
    with pytest.raises(InputError, match=words):
        build_contexts(load(make.fact()), **options)


def test_a_frame_that_holds_no_examples_is_refused(make, load):
    with pytest.raises(InputError, match=r"build_contexts.*negative"):
        build_contexts(load(make.base()).drop(columns="negative"))


@pytest.mark.parametrize("use", [build_contexts, audit])
def test_missing_ids_of_examples_are_refused_with_their_number(make, load, use):
    examples = load(make.base(1), make.base(2), make.base(3))
    some = examples.assign(example_id=[None, None, "c"])
    with pytest.raises(InputError, match="example_id .* missing in 2 of 3 rows"):
        use(some)


@pytest.mark.parametrize("use", [build_contexts, audit])
@pytest.mark.parametrize("column", ["negative", "references"])
def test_a_missing_cell_is_refused_with_its_column_and_example(make, load, use, column):
    examples = load(make.base(1), make.base(2))
    examples[column] = [examples[column].iloc[0], None]
    with pytest.raises(InputError, match=f"question mini/2, column {column}.* None"):
        use(examples)


@pytest.mark.parametrize(
    ("shape", "cells", "words"),
    [
        (
            "base",
            {"positive": []},
            r"question mini/1 needs a group of passages in positive.*got \[\]",
        ),
        ("integration", {"positive": [[]]}, r"none empty; got \[\[\]\]"),
        ("fact", {"positive": [[]]}, "a true passage for each in positive_wrong; got 0 for 5"),
        ("fact", {"positive": [["a", "b"]]}, "got 2 for 5; see load_rgb"),
    ],
)
@pytest.mark.parametrize("use", [build_contexts, audit])
def test_malformed_passages_are_refused_with_the_name_of_the_example(
    make, load, use, shape, cells, words
):
    examples = load(getattr(make, shape)())
    for name, value in cells.items():
        examples[name] = [value]
    with pytest.raises(InputError, match=words):
        use(examples)


def test_a_question_without_true_passages_and_one_with_fewer_false_ones_are_shown(make, load):
    assert build_contexts(load(make.base()).assign(positive=[[[]]]))["kinds"].tolist() == [
        ["negative"] * 5
    ]
    fewer = load(make.fact()).assign(positive_wrong=[["wrong"]])
    assert build_contexts(fewer, passage_num=1)["kinds"].tolist() == [["wrong"]]
