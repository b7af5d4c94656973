"""Numbers of notebook 11, computed from the study by hand."""

import re

import numpy as np
import pytest
from support.by_hand import contains
from support.printed import printed

import ragnb


def test_the_net_benefit_at_a_price():
    """Accepted answers minus a thousandth of the words, by system."""
    study = ragnb.load_study("evouna-nq", usable=True)
    shown = printed("11", "net-benefit")
    for system, rows in study.groupby("system"):
        accepted = np.mean([float(verdict) for verdict in rows["verdict"]])
        words = np.mean([len(response.split()) for response in rows["response"]])
        numbers = f"{accepted:.3f} {words:.3f} {accepted - words / 1000:.3f}"
        assert f"{system} {numbers}" in shown
    accepted, net = (
        dict(re.findall(rf"(GPT-4|New Bing) {columns}", shown))
        for columns in (r"(\d\.\d+)", r"\d\.\d+ \d+\.\d+ (\d\.\d+)")
    )
    assert float(accepted["New Bing"]) > float(accepted["GPT-4"])
    assert float(net["New Bing"]) < float(net["GPT-4"])


def test_refusals_of_questions_with_and_without_an_answer():
    """`Mistral` refuses more than half of the questions that have an answer."""
    nomiracl = ragnb.load_study("nomiracl").query("language == 'en'")
    of_mistral = nomiracl[nomiracl["system"] == "Mistral-7B-Instruct-v0.2"]
    refused = of_mistral[of_mistral["answerable"] == 1]["response"].str.strip()
    says_unknown = refused.str.lower().str.startswith(("i don't know", "i don’t know"))
    assert says_unknown.mean() > 0.5
    over_refusal = float(printed("11", "refusals").split("Mistral-7B-Instruct-v0.2")[1].split()[3])
    assert over_refusal == pytest.approx(says_unknown.mean(), abs=0.02)


def test_containment_against_people():
    study = ragnb.load_study("evouna-nq", usable=True)
    pairs = zip(study["response"], study["references"], strict=True)
    has = np.array([contains(response, parts) for response, parts in pairs], bool)
    right = study["verdict"].astype(bool).to_numpy()
    shown = printed("11", "judge")
    assert f"sensitivity {has[right].mean():.2f} [" in shown
    assert f"specificity {1 - has[~right].mean():.4f} [" in shown
    assert re.search(rf"sensitivity [^s]+\] {right.sum()} ", shown)
    assert re.search(rf"specificity [^s]+\] {(~right).sum()} ", shown)
