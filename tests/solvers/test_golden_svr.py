"""Agreement with scikit-learn's SVR (LIBSVM) on the same precomputed Gram matrix.

As for SVC: kernel values in single precision inside LIBSVM, so duals to 1e-6 relative and
predictions to 1e-5.  C is moderate: at C = 5 LIBSVM does not end on the quadratic kernel.
"""

import numpy as np
import pytest
from sklearn.svm import SVR

import cases
from pairity import PairSVR
from pairity.kernels import Balanced, Gaussian, Tensor
from pairity.pairs.parity import SYMMETRIES

N = 40
KERNELS = [
    case
    for case in cases.elementary_cases() + cases.bilinear_cases()[1:2] + cases.remark_2_cases()[:1]
    if case.name != "polynomial-1"
]
SETTINGS = [(0.2, 0.1), (0.2, 0.0), (1.0, 0.5)]
for_each_setting = pytest.mark.parametrize(("C", "epsilon"), SETTINGS)
for_each_kernel = pytest.mark.parametrize("case", KERNELS, ids=repr)


def data():
    return cases.random_pairs(61, n=N, m=15), cases.random_targets(61, N)


def libsvm(gram, targets, C, epsilon, weights=None):
    machine = SVR(kernel="precomputed", C=C, epsilon=epsilon, tol=1e-7, cache_size=100)
    return machine.fit(gram, targets, weights)


def dual_value(machine, gram, targets):
    theta = np.zeros(len(gram))
    theta[machine.support_] = machine.dual_coef_[0]
    return 0.5 * theta @ gram @ theta - targets @ theta + machine.epsilon * np.abs(theta).sum()


def assert_same_machine(ours, golden, gram, targets, new, new_gram):
    assert ours.objective_ == pytest.approx(dual_value(golden, gram, targets), rel=1e-6)
    expected = golden.predict(new_gram)
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(ours.predict(new), expected, rtol=0, atol=1e-5 * scale)
    assert np.abs(expected).max() > 1e-2


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
@for_each_setting
@for_each_kernel
def test_full_set(case, C, epsilon, symmetry, training_set):
    """(42): K^o on I with C."""
    pairs, y = data()
    full, targets = pairs.with_mirrored(), np.concatenate([y, SYMMETRIES[symmetry].sign * y])
    gram = case.kernel.gram(full)
    golden = libsvm(gram, targets, C, epsilon)
    ours = PairSVR(
        symmetry, kernel=case.kernel, C=C, epsilon=epsilon, training_set=training_set, tol=1e-9
    )
    new = cases.random_pairs(62, n=25)
    new_gram = case.kernel.gram(new, full)
    assert_same_machine(ours.fit(pairs, y), golden, gram, targets, new, new_gram)
    if symmetry == "antisymmetric":
        assert golden.intercept_[0] == pytest.approx(0.0, abs=1e-4)


@for_each_setting
@for_each_kernel
def test_halved_symmetric_set(case, C, epsilon):
    """The balanced kernel on J with 2C, bias included."""
    pairs, y = data()
    balanced = Balanced(case.kernel)
    gram = balanced.gram(pairs)
    golden = libsvm(gram, y, 2.0 * C, epsilon)
    ours = PairSVR("symmetric", kernel=case.kernel, C=C, epsilon=epsilon, tol=1e-9).fit(pairs, y)
    new = cases.random_pairs(63, n=25)
    assert_same_machine(ours, golden, gram, y, new, balanced.gram(new, pairs))


@for_each_setting
@for_each_kernel
def test_rows_as_given(case, C, epsilon):
    """symmetry="none" is the ordinary machine."""
    pairs, y = data()
    gram = case.kernel.gram(pairs)
    golden = libsvm(gram, y, C, epsilon)
    ours = PairSVR("none", kernel=case.kernel, C=C, epsilon=epsilon, tol=1e-9).fit(pairs, y)
    new = cases.random_pairs(64, n=25)
    assert_same_machine(ours, golden, gram, y, new, case.kernel.gram(new, pairs))


@pytest.mark.parametrize("solver", ["smo", "chunking", "splitting"])
def test_every_solver_on_a_tensor_kernel(solver):
    pairs, y = cases.without_group(data()[0]), data()[1]
    kernel = Tensor(Gaussian(1.1))
    gram = kernel.gram(pairs)
    ours = PairSVR("symmetric", kernel=kernel, C=1.0, epsilon=0.2, solver=solver, tol=1e-9).fit(
        pairs, y
    )
    new = cases.without_group(cases.random_pairs(65, n=25))
    golden = libsvm(gram, y, 2.0, 0.2)
    assert_same_machine(ours, golden, gram, y, new, kernel.gram(new, pairs))


def test_weights_are_those_of_the_same_machine():
    """Sample weights multiply C, as there."""
    pairs, y = data()
    weights = np.random.default_rng(6).uniform(0.2, 3.0, size=N)
    balanced = Balanced(Gaussian(1.3))
    gram = balanced.gram(pairs)
    golden = libsvm(gram, y, 0.4, 0.1, weights)
    ours = PairSVR("symmetric", kernel=Gaussian(1.3), C=0.2, tol=1e-9).fit(pairs, y, weights)
    new = cases.random_pairs(66, n=25)
    assert_same_machine(ours, golden, gram, y, new, balanced.gram(new, pairs))


def test_score_is_that_of_the_same_machine():
    """R^2, with weights as well."""
    pairs, y = data()
    weights = np.arange(1.0, N + 1.0)
    gram = Gaussian(1.3).gram(pairs)
    golden = libsvm(gram, y, 1.0, 0.1)
    ours = PairSVR("none", kernel=Gaussian(1.3), tol=1e-9).fit(pairs, y)
    assert ours.score(pairs, y) == pytest.approx(golden.score(gram, y), abs=1e-5)
    assert ours.score(pairs, y, weights) == pytest.approx(golden.score(gram, y, weights), abs=1e-5)
