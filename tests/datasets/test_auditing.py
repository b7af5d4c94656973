from functools import cache

import pytest

from ragnb.datasets.benchmarks import load_rgb
from ragnb.datasets.contexts import audit


@pytest.fixture(scope="module")
def audited(rgb_file):
    return cache(lambda name: audit(load_rgb(rgb_file(name))))


def found(frame, issue):
    return frame[frame["issue"] == issue]["example_id"].tolist()


# ---- what the real files hide ------------------------------------------------------------------------------------------


@pytest.mark.data
def test_zh_int_has_twelve_items_whose_groups_are_unlike_their_parts_and_two_with_too_many(
    audited, raw_records
):
    report = audited("zh_int")
    unlike = [
        f"zh_int/{r['id']}" for r in raw_records("zh_int") if len(r["positive"]) != len(r["answer"])
    ]
    many = [f"zh_int/{r['id']}" for r in raw_records("zh_int") if len(r["positive"]) > 5]
    assert (len(unlike), len(many)) == (12, 2)
    assert found(report, "groups_unlike_parts") == unlike
    assert found(report, "more_groups_than_passages") == many


@pytest.mark.data
def test_zh_fact_has_three_false_answers_that_hold_the_true_one_and_three_items_without_negatives(
    audited, raw_records
):
    report = audited("zh_fact")
    assert found(report, "false_answer_holds_true") == ["zh_fact/0", "zh_fact/7", "zh_fact/82"]
    bare = [f"zh_fact/{r['id']}" for r in raw_records("zh_fact") if not r["negative"]]
    assert len(bare) == 3
    assert found(report, "no_negatives") == bare


@pytest.mark.data
@pytest.mark.parametrize(("name", "few"), [("en_fact", 62), ("zh_fact", 59)])
def test_counterfactual_items_with_few_passages_are_listed(name, few, audited, raw_records):
    short = [f"{name}/{r['id']}" for r in raw_records(name) if len(r["positive_wrong"]) < 5]
    assert len(short) == few
    assert found(audited(name), "few_passages") == short


@pytest.mark.data
def test_all_fifty_items_with_four_positives_show_more_noise_than_named(audited):
    report = audited("en_refine_first50")
    assert len(found(report, "noise_differs")) == 50


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
