"""Newton's method on rounded losses, the rounding made finer as the gap asks for it.

At parameters w, with dual variables theta taken from the rounded losses of width mu and
``g = w - sum_i theta_i psi_i`` the gradient, the duality gap of the problem *without* rounding is

    gap = 1/2 |g|^2 + sum over curved pairs of mu c t (1 - t),     t = |theta| / c.

The first part is what Newton's method has left; the second is the price of rounding, and falls
with the square of mu, because the number of curved pairs falls with mu.  So mu need not be small:
it is reduced only when the second part outweighs the first.

Steps come from conjugate gradients, divided by an estimate of the curvature that is diagonal in
the basis of the features (:mod:`pairity.solvers.low_rank.form`); products with the second derivative
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

from pairity.solvers.low_rank.design import Precision, Vector
from pairity.solvers.low_rank.passes import Engine, Sums
from pairity.solvers.problem import LOST, REACHED

#: Conjugate gradients stop when the residual has fallen by this factor, or after that many steps;
#: twice as many after each so many steps of Newton's method at one width.
_RESIDUAL, _MOST_PRODUCTS, _PATIENCE = 0.03, 100, 25
#: Smallest factor by which the width is reduced at a time, the share of the gap it aims at, and the
#: share by which it is changed to see what parameters do as it changes.
_FINER, _SHARE_OF_ROUNDING, _PEEK = 0.25, 0.3, 0.003
#: Imbalance of the two sides of dual variables, as a share of the gap, from which on the bias is
#: moved, and what is left of it then.
_UNBALANCED, _BALANCED = 0.2, 0.02
#: Smallest objective that gaps are relative to, as a share of that of the function 0.
_NOTHING = 1e-9
#: Steps whose relative gain is below this are lost in single, and in double precision; tolerances
#: below the last one need double precision from the start.
_LOST_IN_SINGLE, _LOST_IN_DOUBLE, _SINGLE_IS_ENOUGH = 3e-8, 1e-14, 1e-5
#: A slope this small beside that at the start ends the search along a direction; slopes looked at.
_FLAT, _MOST_SLOPES, _MOST_POSITIONS = 0.1, 12, 40
_TINY = float(np.finfo(np.float64).tiny)
_WORST = np.inf, np.inf  # rank of a point


@dataclass(frozen=True)
class Bounds:
    """Primal and dual value (a maximum here) of the problem without rounding."""

    primal: float
    dual: float
    rounded: float  # primal value of the rounded problem
    gradient: Vector
    imbalance: float  # of dual variables with a bias: 1 where all of them have one sign
    heavier: float  # the larger of the two sums of dual variables of one sign
    curvature: float  # summed over the pairs
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
        heavier=float(sums.theta.max()),
        curvature=sums.curvature,
        least=least,
    )


def minimise(engine: Engine, moments: Vector, options: NewtonOptions) -> Outcome:
    """Minimise ``1/2 |w|^2 + sum of losses`` until the relative duality gap is at most tol.

    ``moments``, mean squares of ``d f / d w``, are the curvature of the losses up to a factor.
    """
    run = _Newton(engine, moments, options)
    reason = run.iterate()
    last = replace(run.best, n_iter=run.state.n_iter, n_products=run.state.n_products)
    return Outcome(last, reason, reason == REACHED, run.least, run.history)


class _Newton:
    def __init__(self, engine: Engine, moments: Vector, options: NewtonOptions) -> None:
        self.engine, self.moments, self.options = engine, moments, options
        self.counted = engine.layout.norm_counted()
        precision = "float32" if options.tol >= _SINGLE_IS_ENOUGH else "float64"
        nothing = Progress(np.zeros(engine.layout.size), options.width, 0, np.inf, 0, precision)
        self.state = self.best = options.start or nothing
        self.lowest, self.least = _WORST, 0.0
        self.steps_here = 0  # at the present width
        self.history: list[tuple[int, float, float]] = []

    @property
    def precision(self) -> Precision:
        return np.float32 if self.state.precision == "float32" else np.float64

    def iterate(self) -> str:
        """Steps until the gap is small enough, or a reason why not."""
        options, lost = self.options, False
        self.engine.move_to(self.state.parameters, self.precision)
        here = self._look()
        while True:
            self.history.append((self.state.n_iter, self.state.width, here.gap))
            if options.report is not None:
                options.report(f"low rank, step {self.state.n_iter}", here.gap)
            if here.gap <= options.tol:
                self.best = self.state
                return REACHED
            if self.state.n_iter >= options.max_iter:
                return f"max_iter={options.max_iter} steps used up"
            if self._finer(here):
                here = self._look()
            elif lost:
                return LOST
            before = here.rounded
            self._step(here.gradient, self._direction(here.gradient, here.curvature))
            self.steps_here += 1
            self.state = replace(self.state, n_iter=self.state.n_iter + 1)
            here = self._look()
            if options.observe is not None and options.observe(self.state):
                return "stopped by the callback"
            gain = (before - here.rounded) / max(abs(before), self.least, _TINY)
            lost = abs(gain) <= _LOST_IN_DOUBLE and self.precision is np.float64
            if gain <= _LOST_IN_SINGLE and self.precision is np.float32:
                self.state = replace(self.state, precision="float64")
                self.engine.move_to(self.state.parameters, self.precision)
                self.lowest = _WORST  # what single precision saw is not comparable
                here = self._look()

    def _look(self) -> Bounds:
        """Bounds at the present point, after its bias was moved where that is needed."""
        here = self._look_once()
        if here.imbalance > _UNBALANCED * abs(here.gap):
            self._balance(here)
            here = self._look_once()
        if here.rank <= self.lowest:
            self.best, self.lowest = self.state, here.rank
        return here

    def _look_once(self) -> Bounds:
        sums = self.engine.sums(self.state.width)
        self.least = _NOTHING * sums.nothing
        here = bounds(sums, self.state.parameters, self.counted, self.least)
        self.state = replace(self.state, gap=here.gap)
        return here

    def _balance(self, here: Bounds) -> None:
        """Move the bias to where dual variables nearly add up to 0."""
        direction = 1.0 - self.counted
        self.engine.look_along(direction)
        share = min(1.0, max(self.options.tol, here.gap))
        flat = _BALANCED * share * here.heavier
        self._move(direction, root(self.engine.slope, self.state.width, flat))

    def _step(self, gradient: Vector, step: Vector) -> None:
        """Move to where the slope of the rounded objective along the step is nearly 0."""
        self.engine.look_along(step)
        slow = float(np.dot(self.counted * self.state.parameters, step))
        fast = float(np.dot(self.counted * step, step))

        def slope(length: float) -> float:
            return slow + length * fast + self.engine.slope(length)

        self._move(step, step_length(slope, float(np.dot(gradient, step))))

    def _move(self, step: Vector, length: float) -> None:
        parameters = self.state.parameters + length * step
        self.engine.move_along(parameters, length)
        self.state = replace(self.state, parameters=parameters)

    def _finer(self, here: Bounds) -> bool:
        """Reduce the width where it, and not the gradient, makes the gap; go where that leads.

        With ``w(mu)`` the optimum for the width mu, ``w = sum_i theta_i psi_i`` gives

            (1 + second derivative) dw/dmu = sum_i (d theta_i / d mu) psi_i,

        the right side from sums at two widths.  Parameters follow that tangent: without it the
        first steps at the new width would take pairs that it will curve for straight ones.
        """
        price = here.gap - here.left
        aim = _SHARE_OF_ROUNDING * self.options.tol
        nothing_rounded = here.rounded >= here.primal
        if nothing_rounded or price <= aim or here.left > 0.5 * price:
            return False
        factor = max(_FINER, float(np.sqrt(aim / price)))
        width = self.state.width
        peek = self.engine.sums((1.0 - _PEEK) * width)
        sums = self.engine.sums(width)  # last: products are to see the pairs that are curved here
        rate = (peek.pulls - sums.pulls).sum(axis=0) / _PEEK  # - mu sum of (d theta / d mu) psi
        step = self._direction((factor - 1.0) * rate, sums.curvature)
        self.state, self.steps_here = replace(self.state, width=factor * width), 0
        self._step(self._look_once().gradient, step)
        return True

    def _direction(self, gradient: Vector, curvature: float) -> Vector:
        """Conjugate gradients on ``(1 + second derivative) d = -g``.

        Not SciPy's: these stop by the residual in the metric of the preconditioner, and where
        rounding makes the curvature negative.
        """
        diagonal = self.counted + curvature * self.moments
        diagonal[diagonal <= 0.0] = np.inf  # a bias that no curved pair holds
        step, residual = np.zeros_like(gradient), -gradient
        search = residual / diagonal
        size = first = float(np.dot(residual, search))
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
            last, size = size, float(np.dot(residual, scaled))
            if size <= _RESIDUAL**2 * first:
                break
            search = scaled + (size / last) * search
        return step


# How far along a direction: the objective is convex there, so that its slope rises -----------------


def step_length(slope: Callable[[float], float], at_start: float) -> float:
    """A length from which on little is to be gained; 1 is tried first.

    With s the slope, ``f(low) <= f(0) + low s(low)`` and ``f(x) <= f(low) + (x - low) s(x)`` for
    convex f: a length x whose slope is above 0 is taken where the two make a descent certain, or
    where it is the first.
    """
    if at_start >= 0.0:
        return 0.0
    low, slope_low, high, slope_high = 0.0, at_start, np.inf, np.inf
    length = 1.0
    for _ in range(_MOST_SLOPES):
        here = slope(length)
        first = length == 1.0 and low == 0.0 and not np.isfinite(high)
        certain = here <= 0.0 or (length - low) * here + low * slope_low < 0.0
        if abs(here) <= _FLAT * abs(at_start) and (first or certain):
            return length
        if here < 0.0:
            low, slope_low = length, here
        else:
            high, slope_high = length, here
        if not np.isfinite(high):
            length = 2.0 * low
            continue
        share = slope_low / (slope_low - slope_high)  # of the way from low to high
        length = low + min(max(share, 0.1), 0.9) * (high - low)
    return low if low > 0.0 else length


def root(slope: Callable[[float], float], step: float, flat: float) -> float:
    """Where a rising function is 0 up to ``flat``: steps that double, then false positions.

    An end that stays where it is twice in a row counts half (the Illinois rule), so that both
    ends move; after a position that has not halved the interval comes its middle.
    """
    at_start = slope(0.0)
    if abs(at_start) <= flat:
        return 0.0
    direction = -float(np.sign(at_start))
    ends, values = [0.0, np.inf], [at_start, 0.0]  # with the sign of the start, and beyond the root
    last, halved = 0, True
    for _ in range(_MOST_POSITIONS):
        bracketed, before = np.isfinite(ends[1]), abs(ends[1] - ends[0])
        if not bracketed:
            position, step = ends[0] + direction * step, 2.0 * step
        elif halved:
            position = (ends[0] * values[1] - ends[1] * values[0]) / (values[1] - values[0])
        else:
            position = 0.5 * (ends[0] + ends[1])
        here = slope(position)
        if abs(here) <= flat:
            return position
        side = 0 if here * at_start > 0.0 else 1
        ends[side], values[side] = position, here
        if bracketed and side == last:
            values[1 - side] *= 0.5
        last, halved = side, not bracketed or abs(ends[1] - ends[0]) <= 0.5 * before
    return ends[0]
