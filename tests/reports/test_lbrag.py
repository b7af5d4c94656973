"""LBRAG's summary lines and metrics.json to the byte, and ranks that the data do or do not separate."""

import json
import math
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import ragnb
from ragnb.errors import InputError
from ragnb.reports import (
    load_metrics_json,
    overview,
    rank_systems,
    summary_lines,
    write_metrics_json,
)
from ragnb.reports.lbrag import SEVEN_METRICS

# The four lines that the overview of the seven metrics prints.
PUBLISHED_LINES = """\
direct   | EM=0.100±0.302 | F1=0.218±0.322 | RLC=0.921±0.188 | Cost=0.0±0.0 | CNBE=0.00000±0.00000 | Sem=0.350±0.444
multi    | EM=0.000±0.000 | F1=0.263±0.301 | RLC=0.772±0.316 | Cost=0.0±0.0 | CNBE=0.00000±0.00000 | Sem=0.680±0.407
cross    | EM=0.000±0.000 | F1=0.271±0.321 | RLC=0.765±0.313 | Cost=306.3±75.4 | CNBE=0.00017±0.00087 | Sem=0.680±0.407
lbrag    | EM=0.000±0.000 | F1=0.289±0.341 | RLC=0.759±0.317 | Cost=29.8±18.2 | CNBE=0.00237±0.01157 | Sem=0.700±0.422"""

# The metrics.json that the overview prints, byte by byte.
PUBLISHED_FILE = """\
{
  "metrics": {
    "lbrag": {
      "em": 0.0,
      "em_std": 0.0,
      "f1": 0.289,
      "f1_std": 0.341,
      "rlc": 0.759,
      "rlc_std": 0.317,
      "rlc_ok": 0.8,
      "rlc_ok_std": 0.4,
      "cost": 29.8,
      "cost_std": 18.2,
      "cnbe": 0.00237,
      "cnbe_std": 0.01157,
      "semantic_score": 0.7,
      "semantic_score_std": 0.422,
      "n": 10.0
    }
  }
}
"""
NUMBERS = {  # of the printed lines: mean and standard deviation, in the order of SEVEN_METRICS without RLC_OK
    "direct": [0.1, 0.302, 0.218, 0.322, 0.921, 0.188, 0.0, 0.0, 0.0, 0.0, 0.35, 0.444],
    "multi": [0.0, 0.0, 0.263, 0.301, 0.772, 0.316, 0.0, 0.0, 0.0, 0.0, 0.68, 0.407],
    "cross": [0.0, 0.0, 0.271, 0.321, 0.765, 0.313, 306.3, 75.4, 0.00017, 0.00087, 0.68, 0.407],
    "lbrag": [0.0, 0.0, 0.289, 0.341, 0.759, 0.317, 29.8, 18.2, 0.00237, 0.01157, 0.7, 0.422],
}


def published_table():
    metrics = [published.metric for published in SEVEN_METRICS if published.key != "rlc_ok"]
    rows = [
        {"system": system, "metric": metric, "mean": mean, "std": std, "n": 100}
        for system, numbers in NUMBERS.items()
        for metric, mean, std in zip(metrics, numbers[::2], numbers[1::2], strict=True)
    ]
    return pd.DataFrame(rows)


def test_summary_lines_are_those_of_the_overview():
    assert "\n".join(summary_lines(published_table())) == PUBLISHED_LINES


def test_metrics_json_is_read_and_written_byte_by_byte(tmp_path):
    file = tmp_path / "metrics.json"
    file.write_text(PUBLISHED_FILE, encoding="utf-8")
    table = load_metrics_json(file)
    assert table["n"].tolist() == [10] * 7
    assert table.set_index("metric")["std"]["language.rlc_ok"] == 0.4
    copy = write_metrics_json(table, tmp_path / "new folder" / "copy.json")
    assert copy.read_bytes() == PUBLISHED_FILE.encode()


def test_a_missing_value_is_null_in_the_file_and_a_dash_in_the_line(tmp_path):
    table = published_table().query("system == 'cross' and metric == 'answer.f1'")
    content = json.loads(write_metrics_json(table, tmp_path / "m.json").read_text("utf-8"))
    entry = content["metrics"]["cross"]
    assert (entry["em"], entry["f1"], entry["n"]) == (None, 0.271, 100.0)
    assert summary_lines(table)[0].startswith("cross    | EM=– | F1=0.271±0.321 | RLC=– | Cost=–")


def test_a_system_may_have_a_number_as_its_name(tmp_path):
    table = published_table().query("system == 'cross'").assign(system=7)
    systems = json.loads(write_metrics_json(table, tmp_path / "m.json").read_text("utf-8"))[
        "metrics"
    ]
    assert (list(systems), systems["7"]["f1"], systems["7"]["n"]) == (["7"], 0.271, 100.0)


def test_an_unknown_number_of_responses_is_null_and_is_read_again(tmp_path):
    file = tmp_path / "metrics.json"
    file.write_text('{"cross": {"f1": 0.271}}', encoding="utf-8")
    table = load_metrics_json(file)
    copy = write_metrics_json(table, tmp_path / "copy.json")
    assert '"n": null' in copy.read_text("utf-8")
    pd.testing.assert_frame_equal(load_metrics_json(copy).dropna(), table.dropna())


def test_the_file_of_a_run_with_its_details_and_without_the_wrapper_is_read(tmp_path):
    systems = json.loads(PUBLISHED_FILE)["metrics"]
    details = {"run_id": "20251214_2145", "baseline_f1": 0.1, "metrics": systems}
    for number, content in enumerate([details, systems]):
        file = tmp_path / f"{number}.json"
        file.write_text("\ufeff" + json.dumps(content), encoding="utf-8")
        assert load_metrics_json(file)["system"].unique().tolist() == ["lbrag"]


@pytest.mark.parametrize("load", [ragnb.load_responses, ragnb.load_scores])
def test_other_functions_say_how_metrics_json_is_loaded(load, tmp_path):
    file = tmp_path / "metrics.json"
    file.write_text(PUBLISHED_FILE, encoding="utf-8")
    with pytest.raises(InputError, match=r"load it with ragnb\.load_metrics_json$"):
        load(file)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1, 2]", "must contain an object per system"),
        ('{"metrics": {}}', "must contain an object per system"),
        ('{"lbrag": 3}', "'lbrag' must be an object with at least one of em, f1"),
        ('{"lbrag": {"f1": "0.3"}}', "f1 of 'lbrag' must be a number, got '0.3'"),
        ('{"lbrag": ', "must be a JSON object"),
        ("[" * 100_000, "must be a JSON object"),
    ],
)
def test_other_files_are_refused_in_a_sentence(tmp_path, content, message):
    file = tmp_path / "metrics.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_metrics_json(file)


def test_missing_file_and_other_ending_are_refused(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        load_metrics_json(tmp_path / "none.json")
    with pytest.raises(InputError, match=r"must end in \.json"):
        write_metrics_json(published_table(), tmp_path / "metrics.csv")


def test_the_overview_has_mean_and_deviation_of_all_seven_in_text_and_latex():
    table = overview(published_table())
    assert table.loc["cross", "Cost"] == "306.3 ± 75.4"
    assert table.loc["lbrag", "CNBE"] == "0.00237 ± 0.01157"
    assert table.columns.tolist() == ["EM", "F1", "RLC", "RLC_OK", "Cost", "CNBE", "Sem"]
    latex = ragnb.to_latex(table)
    assert "0.00237 ± 0.01157" in latex
    assert latex.count(r"\\") == 5


# ---- ranks -------------------------------------------------------------------------------------


def scores_of(values, metric="answer.f1"):
    rows = [
        {"example_id": f"q{place}", "system": system, "metric": metric, "value": value}
        for system, numbers in values.items()
        for place, value in enumerate(numbers)
    ]
    return pd.DataFrame(rows).assign(signature=f"ragnb:0|metric:{metric}", reason=None)


def test_clear_ranks_have_no_range_and_equal_systems_share_it():
    rng = np.random.default_rng(0)
    base = rng.uniform(0.3, 0.6, 40)
    values = {"low": base - 0.2, "high": base + 0.3, "twin": base + rng.normal(0, 0.001, 40)}
    values["middle"] = base
    ranking = rank_systems(scores_of(values), {"accuracy": "answer.f1"})
    cells = dict(zip(ranking.table["system"], ranking.table["accuracy"], strict=True))
    assert cells["high"] == "1"
    assert cells["low"] == "4"
    assert {cells["twin"][1:], cells["middle"][1:]} == {" (2–3)"}
    details = ranking.details.set_index("system")
    assert details.loc["twin", "not_separated_from"] == "middle"
    assert ranking.table["system"].iloc[0] == "high"


def test_lower_is_better_where_the_metric_says_so_and_missing_values_give_no_rank():
    costs = {
        "cheap": [10.0, 12.0, 11.0] * 8,
        "dear": [90.0, 95.0, 99.0] * 8,
        "unknown": [math.nan] * 24,
    }
    ranking = rank_systems(
        scores_of(costs, "cost.translation_tokens"), {"cost": "cost.translation_tokens"}
    )
    assert dict(zip(ranking.table["system"], ranking.table["cost"], strict=True)) == {
        "cheap": "1",
        "dear": "2",
        "unknown": "–",
    }


@pytest.mark.parametrize("order", list(permutations("abc")))
def test_the_order_of_the_systems_does_not_matter(order):
    values = {"a": [0.1, 0.2] * 15, "b": [0.5, 0.7] * 15, "c": [0.5, 0.8] * 15}
    ranking = rank_systems(scores_of({name: values[name] for name in order}), {"x": "answer.f1"})
    assert ranking.table.to_numpy().tolist() == [["c", "1"], ["b", "2"], ["a", "3"]]


def test_a_metric_that_was_not_scored_is_named():
    with pytest.raises(InputError, match="'efficiency' needs scores of cost.cnbe, got answer.f1"):
        rank_systems(scores_of({"a": [1.0, 0.0], "b": [0.0, 1.0]}), {"efficiency": "cost.cnbe"})


def test_one_system_alone_has_rank_1():
    ranking = rank_systems(scores_of({"only": [0.5, 0.4]}), {"accuracy": "answer.f1"})
    assert ranking.table["accuracy"].tolist() == ["1"]
