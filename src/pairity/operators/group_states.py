"""Few distinct group features: home or away, one of some leagues.

Where the group features of all pairs, in both orders, have few distinct values, the states
``omega``, a tensor kernel with group features is

    K(ab omega, cd upsilon) = A_ac A_bd B(omega, upsilon) + s A_ad A_bc B(mirror omega, upsilon)

with s the sign of the parity and ``mirror omega`` the features of the swapped pair.  B is a small
matrix that does not change when both states are mirrored: its eigenvectors are even or odd under
the mirror.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pairity.operators.group_features import factor_values
from pairity.pairs.arrays import Matrix, Places, Vector, distinct_rows
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity

if TYPE_CHECKING:
    from pairity.operators.terms import TermGroup

#: States at most, and pairs by which many of them are told.
_MOST_STATES, _SAMPLE = 6, 200
#: Differences that are rounding, relative to the largest entry of B.
_ROUNDING = 1e-9
#: Edges of the two terms of a tensor kernel: ac and bd, ad and bc.
STRAIGHT, CROSSED = (0, -1, -1, 0), (-1, 0, 0, -1)


@dataclass(frozen=True, eq=False)
class GroupStates:
    """Distinct group features, those of the swapped pairs, and the kernel B between them."""

    rows: Matrix  # (k, n2 + n3)
    mirror: Places  # (k,) which state the swapped pair is in
    kernel: Matrix  # (k, k)

    def __len__(self) -> int:
        return len(self.mirror)

    def of(self, pairs: Pairs) -> Places:
        """State of each of some pairs."""
        table, places = _table(pairs), np.zeros(len(pairs), dtype=np.intp)
        for place, row in enumerate(self.rows):
            places[(table == row).all(axis=1)] = place
        return places

    def decomposed(self) -> tuple[Vector, Matrix, Vector]:
        """Eigenvalues of B, eigenvectors as columns, and +1 or -1: even or odd under the mirror."""
        values, vectors, signs = [], [], []
        for sign in (1.0, -1.0):
            projection = 0.5 * (np.eye(len(self)) + sign * np.eye(len(self))[self.mirror])
            sizes, directions = np.linalg.eigh(projection)
            inside = directions[:, sizes > 0.5]  # vectors with this sign
            of_sign, turned = np.linalg.eigh(inside.T @ self.kernel @ inside)
            values.append(np.maximum(of_sign, 0.0))
            vectors.append(inside @ turned)
            signs.append(np.full(len(of_sign), sign))
        return np.concatenate(values), np.hstack(vectors), np.concatenate(signs)


#: Of pairs without group features.
ONE_STATE = GroupStates(np.zeros((1, 0)), np.zeros(1, dtype=np.intp), np.ones((1, 1)))


def _table(pairs: Pairs) -> Matrix:
    return np.hstack([pairs.symmetric, pairs.antisymmetric])


def states_of(groups: list[TermGroup], pairs: Pairs) -> tuple[GroupStates, Parity] | None:
    """States of tensor kernels of one object kernel, and the parity; None for all others.

    B is that of ``ac bd``; what the terms of ``ad bc`` add must be its mirror image.
    """
    if pairs.time is not None or not all(map(_is_tensor, groups)):
        return None
    if not all(np.array_equal(group.table.grams, groups[0].table.grams) for group in groups[1:]):
        return None
    found = _distinct(pairs)
    if found is None:
        return None
    rows, mirror, example = found
    example, swapped = example % len(pairs), example >= len(pairs)
    examples = pairs[example].with_swapped(swapped)
    straight, crossed = np.zeros((2, len(rows), len(rows)))
    for group in groups:
        weights, features = group.table.by_edges, np.ones((len(rows), 1))
        if group.left is not None and group.mirrored is not None:
            both = group.left[example], group.mirrored()[example]
            features = np.where(swapped[:, np.newaxis], both[1], both[0])
        between = features @ features.T
        if group.opaque:
            between = factor_values(group.opaque, examples, examples)
        straight += weights.get(STRAIGHT, 0.0) * between
        crossed += weights.get(CROSSED, 0.0) * between
        if group.crossed is not None:  # terms of swapped right pairs, known as they were written
            crossed += weights[STRAIGHT] * (features @ group.crossed[example].T)
    seen = np.flatnonzero(~swapped)
    scale = _ROUNDING * float(np.abs(straight).max(initial=0.0))
    for parity in Parity:
        off = crossed[:, seen] - parity.sign * straight[np.ix_(mirror, seen)]
        if float(np.abs(off).max(initial=0.0)) <= scale:
            return GroupStates(rows, mirror, straight), parity
    return None


def _is_tensor(group: TermGroup) -> bool:
    """Whether a group has no terms but those of a tensor kernel of one object kernel."""
    known = {STRAIGHT, CROSSED} >= set(group.table.by_edges)
    straight = group.crossed is None or set(group.table.by_edges) == {STRAIGHT}
    return known and straight and len(group.table.grams) == 1


def _distinct(pairs: Pairs) -> tuple[Matrix, Places, Places] | None:
    """Distinct group features in both orders, their mirror images, and an example of each.

    Examples from the number of pairs on are swapped pairs; None where there are many.
    """
    some = pairs[np.linspace(0, len(pairs) - 1, min(len(pairs), _SAMPLE)).astype(np.intp)]
    for sample in (some, pairs):
        both = np.vstack([_table(sample), _table(sample.swap())])
        distinct = distinct_rows(both)
        if len(distinct.representative) > _MOST_STATES:
            return None
    example, inverse = distinct.representative, distinct.inverse
    mirror = inverse[(example + len(pairs)) % (2 * len(pairs))]
    return both[example], mirror, example
