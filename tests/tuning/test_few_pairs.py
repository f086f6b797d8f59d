"""What few pairs need: scores by choices of other folds, weights that add up to 1, exact steps."""

from dataclasses import replace

import numpy as np
import pytest

import cases
import pairity.estimators.object_effects as effects
from pairity import PairClassifierCV
from pairity.model_selection.curves import CrossEntropy
from pairity.model_selection.folds import Trials, read_folds
from pairity.model_selection.weights import HeldOut, member_weights, nested_sum
from pairity.pairs.parity import Parity
from pairity.training.read import read


def folds_of(seed=0, n=80):
    pairs, y = cases.random_pairs(seed, n=n, m=20), cases.random_labels(seed, n)
    return read_folds(None, read(PairClassifierCV("antisymmetric"), pairs, y, None), pairs, None)


def test_trials_have_the_mean_loss_and_the_choice_of_other_folds():
    folds, rng = folds_of(), np.random.default_rng(0)
    trials = Trials(folds, CrossEntropy(Parity.ODD))
    sizes = np.cumsum([len(test) for _, test in folds.splits])[:-1]
    targets = folds.data.targets[folds.held]
    good = targets + 0.5 * rng.normal(size=len(targets))
    first = np.arange(len(targets)) < sizes[0]
    lucky = np.where(
        first, 10.0 * targets, rng.normal(size=len(targets))
    )  # in the first fold alone
    losses = [trials.loss_of(np.split(one, sizes)) for one in (good, lucky)]
    for loss, one in zip(losses, (good, lucky), strict=True):
        each = CrossEntropy(Parity.ODD).losses(one, targets, np.ones(len(targets)))
        assert np.isclose(loss, each.mean())
    assert all((chosen == good).all() for chosen in trials.nested())
    assert (
        Trials(replace(folds, splits=folds.splits[:1]), CrossEntropy(Parity.ODD)).nested() is None
    )


def test_the_nested_sum_of_a_fold_does_not_know_its_labels():
    rng = np.random.default_rng(1)
    truth, fold = rng.normal(size=200), (np.arange(200) % 5).astype(float)
    targets = np.where(truth + rng.logistic(size=200) > 0.0, 1.0, -1.0)
    values = {"one": truth, "two": truth + rng.normal(size=200), "three": rng.normal(size=200)}
    data, inside = HeldOut(targets, np.ones(200), fold, Parity.ODD, True), fold == 2.0
    turned = replace(data, targets=np.where(inside, -targets, targets))
    sums = [nested_sum(one, values, values) for one in (data, turned)]
    assert (sums[0][inside] == sums[1][inside]).all()
    assert (sums[0][~inside] != sums[1][~inside]).all()


def test_weights_of_few_pairs_add_up_to_one():
    """Members that are right together ask for more."""
    rng = np.random.default_rng(2)
    targets = rng.choice([-1.0, 1.0], size=100)
    data = HeldOut(targets, np.ones(100), np.zeros(100), Parity.ODD, True)
    weights = member_weights(data, [targets + 0.3 * rng.normal(size=100) for _ in range(3)])
    assert 1.0 < weights.sum() < 1.1


@pytest.mark.parametrize("parity", [Parity.ODD, Parity.EVEN])
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_exact_steps_and_conjugate_gradients_end_at_the_same_place(monkeypatch, parity, loss):
    pairs, y = cases.random_pairs(3, n=70, m=12), cases.random_labels(3, 70)
    columns = effects.EffectColumns.of(pairs, parity)
    for weights in ((0.0, 0.0), (0.5, 0.0), (0.5, 2.0)):
        design = columns.design(pairs, *weights)
        at = np.random.default_rng(4).normal(size=sum(design.widths))
        assert np.allclose(design.dense() @ at[design.columns_in_use()], design.times(at))
        start = np.append(np.zeros(len(at)), np.nan if parity is Parity.ODD else 0.0)
        found = []
        for most in (0, 10**9):
            monkeypatch.setattr(effects, "_MOST_DIRECT", most)
            given = (y.astype(float), np.ones(70), 1.0, loss, start, 1e-14)
            found.append(effects.fit_parameters(design, *given))
        assert np.allclose(*found, atol=1e-5, equal_nan=True)
