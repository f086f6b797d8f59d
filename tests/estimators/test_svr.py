"""PairSVR: targets, weights, attributes, refusals, and scikit-learn around it."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cases
from pairity import Pairs, PairSVR
from pairity.exceptions import ConvergenceWarning, DoubledRowsWarning
from pairity.kernels import Gaussian, Linear, Tensor

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")

BOTH = ["symmetric", "antisymmetric"]
EVERY = [*BOTH, "none"]
N = 40


def data(widths=cases.WIDTHS):
    return cases.random_pairs(71, n=N, m=12, widths=widths), cases.random_targets(71, N)


def new_pairs(n=15, widths=cases.WIDTHS):
    return cases.random_pairs(72, n=n, widths=widths)


def margins(n=40):
    """Differences of strengths: what a linear antisymmetric model can meet exactly."""
    rng = np.random.default_rng(73)
    strength = rng.normal(size=12)[:, None]
    first = rng.integers(12, size=n)
    second = (first + rng.integers(1, 12, size=n)) % 12
    return Pairs(strength, first, second), (strength[first] - strength[second])[:, 0]


def assert_same_model(one, two):
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-8)
    np.testing.assert_allclose(
        one.predict(new_pairs()), two.predict(new_pairs()), rtol=0, atol=1e-6
    )


# What is learned --------------------------------------------------------------------------------


def test_margins_are_met_and_draws_are_targets_like_any_other():
    pairs, y = margins()
    model = PairSVR("antisymmetric", kernel="linear", C=1e4, epsilon=0.0, tol=1e-9).fit(pairs, y)
    np.testing.assert_allclose(model.predict(pairs), y, rtol=0, atol=1e-7)
    assert model.score(pairs, y) == pytest.approx(1.0)
    level = PairSVR("antisymmetric", kernel="linear", C=1e4).fit(pairs, np.zeros(len(y)))
    assert not level.predict(pairs).any()


@pytest.mark.parametrize("symmetry", EVERY)
def test_errors_within_epsilon_cost_nothing(symmetry):
    pairs, y = data()
    model = PairSVR(symmetry, kernel=Gaussian(0.5), C=1e5, epsilon=0.3, tol=1e-8).fit(pairs, y)
    assert np.abs(model.predict(pairs) - y).max() <= 0.3 + 1e-7
    wide = PairSVR(symmetry, kernel=Gaussian(0.5), epsilon=10.0).fit(pairs, y)
    assert len(wide.support_) == 0
    assert wide.objective_ == 0.0


@pytest.mark.parametrize("symmetry", EVERY)
def test_epsilon_zero_is_the_absolute_error(symmetry):
    """Primal by hand: C times the absolute errors, over the observations (twice on I)."""
    pairs, y = data()
    model = PairSVR(symmetry, kernel=Gaussian(1.0), C=0.7, epsilon=0.0, tol=1e-9).fit(pairs, y)
    errors = np.abs(model.predict(pairs) - y)
    norm = model.dual_coef_ @ (model.predict(pairs) - model.intercept_)[model.support_]
    times = 1.0 if symmetry == "none" else 2.0
    primal = 0.5 * norm + times * 0.7 * errors.sum()
    assert model.certificate_.primal == pytest.approx(primal, rel=1e-9)
    assert -model.objective_ == pytest.approx(primal, rel=1e-7)
    exact = errors < 1e-7  # an absolute error is 0 at the rows with duals between the bounds
    free = np.zeros(N, dtype=bool)
    free[model.support_] = np.abs(model.dual_coef_) < times * 0.7
    assert free.any()
    assert exact[free].all()


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("symmetry", BOTH)
def test_predictions_follow_from_the_attributes(symmetry, training_set):
    pairs, y = data()
    model = PairSVR(symmetry, kernel=Gaussian(1.0), training_set=training_set).fit(pairs, y)
    rows = pairs.with_mirrored() if training_set == "full" else pairs
    sign = 1.0 if symmetry == "symmetric" else -1.0
    assert np.abs(model.dual_coef_).max() <= (1.0 if training_set == "full" else 2.0)
    gram = Gaussian(1.0).gram(new_pairs(), rows[model.support_])
    mirrored = Gaussian(1.0).gram(new_pairs().swap(), rows[model.support_])
    values = (gram + sign * mirrored) / 2.0 @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(new_pairs()), values, rtol=0, atol=1e-12)
    residual = np.concatenate([y, sign * y]) - np.concatenate(
        [model.predict(pairs), model.predict(pairs.swap())]
    )
    assert np.array_equal(np.sign(model.dual_coef_), np.sign(residual[model.support_]))
    assert np.array_equal(model.support_pairs_.to_rows(), rows[model.support_].to_rows())


@pytest.mark.parametrize("symmetry", BOTH)
def test_which_order_a_pair_is_written_in_does_not_matter(symmetry):
    """ "a beats b by 3" is "b beats a by -3"."""
    pairs, y = data()
    turned = np.random.default_rng(1).random(N) < 0.5
    other = Pairs(
        pairs.objects,
        np.where(turned, pairs.second, pairs.first),
        np.where(turned, pairs.first, pairs.second),
        pairs.symmetric,
        np.where(turned[:, None], -pairs.antisymmetric, pairs.antisymmetric),
    )
    sign = 1 if symmetry == "symmetric" else -1
    one = PairSVR(symmetry, kernel=Gaussian(1.0), tol=1e-9).fit(pairs, y)
    two = PairSVR(symmetry, kernel=Gaussian(1.0), tol=1e-9).fit(
        other, np.where(turned, sign * y, y)
    )
    assert_same_model(one, two)


@pytest.mark.parametrize(
    "targets",
    [np.arange(N) % 5, (np.arange(N) % 2).astype(bool), np.arange(N, dtype=np.float32) / 8],
    ids=["whole", "truth values", "single precision"],
)
@pytest.mark.parametrize("symmetry", EVERY)
def test_numbers_of_any_type(symmetry, targets):
    pairs, _ = data()
    plain = PairSVR(symmetry, kernel=Gaussian(1.0)).fit(pairs, targets.astype(float))
    for given in (targets, targets.tolist(), targets.astype(object)):
        model = PairSVR(symmetry, kernel=Gaussian(1.0)).fit(pairs, given)
        assert np.array_equal(model.predict(new_pairs()), plain.predict(new_pairs()))
    assert model.predict(new_pairs()).dtype == np.float64


# Weights ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("symmetry", EVERY)
def test_whole_weights_are_repeated_rows(symmetry, training_set, epsilon):
    pairs, y = data()
    weights = np.random.default_rng(2).integers(0, 4, size=N)
    model = PairSVR(
        symmetry, kernel=Gaussian(1.0), C=1.0, epsilon=epsilon, training_set=training_set, tol=1e-9
    )
    repeated = np.repeat(np.arange(N), weights)
    weighted = clone(model).fit(pairs, y, sample_weight=weights)
    assert_same_model(weighted, clone(model).fit(pairs[repeated], y[repeated]))
    plain = clone(model).fit(pairs, y)
    assert weighted.objective_ != pytest.approx(plain.objective_, rel=1e-3)
    assert not np.isin(weighted.support_ % N, np.flatnonzero(weights == 0)).any()


def test_weights_scale_C():
    pairs, y = data()
    weighted = PairSVR("symmetric", kernel=Gaussian(1.0), C=1.0, tol=1e-9).fit(
        pairs, y, np.full(N, 3.0)
    )
    assert_same_model(
        weighted, PairSVR("symmetric", kernel=Gaussian(1.0), C=3.0, tol=1e-9).fit(pairs, y)
    )


# Pairs of an object with itself -----------------------------------------------------------------


def with_self_pairs(pairs, y, targets):
    """Rows (0, 0), (1, 1), ... after the others, with these targets."""
    places = np.arange(len(targets))
    both = Pairs(pairs.objects, np.append(pairs.first, places), np.append(pairs.second, places))
    return both, np.append(y, targets)


@pytest.mark.parametrize("training_set", ["halved", "full"])
def test_an_object_with_itself_has_no_target_but_zero_in_the_antisymmetric_case(training_set):
    pairs, y = with_self_pairs(*data(widths=(2, 0, 0)), [0.0, 0.5, 0.0, -2.0])
    message = (
        rf"got target 0.5 in row {N + 1}, which pairs an object with itself \(2 such rows\);"
        r" expected 0 there, .*correct or drop these rows"
    )
    with pytest.raises(ValueError, match=message):
        PairSVR("antisymmetric", training_set=training_set).fit(pairs, y)


def test_equal_halves_of_a_row_are_an_object_with_itself():
    rows = np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 1.0, 2.0]])
    with pytest.raises(
        ValueError, match="got target 3 in row 1, which pairs an object with itself"
    ):
        PairSVR("antisymmetric").fit(rows, [1.0, 3.0])


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("solver", ["smo", "chunking", "splitting"])
@pytest.mark.parametrize("training_set", ["halved", "full"])
def test_zero_targets_there_are_allowed_and_harmless(solver, training_set, epsilon):
    pairs, y = data(widths=(2, 0, 0))
    options = {"solver": solver, "training_set": training_set, "tol": 1e-9}
    model = PairSVR("antisymmetric", kernel=Gaussian(1.0), C=1.0, epsilon=epsilon, **options)
    plain = clone(model).fit(pairs, y)
    with_zeros = clone(model).fit(*with_self_pairs(pairs, y, [0.0, -0.0, 0.0]))
    assert with_zeros.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    new = new_pairs(widths=(2, 0, 0))
    np.testing.assert_allclose(with_zeros.predict(new), plain.predict(new), rtol=0, atol=1e-6)
    rows = with_zeros.support_ % (N + 3)
    assert (rows < N).all()


def test_self_pairs_are_data_in_the_symmetric_case():
    pairs, y = with_self_pairs(*data(widths=(2, 0, 0)), [3.0, -3.0])
    halved, full = (
        PairSVR("symmetric", kernel=Gaussian(1.0), training_set=training_set, tol=1e-9).fit(
            pairs, y
        )
        for training_set in ("halved", "full")
    )
    assert halved.objective_ == pytest.approx(full.objective_, rel=1e-8)
    assert {N, N + 1} <= set(halved.support_.tolist())


# Refusals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_targets_that_are_not_finite(bad):
    pairs, y = data()
    y[3] = bad
    with pytest.raises(ValueError, match=r"got NaN or infinity in y; expected numbers: drop"):
        PairSVR("symmetric").fit(pairs, y)


@pytest.mark.parametrize("targets", [["1.5 goals"] * N, [None] * N], ids=["text", "nothing"])
def test_targets_that_are_not_numbers(targets):
    """None is NaN to numpy: refused as that."""
    with pytest.raises(ValueError, match=r"expected numbers"):
        PairSVR("symmetric").fit(data()[0], targets)


def test_labels_are_for_the_classifier():
    pairs, y = data()
    named = np.where(y > 0, "wins", "loses")
    with pytest.raises(ValueError, match=r"got targets of type <U5; .*labels are for PairSVC"):
        PairSVR("symmetric").fit(pairs, named)


def test_targets_of_another_length():
    pairs, y = data()
    with pytest.raises(ValueError, match="got 39 targets for 40 pairs; expected one per pair"):
        PairSVR("symmetric").fit(pairs, y[:-1])


def test_no_targets():
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        PairSVR("symmetric").fit(data()[0], None)


def test_targets_in_two_columns():
    pairs, y = data()
    with pytest.raises(ValueError, match="1d array"):
        PairSVR("symmetric").fit(pairs, np.column_stack([y, y]))


@pytest.mark.parametrize(
    "parameters",
    [
        {"epsilon": -0.1},
        {"epsilon": np.nan},
        {"epsilon": np.inf},
        {"epsilon": "0.1"},
        {"C": 0.0},
        {"C": -1.0},
        {"tol": 0.0},
        {"symmetry": "odd"},
        {"training_set": "half"},
        {"solver": "newton"},
        {"max_iter": 0},
        {"memory_limit": 0.0},
    ],
    ids=str,
)
def test_parameters_out_of_range(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=rf"got {name}=.*; expected"):
        PairSVR(**{"symmetry": "symmetric"} | parameters).fit(*data())


def test_a_refused_fit_leaves_the_old_model():
    pairs, y = data()
    model = PairSVR("symmetric", kernel=Gaussian(1.0)).fit(pairs, y)
    expected = model.predict(pairs)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(pairs, np.full(N, np.nan))
    assert np.array_equal(model.predict(pairs), expected)


@pytest.mark.parametrize("symmetry", BOTH)
def test_doubled_rows_draw_a_warning(symmetry):
    """Draws and all: a target of 0 is its own mirror image, whatever the sign of that 0."""
    pairs, y = data()
    y[:5] = 0.0
    sign = 1.0 if symmetry == "symmetric" else -1.0
    with pytest.warns(DoubledRowsWarning, match=r"mirror image.*Keep one") as record:
        PairSVR(symmetry).fit(pairs.with_mirrored(), np.concatenate([y, sign * y]))
    assert record[0].filename == __file__


@pytest.mark.parametrize("symmetry", BOTH)
def test_several_observations_of_a_pair_are_data(symmetry):
    """a beats b by 3, then b beats a by 1, then a draw."""
    objects = np.random.default_rng(2).normal(size=(3, 2))
    pairs = Pairs(objects, [0, 1, 0, 2, 0], [1, 0, 1, 1, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PairSVR(symmetry, epsilon=0.0).fit(pairs, [3.0, 1.0, 0.0, -1.0, 2.0])
    assert model.certificate_.holds


def test_a_fit_cut_short_is_a_warning_with_the_gap():
    pairs, y = data()
    model = PairSVR(
        "antisymmetric", kernel=Gaussian(1.0), C=10.0, max_iter=2, tol=1e-9, solver="smo"
    )
    with pytest.warns(ConvergenceWarning, match=r"PairSVR did not reach tol=1e-09.*duality gap"):
        model.fit(pairs, y)
    assert model.certificate_.gap > 0.0
    assert np.array_equal(model.predict(pairs.swap()), -model.predict(pairs))


# scikit-learn around it -------------------------------------------------------------------------


def test_is_a_regressor():
    assert is_regressor(PairSVR("symmetric"))
    assert not is_classifier(PairSVR("symmetric"))
    assert not hasattr(PairSVR("symmetric"), "decision_function")


@pytest.mark.filterwarnings("ignore::pairity.exceptions.LeakageWarning")  # rows at random
@pytest.mark.parametrize("symmetry", BOTH)
def test_search_over_parameters(symmetry):
    pairs, y = data()
    grid = {"kernel__sigma": [0.3, 3.0], "epsilon": [0.0, 0.5]}
    search = GridSearchCV(PairSVR(symmetry, kernel=Gaussian(1.0)), grid, cv=KFold(3)).fit(pairs, y)
    best = search.best_params_
    by_hand = [
        PairSVR(symmetry, kernel=Gaussian(best["kernel__sigma"]), epsilon=best["epsilon"])
        .fit(pairs[train], y[train])
        .score(pairs[test], y[test])
        for train, test in KFold(3).split(pairs)
    ]
    assert search.best_score_ == pytest.approx(np.mean(by_hand), rel=1e-12)
    assert search.predict(new_pairs()).shape == (15,)


@pytest.mark.filterwarnings("ignore::pairity.exceptions.LeakageWarning")  # rows at random
def test_cross_validation():
    pairs, y = margins()
    scores = cross_val_score(
        PairSVR("antisymmetric", kernel="linear", C=100.0, epsilon=0.01), pairs, y, cv=4
    )
    assert scores.shape == (4,)
    assert scores.min() > 0.99


@pytest.mark.filterwarnings("ignore::pairity.exceptions.SwapLawWarning")  # halves scaled apart
def test_pipelines():
    pairs, y = data(widths=(2, 0, 0))
    scaled = make_pipeline(StandardScaler(), PairSVR("symmetric", kernel=Gaussian(1.0)))
    assert scaled.fit(pairs.to_rows(), y).predict(pairs.to_rows()).shape == (N,)


@pytest.mark.parametrize("symmetry", EVERY)
def test_rows_pairs_and_sparse_pairs_are_the_same_data(symmetry):
    pairs, y = data()
    model = PairSVR(symmetry, kernel=Gaussian(1.0), tol=1e-9, n_symmetric=2, n_antisymmetric=2)
    expected = clone(model).fit(pairs, y).predict(new_pairs())
    for given, new in [
        (pairs.to_rows(), new_pairs().to_rows()),
        (cases.sparse_twin(pairs), cases.sparse_twin(new_pairs())),
    ]:
        values = clone(model).fit(given, y).predict(new)
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-6)


def test_nothing_of_the_users_is_changed_and_later_changes_do_not_reach_the_model():
    pairs, y = data()
    weights, rows = np.ones(N), pairs.to_rows().copy()
    model = PairSVR("antisymmetric", kernel=Gaussian(1.0)).fit(pairs, y, weights)
    expected = model.predict(new_pairs())
    assert np.array_equal(pairs.to_rows(), rows)
    assert np.array_equal(y, data()[1])
    assert np.array_equal(weights, np.ones(N))
    pairs.objects[:] = 0.0
    y[:] = 0.0
    model.set_params(kernel__sigma=99.0, epsilon=5.0)
    assert np.array_equal(model.predict(new_pairs()), expected)


@pytest.mark.parametrize("symmetry", EVERY)
def test_no_pairs_to_predict_and_one_pair_to_learn(symmetry):
    pairs, y = data()
    assert PairSVR(symmetry, kernel=Gaussian(1.0)).fit(pairs, y).predict(pairs[:0]).shape == (0,)
    single = PairSVR(symmetry, kernel=Gaussian(1.0), C=1e6, epsilon=0.0, tol=1e-9).fit(
        pairs[:1], [2.5]
    )
    np.testing.assert_allclose(single.predict(pairs[:1]), [2.5], rtol=0, atol=1e-8)


def test_names_of_kernels_and_objects_of_them():
    pairs, y = data()
    one, two = (
        PairSVR("symmetric", kernel=kernel).fit(pairs, y) for kernel in ("linear", Linear())
    )
    assert np.array_equal(one.dual_coef_, two.dual_coef_)
    by_name = PairSVR("symmetric", kernel="tensor").fit(pairs, y)
    assert by_name.kernel == "tensor"
    assert by_name.certificate_.holds
    assert PairSVR("symmetric", kernel=Tensor(Gaussian(1.0))).fit(pairs, y).certificate_.holds
