"""Formats of responses that were published or that benchmarks' released code writes."""

from pathlib import Path

import pandas as pd

from ragnb.datasets.formats import file_format, has, renamed

RGB = {
    "example_id": "id",
    "question": "query",
    "references": "ans",
    "response": "prediction",
    "passages": "docs",
    "noise_rate": "noise_rate",
    "released_labels": "label",
    "released_fact_label": "factlabel",
}
"""ragnb's name -> name in the prediction files of RGB's released code (chen700564/RGB)."""
LBRAG = {
    "example_id": "sample_id",
    "language": "sample_lang",
    "references": "gold_answer",
    "response": "pred_answer",
    **{
        f"released_{name}": name
        for name in "em f1 rlc rlc_ok translate_tokens semantic_score evidence".split()
    },
}
"""ragnb's name -> name in the answers of a run of LBRAG (kanoes/LBRAG-NEW)."""


@file_format(
    "rgb", "predictions of RGB's released code", has("prediction", "ans"), alternatives=False
)
def rgb(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read a prediction file of RGB's released code."""
    return renamed(content, RGB)


@file_format(
    "lbrag",
    "answers of an LBRAG run",
    has("sample_id", "sample_lang", "gold_answer", "pred_answer"),
)
def lbrag(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read the answers of a run of LBRAG."""
    return renamed(content, LBRAG)
