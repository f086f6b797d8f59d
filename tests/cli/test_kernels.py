"""Kernels from text."""

import numpy as np
import pytest

import cases
from pairity import PairSVC
from pairity.app.cli.kernel_text import parse_kernel
from pairity.kernels import (
    Balanced,
    DirectSum,
    Gaussian,
    Linear,
    MetricLearning,
    Nystroem,
    Polynomial,
    Product,
    Standardized,
    Tensor,
)
from pairity.kernels.standardized import KERNEL_NAMES, as_kernel

FORMULAS = {
    "gaussian(2)": Gaussian(2),
    "Gaussian(sigma=0.5)": Gaussian(0.5),
    "linear + gaussian(1.5)": Linear() + Gaussian(1.5),
    "0.5 * linear * polynomial(2)": 0.5 * Linear() * Polynomial(2),
    "product(gaussian(2)) + linear * 3": Product(Gaussian(2)) + 3 * Linear(),
    "direct_sum(linear, k2=gaussian(1), k3=linear)": DirectSum(Linear(), Gaussian(1), Linear()),
    "DirectSum(Linear)": DirectSum(Linear()),
    "tensor(gaussian)": Standardized(Tensor(Gaussian("median"))),
    "tensor(Gaussian, k2=linear)": Standardized(Tensor(Gaussian("median"), Linear())),
    "gaussian + linear": Standardized(Gaussian("median")) + Linear(),
    "2 * gaussian(1)": 2 * Gaussian(1),
    "gaussian()": Gaussian(),
    "balanced(gaussian)": Balanced(Standardized(Gaussian("median"))),
    "tensor + linear": as_kernel("tensor") + Linear(),
    "standardized(tensor)": as_kernel("tensor"),
    "metric_learning(polynomial(degree=2))": MetricLearning(Polynomial(2)),
    "standardized(gaussian + linear, 'common')": Standardized(
        Gaussian("median") + Linear(), "common"
    ),
    " balanced(gaussian(1)) ": Balanced(Gaussian(1)),
    "nystroem('gaussian', 64)": Nystroem("gaussian", 64),
    "nystroem(gaussian, 64)": Nystroem(as_kernel("gaussian"), 64),
    "product(nystroem(gaussian, 64))": Standardized(Product(Nystroem(Gaussian("median"), 64))),
}


@pytest.mark.parametrize(("text", "kernel"), FORMULAS.items(), ids=FORMULAS.keys())
def test_formulas(text, kernel):
    assert parse_kernel(text) == kernel


@pytest.mark.parametrize("name", ["gaussian", "linear", "tensor"])
def test_names_of_defaults_stay_names(name):
    assert parse_kernel(name) == name


@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_a_name_in_a_formula_is_the_kernel_of_its_string(name):
    assert parse_kernel(f"({name})") == as_kernel(name)
    assert parse_kernel(f"{name} + linear") == as_kernel(name) + Linear()


def test_formulas_with_names_can_be_fitted():
    pairs = cases.random_pairs(0, n=20, m=8)
    by_name = PairSVC("symmetric", kernel="tensor").fit(pairs, np.tile([1, -1], 10))
    by_formula = PairSVC("symmetric", kernel=parse_kernel("tensor(gaussian)"))
    by_formula.fit(pairs, np.tile([1, -1], 10))
    decisions = by_name.decision_function(pairs)
    assert (by_formula.decision_function(pairs) == decisions).all()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "2 * 3",
        "gaussian(",
        "gaussian - linear",
        "gaussian ** 2",
        "gaussian(2)(3)",
        "gaussian.check",
        "gaussian(*[1])",
        "gaussian(**{})",
        "gaussian(sigma=2, width=3)",
        "lambda: 1",
        "[gaussian]",
        "gaussian or linear",
        "gaussian if 1 else linear",
        "open('x', 'w')",
        "__import__('os').system('true')",
        "callable(open)",
        "precomputed(1)",
        "gaussian('wide')",
        "gaussian(-1)",
        "-1 * gaussian",
        "(" * 500,
        "linear;linear",
        "linear\nlinear",
        "f'{gaussian}'",
    ],
)
def test_nothing_else_is_understood(text):
    with pytest.raises(ValueError, match=r"^got .*; expected"):
        parse_kernel(text)
