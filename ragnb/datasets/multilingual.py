"""Questions asked in several languages: ragnb's own parallel format, MKQA and XQuAD, as one validated frame."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

import pandas as pd
from pydantic import AfterValidator, model_validator

from ragnb.datasets.files import (
    Identifier,
    Record,
    Text,
    checked,
    json_items,
    locate,
    provenance,
    refuse_duplicates,
)
from ragnb.errors import InputError
from ragnb.metrics.language import known_code
from ragnb.records import EXAMPLE

SAMPLES = {"sample-multilingual": "multilingual_sample.jsonl"}
COLUMNS = (*EXAMPLE, "question_id", "passages")
UNANSWERED = ("unanswerable", "long_answer")
"""Types of MKQA's answers that contain no text to compare with."""

Row = dict[str, Any]


# ---- one record of each format -------------------------------------------------------------------


def _known(language: str) -> str:
    known_code(language)
    return language


Language = Annotated[Text, AfterValidator(_known)]


class Parallel(Record):
    """One question in one language, in ragnb's parallel format."""

    id: Identifier
    language: Language
    question: Text
    answers: list[Text]
    theme: Text | None = None
    passage: Text | None = None


def _parallel(record: Parallel) -> Iterator[Row]:
    row = {
        "question_id": str(record.id),
        "language": record.language,
        "question": record.question,
        "references": _reference(record.answers),
        "passages": [] if record.passage is None else [record.passage],
    }
    yield row if record.theme is None else row | {"task": record.theme}


class _Answer(Record):
    type: str | None = None
    text: str | None = None
    aliases: list[str] | None = None


class Mkqa(Record):
    """One question in all its languages, as MKQA was released."""

    example_id: Identifier
    queries: dict[Language, Text]
    answers: dict[str, list[_Answer]]

    @model_validator(mode="after")
    def _check_answers(self) -> Self:
        missing = [language for language in self.queries if language not in self.answers]
        if missing:
            raise InputError(
                f"answers must have all languages of queries, got none in {missing[0]}"
            )
        return self


def _mkqa(record: Mkqa) -> Iterator[Row]:
    for language, question in record.queries.items():
        answers = record.answers[language]
        texts = [
            text
            for answer in answers
            if answer.type not in UNANSWERED
            for text in (answer.text, *(answer.aliases or []))
        ]
        yield {
            "question_id": str(record.example_id),
            "language": language,
            "question": question,
            "references": _reference(texts),
            "passages": [],
            "answer_type": "/".join(dict.fromkeys(str(one.type) for one in answers)) or None,
        }


class MkqaSampled(Record):
    """One question of MKQA in one language, as LBRAG sampled it."""

    id: Identifier
    question: Text
    question_lang: Language
    answer: str | None


def _mkqa_sampled(record: MkqaSampled) -> Iterator[Row]:
    yield {
        "question_id": str(record.id)
        .removeprefix("mkqa_")
        .removesuffix(f"_{record.question_lang}"),
        "language": record.question_lang,
        "question": record.question,
        "references": _reference([record.answer]),
        "passages": [],
        "answer_type": None,
    }


class _SquadQuestion(Record):
    id: Identifier
    question: Text
    answers: list[_Answer]


class _Paragraph(Record):
    context: Text
    qas: list[_SquadQuestion]


class _Article(Record):
    title: Any = None
    paragraphs: list[_Paragraph]


class Squad(Record):
    """A whole file in the format of SQuAD."""

    data: list[_Article]


def _squad(record: Squad) -> Iterator[Row]:
    for article in record.data:
        for paragraph in article.paragraphs:
            for asked in paragraph.qas:
                yield {
                    "question_id": str(asked.id),
                    "question": asked.question,
                    "references": _reference(answer.text for answer in asked.answers),
                    "passages": [paragraph.context],
                    "title": article.title,
                }


FORMATS: tuple[tuple[type[Record], str | None, Callable[[Any], Iterator[Row]]], ...] = (
    (Parallel, "multilingual", _parallel),
    (Mkqa, "mkqa", _mkqa),
    (MkqaSampled, "mkqa", _mkqa_sampled),
    (Squad, None, _squad),
)
"""Model of a record, benchmark, and function that turns a record into rows, for each format.

A file in SQuAD's format is named after its benchmark.
"""


def _reference(texts: Iterable[str | None]) -> list[list[str]] | None:
    """One part whose aliases are the distinct texts that are not blank; None if there are none."""
    aliases = list(dict.fromkeys(text for text in texts if text and text.strip()))
    return [aliases] if aliases else None


# ---- loading -------------------------------------------------------------------------------------


def load_multilingual(
    source: str | Path | Sequence[str | Path], *, languages: str | Sequence[str] | None = None
) -> pd.DataFrame:
    """Load questions asked in several languages, one row per question and language.

    Parameters
    ----------
    source
        A path to a file, a folder of such files, a catalogue name (``"mkqa"``, ``"mkqa_500"``,
        ``"xquad_de"``, ..., see `ragnb.datasets.catalogue`), several of these, or
        ``"sample-multilingual"``: 40 questions in English, German, Russian, Chinese, Arabic and
        Hindi that the authors of ragnb wrote. The keys of the first record determine the format:

        - ragnb's parallel format, one line per question and language: ``id, language, question,
          answers`` (a list of aliases), and optionally ``theme`` and ``passage``;
        - MKQA as released: ``example_id, queries, answers``, the last two by language;
        - MKQA as LBRAG sampled it: ``id, question, question_lang, answer``;
        - XQuAD, in the format of SQuAD: ``data``. The name of the file contains the language, as in
          ``xquad.de.json``.
    languages
        Codes of the languages to keep; by default all. If the name of a file of XQuAD does not
        contain its language, this names it.

    Returns
    -------
    DataFrame
        Columns ``example_id`` (file, id and language, such as
        ``"xquad/56beb4343aeaaa14008c925b/de"``), ``benchmark``, ``task`` (the theme, or else
        ``"reading"`` if there is a passage and ``"open"`` if there is none), ``language``,
        ``question``, ``references`` (one part with its aliases, or None if no answer is a short
        text), ``question_id`` (the same in all languages) and ``passages`` (a list of texts, empty
        if the file has none). MKQA's ``answer_type`` and XQuAD's ``title`` are kept.
        ``attrs["source"]`` states where the files came from.

    Raises
    ------
    InputError
        The name is unknown, the file is unreadable or in another format, a record does not fit the
        model of its format, or a language is unknown or not in the file. The message names file,
        line or item, and key.

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


def _each(source: str | Path | Sequence[str | Path]) -> list[str | Path]:
    if not isinstance(source, str | Path):
        found = list(source)
    elif source in SAMPLES or not os.path.isdir(os.path.expanduser(source)):
        found = [source]
    else:
        endings = (".json", ".jsonl", ".jsonl.gz")
        folder = Path(source).expanduser()
        found = [path for path in sorted(folder.iterdir()) if path.name.endswith(endings)]
    if not found:
        raise InputError(f"load_multilingual found no JSON file in {source!r}; name a file")
    return found


def _codes(languages: str | Sequence[str] | None) -> list[str] | None:
    if languages is None:
        return None
    codes = [languages] if isinstance(languages, str) else list(languages)
    if not codes:
        raise InputError("languages must name at least one code; leave it out for all languages")
    for code in codes:
        known_code(code)
    return codes


def _kept(
    rows: list[dict[str, Any]], wanted: list[str] | None, called: str
) -> list[dict[str, Any]]:
    if not rows:
        raise InputError(f"{called} must contain at least one question, got none")
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


def _rows(path: Path, name: str, wanted: list[str] | None) -> Iterator[Row]:
    """Rows of one file, each with its benchmark and identifier."""
    items = list(json_items(path))
    model, benchmark, read = _format(items[0][0] if items else {}, path.name)
    name, language = _told_by_name(path, name, wanted) if model is Squad else (name, None)
    for item, where in items:
        for row in read(checked(model, item, where)):
            task = "reading" if row["passages"] else "open"
            row = {"benchmark": benchmark or name, "task": task, "language": language} | row
            yield row | {"example_id": f"{name}/{row['question_id']}/{row['language']}"}


def _told_by_name(path: Path, name: str, wanted: list[str] | None) -> tuple[str, str]:
    """Name and language of a file such as xquad.de.json."""
    told = re.fullmatch(
        r"(.+)\.([A-Za-z]{2,3}(?:[-_][A-Za-z]{2,4})?)\.json", path.name.removesuffix(".gz")
    )
    if told:
        try:
            return told[1], _known(told[2])
        except InputError as error:
            raise InputError(f"the name of {path.name}: {error}") from error
    if wanted is None or len(wanted) != 1:
        got = "neither" if wanted is None else ", ".join(wanted)
        raise InputError(
            f"{path.name} needs its language in its name, as in xquad.de.json, or as the only one in languages; got {got}; "
            "name one"
        )
    return name, wanted[0]


def _format(record: Mapping[str, Any], file: str) -> tuple[Any, ...]:
    needed = [
        [key for key, field in model.model_fields.items() if field.is_required()]
        for model, _, _ in FORMATS
    ]
    for keys, form in zip(needed, FORMATS, strict=True):
        if set(keys) <= record.keys():
            return form
    raise InputError(
        f"{file}: must contain questions with the keys {'; or '.join(map(', '.join, needed))}, "
        f"got {', '.join(map(str, record)) or 'none'}; see load_multilingual for the formats"
    )
