"""Human labels: tasks, a log of actions, agreement, adjudication, queues, and conversion to frames."""

from typing import TYPE_CHECKING

from ragnb.faces import face

if TYPE_CHECKING:
    from ragnb.annotation.adjudication import adjudicate
    from ragnb.annotation.agreement_report import agreement, disagreements, panel_agreement
    from ragnb.annotation.class_report import AnnotationReport, annotation_report
    from ragnb.annotation.codebook_files import read_codebook
    from ragnb.annotation.labels import join_labels, read_labels, recorded_passes, write_ragbench
    from ragnb.annotation.planning import double_labels_needed
    from ragnb.annotation.queues import deferral_queue, person_judicator, review_queue
    from ragnb.annotation.recovery import recover_log
    from ragnb.annotation.sampling import next_to_label
    from ragnb.annotation.session import AnnotationSession
    from ragnb.annotation.tag_report import ErrorReport, error_report, tag_judge_report
    from ragnb.annotation.tasks import TASKS, Contradiction, Field, Option, Task, read_task
else:
    __getattr__, __dir__ = face(__name__)

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
