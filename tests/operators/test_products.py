"""Products through object Gram matrices equal the dense Gram matrix, whatever the edges."""

import numpy as np
import pytest

import pairity.operators.pair_operator as pair_operator
import pairity.operators.products as products
from cases import random_pairs, tridiagonal
from pairity.kernels import (
    Balanced,
    Bilinear,
    DirectSum,
    Gaussian,
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
from pairity.operators import PairOperator

RANKING = SkewBalanced(Linear())
KERNELS = [
    Linear(),
    Balanced(Linear()),
    RANKING,
    Polynomial(3),
    Balanced(Polynomial(4)),
    SkewBalanced(Polynomial(3)),
    Gaussian(1.0),
    Balanced(Gaussian(1.0)),
    SkewBalanced(Gaussian(1.0)),
    Product(Gaussian(1.0)),
    DirectSum(Gaussian(1.0)),
    Tensor(Linear()),
    MetricLearning(Gaussian(1.0)),
    TensorMetric(Linear()),
    RANKING * RANKING * RANKING,  # three edges at most: coupled products
    Tensor(Gaussian(1.0)) * DirectSum(Gaussian(1.0)),
    Tensor(Gaussian(1.0)) * RANKING,
]
GROUPED = [
    Tensor(Gaussian(1.0), Linear(), Linear()),
    DirectSum(Linear(), Linear(), Polynomial(2)),
    MetricLearning(Linear(), k3=Polynomial(3)),
    Polynomial(3),
    Balanced(Linear()),
]


@pytest.fixture(params=["dense", "sparse"])
def through_objects(request, monkeypatch):
    """Force the path through objects, with V as a dense or as a sparse matrix."""
    share = -1.0 if request.param == "dense" else 2.0
    monkeypatch.setattr(products, "_DENSE_SHARE", share)
    monkeypatch.setattr(
        pair_operator, "products_are_cheaper", lambda table, *_: products.supports_products(table)
    )


@pytest.mark.usefixtures("through_objects")
@pytest.mark.parametrize(
    ("kernel", "widths"),
    [(kernel, (3, 0, 0)) for kernel in KERNELS] + [(kernel, (3, 2, 2)) for kernel in GROUPED],
    ids=repr,
)
@pytest.mark.parametrize("square", [True, False])
def test_equal_the_dense_gram(kernel, widths, square, rng):
    right = random_pairs(1, n=40, m=9, widths=widths)
    left = right if square else random_pairs(2, n=25, m=14, widths=widths)
    operator = PairOperator(kernel, left, right)
    assert operator._groups is not None
    assert all(products.supports_products(group.table) for group in operator._groups)
    vector = rng.normal(size=len(right))
    vector[::3] = 0.0
    plain, mirrored = operator.products(vector, mirrored=True)
    scale = np.abs(kernel.gram(left, right)).max() * len(right)
    np.testing.assert_allclose(plain, kernel.gram(left, right) @ vector, atol=1e-14 * scale)
    np.testing.assert_allclose(
        mirrored, kernel.gram(left.swap(), right) @ vector, atol=1e-14 * scale
    )


def test_metric_learning_takes_one_product_with_the_coefficients(monkeypatch, rng):
    """The graph Laplacian form: ten monomials, one multiplication by V + V'."""
    monkeypatch.setattr(pair_operator, "products_are_cheaper", lambda *_: True)
    made = []
    times = products.CoefficientMatrix.times

    def counted(self, gram, key, sign):
        if (key, sign) not in self._products:
            made.append((key, sign))
        return times(self, gram, key, sign)

    monkeypatch.setattr(products.CoefficientMatrix, "times", counted)
    pairs = random_pairs(3, n=30, m=8, widths=(2, 0, 0))
    PairOperator(MetricLearning(Gaussian(1.0)), pairs).product(rng.normal(size=30))
    assert len(made) == 1


@pytest.mark.parametrize(
    "kernel",
    [
        RANKING * RANKING * RANKING * RANKING,
        Gaussian(1.0) * Tensor(Gaussian(1.0), k3=OddPart(Gaussian(1.0))),
    ],
    ids=["four edges", "group kernel without features"],
)
def test_what_has_no_such_form_falls_back(kernel, rng):
    pairs = random_pairs(4, n=20, m=6)
    vector = rng.normal(size=20)
    wanted = kernel.gram(pairs) @ vector
    np.testing.assert_allclose(PairOperator(kernel, pairs).product(vector), wanted, rtol=1e-10)


@pytest.mark.parametrize(
    "kernel",
    [
        Bilinear(tridiagonal()),
        OrderInvariant(Bilinear(tridiagonal())),
        Balanced(OrderInvariant(Bilinear(tridiagonal()))),
        SkewBalanced(OrderInvariant(Bilinear(tridiagonal()))),
    ],
    ids=["K_P", "K_P^o", "balanced", "skew-balanced"],
)
def test_bilinear_kernels_go_through_their_features(kernel, rng, monkeypatch):
    pairs, others = random_pairs(5, n=20, m=6), random_pairs(6, n=15, m=7)
    vector = rng.normal(size=15)
    wanted = [kernel.gram(left, others) @ vector for left in (pairs, pairs.swap())]
    operator = PairOperator(kernel, pairs, others)
    monkeypatch.setattr(pair_operator, "dense_gram", None)  # the matrix is never formed
    found = operator.products(vector, mirrored=True)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
