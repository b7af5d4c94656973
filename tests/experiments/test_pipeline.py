"""Your own pipeline: a function that answers one question, stored and resumed."""

import asyncio
import functools
import json
import os
import random
import signal
import sqlite3
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from support.processes import answer_slowly, finish, kill, start

import ragnb
from ragnb.errors import InputError, StoreError
from ragnb.llm import Store


def questions(n, **columns):
    ids = [f"q{i}" for i in range(n)]
    frame = {"example_id": ids, "question": [f"What is {i}?" for i in range(n)]}
    return pd.DataFrame(frame | {"references": [str(i) for i in range(n)]} | columns)


def number(question):
    return question.split()[-1].rstrip("?")


def run(examples, function, **options):
    return ragnb.run(examples, function, **{"store": ":memory:", "progress": False, **options})


# ---- what the function gets ----------------------------------------------------------------------


class Answerer:
    def __call__(self, question):
        return number(question)

    def method(self, q):
        return number(q)


async def asynchronous(question):
    await asyncio.sleep(0.01)
    return number(question)


def by_place(question, /):
    return number(question)


def with_language(question, language, k=5):
    return f"{number(question)} {language} {k}"


def with_row(example):
    return f"{number(example['question'])} {example['references']}"


def with_question_and_row(q, row):
    return f"{number(q)} {row['references']}"


def with_any(*args, **kwargs):
    assert not kwargs
    return number(*args)


@pytest.mark.parametrize(
    ("function", "answer"),
    [
        (number, "1"),
        (Answerer(), "1"),
        (Answerer().method, "1"),
        (by_place, "1"),
        (with_any, "1"),
        (functools.partial(with_language, k=7), "1 en 7"),
        (with_language, "1 en 5"),
        (with_row, "1 1"),
        (with_question_and_row, "1 1"),
        (asynchronous, "1"),
        (str.upper, "WHAT IS 1?"),
    ],
)
@pytest.mark.parametrize("at_once", [1, 3])
def test_a_function_gets_the_columns_of_its_parameters(function, answer, at_once):
    responses = run(questions(3, language="en"), function, max_concurrency=at_once)
    assert responses["response"][1] == answer
    assert responses["reason"].isna().all()
    assert responses["seconds"].between(0, 60).all()


def test_names_of_systems():
    one = questions(1)
    assert run(one, number)["system"].tolist() == ["number"]
    assert run(one, functools.partial(with_language, language="en"))["system"][0] == "with_language"
    assert run(one, Answerer())["system"][0] == "Answerer"
    assert run(one, lambda question: "x", system="bm25")["system"][0] == "bm25"


@pytest.mark.parametrize(
    ("examples", "function", "options", "message"),
    [
        (questions(1), with_language, {}, "'language' of the function has no column of this name"),
        (questions(1), lambda question: "x", {}, "a lambda has no name"),
        (questions(1), "gpt", {}, "function must be a function of a question, got 'gpt'"),
        (questions(1), number, {"system": " "}, "system must be the name of your system, got ' '"),
        (questions(1), number, {"max_concurrency": 0}, "max_concurrency must be"),
        (questions(1).drop(columns="question"), number, {}, "question"),
        (questions(2, question=["Who?", None]), number, {}, "row 1 must have a text in 'question'"),
        (
            questions(1, thing=[object()]),
            with_row,
            {},
            "row 0 contains a value that cannot be part",
        ),
    ],
)
def test_mistakes_are_named_before_anything_is_called(examples, function, options, message):
    with pytest.raises(InputError, match=message):
        run(examples, function, **options)


# ---- what it returns -----------------------------------------------------------------------------


class Document:
    def __init__(self, text):
        self.page_content = text


def test_a_mapping_becomes_columns_that_metrics_use():
    def pipeline(question):
        found = [Document(f"It is {number(question)}."), {"text": "Nothing."}]
        return {
            "response": number(question),
            "passages": found,
            "retrieved": np.array(["x", f"p{number(question)}"]),
            "prompt_tokens": np.int64(12),
            "completion_tokens": 3,
            "tokens": 15,
            "question": "an echo of the question is left out",
            "trace": object,
        }

    examples = questions(3, relevant=[["p0"], ["p1"], ["p9"]])
    responses = run(examples, pipeline)
    assert responses["question"].tolist() == examples["question"].tolist()
    assert responses["passages"][2] == ["It is 2.", "Nothing."]
    assert responses["retrieved"][2] == ["x", "p2"]
    assert responses["prompt_tokens"].tolist() == [12] * 3
    assert responses["tokens"].sum() == 45
    assert "finish_reason" not in responses
    scores = ragnb.score(responses, ["answer.exact_match", "retrieval.recall"])
    assert scores.groupby("metric")["value"].mean().to_dict() == pytest.approx(
        {"answer.exact_match": 1, "retrieval.recall": 2 / 3}
    )
    other = run(examples, lambda question: "1", system="constant")
    both = pd.concat([responses, other], ignore_index=True)
    assert len(ragnb.compare(ragnb.score(both, "answer.exact_match"))) == 1
    assert len(ragnb.view(both).rows) == 6
    assert responses["seconds"].mean() >= 0


def test_errors_are_unscored_with_their_reason_and_called_again(tmp_path, monkeypatch):
    monkeypatch.setenv("VENDOR_API_KEY", "abc-secret-123")
    broken = {"on": True}

    def pipeline(question):
        if number(question) == "1" and broken["on"]:
            raise ValueError(
                "no index\nat abc-secret-123, Bearer eyJhbGciOi.x, sk-proj-abcdef123456789"
            )
        if number(question) == "2" and broken["on"]:
            raise SystemExit(3)
        if number(question) == "3" and broken["on"]:
            return 7
        return number(question)

    store = tmp_path / "s.sqlite"
    for at_once in (1, 4):
        responses = run(questions(5), pipeline, store=store, max_concurrency=at_once)
        assert responses["response"].tolist() == ["0", None, None, None, "4"]
        assert responses["reason"][1] == "ValueError: no index at [key], Bearer [key], [key]"
        assert responses["reason"][2] == "SystemExit: 3"
        assert responses["reason"][3].startswith("TypeError: the function must return a text, or")
        scores = ragnb.score(responses, "answer.exact_match")
        assert scores["value"].isna().tolist() == [False, True, True, True, False]
    broken["on"] = False
    assert run(questions(5), pipeline, store=store)["response"].tolist() == list("01234")


def test_empty_answers_and_reasoning_follow_the_rule_for_models():
    answers = {"0": "", "1": " \n", "2": None, "3": "<think>Oslo?</think>3", "4": "4"}

    def pipeline(question):
        return {"response": answers[number(question)], "reason": "blocked by the guard"}

    def text(question):
        return answers[number(question)]

    responses = run(questions(5), text)
    assert responses["response"].tolist() == [None, None, None, "3", "4"]
    assert responses["reason"].notna().tolist() == [True, True, True, False, False]
    assert responses["reasoning"][3] == "<think>Oslo?</think>"
    kept = run(questions(5), text, keep_empty=True)
    assert kept["reason"].isna()[[0, 3, 4]].all()
    reasons = run(questions(5), pipeline)["reason"]
    assert reasons.isna().tolist() == [False, False, False, True, True]
    assert reasons[2] == "blocked by the guard"


# ---- the store -----------------------------------------------------------------------------------


def test_an_answer_is_stored_under_system_version_example_and_arguments(tmp_path):
    store, calls = tmp_path / "s.sqlite", []

    def pipeline(question):
        calls.append(question)
        return number(question)

    def count(examples=None, **options):
        before = len(calls)
        run(questions(3) if examples is None else examples, pipeline, store=store, **options)
        return len(calls) - before

    assert count() == 3
    assert count() == 0
    assert count(questions(4)) == 1
    assert count(questions(4).iloc[::-1]) == 0
    assert count(questions(3, note="a column that the function does not get")) == 0
    assert count(version=2) == 3
    assert count(version="2") == 3
    assert count(system="another") == 3
    assert count(questions(3).assign(question=["What is 0?", "What is 7?", "What is 2?"])) == 1
    again = run(questions(3), pipeline, store=store)
    assert again["seconds"].notna().all()
    assert len(calls) == 14


def test_stored_answers_of_another_code_of_the_function_are_warned_of(tmp_path):
    store = tmp_path / "s.sqlite"

    def before(question):
        return "before"

    def after(question):
        return "after"

    options = {"store": store, "system": "mine", "version": 3}
    run(questions(2), before, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(questions(2), before, **options)
        # Only the questions without an answer are asked, so the answers are of two codes.
    with pytest.warns(UserWarning, match="2 of the stored answers of 'mine' .* version=4"):
        responses = run(questions(3), after, **options)
    assert responses["response"].tolist() == ["before", "before", "after"]
    with pytest.warns(UserWarning, match="1 of the stored answers"):
        run(questions(3), before, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set(run(questions(3), after, **{**options, "version": 4})["response"]) == {"after"}


def test_repeated_rows_share_one_call():
    calls = []
    twice = pd.concat([questions(2), questions(2)])
    responses = run(twice, lambda question: calls.append(question) or "x", system="s")
    assert len(calls) == 2
    assert responses["response"].tolist() == ["x"] * 4
    assert responses.index.tolist() == [0, 1, 0, 1]


def test_one_line_at_the_end_counts_answers_and_failures(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TQDM_DISABLE", "0")

    def pipeline(question):
        if number(question) == "3":
            raise KeyError("index")
        return number(question)

    options = {"store": tmp_path / "s.sqlite", "progress": True}
    run(questions(2), pipeline, **options)
    capsys.readouterr()
    run(questions(4), pipeline, **options)
    line = capsys.readouterr().err.strip().splitlines()[-1]
    assert line.startswith("3 of 4 questions answered (2 from the store), 1 failed: KeyError (1). ")


def test_several_calls_are_under_way_at_once():
    barrier = threading.Barrier(4, timeout=30)

    def pipeline(question):
        barrier.wait()
        return number(question)

    async def together(question):
        return await asyncio.to_thread(pipeline, question)

    for function in (pipeline, together):
        assert run(questions(8), function, max_concurrency=4)["reason"].isna().all()


def test_with_one_call_at_a_time_the_function_runs_in_the_thread_of_the_caller():
    database = sqlite3.connect(":memory:")  # refuses other threads

    def pipeline(question):
        return database.execute("SELECT ?", [number(question)]).fetchone()[0]

    assert run(questions(3), pipeline)["response"].tolist() == ["0", "1", "2"]


def test_asynchronous_calls_of_two_runs_share_one_loop():
    loops = set()

    async def pipeline(question):
        loops.add(asyncio.get_running_loop())
        return number(question)

    run(questions(4), pipeline, max_concurrency=4)
    run(questions(4), pipeline)
    assert len(loops) == 1


def test_a_store_that_fails_ends_the_run():
    class Full(Store):
        def add(self, replies):
            raise StoreError("the disk is full")

    for at_once in (1, 3):
        with Full(":memory:") as store, pytest.raises(StoreError, match="the disk is full"):
            run(questions(9), number, store=store, max_concurrency=at_once)


# ---- runs that are killed ------------------------------------------------------------------------


def calls_of(folder):
    path = folder / "calls.txt"
    return path.read_text().split() if path.exists() else []


def wait_for_calls(process, folder, n):
    while process.is_alive() and len(calls_of(folder)) < n:
        time.sleep(0.005)


@pytest.mark.parametrize(
    ("at_once", "asynchronously"), [(1, False), (6, False), (6, True)], ids=str
)
def test_a_killed_run_is_resumed_without_calling_twice(tmp_path, at_once, asynchronously):
    rng, n, kills = random.Random(at_once), 60, 4
    arguments = [answer_slowly, n, tmp_path, at_once, 0.02, asynchronously]
    for _ in range(kills):
        process = start(*arguments)
        wait_for_calls(process, tmp_path, len(calls_of(tmp_path)) + rng.randint(2, 12))
        kill(process)
    assert len(calls_of(tmp_path)) < n + kills * at_once, "the kills came after the run"
    finish(*arguments)
    expected = [[str(i), [f"p{i}"]] for i in range(n)]
    assert json.loads((tmp_path / "out.json").read_text()) == expected
    calls = calls_of(tmp_path)
    # Only calls that were under way when the process was killed are made again.
    assert n <= len(calls) <= n + kills * at_once
    before = len(calls)
    finish(*arguments)
    assert len(calls_of(tmp_path)) == before


@pytest.mark.parametrize("at_once", [1, 4])
def test_an_interrupted_run_stops_at_once_and_keeps_what_came(tmp_path, at_once):
    process = start(answer_slowly, 500, tmp_path, at_once, 0.1, False)
    wait_for_calls(process, tmp_path, 4 + at_once)
    os.kill(process.pid, signal.SIGINT)
    process.join()
    assert process.exitcode != 0
    with Store(tmp_path / "s.sqlite") as store:
        assert 3 <= len(store) <= len(calls_of(tmp_path)) < 500
        assert store.query("SELECT count(*) FROM claims")[0][0] == 0


def test_two_processes_with_one_store_call_the_function_once(tmp_path):
    runs = [start(answer_slowly, 40, tmp_path, 4, 0.02, False) for _ in range(2)]
    for process in runs:
        process.join()
    assert [process.exitcode for process in runs] == [0, 0]
    assert sorted(calls_of(tmp_path), key=int) == [str(i) for i in range(40)]
