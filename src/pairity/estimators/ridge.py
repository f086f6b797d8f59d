"""PairRidge: kernel ridge regression of pairs."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from pairity.estimators.machine import PairRegressor
from pairity.estimators.uncertainty import WithPosterior
from pairity.losses.loss import Squared
from pairity.losses.piecewise import LossRecipe
from pairity.pairs.arrays import Places, Vector
from pairity.runtime.validation import check_strength
from pairity.solvers.choices import RIDGE, Dense, LowRank, Primal, Solver, Spectral, as_solver
from pairity.solvers.plan import plan_ridge
from pairity.training.fit import prepare
from pairity.training.read import TrainingData


@dataclass(eq=False, repr=False)
class PairRidge(WithPosterior, PairRegressor):
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
    solver : {"auto", "spectral", "dense", "cg", "primal", "low_rank"} or a solver object
        "spectral" is the closed form on complete sets, "dense" one Cholesky factorisation, "cg"
        conjugate gradients, "primal" one system in the parameters of explicit features, as in
        :class:`~pairity.PairSVC`.  "low_rank" finds the parameters of few object features, as
        there; "auto" takes it for kernels in :class:`~pairity.kernels.Nystroem`.
    memory_limit : float, optional
        Megabytes that a fit may use; a share of what is free by default.
    tol : float
        Relative residual at which conjugate gradients stop; of "low_rank" the largest duality
        gap, relative to the objective.
    max_iter : int
        Iterations allowed; -1 for 10,000 (200 steps of Newton's method for "low_rank").
    n_symmetric, n_antisymmetric, decay, callback, verbose
        As in :class:`~pairity.PairSVC`; steps are those of "cg".

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
    observed_ : Observations
        What it was fitted to, kept for intervals; not of low-rank models.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairRidge, Pairs
    >>> strength = np.array([[3.0], [1.0], [2.0], [0.0]])
    >>> pairs = Pairs.complete(strength)
    >>> margin = strength[pairs.first, 0] - strength[pairs.second, 0]
    >>> model = PairRidge("antisymmetric", kernel="linear", alpha=1e-6).fit(pairs, margin)
    >>> model.predict(Pairs(strength, first=[0, 2, 1], second=[2, 0, 1])).round(3)
    array([ 1., -1.,  0.])
    """

    _: KW_ONLY
    alpha: float = 1.0
    alphas: Any = None
    fit_intercept: bool = False
    leave_one_out: bool = False

    _solvers: ClassVar[tuple[type[Solver], ...]] = RIDGE
    _remedy: ClassVar[str] = "raise max_iter or tol, raise alpha, or scale the features"

    def _recipe(self) -> LossRecipe:
        return LossRecipe("squared", 1.0 / getattr(self, "alpha_", float(self.alpha)))

    def _most_steps(self, n_pairs: int) -> int:
        return 10_000

    @property
    def _has_bias(self) -> bool:
        return bool(self.fit_intercept)

    @property
    def _leaves_out(self) -> bool:
        """Whether residuals of pairs left out are wanted."""
        return self.alphas is not None or bool(self.leave_one_out)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_strength(self.alpha, "alpha")
        if self.alphas is not None:
            values = np.asarray(self.alphas)
            if values.ndim != 1 or not len(values):
                raise ValueError(f"got alphas={self.alphas!r}; expected a list of numbers above 0.")
            for value in values.tolist():
                check_strength(value, "alphas")
        solver = as_solver(self.solver, self._solvers)
        if isinstance(solver, LowRank | Primal) and self._leaves_out:
            raise ValueError(
                f"got alphas or leave_one_out with solver={solver.name!r}; expected another solver,"
                " whose factors give the residuals: choose alpha by PairRidgeCV or GridSearchCV."
            )
        if self.callback is not None and isinstance(solver, Spectral | Dense):
            raise ValueError(
                f"got a callback with solver={self.solver!r}; expected solver='cg' or 'auto': a"
                " closed form has no steps to watch."
            )

    def _fit(self, data: TrainingData) -> PairRidge:
        self.alpha_ = float(self.alpha)
        if self._leaves_out:
            self._leave_out(data)
        return super()._fit(data)

    def _forget(self) -> None:
        super()._forget()
        if not self._leaves_out:
            self.__dict__.pop("loo_residuals_", None)
        if self.alphas is None:
            for name in ("loo_errors_", "coef_path_"):
                self.__dict__.pop(name, None)

    def _leave_out(self, data: TrainingData) -> None:
        """Residuals without each pair; the best of ``alphas``."""
        from pairity.solvers.linear_system import ridge_path

        how = self._how_to_fit(len(data))
        problem = prepare(data, Squared(data.targets, data.weights), self.kernel, how).halved()
        options = replace(how.options, callback=None)
        name = as_solver(self.solver, self._solvers).name
        way = plan_ridge(problem, name, options, decomposed=True)
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
        errors = (residuals**2) @ (data.weights / data.weights.sum())
        best = int(np.argmin(errors))
        self.alpha_ = float(alphas[best])
        self.loo_residuals_ = _spread(residuals[best], data.rows, data.n_rows)
        if self.alphas is not None:
            self.loo_errors_ = errors
            self.coef_path_ = _spread(thetas, data.rows, data.n_rows)


def _spread(values: Vector, counted: Places, n_rows: int) -> Vector:
    """Values of the rows that count, 0 for those of weight 0."""
    out = np.zeros((*values.shape[:-1], n_rows))
    out[..., counted] = values
    return out
