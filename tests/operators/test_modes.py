"""Leading modes: features against a table built entry by entry, and against the Gram matrix."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import cases
from pairity import Pairs
from pairity.kernels import (
    DirectSum,
    Gaussian,
    Linear,
    MetricLearning,
    Polynomial,
    Product,
    SkewBalanced,
    Tensor,
)
from pairity.operators import PairOperator
from pairity.operators.modes import EigenModes, LandmarkModes, leading_modes
from pairity.runtime.resources import Budget

#: A kernel of each kind, and its plain ``p_ij(ab)`` of two rows of eigenvectors.
KINDS = {
    "even": (2.5 * Tensor(Gaussian(1.1)), lambda a, b, i, j: (a[i] * b[j] + a[j] * b[i]) / 2.0),
    "odd": (SkewBalanced(Gaussian(1.1)), lambda a, b, i, j: (a[i] * b[j] - a[j] * b[i]) / 2.0),
    "metric": (
        MetricLearning(Gaussian(1.1)),
        lambda a, b, i, j: (a[i] - b[i]) * (a[j] - b[j]),
    ),
}
#: Coefficients of pairs fill a full matrix of few objects, and a sparse one of many.
SIZES = {"full": {"n": 30, "m": 9}, "sparse": {"n": 30, "m": 42}}
for_each_kind = pytest.mark.parametrize("kind", KINDS)
for_each_size = pytest.mark.parametrize("size", SIZES)
for_few_and_many = pytest.mark.parametrize("n_modes", [1, 100, 10_000])
ALL = 10_000


def pairs_of(size, seed=5):
    """Random pairs, some of them repeated, one swapped, and one of an object with itself."""
    pairs = cases.random_pairs(seed, widths=(3, 0, 0), **SIZES[size])
    first = np.concatenate([pairs.first, pairs.first[:3], pairs.second[3:4], [1]])
    second = np.concatenate([pairs.second, pairs.second[:3], pairs.first[3:4], [1]])
    return Pairs(pairs.objects, first, second)


def modes_of(kind, size, n_modes=ALL):
    operator = PairOperator(KINDS[kind][0], pairs_of(size))
    modes = leading_modes(operator, n_modes, Budget(100.0))
    assert isinstance(modes, EigenModes)
    return modes


def plain_table(kind, modes):
    """``scale_t p_ij(ab)``, one number at a time."""
    _, formula = KINDS[kind]
    return np.array(
        [
            [
                scale * formula(modes.vectors[a], modes.vectors[b], i, j)
                for i, j, scale in zip(modes.first, modes.second, modes.scale, strict=True)
            ]
            for a, b in zip(modes.pairs.first, modes.pairs.second, strict=True)
        ]
    )


@for_each_size
def test_sizes_take_both_paths(size):
    modes = modes_of("even", size)
    assert sp.issparse(modes._coefficients(np.ones(len(modes.pairs)))) == (size == "sparse")


@for_each_size
@for_each_kind
def test_all_modes_are_the_kernel(kind, size):
    modes = modes_of(kind, size)
    table = plain_table(kind, modes)
    gram = KINDS[kind][0].gram(modes.pairs)
    np.testing.assert_allclose(table @ table.T, gram, rtol=0, atol=1e-12 * np.abs(gram).max())


@for_few_and_many
@for_each_size
@for_each_kind
def test_products_are_those_of_the_table(kind, size, n_modes, rng):
    modes = modes_of(kind, size, n_modes)
    table = plain_table(kind, modes)
    assert table.shape == (len(modes.pairs), modes.n_modes)
    scale = np.abs(table).max()
    vector = rng.normal(size=len(table))
    bound = 1e-13 * scale * np.abs(vector).sum()
    np.testing.assert_allclose(modes.reduce(vector), table.T @ vector, rtol=0, atol=bound)
    weights = rng.normal(size=modes.n_modes)
    bound = 1e-13 * scale * np.abs(weights).sum()
    np.testing.assert_allclose(modes.expand(weights), table @ weights, rtol=0, atol=bound)


@for_few_and_many
@for_each_size
@for_each_kind
def test_weighted_gram_is_that_of_the_table(kind, size, n_modes, rng):
    modes = modes_of(kind, size, n_modes)
    table = plain_table(kind, modes)
    weights = rng.uniform(0.1, 3.0, size=len(table))
    expected = (table.T * weights) @ table
    bound = 1e-13 * weights.sum() * np.abs(table).max() ** 2
    np.testing.assert_allclose(modes.gram(weights), expected, rtol=0, atol=bound)


@pytest.mark.parametrize("n_modes", [1, 20, 60, 200])
@for_each_size
@for_each_kind
def test_few_modes_leave_a_positive_semidefinite_rest(kind, size, n_modes):
    """Modes of exact eigenvectors: what is left out is a kernel again."""
    modes = modes_of(kind, size, n_modes)
    gram = KINDS[kind][0].gram(modes.pairs)
    table = plain_table(kind, modes)
    rest = np.linalg.eigvalsh(gram - table @ table.T)
    assert rest.min() >= -1e-12 * np.abs(gram).max() * len(gram)


@for_each_kind
def test_number_of_modes(kind):
    """As many as asked for, or all there are."""
    n_objects = SIZES["full"]["m"]
    for asked in (2 * n_objects, 4 * n_objects):
        assert n_objects - 1 <= modes_of(kind, "full", asked).n_modes <= asked
    # the metric does not see the mean: one eigenvector fewer
    every = n_objects * (n_objects + (1 if kind == "even" else -1)) // 2
    assert modes_of(kind, "full").n_modes == every


@for_each_kind
def test_more_modes_leave_less(kind):
    gram = KINDS[kind][0].gram(pairs_of("full"))
    left = []
    for asked in (1, 10, 20, ALL):
        table = plain_table(kind, modes_of(kind, "full", asked))
        left.append(np.trace(gram - table @ table.T))
    assert all(more < less for less, more in pairwise(left))
    assert left[-1] == pytest.approx(0.0, abs=1e-12 * np.trace(gram))


def test_objects_of_low_rank_have_few_modes():
    """Two features: no more than 3 even modes, and 1 odd one."""
    pairs = cases.random_pairs(6, n=30, m=9, widths=(2, 0, 0))
    for kernel, count in ((Tensor(Linear()), 3), (SkewBalanced(Product(Linear())), 1)):
        modes = leading_modes(PairOperator(kernel, pairs), ALL, Budget(100.0))
        assert modes.n_modes == count


def test_no_modes_where_the_kernel_is_zero():
    pairs = Pairs(np.zeros((4, 2)), [0, 1, 2], [1, 2, 3])
    assert leading_modes(PairOperator(Tensor(Linear()), pairs), ALL, Budget(100.0)).n_modes == 0


# Landmarks --------------------------------------------------------------------------------------

OTHERS = [Gaussian(1.3), DirectSum(Gaussian(1.0)), MetricLearning(Gaussian(1.0), Gaussian(1.0))]


def landmark_modes(kernel, n_modes=ALL, megabytes=100.0):
    pairs = cases.distinct_pairs(7, n=25, m=9)
    modes = leading_modes(PairOperator(kernel, pairs), n_modes, Budget(megabytes))
    assert isinstance(modes, LandmarkModes)
    return modes, pairs


def table_of(modes):
    return np.column_stack([modes.expand(row) for row in np.eye(modes.n_modes)])


@pytest.mark.parametrize("kernel", OTHERS, ids=repr)
def test_all_pairs_as_landmarks_are_the_kernel(kernel):
    """Up to the ridge of 1e-10 of the trace."""
    modes, pairs = landmark_modes(kernel)
    gram = kernel.gram(pairs)
    table = table_of(modes)
    assert modes.n_modes == len(pairs)
    np.testing.assert_allclose(table @ table.T, gram, rtol=0, atol=1e-9 * np.trace(gram))


@pytest.mark.parametrize("n_modes", [1, 5, 12])
@pytest.mark.parametrize("kernel", OTHERS, ids=repr)
def test_some_landmarks_are_nystroems_formula(kernel, n_modes):
    """``K_nL K_LL^-1 K_Ln``, exact at the landmarks, and a kernel is left."""
    modes, pairs = landmark_modes(kernel, n_modes)
    gram, chosen = kernel.gram(pairs), modes.landmarks
    assert len(set(chosen.tolist())) == modes.n_modes == n_modes
    table = table_of(modes)
    corner = gram[np.ix_(chosen, chosen)]
    corner = corner + 1e-10 * np.trace(corner) * np.eye(n_modes)
    expected = gram[:, chosen] @ np.linalg.solve(corner, gram[chosen])
    np.testing.assert_allclose(table @ table.T, expected, rtol=0, atol=1e-9)
    assert np.linalg.eigvalsh(gram - table @ table.T).min() >= -1e-12 * np.trace(gram)


def test_landmark_products(rng):
    modes, pairs = landmark_modes(Gaussian(1.3), 8)
    table = table_of(modes)
    vector, weights = rng.normal(size=len(pairs)), rng.uniform(0.1, 3.0, size=len(pairs))
    np.testing.assert_allclose(modes.reduce(vector), table.T @ vector, rtol=0, atol=1e-13)
    expected = (table.T * weights) @ table
    np.testing.assert_allclose(modes.gram(weights), expected, rtol=0, atol=1e-12)


def test_landmarks_stay_within_memory():
    """Three tables of n x d doubles."""
    modes, pairs = landmark_modes(Gaussian(1.3), ALL, megabytes=24.0 * 25 * 6.01 / 1e6)
    assert len(pairs) == 25
    assert modes.n_modes == 6
    assert landmark_modes(Gaussian(1.3), ALL, megabytes=1e-9)[0].n_modes == 1


def test_landmarks_of_repeated_pairs():
    """A singular corner is no obstacle."""
    pairs = cases.distinct_pairs(7, n=6, m=9)
    repeated = pairs[np.tile(np.arange(6), 4)]
    modes = leading_modes(PairOperator(Polynomial(2), repeated), ALL, Budget(100.0))
    table, gram = table_of(modes), Polynomial(2).gram(repeated)
    np.testing.assert_allclose(table @ table.T, gram, rtol=0, atol=1e-9 * np.trace(gram))
