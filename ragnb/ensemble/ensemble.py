"""Ensembles of metrics that predict a human label, with a guarantee for the predictions."""
# ruff: noqa: N803, N806 (X and y are the names of the field)

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.conformal.control import calibrate_selective_risk
from ragnb.conformal.sets import (
    ALL,
    ConformalClassifier,
    conformal_rank,
    coverage_distribution,
    too_few_items,
)
from ragnb.ensemble.data import (
    XYData,
    aligned,
    cross_validation_folds,
    finite,
    refuse_repeated_labels,
    require_both_labels,
)
from ragnb.ensemble.shift import differing, sample, shift_tests
from ragnb.errors import InputError
from ragnb.records import require_columns

STRENGTHS = (0.1, 1.0, 10.0)
"""Values of C among which the default classifier chooses."""

Judicator = Callable[[Any], Any]
"""A judge that decides the responses on which the ensemble abstains (the name is continuous-eval's).

It is a function of the index value of one response. It returns True or False, 1 or 0, or None if it
has no verdict.
"""


# ---- judicators ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BatchJudicator:
    """Judge that is called once, with all responses on which the ensemble abstains.

    A *judicator* is a judge that decides these responses; the name is that of the package
    continuous-eval.

    Parameters
    ----------
    function : callable
        Called with the list of the index values of these responses. It returns one verdict per
        response, in the same order. A verdict is True or False, 1 or 0, or None if there is none.
        The function is not called with an empty list.

    Examples
    --------
    >>> BatchJudicator(lambda labels: [label == "a" for label in labels])(["b", "a"])
    [False, True]
    """

    function: Callable[[list[Any]], Sequence[Any]]

    def __call__(self, labels: Sequence[Any]) -> list[Any]:
        """Return the verdicts on the responses with these index values."""
        return list(self.function(list(labels))) if len(labels) else []


def verdicts_of(judicator: Judicator, labels: Sequence[Any]) -> list[bool | None]:
    """Call a judicator with the index values of responses, and check the verdicts."""
    at_once = isinstance(judicator, BatchJudicator)
    verdicts = judicator(labels) if at_once else [judicator(label) for label in labels]
    odd = [verdict for verdict in verdicts if verdict is not None and verdict not in (0, 1)]
    if odd or len(verdicts) != len(labels):
        raise InputError(
            "a judicator must return True, False or None for each response, got "
            f"{len(verdicts)} verdicts for {len(labels)}{f', including {odd[:3]}' if odd else ''}; "
            "to use a score, compare it with a threshold, as in score >= 0.5"
        )
    return [None if verdict is None else bool(verdict) for verdict in verdicts]


# ---- the classifier ------------------------------------------------------------------------------


def fit_classifier(
    training: XYData,
    classifier: Any = None,
    *,
    class_weight: str | Mapping[int, float] | None = "balanced",
    random_state: int | None = None,
) -> Any:
    """Fit a classifier to the training data and return it.

    By default, this is a logistic regression whose penalty has the highest cross-validated AUROC. A
    given classifier is cloned, so the original remains unfitted. The parameters are those of
    `MetricEnsemble`.
    """
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    if classifier is not None:
        chosen = clone(classifier)
        unseeded = [
            name
            for name, value in chosen.get_params().items()
            if name.endswith("random_state") and value is None
        ]
        chosen.set_params(**dict.fromkeys(unseeded, random_state))
        return chosen.fit(training.X, training.y)
    model = LogisticRegression(
        solver="liblinear", class_weight=class_weight, max_iter=1000, random_state=random_state
    )
    # scikit-learn 1.8 replaced penalty="l2" and "l1" by l1_ratio=0 and 1.
    new = model.penalty == "deprecated"
    penalty = {"model__l1_ratio": (0.0, 1.0)} if new else {"model__penalty": ("l2", "l1")}
    pipeline = Pipeline([("scaler", StandardScaler()), ("model", model)])
    folds = cross_validation_folds(training, random_state)
    grid = {"model__C": STRENGTHS, **penalty}
    search = GridSearchCV(pipeline, grid, scoring="roc_auc", cv=folds)
    return search.fit(training.X, training.y).best_estimator_


# ---- the ensemble --------------------------------------------------------------------------------


class MetricEnsemble:
    """Binary classifier of responses by their metric values, with a statistical guarantee.

    It is trained on one part of the labelled responses and calibrated on another. The `guarantee`
    is one of the following three. Each assumes that new responses are drawn from the same
    distribution as the calibration part, and none is a guarantee for a single response.

    - ``"marginal"``: on average over calibration parts, P(the prediction set contains the correct
      label) >= 1 - alpha for new responses.
    - ``"class"``: the same within each class. Errors on a rare class can then not be offset by
      correct predictions for the other class.
    - ``"selective"``: with probability at least 1 - delta over calibration parts, the error rate
      among the labels that the ensemble accepts is at most alpha.

    The prediction set contains each label that cannot be excluded. The ensemble *accepts* a label
    if the set contains only this label. It *abstains* if the set contains both labels or neither.

    Parameters
    ----------
    training, calibration : XYData
        Labelled responses with the same metrics. No response or group may be in both.
    alpha : float
        Error rate that the guarantee allows, in (0, 1).
    random_state : int, optional
        Seed of all random steps; None gives a different result each time.
    classifier : optional
        Any scikit-learn classifier with ``predict_proba``. The default is a logistic regression on
        standardised metrics. Its penalty (l1 or l2) and the inverse penalty strength C (0.1, 1 or
        10) are chosen by cross-validation in the training part.
    class_weight : "balanced", mapping or None
        Class weights of the default classifier. Like oversampling, balanced weights shift the
        probabilities, and thus the predicted labels, towards the rarer label. The guarantee still
        holds.
    guarantee : {"marginal", "class", "selective"}
        See above.
    delta : float
        Tolerated probability of a calibration part for which the error rate exceeds alpha, in (0,
        1). Only used by ``guarantee="selective"``.
    groups : iterable, optional
        Group of each calibration response, such as its language. The guarantee then holds within
        each group, and `predict` requires the groups of new responses. Not available with
        ``"selective"``.

    Attributes
    ----------
    features : tuple
        Names of the metrics.
    classifier
        The fitted classifier.

    References
    ----------
    .. [1] Vovk, V., Gammerman, A. & Shafer, G. (2005). Algorithmic Learning in a Random World.
       Springer.
    .. [2] Sadinle, M., Lei, J. & Wasserman, L. (2019). Least ambiguous set-valued classifiers with
       bounded error levels. JASA 114, 223-234.
    .. [3] Angelopoulos, A. N., Bates, S., Candès, E. J., Jordan, M. I. & Lei, L. (2021). Learn then
       Test: Calibrating predictive algorithms to achieve risk control. arXiv:2110.01052.

    Examples
    --------
    >>> from ragnb.ensemble import DataSplit
    >>> split = DataSplit(pd.DataFrame({"f1": range(100)}), [0] * 50 + [1] * 50, random_state=0)
    >>> ensemble = MetricEnsemble(split.train, split.calibration, random_state=0)
    >>> y_hat, y_set = ensemble.predict(pd.DataFrame({"f1": [1, 99]}))
    >>> y_hat.tolist(), y_set.tolist()
    ([0, 1], [[True, False], [False, True]])
    """

    @accepts(alpha="rate", delta="rate", guarantee=("marginal", "class", "selective"))
    def __init__(
        self,
        training: XYData,
        calibration: XYData,
        alpha: float = 0.1,
        random_state: int | None = None,
        *,
        classifier: Any = None,
        class_weight: str | Mapping[int, float] | None = "balanced",
        guarantee: str = "marginal",
        delta: float = 0.1,
        groups: Iterable[Any] | None = None,
    ) -> None:
        if groups is not None and guarantee == "selective":
            raise InputError(
                'guarantee="selective" does not accept groups; fit one ensemble for each group'
            )
        for part, name in ((training, "training"), (calibration, "calibration")):
            require_both_labels(part.y, f"the {name} part")
        refuse_repeated_labels(calibration.X.index, "the calibration part")
        both = training.units().intersection(calibration.units())
        if len(both):
            raise InputError(
                "training and calibration must not have a response or group in common, got "
                f"{both[0]!r} in both; split one frame with DataSplit"
            )
        self.features = tuple(training.X)
        require_columns(calibration.X, self.features, "the calibration part")
        self.alpha, self.delta, self.guarantee = float(alpha), float(delta), guarantee
        self.classifier = fit_classifier(
            training, classifier, class_weight=class_weight, random_state=random_state
        )
        self._known = self._sample(calibration.X, groups, calibration.y, calibration.groups)
        known = self._known["about"]
        self._conformal = ConformalClassifier.calibrate(
            known["probability"],
            known["label"],
            by_class=guarantee == "class",
            groups=known["group"],
        )
        self._selective = calibrate_selective_risk(
            known["probability"], known["label"], self.alpha, self.delta
        )

    # ---- prediction ------------------------------------------------------------------------------

    def predict(
        self,
        X: pd.DataFrame,
        judicator: Judicator | None = None,
        *,
        groups: Iterable[Any] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Predict a label and a prediction set for each new response.

        Parameters
        ----------
        X : DataFrame
            One row per response with the columns `features`. Other columns are ignored.
        judicator : callable, optional
            Judge that decides the responses on which the ensemble abstains: a function of one index
            value of X, or a `BatchJudicator`.
        groups : iterable, optional
            Category of each row within which the guarantee holds, such as its language. Required
            if, and only if, the ensemble was calibrated by groups.

        Returns
        -------
        y_hat : array of shape (n,)
            The accepted label, 0 or 1. If the ensemble abstains, it is the judicator's verdict, or
            the more probable label if there is no verdict.
        y_set : bool array of shape (n, 2)
            Whether labels 0 and 1 are in the prediction set. It does not depend on the judicator.

        Warns
        -----
        RuntimeWarning
            There are too few calibration responses to exclude a label. With ``"selective"``, no
            threshold was found, so no label is accepted.
        UserWarning
            The responses differ from the calibration responses, so the guarantee may not hold for
            them. See `check_shift`.
        """
        found = self.decide(X, judicator, groups=groups)
        return found["label"].to_numpy(), found[["in_set_0", "in_set_1"]].to_numpy()

    def decide(
        self,
        X: pd.DataFrame,
        judicator: Judicator | None = None,
        *,
        groups: Iterable[Any] | None = None,
    ) -> pd.DataFrame:
        """Predict as `predict` does, and also return probabilities, p-values and verdicts.

        The parameters are those of `predict`.

        Returns
        -------
        DataFrame
            One row per response, with the index of X. The columns are

            - ``probability``: predicted probability of label 1;
            - ``p_value_0, p_value_1``: conformal p-values of the two labels (not used with
              ``"selective"``);
            - ``in_set_0, in_set_1``: whether the prediction set contains the label;
            - ``abstained``: whether the set contains both labels or neither;
            - ``y_hat``: label predicted by the ensemble itself;
            - ``deferred``: whether the judicator was called;
            - ``judged``: verdict of the judicator, missing if there is none;
            - ``label``: the verdict or, if there is none, y_hat.
        """
        new = self._sample(X, groups)
        refuse_repeated_labels(X.index, "predict")
        probability, names = (new["about", name].to_numpy() for name in ("probability", "group"))
        p_values = self._conformal.p_values(probability, groups=names)
        if self.guarantee == "selective":
            sets = self._selective.sets(probability)
        else:
            sets = self._conformal.sets(probability, self.alpha, groups=names)
        if len(X):
            tests = shift_tests(self._known, new, by_class=self.guarantee == "class")
            if not differing(tests).empty:
                warnings.warn(
                    f"{tests.attrs['summary']} The guarantee holds only for responses like those "
                    "in the calibration part. Calibrate the ensemble on labelled responses of the "
                    "new kind. check_shift shows the tests.",
                    UserWarning,
                    stacklevel=2,
                )
        abstained = sets[:, 0] == sets[:, 1]
        deferred = abstained & (judicator is not None)
        judged = pd.Series(pd.NA, index=X.index, dtype="Int64")
        if judicator is not None:
            verdicts = verdicts_of(judicator, X.index[deferred].tolist())
            judged[deferred] = pd.array(verdicts, dtype="boolean").astype("Int64")
        found = {
            "probability": probability,
            "p_value_0": p_values[:, 0],
            "p_value_1": p_values[:, 1],
            "in_set_0": sets[:, 0],
            "in_set_1": sets[:, 1],
            "abstained": abstained,
            "y_hat": np.where(abstained, probability > 0.5, sets[:, 1]).astype(np.int64),
            "deferred": deferred,
            "judged": judged,
        }
        frame = pd.DataFrame(found, X.index)
        return frame.assign(label=judged.fillna(frame["y_hat"]).astype(np.int64))

    def _sample(
        self, X: pd.DataFrame, groups: Any, labels: Any = None, units: Any = None
    ) -> pd.DataFrame:
        """Prepare new responses for the tests of shift."""
        require_columns(X, self.features, "the ensemble")
        X = finite(X[list(self.features)], "the ensemble")
        probability = self.classifier.predict_proba(X)[:, 1] if len(X) else np.empty(0)
        names = None if groups is None else aligned(groups, X.index, "groups").to_numpy()
        return sample(X, probability, labels, units, names)

    # ---- whether the guarantee applies -----------------------------------------------------------

    def check_shift(
        self, new: pd.DataFrame | XYData, *, groups: Iterable[Any] | None = None
    ) -> pd.DataFrame:
        """Test for distribution shift between new and calibration responses.

        The guarantee holds only for responses that are drawn from the same distribution as the
        calibration responses. `predict` runs the same tests, without labels, and warns if an
        adjusted p-value is below 0.001.

        Parameters
        ----------
        new : DataFrame or XYData
            Features of new responses, one row per response, with the columns `features`. An
            `XYData` also has their labels, and its groups state which responses belong to the same
            question.
        groups : iterable, optional
            Category of each row within which the guarantee holds, such as its language. Required
            if, and only if, the ensemble was calibrated by groups.

        Returns
        -------
        DataFrame
            One row per test. ``tested`` is the name of a feature, ``"probability"`` (the ensemble's
            probability of label 1) or, if the labels are known, ``"score of the true label"``.
            ``group`` and ``label`` state which responses were compared, as in `coverage`. The other
            columns are ``test, statistic, p_value, p_adjusted, correction, family_size``;
            ``n_calibration`` and ``n_new``, the numbers of responses; ``n_units_calibration`` and
            ``n_units_new``, the effective sample sizes (see the Notes); and ``note``,
            the result as a sentence. ``attrs["summary"]`` states the result of the whole table.

        Notes
        -----
        Each feature, and the probability, is compared by a two-sided two-sample Kolmogorov-Smirnov
        test. The labels are compared by a one-sided test of the nonconformity score, which is one
        minus the probability of the true label. The conformal p-value of a label is determined by
        the rank of its score among the calibration scores. The one-sided test therefore asks
        whether the p-values of the true labels are smaller than those of responses that are
        distributed as in calibration. With ``guarantee="class"``, it compares each class
        separately. Ties make the tests conservative. Holm's correction is over all rows of the
        table. Without any shift, the probability that an adjusted p-value is below 0.001 is at most
        0.1 %, averaged over calibration samples.

        Responses to the same question are not independent. The tests therefore use Kish's effective
        sample size n / m, where n is the number of responses and m is the number of responses to
        the same question, averaged over responses. This is conservative unless the responses to a
        question are identical. If the questions of the new responses are not known, m is taken from
        the calibration responses. If the calibration data have no question groups (the groups of
        `XYData`), all responses are assumed to be independent. A test needs an effective sample
        size of 20 on each side. Otherwise its p-value is NaN, and `predict` does not warn.

        The prediction sets depend on the features only through the probability. Without labels, the
        row of the probability is therefore the most important one. A shift that changes the labels
        but not the features can be detected only if labels are given. With ``guarantee="class"``,
        the guarantee still holds if only the proportions of the classes change, although this also
        shifts the features.

        References
        ----------
        .. [1] Hodges, J. L. (1958). The significance probability of the Smirnov two-sample test.
           Arkiv för Matematik 3, 469-486.

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
        X, y, units = (new.X, new.y, new.groups) if isinstance(new, XYData) else (new, None, None)
        found = self._sample(X, groups, y, units)
        if found.empty:
            raise InputError("check_shift needs new responses, but X has no rows")
        return shift_tests(self._known, found, by_class=self.guarantee == "class")

    # ---- what is guaranteed ----------------------------------------------------------------------

    def coverage(self) -> pd.DataFrame:
        """Expected coverage and its central 90 % interval, for each class or group of the guarantee.

        Returns
        -------
        DataFrame
            One row per ``group`` and ``label`` (``"all"`` if they are calibrated together), with
            the number ``n`` of calibration responses; the ``rank`` of the threshold among their
            scores; the ``mean`` of the coverage over calibration parts of this size; ``low`` and
            ``high``, the 5 % and 95 % quantiles of this coverage (a beta distribution); and a
            ``warning`` if there are too few responses to exclude any label. With ``"selective"``,
            this is the coverage that sets based on the p-values would have, not that of the sets
            that `predict` returns.
        """
        rows = []
        for (group, label), scores in self._conformal.scores.items():
            n, found = scores.size, coverage_distribution(scores.size, self.alpha)
            low, high = found.interval(0.9)
            rows.append(
                {
                    "group": group,
                    "label": label,
                    "n": n,
                    "rank": conformal_rank(n, self.alpha),
                    "mean": found.mean(),
                    "low": low,
                    "high": high,
                    "warning": too_few_items(n, self.alpha),
                }
            )
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        return f"MetricEnsemble of {len(self.features)} metrics, {self.summary()}"

    def summary(self) -> str:
        """Describe what the guarantee promises and what it does not."""
        if self.guarantee != "selective":
            cells = self.coverage()
            within = " of each class" * (self.guarantee == "class")
            within += " in each group" * bool((cells["group"] != ALL).any())
            few = cells.query("warning != ''")
            text = (
                f"averaged over many calibrations, the prediction sets of at least {1 - self.alpha:.4g} "
                f"of new responses{within} contain the correct label, provided that new responses are "
                "like these. This is no guarantee for a single response, nor for the accepted labels "
                "alone."
                + "".join(f" ({row.group}, {row.label}: {row.warning})" for row in few.itertuples())
            )
        else:
            abstains = 1 - self._selective.n_accepted / self._selective.n
            text = self._selective.warning or (
                f"in at least {1 - self.delta:.4g} of all calibrations, at most {self.alpha:.4g} of the "
                "labels that the ensemble accepts for new responses like these are wrong. This is no "
                "guarantee for a single response, nor for those on which it abstains "
                f"({abstains:.1%} of the calibration responses)."
            )
        return f"calibrated on {len(self._known)} responses: {text}"


EnsembleMetric = MetricEnsemble
"""Alias of `MetricEnsemble`, for code that was written for continuous-eval."""
