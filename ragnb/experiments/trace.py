"""TRACe labels from a judge: question, passages and response become a record with RAGBench's columns.

Nothing is guessed: each response gets labels, or the reason why it has none. If labels contradict each other, the judge is
asked again, and the request names the contradiction.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ragnb.experiments.asking import one_budget, with_requests
from ragnb.experiments.judges import refuse_judged, reply_keys
from ragnb.llm.client import one_report
from ragnb.llm.structured import complete_structured
from ragnb.metrics.trace_labels import as_flag, listed, sentence_pairs, unsupported_sentences
from ragnb.prompts.template import Message
from ragnb.prompts.trace import (
    LABELS,
    TraceLabels,
    render_asking_again,
    render_labelling,
    repaired_labels,
)
from ragnb.records import present, require_columns
from ragnb.scoring.scores import as_lists
from ragnb.text import keyed_response, keyed_sentences

PARAMETERS = {"temperature": 0.0, "max_tokens": 2048, "seed": 0}
ASKS = 2
"""Number of times that one response is asked about; the repair turn for a reply that cannot be read comes on top."""
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
def label_trace(
    responses: pd.DataFrame,
    *,
    model: str,
    parameters: Mapping[str, Any] = PARAMETERS,
    **options: Any,
) -> pd.DataFrame:
    """Label responses for TRACe with a judge. `ragnb.score` can then compute ``"trace.relevance"`` and others.

    The judge is asked again, in a further turn that names the problem, in three cases: ``overall_supported`` is true
    although a sentence has no supporting key; it is false although every sentence is fully supported (a sentence supported
    in part is consistent with both verdicts); or a sentence of the response has no support information. The last reply
    without a problem is kept. If there is none, the last reply that only contradicts itself is kept, with
    ``label_contradiction``. A reply that leaves out sentences of the response is never kept, because its adherence would be
    too high.

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
    items = _items(responses)
    for _ in range(ASKS):
        waiting = [item for item in items if item.messages]
        if waiting:
            rendered, templates = [item.messages for item in waiting], [LABELS] * len(waiting)
            frame = pd.DataFrame(index=range(len(waiting)))
            requests = with_requests(frame, rendered, templates, parameters)
            replies = complete_structured(requests, TraceLabels, model=model, **options)
            for item, reply in zip(waiting, replies.to_dict("records"), strict=True):
                item.take(reply)
    rows = []
    for item in items:
        found = {
            "documents_sentences": item.documents,
            "response_sentences": item.response,
            "annotating_model_name": model if item.labels else None,
            "label_reason": item.reason,
            "label_keys": item.keys,
        }
        rows.append(dict.fromkeys(ADDED) | item.labels | found)
    added = pd.DataFrame(rows, responses.index, ADDED, dtype=object)
    kept = [name for name in responses if name not in ADDED]
    return responses[kept].assign(**added)


@dataclass(slots=True)
class _Item:
    """One response, cut into sentences, and the best labels so far; None where there is no text.

    ``messages`` is the request that has to be sent next, for labels or for better ones.
    """

    documents: list[Any] | None
    response: list[Any] | None
    reason: str | None
    messages: list[Message]
    labels: dict[str, Any] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)

    def take(self, reply: Mapping[str, Any]) -> None:
        """Keep the labels of a reply unless there are better ones, and ask again if they have a fault."""
        self.keys += reply_keys(reply)
        asked, self.messages = self.messages, []
        record = reply["record"]
        if record is None:
            self.reason = None if self.labels else reply["reason"]
            return
        documents, response = self.documents or [], [self.response or []]
        response_keys = [key for key, _ in sentence_pairs(response)]
        document_keys = [key for key, _ in sentence_pairs(documents)]
        labels = repaired_labels(record, document_keys, response_keys)
        support = labels["sentence_support_information"]
        labels["unsupported_response_sentence_keys"] = unsupported_sentences(support)
        labelled = [label["response_sentence_key"] for label in support]
        left_out = [key for key in response_keys if key not in labelled]
        labels["label_contradiction"] = fault = _contradiction(labels)
        if left_out:
            fault = f"sentence_support_information leaves out {', '.join(map(repr, left_out))}"
        if not left_out and not (fault and self.labels and not self.labels["label_contradiction"]):
            self.labels = labels
        self.reason = None if self.labels else fault
        if fault:
            self.messages = [*asked, *render_asking_again(record, fault)]


def _contradiction(labels: Mapping[str, Any]) -> str | None:
    unsupported = labels["unsupported_response_sentence_keys"]
    flags = [as_flag(one.get("fully_supported")) for one in labels["sentence_support_information"]]
    if labels["overall_supported"] and unsupported:
        return f"overall_supported is true, yet no key supports {', '.join(map(repr, unsupported))}"
    if not labels["overall_supported"] and all(flags) and not unsupported:
        return "overall_supported is false, yet every sentence is fully supported"
    return None


def _items(responses: pd.DataFrame) -> list[_Item]:
    require_columns(responses, ["question"], "a labelling")
    passages = _sentences(
        responses,
        "documents_sentences",
        "passages",
        lambda passages: keyed_sentences(listed(passages, "passages")),
    )
    answers = _sentences(responses, "response_sentences", "response", keyed_response)
    items = []
    for question, documents, response in zip(responses["question"], passages, answers, strict=True):
        lacks = {
            "there is no question": not isinstance(question, str),
            "there are no passages": documents is None,
            "the context has no sentence": not sentence_pairs(documents or []),
            "there is no response": response is None,
            "the response has no sentence": not response,
        }
        reason = next((reason for reason, holds in lacks.items() if holds), None)
        messages = [] if reason else render_labelling(question, documents or [], response or [])
        items.append(_Item(documents, response, reason, messages))
    return items


def _sentences(
    responses: pd.DataFrame, keyed: str, plain: str, cut: Callable[[Any], list[Any]]
) -> list[list[Any] | None]:
    """The keyed sentences of each row, cut from the text where they are missing."""
    if keyed not in responses:
        require_columns(responses, [plain], "a labelling")
    sentences: list[list[Any] | None] = []
    for row in responses.reindex(columns=[keyed, plain]).to_dict("records"):
        given, text = present(row[keyed]), present(row[plain])
        if given is None and text is not None:
            given = cut(text)
        sentences.append(as_lists(given))
    return sentences
