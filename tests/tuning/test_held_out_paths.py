"""Decisions on folds along a path, against models fitted one by one."""

import numpy as np
import pytest

import cases
from pairity import (
    PairLogistic,
    PairLogisticCV,
    PairRidge,
    PairRidgeCV,
    Pairs,
    PairSVC,
    PairSVCCV,
)
from pairity.exceptions import PairityWarning
from pairity.kernels import Gaussian, Tensor
from pairity.model_selection import ObjectKFold, PairKFold, strength_paths
from pairity.model_selection.strength_paths import Candidate, HeldOutPath, Patience, paths_of
from pairity.operators.restricted import Copied
from pairity.operators.tiles import Tiles
from pairity.runtime.resources import Budget

#: Labels in these tests are noisy, and some folds say little about others.
pytestmark = pytest.mark.filterwarnings("ignore::pairity.exceptions.CalibrationWarning")

CS = (0.1, 1.0, 10.0)


def labelled(seed, symmetry, n=60, m=14):
    pairs = cases.distinct_pairs(seed, n=n, m=m, widths=(3, 1, 1))
    score = pairs.objects[:, 0]
    first, second = score[pairs.first], score[pairs.second]
    value = first - second if symmetry == "antisymmetric" else first * second
    rng = np.random.default_rng(seed)
    return pairs, value + 0.3 * rng.normal(size=n)


def fitted_one_by_one(make, pairs, y, splits, method):
    """Decisions about held-out rows by plain fits, fold after fold."""
    return np.concatenate(
        [getattr(make().fit(pairs[train], y[train]), method)(pairs[test]) for train, test in splits]
    )


@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric", "none"])
@pytest.mark.parametrize("kernel", [Gaussian(1.5), Gaussian(1.5) + Tensor(Gaussian(0.7))], ids=str)
def test_decisions_of_folds_are_those_of_plain_fits(symmetry, kernel):
    pairs, value = labelled(1, symmetry)
    y = np.where(value > 0, 1, -1)
    splits = list(PairKFold(3, new=(0, 1, 2)).split(pairs, y))
    search = PairSVCCV(symmetry, kernel=kernel, Cs=CS, cv=splits, path_tol=1e-6).fit(pairs, y)
    C = search.best_params_["C"]
    expected = fitted_one_by_one(
        lambda: PairSVC(symmetry, kernel=kernel, C=C, tol=1e-6),
        pairs,
        y,
        splits,
        "decision_function",
    )
    np.testing.assert_allclose(search.held_out_decisions_, expected, atol=2e-5)
    assert np.array_equal(search.held_out_rows_, np.concatenate([test for _, test in splits]))


@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
def test_a_dense_grid_is_followed_too(symmetry):
    """All pairs of 80 objects: rounds on the grid of all objects, whatever the fold."""
    rng = np.random.default_rng(0)
    pairs = Pairs.complete(rng.normal(size=(80, 4)))
    matrix = rng.normal(size=(4, 4))
    matrix = matrix - matrix.T if symmetry == "antisymmetric" else matrix + matrix.T
    x = pairs.objects
    y = np.where(np.einsum("ni,ij,nj->n", x[pairs.first], matrix, x[pairs.second]) > 0, 1, -1)
    splits = list(ObjectKFold(3).split(pairs, y))
    search = PairSVCCV(symmetry, kernel=Gaussian(3.0), Cs=[1.0], cv=splits, path_tol=1e-3).fit(
        pairs, y
    )
    expected = fitted_one_by_one(
        lambda: PairSVC(symmetry, kernel=Gaussian(3.0), C=1.0),
        pairs,
        y,
        splits,
        "decision_function",
    )
    np.testing.assert_allclose(search.held_out_decisions_, expected, atol=0.02)


@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
def test_folds_with_matrices_of_their_own_decide_as_plain_fits(symmetry, monkeypatch):
    """More pairs than are factored: conjugate gradients in single precision."""
    made = []
    monkeypatch.setattr(
        strength_paths,
        "Copied",
        lambda operator, chosen: made.append(len(chosen)) or Copied(operator, chosen),
    )
    pairs, value = labelled(5, symmetry, n=1000, m=60)
    y = np.where(value > 0, 1, -1)
    splits = list(PairKFold(3, new=(0, 1, 2)).split(pairs, y))
    kernel = Gaussian(1.5) + Tensor(Gaussian(0.7))
    search = PairLogisticCV(symmetry, kernel=kernel, Cs=CS, cv=splits, path_tol=1e-3)
    search.fit(pairs, y)
    assert made == [len(train) for train, _ in splits]
    C = search.best_params_["C"]
    expected = fitted_one_by_one(
        lambda: PairLogistic(symmetry, kernel=kernel, C=C, tol=1e-5),
        pairs,
        y,
        splits,
        "decision_function",
    )
    np.testing.assert_allclose(search.held_out_decisions_, expected, atol=0.02)


def appearances(seed=0, n=400):
    """Pairs of objects that appear once, with group features, and labels."""
    rng = np.random.default_rng(seed)
    first, second = np.arange(n), np.arange(n, 2 * n)
    objects, context, home = (
        rng.normal(size=(2 * n, 3)),
        rng.normal(size=(n, 1)),
        rng.normal(size=n),
    )
    pairs = Pairs(objects, first, second, context, home[:, np.newaxis])
    value = np.sin(objects[first, 0]) - np.sin(objects[second, 0]) + 0.5 * home
    return pairs, np.where(value + 0.4 * rng.normal(size=n) > 0, 1, -1)


def counting(monkeypatch, kind, name):
    """Count the calls of a method, of every instance of a class."""
    calls, plain = [], getattr(kind, name)
    monkeypatch.setattr(kind, name, lambda *given: calls.append(given) or plain(*given))
    return calls


@pytest.mark.parametrize("search", [PairLogisticCV, PairSVCCV, PairRidgeCV])
def test_sums_of_families_of_many_pairs_are_validated_in_the_span_of_landmarks(search, monkeypatch):
    """Folds take no products with the matrix of all pairs; the fit that is kept is exact."""
    monkeypatch.setattr(strength_paths, "_FEW_PAIRS", 300)
    monkeypatch.setattr(strength_paths, "_LANDMARKS", 60)
    monkeypatch.setattr("pairity.operators.restricted.FEW_PAIRS", 300)
    monkeypatch.setattr("pairity.operators.blockwise._MOST_RESIDENT", 300)
    pairs, y = appearances()
    products = counting(monkeypatch, Tiles, "_product")
    seen = []
    path = search._fit_kept
    monkeypatch.setattr(
        search, "_fit_kept", lambda *given: seen.append(len(products)) or path(*given)
    )
    model = search("antisymmetric").fit(pairs, y)
    assert model.combination_.weights.keys() - {"linear", "identity"}
    assert seen == [0]
    assert len(products) > 0
    assert model.certificate_.holds
    assert np.array_equal(
        model.best_estimator_.predict(pairs.swap()), -model.best_estimator_.predict(pairs)
    )


def test_landmarks_that_are_all_pairs_decide_as_the_exact_path(monkeypatch):
    pairs, y = appearances()
    exact = PairLogisticCV("antisymmetric", Cs=CS, patience=None).fit(pairs, y)
    monkeypatch.setattr(strength_paths, "_FEW_PAIRS", 300)
    spanned = PairLogisticCV("antisymmetric", Cs=CS, patience=None).fit(pairs, y)
    assert spanned.combination_.weights == exact.combination_.weights
    scores = [search.cv_results_["mean_test_score"] for search in (exact, spanned)]
    np.testing.assert_allclose(*scores, atol=0.01)


def test_a_kernel_of_the_user_is_validated_exactly(monkeypatch):
    monkeypatch.setattr(strength_paths, "_FEW_PAIRS", 300)
    monkeypatch.setattr(strength_paths, "Expanded", None)  # would fail
    pairs, y = appearances()
    assert (
        PairLogisticCV("antisymmetric", kernel=Gaussian(0.5), Cs=CS).fit(pairs, y).best_score_ < 0
    )


def test_fewer_landmarks_within_little_memory_are_said():
    with pytest.warns(PairityWarning, match="50 of 400 landmark pairs"):
        assert len(strength_paths._landmarks(10_000, Budget(20.0))) == 50
    assert len(strength_paths._landmarks(10_000, Budget(1000.0))) == 400


@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
def test_logistic_and_ridge_follow_their_paths(symmetry):
    pairs, value = labelled(2, symmetry)
    y = np.where(value > 0, 1, -1)
    splits = list(PairKFold(3, new=(0, 1, 2)).split(pairs, y))
    search = PairLogisticCV(symmetry, kernel=Gaussian(1.5), Cs=CS, cv=splits, path_tol=1e-9).fit(
        pairs, y
    )
    expected = fitted_one_by_one(
        lambda: PairLogistic(symmetry, kernel=Gaussian(1.5), C=search.best_params_["C"], tol=1e-9),
        pairs,
        y,
        splits,
        "decision_function",
    )
    np.testing.assert_allclose(search.held_out_decisions_, expected, atol=1e-6)
    ridge = PairRidgeCV(symmetry, kernel=Gaussian(1.5), alphas=CS, cv=splits).fit(pairs, value)
    expected = fitted_one_by_one(
        lambda: PairRidge(
            symmetry, kernel=Gaussian(1.5), alpha=ridge.best_params_["alpha"], fit_intercept=True
        ),
        pairs,
        value,
        splits,
        "predict",
    )
    np.testing.assert_allclose(ridge.held_out_decisions_, expected, atol=1e-9)


def test_a_held_out_label_does_not_touch_its_own_decision():
    pairs, value = labelled(3, "antisymmetric")
    y = np.where(value > 0, 1, -1)
    splits = list(PairKFold(3, new=(0, 1, 2)).split(pairs, y))
    flipped = y.copy()
    flipped[splits[1][1]] *= -1
    one, two = (
        PairSVCCV("antisymmetric", kernel=Gaussian(1.0), Cs=[1.0], cv=splits).fit(pairs, labels)
        for labels in (y, flipped)
    )
    place = np.isin(one.held_out_rows_, splits[1][1])
    assert np.array_equal(one.held_out_decisions_[place], two.held_out_decisions_[place])
    assert not np.array_equal(one.held_out_decisions_[~place], two.held_out_decisions_[~place])


def test_rows_of_weight_zero_are_not_there():
    pairs, value = labelled(4, "antisymmetric")
    y = np.where(value > 0, 1, -1)
    weights = np.ones(len(y))
    weights[::4] = 0.0
    kept = weights > 0
    one = PairSVCCV("antisymmetric", Cs=CS, tol=1e-9).fit(pairs, y, sample_weight=weights)
    two = PairSVCCV("antisymmetric", Cs=CS, tol=1e-9).fit(pairs[kept], y[kept])
    assert one.best_params_["C"] == two.best_params_["C"]
    np.testing.assert_allclose(
        one.decision_function(pairs), two.decision_function(pairs), atol=1e-6
    )


def test_variants_are_tried_near_the_best_strength_and_dropped_when_worse():
    """Made-up paths: decisions are their own scores, one fold of one row."""
    factors, asked = [10.0, 0.1, 1.0], []
    scores = {"base": {0.1: 1.0, 1.0: 3.0, 10.0: 2.0}, "better": {0.1: 0.0, 1.0: 4.0, 10.0: 5.0}}
    scores["worse"] = dict.fromkeys(factors, 2.5)

    def follow(kernel, some):
        asked.append((kernel, tuple(some)))
        decisions = [[np.array([scores[kernel][factor]])] for factor in some]
        starts = {place: np.array([factor]) for place, factor in enumerate(some)}
        return HeldOutPath(decisions, np.zeros((len(some), 1)), starts)

    def score(by_fold):
        return np.concatenate(by_fold)

    base, better = Candidate("base"), Candidate("better", 0)
    found = paths_of([base, better], factors, follow, score)
    assert found[1].means(score).tolist() == [5.0, 0.0, 4.0]
    assert asked == [("base", tuple(factors)), ("better", (1.0,)), ("better", (0.1, 1.0, 10.0))]
    assert [found[1].starts[place].item() for place in range(3)] == factors
    asked.clear()
    found = paths_of([base, Candidate("worse", 0), better], factors, follow, score)
    assert asked == [("base", tuple(factors)), ("worse", (1.0,))]
    assert found[1].means(score).tolist() == [-np.inf, -np.inf, 2.5]
    assert found[2].means(score).tolist() == [-np.inf] * 3
    assert found[1].starts == {2: np.array([1.0])}
    assert found[2].starts == {}


@pytest.mark.parametrize("search", [PairSVCCV, PairLogisticCV])
def test_dual_variables_are_kept_where_a_fit_begins_from_them(search, monkeypatch):
    """Those of all kernels, strengths and pairs would be much of a small memory."""
    found = []

    def seen(*arguments):
        found.append(strength_paths.held_out_path(*arguments))
        return found[-1]

    monkeypatch.setattr("pairity.model_selection.search.held_out_path", seen)
    monkeypatch.setattr(strength_paths, "_MANY_PAIRS", 0)
    pairs, value = labelled(1, "antisymmetric")
    search("antisymmetric", kernel=Gaussian(1.5), Cs=CS, cv=3).fit(pairs, np.sign(value))
    for path in found:
        n_kept = sum(start.nbytes for start in path.starts.values())
        assert n_kept == (4 * len(pairs) * len(CS) if search is PairLogisticCV else 0)


def test_a_path_ends_where_folds_agree_that_it_is_worse():
    patience = Patience(np.concatenate, 1, None)
    folds = [np.array([1.0]), np.array([5.0])]
    assert not patience(folds)
    assert not patience([np.array([0.0]), np.array([5.5])]), "worse in one fold, better in another"
    assert patience([np.array([0.9]), np.array([4.9])]), "worse in both by the same"
