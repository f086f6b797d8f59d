"""Symmetric, antisymmetric, mixed or none: pairs seen in both orders, models on pairs held out.

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
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.stats import binomtest
from sklearn.utils.validation import column_or_1d

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.classes import project
from pairity.pairs.arrays import Places, Vector
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity
from pairity.pairs.same_objects import Ends
from pairity.runtime.validation import distinct_labels, refuse_large_targets, refuse_lossy

Weights = tuple[float, float, float]  # of the constant, the even and the odd part
Folds = Iterable[tuple[Places, Places]]

#: Penalties tried, relative to the mean of the diagonal.
_PENALTIES = 10.0 ** np.arange(-3.0, 2.5)
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
class Targets:
    """Numbers for the rows: -1.0 and +1.0 for two labels, as they are for real targets.

    ``labels`` are the values that -1.0 and +1.0 stand for, one of them where all rows have the
    same; None for real targets.
    """

    values: Vector
    labels: NDArray[Any] | None

    @property
    def are_labels(self) -> bool:
        """Whether the targets are labels."""
        return self.labels is not None

    @property
    def one_label(self) -> bool:
        """Whether all rows have the same label."""
        return self.labels is not None and len(self.labels) == 1


def read_targets(y: Any, n_pairs: int) -> Targets:
    """Two values (or one) are labels, more are real targets."""
    refuse_lossy(y, "y")
    values = column_or_1d(y)
    if len(values) != n_pairs:
        raise ValueError(
            f"got {len(values)} labels or targets for {n_pairs} pairs; expected one per pair."
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError("got NaN or infinity in y; expected numbers: drop or fill those rows.")
    labels = distinct_labels(values, "y")
    if len(labels) <= 2:
        return Targets(np.where(values == labels[-1], 1.0, -1.0), labels)
    if values.dtype.kind not in "iuf":
        raise ValueError(
            f"got {len(labels)} labels {labels[:5].tolist()}; expected two labels, or numbers: leave"
            " draws out, or write outcomes as numbers such as -1, 0 and 1."
        )
    with np.errstate(over="ignore"):  # beyond float64 is too large as well
        numbers = values.astype(np.float64)
    refuse_large_targets(numbers)
    return Targets(numbers, None)


@dataclass(frozen=True)
class MirroredPairs:
    """Observations of the same two objects in both orders, matched one to one.

    Two labels agree when they are equal.  Two numbers agree when they are on the same side of
    the median of all that are compared; one that is equal to it says nothing.

    Attributes
    ----------
    n_pairs : int
        Unordered pairs that were observed in both orders.
    n_agree, n_opposite : int
        Matches, one observation in each order, that agree and that are opposite.
    p_value : float
        Exact two-sided binomial test of agreement against one half, the rate for a function
        whose even and odd parts are equally strong; 1.0 without matches.
    """

    n_pairs: int
    n_agree: int
    n_opposite: int
    p_value: float

    @property
    def n_matches(self) -> int:
        """Matches that say something."""
        return self.n_agree + self.n_opposite

    @property
    def leans(self) -> str | None:
        """Which law most matches speak for, if any."""
        if self.n_agree == self.n_opposite:
            return None
        return "symmetric" if self.n_agree > self.n_opposite else "antisymmetric"

    def __str__(self) -> str:
        if not self.n_pairs:
            return "no pair was observed in both orders"
        if not self.n_matches:
            return f"{self.n_pairs} pairs were observed in both orders, but say nothing"
        return (
            f"{self.n_pairs} pairs were observed in both orders: {self.n_agree} of {self.n_matches}"
            f" matches agree, {self.n_opposite} are opposite (exact binomial test against one half:"
            f" p = {self.p_value:.2g})"
        )


def compare_mirrored(ends: Ends, targets: Targets) -> MirroredPairs:
    """Match observations of each unordered pair in its two orders, and count."""
    there, back = match_orders(ends)
    n_pairs = len(np.unique(ends.unordered()[there]))
    compared = targets.values[np.concatenate([there, back])]
    middle = 0.0 if targets.are_labels or not len(compared) else float(np.median(compared))
    product = np.sign(targets.values[there] - middle) * np.sign(targets.values[back] - middle)
    n_agree, n_opposite = int(np.sum(product > 0)), int(np.sum(product < 0))
    total = n_agree + n_opposite
    p_value = float(binomtest(n_agree, total).pvalue) if total else 1.0
    return MirroredPairs(n_pairs, n_agree, n_opposite, p_value)


def match_orders(ends: Ends) -> tuple[Places, Places]:
    """Rows (a, b) and rows (b, a) matched one to one, in the order of the rows."""
    forward = np.flatnonzero(ends.first < ends.second)
    backward = np.flatnonzero(ends.first > ends.second)
    unordered = ends.unordered()
    left, right = (_with_rank(unordered[rows], len(ends)) for rows in (forward, backward))
    _, there, back = np.intersect1d(left, right, assume_unique=True, return_indices=True)
    return forward[there], backward[back]


def _with_rank(codes: Places, most: int) -> Places:
    """Unique numbers: the code, and which occurrence of it this is."""
    order = np.argsort(codes, kind="stable")
    ordered, rank = codes[order], np.empty_like(codes)
    rank[order] = np.arange(len(codes)) - np.searchsorted(ordered, ordered)
    return codes * (most + 1) + rank


# Models -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """``f = K theta`` with the penalty that predicts pairs left out best.

    ``left_out_error`` is the mean squared error on the unordered pairs left out one at a time.
    """

    theta: Vector
    penalty: float
    left_out_error: float


def units_by_size(units: Places) -> list[Places]:
    """Rows of the units, one array of shape (units, rows in each) for each size of unit."""
    _, codes, sizes = np.unique(units, return_inverse=True, return_counts=True)
    order = np.argsort(codes.reshape(-1), kind="stable")
    starts = np.cumsum(sizes) - sizes
    return [
        order[starts[sizes == size][:, np.newaxis] + np.arange(size)] for size in np.unique(sizes)
    ]


def fit_ridge(gram: Vector, targets: Vector, rows_of_units: list[Places]) -> RidgeFit:
    """Solve ``(K + penalty) theta = y`` for every penalty by one eigendecomposition.

    Without the rows u of a unit the prediction error on them is ``[A^-1]_uu^-1 theta_u`` with
    ``A = K + penalty``: exact, and no refit is needed.
    """
    eigenvalues, vectors = eigh(gram, driver="evd")
    eigenvalues = np.maximum(eigenvalues, 0.0)
    scale = float(np.mean(np.diagonal(gram)))
    rotated = vectors.T @ targets
    fits = []
    for penalty in _PENALTIES * (scale if scale > 0.0 else 1.0):
        weights = 1.0 / (eigenvalues + penalty)
        theta = vectors @ (weights * rotated)
        total = 0.0
        for rows in rows_of_units:  # (units, size)
            picked = vectors[rows]  # (units, size, n)
            inverse = (picked * weights) @ np.swapaxes(picked, 1, 2)
            residual = np.asarray(np.linalg.solve(inverse, theta[rows][:, :, np.newaxis]))
            total += float(np.sum(residual**2))
        fits.append(RidgeFit(theta, float(penalty), total / len(theta)))
    return min(fits, key=lambda fit: fit.left_out_error)


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
        if self.standard_error > 0.0:
            return self.mean / self.standard_error
        return float(np.copysign(np.inf, self.mean))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Models of one kernel, fitted to the same folds and scored on the same held-out pairs.

    Attributes
    ----------
    scores : dict of str to ModelScore
        ``nothing`` (0), ``constant`` (the mean of the training targets) and the models by name.
    targets, units : ndarray
        Targets of the rows held out, and their unordered pairs: standard errors are over these.
    odd_share : float
        Share of the odd part in the held-out predictions of the mixed model.
    strengths : tuple of float
        Strengths of the even and odd part that the mixed model chose most often, the larger one
        being 1: those of :class:`pairity.kernels.Mixed`.
    """

    scores: dict[str, ModelScore]
    targets: Vector
    units: Places
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
        worse, better = self.scores[left].predictions, self.scores[right].predictions
        gap = (worse - self.targets) ** 2 - (better - self.targets) ** 2
        mean, n_units = float(gap.mean()), len(np.unique(self.units))
        if n_units < 2:
            return Difference(mean, np.inf)
        sums = np.bincount(self.units, gap - mean)
        variance = n_units / (n_units - 1.0) * float(sums @ sums) / len(gap) ** 2
        return Difference(mean, float(np.sqrt(variance)))


@dataclass(frozen=True, eq=False)
class KernelParts:
    """Gram matrices of the even and the odd part, each of mean diagonal 1."""

    even: Vector
    odd: Vector
    even_share: float  # of the even part in the diagonal of the kernel as it is

    @classmethod
    def of(cls, kernels: Sequence[Kernel], pairs: Pairs) -> KernelParts:
        """Mean of several kernels, none of them louder than the others."""
        sizes, means = [], []
        for parity in (Parity.EVEN, Parity.ODD):
            grams = [project(kernel, parity, pairs).gram(pairs) for kernel in kernels]
            sizes.append([float(np.mean(np.diagonal(gram))) for gram in grams])
            scaled = (g / (s if s > 0.0 else 1.0) for g, s in zip(grams, sizes[-1], strict=True))
            means.append(sum(scaled, np.zeros_like(grams[0])) / len(grams))
        shares = [even / (even + odd) for even, odd in zip(*sizes, strict=True) if even + odd > 0.0]
        if not shares:
            raise KernelError(
                f"got {kernels[0]!r}, which is zero on these pairs; expected features that vary: add"
                " columns that tell the pairs apart."
            )
        return cls(means[0], means[1], float(np.mean(shares)))

    def gram(self, weights: Weights, rows: Places) -> Vector:
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
        self, weights: Weights, theta: Vector, train: Places, test: Places
    ) -> tuple[Vector, Vector]:
        """Even (with the constant) and odd part of the predictions."""
        constant, even, odd = weights
        block = np.ix_(test, train)
        even_part = constant * theta.sum() + even * (self.even[block] @ theta)
        return even_part, odd * (self.odd[block] @ theta)


def compare_models(
    kernels: Sequence[Kernel], pairs: Pairs, targets: Vector, units: Places, folds: Folds
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
        scores={name: _score(name, values, targets[held]) for name, values in predictions.items()},
        targets=targets[held],
        units=units[held],
        odd_share=float(odd @ odd) / size if size > 0.0 else float("nan"),
        strengths=parts.strengths(Counter(chosen).most_common(1)[0][0]),
    )


def _score(name: str, folds: list[Vector], targets: Vector) -> ModelScore:
    predictions = np.concatenate(folds)
    credit = np.where(predictions == 0.0, 0.5, (predictions > 0) == (targets > 0))
    error = float(np.mean((predictions - targets) ** 2))
    return ModelScore(name, predictions, error, float(np.mean(credit)))
