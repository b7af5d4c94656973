"""What `ragnb.annotation` contains. Written by ``python -m tools.stubs``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from ragnb.annotation.adjudication import adjudicate
from ragnb.annotation.agreement_report import agreement, disagreements, panel_agreement
from ragnb.annotation.class_report import AnnotationReport, annotation_report
from ragnb.annotation.codebook_files import read_codebook
from ragnb.annotation.labels import join_labels, read_labels, write_ragbench
from ragnb.annotation.planning import double_labels_needed
from ragnb.annotation.queues import deferral_queue, person_judicator, review_queue
from ragnb.annotation.recovery import recover_log
from ragnb.annotation.sampling import next_to_label
from ragnb.annotation.session import AnnotationSession
from ragnb.annotation.tag_report import ErrorReport, tag_judge_report
from ragnb.annotation.tasks import TASKS, Contradiction, Field, Option, Task, read_task

def recorded_passes(task: Literal["trace", "verdict", "error_analysis"]) -> tuple[Path, ...]: ...
def error_report(
    responses: pd.DataFrame,
    labels: Any,
    *,
    score: str | None = None,
    id: str | Sequence[str] | None = None,
    cluster: str | None = None,
    baseline: str | None = None,
    correction: Literal["holm", "benjamini-hochberg", "bonferroni"] = "holm",
    confidence_level: float = 0.95,
) -> ErrorReport: ...

__all__ = [
    "TASKS",
    "AnnotationReport",
    "AnnotationSession",
    "Contradiction",
    "ErrorReport",
    "Field",
    "Option",
    "Task",
    "adjudicate",
    "agreement",
    "annotation_report",
    "deferral_queue",
    "disagreements",
    "double_labels_needed",
    "error_report",
    "join_labels",
    "next_to_label",
    "panel_agreement",
    "person_judicator",
    "read_codebook",
    "read_labels",
    "read_task",
    "recorded_passes",
    "recover_log",
    "review_queue",
    "tag_judge_report",
    "write_ragbench",
]
