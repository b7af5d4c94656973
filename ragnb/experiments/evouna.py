"""How far a metric replaces people's verdicts: results on EVOUNA's Natural Questions.

They are numbers about the file and contain no text of it. ``tests/recording/evouna.py`` computes them.
"""

import json

import pandas as pd

from ragnb.experiments.recorded import data_file


def evouna_results(name: str) -> pd.DataFrame:
    """Return results that were computed once.

    Parameters
    ----------
    name : {"labels", "agreement"}
        ``"labels"``: coverage and mean width of 95 % intervals that use few of people's verdicts, for each
        system and number of labels. ``"agreement"``: agreement of ``answer.contains`` with people's verdicts.

    Returns
    -------
    DataFrame
        ``attrs["provenance"]`` names the file, its licence, the command, the versions and the date.

    Examples
    --------
    >>> evouna_results("labels")["n_labels"].unique().tolist()
    [20, 50, 100, 300]
    """
    table = pd.read_csv(data_file(f"evouna_{name}.csv"))
    table.attrs["provenance"] = json.loads(
        data_file("evouna.provenance.json").read_text(encoding="utf-8")
    )
    return table
