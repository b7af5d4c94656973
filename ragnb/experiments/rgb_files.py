"""Counts of the issues that `ragnb.audit` finds in RGB's own files, whose text may not be distributed.

``tests/recording/rgb_files.py`` counts them.
"""

import json

import pandas as pd

from ragnb.experiments.recorded import data_file


def rgb_file_issues() -> pd.DataFrame:
    """Return the number of questions with each issue in each of RGB's files.

    Returns
    -------
    DataFrame
        One row per ``file`` and ``issue``, with the number of its ``questions`` and of those ``found`` to have the issue.
        ``attrs["provenance"]`` names the files, their licence and the command.

    Examples
    --------
    >>> rgb_file_issues().query("file == 'zh_int' and issue == 'more_groups_than_passages'")["found"].item()
    2
    """
    table = pd.read_csv(data_file("rgb_file_issues.csv"))
    table.attrs["provenance"] = json.loads(
        data_file("rgb_file_issues.provenance.json").read_text(encoding="utf-8")
    )
    return table
