"""Questions asked in several languages: ragnb's own parallel format, MKQA and XQuAD, as one validated frame."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ragnb.datasets.files import (
    identifier,
    is_blank,
    json_items,
    locate,
    provenance,
    refuse_duplicates,
    text,
    texts,
)
from ragnb.errors import InputError
from ragnb.metrics.language import known_code
from ragnb.records import EXAMPLE

SAMPLES = {"sample-multilingual": "multilingual_sample.jsonl"}
COLUMNS = (*EXAMPLE, "question_id", "passages")
UNANSWERED = ("unanswerable", "long_answer")
"""Types of MKQA's answers that hold no text to compare with."""

Record = Mapping[str, Any]
Rows = Iterator[dict[str, Any]]


def load_multilingual(
    source: str | Path | Sequence[str | Path], *, languages: str | Sequence[str] | None = None
) -> pd.DataFrame:
    """Questions asked in several languages, one row a question and language.

    Parameters
    ----------
    source
        A path to a file, a folder of such files, a catalogue name (``"mkqa"``, ``"mkqa_500"``, ``"xquad_de"``, ... see
        `ragnb.datasets.catalogue`), several of these, or ``"sample-multilingual"``: 40 questions in English, German,
        Russian, Chinese, Arabic and Hindi that ragnb's authors wrote themselves. The shape of its records tells a format:

        - ragnb's parallel format, a line a question and language: ``id, language, question, answers`` (a list of aliases),
          and, if there are any, ``theme`` and ``passage``;
        - MKQA as released: ``example_id, queries, answers``, the last two by language;
        - MKQA as LBRAG sampled it: ``id, question, question_lang, answer``;
        - XQuAD, in the format of SQuAD: ``data``. The file's name tells the language: ``xquad.de.json``.
    languages
        Codes of the languages to keep; by default all. For a file of XQuAD whose name does not tell, its one language.

    Returns
    -------
    DataFrame
        Columns ``example_id`` (``"xquad/56beb4343aeaaa14008c925b/de"``: file, id and language), ``benchmark``, ``task`` (the
        theme; else ``"reading"`` where there is a passage, ``"open"`` where there is none), ``language``, ``question``,
        ``references`` (one part with its aliases; None where a question has no answer that is a short text),
        ``question_id`` (the same in all languages) and ``passages`` (list of texts, empty where the file has none). MKQA's
        ``answer_type`` and XQuAD's ``title`` are kept. ``attrs["source"]`` says where the files came from.

    Raises
    ------
    InputError
        Unknown name, unreadable file, another format, a missing key, an unknown language, or one that the file has not; the
        message names file, line or item, and key.

    >>> frame = load_multilingual("sample-multilingual", languages=["en", "hi"])
    >>> len(frame), frame["question_id"].nunique()
    (80, 40)
    """
    files = [locate(one, benchmark="multilingual", samples=SAMPLES) for one in _each(source)]
    called = ", ".join(path.name for path, _ in files)
    wanted = _codes(languages)
    rows = _kept([row for path, name in files for row in _rows(path, name, wanted)], wanted, called)
    refuse_duplicates((row["example_id"] for row in rows), called)
    columns = dict.fromkeys([*COLUMNS, *(key for row in rows for key in row)])
    frame = pd.DataFrame(
        {key: pd.Series([row.get(key) for row in rows], dtype=object) for key in columns}
    )
    known = [
        provenance(path, name, benchmark="multilingual", samples=SAMPLES) for path, name in files
    ]
    frame.attrs["source"] = known[0] if len(known) == 1 else _together(known)
    return frame


# ---- files and languages -----------------------------------------------------------------------------------------------


def _each(source: Any) -> list[Any]:
    if isinstance(source, str | Path):
        folder = Path(os.path.expanduser(source))
        if source in SAMPLES or not os.path.isdir(folder):
            return [source]
        found = [
            path
            for path in sorted(folder.iterdir())
            if path.name.endswith((".json", ".jsonl", ".jsonl.gz"))
        ]
    else:
        found = list(source) if np.iterable(source) else [source]
    if not found:
        raise InputError(
            f"load_multilingual needs at least one JSON file; got none in {source!r}; name a file"
        )
    return found


def _codes(languages: str | Sequence[str] | None) -> list[str] | None:
    if languages is None:
        return None
    several = np.iterable(languages) and not isinstance(languages, str)
    codes = [_language(code, "languages") for code in (languages if several else [languages])]
    if not codes:
        raise InputError(
            "languages needs at least one code; got none; leave it out for all languages"
        )
    return codes


def _language(value: Any, where: str) -> str:
    """A language code as it is written, or an InputError that says where it is unknown."""
    code = text(value, where)
    try:
        known_code(code)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    return code


def _kept(
    rows: list[dict[str, Any]], wanted: list[str] | None, called: str
) -> list[dict[str, Any]]:
    if not rows:
        raise InputError(f"{called} needs at least one question; got none; check the download")
    if wanted is None:
        return rows
    codes = {
        language: known_code(language)
        for language in dict.fromkeys(row["language"] for row in rows)
    }
    missing = [language for language in wanted if known_code(language) not in codes.values()]
    if missing:
        raise InputError(
            f"languages needs some of {', '.join(codes)}, as {called} has; got {', '.join(missing)}; choose among these"
        )
    chosen = set(map(known_code, wanted))
    return [row for row in rows if codes[row["language"]] in chosen]


def _together(known: list[dict[str, Any]]) -> dict[str, Any]:
    """What is known of several files as of one."""
    keys = ("name", "licence", "citation", "git_sha1")
    joined = {
        key: "; ".join(dict.fromkeys(one[key] for one in known if key in one)) for key in keys
    }
    return {**joined, "verified": all(one["verified"] for one in known)}


# ---- one file ----------------------------------------------------------------------------------------------------------


def _rows(path: Path, name: str, wanted: list[str] | None) -> Rows:
    """Rows of one file, each with its benchmark and identifier."""
    items = list(json_items(path))
    benchmark, keys, read = _shape(items, path.name)
    name, language = _told_by_name(path, name, wanted) if read is _squad else (name, None)
    for record, where in items:
        _require(keys, record, where)
        for row in read(record, where):
            task = "reading" if row["passages"] else "open"
            row = {"benchmark": benchmark or name, "task": task, "language": language, **row}
            yield {"example_id": f"{name}/{row['question_id']}/{row['language']}", **row}


def _told_by_name(path: Path, name: str, wanted: list[str] | None) -> tuple[str, str]:
    """Name and language of a file such as xquad.de.json."""
    told = re.fullmatch(
        r"(.+)\.([A-Za-z]{2,3}(?:[-_][A-Za-z]{2,4})?)\.json", path.name.removesuffix(".gz")
    )
    if told:
        return told[1], _language(told[2], f"the name of {path.name}")
    if wanted is None or len(wanted) != 1:
        got = "neither" if wanted is None else ", ".join(wanted)
        raise InputError(
            f"{path.name} needs its language in its name, as in xquad.de.json, or as the only one in languages; got {got}; "
            "name one"
        )
    return name, wanted[0]


def _shape(
    items: list[tuple[Record, str]], file: str
) -> tuple[str, tuple[str, ...], Callable[[Record, str], Rows]]:
    found = items[0][0] if items else {}
    shape = next((shape for shape in SHAPES if set(shape[1]) <= found.keys()), None)
    if shape is None:
        known = "; or ".join(", ".join(keys) for _, keys, _ in SHAPES)
        got = ", ".join(map(str, found)) or "none"
        raise InputError(
            f"{file} needs questions with the keys {known}; got {got}; see load_multilingual for the formats"
        )
    return shape


def _require(keys: Iterable[str], record: Record, where: str) -> None:
    missing = [key for key in keys if key not in record]
    if missing:
        raise InputError(
            f"{where} needs the keys {', '.join(keys)}; got none named {', '.join(missing)}; add them"
        )


# ---- one record of each format -----------------------------------------------------------------------------------------


def _parallel(record: Record, where: str) -> Rows:
    answers = texts(record["answers"], f"{where} key answers")
    passage, theme = record.get("passage"), record.get("theme")
    yield {
        "question_id": identifier(record["id"], f"{where} key id"),
        "language": _language(record["language"], f"{where} key language"),
        "question": text(record["question"], f"{where} key question"),
        "references": _reference(
            [text(answer, f"{where} key answers") for answer in answers], where
        ),
        "passages": [] if passage is None else [text(passage, f"{where} key passage")],
        **({} if theme is None else {"task": text(theme, f"{where} key theme")}),
    }


def _mkqa(record: Record, where: str) -> Rows:
    """One question in all its languages; the texts and aliases of several answers are all alternatives."""
    for language, question in _mapping(record["queries"], f"{where} key queries").items():
        here = f"{where} key answers"
        answers = _listed(_mapping(record["answers"], here), language, here)
        said = [
            alias
            for answer in answers
            if answer.get("type") not in UNANSWERED
            for alias in _aliases(answer, here)
        ]
        yield {
            "question_id": identifier(record["example_id"], f"{where} key example_id"),
            "language": _language(language, f"{where} key queries"),
            "question": text(question, f"{where} key queries key {language}"),
            "references": _reference(said, f"{here} key {language}"),
            "passages": [],
            "answer_type": "/".join(dict.fromkeys(str(answer.get("type")) for answer in answers))
            or None,
        }


def _aliases(answer: Record, where: str) -> list[Any]:
    return [answer.get("text"), *texts(answer.get("aliases") or [], f"{where} key aliases")]


def _mkqa_sampled(record: Record, where: str) -> Rows:
    """One question in one language, as LBRAG's preparation writes it; the id is that of the release between two marks."""
    language = _language(record["question_lang"], f"{where} key question_lang")
    name = identifier(record["id"], f"{where} key id")
    yield {
        "question_id": name.removeprefix("mkqa_").removesuffix(f"_{language}"),
        "language": language,
        "question": text(record["question"], f"{where} key question"),
        "references": _reference([record["answer"]], f"{where} key answer"),
        "passages": [],
        "answer_type": None,
    }


def _squad(record: Record, where: str) -> Rows:
    for number, article in enumerate(_listed(record, "data", where)):
        for place, paragraph in enumerate(
            _listed(article, "paragraphs", f"{where} article {number}")
        ):
            here = f"{where} article {number} paragraph {place}"
            context = text(paragraph.get("context"), f"{here} key context")
            for asked in _listed(paragraph, "qas", here):
                yield {**_asked(asked, here), "passages": [context], "title": article.get("title")}


def _asked(asked: Record, where: str) -> dict[str, Any]:
    name = identifier(asked.get("id"), f"{where} key id")
    answers = _listed(asked, "answers", f"{where} question {name}")
    return {
        "question_id": name,
        "question": text(asked.get("question"), f"{where} question {name}"),
        "references": _reference(
            [answer.get("text") for answer in answers], f"{where} question {name}"
        ),
    }


SHAPES = (
    ("multilingual", ("id", "language", "question", "answers"), _parallel),
    ("mkqa", ("example_id", "queries", "answers"), _mkqa),
    ("mkqa", ("id", "question", "question_lang", "answer"), _mkqa_sampled),
    ("", ("data",), _squad),  # the benchmark is what the file is called: xquad
)
"""Benchmark, keys of a record, and reader of each format."""


# ---- one field ---------------------------------------------------------------------------------------------------------


def _reference(said: Iterable[Any], where: str) -> list[list[str]] | None:
    """One part whose aliases are the texts that are not empty, each once; None where there is none."""
    aliases = list(dict.fromkeys(text(alias, where) for alias in said if not is_blank(alias)))
    return [aliases] if aliases else None


def _listed(record: Record, key: str, where: str) -> list[Record]:
    value = record.get(key)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        got = "a list with other things in it" if isinstance(value, list) else type(value).__name__
        raise InputError(
            f"{where} key {key} needs a list of objects; got {got}; mend it, or fetch the file again"
        )
    return value


def _mapping(value: Any, where: str) -> Record:
    if not isinstance(value, dict):
        raise InputError(
            f"{where} needs an object by language; got {type(value).__name__}; mend it"
        )
    return value
