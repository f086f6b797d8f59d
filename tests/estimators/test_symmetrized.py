"""Symmetrized: the swap law with ==, around whatever is inside."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import estimator_checks_generator

import cases
import pairity
from declared_checks import CANNOT_BE_HALVED, EQUAL_HALVES, ODD_WIDTH, SELF_PAIRS, run_check
from pairity import CalibratedPairClassifier, PairDrawClassifier, Pairs, Symmetrized
from pairity.estimators.past_rates import PRIOR, PastRates, out_of_fold
from pairity.exceptions import ModelFileError
from pairity.inspection import rank_objects
from pairity.model_selection import PairKFold
from pairity.pairs.parity import Parity


def lopsided(first, second, symmetric=None, antisymmetric=None):
    """A function of two objects without any law."""
    score = np.sin(first[:, 0]) - 0.3 * second[:, 1] + first[:, 0] * second[:, 1]
    return score if symmetric is None else score + symmetric[:, 0] + antisymmetric[:, 0]


CLASSIFIERS = {
    "logistic": LogisticRegression(),
    "forest": RandomForestClassifier(8, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=3),
    "network": MLPClassifier((6,), max_iter=15, random_state=0),
    "neighbours": KNeighborsClassifier(3),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "margin": LinearSVC(),
    "function": lopsided,
}
REGRESSORS = {
    "ridge": Ridge(),
    "forest": RandomForestRegressor(8, random_state=0),
    "boosting": HistGradientBoostingRegressor(max_iter=8, min_samples_leaf=3),
    "network": MLPRegressor(hidden_layer_sizes=(6,), max_iter=15, random_state=0),
}
OPTIONS = [{}, {"orders": "random", "features": "derived"}, {"features": "all", "ids": "rates"}]
SIGNS = {"symmetric": 1.0, "antisymmetric": -1.0}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def values_of(model, pairs):
    return (model.decision_function if is_classifier(model) else model.predict)(pairs)


@pytest.mark.parametrize("options", OPTIONS, ids=["plain", "random-derived", "all-rates"])
@pytest.mark.parametrize("symmetry", SIGNS)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_swap_law_of_classifiers(name, symmetry, options):
    pairs, y = cases.random_pairs(1, n=50, m=11), cases.random_labels(1, 50)
    model = Symmetrized(CLASSIFIERS[name], symmetry, **options).fit(pairs, y)
    new = cases.random_pairs(2, n=40, m=9)
    decisions = model.decision_function(new)
    assert (decisions == SIGNS[symmetry] * model.decision_function(new.swap())).all()
    assert np.ptp(decisions) > 0.0
    for row in range(5):
        alone = model.decision_function(new[row])
        assert (alone == SIGNS[symmetry] * model.decision_function(new[row].swap())).all()
    if symmetry == "antisymmetric":
        itself = Pairs(new.objects, [0, 1], [0, 1], new.symmetric[:2], np.zeros((2, 2)))
        assert (model.decision_function(itself) == 0.0).all()


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name != "margin"])
def test_probabilities_add_up_to_one(name):
    pairs, y = cases.random_pairs(1, n=50, m=11), cases.random_labels(1, 50)
    model = Symmetrized(CLASSIFIERS[name], "antisymmetric").fit(pairs, y)
    both = cases.random_pairs(2, n=40, m=9).with_mirrored()  # in one table too
    there, back = np.split(model.predict_proba(both)[:, 1], 2)
    assert (there + back == 1.0).all()
    assert (model.predict_proba(both).sum(axis=1) == 1.0).all()
    assert np.allclose(model.predict_log_proba(both), np.log(model.predict_proba(both)))


@pytest.mark.parametrize("options", OPTIONS, ids=["plain", "random-derived", "all-rates"])
@pytest.mark.parametrize("symmetry", SIGNS)
@pytest.mark.parametrize("name", REGRESSORS)
def test_swap_law_of_regressors(name, symmetry, options):
    pairs, y = cases.random_pairs(1, n=50, m=11), cases.random_targets(1, 50)
    model = Symmetrized(REGRESSORS[name], symmetry, **options).fit(pairs, y)
    new = cases.random_pairs(2, n=40, m=9)
    assert (model.predict(new) == SIGNS[symmetry] * model.predict(new.swap())).all()
    assert not hasattr(model, "decision_function")
    assert not hasattr(model, "predict_proba")


@given(seed=st.integers(0, 10**6), turned=st.lists(st.booleans(), min_size=20, max_size=20))
@settings(max_examples=10, deadline=None)
def test_the_order_in_which_rows_are_written_changes_nothing(seed, turned):
    pairs, y = cases.random_pairs(seed, n=20), cases.random_labels(seed, 20)
    turned = np.array(turned)
    rewritten, labels = pairs.with_swapped(turned), np.where(turned, -y, y)
    for options in OPTIONS:
        plain = Symmetrized(LogisticRegression(), "antisymmetric", **options)
        other = clone(plain).fit(rewritten, labels).decision_function(pairs)
        assert (plain.fit(pairs, y).decision_function(pairs) == other).all()


def test_log_odds_are_means_of_both_orders():
    pairs, y = cases.random_pairs(3, n=40), cases.random_labels(3, 40)
    for symmetry, sign in SIGNS.items():
        model = Symmetrized(LogisticRegression(), symmetry).fit(pairs, y)
        rows = np.vstack([pairs.to_rows(), pairs.swap().to_rows()])
        twin = LogisticRegression().fit(rows, np.concatenate([y, sign * y]))
        there, back = np.split(twin.decision_function(rows), 2)
        expected = (there + sign * back) / 2.0
        assert np.allclose(model.decision_function(pairs), expected, atol=1e-3)


def test_certain_probabilities_are_finite_log_odds():
    pairs, y = cases.random_pairs(3, n=40), cases.random_labels(3, 40)
    model = Symmetrized(KNeighborsClassifier(1), "antisymmetric").fit(pairs, y)
    assert np.isclose(np.abs(model.decision_function(pairs)).max(), np.log(81.0))  # 1/82 of 80 rows


def test_a_function_is_used_as_it_is():
    pairs, y = cases.random_pairs(3, n=40, widths=(2, 0, 0)), cases.random_labels(3, 40)
    model = Symmetrized(lopsided, "antisymmetric").fit(pairs, y)
    ends = pairs.objects[pairs.first], pairs.objects[pairs.second]
    expected = (lopsided(*ends) - lopsided(*ends[::-1])) / 2.0
    assert np.allclose(model.decision_function(pairs), expected)
    regression = Symmetrized(lopsided, "symmetric", task="regression").fit(pairs, expected)
    assert is_regressor(regression)
    assert regression.predict(pairs).shape == (40,)


def test_features_of_a_pair_can_be_given():
    pairs, y = cases.random_pairs(3, n=40), cases.random_labels(3, 40)

    def distance(some):
        gap = some.objects[some.first] - some.objects[some.second]
        return np.linalg.norm(gap, axis=1)[:, np.newaxis]

    model = Symmetrized(LogisticRegression(), "symmetric", features=distance).fit(pairs, y)
    twin = LogisticRegression().fit(distance(pairs), y)  # the same in both orders: given once
    assert np.allclose(model.decision_function(pairs), twin.decision_function(distance(pairs)))
    with pytest.raises(ValueError, match="one row a pair"):
        Symmetrized(LogisticRegression(), "symmetric", features=lambda some: [1.0]).fit(pairs, y)


def test_no_law_asks_about_pairs_as_they_are():
    pairs, y = cases.random_pairs(3, n=40), cases.random_labels(3, 40)
    model = Symmetrized(LogisticRegression(), "none").fit(pairs, y)
    twin = LogisticRegression().fit(pairs.to_rows(), y)
    assert np.allclose(model.decision_function(pairs), twin.decision_function(pairs.to_rows()))


# Past rates --------------------------------------------------------------------------------------


def test_rates_by_hand():
    pairs = Pairs(np.zeros((3, 0)), [0, 0, 1], [1, 2, 2], ids=["a", "b", "c"])
    rates = PastRates.of(pairs, np.array([1.0, 1.0, -1.0]), np.ones(3), Parity.ODD)
    there, back = rates.apply(Pairs(np.zeros((2, 0)), [0, 1], [1, 0], ids=["a", "new"]))
    assert np.allclose(there[0], [2.0 / (2.0 + PRIOR), np.log(3.0)])
    assert np.allclose(back[0], [0.0, 0.0])
    assert np.allclose(there[1], back[0])


def test_no_label_describes_itself():
    """Flipping the label of one pair leaves the rates that this pair is trained with alone."""
    pairs, y = cases.random_pairs(5, n=30, m=10), cases.random_targets(5, 30)
    before = out_of_fold(pairs, y, np.ones(30), Parity.ODD, 0)
    y[7] = -y[7]
    after = out_of_fold(pairs, y, np.ones(30), Parity.ODD, 0)
    assert all((one[7] == two[7]).all() for one, two in zip(before, after, strict=True))
    assert any((one != two).any() for one, two in zip(before, after, strict=True))


def test_one_end_is_shown_as_new():
    pairs, y = cases.random_pairs(3, n=30, m=8), cases.random_labels(3, 30).astype(float)
    weights = np.ones(30)
    both = out_of_fold(pairs, y, weights, Parity.EVEN, 0)
    one = out_of_fold(pairs, y, weights, Parity.EVEN, 0, one_new=True)
    hidden = [(side == (y.mean(), 0.0)).all(axis=1) for side in one]
    assert (hidden[0] | hidden[1]).all()
    assert 5 < hidden[0].sum() < 25
    for side, plain, is_new in zip(one, both, hidden, strict=True):
        assert (side[~is_new] == plain[~is_new]).all()


def test_ids_are_learnt_through_rates():
    rng = np.random.default_rng(0)
    strength = rng.normal(size=30)
    first = rng.integers(30, size=600)
    second = (first + rng.integers(1, 30, size=600)) % 30
    y = np.where(strength[first] > strength[second], 1, -1)
    pairs = Pairs(np.zeros((30, 0)), first, second, ids=[f"p{i}" for i in range(30)])
    trees = HistGradientBoostingClassifier(max_iter=30)
    model = Symmetrized(trees, "antisymmetric", ids="rates").fit(pairs[:400], y[:400])
    assert model.score(pairs[400:], y[400:]) > 0.85


# With everything that takes a model --------------------------------------------------------------


def test_works_where_models_of_pairs_do():
    pairs = cases.random_pairs(1, n=80, m=11)
    y = np.where(pairs.objects[pairs.first, 0] > pairs.objects[pairs.second, 0], 1, -1)
    inner = Symmetrized(LogisticRegression(), "antisymmetric")
    assert len(cross_val_score(inner, pairs, y, cv=PairKFold(3, new=(0, 1, 2)))) == 3
    grid = GridSearchCV(inner, {"estimator__C": [0.1, 1.0]}, cv=PairKFold(3, new=(0, 1, 2)))
    assert grid.fit(pairs, y).best_estimator_.symmetry == "antisymmetric"
    calibrated = CalibratedPairClassifier(inner).fit(pairs, y)
    there, back = (calibrated.predict_proba(side)[:, 1] for side in (pairs, pairs.swap()))
    assert (there + back == 1.0).all()
    drawn = PairDrawClassifier(inner).fit(pairs, np.where(np.arange(80) % 3, y, 0))
    assert (drawn.predict_proba(pairs) == drawn.predict_proba(pairs.swap())[:, ::-1]).all()
    plain = cases.random_pairs(1, n=80, m=11, widths=(3, 0, 0))
    ranking = rank_objects(clone(inner).fit(plain, y), plain.objects)
    assert len(ranking.scores) == 11


def test_pickling_and_weights():
    pairs, y = cases.random_pairs(1, n=50, m=11), cases.random_labels(1, 50)
    model = Symmetrized(make_pipeline(StandardScaler(), LogisticRegression()), "antisymmetric")
    model.fit(pairs, y, sample_weight=np.linspace(0.5, 2.0, 50))
    again = pickle.loads(pickle.dumps(model))
    assert (again.decision_function(pairs) == model.decision_function(pairs)).all()
    assert (
        clone(model).fit(pairs, y).decision_function(pairs) != again.decision_function(pairs)
    ).any()
    with pytest.raises(ValueError, match="takes none"):
        Symmetrized(KNeighborsClassifier(), "antisymmetric").fit(pairs, y, np.ones(50))


SAVED = [
    LogisticRegression(),
    Ridge(),
    make_pipeline(StandardScaler(), LogisticRegression()),
    HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=3),
    HistGradientBoostingRegressor(max_iter=8, min_samples_leaf=3),
]


@pytest.mark.parametrize("options", OPTIONS[::2], ids=["plain", "all-rates"])
@pytest.mark.parametrize("estimator", SAVED, ids=lambda one: type(one).__name__)
def test_saving(estimator, options, tmp_path):
    pairs, new = cases.random_pairs(1, n=50, m=11), cases.random_pairs(2, n=40, m=9)
    classifies = is_classifier(estimator)
    y = cases.random_labels(1, 50) if classifies else cases.random_targets(1, 50)
    model = Symmetrized(estimator, "antisymmetric", **options).fit(pairs, y)
    paths = tmp_path / "one", tmp_path / "two"
    pairity.save(model, paths[0])
    again = pairity.load(paths[0])
    assert (values_of(again, new) == values_of(model, new)).all()
    pairity.save(again, paths[1])
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("name", ["forest", "network", "neighbours", "function"])
def test_what_cannot_be_saved_is_refused_in_a_sentence(name, tmp_path):
    pairs, y = cases.random_pairs(1, n=50, m=11), cases.random_labels(1, 50)
    model = Symmetrized(CLASSIFIERS[name], "antisymmetric").fit(pairs, y)
    with pytest.raises(ModelFileError, match=r"Symmetrized\.estimator"):
        pairity.save(model, tmp_path / "model")


@pytest.mark.parametrize(
    ("estimator", "options", "message"),
    [
        (LogisticRegression, {}, "write LogisticRegression()"),
        (StandardScaler(), {}, "expected"),
        (3, {}, "expected a classifier"),
        (Ridge(), {"task": "classification"}, "expected a classifier"),
        (LogisticRegression(), {"task": "regression"}, "expected a regressor"),
        (LogisticRegression(), {"orders": "one"}, "got orders='one'"),
        (LogisticRegression(), {"features": "wide"}, "got features='wide'"),
        (LogisticRegression(), {"ids": "all"}, "got ids='all'"),
        (lambda first, second: first, {}, "one finite number"),
    ],
)
def test_refusals(estimator, options, message):
    pairs, y = cases.random_pairs(1, n=20, widths=(2, 0, 0)), cases.random_labels(1, 20)
    with pytest.raises(ValueError, match=message):
        Symmetrized(estimator, "antisymmetric", **options).fit(pairs, y).predict(pairs)


# scikit-learn's own checks -----------------------------------------------------------------------


def checks():
    for estimator in (LogisticRegression(solver="newton-cg", tol=1e-12), Ridge()):
        for symmetry in ("none", *SIGNS):
            model = Symmetrized(estimator, symmetry)
            for one, check in estimator_checks_generator(model):
                name = check.func.__name__
                reason = None
                if symmetry == "antisymmetric" and name in SELF_PAIRS:
                    reason = EQUAL_HALVES
                if symmetry != "none" and name in ODD_WIDTH:
                    reason = CANNOT_BE_HALVED
                label = f"{type(estimator).__name__}-{symmetry}-{name}"
                yield pytest.param(one, check, reason, id=label)


@pytest.mark.filterwarnings("ignore::pairity.exceptions.SwapLawWarning")  # scaled by the checks
@pytest.mark.filterwarnings("ignore::pairity.exceptions.DoubledRowsWarning")
@pytest.mark.parametrize(("estimator", "check", "reason"), list(checks()))
def test_check(estimator, check, reason):
    run_check(estimator, check, reason)
