"""PairClassifierCV and PairRegressorCV: the automatic model, for users who want no choices."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from sklearn.base import RegressorMixin

from pairity.estimators.machine import TwoProbabilities
from pairity.model_selection.automatic_model import AutomaticModel
from pairity.model_selection.folds import Vector
from pairity.model_selection.search import PairSearch
from pairity.model_selection.searches import PairLogisticCV, PairRidgeCV


@dataclass(eq=False, repr=False)
class PairClassifierCV(TwoProbabilities, AutomaticModel):
    """The automatic classifier of pairs: kernels, boosted trees and a linear model, combined.

    Three members are tuned on the same folds and fitted to all pairs: a linear model with an
    effect of each object (and of each pair of objects, where pairs come back), symmetrised
    histogram boosting (:class:`~pairity.Symmetrized`) and the automatic kernel machine
    (:class:`~pairity.PairLogisticCV`).  Their decisions about held-out pairs are calibrated, and
    the calibrated log-odds added with weights that stay equal unless many held-out pairs insist
    (:mod:`pairity.model_selection.weights`).  The swap law holds bit for bit.  Below 200 pairs
    all families of kernels count alike, below 64 there are no trees, and below 40 there is a linear
    kernel machine alone.

    Parameters
    ----------
    symmetry : {"symmetric", "antisymmetric", "none"}
        The law that decisions obey.
    boosting : estimator, optional
        A classifier to take the place of scikit-learn's histogram boosting: LightGBM's or
        XGBoost's, say, with its own settings.
    cv : splitter, int, or list of (train, test), optional
        Which pairs are held out: decides what the choices and the probabilities hold for.  By
        default five folds of unordered pairs; ``ObjectKFold(5)`` for pairs of new objects.
    time_limit : float, optional
        Seconds; looked at between steps.  A member that no time is left for is named in a warning.
    memory_limit, positive, tie_label, n_symmetric, n_antisymmetric, verbose
        As in :class:`~pairity.PairSVC`.
    random_state : int
        Seed of trees, samples and landmarks.

    Attributes
    ----------
    members_ : dict of Member
        Each with its model, weight, held-out loss, and the loss of the others without it.
    weights_ : dict
        Weights of the members.
    best_score_ : float
        Minus the mean held-out log-loss of the whole; calibrations, weights and settings (those of
        the kernel machine up to 1000 pairs) are those that the other folds would choose.
    classes_ : ndarray of shape (2,)
        Labels.
    best_estimator_, certificate_
        An exact kernel machine, which explanations are about: the kernel member itself up to 1000
        pairs; beyond, one with the same kernel fitted to a sample of 1000.
    held_out_rows_, held_out_decisions_ : ndarray
        Rows and log-odds, in one order of each pair, by folds without them.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairClassifierCV, Pairs
    >>> objects = np.random.default_rng(0).normal(size=(15, 2))
    >>> pairs = Pairs.complete(objects)
    >>> y = np.where(objects[pairs.first, 0] > objects[pairs.second, 0], 1, -1)
    >>> model = PairClassifierCV("antisymmetric").fit(pairs, y)
    >>> there, back = model.predict_proba(pairs), model.predict_proba(pairs.swap())
    >>> bool((there[:, 1] + back[:, 1] == 1.0).all())
    True
    """

    _: KW_ONLY
    positive: Any = None
    tie_label: Any = None

    class_weight: ClassVar[None] = None
    _search_type: ClassVar[type[PairSearch]] = PairLogisticCV

    def decision_function(self, X: Any) -> Vector:
        """Log-odds of ``classes_[1]``, shape (n,)."""
        return self._decide(X)


@dataclass(eq=False, repr=False)
class PairRegressorCV(RegressorMixin, AutomaticModel):
    """The automatic regression of pairs: kernels, boosted trees and a linear model, combined.

    As :class:`PairClassifierCV`, with values in the place of log-odds and squared errors in the
    place of log-losses; the kernel machine is :class:`~pairity.PairRidgeCV`.

    Parameters
    ----------
    symmetry : {"symmetric", "antisymmetric", "none"}
        The law that values obey.
    boosting, cv, time_limit, memory_limit, n_symmetric, n_antisymmetric, random_state, verbose
        As in :class:`PairClassifierCV`; ``boosting`` is a regressor.

    Attributes
    ----------
    members_, weights_, best_score_, best_estimator_, certificate_
        As in :class:`PairClassifierCV`; ``best_score_`` is minus the mean squared error.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairRegressorCV, Pairs
    >>> objects = np.random.default_rng(0).normal(size=(15, 2))
    >>> pairs = Pairs.complete(objects)
    >>> y = objects[pairs.first, 0] - objects[pairs.second, 0]
    >>> model = PairRegressorCV("antisymmetric").fit(pairs, y)
    >>> bool((model.predict(pairs) == -model.predict(pairs.swap())).all())
    True
    """

    _search_type: ClassVar[type[PairSearch]] = PairRidgeCV

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn: linear on few rows, and no good where rows are no pairs."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def predict(self, X: Any) -> Vector:
        """Values; swapped pairs have equal or opposite ones."""
        return self._decide(X)
