"""Citation marks as models write them: which passages they name, and which sentence cites them."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnb.errors import InputError
from ragnb.prompts import citations_of

READ = {
    "[1]": [1],
    "[1-3]": [1, 2, 3],
    "[1–3]": [1, 2, 3],
    "[1 - 3]": [1, 2, 3],
    "[1]-[3]": [1, 2, 3],
    "[1]–[3]": [1, 2, 3],
    "[1; 2]": [1, 2],
    "[ 1 ]": [1],
    "【1】": [1],
    "［1］": [1],
    "[１]": [1],
    "[^1]": [1],
    "[^1][^2]": [1, 2],
    "[^1, ^2]": [1, 2],
    "[1, 2]": [1, 2],
    "[1,2]": [1, 2],
    "[1，2]": [1, 2],
    "[1、2]": [1, 2],
    "[1 2]": [1, 2],
    "[1 and 2]": [1, 2],
    "[1, 2, and 3]": [1, 2, 3],
    "[1, 3-5]": [1, 3, 4, 5],
    "[1][2]": [1, 2],
    "[1] [2]": [1, 2],
    "[1], [2]": [1, 2],
    "[2][1][2]": [2, 1],
    "[[1]]": [1],
    "[#1]": [1],
    "[doc 1]": [1],
    "[Document 2]": [2],
    "[Doc 1, Doc 2]": [1, 2],
    "[Source: 3]": [3],
    "(Source 3)": [3],
    "[Passages 1, 2]": [1, 2],
    "【1†source】": [1],
    "[1](https://example.org/a_(b))": [1],
    "[[2]](https://example.org)": [2],
    "<sup>1</sup>": [1],
    "<sup>[1, 2]</sup>": [1, 2],
}


@pytest.mark.parametrize("mark", READ)
@pytest.mark.parametrize(
    "form", ["It is so {}. It rains.", "It is so. {} It rains.", "It is so.{} It rains.", "It is so.\n{}\nIt rains."]
)  # fmt: skip
def test_a_mark_is_read_inside_its_sentence_and_behind_it(mark, form):
    first, second = citations_of(form.format(mark))
    assert (first[1], second) == (READ[mark], ("It rains.", []))
    assert first[0] == "It is so."


@pytest.mark.parametrize("mark", ["[1]", "[1-3]", "【1】", "[^1]", "[doc 1]", "[1; 2]"])
@pytest.mark.parametrize("bullet", ["", "- ", "* ", "1. ", "> "])
def test_marks_in_front_belong_to_the_sentence_that_follows(mark, bullet):
    line = f"{bullet}{mark} It is so. [7] It rains."
    (first, one), (second, other) = citations_of(line)[-2:]
    assert (one, other) == (READ[mark], [7])
    assert (first.removeprefix(bullet.strip()).strip(), second) == ("It is so.", "It rains.")


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("[1] It is so.\n[2] It rains.", [[1], [2]]),
        ("- [1] Oslo\n- [2] Rain", [[1], [2]]),
        ("- Oslo [1]\n- Rain [2]", [[1], [2]]),
        ("下雨了[1]。是的。[2]", [[1], [2]]),
        ("雨が降った。【1】はい。", [[1], []]),
        ("“It rains.”[1] He went.", [[1], []]),
        ("It rains! [1] Really? [2]", [[1], [2]]),
        ("According to [1], it rains. It is so.", [[1], []]),
        ("Prices rose in 1925[3]. It is Oslo[1]. See CO2[2].", [[3], [1], [2]]),
        ("It grew by 3.5 % [1]. Dr. No [2] left.", [[1], [2]]),
        ("It rains.¹ It is the capital².", [[1], [2]]),
        ("It rains [^1].\n\n[^1]: The weather report.", [[1]]),
        ("It rains [1].\n[1]: https://example.org", [[1]]),
        ("It rains.", [[]]),
        ("[1]", []),
        ("", []),
    ],
)
def test_marks_belong_to_their_sentence(text, cited):
    assert [numbers for _, numbers in citations_of(text)] == cited


@pytest.mark.parametrize(
    "text",
    [
        "The value is array[1].",
        "The value array[1] is 5.",
        "It is in my_list[2].",
        "Here x[1] = 3.",
        "Take x[1] and arr[2][3].",
        "Call sys.argv[1].",
        "Write `values[1]` or `[1]x`.",
        "```python\nprint(items[1], [2])\n```",
        "The set [a, b] and [sic] and [ ].",
        "The interval is [10.5, 12.3].",
        "So says [Smith 2020].",
        "An area of 5 m².",
    ],
)
def test_other_brackets_are_no_citations_and_stay(text):
    cited = citations_of(text)
    assert not any(numbers for _, numbers in cited)
    assert "".join("".join(sentence for sentence, _ in cited).split()) == "".join(text.split())


def test_an_index_beside_a_citation():
    assert citations_of("The value array[1] is 5 [2].") == [("The value array[1] is 5.", [2])]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It is so [3-1].", r"got '\[3-1\]'"),
        ("It is so [1-1000000].", r"got '\[1-1000000\]'"),
        ("It is so [0].", r"numbers of passages from 1 on"),
        ("p is in [0, 1].", r"got '\[0, 1\]'"),
        ("It is so [1-].", r"got '\[1-\]'"),
        ("It is so [1:2].", r"got '\[1:2\]'"),
        ("It is so【4:0†source】.", "got '【4:0†source】'"),
        ("It was so in [2021].", r"got '\[2021\]'"),
        ("It is in the data[1].", r"data\[1\] could be a citation or the index of an array"),
        ("[1] It is so. It rains. [2]", "must not both begin and end with a citation mark"),
        ("It rains.¹²", "could name one passage or several"),
    ],
)
def test_a_mark_that_can_be_read_in_two_ways_is_an_error_in_a_sentence(text, words):
    with pytest.raises(InputError, match=words):
        citations_of(text)


pieces = st.sampled_from(
    ["[", "]", "[1]", "[2-3]", "【1】", "1", "-", ",", " ", ".", "\n", "It", "rains", "array", "`", "(", ")", "¹", "<sup>"]
)  # fmt: skip


@given(st.lists(pieces, max_size=30).map("".join) | st.text())
def test_any_text_is_read_or_refused_and_no_word_is_lost(text):
    try:
        cited = citations_of(text)
    except InputError:
        return
    for sentence, numbers in cited:
        assert sentence.strip() == sentence != ""
        assert len(set(numbers)) == len(numbers)
    words = text.count("rains")
    assert sum(sentence.count("rains") for sentence, _ in cited) == words


@pytest.mark.parametrize(
    "unit", ["[", "[1", "[1]", "[1,", "(doc ", "<sup>", "[^1]: ", "array[1]", "1 ", "`"]
)
def test_a_long_row_of_anything_is_read_in_one_walk(unit):
    text = unit * (20_000 // len(unit))
    with suppress(InputError):
        citations_of(text)
