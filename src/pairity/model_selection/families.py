"""Families of pair kernels that an automatic choice combines, and the linear term beside them.

No pair kernel is good everywhere: effects of single objects (additive), interactions (tensor or
determinant), distances (metric), derived features and plain identity each win on some data and
fail on other data.

Features are standardised and widths are medians; :mod:`pairity.model_selection.combination` weighs them.

How many landmarks an automatic choice of a kernel has room for, and their kernel columns.

Every family holds a matrix of pairs by landmarks.  Where these do not fit in double precision
they are held in single precision, and where that does not fit either there are fewer landmarks,
which a warning says: no family is left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairity.exceptions import PairityWarning, levels_to_the_caller
from pairity.kernels import (
    Additive,
    Derived,
    DirectSum,
    Gaussian,
    Identity,
    Kernel,
    Linear,
    MetricLearning,
    Product,
    Tensor,
)
from pairity.operators.pair_operator import PairOperator
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity
from pairity.runtime.resources import Budget, megabytes_of

#: The term that is always there: a Gaussian decays to nothing outside the range of training.
LINEAR = "linear"


def kernel_families(pairs: Pairs, parity: Parity | None) -> dict[str, Kernel]:
    """Kernels by name, parameters still to be found; with no parity those of both."""
    families: dict[str, Kernel] = {}
    if parity is not Parity.ODD:
        families |= _even(pairs)
    if parity is not Parity.EVEN:
        odd = _odd(pairs)
        families |= {name if parity is Parity.ODD else f"odd {name}": odd[name] for name in odd}
    return families


def without_derived(families: dict[str, Kernel]) -> dict[str, Kernel]:
    """The families made of object kernels alone, whose products go through objects at any size."""
    kept = {
        name: kernel
        for name, kernel in families.items()
        if not any(isinstance(inner, Derived) for inner in kernel.walk())
    }
    if any(LINEAR in name for name in families) and "additive" in " ".join(kept):
        kept[LINEAR] = Additive(Linear())
    return kept


def _gaussian() -> Kernel:
    return Gaussian("median")


def _even(pairs: Pairs) -> dict[str, Kernel]:
    """Sums g(a) + g(b), interactions, distances, derived features, names."""
    group = _present(pairs, symmetric="symmetric", antisymmetric="absolute_antisymmetric")
    if not pairs.n_object_features:
        return _with_group({"identity": DirectSum(Identity())}, group)
    away = ("absolute_difference", *group)
    return _with_group(
        {
            LINEAR: Derived(Linear(), ("absolute_difference", "sum", "product", *group)),
            "additive": DirectSum(_gaussian()),
            "tensor": Tensor(_gaussian()),
            "metric": MetricLearning(Linear()),
            "gaussian metric": MetricLearning(_gaussian()),
            "distance": Derived(_gaussian(), away),
            "distance and sum": Derived(_gaussian(), ("sum", *away)),
            "identity": DirectSum(Identity()),
        },
        group,
    )


def _with_group(families: dict[str, Kernel], group: tuple[str, ...]) -> dict[str, Kernel]:
    if group:
        families["group features"] = Derived(_gaussian(), group)
        families.setdefault(LINEAR, Derived(Linear(), group))
    return families


def _odd(pairs: Pairs) -> dict[str, Kernel]:
    """Differences g(a) - g(b), intransitive preferences, derived features, names."""
    change = _present(pairs, objects="difference", antisymmetric="antisymmetric")
    families: dict[str, Kernel] = {"identity": Additive(Identity())}
    if change:
        families[LINEAR] = Derived(Linear(), change)
        families["difference"] = Derived(_gaussian(), change)
    if pairs.n_object_features:
        families["additive"] = Additive(_gaussian())
        families["determinant"] = Product(_gaussian())
    if pairs.n_symmetric:  # what a difference means may depend on the circumstances
        families |= _in_context(families)
    return families


def _in_context(families: dict[str, Kernel]) -> dict[str, Kernel]:
    def context() -> Kernel:
        return Derived(_gaussian(), ("symmetric",))

    chosen = ("identity", LINEAR, "difference", "additive")
    return {f"{name} in context": families[name] * context() for name in chosen if name in families}


def _present(pairs: Pairs, **parts: str) -> tuple[str, ...]:
    """The parts of which there are features."""
    counts: dict[str, Callable[[], int]] = {
        "objects": lambda: pairs.n_object_features,
        "symmetric": lambda: pairs.n_symmetric,
        "antisymmetric": lambda: pairs.n_antisymmetric,
    }
    return tuple(part for kind, part in parts.items() if counts[kind]())


# Room -------------------------------------------------------------------------------------------

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
