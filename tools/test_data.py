"""Fetch the published files that tests read: ``python -m tools.test_data FOLDER``.

Afterwards, set the environment variable RAGNB_TEST_DATA to the folder. ``test_data.csv`` lists each file with
its place in the folder and its source: a name in `ragnb.datasets.catalogue`, or an address with the SHA-1 that
git computes for the file. A file whose place ends in ``.gz`` is packed. A file that is there already and
right is not fetched again.

Some tests read files that have no licence or no fixed form, so they are not in the list. These tests are skipped
if the folder lacks the files.
"""

import csv
import gzip
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from ragnb.datasets.sources import CATALOGUE, Source, fetch, git_blob_sha1
from ragnb.errors import InputError

LIST = Path(__file__).with_suffix(".csv")


def sources(path: Path = LIST) -> dict[str, Source]:
    """The source of each file, by its place in the folder."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["path"]: source_of(row) for row in rows}


def source_of(row: dict[str, str]) -> Source:
    """The source that a row of the list names."""
    if row["source"] in CATALOGUE:
        return CATALOGUE[row["source"]]
    name, sha1 = row["path"], row["git_sha1"]
    return Source(name, "", Path(name).name, row["source"], sha1, row["licence"], "")


def is_right(path: Path, source: Source) -> bool:
    """Whether a file is there and is the published one."""
    if not path.is_file():
        return False
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    return git_blob_sha1(content) == source.git_sha1


def fetch_all(folder: Path, files: dict[str, Source]) -> list[str]:
    """Fetch files into a folder, and return what is wrong with those that could not be fetched."""
    problems = []
    for name, source in files.items():
        path = folder / name
        if is_right(path, source):
            continue
        with TemporaryDirectory() as temporary:
            try:
                content = fetch(source, Path(temporary)).read_bytes()
            except InputError as error:
                problems.append(f"{name}: {error}")
                continue
        path.parent.mkdir(parents=True, exist_ok=True)
        # The time would make the file differ from day to day.
        path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
    return problems


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tools.test_data FOLDER")
    files = sources()
    problems = fetch_all(Path(sys.argv[1]), files)
    print(f"{len(files) - len(problems)} of {len(files)} files are in {sys.argv[1]}")
    if problems:
        sys.exit("\n".join(problems))
