"""RGB of one response: the verdicts of the protocols, and the words that decide them."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragnb.metrics.references import reference_parts
from ragnb.metrics.rgb import assess, false_answers_of
from ragnb.metrics.rgb_protocols import PROTOCOLS, protocol_of
from ragnb.widgets.pages import Sign, reply_of

NEEDED = ("question", "references", "passages", "kinds", "language")

# Marks of phrases that refuse to answer, and that report an error.
REFUSAL, ERROR = Sign("b", "R", "r-refusal"), Sign("b", "E", "r-error")

# Rows of the table, with the sign of what decides; the last two require a false answer.
HEADS = (
    ("labels of parts", ""),
    ("right?", ""),
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
    parts, columns = reference_parts(row["references"]), []
    false = false_answers_of(row.get("false_answers"))
    phrases: dict[Sign, set[Any]] = {REFUSAL: set(), ERROR: set()}
    for protocol in protocols:
        text = reasoning + answer if rules[protocol].reads_reasoning else answer
        options = {"language": row["language"], "protocol": protocol, "false_answer": false}
        accuracy = assess("accuracy", text, parts, noise_rate=row.get("noise_rate"), **options)
        assessments = [accuracy, assess("refusal", text, **options)]
        phrases[REFUSAL].add(rules[protocol].phrase_in(text, "refusal"))
        if false:
            assessments.append(assess("error_detection", text, **options))
            assessments.append(assess("error_correction", text, parts, **options))
            phrases[ERROR].add(rules[protocol].phrase_in(text, "detection", None, false))
        values = [(assessment.value, assessment.evidence) for assessment in assessments]
        columns.append([(None, str(accuracy.labels)), *values])
    return section | {
        "phrases": {sign: list(filter(None, texts)) for sign, texts in phrases.items()},
        "verdicts": [(f"right by {protocols[0]}", columns[0][1][0])],
        "table": [(*head, cells) for head, *cells in zip(HEADS, *columns, strict=False)],
    }
