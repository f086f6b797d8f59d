"""Kernels: what is similar to what.

========================  ==================================================================
on objects or alone       ``Linear``, ``Polynomial``, ``Gaussian``, ``Identity``,
                          ``Precomputed``, ``Callable``
on pairs, from objects    ``Additive``, ``Product``, ``DirectSum``, ``Tensor``, ``MetricLearning``,
                          ``TensorMetric``
on pairs, from features   ``Derived``: differences, sums, products
on pairs, from pairs      ``OrderInvariant``, ``Balanced``, ``SkewBalanced``, ``Mixed``, ``Standardized``
on pairs, bilinear        ``Bilinear``
of few features           ``Nystroem``: landmarks for object kernels; ``approximation_errors``
for k3 of (8) and (10)    ``EvenPart``, ``OddPart``
on arcs of a graph        ``with_neighbour_means`` (48)-(55), ``Diffusion`` (56)
algebra                   ``k + k``, ``k * k``, ``2.0 * k``
========================  ==================================================================

An elementary kernel given to an estimator acts on the concatenated features X_ab; inside a
construction it acts on objects.  To add a kernel, write its ``formula`` over atoms: Gram matrix,
rows, diagonal, class and fast products follow.
"""

from typing import TYPE_CHECKING

from pairity.runtime.lazy import attach

if TYPE_CHECKING:
    from pairity.kernels.algebra import Kernel
    from pairity.kernels.classes import Balanced, OrderInvariant, SkewBalanced
    from pairity.kernels.constructions import (
        Additive,
        Bilinear,
        Derived,
        DirectSum,
        EvenPart,
        MetricLearning,
        OddPart,
        Product,
        Tensor,
        TensorMetric,
    )
    from pairity.kernels.diffusion import Diffusion
    from pairity.kernels.drift import Drift
    from pairity.kernels.elementary import Gaussian, Linear
    from pairity.kernels.mixed import Mixed
    from pairity.kernels.nystroem import Nystroem, approximation_errors
    from pairity.kernels.object_kernels import Callable, Identity, Polynomial, Precomputed
    from pairity.kernels.standardized import Standardized
    from pairity.pairs.neighbours import with_neighbour_means

__all__ = [
    "Additive",
    "Balanced",
    "Bilinear",
    "Callable",
    "Derived",
    "Diffusion",
    "DirectSum",
    "Drift",
    "EvenPart",
    "Gaussian",
    "Identity",
    "Kernel",
    "Linear",
    "MetricLearning",
    "Mixed",
    "Nystroem",
    "OddPart",
    "OrderInvariant",
    "Polynomial",
    "Precomputed",
    "Product",
    "SkewBalanced",
    "Standardized",
    "Tensor",
    "TensorMetric",
    "approximation_errors",
    "with_neighbour_means",
]

_HOMES = {
    "algebra": "Kernel",
    "classes": "Balanced OrderInvariant SkewBalanced",
    "constructions": "Additive Bilinear Derived DirectSum EvenPart MetricLearning OddPart Product"
    " Tensor TensorMetric",
    "diffusion": "Diffusion",
    "drift": "Drift",
    "elementary": "Gaussian Linear",
    "mixed": "Mixed",
    "nystroem": "Nystroem approximation_errors",
    "object_kernels": "Callable Identity Polynomial Precomputed",
    "standardized": "Standardized",
    "pairity.pairs.neighbours": "with_neighbour_means",
}
__getattr__, __dir__ = attach(
    __name__, {name: module for module, names in _HOMES.items() for name in names.split()}
)
