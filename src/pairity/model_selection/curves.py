"""From decisions to probabilities: Platt's sigmoid, isotonic curves, and win, draw and loss.

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

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.utils.multiclass import check_classification_targets

from pairity.losses.probabilities import three_log_probabilities, three_probabilities
from pairity.pairs.parity import Parity
from pairity.runtime.validation import distinct_labels
from pairity.training.read import finite_per_pair

Vector = NDArray[np.float64]
#: Value of a convex function (infinite where it is not defined), its gradient and its curvature.
Derivatives = tuple[float, Vector, Vector]

_MOST_STEPS, _MOST_HALVINGS = 100, 60
#: The search ends when a step promises less than this part of the objective.
_PROMISE = 1e-15
#: A step must bring this share of what its slope promises.
_SUFFICIENT = 1e-4


@np.errstate(over="ignore")  # a step that is too long goes far
def minimise(problem: Callable[[Vector], Derivatives], at: Vector) -> Vector:
    """The point of least value, by Newton steps that are halved until they bring enough."""
    value, gradient, curvature = problem(at)
    for _ in range(_MOST_STEPS):
        # where two variables do the same the matrix is singular: the smallest step will do
        step = np.linalg.lstsq(curvature, -gradient, rcond=None)[0]
        promised = -float(gradient @ step)
        if promised <= _PROMISE * abs(value):
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

        def cross_entropy(at: Vector) -> Derivatives:
            z = design @ at
            chance = expit(z)
            return (
                float(weights @ (np.logaddexp(0.0, z) - targets * z)),
                design.T @ (weights * (chance - targets)),
                (design.T * (weights * chance * (1.0 - chance))) @ design,
            )

        slope, *offset = minimise(cross_entropy, np.zeros(design.shape[1])).tolist()
        if slope > 0.0:
            return Sigmoid(slope / scale, *offset)
    share = float(np.average(targets, weights=weights))
    return Sigmoid(0.0, 0.0 if parity is Parity.ODD else float(logit(share)))


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


@dataclass(frozen=True, eq=False)
class Outcomes:
    """``classes`` are loss, draw and win; ``values`` are -1, 0 and 1, one a row."""

    classes: NDArray[Any]
    values: Vector


def read_outcomes(y: Any, n_pairs: int, outcomes: Any) -> Outcomes:
    """Outcomes of the rows; three numbers are in their own order, other labels must be named."""
    labels = finite_per_pair(y, n_pairs, "outcome")
    classes = _classes(labels) if outcomes is None else np.asarray(outcomes)
    if classes.shape != (3,) or len(set(classes.tolist())) != 3:
        raise ValueError(
            f"got outcomes={outcomes!r}; expected three different labels, those of loss, draw and"
            " win of the first object, in this order."
        )
    values = np.full(n_pairs, np.nan)
    for value, name in zip((-1.0, 0.0, 1.0), classes, strict=True):
        values[labels == name] = value
    if np.isnan(values).any():
        row = int(np.argmax(np.isnan(values)))
        raise ValueError(
            f"got outcome {labels[row]!r} in row {row}; expected one of {classes.tolist()}, loss,"
            " draw and win of the first object."
        )
    if not (values != 0.0).any():
        raise ValueError(
            "got draws only; expected some decided games: a score cannot be learnt from draws alone."
        )
    return Outcomes(classes, values)


def _classes(labels: NDArray[Any]) -> NDArray[Any]:
    """-1, 0 and 1, or whatever three numbers there are, in order."""
    present = distinct_labels(labels, "y")
    if labels.dtype.kind in "iuf":
        if np.isin(present, (-1, 0, 1)).all():
            return np.array([-1, 0, 1])
        if len(present) == 3:
            return present
        if len(present) > 3:
            check_classification_targets(labels)  # measurements are refused as such
    raise ValueError(
        f"got outcomes {present[:5].tolist()} that do not say which is the loss, the draw and the"
        " win; expected -1, 0 and 1 or three other numbers in that order: name them by"
        " outcomes=('lost', 'drawn', 'won')."
    )


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
