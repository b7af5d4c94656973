"""The bodies of an endpoint's answers: what is a completion, what is an error, and what a reply contains.

Servers that are compatible with OpenAI's differ here: some send errors with status 200, some only
stream, some send a text in parts or the reasoning in a field of its own.
"""

# Tested in tests/llm/test_servers.py.

import json
import re
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ragnb.llm.endpoint import NO_COMPLETION, NO_PATH, error_message, safe_message
from ragnb.llm.store import Reply, Request, canonical
from ragnb.text import lines_of, well_formed

# Largest body of one answer, after decompression. A reply with log probabilities has some megabytes.
MAX_REPLY_BYTES = 32 * 2**20
# Largest number of bytes that are decompressed at once.
_PIECE = 2**20
# Compressions that are requested and read. The HTTP client would decompress others without a limit.
ENCODINGS = "gzip, deflate"
# Values of ``finish_reason`` that mean that the provider failed.
_FAILED = re.compile(
    r"error|abort|cancel|fail|timeout|timed.out|insufficient|overload|unavailable|interrupt|crash",
    re.IGNORECASE,
)
# Fields of a message in which servers send reasoning, besides ``reasoning_content`` and ``reasoning``.
_REASONING_FIELDS = (
    "thinking",
    "thinking_blocks",
    "reasoning_details",
    "reasoning_text",
    "thought",
)
# Depth to which the lists and objects in a field of reasoning are read.
_MOST_NESTED_REASONING = 4


# ---- reading -------------------------------------------------------------------------------------


class TooLarge(ValueError):
    """A body that is larger than the limit, or compressed in a way that cannot be limited."""


class DamagedBody(ValueError):
    """A compressed body that cannot be decompressed."""


class BoundedBody:
    """Collects the pieces of a body, decompresses them, and stops at a limit.

    A compressed body of 2 MB can contain gigabytes, so decompression itself must be limited.
    """

    def __init__(self, encoding: str, limit: int) -> None:
        """Read a body with this ``content-encoding``, of at most ``limit`` bytes after decompression."""
        self.content = bytearray()
        self._limit = limit
        # The header lists all compressions that were applied one after the other.
        names = encoding.lower().replace(" ", "").split(",")
        compressions = [name for name in names if name not in ("", "identity")]
        if compressions not in ([], ["gzip"], ["x-gzip"], ["deflate"]):
            raise TooLarge(
                f"the reply is compressed as {encoding!r:.40}, which ragnb did not ask for"
            )
        # With 32 added, zlib reads from the start of the body whether its format is gzip or zlib.
        self._decoder = zlib.decompressobj(32 + zlib.MAX_WBITS) if compressions else None

    def add(self, piece: bytes) -> None:
        """Add the next piece as it was received."""
        if self._decoder is None:
            self._keep(piece)
            return
        while piece:
            try:
                self._keep(self._decoder.decompress(piece, _PIECE))
            except zlib.error as error:
                raise DamagedBody(f"the compressed reply is damaged ({error})") from None
            # What was not read, because the result had reached the limit of one call.
            piece = self._decoder.unconsumed_tail

    def _keep(self, piece: bytes) -> None:
        """Add a decompressed piece, and stop at the limit."""
        self.content += piece
        if len(self.content) > self._limit:
            raise TooLarge(
                f"the reply is larger than {self._limit // 2**20} MB, the limit of ragnb"
            )


# ---- classifying ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answer with status 200 is: a completion, an error, or neither.

    Attributes
    ----------
    body : bytes
        JSON of the completion or of the error; empty if the answer is neither.
    status : int
        The status that the server should have sent.
    failure : str
        Why there is no reply; empty for a completion.
    formed : bool
        Whether the answer has the form of a completion, which shows that the address is right.
    """

    body: bytes = b""
    status: int = 200
    failure: str = ""
    formed: bool = False


def classify(content: bytes) -> Answer:
    """What the body of an answer with status 200 is."""
    body = _parsed(content)
    # Gemini's endpoint sends an error as a list with one object.
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    if not isinstance(body, Mapping):
        return Answer(failure=_no_completion(content))
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(choice, Mapping) and _is_choice(choice):
        problem = _failure_of(choice, body)
        if problem:
            return Answer(failure=problem, formed=True)
        # A stream, or a list with one completion, becomes the JSON of the completion.
        is_completion_already = content.lstrip()[:1] == b"{"
        completion = content if is_completion_already else json.dumps(body).encode("utf-8")
        return Answer(body=completion, formed=True)
    if body.get("error"):
        error = json.dumps(body).encode("utf-8")
        return Answer(body=error, status=_status_of(body["error"]), failure=error_message(body))
    # Without a choice there is no text. Gemini's endpoint sends null in place of the empty list.
    is_null = choices is None and body.get("object") == "chat.completion"
    is_empty = isinstance(choices, list) and not choices
    if is_null or is_empty:
        spelling = "null" if is_null else "[]"
        reason = f"{NO_COMPLETION}, because it has no choice (choices: {spelling}){_note_if_blocked(body)}"
        return Answer(failure=reason, formed=True)
    return Answer(failure=_no_completion(content))


def _parsed(content: bytes) -> Any:
    """The JSON of a body, or the completion that results from the events of a stream; None if it is neither."""
    with suppress(ValueError, RecursionError):
        return json.loads(content)
    # A stream consists of lines such as ``data: {...}``, and its last one is ``data: [DONE]``.
    text = content.decode("utf-8", "replace")
    lines = [line.strip() for line in lines_of(text)]
    if not any(line.startswith("data:") for line in lines):
        return None
    events = []
    ended = False
    for line in lines:
        # Other lines name the event, or keep the connection alive.
        if not line.startswith("data:"):
            continue
        data = line.removeprefix("data:").strip()
        if data == "[DONE]":
            ended = True
        elif data:
            try:
                events.append(json.loads(data))
            except (ValueError, RecursionError):
                return None
    return _joined(events, ended)


def _joined(events: list[Any], ended: bool) -> Any:
    """The completion that results from the events of a stream, or its error; None if it is neither.

    Each event contains the next piece of the reply. Some servers stream although they were not asked to.
    ``ended`` is whether the stream had its last event.
    """
    content, reasoning, refusal = "", "", ""
    finish = None
    fields: dict[str, Any] = {}
    for event in events:
        if not isinstance(event, Mapping):
            return None
        if event.get("error"):
            return {"error": event["error"]}
        # Fields next to the choices, such as the model and the numbers of tokens.
        fields |= {name: value for name, value in event.items() if name != "choices" and value}
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else {}
        if not isinstance(choice, Mapping):
            return None
        # An event has the next piece of the reply as a delta, as a message, or as the text of the choice.
        delta = choice.get("delta") or choice.get("message") or choice
        if isinstance(delta, Mapping):
            text, _ = _text_of(delta.get("content", delta.get("text")))
            content += text or ""
            reasoning += _reasoning_of(delta) or ""
            refusal += _refusal_of(delta)
        finish = choice.get("finish_reason") or finish
    if not (fields or content or refusal):
        return None
    if not finish:
        # Without the last event, the connection was lost in the middle of the reply.
        finish = "stop" if ended else "error: the stream ended before the reply was complete"
    message = {"role": "assistant", "content": content}
    if reasoning:
        message["reasoning"] = reasoning
    if refusal:
        message["refusal"] = refusal
    return {**fields, "choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def _is_choice(choice: Mapping[str, Any]) -> bool:
    """Whether an object has the form of a choice of a completion."""
    has_message = any(isinstance(choice.get(name), Mapping) for name in ("message", "delta"))
    # If Gemini's endpoint blocks a reply, there is no message.
    has_only_end = choice.get("message") is None and isinstance(choice.get("finish_reason"), str)
    return has_message or "text" in choice or has_only_end


def _failure_of(choice: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    """Why the provider failed in the middle of a reply, empty if it did not."""
    finish = choice.get("finish_reason")
    is_failed_end = isinstance(finish, str) and _FAILED.search(finish) is not None
    error = choice.get("error")
    # An error next to the choice counts only if the reply did not end properly.
    if not error and (is_failed_end or not finish):
        error = body.get("error")
    if error:
        reason = error_message({"error": error})
    elif is_failed_end:
        reason = f"finish_reason {finish!r}"
    else:
        return ""
    return f"the provider failed in the middle of the reply: {reason}"


def _status_of(error: Any) -> int:
    """The status that an error with status 200 should have had: that in its code, else 404 or 500."""
    if isinstance(error, Mapping):
        code = str(error.get("code", error.get("status")))
        if re.fullmatch("[45][0-9][0-9]", code):
            return int(code)
    return 404 if re.match(NO_PATH, str(error), re.IGNORECASE | re.DOTALL) else 500


def _no_completion(content: bytes) -> str:
    """Why a body is not a completion, with its first characters."""
    start = " ".join(content[:2000].decode("utf-8", "replace").split())
    kind = ""
    if not start:
        kind = " but empty"
    elif re.match(r"(?i)<(!doctype|html|head|body|!--|\?xml)", start):
        kind = " but a web page"
    elif start.startswith("data:") or start.startswith("event:"):
        kind = " but a stream of events that cannot be read"
    return f"{NO_COMPLETION}{kind} ({safe_message(start)[:60]!r})"


def _note_if_blocked(body: Mapping[str, Any]) -> str:
    """The end of a sentence if the provider says that it blocked the prompt, else empty."""
    # The fields of Azure and of Gemini. Their form varies, so that the words are searched in the JSON.
    results = json.dumps(body.get("prompt_filter_results") or body.get("prompt_feedback") or "")
    return "; the provider blocked the prompt" if '"filtered": true' in results else ""


# ---- the reply -----------------------------------------------------------------------------------


def read_reply(
    key: str, request: Request, sent: Mapping[str, Any], body: Any, seconds: float | None
) -> Reply:
    """The reply in the body of a completion.

    ``sent`` are the parameters that were sent, which are stored if they differ from those of the request.
    A field with a value of the wrong kind is left out, so that the reply, which is paid for, is not lost.
    """
    choice = body["choices"][0]
    message = _message_of(choice)
    usage = body.get("usage")
    if not isinstance(usage, Mapping):
        usage = {}

    # The fields of the message that have no column of their own.
    extra = {str(name): value for name, value in message.items() if value}
    content = extra.pop("content", message.get("content"))
    extra.pop("role", None)
    text, has_other_parts = _text_of(content)
    if has_other_parts:
        # The column `response` has the text only, so the content is stored as it came.
        extra["content_parts"] = content
    refusal = _refusal_of({**message, "content": content})
    if refusal:
        extra["refusal"] = refusal
    has_reasoning_text = isinstance(extra.get("reasoning_content") or extra.get("reasoning"), str)
    if not has_reasoning_text:
        reasoning = _reasoning_of({**message, "content": content})
        if reasoning:
            extra["reasoning"] = reasoning
    if choice.get("logprobs"):
        extra["logprobs"] = choice["logprobs"]
    if sent != request["parameters"]:
        extra["sent_parameters"] = dict(sent)

    now = datetime.now(UTC)
    return Reply(
        key=key,
        request=canonical(request),
        response=_as_text(text),
        finish_reason=_as_text(choice.get("finish_reason")),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        served_model=_as_text(body.get("model")),
        system_fingerprint=_as_text(body.get("system_fingerprint")),
        extra=json.dumps(extra) if extra else None,
        seconds=None if seconds is None else round(seconds, 3),
        created=now.isoformat(timespec="milliseconds"),
    )


def _message_of(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message of a choice. The choice of a plain completion has a text, which becomes a message."""
    for name in ("message", "delta"):
        message = choice.get(name)
        if isinstance(message, Mapping):
            return message
    return {"content": choice.get("text")}


def _text_of(content: Any) -> tuple[str | None, bool]:
    """The text in the content of a message, and whether the content has a part without text, such as an image.

    >>> _text_of([{"type": "text", "text": "in "}, "parts", {"type": "image_url", "image_url": {}}])
    ('in parts', True)
    """
    if content is None or isinstance(content, str):
        return content, False
    if isinstance(content, bool | int | float):
        return json.dumps(content), False
    parts = content if isinstance(content, list) else [content]
    texts = []
    has_other_parts = False
    for part in parts:
        text = _text_of_part(part)
        if text is not None:
            texts.append(text)
        elif part is not None:
            has_other_parts = True
    return "".join(texts) if texts else None, has_other_parts


def _text_of_part(part: Any) -> str | None:
    """The text of one part of a content; None if the part has none, as an image.

    Reasoning and a refusal have an empty text: they are no answer, and other fields of the reply contain them.
    """
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return None
    if _is_reasoning(part) or _refusal_in(part):
        return ""
    text = part.get("text", part.get("content"))
    # Some servers put the text into an object, {"value": "..."} or {"text": "..."}.
    if isinstance(text, Mapping):
        text = text.get("value", text.get("text"))
    return text if isinstance(text, str) else None


def _refusal_of(message: Mapping[str, Any]) -> str:
    """The refusal in the field of a message, or in the parts of its content; empty if there is none.

    Such a part is ``{"type": "refusal", "refusal": "..."}``, and counts the same as the field.
    """
    refusal = _refusal_in(message)
    if refusal:
        return refusal
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    return "".join(_refusal_in(part) for part in parts if isinstance(part, Mapping))


def _refusal_in(fields: Mapping[str, Any]) -> str:
    """The text in the field ``refusal`` of a message or of a part; empty if there is none."""
    refusal = fields.get("refusal")
    return refusal if isinstance(refusal, str) else ""


def _is_reasoning(part: Mapping[str, Any]) -> bool:
    """Whether a part of a content is reasoning."""
    kind = part.get("type")
    return isinstance(kind, str) and re.match("thinking|reasoning|thought", kind) is not None


def _reasoning_of(message: Mapping[str, Any]) -> str | None:
    """The reasoning in a field of a message, or in the parts of its content; None if there is none."""
    for name in ("reasoning_content", "reasoning", *_REASONING_FIELDS):
        text = "".join(_reasoning_texts(message.get(name)))
        if text:
            return text
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    blocks = [part for part in parts if isinstance(part, Mapping) and _is_reasoning(part)]
    return "".join(_reasoning_texts(blocks)) or None


def _reasoning_texts(value: Any, depth: int = 0) -> Iterable[str]:
    """The texts in a field of reasoning: a text, an object with one, or a list of either."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < _MOST_NESTED_REASONING:
        for entry in value:
            yield from _reasoning_texts(entry, depth + 1)
    elif isinstance(value, Mapping) and depth < _MOST_NESTED_REASONING:
        for name in ("thinking", "text", "summary", "content", "reasoning"):
            if value.get(name):
                yield from _reasoning_texts(value[name], depth + 1)
                return  # Only the first field with a value is read.


def _as_text(value: Any) -> str | None:
    """A value as a text that SQLite can store: a text as it is, and anything else as JSON; None stays None."""
    if value is None or isinstance(value, str):
        return value and well_formed(value)
    return json.dumps(value)


def _count(value: Any) -> int | None:
    """A number of tokens; None if it is not a whole number that SQLite can store."""
    return value if type(value) is int and 0 <= value < 2**63 else None
