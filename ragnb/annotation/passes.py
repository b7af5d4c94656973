"""Two labelling passes of the package's own samples, as the annotator wrote them: for teaching, and for tests."""

from importlib import resources
from pathlib import Path

from ragnb.errors import check_choice

PASSES = {
    "trace": "the 34 responses of sample-ragbench",
    "verdict": "49 replies of sample-labelled-en",
}
"""Tasks that were labelled, and what was."""


def recorded_passes(task: str) -> tuple[Path, Path]:
    """Logs of two passes over the same items by ragnb's authors, who did not see each other's labels.

    Both are readers of one kind and agree more than people do; nobody else took part. Their times are those of entering.

    Parameters
    ----------
    task
        - ``"trace"``: all responses of ``load_ragbench("sample-ragbench")``
        - ``"verdict"``: the replies of ``load_labelled("sample-labelled-en")`` on which an ensemble abstained (notebook 12)

    Raises
    ------
    InputError
        Another task.

    >>> [path.name for path in recorded_passes("trace")]
    ['trace.first.jsonl', 'trace.second.jsonl']
    """
    check_choice(task, tuple(PASSES), "the task of recorded_passes")
    folder = Path(str(resources.files("ragnb.annotation") / "data"))
    return folder / f"{task}.first.jsonl", folder / f"{task}.second.jsonl"
