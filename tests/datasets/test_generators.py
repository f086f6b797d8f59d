"""Generated data have the structure that their descriptions promise."""

import numpy as np
import pytest

from pairity import PairSVC
from pairity.datasets import make_double_interval, make_scenario, make_tournament
from pairity.inspection import hodge_rank, rank_observed
from pairity.kernels import Linear, Product, Tensor
from pairity.model_selection import ObjectKFold


def test_a_transitive_tournament_follows_its_strengths():
    data = make_tournament(31, "transitive", seed=3)
    assert len(data) == 31 * 30 // 2
    strength = data.pairs.objects[:, 0]
    ranking = rank_observed(data.pairs, data.y)
    assert np.array_equal(ranking.order, np.argsort(-strength))
    assert ranking.cycles.n_cyclic == 0
    assert ranking.parts.gradient_share == pytest.approx(2 * 32 / (3 * 31))
    assert 0.4 < np.mean(data.y > 0) < 0.6  # either order is written


def test_in_a_cyclic_tournament_everybody_beats_half_of_the_others():
    data = make_tournament(31, "cyclic", seed=3)
    winner = np.where(data.y > 0, data.pairs.first, data.pairs.second)
    assert np.bincount(winner).tolist() == [15] * 31
    parts = hodge_rank(data.pairs, data.y)
    assert parts.gradient_share < 1e-25
    assert parts.curl_share == pytest.approx(1.0)


def test_only_an_intransitive_kernel_learns_the_circle():
    data = make_tournament(31, "cyclic", seed=1)
    additive = PairSVC("antisymmetric", kernel="linear").fit(data.pairs, data.y)
    determinant = PairSVC("antisymmetric", kernel=Product(Linear()), C=100.0).fit(
        data.pairs, data.y
    )
    assert additive.score(data.pairs, data.y) < 0.65
    assert determinant.score(data.pairs, data.y) > 0.95


def test_a_mixed_tournament_is_partly_explained():
    share = hodge_rank(*_of(make_tournament(31, "mixed"))).gradient_share
    assert 0.1 < share < 0.6


def _of(data):
    return data.pairs, data.y


def test_flipped_outcomes_and_fewer_games():
    plain = make_tournament(41, "transitive", n_pairs=500, seed=5)
    noisy = make_tournament(41, "transitive", n_pairs=500, seed=5, flipped=0.2)
    assert len(plain) == len({frozenset(ends) for ends in zip(*_ends(plain), strict=True)}) == 500
    assert 0.1 < np.mean(plain.y != noisy.y) < 0.3
    assert np.array_equal(plain.pairs.first, noisy.pairs.first)


def _ends(data):
    return data.pairs.first.tolist(), data.pairs.second.tolist()


def test_double_intervals_are_two_runs_and_classes_their_starts():
    data = make_double_interval(60, 12, seed=2)
    for pattern, group in zip(data.pairs.objects, data.object_groups, strict=True):
        starts = np.flatnonzero(np.diff(pattern, prepend=-1.0) > 0) + 1
        assert len(starts) == 2
        assert starts[0] >= 2
        assert starts @ [13, 1] == group
    same = data.object_groups[data.pairs.first] == data.object_groups[data.pairs.second]
    assert np.array_equal(np.where(same, 1, -1), data.y)
    assert 0.02 < np.mean(same) < 0.4


def test_there_are_as_many_classes_as_the_formula_says():
    data = make_double_interval(2000, 7, objects_per_class=1, n_pairs=10)
    assert len(np.unique(data.object_groups)) == (7 - 3) * (7 - 2) // 2


def test_double_intervals_are_learnt_for_classes_never_seen():
    data = make_double_interval(120, 8, seed=0)
    splitter = ObjectKFold(3, object_groups=data.object_groups)
    train, test = next(splitter.split(data.pairs))
    classes = data.object_groups
    assert not set(classes[data.pairs.first[train]]) & set(classes[data.pairs.first[test]])
    model = PairSVC("symmetric", kernel=Tensor(Linear()), C=10.0).fit(
        data.pairs[train], data.y[train]
    )
    base = max(np.mean(data.y[test] > 0), np.mean(data.y[test] < 0))
    assert model.score(data.pairs[test], data.y[test]) >= base


@pytest.mark.parametrize(("number", "n_pairs"), [(1, 16), (2, 16), (3, 300), (4, 300)])
def test_the_four_scenarios(number, n_pairs):
    data, again = make_scenario(number, seed=4), make_scenario(number, seed=4)
    assert len(data) == n_pairs
    pairs = data.pairs
    assert (pairs.n_object_features, pairs.n_symmetric, pairs.n_antisymmetric) == (2, 2, 2)
    assert set(data.y) <= {-1, 1}
    assert np.array_equal(pairs.to_rows(), again.pairs.to_rows())
    if number > 2:
        assert (pairs.first < pairs.second).all()
        counts = [(row.n_train, row.n_test) for row in ObjectKFold(5).report(pairs.with_mirrored())]
        assert counts == [(380, 20)] * 5
        assert len(make_scenario(number, 10)) == 45


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: make_tournament(30), "n_objects=30; expected an odd number"),
        (lambda: make_tournament(31, "random"), "kind='random'; expected one of"),
        (lambda: make_tournament(31, flipped=2), "flipped=2; expected a share"),
        (lambda: make_tournament(5, n_pairs=11), "n_pairs=11 of 5 objects; expected 1 to 10"),
        (lambda: make_double_interval(10, 3), "expected at least 2, 4 and 1"),
        (lambda: make_scenario(5), "scenario 5; expected 1, 2, 3 or 4"),
        (lambda: make_scenario(1, 25), "n_objects=25 for scenario 1; expected none"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
