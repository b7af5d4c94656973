"""Readers of files, and files to read: small valid ones of every format, with faults in their values, lines and bytes."""

import atexit
import gzip
import json
import random
import shutil
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from fuzz import mutations
from fuzz.parsers import Drawn

from ragnb.annotation.agreement import agreement
from ragnb.annotation.export import read_labels
from ragnb.annotation.passes import recorded_passes
from ragnb.datasets import (
    load_annotations,
    load_evouna,
    load_lbrag_metrics,
    load_multilingual,
    load_ragbench,
    load_responses,
    load_rgb,
    load_rgb_instructions,
    read_table,
)
from ragnb.datasets.evouna import SYSTEMS
from ragnb.datasets.lbrag import FIELDS
from ragnb.records import EXAMPLE, RAGBENCH_RESPONSE, RGB_EXAMPLE
from ragnb.scoring import score

Records = list[dict[str, Any]]

RGB = [
    {"id": 1, "query": "Who keeps the lighthouse?", "answer": [["Ada Quill", "A. Quill"]], "positive": ["Ada Quill."], "negative": ["Fog."]},
    {"id": "2", "query": "谁？", "answer": ["甲", "乙"], "positive": [["甲。"], ["乙。"]], "negative": []},
    {"id": 3, "query": "Where?", "answer": "Eastport", "fakeanswer": "Westhaven", "positive": ["E"], "positive_wrong": ["W"], "negative": []},
]  # fmt: skip
RAGBENCH = {
    "id": "7",
    "question": "Where?",
    "documents": ["Oslo lies on a fjord. It rains."],
    "response": "In Oslo. Often.",
    "generation_model_name": "m",
    "annotating_model_name": "j",
    "dataset_name": "covidqa_test",
    "documents_sentences": [[["0a", "Oslo lies on a fjord."], ["0b", "It rains."]]],
    "response_sentences": [["a", "In Oslo."], ["b", "Often."]],
    "sentence_support_information": [
        {
            "response_sentence_key": "a",
            "explanation": "",
            "supporting_sentence_keys": ["0a"],
            "fully_supported": True,
        }
    ],
    "unsupported_response_sentence_keys": ["b"],
    "adherence_score": False,
    "overall_supported_explanation": "",
    "relevance_explanation": "",
    "all_relevant_sentence_keys": ["0a"],
    "all_utilized_sentence_keys": ["0a"],
    "relevance_score": 0.5,
    "utilization_score": 0.5,
    "completeness_score": 1.0,
    "overall_supported": False,
}
ANSWERS = {
    "ru": [{"type": "entity", "text": "Нил", "aliases": ["река Нил"]}],
    "th": [{"type": "unanswerable", "text": None}],
}
MULTILINGUAL: list[Records] = [
    [{"id": 0, "theme": "rivers", "language": "th", "question": "แม่น้ำอะไร", "answers": ["ไนล์"], "passage": "แม่น้ำไนล์"}],
    [{"example_id": -7, "query": "which river", "queries": {"ru": "Какая?", "th": "อะไร"}, "answers": ANSWERS}],
    [{"id": "mkqa_-7_zh_cn", "question": "哪条河？", "question_lang": "zh_cn", "answer": "尼罗河"}],
    [{"data": [{"title": "Nile", "paragraphs": [{"context": "… النيل …", "qas": [{"id": "5", "question": "أي؟", "answers": [{"text": "النيل", "answer_start": 2}]}]}]}]}],
]  # fmt: skip
EVOUNA: Records = [
    {"question": "who?", "golden_answer": "Ada Lovelace/Lovelace", "improper": False}
    | {f"answer_{name}": f"It is {name}." for name in SYSTEMS}
    | {f"judge_{name}": name != "fid" for name in SYSTEMS}
]
LBRAG_METRICS: Records = [
    {"metrics": {"lbrag": {**dict.fromkeys(FIELDS, 0.5), "n": 4}}, "run_id": "1"}
]
RESPONSES: list[Records] = [
    [
        {"example_id": "a", "system": "m", "language": "hi", "question": "कौन?", "references": [["दिल्ली"]], "response": "दिल्ली।", "noise_rate": 0.2},
        {"example_id": "b", "system": "m", "language": "ja", "question": "何?", "references": [["ナイル", "ナイル川"]], "response": None, "judged_refusal": 1},
    ],
    [{"id": 0, "query": "Where?", "ans": ["Oslo", "1920"], "label": [1, 0], "prediction": "In Oslo.", "docs": ["Oslo."], "noise_rate": 0.2, "factlabel": 0}],
    [{"sample_id": "d_th", "sample_lang": "th", "system": "lbrag", "question": "?", "gold_answer": "ไนล์", "pred_answer": "ไนล์", "em": 1.0, "translate_tokens": 12}],
]  # fmt: skip


def _studio() -> Records:
    result = [{"from_name": "verdict", "type": "choices", "value": {"choices": ["correct"]}}]
    said = {
        "completed_by": {"id": 4, "email": "李@example.org"},
        "result": result,
        "was_cancelled": False,
        "lead_time": 4.25,
    }
    note = {"from_name": "why", "type": "textarea", "value": {"text": ["not sure"]}}
    draft = {"id": 1, "user": "ana", "result": result}
    several = [said, {**said, "completed_by": 3, "result": [*result, note]}]
    return [{"id": 700, "data": {"example_id": "zh/1"}, "annotations": several, "drafts": [draft]}]


def _argilla() -> list[Records]:
    said = {
        "user_id": "u-1",
        "status": "submitted",
        "values": {"verdict": {"value": "refuse"}, "note": {"value": "?"}},
    }
    first = {
        "external_id": "zh/1",
        "fields": {"text": "?"},
        "responses": [said, {**said, "user_id": "u-2", "status": "draft"}],
    }
    second = {
        "id": "u",
        "metadata": {"example_id": "zh/1"},
        "responses": {"verdict": [{"value": "correct", "user_id": "u-1"}]},
    }
    flat = {"id": "1", "example_id": "zh/1", "verdict.responses": ["correct"], "verdict.responses.users": ["u"], "verdict.responses.status": ["submitted"]}  # fmt: skip
    return [[first], [second], [flat]]


ANNOTATIONS: list[Records] = [
    _studio(),
    [
        {
            "id": 1,
            "example_id": "zh/1",
            "verdict": "correct",
            "annotator": 3,
            "lead_time": 2.5,
            "note": "好",
            "annotation_id": 5,
        }
    ],
    *_argilla(),
    [{"id": 1, "text": "?", "example_id": "zh/1", "label": ["correct"], "Comments": ["一"]}],
    [{"id": 1, "text": "?", "annotations": [{"label": "correct", "user": 7}], "meta": {}}],
]
INSTRUCTIONS = "en:\n  system: Be brief.\n  instruction: |\n    Document:\n    {DOCS}\n\n    Question:\n    {QUERY}\nzh: {system: '你', instruction: '{DOCS} {QUERY}'}\n"
YAML = [
    "&a",
    "*a",
    "<<: *a",
    "!!python/object:os.system",
    "!!binary ab",
    "? ",
    "- ",
    ": ",
    "|",
    ">",
    "%YAML 9.9\n",
    "---\n",
    "...",
    "2020-13-45",
    "!!int x",
    "{",
    "\t",
    "0o8",
    "1e5",
    "!!timestamp 1",
]


@cache
def _logs() -> list[Records]:
    """The first actions of the logs that the package holds, with every kind of action in one of them."""
    found = [
        [json.loads(line) for line in path.read_text("utf-8").splitlines()[:8]]
        for path in map(_first_pass, ("trace", "verdict"))
    ]
    header, opened, *_ = found[1]
    item, time = opened["item"], "2026-03-09T22:16:08.728+00:00"
    said: Records = [
        {"action": "label", "set": [{"field": "verdict", "value": "correct", "source": "human"}]},
        {"action": "note", "value": "?"},
        {"action": "flag", "value": True},
        {"action": "undo", "of": 4},
        {"action": "redo", "of": 4},
        {"action": "skip", "value": True},
        {"action": "agreed", "set": [{"field": "verdict", "value": "refuse", "source": "agreed"}]},
    ]
    whole = [
        header,
        opened,
        *({"n": n, "time": time, "item": item, **one} for n, one in enumerate(said, 2)),
    ]
    return [*found, whole]


def _first_pass(task: str) -> Path:
    return recorded_passes(task)[0]


# ---- files -------------------------------------------------------------------------------------------------------------


@cache
def _folder() -> Path:
    """A folder of this process, in memory where there is such a place."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="ragnb-fuzz-", dir=memory if memory.is_dir() else None))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _file(name: str, content: bytes) -> Path:
    path = _folder() / name
    path.write_bytes(content)
    return path


def _faulty(records: Records, rng: random.Random) -> Records:
    faulty: Any = records
    for _ in range(rng.choice([0, 1, 1, 1, 2, 4])):
        faulty = mutations.changed(faulty, rng)
    return faulty if isinstance(faulty, list) else [faulty]


def _text(records: Records, rng: random.Random, *, lines: bool) -> bytes:
    """Records with faults as JSON Lines or as one list, with faults in the text and in its bytes."""
    faulty = _faulty(records, rng)
    if lines:
        text = "\n".join(
            mutations.dumped(record, rng)
            if rng.random() < 0.1
            else json.dumps(record, ensure_ascii=False)
            for record in faulty
        )
    else:
        text = mutations.dumped(
            faulty if len(faulty) != 1 or rng.random() < 0.5 else faulty[0], rng
        )
    return mutations.encoded(mutations.torn(text, rng) if rng.random() < 0.35 else text, rng)


def _csv(records: Records, rng: random.Random) -> bytes:
    faulty = [record for record in _faulty(records, rng) if isinstance(record, dict)]
    text = mutations.rows(faulty, rng)
    return mutations.encoded(mutations.torn(text, rng) if rng.random() < 0.35 else text, rng)


def _parquet(records: Records, rng: random.Random) -> bytes:
    """The bytes of a frame that pyarrow could write; else those of the records as they were."""
    path = _folder() / "made.parquet"
    try:
        pd.DataFrame(
            [record for record in _faulty(records, rng) if isinstance(record, dict)]
        ).to_parquet(path)
    except Exception:  # pyarrow has no column for such values
        pd.DataFrame(records).to_parquet(path)
    content = path.read_bytes()
    return mutations.flipped(content, rng) if rng.random() < 0.3 else content


def _packed(content: bytes, rng: random.Random) -> bytes:
    packed = gzip.compress(content, 1, mtime=0)
    return mutations.flipped(packed, rng) if rng.random() < 0.5 else packed


# ---- what is read ------------------------------------------------------------------------------------------------------


def _check(
    frame: Any, columns: tuple[str, ...], lists: tuple[str, ...] = (), texts: tuple[str, ...] = ()
) -> None:
    if not isinstance(frame, pd.DataFrame) or not frame.columns.is_unique:
        raise AssertionError(f"no frame with different columns: {frame!r}")
    if not set(columns) <= set(frame):
        raise AssertionError(f"a frame without {set(columns) - set(frame)}")
    for name in lists:
        if not all(isinstance(value, list) for value in frame[name] if value is not None):
            raise AssertionError(f"{name} is no list: {frame[name].tolist()!r}")
    for name in texts:
        if not all(isinstance(value, str) for value in frame[name]):
            raise AssertionError(f"{name} is no text: {frame[name].tolist()!r}")


def _loaded(load: Callable[[Path], pd.DataFrame], path: Path) -> pd.DataFrame:
    """What a loader makes of a file, without the warnings that it means to give."""
    with warnings.catch_warnings():
        for meant in (
            "no language was given",
            ".* responses in .* are empty cells",
            ".* has several lines with one number",
        ):
            warnings.filterwarnings("ignore", meant)
        return load(path)


def _rgb(path: Path) -> None:
    frame = _loaded(load_rgb, path)
    _check(
        frame,
        RGB_EXAMPLE,
        ("references", "positive", "negative", "positive_wrong", "false_answers"),
        ("example_id", "question"),
    )


def _ragbench(path: Path) -> None:
    frame = load_ragbench(path)
    _check(
        frame,
        RAGBENCH_RESPONSE,
        ("passages", "documents_sentences", "response_sentences"),
        ("example_id", "question", "response"),
    )
    score(frame, ["trace.relevance", "trace.utilization", "trace.adherence"])


def _multilingual(path: Path) -> None:
    _check(
        load_multilingual(path),
        (*EXAMPLE, "question_id", "passages"),
        ("references", "passages"),
        ("example_id", "question", "language"),
    )


def _evouna(path: Path) -> None:
    frame = load_evouna(path)
    _check(
        frame,
        (*EXAMPLE, "response", "verdict", "improper"),
        ("references",),
        ("example_id", "question"),
    )
    score(frame, "annotator.verdict")


def _lbrag(path: Path) -> None:
    frame = load_lbrag_metrics(path)
    _check(frame, ("system", *FIELDS))
    if not all(frame[name].dtype == float for name in FIELDS):
        raise AssertionError(f"published numbers are no numbers: {frame.dtypes}")


def _responses(path: Path) -> None:
    frame = _loaded(load_responses, path)
    _check(
        frame,
        ("example_id", "system", "language", "question", "references", "response", "reason"),
        ("references",),
    )
    if not all(response is None or isinstance(response, str) for response in frame["response"]):
        raise AssertionError(f"responses that are no texts: {frame['response'].tolist()!r}")
    score(frame.assign(language="en"), ["answer.exact_match", "answer.f1"])


def _annotations(path: Path) -> None:
    _check(
        load_annotations(path),
        ("item", "annotator", "task", "verdict", "note", "seconds"),
        (),
        ("item", "annotator", "verdict", "note"),
    )


def _labels(path: Path) -> None:
    frame = _loaded(read_labels, path)
    if frame.empty:
        return
    _check(
        frame,
        ("item", "annotator", "task", "status", "seconds"),
        (),
        ("item", "annotator", "task", "status"),
    )
    other = recorded_passes("trace" if "relevant" in frame else "verdict")[1]
    _loaded(lambda log: agreement([log, other]), path)


def _table(path: Path) -> None:
    if not isinstance(read_table(path), pd.DataFrame):
        raise AssertionError("no frame")


def _templates(path: Path) -> None:
    for name, template in load_rgb_instructions(path).items():
        template.messages({"passages": "p", "question": "q"})
        if not isinstance(name, str):
            raise AssertionError(f"a language that is no text: {name!r}")


def _yaml(rng: random.Random) -> bytes:
    text = INSTRUCTIONS
    for _ in range(rng.choice([1, 2, 4])):
        place = rng.randrange(len(text))
        text = (
            text[:place]
            + rng.choice([*YAML, *mutations.LITERALS, *mutations.TEXTS])
            + text[place + rng.choice([0, 1, 5]) :]
        )
    return mutations.encoded(text[:20_000], rng)


Make = Callable[[random.Random], bytes]


def _target(
    name: str, make: Make, read: Callable[[Path], None]
) -> Callable[[random.Random], Drawn]:
    def drawn(rng: random.Random) -> Drawn:
        content = make(rng)
        return (name, content), lambda: read(_file(name, content))

    return drawn


def _of(several: list[Records], how: Callable[..., bytes], **options: Any) -> Make:
    return lambda rng: how(rng.choice(several), rng, **options)


_RGB = [[record] for record in RGB] + [[RGB[0], {**RGB[0], "id": 4}]]
TARGETS: dict[str, Callable[[random.Random], Drawn]] = {
    "rgb": _target("mini.json", _of(_RGB, _text, lines=True), _rgb),
    "rgb.gz": _target(
        "mini.json.gz", lambda rng: _packed(_text(_RGB[0], rng, lines=True), rng), _rgb
    ),
    "ragbench": _target("covidqa_test.jsonl", _of([[RAGBENCH]], _text, lines=True), _ragbench),
    "ragbench.csv": _target("covidqa_test.csv", _of([[RAGBENCH]], _csv), _ragbench),
    "ragbench.parquet": _target("covidqa_test.parquet", _of([[RAGBENCH]], _parquet), _ragbench),
    "multilingual": _target("mini.jsonl", _of(MULTILINGUAL[:3], _text, lines=True), _multilingual),
    "xquad": _target("xquad.ar.json", _of(MULTILINGUAL[3:], _text, lines=False), _multilingual),
    "evouna": _target("NQ.json", _of([EVOUNA], _text, lines=False), _evouna),
    "lbrag": _target("metrics.json", _of([LBRAG_METRICS], _text, lines=False), _lbrag),
    "responses": _target("run.jsonl", _of(RESPONSES, _text, lines=True), _responses),
    "responses.json": _target("run.json", _of(RESPONSES, _text, lines=True), _responses),
    "responses.csv": _target("run.csv", _of(RESPONSES, _csv), _responses),
    "responses.parquet": _target("run.parquet", _of(RESPONSES, _parquet), _responses),
    "annotations": _target("ana.json", _of(ANNOTATIONS, _text, lines=False), _annotations),
    "annotations.jsonl": _target("ana.jsonl", _of(ANNOTATIONS, _text, lines=True), _annotations),
    "labels": _target(
        "ana.trace.jsonl", lambda rng: _text(rng.choice(_logs()), rng, lines=True) + b"\n", _labels
    ),
    "table": _target("table.jsonl", _of(RESPONSES, _text, lines=True), _table),
    "table.gz": _target(
        "table.jsonl.gz", lambda rng: _packed(_text(RESPONSES[0], rng, lines=True), rng), _table
    ),
    "table.parquet": _target("table.parquet", _of([[RAGBENCH], *RESPONSES], _parquet), _table),
    "instructions": _target("instruction.yaml", _yaml, _templates),
}
"""Name to what draws a case: a file, and a call that reads it."""

SHARES = {
    name: 1
    if name.endswith(".parquet")
    else 2
    if name.startswith(("ragbench", "responses"))
    else 40
    for name in TARGETS
}
"""How many cases a target gets beside the others: few where one takes long."""
