"""A model as judicator: it is asked about the items on which an ensemble abstains, and each item is paid for once."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ragnb.ensemble.ensemble import BatchJudicator
from ragnb.errors import InputError, check_choice
from ragnb.experiments.judges import JUDGEMENTS, judge_responses
from ragnb.llm.store import Store
from ragnb.records import require_columns

DECISIVE = ("correctness", "bare_correctness", "similarity")
"""Judgements that decide whether a response is right."""


class ModelJudicator(BatchJudicator):
    """A model that decides about items by their index labels; made by `model_judicator`."""

    function: "_Model"

    @property
    def judgements(self) -> pd.DataFrame:
        """What was asked so far, one row an item, under its index label, in the order of asking.

        ``verdict`` (True, False or None), the value it comes from (``judged_correct`` or ``judged_similarity``),
        ``judge_reason`` (why there is no verdict, else None), ``judge_explanation`` where one is asked for, and
        ``judge_keys`` (the replies in the store).
        """
        return self.function.judgements()


def model_judicator(
    responses: pd.DataFrame,
    judgement: str = "correctness",
    *,
    model: str,
    threshold: float = 0.5,
    **options: Any,
) -> ModelJudicator:
    """Make a judicator that asks a model about deferred items. Nothing is sent before the judicator is called.

    Parameters
    ----------
    responses
        ``question``, ``references`` and ``response``, under the index labels that the ensemble's features have.
    judgement
        ``"correctness"``, ``"bare_correctness"`` (no explanation asked for) or ``"similarity"`` to the references.
    model
        The judge's name, as the endpoint knows it.
    threshold
        A verdict is True from this value on; of use for ``"similarity"`` alone, as correctness is 0 or 1.
    **options
        Arguments for `ragnb.experiments.judges.judge_responses`: ``base_url``, ``store``, ``budget_usd``, ``offline``, ...
        The budget is for each time it is asked. A stored reply is never paid for again; with ``store=":memory:"`` replies
        live as long as the judicator.

    Returns
    -------
    ModelJudicator
        A `BatchJudicator`: True or False for each label it is asked about, None where the model gave no verdict that can be
        read or could not be asked. ``.judgements`` holds all that was asked, with the reasons.

    Raises
    ------
    InputError
        Missing columns, index labels that are not unique, an unknown judgement, a threshold outside (0, 1]; when asked, a
        label that the responses do not have, and whatever `judge_responses` refuses.

    Examples
    --------
    >>> judicator = model_judicator(responses, model="gpt-4o", store="replies.sqlite", budget_usd=2)    # doctest: +SKIP
    >>> y_hat, y_set = ensemble.predict(X, judicator)                                                   # doctest: +SKIP
    >>> judicator.judgements["judge_reason"].value_counts()                                             # doctest: +SKIP
    """
    check_choice(judgement, DECISIVE, "judgement")
    fields = list(JUDGEMENTS[judgement].template.fields)
    require_columns(responses, fields, "a model judicator")
    if not responses.index.is_unique:
        twice = responses.index[responses.index.duplicated()]
        raise InputError(
            f"a model judicator needs one response an index label; got {len(twice)} more, such as of {twice.tolist()[0]!r}; "
            "number the rows"
        )
    if not 0 < threshold <= 1:
        raise InputError(
            f"threshold needs a number above 0 and up to 1; it got {threshold!r}; 0.5 is usual"
        )
    if options.get("store") == ":memory:":
        options["store"] = Store(":memory:")
    places = {label: place for place, label in enumerate(responses.index)}
    return ModelJudicator(_Model(responses[fields], places, judgement, model, threshold, options))


@dataclass(slots=True, repr=False)
class _Model:
    """The model as a function of index labels; ``rows`` holds what came of each item that it was asked about."""

    responses: pd.DataFrame
    places: dict[Hashable, int]
    judgement: str
    model: str
    threshold: float
    options: dict[str, Any]
    rows: dict[int, dict[str, Any]] = field(default_factory=dict)

    def __call__(self, labels: list[Any]) -> list[bool | None]:
        places = self._found(labels)
        asked = list(dict.fromkeys(places))
        judged = judge_responses(
            self.responses.iloc[asked], self.judgement, model=self.model, **self.options
        )
        for place, row in zip(asked, judged.to_dict("records"), strict=True):
            self.rows[place] = row | {"verdict": self._verdict(row)}
        return [self.rows[place]["verdict"] for place in places]

    def __repr__(self) -> str:
        return (
            f"<{self.judgement} by {self.model}: {len(self.rows)} of {len(self.responses)} asked>"
        )

    def judgements(self) -> pd.DataFrame:
        """See `ModelJudicator.judgements`."""
        value, *said = JUDGEMENTS[self.judgement].columns
        index = self.responses.index[list(self.rows)]
        found = pd.DataFrame(
            list(self.rows.values()), columns=["verdict", value, *said], index=index, dtype=object
        )
        return found.astype({value: float})

    def _verdict(self, row: dict[str, Any]) -> bool | None:
        return (
            None
            if row["judge_reason"]
            else bool(row[JUDGEMENTS[self.judgement].column] >= self.threshold)
        )

    def _found(self, labels: list[Any]) -> list[int]:
        unknown = [label for label in labels if label not in self.places]
        if unknown:
            raise InputError(
                f"a model judicator needs index labels of its responses; got {len(unknown)} others, such as {unknown[0]!r}; "
                "give the responses the index of the frame that is predicted"
            )
        return [self.places[label] for label in labels]
