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
# Sampling parameters of answers and of translations. A translation is as long as a passage.
PARAMETERS = {"temperature": 0.0, "max_tokens": 32, "seed": 0}
TRANSLATION_PARAMETERS = {"temperature": 0.0, "max_tokens": 96, "seed": 0}
# Columns that the translation adds or replaces.
TRANSLATED = ("passages", "translations", "translation_keys")
BUDGET_TOKENS = 60
"""Tokens that ``lbrag`` may spend on one question. They are enough for one or two passages of the sample."""


# ---- translation ---------------------------------------------------------------------------------


def _chosen(row: Mapping[str, Any], system: str, budget_tokens: float) -> list[int]:
    """Places of the passages that a system translates, in the order of their choice.

    ``cross`` translates every passage in another language than the question. ``lbrag`` translates those with the highest
    score per token, as long as they fit into the budget. Its tokens are estimated from the passages before anything is sent.
    The other systems translate none. A blank passage is never translated.
    """
    passages, scores = row["passages"], row["passage_scores"]
    translatable = []
    for place, language in enumerate(row["passage_languages"]):
        is_foreign = language != row["language"]
        if is_foreign and passages[place].strip():
            translatable.append(place)
    if system == "cross":
        return translatable
    if system != "lbrag":
        return []
    if not all(0 <= scores[place] < inf for place in translatable):
        # Below 0, more tokens would make a better score per token.
        raise InputError(f"passage_scores must be finite and at least 0, got {scores!r:.60}")
    costs = {place: count_tokens(passages[place]) for place in translatable}
    # The passage with the highest score per token comes first.
    best_first = sorted(translatable, key=lambda place: -scores[place] / costs[place])
    affordable = []
    remaining_tokens = budget_tokens
    for place in best_first:
        # A passage that does not fit is skipped, and a cheaper one after it may still fit.
        if costs[place] <= remaining_tokens:
            affordable.append(place)
            remaining_tokens -= costs[place]
    return affordable


def _translation_requests(
    contexts: pd.DataFrame,
    system: str,
    prompt: str,
    budget_tokens: float,
    parameters: Mapping[str, Any],
) -> pd.DataFrame:
    """Requests for a system's translations, one row per question and passage that is translated.

    The columns ``example_id`` and ``place`` contain the question and the place of the passage in it.

    If several questions in one language need the same passage, their requests are equal, and `ragnb.complete` sends one.
    """
    rows, prompts = [], []
    for row in contexts.to_dict("records"):
        language = row["language"]
        for place in _chosen(row, system, budget_tokens):
            passage = row["passages"][place]
            source = row["passage_languages"][place]
            rows.append((row["example_id"], place, passage, source, language))
            prompts.append(translation_prompt(passage, source, language, prompt))
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
    """Run one system: translate passages if the system does so, then answer the questions with the same endpoint.

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
        and answers together. ``repeats`` are for the answers. A translation is requested once.

    Returns
    -------
    DataFrame
        One row per context, ready for `ragnb.multilingual_report`: the context's columns, ``system``, the passages as shown,
        ``translations`` (one mapping per translated passage: ``text``; ``token_count``, the tokens of the reply as the
        endpoint counted them; ``source, language, original, place``) with ``translation_keys``, and the columns of
        `complete`. If a translation failed or is empty, the model is shown the original passage, and the translation has
        None as its text, and a ``reason``. The tokens of an empty translation count.

    Raises
    ------
    InputError
        Missing columns, a row that is no example, an unknown system or prompt, a language for which there is no prompt, or,
        for ``lbrag``, a budget or a score that is not a finite number of at least 0.
    """
    require_examples(contexts, "passage_languages", "passage_scores")
    texts_of_rows = passage_column(contexts, "contexts")
    contexts = contexts.assign(passages=pd.Series(texts_of_rows, contexts.index, dtype=object))
    options = one_budget(options)
    # The requests of the translations, which then get their replies. A system may need none.
    translation_rows = _translation_requests(
        contexts, system, prompt, budget_tokens, translation_parameters
    )
    if len(translation_rows):
        # One translation is enough for all repeats of the answer.
        once = {**options, "repeats": 1}
        translation_rows = complete(translation_rows, model=model, **once)
    replies_of_example = {}
    for example, rows in translation_rows.groupby("example_id"):
        replies_of_example[example] = rows.to_dict("records")
    # For each question: its passages as the model is shown them, its translations, and the keys of their requests.
    cells = []
    for row in contexts.to_dict("records"):
        replies_of_row = replies_of_example.get(row["example_id"], [])
        translations = [_translation(reply) for reply in replies_of_row]
        translated_texts = {}
        for translation in translations:
            # A passage whose translation failed stays in its own language.
            if translation["text"] is not None:
                translated_texts[translation["place"]] = translation["text"]
        passages = [
            translated_texts.get(place, original) for place, original in enumerate(row["passages"])
        ]
        keys = [reply["request_key"] for reply in replies_of_row]
        cells.append((passages, translations, keys))
    added = pd.DataFrame(cells, contexts.index, TRANSLATED, dtype=object)
    frame = contexts.assign(**added)
    if system == "direct":
        # This system is shown no passages.
        empty_lists = pd.Series([[] for _ in contexts.index], contexts.index)
        columns = ("passages", "passage_ids", "passage_languages", "passage_scores")
        frame = frame.assign(**dict.fromkeys(columns, empty_lists))
    rows = zip(frame["question"], frame["passages"], frame["language"], strict=True)
    prompts = []
    for question, passages, language in rows:
        prompts.append(answer_prompt(question, passages, language, prompt))
    requests = with_requests(frame, prompts, parameters)
    return complete(requests, model=model, **options).assign(system=system)


def _translation(reply: Mapping[str, Any]) -> dict[str, Any]:
    """A translation with its number of tokens, or the reason why there is none."""
    text = (reply["response"] or "").strip() or None
    n_tokens: int | None = None
    if not pd.isna(reply["completion_tokens"]):
        n_tokens = int(reply["completion_tokens"])
    elif text:
        # The endpoint did not report the number of tokens, so it is estimated.
        n_tokens = count_tokens(text)
    translation = {"text": text, "token_count": n_tokens}
    if not text:
        translation["reason"] = reply["reason"] or EMPTY_REPLY
    for name in ("source", "language", "original", "place"):
        translation[name] = reply[name]
    return translation
