"""PairSVC: labels, ties, weights, parameters, and scikit-learn around it."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import cases
from pairity import Pairs, PairSVC
from pairity.exceptions import SwapLawWarning
from pairity.kernels import Gaussian, Linear, Product, Tensor

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")

BOTH = ["symmetric", "antisymmetric"]
N = 40


def data(widths=cases.WIDTHS):
    return cases.random_pairs(71, n=N, m=12, widths=widths), cases.random_labels(71, N)


def new_pairs(n=15, widths=cases.WIDTHS):
    return cases.random_pairs(72, n=n, widths=widths)


def ranking(labels=(-1, 1), n=40):
    """Pairs that a linear antisymmetric model can order, and labels of any two values."""
    rng = np.random.default_rng(73)
    strength = np.sort(rng.normal(size=12))[:, None]
    first = rng.integers(12, size=n)
    second = (first + rng.integers(1, 12, size=n)) % 12
    return Pairs(strength, first, second), np.asarray(labels)[(first > second).astype(int)]


# Labels -----------------------------------------------------------------------------------------

LABELS = {
    "signs": (-1, 1),
    "zero and one": (0, 1),
    "truth values": (False, True),
    "floats": (-1.0, 1.0),
    "other numbers": (2, 7),
    "texts": ("loses", "wins"),
    "objects": np.array(["loses", "wins"], dtype=object),
    "small unsigned": np.array([0, 1], dtype=np.uint8),
}


@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric", "none"])
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS.keys())
def test_labels_of_any_two_values(symmetry, labels):
    pairs, y = data()
    named = np.asarray(labels)[(y > 0).astype(int)]
    plain, other = (
        PairSVC(symmetry, kernel=Gaussian(1.0)).fit(pairs, given) for given in (y, named)
    )
    assert np.array_equal(other.classes_, np.asarray(labels))
    assert np.array_equal(
        other.decision_function(new_pairs()), plain.decision_function(new_pairs())
    )
    predicted = other.predict(new_pairs())
    assert predicted.dtype == np.asarray(labels).dtype
    assert np.array_equal(predicted == labels[1], plain.predict(new_pairs()) == 1)
    assert other.score(pairs, named) == plain.score(pairs, y)


@pytest.mark.parametrize(
    ("label", "classes"),
    [
        (1, [-1, 1]),
        (-1, [-1, 1]),
        (2.5, [-2.5, 2.5]),
        (True, [False, True]),
        (False, [False, True]),
        (np.uint8(1), [-1, 1]),
        (np.int8(-128), [-128, 128]),
    ],
    ids=repr,
)
def test_winner_first_rows_need_one_label_only(label, classes):
    """In the antisymmetric case a swap shows the other class."""
    pairs, y = ranking()
    turned = Pairs(
        pairs.objects,
        np.where(y > 0, pairs.first, pairs.second),
        np.where(y > 0, pairs.second, pairs.first),
    )
    one_class = PairSVC("antisymmetric", kernel="linear", tol=1e-9).fit(
        turned, np.full(len(y), label)
    )
    two_classes = PairSVC("antisymmetric", kernel="linear", tol=1e-9).fit(pairs, y)
    assert one_class.classes_.tolist() == classes
    sign = 1.0 if label == classes[1] else -1.0
    np.testing.assert_allclose(
        one_class.decision_function(pairs),
        sign * two_classes.decision_function(pairs),
        rtol=0,
        atol=1e-7,
    )


@pytest.mark.parametrize("label", [0, "wins"], ids=repr)
def test_one_label_without_an_opposite(label):
    pairs, _ = ranking()
    with pytest.raises(ValueError, match=r"got one class only, .*opposite cannot be named"):
        PairSVC("antisymmetric", kernel="linear").fit(pairs, [label] * len(pairs))


# Ties -------------------------------------------------------------------------------------------


def tied_and_not(pairs):
    """A pair of an object with itself, then the best against the worst."""
    return Pairs(pairs.objects, [3, 11, 0], [3, 0, 11])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ((-1, 1), [0, 1, -1]),
        ((-1.0, 1.0), [0.0, 1.0, -1.0]),
        ((0, 1), [0.5, 1.0, 0.0]),
        ((2, 7), [4.5, 7.0, 2.0]),
        ((False, True), [0.5, 1.0, 0.0]),
        (("loses", "wins"), ["tie", "wins", "loses"]),
        (("a", "b"), ["tie", "b", "a"]),
        (np.array(["a", "b"], dtype=object), ["tie", "b", "a"]),
        (np.array([0, 1], dtype=np.uint8), [0.5, 1.0, 0.0]),
    ],
    ids=repr,
)
def test_a_decision_of_exactly_zero_is_a_tie(labels, expected):
    pairs, y = ranking(labels)
    model = PairSVC("antisymmetric", kernel="linear").fit(pairs, y)
    assert model.decision_function(tied_and_not(pairs))[0] == 0.0
    assert model.predict(tied_and_not(pairs)).tolist() == expected


@pytest.mark.parametrize(
    ("labels", "tie_label", "expected"),
    [
        ((-1, 1), 9, [9, 1, -1]),
        ((-1, 1), "draw", ["draw", 1, -1]),
        ((-1, 1), np.nan, [np.nan, 1.0, -1.0]),
        (("loses", "wins"), "neither of the two", ["neither of the two", "wins", "loses"]),
        (("loses", "wins"), 0, [0, "wins", "loses"]),
    ],
    ids=repr,
)
def test_tie_label_is_the_users(labels, tie_label, expected):
    pairs, y = ranking(labels)
    model = PairSVC("antisymmetric", kernel="linear", tie_label=tie_label).fit(pairs, y)
    predicted = model.predict(tied_and_not(pairs)).tolist()
    assert predicted[1:] == expected[1:]
    assert predicted[0] == expected[0] or (predicted[0] != predicted[0] and tie_label != tie_label)


def test_no_tie_no_change_of_type():
    pairs, y = ranking((0, 1))
    predicted = (
        PairSVC("antisymmetric", kernel="linear").fit(pairs, y).predict(tied_and_not(pairs)[1:])
    )
    assert predicted.dtype == y.dtype
    assert predicted.tolist() == [1, 0]


def test_score_counts_a_tie_as_one_half():
    pairs, y = ranking()
    model = PairSVC("antisymmetric", kernel="linear", C=100.0).fit(pairs, y)
    probe = tied_and_not(pairs)
    assert model.score(probe, [1, 1, -1]) == pytest.approx(2.5 / 3.0)
    assert model.score(probe, [-1, 1, -1]) == pytest.approx(2.5 / 3.0)
    assert model.score(probe, [1, -1, 1]) == pytest.approx(0.5 / 3.0)
    assert model.score(probe, [1, 1, -1], sample_weight=[2.0, 1.0, 1.0]) == pytest.approx(0.75)
    assert model.score(probe, [1, 1, -1], sample_weight=[0.0, 1.0, 1.0]) == 1.0


# Attributes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("training_set", ["halved", "full"])
def test_decisions_follow_from_the_attributes(symmetry, training_set):
    """support_, dual_coef_ and intercept_ are the model, as the paper writes it."""
    pairs, y = data()
    model = PairSVC(symmetry, kernel=Gaussian(1.0), training_set=training_set).fit(pairs, y)
    rows = pairs.with_mirrored() if training_set == "full" else pairs
    sign = 1.0 if symmetry == "symmetric" else -1.0
    labels = np.concatenate([y, sign * y])
    assert np.array_equal(np.sign(model.dual_coef_), labels[model.support_])
    assert np.abs(model.dual_coef_).max() <= (1.0 if training_set == "full" else 2.0)
    kernel = Gaussian(1.0)
    gram = kernel.gram(new_pairs(), rows[model.support_])
    mirrored = kernel.gram(new_pairs().swap(), rows[model.support_])
    values = (gram + sign * mirrored) / 2.0 @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(model.decision_function(new_pairs()), values, rtol=0, atol=1e-12)
    assert np.array_equal(model.support_pairs_.to_rows(), rows[model.support_].to_rows())


def test_C_means_the_same_on_both_sets():
    pairs, y = data()
    for C in (0.1, 1.0, 10.0):
        halved, full = (
            PairSVC("symmetric", kernel=Gaussian(1.0), C=C, training_set=training_set, tol=1e-8)
            for training_set in ("halved", "full")
        )
        assert halved.fit(pairs, y).objective_ == pytest.approx(
            full.fit(pairs, y).objective_, rel=1e-8
        )
    ten_times = PairSVC("symmetric", kernel=Gaussian(1.0), C=0.1, tol=1e-8).fit(pairs, y)
    assert ten_times.objective_ != pytest.approx(halved.objective_, rel=1e-2)


@pytest.mark.parametrize("symmetry", BOTH)
def test_which_order_a_pair_is_written_in_does_not_matter(symmetry):
    """J may be written either way: the model is the same."""
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
    one = PairSVC(symmetry, kernel=Gaussian(1.0), tol=1e-9).fit(pairs, y)
    two = PairSVC(symmetry, kernel=Gaussian(1.0), tol=1e-9).fit(
        other, np.where(turned, sign * y, y)
    )
    np.testing.assert_allclose(
        one.decision_function(new_pairs()), two.decision_function(new_pairs()), rtol=0, atol=1e-7
    )


# Weights ----------------------------------------------------------------------------------------


def assert_same_model(one, two):
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-8)
    np.testing.assert_allclose(
        one.decision_function(new_pairs()), two.decision_function(new_pairs()), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("symmetry", [*BOTH, "none"])
def test_whole_weights_are_repeated_rows(symmetry, training_set):
    pairs, y = data()
    weights = np.random.default_rng(2).integers(0, 4, size=N)
    model = PairSVC(symmetry, kernel=Gaussian(1.0), training_set=training_set, tol=1e-9)
    repeated = np.repeat(np.arange(N), weights)
    weighted = clone(model).fit(pairs, y, sample_weight=weights)
    assert_same_model(weighted, clone(model).fit(pairs[repeated], y[repeated]))
    plain = clone(model).fit(pairs, y)
    assert weighted.objective_ != pytest.approx(plain.objective_, rel=1e-3)


@pytest.mark.parametrize("symmetry", [*BOTH, "none"])
def test_zero_weights_are_dropped_rows(symmetry):
    pairs, y = data()
    weights = (np.arange(N) % 3 > 0).astype(float)
    model = PairSVC(symmetry, kernel=Gaussian(1.0), tol=1e-9)
    weighted = clone(model).fit(pairs, y, sample_weight=weights)
    kept = weights > 0
    assert_same_model(weighted, clone(model).fit(pairs[kept], y[kept]))
    assert not np.isin(weighted.support_, np.flatnonzero(~kept)).any()


def test_weights_scale_C():
    pairs, y = data()
    weighted = PairSVC("symmetric", kernel=Gaussian(1.0), C=1.0, tol=1e-9).fit(
        pairs, y, np.full(N, 3.0)
    )
    assert_same_model(
        weighted, PairSVC("symmetric", kernel=Gaussian(1.0), C=3.0, tol=1e-9).fit(pairs, y)
    )


def test_class_weights_by_label():
    pairs, y = data()
    named = np.where(y > 0, "same", "other")
    by_class = PairSVC(
        "symmetric", kernel=Gaussian(1.0), class_weight={"same": 3.0, "other": 0.5}, tol=1e-9
    ).fit(pairs, named)
    weights = np.where(y > 0, 3.0, 0.5)
    assert_same_model(
        by_class, PairSVC("symmetric", kernel=Gaussian(1.0), tol=1e-9).fit(pairs, y, weights)
    )


def test_balanced_class_weights():
    pairs, y = data()
    y = np.where(np.arange(N) < 10, 1, -1)
    balanced = PairSVC("symmetric", kernel=Gaussian(1.0), class_weight="balanced", tol=1e-9).fit(
        pairs, y
    )
    weights = np.where(y > 0, N / 20.0, N / 60.0)
    assert_same_model(
        balanced, PairSVC("symmetric", kernel=Gaussian(1.0), tol=1e-9).fit(pairs, y, weights)
    )


@pytest.mark.parametrize("class_weight", ["balanced", {-1: 2.0, 1: 2.0}], ids=repr)
def test_equal_class_weights_are_fine_in_the_antisymmetric_case(class_weight):
    pairs, y = data()
    model = PairSVC("antisymmetric", kernel=Gaussian(1.0), class_weight=class_weight, tol=1e-9)
    C = 1.0 if class_weight == "balanced" else 2.0
    plain = PairSVC("antisymmetric", kernel=Gaussian(1.0), C=C, tol=1e-9).fit(pairs, y)
    assert_same_model(model.fit(pairs, y), plain)


# Input ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("symmetry", [*BOTH, "none"])
def test_rows_pairs_and_sparse_pairs_are_the_same_data(symmetry):
    pairs, y = data()
    model = PairSVC(symmetry, kernel=Gaussian(1.0), tol=1e-9, n_symmetric=2, n_antisymmetric=2)
    expected = clone(model).fit(pairs, y).decision_function(new_pairs())
    for given, new in [
        (pairs.to_rows(), new_pairs().to_rows()),
        (pairs.to_rows().tolist(), new_pairs()),
        (cases.sparse_twin(pairs), cases.sparse_twin(new_pairs())),
        (cases.sparse_twin(pairs).to_rows(), cases.sparse_twin(new_pairs()).to_rows()),
        (pairs, cases.sparse_twin(new_pairs())),
    ]:
        decisions = clone(model).fit(given, y).decision_function(new)
        np.testing.assert_allclose(decisions, expected, rtol=0, atol=1e-6)


def test_frames_of_wide_rows():
    pd = pytest.importorskip("pandas", reason="pandas comes with the command line extra")
    pairs, y = data(widths=(2, 0, 0))
    frame = pd.DataFrame(pairs.to_rows(), columns=["a1", "a2", "b1", "b2"])
    model = PairSVC("symmetric", kernel=Gaussian(1.0)).fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == ["a1", "a2", "b1", "b2"]
    plain = PairSVC("symmetric", kernel=Gaussian(1.0)).fit(pairs, y)
    assert np.array_equal(model.decision_function(frame), plain.decision_function(pairs))


def test_nothing_of_the_users_is_changed():
    pairs, y = data()
    weights = np.ones(N)
    before = pairs.to_rows().copy(), y.copy(), weights.copy()
    kernel = Gaussian(1.0)
    PairSVC("symmetric", kernel=kernel).fit(pairs, y, weights).predict(pairs)
    assert np.array_equal(pairs.to_rows(), before[0])
    assert np.array_equal(y, before[1])
    assert np.array_equal(weights, before[2])
    assert kernel == Gaussian(1.0)


@pytest.mark.parametrize("symmetry", BOTH)
def test_later_changes_do_not_reach_a_fitted_model(symmetry):
    """Neither the data, nor the labels, nor the kernel that the user goes on working with."""
    pairs, y = data()
    model = PairSVC(symmetry, kernel=Product(Gaussian(1.0))).fit(pairs, y)
    expected = model.decision_function(new_pairs())
    pairs.objects[:] = 0.0
    pairs.symmetric[:] = 0.0
    pairs.first[:] = 0
    model.set_params(kernel__k1__sigma=99.0, C=7.0, symmetry="none")
    model.set_params(symmetry=symmetry)
    assert np.array_equal(model.decision_function(new_pairs()), expected)


@pytest.mark.parametrize("symmetry", [*BOTH, "none"])
def test_no_pairs_to_predict(symmetry):
    pairs, y = data()
    model = PairSVC(symmetry, kernel=Gaussian(1.0)).fit(pairs, y)
    assert model.decision_function(pairs[:0]).shape == (0,)
    assert model.predict(pairs[:0]).shape == (0,)


def test_self_pairs_are_data_in_the_symmetric_case():
    """Footnote 5: the bound of a pair (a, a) on J is the same 2C."""
    pairs, y = data(widths=(2, 0, 0))
    with_self = Pairs(
        pairs.objects, np.append(pairs.first, [0, 1]), np.append(pairs.second, [0, 1])
    )
    labels = np.append(y, [1, 1])
    halved, full = (
        PairSVC("symmetric", kernel=Gaussian(1.0), training_set=training_set, tol=1e-9).fit(
            with_self, labels
        )
        for training_set in ("halved", "full")
    )
    assert halved.objective_ == pytest.approx(full.objective_, rel=1e-8)


# scikit-learn around it -------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::pairity.exceptions.LeakageWarning")  # rows at random
@pytest.mark.parametrize("symmetry", BOTH)
def test_search_over_kernel_parameters(symmetry):
    pairs, y = data()
    search = GridSearchCV(
        PairSVC(symmetry, kernel=Gaussian(1.0)),
        {"kernel__sigma": [0.3, 1.0, 3.0], "C": [0.1, 10.0]},
        cv=KFold(3),
    ).fit(pairs, y)
    assert len(search.cv_results_["params"]) == 6
    assert search.best_estimator_.kernel.sigma == search.best_params_["kernel__sigma"]
    by_hand = [
        PairSVC(
            symmetry,
            kernel=Gaussian(search.best_params_["kernel__sigma"]),
            C=search.best_params_["C"],
        )
        .fit(pairs[train], y[train])
        .score(pairs[test], y[test])
        for train, test in KFold(3).split(pairs)
    ]
    assert search.best_score_ == pytest.approx(np.mean(by_hand), rel=1e-12)
    assert search.predict(new_pairs()).shape == (15,)


@pytest.mark.filterwarnings("ignore::pairity.exceptions.LeakageWarning")  # rows at random
def test_search_over_kernels():
    pairs, y = data()
    kernels = ["linear", Tensor(Gaussian(0.5)), "tensor_metric"]
    search = GridSearchCV(PairSVC("symmetric"), {"kernel": kernels}, cv=3).fit(pairs, y)
    assert search.best_params_["kernel"] in kernels


@pytest.mark.filterwarnings("ignore::pairity.exceptions.LeakageWarning")  # rows at random
def test_cross_validation():
    pairs, y = ranking()
    scores = cross_val_score(PairSVC("antisymmetric", kernel="linear", C=100.0), pairs, y, cv=4)
    assert scores.shape == (4,)
    assert scores.mean() > 0.9


def test_splitting_off_a_test_set():
    pairs, y = ranking(n=80)
    train, test, y_train, y_test = train_test_split(pairs, y, random_state=0)
    model = PairSVC("antisymmetric", kernel="linear", C=100.0).fit(train, y_train)
    assert model.score(test, y_test) > 0.9


def test_pipelines():
    pairs, y = data(widths=(2, 0, 0))
    scaled = make_pipeline(StandardScaler(), PairSVC("symmetric", kernel=Gaussian(1.0)))
    with pytest.warns(SwapLawWarning, match="scaled apart"):
        scaled.fit(pairs.to_rows(), y)
    assert scaled.predict(pairs.to_rows()).shape == (N,)
    swapped = Pipeline(
        [
            ("swap", FunctionTransformer(Pairs.swap)),
            ("svc", PairSVC("antisymmetric", kernel="gaussian")),
        ]
    )
    swapped.fit(pairs, y)
    plain = PairSVC("antisymmetric", kernel="gaussian").fit(pairs.swap(), y)
    assert np.array_equal(
        swapped.decision_function(new_pairs(widths=(2, 0, 0))),
        plain.decision_function(new_pairs(widths=(2, 0, 0)).swap()),
    )
    swapped.set_params(svc__C=3.0)
    assert swapped.get_params()["svc__C"] == 3.0


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("kernel", ["tensor", Gaussian(2.0), cases.rows_dot], ids=[*"tgf"])
def test_clone_and_pickle(symmetry, kernel):
    if kernel == "tensor" and symmetry == "antisymmetric":
        kernel = "product"
    pairs, y = data()
    model = PairSVC(symmetry, kernel=kernel, C=3.0, training_set="full").fit(pairs, y)
    copy = clone(model)
    assert copy.get_params()["C"] == 3.0
    assert not hasattr(copy, "support_")
    restored = pickle.loads(pickle.dumps(model))
    assert np.array_equal(
        restored.decision_function(new_pairs()), model.decision_function(new_pairs())
    )


def test_fit_writes_no_parameter():
    pairs, y = data()
    model = PairSVC("symmetric", kernel="gaussian")
    before = dict(model.get_params())
    model.fit(pairs, y)
    assert model.get_params() == before
    assert model.kernel == "gaussian"


def test_refitting_forgets():
    pairs, y = data()
    model = PairSVC("symmetric", kernel=Gaussian(1.0), tol=1e-8).fit(pairs, y)
    model.fit(pairs[:20], y[:20])
    fresh = PairSVC("symmetric", kernel=Gaussian(1.0), tol=1e-8).fit(pairs[:20], y[:20])
    assert np.array_equal(
        model.decision_function(new_pairs()), fresh.decision_function(new_pairs())
    )


def test_verbose_goes_to_standard_error(capsys):
    pairs, y = data()
    PairSVC("symmetric", kernel="gaussian", verbose=True).fit(pairs, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "KKT violation" in captured.err
    PairSVC("symmetric", kernel="gaussian").fit(pairs, y)
    assert capsys.readouterr().err == ""


def test_one_class_left_by_the_weights():
    """Nothing to learn but the label: no support vector, and the label as bias."""
    pairs, y = data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PairSVC("symmetric", kernel=Gaussian(1.0)).fit(pairs, y, (y > 0).astype(float))
    assert len(model.support_) == 0
    assert model.intercept_ == 1.0
    assert (model.predict(new_pairs()) == 1).all()


def test_the_name_of_the_linear_kernel_is_the_linear_kernel():
    pairs, y = data()
    one, two = (
        PairSVC("symmetric", kernel=kernel).fit(pairs, y) for kernel in ("linear", Linear())
    )
    assert np.array_equal(one.dual_coef_, two.dual_coef_)
