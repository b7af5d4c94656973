"""Ten pairs of five systems on human judgements (EVOUNA, Natural Questions): the whole chain on real data."""

import json
import os
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from ragnb.stats.binary import mcnemar_test, paired_table, tango_interval
from ragnb.stats.intervals import mean_interval
from ragnb.stats.multiplicity import holm
from ragnb.stats.paired import paired_t_test, sign_flip_test

SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")


@pytest.fixture(scope="module")
def judged():
    path = Path(os.environ.get("RAGNB_TEST_DATA", "")) / "evouna" / "NQ.json"
    if not path.is_file():
        pytest.skip("RAGNB_TEST_DATA does not hold evouna/NQ.json")
    rows = [row for row in json.loads(path.read_text(encoding="utf-8")) if not row["improper"]]
    rows = [row for row in rows if all(row[f"judge_{name}"] is not None for name in SYSTEMS)]
    judgements = {
        name: np.array([row[f"judge_{name}"] for row in rows], dtype=bool) for name in SYSTEMS
    }
    return judgements, np.array([row["golden_answer"] for row in rows])


@pytest.mark.data
def test_mcnemar_with_holm_over_ten_pairs(judged) -> None:
    judgements, answers = judged
    pairs = list(combinations(SYSTEMS, 2))
    assert judgements["fid"].size == 3019
    tests = [mcnemar_test(paired_table(judgements[a], judgements[b])) for a, b in pairs]
    clustered = [
        paired_t_test(judgements[a] * 1.0, judgements[b] * 1.0, clusters=answers).p_value
        for a, b in pairs
    ]
    flipped = [
        sign_flip_test(judgements[a] * 1.0, judgements[b] * 1.0, clusters=answers).p_value
        for a, b in pairs
    ]
    plain = dict(zip(pairs, holm([t.p_value for t in tests]).adjusted, strict=True))
    by_answer = dict(zip(pairs, holm(clustered).adjusted, strict=True))
    by_flip = dict(zip(pairs, holm(flipped).adjusted, strict=True))
    for adjusted in (plain, by_answer, by_flip):
        assert [pair for pair in pairs if adjusted[pair] > 0.05] == [("gpt4", "newbing")]
    for a, b in pairs:
        interval = tango_interval(paired_table(judgements[a], judgements[b]))
        robust = mean_interval(judgements[a] * 1.0 - judgements[b], answers)
        assert (interval.low, interval.high) == pytest.approx((robust.low, robust.high), abs=0.002)
