"""A model as judge: of refusals, correctness, statements, passages, by a rubric, and of pairs.

Each response gets a value, or the reason why it has none. A reply that cannot be read never becomes a value.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from pydantic import BaseModel

from ragnb.arguments import accepts
from ragnb.cells import as_lists, present
from ragnb.columns import CONDITION, require_columns
from ragnb.ensemble.ensemble import BatchJudicator
from ragnb.errors import InputError
from ragnb.experiments.requests import with_requests
from ragnb.forwarding import passes_options_to
from ragnb.llm.store import Store
from ragnb.llm.structured import complete_structured
from ragnb.metrics.references import reference_parts
from ragnb.passages import passage_texts
from ragnb.prompts.judges import (
    NEWEST,
    TEMPLATES,
    CorrectnessVerdict,
    DetectionVerdict,
    PassageVerdicts,
    Preference,
    RefusalVerdict,
    RelevancyVerdicts,
    RubricScore,
    SamenessVerdict,
    SimilarityScore,
    SupportVerdicts,
    numbered,
    readable_references,
    tag_verdict,
    template_of,
    with_codebook,
    with_rubric,
)
from ragnb.prompts.template import Template, keyed_lines, turns
from ragnb.replies import no_answer, reasoning_apart
from ragnb.scoring.pairing import varying
from ragnb.tags import tag_definitions
from ragnb.text import fold, is_blank, strip_reasoning, tokens, well_formed

PARAMETERS = {"temperature": 0.0, "max_tokens": 32, "seed": 0}
EXPLAINED = {**PARAMETERS, "max_tokens": 256}
TAGGED = {**PARAMETERS, "max_tokens": 512}
LISTED = {**PARAMETERS, "max_tokens": 2048}
"""Sampling parameters of a bare verdict, of one with an explanation, of tags, and of a list of verdicts."""

Value = Callable[[Mapping[str, Any], Mapping[str, Any]], Any]
"""Function of the record in a judge's reply and of the judged response. It returns the value. If it raises InputError, the
message becomes the reason why there is no value."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The question to a judge, and how its reply becomes a value.

    Attributes
    ----------
    template
        The question to the judge. Its fields are the columns that a frame needs.
    record
        Pydantic model of the record that a reply must contain.
    column
        The column of the value.
    value
        Function that returns the value of a record.
    parameters
        Sampling parameters.
    dtype
        Type of the column: float, or object for a list of verdicts.
    has_rubric
        Whether a rubric of the user completes the question.
    """

    template: Template
    record: type[BaseModel]
    column: str
    value: Value
    parameters: Mapping[str, Any]
    dtype: type = float
    has_rubric: bool = False

    @property
    def columns(self) -> list[str]:
        """The columns that a judgement adds to a frame. Only some prompts ask for an explanation."""
        explanation = ["judge_explanation"] if "explanation" in self.record.model_fields else []
        return [self.column, "judge_reason", *explanation, "judge_keys", "judge_signature"]


def reply_keys(reply: Mapping[str, Any]) -> list[str]:
    """Request keys of a structured reply and of its repair turn, as far as there are any."""
    keys = [reply.get(name) for name in ("request_key", "repair_request_key")]
    return [key for key in keys if isinstance(key, str)]


def _verdict(record: Mapping[str, Any], response: Mapping[str, Any]) -> float:
    """The value of a verdict in one word, from `_POINTS`; 0 for all other words, such as ``"incorrect"``."""
    return _POINTS.get(record["verdict"], 0.0)


def field_of(name: str) -> Value:
    """Return the function that takes a field of the record as the value."""
    return lambda record, response: record[name]


def _useful_passages(record: Mapping[str, Any], response: Mapping[str, Any]) -> list[float]:
    """Whether each passage is useful, in their order. Other numbers than those of the passages raise InputError."""
    verdicts = {}
    for verdict in each_once(record["verdicts"]):
        verdicts[verdict["passage"]] = float(verdict["useful"])
    # The judge sees the passages with numbers from 1.
    n_passages = len(passage_texts(response["passages"]) or ())
    numbers = list(range(1, n_passages + 1))
    if sorted(verdicts) != numbers:
        judged = ", ".join(map(str, verdicts)) or "none"
        raise InputError(
            f"the judge must give a verdict on each of {n_passages} passages, got verdicts on {judged}"
        )
    return [verdicts[number] for number in numbers]


def _statements(record: Mapping[str, Any], response: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The statements of a response with their verdicts. A list that must be invented raises InputError."""
    statements = each_once(record["statements"])
    texts = [statement["statement"] for statement in statements]
    require_plausible(texts, strip_reasoning(response["response"]), "statements")
    return statements


def each_once(items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the items of a judge's list, without repetitions.

    The first field of an item names what was judged, and the second is the verdict.

    Two different verdicts on one item raise InputError. Otherwise the order of the list would decide between them.

    >>> each_once([{"passage": 1, "useful": True}, {"passage": 1, "useful": True}])
    [{'passage': 1, 'useful': True}]
    """
    items_by_key: dict[Any, dict[str, Any]] = {}
    for item in items:
        name_field, verdict_field, *_ = item
        name = item[name_field]
        # The same statement may be spelled in another letter case.
        key = fold(name) if isinstance(name, str) else name
        first = items_by_key.setdefault(key, dict(item))
        if first[verdict_field] != item[verdict_field]:
            raise InputError(
                f"the judge must give one verdict on each {name_field}, got {verdict_field} both "
                f"{first[verdict_field]!r} and {item[verdict_field]!r} for {name!r:.60}"
            )
    return list(items_by_key.values())


def require_plausible(texts: Sequence[str], source: Any, noun: str) -> None:
    """Raise InputError if a list has a blank text, or more texts than the source has words.

    Each statement needs at least one word of the response, so a longer list must be invented. ``noun`` names the texts.
    """
    if any(is_blank(text) for text in texts):
        raise InputError(f"the judge's {noun} must not be blank, got {len(texts)} with a blank one")
    n_words = len(tokens(source))
    # A source without words, such as an emoji, may still have one statement.
    if len(texts) > max(n_words, 1):
        raise InputError(
            f"the judge must list at most one of the {noun} per word, got {len(texts)} {noun} for "
            f"{n_words} words"
        )


_POINTS = {"refuses": 1.0, "detects": 1.0, "correct": 1.0, "same": 1.0, "first": 1.0, "tie": 0.5}
"""Verdict -> value. All other verdicts have 0."""
JUDGEMENTS: dict[str, Judgement] = {
    "refusal": Judgement(
        TEMPLATES["rgb.judge_refusal"], RefusalVerdict, "judged_refusal", _verdict, PARAMETERS
    ),
    "detection": Judgement(
        TEMPLATES["rgb.judge_detection"], DetectionVerdict, "judged_detection", _verdict, PARAMETERS
    ),
    "similarity": Judgement(
        TEMPLATES["answer.judge_similarity"],
        SimilarityScore,
        "judged_similarity",
        field_of("score"),
        EXPLAINED,
    ),
    "correctness": Judgement(
        TEMPLATES["answer.judge_correctness"],
        CorrectnessVerdict,
        "judged_correct",
        _verdict,
        EXPLAINED,
    ),
    "bare_correctness": Judgement(
        TEMPLATES["answer.judge_bare_correctness"],
        SamenessVerdict,
        "judged_correct",
        _verdict,
        PARAMETERS,
    ),
    "faithfulness": Judgement(
        TEMPLATES["answer.judge_faithfulness"],
        SupportVerdicts,
        "judged_statements",
        _statements,
        LISTED,
        object,
    ),
    "answer_relevancy": Judgement(
        TEMPLATES["answer.judge_relevancy"],
        RelevancyVerdicts,
        "judged_relevant_statements",
        _statements,
        LISTED,
        object,
    ),
    "context_precision": Judgement(
        TEMPLATES["context.judge_precision"],
        PassageVerdicts,
        "judged_passages",
        _useful_passages,
        LISTED,
        object,
    ),
    "rubric": Judgement(
        TEMPLATES["answer.judge_rubric"],
        RubricScore,
        "judged_rubric",
        field_of("score"),
        EXPLAINED,
        has_rubric=True,
    ),
}
"""The judgements by name; ``"bare_correctness"`` is correctness without an explanation, for tiny models."""
_PAIR = Judgement(
    TEMPLATES["answer.judge_preference"], Preference, "judged_preference", _verdict, EXPLAINED
)


def of_version(judgement: Judgement, prompt_version: int) -> Judgement:
    """Return a judgement with the given version of its prompt."""
    return replace(judgement, template=template_of(judgement.template.name, prompt_version))


def _judgement(name: str, rubric: str | None, prompt_version: int) -> Judgement:
    """The judgement of a name, with the rubric in its question if it is ``"rubric"``."""
    judgement = JUDGEMENTS[name]
    if judgement.has_rubric != bool(rubric):
        raise InputError(
            f"rubric must be the text of your rubric for the judgement 'rubric', and None for all "
            f"others, got {rubric!r:.60} for {name!r}"
        )
    if rubric:
        return replace(judgement, template=with_rubric(rubric, prompt_version))
    return of_version(judgement, prompt_version)


@accepts(judgement=tuple(JUDGEMENTS), prompt_version=(1, NEWEST))
def judgement_requests(
    responses: pd.DataFrame,
    judgement: str,
    *,
    rubric: str | None = None,
    prompt_version: int = NEWEST,
    parameters: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Build the requests of a judgement, one row per response that can be judged. Nothing is sent.

    Parameters
    ----------
    responses
        ``question`` and ``response``; also ``references`` for ``"similarity"``, ``"correctness"``,
        ``"bare_correctness"`` and ``"context_precision"`` (which needs no ``response``), and
        ``passages`` for ``"faithfulness"`` and ``"context_precision"``. The judge gets no
        request about a response that is missing or empty, or that lacks one of the other columns.
        Earlier turns in ``history`` are shown above the question.
    judgement
        One of `JUDGEMENTS`.
    rubric
        For ``"rubric"``, what makes a response good, in your own words.
    prompt_version
        Version of the prompt. Version 1 has no tags around the texts, so that a response can imitate
        a label of the prompt. It only serves to replay replies that were stored under it.
    parameters
        Sampling parameters in the place of the judgement's own.

    Raises
    ------
    InputError
        Unknown judgement, a missing column, or a value of another shape.
    """
    definition = _judgement(judgement, rubric, prompt_version)
    requests, _ = _requests(responses, definition, parameters)
    return requests


def judgements(
    responses: pd.DataFrame,
    judgement: Judgement,
    *,
    model: str,
    parameters: Mapping[str, Any] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Ask for a judgement of each response; return only the columns that it adds.

    They are those of `Judgement.columns`, with the index of the responses.
    """
    # A gap is the reason why a response cannot be judged; None if it can.
    requests, gaps = _requests(responses, judgement, parameters)
    answers = complete_structured(requests, judgement.record, model=model, **options)
    # There is one reply for each response without a gap, in the same order.
    replies = iter(answers.to_dict("records"))
    rows = []
    for gap, response in zip(gaps, responses.to_dict("records"), strict=True):
        reply: dict[str, Any] = {"record": None, "reason": gap} if gap else next(replies)
        record, reason = reply["record"], reply["reason"]
        value = None
        if record:
            # A record has the right form, and may still have no value, such as one about a passage too many.
            try:
                value = judgement.value(record, response)
            except InputError as error:
                reason = str(error)
        row = {
            judgement.column: value,
            "judge_reason": reason,
            "judge_explanation": (record or {}).get("explanation"),
            "judge_keys": reply_keys(reply),
            "judge_signature": _signature(model, judgement),
        }
        rows.append(row)
    added = pd.DataFrame(rows, responses.index, judgement.columns, dtype=object)
    return added.astype({judgement.column: judgement.dtype})


@accepts(judgement=tuple(JUDGEMENTS), prompt_version=(1, NEWEST))
@passes_options_to(complete_structured)
def judge_responses(
    responses: pd.DataFrame,
    judgement: str,
    *,
    model: str,
    rubric: str | None = None,
    prompt_version: int = NEWEST,
    parameters: Mapping[str, Any] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Add a model's judgement to responses, ready for `ragnb.score`.

    Parameters
    ----------
    responses, judgement, rubric, prompt_version, parameters
        See `judgement_requests`. One frame takes one judgement: for another, judge the same responses again and put the
        scores together, or rename the columns of the first.
    model
        The judge's name, as the endpoint knows it.
    **options
        Arguments for `ragnb.complete_structured`: ``base_url``, ``store``, ``offline``, ... For repeats, judge again with
        another ``seed`` in ``parameters``.

    Returns
    -------
    DataFrame
        The responses and

        - ``judged_refusal``, ``judged_detection`` or ``judged_correct``: 1.0 yes, 0.0 no; or ``judged_similarity``, in
          [0, 1]; or ``judged_rubric``, 1 to 5; nan where the judge's reply cannot be read or there was nothing to ask,
          never 0
        - or a list of verdicts: ``judged_statements`` (faithfulness), ``judged_relevant_statements`` (answer relevancy) or
          ``judged_passages`` (context precision); None where there is none
        - ``judge_reason``: why there is no value ("no response", "empty response", "no references", what was wrong with the
          reply, ...), else None
        - ``judge_explanation`` (``"similarity"``, ``"correctness"`` and ``"rubric"`` only): the judge's own words
        - ``judge_keys``: request keys of the replies behind the value
        - ``judge_signature``: the judge and its prompt, for the signature of the score

    Raises
    ------
    InputError
        As for `judgement_requests`; a frame that is judged already; ``repeats`` other than 1; or, offline, missing replies.
    EndpointError, StoreError
        As for `ragnb.complete`.

    Examples
    --------
    >>> with ragnb.serve() as endpoint:                                             # doctest: +SKIP
    ...     judged = judge_responses(responses, "faithfulness", model=endpoint.model, base_url=endpoint.base_url)
    >>> ragnb.score(judged, "judged.faithfulness")                                  # doctest: +SKIP
    """
    definition = _judgement(judgement, rubric, prompt_version)
    refuse_judged(responses, definition.columns, options)
    options |= {"model": model, "parameters": parameters}
    return responses.assign(**judgements(responses, definition, **options))


@accepts()
@passes_options_to(complete_structured)
def apply_codebook(
    responses: pd.DataFrame,
    codebook: Mapping[str, str] | Sequence[str] | pd.DataFrame,
    *,
    model: str,
    parameters: Mapping[str, Any] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Let a model give responses the tags of a codebook, with one request per response.

    A model's tags are worth what `ragnb.annotation.tag_judge_report` says: compare them with those of people first.

    Parameters
    ----------
    responses
        ``question`` and ``response``. The model also reads ``references`` and ``passages`` if the frame has these columns.
    codebook
        The definition of each tag by its name, a list of names, or a frame such as `ragnb.annotation.read_codebook`
        returns it.
    model
        The judge's name, as the endpoint knows it.
    parameters
        Sampling parameters in the place of the judge's own.
    **options
        Arguments for `ragnb.complete_structured`: ``base_url``, ``store``, ``offline``, ...

    Returns
    -------
    DataFrame
        The responses and

        - ``judged_tags``: a list of tags in the order of the codebook, which is empty if none fits; None where the judge's
          reply cannot be read or there was nothing to ask, never an empty list
        - ``judge_reason``: why there are no tags, else None
        - ``judge_explanation, judge_keys, judge_signature`` as in `judge_responses`

    Raises
    ------
    InputError
        A missing column, a codebook without tags or with a tag twice, a frame that is judged already, or, offline, missing
        replies.
    EndpointError, StoreError
        As for `ragnb.complete`.

    Examples
    --------
    >>> codebook = ragnb.annotation.read_codebook("labels/ana.error_analysis.sqlite")      # doctest: +SKIP
    >>> judged = apply_codebook(responses, codebook, model="gpt-4o", store="tags.sqlite")  # doctest: +SKIP
    """
    definitions = tag_definitions(codebook)
    if not definitions:
        raise InputError("apply_codebook needs a codebook with at least one tag, got none")
    materials = [name for name in ("references", "passages") if name in responses]

    def tags_in_order(record: Mapping[str, Any], response: Mapping[str, Any]) -> list[str]:
        """The tags in a reply, each once and in the order of the codebook."""
        return [tag for tag in definitions if tag in record["tags"]]

    judgement = Judgement(
        with_codebook(definitions, materials),
        tag_verdict(definitions),
        "judged_tags",
        tags_in_order,
        TAGGED,
        object,
    )
    refuse_judged(responses, judgement.columns, options)
    options |= {"model": model, "parameters": parameters}
    return responses.assign(**judgements(responses, judgement, **options))


@accepts()
@passes_options_to(judge_responses, without=["rubric", "prompt_version"])
def judge_pairs(
    responses: pd.DataFrame,
    *,
    model: str,
    baseline: str,
    parameters: Mapping[str, Any] = EXPLAINED,
    **options: Any,
) -> pd.DataFrame:
    """Ask a model whether it prefers each response to that of the baseline to the same question.

    Each pair is shown twice, once in each order, because many judges favour a position.
    The result is ready for ``ragnb.score(..., "judged.preference")``, whose mean is a win rate.

    Parameters
    ----------
    responses
        ``example_id, system, question`` and ``response`` of the baseline and of other systems.
    model
        The judge's name, as the endpoint knows it.
    baseline
        The system that all others are compared with.
    parameters
        Sampling parameters.
    **options
        As for `judge_responses`.

    Returns
    -------
    DataFrame
        The responses of the other systems, with ``judged_preference`` (1 wins, 0.5 ties, 0 loses,
        mean of both orders; nan if one of the verdicts is missing), ``judge_verdicts`` (the two
        values), ``judge_reason``, ``judge_keys`` and ``judge_signature``.

    Raises
    ------
    InputError
        A column is missing, the baseline is unknown or answered a question twice, or as for
        `judge_responses`.
    """
    require_columns(responses, ["example_id", "system", "question", "response"], "judge_pairs")
    responses = reasoning_apart(responses)
    rows = responses[responses["system"] != baseline]
    baseline_rows = responses[responses["system"] == baseline]
    # Columns that identify a question under a condition.
    keys = ["example_id", *varying(responses, [name for name in CONDITION if name != "system"])]
    require_columns(baseline_rows, (), f"the baseline {baseline!r} of judge_pairs", unique=keys)
    if baseline_rows.empty or rows.empty:
        systems = ", ".join(map(str, responses["system"].unique()))
        raise InputError(
            f"baseline must be one of at least two systems, got {baseline!r} and the systems {systems}"
        )
    refuse_judged(responses, [*_PAIR.columns, "judge_verdicts"], options)
    # Arrays, because the merged frame has another index.
    system_responses = rows["response"].array
    pairs = rows[keys].merge(baseline_rows[[*keys, "response"]], how="left", on=keys)
    baseline_responses = pairs["response"].array
    orders = [
        rows.assign(first=system_responses, second=baseline_responses),
        rows.assign(first=baseline_responses, second=system_responses),
    ]
    options |= {"model": model, "parameters": parameters}
    judged = judgements(pd.concat(orders, ignore_index=True), _PAIR, **options)
    # The first half has the response before that of the baseline, and the second half after it.
    before = judged[: len(rows)].set_index(rows.index)
    after = judged[len(rows) :].set_index(rows.index)
    # The value is that of the response that is shown first, which is the baseline's in the second half.
    values = pd.concat([before["judged_preference"], 1 - after["judged_preference"]], axis=1)
    reasons = before["judge_reason"].where(before["judge_reason"].notna(), after["judge_reason"])
    return rows.assign(
        judged_preference=values.mean(axis=1, skipna=False),
        judge_reason=reasons,
        judge_keys=before["judge_keys"] + after["judge_keys"],
        judge_verdicts=values.apply(lambda row: row.dropna().tolist(), axis=1),
        judge_signature=f"{_signature(model, _PAIR)} against {baseline}".replace("|", " "),
    )


def _signature(model: str, judgement: Judgement) -> str:
    """The judge and its prompt, for the signature of scores, where a bar separates entries."""
    return f"{model} {judgement.template.id}".replace("|", " ")


def refuse_judged(responses: pd.DataFrame, columns: Sequence[str], options: dict[str, Any]) -> None:
    """Raise InputError for a frame that was judged already, or for repeats. Remove an option that judges do not have."""
    taken = [name for name in columns if name in responses]
    if taken:
        raise InputError(
            f"the frame must not contain the columns that a judge adds, got {', '.join(taken)}; "
            "rename the columns of the earlier judgement"
        )
    if options.get("repeats", 1) != 1:
        raise InputError(
            f"repeats must be 1 for a judge, got {options['repeats']}; "
            "to judge again, set another seed in parameters"
        )
    # `complete_structured` sets this itself, because an empty judgement can never be read.
    options.pop("keep_empty", None)


def _requests(
    responses: pd.DataFrame, judgement: Judgement, parameters: Mapping[str, Any] | None
) -> tuple[pd.DataFrame, list[str | None]]:
    """Requests about the responses that can be judged, and for each response its gap: why it cannot be judged, or None.

    An empty response has a gap, so that it never counts as wrong.
    """
    fields = list(judgement.template.fields)
    require_columns(responses, fields, "a judgement")
    apart = reasoning_apart(responses)
    items = apart[fields].astype(object)
    # A response that contains only reasoning is no response. The reason that `reasoning_apart` gives is then the gap.
    empty_column = [None] * len(apart)
    only_reasoning = []
    reasons = apart.get("reason", empty_column)
    reasonings = apart.get("reasoning", empty_column)
    for reason, reasoning in zip(reasons, reasonings, strict=True):
        only_reasoning.append(present(reason) if present(reasoning) else None)
    version = judgement.template.version
    if "question" in fields:
        questions = []
        histories = responses.get("history", empty_column)
        for cell, question in zip(histories, items["question"], strict=True):
            history = as_lists(present(cell))
            questions.append(_in_conversation(history, question, version))
        items["question"] = questions
    prompts, gaps = [], []
    for row, item in enumerate(items.to_dict("records")):
        texts: dict[str, Any] = {}
        try:
            for name, value in item.items():
                texts[name] = _readable(name, present(value), version)
        except InputError as error:
            raise InputError(f"row {row} of the responses: {error}") from error
        gap = _gap(texts, only_reasoning[row])
        if gap is None:
            prompts.append((judgement.template, judgement.template.messages(texts)))
        gaps.append(gap)
    can_be_judged = [gap is None for gap in gaps]
    rows = pd.DataFrame(index=responses.index[can_be_judged])
    return with_requests(rows, prompts, parameters or judgement.parameters), gaps


def _gap(texts: Mapping[str, str | None], only_reasoning: str | None) -> str | None:
    """Why a response with these texts cannot be judged; None if it can.

    ``texts`` has the text of each field of the question to the judge; None if there is nothing to read.
    ``only_reasoning`` is the reason of a response that contains nothing else.
    """
    for name, text in texts.items():
        if text is None and name in _ANSWERS:
            return only_reasoning or "no response"
        if text is None:
            return f"no {name}"
    # `no_answer` says why a text answers nothing, such as that it is blank.
    answers_nothing = [no_answer(texts[name]) for name in texts if name in _ANSWERS]
    return "empty response" if any(answers_nothing) else None


def _in_conversation(history: Any, question: Any, prompt_version: int) -> Any:
    """A question below the earlier turns of its conversation (``history``), as the judge reads it."""
    if not isinstance(question, str):
        return question
    # A question that looks like a turn of a conversation is shown as one, so that the two differ.
    looks_like_turn = prompt_version > 1 and question.startswith("[")
    if not history and not looks_like_turn:
        return question
    conversation = [*turns(history or []), {"role": "user", "content": question}]
    if prompt_version == 1:
        # The form of the recorded requests.
        return "\n".join(f"{turn['role']}: {turn['content']}" for turn in conversation)
    return keyed_lines([turn["role"], turn["content"]] for turn in conversation)


def _readable(name: str, value: Any, prompt_version: int) -> str | None:
    """The value of a field as the judge reads it; None if there is nothing to read."""
    if value is None:
        return None
    if name == "references":
        return readable_references(reference_parts(value), prompt_version)
    if name == "passages":
        return numbered(passage_texts(value) or [], prompt_version) or None
    return well_formed(str(value))


# Fields that contain a response: that of the row, or those of a pair.
_ANSWERS = ("response", "first", "second")


@accepts(
    judgement=("correctness", "bare_correctness", "similarity"),
    threshold="share",
    prompt_version=(1, NEWEST),
)
def model_judicator(
    responses: pd.DataFrame,
    judgement: str = "correctness",
    *,
    model: str,
    threshold: float = 0.5,
    prompt_version: int = NEWEST,
    **options: Any,
) -> BatchJudicator:
    """Make a judicator that asks a model about deferred items. Nothing is sent before the judicator is called.

    Parameters
    ----------
    responses
        ``question``, ``references`` and ``response``, under the index labels that the ensemble's features have.
    judgement
        ``"correctness"``, ``"bare_correctness"`` (without an explanation) or ``"similarity"`` to the references.
    model
        The judge's name, as the endpoint knows it.
    threshold
        A verdict is True if the value is at least this. It only matters for ``"similarity"``, as correctness is 0 or 1.
    prompt_version
        Version of the prompt, as for `ragnb.experiments.judges.judgement_requests`. The replies of the recording
        ``"judged_evouna"`` are stored under version 1.
    **options
        Arguments for `ragnb.experiments.judges.judge_responses`: ``base_url``, ``store``, ``budget_usd``, ``offline``, ...
        The budget is for each call of the judicator. A stored reply is never paid for again. With ``store=":memory:"``,
        replies are kept as long as the judicator exists.

    Returns
    -------
    BatchJudicator
        It returns True or False for each index label, or None if the model could not be asked or gave no verdict that can be
        read. `judge_responses` with the same store gives the reasons, and sends nothing again.

    Raises
    ------
    InputError
        Columns are missing, index labels are not unique, or the judgement is unknown. At a call: the responses do not have
        an index label, or `judge_responses` refuses its input.

    Examples
    --------
    >>> judicator = model_judicator(responses, model="gpt-4o", store="replies.sqlite", budget_usd=2)    # doctest: +SKIP
    >>> y_hat, y_set = ensemble.predict(X, judicator)                                                   # doctest: +SKIP
    """
    definition = JUDGEMENTS[judgement]
    options["prompt_version"] = prompt_version
    fields = list(definition.template.fields)
    require_columns(responses, fields, "a model judicator")
    if not responses.index.is_unique:
        raise InputError(
            "a model judicator needs responses with unique index labels; use reset_index"
        )
    # One store for all calls. Otherwise each call would begin with an empty one.
    if options.get("store") == ":memory:":
        options["store"] = Store(":memory:")

    def ask(labels: list[Any]) -> list[bool | None]:
        """Ask the model about the responses with these index labels."""
        unknown = [label for label in labels if label not in responses.index]
        if unknown:
            raise InputError(
                f"the judicator has no response for {len(unknown)} of the rows, such as {unknown[0]!r}; "
                "the responses need the same index as the frame that you pass to predict"
            )
        items = responses.loc[list(dict.fromkeys(labels)), fields]
        values = judge_responses(items, judgement, model=model, **options)[definition.column]
        verdicts = [values[label] for label in labels]
        return [None if pd.isna(value) else bool(value >= threshold) for value in verdicts]

    return BatchJudicator(ask)
