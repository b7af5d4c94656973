"""CSV as others write it: separators, encodings, rows of the wrong length, lists of texts and what they mean."""

import gzip
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnb.datasets.files import read_frame
from ragnb.datasets.predictions import load_responses
from ragnb.errors import InputError
from ragnb.scoring import score
from ragnb.version import __version__

ROWS = [
    ["1", "Who, and why?", "Åse; Bø", "مرحبا, 東京"],
    ["2", 'What is "it"?', "a\tb", "two\nlines 👩‍🔬"],
]
FRAME = pd.DataFrame(ROWS, columns=["example_id", "question", "references", "response"])


@pytest.mark.parametrize(
    ("separator", "ending", "lineterminator"),
    [(",", "csv", "\n"), (";", "csv", "\r\n"), ("\t", "tsv", "\r\n"), ("\t", "csv", "\n")],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_what_spreadsheets_write_is_read(tmp_path, separator, encoding, ending, lineterminator):
    path = tmp_path / f"own.{ending}"
    FRAME.to_csv(path, sep=separator, encoding=encoding, index=False, lineterminator=lineterminator)
    read = load_responses(path)
    assert [read["references"][row] for row in (0, 1)] == [[["Åse; Bø"]], [["a\tb"]]]
    for name in ("example_id", "question", "response"):
        assert read[name].tolist() == FRAME[name].tolist()
    assert set(read["system"]) == {"own"}


def test_a_packed_file_has_the_name_of_what_is_in_it(tmp_path):
    path = tmp_path / "gpt.v2.csv.gz"
    path.write_bytes(gzip.compress(FRAME.to_csv(index=False).encode()))
    assert load_responses(path)["system"].unique().tolist() == ["gpt.v2"]
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(InputError, match=r"gpt.v2.csv.gz must be a complete compressed file"):
        load_responses(path)


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "big.csv.gz"
    path.write_bytes(gzip.compress(b"question,response\n" + b"q" * 10_000))
    monkeypatch.setattr("ragnb.datasets.files.MOST_UNPACKED", 1000)
    with pytest.raises(InputError, match="big.csv.gz unpacks to more than 1,000 bytes"):
        load_responses(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"1,Who?,Paris,in Paris, of course\n2,Where?,Rome,in Rome, I think\n",
         "the same number of cells in each row"),
        ("1,Who?,Paris,ä\n".encode("latin-1"),
         "text in UTF-8, got byte 0xe4 at position 45; save it as UTF-8"),
        (b"", "a.csv must have at least one row, got none"),
        ],
)  # fmt: skip
def test_a_table_that_is_none_says_what_it_needs(tmp_path, content, said):
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,question,references,response\n" + content)
    with pytest.raises(InputError) as error:
        load_responses(path)
    assert said in str(error.value)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_table_or_an_error_of_our_own(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("t") / "a.csv"
    path.write_bytes(content)
    with suppress(InputError):
        assert isinstance(read_frame(path), pd.DataFrame)


@pytest.mark.parametrize(
    "cell", ["[" + " " * 300_000, " " * 200_000 + "[" + " " * 200_000 + "]" + " " * 200_000 + "x"]
)
def test_a_long_cell_that_begins_like_a_list_is_no_trouble(cell):
    """It would take hours if the time grew with the square of the length."""
    assert load_responses(of_lists(cell))["references"][0] == [[cell]]


# ---- what a list of texts means ----------------------------------------------------------------------------------------


def of_lists(*references):
    rows = {"question": "q", "language": "en", "references": list(references)}
    return pd.DataFrame(rows | {"response": "Paris"})


def test_alternatives_are_aliases_of_one_part():
    cities = ["Paris", "City of Light"]
    frame = of_lists(cities, [["Paris"], ["France"]], "Paris", ["Paris"], None)
    read = load_responses(frame, alternatives=True)
    parts = [[cities], [["Paris"], ["France"]], [["Paris"]], [["Paris"]], None]
    assert read["references"].tolist() == parts
    assert score(read, "answer.exact_match")["value"][0] == 1.0
    apart = load_responses(frame, alternatives=False)
    assert score(apart, "answer.exact_match")["value"][0] == 0.0


def test_several_texts_without_a_word_on_their_meaning_are_parts_with_a_warning():
    array = np.array(["a", "b"], dtype=object)
    frame = of_lists(["Paris", "City of Light"], array, "Paris", ["Paris"])
    said = r"2 of 4 references are lists of several texts.*alternatives=True"
    with pytest.warns(UserWarning, match=said):
        assert load_responses(frame)["references"][0] == [["Paris"], ["City of Light"]]


@pytest.fixture
def listed(tmp_path):
    """Of 20 responses 5 have both texts of their reference, 7 one and 8 none; written by pandas."""
    responses = ["Oslo, Kristiania"] * 5 + ["In Oslo."] * 7 + ["In Bergen."] * 8
    frame = of_lists(*[["Oslo", "Kristiania"]] * 20).assign(response=responses)
    path = tmp_path / "listed.csv"
    frame.assign(example_id=range(20)).to_csv(path, index=False)
    return path


def test_the_signature_says_how_lists_of_references_were_read(listed):
    for alternatives, mean, way in ((True, 0.60, "alternatives"), (False, 0.25, "parts")):
        responses = load_responses(listed, alternatives=alternatives)
        scores = score(responses, "answer.contains")
        definition = f"metric:answer.contains|variant:unicode|references:{way}|lang:en"
        assert set(scores["signature"]) == {f"ragnb:{__version__}|{definition}"}
        assert scores["value"].mean() == mean
        assert not score(responses, "language.rlc")["signature"].str.contains("references").any()
    with pytest.warns(UserWarning, match="lists of several texts"):
        assert set(load_responses(listed)["references_as"]) == {"parts"}
