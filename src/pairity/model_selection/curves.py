"""From decisions to probabilities: Platt's sigmoid, isotonic curves, and win, draw and loss.

Validation minimises the loss of held-out decisions: classifiers are judged by the cross-entropy of
their calibrated decisions (the sigmoid keeps the swap law), regressions by the squared error.

The log-odds of the sigmoid are linear in the decision, and odd in it where a swap asks so,

    P(positive) = expit(slope f + offset),     slope >= 0, offset = 0 in the antisymmetric case,

fitted by maximum likelihood to smoothed targets.  The isotonic curve is any nondecreasing one,
folded where a swap must mirror it: the curve with ``p(-f) = 1 - p(f)`` that is best for the
decisions and their mirror images together is the best nonincreasing chance of being wrong, at
most 1/2, as a function of ``|f|``.  That is what is fitted and stored, so the law holds by
construction.

Loss, draw and win follow from one antisymmetric score by an ordered logit with mirrored thresholds,

    P(win) = expit(slope f - threshold),  P(loss) = expit(-slope f - threshold),  draw: the rest,

slope and threshold at least 0.  The log-likelihood is concave in both together (Pratt 1981).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear, minimize
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from pairity.losses.probabilities import three_log_probabilities, three_probabilities
from pairity.pairs.parity import Parity

Vector = NDArray[np.float64]
ByFold = Sequence[Vector]
#: A score of each fold, larger is better: of decisions, targets and weights, fold by fold.
Scoring = Callable[[ByFold, ByFold, ByFold], Vector]
#: Value of a convex function (infinite where it is not defined), its gradient and its curvature.
Derivatives = tuple[float, Vector, Vector]

_MOST_STEPS, _MOST_HALVINGS = 100, 60
#: The search ends when a step promises less than this part of the objective, or where no more of it
#: is left: of labels that decisions separate the least value is 0, infinitely far away.
_PROMISE = 1e-15
#: A step must bring this share of what its slope promises.
_SUFFICIENT = 1e-4


@np.errstate(over="ignore")  # a step that is too long goes far
def minimise(problem: Callable[[Vector], Derivatives], at: Vector) -> Vector:
    """The point of least value, by Newton steps that are halved until they bring enough."""
    value, gradient, curvature = problem(at)
    little = _PROMISE * abs(value)
    for _ in range(_MOST_STEPS):
        # where two variables do the same the matrix is singular: the smallest step will do
        step = np.linalg.lstsq(curvature, -gradient, rcond=None)[0]
        promised = -float(gradient @ step)
        if promised <= _PROMISE * abs(value) or abs(value) <= little:
            return at
        for length in 0.5 ** np.arange(_MOST_HALVINGS):
            reached, gradient, curvature = problem(at + length * step)
            if reached <= value - _SUFFICIENT * length * promised:
                break
        else:
            return at  # what is left to gain is lost in rounding
        at, value = at + length * step, reached
    return at


@dataclass(frozen=True)
class Sigmoid:
    """``log-odds = slope f + offset``."""

    slope: float
    offset: float = 0.0

    @property
    def is_flat(self) -> bool:
        """Whether decisions make no difference."""
        return self.slope == 0.0

    def log_odds(self, decisions: Vector) -> Vector:
        """Log-odds of the positive label; an exact odd function where the offset is 0."""
        return self.slope * decisions + self.offset


def smoothed_targets(signs: Vector, weights: Vector, parity: Parity | None) -> Vector:
    """Probabilities to aim at, instead of 0 and 1 (Platt 1999).

    With N+ and N- the weights of the two labels, ``(N+ + 1) / (N+ + 2)`` and ``1 / (N- + 2)``:
    what Bayes' rule makes of them with a flat prior.  In the antisymmetric case each pair stands
    for itself and its swap, so both counts are the whole weight.  Decisions that separate the
    labels perfectly then have a finite best slope, and no probability is 0 or 1.
    """
    total = float(weights.sum())
    positive = total if parity is Parity.ODD else float(weights[signs > 0].sum())
    negative = total if parity is Parity.ODD else total - positive
    return np.where(signs > 0, (positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0))


def fit_sigmoid(
    decisions: Vector, targets: Vector, weights: Vector, parity: Parity | None
) -> Sigmoid:
    """The sigmoid of greatest likelihood with a slope of at least 0.

    Minimises the cross-entropy ``sum w (log(1 + exp z) - target z)``, ``z = slope f + offset``, a
    convex function, by Newton's method; where that would have a negative slope, the best slope
    allowed is 0.
    """
    scale = float(np.abs(decisions).max(initial=0.0))
    if scale > 0.0:
        scaled = decisions / scale
        with_offset = [] if parity is Parity.ODD else [np.ones(len(decisions))]
        design = np.column_stack([scaled, *with_offset])

        # log(1 + exp z) - target z, written so that what is left of a target of 1 is not lost in
        # rounding: steps towards a value of 0 would be halved over and over
        def cross_entropy(at: Vector) -> Derivatives:
            z = design @ at
            chance = expit(z)
            return (
                float(
                    weights @ (np.logaddexp(0.0, -np.abs(z)) + (np.maximum(z, 0.0) - targets * z))
                ),
                design.T @ (weights * (chance - targets)),
                (design.T * (weights * chance * (1.0 - chance))) @ design,
            )

        slope, *offset = minimise(cross_entropy, np.zeros(design.shape[1])).tolist()
        if slope > 0.0:
            return Sigmoid(slope / scale, *offset)
    share = float(np.average(targets, weights=weights))
    return Sigmoid(0.0, 0.0 if parity is Parity.ODD else float(logit(share)))


# What validation minimises ----------------------------------------------------------------------


@dataclass(frozen=True)
class Criterion:
    """A loss of held-out decisions, and the best scales of their contributions."""

    parity: Parity | None

    def scorings(self) -> dict[str, Scoring]:
        """Scores by name."""
        raise NotImplementedError

    def losses(self, decisions: Vector, targets: Vector, weights: Vector) -> Vector:
        """Loss of each decision."""
        raise NotImplementedError

    def scales(self, parts: Vector, targets: Vector, weights: Vector) -> Vector:
        """Numbers c >= 0 for which ``sum_k c_k parts[k]`` has the least loss."""
        raise NotImplementedError

    def negative_loss(self, decisions: ByFold, targets: ByFold, weights: ByFold) -> Vector:
        """Minus the mean loss of each fold; one sigmoid, where there is one, serves all folds."""
        whole = (np.concatenate(parts) for parts in (decisions, targets, weights))
        losses = np.split(self.losses(*whole), np.cumsum([len(part) for part in targets])[:-1])
        return -np.array(list(map(_mean, losses, weights)))

    def _with_offset(self, parts: Vector) -> Vector:
        """The parts, and a constant where the parity allows one."""
        return parts if self.parity is Parity.ODD else np.vstack([parts, np.ones(parts.shape[1])])


class CrossEntropy(Criterion):
    """``log(1 + exp(-y (slope f + offset)))`` with labels y of -1 and +1."""

    def scorings(self) -> dict[str, Scoring]:
        """Minus the cross-entropy, the share of labels right, and the area under the curve."""
        return {"log_loss": self.negative_loss, "accuracy": self.accuracy, "roc_auc": _auc}

    def calibrate(self, decisions: Vector, labels: Vector, weights: Vector) -> Sigmoid:
        """The sigmoid of greatest likelihood."""
        return fit_sigmoid(decisions, (labels > 0).astype(np.float64), weights, self.parity)

    def accuracy(self, decisions: ByFold, targets: ByFold, weights: ByFold) -> Vector:
        """Share of pairs whose likelier label is right; a tie counts one half."""
        whole = (np.concatenate(parts) for parts in (decisions, targets, weights))
        sigmoid = self.calibrate(*whole)
        odds = decisions if sigmoid.is_flat else [sigmoid.log_odds(fold) for fold in decisions]
        credits = (0.5 * (1.0 + np.sign(f) * y) for f, y in zip(odds, targets, strict=True))
        return np.array(list(map(_mean, credits, weights)))

    def losses(self, decisions: Vector, targets: Vector, weights: Vector) -> Vector:
        """Cross-entropy of the calibrated decisions."""
        sigmoid = self.calibrate(decisions, targets, weights)
        return np.logaddexp(0.0, -targets * sigmoid.log_odds(decisions))

    def scales(self, parts: Vector, targets: Vector, weights: Vector) -> Vector:
        """Logistic regression of the labels on the parts, coefficients at least 0."""
        share, rows = weights / weights.sum(), self._with_offset(parts)

        def value_and_slope(coefficients: Vector) -> tuple[float, Vector]:
            odds = coefficients @ rows
            pull = share * targets * expit(-targets * odds)
            return float(share @ np.logaddexp(0.0, -targets * odds)), -(rows @ pull)

        is_part = np.arange(len(rows)) < len(parts)
        bounds = [(0.0 if part else None, None) for part in is_part]
        start = np.where(is_part, 1.0, 0.0)
        found = minimize(value_and_slope, start, jac=True, method="L-BFGS-B", bounds=bounds)
        return np.asarray(found.x[: len(parts)])


class SquaredError(Criterion):
    """``(y - f)^2``."""

    def scorings(self) -> dict[str, Scoring]:
        """The only score."""
        return {"squared_error": self.negative_loss}

    def losses(self, decisions: Vector, targets: Vector, weights: Vector) -> Vector:
        """Squared error of each decision."""
        return (targets - decisions) ** 2

    def scales(self, parts: Vector, targets: Vector, weights: Vector) -> Vector:
        """Least squares of the targets on the parts, coefficients at least 0."""
        root = np.sqrt(weights / max(float(weights.max(initial=0.0)), 1e-300))  # any scale will do
        rows = self._with_offset(parts)
        low = np.where(np.arange(len(rows)) < len(parts), 0.0, -np.inf)
        with np.errstate(invalid="ignore"):  # SciPy multiplies 0 by an infinite bound
            found = lsq_linear((rows * root).T, targets * root, bounds=(low, np.inf))
        return np.asarray(found.x[: len(parts)])


def _mean(values: Vector, weights: Vector) -> float:
    return float(np.average(values, weights=weights))


def _auc(decisions: ByFold, targets: ByFold, weights: ByFold) -> Vector:
    """Chance that a positive pair is above a negative one; NaN in a fold of one class."""
    return np.array(list(map(_area, decisions, targets, weights)))


def _area(decisions: Vector, targets: Vector, weights: Vector) -> float:
    """Share of the pairs of a positive and a negative row that are in order; a tie counts one half."""
    level = np.unique(decisions, return_inverse=True)[1]
    positive, negative = (np.bincount(level, weights * (sign * targets > 0)) for sign in (1, -1))
    every = float(positive.sum() * negative.sum())
    below = np.cumsum(negative) - 0.5 * negative
    return float(positive @ below) / every if every else float("nan")


# Other curves -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Isotonic:
    """A curve through knots, linear between them and level beyond.

    ``folded``: the knots are ``|f|`` from 0 on, the chances those of the less likely label.
    Otherwise they are decisions and the chances of the positive label.
    """

    knots: Vector
    chances: Vector
    folded: bool

    @property
    def is_flat(self) -> bool:
        """Whether decisions make no difference."""
        return bool((self.chances == self.chances[0]).all())

    def log_odds(self, decisions: Vector) -> Vector:
        """Log-odds of the positive label; an exact odd function where the curve is folded."""
        if not self.folded:
            chance = np.interp(decisions, self.knots, self.chances)
            return np.log(chance / (1.0 - chance))
        wrong = np.interp(np.abs(decisions), self.knots, self.chances)
        return np.sign(decisions) * np.log((1.0 - wrong) / wrong)


def fit_isotonic(
    decisions: Vector, targets: Vector, weights: Vector, parity: Parity | None
) -> Isotonic:
    """The nondecreasing curve with the least squared error.

    Targets are the smoothed ones of :func:`~pairity.model_selection.curves.smoothed_targets`, so
    chances stay away from 0 and 1: one surprise does not cost an infinite log-loss.
    """
    if parity is not Parity.ODD:
        curve = IsotonicRegression().fit(decisions, targets, sample_weight=weights)
        return Isotonic(curve.X_thresholds_, curve.y_thresholds_, folded=False)
    tells = decisions != 0.0  # at 0 the chance is 1/2 whatever is observed
    start, even_chance = np.zeros(1), np.full(1, 0.5)
    if not tells.any():
        return Isotonic(start, even_chance, folded=True)
    wrong = np.where(decisions > 0.0, 1.0 - targets, targets)[tells]
    curve = IsotonicRegression(increasing=False, y_max=0.5)
    curve.fit(np.abs(decisions[tells]), wrong, sample_weight=weights[tells])
    knots = np.concatenate([start, curve.X_thresholds_])
    return Isotonic(knots, np.concatenate([even_chance, curve.y_thresholds_]), folded=True)


@dataclass(frozen=True)
class DrawModel:
    """Slope and threshold; probabilities have the columns loss, draw and win."""

    slope: float
    threshold: float

    def probabilities(self, scores: Vector) -> Vector:
        """Shape (n, 3); each row adds up to 1 exactly, opposite scores give mirrored rows."""
        return three_probabilities(self.slope * scores, self.threshold)

    def log_probabilities(self, scores: Vector) -> Vector:
        """Their logarithms, to full relative accuracy."""
        return three_log_probabilities(self.slope * scores, self.threshold)


def smoothed_outcomes(outcomes: Vector, weights: Vector) -> Vector:
    """Targets of loss, draw and win for outcomes -1, 0 and 1, shape (n, 3).

    Platt's idea for three outcomes: with N the weight of the row's own kind (draws, or decided
    games, each of which stands for itself and its swap), ``(N + 1) / (N + 3)`` for what happened
    and ``1 / (N + 3)`` for each of the others.  Slope and threshold are then finite, and the
    threshold above 0, on any data.
    """
    drawn = outcomes == 0.0
    of_draws = float(weights[drawn].sum())
    own_kind = np.where(drawn, of_draws, float(weights.sum()) - of_draws)
    targets = np.repeat((1.0 / (own_kind + 3.0))[:, np.newaxis], 3, axis=1)
    targets[np.arange(len(outcomes)), outcomes.astype(np.intp) + 1] *= own_kind + 1.0
    return targets


def fit_draws(scores: Vector, targets: Vector, weights: Vector) -> DrawModel:
    """Slope and threshold of greatest likelihood, slope at least 0, threshold above 0.

    Minimises ``-sum w sum_k target_k log P_k`` by Newton's method, from a slope of 0 and the
    threshold that gives the share of draws: ``P(draw) = tanh(threshold / 2)`` there.
    """
    drawn = float(np.average(targets[:, 1], weights=weights))
    threshold = 2.0 * float(np.arctanh(drawn))
    scale = float(np.abs(scores).max(initial=0.0))
    if scale == 0.0:
        return DrawModel(0.0, threshold)
    scaled = scores / scale
    loss, draw, win = (targets * weights[:, np.newaxis]).T

    def likelihood(at: Vector) -> Derivatives:
        """Minus the logarithm, of (slope, threshold); ``a = expit(t - s)``, ``b = expit(t + s)``."""
        s, t = at[0] * scaled, float(at[1])
        if t <= 0.0:
            return float("inf"), np.zeros(2), np.eye(2)
        a, b = expit(t - s), expit(t + s)
        by_score = (loss + draw) * b - (win + draw) * a
        by_threshold = win * a + loss * b - draw * ((1.0 - a) + (1.0 - b))
        barrier = 2.0 / np.expm1(2.0 * t) * draw.sum()
        below, above = (win + draw) * a * (1.0 - a), (loss + draw) * b * (1.0 - b)
        mixed = (above - below) @ scaled
        corner = (above + below).sum() + draw.sum() / np.sinh(t) ** 2
        return (
            -float(weights @ (targets * three_log_probabilities(s, t)).sum(axis=1)),
            np.array([by_score @ scaled, by_threshold.sum() - barrier]),
            np.array([[(above + below) @ scaled**2, mixed], [mixed, corner]]),
        )

    start = np.array([0.0, threshold])
    if likelihood(start)[1][0] >= 0.0:  # higher scores are not better: convex, so 0 is best
        return DrawModel(0.0, threshold)
    slope, threshold = minimise(likelihood, start).tolist()
    return DrawModel(slope / scale, threshold)
