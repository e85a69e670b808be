"""MetricClassifier: a classifier trained for any metric."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from anymetric.auto import Auto
from anymetric.auto.decisions import check_decision
from anymetric.calibration import calibrated
from anymetric.estimators._limits import GroupReader, reads_groups
from anymetric.estimators._many import ManyClasses, means_classes
from anymetric.estimators._scorer import direction
from anymetric.estimators._shell import MetricEstimator
from anymetric.estimators._suspects import SuspectLabels
from anymetric.estimators._two import TwoClasses
from anymetric.metrics import Accuracy, ErrorRate
from anymetric.rules import GroupRule, OffsetRule, ThresholdRule, TopRule


class MetricClassifier(SuspectLabels, ManyClasses, TwoClasses, ClassifierMixin, MetricEstimator):
    """A classifier trained for the metric you care about: of two classes, of many, or of labels.

    With more than two classes every row has a score for each, and the highest decides. If y is a
    table of zeros and ones, rows have sets of labels, and every label with a positive score is
    predicted. `anymetric.metrics.meant` returns what a metric's name means there.

    Parameters
    ----------
    metric : str, function, scikit-learn scorer or Metric, default="accuracy"
        A ready-made metric's name (`anymetric.metrics.metric_names()`), a scorer's name or
        object, or a function ``f(y_true, y_pred)``; one whose second argument is called
        ``y_score`` gets scores, and further arguments get the columns of `side` of those names.
    model : "auto", "linear", "boosted" or a family, default="auto"
        ``auto``: linear models and LightGBM's boosted trees are candidates together; a linear model
        is preferred where it costs no more. Trees are not tried with fewer than 100 rows, or 5 of a
        class, nor by other methods than ``"auto"``; a `Forest` is tried beside them where one table
        of 50 to 5,000 rows is given. ``linear``, ``boosted``: one of them alone. Or
        `Reweighted(estimator)` for any scikit-learn estimator that takes row weights,
        `Boosted(...)`, `TorchModel(module)`, a `Learner` of your own.
    surrogates : "auto", builder, loss, name or list, default="auto"
        ``auto``: the logistic loss per class, and per group and source where they are given; with
        many classes the softmax cross-entropy, with labels the logistic loss of each. The default
        method uses their slices, and tries their loss beside the logistic one if it is convex and
        there is only one; the other methods train with them as they are.
    slices : str or list of str, optional
        Columns of `side` by which the rows are sliced too, with ``surrogates="auto"``: the weight
        of such a slice is learned like that of a group.
    pos_label : label, optional
        The positive class of two, for `f1`, `precision`, `recall` and the like; by
        default the second in sorted order. `classes_` stays sorted, and `decision_function` is
        positive for ``classes_[1]``, as in scikit-learn; `coef_` is of the score of `pos_label`.
    decision : str, ("top", number or share) or DecisionRule, default="auto"
        The rule that turns scores into decisions (``method="auto"``); `decision_rule_` is the
        fitted one. ``auto`` depends on the metric: for a sum of gains per row that metadata
        determine (`Profit`, `RowGains`, a function that is found to be one), "flag if p x gain >
        cost" is compared with one threshold;
        a metric at the top k flags the top k of the rows it is given; where a limit of `subject_to`
        is about groups and the features determine the groups, each group has its own threshold;
        else one threshold, or an offset for each of many classes. ``threshold``, ``group``,
        ``row``, ``offsets``, ``none``: that rule. ``("top", 0.05)`` or ``("top", 100)``: a share or
        number of rows. Or an object of your own with ``assess(scores, judge)``.
    method : "auto", "descent", "paper", "notebook" or a `Method`, default="auto"
        ``auto``: see `Auto`. ``descent``: Algorithm 1 with probes in the K-dimensional subspace of
        the surrogates' gradients and second-order projections, or with boosting rounds for trees.
        ``paper``: Algorithm 1 as its authors ran it: features as they are, a start at zero, the
        hinge by class and group, the paper's settings and grids. ``notebook``: their published
        notebook step by step, with its sigmoid; see `NotebookDescent`.
    subject_to : limit, text or list of them, optional
        Constraints on other metrics: ``at_least("recall", 0.8)``,
        ``at_most(gap("recall"), 0.05)``, ``"recall>=0.8"``. Models that satisfy the limits in
        two of three bootstrap resamples are preferred to those that do not; if none does, the one
        of the least violation is taken, with a warning. `constraints_` has the values.
    greater_is_better : bool, optional
        For a function whose name does not show it.
    starts : int or array of shape (s, d + 1) or (s, C (d + 1)), default=0
        For the descents: random starts beside two logistic regressions, a plain one with the
        threshold that is best for the metric and a balanced one (``paper`` and ``notebook``: beside
        zero). Or your own, instead of them.
    standardize : bool or "auto", default="auto"
        Standardise the features before training; `coef_` is for X as given. ``auto``: for all
        methods but ``paper`` and ``notebook``.
    fit_intercept : bool, default=True
    use_validation : "auto" or bool, default="auto"
        For ``method="auto"``: whether validation rows train too; they are then scored out-of-fold.
        ``auto`` tries such candidates beside the others; with True there are no others; with False
        validation rows do not train.
    validation_fraction : float, default=0.2
        Share of the rows held out for validation when `fit` gets no validation data: for the
        descents, and with ``use_validation=False``.
    max_metric_calls : int, optional
        Maximum number of calls of the metric, retries and repeats included.
    max_seconds : float, optional
        For ``method="auto"``: after this time no further candidate is trained.
    on_error : {"skip", "raise"} or FaultPolicy, default="skip"
        What to do if an evaluation fails, hangs or returns no number: ``skip`` retries it twice,
        then leaves it out; ``raise`` ends the fit at the first failure, with the best model so far
        in the error. `FaultPolicy` sets retries, time-out, and how many may fail. If too many do,
        the fit ends with ``Status.FAULTS`` and the best model so far; a metric that never
        answers, or whose first call is a mistake such as a TypeError, is an error.
    n_repeats : int or "auto", default="auto"
        How often a function, scorer or command is called for each evaluation; the values are
        averaged. ``auto`` calls it once, and detects values that vary from call to call: their
        variance is estimated, and evaluations are repeated where that could change a selection.
    ledger : path or "postgresql://..." address, optional
        Where every value of a function, scorer or command is recorded before it is used. Fitted
        again with the same ledger, data and settings, the estimator reads the recorded values and
        arrives at the same model; several processes that do so at once share the work.
    n_jobs : int, optional
        Processes for the tuning runs of ``method="paper"``, and for calls of your own metric that
        take more than a few milliseconds. Each uses one thread.
    verbose : int, default=0
        Lines of progress per second, on standard error.
    random_state : int, RandomState or None

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,); with C classes or labels (C, d) and (C,)
        For a linear model: always with ``model="linear"``.
    model_ : Scorer
        The model itself, unless ``model="linear"``; `scores(X)` returns the decision values.
    classes_ : array of shape (2,) or (C,)
        Of labels, their places in y.
    weights_ : dict
        The learned weight of each surrogate in the loss of this model, summing to one. If a
        starting model was best: the weights of the loss that it is nearest to minimising.
    decision_rule_ : FittedRule
        The rule that `predict` applies (`anymetric.rules`); ``needs`` are the columns it reads.
    threshold_ : float
        The probability above which rows are flagged, where one threshold decides.
    calibrator_ : Calibrator
        Maps scores to probabilities.
    shifts_ : dict
        The offset of each group's scores, where each group has its own threshold. It is zero for
        groups without validation rows.
    certificate_, certificates_ : Certificate, tuple of Certificate
        For limits with a ``confidence``. Training and selection then use cross-fitted training
        rows only; the rows of `X_val`, or a held-out `validation_fraction`, certify. The threshold
        is the best one that they certify. Print it; ``certificate_.monitor(y_new, predictions)``
        monitors it on new rows.
    constraints_ : tuple of LimitValue
        With `subject_to`: each limit, its out-of-fold value on the validation rows, and whether it
        is satisfied. `cost_` and `validation_score_` are the objective's.
    trade_off_ : dict
        Of two classes and ready-made metrics: ``threshold``, ``objective`` and ``limits``, the
        values as the threshold moves; `anymetric.displays.TradeOffDisplay` draws them.
    surrogates_ : tuple of str
        The names of a profile's entries.
    row_shares_ : dict
        The share of the rows in each slice of `weights_`: its weight in an unweighted loss. Empty
        where the slices overlap.
    sample_weight_ : array of shape (n,)
        The learned loss as row weights, for any other learner (``method="auto"``); absent if no
        training row has a weight.
    sample_weight_val_ : array of shape (n_val,)
        The same for the validation rows, in the same unit, where they trained too.
    class_weight_ : dict
        The same as the mean weight of each class.
    suspects_ : Suspects
        Training rows whose label or features the validation rows contradict, with a probability,
        the reason and the expected gain; found when first asked for, and not after loading.
    surprises_ : tuple of Surprise
        Sentences about validation rows that also train, worthless sources and groups that no model
        predicts; found when first asked for, and not after loading.
    history_ : History
        A list with a dictionary for each iterate; ``history_.to_frame()`` is a pandas data frame.
    status_ : Status
        Why the run ended; ``status_.value`` is a sentence with advice.
    cost_, validation_score_ : float
        The metric on the validation rows, as a cost and in its own direction.
    validation_ : str
        Which rows these were.
    summary_ : Summary
        What the method chose and measured: candidates with their costs and shares, families, the
        standard error of the cost, the gain over the best plain model, offsets of classes;
        with ``"paper"`` the ``step`` and ``sigma`` that were `chosen`, and all that were `tried`.
    n_metric_calls_ : int

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> clf = MetricClassifier("f1", random_state=0).fit(X, y)
    >>> clf.validation_score_ > 0.5
    True

    Three classes:

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = MetricClassifier("macro_f1", model="linear", random_state=0).fit(X, y)
    >>> clf.coef_.shape, clf.validation_score_ > 0.9
    ((3, 4), True)
    """

    _reads_stored = True
    # False in baselines without out-of-fold scores.
    _calibrates = True
    # The mixin's own score would come first.
    score = MetricEstimator.score
    _parameter_constraints: ClassVar[dict] = {
        **MetricEstimator._parameter_constraints,
        "slices": [str, list, tuple, None],
        "pos_label": "no_validation",
        "decision": "no_validation",
    }

    def __init__(
        self,
        metric: Any = "accuracy",
        *,
        model: Any = "auto",
        surrogates: Any = "auto",
        slices: Any = None,
        pos_label: Any = None,
        decision: Any = "auto",
        method: Any = "auto",
        subject_to: Any = None,
        greater_is_better: bool | None = None,
        starts: Any = 0,
        standardize: Any = "auto",
        fit_intercept: bool = True,
        use_validation: Any = "auto",
        validation_fraction: float = 0.2,
        max_metric_calls: int | None = None,
        max_seconds: float | None = None,
        on_error: Any = "skip",
        n_repeats: Any = "auto",
        ledger: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.slices = slices
        self.pos_label = pos_label
        self.decision = decision
        super().__init__(
            metric,
            model=model,
            surrogates=surrogates,
            method=method,
            subject_to=subject_to,
            greater_is_better=greater_is_better,
            starts=starts,
            standardize=standardize,
            fit_intercept=fit_intercept,
            use_validation=use_validation,
            validation_fraction=validation_fraction,
            max_metric_calls=max_metric_calls,
            max_seconds=max_seconds,
            on_error=on_error,
            n_repeats=n_repeats,
            ledger=ledger,
            n_jobs=n_jobs,
            verbose=verbose,
            random_state=random_state,
        )

    def decision_function(self, X, *, groups=None, side=None) -> np.ndarray:
        """Return the scores: positive for ``classes_[1]``; of many classes or labels, one for each.

        Parameters
        ----------
        X : array-like of shape (n, d)
        groups, side : optional
            As in `fit`; read only where the decision rule reads them (`decision_rule_.needs`).

        Returns
        -------
        array of shape (n,) or (n, C)
        """
        scores = self._ruled_scores(X, groups, side)
        return scores if self._classes is not None else direction(self, self._labels()) * scores

    def predict(self, X, *, groups=None, side=None) -> np.ndarray:
        """Return the predicted labels.

        Parameters
        ----------
        X : array-like of shape (n, d)
        groups, side : optional
            As in `fit`; read only where the decision rule reads them (`decision_rule_.needs`).

        Returns
        -------
        array of shape (n,); of labels, a table (n, C) of zeros and ones
        """
        return self._decided(self._decisions(X, groups, side))

    @available_if(lambda self: self._calibrates)
    def predict_proba(self, X) -> np.ndarray:
        """Return probabilities, calibrated on out-of-fold scores.

        By a sigmoid or by isotonic steps, whichever has the lower cross-validated log loss. They
        rise with the model's scores, whatever the decision rule makes of these.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        array of shape (n, 2) or (n, C)
            Of every class, summing to one; of labels, the probability of each.
        """
        scores = self._scores(X)
        p = self.calibrator_.probabilities(scores)
        if p.ndim == 2:
            return p
        both = np.column_stack([1.0 - p, p])
        return both if direction(self, self._labels()) > 0.0 else both[:, ::-1]

    @property
    def threshold_(self) -> float:
        """The probability above which rows are flagged, where that is the same for all rows."""
        rule = self.__dict__.get("decision_rule_")
        if not isinstance(rule, ThresholdRule):
            raise AttributeError("threshold_ exists only where one threshold decides.")
        return rule.threshold

    def _decisions(self, X, groups, side):
        """Return scores whose sign, or whose maximum in a row, is the decision."""
        scores, rule = self._ruled_scores(X, groups, side), getattr(self, "decision_rule_", None)
        return rule.moved(scores, {}) if isinstance(rule, TopRule) else scores

    def _metric_scores(self, X, groups, side):
        if self.metric_.decides:
            return self._decisions(X, groups, side)
        return super()._metric_scores(X, groups, side)

    def _unpack(self, problem, solution):
        super()._unpack(problem, solution)
        rows, scores = held_out(problem, solution)
        # For accuracy the decision is the more probable class.
        even = isinstance(problem.metric, Accuracy | ErrorRate) and solution.scorer is not None
        self._keep_scores(rows, scores)
        self.calibrator_ = calibrated(scores, rows.y, rows.weights, self._classes, even=even)
        if not hasattr(self, "decision_rule_"):
            self.decision_rule_ = self._plain_rule(solution)

    def _plain_rule(self, solution):
        """Return the rule that reads nothing but scores."""
        if self._classes is not None:
            return OffsetRule(solution.summary.offsets or dict.fromkeys(self._classes.names, 0.0))
        return ThresholdRule(float(self.calibrator_.probabilities(np.zeros(1))[0]))

    @property
    def shifts_(self) -> dict:
        """The offset of each group's scores, where groups have their own thresholds."""
        rule = self.__dict__.get("decision_rule_")
        if not isinstance(rule, GroupRule):
            raise AttributeError("shifts_ exists only where each group has its own threshold.")
        return dict(rule.shifts)

    def _read_groups(self, train, valid):
        self.__dict__.pop("group_reader_", None)
        decision = getattr(self, "decision", "none")
        auto = (
            isinstance(decision, str) and decision == "auto" and isinstance(super()._method(), Auto)
        )
        known = all("groups" in data.side for data in (train, valid))
        two = self._classes is None and self.fit_intercept
        if auto and known and two and reads_groups(self._goal()):
            reader = GroupReader.of(train.X, train.side["groups"])
            if reader is not None and np.array_equal(reader.read(valid.X), valid.side["groups"]):
                self.group_reader_ = reader

    def _ruled_scores(self, X, groups=None, side=None):
        if groups is None and hasattr(self, "group_reader_"):
            groups = self.group_reader_.read(self._checked(X))
        return super()._ruled_scores(X, groups, side)

    def _problem(self, metric, train, valid):
        decision = getattr(self, "decision", "auto")
        there = tuple("groups" in data.side for data in (train, valid))
        count = 2 if self._classes is None else len(self._classes)
        check_decision(decision, metric, count, there)
        if decision in ("threshold", "group", "row", "offsets") and not self.fit_intercept:
            raise ValueError(
                f"decision={decision!r} moves a threshold, and fit_intercept=False fixes it at "
                "zero: leave one out."
            )
        return super()._problem(metric, train, valid)

    def _method(self):
        method, decision = super()._method(), getattr(self, "decision", "auto")
        if isinstance(method, Auto) and hasattr(self, "group_reader_"):
            return replace(method, decision="group")
        if isinstance(decision, str) and decision == "auto":
            return method
        if isinstance(method, Auto):
            return replace(method, decision=decision)
        raise ValueError(
            f"decision={decision!r} needs method='auto' or an Auto(...); got {self.method!r}. "
            "anymetric.baselines.GroupThresholds tunes thresholds after training."
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._takes_many and means_classes(self.metric)
        # Multilabel targets are supported; the tag would only add a check of probabilities.
        tags.classifier_tags.multi_label = False
        return tags


def held_out(problem, solution):
    """Return the validation rows and their out-of-fold scores."""
    if solution.held_out is not None and solution.out_of_fold is not None:
        return solution.out_of_fold[0], solution.held_out
    X = problem.valid.X
    known = solution.scorer is not None
    scores = solution.scorer.scores(X) if known else problem.model.scores(X, solution.theta)
    return problem.valid, np.asarray(scores, dtype=np.float64).reshape(len(problem.valid), -1)
