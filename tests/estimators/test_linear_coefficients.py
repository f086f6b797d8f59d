"""Coefficients of linear kernels: what the function is made of, mirrored bit for bit."""

import numpy as np
import pytest
import scipy.sparse as sp

from pairity import PairLogistic, PairRidge, Pairs, PairSVC, PairSVR
from pairity.inspection import effects
from pairity.kernels import Gaussian, Identity, Linear, Polynomial, Standardized

M, N = 12, 80


def some_pairs(sparse=False, ids=None):
    random = np.random.default_rng(0)
    first, second = random.integers(0, 6, N), random.integers(6, M, N)
    objects = 3.0 + random.normal(size=(M, 3))
    groups = random.normal(size=(N, 2)), random.normal(size=(N, 1))
    return Pairs(sp.csr_array(objects) if sparse else objects, first, second, *groups, ids=ids)


def fitted(model, symmetry, kernel, pairs):
    y = np.random.default_rng(1).choice([-1, 1], N)
    return model(symmetry, kernel=kernel).fit(pairs, y)


def values(model, pairs):
    return getattr(model, "decision_function", model.predict)(pairs)


@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric", "none"])
@pytest.mark.parametrize(
    ("kernel", "sparse"), [("linear", False), ("linear", True), (Standardized(Linear()), False)]
)
@pytest.mark.parametrize("model", [PairSVC, PairLogistic, PairSVR, PairRidge])
def test_rows_times_coefficients(model, kernel, symmetry, sparse):
    pairs = some_pairs(sparse)
    machine = fitted(model, symmetry, kernel, pairs)
    coefficients = machine.coef_
    assert coefficients.shape == ((9,) if model in (PairSVR, PairRidge) else (1, 9))
    coefficients = coefficients.ravel()
    found = values(machine, pairs)
    rest = found - pairs.to_rows() @ coefficients
    assert np.ptp(found) > 0.1
    assert np.ptp(rest) < 1e-9
    if kernel == "linear":
        np.testing.assert_allclose(rest, getattr(machine, "intercept_", 0.0), atol=1e-9)
    head, shared, odd, tail = np.split(coefficients, [3, 5, 6])
    if symmetry == "antisymmetric":
        assert (tail == -head).all()
        assert (shared == 0.0).all()
    elif symmetry == "symmetric":
        assert (tail == head).all()
        assert (odd == 0.0).all()


def test_they_are_the_effects():
    machine = fitted(PairLogistic, "antisymmetric", Standardized(Linear()), some_pairs())
    table = effects(machine)
    found = machine.coef_[0]
    np.testing.assert_allclose(found[[0, 1, 2, 5]], table.estimates, atol=1e-5)


def test_beside_names():
    """What a name adds is no column."""
    pairs = some_pairs(ids=[f"o{row}" for row in range(M)])
    machine = fitted(PairSVC, "antisymmetric", Identity() + Linear(), pairs)
    renamed = Pairs(
        pairs.objects,
        pairs.first,
        pairs.second,
        pairs.symmetric,
        pairs.antisymmetric,
        ids=["o0"] * M,
    )
    rest = machine.decision_function(renamed) - pairs.to_rows() @ machine.coef_[0]
    assert np.abs(rest).max() < 1e-9


@pytest.mark.parametrize("kernel", ["gaussian", Gaussian(2.0), Polynomial(2)], ids=repr)
def test_other_kernels_have_none(kernel):
    pairs = some_pairs()
    assert not hasattr(PairSVC("symmetric", kernel="linear"), "coef_")
    machine = fitted(PairSVC, "symmetric", kernel, pairs)
    with pytest.raises(AttributeError, match="linear in the columns"):
        machine.coef_  # noqa: B018
