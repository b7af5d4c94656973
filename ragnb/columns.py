"""Names of the columns of ragnb's data frames, and checks of data frames.

The data flow from ``examples`` (one row per question) to ``requests`` (rendered prompts),
``replies``, ``responses`` (one row per example, condition and system), ``scores`` (one row per
response and metric), and finally ``summaries`` and ``comparisons``. All are pandas DataFrames.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from ragnb.errors import InputError

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
    "right_language": "an annotator's label: 'yes', 'no', 'mixed' or 'none' (no words)",
    "preferred": "an annotator's preference: 'a', 'b', 'tie' or 'neither'",
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


# ---- replies that answer nothing ---------------------------------------------------------------


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


def questions(frame: Any) -> Any:
    """Question of each row, as text: its ``question_id``, or else its ``example_id``."""
    named = frame.get("question_id", frame["example_id"]).astype(object)
    return named.where(named.notna(), frame["example_id"]).map(str).astype(object)
