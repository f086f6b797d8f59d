"""CalibratedPairClassifier: laws with ``==``, honesty of its probabilities, protocol, refusals."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

import cases
from pairity import CalibratedPairClassifier, PairLogistic, PairRidge, Pairs, PairSVC
from pairity.datasets import make_tournament
from pairity.exceptions import CalibrationWarning
from pairity.inspection import rank_objects
from pairity.model_selection import ObjectKFold, PairKFold, log_loss, reliability_curve

METHODS = ["sigmoid", "isotonic"]
pytestmark = pytest.mark.filterwarnings("ignore:the decisions about held-out pairs do not grow")


def probabilities(model, pairs, batch):
    """Probabilities of a few pairs at a time."""
    starts = range(0, len(pairs), batch)
    return np.vstack([model.predict_proba(pairs[start : start + batch]) for start in starts])


# Laws ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
@settings(max_examples=5)
@given(seed=st.integers(0, 10_000), batch=st.sampled_from([1, 3, 100]))
def test_swap_law_of_probabilities(method, symmetry, seed, batch):
    pairs, new = cases.random_pairs(seed, n=30, m=9), cases.random_pairs(seed + 1, n=17, m=30)
    y = cases.random_labels(seed, 30)
    y[:6] = 1, -1, 1, -1, 1, -1
    model = CalibratedPairClassifier(PairSVC(symmetry), method=method).fit(pairs, y)
    there, back = probabilities(model, new, batch), probabilities(model, new.swap(), batch)
    logs = model.predict_log_proba(new), model.predict_log_proba(new.swap())
    assert (there.sum(axis=1) == 1.0).all()
    if symmetry == "symmetric":
        assert (there == back).all()
        assert (logs[0] == logs[1]).all()
        return
    assert (there[:, 1] + back[:, 1] == 1.0).all()
    assert (there == back[:, ::-1]).all()
    assert (logs[0] == logs[1][:, ::-1]).all()
    objects = np.arange(new.n_objects)
    features = np.zeros((new.n_objects, 2))
    alone = Pairs(new.objects, objects, objects, features, features)
    assert (model.predict_proba(alone) == 0.5).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric", "none"])
def test_outputs_agree_with_each_other(method, symmetry):
    pairs, y = cases.random_pairs(5, n=60, m=12), cases.random_labels(5, 60)
    model = CalibratedPairClassifier(PairSVC(symmetry), method=method).fit(pairs, y)
    chances = model.predict_proba(pairs)
    assert ((chances > 0.0) & (chances < 1.0)).all()
    np.testing.assert_allclose(np.exp(model.predict_log_proba(pairs)), chances, rtol=1e-13)
    log_odds = model.decision_function(pairs)
    np.testing.assert_allclose(np.log(chances[:, 1] / chances[:, 0]), log_odds, atol=1e-12)
    decided = log_odds != 0.0
    assert (model.predict(pairs)[decided] == np.where(log_odds > 0, 1, -1)[decided]).all()
    assert (model.predict(pairs)[~decided] == 0).all()
    credit = np.where(decided, model.predict(pairs) == y, 0.5)
    assert model.score(pairs, y) == pytest.approx(credit.mean(), rel=1e-12)
    if method == "sigmoid":
        expected = model.slope_ * model.estimator_.decision_function(pairs) + model.offset_
        assert (log_odds == expected).all()
        assert (model.offset_ == 0.0) == (symmetry == "antisymmetric")
    else:
        assert not hasattr(model, "slope_")


def test_writing_pairs_the_other_way_round_changes_nothing():
    games = make_tournament(21, flipped=0.25, seed=2)
    machine = PairSVC("antisymmetric", kernel="linear", C=0.1, tol=1e-8)
    turned = np.random.default_rng(0).random(len(games.y)) < 0.5
    first = np.where(turned, games.pairs.second, games.pairs.first)
    second = np.where(turned, games.pairs.first, games.pairs.second)
    other = Pairs(games.pairs.objects, first, second)
    one = CalibratedPairClassifier(machine).fit(games.pairs, games.y)
    two = CalibratedPairClassifier(machine).fit(other, np.where(turned, -games.y, games.y))
    assert two.slope_ == pytest.approx(one.slope_, rel=1e-6)


# Do the probabilities mean what they say? ---------------------------------------------------------


def noisy_games(n_objects, seed):
    """P(a beats b) = expit(2 (s_a - s_b)): the truth is known."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(size=n_objects)
    pairs = Pairs.complete(strength[:, np.newaxis])
    truth = 1.0 / (1.0 + np.exp(2.0 * (strength[pairs.second] - strength[pairs.first])))
    return pairs, np.where(rng.random(len(pairs)) < truth, 1, -1), truth


@pytest.mark.parametrize(("method", "off"), [("sigmoid", 0.03), ("isotonic", 0.06)])
def test_a_known_truth_is_found(method, off):
    pairs, y, truth = noisy_games(60, seed=1)
    machine = PairSVC("antisymmetric", kernel="linear", C=0.01)
    model = CalibratedPairClassifier(machine, method=method).fit(pairs, y)
    told = model.predict_proba(pairs)[:, 1]
    assert np.abs(told - truth).mean() < off
    best = log_loss(y, truth)
    assert log_loss(y, told) == pytest.approx(best, abs=0.01)
    curve = reliability_curve(y, told, n_bins=5)
    assert curve.calibration_error < 0.03
    raw = log_loss(y, 1.0 / (1.0 + np.exp(-model.estimator_.decision_function(pairs))))
    assert raw > log_loss(y, told) + 0.01, "without calibration the decisions say too little"


def test_new_objects_make_less_sure():
    """The folds decide what the probabilities hold for."""
    rng = np.random.default_rng(4)
    features = rng.normal(size=(40, 3))
    talent = features[:, 0] + 1.5 * rng.normal(size=40)
    pairs = Pairs.complete(features)
    y = np.where(talent[pairs.first] > talent[pairs.second], 1, -1)
    machine = PairSVC("antisymmetric", kernel="gaussian", C=10.0)
    known = CalibratedPairClassifier(machine, cv=PairKFold(5)).fit(pairs, y)
    new = CalibratedPairClassifier(machine, cv=ObjectKFold(5)).fit(pairs, y)
    assert 0.0 < new.slope_ < 0.7 * known.slope_


def test_a_machine_that_learnt_nothing_is_reported():
    pairs = Pairs.complete(np.random.default_rng(0).normal(size=(12, 2)))
    machine = PairSVC("antisymmetric", kernel="linear")
    upside_down = FunctionTransformer(_swapped_while_training)
    model = CalibratedPairClassifier(make_pipeline(upside_down, machine))
    with pytest.warns(CalibrationWarning, match="do not grow with their labels.* slope is 0"):
        model.fit(pairs, np.where(pairs.objects[pairs.first, 0] > 0, 1, -1))
    assert model.slope_ == 0.0
    assert (model.predict_proba(pairs) == 0.5).all()


def _swapped_while_training(pairs):
    """Pairs the other way round when they are many, as the training pairs of a fold are."""
    return pairs.swap() if len(pairs) > 30 else pairs


# scikit-learn -------------------------------------------------------------------------------------


def test_search_clone_and_pickle():
    games = make_tournament(15, flipped=0.2, seed=3)
    machine = PairSVC("antisymmetric", kernel="linear")
    model = CalibratedPairClassifier(machine, cv=PairKFold(3))
    grid = {"estimator__C": [0.01, 1.0], "method": METHODS}
    search = GridSearchCV(model, grid, cv=PairKFold(3), scoring="neg_log_loss")
    search.fit(games.pairs, games.y)
    assert len(search.cv_results_["mean_test_score"]) == 4
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert machine.C == 1.0, "the estimator given is not touched"
    assert clone(model).get_params()["estimator__C"] == 1.0
    best = search.best_estimator_
    again = pickle.loads(pickle.dumps(best))
    assert (again.predict_proba(games.pairs) == best.predict_proba(games.pairs)).all()
    assert len(cross_val_score(model, games.pairs, games.y, cv=PairKFold(3))) == 3


@pytest.mark.parametrize("wrap", ["pipeline", "search", "search of a pipeline"])
def test_an_estimator_in_a_wrapper(wrap):
    games = make_tournament(15, flipped=0.2, seed=3)
    machine = PairSVC("antisymmetric", kernel="linear")
    wrapped = Pipeline([("same", FunctionTransformer()), ("machine", machine)])
    if wrap == "search":
        wrapped = GridSearchCV(machine, {"C": [0.1, 1.0]}, cv=PairKFold(3))
    if wrap == "search of a pipeline":
        wrapped = GridSearchCV(wrapped, {"machine__C": [0.1, 1.0]}, cv=PairKFold(3))
    weights = np.linspace(0.5, 1.5, len(games.y))
    if wrap == "search of a pipeline":
        weights = None
    model = CalibratedPairClassifier(wrapped).fit(games.pairs, games.y, sample_weight=weights)
    assert model.symmetry == "antisymmetric"
    there, back = model.predict_proba(games.pairs), model.predict_proba(games.pairs.swap())
    assert (there[:, 1] + back[:, 1] == 1.0).all()
    if wrap == "pipeline":
        plain = CalibratedPairClassifier(machine).fit(games.pairs, games.y, sample_weight=weights)
        assert (plain.predict_proba(games.pairs) == there).all()


def test_wide_rows_are_pairs():
    pairs, y = cases.random_pairs(7, n=30, m=9), cases.random_labels(7, 30)
    machine = PairSVC("antisymmetric", n_symmetric=2, n_antisymmetric=2)
    model = CalibratedPairClassifier(machine).fit(pairs.to_rows(), y)
    assert model.n_features_in_ == 8
    chances = model.predict_proba(pairs.to_rows())
    np.testing.assert_allclose(model.predict_proba(pairs), chances, rtol=1e-12)


def test_the_default_is_a_symmetric_machine():
    pairs, y = cases.random_pairs(8, n=30, m=9), cases.random_labels(8, 30)
    model = CalibratedPairClassifier(PairSVC("symmetric")).fit(pairs, y)
    assert model.symmetry == "symmetric"
    assert isinstance(model.estimator_, PairSVC)


def test_logistic_probabilities_can_be_calibrated_too_and_ranked():
    games = make_tournament(15, flipped=0.2, seed=5)
    model = CalibratedPairClassifier(PairLogistic("antisymmetric", kernel="linear"))
    model.fit(games.pairs, games.y)
    ranking = rank_objects(model, games.pairs.objects)
    order = np.argsort(-games.pairs.objects[:, 0])
    assert np.abs(np.argsort(np.argsort(-ranking.scores))[order] - np.arange(15)).max() <= 3


def test_a_second_fit_forgets_the_first():
    pairs, y = cases.random_pairs(9, n=40, m=9), cases.random_labels(9, 40)
    model = CalibratedPairClassifier(PairSVC("symmetric")).fit(pairs, y)
    assert hasattr(model, "slope_")
    model.set_params(method="isotonic").fit(pairs, y)
    assert not hasattr(model, "slope_")
    assert not hasattr(model, "offset_")


# Refusals -----------------------------------------------------------------------------------------

PAIRS, LABELS = cases.random_pairs(10, n=20, m=9), cases.random_labels(10, 20)
SELF_PAIRS = Pairs(np.eye(3), [0, 1, 2], [1, 1, 0])

WRONG = [
    (
        {"method": "platt"},
        PAIRS,
        LABELS,
        "got method='platt'; expected one of 'sigmoid', 'isotonic'",
    ),
    (
        {"estimator": PairRidge("symmetric")},
        PAIRS,
        LABELS,
        "without decision_function; expected a classifier",
    ),
    ({"estimator": FunctionTransformer()}, PAIRS, LABELS, "has no symmetry; expected an estimator"),
    ({"estimator": PairSVC("odd")}, PAIRS, LABELS, "got symmetry='odd'; expected one of"),
    (
        {"cv": "five"},
        PAIRS,
        LABELS,
        "got cv='five'; expected a splitter of pairity.model_selection",
    ),
    ({"cv": []}, PAIRS, LABELS, r"got no folds from cv=\[\]; expected at least one"),
    ({"cv": 1}, PAIRS, LABELS, "got cv=1; expected an integer of at least 2"),
    ({}, PAIRS, LABELS[:-1], "got 19 labels for 20 pairs; expected one per pair"),
    ({}, PAIRS, np.arange(20) % 3, "Only binary classification is supported"),
    ({}, PAIRS, np.ones(20), "got one class only"),
    ({}, PAIRS, None, "requires y to be passed"),
    ({}, PAIRS[:1], LABELS[:1], "got one class only"),
    ({"estimator": PairSVC("antisymmetric")}, PAIRS[:1], LABELS[:1], "got n_samples=1"),
    ({"estimator": PairSVC("antisymmetric")}, SELF_PAIRS, [1, -1, 1], "row 1 that pairs an object"),
]


@pytest.mark.parametrize(("options", "pairs", "y", "message"), WRONG, ids=range(len(WRONG)))
def test_refusals(options, pairs, y, message):
    with pytest.raises(ValueError, match=message):
        CalibratedPairClassifier(**{"estimator": PairSVC("symmetric")} | options).fit(pairs, y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(19), r"sample_weight.shape == \(19,\), expected \(20,\)"),
        (np.zeros(20), "all zero; expected some above 0"),
        (np.full(20, np.nan), "negative or non-finite sample weights"),
    ],
)
def test_weights_that_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        CalibratedPairClassifier(PairSVC("symmetric")).fit(PAIRS, LABELS, sample_weight=weights)


def test_groups_of_another_length():
    with pytest.raises(ValueError, match=r"got groups of shape \(21,\) for 20 pairs; expected one"):
        CalibratedPairClassifier(PairSVC("symmetric")).fit(PAIRS, LABELS, groups=np.arange(21))


def test_weights_for_an_estimator_that_takes_none():
    class Deaf(PairSVC):
        def fit(self, X, y):
            return super().fit(X, y)

    with pytest.raises(ValueError, match="got sample_weight for Deaf, whose fit takes none"):
        CalibratedPairClassifier(Deaf("symmetric")).fit(PAIRS, LABELS, sample_weight=np.ones(20))


def test_not_fitted_and_other_columns():
    with pytest.raises(NotFittedError):
        CalibratedPairClassifier(PairSVC("symmetric")).predict_proba(PAIRS)
    model = CalibratedPairClassifier(PairSVC("symmetric")).fit(PAIRS, LABELS)
    with pytest.raises(ValueError, match="expected \\(2, 2, 2\\), as in fit"):
        model.predict_proba(cases.without_group(PAIRS))
