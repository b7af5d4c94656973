import gzip
import json

import pytest

from ragnb.datasets.catalogue import git_blob_sha1
from ragnb.datasets.rgb import load_rgb
from ragnb.errors import InputError
from ragnb.records import RGB_EXAMPLE

DROP = object()


def changed(record, changes):
    return {key: value for key, value in (record | changes).items() if value is not DROP}


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "count", "task", "language"),
    [
        ("en_fact", 100, "counterfactual", "en"),
        ("en_refine_first50", 50, "noise", "en"),
        ("zh_refine", 300, "noise", "zh"),
        ("zh_int", 100, "integration", "zh"),
        ("zh_fact", 100, "counterfactual", "zh"),
    ],
)
def test_the_real_files_load_whole(name, count, task, language, rgb_file, raw_records):
    examples, raw = load_rgb(rgb_file(name)), raw_records(name)
    assert len(examples) == len(raw) == count
    assert set(examples["task"]) == {task}
    assert set(examples["language"]) == {language}
    assert examples["example_id"].tolist() == [f"{name}/{record['id']}" for record in raw]
    assert examples["question"].tolist() == [record["query"] for record in raw]
    assert examples["negative"].tolist() == [record["negative"] for record in raw]
    flat = examples["positive"] if task == "integration" else examples["positive"].str[0]
    assert flat.tolist() == [record["positive"] for record in raw]


def test_a_base_file_gives_one_group_of_positives(make, load):
    record = make.base(7)
    row = load(record).iloc[0]
    assert row.to_dict() == {
        "example_id": "mini/7",
        "benchmark": "rgb",
        "task": "noise",
        "language": "en",
        "question": "Who keeps lighthouse 7?",
        "references": [["Ada Quill", "A. Quill"]],
        "positive": [record["positive"]],
        "negative": record["negative"],
        "positive_wrong": [],
        "false_answers": [],
    }
    assert list(row.index) == list(RGB_EXAMPLE)


def test_an_integration_file_keeps_its_groups(make, load):
    record = make.integration(groups=(2, 3, 1))
    row = load(record).iloc[0]
    assert row["task"] == "integration"
    assert row["positive"] == record["positive"]
    assert row["references"] == [["keeper0x"], ["keeper1x"], ["keeper2x"]]


@pytest.mark.parametrize(
    ("fake", "expected"), [("Westhaven", ["Westhaven"]), (["W", "V"], ["W", "V"])]
)
def test_a_counterfactual_file_keeps_false_passages_and_answers(make, load, fake, expected):
    record = make.fact(fakeanswer=fake)
    row = load(record).iloc[0]
    assert row["task"] == "counterfactual"
    assert row["positive_wrong"] == record["positive_wrong"]
    assert row["positive"] == [record["positive"]]
    assert row["false_answers"] == expected


@pytest.mark.parametrize(
    ("answer", "references"),
    [
        ("a", [["a"]]),
        (["a"], [["a"]]),
        (["a", "b"], [["a"], ["b"]]),
        ([["a", "b"]], [["a", "b"]]),
        ([["a", "b"], "c"], [["a", "b"], ["c"]]),
    ],
)
def test_top_level_elements_of_an_answer_are_parts_and_inner_ones_aliases(
    make, load, answer, references
):
    assert load(make.base(answer=answer)).iloc[0]["references"] == references


@pytest.mark.parametrize(
    ("questions", "expected"),
    [
        (["谁看守灯塔?"], "zh"),
        (["Who?"], "en"),
        (["谁", "什么", "Who?"], "zh"),
        (["谁", "Who?"], "en"),
    ],
)
def test_the_language_is_chinese_when_most_questions_hold_han(make, load, questions, expected):
    frame = load(*(make.base(n, query=question) for n, question in enumerate(questions)))
    assert set(frame["language"]) == {expected}


def test_a_given_language_is_kept(make, write_rgb):
    assert set(load_rgb(write_rgb([make.base(query="誰?")]), language="ja")["language"]) == {"ja"}


@pytest.mark.parametrize(
    ("before", "between", "after"),
    [
        (b"", b"\n", b""),
        (b"\xef\xbb\xbf", b"\n", b"\n"),
        (b"", b"\r\n", b"\r\n"),
        (b"\xef\xbb\xbf", b"\r\n", b""),
        (b"\n", b"\n\n", b"\n \n"),
    ],
    ids=["plain", "byte order mark", "CRLF", "both", "empty lines"],
)
def test_a_file_loads_with_any_line_ends(make, write_rgb, before, between, after):
    lines = [
        json.dumps(make.base(n, query=f"Où {n}?"), ensure_ascii=False).encode() for n in (1, 2)
    ]
    frame = load_rgb(write_rgb(before + between.join(lines) + after))
    assert frame["question"].tolist() == ["Où 1?", "Où 2?"]


def test_line_separators_inside_a_text_do_not_end_the_line(make, load):
    odd = "a\u2028b\u0085c\x0bd"
    assert load(make.base(query=odd)).iloc[0]["question"] == odd


def test_the_source_of_a_file_is_told_by_its_content(make, write_rgb):
    path = write_rgb(
        [make.base()], "en_refine.json"
    )  # the name of a published file, another content
    source = load_rgb(str(path)).attrs["source"]
    assert (source["name"], source["verified"], source["licence"]) == (
        "en_refine",
        False,
        "unknown",
    )
    assert source["git_sha1"] == git_blob_sha1(path.read_bytes())


@pytest.mark.parametrize("name", ["sample-en.jsonl", "sample-en.json"])
def test_a_file_of_ones_own_with_the_name_of_a_sample_is_not_taken_for_it(make, write_rgb, name):
    own = load_rgb(write_rgb([make.base()], name)).attrs["source"]
    assert (own["name"], own["verified"], own["licence"]) == ("sample-en", False, "unknown")
    sample = load_rgb("sample-en").attrs["source"]
    assert (sample["name"], sample["verified"], sample["licence"]) == (
        "sample-en",
        True,
        "CC BY 4.0",
    )


@pytest.mark.data
def test_a_published_file_under_another_name_is_recognised(rgb_file, tmp_path):
    copy = tmp_path / "renamed.json"
    copy.write_bytes(rgb_file("zh_int").read_bytes())
    source = load_rgb(copy).attrs["source"]
    assert source["verified"]
    assert "NC" in source["licence"]


# ---- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", r"mini\.json.*empty file"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", r"mini\.json line 1.*UTF-8.*binary"),
        (gzip.compress(b'{"id": 1}', mtime=0), r"mini\.json line 1.*UTF-8.*compressed"),
        (b"[1, 2]", r"mini\.json line 1.*JSON object.*list"),
        (b'{"id": 1', r"mini\.json line 1.*JSON object.*column"),
    ],
    ids="empty png gzip array truncated".split(),
)
def test_a_file_that_holds_no_objects_is_refused(write_rgb, content, words):
    with pytest.raises(InputError, match=words):
        load_rgb(write_rgb(content))


@pytest.mark.parametrize("bad", ["{not json}", "[]"])
def test_a_malformed_line_in_the_middle_is_named_by_its_number(make, write_rgb, bad):
    good = [json.dumps(make.base(n)) for n in range(3)]
    with pytest.raises(InputError, match=r"mini\.json line 3 .*JSON object"):
        load_rgb(write_rgb("\n".join([*good[:2], bad, good[2]]).encode()))


@pytest.mark.parametrize("key", ["id", "answer", "negative"])
def test_a_missing_key_is_named_with_file_and_line(make, write_rgb, key):
    with pytest.raises(InputError, match=rf"mini\.json line 2: must have the key {key}, got "):
        load_rgb(write_rgb([make.base(1), changed(make.base(2), {key: DROP})]))


@pytest.mark.parametrize("key", ["fakeanswer", "positive_wrong"])
def test_a_counterfactual_question_needs_both_its_keys(make, write_rgb, key):
    with pytest.raises(InputError, match=rf"mini\.json line 1: must have the key {key}, got "):
        load_rgb(write_rgb([changed(make.fact(), {key: DROP})]))


@pytest.mark.parametrize(
    ("shape", "changes", "message"),
    [
        ("base", {"query": " "}, "key query: must be a text that is not blank, got ' '"),
        ("base", {"answer": []}, "key answer: must be .* a list with 1 or more items, got "),
        ("base", {"answer": [["a", 7]]}, r"key answer\[0\]\[1\]: must be a text, got 7"),
        ("base", {"negative": "n"}, "key negative: must be a list, got 'n'"),
        ("fact", {"positive_wrong": [1]}, r"key positive_wrong\[0\]: must be a text, got 1"),
    ],
)
def test_a_wrong_value_is_named_with_file_line_and_key(make, write_rgb, shape, changes, message):
    build = getattr(make, shape)
    with pytest.raises(InputError, match=rf"^mini\.json line 2, {message}"):
        load_rgb(write_rgb([build(1), build(2) | changes]))


def test_a_file_of_another_benchmark_is_refused(write_rgb):
    with pytest.raises(InputError, match="line 1: must have the keys query, answer, .* got id, q"):
        load_rgb(write_rgb([{"id": "1", "question": "Who?", "documents": []}]))


@pytest.mark.parametrize("wrong", [["one"], ["w"] * 6])
def test_false_passages_must_match_the_true_ones_in_number(make, write_rgb, wrong):
    with pytest.raises(
        InputError, match=rf"line 1, key positive_wrong.*5 in positive, got {len(wrong)}"
    ):
        load_rgb(write_rgb([make.fact(positive_wrong=wrong)]))


def test_grouped_positives_and_false_passages_do_not_go_together(make, write_rgb):
    with pytest.raises(InputError, match=r"line 1, key positive"):
        load_rgb(write_rgb([make.fact(positive=[["a"], ["b"]], positive_wrong=["a", "b"])]))


@pytest.mark.parametrize("ids", [(1, 1), (1, "1")])
def test_an_id_given_twice_is_refused(make, write_rgb, ids):
    with pytest.raises(InputError, match=rf"mini\.json.*different id.*{ids[0]}"):
        load_rgb(write_rgb([make.base(i) for i in ids]))


def test_questions_of_different_tasks_in_one_file_are_refused(make, write_rgb):
    with pytest.raises(InputError, match=r"mini\.json.*one task.*noise.*integration"):
        load_rgb(write_rgb([make.base(1), make.integration(2)]))


def test_a_folder_and_a_missing_path_are_refused(tmp_path):
    with pytest.raises(InputError, match="folder"):
        load_rgb(tmp_path)
    with pytest.raises(InputError, match=r"exists.*nowhere\.json"):
        load_rgb(str(tmp_path / "nowhere.json"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("en_refin", "did you mean 'en_refine'"),
        ("xyzzy", "use one of en, en_refine"),
    ],
)
def test_an_unknown_catalogue_name_is_refused_with_a_suggestion(name, words, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=words):
        load_rgb(name)
