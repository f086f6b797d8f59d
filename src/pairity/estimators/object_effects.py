"""Effects of names: one of each object and one of each pair of objects, beside linear features.

    f(a, b) = w' phi(a, b) + sqrt(o) (u_a - u_b) + sqrt(c) v_ab,         v_ba = -v_ab  (antisymmetric)
    f(a, b) = w' phi(a, b) + sqrt(o) (u_a + u_b) + sqrt(c) v_ab + bias,  v_ba = v_ab   (symmetric)

with the sum of squares of all parameters as penalty, C times the losses against it: the machine of
a linear kernel, o times ``Additive(Identity())`` and c times ``Product(Identity())``, up to
constant factors, on sparse columns.  Intransitive play is what the effects of pairs say beyond those of
objects; an object or a pair that was never seen has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from pairity.estimators.pair_rows import without_objects
from pairity.kernels.standardized import Scaling
from pairity.pairs.arrays import Matrix, Places, Vector, places_of, sums_at
from pairity.pairs.data import Pairs
from pairity.pairs.derived import derived_features
from pairity.pairs.parity import Orientation, Parity, unordered_keys
from pairity.pairs.same_objects import KnownObjects

#: How alike two objects are, as one number each, and what is given of the pair.
_ALIKE = "distance", "cosine", "symmetric", "absolute_antisymmetric"
#: Columns that a linear model may use, fewest last: many say more, and overfit more.
COLUMNS: dict[Parity, tuple[tuple[str, ...], ...]] = {
    Parity.EVEN: (
        ("absolute_difference", "sum", "product", *_ALIKE),
        ("absolute_difference", *_ALIKE),
        _ALIKE,
    ),
    Parity.ODD: (("difference", "antisymmetric", "in_context"), ("difference", "antisymmetric")),
}
#: Object features beyond which they are left to other models.
_MOST_COLUMNS = 200
#: Steps of Newton's method, products in each, residual that ends it, promise that ends all.
_MOST_STEPS, _MOST_PRODUCTS, _RESIDUAL, _PROMISE = 50, 200, 0.03, 1e-8
#: Rows times squared columns up to which a Newton step is exact, and the least curvature of a bias.
_MOST_DIRECT, _LEAST_CURVATURE = 1_000_000, 1e-12


@dataclass(frozen=True, eq=False)
class EffectColumns:
    """Sparse columns of pairs in one order: scaled features, objects, pairs of objects."""

    parity: Parity
    parts: tuple[str, ...]  # of pairity.pairs.derived
    known: KnownObjects
    keys: Places  # unordered pairs of known objects, ascending
    shift: Vector
    factor: Vector
    scaling: Scaling | None = None  # of features that even columns are made of; older files: none

    @classmethod
    def of(cls, pairs: Pairs, parity: Parity, parts: tuple[str, ...] | None = None) -> Self:
        """Columns for the objects and pairs that training pairs hold."""
        known, parts = KnownObjects.of(pairs), parts or COLUMNS[parity][0]
        keys = np.unique(_places(pairs, known)[2])
        # distances and products depend on units and origins; odd columns do not
        scaling = Scaling.of(_with_few_columns(pairs), "auto") if parity is Parity.EVEN else None
        columns = cls(parity, parts, known, keys, np.zeros(0), np.zeros(0), scaling)
        return columns.narrowed(pairs, parts)

    @property
    def widths(self) -> tuple[int, int, int]:
        """Numbers of columns of the three kinds."""
        return len(self.shift), len(self.known), len(self.keys)

    def start(self) -> Vector:
        """Parameters of nothing known, the bias last: NaN where there is none."""
        return np.append(np.zeros(sum(self.widths)), np.nan if self.parity is Parity.ODD else 0.0)

    def narrowed(self, pairs: Pairs, parts: tuple[str, ...]) -> Self:
        """The same objects and pairs of them beside other features of the training pairs."""
        columns, odd = _features(pairs, parts, self.scaling), self.parity is Parity.ODD
        shift = np.zeros(columns.shape[1]) if odd else columns.mean(axis=0)  # odd ones stay odd
        size = np.sqrt(np.mean((columns - shift) ** 2, axis=0))
        factor = np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 0.0)
        return replace(self, parts=parts, shift=shift, factor=factor)

    def features(self, pairs: Pairs) -> Matrix:
        """Scaled features, shape (n, d)."""
        return (_features(pairs, self.parts, self.scaling) - self.shift) * self.factor

    def design(self, pairs: Pairs, object_weight: float = 0.0, pair_weight: float = 0.0) -> Design:
        """Columns of pairs as they are written."""
        first, second, keys = _places(pairs, self.known)
        return Design(
            self.features(pairs),
            (first, second, places_of(keys, self.keys)),
            (self.parity.sign, np.where(first > second, self.parity.sign, 1.0)),
            self.widths,
            object_weight,
            pair_weight,
        )


@dataclass(frozen=True, eq=False)
class Design:
    """A matrix of pairs by parameters, never formed: features, objects, pairs of objects.

    Entries are those of ``features``; sqrt(object_weight) in the column of the first object, that or
    its opposite in the column of the second; and sqrt(pair_weight) or its opposite in the column of
    the pair.  Places are -1 where nothing is known.
    """

    features: Matrix  # (n, d)
    places: tuple[Places, Places, Places]  # of the first objects, the second, the pairs of them
    signs: tuple[float, Vector]  # of the second objects, of the pairs
    widths: tuple[int, int, int]
    object_weight: float
    pair_weight: float

    def _blocks(self) -> Iterator[tuple[int, Places, Any, float]]:
        """Kind of column (1 or 2), places, signs and size of the entries that are there."""
        size = float(np.sqrt(self.object_weight))
        if size > 0.0:
            yield 1, self.places[0], 1.0, size
            yield 1, self.places[1], self.signs[0], size
        if self.pair_weight > 0.0:
            yield 2, self.places[2], self.signs[1], float(np.sqrt(self.pair_weight))

    def columns_in_use(self) -> Places:
        """Numbers of the columns that are not zero by their weights."""
        weights = 1.0, self.object_weight, self.pair_weight
        used = [
            np.full(width, weight > 0.0) for width, weight in zip(self.widths, weights, strict=True)
        ]
        return np.flatnonzero(np.concatenate(used))

    def dense(self) -> Matrix:
        """The columns in use as a matrix."""
        rows, tables = np.arange(len(self.features)), dict[int, Matrix]()
        for kind, places, sign, size in self._blocks():
            table = tables.setdefault(kind, np.zeros((len(rows), self.widths[kind])))
            known = places >= 0
            table[rows[known], places[known]] += np.broadcast_to(size * sign, rows.shape)[known]
        return np.hstack([self.features, *tables.values()])

    def times(self, parameters: Vector) -> Vector:
        """The matrix times a vector."""
        parts = np.split(parameters, np.cumsum(self.widths)[:2])
        values = self.features @ parts[0]
        for kind, places, sign, size in self._blocks():
            values += sign * np.append(size * parts[kind], 0.0)[places]  # -1 is the last: nothing
        return values

    def transposed(self, values: Vector) -> Vector:
        """The transposed matrix times a vector."""
        parts = [self.features.T @ values, *map(np.zeros, self.widths[1:])]
        for kind, places, sign, size in self._blocks():
            parts[kind] += size * sums_at(places + 1, sign * values, self.widths[kind] + 1)[1:]
        return np.concatenate(parts)

    def squares(self, values: Vector) -> Vector:
        """The same with all entries squared."""
        dense = np.einsum("ij,ij,i->j", self.features, self.features, values)
        parts = [dense, *map(np.zeros, self.widths[1:])]
        for kind, places, _, size in self._blocks():
            parts[kind] += size**2 * sums_at(places + 1, values, self.widths[kind] + 1)[1:]
        return np.concatenate(parts)


def all_in_columns(pairs: Pairs) -> bool:
    """Whether features of objects are few enough for columns."""
    return not sp.issparse(pairs.objects) and pairs.n_object_features <= _MOST_COLUMNS


def _with_few_columns(pairs: Pairs) -> Pairs:
    """Without features of objects that are too many."""
    return pairs if all_in_columns(pairs) else without_objects(pairs)


def _features(pairs: Pairs, parts: tuple[str, ...], scaling: Scaling | None) -> Matrix:
    pairs = _with_few_columns(pairs)
    pairs = pairs if scaling is None else scaling.apply(pairs)
    if not pairs.n_object_features:
        parts = tuple(name for name in parts if name not in ("distance", "cosine"))
    if (pairs.n_object_features + pairs.n_antisymmetric) * pairs.n_symmetric > _MOST_COLUMNS:
        parts = tuple(name for name in parts if name != "in_context")
    return derived_features(pairs, parts)


def _places(pairs: Pairs, known: KnownObjects) -> tuple[Places, Places, Places]:
    """Places of both ends and a number for each unordered pair of them; -1 where one is not known."""
    places = known.places(pairs)
    first, second = places[pairs.first], places[pairs.second]
    keys = unordered_keys(first, second, len(known))
    return first, second, np.where((first < 0) | (second < 0), -1, keys)


@dataclass(frozen=True, eq=False)
class Effects:
    """A fitted function of pairs."""

    columns: EffectColumns
    object_weight: float
    pair_weight: float
    C: float
    parameters: Vector
    bias: float

    def decisions(self, pairs: Pairs) -> Vector:
        """Values, shape (n,); those of swapped pairs are equal or opposite, bit for bit."""
        pairs = pairs.compact()
        order = Orientation.of_compact(pairs)
        oriented = pairs.with_swapped(order.turned)
        design = self.columns.design(oriented, self.object_weight, self.pair_weight)
        return order.restored(self.columns.parity, design.times(self.parameters) + self.bias)


def fit_parameters(
    design: Design,
    targets: Vector,
    weights: Vector,
    C: float,
    loss: str,
    start: Vector,
    promise: float = _PROMISE,
) -> Vector:
    """Parameters, the last of them the bias (not penalised; stays 0 where the start says NaN).

    Minimises ``C sum_i w_i loss(y_i, f_i) + |parameters|^2 / 2`` with the logistic loss (labels of
    -1 and +1) or half the squared error, by Newton's method, until a step promises less than a part of
    the objective.  Steps are exact where that is cheap, and else by conjugate gradients.
    """
    has_bias = not np.isnan(start[-1])
    penalty = np.append(np.ones(len(start) - 1), 0.0 if has_bias else 1.0)

    def with_bias(values: Vector, total: Any) -> Vector:
        return np.append(values, float(total) if has_bias else 0.0)

    def losses(at: Vector) -> tuple[float, Vector, Vector]:
        """Value, slope and curvature of each row."""
        values = design.times(at[:-1]) + at[-1]
        if loss == "logistic":
            wrong = expit(-targets * values)
            each, slope = np.logaddexp(0.0, -targets * values), -targets * wrong
            curvature = wrong * (1.0 - wrong)
        else:
            slope = values - targets
            each, curvature = 0.5 * slope**2, np.ones(len(values))
        total = C * float(weights @ each) + 0.5 * float(penalty @ at**2)
        return total, C * weights * slope, C * weights * curvature

    def conjugate_gradients(gradient: Vector, curvature: Vector) -> Vector:
        diagonal = with_bias(design.squares(curvature), curvature.sum()) + penalty

        def product(v: Vector) -> Vector:
            image = curvature * (design.times(v[:-1]) + v[-1])
            return with_bias(design.transposed(image), image.sum()) + penalty * v

        return _conjugate_gradients(product, -gradient, diagonal)

    used = np.append(design.columns_in_use(), len(start) - 1)
    matrix = None
    if len(targets) * len(used) ** 2 <= _MOST_DIRECT:
        matrix = np.column_stack([design.dense(), np.full(len(targets), float(has_bias))])
    at = np.nan_to_num(start)
    value, slope, curvature = losses(at)
    for _ in range(_MOST_STEPS):
        gradient = with_bias(design.transposed(slope), slope.sum()) + penalty * at
        if matrix is None:
            step = conjugate_gradients(gradient, curvature)
        else:
            step = np.zeros_like(at)
            hessian = matrix.T @ (matrix * curvature[:, np.newaxis])
            hessian[np.diag_indices(len(used))] += np.maximum(penalty[used], _LEAST_CURVATURE)
            step[used] = np.linalg.solve(hessian, -gradient[used])
        promised = -float(gradient @ step)
        length, (reached, *rest) = 1.0, losses(at + step)
        while reached > value - 1e-4 * length * promised and length > 1e-6:
            length *= 0.5
            reached, *rest = losses(at + length * step)
        if promised <= promise * abs(value) or reached >= value:
            break
        at, value, (slope, curvature) = at + length * step, reached, rest
    return np.append(at[:-1], at[-1] if has_bias else np.nan)


def _conjugate_gradients(product: Any, right: Vector, diagonal: Vector) -> Vector:
    """Solve with the diagonal as preconditioner, to a tenth of the right side."""
    solution, residual = np.zeros_like(right), right.copy()
    scaled = residual / diagonal
    direction, size = scaled.copy(), float(residual @ scaled)
    enough = _RESIDUAL**2 * size
    for _ in range(_MOST_PRODUCTS):
        if size <= enough:
            break
        image = product(direction)
        length = size / float(direction @ image)
        solution += length * direction
        residual -= length * image
        scaled = residual / diagonal
        size, last = float(residual @ scaled), size
        direction = scaled + (size / last) * direction
    return solution
