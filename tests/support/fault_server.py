"""A small real HTTP server that speaks the chat and completions endpoints and fails on request.

Each answer is decided by a function ``behave(call) -> Answer``; `Call` says what was asked and how often. The server counts
what it was asked, which is what the promises of the runner are held against. Run as a script it serves in a process of its own
and prints its address, for benchmarks.
"""

import asyncio
import hashlib
import json
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Call:
    """One request: how many came before it, how many equal ones, its path, headers and body."""

    number: int
    repeat: int
    path: str
    headers: dict[str, str]
    body: dict
    raw: bytes = b""


@dataclass
class Answer:
    """What is sent back: a completion by default, else a status with a message, raw bytes, or nothing at all."""

    status: int = 200
    text: str | None = None
    tokens: int = 5  # of the completion
    message: str = "the server is told to fail"
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    raw: bytes | None = None
    drop: str = ""  # "before" any byte, or "inside" the body
    after: bool = False  # whether the call takes effect nevertheless
    drip: float = 0.0  # seconds between two bytes of the body
    body: dict | None = None  # the whole body instead of the usual one


def echo(call: Call) -> Answer:
    """Reply with a hash of what was asked: every request has one right reply."""
    return Answer(text=expected_text(call.body))


def expected_text(body: dict) -> str:
    asked = body.get("messages") or body.get("prompt")
    return "echo " + hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:12]


class FaultServer:
    """The server, in a thread with a loop of its own; use it in a ``with`` block."""

    def __init__(self, behave: Callable[[Call], Answer] = echo, *, port: int = 0) -> None:
        self.behave = behave
        self.port = port  # 0 is any free one
        self.calls: list[Call] = []
        self.counts: Counter[str] = Counter()
        self.open_now = self.most_open = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()

    def __enter__(self) -> "FaultServer":
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def options(self) -> dict:
        """Arguments of `complete` for one attempt without a file."""
        quiet = {"store": ":memory:", "progress": False, "max_retries": 0}
        return {"base_url": self.base_url, **quiet}

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", self.port, backlog=512)
        )
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await _head(reader):
                await self._respond(*head, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, _Dropped):
            pass
        finally:
            writer.close()

    async def _respond(self, verb: str, path: str, headers: dict, reader, writer) -> None:
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        call = self.note(verb, path, headers, raw)
        self.open_now += 1
        self.most_open = max(self.most_open, self.open_now)
        try:
            answer = self.decide(call)
            if answer.delay:
                await asyncio.sleep(answer.delay)
            await _answer(writer, answer, call)
        finally:
            self.open_now -= 1

    def decide(self, call: Call) -> Answer:
        return self.behave(call)

    def kind(self, verb: str, path: str, body: dict) -> str:
        """What makes calls equal."""
        return expected_text(body)

    def note(self, verb: str, path: str, headers: dict, raw: bytes) -> Call:
        body = json.loads(raw) if "json" in headers.get("content-type", "") else {}
        kind = self.kind(verb, path, body)
        call = Call(len(self.calls), self.counts[kind], path, headers, body, raw)
        self.counts[kind] += 1
        self.calls.append(call)
        return call


class _Dropped(Exception):
    pass


async def _head(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str]] | None:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    verb, path, _ = lines[0].split(" ", 2)
    pairs = (line.split(":", 1) for line in lines[1:] if ":" in line)
    return verb, path, {name.strip().lower(): value.strip() for name, value in pairs}


async def _answer(writer: asyncio.StreamWriter, answer: Answer, call: Call) -> None:
    if answer.drop == "before":
        raise _Dropped
    content = answer.raw
    if content is None:
        content = json.dumps(answer.body or _body(answer, call)).encode()
    length = {"content-type": "application/json", "content-length": str(len(content))}
    headers = [f"{name}: {value}\r\n" for name, value in (length | answer.headers).items()]
    head = "".join([f"HTTP/1.1 {answer.status} X\r\n", *headers, "\r\n"]).encode("latin-1")
    if answer.drip:
        writer.write(head)
        for n in range(len(content)):
            writer.write(content[n : n + 1])
            await writer.drain()
            await asyncio.sleep(answer.drip)
        return
    writer.write(head + content[: len(content) // 2 if answer.drop else None])
    await writer.drain()
    if answer.drop:
        raise _Dropped


def _body(answer: Answer, call: Call) -> dict:
    if answer.status != 200:
        return {"error": {"message": answer.message, "type": "fault", "code": None}}
    said = {"text": answer.text}
    if call.path.endswith("/chat/completions"):
        said = {"message": {"role": "assistant", "content": answer.text}}
    return {
        "model": call.body.get("model"),
        "choices": [{"index": 0, "finish_reason": "stop", **said}],
        "usage": {
            "prompt_tokens": 10,
            "completion_tokens": answer.tokens,
            "total_tokens": 10 + answer.tokens,
        },
        "system_fingerprint": "fp_fault",
    }


def serve_as_script(delay: float) -> None:
    with FaultServer(lambda call: Answer(text=expected_text(call.body), delay=delay)) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    serve_as_script(float(sys.argv[1]))
