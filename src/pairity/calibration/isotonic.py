"""Isotonic calibration: any nondecreasing curve, folded where a swap must mirror it.

Antisymmetric case: the curve with ``p(-f) = 1 - p(f)`` that is best for the decisions and their
mirror images together is the best nonincreasing chance of being wrong, at most 1/2, as a function
of ``|f|``.  That is what is fitted and stored, so the law holds by construction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import IsotonicRegression

from pairity.parity import Parity

__all__ = ["Isotonic", "fit_isotonic"]

Vector = NDArray[np.float64]


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

    Targets are the smoothed ones of :func:`~pairity.calibration.sigmoid.smoothed_targets`, so
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
