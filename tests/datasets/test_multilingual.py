import gzip
import json

import pytest

from ragnb.datasets import load_multilingual
from ragnb.datasets.multilingual import COLUMNS
from ragnb.scoring import score

XQUAD = ["ar", "de", "en", "hi", "ru", "th", "zh"]

GREETING = {  # one question in scripts with and without spaces, from right to left, with combining marks, and an emoji
    "en": ("Which river? 🌊", ["the Nile", "Nile"]),
    "ja": ("どの川ですか。", ["ナイル川"]),
    "th": ("แม่น้ำอะไร", ["แม่น้ำไนล์", "ไนล์"]),
    "hi": ("कौन सी नदी?", ["नील नदी", "नील"]),
    "ar": ("أي نهر؟", ["نهر النيل"]),
    "he": ("איזה נהר?", ["נִילוּס", "נילוס"]),
    "vi": ("Sông na\u0300o?", ["Sông Nin"]),  # decomposed on purpose
    "zh_tw": ("哪條河？", ["尼羅河"]),
}


def parallel(language):
    question, answers = GREETING[language]
    record = {"id": 0, "theme": "rivers", "language": language, "question": question}
    return record | {"answers": answers, "passage": f"… {answers[-1]} …"}


def release(number=-7, languages=tuple(GREETING), **changes):
    """One question in the form of MKQA's release."""
    queries = {code: GREETING[code][0] for code in languages}
    entity = {"type": "entity", "entity": "Q3392"}
    named = {code: GREETING[code][1] for code in languages}
    answers = {c: [entity | {"text": texts[0], "aliases": texts[1:]}] for c, texts in named.items()}
    record = {"example_id": number, "query": "which river", "queries": queries}
    return record | {"answers": answers | changes}


def sampled(language, number=-7, **changes):
    question, answers = GREETING[language]
    record = {"id": f"mkqa_{number}_{language}", "question": question, "question_lang": language}
    return record | {"answer": answers[0]} | changes


def squad(language):
    question, (answer, *_) = GREETING[language]
    answers = [{"text": answer, "answer_start": 2}]
    asked = {"id": "56be", "question": question, "answers": answers}
    paragraphs = [{"context": f"… {answer} …", "qas": [asked]}]
    return {"data": [{"title": "Nile", "paragraphs": paragraphs}], "version": "1.1"}


@pytest.fixture
def file(tmp_path):
    """Write records as a file: JSON Lines, or a single document under a name that ends in .json."""

    def write(name, content):
        if name.endswith(".json"):
            written = json.dumps(content, ensure_ascii=False, indent=1).encode()
        else:
            written = "\n".join(json.dumps(line, ensure_ascii=False) for line in content).encode()
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(written) if name.endswith(".gz") else written)
        return path

    return write


@pytest.fixture
def rivers(file):
    return file("rivers.jsonl", [parallel(code) for code in GREETING])


# ---- each format -------------------------------------------------------------------------------


def test_each_format_gives_a_row_for_each_question_and_language(file, rivers):
    mkqa = file("mkqa.jsonl.gz", [release(), release(8, ("en", "th"))])
    some = file("some.json", [sampled("zh_tw"), sampled("en"), sampled("en", 9, answer=None)])
    expected = {
        rivers: [f"rivers/0/{code}" for code in GREETING],
        mkqa: [*(f"mkqa/-7/{code}" for code in GREETING), "mkqa/8/en", "mkqa/8/th"],
        some: ["some/-7/zh_tw", "some/-7/en", "some/9/en"],
    }
    for path, ids in expected.items():
        frame = load_multilingual(path)
        assert frame["example_id"].tolist() == ids
        assert frame.columns[: len(COLUMNS)].tolist() == list(COLUMNS)
        languages = [one.rsplit("/", 1)[1] for one in ids]
        assert frame["question"].tolist() == [GREETING[code][0] for code in languages]
        references = [[GREETING[code][1]] for code in languages]
        if path == some:
            references = [[["尼羅河"]], [["the Nile"]], None]
        assert frame["references"].tolist() == references
        assert set(frame["task"]) == {"rivers" if path == rivers else "open"}
    assert load_multilingual(rivers)["passages"][1] == ["… ナイル川 …"]
    assert load_multilingual(rivers).attrs["source"]["licence"] == "unknown"


def test_answers_of_mkqa_without_a_short_text_are_no_references(file):
    twelve = {"type": "number", "text": "12.0"}
    unanswerable = {"type": "unanswerable", "text": None}
    answers = {
        "en": [{"type": "long_answer", "entity": "", "text": None, "aliases": []}],
        "ja": [unanswerable | {"text": "an empty one", "aliases": ["x"]}],
        "th": [{"type": "entity", "text": " ", "aliases": None}],
        "hi": [],
        "ar": [twelve, twelve | {"aliases": ["", "12"]}],
        "he": [unanswerable, {"type": "date", "text": "1902"}],
    }
    path = file("mkqa.jsonl", [release(**answers)])
    frame = load_multilingual(path).set_index("language").loc[list(answers)]
    without = dict.fromkeys(["en", "ja", "th", "hi"])
    assert frame["references"].to_dict() == without | {"ar": [["12.0", "12"]], "he": [["1902"]]}
    types = ["long_answer", "unanswerable", "entity", None, "number", "unanswerable/date"]
    assert frame["answer_type"].tolist() == types
    scores = score(frame.reset_index().assign(response="12"), "answer.exact_match")
    assert scores["value"].isna().tolist() == [True] * 4 + [False] * 2
    assert scores["reason"][0] == "no references"
    assert scores["value"].tolist()[4:] == [1.0, 0.0]


def test_a_folder_or_a_list_of_files_is_one_frame(file):
    paths = [file(f"xquad/xquad.{code}.json", squad(code)) for code in ("ar", "ja", "zh_tw")]
    (paths[0].parent / "SOURCE.txt").write_text("about", encoding="utf-8")
    frame = load_multilingual(paths[0].parent)
    assert frame["example_id"].tolist() == ["xquad/56be/ar", "xquad/56be/ja", "xquad/56be/zh_tw"]
    assert frame["question_id"].nunique() == 1
    assert frame.equals(load_multilingual([str(path) for path in paths]))
    assert load_multilingual(paths[1])["example_id"].tolist() == ["xquad/56be/ja"]
    source = frame.attrs["source"]
    assert source["name"] == "xquad.ar; xquad.ja; xquad.zh_tw"
    assert not source["verified"]
    mixed = load_multilingual([paths[0], file("mkqa.jsonl", [release()])])
    assert mixed["answer_type"].isna().tolist() == [True] + [False] * 8


# ---- real files --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def xquad(data_folder):
    return load_multilingual(data_folder / "xquad")


@pytest.fixture(scope="module")
def mkqa(data_folder):
    return load_multilingual(data_folder / "mkqa" / "mkqa_500q_en_ja_de_es_zhcn.json")


@pytest.mark.data
def test_xquad_asks_the_same_1190_questions_in_each_language(xquad):
    assert xquad["language"].value_counts().to_dict() == dict.fromkeys(XQUAD, 1190)
    assert xquad["question_id"].value_counts().unique().tolist() == [len(XQUAD)]
    assert xquad["example_id"].is_unique
    assert xquad["references"].notna().all()
    assert xquad["title"].nunique() == 48
    assert xquad.attrs["source"]["verified"]
    assert xquad.attrs["source"]["licence"] == "CC BY-SA 4.0"


@pytest.mark.data
def test_every_row_of_xquad_is_that_of_the_file_read_without_ragnb(xquad, data_folder):
    for language in XQUAD:
        path = data_folder / "xquad" / f"xquad.{language}.json"
        articles = json.loads(path.read_text("utf-8"))["data"]
        read = []
        for paragraph in (each for article in articles for each in article["paragraphs"]):
            for asked in paragraph["qas"]:
                answer = [[asked["answers"][0]["text"]]]
                read.append([asked["id"], asked["question"], [paragraph["context"]], answer])
        own = xquad[xquad["language"] == language]
        assert own[["question_id", "question", "passages", "references"]].values.tolist() == read
        assert all(row.references[0][0] in row.passages[0] for row in own.itertuples())


@pytest.mark.data
def test_mkqa_has_500_questions_in_five_languages_and_61_of_them_have_no_answer(mkqa):
    languages = ["en", "ja", "de", "es", "zh_cn"]
    assert mkqa["language"].value_counts().to_dict() == dict.fromkeys(languages, 500)
    assert mkqa["question_id"].value_counts().unique().tolist() == [5]
    lacking = mkqa[mkqa["references"].isna()]["language"]
    assert lacking.value_counts().to_dict() == dict.fromkeys(languages, 61)
    assert mkqa["example_id"][0] == "mkqa_500q_en_ja_de_es_zhcn/3051930912491995402/en"
    assert mkqa["question_id"].str.fullmatch(r"-?\d+").all()
    assert mkqa.attrs["source"]["verified"]
