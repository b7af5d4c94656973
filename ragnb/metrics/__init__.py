"""Metrics: pure functions of one response, each declared together with a record that describes it.

Importing any module of this package fills `ragnb.metrics.record.METRICS` with all metrics.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ragnb.faces import face
from ragnb.metrics.record import METRICS

if TYPE_CHECKING:
    from ragnb.metrics.abstention import (
        is_aligned,
        is_answered,
        is_hallucination,
        is_over_refusal,
        is_risk,
    )
    from ragnb.metrics.answer import (
        bleu,
        chrf,
        contains,
        exact_match,
        flesch_reading_ease,
        rouge_l,
        token_f1,
        token_precision,
        token_recall,
    )
    from ragnb.metrics.cost import bridging_efficiency, translation_tokens
    from ragnb.metrics.judged import (
        annotator_preference,
        embedding_cosine,
        is_accepted,
        is_in_right_language,
        judged_answer_relevancy,
        judged_context_precision,
        judged_correctness,
        judged_faithfulness,
        judged_preference,
        judged_rubric,
        judged_similarity,
    )
    from ragnb.metrics.language import (
        LANGUAGE_SCRIPTS,
        language_identified,
        response_in_language,
        response_language_consistency,
        scripts_of,
    )
    from ragnb.metrics.normalization import normalized
    from ragnb.metrics.parts import (
        all_supported,
        citation_precision,
        citation_recall,
        contradicted_share,
        nugget_recall,
        span_overlap,
        supported_share,
    )
    from ragnb.metrics.recognition import FLEXIBLE_REFUSALS
    from ragnb.metrics.record import Metric, metric
    from ragnb.metrics.retrieval import (
        average_precision,
        ndcg,
        precision,
        r_precision,
        recall,
        reciprocal_rank,
        success,
    )
    from ragnb.metrics.rgb import (
        answer_labels,
        corrects_error,
        detects_error,
        is_correct,
        is_refusal,
        is_rejection,
        judged_error_correction,
        judged_error_detection,
        judged_rejection,
    )
    from ragnb.metrics.rgb_protocols import PROTOCOLS
    from ragnb.metrics.trace import (
        TraceScores,
        adherence,
        average,
        completeness,
        consistency,
        distance_from_ideal,
        relevance,
        rmse_to_ideal,
        supported_fraction,
        trace_scores,
        utilization,
    )
    from ragnb.metrics.trace_labels import label_issues, supported_sentences, unsupported_sentences
else:
    __getattr__, __dir__ = face(__name__)

for _module in (
    "rgb",
    "trace",
    "answer",
    "language",
    "cost",
    "judged",
    "abstention",
    "parts",
    "retrieval",
):
    import_module(f"ragnb.metrics.{_module}")

# Families of metrics (the first part of each name), in the order of the table of all metrics.
FAMILIES = (
    "rgb",
    "trace",
    "answer",
    "retrieval",
    "language",
    "cost",
    "semantic",
    "judged",
    "annotator",
    "abstention",
    "parts",
)

for _name in sorted(METRICS, key=lambda name: FAMILIES.index(name.partition(".")[0])):
    METRICS[_name] = METRICS.pop(_name)

__all__ = [
    "FAMILIES",
    "FLEXIBLE_REFUSALS",
    "LANGUAGE_SCRIPTS",
    "METRICS",
    "PROTOCOLS",
    "Metric",
    "TraceScores",
    "adherence",
    "all_supported",
    "annotator_preference",
    "answer_labels",
    "average",
    "average_precision",
    "bleu",
    "bridging_efficiency",
    "chrf",
    "citation_precision",
    "citation_recall",
    "completeness",
    "consistency",
    "contains",
    "contradicted_share",
    "corrects_error",
    "detects_error",
    "distance_from_ideal",
    "embedding_cosine",
    "exact_match",
    "flesch_reading_ease",
    "is_accepted",
    "is_aligned",
    "is_answered",
    "is_correct",
    "is_hallucination",
    "is_in_right_language",
    "is_over_refusal",
    "is_refusal",
    "is_rejection",
    "is_risk",
    "judged_answer_relevancy",
    "judged_context_precision",
    "judged_correctness",
    "judged_error_correction",
    "judged_error_detection",
    "judged_faithfulness",
    "judged_preference",
    "judged_rejection",
    "judged_rubric",
    "judged_similarity",
    "label_issues",
    "language_identified",
    "metric",
    "ndcg",
    "normalized",
    "nugget_recall",
    "precision",
    "r_precision",
    "recall",
    "reciprocal_rank",
    "relevance",
    "response_in_language",
    "response_language_consistency",
    "rmse_to_ideal",
    "rouge_l",
    "scripts_of",
    "span_overlap",
    "success",
    "supported_fraction",
    "supported_sentences",
    "supported_share",
    "token_f1",
    "token_precision",
    "token_recall",
    "trace_scores",
    "translation_tokens",
    "unsupported_sentences",
    "utilization",
]
