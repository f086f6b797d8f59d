"""Preferences as a flow on the graph of comparisons: one number per compared pair of objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from pairity.pairs import Pairs
from pairity.ranking.margins import antisymmetric_margins
from pairity.validation import refuse_extreme_weights, refuse_large_targets, refuse_lossy

__all__ = ["PreferenceFlow", "model_flow", "observed_flow"]

Vector = NDArray[np.float64]
Places = NDArray[np.intp]

#: Largest ratio of two weights.
_WIDEST = 1e12


@dataclass(frozen=True, eq=False)
class PreferenceFlow:
    """``Y_ij``: by how much object i is ahead of object j, for the pairs ``i < j`` compared.

    ``Y_ji = -Y_ij`` is not stored.  ``weights`` say how much each comparison counts.  Inner
    products of flows are ``<X, Y> = sum_e w_e X_e Y_e``.
    """

    first: Places  # (n_edges,), first < second
    second: Places
    values: Vector
    weights: Vector  # above 0
    n_objects: int

    def __len__(self) -> int:
        return len(self.values)

    def gradient(self) -> sp.csr_array:
        """The matrix that takes scores to the flow ``s_i - s_j``, shape (n_edges, n_objects)."""
        edge = np.arange(len(self))
        ones = np.ones(len(self))
        rows, columns = np.concatenate([edge, edge]), np.concatenate([self.first, self.second])
        return sp.csr_array(
            (np.concatenate([ones, -ones]), (rows, columns)), shape=(len(self), self.n_objects)
        )

    def components(self) -> Places:
        """Number of the connected part of each object; scores compare within one only."""
        shape = (self.n_objects, self.n_objects)
        graph = sp.coo_array((np.ones(len(self)), (self.first, self.second)), shape=shape)
        return connected_components(graph, directed=False)[1].astype(np.intp)

    def per_object(self, edge_values: Vector, sign: float) -> Vector:
        """Sum over the comparisons of each object, those where it is second times ``sign``."""
        as_first = np.bincount(self.first, edge_values, self.n_objects)
        return as_first + sign * np.bincount(self.second, edge_values, self.n_objects)


def observed_flow(
    pairs: Pairs, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> PreferenceFlow:
    """Flow of observed outcomes: weighted means over all observations of a pair, either order.

    ``y`` above 0 means that the first object is ahead (+1 and -1, or margins), 0 is a tie.  The
    objects are the rows of ``pairs.objects``; group features are not looked at.
    """
    outcome = _finite(y, "y", len(pairs))
    weight = (
        np.ones(len(pairs))
        if sample_weight is None
        else _finite(sample_weight, "sample_weight", len(pairs))
    )
    if (weight < 0).any():
        raise ValueError("got negative sample weights; expected weights of at least 0.")
    refuse_large_targets(outcome)
    _refuse_uneven(weight)
    _refuse_self_pairs(pairs)
    low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    outcome = np.where(pairs.first == low, outcome, -outcome)
    keep = weight > 0
    codes = low * pairs.n_objects + high
    if keep.all() and (codes[1:] > codes[:-1]).all():  # each pair once, in order
        return PreferenceFlow(low, high, outcome, weight, pairs.n_objects)
    codes, edge = np.unique(codes[keep], return_inverse=True)
    total: Vector = np.bincount(edge, weight[keep]).astype(np.float64)
    values = np.bincount(edge, (weight * outcome)[keep]) / total
    return PreferenceFlow(
        codes // pairs.n_objects, codes % pairs.n_objects, values, total, pairs.n_objects
    )


def model_flow(model: Any, objects: Any) -> PreferenceFlow:
    """Flow of an antisymmetric model on all pairs of a table of objects, or on the pairs given."""
    pairs = objects if isinstance(objects, Pairs) else Pairs.complete(objects)
    return observed_flow(pairs, antisymmetric_margins(model, pairs))


def _finite(values: ArrayLike, name: str, expected: int) -> Vector:
    refuse_lossy(values, name)
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"got {name} that is not numbers; expected outcomes such as +1 and -1, above 0 where the"
            " first object is ahead: encode them first."
        ) from None
    if array.shape != (expected,) or not np.isfinite(array).all():
        raise ValueError(
            f"got {name} of shape {array.shape}; expected ({expected},) finite numbers, one per pair."
        )
    return array


def _refuse_uneven(weight: Vector) -> None:
    """Refuse weights so far apart that the small ones are lost beside the large ones."""
    refuse_extreme_weights(weight, "sample weights")
    positive = weight[weight > 0]
    if len(positive) and float(positive.max()) > _WIDEST * float(positive.min()):
        raise ValueError(
            f"got sample weights from {positive.min():.1e} to {positive.max():.1e}; expected them within"
            f" a factor of {_WIDEST:.0e}: give the small ones the weight 0."
        )


def _refuse_self_pairs(pairs: Pairs) -> None:
    alone = pairs.first == pairs.second
    if alone.any():
        raise ValueError(
            f"got row {int(np.argmax(alone))} that compares an object with itself; expected two"
            " objects: drop such rows."
        )
