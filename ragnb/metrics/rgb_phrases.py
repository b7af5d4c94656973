"""The names of RGB's protocols and the phrases that they look for."""

PROTOCOLS = ("paper", "released", "flexible")

REFUSAL_PHRASES = {"en": "insufficient information", "zh": "信息不足"}
"""Key phrase of the agreed refusal sentence. ``paper`` and ``released`` look for it."""

ERROR_PHRASES = {"en": "factual errors", "zh": "事实性错误"}
"""Key phrase of the agreed sentence that reports false documents. ``paper`` and ``released`` look for it."""

REFUSAL_SENTENCES = {
    "en": "i can not answer the question because of the insufficient information in documents",
    "zh": "文档信息不足，因此我无法基于提供的文档回答该问题",
}
"""The refusal sentence that RGB's prompt asks for, in lower case and without its full stop."""

ERROR_SENTENCES = {
    "en": "there are factual errors in the provided documents",
    "zh": "提供文档的文档存在事实性错误",
}
"""The sentence about false documents that RGB's prompt asks for, in lower case and without its full stop."""

FLEXIBLE_REFUSALS = (
    "i can not answer the question because of the insufficient information in documents",
    "insufficient information in documents",
    "can not answer",
    "cannot answer",
    # further ones
    "i don't know",
    "i cannot",
    "i can't",
    "unable to",
    "not able to",
    "insufficient information",
    "no information",
    "cannot determine",
    "not enough information",
    "don't have enough",
    "unable to determine",
    "cannot find",
    "no relevant",
    "not mentioned",
    "not provided",
    "not specified",
    "unclear",
    "unknown",
    "i'm not sure",
    "i am not sure",
    "cannot be determined",
    "information is not available",
    "does not provide",
)
"""English phrases that ``flexible`` takes for a refusal; no Chinese list is known."""

FLEXIBLE_ERRORS = (
    "incorrect",
    "wrong",
    "false",
    "error",
    "mistake",
    "inaccurate",
    "not true",
    "not correct",
    "factually incorrect",
    "contradicts",
    "actually",
    "in fact",
    "however",
    "but actually",
    "the correct answer",
    "should be",
)
"""English phrases that ``flexible`` takes for a detected error; no Chinese list is known."""
