"""Boosted trees as a member of the automatic model."""

import numpy as np
from sklearn.base import clone
from sklearn.metrics import log_loss

from pairity import PairClassifierCV, Pairs, load, save
from pairity.model_selection import ObjectKFold
from pairity.model_selection.folds import read_folds
from pairity.training.read import read


def hubs(seed=0, m=90, n=1600):
    """Links between objects some of which have many, whatever their features say."""
    rng = np.random.default_rng(seed)
    first = rng.integers(m, size=n)
    second = (first + rng.integers(1, m, size=n)) % m
    place, hub = rng.uniform(size=(m, 1)), 2.0 * rng.normal(size=m)
    near = 2.0 - 6.0 * np.abs(place[first, 0] - place[second, 0])
    y = np.where(near + hub[first] + hub[second] + rng.logistic(size=n) > 0.0, 1, -1)
    return Pairs(place, first, second, ids=[f"hub {row}" for row in range(m)]), y


def test_trees_of_pairs_with_a_new_object_know_what_is_known_of_the_other():
    pairs, y = hubs()
    (train, test), *_ = ObjectKFold(4, new=1).split(pairs, y)
    folds = ObjectKFold(3, new=1, random_state=1)
    model = PairClassifierCV("symmetric", cv=folds).fit(pairs[train], y[train])
    trees = model.members_["boosted trees"]
    assert all(one.ids in ("ignore", "one rate") for one in trees.model.models)
    assert any(one.ids == "one rate" for one in trees.model.models)
    one = next(one for one in trees.model.models if one.ids == "one rate")
    blind = clone(one).set_params(ids="ignore").fit(pairs[train], y[train])
    losses = [log_loss(y[test], each.predict_proba(pairs[test])) for each in (one, blind)]
    assert losses[0] < losses[1] - 0.03
    random = read_folds(3, read(model, pairs, y, None), pairs, None)
    assert random.share_with_one_new() < 0.05
    held_out = read_folds(folds, read(model, pairs, y, None), pairs, None)
    assert held_out.share_with_one_new() == 1.0


def test_trees_are_the_mean_of_ways_that_are_near_the_best(tmp_path):
    pairs, y = hubs(1)
    model = PairClassifierCV("symmetric", cv=3).fit(pairs, y)
    trees = model.members_["boosted trees"].model
    assert len(trees.models) >= 2
    assert len({(one.ids, str(one.estimator)) for one in trees.models}) == len(trees.models)
    there = trees.decisions(pairs[:50])
    np.testing.assert_allclose(
        there, np.mean([one.decision_function(pairs[:50]) for one in trees.models], axis=0)
    )
    assert (there == trees.decisions(pairs[:50].swap())).all()
    again = model.refitted(pairs, y).members_["boosted trees"].model
    np.testing.assert_allclose(again.decisions(pairs[:50]), there, atol=1e-12)
    save(model, tmp_path / "trees.pairity")
    kept = load(tmp_path / "trees.pairity").members_["boosted trees"].model
    assert (kept.decisions(pairs[:50]) == there).all()
