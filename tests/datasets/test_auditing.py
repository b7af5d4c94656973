from functools import cache

import pytest

from ragnb.datasets.rgb import load_rgb
from ragnb.datasets.rgb_contexts import audit


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
