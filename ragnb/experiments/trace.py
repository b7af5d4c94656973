"""TRACe labels from a judge: question, passages and response become a record with RAGBench's columns.

Each response gets labels, or the reason why it has none. If labels contradict each other, the judge is asked again, and the
request names the contradiction.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.cells import as_lists, flag_of, present
from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.experiments.judges import refuse_judged, reply_keys
from ragnb.experiments.requests import one_budget, with_requests
from ragnb.forwarding import passes_options_to
from ragnb.llm.store import Reply, Store, canonical, canonical_requests, request_key
from ragnb.llm.structured import complete_structured, with_response_format
from ragnb.llm.tally import one_report
from ragnb.metrics.trace_labels import sentence_pairs, supported_sentences, unsupported_sentences
from ragnb.passages import passage_column
from ragnb.prompts.trace import (
    ASK_AGAIN,
    LABELS,
    TraceLabels,
    render_labelling,
    repaired_labels,
)
from ragnb.text import keyed_response, keyed_sentences

PARAMETERS = {"temperature": 0.0, "max_tokens": 2048, "seed": 0}
ASKS = 2
"""Largest number of requests about one response. Repair turns, for replies that cannot be read, are not counted."""
# Columns of labels without which a record has no labels to replay.
_NEEDED_LABELS = (
    "all_relevant_sentence_keys",
    "all_utilized_sentence_keys",
    "sentence_support_information",
)
# Columns that the labelling adds or replaces.
ADDED = (
    "documents_sentences",
    "response_sentences",
    *TraceLabels.model_fields,
    "unsupported_response_sentence_keys",
    "annotating_model_name",
    "label_reason",
    "label_contradiction",
    "label_keys",
)


@one_report()
@accepts()
@passes_options_to(complete_structured)
def label_trace(
    responses: pd.DataFrame,
    *,
    model: str,
    parameters: Mapping[str, Any] = PARAMETERS,
    **options: Any,
) -> pd.DataFrame:
    """Label responses for TRACe with a judge. `ragnb.score` can then compute ``"trace.relevance"`` and others.

    The judge is asked again, in a further turn that names the problem, in three cases:
    ``overall_supported`` is true although a sentence has no supporting key; it is false although
    every sentence is fully supported (a sentence supported in part is consistent with both
    verdicts); or the labels of the sentences have a gap. A gap is a sentence of the response without
    support information, with labels that differ, or with neither supporting keys nor a flag. The
    last reply without a problem is kept. If there is none, the last reply that only contradicts
    its own verdict is kept, with ``label_contradiction``. A reply with a gap is never kept, because
    its adherence would be too high.

    A reply in the simplified form of the *Visual Guide* is read like the full form. It has flags
    without supporting keys, ``key`` in place of ``response_sentence_key``, no ``overall_supported``,
    or 1 and 0 for true and false.

    Parameters
    ----------
    responses
        ``question``; ``passages`` (list of texts), or ``documents_sentences`` where they are already cut into sentences and
        keyed; ``response``, or ``response_sentences``. The judge gets no request about a row without a question, a context
        or a response. Existing labels are replaced; published scores are kept.
    model
        The judge's name, as the endpoint knows it.
    parameters
        Sampling parameters, sent as they are.
    **options
        Arguments for `ragnb.complete_structured`: ``base_url``, ``store``, ``offline``, ... ``budget_usd`` is for all
        requests together. For repeats, label again with another ``seed`` in ``parameters``.

    Returns
    -------
    DataFrame
        The responses with ``documents_sentences, response_sentences``, the labels under RAGBench's names (keys that name no
        sentence stay, see the ``issues`` of `ragnb.metrics.trace.trace_scores`), ``unsupported_response_sentence_keys``
        (those without a supporting key), ``annotating_model_name``, and

        - ``label_reason``: why there are no labels, else None
        - ``label_contradiction``: what contradicts the verdict in the labels that were kept, else None
        - ``label_keys``: request keys of all replies behind them

    Raises
    ------
    InputError
        A column is missing or has another shape, ``repeats`` is not 1, or replies are missing in an offline run.
    EndpointError, StoreError
        As for `ragnb.complete`.

    Examples
    --------
    >>> with ragnb.serve() as endpoint:                                             # doctest: +SKIP
    ...     labelled = label_trace(responses, model=endpoint.model, base_url=endpoint.base_url)
    >>> ragnb.score(labelled, ["trace.relevance", "trace.adherence"])               # doctest: +SKIP
    """
    refuse_judged(responses, [], options)
    options = one_budget(options)
    rows = _unlabelled(responses)
    for _ in range(ASKS):
        # The rows that have a request to send: at first all that can be labelled, then those with a fault.
        waiting = [row for row in rows if row["messages"]]
        if waiting:
            requests = _requests(waiting, parameters)
            replies = complete_structured(requests, TraceLabels, model=model, **options)
            for row, reply in zip(waiting, replies.to_dict("records"), strict=True):
                # This adds the labels to the row, and the next request if they have a fault.
                _read_labels(reply, row, model)
    # Of a row, only the columns of `ADDED` are taken, so that the messages are left out.
    added = pd.DataFrame(rows, responses.index, ADDED, dtype=object)
    other_columns = [name for name in responses if name not in ADDED]
    return responses[other_columns].assign(**added)


@accepts()
def labels_as_replies(
    records: pd.DataFrame, *, model: str, parameters: Mapping[str, Any] = PARAMETERS
) -> Store:
    """Make a store in which the labels of records are the replies of the model that labelled them.

    `label_trace` with this store and ``offline=True`` then goes through the labelling step without a
    model: it sends its request and reads the labels as it reads a reply. The labels are only as good as
    whoever made them. RAGBench's are those of GPT-4; the column ``annotating_model_name`` says so.

    Parameters
    ----------
    records
        Labelled responses, as `ragnb.load_ragbench` returns them.
    model, parameters
        As they will be passed to `label_trace`.

    Returns
    -------
    Store
        A store in memory, with one reply for each request.

    Raises
    ------
    InputError
        A column is missing, or a response has no labels.

    Examples
    --------
    >>> import ragnb
    >>> records = ragnb.load_ragbench("sample-ragbench").head(1)
    >>> with labels_as_replies(records, model="authors") as store:
    ...     labelled = label_trace(records, model="authors", store=store, offline=True, progress=False)
    >>> labelled["unsupported_response_sentence_keys"][0]
    ['c']
    """
    require_columns(records, _NEEDED_LABELS, "a replay of labels")
    # The reply to each record, as the JSON that a judge would send.
    contents = []
    for place, cells in enumerate(records.to_dict("records")):
        labels = _published_labels(cells, place)
        contents.append(json.dumps(labels, ensure_ascii=False))
    store = Store(":memory:")
    rows = _unlabelled(records)
    # Labels with a fault are requested twice, and the published labels are the reply both times.
    for _ in range(ASKS):
        waiting = [place for place, row in enumerate(rows) if row["messages"]]
        if not waiting:
            break
        requests = _requests([rows[place] for place in waiting], parameters)
        requests = with_response_format(requests, TraceLabels)
        for place, request in zip(waiting, canonical_requests(requests, model), strict=True):
            reply = Reply(request_key(request), canonical(request), contents[place], "stop")
            store.add([reply])
            record = TraceLabels.model_validate_json(contents[place]).model_dump(mode="json")
            _read_labels({"record": record, "request_key": reply.key}, rows[place], model)
    return store


def _published_labels(cells: Mapping[str, Any], place: int) -> dict[str, Any]:
    """The labels of a record in the form of a judge's reply. ``place`` is the number of its row, for messages."""
    labels = {name: as_lists(present(cells.get(name))) for name in TraceLabels.model_fields}
    missing = [name for name in _NEEDED_LABELS if labels[name] is None]
    if missing:
        raise InputError(
            f"row {place} has no {', '.join(missing)}, so there are no labels to replay"
        )
    # In a frame from Parquet, each mapping has all keys, with None for those that it lacked.
    support = []
    for label in labels["sentence_support_information"]:
        support.append({name: value for name, value in label.items() if present(value) is not None})
    published = {name: value for name, value in labels.items() if value is not None}
    return {**published, "sentence_support_information": support}


def _requests(rows: Sequence[Mapping[str, Any]], parameters: Mapping[str, Any]) -> pd.DataFrame:
    """The next request of each row."""
    prompts = [(LABELS, row["messages"]) for row in rows]
    return with_requests(pd.DataFrame(index=range(len(rows))), prompts, parameters)


def _unlabelled(responses: pd.DataFrame) -> list[dict[str, Any]]:
    """The added columns of each response before it is labelled, and the ``messages`` to send next.

    A response that cannot be labelled has a reason, and no messages.
    """
    require_columns(responses, ["question"], "a labelling")
    sources = {"documents_sentences": "passages", "response_sentences": "response"}
    for keyed, source in sources.items():
        if keyed not in responses:
            require_columns(responses, [source], "a labelling")
    columns = ["question", "response", "documents_sentences", "response_sentences"]
    rows = []
    contexts = passage_column(responses, "responses")
    cells_of_rows = responses.reindex(columns=columns).to_dict("records")
    for cells, passages in zip(cells_of_rows, contexts, strict=True):
        question, response, documents, sentences = (
            as_lists(present(cells[name])) for name in columns
        )
        if documents is None and passages is not None:
            documents = keyed_sentences(passages)
        if sentences is None and response is not None:
            sentences = keyed_response(response)
        # The first reason that applies counts.
        problems = {
            "there is no question": not isinstance(question, str),
            "there are no passages": documents is None,
            "the context has no sentence": not sentence_pairs(documents or []),
            "there is no response": sentences is None,
            "the response has no sentence": not sentences,
        }
        reasons = [reason for reason, is_problem in problems.items() if is_problem]
        reason = reasons[0] if reasons else None
        cells_of_row = {
            "documents_sentences": documents,
            "response_sentences": sentences,
            "label_reason": reason,
            "label_keys": [],
            "messages": [] if reason else render_labelling(question, documents, sentences),
        }
        rows.append(dict.fromkeys(ADDED) | cells_of_row)
    return rows


def _read_labels(reply: Mapping[str, Any], row: dict[str, Any], model: str) -> None:
    """Put the labels of a reply into a row unless it has better ones. If the labels have a fault, add the next request.

    `label_trace` says which labels are kept. ``row`` is changed: it has the columns of `ADDED`, and the ``messages`` of the
    next request, which are empty if there is none.
    """
    row["label_keys"] += reply_keys(reply)
    messages = row["messages"]
    row["messages"] = []
    # An earlier reply may have had labels. Only the labels that are kept have the name of their judge.
    is_labelled = row["annotating_model_name"] is not None
    record = reply["record"]
    if record is None:
        row["label_reason"] = None if is_labelled else reply["reason"]
        return
    document_keys = [key for key, _ in sentence_pairs(row["documents_sentences"])]
    response_keys = [key for key, _ in sentence_pairs([row["response_sentences"]])]
    labels = repaired_labels(record, document_keys, response_keys)
    support = labels["sentence_support_information"]
    labels["unsupported_response_sentence_keys"] = unsupported_sentences(support)
    labels["label_contradiction"] = _contradiction(labels)
    gap = _gap(support, response_keys)
    fault = gap or labels["label_contradiction"]
    has_better_labels = is_labelled and not row["label_contradiction"]
    if gap:
        row["label_reason"] = None if is_labelled else gap
    elif not (fault and has_better_labels):
        row |= labels | {"annotating_model_name": model, "label_reason": None}
    if fault:
        reply_message = {"role": "assistant", "content": json.dumps(record, ensure_ascii=False)}
        row["messages"] = [*messages, reply_message, *ASK_AGAIN.messages({"fault": fault})]


def _gap(support: Sequence[Mapping[str, Any]], response_keys: Sequence[str]) -> str | None:
    """The sentences whose labels are missing or contradict each other, as a sentence; None if there are none."""
    keys = [label["response_sentence_key"] for label in support]
    left_out = [key for key in response_keys if key not in keys]
    if left_out:
        return f"sentence_support_information leaves out {_quoted(left_out)}"
    unknown = [key for key, supported in supported_sentences(support) if supported is None]
    if unknown:
        return (
            "sentence_support_information has neither supporting_sentence_keys nor fully_supported "
            f"for {_quoted(unknown)}"
        )
    # A sentence may be labelled twice, and then all of its labels must be equal.
    verdicts: dict[str, set[Any]] = {}
    for label, (key, supported) in zip(support, supported_sentences(support), strict=True):
        verdicts.setdefault(key, set()).add((supported, label.get("fully_supported")))
    contradicting = [key for key, verdicts_of_key in verdicts.items() if len(verdicts_of_key) > 1]
    if contradicting:
        return f"sentence_support_information contradicts itself about {_quoted(contradicting)}"
    return None


def _quoted(keys: Sequence[str]) -> str:
    """Keys of sentences, for a message."""
    return ", ".join(map(repr, keys))


def _contradiction(labels: Mapping[str, Any]) -> str | None:
    """How the verdict on the whole response contradicts the labels of its sentences; None if it does not."""
    unsupported = labels["unsupported_response_sentence_keys"]
    support = labels["sentence_support_information"]
    flags = [flag_of(sentence.get("fully_supported")) for sentence in support]
    overall = labels["overall_supported"]
    if overall is True and unsupported:
        return f"overall_supported is true, yet no key supports {_quoted(unsupported)}"
    if overall is False and all(flags) and not unsupported:
        return "overall_supported is false, yet every sentence is fully supported"
    return None
