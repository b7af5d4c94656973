"""RGB's experiments on any OpenAI-compatible endpoint: examples, prompts and a model become a frame of responses."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ragnb.datasets.contexts import build_contexts
from ragnb.llm.client import complete
from ragnb.prompts.rgb import render, template_for
from ragnb.prompts.template import Template

NOISE_RATES = (0.0, 0.2, 0.4, 0.6, 0.8)
PARAMETERS = {"temperature": 0.0, "max_tokens": 64, "seed": 0}


def noise_robustness_requests(
    examples: pd.DataFrame,
    *,
    noise_rates: Sequence[float] = NOISE_RATES,
    passage_num: int = 5,
    order: str = "per_item",
    seed: int = 0,
    prompt: str | Template = "answer",
    parameters: Mapping[str, Any] = PARAMETERS,
) -> pd.DataFrame:
    """The requests of RGB's noise robustness experiment: one row an example and noise rate, nothing sent yet.

    Parameters
    ----------
    examples
        As `ragnb.load_rgb` returns them.
    noise_rates, passage_num, order, seed
        See `ragnb.build_contexts`.
    prompt
        ``"answer"`` (how to refuse is explained, as in the benchmark), ``"plain"`` (the question only),
        ``"few_shot"`` (examples and a text to continue, for base models), or a `Template`.
    parameters
        Sampling parameters, sent as they are.

    Returns
    -------
    DataFrame
        The contexts' columns and ``messages`` (or ``prompt``), ``template, parameters``.
    """
    contexts = build_contexts(examples, noise_rate=noise_rates, passage_num=passage_num, order=order, seed=seed)
    templates = [template_for(prompt, language) for language in contexts["language"]]
    rows = zip(contexts["question"], contexts["passages"], templates, strict=True)
    rendered = [render(question, passages, template) for question, passages, template in rows]
    completion = bool(templates) and templates[0].kind == "completion"
    stop = {"stop": ["\n"]} if completion else {}  # a base model goes on with a question of its own
    return contexts.assign(
        **{"prompt" if completion else "messages": rendered},
        template=[template.id for template in templates],
        parameters=[{**stop, **parameters} for _ in templates],
    )


def run_noise_robustness(
    examples: pd.DataFrame,
    *,
    model: str,
    system: str | None = None,
    requests: Mapping[str, Any] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Ask a model RGB's questions at rising noise rates; return its responses, ready for `ragnb.score`.

    Parameters
    ----------
    examples
        As `ragnb.load_rgb` returns them.
    model
        Model name, as the endpoint knows it.
    system
        Name of this system in tables and figures; by default the model's.
    requests
        Arguments for `noise_robustness_requests`, such as ``{"prompt": "plain"}``.
    **options
        Arguments for `ragnb.complete`: ``base_url``, ``store``, ``max_concurrency``, ...
    """
    asked = noise_robustness_requests(examples, **(requests or {}))
    return complete(asked, model=model, **options).assign(system=system or model)
