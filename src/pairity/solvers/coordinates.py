"""Coordinate descent on the dual of linear models of sparse rows, such as objects known by name.

With rows ``z_i`` of features, ``K = Z Z'``, and parameters ``w = Z' theta``, a step moves one dual
variable to the least of the objective along it:

    theta_i = prox(theta_i - z_i w / |z_i|^2),   w += (change of theta_i) z_i,

which takes as long as the row has entries, however many rows there are (Hsieh et al. 2008).  Rows are
put into random order once, and passes go over blocks of them in random order: rows that lie next to
one another are read several times quicker.  Those that stay on their bounds take no part until the
others are done.

Thousands of names are too many for factorisations, and for a Gram block of their pairs.  With few of
them, and a large C, Newton's method is quicker: it goes on from where these passes got.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pairity.losses.loss import PiecewiseLinear, Vector
from pairity.operators._feature_loops import row_squares
from pairity.runtime.resources import ENTRIES_PER_CALL, stop_if_abandoned
from pairity.solvers._coordinate_loops import THETA, coordinate_passes
from pairity.solvers.primal_design import Design, takes_factorisations
from pairity.solvers.problem import REACHED, SLOW, AnyProblem, Iterate, Solution, SolverOptions

#: Numbers that take about as long as a step, beside those of the row.
_NUMBERS_PER_STEP = 10
#: Share of the tolerance that passes go on to: steps that follow move what was looked at before; the
#: factor by which it falls where that was not enough, and the least share.
_SHARE, _FINER, _LEAST_SHARE = 0.9, 0.7, 1e-3
#: Looks at each row, on average, after which features are taken to be on scales too far apart.
_MOST_LOOKS = 5000
#: Where Newton's method is there to go on: its steps, looks that take as long as each for every row,
#: numbers of a factorisation that take as long as a look, and the share of all that is spent before.
_NEWTON_STEPS, _LOOKS_PER_ROW, _NUMBERS_PER_LOOK, _SHARE_BEFORE = 50, 3, 300, 0.4
#: Looks at each row that are expected, over the root of a typical weight times kernel value.
_EXPECTED = 40.0
#: Stands for the inverse of 0, and for where the generator of random numbers begins.
_NEVER_ENDING, _SEED = 1e300, 1


def _most_looks(design: Design, loss: PiecewiseLinear) -> float:
    """Looks at rows before others go on; 0 where Newton's method is expected to be quicker."""
    n_rows, n_parameters = len(loss), design.n_parameters
    if not takes_factorisations(n_rows, n_parameters):
        return float(_MOST_LOOKS) * n_rows
    of_a_step = _LOOKS_PER_ROW * n_rows + n_parameters**3 / _NUMBERS_PER_LOOK
    before = _SHARE_BEFORE * _NEWTON_STEPS * of_a_step
    strength = float(np.median(loss.weights)) * float(np.sum(design.entries[2] ** 2)) / n_rows
    return before if _EXPECTED * np.sqrt(strength) * n_rows <= before else 0.0


def solve_by_coordinates(
    problem: AnyProblem[Any],
    design: Design,
    loss: PiecewiseLinear,
    options: SolverOptions,
    start: Vector | None,
    spread: Callable[[Vector], Vector],
) -> Solution:
    """Minimise to a KKT violation of at most ``options.tol``, without a bias.

    ``design`` and ``loss`` may be those of distinct rows, and so are dual variables; ``spread`` makes
    those of all rows.
    """
    share, n_passes, looks_left = _SHARE, 0, _most_looks(design, loss)
    if not looks_left:
        return Solution(np.zeros(len(loss)) if start is None else start, 0, False, SLOW)
    run = _Run(design, loss, start)
    numbers_per_step = _NUMBERS_PER_STEP + len(design.entries[2]) // max(1, len(loss))
    most_at_once = min(ENTRIES_PER_CALL // numbers_per_step, int(looks_left))
    most = most_at_once if options.callback is None else 1

    def ended(reason: str) -> Solution:
        return Solution(run.theta, n_passes, reason == REACHED, reason)

    while True:
        stop_if_abandoned()
        passes, looks, violation, done = run.passes(
            share * options.tol, most, options.max_iter - n_passes
        )
        n_passes, looks_left = n_passes + passes, looks_left - looks
        if options.report is not None:
            options.report(f"coordinate descent, pass {n_passes}", violation)
        if options.callback is not None:
            theta = spread(run.theta)
            objective = problem.objective(theta, problem.operator.product(theta))
            if options.callback(Iterate(n_passes, theta, objective, violation, 0.0)):
                return ended("stopped by the callback")
        if done:
            if share < _LEAST_SHARE or run.is_solved(options):
                return ended(REACHED)
            share *= _FINER
        if n_passes >= options.max_iter:
            return ended(f"max_iter={options.max_iter} steps used up")
        if looks_left <= 0:
            return ended(SLOW)


class _Run:
    """Rows with their dual variables, the parameters that these define, and where passes are."""

    def __init__(self, design: Design, loss: PiecewiseLinear, start: Vector | None) -> None:
        n = len(loss)
        self.drawn = np.random.default_rng(_SEED).permutation(n)
        rows = design.rows[self.drawn]  # a copy
        rows.sum_duplicates()  # and by column, whichever object of a pair is written first
        self.design, self.loss = Design(rows, design.has_bias), loss.take(self.drawn)
        squares = np.empty(n)
        row_squares(*self.design.entries, 0, n, squares)
        inverse = np.full(n, _NEVER_ENDING)
        np.divide(1.0, squares, out=inverse, where=squares > 1.0 / _NEVER_ENDING)
        given = np.zeros(n) if start is None else start[self.drawn]
        first = np.clip(given, self.loss.low, self.loss.high)
        bounds_and_pieces = self.loss.low, self.loss.high, self.loss.below, self.loss.above
        self.rows = np.column_stack([*bounds_and_pieces, inverse, first])
        self.parameters = self.design.transposed(first)
        self.order, self.blocks, self.bar = np.arange(n), np.arange(n), np.array([np.inf])
        self.state = np.array([n, _SEED], dtype=np.uint64)

    @property
    def theta(self) -> Vector:
        """Dual variables, in the order in which the rows were given."""
        theta = np.empty(len(self.rows))
        theta[self.drawn] = self.rows[:, THETA]
        return theta

    def passes(self, tol: float, most: int, most_passes: int) -> tuple[int, int, float, bool]:
        """Some passes of about so many looks at rows: both, the violation, and whether all is done."""
        entries, order = self.design.entries, (self.order, self.blocks, self.state)
        n_passes, n_looks, violation, done = coordinate_passes(
            *entries, self.rows, self.parameters, *order, self.bar, tol, most, most_passes
        )
        return int(n_passes), int(n_looks), float(violation), bool(done)

    def is_solved(self, options: SolverOptions) -> bool:
        """Whether violation and gap are what they should be, with parameters added up afresh."""
        theta, loss = np.ascontiguousarray(self.rows[:, THETA]), self.loss
        self.parameters = self.design.transposed(theta)
        values = self.design.times(self.parameters)
        if loss.violation(theta, values) > options.tol:
            return False
        quadratic = float(np.dot(self.parameters, self.parameters))
        primal = 0.5 * quadratic + float(np.sum(loss.value(values)))
        gap = primal + 0.5 * quadratic + float(np.sum(loss.conjugate(theta)))
        return options.rough or gap <= options.tol * primal
