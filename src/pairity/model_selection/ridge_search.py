"""PairRidgeCV: ridge regression that chooses its kernel and its alpha."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from pairity.estimators.machine import PairMachine
from pairity.estimators.ridge import PairRidge
from pairity.model_selection.scoring import Scoring, SquaredError, negative_loss, read_strengths
from pairity.model_selection.search import PairSearch
from pairity.pairs.parity import Parity

Vector = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class PairRidgeCV(RegressorMixin, PairSearch):
    """:class:`~pairity.PairRidge` with its kernel and alpha chosen on held-out pairs.

    For any splitter, kernel and number of pairs; :class:`~pairity.PairRidge` itself chooses alpha
    by leaving out single pairs, in closed form, where there are few pairs or all of them.

    Parameters
    ----------
    symmetry : {"symmetric", "antisymmetric", "none"}
        The law that values obey.
    kernel : "auto", Kernel, str, callable, or a list of them
        What to choose from; see :class:`PairSVCCV`.
    alphas : int or array-like
        Values of alpha to try; a number means so many from 0.001 to 1000.
    cv, path_tol, patience, tol, n_symmetric, n_antisymmetric, memory_limit, random_state, verbose
        As in :class:`PairSVCCV`; tolerances are relative residuals.
    fit_intercept : bool
        Whether a symmetric model has a bias.

    Attributes
    ----------
    best_params_, best_score_, best_index_, best_estimator_, cv_results_, n_splits_
        As in ``GridSearchCV``; scores are minus the mean squared error.
    kernel_, combination_, held_out_rows_, held_out_decisions_
        As in :class:`PairSVCCV`.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairRidgeCV, Pairs
    >>> objects = np.random.default_rng(0).normal(size=(20, 2))
    >>> pairs = Pairs.complete(objects)
    >>> y = objects[pairs.first, 0] - objects[pairs.second, 0]
    >>> bool(PairRidgeCV("antisymmetric").fit(pairs, y).score(pairs, y) > 0.99)
    True
    """

    _: KW_ONLY
    alphas: Any = 7
    path_tol: float = 1e-2
    fit_intercept: bool = True

    _learner_type: ClassVar[type[PairMachine]] = PairRidge
    _strength: ClassVar[str] = "alpha"
    _passed_on: ClassVar[tuple[str, ...]] = (*PairSearch._passed_on, "fit_intercept")
    #: The only score.
    scoring: ClassVar[str] = "squared_error"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> PairRidgeCV:
        """Choose on held-out pairs, then fit the choice to all pairs.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, columns)
            Pairs, or wide rows of formula (1).
        y : array-like of shape (n,)
            Targets.
        sample_weight : array-like of shape (n,), optional
            Weight of the squared error of each row, in fits and in validation.
        groups : array-like of shape (n,), optional
            What ``cv`` keeps together, or times for ``TimeSplit``.
        """
        self._search(X, y, sample_weight, groups)
        return self

    def predict(self, X: Any) -> Vector:
        """Values of the model that was kept; swapped pairs have equal or opposite ones."""
        return self._kept().predict(X)

    def _strengths(self) -> Vector:
        return read_strengths(self.alphas, "alphas")

    def _factor(self, strength: float) -> float:
        return 1.0 / strength

    def _refit_strength(self, strength: float, factor: float) -> float:
        return strength / factor

    def _criterion(self, parity: Parity | None) -> SquaredError:
        return SquaredError(parity)

    def _scorings(self, parity: Parity | None) -> dict[str, Scoring]:
        return {"squared_error": negative_loss(SquaredError(parity))}

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn: sparse rows welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
