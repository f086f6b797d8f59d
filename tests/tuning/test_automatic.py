"""The automatic model: members on shared folds, weights that cannot overfit, the swap law."""

import pickle
import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import estimator_checks_generator

import cases
import pairity
from declared_checks import CANNOT_BE_HALVED, EQUAL_HALVES, ODD_WIDTH, SELF_PAIRS, run_check
from pairity import PairClassifierCV, PairLogistic, PairRegressorCV, Pairs
from pairity.estimators.object_effects import EffectColumns, Effects, fit_parameters
from pairity.exceptions import PairityWarning
from pairity.kernels import Additive, Identity, Product
from pairity.model_selection import Sigmoid
from pairity.model_selection.members import drawn, sampled
from pairity.model_selection.weights import HeldOut, member_weights, weights_by_name
from pairity.pairs.parity import Parity
from pairity.training.read import read

SIGNS = {"symmetric": 1.0, "antisymmetric": -1.0}


def made_up(seed=0, m=26, noise=0.7):
    """Pairs with features, ids, and decisions that are linear and intransitive in parts."""
    rng = np.random.default_rng(seed)
    objects = rng.normal(size=(m, 3))
    pairs = Pairs.complete(objects, ids=[f"object {row}" for row in range(m)])
    a, b = objects[pairs.first], objects[pairs.second]
    odd = a[:, 0] - b[:, 0] + a[:, 1] * b[:, 2] - b[:, 1] * a[:, 2]
    even = 1.0 - np.abs(a[:, 0] - b[:, 0])
    noisy = noise * rng.logistic(size=len(pairs))
    return pairs, {"antisymmetric": odd + noisy, "symmetric": even + noisy}


def labels_of(values):
    return np.where(values > 0.0, 1, -1)


@pytest.fixture(scope="module", params=sorted(SIGNS))
def fitted(request):
    pairs, values = made_up()
    model = PairClassifierCV(request.param).fit(pairs, labels_of(values[request.param]))
    return model, pairs, labels_of(values[request.param])


def test_the_swap_law_and_probabilities(fitted):
    model, pairs, _ = fitted
    sign = SIGNS[model.symmetry]
    for some in (pairs, pairs[:1], pairs[5:40]):
        assert (model.decision_function(some) == sign * model.decision_function(some.swap())).all()
    there, back = model.predict_proba(pairs), model.predict_proba(pairs.swap())
    assert (there.sum(axis=1) == 1.0).all()
    assert (there == (back[:, ::-1] if sign < 0 else back)).all()


def test_members_weights_and_what_each_contributes(fitted):
    model, pairs, y = fitted
    assert list(model.members_) == ["linear", "boosted trees", "kernels"]
    assert model.weights_ == {name: one.weight for name, one in model.members_.items()}
    assert sum(model.weights_.values()) > 0.5
    together = sum(model.contributions(pairs).values())
    assert np.allclose(together, model.decision_function(pairs))
    assert -model.best_score_ <= 1.05 * min(one.loss for one in model.members_.values())
    truth = labels_of(made_up(noise=0.0)[1][model.symmetry])
    assert model.score(pairs, y) > np.mean(truth == y) - 0.06
    assert model.certificate_ is model.best_estimator_.certificate_


def test_saving_and_pickling(fitted, tmp_path):
    model, pairs, _ = fitted
    pairity.save(model, tmp_path / "model")
    for again in (pairity.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert (again.decision_function(pairs) == model.decision_function(pairs)).all()
        assert again.weights_ == model.weights_


def test_the_order_in_which_rows_are_written_changes_nothing():
    pairs, values = made_up(3, m=22)
    y = labels_of(values["antisymmetric"])
    turned = np.random.default_rng(1).random(len(pairs)) < 0.5
    one = PairClassifierCV("antisymmetric", cv=3).fit(pairs, y)
    two = clone(one).fit(pairs.with_swapped(turned), np.where(turned, -y, y))
    assert one.weights_ == two.weights_
    assert (one.decision_function(pairs) == two.decision_function(pairs)).all()
    there, back = (
        one.held_out_as_written(pairs),
        two.held_out_as_written(pairs.with_swapped(turned)),
    )
    assert (there == np.where(turned, -1.0, 1.0)[one.held_out_rows_] * back).all()
    losses = np.logaddexp(0.0, -np.where(y > 0, 1.0, -1.0)[one.held_out_rows_] * there)
    assert losses.mean() == pytest.approx(-one.best_score_, rel=1e-9)


@pytest.mark.parametrize(
    ("m", "names"),
    [(9, ["linear"]), (13, ["linear", "kernels"]), (21, ["linear", "boosted trees"])],
)
def test_few_pairs_have_few_members(m, names):
    """36, 78 and 210 pairs; families of kernels are not weighed on the second."""
    pairs, values = made_up(1, m=m)
    for symmetry in SIGNS:
        model = PairClassifierCV(symmetry).fit(pairs, labels_of(values[symmetry]))
        assert list(model.members_)[:2] == names
        kernels = model.members_.get("kernels")
        assert m != 13 or kernels.model.combination_ is None
        there, back = (model.decision_function(some) for some in (pairs, pairs.swap()))
        assert (there == SIGNS[symmetry] * back).all()


def test_the_score_of_few_pairs_does_not_flatter():
    """Labels without any sense: the held-out loss must not be below that of a coin."""
    scores = []
    for seed in range(8):
        pairs, y = cases.random_pairs(seed, n=60, m=25), cases.random_labels(seed, 60)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PairityWarning)
            scores.append(-PairClassifierCV("antisymmetric").fit(pairs, y).best_score_)
    assert np.mean(scores) > np.log(2.0)


def test_many_pairs_keep_group_features_through_landmarks(monkeypatch, tmp_path):
    """A home effect that changes with the circumstances, beyond what exact machines take."""
    for name, value in {
        "_MOST_EXACT": 100,
        "_MOST_FOR_KERNELS": 350,
        "_MOST_FOR_TREES": 300,
    }.items():
        monkeypatch.setattr(f"pairity.model_selection.automatic_model.{name}", value)
    rng = np.random.default_rng(0)
    first = rng.integers(20, size=400)
    second = (first + rng.integers(1, 20, size=400)) % 20
    home, far = rng.choice([-1.0, 1.0], size=400), rng.random(400)
    group = far[:, np.newaxis], home[:, np.newaxis]
    pairs = Pairs(rng.normal(size=(20, 2)), first, second, *group)
    y = labels_of(3.0 * home * far + rng.logistic(size=400))
    with pytest.warns(PairityWarning, match="sample of 3[05]0 of 400 pairs"):
        model = PairClassifierCV("antisymmetric").fit(pairs, y)
    nothing = np.log(2.0)
    assert model.members_["kernels"].loss < 0.9 * nothing
    assert (model.decision_function(pairs) == -model.decision_function(pairs.swap())).all()
    assert model.best_estimator_.certificate_.holds
    pairity.save(model, tmp_path / "model")
    again = pairity.load(tmp_path / "model").decision_function(pairs)
    assert (again == model.decision_function(pairs)).all()


def test_a_small_memory_limit_leaves_a_sample_and_says_so(monkeypatch):
    monkeypatch.setattr("pairity.model_selection.automatic_model._FEWEST_IN_SAMPLE", 100)
    pairs, values = made_up()
    y = labels_of(values["antisymmetric"])
    with pytest.warns(PairityWarning) as said:
        model = PairClassifierCV("antisymmetric", memory_limit=1.0).fit(pairs, y)
    messages = " ".join(str(one.message) for one in said)
    assert "linear: fitted to a sample of" in messages
    assert "boosted trees: fitted to a sample of" in messages
    assert (model.decision_function(pairs) == -model.decision_function(pairs.swap())).all()


def test_regression():
    pairs, values = made_up(2, noise=0.1)
    for symmetry, sign in SIGNS.items():
        model = PairRegressorCV(symmetry, cv=3).fit(pairs, values[symmetry])
        assert (model.predict(pairs) == sign * model.predict(pairs.swap())).all()
        assert model.score(pairs, values[symmetry]) > 0.85


def test_another_estimator_for_boosting():
    pairs, values = made_up(1, m=22)
    y = labels_of(values["antisymmetric"])
    model = PairClassifierCV("antisymmetric", boosting=LogisticRegression()).fit(pairs, y)
    (given,) = model.members_["boosted trees"].model.models
    assert isinstance(given.estimator_, LogisticRegression)


def test_no_time_left_is_said():
    pairs, values = made_up(1, m=22)
    y = labels_of(values["antisymmetric"])
    with pytest.warns(PairityWarning, match="no time was left for boosted trees and kernels"):
        model = PairClassifierCV("antisymmetric", time_limit=1e-9).fit(pairs, y)
    assert list(model.members_) == ["linear"]


def test_nothing_learnt_is_said_and_members_dropped():
    pairs, y = cases.random_pairs(0, n=300, m=40), cases.random_labels(0, 300)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = PairClassifierCV("antisymmetric").fit(pairs, y)
    unused = [name for name, weight in model.weights_.items() if weight == 0.0]
    assert not unused or any("left out" in str(one.message) for one in said)
    assert np.abs(model.decision_function(pairs)).mean() < 1.5


@pytest.mark.parametrize("name", ["time_limit", "memory_limit"])
def test_refusals(name):
    pairs, values = made_up(1, m=13)
    with pytest.raises(ValueError, match=name):
        PairClassifierCV("antisymmetric", **{name: -1.0}).fit(pairs, labels_of(values["symmetric"]))


@pytest.mark.parametrize("make", [PairClassifierCV, PairRegressorCV])
@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("memory_limit", "x", "expected a finite number above 0"),
        ("random_state", -1, "expected a whole number, 0 or more"),
        ("random_state", None, "expected a whole number, 0 or more"),
        ("n_symmetric", 1.5, "expected a whole number, 0 or more"),
        ("n_antisymmetric", -1, "expected a whole number, 0 or more"),
        ("boosting", 3, "expected a (classifier|regressor)"),
        ("boosting", LogisticRegression, "expected a (classifier|regressor)"),
    ],
)
def test_refused_in_one_sentence(make, name, value, expected):
    pairs, values = made_up(1, m=6)
    with pytest.raises(ValueError, match=f"^got {name}={re.escape(repr(value))}; {expected}"):
        make("antisymmetric", **{name: value}).fit(pairs, labels_of(values["antisymmetric"]))


def test_large_seeds_are_seeds():
    pairs, values = made_up(1, m=13)
    y = labels_of(values["antisymmetric"])
    model = PairClassifierCV("antisymmetric", random_state=2**32).fit(pairs, y)
    assert "boosted trees" in model.members_


# Samples of rare labels ---------------------------------------------------------------------------


def rare_matches(n_pairs, n_objects, features):
    """Symmetric labels, three pairs of one of them."""
    rng = np.random.default_rng(0)
    pairs = Pairs.complete(rng.normal(size=(n_objects, features)), ids=range(n_objects))[:n_pairs]
    return pairs, np.where(np.isin(np.arange(n_pairs), (5, n_pairs // 2, n_pairs - 5)), 1, -1)


def test_a_sample_and_its_folds_have_both_labels(monkeypatch):
    """Kernels of names on a sample: no fold is dropped, and each held-out row has its decision."""
    monkeypatch.setattr("pairity.model_selection.automatic_model._MOST_FOR_KERNELS", 300)
    monkeypatch.setattr("pairity.model_selection.automatic_model._MOST_EXACT", 400)
    pairs, y = rare_matches(1200, 50, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PairityWarning)
        model = PairClassifierCV("symmetric").fit(pairs, y)
    assert np.isfinite(model.members_["kernels"].loss)
    assert model.decision_function(pairs).shape == (1200,)


@pytest.mark.parametrize("seed", range(3))
def test_the_machine_for_explanations_sees_both_labels(monkeypatch, seed):
    monkeypatch.setattr("pairity.model_selection.automatic_model._MOST_EXACT", 400)
    monkeypatch.setattr("pairity.model_selection.members._EXPLAINED_BY", 100)
    pairs, y = rare_matches(600, 40, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PairityWarning)
        model = PairClassifierCV("symmetric", random_state=seed).fit(pairs, y)
    assert set(y[model.best_estimator_.support_]) == {-1, 1}


def test_sampled_rows_are_the_drawn_ones_where_labels_are_not_rare():
    pairs, values = made_up()
    model = PairLogistic("symmetric")
    data = read(model, pairs, labels_of(values["symmetric"]), None)
    splits = [(np.arange(100, len(data)), np.arange(100)), (np.arange(100), np.arange(100, 325))]
    assert sampled(data, 80, 3, splits).tolist() == drawn(len(data), 80, 3).tolist()


# Effects of names --------------------------------------------------------------------------------


def games(seed, n, m=9):
    """Games between names, each beating those that follow in a circle: no strengths at all."""
    rng = np.random.default_rng(seed)
    first = rng.integers(m, size=n)
    second = (first + rng.integers(1, m, size=n)) % m
    y = np.where((second - first) % m <= m // 2, 1, -1)
    y = np.where(rng.random(n) < 0.1, -y, y)
    return Pairs(np.zeros((m, 0)), first, second, ids=[f"player {row}" for row in range(m)]), y


def test_intransitive_play_from_names_alone():
    pairs, y = games(0, 900)
    splits = [(np.arange(600), np.arange(600, 900))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PairityWarning)  # pairs come back, members are dropped
        model = PairClassifierCV("antisymmetric", cv=splits).fit(pairs, y)
    new, truth = games(1, 500)
    assert model.members_["linear"].chosen["pair_weight"] > 0.0
    assert model.score(new, truth) > 0.8


def logistic_effects(pairs, y):
    columns = EffectColumns.of(pairs, Parity.ODD)
    start = np.append(np.zeros(sum(columns.widths)), np.nan)
    design = columns.design(pairs, 1.0, 2.0)
    found = fit_parameters(design, y.astype(float), np.ones(len(y)), 0.7, "logistic", start)
    return Effects(columns, 1.0, 2.0, 0.7, found[:-1], 0.0)


def test_effects_are_the_kernel_machine():
    """The logistic machine of Additive(Identity()) + 2 Product(Identity()), by another solver."""
    pairs, y = games(3, 120)
    model = logistic_effects(pairs, y)
    kernel = Additive(Identity()) + 2.0 * Product(Identity())
    machine = PairLogistic("antisymmetric", kernel=kernel, C=0.7, tol=1e-8).fit(pairs, y)
    assert np.allclose(model.decisions(pairs), machine.decision_function(pairs), atol=1e-4)


def dense_design(columns, pairs, object_weight, pair_weight):
    """The matrix, entry by entry."""
    n, (d, m, _) = len(pairs), columns.widths
    dense = np.zeros((n, sum(columns.widths)))
    dense[:, :d] = columns.features(pairs)
    places = columns.known.places(pairs)
    for row in range(n):
        a, b = places[pairs.first[row]], places[pairs.second[row]]
        for end, sign in ((a, 1.0), (b, columns.parity.sign)):
            if end >= 0:
                dense[row, d + end] += sign * np.sqrt(object_weight)
        key = np.flatnonzero(columns.keys == min(a, b) * m + max(a, b))
        if min(a, b) >= 0 and len(key):
            sign = columns.parity.sign if a > b else 1.0
            dense[row, d + m + key[0]] = sign * np.sqrt(pair_weight)
    return dense


@pytest.mark.parametrize("parity", [Parity.EVEN, Parity.ODD])
@pytest.mark.parametrize("weights", [(0.5, 1.5), (0.3, 0.0), (0.0, 2.0), (0.0, 0.0)])
def test_the_design_is_the_matrix_entry_by_entry(parity, weights, rng):
    pairs = cases.random_pairs(1, n=40, m=8)
    columns = EffectColumns.of(pairs[:15].without_unused_objects(), parity)
    for some in (pairs, pairs[:15], pairs[:0]):
        design, dense = columns.design(some, *weights), dense_design(columns, some, *weights)
        right, left = rng.normal(size=dense.shape[1]), rng.normal(size=dense.shape[0])
        assert np.allclose(design.times(right), dense @ right)
        assert np.allclose(design.transposed(left), dense.T @ left)
        assert np.allclose(design.squares(left), (dense**2).T @ left)


@pytest.mark.parametrize("parity", [Parity.EVEN, Parity.ODD])
def test_least_squares_effects_by_a_dense_solve(parity):
    pairs, y = cases.random_pairs(1, n=40, m=8), cases.random_targets(1, 40)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=40)
    columns = EffectColumns.of(pairs, parity)
    bias = np.nan if parity is Parity.ODD else 0.0
    start = np.append(np.zeros(sum(columns.widths)), bias)
    found = fit_parameters(columns.design(pairs, 0.5, 1.5), y, weights, 0.3, "squared", start)
    ones = np.ones((40, 0 if parity is Parity.ODD else 1))
    dense = np.hstack([dense_design(columns, pairs, 0.5, 1.5), ones])
    penalty = np.append(np.ones(sum(columns.widths)), np.zeros(ones.shape[1]))
    left = 0.3 * (dense.T * weights) @ dense + np.diag(penalty)
    expected = np.linalg.solve(left, 0.3 * dense.T @ (weights * y))
    assert np.allclose(found[: len(expected)], expected, atol=1e-3)


def test_unknown_names_have_no_effect():
    pairs, y = games(3, 120)
    model = logistic_effects(pairs, y)
    strangers = Pairs(np.zeros((2, 0)), [0], [1], ids=["x", "y"])
    assert model.decisions(strangers) == 0.0
    assert (model.decisions(pairs) == -model.decisions(pairs.swap())).all()


# Weights -----------------------------------------------------------------------------------------


def held_out(seed, n, classifies=True):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    targets = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-2.0 * truth)), 1.0, -1.0)
    if not classifies:
        targets = truth + 0.3 * rng.normal(size=n)
    fold = (np.arange(n) % 5).astype(float)
    return HeldOut(targets, np.ones(n), fold, Parity.ODD, classifies), truth, rng.normal(size=n)


@pytest.mark.parametrize("classifies", [True, False])
def test_few_pairs_leave_weights_equal_and_many_drop_noise(classifies):
    few, truth, noise = held_out(0, 4, classifies)
    assert np.allclose(member_weights(few, [truth, noise]), 0.5, atol=0.25)
    many, truth, noise = held_out(1, 4000, classifies)
    scale = 2.0 if classifies else 1.0
    weights = member_weights(many, [scale * truth, noise])
    assert np.isclose(weights[0], 1.0, atol=0.15)
    assert weights[1] < 0.1


@given(seed=st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_weights_are_the_minimum(seed):
    """No other weights near them have a smaller objective, written down once more."""
    data, truth, noise = held_out(seed, 60)
    table = np.column_stack([truth, truth + noise])
    found = member_weights(data, list(table.T))

    def objective(at):
        losses = np.log1p(np.exp(-data.targets * (table @ at)))
        return losses.sum() + 10.0 * np.sum((at - 0.5) ** 2) + 150.0 * (at.sum() - 1.0) ** 2

    for step in np.random.default_rng(seed).normal(scale=0.01, size=(20, 2)):
        assert objective(found) <= objective(np.maximum(found + step, 0.0)) + 1e-6


@pytest.mark.parametrize("classifies", [True, False])
@pytest.mark.parametrize("n_members", [1, 3])
def test_there_is_always_a_member(classifies, n_members):
    """Members that are wrong about pairs of great weight leave the best of them, not nothing."""
    rng = np.random.default_rng(0)
    targets = np.sign(rng.normal(size=60))
    fold = np.repeat(np.arange(3.0), 20)
    held_out = HeldOut(targets, np.full(60, 1e4), fold, Parity.ODD, classifies)
    values = {f"member {k}": -(k + 1.0) * targets for k in range(n_members)}
    assert not member_weights(held_out, list(values.values())).any()
    expected = {name: float(name == "member 0") for name in values}
    assert weights_by_name(held_out, values) == expected


def test_a_model_of_no_use_has_a_value_for_each_pair():
    """Two halves in time, the second the reverse of the first, of great weight."""
    pairs, _ = made_up(2, m=8)
    y = labels_of(pairs.objects[pairs.first, 0] - pairs.objects[pairs.second, 0])
    half = np.arange(len(pairs)) < 14
    y = np.where(half, y, -y)
    splits = [(np.flatnonzero(half), np.flatnonzero(~half))]
    splits += [(test, train) for train, test in splits]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PairityWarning)
        model = PairRegressorCV("antisymmetric", cv=splits).fit(pairs, y, np.full(28, 1e4))
    assert sum(model.weights_.values()) > 0.0
    assert model.predict(pairs).shape == (28,)


def test_calibration_is_by_the_other_folds():
    data, truth, _ = held_out(2, 500)
    values = data.calibrated(truth)
    inside = data.fold == 3.0
    changed = np.where(inside, -data.targets, data.targets)
    other = HeldOut(changed, data.weights, data.fold, data.parity, True).calibrated(truth)
    assert (values[inside] == other[inside]).all()
    assert (values[~inside] != other[~inside]).all()
    assert isinstance(data.curve(truth), Sigmoid)


# scikit-learn's own checks: small data, so the linear model ---------------------------------------


def checks():
    for one, check in estimator_checks_generator(PairClassifierCV("antisymmetric", cv=3)):
        name = check.func.__name__
        reason = EQUAL_HALVES if name in SELF_PAIRS else None
        reason = CANNOT_BE_HALVED if name in ODD_WIDTH else reason
        if name.startswith("check_sample_weight_equivalence"):
            reason = "not equivalent"  # folds of repeated rows are others
        yield pytest.param(one, check, reason, id=name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check", "reason"), list(checks()))
def test_check(estimator, check, reason):
    run_check(estimator, check, reason)
