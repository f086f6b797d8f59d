"""From training data to a fitted function, certified: ``fit(data, loss, kernel, how)``.

On the full set I three ways keep or drop the symmetry (29) of the iterates:

``mirrored``  Theorem 3: solve the halved problem and lift, ``alpha_ab = alpha_ba = beta / 2``
              (34).  For antisymmetric labels that *is* SMO on (13) with the reversed pair as
              partner.
``averaged``  Remark 6: SMO on (13), every step averaged with its mirror image.
``free``      SMO on (13) as it comes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairity.exceptions import ConvergenceWarning, PairityWarning, levels_to_the_caller
from pairity.kernels.classes import projection_on, zero_on_data
from pairity.kernels.standardized import as_kernel, fitted_kernel
from pairity.losses.loss import Loss, Vector
from pairity.pairs.parity import Parity
from pairity.runtime.progress import say
from pairity.runtime.resources import one_blas_thread
from pairity.solvers.certificate import Certificate, certify
from pairity.solvers.choices import SMO, LowRank, Solver
from pairity.solvers.plan import Solve, solve
from pairity.solvers.problem import (
    AnyProblem,
    Iterate,
    Solution,
    SolverOptions,
    SomeLoss,
    TrainingSet,
    settled,
)
from pairity.training.model import Model, PairModel
from pairity.training.read import TrainingData

if TYPE_CHECKING:
    from pairity.training.counted_once import Once

#: How often the tolerance is lowered where the duality gap is still wide.
_MOST_REFINEMENTS = 4
#: Why a solution whose violation is small may not be good enough.
_WIDE = "the KKT conditions hold to it, but the duality gap is wider"


@dataclass(frozen=True)
class HowToFit:
    """What the parameters of an estimator say about the way to a solution."""

    solver: Solver = field(default_factory=Solver)
    options: SolverOptions = field(default_factory=SolverOptions)
    full: bool = False  # on I: rows followed by their mirror images; else on J (Theorem 2)
    with_bias: bool = True  # where the parity allows one

    def options_on_both_orders(self, parity: Parity | None) -> SolverOptions | None:
        """Options of SMO on I, where its iterates are averaged or free; None where J is solved."""
        if not (self.full and parity is not None and isinstance(self.solver, SMO)):
            return None
        if self.solver.iterates == "mirrored":
            return None
        sign = parity.sign if self.solver.iterates == "averaged" else 0.0
        return replace(self.solver.applied_to(self.options), mirror_sign=sign)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted function, how good it is, and how it came about."""

    model: Model
    certificate: Certificate
    n_iter: int
    reason: str
    dual: Vector | None = None  # of J, or of I: rows, then mirrored rows; None for low rank
    #: Rows with nonzero dual variables.
    support: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    approximation: tuple[Any, ...] = ()  # what landmark features lose


def fit(
    data: TrainingData, loss: Loss, kernel: Any, how: HowToFit, start: Vector | None = None
) -> Fitted:
    """Fit a kernel machine: ``loss`` has one entry for each row of ``data``, with weights C."""
    if _counts_once(how):
        from pairity.training.counted_once import counted_once

        once = counted_once(data, loss)
        if once is not None:
            return _fit_once(data, loss, once, kernel, how, start)
    prepared = prepare(data, loss, kernel, how)
    if not isinstance(how.solver, LowRank):
        with one_blas_thread():
            return fitted_of(prepared, *train(prepared, how, start), full=how.full)
    from pairity.solvers.low_rank.low_rank_fit import fit_low_rank

    result = fit_low_rank(prepared, how.options)
    return of_low_rank(result, prepared.kernel, prepared.pairs.objects)


def _counts_once(how: HowToFit) -> bool:
    """Whether nobody asked for a solver, or watches the dual variables of single rows."""
    return type(how.solver) is Solver and how.options.callback is None


def _fit_once(
    data: TrainingData, loss: Any, once: Once, kernel: Any, how: HowToFit, start: Vector | None
) -> Fitted:
    """The same for rows many of which repeat others: solved and certified without repeats."""
    prepared = prepare(once.data, once.loss, kernel, how)
    with one_blas_thread():
        solution, certificate = train(prepared, how, once.gathered(start))
    whole = replace(prepared, pairs=data.pairs, loss=loss)
    losses = whole.halved_loss
    if how.full and data.parity is not None:
        losses = loss.with_mirrored(data.parity.sign)
    theta = losses.snapped(once.spread(solution.theta))
    n_support, n_bounded = losses.support(theta)
    certificate = replace(certificate, n_support=n_support, n_bounded=n_bounded)
    return fitted_of(whole, replace(solution, theta=theta), certificate, full=how.full)


def prepare(
    data: TrainingData, loss: SomeLoss, kernel: Any, how: HowToFit, *, bias_is_free: bool = True
) -> TrainingSet[SomeLoss]:
    """Rows and losses with the kernel, its parameters found, before and after its projection.

    A bias is free where a constant may go from the function to it, and the objective stays.
    """
    pairs, parity = data.pairs, data.parity
    free = how.with_bias and bias_is_free
    seen = pairs if (data.weights > 0.0).all() else pairs[data.weights > 0.0]
    fitted = fitted_kernel(as_kernel(kernel).detached(), seen, parity, has_bias=free).with_token()
    projection = projection_on(fitted, parity, pairs)
    if projection.is_zero:
        warnings.warn(
            zero_on_data(fitted, parity, pairs), PairityWarning, stacklevel=levels_to_the_caller()
        )
    budget = how.options.budget
    return TrainingSet(pairs, loss, parity, fitted, projection.kernel, how.with_bias, budget)


def of_low_rank(found: Any, kernel: Any, objects: Any) -> Fitted:
    """What a low-rank fit, here or on a cluster, came to."""
    from pairity.kernels.nystroem import approximation_errors

    return Fitted(
        found.model,
        found.certificate,
        found.outcome.progress.n_iter,
        found.outcome.reason,
        approximation=approximation_errors(kernel, objects),
    )


def fitted_of(
    data: TrainingSet[Any], solution: Solution, certificate: Certificate, *, full: bool
) -> Fitted:
    """The function of dual variables on J, or on I."""
    rows = data.pairs.with_mirrored() if full and data.parity is not None else data.pairs
    support = np.flatnonzero(solution.theta)
    bias = 0.0 if data.parity is Parity.ODD else certificate.bias
    pairs = rows if len(support) == len(rows) else rows[support]
    used = pairs.without_unused_objects()
    model = PairModel(data.kernel, used, solution.theta[support], bias, data.parity)
    return Fitted(model, certificate, solution.n_iter, solution.reason, solution.theta, support)


def report_outcome(name: str, fitted: Fitted, how: HowToFit, remedy: str) -> None:
    """Say what came out, where that is wanted, and warn with the gap where ``tol`` was not reached."""
    certificate, reason, tol = fitted.certificate, fitted.reason, how.options.tol
    if how.options.say is not None:
        say(f"{max(1, fitted.n_iter)} steps; {certificate}")
    if certificate.holds:
        return
    kkt = ""
    if certificate.measure != "relative gap":
        kkt = f"{certificate.measure} {certificate.violation:.3g}, "
    if certificate.rounding > 0.5 * tol or reason == "tolerance reached":
        reason = f"rounding moves decisions by {certificate.rounding:.3g} or more"
    if "rounding" in reason:
        remedy = "centre or standardise the features, as kernels.Standardized(kernel) does"
    warnings.warn(
        f"{name} did not reach tol={tol:g} ({reason}): {kkt}duality gap {certificate.gap:.3g}"
        f" ({certificate.relative_gap:.2e} of the objective). The model is as good as that gap says;"
        f" {remedy}.",
        ConvergenceWarning,
        stacklevel=levels_to_the_caller(),
    )


def train(
    data: TrainingSet[Any], how: HowToFit, start: Vector | None = None
) -> tuple[Solution, Certificate]:
    """Solve on J, or on I (``how.full``), and certify the solution on the same set.

    Where the symmetry is kept, a solution on I is one on J that is lifted, (34).
    """
    both_orders = how.options_on_both_orders(data.parity)
    if both_orders is not None:
        from pairity.solvers.smo import solve_smo

        return solved_and_certified(data.full(), solve_smo, both_orders, start)

    def solve_halved(
        problem: AnyProblem[Any], options: SolverOptions, start: Vector | None
    ) -> Solution:
        return solve(problem, how.solver, options, start)

    problem, options = data.halved(), how.options
    if not how.full or data.parity is None:
        return solved_and_certified(problem, solve_halved, options, start)
    sign = data.parity.sign
    if start is not None:
        start = start[: len(problem)] + sign * start[len(problem) :]
    # one halved violation is two violations on I: the reversed pair violates as well
    tol = options.tol / 2.0 if data.parity is Parity.ODD else options.tol
    lifted = replace(options, tol=tol, callback=_lifted(options.callback, sign))
    whole = data.full()
    solution, certificate = solved_and_certified(
        problem,
        solve_halved,
        lifted,
        start,
        certified=lambda theta: certify(whole, lift(theta, sign), options.tol),
    )
    return replace(solution, theta=lift(solution.theta, sign)), certificate


def solved_and_certified(
    problem: AnyProblem[SomeLoss],
    solve_once: Solve[SomeLoss],
    options: SolverOptions,
    start: Vector | None = None,
    certified: Callable[[Vector], Certificate] | None = None,
) -> tuple[Solution, Certificate]:
    """Solve to a small violation, and on to a narrow gap where C makes one of the other.

    At a large C a pair off its margin by the tolerance may cost more than the whole objective.
    """
    if certified is None:
        asked_for = options.tol

        def certified(theta: Vector) -> Certificate:
            return certify(problem, theta, asked_for)

    solution = _settled(problem, solve_once(problem, options, start))
    certificate, tol = certified(solution.theta), options.tol
    for _ in range(_MOST_REFINEMENTS):
        steps_left = options.max_iter - solution.n_iter
        done = certificate.gap_is_narrow or not certificate.is_at_rest
        if done or options.rough or not solution.converged or steps_left < 1:
            break
        share = 0.5 * certificate.tol / certificate.relative_gap
        tol = (min(tol, certificate.violation) or tol) * min(max(share, 1e-3), 0.1)
        finer = replace(options, tol=tol, max_iter=steps_left)
        again = _settled(problem, solve_once(problem, finer, solution.theta))
        nearer = certified(again.theta)
        n_iter = solution.n_iter + again.n_iter
        if nearer.relative_gap < certificate.relative_gap:
            solution, certificate = again, nearer
        solution = replace(solution, n_iter=n_iter, reason=_WIDE)
    return solution, certificate


def _settled(problem: AnyProblem[SomeLoss], solution: Solution) -> Solution:
    return replace(solution, theta=settled(problem, solution.theta))


def lift(theta: Vector, sign: float) -> Vector:
    """Formula (34): ``theta_ab = sign theta_ba = theta_J / 2``."""
    return np.concatenate([theta, sign * theta]) / 2.0


def _lifted(
    callback: Callable[[Iterate], object] | None, sign: float
) -> Callable[[Iterate], object] | None:
    if callback is None:
        return None
    return lambda iterate: callback(replace(iterate, theta=lift(iterate.theta, sign)))
