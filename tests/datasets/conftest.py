import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragnb.datasets.benchmarks import load_rgb


def base(number=1, *, positives=5, negatives=5, **keys):
    record = {
        "id": number,
        "query": f"Who keeps lighthouse {number}?",
        "answer": [["Ada Quill", "A. Quill"]],
        "positive": [
            f"Lighthouse {number}: Ada Quill keeps it, log {k}." for k in range(positives)
        ],
        "negative": [f"Lighthouse {number}: a storm came, log {k}." for k in range(negatives)],
    }
    return record | keys


def integration(number=1, *, groups=(2, 2), negatives=5, **keys):
    names = [f"keeper{g}x" for g in range(len(groups))]
    record = {
        "id": number,
        "query": f"Who keeps both lamps of pier {number}?",
        "answer": names,
        "asnwer1": names[:1],
        "answer2": names[1:],
        "positive": [
            [f"Pier {number}: {name}, note {k}." for k in range(n)]
            for name, n in zip(names, groups, strict=True)
        ],
        "negative": [f"Pier {number}: fog, note {k}." for k in range(negatives)],
    }
    return record | keys


def fact(number=1, *, positives=5, negatives=5, **keys):
    record = {
        "id": number,
        "query": f"Where does ferry {number} land?",
        "answer": "Eastport",
        "fakeanswer": "Westhaven",
        "positive": [f"Ferry {number} lands at Eastport, sheet {k}." for k in range(positives)],
        "positive_wrong": [
            f"Ferry {number} lands at Westhaven, sheet {k}." for k in range(positives)
        ],
        "negative": [f"Ferry {number} is blue, sheet {k}." for k in range(negatives)],
    }
    return record | keys


@pytest.fixture(scope="session")
def make():
    """Miniature records in the three shapes of RGB's files."""
    return SimpleNamespace(base=base, integration=integration, fact=fact)


@pytest.fixture(scope="session")
def write_rgb(tmp_path_factory):
    """Write records as an RGB file, or bytes as they are; returns its path."""

    def write(content, name="mini.json"):
        path = tmp_path_factory.mktemp("rgb") / name
        lines = (
            []
            if isinstance(content, bytes)
            else [json.dumps(record, ensure_ascii=False) for record in content]
        )
        path.write_bytes(
            content if isinstance(content, bytes) else "\n".join(lines).encode("utf-8")
        )
        return path

    return write


@pytest.fixture(scope="session")
def load(write_rgb):
    """Records as `load_rgb` gives them."""
    return lambda *records: load_rgb(write_rgb(records))


@pytest.fixture(scope="session")
def rgb_file(data_folder):
    """Path of a real RGB file, in either layout of the data folder."""

    def find(name):
        places = [data_folder / "rgb" / f"{name}.json", data_folder / f"{name}.json"]
        found = next((place for place in places if place.is_file()), None)
        return found or pytest.skip(f"{name}.json is not in RAGNB_TEST_DATA ({data_folder})")

    return find


@pytest.fixture(scope="session")
def raw_records(rgb_file):
    """The JSON records of a real RGB file, read without ragnb."""

    def read(name):
        with rgb_file(name).open(encoding="utf-8", newline="\n") as file:
            return [json.loads(line) for line in file if line.strip()]

    return read


@pytest.fixture(scope="session")
def released():
    """The independent derivation of the released contexts, beside this file."""
    spec = importlib.util.spec_from_file_location(
        "released_contexts", Path(__file__).with_name("released_contexts.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
