import json

import pytest

from ragnb.datasets.benchmarks import SYSTEMS, load_evouna
from ragnb.scoring import compare, score, summarize


def record(question="who?", **changes):
    judged = {f"answer_{name}": f"It is {name}." for name in SYSTEMS}
    judged |= {f"judge_{name}": name != "fid" for name in SYSTEMS}
    whole = {"question": question, "golden_answer": "Ada Lovelace/Lovelace", "improper": False}
    return whole | judged | changes


def written(tmp_path, content):
    path = tmp_path / "NQ.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_each_question_gives_a_row_a_system_with_the_persons_verdict(tmp_path):
    records = [record(), record("where?", judge_gpt4=None, improper=True)]
    frame = load_evouna(written(tmp_path, records))
    assert frame["system"].tolist() == [*SYSTEMS] * 2
    assert frame["references"][0] == [["Ada Lovelace", "Lovelace"]]
    assert frame["verdict"].tolist()[:5] == [False, True, True, True, True]
    assert frame["verdict"][8] is None
    assert frame["improper"].sum() == 5
    scores = score(frame, "annotator.verdict")
    assert scores["value"].isna().sum() == 1
    means = summarize(scores, by="system").set_index("system")["mean"]
    assert means.to_dict() == {"fid": 0.0} | dict.fromkeys(SYSTEMS[1:], 1.0)


@pytest.mark.data
def test_the_real_file_compares_all_ten_pairs_clustered_and_unclustered(data_folder):
    frame = load_evouna(data_folder / "evouna" / "NQ.json")
    proper = frame[~frame["improper"]]
    scores = score(proper, "annotator.verdict")
    assert scores["value"].notna().sum() == 15_099
    gold = proper.drop_duplicates("example_id").set_index("example_id")["references"].map(str)
    named = scores.assign(gold=scores["example_id"].map(gold))
    tests = {"McNemar mid-p": None, "cluster-robust t-test": "gold"}
    for test, cluster in tests.items():
        rows = compare(named, cluster=cluster, unpaired="drop")
        assert len(rows) == 10
        assert set(rows["family_size"]) == {10}
        assert set(rows["test"]) == {test}
        (open_pair,) = rows[rows["p_adjusted"] > 0.05].to_dict("records")
        assert (open_pair["system"], open_pair["baseline"]) == ("newbing", "gpt4")
        assert open_pair["p_adjusted"] == pytest.approx(0.157, abs=0.005)
