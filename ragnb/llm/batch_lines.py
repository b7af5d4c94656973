"""What passes between the parts of a batch: the lines of its files, and the batch as its provider shows it."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ragnb.errors import InputError
from ragnb.llm.engine import AttemptFailed, Job, accepted, noted, read_reply
from ragnb.llm.store import Reply, canonical


class Line(NamedTuple):
    """One request of a batch: its key, canonical JSON, endpoint and length in the file."""

    key: str
    request: str
    endpoint: str
    size: int


def line_of(key: str, request: Mapping[str, Any], refused: Collection[str]) -> Line:
    """A request as a line that is still to be put into a file, for a model that refuses some parameters."""
    return Line(key, canonical(request), _endpoint(request), len(file_line(key, request, refused)))


def file_line(key: str, request: Mapping[str, Any], refused: Collection[str]) -> bytes:
    """A line of the input file; ASCII only, so that no script's line separators can break it."""
    content = {name: request[name] for name in ("messages", "prompt") if name in request}
    body = {"model": request["model"], **content, **accepted(request["parameters"], refused)}
    line = canonical({"custom_id": key, "method": "POST", "url": _endpoint(request), "body": body})
    return line.encode("ascii") + b"\n"


def _endpoint(request: Mapping[str, Any]) -> str:
    return "/v1/chat/completions" if "messages" in request else "/v1/completions"


def parts(lines: list[Line], max_requests: int, max_bytes: int) -> Iterator[list[Line]]:
    """Lines, in order, as files within the limits; a file has one endpoint."""
    part, size = list[Line](), 0
    for line in lines:
        if line.size > max_bytes:
            raise InputError(
                f"a batch file needs requests of at most {max_bytes} bytes; got one of {line.size} bytes "
                f"({line.request[:60]}...); shorten it, leave it out, or ask it with complete"
            )
        full = len(part) == max_requests or size + line.size > max_bytes
        if part and (full or line.endpoint != part[0].endpoint):
            yield part
            part, size = [], 0
        part.append(line)
        size += line.size
    if part:
        yield part


@dataclass(frozen=True, slots=True)
class Seen:
    """A batch as its provider shows it."""

    batch_id: str
    state: str
    completed: int | None
    failed: int | None
    output_file_id: str | None
    error_file_id: str | None
    reason: str | None


@dataclass
class Harvest:
    """What the files of a finished batch say about the requests ``asked`` (canonical JSON by key).

    The requests were sent without the parameters ``refused``, or with these under another name.
    """

    asked: dict[str, str]
    clean: Any = str
    refused: Collection[str] = ()
    failed: dict[str, str] = field(default_factory=dict)
    malformed: int = 0
    unknown: int = 0

    def read(self, content: bytes, block: int = 1000) -> Iterator[list[Reply]]:
        """Replies of a file, some at a time; errors, malformed lines and unknown requests are noted."""
        replies: list[Reply] = []
        for line in content.split(b"\n"):
            reply = self._read_line(line) if line.strip() else None
            if reply:
                replies.append(reply)
            if len(replies) == block:
                yield replies
                replies = []
        yield replies

    def _read_line(self, line: bytes) -> Reply | None:
        try:
            entry = json.loads(line)
            key = entry["custom_id"]
        except (ValueError, LookupError, TypeError, RecursionError):
            self.malformed += 1
            return None
        if not isinstance(key, str) or key not in self.asked:
            self.unknown += 1
            return None
        request = json.loads(self.asked[key])
        outcome = _outcome(Job(key, request), entry)
        if isinstance(outcome, Reply):
            return noted(
                outcome, request["parameters"], accepted(request["parameters"], self.refused)
            )
        self.failed[key] = self.clean(outcome)
        return None


def _outcome(job: Job, entry: Mapping[str, Any]) -> Reply | str:
    """The reply in an output line, or the reason why it has none."""
    response = entry.get("response")
    if not isinstance(response, Mapping):
        return _complaint(entry.get("error"))
    if response.get("status_code", 200) != 200:
        body = response.get("body")
        said = body.get("error", body) if isinstance(body, Mapping) else body
        return f"HTTP {response.get('status_code')}: {_complaint(said)}"
    try:
        return replace(
            read_reply(job, json.dumps(response.get("body")).encode("ascii"), 0.0), seconds=None
        )
    except AttemptFailed as failure:
        return failure.reason


def _complaint(error: Any) -> str:
    if not isinstance(error, Mapping):
        return str(error) if error else "neither a response nor an error"
    code = f" ({error['code']})" if error.get("code") else ""
    return f"{error.get('message') or 'an error without a message'}{code}"
