"""Data in the package: answers of real systems with people's labels, and tables of papers.

``tools/recording/studies.py`` makes the files of studies from those that their authors published.
"""

import csv
import pickle
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.datasets.files import PACKAGED_DATA, SAMPLES
from ragnb.datasets.multilingual import load_multilingual
from ragnb.datasets.ragbench import load_ragbench
from ragnb.datasets.rgb import load_rgb
from ragnb.datasets.sources import find, sources_of
from ragnb.datasets.tables import read_table
from ragnb.display import shown
from ragnb.errors import InputError

FOLDER = PACKAGED_DATA / "studies"
# Name of a study or sample -> its row in the table of studies, with texts as values.
with (FOLDER / "studies.csv").open(encoding="utf-8") as _rows:
    STUDIES = {row["name"]: row for row in csv.DictReader(_rows)}
_LOADERS: dict[str, Callable[[str], pd.DataFrame]] = {
    "rgb": load_rgb,
    "ragbench": load_ragbench,
    "multilingual": load_multilingual,
}
# Name of a sample that the authors of ragnb wrote -> its benchmark.
_BENCHMARKS = {name: benchmark for benchmark, files in SAMPLES.items() for name in files}


@accepts()
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
    sizes = []
    for name in table["name"]:
        n_bytes = sum(file.stat().st_size for file in _files(name))
        sizes.append(round(n_bytes / 1000))
    table.insert(table.columns.get_loc("licence"), "size", sizes)
    return shown(table)


def _files(name: str) -> list[Path]:
    """Files of a study or sample in the package."""
    benchmark = _BENCHMARKS.get(name)
    return (
        [PACKAGED_DATA / SAMPLES[benchmark][name]]
        if benchmark
        else sorted(FOLDER.glob(f"{name}.*"))
    )


@accepts()
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
    # The catalogue has "evouna" for the files of "evouna-nq", and "evouna-rest" for the others.
    benchmark = name.removesuffix("-nq") + ("-rest" if rest else "")
    files = [find(source.name, benchmark=benchmark) for source in sources_of(benchmark)]
    if not files:
        raise InputError(f"the catalogue has no {'other ' * rest}published files of {name}")
    if benchmark == "nomiracl":
        _verify_nomiracl(files)
    return files


def _verify_nomiracl(files: list[Path]) -> None:
    """Raise InputError unless the files contain exactly the replies that are in the package."""
    frame = load_study("nomiracl").set_index(["example_id", "system"])["response"].dropna()
    replies = frame.to_dict()
    for file in files:
        language, subset = file.name.partition(".")[0], file.parent.name
        for record in read_table(file).to_dict("records"):
            example_id = f"nomiracl/{language}/{subset}/{record['query_id']}"
            for system, reply in record["results"].items():
                # Each reply that is found is removed, so that those that are missing remain.
                if replies.pop((example_id, system), "") != reply.strip():
                    raise InputError(
                        f"{file} is not the published version; delete it and try again"
                    )
    if replies:
        raise InputError(
            f"{len(replies)} replies are missing in the folder {files[0].parents[1]}; delete it and try again"
        )


# The task of the judges of TREC: one grade for each passage.
_RELEVANCE = {"name": "relevance", "fields": [{"name": "grade", "options": [0, 1, 2, 3]}]}
# Study -> the task of its labels and the columns that identify an item, if they are not those of MTRAG.
_TASKS: dict[str, tuple[Any, list[str]]] = {"trec-rag-judges": (_RELEVANCE, ["example_id"])}

# Study -> names of its systems for tables and figures, by their names in the published files.
DISPLAY_NAMES = {
    "evouna-nq": {
        "fid": "FiD",
        "gpt35": "GPT-3.5",
        "chatgpt": "ChatGPT",
        "gpt4": "GPT-4",
        "newbing": "New Bing",
    }
}


@accepts(name=tuple(STUDIES), frame=("responses", "labels", "repeats"), usable=(False, True))
def load_study(name: str, frame: str = "responses", *, usable: bool = False) -> pd.DataFrame:
    """Load the labelled responses of a study, or a sample of ragnb, one row per response.

    Parameters
    ----------
    name
        - ``"quickstart"``: the 200 answers of README's quickstart, an extract of ``"evouna-nq"`` with
          names of systems as in figures
        - ``"evouna-nq"``: short answers of five systems to open questions, with people's
          verdicts, which probably differ in kind between systems (see ``attrs["source"]["note"]``)
        - ``"nomiracl"``: replies of eleven models to questions in eight languages. About half
          of the questions cannot be answered from the retrieved passages
        - ``"mtrag"``: turns of conversations, graded by two or three people
        - ``"delucionqa"``: answers from a car manual, labelled by sentence
        - ``"factscore"``: biographies, labelled by atomic fact
        - ``"refchecker"``: answers from retrieved passages, labelled by claim
        - ``"ragbench-delucionqa"``: ten records of RAGBench with their passages, whose sentences GPT-4
          labelled
        - ``"gpqa-epochs"``: scores of two models, five times on the same questions, in the columns of
          `ragnb.load_scores`
        - ``"trec-rag-judges"``: grades of passages by ten judges, which are the systems, and by
          people
        - ``"sample-..."``: a sample that the authors of ragnb wrote, as `ragnb.load_rgb`,
          `ragnb.load_ragbench` and `ragnb.load_multilingual` return it
        - ``"sample-labelled-en"``, ``"sample-labelled-multilingual"``: replies of small models to
          questions of the samples, each labelled correct (1) or incorrect (0) by two readers
    frame
        - ``"responses"``: one row per response (default)
        - ``"labels"``: the labels that each person gave, one row per response and ``annotator``,
          as `ragnb.agreement` takes them. ``"mtrag"``, ``"trec-rag-judges"`` (whose annotators are
          the judges and NIST) and the labelled samples have them
        - ``"repeats"``: the grades of ``"trec-rag-judges"`` in three runs of the same 50 pairs
    usable
        Whether to leave out the rows that cannot be compared with people, and to name the systems
        as in tables and figures (``"New Bing"`` for ``"newbing"``). Left out are questions that the
        authors call improper, and rows without a response or without a verdict. By default, all
        published rows are there, with the published names.

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
    >>> load_study("evouna-nq", usable=True)["system"].unique().tolist()
    ['FiD', 'GPT-3.5', 'ChatGPT', 'GPT-4', 'New Bing']
    """
    file = FOLDER / (f"{name}.jsonl.gz" if frame == "responses" else f"{name}.{frame}.jsonl.gz")
    task, id_columns = _TASKS.get(name, ("grades", ["example_id", "system"]))
    if frame == "responses" and name in _BENCHMARKS:
        table = _LOADERS[_BENCHMARKS[name]](name)
    elif frame == "labels" and name.startswith("sample-labelled"):
        table, task, id_columns = _verdicts(load_study(name)), "verdict", ["request_key"]
    elif file.exists():
        table = pickle.loads(_packaged(file))
    else:
        what = "labels of several people" if frame == "labels" else "repeated runs"
        raise InputError(f"{name} has no {what}; use frame='responses'")
    if usable:
        table = _usable(table, DISPLAY_NAMES.get(name, {}))
    study = STUDIES[name]
    table.attrs["source"] = {
        "name": name,
        **{key: study[key] for key in ("licence", "citation", "address", "note")},
        "verified": True,
    }
    if frame == "labels":
        # As `ragnb.annotation.read_labels` returns it, so that `agreement` finds the task and the columns of the ids.
        table.attrs["header"] = {"task": task, "id": id_columns}
    return table


def _usable(table: pd.DataFrame, display_names: Mapping[str, str]) -> pd.DataFrame:
    """The rows with a proper question, a response and a verdict, with the names of their systems."""
    if "improper" in table:
        table = table[~table["improper"].astype(bool)]
    needed = [column for column in ("response", "verdict") if column in table]
    table = table.dropna(subset=needed).reset_index(drop=True)
    if display_names and "system" in table:
        table["system"] = table["system"].map(lambda system: display_names.get(system, system))
    return table


@cache
def _packaged(file: Path) -> bytes:
    """A packaged table, pickled. It is parsed only once, and each caller unpickles a separate copy."""
    return pickle.dumps(read_table(file))


def _verdicts(labelled: pd.DataFrame) -> pd.DataFrame:
    """The labels of the two readers as one row per reply and reader, in the columns that `agreement` needs.

    These are ``item`` (the key of the reply's request), ``annotator``, ``task``, and ``verdict`` with the words of the
    task. Two systems can share a reply, which the readers then labelled only once. It has the name of the first of the
    two systems.
    """
    replies = labelled.drop_duplicates("request_key")
    keys = ["request_key", "example_id", "question_id", "system"]
    replies = replies.rename(columns={"label_a": "reader a", "label_b": "reader b"})
    rows = replies.melt(keys, ["reader a", "reader b"], "annotator", "verdict")
    words = rows["verdict"].map({1: "correct", 0: "incorrect"})
    return rows.assign(item=rows["request_key"], task="verdict", verdict=words)
