"""A small real HTTP server that speaks files and batches and fails on request, in the manner of `fault_server`.

Three functions decide what happens: ``behave(call)`` may answer with a fault before or after a call takes effect,
``result(line)`` says what becomes of one request of a batch, and ``arrange(lines)`` in which order results are written. A batch
shows the ``states`` one after the other, one each time it is retrieved. The server keeps all files and batches, which is what
the promises about batches are held against.
"""

import email.parser
import email.policy
import json
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from fault_server import Answer, Call, _body, expected_text

FINAL = ("completed", "failed", "expired", "cancelled")
Result = dict | bytes | None


def _line(
    line: dict, status: int = 200, body: dict | None = None, error: dict | None = None
) -> dict:
    response = body and {"status_code": status, "body": body}
    return {"custom_id": line["custom_id"], "response": response, "error": error}


def answered(line: dict) -> Result:
    """The line of a request that was answered, with the same right reply as the fault server's."""
    call = Call(0, 0, line["url"], {}, line["body"])
    return _line(line, body=_body(Answer(text=expected_text(line["body"])), call))


def refused(line: dict, message: str = "context length exceeded", status: int = 400) -> Result:
    return _line(line, status, {"error": {"message": message, "code": None}})


def expired(line: dict) -> Result:
    message = "This request could not be executed before the completion window expired."
    return _line(line, error={"code": "batch_expired", "message": message})


@dataclass
class Fault:
    """What goes wrong: a status, raw bytes, or a dropped connection; ``after`` the call took effect or before."""

    status: int = 500
    message: str = "the server is told to fail"
    raw: bytes | None = None
    drop: bool = False
    after: bool = False
    headers: dict[str, str] = field(default_factory=lambda: {"retry-after-ms": "1"})


class BatchServer:
    """The server, in threads of its own; use it in a ``with`` block."""

    def __init__(
        self,
        behave: Callable[[Call], Fault | None] = lambda call: None,
        result: Callable[[dict], Result] = answered,
        states: Sequence[str] = ("completed",),
        arrange: Callable[[list], list] = lambda lines: lines[::-1],
        page: int = 100,
    ) -> None:
        self.behave, self.result, self.states = behave, result, states
        self.arrange, self.page = arrange, page
        self.calls: list[Call] = []
        self.counts: Counter[str] = Counter()
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict] = {}
        self.lock = threading.RLock()

    def __enter__(self) -> "BatchServer":
        self._http = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"server_of": self})
        )
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def lines(self) -> list[dict]:
        """Requests of all batches, as often as they would be paid for."""
        return [line for batch in self.batches.values() for line in self.input(batch)]

    def input(self, batch: dict) -> list[dict]:
        return [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]

    def note(self, verb: str, path: str, headers: dict, body: bytes) -> Call:
        with self.lock:
            kind = f"{verb} {re.sub(r'(file|batch)-[0-9]+', 'ID', path)}"
            content = (
                json.loads(body)
                if body and "json" in headers.get("content-type", "")
                else {"raw": body}
            )
            call = Call(len(self.calls), self.counts[kind], kind, headers, content)
            self.counts[kind] += 1
            self.calls.append(call)
            return call

    def act(self, verb: str, path: str, query: str, call: Call) -> dict | bytes | None:
        """Do what is asked; None when there is no such thing."""
        part = path.removeprefix("/v1/").split("/")
        with self.lock:
            if part[0] == "files" and verb == "POST":
                return self._upload(call)
            if part[0] == "files" and part[-1] == "content":
                return self.files.get(part[1])
            if part == ["batches"]:
                return self._create(call.body) if verb == "POST" else self._list(query)
            batch = self.batches.get(part[1]) if part[0] == "batches" else None
            return batch and self._step(batch)

    def _upload(self, call: Call) -> dict:
        head = b"content-type: " + call.headers["content-type"].encode() + b"\r\n\r\n"
        form = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(
            head + call.body["raw"]
        )
        fields = {
            part.get_param("name", header="content-disposition"): part for part in form.iter_parts()
        }
        assert fields["purpose"].get_content().strip() == "batch"
        return self._file(fields["file"].get_payload(decode=True), fields["file"].get_filename())

    def _file(self, content: bytes, name: str) -> dict:
        identity = f"file-{len(self.files)}"
        self.files[identity] = content
        return {"id": identity, "object": "file", "filename": name, "purpose": "batch"}

    def _create(self, body: dict) -> dict:
        assert body["completion_window"] == "24h"
        n = len(self.files[body["input_file_id"]].splitlines())
        batch = {
            **body,
            "id": f"batch-{len(self.batches)}",
            "object": "batch",
            "created_at": int(time.time()),
            "status": "validating",
            "request_counts": {"total": n, "completed": 0, "failed": 0},
            "output_file_id": None,
            "error_file_id": "",  # seen in the wild beside null
            "steps": list(self.states),
        }
        self.batches[batch["id"]] = batch
        return batch

    def _list(self, query: str) -> dict:
        newest = list(self.batches.values())[::-1]
        after = re.search("after=([^&]*)", query)
        start = [batch["id"] for batch in newest].index(after[1]) + 1 if after else 0
        return {
            "object": "list",
            "data": newest[start : start + self.page],
            "has_more": start + self.page < len(newest),
        }

    def _step(self, batch: dict) -> dict:
        if batch["status"] not in FINAL:
            batch["status"] = (
                batch["steps"].pop(0) if len(batch["steps"]) > 1 else batch["steps"][0]
            )
            if batch["status"] in FINAL:
                self._finish(batch)
        return batch

    def _finish(self, batch: dict) -> None:
        results = self.arrange([self.result(line) for line in self.input(batch)])
        lines: dict[str, list[bytes]] = {"output_file_id": [], "error_file_id": []}
        for result in results:
            if result is None:
                continue
            written = result if isinstance(result, bytes) else json.dumps(result).encode()
            good = isinstance(result, bytes) or (result["response"] or {}).get("status_code") == 200
            lines["output_file_id" if good else "error_file_id"].append(written)
        completed, failed = map(len, lines.values())
        batch["request_counts"].update(completed=completed, failed=failed)
        for name, content in lines.items():
            if content:
                batch[name] = self._file(b"\n".join(content), f"{name}.jsonl")["id"]


class _Handler(BaseHTTPRequestHandler):
    """One connection; ``server_of`` is the BatchServer."""

    protocol_version = "HTTP/1.1"
    server_of: BatchServer

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def log_message(self, *_: object) -> None:
        pass

    def _serve(self, verb: str) -> None:
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        call = self.server_of.note(
            verb, path, headers, self.rfile.read(int(headers.get("content-length", 0)))
        )
        fault = self.server_of.behave(call)
        if fault and not fault.after:
            return self._fail(fault)
        done = self.server_of.act(verb, path, query, call)
        if fault:
            return self._fail(fault)
        if done is None:
            return self._fail(Fault(404, f"No such thing: {path}"))
        return self._send(200, done if isinstance(done, bytes) else json.dumps(done).encode(), {})

    def _fail(self, fault: Fault) -> None:
        if fault.drop:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        body = {"error": {"message": fault.message, "type": "fault", "code": None}}
        status = 200 if fault.raw is not None else fault.status
        self._send(
            status, json.dumps(body).encode() if fault.raw is None else fault.raw, fault.headers
        )

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
