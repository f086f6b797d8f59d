"""Agreement with scikit-learn's SVC (LIBSVM) on the same precomputed Gram matrix.

LIBSVM caches kernel values in single precision (Qfloat), so that its optimum is that of a problem
off by 6e-8 relative: duals agree to 1e-6 relative, decisions to 1e-5.  For the same reason its
tolerance is 1e-7: below that it wanders for minutes in its own rounding.  LIBSVM has no machine
without a bias, so the halved antisymmetric problem (22) is compared through the full set.
"""

import numpy as np
import pytest
from sklearn.svm import SVC

import cases
from pairity import PairSVC
from pairity.kernels import Balanced
from pairity.pairs.parity import SYMMETRIES

N, C = 40, 0.2
KERNELS = [
    case
    for case in cases.elementary_cases() + cases.bilinear_cases()[1:2] + cases.remark_2_cases()[:1]
    if case.name != "polynomial-1"
]


def data():
    return cases.random_pairs(61, n=N, m=15), cases.random_labels(61, N)


def libsvm(gram, labels, C):
    return SVC(kernel="precomputed", C=C, tol=1e-7, cache_size=100).fit(gram, labels)


def dual_value(machine, gram):
    theta = np.zeros(len(gram))
    theta[machine.support_] = machine.dual_coef_[0]
    return 0.5 * theta @ gram @ theta - np.abs(theta).sum()


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
@pytest.mark.parametrize("case", KERNELS, ids=repr)
def test_full_set(case, symmetry, training_set):
    """(13): K^o on I with C."""
    pairs, y = data()
    full = pairs.with_mirrored()
    gram = case.kernel.gram(full)
    golden = libsvm(gram, np.concatenate([y, SYMMETRIES[symmetry].sign * y]), C)
    ours = PairSVC(symmetry, kernel=case.kernel, C=C, training_set=training_set, tol=1e-9).fit(
        pairs, y
    )
    assert ours.objective_ == pytest.approx(dual_value(golden, gram), rel=1e-6)
    new = cases.random_pairs(62, n=25)
    expected = golden.decision_function(case.kernel.gram(new, full))
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(ours.decision_function(new), expected, rtol=0, atol=1e-5 * scale)
    assert np.mean(ours.predict(new) == golden.predict(case.kernel.gram(new, full))) == 1.0


@pytest.mark.parametrize("case", KERNELS, ids=repr)
def test_halved_symmetric_set(case):
    """(20): the balanced kernel on J with 2C."""
    pairs, y = data()
    balanced = Balanced(case.kernel)
    gram = balanced.gram(pairs)
    golden = libsvm(gram, y, 2.0 * C)
    ours = PairSVC("symmetric", kernel=case.kernel, C=C, tol=1e-9).fit(pairs, y)
    assert ours.objective_ == pytest.approx(dual_value(golden, gram), rel=1e-6)
    assert ours.intercept_ == pytest.approx(golden.intercept_[0], abs=1e-5)
    new = cases.random_pairs(63, n=25)
    expected = golden.decision_function(balanced.gram(new, pairs))
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(ours.decision_function(new), expected, rtol=0, atol=1e-5 * scale)


@pytest.mark.parametrize("case", KERNELS, ids=repr)
def test_rows_as_given(case):
    """symmetry="none" is the ordinary machine."""
    pairs, y = data()
    gram = case.kernel.gram(pairs)
    golden = libsvm(gram, y, C)
    ours = PairSVC("none", kernel=case.kernel, C=C, tol=1e-9).fit(pairs, y)
    assert ours.objective_ == pytest.approx(dual_value(golden, gram), rel=1e-6)
    new = cases.random_pairs(64, n=25)
    expected = golden.decision_function(case.kernel.gram(new, pairs))
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(ours.decision_function(new), expected, rtol=0, atol=1e-5 * scale)


def test_gaussian_width_is_gamma():
    """sigma and scikit-learn's gamma: the same machine on plain rows."""
    pairs, y = data()
    golden = SVC(kernel="rbf", gamma=1.0 / (2.0 * 1.3**2), C=C, tol=1e-7).fit(pairs.to_rows(), y)
    ours = PairSVC("none", kernel=cases.Gaussian(1.3), C=C, tol=1e-9).fit(pairs.to_rows(), y)
    new = cases.random_pairs(65, n=25).to_rows()
    np.testing.assert_allclose(
        ours.decision_function(new), golden.decision_function(new), rtol=0, atol=1e-5
    )


def test_weights_are_those_of_the_same_machine():
    """Sample weights and class weights multiply C, as there."""
    pairs, y = data()
    weights = np.random.default_rng(6).uniform(0.2, 3.0, size=N)
    balanced = Balanced(cases.Gaussian(1.3))
    golden = SVC(kernel="precomputed", C=2.0 * C, tol=1e-7, class_weight={-1: 2.0, 1: 0.5})
    golden.fit(balanced.gram(pairs), y, sample_weight=weights)
    ours = PairSVC(
        "symmetric", kernel=cases.Gaussian(1.3), C=C, tol=1e-9, class_weight={-1: 2.0, 1: 0.5}
    )
    ours.fit(pairs, y, sample_weight=weights)
    new = cases.random_pairs(66, n=25)
    np.testing.assert_allclose(
        ours.decision_function(new),
        golden.decision_function(balanced.gram(new, pairs)),
        rtol=0,
        atol=1e-5,
    )
