"""Columns that people make of pairs for models of plain rows.

Odd columns change sign when the pair is swapped, even ones stay; raw ones exchange places.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairity import Pairs

Matrix = np.ndarray


@dataclass(frozen=True, eq=False)
class Scale:
    """Centres and spreads of training features; antisymmetric ones are not shifted."""

    centres: tuple[Matrix, Matrix]
    spreads: tuple[Matrix, Matrix, Matrix]

    @classmethod
    def of(cls, pairs: Pairs, common: bool) -> Scale:
        """From the objects and group features of training pairs; ``common`` keeps one unit."""
        ends = np.asarray(pairs.objects)[np.concatenate([pairs.first, pairs.second])]
        centres = ends.mean(axis=0), pairs.symmetric.mean(axis=0)
        spread = ends.std(axis=0)
        if common:
            spread = np.full_like(spread, np.sqrt(np.mean(spread**2)))
        odd = np.sqrt(np.mean(pairs.antisymmetric**2, axis=0))
        return cls(
            centres, (_positive(spread), _positive(pairs.symmetric.std(axis=0)), _positive(odd))
        )

    def apply(self, pairs: Pairs) -> Pairs:
        """The pairs with scaled features."""
        objects = (np.asarray(pairs.objects) - self.centres[0]) / self.spreads[0]
        return Pairs(
            objects,
            pairs.first,
            pairs.second,
            (pairs.symmetric - self.centres[1]) / self.spreads[1],
            pairs.antisymmetric / self.spreads[2],
            ids=pairs.ids,
        )


def _positive(spread: Matrix) -> Matrix:
    return np.where(spread > 0.0, spread, 1.0)


def _ends(pairs: Pairs) -> tuple[Matrix, Matrix]:
    objects = np.asarray(pairs.objects)
    return objects[pairs.first], objects[pairs.second]


def raw_columns(pairs: Pairs) -> Matrix:
    """Features of one, of the other, of the pair."""
    return np.hstack([*_ends(pairs), pairs.symmetric, pairs.antisymmetric])


def differences(pairs: Pairs) -> Matrix:
    """Odd: differences of the features, antisymmetric features."""
    left, right = _ends(pairs)
    return np.hstack([left - right, pairs.antisymmetric])


def odd_interactions(pairs: Pairs) -> Matrix:
    """Odd: differences of squares, and differences times each symmetric feature."""
    left, right = _ends(pairs)
    odd = differences(pairs)
    times = [odd * column[:, np.newaxis] for column in pairs.symmetric.T]
    return np.hstack([odd, left**2 - right**2, *times])


def mixed_columns(pairs: Pairs) -> Matrix:
    """Differences, sums and group features: what trees of an antisymmetric task are given."""
    left, right = _ends(pairs)
    return np.hstack([differences(pairs), left + right, pairs.symmetric])


def even_columns(pairs: Pairs) -> Matrix:
    """Even: sums, absolute differences, products, group features, distance, cosine."""
    left, right = _ends(pairs)
    apart = np.abs(left - right)
    return np.hstack([left + right, apart, left * right, alike_columns(pairs)])


def likeness_columns(pairs: Pairs) -> Matrix:
    """Even: absolute differences, group features, distance, cosine: nothing of where they are."""
    left, right = _ends(pairs)
    return np.hstack([np.abs(left - right), alike_columns(pairs)])


def alike_columns(pairs: Pairs) -> Matrix:
    """Even: group features, distance and cosine of the two objects."""
    left, right = _ends(pairs)
    squared = np.sum((left - right) ** 2, axis=1)
    lengths = np.sqrt(np.sum(left**2, axis=1) * np.sum(right**2, axis=1))
    cosine = np.sum(left * right, axis=1) / np.where(lengths > 0.0, lengths, 1.0)
    return np.column_stack([pairs.symmetric, np.abs(pairs.antisymmetric), np.sqrt(squared), cosine])
