"""Recorded replies of the packaged model on the embedded sample: the notebooks replay them, so they run in seconds.

``python -m ragnb.experiments.recorded`` asks the model again (about half an hour on two cores) and writes the files anew.
A recording is a store like any other: code that replays it runs a live model when ``store`` and ``base_url`` say so.
"""

import json
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.datasets.rgb import load_rgb
from ragnb.errors import InputError
from ragnb.experiments.rgb import PARAMETERS, run_noise_robustness
from ragnb.llm.local import serve
from ragnb.llm.store import Store

RGB_NOISE_ARMS: dict[str, dict[str, Any]] = {
    "answer": {"prompt": "answer"},
    "answer, released order": {"prompt": "answer", "order": "released", "noise_rates": (0.0, 0.4, 0.8)},
    "plain": {"prompt": "plain"},
    "closed book": {"prompt": "closed_book", "passage_num": 0, "noise_rates": (0.0,)},
}
"""The recorded arms: name of the system and arguments for `noise_robustness_requests`."""

RECORDINGS = {"rgb_noise": RGB_NOISE_ARMS}


def recorded_store(name: str) -> Store:
    """The replies of a recording in a store of its own, in memory.

    Raises
    ------
    InputError
        Unknown name.
    """
    store = Store(":memory:")
    store.read_jsonl(_path(name, "replies.jsonl.gz"))
    return store


def recorded_responses(name: str) -> pd.DataFrame:
    """The responses of every arm of a recording on the embedded sample, replayed without a model.

    Raises
    ------
    InputError
        Unknown name.
    """
    store, model = recorded_store(name), recorded_provenance(name)["model"]
    examples = load_rgb("sample-en")
    arms = [
        run_noise_robustness(examples, model=model, system=system, requests=requests, store=store, offline=True)
        for system, requests in RECORDINGS[name].items()
    ]
    return pd.concat(arms, ignore_index=True)


def recorded_provenance(name: str) -> dict[str, Any]:
    """What was recorded: model, file, checksum, engine, date, settings, number of replies."""
    return dict(json.loads(_path(name, "provenance.json").read_text(encoding="utf-8")))


def record(name: str, store: Store) -> None:
    """Ask the packaged model for every reply of a recording that ``store`` does not have; write the recording's files."""
    examples, keys = load_rgb("sample-en"), set[str]()
    with serve() as endpoint:
        for system, requests in RECORDINGS[name].items():
            print(f"recording {name}: {system}", flush=True)
            options = {"base_url": endpoint.base_url, "store": store, "max_concurrency": 2, "timeout": 600.0}
            responses = run_noise_robustness(examples, model=endpoint.model, system=system, requests=requests, **options)
            keys.update(responses["request_key"])
        provenance: dict[str, Any] = dict(endpoint.provenance)
    n_replies = store.write_jsonl(_path(name, "replies.jsonl.gz"), keys)
    provenance |= {"date": f"{datetime.now(UTC):%Y-%m-%d}", "parameters": PARAMETERS, "n_replies": n_replies}
    _path(name, "provenance.json").write_text(json.dumps(provenance, indent=2) + "\n", encoding="utf-8")


def _path(name: str, ending: str) -> Path:
    if name not in RECORDINGS:
        raise InputError(f"a recording needs one of the names {', '.join(RECORDINGS)}; got {name!r}; choose one")
    return Path(str(resources.files("ragnb.experiments") / "data" / f"{name}.{ending}"))


if __name__ == "__main__":
    for each in RECORDINGS:
        with Store(f"runs/record_{each}.sqlite") as progress_so_far:
            record(each, progress_so_far)
