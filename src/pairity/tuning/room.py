"""How many landmarks an automatic choice of a kernel has room for, and their kernel columns.

Every family holds a matrix of pairs by landmarks.  Where these do not fit in double precision
they are held in single precision, and where that does not fit either there are fewer landmarks,
which a warning says: no family is left out.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairity.exceptions import PairityWarning, levels_to_the_caller
from pairity.kernels.algebra import Kernel
from pairity.memory import Budget, megabytes_of
from pairity.operators.pair_operator import PairOperator
from pairity.pairs import Pairs

__all__ = ["Room", "kernel_columns", "plan_landmarks"]

#: Share of the memory for the matrices; fewer landmarks than these say too little.
_SHARE, _FEWEST = 0.7, 25
#: Pairs whose kernel columns are evaluated together; through all objects where matrices between
#: these take no more megabytes than this.
_PAIRS_AT_A_TIME, _FEW_MEGABYTES = 1024, 40.0


@dataclass(frozen=True)
class Room:
    """Landmarks, the precision of their matrices, and whether several sets of matrices fit."""

    n_landmarks: int
    dtype: type[np.floating]
    several: bool


def plan_landmarks(n_pairs: int, n_families: int, wanted: int, budget: Budget) -> Room:
    """At most ``wanted`` landmarks of that many pairs, within the budget."""
    wanted = min(wanted, n_pairs)
    share = budget.share(_SHARE)
    matrices = n_families + 1.0  # and their sum
    if share.holds(n_pairs, wanted, copies=matrices):
        several = share.holds(n_pairs, wanted, copies=matrices + n_families)
        return Room(wanted, np.float64, several)
    fitting = int(share.columns(n_pairs, copies=matrices, itemsize=4))
    if fitting < min(_FEWEST, wanted):
        budget.refuse(
            f"trials of the automatic kernel on {n_pairs} pairs",
            megabytes_of(n_pairs, _FEWEST, copies=matrices, itemsize=4) / _SHARE,
            "fewer pairs, a larger memory_limit, or a kernel of your own in place of 'auto'",
        )
    if fitting < wanted:
        warnings.warn(
            f"the automatic kernel was chosen with {fitting} of {wanted} landmark pairs to keep to"
            f" the memory limit of {budget.megabytes:.0f} MB: a larger memory_limit makes the choice"
            " surer.",
            PairityWarning,
            stacklevel=levels_to_the_caller(),
        )
    return Room(min(wanted, fitting), np.float32, several=False)


def kernel_columns(
    kernel: Kernel, pairs: Pairs, basis: Pairs, factor: float, dtype: type[np.floating]
) -> NDArray[np.floating]:
    """``factor K(pair_i, basis_j)``, through the objects of some pairs at a time."""
    columns = np.empty((len(pairs), len(basis)), dtype)
    operator = PairOperator(kernel, pairs, basis)
    few = operator.object_megabytes <= _FEW_MEGABYTES
    for start in range(0, len(pairs), _PAIRS_AT_A_TIME):
        part = slice(start, start + _PAIRS_AT_A_TIME)
        if few:
            block = operator.block(part, slice(None))
        else:
            some = pairs[part].without_unused_objects()
            block = PairOperator(kernel, some, basis).block(slice(None), slice(None))
        columns[part] = factor * block
    return columns
