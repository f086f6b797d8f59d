"""Principal features of kernels that are sums and products of object kernels and group features.

With eigenvectors ``u_i`` and eigenvalues ``lam_i`` of the Gram matrices of the objects, and group
features phi of pairs, the terms of such a kernel are sums over features, s = +-1:

    w phi(ab) phi(cd) (G_ac G_bd + s G_ad G_bc)       sqrt(w c lam_i lam_j) phi (u_ia u_jb + s u_ja u_ib)
    w phi(ab) phi(cd) (H_ac + s H_ad + s H_bc + H_bd) sqrt(w lam_i) phi (u_ia + s u_ib)
    w phi(ab) phi(cd)                                 sqrt(w) phi

with c = 1 for i < j and 1/2 for i = j.

The few of them with the largest mean squares carry most of the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from pairity.operators._operator_loops import fill_principal_features
from pairity.operators.group_features import principal_directions
from pairity.operators.terms import TermGroup, TermTable
from pairity.pairs.arrays import Matrix, Places, Vector
from pairity.pairs.data import Pairs
from pairity.runtime.resources import run_in_ranges

#: Objects up to which all eigenvectors are computed; rounds of subspace iteration for more, and
#: vectors beyond the wanted ones that it takes along.
_FEW_OBJECTS, _ROUNDS, _SPARE = 256, 3, 20
#: Eigenvectors that n features call for: some more than the root of n, since both factors of a
#: product count.
_VECTORS_PER_ROOT, _LEAST_VECTORS, _MOST_VECTORS = 4.0, 64, 320
#: Pairs that show which combinations of group features matter, and the share that is too little.
_SAMPLE, _NEGLIGIBLE = 4096, 1e-6
#: Pairs whose features one range of work covers.
_PAIRS_PER_RANGE = 2048

Eigen = tuple[Vector, Matrix]


@dataclass(frozen=True)
class _Part:
    """Terms of one Gram matrix and one sign: ``weight``, and whether they are products of two."""

    gram: int  # -1 for a constant
    weight: float
    sign: float
    is_product: bool


def principal_features(
    groups: Sequence[TermGroup], pairs: Pairs, n_features: int, rows: Places | slice = slice(None)
) -> NDArray[np.float32] | None:
    """Features of some of the pairs, shape (n, at most n_features); None where terms are others."""
    modes = _Modes(len(pairs), pairs.n_objects)
    for group in groups:
        if not modes.add(group, n_features):
            return None
    chosen = pairs if isinstance(rows, slice) else pairs[rows]
    return modes.table(chosen, rows, n_features)


class _Modes:
    """Candidates: eigenvectors at both ends, a sign, a group feature, a scale, a mean square."""

    def __init__(self, n_pairs: int, n_objects: int) -> None:
        # the first column of each is a constant: products with it are sums over one end, or none
        self._vectors = [np.ones((n_objects, 1))]
        self._features = [np.ones((n_pairs, 1))]
        self._columns: list[NDArray[np.float64]] = []

    def add(self, group: TermGroup, n_features: int) -> bool:
        """Add the features of a group; False where its terms are others."""
        parts = _parts(group.table)
        if parts is None or group.opaque:
            return False
        rank = max(_LEAST_VECTORS, int(_VECTORS_PER_ROOT * n_features**0.5))
        known = {
            part.gram: leading_eigenvectors(group.table.grams[part.gram], min(rank, _MOST_VECTORS))
            for part in parts
            if part.gram >= 0
        }
        places = {}
        for gram, (_, vectors) in known.items():
            places[gram] = sum(table.shape[1] for table in self._vectors)
            self._vectors.append(vectors)
        if group.crossed is not None:
            if group.left is None or [part.sign for part in parts] != [0.0]:
                return False
            tables = {1.0: 0.5 * (group.left + group.crossed)}
            tables[-1.0] = 0.5 * (group.left - group.crossed)
        elif any(part.sign == 0.0 for part in parts):
            return False
        else:
            tables = {part.sign: group.left for part in parts if group.left is not None}
        for part in parts:
            for sign in (1.0, -1.0) if part.sign == 0.0 else (part.sign,):
                squares, place = self._keep_features(tables.get(sign))
                values = known[part.gram][0] if part.gram >= 0 else np.ones(1)
                self._add_part(part, sign, values, places.get(part.gram, 0), squares, place)
        return True

    def _keep_features(self, table: Matrix | None) -> tuple[Vector, int]:
        """Mean squares of principal combinations of group features, and where they begin."""
        if table is None:
            return np.ones(1), 0
        place = sum(known.shape[1] for known in self._features)
        some = table[:: max(1, len(table) // _SAMPLE)]
        squares, directions = principal_directions(some, _NEGLIGIBLE)
        self._features.append(table @ directions)
        return squares, place

    def _add_part(
        self, part: _Part, sign: float, values: Vector, begin: int, squares: Vector, place: int
    ) -> None:
        """Note modes as columns (one end, other end, sign, feature, scale, mean square)."""
        if part.is_product:
            one, two = np.triu_indices(len(values), 1 if sign < 0.0 else 0)
            sizes = part.weight * values[one] * values[two] * np.where(one == two, 0.5, 1.0)
            means = sizes * np.where(one == two, 4.0, 2.0) / len(self._vectors[0]) ** 2
            one, two = one + begin, two + begin
        else:
            one, two = np.arange(len(values)) + begin, np.zeros(len(values), dtype=np.intp)
            # of a constant both ends are the same: 1 + 1
            sizes = part.weight * values * (1.0 if part.gram >= 0 else 0.25)
            means = sizes * (2.0 / len(self._vectors[0]) if part.gram >= 0 else 4.0)
        for feature, square in enumerate(squares):
            columns = (one, two, sign, place + feature, np.sqrt(sizes), means * square)
            self._columns.append(np.stack(np.broadcast_arrays(*columns)))

    def table(self, pairs: Pairs, rows: Places | slice, n_features: int) -> NDArray[np.float32]:
        """The features with the largest mean squares."""
        candidates = np.hstack([np.zeros((6, 0)), *self._columns])
        order = np.argsort(-candidates[5], kind="stable")[:n_features]
        order = np.sort(order[candidates[5, order] > 0.0])
        one, two, feature = candidates[:, order][[0, 1, 3]].astype(np.int64)
        sign, scale = candidates[:, order][[2, 4]].astype(np.float32)
        vectors = np.hstack(self._vectors).T.astype(np.float32, order="C")
        features = np.hstack([table[rows] for table in self._features]).T
        features = features.astype(np.float32, order="C")
        out = np.empty((len(pairs), len(order)), dtype=np.float32)

        def fill(start: int, stop: int) -> None:
            ends = (side[start:stop] for side in (pairs.first, pairs.second))
            tables = *(vectors.take(end, axis=1) for end in ends), features[:, start:stop]
            fill_principal_features(out[start:stop], *tables, one, two, sign, feature, scale)

        run_in_ranges(fill, len(out), _PAIRS_PER_RANGE)
        return out


def _parts(table: TermTable) -> list[_Part] | None:
    """Terms put together by their signs; None where they are not of the forms above."""
    left, parts = table.by_edges, []
    while left:
        edges, weight = next(iter(left.items()))
        grams = {gram for gram in edges if gram >= 0}
        if len(grams) > 1 or (weight <= 0.0 and not grams):
            return None
        gram = grams.pop() if grams else -1
        part = _taken(left, gram, [gram >= 0 for gram in edges])
        if part is None or part.weight <= 0.0:
            return None
        parts.append(part)
    return parts


def _taken(left: dict[tuple[int, ...], float], gram: int, present: list[bool]) -> _Part | None:
    """The part that a term belongs to, taken out of those that are left."""

    def take(*edges: int) -> float:
        return left.pop(tuple(gram if edge in edges else -1 for edge in range(4)), 0.0)

    if sum(present) == 0:
        return _Part(-1, take(), 1.0, False)
    if sum(present) == 1:
        straight, crossed = [take(0), take(3)], [take(1), take(2)]
    elif present in ([True, False, False, True], [False, True, True, False]):
        straight, crossed = [take(0, 3)], [take(1, 2)]
    else:
        return None
    agree = len({*straight}) == len({*crossed}) == 1
    if not agree or crossed[0] not in (0.0, straight[0], -straight[0]):
        return None
    sign = float(np.sign(crossed[0]))
    return None if not straight[0] else _Part(gram, straight[0], sign, sum(present) == 2)


def leading_eigenvectors(gram: Matrix, rank: int) -> Eigen:
    """The largest eigenvalues and their vectors, roughly where there are many objects."""
    size = len(gram)
    if size <= max(_FEW_OBJECTS, 2 * rank):
        values, vectors = np.linalg.eigh(gram)
        return np.maximum(values[::-1][:rank], 0.0), vectors[:, ::-1][:, :rank]
    narrow = gram.astype(np.float32)
    basis = np.random.default_rng(0).normal(size=(size, rank + _SPARE)).astype(np.float32)
    for _ in range(_ROUNDS):
        basis = scipy.linalg.qr(narrow @ basis, mode="economic", check_finite=False)[0]
    values, turned = np.linalg.eigh((basis.T @ (narrow @ basis)).astype(np.float64))
    return np.maximum(values[::-1][:rank], 0.0), (basis @ turned[:, ::-1][:, :rank]).astype(float)
