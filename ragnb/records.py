"""Names of the columns that flow through ragnb, each defined once.

``examples`` (a row a question) → ``requests`` (rendered prompts) → ``replies`` → ``responses`` (example x condition x
system) → ``scores`` (a row per response and metric) → ``summaries``. All are ordinary pandas DataFrames.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from ragnb.errors import InputError

COLUMNS: dict[str, str] = {
    # examples
    "example_id": "identifier, unique within a frame of examples: 'en_fact/17'",
    "question_id": "identifier that a question keeps in all its languages; `example_id` tells these apart",
    "benchmark": "'rgb', 'ragbench', ...",
    "task": "'noise', 'integration' or 'counterfactual' for RGB; the corpus, such as 'covidqa', for RAGBench",
    "language": "language code: 'en', 'zh', ...",
    "question": "the question",
    "references": "list of answer parts, all needed; each part a list of aliases, any of which will do",
    "positive": "list of groups of passages that hold the answer; one group, or one a part ('integration')",
    "negative": "list of passages that do not hold the answer",
    "positive_wrong": "list of passages with the false answer put in ('counterfactual'), else empty",
    "false_answers": "list of false answers ('counterfactual'), else empty",
    # labelled responses of RAGBench: its own field names
    "split": "'train', 'validation' or 'test'; None where a file does not say",
    "documents": "RAGBench's name for `passages`",
    "documents_sentences": "list of documents, each a list of [key, text] sentences: '0a', '0b', ..., '1a'",
    "response_sentences": "list of the response's [key, text] sentences: 'a', 'b', ...",
    "all_relevant_sentence_keys": "keys of the context's sentences that are relevant to the question",
    "all_utilized_sentence_keys": "keys of the context's sentences that the response uses",
    "sentence_support_information": "list of {'response_sentence_key', 'supporting_sentence_keys', 'fully_supported', "
    "'explanation'}",
    "unsupported_response_sentence_keys": "keys of the response's sentences that the context does not support",
    "overall_supported": "the annotator's own verdict on the whole response; may contradict the sentence labels",
    "overall_supported_explanation": "why the annotator says so",
    "relevance_explanation": "why the annotator finds these sentences relevant",
    "annotating_model_name": "name of the judge or annotator",
    "relevance_score": "published relevance",
    "utilization_score": "published utilization",
    "completeness_score": "published completeness",
    "adherence_score": "published adherence, true or false",
    # conditions
    "system": "name of what answers: a model, a prompt, a pipeline",
    "noise_rate": "nominal share of passages without the answer, in [0, 1]",
    "passage_num": "number of passages asked for",
    "correct_rate": "nominal share of true passages among counterfactual ones, in [0, 1]",
    "order": "how passages were ordered: 'per_item' or 'released'",
    "repeat": "number of the repeat of one request, from 0",
    # contexts
    "passages": "list of passages as shown to the model, in order",
    "kinds": "list beside `passages`: 'positive', 'negative' or 'wrong'",
    "passage_languages": "list beside `passages`: language code of each, as retrieved",
    "passage_ids": "list beside `passages`: example and place that each comes from: 'a/1/de#0'",
    "passage_scores": "list beside `passages`: the retriever's score of each, higher is better",
    "n_passages": "number of passages really shown",
    "effective_noise_rate": "share of negative passages among those shown; nan when none is shown",
    # requests and replies
    "messages": "list of {'role', 'content'} messages; None for a completion request",
    "prompt": "text to continue (completions endpoint); None for a chat request",
    "parameters": "mapping of sampling parameters: temperature, max_tokens, seed, ...",
    "template": "name, version and hash of the prompt template",
    "model": "model name as sent to the endpoint",
    "request_key": "hash of all that can change a reply: model, messages or prompt, parameters, repeat",
    "response": "the model's text; None when there is no reply",
    "reason": "why there is no reply or no value; None when there is one",
    "finish_reason": "why the model stopped: 'stop', 'length', ...",
    "prompt_tokens": "tokens sent, as the endpoint counts them",
    "completion_tokens": "tokens received, as the endpoint counts them",
    "system_fingerprint": "the endpoint's own mark of its configuration",
    "judged_refusal": "a judge's verdict: 1 when the response refuses, else 0; nan where there is none",
    "judged_detection": "a judge's verdict: 1 when the response detects errors, else 0; nan where there is none",
    "verdict": "an annotator's verdict on the response: True or False, 'correct', 'incorrect' or 'refuse'",
    "item": "id of what an annotator labels: the example's, or the values of several columns with a bar between them",
    "annotator": "name of who labelled the item",
    "answer_present": "an annotator's label: whether the answer is in the response",
    "refusal": "an annotator's label: whether the response refuses to answer",
    "error_detected": "an annotator's label: whether the response finds errors in the documents",
    "right_language": "an annotator's label: 'yes', 'no', 'mixed' or 'none'",
    "preferred": "an annotator's label: 'a', 'b', 'tie' or 'neither'",
    "label_status": "how far the item is labelled: 'labelled', 'started', 'skipped' or 'untouched'",
    "label_source": "where the labels come from: 'human', 'suggestion accepted', 'suggestion changed', 'agreed', "
    "'adjudicated' or 'mixed'",
    "label_flag": "whether the annotator flagged the item",
    "label_note": "the annotator's note",
    "label_reason": "why a record could not be labelled; None when it could",
    "label_attempts": "what a judge replied each time it was asked, and what was wrong with it",
    "label_repairs": "number of repairs by their kind",
    "label_keys": "request keys of the replies behind the labels",
    "judge_keys": "request keys of the replies behind a verdict",
    "judged_similarity": "a judge's score in [0, 1]: how far the response means what the reference says; nan without one",
    "judged_correct": "a judge's verdict: 1 when the response is correct, else 0; nan where there is none",
    "judge_reason": "why there is no judgement; None when there is one",
    "judge_explanation": "why the judge says so",
    "label": "1 when the response was labelled correct, else 0",
    "label_a": "the first reader's label, 1 or 0",
    "label_b": "the second reader's label, 1 or 0",
    "response_embedding": "vector of the response's meaning",
    "reference_embedding": "vector of the reference's meaning",
    "embedding_cosine": "cosine of the two, recorded to four digits",
    "probability": "true probability of the label 1 (simulated), or a model's",
    "translations": "list of translated passages: {'text', 'token_count'}, with more beside",
    "translation_keys": "request keys of the replies behind the translations",
    "released_evidence": "passages behind a response, as the run wrote them down that the response comes from",
    "label_contradiction": "how the labels contradict each other after the last ask; None when they do not",
    # scores and summaries
    "metric": "name of the metric: 'rgb.accuracy'",
    "value": "the metric's value; nan when unscored",
    "evidence": "what decided the value (score(..., explain=True))",
    "signature": "version, metric, variant, language and prompt behind a value",
    "mean": "mean of the scored values",
    "low": "lower end of the interval",
    "high": "upper end of the interval",
    "interval": "kind of interval",
    "confidence_level": "nominal coverage of the interval",
    "n": "number of responses",
    "n_scored": "number of responses with a value",
    "worst_low": "mean if every unscored response had the metric's lowest value",
    "worst_high": "mean if every unscored response had the metric's highest value",
    "n_units": "number of independent units behind an interval",
    "n_unlabelled": "number of units that only one annotator labelled, which are left out",
    # comparisons
    "baseline": "the system that `system` is compared with",
    "n_pairs": "number of items with a value for both systems",
    "n_clusters": "number of independent units among them",
    "n_dropped": "number of items left out for want of a value",
    "baseline_mean": "mean of the baseline over the same items",
    "difference": "mean of system - baseline over the same items",
    "test": "name of the test",
    "statistic": "the test's statistic",
    "p_value": "p-value of the test",
    "p_adjusted": "p-value corrected over its family",
    "correction": "kind of correction",
    "family_size": "number of p-values corrected together",
    "effect": "effect size named in `effect_name`, with `effect_low` and `effect_high`",
    "mde": "minimum detectable effect: the true difference shown with probability `power`",
    "duality": "'dual' when test and interval are one statistic, else 'not dual'",
    "why": "why this test was chosen",
    "warning": "why a result is undefined or to be doubted",
}

EXAMPLE = ("example_id", "benchmark", "task", "language", "question", "references")
RGB_EXAMPLE = (*EXAMPLE, "positive", "negative", "positive_wrong", "false_answers")
RAGBENCH_RESPONSE = (*EXAMPLE[:5], "passages", "system", "response", "split")
"""Columns that a labelled response of RAGBench begins with; RAGBench's own follow."""

CONDITION = ("system", "benchmark", "task", "language", "noise_rate", "passage_num", "correct_rate", "order")
"""Columns that tell one cell of an experiment from another: what summaries are grouped by unless told otherwise."""

PAYLOAD = frozenset(
    "question references positive negative positive_wrong false_answers passages kinds messages prompt parameters "
    "response reason documents documents_sentences response_sentences all_relevant_sentence_keys "
    "all_utilized_sentence_keys sentence_support_information unsupported_response_sentence_keys "
    "overall_supported_explanation relevance_explanation label_attempts label_keys label_repairs judge_keys "
    "judge_explanation label_note response_embedding reference_embedding translations translation_keys passage_languages "
    "passage_ids passage_scores released_evidence".split()
)
"""Columns too long to repeat beside every score."""

PLAIN_TEXT = frozenset(
    "question prompt response reason overall_supported_explanation relevance_explanation judge_explanation "
    "label_note".split()
)
"""Those of them that are texts; the others are lists or mappings."""

PARTITIONED = {"dask": ("Dask", "compute()"), "dask_expr": ("Dask", "compute()"), "pyspark": ("Spark", "toPandas()")}
"""Library -> what its frames are called, and the method that makes a pandas DataFrame of one."""


def is_partitioned(frame: Any) -> bool:
    """Whether a frame is one of Dask or Spark, told without importing either."""
    return _library(frame) in PARTITIONED


def refuse_partitioned(frame: Any, what: str) -> None:
    """Raise InputError if a frame is one of Dask or Spark; ``what`` says who needs one of pandas."""
    if is_partitioned(frame):
        name, method = PARTITIONED[_library(frame)]
        raise InputError(f"{what} needs a pandas DataFrame; got a {name} frame; call its {method} first")


def _library(thing: Any) -> str:
    return type(thing).__module__.partition(".")[0]


def require_columns(frame: Any, names: Iterable[str], what: str) -> None:
    """Raise InputError unless ``frame`` has all columns ``names``; ``what`` says who needs them."""
    refuse_partitioned(frame, what)
    columns = getattr(frame, "columns", None)
    if columns is None:
        raise InputError(f"{what} needs a pandas DataFrame; got {type(frame).__name__}; load or build a frame first")
    names = list(names)
    missing = [name for name in names if not isinstance(name, Hashable) or name not in columns]
    if missing:
        meant = "; ".join(f"{name} ({COLUMNS[name]})" if str(name) in COLUMNS else f"{name}" for name in missing)
        wanted, absent = (", ".join(map(str, some)) for some in (names, missing))
        raise InputError(f"{what} needs the columns {wanted}; got a frame without {absent}; add {meant}")


def column_names(given: Any, what: str) -> list[str]:
    """The name of a column, or several, as a list; none where nothing is given.

    Raises
    ------
    InputError
        Something that is neither; ``what`` says who needs it.
    """
    names = [] if given is None else [given] if isinstance(given, str) else given
    if isinstance(names, bytes | Mapping) or not isinstance(names, Iterable):
        names = [names]
    names = list(names)
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"{what} needs the name of a column, or a list of names; got {given!r:.60}; name columns")
    return names
