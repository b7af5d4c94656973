"""What twelve servers send, and the table of docs/models.md that is made from it.

Each server is a set of situations, and each situation is one real answer: a body that the server is known to send, with
the status and headers that come with it. The comment above a body names the public thread that shows it. Waiting times
that a test would have to sit out are shortened, and ids are left out.

``tools/servers.py`` plays every answer, looks at what `ragnb.complete` makes of it, and writes the table.
"""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ragnb.errors import EndpointError
from ragnb.llm import Store
from support.asking import chat, run
from support.fault_server import Answer, Call, FaultServer

PAGE = Path(__file__).parents[2] / "docs" / "models.md"
BEGIN, END = "<!-- servers: begin -->", "<!-- servers: end -->"

# The columns of the table.
PLAIN = "plain reply"
REASONING = "reasoning"
CUT_OFF = "cut off in the reasoning"
PARAMETER = "refused parameter"
VALUE = "error of one request"
LIMIT = "short limit"
LONG_LIMIT = "limit of minutes or a day"
FAILURE = "failure of the server"
STOP = "wrong path, model or account"
SITUATIONS = [PLAIN, REASONING, CUT_OFF, PARAMETER, VALUE, LIMIT, LONG_LIMIT, FAILURE, STOP]

PARAMETERS = {"temperature": 0.0, "max_tokens": 64, "seed": 0}
TEXT = "Alexander Fleming"
THOUGHT = "The user asks who discovered penicillin."

Behaviour = Callable[[Call], Answer]


@dataclass
class Server:
    """A server by name, and its answer in each situation that is known."""

    name: str
    situations: dict[str, Behaviour] = field(default_factory=dict)

    def sends(self, situation: str, behaviour: Behaviour) -> "Server":
        self.situations[situation] = behaviour
        return self


def reply(content=TEXT, finish="stop", usage=None, **message) -> dict:
    """A completion with this message."""
    usage = usage or {"prompt_tokens": 14, "completion_tokens": 3, "total_tokens": 17}
    whole = {"role": "assistant", "content": content, **message}
    choice = {"index": 0, "message": whole, "logprobs": None, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }


def always(body=None, status=200, headers=None, raw=None) -> Behaviour:
    """The same answer to every call."""
    return lambda call: Answer(status=status, body=body, raw=raw, headers=headers or {})


def unless_absent(names: str, body, status=400, good=None) -> Behaviour:
    """An error as long as one of the parameters is sent, then a reply."""
    refused = names.split()

    def behave(call: Call) -> Answer:
        if any(name in call.body for name in refused):
            return Answer(status=status, body=body)
        return Answer(body=good or reply())

    return behave


def at_first(body=None, status=200, headers=None, raw=None) -> Behaviour:
    """An error at the first attempt of each request, then a reply."""

    def behave(call: Call) -> Answer:
        if call.repeat:
            return Answer(body=reply())
        return Answer(status=status, body=body, raw=raw, headers=headers or {})

    return behave


# ---- the servers ---------------------------------------------------------------------------------

SERVERS: list[Server] = []


def server(name: str) -> Server:
    SERVERS.append(Server(name).sends(PLAIN, always(reply())))
    return SERVERS[-1]


def error(message, **more) -> dict:
    return {"error": {"message": message, **more}}


vllm = server("vLLM")
vllm.sends(REASONING, always(reply(reasoning_content=THOUGHT, tool_calls=[])))
# vllm-project/vllm issue 52640
vllm.sends(CUT_OFF, always(reply(None, "length", reasoning=THOUGHT, tool_calls=[])))
# the form of pydantic's errors in vllm-project/vllm issue 4667, with the entries of vLLM's protocol
vllm.sends(
    PARAMETER,
    unless_absent(
        "seed",
        {
            "object": "error",
            "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'msg': 'Extra inputs are not permitted', "
            "'input': 0}]",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
    ),
)
# vllm-project/vllm issue 4667
vllm.sends(
    VALUE,
    always(
        {
            "object": "error",
            "message": "max_tokens must be at least 1, got -186.",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
        400,
    ),
)
vllm.sends(
    FAILURE,
    at_first(
        {
            "object": "error",
            "message": "Internal server error",
            "type": "InternalServerError",
            "code": 500,
        },
        500,
    ),
)
vllm.sends(
    STOP,
    always(
        {
            "object": "error",
            "message": "The model `m` does not exist.",
            "type": "NotFoundError",
            "param": None,
            "code": 404,
        },
        404,
    ),
)

ollama = server("Ollama")
ollama.sends(REASONING, always(reply(reasoning=THOUGHT)))
ollama.sends(CUT_OFF, always(reply("", "length", reasoning=THOUGHT)))
ollama.sends(
    FAILURE,
    at_first(
        error("llama runner process has terminated", type="api_error", param=None, code=None), 500
    ),
)
# netease-youdao/QAnything issue 555
ollama.sends(
    STOP,
    always(
        error('model "m" not found, try pulling it first', type="api_error", param=None, code=None),
        404,
    ),
)

lm_studio = server("LM Studio")
lm_studio.sends(REASONING, always(reply(f"<think>{THOUGHT}</think>\n\n{TEXT}")))
lm_studio.sends(CUT_OFF, always(reply(f"<think>{THOUGHT}", "length")))
# lmstudio-ai/lmstudio-bug-tracker issue 307
lm_studio.sends(
    PARAMETER,
    unless_absent(
        "response_format", {"error": "'response_format.type' must be 'json_schema' or 'text'"}
    ),
)
# lmstudio-ai/lmstudio-bug-tracker issue 618
lm_studio.sends(STOP, always({"error": "Unexpected endpoint or method. (POST /chat/completions)"}))

llama_cpp = server("llama.cpp")
llama_cpp.sends(REASONING, always(reply(reasoning_content=THOUGHT)))
llama_cpp.sends(CUT_OFF, always(reply("", "length", reasoning_content=THOUGHT)))
# oobabooga/textgen issue 7257: the body has a code and the status is 200
llama_cpp.sends(
    VALUE,
    always(
        error(
            "the request exceeds the available context size. try increasing the context size or enable context shift",
            code=400,
            type="exceed_context_size_error",
            n_prompt_tokens=14429,
            n_ctx=8192,
        )
    ),
)
# mostlygeek/llama-swap issue 146
llama_cpp.sends(FAILURE, at_first(error("Loading model", code=503, type="unavailable_error"), 503))
llama_cpp.sends(STOP, always(error("File Not Found", code=404, type="not_found_error"), 404))

azure = server("Azure OpenAI")
# quelmap-inc/quelmap issue 4
azure.sends(
    PARAMETER,
    unless_absent(
        "temperature",
        error(
            "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is supported.",
            type="invalid_request_error",
            param="temperature",
            code="unsupported_value",
        ),
    ),
)
azure.sends(CUT_OFF, always(reply("", "length", refusal=None, annotations=[])))
# tatsu-lab/alpaca_eval issue 227
azure.sends(
    VALUE,
    always(
        error(
            "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify "
            "your prompt and retry.",
            type=None,
            param="prompt",
            code="content_filter",
            status=400,
            innererror={
                "code": "ResponsibleAIPolicyViolation",
                "content_filter_result": {"sexual": {"filtered": True}},
            },
        ),
        400,
    ),
)
# Azure-Samples/azure-search-openai-demo issue 177
azure.sends(
    LIMIT, at_first(error("Rate limit is exceeded. Try again in 0.05 seconds.", code="429"), 429)
)
# alex-wolf-ps/dbchatprov2 issue 2
azure.sends(
    LONG_LIMIT,
    always(
        error(
            "Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-05-01-preview have exceeded "
            "token rate limit of your current OpenAI S0 pricing tier. Please retry after 86400 seconds.",
            code="429",
        ),
        429,
    ),
)
# InternLM/MindSearch issue 310
azure.sends(
    FAILURE,
    always(
        {
            "choices": [],
            "created": 0,
            "id": "",
            "model": "",
            "object": "",
            "prompt_filter_results": [
                {
                    "prompt_index": 0,
                    "content_filter_results": {"hate": {"filtered": False, "severity": "safe"}},
                }
            ],
        }
    ),
)
azure.sends(STOP, always(error("Resource not found", code="404"), 404))

open_router = server("OpenRouter")
open_router.sends(
    REASONING,
    always(
        reply(reasoning=THOUGHT, reasoning_details=[{"type": "reasoning.text", "text": THOUGHT}])
    ),
)
open_router.sends(CUT_OFF, always(reply("", "length", reasoning=THOUGHT)))
# open-webui/computer issue 293: an error with status 200
open_router.sends(
    LIMIT,
    at_first(
        error(
            "Provider returned error",
            code=429,
            metadata={
                "raw": "m is temporarily rate-limited upstream. Please retry shortly.",
                "provider_name": "BaseTen",
            },
        )
    ),
)
# maximhq/bifrost issue 5425
open_router.sends(
    FAILURE,
    always(
        reply(
            '{"events": [{"title": "partial',
            "error",
            {"prompt_tokens": None, "completion_tokens": None, "total_tokens": 0},
        )
    ),
)
open_router.sends(STOP, always(error("m is not a valid model ID", code=404), 404))

together = server("Together")
together.sends(REASONING, always(reply(f"<think>\n{THOUGHT}\n</think>\n\n{TEXT}", "eos")))
together.sends(CUT_OFF, always(reply(f"<think>\n{THOUGHT}", "length")))
# stanford-crfm/helm pull request 2079
together.sends(
    VALUE,
    always(
        error(
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 2019 `inputs` tokens and 30 "
            "`max_new_tokens`",
            type="invalid_request_error",
            param="max_tokens",
            code=None,
        ),
        422,
    ),
)
# cline/cline issue 440
together.sends(
    FAILURE,
    at_first(error("server is overloaded", type="service_unavailable", param=None, code=None), 503),
)
together.sends(
    STOP,
    always(
        error(
            "Unable to access model m.",
            type="invalid_request_error",
            param=None,
            code="model_not_available",
        ),
        404,
    ),
)

groq = server("Groq")
groq.sends(REASONING, always(reply(reasoning=THOUGHT)))
groq.sends(CUT_OFF, always(reply("", "length", reasoning=THOUGHT)))
# fanenr/chatbot issue 21, AnswerDotAI/shell_sage issue 9
groq.sends(
    PARAMETER,
    unless_absent(
        "seed",
        error("property 'seed' is unsupported, did you mean 'stop'?", type="invalid_request_error"),
    ),
)
# danielmiessler/Fabric issue 364
groq.sends(
    LIMIT,
    at_first(
        error(
            "Rate limit reached for model `m` in organization `org_1` on tokens per minute (TPM): Limit 7000, Used 0, Requested "
            "~12903. Please try again in 50.6ms. Visit https://console.groq.com/docs/rate-limits for more information.",
            type="tokens",
            code="rate_limit_exceeded",
        ),
        429,
    ),
)
# continuedev/continue issue 10920
groq.sends(
    LONG_LIMIT,
    always(
        error(
            "Rate limit reached for model `m` in organization `org_1` service tier `on_demand` on tokens per day (TPD): Limit "
            "100000, Used 97050, Requested 3619. Please try again in 7m12s. Need more tokens? Upgrade to Dev Tier today",
            type="tokens",
            code="rate_limit_exceeded",
        ),
        429,
        {"retry-after": "432"},
    ),
)
groq.sends(
    STOP,
    always(
        error(
            "The model `m` does not exist or you do not have access to it.",
            type="invalid_request_error",
            code="model_not_found",
        ),
        404,
    ),
)

deep_seek = server("DeepSeek")
deep_seek.sends(REASONING, always(reply(reasoning_content=THOUGHT)))
deep_seek.sends(CUT_OFF, always(reply("", "length", reasoning_content=THOUGHT)))
# a finish reason that only DeepSeek has, as listed in genkit-ai/genkit pull request 6259
deep_seek.sends(FAILURE, at_first(reply("Alexander", "insufficient_system_resource")))
# Aider-AI/aider issue 4851
deep_seek.sends(
    STOP,
    always(
        error(
            "Insufficient Balance", type="unknown_error", param=None, code="invalid_request_error"
        ),
        402,
    ),
)

mistral = server("Mistral")
# langchain4j/langchain4j pull request 4474
mistral.sends(
    REASONING,
    always(
        reply(
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]},
                {"type": "text", "text": TEXT},
            ]
        )
    ),
)
mistral.sends(
    CUT_OFF,
    always(
        reply([{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}], "length")
    ),
)
# editor-code-assistant/eca issue 231, crewAIInc/crewAI issue 60
mistral.sends(
    PARAMETER,
    unless_absent(
        "seed",
        {
            "object": "error",
            "message": {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "seed"],
                        "msg": "Extra inputs are not permitted",
                        "input": 0,
                    }
                ]
            },
            "type": "invalid_request_error",
            "param": None,
            "code": None,
        },
        422,
    ),
)
mistral.sends(LIMIT, at_first({"message": "Requests rate limit exceeded"}, 429))
mistral.sends(STOP, always({"detail": "Unauthorized"}, 401))

gemini = server("Gemini")
# Vali-98/ChatterUI issue 227
gemini.sends(
    PARAMETER,
    unless_absent(
        "seed",
        [
            {
                "error": {
                    "code": 400,
                    "message": 'Invalid JSON payload received. Unknown name "seed": Cannot find field.',
                    "status": "INVALID_ARGUMENT",
                    "details": [
                        {
                            "@type": "type.googleapis.com/google.rpc.BadRequest",
                            "fieldViolations": [
                                {
                                    "description": 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'
                                }
                            ],
                        }
                    ],
                }
            }
        ],
    ),
)
cut_off = reply("", "length")
del cut_off["choices"][0]["message"]["content"]
gemini.sends(CUT_OFF, always(cut_off))
# continuedev/continue issue 10085
gemini.sends(
    LIMIT,
    at_first(
        [
            {
                "error": {
                    "code": 429,
                    "message": "You exceeded your current quota, please check your plan and billing details.\nPlease retry in 20.04ms.",
                    "status": "RESOURCE_EXHAUSTED",
                    "details": [
                        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.02s"}
                    ],
                }
            }
        ],
        429,
    ),
)
gemini.sends(
    FAILURE,
    at_first(
        [{"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}],
        503,
    ),
)
gemini.sends(
    STOP,
    always(
        [
            {
                "error": {
                    "code": 404,
                    "message": "models/m is not found for API version v1main",
                    "status": "NOT_FOUND",
                }
            }
        ],
        404,
    ),
)

lite_llm = server("LiteLLM")
lite_llm.sends(
    REASONING,
    always(
        reply(
            reasoning_content=THOUGHT,
            thinking_blocks=[{"type": "thinking", "thinking": THOUGHT, "signature": "x"}],
        )
    ),
)
lite_llm.sends(
    CUT_OFF,
    always(reply(None, "length", thinking_blocks=[{"type": "thinking", "thinking": THOUGHT}])),
)
# kaiko-ai/eva issue 895, BerriAI/litellm issue 3923
lite_llm.sends(
    PARAMETER,
    unless_absent(
        "seed",
        error(
            "litellm.UnsupportedParamsError: anthropic does not support parameters: ['seed'], for model=m. To drop these, set "
            "`litellm.drop_params=True` or for proxy:\n\n`litellm_settings:\n drop_params: true`\n. \n If you want to use these "
            "params dynamically send allowed_openai_params=['seed'] in your request.",
            type="None",
            param=None,
            code="400",
        ),
    ),
)
# anthropics/claude-code issue 11302
lite_llm.sends(
    VALUE,
    always(
        error(
            '{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 21333 > 4096, which is the maximum '
            'allowed number of output tokens for m"},"request_id":"req_1"}. Received Model Group=m',
            type="None",
            param="None",
            code="400",
        ),
        400,
    ),
)
# jasonacox/TinyLLM issue 17
lite_llm.sends(
    LONG_LIMIT,
    always(
        error(
            "litellm.RateLimitError: AzureException RateLimitError - Error code: 429 - {'error': {'code': '429', 'message': "
            "'Requests to the ChatCompletions_Create Operation have exceeded token rate limit of your current pricing tier. "
            "Please retry after 86400 seconds.'}}",
            type="throttling_error",
            param=None,
            code="429",
        ),
        429,
    ),
)
lite_llm.sends(
    STOP,
    always(
        error(
            "Authentication Error, No api key passed in.",
            type="auth_error",
            param="None",
            code="401",
        ),
        401,
    ),
)


# ---- other answers, which every server may give --------------------------------------------------

COMMON: dict[str, Behaviour] = {
    "empty": always(reply("")),
    "only blanks": always(reply(" \n")),
    "null": always(reply(None)),
    "blocked": always(reply("", "content_filter")),
    "no choice": always({"choices": []}),
    "a web page": at_first(raw=b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>"),
    "a lost connection": lambda call: (
        Answer(body=reply()) if call.repeat else Answer(drop="inside")
    ),
    "streams": always(
        raw=b": keep-alive\n\n"
        b'data: {"model": "m", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Alexander "}}]}\n\n'
        b'data: {"choices": [{"index": 0, "delta": {"content": "Fleming"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n',
        headers={"content-type": "text/event-stream"},
    ),
}


# ---- the table -----------------------------------------------------------------------------------


def outcome(behave: Behaviour) -> str:
    """What becomes of requests that get such answers, in a few words."""
    requests = chat(2).assign(
        parameters=[PARAMETERS | {"response_format": {"type": "json_object"}}] * 2
    )
    with (
        FaultServer(behave) as playing,
        Store(":memory:") as store,
        warnings.catch_warnings(record=True) as warned,
    ):
        warnings.simplefilter("always")
        try:
            replies = run(requests, playing, store, max_retries=1, max_concurrency=1)
        except EndpointError as failure:
            if "asks to wait" in str(failure):
                return "stops, says how long to wait"
            return "stops with advice"
        n_stored = len(store)
    left_out = [re.search(r"refuses the parameter (\w+)", str(each.message)) for each in warned]
    names = [f"`{match[1]}`" for match in left_out if match]
    if (replies["response"].fillna("").str.strip() == "").all():
        return "unscored" if n_stored else "unscored, asked again"
    assert replies["response"].eq(TEXT).all(), replies["response"].tolist()
    if names:
        return f"answered without {', '.join(names)}"
    if len(playing.calls) > len(requests):
        return "answered after a retry"
    apart = "reasoning" in replies and replies["reasoning"].notna().all()
    return "answered, reasoning apart" if apart else "answered"


def table() -> str:
    """The table of docs/models.md in Markdown."""
    rows = [["server", *SITUATIONS]]
    for each in SERVERS:
        known = each.situations
        rows.append(
            [each.name, *(outcome(known[name]) if name in known else "–" for name in SITUATIONS)]
        )
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines)


def written(page: str) -> str:
    """The table as it stands in the page."""
    return page.partition(BEGIN)[2].partition(END)[0].strip()
