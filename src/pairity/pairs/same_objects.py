"""Which rows are the same object: the question that every leak-free split answers first.

A row number is not an object.  The same team may stand in two rows of the table, and a model
cannot tell two rows with equal features apart, so a pair learnt with one of them is known for
the other.  The rule ("auto"):

1. where the pairs carry ``ids``, rows with equal ids are one object and no others are: the ids
   say so, even for two objects that look alike;
2. otherwise rows with equal features are one object;
3. where objects have no features at all, each row is an object of its own.

"ids", "content" and "rows" ask for one of these by name.

Two lists of pairs are made one by the same rule, and objects that were seen in training are recognised
in other pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from pairity.exceptions import DataError
from pairity.pairs.arrays import Features, Mask, distinct_rows, joined
from pairity.pairs.arrays import Places as Codes
from pairity.pairs.data import Pairs
from pairity.pairs.parity import unordered_keys
from pairity.runtime.validation import check_choice

IDENTITIES = ("auto", "ids", "content", "rows")


@dataclass(frozen=True, eq=False)
class Ends:
    """The two objects of every pair, as numbers 0, 1, ... of the objects in use.

    The numbers depend on the objects alone, not on the order of the pairs or of their ends: a
    split made from them is the same for pairs and for swapped pairs.
    """

    first: Codes  # (n,)
    second: Codes  # (n,)
    n_objects: int
    table_rows: Codes  # rows of the object table in use
    table_objects: Codes  # the object each of them is

    def __len__(self) -> int:
        return len(self.first)

    def unordered(self) -> Codes:
        """A number for each pair, the same for all observations of one unordered pair."""
        keys = unordered_keys(self.first, self.second, self.n_objects)
        return np.unique(keys, return_inverse=True)[1].reshape(-1)

    def objects_of(self, chosen: Mask) -> Mask:
        """Whether each object occurs in one of the chosen pairs, shape (n_objects,)."""
        occurs = np.zeros(self.n_objects, dtype=np.bool_)
        occurs[self.first[chosen]] = True
        occurs[self.second[chosen]] = True
        return occurs

    def n_new(self, train: Mask) -> Codes:
        """How many of the two objects of each pair, 0 to 2, occur in no training pair."""
        new = ~self.objects_of(train)
        return new[self.first].astype(np.intp) + new[self.second]


def read_pairs(X: Any, n_symmetric: int = 0, n_antisymmetric: int = 0) -> Pairs:
    """Pairs as given, or from wide rows ``[x_a | x_ab | x~_ab | x_b]``."""
    return X if isinstance(X, Pairs) else Pairs.from_rows(X, n_symmetric, n_antisymmetric)


def ends_of(pairs: Pairs, identity: str = "auto") -> Ends:
    """Recognise the objects of pairs by the rule named."""
    check_choice(identity, "identity", IDENTITIES)
    rows = np.concatenate([pairs.first, pairs.second])
    table_rows, place = np.unique(rows, return_inverse=True)
    objects = _objects_of_rows(pairs, table_rows, identity)
    first, second = np.split(objects[place.reshape(-1)], 2)
    return Ends(first, second, int(objects.max(initial=-1)) + 1, table_rows, objects)


def _objects_of_rows(pairs: Pairs, table_rows: Codes, identity: str) -> Codes:
    """Numbers 0, 1, ... of the objects that rows of the table are."""
    if identity == "auto":
        identity = "content" if pairs.n_object_features else "rows"
        identity = identity if pairs.ids is None else "ids"
    if identity == "rows":
        return np.arange(len(table_rows))
    if identity == "content":
        return distinct_rows(pairs.objects[table_rows]).inverse
    if pairs.ids is None:
        raise ValueError(
            "got identity='ids' for pairs without ids; expected ids that name the objects: pass"
            " ids to Pairs, or identity='content'."
        )
    number: dict[Any, int] = {}
    names = pairs.ids[table_rows].tolist()
    return np.array([number.setdefault(name, len(number)) for name in names], dtype=np.intp)


def connected_parts(first: Codes, second: Codes, n_objects: int) -> Codes:
    """Number of the part of each object in the graph of pairs; no pair connects two parts."""
    links = sp.coo_array((np.ones(len(first)), (first, second)), shape=(n_objects, n_objects))
    return connected_components(links, directed=False)[1].astype(np.intp)


def join(left: Codes, right: Codes) -> Codes:
    """Number items so that items which share a left or a right value, in chains, get one number."""
    n_left, n_right = int(left.max(initial=-1)) + 1, int(right.max(initial=-1)) + 1
    return connected_parts(left, n_left + right, n_left + n_right)[left]


# Two lists of pairs -----------------------------------------------------------------------------


def together(one: Pairs, other: Pairs, *, with_groups: bool = False) -> Pairs:
    """Pairs of two tables as pairs of one: rows of the second after those of the first.

    Group features and times are left out where it is to tell which objects they share.
    """
    named = one.ids is not None and other.ids is not None
    joint = Pairs(
        joined([one.objects, other.objects], 0),
        np.concatenate([one.first, one.n_objects + other.first]),
        np.concatenate([one.second, one.n_objects + other.second]),
        ids=np.concatenate([one.ids, other.ids]) if named else None,
    )
    if not with_groups:
        return joint
    symmetric = np.concatenate([one.symmetric, other.symmetric])
    antisymmetric = np.concatenate([one.antisymmetric, other.antisymmetric])
    joint = joint.with_features(joint.objects, symmetric, antisymmetric)
    if one.time is None or other.time is None:
        return joint
    return joint.at(np.concatenate([one.time, other.time]))


def one_after_another(one: Pairs, other: Pairs) -> Pairs:
    """Pairs of the same columns in one list; objects with equal ids, or features, are the same."""
    for name, what in (("ids", "ids"), ("time", "times")):
        if (getattr(one, name) is None) != (getattr(other, name) is None):
            raise DataError(
                f"got pairs with {what} and pairs without; expected {what} in both, or in neither:"
                f" pass {name}=... to Pairs."
            )
    return together(one, other, with_groups=True).compact()


def at_the_latest_time(pairs: Pairs, of: Pairs) -> Pairs:
    """Made-up pairs at the latest time of those they are made from, where these have times."""
    return pairs if of.time is None or not len(of) else pairs.at(float(of.time.max()))


@dataclass(frozen=True, eq=False)
class KnownObjects:
    """One row for each object: its id as a number, or its features where pairs have no ids."""

    names: Features
    by_ids: bool

    @classmethod
    def of(cls, pairs: Pairs) -> Self:
        """The distinct objects of pairs, ordered by content."""
        by_ids = pairs.ids is not None
        names = _names(pairs.without_unused_objects(), by_ids)
        return cls(names[distinct_rows(names).representative], by_ids)

    def __len__(self) -> int:
        return int(self.names.shape[0])

    def places(self, pairs: Pairs) -> Codes:
        """Place of each row of the table of objects among those that are known, or -1."""
        if self.by_ids and pairs.ids is None:  # nobody says who they are
            return np.full(pairs.n_objects, -1)
        same = distinct_rows(joined([self.names, _names(pairs, self.by_ids)], 0)).inverse
        number = np.full(int(same.max(initial=-1)) + 1, -1)
        number[same[: len(self)]] = np.arange(len(self))
        return number[same[len(self) :]]


def _names(pairs: Pairs, by_ids: bool) -> Features:
    codes = pairs.id_codes if by_ids else None
    return pairs.objects if codes is None else codes[:, np.newaxis]
