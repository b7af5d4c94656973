"""Numbers of notebook 11, computed from the study by hand."""

import numpy as np
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


def test_containment_against_people():
    study = ragnb.load_study("evouna-nq", usable=True)
    pairs = zip(study["response"], study["references"], strict=True)
    has = np.array([contains(response, parts) for response, parts in pairs], bool)
    right = study["verdict"].astype(bool).to_numpy()
    shown = printed("11", "judge")
    assert f"sensitivity {has[right].mean():.2f} [" in shown
    assert f"specificity {1 - has[~right].mean():.4f} [" in shown
