"""The longer signature: arms that differ never share it."""

import pandas as pd
import pytest

import ragnb
from ragnb.columns import CONDITION
from ragnb.experiments import recorded_responses
from ragnb.scoring import experiment_signature

EXAMPLES = ragnb.load_rgb("sample-en").head(3)


@pytest.mark.parametrize("name", ["rgb_noise", "rgb_counterfactual"])
def test_every_arm_of_a_recording_has_a_signature_of_its_own(name):
    responses = recorded_responses(name)
    conditions = [column for column in (*CONDITION, "template") if column in responses]
    signatures = experiment_signature(responses)
    assert signatures.nunique() == len(responses[conditions].drop_duplicates())
    assert (
        signatures.groupby([responses[column] for column in conditions], dropna=False).nunique()
        == 1
    ).all()
    assert signatures.str.startswith(f"data:{responses.attrs['source']['name']}|").all()


def test_arms_that_differ_in_order_share_the_definition_and_not_the_experiment():
    arms = [
        ragnb.build_contexts(EXAMPLES, noise_rate=0.8, order=order).assign(
            system="tiny", response="Oslo"
        )
        for order in ("per_item", "released")
    ]
    responses = pd.concat(arms, ignore_index=True)
    assert ragnb.score(responses, "rgb.accuracy")["signature"].nunique() == 1
    per_item, released = experiment_signature(responses).unique()
    assert per_item.replace("order:per_item", "order:released") == released


def test_other_data_is_in_it_and_parameters_have_one_order(tmp_path):
    responses = pd.DataFrame(
        {"system": ["a", "a|b"], "parameters": [{"b": 1, "a": 0.5}, {"a": 0.5, "b": 1}]}
    )
    responses.attrs["source"] = {"name": "mine.jsonl", "git_sha1": "0123456789abcdef"}
    assert experiment_signature(responses).tolist() == [
        "data:mine.jsonl@01234567|system:a|parameters:a=0.5, b=1",
        "data:mine.jsonl@01234567|system:a\\u007cb|parameters:a=0.5, b=1",
    ]
