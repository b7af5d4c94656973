"""Responses in CSV, as spreadsheets and pandas write them: what separates cells, and what their texts were before."""

import csv
import gzip
import io
import re
import warnings
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.datasets.files import parsed
from ragnb.datasets.tables import unguarded
from ragnb.errors import InputError

ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
SEPARATORS = (",", ";", "\t")
"""Commas, what spreadsheets write where the comma is the decimal mark, and tabs; the first wins among equals."""
_LIKE_A_LIST = re.compile(r"""\s*\[(\s*["'\[{]|[^\[\]]*\]\s*\Z)""")


def is_separated(path: Path) -> bool:
    """Whether a file is a table of separated cells, by its name."""
    return path.name.lower().endswith(ENDINGS)


def read_separated(path: Path) -> pd.DataFrame:
    """Every cell of a table as text, missing where it is empty.

    Text is UTF-8, or UTF-16 with its mark. What separates cells is what divides the header into most names.

    Raises
    ------
    InputError
        Another encoding, a damaged or empty file, or a row with more cells than the header.
    """
    content = _content(path)
    written = _text(content, path.name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "error", pd.errors.ParserWarning
            )  # else what a row has too much is left out
            options: dict[str, Any] = {
                "dtype": object,
                "keep_default_na": False,
                "na_values": [""],
                "index_col": False,
            }
            frame = pd.read_csv(io.StringIO(written), sep=_separator(written), **options)
    except pd.errors.ParserWarning as error:
        raise InputError(
            f"{path.name} needs as many cells a row as names in its first line; got more; put texts that hold the "
            "separator in quotes"
        ) from error
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InputError(
            f"{path.name} needs a table with names in its first line; got {str(error).strip()}; mend it"
        ) from error
    written_here = content.startswith(
        BOM_UTF8
    )  # as `write_table` marks its own; others keep their apostrophes
    return frame.map(unguarded).rename(columns=unguarded) if written_here else frame


def _content(path: Path) -> bytes:
    content = path.read_bytes()
    try:
        return gzip.decompress(content) if path.suffix.lower() == ".gz" else content
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"{path.name} needs to be a whole compressed file; got {error}; fetch it again"
        ) from error


def _text(content: bytes, name: str) -> str:
    encoding = "utf-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} needs text in UTF-8; got byte 0x{content[error.start]:02x} at {error.start}; save it as UTF-8 "
            '(in spreadsheets "CSV UTF-8"), or as JSON Lines'
        ) from error


def _separator(written: str) -> str:
    """What divides the header into most names."""

    def names(separator: str) -> int:
        header = next(
            csv.reader(io.StringIO(written.lstrip("\r\n"), newline=""), delimiter=separator), []
        )
        return len(header)

    try:
        return max(SEPARATORS, key=names)
    except csv.Error:  # a header of a size that the csv module refuses
        return SEPARATORS[0]


def spelled_list(cell: Any, where: str) -> Any:
    """The list or mapping that a cell spells; a text that merely begins with a bracket, such as "[sic] Oslo", stays one.

    Raises
    ------
    InputError
        A cell that looks like a list and is none.
    """
    if not isinstance(cell, str) or not cell.lstrip().startswith(("[", "{")):
        return cell
    try:
        items = parsed(cell)
    except InputError as error:
        if _LIKE_A_LIST.match(cell):
            raise InputError(f"{where} {error}") from error
        return cell
    return items if isinstance(items, list | dict) else cell
