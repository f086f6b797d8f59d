"""CalibratedPairClassifier: probabilities from any classifier of pairs, the swap law kept."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, column_or_1d

from pairity.calibration.held_out import GivenRows, HeldOut, decide_held_out, read_splits
from pairity.calibration.isotonic import Isotonic, fit_isotonic
from pairity.calibration.sigmoid import Sigmoid, fit_sigmoid, smoothed_targets
from pairity.calibration.trainer import OfEstimator, Trainer, innermost, parity_of
from pairity.estimators.intake import read_pairs, read_weights, refuse_self_pairs
from pairity.estimators.labels import read_labels
from pairity.estimators.svc import PairSVC
from pairity.estimators.two_labels import TwoProbabilities
from pairity.exceptions import CalibrationWarning
from pairity.pairs import Pairs
from pairity.parity import Parity
from pairity.validation import check_choice

__all__ = ["CalibratedPairClassifier"]

Vector = NDArray[np.float64]

_METHODS: dict[str, Callable[..., Sigmoid | Isotonic]] = {
    "sigmoid": fit_sigmoid,
    "isotonic": fit_isotonic,
}


class CalibratedPairClassifier(TwoProbabilities, OfEstimator, BaseEstimator):
    """Probabilities from the decisions of a classifier of pairs; the swap law stays exact.

    Clones of the estimator are fitted on folds, the probabilities to their decisions f about
    held-out pairs, and the estimator itself on all pairs.  The law is that of the estimator:

        antisymmetric    P = expit(slope f)             P(a, b) + P(b, a) == 1, P(a, a) == 1/2
        symmetric        P = expit(slope f + offset)    P(a, b) == P(b, a)

    bit for bit, with slope >= 0 found by maximum likelihood on Platt's smoothed targets
    ((N+ + 1) / (N+ + 2) and 1 / (N- + 2) instead of 1 and 0).  ``method="isotonic"`` puts any
    nondecreasing curve in the place of the sigmoid; the antisymmetric one obeys
    p(-f) = 1 - p(f) by construction.

    **What the probabilities hold for** is decided by ``cv``: for pairs that are to the training
    pairs as the held-out pairs of a fold are to its training pairs.  The default holds for new
    pairs of mostly known objects; with ``cv=ObjectKFold(5)`` they hold for pairs of two new
    objects, where a model is less sure.

    Parameters
    ----------
    estimator : estimator, optional
        A classifier of pairs with ``decision_function``, alone or in a Pipeline or a search;
        ``PairSVC()`` by default.
    method : {"sigmoid", "isotonic"}
        The curve from decisions to probabilities.  Isotonic needs more pairs, a thousand or so.
    cv : splitter, int, iterable or None
        Folds: a splitter of :mod:`pairity.selection` (any other is checked for pairs on both
        sides), a number of folds, or pairs of row numbers.  ``None`` is 5 folds in which each
        unordered pair is held out once, ``PairKFold(5, new=(0, 1, 2))``, stratified by label
        in the symmetric case.
    tie_label : object
        Label predicted at a probability of exactly 1/2, as in :class:`~pairity.PairSVC`.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Labels; ``classes_[1]`` is the positive one.
    estimator_ : estimator
        Fitted on all pairs.
    slope_, offset_ : float
        Of the sigmoid; the offset is exactly 0.0 in the antisymmetric case.
    curve_ : Sigmoid or Isotonic
        The fitted curve.
    calibration_pairs_ : Pairs
        Pairs whose held-out decisions the curve was fitted to; a pair that is held out several
        times is there as often, and counts once.
    calibration_rows_, calibration_folds_ : ndarray of int
        Their rows in the data given to ``fit``, and the folds that held them out.
    calibration_decisions_ : ndarray
        The decisions.

    Examples
    --------
    >>> from pairity import CalibratedPairClassifier, PairSVC
    >>> from pairity.datasets import make_tournament
    >>> games = make_tournament(31, flipped=0.2)
    >>> machine = PairSVC("antisymmetric", "linear", C=0.1)
    >>> model = CalibratedPairClassifier(machine).fit(games.pairs, games.y)
    >>> there, back = model.predict_proba(games.pairs), model.predict_proba(games.pairs.swap())
    >>> bool((there[:, 1] + back[:, 1] == 1.0).all())
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "sigmoid",
        cv: Any = None,
        tie_label: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.tie_label = tie_label

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> CalibratedPairClassifier:
        """Fit the estimator and the curve.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, columns)
            Pairs, or wide rows of formula (1).
        y : array-like of shape (n,)
            Labels of any two values.
        sample_weight : array-like of shape (n,), optional
            How much each row counts, to the estimator and to the curve.
        groups : array-like of shape (n,), optional
            What ``cv`` keeps together (travellers, sessions), or times for ``TimeSplit``.
        """
        self._check_parameters()
        estimator = self._prototype()
        parity = parity_of(estimator)
        pairs = read_pairs(self, X, reset=True)
        labels = read_labels(y, len(pairs), parity)
        weights = read_weights(sample_weight, len(pairs))
        if parity is Parity.ODD:
            refuse_self_pairs(pairs)
        counted = np.flatnonzero(weights > 0.0)
        named = column_or_1d(y)
        given = GivenRows(pairs, named, None if groups is None else np.asarray(groups), counted)
        pairs, weights, signs = pairs[counted], weights[counted], labels.signs[counted]
        trainer = Trainer(
            estimator, pairs, named[counted], None if sample_weight is None else weights
        )
        self.classes_ = labels.classes
        held = self._decide_held_out(trainer, given, parity)
        shares = weights[held.rows] * held.shares
        targets = smoothed_targets(signs[held.rows], shares, parity)
        self._keep_curve(_METHODS[self.method](held.decisions, targets, shares, parity))
        self.calibration_rows_, self.calibration_folds_ = counted[held.rows], held.folds
        self.calibration_decisions_ = held.decisions
        self.calibration_pairs_ = pairs[held.rows]
        self.estimator_ = self._fit_rows(trainer, np.arange(len(pairs)), parity)
        return self

    def _check_parameters(self) -> None:
        """Refuse values out of range, each with a sentence."""
        check_choice(self.method, "method", tuple(_METHODS))
        self._prototype()

    def _prototype(self) -> Any:
        estimator = PairSVC() if self.estimator is None else self.estimator
        if not hasattr(innermost(estimator), "decision_function"):
            raise ValueError(
                f"got estimator {estimator!r} without decision_function; expected a classifier of"
                " pairs such as PairSVC."
            )
        return estimator

    def _decide_held_out(
        self, trainer: Trainer, given: GivenRows, parity: Parity | None
    ) -> HeldOut:
        splits = read_splits(self.cv, given, stratify=parity is not Parity.ODD)

        def fit(rows: NDArray[np.intp]) -> Any:
            one_class = len(np.unique(trainer.targets[rows])) == 1
            if one_class and parity is not Parity.ODD:
                return None
            return self._fit_rows(trainer, rows, parity)

        return decide_held_out(splits, trainer.pairs, fit, _decisions)

    def _fit_rows(self, trainer: Trainer, rows: NDArray[np.intp], parity: Parity | None) -> Any:
        if parity is Parity.ODD and len(np.unique(trainer.targets)) == 2:
            return trainer.fit_with_both_labels(rows, self.classes_)
        return trainer.fit(rows)  # winners first throughout: the estimator names both labels

    def _keep_curve(self, curve: Sigmoid | Isotonic) -> None:
        self.curve_ = curve
        for name in ("slope_", "offset_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if isinstance(curve, Sigmoid):
            self.slope_, self.offset_ = curve.slope, curve.offset
        if curve.is_flat:
            warnings.warn(
                "the decisions about held-out pairs do not grow with their labels, so that the slope"
                " is 0 and every pair gets the same probability; the estimator has learnt nothing"
                " that carries over: try another kernel, C, or features.",
                CalibrationWarning,
                stacklevel=3,
            )

    def decision_function(self, X: Any) -> Vector:
        """Log-odds of ``classes_[1]``, shape (n,); ``estimator_`` has the decisions behind them."""
        check_is_fitted(self)
        pairs = read_pairs(self, X, reset=False)
        return self.curve_.log_odds(_decisions(self.estimator_, pairs))


def _decisions(model: Any, pairs: Pairs) -> Vector:
    return np.asarray(model.decision_function(pairs), dtype=np.float64)
