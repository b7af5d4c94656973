"""An ensemble as a file that runs no code when it is opened: skops, never pickle."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ragnb.errors import InputError
from ragnb.version import __version__

#: Plain Python classes of scikit-learn that probability calibration needs and that skops does not know for safe by itself.
TRUSTED = frozenset({"sklearn.calibration._CalibratedClassifier", "sklearn.calibration._SigmoidCalibration"})

FIELDS = frozenset("classifier features alpha guarantee delta empty probabilities labels groups".split())

OPTIONAL = ("known_features", "units")
"""Fields that files lack which were written before ensembles checked for shift."""


def write_ensemble(path: str | Path, fields: dict[str, Any]) -> None:
    """Write the parts of an ensemble and the versions that made them."""
    import skops.io

    skops.io.dump({**fields, "versions": _versions()}, path)


def read_ensemble(path: str | Path, trusted: Sequence[str] = ()) -> dict[str, Any]:
    """Parts of an ensemble out of a file, if all types in it are known or named in ``trusted``.

    Raises
    ------
    InputError
        No file, one of another kind, damaged, or with types that are neither.
    """
    import skops.io

    data, name = _content(path), Path(path).name
    try:
        found = skops.io.get_untrusted_types(data=data)
    except Exception as error:  # whatever a hostile or damaged file makes of the reader
        raise _no_ensemble(name, repr(error)) from error
    if unknown := sorted(set(found) - TRUSTED - set(trusted)):
        raise InputError(
            f"MetricEnsemble.load needs files of known types; {name} has {', '.join(unknown)}; if you made the file "
            f"yourself, and only then, load it with trusted={unknown!r}."
        )
    try:
        fields = skops.io.loads(data, trusted=found)
    except Exception as error:
        raise _no_ensemble(name, repr(error)) from error
    return _checked(fields, name)


def _content(path: str | Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(
            f"MetricEnsemble.load needs a file that can be read; got {str(path)!r} ({error.strerror}); check the path"
        ) from error


def _checked(fields: Any, name: str) -> dict[str, Any]:
    needed = {*FIELDS, "versions"}
    if not isinstance(fields, dict) or set(fields) - set(OPTIONAL) != needed or not isinstance(fields["versions"], dict):
        raise _no_ensemble(name, "other content")
    if not hasattr(fields["classifier"], "predict_proba"):
        raise _no_ensemble(name, f"a classifier without predict_proba, {type(fields['classifier']).__name__}")
    fields = dict.fromkeys(OPTIONAL) | fields
    _check_calibration(fields, name)
    _warn_of_another_version(fields.pop("versions"), name)
    return fields


def _check_calibration(fields: dict[str, Any], name: str) -> None:
    known, units, calibration = fields["known_features"], fields["units"], np.shape(fields["probabilities"])
    if known is None:
        warnings.warn(
            f"{name} was saved without the features of the calibration responses, so predict cannot warn if new responses "
            "differ from them. Calibrate the ensemble again to enable this.",
            RuntimeWarning,
            stacklevel=5,
        )
    elif np.shape(known) != (*calibration, len(fields["features"])) or np.shape(units) not in ((), calibration):
        raise _no_ensemble(name, "the features of other responses than those of the calibration")


def _no_ensemble(name: str, got: str) -> InputError:
    return InputError(
        f"MetricEnsemble.load needs a file that MetricEnsemble.save wrote; {name} is none ({got}); save it again."
    )


def _versions() -> dict[str, str]:
    import sklearn
    import skops

    return {
        "ragnb": __version__,
        "scikit-learn": sklearn.__version__,
        "skops": skops.__version__,
    }


def _warn_of_another_version(versions: dict[str, Any], name: str) -> None:
    saved, here = versions.get("scikit-learn"), _versions()["scikit-learn"]
    if saved != here:
        warnings.warn(
            f"{name} was saved with scikit-learn {saved} and is read with {here}: its probabilities may differ, and the "
            "guarantee with them; calibrate it again.",
            RuntimeWarning,
            stacklevel=4,
        )
