"""A model as judicator, which decides the items on which an ensemble abstains."""

from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.ensemble.ensemble import BatchJudicator
from ragnb.errors import InputError
from ragnb.experiments.judges import JUDGEMENTS, judge_responses
from ragnb.llm.store import Store
from ragnb.prompts.judges import NEWEST
from ragnb.records import require_columns


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
        A verdict is True from this value on; of use for ``"similarity"`` alone, as correctness is 0 or 1.
    prompt_version
        Version of the prompt, as for `ragnb.experiments.judges.judgement_requests`. The replies of the recording
        ``"judged_evouna"`` are stored under version 1.
    **options
        Arguments for `ragnb.experiments.judges.judge_responses`: ``base_url``, ``store``, ``budget_usd``, ``offline``, ...
        The budget is for each time it is asked. A stored reply is never paid for again; with ``store=":memory:"`` replies
        live as long as the judicator.

    Returns
    -------
    BatchJudicator
        True or False for each label it is asked about, None where the model gave no verdict that can be read or could not be
        asked. `judge_responses` with the same store gives the reasons, and sends nothing again.

    Raises
    ------
    InputError
        Missing columns, index labels that are not unique, or an unknown judgement; when asked, a label that the responses
        do not have, and whatever `judge_responses` refuses.

    Examples
    --------
    >>> judicator = model_judicator(responses, model="gpt-4o", store="replies.sqlite", budget_usd=2)    # doctest: +SKIP
    >>> y_hat, y_set = ensemble.predict(X, judicator)                                                   # doctest: +SKIP
    """
    asked = JUDGEMENTS[judgement]
    options["prompt_version"] = prompt_version
    fields = list(asked.template.fields)
    require_columns(responses, fields, "a model judicator")
    if not responses.index.is_unique:
        raise InputError(
            "a model judicator needs responses with unique index labels; use reset_index"
        )
    if options.get("store") == ":memory:":
        options["store"] = Store(":memory:")

    def ask(labels: list[Any]) -> list[bool | None]:
        unknown = [label for label in labels if label not in responses.index]
        if unknown:
            raise InputError(
                f"the judicator has no response for {len(unknown)} of the rows, such as {unknown[0]!r}; "
                "the responses need the same index as the frame that you pass to predict"
            )
        items = responses.loc[list(dict.fromkeys(labels)), fields]
        values = judge_responses(items, judgement, model=model, **options)[asked.column]
        found = [values[label] for label in labels]
        return [None if pd.isna(value) else bool(value >= threshold) for value in found]

    return BatchJudicator(ask)
