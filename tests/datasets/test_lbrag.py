import json
import math

import pytest

import ragnb
from ragnb.datasets.predictions import load_responses


def answer(sample_id, sample_lang, gold, pred, *, em, f1, system="lbrag", tokens=0.0):
    """A line of a run's answers; all texts are ours, `em` and `f1` are computed by hand."""
    evidence = {"id": "d", "language": "ru", "original_text": "…", "translated_text": None}
    return {
        "run_id": "20300101_0000", "sample_id": sample_id, "sample_lang": sample_lang,
        "system": system, "question": f"? {sample_id}", "gold_answer": gold, "pred_answer": pred,
        "em": em, "f1": f1, "rlc": 1.0, "rlc_ok": 1.0, "translate_tokens": tokens,
        "semantic_score": 0.5, "num_evidence": 1,
        "evidence": [evidence | {"weight": 0.5, "metadata": {}}],
    }  # fmt: skip


RUN = [
    # 1, 1 and 年 of 7 and of 5 characters
    answer("a_zh_cn", "zh_cn", "11.0 年份", "大约11年左右", em=0.0, f1=0.5, tokens=20.0),
    # one word of two and of one
    answer("b_de", "de", "Oslo", "In Oslo.", em=0.0, f1=2 / 3, tokens=12),
    # both vanish
    answer("c_hi", "hi", "दिल्ली", "मुंबई", em=1.0, f1=1.0),
    # whitespace words, Thai too
    answer("d_th", "th", "แม่น้ำไนล์", "แม่น้ำ ไนล์", em=0.0, f1=0.0),
    # characters without spaces
    answer("e_ja", "ja", "ナイル川", "ナイル 川。", em=0.0, f1=1.0, tokens=None),
    # an empty answer is an answer
    answer("f_he", "he", "הנילוס", "", em=0.0, f1=0.0, system="direct"),
    answer("g_ar", "ar", "نهر النيل", "نهر النيل", em=1.0, f1=1.0, system="direct"),
    # MKQA has no short answer here
    answer("h_en", "en", "", "who knows", em=0.0, f1=0.0),
    answer("i_en", "en", None, "", em=1.0, f1=1.0),
]


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "20300101_0000_answers.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in RUN))
    return load_responses(path)


def test_answers_of_a_run_load_as_they_are(run):
    names = {"example_id": "sample_id", "language": "sample_lang", "system": "system"}
    for ours, theirs in (names | {"response": "pred_answer", "question": "question"}).items():
        assert run[ours].tolist() == [record[theirs] for record in RUN]
    assert run["references"].tolist()[:2] == [[["11.0 年份"]], [["Oslo"]]]


def test_the_scores_are_those_computed_by_hand(run):
    scores = ragnb.score(run, ["answer.exact_match", "answer.f1"], variant="lbrag")
    values = {name: rows["value"].tolist() for name, rows in scores.groupby("metric")}
    assert values["answer.exact_match"][:7] == [record["em"] for record in RUN[:7]]
    assert values["answer.f1"][:7] == pytest.approx([record["f1"] for record in RUN[:7]])
    assert all(math.isnan(value) for name in values for value in values[name][7:])


def test_without_gold_answer_there_is_no_reference_and_the_reason_says_so(run):
    assert run["references"].isna().tolist() == [False] * 7 + [True] * 2
    said = ["no reference in the file"] * 2
    assert run["reason"].dropna().tolist() == said
    assert ragnb.score(run, "answer.f1")["reason"].tolist()[7:] == said
    assert ragnb.score(run, "language.rlc")["value"].tolist()[7] == 1.0  # needs no reference


def test_tokens_are_those_of_translations(run):
    spent = [[{"token_count": 20.0}], [{"token_count": 12.0}], [], [], []]
    assert run["translations"].tolist()[:5] == spent
    assert ragnb.score(run, "cost.translation_tokens")["value"].tolist() == [20.0, 12.0] + [0.0] * 7
