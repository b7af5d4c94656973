"""One reply to one request, without the parameters that the model refuses."""

# Tested in tests/llm/test_client.py.

import json
import math
import time
import warnings
from collections.abc import Mapping
from typing import Any

from ragnb.llm.bodies import read_reply
from ragnb.llm.budget import Budget
from ragnb.llm.endpoint import (
    ERROR_AS_REPLY,
    LONGEST_WAIT,
    connection_problem,
    duration,
    error_message,
    header_wait,
    json_or_text,
    only_streams,
    safe_message,
    without_secrets,
)
from ragnb.llm.failure import Failed
from ragnb.llm.health import Health
from ragnb.llm.refusals import OTHER_NAMES, accepted, refused_parameters
from ragnb.llm.store import Reply, Request
from ragnb.llm.transport import STATUS_WAS_200, status_for_refusal
from ragnb.replies import reached_limit
from ragnb.text import read_reasoning

# Statuses that end a run if the endpoint has never answered: redirects, and "forbidden", "not found" and "method not
# allowed". Later they concern one request.
FATAL_AT_FIRST = frozenset({301, 302, 303, 307, 308, 403, 404, 405})
# Length in characters from which we check whether the server has cut a prompt.
LONG_PROMPT = 2000
# With more characters per reported token, it has. Languages and code have 1 to 5 characters per token.
MOST_CHARACTERS_PER_TOKEN = 6


class Requester:
    """Requests replies through the client of openai.

    Parameters
    ----------
    client
        The client of openai.
    endpoint
        Address of the endpoint, for warnings.
    budget
        The budget of the run. With a limit, a request whose cost has no bound is not sent.
    health
        Knows whether the endpoint has answered before.
    refused
        Parameters that the model has refused; those that it refuses now are added.
    warned
        Kinds of warnings that were shown; those that are shown now are added.
    """

    def __init__(
        self,
        client: Any,
        endpoint: str,
        budget: Budget,
        health: Health,
        refused: set[str],
        warned: set[str],
    ) -> None:
        self.client = client
        self.endpoint = endpoint
        self.budget = budget
        self.health = health
        self.refused = refused
        self.warned = warned
        self._must_stream = False

    async def reply(self, key: str, request: Request) -> Reply:
        """Return the reply to a request, or raise `Failed`.

        If the model refuses parameters, the request is sent again without them. If it only streams, it is sent as one
        for a stream.
        """
        left_out: set[str] = set()
        # Each round leaves out more parameters, or begins to stream, so that it ends.
        while True:
            sent = accepted(request["parameters"], self.refused | left_out)
            self._require_bound(request, sent)
            with_stream = self._must_stream
            outcome = await self._attempt(key, request, sent, with_stream)
            if isinstance(outcome, Reply):
                # From now on, all requests of the run are sent without these parameters.
                self._note_refused(request["model"], left_out)
                return outcome
            # `_attempt` returns a failure instead of raising it. Raised in its handlers, it would carry the client's
            # exception, which contains the key.
            if outcome.only_streams and not with_stream:
                self._must_stream = True
                continue
            refused = outcome.refused & sent.keys()
            if not refused:
                raise outcome
            left_out |= refused

    async def _attempt(
        self, key: str, request: Request, sent: Mapping[str, Any], with_stream: bool
    ) -> Reply | Failed:
        """The reply to a request with these parameters, or why there is none."""
        import openai

        kind = "messages" if "messages" in request else "prompt"
        endpoint = self.client.chat.completions if kind == "messages" else self.client.completions
        content = {"model": request["model"], kind: request[kind]}
        # A stream is read like any other body; `classify` joins its events.
        extra_body = {**sent, "stream": True} if with_stream else dict(sent)
        started = time.monotonic()
        try:
            raw = await endpoint.with_raw_response.create(**content, extra_body=extra_body)
            body = json.loads(without_secrets(raw.http_response.content))
            return read_reply(key, request, sent, body, time.monotonic() - started)
        except Failed as failure:
            return failure
        except openai.APIConnectionError as error:
            # A lost connection, or a timeout.
            cause = error.__cause__
            # The transport adds its failure to an exception that the client repeats.
            reported: Failed | None = getattr(cause, "failure", None)
            return reported or Failed(connection_problem(cause or error), passing=True)
        except openai.APIStatusError as error:
            return self._failure_of(error, sent)
        except Exception as error:
            # A reply of an odd form must not end the run.
            return Failed(
                f"the reply could not be read ({safe_message(error) or 'no reason given'})"
            )

    def _failure_of(self, error: Any, sent: Mapping[str, Any]) -> Failed:
        """What an error of the endpoint means: its reason, and whether to go on.

        ``error`` is the exception of the client of openai, and ``sent`` are the parameters of the request.
        """
        response, status = error.response, error.status_code
        body = json_or_text(response.content)
        message = safe_message(error_message(body)) or "no message"
        reason = f"HTTP {status}: {message}"
        if STATUS_WAS_200 in response.headers:
            reason = f"{ERROR_AS_REPLY}: {message}"
        wait = header_wait(response.headers)
        if status == 429 and wait is not None and wait > LONGEST_WAIT:
            reason = f"HTTP 429: the server asks to wait {duration(wait)} ({message})"
        # A timeout of the server, a conflict, a limit of the account, or a fault of the server.
        may_pass = status in (408, 409, 429) or status >= 500
        has_wrong_key = status == 401
        is_wrong_address = status in FATAL_AT_FIRST and not self.health.works
        is_unpaid = status == 402 or "insufficient_quota" in message
        refused = refused_parameters(body, sent.keys(), status_for_refusal(response))
        # Statuses with which servers say that a request is wrong, or that they do not offer what it asks for.
        is_about_request = status in (400, 405, 422, 500, 501)
        return Failed(
            reason,
            passing=may_pass,
            fatal=has_wrong_key or is_wrong_address or is_unpaid,
            refused=frozenset(refused),
            only_streams=is_about_request and only_streams(message),
        )

    def _require_bound(self, request: Request, sent: Mapping[str, Any]) -> None:
        """Raise Failed if a run with a budget would send a request whose cost has no bound."""
        if math.isinf(self.budget.limit):
            return
        # Both names of the largest number of tokens.
        bounds = OTHER_NAMES.keys()
        had_bound = bounds & request["parameters"].keys()
        has_bound = bounds & sent.keys()
        if had_bound and not has_bound:
            raise Failed(
                "not sent: the model refuses max_tokens, without which a budget cannot be kept"
            )

    def _note_refused(self, model: str, names: set[str]) -> None:
        """Leave parameters out for the rest of the run, once a request was answered without them.

        Only the answer shows that the endpoint refused these parameters and nothing else.
        """
        new = names - self.refused
        self.refused |= new
        for name in sorted(new):
            other = OTHER_NAMES.get(name)
            has_other_name = other is not None and other not in self.refused
            consequence = f"sent as {other}" if has_other_name else "not sent"
            warnings.warn(
                f"{model} refuses the parameter {name}; in this run it is {consequence}",
                stacklevel=2,
            )

    # ---- replies that are cut --------------------------------------------------------------------

    def warn_of_cuts(self, request: Request, reply: Reply) -> None:
        """Warn once per run if a reply ended before its answer, or if the server cut a prompt."""
        answer = read_reasoning(reply.response or "").answer
        if reached_limit(reply.finish_reason) and not answer.strip():
            parameters = request["parameters"]
            limit = parameters.get("max_tokens") or parameters.get("max_completion_tokens")
            stated = f"max_tokens={limit}" if limit else "its largest number of tokens"
            self._warn_once(
                "cut off",
                f"{request['model']} reached {stated} before it answered, so such replies have no answer. "
                "The limit also counts reasoning, for which a model may need 2,000 tokens and more. Set "
                "a larger max_tokens in the parameters, or turn the reasoning of the model off.",
            )
        n_characters, n_tokens = _prompt_length(request), reply.prompt_tokens
        if not n_tokens or n_characters < LONG_PROMPT:
            return
        if n_characters > MOST_CHARACTERS_PER_TOKEN * n_tokens:
            self._warn_once(
                "cut prompt",
                f"{self.endpoint} reports {n_tokens:,} tokens for a prompt of "
                f"{n_characters:,} characters, so it has probably cut the prompt. Give the server a larger "
                "context (in Ollama: num_ctx or OLLAMA_CONTEXT_LENGTH), or send shorter prompts.",
            )

    def _warn_once(self, kind: str, sentence: str) -> None:
        """Warn unless a warning of this kind was shown in this run."""
        if kind not in self.warned:
            self.warned.add(kind)
            warnings.warn(sentence, stacklevel=2)


def _prompt_length(request: Request) -> int:
    """Number of characters in the messages or the prompt of a request."""
    if "prompt" in request:
        return len(request["prompt"])
    length = 0
    for message in request["messages"]:
        content = message.get("content") if isinstance(message, Mapping) else None
        # A message may consist of parts. Only those with text count.
        parts = content if isinstance(content, list) else [content]
        for part in parts:
            text = part.get("text") if isinstance(part, Mapping) else part
            if isinstance(text, str):
                length += len(text)
    return length
