"""The exit codes of ``compare --fail-if-worse``: a gate that cannot decide never exits with 0."""

import json

import pytest

import ragnb
from ragnb.__main__ import main

RIGHT, HALF, WRONG = "Oslo", "Oslo Bergen Stavanger", "Rome"


@pytest.fixture
def gate(tmp_path, capsys):
    """Write one file per system, with one response per question, and run the gate."""

    def run(*options, metric="f1", smallest="0.02", **systems):
        for name, responses in systems.items():
            rows = [
                {
                    "example_id": f"q{n}",
                    "question": f"Which {n}?",
                    "references": ["Oslo"],
                    "language": "en",
                    **given,
                }
                for n, given in enumerate(
                    given if isinstance(given, dict) else {"response": given} for given in responses
                )
            ]
            (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
        files = [str(tmp_path / f"{name}.jsonl") for name in systems]
        command = ["compare", *files, "-m", *metric.split(), "--baseline", "good"]
        code = main([*command, "--fail-if-worse", smallest, *options])
        errors = capsys.readouterr().err.splitlines()
        return code, "\n".join(line for line in errors if not line.startswith("ragnb: 2 files"))

    return run


def test_a_total_collapse_fails(gate):
    code, errors = gate(good=[RIGHT] * 40, bad=[HALF] * 40)
    assert code == 1
    assert "bad is worse than good: answer.f1 differs by -0.5 [-0.544, -0.369]" in errors
    assert "40 of 40 questions got worse" in errors


def test_equal_systems_pass_and_gains_pass(gate):
    for metric in ("f1", "em"):
        assert gate(good=[RIGHT] * 40, same=[RIGHT] * 40, metric=metric) == (0, "")
        assert gate(good=[WRONG] * 40, better=[RIGHT] * 40, metric=metric) == (0, "")


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("metric", ["f1", "em"])
@pytest.mark.parametrize("now", [RIGHT, HALF, WRONG])
def test_too_few_questions_cannot_decide(gate, n, metric, now):
    code, errors = gate(good=[RIGHT] * n, bad=[now] * n, metric=metric)
    assert code == 3
    assert "cannot decide whether bad is worse than good" in errors
    assert f"with only {n} item{'s' * (n > 1)}, even a loss on every item" in errors


def test_one_conversation_cannot_decide_and_six_can(gate):
    def turns(n, response):
        return [{"response": response, "conversation_id": f"c{k // 3}"} for k in range(n)]

    assert gate(good=turns(3, RIGHT), bad=turns(3, WRONG), metric="em")[0] == 3
    assert gate(good=turns(18, RIGHT), bad=turns(18, WRONG), metric="em")[0] == 1
    assert gate(good=turns(18, RIGHT), bad=turns(18, RIGHT), metric="em")[0] == 0


def test_a_system_without_any_reply_cannot_decide(gate):
    code, errors = gate("--unpaired", "drop", good=[RIGHT] * 40, bad=[None] * 40)
    assert code == 3
    assert "no question has a value of both" in errors
    assert gate(good=[RIGHT] * 40, bad=[None] * 40)[0] == 2


def test_a_loss_outweighs_a_comparison_that_decides_nothing(gate):
    systems = {"good": [RIGHT] * 40, "bad": [HALF] * 40, "silent": [None] * 40}
    code, errors = gate("--unpaired", "drop", **systems)
    assert code == 1
    assert "bad is worse than good" in errors
    assert "cannot decide whether silent is worse than good" in errors
    systems["bad"] = systems["good"]
    assert gate("--unpaired", "drop", **systems)[0] == 3


def test_a_metric_that_is_better_if_lower_fails_if_it_rises(gate):
    lower = [name for name, metric in ragnb.METRICS.items() if not metric.higher_is_better]
    assert "cost.translation_tokens" in lower

    def spending(tokens):
        passage = {"text": "a", "token_count": tokens}
        return [{"response": RIGHT, "translations": [passage]}] * 12

    metric = "cost.translation_tokens"
    code, errors = gate(good=spending(5), bad=spending(9), metric=metric, smallest="1")
    assert code == 1
    assert "differs by +4 (p = 0.00049)" in errors
    assert gate(good=spending(9), bad=spending(5), metric=metric, smallest="1") == (0, "")
    assert gate(good=spending(9), bad=spending(9), metric=metric, smallest="1") == (0, "")
    assert gate(good=spending(5)[:3], bad=spending(9)[:3], metric=metric, smallest="1")[0] == 3


def test_a_loss_of_exactly_the_limit_fails(gate):
    responses = [RIGHT] * 90 + [WRONG] * 10
    code, _ = gate(good=[RIGHT] * 100, bad=responses, metric="em", smallest="0.1")
    assert code == 1
    assert gate(good=[RIGHT] * 100, bad=responses, metric="em", smallest="0.11")[0] == 0


@pytest.mark.parametrize("smallest", ["nan", "inf", "-0.02"])
def test_a_limit_that_is_no_loss_is_refused(gate, smallest):
    code, errors = gate(smallest=smallest, good=[RIGHT] * 40, now=[WRONG] * 40)
    assert code == 2
    assert "--fail-if-worse must be a number of at least 0" in errors


def test_help_documents_the_exit_codes(capsys):
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "the exit code is 1 if a system is worse than the baseline, 3 if the data cannot" in text
    assert "Unusable input has the exit code 2" in text
