"""Tools with an environment of their own, because their dependencies exclude those of ragnb.

``.venv/peers/bin/python benchmarks/peers.py ragas answers.json`` prints the CPU time of each metric
as JSON, and ``... inspect http://127.0.0.1:8000/v1 questions.json`` the time of each run.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path


def ragas(path: str) -> dict[str, list[float]]:
    """Score each answer with ragas' exact match and string presence, three times."""
    from ragas import SingleTurnSample
    from ragas.metrics import ExactMatch, StringPresence

    rows = json.loads(Path(path).read_text("utf-8"))

    async def scored(metric) -> None:
        for response, reference in rows:
            sample = SingleTurnSample(response=response, reference=reference)
            await metric.single_turn_ascore(sample)

    times: dict[str, list[float]] = {}
    for metric in (ExactMatch(), StringPresence()):
        times[metric.name] = []
        for _ in range(3):
            started = time.process_time()
            asyncio.run(scored(metric))
            times[metric.name].append(time.process_time() - started)
    return times


def inspect(address: str, path: str) -> dict[str, list[float]]:
    """Ask each question once with inspect_ai, 64 at a time, with its log as the store."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.solver import generate

    os.environ.update(OPENAI_API_KEY="none", OPENAI_BASE_URL=address)
    questions = json.loads(Path(path).read_text("utf-8"))
    samples = [Sample(input=question) for question in questions]
    times: dict[str, list[float]] = {"inspect_ai": []}
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            task = Task(dataset=MemoryDataset(samples), solver=generate())
            started = time.perf_counter()
            (log,) = eval(
                task,
                model="openai/m",
                model_args={"responses_api": False},
                max_connections=64,
                log_dir=folder,
                display="none",
            )
            times["inspect_ai"].append(time.perf_counter() - started)
            assert log.status == "success", log.error
    return times


if __name__ == "__main__":
    tool, *arguments = sys.argv[1:]
    print(json.dumps({"ragas": ragas, "inspect": inspect}[tool](*arguments)))
