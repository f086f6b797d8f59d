"""Conformal sets and intervals: coverage on new pairs, exact mirroring, honest ignorance."""

import numpy as np
import pytest

from pairity import PairRidge, Pairs, PairSVC, PairSVR
from pairity.inspection import conformal
from pairity.kernels import Gaussian


def league(seed, m=40, noise=0.5):
    random = np.random.default_rng(seed)
    pairs = Pairs.complete(random.normal(size=(m, 2)))
    strength = np.sin(2 * pairs.objects[:, 0]) + pairs.objects[:, 1]
    margin = strength[pairs.first] - strength[pairs.second]
    margin = margin + noise * random.normal(size=len(pairs))
    train = random.random(len(pairs)) < 0.5
    return pairs, margin, train


def test_intervals_cover_pairs_of_known_objects():
    hits = []
    for seed in range(6):
        pairs, y, train = league(seed)
        model = PairSVR("antisymmetric", kernel=Gaussian(1.0)).fit(pairs[train], y[train])
        low, high = conformal(model, pairs[train], y[train]).predict_interval(pairs[~train]).T
        hits.append(np.mean((low <= y[~train]) & (y[~train] <= high)))
    assert 0.87 <= np.mean(hits) <= 0.95


def test_new_objects_get_wider_intervals():
    pairs, y, _ = league(0)
    known = (pairs.first < 30) & (pairs.second < 30)
    model = PairRidge("antisymmetric", kernel=Gaussian(0.5)).fit(pairs[known], y[known])
    found = conformal(model, pairs[known], y[known])
    n_new = (pairs.first >= 30).astype(int) + (pairs.second >= 30)
    reach = found.reach(pairs)
    assert [len(np.unique(reach[n_new == number])) for number in (0, 1, 2)] == [1, 1, 1]
    assert reach[n_new == 0][0] < reach[n_new == 1][0]
    low, high = found.predict_interval(pairs[n_new > 0]).T
    assert np.mean((low <= y[n_new > 0]) & (y[n_new > 0] <= high)) > 0.8


def test_sets_mirror_and_cover():
    pairs, y, train = league(1, noise=1.5)
    labels = np.where(y > 0, "first", "second")
    model = PairSVC("antisymmetric", kernel=Gaussian(1.0)).fit(pairs[train], labels[train])
    found = conformal(model, pairs[train], labels[train])
    asked = pairs[~train]
    sets = found.predict_set(asked)
    assert (sets == found.predict_set(asked.swap())[:, ::-1]).all()
    right = (labels[~train] == model.classes_[1]).astype(int)
    assert 0.86 <= sets[np.arange(len(sets)), right].mean() <= 0.94
    assert (sets.sum(axis=1) == 2).any()
    low, high = found.reach(asked, 0.5), found.reach(asked, 0.99)
    assert (low < high).all()


def test_too_few_pairs_say_nothing():
    pairs = Pairs(np.arange(7.0)[:, None], range(6), range(1, 7))
    model = PairRidge("antisymmetric", kernel="linear").fit(pairs, np.ones(6))
    assert np.isinf(conformal(model, pairs, np.ones(6), n_splits=2).reach(pairs)).all()


def test_refusals():
    pairs, y, _ = league(2, m=12)
    ridge = PairRidge("antisymmetric").fit(pairs, y)
    with pytest.raises(ValueError, match="expected a classifier"):
        conformal(ridge, pairs, y).predict_set(pairs)
    svc = PairSVC("antisymmetric").fit(pairs, y > 0)
    with pytest.raises(ValueError, match="expected a regressor"):
        conformal(svc, pairs, y > 0).predict_interval(pairs)
    with pytest.raises(ValueError, match="expected a number between 0 and 1"):
        conformal(svc, pairs, y > 0).predict_set(pairs, 90)
    with pytest.raises(ValueError, match="expected Pairs"):
        conformal(svc, pairs.to_rows(), y > 0)
