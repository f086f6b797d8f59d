"""Where the posterior of a score is not normal: its mean, variance, skewness and kurtosis.

The Laplace approximation of a :class:`~pairity.PairLogistic` is symmetric about the mode.  An object
that has won nearly always has a longer tail upwards, and among many objects it is the tails that count.
With w_i the weights of the rows,

    U(w) = |w|^2 / (2 scale) + sum_i w_i log(1 + exp(-y_i z_i' w)),      S = U''^-1,
    k_i, l_i the third and fourth derivatives of the losses,        v_i = z_i' S z_i,

the cumulants of ``t' w`` follow from the expansion of U about the mode, with ``a_i = z_i' S t`` and the
shift ``m = -1/2 S sum_i k_i v_i z_i`` of the mean:

    mean       t' m
    variance   t' S t - 1/2 sum l_i v_i a_i^2 - sum k_i (z_i' m) a_i^2 + 1/2 |S^1/2' M S^1/2|^2,
                   M = sum_i k_i a_i z_i z_i'
    third      - sum k_i a_i^3
    fourth     - sum l_i a_i^4 + 3 u' S u,      u = sum_i k_i a_i^2 z_i

(one loop for mean and variance, trees for the others; Shun and McCullagh, Journal of the Royal
Statistical Society B 57, 1995).  Quantiles are those of Cornish and Fisher.  The norm of M is estimated
by random signs with a seed (Hutchinson), as it adds a few per cent at most.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from scipy.special import expit

from pairity.inspection.linear_part import LinearPart
from pairity.pairs.arrays import Matrix, Vector, batches
from pairity.training.kernel_posterior import at_a_time
from pairity.training.posterior import Parameters, Posterior
from pairity.training.read import Observations

#: Influences of rows on scores up to which shapes are looked at; beyond, tails are taken as normal.
_MOST_INFLUENCES = 100_000_000
#: Vectors of random signs at most and at least, and numbers that they may take.
_MOST_PROBES, _FEWEST_PROBES, _PROBE_NUMBERS = 20, 2, 400_000_000
#: An expansion that goes further than this is not trusted further.
_MOST_SKEWED, _MOST_PEAKED, _LEAST_STRETCH, _MOST_STRETCH = 0.8, 2.0, 0.8, 1.5


@dataclass(frozen=True, eq=False)
class Shape:
    """How values deviate from a normal distribution about their estimates; one entry each.

    ``shift`` is in units of the value, ``stretch`` the factor on its standard error, the others are
    skewness and excess kurtosis.
    """

    shift: Vector
    stretch: Vector
    skewness: Vector
    kurtosis: Vector

    @classmethod
    def normal(cls, number: int) -> Shape:
        """No deviation."""
        return cls(np.zeros(number), np.ones(number), np.zeros(number), np.zeros(number))

    def times(self, slope: float) -> Shape:
        """Of values times a factor."""
        skewness = np.sign(slope) * self.skewness
        return Shape(slope * self.shift, self.stretch, skewness, self.kurtosis)

    def offsets(self, errors: Vector, z: Any) -> Vector:
        """Quantile of the deviation where that of the standard normal is z (Cornish and Fisher)."""
        skew = self.skewness
        bent = z + (z**2 - 1.0) * skew / 6.0 + (z**3 - 3.0 * z) * self.kurtosis / 24.0
        bent -= (2.0 * z**3 - 5.0 * z) * skew**2 / 36.0
        return np.asarray(self.shift + errors * self.stretch * bent)

    def ends(self, errors: Vector, quantile: Any) -> tuple[Vector, Vector]:
        """Deviations at both ends of intervals; an estimate lies in its own."""
        low, high = (self.offsets(errors, sign * quantile) for sign in (-1.0, 1.0))
        return np.minimum(low, 0.0), np.maximum(high, 0.0)


def shape_of(
    known: Posterior | LinearPart,
    observed: Observations,
    decisions: Vector,
    roots: Matrix,
    *,
    mean_only: bool = False,
) -> Shape:
    """Shape of values with these roots, shape (r, q), of a logistic machine with few features.

    ``mean_only`` leaves all but the mean normal, where the variance is not that of the posterior.
    """
    span, number = known.span, roots.shape[1]
    if not isinstance(span, Parameters) or span.has_bias or len(roots) != len(span.factor):
        return Shape.normal(number)  # the last where there are new objects
    if len(observed) * number > _MOST_INFLUENCES:
        return Shape.normal(number)
    ahead, behind = expit(decisions), expit(-decisions)  # so that the third is odd, bit for bit
    bend = observed.weights * ahead * behind
    third, fourth = bend * (behind - ahead), bend * (1.0 - 6.0 * ahead * behind)
    half = np.sqrt(known.scale) * solve_triangular(span.factor, np.eye(len(roots)), lower=True)
    sums = _Sums(half, np.sqrt(known.scale) * half.T @ roots, len(observed))
    some = max(1, at_a_time(span.budget) // max(len(roots), number))
    for part in batches(len(observed), some):
        rows = span.rows[part]
        variance = sums.add_pull(rows, third[part])
        if not mean_only:
            sums.add(rows, variance, third[part], fourth[part])
    if mean_only:
        return replace(Shape.normal(number), shift=sums.directions.T @ sums.pull())
    return sums.shape(np.sqrt(known.scale * np.sum(roots**2, axis=0)))


class _Sums:
    """The sums of the formulas above, some rows at a time; ``half' half = S``."""

    def __init__(self, half: Matrix, directions: Matrix, n_rows: int) -> None:
        self.half, self.directions, self.inner = half, directions, half.T @ half
        r, q = directions.shape
        afford = _PROBE_NUMBERS // max(1, (n_rows + r) * q)
        n_probes = int(np.clip(afford, _FEWEST_PROBES, _MOST_PROBES))
        signs = np.random.default_rng(0).integers(0, 2, (r, n_probes)) * 2.0 - 1.0
        self.probes = half.T @ signs  # (r, p)
        self.probed = np.zeros((n_probes, r, q))
        self.pulled, self.squares = np.zeros(r), np.zeros((r, q))
        self.loop, self.third, self.fourth = np.zeros(q), np.zeros(q), np.zeros(q)

    def add_pull(self, rows: Any, third: Vector) -> Vector:
        """Rows with the third derivatives of their losses; returns the variances v_i."""
        through = rows @ self.inner
        variance = np.asarray(
            (rows.multiply(through) if sp.issparse(rows) else rows * through).sum(axis=1)
        ).ravel()
        self.pulled += rows.T @ (third * variance)
        return variance

    def add(self, rows: Any, variance: Vector, third: Vector, fourth: Vector) -> None:
        """Rows with their variances and the third and fourth derivatives of their losses."""
        moved = np.asarray(rows @ self.directions)
        squared = moved**2
        self.squares += rows.T @ (third[:, np.newaxis] * squared)
        self.loop -= 0.5 * ((fourth * variance) @ squared)
        self.third -= third @ (squared * moved)
        self.fourth -= fourth @ squared**2
        for place, along in enumerate((third[:, np.newaxis] * (rows @ self.probes)).T):
            self.probed[place] += rows.T @ (along[:, np.newaxis] * moved)

    def pull(self) -> Vector:
        """S^-1 m, with m the shift of the mean."""
        pull = -0.5 * self.pulled
        # m' S^-1 m: parameters together move by at most their standard errors, one each
        length = float(np.linalg.norm(self.half @ pull))
        return np.asarray(pull * min(1.0, np.sqrt(len(pull)) / max(length, 1e-300)))

    def shape(self, errors: Vector) -> Shape:
        """Cumulants over powers of the standard error, within what is trusted."""
        pull = self.pull()
        loop = self.loop - (self.inner @ pull) @ self.squares
        norms = [np.sum((self.half @ probed) ** 2, axis=0) for probed in self.probed]
        loop += 0.5 * np.mean(norms, axis=0)
        safe = np.where(errors > 0.0, errors, 1.0)
        stretch = np.sqrt(np.maximum(1.0 + loop / safe**2, 0.0))
        stretch = np.clip(stretch, _LEAST_STRETCH, _MOST_STRETCH)
        skewness = np.clip(self.third / (safe * stretch) ** 3, -_MOST_SKEWED, _MOST_SKEWED)
        fourth = self.fourth + 3.0 * np.sum((self.half @ self.squares) ** 2, axis=0)
        # at least that of a gamma distribution, so that quantiles stay in their order
        kurtosis = np.clip(fourth / (safe * stretch) ** 4, 1.5 * skewness**2, _MOST_PEAKED)
        return Shape(self.directions.T @ pull, stretch, skewness, kurtosis)
