"""Whether the log of an SQLite file lost replies, which SQLite itself does not report.

In the mode that a store uses (*write-ahead logging*), SQLite first writes the changed pages of the file to
a log next to it (``-wal``), and moves them to the file later. After a process was killed, SQLite reads the
log. If the log is missing or damaged, SQLite reads what is left and reports nothing. The index of the log
(``-shm``) contains the number of pages that the log had, so a loss can be noticed as long as the index is
there.

A page in the log has a small header before it. Both together are a *frame*. The formats are described at
https://www.sqlite.org/walformat.html (index) and https://www.sqlite.org/fileformat2.html#walformat (log).
"""

# Tested in tests/llm/test_store.py.

import os
import struct
from dataclasses import dataclass
from pathlib import Path

# ---- the format of the log: every number has 4 bytes, the most significant first -----------------

# Sizes in bytes of the header of the log and of the header of each frame.
_LOG_HEADER_SIZE, _FRAME_HEADER_SIZE = 32, 24
# The number with which a log begins -> the byte order in which its checksums read the content.
_BYTE_ORDERS = {0x377F0682: "<", 0x377F0683: ">"}
# Smallest page of an SQLite file, in bytes.
_SMALLEST_PAGE = 512

# ---- the format of the index: every number is in the byte order of the machine -------------------

# The index begins with two copies of its header, of this many bytes each.
_INDEX_HEADER_SIZE = 48
# Version of the format, which is the first number of the header.
_INDEX_VERSION = 3_007_000
# Offsets in bytes: of the mark that SQLite has written the header, and of the number of frames in the log.
_IS_WRITTEN_AT, _N_FRAMES_AT = 12, 16
# The number of frames that are in the file already comes after both copies.
_N_MOVED_AT = 2 * _INDEX_HEADER_SIZE


def lost_log(path: str) -> str:
    """One sentence if the log of an SQLite file lost what was not yet in the file; empty if it did not.

    Call it before the file is opened, because SQLite then makes the log anew.
    """
    index_path, log_path = Path(f"{path}-shm"), Path(f"{path}-wal")
    # The index is read before the log, because another process may be writing: the log then has at least the
    # frames that the index counts.
    index = _read_index(index_path)
    if not os.path.exists(path):
        return ""  # a new store, which has lost nothing
    try:
        log = log_path.read_bytes() if log_path.exists() else None
    except OSError:
        return ""  # Opening the store reports it.

    if index is None:
        # Nothing says how many frames there were. A log that is there may be damaged, but none is missing.
        damage = _damage(log, None) if log else ""
    elif index.n_frames <= index.n_moved:
        return ""  # All is in the file.
    elif log is None and not index_path.exists():
        # Another process has just closed the store in good order: SQLite then moves all to the file, and deletes
        # the log and the index.
        return ""
    else:
        damage = _damage(log, index.n_frames)

    if not damage:
        return ""
    has_changed = _read_index(index_path) != index
    if has_changed:
        # Another process has written meanwhile, so that the index and the log that were read do not belong together.
        return ""
    return (
        f"The log of the store {path!r} {damage}, so replies of the last run may be missing. A run asks "
        "for them again; restore the files from a copy if you have one."
    )


# ---- the index -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Index:
    """Number of frames in the log, and how many of them are in the file already."""

    n_frames: int
    n_moved: int


def _read_index(path: Path) -> _Index | None:
    """The numbers in the index of a log; None if there is no index, or none that can be read."""
    number_size = 4
    try:
        content = path.read_bytes()[: _N_MOVED_AT + number_size]
    except OSError:
        return None
    if len(content) < _N_MOVED_AT + number_size:
        return None
    # A process that is writing changes one copy of the header after the other, so that a reader notices that it
    # reads in between.
    header = content[:_INDEX_HEADER_SIZE]
    copy = content[_INDEX_HEADER_SIZE : 2 * _INDEX_HEADER_SIZE]
    is_written = content[_IS_WRITTEN_AT] != 0
    if header != copy or not is_written or _number(content, 0) != _INDEX_VERSION:
        return None
    return _Index(n_frames=_number(content, _N_FRAMES_AT), n_moved=_number(content, _N_MOVED_AT))


def _number(index: bytes, offset: int) -> int:
    """The number of 4 bytes at an offset of the index."""
    (number,) = struct.unpack_from("=I", index, offset)
    return int(number)


# ---- the log -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _LogHeader:
    """What the header of a log says about its frames.

    Attributes
    ----------
    byte_order : str
        Byte order in which checksums read the content, as `struct` writes it.
    page_size : int
        Number of bytes of a page.
    salts : bytes
        Two numbers that every frame of the present round repeats. When all pages are in the file, SQLite begins
        the next round with other numbers: it writes over the log from its start, and does not shorten it.
    checksum : tuple of int
        Checksum of the header, which that of the first frame continues.
    """

    byte_order: str
    page_size: int
    salts: bytes
    checksum: tuple[int, int]


def _damage(log: bytes | None, n_frames: int | None) -> str:
    """What is wrong with a log, as the end of a sentence; empty if nothing is.

    The first ``n_frames`` frames must be intact. If this is None, the number is unknown, and all frames of the
    present round must be intact.
    """
    if not log:
        return "is missing"
    if len(log) < _LOG_HEADER_SIZE:
        return "was cut off"
    header = _read_log_header(log)
    if header is None:
        return "is damaged"
    frame_size = _FRAME_HEADER_SIZE + header.page_size
    n_whole, n_bytes_after = divmod(len(log) - _LOG_HEADER_SIZE, frame_size)
    if n_frames is not None and n_whole < n_frames:
        return "was cut off"

    checksum = header.checksum
    for number in range(n_whole if n_frames is None else n_frames):
        start = _LOG_HEADER_SIZE + number * frame_size
        frame = log[start : start + frame_size]
        # The header of a frame: two numbers about the page, the salts, and the checksum.
        is_left_over = frame[8:16] != header.salts
        if is_left_over and n_frames is None:
            # The present round ends before it.
            return ""
        # The checksum continues that of the frame before. It covers the two numbers about the page, and the page.
        checksum = _checksum(frame[:8], header.byte_order, checksum)
        checksum = _checksum(frame[_FRAME_HEADER_SIZE:], header.byte_order, checksum)
        if is_left_over or checksum != struct.unpack(">2I", frame[16:24]):
            return "is damaged"
    # With a known number of frames, what comes after them is left over.
    is_cut_off = n_frames is None and n_bytes_after > 0
    return "was cut off" if is_cut_off else ""


def _read_log_header(log: bytes) -> _LogHeader | None:
    """The header of a log; None if it is damaged."""
    # Between the size of a page and the checksum are the number of the round and the two salts.
    magic, _version, page_size, _round, _, _, *stored_checksum = struct.unpack_from(">8I", log)
    byte_order = _BYTE_ORDERS.get(magic)
    if byte_order is None or page_size < _SMALLEST_PAGE:
        return None
    # The checksum covers all that comes before it.
    checksum = _checksum(log[:24], byte_order, (0, 0))
    if checksum != tuple(stored_checksum):
        return None
    return _LogHeader(byte_order, page_size, log[16:24], checksum)


def _checksum(content: bytes, byte_order: str, previous: tuple[int, int]) -> tuple[int, int]:
    """SQLite's checksum of a piece of the log, which continues the checksum of the piece before.

    It consists of two sums of the content's numbers of 4 bytes. Each sum takes every second number and the other sum.
    """
    first, second = previous
    numbers = struct.unpack(f"{byte_order}{len(content) // 4}I", content)
    for even, odd in zip(numbers[::2], numbers[1::2], strict=True):
        # Sums are kept to 32 bits, as in SQLite.
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
