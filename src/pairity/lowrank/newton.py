"""Newton's method on rounded losses, the rounding made finer as the gap asks for it.

At parameters w, with dual variables theta taken from the rounded losses of width mu and
``g = w - sum_i theta_i psi_i`` the gradient, the duality gap of the problem *without* rounding is

    gap = 1/2 |g|^2 + sum over curved pairs of mu c t (1 - t),     t = |theta| / c.

The first part is what Newton's method has left; the second is the price of rounding, and falls
with the square of mu, because the number of curved pairs falls with mu.  So mu need not be small:
it is reduced only when the second part outweighs the first.

Steps come from conjugate gradients, divided by an estimate of the curvature that is diagonal in
the basis of the features (:mod:`pairity.lowrank.features`); products with the second derivative
look at curved pairs only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from pairity.lowrank.design import Precision, Vector
from pairity.lowrank.engine import Engine
from pairity.lowrank.passes import Sums
from pairity.solvers.problem import INTERRUPTED

__all__ = ["Bounds", "NewtonOptions", "Outcome", "Progress", "bounds", "minimise"]

#: Conjugate gradients stop when the residual has fallen by this factor, or after that many steps.
_RESIDUAL = 0.03
_MOST_PRODUCTS = 100
#: Smallest factor by which the width is reduced at a time, and the share of the gap it aims at.
_FINER = 0.25
_SHARE_OF_ROUNDING = 0.3
#: A slope this small beside that at the start ends the search along a direction.
_FLAT = 0.1
_MOST_SLOPES = 12
#: Steps whose relative gain is below this are lost in single precision.
_LOST = 3e-8
_LOST_IN_DOUBLE = 1e-14
#: Tolerances below this one need double precision from the start.
_SINGLE_IS_ENOUGH = 1e-5


@dataclass(frozen=True)
class Bounds:
    """Primal and dual value (a maximum here) of the problem without rounding."""

    primal: float
    dual: float
    rounded: float  # primal value of the rounded problem
    gradient: Vector

    @property
    def gap(self) -> float:
        """Relative duality gap."""
        scale = max(abs(self.primal), abs(self.dual), np.finfo(float).tiny)
        return (self.primal - self.dual) / scale

    @property
    def left(self) -> float:
        """``1/2 |g|^2``, relative to the primal: what Newton's method has left."""
        return 0.5 * float(np.dot(self.gradient, self.gradient)) / max(self.primal, 1e-300)


@dataclass(frozen=True)
class Progress:
    """Where the method is after a step: all that is needed to go on from there."""

    parameters: Vector
    width: float
    n_iter: int
    gap: float
    n_products: int = 0
    precision: str = "float32"


@dataclass(frozen=True)
class NewtonOptions:
    """When to stop, whom to tell, where to start."""

    tol: float
    max_iter: int
    width: float  # to start with
    report: Callable[[str, float], None] | None = None
    observe: Callable[[Progress], object] | None = None  # true stops
    start: Progress | None = None


@dataclass(frozen=True)
class Outcome:
    """The point with the smallest gap, and why there is no better one."""

    progress: Progress
    reason: str
    converged: bool
    history: list[tuple[int, float, float]] = field(default_factory=list)  # step, width, gap


def bounds(sums: Sums, parameters: Vector, counted: Vector) -> Bounds:
    """Primal and dual values from the sums of a pass."""
    pulled = sums.pulls.sum(axis=0)
    norm = float(np.dot(counted * parameters, parameters))
    factors = np.ones(len(sums.theta))
    if len(factors) == 2:  # a bias: the two sides must balance
        lighter = float(sums.theta.min())
        factors = np.divide(lighter, sums.theta, out=np.zeros(2), where=sums.theta > 0)
    dual_pull = counted * (factors @ sums.pulls)
    return Bounds(
        primal=0.5 * norm + sums.loss,
        dual=-0.5 * float(np.dot(dual_pull, dual_pull)) - float(factors @ sums.conjugate),
        rounded=0.5 * norm + sums.rounded,
        gradient=counted * parameters - pulled,
    )


def minimise(engine: Engine, moments: Vector, options: NewtonOptions) -> Outcome:
    """Minimise ``1/2 |w|^2 + sum of losses`` until the relative duality gap is at most tol.

    ``moments`` are mean squares of ``d f / d w`` for each parameter, up to a common factor the
    curvature of the losses.
    """
    return _Newton(engine, moments, options).run()


class _Newton:
    def __init__(self, engine: Engine, moments: Vector, options: NewtonOptions) -> None:
        self.engine, self.moments, self.options = engine, moments, options
        self.counted = engine.layout.norm_counted()
        single = options.tol >= _SINGLE_IS_ENOUGH
        start = options.start
        if start is None:
            size = engine.layout.size
            precision = "float32" if single else "float64"
            start = Progress(np.zeros(size), options.width, 0, np.inf, 0, precision)
        self.state = self.best = start
        self.history: list[tuple[int, float, float]] = []

    @property
    def precision(self) -> Precision:
        return np.float32 if self.state.precision == "float32" else np.float64

    def run(self) -> Outcome:
        """Steps until the gap is small enough, or a reason why not."""
        try:
            reason = self._iterate()
        except KeyboardInterrupt:
            reason = INTERRUPTED
        last = replace(self.best, n_iter=self.state.n_iter, n_products=self.state.n_products)
        return Outcome(last, reason, reason == _REACHED, self.history)

    def _iterate(self) -> str:
        self.engine.move_to(self.state.parameters, self.precision)
        found = self._look()
        while True:
            self._tell(found)
            if found.bounds.gap <= self.options.tol:
                return _REACHED
            if self.state.n_iter >= self.options.max_iter:
                return f"max_iter={self.options.max_iter} steps used up"
            if self._finer(found.bounds):
                found = self._look()
            before = found.bounds.rounded
            self._step(found)
            found = self._look()
            if self.options.observe is not None and self.options.observe(self.state):
                return "stopped by the callback"
            gain = (before - found.bounds.rounded) / max(abs(before), 1e-300)
            if gain <= _LOST and found.bounds.gap > self.options.tol:
                if self.precision is np.float64 and gain <= _LOST_IN_DOUBLE:
                    return "steps are lost in rounding: tol is below what float64 can reach here"
                self.state = replace(self.state, precision="float64")
                self.engine.move_to(self.state.parameters, self.precision)
                found = self._look()

    def _look(self) -> _At:
        sums = self.engine.sums(self.state.width)
        found = bounds(sums, self.state.parameters, self.counted)
        self.state = replace(self.state, gap=found.gap)
        if found.gap <= self.best.gap:
            self.best = self.state
        return _At(found, sums.curvature)

    def _tell(self, found: _At) -> None:
        state = self.state
        self.history.append((state.n_iter, state.width, found.bounds.gap))
        if self.options.report is not None:
            self.options.report(f"low rank, step {state.n_iter}", found.bounds.gap)

    def _step(self, found: _At) -> None:
        gradient = found.bounds.gradient
        step = self._direction(gradient, found.curvature)
        length = self._length(gradient, step)
        parameters = self.state.parameters + length * step
        self.engine.move_along(parameters, length)
        self.state = replace(self.state, parameters=parameters, n_iter=self.state.n_iter + 1)

    def _finer(self, found: Bounds) -> bool:
        """Reduce the width where it, and not the gradient, makes the gap."""
        price = found.gap - found.left
        aim = _SHARE_OF_ROUNDING * self.options.tol
        if price <= aim or found.left > 0.5 * price:
            return False
        factor = max(_FINER, float(np.sqrt(aim / price)))
        self.state = replace(self.state, width=self.state.width * factor)
        return True

    def _direction(self, gradient: Vector, curvature: float) -> Vector:
        """Conjugate gradients on ``(1 + second derivative) d = -g``."""
        diagonal = np.maximum(self.counted + curvature * self.moments, 1e-12)
        step = np.zeros_like(gradient)
        residual = -gradient
        scaled = residual / diagonal
        search = scaled.copy()
        size = first = float(np.dot(residual, scaled))
        for _ in range(_MOST_PRODUCTS):
            if size <= 0.0:
                break
            product = self.counted * search + self.engine.curve(search)
            self.state = replace(self.state, n_products=self.state.n_products + 1)
            bend = float(np.dot(search, product))
            if bend <= 0.0:  # rounding
                break
            step += (size / bend) * search
            residual -= (size / bend) * product
            scaled = residual / diagonal
            new_size = float(np.dot(residual, scaled))
            if new_size <= _RESIDUAL**2 * first:
                break
            search = scaled + (new_size / size) * search
            size = new_size
        return step

    def _length(self, gradient: Vector, step: Vector) -> float:
        """Where the slope of the rounded objective along the step is nearly 0."""
        self.engine.look_along(step)
        at_start = float(np.dot(gradient, step))
        if at_start >= 0.0:
            return 0.0
        slow = float(np.dot(self.counted * self.state.parameters, step))
        fast = float(np.dot(self.counted * step, step))

        def slope(length: float) -> float:
            return slow + length * fast + self.engine.slope(length)

        low, slope_low, high, slope_high = 0.0, at_start, np.inf, np.inf
        length = 1.0
        for _ in range(_MOST_SLOPES):
            here = slope(length)
            if abs(here) <= _FLAT * abs(at_start):
                return length
            if here < 0.0:
                low, slope_low = length, here
            else:
                high, slope_high = length, here
            if not np.isfinite(high):
                length = 2.0 * low
                continue
            share = slope_low / (slope_low - slope_high)  # of the way from low to high
            length = low + float(np.clip(share, 0.1, 0.9)) * (high - low)
        return low if low > 0.0 else length


@dataclass(frozen=True)
class _At:
    """What a step needs to know of the point where it starts."""

    bounds: Bounds
    curvature: float  # summed over the pairs


_REACHED = "tolerance reached"
