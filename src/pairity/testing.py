"""Checks that users can run on their own kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pairity.kernels.algebra import Kernel
from pairity.kernels.classes import KernelLaws, measure_laws
from pairity.kernels.diffusion import Diffusion
from pairity.kernels.elementary import spread_sample
from pairity.kernels.object_kernels import Precomputed
from pairity.kernels.standardized import Rescaled, as_kernel
from pairity.pairs.data import Pairs
from pairity.runtime.validation import check_positive

__all__ = ["KernelReport", "check_pair_kernel"]

#: Sizes of the generated pairs: few enough for an instant answer.
_N_OBJECTS, _N_PAIRS = 9, 24
#: Object, symmetric and antisymmetric features of the generated pairs.
_WIDTHS = (3, 2, 2)
#: Standard deviation of the generated features: near enough for a Gaussian kernel to see.
_SPREAD = 0.5


def _law(name: str, says: str) -> Any:
    """A property: whether a law holds."""
    return property(lambda report: getattr(report.laws, name) <= report.tol, doc=says)


@dataclass(frozen=True)
class KernelReport:
    """Which laws of Section 3 a kernel obeys on some pairs, and by how much each is off.

    Deviations are relative to ``scale``, the largest entry of the Gram matrix of the pairs and
    their swaps; ``smallest_eigenvalue`` is that of the same matrix.  A law holds when its
    deviation is at most ``tol``.

    Examples
    --------
    >>> from pairity.kernels import Gaussian, Tensor
    >>> from pairity.testing import check_pair_kernel
    >>> check_pair_kernel(Tensor(Gaussian())).classes
    ('a', 'b', 'd')
    >>> check_pair_kernel(Gaussian()).balanced
    False
    """

    kernel: str  # as it prints
    n_pairs: int  # each looked at together with its swap
    laws: KernelLaws  # the measurements
    tol: float

    symmetric = _law("symmetry", "``K(x, y) = K(y, x)``, the first half of (a).")
    balanced = _law("balanced", "Law (b): ``K(ab, cd) = K(ab, dc)``.")
    skew_balanced = _law("skew_balanced", "Law (c): ``K(ab, cd) = -K(ab, dc)``.")
    order_invariant = _law("order_invariant", "Law (d): ``K(ab, cd) = K(ba, dc)``.")

    @property
    def positive_semidefinite(self) -> bool:
        """No eigenvalue below zero by more than rounding, the second half of (a)."""
        order = 2 * self.n_pairs
        return self.laws.smallest_eigenvalue >= -self.tol * self.laws.scale * order

    @property
    def pairwise(self) -> bool:
        """Class (a): symmetric and positive semi-definite on these pairs."""
        return bool(self.symmetric and self.positive_semidefinite)

    @property
    def smallest_eigenvalue(self) -> float:
        """Smallest eigenvalue of the Gram matrix on the pairs and their swaps."""
        return self.laws.smallest_eigenvalue

    @property
    def deviations(self) -> dict[str, float]:
        """By how much each law is off, relative to the largest entry."""
        names = ("symmetry", "balanced", "skew_balanced", "order_invariant")
        return {name: getattr(self.laws, name) for name in names}

    @property
    def classes(self) -> tuple[str, ...]:
        """Letters of the classes of Section 3; (b), (c) and (d) are pairwise kernels, so need (a)."""
        if not self.pairwise:
            return ()
        laws = {"b": self.balanced, "c": self.skew_balanced, "d": self.order_invariant}
        return ("a", *(letter for letter, holds in laws.items() if holds))

    def __str__(self) -> str:
        smallest = f"smallest {self.smallest_eigenvalue:.2e}"
        off = {name: f"off by {value:.2e}" for name, value in self.deviations.items()}
        rows = [
            ("symmetric        K(x,y) = K(y,x)", self.symmetric, off["symmetry"]),
            ("PSD              no eigenvalue < 0", self.positive_semidefinite, smallest),
            ("balanced         K(ab,cd) = K(ab,dc)", self.balanced, off["balanced"]),
            ("skew-balanced    K(ab,cd) = -K(ab,dc)", self.skew_balanced, off["skew_balanced"]),
            ("order-invariant  K(ab,cd) = K(ba,dc)", self.order_invariant, off["order_invariant"]),
        ]
        lines = [
            f"({letter}) {law:<38} {'yes' if holds else 'no':<4} {measured}"
            for letter, (law, holds, measured) in zip("aabcd", rows, strict=True)
        ]
        classes = ", ".join(f"({letter})" for letter in self.classes) or "none"
        heading = f"{self.kernel} on {self.n_pairs} pairs and their swaps: classes {classes}"
        return "\n".join([heading, *lines])


def check_pair_kernel(
    kernel: Any, pairs: Pairs | None = None, *, tol: float = 1e-9, seed: int = 0
) -> KernelReport:
    """Measure which of the classes (a)-(d) of Section 3 a kernel is in.

    A law that fails is disproved; a law that holds on some pairs may still fail on others.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A kernel of :mod:`pairity.kernels`, the name of a default one, or a function of two
        tables of whole rows ``X_ab``.
    pairs : Pairs, optional
        Pairs to measure on.  By default random ones, with group features of both kinds; for
        ``Precomputed`` they are row numbers of its matrix, for ``Bilinear(P)`` as wide as P, for
        ``Diffusion`` some of its arcs.
    tol : float
        Deviation, relative to the largest entry of the Gram matrix, up to which a law holds.
    seed : int
        Seed of the generated pairs.
    """
    kernel = as_kernel(kernel)
    check_positive(tol, "tol")
    if pairs is None:
        pairs = _random_pairs(kernel, np.random.default_rng(seed))
    if not isinstance(pairs, Pairs) or not len(pairs):
        raise ValueError(
            f"got pairs={pairs!r}; expected Pairs with at least one pair, or None for random ones:"
            " Pairs.from_rows makes them from wide rows."
        )
    pairs.refuse_large()
    kernel.check()
    kernel = kernel.fitted_to(pairs)
    return KernelReport(repr(kernel), len(pairs), measure_laws(kernel, pairs), float(tol))


def _random_pairs(kernel: Kernel, rng: np.random.Generator) -> Pairs:
    """Pairs that suit the kernel: distinct ends, normal features."""
    for inner in kernel.walk():
        if isinstance(inner, Diffusion):  # it knows no other pairs than its own
            return spread_sample(inner.arcs, _N_PAIRS)
    n_object, n_symmetric, n_antisymmetric = _widths(kernel)
    sizes = [len(k.gram_values) for k in kernel.walk() if isinstance(k, Precomputed)]
    if sizes:
        objects = np.arange(min(sizes), dtype=np.float64)[:, np.newaxis]
    else:
        objects = rng.normal(scale=_SPREAD, size=(_N_OBJECTS, n_object))
    m = len(objects)
    first = rng.integers(m, size=_N_PAIRS)
    second = (first + rng.integers(1, max(2, m), size=_N_PAIRS)) % m
    symmetric = rng.normal(scale=_SPREAD, size=(_N_PAIRS, n_symmetric))
    antisymmetric = rng.normal(scale=_SPREAD, size=(_N_PAIRS, n_antisymmetric))
    antisymmetric[first == second] = 0.0  # a single object leaves no other pair
    return Pairs(objects, first, second, symmetric, antisymmetric)


def _widths(kernel: Kernel) -> tuple[int, int, int]:
    """Numbers of object, symmetric and antisymmetric features that the kernel can take."""
    for inner in kernel.walk():
        if isinstance(inner, Rescaled):
            return inner.scaling.widths
    matrices = (inner.bilinear_matrix for inner in kernel.walk())
    width = next((len(matrix) for matrix in matrices if matrix is not None), None)
    if width is None:
        return _WIDTHS
    n_object = max(1, width // 4)
    n_group = max(0, width - 2 * n_object)
    return n_object, n_group // 2, n_group - n_group // 2
