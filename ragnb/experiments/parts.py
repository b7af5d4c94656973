"""Labels of the parts of a response from a judge: claims, sentences, citations and nuggets."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.cells import as_lists, present
from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.experiments.judges import (
    LISTED,
    PARAMETERS,
    Judgement,
    each_once,
    field_of,
    judgements,
    of_version,
    refuse_judged,
    require_plausible,
)
from ragnb.experiments.requests import one_budget
from ragnb.forwarding import passes_options_to
from ragnb.llm.structured import complete_structured
from ragnb.llm.tally import one_report
from ragnb.metrics.references import reference_parts
from ragnb.passages import passage_column, passage_texts
from ragnb.prompts.judges import (
    NEWEST,
    TEMPLATES,
    Assignment,
    Claims,
    Label,
    Nuggets,
    cited_statements,
    readable_references,
)
from ragnb.replies import reasoning_apart
from ragnb.text import fold, sentences, strip_reasoning

Part = dict[str, Any]
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of parts.

    Attributes
    ----------
    column
        The column of the parts.
    split
        How a response is split into parts: by a judgement, or by a function of its text.
    judgement
        The judgement of one part.
    """

    column: str
    split: Judgement | Callable[[str], list[Part]]
    judgement: Judgement


def _texts(texts: Sequence[str]) -> list[Part]:
    """Parts that have only a text as yet."""
    return [{"text": text} for text in texts]


def _claims(record: Row, response: Row) -> list[Part]:
    """The claims in a judge's list, each once. A list that must be invented raises InputError."""
    claims_by_key: dict[str, str] = {}
    for claim in record["claims"]:
        # The same claim may be spelled in another letter case. The first spelling counts.
        claims_by_key.setdefault(fold(claim), claim)
    claims = list(claims_by_key.values())
    require_plausible(claims, strip_reasoning(response["response"]), "claims")
    return _texts(claims)


def _nuggets(record: Row, response: Row) -> list[Part]:
    """The nuggets in a judge's list, each once. A list that must be invented raises InputError."""
    nuggets = each_once(record["nuggets"])
    references = readable_references(reference_parts(response["references"]))
    source = f"{response['question']} {references}"
    require_plausible([nugget["text"] for nugget in nuggets], source, "nuggets")
    return nuggets


_CLAIMS = Judgement(
    TEMPLATES["parts.split_claims"],
    Claims,
    "parts",
    _claims,
    LISTED,
    object,
)
_NUGGETS = Judgement(TEMPLATES["parts.list_nuggets"], Nuggets, "nuggets", _nuggets, LISTED, object)
_LABEL = Judgement(TEMPLATES["parts.label"], Label, "label", field_of("label"), PARAMETERS, object)
_ASSIGN = Judgement(
    TEMPLATES["parts.assign_nugget"],
    Assignment,
    "assignment",
    field_of("assignment"),
    PARAMETERS,
    object,
)
# Kinds of parts by name.
KINDS = {
    "claims": Kind("parts", _CLAIMS, _LABEL),
    "sentences": Kind("parts", lambda response: _texts(sentences(response)), _LABEL),
    "citations": Kind("statements", cited_statements, _LABEL),
    "nuggets": Kind("nuggets", _NUGGETS, _ASSIGN),
}


@one_report()
@accepts(kind=tuple(KINDS), prompt_version=(1, NEWEST))
@passes_options_to(complete_structured)
def label_parts(
    responses: pd.DataFrame,
    kind: str = "claims",
    *,
    model: str,
    prompt_version: int = NEWEST,
    parameters: Mapping[str, Any] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Label the parts of responses with a judge: claims, sentences, citations or nuggets.

    `ragnb.score` can then compute ``"parts.supported"`` and the other metrics of parts. The judge is asked about one
    part at a time, as in the published methods (see `ragnb.prompts.judges`). It compares the part only with the
    passages, so a false claim is supported if the passages state it.

    Parameters
    ----------
    responses
        One row per response. If the frame has parts already, with or without labels, these are
        labelled again. Otherwise the responses are split into parts first:

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
    prompt_version
        Version of the prompts, as for `ragnb.experiments.judges.judgement_requests`.
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
    part_kind = _of_version(KINDS[kind], prompt_version)
    options = one_budget(options)
    refuse_judged(responses, ["judge_reason", "judge_keys"], options)
    options |= {"model": model, "parameters": parameters}
    fields = list(part_kind.judgement.template.fields)
    require_columns(responses, [name for name in fields if name != "part"], "label_parts")
    split = _split(responses, part_kind, options)
    # The passages as texts, whatever form their cells have. The returned frame keeps the cells.
    with_texts = responses
    if "passages" in responses:
        texts = pd.Series(passage_column(responses, "responses"), responses.index, dtype=object)
        with_texts = responses.assign(passages=texts)
    rows = list(zip(split[part_kind.column], with_texts.to_dict("records"), strict=True))
    # A part may need several checks, and each of them is one request. ``places`` has for each check the number of the row,
    # and that of the part in it.
    places: list[tuple[int, int]] = []
    checks: list[Row] = []
    for row, (parts, response) in enumerate(rows):
        for place, part in enumerate(parts or ()):
            for check in _checks(part, response):
                places.append((row, place))
                checks.append(check)
    frame_of_checks = pd.DataFrame(checks, columns=fields, dtype=object)
    judged = judgements(frame_of_checks, part_kind.judgement, **options)
    column = part_kind.judgement.column
    # Row and part -> the verdicts of its checks.
    verdicts = defaultdict(list)
    keys = [[*request_keys] for request_keys in split["judge_keys"]]
    reasons = split["judge_reason"].tolist()
    for (row, place), verdict in zip(places, judged.to_dict("records"), strict=True):
        verdicts[row, place].append(verdict[column])
        keys[row] += verdict["judge_keys"]
        # Of several reasons, the first one counts.
        reasons[row] = reasons[row] or verdict["judge_reason"]
    labelled: list[list[Part] | None] = []
    for row, (parts, _) in enumerate(rows):
        # A response without one of its labels is not labelled at all.
        if reasons[row]:
            labelled.append(None)
            continue
        labelled_parts = []
        for place, part in enumerate(parts):
            labelled_parts.append(_joined(part, verdicts[row, place], column))
        labelled.append(labelled_parts)
    added = {part_kind.column: labelled, "judge_reason": reasons, "judge_keys": keys}
    frame = pd.DataFrame(added, responses.index, dtype=object)
    # In the signature of scores, a bar separates entries.
    labelling_judge = f"{model} {part_kind.judgement.template.id}".replace("|", " ")
    judge = split["judge_signature"] + labelling_judge
    return responses.assign(**frame, **{f"{part_kind.column}_judge": judge})


def _of_version(kind: Kind, prompt_version: int) -> Kind:
    """A kind of parts with the given version of its prompts."""
    judgement = of_version(kind.judgement, prompt_version)
    if isinstance(kind.split, Judgement):
        return replace(kind, judgement=judgement, split=of_version(kind.split, prompt_version))
    return replace(kind, judgement=judgement)


def _split(responses: pd.DataFrame, kind: Kind, options: Mapping[str, Any]) -> pd.DataFrame:
    """The parts of each response, the reason if it has none, and request keys and judge if a judge made them.

    The columns are that of the parts, ``judge_reason``, ``judge_keys`` and ``judge_signature``.
    """
    column, split = kind.column, kind.split
    split_responses = pd.DataFrame(
        {"judge_reason": None, "judge_signature": ""}, responses.index, dtype=object
    )
    split_responses["judge_keys"] = [[] for _ in split_responses.index]
    if column in responses:
        split_responses[column] = [as_lists(present(cell)) for cell in responses[column]]
    elif isinstance(split, Judgement):
        split_responses = judgements(responses, split, **options)
        # The signature of the judge that labels the parts follows.
        split_responses["judge_signature"] += ", "
    else:
        require_columns(responses, ["response"], "label_parts")
        texts = reasoning_apart(responses)["response"]
        parts: list[list[Part] | None] = []
        reasons: list[str | None] = []
        for text in texts:
            try:
                parts.append(split(text) if isinstance(text, str) else None)
                reasons.append(None)
            except InputError as error:
                # A mark of a citation cannot be read.
                parts.append(None)
                reasons.append(str(error))
        split_responses[column] = pd.Series(parts, split_responses.index, dtype=object)
        split_responses["judge_reason"] = pd.Series(reasons, split_responses.index, dtype=object)
    # A list without parts, and None, count as False.
    has_parts = split_responses[column].astype(bool)
    has_reason = split_responses["judge_reason"].notna()
    split_responses.loc[~has_parts & ~has_reason, "judge_reason"] = f"no {column}"
    return split_responses


def _checks(part: Part, response: Row) -> list[Part]:
    """What the judge is shown to label a part, one mapping for each request.

    A statement with citations is shown with all cited passages together. If there are several, it is
    also shown with each passage alone, and with the others without it. If it cites nothing, or a
    passage that does not exist, the judge is not asked.
    """
    if "citations" not in part:
        return [{**response, "part": part["text"]}]
    passages = passage_texts(response["passages"])
    cited = [citation["passage"] for citation in part["citations"]]
    if passages is None:
        # The missing passages become the reason why the response has no labels.
        return [{"passages": None, "part": part["text"]}]
    if not cited or not all(1 <= number <= len(passages) for number in cited):
        return []
    # The numbers of the passages in each check. `_joined` expects this order.
    numbers_of_checks = [cited]
    if len(cited) > 1:
        for number in cited:
            numbers_of_checks.append([number])
        for number in cited:
            numbers_of_checks.append([other for other in cited if other != number])
    checks = []
    for numbers in numbers_of_checks:
        # Marks of citations count from 1.
        cited_passages = [passages[number - 1] for number in numbers]
        checks.append({"passages": cited_passages, "part": part["text"]})
    return checks


def _joined(part: Part, verdicts: Sequence[str], column: str) -> Part:
    """Add the verdicts of the checks to a part; see `_checks`. ``column`` is the name of the verdict of other parts.

    For a statement with citations, ``alone`` is whether the passage alone supports it, and ``rest`` whether the
    other cited passages do. A statement that cites nothing, or a passage that does not exist, has no verdicts and is
    not supported.
    """
    if "citations" not in part:
        return {**part, column: verdicts[0]}
    is_supported = [verdict == "supported" for verdict in verdicts]
    n_citations = len(part["citations"])
    # The first check is that of all cited passages together.
    all_support = is_supported[0] if is_supported else False
    if len(is_supported) > 1:
        support_alone = is_supported[1 : n_citations + 1]
        others_support = is_supported[n_citations + 1 :]
    else:
        # A single citation is all citations together, and without it there is none.
        support_alone = [all_support] * n_citations
        others_support = [False] * n_citations
    citations = []
    columns = zip(part["citations"], support_alone, others_support, strict=True)
    for citation, alone, rest in columns:
        citations.append({"passage": citation["passage"], "alone": alone, "rest": rest})
    return {**part, "supported": all_support, "citations": citations}
