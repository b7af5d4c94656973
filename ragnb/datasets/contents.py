"""The content of a file: its text, and whether it is what the name of the file says."""

# Tested in tests/datasets/test_responses.py.

import gzip
import io
import re
import sys
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path

from ragnb.datasets.files import STANDARD_INPUT, WORKBOOKS, ending_of
from ragnb.datasets.sheets import MOST_UNPACKED
from ragnb.errors import InputError

BYTE_ORDER_MARK = "\ufeff"


# Number of bytes by which the content of a file is recognised.
HEAD_BYTES = 4096


_TITLE = re.compile(rb"(?is)<title[^>]*>\s*(.*?)\s*</title>")


# Beginning of a content, with a byte order mark and white space if there are any.
_MARKED = rb"\A(?:\xef\xbb\xbf)?\s*"


# How a content begins, the endings of file names for which this is right, and what such a content is
# under any other name.
_CONTENTS: tuple[tuple[re.Pattern[bytes], tuple[str, ...], str], ...] = (
    (
        re.compile(rb"\Aversion https://git-lfs"),
        (),
        "a pointer of Git LFS and not the data; run `git lfs pull` in the repository, or download the "
        "file itself",
    ),
    (
        re.compile(rb"\A(?:\.\./)*(?:\.git/annex|/annex)/objects/"),
        (),
        "a pointer of git-annex and not the data; run `git annex get` in the repository",
    ),
    (
        re.compile(
            _MARKED + rb"(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|script|meta|title)\b",
            re.IGNORECASE | re.DOTALL,
        ),
        (),
        "a web page{title} and not the data; perhaps the address needs a login or leads to a page "
        "about the file. Download the file itself",
    ),
    (
        re.compile(_MARKED + rb"<(?:\?xml|error>)", re.IGNORECASE),
        (),
        "an XML document and not the data; perhaps it is the error message of a server",
    ),
    (re.compile(rb"\APAR1"), ("parquet",), "a Parquet file; its name must end in .parquet"),
    (re.compile(rb"\AARROW1"), ("arrow",), "an Arrow file; its name must end in .arrow"),
    (
        re.compile(rb"\APK\x03\x04"),
        (*WORKBOOKS, "eval"),
        "an archive; unpack it, or if it is an Excel file, its name must end in .xlsx",
    ),
    (re.compile(rb"\A%PDF-"), (), "a PDF document and not a table"),
    (
        re.compile(rb"\ASQLite format 3\x00"),
        (),
        "a database, such as a store of replies (ragnb.Store) or a log of labels, and not a table",
    ),
)


def read_text(path: Path) -> str:
    """Text of a file in UTF-8, with its byte order mark if it has one, or in UTF-16."""
    content = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
    if path.suffix.lower() == ".gz":
        content = _unpacked(content, path)
    refuse_other_content(content[:HEAD_BYTES], path)
    try:
        is_wide = content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        text = content.decode("utf-16" if is_wide else "utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path.name} must be text in UTF-8, got byte 0x{content[error.start]:02x} at position "
            f'{error.start}; save it as UTF-8 (in spreadsheets "CSV UTF-8"), or unpack it'
        ) from error
    content_of_text = text.removeprefix(BYTE_ORDER_MARK)
    if not content_of_text or content_of_text.isspace():
        raise InputError(f"{path.name} is an empty file")
    return text


def _unpacked(content: bytes, path: Path) -> bytes:
    """The content of a compressed file, which is refused if it is damaged or too large."""
    try:
        with gzip.open(io.BytesIO(content)) as file:
            # One byte more than allowed shows that the file is too large, without unpacking the rest.
            unpacked = file.read(MOST_UNPACKED + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path.name} must be a complete compressed file ({error})") from error
    if len(unpacked) > MOST_UNPACKED:
        raise InputError(
            f"{path.name} unpacks to more than {MOST_UNPACKED:,} bytes; unpack it yourself if "
            "this size is right"
        )
    return unpacked


def refuse_other_content(head: bytes, path: Path) -> None:
    """Raise InputError if a file begins like something else than its name says."""
    kind_by_name = "arrow" if path.is_dir() else ending_of(path)
    for start, kinds, meaning in _CONTENTS:
        if start.match(head) and kind_by_name not in kinds:
            title = _TITLE.search(head)
            name = f" ({title[1].decode('utf-8', 'replace').strip()!r:.80})" if title else ""
            raise InputError(f"{path.name} is {meaning.format(title=name)}")
