"""Readers of a model's reply, and replies to read: records that fit, records that do not, and prose around and inside them."""

import json
import random
from collections.abc import Callable
from typing import Any

from fuzz import mutations
from pydantic import BaseModel

from ragnb.prompts.answer_judges import CorrectnessVerdict, SamenessVerdict, SimilarityScore
from ragnb.prompts.parsing import Parsed, parse_reply
from ragnb.prompts.rgb_judges import DetectionVerdict, RefusalVerdict
from ragnb.prompts.trace import TraceLabels, mended_labels

Drawn = tuple[Any, Callable[[], None]]
"""The input of a case, for its reproducer, and a call that reads it."""

RECORDS: dict[type[BaseModel], dict[str, Any]] = {
    SimilarityScore: {"explanation": "Half of it is there.", "score": 0.5},
    CorrectnessVerdict: {"explanation": "東京 is right.", "verdict": "correct"},
    SamenessVerdict: {"verdict": "different"},
    RefusalVerdict: {"verdict": "refuses"},
    DetectionVerdict: {"verdict": "does not detect"},
    TraceLabels: {
        "relevance_explanation": "0a names it.",
        "all_relevant_sentence_keys": ["0a", "1b"],
        "overall_supported_explanation": None,
        "overall_supported": True,
        "sentence_support_information": [
            {
                "response_sentence_key": "a",
                "explanation": "",
                "supporting_sentence_keys": ["0a", "general"],
                "fully_supported": "partially",
            }
        ],
        "all_utilized_sentence_keys": "0A, [1b]",
    },
}
"""Schema to a record that fits."""

PROSE = ["Sure! Here is it:", "<think>Is it 4 or {5}?</think>", "</think>", "I cannot judge this {response}.", "是的：", "Verdict:", '{"note": 1}', "\n\n", "- ", "…"]  # fmt: skip
FENCES = ["```json\n{}\n```", "```\n{}", "~~~json\n{}\n~~~", "`{}`", "[{}]", '{{"result": {}}}', "{}{}", "{}\n{}", "<answer>{}</answer>", "{}</think>{}"]  # fmt: skip
REPLACED = [('"', "'"), ('"', "“"), ("true", "True"), ("null", "None"), ("}", ",}"), ("}", ""), (", ", ",\n// note\n"), ('"', ""), ('"', '\\"'), (":", "="), (",", "")]  # fmt: skip


def reply(schema: type[BaseModel], rng: random.Random) -> str:
    """What a model might have written when it was asked for a record."""
    record: Any = RECORDS[schema]
    for _ in range(rng.choice([0, 0, 1, 1, 2, 4])):
        record = mutations.changed(record, rng)
    text = mutations.dumped(record, rng)
    if rng.random() < 0.3:
        text = (
            rng.choice(FENCES)
            .replace("{}", "\x01")
            .replace("{{", "{")
            .replace("}}", "}")
            .replace("\x01", text)
        )
    if rng.random() < 0.3:
        text = text.replace(*rng.choice(REPLACED), rng.choice([-1, 1]))
    if rng.random() < 0.4:
        text = f"{rng.choice(PROSE)} {text} {rng.choice(PROSE)}"
    if rng.random() < 0.02:
        text = text * rng.choice([3, 120]) + mutations.nest(rng)
    return mutations.torn(text, rng) if rng.random() < 0.5 else text


def read(text: str, schema: type[BaseModel], rng: random.Random) -> None:
    """Read a reply; anything but a record or one printable line that says why there is none is an error."""
    parsed = parse_reply(text, schema)
    if parsed.record is None:
        _check_reason(parsed)
        return
    if not isinstance(parsed.record, schema) or parsed.found not in (
        "plain",
        "fence",
        "embedded",
        "closed",
        "repaired",
    ):
        raise AssertionError(f"not a record of {schema.__name__}: {parsed!r}")
    said = parsed.record.model_dump(mode="json")
    json.dumps(said, ensure_ascii=False, allow_nan=False).encode("utf-8")
    again = parse_reply(json.dumps(said), schema)
    if again.record != parsed.record:
        raise AssertionError(f"a record that is not read again as it was: {parsed!r} and {again!r}")
    if schema is TraceLabels:
        _mend(parsed.record.model_dump(), rng)


def _check_reason(parsed: Parsed[Any]) -> None:
    reason = parsed.reason
    if not isinstance(reason, str) or not reason or len(reason) > 200 or not reason.isprintable():
        raise AssertionError(f"no printable line of at most 200 characters: {reason!r}")


def _mend(record: dict[str, Any], rng: random.Random) -> None:
    labels, repairs = mended_labels(
        record, ["0a", "0b", "1b", rng.choice(mutations.TEXTS)], ["a", "b"]
    )
    keys = [labels["all_relevant_sentence_keys"], labels["all_utilized_sentence_keys"]]
    keys += [one["supporting_sentence_keys"] for one in labels["sentence_support_information"]]
    truths = [
        labels["overall_supported"],
        *(one["fully_supported"] for one in labels["sentence_support_information"]),
    ]
    if not all(isinstance(key, str) for some in keys for key in some) or not all(
        one in (True, False, None) for one in truths
    ):
        raise AssertionError(f"labels of another form: {labels!r}")
    if not all(isinstance(what, str) and n > 0 for what, n in repairs.items()):
        raise AssertionError(f"repairs of another form: {repairs!r}")


def _case(schema: type[BaseModel]) -> Callable[[random.Random], Drawn]:
    def drawn(rng: random.Random) -> Drawn:
        text = reply(schema, rng)
        return text, lambda: read(text, schema, rng)

    return drawn


TARGETS = {schema.__name__: _case(schema) for schema in RECORDS}
"""Name to what draws a case: its input, for the reproducer, and a call that reads it."""
