"""The command line: the numbers are those of the functions, errors are one line, and no text commands a terminal."""

import io
import json
import os
import pty
import signal
import subprocess
import sys
import time
import tomllib
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest
from hostile import HOSTILE, any_text, joined_text, visible
from hypothesis import given, settings

import ragnb
from ragnb.__main__ import main
from ragnb.datasets import load_evouna, load_ragbench, load_responses, load_rgb, read_table
from ragnb.reports import judge_report, multilingual_report, rgb_report, trace_report
from ragnb.scoring import METRICS, compare, score, summarize
from ragnb.tables import to_html, to_json, to_latex, to_markdown, to_text

ROWS = [
    {
        "question": "Capital of Norway?",
        "references": "Oslo",
        "response": "It is Oslo.",
        "language": "en",
    },
    {
        "question": "日本の首都は?",
        "references": [["東京", "东京"]],
        "response": "東京です",
        "language": "ja",
    },
    {
        "question": "挪威的首都是哪里?",
        "references": "奥斯陆",
        "response": "奥斯陆",
        "language": "zh",
    },
    {"question": "เมืองหลวงของไทย?", "references": "กรุงเทพ", "response": "กรุงเทพ", "language": "th"},
    {"question": "भारत की राजधानी?", "references": "नई दिल्ली", "response": "मुंबई", "language": "hi"},
    {"question": "عاصمة مصر؟", "references": "القاهرة", "response": "القاهرة", "language": "ar"},
    {"question": "בירת צרפת?", "references": "פריז", "response": None, "language": "he"},
    {
        "question": "Café?",
        "references": "cafe\u0301",
        "response": "café 👩\u200d🔬",
        "language": "fr",
    },
]


def run(*arguments, **options):
    """The real command in a process of its own."""
    command = [sys.executable, "-m", "ragnb", *map(str, arguments)]
    return subprocess.run(
        command, **{"capture_output": True, "encoding": "utf-8", "timeout": 120} | options
    )


def lines_of(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tiny.jsonl"
    path.write_text(lines_of(ROWS), "utf-8")
    return path


@pytest.fixture
def printed(capsys):
    """What a command prints, and its exit code."""

    def printed(*arguments):
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert not err or code
        return out, code

    return printed


@pytest.fixture
def refused(capsys):
    """The one line of a command that cannot do what it is asked."""

    def refused(*arguments):
        assert main([str(argument) for argument in arguments]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("ragnb: ")
        assert err.count("\n") == 1
        return err

    return refused


# ---- score -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "printer"),
    [("text", to_text), ("markdown", to_markdown), ("latex", to_latex), ("html", to_html)],
)
def test_score_prints_what_summarize_says_in_every_format(file, printed, name, printer):
    summary = summarize(
        score(load_responses(file), ["answer.f1", "answer.exact_match"]), by=["system", "language"]
    )
    out, code = printed(
        "score",
        file,
        "--metrics",
        "answer.f1",
        "answer.exact_match",
        "--by",
        "system",
        "language",
        "--format",
        name,
    )
    assert (out, code) == (printer(summary) + "\n", 0)


def test_score_in_json_has_all_digits(file, printed):
    out, _ = printed(
        "score",
        file,
        "--metrics",
        "answer.f1",
        "--by",
        "system",
        "--level",
        "0.9",
        "--format",
        "json",
    )
    summary = summarize(score(load_responses(file), "answer.f1"), by="system", confidence_level=0.9)
    assert json.loads(out) == summary.to_dict("records")
    assert json.loads(out)[0]["n_scored"] == 7


def test_score_shows_interval_count_worst_case_and_signature(file, printed):
    out, _ = printed("score", file, "--metrics", "answer.contains", "--by", "system")
    header, row, *_ = out.splitlines()
    assert [title.strip() for title in header.split("  ") if title][-2:] == [
        "worst case",
        "unscored",
    ]
    assert "7 of 8" in row
    assert "[0.71, 0.71]" not in row
    assert "metric:answer.contains|variant:unicode|lang:ar,en,fr,he,hi,ja,th,zh" in out


@pytest.mark.parametrize("name", ["scores.jsonl.gz", "scores.parquet", "deep/scores.jsonl"])
def test_score_writes_the_scores_of_each_response(file, printed, tmp_path, name):
    printed("score", file, "--metrics", "answer.f1", "--out", tmp_path / name)
    written, expected = read_table(tmp_path / name), score(load_responses(file), "answer.f1")
    assert written["value"].round(12).equals(expected["value"].round(12))
    assert written["signature"].tolist() == expected["signature"].tolist()


def test_columns_options_system_language_and_constants(tmp_path, printed):
    rows = [{"q": "首都?", "gold": "Oslo", "output": "I see insufficient information. OSLO"}]
    path = tmp_path / "own.jsonl"
    path.write_text(lines_of(rows), "utf-8")
    columns = {"question": "q", "references": "gold", "response": "output"}
    frame = load_responses(path, columns, system="mine", language="en", noise_rate=1.0)
    out, _ = printed(
        "score", path, "--metrics", "rgb.accuracy", "--columns", "question=q", "references=gold", "--columns",
        "response=output", "--system", "mine", "--language", "en", "--set", "noise_rate=1.0", "--option",
        "protocol=released", "--format", "json",
    )  # fmt: skip
    summary = summarize(score(frame, "rgb.accuracy", protocol="released"))
    assert json.loads(out) == summary.to_dict("records")
    assert (
        json.loads(out)[0] | {"mean": 1.0, "system": "mine", "noise_rate": 1.0}
        == json.loads(out)[0]
    )


def test_options_are_numbers_lists_or_text(file, printed):
    out, _ = printed("score", file, "--metrics", "language.rlc_ok", "answer.chrf", "--option", "threshold=0.9",
                     "word_order=2", "--by", "system", "--format", "json")  # fmt: skip
    expected = summarize(
        score(
            load_responses(file), ["language.rlc_ok", "answer.chrf"], threshold=0.9, word_order=2
        ),
        by="system",
    )
    assert [row["mean"] for row in json.loads(out)] == expected["mean"].tolist()
    assert "threshold:0.9" in out
    assert "word_order:2" in out


@pytest.mark.parametrize(
    ("own", "mean", "said"), [([], 1.0, ["1 of 2 responses in", "(--language fr"]), (["--no-keep-empty"], 1.0, ["(--language fr"]),
                              (["--keep-empty", "--language", "fr"], 0.5, [])]
)  # fmt: skip
def test_a_french_csv_with_an_empty_cell(tmp_path, capsys, own, mean, said):
    path = tmp_path / "fr.csv"
    path.write_text(
        "question,references,response\nOù est la tour Eiffel ?,Paris,Paris\nQui l'a construite ?,Eiffel,\n",
        "utf-8",
    )
    assert (
        main(["score", str(path), "--metrics", "answer.exact_match", "--format", "json", *own]) == 0
    )
    out, err = capsys.readouterr()
    (row,) = json.loads(out)
    assert (row["mean"], row["n"]) == (mean, 2)
    assert "lang:fr" in row["signature"]
    assert err.count("\n") == len(said)
    assert all(words in err for words in said)


def test_lines_of_json_come_from_standard_input():
    done = run(
        "score",
        "-",
        "--metrics",
        "answer.exact_match",
        "--system",
        "piped",
        "--by",
        "system",
        input=lines_of(ROWS),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1].startswith("piped   answer.exact_match")


def test_a_bad_line_of_standard_input_is_named():
    done = run("score", "-", "--metrics", "answer.f1", input=lines_of(ROWS[:1]) + "{no\n")
    assert done.returncode == 2
    assert done.stderr.startswith("ragnb: stdin.jsonl line 2: must be JSON")
    assert done.stderr.count("\n") == 1


def test_a_labelled_sample_of_ragbench_can_be_scored(printed):
    out, _ = printed(
        "score",
        "sample-ragbench",
        "--benchmark",
        "ragbench",
        "--metrics",
        "trace.adherence",
        "--format",
        "json",
    )
    summary = summarize(score(load_ragbench("sample-ragbench"), "trace.adherence"))
    assert [(row["system"], row["mean"], row["low"]) for row in json.loads(out)] == list(
        summary[["system", "mean", "low"]].itertuples(index=False, name=None)
    )


def test_shared_questions_are_clusters(file, printed):
    out, _ = printed("score", file, file, "--system", "a", "a", "--metrics", "answer.f1", "--by", "system",
                     "--cluster", "example_id")  # fmt: skip
    assert "cluster-robust" in out


# ---- compare -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def two(tmp_path):
    """Two systems: a file each, and one with both."""
    good = [
        {
            "question": f"q{k}",
            "language": "en",
            "references": "Oslo",
            "response": "Oslo" if k % 5 else "Rome",
        }
        for k in range(40)
    ]
    bad = [row | {"response": "Oslo" if k % 3 == 0 else "Bergen"} for k, row in enumerate(good)]
    (tmp_path / "good.jsonl").write_text(lines_of(good))
    (tmp_path / "bad.jsonl").write_text(lines_of(bad))
    both = [
        row | {"system": name, "example_id": str(k)}
        for name, rows in (("good", good), ("bad", bad))
        for k, row in enumerate(rows)
    ]
    (tmp_path / "both.jsonl").write_text(lines_of(both))
    return tmp_path


@pytest.mark.parametrize("files", [["good.jsonl", "bad.jsonl"], ["both.jsonl"]])
@pytest.mark.parametrize(
    ("name", "printer"),
    [("text", to_text), ("json", to_json)],
)
def test_compare_says_the_same_of_one_file_and_of_two(two, printed, files, name, printer):
    expected = compare(
        score(load_responses(two / "both.jsonl"), "answer.exact_match"), baseline="bad"
    )
    out, code = printed(
        "compare",
        *(two / file for file in files),
        "--metrics",
        "answer.exact_match",
        "--baseline",
        "bad",
        "--format",
        name,
    )
    assert (out, code) == (printer(expected) + "\n", 0)
    assert expected["difference"].item() == pytest.approx((32 - 14) / 40)


def test_compare_without_baseline_method_and_names_of_systems(two, printed):
    out, _ = printed("compare", two / "good.jsonl", two / "bad.jsonl", "--system", "甲", "乙", "--metrics", "answer.f1",
                     "--method", "t", "--correction", "bonferroni")  # fmt: skip
    assert "乙 - 甲" in out
    assert "paired t" in out
    assert "Bonferroni" in out


def test_what_one_system_lacks_is_refused_or_dropped_and_counted(two, printed, refused):
    (two / "short.jsonl").write_text(
        "".join((two / "bad.jsonl").read_text().splitlines(keepends=True)[:30])
    )
    asked = "compare", two / "good.jsonl", two / "short.jsonl", "--metrics", "answer.exact_match"
    assert "10 of 40 items lack at least one of the two" in refused(*asked)
    assert (
        "Items left out because a value is missing, by line: 10."
        in printed(*asked, "--unpaired", "drop")[0]
    )


def test_files_in_another_order_are_not_paired_by_the_numbers_of_their_rows(two, printed, refused):
    turned = [json.loads(line) for line in reversed((two / "bad.jsonl").read_text().splitlines())]
    (two / "turned.jsonl").write_text(lines_of(turned))
    asked = "compare", two / "good.jsonl", two / "turned.jsonl", "--metrics", "answer.exact_match"
    said = "example_id 0 belongs to 'q0' and to 'q39' (ids with several questions: 40). If the files have a column of ids"
    assert said in refused(*asked)
    spaced = [row | {"question": f" {row['question']}\n"} for row in reversed(turned)]
    (two / "spaced.jsonl").write_text(lines_of(spaced))
    asked = (
        "compare",
        two / "good.jsonl",
        two / "spaced.jsonl",
        "--metrics",
        "answer.exact_match",
        "--format",
        "json",
    )
    assert json.loads(printed(*asked)[0])[0]["difference"] == pytest.approx((14 - 32) / 40)


def test_files_without_ids_in_another_order_are_compared_as_the_message_says(two, printed, refused):
    good, bad = (
        [json.loads(line) for line in (two / f"{name}.jsonl").read_text().splitlines()]
        for name in ("good", "bad")
    )
    for name, rows in (("one", good), ("other", bad[::-1])):
        rows = [
            {("user_input" if key == "question" else key): value for key, value in row.items()}
            for row in rows
        ]
        (two / f"{name}.jsonl").write_text(lines_of(rows))
    asked = (
        "compare",
        two / "one.jsonl",
        two / "other.jsonl",
        "--metrics",
        "answer.exact_match",
        "--format",
        "json",
    )
    remedy = "--columns", "example_id=user_input", "question=user_input"
    assert " ".join(remedy) in refused(*asked, "--columns", "question=user_input")
    row = json.loads(printed(*asked, *remedy)[0])[0]
    assert (row["n_pairs"], row["difference"]) == (40, pytest.approx((14 - 32) / 40))


@pytest.mark.parametrize("command", ["score", "compare"])
def test_files_of_one_name_in_two_folders_are_no_one_system(two, printed, refused, command):
    (two / "other").mkdir()
    other = (two / "bad.jsonl").rename(two / "other" / "good.jsonl")
    asked = command, two / "good.jsonl", other, "--metrics", "answer.f1"
    assert "different names, got good, good" in refused(*asked)
    assert "乙" in printed(*asked, "--system", "甲", "乙")[0]
    own = [json.loads(line) | {"system": "mine"} for line in other.read_text().splitlines()]
    other.write_text(lines_of(own))
    assert "mine" in printed(*asked)[0]


def test_ids_of_csv_and_of_json_are_of_two_kinds(two, refused):
    rows = [
        json.loads(line) | {"example_id": k}
        for k, line in enumerate((two / "good.jsonl").read_text().splitlines())
    ]
    (two / "numbered.jsonl").write_text(lines_of(rows))
    pd.DataFrame(rows).to_csv(two / "typed.csv", index=False)
    asked = (
        "compare",
        two / "numbered.jsonl",
        two / "typed.csv",
        "--metrics",
        "answer.f1",
        "--unpaired",
        "drop",
    )
    assert "got texts in 'typed' and numbers in 'numbered', and 10 is not '10'" in refused(*asked)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["good.jsonl"], "needs two systems"),
        (["good.jsonl", "bad.jsonl", "--baseline", "worse"], "got 'worse'"),
        (["good.jsonl", "bad.jsonl", "--method", "magic"], "got 'magic'"),
        (["good.jsonl", "bad.jsonl", "--system", "one"], "got 1 for 2 files"),
        (["good.jsonl", "bad.jsonl", "--cluster", "question_id"], "question_id"),
    ],
)
def test_compare_refuses_in_one_line(two, refused, monkeypatch, arguments, said):
    monkeypatch.chdir(two)
    assert said in refused("compare", *arguments, "--metrics", "answer.f1")


# ---- report ------------------------------------------------------------------------------------------------------------


def asked(responses, **columns):
    return [
        {
            "question": f"q{k}",
            "language": "en",
            "references": "Oslo",
            "response": said,
            "passage_num": 5,
        }
        | columns
        for k, said in enumerate(responses)
    ]


@pytest.fixture
def rgb_file(tmp_path):
    refusal = "I can not answer the question because of the insufficient information in documents."
    rows = asked(["Oslo", "Oslo", "Rome"], task="noise", noise_rate=0.2)
    rows += asked([refusal, "Rome", "Oslo", refusal], task="noise", noise_rate=1.0)
    (tmp_path / "rgb.jsonl").write_text(lines_of(rows))
    return tmp_path / "rgb.jsonl"


def test_the_report_of_rgb_is_printed_and_written(rgb_file, printed, tmp_path):
    out, _ = printed(
        "report",
        rgb_file,
        "--kind",
        "rgb",
        "--option",
        "protocol=released",
        "--out",
        tmp_path / "tables",
    )
    report = rgb_report(load_responses(rgb_file), "released")
    assert (
        out
        == "\n\n".join(
            f"{name.replace('_', ' ')}\n\n{to_text(table)}" for name, table in report.tables.items()
        )
        + "\n"
    )
    assert {path.stem for path in (tmp_path / "tables").iterdir()} == set(report.tables)
    written = pd.read_csv(tmp_path / "tables" / "negative_rejection.csv")
    assert written["mean"].tolist() == report.negative_rejection["mean"].tolist() == [0.75]


@pytest.mark.parametrize("system", ["=1+1", "+1", "-1", "@cmd"])
def test_a_spreadsheet_runs_nothing_of_a_written_report(rgb_file, printed, tmp_path, system):
    printed("report", rgb_file, "--kind", "rgb", f"--system={system}", "--out", tmp_path / "tables")
    written = pd.read_csv(tmp_path / "tables" / "noise_robustness.csv")
    assert written["system"].tolist() == [f"'{system}"]


def test_the_report_of_rgb_in_other_formats(rgb_file, printed):
    report = rgb_report(load_responses(rgb_file))
    assert (
        printed("report", rgb_file, "--kind", "rgb", "--format", "html")[0]
        == report._repr_html_() + "\n"
    )
    assert (
        to_latex(report.noise_robustness)
        in printed("report", rgb_file, "--kind", "rgb", "--format", "latex")[0]
    )
    tables = json.loads(printed("report", rgb_file, "--kind", "rgb", "--format", "json")[0])
    assert tables["negative_rejection"][0]["mean"] == 0.5


def test_the_report_of_trace(data_folder, printed):
    path = data_folder / "ragbench" / "ragbench_test_5x10.jsonl"
    report = trace_report(load_ragbench(path))
    out, _ = printed("report", path, "--kind", "trace")
    assert (
        out
        == f"judges\n\n{to_text(report.judges)}\n\ncomparisons\n\n{to_text(report.comparisons)}\n"
    )
    tables = json.loads(printed("report", path, "--kind", "trace", "--format", "json")[0])
    assert [row["value"] for row in tables["judges"]] == report.judges["value"].tolist()


def test_the_multilingual_report(tmp_path, printed):
    direct = [row | {"translations": [], "example_id": k} for k, row in enumerate(ROWS)]
    cross = [row | {"response": row["references"] if isinstance(row["references"], str) else "東京",
                    "translations": [{"text": "…", "token_count": 50}]} for row in direct]  # fmt: skip
    path = tmp_path / "answers.jsonl"
    path.write_text(
        lines_of(
            [*(r | {"system": "direct"} for r in direct), *(r | {"system": "cross"} for r in cross)]
        ),
        "utf-8",
    )
    out, _ = printed(
        "report", path, "--kind", "multilingual", "--option", "by=language", "--format", "json"
    )
    report = multilingual_report(load_responses(path), by="language")
    assert out == to_json({"table": report.table, "cells": report.cells}) + "\n"
    assert to_text(report.table) in printed("report", path, "--kind", "multilingual")[0]


def test_the_report_of_a_judge(tmp_path, printed):
    rows = [row | {"label": k % 2, "judged_correct": k % 3 % 2} for k, row in enumerate(ROWS)]
    path = tmp_path / "judged.jsonl"
    path.write_text(lines_of(rows), "utf-8")
    out, _ = printed(
        "report", path, "--kind", "judge", "--level", "0.9", "--option", "clusters=null"
    )
    assert (
        out == str(judge_report(load_responses(path), confidence_level=0.9, clusters=None)) + "\n"
    )
    tables = json.loads(printed("report", path, "--kind", "judge", "--format", "json")[0])
    assert {"agreement", "bias", "calibration", "worst"} <= set(tables)


def test_the_report_of_a_judge_counts_what_has_no_label(tmp_path, printed):
    path = tmp_path / "judged.csv"
    rows = [
        {
            "question": f"q{k}",
            "language": "en",
            "references": "x",
            "response": "y",
            "label": k % 2,
            "judged_correct": k % 3 % 2,
        }
        for k in range(60)
    ]
    pd.DataFrame(rows).assign(label=lambda frame: frame["label"].where(frame.index >= 10)).to_csv(
        path, index=False
    )
    out, _ = printed("report", path, "--kind", "judge")
    assert "50 of 60 responses have a label" in out
    tables = json.loads(printed("report", path, "--kind", "judge", "--format", "json")[0])
    assert tables["labelled"] == [{"label": "label", "n": 60, "n_labelled": 50, "n_left_out": 10}]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--kind", "rgb", "--option", "protocol=mine"], "got 'mine'"),
        (["--kind", "rgb", "--option", "colour=red"], "'colour' cannot be set here; choose out of protocol"),
        (
            ["--kind", "judge", "--option", "threshold=high"],
            "threshold must be a valid number, got 'high'",
        ),
        (["--kind", "judge"], "without judged_correct, label"),
        (["--kind", "multilingual"], "baseline 'direct'"),
        (["--kind", "rgb", "--set", "task=other"], "got the tasks other"),
        (["--kind", "rgb", "--level", "95"], "got 95"),
    ],
)
def test_reports_refuse_in_one_line(rgb_file, refused, arguments, said):
    assert said in refused("report", rgb_file, *arguments)


def test_a_report_without_table_of_summaries_is_no_latex(refused):
    assert "needs --kind rgb or multilingual" in refused(
        "report", "sample-ragbench", "--kind", "trace", "--format", "latex"
    )


# ---- audit and metrics -------------------------------------------------------------------------------------------------


def test_an_audit_that_finds_nothing_is_0(printed):
    assert printed("audit", "sample-zh-fact") == ("nothing found\n", 0)
    assert printed("audit", "sample-en", "--format", "json") == ("[]\n", 0)


def test_an_audit_that_finds_something_is_1(printed, data_folder):
    path = data_folder / "rgb" / "zh_fact.json"
    found = ragnb.audit(load_rgb(path))
    assert printed("audit", path) == (to_text(found) + "\n", 1)
    out, code = printed(
        "audit", path, "--only", "no_negatives", "false_answer_holds_true", "--format", "json"
    )
    assert (len(json.loads(out)), code) == (6, 1)
    assert printed("audit", path, "--only", "groups_unlike_parts") == ("nothing found\n", 0)


def test_an_audit_asks_for_as_many_passages_as_it_is_told(printed):
    out, code = printed("audit", "sample-en", "--passages", "50")
    assert code == 1
    assert out.splitlines()[1].split()[1] == "few_passages"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no-such-name"], "no-such-name"),
        (["sample-en", "--only", "mistakes"], "got mistakes"),
        (["sample-en", "--passages", "-1"], "passage_num"),
    ],
)
def test_audit_refuses_in_one_line(refused, arguments, said):
    assert said in refused("audit", *arguments)


def test_metrics_lists_every_metric_with_its_direction_and_source(printed):
    rows = json.loads(printed("metrics", "--format", "json")[0])
    assert [row["metric"] for row in rows] == list(METRICS)
    assert all(
        (row["better"] == "higher") == METRICS[row["metric"]].higher_is_better for row in rows
    )
    out, _ = printed("metrics")
    assert all(any(line.startswith(name) for line in out.splitlines()) for name in METRICS)


# ---- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--metrics"], f"use some of {', '.join(METRICS)}"),
        (["--metrics", "answer.ff"], "did you mean 'answer.f1'?"),
        (["--metrics", "trace.relevance"], "all_relevant_sentence_keys"),
        (["--metrics", "answer.f1", "--option", "variant=mine"], "got 'mine'"),
        (
            ["--metrics", "answer.chrf", "--option", "word_order=two"],
            "word_order must be a valid integer",
        ),
        (["--metrics", "language.rlc_ok", "--option", "threshold=7"], "threshold"),
        (["--metrics", "answer.f1", "--by", "colour"], "colour"),
        (["--metrics", "answer.f1", "--out", "scores.xlsx"], "got 'scores.xlsx'"),
        (["--metrics", "answer.f1", "--columns", "question=q"], "columns names 'q', but the columns are"),
        (
            ["--metrics", "answer.f1", "--columns", "response=baseline", "response=ours"],
            "response is set twice, to 'baseline' and to 'ours'.",
        ),
        (["--metrics", "answer.f1", "--set", "language=fr"], "'language' cannot be set here; use --language"),
    ],
)
def test_score_refuses_in_one_line(file, refused, arguments, said):
    assert said in refused("score", file, *arguments)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", b"", "empty file"),
        ("a.jsonl", b'{"question": \n', "line 1"),
        ("a.jsonl", b'{"question": "q", "references": "x", "response": 5}\n', "row 0"),
        ("a.jsonl.gz", b"no gzip", "whole compressed file"),
        ("a.csv", b"\xe9", "text in UTF-8"),
        ("a.xlsx", b"PK", "end in .jsonl"),
        ("a\x1b[31m\n.jsonl", b"[]", "a⟨U+001B⟩[31m .jsonl"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(tmp_path, refused, name, content, said):
    (tmp_path / name).write_bytes(content)
    assert said in refused("score", tmp_path / name, "--metrics", "answer.f1")


@pytest.mark.parametrize("name", ["gone.jsonl", "~/gone\u202e.jsonl"])
def test_a_file_that_does_not_exist_is_refused_in_one_line(refused, name):
    assert visible(refused("score", name, "--metrics", "answer.f1")).count("does not exist") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["scores"],
        ["score", "a.jsonl"],
        ["score", "a.jsonl", "--metrics", "answer.f1", "--option", "protocol"],
        ["score", "a.jsonl", "--metrics", "answer.f1", "--format", "pdf"],
        ["audit", "sample-en", "--\x1b[31mred"],
    ],
)
def test_what_the_parser_refuses_is_2_and_shows_the_usage(capsys, arguments):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("usage: ragnb")
    assert "\x1b" not in err


def test_a_bug_shows_its_traceback(file, monkeypatch):
    monkeypatch.setattr(ragnb, "summarize", None, raising=False)
    with pytest.raises(TypeError):
        main(["score", str(file), "--metrics", "answer.f1"])


# ---- text of every kind ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTILE[::3])
@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html", "json"])
def test_hostile_names_reach_no_terminal_unspelled(tmp_path, printed, name, form):
    (tmp_path / "a.jsonl").write_text(lines_of([row | {"system": name} for row in ROWS]), "utf-8")
    out, _ = printed(
        "score", tmp_path / "a.jsonl", "--metrics", "answer.f1", "--by", "system", "--format", form
    )
    assert out == visible(out)
    if form == "json":
        assert json.loads(out)[0]["system"] == name
    if form == "text":
        assert " ".join(visible(name).split()) in out


@settings(max_examples=50)
@given(any_text)
def test_any_cell_is_one_line_without_what_hides(text):
    lines = to_text(pd.DataFrame({"name": [text], "n": [1]})).splitlines()
    assert len(lines) == 2
    assert " ".join(visible(text).split()) in lines[1]


@settings(max_examples=100)
@given(any_text | joined_text)
def test_json_is_read_back_the_same_and_hides_nothing(text):
    written = to_json(pd.DataFrame({"name": [text]}))
    assert json.loads(written) == [{"name": text}]
    assert written == visible(written)


def test_json_has_no_numbers_that_json_has_not():
    frame = pd.DataFrame({"a": [float("nan"), float("inf"), -float("inf")], "b": pd.array([1, None, 2], "Int64"),
                          "c": [None, [float("nan")], {"d": True}]})  # fmt: skip
    rows = json.loads(to_json(frame), parse_constant=pytest.fail)
    assert [row["a"] for row in rows] == [None, "Infinity", "-Infinity"]
    assert [row["b"] for row in rows] == [1, None, 2]
    assert [row["c"] for row in rows] == [None, [None], {"d": True}]


def test_wide_and_combining_characters_are_aligned():
    frame = pd.DataFrame({"name": ["東京", "a\u0301b", "กี่", "abcd"], "n": [1, 2, 3, 4]})
    assert to_text(frame).splitlines() == [
        "name  n",
        "東京  1",
        "a\u0301b    2",
        "กี่     3",
        "abcd  4",
    ]


@pytest.mark.parametrize("encoding", ["ascii", "gb18030"])
def test_text_prints_in_whatever_encoding_the_terminal_has(tmp_path, encoding):
    (tmp_path / "a.jsonl").write_text(
        lines_of([row | {"system": "мой 系统 👩\u200d🔬"} for row in ROWS]), "utf-8"
    )
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    done = run(
        "score",
        tmp_path / "a.jsonl",
        "--metrics",
        "answer.f1",
        "--by",
        "system",
        env=environment,
        encoding=None,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    shown = "мой 系统 👩\u200d🔬".encode(encoding, "backslashreplace")
    assert shown in done.stdout


# ---- the process -------------------------------------------------------------------------------------------------------


def test_the_version():
    assert run("--version").stdout == f"ragnb {ragnb.__version__}\n"


def test_the_console_script_is_main():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))[
        "project"
    ]
    module, name = project["scripts"]["ragnb"].split(":")
    assert getattr(import_module(module), name) is main


@pytest.mark.parametrize("command", ["score", "compare", "report", "audit", "metrics"])
def test_help_says_what_it_does_and_shows_an_example(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    out = capsys.readouterr().out
    assert stopped.value.code == 0
    assert f"\nexample:\n  ragnb {command} " in out
    assert out.split("\n\n")[1].split("\n")[0].endswith((".", ":", ","))


def test_help_lists_the_commands_and_loads_nothing_heavy():
    script = """
import json, sys
from ragnb.__main__ import main
try:
    main(["--help"])
except SystemExit as stopped:
    heavy = "pandas numpy matplotlib scipy sklearn pydantic openai tqdm pyarrow ipywidgets".split()
    print(json.dumps([stopped.code, [name for name in heavy if name in sys.modules]]))
"""
    out = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert json.loads(out.splitlines()[-1]) == [0, []]
    assert all(
        f"\n    {name} " in out for name in ("score", "compare", "report", "audit", "metrics")
    )


@pytest.mark.parametrize("arguments", [["metrics"], ["--help"], ["score", "sample-ragbench", "--benchmark", "ragbench", "--metrics", "trace.relevance"]])  # fmt: skip
def test_a_closed_pipe_is_quiet(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run(*arguments, capture_output=False, stdout=writer, stderr=subprocess.PIPE)
    finally:
        os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 141 or arguments == [
        "--help"
    ]  # argparse itself passes over a pipe that is not buffered


def test_ctrl_c_is_130_without_traceback():
    command = [sys.executable, "-m", "ragnb", "score", "-", "--metrics", "answer.f1"]
    terminal, side = pty.openpty()
    running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=side)
    os.close(side)
    seen = os.read(terminal, 1000)  # the progress line: it reads standard input now
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=60) == 130
    assert b"reading" in seen
    assert b"Traceback" not in seen + os.read(terminal, 10000)
    running.stdin.close()
    running.stdout.close()
    os.close(terminal)


def test_progress_stands_on_a_terminal_only_and_is_wiped(file):
    terminal, side = pty.openpty()
    arguments = "score", file, "--metrics", "answer.f1"
    on_terminal = run(*arguments, capture_output=False, stdout=subprocess.PIPE, stderr=side)
    os.close(side)
    seen = os.read(terminal, 10000).decode("utf-8")
    os.close(terminal)
    assert "reading tiny.jsonl" in seen
    assert "scoring 8 responses under answer.f1" in seen
    assert seen.endswith("\r\x1b[K")
    off_terminal = run(*arguments)
    assert off_terminal.stderr == ""
    assert off_terminal.stdout == on_terminal.stdout


def test_main_reads_the_arguments_of_the_process(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["ragnb", "metrics"])
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert main() == 0
    assert "answer.f1" in sys.stdout.getvalue()


# ---- real data ---------------------------------------------------------------------------------------------------------


def test_the_verdicts_of_people_on_five_systems(data_folder, printed):
    path = data_folder / "evouna" / "NQ.json"
    scores = score(load_evouna(path), "annotator.verdict")
    asked = path, "--benchmark", "evouna", "--metrics", "annotator.verdict"
    assert printed("score", *asked)[0] == to_text(summarize(scores)) + "\n"
    expected = compare(scores, baseline="gpt4", unpaired="drop")
    out, _ = printed(
        "compare", *asked, "--baseline", "gpt4", "--unpaired", "drop", "--format", "json"
    )
    assert [row["p_adjusted"] for row in json.loads(out)] == expected["p_adjusted"].tolist()


def test_the_labels_of_ragbench(data_folder, printed):
    path = data_folder / "ragbench" / "ragbench_test_5x10.jsonl"
    names = [f"trace.{name}" for name in ("relevance", "utilization", "completeness", "adherence")]
    out, _ = printed(
        "score",
        path,
        "--benchmark",
        "ragbench",
        "--metrics",
        *names,
        "--by",
        "task",
        "--format",
        "json",
    )
    records = load_ragbench(path)
    means = {(row["task"], row["metric"]): row["mean"] for row in json.loads(out)}
    for name in names:
        published = records.groupby("task")[f"{name.removeprefix('trace.')}_score"].apply(
            lambda v: v.astype(float).mean()
        )
        assert {task: means[task, name] for task in published.index} == pytest.approx(
            published.to_dict()
        )
