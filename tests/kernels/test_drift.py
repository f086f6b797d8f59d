"""Kernels of time: values, refusals, what they declare, and the swap law at any time."""

import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_time
from pairity import PairLogistic, PairRidge, Pairs, PairSVC, PairSVR, load, save
from pairity.exceptions import KernelError
from pairity.kernels import Additive, Drift, Gaussian, Identity, Linear, Tensor
from pairity.kernels.drift import KINDS
from pairity.testing import check_pair_kernel

MORE = {"periodic": {"period": 30.0}, "wiener": {"origin": 0.0}}
TIMED = [
    Identity() * Drift(20.0),
    Additive(Identity()) * Drift(20.0, "wiener") + Linear(),
    Gaussian(1.0) * Drift(20.0, "matern"),
    Additive(Gaussian(1.0) * Drift(20.0, "gaussian") + 0.5 * Identity()),
    Tensor(Gaussian(1.0) * Drift(9.0, "periodic", period=30.0)),
]


def drift_of(kind, lengthscale=20.0):
    return Drift(lengthscale, kind, **MORE.get(kind, {}))


def games(seed, n=40, m=6, days=100.0, groups=0):
    """Pairs of named objects, some of them at the same times."""
    rng = np.random.default_rng(seed)
    first = rng.integers(m, size=n)
    second = (first + rng.integers(1, m, size=n)) % m
    times = np.where(rng.random(n) < 0.3, 50.0, rng.uniform(0.0, days, size=n))
    odd = rng.normal(size=(n, groups))
    names = [f"object {row}" for row in range(m)]
    objects = rng.normal(size=(m, 2))
    return Pairs(objects, first, second, None, odd, ids=names, time=times)


def labels(seed, n):
    return np.where(np.random.default_rng([seed, 9]).random(n) < 0.5, -1, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_values_are_those_of_the_plain_twin(kind):
    rng = np.random.default_rng(0)
    left, right = rng.uniform(-10.0, 90.0, size=7), rng.uniform(-10.0, 90.0, size=5)
    twin = naive_time.drift(kind, 20.0, **MORE.get(kind, {}))
    expected = np.array([[twin(t, u) for u in right] for t in left])
    found = drift_of(kind).on_features(left[:, None], right[:, None])
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    paired = drift_of(kind).paired(left[:5, None], right[:, None])
    np.testing.assert_allclose(paired, np.diagonal(expected), rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("parity", "sign"), [("antisymmetric", -1), ("symmetric", 1), ("none", 0)])
def test_strengths_that_drift_are_those_of_the_plain_twin(kind, parity, sign):
    from pairity.kernels.classes import project
    from pairity.pairs.parity import SYMMETRIES

    pairs = games(0, n=12)
    kernel = project(Identity() * drift_of(kind), SYMMETRIES[parity], pairs)
    twin = naive_time.drift(kind, 20.0, **MORE.get(kind, {}))
    expected = naive_time.strengths(twin, pairs, pairs, sign)
    np.testing.assert_allclose(kernel.gram(pairs), expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("kernel", TIMED, ids=repr)
def test_they_are_kernels(kernel):
    assert check_pair_kernel(kernel.fitted_to_times(np.zeros(1)), games(1)).pairwise


def test_inside_a_construction_or_outside_is_the_same_for_sums_over_ends():
    pairs, time = games(2), Drift(20.0)
    inside, outside = Additive(Identity() * time), Additive(Identity()) * time
    np.testing.assert_array_equal(inside.gram(pairs), outside.gram(pairs))
    squared = Tensor(Gaussian(1.0) * time).gram(pairs)
    np.testing.assert_allclose(
        squared, (Tensor(Gaussian(1.0)) * time * time).gram(pairs), rtol=1e-14
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(TIMED[:4]), st.floats(-1e3, 1e3))
def test_the_swap_law_holds_at_any_time(seed, kernel, time):
    pairs, y = games(seed, n=25, groups=1), labels(seed, 25)
    for learner in (PairLogistic, PairSVC):
        model = learner("antisymmetric", kernel=kernel).fit(pairs, y)
        later = pairs.at(time)
        assert (model.decision_function(later) == -model.decision_function(later.swap())).all()
    symmetric = PairSVR("symmetric", kernel=kernel).fit(pairs, y.astype(float))
    assert (symmetric.predict(later) == symmetric.predict(later.swap())).all()


def test_a_wiener_process_starts_at_the_earliest_training_time():
    pairs = games(3)
    model = PairRidge("antisymmetric", kernel=Identity() * Drift(20.0, "wiener"))
    model.fit(pairs, labels(3, len(pairs)).astype(float))
    said = Identity() * Drift(20.0, "wiener", origin=float(pairs.time.min()))
    other = PairRidge("antisymmetric", kernel=said).fit(pairs, labels(3, len(pairs)).astype(float))
    np.testing.assert_array_equal(model.predict(pairs), other.predict(pairs))
    with pytest.raises(KernelError, match="before its origin is known"):
        (Identity() * Drift(20.0, "wiener")).gram(pairs)


def test_models_that_drift_come_back_from_files(tmp_path):
    pairs = games(4)
    model = PairLogistic("antisymmetric", kernel=Identity() * Drift(20.0, "wiener"))
    model.fit(pairs, labels(4, len(pairs)))
    save(model, tmp_path / "model.pairity")
    later, again = pairs.at(200.0), load(tmp_path / "model.pairity")
    np.testing.assert_array_equal(model.decision_function(later), again.decision_function(later))
    np.testing.assert_array_equal(model.decision_std(later), again.decision_std(later))


# What is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"lengthscale": 0.0}, "lengthscale"),
        ({"lengthscale": 1.0, "kind": "linear"}, "kind"),
        ({"lengthscale": 1.0, "kind": "periodic"}, "expected a period"),
        ({"lengthscale": 1.0, "period": 3.0}, "with no other"),
    ],
)
def test_parameters_out_of_range_are_refused(wrong, said):
    with pytest.raises((KernelError, ValueError), match=said):
        Drift(**wrong)


def test_pairs_without_times_are_refused():
    plain = Pairs(np.eye(3), [0, 1], [1, 2])
    with pytest.raises(ValueError, match="pass time="):
        PairLogistic("antisymmetric", kernel=Identity() * Drift(1.0)).fit(plain, [1, 1])


def test_a_kernel_of_time_is_a_factor_or_a_term():
    with pytest.raises(KernelError, match="inside"):
        Additive(Additive(Drift(1.0) * Gaussian(1.0))).gram(games(0))


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ([1.0], "one time per pair"),
        ([1.0, np.nan], "NaN"),
        (["soon", "later"], "soon"),
        ([20240131, 20240201], "%Y%m%d"),
    ],
)
def test_times_that_are_none_are_refused(times, said):
    with pytest.raises(ValueError, match=said):
        Pairs(np.eye(3), [0, 1], [1, 2], time=times)


def test_dates_become_days():
    days = [datetime.date(1970, 1, 2), datetime.date(1971, 1, 1)]
    for given_times in (days, np.array(days, dtype="datetime64[D]"), ["1970-01-02", "1971-01-01"]):
        assert Pairs(np.eye(3), [0, 1], [1, 2], time=given_times).time.tolist() == [1.0, 365.0]
    assert Pairs(np.eye(3), [0, 1], [1, 2]).at("1970-01-03").time.tolist() == [2.0, 2.0]


def test_times_go_with_their_pairs():
    pairs = games(5)
    rows = np.array([3, 1, 7])
    assert pairs[rows].time.tolist() == pairs.time[rows].tolist()
    assert pairs.swap().time.tolist() == pairs.time.tolist()
    assert pairs.with_mirrored().time.tolist() == [*pairs.time, *pairs.time]
    assert pairs.compact().time.tolist() == pairs.time.tolist()
