"""Metrics that together predict a person's label, with sets that say how far the prediction can be relied on."""
# ruff: noqa: N803, N806 (X and y are the names of the field)

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ragnb.conformal.checks import check_rate
from ragnb.conformal.control import DecidedControl, control_decided_error
from ragnb.conformal.predictor import ConformalClassifier, undecided
from ragnb.conformal.rank import CoverageLaw
from ragnb.ensemble.classifier import fit_classifier, likelier_label, probability_of_1
from ragnb.ensemble.data import XYData, check_both_labels, check_features, check_unique, group_names, ordered_features
from ragnb.ensemble.judicator import Judicator, ask
from ragnb.ensemble.storage import read_ensemble, write_ensemble
from ragnb.errors import InputError, check_choice

GUARANTEES = ("marginal", "class", "decided")


class MetricEnsemble:
    """A classifier over metrics whose predictions come with conformal sets.

    It is trained on one part of the labelled responses and calibrated on another. What holds for new responses, drawn as
    the calibration part was, is one of three guarantees; none of them is about a single answer:

    - ``"marginal"``: the set holds the person's label for a share of at least 1 - alpha of all new responses, on average
      over calibration parts;
    - ``"class"``: the same within each class, so that rare wrong answers are not paid for by many right ones;
    - ``"decided"``: with probability at least 1 - delta over calibration parts, of the responses that it decides itself at
      most a share alpha gets the wrong label.

    Parameters
    ----------
    training, calibration : XYData
        Labelled responses; none in both. Both have the same metrics in the same order.
    alpha
        Share of errors that the guarantee allows, in (0, 1).
    random_state
        Seed of everything drawn by lot; None draws anew each time.
    classifier
        Any scikit-learn classifier with ``predict_proba``. By default a logistic regression over scaled metrics, with an l1
        or l2 penalty of strength C = 0.1, 1 or 10 by cross-validation within the training part (whole groups, area under
        the ROC curve).
    class_weight
        Of the default classifier: ``"balanced"``, None or a mapping. Balanced weights, like oversampling, push
        probabilities towards the rarer label and y_hat with them; the guarantee holds all the same.
    probability_calibration
        None, ``"sigmoid"`` or ``"isotonic"``: fitted by cross-validation within the training part.
    guarantee, delta
        See above; ``delta`` is for ``"decided"`` alone.
    groups
        Optional group of each calibration row, such as its language: the guarantee then holds within each group. `predict`
        needs the groups, too. Not for ``"decided"``.
    empty
        ``"keep"`` leaves sets without a label, which is undecided, too; ``"fill"`` puts the likelier label in.

    Attributes
    ----------
    features : tuple
        Names of the metrics, in the order of training.
    classifier
        The fitted classifier.

    Raises
    ------
    InputError
        An option that is none; metrics missing or in another order; a part without one of the labels; index labels or groups
        in both parts, or repeated in calibration; too few responses to cross-validate.

    References
    ----------
    Vovk, V., Gammerman, A. & Shafer, G. (2005). Algorithmic Learning in a Random World. Springer. Sadinle, M., Lei, J. &
    Wasserman, L. (2019). Least ambiguous set-valued classifiers with bounded error levels. JASA 114, 223-234. Angelopoulos,
    A. N. et al. (2021). Learn then test. arXiv 2110.01052.

    Examples
    --------
    >>> from ragnb.ensemble import DataSplit
    >>> split = DataSplit(pd.DataFrame({"f1": range(100)}), [0] * 50 + [1] * 50, random_state=0)
    >>> ensemble = MetricEnsemble(split.train, split.calibration, random_state=0)
    >>> y_hat, y_set = ensemble.predict(pd.DataFrame({"f1": [1, 99]}))
    >>> y_hat.tolist(), y_set.tolist()
    ([0, 1], [[True, False], [False, True]])
    """

    def __init__(
        self,
        training: XYData,
        calibration: XYData,
        alpha: float = 0.1,
        random_state: int | None = None,
        *,
        classifier: Any = None,
        class_weight: str | Mapping[int, float] | None = "balanced",
        probability_calibration: str | None = None,
        guarantee: str = "marginal",
        delta: float = 0.1,
        groups: Iterable[Any] | None = None,
        empty: str = "keep",
    ) -> None:
        options = _options(guarantee, alpha, delta, empty)
        _check_parts(training, calibration, groups, guarantee)
        features = tuple(training.X.columns)
        known = ordered_features(calibration.X, features, "calibration")
        fitted = fit_classifier(
            training,
            classifier,
            class_weight=class_weight,
            probability_calibration=probability_calibration,
            random_state=random_state,
        )
        self._calibrate(
            classifier=fitted,
            features=features,
            probabilities=probability_of_1(fitted, known),
            labels=calibration.y.to_numpy(),
            groups=None if groups is None else group_names(groups, known.index).to_list(),
            **options,
        )

    def _calibrate(self, **fields: Any) -> None:
        """Everything that is known of an ensemble: what `save` writes, and the predictor made of it."""
        self._fields = fields
        self.classifier, self.features = fields["classifier"], tuple(fields["features"])
        options = _options(*(fields[name] for name in ("guarantee", "alpha", "delta", "empty")))
        self.guarantee, self.alpha, self.delta, self.empty = options.values()
        known, labels, groups = (fields[name] for name in ("probabilities", "labels", "groups"))
        conditional = "class" if self.guarantee == "class" else None
        self._conformal = ConformalClassifier.calibrate(known, labels, conditional=conditional, groups=groups)
        decided = self.guarantee == "decided"
        self._control = control_decided_error(known, labels, self.alpha, self.delta) if decided else None

    # ---- prediction ----------------------------------------------------------------------------------------------------

    def predict(
        self, X: pd.DataFrame, judicator: Judicator | None = None, *, groups: Iterable[Any] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Labels of new responses and the sets of labels that cannot be excluded.

        Parameters
        ----------
        X
            One row a response, with the columns `features` in their order; others are left alone.
        judicator
            Function of an index label of X that decides where the ensemble is undecided, or a `BatchJudicator`.
        groups
            Group of each row, if and only if calibrated by groups.

        Returns
        -------
        y_hat : array of shape (n,)
            0 or 1: the only label of the set; where undecided the judicator's verdict, and without one the likelier label.
        y_set : bool array of shape (n, 2)
            Whether label 0 and label 1 are in the conformal set, whatever a judicator says. Both or neither is undecided:
            `ragnb.conformal.predictor.undecided`.

        Raises
        ------
        InputError
            Metrics missing or in another order, values that are no finite numbers, repeated index labels, groups that are
            missing or unknown, a verdict that is none.

        Warns
        -----
        RuntimeWarning
            Where calibration responses are too few to exclude a label.
        """
        found = self.decide(X, judicator, groups=groups)
        return found["label"].to_numpy(), found[["in_set_0", "in_set_1"]].to_numpy()

    def decide(
        self, X: pd.DataFrame, judicator: Judicator | None = None, *, groups: Iterable[Any] | None = None
    ) -> pd.DataFrame:
        """Everything that is said about each response, one row each with X's index labels.

        Parameters and errors are those of `predict`.

        Returns
        -------
        DataFrame
            ``probability`` of label 1; ``p_value_0, p_value_1``, conformal p-values (under ``"decided"`` for information);
            ``in_set_0, in_set_1, undecided``; ``y_hat``, the ensemble's own best effort; ``escalated``, whether the
            judicator was asked; ``judged``, its verdict, missing without one; ``label``, the verdict or else y_hat.
        """
        X = check_features(ordered_features(X, self.features, "predict"))
        check_unique(X.index, "predict")
        probability = probability_of_1(self.classifier, X)
        names = None if groups is None else group_names(groups, X.index).to_list()
        sets, p_values = self._sets(probability, names), self._conformal.p_values(probability, groups=names)
        open_ = undecided(sets)
        frame = pd.DataFrame({"probability": probability, "p_value_0": p_values[:, 0], "p_value_1": p_values[:, 1]}, X.index)
        frame = frame.assign(in_set_0=sets[:, 0], in_set_1=sets[:, 1], undecided=open_)
        frame["y_hat"] = np.where(open_, likelier_label(probability), sets[:, 1]).astype(np.int64)
        return _judged(frame, judicator)

    def _sets(self, probability: np.ndarray, groups: list[Any] | None) -> np.ndarray:
        if self._control is not None:
            return self._control.sets(probability)
        return self._conformal.sets(probability, self.alpha, groups=groups, empty=self.empty)

    # ---- what is promised ----------------------------------------------------------------------------------------------

    def coverage(self) -> pd.DataFrame:
        """What coverage this very calibration part may have given, one row a share of responses with a promise of its own.

        Returns
        -------
        DataFrame
            ``group`` and ``label`` ("all" where taken together); ``n`` calibration responses; ``rank`` of the threshold
            among their scores; ``mean`` coverage over calibration parts of this size; ``low`` and ``high``, between which
            90 % of them fall (Beta law); ``warning`` where they are too few to exclude any label. Under ``"decided"`` it is
            the coverage of the p-values, not of the sets.
        """
        laws = self._conformal.coverage(self.alpha)
        return pd.DataFrame([self._place(key) | _law(law) for key, law in laws.items()])

    def _place(self, key: Any) -> dict[str, Any]:
        group, label = key if isinstance(key, tuple) else (key, "all") if self._conformal.groups else ("all", key)
        return {"group": group, "label": label}

    def __repr__(self) -> str:
        return f"MetricEnsemble of {len(self.features)} metrics, {self.summary()}"

    def summary(self) -> str:
        """The guarantee in one sentence: what it means and what it does not."""
        basis = f"calibrated on {len(self._fields['labels'])} responses"
        if self._control is not None:
            return f"{basis}: {_decided_promise(self._control)}"
        within = " of each class" * (self.guarantee == "class") + " in each group" * (self._conformal.groups is not None)
        few = self.coverage().query("warning != ''")
        return (
            f"{basis}: the sets of at least {1 - self.alpha:.4g} of new responses like these{within} hold their "
            "label, on average over calibrations; this is no promise about a single answer, nor about the decided ones alone"
            + "".join(f" ({row.group}, {row.label}: {row.warning})" for row in few.itertuples())
        )

    # ---- files ---------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the ensemble to a file that runs no code when opened (skops, never pickle).

        It holds the fitted classifier, the calibration responses' probabilities, labels and groups, and all options.
        """
        write_ensemble(path, {**self._fields, "features": list(self.features)})

    @classmethod
    def load(cls, path: str | Path, *, trusted: Sequence[str] = ()) -> "MetricEnsemble":
        """The ensemble that `save` wrote; it predicts exactly what the saved one did.

        Parameters
        ----------
        path
            The file.
        trusted
            Types to allow besides those known to be safe, such as ``["sklearn.tree._tree.Tree"]`` for a random forest of
            your own; the error names those that a file has.

        Raises
        ------
        InputError
            No file, one of another kind, damaged, or with unknown types.

        Warns
        -----
        RuntimeWarning
            Where another version of scikit-learn wrote it.
        """
        ensemble = cls.__new__(cls)
        ensemble._calibrate(**read_ensemble(path, trusted))
        return ensemble


EnsembleMetric = MetricEnsemble
"""The same class under the name that code for continuous-eval uses."""


def _options(guarantee: str, alpha: float, delta: float, empty: str) -> dict[str, Any]:
    return {
        "guarantee": check_choice(guarantee, GUARANTEES, "guarantee"),
        "alpha": float(check_rate(alpha)),
        "delta": float(check_rate(delta, "delta")),
        "empty": check_choice(empty, ("keep", "fill"), "empty"),
    }


def _check_parts(training: XYData, calibration: XYData, groups: Any, guarantee: str) -> None:
    for part, name in ((training, "training"), (calibration, "calibration")):
        if not isinstance(part, XYData):
            raise InputError(
                f"{name} needs an XYData; it got {type(part).__name__}; pass XYData(X, y), or parts of a DataSplit."
            )
        check_both_labels(part.y, name, "label more responses, or split them anew")
    check_unique(calibration.X.index, "calibration")
    _check_apart(training.X.index, calibration.X.index, "index labels")
    if training.groups is not None and calibration.groups is not None:
        _check_apart(pd.Index(training.groups), pd.Index(calibration.groups), "groups")
    if groups is not None and guarantee == "decided":
        raise InputError('guarantee="decided" needs all responses together; it got groups; fit an ensemble for each group.')


def _check_apart(training: pd.Index, calibration: pd.Index, what: str) -> None:
    both = training.intersection(calibration).unique()
    if len(both):
        raise InputError(
            f"calibration needs responses that training has not seen; it got {len(both)} {what} of training, such as "
            f"{both[0]!r}; divide one frame with DataSplit, whose index labels tell the responses apart."
        )


def _judged(frame: pd.DataFrame, judicator: Judicator | None) -> pd.DataFrame:
    escalated = frame["undecided"] & (judicator is not None)
    verdicts = pd.Series(pd.NA, index=frame.index, dtype="Int64")
    if judicator is not None:
        given = ask(judicator, frame.index[escalated].tolist())
        verdicts[escalated] = pd.array([None if verdict is None else int(verdict) for verdict in given], dtype="Int64")
    return frame.assign(escalated=escalated, judged=verdicts, label=verdicts.fillna(frame["y_hat"]).astype(np.int64))


def _decided_promise(control: DecidedControl) -> str:
    if control.warning:
        return control.warning
    return (
        f"with probability at least {1 - control.delta:.4g} over calibrations, at most {control.alpha:.4g} of the labels "
        "that it decides itself are wrong for new responses like these; this is no promise about a single answer, nor about "
        f"those that it leaves undecided ({1 - control.share_decided:.1%} of the calibration responses)"
    )


def _law(law: CoverageLaw) -> dict[str, Any]:
    low, high = law.band()
    return {"n": law.n, "rank": law.rank, "mean": law.mean, "low": low, "high": high, "warning": law.warning}
