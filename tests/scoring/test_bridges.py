"""CNBE of a frame: pairs by example, the published numbers, and every way a pair can fail."""

import math

import pandas as pd
import pytest

from ragnb.errors import InputError
from ragnb.scoring import bridging, score
from ragnb.version import __version__

NAN = math.nan


def scored(systems, variant="unicode", **columns):
    """Scores of F1 and cost, from ``{system: {example: (f1, cost)}}``."""
    rows = [
        {"example_id": example, "system": system, "metric": metric, "value": value}
        for system, examples in systems.items()
        for example, both in examples.items()
        for metric, value in zip(("answer.f1", "cost.translation_tokens"), both, strict=True)
    ]
    frame = pd.DataFrame(rows).assign(language="zh")
    signature = "v|metric:" + frame["metric"] + f"|variant:{variant}|lang:zh"
    reason = frame["value"].isna().map({True: "no response", False: None})
    return frame.assign(signature=signature, reason=reason, **columns)


def values(rows, column="value"):
    return {(row["system"], row["example_id"]): row[column] for row in rows.to_dict("records")}


SYSTEMS = {
    "direct": {"q1": (0.25, 0.0), "q2": (0.5, 0.0), "q3": (NAN, 0.0), "q4": (0.0, 0.0)},
    "cross": {"q4": (1.0, 400.0), "q2": (0.25, 100.0), "q1": (0.75, 200.0), "q3": (1.0, 100.0)},
    "lbrag": {"q1": (0.75, 20.0), "q2": (0.5, 0.0), "q4": (NAN, 40.0)},
}


CNBE = [  # system, example, value of the ratio, value as published, reason
    ("cross", "q1", 0.0025, 0.0025, None),
    ("cross", "q2", -0.0025, -0.0025, None),
    ("cross", "q3", NAN, NAN, "direct: no response"),
    ("lbrag", "q1", 0.025, 0.025, None),
    ("lbrag", "q2", NAN, 0.0, "no translation"),
    ("lbrag", "q4", NAN, NAN, "no response"),
    ("direct", "q1", NAN, 0.0, "it is the baseline"),
    ("direct", "q3", NAN, NAN, "no response"),
]


@pytest.mark.parametrize("variant", ["ratio", "lbrag"])
def test_the_gain_over_the_same_example_is_divided_by_its_cost(variant):
    rows = bridging(scored(SYSTEMS).sample(frac=1, random_state=1), variant=variant)
    for system, example, ratio, lbrag, reason in CNBE:
        expected = ratio if variant == "ratio" else lbrag
        assert values(rows)[system, example] == pytest.approx(expected, nan_ok=True)
        found = values(rows, "reason")[system, example]
        assert found == reason if math.isnan(expected) else pd.isna(found)


@pytest.mark.parametrize(
    ("f1", "direct", "cost", "published"),
    [  # kanoes/LBRAG-NEW, experiments/results: cross and lbrag of 20251213_2254, lbrag of 20251214_0051
        (0.888888888888889, 0.28571428571428575, 389.0, 0.0015505773860529646),
        (0.24242424242424243, 0.28571428571428575, 29.0, -0.0014927601134497699),
        (0.2352941176470588, 0.28571428571428575, 29.0, -0.0017386264850767917),
    ],
)
def test_published_values_come_out_to_the_last_digit(f1, direct, cost, published):
    rows = bridging(
        scored({"direct": {"q": (direct, 0.0)}, "x": {"q": (f1, cost)}}), variant="lbrag"
    )
    assert rows["value"].tolist() == [0.0, published]


def test_rows_are_as_score_gives_them():
    rows = bridging(scored(SYSTEMS, question_id="q", template="t:1:ab"))
    alone = score(pd.DataFrame({"response": ["a"], "references": ["a"]}), "answer.f1")
    assert {*alone.columns, "system", "question_id", "template"} <= set(rows.columns)
    assert len(rows) == 11
    definition = "metric:cost.cnbe|variant:ratio|baseline:direct|f1:unicode"
    assert set(rows["signature"]) == {f"ragnb:{__version__}|{definition}|lang:zh|prompt:t:1:ab"}
    published = bridging(scored(SYSTEMS, "lbrag"), variant="lbrag")
    assert published["signature"].str.contains("f1:lbrag").all()


def test_an_unknown_cost_is_not_a_cost_of_nothing():
    frame = scored(
        {"direct": {"q": (0.5, NAN)}, "cross": {"q": (1.0, NAN)}, "multi": {"q": (1.0, 0.0)}}
    )
    for variant, baseline, multi in (("ratio", NAN, NAN), ("lbrag", 0.0, 0.0)):
        rows = bridging(frame, variant=variant)
        assert rows["value"].tolist() == pytest.approx([baseline, NAN, multi], nan_ok=True)
        assert rows["reason"][1] == "the cost is unknown"
    lost = frame[(frame["system"] != "cross") | (frame["metric"] == "answer.f1")]
    assert bridging(lost)["reason"][1] == "the cost is unknown"


FRAME = scored(SYSTEMS)
MIXED = pd.concat([FRAME, scored({"x": SYSTEMS["lbrag"]}, "lbrag")])


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (FRAME.query("system != 'direct' or example_id == 'q2'"), {},
         r"baseline 'direct' to every example, got 5 unmatched \(cross q4, cross q1, cross q3\)"),
        (pd.concat([FRAME] * 2), {}, "one row for each system and example_id, got 11 repeated"),
        (FRAME.query("metric == 'answer.f1'"), {}, "answer.f1 and cost.translation_tok"),
        (FRAME, {"variant": "unicode"}, "variant must be one of 'ratio', 'lbrag'"),
        (scored({"direct": {"q": (2.0, 0.0)}}), {}, r"cost.cnbe, row 0 \(q\): F1 must be between"),
        (MIXED, {}, "F1 of one variant, got lbrag and unicode"),
    ],
    ids=range(6),
)  # fmt: skip
def test_a_mistake_is_named_in_one_sentence(frame, options, message):
    with pytest.raises(InputError, match=message):
        bridging(frame, **options)
