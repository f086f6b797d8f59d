"""Leading modes of a pair kernel: few explicit features that carry most of it.

With ``K = U diag(lam) U'`` the Gram matrix of the objects, tensor and metric-learning kernels are
sums over pairs of eigenvectors,

    w/2 (K_ac K_bd +- K_ad K_bc) = w   sum_ij lam_i lam_j p_ij(ab) p_ij(cd),
                                       p_ij(ab) = (U_ai U_bj +- U_aj U_bi) / 2,
    1/4 (K_ac - K_ad - K_bc + K_bd)^2 = 1/4 sum_ij lam_i lam_j p_ij(ab) p_ij(cd),
                                       p_ij(ab) = (U_ai - U_bi) (U_aj - U_bj).

Keeping the modes with the largest weights leaves d features whose products with vectors go
through the m x r matrix of eigenvectors.  For any other kernel the features come from landmark
pairs L (Nystroem), in whose span the kernel is ``K(., L) K(L, L)^+ K(L, .)``.

Validation of many pairs is rough, and products with a matrix of all of them take most of its time:
with as many features as landmarks every solver works on parameters (:mod:`pairity.solvers.primal`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.operators._operator_loops import fill_principal_features
from pairity.operators.explicit_rows import ExplicitFeatures
from pairity.operators.operator import KernelOperator, Rows
from pairity.operators.pair_operator import PairOperator
from pairity.operators.principal import leading_eigenvectors
from pairity.operators.products import BilinearSum, PairSums, sample_pairs
from pairity.operators.spectral import centred
from pairity.pairs.arrays import Matrix, Places, Vector, sums_at
from pairity.pairs.data import Pairs
from pairity.runtime.resources import Budget, megabytes_of, run_in_ranges

#: Eigenvectors of the object Gram matrix that are looked at, at most and at least.
_MOST_VECTORS, _LEAST_VECTORS = 320, 64
#: Pairs whose features one range of work covers.
_PAIRS_PER_RANGE = 4096
#: Share of nonzero entries above which coefficients are better off in a full matrix.
_DENSE_SHARE = 0.02
#: Modes smaller than this, relative to the largest, are rounding.
_NEGLIGIBLE = 1e-14
#: What is added to the diagonal between landmarks, in units of its sum: less than that is rounding.
_JITTER, _JITTER_SINGLE = 1e-10, 1e-8
#: Tables of the size of the features of landmarks that are held at once.
_FEATURE_TABLES = 3.0


@dataclass(frozen=True)
class EigenModes:
    """Features ``scale_t p_ij(ab)`` of chosen pairs i <= j of object eigenvectors, in order of i."""

    pairs: Pairs
    sign: float  # of what a swap of i and j adds
    is_metric: bool
    vectors: Matrix  # (m, r)
    first: Places  # (d,) i of each mode
    second: Places
    scale: Vector

    @property
    def n_modes(self) -> int:
        """How many features."""
        return len(self.scale)

    def _coefficients(self, vector: Vector) -> Any:
        """V with ``V[a, b] = v_ab``, full or sparse, whichever multiplies faster."""
        size = self.pairs.n_objects
        first, second = self.pairs.first, self.pairs.second
        if len(vector) > _DENSE_SHARE * size * size:
            return sums_at(first * size + second, vector, size * size).reshape(size, size)
        return sp.csr_array((vector, (first, second)), shape=(size, size))

    def reduce(self, vector: Vector) -> Vector:
        """``U' V U`` at the chosen places; the graph Laplacian of V for the metric."""
        core = self.vectors.T @ (self._coefficients(vector) @ self.vectors)
        if self.is_metric:
            core = (self.vectors.T * self._degrees(vector)) @ self.vectors - core - core.T
            return self.scale * core[self.first, self.second]
        both = core[self.first, self.second] + self.sign * core[self.second, self.first]
        return 0.5 * self.scale * both

    def _degrees(self, vector: Vector) -> Vector:
        ends = np.concatenate([self.pairs.first, self.pairs.second])
        return sums_at(ends, np.concatenate([vector, vector]), self.pairs.n_objects)

    def expand(self, weights: Vector) -> Vector:
        """``[U W U']_ab``, with the diagonal for the metric."""
        size = self.vectors.shape[1]
        core = np.zeros((size, size))
        core[self.first, self.second] = self.scale * weights
        left = self.vectors @ (0.5 * (core + self.sign * core.T))
        diagonal, table = np.zeros(self.pairs.n_objects), left
        if self.is_metric:
            diagonal, table = np.einsum("ai,ai->a", left, self.vectors), -2.0 * left
        bilinear = [BilinearSum(table, self.vectors, self.sign)]
        return sample_pairs(PairSums(0.0, diagonal, diagonal, bilinear), [self.pairs])[0]

    def gram(self, weights: Vector) -> Matrix:
        """``features' diag(weights) features``, at object level.

        A sum over pairs of four eigenvectors, two of them at each end, is a product
        ``(U_i o U_j)' O (U_k o U_l)`` with the symmetric matrix O of the weights: no table of pairs
        times modes is ever formed.
        """
        plain = self._coefficients(weights)
        total = self._products_of_ends(plain + plain.T)
        if self.is_metric:
            total += self._products_of_one_end(plain + plain.T, self._degrees(weights))
        return self.scale[:, np.newaxis] * total * self.scale

    def table(self) -> NDArray[np.float32]:
        """The features themselves, shape (n, d), in single precision."""
        vectors, is_metric = self.vectors.T.astype(np.float32, order="C"), self.is_metric
        out = np.empty((len(self.pairs), self.n_modes), dtype=np.float32)
        scale = (self.scale if is_metric else 0.5 * self.scale).astype(np.float32)
        sign = np.full_like(scale, 0.0 if is_metric else self.sign)
        ones, feature = np.ones_like(out, shape=(1, len(out))), np.zeros(len(scale), dtype=np.int64)

        def fill(start: int, stop: int) -> None:
            ends = [side[start:stop] for side in (self.pairs.first, self.pairs.second)]
            tables = [vectors.take(end, axis=1) for end in ends]
            if is_metric:
                tables = 2 * [tables[0] - tables[1]]
            modes = ones[:, start:stop], self.first, self.second, sign, feature, scale
            fill_principal_features(out[start:stop], *tables, *modes)

        run_in_ranges(fill, len(out), _PAIRS_PER_RANGE)
        return out

    def _groups(self) -> list[tuple[int, slice, Places]]:
        """i, the places of its modes, and their j."""
        starts = np.flatnonzero(np.diff(self.first, prepend=-1))
        ends = np.append(starts[1:], self.n_modes)
        return [
            (int(self.first[start]), slice(start, end), self.second[start:end])
            for start, end in zip(starts, ends, strict=True)
        ]

    def _products_of_ends(self, weights: Any) -> Matrix:
        """Sums with two eigenvectors at each end of a pair, for modes (i, j) and (k, l)."""
        U, groups = self.vectors, self._groups()
        total = np.empty((self.n_modes, self.n_modes))
        for place, (i, rows, j) in enumerate(groups):
            later = groups[place:]
            width = 1 + max(max(k, int(others.max())) for k, _, others in later)
            spread = np.asarray(weights @ (U[:, [i]] * U[:, :width]))  # column l: O (U_i o U_l)
            left = U[:, j]
            for k, columns, others in later:
                right = U[:, others]
                block = (left.T * spread[:, k]) @ right  # i, k at one end
                block += self.sign * ((left.T * U[:, k]) @ spread[:, others])  # i, l at one end
                if self.is_metric:
                    block += spread[:, j].T @ (right * U[:, [k]])  # i, j at one end
                total[rows, columns] = block
                total[columns, rows] = block.T
        return total if self.is_metric else 0.25 * total

    def _products_of_one_end(self, weights: Any, degrees: Vector) -> Matrix:
        """Sums with four, or three, of the eigenvectors at the same end, for the metric."""
        one, two = self.vectors[:, self.first], self.vectors[:, self.second]
        spread = weights @ self.vectors
        pairs_of_vectors = one * two
        lone = one * spread[:, self.second] + two * spread[:, self.first]
        crossed = pairs_of_vectors.T @ (0.5 * degrees[:, np.newaxis] * pairs_of_vectors - lone)
        return crossed + crossed.T


@dataclass(frozen=True)
class LandmarkModes:
    """Nystroem features ``K_nL (chol K_LL)^-T`` of some landmark pairs L, for any kernel."""

    operator: KernelOperator
    landmarks: Places

    @property
    def n_modes(self) -> int:
        """How many features."""
        return len(self.landmarks)

    @cached_property
    def features(self) -> Matrix:
        """The features themselves, shape (n, d)."""
        return self._filled(np.float64)

    def table(self) -> NDArray[np.float32]:
        """The same in single precision."""
        return self._filled(np.float32)

    def _filled(self, dtype: type[np.floating]) -> NDArray[Any]:
        """The features, some rows at a time on each core."""
        out = np.empty((len(self.operator.left), self.n_modes), dtype)
        corner = self.operator.block(self.landmarks, self.landmarks)
        corner = 0.5 * (corner + corner.T)
        jitter = _JITTER if out.dtype == np.float64 else _JITTER_SINGLE
        corner[np.diag_indices(len(corner))] += jitter * max(float(np.trace(corner)), 1e-300)
        factor, identity = np.linalg.cholesky(corner), np.eye(self.n_modes)
        inverse = scipy.linalg.solve_triangular(factor, identity, lower=True).T.astype(out.dtype)

        def fill(start: int, stop: int) -> None:
            values = np.empty((stop - start, self.n_modes), dtype=out.dtype)
            self.operator.block(np.arange(start, stop), self.landmarks, values)
            np.matmul(values, inverse, out=out[start:stop])

        run_in_ranges(fill, len(out), _PAIRS_PER_RANGE)
        return out

    def reduce(self, vector: Vector) -> Vector:
        """``features.T @ vector``."""
        return self.features.T @ vector

    def expand(self, weights: Vector) -> Vector:
        """``features @ weights``."""
        return self.features @ weights

    def gram(self, weights: Vector) -> Matrix:
        """``features.T @ diag(weights) @ features``."""
        weighted = self.features * np.sqrt(weights)[:, np.newaxis]
        return weighted.T @ weighted


#: A table of features with ``features @ features.T`` close to the kernel matrix.
Modes: TypeAlias = EigenModes | LandmarkModes


def leading_modes(operator: KernelOperator, n_modes: int, budget: Budget) -> Modes:
    """At most ``n_modes`` features of an operator's kernel within some memory."""
    structure, half = operator.structure, budget.share(0.5)
    # modes whose products with one another, and tables over the objects, fit
    fitting = min(half.side(copies=3.0), half.columns(operator.left.n_objects, copies=6.0))
    few = int(min(n_modes, fitting))
    if structure is not None:
        sign, weight = structure.parity.sign, structure.weight
        return _eigen_modes(operator.left, sign, structure.gram, weight, few)
    k1 = operator.kernel.metric_of
    if k1 is not None and isinstance(operator, PairOperator):
        gram = centred(operator.grams[k1])
        return _eigen_modes(operator.left, 1.0, gram, 0.25, few, is_metric=True)
    n_pairs = len(operator.left)
    few = int(min(n_modes, budget.columns(n_pairs, copies=_FEATURE_TABLES)))
    chosen = np.random.default_rng(0).permutation(n_pairs)[: max(1, few)]
    return LandmarkModes(operator, np.sort(chosen))


def _eigen_modes(
    pairs: Pairs, sign: float, gram: Matrix, weight: float, n_modes: int, *, is_metric: bool = False
) -> EigenModes:
    """Modes of the largest eigenvalues; ``weight`` is that of the sum over all (i, j)."""
    rank = min(_MOST_VECTORS, max(_LEAST_VECTORS, int(4.0 * n_modes**0.5)), len(gram))
    values, vectors = leading_eigenvectors(gram, rank)
    first, second = np.triu_indices(rank, 1 if sign < 0.0 else 0)
    sizes = weight * values[first] * values[second] * np.where(first == second, 1.0, 2.0)
    kept = np.sort(np.argsort(-sizes, kind="stable")[:n_modes])
    least = _NEGLIGIBLE * max(float(sizes.max(initial=0.0)), 1e-300)
    if rank < len(gram):  # half as large as what is left out anyway
        least = max(least, weight * float(values[0] * values[-1]))
    kept = kept[sizes[kept] > least]
    modes = vectors, first[kept], second[kept], np.sqrt(sizes[kept])
    return EigenModes(pairs, sign, is_metric, *modes)


# Solvers on parameters ---------------------------------------------------------------------------


class LandmarkRows(ExplicitFeatures):
    """The features of landmarks, as rows Z with ``Z Z'`` in the place of the kernel matrix."""

    def __init__(self, operator: KernelOperator, landmarks: Places) -> None:
        self._modes = LandmarkModes(operator, landmarks)
        self.n_rows, self.n_columns = len(operator.left), len(landmarks)
        self.is_sparse, self.n_entries = False, float(len(landmarks))

    @cached_property
    def rows(self) -> Matrix:
        """Z, shape (n, landmarks)."""
        return self._modes.features


class Expanded(KernelOperator):
    """An operator in the span of landmarks among its pairs."""

    is_costly = False

    def __init__(self, operator: KernelOperator, landmarks: Places) -> None:
        super().__init__(operator.kernel, operator.left)
        self._rows = LandmarkRows(operator, landmarks)

    @property
    def features(self) -> LandmarkRows:
        """As many as there are landmarks."""
        return self._rows

    @property
    def object_megabytes(self) -> float:
        """What the features take; the operator is not asked again."""
        return megabytes_of(self._rows.n_rows, self._rows.n_columns)

    def block(self, rows: Rows, columns: Rows, out: Matrix | None = None) -> Matrix:
        """Inner products of features."""
        table = self._rows.rows
        return np.matmul(table[rows], table[columns].T, out=out)

    def product(self, vector: Vector) -> Vector:
        """``Z Z' vector``."""
        table = self._rows.rows
        return np.asarray(table @ (table.T @ vector))

    def diagonal(self) -> Vector:
        """Squares of the rows."""
        table = self._rows.rows
        return np.asarray(np.einsum("ij,ij->i", table, table))
