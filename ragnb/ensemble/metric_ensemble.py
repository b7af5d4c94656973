"""Metrics that together predict a person's label, with sets that say how far the prediction can be relied on."""
# ruff: noqa: N803, N806 (X and y are the names of the field)

import warnings
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
from ragnb.ensemble.data import (
    XYData,
    check_both_labels,
    check_features,
    check_unique,
    group_codes,
    group_names,
    ordered_features,
)
from ragnb.ensemble.judicator import Judicator, ask
from ragnb.ensemble.shift import MIN_UNITS, Sample, differing, shift_tests
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
            known_features=known.to_numpy(),
            units=None if calibration.groups is None else group_codes(calibration),
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
            One row per response, with the columns `features` in their order. Other columns are ignored.
        judicator
            A function of an index label of X, or a `BatchJudicator`. It decides where the ensemble is undecided.
        groups
            Group of each row. Required if, and only if, the ensemble was calibrated by groups.

        Returns
        -------
        y_hat : array of shape (n,)
            0 or 1: the only label in the set. Where the ensemble is undecided, it is the judicator's verdict, or the more
            probable label if there is no verdict.
        y_set : bool array of shape (n, 2)
            Whether label 0 and label 1 are in the conformal set, whatever a judicator says. The ensemble is undecided where
            the set contains both labels or neither: `ragnb.conformal.predictor.undecided`.

        Raises
        ------
        InputError
            Metrics are missing or in another order, a value is not a finite number, an index label is repeated, groups are
            missing or unknown, or a verdict is neither true nor false.

        Warns
        -----
        RuntimeWarning
            There are too few calibration responses to exclude a label.
        UserWarning
            The responses differ from the calibration responses, so that the guarantee may not hold for them. See
            `check_shift`.
        """
        found = self._decide(X, judicator, groups)
        return found["label"].to_numpy(), found[["in_set_0", "in_set_1"]].to_numpy()

    def decide(
        self, X: pd.DataFrame, judicator: Judicator | None = None, *, groups: Iterable[Any] | None = None
    ) -> pd.DataFrame:
        """Probability, p-values, set and label of each response, with X's index labels.

        The parameters, errors and warnings are those of `predict`.

        Returns
        -------
        DataFrame
            ``probability`` of label 1; ``p_value_0, p_value_1``, conformal p-values (under ``"decided"`` for information);
            ``in_set_0, in_set_1, undecided``; ``y_hat``, the label that the ensemble predicts by itself; ``escalated``,
            whether the judicator was asked; ``judged``, its verdict, missing without one; ``label``, the verdict or else
            y_hat.
        """
        return self._decide(X, judicator, groups)

    def _decide(self, X: pd.DataFrame, judicator: Judicator | None, groups: Iterable[Any] | None) -> pd.DataFrame:
        X = check_features(ordered_features(X, self.features, "predict"))
        check_unique(X.index, "predict")
        probability = probability_of_1(self.classifier, X)
        names = None if groups is None else group_names(groups, X.index).to_list()
        sets, p_values = self._sets(probability, names), self._conformal.p_values(probability, groups=names)
        if self._fields["known_features"] is not None and len(X) >= MIN_UNITS:
            self._warn_of_shift(self._compared(X, probability, None, None, names))
        open_ = undecided(sets)
        frame = pd.DataFrame({"probability": probability, "p_value_0": p_values[:, 0], "p_value_1": p_values[:, 1]}, X.index)
        frame = frame.assign(in_set_0=sets[:, 0], in_set_1=sets[:, 1], undecided=open_)
        frame["y_hat"] = np.where(open_, likelier_label(probability), sets[:, 1]).astype(np.int64)
        return _judged(frame, judicator)

    def _sets(self, probability: np.ndarray, groups: list[Any] | None) -> np.ndarray:
        if self._control is not None:
            return self._control.sets(probability)
        return self._conformal.sets(probability, self.alpha, groups=groups, empty=self.empty)

    # ---- whether the guarantee applies ---------------------------------------------------------------------------------

    def check_shift(self, new: pd.DataFrame | XYData, *, groups: Iterable[Any] | None = None) -> pd.DataFrame:
        """Test whether new responses are distributed like the calibration responses.

        The guarantee holds only for responses that are drawn as the calibration responses were. `predict` runs the same
        tests, without labels, and warns if an adjusted p-value is below 0.001.

        Parameters
        ----------
        new
            Features of new responses, one row per response, with the columns `features` in their order. An `XYData` adds
            their labels, and its groups name the responses that belong to the same question.
        groups
            Group of each row. Required if, and only if, the ensemble was calibrated by groups.

        Returns
        -------
        DataFrame
            One row per test. ``tested`` is a feature, ``"probability"`` (the ensemble's probability of label 1), or, if the
            labels are known, ``"score of the true label"``. ``group`` and ``label`` name the responses that were compared,
            as in `coverage`. The others are ``test, statistic, p_value, p_adjusted, correction, family_size``;
            ``n_calibration`` and ``n_new``, the numbers of responses; ``n_units_calibration`` and ``n_units_new``, how many
            independent responses they are taken for; and ``note``, the result as a sentence. ``attrs["summary"]`` says in
            a sentence or two what the whole table shows.

        Raises
        ------
        InputError
            As `predict`; there are no rows; or the ensemble was loaded from a file without calibration features.

        Notes
        -----
        Each feature, and the probability, is compared with a two-sided two-sample Kolmogorov-Smirnov test. Labels are
        compared with a one-sided test of the nonconformity score, which is one minus the probability of the true label. The
        conformal p-value of a label is the rank of its score among the calibration scores. The test thus asks whether the
        p-values of the true labels are smaller than those of responses that were drawn like the calibration responses.
        With ``guarantee="class"`` it compares each class separately. Ties make the tests conservative. Holm's correction
        covers all rows of the table. Without any shift, an adjusted p-value falls below 0.001 in at most 0.1 % of cases,
        averaged over calibration samples.

        Responses to the same question are not independent. The test therefore counts n responses as n / m independent ones.
        Here m is the number of responses to the same question, averaged over responses. This is conservative unless the
        responses to a question are identical. If the questions of the new responses are not known, m is taken from the
        calibration responses. If those have no groups, all responses are taken to be independent. A test needs 20
        independent responses on each side. Otherwise its p-value is ``nan``, and `predict` does not warn.

        The sets depend on the features only through the probability, so its row is the most important one without labels.
        A shift that changes the labels but not the features can only be seen if labels are given. With
        ``guarantee="class"`` a shift of the features alone may be harmless, because the guarantee holds even if the shares
        of the classes change.

        References
        ----------
        Hodges, J. L. (1958). The significance probability of the Smirnov two-sample test. Arkiv för Matematik 3, 469-486.

        Examples
        --------
        >>> from ragnb.ensemble import DataSplit
        >>> X = pd.DataFrame({"f1": np.random.default_rng(0).random(300)})
        >>> split = DataSplit(X, X["f1"] > 0.5, random_state=0)
        >>> ensemble = MetricEnsemble(split.train, split.calibration, random_state=0)
        >>> table = ensemble.check_shift(split.test)
        >>> (table["p_adjusted"] < 0.001).any()
        np.False_
        >>> ensemble.check_shift(split.test.X / 2)["note"][0]
        'The new responses are distributed differently from the calibration responses.'
        """
        if self._fields["known_features"] is None:
            raise InputError(
                "check_shift needs the features of the calibration responses, but this ensemble was loaded from a file that "
                "does not contain them. Calibrate the ensemble again."
            )
        given = new if isinstance(new, XYData) else None
        X = check_features(ordered_features(new if given is None else given.X, self.features, "check_shift"))
        if not len(X):
            raise InputError("check_shift needs new responses, but X has no rows.")
        probability = probability_of_1(self.classifier, X)
        names = None if groups is None else group_names(groups, X.index).to_list()
        self._conformal.p_values(probability, groups=names)  # refuses groups that the calibration has not seen
        labels = None if given is None else given.y.to_numpy()
        units = None if given is None or given.groups is None else group_codes(given)
        return self._compared(X, probability, labels, units, names)

    def _compared(self, X: pd.DataFrame, probability: np.ndarray, labels: Any, units: Any, groups: Any) -> pd.DataFrame:
        """The tests of `check_shift`."""
        fields = self._fields
        known = Sample(
            pd.DataFrame(fields["known_features"], columns=list(self.features)),
            fields["probabilities"],
            fields["labels"],
            fields["units"],
            _group_array(fields["groups"], len(fields["labels"])),
        )
        new = Sample(X, probability, labels, units, _group_array(groups, len(X)))
        return shift_tests(known, new, by_class=self.guarantee == "class")

    def _warn_of_shift(self, table: pd.DataFrame) -> None:
        if differing(table).empty:
            return
        if self._control is None:
            promise = f"The coverage guarantee of {1 - self.alpha:.4g}"
        else:
            promise = f"The guarantee that at most {self.alpha:.4g} of the decided labels are wrong"
        warnings.warn(
            f"{table.attrs['summary']} {promise} holds only for responses like the calibration responses. Calibrate the "
            "ensemble on labelled responses of the new kind. check_shift shows the tests.",
            UserWarning,
            stacklevel=4,
        )

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

    def summary(self, new: pd.DataFrame | XYData | None = None, *, groups: Iterable[Any] | None = None) -> str:
        """The guarantee in one sentence: what it means and what it does not.

        If `new` is given, a second sentence says whether the new responses differ from the calibration responses. `new` and
        `groups` are passed to `check_shift`.
        """
        shift = "" if new is None else f". {self.check_shift(new, groups=groups).attrs['summary']}"
        return f"{self._promise()}{shift}"

    def _promise(self) -> str:
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
        """Write the ensemble to a file that runs no code when it is opened (skops, never pickle).

        The file contains the fitted classifier, all options, and the features, probabilities, labels and groups of the
        calibration responses.
        """
        write_ensemble(path, {**self._fields, "features": list(self.features)})

    @classmethod
    def load(cls, path: str | Path, *, trusted: Sequence[str] = ()) -> "MetricEnsemble":
        """Read an ensemble that `save` wrote. It predicts exactly what the saved one did.

        Parameters
        ----------
        path
            The file.
        trusted
            Types to allow in addition to those that are known to be safe, such as ``["sklearn.tree._tree.Tree"]`` for your
            own random forest. The error names the types that a file needs.

        Raises
        ------
        InputError
            The file is missing, of another kind or damaged, or it contains unknown types.

        Warns
        -----
        RuntimeWarning
            The file was written with another version of scikit-learn, or it contains no features of the calibration
            responses, so that `predict` and `check_shift` cannot compare new responses with them.
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


def _group_array(groups: list[Any] | None, n: int) -> np.ndarray:
    return np.array(["all"] * n if groups is None else groups, dtype=object)


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
