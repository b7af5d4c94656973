"""Run RGB's four abilities on an OpenAI-compatible endpoint and collect the responses in a frame."""

from collections.abc import Mapping, Sequence
from functools import partial
from inspect import signature
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import require_columns
from ragnb.datasets.rgb_contexts import build_contexts
from ragnb.errors import InputError
from ragnb.experiments.requests import one_budget, question_requests
from ragnb.forwarding import passes_options_to
from ragnb.llm.client import complete
from ragnb.llm.tally import one_report
from ragnb.prompts.template import Template

PARAMETERS = {"temperature": 0.0, "max_tokens": 64, "seed": 0}
CLOSED_BOOK = {"answer": "closed_book", "plain": "closed_book", "few_shot": "few_shot_closed_book"}
"""Prompt with passages -> the corresponding prompt without passages."""

ABILITIES = {
    "noise_robustness": ("noise", (0.0, 0.2, 0.4, 0.6, 0.8)),
    "negative_rejection": ("noise", (1.0,)),
    "information_integration": ("integration", (0.0, 0.2, 0.4)),
    "counterfactual_robustness": ("counterfactual", (0.0,)),
}
"""Ability -> the kind of questions that it is measured on, and the noise rates of the benchmark."""


@accepts(ability=tuple(ABILITIES))
def rgb_requests(
    examples: pd.DataFrame,
    ability: str = "noise_robustness",
    *,
    noise_rates: Sequence[float] | None = None,
    passage_num: int = 5,
    correct_rate: float = 0.0,
    order: str = "per_item",
    seed: int = 0,
    prompt: str | Template = "answer",
    parameters: Mapping[str, Any] = PARAMETERS,
) -> pd.DataFrame:
    """Build the requests of one RGB experiment, one row per example and noise rate. Nothing is sent.

    Parameters
    ----------
    examples
        As `ragnb.load_rgb` returns them, of the kind that the ability needs.
    ability
        ``"noise_robustness"``, ``"negative_rejection"``, ``"information_integration"`` or ``"counterfactual_robustness"``.
    noise_rates
        By default the benchmark's own for this ability.
    passage_num
        Number of passages for each question.
    correct_rate
        Share of the passages without a false answer that state the true one, for counterfactual
        robustness; see `ragnb.build_contexts`.
    order, seed
        How the passages are shuffled, see `ragnb.build_contexts`.
    prompt
        ``"answer"`` (how to refuse is explained, as in the benchmark), ``"plain"`` (the question only),
        ``"few_shot"`` (examples and a text to continue, for base models), or a `Template`.
    parameters
        Sampling parameters, sent as they are.

    Returns
    -------
    DataFrame
        The contexts' columns and ``messages`` (or ``prompt``), ``template, parameters``.

    Raises
    ------
    InputError
        Unknown ability, or examples of another kind.
    """
    task, rates_of_benchmark = ABILITIES[ability]
    require_columns(examples, ("task",), f"the ability {ability}")
    other_tasks = sorted(set(examples["task"]) - {task})
    if other_tasks:
        raise InputError(
            f"{ability} needs examples of the task {task!r}, got {', '.join(other_tasks)}; load "
            "another file"
        )
    contexts = build_contexts(
        examples,
        noise_rate=rates_of_benchmark if noise_rates is None else noise_rates,
        passage_num=passage_num,
        correct_rate=correct_rate,
        order=order,
        seed=seed,
    )
    return question_requests(contexts, prompt=prompt, parameters=parameters)


@accepts()
@passes_options_to(rgb_requests, complete)
def run_rgb(
    examples: pd.DataFrame,
    ability: str = "noise_robustness",
    *,
    model: str,
    system: str | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Ask a model the questions of one RGB ability; return its responses, ready for `ragnb.score`.

    Parameters
    ----------
    examples
        As `ragnb.load_rgb` returns them.
    ability
        See `rgb_requests`.
    model
        Model name, as the endpoint knows it.
    system
        Name of this system in tables and figures; by default the model's.
    **options
        Arguments for `rgb_requests` and `ragnb.complete`.

    Raises
    ------
    InputError
        See `rgb_requests` and `ragnb.complete`.
    """
    # The other options are those of `complete`.
    names = [name for name in signature(rgb_requests).parameters if name in options]
    options_of_requests = {name: options.pop(name) for name in names}
    requests = rgb_requests(examples, ability, **options_of_requests)
    return complete(requests, model=model, **options).assign(system=system or model)


@accepts()
@passes_options_to(run_rgb)
def run_noise_robustness(examples: pd.DataFrame, *, model: str, **options: Any) -> pd.DataFrame:
    """Ask a model questions whose answer is in some of the passages, at rising noise rates.

    The noise rate is the share of passages without the answer. The result is ready for `ragnb.score`
    and `ragnb.rgb_report`.

    Parameters
    ----------
    examples
        Questions of the task ``"noise"``, as `ragnb.load_rgb` returns them.
    model
        Model name, as the endpoint knows it.
    """
    return run_rgb(examples, "noise_robustness", model=model, **options)


@accepts()
@passes_options_to(run_rgb)
def run_negative_rejection(examples: pd.DataFrame, *, model: str, **options: Any) -> pd.DataFrame:
    """Ask a model questions whose answer is in no passage, to test whether it refuses.

    Parameters
    ----------
    examples
        Questions of the task ``"noise"``, as `ragnb.load_rgb` returns them.
    model
        Model name, as the endpoint knows it.
    """
    return run_rgb(examples, "negative_rejection", model=model, **options)


@accepts()
@passes_options_to(run_rgb)
def run_information_integration(
    examples: pd.DataFrame, *, model: str, **options: Any
) -> pd.DataFrame:
    """Ask a model questions whose answer has several parts, each in different passages.

    Parameters
    ----------
    examples
        Questions of the task ``"integration"``, as `ragnb.load_rgb` returns them.
    model
        Model name, as the endpoint knows it.
    """
    return run_rgb(examples, "information_integration", model=model, **options)


@one_report()
@accepts()
@passes_options_to(run_rgb)
def run_counterfactual_robustness(
    examples: pd.DataFrame, *, model: str, **options: Any
) -> pd.DataFrame:
    """Ask a model questions over passages that contain a false answer, and once without passages.

    The rows without passages have ``passage_num`` 0. The benchmark admits only models whose accuracy
    without passages is above 70 %, because a model that does not know an answer cannot notice that
    the passages contain a false one. `ragnb.rgb_report` shows that accuracy and leaves the decision
    to you. A budget is for both parts together.

    Parameters
    ----------
    examples
        Questions of the task ``"counterfactual"``, as `ragnb.load_rgb` returns them.
    model
        Model name, as the endpoint knows it.
    """
    options = one_budget(options)
    prompt = options.get("prompt", "answer")
    # A template of your own is used for both parts.
    closed_book_prompt = CLOSED_BOOK.get(prompt, prompt) if isinstance(prompt, str) else prompt
    without_passages = {
        "passage_num": 0,
        "noise_rates": (0.0,),
        "correct_rate": 0.0,
        "prompt": closed_book_prompt,
    }
    run_ability = partial(run_rgb, examples, "counterfactual_robustness", model=model)
    with_passages = run_ability(**options)
    closed_book = run_ability(**{**options, **without_passages})
    return pd.concat([with_passages, closed_book], ignore_index=True)
