"""PairRidgeCV: ridge regression that chooses its kernel and its alpha."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from pairity.estimators.ridge import PairRidge
from pairity.losses import Squared
from pairity.losses.base import Loss
from pairity.parity import Parity
from pairity.solvers.path import Solve
from pairity.solvers.problem import AnyProblem, Solution, SolverOptions
from pairity.solvers.ridge import plan_ridge, solve_ridge
from pairity.tuning.criteria import SquaredError
from pairity.tuning.results import Scoring, negative_loss
from pairity.tuning.search import PairSearch
from pairity.tuning.strengths import read_strengths

__all__ = ["PairRidgeCV"]

Vector = NDArray[np.float64]


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

    _learner_type = PairRidge
    _strength = "alpha"
    _passed_on = (*PairSearch._passed_on, "fit_intercept")

    def __init__(
        self,
        symmetry: str = "symmetric",
        kernel: Any = "auto",
        alphas: Any = 7,
        *,
        cv: Any = None,
        path_tol: float = 1e-2,
        patience: int | None = 2,
        tol: float = 1e-3,
        fit_intercept: bool = True,
        n_symmetric: int = 0,
        n_antisymmetric: int = 0,
        memory_limit: float | None = None,
        random_state: int = 0,
        verbose: bool = False,
    ) -> None:
        self.symmetry = symmetry
        self.kernel = kernel
        self.alphas = alphas
        self.cv = cv
        self.path_tol = path_tol
        self.patience = patience
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.n_symmetric = n_symmetric
        self.n_antisymmetric = n_antisymmetric
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.verbose = verbose

    #: The only score.
    scoring = "squared_error"

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

    def _losses(self, targets: Vector, weights: Vector) -> Loss:
        return Squared(targets, weights)

    def _solve(self) -> Solve[Any]:
        def solve(
            problem: AnyProblem[Squared], options: SolverOptions, start: Vector | None
        ) -> Solution:
            return solve_ridge(problem, plan_ridge(problem, "auto", options), options)

        return solve

    def _criterion(self, parity: Parity | None) -> SquaredError:
        return SquaredError(parity)

    def _scorings(self, parity: Parity | None) -> dict[str, Scoring]:
        return {"squared_error": negative_loss(SquaredError(parity))}

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn: sparse rows welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
