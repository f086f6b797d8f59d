"""What is held out together (units of pairs or of objects), and how units are dealt into folds."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from pairity.selection.identity import Codes, Ends, Mask, join
from pairity.validation import distinct_labels

__all__ = [
    "Units",
    "as_labels",
    "deal",
    "deal_groups",
    "highest_label",
    "object_units",
    "pair_units",
]


@dataclass(frozen=True, eq=False)
class Units:
    """Pair i hangs on the units ``first[i]`` and ``second[i]`` (equal where pairs are the units).

    ``weights`` counts the pairs that hang on each unit, a pair twice if both its ends do.
    ``grouped`` units are groups that somebody named, of any sizes.
    """

    first: Codes  # (n,)
    second: Codes  # (n,)
    weights: Codes  # (n_units,)
    grouped: bool

    def touched(self, held: Mask) -> Mask:
        """Pairs that hang on a held-out unit."""
        return held[self.first] | held[self.second]


def _units(first: Codes, second: Codes, grouped: bool) -> Units:
    weights = (
        np.bincount(first) if first is second else np.bincount(np.concatenate([first, second]))
    )
    return Units(first, second, weights, grouped)


def as_labels(values: ArrayLike, name: str, expected: int, of: str) -> Codes:
    """Numbers 0, 1, ... for the distinct values, one value for each of the ``expected``."""
    array = np.asarray(values)
    if array.shape != (expected,):
        raise ValueError(
            f"got {name} of shape {array.shape}; expected ({expected},), one for each {of}: pass an"
            " array of that length."
        )
    try:
        codes = np.unique(array, return_inverse=True)[1]
    except TypeError:  # several types
        codes = np.searchsorted(distinct_labels(array, name), array)
    return codes.reshape(-1).astype(np.intp)


def pair_units(ends: Ends, groups: ArrayLike | None) -> Units:
    """All observations of an unordered pair are a unit; where there are groups, each group is."""
    unit = ends.unordered() if groups is None else as_labels(groups, "groups", len(ends), "pair")
    return _units(unit, unit, groups is not None)


def object_units(ends: Ends, object_groups: Any, n_table_rows: int | None) -> Units:
    """Each object is a unit, or each group of objects.

    ``object_groups`` has one value for each row of the object table (``n_table_rows`` of them;
    ``None`` when wide rows were given, which have no such table), or is "components": the parts
    of the graph of pairs that no pair connects.
    """
    unit = np.arange(ends.n_objects)
    if isinstance(object_groups, str):
        unit = _connected_parts(ends)
    elif object_groups is not None:
        unit = _grouped(ends, object_groups, n_table_rows)
    return _units(unit[ends.first], unit[ends.second], object_groups is not None)


def _connected_parts(ends: Ends) -> Codes:
    shape = (ends.n_objects, ends.n_objects)
    links = sp.coo_array((np.ones(len(ends)), (ends.first, ends.second)), shape=shape)
    return connected_components(links, directed=False)[1].astype(np.intp)


def _grouped(ends: Ends, object_groups: ArrayLike, n_table_rows: int | None) -> Codes:
    if n_table_rows is None:
        raise ValueError(
            "got object_groups with wide rows; expected Pairs, whose table of objects the groups"
            " refer to: use Pairs.from_rows(rows) and group its objects."
        )
    groups = as_labels(object_groups, "object_groups", n_table_rows, "row of the object table")
    joined = join(ends.table_objects, groups[ends.table_rows])
    unit = np.empty(ends.n_objects, dtype=np.intp)
    unit[ends.table_objects] = np.unique(joined, return_inverse=True)[1].reshape(-1)
    return unit


def deal(
    weights: Codes, n_folds: int, generator: np.random.Generator, strata: Codes | None = None
) -> Codes:
    """Fold of each unit: numbers of units differ by at most 1, weights by at most the largest.

    Units are dealt like cards, heaviest first (equal ones in random order), in rounds that go
    forth and back: 0, 1, ..., K-1, K-1, ..., 1, 0, 0, 1, ...  Between two folds each two rounds
    even out what the first of them gave, so the differences of the weights telescope to at most
    the heaviest unit less the lightest.  With ``strata`` the units of a stratum are dealt one
    after another, so that each fold gets its share.
    """
    order = generator.permutation(len(weights))
    strata = np.zeros(len(weights), dtype=np.intp) if strata is None else strata
    order = order[np.lexsort((-weights[order], strata[order]))]
    in_round = np.arange(len(order)) % (2 * n_folds)
    folds = np.empty(len(order), dtype=np.intp)
    folds[order] = np.minimum(in_round, 2 * n_folds - 1 - in_round)
    return folds


def deal_groups(weights: Codes, n_folds: int, generator: np.random.Generator) -> Codes:
    """Fold of each unit where sizes are uneven: heaviest first, each to the lightest fold so far.

    Numbers of units may differ; weights differ by at most the largest, as in :func:`deal`, and a
    fold with a giant gets nothing else while the others fill up.
    """
    order = generator.permutation(len(weights))
    order = order[np.argsort(-weights[order], kind="stable")]
    loads = [(0, 0, fold) for fold in range(n_folds)]  # weight, units, fold
    folds = np.empty(len(weights), dtype=np.intp)
    for unit in order.tolist():
        weight, n_units, fold = loads[0]
        folds[unit] = fold
        heapq.heapreplace(loads, (weight + int(weights[unit]), n_units + 1, fold))
    return folds


def highest_label(units: Codes, labels: Codes, n_units: int) -> Codes:
    """The highest label among the observations of each unit: its stratum."""
    stratum = np.zeros(n_units, dtype=np.intp)
    np.maximum.at(stratum, units, labels)
    return stratum
