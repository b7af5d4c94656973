"""TRACe labels from a judge: question, passages and response become a record with RAGBench's columns.

Nothing is guessed: a response ends labelled, or unlabelled with the reason. Labels that contradict each other are asked for
again with the contradiction named; every answer is kept.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.errors import EndpointError, InputError
from ragnb.experiments.asking import one_budget, with_requests
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
from ragnb.records import is_missing, require_columns
from ragnb.scoring.scores import as_lists
from ragnb.text import keyed_response, keyed_sentences

PARAMETERS = {"temperature": 0.0, "max_tokens": 2048, "seed": 0}
LABEL_COLUMNS = (*TraceLabels.model_fields, "unsupported_response_sentence_keys")
"""RAGBench's columns that contain the labels; None if there are none."""
ADDED = (
    "documents_sentences",
    "response_sentences",
    *LABEL_COLUMNS,
    "annotating_model_name",
    "label_reason",
    "label_contradiction",
    "label_repairs",
    "label_attempts",
    "label_keys",
)


def trace_requests(
    responses: pd.DataFrame, *, parameters: Mapping[str, Any] = PARAMETERS
) -> pd.DataFrame:
    """Build the requests for TRACe labels, one row per response that can be labelled. Nothing is sent.

    Parameters
    ----------
    responses
        ``question``; ``passages`` (list of texts), or ``documents_sentences`` where they are already cut into sentences and
        keyed; ``response``, or ``response_sentences``. What lacks a question, a context or a response is not asked about.
    parameters
        Sampling parameters, sent as they are.

    Raises
    ------
    InputError
        A missing column, or one of another shape.
    """
    items = _items(responses)
    waiting = [place for place, item in enumerate(items) if item.waits]
    requests = _requests([items[place] for place in waiting], parameters)
    return requests.set_axis(responses.index[waiting])


@one_report()
@accepts(max_asks="size")
def label_trace(
    responses: pd.DataFrame,
    *,
    model: str,
    max_asks: int = 2,
    parameters: Mapping[str, Any] = PARAMETERS,
    **options: Any,
) -> pd.DataFrame:
    """Label responses for TRACe with a judge. `ragnb.score` can then compute ``"trace.relevance"`` and others.

    An answer is asked for again, with its fault named in a further turn, when ``overall_supported`` is true although a
    sentence has no supporting key, when it is false although every sentence is fully supported (a sentence supported in part
    goes with either verdict), or when a sentence of the response has no support information. The last answer without fault
    is kept, else the last that merely contradicts itself, with ``label_contradiction``. One that leaves sentences of the
    response out is no label: its adherence would be too high.

    Parameters
    ----------
    responses, parameters
        See `trace_requests`. Labels that are there already are replaced; published scores are left.
    model
        The judge's name, as the endpoint knows it.
    max_asks
        Most times that one response is asked about, from 1 up; the repair turn for a reply that cannot be read comes on top.
    **options
        Arguments for `ragnb.complete_structured`: ``base_url``, ``store``, ``offline``, ... ``budget_usd`` is shared out
        evenly over the asks. For repeats, label again with another ``seed`` in ``parameters``.

    Returns
    -------
    DataFrame
        The responses with ``documents_sentences, response_sentences``, the labels under RAGBench's names (keys that name no
        sentence stay, see the ``issues`` of `ragnb.metrics.trace.trace_scores`), ``unsupported_response_sentence_keys``
        (those without a supporting key), ``annotating_model_name``, and

        - ``label_reason``: why there are no labels, else None
        - ``label_contradiction``: what contradicts the verdict in the labels that were kept, else None
        - ``label_repairs``: how often each repair was made in them, see `ragnb.prompts.trace.repaired_labels`
        - ``label_attempts``: ``{"reply", "fault"}`` of every ask, in order
        - ``label_keys``: request keys of all replies behind them

    Raises
    ------
    InputError
        As for `trace_requests`; ``max_asks`` below 1; ``repeats`` other than 1; replies missing in an offline run.
    EndpointError, StoreError
        As for `ragnb.complete`; an endpoint that fails only when asked again leaves the first labels, with their fault.

    Examples
    --------
    >>> with ragnb.serve() as endpoint:                                             # doctest: +SKIP
    ...     labelled = label_trace(responses, model=endpoint.model, base_url=endpoint.base_url)
    >>> ragnb.score(labelled, ["trace.relevance", "trace.adherence"])               # doctest: +SKIP
    """
    if options.get("repeats", 1) != 1:
        raise InputError(
            f"repeats must be 1, got {options['repeats']!r}; label again with another seed in "
            "parameters"
        )
    items, options = _items(responses), one_budget(options)
    for ask in range(max_asks):
        waiting = [item for item in items if item.waits]
        if not waiting:
            break
        try:
            replies = complete_structured(
                _requests(waiting, parameters), TraceLabels, model=model, **options
            ).to_dict("records")
        except EndpointError as error:
            if not ask:
                raise
            replies = [{"record": None, "reason": str(error)} for _ in waiting]
        options["structured"] = bool(replies[0].get("structured", True))
        for item, reply in zip(waiting, replies, strict=True):
            item.attempts.append(_attempt(item, reply))
    added = pd.DataFrame(
        [item.columns(model) for item in items], columns=ADDED, index=responses.index, dtype=object
    )
    kept = [name for name in responses if name not in ADDED]
    return responses[kept].assign(**added)


def _requests(items: list["_Item"], parameters: Mapping[str, Any]) -> pd.DataFrame:
    frame = pd.DataFrame(index=range(len(items)))
    rendered = [item.messages() for item in items]
    return with_requests(frame, rendered, [LABELS] * len(items), parameters)


# ---- one answer ----------------------------------------------------------------------------------


def _attempt(item: "_Item", reply: Mapping[str, Any]) -> dict[str, Any]:
    """One answer: the judge's record, the labels read from it, and what is wrong with them.

    ``gap`` names the response's sentences that it leaves out, ``contradiction`` what is against its
    verdict, and ``rank`` is 3 without fault, 2 with a contradiction, 1 with a gap, 0 without labels.
    """
    texts = (reply.get(name) for name in ("repair_response", "response"))
    sent = (reply.get(name) for name in ("request_key", "repair_request_key"))
    attempt = {
        "reply": next((text for text in texts if isinstance(text, str)), None),
        "keys": [key for key in sent if isinstance(key, str)],
        "record": reply["record"],
        "reason": reply["reason"],
        "fault": reply["reason"],
        "rank": 0,
    }
    if reply["record"] is None:
        return attempt
    labels, repairs = repaired_labels(reply["record"], item.document_keys, item.response_keys)
    support = labels["sentence_support_information"]
    labels["unsupported_response_sentence_keys"] = unsupported_sentences(support)
    labelled = [label["response_sentence_key"] for label in support]
    left_out = [key for key in item.response_keys if key not in labelled]
    gap = f"sentence_support_information leaves out {_quoted(left_out)}" if left_out else None
    contradiction = _contradiction(labels)
    return attempt | {
        "labels": labels,
        "repairs": repairs,
        "reason": gap,
        "contradiction": contradiction,
        "fault": gap or contradiction,
        "rank": 1 if gap else 2 if contradiction else 3,
    }


def _contradiction(labels: Mapping[str, Any]) -> str | None:
    unsupported = labels["unsupported_response_sentence_keys"]
    flags = [as_flag(one.get("fully_supported")) for one in labels["sentence_support_information"]]
    if labels["overall_supported"] and unsupported:
        return f"overall_supported is true, yet no key supports {_quoted(unsupported)}"
    if not labels["overall_supported"] and all(flags) and not unsupported:
        return "overall_supported is false, yet every sentence is fully supported"
    return None


def _quoted(keys: list[str]) -> str:
    return ", ".join(map(repr, keys))


# ---- one response --------------------------------------------------------------------------------


@dataclass(slots=True)
class _Item:
    """One response, cut into sentences, and the answers so far; None where there is no text."""

    question: Any
    documents: list[Any] | None
    response: list[Any] | None
    document_keys: list[str] = field(init=False)
    response_keys: list[str] = field(init=False)
    attempts: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.document_keys = [key for key, _ in sentence_pairs(self.documents or [])]
        self.response_keys = [key for key, _ in sentence_pairs([self.response or []])]

    @property
    def lack(self) -> str | None:
        """Why the response cannot be labelled."""
        reasons = {
            "there is no question": not isinstance(self.question, str),
            "there are no passages": self.documents is None,
            "the context has no sentence": not self.document_keys,
            "there is no response": self.response is None,
            "the response has no sentence": not self.response_keys,
        }
        return next((reason for reason, holds in reasons.items() if holds), None)

    @property
    def waits(self) -> bool:
        """Whether a request to the judge is needed, the first one or a repeated one."""
        if not self.attempts:
            return self.lack is None
        return self.attempts[-1]["record"] is not None and self.attempts[-1]["fault"] is not None

    def messages(self) -> list[Message]:
        """Return the messages of the next request: for labels, or for better ones after a reply."""
        asked = render_labelling(self.question, self.documents or [], self.response or [])
        for each in self.attempts:
            asked += render_asking_again(each["record"], each["fault"])
        return asked

    def columns(self, model: str) -> dict[str, Any]:
        """What is added to the response; of equally good answers the last one is kept."""
        nothing: dict[str, Any] = {"reason": self.lack}
        kept = max(reversed(self.attempts), key=lambda each: each["rank"], default=nothing)
        added = dict.fromkeys(ADDED) | {
            "documents_sentences": self.documents,
            "response_sentences": self.response,
            "label_reason": kept["reason"],
            "label_repairs": {},
            "label_attempts": [
                {name: each[name] for name in ("reply", "fault")} for each in self.attempts
            ],
            "label_keys": [key for each in self.attempts for key in each["keys"]],
        }
        if kept["reason"] is None:
            added |= {name: kept["labels"][name] for name in LABEL_COLUMNS}
            added |= {
                "annotating_model_name": model,
                "label_contradiction": kept["contradiction"],
                "label_repairs": kept["repairs"],
            }
        return added


def _items(responses: pd.DataFrame) -> list[_Item]:
    require_columns(responses, ["question"], "a labelling")
    documents = _sentences(
        responses,
        "documents_sentences",
        "passages",
        lambda passages: keyed_sentences(listed(passages, "passages")),
    )
    response = _sentences(responses, "response_sentences", "response", keyed_response)
    return [_Item(*row) for row in zip(responses["question"], documents, response, strict=True)]


def _sentences(
    responses: pd.DataFrame, keyed: str, plain: str, cut: Callable[[Any], list[Any]]
) -> list[list[Any] | None]:
    """The keyed sentences of each row, cut from the text where they are missing."""
    if keyed not in responses:
        require_columns(responses, [plain], "a labelling")
    sentences = []
    for row in responses.reindex(columns=[keyed, plain]).to_dict("records"):
        if not is_missing(row[keyed]):
            sentences.append(as_lists(row[keyed]))
        else:
            sentences.append(None if is_missing(row[plain]) else cut(row[plain]))
    return sentences
