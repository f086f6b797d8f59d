"""check_pair_kernel: what it finds, and that it catches wrong kernels."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import cases
from pairity import Pairs, testing
from pairity.exceptions import KernelError
from pairity.kernels import (
    Bilinear,
    Callable,
    DirectSum,
    Gaussian,
    Linear,
    OrderInvariant,
    Precomputed,
    SkewBalanced,
    Tensor,
)
from pairity.pairs.parity import Parity
from pairity.testing import check_pair_kernel


@pytest.mark.parametrize("given", [True, False], ids=["given pairs", "generated pairs"])
@pytest.mark.parametrize("case", cases.all_cases(), ids=repr)
def test_classes_of_every_kernel(case, given):
    report = check_pair_kernel(case.kernel, cases.random_pairs(1) if given else None)
    letters = {
        "a": True,
        "b": case.parity is Parity.EVEN,
        "c": case.parity is Parity.ODD,
        "d": case.order_invariant,
    }
    assert report.classes == tuple(letter for letter, holds in letters.items() if holds)
    assert report.pairwise
    assert report.balanced is letters["b"]
    assert report.skew_balanced is letters["c"]
    assert report.order_invariant is letters["d"]


def test_bilinear_kernel_is_caught():
    """K_P of (37): by footnote 11 the law (d) is off by 10.8 - 9.2 on vectors of ones."""
    ones = Pairs(np.ones((2, 2)), [0], [1], np.ones((1, 2)), np.ones((1, 2)))
    report = check_pair_kernel(Bilinear(cases.tridiagonal()), ones)
    assert report.classes == ("a",)
    assert report.deviations["order_invariant"] == pytest.approx((10.8 - 9.2) / 10.8, rel=1e-12)
    wrapped = check_pair_kernel(OrderInvariant(Bilinear(cases.tridiagonal())), ones)
    assert wrapped.classes == ("a", "d")
    assert wrapped.deviations["order_invariant"] == 0.0


def shares_an_object(X, Z):
    """5 where two edges of a graph share a node, else 0: Theorem 5(b) as printed."""
    touches = [X[:, [i]] == Z[:, j] for i in (0, 1) for j in (0, 1)]
    return 5.0 * np.logical_or.reduce(touches)


def test_masked_kernel_is_caught():
    """Path 0-1-2-3: the mask has eigenvalue 1 - sqrt(2); each edge stands there in both orders."""
    path = Pairs(np.arange(4)[:, None], [0, 1, 2], [1, 2, 3])
    report = check_pair_kernel(Callable(shares_an_object), path)
    assert not report.positive_semidefinite
    assert not report.pairwise
    assert report.symmetric
    assert report.balanced
    assert report.classes == ()
    assert report.smallest_eigenvalue == pytest.approx(5.0 * 2.0 * (1.0 - np.sqrt(2.0)), rel=1e-12)


def test_asymmetric_function_is_caught():
    report = check_pair_kernel(lambda X, Z: X[:, :1] * np.ones((1, len(Z))))
    assert not report.symmetric
    assert report.classes == ()
    assert report.deviations["symmetry"] > 0.1


def test_a_law_just_off_is_told_from_one_that_holds():
    """A deviation of 1e-7 fails at the default tolerance and passes at 1e-5."""

    def nearly_balanced(X, Z):
        half = X.shape[1] // 2
        even = (X[:, :half] + X[:, half:]) @ (Z[:, :half] + Z[:, half:]).T
        return even + 1e-7 * (X @ Z.T)

    pairs = cases.random_pairs(2, widths=(2, 0, 0))
    assert not check_pair_kernel(nearly_balanced, pairs).balanced
    loose = check_pair_kernel(nearly_balanced, pairs, tol=1e-5)
    assert loose.balanced
    assert 1e-9 < loose.deviations["balanced"] < 1e-6


@pytest.mark.parametrize(
    ("kernel", "classes"),
    [
        ("gaussian", ("a", "d")),
        ("tensor", ("a", "b", "d")),
        (cases.rows_dot, ("a", "d")),
        (Precomputed(np.eye(4)), ("a", "d")),
        (Tensor(Precomputed(np.eye(4))), ("a", "b", "d")),
        (Bilinear(np.eye(2)), ("a", "d")),
        (Bilinear(np.eye(3)), ("a", "d")),
        (DirectSum(Linear(), k2=Gaussian(), k3=Linear()), ("a", "c", "d")),
    ],
    ids=lambda value: getattr(value, "__name__", repr(value)),
)
def test_generated_pairs_suit_the_kernel(kernel, classes):
    assert check_pair_kernel(kernel).classes == classes


def test_kernels_need_no_group_features():
    pairs = cases.random_pairs(3, widths=(3, 0, 0))
    assert check_pair_kernel("gaussian", pairs).classes == ("a", "d")
    assert check_pair_kernel(SkewBalanced(Linear()), pairs).classes == ("a", "c", "d")


def test_same_seed_same_report():
    assert check_pair_kernel("gaussian", seed=5) == check_pair_kernel("gaussian", seed=5)
    assert check_pair_kernel("gaussian", seed=5) != check_pair_kernel("gaussian", seed=6)


def test_report_is_frozen_and_readable():
    report = check_pair_kernel(Tensor(Gaussian(1.0)))
    with pytest.raises(FrozenInstanceError):
        report.tol = 1.0
    lines = str(report).splitlines()
    assert lines[0] == (
        "Tensor(Gaussian(sigma=1.0)) on 24 pairs and their swaps: classes (a), (b), (d)"
    )
    verdicts = [(line[:3], " yes " in line, " no " in line) for line in lines[1:]]
    assert verdicts == [
        ("(a)", True, False),
        ("(a)", True, True),  # "no eigenvalue < 0"
        ("(b)", True, False),
        ("(c)", False, True),
        ("(d)", True, False),
    ]
    assert "off by" in lines[3]
    assert "smallest" in lines[2]


def test_wrong_arguments():
    with pytest.raises(KernelError, match="got kernel='rbf'"):
        check_pair_kernel("rbf")
    with pytest.raises(ValueError, match="expected Pairs with at least one pair"):
        check_pair_kernel("gaussian", np.zeros((3, 4)))
    with pytest.raises(ValueError, match="expected Pairs with at least one pair"):
        check_pair_kernel("gaussian", cases.random_pairs(4)[:0])
    with pytest.raises(ValueError, match="got tol=0"):
        check_pair_kernel("gaussian", tol=0)


def test_is_reached_from_the_package():
    import pairity

    assert pairity.testing is testing
