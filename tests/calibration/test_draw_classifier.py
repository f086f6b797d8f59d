"""PairDrawClassifier: laws with ``==``, a planted truth, home advantage, protocol, refusals."""

import pickle
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import cases
from pairity import PairDrawClassifier, PairLogistic, PairRidge, Pairs, PairSVC, PairSVR
from pairity.exceptions import CalibrationWarning
from pairity.inspection import rank_objects
from pairity.model_selection import PairKFold, TimeSplit, ranked_probability_score

ESTIMATORS = [PairLogistic, PairSVC, PairRidge, PairSVR]
pytestmark = pytest.mark.filterwarnings("ignore:the scores of held-out games do not grow")


def random_outcomes(seed, n):
    outcomes = np.random.default_rng([seed, 7]).integers(-1, 2, size=n)
    outcomes[:4] = 1, -1, 0, 1
    return outcomes


def league(n_teams=40, seed=0, home=0.8, threshold=0.7):
    """Games with a known truth: strengths, a home advantage of +1, 0 or -1, draws."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(size=n_teams)
    first, second = np.triu_indices(n_teams, 1)
    at_home = rng.integers(-1, 2, size=len(first)).astype(float)
    score = strength[first] - strength[second] + home * at_home
    shock = score + rng.logistic(size=len(first))
    outcome = np.where(shock > threshold, 1, np.where(shock < -threshold, -1, 0))
    pairs = Pairs(strength[:, np.newaxis], first, second, antisymmetric=at_home)
    return pairs, outcome, score


# Laws ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ESTIMATORS)
@settings(max_examples=4)
@given(seed=st.integers(0, 10_000), batch=st.sampled_from([1, 4, 100]))
def test_swap_law_of_draw_probabilities(estimator, seed, batch):
    pairs, new = cases.random_pairs(seed, n=30, m=9), cases.random_pairs(seed + 1, n=17, m=30)
    model = PairDrawClassifier(estimator("antisymmetric")).fit(pairs, random_outcomes(seed, 30))
    starts = range(0, len(new), batch)
    there, back = (
        np.vstack([model.predict_proba(some[start : start + batch]) for start in starts])
        for some in (new, new.swap())
    )
    assert (there == back[:, ::-1]).all()
    assert (there.sum(axis=1) == 1.0).all()
    for x, y, z in permutations(range(3)):
        assert ((there[:, x] + there[:, y]) + there[:, z] == 1.0).all()
    logs, mirrored = model.predict_log_proba(new), model.predict_log_proba(new.swap())
    assert (logs == mirrored[:, ::-1]).all()
    assert (model.predict(new.swap()) == -model.predict(new)).all()
    assert (model.decision_function(new.swap()) == -model.decision_function(new)).all()


def test_a_game_against_oneself():
    pairs, y, _ = league(12)
    model = PairDrawClassifier(PairLogistic("antisymmetric", kernel="linear")).fit(pairs, y)
    alone = Pairs(pairs.objects, [3], [3], antisymmetric=[[0.0]])
    loss, drawn, win = model.predict_proba(alone)[0]
    assert loss == win
    assert drawn == 1.0 - 2.0 * win
    assert model.predict(alone)[0] == 0


def test_outputs_agree_with_each_other():
    pairs, y, _ = league(20, threshold=1.5)
    model = PairDrawClassifier(PairLogistic("antisymmetric", kernel="linear")).fit(pairs, y)
    chances = model.predict_proba(pairs)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(pairs)), chances, rtol=1e-12)
    assert (model.predict(pairs) == model.classes_[chances.argmax(axis=1)]).all()
    assert set(model.predict(pairs)) == {-1, 0, 1}
    assert model.score(pairs, y) == pytest.approx((model.predict(pairs) == y).mean(), rel=1e-12)
    scores = model.slope_ * model.estimator_.decision_function(pairs)
    assert (model.decision_function(pairs) == scores).all()
    np.testing.assert_allclose(
        chances[:, 2], 1.0 / (1.0 + np.exp(model.threshold_ - scores)), rtol=1e-12
    )


# A planted truth ----------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [PairLogistic, PairRidge])
def test_slope_threshold_and_home_advantage_are_found(estimator):
    pairs, y, score = league(60, seed=1)
    machine = estimator("antisymmetric", kernel="linear", solver="low_rank")
    model = PairDrawClassifier(machine).fit(pairs, y)
    assert model.threshold_ == pytest.approx(0.7, abs=0.08)
    found = model.decision_function(pairs)
    assert np.polyfit(score, found, 1)[0] == pytest.approx(1.0, abs=0.12)
    teams = Pairs(pairs.objects, [0, 0, 0], [1, 1, 1], antisymmetric=[[1.0], [0.0], [-1.0]])
    at_home, neutral, away = model.decision_function(teams)
    assert at_home - neutral == pytest.approx(0.8, abs=0.15)
    assert neutral - away == pytest.approx(at_home - neutral, rel=1e-6)


def test_draws_are_told_apart_from_base_rates():
    pairs, y, _ = league(50, seed=2)
    model = PairDrawClassifier(PairLogistic("antisymmetric", kernel="linear")).fit(pairs, y)
    shares = [np.mean(y == outcome) for outcome in (-1, 0, 1)]
    mine = ranked_probability_score(y, model.predict_proba(pairs), average=False)
    base = ranked_probability_score(y, np.tile(shares, (len(y), 1)), average=False)
    difference = base - mine
    assert difference.mean() > 10.0 * difference.std() / np.sqrt(len(y))
    drawn = model.predict_proba(pairs)[:, 1]
    assert drawn.mean() == pytest.approx(shares[1], abs=0.01)
    assert np.argmax(drawn) == np.argmin(np.abs(model.decision_function(pairs)))


# Labels -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classes", "named"),
    [
        ((-1, 0, 1), False),
        ((0.0, 0.5, 1.0), False),
        ((0, 1, 3), False),
        (("lost", "drawn", "won"), True),
        ((1, 0, 2), True),
    ],
)
def test_labels_of_any_kind(classes, named):
    pairs, y, _ = league(12)
    machine = PairLogistic("antisymmetric", kernel="linear")
    labels = np.asarray(classes)[y + 1]
    model = PairDrawClassifier(machine, outcomes=classes if named else None).fit(pairs, labels)
    plain = PairDrawClassifier(machine).fit(pairs, y)
    assert model.classes_.tolist() == list(classes)
    assert (model.predict_proba(pairs) == plain.predict_proba(pairs)).all()
    assert (model.predict(pairs) == np.asarray(classes)[plain.predict(pairs) + 1]).all()
    assert model.score(pairs, labels) == plain.score(pairs, y)


def test_games_without_draws_and_winners_first():
    pairs, y, _ = league(12, threshold=0.0)
    machine = PairLogistic("antisymmetric", kernel="linear")
    model = PairDrawClassifier(machine).fit(pairs, y)
    assert model.classes_.tolist() == [-1, 0, 1]
    assert 0.0 < model.predict_proba(pairs)[:, 1].max() < 0.05
    turned = np.where(y > 0, pairs.first, pairs.second), np.where(y > 0, pairs.second, pairs.first)
    signed = pairs.antisymmetric * y[:, np.newaxis]
    winners = Pairs(pairs.objects, *turned, antisymmetric=signed)
    other = PairDrawClassifier(machine).fit(winners, np.ones(len(y)))
    assert other.slope_ == pytest.approx(model.slope_, rel=1e-3)
    assert other.threshold_ == pytest.approx(model.threshold_, rel=1e-3)


def test_drawn_games_of_an_object_with_itself_are_welcome():
    pairs = Pairs(np.arange(4.0)[:, np.newaxis], [0, 1, 2, 3, 0, 1, 2, 3], [0, 0, 1, 2, 3, 3, 0, 1])
    y = np.sign(pairs.objects[pairs.first, 0] - pairs.objects[pairs.second, 0])
    model = PairDrawClassifier(PairLogistic("antisymmetric", kernel="linear"), cv=3).fit(pairs, y)
    assert model.slope_ > 0.0


# Weights, time, scikit-learn ----------------------------------------------------------------------


def test_weights():
    pairs, y, _ = league(15, seed=3)
    machine = PairLogistic("antisymmetric", kernel="linear", tol=1e-8)
    weights = np.random.default_rng(3).integers(0, 3, size=len(y)).astype(float)
    kept = weights > 0
    model = PairDrawClassifier(machine).fit(pairs, y, sample_weight=weights)
    other = PairDrawClassifier(machine).fit(pairs[kept], y[kept], sample_weight=weights[kept])
    assert (model.slope_, model.threshold_) == (other.slope_, other.threshold_)
    drawn = np.where(y == 0, 5.0, 1.0)
    assert (
        PairDrawClassifier(machine).fit(pairs, y, sample_weight=drawn).threshold_
        > 1.5 * PairDrawClassifier(machine).fit(pairs, y).threshold_
    )


def test_time_ordered_folds():
    pairs, y, _ = league(20, seed=4)
    day = np.random.default_rng(4).integers(30, size=len(y))
    model = PairDrawClassifier(PairLogistic("antisymmetric", kernel="linear"), cv=TimeSplit(4))
    model.fit(pairs, y, groups=day)
    assert day[model.calibration_rows_].min() > day.min()
    assert len(np.unique(model.calibration_folds_)) == 4


def test_search_pipeline_clone_pickle_and_ranking():
    pairs, y, _ = league(16, seed=5)
    score = make_scorer(
        ranked_probability_score, response_method="predict_proba", greater_is_better=False
    )
    pipeline = make_pipeline(FunctionTransformer(), PairLogistic("antisymmetric", kernel="linear"))
    model = PairDrawClassifier(pipeline, cv=PairKFold(3))
    grid = {"estimator__pairlogistic__C": [0.01, 1.0]}
    search = GridSearchCV(model, grid, cv=PairKFold(3), scoring=score).fit(pairs, y)
    assert (search.cv_results_["mean_test_score"] < 0.0).all()
    best = pickle.loads(pickle.dumps(search.best_estimator_))
    assert (best.predict_proba(pairs) == search.predict_proba(pairs)).all()
    assert clone(model).get_params()["estimator__pairlogistic__C"] == 1.0
    neutral = Pairs(pairs.objects, pairs.first, pairs.second, None, np.zeros((len(pairs), 1)))
    ranking = rank_objects(best, neutral)
    assert np.corrcoef(ranking.scores, pairs.objects[:, 0])[0, 1] > 0.99


def test_the_default_estimator():
    pairs, y, _ = league(12)
    model = PairDrawClassifier().fit(pairs, y)
    assert isinstance(model.estimator_, PairLogistic)
    assert model.symmetry == "antisymmetric"


def test_scores_that_say_nothing_are_reported():
    pairs, _, _ = league(12)
    machine = make_pipeline(FunctionTransformer(_swapped_while_training), PairSVC("antisymmetric"))
    with pytest.warns(CalibrationWarning, match="scores of held-out games do not grow"):
        model = PairDrawClassifier(machine).fit(
            pairs, np.where(pairs.objects[pairs.first, 0] > 0, 1, -1)
        )
    assert model.slope_ == 0.0
    assert len(np.unique(model.predict_proba(pairs), axis=0)) == 1


def _swapped_while_training(pairs):
    return pairs.swap() if len(pairs) > 30 else pairs


# Refusals -----------------------------------------------------------------------------------------

PAIRS = cases.random_pairs(11, n=20, m=9)
OUTCOMES = random_outcomes(11, 20)
SELF_PAIRS = Pairs(np.eye(3), [0, 1, 2], [1, 1, 0])

WRONG = [
    (
        {"estimator": PairLogistic("symmetric")},
        PAIRS,
        OUTCOMES,
        "got symmetry='symmetric'; expected an antisym",
    ),
    ({"estimator": FunctionTransformer()}, PAIRS, OUTCOMES, "has no symmetry"),
    ({"outcomes": ("a", "b")}, PAIRS, OUTCOMES, "expected three different labels"),
    ({"outcomes": (1, 1, 2)}, PAIRS, OUTCOMES, "expected three different labels"),
    (
        {"outcomes": ("l", "d", "w")},
        PAIRS,
        OUTCOMES,
        r"got outcome .*1.* in row 0; expected one of",
    ),
    ({}, PAIRS, np.array(["l", "d", "w", "w"] * 5), "name them by outcomes="),
    ({}, PAIRS, np.arange(20) % 4, "do not say which is the loss, the draw and the win"),
    ({}, PAIRS, np.arange(20) % 2 + 4, "do not say which is the loss, the draw and the win"),
    ({}, PAIRS, np.linspace(0.0, 1.0, 20), "Unknown label type: continuous"),
    ({}, PAIRS, np.full(20, np.nan), "got NaN or infinity in y"),
    ({}, PAIRS, np.zeros(20), "got draws only; expected some decided games"),
    ({}, PAIRS, OUTCOMES[:-1], "got 19 outcomes for 20 pairs"),
    ({}, PAIRS, None, "requires y to be passed"),
    ({}, PAIRS[:1], OUTCOMES[:1], "got n_samples=1"),
    ({}, SELF_PAIRS, [1, 1, -1], "pairs an object with itself"),
    ({"cv": "five"}, PAIRS, OUTCOMES, "got cv='five'; expected a splitter"),
]


@pytest.mark.parametrize(("options", "pairs", "y", "message"), WRONG, ids=range(len(WRONG)))
def test_refusals(options, pairs, y, message):
    with pytest.raises(ValueError, match=message):
        PairDrawClassifier(**options).fit(pairs, y)


def test_not_fitted_and_other_columns():
    with pytest.raises(NotFittedError):
        PairDrawClassifier().predict_proba(PAIRS)
    model = PairDrawClassifier().fit(PAIRS, OUTCOMES)
    with pytest.raises(ValueError, match="expected \\(2, 2, 2\\), as in fit"):
        model.predict(cases.without_group(PAIRS))
