"""PairLogistic: probabilities that add up and mirror exactly, labels, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import cases
from pairity import PairLogistic, Pairs
from pairity.kernels import Gaussian, Linear
from pairity.losses.probabilities import two_probabilities

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")

BOTH = ["symmetric", "antisymmetric"]
EVERY = [*BOTH, "none"]
N = 40
for_each_symmetry = pytest.mark.parametrize("symmetry", EVERY)


def data(widths=cases.WIDTHS):
    return cases.random_pairs(71, n=N, m=12, widths=widths), cases.random_labels(71, N)


def new_pairs(n=200, widths=cases.WIDTHS):
    return cases.random_pairs(72, n=n, m=20, widths=widths)


def fitted(symmetry, kernel=None, C=5.0, **options):
    kernel = Gaussian(1.0) if kernel is None else kernel
    return PairLogistic(symmetry, kernel=kernel, C=C, **options).fit(*data())


def same_objects():
    """Each object with itself, and with a twin of itself; group features that a swap keeps."""
    pairs = new_pairs(20)
    objects = np.vstack([pairs.objects, pairs.objects])
    first = np.concatenate([pairs.first, pairs.first])
    second = np.concatenate([pairs.first, pairs.first + 20])
    symmetric = np.vstack([pairs.symmetric, pairs.symmetric])
    return Pairs(objects, first, second, symmetric, np.zeros_like(symmetric))


# Two probabilities ------------------------------------------------------------------------------

decisions = st.floats(allow_nan=False)
ordinary = st.floats(-40.0, 40.0)


@given(st.lists(decisions | ordinary, min_size=1, max_size=20))
def test_two_probabilities_add_up_and_mirror(values):
    values = np.array(values)
    both = two_probabilities(values)
    assert both.shape == (len(values), 2)
    assert (both.sum(axis=1) == 1.0).all()
    assert (both[:, 0] + both[:, 1] == 1.0).all()
    assert ((both >= 0.0) & (both <= 1.0)).all()
    assert np.array_equal(two_probabilities(-values), both[:, ::-1])
    larger = np.where(values >= 0, both[:, 1], both[:, 0])
    assert (larger >= 0.5).all()


@given(st.lists(ordinary, min_size=1, max_size=20))
def test_two_probabilities_are_logistic(values):
    values = np.array(values)
    both = two_probabilities(values)
    np.testing.assert_allclose(both[:, 1], expit(values), rtol=0, atol=2.3e-16)
    smaller = both.min(axis=1)
    np.testing.assert_allclose(smaller, expit(-np.abs(values)), rtol=1e-15)


@given(decisions, decisions)
def test_two_probabilities_keep_the_order(one, two):
    low, high = two_probabilities(np.sort([one, two]))
    assert low[1] <= high[1]
    assert low[0] >= high[0]


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_a_decision_of_zero_is_one_half(zero):
    assert two_probabilities(np.array([zero])).tolist() == [[0.5, 0.5]]


def test_the_naive_way_does_not_add_up():
    """The test can fail: expit(f) + expit(-f) is not 1 for every f."""
    values = np.random.default_rng(1).normal(size=1000)
    assert (expit(values) + expit(-values) != 1.0).any()


# Probabilities of a model -----------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Gaussian(3.0), Linear()], ids=repr)
@pytest.mark.parametrize("C", [0.1, 5.0, 1e4])
@for_each_symmetry
def test_rows_add_up_to_one(symmetry, C, kernel):
    probabilities = fitted(symmetry, kernel, C).predict_proba(new_pairs())
    assert probabilities.shape == (200, 2)
    assert (probabilities.sum(axis=1) == 1.0).all()
    assert ((probabilities >= 0.0) & (probabilities <= 1.0)).all()
    assert np.ptp(probabilities[:, 1]) > 1e-3


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("C", [0.1, 5.0, 1e4])
def test_two_orders_of_an_antisymmetric_model(C, training_set):
    """P(a beats b) + P(b beats a) == 1."""
    model = fitted("antisymmetric", C=C, training_set=training_set)
    pairs = new_pairs()
    there, back = model.predict_proba(pairs), model.predict_proba(pairs.swap())
    assert (there[:, 1] + back[:, 1] == 1.0).all()
    assert np.array_equal(back, there[:, ::-1])
    log_there, log_back = model.predict_log_proba(pairs), model.predict_log_proba(pairs.swap())
    assert np.array_equal(log_back, log_there[:, ::-1])
    assert model.intercept_ == 0.0


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("C", [0.1, 5.0, 1e4])
def test_two_orders_of_a_symmetric_model(C, training_set):
    model = fitted("symmetric", C=C, training_set=training_set)
    pairs = new_pairs()
    assert np.array_equal(model.predict_proba(pairs.swap()), model.predict_proba(pairs))
    assert np.array_equal(model.predict_log_proba(pairs.swap()), model.predict_log_proba(pairs))


@pytest.mark.parametrize("training_set", ["halved", "full"])
def test_an_object_with_itself_is_an_even_match(training_set):
    model = fitted("antisymmetric", training_set=training_set)
    pairs = same_objects()
    assert (model.predict_proba(pairs) == 0.5).all()
    assert (model.predict_log_proba(pairs) == -np.log(2.0)).all()
    assert model.predict(pairs).tolist() == [0] * len(pairs)


def test_there_is_no_law_without_a_symmetry():
    """The tests can fail."""
    model, pairs = fitted("none"), new_pairs()
    there, back = model.predict_proba(pairs)[:, 1], model.predict_proba(pairs.swap())[:, 1]
    assert np.abs(there - back).max() > 1e-2
    assert np.abs(there + back - 1.0).max() > 1e-2


@for_each_symmetry
def test_probabilities_decisions_and_labels_say_the_same(symmetry):
    model, pairs = fitted(symmetry), new_pairs()
    decisions, probabilities = model.decision_function(pairs), model.predict_proba(pairs)
    assert np.array_equal(probabilities, two_probabilities(decisions))
    assert np.array_equal(model.predict(pairs) == 1, probabilities[:, 1] > 0.5)
    np.testing.assert_allclose(
        model.predict_log_proba(pairs), np.log(probabilities), rtol=1e-12, atol=1e-15
    )


def test_logarithms_of_tiny_probabilities():
    """Beyond where exp(-f) is 0: a linear model far outside of its data."""
    pairs, y = data((2, 0, 0))
    model = PairLogistic("antisymmetric", kernel=Linear()).fit(pairs, y)
    for size in (1e2, 1e4, 1e150, 1e300):
        far = Pairs(size * pairs.objects, pairs.first, pairs.second)
        decisions, logs = model.decision_function(far), model.predict_log_proba(far)
        assert np.isfinite(logs).all()
        assert (logs <= 0.0).all()
        sure = np.abs(decisions) > 800.0
        assert sure.any() == (size > 1e2)
        assert np.array_equal(logs.min(axis=1)[sure], -np.abs(decisions[sure]))
        probabilities = model.predict_proba(far)
        assert (probabilities.sum(axis=1) == 1.0).all()
        assert np.array_equal(model.predict_proba(far.swap()), probabilities[:, ::-1])


# Calibration ------------------------------------------------------------------------------------


@pytest.mark.parametrize("symmetry", ["symmetric", "none"])
def test_mean_probability_is_the_share_of_the_label(symmetry):
    """What the bias is for, exactly at the optimum."""
    pairs, y = data()
    model = PairLogistic(symmetry, kernel=Gaussian(1.0), tol=1e-12).fit(pairs, y)
    assert model.predict_proba(pairs)[:, 1].mean() == pytest.approx(np.mean(y > 0), abs=1e-10)


def test_probabilities_of_a_known_law():
    """Bradley-Terry: P(a beats b) = expit(s_a - s_b) is found again from games won and lost."""
    pairs = Pairs.complete(np.random.default_rng(3).normal(size=(10, 1)))
    truth = expit(pairs.objects[pairs.first, 0] - pairs.objects[pairs.second, 0])
    won = np.random.default_rng(4).binomial(1000, truth)
    n = len(pairs)
    rows, labels = np.tile(np.arange(n), 2), np.repeat([1, -1], n)
    model = PairLogistic("antisymmetric", kernel=Linear(), C=10.0, tol=1e-9)
    model.fit(pairs[rows], labels, np.concatenate([won, 1000 - won]))
    found = model.predict_proba(pairs)[:, 1]
    assert np.abs(found - truth).max() < 0.03
    strengths = pairs.objects[pairs.first] - pairs.objects[pairs.second]
    # the condition of the optimum: strengths of wins expected are strengths of wins seen
    assert strengths[:, 0] @ found == pytest.approx(strengths[:, 0] @ won / 1000, abs=1e-3)


# Labels, refusals -------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [(0, 1), ("loses", "wins"), (False, True)], ids=repr)
def test_columns_are_those_of_the_classes(labels):
    pairs, y = data()
    named = np.asarray(labels)[(y > 0).astype(int)]
    plain, other = (PairLogistic("symmetric").fit(pairs, given) for given in (y, named))
    assert other.classes_.tolist() == list(labels)
    assert np.array_equal(other.predict_proba(pairs), plain.predict_proba(pairs))
    assert np.array_equal(other.predict(pairs) == labels[1], plain.predict(pairs) == 1)


def test_winner_first_rows_need_one_label_only():
    pairs, y = data()
    turned = Pairs(
        pairs.objects,
        np.where(y > 0, pairs.first, pairs.second),
        np.where(y > 0, pairs.second, pairs.first),
        pairs.symmetric,
        y[:, None] * pairs.antisymmetric,
    )
    one = PairLogistic("antisymmetric", kernel=Gaussian(1.0), tol=1e-12).fit(turned, np.ones(N))
    two = PairLogistic("antisymmetric", kernel=Gaussian(1.0), tol=1e-12).fit(pairs, y)
    assert one.classes_.tolist() == [-1.0, 1.0]
    np.testing.assert_allclose(
        one.predict_proba(new_pairs()), two.predict_proba(new_pairs()), rtol=0, atol=1e-11
    )


@pytest.mark.parametrize("symmetry", ["symmetric", "none"])
def test_one_class(symmetry):
    pairs, _ = data()
    with pytest.raises(ValueError, match=r"got one class only, .*expected pairs of two classes"):
        PairLogistic(symmetry).fit(pairs, np.ones(N, dtype=int))


def test_one_class_without_an_opposite():
    pairs, _ = data()
    with pytest.raises(ValueError, match=r"got one class only, .*opposite cannot be named"):
        PairLogistic("antisymmetric").fit(pairs, ["wins"] * N)


@pytest.mark.parametrize("symmetry", ["symmetric", "none"])
@pytest.mark.parametrize("label", [-1, 1])
def test_one_class_that_has_weight_is_certain(symmetry, label):
    pairs, y = data()
    model = PairLogistic(symmetry, kernel=Gaussian(1.0)).fit(
        pairs, y, np.where(y == label, 1.0, 0.0)
    )
    assert (model.predict(new_pairs()) == label).all()
    probabilities = model.predict_proba(new_pairs())
    assert probabilities[:, (label + 1) // 2].min() > 1.0 - 1e-12


def test_class_weights_of_an_antisymmetric_model():
    pairs, y = data()
    message = r"for an antisymmetric model; expected equal weights: .*\(Lemma 1\).*sample_weight"
    with pytest.raises(ValueError, match=message):
        PairLogistic("antisymmetric", class_weight={-1: 1.0, 1: 3.0}).fit(pairs, y)
    plain = PairLogistic("antisymmetric", C=2.0).fit(pairs, y)
    equal = PairLogistic("antisymmetric", class_weight={-1: 2.0, 1: 2.0}).fit(pairs, y)
    balanced = PairLogistic("antisymmetric", C=2.0, class_weight="balanced").fit(pairs, y)
    assert np.array_equal(equal.dual_coef_, plain.dual_coef_)
    assert np.array_equal(balanced.dual_coef_, plain.dual_coef_)


@for_each_symmetry
def test_class_weights_that_leave_nothing(symmetry):
    pairs, y = data()
    with pytest.raises(ValueError, match=r"got class_weight .* no row with a weight above 0"):
        PairLogistic(symmetry, class_weight={-1: 0.0, 1: 0.0}).fit(pairs, y)


@pytest.mark.parametrize(
    "parameters",
    [{"C": 0.0}, {"C": np.inf}, {"solver": "smo"}, {"tol": 0.0}, {"max_iter": 0}],
    ids=str,
)
def test_parameters_out_of_range(parameters):
    pairs, y = data()
    (name,) = parameters
    with pytest.raises(ValueError, match=rf"got {name}=.*; expected"):
        PairLogistic(**{"symmetry": "symmetric"} | parameters).fit(pairs, y)


def test_an_object_with_itself_in_antisymmetric_training():
    pairs = Pairs(np.eye(3), [0, 1, 2], [1, 1, 0])
    with pytest.raises(ValueError, match="got row 1 that pairs an object with itself"):
        PairLogistic("antisymmetric").fit(pairs, [1, -1, 1])


# scikit-learn around it -------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::pairity.exceptions.LeakageWarning")  # rows at random
@pytest.mark.parametrize("symmetry", BOTH)
def test_log_loss_chooses_C(symmetry):
    pairs, y = data()
    folds = KFold(4, shuffle=True, random_state=0)
    search = GridSearchCV(
        PairLogistic(symmetry, kernel=Gaussian(1.0)),
        {"C": [0.01, 1.0, 100.0]},
        scoring="neg_log_loss",
        cv=folds,
    ).fit(pairs, y)
    by_hand = [
        cross_val_score(
            PairLogistic(symmetry, kernel=Gaussian(1.0), C=C),
            pairs,
            y,
            scoring="neg_log_loss",
            cv=folds,
        ).mean()
        for C in (0.01, 1.0, 100.0)
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], by_hand, rtol=1e-12)
    assert search.best_index_ == int(np.argmax(by_hand))
