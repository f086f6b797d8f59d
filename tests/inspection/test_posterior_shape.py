"""Cumulants of scores against sums over a grid of all parameters."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp
from scipy.stats import gamma, norm

from pairity import PairLogistic, Pairs
from pairity.inspection import effects, rank_objects
from pairity.inspection.posterior_shape import Shape, shape_of

#: Votes of three objects: who, against whom, how often won and lost.
VOTES = [(0, 1, 14, 2), (1, 2, 9, 5), (0, 2, 11, 1)]


def fitted(C, copies=1):
    rows = [row for *ends, won, lost in VOTES for row in [(*ends, 1)] * won + [(*ends, -1)] * lost]
    first, second, y = np.array(rows * copies).T
    model = PairLogistic("antisymmetric", kernel="linear", C=C, tol=1e-10)
    return model.fit(Pairs(np.eye(3), first, second), y)


def by_grid(C, copies):
    """Mean, standard deviation, skewness and kurtosis of the centred strengths, exactly."""
    # the sum of the strengths is independent of the differences: two coordinates across it
    across = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]])
    axis = np.linspace(-4.0 * np.sqrt(C), 7.0 * np.sqrt(C), 401)
    u, v = np.meshgrid(axis, axis, indexing="ij")
    scores = u[..., None] * across[0] + v[..., None] * across[1]
    log = -0.5 * (u**2 + v**2) / C
    for a, b, won, lost in VOTES:
        margin = scores[..., a] - scores[..., b]
        log -= copies * (won * np.logaddexp(0, -margin) + lost * np.logaddexp(0, margin))
    weight = np.exp(log - log.max())[..., None]
    weight /= weight.sum()
    mean = (weight * scores).sum(axis=(0, 1))
    centred = scores - mean
    std = np.sqrt((weight * centred**2).sum(axis=(0, 1)))
    third, fourth = ((weight * (centred / std) ** k).sum(axis=(0, 1)) for k in (3, 4))
    return mean, std, third, fourth - 3.0


def by_expansion(C, copies):
    model = fitted(C, copies)
    every = Pairs.complete(np.eye(3))
    combined = np.array([[1.0, 1.0, 0.0], [-1.0, 0.0, 1.0], [0.0, -1.0, -1.0]]) / 3.0
    known, seen = model._posterior(), model.observed_
    roots = known.span.roots(every, combined)
    shape = shape_of(known, seen, model.decision_function(seen.pairs), roots)
    errors = np.sqrt(known.scale * np.sum(roots**2, axis=0))
    return combined @ model.decision_function(every), errors, shape


@pytest.mark.parametrize("C", [1.0, 4.0])
def test_cumulants_are_those_of_the_posterior(C):
    """What the expansion misses falls as it should when votes are multiplied."""
    misses = []
    for copies in (2, 8):
        mean, std, skewness, kurtosis = by_grid(C, copies)
        scores, errors, shape = by_expansion(C, copies)
        miss = [
            np.abs(scores + shape.shift - mean).max() / np.abs(scores - mean).max(),
            np.abs(errors * shape.stretch - std).max() / np.abs(errors - std).max(),
            np.abs(shape.skewness - skewness).max() / np.abs(skewness).max(),
            np.abs(shape.kurtosis - kurtosis).max() / np.abs(kurtosis).max(),
        ]
        misses.append(miss)
    few, many = np.array(misses)
    assert (many < 0.1).all()
    falling = [0, 2, 3]  # the variance is by random signs, so that its miss stays
    assert (many[falling] < 0.7 * few[falling]).all()


def test_quantiles_of_cornish_and_fisher():
    """Those of a gamma distribution, whose cumulants are known."""
    k, z = 60.0, np.array([-2.5, -1.6, 0.0, 1.6, 2.5])
    exact = (gamma(k).ppf(norm.cdf(z)) - k) / np.sqrt(k)
    one = np.ones(5)
    shape = Shape(0.0 * one, one, 2.0 / np.sqrt(k) * one, 6.0 / k * one)
    np.testing.assert_allclose(shape.offsets(one, z), exact, atol=3e-3)
    np.testing.assert_array_equal(Shape.normal(5).offsets(one, z), z)


def test_intervals_of_winners_reach_further_up():
    sure = rank_objects(fitted(4.0), np.eye(3), intervals="analytic", level=0.9).certainty
    scores = rank_objects(fitted(4.0), np.eye(3)).scores
    assert sure.upper[0] - scores[0] > scores[0] - sure.lower[0]
    assert (sure.lower_all <= sure.lower).all()
    assert (sure.upper_all >= sure.upper).all()
    assert ((sure.lower <= scores) & (scores <= sure.upper)).all()


def test_wild_expansions_are_bounded():
    """An object that never loses, and hardly a penalty: quantiles stay in their order."""
    pairs = Pairs(np.eye(3), [0, 0, 1, 1, 2], [1, 2, 2, 2, 1])
    model = PairLogistic("antisymmetric", kernel="linear", C=1e6).fit(pairs, [1, 1, 1, -1, 1])
    for level in (0.5, 0.9, 0.999):
        sure = rank_objects(model, np.eye(3), intervals="analytic", level=level).certainty
        ends = np.stack([sure.lower_all, sure.lower, sure.upper, sure.upper_all])
        assert np.isfinite(ends).all()
        assert (np.diff(ends, axis=0) >= 0.0).all()


def couples(n_couples=150, n_votes=30, effect=1.0):
    """Objects that meet one other object each: only the effect of a style is common to all."""
    random = np.random.default_rng(4)
    couple = np.repeat(np.arange(n_couples), n_votes)
    margin = np.sqrt(2.0) * random.normal(size=n_couples)
    style = random.normal(size=len(couple))
    chance = 1.0 / (1.0 + np.exp(-margin[couple] - effect * style))
    won = np.where(random.random(len(couple)) < chance, 1, -1)
    objects = sp.eye_array(2 * n_couples, format="csr")
    pairs = Pairs(objects, 2 * couple, 2 * couple + 1, antisymmetric=style[:, np.newaxis])
    return pairs, won


def mean_by_quadrature(pairs, won, n_couples, around, error):
    """Mean of the effect over its posterior, each margin N(0, 2) integrated out."""
    effects_tried = around + error * np.linspace(-6.0, 8.0, 71)
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    margins, signs = np.sqrt(2.0) * nodes, won[:, np.newaxis]
    logs = []
    for effect in effects_tried:
        decisions = margins + effect * pairs.antisymmetric  # (n, nodes)
        losses = np.logaddexp(0.0, -signs * decisions)
        totals = -losses.reshape(n_couples, -1, len(nodes)).sum(axis=1)
        logs.append(logsumexp(totals, b=weights, axis=1).sum() - effect**2 / 4.0)
    density = np.exp(np.array(logs) - max(logs))
    return float(density @ effects_tried / density.sum())


@pytest.mark.parametrize("clustered", [False, True])
def test_intervals_of_effects_are_about_the_mean(clustered):
    """The errors of many scores pull the mode of an effect to one side."""
    pairs, won = couples()
    model = PairLogistic("antisymmetric", kernel="linear", C=1.0).fit(pairs, won)
    clusters = np.arange(len(won)) if clustered else None
    table = effects(model, kinds=["antisymmetric"], clusters=clusters)
    estimate, error = table.estimates[0], table.errors[0]
    exact = mean_by_quadrature(pairs, won, 150, estimate, error)
    middle = (table.lower[0] + table.upper[0]) / 2.0
    assert exact - estimate > 0.5 * error
    assert abs(middle - exact) < 0.15 * error


def test_effects_lie_in_their_intervals():
    pairs, won = couples()
    model = PairLogistic("antisymmetric", kernel="linear", C=1.0).fit(pairs, won)
    for level in (0.05, 0.5, 0.9):
        table = effects(model, kinds=["antisymmetric"], level=level)
        assert table.lower[0] <= table.estimates[0] <= table.upper[0]
        assert table.lower[0] < table.upper[0]
