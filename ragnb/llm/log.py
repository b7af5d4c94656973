"""Whether the log of an SQLite file lost replies, which SQLite itself does not report.

In the mode that a store uses, a reply is first written to a log next to the file (``-wal``), and moved
to the file later. After a process was killed, SQLite reads the log. If the log is missing or damaged,
SQLite reads what is left and reports nothing. The index of the log (``-shm``) contains the number of
pages that the log had, so a loss can be noticed as long as the index is there.

The formats are described at https://www.sqlite.org/walformat.html.
"""

import os
import struct
from dataclasses import dataclass
from pathlib import Path

# Sizes in bytes of the header of the log, and of that before each page, which together are a frame.
_LOG_HEADER, _FRAME_HEADER = 32, 24
# First number of a log. The last bit is 1 if checksums are computed from numbers in big-endian order.
_MAGIC = (0x377F0682, 0x377F0683)
# Version of the format of the index.
_INDEX_VERSION = 3_007_000


def lost_log(path: str) -> str:
    """One sentence if the log of an SQLite file lost what was not yet in the file; empty if it did not.

    Call it before the file is opened, because SQLite then makes the log anew.
    """
    index = _index(Path(f"{path}-shm"))
    log = Path(f"{path}-wal")
    if not os.path.exists(path):
        return ""  # a new store, which has lost nothing
    try:
        content = log.read_bytes() if log.exists() else None
    except OSError:
        return ""  # opening the store reports it
    if index is not None:
        if index.frames <= index.moved:
            return ""  # all is in the file
        if content is None and not Path(f"{path}-shm").exists():
            return ""  # another process has just closed the store in good order
        damage = _damage(content, index.frames)
    elif content:
        # Without an index, nothing says how many pages there were, but a page may be damaged.
        damage = _damage(content, None)
    else:
        return ""
    if not damage:
        return ""
    is_being_written = _index(Path(f"{path}-shm")) != index
    if is_being_written:
        return ""  # by another process, which has changed the log since it was read
    return (
        f"The log of the store {path!r} {damage}, so replies of the last run may be missing. A run asks "
        "for them again; restore the files from a copy if you have one."
    )


@dataclass(frozen=True, slots=True)
class _Index:
    """Number of pages in the log, and how many of them are in the file already."""

    frames: int
    moved: int


def _index(path: Path) -> _Index | None:
    """What the index of the log says; None if there is none that can be read."""
    try:
        # Two headers of 48 bytes, and the number of frames that are in the file, of 4 bytes.
        content = path.read_bytes()[:100]
    except OSError:
        return None
    # Two copies of a header of 48 bytes in the byte order of the machine; a process that is writing
    # changes one after the other.
    if len(content) < 100 or content[:48] != content[48:96]:
        return None
    version, _, _, initialised = struct.unpack_from("=IIIB", content)
    if version != _INDEX_VERSION or not initialised:
        return None
    # Offset 16 of the header has the last valid frame, and after the two copies comes the number of frames that are in the
    # file.
    (frames,) = struct.unpack_from("=I", content, 16)
    (moved,) = struct.unpack_from("=I", content, 96)
    return _Index(frames, moved)


def _damage(content: bytes | None, frames: int | None) -> str:
    """What is wrong with a log; empty if its first ``frames`` pages are intact. If this is None, every page is checked."""
    if not content:
        return "is missing"
    if len(content) < _LOG_HEADER:
        return "was cut off"
    magic, _, page_size, _, _, _, first, second = struct.unpack_from(">8I", content)
    if magic not in _MAGIC or page_size < 512:
        return "is damaged"
    order = ">" if magic & 1 else "<"
    checksum = _checksum(content[:24], order, (0, 0))
    if checksum != (first, second):
        return "is damaged"
    frame_size = _FRAME_HEADER + page_size
    n_whole, n_bytes_after = divmod(len(content) - _LOG_HEADER, frame_size)
    if frames is not None and n_whole < frames:
        return "was cut off"
    for number in range(n_whole if frames is None else frames):
        start = _LOG_HEADER + number * frame_size
        # Two random numbers, which SQLite changes each time it begins the log again. Frames of an earlier round may be left
        # over after the present ones.
        is_of_this_round = content[start + 8 : start + 16] == content[16:24]
        if not is_of_this_round:
            return "is damaged" if frames is not None else ""
        # The checksum continues that of the frame before, and covers the first eight bytes of the header and the page.
        checksum = _checksum(content[start : start + 8], order, checksum)
        checksum = _checksum(content[start + _FRAME_HEADER : start + frame_size], order, checksum)
        if checksum != struct.unpack_from(">2I", content, start + 16):
            return "is damaged"
    is_cut_off = frames is None and n_bytes_after > 0
    return "was cut off" if is_cut_off else ""


def _checksum(content: bytes, order: str, start: tuple[int, int]) -> tuple[int, int]:
    """SQLite's checksum of a piece of the log, continued from an earlier piece."""
    first, second = start
    words = struct.unpack(f"{order}{len(content) // 4}I", content)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
