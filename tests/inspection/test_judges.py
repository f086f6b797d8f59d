"""Judges told apart, and counts of votes in the place of votes."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from pairity import PairLogistic, PairRidge, Pairs
from pairity.inspection import judges, rank_objects
from pairity.pairs import votes_of_counts

M, N_JUDGES, EACH = 12, 24, 60


def panel(seed):
    """Three judges toss a coin, three take the first; the others differ a little."""
    random = np.random.default_rng(seed)
    strength = random.normal(size=M)
    who = np.repeat(np.arange(N_JUDGES), EACH)
    first = random.integers(0, M, len(who))
    second = (first + random.integers(1, M, len(who))) % M
    slopes, biases = random.lognormal(0.0, 0.2, N_JUDGES), 0.2 * random.normal(size=N_JUDGES)
    slopes[:6], biases[3:6] = 0.0, 3.0
    chance = expit(slopes[who] * (strength[first] - strength[second]) + biases[who])
    won = np.where(random.random(len(who)) < chance, 1, -1)
    pairs = Pairs(np.eye(M), first, second)
    model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, won)
    return model, who, strength - strength.mean(), won


def test_bad_judges_are_found_and_the_ranking_is_better_for_it():
    at_random, first, better = [], [], []
    honest = np.arange(N_JUDGES) >= 6
    for seed in range(5):
        model, who, truth, _ = panel(seed)
        found = judges(model, who)
        tossing = np.arange(N_JUDGES) < 3
        some = honest | tossing
        at_random.append(roc_auc_score(tossing[some], -found.slopes[some]))
        first.append(roc_auc_score(~(honest | tossing), found.biases))
        errors = [
            np.mean((rank_objects(one, np.eye(M), n_cycles=0).scores - truth) ** 2)
            for one in (model, found)
        ]
        better.append(errors[1] < errors[0])
    assert np.mean(at_random) > 0.95
    assert np.mean(first) > 0.95
    assert np.mean(better) >= 0.8


def test_the_function_is_odd_bit_for_bit():
    model, who, _, _ = panel(0)
    found, pairs = judges(model, who), Pairs.complete(np.eye(M))
    assert (found.decision_function(pairs) == -found.decision_function(pairs.swap())).all()


def test_one_kind_of_judge_gives_the_plain_model():
    """Votes without a bias by judges who are alike: slopes and biases shrink to 1 and 0."""
    random = np.random.default_rng(3)
    strength = random.normal(size=M)
    first = random.integers(0, M, 4000)
    second = (first + random.integers(1, M, 4000)) % M
    won = np.where(random.random(4000) < expit(strength[first] - strength[second]), 1, -1)
    model = PairLogistic("antisymmetric", kernel="linear").fit(Pairs(np.eye(M), first, second), won)
    found = judges(model, random.integers(0, 20, 4000))
    assert np.abs(found.slopes - 1.0).max() < 0.35
    assert np.abs(found.biases).max() < 0.3
    assert (found.slope_errors > 0).all()
    frame = found.to_frame()
    assert frame["slope"].is_monotonic_increasing
    assert frame["votes"].sum() == 4000


def test_the_optimum_is_one():
    """The penalised likelihood falls in every direction from the solution."""
    model, who, _, won = panel(1)
    found = judges(model, who)
    rows, strength = model._posterior().span.rows, 2.0
    won = won > 0

    def objective(parameters, slopes, biases):
        odds = slopes[who] * (rows @ parameters) + biases[who]
        loss = np.logaddexp(0.0, np.where(won, -odds, odds)).sum()
        prior = 0.5 * np.sum((slopes - 1.0) ** 2) / found.slope_spread**2
        prior += 0.5 * np.sum((biases - found.common_bias) ** 2) / found.bias_spread**2
        return loss + prior + 0.5 * parameters @ parameters / strength

    best = objective(found.parameters, found.slopes, found.biases)
    random = np.random.default_rng(0)
    for _ in range(20):
        moved = [
            values + 0.03 * random.normal(size=values.shape)
            for values in (found.parameters, found.slopes, found.biases)
        ]
        assert objective(*moved) > best


def test_refusals():
    model, who, _, won = panel(2)
    with pytest.raises(ValueError, match="one value for each of the 1440 rows"):
        judges(model, who[:5])
    with pytest.raises(ValueError, match="one cluster only"):
        judges(model, np.zeros(len(who)))
    ridge = PairRidge("antisymmetric", kernel="linear")
    ridge.fit(model.observed_.pairs, 0.5 * won)
    with pytest.raises(ValueError, match="expected an antisymmetric PairLogistic"):
        judges(ridge, who)


def test_counts_are_the_votes_themselves():
    random = np.random.default_rng(0)
    pairs = Pairs.complete(np.eye(5))
    totals = random.integers(1, 9, len(pairs))
    wins = random.binomial(totals, 0.6)
    rows = np.repeat(np.arange(len(pairs)), totals)
    y = np.concatenate([np.repeat([1, -1], [k, n - k]) for k, n in zip(wins, totals, strict=True)])
    options = {"kernel": "linear", "tol": 1e-9}
    single = PairLogistic("antisymmetric", **options).fit(pairs[rows], y)
    votes = votes_of_counts(pairs, wins, totals)
    counted = PairLogistic("antisymmetric", **options)
    counted.fit(votes.pairs, votes.y, votes.sample_weight)
    one, two = single.decision_function(pairs), counted.decision_function(pairs)
    np.testing.assert_allclose(one, two, atol=1e-8)
    np.testing.assert_allclose(single.decision_std(pairs), counted.decision_std(pairs), rtol=1e-6)


def test_soft_labels_and_refusals():
    pairs = Pairs(np.eye(3), [0, 1], [1, 2])
    votes = votes_of_counts(pairs, [0.25, 1.0])
    assert votes.y.tolist() == [1, 1, -1]
    assert votes.sample_weight.tolist() == [0.25, 1.0, 0.75]
    with pytest.raises(ValueError, match="got 3 wins of 1 in row 1"):
        votes_of_counts(pairs, [0, 3])
    with pytest.raises(ValueError, match="one per pair"):
        votes_of_counts(pairs, [0.5])
