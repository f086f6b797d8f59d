"""PairRidge: kernel ridge regression of pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.distributed.dataset import PairDataset
from pairity.estimators.from_dataset import fit_from_dataset
from pairity.estimators.regressor import PairRegressor
from pairity.losses import Loss, Squared
from pairity.losses.compact import LossRecipe
from pairity.pairs import Pairs
from pairity.parity import Parity
from pairity.solvers.certificate import Certificate
from pairity.solvers.problem import AnyProblem, Solution, SolverOptions
from pairity.solvers.ridge import RIDGE_SOLVERS, plan_ridge, ridge_path, solve_ridge
from pairity.solvers.training import TrainingSet, train_halved
from pairity.validation import check_strength

__all__ = ["PairRidge"]

Vector = NDArray[np.float64]


class PairRidge(PairRegressor):
    """Kernel ridge regression of pairs, exactly symmetric or antisymmetric under a swap.

    Minimises ``1/2 |f|^2 + 1/(2 alpha) sum_I (y - f)^2`` over the full training set I: the linear
    system ``(K_I + alpha) theta = y_I``.  On the halved set J that is

        (K + alpha/2) theta = y,      K balanced or skew-balanced,

    with the same function f.  A complete set (every pair of the objects once: a tournament) is
    solved in closed form through the eigendecomposition of the *object* Gram matrix, for any
    alpha; other sets by one factorisation, or by conjugate gradients that never form the matrix.

    Each row given to :meth:`fit` is one observation of an unordered pair, in whichever order it
    happens to be written.

    Parameters
    ----------
    symmetry : {"symmetric", "antisymmetric", "none"}
        The law that values obey.  "none" trains on the rows exactly as given.
    kernel : Kernel, str or callable
        A kernel of :mod:`pairity.kernels`, the name of a default one, or a function of two
        feature tables.
    alpha : float
        Penalty on the full set I, as in scikit-learn's ``KernelRidge`` on doubled rows.
    alphas : sequence of float, optional
        Penalties to choose among by the error of leaving out one pair at a time; ``alpha`` is
        then not used.  For complete sets, and for up to 5,000 pairs.
    fit_intercept : bool
        Whether a constant is fitted, without penalty.  Never in the antisymmetric case, where
        it is 0.
    leave_one_out : bool
        Whether to store the residual of every pair by a model fitted without it.
    training_set : {"halved", "full"}
        Whether coefficients are given on J, or on the rows followed by their mirror images.
    solver : {"auto", "spectral", "dense", "cg", "low_rank"}
        "spectral" is the closed form on complete sets, "dense" one Cholesky factorisation, "cg"
        conjugate gradients.  "low_rank" finds the parameters of few object features, as in
        :class:`~pairity.PairSVC`; "auto" takes it for kernels in
        :class:`~pairity.kernels.Nystroem`.
    memory_limit : float, optional
        Megabytes that a fit may use; a share of what is free by default.
    tol : float
        Relative residual at which conjugate gradients stop; of "low_rank" the largest duality
        gap, relative to the objective.
    max_iter : int
        Iterations allowed; -1 for 10,000 (200 steps of Newton's method for "low_rank").
    n_symmetric, n_antisymmetric : int
        Numbers of group feature columns, when plain rows are given instead of
        :class:`~pairity.Pairs`.
    callback : callable
        Called with an :class:`~pairity.solvers.problem.Iterate` after every iteration of "cg";
        returning something true stops the fit.
    verbose : bool
        Say what is done, and how far it is, on standard error.

    Attributes
    ----------
    dual_coef_, support_, support_pairs_ : coefficients theta, their rows and pairs
    intercept_ : float
        Constant; exactly 0.0 in the antisymmetric case and without ``fit_intercept``.
    alpha_ : float
        The penalty used.
    loo_residuals_ : ndarray of shape (n,)
        ``y_i - f_without_i(pair_i) = theta_i / (K + alpha/2)^-1_ii``, if asked for.
    loo_errors_ : ndarray of shape (len(alphas),)
        Mean squared leave-one-pair-out error for each of ``alphas``.
    coef_path_ : ndarray of shape (len(alphas), n)
        Coefficients on J for each of ``alphas``.
    objective_, certificate_, n_iter_
        As in :class:`~pairity.PairSVC`; the violation is the relative residual.
    approximation_ : tuple of FeatureError
        Of low-rank models, which have no coefficients of pairs, as in :class:`~pairity.PairSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairRidge, Pairs
    >>> strength = np.array([[3.0], [1.0], [2.0], [0.0]])
    >>> pairs = Pairs.complete(strength)
    >>> margin = strength[pairs.first, 0] - strength[pairs.second, 0]
    >>> model = PairRidge("antisymmetric", "linear", alpha=1e-6).fit(pairs, margin)
    >>> model.predict(Pairs(strength, first=[0, 2, 1], second=[2, 0, 1])).round(3)
    array([ 1., -1.,  0.])
    """

    _solvers = (*RIDGE_SOLVERS, "low_rank")
    _remedy = "raise max_iter or tol, raise alpha, or scale the features"

    def __init__(
        self,
        symmetry: str = "symmetric",
        kernel: Any = "gaussian",
        alpha: float = 1.0,
        *,
        alphas: Any = None,
        fit_intercept: bool = False,
        leave_one_out: bool = False,
        training_set: str = "halved",
        solver: str = "auto",
        memory_limit: float | None = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        n_symmetric: int = 0,
        n_antisymmetric: int = 0,
        callback: Callable[..., object] | None = None,
        verbose: bool = False,
    ) -> None:
        self.symmetry = symmetry
        self.kernel = kernel
        self.alpha = alpha
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.leave_one_out = leave_one_out
        self.training_set = training_set
        self.solver = solver
        self.memory_limit = memory_limit
        self.tol = tol
        self.max_iter = max_iter
        self.n_symmetric = n_symmetric
        self.n_antisymmetric = n_antisymmetric
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PairRidge:
        """Fit to pairs with real targets.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, columns)
            Pairs, or wide rows of formula (1).
        y : array-like of shape (n,)
            Targets.  In the antisymmetric case the target of (a, a) can only be 0.
        sample_weight : array-like of shape (n,), optional
            Weight of the squared error of each row.
        """
        if isinstance(X, PairDataset):
            return self._fit_dataset(X, y, sample_weight)
        pairs, targets, weights, parity = self._read_training(X, y, sample_weight)
        counted, n_rows = np.flatnonzero(weights > 0), len(pairs)
        pairs, targets, weights = pairs[counted], targets[counted], weights[counted]
        data = self._training_set(pairs, Squared(targets, weights), parity)
        self.alpha_ = float(self.alpha)
        for name in ("loo_residuals_", "loo_errors_", "coef_path_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if self.alphas is not None or self.leave_one_out:
            self._leave_out(data, counted, n_rows)
        data = replace(data, loss=Squared(targets, weights / self.alpha_))
        self._finish(data)
        self._renumber(counted, n_rows)
        return self

    def _fit_dataset(self, X: PairDataset, y: Any, sample_weight: Any) -> PairRidge:
        if self.alphas is not None or self.leave_one_out:
            raise ValueError(
                "got alphas or leave_one_out with a PairDataset; expected one alpha: choose it on a"
                " sample of the pairs."
            )
        recipe = LossRecipe("squared", 1.0 / float(self.alpha))
        with_bias = bool(self.fit_intercept)
        fit_from_dataset(self, X, y, sample_weight, recipe, with_bias=with_bias)
        self.alpha_ = float(self.alpha)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_strength(self.alpha, "alpha")
        if self.alphas is not None:
            values = np.asarray(self.alphas)
            if values.ndim != 1 or not len(values):
                raise ValueError(f"got alphas={self.alphas!r}; expected a list of numbers above 0.")
            for value in values.tolist():
                check_strength(value, "alphas")
        if self.solver == "low_rank" and (self.alphas is not None or self.leave_one_out):
            raise ValueError(
                "got alphas or leave_one_out with solver='low_rank'; expected another solver, whose"
                " factors give the residuals: choose alpha by PairRidgeCV or GridSearchCV."
            )
        if self.callback is not None and self.solver in ("spectral", "dense"):
            raise ValueError(
                f"got a callback with solver={self.solver!r}; expected solver='cg' or 'auto': a"
                " closed form has no steps to watch."
            )

    def _training_set(
        self, pairs: Pairs, loss: Loss, parity: Parity | None
    ) -> TrainingSet[Squared]:
        data = super()._training_set(pairs, loss, parity)
        return replace(data, with_bias=self._has_bias)

    @property
    def _has_bias(self) -> bool:  # type: ignore[override]
        return bool(self.fit_intercept)

    def _train(self, data: TrainingSet[Squared]) -> tuple[Solution, Certificate]:
        def solve(
            problem: AnyProblem[Squared], options: SolverOptions, start: Vector | None
        ) -> Solution:
            way = plan_ridge(problem, self.solver, options)
            if options.say is not None:
                options.say(f"solver {way}: {len(problem)} pairs")
            return solve_ridge(problem, way, options)

        options = self._options(10_000)
        return train_halved(data, solve, full=self.training_set == "full", options=options)

    def _leave_out(self, data: TrainingSet[Squared], counted: Any, n_rows: int) -> None:
        """Residuals without each pair; the best of ``alphas``."""
        problem = data.halved()
        options = replace(self._options(10_000), callback=None)
        way = plan_ridge(problem, self.solver, options, decomposed=True)
        if way == "cg":
            raise ValueError(
                f"got alphas or leave_one_out with solver={self.solver!r} on {len(problem)} pairs,"
                " which is conjugate gradients; expected solver='auto' with every pair of the"
                " objects once, or with at most 5,000 pairs: use cross-validation (GridSearchCV"
                " over alpha) instead."
            )
        wanted = [self.alpha] if self.alphas is None else list(self.alphas)
        alphas = np.asarray(wanted, dtype=np.float64)
        thetas, residuals = ridge_path(problem, way, 1.0 / alphas)
        weights = data.loss.weights / data.loss.weights.sum()
        errors = (residuals**2) @ weights
        best = int(np.argmin(errors))
        self.alpha_ = float(alphas[best])
        self.loo_residuals_ = _spread(residuals[best], counted, n_rows)
        if self.alphas is not None:
            self.loo_errors_ = errors
            self.coef_path_ = _spread(thetas, counted, n_rows)


def _spread(values: Vector, counted: NDArray[np.intp], n_rows: int) -> Vector:
    """Values of the rows that count, 0 for those of weight 0."""
    out = np.zeros((*values.shape[:-1], n_rows))
    out[..., counted] = values
    return out
