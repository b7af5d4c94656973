"""RGB's judged twins: a model decides whether a response refuses (Rej*) or detects errors (ED*)."""

from math import nan
from typing import Any

import pandas as pd

from ragnb.errors import InputError
from ragnb.llm.structured import complete_structured
from ragnb.prompts.rgb_judges import JUDGES, render_judgement
from ragnb.records import require_columns

PARAMETERS = {"temperature": 0.0, "max_tokens": 32, "seed": 0}


def judgement_requests(responses: pd.DataFrame, judgement: str) -> pd.DataFrame:
    """The requests of a judgement, one row a response that there is; nothing sent yet.

    Parameters
    ----------
    responses
        ``question`` and ``response``; responses that are missing are not asked about.
    judgement
        ``"refusal"`` or ``"detection"``.

    Raises
    ------
    InputError
        Unknown judgement, or a missing column.
    """
    require_columns(responses, ("question", "response"), "a judgement")
    if judgement not in JUDGES:
        raise InputError(f"a judgement needs one of {', '.join(JUDGES)}; got {judgement!r}; choose one")
    template = JUDGES[judgement][0]
    there = responses[responses["response"].map(lambda text: isinstance(text, str))]
    rows = zip(there["question"], there["response"], strict=True)
    rendered = [render_judgement(question, response, template) for question, response in rows]
    return pd.DataFrame(
        {"messages": rendered, "template": template.id, "parameters": [PARAMETERS] * len(rendered)}, index=there.index
    )


def judge_responses(responses: pd.DataFrame, judgement: str, *, model: str, **options: Any) -> pd.DataFrame:
    """Responses with a model's judgement beside them.

    Parameters
    ----------
    responses, judgement
        See `judgement_requests`.
    model
        The judge's name, as the endpoint knows it.
    **options
        Arguments for `ragnb.complete_structured`: ``base_url``, ``store``, ...

    Returns
    -------
    DataFrame
        The responses and ``judged_refusal`` or ``judged_detection`` (1.0 yes, 0.0 no, nan where there is no verdict),
        ``judge_reason`` (why there is none), ``judge_keys`` (of the requests behind the verdict).
    """
    requests = judgement_requests(responses, judgement)
    _, schema, yes = JUDGES[judgement]
    judged = complete_structured(requests, schema, model=model, **options)
    judged.index = requests.index
    verdicts = judged["record"].map(lambda record: nan if record is None else float(record["verdict"] == yes))
    keys = [
        [key for key in pair if isinstance(key, str)]
        for pair in zip(judged["request_key"], judged["repair_request_key"], strict=True)
    ]
    added = pd.DataFrame(
        {f"judged_{judgement}": verdicts, "judge_reason": judged["reason"], "judge_keys": keys}, index=judged.index
    )
    return responses.join(added)
