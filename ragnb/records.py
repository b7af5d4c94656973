"""Names of the columns of ragnb's data frames, and checks of data frames.

The data flow from ``examples`` (one row per question) to ``requests`` (rendered prompts),
``replies``, ``responses`` (one row per example, condition and system), ``scores`` (one row per
response and metric), and finally ``summaries`` and ``comparisons``. All are pandas DataFrames.
"""

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ragnb.errors import InputError
from ragnb.text import (
    Reasoning,
    fold,
    is_blank,
    join_reasoning,
    may_have_reasoning,
    read_reasoning,
    well_formed,
)

# Meaning of each column. The error message about a missing column contains it.
COLUMNS: dict[str, str] = {
    # examples
    "example_id": "identifier that is unique within a frame of examples: 'en_fact/17'",
    "question_id": "identifier that a question keeps in all languages, unlike `example_id`",
    "task": "'noise', 'integration' or 'counterfactual' for RGB; the corpus for RAGBench",
    "language": "language code: 'en', 'zh', ...",
    "question": "the question",
    "references": "list of answer parts, which are all required; each part is a list of "
    "aliases, and any one alias is enough",
    "positive": "list of groups of passages that contain the answer; one group, or one group per "
    "answer part for 'integration'",
    "negative": "list of passages that do not contain the answer",
    "positive_wrong": "list of passages in which a false answer replaces the true one",
    "false_answers": "list of false answers; empty unless the task is 'counterfactual'",
    # conditions and contexts
    "system": "name of the evaluated system: a model, a prompt or a pipeline",
    "noise_rate": "nominal share of passages without the answer, in [0, 1]",
    "passage_num": "requested number of passages",
    "passages": "list of passages in the order in which the model sees them",
    "kinds": "list with the kind of each passage: 'positive', 'negative' or 'wrong'",
    # replies and responses
    "messages": "list of {'role', 'content'} messages; None for a completion request",
    "prompt": "text to continue (completions endpoint); None for a chat request",
    "parameters": "mapping of sampling parameters: temperature, max_tokens, seed, ...",
    "request_key": "hash of everything that can change a reply",
    "seconds": "latency: seconds from sending the request, or calling the function, to its reply",
    "response": "the model's answer without its reasoning; None if there is no reply",
    "translations": "list of translated passages: {'text', 'token_count'} and further fields; or "
    "their total number of tokens",
    "token_count": "total number of tokens in the translated passages, 0 if none was translated; "
    "instead of 'translations'",
    "retrieved": "ranked list of the ids of the retrieved passages, best first",
    "relevant": "list of the ids of the relevant passages, or a mapping from ids to grades",
    "blank_reference": "True if the reference in the file is a blank text; `references` is then None",
    "response_embedding": "vector that embeds the response",
    "reference_embedding": "vector that embeds the reference",
    # labels of sentences
    "documents_sentences": "list of documents, each a list of [key, text] sentences: '0a', '0b', "
    "..., '1a'",
    "response_sentences": "list of the [key, text] sentences of the response: 'a', 'b', ...",
    "all_relevant_sentence_keys": "keys of the context sentences that are relevant to the question",
    "all_utilized_sentence_keys": "keys of the context sentences that the response uses",
    "sentence_support_information": "list of {'response_sentence_key', 'supporting_sentence_keys', "
    "'fully_supported', 'explanation'}",
    "unsupported_response_sentence_keys": "keys of the response sentences that the context does "
    "not support",
    # verdicts on a response
    "verdict": "an annotator's verdict: True or False, 'correct', 'incorrect' or 'refuse'",
    "answerable": "1 if the question can be answered (from the passages), else 0",
    "parts": "list of the claims, facts or sentences of the response: {'text', 'label'}",
    "nuggets": "list of the facts that an answer should state: {'text', 'importance', 'assignment'}",
    "statements": "list of the statements of the response: {'text', 'supported', 'citations'}",
    "spans": "list of marked passages of the response: [start, end]",
    "reference_spans": "list of the passages that a person marked: [start, end]",
    "conversation_id": "identifier of a conversation, whose turns are examples",
    "turn": "number of the turn in its conversation, from 1",
    "history": "list of the earlier turns of the conversation: {'role', 'content'}",
    "refusal": "an annotator's label: whether the response refuses to answer",
    "error_detected": "an annotator's label: whether the response points out errors",
    "judged_refusal": "a judge's verdict: 1 if the response refuses to answer, else 0",
    "judged_detection": "a judge's verdict: 1 if the response detects factual errors, else 0",
    "judged_correct": "a judge's verdict: 1 if the response is correct, else 0",
    "judged_similarity": "a judge's score in [0, 1] for the similarity in meaning",
    "judged_statements": "list of {'statement', 'supported'}: a judge's verdicts on the statements",
    "judged_relevant_statements": "list of {'statement', 'relevant'}: a judge's verdicts",
    "judged_passages": "a judge's verdicts on the passages in their order: 1 if useful, else 0",
    "judged_rubric": "a judge's score from 1 to 5 by a rubric",
    "judged_preference": "a judge's preference over the baseline: 1 wins, 0.5 ties, 0 loses",
    "label": "1 if the response was labelled correct, else 0",
    # scores
    "metric": "name of the metric: 'rgb.accuracy'",
    "value": "value of the metric; nan if the response is unscored",
    "signature": "version, metric and options that define the value, see `ragnb.score`",
}

# Column that marks a reference that is a blank text. Only the variant "lbrag" scores such rows.
BLANK_REFERENCE = "blank_reference"

EXAMPLE = ("example_id", "benchmark", "task", "language", "question", "references")
RGB_EXAMPLE = (*EXAMPLE, "positive", "negative", "positive_wrong", "false_answers")
# First columns of a labelled response of RAGBench; RAGBench's own columns follow.
RAGBENCH_RESPONSE = (*EXAMPLE[:5], "passages", "system", "response", "split")

# Columns that distinguish the cells of an experiment. Summaries are grouped by them by default.
CONDITION = (
    "system",
    "benchmark",
    "task",
    "language",
    "noise_rate",
    "passage_num",
    "correct_rate",
    "order",
)

# Columns of long texts.
PLAIN_TEXT = frozenset(
    "question prompt response reasoning reason overall_supported_explanation "
    "relevance_explanation judge_explanation label_note".split()
)

# Columns that are too long to repeat with every score: long texts, lists and mappings.
PAYLOAD = PLAIN_TEXT | frozenset(
    "references positive negative positive_wrong false_answers passages kinds messages parameters "
    "documents documents_sentences response_sentences all_relevant_sentence_keys "
    "all_utilized_sentence_keys sentence_support_information unsupported_response_sentence_keys "
    "label_keys judge_keys judge_signature parts_judge "
    "statements_judge nuggets_judge judged_statements judged_relevant_statements judged_passages "
    "judge_verdicts "
    "response_embedding reference_embedding "
    "retrieved relevant translations translation_keys passage_languages passage_ids passage_scores "
    "released_evidence parts history nuggets statements spans reference_spans".split()
)

# ---- cells -------------------------------------------------------------------------------------


def is_missing(value: Any) -> bool:
    """Return whether a cell of a data frame is None, a float NaN, or pandas' NA or NaT.

    A list is never missing, whereas `pandas.isna` checks each of its items.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), 0, "", [])]
    [True, True, False, False, False]
    """
    if value is None or isinstance(value, (float, np.floating)):
        return value is None or bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType")  # without importing pandas


def present(value: Any) -> Any:
    """Return the value of a cell of a data frame, or None if it is missing (see `is_missing`)."""
    return None if is_missing(value) else value


# Words for true and false in spreadsheets and forms, in lower case.
_YES = frozenset(
    "1 1.0 1,0 yes y true t right ok pass passed ✓ ✔ ✔️ ✅ 👍 ja j wahr richtig korrekt oui o vrai sí si sì s sim vero "
    "verdadero verdadeiro certo tak да д верно правда evet kyllä はい 是 对 對 正确 正確 예 네 نعم हाँ".split()
)
_NO = frozenset(
    "0 0.0 0,0 no n false f wrong fail failed ✗ ✘ ✖ ✖️ ❌ 👎 nein falsch non faux falso não nao nee nej nie нет н неверно "
    "hayır ei いいえ 否 不 错 錯 错误 錯誤 아니요 아니오 لا नहीं".split()
)
# Words of judges for whether a sentence is fully supported, with ``_`` between words.
_SUPPORTED = frozenset(["supported", "fully_supported"])
_NOT_FULLY_SUPPORTED = frozenset(
    ["unsupported", "not_supported", "partially", "partially_supported"]
)
# Punctuation that judges write around a word.
WRAPPING = " \t\n.:;,'\"`“”‘’«»()[]{}<>*。、「」『』【】"


def plain_word(text: str) -> str:
    """Return a text in lower case, without punctuation around it and with ``_`` between its words.

    Examples
    --------
    >>> plain_word(" 'Fully-supported'. ")
    'fully_supported'
    """
    return "_".join(re.split(r"[\s_-]+", fold(text).strip(WRAPPING)))


def truth_of(text: str) -> float | None:
    """Convert a word for yes or no in any letter case to 1.0 or 0.0; None if it is another text.

    Examples
    --------
    >>> truth_of("Yes"), truth_of(" FALSE "), truth_of("nein"), truth_of("perhaps")
    (1.0, 0.0, 0.0, None)
    """
    word = fold(text)
    if word in _YES:
        return 1.0
    return 0.0 if word in _NO else None


def flag_of(value: Any) -> bool | None:
    """Return the truth value that a label states, or None if it states none.

    Parameters
    ----------
    value : object
        A Python or NumPy bool, the number 1 or 0, or a word for true or false: see `truth_of`. A
        word such as ``"partially supported"`` is false, because it does not mean *fully*.

    Returns
    -------
    bool or None
        None for a missing value and for anything else.

    Examples
    --------
    >>> [flag_of(value) for value in (True, 1, 0.0, "TRUE", "No.", None, 2, "perhaps")]
    [True, True, False, True, False, None, None, None]
    """
    if isinstance(value, str):
        word = plain_word(value)
        if word in _SUPPORTED or word in _NOT_FULLY_SUPPORTED:
            return word in _SUPPORTED
        truth = truth_of(word)
        return None if truth is None else bool(truth)
    if isinstance(value, bool | int | float | np.bool_ | np.number) and value in (0, 1):
        return bool(value)
    return None


def count_reasons(reasons: Iterable[Any]) -> str:
    """Count how often each reason occurs, and list the most frequent reasons first.

    Parameters
    ----------
    reasons : iterable of str or None
        Reasons, such as error messages. An empty or missing reason counts as ``"no reason given"``.
        Text after the first colon or opening parenthesis is ignored, so that reasons with different
        details are counted together.

    Returns
    -------
    str
        The shortened reasons, cut to 80 characters, each followed by its count in parentheses.

    Examples
    --------
    >>> count_reasons(["HTTP 400: prompt too long", "no connection (refused)", "HTTP 400: flagged"])
    'HTTP 400 (2), no connection (1)'
    """
    short = (str(present(reason) or "no reason given") for reason in reasons)
    counts = Counter(re.split(r"[:(]", reason)[0].strip() or reason for reason in short)
    return ", ".join(f"{reason:.80} ({n:,})" for reason, n in counts.most_common())


# ---- replies that answer nothing ---------------------------------------------------------------

# Why a reply answers nothing, in the words of the column ``reason``.
EMPTY_REPLY = "empty reply"
ONLY_REASONING = "only reasoning and no answer"
CUT_OFF = "cut off inside the reasoning"
BLOCKED = "the provider blocked the reply (content_filter)"
# Values of ``finish_reason`` of a reply that reached its largest number of tokens.
LIMIT_REACHED = ("length", "max_tokens", "max_output_tokens", "model_length")
ERROR_IN_THE_MIDDLE = "the endpoint reported an error in the middle of the reply"


def no_answer(
    reply: str | None,
    *,
    reasoning: str | None = None,
    finish_reason: str | None = None,
    refusal: str | None = None,
    keep_empty: bool = False,
) -> str | None:
    """Return why a reply answers nothing, or None if it contains an answer.

    Parameters
    ----------
    reply : str or None
        Text of the reply. Reasoning in it is no answer; `ragnb.text.read_reasoning` finds it.
    reasoning : str or None, default=None
        Reasoning that the endpoint returned separately from the text.
    finish_reason : str or None, default=None
        Why the model stopped, in the words of the endpoint: ``"stop"``, ``"length"``,
        ``"content_filter"``, ``"error"`` etc.
    refusal : str or None, default=None
        Refusal that the endpoint returned separately from the text.
    keep_empty : bool, default=False
        Whether an empty or blank text is an answer. A missing text, reasoning alone, a refusal of
        the endpoint and an error never are.

    Returns
    -------
    str or None
        One line that begins with the kind of the reason, so that `count_reasons` can count by kind.

    Examples
    --------
    >>> no_answer("Oslo."), no_answer(" "), no_answer(" ", keep_empty=True)
    (None, 'empty reply', None)
    >>> no_answer("<think>Oslo?</think>")
    'only reasoning and no answer'
    >>> no_answer("<think>Oslo or", finish_reason="length")
    "cut off inside the reasoning (finish_reason 'length'; a higher max_tokens leaves room for the answer)"
    """
    if finish_reason == "error":
        return ERROR_IN_THE_MIDDLE
    parts = read_reasoning(reply or "")
    if not is_blank(parts.answer):
        return None
    if refusal:
        return f"the model refused: {well_formed(str(refusal)):.300}"
    if finish_reason == "content_filter":
        return BLOCKED
    if reasoning or parts.reasoning:
        if finish_reason in LIMIT_REACHED:
            advice = "a higher max_tokens leaves room for the answer"
            return f"{CUT_OFF} (finish_reason {finish_reason!r}; {advice})"
        return CUT_OFF if parts.is_unfinished else ONLY_REASONING
    if reply is None:
        return f"the model sent no text (finish_reason {finish_reason!r})"
    return None if keep_empty else EMPTY_REPLY


def reasoning_apart(frame: Any) -> Any:
    """Move the reasoning of each response from the column ``response`` to the column ``reasoning``.

    A response that contains nothing but reasoning becomes None, and the column ``reason`` says why,
    unless it already contains a reason. If the reasoning of a response has no closing mark, a warning
    says so.

    Parameters
    ----------
    frame : DataFrame
        Responses. `ragnb.text.read_reasoning` defines what counts as reasoning.

    Returns
    -------
    DataFrame
        A copy with both columns. If a row already has text in the column ``reasoning``, the
        reasoning from the response is appended to it. The value is None if the row has no
        reasoning. If no response contains reasoning, `frame` itself is returned.
    """
    if "response" not in frame:
        return frame
    responses = frame["response"].tolist()
    if not any(may_have_reasoning(text) for text in responses if isinstance(text, str)):
        return frame
    parts = [
        read_reasoning(text) if isinstance(text, str) else Reasoning("", text) for text in responses
    ]
    if not any(part.reasoning for part in parts):
        return frame
    warn_of_unfinished(parts)
    nothing = [None] * len(parts)
    reasoning, answers, reasons = [], [], []
    for part, text, before, reason, finish_reason in zip(
        parts,
        responses,
        frame.get("reasoning", nothing),
        frame.get("reason", nothing),
        frame.get("finish_reason", nothing),
        strict=True,
    ):
        reasoning.append(f"{present(before) or ''}{part.reasoning}" or None)
        why = None
        if part.reasoning and is_blank(part.answer):
            why = no_answer(text, finish_reason=present(finish_reason))
        answers.append(None if why else part.answer)
        reasons.append(present(reason) or why)
    columns = {"response": answers, "reasoning": reasoning}
    if "reason" in frame or any(reasons):
        columns["reason"] = reasons
    return frame.assign(**{name: _objects(frame, cells) for name, cells in columns.items()})


def warn_of_unfinished(parts: Sequence[Reasoning]) -> None:
    """Warn if replies contain reasoning that no mark closes."""
    unfinished = [part.reasoning for part in parts if part.is_unfinished]
    if unfinished:
        warnings.warn(
            f"{len(unfinished)} of {len(parts)} responses contain reasoning without a closing mark, "
            f"such as {unfinished[0]!r:.60}. They were probably cut off, so everything after the opening "
            "mark counts as reasoning and not as an answer.",
            stacklevel=4,
        )


def whole_replies(frame: Any) -> Any:
    """Move the reasoning of each response back into the column ``response``.

    This reverses `reasoning_apart`, except for white space around the answer and marks behind it.
    Reasoning without marks is dropped.

    Parameters
    ----------
    frame : DataFrame
        Responses, with the columns that `reasoning_apart` returns.

    Returns
    -------
    DataFrame
        A copy without the column ``reasoning``. If either column is absent, `frame` itself is
        returned.
    """
    if not {"response", "reasoning"} <= set(frame):
        return frame
    texts = []
    for reasoning, answer in zip(frame["reasoning"], frame["response"], strict=True):
        text = present(answer)
        if isinstance(reasoning, str):
            # A reply that contains nothing but reasoning has no answer.
            text = join_reasoning(reasoning, text or "") or text
        texts.append(text)
    return frame.assign(response=_objects(frame, texts)).drop(columns="reasoning")


def _objects(frame: Any, values: list[Any]) -> Any:
    """Return a column of objects; otherwise, pandas would convert None to NaN."""
    return type(frame["response"])(values, frame.index, dtype=object)


# ---- frames ------------------------------------------------------------------------------------


def require_columns(
    frame: Any, names: Iterable[str], what: str, *, unique: Sequence[str] = ()
) -> None:
    """Raise InputError unless a data frame has the required columns.

    Parameters
    ----------
    frame : DataFrame
        Frame to check.
    names : iterable of str
        Required columns. Each must occur exactly once.
    what : str
        Name of the function or object that requires the columns. The error message begins with it.
    unique : sequence of str, default=()
        Further required columns. No two rows may have the same values in all of them.
    """
    if type(frame).__module__.startswith(("dask", "pyspark")) or not hasattr(frame, "columns"):
        raise InputError(
            f"{what} needs a pandas DataFrame, got {type(frame).__name__}; load or build one, or call "
            "compute() of a Dask frame or toPandas() of a Spark frame"
        )
    wanted = list(dict.fromkeys([*names, *unique]))
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        meant = [f"{name} ({COLUMNS[name]})" if name in COLUMNS else str(name) for name in missing]
        raise InputError(
            f"{what} needs the columns {', '.join(map(str, wanted))}, "
            f"got a frame without {', '.join(map(str, missing))}; add {'; '.join(meant)}"
        )
    if doubled := [name for name in wanted if list(frame.columns).count(name) > 1]:
        raise InputError(
            f"{what} needs each column once, got several columns {doubled[0]!r}; rename or drop one"
        )
    twice = frame[frame.duplicated([*unique])] if unique else frame[:0]
    if len(twice):
        first = " / ".join(str(twice[name].iloc[0]) for name in unique)
        raise InputError(
            f"{what} needs one row for each {' and '.join(unique)}, got {len(twice)} repeated, such as "
            f"{first}; drop them, or name the column that distinguishes them"
        )


def column_names(given: str | Iterable[str] | None) -> list[str]:
    """Return one column name, several names, or None for no columns, as a list.

    Examples
    --------
    >>> column_names("turn"), column_names(None)
    (['turn'], [])
    """
    return [given] if isinstance(given, str) else list(given or ())
