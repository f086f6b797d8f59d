"""Neighbour means: (48)-(51), the classes (b')-(d'), (55) and Remark 9 against the plain twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import naive_graphs
from pairity import Pairs, PairSVC, PairSVR, TransductivePairSVC
from pairity.kernels import (
    Balanced,
    Gaussian,
    Linear,
    Polynomial,
    SkewBalanced,
    with_neighbour_means,
)
from pairity.pairs.neighbours import GroupedRows
from pairity.pairs.parity import Parity
from pairity.testing import check_pair_kernel

SEEDS = st.integers(0, 10**6)
WIDTHS = st.sampled_from([(2, 0, 0), (1, 2, 1), (2, 1, 2)])
KERNELS = [
    (Linear(), naive.inner),
    (Polynomial(2), naive.polynomial(2)),
    (Polynomial(3), naive.polynomial(3)),
    (Gaussian(1.7), naive.gaussian(1.7)),
]


def random_graph(seed, widths=(2, 1, 1), m=7, density=0.4):
    """All unordered pairs of objects in random orientation; which of them are edges."""
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(m, 1)
    turned = rng.random(len(first)) < 0.5
    first, second = np.where(turned, second, first), np.where(turned, first, second)
    pairs = Pairs(
        rng.normal(size=(m, widths[0])),
        first,
        second,
        rng.normal(size=(len(first), widths[1])),
        rng.normal(size=(len(first), widths[2])),
    )
    return pairs, rng.random(len(first)) < density


def twin_vectors(pairs, graph):
    """``(U, X_ab, W)`` for every pair, as in (48) with the means of (55)."""
    widths = pairs.n_object_features, pairs.n_symmetric, pairs.n_antisymmetric
    edges = naive_graphs.both_orders(graph)
    ends = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    return [
        naive_graphs.concatenation(edges, row, a, b, widths, widths)
        for (a, b), row in zip(ends, np.asarray(pairs.to_rows()), strict=True)
    ]


def gram(kernel, left, right):
    return np.array([[kernel(x, z) for z in right] for x in left])


def same(left, right):
    """Whether two sets of pairs are equal, bit for bit (zeros of either sign are zeros)."""
    return all(
        np.array_equal(getattr(left, name), getattr(right, name))
        for name in ("objects", "first", "second", "symmetric", "antisymmetric")
    )


@given(seed=SEEDS, widths=WIDTHS, density=st.sampled_from([0.0, 0.2, 0.5, 1.0]))
@pytest.mark.parametrize(("kernel", "twin"), KERNELS, ids=[repr(case[0]) for case in KERNELS])
def test_any_kernel_on_the_enlarged_pairs_is_the_multiple_pairs_kernel(
    kernel, twin, seed, widths, density
):
    pairs, known = random_graph(seed, widths, m=5, density=density)
    enlarged = with_neighbour_means(pairs, pairs[known])
    vectors = twin_vectors(pairs, pairs[known])
    swapped = twin_vectors(pairs.swap(), pairs[known])  # formula (50)
    plain, crossed = gram(twin, vectors, vectors), gram(twin, swapped, vectors)
    tolerance = {"rtol": 1e-10, "atol": 1e-10 * max(1.0, np.abs(plain).max())}
    np.testing.assert_allclose(kernel.gram(enlarged), plain, **tolerance)
    np.testing.assert_allclose(kernel.gram(enlarged.swap(), enlarged), crossed, **tolerance)
    # Remark 9: the projections (6) and (7)
    even, odd = (plain + crossed) / 2.0, (plain - crossed) / 2.0
    np.testing.assert_allclose(Balanced(kernel).gram(enlarged), even, **tolerance)
    np.testing.assert_allclose(SkewBalanced(kernel).gram(enlarged), odd, **tolerance)


def test_the_linear_kernel_of_remark_9_by_hand():
    """Triangle 0-1-2 with a tail 2-3; the arc (1, 2) has the neighbours 0 of 1, and 0, 3 of 2."""
    x = np.array([[1.0], [2.0], [4.0], [8.0]])
    graph = Pairs(x, [0, 1, 0, 2], [1, 2, 2, 3])
    arc = with_neighbour_means(graph[[1]], graph)
    U, X, W = [1.0, 2.0], [2.0, 4.0], [4.0, (1.0 + 8.0) / 2.0]
    assert Linear().gram(arc)[0, 0] == pytest.approx(naive.inner(U + X + W, U + X + W))
    tail = with_neighbour_means(graph[[3]], graph)  # (2, 3): 3 has no neighbour but 2
    U, X, W = [(0.0 + 1.0 + 2.0) / 2.0, 4.0], [4.0, 8.0], [0.0, 0.0]
    assert Linear().gram(tail)[0, 0] == pytest.approx(naive.inner(U + X + W, U + X + W))


@given(seed=SEEDS, hops=st.integers(1, 4), widths=WIDTHS)
def test_swap_law_bit_for_bit(seed, hops, widths):
    pairs, known = random_graph(seed, widths)
    graph = pairs[known]
    enlarged = with_neighbour_means(pairs, graph, hops=hops)
    assert same(with_neighbour_means(pairs.swap(), graph, hops=hops), enlarged.swap())
    assert same(with_neighbour_means(pairs, graph.swap(), hops=hops), enlarged)


@given(seed=SEEDS, hops=st.integers(1, 3))
def test_the_order_of_neighbours_does_not_matter_bit_for_bit(seed, hops):
    """Formula (49), and more: neither the order of edges nor the numbers of objects count."""
    rng = np.random.default_rng([seed, 1])
    pairs, known = random_graph(seed, density=0.8, m=9)
    rows = np.flatnonzero(known)
    enlarged = with_neighbour_means(pairs, pairs[known], hops=hops)
    shuffled = pairs[rng.permutation(rows)]
    assert same(with_neighbour_means(pairs, shuffled, hops=hops), enlarged)
    number = rng.permutation(pairs.n_objects)
    objects = np.empty_like(pairs.objects)
    objects[number] = pairs.objects
    renamed = Pairs(
        objects,
        number[pairs.first],
        number[pairs.second],
        pairs.symmetric,
        pairs.antisymmetric,
    )
    again = with_neighbour_means(renamed, renamed[rows], hops=hops)
    assert np.array_equal(again.symmetric, enlarged.symmetric)
    assert np.array_equal(again.antisymmetric, enlarged.antisymmetric)


@given(seed=SEEDS)
def test_the_order_does_not_matter_among_equal_objects(seed):
    """A hub with few kinds of neighbours: which of the equal ones is left out does not show."""
    rng = np.random.default_rng(seed)
    kinds = rng.normal(size=(3, 2))
    objects = np.vstack([rng.normal(size=(1, 2)), kinds[rng.integers(3, size=12)]])
    graph = Pairs(objects, np.zeros(12, dtype=int), 1 + np.arange(12))
    means = with_neighbour_means(graph, graph)
    for row in range(12):
        alike = (objects[1:] == objects[row + 1]).all(axis=1)
        assert (means.symmetric[alike] == means.symmetric[row]).all()


@given(seed=SEEDS, hops=st.integers(1, 3))
def test_hops_against_the_plain_twin(seed, hops):
    pairs, known = random_graph(seed, m=6, density=0.6)
    graph = pairs[known]
    enlarged = with_neighbour_means(pairs, graph, hops=hops)
    edges, width = naive_graphs.both_orders(graph), graph.shape[1]
    for row, (a, b) in enumerate(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)):
        U, _, V = naive_graphs.multiple_pairs_vector(edges, np.zeros(width), a, b, hop=hops)
        even, odd = enlarged.symmetric[row, -width:], enlarged.antisymmetric[row, -width:]
        np.testing.assert_allclose(even, (U + V) / np.sqrt(2.0), atol=1e-12)
        np.testing.assert_allclose(odd, (U - V) / np.sqrt(2.0), atol=1e-12)


def test_more_hops_keep_the_features_of_fewer():
    pairs, known = random_graph(3)
    one, two = (with_neighbour_means(pairs, pairs[known], hops=hops) for hops in (1, 2))
    assert np.array_equal(two.symmetric[:, : one.n_symmetric], one.symmetric)


@given(seed=SEEDS)
def test_held_out_edges_do_not_leak(seed):
    pairs, known = random_graph(seed)
    graph = pairs[known]
    rng = np.random.default_rng([seed, 2])
    other = Pairs(
        pairs.objects,
        pairs.first,
        pairs.second,
        np.where(known[:, np.newaxis], pairs.symmetric, rng.normal(size=pairs.symmetric.shape)),
        pairs.antisymmetric,
    )
    means = with_neighbour_means(pairs, graph).symmetric[:, pairs.n_symmetric :]
    again = with_neighbour_means(other, other[known]).symmetric[:, pairs.n_symmetric :]
    assert np.array_equal(means, again)


def test_an_edge_does_not_see_itself():
    """Features of the edge (a, b) alone are changed: the means around (a, b) stay."""
    pairs, _ = random_graph(5)
    changed = pairs.symmetric.copy()
    changed[4] += 1.0
    other = Pairs(pairs.objects, pairs.first, pairs.second, changed, pairs.antisymmetric)
    means = [with_neighbour_means(p, p).antisymmetric for p in (pairs, other)]
    np.testing.assert_allclose(means[0][4], means[1][4], atol=1e-15)
    assert np.abs(means[0] - means[1]).max() > 0.01


def test_edges_in_several_rows_count_once():
    pairs, known = random_graph(7, widths=(2, 0, 0))
    graph = pairs[known]
    once = with_neighbour_means(pairs, graph)
    assert same(with_neighbour_means(pairs, graph.with_mirrored()), once)


def test_group_features_of_repeated_edges_are_averaged():
    x = np.array([[0.0], [1.0], [2.0]])
    graph = Pairs(x, [0, 1, 1], [1, 0, 2], [[1.0], [4.0], [0.0]], [[2.0], [1.0], [0.0]])
    mean = Pairs(x, [0, 1], [1, 2], [[2.5], [0.0]], [[0.5], [0.0]])
    target = graph[[2]]
    assert same(with_neighbour_means(target, graph), with_neighbour_means(target, mean))


def test_a_large_neighbour_left_out_leaves_no_trace():
    """Means are joined from sums before and after, never by subtraction."""
    x = np.array([[0.0], [1e17], [1.0], [3.0]])
    graph = Pairs(x, [0, 0, 0], [1, 2, 3])
    means = with_neighbour_means(graph[[0]], graph)
    assert means.symmetric[0, 0] == 2.0 * np.sqrt(0.5)


def test_pairs_without_edges_around_them_get_zeros():
    pairs, known = random_graph(1)
    enlarged = with_neighbour_means(pairs, pairs[np.zeros(len(pairs), dtype=bool)])
    assert not enlarged.symmetric[:, pairs.n_symmetric :].any()
    assert len(with_neighbour_means(pairs[:0], pairs[known])) == 0


@given(seed=SEEDS)
def test_grouped_means_against_plain_ones(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 12))
    values, group = rng.normal(size=(n, 2)), rng.integers(4, size=n)
    asked = np.concatenate([group, np.arange(4)])
    left_out = np.concatenate([np.arange(n), np.full(4, -1)])
    means = GroupedRows(values, group, 4).means_without(asked, left_out)
    for place, (which, out) in enumerate(zip(asked, left_out, strict=True)):
        rest = [values[row] for row in range(n) if group[row] == which and row != out]
        np.testing.assert_allclose(means[place], naive_graphs.mean(rest, 2), atol=1e-12)


@pytest.mark.parametrize("parity", list(Parity))
@pytest.mark.parametrize("kernel", [kernel for kernel, _ in KERNELS], ids=repr)
def test_models_obey_the_swap_law_and_have_a_certificate(kernel, parity):
    symmetry = "symmetric" if parity is Parity.EVEN else "antisymmetric"
    pairs, known = random_graph(11, m=9)
    train = np.flatnonzero(known)
    y = np.where(np.random.default_rng(2).random(len(train)) < 0.5, -1, 1)
    enlarged = with_neighbour_means(pairs, pairs[train])
    model = PairSVC(symmetry=symmetry, kernel=kernel, C=0.5).fit(enlarged[train], y)
    assert model.certificate_.holds
    swapped = with_neighbour_means(pairs.swap(), pairs[train].swap())
    values = model.decision_function(enlarged)
    assert (model.decision_function(swapped) == parity.sign * values).all()
    assert np.abs(values).max() > 0.0


@pytest.mark.parametrize("parity", list(Parity))
def test_regression_obeys_the_swap_law_and_has_a_certificate(parity):
    symmetry = "symmetric" if parity is Parity.EVEN else "antisymmetric"
    pairs, known = random_graph(12, m=9)
    y = np.random.default_rng(3).normal(size=int(known.sum()))
    enlarged = with_neighbour_means(pairs, pairs[known], hops=2)
    model = PairSVR(symmetry=symmetry, kernel=Gaussian(3.0)).fit(enlarged[known], y)
    assert model.certificate_.holds
    assert (model.predict(enlarged.swap()) == parity.sign * model.predict(enlarged)).all()


@pytest.mark.parametrize("parity", list(Parity))
def test_transduction_obeys_the_swap_law_and_has_a_certificate(parity):
    symmetry = "symmetric" if parity is Parity.EVEN else "antisymmetric"
    pairs, known = random_graph(13, m=9)
    train = np.flatnonzero(known)
    y = np.zeros(len(pairs))
    y[train] = np.where(np.random.default_rng(4).random(len(train)) < 0.5, -1, 1)
    y[train[:2]] = 1, -1
    y[train[-2:]] = 0
    enlarged = with_neighbour_means(pairs, pairs[train])
    model = TransductivePairSVC(symmetry=symmetry, kernel=Gaussian(3.0)).fit(enlarged, y)
    assert model.certificate_.holds
    values = model.decision_function(enlarged)
    assert (model.decision_function(enlarged.swap()) == parity.sign * values).all()


def test_known_outcomes_of_other_edges():
    """The graph's edges may have group features that the pairs do not have: here, who won."""
    x = np.zeros((4, 1))
    games = Pairs(x, [0, 2, 0], [1, 0, 3], antisymmetric=[1.0, 1.0, -1.0])
    means = with_neighbour_means(Pairs(x, [0], [1]), games)  # 0 lost both other games
    assert means.shape == (1, 2 + 2 * 3)
    others_win = means.antisymmetric[0, 1] / np.sqrt(0.5)
    assert others_win == pytest.approx(1.0)  # the mean of +1 (2 beat 0) and +1 (3 beat 0)


@pytest.mark.parametrize("kernel", [kernel for kernel, _ in KERNELS], ids=repr)
def test_classes_of_the_kernels(kernel):
    pairs, known = random_graph(4, m=6)
    enlarged = with_neighbour_means(pairs, pairs[known], hops=2)
    assert check_pair_kernel(kernel, enlarged).classes == ("a", "d")
    assert check_pair_kernel(Balanced(kernel), enlarged).classes == ("a", "b", "d")
    assert check_pair_kernel(SkewBalanced(kernel), enlarged).classes == ("a", "c", "d")


def test_refusals():
    pairs, known = random_graph(0)
    other = Pairs(pairs.objects + 1.0, pairs.first, pairs.second)
    loop = Pairs(pairs.objects, [0, 1], [1, 1])
    for graph, hops, message in [
        (other, 1, "expected the same table of objects"),
        (loop, 1, "edge 1 of the graph from an object to itself"),
        ("graph", 1, "expected Pairs, the edges"),
        (pairs[known], 0, "hops=0; expected a whole number of at least 1"),
        (pairs[known], 1.5, "hops=1.5"),
    ]:
        with pytest.raises(ValueError, match=message):
            with_neighbour_means(pairs, graph, hops=hops)


def test_too_many_indicator_features_are_refused():
    import scipy.sparse as sp

    m = 400_000
    first = np.arange(m - 1)
    graph = Pairs(sp.identity(m, format="csr"), first, first + 1)
    with pytest.raises(MemoryError, match="expected fewer features"):
        with_neighbour_means(graph, graph)
