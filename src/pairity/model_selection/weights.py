"""How members of the automatic model are weighed: equal weights, unless held-out pairs insist.

With z_k the calibrated log-odds (or values) of member k about held-out pairs, the weights minimise

    sum_i w_i loss(y_i, sum_k weight_k z_ki)  +  PRIOR K / 2  sum_k (weight_k - 1/K)^2
                                              +  MEAN / 2  (sum_k weight_k - 1)^2,   weight_k >= 0.

Few pairs leave the equal mean, which has nothing to overfit; many pairs may do without a member
that is of no use.  A sum above 1 is surer than its members are on average, which members that are
right together, about few pairs, seem to allow: so the sum is held more firmly than its shares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from pairity.model_selection.curves import Sigmoid, fit_sigmoid, smoothed_targets
from pairity.model_selection.folds import TrainingFolds, Vector
from pairity.pairs.arrays import Mask
from pairity.pairs.parity import Parity

#: Strength of the pull to equal weights: of three members one alone costs as much as log-losses that
#: are higher by 10 in sum.
_PRIOR = 10.0
#: Strength of the pull of the sum of the weights to 1.
_MEAN = 300.0


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Held-out rows of all folds with their targets, weights and folds."""

    targets: Vector
    weights: Vector
    fold: Vector
    parity: Parity | None
    classifies: bool

    @classmethod
    def of(cls, folds: TrainingFolds, *, classifies: bool) -> HeldOut:
        """Those of the shared folds."""
        sizes = [len(test) for _, test in folds.splits]
        return cls(
            folds.data.targets[folds.held],
            np.concatenate(folds.shares),
            np.repeat(np.arange(len(sizes)), sizes).astype(np.float64),
            folds.data.parity,
            classifies,
        )

    def curve(self, decisions: Vector, rows: Mask | None = None) -> Sigmoid:
        """The sigmoid of greatest likelihood for rows; values of a regressor stay as they are."""
        if not self.classifies:
            return Sigmoid(1.0)
        rows = np.isfinite(decisions) if rows is None else rows
        targets, weights = self.targets[rows], self.weights[rows]
        smoothed = smoothed_targets(targets, weights, self.parity)
        return fit_sigmoid(decisions[rows], smoothed, weights, self.parity)

    def calibrated(self, decisions: Vector) -> Vector:
        """Log-odds of the held-out rows of each fold, by a sigmoid fitted to the other folds."""
        return self.nested([decisions] * len(np.unique(self.fold)))

    def nested(self, decisions: list[Vector]) -> Vector:
        """The same where each fold has decisions of its own about all rows."""
        values = np.full(len(self.targets), np.nan)
        for number, given in zip(np.unique(self.fold), decisions, strict=True):
            known, mine = np.isfinite(given), self.fold == number
            inside, others = known & mine, known & ~mine
            curve = self.curve(given, others if others.any() else inside)
            values[inside] = curve.log_odds(given[inside])
        return values

    def losses(self, values: Vector) -> Vector:
        """Cross-entropy of log-odds, or squared error of values, of each row."""
        with np.errstate(invalid="ignore"):  # NaN where there is no decision
            if self.classifies:
                return np.logaddexp(0.0, -self.targets * values)
            return (self.targets - values) ** 2

    def mean_loss(self, values: Vector) -> float:
        """Mean over the rows that have a value."""
        losses = self.losses(values)
        known = np.isfinite(losses)
        return float(np.average(losses[known], weights=self.weights[known]))

    def nothing(self) -> Vector:
        """Values without any model: a constant, 0 in the antisymmetric case."""
        if self.parity is Parity.ODD:
            return np.zeros(len(self.targets))
        middle = float(np.average(self.targets, weights=self.weights))
        if not self.classifies:
            return np.full(len(self.targets), middle)
        with np.errstate(divide="ignore"):  # rows of one label alone
            return np.full(len(self.targets), np.log1p(middle) - np.log1p(-middle))

    def gain(self, values: Vector) -> float:
        """By how much the losses are below those of a constant, on average."""
        gain = self.losses(self.nothing()) - self.losses(values)
        return float(gain[np.isfinite(gain)].mean())


def weights_by_name(held_out: HeldOut, values: dict[str, Vector]) -> dict[str, float]:
    """Weights of members; 0 of those that are no better about held-out pairs than a constant.

    Where none is of any use the best of them is kept as it is: there is always a sum.
    """
    best = min(values, key=lambda name: held_out.mean_loss(values[name]))
    useful = [name for name in values if held_out.gain(values[name]) > 0.0] or [best]
    weights = member_weights(held_out, [values[name] for name in useful])
    if not weights.any():
        useful, weights = [best], np.ones(1)
    return dict.fromkeys(values, 0.0) | dict(zip(useful, weights.tolist(), strict=True))


def nested_sum(held_out: HeldOut, values: dict[str, Vector], honest: dict[str, Vector]) -> Vector:
    """Sum of honest values of the rows of each fold, weighed by what ``values`` say about the others.

    Weights found on all folds fit them partly by luck, and of few pairs the sum would flatter.
    """
    known = np.isfinite(np.column_stack(list(values.values()))).all(axis=1)
    total = np.zeros(len(held_out.targets))
    for number in np.unique(held_out.fold):
        mine = held_out.fold == number
        others = known & ~mine
        others = others if others.any() else known
        seen = {name: one[others] for name, one in values.items()}
        parts = {part: getattr(held_out, part)[others] for part in ("targets", "weights", "fold")}
        weights = weights_by_name(replace(held_out, **parts), seen)
        total[mine] = np.sum(
            [weights[name] * honest[name][mine] for name in values if weights[name]], axis=0
        )
    return total


def member_weights(held_out: HeldOut, values: list[Vector]) -> Vector:
    """Weights of members, from their calibrated log-odds or values about held-out pairs."""
    count = len(values)
    table = np.column_stack(values)
    known = np.isfinite(table).all(axis=1)
    table, targets, weights = table[known], held_out.targets[known], held_out.weights[known]
    equal = np.full(count, 1.0 / count)
    unit = 1.0
    if not held_out.classifies:  # squared errors in units of the noise
        unit = 2.0 * max(float(np.average((targets - table @ equal) ** 2, weights=weights)), 1e-300)

    def objective(at: Vector) -> tuple[float, Vector]:
        z = table @ at
        if held_out.classifies:
            loss, slope = np.logaddexp(0.0, -targets * z), -targets * expit(-targets * z)
        else:
            loss, slope = (targets - z) ** 2 / unit, 2.0 * (z - targets) / unit
        away = at - equal
        beyond = float(away.sum())
        pull = 0.5 * (_PRIOR * count * float(away @ away) + _MEAN * beyond**2)
        slopes = table.T @ (weights * slope) + _PRIOR * count * away + _MEAN * beyond
        return float(weights @ loss) + pull, slopes

    bounds = [(0.0, None)] * count
    return np.asarray(minimize(objective, equal, jac=True, method="L-BFGS-B", bounds=bounds).x)
