"""Processes that tests start and kill: real ones, forked from one that has done its imports."""

import asyncio
import multiprocessing
import resource
import signal
import time

import pandas as pd

from ragnb.annotation import AnnotationSession
from ragnb.annotation.log import AnnotationLog
from ragnb.experiments import run as pipeline_run
from ragnb.llm import complete
from support.asking import chat

context = multiprocessing.get_context("forkserver")
context.set_forkserver_preload(
    [
        "pytest",
        "ragnb.llm.client",
        "ragnb.annotation.session",
        "ragnb.experiments.pipeline",
    ]
    + [f"openai.resources.{name}" for name in ("chat",)]
)


def start(work, *arguments):
    """A process that does this work."""
    process = context.Process(target=work, args=arguments, daemon=True)
    process.start()
    return process


def finish(work, *arguments):
    """Do this work in a process of its own, which has to end well."""
    process = start(work, *arguments)
    process.join()
    assert process.exitcode == 0


def kill(process):
    process.kill()
    process.join()


def run(n, base_url, folder, concurrency, out="out.json"):
    """Ask a model. Ctrl-C interrupts it even if the tests run in the background of a shell."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options = {"max_concurrency": concurrency, "progress": False, "base_url": base_url}
    replies = complete(chat(n), model="m", store=folder / "s.sqlite", **options)
    replies["response"].to_json(folder / out, orient="values")


def answer_slowly(n, folder, at_once, seconds, asynchronously):
    """Answer n questions with a function, which notes each call in a file before it begins."""
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def noted(question):
        number = question.split()[-1]
        with open(folder / "calls.txt", "a") as file:
            file.write(number + "\n")
        return {"response": number, "retrieved": [f"p{number}"]}

    def pipeline(question):
        answer = noted(question)
        time.sleep(seconds)
        return answer

    async def awaited(question):
        answer = noted(question)
        await asyncio.sleep(seconds)
        return answer

    examples = pd.DataFrame({"question": [f"What is {number}" for number in range(n)]})
    function = awaited if asynchronously else pipeline
    options = {"system": "s", "max_concurrency": at_once, "progress": False}
    responses = pipeline_run(examples, function, store=folder / "s.sqlite", **options)
    responses[["response", "retrieved"]].to_json(folder / "out.json", orient="values")


def measure_memory(n, base_url, store, pipe):
    """Ask a model with prompts of 1,000 letters, and tell the memory that it took on top of them."""

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def ask(requests):
        options = {"base_url": base_url, "store": store, "max_concurrency": 64}
        return complete(requests, model="m", progress=False, **options)

    def prompts(first, last):
        said = [f"{i:08d} " + "x" * 1000 for i in range(first, last)]
        return pd.DataFrame({"messages": [[{"role": "user", "content": one}] for one in said]})

    ask(prompts(0, 200))  # everything imported, every pool made
    requests = prompts(200, 200 + n)
    before = peak()
    replies = ask(requests)
    pipe.send((int(replies["response"].notna().sum()), peak() - before))


def hold(path, header, pipe):
    """Open a log, say so, and write into it when told."""
    log = AnnotationLog(path, header)
    pipe.send("opened")
    pipe.recv()
    pipe.send(log.append({"action": "flag", "item": "q", "value": True})[0]["n"])


def take_notes(path, name, pipe):
    """Write note after note, and tell each one's number as soon as it is saved."""
    examples = pd.DataFrame({"example_id": ["q/0", "q/1"], "question": "?", "response": "!"})
    session = AnnotationSession(examples, "verdict", "ana", path)
    pipe.send(len(session.log.events))
    n = 0
    while True:
        n += 1
        session.note(f"{name}:{n} " + "é" * (n % 300))
        pipe.send((session.log.events[-1]["n"], session.labels.note))


def tag_items(path, n, pipe):
    """Give item after item one of seven tags, rename the seventh tag, and tell the number of each item."""
    examples = pd.DataFrame(
        {"example_id": [f"q/{i}" for i in range(n)], "question": "?", "response": "!"}
    )
    session = AnnotationSession(examples, "error_analysis", "ana", path)
    for number in range(n):
        session.go(number)
        session.tag(f"tag {number % 7}")
        if number == 13:
            session.rename_tag("tag 6", "renamed")
        pipe.send(number)
