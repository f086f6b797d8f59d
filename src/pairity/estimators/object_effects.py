"""Effects of names: one of each object and one of each pair of objects, beside linear features.

    f(a, b) = w' phi(a, b) + sqrt(o) (u_a - u_b) + sqrt(c) v_ab,         v_ba = -v_ab  (antisymmetric)
    f(a, b) = w' phi(a, b) + sqrt(o) (u_a + u_b) + sqrt(c) v_ab + bias,  v_ba = v_ab   (symmetric)

with the sum of squares of all parameters as penalty, C times the losses against it: the machine of
a linear kernel, o times ``Additive(Identity())`` and c times ``Product(Identity())``, up to
constant factors, on sparse columns.  Intransitive play is what the effects of pairs say beyond those of
objects; an object or a pair that was never seen has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from pairity.pairs.arrays import Matrix, Places, Vector, places_of
from pairity.pairs.data import Pairs
from pairity.pairs.derived import derived_features
from pairity.pairs.known_objects import KnownObjects
from pairity.pairs.parity import Orientation, Parity, unordered_keys

#: Columns that a linear model may use, fewest last: many say more, and overfit more.
COLUMNS: dict[Parity, tuple[tuple[str, ...], ...]] = {
    Parity.EVEN: (
        ("absolute_difference", "sum", "product", "symmetric", "absolute_antisymmetric"),
        ("absolute_difference", "symmetric", "absolute_antisymmetric"),
        ("symmetric", "absolute_antisymmetric"),
    ),
    Parity.ODD: (("difference", "antisymmetric"),),
}
#: Object features beyond which they are left to other models.
_MOST_COLUMNS = 200
#: Steps of Newton's method, products in each, residual that ends it, promise that ends all.
_MOST_STEPS, _MOST_PRODUCTS, _RESIDUAL, _PROMISE = 50, 200, 0.03, 1e-8


@dataclass(frozen=True, eq=False)
class EffectColumns:
    """Sparse columns of pairs in one order: scaled features, objects, pairs of objects."""

    parity: Parity
    parts: tuple[str, ...]  # of pairity.pairs.derived
    known: KnownObjects
    keys: Places  # unordered pairs of known objects, ascending
    shift: Vector
    factor: Vector

    @classmethod
    def of(cls, pairs: Pairs, parity: Parity, parts: tuple[str, ...] | None = None) -> Self:
        """Columns for the objects and pairs that training pairs hold."""
        known, parts = KnownObjects.of(pairs), parts or COLUMNS[parity][0]
        columns = _features(pairs, parts)
        shift = np.zeros(columns.shape[1]) if parity is Parity.ODD else columns.mean(axis=0)
        size = np.sqrt(np.mean((columns - shift) ** 2, axis=0))
        factor = np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 0.0)
        return cls(parity, parts, known, np.unique(_keys(pairs, known)), shift, factor)

    @property
    def widths(self) -> tuple[int, int, int]:
        """Numbers of columns of the three kinds."""
        return len(self.shift), len(self.known), len(self.keys)

    def rows(self, pairs: Pairs, object_weight: float, pair_weight: float) -> sp.csr_array:
        """Columns of pairs as they are written."""
        sign = self.parity.sign
        dense = (_features(pairs, self.parts) - self.shift) * self.factor
        places = self.known.places(pairs)
        first, second = places[pairs.first], places[pairs.second]
        size = np.full(len(pairs), np.sqrt(object_weight))
        objects = _entries(size, first, len(self.known))
        objects += _entries(sign * size, second, len(self.known))
        turned = np.where(first > second, sign, 1.0) * np.sqrt(pair_weight)
        place = places_of(_keys(pairs, self.known), self.keys)
        parts = [sp.csr_array(dense), objects, _entries(turned, place, len(self.keys))]
        return sp.csr_array(sp.hstack(parts, format="csr"))


def _entries(values: Vector, columns: Places, width: int) -> sp.csr_array:
    """One entry a row, in the column given; none where that is -1 or the value 0."""
    there = np.flatnonzero((columns >= 0) & (values != 0.0))
    shape = len(values), width
    return sp.csr_array((values[there], (there, columns[there])), shape=shape)


def _features(pairs: Pairs, parts: tuple[str, ...]) -> Matrix:
    if sp.issparse(pairs.objects) or pairs.n_object_features > _MOST_COLUMNS:
        pairs = pairs.with_features(
            np.zeros((pairs.n_objects, 0)), pairs.symmetric, pairs.antisymmetric
        )
    return derived_features(pairs, parts)


def _keys(pairs: Pairs, known: KnownObjects) -> Places:
    """A number for each unordered pair of known objects; -1 where one is not known."""
    places = known.places(pairs)
    first, second = places[pairs.first], places[pairs.second]
    return np.where((first < 0) | (second < 0), -1, unordered_keys(first, second, len(known)))


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
        rows = self.columns.rows(oriented, self.object_weight, self.pair_weight)
        return order.restored(self.columns.parity, np.asarray(rows @ self.parameters) + self.bias)


def fit_parameters(
    rows: sp.csr_array,
    targets: Vector,
    weights: Vector,
    C: float,
    loss: str,
    start: Vector,
    promise: float = _PROMISE,
) -> Vector:
    """Parameters, the last of them the bias (not penalised; stays 0 where the start says NaN).

    Minimises ``C sum_i w_i loss(y_i, f_i) + |parameters|^2 / 2`` with the logistic loss (labels of
    -1 and +1) or half the squared error, by Newton's method with conjugate gradients, until a step
    promises less than a part of the objective.
    """
    has_bias = not np.isnan(start[-1])
    design = sp.csr_array(sp.hstack([rows, np.full((rows.shape[0], 1), float(has_bias))], "csr"))
    transposed, squares = design.T.tocsr(), design.multiply(design).T.tocsr()
    penalty = np.append(np.ones(rows.shape[1]), 0.0 if has_bias else 1.0)

    def losses(at: Vector) -> tuple[float, Vector, Vector]:
        """Value, slope and curvature of each row."""
        values = design @ at
        if loss == "logistic":
            wrong = expit(-targets * values)
            each, slope = np.logaddexp(0.0, -targets * values), -targets * wrong
            curvature = wrong * (1.0 - wrong)
        else:
            slope = values - targets
            each, curvature = 0.5 * slope**2, np.ones(len(values))
        total = C * float(weights @ each) + 0.5 * float(penalty @ at**2)
        return total, C * weights * slope, C * weights * curvature

    at = np.nan_to_num(start)
    value, slope, curvature = losses(at)
    for _ in range(_MOST_STEPS):
        gradient = transposed @ slope + penalty * at
        diagonal = squares @ curvature + penalty
        step = _conjugate_gradients(
            lambda v, c=curvature: transposed @ (c * (design @ v)) + penalty * v,
            -gradient,
            diagonal,
        )
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
