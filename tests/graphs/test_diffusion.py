"""Diffusion kernels (56): the plain twin, Theorem 5, (68)-(71), and the forms that are PSD."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

import naive
import naive_graphs
from pairity import Pairs
from pairity.exceptions import KernelError
from pairity.kernels import (
    Callable,
    Diffusion,
    DirectSum,
    Gaussian,
    Linear,
    SkewBalanced,
    Tensor,
)
from pairity.pairs.parity import Parity
from pairity.testing import check_pair_kernel

SEEDS = st.integers(0, 10**6)
PARITIES = st.sampled_from(list(Parity))
BASES = {
    Parity.EVEN: (Tensor(Gaussian(1.1)), naive.tensor(naive.gaussian(1.1))),
    Parity.ODD: (
        SkewBalanced(Gaussian(1.1)),
        naive.skew_balanced(naive.pair_gaussian(1.1)),
    ),
}
SERIES = ["exponential", "von_neumann", (1.0, 0.7, 0.2, 0.1)]


def random_arcs(seed, m=6, density=0.6, widths=(2, 1, 1)):
    """Random unordered pairs, at least one, in random orientation."""
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(m, 1)
    chosen = rng.permutation(len(first))[: max(1, int(density * len(first)))]
    turned = rng.random(len(chosen)) < 0.5
    ends = first[chosen], second[chosen]
    return Pairs(
        rng.normal(size=(m, widths[0])),
        np.where(turned, ends[1], ends[0]),
        np.where(turned, ends[0], ends[1]),
        rng.normal(size=(len(chosen), widths[1])),
        rng.normal(size=(len(chosen), widths[2])),
    )


def twin(arcs, parity, series, strength, mask, self_loops, normalise):
    """The diffusion matrix on the arcs as they are given, step by step."""
    widths = arcs.n_object_features, arcs.n_symmetric, arcs.n_antisymmetric
    ends = list(zip(arcs.first.tolist(), arcs.second.tolist(), strict=True))
    diagonal = "kernel" if self_loops else "zero"
    A = naive_graphs.base_similarities(
        BASES[parity][1], ends, np.asarray(arcs.to_rows()), widths, mask, diagonal
    )
    A = strength * (naive_graphs.degree_normalised(A) if normalise else A)
    if series == "exponential":
        return expm(A)
    if series == "von_neumann":
        return np.linalg.inv(np.eye(len(A)) - A)
    return naive_graphs.diffusion_series(A, series)


OPTIONS = st.fixed_dictionaries(
    {
        "series": st.sampled_from(SERIES),
        "mask": st.sampled_from(["count", "shared"]),
        "self_loops": st.booleans(),
        "normalise": st.booleans(),
    }
)


@given(seed=SEEDS, parity=PARITIES, options=OPTIONS)
def test_against_the_plain_twin(seed, parity, options):
    arcs = random_arcs(seed)
    strength = 0.8 if options["normalise"] else 0.1
    kernel = Diffusion(BASES[parity][0], arcs, strength=strength, **options)
    expected = twin(arcs, parity, strength=strength, **options)
    np.testing.assert_allclose(kernel.gram(arcs), expected, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(kernel.diagonal(arcs), np.diag(expected), rtol=1e-10)


@given(seed=SEEDS, parity=PARITIES, options=OPTIONS)
def test_flipping_nodes_changes_the_matrix_as_dkd(seed, parity, options):
    """Theorem 5(a) and the first lines of its proof of (b), with ==."""
    arcs = random_arcs(seed)
    strength = 0.8 if options["normalise"] else 0.1
    flipped = np.random.default_rng([seed, 1]).random(len(arcs)) < 0.5
    both = arcs.with_mirrored()
    turned = both[np.arange(len(arcs)) + len(arcs) * flipped]
    kernel, other = (
        Diffusion(BASES[parity][0], nodes, strength=strength, **options) for nodes in (arcs, turned)
    )
    K = kernel.gram(arcs)
    D = np.where(flipped, parity.sign, 1.0)
    assert (other.gram(turned) == D[:, np.newaxis] * K * D).all()
    assert (other.gram(arcs) == K).all()  # the choice of orders does not show
    assert (K == K.T).all()


@given(seed=SEEDS, parity=PARITIES)
def test_order_of_arcs_and_numbers_of_objects_do_not_matter(seed, parity):
    arcs = random_arcs(seed)
    rng = np.random.default_rng([seed, 2])
    shuffled = arcs[rng.permutation(len(arcs))]
    number = rng.permutation(arcs.n_objects)
    objects = np.empty_like(arcs.objects)
    objects[number] = arcs.objects
    renamed = Pairs(
        objects, number[arcs.first], number[arcs.second], arcs.symmetric, arcs.antisymmetric
    )
    base = BASES[parity][0]
    K = Diffusion(base, arcs).gram(arcs)
    assert (Diffusion(base, shuffled).gram(arcs) == K).all()
    assert (Diffusion(base, renamed).gram(arcs) == K).all()
    assert (Diffusion(base, renamed).gram(renamed) == K).all()


@given(seed=SEEDS, parity=PARITIES, series=st.sampled_from(SERIES))
def test_formulas_68_to_71(seed, parity, series):
    arcs = random_arcs(seed)
    kernel = Diffusion(BASES[parity][0], arcs, series=series, strength=0.9)
    K, n = kernel.gram(arcs.with_mirrored()), len(arcs)
    block = K[:n, :n]
    assert (K[n:, n:] == block).all()
    assert (K[:n, n:] == parity.sign * block).all()
    assert (K[n:, :n] == parity.sign * block).all()
    assert np.linalg.eigvalsh(K)[0] >= -1e-12 * np.abs(K).max() * n
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n))
    both = np.concatenate([x, y])
    mixed = x + parity.sign * y
    np.testing.assert_allclose(both @ K @ both, mixed @ block @ mixed, rtol=1e-9)


@given(
    seed=SEEDS,
    parity=PARITIES,
    safe=st.sampled_from(
        [
            {"mask": "count", "normalise": False, "series": (0.1, 2.0, 5.0)},
            {"mask": "count", "normalise": True, "series": (0.0, 1.0, 0.0, 1.0)},
            {"mask": "shared", "normalise": True, "series": (1.0, 1.0)},
            {"mask": "shared", "normalise": True, "series": (1, 0.5, 0.5), "self_loops": False},
            {"mask": "shared", "normalise": False, "series": "exponential", "self_loops": False},
            {"mask": "shared", "normalise": True, "series": "von_neumann", "strength": 0.95},
        ]
    ),
)
def test_safe_forms_are_positive_semi_definite(seed, parity, safe):
    arcs = random_arcs(seed, m=8, density=0.7)
    K = Diffusion(BASES[parity][0], arcs, **safe).gram(arcs)
    assert np.linalg.eigvalsh(K)[0] >= -1e-12 * np.abs(K).max() * len(arcs)


def constant(value):
    """``value`` between any two pairs: balanced and positive semi-definite."""
    return value * Tensor(Callable(lambda X, Z: np.ones((X.shape[0], Z.shape[0]))))


PATH = Pairs.from_graph(nx.path_graph(4))
LITERAL = {"mask": "shared", "normalise": False}


@pytest.mark.parametrize(
    ("series", "self_loops", "eigenvalue"),
    [
        ((1, 1), True, r"-1\.07107 \(from -2\.07107"),
        ((1, 1), False, r"-6\.07107 \(from -7\.07107"),
        ((1, 0.5, 0.25, 0.125), True, r"-0\.073638 \(from -2\.07107"),
        ((1, 0.5, 0.25, 0.125), False, r"-34\.2297 \(from -7\.07107"),
    ],
)
def test_the_counterexample_to_theorem_5b_is_refused(series, self_loops, eigenvalue):
    """MATH 4(i): path 0-1-2-3, K = 5; mask eigenvalue 1 - sqrt 2, so 1 + 5 (1 - sqrt 2) = -1.07."""
    with pytest.raises(KernelError, match=eigenvalue) as refusal:
        Diffusion(constant(5.0), PATH, series=series, self_loops=self_loops, **LITERAL)
    for way_out in ("mask='count'", "normalise=True", "'exponential'", "'von_neumann'"):
        assert way_out in str(refusal.value)


@pytest.mark.parametrize(
    "safe",
    [
        {"series": (1, 1), "mask": "count", "normalise": False},
        {"series": (1, 0.5, 0.25, 0.125), "mask": "count", "normalise": False},
        {"series": (1, 1), "mask": "shared", "normalise": True},
        {"series": (1, 1), "mask": "shared", "normalise": True, "self_loops": False},
        {"series": "exponential", "self_loops": False, **LITERAL},
        {"series": "von_neumann", "strength": 0.08, **LITERAL},
    ],
)
def test_the_counterexample_is_accepted_in_each_safe_form(safe):
    kernel = Diffusion(constant(5.0), PATH, **safe)
    assert np.linalg.eigvalsh(kernel.gram(PATH))[0] > -1e-12
    assert check_pair_kernel(kernel).classes == ("a", "b", "d")


def test_the_literal_form_where_it_is_positive():
    """Two arcs that share an object: the mask is all ones, which is positive semi-definite."""
    kernel = Diffusion(constant(5.0), PATH[:2], series=(1, 1), **LITERAL)
    np.testing.assert_allclose(kernel.gram(PATH[:2]), [[6.0, 5.0], [5.0, 6.0]])


def test_an_arc_alone_keeps_the_similarity_to_itself():
    arcs = Pairs(np.eye(4), [0, 2], [1, 3])
    K = Diffusion(constant(2.0), arcs, normalise=False).gram(arcs)
    np.testing.assert_allclose(K, np.diag([np.exp(2.0)] * 2))
    zero = Diffusion(constant(2.0), arcs, self_loops=False).gram(arcs)
    np.testing.assert_allclose(zero, np.eye(2))


@pytest.mark.parametrize("parity", list(Parity))
def test_classes(parity):
    arcs = random_arcs(2)
    report = check_pair_kernel(Diffusion(BASES[parity][0], arcs))
    assert report.classes == (("a", "b", "d") if parity is Parity.EVEN else ("a", "c", "d"))
    assert report.deviations["balanced" if parity is Parity.EVEN else "skew_balanced"] == 0.0


def test_nodes_of_a_graph_without_features():
    """Indicator features: sparse objects, each of its own."""
    arcs = Pairs.from_graph(nx.krackhardt_kite_graph())
    assert sp.issparse(arcs.objects)
    K = Diffusion(DirectSum(Linear()), arcs).gram(arcs)
    assert np.linalg.eigvalsh(K)[0] > 0.0
    assert (K > 0.0).all()  # the graph is connected: similarity reaches every arc


def test_a_pair_twice_is_one_node():
    arcs = random_arcs(5)
    twice = Diffusion(BASES[Parity.ODD][0], arcs.with_mirrored())
    once = Diffusion(BASES[Parity.ODD][0], arcs)
    assert (twice.gram(arcs) == once.gram(arcs)).all()


def made(**changes):
    """A diffusion kernel with something changed, made only when called."""
    given = {"kernel": BASES[Parity.EVEN][0], "arcs": random_arcs(1), **changes}
    return lambda: Diffusion(**given)


TWINS = Pairs(np.array([[0.0], [1.0], [1.0]]), [0, 0], [1, 2])
TWO_FEATURES = Pairs(np.eye(2), [0, 1], [1, 0], symmetric=[[1.0], [2.0]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (made(kernel=Gaussian(1.0)), "neither balanced nor skew-balanced"),
        (made(kernel=Callable(lambda X, Z: X @ Z.T)), "neither balanced nor skew-balanced"),
        (made(kernel="tensor"), "expected a balanced or skew-balanced kernel"),
        (made(arcs=np.eye(3)), "expected a balanced or skew-balanced kernel and the Pairs"),
        (made(arcs=Pairs(np.eye(2), [0, 1], [1, 1])), "arc 1 from an object to itself"),
        (made(arcs=random_arcs(1)[:0]), "got no arcs"),
        (made(arcs=TWINS), "objects 1 and 2 with the same features"),
        (made(arcs=TWO_FEATURES), "twice with different group features"),
        (made(series="heat"), "expected 'exponential', 'von_neumann', or the coefficients"),
        (made(series=()), "expected 'exponential'"),
        (made(series=(1.0, -0.5)), "not negative"),
        (made(series=(0.0, 0.0)), "not all 0"),
        (made(series=(1.0, np.nan)), "finite"),
        (made(strength=0.0), "strength=0.0; expected a finite number above 0"),
        (made(mask="both"), "expected one of 'count', 'shared'"),
        (made(series="von_neumann", strength=1.0), "expected less than 1, 1 over the spectral"),
        (made(strength=1e4, normalise=False), "expected a product of at most 30"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_pairs_that_are_no_nodes_are_refused():
    arcs = random_arcs(3, density=0.5)
    kernel = Diffusion(BASES[Parity.EVEN][0], arcs[2:])
    with pytest.raises(KernelError, match=r"2 pair\(s\) that are no nodes .* row 0.*transductive"):
        kernel.gram(arcs)
    moved = Pairs(arcs.objects + 1.0, arcs.first, arcs.second)
    with pytest.raises(KernelError, match="no nodes of the auxiliary graph"):
        kernel.gram(moved)
    wider = Pairs(np.hstack([arcs.objects, arcs.objects]), arcs.first, arcs.second)
    with pytest.raises(KernelError, match="expected the same features"):
        kernel.gram(wider)


def test_too_many_arcs_at_one_object_are_refused():
    n = 60_000
    objects = np.arange(n + 1.0)[:, np.newaxis]
    star = Pairs(objects, np.zeros(n, dtype=int), 1 + np.arange(n))
    with pytest.raises(MemoryError, match="with up to 60000 at one object"):
        Diffusion(BASES[Parity.EVEN][0], star)
