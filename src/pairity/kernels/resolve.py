"""Names of default kernels, and plain functions, turned into kernels.

A name means the same kernel wherever a kernel is asked for by its name: in estimators, searches,
``Nystroem("gaussian")`` and formulas of the command line.  Names of Gaussian kernels stand for
standardised features and the median width: "gaussian" is ``Standardized(Gaussian("median"))``,
"tensor" is ``Standardized(Tensor(Gaussian("median")))``.  Classes are what their parameters say:
``Gaussian()`` has sigma 1 on the features as they are, and ``gaussian(2.0)`` in a formula is
``Gaussian(2.0)``.
"""

from __future__ import annotations

from collections.abc import Callable as Function
from typing import Any

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.constructions import (
    Additive,
    DirectSum,
    MetricLearning,
    Product,
    Tensor,
    TensorMetric,
)
from pairity.kernels.elementary import Callable, Gaussian, Linear, Polynomial
from pairity.kernels.standardized import Standardized


def _identity() -> Kernel:
    from pairity.kernels.identity import Identity

    return Identity()


_DEFAULTS: dict[str, Function[[], Kernel]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "gaussian": lambda: Standardized(Gaussian("median")),
    "additive": lambda: Standardized(Additive(Gaussian("median"))),
    "product": lambda: Standardized(Product(Gaussian("median"))),
    "direct_sum": lambda: Standardized(DirectSum(Gaussian("median"))),
    "tensor": lambda: Standardized(Tensor(Gaussian("median"))),
    "identity": _identity,
    "metric_learning": lambda: MetricLearning(Linear()),
    "tensor_metric": lambda: TensorMetric(Linear()),
}

KERNEL_NAMES = tuple(_DEFAULTS)


def as_kernel(kernel: Any) -> Kernel:
    """Return a kernel from a kernel, one of the names, or a function of two feature tables."""
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in _DEFAULTS:
        return _DEFAULTS[kernel]()
    if callable(kernel):
        return Callable(kernel)
    raise KernelError(
        f"got kernel={kernel!r}; expected a kernel of pairity.kernels, a function of two feature"
        f" tables, or one of {', '.join(map(repr, KERNEL_NAMES))}."
    )
