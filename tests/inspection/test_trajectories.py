"""Strengths at a time: rankings, trajectories, intervals, half-life weights."""

import numpy as np
import pytest

import pairity.training.posterior as posteriors
from pairity import PairLogistic, Pairs, PairSVC
from pairity.inspection import plot_trajectories, posterior, rank_objects, trajectories
from pairity.kernels import Additive, Drift, Identity, Linear


def seasons(seed, n=400, m=8, groups=1):
    rng = np.random.default_rng(seed)
    first = rng.integers(m, size=n)
    second = (first + rng.integers(1, m, size=n)) % m
    times = rng.uniform(0.0, 100.0, size=n)
    y = np.where(rng.random(n) < 0.5, 1, -1)
    odd = rng.normal(size=(n, groups))
    names = [f"team {row}" for row in range(m)]
    return Pairs(np.zeros((m, 0)), first, second, None, odd, ids=names, time=times), y


KERNEL = Additive(Identity()) * Drift(40.0, "matern") + Linear()


@pytest.fixture(scope="module")
def fitted():
    return PairLogistic("antisymmetric", kernel=KERNEL).fit(*seasons(0))


def test_trajectories_are_mean_margins(fitted):
    names = ["team 1", "team 4", "team 6"]
    found = trajectories(fitted, names, [20.0, 150.0])
    objects = np.zeros((3, 0))
    for place, time in enumerate((20.0, 150.0)):
        for row in range(3):
            others = [other for other in range(3) if other != row]
            pairs = Pairs(objects, [row] * 2, others, None, np.zeros((2, 1)), ids=names)
            margins = fitted.decision_function(pairs.at(time))
            assert found.values[row, place] == pytest.approx(margins.mean(), abs=1e-12)
    assert (found.std[:, 1] > found.std[:, 0]).all()  # long after the last game
    assert len(found.to_frame()) == 6


def test_objects_are_ranked_at_a_time(fitted):
    early, late = (rank_objects(fitted, at=time) for time in (0.0, 90.0))
    assert sorted(early.ids) == [f"team {row}" for row in range(8)]
    assert not np.allclose(early.scores, late.scores)
    sure = rank_objects(fitted, at=90.0, intervals="analytic")
    np.testing.assert_allclose(sure.scores, late.scores)
    assert (sure.lower < sure.scores).all()


def test_what_cannot_be_drawn_is_refused(fitted):
    with pytest.raises(ValueError, match="at least two"):
        trajectories(fitted, ["team 1"], [0.0])
    with pytest.raises(ValueError, match="nobody"):
        trajectories(fitted, ["team 1", "nobody"], [0.0])
    machine = PairSVC("antisymmetric", kernel=KERNEL).fit(*seasons(0))
    assert trajectories(machine, ["team 1", "team 2"], [0.0]).std is None


def test_a_picture_has_a_line_for_each_object(fitted):
    pytest.importorskip("matplotlib")
    axes = plot_trajectories(fitted, ["team 1", "team 4"], [0.0, 50.0, 100.0], dates=True)
    assert [line.get_label() for line in axes.get_lines()] == ["team 1", "team 4"]


def test_variances_along_chains_are_near_those_of_the_whole_posterior(monkeypatch):
    pairs, y = seasons(1, n=1500, m=30)
    asked = pairs[:200].at(np.linspace(0.0, 130.0, 200))
    model = PairLogistic("antisymmetric", kernel=KERNEL).fit(pairs, y)
    exact = model.decision_std(asked)
    assert posterior(model).is_exact
    monkeypatch.setattr(posteriors, "_MOST_PAIRS", 0)
    posteriors._KNOWN.clear()
    found = model.decision_std(asked)
    assert not posterior(model).is_exact
    np.testing.assert_allclose(found, exact, rtol=0.1)
    assert (found == model.decision_std(asked.swap())).all()
    covariance = posterior(model).covariance(asked)  # what knows no time is in it
    np.testing.assert_allclose(np.sqrt(np.diagonal(covariance)), found, rtol=1e-12)
    posteriors._KNOWN.clear()


def test_averaged_probabilities_are_nearer_to_a_half(fitted):
    pairs, _ = seasons(0)
    for time in (50.0, 300.0):
        asked = pairs[:50].at(time)
        plain, averaged = fitted.predict_proba(asked), fitted.predict_averaged_proba(asked)
        assert (np.abs(averaged - 0.5) <= np.abs(plain - 0.5)).all()
        assert (averaged == fitted.predict_averaged_proba(asked.swap())[:, ::-1]).all()
        assert (averaged.sum(axis=1) == 1.0).all()


def test_half_life_weights():
    pairs, y = seasons(2)
    weights = 0.5 ** ((pairs.time.max() - pairs.time) / 20.0)
    fading = PairLogistic("antisymmetric", kernel=Identity(), decay=20.0).fit(pairs, y)
    weighted = PairLogistic("antisymmetric", kernel=Identity())
    weighted.fit(pairs, y, sample_weight=weights)
    np.testing.assert_allclose(
        fading.decision_function(pairs), weighted.decision_function(pairs), rtol=0.0, atol=1e-9
    )
    with pytest.raises(ValueError, match="decay"):
        PairLogistic("antisymmetric", decay=-1.0).fit(pairs, y)


def test_fading_pairs_fade_on_after_an_update():
    pairs, y = seasons(3)
    order = np.argsort(pairs.time)
    pairs, y = pairs[order], y[order]
    options = {"kernel": Identity(), "decay": 20.0, "tol": 1e-10}
    model = PairLogistic("antisymmetric", **options).fit(pairs[:300], y[:300])
    model.update(pairs[300:], y[300:])
    whole = PairLogistic("antisymmetric", **options).fit(pairs, y)
    np.testing.assert_allclose(
        model.decision_function(pairs), whole.decision_function(pairs), rtol=0.0, atol=1e-8
    )
