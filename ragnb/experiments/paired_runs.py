"""Two runs of the same questions, from stores, files or frames, paired row by row."""

# Tested in tests/experiments/test_before_after.py.

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.cells import is_missing, present, records_of
from ragnb.columns import CONDITION, require_frame
from ragnb.datasets.examples import load_examples
from ragnb.datasets.responses import load_responses
from ragnb.errors import InputError
from ragnb.llm.stored import is_store, stored_replies
from ragnb.replies import count_reasons
from ragnb.scoring.pairing import varying
from ragnb.suggestions import did_you_mean

BEFORE, AFTER = "before", "after"
# Columns that, if they vary within a system, distinguish its rows besides ``example_id``.
_ITEM_COLUMNS = (*(name for name in CONDITION if name != "system"), "repeat")
# What is known of a question whichever system answers it.
_OF_QUESTIONS = (
    "question",
    "question_id",
    "conversation_id",
    "references",
    "references_as",
    "language",
    "answerable",
)


@dataclass(frozen=True, slots=True)
class PairedRuns:
    """The responses of two runs, with the columns that pair them.

    Attributes
    ----------
    before, after
        The responses of the two runs. A row of one belongs to the row of the other with the same
        `keys`. ``arm`` is the system if several were paired by their names, and otherwise empty.
    keys
        Columns that identify a row of a run.
    left_out
        Systems of only one run, as sentences.
    why_missing
        Why a question has no row in a run, by its side.
    examples
        The questions that were passed, with ``example_id``; None if there were none.
    """

    before: pd.DataFrame
    after: pd.DataFrame
    keys: list[str]
    left_out: list[str]
    why_missing: dict[str, str]
    examples: pd.DataFrame | None


def pair_runs(
    before: Any,
    after: Any,
    examples: str | Path | pd.DataFrame | None,
    systems: Sequence[str] | None,
) -> PairedRuns:
    """Read two runs, find out which questions they answer, and pair their rows (see `ragnb.changes`)."""
    sides = {BEFORE: _read(before, BEFORE), AFTER: _read(after, AFTER)}
    why_missing = {side: _why_missing(frame) for side, frame in sides.items()}
    sides, left_out = _with_arms(sides, systems)
    if isinstance(examples, str | Path):
        examples = load_examples(examples)
    questions = _questions_of(examples, sides.values())
    are_ids_of_prompts = questions is None and not any(
        {"example_id", "question"} & {*frame.columns} for frame in sides.values()
    )
    sides, questions = _with_ids_of_one_kind(sides, questions)
    sides = {side: _with_questions(frame, questions, side) for side, frame in sides.items()}
    first, second = sides[BEFORE], sides[AFTER]
    common = set(first["example_id"]) & set(second["example_id"])
    if len(first) and len(second) and not common:
        raise InputError(_nothing_in_common(first, second, are_ids_of_prompts))
    of_both = [name for name in _ITEM_COLUMNS if name in first and name in second]
    conditions = [name for name in of_both if varying(first, [name]) or varying(second, [name])]
    keys = ["arm", "example_id", *conditions]
    for side, frame in sides.items():
        _require_one_row(frame, keys, side)
    # Questions that only a run names are not those of the user.
    stated_questions = questions if examples is not None else None
    return PairedRuns(first, second, keys, left_out, why_missing, stated_questions)


# ---- one run -----------------------------------------------------------------------------------


def _read(source: Any, side: str) -> pd.DataFrame:
    """The responses of one run, from a store, a file or a frame."""
    if is_store(source):
        frame = stored_replies(source)
    elif isinstance(source, str | Path):
        frame = load_responses(source)
    else:
        require_frame(source, f"changes ({side})")
        frame = pd.DataFrame(source)
    if "response" not in frame:
        advice = ""
        if {"metric", "value"} <= {*frame.columns}:
            advice = "; these are scores, so pass the responses, or compare the scores with ragnb.compare"
        raise InputError(
            f"changes needs the column response in {side}, whose columns are "
            f"{', '.join(map(str, frame.columns)) or 'none'}{advice}"
        )
    if "system" not in frame:
        frame = frame.assign(system="responses")
    failures = frame.attrs.get("failures", [])
    frame = frame.reset_index(drop=True)
    frame.attrs["failures"] = failures
    return frame


def _why_missing(frame: pd.DataFrame) -> str:
    """Why a question may have no row in a run: what a store knows about requests without a reply."""
    failures = frame.attrs.get("failures") or []
    if not failures:
        return "no row"
    return f"no reply; the store reports {count_reasons(failures)}"


# ---- which systems are paired --------------------------------------------------------------------


def _with_arms(
    sides: dict[str, pd.DataFrame], systems: Sequence[str] | None
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """The rows of the systems that are paired, with the column ``arm``, and what is left out."""
    names = {side: list(dict.fromkeys(frame["system"])) for side, frame in sides.items()}
    if systems is not None:
        stated_names = [systems] * 2 if isinstance(systems, str) else list(systems)
        if len(stated_names) != 2:
            raise InputError(
                "systems must be two names, that of the system before and that of the system after, "
                f"got {len(stated_names)}"
            )
        for side, name in zip(sides, stated_names, strict=True):
            if name not in names[side]:
                listed = ", ".join(map(str, names[side])) or "none"
                hint = did_you_mean(name, names[side])
                raise InputError(f"systems: {name!r} is not in {side}, which has {listed}{hint}")
        return {
            side: frame[frame["system"] == name].reset_index(drop=True).assign(arm="")
            for (side, frame), name in zip(sides.items(), stated_names, strict=True)
        }, []
    if all(len(of_side) <= 1 for of_side in names.values()):
        # A system on each side: its name may have changed with the model.
        return {side: frame.assign(arm="") for side, frame in sides.items()}, []
    common = [name for name in names[BEFORE] if name in names[AFTER]]
    if not common:
        lists = {side: ", ".join(map(str, of_side)) or "none" for side, of_side in names.items()}
        raise InputError(
            "changes pairs several systems by their names, but before has "
            f"{lists[BEFORE]} and after has {lists[AFTER]}; name the two that belong together, as in "
            f"systems=({names[BEFORE][0]!r}, {names[AFTER][0]!r})"
        )
    left_out = [
        f"{name} is only in {side}"
        for side, of_side in names.items()
        for name in of_side
        if name not in common
    ]
    arms = {}
    for side, frame in sides.items():
        rows = frame[frame["system"].isin(common)].reset_index(drop=True)
        arms[side] = rows.assign(arm=rows["system"] if len(common) > 1 else "")
    return arms, left_out


# ---- which question a row answers ----------------------------------------------------------------


def _questions_of(
    examples: pd.DataFrame | None, frames: Iterable[pd.DataFrame]
) -> pd.DataFrame | None:
    """One row per question: the examples, or what a frame with ids and questions knows."""
    if examples is not None:
        require_frame(examples, "changes (examples)")
        if "question" not in examples and "example_id" not in examples:
            raise InputError(
                "examples need a column question or example_id, got "
                f"{', '.join(map(str, examples.columns)) or 'no columns'}"
            )
        questions = pd.DataFrame(examples).reset_index(drop=True)
        if "example_id" not in questions:
            questions = questions.assign(example_id=questions["question"])
        return questions.drop_duplicates("example_id").reset_index(drop=True)
    for frame in frames:
        if {"example_id", "question"} <= {*frame.columns} and frame["example_id"].notna().all():
            columns = ["example_id", *(name for name in _OF_QUESTIONS if name in frame)]
            return frame[columns].drop_duplicates("example_id").reset_index(drop=True)
    return None


def _with_ids_of_one_kind(
    sides: dict[str, pd.DataFrame], questions: pd.DataFrame | None
) -> tuple[dict[str, pd.DataFrame], pd.DataFrame | None]:
    """The frames with ids as texts if some are texts: a file has the text ``10`` where a frame has the number."""
    frames = [*sides.values(), *([] if questions is None else [questions])]
    ids = [frame["example_id"] for frame in frames if "example_id" in frame]
    kinds = {type(present(value)) for column in ids for value in column} - {type(None)}
    if len(kinds) < 2 or str not in kinds:
        return sides, questions

    def with_texts(frame: pd.DataFrame) -> pd.DataFrame:
        """The frame with ids as texts; a missing one stays missing."""
        if "example_id" not in frame:
            return frame
        texts = [None if is_missing(value) else str(value) for value in frame["example_id"]]
        return frame.assign(example_id=pd.Series(texts, frame.index, dtype=object))

    texts = {side: with_texts(frame) for side, frame in sides.items()}
    return texts, None if questions is None else with_texts(questions)


def _with_questions(frame: pd.DataFrame, questions: pd.DataFrame | None, side: str) -> pd.DataFrame:
    """The rows with ``example_id`` and what is known of their questions.

    Rows of a store of `ragnb.complete` have no ids. The question of such a row is that whose text is
    in its prompt; without questions, equal prompts are one question.
    """
    if "example_id" in frame:
        if frame["example_id"].isna().any():
            row = frame["example_id"].isna().idxmax()
            raise InputError(
                f"changes needs an example_id in every row, but row {row} of {side} has none"
            )
        identified = frame
    elif questions is not None and "question" in questions:
        identified = _identified(frame, questions, side)
    elif "question" in frame:
        identified = frame.assign(example_id=frame["question"])
    else:
        prompts = [_prompt(row) for row in _rows(frame)]
        if frame.empty or not any(prompts):
            identified = frame.assign(example_id=pd.Series(dtype=object))
        else:
            ids = [hashlib.sha256(prompt.encode()).hexdigest()[:12] for prompt in prompts]
            last_texts = [_last_text(row) for row in _rows(frame)]
            identified = frame.assign(example_id=ids, question=last_texts)
    if questions is None:
        return identified
    # The columns of a row precede those of the table of questions.
    missing_columns = []
    for name in questions.columns.drop("example_id"):
        if name not in identified or identified[name].isna().all():
            missing_columns.append(name)
    without_empty_columns = identified.drop(columns=missing_columns, errors="ignore")
    of_questions = questions[["example_id", *missing_columns]]
    return without_empty_columns.merge(of_questions, on="example_id", how="left")


def _identified(frame: pd.DataFrame, questions: pd.DataFrame, side: str) -> pd.DataFrame:
    """The rows whose question is known, with its id."""
    # A question that the examples have twice, with the same text, has one request and one reply.
    by_text: dict[str, list[Any]] = {}
    for question, example in zip(questions["question"], questions["example_id"], strict=True):
        if text := _folded(question):
            by_text.setdefault(text, []).append(example)
    finder = _QuestionFinder(by_text)
    ids = []
    for row in _rows(frame):
        text = _folded(present(row.get("question")) or _last_text(row))
        match = text if text in by_text else finder.longest_in(text)
        ids.append([None] if match is None else by_text[match])
    identified = frame.assign(example_id=pd.Series(ids, frame.index, dtype=object))
    identified = identified.explode("example_id", ignore_index=True)
    is_known = identified["example_id"].notna()
    if len(frame) and not is_known.any():
        raise InputError(
            f"no reply in {side} belongs to a question of the examples: none of their texts is in a "
            "prompt; pass the examples with which the requests were made"
        )
    return identified[is_known].reset_index(drop=True)


class _QuestionFinder:
    """Finds which of many questions is in a text.

    To look for every question in every prompt takes long, so only those are looked for whose first
    characters are in the prompt.
    """

    n_first = 8

    def __init__(self, questions: Iterable[str]) -> None:
        self.by_beginning: dict[str, list[str]] = {}
        for question in questions:
            self.by_beginning.setdefault(question[: self.n_first], []).append(question)
        self.lengths = {len(beginning) for beginning in self.by_beginning}

    def longest_in(self, text: str) -> str | None:
        """The longest question in the text, because others may be parts of it; None if there is none."""
        longest = None
        for length in self.lengths:
            parts = {text[start : start + length] for start in range(len(text) - length + 1)}
            for beginning in parts & self.by_beginning.keys():
                for question in self.by_beginning[beginning]:
                    is_longer = longest is None or len(question) > len(longest)
                    if is_longer and question in text:
                        longest = question
        return longest


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The cells that a prompt consists of, row by row."""
    columns = [name for name in ("question", "messages", "prompt") if name in frame]
    return records_of(frame[columns])


def _prompt(row: dict[str, Any]) -> str:
    """The whole prompt of a row as one text."""
    messages = row.get("messages")
    if not is_missing(messages):
        return json.dumps(messages, sort_keys=True, default=str)
    return str(present(row.get("prompt")) or "")


def _last_text(row: dict[str, Any]) -> str:
    """The last message of a prompt, which contains the question."""
    messages: Any = row.get("messages")
    if is_missing(messages) or not len(messages):
        return str(present(row.get("prompt")) or "")
    content = messages[-1].get("content")
    if isinstance(content, str):
        return content
    # The content may be a list of parts, and some of them are texts.
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def _folded(text: Any) -> str:
    """A text with single spaces; empty if there is none."""
    return " ".join(text.split()) if isinstance(text, str) else ""


# ---- what cannot be paired -----------------------------------------------------------------------


def _nothing_in_common(first: pd.DataFrame, second: pd.DataFrame, are_ids_of_prompts: bool) -> str:
    """The message if no question is on both sides."""
    if are_ids_of_prompts:
        return (
            "changes finds no prompt that is in both runs, so the prompt has changed. Pass the "
            "questions, as in changes(before, after, examples=examples), and replies are paired by the "
            "question in their prompt"
        )
    return (
        "before and after have no example_id in common: before begins with "
        f"{first['example_id'].iloc[0]!r:.60}, after with {second['example_id'].iloc[0]!r:.60}"
    )


def _require_one_row(frame: pd.DataFrame, keys: list[str], side: str) -> None:
    """Raise InputError if a run has several replies to one question."""
    twice = frame.duplicated(keys)
    if not twice.any():
        return
    example = frame.loc[twice, "example_id"].iloc[0]
    message = (
        f"changes needs one row per question and condition, but {side} has {int(twice.sum())} more, "
        f"such as for {example!r:.80}"
    )
    if "request_key" in frame:
        raise InputError(
            f"{message}. A store may contain several runs, or the requests of a judge: read it with "
            "ragnb.llm.stored_replies, and pass the rows of one run"
        )
    raise InputError(
        f"{message}; drop them, or name what distinguishes them in a column such as repeat"
    )


# ---- what the requests say -----------------------------------------------------------------------

# Columns that are compared as they are.
_SETTINGS = (
    "system",
    "model",
    "endpoint",
    "version",
    "template",
    "served_model",
    "system_fingerprint",
)
SAME, DIFFERS = "same", "differs"
PROMPT = "prompt"
# Characters around the part in which two prompts differ.
_AROUND = 24


def request_differences(runs: PairedRuns) -> pd.DataFrame:
    """What the two runs record of their requests: ``part, before, after, state, n_pairs, n_differ``.

    The numbers count the paired rows in which both sides record the part.
    """
    columns = [*_SETTINGS, "messages", "prompt", "parameters", "question"]
    first, second = (
        frame[[*runs.keys, *(name for name in columns if name in frame)]]
        for frame in (runs.before, runs.after)
    )
    pairs = first.merge(second, on=runs.keys, suffixes=("_before", "_after"))
    rows = []
    for name in _SETTINGS:
        row = _compared_part(name, *(_cells(frame, name) for frame in (first, second)))
        if row is not None:
            rows.append(row | _counts(pairs, name))
    prompt = _prompts(pairs, first, second)
    if prompt is not None:
        rows.append(prompt)
    rows += _parameters(pairs, first, second)
    return pd.DataFrame(rows, columns=["part", "before", "after", "state", "n_pairs", "n_differ"])


def _cells(frame: pd.DataFrame, name: str) -> list[str]:
    """The distinct values of a column as texts, in their order; none if it is not there."""
    if name not in frame:
        return []
    return list(dict.fromkeys(str(value) for value in frame[name] if not is_missing(value)))


def _compared_part(name: str, before: list[str], after: list[str]) -> dict[str, Any] | None:
    """A row on one part of the requests; None if neither side records it."""
    if not before and not after:
        return None
    if before and after:
        state = SAME if set(before) == set(after) else DIFFERS
    else:
        state = f"not recorded {BEFORE if not before else AFTER}"
    return {"part": name, "before": _listed(before), "after": _listed(after), "state": state}


def _listed(values: list[str]) -> str | None:
    """Up to three values, and how many more there are."""
    if not values:
        return None
    more = f" and {len(values) - 3} more" if len(values) > 3 else ""
    return ", ".join(values[:3]) + more


def _counts(pairs: pd.DataFrame, name: str) -> dict[str, Any]:
    """Number of pairs in which both sides record a part, and in how many of them it differs."""
    columns = [f"{name}_{side}" for side in (BEFORE, AFTER)]
    if not set(columns) <= set(pairs):
        return {"n_pairs": 0, "n_differ": 0}
    recorded = pairs[columns].dropna()
    differ = recorded[columns[0]].astype(str) != recorded[columns[1]].astype(str)
    return {"n_pairs": len(recorded), "n_differ": int(differ.sum())}


def _prompts(
    pairs: pd.DataFrame, first: pd.DataFrame, second: pd.DataFrame
) -> dict[str, Any] | None:
    """A row on the prompts, with the first part in which they differ; None if none is recorded."""
    texts = {side: _texts(pairs, f"_{side}") for side in (BEFORE, AFTER)}
    has_prompts = {
        BEFORE: any(_prompt(r) for r in _rows(first)),
        AFTER: any(_prompt(r) for r in _rows(second)),
    }
    if not any(has_prompts.values()):
        return None
    if not all(has_prompts.values()):
        missing = BEFORE if not has_prompts[BEFORE] else AFTER
        state = f"not recorded {missing}"
        return {
            "part": PROMPT,
            "before": None,
            "after": None,
            "state": state,
            "n_pairs": 0,
            "n_differ": 0,
        }
    both = [(old, new) for old, new in zip(*texts.values(), strict=True) if old and new]
    differing = [(old, new) for old, new in both if old != new]
    old, new = _differing_part(*differing[0]) if differing else (None, None)
    return {
        "part": PROMPT,
        "before": old,
        "after": new,
        "state": DIFFERS if differing else SAME,
        "n_pairs": len(both),
        "n_differ": len(differing),
    }


def _texts(pairs: pd.DataFrame, suffix: str) -> list[str]:
    """The prompt of each pair on one side, as the roles and texts of its messages."""
    columns = [
        name for name in ("messages", "prompt") if f"{name}{suffix}" in pairs or name in pairs
    ]
    texts = []
    for row in pairs.to_dict("records"):
        cells = {name: row.get(f"{name}{suffix}", row.get(name)) for name in columns}
        messages: Any = cells.get("messages")
        if is_missing(messages):
            texts.append(str(present(cells.get("prompt")) or ""))
        else:
            lines = [f"{message.get('role')}: {message.get('content')}" for message in messages]
            texts.append("\n".join(lines))
    return texts


def _differing_part(old: str, new: str) -> tuple[str, str]:
    """Two texts without what they have in common at their start and end, except for a few characters.

    >>> _differing_part("Answer: Who?", "Answer briefly: Who?")
    ('Answer: Who?', 'Answer briefly: Who?')
    """
    shorter = min(len(old), len(new))
    start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    end = next((i for i in range(shorter - start) if old[-1 - i] != new[-1 - i]), shorter - start)
    parts = []
    for text in (old, new):
        first, last = max(0, start - _AROUND), min(len(text), len(text) - end + _AROUND)
        before, after = "…" * (first > 0), "…" * (last < len(text))
        parts.append(f"{before}{text[first:last]}{after}")
    return parts[0], parts[1]


def _parameters(
    pairs: pd.DataFrame, first: pd.DataFrame, second: pd.DataFrame
) -> list[dict[str, Any]]:
    """A row for each parameter that a side records."""
    settings = {}
    for side, frame in ((BEFORE, first), (AFTER, second)):
        cells: Any = frame.get("parameters", [])
        settings[side] = [cell for cell in cells if isinstance(cell, dict)]
    names = dict.fromkeys(name for cells in settings.values() for cell in cells for name in cell)
    paired = []
    if {"parameters_before", "parameters_after"} <= set(pairs):
        paired = [
            (old, new)
            for old, new in zip(pairs["parameters_before"], pairs["parameters_after"], strict=True)
            if isinstance(old, dict) and isinstance(new, dict)
        ]
    rows = []
    for name in names:
        values = [
            list(dict.fromkeys(str(cell[name]) for cell in cells if name in cell))
            for cells in settings.values()
        ]
        row = _compared_part(name, *values)
        if row is None:
            continue
        # A run that records its parameters did not set this one.
        if all(settings.values()) and row["state"] != SAME:
            row["state"] = DIFFERS
        n_differ = sum(old.get(name) != new.get(name) for old, new in paired)
        rows.append(row | {"n_pairs": len(paired), "n_differ": n_differ})
    return rows
