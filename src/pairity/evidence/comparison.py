"""Symmetric, antisymmetric, mixed or none: models of the same kernel on pairs held out.

Every model is kernel ridge regression on the rows as they are written, with the kernel

    c + e K^b + o K^s

of a constant, the balanced (6) and the skew-balanced (7) part of the same kernel, both brought to
mean diagonal 1:

=========================  ============================================================
``symmetric``              c, e = 1, o = 0
``antisymmetric``          c = 0, e = 0, o = 1
``antisymmetric + order``  c, e = 0, o = 1: who is written first has a constant advantage
``none``                   c, and the two parts as strong as they are in the kernel
``mixed``                  any of these, or e or o = 0.1, whatever suits training pairs best
=========================  ============================================================

Penalties are chosen on training pairs alone, by leaving one unordered pair out at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairity.evidence.ridge import fit_ridge, units_by_size
from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.classes import project
from pairity.pairs import Pairs
from pairity.parity import Parity

__all__ = ["BASELINES", "MODELS", "Comparison", "Difference", "ModelScore", "compare_models"]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Weights = tuple[float, float, float]  # of the constant, the even and the odd part
Folds = Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]]

#: What needs no features: 0 for every pair, and the mean of the training targets.
BASELINES = ("nothing", "constant")
MODELS = ("symmetric", "antisymmetric", "antisymmetric + order", "mixed", "none")
#: Standard errors up to which a difference is in doubt, and share of the error that is a trifle.
DOUBT, TRIFLE = 2.5, 0.01
#: Weight of the constant: so large that it is hardly penalised.
_CONSTANT_WEIGHT = 10.0
_PURE: dict[str, Weights] = {
    "symmetric": (_CONSTANT_WEIGHT, 1.0, 0.0),
    "antisymmetric": (0.0, 0.0, 1.0),
    "antisymmetric + order": (_CONSTANT_WEIGHT, 0.0, 1.0),
}
_MIXTURES: list[Weights] = [(_CONSTANT_WEIGHT, 1.0, 0.1), (_CONSTANT_WEIGHT, 0.1, 1.0)]


@dataclass(frozen=True, eq=False)
class ModelScore:
    """A model on the pairs held out: predictions, mean squared error, share of signs right.

    A prediction of exactly 0 counts one half.
    """

    name: str
    predictions: Vector
    error: float
    share_right: float


@dataclass(frozen=True)
class Difference:
    """Mean difference of squared errors, left minus right, and its standard error."""

    mean: float
    standard_error: float

    @property
    def steps(self) -> float:
        """In standard errors; 0 where there is no difference at all."""
        if self.mean == 0.0:
            return 0.0
        return self.mean / self.standard_error if self.standard_error > 0.0 else np.inf


@dataclass(frozen=True, eq=False)
class Comparison:
    """Models of one kernel, fitted to the same folds and scored on the same held-out pairs.

    Attributes
    ----------
    scores : dict of str to ModelScore
        ``nothing`` (0), ``constant`` (the mean of the training targets) and the models by name.
    targets : ndarray
        Targets of the rows held out.
    units : ndarray of int
        Unordered pairs of these rows: what standard errors are taken over.
    odd_share : float
        Share of the odd part in the held-out predictions of the mixed model.
    strengths : tuple of float
        Strengths of the even and odd part that the mixed model chose most often, the larger one
        being 1: those of :class:`pairity.kernels.Mixed`.
    """

    scores: dict[str, ModelScore]
    targets: Vector
    units: NDArray[np.intp]
    odd_share: float
    strengths: tuple[float, float]

    def is_better(self, left: str, right: str) -> bool:
        """Whether a model's error is lower beyond doubt, and by more than a trifle."""
        gain = self.difference(right, left)
        return gain.steps > DOUBT and gain.mean > TRIFLE * self.scores[right].error

    def difference(self, left: str, right: str) -> Difference:
        """How much larger the squared error of one model is, on the same rows.

        The standard error is that of a mean over unordered pairs, whose rows go together.
        """
        errors = [(self.scores[name].predictions - self.targets) ** 2 for name in (left, right)]
        gap = errors[0] - errors[1]
        mean, n_units = float(gap.mean()), len(np.unique(self.units))
        if n_units < 2:
            return Difference(mean, np.inf)
        sums = np.bincount(self.units, gap - mean)
        variance = n_units / (n_units - 1.0) * float(sums @ sums) / len(gap) ** 2
        return Difference(mean, float(np.sqrt(variance)))


@dataclass(frozen=True, eq=False)
class KernelParts:
    """Gram matrices of the even and the odd part, each of mean diagonal 1."""

    even: Matrix
    odd: Matrix
    even_share: float  # of the even part in the diagonal of the kernel as it is

    @classmethod
    def of(cls, kernels: Sequence[Kernel], pairs: Pairs) -> KernelParts:
        """Mean of several kernels, none of them louder than the others."""
        parts = []
        for parity in (Parity.EVEN, Parity.ODD):
            grams = [project(kernel, parity, pairs).gram(pairs) for kernel in kernels]
            parts.append((grams, [float(np.mean(np.diagonal(gram))) for gram in grams]))
        (even, even_sizes), (odd, odd_sizes) = parts
        if not any(even_sizes) and not any(odd_sizes):
            raise KernelError(
                f"got {kernels[0]!r}, which is zero on these pairs; expected features that vary: add"
                " columns that tell the pairs apart."
            )
        shares = [e / (e + o) for e, o in zip(even_sizes, odd_sizes, strict=True) if e + o > 0.0]
        return cls(_mean(even, even_sizes), _mean(odd, odd_sizes), float(np.mean(shares)))

    def gram(self, weights: Weights, rows: NDArray[np.intp]) -> Matrix:
        """``c + e K^b + o K^s`` between some of the pairs."""
        constant, even, odd = weights
        block = np.ix_(rows, rows)
        return constant + even * self.even[block] + odd * self.odd[block]

    def strengths(self, weights: Weights) -> tuple[float, float]:
        """Weights of the parts as they are in the kernel, the larger one being 1."""
        even = weights[1] / self.even_share if self.even_share > 0.0 else 0.0
        odd = weights[2] / (1.0 - self.even_share) if self.even_share < 1.0 else 0.0
        larger = max(even, odd) or 1.0
        return even / larger, odd / larger

    def predict(
        self, weights: Weights, theta: Vector, train: NDArray[np.intp], test: NDArray[np.intp]
    ) -> tuple[Vector, Vector]:
        """Even (with the constant) and odd part of the predictions."""
        constant, even, odd = weights
        block = np.ix_(test, train)
        even_part = constant * theta.sum() + even * (self.even[block] @ theta)
        return even_part, odd * (self.odd[block] @ theta)


def _mean(grams: list[Matrix], sizes: list[float]) -> Matrix:
    total = np.zeros_like(grams[0])
    for gram, size in zip(grams, sizes, strict=True):
        total += gram / (size if size > 0.0 else 1.0)
    return total / len(grams)


def compare_models(
    kernels: Sequence[Kernel], pairs: Pairs, targets: Vector, units: NDArray[np.intp], folds: Folds
) -> Comparison:
    """Fit every model to every training fold and predict the pairs held out."""
    parts = KernelParts.of(kernels, pairs)
    plain = (_CONSTANT_WEIGHT, parts.even_share, 1.0 - parts.even_share)
    wanted = [*_PURE.values(), *_MIXTURES, plain]
    predictions: dict[str, list[Vector]] = {name: [] for name in (*BASELINES, *MODELS)}
    rows, chosen, mixed_parts = [], [], []
    for train, test in folds:
        by_size = units_by_size(units[train])
        fits = {w: fit_ridge(parts.gram(w, train), targets[train], by_size) for w in wanted}
        best = min(wanted, key=lambda w: fits[w].left_out_error)
        chosen.append(best)
        rows.append(test)
        predictions["nothing"].append(np.zeros(len(test)))
        predictions["constant"].append(np.full(len(test), targets[train].mean()))
        for name, weights in [*_PURE.items(), ("mixed", best), ("none", plain)]:
            even, odd = parts.predict(weights, fits[weights].theta, train, test)
            predictions[name].append(even + odd)
            if name == "mixed":
                mixed_parts.append((even, odd))
    held = np.concatenate(rows)
    even, odd = (np.concatenate(side) for side in zip(*mixed_parts, strict=True))
    size = float(even @ even + odd @ odd)
    return Comparison(
        scores={
            name: _score(name, np.concatenate(values), targets[held])
            for name, values in predictions.items()
        },
        targets=targets[held],
        units=units[held],
        odd_share=float(odd @ odd) / size if size > 0.0 else float("nan"),
        strengths=parts.strengths(Counter(chosen).most_common(1)[0][0]),
    )


def _score(name: str, predictions: Vector, targets: Vector) -> ModelScore:
    credit = np.where(predictions == 0.0, 0.5, (predictions > 0) == (targets > 0))
    return ModelScore(
        name, predictions, float(np.mean((predictions - targets) ** 2)), float(np.mean(credit))
    )
