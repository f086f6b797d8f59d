"""Which kernels are models of few parameters: inner products of their pair features, and refusals."""

import numpy as np
import pytest
import scipy.sparse as sp

import cases
import naive
from low_rank_twins import explicit_tables, nystroem_twin, pair_features
from pairity import PairLogistic, Pairs, PairSVC
from pairity.exceptions import KernelError
from pairity.kernels import (
    Additive,
    Callable,
    Derived,
    DirectSum,
    Gaussian,
    Linear,
    MetricLearning,
    Nystroem,
    Polynomial,
    Product,
    SkewBalanced,
    Tensor,
    TensorMetric,
)
from pairity.kernels.classes import is_approximated
from pairity.pairs.parity import Parity
from pairity.solvers.low_rank.design import Layout
from pairity.solvers.low_rank.form import group_columns, learn_map, read_form

EVEN, ODD = Parity.EVEN, Parity.ODD
WIDTHS = (2, 2, 2)


def added(*terms):
    """Weighted sum of plain pair kernels."""
    return lambda X, Z, w: sum(weight * K(X, Z, w) for weight, K in terms)


def group_only(k, role):
    place = {"symmetric": 1, "antisymmetric": 2}[role]
    return lambda X, Z, w: k(naive.split(X, w)[place], naive.split(Z, w)[place])


product = naive.product(naive.inner)
additive = naive.additive(naive.polynomial(2))
difference = naive.derived(naive.inner, lambda a, ab, t, b: a - b)

#: Kernel, its plain twin, parities that it has.
EXACT = {
    "product": (Product(Linear()), product, (EVEN, ODD)),
    "product of polynomials": (
        Product(Polynomial(2)),
        naive.product(naive.polynomial(2)),
        (EVEN, ODD),
    ),
    "tensor": (Tensor(Linear()), naive.tensor(naive.inner), (EVEN,)),
    "additive": (Additive(Polynomial(2)), additive, (EVEN, ODD)),
    "direct sum": (DirectSum(Linear()), naive.direct_sum(naive.inner), (EVEN,)),
    "skew": (SkewBalanced(Product(Linear())), naive.skew_balanced(product), (ODD,)),
    "pairs in a line": (Linear(), naive.pair_linear, (EVEN, ODD)),
    "scaled sum": (
        2.5 * Product(Linear()) + 0.5 * Additive(Polynomial(2)) + 3.0 * Linear(),
        added((2.5, product), (0.5, additive), (3.0, naive.pair_linear)),
        (EVEN, ODD),
    ),
    "the same objects twice": (
        Product(Linear()) + Additive(Linear()) + 0.25 * Product(Linear()),
        added((1.25, product), (1.0, naive.additive(naive.inner))),
        (EVEN, ODD),
    ),
    "even group kernels": (
        Product(Linear(), k2=Linear(), k3=Polynomial(2)),
        added(
            (1.0, product),
            (1.0, group_only(naive.inner, "symmetric")),
            (1.0, group_only(naive.polynomial(2), "antisymmetric")),
        ),
        (EVEN,),
    ),
    "derived": (
        Product(Linear()) + 0.5 * Derived(Linear(), ("difference",)),
        added((1.0, product), (0.5, difference)),
        (ODD,),
    ),
}
CASES = [
    pytest.param(kernel, twin, parity, id=f"{name}, {parity.name.lower()}")
    for name, (kernel, twin, parities) in EXACT.items()
    for parity in parities
]


def projected(twin, parity):
    return naive.balanced(twin) if parity is EVEN else naive.skew_balanced(twin)


def assert_features_give(kernel, twin, parity, pairs, widths):
    """Inner products of the pair features are the values of the projected kernel."""
    form = read_form(kernel, parity, *widths[1:])
    psi = pair_features(form, pairs, explicit_tables(form, pairs))
    if form.has_bias:
        psi = psi[:, :-1]
    rows = pairs.to_rows()
    expected = naive.gram(projected(twin, parity), rows, rows, widths)
    np.testing.assert_allclose(psi @ psi.T, expected, rtol=0.0, atol=1e-10 * np.abs(expected).max())
    table_widths = tuple(table.shape[1] for table in explicit_tables(form, pairs))
    n_group = group_columns(form, pairs).shape[1]
    layout = Layout(table_widths, form, n_group)
    assert layout.size == psi.shape[1] + form.has_bias


@pytest.mark.parametrize(("kernel", "twin", "parity"), CASES)
def test_inner_products_of_pair_features_are_the_projected_kernel(kernel, twin, parity):
    pairs = cases.random_pairs(3, n=9, m=6, widths=WIDTHS)
    assert_features_give(kernel, twin, parity, pairs, WIDTHS)


@pytest.mark.parametrize("parity", [EVEN, ODD])
@pytest.mark.parametrize("n_components", [1, 4, 20])
def test_landmark_features_of_gaussian_kernels(parity, n_components):
    widths = (2, 0, 0)
    pairs = cases.random_pairs(4, n=9, m=7, widths=widths)
    for kernel, construct in (
        (Nystroem(Gaussian(1.3), n_components), naive.product),
        (Nystroem(Product(Gaussian(1.3)), n_components), naive.product),
        (Product(Nystroem(Gaussian(1.3), n_components)), naive.product),
        (Additive(Nystroem(Gaussian(1.3), n_components)), naive.additive),
    ):
        if n_components == 1 and parity is ODD and construct is naive.product:
            continue  # the determinant of one feature is 0
        fitted = kernel.fitted_to(pairs)
        assert is_approximated(fitted)
        (found,) = read_form(fitted, parity, 0, 0).kernels
        k1 = nystroem_twin(naive.gaussian(1.3), found.landmarks)
        assert_features_give(fitted, construct(k1), parity, pairs, widths)


@pytest.mark.parametrize("parity", [EVEN, ODD])
def test_group_columns_are_those_of_the_form(parity):
    pairs = cases.random_pairs(3, n=9, m=6, widths=WIDTHS)
    form = read_form(2.0 * Linear() + Product(Linear()), parity, 2, 2)
    columns = group_columns(form, pairs)
    kept = pairs.symmetric if parity is EVEN else pairs.antisymmetric
    np.testing.assert_allclose(columns, np.sqrt(2.0) * kept, rtol=1e-15)
    none = read_form(Product(Linear()), parity, 2, 2)
    assert group_columns(none, pairs).shape == (9, 0)


def test_a_bias_is_for_even_models_that_want_one():
    assert read_form(Product(Linear()), EVEN, 0, 0).has_bias
    assert not read_form(Product(Linear()), EVEN, 0, 0, with_bias=False).has_bias
    assert not read_form(Product(Linear()), ODD, 0, 0).has_bias


def test_equal_object_kernels_share_a_table():
    form = read_form(Product(Linear()) + Additive(Linear()), ODD, 0, 0)
    assert len(form.kernels) == 1
    assert [block.table for block in (*form.bilinear, *form.strengths)] == [0, 0]


def test_who_asks_for_a_low_rank_model():
    assert not is_approximated(Product(Gaussian(1.0)) + Linear())
    assert is_approximated(Nystroem("gaussian", 4))
    assert is_approximated(Product(Nystroem(Linear(), 4)) + Linear())


# Refusals: one sentence each ----------------------------------------------------------------------

GROUPED = cases.random_pairs(1, n=20, m=8, widths=WIDTHS)
ALONE = cases.random_pairs(1, n=20, m=8, widths=(2, 0, 0))
LABELS = cases.random_labels(1, 20)
REFUSED = {
    "products of object kernels": ("symmetric", MetricLearning(Linear()), ALONE, "products of obj"),
    "tensor and metric": ("symmetric", TensorMetric(Linear()), ALONE, "products of object kernels"),
    "odd group kernels": (
        "antisymmetric",
        Product(Linear(), k3=Linear()),
        GROUPED,
        "object kernels times kernels of antisymmetric features",
    ),
    "Gaussian with group features": (
        "symmetric",
        Nystroem(Gaussian(1.0), 4),
        GROUPED,
        "object kernels times kernels of antisymmetric and symmetric features",
    ),
    "Gaussian": ("symmetric", Gaussian(1.0), ALONE, "no finite number of features"),
    "group Gaussian": (
        "symmetric",
        Product(Linear(), k2=Gaussian(1.0)),
        GROUPED,
        "no inner product of few columns",
    ),
    "functions of rows": ("symmetric", Callable(cases.rows_dot), ALONE, "no inner product of few"),
    "sparse products": (
        "symmetric",
        Product(Linear()),
        cases.sparse_twin(ALONE),
        "sparse features where products of features are needed",
    ),
}


@pytest.mark.parametrize(
    ("symmetry", "kernel", "pairs", "words"), REFUSED.values(), ids=REFUSED.keys()
)
def test_refusals(symmetry, kernel, pairs, words):
    for learner in (PairSVC, PairLogistic):
        with pytest.raises(KernelError, match=words) as refused:
            learner(symmetry, kernel=kernel, solver="low_rank").fit(pairs, LABELS)
        assert_one_sentence(str(refused.value))


def assert_one_sentence(message):
    assert message.startswith("got ")
    assert "; expected " in message
    assert message.endswith(".")
    assert "\n" not in message


def test_no_symmetry_is_refused():
    with pytest.raises(KernelError, match="got symmetry='none'") as refused:
        PairSVC("none", kernel=Product(Linear()), solver="low_rank").fit(ALONE, LABELS)
    assert_one_sentence(str(refused.value))


def test_without_a_symmetry_nystroem_is_trained_exactly():
    model = PairSVC("none", kernel=Nystroem(Gaussian(1.0), 4)).fit(ALONE, LABELS)
    assert len(model.support_)
    assert not hasattr(model, "approximation_")


def test_very_many_features_are_refused_where_products_are_needed():
    objects = np.zeros((3, 4097))
    with pytest.raises(KernelError, match="expected at most 4096") as refused:
        learn_map(Linear(), objects, np.ones(3), bilinear=True)
    assert_one_sentence(str(refused.value))


def test_sparse_features_are_fine_in_sums():
    pairs = Pairs(sp.eye_array(5, format="csr"), [0, 1, 2, 3], [1, 2, 3, 4])
    model = PairSVC("antisymmetric", kernel=Additive(Linear()), solver="low_rank")
    model.fit(pairs, [1, 1, -1, 1])
    assert model._model.bases == (None,)
