"""Labels of the parts of a response from a judge: claims, sentences, citations and nuggets."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.experiments.asking import one_budget
from ragnb.experiments.judges import (
    LISTED,
    PARAMETERS,
    Judgement,
    field_of,
    judgements,
    refuse_judged,
)
from ragnb.llm.client import one_report
from ragnb.prompts.parts import (
    ASSIGN_NUGGET,
    LABEL,
    LIST_NUGGETS,
    SPLIT_CLAIMS,
    Assignment,
    Claims,
    Label,
    Nuggets,
    cited_statements,
)
from ragnb.records import present, reasoning_apart, require_columns
from ragnb.scoring.scores import as_lists
from ragnb.text import sentences

Part = dict[str, Any]
Row = Mapping[str, Any]


def _one_check(part: Part, row: Row) -> list[Part]:
    return [{**row, "part": part["text"]}]


def _checks_of_citations(part: Part, row: Row) -> list[Part]:
    """All cited passages together; if there are several, also each alone and the others without it."""
    passages, cited = as_lists(present(row["passages"])), _cited(part)
    if passages is None:
        return [{"passages": None, "part": part["text"]}]
    if not cited or not all(1 <= number <= len(passages) for number in cited):
        return []
    rest = [[other for other in cited if other != number] for number in cited]
    shown = [cited, *([number] for number in cited), *rest] if cited[1:] else [cited]
    return [
        {"passages": [passages[number - 1] for number in each], "part": part["text"]}
        for each in shown
    ]


def _with_citations(part: Part, labels: Sequence[str]) -> Part:
    """Add the verdicts. What cites nothing, or a passage that does not exist, is not supported."""
    cited = _cited(part)
    together, *others = [label == "supported" for label in labels] or [False]
    alone = others[: len(cited)] or [together] * len(cited)
    rest = others[len(cited) :] or [False] * len(cited)
    citations = [
        {"passage": number, "alone": by_itself, "rest": without}
        for number, by_itself, without in zip(cited, alone, rest, strict=True)
    ]
    return {**part, "supported": together, "citations": citations}


def _cited(part: Part) -> list[int]:
    return [citation["passage"] for citation in part["citations"]]


def _with_label(part: Part, labels: Sequence[str]) -> Part:
    return {**part, "label": labels[0]}


def _with_assignment(part: Part, assignments: Sequence[str]) -> Part:
    return {**part, "assignment": assignments[0]}


def _sentences(response: str) -> list[Part]:
    return [{"text": sentence} for sentence in sentences(response)]


def _claims(record: Row, response: Row) -> list[Part]:
    return [{"text": claim} for claim in record["claims"]]


_SPLIT = Judgement(SPLIT_CLAIMS, Claims, "parts", _claims, LISTED, object)
_LIST = Judgement(LIST_NUGGETS, Nuggets, "nuggets", field_of("nuggets"), LISTED, object)
_LABEL = Judgement(LABEL, Label, "label", field_of("label"), PARAMETERS, object)
_ASSIGN = Judgement(
    ASSIGN_NUGGET, Assignment, "assignment", field_of("assignment"), PARAMETERS, object
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of parts.

    Attributes
    ----------
    column
        The column of the parts.
    split
        What makes the parts of a response: a judgement, or a function of its text.
    asked
        The judgement that one request asks for.
    checks
        A part and its response -> what the judge is shown, once for each request.
    joined
        A part and the verdicts on it -> the labelled part.
    """

    column: str
    split: Judgement | Callable[[str], list[Part]]
    asked: Judgement
    checks: Callable[[Part, Row], list[Part]]
    joined: Callable[[Part, Sequence[str]], Part]


KINDS = {
    "claims": Kind("parts", _SPLIT, _LABEL, _one_check, _with_label),
    "sentences": Kind("parts", _sentences, _LABEL, _one_check, _with_label),
    "citations": Kind(
        "statements", cited_statements, _LABEL, _checks_of_citations, _with_citations
    ),
    "nuggets": Kind("nuggets", _LIST, _ASSIGN, _one_check, _with_assignment),
}


@one_report()
@accepts(kind=tuple(KINDS))
def label_parts(
    responses: pd.DataFrame,
    kind: str = "claims",
    *,
    model: str,
    parameters: Mapping[str, Any] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Label the parts of responses with a judge: claims, sentences, citations or nuggets.

    `ragnb.score` can then compute ``"parts.supported"`` and the other metrics of parts. The judge is asked about one
    part at a time, as in the published methods (see `ragnb.prompts.parts`). It compares the part only with the
    passages, so a false claim is supported if the passages state it.

    Parameters
    ----------
    responses
        One row per response. Parts that are there already, with or without labels, are labelled
        again. Otherwise they are made first:

        =============  ==============  ==================================  ========================
        ``kind``       column          made from                           judged by
        =============  ==============  ==================================  ========================
        ``claims``     ``parts``       ``question, response``: the judge   ``passages``
        ``sentences``  ``parts``       ``response``, without the judge     ``passages``
        ``citations``  ``statements``  ``response``, without the judge     ``passages`` that marks
                                                                           such as [2] cite
        ``nuggets``    ``nuggets``     ``question, references``: the       ``question, response``
                                       judge, once for each question
        =============  ==============  ==================================  ========================
    kind
        ``"claims"``, ``"sentences"``, ``"citations"`` or ``"nuggets"``.
    model
        The judge's name, as the endpoint knows it.
    parameters
        Sampling parameters. By default the temperature is 0.
    **options
        Arguments for `ragnb.complete_structured`: ``base_url``, ``store``, ``offline``, ... The
        budget is for all requests together. For repeats, label again with another ``seed`` in
        ``parameters``.

    Returns
    -------
    DataFrame
        The responses with the column of the parts, and

        - in each claim or sentence, ``label``: ``"supported"``, ``"contradicted"`` or ``"not
          supported"``; in each nugget, ``assignment``; in each statement, ``supported``, and
          ``alone`` and ``rest`` of each citation, see `ragnb.metrics.parts`
        - None in place of the parts if there are none, or if the judge's verdict on one of them is
          missing. ``judge_reason`` says why
        - ``judge_keys``: request keys of the replies behind the labels
        - ``parts_judge``, ``statements_judge`` or ``nuggets_judge``: the judge and its prompts, for
          the signature of the scores

    Raises
    ------
    InputError
        A column is missing, the frame was judged already, ``repeats`` is not 1, or replies are
        missing in an offline run.
    EndpointError, StoreError
        As for `ragnb.complete`.

    Examples
    --------
    >>> with ragnb.serve() as endpoint:                                             # doctest: +SKIP
    ...     server = {"model": endpoint.model, "base_url": endpoint.base_url}
    ...     labelled = label_parts(responses, "claims", **server)
    >>> ragnb.score(labelled, ["parts.supported", "parts.contradicted"])            # doctest: +SKIP
    """
    chosen, options = KINDS[kind], one_budget(options)
    refuse_judged(responses, ["judge_reason", "judge_keys"], options)
    options |= {"model": model, "parameters": parameters}
    shown = list(chosen.asked.template.fields)
    require_columns(responses, [name for name in shown if name != "part"], "label_parts")
    split = _split(responses, chosen, options)
    rows = list(zip(split[chosen.column], responses.to_dict("records"), strict=True))
    checks = [
        (row, place, check)
        for row, (parts, response) in enumerate(rows)
        for place, part in enumerate(parts or ())
        for check in chosen.checks(part, response)
    ]
    frame = pd.DataFrame([check for *_, check in checks], columns=shown, dtype=object)
    judged = judgements(frame, chosen.asked, **options)
    verdicts = defaultdict(list)
    keys = [[*those] for those in split["judge_keys"]]
    reasons = split["judge_reason"].tolist()
    for (row, place, _), one in zip(checks, judged.to_dict("records"), strict=True):
        verdicts[row, place].append(one[chosen.asked.column])
        keys[row] += one["judge_keys"]
        reasons[row] = reasons[row] or one["judge_reason"]
    labelled = [
        None
        if reasons[row]
        else [chosen.joined(part, verdicts[row, place]) for place, part in enumerate(parts)]
        for row, (parts, _) in enumerate(rows)
    ]
    added = {chosen.column: labelled, "judge_reason": reasons, "judge_keys": keys}
    frame = pd.DataFrame(added, responses.index, dtype=object)
    judge = split["judge_signature"] + f"{model} {chosen.asked.template.id}".replace("|", " ")
    return responses.assign(**frame, **{f"{chosen.column}_judge": judge})


def _split(responses: pd.DataFrame, chosen: Kind, options: Mapping[str, Any]) -> pd.DataFrame:
    """The parts of each response, why there are none, and the keys and the judge behind them."""
    column, split = chosen.column, chosen.split
    found = pd.DataFrame(
        {"judge_reason": None, "judge_signature": ""}, responses.index, dtype=object
    )
    found["judge_keys"] = [[] for _ in found.index]
    if column in responses:
        found[column] = [as_lists(present(given)) for given in responses[column]]
    elif isinstance(split, Judgement):
        found = judgements(responses, split, **options)
        found["judge_signature"] += ", "
    else:
        require_columns(responses, ["response"], "label_parts")
        texts = reasoning_apart(responses)["response"]
        found[column] = [split(text) if isinstance(text, str) else None for text in texts]
    empty = ~found[column].astype(bool) & found["judge_reason"].isna()
    found.loc[empty, "judge_reason"] = f"no {column}"
    return found
