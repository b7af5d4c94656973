"""Ask the local models for the recorded replies again: ``python -m tools.recording.replies [NAME ...]``.

It takes about an hour on two cores and can be interrupted and resumed.
"""

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import ragnb
from ragnb.datasets import load_multilingual
from ragnb.ensemble import SplitRatios, feature_frame
from ragnb.experiments import RECORDINGS, rank_passages
from ragnb.experiments.recorded import data_file, recording_file
from ragnb.llm import Store, embed, serve


def reply_keys(responses: pd.DataFrame) -> set[str]:
    """Keys of every reply behind some responses: their own, their judges', labellers' and translations'."""
    lists = [
        responses[column].dropna()
        for column in ("judge_keys", "translation_keys", "label_keys")
        if column in responses
    ]
    return set(responses.get("request_key", [])).union(
        *(keys for column in lists for keys in column)
    )


def record_ranking() -> None:
    """Rank the passages of the multilingual sample again; the recording ``multilingual`` uses them."""
    ranking = rank_passages(load_multilingual("sample-multilingual")).round({"cosine": 6})
    lines = ranking.to_json(orient="records", lines=True)
    data_file("multilingual.ranking.jsonl").write_text(lines, encoding="utf-8")


def record_vectors() -> None:
    """Embed the questions and passages of the multilingual sample again, in half precision."""
    examples = load_multilingual("sample-multilingual")
    texts = {"query": examples["question"], "passage": examples["passages"].str[0]}
    vectors = {kind: embed(some, kind=kind).astype("float16") for kind, some in texts.items()}
    np.savez_compressed(data_file("multilingual.vectors.npz"), **vectors)


def record_deferred() -> None:
    """Choose the answers of EVOUNA that the recording ``judged_evouna`` is asked about.

    They are those that the ensemble of notebook 15 defers, and 100 random answers of its test set.
    The error rate is slightly below the notebook's 0.05, so that a few more answers than these are
    deferred: rounding may then differ between machines without a reply missing.
    """
    study = ragnb.load_study("evouna-nq")
    answers = study[~study["improper"]].dropna(subset=["response", "verdict"])
    answers = answers.reset_index(drop=True)
    names = ["answer.contains", "answer.recall", "answer.precision", "answer.f1"]
    features = feature_frame(ragnb.score(answers, names), responses=answers)
    labels, questions = answers["verdict"].astype(int), answers["question"]
    ratios = SplitRatios(train=0.5, test=0.1, calibration=0.4)
    split = ragnb.DataSplit(features, labels, ratios, groups=questions, random_state=0)
    ensemble = ragnb.MetricEnsemble(
        split.train, split.calibration, alpha=0.049, classifier=LogisticRegression()
    )
    found = ensemble.decide(split.test.X)
    chosen = {
        "deferred": found.index[found["abstained"]],
        "random": found.sample(100, random_state=0).index,
    }
    parts = [
        answers.loc[rows, ["example_id", "system"]].assign(chosen=how)
        for how, rows in chosen.items()
    ]
    pd.concat(parts).to_csv(data_file("judged_evouna.items.csv"), index=False, lineterminator="\n")


def record(name: str, store: Store) -> None:
    """Ask the local model for every reply of a recording that ``store`` does not have; write the recording's files."""
    keys = set[str]()
    with serve(RECORDINGS[name].model, threads=RECORDINGS[name].threads) as endpoint:
        options = {
            "base_url": endpoint.base_url,
            "store": store,
            "max_concurrency": 2,
            "timeout": 600.0,
        }
        for responses in RECORDINGS[name].run(endpoint.model, **options):
            print(
                f"recording {name}: {responses['system'].iloc[0]}, {len(responses)} responses",
                flush=True,
            )
            keys.update(reply_keys(responses))
        provenance: dict[str, Any] = asdict(endpoint)
        del provenance["base_url"]
    n_replies = store.write_jsonl(recording_file(name, "replies.jsonl.gz"), keys)
    provenance |= {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "parameters": RECORDINGS[name].parameters,
        "threads": RECORDINGS[name].threads,
        "n_replies": n_replies,
    }
    recording_file(name, "provenance.json").write_text(
        json.dumps(provenance, indent=2) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    for each in sys.argv[1:] or RECORDINGS:
        if each == "multilingual":
            record_ranking()
            record_vectors()
        if each == "judged_evouna":
            record_deferred()
        with Store(f"runs/record_{each}.sqlite") as progress_so_far:
            record(each, progress_so_far)
