"""Optima in 120 decimal digits, found apart from the library: lower bounds for any model.

Newton's method on losses that are rounded over an ever smaller width, as a plain dense twin: with
``f = K theta + bias`` and p the pull of the rounded losses (which stays in the bounds of the losses
themselves) a step solves

    (1 + D K) dtheta + D dbias = p - theta,      sum(theta + dtheta) = 0.
"""

from dataclasses import dataclass, replace
from decimal import Decimal, localcontext

from exact import conjugates, inner, losses

DIGITS = 120
#: Relative gap to be reached, and widths and steps until then.
FINE = Decimal("1e-9")
MOST_WIDTHS, MOST_STEPS, MOST_SLOPES = 30, 60, 400
#: Curvature of a pair that has none, as a share of its weight: keeps the bias determined.
FLAT = Decimal("1e-40")


@dataclass(frozen=True)
class Problem:
    """``1/2 theta' K theta + sum c_i loss(y_i, (K theta)_i + bias)``; losses as in ``exact``."""

    gram: list
    targets: list
    weights: list
    loss: object
    bias: bool

    def primal(self, theta, shift):
        values = product(self.gram, theta)
        decisions = [value + shift for value in values]
        total = losses(self.loss, self.targets, self.weights, decisions)
        return inner(theta, values) / 2 + total

    def lower_bound(self, theta):
        """Dual value (a maximum here) of feasible variables."""
        quadratic = inner(theta, product(self.gram, theta)) / 2
        return -quadratic - conjugates(self.loss, self.targets, self.weights, theta)

    @property
    def of_zero(self):
        return losses(self.loss, self.targets, self.weights, [Decimal(0)] * len(self.targets))


@dataclass(frozen=True)
class Optimum:
    """A lower bound of the optimum, and how far below it may be."""

    bound: Decimal
    slack: Decimal
    of_zero: Decimal

    def gap(self, primal):
        """Relative distance of a primal value from the bound, as certificates define it."""
        return float((primal - self.bound) / self.size(primal))

    def looseness(self, primal):
        """The part of that distance which may be due to the bound."""
        return float(self.slack / self.size(primal))

    def size(self, primal):
        return max(abs(primal), abs(self.bound), self.of_zero / 10**9) or Decimal(1)


def product(matrix, vector):
    """Matrix times vector."""
    return [inner(row, vector) for row in matrix]


def solved(matrix, right):
    """``matrix^-1 right`` by elimination; ``right`` has rows."""
    rows = [[*row, *other] for row, other in zip(matrix, right, strict=True)]
    n = len(rows)
    for place in range(n):
        pivot = max(range(place, n), key=lambda row: abs(rows[row][place]))
        rows[place], rows[pivot] = rows[pivot], rows[place]
        top = rows[place] = [value / rows[place][place] for value in rows[place]]
        for number, row in enumerate(rows):
            if number != place and row[place]:
                factor = row[place]
                rows[number] = [p - factor * q for p, q in zip(row, top, strict=True)]
    return [row[n:] for row in rows]


def _pull_and_curvature(loss, y, c, f, width):
    """``-d loss / d f`` and ``d^2 loss / d f^2`` of one rounded loss."""
    if loss == "squared":
        return c * (y - f), c
    if loss == "logistic":
        small = (-abs(f)).exp()
        share = 1 / (1 + small) if y * f < 0 else small / (1 + small)
        return y * c * share, c * share * (1 - share)
    side = y if loss == "hinge" else (Decimal(1) if y > f else Decimal(-1))
    over = (1 - y * f) / width if loss == "hinge" else (abs(y - f) - loss) / width
    share = min(max(over, Decimal(0)), Decimal(1))
    return side * c * share, c / width if 0 < over < 1 else Decimal(0)


@dataclass(frozen=True)
class _Point:
    """Variables and what follows from them: decisions, pulls and curvatures."""

    problem: Problem
    width: Decimal
    theta: list
    shift: Decimal

    def pulls(self, decisions):
        both = zip(self.problem.targets, self.problem.weights, decisions, strict=True)
        loss, width = self.problem.loss, self.width
        return zip(*(_pull_and_curvature(loss, y, c, f, width) for y, c, f in both), strict=True)

    def decisions(self):
        return [value + self.shift for value in product(self.problem.gram, self.theta)]

    def direction(self):
        """A step of Newton's method: of theta, and of the bias."""
        pulls, curvature = self.pulls(self.decisions())
        weights = self.problem.weights
        curvature = [max(d, FLAT * c) for d, c in zip(curvature, weights, strict=True)]
        matrix = [
            [d * value + (row == column) for column, value in enumerate(values)]
            for row, (d, values) in enumerate(zip(curvature, self.problem.gram, strict=True))
        ]
        right = [[p - t] for p, t in zip(pulls, self.theta, strict=True)]
        if self.problem.bias:
            matrix = [[*row, d] for row, d in zip(matrix, curvature, strict=True)]
            matrix.append([Decimal(1)] * len(right) + [Decimal(0)])
            right.append([-sum(self.theta)])
        step = [row[0] for row in solved(matrix, right)]
        return (step[:-1], step[-1]) if self.problem.bias else (step, Decimal(0))

    def moved(self):
        """The point after a step, as far as the objective falls, and how steep the step was."""
        step, turn = self.direction()
        decisions, images = self.decisions(), product(self.problem.gram, step)
        changes = [image + turn for image in images]
        slow, fast = inner(self.theta, images), inner(step, images)

        def slope(length):
            there = [f + length * change for f, change in zip(decisions, changes, strict=True)]
            pulls, _ = self.pulls(there)
            return slow + length * fast - inner(pulls, changes)

        start = slope(Decimal(0))
        length = _length(slope, start)
        theta = [t + length * d for t, d in zip(self.theta, step, strict=True)]
        return replace(self, theta=theta, shift=self.shift + length * turn), -start

    def optimum(self):
        """The lower bound that the pulls give, balanced where there is a bias."""
        problem = self.problem
        pulls = list(next(iter(self.pulls(self.decisions()))))
        if problem.bias:
            sides = [sum((abs(p) for p in pulls if (p > 0) == up), Decimal(0)) for up in (0, 1)]
            lighter = min(sides)
            pulls = [p * lighter / sides[p > 0] if p else p for p in pulls]
        bound = problem.lower_bound(pulls)
        return Optimum(bound, problem.primal(self.theta, self.shift) - bound, problem.of_zero)


def _length(slope, start):
    """Where a rising slope is next to 0: doubling, then halving."""
    low, high, length = Decimal(0), None, Decimal(1)
    for _ in range(MOST_SLOPES):
        here = slope(length)
        if abs(here) <= abs(start) / 1000:
            return length
        low, high = (length, high) if here < 0 else (low, length)
        length = 2 * low if high is None else (low + high) / 2
    return low


def optimum(problem):
    """The best lower bound found, in 120 digits."""
    with localcontext() as context:
        context.prec = DIGITS
        n = len(problem.targets)
        width = Decimal(1) if problem.loss == "hinge" else max(map(abs, problem.targets))
        point = _Point(problem, width or Decimal(1), [Decimal(0)] * n, Decimal(0))
        best = point.optimum()
        for _ in range(MOST_WIDTHS):
            point, best = _at_one_width(point, best)
            if best.slack <= FINE * best.size(best.bound):
                break
            point = replace(point, width=point.width / 10)
        return best


def _at_one_width(point, best):
    for _ in range(MOST_STEPS):
        point, fall = point.moved()
        found = point.optimum()
        best = min(best, found, key=lambda one: one.slack)
        if min(fall, best.slack) <= FINE * best.size(best.bound):
            break
    return point, best
