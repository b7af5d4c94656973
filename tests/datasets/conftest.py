import json
from types import SimpleNamespace

import pytest

from ragnb.datasets import load_rgb


def base(number=1, *, positives=5, negatives=5, **keys):
    lamp = f"Lighthouse {number}:"
    return {
        "id": number,
        "query": f"Who keeps lighthouse {number}?",
        "answer": [["Ada Quill", "A. Quill"]],
        "positive": [f"{lamp} Ada Quill keeps it, log {k}." for k in range(positives)],
        "negative": [f"{lamp} a storm came, log {k}." for k in range(negatives)],
    } | keys


def integration(number=1, *, groups=(2, 2), negatives=5, **keys):
    names = [f"keeper{g}x" for g in range(len(groups))]
    both = zip(names, groups, strict=True)
    return {
        "id": number,
        "query": f"Who keeps both lamps of pier {number}?",
        "answer": names,
        "asnwer1": names[:1],
        "answer2": names[1:],
        "positive": [[f"Pier {number}: {name}, note {k}." for k in range(n)] for name, n in both],
        "negative": [f"Pier {number}: fog, note {k}." for k in range(negatives)],
    } | keys


def fact(number=1, *, positives=5, negatives=5, **keys):
    ferry, sheets = f"Ferry {number}", range(positives)
    return {
        "id": number,
        "query": f"Where does ferry {number} land?",
        "answer": "Eastport",
        "fakeanswer": "Westhaven",
        "positive": [f"{ferry} lands at Eastport, sheet {k}." for k in sheets],
        "positive_wrong": [f"{ferry} lands at Westhaven, sheet {k}." for k in sheets],
        "negative": [f"{ferry} is blue, sheet {k}." for k in range(negatives)],
    } | keys


@pytest.fixture(scope="session")
def make():
    """Miniature records in the three shapes of RGB's files."""
    return SimpleNamespace(base=base, integration=integration, fact=fact)


@pytest.fixture(scope="session")
def write_rgb(tmp_path_factory):
    """Write records as an RGB file, or bytes as they are; returns its path."""

    def write(content, name="mini.json"):
        path = tmp_path_factory.mktemp("rgb") / name
        if not isinstance(content, bytes):
            lines = [json.dumps(record, ensure_ascii=False) for record in content]
            content = "\n".join(lines).encode("utf-8")
        path.write_bytes(content)
        return path

    return write


@pytest.fixture(scope="session")
def load(write_rgb):
    """Records as `load_rgb` gives them."""
    return lambda *records: load_rgb(write_rgb(records))


@pytest.fixture(scope="session")
def rgb_file(data_folder):
    """Path of a real RGB file."""

    def find(name):
        path = data_folder / "rgb" / f"{name}.json"
        return path if path.is_file() else pytest.skip(f"rgb/{name}.json is not in RAGNB_TEST_DATA")

    return find


@pytest.fixture(scope="session")
def raw_records(rgb_file):
    """The JSON records of a real RGB file, read without ragnb."""

    def read(name):
        with rgb_file(name).open(encoding="utf-8", newline="\n") as file:
            return [json.loads(line) for line in file if line.strip()]

    return read


@pytest.fixture(autouse=True)
def lines_about_what_was_read(monkeypatch):
    """The line with the number of responses is printed, also where the environment turns progress off."""
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
