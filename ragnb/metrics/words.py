"""The words for metrics in figures and tables, such as *nDCG@10* for ``retrieval.ndcg@10``."""

# Tested in tests/reports/test_findings.py.

# Metrics whose words do not follow from their name.
METRIC_WORDS = {
    "abstention.over_refusal": "over-refusal",
    "answer.bleu": "BLEU",
    "answer.chrf": "chrF",
    "answer.contains": "contains the reference",
    "answer.f1": "token F1",
    "answer.flesch_reading_ease": "Flesch reading ease",
    "answer.precision": "token precision",
    "answer.recall": "token recall",
    "answer.rouge_l": "ROUGE-L",
    "annotator.preference": "preferred by people",
    "annotator.right_language": "right language (people)",
    "annotator.verdict": "accepted by people",
    "cost.cnbe": "CNBE",
    "cost.translation_tokens": "translated tokens",
    "language.rlc": "RLC",
    "language.rlc_lid": "RLC (identification)",
    "language.rlc_ok": "RLC OK",
    "parts.all_supported": "fully supported",
    "parts.nuggets": "nugget recall",
    "parts.span_f1": "span F1",
    "rgb.accuracy": "accuracy",
    "rgb.judged_error_correction": "error correction (judge)",
    "rgb.judged_error_detection": "error detection (judge)",
    "rgb.judged_rejection": "rejection (judge)",
    "retrieval.average_precision": "average precision",
    "retrieval.ndcg": "nDCG",
    "retrieval.success": "hit rate",
    "retrieval.r_precision": "R-precision",
    "semantic.embedding_cosine": "embedding similarity",
    "semantic.judged_correctness": "accepted by the judge",
    "semantic.judged_similarity": "similarity (judge)",
    "trace.rmse_to_ideal": "RMSE to ideal",
}
# Words within a name that are written in capitals.
CAPITALS = {"f1": "F1", "map": "MAP", "mrr": "MRR", "ndcg": "nDCG", "rmse": "RMSE"}


def metric_words(metric: str) -> str:
    """The words for a metric: those of the field, or its name without family and underscores.

    >>> metric_words("answer.rouge_l"), metric_words("retrieval.ndcg@10"), metric_words("trace.adherence")
    ('ROUGE-L', 'nDCG@10', 'adherence')
    """
    name, at, cutoff = metric.partition("@")
    name_without_family = name.rpartition(".")[2]
    words = [CAPITALS.get(word, word) for word in name_without_family.split("_")]
    return METRIC_WORDS.get(name, " ".join(words)) + at + cutoff
