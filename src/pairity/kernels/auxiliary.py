"""The auxiliary graph of Section 7.4: base similarities of arcs, and power series of them, (56).

Nodes are arcs; two arcs that share an object are joined and weighted by a balanced or skew-balanced
kernel.  The weights are a sparse symmetric matrix A, the calligraphic K of (56).

A series is used in two ways.  On eigenvalues it is a plain function f.  On vectors f(A) v is
summed in Chebyshev polynomials of A, one sparse product each: with |A| <= rho,

    f(strength A) = sum_k c_k T_k(A / rho),

where the coefficients c_k belong to f on [-reach, reach], reach = strength * rho.  Unlike an
estimate of norms by random vectors this takes the same steps every time.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.polynomial.chebyshev import poly2cheb
from numpy.polynomial.polynomial import polyval
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, eigsh
from scipy.special import ive

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import PairedAtoms
from pairity.pairs.arrays import Matrix, Places, Vector, batches
from pairity.pairs.parity import Parity
from pairity.runtime.resources import run_in_ranges

if TYPE_CHECKING:
    from pairity.kernels.diffusion import ArcSet

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
        return _trimmed(_powers(ratio, length) / root)

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
        return np.asarray(poly2cheb(np.array(self.values) * _powers(reach, len(self.values))))

    def refuse_reach(self, strength: float, radius: float) -> None:
        """A finite series always converges."""

    def alternates_safely(self, reach: float) -> bool:
        """Whether ``lambda_(l+1) reach <= lambda_l``: then f >= 0 on [-reach, 0] as well."""
        values = np.array(self.values)
        return bool((values[1:] * reach <= values[:-1]).all())


#: Values on eigenvalues, Chebyshev coefficients of ``x -> f(reach x)`` on [-1, 1], and a refusal of
#: strengths at which the series diverges or says nothing.
Series: TypeAlias = Exponential | VonNeumann | Coefficients


def _powers(base: float, length: int) -> Vector:
    """1, base, base^2, ... as products, which are the same on every processor."""
    return np.cumprod(np.concatenate([[1.0], np.full(length - 1, base)]))


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


# The graph --------------------------------------------------------------------------------------

#: Up to this many arcs the whole diffusion matrix is kept; beyond it columns come from products.
DENSE_ARCS = 8000
#: Up to this many arcs all eigenvalues are quicker than the two outermost ones alone.
_SMALL = 300
#: Base similarities evaluated at a time.
_ENTRIES = 100_000
#: Sparse work per entry of the matrix, in units of products, up to which eigenvalues cost more.
_PRODUCTS_PAY = 0.9
#: Columns of the diffusion matrix computed at a time.
_COLUMNS = 64


class Spectrum(NamedTuple):
    """Eigenvalues, ascending, and eigenvectors as columns."""

    values: Matrix  # (n,)
    vectors: Matrix  # (n, n)


class AuxiliaryGraph:
    """Base similarities between arcs, and what is derived from them once.

    The kernel is balanced or skew-balanced, as ``parity`` says; mask, self-loops and normalisation
    are those of :class:`Diffusion`.  Normalised, the spectral radius is at most 1.
    """

    def __init__(
        self,
        kernel: Kernel,
        parity: Parity,
        arcs: ArcSet,
        mask: str,
        self_loops: bool,
        normalise: bool,
    ) -> None:
        self.kernel, self.parity, self.arcs, self.normalised = kernel, parity, arcs, normalise
        #: Whether the matrix is positive semi-definite for certain: K o (B'B), by Schur's theorem.
        self.nonnegative = mask == "count" and self_loops
        self.matrix = _similarities(kernel, arcs, 0.5 if mask == "count" else 1.0, self_loops)
        if normalise:
            self.matrix = _degree_normalised(self.matrix)
        self._lock = RLock()
        self._dense: tuple[Series, float, Matrix] | None = None

    def __len__(self) -> int:
        return len(self.arcs)

    @cached_property
    def outermost(self) -> tuple[float, float]:
        """Smallest and largest eigenvalue."""
        if len(self) <= _SMALL:
            values = np.linalg.eigvalsh(self.matrix.toarray())
            return float(values[0]), float(values[-1])
        start = np.random.default_rng(0).normal(size=len(self))
        try:
            values = eigsh(self.matrix, k=2, which="BE", v0=start, return_eigenvectors=False)
        except ArpackError:  # a bound does as well, if it is not too wide
            bound = float(np.abs(self.matrix).sum(axis=1).max())
            return -bound, bound
        return float(values.min()), float(values.max())

    @cached_property
    def radius(self) -> float:
        """Spectral radius, with room for rounding; 1.0 when normalised."""
        if self.normalised:
            return 1.0
        return max(map(abs, self.outermost)) * (1.0 + 1e-10)

    @cached_property
    def spectrum(self) -> Spectrum:
        """All eigenvalues and eigenvectors."""
        values, vectors = eigh(
            self.matrix.toarray(order="F"), driver="evd", overwrite_a=True, check_finite=False
        )
        return Spectrum(values, vectors)

    def apply(self, series: Series, strength: float, vectors: Matrix) -> Matrix:
        """``f(strength K) vectors``, through sparse products."""
        return apply_series(series, self.matrix, strength, self.radius, vectors)

    def dense(self, series: Series, strength: float) -> Matrix:
        """The whole matrix ``f(strength K)``, symmetric to the last bit; the last one is kept."""
        with self._lock:
            if self._dense is None or self._dense[:2] != (series, strength):
                self._dense = None  # make room
                work = len(series.chebyshev(strength * self.radius)) * self.matrix.nnz
                if "spectrum" in self.__dict__ or work > _PRODUCTS_PAY * len(self) ** 2:
                    matrix = self._dense_from_spectrum(series, strength)
                else:
                    matrix = self._dense_from_products(series, strength)
                self._dense = series, strength, matrix
            return self._dense[2]

    def _dense_from_spectrum(self, series: Series, strength: float) -> Matrix:
        values = series.on_spectrum(strength * self.spectrum.values)
        # rounding below zero is cut off: anything more was refused before
        factor = self.spectrum.vectors * np.sqrt(np.maximum(values, 0.0))
        return factor @ factor.T

    def _dense_from_products(self, series: Series, strength: float) -> Matrix:
        """Columns through sparse products, on all cores; what rounding leaves apart is averaged."""
        matrix = np.empty((len(self), len(self)))

        def fill(start: int, stop: int) -> None:
            matrix[:, start:stop] = self._columns(series, strength, np.arange(start, stop))

        run_in_ranges(fill, len(self), _COLUMNS)
        for part in batches(len(self), _COLUMNS):
            mean = (matrix[part, part.start :] + matrix[part.start :, part].T) * 0.5
            matrix[part, part.start :] = mean
            matrix[part.start :, part] = mean.T
        return matrix

    def _columns(self, series: Series, strength: float, chosen: Places) -> Matrix:
        """Some columns of ``f(strength K)``, shape (n, columns)."""
        unit = np.zeros((len(self), len(chosen)))
        unit[chosen, np.arange(len(chosen))] = 1.0
        return self.apply(series, strength, unit)

    def entries(self, series: Series, strength: float, rows: Places, columns: Places) -> Matrix:
        """Entries of ``f(strength K)`` for some rows and columns."""
        if len(self) <= DENSE_ARCS:
            return self.dense(series, strength)[np.ix_(rows, columns)]
        if len(rows) < len(columns):
            return self.entries(series, strength, columns, rows).T
        distinct, inverse = np.unique(columns, return_inverse=True)
        entries = np.empty((len(rows), len(distinct)))
        for part in batches(len(distinct), _COLUMNS):
            entries[:, part] = self._columns(series, strength, distinct[part])[rows]
        return entries[:, inverse]

    def paired_entries(
        self, series: Series, strength: float, rows: Places, columns: Places
    ) -> Matrix:
        """Entries of ``f(strength K)``, row by row."""
        if len(self) <= DENSE_ARCS:
            return self.dense(series, strength)[rows, columns]
        entries = np.empty(len(rows))
        for part in batches(len(rows), _COLUMNS):
            block = self.entries(series, strength, rows[part], columns[part])
            entries[part] = np.diagonal(block)
        return entries


def _similarities(kernel: Kernel, arcs: ArcSet, weight: float, with_diagonal: bool) -> sp.csr_array:
    """``weight * K_ij`` for arcs that share an object, ``K_ii`` or 0 on the diagonal."""
    left, right = arcs.sharing()
    values = weight * _evaluated(kernel, arcs, left, right)
    everyone = np.arange(len(arcs))
    own = _evaluated(kernel, arcs, everyone, everyone) if with_diagonal else np.zeros(len(arcs))
    entries = np.concatenate([values, values, own])
    rows = np.concatenate([left, right, everyone])
    columns = np.concatenate([right, left, everyone])
    return sp.csr_array((entries, (rows, columns)), shape=(len(arcs), len(arcs)))


def _evaluated(kernel: Kernel, arcs: ArcSet, left: Places, right: Places) -> Matrix:
    """``K(i, j)`` for the pairs of nodes listed."""
    values = np.empty(len(left))
    for part in batches(len(left), _ENTRIES):
        atoms = PairedAtoms(arcs.pairs[left[part]], arcs.pairs[right[part]])
        values[part] = kernel.formula(atoms)
    return values


def _degree_normalised(matrix: sp.csr_array) -> sp.csr_array:
    """``D^-1/2 A D^-1/2`` with ``D_ii = sum_j |A_ij|``: absolute values, so that order is no matter."""
    degree = np.asarray(np.abs(matrix).sum(axis=1)).ravel()
    scale = 1.0 / np.sqrt(np.where(degree == 0.0, 1.0, degree))
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    data = matrix.data * (scale[row] * scale[matrix.indices])
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
