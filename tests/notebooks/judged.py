"""The data of notebooks 11 and 17, judged by other code than that of ragnb."""

import unicodedata

import ragnb

SEES = {
    "mtrag.rl_f": "LLM, passages",
    "mtrag.Bert-KPrec": "similarity, passages",
    "mtrag.RougeL": "similarity, reference",
    "mtrag.rb_llm": "LLM, overall quality",
}
"""Judges of MTRAG, and what the notebooks call them."""


def words(text):
    """Letters, marks and numbers, in lower case; other characters are spaces."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kept = [letter if unicodedata.category(letter)[0] in "LMN" else " " for letter in folded]
    return " ".join("".join(kept).split())


def contains(said, parts):
    """Whether a text contains an alias of each part; an alias without letters does not count."""
    aliases = [[words(alias) for alias in part if words(alias)] for part in parts]
    return all(any(alias in words(said) for alias in part) for part in aliases)


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
