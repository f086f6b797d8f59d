"""Families of pair kernels that an automatic choice combines, and the linear term beside them.

No pair kernel is good everywhere: effects of single objects (additive), interactions (tensor or
determinant), distances (metric), derived features and plain identity each win on some data and
fail on other data.

Features are standardised and widths are medians; :mod:`pairity.tuning.combination` weighs them.
"""

from __future__ import annotations

from collections.abc import Callable

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
from pairity.pairs import Pairs
from pairity.parity import Parity

__all__ = ["LINEAR", "kernel_families", "without_derived"]

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
