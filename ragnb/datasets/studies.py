"""Studies: answers of real systems with people's labels, contained in the package.

``tests/recording/studies.py`` makes the files from those that the authors of the studies published.
"""

import csv
from pathlib import Path

import pandas as pd

from ragnb.arguments import accepts
from ragnb.datasets.benchmarks import RAGBENCH_SAMPLES, RGB_SAMPLES, load_ragbench, load_rgb
from ragnb.datasets.catalogue import find, sources_of
from ragnb.datasets.files import DATA
from ragnb.datasets.multilingual import SAMPLES as MULTILINGUAL_SAMPLES
from ragnb.datasets.multilingual import load_multilingual
from ragnb.datasets.tables import read_table
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.records import require_columns

FOLDER = DATA / "studies"
with (FOLDER / "studies.csv").open(encoding="utf-8") as _rows:
    STUDIES = {row["name"]: row for row in csv.DictReader(_rows)}
"""Name of a study or sample -> what is known of it, as text."""
SAMPLES = RGB_SAMPLES | RAGBENCH_SAMPLES | MULTILINGUAL_SAMPLES
"""Name of a sample that the authors of ragnb wrote -> its file."""


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
    return [DATA / SAMPLES[name]] if name in SAMPLES else sorted(FOLDER.glob(f"{name}.*"))


def study_files(name: str) -> list[Path]:
    """Files that the authors of a study published, as a fixed version with verified checksums.

    They contain what the package leaves out, such as the passages of MTRAG. Each file is looked for
    in the folder that the environment variable ``RAGNB_DATA`` names, then in the user's cache, and
    otherwise downloaded.

    Raises
    ------
    InputError
        The checksums of the published files are not known, or a file cannot be fetched.

    Examples
    --------
    >>> study_files("mtrag")  # doctest: +SKIP
    [PosixPath('.../mtrag/reference_subset_with_human_evaluations.json')]
    """
    pinned = [] if name in SAMPLES else sources_of(name.removesuffix("-nq"))
    if not pinned:
        address = STUDIES.get(name, {}).get("address")
        where = f"download them from {address}" if address else "load_study loads all there is"
        raise InputError(f"no published files of {name} are in ragnb's catalogue; {where}")
    return [find(source.name, benchmark=source.benchmark) for source in pinned]


@accepts(name=tuple(STUDIES), frame=("responses", "labels"))
def load_study(name: str, frame: str = "responses") -> pd.DataFrame:
    """Load a study: responses of real systems with people's labels, or a sample; one row each.

    Parameters
    ----------
    name
        - ``"evouna-nq"``: short answers of five systems to open questions, each judged by a person
        - ``"nomiracl"``: replies of eleven models to questions in eight languages. The retrieved
          passages do not answer half of the questions
        - ``"mtrag"``: turns of conversations, graded by two or three people
        - ``"delucionqa"``: answers from a car manual, labelled by sentence
        - ``"factscore"``: biographies, labelled by atomic fact
        - ``"refchecker"``: answers from retrieved passages, labelled by claim
        - ``"sample-..."``: a sample that the authors of ragnb wrote, as `ragnb.load_rgb`,
          `ragnb.load_ragbench` and `ragnb.load_multilingual` return it
    frame
        - ``"responses"``: one row per response (default)
        - ``"labels"``: the labels that each person gave, one row per response and ``annotator``,
          as `ragnb.agreement` takes them. Only ``"mtrag"`` has several people's labels.

    Returns
    -------
    DataFrame
        ``example_id, benchmark, language, system, response``, and as far as the study has them
        ``question``, ``references``, ``answerable``, and the columns of labels that `studies`
        names. Labels of sentences, facts and claims are in the column ``parts``: a list of
        ``{"text", "label", "source_label"}``, where ``label`` is ``"supported"``,
        ``"contradicted"``, ``"not supported"`` or ``"irrelevant"``, and ``source_label`` is the
        study's own word. It is None if the response has no parts, such as a refusal.
        ``attrs["source"]`` contains licence, citation, address and a note of what to know before
        drawing conclusions. `study_files` finds the published files.

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
    if frame == "responses" and name in SAMPLES:
        table = _sample(name)
    elif file.exists():
        table = read_table(file)
    else:
        raise InputError(f"{name} has no {frame} of several people; use frame='responses'")
    study = STUDIES[name]
    table.attrs["source"] = {
        "name": name,
        **{key: study[key] for key in ("licence", "citation", "address", "note")},
        "verified": True,
    }
    if frame == "labels":
        table.attrs["header"] = {"task": "grades", "id": ["example_id", "system"]}
    return table


def _sample(name: str) -> pd.DataFrame:
    if name in RGB_SAMPLES:
        return load_rgb(name)
    return load_ragbench(name) if name in RAGBENCH_SAMPLES else load_multilingual(name)


PARTS = {"parts": "label", "nuggets": "assignment", "statements": "supported", "spans": "label"}
"""Column of the parts of a response -> key of a part's label."""


@accepts(kind=tuple(PARTS))
def one_row_per_part(responses: pd.DataFrame, kind: str = "parts") -> pd.DataFrame:
    """Convert one row per response to one row per part, for shares that are pooled over parts.

    Parameters
    ----------
    responses
        Responses with their parts, labelled by people, a judge or a file.
    kind
        Column of the parts: ``"parts"`` (claims, facts or sentences), ``"nuggets"``,
        ``"statements"`` (with citations) or ``"spans"`` (marked passages of the response).

    Returns
    -------
    DataFrame
        The rows of the responses that have parts, with the column `kind` as a list of the one
        part, so that the same metric scores it; ``part_id`` (its number in the response), ``text``
        and ``label`` of the part (for nuggets its assignment, for statements whether the citations
        support it, for spans none), and ``evidence`` and ``source`` if parts have these keys.

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
    require_columns(responses, [kind], "one_row_per_part")
    rows = responses[responses[kind].notna()].explode(kind, ignore_index=True)
    rows = rows[rows[kind].notna()].reset_index(drop=True)
    parts = rows[kind].tolist()
    if kind == "spans":
        places = zip(rows["response"], parts, strict=True)
        parts = [{"text": text[start:end]} for text, (start, end) in places]
    keys = [name for name in ("example_id", "system") if name in rows]
    frame = rows.assign(
        part_id=rows.groupby(keys, sort=False).cumcount(),
        text=[part["text"] for part in parts],
        label=[part.get(PARTS[kind]) for part in parts],
    )
    for name in ("evidence", "source"):
        if any(name in part for part in parts):
            frame[name] = [part.get(name) for part in parts]
    frame[kind] = [[part] for part in rows[kind]]
    return frame
