"""PairDrawClassifier: win, draw and loss, mirrored exactly by a swap."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.utils.validation import check_is_fitted

from pairity.calibration.draws import DrawModel, fit_draws, smoothed_outcomes
from pairity.calibration.held_out import GivenRows, HeldOut, decide_held_out, read_splits
from pairity.calibration.outcomes import read_outcomes
from pairity.calibration.trainer import OfEstimator, Trainer, innermost, parity_of
from pairity.estimators.intake import read_pairs, read_weights, refuse_self_pairs
from pairity.estimators.logistic import PairLogistic
from pairity.exceptions import CalibrationWarning
from pairity.pairs import Pairs
from pairity.parity import Parity

__all__ = ["PairDrawClassifier"]

Vector = NDArray[np.float64]


class PairDrawClassifier(ClassifierMixin, OfEstimator, BaseEstimator):
    """Three outcomes with mirrored thresholds around an antisymmetric score (ordered logit).

    With f the score of an antisymmetric estimator, f(b, a) = -f(a, b):

        P(win)  = expit( slope f - threshold),
        P(loss) = expit(-slope f - threshold),      P(draw) = 1 - P(win) - P(loss).

    Swapping a pair exchanges win and loss and keeps the draw, and each row of probabilities adds
    up to 1 in every order of summation, with ``==``.  Games that are closer are drawn more often.

    The score is learnt from the decided games by a classifier (the default), or from -1, 0 and
    +1 by a regressor; slope and threshold by maximum likelihood from scores of games that the
    model of a fold did not see, on targets smoothed like Platt's; then the estimator is
    fitted to all games.

    Parameters
    ----------
    estimator : estimator, optional
        An antisymmetric classifier with ``decision_function`` or a regressor of pairs, alone or
        in a Pipeline or a search; ``PairLogistic("antisymmetric")`` by default.
    outcomes : sequence of three labels, optional
        Loss, draw and win of the first object, as they stand in ``y``.  Not needed for -1, 0
        and 1, nor for three other numbers in that order.
    cv : splitter, int, iterable or None
        Folds, as in :class:`~pairity.CalibratedPairClassifier`: they decide which new games the
        probabilities hold for.  ``TimeSplit`` for games in time.

    Attributes
    ----------
    classes_ : ndarray of shape (3,)
        Loss, draw and win: the columns of the probabilities.
    estimator_ : estimator
        Fitted to all games.
    slope_, threshold_ : float
        Of the formulas above, both at least 0.
    calibration_pairs_, calibration_rows_, calibration_folds_, calibration_decisions_
        Held-out games and their scores, as in :class:`~pairity.CalibratedPairClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairDrawClassifier, PairLogistic, Pairs
    >>> generator = np.random.default_rng(0)
    >>> games = Pairs.complete(generator.normal(size=(30, 1)))
    >>> margin = games.objects[games.first, 0] - games.objects[games.second, 0]
    >>> outcome = np.sign(np.round(margin + generator.normal(size=len(games))))
    >>> model = PairDrawClassifier(PairLogistic("antisymmetric", "linear")).fit(games, outcome)
    >>> model.predict_proba(Pairs([[1.0], [0.0]], first=[0, 1, 0], second=[1, 0, 0])).round(2)
    array([[0.07, 0.2 , 0.73],
           [0.73, 0.2 , 0.07],
           [0.31, 0.37, 0.31]])
    """

    def __init__(self, estimator: Any = None, *, outcomes: Any = None, cv: Any = None) -> None:
        self.estimator = estimator
        self.outcomes = outcomes
        self.cv = cv

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> PairDrawClassifier:
        """Fit the score, the slope and the threshold.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, columns)
            Games, or wide rows of formula (1).
        y : array-like of shape (n,)
            Outcomes for the first object.
        sample_weight : array-like of shape (n,), optional
            How much each game counts.
        groups : array-like of shape (n,), optional
            What ``cv`` keeps together, or times for ``TimeSplit``.
        """
        estimator = self._prototype()
        pairs = read_pairs(self, X, reset=True)
        read = read_outcomes(y, len(pairs), self.outcomes)
        weights = read_weights(sample_weight, len(pairs))
        refuse_self_pairs(pairs[read.values != 0.0])
        counted = np.flatnonzero(weights > 0.0)
        given = GivenRows(
            pairs, read.values, None if groups is None else np.asarray(groups), counted
        )
        pairs, weights, values = pairs[counted], weights[counted], read.values[counted]
        trainer = Trainer(estimator, pairs, values, None if sample_weight is None else weights)
        held = self._score_held_out(trainer, given)
        shares = weights[held.rows] * held.shares
        targets = smoothed_outcomes(values[held.rows], shares)
        self._keep_model(fit_draws(held.decisions, targets, shares))
        self.calibration_rows_, self.calibration_folds_ = counted[held.rows], held.folds
        self.calibration_decisions_ = held.decisions
        self.calibration_pairs_ = pairs[held.rows]
        self.classes_ = read.classes
        self.estimator_ = _fit_rows(trainer, np.arange(len(pairs)))
        return self

    def _check_parameters(self) -> None:
        """Refuse an estimator that is not antisymmetric."""
        self._prototype()

    def _prototype(self) -> Any:
        estimator = PairLogistic("antisymmetric") if self.estimator is None else self.estimator
        if parity_of(estimator) is not Parity.ODD:
            raise ValueError(
                f"got symmetry={innermost(estimator).symmetry!r}; expected an antisymmetric"
                " estimator, whose score changes sign when a pair is swapped: pass"
                " symmetry='antisymmetric'."
            )
        return estimator

    def _score_held_out(self, trainer: Trainer, given: GivenRows) -> HeldOut:
        splits = read_splits(self.cv, given, stratify=False)

        def fit(rows: NDArray[np.intp]) -> Any:
            return _fit_rows(trainer, rows) if trainer.targets[rows].any() else None

        return decide_held_out(splits, trainer.pairs, fit, _scores)

    def _keep_model(self, model: DrawModel) -> None:
        self.draw_model_ = model
        self.slope_, self.threshold_ = model.slope, model.threshold
        if model.slope == 0.0:
            warnings.warn(
                "the scores of held-out games do not grow with their outcomes, so that the slope is"
                " 0 and every game gets the same probabilities; the estimator has learnt nothing"
                " that carries over: try another kernel, C, or features.",
                CalibrationWarning,
                stacklevel=3,
            )

    def decision_function(self, X: Any) -> Vector:
        """``slope f``, shape (n,): one score for all three outcomes, odd under a swap.

        Objects can be ranked by it: ``pairity.ranking.rank_objects(model, objects)``.
        """
        check_is_fitted(self)
        return self.slope_ * _scores(self.estimator_, read_pairs(self, X, reset=False))

    def predict_proba(self, X: Any) -> Vector:
        """Probabilities of loss, draw and win of the first object, shape (n, 3)."""
        check_is_fitted(self)
        return self.draw_model_.probabilities(self._scores_of(X))

    def predict_log_proba(self, X: Any) -> Vector:
        """Logarithms of the probabilities, exact for tiny ones too."""
        check_is_fitted(self)
        return self.draw_model_.log_probabilities(self._scores_of(X))

    def _scores_of(self, X: Any) -> Vector:
        return _scores(self.estimator_, read_pairs(self, X, reset=False))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable outcome; the draw where win and loss are equally probable."""
        loss, drawn, win = self.predict_proba(X).T
        decided = np.maximum(loss, win) > drawn
        place = np.where(decided, np.sign(win - loss), 0.0).astype(np.intp) + 1
        return self.classes_[place]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean accuracy; :func:`pairity.metrics.ranked_probability_score` says more."""
        right = self.predict(X) == np.asarray(y).ravel()
        return float(np.average(right, weights=sample_weight))

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn: sparse rows welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _fit_rows(trainer: Trainer, rows: NDArray[np.intp]) -> Any:
    """A classifier on the decided games, a regressor on all; labels are -1 and 1 (and 0)."""
    if is_classifier(trainer.estimator):
        rows = rows[trainer.targets[rows] != 0.0]
    return trainer.fit(rows)


def _scores(model: Any, pairs: Pairs) -> Vector:
    score = model.decision_function if is_classifier(model) else model.predict
    return np.asarray(score(pairs), dtype=np.float64)
