"""The data of notebooks 17 and 17, judged by other code than that of ragnb."""

import ragnb
from support.by_hand import contains

SEES = {
    "mtrag.rl_f": "LLM, passages",
    "mtrag.Bert-KPrec": "similarity, passages",
    "mtrag.RougeL": "similarity, reference",
    "mtrag.rb_llm": "LLM, overall quality",
}
"""Judges of MTRAG, and what the notebooks call them."""


def judged_answers():
    """EVOUNA with the columns people and judge, both 1 or 0."""
    study = ragnb.load_study("evouna-nq")
    rows = study[~study["improper"]].dropna(subset=["response", "verdict"]).copy()
    rows["people"] = rows["verdict"].astype(int)
    pairs = zip(rows["response"], rows["references"], strict=True)
    rows["judge"] = [int(contains(said, parts)) for said, parts in pairs]
    return rows


def turns_of_models():
    """The responses of MTRAG, without the references."""
    rows = ragnb.load_study("mtrag")
    return rows[rows["system"] != "reference"]
