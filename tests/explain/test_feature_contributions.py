"""Contributions of features: they add up, obey the swap law, and are those of a linear function."""

import numpy as np
import pytest

from pairity import PairClassifierCV, PairLogistic, PairRidge, Pairs
from pairity.inspection import explain_pair
from pairity.kernels import Additive, Drift, Identity, Linear


@pytest.fixture(scope="module")
def games():
    random = np.random.default_rng(0)
    objects = random.normal(size=(20, 3))
    every = Pairs.complete(objects)
    group = random.normal(size=(len(every), 2)), random.normal(size=(len(every), 1))
    return Pairs(objects, every.first, every.second, *group)


def outcomes(games, symmetry):
    left, right = games.objects[games.first, 0], games.objects[games.second, 0]
    if symmetry == "antisymmetric":
        return np.where(left - right + games.antisymmetric[:, 0] > 0, 1, -1)
    return np.where(np.abs(left - right) + games.symmetric[:, 0] > 1, 1, -1)


@pytest.mark.parametrize("symmetry", ["antisymmetric", "symmetric"])
@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_they_add_up_and_obey_the_law(games, symmetry, kernel):
    model = PairLogistic(symmetry, kernel=kernel).fit(games, outcomes(games, symmetry))
    there = explain_pair(model, games[7], games, n_samples=11)
    back = explain_pair(model, games[7].swap(), games, n_samples=11)
    assert there.baseline + there.contributions.sum() == pytest.approx(there.value, abs=1e-10)
    sign = -1.0 if symmetry == "antisymmetric" else 1.0
    assert (back.contributions == sign * there.contributions).all()
    if symmetry == "antisymmetric":
        assert there.baseline == 0.0


def test_a_linear_function_has_its_own_terms(games):
    """f = 2 (x_a0 - x_b0) + 3 x~: with backgrounds in both orders their means are 0."""
    y = 2.0 * (games.objects[games.first, 0] - games.objects[games.second, 0])
    y = y + 3.0 * games.antisymmetric[:, 0]
    model = PairRidge("antisymmetric", kernel="linear", alpha=1e-6).fit(games, y)
    names = {"objects": ["strength", "b", "c"], "antisymmetric": ["home"]}
    found = explain_pair(model, games[5], games, names=names, n_samples=5)
    asked = games[5]
    expected = {
        "strength": 2.0 * (games.objects[asked.first[0], 0] - games.objects[asked.second[0], 0]),
        "home": 3.0 * asked.antisymmetric[0, 0],
        "b": 0.0,
    }
    for name, value in expected.items():
        place = found.names.index(name)
        assert found.contributions[place] == pytest.approx(value, abs=1e-4), name


def test_groups_and_tables(games):
    model = PairClassifierCV("symmetric").fit(games[:60], outcomes(games, "symmetric")[:60])
    names = {"objects": ["x", "y", "z"], "symmetric": ["gap", "same"], "antisymmetric": ["home"]}
    found = explain_pair(
        model, games[3], games, names=names, groups={"place": ["x", "y"]}, n_samples=6
    )
    assert set(found.names) == {"place", "z", "gap", "same", "home"}
    assert found.baseline + found.contributions.sum() == pytest.approx(found.value, abs=1e-9)
    assert found.to_frame()["feature"][0] == found.names[found.order[0]]
    assert "baseline" in str(found)


@pytest.mark.parametrize("symmetry", ["antisymmetric", "symmetric"])
def test_names_at_a_time(symmetry):
    """Objects that are known by name drift; f = strength(first, t) +- strength(second, t) + home."""
    random = np.random.default_rng(1)
    first = random.integers(6, size=200)
    second = (first + random.integers(1, 6, size=200)) % 6
    even = random.normal(size=(200, 1))
    group = (even, None) if symmetry == "symmetric" else (None, even)
    names, times = list("abcdef"), random.uniform(0.0, 10.0, size=200)
    games = Pairs(np.zeros((6, 0)), first, second, *group, ids=names, time=times)
    kernel = Additive(Identity()) * Drift(5.0) + Linear()
    model = PairLogistic(symmetry, kernel=kernel).fit(games, np.where(first > second, 1, -1))
    asked = games[[11]].at(20.0)
    there, back = (explain_pair(model, pair, games) for pair in (asked, asked.swap()))
    assert there.names[0] == "which objects"
    assert there.value == pytest.approx(model.decision_function(asked)[0], abs=1e-12)
    assert there.baseline + there.contributions.sum() == pytest.approx(there.value, abs=1e-10)
    sign = -1.0 if symmetry == "antisymmetric" else 1.0
    assert (back.contributions == sign * there.contributions).all()
    with pytest.raises(ValueError, match="background without"):
        explain_pair(model, asked, Pairs(np.zeros((6, 0)), first, second, *group, time=times))


def test_bad_requests_are_refused(games):
    model = PairLogistic("symmetric", kernel="linear").fit(games, outcomes(games, "symmetric"))
    with pytest.raises(ValueError, match="got 2 pairs to explain"):
        explain_pair(model, games[:2], games)
    with pytest.raises(ValueError, match="got 1 names of objects features; expected 3"):
        explain_pair(model, games[3], games, names={"objects": ["x"]})
    with pytest.raises(ValueError, match="got the feature 'q' in a group"):
        explain_pair(model, games[3], games, groups={"g": ["q"]})
