"""Four ways to answer questions over passages in other languages, on any OpenAI-compatible endpoint.

``direct`` gets no passages; ``multi`` gets the passages retrieved, each in its own language; ``cross`` gets them all
translated into the question's language; ``lbrag`` has the best of them per token translated, under a budget.

    contexts -> run_multilingual (translates, then asks) -> responses
"""

from collections.abc import Mapping, Sequence
from math import inf, nan
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from ragnb.errors import InputError, check_choice
from ragnb.experiments.retrieval import require_examples
from ragnb.llm.budget import count_tokens
from ragnb.llm.client import EMPTY, complete, one_report
from ragnb.metrics.answer import exact_match
from ragnb.metrics.language import language_identified
from ragnb.prompts.multilingual import (
    answer_template,
    render_answer,
    render_translation,
    translation_template,
)
from ragnb.records import require_columns

SYSTEMS = ("direct", "multi", "cross", "lbrag")
PARAMETERS = {"temperature": 0.0, "max_tokens": 32, "seed": 0}
TRANSLATION_PARAMETERS = {"temperature": 0.0, "max_tokens": 96, "seed": 0}
BUDGET_TOKENS = 60
"""Tokens that ``lbrag`` may spend on one question, as estimated from the passages: one or two of the sample's."""


# ---- translation -------------------------------------------------------------------------------------------------------


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
    _check_lbrag([scores[place] for place in there], budget_tokens)
    costs = {place: count_tokens(passages[place]) for place in there}
    chosen, left = [], budget_tokens
    for place in sorted(there, key=lambda place: -scores[place] / costs[place]):
        if costs[place] <= left:
            chosen.append(place)
            left -= costs[place]
    return chosen


def _check_lbrag(scores: Sequence[Any], budget_tokens: Any) -> None:
    if not (isinstance(budget_tokens, Real) and float(budget_tokens) >= 0):
        raise InputError(
            f"lbrag needs a number from 0 up in budget_tokens; got {budget_tokens!r}; 0 translates nothing"
        )
    wrong = [score for score in scores if not (isinstance(score, Real) and 0 <= float(score) < inf)]
    if wrong:  # below 0, more tokens would make a better score per token
        raise InputError(
            f"lbrag needs finite passage_scores from 0 up; got {wrong[0]!r}; add as much to all of them"
        )


def translation_requests(
    contexts: pd.DataFrame,
    system: str,
    *,
    prompt: str = "chat",
    budget_tokens: int = BUDGET_TOKENS,
    parameters: Mapping[str, Any] = TRANSLATION_PARAMETERS,
) -> pd.DataFrame:
    """The translations that a system asks for: one row a question and passage chosen; nothing sent yet.

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
    check_choice(system, SYSTEMS, "system")
    require_examples(contexts, "passage_languages", "passage_scores")
    rows = []
    for row in contexts.to_dict("records"):
        foreign = [language != row["language"] for language in row["passage_languages"]]
        for place in passages_to_translate(
            system, row["passages"], row["passage_scores"], foreign, budget_tokens
        ):
            original, source = row["passages"][place], row["passage_languages"][place]
            told = {
                "example_id": row["example_id"],
                "place": place,
                "original": original,
                "source": source,
            }
            rows.append(told | {"language": row["language"]})
    kind = "prompt" if prompt == "few_shot" else "messages"
    asked = [(row["original"], row["source"], row["language"]) for row in rows]
    frame = pd.DataFrame(
        rows, columns=["example_id", "place", "original", "source", "language"], dtype=object
    )
    return frame.assign(
        **{kind: _objects([render_translation(*each, prompt) for each in asked], frame.index)},
        template=[translation_template(*each[1:], prompt).id for each in asked],
        parameters=[_parameters(parameters, prompt)] * len(asked),
    )


def translations_table(responses: pd.DataFrame) -> pd.DataFrame:
    """Each distinct translation behind some responses, and whether it is one.

    Parameters
    ----------
    responses
        As `run_multilingual` returns them, of one system or several.

    Returns
    -------
    DataFrame
        ``source, language, original, text, token_count, copied`` (1.0 where the text equals its original once both are
        normalised) and ``in_language`` (0.0 where an identifier that may choose between the two languages takes the text for
        the source's). nan where there is no text, or none with letters, or a language that the identifier does not know.
    """
    require_columns(responses, ("translations",), "translations_table")
    lists = [
        each for each in responses["translations"] if isinstance(each, list | tuple | np.ndarray)
    ]
    names = ["source", "language", "original", "text", "token_count"]
    rows = [[each.get(name) for name in names] for translations in lists for each in translations]
    frame = pd.DataFrame(rows, columns=names, dtype=object)  # so that None stays None
    frame = frame.drop_duplicates(names[:4], ignore_index=True)
    said = frame[names[:4]].to_numpy()
    return frame.assign(
        token_count=pd.to_numeric(frame["token_count"]),
        copied=np.array(
            [exact_match(text, original) for _, _, original, text in said], dtype=float
        ),
        in_language=np.array(
            [_in_language(text, here, there) for here, there, _, text in said], dtype=float
        ),
    )


def _in_language(text: str | None, source: str, language: str) -> float:
    try:
        return language_identified(text, language, candidates=[source])
    except InputError:
        return nan


# ---- the four systems --------------------------------------------------------------------------------------------------


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
    """Answers of one system: what it translates is translated by the same endpoint, then the questions are asked.

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
        What ``lbrag`` may spend on translating for one question.
    parameters, translation_parameters
        Sampling parameters of answers and of translations, sent as they are.
    **options
        Arguments for `ragnb.complete`: ``base_url``, ``store``, ... ``budget_usd`` is shared out evenly over translations
        and answers; ``repeats`` are for the answers: a translation is asked for once.

    Returns
    -------
    DataFrame
        One row a context, ready for `ragnb.multilingual_report`: the context's columns, ``system``, the passages as shown,
        ``translations`` (of each translated passage ``text, token_count`` as the endpoint counted the reply, ``source,
        language, original, place``) with ``translation_keys``, and `complete`'s columns. A passage whose translation did not
        come, or came empty, is shown as it is, and its translation has the text None and the reason; what was spent on an
        empty one counts.

    Raises
    ------
    InputError
        See `translation_requests`.
    """
    asked = translation_requests(
        contexts,
        system,
        prompt=prompt,
        budget_tokens=budget_tokens,
        parameters=translation_parameters,
    )
    if len(asked) and options.get("budget_usd") is not None:
        options["budget_usd"] /= 2
    done = complete(asked, model=model, **{**options, "repeats": 1}) if len(asked) else asked
    shown = (
        _with_translations(contexts, done) if system != "direct" else _without_passages(contexts)
    )
    requests = _answer_requests(shown, prompt, parameters)
    return complete(requests, model=model, **options).assign(system=system)


def _with_translations(contexts: pd.DataFrame, done: pd.DataFrame) -> pd.DataFrame:
    made: dict[str, list[dict[str, Any]]] = {example: [] for example in contexts["example_id"]}
    keys: dict[str, list[str]] = {example: [] for example in contexts["example_id"]}
    for row in done.to_dict("records"):
        made[row["example_id"]].append(_translation(row))
        keys[row["example_id"]].append(row["request_key"])
    shown = [
        _replaced(passages, made[example])
        for example, passages in zip(contexts["example_id"], contexts["passages"], strict=True)
    ]
    return contexts.assign(
        passages=shown, translations=list(made.values()), translation_keys=list(keys.values())
    )


def _translation(row: Mapping[str, Any]) -> dict[str, Any]:
    text = (row["response"] or "").strip() or None
    counted = row["completion_tokens"]
    estimate = count_tokens(text) if text else None
    made = {"text": text, "token_count": estimate if pd.isna(counted) else int(counted)}
    why = {} if text else {"reason": row["reason"] or EMPTY}
    return made | why | {name: row[name] for name in ("source", "language", "original", "place")}


def _replaced(passages: Sequence[str], translations: Sequence[Mapping[str, Any]]) -> list[str]:
    texts = {each["place"]: each["text"] for each in translations if each["text"] is not None}
    return [texts.get(place, passage) for place, passage in enumerate(passages)]


def _without_passages(contexts: pd.DataFrame) -> pd.DataFrame:
    nothing: dict[str, list[list[Any]]] = {
        name: [[] for _ in range(len(contexts))]
        for name in (
            "passages",
            "passage_ids",
            "passage_languages",
            "passage_scores",
            "translations",
            "translation_keys",
        )
    }
    return contexts.assign(**nothing)


def _answer_requests(
    shown: pd.DataFrame, prompt: str, parameters: Mapping[str, Any]
) -> pd.DataFrame:
    rows = list(zip(shown["question"], shown["passages"], shown["language"], strict=True))
    kind = "prompt" if prompt == "few_shot" else "messages"
    return shown.drop(columns=["messages", "prompt"], errors="ignore").assign(
        **{kind: _objects([render_answer(*row, prompt) for row in rows], shown.index)},
        template=[
            answer_template(language, prompt, closed_book=not passages).id
            for _, passages, language in rows
        ],
        parameters=[_parameters(parameters, prompt)] * len(rows),
    )


def _objects(values: list[Any], index: pd.Index) -> pd.Series:
    """A column of values as they are: pandas' own texts hold no lone surrogates."""
    return pd.Series(values, index=index, dtype=object)


def _parameters(parameters: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    stop = (
        {"stop": ["\n"]} if prompt == "few_shot" else {}
    )  # a base model goes on with a question of its own
    return {**stop, **parameters}
