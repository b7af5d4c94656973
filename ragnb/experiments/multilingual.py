"""Four ways to answer questions over passages in other languages, on any OpenAI-compatible endpoint.

``direct`` gets no passages; ``multi`` gets the retrieved passages, each in its own language; ``cross`` gets all of them
translated into the question's language; ``lbrag`` translates those with the best score per token, within a budget.

    contexts -> run_multilingual (translates, then asks) -> responses
"""

from collections.abc import Mapping
from math import inf
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.experiments.requests import one_budget, with_requests
from ragnb.experiments.retrieval import require_examples
from ragnb.forwarding import passes_options_to
from ragnb.llm.budget import count_tokens
from ragnb.llm.client import complete
from ragnb.llm.tally import one_report
from ragnb.passages import passage_column
from ragnb.prompts.multilingual import (
    answer_prompt,
    translation_prompt,
)
from ragnb.replies import EMPTY_REPLY

MULTILINGUAL_SYSTEMS = ("direct", "multi", "cross", "lbrag")
PARAMETERS = {"temperature": 0.0, "max_tokens": 32, "seed": 0}
TRANSLATION_PARAMETERS = {"temperature": 0.0, "max_tokens": 96, "seed": 0}
TRANSLATED = ("passages", "translations", "translation_keys")
BUDGET_TOKENS = 60
"""Tokens that ``lbrag`` may spend on one question, as estimated from the passages: one or two of the sample's."""


# ---- translation ---------------------------------------------------------------------------------


def _chosen(row: Mapping[str, Any], system: str, budget_tokens: float) -> list[int]:
    """Places of the passages that a system translates, in the order of their choice.

    ``cross`` takes every foreign passage. ``lbrag`` takes them by score per estimated token, as long as they fit into the
    budget; tokens are estimated from the passage before anything is asked. The others take none, and nobody a blank one.
    """
    passages, scores = row["passages"], row["passage_scores"]
    languages = enumerate(row["passage_languages"])
    foreign = [place for place, language in languages if language != row["language"]]
    there = [place for place in foreign if passages[place].strip()]
    if system != "lbrag":
        return there if system == "cross" else []
    if not all(0 <= scores[place] < inf for place in there):
        # Below 0, more tokens would make a better score per token.
        raise InputError(f"passage_scores must be finite and at least 0, got {scores!r:.60}")
    costs = {place: count_tokens(passages[place]) for place in there}
    chosen, left = [], budget_tokens
    for place in sorted(there, key=lambda place: -scores[place] / costs[place]):
        if costs[place] <= left:
            chosen.append(place)
            left -= costs[place]
    return chosen


def _translation_requests(
    contexts: pd.DataFrame,
    system: str,
    prompt: str,
    budget_tokens: float,
    parameters: Mapping[str, Any],
) -> pd.DataFrame:
    """Requests for a system's translations, one row per question and chosen passage.

    The same passage into the same language is the same request, and asked once.
    """
    rows, prompts = [], []
    for row in contexts.to_dict("records"):
        for place in _chosen(row, system, budget_tokens):
            passage, pair = (
                row["passages"][place],
                (row["passage_languages"][place], row["language"]),
            )
            rows.append((row["example_id"], place, passage, *pair))
            prompts.append(translation_prompt(passage, *pair, prompt))
    columns = ["example_id", "place", "original", "source", "language"]
    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    return with_requests(frame, prompts, parameters)


# ---- the four systems ----------------------------------------------------------------------------


@one_report()
@accepts(system=MULTILINGUAL_SYSTEMS, budget_tokens="count")
@passes_options_to(complete)
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
        Missing columns, a row that is no example, an unknown system or prompt, a language that the prompt cannot be asked
        in, or, under ``lbrag``, a budget or a score that is not a finite number of at least 0.
    """
    require_examples(contexts, "passage_languages", "passage_scores")
    texts_of_rows = passage_column(contexts, "contexts")
    contexts = contexts.assign(passages=pd.Series(texts_of_rows, contexts.index, dtype=object))
    options = one_budget(options)
    replies = _translation_requests(contexts, system, prompt, budget_tokens, translation_parameters)
    if len(replies):
        replies = complete(replies, model=model, **{**options, "repeats": 1})
    replies_of_example = {}
    for example, rows in replies.groupby("example_id"):
        replies_of_example[example] = rows.to_dict("records")
    cells = []
    for row in contexts.to_dict("records"):
        replies_of_row = replies_of_example.get(row["example_id"], [])
        translations = [_translation(reply) for reply in replies_of_row]
        texts = {}
        for translation in translations:
            # A passage whose translation failed stays in its own language.
            if translation["text"] is not None:
                texts[translation["place"]] = translation["text"]
        passages = [texts.get(place, text) for place, text in enumerate(row["passages"])]
        keys = [reply["request_key"] for reply in replies_of_row]
        cells.append((passages, translations, keys))
    added = pd.DataFrame(cells, contexts.index, TRANSLATED, dtype=object)
    frame = contexts.assign(**added)
    if system == "direct":
        nothing = pd.Series([[] for _ in contexts.index], contexts.index)
        of_passages = ("passages", "passage_ids", "passage_languages", "passage_scores")
        frame = frame.assign(**dict.fromkeys(of_passages, nothing))
    rows = zip(frame["question"], frame["passages"], frame["language"], strict=True)
    prompts = [answer_prompt(*row, prompt) for row in rows]
    requests = with_requests(frame, prompts, parameters)
    return complete(requests, model=model, **options).assign(system=system)


def _translation(row: Mapping[str, Any]) -> dict[str, Any]:
    text = (row["response"] or "").strip() or None
    counted = row["completion_tokens"]
    estimate = count_tokens(text) if text else None
    translation = {"text": text, "token_count": estimate if pd.isna(counted) else int(counted)}
    if not text:
        translation["reason"] = row["reason"] or EMPTY_REPLY
    for name in ("source", "language", "original", "place"):
        translation[name] = row[name]
    return translation
