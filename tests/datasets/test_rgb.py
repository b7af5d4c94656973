import gzip
import json

import pytest

from ragnb.columns import RGB_EXAMPLE
from ragnb.datasets import CATALOGUE, load_rgb, load_rgb_instructions
from ragnb.datasets.sources import git_blob_sha1
from ragnb.errors import InputError


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


# ---- what is refused ---------------------------------------------------------------------------


def lines(*records):
    return "\n".join(one if isinstance(one, str) else json.dumps(one) for one in records).encode()


REFUSED = {
    "empty": (lambda make: b"", "mini.json is an empty file"),
    "packed": (lambda make: gzip.compress(b"{}"), "mini.json must be text in UTF-8.*unpack"),
    "cut off": (lambda make: b'{"id": 1', "mini.json line 1: must be JSON .*column"),
    "no objects": (lambda make: b"[1, 2]", "mini.json item 1: must be a JSON object, got 1"),
    "a malformed line": (
        lambda make: lines(make.base(1), make.base(2), "{not json}", make.base(3)),
        "mini.json line 3: must be JSON",
    ),
    "a blank text": (
        lambda make: lines(make.base(1), make.base(2, query=" ")),
        "mini.json line 2, key query: must be a text that is not blank, got ' '",
    ),
    "a number in a list": (
        lambda make: lines(make.base(1), make.base(2, answer=[["a", 7]])),
        r"mini.json line 2, key answer\[0\]\[1\]: must be a text, got 7",
    ),
    "two tasks": (
        lambda make: lines(make.base(1), make.integration(2)),
        "mini.json.*one task, got integration, noise",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_mistake_in_a_file_is_named_with_file_line_and_key(make, write_rgb, what):
    content, message = REFUSED[what]
    with pytest.raises(InputError, match=message):
        load_rgb(write_rgb(content(make)))


def test_a_folder_and_a_missing_path_are_refused(tmp_path):
    with pytest.raises(InputError, match="is a folder; name a file inside it"):
        load_rgb(tmp_path)
    with pytest.raises(InputError, match=r"nowhere\.json. does not exist"):
        load_rgb(str(tmp_path / "nowhere.json"))


OUR_INSTRUCTIONS = 'en:\n  system: "Answer {briefly}."\n  instruction: "Document:\\n{DOCS}\\n\\nQuestion:\\n{QUERY}"\n'


def instruction_file(tmp_path, text):
    path = tmp_path / "instruction.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("en: [", "instruction.yaml must be YAML with"),
        ("en:\n  system: a\n  instruction: '{DOCS}'\n",
         "key en.instruction: must contain {QUERY}, got"),
        ],
)  # fmt: skip
def test_a_bad_file_says_what_it_needs(tmp_path, text, message):
    with pytest.raises(InputError, match=message.replace("{", r"\{")):
        load_rgb_instructions(instruction_file(tmp_path, text))


def test_braces_of_an_instruction_are_no_fields(tmp_path):
    text = (
        "en:\n  system: 'Say {this} or }'\n"
        "  instruction: 'Write {\"answer\": 1}. {DOCS} {QUERY} {0!r:>{x}}'\n"
    )
    template = load_rgb_instructions(instruction_file(tmp_path, text))["en"]
    system, user = template.messages({"passages": "p", "question": "q"})
    assert system["content"] == "Say {this} or }"
    assert user["content"] == 'Write {"answer": 1}. p q {0!r:>{x}}'


@pytest.mark.data
def test_the_real_file_gives_both_languages_and_has_the_checksum_of_the_catalogue(data_folder):
    path = data_folder / "rgb" / "instruction.yaml"
    prompts = load_rgb_instructions(path)
    assert set(prompts) == {"en", "zh"}
    assert all(set(prompt.fields) == {"passages", "question"} for prompt in prompts.values())
    assert git_blob_sha1(path.read_bytes()) == CATALOGUE["rgb_instructions"].git_sha1
