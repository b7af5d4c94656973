"""Parts of responses, such as claims and nuggets, one row per part."""

# Tested in tests/datasets/test_packaged_studies.py.

from collections.abc import Iterator

import pandas as pd

from ragnb.arguments import accepts
from ragnb.cells import is_missing
from ragnb.columns import require_columns
from ragnb.datasets.validation import Row
from ragnb.errors import InputError
from ragnb.metrics.parts import citation_precision
from ragnb.metrics.trace_labels import supported_sentences

# Kind of parts -> the column that contains them.
KINDS = {
    "parts": "parts",
    "sentences": "sentence_support_information",
    "nuggets": "nuggets",
    "statements": "statements",
    "citations": "statements",
    "spans": "spans",
}


# Kind of parts that are mappings with a text -> the key of their label.
LABELS = {"parts": "label", "nuggets": "assignment", "statements": "supported"}


def _split(row: Row, kind: str) -> Iterator[Row]:
    """The parts of a response of one kind.

    Each is a mapping with the text and the label of the part. It also has the column that a metric
    reads, which contains this part alone.
    """
    if kind == "sentences":
        texts = dict(row["response_sentences"])
        words = {True: "supported", False: "not supported", None: None}
        for key, is_supported in supported_sentences(row["sentence_support_information"]):
            sentence = {"text": texts.get(key), "label": words[is_supported]}
            # If it is unknown whether a sentence is supported, it has no label and is not scored.
            yield {**sentence, "parts": [sentence] if sentence["label"] else None}
    elif kind == "citations":
        for statement in row["statements"]:
            for citation in statement["citations"]:
                # For a single citation, citation precision is 1 if the statement needs it, else 0.
                statements = [{**statement, "citations": [citation]}]
                is_needed = citation_precision(statements)
                yield {"text": statement["text"], "label": is_needed, "statements": statements}
    elif kind == "spans":
        for start, end in row["spans"]:
            yield {"text": row["response"][start:end], "label": None, "spans": [[start, end]]}
    else:
        for part in row[kind]:
            details = {name: part[name] for name in ("evidence", "source") if name in part}
            yield {"text": part["text"], "label": part.get(LABELS[kind]), **details, kind: [part]}


@accepts(kind=(None, *KINDS))
def one_row_per_part(responses: pd.DataFrame, kind: str | None = None) -> pd.DataFrame:
    """Convert one row per response to one row per part, for shares that are pooled over parts.

    Parameters
    ----------
    responses
        Responses with their parts, labelled by people, a judge or a file.
    kind
        None: all kinds of parts that the responses have (default). Or one of

        - ``"parts"``: claims, facts or sentences (column ``parts``)
        - ``"sentences"``: sentences of a TRACe record (column ``sentence_support_information``)
        - ``"nuggets"``: facts of the reference answer (column ``nuggets``)
        - ``"statements"``: sentences with citations, one row each (column ``statements``)
        - ``"citations"``: the citations of these statements, one row each
        - ``"spans"``: marked passages of the response (column ``spans``)

    Returns
    -------
    DataFrame
        The rows of the responses that have parts, once for each part, with ``kind``, ``part_id``
        (its number in the response, from 0), ``text`` and ``label``; ``evidence`` and ``source`` if
        parts have them. The label of a nugget is its assignment; of a statement, whether its
        citations support it; of a citation, whether the statement needs it (1 or 0, as
        `ragnb.metrics.parts.citation_precision`); a span has none. The column that a metric scores
        (for sentences ``parts``) contains the one part, and those of other kinds None, so that each
        metric scores its own kind. Select ``"statements"`` or ``"citations"`` before you score
        citations.

    Raises
    ------
    InputError
        The responses have no column of parts.

    Examples
    --------
    The share of supported facts, pooled over all biographies (micro average), with a cluster-robust
    interval, because the facts of a biography are not independent:

    >>> from ragnb import load_study, score, summarize
    >>> facts = one_row_per_part(load_study("factscore"))
    >>> pooled = summarize(score(facts, "parts.supported"), cluster="example_id")
    >>> pooled["mean"].round(3).tolist()
    [0.588, 0.698]
    """
    columns = {*KINDS.values()} & {*responses}
    if kind is None and not columns:
        possible = ", ".join(dict.fromkeys(KINDS.values()))
        raise InputError(f"one_row_per_part needs a column of parts: one of {possible}")
    if kind is not None:
        require_columns(responses, [KINDS[kind]], "one_row_per_part")
    chosen = {}
    for name, column in KINDS.items():
        if column in columns and kind in (None, name):
            chosen[name] = column
    # For each part: the place of its response in the frame, and its columns.
    places: list[int] = []
    parts: list[Row] = []
    for place, response in enumerate(responses.to_dict("records")):
        for name, column in chosen.items():
            if is_missing(response[column]):
                continue
            for part_id, part in enumerate(_split(response, name)):
                places.append(place)
                parts.append({"kind": name, "part_id": part_id, **part})
    other_columns = responses.drop(columns=[*columns, "parts"], errors="ignore")
    columns_of_parts = pd.DataFrame(parts or {"kind": [], "part_id": []})
    frame = other_columns.iloc[places].reset_index(drop=True).assign(**columns_of_parts)
    frame.attrs = dict(responses.attrs)
    return frame
