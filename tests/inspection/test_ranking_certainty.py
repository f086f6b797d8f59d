"""Rankings with intervals: formulas, coverage, ties, ranges of ranks, parts that nothing connects."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from scipy.stats import norm

from pairity import CalibratedPairClassifier, PairLogistic, PairRidge, Pairs, PairSVC
from pairity.inspection import effects, rank_objects, rank_observed
from pairity.inspection.ranking import certainty_of
from pairity.kernels import Gaussian


def votes(seed, m=12, n=400, spread=1.0, groups=None):
    random = np.random.default_rng(seed)
    strength = spread * random.normal(size=m)
    first = random.integers(0, m, n)
    second = (first + random.integers(1, m, n)) % m
    pairs = Pairs(sp.eye_array(m, format="csr"), first, second, ids=[f"o{i}" for i in range(m)])
    won = random.random(n) < expit(strength[first] - strength[second])
    return pairs, np.where(won, 1, -1), strength - strength.mean()


def everyone(pairs):
    return Pairs.complete(pairs.objects, ids=pairs.ids)


def test_scores_are_centred_effects_with_their_covariance():
    """Of a Bradley-Terry model the score is the strength less the mean strength."""
    pairs, won, _ = votes(0)
    model = PairLogistic("antisymmetric", kernel="linear", tol=1e-9).fit(pairs, won)
    ranking = rank_objects(model, everyone(pairs), intervals="analytic")
    table = effects(model)
    centring = np.eye(12) - 1.0 / 12
    np.testing.assert_allclose(ranking.scores, centring @ table.estimates, atol=1e-8)
    expected = centring @ table.covariance @ centring
    np.testing.assert_allclose(ranking.certainty.covariance, expected, atol=1e-8)
    errors = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(ranking.certainty.errors, errors, rtol=1e-6)
    length = (ranking.upper - ranking.lower) / (2.0 * norm.ppf(0.95) * errors)
    assert ((length > 0.98) & (length < 1.1)).all()  # but for the shape of the posterior
    judges = np.random.default_rng(1).integers(0, 30, len(pairs))
    clustered = rank_objects(model, everyone(pairs), intervals="analytic", by=judges)
    inside = centring @ effects(model, clusters=judges).covariance @ centring
    by_judge = np.sqrt(np.diag(inside))
    assert (by_judge > errors).any()
    assert (by_judge < errors).any()
    np.testing.assert_allclose(clustered.certainty.errors, np.maximum(by_judge, errors), rtol=1e-6)
    correlations = inside / np.outer(by_judge, by_judge)
    found = clustered.certainty.covariance / np.outer(*2 * [clustered.certainty.errors])
    np.testing.assert_allclose(found, correlations, atol=1e-6)


def test_an_object_of_one_judge_is_not_certain():
    """The fit follows the only judge who has seen it, so that clusters would give it no error."""
    pairs, won, _ = votes(2)
    model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, won)
    plain = rank_objects(model, everyone(pairs), intervals="analytic")
    one = np.argmin(np.abs(plain.scores))
    judges = np.random.default_rng(1).integers(1, 30, len(pairs))
    judges[(pairs.first == one) | (pairs.second == one)] = 0
    clustered = rank_objects(model, everyone(pairs), intervals="analytic", by=judges)
    centring = np.eye(12) - 1.0 / 12
    by_judge = centring @ effects(model, clusters=judges).covariance @ centring
    assert np.sqrt(by_judge[one, one]) < 0.7 * plain.certainty.errors[one]
    assert clustered.certainty.errors[one] == pytest.approx(plain.certainty.errors[one])


@pytest.mark.parametrize("method", ["least_squares", "mean"])
def test_any_kernel_and_any_pairs(method):
    """Against the posterior covariance of all values, combined by hand."""
    random = np.random.default_rng(3)
    objects = random.normal(size=(7, 2))
    first, second = np.array([[0, 1, 2, 3, 4, 5, 6, 0, 2, 5], [1, 2, 3, 4, 5, 6, 0, 3, 5, 2]])
    pairs = Pairs(objects, first, second)
    model = PairRidge("antisymmetric", kernel=Gaussian(1.0)).fit(pairs, random.normal(size=10))
    ranking = rank_objects(model, pairs, intervals="analytic", method=method)
    base, step = model.predict(pairs), 1e-6
    from pairity.inspection import observed_flow
    from pairity.inspection.ranking import SCORES

    jacobian = np.empty((7, 10))
    for row in range(10):
        moved = base.copy()
        moved[row] += step
        change = SCORES[method](observed_flow(pairs, moved)) - SCORES[method](
            observed_flow(pairs, base)
        )
        jacobian[:, row] = change / step
    expected = jacobian @ model._posterior().covariance(pairs) @ jacobian.T
    np.testing.assert_allclose(ranking.certainty.covariance, expected, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("star", [False, True])
def test_coverage_of_scores(star):
    """90 % intervals of scores drawn from the prior: one by one, and all at once."""
    random, one, every, ranks = np.random.default_rng(5), [], [], []
    m = 10
    for _ in range(100):
        first, second = np.triu_indices(m, 1)
        if star:
            first, second = np.zeros(m - 1, dtype=int), np.arange(1, m)
        first, second = np.repeat(first, 8), np.repeat(second, 8)
        strength = random.normal(size=m)  # the prior of C = 1: 2C / 2 for each strength
        won = random.random(len(first)) < expit(strength[first] - strength[second])
        pairs = Pairs(np.eye(m), first, second)
        model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, np.where(won, 1, -1))
        found = rank_objects(model, np.eye(m), intervals="analytic", n_cycles=0)
        truth = strength - strength.mean()
        one.append(np.mean((found.lower <= truth) & (truth <= found.upper)))
        sure = found.certainty
        every.append(np.all((sure.lower_all <= truth) & (truth <= sure.upper_all)))
        place = 1 + np.sum(truth > truth[:, None], axis=1)
        ranks.append(np.all((sure.best_rank <= place) & (place <= sure.worst_rank)))
    assert 0.87 <= np.mean(one) <= 0.93
    assert 0.84 <= np.mean(every) <= 0.96
    assert np.mean(ranks) >= 0.87


def test_bootstrap_covers_and_holds_its_score():
    """Without a penalty to speak of; the score is inside its own interval by construction."""
    hits = []
    for seed in range(12):
        pairs, won, truth = votes(seed, m=6, n=300)
        pairs = Pairs(np.eye(6), pairs.first, pairs.second)  # small tables are quicker dense
        model = PairLogistic("antisymmetric", kernel="linear", C=50.0).fit(pairs, won)
        found = rank_objects(
            model, everyone(pairs), intervals="bootstrap", training=(pairs, won),
            by=np.arange(len(pairs)), n_resamples=40, n_cycles=0,
        )  # fmt: skip
        assert ((found.lower <= found.scores) & (found.scores <= found.upper)).all()
        hits.append(np.mean((found.lower <= truth) & (truth <= found.upper)))
    assert 0.82 <= np.mean(hits) <= 0.98


@pytest.mark.parametrize("by", ["pair", "object", "judge"])
@pytest.mark.parametrize("intervals", ["bootstrap", "leave_out"])
def test_units_of_refits(by, intervals):
    random = np.random.default_rng(0)
    objects = random.normal(size=(12, 2))
    pairs = Pairs.complete(objects)
    won = np.where(
        objects[pairs.first, 0] + random.normal(size=66) > objects[pairs.second, 0], 1, -1
    )
    model = PairSVC("antisymmetric", kernel="linear").fit(pairs, won)
    units = random.integers(0, 12, 66) if by == "judge" else by
    options = {"intervals": intervals, "training": (pairs, won), "by": units, "n_resamples": 6}
    found = rank_objects(model, objects, **options)
    assert (found.certainty.errors > 0).all()
    assert found.certainty.source == intervals
    assert np.array_equal(found.lower, rank_objects(model, objects, **options).lower)


def test_parts_that_no_comparison_connects():
    pairs = Pairs(
        sp.eye_array(6, format="csr"), [0, 0, 1, 3, 3], [1, 2, 2, 4, 4], ids=list("abcdef")
    )
    model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, [1, 1, 1, 1, 1])
    ranking = rank_objects(model, everyone(pairs), intervals="analytic")
    assert ranking.components.tolist() == [0, 0, 0, 1, 1, 2]
    assert ranking.ranks.tolist() == [1, 2, 3, 1, 2, 1]
    assert ranking.named_parts() == ["a and 2 more", "d and 1 more", "f and 0 more"]
    assert "parts ranked apart: a and 2 more" in str(ranking)
    assert ranking.certainty.worst_rank.max() <= 3
    np.testing.assert_allclose(
        [ranking.certainty.chance_best[:3].sum(), ranking.certainty.chance_best[3:5].sum()], 1.0
    )
    by_features = PairLogistic("antisymmetric", kernel="linear")
    by_features.fit(Pairs(np.arange(6.0)[:, None], pairs.first, pairs.second), [1, 1, 1, 1, 1])
    assert rank_objects(by_features, np.arange(6.0)[:, None]).parts.n_components == 1


def test_ties_and_ranges_by_hand():
    """Independent scores with errors 1: 0 and 1 are tied, 2 is not, 20 is far ahead."""
    scores = np.array([0.0, 20.0, 1.0, 10.0])
    sure = certainty_of(scores, np.eye(4), np.zeros(4, dtype=int), 0.9)
    assert sure.tied.tolist() == ["c", "a", "c", "b"]
    assert sure.best_rank.tolist() == [3, 1, 3, 2]
    assert sure.worst_rank.tolist() == [4, 1, 4, 2]
    assert sure.chance_best.tolist() == [0.0, 1.0, 0.0, 0.0]
    # quantiles of the largest of four absolute values, and of the range of four normal values
    reach = (sure.upper_all - scores)[0]
    assert abs(reach - norm.ppf(0.5 + 0.9**0.25 / 2)) < 0.06
    chain = certainty_of(np.array([0.0, 2.5, 5.0]), np.eye(3), np.zeros(3, dtype=int), 0.9)
    assert chain.tied.tolist() == ["b", "ab", "a"]


def test_intervals_of_a_calibrated_model_are_in_its_units():
    pairs, won, _ = votes(7)
    model = CalibratedPairClassifier(PairLogistic("antisymmetric", kernel="linear")).fit(pairs, won)
    ranking = rank_objects(model, everyone(pairs), intervals="analytic")
    inner = rank_objects(model.estimator_, everyone(pairs), intervals="analytic")
    slope = model.slope_
    np.testing.assert_allclose(ranking.scores, slope * inner.scores, rtol=1e-9)
    np.testing.assert_allclose(ranking.certainty.errors, slope * inner.certainty.errors, rtol=1e-9)


def test_refusals():
    pairs, won, _ = votes(8, n=60)
    model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, won)
    with pytest.raises(ValueError, match="method='wins', a count"):
        rank_objects(model, everyone(pairs), intervals="analytic", method="wins")
    svc = PairSVC("antisymmetric", kernel="linear").fit(pairs, won)
    with pytest.raises(ValueError, match="which has no posterior"):
        rank_objects(svc, everyone(pairs), intervals="analytic")
    with pytest.raises(ValueError, match="one value for each"):
        rank_objects(model, everyone(pairs), intervals="analytic", by=[1, 2])
    with pytest.raises(ValueError, match="expected 'pair', 'object', or one value"):
        rank_observed(pairs, won, intervals="bootstrap", by="judge")
