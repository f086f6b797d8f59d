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

from pairity.graphs.neighbours import with_neighbour_means
from pairity.kernels.algebra import Kernel
from pairity.kernels.constructions import (
    Additive,
    Balanced,
    Bilinear,
    DirectSum,
    MetricLearning,
    OrderInvariant,
    Product,
    SkewBalanced,
    Tensor,
    TensorMetric,
)
from pairity.kernels.diffusion import Diffusion
from pairity.kernels.elementary import (
    Callable,
    Gaussian,
    Linear,
    Polynomial,
    Precomputed,
)
from pairity.kernels.identity import Identity
from pairity.kernels.mixed import Mixed
from pairity.kernels.nystroem import Nystroem, approximation_errors
from pairity.kernels.of_derived import Derived
from pairity.kernels.reflection import EvenPart, OddPart
from pairity.kernels.standardized import Standardized

__all__ = [
    "Additive",
    "Balanced",
    "Bilinear",
    "Callable",
    "Derived",
    "Diffusion",
    "DirectSum",
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
