import json

import pytest

from ragnb.datasets import load_evouna
from ragnb.scoring import compare, score


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


@pytest.mark.parametrize(
    ("gold", "references"),
    [
        ("Oslo", [["Oslo"]]),
        ("Oslo / Kristiania", [["Oslo", "Kristiania"]]),
        ("Oslo/", [["Oslo"]]),
        ("/", [["/"]]),
        (None, None),
    ],
)
@pytest.mark.data
def test_a_slash_separates_the_gold_variants_of_the_file(tmp_path, data_folder, gold, references):
    records = json.loads((data_folder / "evouna" / "NQ.json").read_text("utf-8"))
    path = tmp_path / "NQ.json"
    path.write_text(json.dumps([records[0] | {"golden_answer": gold}]), "utf-8")
    assert load_evouna(path)["references"].tolist() == [references] * 5
