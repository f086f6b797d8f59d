"""The tuned estimators: GridSearchCV's answers, the swap law, protocol, and what they refuse."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from pairity import PairLogisticCV, PairRidge, PairRidgeCV, Pairs, PairSVC, PairSVCCV
from pairity.exceptions import CalibrationWarning
from pairity.kernels import Gaussian, Linear
from pairity.model_selection import ObjectKFold, PairKFold, plot_validation_curve

CLASSIFIERS = [PairSVCCV, PairLogisticCV]


def tournament(seed=0, m=25, noise=0.3):
    rng = np.random.default_rng(seed)
    pairs = Pairs.complete(rng.normal(size=(m, 3)))
    strength = pairs.objects[:, 0] + pairs.objects[:, 1] ** 2
    value = strength[pairs.first] - strength[pairs.second] + noise * rng.normal(size=len(pairs))
    return pairs, np.where(value > 0, 1, -1)


def matches(seed=0, m=40):
    rng = np.random.default_rng(seed)
    objects = rng.normal(size=(m, 3))
    first, second = rng.integers(m, size=(2, 150))
    second = np.where(first == second, (first + 1) % m, second)
    pairs = Pairs(objects, first, second, symmetric=rng.normal(size=(150, 1)))
    distance = np.linalg.norm(objects[first] - objects[second], axis=1)
    return pairs, np.where(distance + 0.3 * rng.normal(size=150) < 2.0, "same", "other")


@pytest.mark.parametrize(
    ("symmetry", "scoring"), [("antisymmetric", "accuracy"), ("symmetric", "roc_auc")]
)
def test_scores_are_those_of_grid_search(symmetry, scoring):
    pairs, y = tournament() if symmetry == "antisymmetric" else matches()
    Cs = [0.1, 1.0, 10.0]
    splits = list(PairKFold(4, new=(0, 1, 2)).split(pairs, y))
    search = PairSVCCV(
        symmetry,
        kernel=Gaussian(2.0),
        Cs=Cs,
        cv=splits,
        scoring=scoring,
        path_tol=1e-5,
        patience=None,
    ).fit(pairs, y)
    golden = GridSearchCV(
        PairSVC(symmetry, kernel=Gaussian(2.0)), {"C": Cs}, cv=splits, scoring=scoring
    ).fit(pairs, y)
    for key in [*(f"split{k}_test_score" for k in range(4)), "mean_test_score", "std_test_score"]:
        np.testing.assert_allclose(search.cv_results_[key], golden.cv_results_[key], atol=0.02)
    assert np.array_equal(
        search.cv_results_["rank_test_score"] == 1, golden.cv_results_["rank_test_score"] == 1
    )
    assert search.best_params_["C"] == golden.best_params_["C"]
    expected = golden.best_estimator_.decision_function(pairs)
    np.testing.assert_allclose(search.best_estimator_.decision_function(pairs), expected, atol=1e-9)


def test_labels_are_the_likelier_ones_where_one_is_rare():
    """A weak C leaves all margins on one side; the threshold of the probabilities does not."""
    rng = np.random.default_rng(0)
    pairs = Pairs.complete(rng.normal(size=(40, 2)))
    distance = np.linalg.norm(pairs.objects[pairs.first] - pairs.objects[pairs.second], axis=1)
    y = np.where(distance < np.quantile(distance, 0.1), 1, -1)
    model = PairSVCCV("symmetric", kernel=Gaussian(1.0), Cs=[0.001], cv=3).fit(pairs, y)
    p = model.predict_proba(pairs)[:, 1]
    assert np.array_equal(model.predict(pairs), np.where(p > 0.5, 1, -1))
    assert model.score(pairs, y) >= model.best_estimator_.score(pairs, y)


def test_ridge_scores_are_those_of_grid_search():
    pairs, _ = tournament()
    y = pairs.objects[pairs.first, 0] - pairs.objects[pairs.second, 0]
    alphas = [0.01, 1.0, 100.0]
    splits = list(PairKFold(3, new=(0, 1, 2)).split(pairs))
    search = PairRidgeCV("antisymmetric", kernel=Gaussian(2.0), alphas=alphas, cv=splits).fit(
        pairs, y
    )
    golden = GridSearchCV(
        PairRidge("antisymmetric", kernel=Gaussian(2.0)),
        {"alpha": alphas},
        cv=splits,
        scoring="neg_mean_squared_error",
    ).fit(pairs, y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], golden.cv_results_["mean_test_score"], rtol=1e-6
    )
    assert search.best_params_["alpha"] == golden.best_params_["alpha"]


def test_a_list_of_kernels_is_a_grid_of_widths():
    pairs, y = tournament()
    kernels = [Gaussian(0.05), Gaussian(2.0), "auto"]
    search = PairSVCCV("antisymmetric", kernel=kernels, Cs=[0.1, 1.0]).fit(pairs, y)
    assert len(search.cv_results_["params"]) == 6
    assert search.best_params_["kernel"] != Gaussian(0.05)
    table = search.cv_results_
    assert table["mean_test_log_loss"][0] < table["mean_test_log_loss"][2]
    assert search.best_score_ == table["mean_test_score"][search.best_index_]
    assert set(table) >= {"param_C", "param_kernel", "mean_fit_time", "mean_test_roc_auc"}


@pytest.mark.parametrize("make", CLASSIFIERS)
@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
def test_swap_law_of_decisions_and_probabilities(make, symmetry):
    pairs, y = tournament() if symmetry == "antisymmetric" else matches()
    model = make(symmetry, Cs=3, cv=3).fit(pairs, y)
    sign = -1.0 if symmetry == "antisymmetric" else 1.0
    swapped = pairs.swap()
    assert np.array_equal(model.decision_function(pairs), sign * model.decision_function(swapped))
    one, two = model.predict_proba(pairs), model.predict_proba(swapped)
    assert np.array_equal(one, two[:, ::-1] if sign < 0 else two)
    assert (one.sum(axis=1) == 1.0).all()
    assert model.certificate_.holds
    if sign < 0:
        assert model.intercept_ == 0.0
        assert model.offset_ == 0.0
    for row in (0, 5):
        assert np.array_equal(
            model.predict_proba(pairs[row]), model.predict_proba(pairs[row].swap())[:, :: int(sign)]
        )


def test_ridge_swap_law():
    pairs, _ = tournament()
    y = np.random.default_rng(1).normal(size=len(pairs))
    for symmetry, sign in (("symmetric", 1.0), ("antisymmetric", -1.0)):
        model = PairRidgeCV(symmetry, alphas=3, cv=3).fit(pairs, y)
        assert np.array_equal(model.predict(pairs), sign * model.predict(pairs.swap()))


@pytest.mark.parametrize("make", [*CLASSIFIERS, PairRidgeCV])
def test_protocol(make):
    pairs, y = tournament(m=15)
    strengths = {"alphas" if make is PairRidgeCV else "Cs": 3}
    model = make("antisymmetric", kernel=Linear(), cv=3, **strengths)
    assert clone(model).get_params() == model.get_params()
    model.fit(pairs, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(pairs), model.predict(pairs))
    scores = cross_val_score(clone(model), pairs, y, cv=ObjectKFold(3))
    assert scores.shape == (3,)
    rows = pairs.to_rows()
    from_rows = clone(model).fit(rows, y)
    np.testing.assert_allclose(from_rows.predict(rows), model.predict(pairs), atol=1e-6)


def test_probabilities_are_those_of_held_out_pairs():
    """On fresh pairs the mean probability of the favourite is the share of favourites that win."""
    pairs, y = tournament(m=40, noise=2.0)
    half = np.random.default_rng(0).random(len(pairs)) < 0.5
    model = PairSVCCV("antisymmetric").fit(pairs[half], y[half])
    p = model.predict_proba(pairs[~half])
    favourite = np.where(p[:, 1] > 0.5, 1, -1)
    assert p.max(axis=1).mean() == pytest.approx((favourite == y[~half]).mean(), abs=0.06)


def test_same_seed_same_answer():
    pairs, y = tournament()
    one, two = (PairSVCCV("antisymmetric", Cs=3, cv=3).fit(pairs, y) for _ in range(2))
    assert np.array_equal(one.decision_function(pairs), two.decision_function(pairs))
    assert one.best_params_["C"] == two.best_params_["C"]


def test_the_curve_as_a_picture():
    pairs, y = tournament(m=12)
    import matplotlib

    matplotlib.use("Agg")
    model = PairSVCCV("antisymmetric", kernel=[Linear(), Gaussian(1.0)], Cs=3, cv=3).fit(pairs, y)
    axes = plot_validation_curve(model)
    assert len(axes.lines) == 3  # two kernels, and the choice
    assert axes.get_xlabel() == "C"
    np.testing.assert_allclose(
        axes.lines[1].get_ydata(), model.cv_results_["mean_test_score"][3:], rtol=1e-12
    )


# What is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"Cs": 0}, "at least 1"),
        ({"Cs": []}, "list of them"),
        ({"Cs": [1.0, -1.0]}, "Cs"),
        ({"kernel": []}, "no kernels"),
        ({"kernel": "automatic"}, "got kernel='automatic'"),
        ({"scoring": "f1"}, "scoring"),
        ({"path_tol": 0.0}, "path_tol"),
        ({"symmetry": "odd"}, "symmetry"),
        ({"cv": "five"}, "expected a splitter"),
        ({"cv": 1}, "expected an integer of at least 2"),
    ],
)
def test_refused(options, sentence):
    pairs, y = tournament(m=8)
    with pytest.raises(ValueError, match=sentence):
        PairSVCCV(**{"symmetry": "antisymmetric", **options}).fit(pairs, y)


@pytest.mark.parametrize("make", [PairSVCCV, PairLogisticCV, PairRidgeCV])
@pytest.mark.parametrize("kernel", ["linear", "auto"])
@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("tol", -1.0, "expected a finite number above 0"),
        ("tol", 0.0, "expected a finite number above 0"),
        ("tol", float("nan"), "expected a finite number above 0"),
        ("tol", "small", "expected a finite number above 0"),
        ("memory_limit", -5, "expected a finite number above 0"),
        ("memory_limit", "x", "expected a finite number above 0"),
        ("memory_limit", float("nan"), "expected a finite number above 0"),
        ("random_state", -1, "expected a whole number, 0 or more"),
        ("random_state", 1.5, "expected a whole number, 0 or more"),
        ("random_state", None, "expected a whole number, 0 or more"),
        ("n_symmetric", -1, "expected a whole number, 0 or more"),
        ("n_antisymmetric", "x", "expected a whole number, 0 or more"),
    ],
)
def test_what_the_learner_refuses_the_search_refuses(make, kernel, name, value, expected):
    pairs, y = tournament(m=8)
    with pytest.raises(ValueError, match=f"^got {name}={value!r}; {expected}.$"):
        make("antisymmetric", kernel=kernel, **{name: value}).fit(pairs, y)


@pytest.mark.filterwarnings("ignore:the decisions about held-out pairs do not grow")
def test_folds_without_one_of_the_classes_are_left_out():
    pairs, _ = tournament()
    y = np.full(len(pairs), -1)
    y[:4] = 1
    rows = np.arange(len(pairs))
    splits = [(rows[rows % 2 == 0], rows[rows % 2 == 1]), (rows[4:], rows[:4])]
    with pytest.warns(CalibrationWarning, match="one class only"):
        model = PairSVCCV("symmetric", kernel=Linear(), Cs=2, cv=splits).fit(pairs, y)
    assert model.n_splits_ == 1
    with pytest.raises(ValueError, match="every fold"):
        PairSVCCV("symmetric", kernel=Linear(), Cs=2, cv=splits[1:]).fit(pairs, y)


@pytest.mark.filterwarnings("ignore:the decisions about held-out pairs do not grow")
def test_held_out_pairs_of_one_label_are_pointed_out():
    """Classes held out one at a time leave pairs of the same class alone."""
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(3), 6)
    pairs = Pairs.complete(rng.normal(size=(18, 2)) + 3.0 * classes[:, None])
    y = np.where(classes[pairs.first] == classes[pairs.second], 1, -1)
    cv = ObjectKFold(3, object_groups=classes)
    with pytest.warns(CalibrationWarning, match="one label only"):
        PairSVCCV("symmetric", kernel=Gaussian(1.0), Cs=2, cv=cv).fit(pairs, y)


def test_pairs_of_an_object_with_itself_are_refused():
    pairs = Pairs(np.eye(3), [0, 1], [0, 2])
    with pytest.raises(ValueError, match="pairs an object with itself"):
        PairSVCCV("antisymmetric").fit(pairs, [1, -1])


def test_groups_go_to_the_splitter():
    from pairity.model_selection import TimeSplit

    pairs, y = tournament(m=15)
    when = np.arange(len(y))
    model = PairSVCCV("antisymmetric", kernel=Linear(), Cs=2, cv=TimeSplit(3)).fit(
        pairs, y, groups=when
    )
    assert model.held_out_rows_.min() > 0


def test_a_path_ends_where_it_only_gets_worse():
    pairs, y = tournament(noise=3.0)
    Cs = np.logspace(-3, 3, 7)
    whole = PairSVCCV("antisymmetric", kernel=Gaussian(0.5), Cs=Cs, patience=None).fit(pairs, y)
    short = PairSVCCV("antisymmetric", kernel=Gaussian(0.5), Cs=Cs, patience=1).fit(pairs, y)
    tried = ~np.isnan(short.cv_results_["mean_test_score"])
    assert 2 <= tried.sum() < 7
    assert not np.isnan(whole.cv_results_["mean_test_score"]).any()
    np.testing.assert_array_equal(
        short.cv_results_["mean_test_score"][tried], whole.cv_results_["mean_test_score"][tried]
    )
    assert short.best_params_ == whole.best_params_
    assert (short.cv_results_["rank_test_score"][~tried] == tried.sum() + 1).all()
    with pytest.raises(ValueError, match="patience"):
        PairSVCCV("antisymmetric", patience=0).fit(pairs, y)
