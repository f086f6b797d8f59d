"""Label switching (Section 7.2): labels of unlabelled pairs chosen together with the machine, (45).

For fixed labels (45) is the ordinary machine.  Each round solves it, then exchanges labels where
that lowers the objective at the function found, and solves again from there:

* with a bias (symmetric, or no symmetry): the positively labelled pairs with the lowest outputs
  against the negatively labelled ones with the highest, as long as the former is below the
  latter; the share of positive labels stays as it is (Theorem 4(a), in J: S/2 unordered pairs).
  Where pairs have weights, what counts is the loss that a label costs more than its opposite;
* antisymmetric: flip the S most negative margins (Theorem 4(b) in J: the partner of a pair is its
  own mirror image); half of all ordered pairs are positive by themselves (Remark 7).

Outputs must differ by more than the tolerance: equal ones are left alone, so it cannot cycle.
Switches after which the objective is not seen to be lower (a fit cut short) are taken back.  All
rounds together have ``max_iter`` steps; after them labels are switched no more.

An antisymmetric pair with an output of 0 has no winner, and the order it is written in must not make
one: its label is 0, *undecided*.  It then counts half as won and half as lost, the loss
``(max(0, 1 - f) + max(0, 1 + f)) / 2``, which takes no side.  Where a later output is not 0 the label
is its sign; that lowers the objective by ``|f|``, as a switch does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pairity.losses.loss import PiecewiseLinear, Vector, hinge
from pairity.solvers.certificate import certify_values
from pairity.solvers.problem import Problem, Solution, SolverOptions

#: How often a solution may be refined until its objective is below the last one.
_MOST_REFINEMENTS = 6
#: Decimals of outputs that count: what is below is rounding, and differs between processors.
_DECIMALS = 9

Solve = Callable[[Problem, SolverOptions, Vector | None], Solution]


@dataclass(frozen=True)
class Switch:
    """One round: the penalty of unlabelled pairs, the objective reached, pairs switched after it."""

    penalty: float
    objective: float
    n_switched: int
    labels: Vector = field(default_factory=lambda: np.zeros(0), compare=False, repr=False)
    """Labels of all rows in this round, before the switch: +1, -1, or 0 where undecided."""


@dataclass
class Steps:
    """Steps left to all rounds together."""

    left: int

    @property
    def are_used_up(self) -> bool:
        """Whether what follows has one step per solve, and labels stay as they are."""
        return self.left < 1


def initial_labels(outputs: Vector, n_positive: int | None) -> Vector:
    """Signs of outputs, or +1 for the ``n_positive`` largest; equal outputs in order of rows."""
    outputs = np.round(outputs, _DECIMALS)
    if n_positive is None:
        return np.sign(outputs)
    labels = np.full(len(outputs), -1.0)
    labels[np.argsort(-outputs, kind="stable")[:n_positive]] = 1.0
    return labels


def losses_of(labels: Vector, weights: Vector) -> PiecewiseLinear:
    """Hinge losses; those of undecided rows, less their weight, are ``max(0, |f| - 1) / 2``."""
    loss, undecided = hinge(labels, weights), labels == 0.0
    return replace(
        loss,
        low=np.where(undecided, -weights / 2.0, loss.low),
        high=np.where(undecided, weights / 2.0, loss.high),
        below=np.where(undecided, 1.0, loss.below),
        above=np.where(undecided, -1.0, loss.above),
    )


@dataclass(frozen=True)
class Switching:
    """The problem on J without its labels, and how to run."""

    problem: Problem  # operator and bias
    unlabelled: NDArray[np.bool_]
    weights: Vector  # on J: 2C of labelled rows, 2 of others, to be multiplied by their penalty
    most_switches: float  # of rows of J, per round
    solve: Solve
    options: SolverOptions
    steps: Steps
    watch: Callable[[Switch], object] | None = None

    def run(
        self, labels: Vector, penalties: Vector, start: Vector | None = None
    ) -> tuple[Vector, Solution, list[Switch]]:
        """Labels, solution and history of one descent through the penalties."""
        history: list[Switch] = []
        labels = labels.copy()
        for penalty in penalties:
            solution, objective, outputs = self._solve_below(labels, penalty, start, np.inf)
            while True:
                start = solution.theta
                chosen = self._choose(labels, outputs)
                record = Switch(float(penalty), objective, len(chosen), labels.copy())
                history.append(record)
                if self.watch is not None:
                    self.watch(record)
                if not len(chosen) or self.steps.are_used_up:
                    break
                switched, last = labels.copy(), objective
                undecided = labels[chosen] == 0.0  # becomes the sign of its output
                switched[chosen] = np.where(undecided, np.sign(outputs[chosen]), -labels[chosen])
                reached = self._solve_below(switched, penalty, start, last)
                if not reached[1] < last:
                    break
                labels, (solution, objective, outputs) = switched, reached
        return labels, solution, history

    def objective_of(self, labels: Vector, penalty: float, start: Vector | None) -> float:
        """Objective of (45) for fixed labels."""
        return self._solve_below(labels, penalty, start, np.inf)[1]

    def _solve_below(
        self, labels: Vector, penalty: float, start: Vector | None, last: float
    ) -> tuple[Solution, float, Vector]:
        """The machine, its objective, more exactly if need be to see it below ``last``; outputs."""
        weights = self.weights * np.where(self.unlabelled, penalty, 1.0)
        problem, options = replace(self.problem, loss=losses_of(labels, weights)), self.options
        undecided = float(weights[labels == 0.0].sum())  # what their losses are less
        for _ in range(_MOST_REFINEMENTS):
            within = replace(options, max_iter=max(1, self.steps.left))
            solution = self.solve(problem, within, start)
            self.steps.left -= solution.n_iter
            values = problem.operator.product(solution.theta)
            certificate = certify_values(problem, solution.theta, values, self.options.tol)
            objective = certificate.primal + undecided
            if objective < last or not solution.converged:
                break
            start, options = solution.theta, replace(options, tol=0.1 * options.tol)
        return solution, objective, values + certificate.bias

    def _choose(self, labels: Vector, outputs: Vector) -> NDArray[np.intp]:
        """Rows whose labels are switched."""
        tol, margins = self.options.tol, labels * outputs
        open_ = self.unlabelled & (self.weights > 0)
        if not self.problem.has_bias:
            margins = np.where(labels == 0.0, -np.abs(outputs), margins)
            wrong = np.flatnonzero(open_ & (margins < -tol))
            worst = wrong[_ascending(margins[wrong])]
            return worst[: int(min(len(worst), self.most_switches))]
        # the lists of the paper hold active pairs; what they leave can be worth an exchange too
        active = self._exchange(labels, outputs, open_ & (margins < 1.0 + tol))
        return active if len(active) else self._exchange(labels, outputs, open_)

    def _exchange(
        self, labels: Vector, outputs: Vector, among: NDArray[np.bool_]
    ) -> NDArray[np.intp]:
        """As many positive as negative rows, so that each exchange lowers the loss."""
        # by how much -1 costs more than +1: rises with the output, twice as fast inside the margin
        excess = np.maximum(0.0, 1.0 + outputs) - np.maximum(0.0, 1.0 - outputs)
        excess *= self.weights
        positive, negative = (np.flatnonzero(among & (labels == sign)) for sign in (1.0, -1.0))
        size = int(min(len(positive), len(negative), self.most_switches))
        positive = positive[_ascending(excess[positive])][:size]
        negative = negative[_ascending(-excess[negative])][:size]
        least = 2.0 * self.options.tol * np.maximum(self.weights[positive], self.weights[negative])
        better = excess[positive] < excess[negative] - least
        count = size if better.all() else int(np.argmin(better))
        return np.concatenate([positive[:count], negative[:count]])


def _ascending(values: Vector) -> NDArray[np.intp]:
    """Order of values; those that rounding alone tells apart in order of rows."""
    return np.argsort(np.round(values, _DECIMALS), kind="stable")
