"""TRACe labels as RAGBench writes them, and RAGBench's labels as this package's annotator does."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ragnb.annotation.items import Item
from ragnb.annotation.label_state import Place, nested
from ragnb.metrics.trace_labels import SPECIAL_KEYS
from ragnb.records import present

KEYS = {"relevant": "all_relevant_sentence_keys", "utilized": "all_utilized_sentence_keys"}

UNSUPPORTED = "unsupported_response_sentence_keys"


def ragbench_labels(values: Mapping[Place, Any], item: Item) -> dict[str, Any]:
    """The labels of one item in RAGBench's columns; what is untouched is None.

    A sentence that is not supported at all is among the ``unsupported_response_sentence_keys``. The columns about support
    are None until every sentence has its own: a count over some of them would be no count of the response.
    """
    given, keys = nested(values), item.keys("response")
    support = given.get("support", {})
    labelled = set(keys) <= set(support)
    traced = labelled or set(keys) <= set(given.get("supporting", {}))
    return {
        **{column: given.get(field) for field, column in KEYS.items()},
        "sentence_support_information": [_support(key, given) for key in keys] if traced else None,
        UNSUPPORTED: [key for key in keys if support[key] == "none"] if labelled else None,
        "overall_supported": given.get("overall"),
    }


def trace_values(record: Mapping[str, Any], item: Item) -> dict[Place, Any]:
    """The other way round: values of the fields of the task TRACE, keys that name no sentence left out."""
    known, response = set(item.keys("documents")), set(item.keys("response"))
    values: dict[Place, Any] = {}
    for field, column in KEYS.items():
        keys = present(record.get(column))
        if keys is not None:
            values[field, None] = _among(keys, known)
    for one in _list(record.get("sentence_support_information")):
        key, supporting = (
            one.get("response_sentence_key"),
            present(one.get("supporting_sentence_keys")),
        )
        if key in response and supporting is not None:
            values["supporting", key] = _among(supporting, known | set(SPECIAL_KEYS))
        if key in response:
            values |= _verdict(
                key, one.get("fully_supported"), supporting, _list(record.get(UNSUPPORTED))
            )
    said = (
        record.get(column) for column in ("overall_supported", "adherence_score")
    )  # published files have the second
    overall = next((value for value in said if isinstance(value, bool | np.bool_)), None)
    return values if overall is None else {**values, ("overall", None): bool(overall)}


def trace_warnings(values: Mapping[Place, Any], item: Item) -> list[str]:
    """What in the labels of one item contradicts itself, a line each; what is untouched is no contradiction."""
    support = {key: value for (field, key), value in values.items() if field == "support"}
    bare = [
        f"[{key}] is supported, yet by no sentence"
        for key, value in support.items()
        if value != "none" and values.get(("supporting", key)) == []
    ]
    both = [
        f"[{key}] is not supported, yet rests on sentences" for key in support if _torn(values, key)
    ]
    used = set(values.get(("utilized", None), ())) - set(values.get(("relevant", None), ()))
    odd = (
        [f"[{key}] is utilized, yet not relevant" for key in sorted(used)]
        if ("relevant", None) in values
        else []
    )
    whole = (
        ["the whole response and its sentences contradict each other"]
        if _at_odds(values, support, item)
        else []
    )
    return [*bare, *both, *odd, *whole]


def _at_odds(values: Mapping[Place, Any], support: Mapping[Any, str], item: Item) -> bool:
    """Whether the whole is supported and a sentence is not at all, or the other way round; in part goes with either."""
    overall = values.get(("overall", None))
    if overall is None or not support or set(support) != set(item.keys("response")):
        return False
    return "none" in support.values() if overall else set(support.values()) == {"full"}


def _torn(values: Mapping[Place, Any], key: str | None) -> bool:
    return values["support", key] == "none" and bool(values.get(("supporting", key)))


def _support(key: str, given: Mapping[str, Any]) -> dict[str, Any]:
    verdict = given.get("support", {}).get(key)
    return {
        "response_sentence_key": key,
        "supporting_sentence_keys": given.get("supporting", {}).get(key),
        "fully_supported": None if verdict is None else verdict == "full",
        "explanation": "",
    }


def _verdict(key: str, fully: Any, supporting: Any, unsupported: list[str]) -> dict[Place, Any]:
    """Not supported is what rests on nothing; where that was not asked, what is listed as unsupported."""
    if key in unsupported if supporting is None else not len(supporting):
        return {("support", key): "none"}
    if isinstance(fully, bool | np.bool_):
        return {("support", key): "full" if fully else "partial"}
    return {}


def _among(keys: Any, known: set[str]) -> list[str]:
    return [key for key in dict.fromkeys(_list(keys)) if key in known]


def _list(value: Any) -> list[Any]:
    value = present(value)
    return [] if value is None else list(value)
