import pytest

from ragnb.datasets.catalogue import CATALOGUE, git_blob_sha1
from ragnb.datasets.rgb import load_rgb_instructions
from ragnb.errors import InputError

OURS = 'en:\n  system: "Answer {briefly}."\n  instruction: "Document:\\n{DOCS}\\n\\nQuestion:\\n{QUERY}"\n'


def written(tmp_path, text):
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
        load_rgb_instructions(written(tmp_path, text))


def test_braces_of_an_instruction_are_no_fields(tmp_path):
    text = (
        "en:\n  system: 'Say {this} or }'\n"
        "  instruction: 'Write {\"answer\": 1}. {DOCS} {QUERY} {0!r:>{x}}'\n"
    )
    template = load_rgb_instructions(written(tmp_path, text))["en"]
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
