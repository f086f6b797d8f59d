"""What machines trained on pairs share: their options, the way to a solution, and the model."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pairity.estimators.intake import read_pairs
from pairity.exceptions import ConvergenceWarning
from pairity.kernels.classes import project
from pairity.kernels.resolve import as_kernel
from pairity.losses.piecewise import PiecewiseLinear
from pairity.memory import available_megabytes
from pairity.model import PairModel
from pairity.pairs import Pairs
from pairity.parity import SYMMETRIES, Parity
from pairity.progress import Progress, say
from pairity.solvers.certificate import Certificate
from pairity.solvers.choice import SOLVERS
from pairity.solvers.problem import SolverOptions
from pairity.solvers.training import TrainingSet, train
from pairity.validation import check_choice, check_positive

__all__ = ["PairMachine"]

#: Share of the available memory that a fit may use by default.
_MEMORY_SHARE = 0.6


class PairMachine(BaseEstimator):
    """Base of estimators that solve one of the paper's problems.

    A subclass stores the parameters named here in its constructor, reads its targets in ``fit``
    and calls :meth:`_solve`.
    """

    symmetry: str
    kernel: Any
    C: float
    training_set: str
    solver: str
    selection: str
    iterates: str
    shrinking: bool
    cache_size: float
    memory_limit: float | None
    precision: str
    tol: float
    max_iter: int
    warm_start: bool
    callback: Any
    verbose: bool

    def _check_parameters(self) -> None:
        """Refuse values out of range, each with a sentence."""
        check_choice(self.symmetry, "symmetry", tuple(SYMMETRIES))
        check_choice(self.training_set, "training_set", ("halved", "full"))
        check_choice(self.solver, "solver", SOLVERS)
        if self.callback is not None and self.solver not in ("auto", "smo"):
            raise ValueError(
                f"got a callback with solver={self.solver!r}; expected solver='smo' or 'auto': only"
                " sequential minimal optimisation has single steps to watch."
            )
        check_choice(self.selection, "selection", ("second_order", "first_order"))
        check_choice(self.iterates, "iterates", ("mirrored", "averaged", "free"))
        check_positive(self.C, "C")
        check_positive(self.tol, "tol")
        check_positive(self.cache_size, "cache_size")
        check_choice(self.precision, "precision", ("mixed", "double"))
        if self.memory_limit is not None:
            check_positive(self.memory_limit, "memory_limit")
        if self.max_iter != -1:
            check_positive(self.max_iter, "max_iter")

    def _solve(
        self,
        pairs: Pairs,
        loss: PiecewiseLinear,
        parity: Parity | None,
    ) -> None:
        """Project the kernel, train, and keep the model with its certificate."""
        kernel = as_kernel(self.kernel).detached()
        data = TrainingSet(
            pairs=pairs,
            loss=loss,
            parity=parity,
            kernel=kernel,
            projected=project(kernel, parity, pairs),
        )
        solution, certificate = train(
            data,
            full=self.training_set == "full",
            solver=self.solver,
            iterates=self.iterates,
            options=self._options(len(pairs)),
            start=self._start(len(pairs)),
        )
        self._dual = solution.theta
        self.n_iter_ = max(1, solution.n_iter)
        self._keep(data, certificate)
        self._report_outcome(certificate, solution.reason)

    def _keep(self, data: TrainingSet[PiecewiseLinear], certificate: Certificate) -> None:
        """Store the model: support pairs, coefficients, bias."""
        full = self.training_set == "full" and data.parity is not None
        rows = data.pairs.with_mirrored() if full else data.pairs
        self.support_ = np.flatnonzero(self._dual)
        self.support_pairs_ = rows[self.support_].without_unused_objects()
        self.dual_coef_ = self._dual[self.support_]
        self.intercept_ = 0.0 if data.parity is Parity.ODD else certificate.bias
        self.objective_ = certificate.dual
        self.certificate_ = certificate
        self._model = PairModel(
            data.kernel, self.support_pairs_, self.dual_coef_, self.intercept_, data.parity
        )

    def _options(self, n_pairs: int) -> SolverOptions:
        limit = max(10_000_000, 100 * n_pairs) if self.max_iter == -1 else int(self.max_iter)
        return SolverOptions(
            tol=float(self.tol),
            max_iter=limit,
            second_order=self.selection == "second_order",
            shrinking=bool(self.shrinking),
            cache_size=float(self.cache_size),
            callback=self.callback,
            single_precision=self.precision == "mixed",
            memory_limit=self._memory_limit(),
            report=Progress(float(self.tol)) if self.verbose else None,
            say=say if self.verbose else None,
        )

    def _memory_limit(self) -> float:
        if self.memory_limit is None:
            return _MEMORY_SHARE * available_megabytes()
        return float(self.memory_limit)

    def _start(self, n_pairs: int) -> NDArray[np.float64] | None:
        if not (self.warm_start and hasattr(self, "_dual")):
            return None
        expected = n_pairs
        if self.training_set == "full" and self.symmetry != "none":
            expected = 2 * n_pairs
        return self._dual if len(self._dual) == expected else None

    def _report_outcome(self, certificate: Certificate, reason: str) -> None:
        if self.verbose:
            say(f"{self.n_iter_} steps; {certificate}")
        if not certificate.holds:
            warnings.warn(
                f"{type(self).__name__} did not reach tol={self.tol:g} ({reason}): KKT violation"
                f" {certificate.violation:.3g}, duality gap {certificate.gap:.3g}"
                f" ({certificate.relative_gap:.2e} of the objective). The model is usable within"
                " that gap; raise max_iter or tol, lower C, or scale the features.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _decide(self, X: Any) -> NDArray[np.float64]:
        """Values of the fitted function."""
        check_is_fitted(self)
        return self._model.decisions(read_pairs(self, X, reset=False))
