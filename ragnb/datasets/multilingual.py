"""Load questions in several languages: ragnb's parallel format, MKQA and XQuAD."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pandas as pd
from pydantic import AfterValidator, Field

from ragnb.arguments import accepts, convert
from ragnb.columns import BLANK_REFERENCE, EXAMPLE, require_columns
from ragnb.datasets.answers import NO_ANSWER, answer_of
from ragnb.datasets.files import benchmark_frame, locate, provenance, stem
from ragnb.datasets.json_files import json_records
from ragnb.datasets.validation import Identifier, Record, Row, Text, checked
from ragnb.errors import InputError
from ragnb.metrics.language import known_code

COLUMNS = (*EXAMPLE, "question_id", "passages")
# Types of MKQA's answers that contain no text with which a response could be compared.
UNANSWERED = ("unanswerable", "long_answer")
# Endings of the files that are read from a folder.
ENDINGS = (".json", ".jsonl", ".json.gz", ".jsonl.gz")


# ---- one record of each format -------------------------------------------------------------------


def _known(language: str) -> str:
    """Return a language code as it is, or raise InputError if ragnb does not know it."""
    known_code(language)
    return language


Language = Annotated[Text, AfterValidator(_known)]


def _row(
    id: int | str,
    question: str,
    answers: Iterable[str | None],
    *,
    has_no_answer: bool = False,
    **more: Any,
) -> Row:
    """The row of a question in one language, with the texts of its answers as aliases of one part.

    If there are no texts, the reference is missing. With ``has_no_answer``, it then states instead
    that the right answer is no answer.
    """
    texts = [*dict.fromkeys(text for text in answers if text and text.strip())]
    references = [texts] if texts else None
    if references is None and has_no_answer:
        references = NO_ANSWER
    row = {"question_id": str(id), "question": question, "references": references}
    return row | {"passages": []} | more


class Parallel(Record):
    """One question in one language, in ragnb's parallel format."""

    benchmark: ClassVar = "multilingual"
    id: Identifier
    language: Language
    question: Text
    answers: list[str] = Field(min_length=1)
    theme: Text | None = None
    passage: Text | None = None

    def rows(self) -> Iterator[Row]:
        """The question as a row."""
        passages = [] if self.passage is None else [self.passage]
        options = {"language": self.language, "passages": passages, "task": self.theme}
        # The list [""] states that the right answer is no answer.
        has_no_answer = not any(answer.strip() for answer in self.answers)
        if not has_no_answer and not all(answer.strip() for answer in self.answers):
            raise InputError(f"the question {self.id} must have answers that are not blank")
        yield _row(self.id, self.question, self.answers, has_no_answer=has_no_answer, **options)


class MkqaSampled(Record):
    """One question of MKQA in one language, as LBRAG sampled it."""

    benchmark: ClassVar = "mkqa"
    id: Identifier
    question: Text
    question_lang: Language
    answer: str | None

    def rows(self) -> Iterator[Row]:
        """The question as a row."""
        language = self.question_lang
        number = str(self.id).removeprefix("mkqa_").removesuffix(f"_{language}")
        row = _row(number, self.question, [self.answer], language=language, answer_type=None)
        # LBRAG's code compares the response with an empty text, see `ragnb.score`.
        yield row | {BLANK_REFERENCE: row["references"] is None}


class _Answer(Record):
    """An answer in MKQA or SQuAD."""

    type: str | None = None
    text: str | None = None
    aliases: list[str] | None = None


class Mkqa(Record):
    """One question in all its languages, as MKQA was released."""

    benchmark: ClassVar = "mkqa"
    example_id: Identifier
    queries: dict[Language, Text]
    answers: dict[str, list[_Answer]]

    def rows(self) -> Iterator[Row]:
        """The question as one row per language."""
        for language, question in self.queries.items():
            if language not in self.answers:
                raise InputError(f"the question {self.example_id} has no answers in {language}")
            answers = self.answers[language]
            short = [answer for answer in answers if answer.type not in UNANSWERED]
            texts = [text for answer in short for text in (answer.text, *(answer.aliases or []))]
            kinds = "/".join(dict.fromkeys(str(answer.type) for answer in answers)) or None
            yield _row(self.example_id, question, texts, language=language, answer_type=kinds)


class _SquadQuestion(Record):
    """A question in the format of SQuAD."""

    id: Identifier
    question: Text
    answers: list[_Answer] = Field([])
    is_impossible: bool = False


class _Paragraph(Record):
    """A passage of an article, with the questions about it."""

    context: Text
    qas: list[_SquadQuestion]


class _Article(Record):
    """An article in the format of SQuAD."""

    title: Any = None
    paragraphs: list[_Paragraph]


class Squad(Record):
    """A whole file in the format of SQuAD, which is named after its benchmark and language."""

    benchmark: ClassVar = None
    data: list[_Article]

    def rows(self) -> Iterator[Row]:
        """One row per question.

        A question without answers cannot be answered, as in SQuAD 2.0, unless no question of the
        file has answers.
        """
        paragraphs = [
            (article, paragraph) for article in self.data for paragraph in article.paragraphs
        ]
        has_answers = any(
            question.answers for _, paragraph in paragraphs for question in paragraph.qas
        )
        for article, paragraph in paragraphs:
            options = {"passages": [paragraph.context], "title": article.title}
            for question in paragraph.qas:
                texts = [answer.text for answer in question.answers]
                # If no question has answers, the file was published without them.
                has_no_answer = has_answers or question.is_impossible
                yield _row(
                    question.id, question.question, texts, has_no_answer=has_no_answer, **options
                )


class FlatSquad(Record):
    """One question of SQuAD's or XQuAD's files at Hugging Face."""

    benchmark: ClassVar = None
    id: Identifier
    context: Text
    question: Text
    answers: dict[str, Any]
    title: Any = None

    def rows(self) -> Iterator[Row]:
        """The question as a row. An empty list of answers means that there is no answer."""
        (aliases,) = answer_of(self.answers)
        options = {"passages": [self.context], "title": self.title}
        yield _row(self.id, self.question, aliases, has_no_answer=True, **options)


# Key by which a format is recognised -> its model.
MODELS: dict[str, Any] = {
    "language": Parallel,
    "question_lang": MkqaSampled,
    "queries": Mkqa,
    "data": Squad,
    "context": FlatSquad,
}


# ---- loading -------------------------------------------------------------------------------------


def _sources(value: Any) -> list[str | Path]:
    """Check the source of `load_multilingual`: a path, or several paths."""
    is_one = isinstance(value, str | bytes | Mapping | pd.DataFrame)
    sources = list(value) if isinstance(value, Iterable) and not is_one else [value]
    if not sources:
        raise InputError("source must name at least one file, got none")
    return [convert(source, "path", "source") for source in sources]


@accepts()
def load_multilingual(source: str | Path | Sequence[str | Path]) -> pd.DataFrame:
    """Load questions in several languages, one row per question and language.

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
        - XQuAD, in the format of SQuAD: ``data``, or as JSON Lines of Hugging Face: ``id, context,
          question, answers``. The name of the file contains the language, as in
          ``xquad.de.json``.

    Returns
    -------
    DataFrame
        Columns ``example_id`` (file, id and language, such as
        ``"xquad/56beb4343aeaaa14008c925b/de"``), ``benchmark``, ``task`` (the theme, or else
        ``"reading"`` if there is a passage and ``"open"`` if there is none), ``language``,
        ``question``, ``references`` (one part with its aliases; None if no answer is a short text;
        ``[[""]]`` if the right answer is no answer, which SQuAD 2.0 states by an empty list and the
        parallel format by ``[""]``), ``question_id`` (the same in all languages) and ``passages`` (a list of texts, empty
        if the file has none). MKQA's ``answer_type`` and XQuAD's ``title`` are kept.
        ``attrs["source"]`` states where the files came from.

    Raises
    ------
    InputError
        The name is unknown, the file is unreadable or in another format, a record does not fit the
        model of its format, or a language is unknown. The message names file,
        line or item, and key.

    >>> frame = load_multilingual("sample-multilingual")
    >>> len(frame), frame["question_id"].nunique()
    (240, 40)
    """
    sources = _sources(source)
    folder = Path(os.path.expanduser(sources[0]))
    # `Path.is_dir` would raise an error for a name that is too long.
    if os.path.isdir(folder):
        sources = sorted(path for path in folder.iterdir() if path.name.endswith(ENDINGS))
        if not sources:
            raise InputError(f"the folder {str(folder)!r} has no JSON file; name another one")
    files = [locate(file, benchmark="multilingual") for file in sources]
    rows = [row for path, name in files for row in _rows(path, name)]
    frame = benchmark_frame(rows, COLUMNS, *files[0], "multilingual")
    file_names = ", ".join(path.name for path, _ in files)
    require_columns(frame, (), file_names, unique=["example_id"])
    frame.attrs["source"] = _joint_provenance(files)
    return frame


def _joint_provenance(files: Sequence[tuple[Path, str]]) -> dict[str, Any]:
    """The provenance of several files as one: the texts under each key, without duplicates."""
    origins = [provenance(path, name, benchmark="multilingual") for path, name in files]
    keys = [key for key in origins[0] if key != "verified"]
    source: dict[str, Any] = {}
    for key in keys:
        distinct_texts = dict.fromkeys(origin[key] for origin in origins)
        source[key] = "; ".join(distinct_texts)
    source["verified"] = all(origin["verified"] for origin in origins)
    return source


def _rows(path: Path, name: str) -> Iterator[Row]:
    """Rows of one file, each with its benchmark and identifier."""
    items = list(json_records(path))
    # The first record shows the format. An empty file has no rows in any format, so it takes the first.
    first = items[0][0] if items else {"language": None}
    model = next((model for key, model in MODELS.items() if key in first), None)
    if model is None:
        raise InputError(
            f"{path.name}: must contain questions, each with the key {' or '.join(MODELS)}, got "
            f"{', '.join(first) or 'none'}; see load_multilingual for the formats"
        )
    language = None
    # The records of these two formats do not contain their language, but the name of the file does.
    if model in (Squad, FlatSquad):
        name_and_code = re.fullmatch(r"(.+)\.([A-Za-z]{2,3}([-_][A-Za-z]{2,4})?)", stem(path))
        if not name_and_code:
            raise InputError(
                f"the name of {path.name} must contain the language of its questions, as in "
                "xquad.de.json; rename the file"
            )
        name, language = name_and_code[1], _known(name_and_code[2])
    for item, where in items:
        for row in checked(model, item, where).rows():
            row = {"benchmark": model.benchmark or name, "language": language} | row
            row["task"] = row.get("task") or ("reading" if row["passages"] else "open")
            yield row | {"example_id": f"{name}/{row['question_id']}/{row['language']}"}
