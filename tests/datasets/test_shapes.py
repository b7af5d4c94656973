"""Data sets and runs of retrieval in the shapes in which they are published."""

import json

import pytest

import ragnb
from ragnb.datasets import load_evouna, load_examples, load_multilingual, load_responses, load_run
from ragnb.errors import InputError


def written(path, content):
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    path.write_text(text, "utf-8")
    return path


def lines(*records):
    return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)


# ---- TriviaQA --------------------------------------------------------------------------------------


def trivia(number, value, *aliases, **keys):
    answer = {"Aliases": [value, *aliases], "Type": "WikipediaEntity", "Value": value}
    answer["NormalizedAliases"] = [alias.lower() for alias in answer["Aliases"]]
    answer["NormalizedValue"] = value.lower()
    return {
        "Answer": answer | keys,
        "EntityPages": [{"DocSource": "TagMe", "Filename": "a.txt", "Title": "a"}],
        "Question": f"Who is {value}?",
        "QuestionId": f"tc_{number}",
        "QuestionSource": "http://www.triviacountry.com/",
    }


def test_the_official_files_of_triviaqa_load(tmp_path):
    data = [
        trivia(1, "David Seville", "Dave Seville"),
        trivia(2, "Oslo", HumanAnswers=["oslo city"]),
    ]
    data.append(trivia(3, "Rome"))
    gold = {"Data": data, "Domain": "Wikipedia", "VerifiedEval": False, "Version": 1.0}
    predictions = {"tc_1": "dave seville", "tc_2": "Oslo City!", "tc_3": None}
    frame = load_responses(
        written(tmp_path / "model.json", predictions), examples=written(tmp_path / "qa.json", gold)
    )
    assert frame["question"].tolist() == [one["Question"] for one in data]
    assert frame["references"].tolist()[:2] == [
        [["David Seville", "Dave Seville"]],
        [["Oslo", "oslo city"]],
    ]
    scores = ragnb.score(frame, "answer.exact_match", variant="triviaqa")
    assert scores["value"].tolist()[:2] == [1, 1]
    assert frame["reason"].tolist() == [None, None, "no response in the file"]
    assert "EntityPages" not in frame


def test_the_records_of_triviaqa_at_hugging_face_load(tmp_path):
    answer = {"aliases": ["Oslo", "Kristiania"], "normalized_aliases": ["oslo"], "value": "Oslo"}
    record = {
        "question": "Where?",
        "question_id": "tc_1",
        "answer": answer,
        "entity_pages": {"a": []},
    }
    gold = written(tmp_path / "gold.jsonl", lines(record))
    frame = load_responses(written(tmp_path / "p.json", {"tc_1": "Kristiania"}), examples=gold)
    assert ragnb.score(frame, "answer.exact_match")["value"].tolist() == [1]


# ---- SQuAD at Hugging Face, BEIR, HotpotQA ---------------------------------------------------------


def flat(name, *texts):
    answers = {"text": [*texts], "answer_start": [3] * len(texts)}
    return {
        "id": name,
        "title": "t",
        "context": "c",
        "question": f"Who is {name}?",
        "answers": answers,
    }


def test_the_records_of_squad_at_hugging_face_load(tmp_path):
    gold = written(tmp_path / "gold.jsonl", lines(flat("a", "Ann", "Anna"), flat("b")))
    frame = load_responses(written(tmp_path / "p.json", {"a": "Anna", "b": ""}), examples=gold)
    assert frame["references"].tolist() == [[["Ann", "Anna"]], [[""]]]
    assert frame["answerable"].tolist() == [1, 0]
    assert frame["passages"].tolist() == [["c"], ["c"]]
    assert ragnb.score(frame, "answer.exact_match")["value"].tolist() == [1, 1]
    questions = load_multilingual(written(tmp_path / "xquad.de.jsonl", gold.read_text("utf-8")))
    assert questions["references"].tolist() == [[["Ann", "Anna"]], [[""]]]
    assert set(questions["language"]) == {"de"}


@pytest.mark.parametrize("id", ["5a7a06935542990198eaf050", {"$oid": "5a7a06935542990198eaf050"}])
def test_ids_of_mongodb_are_ids(tmp_path, id):
    gold = written(tmp_path / "hotpot.json", [{"_id": id, "question": "Who?", "answer": "Ann"}])
    predictions = written(tmp_path / "p.json", {"5a7a06935542990198eaf050": "Ann"})
    frame = load_responses(predictions, examples=gold)
    assert ragnb.score(frame, "answer.exact_match")["value"].tolist() == [1]


def test_the_queries_of_beir_are_questions(tmp_path):
    queries = lines({"_id": "1", "text": "Who?", "metadata": {}}, {"_id": "2", "text": "Where?"})
    frame = load_examples(written(tmp_path / "queries.jsonl", queries))
    assert frame[["example_id", "question"]].values.tolist() == [["1", "Who?"], ["2", "Where?"]]


# ---- EVOUNA ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["nan", "NaN", "", None, float("nan")])
def test_a_verdict_that_is_the_word_nan_is_missing(tmp_path, word):
    systems = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
    record = {"question": "Who?", "golden_answer": "Ann/Anna", "improper": False}
    record |= {f"answer_{system}": "Ann" for system in systems}
    record |= {f"judge_{system}": system != "gpt4" for system in systems}
    file = written(tmp_path / "TQ.json", [record, record | {"judge_fid": word}])
    frame = load_evouna(file)
    verdicts = [True, True, True, False, True]
    assert frame["verdict"].tolist() == [*verdicts, None, *verdicts[1:]]
    assert ragnb.score(frame, "annotator.verdict")["value"].notna().sum() == 9
    with pytest.raises(InputError, match="TQ.json item 1, key judge_fid: must be true or false"):
        load_evouna(written(file, [record | {"judge_fid": "perhaps"}]))


def test_verdicts_may_be_the_numbers_0_and_1(tmp_path):
    """A copy of the data set that another program wrote has numbers in place of truth values."""
    systems = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
    record = {"question": "Who?", "golden_answer": "Ann", "improper": False}
    record |= {f"answer_{system}": "Ann" for system in systems}
    record |= dict(
        zip((f"judge_{system}" for system in systems), [1, 0, 1.0, 0.0, True], strict=True)
    )
    frame = load_evouna(written(tmp_path / "NQ.json", [record]))
    assert frame["verdict"].tolist() == [True, False, True, False, True]


# ---- runs and judgements ---------------------------------------------------------------------------

RUN = "q1 Q0 d1 1 2.5 bm25\nq1 Q0 d2 2 1.5 bm25\n"


def test_comments_and_words_behind_the_name_of_a_run_are_left_out(tmp_path, capsys):
    text = (
        "# bm25 with k1 = 0.9\n\n#\nq1 Q0 d1 1 2.5 bm25 # first\nq1\tQ0\td2 2 1.5 bm25 tuned run\n"
    )
    frame = load_run(
        written(tmp_path / "a.run", text), written(tmp_path / "q", "# none\nq1 0 d1 1\n")
    )
    assert frame["retrieved"].tolist() == [["d1", "d2"]]
    assert frame["system"].tolist() == ["bm25"]
    assert "left out in 2 of 2 lines" in capsys.readouterr().err


def test_an_id_may_begin_with_the_sign_of_a_comment(tmp_path):
    run = written(tmp_path / "a.run", "#1 Q0 d1 1 2.5 bm25\n")
    assert load_run(run)["example_id"].tolist() == ["#1"]


def test_qrels_of_beir_have_three_columns_and_a_header(tmp_path):
    run = written(tmp_path / "a.run", RUN)
    qrels = written(tmp_path / "test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td7\t0\n")
    frame = load_run(run, qrels)
    assert frame["relevant"].tolist() == [{"d1": 2, "d7": 0}]
    bare = written(tmp_path / "bare.tsv", "q1\td1\t2\nq1\td7\t0\n")
    assert load_run(run, bare)["relevant"].tolist() == [{"d1": 2, "d7": 0}]


def test_runs_and_judgements_as_json_objects_load(tmp_path):
    run = written(tmp_path / "bm25.json", {"q1": {"d1": 1.5, "d2": 2.5}, "q2": {"d1": 1}})
    qrels = written(tmp_path / "qrels.json", {"q1": {"d1": 1}, "q2": {"d9": 1}})
    frame = load_run(run, qrels)
    assert frame["system"].tolist() == ["bm25", "bm25"]
    assert frame["retrieved"].tolist() == [["d2", "d1"], ["d1"]]
    assert frame["relevant"].tolist() == [{"d1": 1}, {"d9": 1}]


def test_ids_that_pandas_made_decimals_are_those_of_the_other_file(tmp_path, capsys):
    run = written(tmp_path / "r", "1.0 Q0 7.0 1 2.5 a\n2.0 Q0 8.0 1 2.5 a\n")
    qrels = written(tmp_path / "q", "1 0 7 1\n2 0 9 1\n")
    frame = load_run(run, qrels)
    assert ragnb.score(frame, "retrieval.recall@5")["value"].tolist() == [1, 0]
    said = capsys.readouterr().err
    assert "r: ids such as 1.0 were read as 1, as they are in q" in said
    assert "r: ids such as 7.0 were read as 7, as they are in q" in said


def test_ids_of_passages_are_of_one_kind_in_responses(tmp_path):
    record = {"question": "Who?", "response": "Ann", "retrieved": [7, 8], "relevant": {"7": 1}}
    frame = load_responses(written(tmp_path / "a.jsonl", lines(record)), language="en")
    assert ragnb.score(frame, "retrieval.recall@5")["value"].tolist() == [1]


BROKEN = [
    (RUN + "q1 Q0 d1 3 1.0 bm25\n", "q1 0 d1 1\n",
     r"r line 3: the question 'q1' has the passage 'd1' a second time \(first in line 1\)"),
    (RUN, "q1 0 d1 1\nq1 0 d2 1\nq1 0 d1 0\n",
     r"q line 3: the question 'q1' has the passage 'd1' a second time \(first in line 1\); trec_eval"),
    (RUN, "q1 0 d1 1\nq1 0 d1 1\n", "q line 2: .* a second time"),
    (RUN, "# grades\nq1 0 d1 0.9\n", "q line 2: a grade must be a whole number, got 0.9"),
    (RUN, "q1 0 d1 1\nq1 0 d2 99999999999999999999\n", r"q line 2: a grade must be between .* got 1e\+20"),
    (RUN, "q1 0 d1 high\n", "q line 1: must have the columns .* number as the grade, got 'high'"),
    (RUN, RUN, r"q must have the 4 columns .* \(line 1 has 6\); a run has 6 columns"),
    (RUN, "q1 d1\n", r"q must have the 4 columns .* \(line 1 has 2\)"),
    (RUN, "# nothing\n", "q must have at least one line with example_id, iteration"),
    ("q1 Q0 d1 1 nan bm25\n", "q1 0 d1 1\n", "r line 1: .* a number as the score, got 'nan'"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "qrels", "message"), BROKEN)
def test_a_broken_run_or_judgement_is_refused_with_its_line(tmp_path, run, qrels, message):
    with pytest.raises(InputError, match=message):
        load_run(written(tmp_path / "r", run), written(tmp_path / "q", qrels))


def test_a_grade_may_have_a_decimal_point_if_it_is_whole(tmp_path):
    frame = load_run(written(tmp_path / "r", RUN), written(tmp_path / "q", "q1 0 d1 2.0\n"))
    assert frame["relevant"].tolist() == [{"d1": 2}]


def test_two_runs_in_one_file_cannot_get_one_name(tmp_path):
    run = written(tmp_path / "r", RUN + "q1 Q0 d1 1 3.5 dense\n")
    assert load_run(run)["system"].tolist() == ["bm25", "dense"]
    with pytest.raises(InputError, match="r line 3: the question 'q1' has the passage 'd1'"):
        load_run(run, system="both")
