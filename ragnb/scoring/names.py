"""Names of metrics: short names, and suggestions for names that are unknown."""

# Tested in tests/scoring/test_glossary.py.

from collections.abc import Iterable

from ragnb.metrics.record import METRICS
from ragnb.suggestions import similar_names


def suggestion(name: str, known_names: Iterable[str]) -> str:
    """Suggest the known names that are most similar to a name.

    If none is similar, say where all names are listed.

    >>> suggestion("answer.f2", ["answer.f1", "rgb.accuracy"])
    "did you mean 'answer.f1'?"
    >>> suggestion("rouge-l", ["answer.rouge_l", "rgb.accuracy"])
    "did you mean 'answer.rouge_l'?"
    """
    similar = similar_names(name, known_names)
    if similar:
        return f"did you mean {' or '.join(map(repr, similar))}?"
    return "ragnb.definitions() lists all names (ragnb metrics on the command line)"


def possible_metrics(name: str) -> list[str]:
    """Return the full names of the metrics that a name may mean; the name itself if it is a full one.

    A short name is the last part of a full name, such as ``f1``, or an abbreviation that
    `ragnb.definitions` knows, such as ``em``.

    Raises
    ------
    InputError
        No metric has such a name.

    >>> possible_metrics("f1"), possible_metrics("em"), possible_metrics("answer.f1")
    (['answer.f1'], ['answer.exact_match'], ['answer.f1'])
    """
    # Imported here, because the glossary imports `score`, which imports this module.
    from ragnb.scoring.glossary import definitions

    # Full names contain a dot. An unknown one is returned, too: the caller checks it.
    if "." in name:
        return [name]
    short_name = name.casefold()
    exact_matches = [metric for metric in METRICS if metric.partition(".")[2] == short_name]
    return exact_matches or [metric.name for metric in definitions(name).metrics]
