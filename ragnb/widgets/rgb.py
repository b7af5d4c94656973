"""RGB of one response: the verdicts of the protocols, and the words that decide them."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragnb.metrics.rgb import (
    answer_evidence,
    answer_labels,
    correction_evidence,
    corrects_error,
    detection_evidence,
    detects_error,
    error_phrase,
    is_correct,
    is_refusal,
    refusal_evidence,
    refusal_phrase,
)
from ragnb.metrics.rgb_protocols import (
    PROTOCOLS,
    answer_parts,
    false_aliases_of,
    normalise,
    protocol_of,
)
from ragnb.widgets.pages import Sign, reply_of

NEEDED = ("question", "references", "passages", "kinds", "language")

REFUSAL, ERROR = Sign("b", "R", "r-refusal"), Sign("b", "E", "r-error")
"""Marks of phrases that refuse to answer, and that report an error."""

HEADS = (
    ("labels of parts", ""),
    ("right?", ""),
    ("refuses?", "R"),
    ("detects error?", "E"),
    ("corrected?", ""),
)
"""Rows of the table, with the sign of what decides; the last two require a false answer."""


def rgb_section(row: Mapping[str, Any], *, protocols: Sequence[str] = PROTOCOLS) -> dict[str, Any]:
    """Return the verdicts of protocols on a response, and the phrases that they recognise in it.

    Errors are those of the metrics, such as an unknown protocol.
    """
    rules = {name: protocol_of(name, row["language"]) for name in protocols}
    section: dict[str, Any] = {"protocols": protocols, "phrases": {}}
    if not isinstance(row.get("response"), str):
        return section
    reasoning, answer = reply_of(row)
    parts, columns = answer_parts(row["references"]), []
    phrases: dict[Sign, set[Any]] = {REFUSAL: set(), ERROR: set()}
    for protocol in protocols:
        given = {
            # Only the released code reads the reasoning.
            "response": reasoning + answer if protocol == "released" else answer,
            "language": row["language"],
            "protocol": protocol,
        }
        false = false_aliases_of(row.get("false_answers"), rules[protocol])
        arguments = {**given, "false_answer": [one.text for one in false]}
        asked = {**given, "answer": parts, "noise_rate": row.get("noise_rate")}
        text = normalise(given["response"], rules[protocol])
        phrases[REFUSAL].add(text and refusal_phrase(text))
        cells = [
            (None, str(answer_labels(**given, answer=parts))),
            (is_correct(**asked), answer_evidence(**asked)),
            (is_refusal(**given), refusal_evidence(**given)),
        ]
        if false:
            phrases[ERROR].add(text and error_phrase(text, false))
            cells.append((detects_error(**arguments), detection_evidence(**arguments)))
            arguments["answer"] = parts
            cells.append((corrects_error(**arguments), correction_evidence(**arguments)))
        columns.append(cells)
    return section | {
        "phrases": {sign: list(filter(None, found)) for sign, found in phrases.items()},
        "verdicts": [(f"right by {protocols[0]}", columns[0][1][0])],
        "table": [(*head, cells) for head, *cells in zip(HEADS, *columns, strict=False)],
    }
