"""RGB of one response: the verdicts of the protocols, and the words that decide them."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragnb.metrics.references import reference_parts
from ragnb.metrics.rgb import assess, false_answers_of
from ragnb.metrics.rgb_protocols import PROTOCOLS, REFUSED, protocol_of
from ragnb.widgets.pages import Mark, reply_of, sign

NEEDED = ("question", "references", "passages", "kinds", "language")

# Marks of phrases that refuse to answer, and that report an error.
REFUSAL, ERROR = Mark("b", "R", "r-refusal"), Mark("b", "E", "r-error")

# Rows of the table, each with the superscript of the phrases that decide it. The last two rows require a false answer.
HEADS = (
    ("parts found", ""),
    ("correct?", ""),
    ("refuses?", "R"),
    ("detects error?", "E"),
    ("corrected?", ""),
)


def rgb_section(row: Mapping[str, Any], *, protocols: Sequence[str] = PROTOCOLS) -> dict[str, Any]:
    """Return the verdicts of protocols on a response, and the phrases that they recognise in it.

    Errors are those of the metrics, such as an unknown protocol.
    """
    rules = {name: protocol_of(name, row["language"]) for name in protocols}
    section: dict[str, Any] = {"protocols": protocols, "phrases": {}}
    if not isinstance(row.get("response"), str):
        return section
    reasoning, answer = reply_of(row)
    parts = reference_parts(row["references"])
    false_answers = false_answers_of(row.get("false_answers"))
    refusals: set[Any] = set()
    error_reports: set[Any] = set()
    # One column of the table per protocol, with its cells in the order of HEADS. A cell is a value and its evidence.
    columns = []
    for protocol in protocols:
        rule = rules[protocol]
        text = reasoning + answer if rule.reads_reasoning else answer
        options = {"language": row["language"], "protocol": protocol, "false_answer": false_answers}
        accuracy = assess("accuracy", text, parts, noise_rate=row.get("noise_rate"), **options)
        assessments = [accuracy, assess("refusal", text, **options)]
        refusals.add(rule.phrase_in(text, "refusal"))
        if false_answers:
            assessments.append(assess("error_detection", text, **options))
            assessments.append(assess("error_correction", text, parts, **options))
            error_reports.add(rule.phrase_in(text, "detection", None, false_answers))
        labels_cell = (None, _parts_found(accuracy.labels))
        cells = [(assessment.value, assessment.evidence) for assessment in assessments]
        columns.append([labels_cell, *cells])

    # A protocol that recognises no phrase adds None.
    phrases = {
        REFUSAL: [phrase for phrase in refusals if phrase],
        ERROR: [phrase for phrase in error_reports if phrase],
    }
    # The first cell contains the labels, and the second the accuracy.
    accuracy_of_first, _ = columns[0][1]
    # Without a false answer, the columns end before the last two heads.
    table = [(*head, cells) for head, *cells in zip(HEADS, *columns, strict=False)]
    return section | {
        "phrases": phrases,
        "verdicts": [(f"correct, protocol {protocols[0]}", accuracy_of_first)],
        "table": table,
    }


def _parts_found(labels: Sequence[int]) -> str:
    """A sign for each part of the answer; in a refusal, no part is searched.

    >>> _parts_found([1, 0]), _parts_found([-1])
    ('✓ ✗', 'refusal')
    """
    if REFUSED in labels:
        return "refusal"
    return " ".join(sign(label) for label in labels)
