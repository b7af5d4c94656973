"""Count what `audit` finds in RGB's own files: ``python -m recording.rgb_files FOLDER``, run in the folder ``tests``.

FOLDER contains the files as RGB publishes them. The notebooks show the counts, because the text may not be distributed.
"""

import json
import sys
from pathlib import Path

import pandas as pd

from ragnb.datasets.auditing import ISSUES, audit
from ragnb.datasets.benchmarks import load_rgb
from ragnb.errors import InputError
from ragnb.experiments.recorded import data_file

COMMAND = "python -m recording.rgb_files FOLDER"


def count_issues(folder: str | Path) -> pd.DataFrame:
    """How many questions of each of RGB's files in a folder have each issue that `audit` looks for.

    Parameters
    ----------
    folder
        Only files that are, byte for byte, those of RGB's pinned commit are counted.

    Returns
    -------
    DataFrame
        ``file, questions, issue, found``, all issues of each file; ``attrs["files"]`` has the source of each.

    Raises
    ------
    InputError
        Where no file is one that RGB publishes.
    """
    files = {path.stem: load_rgb(path) for path in sorted(Path(folder).glob("*.json"))}
    published = {
        name: examples
        for name, examples in files.items()
        if examples.attrs.get("source", {}).get("verified")
    }
    if not published:
        raise InputError(
            f"count_issues needs files as RGB publishes them; got none in {folder}; load_rgb downloads them"
        )
    rows = [
        {"file": name, "questions": len(examples), "issue": issue, "found": found.get(issue, 0)}
        for name, examples in published.items()
        for found in [audit(examples)["issue"].value_counts()]
        for issue in ISSUES
    ]
    table = pd.DataFrame(rows)
    table.attrs["files"] = {name: examples.attrs["source"] for name, examples in published.items()}
    return table


def _write(folder: str) -> None:
    table = count_issues(folder)
    table.to_csv(data_file("rgb_file_issues.csv"), index=False, lineterminator="\n")
    provenance = {"command": COMMAND, "files": list(table.attrs["files"].values())}
    data_file("rgb_file_issues.provenance.json").write_text(
        json.dumps(provenance, indent=2) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    _write(sys.argv[1])
