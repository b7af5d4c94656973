"""Files and spreadsheets as people have them: what is read, what is refused, and the line about it."""

import json
import random
import subprocess
import sys
from datetime import date, datetime

import openpyxl
import pandas as pd
import pytest

import ragnb
from ragnb.datasets import load_responses, write_table
from ragnb.datasets.cells import read_numbers
from ragnb.datasets.literals import parsed
from ragnb.datasets.reading import read_frame
from ragnb.datasets.sheets import separator_of
from ragnb.errors import InputError

HEADER = ["question", "references", "response"]
MANY = [
    ["Who wrote it?", "Oslo/Kristiania", "Oslo", "ChatGPT", "Yes ", "0,69"],
    ["Who wrote it?", "Oslo/Kristiania", "Oslo", "FiD", "no", "0,7"],
    ["What is it?", "1905", "1905", "ChatGPT ", "TRUE", "1"],
    ["What is it?", "1905", "1906", "FiD", "", "NA"],
]
COLUMNS = [*HEADER, "system", "verdict", "Judge score"]


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def csv_of(path, *rows, separator=","):
    """A CSV file with a header and rows, in which each cell is in quotes."""
    lines = [
        separator.join('"' + str(cell).replace('"', '""') + '"' for cell in row) for row in rows
    ]
    return written(path, "\n".join(lines) + "\n")


def workbook(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def loaded(source, *rows, **options):
    """The responses in a CSV file, a workbook or a frame with the same rows."""
    header, *body = rows
    if source == "frame":
        frame = pd.DataFrame(body, columns=header, dtype=object).replace("", None)
        return load_responses(frame, language="en", **options)
    if source.suffix == ".xlsx":
        return load_responses(workbook(source, S=rows), language="en", **options)
    return load_responses(csv_of(source, *rows), language="en", **options)


@pytest.fixture(params=["csv", "xlsx", "frame"])
def source(request, tmp_path):
    return "frame" if request.param == "frame" else tmp_path / f"mine.{request.param}"


# ---- a spreadsheet of a person -----------------------------------------------------------------


def test_an_export_with_blanks_semicolons_and_decimal_commas_is_read(tmp_path, capsys):
    rows = [";".join(row) for row in [COLUMNS, *MANY]]
    blank = ";" * (len(COLUMNS) - 1)
    text = "".join(f"{row};;\r\n" for row in [*rows[:3], blank, *rows[3:], blank, blank])
    path = written(tmp_path / "export.csv", "\ufeff" + text)
    frame = load_responses(path, separator="/", language="en")
    assert frame["system"].tolist() == ["ChatGPT", "FiD"] * 2
    assert frame["references"].tolist() == [[["Oslo", "Kristiania"]]] * 2 + [[["1905"]]] * 2
    assert frame["Judge score"].tolist()[:3] == [0.69, 0.7, 1]
    assert frame["Judge score"].isna().tolist() == [False, False, False, True]
    assert not [name for name in frame if name.startswith("Unnamed")]
    assert ragnb.score(frame, "annotator.verdict")["value"].tolist()[:3] == [1, 0, 1]
    lines = capsys.readouterr().err
    assert "export.csv: 3 blank rows and 2 blank columns were dropped" in lines
    assert "export.csv: the blanks around 1 cell of the column system were removed" in lines
    assert "export.csv: 4 responses: 2 questions × 2 systems" in lines


def test_csv_excel_and_a_frame_are_read_alike(tmp_path):
    frames = [
        loaded(one, COLUMNS, *MANY, [""] * 6, system="s", separator="")
        for one in (tmp_path / "a.csv", tmp_path / "a.xlsx", "frame")
    ]
    for frame in frames[1:]:
        pd.testing.assert_frame_equal(frame, frames[0])


# ---- missing values --------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["NA", "None", "null", "nan", "N/A", "#N/A", "n/a"])
def test_a_word_for_nothing_is_a_text_in_answers_and_missing_in_numbers_and_ids(
    source, word, capsys
):
    header = ["example_id", *HEADER, "judged_similarity", "seconds", "verdict"]
    rows = [["1", "Who?", word, word, word, word, word], ["2", "Why?", "a", "b", "0.5", "2", "yes"]]
    with pytest.warns(UserWarning, match="1 of 2 rows of .* have no example_id, such as row 0"):
        frame = loaded(source, header, [word, *rows[0][1:]], rows[1])
    assert frame["references"].tolist() == [[[word]], [["a"]]]
    assert frame["response"].tolist() == [word, "b"]
    for name in ("example_id", "judged_similarity", "verdict"):
        assert frame[name].isna().tolist() == [True, False]
    assert source == "frame" or frame["seconds"].isna().tolist() == [True, False]
    line = capsys.readouterr().err
    assert f"1 of the column response ({word!r}), 1 of the column references ({word!r})" in line


def test_rows_without_a_system_are_named_before_a_table_by_system_leaves_them_out(source):
    header = ["example_id", "system", *HEADER]
    rows = [["1", "a", "Who?", "x", "x"], ["1", "", "Who?", "x", "y"]]
    message = "1 of 2 rows of .* have no system, such as row 1. They are in no table by system"
    with pytest.warns(UserWarning, match=message):
        frame = loaded(source, header, *rows)
    assert frame["system"].isna().tolist() == [False, True]


def test_blank_rows_are_no_responses_and_do_not_change_ids(source, capsys):
    blank = ["", " ", ""]
    frame = loaded(source, HEADER, ["Who?", "a", "a"], blank, ["Why?", "b", "b"], blank)
    assert frame["example_id"].tolist() == ["Who?", "Why?"]
    assert "2 blank rows were dropped" in capsys.readouterr().err


def test_a_column_without_a_name_and_cells_is_dropped_and_others_stay(tmp_path):
    path = written(tmp_path / "a.csv", "question,,response,,notes\nWho?,x,a,,\n")
    assert [*read_frame(path)] == ["question", "Unnamed: 1", "response", "notes"]


def test_a_header_may_follow_blank_lines_and_have_blanks_around_names(tmp_path):
    path = written(tmp_path / "a.csv", ",,\n\n question , references,response\u00a0\nWho?,a,b\n")
    assert load_responses(path, language="en")["response"].tolist() == ["b"]


# ---- ids, systems and verdicts --------------------------------------------------------------------


def test_ids_that_differ_only_in_blanks_are_an_error_that_names_both_rows(source):
    rows = [["q1", "Who?", "a", "a"], ["q2", "Why?", "a", "a"], ["q1 ", "Who?", "a", "b"]]
    with pytest.raises(InputError, match="ids 'q1' in row 0 and 'q1 ' in row 2 are equal"):
        loaded(source, ["example_id", *HEADER], *rows)


def test_the_blanks_around_the_ids_of_another_system_do_not_count(source):
    rows = [["q1", "A", "Who?", "a", "a"], ["\u00a0q1\u200b", "B ", "Who?", "a", "b"]]
    frame = loaded(source, ["example_id", "system", *HEADER], *rows)
    assert frame[["example_id", "system"]].values.tolist() == [["q1", "A"], ["q1", "B"]]


def test_systems_that_differ_in_letter_case_are_named(source, capsys):
    rows = [["A one", "Who?", "a", "a"], ["a One", "Who?", "a", "b"]]
    frame = loaded(source, ["system", *HEADER], *rows)
    assert frame["system"].nunique() == 2
    assert "'A one' and 'a One' differ only in letter case or blanks" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["verdict", "answerable", "refusal", "error_detected", "label"])
def test_yes_and_no_are_verdicts_in_many_spellings(source, name):
    yes = ["yes", "Yes ", "TRUE", "true", "1", "1.0", "Y", "ja", "WAHR", "oui", "sí", "是"]
    no = ["no", " No", "FALSE", "false", "0", "0.0", "n", "Nein", "FALSCH", "non", "否", "wrong"]
    rows = [[f"{n}?", "a", "a", word] for n, word in enumerate([*yes, *no])]
    frame = loaded(source, [*HEADER, name], *rows)
    assert frame[name].tolist() == [1] * 12 + [0] * 12


def test_the_metric_reads_words_and_its_message_names_what_is_allowed():
    words = [True, 0, "1", "YES", " nein ", "Correct", "REFUSE", None, ""]
    frame = pd.DataFrame({"example_id": range(9), "system": "s", "verdict": words})
    values = ragnb.score(frame, "annotator.verdict")["value"]
    assert values.fillna(-1).tolist() == [1, 0, 1, 1, 0, 1, 0, -1, -1]
    with pytest.raises(InputError, match="True or False, 1 or 0, yes or no, .*got 'perhaps'"):
        ragnb.score(frame.assign(verdict="perhaps"), "annotator.verdict")


def test_half_a_surrogate_pair_in_an_id_is_replaced(source):
    if source != "frame":
        pytest.skip("a file in UTF-8 has none")
    frame = loaded(source, ["example_id", *HEADER], ["q\ud800", "Who?", "a", "a"])
    assert frame["example_id"].tolist() == ["q\ufffd"]
    assert ragnb.score(frame, "answer.f1")["value"].tolist() == [1]


# ---- numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["0,75", "1,5"], [0.75, 1.5]),
        (["0,75", "1,234"], [0.75, 1.234]),
        (["0.75", "1,234"], [0.75, 1234]),
        (["1,234,567", "1,234"], [1234567, 1234]),
        (["1.234,5", "2.345"], [1234.5, 2345]),
        (["1.234", "2.345"], [1.234, 2.345]),
        (["1 234,5", "2\u00a0345"], [1234.5, 2345]),
        (["1'234.5", "7"], [1234.5, 7]),
        (["0.75", "0,5"], [0.75, 0.5]),
        (["−0,5", "+2", "1e-3", "1,5E-05"], [-0.5, 2, 0.001, 1.5e-5]),
        (["85 %", "7,5%"], [0.85, 0.075]),
        (["0,123"], [0.123]),
        (["-", "3", "#DIV/0!", ""], [None, 3, None, None]),
    ],
    ids=range(13),
)
def test_the_decimal_mark_of_a_column_follows_from_its_cells(cells, numbers):
    assert read_numbers(cells) == pytest.approx(numbers)


@pytest.mark.parametrize("name", ["seconds", "judged_similarity", "Judge score"])
@pytest.mark.parametrize("cells", [["1,234", "2,345"], ["1,234", "7"], ["0,5", "0.5", "1,234"]])
def test_numbers_that_can_be_read_in_two_ways_need_the_decimal_mark(source, name, cells):
    rows = [[*HEADER, name], *([f"{n}?", "a", "a", cell] for n, cell in enumerate(cells))]
    with pytest.raises(
        InputError, match=rf"column '{name}' can be read .*'1,234' in row .*decimal="
    ):
        loaded(source, *rows)
    place = cells.index("1,234")
    assert loaded(source, *rows, decimal=",")[name][place] == 1.234
    assert loaded(source, *rows, decimal=".")[name][place] == 1234


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (
            ["1.234", "0,5", "0.5"],
            "decimal point or with a point between thousands, such as '1.234'",
        ),
        (
            ["1.234", "1,234", "0,5", "0.5"],
            "decimal comma or with a comma between .* '1,234' in row 1",
        ),
    ],
)
def test_the_message_about_the_decimal_mark_names_a_cell_with_this_mark(cells, message):
    with pytest.raises(InputError, match=message):
        read_numbers(cells)


def test_a_column_with_other_texts_needs_no_decimal_mark():
    assert read_numbers(["1,234", "x"]) == [1234, "x"]
    assert read_numbers(["1,234", "x"], decimal=",") == [1.234, "x"]
    # A column of questions, one of which looks like a number, does not stop the loading of scores.
    table = pd.DataFrame(
        {"example_id": ["q1", "q2"], "system": "a", "note": ["1,234", "Who?"], "quality": [1, 0.5]}
    )
    assert ragnb.load_scores(table)["metric"].unique().tolist() == ["quality"]


def test_scores_of_another_tool_may_have_decimal_commas(tmp_path):
    path = written(tmp_path / "t.csv", "example_id;system;faithfulness\nq;a;0,75\nr;a;1\n")
    scores = ragnb.load_scores(path)
    assert scores["value"].tolist() == [0.75, 1]


def test_texts_names_codes_and_ids_of_digits_stay_texts(tmp_path):
    header = ["example_id", "system", *HEADER, "topic", "zip", "doc_id", "year"]
    row = ["007", "1", "2 + 2?", "4", "4", "12", "01234", "5", "1905"]
    frame = loaded(tmp_path / "a.csv", header, row)
    for name, cell in zip(header, row, strict=True):
        if name not in ("references", "year"):
            assert frame[name].tolist() == [cell]
    assert frame["references"].tolist() == [[["4"]]]
    assert frame["year"].tolist() == [1905]


# ---- cells of workbooks -----------------------------------------------------------------------------


def test_dates_line_breaks_numbers_and_truth_values_of_a_workbook_are_texts_as_in_csv(tmp_path):
    cells = [
        (datetime(1990, 5, 1), "1990-05-01"),
        (date(1990, 5, 1), "1990-05-01"),
        (datetime(1990, 5, 1, 12, 30), "1990-05-01 12:30:00"),
        ("one_x000D_\ntwo", "one\ntwo"),
        ("one_x000D_two", "one\ntwo"),
        ("_x005F_x000D_", "_x000D_"),
        (1905, "1905"),
        (1905.0, "1905"),
        (0.1, "0.1"),
        (True, "TRUE"),
    ]
    rows = [HEADER, *([f"{n}?", value, value] for n, (value, _) in enumerate(cells))]
    frame = load_responses(workbook(tmp_path / "a.xlsx", S=rows), language="en")
    texts = [text for _, text in cells]
    assert frame["response"].tolist() == texts
    assert frame["references"].tolist()[:5] == [[[text]] for text in texts[:5]]


def test_dates_in_a_frame_have_no_time():
    made = pd.DataFrame({"question": ["When?"], "references": pd.to_datetime(["1990-05-01"])})
    frame = load_responses(made.assign(response="1990-05-01 00:00:00"), language="en")
    assert frame["references"].tolist() == [[["1990-05-01"]]]
    assert frame["response"].tolist() == ["1990-05-01"]


def test_a_table_on_another_sheet_is_read_or_named(tmp_path, capsys):
    table = [HEADER, ["Who?", "a", "b"]]
    path = workbook(tmp_path / "a.xlsx", Readme=[["Results of May"], ["See the paper"]], Data=table)
    assert load_responses(path, language="en")["response"].tolist() == ["b"]
    assert "a.xlsx: read from the sheet 'Data'" in capsys.readouterr().err
    path = workbook(tmp_path / "b.xlsx", Summary=[["model", "F1"], ["x", 0.5]], Data=table)
    with pytest.raises(InputError, match="read from the sheet 'Summary'.*'Data'.*sheet="):
        load_responses(path)
    for sheet in ("Data", "data ", 2, "2"):
        assert load_responses(path, sheet=sheet, language="en")["response"].tolist() == ["b"]
    with pytest.raises(InputError, match="no sheet 'Date'; its sheets are 'Summary', 'Data'"):
        load_responses(path, sheet="Date")
    with pytest.raises(InputError, match="sheet= names a sheet of an Excel file"):
        load_responses(csv_of(tmp_path / "a.csv", *table), sheet="Data")


def test_a_workbook_that_is_too_large_encrypted_or_damaged_is_refused(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"x.xlsx: it has a password, or is an old .xls file"):
        read_frame(written(tmp_path / "x.xlsx", b"\xd0\xcf\x11\xe0 rest"))
    path = workbook(tmp_path / "a.xlsx", S=[HEADER, ["Who?", "a", "b"]])
    content = path.read_bytes()
    with pytest.raises(InputError, match=r"a.xlsx is not a complete .xlsx file"):
        read_frame(written(path, content[: len(content) // 2]))
    monkeypatch.setattr("ragnb.datasets.sheets.MOST_UNPACKED", 100)
    with pytest.raises(InputError, match=r"a.xlsx: it unpacks to more than 100 bytes"):
        read_frame(written(path, content))


# ---- CSV -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["sep=;\r\n", '"sep=;"\n', "SEP=;\n"])
def test_the_line_that_names_the_separator_is_no_header(tmp_path, line):
    path = written(tmp_path / "a.csv", f"{line}question;references;response\nWho, why?;a;b\n")
    assert load_responses(path, language="en")["question"].tolist() == ["Who, why?"]


@pytest.mark.parametrize("character", "\x0b\x0c\x1c\x85\u2028\u2029")
def test_a_line_break_of_unicode_does_not_end_the_line_of_the_header(character):
    header = f"note,{character}question;references;response"
    # Only the first comma is before the character.
    assert separator_of(f"{header}\nx,y;z\n") == ";"


def test_separators_inside_quotes_of_the_header_do_not_count(tmp_path):
    path = written(tmp_path / "a.csv", 'question,response,"notes; a; b; c; d"\nWho?,a,x\n')
    assert [*read_frame(path)] == ["question", "response", "notes; a; b; c; d"]
    path = written(tmp_path / "b.csv", "question|response\nWho?|a\n")
    assert [*read_frame(path)] == ["question", "response"]


def test_a_cell_may_be_longer_than_the_limit_of_the_csv_module(tmp_path):
    long = "word " * 60_000
    for last in ("\n", ""):
        path = written(tmp_path / "a.csv", f"question,references,response\nWho?,a,{long}{last}")
        assert load_responses(path, language="en")["response"].tolist() == [long]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('question,response\nWho?,"a\nWhy?,b\n', "a quotation mark is not closed.*row 1"),
        (
            "question,response\nWho?,a,b\n",
            "row 2 has more cells than the header in row 1, which has 2",
        ),
        ("question,response\nWho?,a\nWhy?", "the last row has 1 of 2 cells"),
        (",,\n , ,\n", "all cells are empty"),
    ],
)
def test_damage_of_csv_is_named(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        read_frame(written(tmp_path / "a.csv", content))


# ---- files that are something else --------------------------------------------------------------------

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
LOGIN = "\n<!-- x -->\n<!DOCTYPE html><html><head><title> Sign in </title></head><body>a,b</body></html>"


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json", "parquet", "xlsx", "arrow", "eval"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (POINTER, "is a pointer of Git LFS and not the data; run `git lfs pull`"),
        ("../.git/annex/objects/G7/MD5E-s1--a", "is a pointer of git-annex"),
        (LOGIN, r"is a web page \('Sign in'\) and not the data; perhaps the address needs a login"),
        ("<html><body>404</body></html>", "is a web page and not the data"),
        ('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "is an XML document"),
        (b"%PDF-1.7 ...", "is a PDF document"),
        (b"SQLite format 3\x00 ...", r"is a database, .*ragnb.Store"),
    ],
    ids=range(7),
)
def test_the_true_cause_is_named(tmp_path, ending, content, message):
    with pytest.raises(InputError, match=f"a.{ending} {message}"):
        load_responses(written(tmp_path / f"a.{ending}", content))


def test_a_file_with_another_ending_is_named(tmp_path):
    frame = pd.DataFrame({"question": ["Who?"], "response": ["a"]})
    parquet = write_table(frame, tmp_path / "a.parquet").read_bytes()
    with pytest.raises(InputError, match=r"is a Parquet file; its name must end in .parquet"):
        load_responses(written(tmp_path / "a.csv", parquet))
    excel = workbook(tmp_path / "b.xlsx", S=[HEADER]).read_bytes()
    with pytest.raises(InputError, match=r"Excel file, its name must end in .xlsx"):
        load_responses(written(tmp_path / "b.csv", excel))
    with pytest.raises(InputError, match=r"contains JSON; its name must end in .json or .jsonl"):
        load_responses(written(tmp_path / "c.csv", '{"question": "Who?"}\n'))
    with pytest.raises(InputError, match=r"begins with 'question,response'. If it is a table"):
        load_responses(written(tmp_path / "d.jsonl", "question,response\nWho?,a\n"))
    with pytest.raises(InputError, match=r"save this spreadsheet as .xlsx"):
        load_responses(written(tmp_path / "e.ods", "x"))
    table = written(tmp_path / "f.csv", "question,response\nWho?,a\n")
    for load in (ragnb.load_rgb, ragnb.load_multilingual, ragnb.datasets.load_evouna):
        with pytest.raises(InputError, match=r"f.csv is a table.*use ragnb.load_responses"):
            load(table)


@pytest.mark.parametrize("between", ["\n", "\n\n", ",\n", " "])
def test_json_lines_may_be_printed_over_several_lines(tmp_path, between):
    rows = [{"question": f"{n}?", "references": "a", "response": "b{\n}"} for n in range(3)]
    text = between.join(json.dumps(row, indent=2) for row in rows)
    path = written(tmp_path / "a.jsonl", text)
    assert load_responses(path, language="en")["question"].tolist() == ["0?", "1?", "2?"]
    cut = written(tmp_path / "b.jsonl", text[:-10])
    with pytest.raises(InputError, match=r"b.jsonl line \d+: must be JSON.*cut off"):
        load_responses(cut)


def test_deep_nesting_is_refused_in_one_sentence(tmp_path):
    for depth in (150, 100_000):
        value = "[" * depth + "]" * depth
        for name, content in (
            ("a.jsonl", f'{{"question": "q", "response": "a", "x": {value}}}\n'),
            ("b.json", f'[{{"question": "q", "response": "a", "x": {value}}}]'),
        ):
            with pytest.raises(InputError, match=r"must (have at most 100 levels|be JSON)"):
                load_responses(written(tmp_path / name, content))
    with pytest.raises(InputError, match=r"i.yaml must be YAML"):
        ragnb.datasets.load_rgb_instructions(written(tmp_path / "i.yaml", "[" * 50_000))


def test_names_of_files_that_do_not_exist_get_the_nearest_name_or_the_folder(tmp_path):
    path = csv_of(tmp_path / "results_export.csv", HEADER, ["Who?", "a", "b"])
    with pytest.raises(InputError, match=r"did you mean '.*results_export.csv'\?"):
        load_responses(tmp_path / "result_export.csv")
    with pytest.raises(InputError, match=r"tables in '.*': results_export.csv"):
        load_responses(tmp_path / "x.parquet")
    with pytest.raises(InputError, match="there is no folder '.*nowhere'"):
        load_responses(tmp_path / "nowhere" / path.name)
    with pytest.raises(InputError, match=r"cannot be opened \(File name too long\)"):
        load_responses(tmp_path / ("x" * 300 + ".csv"))


def test_one_flipped_byte_in_an_arrow_file_never_ends_the_process(tmp_path):
    """Damage that ends a process would end that of this test; so another process reads the files."""
    import pyarrow as pa

    table = pa.table({"question": ["Who?", "Why?"] * 20, "references": [["a"], ["b"]] * 20})
    with (
        pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file,
        pa.ipc.new_file(file, table.schema) as writer,
    ):
        writer.write_table(table, max_chunksize=10)
    content = (tmp_path / "a.arrow").read_bytes()
    random.seed(1)
    for n in range(150):
        damaged = bytearray(content)
        damaged[random.randrange(len(content))] ^= 1 << random.randrange(8)
        written(tmp_path / f"d{n}.arrow", bytes(damaged))
    script = """
import sys
from pathlib import Path
from ragnb.datasets.reading import read_frame
from ragnb.datasets.sheets import separator_of
from ragnb.errors import InputError
n = 0
for path in sorted(Path(sys.argv[1]).glob("d*.arrow")):
    try:
        read_frame(path)
    except InputError:
        pass
    n += 1
print(n)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "150"), done.stderr


@pytest.mark.parametrize("name", ["a.arrow", "a.parquet"])
def test_two_columns_of_one_name_in_arrow_or_parquet_are_refused_and_named(tmp_path, name):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_arrays(
        [pa.array(["Who?"]), pa.array(["Oslo"]), pa.array(["Bergen"])],
        names=["question", "response", "response"],
    )
    path = tmp_path / name
    if name.endswith("parquet"):
        pq.write_table(table, path)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    with pytest.raises(InputError, match=rf"{name} has several columns named 'response'"):
        read_frame(path)


def test_a_packed_table_has_a_stated_limit(tmp_path, monkeypatch):
    frame = pd.DataFrame({"question": ["Who?"] * 5000, "response": ["a" * 1000] * 5000})
    path = write_table(frame, tmp_path / "a.parquet")
    monkeypatch.setattr("ragnb.datasets.sheets.MOST_UNPACKED", 1_000_000)
    with pytest.raises(InputError, match=r"a.parquet: it unpacks to more than 1,000,000 bytes"):
        read_frame(path)


# ---- references in one cell -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cell",
    [
        "array(['Oslo', 'Kristiania'], dtype=object)",
        "[array(['Oslo', 'Kristiania'], dtype='<U10')]",
        "np.array(['Oslo', 'Kristiania'])",
        "('Oslo', 'Kristiania')",
        "{'Oslo', 'Kristiania'}",
        "frozenset({'Oslo', 'Kristiania'})",
        "['Oslo', 'Kristiania']",
    ],
)
def test_arrays_tuples_and_sets_as_python_prints_them_are_lists(source, cell):
    frame = loaded(source, HEADER, ["Who?", cell, "Oslo"], alternatives=True)
    assert frame["references"].tolist() == [[["Oslo", "Kristiania"]]]


@pytest.mark.parametrize(
    "cell", ["(1990, 1991)", "(born 1950)", "('Oslo')", "{x}", "array of ones"]
)
def test_texts_in_brackets_stay_texts(source, cell):
    frame = loaded(source, HEADER, ["Who?", cell, "Oslo"])
    assert frame["references"].tolist() == [[[cell]]]


def test_an_array_that_was_cut_off_is_refused(source):
    with pytest.raises(InputError, match="row 0 column references must be a list"):
        loaded(source, HEADER, ["Who?", "array(['a', ..., 'b'], dtype=object)", "a"])


@pytest.mark.parametrize(
    "text", ["Counter(['a'])", "array(['a'], ['b'])", "os.listdir('.')", "['a', open('b')]"]
)
def test_calls_that_no_library_prints_for_a_list_are_refused(text):
    with pytest.raises(InputError, match="must be a list written as JSON or Python, got"):
        parsed(text)


@pytest.mark.parametrize("sign", ["/", "|", ";"])
def test_several_spellings_in_one_cell_are_separated_on_request(source, sign, recwarn):
    rows = [
        ["1?", f"Oslo {sign} Kristiania", "Kristiania"],
        *([f"{n}?", "a", "a"] for n in range(2, 11)),
    ]
    with pytest.warns(
        UserWarning, match=rf"1 of 10 references in .* contain '\{sign}', such as 'Oslo"
    ):
        frame = loaded(source, HEADER, *rows)
    assert ragnb.score(frame, "answer.exact_match")["value"].sum() == 9
    recwarn.clear()
    frame = loaded(source, HEADER, *rows, separator=sign)
    assert frame["references"][0] == [["Oslo", "Kristiania"]]
    assert ragnb.score(frame, "answer.exact_match")["value"].sum() == 10
    frame = loaded(source, HEADER, *rows, separator="")
    assert frame["references"][0] == [[f"Oslo {sign} Kristiania"]]
    assert not [str(one.message) for one in recwarn if "contain" in str(one.message)]


@pytest.mark.filterwarnings("error")
def test_rare_signs_addresses_dates_and_fractions_are_no_spellings(source):
    texts = ["http://a.b/c", "12/05/1990", "1/2", "N/A", "a/", *"abcdefghijklmno", "x/y"]
    rows = [[f"{n}?", text, "a"] for n, text in enumerate(texts)]
    frame = loaded(source, HEADER, *rows)
    assert frame["references"].tolist() == [[[text]] for text in texts]


def test_the_separator_also_separates_the_members_of_lists(tmp_path):
    rows = [{"question": "Who?", "references": [["a/b"], ["c / d", "e"]], "response": "a"}]
    rows += [{"question": "Why?", "references": ["a/b", "c"], "response": "a"}]
    path = written(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))
    frame = load_responses(path, separator="/", language="en")
    assert frame["references"].tolist() == [[["a", "b"], ["c", "d", "e"]], [["a", "b"], ["c"]]]


# ---- which column is what ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "suggested"),
    [
        ("question answer prediction", {"response": "prediction", "references": "answer"}),
        ("question answer gold", {"response": "answer", "references": "gold"}),
        ("question answer answers", {"response": "answer", "references": "answers"}),
        ("question answer", {"response": "answer"}),
        ("query correct_answer generated_answer",
         {"question": "query", "response": "generated_answer", "references": "correct_answer"}),
        ("prompt ideal completion",
         {"question": "prompt", "response": "completion", "references": "ideal"}),
        ("Frage Musterlösung Antwort Modell",
         {"question": "Frage", "response": "Antwort", "references": "Musterlösung", "system": "Modell"}),
        ("userQuestion expectedOutput modelOutput",
         {"question": "userQuestion", "response": "modelOutput", "references": "expectedOutput"}),
        ("question_id Question reference_url response_tokens", {"question": "Question", "response": "..."}),
    ],
    ids=range(9),
)  # fmt: skip
def test_the_suggested_mapping_has_the_columns_of_the_file(tmp_path, columns, suggested):
    names = columns.split()
    rows = [[f"{name} {n} x" for name in names] for n in range(3)]
    with pytest.raises(InputError) as caught:
        load_responses(csv_of(tmp_path / "a.csv", names, *rows))
    assert f"{suggested})" in str(caught.value)


def test_names_with_blanks_are_suggested_and_quoted_for_the_command_line(tmp_path):
    names = ["Question text", "Gold answer", "Model output", "System"]
    path = csv_of(tmp_path / "a.csv", names, ["Who?", "a", "b", "X"], ["Why?", "a", "b", "X"])
    with pytest.raises(InputError) as caught:
        load_responses(path)
    assert (
        "{'question': 'Question text', 'response': 'Model output', 'references': 'Gold answer', "
        "'system': 'System'}" in str(caught.value)
    )
    assert '--columns question="Question text" response="Model output"' in str(caught.value)
    with pytest.raises(InputError, match=r"names 'Model ouput', .*did you mean 'Model output'\?"):
        load_responses(path, {"question": "Question text", "response": "Model ouput"})


@pytest.mark.parametrize("notes", ["source_url author", "title comment", "link1 link2"])
def test_notes_about_questions_are_no_systems(tmp_path, notes):
    first, second = notes.split()
    rows = [[f"Who is {n}?", f"a{n}", f"https://a.org/{n}", f"https://b.org/{n}"] for n in range(3)]
    path = csv_of(tmp_path / "a.csv", ["question", "answer", first, second], *rows)
    with pytest.raises(InputError, match="a.csv has no column named references or response"):
        load_responses(path)


def test_the_line_names_the_systems_of_a_table_with_one_column_each(tmp_path, capsys):
    rows = [[f"Who is {n}?", f"a{n}", f"b{n}", f"c{n}"] for n in range(3)]
    load_responses(csv_of(tmp_path / "a.csv", ["question", "gold", "plain", "ours"], *rows))
    lines = capsys.readouterr().err
    assert "a.csv: 6 responses: 3 questions × 2 systems" in lines
    assert "(format='wide'), systems plain, ours, 6 rows" in lines


def test_the_line_after_loading_counts_what_is_not_a_full_table(tmp_path, capsys):
    rows = [["Who?", "a", "a", "x"], ["Who?", "a", "a", "y"], ["Why?", "a", "a", "x"]]
    loaded(tmp_path / "a.csv", [*HEADER, "system"], *rows)
    assert "a.csv: 3 responses: 2 questions, 2 systems (x 2, y 1)" in capsys.readouterr().err
    for name in "bc":
        loaded(tmp_path / f"{name}.csv", HEADER, *(row[:3] for row in rows[1:]))
    capsys.readouterr()
    load_responses([tmp_path / "b.csv", tmp_path / "c.csv"], language="en")
    assert capsys.readouterr().err == "ragnb: 2 files: 4 responses: 2 questions × 2 systems\n"


def test_options_of_spreadsheets_are_on_the_command_line(tmp_path, capsys):
    rows = [[*HEADER, "cost"], ["Who?", "Oslo/Kristiania", "Kristiania", "1,234"]]
    path = workbook(tmp_path / "a.xlsx", Summary=[["x", "y"], ["1", "2"]], Data=rows)
    command = ["score", str(path), "-m", "em", "--sheet", "Data", "--separator", "/"]
    from ragnb.__main__ import main

    assert main([*command, "--decimal", ",", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["mean"] == 1


# ---- titles, repeated names, numbers as responses -------------------------------------------------


@pytest.mark.parametrize(
    "rows",
    [
        [["Results of run 3"]],
        [["Results of run 3", "", ""], [""]],
        [["# exported by a tool"], ["# version 2"]],
    ],
)
@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_title_above_the_header_is_left_out_with_a_line(tmp_path, capsys, rows, kind):
    rows = [*rows, HEADER, ["Who?", "a", "b"]]
    path = tmp_path / f"mine.{kind}"
    if kind == "xlsx":
        workbook(path, S=rows)
    else:
        csv_of(path, *rows, separator=";")
    frame = load_responses(path, language="en")
    assert frame["response"].tolist() == ["b"]
    assert "above the header" in capsys.readouterr().err


def test_a_header_with_a_nameless_column_is_no_title(tmp_path, capsys):
    path = written(tmp_path / "a.csv", "question,,response\nWho?,x,a\n")
    assert [*read_frame(path)] == ["question", "Unnamed: 1", "response"]
    assert "above the header" not in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_two_columns_of_one_name_are_named_in_a_line(tmp_path, capsys, kind):
    rows = [[*HEADER, "response"], ["Who?", "a", "a", "b"]]
    frame = loaded(tmp_path / f"a.{kind}", *rows)
    assert frame["response"].tolist() == ["a"]
    assert frame["response.1"].tolist() == ["b"]
    assert "the header has 'response' more than once" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cell", "text"),
    [(42, "42"), (3.5, "3.5"), (42.0, "42"), (True, "true"), (10**25, f"{10**25}")],
)
def test_a_number_as_a_response_becomes_a_text(tmp_path, cell, text):
    record = {"question": "How many?", "references": cell, "response": cell}
    path = written(tmp_path / "a.jsonl", json.dumps(record))
    for source in (path, pd.DataFrame([record, record | {"question": "Who?", "response": None}])):
        frame = load_responses(source, language="en")
        assert frame["response"].iloc[0] == text
        assert ragnb.score(frame, "answer.exact_match")["value"].iloc[0] == 1


@pytest.mark.parametrize("cell", [["a"], {"answer": "a"}])
def test_a_list_or_an_object_is_no_response(tmp_path, cell):
    record = {"question": "Who?", "references": "a", "response": cell}
    path = written(tmp_path / "a.jsonl", json.dumps(record))
    with pytest.raises(InputError, match="row 0: a response must be a text, or None"):
        load_responses(path, language="en")


def test_verdicts_may_be_signs_or_pass_and_fail(source):
    rows = [[f"{n}?", "a", "a", word] for n, word in enumerate(["✅", "❌", "PASS", "fail", "👍"])]
    frame = loaded(source, [*HEADER, "verdict"], *rows)
    assert frame["verdict"].tolist() == [1, 0, 1, 0, 1]


def test_ids_that_recur_are_named_unless_they_are_repeats(tmp_path, capsys):
    rows = [["q1", "Who?", "a", "a"], ["q1", "Who?", "a", "b"]]
    loaded(tmp_path / "a.csv", ["example_id", *HEADER], *rows)
    line = capsys.readouterr().err
    assert "1 response has the id of an earlier response of the same system, such as q1" in line
    rows = [[*row, repeat] for row, repeat in zip(rows, "01", strict=True)]
    loaded(tmp_path / "a.csv", ["example_id", *HEADER, "repeat"], *rows)
    line = capsys.readouterr().err
    assert "earlier response" not in line
    assert "1 question × 1 system × 2 repeats" in line


def test_the_line_counts_conversations(capsys):
    turns = [{"conversation_id": c, "turn": t} for c in "ab" for t in (1, 2)]
    rows = [turn | {"question": f"Who is {n}?", "response": "x"} for n, turn in enumerate(turns)]
    load_responses(pd.DataFrame(rows), language="en")
    assert "4 responses: 4 questions in 2 conversations × 1 system" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["https://example.org/a.csv", "hf://data/a?.jsonl"])
def test_an_address_is_not_a_missing_folder(address):
    with pytest.raises(InputError, match="is an address on the internet; download the file"):
        load_responses(address)


@pytest.mark.parametrize("source", [{"a": "a.csv"}, [{"question": "Who?", "response": "x"}]])
def test_a_mapping_is_no_source(source):
    with pytest.raises(InputError, match="a file, a frame or a list of these, got a mapping"):
        load_responses(source)


def test_a_file_that_python_printed_has_its_own_message(tmp_path):
    path = written(tmp_path / "a.jsonl", "{'question': 'Who?', 'response': 'x'}\n")
    with pytest.raises(
        InputError, match="it is written as Python prints it; write it with json.dumps"
    ):
        load_responses(path)


def test_a_list_of_records_is_found_beside_other_lists(tmp_path):
    record = {"question": "Who?", "references": "a", "response": "a"}
    path = written(tmp_path / "a.json", json.dumps({"meta": {}, "data": [record], "errors": []}))
    assert load_responses(path, language="en")["response"].tolist() == ["a"]


@pytest.mark.parametrize(
    "text", ["x", "NA", " Who?", "a_x000D_b", "1990-05-01 00:00:00", "[1", "答 "]
)
def test_one_odd_cell_among_many_plain_ones_is_read_as_it_is_alone(text):
    alone = pd.DataFrame({"example_id": "q", "system": text, "question": "?", "response": [text]})
    plain = pd.DataFrame(
        {"example_id": ["p", "o"], "system": "Ann", "question": "?", "response": ["plain", "text"]}
    )
    many = load_responses(pd.concat([plain, alone], ignore_index=True), language="en")
    one = load_responses(alone, language="en")
    assert (
        many.iloc[-1][["system", "response"]].tolist()
        == one.iloc[0][["system", "response"]].tolist()
    )
