"""Data in the package: answers of real systems with people's labels, and tables of papers.

``tests/recording/studies.py`` makes the files of studies from those that their authors published.
"""

import csv
import pickle
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pandas as pd

from ragnb.arguments import accepts
from ragnb.datasets.benchmarks import load_ragbench, load_rgb
from ragnb.datasets.catalogue import find, sources_of
from ragnb.datasets.files import DATA, SAMPLES, Row
from ragnb.datasets.multilingual import load_multilingual
from ragnb.datasets.tables import read_table
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.metrics.parts import citation_precision
from ragnb.metrics.trace_labels import supported_sentences
from ragnb.records import is_missing, require_columns
from ragnb.stats.intervals import rate_interval

FOLDER = DATA / "studies"
# Name of a study or sample -> what is known of it, as text.
with (FOLDER / "studies.csv").open(encoding="utf-8") as _rows:
    STUDIES = {row["name"]: row for row in csv.DictReader(_rows)}
_LOADERS: dict[str, Callable[[str], pd.DataFrame]] = {
    "rgb": load_rgb,
    "ragbench": load_ragbench,
    "multilingual": load_multilingual,
}
# Name of a sample that the authors of ragnb wrote -> its benchmark.
_BENCHMARKS = {name: benchmark for benchmark, files in SAMPLES.items() for name in files}


def studies() -> pd.DataFrame:
    """List the studies and samples that `load_study` loads.

    Returns
    -------
    DataFrame
        One row per study: ``name``, ``n`` (responses; questions if there are no systems),
        ``systems`` (how many), ``languages``, ``labels`` (what people, judges or metrics
        contributed, and the column that contains it), ``size`` (of its files in the package, in
        kB), ``licence, citation, address`` (a fixed version of the published files) and ``note``.

    Examples
    --------
    >>> studies().set_index("name")["n"]["mtrag"]
    np.int64(477)
    """
    table = pd.DataFrame(STUDIES.values()).astype({"n": int, "systems": int})
    sizes = [sum(file.stat().st_size for file in _files(name)) for name in table["name"]]
    table.insert(table.columns.get_loc("licence"), "size", [round(size / 1000) for size in sizes])
    return shown(table)


def _files(name: str) -> list[Path]:
    """Files of a study or sample in the package."""
    benchmark = _BENCHMARKS.get(name)
    return [DATA / SAMPLES[benchmark][name]] if benchmark else sorted(FOLDER.glob(f"{name}.*"))


def study_files(name: str, *, rest: bool = False) -> list[Path]:
    """Files that the authors of a study published, in a fixed and verified version.

    They contain what the package leaves out, such as the passages of MTRAG. Each file is looked for
    in the folder that the environment variable ``RAGNB_DATA`` names, then in the user's cache, and
    otherwise downloaded. Files are verified by checksum, and those of NoMIRACL, whose checksums are
    not known, by comparing their replies with those of `load_study`.

    Parameters
    ----------
    name
        Name of a study.
    rest
        Files of the same release that `load_study` does not use, instead of those that it uses:
        EVOUNA's TQ part, DelucionQA's training split, FActScore's biographies by InstructGPT, and
        RefChecker's other settings. Their commit is fixed and their checksum is not known, so only later
        downloads are compared with the first one.

    Raises
    ------
    InputError
        The study has no such files, or a file cannot be fetched or verified.

    Examples
    --------
    >>> study_files("mtrag")  # doctest: +SKIP
    [PosixPath('.../mtrag/reference_subset_with_human_evaluations.json')]
    """
    benchmark = name.removesuffix("-nq") + ("-rest" if rest else "")
    files = [find(source.name, benchmark=benchmark) for source in sources_of(benchmark)]
    if not files:
        raise InputError(f"the catalogue has no {'other ' * rest}published files of {name}")
    if benchmark == "nomiracl":
        _verify_nomiracl(files)
    return files


def _verify_nomiracl(files: list[Path]) -> None:
    frame = load_study("nomiracl").set_index(["example_id", "system"])["response"].dropna()
    known = frame.to_dict()
    for file in files:
        language, subset = file.name.partition(".")[0], file.parent.name
        for record in read_table(file).to_dict("records"):
            example = f"nomiracl/{language}/{subset}/{record['query_id']}"
            for system, reply in record["results"].items():
                if known.pop((example, system), "") != reply.strip():
                    raise InputError(
                        f"{file} is not the published version; delete it and try again"
                    )
    if known:
        raise InputError(
            f"{len(known)} replies are missing in the folder {files[0].parents[1]}; delete it and try again"
        )


@accepts(name=tuple(STUDIES), frame=("responses", "labels"))
def load_study(name: str, frame: str = "responses") -> pd.DataFrame:
    """Load the labelled responses of a study, or a sample of ragnb, one row per response.

    Parameters
    ----------
    name
        - ``"evouna-nq"``: short answers of five systems to open questions, each judged by a person
        - ``"nomiracl"``: replies of eleven models to questions in eight languages. About half
          of the questions cannot be answered from the retrieved passages
        - ``"mtrag"``: turns of conversations, graded by two or three people
        - ``"delucionqa"``: answers from a car manual, labelled by sentence
        - ``"factscore"``: biographies, labelled by atomic fact
        - ``"refchecker"``: answers from retrieved passages, labelled by claim
        - ``"ragbench-delucionqa"``: ten records of RAGBench with their passages, whose sentences GPT-4
          labelled
        - ``"sample-..."``: a sample that the authors of ragnb wrote, as `ragnb.load_rgb`,
          `ragnb.load_ragbench` and `ragnb.load_multilingual` return it
        - ``"sample-labelled-en"``, ``"sample-labelled-multilingual"``: replies of small models to
          questions of the samples, each labelled correct (1) or incorrect (0) by two readers
    frame
        - ``"responses"``: one row per response (default)
        - ``"labels"``: the labels that each person gave, one row per response and ``annotator``,
          as `ragnb.agreement` takes them. ``"mtrag"`` and the labelled samples have them.

    Returns
    -------
    DataFrame
        ``example_id, benchmark, language, system, response``, and as far as the study has them
        ``question``, ``references``, ``answerable``, and the columns of labels that `studies`
        names. Labels of sentences, facts and claims are in the column ``parts``: a list of
        ``{"text", "label", "source_label"}``, where ``label`` is ``"supported"``,
        ``"contradicted"``, ``"not supported"`` or ``"irrelevant"``, and ``source_label`` is the
        study's own word. It is None if the response has no parts, such as a refusal. The labelled
        samples have ``label`` (final), ``label_a`` and ``label_b`` (of the two readers),
        ``question_id`` (the same for all responses to a question in all languages; use it to split
        the data), ``embedding_cosine`` (recorded to four digits, because embeddings differ in their
        last digits between processors) and ``request_key`` (of the recorded reply).
        ``attrs["source"]`` contains licence, citation, address and a note on the limits of the
        data. `study_files` finds the published files.

    Raises
    ------
    InputError
        The study is unknown, or does not contain this frame.

    Examples
    --------
    >>> load_study("refchecker")["parts"][0][0]["label"]
    'not supported'
    """
    file = FOLDER / (f"{name}.jsonl.gz" if frame == "responses" else f"{name}.{frame}.jsonl.gz")
    task, key = "grades", ["example_id", "system"]
    if frame == "responses" and name in _BENCHMARKS:
        table = _LOADERS[_BENCHMARKS[name]](name)
    elif frame == "labels" and name.startswith("sample-labelled"):
        table, task, key = _verdicts(load_study(name)), "verdict", ["request_key"]
    elif file.exists():
        table = pickle.loads(_packaged(file))
    else:
        raise InputError(f"{name} has no {frame} of several people; use frame='responses'")
    study = STUDIES[name]
    table.attrs["source"] = {
        "name": name,
        **{key: study[key] for key in ("licence", "citation", "address", "note")},
        "verified": True,
    }
    if frame == "labels":
        table.attrs["header"] = {"task": task, "id": key}
    return table


@cache
def _packaged(file: Path) -> bytes:
    """A packaged table, pickled, so that it is parsed once and each caller gets a copy of its own."""
    return pickle.dumps(read_table(file))


def _verdicts(labelled: pd.DataFrame) -> pd.DataFrame:
    """One row per reply and reader; a reply that two systems share was read once."""
    read = labelled.drop_duplicates("request_key")
    keys = ["request_key", "example_id", "question_id", "system"]
    read = read.rename(columns={"label_a": "reader a", "label_b": "reader b"})
    rows = read.melt(keys, ["reader a", "reader b"], "annotator", "verdict")
    words = rows["verdict"].map({1: "correct", 0: "incorrect"})
    return rows.assign(item=rows["request_key"], task="verdict", verdict=words)


# Kind of parts -> the column that contains them.
KINDS = {
    "parts": "parts",
    "sentences": "sentence_support_information",
    "nuggets": "nuggets",
    "statements": "statements",
    "citations": "statements",
    "spans": "spans",
}
# Kind of parts that are mappings with a text -> the key of their label.
LABELS = {"parts": "label", "nuggets": "assignment", "statements": "supported"}


def _split(row: Row, kind: str) -> Iterator[Row]:
    """The parts of a response, each with its text, its label and what a metric scores."""
    if kind == "sentences":
        texts = dict(row["response_sentences"])
        words = {True: "supported", False: "not supported", None: None}
        for key, known in supported_sentences(row["sentence_support_information"]):
            sentence = {"text": texts.get(key), "label": words[known]}
            yield {**sentence, "parts": [sentence] if sentence["label"] else None}
    elif kind == "citations":
        for statement in row["statements"]:
            for citation in statement["citations"]:
                one = [{**statement, "citations": [citation]}]
                needed = citation_precision(one)
                yield {"text": statement["text"], "label": needed, "statements": one}
    elif kind == "spans":
        for start, end in row["spans"]:
            yield {"text": row["response"][start:end], "label": None, "spans": [[start, end]]}
    else:
        for part in row[kind]:
            more = {name: part[name] for name in ("evidence", "source") if name in part}
            yield {"text": part["text"], "label": part.get(LABELS[kind]), **more, kind: [part]}


@accepts(kind=(None, *KINDS))
def one_row_per_part(responses: pd.DataFrame, kind: str | None = None) -> pd.DataFrame:
    """Convert one row per response to one row per part, for shares that are pooled over parts.

    Parameters
    ----------
    responses
        Responses with their parts, labelled by people, a judge or a file.
    kind
        None: all kinds of parts that the responses have (default). Or one of

        - ``"parts"``: claims, facts or sentences (column ``parts``)
        - ``"sentences"``: sentences of a TRACe record (column ``sentence_support_information``)
        - ``"nuggets"``: facts of the reference answer (column ``nuggets``)
        - ``"statements"``: sentences with citations, one row each (column ``statements``)
        - ``"citations"``: the citations of these statements, one row each
        - ``"spans"``: marked passages of the response (column ``spans``)

    Returns
    -------
    DataFrame
        The rows of the responses that have parts, once for each part, with ``kind``, ``part_id``
        (its number in the response, from 0), ``text`` and ``label``; ``evidence`` and ``source`` if
        parts have them. The label of a nugget is its assignment; of a statement, whether its
        citations support it; of a citation, whether the statement needs it (1 or 0, as
        `ragnb.metrics.parts.citation_precision`); a span has none. The column that a metric scores
        (for sentences ``parts``) contains the one part, and those of other kinds None, so that each
        metric scores its own kind. Select ``"statements"`` or ``"citations"`` before you score
        citations.

    Raises
    ------
    InputError
        The responses have no column of parts.

    Examples
    --------
    The share of supported facts, pooled over all biographies (micro average), with a cluster-robust
    interval, because the facts of a biography are not independent:

    >>> from ragnb import load_study, score, summarize
    >>> facts = one_row_per_part(load_study("factscore"))
    >>> pooled = summarize(score(facts, "parts.supported"), cluster="example_id")
    >>> pooled["mean"].round(3).tolist()
    [0.588, 0.698]
    """
    columns = {*KINDS.values()} & {*responses}
    if kind is None and not columns:
        wanted = ", ".join(dict.fromkeys(KINDS.values()))
        raise InputError(f"one_row_per_part needs a column of parts: one of {wanted}")
    if kind is not None:
        require_columns(responses, [KINDS[kind]], "one_row_per_part")
    chosen = {
        name: column for name, column in KINDS.items() if column in columns and kind in (None, name)
    }
    places: list[int] = []
    parts: list[Row] = []
    for place, response in enumerate(responses.to_dict("records")):
        for name, column in chosen.items():
            found = [] if is_missing(response[column]) else _split(response, name)
            for part_id, part in enumerate(found):
                places.append(place)
                parts.append({"kind": name, "part_id": part_id, **part})
    kept = responses.drop(columns=[*columns, "parts"], errors="ignore")
    added = pd.DataFrame(parts or {"kind": [], "part_id": []})
    frame = kept.iloc[places].reset_index(drop=True).assign(**added)
    frame.attrs = dict(responses.attrs)
    return frame


# ---- tables of papers ------------------------------------------------------------------------------

_RGB = "Chen, Lin, Han, Sun (AAAI 2024), arXiv 2309.01431"
_RAGBENCH = "Friel, Belyi, Sanyal (2024), arXiv 2407.11005v2"
# Source of each table.
PUBLISHED = {
    "rgb.noise_robustness": f"{_RGB}, table 1",
    "rgb.negative_rejection": f"{_RGB}, table 3",
    "rgb.information_integration": f"{_RGB}, table 5",
    "rgb.counterfactual_robustness": f"{_RGB}, table 7",
    "ragbench.table3": f"{_RAGBENCH}, table 3",
    "lbrag.overview": "kanoes/LBRAG-NEW, metrics.md at commit 5c0d11bc, the example of the console output",
    "continuous_eval.ensemble": "continuous-eval, documentation, Metric Ensembling, the example output",
}
# What a table allows to conclude.
NOTES = {
    "continuous_eval.ensemble": "GPT-4 decided 37 of 235 answers, after which 8 more were correct. How many "
    "answers became correct and how many became wrong was not published. The possible counts range from 8 and 0 (McNemar "
    "mid-p 0.004) to 22 and 14 (0.188). The table therefore does not show whether the gain is larger than chance.",
}


@accepts(name=tuple(PUBLISHED), confidence_level="level")
def published(name: str, *, confidence_level: float = 0.95) -> pd.DataFrame:
    """Load a table of a paper, one row per printed number.

    Parameters
    ----------
    name
        ``"rgb.noise_robustness"``, ``"rgb.negative_rejection"``, ``"rgb.information_integration"``,
        ``"rgb.counterfactual_robustness"``, ``"ragbench.table3"``, ``"lbrag.overview"`` or
        ``"continuous_eval.ensemble"``.
    confidence_level
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        The conditions of the table (``language``, ``noise_rate``, ``subset``), ``system``,
        ``metric``, ``printed`` (as in the paper) and ``n``. For shares also ``count`` (the nearest
        whole number of responses), ``exact`` (whether this count gives the printed number: no count
        out of 300 is 67.68 % or 3.37 %), and ``mean`` with its Wilson interval ``low, high,
        interval, confidence_level``. The denominator of RGB's error correction is the number of
        responses that detect the error according to a judge: 3, 4 and 7.
        ``"continuous_eval.ensemble"`` is a metric ensemble alone and with a judge who decides the
        answers on which it abstains; F1 is left out, because it is not a share. AUROC and RMSE have
        no interval, because the paper printed nothing from which it could be computed.
        ``"lbrag.overview"`` has the column ``std``, and its n is nan, because the document does not
        state it for this table. Its EM of 0.100 ± 0.302 implies n = 100 (a sample standard
        deviation), but its example of a ``metrics.json`` with the same numbers states n = 10, so
        there are no intervals. ``attrs["source"]`` names the source, and ``attrs["note"]`` contains
        remarks on the table, if any.

    Raises
    ------
    InputError
        The name is unknown.
    """
    frame = pd.read_csv(DATA / f"{name.replace('.', '_')}.csv")
    if name.startswith(("rgb.", "continuous_eval.")):
        share = frame["printed"] / (100 if name.startswith("rgb.") else 1)
        count = (share * frame["n"]).round().astype(int)
        exact = (count / frame["n"] - share).abs() <= 0.00005 + 1e-11
        intervals = [
            rate_interval(k, n, confidence_level=confidence_level).columns()
            for k, n in zip(count, frame["n"], strict=True)
        ]
        frame = frame.assign(count=count, exact=exact).join(pd.DataFrame(intervals))
    frame.attrs |= {"source": PUBLISHED[name], "note": NOTES.get(name, "")}
    return shown(frame)
