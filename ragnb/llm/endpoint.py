"""An endpoint that is compatible with OpenAI's: its address, its key, and what its errors mean."""

# Tested in tests/llm/test_endpoints.py.

import json
import logging
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from ragnb.arguments import HIDDEN, Address, shown_address
from ragnb.errors import EndpointError, InputError

# How the reasons of failures begin, by which `explain` chooses its advice.
TIMEOUT = "timeout"
NO_COMPLETION = "a reply that is not a completion"
OTHER_KIND = "an answer of another kind"
ERROR_AS_REPLY = "an error with status 200"
# Errors of servers that do not know the path of the address.
NO_PATH = r".*(unexpected endpoint|invalid url|no route|cannot post|not found|method not allowed)"
ADVICE = {
    r"(?is)HTTP 402|.*insufficient[_ ](quota|balance|credit|fund)": "top up the account and run again: "
    "what was received is kept",
    "HTTP 40[13]": "put a key that it accepts into the environment variable OPENAI_API_KEY",
    f"(?is)HTTP 3|HTTP 40[45]|{OTHER_KIND}|{NO_COMPLETION}|{ERROR_AS_REPLY}: {NO_PATH}": "check "
    "base_url (it usually ends in /v1), the model name, and that the endpoint offers what you ask "
    "for; redirects are not followed",
    "HTTP 429": "a limit of the account or the server is reached, so wait as long as the server asks, "
    "or set requests_per_minute, and run again: what was received is kept",
    TIMEOUT: "no reply came in time, so set a higher timeout or a lower max_concurrency",
    "HTTP 4": "the server runs but refuses these requests, so check the model name and the "
    "parameters, and run again",
    f"HTTP 5|{ERROR_AS_REPLY}": "the server runs but fails, so look into its log, check the model "
    "name, and run again: what was received is kept",
    "": "check the address and that the server runs",
}
"""Pattern of the start of a reason for which an endpoint cannot be used -> what to do. The first that fits counts."""
# Length of the shortest key that is hidden in replies, in characters. Shorter ones are placeholders such as "none-needed",
# which a reply may contain by chance.
SHORTEST_SECRET = 16
# Paths that users copy from documentation with the address. The client adds them itself.
_CALLS = ("/chat/completions", "/completions")
# How the names of Azure's machines end.
_AZURE = (".azure.com", ".azure-api.net", ".azure.us", ".azure.cn")


# ---- the address ---------------------------------------------------------------------------------

# The slice `address[:]` is the whole address as an ordinary string, whereas str(address) and an
# f-string leave out its secrets.


def address_of(base_url: str | None) -> Address:
    """The address of the endpoint: the argument, else the environment's, else OpenAI's.

    Blanks around it and a path such as ``/chat/completions`` at its end are removed, and ``0.0.0.0``,
    at which a server listens, becomes ``127.0.0.1``, at which it can be reached. Anything but an HTTP
    address raises InputError. A missing key for another machine raises EndpointError.
    """
    address = _plain_address(base_url)
    _note_secrets_of(address)
    if not (api_key().isascii() and api_key().isprintable()):
        raise EndpointError(
            "The key in the environment variable OPENAI_API_KEY contains a line break or a letter "
            "outside ASCII, which no key has. Copy it again."
        )
    if not os.environ.get("OPENAI_API_KEY", "").strip() and not is_here(address):
        raise EndpointError(
            "An endpoint on another machine needs a key, and the environment variable OPENAI_API_KEY "
            "has none. Set it before you start Jupyter (to any text if the server asks for no key), "
            "or replay stored replies with offline=True, which needs no key."
        )
    return address


def _plain_address(base_url: str | None) -> Address:
    """The address of the endpoint in its plain form, as `address_of` describes it, without a look at the key."""
    address = Address(_stated(base_url).strip())
    problem = _problem_of(address)
    if problem:
        failure = InputError(
            "base_url must be an address such as http://127.0.0.1:8080/v1, got "
            f"{shown_address(address)!r} ({problem})"
        )
        # As for EndpointError: Jupyter shows the message alone, because a traceback in its verbose
        # mode prints every variable, and a text that is no address may be a key.
        failure._render_traceback_ = lambda: [f"InputError: {failure}"]  # type: ignore[method-assign]
        raise failure
    parts = urlsplit(address[:])
    user, at, host = parts.netloc.rpartition("@")
    # A server that listens at 0.0.0.0 or [::], which mean all its addresses, is reached at one of them.
    host = re.sub(r"^0\.0\.0\.0(?=:|$)", "127.0.0.1", host).replace("[::]", "[::1]")
    path = parts.path.rstrip("/")
    for call in _CALLS:
        path = path.removesuffix(call)
    return Address(urlunsplit((parts.scheme, user + at + host, path, parts.query, "")))


def _problem_of(address: Address) -> str:
    """Why a text is not an HTTP address; empty if it is one."""
    try:
        parts = urlsplit(address[:])
        is_http = parts.scheme in ("http", "https") and parts.hostname and address.isprintable()
        # Reading the port checks it.
        if is_http and parts.port != 0 and " " not in parts.netloc:
            return ""
    except ValueError as error:
        return str(error)
    return "not an HTTP address"


def _stated(base_url: str | None) -> Address:
    """The address that the user stated for this call, else the one in the environment, else that of OpenAI."""
    stated = base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
    return Address(stated[:])


def is_here(address: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(address[:]).hostname or ""
    return host in ("localhost", "::1", "::", "0.0.0.0") or host.startswith("127.")


def client_options(address: Address) -> dict[str, Any]:
    """The arguments of the client of openai: the address without its query, and the query.

    The client appends the name of a call to the address, so a query such as Azure's ``?api-version=`` is passed separately.
    """
    parts = urlsplit(address[:])
    base = urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))
    return {"base_url": base, "default_query": dict(parse_qsl(parts.query, keep_blank_values=True))}


def wants_api_key_header(address: Address) -> bool:
    """Whether the endpoint is one of Azure's, which read the key from the header ``api-key``."""
    parts = urlsplit(address[:])
    return (parts.hostname or "").endswith(_AZURE) or "api-version" in parts.query


# ---- the identity of an endpoint -----------------------------------------------------------------

# Addresses of packaged models that this process serves; see `ragnb.llm.local.serve`.
PACKAGED_SERVERS: set[str] = set()


def endpoint_name(base_url: str | None) -> str | None:
    """The name under which the replies of an endpoint are stored: its address without secrets.

    All names of this machine are one name, but ports are not: two local servers on different ports
    usually run different models. A server that `ragnb.serve` started has no name (None), because its
    port is another one each time, and its model is known by its own name.

    >>> endpoint_name("http://localhost:8000/v1/")
    'http://127.0.0.1:8000/v1'
    >>> endpoint_name("https://API.example.org:443/v1?key=1")
    'https://api.example.org/v1'
    """
    parts = urlsplit(shown_address(_plain_address(base_url)))
    host = "127.0.0.1" if is_here(urlunsplit(parts)) else parts.hostname or ""
    is_ipv6 = ":" in host
    if is_ipv6:
        host = f"[{host}]"
    default_port = {"http": 80, "https": 443}[parts.scheme]
    port = f":{parts.port}" if parts.port not in (None, default_port) else ""
    name = f"{parts.scheme}://{host}{port}{parts.path}"
    return None if name in PACKAGED_SERVERS else name


# ---- the key -------------------------------------------------------------------------------------


class _Secrets:
    """Every key that was used in this process, and every secret part of an address.

    A key may be changed during a run, and a server may repeat the one that was sent before. The object
    prints as nothing but its type, because tracebacks print the objects that a line mentions.
    """

    def __init__(self) -> None:
        self._values: dict[str, None] = {}

    def add(self, secret: str) -> str:
        """Remember a secret, and return it. A short one is not remembered, because common words would be hidden."""
        if len(secret) >= SHORTEST_SECRET:
            self._values[secret] = None
        return secret

    def hide(self, text: str) -> str:
        """The text with a mark in place of each secret."""
        for secret in self.longest_first():
            text = text.replace(secret, HIDDEN)
        return text

    def longest_first(self) -> list[str]:
        """All secrets, those with the most characters first."""
        # A short key may be part of a longer one; masking it first would leave a piece of the longer one.
        return sorted(self._values, key=len, reverse=True)


_SECRETS = _Secrets()
# The key that is sent if the environment has none, because the client of openai requires one.
_NO_KEY = "none-needed"


def api_key() -> str:
    """Return the key of the endpoint, and remember it as a secret.

    No other function returns or keeps the key; `address_of` only tests whether the environment has one.
    Tracebacks, notebooks and reprs show the variables of functions and objects. None of ours
    therefore keeps the key, and the client calls this function when it sends a request.
    """
    return _SECRETS.add(os.environ.get("OPENAI_API_KEY", "").strip() or _NO_KEY)


async def api_key_awaited() -> str:
    """`api_key`, for a client that awaits it."""
    return api_key()


def _note_secrets_of(address: Address) -> None:
    """Remember what is secret in an address, so that it is hidden if an answer of the endpoint contains it."""
    parts = urlsplit(address[:])
    query = [value for name, value in parse_qsl(parts.query) if name != "api-version"]
    # `shown_address` decides which part of a path looks like a key. It takes whole addresses, so each part becomes the path
    # of an address that has nothing else to hide.
    key_like = []
    for part in parts.path.split("/"):
        if HIDDEN in shown_address(f"http://a/{part}"):
            key_like.append(part)
    for value in (parts.username, parts.password, *query, *key_like):
        _SECRETS.add(value or "")


def safe_message(message: object) -> str:
    """A message of an endpoint on one line, without keys and cut to 300 characters."""
    # The present key is hidden even if it is short.
    present_key = api_key()
    text = _SECRETS.hide(str(message)).replace(present_key, HIDDEN)
    one_line = " ".join(text.split())
    return one_line[:300]


def without_secrets(content: bytes) -> bytes:
    """The body of a response without keys, also where JSON spells them with escapes."""
    api_key()  # This remembers the present key among the secrets.
    for text in _SECRETS.longest_first():
        secret = text.encode("utf-8")
        if b"\\" in content:
            # JSON may spell any letter of a key as an escape, such as \u0041 for A. Only a body with a key in it is
            # written anew, so that the others stay as they came.
            with suppress(ValueError, RecursionError):  # not JSON, which the reader will report
                without_escapes = json.dumps(json.loads(content)).encode("ascii")
                if secret in without_escapes:
                    content = without_escapes
        content = content.replace(secret, HIDDEN.encode("ascii"))
    return content


def _hide_key(record: logging.LogRecord) -> bool:
    """Hide keys in a record of the logs of the client's libraries, for example in headers. The record is always kept."""
    message = record.getMessage()
    hidden = _SECRETS.hide(message.replace(api_key(), HIDDEN))
    if hidden != message:
        record.msg, record.args = hidden, ()
    return True


for _library in ("httpcore", "httpcore2"):
    # A filter of a logger does not apply to its children, so each logger of the library gets it.
    for _part in ("", ".connection", ".http11", ".http2", ".proxy", ".socks"):
        logging.getLogger(_library + _part).addFilter(_hide_key)
for _library in ("openai._base_client", "httpx", "httpx2"):
    logging.getLogger(_library).addFilter(_hide_key)


# ---- errors --------------------------------------------------------------------------------------


def json_or_text(content: bytes) -> Any:
    """The body of a response: what its JSON contains, or its text."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace")


def error_message(body: Any) -> str:
    """The message in the body of an endpoint's error, with its code.

    >>> error_message({"error": {"message": "no such model", "code": "model_not_found"}})
    'no such model (model_not_found)'
    >>> error_message({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]})
    'body.seed: Extra inputs are not permitted'
    """
    if isinstance(body, list) and body:
        # A message has room for the first few.
        return "; ".join(error_message(entry) for entry in body[:5])
    if not isinstance(body, Mapping):
        return str(body)
    error = body.get("error") or body
    if not isinstance(error, Mapping):
        return error_message(error)
    # An error of pydantic, as vLLM and Mistral send it.
    if "msg" in error and "loc" in error:
        place = error["loc"] if isinstance(error["loc"], list | tuple) else [error["loc"]]
        return f"{'.'.join(map(str, place))}: {error['msg']}"
    message = error.get("message") or error.get("detail") or error.get("msg")
    if not message:
        return str(error)
    text = message if isinstance(message, str) else error_message(message)
    metadata = error.get("metadata")
    if isinstance(metadata, Mapping) and metadata.get("raw"):
        # OpenRouter sends the provider's own words here.
        text += f": {metadata['raw']}"
    code = error.get("code")
    return f"{text} ({code})" if code and isinstance(code, str | int) else text


def connection_problem(error: BaseException) -> str:
    """Why there is no answer, from an exception of the HTTP client.

    The exceptions are recognised by the names of their classes, because the HTTP library depends on the version of openai
    and is therefore not imported.
    """
    message = safe_message(error)
    # The words for these two causes differ between operating systems.
    words = message.lower()
    if "refused" in words:
        message = "connection refused"
    elif "name" in words and ("resol" in words or "known" in words):
        message = "the name of the machine is unknown"
    # Name of the exception's class -> reason.
    sentences = {
        "ConnectError": f"no connection ({message or 'the server cannot be reached'})",
        "ProxyError": f"no connection (the proxy refused it: {message})",
        "UnsupportedProtocol": f"no connection ({message})",
        "RemoteProtocolError": "no connection (the server closed it before the reply was complete, or sent "
        f"what is not HTTP: {message})",
        "ReadError": "no connection (it was lost before the reply was complete)",
        "WriteError": "no connection (it was lost while the request was sent)",
        "CloseError": "no connection (it was lost)",
    }
    kind = type(error).__name__
    return sentences.get(kind, f"no connection ({message or 'it was lost'})")


def explain(reason: str, address: str) -> str:
    """The sentence about an endpoint that cannot be used: its address, the reason, and what to do."""
    # The last pattern is empty, and fits every reason.
    advice = next(words for start, words in ADVICE.items() if re.match(start, reason))
    return f"The endpoint {address} cannot be used: {reason}; {advice}."


# ---- waiting -------------------------------------------------------------------------------------

# Seconds that a server may ask to wait before the next attempt; a request that must wait longer fails.
LONGEST_WAIT = 120.0
# Unit of a duration -> seconds.
_UNITS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_DURATION = re.compile(
    r"(\d+(?:\.\d+)?)\s*(ms|milliseconds?|d|days?|h|hours?|m|min|minutes?|s|sec|seconds?)(?![a-z])"
)
# Words that ask to wait for a duration, and a field of Google's errors.
_WAIT = re.compile(
    r"(?:try again|retry|wait|reset)[a-z ]{0,30}?\b(?:in|after|for|of)\s+((?:\d+(?:\.\d+)?\s*[a-z]+\s*)+)"
    r"|\"?retryDelay\"?\W{1,4}((?:\d+(?:\.\d+)?[a-z]+)+)",
    re.IGNORECASE,
)


def stated_wait(message: str) -> float | None:
    """The seconds that the words of an error ask to wait; None if they state no time or 0 seconds.

    >>> stated_wait("Rate limit reached. Please try again in 7m12.5s.")
    432.5
    >>> stated_wait("Please retry after 86400 seconds.")
    86400.0
    """
    match = _WAIT.search(message)
    if match is None:
        return None
    seconds = 0.0
    # Each of the two patterns has the duration in a group of its own.
    text = match[1] or match[2]
    for number, unit in _DURATION.findall(text.lower()):
        # Of the other units, the first letter is enough: "minutes" is "m".
        short_unit = "ms" if unit.startswith(("ms", "mil")) else unit[0]
        seconds += float(number) * _UNITS[short_unit]
    # The client of openai ignores a wait of 0 seconds, so this is the same as no stated time.
    return seconds or None


def header_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds that a header asks to wait; None if there is no such header.

    Retry-After contains a number of seconds or a date, and ``retry-after-ms`` milliseconds.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        # A missing header is no number, and raises ValueError like a date.
        with suppress(ValueError):
            return float(headers.get(name) or "") * unit
    with suppress(ValueError, TypeError, IndexError):
        date = parsedate_to_datetime(headers.get("retry-after") or "")
        return (date - datetime.now(UTC)).total_seconds()
    return None


# Words of errors that say that the model only answers requests for a stream.
_STREAM_ONLY = re.compile(
    r"only (?:support|work|available|allow)\w*\b.{0,20}\bstream|stream\w*\b.{0,30}\b(?:is required|only|must be true)"
    r"|(?:enable|set|use|requires?) (?:the )?['\"`]?stream|non-?stream\w*\b.{0,40}\bnot (?:support|allow)"
    r"|stream must be (?:set to )?true",
    re.IGNORECASE | re.DOTALL,
)


def only_streams(message: str) -> bool:
    """Whether an error says that the model must be asked to stream.

    >>> only_streams("This model only support stream mode, please enable the stream parameter.")
    True
    """
    return _STREAM_ONLY.search(message) is not None


def duration(seconds: float) -> str:
    """A time in words.

    >>> duration(432), duration(86_400), duration(9)
    ('7 min 12 s', '24 h', '9 s')
    """
    hours, seconds_after_hours = divmod(round(seconds), 3600)
    minutes, seconds_after_minutes = divmod(seconds_after_hours, 60)
    counts = ((hours, "h"), (minutes, "min"), (seconds_after_minutes, "s"))
    parts = [f"{count} {unit}" for count, unit in counts if count]
    return " ".join(parts) or "0 s"
