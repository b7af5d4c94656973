"""Tables that papers printed, carried with the package to stand beside one's own numbers."""

from importlib import resources

import pandas as pd

from ragnb.errors import InputError

_PAPER = "Chen, Lin, Han, Sun (AAAI 2024), arXiv 2309.01431"
PUBLISHED = {"rgb_noise_robustness": f"{_PAPER}, table 1"}


def load_published(name: str) -> pd.DataFrame:
    """A published table; its source is in ``attrs["source"]``.

    Parameters
    ----------
    name
        ``"rgb_noise_robustness"``: accuracy of six models of 2023 in English and Chinese at five noise rates, n = 300 (the
        Chinese 67.68 is printed so, though it cannot be k/300).

    Raises
    ------
    InputError
        Unknown name.
    """
    if name not in PUBLISHED:
        raise InputError(f"load_published needs one of {', '.join(PUBLISHED)}; got {name!r}; choose one")
    with (resources.files("ragnb.datasets") / "data" / f"{name}.csv").open(encoding="utf-8") as file:
        frame = pd.read_csv(file)
    frame.attrs["source"] = PUBLISHED[name]
    return frame
