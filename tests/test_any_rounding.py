"""The laws under arithmetic whose last bits depend on the place and on the other numbers.

Vector instructions treat the end of an array differently, matrix products the rows at the end of a
table; processors differ in how.  Here every such function is replaced by one whose last bit hangs
on the place of a number *and* on all numbers of the same call: what still holds with ``==``
holds on any processor.
"""

import ast
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.special

import cases
import pairity
from learners import LEARNERS
from pairity import CalibratedPairClassifier, PairDrawClassifier, PairLogistic, Pairs, PairSVC
from pairity.inspection import contributions
from pairity.kernels import Additive, DirectSum, Gaussian, Linear, Nystroem, OddPart, Polynomial
from pairity.kernels import Product as ProductKernel
from pairity.kernels.elementary import whole_power
from pairity.losses.probabilities import (
    three_log_probabilities,
    three_probabilities,
    two_log_probabilities,
    two_probabilities,
)
from pairity.pairs.parity import SYMMETRIES

BOTH = ["symmetric", "antisymmetric"]
SOURCES = Path(pairity.__file__).parent


def blurred(values, given):
    """The values with last bits that depend on their places and on all that was given."""
    values = np.asarray(values, dtype=np.float64)
    seed = zlib.crc32(b"".join(np.ascontiguousarray(part).tobytes() for part in given))
    noise = np.random.default_rng(seed).integers(0, 2, size=values.shape)
    exact = (values == 0.0) | (values == 1.0) | (values == 0.5)  # as exp(0) is everywhere
    return np.where(exact, values, values * (1.0 + noise * np.finfo(np.float64).eps))


def blur(function):
    def rounded(*arguments, out=None, **options):
        values = blurred(function(*arguments, **options), [np.asarray(a) for a in arguments])
        if out is None:
            return values[()]
        out[...] = values
        return out

    return rounded


#: Modules that call a vendor's functions, and the functions of NumPy that may be a vendor's.
BLURRED = (
    "kernels.elementary",
    "kernels.object_kernels",
    "losses.probabilities",
    "losses.loss",
    "model_selection.curves",
)
VENDORS = ("exp", "expm1", "log", "logaddexp", "sinh")


class BlurredNumPy:
    """NumPy as a module sees it, with last bits that depend on the place."""

    def __getattr__(self, name):
        if name == "einsum":
            return lambda formula, *tables: blurred(np.einsum(formula, *tables), tables)
        return blur(getattr(np, name)) if name in VENDORS else getattr(np, name)


@pytest.fixture
def any_rounding(monkeypatch):
    """Replace functions of vendors, by name, wherever the package looks them up."""
    for module in BLURRED:
        monkeypatch.setattr(f"pairity.{module}.np", BlurredNumPy())
    expit = blur(scipy.special.expit)
    for module in (
        "losses.probabilities",
        "losses.loss",
        "model_selection.curves",
    ):
        monkeypatch.setattr(f"pairity.{module}.expit", expit)
    products = blur(pairity.kernels.elementary.inner_products)
    for module in ("elementary", "object_kernels", "constructions", "landmarks"):
        monkeypatch.setattr(f"pairity.kernels.{module}.inner_products", products)
    monkeypatch.setattr("pairity.kernels.elementary.cdist", blur(pairity.kernels.elementary.cdist))


def some_pairs(seed=2, n=23, m=9):
    """Pairs of distinct objects, some of look-alikes, one of an object with itself."""
    pairs = cases.random_pairs(seed, n=n, m=m)
    objects = np.vstack([pairs.objects, pairs.objects[:2]])
    first, second = pairs.first.copy(), pairs.second.copy()
    first[:3], second[:3] = [0, 1, 4], [m, m + 1, 4]
    odd = pairs.antisymmetric.copy()
    odd[1:3] = 0.0
    return Pairs(objects, first, second, pairs.symmetric, odd)


def assert_law(values, pairs, symmetry):
    """Any rows written in the other order keep or flip their values, and nothing else moves."""
    expected = values(pairs)
    assert np.abs(expected).max() > 1e-6
    for seed in range(3):
        rows = np.random.default_rng(seed).random(len(pairs)) < (0.5 if seed else 2.0)
        signs = np.where(rows, SYMMETRIES[symmetry].sign, 1.0)
        signs = signs.reshape(-1, *(1 for _ in expected.shape[1:]))
        assert np.array_equal(values(pairs.with_swapped(rows)), signs * expected)
    if symmetry == "antisymmetric":
        assert (expected[1:3] == 0.0).all()


CASES = [
    (symmetry, case) for symmetry in BOTH for case in cases.trainable_cases(SYMMETRIES[symmetry])
]


@pytest.mark.parametrize(("symmetry", "case"), CASES, ids=repr)
def test_decisions_of_every_kernel(symmetry, case, any_rounding):
    train = cases.random_pairs(1, n=40, m=12)
    model = PairSVC(symmetry, kernel=case.kernel).fit(train, cases.random_labels(1, 40))
    assert_law(model.decision_function, some_pairs(), symmetry)
    assert_law(lambda pairs: contributions(model, pairs), some_pairs(), symmetry)


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_decisions_of_every_learner(symmetry, learner, any_rounding):
    model = learner.fit(cases.random_pairs(1, n=40, m=12), 1, symmetry, "gaussian")
    assert_law(lambda pairs: learner.of(model, pairs), some_pairs(), symmetry)


@pytest.mark.parametrize("symmetry", BOTH)
def test_decisions_of_low_rank_models(symmetry, any_rounding):
    kernel = Nystroem(ProductKernel(Gaussian(1.0)), 6) + Additive(Linear()) + Linear()
    train = cases.random_pairs(1, n=40, m=12)
    model = PairLogistic(symmetry, kernel=kernel).fit(train, cases.random_labels(1, 40))
    assert not hasattr(model, "support_")
    assert_law(model.decision_function, some_pairs(), symmetry)


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibrated_probabilities(symmetry, method, any_rounding):
    train = cases.random_pairs(1, n=60, m=12)
    one, other = train.objects[train.first, 0], train.objects[train.second, 0]
    labels = np.where((one - other if symmetry == "antisymmetric" else one * other) > 0.0, 1, -1)
    model = CalibratedPairClassifier(PairSVC(symmetry, kernel="gaussian"), method=method)
    model.fit(train, labels)
    pairs = some_pairs()
    rows = np.random.default_rng(0).random(len(pairs)) < 0.5
    mirrored = symmetry == "antisymmetric"
    for ask in (model.predict_proba, model.predict_log_proba):
        expected, found = ask(pairs), ask(pairs.with_swapped(rows))
        turned = expected[:, ::-1] if mirrored else expected
        assert np.array_equal(found, np.where(rows[:, np.newaxis], turned, expected))
    assert (model.predict_proba(pairs).sum(axis=1) == 1.0).all()


def test_win_draw_and_loss(any_rounding):
    train = cases.random_pairs(1, n=60, m=12)
    outcomes = np.random.default_rng(1).integers(-1, 2, size=60)
    model = PairDrawClassifier(PairLogistic("antisymmetric", kernel="gaussian")).fit(
        train, outcomes
    )
    pairs = some_pairs()
    for ask in (model.predict_proba, model.predict_log_proba):
        assert np.array_equal(ask(pairs.swap()), ask(pairs)[:, ::-1])


def test_probabilities_of_opposite_scores(any_rounding):
    scores = np.append(np.random.default_rng(0).normal(size=21), 0.0)
    for ask in (two_probabilities, two_log_probabilities):
        assert np.array_equal(ask(-scores), ask(scores)[:, ::-1])
    for ask in (three_probabilities, three_log_probabilities):
        for threshold in (0.0, 0.4):
            assert np.array_equal(ask(-scores, threshold), ask(scores, threshold)[:, ::-1])


@pytest.mark.parametrize(
    "kernel",
    [Polynomial(3), Polynomial(4), OddPart(Gaussian(1.0))],
    ids=repr,
)
def test_group_kernels_under_a_change_of_sign(kernel):
    """What the Gram matrix of (10) rests on: exact in every vector unit, by the form of it."""
    left, right = np.random.default_rng(0).normal(size=(2, 11, 3))
    values = kernel.on_features(left, right)
    assert np.array_equal(kernel.on_features(-left, right), kernel.reflection.sign * values)
    paired = kernel.paired(left, right)
    assert np.array_equal(kernel.paired(-left, right), kernel.reflection.sign * paired)
    pairs = cases.random_pairs(3)
    if kernel.reflection.sign < 0:
        gram = DirectSum(Gaussian(1.0), k3=kernel)
        assert np.array_equal(gram(pairs.swap(), pairs), -gram(pairs))


@pytest.mark.parametrize("exponent", [1, 2, 3, 4, 7])
def test_whole_powers_are_odd_or_even_and_right(exponent):
    values = np.random.default_rng(0).normal(size=1001)
    power = whole_power(values, exponent)
    assert np.array_equal(whole_power(-values, exponent), (-1.0) ** exponent * power)
    np.testing.assert_allclose(power, [v**exponent for v in values.tolist()], rtol=1e-14)


#: Where kernel values are made: a power of an array there is :func:`whole_power`.
KERNEL_VALUES = sorted(
    path for folder in ("kernels", "operators") for path in (SOURCES / folder).glob("*.py")
)


def powers_of_variables(source):
    """Powers whose exponent is no constant: of arrays, they are a vendor's ``pow``."""
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.BinOp))
    powers = (node for node in nodes if isinstance(node.op, ast.Pow))
    return [ast.unparse(node) for node in powers if not isinstance(node.right, ast.Constant)]


@pytest.mark.parametrize("path", KERNEL_VALUES, ids=lambda path: path.stem)
def test_kernel_values_hang_on_no_vendors_power(path):
    """A constant 2 is a multiplication in NumPy; whole numbers (``shape[1] ** power``) are exact."""
    found = powers_of_variables(path.read_text(encoding="utf-8"))
    assert [power for power in found if "shape" not in power] == []


def test_the_search_for_powers_finds_them():
    assert powers_of_variables("inner(x, z) ** self.degree") == ["inner(x, z) ** self.degree"]


def test_the_blur_blurs():
    """The tests can fail: equal numbers at other places, or beside others, get other bits."""
    values = np.full(64, 0.3)
    found = blur(np.exp)(values)
    assert len(np.unique(found)) == 2
    assert not np.array_equal(found, blur(np.exp)(np.append(values[1:], 0.5)))
    np.testing.assert_allclose(found, np.exp(values), rtol=1e-15)
