import gzip
import json

import pytest

from ragnb.datasets.benchmarks import load_rgb
from ragnb.errors import InputError
from ragnb.records import RGB_EXAMPLE


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
    names = {"example_id": "mini/7", "benchmark": "rgb", "task": "noise", "language": "en"}
    texts = {"question": "Who keeps lighthouse 7?", "references": [["Ada Quill", "A. Quill"]]}
    passages = {"positive": [record["positive"]], "negative": record["negative"]}
    none = {"positive_wrong": [], "false_answers": []}
    assert row.to_dict() == names | texts | passages | none
    assert list(row.index) == list(RGB_EXAMPLE)


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
    ("before", "between", "after"),
    [
        (b"\xef\xbb\xbf", b"\n", b"\n"),
        (b"\xef\xbb\xbf", b"\r\n", b""),
        (b"\n", b"\n\n", b"\n \n"),
    ],
    ids=["byte order mark", "CRLF", "empty lines"],
)
def test_a_file_loads_with_any_line_ends(make, write_rgb, before, between, after):
    records = [make.base(n, query=f"Où {n}?") for n in (1, 2)]
    lines = [json.dumps(record, ensure_ascii=False).encode() for record in records]
    frame = load_rgb(write_rgb(before + between.join(lines) + after))
    assert frame["question"].tolist() == ["Où 1?", "Où 2?"]


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
        (gzip.compress(b'{"id": 1}', mtime=0), r"mini\.json must be text in UTF-8.*unpack"),
        (b'{"id": 1', r"mini\.json line 1: must be JSON .*column"),
        (b"[1, 2]", r"mini\.json item 1: must be a JSON object, got 1"),
    ],
    ids="empty gzip truncated array".split(),
)
def test_a_file_that_holds_no_objects_is_refused(write_rgb, content, words):
    with pytest.raises(InputError, match=words):
        load_rgb(write_rgb(content))


def test_a_malformed_line_in_the_middle_is_named_by_its_number(make, write_rgb):
    one, two, three = (json.dumps(make.base(n)) for n in range(3))
    with pytest.raises(InputError, match=r"mini\.json line 3: must be JSON"):
        load_rgb(write_rgb("\n".join([one, two, "{not json}", three]).encode()))


@pytest.mark.parametrize(
    ("shape", "changes", "message"),
    [
        ("base", {"query": " "}, "key query: must be a text that is not blank, got ' '"),
        ("base", {"answer": [["a", 7]]}, r"key answer\[0\]\[1\]: must be a text, got 7"),
    ],
)
def test_a_wrong_value_is_named_with_file_line_and_key(make, write_rgb, shape, changes, message):
    build = getattr(make, shape)
    with pytest.raises(InputError, match=rf"^mini\.json line 2, {message}"):
        load_rgb(write_rgb([build(1), build(2) | changes]))


def test_questions_of_different_tasks_in_one_file_are_refused(make, write_rgb):
    with pytest.raises(InputError, match=r"mini\.json.*one task, got integration, noise"):
        load_rgb(write_rgb([make.base(1), make.integration(2)]))


def test_a_folder_and_a_missing_path_are_refused(tmp_path):
    with pytest.raises(InputError, match="folder"):
        load_rgb(tmp_path)
    with pytest.raises(InputError, match=r"nowhere\.json. does not exist"):
        load_rgb(str(tmp_path / "nowhere.json"))
