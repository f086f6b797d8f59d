"""The tensor kernels diagonalised on the grid of all pairs of objects.

On coefficient matrices S with ``S' = +-S`` the kernel ``w/2 (k1(a,c) k1(b,d) +- k1(a,d) k1(b,c))``
acts as ``S -> w K S K``.  With ``K = U diag(lam) U'`` its inverse shifted by rho is closed form:
``U [(U' R U) / (w lam_i lam_j + rho)] U'``, four matrix products.

With few distinct group features (:mod:`pairity.operators.group_states`) there is a matrix ``S_omega``
for each state omega, that of the mirrored state being ``+-S_omega'``, and the kernel acts as
``S_omega -> w K (sum_upsilon B(omega, upsilon) S_upsilon) K``.  In the basis of the eigenvectors of B
each matrix is symmetric or skew by itself, with the weight w times its eigenvalue of B.  Additive
kernels beside a tensor kernel are of low rank on the grid: the inverse of both is closed form too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from pairity.operators._operator_loops import sums_of_shifted
from pairity.operators.group_states import CROSSED, ONE_STATE, STRAIGHT, GroupStates, states_of
from pairity.operators.terms import TermGroup, TermTable
from pairity.pairs.arrays import Matrix, Vector
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity
from pairity.runtime.resources import run_in_ranges

#: Difference of the two weights of a tensor kernel, relative to them, that is rounding.
_NEGLIGIBLE = 1e-12
#: Ranges of rows that a product on the grid is cut into, and rows of each at least.
_RANGES, _LEAST_ROWS = 6, 32
#: Shifts whose tables are kept: fits in several threads have their own.
_MOST_SHIFTS = 2


@dataclass(frozen=True)
class TensorStructure:
    """``weight/2 (A_ac A_bd +- A_ad A_bc)``: what the eigenvectors of A diagonalise on the grid."""

    gram: NDArray[np.float64]
    weight: float
    parity: Parity


def tensor_structure(terms: TermTable | None) -> TensorStructure | None:
    """Recognise a tensor kernel (even) or determinant kernel (odd) of one object kernel."""
    if terms is None or len(terms.weights) != 2 or len(terms.grams) != 1:
        return None
    straight = terms.by_edges.get(STRAIGHT)
    crossed = terms.by_edges.get(CROSSED)
    if straight is None or crossed is None or straight <= 0:
        return None
    if abs(abs(straight) - abs(crossed)) > _NEGLIGIBLE * straight:
        return None
    parity = Parity.EVEN if crossed > 0 else Parity.ODD
    return TensorStructure(terms.grams[0], 2.0 * straight, parity)


@dataclass(frozen=True)
class GridStructure:
    """A tensor kernel with few distinct group features, or beside an additive kernel.

    ``additive`` is H of ``H_ac + H_bd +- (H_ad + H_bc)``.  The metric-learning kernel of an object
    kernel is a tensor kernel of centred objects on other matrices (:class:`MetricGrid`).
    """

    tensor: TensorStructure
    states: GroupStates = ONE_STATE
    additive: Matrix | None = None
    is_metric: bool = False

    def diagonalised(self) -> SpectralGrid:
        """For one decomposition that serves every solve."""
        if self.is_metric:
            return MetricGrid(self.tensor)
        return SpectralGrid(self.tensor, self.states, self.additive)

    @property
    def typical_value(self) -> float:
        """A typical kernel value of a pair with itself."""
        of_objects = float(self.tensor.gram.diagonal().mean()) ** 2
        return 0.5 * self.tensor.weight * of_objects * float(self.states.kernel.diagonal().mean())


def metric_structure(gram: Matrix, pairs: Pairs) -> GridStructure | None:
    """That of the metric-learning kernel; None where an object is paired with itself."""
    if (pairs.first == pairs.second).any():
        return None
    return GridStructure(TensorStructure(centred(gram), 1.0, Parity.EVEN), is_metric=True)


def centred(gram: Matrix) -> Matrix:
    """Inner products of centred features: differences of objects do not see the mean."""
    return np.asarray(gram - gram.mean(axis=0) - gram.mean(axis=1, keepdims=True) + gram.mean())


def grid_structure(groups: list[TermGroup], pairs: Pairs) -> GridStructure | None:
    """Recognise a tensor kernel of one object kernel with few distinct group features, or none."""
    if len(groups) == 1 and groups[0].left is None and not groups[0].opaque:
        structure = tensor_structure(groups[0].table)
        return with_additive(groups[0].table) if structure is None else GridStructure(structure)
    found = states_of(groups, pairs)
    if found is None:
        return None
    states, parity = found
    return GridStructure(TensorStructure(groups[0].table.grams[0], 2.0, parity), states)


def with_additive(terms: TermTable) -> GridStructure | None:
    """Recognise a tensor kernel of one object kernel beside additive ones of the same parity."""
    pairs_of_edges = [
        term for term in range(len(terms.weights)) if sum(terms.edge_gram[term] >= 0) > 1
    ]
    numbers = {number for number in terms.edge_gram[pairs_of_edges].ravel() if number >= 0}
    if len(numbers) != 1:
        return None
    tensor = replace(
        terms,
        grams=terms.grams[[*numbers]],
        weights=terms.weights[pairs_of_edges],
        edge_gram=np.minimum(terms.edge_gram[pairs_of_edges], 0),
    )
    structure = tensor_structure(tensor)
    if structure is None:
        return None
    left, total = terms.by_edges, np.zeros_like(structure.gram)
    for number, gram in enumerate(terms.grams):
        alone = [tuple(number if at == edge else -1 for at in range(4)) for edge in range(4)]
        ac, ad, bc, bd = (left.pop(edges, 0.0) for edges in alone)
        if not (ac == bd and ad == bc == structure.parity.sign * ac and ac >= 0.0):
            return None
        total += ac * gram
    return GridStructure(structure, additive=total) if len(left) == 2 else None


@dataclass(frozen=True, eq=False)
class _BiasTables:
    """What a bias takes of a right side, in the basis of the eigenvectors, shape (states, m, m)."""

    summing: NDArray[np.floating]  # whose product with a right side is the sum of its solution
    ones: NDArray[np.floating]  # the right side 1, without what an additive part takes
    total: float  # the sum of its solution


@dataclass(frozen=True, eq=False)
class _Shifted:
    """Tables of a shift."""

    inverse: NDArray[np.floating]  # 1 / (w_k lam_i lam_j + rho)
    bias: _BiasTables | None = None


class SpectralGrid:
    """``S -> w K S K`` and ``(w K . K + rho)^-1`` on matrices of one parity, m x m for each state."""

    def __init__(
        self,
        structure: TensorStructure,
        states: GroupStates = ONE_STATE,
        additive: Matrix | None = None,
    ) -> None:
        self.gram = structure.gram
        self.weight = structure.weight
        self.parity = structure.parity
        self.states = states
        self.eigenvalues, self.vectors = self._decomposed(structure.gram)
        sizes, self._directions, signs = states.decomposed()
        self._weights = structure.weight * sizes
        self._signs = (structure.parity.sign * signs).astype(np.float32)  # of either precision
        basis = self.eigenvalues, self.vectors
        self.additive = None if additive is None else _AdditivePart(additive, structure, basis)
        self._converted: dict[tuple[str, np.dtype], NDArray[np.floating]] = {}
        self._tables: dict[tuple[float, np.dtype, bool], _Shifted] = {}

    #: Whether entries on the diagonal are free, not observed.
    has_free_diagonal = False

    @staticmethod
    def _decomposed(gram: Matrix) -> tuple[Vector, Matrix]:
        values, vectors = np.linalg.eigh(gram)
        return np.maximum(values, 0.0), np.ascontiguousarray(vectors)

    def decisions(self, gradient: NDArray[np.floating]) -> NDArray[np.floating]:
        """Decision values, from the gradient of the quadratic term on the grid: they are the same."""
        return gradient

    def typical_eigenvalue(self) -> float:
        """Geometric mean of a middle and the largest eigenvalue of the pair kernel."""
        middle, largest = float(np.median(self.eigenvalues)), float(self.eigenvalues[-1])
        return float(self._weights.max()) * max(middle, 1e-6 * largest) * largest

    def solve(
        self, right: NDArray[np.floating], rho: float, *, constrained: bool = False
    ) -> NDArray[np.floating]:
        """``(w K . K + rho)^-1 right``, in the precision of ``right``, shape (m, m) or (states, m, m).

        ``constrained`` adds the condition ``sum(S) = 0``, by a rank-one correction whose
        multiplier is the bias.
        """
        vectors = self._in_precision("vectors", right.dtype)
        inside = self._turned(vectors.T, self._in_directions(right))
        shifted = self._shifted(rho, inside.dtype, constrained)
        if self.additive is not None:
            self.additive.take_out(inside[0], rho)
        if shifted.bias is not None:
            tables = shifted.bias
            bias = float((tables.summing * inside).sum(dtype=np.float64)) / tables.total
            inside -= inside.dtype.type(bias) * tables.ones
        inside *= shifted.inverse
        return self._in_states(self._turned(vectors, inside)).reshape(right.shape)

    def _shifted(self, rho: float, dtype: np.dtype, constrained: bool) -> _Shifted:
        """Tables of a shift: many solves have the same."""
        key = rho, dtype, constrained
        known = self._tables.get(key)
        if known is None:
            if len(self._tables) >= _MOST_SHIFTS:
                self._tables = {}
            known = self._tables[key] = self._made(*key)
        return known

    def _made(self, rho: float, dtype: np.dtype, constrained: bool) -> _Shifted:
        states = self._weights[:, np.newaxis, np.newaxis]
        inverse = 1.0 / (states * np.outer(self.eigenvalues, self.eigenvalues) + rho)
        if not constrained:
            return _Shifted(inverse.astype(dtype))
        ones, of_states = self.vectors.sum(axis=0), self._directions.sum(axis=0)
        plain = of_states[:, np.newaxis, np.newaxis] * np.outer(ones, ones)
        direction, summing = plain.copy(), plain * inverse
        if self.additive is not None:
            self.additive.take_out(direction[0], rho)
        total = float(np.sum(summing * direction))
        tables = _BiasTables(summing.astype(dtype), direction.astype(dtype), total)
        return _Shifted(inverse.astype(dtype), tables)

    def apply(self, matrix: NDArray[np.floating]) -> NDArray[np.floating]:
        """``w K S K``, in the precision of ``matrix``, shape (m, m) or (states, m, m)."""
        gram = self._in_precision("gram", matrix.dtype)
        turned = self._turned(gram, self._in_directions(matrix))
        turned *= self._weights.astype(matrix.dtype)[:, np.newaxis, np.newaxis]
        if self.additive is not None:
            self.additive.add_product(matrix.reshape(turned[0].shape), turned[0])
        return self._in_states(turned).reshape(matrix.shape)

    def _in_directions(self, matrix: NDArray[np.floating]) -> NDArray[np.floating]:
        """Matrices of states as matrices of eigenvectors of B, each symmetric or skew."""
        size = len(self.gram)
        if len(self.states) == 1:
            return matrix.reshape(1, size, size)
        directions = self._in_precision("_directions", matrix.dtype)
        return (directions.T @ matrix.reshape(len(directions), -1)).reshape(-1, size, size)

    def _in_states(self, matrices: NDArray[np.floating]) -> NDArray[np.floating]:
        """The way back."""
        if len(self.states) == 1:
            return matrices
        directions = self._in_precision("_directions", matrices.dtype)
        return directions @ matrices.reshape(len(directions), -1)

    def _turned(
        self, left: NDArray[np.floating], matrices: NDArray[np.floating]
    ) -> NDArray[np.floating]:
        """``L S L'``, which has the parity of S: one triangle is computed, some rows at a time."""
        size, out = len(left), np.empty_like(matrices)
        step = max(_LEAST_ROWS, -(-size // _RANGES))
        n_ranges = -(-size // step)

        def multiply(begin: int, end: int) -> None:
            for one in range(begin, end):
                which, start = one // n_ranges, step * (one % n_ranges)
                rows, target = slice(start, start + step), out[which]
                np.matmul(left[rows] @ matrices[which], left[start:].T, out=target[rows, start:])

        run_in_ranges(multiply, n_ranges * len(out), 1)
        for target, sign in zip(out, self._signs, strict=True):
            for start in range(step, size, step):
                rows = slice(start, start + step)
                np.multiply(target[:start, rows].T, sign, out=target[rows, :start])
        return out

    def _in_precision(self, name: str, dtype: np.dtype) -> NDArray[np.floating]:
        matrix: NDArray[np.floating] = getattr(self, name)
        if matrix.dtype == dtype:
            return matrix
        return self._converted.setdefault((name, dtype), matrix.astype(dtype))


class MetricGrid(SpectralGrid):
    """The metric-learning kernel ``((e_a - e_b)' K (e_c - e_d))^2 / 4`` on the grid.

    Coefficients theta of the pairs make the Laplacian ``sum_ab theta_ab (e_a - e_b)(e_a - e_b)'``.  With
    Y half of it and the other sign, entries off the diagonal are those of other kernels,
    ``theta / 2``, rows add up to 0, and the quadratic term is that of the tensor kernel,
    ``Y -> K Y K``.  Matrices whose rows add up to 0 are in the span of the eigenvectors of the centred K
    other than 1: among them the inverse is closed form.  From the gradient G decisions are
    ``G_ab - (G_aa + G_bb) / 2``; ``sum(theta) = 0`` is ``trace(Y) = 0``.
    """

    has_free_diagonal = True

    @staticmethod
    def _decomposed(gram: Matrix) -> tuple[Vector, Matrix]:
        """Eigenvectors of a centred matrix, 1 the first of them."""
        size = float(np.abs(gram).max(initial=0.0)) or 1.0
        values, vectors = np.linalg.eigh(gram + 2.0 * size)  # 1 has the largest eigenvalue of all
        values, vectors = np.roll(values, 1), np.roll(vectors, 1, axis=1)
        values[0] = 0.0
        return np.maximum(values, 0.0), np.ascontiguousarray(vectors)

    def _made(self, rho: float, dtype: np.dtype, constrained: bool) -> _Shifted:
        inverse = 1.0 / (self.weight * np.outer(self.eigenvalues, self.eigenvalues) + rho)
        inverse[0] = inverse[:, 0] = 0.0
        whole = inverse[np.newaxis].astype(dtype)
        if not constrained:
            return _Shifted(whole)
        ones = np.eye(len(inverse), dtype=dtype)[np.newaxis]
        tables = _BiasTables(ones * whole, ones, float(np.trace(inverse)))
        return _Shifted(whole, tables)

    def apply(self, matrix: NDArray[np.floating]) -> NDArray[np.floating]:
        """Decision values of coefficients whose diagonal is not looked at."""
        balanced = matrix.copy()
        np.fill_diagonal(balanced, 0.0)
        np.fill_diagonal(balanced, -balanced.sum(axis=1))
        return self.decisions(super().apply(balanced))

    def decisions(self, gradient: NDArray[np.floating]) -> NDArray[np.floating]:
        """Decision values, from the gradient of the quadratic term."""
        half = gradient.dtype.type(0.5) * gradient.diagonal()
        return gradient - half[:, np.newaxis] - half


class _AdditivePart:
    """What an additive kernel ``H_ac + H_bd +- (H_ad + H_bc)`` adds to the grid of a tensor kernel.

    With ``E z = z 1' +- 1 z'`` it acts as ``E H E*``, ``E* S = 2 S 1``.  With M the inverse of the
    tensor part shifted by rho and ``H = L L'``, the inverse of both is

        M - M E L (1 + L' G L)^-1 L' E* M,      G = E* M E,

    and in the basis of the eigenvectors, with ``u = U' 1`` and ``d_ij = w lam_i lam_j + rho``,
    ``G_ij = 2 (delta_ij sum_k u_k^2 / d_ik +- u_i u_j / d_ij)``.
    """

    def __init__(
        self, gram: Matrix, structure: TensorStructure, basis: tuple[Vector, Matrix]
    ) -> None:
        self._gram, self._weight, self._sign = gram, structure.weight, structure.parity.sign
        self._eigenvalues, vectors = basis
        values, inner = np.linalg.eigh(gram)
        kept = values > _NEGLIGIBLE * max(float(values[-1]), 0.0)
        self._roots = vectors.T @ (inner[:, kept] * np.sqrt(values[kept]))  # U' L
        self._ones = vectors.sum(axis=0)
        self._known: dict[float, Matrix] = {}  # by shifts

    def _between(self, rho: float) -> Matrix:
        """``L (1 + L' G L)^-1 L'`` in the basis of the eigenvectors."""
        known = self._known.get(rho)
        if known is not None:
            return known
        ones, roots, values = self._ones, self._roots, self._eigenvalues
        shares = 1.0 / (self._weight * np.outer(values, values) + rho)
        inside = 2.0 * self._sign * shares * np.outer(ones, ones)
        inside[np.diag_indices(len(ones))] += 2.0 * (shares @ ones**2)
        inside = roots.T @ inside @ roots
        inside[np.diag_indices(len(inside))] += 1.0
        factor = cho_factor(inside, lower=True, overwrite_a=True)
        between: Matrix = roots @ cho_solve(factor, roots.T)
        if len(self._known) >= _MOST_SHIFTS:
            self._known = {}
        self._known[rho] = between
        return between

    def take_out(self, inside: NDArray[np.floating], rho: float) -> None:
        """Subtract ``E q`` from a right side in the basis of the eigenvectors."""
        sums = sums_of_shifted(inside, self._eigenvalues, self._weight, rho, self._ones)
        change = np.outer(self._between(rho) @ (2.0 * sums), self._ones)
        inside -= (change + self._sign * change.T).astype(inside.dtype)

    def add_product(self, matrix: NDArray[np.floating], out: NDArray[np.floating]) -> None:
        """``out += E H E* S``."""
        sums = 2.0 * (self._gram @ matrix.sum(axis=1, dtype=np.float64))
        out += (sums[:, np.newaxis] + self._sign * sums).astype(out.dtype)
