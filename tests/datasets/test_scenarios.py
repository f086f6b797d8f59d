"""The four scenarios of Section 6."""

from __future__ import annotations

import numpy as np
import pytest

from pairity.datasets.made import LabelModel, all_ordered, draw_rows, symmetry_of


@pytest.mark.parametrize(("scenario", "positive"), [(1, 8), (2, 16)])
def test_scenarios_1_and_2_are_16_draws_of_2_2_2_2_features(scenario, positive):
    data = draw_rows(scenario, seed=0)
    pairs = data.pairs
    assert len(pairs) == 16
    widths = pairs.n_object_features, pairs.n_symmetric, pairs.n_antisymmetric
    assert widths == (2, 2, 2)
    assert np.count_nonzero(data.y == 1) == positive
    assert np.count_nonzero(data.y == -1) == 16 - positive


@pytest.mark.parametrize("scenario", [1, 2])
def test_draws_have_the_mean_of_their_label_and_unit_deviation(scenario):
    residuals = [
        data.pairs.to_rows() - data.y[:, None]
        for data in (draw_rows(scenario, seed) for seed in range(100))
    ]
    values = np.concatenate(residuals)  # 12,800 numbers
    assert abs(values.mean()) < 0.05
    assert values.std() == pytest.approx(1.0, abs=0.05)


def test_draws_follow_the_seed():
    rows = [draw_rows(1, seed).pairs.to_rows() for seed in (0, 0, 1)]
    assert np.array_equal(rows[0], rows[1])
    assert not np.array_equal(rows[0], rows[2])


def test_all_ordered_pairs_carry_sums_and_differences():
    objects = np.random.default_rng(0).normal(size=(5, 2))
    pairs = all_ordered(objects)
    assert len(set(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))) == 20
    assert (pairs.first != pairs.second).all()
    left, right = objects[pairs.first], objects[pairs.second]
    assert np.array_equal(pairs.symmetric, left + right)
    assert np.array_equal(pairs.antisymmetric, right - left)


@pytest.mark.parametrize("scenario", [3, 4])
def test_labels_obey_the_law_of_their_scenario(scenario):
    generator = np.random.default_rng(1)
    model = LabelModel.draw(scenario, generator)
    pairs = all_ordered(model.draw_objects(12, generator))
    sign = -1.0 if symmetry_of(scenario) == "antisymmetric" else 1.0
    labels = model.label(pairs)
    assert set(labels) <= {-1.0, 1.0}
    assert np.array_equal(model.label(pairs.swap()), sign * labels)


@pytest.mark.parametrize("scenario", [3, 4])
def test_labels_are_those_of_formulas_39_and_40(scenario):
    model = LabelModel(
        scenario,
        np.eye(8),
        c1=np.array([1.0, 0.0]),
        c2=np.array([0.0, 1.0]),
        p1=np.array([1.0, 1.0]),
        p2=np.array([0.0, 1.0]),
    )
    objects = np.array([[0.5, 1.0], [-1.0, 0.2]])
    # p1(t) = t + t^3, p2(t) = t^3; x_ab = (-0.5, 1.2), x~_ab = (-1.5, -0.8)
    expected = {
        3: (0.5 + 0.125) + (-1.0 - 1.0) + 1.2**3,
        4: (0.5 + 0.125) - (-1.0 - 1.0) + (-0.8) ** 3,
    }[scenario]
    labels = model.label(all_ordered(objects))
    assert labels[0] == np.sign(expected)


@pytest.mark.parametrize("scenario", [3, 4])
def test_draws_have_the_ranges_of_the_paper(scenario):
    generator = np.random.default_rng(2)
    models = [LabelModel.draw(scenario, generator) for _ in range(300)]
    for name in ("c1", "c2", "p1", "p2"):
        values = np.array([getattr(model, name) for model in models])
        assert np.abs(values).max() <= 0.1
        assert values.std() == pytest.approx(0.1 / np.sqrt(3.0), rel=0.1)
    matrices = np.array([model.P for model in models])
    assert np.linalg.eigvalsh(matrices).min() > -1e-12
    # entries of M are uniform in [-0.1, 0.1]: E[P_ii] = 8 * 0.01 / 3
    diagonal = np.diagonal(matrices, axis1=1, axis2=2)
    assert diagonal.mean() == pytest.approx(0.08 / 3, rel=0.05)
    objects = models[0].draw_objects(20_000, generator)
    assert objects.std() == pytest.approx(1 / 25, rel=0.02)


def test_one_order_of_all_pairs_is_half_of_them():
    generator = np.random.default_rng(3)
    model = LabelModel.draw(4, generator)
    everything = model.label_all(model.draw_objects(6, generator))
    halved = everything.in_one_order()
    assert len(halved.pairs) == len(halved.y) == len(everything.pairs) // 2
    unordered = {frozenset(p) for p in zip(halved.pairs.first, halved.pairs.second, strict=True)}
    assert len(unordered) == 15
