"""One attempt at a request: the HTTP client that the client of openai uses.

The client of openai repeats an attempt after lost connections, timeouts and the statuses 408, 409, 429
and 5xx, and honours Retry-After. Each of its attempts goes through `Transport.send`, which limits its
pace, time and size, and turns errors that have the status 200 into errors.
"""

# Tested in tests/llm/test_client.py.

import json
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from ragnb.arguments import Address
from ragnb.llm.bodies import (
    ENCODINGS,
    MAX_REPLY_BYTES,
    BoundedBody,
    DamagedBody,
    TooLarge,
    classify,
)
from ragnb.llm.endpoint import (
    TIMEOUT,
    api_key,
    connection_problem,
    error_message,
    is_here,
    json_or_text,
    only_streams,
    safe_message,
    stated_wait,
    wants_api_key_header,
)
from ragnb.llm.failure import Failed
from ragnb.llm.health import Health
from ragnb.llm.pace import Pace
from ragnb.llm.refusals import refused_parameters

# Header that marks an error whose status was 200.
STATUS_WAS_200 = "x-ragnb-status-was-200"
# Retries of a connection to an endpoint that has not answered yet. A mistyped address should show soon.
MOST_FIRST_RETRIES = 2


class Transport:
    """Sends attempts at the pace of a run.

    Parameters
    ----------
    address
        Address of the endpoint.
    pace
        Limits of the attempts.
    health
        Knows whether the run is over, and whether the endpoint has answered before.

    Attributes
    ----------
    n_retried : int
        Number of attempts that repeated an earlier one.
    """

    def __init__(self, address: Address, pace: Pace, health: Health) -> None:
        self.address = address
        self.pace = pace
        self.health = health
        self.n_retried = 0

    def http_client(self) -> Any:
        """The HTTP client for the client of openai.

        Redirects are not followed, because prompts would go to an address that the user has not
        given. A proxy of the environment is used for other machines only.
        """
        import openai

        transport = self

        class Attempts(openai.DefaultAsyncHttpxClient):
            """A client of openai whose attempts are sent by the transport."""

            async def send(self, request: Any, **options: Any) -> Any:
                """Send a request by the transport, which waits for its turn and reads the body."""
                # The body is read by the transport, which limits its size.
                options["stream"] = True
                return await transport.send(request, partial(super().send, request, **options))

        return Attempts(follow_redirects=False, trust_env=not is_here(self.address))

    async def send(self, request: Any, send_once: Callable[[], Awaitable[Any]]) -> Any:
        """Send one attempt as soon as the pace allows it, and return the response with its whole body.

        ``send_once`` sends ``request`` through the HTTP library. The headers of the request are changed.

        The client of openai repeats an attempt after an exception of its HTTP library. `Failed` is not one of these, so it
        ends the request.
        """
        library = _http_library(request)
        await self.pace.wait(self.health.is_over)
        if self.health.is_over():
            raise Failed("not sent: the run was stopped")
        # The client of openai counts its attempts in this header.
        n_earlier_attempts = int(request.headers.get("x-stainless-retry-count", 0))
        if n_earlier_attempts:
            self.n_retried += 1
        request.headers["accept-encoding"] = ENCODINGS
        if wants_api_key_header(self.address):
            request.headers["api-key"] = api_key()
        try:
            async with self.pace.attempt():
                try:
                    response = await _received(library, request, await send_once())
                except library.TimeoutException as error:
                    # The pace counts timeouts of the HTTP library and its own alike.
                    raise TimeoutError from error
        except TimeoutError:
            raise _repeatable(library, request, Failed(TIMEOUT, passing=True)) from None
        except library.ConnectError as error:
            if n_earlier_attempts >= MOST_FIRST_RETRIES and not self.health.works:
                raise Failed(connection_problem(error), passing=True) from None
            raise
        # This may turn a success into an error, which is then treated like any other.
        if response.is_success:
            response = _completion(library, request, response)
        if not response.is_success:
            _advise_client(request, response)
        return response


def status_for_refusal(response: Any) -> int:
    """The status by which a refusal of parameters is recognised: 400 for an error that had the status 200."""
    return 400 if STATUS_WAS_200 in response.headers else int(response.status_code)


def _http_library(request: Any) -> Any:
    """The HTTP library of the client of openai.

    It is looked up and not imported, because it depends on the version of openai.
    """
    return sys.modules[type(request).__module__.partition(".")[0]]


async def _received(library: Any, request: Any, response: Any) -> Any:
    """The response with its whole, decompressed body, which is limited in size."""
    try:
        body = BoundedBody(response.headers.get("content-encoding", ""), MAX_REPLY_BYTES)
        async for piece in response.aiter_raw():
            body.add(piece)
    except TooLarge as error:
        raise Failed(str(error)) from None
    except DamagedBody as error:
        raise _repeatable(library, request, Failed(str(error), passing=True)) from None
    finally:
        await response.aclose()
    return _response(library, request, response, response.status_code, bytes(body.content))


def _completion(library: Any, request: Any, response: Any) -> Any:
    """A response with status 200 as its completion, or as its error with the status that the error should have had.

    If it is neither, the attempt is repeated.
    """
    answer = classify(response.content)
    if not answer.body:
        failure = Failed(safe_message(answer.failure), passing=True, formed=answer.formed)
        raise _repeatable(library, request, failure)
    completion = _response(library, request, response, answer.status, answer.body)
    if answer.status != 200:
        completion.headers[STATUS_WAS_200] = "yes"
    return completion


def _response(library: Any, request: Any, response: Any, status: int, content: bytes) -> Any:
    """The response with this status and this body, which is decompressed and whole."""
    headers = response.headers.copy()
    # These describe the body as it was transmitted.
    for name in ("content-encoding", "content-length", "transfer-encoding"):
        headers.pop(name, None)
    return library.Response(status, headers=headers, content=content, request=request)


def _advise_client(request: Any, response: Any) -> None:
    """Add headers to an error that advise the client of openai whether and when to repeat the attempt.

    Many servers write this into the body only, which the client does not read.
    """
    body = json_or_text(response.content)
    message = error_message(body)
    parameters = json.loads(request.content).keys() - {"model", "messages", "prompt"}
    # Repeating the request cannot help.
    is_final = (
        b"insufficient_quota" in response.content
        or only_streams(message)
        or refused_parameters(body, parameters, status_for_refusal(response))
    )
    if is_final:
        response.headers["x-should-retry"] = "false"
    if response.status_code in (429, 503) and not response.headers.get("retry-after"):
        seconds = stated_wait(message) or stated_wait(response.text)
        if seconds is not None:
            response.headers["retry-after"] = f"{seconds:g}"


def _repeatable(library: Any, request: Any, failure: Failed) -> Exception:
    """An exception after which the client of openai repeats the attempt.

    After the last attempt, the requester reads the failure from it.
    """
    error: Exception = library.RemoteProtocolError(failure.reason, request=request)
    error.failure = failure  # type: ignore[attr-defined]
    return error
