"""Best partners: those of a full table of values, with fewer pairs scored where values add up."""

import numpy as np
import pytest

from pairity import PairClassifierCV, PairLogistic, Pairs, PairSVC
from pairity.inspection import top_partners
from pairity.kernels import Gaussian, MetricLearning, Tensor

M, K = 25, 4


def make(symmetry, rng):
    objects = rng.normal(size=(M, 3))
    pairs = Pairs.complete(objects)
    left, right = objects[pairs.first, 0], objects[pairs.second, 0]
    odd = symmetry == "antisymmetric"
    y = np.where(left > right if odd else np.abs(left - right) < 0.8, 1, -1)
    return objects, pairs, y


def full_table(model, objects):
    """All values, entry by entry."""
    table = np.empty((M, M))
    for a in range(M):
        table[a] = model.decision_function(Pairs(objects, np.full(M, a), np.arange(M)))
    return table


@pytest.mark.parametrize(
    ("symmetry", "kernel", "adds_up"),
    [
        ("antisymmetric", "linear", True),
        ("symmetric", "linear", True),
        ("antisymmetric", "gaussian", False),
        ("symmetric", Tensor(Gaussian(1.0)), False),
        ("symmetric", MetricLearning(Gaussian(1.0)), False),
    ],
)
def test_the_naive_twin(symmetry, kernel, adds_up, rng):
    objects, pairs, y = make(symmetry, rng)
    model = PairLogistic(symmetry, kernel=kernel).fit(pairs, y)
    found = top_partners(model, objects, K)
    table = full_table(model, objects)
    np.fill_diagonal(table, -np.inf)
    best = np.sort(table, axis=1)[:, ::-1][:, :K]
    np.testing.assert_allclose(found.values, best, rtol=1e-9, atol=1e-12)
    chosen = table[np.arange(M)[:, np.newaxis], found.partners]
    np.testing.assert_allclose(chosen, best, rtol=1e-9, atol=1e-12)
    assert found.n_scored == (M + M * (K + 1) - (K + 1) if adds_up else M * M)


def test_combined_models_and_names(rng):
    objects, pairs, y = make("symmetric", rng)
    model = PairClassifierCV("symmetric").fit(pairs[:60], y[:60])
    names = [f"p{row}" for row in range(M)]
    found = top_partners(model, objects, 2, ids=names)
    table = found.to_frame()
    assert len(table) == 2 * M
    assert found.of("p3") == table[table["object"] == "p3"]["partner"].tolist()


def test_candidates_alone_are_scored(rng):
    objects, pairs, y = make("symmetric", rng)
    model = PairSVC("symmetric", kernel="gaussian").fit(pairs, y)
    some = Pairs(objects, [0, 2, 1, 0], [1, 0, 2, 1], ids=list(range(M)))  # (0, 1) twice
    found = top_partners(model, some, 3)
    assert sorted(found.partners[0][:2].tolist()) == [1, 2]
    assert found.partners[0][2] == -1
    assert np.isnan(found.values[0][2])
    assert (found.partners[3:] == -1).all()


def test_small_tables_and_bad_numbers(rng):
    objects, pairs, y = make("symmetric", rng)
    model = PairSVC("symmetric", kernel="gaussian").fit(pairs, y)
    assert top_partners(model, objects[:1], 3).partners.shape == (1, 0)
    assert top_partners(model, objects[:2], 3).partners.tolist() == [[1], [0]]
    with pytest.raises(ValueError, match="k"):
        top_partners(model, objects, 0)
