"""Files of released code, shared tasks and other libraries, and the messages about broken ones."""

import json
from pathlib import Path

import pandas as pd
import pytest

import ragnb
from ragnb.datasets import (
    load_responses,
    load_run,
    read_table,
    write_qrels,
    write_run,
    write_table,
)
from ragnb.datasets.reading import read_frame
from ragnb.errors import InputError

MADE = Path(__file__).parent / "made_by"


def written(path, content):
    path.write_text(
        content if isinstance(content, str) else json.dumps(content, ensure_ascii=False), "utf-8"
    )
    return path


def rows(*records):
    return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)


# ---- RGB ---------------------------------------------------------------------------------------


def rgb_name(dataset="en", model="chatgpt", noise=0.0, passages=5, correct=0.0, end=""):
    return f"prediction_{dataset}_{model}_temp0.7_noise{noise}_passage{passages}_correct{correct}{end}.json"


def rgb_row(number, prediction="It is Oslo.", **keys):
    row = {"id": number, "query": f"What is capital {number}?", "ans": ["Oslo"], "label": [1]}
    row |= {"prediction": prediction, "docs": ["Oslo."], "noise_rate": 0.0, "factlabel": 0}
    return row | keys


def test_rgb_files_of_one_model_are_one_system_with_several_conditions(tmp_path):
    for noise, answer in ((0.0, "Oslo"), (0.8, "Bergen")):
        for model in ("chatgpt", "Qwen-7B_Chat"):
            content = rows(*(rgb_row(n, answer, noise_rate=noise) for n in range(3)))
            written(tmp_path / rgb_name("en_refine", model, noise), content)
    frame = load_responses(str(tmp_path / "prediction_*.json"))
    assert len(frame) == 12
    assert frame["example_id"].unique().tolist() == [f"en_refine/{n}" for n in range(3)]
    assert set(frame["task"]) == {"noise"}
    summary = ragnb.summarize(ragnb.score(frame, "rgb.accuracy"))
    means = summary.set_index(["system", "noise_rate"])["mean"].to_dict()
    models = ("chatgpt", "Qwen-7B_Chat")
    assert means == {(model, noise): noise == 0 for model in models for noise in (0.0, 0.8)}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (rgb_name("zh_int", "moss-moon", 0.4), ("moss-moon", "zh", "integration", 0.4, 5, 0.0)),
        (rgb_name("en_fact", "a_b", 0.2, 10, 0.4), ("a_b", "en", "counterfactual", 0.2, 10, 0.4)),
        (rgb_name("zh", "c", 1.0, 0), ("c", "zh", "noise", 1.0, 0, 0.0)),
    ],
)
def test_the_name_of_an_rgb_file_states_the_condition(tmp_path, name, expected):
    frame = load_responses(written(tmp_path / name, rows(rgb_row(1))))
    columns = ["system", "language", "task", "noise_rate", "passage_num", "correct_rate"]
    assert tuple(frame.iloc[0][columns]) == expected
    assert frame["temperature"].tolist() == [0.7]


def test_rejections_that_chatgpt_judged_are_the_judged_rejections(tmp_path):
    judged = [
        "No, the question is not addressed by the documents.",
        "Yes, the question is addressed.",
    ]
    content = rows(*(rgb_row(n, evaluation=text) for n, text in enumerate(judged)))
    frame = load_responses(written(tmp_path / rgb_name(noise=1.0, end="_chatgpt"), content))
    assert frame["judged_refusal"].tolist() == [1, 0]


@pytest.mark.data
def test_rgb_predictions_have_the_ids_of_the_examples(tmp_path, data_folder):
    """As evalue.py writes them for the published questions."""
    source = (data_folder / "rgb/en_fact.json").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in source if line]
    content = rows(*(rgb_row(one["id"], query=one["query"], ans=one["answer"]) for one in records))
    frame = load_responses(written(tmp_path / rgb_name("en_fact"), content))
    examples = ragnb.load_rgb(data_folder / "rgb/en_fact.json")
    assert frame["example_id"].tolist() == examples["example_id"].tolist()
    assert frame["references"].tolist() == examples["references"].tolist()


# ---- LBRAG -------------------------------------------------------------------------------------


def test_the_report_of_an_lbrag_run_has_its_own_semantic_score(tmp_path):
    record = {
        "sample_id": "q1", "sample_lang": "de", "system": "lbrag", "question": "Wie hoch ist der Berg?",
        "gold_answer": "4429 m", "pred_answer": "4429 Meter", "translate_tokens": 20.0,
    }  # fmt: skip
    run = [record | {"semantic_score": 0.9}, record | {"sample_id": "q2", "semantic_score": 0.4}]
    baseline = [one | {"system": "direct", "translate_tokens": 0.0} for one in run]
    frame = load_responses(written(tmp_path / "run_answers.jsonl", rows(*run, *baseline)))
    report = ragnb.multilingual_report(frame)
    judged = report.table.query("metric == 'semantic.judged_similarity'")
    assert judged["mean"].tolist() == [0.65, 0.65]
    assert ragnb.score(frame, "cost.translation_tokens")["value"].tolist() == [20, 20, 0, 0]
    (signature,) = set(ragnb.score(frame, "semantic.judged_similarity")["signature"])
    assert "judge:semantic_score of the LBRAG run" in signature


# ---- SQuAD and KILT ----------------------------------------------------------------------------


def squad(*questions):
    asked = [
        {"id": name, "question": text, "answers": [{"text": one} for one in gold]}
        for name, text, gold in questions
    ]
    return {"data": [{"title": "t", "paragraphs": [{"context": "c", "qas": asked}]}]}


def test_squad_predictions_are_joined_with_the_questions_of_the_data_set(tmp_path):
    gold = squad(
        ("b", "What is the capital of Norway?", ["Oslo", "the city of Oslo", "Oslo"]),
        ("a", "When was it founded?", ["1048"]),
        ("c", "Who founded it?", ["Harald"]),
    )
    predictions = written(tmp_path / "bert.json", {"a": "1048.", "b": "city of Oslo"})
    frame = load_responses(predictions, examples=written(tmp_path / "dev.json", gold))
    assert frame["example_id"].tolist() == ["b", "a", "c"]
    assert frame["response"].tolist() == ["city of Oslo", "1048.", None]
    assert frame["references"].tolist()[0] == [["Oslo", "the city of Oslo"]]
    assert frame["reason"].tolist() == [None, None, "no response in the file"]
    assert frame["passages"].tolist() == [["c"]] * 3
    assert set(frame["system"]) == {"bert"}
    values = ragnb.score(frame, "answer.f1")["value"].tolist()
    assert values[:2] == [pytest.approx(6 / 7), 1]


@pytest.mark.data
def test_the_questions_of_xquad_load_as_examples(tmp_path, data_folder):
    file = data_folder / "xquad/xquad.de.json"
    paragraphs = [
        p for one in json.loads(file.read_text("utf-8"))["data"] for p in one["paragraphs"]
    ]
    gold = {item["id"]: item["answers"][0]["text"] for p in paragraphs for item in p["qas"]}
    frame = load_responses(written(tmp_path / "gold.json", gold), examples=file)
    assert len(frame) == 1190
    assert set(frame["language"]) == {"de"}
    assert ragnb.score(frame, "answer.exact_match")["value"].eq(1).all()


def test_kilt_predictions_have_answers_and_pages(tmp_path):
    page = {"wikipedia_id": "7", "title": "Dune"}
    guess = {"id": 1, "input": "Who wrote the novel?", "output": [
        {"answer": "Herbert", "provenance": [{"wikipedia_id": "55"}, {"wikipedia_id": "7"}]}]}  # fmt: skip
    gold = guess | {
        "output": [{"answer": "F. Herbert", "provenance": [page]}, {"answer": "Herbert"}]
    }
    frame = load_responses(
        written(tmp_path / "guess.jsonl", rows(guess)),
        examples=written(tmp_path / "gold.jsonl", rows(gold)),
    )
    assert "(format='kilt')" in frame.attrs["read_as"]
    (row,) = frame.to_dict("records")
    assert row["references"] == [["F. Herbert", "Herbert"]]
    assert (row["response"], row["retrieved"], row["relevant"]) == ("Herbert", ["55", "7"], ["7"])


# ---- other libraries ---------------------------------------------------------------------------


def test_a_folder_of_save_to_disk_and_its_arrow_files_load():
    expected = json.loads((MADE / "rows.json").read_text("utf-8"))
    frame = load_responses(MADE / "hf_splits/test")
    for name in ("question", "passages", "response"):
        assert frame[name].tolist() == [row[name] for row in expected]
    assert frame["language"].tolist() == ["en", "zh", "en"]
    shards = sorted((MADE / "hf_splits/test").glob("*.arrow"))
    assert [len(read_frame(shard)) for shard in shards] == [2, 1]


def test_a_workbook_of_excel_loads_or_names_the_library_that_is_missing():
    expected = json.loads((MADE / "rows.json").read_text("utf-8"))
    try:
        import openpyxl  # noqa: F401
    except ImportError:
        with pytest.raises(
            InputError, match="table.xlsx is an Excel file; .* `pip install openpyxl`"
        ):
            load_responses(MADE / "table.xlsx")
        pytest.skip("openpyxl is not installed")
    frame = load_responses(MADE / "table.xlsx")
    assert frame["response"].tolist() == [row["response"] for row in expected]


# ---- one column per system ---------------------------------------------------------------------

WIDE = """question,gold,baseline,ours
What is the capital of Norway?,Oslo,It is Bergen.,Oslo
When was the union dissolved?,1905,In 1905.,I think 1905
"""


def test_a_table_with_one_column_per_system_compares_them(tmp_path, capsys):
    frame = load_responses(written(tmp_path / "w.csv", WIDE))
    assert "one column per system" in capsys.readouterr().err
    found = ragnb.score(frame, "answer.contains").groupby("system")["value"].mean()
    assert found.to_dict() == {"baseline": 0.5, "ours": 1}
    assert ragnb.compare(ragnb.score(frame, "answer.contains"))["n_pairs"].tolist() == [2]


def test_columns_that_may_be_something_else_need_to_be_named(tmp_path):
    content = "\n".join(
        f"{line},{end}" for line, end in zip(WIDE.split("\n"), ["topic", "a", "a"], strict=False)
    )
    file = written(tmp_path / "w.csv", content)
    with pytest.raises(
        InputError, match=r"If each system has its own column, pass systems=\[...\]"
    ):
        load_responses(file)
    frame = load_responses(file, systems=["ours", "baseline"])
    assert frame["system"].tolist() == ["ours", "ours", "baseline", "baseline"]
    assert set(frame["topic"]) == {"a"}


# ---- runs of TREC ------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize("character", "\u2028\u2029\x85\x1c\u00a0\u3000")
def test_an_id_in_a_run_may_contain_white_space_outside_ascii(tmp_path, character):
    """The C library, and with it trec_eval, separates cells at the white space of ASCII only."""
    passage = f"page{character}3"
    (tmp_path / "a.run").write_text(f"q1 Q0 {passage} 1 2.0 bm25\r\n", "utf-8", newline="")
    (tmp_path / "a.qrels").write_text(f"q1\t0\t{passage}\t1\n", "utf-8")
    frame = load_run(tmp_path / "a.run", tmp_path / "a.qrels")
    assert frame["retrieved"].tolist() == [[passage]]
    assert frame["system"].tolist() == ["bm25"]


def test_the_run_of_trec_eval_loads_and_is_written_again(tmp_path, data_folder):
    folder = data_folder / "trec_eval"
    frame = load_run(folder / "results.test", folder / "qrels.test")
    assert frame[["example_id", "system"]].values.tolist() == [
        [q, "STANDARD"] for q in ("301", "302", "303")
    ]
    written_out = [line.split() for line in (folder / "out.test.aq").read_text().splitlines()]
    expected = {(name, topic): value for name, topic, value in written_out}
    names = {"average_precision": "map", "reciprocal_rank": "recip_rank", "r_precision": "Rprec"}
    scores = ragnb.score(frame, [f"retrieval.{name}" for name in names])
    assert len(scores) == 9
    for row in scores.itertuples():
        name = names[row.metric.removeprefix("retrieval.")]
        assert f"{row.value:.4f}" == expected[name, row.example_id]
    write_run(frame, tmp_path / "a.run")
    write_qrels(frame, tmp_path / "a.qrels")
    again = load_run(tmp_path / "a.run", tmp_path / "a.qrels")
    columns = ["example_id", "system", "retrieved", "relevant"]
    pd.testing.assert_frame_equal(again[columns], frame[columns])


def test_questions_of_one_file_only_have_nothing_in_the_other(tmp_path):
    run = written(tmp_path / "r", "q1 Q0 d1 1 2.5 a\nq1 Q0 d3 2 2.5 a\nq2 Q0 d1 1 1 a\n")
    qrels = written(tmp_path / "q", "q1 0 d1 2\nq3 0 d9 1\n")
    frame = load_run(run, qrels, system="bm25").set_index("example_id")
    assert frame.loc["q1", "retrieved"] == ["d3", "d1"]  # equal scores: by decreasing id
    assert frame["retrieved"].tolist() == [["d3", "d1"], ["d1"], None]
    assert frame["relevant"].tolist() == [{"d1": 2}, None, {"d9": 1}]
    assert set(frame["system"]) == {"bm25"}


# ---- broken twins ------------------------------------------------------------------------------


BROKEN = [
    (lambda d: load_responses(written(d / rgb_name(end="_result"), {"all_rate": 0.5, "nums": 2})),
     "_result.json has the rates .* load the file of the same name without _result"),
    (lambda d: load_responses([written(d / f"{n}.jsonl", rows(rgb_row(1, system="a"))) for n in "ab"]),
     "two responses of a to 1; load each file with its own system="),
    (lambda d: load_responses(written(d / "p.json", {"a": "b"})),
     "p.json has responses and ids, but no questions; pass the file of the dataset as examples="),
    (lambda d: load_responses(written(d / "p.json", {"z": "b"}), examples=written(d / "s.json", squad(("a", "Who?", ["b"])))),
     "p.json: 1 of its 1 responses belong to questions that are not in examples=, such as 'z'"),
    (lambda d: load_responses(written(d / "p.json", {"a": "b"}), examples=written(d / "s.csv", "a,b\n1,2\n")),
     "s.csv must be a dataset in the format of SQuAD or KILT, or a table with ids"),
    (lambda d: load_responses(MADE / "hf_splits"),
     "hf_splits' is a folder; name a file inside it: dataset_dict.json, test"),
    (lambda d: load_responses(written(d / "w.csv", WIDE), systems=["baseline", "our"]),
     "systems= names 'our', but the columns of w.csv are question, gold, baseline, ours"),
    (lambda d: load_responses(written(d / "i.json", {"models": [], "metrics": [], "tasks": [], "evaluations": [{"task_id": "t"}]})),
     "i.json has results for the task 't', but not the task itself"),
    (lambda d: load_run(written(d / "r", "q1 0 d1 1\n")),
     "r must have the 6 columns .* a run has 6 columns, and judgements have 4"),
    (lambda d: load_run(written(d / "r", "1 Q0 d1 1 2.5 a\n"), written(d / "q", "q1 0 d1 1\n")),
     "r and q have no question in common: one has '1', the other 'q1'"),
    (lambda d: write_run(pd.DataFrame({"example_id": ["a b"], "system": "s", "retrieved": [["d"]]}), d / "r"),
     "an id in a file of TREC must not contain spaces, got 'a b'"),
]  # fmt: skip


@pytest.mark.parametrize(("broken", "message"), BROKEN)
def test_a_broken_file_gets_one_sentence_with_its_name_and_place(tmp_path, broken, message):
    with pytest.raises(InputError, match=message):
        broken(tmp_path)


def test_the_rows_of_a_question_must_have_the_same_judgements(tmp_path):
    rows = [{"example_id": "q1", "relevant": relevant} for relevant in ({"d1": 1}, None, ["d1"])]
    path = write_qrels(pd.DataFrame(rows), tmp_path / "a.qrels")
    assert path.read_text() == "q1 0 d1 1\n"
    rows.append({"example_id": "q1", "relevant": {"d1": 2}})
    with pytest.raises(InputError, match="the same judgements in all rows of a question.*'q1'"):
        write_qrels(pd.DataFrame(rows), path)


def test_judgements_from_parquet_have_no_grade_for_passages_of_other_questions(tmp_path):
    frame = pd.DataFrame({"example_id": ["q1", "q2"], "relevant": [{"d1": 2}, {"d2": 1}]})
    again = read_table(write_table(frame, tmp_path / "a.parquet"))
    assert again["relevant"][0] == {"d1": 2, "d2": None}
    assert write_qrels(again, tmp_path / "a").read_text() == "q1 0 d1 2\nq2 0 d2 1\n"


def test_responses_from_parquet_are_exported(tmp_path):
    row = {"example_id": "q", "system": "a", "question": "Who?", "response": "Ann"}
    frame = pd.DataFrame([row | {"references": [["Ann", "Anna"], ["Bo"]]}])
    frame.to_parquet(tmp_path / "a.parquet")
    read = pd.read_parquet(tmp_path / "a.parquet")
    file = ragnb.datasets.export_responses(read, tmp_path / "a.jsonl", format="ragas")
    assert json.loads(file.read_text())["reference"] == "Ann; Bo"
