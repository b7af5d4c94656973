"""Signatures of functions that pass their options on to other functions."""

import re
from inspect import Parameter, getdoc, signature

import pytest

import ragnb
from ragnb.experiments import judge_pairs
from ragnb.forwarding import passes_options_to

RUNNING = [
    ragnb.run_rgb,
    ragnb.run_noise_robustness,
    ragnb.run_negative_rejection,
    ragnb.run_information_integration,
    ragnb.run_counterfactual_robustness,
    ragnb.run_multilingual,
    ragnb.judge_responses,
    judge_pairs,
    ragnb.label_parts,
    ragnb.label_trace,
    ragnb.complete_structured,
]


@pytest.mark.parametrize("function", RUNNING)
def test_every_argument_of_a_run_has_a_name_a_default_and_a_description(function):
    parameters = signature(function).parameters
    assert {"model", "base_url", "store", "budget_usd", "prices", "max_concurrency"} <= {
        *parameters
    }
    text = getdoc(function)
    for name, parameter in parameters.items():
        assert parameter.kind is not Parameter.VAR_KEYWORD
        assert re.search(rf"^(\w+, )*{name}(, \w+)*$", text, re.MULTILINE), name
    assert "**options" not in text
    defaults = {name: parameters[name].default for name in ("base_url", "budget_usd", "offline")}
    assert defaults == {"base_url": None, "budget_usd": None, "offline": False}


def test_runs_of_rgb_have_the_arguments_of_the_benchmark():
    parameters = signature(ragnb.run_noise_robustness).parameters
    assert [*parameters][:2] == ["examples", "model"]
    assert {"noise_rates", "passage_num", "prompt", "parameters", "system"} <= {*parameters}
    assert "ability" not in parameters


def test_the_sections_after_the_parameters_stay():
    def send(*, store="a"):
        """Send.

        Parameters
        ----------
        store : str
            File of replies.

        Returns
        -------
        None
        """

    @passes_options_to(send)
    def ask(question, **options):
        """Ask.

        Parameters
        ----------
        question
            What to ask.
        **options
            For `send`.

        Returns
        -------
        str
            The answer.
        """
        return options

    assert ask("?", store="b") == {"store": "b"}
    assert ask.__doc__ == (
        "Ask.\n\nParameters\n----------\nquestion\n    What to ask.\nstore\n    File of replies.\n"
        "\nReturns\n-------\nstr\n    The answer."
    )
