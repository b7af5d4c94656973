"""Scores that another tool computed: their values, their signature, and what they are compared with."""

import io
import json

import pandas as pd
import pytest

import ragnb
from ragnb.errors import InputError

WIDE = pd.read_csv(
    io.StringIO(
        """example_id,system,question,ragas.faithfulness,ragas.context_precision,ragas.version,ragas.faithfulness.reason
q1,plain,Who?,0.5,1,0.3.2,half of it
q2,plain,Where?,1,0,0.3.2,all
q3,plain,When?,,1,0.3.2,
q1,reranked,Who?,1,1,0.3.2,all
q2,reranked,Where?,1,1,0.3.2,all
q3,reranked,When?,0.25,0,0.3.2,little
"""
    )
)


def test_columns_of_a_tool_become_scores_with_its_name_and_version():
    scores = ragnb.load_scores(WIDE)
    assert scores["metric"].unique().tolist() == ["ragas.faithfulness", "ragas.context_precision"]
    assert scores["signature"].unique().tolist() == [
        "foreign:ragas 0.3.2|faithfulness|definition unknown",
        "foreign:ragas 0.3.2|context_precision|definition unknown",
    ]
    lost = scores[scores["value"].isna()].iloc[0]
    assert (lost["example_id"], lost["reason"]) == ("q3", "no score in the file")
    assert scores["evidence"].iloc[0] == "half of it"
    assert "question" not in scores


def test_the_reason_of_a_missing_score_is_that_of_a_long_table():
    """A column "reason" of a wide table explains a score, and does not say of which metric."""
    wide = pd.DataFrame(
        {
            "example_id": ["q1", "q2"],
            "system": "a",
            "good": [1, None],
            "reason": ["right", "timeout"],
        }
    )
    assert ragnb.load_scores(wide)["reason"].fillna("").tolist() == ["", "no score in the file"]
    long = wide.rename(columns={"good": "value"}).assign(metric="good")
    assert ragnb.load_scores(long)["reason"].fillna("").tolist() == ["", "timeout"]


def test_means_and_differences_are_those_of_the_columns():
    scores = ragnb.load_scores(WIDE)
    means = ragnb.summarize(scores).set_index(["system", "metric"])["mean"]
    for system, rows in WIDE.groupby("system"):
        for metric in ("ragas.faithfulness", "ragas.context_precision"):
            assert means[system, metric] == pytest.approx(rows[metric].mean())
    table = ragnb.compare(scores, baseline="plain", unpaired="drop").set_index("metric")
    assert table.loc["ragas.faithfulness", "difference"] == pytest.approx((0.5 + 0) / 2)
    assert table.loc["ragas.faithfulness", "n_dropped"] == 1
    assert "foreign:ragas 0.3.2" in ragnb.to_latex(table.reset_index())
    assert "foreign:ragas 0.3.2" in ragnb.to_html(ragnb.summarize(scores))


def test_a_wide_file_and_a_long_file_give_the_same_scores(tmp_path):
    wide = WIDE[["example_id", "system"]].assign(
        good=[True, False, True, True, True, False], bleu=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], note="x"
    )
    wide.to_csv(tmp_path / "wide.csv", index=False)
    long = wide.melt(["example_id", "system"], ["good", "bleu"], "metric")
    long.to_csv(tmp_path / "long.csv", index=False)
    both = [ragnb.load_scores(tmp_path / f"{kind}.csv", tool="mine") for kind in ("wide", "long")]
    columns = ["example_id", "system", "metric", "value", "reason", "signature"]
    pd.testing.assert_frame_equal(both[0][columns], both[1][columns])
    assert both[0]["value"].tolist() == [1, 0, 1, 1, 1, 0, *wide["bleu"]]
    assert both[0]["signature"].iloc[0] == "foreign:mine|good|definition unknown"


def test_one_name_does_not_hide_two_definitions():
    ours = pd.DataFrame({"example_id": ["q1", "q2", "q3"], "system": "plain", "language": "en"})
    ours = ours.assign(response=["Oslo", "Oslo", "Rome"], references="Oslo")
    ours = ragnb.score(ours, "answer.f1")
    theirs = WIDE[WIDE["system"] == "reranked"]
    theirs = ragnb.load_scores(theirs, metrics={"answer.f1": "ragas.faithfulness"})
    mixed = pd.concat([ours, theirs])
    with pytest.raises(
        InputError, match=r"got foreign:ragas 0\.3\.2.* and ragnb:.*the same options"
    ):
        ragnb.compare(mixed)
    other = theirs.assign(system="plain", signature=theirs["signature"].str.replace("0.3.2", "0.4"))
    with pytest.raises(InputError, match="one definition of answer.f1"):
        ragnb.compare(pd.concat([other, theirs]))
    # What another tool calls F1 may be per cent: its values are not cut at the bounds of ours.
    assert ragnb.summarize(theirs)["high"].item() > 1
    assert ragnb.summarize(ours)["high"].item() == 1


def test_scores_of_ragnb_in_a_file_keep_their_signatures(tmp_path):
    scores = pd.DataFrame({"example_id": ["q1", "q2"], "system": "plain", "language": "en"})
    scores = ragnb.score(scores.assign(response=["Oslo", None], references="Oslo"), "answer.f1")
    path = ragnb.write_table(scores, tmp_path / "scores.jsonl")
    again = ragnb.load_scores(path)
    assert again["signature"].tolist() == scores["signature"].tolist()
    pd.testing.assert_series_equal(again["reason"], scores["reason"])


@pytest.mark.data
def test_files_that_tools_wrote_have_the_scores_that_these_tools_report(data_folder):
    folder = data_folder / "interop"
    checker = ragnb.load_scores(folder / "ragchecker_outputs.json")
    reported = json.loads((folder / "ragchecker_outputs.json").read_text("utf-8"))["metrics"]
    means = checker.groupby("metric")["value"].mean().mul(100).round(1)
    wanted = {
        f"ragchecker.{name}": mean for part in reported.values() for name, mean in part.items()
    }
    assert means.to_dict() == wanted
    assert not {"response_claims", "passages"} & set(checker)


@pytest.mark.parametrize(
    ("frame", "options", "words"),
    [
        (
            WIDE.drop(columns="example_id"),
            {},
            r"no column named example_id.*columns=\{'example_id'",
        ),
        (
            WIDE[["example_id", "question"]],
            {},
            r"no column of numbers among the columns example_id",
        ),
        (WIDE, {"metrics": ["question"]}, r"question must be numbers, got 'Who\?' for .* q1"),
    ],
)
def test_what_has_no_scores_is_refused(frame, options, words):
    with pytest.raises(InputError, match=words):
        ragnb.load_scores(frame, **options)


def test_the_decimal_mark_of_a_table_of_scores_can_be_named(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("example_id;faithfulness\nq1;1,234\nq2;2,345\n")
    with pytest.raises(InputError, match="pass decimal=',' or decimal='.'"):
        ragnb.load_scores(path)
    assert ragnb.load_scores(path, decimal=",")["value"].tolist() == [1.234, 2.345]
    assert ragnb.load_scores([path], decimal=".")["value"].tolist() == [1234, 2345]
    with pytest.raises(InputError, match="decimal must be one of ',', '.', got ';'"):
        ragnb.load_scores(path, decimal=";")


@pytest.mark.parametrize(
    "text",
    [
        "example_id,f\nq1,0.5\nq2,NA\n",
        "example_id,metric,value\nq1,f,0.5\nq2,f,N/A\n",
        "example_id,f\n q1 ,0.5\nq2 ,\n",
    ],
)
def test_missing_words_and_blanks_around_ids_are_read_as_in_responses(tmp_path, text):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    scores = ragnb.load_scores(path)
    assert scores["example_id"].tolist() == ["q1", "q2"]
    assert scores["value"].fillna(-1).tolist() == [0.5, -1]
    assert scores["reason"].tolist()[1] == "no score in the file"
