"""Documented names of the columns in all frames of ragnb.

Data flow from ``examples`` (one row per question) to ``requests`` (rendered prompts), ``replies``,
``responses`` (one row per example, condition and system), ``scores`` (one row per response and
metric), and finally ``summaries`` and ``comparisons``. All are ordinary pandas DataFrames.
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
    "example_id": "identifier that is unique within a frame of examples: 'en_fact/17'",
    "question_id": "identifier that a question keeps in all languages, unlike `example_id`",
    "benchmark": "'rgb', 'ragbench', ...",
    "task": "'noise', 'integration' or 'counterfactual' for RGB; the corpus, such as 'covidqa', "
    "for RAGBench",
    "language": "language code: 'en', 'zh', ...",
    "question": "the question",
    "references": "list of answer parts, all of which are required; each part is a list of "
    "aliases, any of which is enough",
    "references_as": "how a list of several reference texts was interpreted: as 'alternatives' or "
    "as 'parts'",
    "positive": "list of groups of passages that contain the answer; one group, or one group per "
    "answer part for 'integration'",
    "negative": "list of passages that do not contain the answer",
    "positive_wrong": "list of passages in which a false answer replaces the true one; empty "
    "unless the task is 'counterfactual'",
    "false_answers": "list of false answers; empty unless the task is 'counterfactual'",
    # labelled responses of RAGBench, under its own field names
    "split": "'train', 'validation' or 'test'; None if the file does not state it",
    "id": "RAGBench's own id of the question; `example_id` is the corpus followed by this id",
    "dataset_name": "RAGBench's corpus and split: 'covidqa_test'",
    "generation_model_name": "name of the model that wrote the response",
    "documents": "RAGBench's name for `passages`",
    "documents_sentences": "list of documents, each a list of [key, text] sentences: '0a', '0b', "
    "..., '1a'",
    "response_sentences": "list of the [key, text] sentences of the response: 'a', 'b', ...",
    "all_relevant_sentence_keys": "keys of the context sentences that are relevant to the question",
    "all_utilized_sentence_keys": "keys of the context sentences that the response uses",
    "sentence_support_information": "list of {'response_sentence_key', 'supporting_sentence_keys', "
    "'fully_supported', 'explanation'}",
    "unsupported_response_sentence_keys": "keys of the response sentences that the context does "
    "not support",
    "overall_supported": "the annotator's verdict on the whole response; it may contradict the "
    "sentence labels",
    "overall_supported_explanation": "the annotator's explanation of `overall_supported`",
    "relevance_explanation": "the annotator's explanation of the relevance labels",
    "annotating_model_name": "name of the judge or annotator",
    "relevance_score": "published relevance",
    "utilization_score": "published utilization",
    "completeness_score": "published completeness",
    "adherence_score": "published adherence, True or False",
    "gpt3_adherence": "adherence according to GPT-3.5, as published with the labels",
    "gpt3_context_relevance": "relevance according to GPT-3.5",
    "gpt35_utilization": "utilization according to GPT-3.5",
    "ragas_faithfulness": "adherence according to RAGAS",
    "ragas_context_relevance": "relevance according to RAGAS",
    "trulens_groundedness": "adherence according to TruLens",
    "trulens_context_relevance": "relevance according to TruLens",
    # conditions
    "system": "name of the evaluated system: a model, a prompt or a pipeline",
    "noise_rate": "nominal share of passages without the answer, in [0, 1]",
    "passage_num": "requested number of passages",
    "correct_rate": "nominal share of true passages among counterfactual ones, in [0, 1]",
    "order": "how the passages were ordered: 'per_item' or 'released'",
    "repeat": "number of the repetition of the same request, from 0",
    # contexts
    "passages": "list of passages in the order in which the model sees them",
    "kinds": "list with the kind of each passage: 'positive', 'negative' or 'wrong'",
    "passage_languages": "list with the language code of each passage as retrieved",
    "passage_ids": "list with the example and position that each passage comes from: 'a/1/de#0'",
    "passage_scores": "list with the retrieval score of each passage; higher is better",
    "n_passages": "number of passages that are actually shown",
    "effective_noise_rate": "share of negative passages among those shown; nan if none is shown",
    # requests and replies
    "messages": "list of {'role', 'content'} messages; None for a completion request",
    "prompt": "text to continue (completions endpoint); None for a chat request",
    "parameters": "mapping of sampling parameters: temperature, max_tokens, seed, ...",
    "template": "name, version and hash of the prompt template",
    "model": "model name as sent to the endpoint",
    "request_key": "hash of everything that can change a reply: model, messages or prompt, "
    "parameters, repeat",
    "response": "the model's answer without its reasoning; None if there is no reply",
    "reasoning": "the reasoning before the answer, either tagged in the text of the reply or from "
    "a separate field of the reply",
    "reason": "why there is no reply or no value; None if there is one",
    "finish_reason": "why the model stopped: 'stop', 'length', ...",
    "prompt_tokens": "number of tokens sent, as reported by the endpoint",
    "completion_tokens": "number of tokens received, as reported by the endpoint",
    "system_fingerprint": "the endpoint's identifier of its configuration",
    "judged_refusal": "a judge's verdict: 1 if the response refuses to answer, else 0; nan without "
    "a verdict",
    "judged_detection": "a judge's verdict: 1 if the response detects factual errors, else 0; nan "
    "without a verdict",
    "verdict": "an annotator's verdict on the response: True or False, 'correct', 'incorrect' or "
    "'refuse'",
    "item": "id of the annotated item: the example id, or the values of several columns joined by "
    "a vertical bar",
    "annotator": "name of the person who labelled the item",
    "answer_present": "an annotator's label: whether the response contains the answer",
    "refusal": "an annotator's label: whether the response refuses to answer",
    "error_detected": "an annotator's label: whether the response points out errors in the "
    "documents",
    "right_language": "an annotator's label: 'yes', 'no', 'mixed' or 'none'",
    "preferred": "an annotator's label: 'a', 'b', 'tie' or 'neither'",
    "label_status": "progress of the annotation: 'labelled', 'started', 'skipped' or 'untouched'",
    "label_source": "origin of the labels: 'human', 'suggestion accepted', 'suggestion changed', "
    "'agreed', 'adjudicated' or 'mixed'",
    "label_flag": "whether the annotator flagged the item",
    "label_note": "the annotator's note",
    "label_reason": "why a record could not be labelled; None if it could",
    "label_attempts": "list of the judge's replies, one per attempt, each with what was wrong with "
    "it",
    "label_repairs": "mapping of each kind of repair to the number of such repairs",
    "label_keys": "request keys of the replies from which the labels were read",
    "judge_keys": "request keys of the replies from which the verdict was read",
    "judged_similarity": "a judge's score in [0, 1] for how closely the response has the meaning "
    "of the reference; nan without a score",
    "judged_correct": "a judge's verdict: 1 if the response is correct, else 0; nan without a "
    "verdict",
    "judge_model": "name of the judge model",
    "judge_confidence": "the judge's confidence in its verdict",
    "judge_reason": "why there is no judgement; None if there is one",
    "judge_explanation": "the judge's explanation of its verdict",
    "label": "1 if the response was labelled correct, else 0",
    "label_a": "the first annotator's label, 1 or 0",
    "label_b": "the second annotator's label, 1 or 0",
    "response_embedding": "vector that embeds the response",
    "reference_embedding": "vector that embeds the reference",
    "embedding_cosine": "cosine similarity of the two embeddings, recorded to four digits",
    "probability": "probability of label 1: the true one in simulated data, otherwise a model's "
    "prediction",
    "translations": "list of translated passages: {'text', 'token_count'} and further fields",
    "translation_keys": "request keys of the replies that contain the translations",
    "released_evidence": "list of the passages behind a response, as recorded by the run that "
    "produced it",
    "label_contradiction": "how the labels still contradict each other after the last attempt; "
    "None if they do not",
    # scores and summaries
    "metric": "name of the metric: 'rgb.accuracy'",
    "value": "value of the metric; nan if the response is unscored",
    "evidence": "the evidence for the value, from score(..., explain=True)",
    "signature": "version, metric, variant, interpretation of references, language and prompt that "
    "define the value",
    "mean": "mean of the scored values",
    "low": "lower limit of the interval",
    "high": "upper limit of the interval",
    "interval": "kind of interval",
    "problem": "why the limits of an interval are undefined; missing where they are defined",
    "confidence_level": "nominal coverage of the interval",
    "unscored": "number of responses without a value, and the reasons; empty if all have one",
    "n": "number of responses",
    "n_scored": "number of responses with a value",
    "worst_low": "mean if every unscored response had the lowest value of the metric",
    "worst_high": "mean if every unscored response had the highest value of the metric",
    "std": "sample standard deviation (n - 1) of the scored values; nan for a single value",
    "n_units": "number of independent units behind an interval",
    "n_unlabelled": "number of units left out because only one annotator labelled them",
    # comparisons
    "baseline": "the system with which `system` is compared",
    "n_pairs": "number of items with a value for both systems",
    "n_clusters": "number of independent clusters among these items",
    "n_dropped": "number of items left out because a value is missing",
    "baseline_mean": "mean of the baseline over the same items",
    "difference": "mean of system - baseline over the same items",
    "test": "name of the test",
    "statistic": "test statistic",
    "p_value": "p-value of the test",
    "p_adjusted": "p-value corrected for multiple testing within its family",
    "correction": "method of the correction for multiple testing",
    "family_size": "number of p-values corrected together",
    "effect": "effect size named in `effect_name`",
    "effect_low": "lower limit of the interval of the effect size",
    "effect_high": "upper limit of the interval of the effect size",
    "effect_name": "name of the effect size",
    "mde": "minimum detectable effect: the true difference that the test detects with probability "
    "`power`",
    "power": "probability that the test detects a true difference of `mde`; smaller differences "
    "are detected less often",
    "duality": "'dual' if the interval contains exactly the differences that the test does not "
    "reject, else 'not dual'",
    "why": "why this test was chosen",
    "higher_is_better": "whether a higher value of the metric is better",
    "warning": "why the result is undefined or questionable",
    "standard_error": "standard error of the difference under the mixed model",
    "df": "degrees of freedom of the t statistic",
    "residual": "value minus its prediction by the mixed model",
    # tables of a benchmark: RGB, TRACe
    "closed_book_accuracy": "accuracy of the same system without passages",
    "passes_gate": "whether the closed-book accuracy is above 70 %; None if it was not measured",
    "measure": "measure of the judge's quality: 'hallucination_auroc', 'relevance_rmse', ...",
    "n_missing": "number of records without this judge's value; for deferral, number of deferred "
    "items without the judge's verdict",
    "n_records": "number of records, scored or not",
    # a judge against people
    "judge": "column of the judge's verdicts or scores, or the name of the judge",
    "pair": "the two raters that are compared: 'judged_correct - label'",
    "rater": "the first rater of the pair",
    "against": "the second rater of the pair; in an incremental table, the option that this one is "
    "compared with or dominated by",
    "of": "whose agreement it is: the judge's with the annotators, the annotators' among "
    "themselves, or the difference",
    "by": "what divides the responses into groups: a column, 'overall', 'response length' or 'own "
    "model'",
    "group": "one of the groups of `by`; for a coverage or a shift, the group of responses within "
    "which the guarantee is valid",
    "ece": "expected calibration error of the judge's scores, in [0, 1]",
    "expected_if_calibrated": "average `ece` of a perfectly calibrated judge, due to chance alone",
    "n_bins": "number of bins of scores that are not empty",
    "brier": "Brier score: mean squared difference between score and label",
    "bin_low": "lower limit of the scores in the bin",
    "bin_high": "upper limit of the scores in the bin",
    "mean_predicted": "mean score within the bin",
    "note": "remark on the row; empty if there is none",
    "judged_by": "column from which `judge_score` and `judge_verdict` are taken",
    "judge_score": "score that the judge in `judged_by` gave to the response",
    "judge_verdict": "verdict of the judge in `judged_by`: 1 or 0",
    "human_label": "final human label of the response: 1 or 0",
    "annotations": "mapping of annotators to their labels of the response",
    "disagreement": "difference between the judge's score and the label; among annotators, the "
    "share of pairs that disagree",
    "field": "the label field that is compared",
    "sentence": "key of the sentence that the label is about; None if it is about the whole item",
    "votes": "mapping of annotators to their values of the field",
    # what translation buys
    "gain": "token F1 minus that of the baseline: of one response, or the mean",
    "gain_low": "lower limit of the interval of the mean gain",
    "gain_high": "upper limit of the interval of the mean gain",
    "cost": "number of translated tokens: of one response, or the mean",
    "cost_low": "lower limit of the interval of the mean cost",
    "cost_high": "upper limit of the interval of the mean cost",
    "unit": "the question that several responses share",
    "reading": "estimator that combines gain and cost: a mean of ratios or a ratio of means",
    "estimate": "the estimate: F1 gained per translated token",
    "kind": "shape of Fieller's confidence set: 'bounded', 'two rays', 'whole line' or "
    "'undefined'; empty for other intervals",
    "zero_cost_share": "share of the responses with zero cost",
    "left_out": "number of responses left out because their gain or cost is missing",
    "other": "the system or judge with which the first one is compared",
    "ratio": "mean gain / mean cost of `system`",
    "other_ratio": "mean gain / mean cost of `other`",
    "cost_ratio": "mean cost of `other` / mean cost of `system`",
    "price": "assumed value of one token, in F1",
    "net_benefit": "mean of gain - price x cost",
    "acceptability": "one minus the one-sided p-value for a net benefit above 0",
    "mean_cost": "mean cost over the examples that all systems share",
    "mean_gain": "mean gain over the examples that all systems share",
    "status": "position of a system among the others: on the frontier, dominated or extendedly "
    "dominated",
    "incremental_cost": "mean cost minus that of the option in `against`",
    "incremental_gain": "mean gain minus that of the option in `against`",
    "icer": "incremental cost-effectiveness ratio: incremental cost / incremental gain, in tokens "
    "per F1",
    "average_rank": "mean over questions of the system's rank within each question; 1 is best",
    "average_rank_low": "lower limit of the interval of the average rank",
    "average_rank_high": "upper limit of the interval of the average rank",
    "rank": "rank of the system by its mean; 1 is best; for a coverage, rank of the threshold "
    "among the calibration scores",
    "rank_low": "best rank in the simultaneous interval over all systems",
    "rank_high": "worst rank in the simultaneous interval over all systems",
    "probability_best": "share of resamples in which the system has the best mean",
    # ensembles and deferral
    "auc": "area under the ROC curve of a metric, or of the ensemble, for the label",
    "auc_low": "lower limit of the interval of the area under the curve",
    "auc_high": "upper limit of the interval of the area under the curve",
    "accuracy": "share of correct predictions",
    "correlation": "Pearson correlation with the label",
    "importance": "permutation importance: mean decrease of the ensemble's AUC when the metric is "
    "shuffled",
    "p_value_0": "conformal p-value of label 0",
    "p_value_1": "conformal p-value of label 1",
    "in_set_0": "whether the prediction set contains label 0",
    "in_set_1": "whether the prediction set contains label 1",
    "abstained": "whether the prediction set contains both labels or neither",
    "y_hat": "label predicted by the ensemble: 1 or 0",
    "tested": "what a test of shift compares: a feature, 'probability', or 'score of the true "
    "label'",
    "n_calibration": "number of calibration responses in a test of shift",
    "n_new": "number of new responses in a test of shift",
    "n_units_calibration": "effective number of independent calibration responses",
    "n_units_new": "effective number of independent new responses",
    "deferred": "whether the item was deferred to the judge",
    "judged": "verdict of the judge to whom the item was deferred: 1 or 0; missing without one",
    "share": "share of the items that are deferred to the judge",
    "n_deferred": "number of items that are deferred to the judge",
    "n_judged": "number of deferred items with a verdict; an average if items are equally certain",
    "error": "share of wrong labels: 1 - `accuracy`",
    "point": "name of the operating point of the row; empty if it has none",
    "policy": "name of the deferral policy that is compared with `baseline`",
    "baseline_accuracy": "accuracy of the baseline policy",
    "baseline_share": "share of the items that the baseline policy defers to the judge",
}

EXAMPLE = ("example_id", "benchmark", "task", "language", "question", "references")
RGB_EXAMPLE = (*EXAMPLE, "positive", "negative", "positive_wrong", "false_answers")
RAGBENCH_RESPONSE = (*EXAMPLE[:5], "passages", "system", "response", "split")
"""First columns of a labelled response of RAGBench; RAGBench's own columns follow."""

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
"""Columns that distinguish the cells of an experiment. Summaries are grouped by them by default."""

PAYLOAD = frozenset(
    "question references positive negative positive_wrong false_answers passages kinds messages "
    "prompt parameters response reasoning reason documents documents_sentences response_sentences "
    "all_relevant_sentence_keys all_utilized_sentence_keys sentence_support_information "
    "unsupported_response_sentence_keys overall_supported_explanation relevance_explanation "
    "label_attempts label_keys label_repairs judge_keys judge_explanation label_note "
    "response_embedding reference_embedding translations translation_keys passage_languages "
    "passage_ids passage_scores released_evidence".split()
)
"""Columns whose values are too long to repeat with every score."""

PLAIN_TEXT = frozenset(
    "question prompt response reasoning reason overall_supported_explanation "
    "relevance_explanation judge_explanation label_note".split()
)
"""Columns in `PAYLOAD` that contain texts. The others contain lists or mappings."""

PARTITIONED = {
    "dask": ("Dask", "compute()"),
    "dask_expr": ("Dask", "compute()"),
    "pyspark": ("Spark", "toPandas()"),
}
"""Library -> name of its frames, and the method that converts one to a pandas DataFrame."""


def is_missing(value: Any) -> bool:
    """Return whether the value of a cell is missing: None, nan, or pandas' NA or NaT.

    >>> [is_missing(value) for value in (None, float("nan"), 0, "", [])]
    [True, True, False, False, False]
    """
    if value is None or isinstance(value, (float, np.floating)):
        return value is None or bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType")  # without importing pandas


def present(value: Any) -> Any:
    """Return the value of a cell, or None if it is missing."""
    return None if is_missing(value) else value


def count_reasons(reasons: Iterable[Any]) -> str:
    """Count reasons without their details, the most frequent first.

    >>> count_reasons(["HTTP 400: prompt too long", "no connection (refused)", "HTTP 400: flagged"])
    'HTTP 400 (2), no connection (1)'
    """
    short = (str(present(reason) or "no reason given") for reason in reasons)
    counts = Counter(re.split(r"[:(]", reason)[0].strip() or reason for reason in short)
    return ", ".join(f"{reason:.80} ({n:,})" for reason, n in counts.most_common())


def reasoning_apart(frame: Any) -> Any:
    """Move the reasoning in the column ``response`` to the column ``reasoning``.

    If no response contains reasoning, the frame is returned unchanged. See
    `ragnb.text.split_reasoning` for what counts as reasoning.
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
    """Move the reasoning back into the column ``response``: the inverse of `reasoning_apart`."""
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
    """Return values as a column of objects with the index of ``response``.

    Assigning a plain list would let pandas turn None among texts into nan.
    """
    column = frame["response"].astype(object)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    column.iloc[:] = array
    return column


def is_partitioned(frame: Any) -> bool:
    """Return whether a frame comes from Dask or Spark, without importing either library."""
    return _library(frame) in PARTITIONED


def refuse_partitioned(frame: Any, what: str) -> None:
    """Raise InputError if a frame comes from Dask or Spark; ``what`` names the caller."""
    if is_partitioned(frame):
        name, method = PARTITIONED[_library(frame)]
        raise InputError(
            f"{what} needs a pandas DataFrame; got a {name} frame; call its {method} first"
        )


def _library(thing: Any) -> str:
    return type(thing).__module__.partition(".")[0]


def require_columns(frame: Any, names: Iterable[str], what: str) -> None:
    """Raise InputError unless ``frame`` has all columns ``names``; ``what`` names the caller."""
    refuse_partitioned(frame, what)
    columns = getattr(frame, "columns", None)
    if columns is None:
        raise InputError(
            f"{what} needs a pandas DataFrame; got {type(frame).__name__}; "
            "load or build a frame first"
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
    """Return the name of one optional column as a list, which is empty for None.

    Anything but a text raises InputError; ``what`` names the caller.
    """
    if given is not None and not isinstance(given, str):
        raise InputError(
            f"{what} needs the name of one column; got {given!r:.60}; name it, or leave it out"
        )
    return [] if given is None else [given]


def column_names(given: Any, what: str) -> list[str]:
    """Return the names of any number of columns as a list, which is empty for None.

    Anything but a text or a sequence of texts raises InputError; ``what`` names the caller.
    """
    if given is None:
        return []
    single = isinstance(given, str | bytes | Mapping) or not np.iterable(given)
    names = [given] if single else list(given)
    if not all(isinstance(name, str) for name in names):
        raise InputError(
            f"{what} needs the name of a column, or a list of names; got {given!r:.60}; "
            "name columns"
        )
    return names
