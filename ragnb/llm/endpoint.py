"""An endpoint that is compatible with OpenAI's: its address, its key, and what its answers mean."""

import json
import logging
import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ragnb.errors import EndpointError, InputError
from ragnb.llm.store import Reply, Request, canonical
from ragnb.text import well_formed

TIMEOUT = "timeout"
NO_COMPLETION = "a reply that is not a completion"
OTHER_KIND = "an answer of another kind"
REFUSALS: dict[str, tuple[str, str | None]] = {
    "max_tokens": (
        r"unsupported parameter: ['\"]?max_tokens\b|\bmax_tokens\b.*use ['\"]?max_completion_tokens",
        "max_completion_tokens",
    ),
    "temperature": (
        r"unsupported value: ['\"]?temperature\b|\btemperature\b.*only the default",
        None,
    ),
    "response_format": (r"response_format|json_schema|structured.output", None),
}
"""Parameter that some models or servers do not have -> the words of their refusals, and its other name."""
ADVICE = {
    "HTTP 40[13]": "put a key that it accepts into the environment variable OPENAI_API_KEY",
    f"HTTP 3|HTTP 40[45]|{OTHER_KIND}": "check base_url (it usually ends in /v1), the model name, and "
    "that the endpoint offers what you ask for; redirects are not followed",
    ".*insufficient_quota": "top up the account and run again: what was received is kept",
    TIMEOUT: "no reply came in time, so set a higher timeout or a lower max_concurrency",
    "HTTP 4": "the server runs but refuses these requests, so check the model name and the "
    "parameters, and run again",
    "": "check the address and that the server runs",
}
"""Start of the reason for which an endpoint cannot be used -> what to do; the first that fits counts."""
# Characters; shorter keys are placeholders, which a reply may contain by chance.
SHORTEST_SECRET = 16


# ---- the address and the key ---------------------------------------------------------------------


def address_of(base_url: str | None) -> str:
    """The address of the endpoint: the argument, else the environment's, else OpenAI's.

    Anything but an HTTP address raises InputError. A missing key for another machine raises
    EndpointError.
    """
    address = base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
    try:
        parts = urlsplit(address)
        http = parts.scheme in ("http", "https") and address.isprintable()
        if not http or parts.port == 0:  # reading the port checks it
            raise ValueError("not an HTTP address")
    except ValueError as error:
        shown = address.rpartition("@")[2].partition("?")[0]  # the rest may be secret
        raise InputError(
            f"base_url must be an address such as http://127.0.0.1:8080/v1, got {shown!r} ({error})"
        ) from None
    if not (api_key().isascii() and api_key().isprintable()):
        raise EndpointError(
            "The key in the environment variable OPENAI_API_KEY contains a line break or a letter "
            "outside ASCII, which no key has. Copy it again."
        )
    if not os.environ.get("OPENAI_API_KEY", "").strip() and not is_here(address):
        raise EndpointError(
            "An endpoint on another machine needs a key, and the environment variable OPENAI_API_KEY "
            "has none. Set it before you start Jupyter, or replay stored replies with offline=True, "
            "which needs no key."
        )
    return address


def is_here(address: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(address).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def shown_address(address: str) -> str:
    """Remove user, password and query from an address, because they may be secret.

    >>> shown_address("http://user:password@127.0.0.1:80/v1?key=1")
    'http://127.0.0.1:80/v1'
    """
    parts = urlsplit(address)
    shown = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    return shown.rstrip("/")


def api_key() -> str:
    """The key of the endpoint: the only place where ragnb reads it.

    Tracebacks, notebooks and reprs show the variables of functions and objects. None of ours
    therefore keeps the key, and the client calls this function when it sends a request.
    """
    return os.environ.get("OPENAI_API_KEY", "").strip() or "none-needed"


async def api_key_awaited() -> str:
    """`api_key`, for a client that awaits it."""
    return api_key()


def clean(said: object) -> str:
    """Words of an endpoint on one line, without the key and cut to 300 characters."""
    return " ".join(str(said).replace(api_key(), "[key]").split())[:300]


def clean_body(content: bytes) -> bytes:
    """The body of a response without the key, also where JSON spells it with escapes."""
    secret = api_key().encode("ascii")
    if len(secret) < SHORTEST_SECRET:
        return content
    if b"\\" in content:
        with suppress(ValueError, RecursionError):  # not JSON, which the reader will report
            plain = json.dumps(json.loads(content)).encode("ascii")
            content = plain if secret in plain else content
    return content.replace(secret, b"[key]")


def _hide_key(record: logging.LogRecord) -> bool:
    """Keep the key out of the logs of the client's libraries, such as headers that repeat it."""
    if api_key() in (message := record.getMessage()):
        record.msg, record.args = message.replace(api_key(), "[key]"), ()
    return True


for _library in ("httpcore", "httpcore2"):
    for _part in ("", ".connection", ".http11", ".http2", ".proxy", ".socks"):
        logging.getLogger(_library + _part).addFilter(_hide_key)
for _library in ("openai._base_client", "httpx", "httpx2"):
    logging.getLogger(_library).addFilter(_hide_key)


# ---- replies -------------------------------------------------------------------------------------


def is_completion(content: str | bytes) -> bool:
    """Whether the body of a response has a choice with a message or a text."""
    try:
        choice = json.loads(content)["choices"][0]
        return isinstance(choice.get("message"), dict) or "text" in choice
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return False


def read_reply(
    key: str, request: Request, sent: Mapping[str, Any], body: Any, seconds: float | None
) -> Reply:
    """The reply in the body of a completion; ``extra`` has the parameters if others were sent."""
    choice = body["choices"][0]
    message = choice.get("message") or {"content": choice.get("text")}
    usage = body.get("usage") or {}
    extra = {name: value for name, value in message.items() if value}
    content = extra.pop("content", message.get("content"))
    extra.pop("role", None)
    if choice.get("logprobs"):
        extra["logprobs"] = choice["logprobs"]
    if sent != request["parameters"]:
        extra["sent_parameters"] = dict(sent)
    if isinstance(content, list):  # Some endpoints send a text in parts.
        content = "".join(str(part.get("text") or "") for part in content)
    return Reply(
        key=key,
        request=canonical(request),
        response=_text(content),
        finish_reason=_text(choice.get("finish_reason")),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        served_model=_text(body.get("model")),
        system_fingerprint=_text(body.get("system_fingerprint")),
        extra=json.dumps(extra) if extra else None,
        seconds=None if seconds is None else round(seconds, 3),
        created=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value and well_formed(value)
    return json.dumps(value)


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**63 else None


# ---- errors --------------------------------------------------------------------------------------


def error_message(body: Any) -> str:
    """The message in the body of an endpoint's error, with its code."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(error, Mapping) and error.get("message"):
        return str(error["message"]) + (f" ({error['code']})" if error.get("code") else "")
    return str(error)


def explain(reason: str, address: str) -> str:
    """The sentence about an endpoint that cannot be used: which, why, and what to do."""
    advice = next(words for start, words in ADVICE.items() if re.match(start, reason))
    return f"The endpoint {address} cannot be used: {reason}; {advice}."


def refused_parameter(said: str) -> str | None:
    """The parameter that an endpoint refuses as such, if it is one of `REFUSALS`.

    OpenAI's reasoning models refuse max_tokens and temperature. Some servers refuse response_format.

    >>> refused_parameter("Unsupported parameter: 'max_tokens' is not supported with this model.")
    'max_tokens'
    >>> refused_parameter("max_tokens is too large: 100000") is None
    True
    """
    for name, (words, _) in REFUSALS.items():
        if re.search(words, said, re.IGNORECASE):
            return name
    return None


def accepted(parameters: Mapping[str, Any], refused: Collection[str]) -> dict[str, Any]:
    """The parameters to send to a model that refuses some: under another name, or without them.

    >>> accepted({"max_tokens": 8, "temperature": 0, "seed": 1}, {"max_tokens", "temperature"})
    {'max_completion_tokens': 8, 'seed': 1}
    """
    names = {name: REFUSALS[name][1] if name in refused else name for name in parameters}
    return {to: parameters[name] for name, to in names.items() if to is not None}
