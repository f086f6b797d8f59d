"""Pairs that were observed in both orders: do their labels agree, or are they opposite?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from pairity.evidence.targets import Targets
from pairity.selection.identity import Ends

__all__ = ["MirroredPairs", "compare_mirrored"]


@dataclass(frozen=True)
class MirroredPairs:
    """Observations of the same two objects in both orders, matched one to one.

    Two labels agree when they are equal.  Two numbers agree when they are on the same side of
    the median of all that are compared; one that is equal to it says nothing.

    Attributes
    ----------
    n_pairs : int
        Unordered pairs that were observed in both orders.
    n_agree, n_opposite : int
        Matches, one observation in each order, that agree and that are opposite.
    p_value : float
        Exact two-sided binomial test of agreement against one half, the rate for a function
        whose even and odd parts are equally strong; 1.0 without matches.
    """

    n_pairs: int
    n_agree: int
    n_opposite: int
    p_value: float

    @property
    def n_matches(self) -> int:
        """Matches that say something."""
        return self.n_agree + self.n_opposite

    @property
    def leans(self) -> str | None:
        """Which law most matches speak for, if any."""
        if self.n_agree == self.n_opposite:
            return None
        return "symmetric" if self.n_agree > self.n_opposite else "antisymmetric"

    def __str__(self) -> str:
        if not self.n_pairs:
            return "no pair was observed in both orders"
        if not self.n_matches:
            return f"{self.n_pairs} pairs were observed in both orders, but say nothing"
        return (
            f"{self.n_pairs} pairs were observed in both orders: {self.n_agree} of {self.n_matches}"
            f" matches agree, {self.n_opposite} are opposite (exact binomial test against one half:"
            f" p = {self.p_value:.2g})"
        )


def compare_mirrored(ends: Ends, targets: Targets) -> MirroredPairs:
    """Match observations of each unordered pair in its two orders, and count."""
    there, back = match_orders(ends)
    n_pairs = len(np.unique(ends.unordered()[there]))
    compared = targets.values[np.concatenate([there, back])]
    middle = 0.0 if targets.are_labels or not len(compared) else float(np.median(compared))
    product = np.sign(targets.values[there] - middle) * np.sign(targets.values[back] - middle)
    n_agree, n_opposite = int(np.sum(product > 0)), int(np.sum(product < 0))
    total = n_agree + n_opposite
    p_value = float(binomtest(n_agree, total).pvalue) if total else 1.0
    return MirroredPairs(n_pairs, n_agree, n_opposite, p_value)


def match_orders(ends: Ends) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows (a, b) and rows (b, a) matched one to one, in the order of the rows."""
    forward = np.flatnonzero(ends.first < ends.second)
    backward = np.flatnonzero(ends.first > ends.second)
    unordered = ends.unordered()
    keys = [_with_rank(unordered[rows], len(ends)) for rows in (forward, backward)]
    _, there, back = np.intersect1d(keys[0], keys[1], assume_unique=True, return_indices=True)
    return forward[there], backward[back]


def _with_rank(codes: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Unique numbers: the code, and which occurrence of it this is."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    start = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(codes) else order
    occurrence = np.arange(len(codes)) - np.repeat(start, np.diff(np.r_[start, len(codes)]))
    rank = np.empty(len(codes), dtype=np.intp)
    rank[order] = occurrence
    return codes * (most + 1) + rank
