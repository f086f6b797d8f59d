"""No calibration pair is decided about by a model that saw it; folds that cannot serve are named."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import KFold

from pairity import (
    CalibratedPairClassifier,
    PairClassifierCV,
    PairDrawClassifier,
    PairLogisticCV,
    Pairs,
    PairSVC,
)
from pairity.exceptions import CalibrationWarning
from pairity.model_selection import ObjectKFold, PairKFold, Repeated, TimeSplit


class Diary(ClassifierMixin, BaseEstimator):
    """A classifier that writes down what it trains on and what it is asked about.

    Its decision is odd and always right, so that slopes are above 0; features are row numbers.
    """

    fits: list = []

    def __init__(self, symmetry="antisymmetric"):
        self.symmetry = symmetry

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y) if len(np.unique(y)) == 2 else np.array([-1, 1])
        self.trained_, self.asked_ = unordered(X), []
        self.weights_ = sample_weight
        Diary.fits.append(self)
        return self

    def decision_function(self, X):
        self.asked_.append(unordered(X))
        difference = X.objects[X.first, 0] - X.objects[X.second, 0]
        return difference if self.symmetry == "antisymmetric" else np.abs(difference) - 3.0


def unordered(pairs):
    ends = np.sort(np.column_stack([pairs.first, pairs.second]), axis=1)
    return [tuple(row) for row in ends.tolist()]


@pytest.fixture(autouse=True)
def _empty_diary():
    Diary.fits = []


def games(seed, n, m):
    rng = np.random.default_rng(seed)
    first = rng.integers(m, size=n)
    second = (first + rng.integers(1, m, size=n)) % m
    pairs = Pairs(np.arange(float(m))[:, np.newaxis], first, second)
    return pairs, np.where(first > second, 1, -1)


MODELS = [
    lambda cv: CalibratedPairClassifier(Diary(), cv=cv),
    lambda cv: CalibratedPairClassifier(Diary(), cv=cv, method="isotonic"),
    lambda cv: PairDrawClassifier(Diary(), cv=cv),
]


@pytest.mark.parametrize("make", MODELS)
@given(seed=st.integers(0, 50), n=st.integers(20, 60), m=st.integers(6, 12))
def test_no_pair_is_seen_by_the_model_that_decides_about_it(make, seed, n, m):
    Diary.fits = []
    pairs, y = games(seed, n, m)
    model = make(None).fit(pairs, y)
    whole, *folds = Diary.fits
    assert len(folds) == 5
    asked = [pair for fold in folds for pair in fold.asked_[0]]
    for fold in folds:
        assert not set(fold.trained_) & set(fold.asked_[0])
    assert sorted(asked) == sorted(unordered(pairs)), "each pair is held out once"
    assert sorted(whole.trained_) == sorted(unordered(pairs)), "the first fit has all pairs"
    assert whole.asked_ == []
    assert sorted(model.calibration_rows_.tolist()) == list(range(n))


def test_attributes_belong_together():
    pairs, y = games(3, 40, 9)
    model = CalibratedPairClassifier(Diary()).fit(pairs, y)
    rows, folds = model.calibration_rows_, model.calibration_folds_
    assert unordered(model.calibration_pairs_) == unordered(pairs[rows])
    difference = pairs.objects[pairs.first, 0] - pairs.objects[pairs.second, 0]
    assert (model.calibration_decisions_ == difference[rows]).all()
    for number, (_, test) in enumerate(PairKFold(5, new=(0, 1, 2)).split(pairs)):
        assert sorted(rows[folds == number]) == test.tolist()


@pytest.mark.parametrize(
    ("cv", "n_fits"),
    [
        (3, 3),
        (ObjectKFold(3, new=(1, 2)), 3),
        (ObjectKFold(3), 3),
        (Repeated(PairKFold(4), 2), 8),
        ([(np.arange(20), np.arange(30, 40)), (np.arange(30, 40), np.arange(20))], 2),
    ],
)
@pytest.mark.filterwarnings("ignore:.*held-out pairs were trained on")
def test_any_splitter(cv, n_fits):
    pairs, y = games(5, 60, 12)
    model = CalibratedPairClassifier(Diary(), cv=cv).fit(pairs, y)
    assert len(Diary.fits) == n_fits + 1
    splits = cv if isinstance(cv, list) else None
    if splits is None and not isinstance(cv, int):
        splits = list(cv.split(pairs, y))
    if splits is not None:
        wanted = sorted(np.concatenate([test for _, test in splits]).tolist())
        assert sorted(model.calibration_rows_.tolist()) == wanted


def test_times_and_groups_reach_the_splitter():
    pairs, y = games(6, 40, 9)
    day = np.arange(40)[::-1] // 2
    model = CalibratedPairClassifier(Diary(), cv=TimeSplit(3)).fit(pairs, y, groups=day)
    held = set(model.calibration_rows_.tolist())
    assert held == {
        row for _, test in TimeSplit(3).split(pairs, groups=day) for row in test.tolist()
    }
    assert max(day[list(set(range(40)) - held)]) < min(day[list(held)])


def test_a_pair_that_is_held_out_twice_counts_once():
    pairs, y = games(7, 40, 9)
    y[:6] = -y[:6]
    once = CalibratedPairClassifier(Diary(), cv=PairKFold(4, new=(0, 1, 2))).fit(pairs, y)
    cv = Repeated(PairKFold(4, new=(0, 1, 2)), 3)
    thrice = CalibratedPairClassifier(Diary(), cv=cv).fit(pairs, y)
    assert len(thrice.calibration_rows_) == 3 * len(once.calibration_rows_) == 120
    assert thrice.slope_ == pytest.approx(once.slope_, rel=1e-9)


def test_rows_of_weight_zero_are_not_there():
    pairs, y = games(8, 60, 12)
    y[:12] = -y[:12]
    weights = np.random.default_rng(8).integers(0, 3, size=60).astype(float)
    counted = np.flatnonzero(weights)
    model = CalibratedPairClassifier(Diary()).fit(pairs, y, sample_weight=weights)
    other = CalibratedPairClassifier(Diary()).fit(pairs[counted], y[counted], weights[counted])
    assert model.slope_ == other.slope_
    assert (model.calibration_rows_ == counted[other.calibration_rows_]).all()
    assert (Diary.fits[0].weights_ == weights[counted]).all()
    splits = list(PairKFold(4, new=(0, 1, 2)).split(pairs))
    ready = CalibratedPairClassifier(Diary(), cv=splits).fit(pairs, y, sample_weight=weights)
    assert set(ready.calibration_rows_) == set(counted)


def test_weights_of_ones_change_nothing():
    pairs, y = games(9, 40, 9)
    y[:7] = -y[:7]
    plain = CalibratedPairClassifier(Diary()).fit(pairs, y)
    weighted = CalibratedPairClassifier(Diary()).fit(pairs, y, sample_weight=np.ones(40))
    assert weighted.slope_ == plain.slope_


# Folds that cannot serve --------------------------------------------------------------------------


def test_a_splitter_that_leaks_is_reported():
    pairs, y = games(10, 60, 5)
    cv = KFold(5, shuffle=True, random_state=0)
    with pytest.warns(CalibrationWarning, match=r"\d+ held-out pairs were trained on in the other"):
        CalibratedPairClassifier(Diary(), cv=cv).fit(pairs, y)
    alone = Pairs.complete(np.arange(8.0)[:, np.newaxis])
    CalibratedPairClassifier(Diary(), cv=cv).fit(alone, np.full(len(alone), -1))


def test_rows_on_both_sides_are_refused():
    pairs, y = games(11, 20, 6)
    with pytest.raises(ValueError, match="got 5 rows on both sides of fold 0; expected none"):
        CalibratedPairClassifier(Diary(), cv=[(np.arange(15), np.arange(10, 20))]).fit(pairs, y)


def symmetric_with_rare_matches():
    """Pairs of 8 objects on a line; two of those that are 4 and more apart match."""
    pairs = Pairs.complete(np.arange(8.0)[:, np.newaxis])
    y = np.full(len(pairs), -1)
    y[[3, 4]] = 1
    return pairs, y


def test_a_fold_of_one_class_is_left_out_and_named():
    pairs, y = symmetric_with_rare_matches()
    rows = np.arange(len(pairs))
    cv = [(rows[10:], rows[:10]), (np.delete(rows, [0, 3]), rows[[0, 3]])]
    with pytest.warns(CalibrationWarning, match="fold 0 of 2 trains on one class only"):
        model = CalibratedPairClassifier(Diary("symmetric"), cv=cv).fit(pairs, y)
    assert model.calibration_rows_.tolist() == [0, 3]
    assert (model.calibration_folds_ == 1).all()
    with pytest.raises(
        ValueError, match=r"one class only in the training pairs of every fold \(0\)"
    ):
        CalibratedPairClassifier(Diary("symmetric"), cv=cv[:1]).fit(pairs, y)


def test_default_folds_share_out_a_rare_class():
    pairs, y = symmetric_with_rare_matches()
    model = CalibratedPairClassifier(Diary("symmetric")).fit(pairs, y)
    assert len(model.calibration_rows_) == len(pairs)


@pytest.mark.parametrize("labels", [(-1, 1), (0, 1), ("lost", "won")])
def test_an_antisymmetric_fold_of_one_label_is_no_problem(labels):
    pairs, y = games(12, 40, 9)
    machine = PairSVC("antisymmetric", kernel="linear")
    flip = y < 0
    first = np.where(flip, pairs.second, pairs.first)
    second = np.where(flip, pairs.first, pairs.second)
    winners_first = Pairs(pairs.objects, first, second)
    named = np.full(40, labels[1], dtype=np.asarray(labels).dtype)
    named[0] = labels[0]  # one upset, which only one fold holds out
    model = CalibratedPairClassifier(machine).fit(winners_first, named)
    mirrored = Pairs(pairs.objects, pairs.first, pairs.second)
    same = np.where(flip, labels[0], labels[1])
    same[0] = labels[0] if same[0] == labels[1] else labels[1]
    other = CalibratedPairClassifier(machine).fit(mirrored, same)
    assert model.slope_ == pytest.approx(other.slope_, rel=1e-3)
    assert model.classes_.tolist() == list(labels)


@pytest.mark.parametrize("wrap", [CalibratedPairClassifier, PairDrawClassifier])
def test_a_search_is_made_once_and_its_choice_kept_on_folds(wrap, monkeypatch):
    pairs, y = games(8, 60, 12)
    made, search = [], PairLogisticCV("antisymmetric", kernel="linear", Cs=[0.01, 1.0], cv=3)
    plain = PairLogisticCV.fit
    monkeypatch.setattr(
        PairLogisticCV, "fit", lambda self, *args, **kw: made.append(1) or plain(self, *args, **kw)
    )
    model = wrap(search, cv=4).fit(pairs, y)
    assert made == [1]
    machine = clone(model.estimator_.best_estimator_)
    for number in range(4):
        held = model.calibration_rows_[model.calibration_folds_ == number]
        others = np.setdiff1d(np.arange(len(pairs)), held)
        expected = clone(machine).fit(pairs[others], y[others]).decision_function(pairs[held])
        found = model.calibration_decisions_[model.calibration_folds_ == number]
        np.testing.assert_allclose(found, expected)


def test_the_automatic_model_is_fitted_again_without_a_search():
    """Its members on other pairs, with the settings, calibrations and weights found before."""
    pairs, y = games(9, 400, 14)
    automatic = PairClassifierCV("antisymmetric", cv=3).fit(pairs[:300], y[:300])
    again = automatic.refitted(pairs[:300], y[:300])
    assert again is not automatic
    for some in (pairs, pairs.swap()):
        np.testing.assert_allclose(
            again.decision_function(some), automatic.decision_function(some), atol=1e-6
        )
    other = automatic.refitted(pairs[300:], y[300:])
    assert other.weights_ == automatic.weights_
    assert not np.allclose(other.decision_function(pairs), automatic.decision_function(pairs))
    assert (other.decision_function(pairs) == -other.decision_function(pairs.swap())).all()
    assert automatic.members_["linear"].model is not again.members_["linear"].model
