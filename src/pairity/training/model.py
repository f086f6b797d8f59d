"""A fitted function of pairs: support pairs, coefficients, bias, and the parity it obeys."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.operators.blockwise import needs_no_gram, products_between
from pairity.operators.terms import gram_megabytes
from pairity.pairs.arrays import Vector
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Orientation, Parity, impose
from pairity.runtime.resources import UNLIMITED, Budget, one_blas_thread

#: Entries of the object Gram matrix between new and support objects that are held at a time, and
#: the share of the memory for them.
_GRAM_ENTRIES, _GRAM_SHARE = 40_000_000, 0.4
#: Numbers for each pair on the way to its decision, and the share of the memory for them.
_PER_PAIR, _PAIRS_SHARE = 24.0, 0.3
#: Pairs from which on it pays to tell BLAS how many threads to take.
_MANY_PAIRS = 1000


class Model(Protocol):
    """A fitted function of pairs, however it is stored."""

    @property
    def kernel(self) -> Kernel:
        """Before its projection."""

    @property
    def bias(self) -> float:
        """Added to every decision; exactly 0 in the antisymmetric case."""

    def decisions(self, pairs: Pairs, budget: Budget = UNLIMITED) -> Vector:
        """Values of the function, shape (n,)."""


@dataclass(frozen=True)
class PairModel:
    """``f(a, b) = sum_j coefficients_j K(ab, j) + bias``, projected to ``parity``.

    ``kernel`` is the order-invariant kernel before projection: imposing the parity on the sum is
    the same as projecting the kernel (:func:`pairity.pairs.parity.impose`).  Each pair is evaluated in
    one order alone, so that the swap law is exact (:mod:`pairity.pairs.parity`).
    """

    kernel: Kernel
    support: Pairs
    coefficients: Vector
    bias: float
    parity: Parity | None

    def decisions(self, pairs: Pairs, budget: Budget = UNLIMITED) -> Vector:
        """Values of the function, shape (n,); some pairs at a time within a small budget."""
        if self.support.ids is None:  # names that were not learned from tell nothing
            pairs = pairs.without_ids()
        step = self._pairs_at_a_time(pairs, budget)
        values = np.empty(len(pairs))
        with one_blas_thread() if len(pairs) >= _MANY_PAIRS else nullcontext():
            for start in range(0, len(pairs), step):
                part = slice(start, start + step)
                values[part] = self._decide(pairs[part])
        return values

    def _pairs_at_a_time(self, pairs: Pairs, budget: Budget) -> int:
        """All of them if their objects allow it; the same for pairs and for swapped pairs."""
        fitting = budget.share(_PAIRS_SHARE).columns(1.0, copies=_PER_PAIR)
        if needs_no_gram(self.kernel, pairs):
            return int(max(1, min(len(pairs), fitting)))
        objects = _GRAM_ENTRIES // max(1, self.support.n_objects)
        per_object = gram_megabytes(self.kernel, pairs, self.support) / max(1, pairs.n_objects)
        if per_object:
            share = budget.share(_GRAM_SHARE)
            objects = int(min(objects, share.megabytes / per_object, share.side(copies=2.0)))
        objects = max(2, objects)
        some = len(pairs) if pairs.n_objects <= objects else objects // 2
        return int(max(1, min(some, fitting)))

    def _decide(self, pairs: Pairs) -> Vector:
        pairs = pairs.compact()
        known = self.support, self.coefficients
        if self.parity is None:
            return products_between(self.kernel, pairs, *known, mirrored=False)[0] + self.bias
        order = Orientation.of_compact(pairs)
        turned = pairs.with_swapped(order.turned)
        value, mirrored = products_between(self.kernel, turned, *known, mirrored=True)
        return order.restored(self.parity, impose(self.parity, value, mirrored)) + self.bias


def label_decisions(decisions: Vector, classes: NDArray[Any], tie_label: Any) -> NDArray[Any]:
    """Label of each decision: ``classes[1]`` above 0, ``classes[0]`` below, the tie label at 0."""
    labels = classes[(decisions > 0).astype(np.intp)]
    ties = decisions == 0.0
    if not ties.any():
        return labels
    tie = _default_tie_label(classes) if tie_label is None else tie_label
    labels = labels.astype(_common_type(labels, np.asarray(tie)))
    labels[ties] = tie
    return labels


def score_decisions(
    decisions: Vector, y: Any, classes: NDArray[Any], sample_weight: Any = None
) -> float:
    """Mean accuracy of decisions; one of exactly 0 counts one half."""
    labels = np.asarray(y).ravel()
    right = np.where(decisions > 0, labels == classes[1], labels == classes[0])
    credit = np.where(decisions == 0.0, 0.5, right.astype(np.float64))
    return float(np.average(credit, weights=sample_weight))


def _default_tie_label(classes: NDArray[Any]) -> Any:
    """0 between -v and +v, the mean between other numbers, "tie" between texts."""
    low, high = classes
    if classes.dtype.kind not in "biuf":
        return "tie"
    middle = (float(low) + float(high)) / 2.0
    return classes.dtype.type(0) if middle == 0.0 else middle


def _common_type(labels: NDArray[Any], tie: NDArray[Any]) -> np.dtype[Any]:
    """A type that holds both as they are: text and numbers together stay what they are."""
    if (labels.dtype.kind in "US") != (tie.dtype.kind in "US"):
        return np.dtype(object)
    return np.result_type(labels, tie)
