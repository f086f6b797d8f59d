"""Group kernels by few features, tiles of exponentials: equal to the formula entry by entry."""

import numpy as np
import pytest

from pairity import Pairs, PairSVC
from pairity.kernels import (
    Additive,
    Derived,
    Gaussian,
    Identity,
    Linear,
    Polynomial,
    Product,
    Standardized,
    Tensor,
)
from pairity.kernels.classes import project
from pairity.model_selection.combination import equal_sums
from pairity.operators import _tile_loops, group_features, tile_terms, tiles
from pairity.operators.blockwise import Blockwise, operator_within
from pairity.operators.pair_operator import PairOperator
from pairity.operators.tile_terms import InContext, Twins
from pairity.operators.tiles import Tiles, terms_of
from pairity.pairs.parity import Parity
from pairity.runtime.resources import Budget, set_thread_count
from pairity.solvers.polish import times

BOTH = [Parity.EVEN, Parity.ODD]
KERNELS = [
    Gaussian(1.3),
    Product(Gaussian(0.8)),
    0.5 * Gaussian(2.0) + 0.25 * Additive(Gaussian(1.1)),
    Gaussian(1.3) + 0.3 * Linear(),
    0.5 * Gaussian(2.0) + 0.2 * Additive(Gaussian(1.1)) + 0.1 * Polynomial(2) + 0.1 * Linear(),
]


#: What a pair is like whichever way it is written, and what differences mean there.
CONTEXT = Derived(Gaussian(0.9), ("symmetric",))
DIFFERENCE = ("difference", "antisymmetric")
IN_CONTEXT = [
    0.3 * Additive(Gaussian(1.1))
    + 0.2 * Additive(Gaussian(1.1)) * CONTEXT
    + 0.1 * Additive(Identity()),
    Derived(Linear(), DIFFERENCE) * CONTEXT
    + 0.4 * Additive(Identity()) * CONTEXT
    + 0.2 * Additive(Identity()),
    Derived(Gaussian(1.4), DIFFERENCE) * CONTEXT + 0.5 * Derived(Linear(), DIFFERENCE) * CONTEXT,
]


def grouped_pairs(n, m=9, signs=False, seed=0):
    """Pairs with one symmetric and one antisymmetric feature, the latter -1 or +1 if told so."""
    rng = np.random.default_rng(seed)
    first = rng.integers(m, size=n)
    second = (first + rng.integers(1, m, size=n)) % m
    even, odd = rng.normal(size=(n, 1)), rng.normal(size=(n, 1))
    return Pairs(rng.normal(size=(m, 3)), first, second, even, np.sign(odd) if signs else odd)


def once_only(n, seed=0):
    rng = np.random.default_rng(seed)
    return Pairs(rng.normal(size=(2 * n, 4)), np.arange(n), np.arange(n, 2 * n))


@pytest.fixture
def features_always(monkeypatch):
    """Features of group kernels for small tables too."""
    monkeypatch.setattr(group_features, "_FEW_ENTRIES", 0)


@pytest.mark.usefixtures("features_always")
@pytest.mark.parametrize("signs", [True, False])
@pytest.mark.parametrize("parity", BOTH)
def test_group_kernels_by_few_features(parity, signs):
    pairs, new = grouped_pairs(120, signs=signs), grouped_pairs(40, signs=signs, seed=1)
    kernel = project(Gaussian(1.3), parity, pairs)
    vector = np.random.default_rng(2).normal(size=len(pairs))
    for left in (pairs, new):
        operator = PairOperator(kernel, left, pairs if left is new else None)
        (group,) = operator._groups  # both orders of the right pair in one
        assert group.crossed is not None
        assert not group.opaque
        assert group.n_columns < 2 * len(pairs)
        gram = kernel.gram(left, pairs)
        np.testing.assert_allclose(operator.block(slice(None), slice(None)), gram, atol=1e-12)
        wanted = gram @ vector, kernel.gram(left.swap(), pairs) @ vector
        values = operator.products(vector, mirrored=True)
        np.testing.assert_allclose(values, wanted, atol=1e-11)


@pytest.mark.usefixtures("features_always")
def test_features_serve_the_swapped_pairs_too():
    """An odd feature that is always +1 (home first) is -1 in the other order."""
    pairs = grouped_pairs(60)
    home = pairs.with_features(pairs.objects, pairs.symmetric, np.ones((60, 1)))
    kernel = project(Gaussian(1.0), Parity.ODD, home)
    operator = PairOperator(kernel, home)
    gram = kernel.gram(home, home)
    np.testing.assert_allclose(operator.block(slice(None), slice(None)), gram, atol=1e-12)


@pytest.mark.usefixtures("features_always")
def test_many_features_are_left_to_the_formula(monkeypatch):
    monkeypatch.setattr(group_features, "_MOST_FEATURES", 5)
    operator = PairOperator(
        project(Gaussian(0.3), Parity.ODD, grouped_pairs(80)), grouped_pairs(80)
    )
    assert operator.evaluates_group_kernels


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("parity", BOTH)
def test_tiles_are_the_formula(parity, kernel):
    for pairs in (once_only(90), grouped_pairs(90)):
        projected = project(kernel, parity, pairs)
        operator = Tiles(projected, pairs, terms_of(projected, pairs, pairs))
        gram = projected.gram(pairs, pairs)
        vector = np.random.default_rng(2).normal(size=len(pairs)) * (np.arange(len(pairs)) % 3 > 0)
        np.testing.assert_allclose(operator.block(slice(None), slice(None)), gram, atol=1e-13)
        np.testing.assert_allclose(operator.product(vector), gram @ vector, atol=1e-12)
        np.testing.assert_allclose(operator.rough_product(vector), gram @ vector, atol=1e-4)
        some, out = np.array([3, 4, 60]), np.empty((3, 3), dtype=np.float32)
        operator.square(some, out)
        np.testing.assert_allclose(out, gram[np.ix_(some, some)], atol=1e-5)
        assert np.array_equal(out, out.T)


@pytest.mark.parametrize("kernel", IN_CONTEXT, ids=repr)
@pytest.mark.parametrize("named", [False, True])
def test_tiles_in_context_are_the_formula(kernel, named):
    ids = np.array(list("abcab"))
    for pairs in (grouped_pairs(90), grouped_pairs(90, m=5)):
        names = ids if named and pairs.n_objects == 5 else None
        pairs = Pairs(
            pairs.objects,
            pairs.first,
            pairs.second,
            pairs.symmetric,
            pairs.antisymmetric,
            ids=names,
        )
        projected = project(kernel, Parity.ODD, pairs)
        for left in (pairs, pairs[:40].swap()):
            right = None if left is pairs else pairs
            operator = Tiles(projected, left, terms_of(projected, left, pairs), right)
            gram, vector = projected.gram(left, pairs), np.cos(np.arange(90.0))
            np.testing.assert_allclose(operator.block(slice(None), slice(None)), gram, atol=1e-13)
            np.testing.assert_allclose(operator.product(vector), gram @ vector, atol=1e-12)
            np.testing.assert_allclose(operator.rough_product(vector), gram @ vector, atol=1e-4)


def test_a_context_takes_one_exponential_more():
    """All terms of a family share it, and so do families."""
    pairs = grouped_pairs(30)
    kernel = Additive(Gaussian(1.1)) + Derived(Linear(), DIFFERENCE)
    both = kernel + 0.3 * kernel * CONTEXT
    (term,) = terms_of(project(both, Parity.ODD, pairs), pairs, pairs)
    assert isinstance(term, InContext)
    (one,) = term.sums
    assert (one.base, one.ratio) == (1.0, pytest.approx(0.3))
    assert term.n_exponentials == 5


@pytest.mark.parametrize(("dtype", "error"), [(float, 1e-15), (np.float32, 3e-7)])
def test_compiled_exponentials(dtype, error):
    fill, signs = _tile_loops.fill_exponentials, np.array([1.0, -1.0], dtype)
    exponents = np.linspace(-60.0, 3.0, 4000).astype(dtype)
    expected = np.exp(exponents.astype(np.longdouble))
    total = np.empty_like(exponents)
    fill(total, exponents, exponents, signs[1:])
    np.testing.assert_allclose(-total, expected.astype(float), rtol=error)
    p, q = exponents - dtype(3.0), np.cos(exponents)
    twins = np.empty_like(p)
    fill(twins, p, q, signs)
    wide = [side.astype(np.longdouble) for side in (p + q, p - q)]
    difference = (np.exp(wide[0]) - np.exp(wide[1])).astype(float)
    size = np.exp(np.maximum(*wide)).astype(float)
    assert (np.abs(twins - difference) <= 2.0 * error * size).all()
    far = np.zeros(3, dtype)
    fill(far, np.full(3, -1e4, dtype), far, signs[:1])
    assert (far >= 0.0).all()
    assert (far < 1e-37).all()


def test_both_orders_are_twins():
    """Two products of half the width; group features and sums of other weights stay apart."""
    pairs = once_only(20)
    (both,) = terms_of(project(Gaussian(1.3), Parity.ODD, pairs), pairs, pairs)
    assert isinstance(both, Twins)
    grouped = grouped_pairs(20)
    apart = terms_of(project(Gaussian(1.3), Parity.ODD, grouped), grouped, grouped)
    assert not any(isinstance(term, Twins) for term in apart)


@pytest.mark.parametrize("share", [0.3, 0.8, 1.0])
@pytest.mark.parametrize("parity", BOTH)
def test_squares_that_serve_twice(monkeypatch, parity, share):
    """Products over several squares, with and without empty columns; the same for any threads."""
    for name, value in (("TILE_ROWS", 16), ("TILE_COLUMNS", 8), ("_SQUARE_ROWS", 24)):
        monkeypatch.setattr(tile_terms, name, value)
    pairs, rng = once_only(150), np.random.default_rng(5)
    kernel = project(Gaussian(1.3), parity, pairs)
    operator, gram = Tiles(kernel, pairs, terms_of(kernel, pairs, pairs)), kernel.gram(pairs)
    vector = rng.normal(size=150) * (rng.random(150) < share)
    found = []
    for threads in (1, 2):
        set_thread_count(threads)
        try:
            found.append((operator.product(vector), operator.rough_product(vector)))
        finally:
            set_thread_count(None)
    assert np.array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0][0], gram @ vector, atol=1e-12)
    np.testing.assert_allclose(found[0][1], gram @ vector, atol=1e-4)


def test_features_far_from_the_origin_lose_little():
    pairs = once_only(50)
    far = pairs.with_features(pairs.objects + 1e4, pairs.symmetric, pairs.antisymmetric)
    kernel = project(Gaussian(1.0), Parity.ODD, far)
    operator = Tiles(kernel, far, terms_of(kernel, far, far))
    near = project(Gaussian(1.0), Parity.ODD, pairs).gram(pairs, pairs)
    np.testing.assert_allclose(operator.block(slice(None), slice(None)), near, atol=1e-10)


def test_kernels_that_are_no_such_sums(monkeypatch):
    pairs = once_only(10)
    product, linear = Product(Gaussian(1.0)) * Linear(), Standardized(Linear()).fitted_to(pairs)
    for kernel in (Linear(), product, Gaussian(1.0) + product, linear):
        assert terms_of(project(kernel, Parity.ODD, pairs), pairs, pairs) is None
    monkeypatch.setattr(tiles, "MOST_FEATURES", 3)
    for kernel in (Gaussian(1.0) + Linear(), Additive(Identity())):
        assert terms_of(project(kernel, Parity.ODD, pairs), pairs, pairs) is None


def many_pairs(n_objects):
    """3,000 pairs with a symmetric group feature and one that says who is at home."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, n_objects, 3000)
    second = (first + rng.integers(1, n_objects, 3000)) % n_objects
    objects, even = rng.normal(size=(n_objects, 2)), rng.normal(size=(3000, 1))
    home = rng.choice([-1.0, 1.0], (3000, 1))
    return Pairs(objects, first, second, symmetric=even, antisymmetric=home)


def goes_by_tiles(kernel, n_objects):
    return type(operator_within(kernel, many_pairs(n_objects), Budget(4000.0))) is Tiles


def test_which_matrices_are_worth_holding():
    """Sums over single objects are cheaper than a matrix in memory, many features of pairs are not."""
    pairs = many_pairs(400)
    single = PairOperator(Additive(Gaussian(1.0)) + 0.1 * Linear(), pairs)
    assert not single.is_costly
    assert PairOperator(Gaussian(1.0) + Gaussian(3.0), pairs).is_costly


def test_which_operator_for_rare_objects(monkeypatch):
    monkeypatch.setattr("pairity.operators.blockwise._FEW", 10)
    pairs = once_only(40)
    plenty = Budget(100.0)
    assert type(operator_within(Gaussian(1.0), pairs, plenty)) is Tiles
    assert (
        type(operator_within(Gaussian(1.0), Pairs.complete(pairs.objects), plenty)) is PairOperator
    )
    assert type(operator_within(Gaussian(1.0), grouped_pairs(40), plenty)) is Tiles
    assert goes_by_tiles(Gaussian(1.0), n_objects=400)  # 3,000 pairs: many objects, many products
    assert not goes_by_tiles(Gaussian(1.0), n_objects=150)
    assert not goes_by_tiles(Tensor(Gaussian(1.0), Linear(), Polynomial(2)), n_objects=400)
    assert isinstance(operator_within(Linear(), pairs, plenty), PairOperator)
    assert type(operator_within(Product(Linear()), pairs, Budget(0.01))) is Blockwise


@pytest.mark.parametrize("most_resident", [30, 50], ids=["above", "below"])
def test_sums_of_families_are_tiles_on_both_sides_of_the_size_that_is_held(
    monkeypatch, most_resident
):
    """Objects that appear once: no entry is gathered from Gram matrices of blocks of pairs."""
    monkeypatch.setattr("pairity.operators.blockwise._FEW", 10)
    monkeypatch.setattr("pairity.operators.blockwise._MOST_RESIDENT", most_resident)
    rng, plain = np.random.default_rng(3), once_only(40)
    grouped = plain.with_features(plain.objects, rng.normal(size=(40, 2)), rng.normal(size=(40, 1)))
    for pairs in (plain, grouped):
        for kernel in equal_sums(pairs, Parity.ODD):
            projected = project(kernel, Parity.ODD, pairs)
            assert type(operator_within(projected, pairs, Budget(100.0))) is Tiles


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_times_vectors(dtype):
    rng = np.random.default_rng(0)
    gram, vector = rng.normal(size=(30, 30)).astype(dtype), rng.normal(size=30)
    np.testing.assert_allclose(times(gram, vector), gram.astype(float) @ vector, atol=1e-12)


@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
def test_fits_by_tiles_are_those_through_objects(monkeypatch, symmetry):
    pairs = once_only(700)
    a, b = pairs.objects[pairs.first], pairs.objects[pairs.second]
    sign = 1.0 if symmetry == "symmetric" else -1.0
    y = np.where(a[:, 0] + sign * b[:, 0] + a[:, 1] * b[:, 2] + sign * a[:, 2] * b[:, 1] > 0, 1, -1)
    monkeypatch.setattr("pairity.solvers.chunking._MANY_PAIRS", 100)
    by_tiles = PairSVC(symmetry, kernel=Gaussian(1.5), tol=1e-5).fit(pairs, y)
    monkeypatch.setattr("pairity.operators.blockwise._FEW", 1000)
    monkeypatch.setattr("pairity.solvers.chunking._MANY_PAIRS", 10**9)
    objects = PairSVC(symmetry, kernel=Gaussian(1.5), tol=1e-5).fit(pairs, y)
    assert by_tiles.certificate_.holds
    assert objects.certificate_.holds
    assert by_tiles.objective_ == pytest.approx(objects.objective_, rel=1e-6)
    assert np.array_equal(
        by_tiles.decision_function(pairs.swap()), sign * by_tiles.decision_function(pairs)
    )
