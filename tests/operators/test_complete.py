"""Complete sets of pairs: the closed form against a dense inverse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from pairity import Pairs
from pairity.kernels import Gaussian, Linear, Polynomial, Product, SkewBalanced, Tensor
from pairity.operators import PairOperator
from pairity.operators.complete import CompletePairs, is_complete
from pairity.pairs.parity import Parity

KERNELS = [
    Tensor(Gaussian(1.1)),
    3.0 * Tensor(Polynomial(2)),
    Tensor(Linear()),
    SkewBalanced(Gaussian(1.1)),
    SkewBalanced(0.5 * Product(Polynomial(3))),
    SkewBalanced(Product(Linear())),
]
for_each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
SHIFTS = [1e-3, 0.5, 40.0]


def all_pairs(m=8, seed=1, features=3):
    """Every pair once, rows in any order, each in any orientation."""
    rng = np.random.default_rng(seed)
    ends = rng.permuted(np.array(np.triu_indices(m, 1)).T, axis=1)
    first, second = rng.permutation(ends).T
    return Pairs(rng.normal(size=(m, features)), first, second)


def closed_form(kernel, pairs):
    grid = PairOperator(kernel, pairs).spectral_grid
    assert grid is not None
    return CompletePairs(grid, pairs)


def dense(kernel, pairs, shift):
    return kernel.gram(pairs) + shift * np.eye(len(pairs))


@pytest.mark.parametrize("shift", SHIFTS)
@for_each_kernel
def test_solve_is_that_of_the_dense_matrix(kernel, shift, rng):
    pairs = all_pairs()
    right = rng.normal(size=len(pairs))
    solution = closed_form(kernel, pairs).solve(right, shift)
    expected = np.linalg.solve(dense(kernel, pairs, shift), right)
    np.testing.assert_allclose(solution, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("shift", SHIFTS)
@for_each_kernel
def test_diagonal_of_the_inverse(kernel, shift):
    pairs = all_pairs()
    expected = np.diagonal(np.linalg.inv(dense(kernel, pairs, shift)))
    found = closed_form(kernel, pairs).inverse_diagonal(shift)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * expected.max())


@given(
    m=st.integers(2, 9),
    features=st.integers(1, 4),
    seed=st.integers(0, 10_000),
    shift=st.sampled_from([1e-2, 1.0, 100.0]),
    even=st.booleans(),
)
def test_any_number_of_objects(m, features, seed, shift, even):
    kernel = Tensor(Gaussian(1.0)) if even else SkewBalanced(Gaussian(1.0))
    pairs = all_pairs(m, seed, features)
    right = np.random.default_rng(seed).normal(size=len(pairs))
    complete = closed_form(kernel, pairs)
    inverse = np.linalg.inv(dense(kernel, pairs, shift))
    bound = 1e-10 * np.abs(inverse).max()
    np.testing.assert_allclose(
        complete.solve(right, shift), inverse @ right, rtol=0, atol=bound * np.abs(right).sum()
    )
    diagonal = complete.inverse_diagonal(shift)
    np.testing.assert_allclose(diagonal, np.diagonal(inverse), rtol=0, atol=bound)


def test_spectrum_of_a_tournament():
    """Eigenvalues of K^s on J are lam_i lam_j / 2, i < j."""
    pairs = all_pairs()
    k1 = naive.gaussian(1.1)
    values = np.linalg.eigvalsh([[k1(x, z) for z in pairs.objects] for x in pairs.objects])
    products = np.outer(values, values)[np.triu_indices(8, 1)] / 2.0
    found = np.linalg.eigvalsh(SkewBalanced(Gaussian(1.1)).gram(pairs))
    np.testing.assert_allclose(found, np.sort(products), rtol=0, atol=1e-13)


def test_one_decomposition_for_every_shift(rng):
    complete = closed_form(KERNELS[0], all_pairs())
    right = rng.normal(size=28)
    for shift in SHIFTS:
        fresh = closed_form(KERNELS[0], all_pairs())
        assert np.array_equal(complete.solve(right, shift), fresh.solve(right, shift))
        assert np.array_equal(complete.inverse_diagonal(shift), fresh.inverse_diagonal(shift))


def test_parity_of_the_closed_form():
    assert [closed_form(kernel, all_pairs()).parity for kernel in KERNELS[::3]] == [
        Parity.EVEN,
        Parity.ODD,
    ]


# Recognition ------------------------------------------------------------------------------------


def test_complete_in_any_order_and_orientation():
    for m in (2, 3, 7):
        assert is_complete(Pairs.complete(np.eye(m)))
        assert is_complete(all_pairs(m))


def test_incomplete_sets():
    pairs = all_pairs(6)
    objects, first, second = pairs.objects, pairs.first.copy(), pairs.second.copy()
    assert not is_complete(pairs[:-1])  # one is missing
    assert not is_complete(Pairs(np.vstack([objects, objects[:1]]), first, second))  # of object 6
    assert not is_complete(pairs[np.append(np.arange(15), 0)])  # one twice
    assert not is_complete(pairs[np.append(np.arange(14), 0)])  # one twice, one missing
    mirrored = Pairs(objects, np.append(first[:-1], second[0]), np.append(second[:-1], first[0]))
    assert not is_complete(mirrored)  # one in both orders, one missing
    second[3] = first[3]
    assert not is_complete(Pairs(objects, first, second))  # an object with itself
    assert not is_complete(pairs.with_mirrored())  # all in both orders
