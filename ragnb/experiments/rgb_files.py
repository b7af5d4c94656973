"""What `audit` finds in RGB's own files: counts that the notebooks show, for the files' text may not be kept.

``python -m ragnb.experiments.rgb_files FOLDER`` counts again; FOLDER holds files as RGB publishes them.
"""

import json
import sys
from importlib import resources
from pathlib import Path

import pandas as pd

from ragnb.datasets.auditing import ISSUES, audit
from ragnb.datasets.rgb import load_rgb
from ragnb.errors import InputError

COMMAND = "python -m ragnb.experiments.rgb_files FOLDER"


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


def rgb_file_issues() -> pd.DataFrame:
    """The counts that were obtained once, see `count_issues`, of the files that were at hand.

    ``attrs["provenance"]`` names files, licence and command.

    >>> rgb_file_issues().query("file == 'zh_int' and issue == 'more_groups_than_passages'")["found"].item()
    2
    """
    table = pd.read_csv(_data("rgb_file_issues.csv"))
    table.attrs["provenance"] = json.loads(
        _data("rgb_file_issues.provenance.json").read_text(encoding="utf-8")
    )
    return table


def _write(folder: str) -> None:
    table = count_issues(folder)
    table.to_csv(_data("rgb_file_issues.csv"), index=False, lineterminator="\n")
    provenance = {"command": COMMAND, "files": list(table.attrs["files"].values())}
    _data("rgb_file_issues.provenance.json").write_text(
        json.dumps(provenance, indent=2) + "\n", encoding="utf-8"
    )


def _data(name: str) -> Path:
    return Path(str(resources.files("ragnb.experiments") / "data" / name))


if __name__ == "__main__":
    _write(sys.argv[1])
