"""Landmark features: exact where all objects are landmarks, lawful and small where they are not."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import cases
import pairity
from pairity import Pairs
from pairity.exceptions import KernelError
from pairity.kernels import (
    Additive,
    Balanced,
    Callable,
    Derived,
    Diffusion,
    DirectSum,
    Gaussian,
    Identity,
    Linear,
    Mixed,
    Nystroem,
    Polynomial,
    Precomputed,
    Product,
    SkewBalanced,
    Standardized,
    Tensor,
    approximation_errors,
)
from pairity.kernels.atoms import expand
from pairity.kernels.classes import is_order_invariant, measure_laws, parity_of
from pairity.kernels.elementary import OnRescaled
from pairity.kernels.landmarks import WAYS, FeatureError, LandmarkFeatures
from pairity.kernels.nystroem import Approximated
from pairity.pairs.parity import Parity

#: Kernels of pairs with and without group features, scales and widths to be found.
INNER = {
    "gaussian": Gaussian(1.2),
    "name": "gaussian",
    "named-product": "product",
    "sum": Product(Gaussian(1.0)) + Additive(Linear()),
    "standardised": Standardized(Tensor(Gaussian("median")) + DirectSum(Gaussian(2.0))),
    "projected": Balanced(Gaussian(1.2)),
    "skew": SkewBalanced(Product(Gaussian("median"))),
    "mixed": Mixed(Gaussian(1.2), 0.3, 1.7),
    "group": Tensor(Gaussian(1.2), k2=Gaussian(0.9), k3=Linear()),
    "derived": Product(Gaussian(1.2)) * Derived(Gaussian(1.0)),
}


def resolved(inner):
    return pairity.kernels.standardized.as_kernel(inner)


def objects_table(seed, n=60, columns=3):
    return np.random.default_rng(seed).normal(size=(n, columns))


def the_features(kernel):
    """The one LandmarkFeatures of a fitted kernel."""
    (found,) = {id(k): k for k in kernel.walk() if isinstance(k, LandmarkFeatures)}.values()
    return found


# Exact where it must be -------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", INNER)
def test_all_objects_as_landmarks_give_the_kernel_itself(name, way):
    pairs, other = cases.random_pairs(1, n=20), cases.random_pairs(2, n=9)
    inner = resolved(INNER[name]).fitted_to(pairs)
    fitted = Nystroem(INNER[name], 7, way).fitted_to(pairs)
    np.testing.assert_allclose(fitted.gram(pairs), inner.gram(pairs), rtol=0, atol=1e-8)
    np.testing.assert_allclose(fitted.diagonal(pairs), inner.diagonal(pairs), rtol=0, atol=1e-8)
    assert fitted.gram(pairs, other).shape == (20, 9)


@given(st.integers(0, 10_000), st.floats(0.3, 3.0), st.sampled_from(WAYS))
@settings(max_examples=25, deadline=None)
def test_exact_for_any_width(seed, sigma, way):
    pairs = cases.random_pairs(seed, widths=(3, 0, 0))
    gram = Product(Nystroem(Gaussian(sigma), 50, way)).fitted_to(pairs).gram(pairs)
    np.testing.assert_allclose(gram, Product(Gaussian(sigma)).gram(pairs), rtol=0, atol=1e-8)


def test_exact_for_sparse_objects():
    pairs = cases.sparse_twin(cases.random_pairs(3))
    for kernel in (Gaussian(1.2), Standardized(Gaussian("median"))):
        fitted, inner = Nystroem(kernel, 7).fitted_to(pairs), kernel.fitted_to(pairs)
        np.testing.assert_allclose(fitted.gram(pairs), inner.gram(pairs), rtol=0, atol=1e-8)


def test_repeated_objects_count_once():
    objects = objects_table(0, 10)
    pairs = Pairs.complete(np.vstack([objects, objects[:4]]))
    features = the_features(Nystroem(Gaussian(1.0), 10).fitted_to(pairs))
    assert features.landmarks.shape == (10, 3)
    assert features.error(objects).largest < 1e-12


def test_objects_that_no_pair_uses_are_no_landmarks():
    objects = objects_table(1, 8)
    fitted = Nystroem(Gaussian(1.0), 20).fitted_to(Pairs(objects, [0, 1, 2], [1, 2, 0]))
    assert the_features(fitted).landmarks.shape == (3, 3)


def test_no_columns_and_no_objects():
    """Objects without features are all alike; without objects there is nothing to compare."""
    pairs = Pairs(np.zeros((4, 0)), [0, 1], [2, 3], symmetric=[[1.0], [2.0]])
    fitted = Nystroem(Gaussian(1.0), 3).fitted_to(pairs)
    np.testing.assert_allclose(fitted.gram(pairs), Gaussian(1.0).gram(pairs), atol=1e-12)
    features = Nystroem(Gaussian(1.0), 3).fitted_to_features(np.zeros((0, 2)))
    assert features.explicit(np.zeros((5, 2))).shape == (5, 0)
    assert features.error(np.zeros((0, 2))) == FeatureError(0.0, 0.0, 0)


def test_a_kernel_of_zeros_has_no_features():
    for way in WAYS:
        features = LandmarkFeatures.of(0.0 * Gaussian(), objects_table(0), 5, way, 0)
        assert features.whitening.shape == (5, 0)
        assert features.error(objects_table(0)) == FeatureError(0.0, 0.0, 0)


# Laws -------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.integers(2, 6), st.sampled_from(sorted(INNER)))
@settings(max_examples=30, deadline=None)
def test_every_approximation_is_a_kernel(seed, n_components, name):
    pairs = cases.random_pairs(seed)
    laws = measure_laws(Nystroem(INNER[name], n_components).fitted_to(pairs), pairs)
    assert laws.symmetry <= 1e-12
    assert laws.order_invariant <= 1e-12
    # a product with k3 is a kernel too, by Schur's theorem
    assert laws.smallest_eigenvalue > -1e-9 * laws.scale * laws.n_pairs


@pytest.mark.parametrize("name", INNER)
def test_the_class_stays_that_of_the_kernel(name):
    pairs = cases.random_pairs(5)
    inner = resolved(INNER[name]).fitted_to(pairs)
    fitted = Nystroem(INNER[name], 4).fitted_to(pairs)
    assert parity_of(fitted, 2, 2) is parity_of(inner, 2, 2)
    assert is_order_invariant(fitted, 2, 2) is is_order_invariant(inner, 2, 2)
    assert len(expand(fitted, 2, 2).terms) == len(expand(inner, 2, 2).terms)


@pytest.mark.parametrize("parity", list(Parity))
@pytest.mark.parametrize("name", ["gaussian", "name", "sum", "standardised"])
def test_projections_obey_the_swap_law_bit_for_bit(name, parity):
    pairs, other = cases.random_pairs(6, n=30, m=12), cases.random_pairs(7, n=9)
    fitted = Nystroem(INNER[name], 5).fitted_to(pairs)
    kernel = (Balanced if parity is Parity.EVEN else SkewBalanced)(fitted)
    gram = kernel.gram(pairs, other)
    assert np.array_equal(kernel.gram(pairs.swap(), other), parity.sign * gram)
    if (name, parity) != ("standardised", Parity.ODD):  # that one is balanced
        assert np.abs(gram).max() > 0.0


@pytest.mark.parametrize("way", WAYS)
def test_the_same_seed_gives_the_same_landmarks_and_order_is_no_matter(way):
    pairs = cases.random_pairs(8, n=80, m=30)
    kernel = Nystroem("gaussian", 6, way)
    probe = cases.random_pairs(9)
    gram = kernel.fitted_to(pairs).gram(probe)
    assert np.array_equal(kernel.fitted_to(pairs).gram(probe), gram)
    assert np.array_equal(kernel.fitted_to(pairs.swap()).gram(probe), gram)
    assert np.array_equal(kernel.fitted_to(pairs[::-1]).gram(probe), gram)
    other = Nystroem("gaussian", 6, way, random_state=1).fitted_to(pairs).gram(probe)
    assert not np.array_equal(other, gram)


# What is replaced and what is not ---------------------------------------------------------------


def test_landmarks_of_rescaled_features_are_raw_rows():
    """Clusters on the scale of the kernel, means of the rows as they were given."""
    rng = np.random.default_rng(17)
    objects = rng.normal(size=(50, 2)) * [1.0, 1000.0] + [5.0, 90.0]
    pairs = Pairs.complete(objects)
    features = the_features(
        Nystroem(Standardized(Gaussian("median"), "columns"), 8).fitted_to(pairs)
    )
    assert isinstance(features.kernel, OnRescaled)
    assert features.landmarks[:, 1].std() > 300.0
    assert (features.landmarks.min(axis=0) >= objects.min(axis=0)).all()
    assert (features.landmarks.max(axis=0) <= objects.max(axis=0)).all()
    # on raw numbers the second column alone would tell objects apart: this does as well as can be
    scaled = Standardized(Nystroem(Gaussian("median"), 8), "columns").fitted_to(pairs)
    (inside,) = approximation_errors(scaled, objects)
    assert features.error(objects).share == pytest.approx(inside.share, rel=0.5)


@pytest.mark.parametrize(
    ("kernel", "n_replaced"),
    [
        (Linear(), 0),
        (Standardized(Linear()), 0),
        (Polynomial(3), 0),
        (Product(Polynomial(2)), 0),
        (Product(Polynomial(9)), 1),
        (Product(Gaussian(1.0)) + Additive(Linear()), 1),
        (Gaussian(1.0) + Standardized(Gaussian(2.0)), 2),
        (Product(Gaussian(1.0)) + Tensor(Gaussian(1.0)), 1),
        (Derived(Gaussian(1.0)), 0),
        (Nystroem(Gaussian(1.0), 6), 0),
        (Nystroem(Gaussian(1.0), 20), 1),
    ],
    ids=repr,
)
def test_kernels_with_few_features_of_their_own_stay(kernel, n_replaced):
    pairs = cases.random_pairs(18, n=200, m=40, widths=(2, 0, 0))
    fitted = Nystroem(kernel, 6).fitted_to(pairs)
    assert isinstance(fitted, Approximated)
    assert len(fitted.features) == n_replaced
    if not n_replaced:
        assert np.array_equal(fitted.gram(pairs[:9]), kernel.fitted_to(pairs).gram(pairs[:9]))


def test_wide_linear_kernels_are_replaced_and_sparse_ones_are_not():
    dense = cases.random_pairs(19, n=60, m=30, widths=(9, 0, 0))
    assert len(Nystroem(Linear(), 8).fitted_to(dense).features) == 1
    assert len(Nystroem(Linear(), 9).fitted_to(dense).features) == 0
    indicators = Pairs(sp.eye_array(30, format="csr"), dense.first, dense.second)
    for kernel in (Linear(), Standardized(Linear())):
        assert len(Nystroem(kernel, 8).fitted_to(indicators).features) == 0
    assert len(Nystroem(Gaussian(1.0), 8).fitted_to(indicators).features) == 1


def test_sparse_landmarks_are_objects_in_csr():
    rows = sp.csr_array(objects_table(20, 40))
    for way in WAYS:
        landmarks = Nystroem(Gaussian(1.0), 6, way).fitted_to_features(rows).landmarks
        assert sp.issparse(landmarks)
        found = {tuple(row) for row in landmarks.toarray()}
        assert found <= {tuple(row) for row in rows.toarray()}
        assert len(found) == 6


def test_landmarks_of_a_users_function_are_objects():
    rows = objects_table(21, 40)
    kernel = Nystroem(Callable(cases.rows_cosine_like), 6)
    landmarks = kernel.fitted_to_features(rows).landmarks
    assert {tuple(row) for row in landmarks} <= {tuple(row) for row in rows}
    means = Nystroem(Gaussian(1.0), 6).fitted_to_features(rows).landmarks
    assert not {tuple(row) for row in means} <= {tuple(row) for row in rows}


def test_group_kernels_stay_exact():
    pairs = cases.random_pairs(22, n=40)
    fitted = Nystroem(Tensor(Gaussian(1.0), k2=Gaussian(0.9), k3=Linear()), 3).fitted_to(pairs)
    roles = {
        factor.role: factor.kernel
        for monomial in expand(fitted, 2, 2).terms
        for factor in monomial.factors
    }
    assert roles == {"symmetric": Gaussian(0.9), "antisymmetric": Linear()}


# What it refuses --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n_components": 0}, "n_components=0; expected a whole number, 1 or more"),
        ({"n_components": 2.5}, "n_components=2.5"),
        ({"n_components": True}, "n_components=True"),
        ({"landmarks": "random"}, "landmarks='random'; expected one of 'k-means'"),
        ({"landmarks": None}, "landmarks=None"),
        ({"random_state": None}, "random_state=None; expected a whole number, 0 or more"),
        ({"kernel": "rbf"}, "kernel='rbf' for Nystroem; expected a kernel"),
        ({"kernel": cases.rows_dot}, "for Nystroem; expected a kernel"),
        ({"kernel": np.eye(2)}, "for Nystroem; expected a kernel"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_bad_parameters_are_refused_at_once_and_again_before_a_fit(arguments, sentence):
    with pytest.raises(KernelError, match=sentence):
        Nystroem(**{"kernel": Gaussian(1.0), **arguments})
    kernel = Nystroem(Gaussian(1.0)).set_params(**arguments)
    with pytest.raises(KernelError, match=sentence):
        kernel.fitted_to(cases.random_pairs(0))
    with pytest.raises(KernelError, match=sentence):
        kernel.fitted_to_features(objects_table(0))


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (
            Additive(Gaussian(1.0)) + Additive(Identity()),
            r"Identity.*by id or number; expected.*out",
        ),
        (Product(Gaussian(1.0) + Identity()), "looks objects up"),
        (Standardized(Identity()), "looks objects up"),
        (Precomputed(np.eye(7)), "looks objects up"),
        (Callable(cases.rows_dot), "kernel of whole rows; expected one made of object kernels"),
        (Product(Gaussian(1.0)) + Callable(cases.rows_dot), "kernel of whole rows"),
    ],
    ids=repr,
)
def test_kernels_that_cannot_be_interpolated_are_refused(kernel, sentence):
    with pytest.raises(KernelError, match=sentence):
        Nystroem(kernel).fitted_to(cases.random_pairs(1, widths=(1, 0, 0)))


def test_a_kernel_that_knows_its_pairs_is_refused():
    arcs = Pairs.complete(objects_table(23, 6))
    kernel = Diffusion(Tensor(Gaussian(1.0)), arcs)
    with pytest.raises(KernelError, match="knows its pairs; expected a kernel of features"):
        Nystroem(kernel).fitted_to(arcs)


def test_a_kernel_of_pairs_does_not_compare_objects():
    with pytest.raises(KernelError, match="a kernel of pairs, where objects"):
        Product(Nystroem("gaussian", 2)).fitted_to(cases.random_pairs(1))


def test_values_before_a_fit_are_refused():
    pairs, rows = cases.random_pairs(1), objects_table(0)
    kernel = Nystroem(Gaussian(1.0))
    for value in (
        lambda: kernel.gram(pairs),
        lambda: Product(kernel).gram(pairs),
        lambda: kernel.diagonal(pairs),
        lambda: Product(kernel).diagonal(pairs),
        lambda: kernel.on_features(rows, rows),
        lambda: approximation_errors(kernel, rows),
    ):
        with pytest.raises(KernelError, match="before the landmarks are known; expected a fitted"):
            value()


def test_parts_that_do_not_fit_are_refused():
    with pytest.raises(KernelError, match=r"landmarks of shape \(3, 2\) and a whitening of shape"):
        LandmarkFeatures(Gaussian(), np.zeros((3, 2)), np.zeros((2, 2)))
    with pytest.raises(KernelError, match="expected a kernel"):
        LandmarkFeatures("gaussian", np.zeros((3, 2)), np.zeros((3, 2)))
    with pytest.raises(KernelError, match="parts do not fit"):
        Approximated(Gaussian(), (Gaussian(),))
