"""Suggestions: gains against refits, batches, costs, what was asked, and the swap law."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from scipy.stats import norm

from pairity import PairLogistic, PairRidge, Pairs, PairSVC
from pairity.active import STRATEGIES, suggest
from pairity.kernels import Drift, Gaussian, Identity


def league(m=8, n=30, seed=0, kernel="linear", model=PairRidge, **options):
    random = np.random.default_rng(seed)
    first = random.integers(0, m, n)
    second = (first + random.integers(1, m, n)) % m
    strength = random.normal(size=m)
    pairs = Pairs(np.eye(m), first, second, ids=list(range(m)))
    won = np.where(random.random(n) < expit(strength[first] - strength[second]), 1, -1)
    return model("antisymmetric", kernel=kernel, **options).fit(pairs, won), pairs, won


def score_matrix(m):
    every = Pairs.complete(np.eye(m), ids=list(range(m)))
    combined = np.zeros((m, len(every)))
    combined[every.first, np.arange(len(every))] = 1.0 / m
    combined[every.second, np.arange(len(every))] = -1.0 / m
    return every, combined


def wrong_signs(model, every, between):
    """Rows whose sum of squares is the number of wrong signs, to first order: by what each counts."""
    values, error = model.predict(every), model._posterior().std(every)
    counts = norm.pdf(values / error) / (np.sqrt(2 * np.pi) * error**2)
    return np.diag(np.sqrt(counts))[between]


@pytest.mark.parametrize("kernel", ["linear", Gaussian(1.0)], ids=repr)
@pytest.mark.parametrize("strategy", ["order", "top", "scores", "decisions", "labels"])
def test_gains_are_those_of_one_more_observation(kernel, strategy):
    """A posterior with the pair added, whatever its outcome, has that much less variance.

    Signs count by the doubt about them before.
    """
    model, pairs, won = league(kernel=kernel, alpha=0.5)
    every, combined = score_matrix(8)
    leaders = np.argsort(-(combined @ model.predict(every)))[:3]
    if strategy == "top":
        between = np.isin(every.first, leaders) != np.isin(every.second, leaders)
        combined = wrong_signs(model, every, between)
    elif strategy in ("order", "labels"):
        combined = wrong_signs(model, every, slice(None))
    elif strategy == "decisions":
        combined = np.eye(len(every))
    found = suggest(model, every, n=3, strategy=strategy, top=3)
    scale, seen, y = model._posterior().scale, pairs, won.astype(float)

    def total(fitted):
        posterior = fitted._posterior()
        covariance = posterior.covariance(every, sp.csr_array(combined))
        return scale * np.trace(covariance) / posterior.scale

    last = total(model)
    for row, gain in zip(found.rows, found.gains, strict=True):
        ends = (
            np.append(getattr(seen, end), getattr(every, end)[row]) for end in ("first", "second")
        )
        seen, y = Pairs(pairs.objects, *ends, ids=pairs.ids), np.append(y, 0.0)
        now = total(PairRidge("antisymmetric", kernel=kernel, alpha=0.5).fit(seen, y))
        assert gain == pytest.approx(last - now, rel=1e-6)
        last = now
    assert (np.diff(found.gains) <= 1e-12).all()


def test_the_first_is_the_best_of_all():
    model, _, _ = league(model=PairLogistic, n=20)
    every, combined = score_matrix(8)
    found = suggest(model, every, strategy="scores")
    covariance = model._posterior().covariance(every)
    shared = combined @ covariance
    values, variance = model.decision_function(every), np.diag(covariance)
    moderate = values / np.sqrt(1 + np.pi * variance / 8)
    information = expit(moderate) * expit(-moderate)
    gains = information * np.sum(shared**2, axis=0) / (1 + information * variance)
    assert found.rows[0] == np.argmax(gains)
    assert found.gains[0] == pytest.approx(gains.max(), rel=1e-9)
    assert len(set(found.rows.tolist())) == 10


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("model", [PairRidge, PairLogistic])
def test_the_order_of_writing_does_not_matter(model, strategy):
    fitted, _, _ = league(model=model)
    every = score_matrix(8)[0]
    one, two = (suggest(fitted, pool, 6, strategy) for pool in (every, every.swap()))
    assert np.array_equal(one.rows, two.rows)
    assert np.array_equal(one.gains, two.gains)
    assert np.array_equal(one.errors, two.errors)
    assert np.array_equal(one.decisions, -two.decisions)


def test_uncertainty_prefers_close_games_and_spreads():
    fitted, _, _ = league(model=PairLogistic, n=60)
    every = score_matrix(8)[0]
    found = suggest(fitted, every, 1, "uncertainty")
    chance = fitted.predict_proba(every)[:, 1]
    assert abs(chance[found.rows[0]] - 0.5) < 0.05
    ends = suggest(fitted, every, 4, "uncertainty").pairs
    assert len(np.unique(np.concatenate([ends.first, ends.second]))) >= 5


def test_costs_and_what_was_asked():
    fitted, pairs, _ = league(model=PairLogistic)
    every = score_matrix(8)[0]
    plain = suggest(fitted, every, 1)
    price = np.ones(len(every))
    price[plain.rows[0]] = 1000.0
    assert suggest(fitted, every, 1, costs=price).rows[0] != plain.rows[0]
    found = suggest(fitted, every, 100, asked=pairs)
    seen = {frozenset(ends) for ends in zip(pairs.first, pairs.second, strict=True)}
    new = {frozenset(ends) for ends in zip(found.pairs.first, found.pairs.second, strict=True)}
    assert not seen & new
    assert len(found) == len(new) == len(every) - len(seen)
    assert list(found.to_frame()) == ["first", "second", "gain", "decision", "error"]


def test_refusals():
    fitted, pairs, won = league(model=PairLogistic)
    every = score_matrix(8)[0]
    with pytest.raises(ValueError, match="got strategy='luck'"):
        suggest(fitted, every, strategy="luck")
    with pytest.raises(ValueError, match="finite number above 0 for each of the 28"):
        suggest(fitted, every, costs=np.zeros(28))
    with pytest.raises(ValueError, match="no posterior"):
        suggest(PairSVC("antisymmetric", kernel="linear").fit(pairs, won), every)
    with pytest.raises(ValueError, match="expected Pairs"):
        suggest(fitted, every.to_rows())
    even = PairLogistic("symmetric", kernel="linear").fit(pairs, won)
    with pytest.raises(ValueError, match="ranks nothing"):
        suggest(even, every)
    assert len(suggest(even, every, 3, "decisions")) == len(suggest(even, every, 3, "labels")) == 3
    assert len(suggest(fitted, every, 3, "top", top=99)) == 3


def test_suggested_votes_beat_random_ones():
    """Simulated voters: the same number of votes, more pairs in the right order (8 seeds)."""
    m, better = 16, []
    every = Pairs.complete(np.eye(m))
    for seed in range(8):
        random = np.random.default_rng(seed)
        strength = 1.5 * random.normal(size=m)

        def vote(rows, random=random, strength=strength):
            margin = strength[every.first[rows]] - strength[every.second[rows]]
            return np.where(random.random(len(rows)) < expit(margin), 1, -1)

        start = random.choice(len(every), 16, replace=False)
        errors = []
        for is_active in (True, False):
            rows, y = start, vote(start)
            for _ in range(8):
                model = PairLogistic("antisymmetric", kernel="linear", C=2.0).fit(every[rows], y)
                more = suggest(model, every, 8).rows if is_active else random.choice(120, 8)
                rows, y = np.append(rows, more), np.append(y, vote(more))
            model = PairLogistic("antisymmetric", kernel="linear", C=2.0).fit(every[rows], y)
            truth = strength[every.first] - strength[every.second]
            errors.append(np.mean(model.decision_function(every) * truth < 0.0))
        better.append(errors[1] - errors[0])
    assert np.mean(better) > 0.0


def test_objects_are_compared_at_the_time_of_the_pool():
    """Strengths that drift: scores to learn about are those at the latest time of the pool."""
    _, pairs, won = league(n=40)
    days = np.random.default_rng(1).integers(0, 50, 40).astype(float)
    model = PairLogistic("antisymmetric", kernel=Identity() * Drift(20.0))
    model.fit(pairs.at(days), won)
    every, combined = score_matrix(8)
    found = {day: suggest(model, every.at(day), 5, "scores") for day in (25.0, 500.0)}
    at = every.at(25.0)
    covariance = model._posterior().covariance(at)
    shared, variance = combined @ covariance, np.diag(covariance)
    moderate = model.decision_function(at) / np.sqrt(1 + np.pi * variance / 8)
    information = expit(moderate) * expit(-moderate)
    gains = information * np.sum(shared**2, axis=0) / (1 + information * variance)
    assert found[25.0].gains[0] == pytest.approx(gains.max(), rel=1e-6)
    assert gains[found[25.0].rows[0]] == pytest.approx(gains.max(), rel=1e-6)
    assert (found[500.0].errors > found[25.0].errors.max()).all()  # long after all games
    for strategy in STRATEGIES:
        assert len(suggest(model, at, 5, strategy)) == 5
