"""The kernels and the random pairs that tests are run on.

Everything is made anew on each call from a seed: tests share no state.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

import naive
from pairity import Pairs
from pairity.kernels import (
    Additive,
    Balanced,
    Bilinear,
    Callable,
    Derived,
    DirectSum,
    EvenPart,
    Gaussian,
    Identity,
    Kernel,
    Linear,
    MetricLearning,
    OddPart,
    OrderInvariant,
    Polynomial,
    Product,
    SkewBalanced,
    Tensor,
    TensorMetric,
)
from pairity.kernels.standardized import Rescaled, Scaling
from pairity.pairs.parity import Parity
from pairity.solvers import SMO

#: Object, symmetric and antisymmetric features of the pairs of Section 6.
WIDTHS = (2, 2, 2)


def tridiagonal(size=8, off_diagonal=0.2):
    """The matrix P of (37)."""
    neighbours = np.eye(size, k=1) + np.eye(size, k=-1)
    return np.eye(size) + off_diagonal * neighbours


def random_pairs(seed, n=14, m=7, widths=WIDTHS, scale=0.7):
    """Pairs of distinct ends with normal features; repeated pairs may occur."""
    rng = np.random.default_rng(seed)
    n1, n2, n3 = widths
    first = rng.integers(m, size=n)
    second = (first + rng.integers(1, m, size=n)) % m
    return Pairs(
        rng.normal(scale=scale, size=(m, n1)),
        first,
        second,
        rng.normal(scale=scale, size=(n, n2)),
        rng.normal(scale=scale, size=(n, n3)),
    )


def distinct_pairs(seed, n=12, m=8, widths=WIDTHS, scale=0.7):
    """The same, no unordered pair of objects twice: nothing ties exactly."""
    rng = np.random.default_rng([seed, 2])
    ends = np.array([(a, b) for a in range(m) for b in range(a)])[
        rng.permutation(m * (m - 1) // 2)[:n]
    ]
    first, second = rng.permuted(ends, axis=1).T
    others = random_pairs(seed, n, m, widths, scale)
    return Pairs(others.objects, first, second, others.symmetric, others.antisymmetric)


def random_labels(seed, n):
    """Labels -1 and +1, both of them present."""
    labels = np.where(np.random.default_rng([seed, 1]).random(n) < 0.5, -1, 1)
    labels[:2] = 1, -1
    return labels


def some_labels(seed, n):
    """Labels -1 and +1 of every other pair; 0, no label, of the rest."""
    labels = random_labels(seed, n)
    labels[2::2] = 0
    return labels


def random_targets(seed, n):
    """Real targets of both signs."""
    return np.random.default_rng([seed, 3]).normal(size=n)


def sparse_twin(pairs):
    """The same pairs with objects in CSR."""
    import scipy.sparse as sp

    return Pairs(
        sp.csr_matrix(pairs.objects),
        pairs.first,
        pairs.second,
        pairs.symmetric,
        pairs.antisymmetric,
    )


def without_group(pairs):
    """The same pairs with individual features alone."""
    return Pairs(pairs.objects, pairs.first, pairs.second)


def rows_dot(X, Z):
    """A user's kernel of whole rows (order-invariant) or of objects."""
    return X @ Z.T


def rows_cosine_like(X, Z):
    """Another, with a bend: ``(1 + <x, z>)^2``."""
    return (1.0 + np.asarray(X @ Z.T)) ** 2


def naive_rows_dot(X, Z, widths):
    return naive.inner(X, Z)


@dataclass(frozen=True)
class Case:
    """A kernel, its plain twin, and the class it is in on pairs with group features."""

    name: str
    kernel: Kernel
    twin: Any
    parity: Parity | None
    order_invariant: bool = True
    group: bool = False  # whether the kernel needs group features

    def __repr__(self):
        return self.name


EVEN, ODD = Parity.EVEN, Parity.ODD


def elementary_cases():
    return [
        Case("linear", Linear(), naive.pair_linear, None),
        Case("polynomial-1", Polynomial(1), naive.pair_polynomial(1), None),
        Case("polynomial-2", Polynomial(2), naive.pair_polynomial(2), None),
        Case("polynomial-3", Polynomial(3), naive.pair_polynomial(3), None),
        Case("gaussian", Gaussian(1.3), naive.pair_gaussian(1.3), None),
    ]


def projected_cases():
    cases = []
    for case in elementary_cases():
        cases += [
            Case(f"balanced-{case}", Balanced(case.kernel), naive.balanced(case.twin), EVEN),
            Case(f"skew-{case}", SkewBalanced(case.kernel), naive.skew_balanced(case.twin), ODD),
        ]
    return cases


def bilinear_cases():
    P = tridiagonal()
    raw, wrapped = Bilinear(P), OrderInvariant(Bilinear(P))
    twin, wrapped_twin = naive.bilinear(P), naive.order_invariant(naive.bilinear(P))
    skew = naive.skew_balanced(wrapped_twin)
    return [
        Case("K_P", raw, twin, None, order_invariant=False, group=True),
        Case("K_P^o", wrapped, wrapped_twin, None, group=True),
        Case("K_P^b", Balanced(wrapped), naive.balanced(wrapped_twin), EVEN, group=True),
        Case("K_P^s", SkewBalanced(wrapped), skew, ODD, group=True),
    ]


_CONSTRUCTIONS = {
    "direct-sum": (DirectSum, naive.direct_sum),
    "tensor": (Tensor, naive.tensor),
    "metric": (MetricLearning, naive.metric_learning),
    "tensor-metric": (TensorMetric, naive.tensor_metric),
}


def remark_2_cases():
    """The balanced kernels of Remark 2 on individual features, and ``Product``."""
    k1s = [(Gaussian(1.1), naive.gaussian(1.1)), (Polynomial(2), naive.polynomial(2))]
    cases = []
    for k1, twin in k1s:
        tag = type(k1).__name__.lower()
        cases.append(Case(f"product-{tag}", Product(k1), naive.product(twin), None))
        for name, (make, naive_make) in _CONSTRUCTIONS.items():
            cases.append(Case(f"{name}-{tag}", make(k1), naive_make(twin), EVEN))
    return cases


def group_cases():
    """Formulas (8) and (10) on each base of Remark 2."""
    k1, k1_twin = Gaussian(1.1), naive.gaussian(1.1)
    k2, k2_twin = Gaussian(0.9), naive.gaussian(0.9)
    evens = [
        (Polynomial(2), naive.polynomial(2)),
        (EvenPart(Gaussian(0.8)), naive.even_part(naive.gaussian(0.8))),
    ]
    odds = [
        (Linear(), naive.inner),
        (Polynomial(3), naive.polynomial(3)),
        (OddPart(Gaussian(0.8)), naive.odd_part(naive.gaussian(0.8))),
    ]
    cases = []
    for name, (make, naive_make) in _CONSTRUCTIONS.items():
        base = naive_make(k1_twin)
        for k3, k3_twin in evens:
            twin = naive.with_even_group(base, k2_twin, k3_twin)
            tag = f"(8)-{name}-{type(k3).__name__.lower()}"
            cases.append(Case(tag, make(k1, k2, k3), twin, EVEN, group=True))
        for place, (k3, k3_twin) in enumerate(odds):
            twin = naive.with_odd_group(base, k2_twin, k3_twin)
            tag = f"(10)-{name}-{type(k3).__name__.lower()}-{place}"
            cases.append(Case(tag, make(k1, k2, k3), twin, ODD, group=True))
    no_k2 = naive.with_odd_group(naive.direct_sum(k1_twin), naive.nothing, naive.inner)
    mixed = naive.with_odd_group(naive.product(k1_twin), naive.nothing, naive.inner)
    return [
        *cases,
        Case("(10)-without-k2", DirectSum(k1, k3=Linear()), no_k2, ODD, group=True),
        Case("product-times-k3", Product(k1, k3=Linear()), mixed, None, group=True),
    ]


def algebra_cases():
    tensor, tensor_twin = Tensor(Gaussian(1.1)), naive.tensor(naive.gaussian(1.1))
    ranking = SkewBalanced(Linear())
    ranking_twin = naive.skew_balanced(naive.pair_linear)
    return [
        Case(
            "sum-of-even",
            tensor + DirectSum(Linear()),
            lambda X, Z, w: tensor_twin(X, Z, w) + naive.direct_sum(naive.inner)(X, Z, w),
            EVEN,
        ),
        Case(
            "odd-times-odd",
            ranking * ranking,
            lambda X, Z, w: ranking_twin(X, Z, w) ** 2,
            EVEN,
        ),
        Case(
            "even-times-odd",
            tensor * ranking,
            lambda X, Z, w: tensor_twin(X, Z, w) * ranking_twin(X, Z, w),
            ODD,
        ),
        Case(
            "scaled-mixture",
            2.5 * (tensor + ranking),
            lambda X, Z, w: 2.5 * (tensor_twin(X, Z, w) + ranking_twin(X, Z, w)),
            None,
        ),
        Case("function-of-rows", Callable(rows_dot), naive_rows_dot, None),
        Case("tensor-of-function", Tensor(Callable(rows_dot)), naive.tensor(naive.inner), EVEN),
    ]


def derived_cases():
    """Kernels of differences, sums and products, and kernels on another scale."""
    gaussian = naive.gaussian(1.2)
    away = ("absolute_difference", "sum")
    even = naive.derived(gaussian, lambda a, ab, t, b: abs(a - b), lambda a, ab, t, b: a + b)
    grouped = naive.derived(gaussian, lambda a, ab, t, b: a * b, lambda a, ab, t, b: abs(t))
    odd = naive.derived(gaussian, lambda a, ab, t, b: a - b)
    context = naive.derived(gaussian, lambda a, ab, t, b: ab)
    linear = naive.derived(naive.inner, lambda a, ab, t, b: a - b, lambda a, ab, t, b: t)
    product = ("product", "absolute_antisymmetric")
    apart = naive.derived(gaussian, lambda a, ab, t, b: np.array([np.sqrt(((a - b) ** 2).sum())]))
    return [
        Case("additive", Additive(Gaussian(1.2)), naive.additive(gaussian), None),
        Case("identity", Identity(), naive.pair_identity, None),
        Case("derived-even", Derived(Gaussian(1.2), away), even, EVEN),
        Case("derived-distance", Derived(Gaussian(1.2), "distance"), apart, EVEN),
        Case("derived-group", Derived(Gaussian(1.2), product), grouped, EVEN, group=True),
        Case("derived-odd", Derived(Gaussian(1.2), ("difference",)), odd, None),
        Case(
            "derived-linear",
            Derived(Linear(), ("difference", "antisymmetric")),
            linear,
            ODD,
            group=True,
        ),
        Case(
            "derived-odd-times-even",
            Derived(OddPart(Gaussian(1.2)), ("difference",))
            * Derived(Gaussian(1.2), ("symmetric",)),
            lambda X, Z, w: (
                0.5 * (odd(X, Z, w) - odd(naive.swap_row(X, w), Z, w)) * context(X, Z, w)
            ),
            ODD,
            group=True,
        ),
        *rescaled_cases(),
    ]


def rescaled_cases():
    shifts = np.array([0.3, -0.2]), np.array([0.1, 0.4]), np.zeros(2)
    factors = np.array([1.5, 0.6]), np.array([0.8, 1.1]), np.array([0.7, 1.3])
    scaling = Scaling(shifts[0], factors[0], shifts[1], factors[1], factors[2])
    gaussian = naive.gaussian(1.2)
    away = naive.derived(gaussian, lambda a, ab, t, b: abs(a - b))
    whole = naive.rescaled(naive.pair_gaussian(1.2), shifts, factors)
    linear = naive.rescaled(naive.pair_linear, shifts, factors)

    def mixture(X, Z, w):
        return naive.tensor(gaussian)(X, Z, w) + away(X, Z, w)

    mixed = Tensor(Gaussian(1.2)) + Derived(Gaussian(1.2), ("absolute_difference",))
    return [
        Case("rescaled-gaussian", Rescaled(Gaussian(1.2), scaling), whole, None, group=True),
        Case("rescaled-linear", Rescaled(Linear(), scaling), linear, None, group=True),
        Case(
            "rescaled-mixture",
            Rescaled(mixed, scaling),
            naive.rescaled(mixture, shifts, factors),
            EVEN,
            group=True,
        ),
    ]


def all_cases():
    return [
        *elementary_cases(),
        *projected_cases(),
        *bilinear_cases(),
        *remark_2_cases(),
        *group_cases(),
        *algebra_cases(),
        *derived_cases(),
    ]


def cases_without_group():
    return [case for case in all_cases() if not case.group]


def trainable_cases(parity):
    """Cases that an estimator of this parity accepts."""
    return [case for case in all_cases() if case.order_invariant and case.parity in (None, parity)]


def theorem_cases(parity):
    """Every kernel of Section 3, and those of Remark 2 with (8) or (10)."""
    names = {"linear", "polynomial-2", "polynomial-3", "gaussian", "K_P^o"}
    tags = ("product-gaussian", "(8)-", "direct-sum-", "tensor-", "metric-", "(10)-")
    return [
        case
        for case in trainable_cases(parity)
        if case.name in names or (case.name.startswith(tags) and "function" not in case.name)
    ]


def with_smo(options):
    """Options of an estimator in which those of SMO are gathered in its object."""
    options = dict(options)
    names = ("selection", "iterates", "shrinking", "cache_size")
    gathered = {name: options.pop(name) for name in names if name in options}
    if gathered:
        assert options.pop("solver", "smo") == "smo"
        options["solver"] = SMO(**gathered)
    return options
