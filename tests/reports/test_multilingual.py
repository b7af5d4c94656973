"""The seven metrics by hand, the published shape of lines and files, pairing, intervals, and text of every script."""

import json
import math
import statistics

import pandas as pd
import pytest
from hostile import HOSTILE, Reader, visible
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

import ragnb
from ragnb.datasets.predictions import load_responses
from ragnb.errors import InputError
from ragnb.reports import MultilingualReport, multilingual_report
from ragnb.reports.multilingual import FIELDS

NAN = math.nan
KEYS = [field.key for field in FIELDS]
METRICS = [field.metric for field in FIELDS]

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

BY_HAND = {  # values of each example; RLC of "4429" is undefined, for it holds no letter
    "unicode": {
        "direct": {
            "em": [0, 0, 0, 1],
            "f1": [0.5, 0, 0, 1],
            "rlc": [1, 1, 1, NAN],
            "cnbe": [NAN] * 4,
        },
        "multi": {
            "em": [0, 0, 0, NAN],
            "f1": [0.8, 0.8, 2 / 3, NAN],
            "rlc": [1, 1, 1, NAN],
            "cnbe": [NAN] * 4,
        },
        "cross": {
            "em": [1] * 4,
            "f1": [1] * 4,
            "rlc": [1, 1, 1, NAN],
            "cnbe": [0.005, 0.005, 0.01, NAN],
        },
        "lbrag": {
            "em": [0] * 4,
            "f1": [0.8, 0.8, 0, 2 / 3],
            "rlc": [1, 1, 0, 1],
            "cnbe": [0.015, 0.02, 0, NAN],
        },
    },
    "lbrag": {  # Hindi vanishes, so that all answers in it are right; its vowel signs are counted as no letters
        "direct": {
            "em": [0, 0, 1, 1],
            "f1": [0.5, 0, 1, 1],
            "rlc": [1, 1, 3 / 5, 1],
            "cnbe": [0] * 4,
        },
        "multi": {
            "em": [0, 0, 1, NAN],
            "f1": [0.8, 0.8, 1, NAN],
            "rlc": [1, 1, 1 / 2, NAN],
            "cnbe": [0, 0, 0, NAN],
        },
        "cross": {
            "em": [1] * 4,
            "f1": [1] * 4,
            "rlc": [1, 1, 5 / 8, 1],
            "cnbe": [0.005, 0.005, 0, 0],
        },
        "lbrag": {
            "em": [0] * 4,
            "f1": [0.8, 0.8, 0, 2 / 3],
            "rlc": [1, 1, 1, 1],
            "cnbe": [0.015, 0.02, -0.1, 0],
        },
    },
}


def rows_of(system, said, tokens, judged, examples=EXAMPLES):
    return [
        {"example_id": example, "system": system, "language": language, "references": reference, "response": text,
         "translations": None if spent is None else [{"text": "…", "token_count": n} for n in spent],
         "judged_similarity": similarity}
        for (example, (language, reference)), text, spent, similarity in zip(examples.items(), said, tokens, judged, strict=True)
    ]  # fmt: skip


@pytest.fixture
def responses():
    return pd.DataFrame(
        [row for name in SAID for row in rows_of(name, SAID[name], TOKENS[name], JUDGED[name])]
    )


def expected(variant, system):
    values = dict(BY_HAND[variant][system])
    values["rlc_ok"] = [
        value if math.isnan(value) else float(value >= 0.6) for value in values["rlc"]
    ]
    values["cost"] = [sum(spent) for spent in TOKENS[system]]
    unread = 0.0 if variant == "lbrag" else NAN
    values["semantic_score"] = [unread if math.isnan(value) else value for value in JUDGED[system]]
    return {key: [value for value in values[key] if not math.isnan(value)] for key in KEYS}


def cell(table, system, key, **where):
    rows = table[
        (table["system"] == system)
        & (table["metric"] == dict(zip(KEYS, METRICS, strict=True))[key])
    ]
    for name, value in where.items():
        rows = rows[rows[name] == value]
    assert len(rows) == 1
    return rows.iloc[0]


@pytest.mark.parametrize("variant", ["unicode", "lbrag"])
@pytest.mark.parametrize("system", SAID)
def test_means_deviations_and_intervals_are_those_of_the_values_by_hand(responses, variant, system):
    report = multilingual_report(responses, variant=variant)
    for key, values in expected(variant, system).items():
        row = cell(report.table, system, key)
        assert (row["n_scored"], row["n"]) == (len(values), 4), key
        assert row["mean"] == pytest.approx(
            statistics.mean(values) if values else NAN, nan_ok=True
        ), key
        assert row["std"] == pytest.approx(
            statistics.stdev(values) if values else NAN, nan_ok=True
        ), key
        if key in ("em", "rlc_ok"):
            assert (row["low"], row["high"]) == pytest.approx(
                proportion_confint(sum(values), len(values), method="wilson")
            )
            assert row["interval"] == "Wilson"
        elif len(set(values)) > 1:
            known = stats.t.interval(
                0.95, len(values) - 1, statistics.mean(values), stats.sem(values)
            )
            bounds = {"cost": (0, math.inf), "cnbe": (-math.inf, math.inf)}.get(key, (0, 1))
            known = max(known[0], bounds[0]), min(known[1], bounds[1])  # no mean can lie beyond
            assert (row["low"], row["high"], row["interval"]) == (
                *(pytest.approx(limit) for limit in known),
                "t",
            )
        else:
            assert row["problem"]


def test_the_table_is_tidy_in_the_order_of_systems_and_metrics(responses):
    table = multilingual_report(responses, confidence_level=0.8).table
    assert list(table.columns) == ["system", "metric", "mean", "std", "low", "high", "interval", "confidence_level",
                                   "n", "n_scored", "signature", "problem"]  # fmt: skip
    assert table["system"].tolist() == [system for system in SAID for _ in METRICS]
    assert table["metric"].tolist() == METRICS * 4
    assert set(table["confidence_level"]) == {0.8}


def test_signatures_name_the_definitions(responses):
    for variant, cnbe, unread in (("unicode", "ratio", False), ("lbrag", "lbrag", True)):
        table = multilingual_report(responses, variant=variant).table
        assert (
            f"|metric:answer.f1|variant:{variant}|lang:hi"
            in cell(table, "cross", "f1")["signature"]
        )
        assert (
            f"|variant:{cnbe}|baseline:direct|f1:{variant}|"
            in cell(table, "cross", "cnbe")["signature"]
        )
        assert ("unscored:0" in cell(table, "cross", "semantic_score")["signature"]) == unread


def test_scores_stand_behind_the_table_and_can_be_compared(responses):
    report = multilingual_report(responses)
    assert report.scores.groupby("metric").size().to_dict() == dict.fromkeys(METRICS, 16)
    untranslated = report.scores.query("metric == 'cost.cnbe' and system == 'multi'")
    assert untranslated["reason"].tolist() == ["no translation"] * 3 + ["no response"]
    row = ragnb.compare(
        report.scores[report.scores["system"].isin(["direct", "lbrag"])], metrics="answer.f1", by=[]
    ).iloc[0]
    assert row["difference"] == pytest.approx((0.8 + 0.8 + 2 / 3) / 4 - 1.5 / 4)


# ---- what was never measured -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["unicode", "lbrag"])
@pytest.mark.parametrize("absent", ["column", "values"])
def test_a_similarity_that_nobody_judged_is_absent_and_never_0(responses, variant, absent):
    bare = (
        responses.drop(columns="judged_similarity")
        if absent == "column"
        else responses.assign(judged_similarity=None)
    )
    report = multilingual_report(bare, variant=variant)
    row = cell(report.table, "cross", "semantic_score")
    assert (row["n"], row["n_scored"], row["problem"]) == (0, 0, "not asked for")
    assert math.isnan(row["mean"])
    assert report.lines()[2].endswith("| Sem=nan±nan")
    assert "Signatures: ragnb" in ragnb.to_latex(report.table)


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
    assert cell(report.table, "direct", "cost")[["mean", "std", "n_scored"]].tolist() == [
        0.0,
        0.0,
        4,
    ]
    assert "| Cost=nan±nan | CNBE=nan±nan |" in report.lines()[1]
    nothing_known = multilingual_report(
        responses.drop(columns="translations"), variant="lbrag"
    ).table
    assert [cell(nothing_known, name, "cost")["n_scored"] for name in SAID] == [0] * 4
    assert [cell(nothing_known, name, "cnbe")["n_scored"] for name in SAID] == [4, 0, 0, 0]


# ---- lines and metrics.json --------------------------------------------------------------------------------------------

PUBLISHED = [  # the example of the seven-metric overview
    "direct   | EM=0.100±0.302 | F1=0.218±0.322 | RLC=0.921±0.188 | Cost=0.0±0.0 | CNBE=0.00000±0.00000 | Sem=0.350±0.444",
    "multi    | EM=0.000±0.000 | F1=0.263±0.301 | RLC=0.772±0.316 | Cost=0.0±0.0 | CNBE=0.00000±0.00000 | Sem=0.680±0.407",
    "cross    | EM=0.000±0.000 | F1=0.271±0.321 | RLC=0.765±0.313 | Cost=306.3±75.4 | CNBE=0.00017±0.00087 | Sem=0.680±0.407",
    "lbrag    | EM=0.000±0.000 | F1=0.289±0.341 | RLC=0.759±0.317 | Cost=29.8±18.2 | CNBE=0.00237±0.01157 | Sem=0.700±0.422",
]


def reported(lines):
    """A report with the numbers that the lines print."""
    rows = []
    for line in lines:
        system, *parts = line.split(" | ")
        printed = dict(part.split("=") for part in parts) | {"RLC_OK": "0.8±0.4"}
        for field in FIELDS:
            mean, std = map(float, printed[field.label].split("±"))
            rows.append({"system": system.strip(), "metric": field.metric, "mean": mean, "std": std, "low": NAN, "high": NAN,
                         "interval": "t", "confidence_level": 0.95, "n": 10, "n_scored": 10, "signature": "s"})  # fmt: skip
    table = pd.DataFrame(rows)
    return MultilingualReport("lbrag", "direct", table, table.iloc[:0], table.iloc[:0])


def test_lines_are_printed_as_the_overview_prints_them():
    assert reported(PUBLISHED).lines() == PUBLISHED


def test_metrics_json_has_the_published_shape():
    content = reported(PUBLISHED).metrics_json()
    assert list(content) == ["metrics", "intervals"]
    assert json.dumps(content["metrics"]["lbrag"]) == (
        '{"em": 0.0, "em_std": 0.0, "f1": 0.289, "f1_std": 0.341, "rlc": 0.759, "rlc_std": 0.317, "rlc_ok": 0.8, '
        '"rlc_ok_std": 0.4, "cost": 29.8, "cost_std": 18.2, "cnbe": 0.00237, "cnbe_std": 0.01157, "semantic_score": 0.7, '
        '"semantic_score_std": 0.422, "n": 10.0}'
    )


def test_the_file_is_valid_json_with_null_for_what_is_undefined(responses, tmp_path):
    def refuse(constant):
        raise AssertionError(constant)

    responses.loc[responses["system"] == "multi", "system"] = "多语言"
    content = multilingual_report(responses).metrics_json(tmp_path / "metrics.json")
    text = (tmp_path / "metrics.json").read_text("utf-8")
    assert json.loads(text, parse_constant=refuse) == content
    assert '"多语言": {' in text
    assert content["metrics"]["多语言"]["cnbe"] is None
    assert content["metrics"]["多语言"]["n"] == 4.0
    assert list(content["intervals"]["cross"]) == KEYS
    low, high = proportion_confint(4, 4, method="wilson")
    assert content["intervals"]["cross"]["em"] == [
        pytest.approx(low),
        pytest.approx(high),
        "Wilson",
        4,
    ]
    assert content["intervals"]["direct"]["cnbe"] == [
        None,
        None,
        "t",
        0,
    ]


RUN = {  # kanoes/LBRAG-NEW, experiments/results/20251213_1915: one question, zh_cn, gold answer "11.0 年份"
    "direct": ("7年。", [], 0.28571428571428575, 0.5, 0.0, 0.0, 0.0),
    "multi": ("11.0 年 [mkqa_3051930912491995402_nl]", [None] * 20, 0.2352941176470588, 0.1111111111111111, 0.0, 0.0, 1.0),
    "cross": ("11.0年 [mkqa_3051930912491995402_de]", [20.0] * 19 + [9.0], 0.2352941176470588, 0.1111111111111111, 389.0,
              -0.0001296148279363161, 1.0),
    "lbrag": ("11年 [mkqa_3051930912491995402_vi]。", [17.0, 12.0, None], 0.24242424242424243, 0.1, 29.0,
              -0.0014927601134497699, 1.0),
}  # fmt: skip


def test_an_answers_file_of_lbrag_gives_its_published_metrics_to_the_last_digit(tmp_path):
    path = tmp_path / "answers.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for system, (said, tokens, *_, judged) in RUN.items():
            evidence = [
                {
                    "translated_text": n and "…",
                    "metadata": {"kappa": 0.5} | ({"token_count": n} if n else {}),
                }
                for n in tokens
            ]
            record = {"sample_id": "mkqa_1_zh_cn", "sample_lang": "zh_cn", "system": system, "question": "?",
                      "gold_answer": "11.0 年份", "pred_answer": said, "semantic_score": judged, "evidence": evidence}  # fmt: skip
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    named = {"example_id": "sample_id", "language": "sample_lang", "references": "gold_answer", "response": "pred_answer",
             "judged_similarity": "semantic_score", "translations": "evidence"}  # fmt: skip
    frame = load_responses(path, named)
    published = multilingual_report(frame, variant="lbrag").metrics_json()["metrics"]
    for system, (_, _, f1, rlc, cost, cnbe, judged) in RUN.items():
        means = {
            "em": 0.0,
            "f1": f1,
            "rlc": rlc,
            "rlc_ok": 0.0,
            "cost": cost,
            "cnbe": cnbe,
            "semantic_score": judged,
        }
        assert {key: published[system][key] for key in KEYS} == means
        assert published[system]["n"] == 1.0
        assert published[system]["f1_std"] is None  # a single value has no spread


# ---- pairing -----------------------------------------------------------------------------------------------------------


WORDS = ["red", "red green", "北京 red", "สวัสดี", "नमस्ते", "שלום", "🙂", "", None]
answers = st.lists(st.sampled_from(WORDS), min_size=4, max_size=4)
costs = st.lists(st.sampled_from([None, [], [3], [40, 2]]), min_size=4, max_size=4)
similarities = st.lists(st.sampled_from([0.0, 0.5, 1.0, NAN]), min_size=4, max_size=4)


@settings(max_examples=30)
@given(
    st.fixed_dictionaries(
        {name: st.tuples(answers, costs, similarities) for name in ("direct", "cross", "lbrag")}
    ),
    st.permutations(range(12)),
    st.sampled_from(["unicode", "lbrag"]),
)
def test_the_order_of_rows_does_not_matter(systems, order, variant):
    frame = pd.DataFrame([row for name, parts in systems.items() for row in rows_of(name, *parts)])
    tables = [
        multilingual_report(rows, variant=variant).table for rows in (frame, frame.iloc[order])
    ]
    first, second = (table.sort_values(["system", "metric"], ignore_index=True) for table in tables)
    pd.testing.assert_frame_equal(first, second)
    assert (first["n_scored"] <= first["n"]).all()


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda frame: frame.query("system != 'direct'"), {}, r"baseline 'direct' among the systems; got multi, cross, lbrag"),

        (lambda frame: frame[(frame["system"] != "direct") | (frame["example_id"] != "q2")], {},
         r"of 'direct' to every example; got 3 unmatched \(multi q2, cross q2, lbrag q2\); run"),
        (lambda frame: pd.concat([frame, frame.iloc[12:]]), {},
         r"one row for each system, example_id; got 4 more, such as lbrag / q1;"),

        (lambda frame: frame.drop(columns="references"), {}, r"multilingual_report needs the columns .*without references"),


        (lambda frame: frame, {"variant": "ratio"}, r"variant must be one of 'unicode', 'lbrag', got 'ratio'"),

        (lambda frame: frame.assign(judged_similarity=1.5), {}, r"row 0 \(q1\): a judge's score must be between 0 and 1, or None, got 1.5"),

        (lambda frame: frame.assign(language="xx"), {}, r"language.rlc, row 0 \(q1\): language must be a code"),

    ],
)  # fmt: skip
def test_bad_input_says_what_is_needed(responses, change, options, message):
    with pytest.raises(InputError, match=message):
        multilingual_report(change(responses), **options)


# ---- languages ---------------------------------------------------------------------------------------------------------


def in_languages(n, languages):
    """`n` questions in several languages, answered right in the first of them only where the number is even."""
    examples = {f"{k}/{code}": (code, text) for k in range(n) for code, text in languages.items()}
    first = next(iter(languages))
    said = [
        text if code != first or int(name.split("/")[0]) % 2 == 0 else "?"
        for name, (code, text) in examples.items()
    ]
    size = len(examples)
    rows = rows_of("direct", ["x"] * size, [[]] * size, [0.0] * size, examples)
    rows += rows_of("lbrag", said, [[10]] * size, [1.0] * size, examples)
    return pd.DataFrame(rows).assign(
        question_id=lambda frame: frame["example_id"].str.split("/").str[0]
    )


def test_languages_of_one_question_are_one_unit_in_the_whole_and_apart_in_the_cells():
    frame = in_languages(40, {"zh": "北京", "th": "กรุงเทพ"})
    report = multilingual_report(frame, by="language")
    pooled = cell(report.table, "lbrag", "em")
    assert (pooled["mean"], pooled["n"], pooled["interval"]) == (
        0.75,
        80,
        "cluster-robust t, 40 clusters",
    )
    sums = [
        1.0 if k % 2 == 0 else 0.5 for k in range(40)
    ]  # the mean of each question: clusters of equal size
    known = stats.t.interval(0.95, 39, 0.75, stats.sem(sums))
    assert (pooled["low"], pooled["high"]) == pytest.approx(known)
    assert list(report.cells.columns) == ["system", "language", *report.table.columns[1:]]
    for language, right in (("zh", 20), ("th", 40)):
        row = cell(report.cells, "lbrag", "em", language=language)
        assert (row["mean"], row["n"], row["interval"]) == (right / 40, 40, "Wilson")
        assert (row["low"], row["high"]) == pytest.approx(
            proportion_confint(right, 40, method="wilson")
        )
    assert len(multilingual_report(frame).cells) == 0


@pytest.mark.parametrize("missing", [None, pd.NA])
def test_languages_that_are_all_missing_are_one_cell(responses, missing):
    nothing = pd.Series(missing, index=responses.index, dtype=object)
    report = multilingual_report(responses.assign(language=nothing), by=["language"])
    assert report.cells["language"].isna().all()
    for what in ("mean", "low", "high", "n"):
        pd.testing.assert_series_equal(report.cells[what], report.table[what])


# ---- how it is shown ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [HOSTILE[0], "多语言"])
def test_names_of_systems_stay_text_in_html(responses, name):
    responses.loc[responses["system"] == "multi", "system"] = name
    read = Reader(multilingual_report(responses, by="language")._repr_html_())
    assert set(read.elements) == {"table", "thead", "tbody", "tr", "th", "td", "small", "p"}
    assert visible(name).split("\n")[0] in read.text
    assert read.attributes == []


def test_html_shows_both_tables_with_spread_interval_and_denominator(responses):
    text = Reader(multilingual_report(responses, by="language")._repr_html_()).text
    assert "0.375±0.479 [0.000, 1.000] 4 of 4" in text  # F1 of direct
    assert "0.00667±0.00289 [-0.00050, 0.01384] 3 of 4" in text  # CNBE of cross
    assert "systemlanguageEMF1RLCRLC_OKCostCNBESem" in "".join(text.split())
    assert text.endswith(
        "variant unicode; CNBE against direct; mean±standard deviation [95% Wilson / t interval], scored of all responses."
    )


def test_latex_gives_each_metric_its_decimals_and_names_the_definitions(responses):
    report = multilingual_report(responses, variant="lbrag")
    lines = ragnb.to_latex(report.table).splitlines()
    cross = next(line for line in lines if line.startswith("cross"))
    assert r"\textbf{0.00250} {\scriptsize [$-$0.00209, 0.00709], n = 4}" in cross
    assert r"& 100.0 {\scriptsize [0.0, 229.9], n = 4}" in cross
    assert r"\textbf{1.00} {\scriptsize [0.51, 1.00], n = 4}" in cross
    notes = lines[-2]
    for definition in (r"metric:answer.f1\textbar{}variant:lbrag", r"metric:cost.cnbe\textbar{}variant:lbrag\textbar{}baseline:direct",
                       r"metric:semantic.judged\_similarity\textbar{}unscored:0\textbar{}lang:en,hi,zh"):  # fmt: skip
        assert definition in notes
    assert r"Mean [95\% Wilson / t interval]" in notes
    assert r"& 100.000 {\scriptsize [0.000, 229.923], n = 4}" in ragnb.to_latex(
        report.table, digits=3
    )
