"""The seven metrics by hand, the published shape of lines and files, pairing, intervals, and text of every script."""

import json
import math
import re
import statistics
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint
from support.hostile import Reader

from ragnb.datasets import load_responses
from ragnb.errors import InputError
from ragnb.reports import multilingual_report
from ragnb.reports.multilingual import INTERVALS

NAN = math.nan
KEYS = ["em", "f1", "rlc", "rlc_ok", "cost", "cnbe", "semantic_score"]
METRICS = list(INTERVALS)

# ---- four systems by hand ----------------------------------------------------------------------------------------------

EXAMPLES = {  # example: language and reference
    "q1": ("en", "red green blue"),
    "q2": ("zh", "北京市"),
    "q3": ("hi", "नई दिल्ली"),
    "q4": ("en", "4429"),
}
SAID = {
    "direct": ["red", "上海", "मुंबई", "4429"],
    "multi": ["red green", "北京", "दिल्ली", None],
    "cross": ["Red, green, blue!", "北京市", "नई दिल्ली", "4429"],
    "lbrag": ["red green", "北京", "New Delhi", "4429 m"],
}
TOKENS = {
    "direct": [[]] * 4,
    "multi": [[]] * 4,
    "cross": [[100], [150, 50], [60, 40], []],
    "lbrag": [[20], [40], [10], []],
}
JUDGED = {
    "direct": [0.5, 0.0, 0.0, 1.0],
    "multi": [1.0, 1.0, NAN, NAN],
    "cross": [1.0] * 4,
    "lbrag": [0.75, 1.0, 1.0, 1.0],
}

BY_HAND = {  # EM, F1, RLC and CNBE of each example; RLC of "4429" is undefined, for it has no letter
    "unicode": {
        "direct": ([0, 0, 0, 1], [0.5, 0, 0, 1], [1, 1, 1, NAN], [NAN] * 4),
        "multi": ([0, 0, 0, NAN], [0.8, 0.8, 2 / 3, NAN], [1, 1, 1, NAN], [NAN] * 4),
        "cross": ([1] * 4, [1] * 4, [1, 1, 1, NAN], [0.005, 0.005, 0.01, NAN]),
        "lbrag": ([0] * 4, [0.8, 0.8, 0, 2 / 3], [1, 1, 0, 1], [0.015, 0.02, 0, NAN]),
    },
    # Hindi vanishes, so that all answers in it are right; its vowel signs are counted as no letters.
    "lbrag": {
        "direct": ([0, 0, 1, 1], [0.5, 0, 1, 1], [1, 1, 3 / 5, 1], [0] * 4),
        "multi": ([0, 0, 1, NAN], [0.8, 0.8, 1, NAN], [1, 1, 1 / 2, NAN], [0, 0, 0, NAN]),
        "cross": ([1] * 4, [1] * 4, [1, 1, 5 / 8, 1], [0.005, 0.005, 0, 0]),
        "lbrag": ([0] * 4, [0.8, 0.8, 0, 2 / 3], [1, 1, 1, 1], [0.015, 0.02, -0.1, 0]),
    },
}


def rows_of(system, said, tokens, judged, examples=EXAMPLES):
    rows = []
    for (example, (language, reference)), text, spent, similarity in zip(
        examples.items(), said, tokens, judged, strict=True
    ):
        row = {"example_id": example, "system": system, "language": language}
        row |= {"references": reference, "response": text, "judged_similarity": similarity}
        rows.append(row | {"translations": [{"text": "…", "token_count": n} for n in spent]})
    return rows


@pytest.fixture
def responses():
    return made()


def made():
    return pd.DataFrame(
        [row for name in SAID for row in rows_of(name, SAID[name], TOKENS[name], JUDGED[name])]
    )


@cache
def report_under(variant):
    return multilingual_report(made(), by="language", variant=variant)


def expected(variant, system):
    values = dict(zip(("em", "f1", "rlc", "cnbe"), BY_HAND[variant][system], strict=True))
    values["rlc_ok"] = [v if math.isnan(v) else float(v >= 0.6) for v in values["rlc"]]
    values["cost"] = [sum(spent) for spent in TOKENS[system]]
    unread = 0.0 if variant == "lbrag" else NAN
    values["semantic_score"] = [unread if math.isnan(value) else value for value in JUDGED[system]]
    return {key: [value for value in values[key] if not math.isnan(value)] for key in KEYS}


def cell(table, system, key, **where):
    where |= {"system": system, "metric": METRICS[KEYS.index(key)]}
    rows = table[np.logical_and.reduce([table[name] == value for name, value in where.items()])]
    assert len(rows) == 1
    return rows.iloc[0]


@pytest.mark.parametrize("variant", ["unicode", "lbrag"])
@pytest.mark.parametrize("system", SAID)
def test_means_deviations_and_intervals_are_those_of_the_values_by_hand(variant, system):
    report = report_under(variant)
    for key, values in expected(variant, system).items():
        row, n = cell(report.table, system, key), len(values)
        assert (row["n_scored"], row["n"]) == (n, 4), key
        moments = (statistics.mean(values), statistics.stdev(values)) if values else (NAN, NAN)
        assert (row["mean"], row["std"]) == pytest.approx(moments, nan_ok=True), key
        if key in ("em", "rlc_ok"):
            kind, known = "Wilson", proportion_confint(sum(values), n, method="wilson")
        elif len(set(values)) > 1:
            kind, known = "t", stats.t.interval(0.95, n - 1, moments[0], stats.sem(values))
            # No mean can lie beyond the bounds of its metric.
            known = np.clip(known, *{"cost": (0, None), "cnbe": (None, None)}.get(key, (0, 1)))
        else:
            assert row["problem"]
            continue
        assert row["interval"] == kind
        assert (row["low"], row["high"]) == pytest.approx(tuple(known))


def test_signatures_name_the_definitions():
    for variant, cnbe, unread in (("unicode", "ratio", False), ("lbrag", "lbrag", True)):
        table = report_under(variant).table
        f1, cost, judged = (
            cell(table, "cross", key)["signature"] for key in ("f1", "cnbe", "semantic_score")
        )
        assert f"|metric:answer.f1|variant:{variant}|lang:hi" in f1
        assert f"|variant:{cnbe}|baseline:direct|f1:{variant}|" in cost
        assert ("unscored:0" in judged) == unread


# ---- what was never measured -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["unicode", "lbrag"])
def test_a_similarity_that_nobody_judged_is_absent_and_never_0(responses, variant):
    report = multilingual_report(responses.drop(columns="judged_similarity"), variant=variant)
    row = cell(report.table, "cross", "semantic_score")
    assert (row["n"], row["n_scored"], row["problem"]) == (0, 0, "this metric was not requested")
    assert math.isnan(row["mean"])


def test_one_system_may_be_judged_alone_and_a_judge_that_was_never_read_was_asked(responses):
    responses.loc[responses["system"] != "cross", "judged_similarity"] = NAN
    responses["judge_reason"] = None
    responses.loc[responses["system"] == "lbrag", "judge_reason"] = "no JSON in the reply"
    table = multilingual_report(responses).table
    assert [cell(table, name, "semantic_score")["n"] for name in SAID] == [0, 0, 4, 4]
    assert cell(table, "lbrag", "semantic_score")["n_scored"] == 0
    published = multilingual_report(responses, variant="lbrag").table
    assert cell(published, "lbrag", "semantic_score")[["mean", "n_scored"]].tolist() == [0.0, 4]
    assert cell(published, "multi", "semantic_score")["n"] == 0


def test_an_unknown_cost_is_nan_and_no_translation_costs_nothing(responses):
    responses.loc[responses["system"] == "multi", "translations"] = None
    report = multilingual_report(responses)
    assert cell(report.table, "multi", "cost")["n_scored"] == 0
    direct = cell(report.table, "direct", "cost")
    assert direct[["mean", "std", "n_scored"]].tolist() == [0.0, 0.0, 4]
    assert math.isnan(cell(report.table, "multi", "cnbe")["mean"])
    unknown = multilingual_report(responses.drop(columns="translations"), variant="lbrag").table
    scored = {key: [cell(unknown, s, key)["n_scored"] for s in SAID] for key in ("cost", "cnbe")}
    assert scored == {"cost": [0] * 4, "cnbe": [4, 0, 0, 0]}


# ---- a published run ------------------------------------------------------------------------------------------------

RUN = {  # kanoes/LBRAG-NEW, experiments/results/20251213_1915: one question, zh_cn, gold answer "11.0 年份"
    "direct": ("7年。", [], 0.28571428571428575, 0.5, 0.0, 0.0, 0.0),
    "multi": ("11.0 年 [mkqa_3051930912491995402_nl]", [None] * 20, 0.2352941176470588, 0.1111111111111111, 0.0, 0.0, 1.0),
    "cross": ("11.0年 [mkqa_3051930912491995402_de]", [20.0] * 19 + [9.0], 0.2352941176470588, 0.1111111111111111, 389.0,
              -0.0001296148279363161, 1.0),
    "lbrag": ("11年 [mkqa_3051930912491995402_vi]。", [17.0, 12.0, None], 0.24242424242424243, 0.1, 29.0,
              -0.0014927601134497699, 1.0),
}  # fmt: skip


def test_an_answers_file_of_lbrag_gives_its_published_metrics_to_the_last_digit(tmp_path):
    lines = []
    for system, (said, tokens, *_, judged) in RUN.items():
        spent = [{"token_count": n} if n else {} for n in tokens]
        evidence = [
            {"translated_text": "…" if cost else None, "metadata": {"kappa": 0.5} | cost}
            for cost in spent
        ]
        record = {"sample_id": "mkqa_1_zh_cn", "sample_lang": "zh_cn", "system": system}
        record |= {"question": "?", "gold_answer": "11.0 年份", "pred_answer": said}
        lines.append(json.dumps(record | {"semantic_score": judged, "evidence": evidence}))
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    named = {"example_id": "sample_id", "language": "sample_lang", "references": "gold_answer"}
    named |= {"response": "pred_answer", "judged_similarity": "semantic_score"}
    frame = load_responses(path, named | {"translations": "evidence"})
    table = multilingual_report(frame, variant="lbrag").table
    for system, (_, _, f1, rlc, cost, cnbe, judged) in RUN.items():
        means = [0.0, f1, rlc, 0.0, cost, cnbe, judged]
        assert [cell(table, system, key)["mean"] for key in KEYS] == means
        row = cell(table, system, "f1")
        assert row["n"] == 1
        assert math.isnan(row["std"])  # a single value has no spread


COUNTED = """id,question,language,reference,system,answer,tokens
q1,Who?,en,Oslo,direct,Bergen,0
q2,Who?,en,Oslo,direct,Oslo,
q1,Who?,en,Oslo,cross,Oslo,50
q2,Who?,en,Oslo,cross,Oslo,"12,5"
"""


@pytest.mark.parametrize("column", ["translations", "token_count"])
def test_a_column_of_numbers_of_tokens_is_the_cost(tmp_path, column):
    path = tmp_path / "run.csv"
    path.write_text(COUNTED, encoding="utf-8")
    named = {"example_id": "id", "references": "reference", "response": "answer"}
    report = multilingual_report(load_responses(path, named | {column: "tokens"}))
    assert cell(report.table, "cross", "cost")["mean"] == 31.25
    assert cell(report.table, "cross", "cnbe")["mean"] == pytest.approx((1 / 50 + 0) / 2)
    assert cell(report.table, "direct", "cost")["n_scored"] == 1
    assert "token_count" not in repr(report)

    without = multilingual_report(load_responses(path, named))
    assert "Cost and CNBE are unscored for direct, cross. They need the column token_count" in repr(
        without
    )


# ---- what is refused -----------------------------------------------------------------------------


def test_bad_input_says_what_is_needed(responses):
    unmatched = r"got 3 unmatched \(multi q2, cross q2, lbrag q2\)"
    with pytest.raises(InputError, match=unmatched):
        multilingual_report(responses.query("system != 'direct' or example_id != 'q2'"))
    with pytest.raises(InputError, match="columns other than system and metric, got system"):
        multilingual_report(responses, by="system")


# ---- languages ---------------------------------------------------------------------------------------------------------


def test_languages_of_one_question_are_one_unit_in_the_whole_and_apart_in_the_cells():
    """40 questions in two languages, answered right in Chinese only if the number is even."""
    texts = {"zh": "北京", "th": "กรุงเทพ"}
    examples = {f"{k}/{code}": (code, text) for k in range(40) for code, text in texts.items()}
    said = [text for k in range(40) for text in ("?" if k % 2 else texts["zh"], texts["th"])]
    rows = rows_of("direct", ["x"] * 80, [[]] * 80, [0.0] * 80, examples)
    rows += rows_of("lbrag", said, [[10]] * 80, [1.0] * 80, examples)
    frame = pd.DataFrame(rows)
    frame["question_id"] = frame["example_id"].str.split("/").str[0]
    report = multilingual_report(frame, by="language")
    pooled = cell(report.table, "lbrag", "em")
    wanted = [0.75, 80, "cluster-robust t, 40 clusters"]
    assert pooled[["mean", "n", "interval"]].tolist() == wanted
    of_questions = [1.0 if k % 2 == 0 else 0.5 for k in range(40)]  # clusters of equal size
    known = stats.t.interval(0.95, 39, 0.75, stats.sem(of_questions))
    assert (pooled["low"], pooled["high"]) == pytest.approx(known)
    assert list(report.cells.columns) == ["system", "language", *report.table.columns[1:]]
    for language, right in (("zh", 20), ("th", 40)):
        row = cell(report.cells, "lbrag", "em", language=language)
        assert (row["mean"], row["n"], row["interval"]) == (right / 40, 40, "Wilson")
        limits = proportion_confint(right, 40, method="wilson")
        assert (row["low"], row["high"]) == pytest.approx(limits)
    assert len(multilingual_report(frame).cells) == 0


# ---- how it is shown ---------------------------------------------------------------------------------------------------


def test_html_shows_both_tables_with_spread_interval_and_denominator():
    text = Reader(report_under("unicode")._repr_html_()).text
    assert re.search(r"answer\.f1\s*0\.38\s*0\.48\s*\[0\.00, 1\.00\]\s*4 of 4", text)  # of direct
    assert all(title in text for title in ("Seven metrics", "The same by group"))
    assert "variant unicode; CNBE against direct" in text
