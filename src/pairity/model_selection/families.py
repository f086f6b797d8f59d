"""Families of kernels that ``kernel="auto"`` weighs, for pairs of either parity."""

from __future__ import annotations

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
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity

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


def _even(pairs: Pairs) -> dict[str, Kernel]:
    """Sums g(a) + g(b), interactions, distances, derived features, names."""
    gaussian, families = Gaussian("median"), dict[str, Kernel]()
    widths = {"symmetric": pairs.n_symmetric, "absolute_antisymmetric": pairs.n_antisymmetric}
    group = tuple(part for part, width in widths.items() if width)
    if pairs.n_object_features:
        away = ("absolute_difference", *group)
        families = {
            LINEAR: Derived(Linear(), ("absolute_difference", "sum", "product", *group)),
            "additive": DirectSum(gaussian),
            "tensor": Tensor(gaussian),
            "metric": MetricLearning(Linear()),
            "gaussian metric": MetricLearning(gaussian),
            "distance": Derived(gaussian, away),
            "distance and sum": Derived(gaussian, ("sum", *away)),
        }
    families["identity"] = DirectSum(Identity())
    if group:
        families["group features"] = Derived(gaussian, group)
        families.setdefault(LINEAR, Derived(Linear(), group))
    return families


def _odd(pairs: Pairs) -> dict[str, Kernel]:
    """Differences g(a) - g(b), intransitive preferences, derived features, names."""
    gaussian = Gaussian("median")
    widths = {"difference": pairs.n_object_features, "antisymmetric": pairs.n_antisymmetric}
    change = tuple(part for part, width in widths.items() if width)
    families: dict[str, Kernel] = {"identity": Additive(Identity())}
    if change:
        families[LINEAR] = Derived(Linear(), change)
        families["difference"] = Derived(gaussian, change)
    if pairs.n_object_features:
        families["additive"] = Additive(gaussian)
        families["determinant"] = Product(gaussian)
    if pairs.n_symmetric:  # what a difference means may depend on the circumstances
        context = Derived(gaussian, ("symmetric",))
        chosen = [name for name in families if name != "determinant"]
        families |= {f"{name} in context": families[name] * context for name in chosen}
    return families
