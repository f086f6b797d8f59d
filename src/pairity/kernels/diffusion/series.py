"""Power series of a symmetric matrix, formula (56): on eigenvalues, and as products.

A series is used in two ways.  On eigenvalues it is a plain function f.  On vectors f(A) v is
summed in Chebyshev polynomials of A, one sparse product each: with |A| <= rho,

    f(strength A) = sum_k c_k T_k(A / rho),

where the coefficients c_k belong to f on [-reach, reach], reach = strength * rho.  Unlike an
estimate of norms by random vectors this takes the same steps every time.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.polynomial.chebyshev import poly2cheb
from numpy.polynomial.polynomial import polyval
from scipy.special import ive

from pairity.exceptions import KernelError
from pairity.pairs.arrays import Vector

#: Relative size below which Chebyshev coefficients are left out.
_NEGLIGIBLE = 1e-17
#: Reach of the exponential from which on double precision sees the largest eigenvalues alone.
LARGEST_REACH = 30.0


@dataclass(frozen=True)
class Exponential:
    """``exp(x)``, lambda_l = 1 / l!: positive for every symmetric matrix."""

    def on_spectrum(self, eigenvalues: Vector) -> Vector:
        """``exp(x)``."""
        return np.exp(eigenvalues)

    def chebyshev(self, reach: float) -> Vector:
        """``c_k = 2 I_k(reach)``, the modified Bessel functions."""
        order = np.arange(int(4.0 * reach) + 40)
        return _trimmed(ive(order, reach) * np.exp(reach))

    def refuse_reach(self, strength: float, radius: float) -> None:
        """The largest and smallest eigenvalues must both be seen in double precision."""
        if strength * radius > LARGEST_REACH:
            raise KernelError(
                f"got strength={strength:g} for base similarities of spectral radius {radius:.6g};"
                f" expected a product of at most {LARGEST_REACH:g}, beyond which exp() loses all but"
                " the leading eigenvectors: lower the strength or use normalise=True."
            )


@dataclass(frozen=True)
class VonNeumann:
    """``1 / (1 - x)``, lambda_l = 1: positive where it converges, for |x| < 1."""

    def on_spectrum(self, eigenvalues: Vector) -> Vector:
        """``1 / (1 - x)``."""
        return 1.0 / (1.0 - eigenvalues)

    def chebyshev(self, reach: float) -> Vector:
        """``c_k = 2 z^k / sqrt(1 - reach^2)`` with ``z = (1 - sqrt(1 - reach^2)) / reach``."""
        if reach == 0.0:
            return np.ones(1)
        root = np.sqrt((1.0 - reach) * (1.0 + reach))
        ratio = reach / (1.0 + root)
        length = int(np.ceil(np.log(_NEGLIGIBLE) / np.log(ratio))) + 1
        return _trimmed(ratio ** np.arange(length) / root)

    def refuse_reach(self, strength: float, radius: float) -> None:
        """The series converges below 1 over the spectral radius."""
        if not strength * radius < 1.0:
            raise KernelError(
                f"got strength={strength:g} for series='von_neumann'; expected less than"
                f" {1.0 / radius:.6g}, 1 over the spectral radius of the base similarities: lower it."
            )


@dataclass(frozen=True)
class Coefficients:
    """``lambda_0 + lambda_1 x + lambda_2 x^2 + ...``, a finite series."""

    values: tuple[float, ...]

    def on_spectrum(self, eigenvalues: Vector) -> Vector:
        """Value of the polynomial."""
        return np.asarray(polyval(eigenvalues, np.array(self.values)))

    def chebyshev(self, reach: float) -> Vector:
        """The polynomial in the Chebyshev basis."""
        powers = np.array(self.values) * reach ** np.arange(len(self.values))
        return np.asarray(poly2cheb(powers))

    def refuse_reach(self, strength: float, radius: float) -> None:
        """A finite series always converges."""

    def alternates_safely(self, reach: float) -> bool:
        """Whether ``lambda_(l+1) reach <= lambda_l``: then f >= 0 on [-reach, 0] as well."""
        values = np.array(self.values)
        return bool((values[1:] * reach <= values[:-1]).all())


#: Values on eigenvalues, Chebyshev coefficients of ``x -> f(reach x)`` on [-1, 1], and a refusal of
#: strengths at which the series diverges or says nothing.
Series: TypeAlias = Exponential | VonNeumann | Coefficients


def _trimmed(halves: Vector) -> Vector:
    """Twice the values, but for the first, up to the last one that counts."""
    kept = np.flatnonzero(halves > _NEGLIGIBLE * halves.max())[-1] + 1
    coefficients = 2.0 * halves[:kept]
    coefficients[0] = halves[0]
    return coefficients


def as_series(given: Any) -> Series:
    """A series from its name or from its coefficients."""
    if isinstance(given, str) and given in _NAMED:
        return _NAMED[given]
    if isinstance(given, tuple | list | np.ndarray) and len(given):
        numeric = all(isinstance(value, numbers.Real) for value in given)
        if numeric and np.isfinite(given).all() and np.min(given) >= 0.0 and np.max(given) > 0.0:
            return Coefficients(tuple(float(value) for value in given))
    raise KernelError(
        f"got series={given!r}; expected 'exponential', 'von_neumann', or the coefficients (lambda_0,"
        " lambda_1, ...) of (56), finite, not negative and not all 0."
    )


_NAMED: dict[str, Series] = {"exponential": Exponential(), "von_neumann": VonNeumann()}


def apply_series(
    series: Series, matrix: sp.csr_array, strength: float, radius: float, vectors: Vector
) -> Vector:
    """``f(strength * matrix) @ vectors`` for a symmetric matrix of that spectral radius."""
    coefficients = series.chebyshev(strength * radius)
    doubled = matrix * (2.0 / radius if radius else 0.0)
    before, now = vectors, 0.5 * (doubled @ vectors)
    total = coefficients[0] * before
    for coefficient in coefficients[1:]:
        total += coefficient * now
        following = doubled @ now
        following -= before
        before, now = now, following
    return total
