import gzip
import json
import unicodedata

import pytest
from hostile import any_text
from hypothesis import given
from hypothesis import strategies as st

from ragnb.datasets.catalogue import CATALOGUE, catalogue
from ragnb.datasets.multilingual import COLUMNS, load_multilingual
from ragnb.datasets.tables import read_table, write_table
from ragnb.errors import InputError
from ragnb.metrics.answer import contains, exact_match, reference_parts
from ragnb.metrics.language import response_language_consistency
from ragnb.scoring import score

SIX = ["en", "de", "ru", "zh", "ar", "hi"]
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


def parallel(language, *, number=0, **changes):
    question, answers = GREETING[language]
    record = {
        "id": number,
        "theme": "rivers",
        "language": language,
        "question": question,
        "answers": answers,
    }
    return record | {"passage": f"… {answers[-1]} …"} | changes


def release(number=-7, languages=tuple(GREETING), **changes):
    """One question in the form of MKQA's release."""
    answers = {
        code: [
            {
                "type": "entity",
                "entity": "Q3392",
                "text": GREETING[code][1][0],
                "aliases": GREETING[code][1][1:],
            }
        ]
        for code in languages
    }
    queries = {code: GREETING[code][0] for code in languages}
    return {
        "example_id": number,
        "query": "which river",
        "queries": queries,
        "answers": answers | changes,
    }


def sampled(language="zh_tw", number=-7, **changes):
    question, answers = GREETING[language]
    record = {
        "id": f"mkqa_{number}_{language}",
        "question": question,
        "question_lang": language,
        "answer": answers[0],
    }
    return record | changes


def squad(language="th", **changes):
    question, (answer, *_) = GREETING[language]
    asked = {
        "id": "56be",
        "question": question,
        "answers": [{"text": answer, "answer_start": 2}],
    } | changes
    return {
        "data": [{"title": "Nile", "paragraphs": [{"context": f"… {answer} …", "qas": [asked]}]}],
        "version": "1.1",
    }


@pytest.fixture
def file(tmp_path):
    """Write records as a file: JSON Lines, or a single document under a name that ends in .json."""

    def write(name, content):
        lines = content if isinstance(content, list) and not name.endswith(".json") else [content]
        written = "\n".join(
            json.dumps(line, ensure_ascii=False, indent=1 if name.endswith(".json") else None)
            for line in lines
        )
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(
            gzip.compress(written.encode()) if name.endswith(".gz") else written.encode()
        )
        return path

    return write


# ---- the embedded sample -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample():
    return load_multilingual("sample-multilingual")


def test_the_sample_asks_forty_questions_in_six_languages(sample):
    assert len(sample) == 240
    assert sample["language"].tolist() == SIX * 40
    assert sample.groupby("question_id", sort=False)["language"].apply(list).tolist() == [SIX] * 40
    assert sample["question_id"].tolist() == [str(number) for number in range(40) for _ in SIX]
    assert sample["example_id"].is_unique
    assert sample["example_id"][4] == "sample-multilingual/0/ar"
    assert set(sample["benchmark"]) == {"multilingual"}


def test_a_question_of_the_sample_has_one_theme_in_all_its_languages(sample):
    assert (sample.groupby("question_id")["task"].nunique() == 1).all()
    assert sample["task"].nunique() >= 4


def test_the_texts_of_the_sample_are_composed_and_in_their_language(sample):
    for row in sample.itertuples():
        for text in (row.question, *row.passages, *row.references[0]):
            assert unicodedata.is_normalized("NFC", text), (row.example_id, text)
            assert text == text.strip()
        for text in (row.question, *row.passages):
            assert response_language_consistency(text, row.language) > 0.6, (row.example_id, text)


def test_an_alias_stands_in_the_passage_letter_by_letter_and_none_in_the_question(sample):
    for row in sample.itertuples():
        (aliases,), (passage,) = row.references, row.passages
        assert any(alias in passage for alias in aliases), row.example_id
        assert contains(passage, row.references) == 1
        assert not any(alias in row.question for alias in aliases), row.example_id
        assert len(set(aliases)) == len(aliases)


def test_every_alias_of_the_sample_is_an_answer_to_itself_under_unicode(sample):
    for row in sample.itertuples():
        assert {exact_match(alias, row.references) for alias in row.references[0]} == {1.0}, (
            row.example_id
        )


def test_the_sample_says_who_wrote_it(sample):
    source = sample.attrs["source"]
    assert source["citation"] == "written by the authors of ragnb"
    assert source["licence"] == "CC BY 4.0"
    assert source["verified"]


# ---- each format -------------------------------------------------------------------------------------------------------


def test_the_parallel_format_gives_a_row_a_line(file):
    frame = load_multilingual(file("rivers.jsonl", [parallel(code) for code in GREETING]))
    assert frame["example_id"].tolist() == [f"rivers/0/{code}" for code in GREETING]
    assert frame.columns.tolist() == list(COLUMNS)
    assert set(frame["question_id"]) == {"0"}
    assert frame["question"].tolist() == [question for question, _ in GREETING.values()]
    assert frame["references"].tolist() == [[answers] for _, answers in GREETING.values()]
    assert frame["passages"][1] == ["… ナイル川 …"]
    assert set(frame["task"]) == {"rivers"}
    assert frame.attrs["source"]["licence"] == "unknown"


said = any_text.filter(str.strip)


@given(question=said, answers=st.lists(said, min_size=1, unique=True), passage=said)
def test_every_text_comes_back_as_it_is_written(tmp_path_factory, question, answers, passage):
    path = tmp_path_factory.mktemp("any") / "any.jsonl"
    record = parallel("he", question=question, answers=answers, passage=passage)
    path.write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8", newline="\n")
    row = load_multilingual(path).iloc[0]
    assert (row["question"], row["references"], row["passages"]) == (question, [answers], [passage])


def test_theme_and_passage_may_be_missing(file):
    bare = {key: value for key, value in parallel("he").items() if key not in ("theme", "passage")}
    frame = load_multilingual(
        file("bare.jsonl", [bare, parallel("ja", theme=None), parallel("hi", answers=[])])
    )
    assert frame["passages"].tolist() == [[], ["… ナイル川 …"], ["… नील …"]]
    assert frame["task"].tolist() == ["open", "reading", "rivers"]
    assert frame["references"].isna().tolist() == [False, False, True]


@pytest.mark.parametrize("name", ["mkqa.jsonl", "mkqa.jsonl.gz"])
def test_the_release_of_mkqa_gives_a_row_a_question_and_language(file, name):
    frame = load_multilingual(file(name, [release(), release(8, ("en", "th"))]))
    assert len(frame) == 10
    assert frame["example_id"].tolist()[-2:] == ["mkqa/8/en", "mkqa/8/th"]
    assert frame["references"][0] == [["the Nile", "Nile"]]
    assert set(frame["benchmark"]) == {"mkqa"}
    assert set(frame["task"]) == {"open"}
    assert set(frame["answer_type"]) == {"entity"}
    assert frame["passages"].tolist() == [[]] * 10


def test_answers_of_mkqa_without_a_short_text_are_no_references(file):
    answers = {
        "en": [{"type": "long_answer", "entity": "", "text": None, "aliases": []}],
        "ja": [{"type": "unanswerable", "text": "an empty one", "aliases": ["x"]}],
        "th": [{"type": "entity", "text": " ", "aliases": None}],
        "hi": [],
        "ar": [
            {"type": "number", "text": "12.0"},
            {"type": "number", "text": "12.0", "aliases": ["", "12"]},
        ],
        "he": [{"type": "unanswerable", "text": None}, {"type": "date", "text": "1902"}],
    }
    frame = load_multilingual(
        file("mkqa.jsonl", [release(**answers)]), languages=list(answers)
    ).set_index("language")
    assert frame["references"].to_dict() == {
        **dict.fromkeys(["en", "ja", "th", "hi"]), "ar": [["12.0", "12"]], "he": [["1902"]]
    }  # fmt: skip
    assert frame["answer_type"].tolist() == [
        "long_answer",
        "unanswerable",
        "entity",
        None,
        "number",
        "unanswerable/date",
    ]
    scores = score(
        frame.reset_index().assign(response="12", system="s"), "answer.exact_match"
    ).set_index("language")
    assert scores["value"].isna().tolist() == [True] * 4 + [False] * 2
    assert scores.loc["en", "reason"] == "no references"
    assert scores["value"].tolist()[4:] == [1.0, 0.0]


def test_a_sample_of_mkqa_keeps_the_ids_of_the_release(file):
    records = [sampled(code) for code in ("zh_tw", "en")] + [
        sampled("en", 9, answer=None),
        sampled("ja", 9, answer=" "),
    ]
    frame = load_multilingual(file("some.json", records))
    assert frame["example_id"].tolist() == ["some/-7/zh_tw", "some/-7/en", "some/9/en", "some/9/ja"]
    assert set(frame["question_id"]) == set(
        load_multilingual(file("mkqa.jsonl", [release(-7), release(9)]))["question_id"]
    )
    assert frame["references"].tolist() == [[["尼羅河"]], [["the Nile"]], None, None]
    assert frame["answer_type"].tolist() == [None] * 4


def test_a_file_of_xquad_has_its_language_in_its_name(file):
    frame = load_multilingual(file("xquad.th.json", squad("th")))
    assert frame["example_id"].tolist() == ["xquad/56be/th"]
    row = frame.iloc[0]
    assert (row["benchmark"], row["task"], row["language"], row["title"]) == (
        "xquad",
        "reading",
        "th",
        "Nile",
    )
    assert row["references"] == [["แม่น้ำไนล์"]]
    assert row["passages"] == ["… แม่น้ำไนล์ …"]


def test_answers_of_annotators_who_agree_are_one_alias(file):
    answers = [{"text": "Nile"}, {"text": "the Nile"}, {"text": "Nile"}]
    assert load_multilingual(file("xquad.en.json", squad("en", answers=answers)))["references"][
        0
    ] == [["Nile", "the Nile"]]


def test_a_file_of_xquad_whose_name_does_not_tell_needs_its_one_language(file):
    path = file("dev-v1.1.json", squad("he"))
    with pytest.raises(
        InputError, match=r"dev-v1\.1\.json needs its language in its name.*got neither; name one"
    ):
        load_multilingual(path)
    with pytest.raises(InputError, match=r"got he, ar; name one"):
        load_multilingual(path, languages=["he", "ar"])
    assert load_multilingual(path, languages="he")["example_id"].tolist() == ["dev-v1.1/56be/he"]


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


def test_a_frame_survives_the_disk(file, tmp_path):
    frame = load_multilingual(
        [file("mkqa.jsonl", [release(en=[])]), file("xquad.th.json", squad())]
    )
    assert read_table(write_table(frame, tmp_path / "again.jsonl")).to_dict(
        "list"
    ) == frame.to_dict("list")
    again = read_table(write_table(frame, tmp_path / "again.parquet"))
    assert again[["references", "passages"]].to_dict("list") == frame[
        ["references", "passages"]
    ].to_dict("list")
    assert again["answer_type"].isna().tolist() == frame["answer_type"].isna().tolist()


# ---- languages ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "found"), [("hi", ["hi"]), (["zh-TW", "EN"], ["en", "zh_tw"]), (("he",), ["he"])]
)
def test_only_the_languages_that_are_asked_for_are_kept(file, wanted, found):
    frame = load_multilingual(
        file("rivers.jsonl", [parallel(code) for code in GREETING]), languages=wanted
    )
    assert sorted(frame["language"]) == found
    assert frame.index.tolist() == list(range(len(found)))


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (
            "jp",
            "language must be a code that LANGUAGE_SCRIPTS has, got 'jp'; did you mean 'ja'",
        ),
        (
            "zh",
            "languages needs some of en, ja, th, hi, ar, he, vi, zh_tw, as rivers.jsonl has; got zh; choose among these",
        ),
    ],
)
def test_a_language_that_is_not_there_is_refused(file, wanted, message):
    with pytest.raises(InputError, match=message):
        load_multilingual(
            file("rivers.jsonl", [parallel(code) for code in GREETING]), languages=wanted
        )


def test_a_file_of_an_unknown_language_is_refused_with_the_likely_one(file):
    with pytest.raises(
        InputError,
        match=r"the name of xquad\.cn\.json: language must be a code .*, got 'cn'; did you mean 'zh'",
    ):
        load_multilingual(file("xquad.cn.json", squad()))
    with pytest.raises(
        InputError, match=r"r\.jsonl line 2, key language:.*got 'kr'; did you mean 'ko'"
    ):
        load_multilingual(file("r.jsonl", [parallel("en"), parallel("ja") | {"language": "kr"}]))


# ---- what is damaged ---------------------------------------------------------------------------------------------------

ANSWER = [{"type": "entity", "text": "Nile"}]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", [{"query": "q", "answer": "a"}] * 2, "a.jsonl: must contain questions with the keys id, language.*or data, got query, answer"),
        ("a.jsonl", [parallel("en"), {"id": 1}], "a.jsonl line 2: must have the keys language, question, answers, got id"),
        ("a.jsonl", [parallel("en"), parallel("en")], "a.jsonl needs a different id.*got a/0/en more than once"),
        ("m.jsonl", [release(), release() | {"queries": []}], r"m.jsonl line 2, key queries: must be an object, got \[\]"),
        ("s.json", [sampled(), sampled(answer=["x"])], "s.json item 2, key answer: must be a text, got "),
        ("xquad.en.json", {"data": [{"title": "x"}]}, r"item 1, key data\[0\]: must have the key paragraphs, got title"),
    ],
)  # fmt: skip
def test_a_damaged_file_says_where_and_what_it_needs(file, name, content, message):
    with pytest.raises(InputError, match=message):
        load_multilingual(file(name, content))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b"", "a.jsonl needs one JSON object a line; got an empty file"),
        ("a.json", b"\x89PNG\r\n", "a.json needs UTF-8 text; got byte 0x89 at 0; is this a binary or compressed file"),
        ("a.jsonl", json.dumps(parallel("en")).encode() + b'\n{"id": 1,', "a.jsonl line 2 needs one JSON object; got Expecting"),
        ("m.jsonl.gz", gzip.compress(b'{"example_id": 1}', mtime=0)[:-6], "m.jsonl.gz needs to be a whole compressed file"),
    ],
)  # fmt: skip
def test_an_unreadable_file_says_so(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        load_multilingual(tmp_path / name)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("no/such.json", "a multilingual source needs a file that exists"),
        ("xquad_jp", "catalogue name; got 'xquad_jp'; did you mean 'xquad_"),
        (
            "sample",
            "a multilingual source needs a file that exists or a catalogue name; got 'sample'",
        ),
    ],
)
def test_a_source_that_is_none_is_refused(source, message):
    with pytest.raises(InputError, match=message):
        load_multilingual(source)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="load_multilingual found no JSON file in"):
        load_multilingual(tmp_path)


# ---- the catalogue -----------------------------------------------------------------------------------------------------


def test_the_catalogue_lists_mkqa_and_xquad_with_licence_and_citation():
    table = catalogue().query("benchmark in ['mkqa', 'xquad']").set_index("name")
    assert table.index.tolist() == [
        "mkqa",
        "mkqa_500",
        *(f"xquad_{c}" for c in "ar de el en es hi ru th tr vi zh".split()),
    ]
    assert (
        table.groupby("benchmark")["licence"]
        .apply(lambda names: names.str.startswith("CC BY-SA").all())
        .all()
    )
    assert table["citation"].str.contains("2007.15207|1910.11856").all()
    loose = table.index[table["checksum"] == "not pinned"].tolist()
    assert loose == ["mkqa", "xquad_el", "xquad_es", "xquad_tr", "xquad_vi"]


def test_a_name_of_either_benchmark_is_found_in_the_folder_of_its_benchmark(file, monkeypatch):
    folder = file("xquad/xquad.el.json", squad("en")).parent.parent
    file("mkqa/mkqa.jsonl.gz", [release()])
    monkeypatch.setenv("RAGNB_DATA", str(folder))
    greek = load_multilingual("xquad_el")
    assert greek["example_id"].tolist() == ["xquad/56be/el"]
    assert greek.attrs["source"]["licence"] == "CC BY-SA 4.0"
    assert not greek.attrs["source"]["verified"]
    both = load_multilingual(["xquad_el", "mkqa"])
    assert both.attrs["source"]["licence"] == "CC BY-SA 4.0; CC BY-SA 3.0"
    assert both["example_id"].tolist()[-1] == "mkqa/-7/zh_tw"


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
        articles = json.loads(
            (data_folder / "xquad" / f"xquad.{language}.json").read_text("utf-8")
        )["data"]
        read = [
            [a["id"], a["question"], [p["context"]], [[a["answers"][0]["text"]]]]
            for article in articles for p in article["paragraphs"] for a in p["qas"]
        ]  # fmt: skip
        own = xquad[xquad["language"] == language]
        assert own[["question_id", "question", "passages", "references"]].values.tolist() == read
        assert all(row.references[0][0] in row.passages[0] for row in own.itertuples())


@pytest.mark.data
def test_mkqa_has_500_questions_in_five_languages_and_61_of_them_have_no_answer(mkqa):
    assert mkqa["language"].value_counts().to_dict() == dict.fromkeys(
        ["en", "ja", "de", "es", "zh_cn"], 500
    )
    assert mkqa["question_id"].value_counts().unique().tolist() == [5]
    assert mkqa["references"].isna().sum() == 305
    assert mkqa[mkqa["references"].isna()]["language"].value_counts().unique().tolist() == [61]
    assert mkqa["example_id"][0] == "mkqa_500q_en_ja_de_es_zhcn/3051930912491995402/en"
    assert mkqa["question_id"].str.fullmatch(r"-?\d+").all()
    assert mkqa.attrs["source"]["verified"]


@pytest.mark.data
@pytest.mark.parametrize("name", ["mkqa", "xquad"])
def test_every_real_reference_parses_and_matches_itself(name, request):
    frame = request.getfixturevalue(name).dropna(subset="references")
    for row in frame.iloc[::7].itertuples():
        assert reference_parts(row.references) == row.references
        assert exact_match(row.references[0][0], row.references) == 1 or not any(
            c.isalnum() for c in row.references[0][0]
        )


@pytest.mark.data
def test_the_real_files_have_the_checksums_of_the_catalogue(data_folder):
    for name in [f"xquad_{language}" for language in XQUAD]:
        frame = load_multilingual(data_folder / "xquad" / CATALOGUE[name].file)
        assert frame.attrs["source"]["git_sha1"] == CATALOGUE[name].git_sha1
