"""Four ways to answer questions over passages in other languages, on any OpenAI-compatible endpoint.

``direct`` gets no passages; ``multi`` gets the passages retrieved, each in its own language; ``cross`` gets them all
translated into the question's language; ``lbrag`` has the best of them per token translated, under a budget.

    contexts -> run_multilingual (translates, then asks) -> responses
"""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.experiments.asking import one_budget, with_requests
from ragnb.experiments.retrieval import require_examples
from ragnb.llm.budget import count_tokens
from ragnb.llm.client import EMPTY, complete, one_report
from ragnb.prompts.multilingual import (
    answer_template,
    render_answer,
    render_translation,
    translation_template,
)

SYSTEMS = ("direct", "multi", "cross", "lbrag")
PARAMETERS = {"temperature": 0.0, "max_tokens": 32, "seed": 0}
TRANSLATION_PARAMETERS = {"temperature": 0.0, "max_tokens": 96, "seed": 0}
TRANSLATED = ("passages", "translations", "translation_keys")
OF_PASSAGES = ("passage_ids", "passage_languages", "passage_scores")
BUDGET_TOKENS = 60
"""Tokens that ``lbrag`` may spend on one question, as estimated from the passages: one or two of the sample's."""


# ---- translation ---------------------------------------------------------------------------------


@accepts(system=SYSTEMS)
def passages_to_translate(
    system: str,
    passages: Sequence[str],
    scores: Sequence[float],
    foreign: Sequence[bool],
    budget_tokens: int,
) -> list[int]:
    """Places of the passages that a system translates, in the order of their choice.

    ``cross`` takes every foreign passage. ``lbrag`` takes them by score per estimated token, as long as they fit into the
    budget; tokens are estimated from the passage before anything is asked. The others take none, and nobody a blank one.

    Raises
    ------
    InputError
        Under ``lbrag``, a budget that is no number from 0 up, or a score that is no finite one.

    >>> passages_to_translate("lbrag", ["a long long passage", "short"], [0.9, 0.8], [True, True], 4)
    [1]
    """
    there = [place for place, other in enumerate(foreign) if other and passages[place].strip()]
    if system != "lbrag":
        return there if system == "cross" else []
    wrong = [
        scores[place] for place in there if not (isfinite(scores[place]) and scores[place] >= 0)
    ]
    if wrong or not budget_tokens >= 0:  # below 0, more tokens would make a better score per token
        raise InputError(
            "budget_tokens and all passage_scores must be finite and at least 0, got "
            f"budget_tokens={budget_tokens!r}{f' and the scores {wrong}' if wrong else ''}"
        )
    costs = {place: count_tokens(passages[place]) for place in there}
    chosen, left = [], budget_tokens
    for place in sorted(there, key=lambda place: -scores[place] / costs[place]):
        if costs[place] <= left:
            chosen.append(place)
            left -= costs[place]
    return chosen


@accepts(system=SYSTEMS)
def translation_requests(
    contexts: pd.DataFrame,
    system: str,
    *,
    prompt: str = "chat",
    budget_tokens: int = BUDGET_TOKENS,
    parameters: Mapping[str, Any] = TRANSLATION_PARAMETERS,
) -> pd.DataFrame:
    """Build the requests for a system's translations, one row per question and chosen passage. Nothing is sent.

    Returns
    -------
    DataFrame
        ``example_id, place`` (of the passage), ``original, source, language`` and the request: ``messages`` (or ``prompt``),
        ``template, parameters``. The same passage into the same language is the same request, and asked once.

    Raises
    ------
    InputError
        Missing columns, a row that is no example, an unknown system or prompt, a language that the prompt cannot be asked
        in, or what `passages_to_translate` refuses.
    """
    require_examples(contexts, "passage_languages", "passage_scores")
    rows, rendered, templates = [], [], []
    for row in contexts.to_dict("records"):
        passages, languages, wanted = row["passages"], row["passage_languages"], row["language"]
        foreign = [language != wanted for language in languages]
        for place in passages_to_translate(
            system, passages, row["passage_scores"], foreign, budget_tokens
        ):
            pair = languages[place], wanted
            rows.append((row["example_id"], place, passages[place], *pair))
            rendered.append(render_translation(passages[place], *pair, prompt))
            templates.append(translation_template(*pair, prompt))
    columns = ["example_id", "place", "original", "source", "language"]
    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    return with_requests(frame, rendered, templates, parameters)


# ---- the four systems ----------------------------------------------------------------------------


@one_report()
def run_multilingual(
    contexts: pd.DataFrame,
    system: str,
    *,
    model: str,
    prompt: str = "chat",
    budget_tokens: int = BUDGET_TOKENS,
    parameters: Mapping[str, Any] = PARAMETERS,
    translation_parameters: Mapping[str, Any] = TRANSLATION_PARAMETERS,
    **options: Any,
) -> pd.DataFrame:
    """Run one system: translate passages if it does so, then answer the questions with the same endpoint.

    Parameters
    ----------
    contexts
        As `multilingual_contexts` returns them.
    system
        ``"direct"``, ``"multi"``, ``"cross"`` or ``"lbrag"``.
    model
        Model name, as the endpoint knows it.
    prompt
        ``"chat"`` (instructions) or ``"few_shot"`` (examples and a text to continue, for base models).
    budget_tokens
        Number of tokens that ``lbrag`` may spend on translations per question.
    parameters, translation_parameters
        Sampling parameters of answers and of translations, sent as they are.
    **options
        Arguments for `ragnb.complete`: ``base_url``, ``store``, ... ``budget_usd`` is for translations
        and answers together; ``repeats`` are for the answers: a translation is asked for once.

    Returns
    -------
    DataFrame
        One row per context, ready for `ragnb.multilingual_report`: the context's columns, ``system``, the passages as shown,
        ``translations`` (of each translated passage ``text, token_count`` as the endpoint counted the reply, ``source,
        language, original, place``) with ``translation_keys``, and `complete`'s columns. A passage whose translation did not
        come, or came empty, is shown as it is, and its translation has the text None and the reason; what was spent on an
        empty one counts.

    Raises
    ------
    InputError
        See `translation_requests`.
    """
    options = one_budget(options)
    asked = translation_requests(
        contexts,
        system,
        prompt=prompt,
        budget_tokens=budget_tokens,
        parameters=translation_parameters,
    )
    done = complete(asked, model=model, **{**options, "repeats": 1}) if len(asked) else asked
    made = {example: rows.to_dict("records") for example, rows in done.groupby("example_id")}
    shown = [
        _shown(row, made.get(row["example_id"], []), with_passages=system != "direct")
        for row in contexts.to_dict("records")
    ]
    added = TRANSLATED if system != "direct" else (*TRANSLATED, *OF_PASSAGES)
    frame = contexts.assign(**pd.DataFrame(shown, columns=added, index=contexts.index))
    rows = list(zip(frame["question"], frame["passages"], frame["language"], strict=True))
    templates = [
        answer_template(language, prompt, closed_book=not passages)
        for _, passages, language in rows
    ]
    rendered = [render_answer(*row, prompt) for row in rows]
    requests = with_requests(frame, rendered, templates, parameters)
    return complete(requests, model=model, **options).assign(system=system)


def _shown(
    row: Mapping[str, Any], done: list[dict[str, Any]], *, with_passages: bool
) -> dict[str, list[Any]]:
    """The passages of one question as they are shown, and the translations behind them."""
    if not with_passages:
        return {name: [] for name in (*TRANSLATED, *OF_PASSAGES)}
    translations = [_translation(each) for each in done]
    texts = {each["place"]: each["text"] for each in translations if each["text"] is not None}
    return {
        "passages": [texts.get(place, text) for place, text in enumerate(row["passages"])],
        "translations": translations,
        "translation_keys": [each["request_key"] for each in done],
    }


def _translation(row: Mapping[str, Any]) -> dict[str, Any]:
    text = (row["response"] or "").strip() or None
    counted = row["completion_tokens"]
    estimate = count_tokens(text) if text else None
    made = {"text": text, "token_count": estimate if pd.isna(counted) else int(counted)}
    why = {} if text else {"reason": row["reason"] or EMPTY}
    return made | why | {name: row[name] for name in ("source", "language", "original", "place")}
