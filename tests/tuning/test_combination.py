"""kernel="auto": the families it weighs, and that it finds what was planted."""

import numpy as np
import pytest

import cases
from pairity import Pairs, PairSVC, PairSVCCV
from pairity.kernels import Derived, Kernel
from pairity.kernels.classes import project
from pairity.model_selection import PairKFold, combination
from pairity.model_selection.combination import choose_combination
from pairity.model_selection.curves import CrossEntropy, SquaredError
from pairity.model_selection.families import LINEAR, kernel_families
from pairity.model_selection.landmark_ridge import LandmarkRidge
from pairity.pairs.parity import Parity

CS = (0.1, 1.0, 10.0)
WIDTHS = [(2, 0, 0), (2, 1, 0), (2, 0, 1), (2, 2, 2), (0, 1, 1)]


@pytest.mark.parametrize("parity", [Parity.EVEN, Parity.ODD, None])
@pytest.mark.parametrize("widths", WIDTHS, ids=str)
def test_every_family_has_a_part_of_the_parity(parity, widths):
    pairs = cases.random_pairs(0, widths=widths)
    families = kernel_families(pairs, parity)
    assert any(LINEAR in name for name in families)
    for kernel in families.values():
        fitted = kernel.fitted_to(pairs)
        assert isinstance(project(fitted, parity, pairs), Kernel)


def planted(kind, seed=0, m=32):
    """Complete antisymmetric data in which one family is right, with chance in the outcomes."""
    rng = np.random.default_rng(seed)
    pairs = Pairs.complete(rng.normal(size=(m, 3)), ids=[f"object {k}" for k in range(m)])
    x, first, second = pairs.objects, pairs.first, pairs.second
    if kind == "linear":
        value = (x @ [1.0, -1.0, 0.5])[first] - (x @ [1.0, -1.0, 0.5])[second]
    elif kind == "additive":
        strength = np.sin(3.0 * x[:, 0]) + x[:, 1] ** 2
        value = strength[first] - strength[second]
    elif kind == "determinant":
        value = x[first, 0] * x[second, 1] - x[first, 1] * x[second, 0]
    else:
        strength = rng.normal(size=m)
        value = strength[first] - strength[second]
    chance = 1.0 / (1.0 + np.exp(-3.0 * value))
    return pairs, np.where(rng.random(len(value)) < chance, 1.0, -1.0)


@pytest.mark.parametrize("kind", ["linear", "additive", "determinant", "identity"])
def test_a_planted_family_gets_the_weight(kind):
    pairs, y = planted(kind)
    splits = list(PairKFold(3).split(pairs, y))
    found = choose_combination(
        pairs, y, np.ones(len(y)), Parity.ODD, splits, CrossEntropy(Parity.ODD)
    )
    assert found.weights[kind] > 1.0 / len(found.family_losses)  # more than its equal share
    best = min(found.family_losses.values())
    assert found.loss <= 1.03 * best
    assert sum(found.weights.values()) == pytest.approx(1.0)
    assert found.weights[LINEAR] >= 0.015
    projected = project(found.kernel, Parity.ODD, pairs)
    assert projected.diagonal(pairs).mean() == pytest.approx(1.0)


def test_two_effects_are_both_kept():
    """Names and an interaction: neither alone is enough, and a choice of one would lose."""
    rng = np.random.default_rng(3)
    m = 40
    pairs = Pairs.complete(rng.normal(size=(m, 3)), ids=range(m))
    x, first, second = pairs.objects, pairs.first, pairs.second
    strength = rng.normal(size=m)
    twist = x[first, 0] * x[second, 1] - x[first, 1] * x[second, 0]
    y = np.where(strength[first] - strength[second] + 1.2 * twist > 0, 1.0, -1.0)
    splits = list(PairKFold(3).split(pairs, y))
    found = choose_combination(
        pairs, y, np.ones(len(y)), Parity.ODD, splits, CrossEntropy(Parity.ODD)
    )
    assert min(found.weights["identity"], found.weights["determinant"]) > 0.05
    assert found.loss < 0.85 * min(found.family_losses.values())


def test_the_choice_holds_on_fresh_pairs():
    """Loss against the best single family in hindsight, on pairs that no choice has seen."""
    regrets = []
    for kind in ("additive", "determinant", "identity"):
        pairs, y = planted(kind, seed=5)
        half = np.random.default_rng(1).random(len(y)) < 0.5
        auto = PairSVCCV("antisymmetric", Cs=CS, cv=3).fit(pairs[half], y[half])
        singles = [
            PairSVC("antisymmetric", kernel=kernel.fitted_to(pairs[half]), C=C)
            .fit(pairs[half], y[half])
            .score(pairs[~half], y[~half])
            for kernel in kernel_families(pairs, Parity.ODD).values()
            for C in CS
        ]
        regrets.append(max(singles) - auto.score(pairs[~half], y[~half]))
    assert max(regrets) < 0.03


def test_landmark_ridge_with_all_landmarks_is_ridge():
    """Held-out decisions of the normal equations against plain kernel ridge regression."""
    rng = np.random.default_rng(0)
    pairs = cases.distinct_pairs(1, n=24, m=9, widths=(3, 0, 0))
    y, weights = rng.normal(size=24), np.ones(24)
    kernel = project(cases.Gaussian(1.0), Parity.EVEN, pairs)
    gram = kernel.gram(pairs)
    rows = np.arange(24)
    splits = [(rows[rows % 3 != k], rows[rows % 3 == k]) for k in range(3)]
    criterion = SquaredError(Parity.EVEN)
    ridge = LandmarkRidge([gram], rows, y, weights, splits, criterion, has_bias=True)
    trial = ridge.evaluate(np.ones(1))
    best = np.inf
    for shift in (1e-2, 1e-1, 1.0, 1e1, 1e2):
        errors = []
        for train, test in splits:
            inside = gram[np.ix_(train, train)]
            system = np.block(
                [[inside + shift * np.eye(len(train)), np.ones((len(train), 1))],
                 [np.ones((1, len(train))), np.zeros((1, 1))]]
            )  # fmt: skip
            solution = np.linalg.solve(system, np.append(y[train], 0.0))
            decisions = gram[np.ix_(test, train)] @ solution[:-1] + solution[-1]
            errors.append((y[test] - decisions) ** 2)
        best = min(best, float(np.concatenate(errors).mean()))
    assert trial.loss == pytest.approx(best, rel=1e-3)
    parts = ridge.contributions(trial)
    assert parts.shape == (1, 24)


@pytest.mark.parametrize("has_bias", [True, False])
def test_sums_over_pieces_are_those_of_the_folds(has_bias, rng):
    """Nested, overlapping and partial folds: coefficients against plain weighted normal equations."""
    n, landmarks = 30, np.arange(0, 30, 4)
    root = rng.normal(size=(n, 6))
    matrix = (root @ root.T)[:, landmarks]
    y, weights, rows = rng.normal(size=n), rng.uniform(0.5, 2.0, size=n), np.arange(n)
    splits = [(rows[:10], rows[10:14]), (rows[:20], rows[20:]), (rows[5:25:2], rows[6:25:2])]
    ridge = LandmarkRidge(
        [matrix], landmarks, y, weights, splits, SquaredError(Parity.EVEN), has_bias=has_bias
    )
    trial = ridge.evaluate(np.ones(1))
    shift = (1e-2, 1e-1, 1.0, 1e1, 1e2)[trial.shift]
    for (train, _), found in zip(splits, trial.coefficients, strict=True):
        w, a, target = weights[train], matrix[train], y[train]
        if has_bias:
            a, target = a - np.average(a, 0, w), target - np.average(target, weights=w)
        left = (a.T * w) @ a + shift * matrix[landmarks]
        expected = np.linalg.lstsq(left, a.T @ (w * target), rcond=None)[0]
        np.testing.assert_allclose(matrix @ found, matrix @ expected, atol=2e-4)


@pytest.mark.parametrize("parity", [Parity.ODD, Parity.EVEN])
def test_scales_find_the_useful_part(parity):
    rng = np.random.default_rng(0)
    useful, noise = rng.normal(size=(2, 400))
    weights = np.ones(400)
    y = np.where(useful + 0.5 * rng.normal(size=400) > 0, 1.0, -1.0)
    scales = CrossEntropy(parity).scales(np.array([useful, noise, -useful]), y, weights)
    assert scales[0] > 1.0
    assert scales[1] < 0.3
    assert scales[2] < 0.01
    target = 2.0 * useful + (0.0 if parity is Parity.ODD else 5.0)
    least = SquaredError(parity).scales(np.array([useful, noise]), target, weights)
    np.testing.assert_allclose(least, [2.0, 0.0], atol=1e-6)


def test_cross_entropy_is_that_of_the_calibrated_decisions():
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss

    rng = np.random.default_rng(2)
    f = rng.normal(size=300)
    y = np.where(f + rng.normal(size=300) > 0.3, 1.0, -1.0)
    losses = CrossEntropy(Parity.EVEN).losses(f, y, np.ones(300))
    golden = LogisticRegression(C=1e10, tol=1e-10).fit(f[:, None], y)
    expected = log_loss(y, golden.predict_proba(f[:, None]))
    assert losses.mean() == pytest.approx(expected, abs=1e-6)


def test_ids_without_features_are_enough():
    rng = np.random.default_rng(1)
    m = 20
    strength = rng.normal(size=m)
    first, second = np.triu_indices(m, 1)
    pairs = Pairs(np.zeros((m, 0)), first, second, ids=[f"team {k}" for k in range(m)])
    y = np.where(strength[first] > strength[second], 1, -1)
    model = PairSVCCV("antisymmetric", Cs=3).fit(pairs, y)
    assert set(model.combination_.weights) == {"identity"}
    assert model.score(pairs, y) > 0.95


@pytest.mark.parametrize("parity", [Parity.EVEN, Parity.ODD, None])
def test_many_pairs_are_evaluated_through_objects(parity):
    pairs = cases.random_pairs(0, widths=(3, 1, 1))
    from pairity.model_selection.families import without_derived
    from pairity.operators.pair_operator import PairOperator

    families = without_derived(kernel_families(pairs, parity))
    assert LINEAR in families
    assert len(families) >= 4
    for kernel in families.values():
        projected = project(kernel.fitted_to(pairs), parity, pairs)
        groups = PairOperator(projected, pairs)._groups
        assert not any(group.opaque for group in groups)


@pytest.mark.parametrize(("parity", "kept"), [(Parity.ODD, True), (Parity.EVEN, False)])
def test_group_features_are_seen_where_sums_are_evaluated_by_tiles(monkeypatch, parity, kept):
    """Beyond the size up to which all families are tried; wide tables have none."""
    monkeypatch.setattr(combination, "_MOST_WITH_DERIVED", 5)
    pairs = cases.random_pairs(0, n=15)
    derived = [
        any(isinstance(inner, Derived) for inner in kernel.walk())
        for kernel in combination._families(pairs, parity).values()
    ]
    assert any(derived) is kept
    monkeypatch.setattr(combination, "MOST_FEATURES", 1)
    assert combination._most_with_derived(pairs, parity) == 5
