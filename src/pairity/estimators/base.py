"""What machines trained on pairs share: their options, the way to a solution, and the model."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pairity.estimators.intake import read_pairs
from pairity.exceptions import ConvergenceWarning, PairityWarning, levels_to_the_caller
from pairity.kernels.algebra import Kernel
from pairity.kernels.centring import fitted_kernel
from pairity.kernels.classes import is_zero_on, project, zero_on_data
from pairity.kernels.nystroem import approximation_errors
from pairity.kernels.resolve import as_kernel
from pairity.losses.base import Loss
from pairity.lowrank.fit import LowRankFit, fit_low_rank
from pairity.lowrank.form import is_approximated
from pairity.lowrank.model import LowRankModel
from pairity.memory import UNLIMITED, Budget, default_limit
from pairity.model import PairModel
from pairity.pairs import ObjectTable, Pairs
from pairity.parity import SYMMETRIES, Parity
from pairity.progress import Progress, say
from pairity.solvers.certificate import Certificate
from pairity.solvers.problem import Solution, SolverOptions
from pairity.solvers.training import TrainingSet
from pairity.validation import check_choice, check_positive

__all__ = ["PairMachine"]

#: Steps of Newton's method that ``max_iter=-1`` allows a low-rank model.
_MOST_NEWTON_STEPS = 200


class PairMachine(BaseEstimator):
    """Base of estimators that solve one of the paper's problems.

    A subclass stores the parameters named here in its constructor, says how its problem is solved
    (:meth:`_train`), reads its targets in ``fit`` and calls :meth:`_solve` with their losses.
    """

    symmetry: str
    kernel: Any
    training_set: str
    solver: str
    memory_limit: float | None
    tol: float
    max_iter: int
    callback: Any
    verbose: bool

    #: What ``solver`` may be, and what ``max_iter=-1`` stands for.
    _solvers: tuple[str, ...] = ("auto",)

    def _check_parameters(self) -> None:
        """Refuse values out of range, each with a sentence."""
        check_choice(self.symmetry, "symmetry", tuple(SYMMETRIES))
        check_choice(self.training_set, "training_set", ("halved", "full"))
        check_choice(self.solver, "solver", self._solvers)
        if self.callback is not None and self.solver == "low_rank":
            raise ValueError(
                "got a callback with solver='low_rank'; expected another solver: dual variables, which"
                " callbacks see, are not kept there. verbose=True shows the gap of every step."
            )
        check_positive(self.tol, "tol")
        if self.memory_limit is not None:
            check_positive(self.memory_limit, "memory_limit")
        if self.max_iter != -1:
            check_positive(self.max_iter, "max_iter")

    def _train(self, data: TrainingSet[Any]) -> tuple[Solution, Certificate]:
        """Solve the problem on J or I, and certify."""
        raise NotImplementedError

    def _training_set(self, pairs: Pairs, loss: Loss, parity: Parity | None) -> TrainingSet[Any]:
        """Rows and losses with the kernel, before and after its projection."""
        seen = pairs[loss.counted] if len(loss) == len(pairs) else pairs
        kernel = fitted_kernel(
            as_kernel(self.kernel).detached(), seen, parity, has_bias=self._has_bias
        )
        projected = project(kernel, parity, pairs)
        if is_zero_on(projected, kernel, pairs):
            warnings.warn(
                zero_on_data(kernel, parity, pairs),
                PairityWarning,
                stacklevel=levels_to_the_caller(),
            )
        return TrainingSet(pairs, loss, parity, kernel, projected, budget=self._budget)

    #: Whether there is a bias where the parity allows one.
    _has_bias = True

    def _solve(self, pairs: Pairs, loss: Loss, parity: Parity | None) -> None:
        """Project the kernel, train, and keep the model with its certificate."""
        self._finish(self._training_set(pairs, loss, parity))

    def _finish(self, data: TrainingSet[Any]) -> None:
        """Train and keep what was found: support pairs, or the parameters of a low-rank model.

        An interrupt leaves no model: the one of an earlier fit may have had other labels.
        """
        self.__dict__.pop("_model", None)
        if self._is_low_rank(data):
            found = fit_low_rank(data, self._low_rank_options())
            self._keep_low_rank(data.kernel, data.pairs.objects, found)
        else:
            self._keep(data, *self._train(data))

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a model, not just what was read for one."""
        return hasattr(self, "_model")

    def _is_low_rank(self, data: TrainingSet[Any]) -> bool:
        """Whether it was asked for, by the solver or by a Nystroem kernel."""
        if self.solver != "auto":
            return self.solver == "low_rank"
        suits = "low_rank" in self._solvers and data.parity is not None and self.callback is None
        return suits and is_approximated(as_kernel(self.kernel))

    def _keep_low_rank(self, kernel: Kernel, objects: ObjectTable, found: LowRankFit) -> None:
        """Store a model without support pairs."""
        for name in ("_dual", "support_", "support_pairs_", "dual_coef_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        self._model: PairModel | LowRankModel = found.model
        self.n_iter_ = max(1, found.outcome.progress.n_iter)
        self.intercept_ = found.model.bias
        self.objective_ = found.certificate.dual
        self.certificate_ = found.certificate
        self.approximation_ = approximation_errors(kernel, objects)
        self._report_outcome(found.certificate, found.outcome.reason)

    def _keep(self, data: TrainingSet[Any], solution: Solution, certificate: Certificate) -> None:
        """Store the model: support pairs, coefficients, bias."""
        full = self.training_set == "full" and data.parity is not None
        rows = data.pairs.with_mirrored() if full else data.pairs
        self.__dict__.pop("approximation_", None)  # of an earlier fit
        self._dual = solution.theta
        self.n_iter_ = max(1, solution.n_iter)
        self.support_ = np.flatnonzero(self._dual)
        self.support_pairs_ = rows[self.support_].without_unused_objects()
        self.dual_coef_ = self._dual[self.support_]
        self.intercept_ = 0.0 if data.parity is Parity.ODD else certificate.bias
        self.objective_ = certificate.dual
        self.certificate_ = certificate
        self._model = PairModel(
            data.kernel, self.support_pairs_, self.dual_coef_, self.intercept_, data.parity
        )
        self._report_outcome(certificate, solution.reason)

    def _start(self, n_pairs: int) -> NDArray[np.float64] | None:
        """The last solution, where a warm start is wanted and it has as many rows."""
        if not (getattr(self, "warm_start", False) and hasattr(self, "_dual")):
            return None
        full = self.training_set == "full" and self.symmetry != "none"
        return self._dual if len(self._dual) == (2 if full else 1) * n_pairs else None

    def _renumber(self, counted: NDArray[np.intp], n_rows: int) -> None:
        """Make ``support_`` count the rows given, where rows of weight 0 were left out."""
        if not hasattr(self, "support_"):  # a low-rank model has none
            return
        n = len(counted)
        self.support_ = counted[self.support_ % n] + n_rows * (self.support_ // n)

    def _options(self, most_steps: int) -> SolverOptions:
        """Options of any solver; ``most_steps`` is what ``max_iter=-1`` means."""
        return SolverOptions(
            tol=float(self.tol),
            max_iter=most_steps if self.max_iter == -1 else int(self.max_iter),
            callback=self.callback,
            memory_limit=self._budget.megabytes,
            report=Progress(float(self.tol)) if self.verbose else None,
            say=say if self.verbose else None,
        )

    def _low_rank_options(self) -> SolverOptions:
        """The same for low-rank models, which stop by the relative gap."""
        report = Progress(float(self.tol), "relative gap") if self.verbose else None
        return replace(self._options(_MOST_NEWTON_STEPS), report=report)

    @property
    def _budget(self) -> Budget:
        """What a fit or a prediction may use."""
        return Budget(default_limit(self.memory_limit))

    def _report_outcome(self, certificate: Certificate, reason: str) -> None:
        if self.verbose:
            say(f"{self.n_iter_} steps; {certificate}")
        if not certificate.holds:
            kkt = ""
            if certificate.measure != "relative gap":
                kkt = f"{certificate.measure} {certificate.violation:.3g}, "
            remedy = self._remedy
            if certificate.rounding > 0.5 * self.tol or reason == "tolerance reached":
                reason = f"rounding moves decisions by {certificate.rounding:.3g} or more"
            if "rounding" in reason:
                remedy = "centre or standardise the features, as kernels.Standardized(kernel) does"
            warnings.warn(
                f"{type(self).__name__} did not reach tol={self.tol:g} ({reason}): {kkt}duality gap"
                f" {certificate.gap:.3g} ({certificate.relative_gap:.2e} of the objective). The model"
                f" is as good as that gap says; {remedy}.",
                ConvergenceWarning,
                stacklevel=levels_to_the_caller(),
            )

    #: What to do when a fit does not reach its tolerance.
    _remedy = "raise max_iter or tol, lower C, or scale the features"

    def _decide(self, X: Any) -> NDArray[np.float64]:
        """Values of the fitted function."""
        check_is_fitted(self)
        # what is free changes from call to call, and bits must not: no limit but one that is given
        budget = UNLIMITED if self.memory_limit is None else self._budget
        with np.errstate(over="ignore", invalid="ignore"):
            decisions = self._model.decisions(read_pairs(self, X, reset=False), budget)
        finite = np.isfinite(decisions)
        if not finite.all():
            raise ValueError(
                f"got row {int(np.argmin(finite))} with features too large for this model, whose value"
                " there is not a number; expected features of the size that it was fitted to: check"
                " their units."
            )
        return decisions
