"""Experiments: examples, prompts and a model become a frame of responses."""

from typing import TYPE_CHECKING

from ragnb.faces import face

if TYPE_CHECKING:
    from ragnb.experiments.before_after import Changes, changes
    from ragnb.experiments.judges import (
        apply_codebook,
        judge_pairs,
        judge_responses,
        judgement_requests,
        model_judicator,
    )
    from ragnb.experiments.multilingual import MULTILINGUAL_SYSTEMS, run_multilingual
    from ragnb.experiments.parts import label_parts
    from ragnb.experiments.pipeline import run
    from ragnb.experiments.recorded import (
        LABELLED_TRACE_MAX_CHARACTERS,
        RECORDINGS,
        recorded_embedding,
        recorded_labels,
        recorded_provenance,
        recorded_ranking,
        recorded_responses,
        recorded_store,
    )
    from ragnb.experiments.relabelling import DeferralPlan
    from ragnb.experiments.requests import question_requests
    from ragnb.experiments.retrieval import multilingual_contexts, rank_bm25, rank_passages
    from ragnb.experiments.rgb import (
        rgb_requests,
        run_counterfactual_robustness,
        run_information_integration,
        run_negative_rejection,
        run_noise_robustness,
        run_rgb,
    )
    from ragnb.experiments.trace import label_trace, labels_as_replies
else:
    __getattr__, __dir__ = face(__name__)

__all__ = [
    "LABELLED_TRACE_MAX_CHARACTERS",
    "MULTILINGUAL_SYSTEMS",
    "RECORDINGS",
    "Changes",
    "DeferralPlan",
    "apply_codebook",
    "changes",
    "judge_pairs",
    "judge_responses",
    "judgement_requests",
    "label_parts",
    "label_trace",
    "labels_as_replies",
    "model_judicator",
    "multilingual_contexts",
    "question_requests",
    "rank_bm25",
    "rank_passages",
    "recorded_embedding",
    "recorded_labels",
    "recorded_provenance",
    "recorded_ranking",
    "recorded_responses",
    "recorded_store",
    "rgb_requests",
    "run",
    "run_counterfactual_robustness",
    "run_information_integration",
    "run_multilingual",
    "run_negative_rejection",
    "run_noise_robustness",
    "run_rgb",
]
