"""Studies: answers of real systems with people's labels, contained in the package.

``tests/recording/studies.py`` makes the files from those that the authors of the studies published.
"""

import csv

import pandas as pd

from ragnb.arguments import accepts
from ragnb.datasets.files import DATA
from ragnb.datasets.tables import read_table
from ragnb.errors import InputError
from ragnb.records import require_columns

FOLDER = DATA / "studies"
with (FOLDER / "studies.csv").open(encoding="utf-8") as _rows:
    STUDIES = {row["name"]: row for row in csv.DictReader(_rows)}
"""Name of a study -> what is known of it, as text."""


def studies() -> pd.DataFrame:
    """List the studies that `load_study` loads.

    Returns
    -------
    DataFrame
        One row per study: ``name``, ``n`` (responses), ``systems`` (how many), ``languages``,
        ``labels`` (what people, judges or metrics contributed, and the column that contains it),
        ``licence, citation, address`` (a fixed version of the published files) and ``note``.

    Examples
    --------
    >>> studies().set_index("name")["n"]["mtrag"]
    np.int64(477)
    """
    return pd.DataFrame(STUDIES.values()).astype({"n": int, "systems": int})


@accepts(name=tuple(STUDIES), frame=("responses", "labels"))
def load_study(name: str, frame: str = "responses") -> pd.DataFrame:
    """Load a study: responses of real systems with people's labels, one row per response.

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
        drawing conclusions.

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
    if not file.exists():
        raise InputError(f"{name} has no {frame} of several people; use frame='responses'")
    table = read_table(file)
    study = STUDIES[name]
    table.attrs["source"] = {
        "name": name,
        **{key: study[key] for key in ("licence", "citation", "address", "note")},
        "verified": True,
    }
    if frame == "labels":
        table.attrs["header"] = {"task": "grades", "id": ["example_id", "system"]}
    return table


def one_row_per_part(responses: pd.DataFrame) -> pd.DataFrame:
    """Convert one row per response to one row per part, for shares that are pooled over parts.

    Returns
    -------
    DataFrame
        The rows of the responses that have parts, with ``parts`` as a list of the one part,
        ``part_id`` (its number in the response), and ``text`` and ``label`` of the part.

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
    require_columns(responses, ["parts"], "one_row_per_part")
    parts = responses[responses["parts"].notna()].explode("parts", ignore_index=True)
    parts = parts[parts["parts"].notna()].reset_index(drop=True)
    return parts.assign(
        part_id=parts.groupby(["example_id", "system"], sort=False).cumcount(),
        text=[part["text"] for part in parts["parts"]],
        label=[part.get("label") for part in parts["parts"]],
        parts=[[part] for part in parts["parts"]],
    )
