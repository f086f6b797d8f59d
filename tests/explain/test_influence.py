"""Contributions of training pairs: they add up, obey the swap law, and are named rightly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import cases
import naive
import pairity.inspection.influence as influence
from learners import LEARNERS
from pairity import (
    CalibratedPairClassifier,
    ObjectTransformer,
    PairRidge,
    Pairs,
    PairSVC,
    PairSVCCV,
)
from pairity.inspection import contributions, influential_pairs
from pairity.kernels import Gaussian, Mixed
from pairity.model_selection import PairKFold
from pairity.pairs.parity import SYMMETRIES

BOTH = ["symmetric", "antisymmetric"]


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("symmetry", [*BOTH, "none"])
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_contributions_add_up_to_the_decision(learner, symmetry, training_set):
    train, asked = cases.random_pairs(1, n=30, m=10), cases.random_pairs(2, n=9)
    model = learner.fit(train, 1, symmetry, Gaussian(1.2), training_set=training_set)
    values = learner.of(model, asked)
    terms = contributions(model, asked)
    assert terms.shape == (9, len(model.support_))
    assert np.abs(values - model.intercept_).max() > 1e-3
    assert np.allclose(terms.sum(axis=1) + model.intercept_, values, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("case", cases.all_cases(), ids=repr)
def test_every_kernel(case):
    """The naive twin: theta_j times the projected kernel, pair by pair."""
    symmetry = "antisymmetric" if case.parity is cases.ODD else "symmetric"
    symmetry = symmetry if case.order_invariant else "none"
    train, asked = cases.random_pairs(1, n=12), cases.random_pairs(2, n=3)
    model = PairSVC(symmetry, kernel=case.kernel).fit(train, cases.random_labels(1, 12))
    twin = case.twin
    if symmetry != "none":
        twin = (naive.balanced if symmetry == "symmetric" else naive.skew_balanced)(twin)
    rows = train[model.support_].to_rows()
    expected = naive.gram(twin, asked.to_rows(), rows, cases.WIDTHS) * model.dual_coef_
    assert np.allclose(contributions(model, asked), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6))
def test_contributions_obey_the_swap_law(learner, symmetry, seed):
    model = learner.fit(cases.random_pairs(1, n=20, m=10), 1, symmetry, Gaussian(1.2))
    asked = cases.random_pairs(seed, n=1 + seed % 20)
    sign = SYMMETRIES[symmetry].sign
    there, back = contributions(model, asked), contributions(model, asked.swap())
    assert np.array_equal(back, sign * there)
    named, swapped = influential_pairs(model, asked), influential_pairs(model, asked.swap())
    assert np.array_equal(named.rows, swapped.rows)
    assert np.array_equal(swapped.contributions, sign * named.contributions)


def test_blocks_make_no_difference_beyond_rounding(monkeypatch):
    model = PairSVC("antisymmetric", kernel=Gaussian(1.2))
    model.fit(cases.random_pairs(1, n=30, m=10), cases.random_labels(1, 30))
    asked = cases.random_pairs(2, n=40, m=9)
    whole = influential_pairs(model, asked, n=3)
    monkeypatch.setattr(influence, "_ENTRIES", 7 * len(model.support_))
    cut = influential_pairs(model, asked, n=3)
    assert np.allclose(cut.contributions, whole.contributions, rtol=0.0, atol=1e-14)
    assert np.allclose(cut.rest, whole.rest, rtol=0.0, atol=1e-13)
    there, back = contributions(model, asked), contributions(model, asked.swap())
    assert np.array_equal(there, -back)


@pytest.mark.parametrize("training_set", ["halved", "full"])
def test_the_largest_are_named(training_set):
    train, asked = cases.random_pairs(1, n=30, m=10), cases.random_pairs(2, n=5)
    named = _with_ids(train, "abcdefghij")
    model = PairRidge("symmetric", kernel=Gaussian(1.2), training_set=training_set)
    model.fit(named, cases.random_targets(1, 30))
    found = influential_pairs(model, asked, n=4)
    terms = contributions(model, asked)
    both = named.with_mirrored()
    for place in range(5):
        order = sorted(range(terms.shape[1]), key=lambda j: -abs(terms[place, j]))[:4]
        assert found.rows[place].tolist() == model.support_[order].tolist()
        assert found.contributions[place].tolist() == terms[place, order].tolist()
        for rank, row in enumerate(found.rows[place]):
            assert found.training[0][place, rank] == both.ids[both.first[row]]
            assert found.training[1][place, rank] == both.ids[both.second[row]]
    total = found.intercept + found.contributions.sum(axis=1) + found.rest
    assert np.allclose(total, found.decisions, atol=1e-12)
    assert len(found) == 5


def _with_ids(pairs, ids):
    return Pairs(
        pairs.objects,
        pairs.first,
        pairs.second,
        pairs.symmetric,
        pairs.antisymmetric,
        ids=list(ids),
    )


def test_lookalikes_are_told_apart_by_the_training_pairs():
    objects = np.array([[0.0], [1.0], [1.0], [3.0]])  # b and c look the same
    train = Pairs(objects, first=[0, 2], second=[1, 3], ids=["a", "b", "c", "d"])
    model = PairRidge("antisymmetric", kernel="linear").fit(train, [-1.0, -2.0])
    asked = train[:1]
    told = influential_pairs(model, asked, training=train)
    named = dict(
        zip(told.rows[0].tolist(), zip(*(t[0] for t in told.training), strict=True), strict=True)
    )
    assert named == {0: ("a", "b"), 1: ("c", "d")}
    with pytest.raises(
        ValueError, match="got 1 training pairs for a model that learned from row 1"
    ):
        influential_pairs(model, asked, training=train[:1])


def test_pipelines_and_searches():
    pairs, y = cases.random_pairs(1, n=40, m=12, widths=(3, 0, 0)), cases.random_labels(1, 40)
    pairs = _with_ids(pairs, "abcdefghijkl")
    steps = make_pipeline(
        ObjectTransformer(StandardScaler()), PairSVC("none", kernel=Mixed(Gaussian(1.0)))
    )
    search = GridSearchCV(steps, {"pairsvc__C": [1.0]}, cv=PairKFold(2)).fit(pairs, y)
    found = influential_pairs(search, pairs[:4], n=100)
    assert np.allclose(found.decisions, search.decision_function(pairs[:4]))
    inner = search.best_estimator_[-1]
    total = found.contributions.sum(axis=1) + inner.intercept_
    assert np.allclose(total, found.decisions, atol=1e-12)
    assert found.asked[0].tolist() == pairs.ids[pairs.first[:4]].tolist()
    assert found.training[0][0, 0] == pairs.ids[pairs.first[found.rows[0, 0]]]
    assert np.abs(found.rest).max() < 1e-12


def test_tuned_and_calibrated_models():
    """What is explained is the decision of the learner inside."""
    pairs = cases.random_pairs(1, n=40, m=12)
    y = np.where(pairs.objects[pairs.first, 0] > pairs.objects[pairs.second, 0], 1, -1)
    tuned = PairSVCCV("antisymmetric", kernel=Gaussian(1.0), Cs=[1.0], cv=PairKFold(2)).fit(
        pairs, y
    )
    calibrated = CalibratedPairClassifier(PairSVC("antisymmetric", kernel=Gaussian(1.0))).fit(
        pairs, y
    )
    for model, inner in [(tuned, tuned.best_estimator_), (calibrated, calibrated.estimator_)]:
        found = influential_pairs(model, pairs[:4], n=100)
        assert np.array_equal(found.decisions, inner.decision_function(pairs[:4]))
        total = found.contributions.sum(axis=1) + found.intercept
        assert np.allclose(total, found.decisions, atol=1e-12)


def test_wide_rows_are_explained_too():
    train = cases.random_pairs(1, n=20)
    model = PairSVC("symmetric", kernel=Gaussian(1.0), n_symmetric=2, n_antisymmetric=2)
    model.fit(train.to_rows(), cases.random_labels(1, 20))
    found = influential_pairs(model, train.to_rows()[:3], n=2)
    assert np.array_equal(
        found.contributions, influential_pairs(model, train[:3], n=2).contributions
    )


def test_what_people_read():
    pytest.importorskip("pandas", reason="pandas comes with the command line extra")
    pairs = _with_ids(cases.random_pairs(1, n=20, widths=(2, 0, 0)), "abcdefg")
    model = PairSVC("antisymmetric", kernel=Gaussian(1.0)).fit(pairs, cases.random_labels(1, 20))
    found = influential_pairs(model, pairs[:2], n=3)
    lines = str(found).splitlines()
    assert len(lines) == 2 * (1 + 3)
    names = pairs.ids[pairs.first[0]], pairs.ids[pairs.second[0]]
    assert lines[0].startswith(f"pair 0 ({names[0]}, {names[1]}): decision ")
    assert f"row {found.rows[0, 0]} ({found.training[0][0, 0]}" in lines[1]
    frame = found.to_frame()
    assert frame.shape == (6, 8)
    assert frame["contribution"].tolist() == found.contributions.ravel().tolist()
    unnamed = influential_pairs(model, Pairs(pairs.objects, [1], [2]), n=1)
    assert str(unnamed).startswith("pair 0 (1, 2)")


def test_refusals():
    pairs = cases.random_pairs(1)
    with pytest.raises(ValueError, match="holds no fitted function of pairs"):
        influential_pairs(PairSVC("symmetric"), pairs)
    with pytest.raises(ValueError, match="holds no fitted function of pairs"):
        influential_pairs(SVC(), pairs)
    model = PairSVC("symmetric", kernel=Gaussian(1.0)).fit(pairs, cases.random_labels(1, 14))
    with pytest.raises(ValueError, match="got n=0"):
        influential_pairs(model, pairs, n=0)
    with pytest.raises(ValueError, match=r"got pairs with \(3, 2, 2\)"):
        influential_pairs(model, cases.random_pairs(1, widths=(3, 2, 2)))
    assert contributions(model, pairs[:0]).shape == (0, len(model.support_))
    assert str(influential_pairs(model, pairs[:0])) == ""
