"""Probabilities that keep the swap law, of two outcomes and of three, from any estimator of pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, is_classifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from pairity.estimators.kernel_machines import PairLogistic
from pairity.estimators.machine import TwoProbabilities
from pairity.estimators.unwrap import innermost
from pairity.exceptions import CalibrationWarning, warn_the_caller
from pairity.model_selection.curves import (
    Isotonic,
    Sigmoid,
    fit_draws,
    fit_isotonic,
    fit_sigmoid,
    smoothed_outcomes,
    smoothed_targets,
)
from pairity.model_selection.held_out import HeldOutCalibration, Trainer, parity_of
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity
from pairity.runtime.validation import check_choice, distinct_labels
from pairity.training.labels import finite_per_pair, read_labels
from pairity.training.read import read_pairs, refuse_self_pairs

Vector = NDArray[np.float64]

_METHODS: dict[str, Callable[..., Sigmoid | Isotonic]] = {
    "sigmoid": fit_sigmoid,
    "isotonic": fit_isotonic,
}


@dataclass(eq=False, repr=False)
class CalibratedPairClassifier(TwoProbabilities, HeldOutCalibration):
    """Probabilities from the decisions of a classifier of pairs; the swap law stays exact.

    Clones of the estimator are fitted on folds, the probabilities to their decisions f about
    held-out pairs, and the estimator itself on all pairs.  A search such as ``PairSVCCV`` is made
    once, on all pairs, and its choice kept on the folds.  The law is that of the estimator:

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
    estimator : estimator
        A classifier of pairs with ``decision_function``, alone or in a Pipeline or a search.
    method : {"sigmoid", "isotonic"}
        The curve from decisions to probabilities.  Isotonic needs more pairs, a thousand or so.
    cv : splitter, int, iterable or None
        Folds: a splitter of :mod:`pairity.model_selection` (any other is checked for pairs on both
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
    calibration_rows_, calibration_folds_, calibration_decisions_ : ndarray
        Their rows in the data given to ``fit``, the folds that held them out, the decisions.

    Examples
    --------
    >>> from pairity import CalibratedPairClassifier, PairSVC
    >>> from pairity.datasets import make_tournament
    >>> games = make_tournament(31, flipped=0.2)
    >>> machine = PairSVC("antisymmetric", kernel="linear", C=0.1)
    >>> model = CalibratedPairClassifier(machine).fit(games.pairs, games.y)
    >>> there, back = model.predict_proba(games.pairs), model.predict_proba(games.pairs.swap())
    >>> bool((there[:, 1] + back[:, 1] == 1.0).all())
    True
    """

    estimator: Any
    _: KW_ONLY
    method: str = "sigmoid"
    cv: Any = None
    tie_label: Any = None

    def _read_targets(self, y: Any, pairs: Pairs) -> tuple[NDArray[Any], Vector]:
        labels = read_labels(y, len(pairs), parity_of(self))
        if parity_of(self) is Parity.ODD:
            refuse_self_pairs(pairs)
        self.classes_ = labels.classes
        return column_or_1d(y), labels.signs

    def _check_parameters(self) -> None:
        """Refuse values out of range, each with a sentence."""
        check_choice(self.method, "method", tuple(_METHODS))
        self._prototype()

    def _prototype(self) -> Any:
        estimator = self.estimator
        if not hasattr(innermost(estimator), "decision_function"):
            raise ValueError(
                f"got estimator {estimator!r} without decision_function; expected a classifier of"
                " pairs such as PairSVC."
            )
        return estimator

    def _fit_rows(self, trainer: Trainer, rows: NDArray[np.intp]) -> Any:
        if parity_of(self) is not Parity.ODD:
            return trainer.fit(rows) if len(np.unique(trainer.targets[rows])) == 2 else None
        # winners first throughout: the estimator names both labels
        both = len(np.unique(trainer.targets)) == 2
        return trainer.fit(rows, self.classes_ if both else None)

    def _decisions(self, model: Any, pairs: Pairs) -> Vector:
        return np.asarray(model.decision_function(pairs), dtype=np.float64)

    def _keep_curve(self, decisions: Vector, outcomes: Vector, weights: Vector) -> None:
        parity = parity_of(self)
        targets = smoothed_targets(outcomes, weights, parity)
        self.curve_ = _METHODS[self.method](decisions, targets, weights, parity)
        for name in ("slope_", "offset_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if isinstance(self.curve_, Sigmoid):
            self.slope_, self.offset_ = self.curve_.slope, self.curve_.offset
        if self.curve_.is_flat:
            warn_the_caller(
                "the decisions about held-out pairs do not grow with their labels, so that the slope"
                " is 0 and every pair gets the same probability; the estimator has learnt nothing"
                " that carries over: try another kernel, C, or features.",
                CalibrationWarning,
            )

    def decision_function(self, X: Any) -> Vector:
        """Log-odds of ``classes_[1]``, shape (n,); ``estimator_`` has the decisions behind them."""
        check_is_fitted(self)
        pairs = read_pairs(self, X, reset=False)
        return self.curve_.log_odds(self._decisions(self.estimator_, pairs))


@dataclass(eq=False, repr=False)
class PairDrawClassifier(ClassifierMixin, HeldOutCalibration):
    """Three outcomes with mirrored thresholds around an antisymmetric score (ordered logit).

    With f the score of an antisymmetric estimator, f(b, a) = -f(a, b):

        P(win)  = expit( slope f - threshold),
        P(loss) = expit(-slope f - threshold),      P(draw) = 1 - P(win) - P(loss).

    Swapping a pair exchanges win and loss and keeps the draw, and each row of probabilities adds
    up to 1 in every order of summation, with ``==``.  Games that are closer are drawn more often.

    The score is learnt from the decided games by a classifier (the default), or from -1, 0 and
    +1 by a regressor; slope and threshold by maximum likelihood from scores of games that the
    model of a fold did not see, on targets smoothed like Platt's.  A search such as
    ``PairClassifierCV`` is made once, on all decided games, and its choice kept on the folds.

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
    >>> model = PairDrawClassifier(PairLogistic("antisymmetric", kernel="linear")).fit(games, outcome)
    >>> model.predict_proba(Pairs([[1.0], [0.0]], first=[0, 1, 0], second=[1, 0, 0])).round(2)
    array([[0.07, 0.2 , 0.73],
           [0.73, 0.2 , 0.07],
           [0.31, 0.37, 0.31]])
    """

    estimator: Any = None
    _: KW_ONLY
    outcomes: Any = None
    cv: Any = None

    def _read_targets(self, y: Any, pairs: Pairs) -> tuple[NDArray[Any], Vector]:
        self.classes_, values = _read_outcomes(y, len(pairs), self.outcomes)
        refuse_self_pairs(pairs[values != 0.0])
        return values, values

    def _keep_curve(self, decisions: Vector, outcomes: Vector, weights: Vector) -> None:
        self.draw_model_ = fit_draws(decisions, smoothed_outcomes(outcomes, weights), weights)
        self.slope_, self.threshold_ = self.draw_model_.slope, self.draw_model_.threshold
        if self.slope_ == 0.0:
            warn_the_caller(
                "the scores of held-out games do not grow with their outcomes, so that the slope is"
                " 0 and every game gets the same probabilities; the estimator has learnt nothing"
                " that carries over: try another kernel, C, or features.",
                CalibrationWarning,
            )

    def _prototype(self) -> Any:
        estimator = PairLogistic("antisymmetric") if self.estimator is None else self.estimator
        if parity_of(estimator) is not Parity.ODD:
            raise ValueError(
                f"got symmetry={innermost(estimator).symmetry!r}; expected an antisymmetric"
                " estimator, whose score changes sign when a pair is swapped: pass"
                " symmetry='antisymmetric'."
            )
        return estimator

    def _fit_rows(self, trainer: Trainer, rows: NDArray[np.intp]) -> Any:
        """A classifier on the decided games, a regressor on all; labels are -1 and 1 (and 0)."""
        decided = rows[trainer.targets[rows] != 0.0]
        if not len(decided):
            return None
        return trainer.fit(decided if is_classifier(trainer.estimator) else rows)

    def _decisions(self, model: Any, pairs: Pairs) -> Vector:
        score = model.decision_function if is_classifier(model) else model.predict
        return np.asarray(score(pairs), dtype=np.float64)

    def decision_function(self, X: Any) -> Vector:
        """``slope f``, shape (n,): one score for all three outcomes, odd under a swap.

        Objects can be ranked by it: ``pairity.inspection.rank_objects(model, objects)``.
        """
        return self._scores(X) * self.slope_

    def predict_proba(self, X: Any) -> Vector:
        """Probabilities of loss, draw and win of the first object, shape (n, 3)."""
        scores = self._scores(X)
        return self.draw_model_.probabilities(scores)

    def predict_log_proba(self, X: Any) -> Vector:
        """Logarithms of the probabilities, exact for tiny ones too."""
        scores = self._scores(X)
        return self.draw_model_.log_probabilities(scores)

    def _scores(self, X: Any) -> Vector:
        check_is_fitted(self)
        return self._decisions(self.estimator_, read_pairs(self, X, reset=False))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable outcome; the draw where win and loss are equally probable."""
        loss, drawn, win = self.predict_proba(X).T
        decided = np.maximum(loss, win) > drawn
        column = np.where(decided, np.sign(win - loss), 0.0).astype(np.intp) + 1
        return self.classes_[column]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean accuracy; :func:`pairity.model_selection.ranked_probability_score` says more."""
        right = self.predict(X) == np.asarray(y).ravel()
        return float(np.average(right, weights=sample_weight))


def _read_outcomes(y: Any, n_pairs: int, outcomes: Any) -> tuple[NDArray[Any], Vector]:
    """Labels of loss, draw and win, and -1, 0 or 1 for each row.

    Three numbers are in their own order, other labels must be named.
    """
    labels = finite_per_pair(y, n_pairs, "outcome")
    classes = _three_classes(labels) if outcomes is None else np.asarray(outcomes)
    if classes.shape != (3,) or len(set(classes.tolist())) != 3:
        raise ValueError(
            f"got outcomes={outcomes!r}; expected three different labels, those of loss, draw and"
            " win of the first object, in this order."
        )
    values = np.full(n_pairs, np.nan)
    for value, name in zip((-1.0, 0.0, 1.0), classes, strict=True):
        values[labels == name] = value
    if np.isnan(values).any():
        row = int(np.argmax(np.isnan(values)))
        raise ValueError(
            f"got outcome {labels[row]!r} in row {row}; expected one of {classes.tolist()}, loss,"
            " draw and win of the first object."
        )
    if not (values != 0.0).any():
        raise ValueError(
            "got draws only; expected some decided games: a score cannot be learnt from draws alone."
        )
    return classes, values


def _three_classes(labels: NDArray[Any]) -> NDArray[Any]:
    """-1, 0 and 1, or whatever three numbers there are, in order."""
    present = distinct_labels(labels, "y")
    if labels.dtype.kind in "iuf":
        if np.isin(present, (-1, 0, 1)).all():
            return np.array([-1, 0, 1])
        if len(present) == 3:
            return present
        if len(present) > 3:
            check_classification_targets(labels)  # measurements are refused as such
    raise ValueError(
        f"got outcomes {present[:5].tolist()} that do not say which is the loss, the draw and the"
        " win; expected -1, 0 and 1 or three other numbers in that order: name them by"
        " outcomes=('lost', 'drawn', 'won')."
    )
