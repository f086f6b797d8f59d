"""The best partners of each object: the largest values f(a, b) over b.

Where every monomial of the kernel's formula has the new pair's objects one at a time, ``f(a, b) =
g(a) + h(b)``: the partners of all objects are the first of one list, and of m objects ``m + m (k + 1)``
pairs are scored in the place of ``m (m - 1)``.  Candidates (:func:`pairity.matching.nearest_records`,
say) are scored alone.  Otherwise all pairs are, some objects at a time: nothing of the size of all
pairs is held.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairity.estimators.unwrap import machine_of
from pairity.inspection.fitted_function import as_frame, object_names, values_of
from pairity.kernels.atoms import expand
from pairity.pairs.arrays import Places, Vector, batches
from pairity.pairs.data import Pairs
from pairity.runtime.validation import check_count

#: Pairs that are scored at a time.
_PAIRS_AT_A_TIME = 500_000


@dataclass(frozen=True, eq=False)
class Partners:
    """Best partners of each object.

    Attributes
    ----------
    ids : ndarray of shape (m,)
        Names of the objects; row numbers where there are none.
    partners : ndarray of int of shape (m, k)
        Rows of the partners, best first; -1 where there are fewer.
    values : ndarray of shape (m, k)
        Values ``f(object, partner)``; NaN where there is none.
    n_scored : int
        Pairs that the model was asked about.
    """

    ids: NDArray[Any]
    partners: Places
    values: Vector
    n_scored: int

    def of(self, name: Any) -> list[Any]:
        """Names of the partners of one object, best first."""
        (row,) = np.flatnonzero(self.ids == name)
        return self.ids[self.partners[row][self.partners[row] >= 0]].tolist()

    def to_frame(self) -> Any:
        """A pandas table: object, rank, partner, value."""
        rows, ranks = np.nonzero(self.partners >= 0)
        return as_frame(
            {
                "object": self.ids[rows],
                "rank": ranks + 1,
                "partner": self.ids[self.partners[rows, ranks]],
                "value": self.values[rows, ranks],
            }
        )


def top_partners(model: Any, objects: Any, k: int = 5, *, ids: ArrayLike | None = None) -> Partners:
    """Best partners of each object, by a model of either symmetry.

    Of a symmetric model these are the objects most alike or most surely linked; of an antisymmetric
    one those that the object is furthest ahead of.

    Parameters
    ----------
    model : fitted model
        Anything with ``decision_function`` on Pairs, or a regressor.
    objects : array-like of shape (m, n1), or Pairs
        Objects, all pairs of which are in question; or candidate pairs, with the group features that
        the model needs, in either order.
    k : int
        Partners of each object.
    ids : sequence of length m, optional
        Names of the objects.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs, PairSVC
    >>> from pairity.inspection import top_partners
    >>> from pairity.kernels import Gaussian, MetricLearning
    >>> places = np.array([[0.0], [0.1], [5.0], [5.3]])
    >>> pairs = Pairs.complete(places)
    >>> near = np.where(np.abs(places[pairs.first] - places[pairs.second])[:, 0] < 1, 1, -1)
    >>> model = PairSVC("symmetric", kernel=MetricLearning(Gaussian(1.0)), C=10.0).fit(pairs, near)
    >>> top_partners(model, places, 1).partners.ravel().tolist()
    [1, 0, 3, 2]
    """
    check_count(k, "k")
    if isinstance(objects, Pairs):
        found = _of_candidates(model, objects, k)
        names = objects.ids if ids is None else ids
        return Partners(object_names(names, objects.n_objects), *found)
    table = Pairs(objects, [], [], ids=None if ids is None else np.asarray(ids))
    search = _one_list if _adds_up(model) else _all_pairs
    found = search(model, table, min(k, max(table.n_objects - 1, 0)))
    return Partners(object_names(ids, table.n_objects), *found)


Found = tuple[Places, Vector, int]


def _adds_up(model: Any) -> bool:
    """Whether ``f(a, b) = g(a) + h(b)`` by the formula of the kernel."""
    kernel = getattr(getattr(machine_of(model), "_model", None), "kernel", None)
    if kernel is None or hasattr(model, "members_"):  # those add several models
        return False
    for monomial in expand(kernel, 0, 0).terms:
        ac, ad, bc, bd = map(len, monomial.edges)
        if monomial.factors or (ac + ad and bc + bd):  # both objects of the new pair are in it
            return False
    return True


def _one_list(model: Any, table: Pairs, k: int) -> Found:
    """The k best of one list, which serves all objects; the values are the model's own."""
    m = table.n_objects
    scores = _values(model, table, np.zeros(m, dtype=np.intp), np.arange(m))
    best = np.argsort(-scores, kind="stable")[: k + 1]
    first, second = np.repeat(np.arange(m), len(best)), np.tile(best, m)
    kept = first != second
    first, second = first[kept], second[kept]
    found = _largest(first, second, _values(model, table, first, second), m, k)
    return *found, m + len(first)


def _all_pairs(model: Any, table: Pairs, k: int) -> Found:
    """All pairs, some first objects at a time."""
    m, parts = table.n_objects, []
    for rows in batches(m, _PAIRS_AT_A_TIME // max(m, 1)):
        n_rows = rows.stop - rows.start
        first, second = np.repeat(np.arange(n_rows), m), np.tile(np.arange(m), n_rows)
        values = _values(model, table, rows.start + first, second)
        other = rows.start + first != second
        parts.append(_largest(first[other], second[other], values[other], n_rows, k))
    partners, top = (np.concatenate(part) for part in zip(*parts, strict=True))
    return partners, top, m * m


def _of_candidates(model: Any, pairs: Pairs, k: int) -> Found:
    """Of candidates alone: each is in question for both of its objects."""
    values = np.concatenate([values_of(model, pairs), values_of(model, pairs.swap())])
    both = pairs.with_mirrored()
    proper = both.first != both.second
    ends = both.first[proper], both.second[proper]
    return *_largest(*ends, values[proper], pairs.n_objects, k), 2 * len(pairs)


def _values(model: Any, table: Pairs, first: Places, second: Places) -> Vector:
    return values_of(model, Pairs(table.objects, first, second, ids=table.ids))


def _largest(
    first: Places, second: Places, values: Vector, n_objects: int, k: int
) -> tuple[Places, Vector]:
    """The k largest values of each object, ties to the smaller row; repeated pairs count once."""
    order = np.lexsort((second, -values, first))
    first, second, values = first[order], second[order], values[order]
    width = int(second.max(initial=0)) + 1
    _, once = np.unique(first * width + second, return_index=True)
    keep = np.sort(once)
    first, second, values = first[keep], second[keep], values[keep]
    start = np.searchsorted(first, np.arange(n_objects))
    rank = np.arange(len(first)) - start[first]
    partners = np.full((n_objects, k), -1, dtype=np.intp)
    top = np.full((n_objects, k), np.nan)
    chosen = rank < k
    partners[first[chosen], rank[chosen]] = second[chosen]
    top[first[chosen], rank[chosen]] = values[chosen]
    return partners, top
