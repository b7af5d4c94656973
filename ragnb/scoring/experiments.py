"""Signatures of experiments, which describe how the responses were generated."""

import json
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.cells import is_missing
from ragnb.columns import CONDITION, require_columns

# Columns that state under which conditions a response was requested, in the order of the signature.
CONDITIONS = (*CONDITION, "model", "parameters", "template")


@accepts()
def experiment_signature(responses: pd.DataFrame) -> pd.Series:
    """Signature of the experiment behind each response: data, system, model, prompt and passages.

    The signature of a score names the definition of the number. It is the same for two arms of an
    experiment that differ in the order of their passages or in the model. The signature of the
    experiment names these conditions, as far as the frame has them. Two responses to one question
    have the same one only if they were requested under the same conditions.

    Parameters
    ----------
    responses
        One row per response, as `ragnb.complete`, the experiments and `ragnb.load_responses` return
        them.

    Returns
    -------
    Series
        One text per row. It begins with the data, if ``responses.attrs["source"]`` names them. They
        are followed by the columns ``system, benchmark, task, language, noise_rate, passage_num,
        correct_rate, order, model, parameters, template``, without those that have no value.

    >>> responses = pd.DataFrame({"system": "a", "order": ["released", "per_item"]})
    >>> experiment_signature(responses.assign(parameters=[{"seed": 0}] * 2)).tolist()
    ['system:a|order:released|parameters:seed=0', 'system:a|order:per_item|parameters:seed=0']
    """
    require_columns(responses, ("system",), "experiment_signature")
    source = responses.attrs.get("source", {})
    data = {"data": data_name(source)} if source else {}
    columns = [name for name in CONDITIONS if name in responses]
    signatures = []
    for row in responses[columns].to_dict("records"):
        parts = dict(data)
        for name, cell in row.items():
            if not is_missing(cell):
                parts[name] = _as_text(cell)
        signatures.append("|".join(f"{name}:{text}" for name, text in parts.items()))
    return pd.Series(signatures, responses.index, name="experiment", dtype=object)


def data_name(source: Any) -> str:
    """Return the name of a data source, and the beginning of its checksum if there is one."""
    name = source.get("name", "unknown")
    checksum = source.get("git_sha1", "")
    return f"{name}@{checksum[:8]}" if checksum else name


def _as_text(value: Any) -> str:
    """A value of a condition as text, without ``|``, which separates the conditions."""
    if isinstance(value, dict):
        # Sorted, because parameters in another order are the same parameters.
        entries = [f"{name}={_as_text(value[name])}" for name in sorted(value)]
        return ", ".join(entries)
    if isinstance(value, float):
        return f"{value:g}"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text.replace("|", "\\u007c")
