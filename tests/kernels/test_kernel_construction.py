"""Building kernels: names, algebra, printing, parameters, and what is refused."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import cases
from pairity import Pairs
from pairity.exceptions import KernelError
from pairity.kernels import (
    Additive,
    Balanced,
    Bilinear,
    Callable,
    DirectSum,
    EvenPart,
    Gaussian,
    Identity,
    Linear,
    MetricLearning,
    OddPart,
    OrderInvariant,
    Polynomial,
    Precomputed,
    Product,
    SkewBalanced,
    Standardized,
    Tensor,
    TensorMetric,
)
from pairity.kernels.standardized import KERNEL_NAMES, as_kernel
from pairity.pairs.parity import Parity

# Printing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "shown"),
    [
        (Linear(), "Linear()"),
        (Polynomial(3), "Polynomial(degree=3)"),
        (Gaussian(0.5), "Gaussian(sigma=0.5)"),
        (Tensor(Gaussian(2.0)), "Tensor(Gaussian(sigma=2.0))"),
        (
            DirectSum(Linear(), k2=Gaussian(1.0), k3=Polynomial(2)),
            "DirectSum(Linear(), k2=Gaussian(sigma=1.0), k3=Polynomial(degree=2))",
        ),
        (SkewBalanced(Gaussian(1.0)), "SkewBalanced(Gaussian(sigma=1.0))"),
        (Bilinear(np.eye(4)), "Bilinear(P=<4x4 matrix>)"),
        (Precomputed(np.eye(3)), "Precomputed(gram=<3x3 matrix>)"),
        (Callable(cases.rows_dot), "Callable(function=rows_dot, reflection=None)"),
        (Linear() + 2.0 * Polynomial(2), "Linear() + 2 * Polynomial(degree=2)"),
        (
            (Linear() + Linear()) * Gaussian(1.0) * Polynomial(2),
            "(Linear() + Linear()) * Gaussian(sigma=1.0) * Polynomial(degree=2)",
        ),
        (0.5 * (Linear() + Gaussian(1.0)), "0.5 * (Linear() + Gaussian(sigma=1.0))"),
        (EvenPart(Gaussian(1.0)), "EvenPart(kernel=Gaussian(sigma=1.0))"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_kernels_print_as_their_formula(kernel, shown):
    assert repr(kernel) == shown


# Parameters, clones, pickles -------------------------------------------------------------------


@pytest.mark.parametrize("case", cases.all_cases(), ids=repr)
def test_clone_and_pickle_give_the_same_values(case):
    if case.name.startswith(("sum", "scaled", "odd", "even")):
        assert clone(case.kernel) == case.kernel
    pairs = cases.random_pairs(1, n=5)
    expected = case.kernel.gram(pairs)
    assert np.array_equal(clone(case.kernel).gram(pairs), expected)
    assert np.array_equal(pickle.loads(pickle.dumps(case.kernel)).gram(pairs), expected)


def test_parameters_reach_through_constructions():
    kernel = Balanced(Tensor(Gaussian(1.0), k2=Polynomial(2)))
    names = kernel.get_params()
    assert names["kernel__k1__sigma"] == 1.0
    assert names["kernel__k2__degree"] == 2
    kernel.set_params(kernel__k1__sigma=3.0)
    assert kernel == Balanced(Tensor(Gaussian(3.0), k2=Polynomial(2)))


def test_precomputed_and_function_parameters():
    matrix = np.eye(2)
    assert Precomputed(matrix).get_params() == {"gram": matrix}
    assert Precomputed(matrix).set_params(gram=2.0 * matrix).gram_values[0, 0] == 2.0
    assert Callable(cases.rows_dot).get_params()["function"] is cases.rows_dot
    assert Callable(cases.rows_dot).set_params(reflection="odd").reflection is Parity.ODD
    for kernel in (Precomputed(matrix), Callable(cases.rows_dot)):
        with pytest.raises(ValueError, match="got parameters"):
            kernel.set_params(sigma=1.0)


def test_equal_kernels_are_equal_and_hash_alike():
    assert Gaussian(1) == Gaussian(1.0)
    assert hash(Tensor(Gaussian(1.0))) == hash(Tensor(Gaussian(1.0)))
    assert Gaussian(1.0) != Gaussian(2.0)
    assert Linear() != Polynomial(1)
    assert Linear() != "linear"


@pytest.mark.parametrize("container", [list, tuple, np.asarray])
def test_matrices_may_be_lists(container):
    """Array-likes serve as P and as a Gram matrix, and give what arrays give."""
    P = container([[2.0, 1.0], [1.0, 2.0]])
    pairs = Pairs([[0.0], [1.0]], [0, 1], [1, 0])
    kernel = OrderInvariant(Bilinear(P))
    expected = OrderInvariant(Bilinear(np.array([[2.0, 1.0], [1.0, 2.0]])))
    assert np.array_equal(kernel.gram(pairs), expected.gram(pairs))
    assert np.array_equal(Precomputed(P).gram(pairs), Precomputed(np.asarray(P)).gram(pairs))
    assert hash(kernel) == hash(kernel)


def test_matrices_may_be_tables():
    pd = pytest.importorskip("pandas", reason="pandas comes with the command line extra")
    table = pd.DataFrame(np.eye(2))
    pairs = Pairs(np.arange(2)[:, None], [0, 1], [1, 0])
    assert np.array_equal(Precomputed(table).gram(pairs), Precomputed(np.eye(2)).gram(pairs))
    assert repr(Precomputed(table)) == "Precomputed(gram=<2x2 matrix>)"
    assert Precomputed(table) != Precomputed(table.copy())


# Names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("linear", Linear()),
        ("polynomial", Polynomial(3)),
        ("gaussian", Standardized(Gaussian("median"))),
        ("additive", Standardized(Additive(Gaussian("median")))),
        ("product", Standardized(Product(Gaussian("median")))),
        ("direct_sum", Standardized(DirectSum(Gaussian("median")))),
        ("tensor", Standardized(Tensor(Gaussian("median")))),
        ("identity", Identity()),
        ("metric_learning", MetricLearning(Linear())),
        ("tensor_metric", TensorMetric(Linear())),
    ],
)
def test_names_stand_for_default_kernels(name, kernel):
    assert as_kernel(name) == kernel


def test_every_name_is_tested():
    assert len(KERNEL_NAMES) == 10


def test_kernels_and_functions_pass_through():
    kernel = Gaussian(2.0)
    assert as_kernel(kernel) is kernel
    assert as_kernel(cases.rows_dot) == Callable(cases.rows_dot)


@pytest.mark.parametrize("wrong", ["rbf", 3, None])
def test_anything_else_is_refused_with_the_names(wrong):
    with pytest.raises(KernelError, match=r"expected a kernel .* 'linear', 'polynomial'"):
        as_kernel(wrong)


# Refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [0, -1, 1.5, True, "2"])
def test_degree_must_be_a_positive_whole_number(degree):
    with pytest.raises(KernelError, match="expected a whole number from 1 to 1000"):
        Polynomial(degree)


@pytest.mark.parametrize("sigma", [0.0, -1.0, np.nan, np.inf, "1", True])
def test_sigma_must_be_above_zero(sigma):
    with pytest.raises(ValueError, match=r"got sigma=.*expected a finite number above 0"):
        Gaussian(sigma)


@pytest.mark.parametrize("factor", [-1.0, np.nan, np.inf])
def test_scaling_must_keep_a_kernel_a_kernel(factor):
    with pytest.raises(KernelError, match="expected a finite factor of at least 0"):
        factor * Gaussian(1.0)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), "expected a square matrix"),
        (np.ones(3), "expected a square matrix"),
        ([[1.0, np.nan], [np.nan, 1.0]], "expected finite numbers"),
        ([[1.0, 0.5], [0.0, 1.0]], r"differs from its transpose by 0.5.*symmetric"),
    ],
    ids=["not-square", "one-dimension", "nan", "not-symmetric"],
)
@pytest.mark.parametrize("make", [Bilinear, Precomputed])
def test_matrices_are_checked_at_once(make, matrix, message):
    with pytest.raises(KernelError, match=message):
        make(matrix)


def test_bilinear_matrix_must_be_psd():
    with pytest.raises(KernelError, match=r"got P with eigenvalue -1;.*positive semi-definite"):
        Bilinear([[0.0, 1.0], [1.0, 0.0]])


def test_bilinear_matrix_must_fit_the_pairs():
    with pytest.raises(KernelError, match=r"pairs with 8 features for P of size 4"):
        Bilinear(np.eye(4)).gram(cases.random_pairs(2))


def test_precomputed_needs_row_numbers():
    kernel = Precomputed(np.eye(3))
    with pytest.raises(KernelError, match="2 feature columns for a Precomputed kernel"):
        kernel.gram(Pairs(np.zeros((2, 2)), [0], [1]))
    for wrong in ([[0.0], [3.0]], [[0.0], [-1.0]], [[0.0], [0.5]]):
        with pytest.raises(KernelError, match="expected whole numbers from 0 to 2"):
            kernel.gram(Pairs(wrong, [0], [1]))


def wrong_shape(X, Z):
    return np.zeros(len(X))


def not_a_number(X, Z):
    return np.full((len(X), len(Z)), np.nan)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (wrong_shape, r"values of shape \(5,\).*expected one value per pair of rows"),
        (not_a_number, "NaN or infinite values from the kernel function"),
    ],
)
def test_values_of_functions_are_checked(function, message):
    pairs = cases.random_pairs(3, n=5, m=5)
    for kernel in (Callable(function), Tensor(Callable(function))):
        with pytest.raises(KernelError, match=message):
            kernel.gram(pairs)


def test_function_must_be_callable_with_a_known_parity():
    with pytest.raises(KernelError, match="expected a function of two feature tables"):
        Callable("linear")
    with pytest.raises(KernelError, match="expected 'even', 'odd' or None"):
        Callable(cases.rows_dot, reflection="both")


@pytest.mark.parametrize("make", [DirectSum, Tensor, MetricLearning, TensorMetric, Product])
def test_constructions_refuse_what_is_no_kernel(make):
    with pytest.raises(KernelError, match=r"got k1='gaussian'; expected an object kernel"):
        make("gaussian")
    with pytest.raises(KernelError, match=r"got k2='gaussian'; expected .* kernel"):
        make(Linear(), k2="gaussian")
    with pytest.raises(KernelError, match=r"got k3=.*; expected .* kernel"):
        make(Linear(), k3=cases.rows_dot)


@pytest.mark.parametrize("make", [Balanced, SkewBalanced, OrderInvariant])
def test_projections_refuse_what_is_no_kernel(make):
    with pytest.raises(KernelError, match=r"got kernel=.*; expected a kernel of pairs"):
        make("gaussian")


@pytest.mark.parametrize("make", [DirectSum, Tensor, MetricLearning, TensorMetric, Product])
@pytest.mark.parametrize("k3", [Gaussian(1.0), Linear() + Polynomial(2)], ids=repr)
def test_k3_must_be_even_or_odd(make, k3):
    with pytest.raises(KernelError, match=r"neither even \(9\) nor odd \(11\).*EvenPart.*OddPart"):
        make(Linear(), k3=k3)


@pytest.mark.parametrize(
    ("k3", "reflection"),
    [
        (Linear(), Parity.ODD),
        (Polynomial(2), Parity.EVEN),
        (Polynomial(3), Parity.ODD),
        (Polynomial(2) + Polynomial(4), Parity.EVEN),
        (Linear() * Polynomial(3), Parity.EVEN),
        (Linear() * Polynomial(2), Parity.ODD),
        (2.0 * Linear(), Parity.ODD),
        (EvenPart(Gaussian(1.0)), Parity.EVEN),
        (OddPart(Gaussian(1.0)), Parity.ODD),
        (OddPart(Gaussian(1.0)) * OddPart(Gaussian(2.0)), Parity.EVEN),
        (Callable(cases.rows_dot, reflection="odd"), Parity.ODD),
    ],
    ids=repr,
)
def test_reflection_parity_of_group_kernels(k3, reflection):
    """(9) and (11) hold as claimed, on numbers."""
    assert k3.reflection is reflection
    x, z = np.random.default_rng(4).normal(size=(2, 5, 3))
    expected = reflection.sign * k3.on_features(x, z)
    np.testing.assert_allclose(k3.on_features(x, -z), expected, rtol=1e-13, atol=0)
    np.testing.assert_allclose(k3.on_features(-x, z), expected, rtol=1e-13, atol=0)


@pytest.mark.parametrize("part", [EvenPart, OddPart])
def test_parts_need_a_kernel_that_has_them(part):
    with pytest.raises(KernelError, match=r"k\(-x, -z\) = k\(x, z\) is not known"):
        part(Callable(cases.rows_cosine_like))
    with pytest.raises(KernelError, match=r"as a kernel of pairs; .*Balanced"):
        part(Gaussian(1.0)).gram(cases.random_pairs(5))


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [
        (DirectSum(Linear(), k2=Linear()), "symmetric"),
        (DirectSum(Linear(), k3=Linear()), "antisymmetric"),
    ],
)
def test_group_kernels_need_group_features(kernel, kind):
    with pytest.raises(KernelError, match=f"but pairs without {kind} group features"):
        kernel.gram(cases.random_pairs(6, widths=(2, 0, 0)))


def test_a_kernel_of_pairs_is_no_kernel_of_objects():
    with pytest.raises(KernelError, match="a kernel of pairs, where objects or group features"):
        Tensor(DirectSum(Linear())).gram(cases.random_pairs(7))


@pytest.mark.parametrize("other", [1j, "x", None])
def test_algebra_refuses_other_things(other):
    with pytest.raises(TypeError):
        Linear() + other
    with pytest.raises(TypeError):
        Linear() * other


@pytest.mark.parametrize("case", cases.all_cases(), ids=repr)
def test_detached_copies_are_equal(case):
    assert case.kernel.detached() == case.kernel


def test_detached_copies_do_not_change_with_the_original():
    inside = Gaussian(1.0)
    for kernel in (inside, Tensor(inside), 2.0 * (Tensor(inside) + Linear()) * Linear()):
        copy = kernel.detached()
        inside.set_params(sigma=5.0)
        assert copy != kernel
        inside.set_params(sigma=1.0)
        assert copy == kernel
