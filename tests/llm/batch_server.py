"""A small real HTTP server that speaks files and batches and fails on request, in the manner of `fault_server`.

Three functions decide what happens: ``behave(call)`` may answer with a fault before or after a call takes effect,
``result(line)`` says what becomes of one request of a batch, and ``arrange(lines)`` in which order results are written. A batch
shows the ``states`` one after the other, one each time it is retrieved. The server keeps all files and batches, which is what
the promises about batches are held against.
"""

import email.parser
import email.policy
import json
import time
from collections.abc import Callable, Sequence
from urllib.parse import parse_qs

from fault_server import Answer, Call, FaultServer, _body, expected_text

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


def fault(status: int = 500, message: str = "told to fail", **options) -> Answer:
    """What goes wrong; ``after`` the call took effect or before."""
    options = {"headers": {"retry-after-ms": "1"}, **options}
    return Answer(200 if "raw" in options else status, message=message, **options)


DROP = {"drop": "before"}


class BatchServer(FaultServer):
    """The server; use it in a ``with`` block."""

    def __init__(
        self,
        behave: Callable[[Call], Answer | None] = lambda call: None,
        result: Callable[[dict], Result] = answered,
        states: Sequence[str] = ("completed",),
        arrange: Callable[[list], list] = lambda lines: lines[::-1],
        page: int = 100,
        port: int = 0,
    ) -> None:
        super().__init__(behave, port=port)
        self.result, self.states, self.arrange, self.page = result, states, arrange, page
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict] = {}

    def kind(self, verb: str, path: str, body: dict) -> str:
        return f"{verb} {path}"

    def note(self, verb: str, path: str, headers: dict, raw: bytes) -> Call:
        call = super().note(verb, path, headers, raw)
        call.path = f"{verb} {path}"
        return call

    def decide(self, call: Call) -> Answer:
        failing = self.behave(call)
        if failing and not failing.after:
            return failing
        done = self.act(call)
        if failing:
            return failing
        if done is None:
            return fault(404, f"No such thing: {call.path}")
        return Answer(raw=done if isinstance(done, bytes) else json.dumps(done).encode())

    def lines(self) -> list[dict]:
        """Requests of all batches, as often as they would be paid for."""
        return [line for batch in self.batches.values() for line in self.input(batch)]

    def input(self, batch: dict) -> list[dict]:
        return [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]

    def act(self, call: Call) -> dict | bytes | None:
        """Do what is asked; None when there is no such thing."""
        verb, _, target = call.path.partition(" ")
        path, _, query = target.partition("?")
        folder, *names = path.removeprefix("/v1/").split("/")
        if folder == "files":
            return self._upload(call) if verb == "POST" else self.files.get(names[0])
        if names:
            batch = self.batches.get(names[0])
            return batch and self._step(batch)
        return self._create(call.body) if verb == "POST" else self._list(query)

    def _upload(self, call: Call) -> dict:
        head = b"content-type: " + call.headers["content-type"].encode() + b"\r\n\r\n"
        form = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + call.raw)
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
        after = parse_qs(query).get("after")
        start = [batch["id"] for batch in newest].index(after[0]) + 1 if after else 0
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
