"""Ensembles of metrics that predict a human label, with a statistical guarantee."""
# ruff: noqa: N803 (X and y are the names of the field)

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import accepts, accepts_fields, as_rate
from ragnb.columns import require_columns
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
from ragnb.printing import warn

# Inverse penalty strengths C from which the default classifier is chosen.
STRENGTHS = (0.1, 1.0, 10.0)

# Judge that decides the responses on which an ensemble abstains. It is called with the index value
# of one response. It returns True or False (or 1 and 0), or None if there is no verdict.
Judicator = Callable[[Any], Any]


# ---- judicators ----------------------------------------------------------------------------------


@accepts_fields
@dataclass(frozen=True, slots=True)
class BatchJudicator:
    """Judge that is called once for all responses on which an ensemble abstains.

    The judge decides the labels of these responses. The package continuous-eval calls such a judge
    a *judicator*.

    Attributes
    ----------
    function : callable
        Function that takes the list of index values of these responses. It returns one verdict per
        response, in the same order: True or False (or 1 or 0), or None if there is no verdict. It
        is not called if there are no responses.

    Examples
    --------
    >>> BatchJudicator(lambda labels: [label == "a" for label in labels])(["b", "a"])
    [False, True]
    """

    function: Callable[[list[Any]], Sequence[Any]]

    def __call__(self, labels: Sequence[Any]) -> list[Any]:
        """Return the verdict on each of the given responses.

        Parameters
        ----------
        labels : sequence
            Index values of the responses.

        Returns
        -------
        list
            One verdict per response, in the same order.
        """
        return list(self.function(list(labels))) if len(labels) else []


def verdicts_of(judicator: Judicator, labels: Sequence[Any]) -> list[bool | None]:
    """Call a judge for responses by their index values, and check the verdicts; None is no verdict."""
    if isinstance(judicator, BatchJudicator):
        verdicts = judicator(labels)
    else:
        verdicts = [judicator(label) for label in labels]
    invalid = [verdict for verdict in verdicts if verdict is not None and verdict not in (0, 1)]
    if invalid or len(verdicts) != len(labels):
        including = f", including {invalid[:3]}" if invalid else ""
        raise InputError(
            "a judicator must return True, False or None for each response, got "
            f"{len(verdicts)} verdicts for {len(labels)}{including}; "
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
    """Fit the classifier of an ensemble to training data, as `MetricEnsemble` describes it."""
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    if classifier is not None:
        model = clone(classifier)
        unseeded = [
            name
            for name, value in model.get_params().items()
            if name.endswith("random_state") and value is None
        ]
        model.set_params(**dict.fromkeys(unseeded, random_state))
        return model.fit(training.X, training.y)
    regression = LogisticRegression(
        solver="liblinear", class_weight=class_weight, max_iter=1000, random_state=random_state
    )
    # scikit-learn 1.8 replaced penalty="l2" and "l1" by l1_ratio=0 and 1.
    grid: dict[str, Any] = {"model__C": STRENGTHS}
    if regression.penalty == "deprecated":
        grid["model__l1_ratio"] = (0.0, 1.0)
    else:
        grid["model__penalty"] = ("l2", "l1")
    pipeline = Pipeline([("scaler", StandardScaler()), ("model", regression)])
    folds = cross_validation_folds(training, random_state)
    search = GridSearchCV(pipeline, grid, scoring="roc_auc", cv=folds)
    return search.fit(training.X, training.y).best_estimator_


# ---- the ensemble --------------------------------------------------------------------------------


class MetricEnsemble:
    """Ensemble of metrics that predicts a binary label, with a statistical guarantee.

    The ensemble is trained on one set of labelled responses and calibrated on another. For each new
    response, it predicts a set of labels, the *prediction set*, which contains every label that
    cannot be excluded. The ensemble *accepts* a label if the prediction set contains only this
    label. It *abstains* if the prediction set contains both labels or neither.

    The guarantee assumes that new responses and calibration responses are drawn independently from
    the same distribution. It may not hold if several calibration responses belong to the same
    question. It holds on average over responses, not for each single response. There are three
    kinds of guarantee:

    - ``"marginal"``: P(the prediction set contains the correct label) >= 1 - `alpha` for a new
      response, on average over calibration sets.
    - ``"class"``: the same as ``"marginal"``, but for the responses of each class separately.
    - ``"selective"``: with probability at least 1 - `delta` over calibration sets, the error rate
      among the accepted labels of new responses is at most `alpha`.

    Parameters
    ----------
    training, calibration : XYData
        Labelled responses with the same metrics. No response or group may be in both.
    alpha : float, str, Fraction or Decimal, default=0.1
        Error rate that the guarantee allows, in (0, 1).
    random_state : int or None, default=None
        Seed for all random steps; None gives a different result each time.
    classifier : scikit-learn classifier or None, default=None
        Classifier with ``predict_proba``; a clone of it is fitted. None means a logistic regression
        on standardised metrics. Its penalty (l1 or l2) and its inverse regularisation strength C
        (0.1, 1 or 10) are chosen to maximise the cross-validated AUROC. Cross-validation keeps the
        responses of a group in the same fold.
    class_weight : "balanced", mapping or None, default="balanced"
        Class weights of the default classifier, as in scikit-learn. Balanced weights shift the
        predicted probabilities towards the rarer label. The guarantee holds for any weights.
    guarantee : {"marginal", "class", "selective"}, default="marginal"
        Kind of guarantee, as described above.
    delta : float, str, Fraction or Decimal, default=0.1
        Tolerated probability, over calibration sets, that the error rate exceeds `alpha`, in
        (0, 1). Only used with ``guarantee="selective"``.
    groups : iterable or None, default=None
        Group of each calibration response, such as its language. The guarantee then holds within
        each group. Not available with ``guarantee="selective"``.

    Attributes
    ----------
    features : tuple of str
        Names of the metrics.
    classifier : scikit-learn classifier
        The fitted classifier.
    alpha, delta : float
        Values of the parameters.
    guarantee : str
        Value of the parameter.

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
        for data, name in ((training, "training"), (calibration, "calibration")):
            require_both_labels(data.y, f"the {name} set")
        refuse_repeated_labels(calibration.X.index, "the calibration set")
        common = training.units().intersection(calibration.units())
        if len(common):
            raise InputError(
                "training and calibration must not have a response or group in common, got "
                f"{common[0]!r} in both; split one frame with DataSplit"
            )
        self.features = tuple(training.X)
        require_columns(calibration.X, self.features, "the calibration set")
        self.alpha, self.delta, self.guarantee = float(alpha), float(delta), guarantee
        self.classifier = fit_classifier(
            training, classifier, class_weight=class_weight, random_state=random_state
        )
        self._calibration = self._sample(calibration.X, groups, calibration.y, calibration.groups)
        about = self._calibration["about"]
        self._conformal = ConformalClassifier.calibrate(
            about["probability"],
            about["label"],
            by_class=guarantee == "class",
            groups=about["group"],
        )
        self._selective = calibrate_selective_risk(
            about["probability"], about["label"], as_rate(self.alpha), as_rate(self.delta)
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
            One row per response with the columns `features`. Other columns are ignored. The index
            must be unique.
        judicator : callable or None, default=None
            Judge that decides the labels of the responses on which the ensemble abstains: a
            function of the index value of one response, or a `BatchJudicator`. It returns True or
            False (or 1 or 0), or None if there is no verdict.
        groups : iterable or None, default=None
            Group of each response, such as its language. Required if and only if the ensemble was
            calibrated with groups.

        Returns
        -------
        y_hat : ndarray of int of shape (n,)
            The accepted label, 0 or 1. If the ensemble abstains, this is the judge's verdict or, if
            there is none, the more probable label (0 if both are equally probable).
        y_set : ndarray of bool of shape (n, 2)
            Whether labels 0 and 1 are in the prediction set. It does not depend on the judge.

        Warns
        -----
        RuntimeWarning
            There are too few calibration responses to exclude a label or, with
            ``guarantee="selective"``, no confidence threshold was found, so no label is accepted.
        UserWarning
            The new responses differ from the calibration responses, so the guarantee may not hold
            for them. See `check_shift`.
        """
        decisions = self.decide(X, judicator, groups=groups)
        return decisions["label"].to_numpy(), decisions[["in_set_0", "in_set_1"]].to_numpy()

    def decide(
        self,
        X: pd.DataFrame,
        judicator: Judicator | None = None,
        *,
        groups: Iterable[Any] | None = None,
    ) -> pd.DataFrame:
        """Predict labels and prediction sets as a table with probabilities, p-values and verdicts.

        The predictions and the warnings are those of `predict`.

        Parameters
        ----------
        X : DataFrame
            One row per response with the columns `features`. Other columns are ignored. The index
            must be unique.
        judicator : callable or None, default=None
            Judge that decides the labels of the responses on which the ensemble abstains; see
            `predict`.
        groups : iterable or None, default=None
            Group of each response, such as its language. Required if and only if the ensemble was
            calibrated with groups.

        Returns
        -------
        DataFrame
            One row per response, with the index of X and the columns

            - ``probability``: predicted probability of label 1;
            - ``p_value_0, p_value_1``: conformal p-values of the two labels (not used with
              ``guarantee="selective"``);
            - ``in_set_0, in_set_1``: whether the prediction set contains the label;
            - ``abstained``: whether the set contains both labels or neither;
            - ``y_hat``: the accepted label or, if the ensemble abstains, the more probable label;
            - ``deferred``: whether the judge was called;
            - ``judged``: the judge's verdict, 0 or 1; missing if there is none;
            - ``label``: the judge's verdict or, if there is none, ``y_hat``.
        """
        new = self._sample(X, groups)
        refuse_repeated_labels(X.index, "predict")
        probability = new["about", "probability"].to_numpy()
        group_names = new["about", "group"].to_numpy()
        p_values = self._conformal.p_values(probability, groups=group_names)
        if self.guarantee == "selective":
            sets = self._selective.sets(probability)
        else:
            sets = self._conformal.sets(probability, self.alpha, groups=group_names)
        if len(X):
            self._warn_of_shift(new)

        # The set contains both labels or neither.
        abstained = sets[:, 0] == sets[:, 1]
        y_hat = np.where(abstained, probability > 0.5, sets[:, 1]).astype(np.int64)
        deferred = abstained & (judicator is not None)
        judged = pd.Series(pd.NA, index=X.index, dtype="Int64")
        if judicator is not None:
            verdicts = verdicts_of(judicator, X.index[deferred].tolist())
            judged[deferred] = pd.array(verdicts, dtype="boolean").astype("Int64")
        decisions = {
            "probability": probability,
            "p_value_0": p_values[:, 0],
            "p_value_1": p_values[:, 1],
            "in_set_0": sets[:, 0],
            "in_set_1": sets[:, 1],
            "abstained": abstained,
            "y_hat": y_hat,
            "deferred": deferred,
            "judged": judged,
        }
        frame = pd.DataFrame(decisions, X.index)
        return frame.assign(label=judged.fillna(frame["y_hat"]).astype(np.int64))

    def _warn_of_shift(self, new: pd.DataFrame) -> None:
        """Warn if new responses differ from the calibration responses."""
        tests = shift_tests(self._calibration, new, by_class=self.guarantee == "class")
        if differing(tests).empty:
            return
        warn(
            f"{tests.attrs['summary']} The guarantee holds only for responses like those "
            "in the calibration set. Calibrate the ensemble on labelled responses of the "
            "new kind. check_shift shows the tests.",
            UserWarning,
        )

    def _sample(
        self, X: pd.DataFrame, groups: Any, labels: Any = None, units: Any = None
    ) -> pd.DataFrame:
        """Build the table of responses that `shift_tests` compares."""
        require_columns(X, self.features, "the ensemble")
        features = finite(X[list(self.features)], "the ensemble")
        probability = np.empty(0)
        if len(features):
            probability = self.classifier.predict_proba(features)[:, 1]
        group_names = None if groups is None else aligned(groups, X.index, "groups").to_numpy()
        return sample(features, probability, labels, units, group_names)

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
            One row per new response, with the columns `features`. An `XYData` also contains the
            labels. Its groups, if any, are the questions to which the responses belong.
        groups : iterable or None, default=None
            Group of each response, such as its language. Required if and only if the ensemble was
            calibrated with groups.

        Returns
        -------
        DataFrame
            One row per test, with the columns

            - ``tested``: name of a feature, ``"probability"`` (the predicted probability of label
              1) or, if the labels are known, ``"score of the true label"``;
            - ``group, label``: group and true label of the compared responses, or ``"all"``;
            - ``test, statistic, p_value``: name, statistic and p-value of the test;
            - ``n_calibration, n_new``: numbers of responses;
            - ``n_units_calibration, n_units_new``: effective sample sizes;
            - ``p_adjusted, correction, family_size``: p-value with Holm's correction over all
              tests, name of the correction and number of tests;
            - ``note``: the result as a sentence.

            ``attrs["summary"]`` summarises the results of all tests in words.

        Notes
        -----
        Each feature and the predicted probability are compared by a two-sided two-sample
        Kolmogorov-Smirnov test. If labels are given, a one-sided test compares the nonconformity
        score of the true label, which is one minus its predicted probability. The alternative
        hypothesis is that this score is larger for new responses, so that true labels are excluded
        more often than guaranteed. With ``guarantee="class"``, this score is tested for each class
        separately.

        The p-values are those of a one-sample test with sample size n1 n2 / (n1 + n2), rounded
        down, where n1 and n2 are the effective sample sizes [1]_. Ties make the tests conservative.
        If there is no shift, the probability of an adjusted p-value below 0.001 is at most about
        0.1 %, averaged over calibration sets.

        Responses to the same question are not independent. The tests therefore use Kish's effective
        sample size n / m [2]_. Here n is the number of responses, and m is the number of responses
        to the same question, averaged over responses. This is conservative unless all responses to
        a question are identical. If the questions of the new responses are not known, m is taken
        from the calibration responses. If the calibration set has no groups, all of its responses
        count as independent. If one of the two effective sample sizes is below 20, the p-value is
        NaN.

        The prediction sets depend on the features only through the predicted probability, so its
        test is the most relevant one. A shift that changes the labels but not the features can be
        detected only if labels are given. With ``guarantee="class"``, the guarantee still holds if
        only the proportions of the classes change, although this also shifts the features.

        References
        ----------
        .. [1] Press, W. H., Teukolsky, S. A., Vetterling, W. T. & Flannery, B. P. (2007). Numerical
           Recipes, 3rd edition, section 14.3. Cambridge University Press.
        .. [2] Kish, L. (1965). Survey Sampling. Wiley.

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
        if isinstance(new, XYData):
            compared = self._sample(new.X, groups, new.y, new.groups)
        else:
            compared = self._sample(new, groups)
        if compared.empty:
            raise InputError("check_shift needs new responses, but X has no rows")
        return shift_tests(self._calibration, compared, by_class=self.guarantee == "class")

    # ---- what is guaranteed ----------------------------------------------------------------------

    def coverage(self) -> pd.DataFrame:
        """Mean and central 90 % interval of the coverage over calibration sets of the same size.

        The coverage is the probability that the prediction set of a new response contains the
        correct label.

        Returns
        -------
        DataFrame
            One row per group and class within which the coverage is guaranteed, with the columns

            - ``group, label``: group and class, or ``"all"``;
            - ``n``: number of calibration responses;
            - ``rank``: rank of the threshold among their nonconformity scores, or n + 1 if no label
              can be excluded;
            - ``mean, low, high``: mean, 5 % quantile and 95 % quantile of the
              `ragnb.conformal.sets.coverage_distribution`;
            - ``warning``: why no label can be excluded, else empty.

            With ``guarantee="selective"``, the coverage is that of the sets of labels with a
            p-value above `alpha`, and not that of the sets that `predict` returns.
        """
        rows, alpha = [], as_rate(self.alpha)
        for (group, label), scores in self._conformal.scores.items():
            n = scores.size
            distribution = coverage_distribution(n, alpha)
            low, high = distribution.interval(0.9)
            rows.append(
                {
                    "group": group,
                    "label": label,
                    "n": n,
                    "rank": conformal_rank(n, alpha),
                    "mean": distribution.mean(),
                    "low": low,
                    "high": high,
                    "warning": too_few_items(n, alpha),
                }
            )
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        return f"MetricEnsemble of {len(self.features)} metrics, {self.summary()}"

    def summary(self) -> str:
        """Describe in words what is guaranteed and what is not.

        Returns
        -------
        str
            The number of calibration responses and the guarantee.
        """
        guaranteed = self._selective_text() if self.guarantee == "selective" else self._set_text()
        return f"calibrated on {len(self._calibration)} responses: {guaranteed}"

    def _set_text(self) -> str:
        """What is guaranteed for prediction sets."""
        coverage = self.coverage()
        within = ""
        if self.guarantee == "class":
            within += " of each class"
        if (coverage["group"] != ALL).any():
            within += " in each group"
        text = (
            f"averaged over many calibrations, the prediction sets of at least {1 - self.alpha:.4g} "
            f"of new responses{within} contain the correct label, provided that new responses are "
            "like these. This is no guarantee for a single response, nor for the accepted labels "
            "alone."
        )
        for row in coverage.query("warning != ''").itertuples():
            text += f" ({row.group}, {row.label}: {row.warning})"
        return text

    def _selective_text(self) -> str:
        """What is guaranteed for accepted labels, or why none is accepted."""
        if self._selective.warning:
            return self._selective.warning
        abstained = 1 - self._selective.n_accepted / self._selective.n
        return (
            f"in at least {1 - self.delta:.4g} of all calibrations, at most {self.alpha:.4g} of the "
            "labels that the ensemble accepts for new responses like these are wrong. This is no "
            "guarantee for a single response, nor for those on which it abstains "
            f"({abstained:.1%} of the calibration responses)."
        )


# Alias of `MetricEnsemble`, for code that was written for continuous-eval.
EnsembleMetric = MetricEnsemble
