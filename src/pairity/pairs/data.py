"""Pairs of objects: the one data type that travels through the library.

A table of objects is stored once; a pair is two row numbers into it, plus features of the pair
itself.  Formula (1) of the paper writes the same thing as one wide row
``X_ab = (x_a, x_ab, x~_ab, x_b)``; the operator T of formula (2) is :meth:`Pairs.swap`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pairity.pairs.arrays import Features as ObjectTable
from pairity.pairs.arrays import Mask, Matrix, Places, Vector, codes_of_ids, distinct_rows, joined
from pairity.runtime.validation import (
    as_feature_table,
    as_group_features,
    as_object_indices,
    as_times,
    refuse_large_features,
    refuse_one_sided,
    refuse_other_ids,
    refuse_other_length,
)

#: What there is one row of for each pair; times are there if they were given.
_BY_PAIR = ("first", "second", "symmetric", "antisymmetric")


class Pairs:
    """Pairs of objects with individual features and two kinds of group features.

    Parameters
    ----------
    objects : array-like or SciPy sparse matrix of shape (m, n1)
        Individual features, one row an object.  Finite real numbers, here and in group features:
        dates and times are refused, because no unit is right for all of them
        (``(column - origin) / numpy.timedelta64(1, "D")`` gives days), and so are masked values.
    first, second : array-like of int of shape (n,)
        Row numbers into ``objects``: pair ``i`` is ``(first[i], second[i])``.
    symmetric : array-like of shape (n, n2), optional
        Group features ``x_ab`` that stay under a swap (a distance, a same-league flag).
    antisymmetric : array-like of shape (n, n3), optional
        Group features ``x~_ab`` that change sign under a swap (a relative position, home +1 /
        away -1).  They must be 0 for a pair of an object with itself.
    ids : sequence of length m, optional
        Names of the objects, kept for people to read.
    time : array-like of shape (n,), optional
        When each pair was observed: numbers in a unit of your own, or dates, which become days
        since 1970-01-01.  An object at a time is the object with a clock: kernels of time
        (:class:`~pairity.kernels.Drift`) compare it, ``TimeSplit`` splits by it.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs
    >>> pairs = Pairs(np.array([[0.0], [1.0], [5.0]]), first=[0, 2], second=[1, 0])
    >>> pairs
    Pairs(2 pairs of 3 objects; features: 1 object, 0 symmetric, 0 antisymmetric)
    >>> pairs.swap().to_rows()
    array([[1., 0.],
           [0., 5.]])
    """

    objects: ObjectTable
    first: Places
    second: Places
    symmetric: Matrix
    antisymmetric: Matrix
    ids: NDArray[Any] | None
    time: Vector | None = None
    _codes: Vector | None
    _in_order: bool = False  # whether the objects are distinct, and ordered by content

    def __init__(
        self,
        objects: ArrayLike | sp.spmatrix | sp.sparray,
        first: ArrayLike,
        second: ArrayLike,
        symmetric: ArrayLike | None = None,
        antisymmetric: ArrayLike | None = None,
        *,
        ids: Sequence[Any] | NDArray[Any] | None = None,
        time: ArrayLike | None = None,
    ) -> None:
        self.objects = as_feature_table(objects, "objects")
        self.first = as_object_indices(first, "first", self.n_objects)
        self.second = as_object_indices(second, "second", self.n_objects)
        refuse_other_length(self.first, self.second)
        self.symmetric = as_group_features(symmetric, "symmetric", len(self.first))
        self.antisymmetric = as_group_features(antisymmetric, "antisymmetric", len(self.first))
        self.time = None if time is None else as_times(time, "time", len(self.first))
        self.ids, self._codes = None if ids is None else np.asarray(ids), None
        if self.ids is not None:
            refuse_other_ids(len(self.ids), self.n_objects)
        refuse_one_sided(self.first == self.second, self.antisymmetric)

    @classmethod
    def _trusted(cls, *parts: Any) -> Pairs:
        """Build from parts that were checked before: objects, what there is by pair, ids."""
        pairs = cls.__new__(cls)
        pairs.__dict__.update(zip(("objects", *_BY_PAIR, "ids"), parts, strict=True), _codes=None)
        return pairs

    def _with(self, **parts: Any) -> Pairs:
        """The same pairs with some parts exchanged for others that were checked before."""
        pairs = Pairs.__new__(Pairs)
        pairs.__dict__.update(self.__dict__, **parts)
        return pairs

    @property
    def _by_pair(self) -> tuple[str, ...]:
        return _BY_PAIR if self.time is None else (*_BY_PAIR, "time")

    @property
    def clock(self) -> Matrix:
        """Times as a column, shape (n, 1), in the precision of the features."""
        if self.time is None:
            raise ValueError(
                "got pairs without times for a kernel of time; expected the time of each pair: pass"
                " time=... to Pairs or Pairs.from_frame (--time COLUMN in the shell)."
            )
        return self.time[:, np.newaxis].astype(self.objects.dtype, copy=False)

    def without_ids(self) -> Pairs:
        """The same pairs of objects that go by their features alone."""
        return self if self.ids is None else self._with(ids=None, _codes=None, _in_order=False)

    def at(self, time: Any) -> Pairs:
        """The same pairs at another time, one for all of them or one for each."""
        time = np.full(len(self), as_times([time], "time", 1)[0]) if np.ndim(time) == 0 else time
        return self._with(time=as_times(time, "time", len(self)))

    # Sizes, and what scikit-learn looks at when it splits data -------------------------------

    def __len__(self) -> int:
        return len(self.first)

    @property
    def n_objects(self) -> int:
        """Number of rows m of the object table."""
        return int(self.objects.shape[0])

    @property
    def n_object_features(self) -> int:
        """Number of individual features n1."""
        return int(self.objects.shape[1])

    @property
    def n_symmetric(self) -> int:
        """Number of symmetric group features n2."""
        return int(self.symmetric.shape[1])

    @property
    def n_antisymmetric(self) -> int:
        """Number of antisymmetric group features n3."""
        return int(self.antisymmetric.shape[1])

    @property
    def id_codes(self) -> NDArray[np.float64] | None:
        """A number for each object that is the same for equal ids anywhere; None without ids."""
        if self.ids is not None and self._codes is None:
            self._codes = codes_of_ids(self.ids)
        return self._codes

    @property
    def shape(self) -> tuple[int, int]:
        """``(n, 2 n1 + n2 + n3)``: the shape of :meth:`to_rows`."""
        return len(self), 2 * self.n_object_features + self.n_symmetric + self.n_antisymmetric

    @property
    def ndim(self) -> int:
        """Always 2."""
        return 2

    @property
    def dtype(self) -> np.dtype[Any]:
        """Always float64."""
        return np.dtype(np.float64)

    def __repr__(self) -> str:
        return (
            f"Pairs({len(self)} pairs of {self.n_objects} objects; features: {self.n_object_features}"
            f" object, {self.n_symmetric} symmetric, {self.n_antisymmetric} antisymmetric)"
        )

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        """Refuse to be a plain array: nobody would know which columns are whose."""
        raise TypeError(
            "got Pairs where a plain array is expected; expected an estimator or transformer of pairs:"
            " ObjectTransformer(StandardScaler()) scales the objects, Symmetrized(estimator) takes any"
            " estimator of scikit-learn, and pairs.to_rows() gives wide rows."
        )

    def __getitem__(self, key: Any) -> Pairs:
        """Some of the pairs: an integer, slice, mask or index array; the objects stay."""
        if isinstance(key, tuple):  # scikit-learn asks for X[rows, ...] and X[rows, :]
            if len(key) != 2 or (key[1] is not Ellipsis and key[1] != slice(None)):
                raise IndexError(
                    "got an index over features; expected one over pairs: slice the pairs with"
                    " pairs[rows], and the columns before building the Pairs."
                )
            key = key[0]
        if not isinstance(key, slice):  # of a slice no copy: nothing writes into the parts of pairs
            key = np.atleast_1d(np.arange(len(self))[key])
        return self._with(**{name: getattr(self, name)[key] for name in self._by_pair})

    def __iter__(self) -> Iterator[Pairs]:
        return (self[row] for row in range(len(self)))

    # The operator T ---------------------------------------------------------------------------

    def swap(self) -> Pairs:
        """All pairs with their two objects exchanged: the operator T of formula (2)."""
        return self._with(first=self.second, second=self.first, antisymmetric=-self.antisymmetric)

    def with_swapped(self, rows: Mask) -> Pairs:
        """The same pairs, those of a mask written in the other order."""
        signs = np.where(rows, -1.0, 1.0)[:, np.newaxis]
        return self._with(
            first=np.where(rows, self.second, self.first),
            second=np.where(rows, self.first, self.second),
            antisymmetric=signs * self.antisymmetric + 0.0,  # no -0.0: equal pairs have equal bits
        )

    def with_mirrored(self) -> Pairs:
        """The pairs followed by their swaps: the full training set I from the halved set J."""
        sides = self, self.swap()
        both = {name: [getattr(side, name) for side in sides] for name in self._by_pair}
        return self._with(**{name: np.concatenate(parts) for name, parts in both.items()})

    @classmethod
    def complete(cls, objects: ArrayLike | sp.spmatrix | sp.sparray, **options: Any) -> Pairs:
        """All unordered pairs of distinct objects, each once, ``first < second``."""
        return cls(objects, *np.triu_indices(np.shape(objects)[0], 1), **options)

    # Wide rows, and back ----------------------------------------------------------------------

    def to_rows(self) -> NDArray[np.float64] | sp.csr_array:
        """Wide rows ``[x_a | x_ab | x~_ab | x_b]`` of formula (1); CSR if the objects are."""
        ends = self.objects[self.first], self.objects[self.second]
        return joined([ends[0], self.symmetric, self.antisymmetric, ends[1]], 1)

    @classmethod
    def from_rows(
        cls,
        rows: ArrayLike | sp.spmatrix | sp.sparray,
        n_symmetric: int = 0,
        n_antisymmetric: int = 0,
    ) -> Pairs:
        """Pairs from wide rows ``[x_a | x_ab | x~_ab | x_b]``; equal objects are recognised.

        A row whose two halves are equal is a pair of an object with itself, unless one of its
        antisymmetric features is nonzero: then it is two objects that look alike.
        """
        from pairity.pairs.from_tables import split_rows

        return cls._trusted(*split_rows(rows, n_symmetric, n_antisymmetric), None)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        first: str,
        second: str,
        objects: Any = None,
        id: str | None = None,
        features: Sequence[str] | None = None,
        symmetric: Sequence[str] = (),
        antisymmetric: Sequence[str] = (),
        ids: str = "features",
        encoding: Any = None,
        symmetric_encoding: Any = None,
        time: str | None = None,
    ) -> Pairs:
        """Pairs from a table of ids, and a table of objects that the ids name.

        Parameters
        ----------
        frame : table of pandas, polars or Arrow
            One row a pair.
        first, second : str
            Columns of ``frame`` with the ids of the two objects.
        objects : table of pandas, polars or Arrow, optional
            One row an object.  Its index holds the ids, or the column named by ``id``.
            Without it each id is an object of its own, with one indicator feature (sparse):
            the linear kernel is then the Bradley-Terry model.
        id : str, optional
            Column of ``objects`` with the ids.
        features : sequence of str, optional
            Columns of ``objects`` to use; all others than ``id`` by default.
        symmetric, antisymmetric : sequence of str
            Columns of ``frame`` with group features of the two kinds.
        ids : {"features", "names"}
            What ids are without a table of objects: a feature each (only known objects can be asked
            about), or names, so that a model goes by the group features alone, of any pair.
        encoding, symmetric_encoding : TableEncoding, optional
            How columns of ``objects``, and symmetric columns of ``frame``, of any type become
            numbers, learnt from training tables: :meth:`pairity.pairs.TableEncoding.learn`.
        time : str, optional
            Column of ``frame`` that says when each pair was observed: numbers or dates.
        """
        from pairity.pairs.from_tables import read_frame

        of_objects = (first, second), ids, objects, id, features, encoding
        group = symmetric, symmetric_encoding, antisymmetric, time
        return cls(**read_frame(frame, of_objects, group))

    @classmethod
    def from_graph(
        cls,
        graph: Any,
        *,
        features: Any = None,
        symmetric: Sequence[Any] = (),
        antisymmetric: Sequence[Any] = (),
        label: Any = None,
        symmetry: str | None = None,
        reciprocal: str = "merge",
    ) -> Any:
        """Pairs from the edges of a graph: ``pairs``, or ``pairs, y`` when a label is asked for.

        Nodes are the objects, isolated ones too, and their names the ``ids``.  Each edge is one
        pair; a directed a->b is the pair (a, b).  Self-loops and parallel edges are refused.

        Parameters
        ----------
        graph : networkx graph, or square sparse or dense adjacency matrix
            In a matrix nonzero entries are edges; a symmetric matrix is an undirected graph.
        features : sequence of str or table of shape (m, n1), optional
            Node attributes by name (networkx), or one row a node in the order of the nodes.
            Without it each node has one indicator feature (sparse).
        symmetric, antisymmetric : sequence
            Edge attributes that are group features of the two kinds: names (networkx), or
            matrices like the adjacency ("weight" is the adjacency itself).  Where a->b and b->a
            are both there, they must agree, or be opposite.
        label : optional
            Edge attribute to return as y; NaN (or None among texts) on edges without it.
        symmetry : {"symmetric", "antisymmetric"}, optional
            What labels do against the direction of an edge: by default stay in an undirected
            graph, change sign in a directed one.
        reciprocal : {"merge", "keep"}
            What becomes of a->b and b->a: one pair if their labels say the same, or two.
        """
        from pairity.pairs.from_graphs import read_graph

        names = features, symmetric, antisymmetric
        parts, labels = read_graph(graph, *names, label, symmetry, reciprocal)
        return cls(**parts) if label is None else (cls(**parts), labels)

    def without_unused_objects(self) -> Pairs:
        """The same pairs over a table of the objects in use, in the order they were in."""
        used = np.zeros(self.n_objects, dtype=np.bool_)
        used[self.first] = used[self.second] = True
        return self if used.all() else self._with_objects(used, np.cumsum(used) - 1)

    def _with_objects(self, chosen: Any, number: Places) -> Pairs:
        """The same pairs over some rows of the table, ``number[i]`` being that of row i."""
        return self._with(
            objects=self.objects[chosen],
            first=number[self.first],
            second=number[self.second],
            ids=None if self.ids is None else self.ids[chosen],
            _codes=None if self._codes is None else self._codes[chosen],
        )

    def refuse_large(self) -> None:
        """Refuse features that are too large to learn from; a fitted model may meet them."""
        for name in ("objects", "symmetric", "antisymmetric"):
            refuse_large_features(getattr(self, name), name)

    def with_features(
        self, objects: ObjectTable, symmetric: Matrix, antisymmetric: Matrix
    ) -> Pairs:
        """The same pairs with other features, taken as they are: one row each, finite."""
        groups = {"symmetric": symmetric, "antisymmetric": antisymmetric}
        return self._with(objects=objects, **groups, _in_order=False)

    def compact(self) -> Pairs:
        """The same pairs over a table of the distinct objects in use, ordered by content.

        Objects are the same where features are, and ids if there are any.  The table is that of
        ``pairs.swap()`` too: evaluations on it are bit-for-bit repeatable under a swap.
        """
        pairs = self.without_unused_objects()
        if pairs._in_order:
            return pairs
        distinct = distinct_rows(pairs.objects, pairs.id_codes)
        return pairs._with_objects(distinct.representative, distinct.inverse)._with(_in_order=True)

    @property
    def has_distinct_features(self) -> bool:
        """Whether no two objects are known to have equal features."""
        return self._in_order and self.ids is None
