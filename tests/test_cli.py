"""The command line: the numbers are those of the functions, and errors are one line."""

import contextlib
import fcntl
import io
import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import termios
import time
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from support.hostile import HOSTILE, visible

import ragnb
from ragnb.__main__ import main
from ragnb.datasets import load_responses, load_rgb, read_table
from ragnb.errors import InputError
from ragnb.reports import judge_report, multilingual_report, rgb_report
from ragnb.scoring import METRICS, compare, score, summarize
from ragnb.tables import to_html, to_json, to_latex, to_markdown, to_text

ROWS = [
    {"language": language, "question": question, "references": reference, "response": response}
    for language, question, reference, response in (
        ("en", "Capital of Norway?", "Oslo", "It is Oslo."),
        ("zh", "挪威的首都是哪里?", "奥斯陆", "奥斯陆"),
        ("th", "เมืองหลวงของไทย?", "กรุงเทพ", "กรุงเทพ"),
        ("hi", "भारत की राजधानी?", "नई दिल्ली", "मुंबई"),
        ("he", "בירת צרפת?", "פריז", None),
        ("fr", "Café?", "cafe\u0301", "café 👩\u200d🔬"),
    )
]


def run(command, **options):
    """Run the real command in a process of its own."""
    given = {"capture_output": True, "encoding": "utf-8", "timeout": 120} | options
    return subprocess.run([sys.executable, "-m", "ragnb", *shlex.split(command)], **given)


def lines_of(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with one file of several languages, and three of two systems."""
    monkeypatch.chdir(tmp_path)
    Path("tiny.jsonl").write_text(lines_of(ROWS), "utf-8")
    one = {"language": "en", "references": "Oslo"}
    good = [one | {"question": f"q{k}", "response": "Oslo" if k % 5 else "Rome"} for k in range(40)]
    bad = [row | {"response": "Oslo" if k % 3 == 0 else "Bergen"} for k, row in enumerate(good)]
    both = [
        row | {"system": name, "example_id": str(k)}
        for name, rows in (("good", good), ("bad", bad))
        for k, row in enumerate(rows)
    ]
    for name, rows in {"good": good, "bad": bad, "both": both}.items():
        Path(f"{name}.jsonl").write_text(lines_of(rows))
    return tmp_path


@pytest.fixture
def printed(capsys):
    """What a command prints, and its exit code."""

    def printed(command):
        code = main(shlex.split(command))
        out, err = capsys.readouterr()
        assert not err or code
        return out, code

    return printed


@pytest.fixture
def refused(capsys):
    """The one line of a command that cannot do what it is asked."""

    def refused(command):
        assert main(shlex.split(command)) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("ragnb: ")
        assert err.count("\n") == 1
        return err

    return refused


# ---- score -------------------------------------------------------------------------------------


@pytest.mark.parametrize("printer", [to_text, to_markdown, to_latex, to_html, to_json])
def test_score_prints_what_summarize_says_in_every_format(folder, printed, printer):
    scores = score(load_responses("tiny.jsonl"), ["answer.f1", "answer.exact_match"])
    summary = summarize(scores, by=["system", "language"], confidence_level=0.9)
    form = printer.__name__.removeprefix("to_")
    command = "score tiny.jsonl --metrics answer.f1 answer.exact_match --by system language"
    assert printed(f"{command} --level 0.9 --format {form}") == (printer(summary) + "\n", 0)


@pytest.mark.parametrize("name", ["scores.jsonl.gz", "deep/scores.parquet"])
def test_score_writes_the_scores_of_each_response(folder, printed, name):
    printed(f"score tiny.jsonl --metrics answer.f1 --out {name}")
    written, expected = read_table(name), score(load_responses("tiny.jsonl"), "answer.f1")
    assert written["value"].round(12).equals(expected["value"].round(12))
    assert written["signature"].tolist() == expected["signature"].tolist()


def test_columns_options_system_and_language(folder, printed):
    rows = [{"q": "首都?", "gold": "Oslo", "output": "It is OSLO", "noise_rate": 1.0}]
    Path("own.jsonl").write_text(lines_of(rows), "utf-8")
    columns = {"question": "q", "references": "gold", "response": "output"}
    frame = load_responses("own.jsonl", columns, system="mine", language="en")
    out, _ = printed(
        "score own.jsonl --metrics rgb.accuracy --columns question=q references=gold --columns "
        "response=output --system mine --language en --option "
        "protocol=released --format json"
    )
    summary = summarize(score(frame, "rgb.accuracy", protocol="released"))
    assert json.loads(out) == summary.to_dict("records")


@pytest.mark.parametrize(
    ("options", "mean", "said"),
    [
        ("", 1.0, ["1 of 2 responses in", "identified from the questions: fr 2"]),
        ("--keep-empty --language fr", 0.5, []),
    ],
)
def test_a_french_csv_with_an_empty_cell(folder, capsys, options, mean, said):
    text = "question,references,response\nOù est la tour Eiffel ?,Paris,Paris\nQui l'a faite ?,E,\n"
    Path("fr.csv").write_text(text, "utf-8")
    command = f"score fr.csv --metrics answer.exact_match --format json {options}"
    assert main(shlex.split(command)) == 0
    out, err = capsys.readouterr()
    (row,) = json.loads(out)
    assert (row["mean"], row["n"]) == (mean, 2)
    assert err.count("\n") == len(said)
    assert all(words in err for words in said)


def test_lines_of_json_come_from_standard_input_in_whatever_encoding_the_terminal_has():
    name = "мой 系统 👩\u200d🔬"
    command = f"score - --metrics answer.exact_match --system '{name}' --by system"
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = run(command, input=lines_of(ROWS), env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    shown = name.encode("ascii", "backslashreplace").decode()
    assert done.stdout.splitlines()[1].startswith(f"{shown}  answer.exact_match")


def test_a_broken_line_from_standard_input_is_named(monkeypatch, refused):
    given = io.TextIOWrapper(io.BytesIO((lines_of(ROWS[:1]) + "{no\n").encode()))
    monkeypatch.setattr("sys.stdin", given)
    said = refused("score - --metrics answer.exact_match")
    assert said.startswith("ragnb: stdin.jsonl line 2: must be JSON")


# ---- compare -----------------------------------------------------------------------------------


@pytest.mark.parametrize("files", ["good.jsonl bad.jsonl", "both.jsonl"])
def test_compare_says_the_same_of_one_file_and_of_two(folder, printed, files):
    scores = score(load_responses("both.jsonl"), "answer.exact_match")
    expected = compare(scores, baseline="bad")
    command = f"compare {files} --metrics answer.exact_match --baseline bad"
    assert printed(command) == (to_text(expected) + "\n", 0)
    assert expected["difference"].item() == pytest.approx((32 - 14) / 40)


def test_compare_takes_names_method_and_correction(folder, printed):
    command = "compare good.jsonl bad.jsonl --system 甲 乙 -m f1 --method t --correction bonferroni"
    out, _ = printed(command)
    assert all(words in out for words in ("甲", "乙", "paired t-test", "bonferroni"))


def test_what_one_system_lacks_is_refused_or_dropped_and_counted(folder, printed, refused):
    lines = Path("bad.jsonl").read_text().splitlines(keepends=True)
    Path("short.jsonl").write_text("".join(lines[:30]))
    command = "compare good.jsonl short.jsonl --metrics answer.exact_match"
    assert "10 of 40 items lack at least one of the two" in refused(command)
    assert "n_dropped = 10" in printed(f"{command} --unpaired drop")[0]


@pytest.fixture
def tool_scores(folder):
    """Two results of ragas as CSV files, each with the scores of one system."""
    for name, start in (("plain", 0.25), ("reranked", 0.5)):
        rows = [
            {"user_input": f"q{k}?", "response": "Oslo", "reference": "Oslo"}
            | {"faithfulness": start + (k % 5) / 10, "answer_relevancy": 1 - k / 40}
            for k in range(20)
        ]
        pd.DataFrame(rows).to_csv(f"{name}.csv", index=False)
    return folder


def test_scores_of_a_tool_are_compared_and_summarised(tool_scores, capsys):
    command = "compare plain.csv reranked.csv -m ragas.faithfulness --baseline plain --format json"
    assert main(shlex.split(command)) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["difference"] == pytest.approx(0.25)
    assert (row["metric"], row["n_pairs"]) == ("ragas.faithfulness", 20)
    assert "foreign:ragas" in row["signature"]
    command = "score 'plain.csv' -m ragas.faithfulness f1 --by system --format json"
    assert main(shlex.split(command)) == 0
    means = {row["metric"]: row["mean"] for row in json.loads(capsys.readouterr().out)}
    assert means == {"ragas.faithfulness": pytest.approx(0.45), "answer.f1": 1.0}


def test_a_column_of_scores_without_a_tool_is_named_as_it_is(folder, capsys):
    rows = [
        {"example_id": str(k), "system": s, "grade": k + (s == "b")} for k in range(9) for s in "ab"
    ]
    pd.DataFrame(rows).to_csv("grades.csv", index=False)
    assert main(shlex.split("compare grades.csv -m grade --baseline a --format json")) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["difference"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("compare plain.csv reranked.csv -m ragas.faithfullness", "no ragas.faithfullness among"),
        ("score plain.csv -m answer.f2", "did you mean 'answer.f1'?"),
    ],
)
def test_a_score_that_no_file_has_is_named(tool_scores, capsys, command, said):
    assert main(shlex.split(command)) == 2
    assert said in capsys.readouterr().err


def test_columns_of_systems_and_questions_of_a_dataset_are_named(folder, printed, capsys):
    Path("wide.csv").write_text(
        "question,gold,topic,old,new\nWho wrote it?,Ann,a,Bo,Ann\nWho read it?,Bo,a,Bo,Ann\n"
    )
    score_it = "--metrics answer.exact_match --by system --format json"
    rows = json.loads(printed(f"score wide.csv --language en --systems old new {score_it}")[0])
    assert {row["system"]: row["mean"] for row in rows} == {"old": 0.5, "new": 0.5}
    Path("bert.json").write_text('{"b": "Bo", "a": "Bo"}')
    Path("dev.csv").write_text("id,question,answers\na,Who wrote it?,Ann\nb,Who read it?,Bo\n")
    assert main(shlex.split(f"score bert.json --examples dev.csv {score_it}")) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["system"], row["mean"], row["n"]) == ("bert", 0.5, 2)


# ---- report ------------------------------------------------------------------------------------


@pytest.fixture
def rgb(folder):
    refusal = "I can not answer the question because of the insufficient information in documents."
    said = [("Oslo", 0.2), ("Oslo", 0.2), ("Rome", 0.2)]
    said += [(refusal, 1.0), ("Rome", 1.0), ("Oslo", 1.0), (refusal, 1.0)]
    frame = pd.DataFrame(said, columns=["response", "noise_rate"])
    named = {"language": "en", "references": "Oslo", "passage_num": 5, "task": "noise"}
    frame.assign(question=[f"q{k}" for k in range(7)], **named).to_json("rgb.jsonl", **LINES)
    return Path("rgb.jsonl")


LINES = {"orient": "records", "lines": True}


@pytest.mark.parametrize(
    "command",
    ["compare both.jsonl -m f1", "report rgb.jsonl --kind rgb"],
)
def test_a_command_draws_its_result(rgb, printed, command):
    alone = printed(command)
    assert printed(f"{command} --figure figures/mine.png") == alone
    assert Path("figures/mine.png").read_bytes().startswith(b"\x89PNG")


def test_the_report_of_rgb_is_printed_and_written(rgb, printed):
    out, _ = printed("report rgb.jsonl --kind rgb --option protocol=released --out tables")
    report = rgb_report(load_responses(rgb), "released")
    assert out == f"{report}\n"
    assert {path.stem for path in Path("tables").iterdir()} == set(report.tables)
    written = pd.read_csv("tables/negative_rejection.csv")
    assert written["mean"].tolist() == report.negative_rejection["mean"].tolist() == [0.75]


def test_the_multilingual_report(folder, printed):
    direct = [row | {"translations": [], "example_id": k} for k, row in enumerate(ROWS)]
    paid = {"translations": [{"text": "…", "token_count": 50}], "system": "cross"}
    rows = [*(row | {"system": "direct"} for row in direct), *(row | paid for row in direct)]
    Path("answers.jsonl").write_text(lines_of(rows), "utf-8")
    command = "report answers.jsonl --kind multilingual --option by=language --format json"
    report = multilingual_report(load_responses("answers.jsonl"), by="language")
    assert printed(command)[0] == to_json({"table": report.table, "cells": report.cells}) + "\n"


def test_reports_in_other_formats(rgb, printed):
    report, command = rgb_report(load_responses(rgb)), "report rgb.jsonl --kind rgb --format"
    assert printed(f"{command} html")[0] == report._repr_html_() + "\n"
    assert to_latex(report.noise_robustness) in printed(f"{command} latex")[0]
    tables = json.loads(printed(f"{command} json")[0])
    assert tables["negative_rejection"][0]["mean"] == 0.5
    out, _ = printed("report sample-ragbench --kind trace --format markdown")
    assert "| system | trace.relevance |" in out


def test_the_report_of_a_judge(folder, printed):
    rows = [row | {"label": k % 2, "judged_correct": k % 3 % 2} for k, row in enumerate(ROWS)]
    Path("judged.jsonl").write_text(lines_of(rows), "utf-8")
    command = "report judged.jsonl --kind judge --level 0.9 --option clusters=null"
    report = judge_report(load_responses("judged.jsonl"), confidence_level=0.9, clusters=None)
    assert printed(command)[0] == str(report) + "\n"
    tables = json.loads(printed(f"{command} --format json")[0])
    assert {"agreement", "bias", "calibration", "worst", "labelled"} <= set(tables)


# ---- audit and metrics -------------------------------------------------------------------------


def test_an_audit_that_finds_nothing_is_0(printed):
    assert printed("audit sample-zh-fact") == ("no problems found\n", 0)
    assert printed("audit sample-en --format json") == ("[]\n", 0)


def test_an_audit_that_finds_something_is_1(printed, data_folder):
    path = data_folder / "rgb" / "zh_fact.json"
    found = ragnb.audit(load_rgb(path))
    assert printed(f"audit {path}") == (to_text(found) + "\n", 1)
    command = f"audit {path} --format json --only no_negatives false_answer_holds_true"
    out, code = printed(command)
    assert (len(json.loads(out)), code) == (6, 1)


def test_metrics_lists_every_metric_with_its_direction(printed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")  # names stay whole in a narrow terminal
    rows = json.loads(printed("metrics --format json")[0])
    better = {name: "higher" if one.higher_is_better else "lower" for name, one in METRICS.items()}
    assert {row["metric"]: row["better"] for row in rows} == better
    lines = printed("metrics")[0].splitlines()[1 : len(METRICS) + 1]
    assert [line.split()[0] for line in lines] == list(METRICS)


# ---- mistakes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("compare good.jsonl bad.jsonl --system one --metrics answer.f1", "got 1 for 2 files"),
        ("report rgb.jsonl --kind rgb --option colour=red", "rgb_report has no argument 'colour'"),
        ("score tiny.jsonl --metrics", f"use some of {', '.join(METRICS)}"),
        ("score tiny.jsonl --metrics answer.ff", "did you mean 'answer.f1'?"),
        ("score tiny.jsonl -m bertscore", "ragnb does not compute this metric"),
        ("score '~/gone\u202e.jsonl' --metrics answer.f1", "does not exist"),
        (
            "report rgb.jsonl --kind judge --option threshold=high",
            "threshold must be between 0 and 1, got 'high'",
        ),
        ("audit no-such-name", "no-such-name"),
        ("audit sample-en --only mistakes", "got mistakes"),
    ],
)
def test_a_mistake_is_named_in_one_line(rgb, refused, command, said):
    line = refused(command)
    assert said in line
    assert visible(line).strip() == line.strip()


@pytest.mark.parametrize(
    ("command", "meant"),
    [
        ("scroe tiny.jsonl", "score"),
        ("score tiny.jsonl -m f1 --seperator /", "--separator"),
        ("report tiny.jsonl --kind jugde", "judge"),
    ],
)
def test_the_parser_suggests_commands_options_and_choices(capsys, command, meant):
    with pytest.raises(SystemExit, match="^2$"):
        main(command.split())
    assert capsys.readouterr().err.endswith(f"; did you mean {meant!r}?\n")


@pytest.mark.parametrize(
    "command",
    [
        "scores",
        "score a.jsonl --metrics answer.f1 --option protocol",
    ],
)
def test_what_the_parser_refuses_is_2_and_shows_the_usage(capsys, command):
    with pytest.raises(SystemExit) as stopped:
        main(shlex.split(command))
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith("usage: ragnb")


# ---- text of every kind ------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTILE[::4])
@pytest.mark.parametrize("form", ["text", "json"])
def test_hostile_names_reach_no_terminal_unspelled(folder, printed, name, form):
    Path("a.jsonl").write_text(lines_of([row | {"system": name} for row in ROWS]), "utf-8")
    out, _ = printed(f"score a.jsonl --metrics answer.f1 --by system --format {form}")
    assert out == visible(out)
    if form == "json":
        assert json.loads(out)[0]["system"] == name


# ---- the process ---------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["score", "compare", "report", "audit", "metrics"])
def test_help_says_what_it_does_and_shows_an_example(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    out = capsys.readouterr().out
    assert stopped.value.code == 0
    assert f"\nexample:\n  ragnb {command} " in out
    assert out.split("\n\n")[1].split("\n")[0].endswith((".", ":", ","))


def test_the_help_without_a_command_loads_nothing_heavy():
    script = """
import sys
from ragnb.__main__ import main
try:
    main([])
except SystemExit as stopped:
    heavy = "pandas numpy matplotlib scipy sklearn pydantic openai tqdm pyarrow ipywidgets".split()
    print([stopped.code, *(name for name in heavy if name in sys.modules)])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[0]"
    names = ("score", "compare", "report", "audit", "metrics")
    assert all(f"\n    {name} " in done.stdout for name in names)


def test_a_closed_pipe_is_quiet():
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run("metrics", capture_output=False, stdout=writer, stderr=subprocess.PIPE)
    finally:
        os.close(writer)
    assert (done.stderr, done.returncode) == ("", 141)


def test_ctrl_c_is_130_without_traceback():
    command = [sys.executable, "-m", "ragnb", "score", "-", "--metrics", "answer.f1"]
    terminal, side = pty.openpty()
    # A process in the background ignores Ctrl-C, and so would its children.
    running = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=side,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    os.close(side)
    running.stdin.write(lines_of(ROWS[:1]).encode())
    running.stdin.flush()
    while any(fcntl.ioctl(running.stdin, termios.FIONREAD, bytes(4))):  # not read yet
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    assert running.wait() == 130
    seen = os.read(terminal, 10000)
    assert b"reading" in seen
    assert b"Traceback" not in seen
    running.stdin.close()
    running.stdout.close()
    os.close(terminal)


def test_progress_is_shown_on_a_terminal_and_wiped(folder, monkeypatch):
    terminal, side = pty.openpty()
    name = (folder / "tiny.jsonl").rename(folder / "\x1b[31mtiny.jsonl")
    with os.fdopen(side, "w", encoding="utf-8") as err:
        monkeypatch.setattr("sys.stderr", err)
        assert main(["score", str(name), "--metrics", "answer.f1"]) == 0
    seen = b""
    with contextlib.suppress(OSError):  # a terminal ends with an error
        while part := os.read(terminal, 10000):
            seen += part
    os.close(terminal)
    seen = seen.decode("utf-8")
    assert "reading ⟨U+001B⟩[31mtiny.jsonl" in seen
    assert "scoring 6 responses under answer.f1" in seen
    assert seen.endswith("\r\x1b[K")


# ---- names, gate, help -----------------------------------------------------------------------------

ANSWERS = str(Path(__file__).parents[1] / "docs" / "answers.csv")


def test_short_names_of_metrics_are_understood(capsys):
    assert main(["score", ANSWERS, "-m", "f1,em", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["metric"] for row in rows} == {"answer.f1", "answer.exact_match"}
    assert main(["score", ANSWERS, "-m", "correction"]) == 2
    assert "can mean rgb.error_correction, rgb.judged_error_correction" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("metric", "smallest", "code"),
    [
        ("f1", ["0.59"], 1),
        ("f1", ["0.61"], 0),
        ("annotator.verdict", [], 0),  # +0.12 [0.02, 0.22]
    ],
)
def test_a_gate_fails_if_the_loss_is_large_enough_and_clear(capsys, metric, smallest, code):
    command = ["compare", ANSWERS, "-m", metric, "--baseline", "FiD", "--fail-if-worse", *smallest]
    assert main(command) == code
    losses = capsys.readouterr().err
    assert ("is worse than FiD" in losses) == code
    if code:
        assert "76 of 100 questions got worse; largest losses: evouna/" in losses


def test_a_pattern_names_several_files(tmp_path, capsys):
    for name in ("plain", "reranked"):
        (tmp_path / f"{name}.csv").write_text("question,references,response\nWhere?,Oslo,Oslo\n")
    assert main(["score", str(tmp_path / "*.csv"), "-m", "f1", "--language", "en"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:3]] == [
        "plain",
        "reranked",
    ]


def test_debug_shows_the_traceback_of_an_error():
    with pytest.raises(InputError):
        main(["score", ANSWERS, "-m", "f2", "--debug"])
