"""Figures and standard errors against plain computations."""

import numpy as np
import pytest
from sklearn.metrics import r2_score, roc_auc_score

from pairity import Pairs
from pairity.app.report.estimates import (
    Sample,
    area_under_curve,
    mean_of,
    r_squared,
    root_mean_square,
)
from pairity.pairs.same_objects import ends_of


def sample_of(generator, n_objects=9, n_pairs=60, repeated=True):
    pairs = Pairs(
        np.eye(n_objects),
        generator.integers(n_objects, size=n_pairs),
        generator.integers(n_objects, size=n_pairs),
    )
    rows = generator.integers(n_pairs, size=90) if repeated else np.arange(n_pairs)
    times = np.bincount(rows, minlength=n_pairs)
    return pairs, Sample(rows, 1.0 / times[rows], ends_of(pairs))


def plain_dyadic_error(pairs, sample, influence):
    """Sum over all observations that share an object, one by one."""
    total = independent = 0.0
    row_sums = np.zeros(len(pairs))
    np.add.at(row_sums, sample.rows, sample.weights * influence)
    for i in range(len(pairs)):
        mine = {pairs.first[i], pairs.second[i]}
        for j in range(len(pairs)):
            if mine & {pairs.first[j], pairs.second[j]}:
                total += row_sums[i] * row_sums[j]
        independent += row_sums[i] ** 2
    return np.sqrt(max(total, independent)) / sample.size


@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_errors_know_about_shared_objects(seed, repeated):
    generator = np.random.default_rng(seed)
    pairs, sample = sample_of(generator, repeated=repeated)
    effect = generator.normal(size=pairs.n_objects)
    values = (effect[pairs.first] + effect[pairs.second])[sample.rows]
    values = values + 0.1 * generator.normal(size=len(values))
    found = mean_of(sample, values)
    assert found.value == pytest.approx(np.average(values, weights=sample.weights))
    expected = plain_dyadic_error(pairs, sample, values - found.value)
    assert found.error == pytest.approx(expected, rel=1e-10)


def test_shared_objects_make_a_mean_less_certain(rng):
    pairs = Pairs.complete(np.eye(12))
    sample = Sample(np.arange(66), np.ones(66), ends_of(pairs))
    effect = rng.normal(size=12)
    values = effect[pairs.first] + effect[pairs.second]
    naive = values.std(ddof=1) / np.sqrt(len(values))
    assert mean_of(sample, values).error > 1.5 * naive


def test_groups_make_a_mean_less_certain_too(rng):
    pairs = Pairs(np.eye(100), np.arange(50), np.arange(50, 100))  # no shared object
    group = np.repeat(np.arange(10), 5)
    values = rng.normal(size=10)[group]
    plain = Sample(np.arange(50), np.ones(50), ends_of(pairs))
    grouped = Sample(np.arange(50), np.ones(50), ends_of(pairs), group)
    centred = values - values.mean()
    expected = np.sqrt(np.sum(np.bincount(group, centred) ** 2)) / 50
    assert mean_of(grouped, values).error == pytest.approx(expected)
    assert mean_of(plain, values).error < mean_of(grouped, values).error


def test_auc_is_that_of_scikit_learn(rng):
    _, sample = sample_of(rng)
    signs = np.where(rng.random(90) < 0.4, 1.0, -1.0)
    decisions = np.round(signs + rng.normal(size=90), 1)  # with ties
    found = area_under_curve(sample, signs, decisions, odd=False)
    assert found.value == pytest.approx(
        roc_auc_score(signs, decisions, sample_weight=sample.weights)
    )
    assert 0.0 < found.error < 0.2


def test_the_error_of_auc_is_that_of_delong(rng):
    """Without shared objects: DeLong's variance, computed plainly."""
    pairs = Pairs(np.eye(120), np.arange(60), np.arange(60, 120))
    signs = np.where(np.arange(60) < 25, 1.0, -1.0)
    decisions = signs + 1.5 * rng.normal(size=60)
    sample = Sample(np.arange(60), np.ones(60), ends_of(pairs))
    up, down = decisions[signs > 0], decisions[signs < 0]
    above = (up[:, None] > down[None, :]).astype(float)
    expected = np.sqrt(above.mean(axis=1).var() / len(up) + above.mean(axis=0).var() / len(down))
    assert area_under_curve(sample, signs, decisions, odd=False).error == pytest.approx(expected)


def test_antisymmetric_auc_is_that_of_both_orders(rng):
    _, sample = sample_of(rng)
    signs = np.where(rng.random(90) < 0.7, 1.0, -1.0)
    decisions = signs + rng.normal(size=90)
    found = area_under_curve(sample, signs, decisions, odd=True)
    doubled = roc_auc_score(
        np.concatenate([signs, -signs]),
        np.concatenate([decisions, -decisions]),
        sample_weight=np.tile(sample.weights, 2),
    )
    assert found.value == pytest.approx(doubled)
    turned = np.where(rng.random(90) < 0.5, 1.0, -1.0)
    again = area_under_curve(sample, signs * turned, decisions * turned, odd=True)
    assert again == found


def test_one_label_has_no_auc(rng):
    _, sample = sample_of(rng)
    assert np.isnan(area_under_curve(sample, np.ones(90), rng.normal(size=90), odd=False).value)
    ahead = area_under_curve(sample, np.ones(90), np.ones(90), odd=True)
    assert ahead.value == pytest.approx(1.0)


def test_regression_figures_are_the_usual_ones(rng):
    pairs, sample = sample_of(rng, repeated=False)
    y, f = rng.normal(size=60), rng.normal(size=60)
    found = r_squared(sample, y, f, float(y.mean()))
    assert found.value == pytest.approx(r2_score(y, f))
    root = root_mean_square(sample, y - f)
    assert root.value == pytest.approx(np.sqrt(np.mean((y - f) ** 2)))
    square = plain_dyadic_error(pairs, sample, (y - f) ** 2 - root.value**2)
    assert root.error == pytest.approx(square / (2 * root.value))
    assert np.isnan(r_squared(sample, np.ones(60), f, 1.0).value)


def test_the_error_of_r_squared_is_that_of_resampling(rng):
    n = 400
    pairs = Pairs(np.eye(2 * n), np.arange(n), np.arange(n, 2 * n))
    sample = Sample(np.arange(n), np.ones(n), ends_of(pairs))
    y = rng.normal(size=n)
    f = y + 0.7 * rng.normal(size=n)
    found = r_squared(sample, y, f, float(y.mean()))
    drawn = [rng.integers(n, size=n) for _ in range(800)]
    spread = np.std([r2_score(y[rows], f[rows]) for rows in drawn])
    assert found.error == pytest.approx(spread, rel=0.15)
