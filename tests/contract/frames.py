"""Small whole frames of every kind that the package takes, and calls of what has no example in its docstring."""

from functools import cache

import numpy as np
import pandas as pd

from ragnb.annotation import recorded_passes
from ragnb.annotation.export import read_labels
from ragnb.datasets import load_ragbench, load_rgb
from ragnb.results import PairedTable
from ragnb.scoring import compare, score, summarize

_LABELS = {
    "documents_sentences": [[["0a", "Oslo is the capital."], ["0b", "It rains."]]],
    "response_sentences": [["a", "The capital is Oslo."]],
    "all_relevant_sentence_keys": ["0a"],
    "all_utilized_sentence_keys": ["0a"],
    "sentence_support_information": [
        {"response_sentence_key": "a", "supporting_sentence_keys": ["0a"], "fully_supported": True}
    ],
    "unsupported_response_sentence_keys": [],
}


@cache
def _responses():
    rows = []
    for number, language in enumerate(["en", "zh", "hi", "ar"]):
        for system in ("direct", "cross"):
            right = (number + len(system)) % 2
            rows.append(
                {
                    "example_id": f"q{number}", "question_id": f"q{number // 2}", "benchmark": "rgb", "task": "noise", "language": language,
                    "system": system, "noise_rate": 0.4, "passage_num": 5, "correct_rate": 0.0, "question": "What is the capital?",
                    "references": [["Oslo", "奥斯陆"]], "false_answers": ["Bergen"], "response": "Oslo." if right else "Bergen 卑尔根",
                    "reason": None, "judged_refusal": 0.0, "judged_detection": 1.0, "judged_similarity": 0.5, "judged_correct": float(right),
                    "verdict": "correct" if right else "refuse", "label": float(number % 2), "label_b": float(right), "translations": [{"text": "…", "token_count": 7}],
                    "response_embedding": [3.0, 4.0], "reference_embedding": [4.0, 3.0], **_LABELS,
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def responses():
    return _responses().copy(deep=True)


@cache
def _scores():
    return score(responses(), ["answer.f1", "rgb.accuracy"])


def scores():
    return _scores().copy()


def bridged():
    return score(responses(), ["answer.f1", "cost.translation_tokens"])


def summaries():
    return summarize(scores())


def comparisons():
    return compare(scores(), baseline="direct", cluster="question_id")


def judged():
    return responses().assign(system=[f"{name}{place}" for place, name in enumerate(responses()["system"])])


def rgb_responses():
    return responses()[responses()["language"] != "zh"].assign(noise_rate=[0.0, 0.0, 0.4, 0.4, 1.0, 1.0], language="en")


def examples():
    return load_rgb("sample-en-fact").head(2)


def labelled():
    frame = load_ragbench("sample-ragbench").head(4)
    return frame.assign(
        relevance_score=[0.1, 0.5, 0.9, 0.3],
        mine=[0.2, 0.4, 0.8, 0.3],
        utilization_score=0.5,
        adherence_score=[True, False, True, True],
    )


def labels():
    return pd.concat([read_labels(path).head(3) for path in recorded_passes("verdict")])


def decided():
    return pd.DataFrame({"probability": [0.9, 0.3], "undecided": [False, True]})


FRAMES = {
    "ragnb.scoring.scores.score": lambda: {"responses": responses(), "metrics": ["answer.f1", "rgb.accuracy", "trace.relevance"]},
    "ragnb.scoring.summaries.summarize": lambda: {"scores": scores(), "by": "system"},
    "ragnb.scoring.comparisons.compare": lambda: {"scores": scores(), "baseline": "direct", "metrics": "answer.f1", "by": ["benchmark"], "cluster": "question_id"},
    "ragnb.scoring.bridges.bridging": lambda: {"scores": bridged()},
    "ragnb.reports.rgb.rgb_report": lambda: {"responses": rgb_responses()},
    "ragnb.reports.trace.trace_report": lambda: {"records": labelled(), "judges": {"mine": {"relevance": "mine"}}},
    "ragnb.reports.judge.judge_report": lambda: {"frame": judged(), "annotators": ["label", "label_b"], "by": "language", "clusters": "question_id"},
    "ragnb.reports.multilingual.multilingual_report": lambda: {"responses": responses(), "by": "language"},
    "ragnb.reports.methods.methods_paragraph": lambda: {"scores": scores(), "summaries": summaries(), "comparisons": comparisons()},
    "ragnb.tables.printing.to_html": lambda: {"frame": summaries()},
    "ragnb.tables.printing.to_latex": lambda: {"frame": comparisons()},
    "ragnb.tables.printing.to_markdown": lambda: {"frame": summaries()},
    "ragnb.datasets.auditing.audit": lambda: {"examples": examples()},
    "ragnb.datasets.contexts.build_contexts": lambda: {"examples": examples(), "noise_rate": 0.4, "passage_num": 3},
    "ragnb.datasets.predictions.load_responses": lambda: {"source": responses()[["question", "references", "response", "noise_rate"]], "system": "m"},
    "ragnb.ensemble.features.feature_frame": lambda: {"scores": scores()[scores()["system"] == "cross"]},
    "ragnb.annotation.agreement.agreement": lambda: {"logs": labels()},
    "ragnb.annotation.agreement.disagreements": lambda: {"logs": labels()},
    "ragnb.annotation.queues.review_queue": lambda: {"judged": responses(), "judge": "judged_correct"},
    "ragnb.annotation.queues.undecided_queue": lambda: {"responses": responses().head(2), "decisions": decided()},
}  # fmt: skip
"""What takes a frame, and a call of it."""

VALUES = {
    "ragnb.datasets.published.published": lambda: {"name": "rgb.noise_robustness"},
    "ragnb.metrics.language.check_threshold": lambda: {"threshold": 0.6},
    "ragnb.metrics.normalization.check_text": lambda: {"value": "a", "what": "text"},
    "ragnb.metrics.rgb_rules.check_noise_rate": lambda: {"noise_rate": 0.5},
    "ragnb.metrics.trace_labels.check_keys": lambda: {"keys": ["0a"]},
    "ragnb.metrics.trace_labels.check_record": lambda: {"record": {}},
    "ragnb.metrics.trace_labels.is_fully_supported": lambda: {"label": {"fully_supported": True}},
    "ragnb.metrics.trace_labels.listed": lambda: {"value": [], "what": "keys"},
    "ragnb.metrics.trace_labels.sentence_pairs": lambda: {"documents_sentences": [[["0a", "b"]]]},
    "ragnb.stats.checks.check_aligned": lambda: {"first": [1], "second": [2]},
    "ragnb.stats.checks.check_alternative": lambda: {"alternative": "less"},
    "ragnb.stats.checks.check_array": lambda: {"values": [[1]], "what": "values"},
    "ragnb.stats.checks.check_binary": lambda: {"values": [1, 0]},
    "ragnb.stats.checks.check_count": lambda: {"value": 3, "what": "n"},
    "ragnb.stats.checks.check_differences": lambda: {"first": [1], "second": None},
    "ragnb.stats.checks.check_generator": lambda: {"rng": np.random.default_rng(0), "what": "it"},
    "ragnb.stats.checks.check_level": lambda: {"confidence_level": 0.9},
    "ragnb.stats.checks.check_number": lambda: {"value": 1, "what": "null"},
    "ragnb.stats.checks.check_table": lambda: {"table": PairedTable(1, 2, 3, 4)},
    "ragnb.stats.ppi_sample.check_labels": lambda: {"labels": [0, 1], "what": "labels"},
    "ragnb.stats.ppi_sample.check_verdicts": lambda: {"verdicts": [0, 1], "what": "verdicts"},
    "ragnb.stats.ranks.check_average_ranks": lambda: {"average_ranks": [1.0, 2.0]},
    "ragnb.stats.ranks.check_systems": lambda: {"scores": [[1, 2], [2, 1]]},
    "ragnb.conformal.checks.check_scores": lambda: {"scores": [1], "what": "scores"},
    "ragnb.conformal.checks.check_sets": lambda: {"sets": [[1, 0]]},
    "ragnb.prompts.multilingual.render_translation": lambda: {"text": "a", "source": "de", "language": "en"},
}
"""What takes values and has no example in its docstring, and a call of it."""
