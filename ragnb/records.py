"""Names of the columns that flow through ragnb, each defined once.

``examples`` (a row a question) → ``requests`` (rendered prompts) → ``replies`` → ``responses`` (example x condition x
system) → ``scores`` (a row per response and metric) → ``summaries``. All are ordinary pandas DataFrames.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from ragnb.errors import InputError
from ragnb.text import join_reasoning, split_reasoning

COLUMNS: dict[str, str] = {
    # examples
    "example_id": "identifier, unique within a frame of examples: 'en_fact/17'",
    "question_id": "identifier that a question keeps in all its languages; `example_id` tells these apart",
    "benchmark": "'rgb', 'ragbench', ...",
    "task": "'noise', 'integration' or 'counterfactual' for RGB; the corpus, such as 'covidqa', for RAGBench",
    "language": "language code: 'en', 'zh', ...",
    "question": "the question",
    "references": "list of answer parts, all needed; each part a list of aliases, any of which will do",
    "references_as": "how a list of several texts was read as a reference: 'alternatives' or 'parts'",
    "positive": "list of groups of passages that hold the answer; one group, or one a part ('integration')",
    "negative": "list of passages that do not hold the answer",
    "positive_wrong": "list of passages with the false answer put in ('counterfactual'), else empty",
    "false_answers": "list of false answers ('counterfactual'), else empty",
    # labelled responses of RAGBench: its own field names
    "split": "'train', 'validation' or 'test'; None where a file does not say",
    "id": "RAGBench's own id of the question; `example_id` has its corpus before it",
    "dataset_name": "RAGBench's corpus and split: 'covidqa_test'",
    "generation_model_name": "name of the model that wrote the response",
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
    "gpt3_adherence": "adherence as GPT-3.5 judges it, published beside the labels",
    "gpt3_context_relevance": "relevance as GPT-3.5 judges it",
    "gpt35_utilization": "utilization as GPT-3.5 judges it",
    "ragas_faithfulness": "adherence as RAGAS scores it",
    "ragas_context_relevance": "relevance as RAGAS scores it",
    "trulens_groundedness": "adherence as TruLens scores it",
    "trulens_context_relevance": "relevance as TruLens scores it",
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
    "response": "the model's answer, without its reasoning; None when there is no reply",
    "reasoning": "the reasoning before the answer: from the text of the reply with its tags, else from a field of its own",
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
    "judge_model": "name of the judge model",
    "judge_confidence": "how sure the judge is of its verdict",
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
    "signature": "version, metric, variant, reading of references, language and prompt behind a value",
    "mean": "mean of the scored values",
    "low": "lower end of the interval",
    "high": "upper end of the interval",
    "interval": "kind of interval",
    "confidence_level": "nominal coverage of the interval",
    "unscored": "how many responses have no value, and why; empty when all have one",
    "n": "number of responses",
    "n_scored": "number of responses with a value",
    "worst_low": "mean if every unscored response had the metric's lowest value",
    "worst_high": "mean if every unscored response had the metric's highest value",
    "std": "standard deviation of the scored values, as of a sample (n - 1); nan of a single one",
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
    "effect": "effect size named in `effect_name`",
    "effect_low": "lower end of the effect size's interval",
    "effect_high": "upper end of the effect size's interval",
    "effect_name": "name of the effect size",
    "mde": "minimum detectable effect: the true difference that the test detects with probability `power`",
    "power": "probability with which the test detects a true difference of `mde`; it detects smaller ones less often",
    "duality": "'dual' when test and interval are one statistic, else 'not dual'",
    "why": "why this test was chosen",
    "higher_is_better": "whether a higher value of the metric is better",
    "warning": "why a result is undefined or to be doubted",
    "standard_error": "standard error of the difference under the mixed model",
    "df": "degrees of freedom of its t",
    "residual": "value minus what the mixed model expects of it",
    # tables of a benchmark: RGB, TRACe
    "closed_book_accuracy": "accuracy of the same system without passages",
    "passes_gate": "whether that is above 70 %; None where it was not asked without passages",
    "measure": "what a judge is measured by: 'hallucination_auroc', 'relevance_rmse', ...",
    "n_missing": "number of records without this judge's value; for deferral, of deferred items without the judge's verdict",
    "n_records": "number of records, scored or not",
    # a judge against people
    "judge": "column of the judge's verdicts or scores; a judge's name",
    "pair": "the two who are compared: 'judged_correct - label'",
    "rater": "the first of the pair",
    "against": "the second of the pair; in an incremental table the option that one is measured against, or ruled out by",
    "of": "whose agreement it is: the judge's with the annotators, theirs among themselves, or the difference",
    "by": "what cuts the responses into groups: a column, 'overall', 'response length' or 'own model'",
    "group": "one of these groups; of a coverage or a shift, the group of responses within which the guarantee holds",
    "ece": "expected calibration error of the judge's scores, in [0, 1]",
    "expected_if_calibrated": "what a calibrated judge's `ece` would be on average, by chance alone",
    "n_bins": "number of bins of scores that are not empty",
    "brier": "Brier score: mean squared distance of score and label",
    "brier_low": "lower end of the Brier score's interval",
    "brier_high": "upper end of the Brier score's interval",
    "bin_low": "lowest score of the bin",
    "bin_high": "upper end of the bin's scores",
    "mean_predicted": "mean score within the bin",
    "note": "what is to be said of the row; empty when there is nothing",
    "judged_by": "column of the judge behind `judge_score` and `judge_verdict`",
    "judge_score": "that judge's score of the response",
    "judge_verdict": "that judge's verdict: 1 or 0",
    "human_label": "the settled label of the response: 1 or 0",
    "annotations": "mapping of annotators to their labels of the response",
    "disagreement": "distance of the judge's score from the label; among annotators, share of pairs that differ",
    "field": "the field of labels that is compared",
    "sentence": "key of the sentence that the field is asked of; None where it is asked of the item",
    "votes": "mapping of annotators to what each of them said",
    # what translation buys
    "gain": "token F1 over the baseline's: of a response, or the mean",
    "gain_low": "lower end of the mean gain's interval",
    "gain_high": "upper end of the mean gain's interval",
    "cost": "tokens translated: of a response, or the mean",
    "cost_low": "lower end of the mean cost's interval",
    "cost_high": "upper end of the mean cost's interval",
    "unit": "the question that several responses share",
    "reading": "how gain and cost are made one number: a mean of ratios or a ratio of means",
    "estimate": "that number: F1 gained per translated token",
    "kind": "shape of Fieller's confidence set: 'bounded', 'two rays', 'whole line' or 'undefined'; else empty",
    "zero_cost_share": "share of the responses that cost nothing",
    "left_out": "number of responses left out for want of a gain or a cost",
    "other": "the system or judge that the first one is compared with",
    "ratio": "mean gain / mean cost of `system`",
    "other_ratio": "mean gain / mean cost of `other`",
    "cost_ratio": "mean cost of `other` / mean cost of `system`",
    "price": "what one token is taken to be worth, in F1",
    "net_benefit": "mean of gain - price x cost",
    "acceptability": "one minus the one-sided p-value that the net benefit is above 0",
    "mean_cost": "mean cost over the examples that every system has",
    "mean_gain": "mean gain over these examples",
    "status": "place of a system among the others: on the frontier, dominated or extendedly dominated",
    "incremental_cost": "mean cost beyond that of the option in `against`",
    "incremental_gain": "mean gain beyond that of the option in `against`",
    "icer": "incremental cost / incremental gain, in tokens per F1",
    "average_rank": "mean over questions of the system's rank within each, 1 the best",
    "average_rank_low": "lower end of the average rank's interval",
    "average_rank_high": "upper end of the average rank's interval",
    "rank": "the system's place by its mean, 1 the best; of a coverage, the threshold's among the calibration scores",
    "rank_low": "best place that the system may have, all systems taken together",
    "rank_high": "worst place that the system may have, all systems taken together",
    "probability_best": "share of resamples in which the system has the best mean",
    # ensembles and deferral
    "auc": "area under the ROC curve of a metric, or of the ensemble, for the label",
    "auc_low": "lower end of the area's interval",
    "auc_high": "upper end of the area's interval",
    "accuracy": "share of right labels",
    "correlation": "Pearson's correlation with the label",
    "importance": "mean fall of the ensemble's area when the metric is shuffled",
    "p_value_0": "conformal p-value of label 0",
    "p_value_1": "conformal p-value of label 1",
    "in_set_0": "whether label 0 cannot be excluded",
    "in_set_1": "whether label 1 cannot be excluded",
    "abstained": "whether the prediction set contains both labels or neither",
    "y_hat": "the ensemble's own label: 1 or 0",
    "tested": "what a test of shift compares: a feature, 'probability', or 'score of the true label'",
    "n_calibration": "number of calibration responses that a test of shift compares",
    "n_new": "number of new responses that it compares them with",
    "n_units_calibration": "number of independent responses that the calibration responses count as",
    "n_units_new": "number of independent responses that the new responses count as",
    "deferred": "whether the judicator was asked",
    "judged": "its verdict: 1 or 0; missing without one",
    "share": "share of the items that are deferred to the judge",
    "n_deferred": "number of items that are deferred to the judge",
    "n_judged": "number of its verdicts on them; a mean where items are equally certain",
    "error": "share of wrong labels: 1 - `accuracy`",
    "point": "name of the choice of items behind the row; empty where it has none",
    "policy": "name of the choice of items that is compared with `baseline`",
    "baseline_accuracy": "accuracy of the baseline's choice",
    "baseline_share": "share of the items that the baseline defers to the judge",
}

EXAMPLE = ("example_id", "benchmark", "task", "language", "question", "references")
RGB_EXAMPLE = (*EXAMPLE, "positive", "negative", "positive_wrong", "false_answers")
RAGBENCH_RESPONSE = (*EXAMPLE[:5], "passages", "system", "response", "split")
"""Columns that a labelled response of RAGBench begins with; RAGBench's own follow."""

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
"""Columns that tell one cell of an experiment from another: what summaries are grouped by unless told otherwise."""

PAYLOAD = frozenset(
    "question references positive negative positive_wrong false_answers passages kinds messages prompt parameters "
    "response reasoning reason documents documents_sentences response_sentences all_relevant_sentence_keys "
    "all_utilized_sentence_keys sentence_support_information unsupported_response_sentence_keys "
    "overall_supported_explanation relevance_explanation label_attempts label_keys label_repairs judge_keys "
    "judge_explanation label_note response_embedding reference_embedding translations translation_keys passage_languages "
    "passage_ids passage_scores released_evidence".split()
)
"""Columns too long to repeat beside every score."""

PLAIN_TEXT = frozenset(
    "question prompt response reasoning reason overall_supported_explanation relevance_explanation judge_explanation "
    "label_note".split()
)
"""Those of them that are texts; the others are lists or mappings."""

PARTITIONED = {
    "dask": ("Dask", "compute()"),
    "dask_expr": ("Dask", "compute()"),
    "pyspark": ("Spark", "toPandas()"),
}
"""Library -> what its frames are called, and the method that makes a pandas DataFrame of one."""


def is_missing(value: Any) -> bool:
    """Whether a cell of a frame holds nothing: None, nan, or pandas' NA or NaT.

    >>> [is_missing(value) for value in (None, float("nan"), 0, "", [])]
    [True, True, False, False, False]
    """
    if value is None or isinstance(value, (float, np.floating)):
        return value is None or bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType")  # without importing pandas


def present(value: Any) -> Any:
    """A cell's value, None where it holds nothing."""
    return None if is_missing(value) else value


def count_reasons(reasons: Iterable[Any]) -> str:
    """Count reasons without their details, the most frequent first.

    >>> count_reasons(["HTTP 400: the prompt is too long", "no connection (refused)", "HTTP 400: flagged"])
    'HTTP 400 (2), no connection (1)'
    """
    short = (str(present(reason) or "no reason given") for reason in reasons)
    counts = Counter(re.split(r"[:(]", reason)[0].strip() or reason for reason in short)
    return ", ".join(f"{reason:.80} ({n:,})" for reason, n in counts.most_common())


def reasoning_apart(frame: Any) -> Any:
    """A frame whose column ``response`` contains answers only: reasoning in it is moved to the column ``reasoning``.

    The frame is returned as it is if no response contains reasoning; see `ragnb.text.split_reasoning`.
    """
    if "response" not in frame:
        return frame
    responses = frame["response"].tolist()
    split = [split_reasoning(text) if isinstance(text, str) else ("", text) for text in responses]
    if not any(reasoning for reasoning, _ in split):
        return frame
    before = frame["reasoning"] if "reasoning" in frame else [None] * len(split)
    reasonings = [
        f"{present(old) or ''}{new}" or None for old, (new, _) in zip(before, split, strict=True)
    ]
    answers = [answer for _, answer in split]
    return frame.assign(
        response=_like_response(frame, answers), reasoning=_like_response(frame, reasonings)
    )


def whole_replies(frame: Any) -> Any:
    """A frame whose column ``response`` contains the text of each reply with its reasoning; undoes `reasoning_apart`."""
    if not {"response", "reasoning"} <= set(frame):
        return frame
    pairs = zip(frame["reasoning"], frame["response"], strict=True)
    texts = [
        join_reasoning(reasoning, answer)
        if isinstance(reasoning, str) and isinstance(answer, str)
        else answer
        for reasoning, answer in pairs
    ]
    return frame.assign(response=_like_response(frame, texts)).drop(columns="reasoning")


def _like_response(frame: Any, values: list[Any]) -> Any:
    """Values as a column of objects with the rows of ``response``; pandas would turn None among texts into nan."""
    column = frame["response"].astype(object)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    column.iloc[:] = array
    return column


def is_partitioned(frame: Any) -> bool:
    """Whether a frame is one of Dask or Spark, told without importing either."""
    return _library(frame) in PARTITIONED


def refuse_partitioned(frame: Any, what: str) -> None:
    """Raise InputError if a frame is one of Dask or Spark; ``what`` says who needs one of pandas."""
    if is_partitioned(frame):
        name, method = PARTITIONED[_library(frame)]
        raise InputError(
            f"{what} needs a pandas DataFrame; got a {name} frame; call its {method} first"
        )


def _library(thing: Any) -> str:
    return type(thing).__module__.partition(".")[0]


def require_columns(frame: Any, names: Iterable[str], what: str) -> None:
    """Raise InputError unless ``frame`` has all columns ``names``; ``what`` says who needs them."""
    refuse_partitioned(frame, what)
    columns = getattr(frame, "columns", None)
    if columns is None:
        raise InputError(
            f"{what} needs a pandas DataFrame; got {type(frame).__name__}; load or build a frame first"
        )
    names = list(names)
    missing = [name for name in names if not isinstance(name, Hashable) or name not in columns]
    if missing:
        meant = "; ".join(
            f"{name} ({COLUMNS[name]})" if str(name) in COLUMNS else f"{name}" for name in missing
        )
        wanted, absent = (", ".join(map(str, some)) for some in (names, missing))
        raise InputError(
            f"{what} needs the columns {wanted}; got a frame without {absent}; add {meant}"
        )


def one_column(given: Any, what: str) -> list[str]:
    """The name of a column as a list of one; none where nothing is given.

    Raises
    ------
    InputError
        Something that is no name; ``what`` says who needs it.
    """
    if given is not None and not isinstance(given, str):
        raise InputError(
            f"{what} needs the name of one column; got {given!r:.60}; name it, or leave it out"
        )
    return [] if given is None else [given]


def column_names(given: Any, what: str) -> list[str]:
    """The name of a column, or several, as a list; none where nothing is given.

    Raises
    ------
    InputError
        Something that is neither; ``what`` says who needs it.
    """
    names = [] if given is None else [given] if isinstance(given, str) else given
    single = isinstance(names, np.ndarray) and not names.ndim
    if single or isinstance(names, bytes | Mapping) or not np.iterable(names):
        names = [names]
    names = list(names)
    if not all(isinstance(name, str) for name in names):
        raise InputError(
            f"{what} needs the name of a column, or a list of names; got {given!r:.60}; name columns"
        )
    return names
