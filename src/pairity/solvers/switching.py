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
Switches after which the objective is not seen to be lower (a fit cut short) are taken back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pairity.losses.piecewise import hinge
from pairity.solvers.certificate import Certificate, certify_values
from pairity.solvers.problem import Problem, Solution, SolverOptions, Vector

__all__ = ["Switch", "Switching", "initial_labels"]

#: How often a solution may be refined until its objective is below the last one.
_MOST_REFINEMENTS = 6

Solve = Callable[[Problem, SolverOptions, Vector | None], Solution]


@dataclass(frozen=True)
class Switch:
    """One round: the penalty of unlabelled pairs, the objective reached, pairs switched after it."""

    penalty: float
    objective: float
    n_switched: int


def initial_labels(outputs: Vector, n_positive: int | None) -> Vector:
    """Signs of outputs, or +1 for the ``n_positive`` largest; equal outputs in order of rows."""
    if n_positive is None:
        return np.where(outputs >= 0, 1.0, -1.0)
    labels = np.full(len(outputs), -1.0)
    labels[np.argsort(-outputs, kind="stable")[:n_positive]] = 1.0
    return labels


@dataclass(frozen=True)
class Switching:
    """The problem on J without its labels, and how to run.

    ``problem`` has the operator and the bias; ``weights`` are those of the halved set (2C for
    labelled rows, 2 for unlabelled ones, to be multiplied by their penalty).
    """

    problem: Problem
    unlabelled: NDArray[np.bool_]
    weights: Vector
    most_switches: float  # of rows of J, per round
    solve: Solve
    options: SolverOptions
    watch: Callable[[Switch], object] | None = None

    def run(
        self, labels: Vector, penalties: Vector, start: Vector | None = None
    ) -> tuple[Vector, Solution, list[Switch]]:
        """Labels, solution and history of one descent through the penalties."""
        history: list[Switch] = []
        labels = labels.copy()
        for penalty in penalties:
            solution, certificate, outputs = self._solve_below(labels, penalty, start, np.inf)
            while True:
                start = solution.theta
                chosen = self._choose(labels, outputs)
                record = Switch(float(penalty), certificate.primal, len(chosen))
                history.append(record)
                if self.watch is not None:
                    self.watch(record)
                if not len(chosen):
                    break
                last = certificate.primal
                labels[chosen] *= -1.0
                found, certificate, outputs = self._solve_below(labels, penalty, start, last)
                if not certificate.primal < last:
                    labels[chosen] *= -1.0
                    break
                solution = found
        return labels, solution, history

    def objective_of(self, labels: Vector, penalty: float, start: Vector | None) -> float:
        """Objective of (45) for fixed labels."""
        return self._solve_below(labels, penalty, start, np.inf)[1].primal

    def _problem(self, labels: Vector, penalty: float) -> Problem:
        factors = np.where(self.unlabelled, penalty, 1.0)
        return replace(self.problem, loss=hinge(labels, self.weights * factors))

    def _solve_below(
        self, labels: Vector, penalty: float, start: Vector | None, last: float
    ) -> tuple[Solution, Certificate, Vector]:
        """Solve, more exactly if that is needed to see that the objective is below the last one."""
        problem, options = self._problem(labels, penalty), self.options
        for _ in range(_MOST_REFINEMENTS):
            solution = self.solve(problem, options, start)
            values = problem.operator.product(solution.theta)
            certificate = certify_values(problem, solution.theta, values, self.options.tol)
            if certificate.primal < last or not solution.converged:
                break
            start, options = solution.theta, replace(options, tol=0.1 * options.tol)
        outputs = values + certificate.bias
        return solution, certificate, outputs

    def _choose(self, labels: Vector, outputs: Vector) -> NDArray[np.intp]:
        """Rows whose labels are switched."""
        tol, margins = self.options.tol, labels * outputs
        open_ = self.unlabelled & (self.weights > 0)
        if not self.problem.has_bias:
            wrong = np.flatnonzero(open_ & (margins < -tol))
            worst = wrong[np.argsort(margins[wrong], kind="stable")]
            return worst[: self._at_most(len(worst))]
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
        positive = positive[np.argsort(excess[positive], kind="stable")]
        negative = negative[np.argsort(-excess[negative], kind="stable")]
        size = self._at_most(min(len(positive), len(negative)))
        positive, negative = positive[:size], negative[:size]
        least = 2.0 * self.options.tol * np.maximum(self.weights[positive], self.weights[negative])
        better = excess[positive] < excess[negative] - least
        count = size if better.all() else int(np.argmin(better))
        return np.concatenate([positive[:count], negative[:count]])

    def _at_most(self, count: int) -> int:
        return int(min(count, self.most_switches))
