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

A bias has no penalty, and no curvature where no pair is curved.  Where dual variables are far from
adding up to 0 it is moved alone, by slopes, to where they do.

Gaps are relative to the objective, or to a billionth of that of the function 0 where the optimum
is less than that: no number is close to 0 in proportion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from pairity.lowrank.design import Precision, Vector
from pairity.lowrank.engine import Engine
from pairity.lowrank.passes import Sums
from pairity.lowrank.search import root, step_length

__all__ = ["Bounds", "NewtonOptions", "Outcome", "Progress", "bounds", "minimise"]

#: Conjugate gradients stop when the residual has fallen by this factor, or after that many steps;
#: twice as many after each so many steps of Newton's method at one width.
_RESIDUAL = 0.03
_MOST_PRODUCTS = 100
_PATIENCE = 25
#: Smallest factor by which the width is reduced at a time, and the share of the gap it aims at.
_FINER = 0.25
_SHARE_OF_ROUNDING = 0.3
#: Share by which the width is changed to see what parameters do as it changes.
_PEEK = 0.003
#: Imbalance of the two sides of dual variables, as a share of the gap, from which on the bias is
#: moved, and what is left of it then.
_UNBALANCED = 0.2
_BALANCED = 0.02
#: Smallest objective that gaps are relative to, as a share of that of the function 0.
_NOTHING = 1e-9
_TINY = float(np.finfo(np.float64).tiny)
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
    imbalance: float = 0.0  # of dual variables with a bias: 1 where all of them have one sign
    least: float = 0.0  # size of objectives that count as nothing

    @property
    def scale(self) -> float:
        """What gaps are relative to."""
        return max(abs(self.primal), abs(self.dual), self.least, _TINY)

    @property
    def gap(self) -> float:
        """Relative duality gap."""
        return (self.primal - self.dual) / self.scale

    @property
    def rank(self) -> tuple[float, float]:
        """The gap, or where the dual says nothing (a gap of 1 or more) the primal: less is better."""
        return min(self.gap, 1.0), self.primal

    @property
    def left(self) -> float:
        """``1/2 |g|^2``, relative like the gap: what Newton's method has left."""
        return 0.5 * float(np.dot(self.gradient, self.gradient)) / self.scale


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
    least: float = 0.0  # size of objectives that count as nothing
    history: list[tuple[int, float, float]] = field(default_factory=list)  # step, width, gap


def bounds(sums: Sums, parameters: Vector, counted: Vector, least: float = 0.0) -> Bounds:
    """Primal and dual values from the sums of a pass."""
    pulled = sums.pulls.sum(axis=0)
    norm = float(np.dot(counted * parameters, parameters))
    factors = np.ones(len(sums.theta))
    if len(factors) == 2:  # a bias: the two sides must balance
        lighter = float(sums.theta.min())
        factors = np.divide(lighter, sums.theta, out=np.ones(2), where=sums.theta > 0)
    dual_pull = counted * (factors @ sums.pulls)
    return Bounds(
        primal=0.5 * norm + sums.loss,
        dual=-0.5 * float(np.dot(dual_pull, dual_pull)) - float(factors @ sums.conjugate),
        rounded=0.5 * norm + sums.rounded,
        gradient=counted * parameters - pulled,
        imbalance=1.0 - float(factors.min()),
        least=least,
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
        self.lowest = _WORST
        self.least = 0.0
        self.steps_here = 0  # at the present width
        self.history: list[tuple[int, float, float]] = []

    @property
    def precision(self) -> Precision:
        return np.float32 if self.state.precision == "float32" else np.float64

    def run(self) -> Outcome:
        """Steps until the gap is small enough, or a reason why not."""
        reason = self._iterate()
        last = replace(self.best, n_iter=self.state.n_iter, n_products=self.state.n_products)
        return Outcome(last, reason, reason == _REACHED, self.least, self.history)

    def _iterate(self) -> str:
        self.engine.move_to(self.state.parameters, self.precision)
        found = self._look()
        lost = False
        while True:
            self._tell(found)
            if found.bounds.gap <= self.options.tol:
                self.best = self.state
                return _REACHED
            if self.state.n_iter >= self.options.max_iter:
                return f"max_iter={self.options.max_iter} steps used up"
            if self._finer(found.bounds):
                found = self._look()
            elif lost:
                return "steps are lost in rounding: tol is below what float64 can reach here"
            before = found.bounds.rounded
            self._step(found)
            found = self._look()
            if self.options.observe is not None and self.options.observe(self.state):
                return "stopped by the callback"
            gain = (before - found.bounds.rounded) / max(abs(before), self.least, _TINY)
            lost = abs(gain) <= _LOST_IN_DOUBLE and self.precision is np.float64
            if gain <= _LOST and self.precision is np.float32:
                found = self._look_in_double()

    def _look(self) -> _At:
        found = self._look_once()
        if found.bounds.imbalance > _UNBALANCED * abs(found.bounds.gap):
            self._balance(found)
            found = self._look_once()
        if found.bounds.rank <= self.lowest:
            self.best, self.lowest = self.state, found.bounds.rank
        return found

    def _look_once(self) -> _At:
        sums = self.engine.sums(self.state.width)
        self.least = _NOTHING * sums.nothing
        found = bounds(sums, self.state.parameters, self.counted, self.least)
        self.state = replace(self.state, gap=found.gap)
        return _At(found, sums.curvature, float(sums.theta.max()))

    def _look_in_double(self) -> _At:
        self.state = replace(self.state, precision="float64")
        self.engine.move_to(self.state.parameters, self.precision)
        self.lowest = _WORST  # what single precision saw is not comparable
        return self._look()

    def _tell(self, found: _At) -> None:
        state = self.state
        self.history.append((state.n_iter, state.width, found.bounds.gap))
        if self.options.report is not None:
            self.options.report(f"low rank, step {state.n_iter}", found.bounds.gap)

    def _step(self, found: _At) -> None:
        gradient = found.bounds.gradient
        self._move(gradient, self._direction(gradient, found.curvature))
        self.steps_here += 1
        self.state = replace(self.state, n_iter=self.state.n_iter + 1)

    def _move(self, gradient: Vector, step: Vector) -> None:
        length = self._length(gradient, step)
        parameters = self.state.parameters + length * step
        self.engine.move_along(parameters, length)
        self.state = replace(self.state, parameters=parameters)

    def _balance(self, found: _At) -> None:
        """Move the bias to where dual variables nearly add up to 0."""
        direction = 1.0 - self.counted
        self.engine.look_along(direction)
        share = min(1.0, max(self.options.tol, found.bounds.gap))
        length = root(self.engine.slope, self.state.width, _BALANCED * share * found.heavier)
        parameters = self.state.parameters + length * direction
        self.engine.move_along(parameters, length)
        self.state = replace(self.state, parameters=parameters)

    def _finer(self, found: Bounds) -> bool:
        """Reduce the width where it, and not the gradient, makes the gap; go where that leads.

        With ``w(mu)`` the optimum for the width mu, ``w = sum_i theta_i psi_i`` gives

            (1 + second derivative) dw/dmu = sum_i (d theta_i / d mu) psi_i,

        the right side from sums at two widths.  Parameters follow that tangent: without it the
        first steps at the new width would take pairs that it will curve for straight ones.
        """
        if found.rounded >= found.primal:  # nothing was rounded
            return False
        price = found.gap - found.left
        aim = _SHARE_OF_ROUNDING * self.options.tol
        if price <= aim or found.left > 0.5 * price:
            return False
        factor = max(_FINER, float(np.sqrt(aim / price)))
        width = self.state.width
        peek = self.engine.sums((1.0 - _PEEK) * width)
        here = self.engine.sums(width)  # last: products are to see the pairs that are curved here
        rate = (peek.pulls - here.pulls).sum(axis=0) / _PEEK  # - mu sum of (d theta / d mu) psi
        step = self._direction((factor - 1.0) * rate, here.curvature)
        self.state, self.steps_here = replace(self.state, width=factor * width), 0
        self._move(self._look_once().bounds.gradient, step)
        return True

    def _direction(self, gradient: Vector, curvature: float) -> Vector:
        """Conjugate gradients on ``(1 + second derivative) d = -g``."""
        diagonal = self.counted + curvature * self.moments
        diagonal[diagonal <= 0.0] = np.inf  # a bias that no curved pair holds
        step = np.zeros_like(gradient)
        residual = -gradient
        scaled = residual / diagonal
        search = scaled.copy()
        size = first = float(np.dot(residual, scaled))
        for _ in range(_MOST_PRODUCTS * 2 ** (self.steps_here // _PATIENCE)):
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
        slow = float(np.dot(self.counted * self.state.parameters, step))
        fast = float(np.dot(self.counted * step, step))

        def slope(length: float) -> float:
            return slow + length * fast + self.engine.slope(length)

        return step_length(slope, float(np.dot(gradient, step)))


@dataclass(frozen=True)
class _At:
    """What a step needs to know of the point where it starts."""

    bounds: Bounds
    curvature: float  # summed over the pairs
    heavier: float  # the larger of the two sums of dual variables of one sign


_WORST = (np.inf, np.inf)
_REACHED = "tolerance reached"
