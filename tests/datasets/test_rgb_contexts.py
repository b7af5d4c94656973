from functools import cache

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.released_contexts import fits, released_context

from ragnb.datasets import audit, build_contexts, load_rgb
from ragnb.datasets.rgb_contexts import ceil_share
from ragnb.errors import InputError

# The last is put together from published predictions, with four true passages each; the others are as published.
FILES = ("en_fact", "zh_fact", "zh_int", "zh_refine", "en_refine_first50")
NOISE = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
RATES = (0, 0.07, 0.1, 0.2, 0.28, 0.3, 0.4, 0.55, 0.6, 0.8, 0.99, 1)


def shown(examples, **options):
    return build_contexts(examples, **options)["passages"].tolist()


# ---- the released code's contexts, to the letter -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("passage_num", "rate", "expected"),
    [(25, 0.28, 7), (25, 0.29, 8), (5, 0.6, 3), (10, 0.7, 7), (100, 0.07, 7), (5, 0, 0), (5, 1, 5)],
)
def test_the_number_of_negatives_is_the_ceiling_of_the_decimal_as_written(
    passage_num, rate, expected
):
    assert ceil_share(passage_num, rate) == expected


@pytest.mark.data
@pytest.mark.parametrize("name", FILES)
def test_released_contexts_of_the_real_files_equal_the_independent_derivation(
    name, rgb_file, raw_records
):
    examples, records = load_rgb(rgb_file(name)), raw_records(name)
    fact = name.endswith("fact")
    passage_num, compared = 5, 0
    for correct in (0.0, 0.2, 0.4) if fact else (0.0,):
        rates = [rate for rate in NOISE if fits(passage_num, rate, correct) or not fact]
        options = {"passage_num": passage_num, "correct_rate": correct, "order": "released"}
        got = shown(examples, noise_rate=rates, **options)
        made = [released_context(r, rate, passage_num, correct) for rate in rates for r in records]
        assert got == made
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
    base = same | {"positive": texts("pos", 0, 7)}
    fact = st.fixed_dictionaries(base | {"fakeanswer": st.just("f")}).map(with_wrong)
    integration = st.fixed_dictionaries(same | {"positive": groups()})
    shapes = (st.fixed_dictionaries(base), integration, fact)
    one_file = st.one_of(*(st.lists(shape, min_size=1, max_size=3) for shape in shapes))
    return one_file.map(lambda rows: [row | {"id": number} for number, row in enumerate(rows)])


def with_wrong(record):
    wrong = [text.replace("pos", "wrong") for text in record["positive"]]
    return record | {"positive_wrong": wrong}


@given(records(), st.sampled_from(RATES), st.sampled_from((0, 0, 0.1, 0.4, 1)), st.integers(0, 9))
def test_released_contexts_of_made_up_files_equal_the_independent_derivation(
    write_rgb, rows, noise, correct, passage_num
):
    assume("positive_wrong" not in rows[0] or fits(passage_num, noise, correct))
    options = {"passage_num": passage_num, "correct_rate": correct, "order": "released"}
    got = shown(load_rgb(write_rgb(rows)), noise_rate=noise, **options)
    assert got == [released_context(row, noise, passage_num, correct) for row in rows]


# ---- the order of its own that each example has ------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["base", "integration", "fact"])
def test_a_context_does_not_depend_on_the_other_rows_or_their_order(make, load, shape):
    examples = load(*map(getattr(make, shape), range(12)))
    options = {"noise_rate": 0.4, "correct_rate": 0.2}
    rows = {name: examples[examples["example_id"] == name] for name in examples["example_id"]}
    alone = {name: shown(row, **options)[0] for name, row in rows.items()}
    together = build_contexts(examples.sample(frac=1, random_state=5), **options)
    assert dict(zip(together["example_id"], together["passages"], strict=True)) == alone
    assert shown(examples, seed=1) != shown(examples, seed=2)
    assert shown(examples, seed=1, order="released") == shown(examples, seed=2, order="released")


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
    examples = load(*(getattr(make, shape)(n, **options) for n in range(30)))
    contexts = build_contexts(examples, noise_rate=rates)
    assert set(contexts["n_passages"]) == {5}
    for _, rows in contexts.groupby("example_id"):
        last = rows.iloc[-1]  # it has the passages of this kind that are shown at every rate
        both = zip(last["passages"], last["kinds"], strict=True)
        lasting = [text for text, shown_kind in both if shown_kind == kind]
        assert len({tuple(map(passages.index, lasting)) for passages in rows["passages"]}) == 1


# ---- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"noise_rate": 1.2}, r"noise_rate must be between 0 and 1, got 1\.2"),
        (
            {"noise_rate": 0.8, "correct_rate": 0.4},
            "noise_rate and correct_rate.*requires 2 true passages, but .* only 1 ",
        ),
    ],
)
def test_a_bad_argument_is_refused_with_its_name_and_value(make, load, options, words):
    with pytest.raises(InputError, match=words):
        build_contexts(load(make.fact()), **options)


def test_a_missing_cell_is_refused_with_its_column_and_example(make, load):
    examples = load(make.base(1)).assign(negative=None)
    with pytest.raises(InputError, match="the column negative must contain lists, .* got None"):
        build_contexts(examples)


@pytest.fixture(scope="module")
def audited(rgb_file):
    return cache(lambda name: audit(load_rgb(rgb_file(name))))


# ---- what the real files hide ------------------------------------------------------------------------------------------

REAL = [  # file, issue, how many, and the records that have it, or their ids
    ("zh_int", "groups_unlike_parts", 12, lambda r: len(r["positive"]) != len(r["answer"])),
    ("zh_int", "more_groups_than_passages", 2, lambda r: len(r["positive"]) > 5),
    ("zh_fact", "false_answer_holds_true", 3, lambda r: r["id"] in (0, 7, 82)),
    ("zh_fact", "no_negatives", 3, lambda r: not r["negative"]),
    ("zh_fact", "few_passages", 59, lambda r: len(r["positive_wrong"]) < 5),
    ("en_fact", "few_passages", 62, lambda r: len(r["positive_wrong"]) < 5),
    ("en_refine_first50", "noise_differs", 50, lambda r: True),
]


@pytest.mark.data
@pytest.mark.parametrize(("name", "issue", "n", "has_it"), REAL)
def test_the_issues_of_the_real_files_are_found(name, issue, n, has_it, audited, raw_records):
    expected = [f"{name}/{record['id']}" for record in raw_records(name) if has_it(record)]
    assert len(expected) == n
    report = audited(name)
    assert report[report["issue"] == issue]["example_id"].tolist() == expected


# ---- each issue in miniature -------------------------------------------------------------------------------------------


NARROW = {"positive": ["Ada Quill", "ADA\u202fQUILL", "x", "y", "z"],
          "negative": ["n", "A.\u00a0Quill", "n", "n", "n"]}  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "options", "expected"),
    [
        ("base", {}, {}),
        ("integration", {"groups": (3, 3)}, {}),
        ("base", {"positives": 2, "negatives": 1}, {
            "few_passages": "3 at 0, 3 at 0.2, 3 at 0.4, 3 at 0.6, 3 at 0.8, 1 at 1",
            "noise_differs": "1/3 at 0, 1/3 at 0.2, 1/3 at 0.4, 1/3 at 0.6, 1/3 at 0.8",
        }),
        ("base", {"positives": 4}, {"noise_differs": "1/5 at 0"}),
        ("base", {"negatives": 4}, {"few_passages": "4 at 1"}),
        ("integration", {"groups": (1, 1)}, {"noise_differs": "3/5 at 0, 3/5 at 0.2, 3/5 at 0.4"}),
        ("fact", {"negatives": 0}, {"no_negatives": "negative is empty"}),
        ("base", {"negative": ["none", "ada quill's hat", "n", "n", "A. QUILL", "n"]},
         {"negative_holds_answer": "negative 1, 4"}),
        ("base", {"positive": ["Ada Quill", "nobody", "A. Quill", "Quill, Ada", "a. quill"]},
         {"positive_lacks_answer": "positive 1, 3"}),
        ("base", NARROW, {
            "positive_lacks_answer": "positive 2, 3, 4",
            "negative_holds_answer": "negative 1",
            "answer_needs_folding": "positive 1, negative 1",
        }),
        # A passage that refuses or thinks is only a passage.
        ("base", {"negative": ["insufficient information", "信息不足", "<think>none</think>", *"nn"]}, {}),
        ("base", {"positive": ["Insufficient information: A. Quill", "<think>Ada Quill</think>",
                               *["A. Quill"] * 3]}, {}),
        ("fact", {"fakeanswer": "insufficient information"}, {}),
        ("fact", {"fakeanswer": ["Westhaven", "Northeastport"]},
         {"false_answer_holds_true": "'Northeastport' for [['Eastport']]"}),
        ("integration", {"groups": (3, 3), "answer": ["keeper0x", "keeper1x", "keeper0x"]},
         {"groups_unlike_parts": "2 groups, 3 parts"}),
        ("integration", {"groups": (1,) * 6}, {
            "more_groups_than_passages": "6 groups, 5 passages",
            "noise_differs": "0/6 at 0.2, 0/6 at 0.4",
        }),
    ],
)  # fmt: skip
def test_an_issue_is_reported_with_its_detail_and_no_other(make, load, shape, options, expected):
    report = audit(load(getattr(make, shape)(9, **options)))
    assert dict(zip(report["issue"], report["detail"], strict=True)) == expected
    assert set(report["example_id"]) <= {"mini/9"}
