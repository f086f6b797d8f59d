"""The swap law of decisions, with ``==``: f(pairs) is plus or minus f(pairs.swap())."""

import functools
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import cases
from learners import LEARNERS
from pairity import Pairs, PairSVC
from pairity.exceptions import ConvergenceWarning
from pairity.kernels import Gaussian, OrderInvariant, Polynomial, Precomputed, Product, Tensor
from pairity.pairs.parity import SYMMETRIES, Parity

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")

SYMMETRIC, ANTISYMMETRIC = "symmetric", "antisymmetric"
BOTH = [SYMMETRIC, ANTISYMMETRIC]


@functools.cache
def fitted(symmetry, kernel, widths=cases.WIDTHS, scale=0.7, **options):
    """A model that tests ask for decisions, and do not change; so one of each kind is enough."""
    pairs = cases.random_pairs(1, n=40, m=12, widths=widths, scale=scale)
    model = PairSVC(symmetry, kernel=kernel, **cases.with_smo(options))
    return model.fit(pairs, cases.random_labels(1, 40))


def new_pairs(seed=2, n=23, m=9, widths=cases.WIDTHS, scale=0.7):
    return cases.random_pairs(seed, n=n, m=m, widths=widths, scale=scale)


def assert_swap_law(model, pairs):
    """Decisions obey the law exactly, and are not all zero."""
    decisions = model.decision_function(pairs)
    sign = SYMMETRIES[model.symmetry].sign
    assert np.array_equal(model.decision_function(pairs.swap()), sign * decisions)
    assert np.abs(decisions).max() > 1e-6


def cases_of(symmetry):
    return [(symmetry, case) for case in cases.trainable_cases(SYMMETRIES[symmetry])]


ALL = [pair for symmetry in BOTH for pair in cases_of(symmetry)]


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize(("symmetry", "case"), ALL, ids=repr)
def test_every_kernel(symmetry, case, training_set):
    model = fitted(symmetry, case.kernel, training_set=training_set)
    pairs = new_pairs()
    assert_swap_law(model, pairs)
    assert_swap_law(model, pairs[np.random.default_rng(3).permutation(len(pairs))])
    for start, size in [(0, 1), (5, 1), (22, 1), (3, 2), (8, 7), (1, 16)]:
        assert_swap_law_of_batch(model, pairs[start : start + size])


@pytest.mark.parametrize("symmetry", BOTH)
def test_every_batch_size(symmetry):
    pairs = new_pairs()
    for case in (cases.elementary_cases()[3], cases.elementary_cases()[4]):
        model = fitted(symmetry, case.kernel)
        for size in range(1, len(pairs) + 1):
            for start in range(0, len(pairs) - size + 1, size):
                assert_swap_law_of_batch(model, pairs[start : start + size])


def assert_swap_law_of_batch(model, batch):
    sign = SYMMETRIES[model.symmetry].sign
    assert np.array_equal(
        model.decision_function(batch.swap()), sign * model.decision_function(batch)
    )


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("case", cases.elementary_cases(), ids=repr)
@pytest.mark.parametrize("widths", [(3, 0, 0), (70, 0, 0), (2, 3, 0), (2, 0, 3)])
def test_any_features(symmetry, case, widths):
    scale = 0.7 if widths[0] < 10 else 0.1
    model = fitted(symmetry, case.kernel, widths, scale)
    assert_swap_law(model, new_pairs(widths=widths, scale=scale))
    for single in new_pairs(n=5, widths=widths, scale=scale):
        assert_swap_law_of_batch(model, single)


@pytest.mark.parametrize(("symmetry", "case"), ALL, ids=repr)
def test_some_rows_of_a_batch_swapped(symmetry, case):
    """Each row keeps or flips its value on its own; the rest of the batch does not matter."""
    model = fitted(symmetry, case.kernel)
    pairs = new_pairs()
    turned = np.random.default_rng(4).random(len(pairs)) < 0.5
    mixed = Pairs(
        pairs.objects,
        np.where(turned, pairs.second, pairs.first),
        np.where(turned, pairs.first, pairs.second),
        pairs.symmetric,
        np.where(turned[:, None], -pairs.antisymmetric, pairs.antisymmetric),
    )
    sign = SYMMETRIES[symmetry].sign
    expected = np.where(turned, sign, 1.0) * model.decision_function(pairs)
    assert np.array_equal(model.decision_function(mixed), expected)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(("symmetry", "case"), ALL[::3], ids=repr)
def test_threads(symmetry, case, count, threads):
    model = fitted(symmetry, case.kernel)
    threads(count)
    assert_swap_law(model, new_pairs(n=300, m=30))


@pytest.mark.parametrize("widths", [(3, 0, 0), (2, 2, 2)])
@pytest.mark.parametrize("symmetry", BOTH)
def test_same_decisions_with_one_and_two_threads(symmetry, widths, threads):
    model = fitted(symmetry, Gaussian(1.0), widths)
    pairs = new_pairs(n=20_000, m=200, widths=widths)
    threads(1)
    one = model.decision_function(pairs)
    threads(2)
    assert np.array_equal(model.decision_function(pairs), one)
    assert_swap_law(model, pairs)


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("case", cases.elementary_cases(), ids=repr)
def test_many_pairs_of_few_objects(symmetry, case):
    """Sizes at which products go through object matrices."""
    pairs = cases.random_pairs(5, n=600, m=15, widths=(3, 0, 0))
    labels = cases.random_labels(5, 600)
    model = PairSVC(symmetry, kernel=case.kernel, C=0.1, tol=1e-2).fit(pairs, labels)
    assert_swap_law(model, pairs)
    assert_swap_law(model, new_pairs(n=900, m=14, widths=(3, 0, 0)))


# rows become pairs before a kernel sees them, so a third of the kernels
@pytest.mark.parametrize(("symmetry", "case"), ALL[::3], ids=repr)
def test_wide_rows(symmetry, case):
    train = cases.random_pairs(1, n=40, m=12)
    model = PairSVC(symmetry, kernel=case.kernel, n_symmetric=2, n_antisymmetric=2)
    model.fit(train.to_rows(), cases.random_labels(1, 40))
    pairs = new_pairs()
    decisions = model.decision_function(pairs.to_rows())
    sign = SYMMETRIES[symmetry].sign
    assert np.array_equal(model.decision_function(pairs.swap().to_rows()), sign * decisions)
    assert np.array_equal(model.decision_function(pairs), decisions)
    for row, swapped in zip(pairs.to_rows()[:5], pairs.swap().to_rows()[:5], strict=True):
        single = model.decision_function(row[None])
        assert np.array_equal(model.decision_function(swapped[None]), sign * single)


@pytest.mark.parametrize(("symmetry", "case"), ALL, ids=repr)
def test_sparse_objects(symmetry, case):
    train = cases.sparse_twin(cases.random_pairs(1, n=40, m=12))
    model = PairSVC(symmetry, kernel=case.kernel, tol=1e-8).fit(train, cases.random_labels(1, 40))
    pairs = cases.sparse_twin(new_pairs())
    assert_swap_law(model, pairs)
    for single in pairs[:5]:
        assert_swap_law_of_batch(model, single)
    dense = fitted(symmetry, case.kernel, tol=1e-8).decision_function(new_pairs())
    scale = np.abs(dense).max()
    np.testing.assert_allclose(model.decision_function(pairs), dense, rtol=0, atol=1e-5 * scale)


@pytest.mark.parametrize(("symmetry", "case"), ALL, ids=repr)
def test_tables_that_list_the_two_objects_in_the_other_order(symmetry, case):
    model = fitted(symmetry, case.kernel)
    sign = SYMMETRIES[symmetry].sign
    pairs = new_pairs()
    for place in range(6):
        a, b = pairs.first[place], pairs.second[place]
        kept, flipped = pairs.symmetric[[place]], pairs.antisymmetric[[place]]
        one = model.decision_function(Pairs(pairs.objects[[a, b]], [0], [1], kept, flipped))
        other = model.decision_function(Pairs(pairs.objects[[b, a]], [0], [1], kept, -flipped))
        assert other == sign * one


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("case", cases.elementary_cases(), ids=repr)
def test_tables_in_any_order_with_any_other_objects(symmetry, case):
    """Bits do not depend on where the objects of a pair stand in the table, nor on which others do.

    Matrix products treat rows at the end of a table differently: 67 features show it.
    """
    widths, rng = (67, 0, 0), np.random.default_rng(7)
    model = fitted(symmetry, case.kernel, widths, scale=0.1)
    pairs = new_pairs(n=5, m=6, widths=widths, scale=0.1)
    sign, expected = SYMMETRIES[symmetry].sign, model.decision_function(pairs)
    for n_others in range(4):
        table = np.vstack([pairs.objects, rng.normal(size=(n_others, 67)), pairs.objects[:2]])
        order = rng.permutation(len(table))
        position = np.argsort(order)
        first, second = position[pairs.first], position[pairs.second]
        assert np.array_equal(model.decision_function(Pairs(table[order], first, second)), expected)
        assert np.array_equal(
            model.decision_function(Pairs(table[order], second, first)), sign * expected
        )


@pytest.mark.parametrize("case", cases.elementary_cases(), ids=repr)
def test_look_alikes_of_many_features_are_exactly_zero(case):
    model = fitted(ANTISYMMETRIC, case.kernel, (67, 0, 0), scale=0.1)
    objects = np.random.default_rng(8).normal(scale=0.1, size=(9, 67))
    alike = Pairs(np.vstack([objects, objects]), np.arange(9), np.arange(9, 18))
    assert model.decision_function(alike).tolist() == [0.0] * 9
    assert [model.decision_function(single)[0] for single in alike] == [0.0] * 9


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("case", cases.trainable_cases(Parity.ODD), ids=repr)
def test_an_object_against_itself_is_exactly_zero(case, training_set):
    model = fitted(ANTISYMMETRIC, case.kernel, training_set=training_set)
    pairs = new_pairs()
    zeros = np.zeros_like(pairs.antisymmetric)
    same = Pairs(pairs.objects, pairs.first, pairs.first, pairs.symmetric, zeros)
    assert model.decision_function(same).tolist() == [0.0] * len(same)
    assert model.decision_function(same[0]).tolist() == [0.0]
    objects = np.vstack([pairs.objects, pairs.objects])
    alike = Pairs(objects, pairs.first, pairs.first + 9, pairs.symmetric, zeros)
    assert model.decision_function(alike).tolist() == [0.0] * len(alike)
    mixed = Pairs(
        objects,
        np.concatenate([pairs.first, alike.first]),
        np.concatenate([pairs.second, alike.second]),
        np.vstack([pairs.symmetric, pairs.symmetric]),
        np.vstack([pairs.antisymmetric, zeros]),
    )
    assert model.decision_function(mixed)[len(pairs) :].tolist() == [0.0] * len(alike)


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("selection", ["first_order", "second_order"])
@pytest.mark.parametrize("iterates", ["mirrored", "averaged", "free"])
def test_every_way_to_solve(symmetry, selection, iterates):
    """The law is imposed on the model: it holds even where the duals are not mirrored."""
    ways = {"training_set": "full", "selection": selection, "iterates": iterates}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 300 steps need not be enough
        model = fitted(symmetry, Gaussian(1.0), max_iter=300, **ways)
    assert_swap_law(model, new_pairs())


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("max_iter", [1, 3])
def test_a_fit_cut_short(symmetry, max_iter):
    with pytest.warns(ConvergenceWarning):
        model = fitted(symmetry, Gaussian(1.0), max_iter=max_iter, tol=1e-9)
    assert_swap_law(model, new_pairs())


def user_kernel(X, Z):
    return np.cos(X[:, None, :] - Z[None, :, :]).mean(axis=2)


@pytest.mark.parametrize("symmetry", BOTH)
def test_functions_of_the_user(symmetry):
    for kernel in (user_kernel, OrderInvariant(Product(Gaussian(1.0)))):
        assert_swap_law(fitted(symmetry, kernel), new_pairs())


@pytest.mark.parametrize("symmetry", BOTH)
def test_precomputed(symmetry):
    rng = np.random.default_rng(6)
    features = rng.normal(size=(20, 4))
    places = np.arange(20)[:, None]
    first = rng.integers(20, size=40)
    second = (first + rng.integers(1, 20, size=40)) % 20
    model = PairSVC(symmetry, kernel=Product(Precomputed(features @ features.T)))
    model.fit(Pairs(places, first[:30], second[:30]), cases.random_labels(6, 30))
    assert_swap_law(model, Pairs(places, first, second))


@pytest.mark.parametrize("symmetry", BOTH)
def test_the_same_pair_in_batches_of_other_shapes_differs_by_rounding_only(symmetry):
    """What is *not* promised bit for bit, and its bound."""
    model = fitted(symmetry, Polynomial(3))
    pairs = new_pairs()
    together = model.decision_function(pairs)
    alone = np.concatenate([model.decision_function(single) for single in pairs])
    gram = np.abs(Polynomial(3).gram(pairs, model.support_pairs_))
    bound = 64 * np.finfo(float).eps * (gram @ np.abs(model.dual_coef_) + 1.0)
    assert (np.abs(together - alone) <= bound).all()


def test_without_a_symmetry_there_is_no_law():
    """The test can fail: an ordinary machine on the rows as given is not symmetric."""
    pairs = cases.random_pairs(1, n=40, m=12)
    model = PairSVC("none", kernel=Gaussian(1.0)).fit(pairs, cases.random_labels(1, 40))
    decisions, swapped = (model.decision_function(x) for x in (new_pairs(), new_pairs().swap()))
    assert np.abs(swapped - decisions).max() > 1e-3
    assert np.abs(swapped + decisions).max() > 1e-3


def test_tensor_kernel_is_the_projection_of_the_gaussian():
    """Two roads to the same symmetric model."""
    widths = (3, 0, 0)
    one, two = (
        fitted(SYMMETRIC, kernel, widths, tol=1e-9)
        for kernel in (Gaussian(1.0), Tensor(Gaussian(1.0)))
    )
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-9)
    np.testing.assert_allclose(
        one.decision_function(new_pairs(widths=widths)),
        two.decision_function(new_pairs(widths=widths)),
        rtol=0,
        atol=1e-7,
    )


# Every learner ----------------------------------------------------------------------------------

for_each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=repr)


def learned(learner, symmetry, kernel, widths=cases.WIDTHS, **options):
    """A model of its values, with the law checked on many pairs, and on each alone."""
    pairs = cases.random_pairs(1, n=40, m=12, widths=widths)
    model = learner.fit(pairs, 1, symmetry, kernel, **options)
    new, sign = new_pairs(widths=widths), SYMMETRIES[symmetry].sign
    for batch in (new, new[:7], new[3:4], *new[:3]):
        values = learner.of(model, batch)
        assert np.array_equal(learner.of(model, batch.swap()), sign * values)
    assert np.abs(learner.of(model, new)).max() > 1e-6
    return model


# PairSVC: all of the above; the law is that of the model they share, so a third of the kernels
@pytest.mark.parametrize("learner", LEARNERS[1:], ids=repr)
@pytest.mark.parametrize(("symmetry", "case"), ALL[::3], ids=repr)
def test_every_learner_with_many_kernels(learner, symmetry, case):
    learned(learner, symmetry, case.kernel)


@for_each_learner
@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("widths", [(3, 0, 0), (67, 0, 0), (2, 3, 0), (2, 0, 3)])
def test_every_learner_with_any_features(learner, symmetry, widths):
    learned(learner, symmetry, Gaussian(3.0), widths, training_set="full")


@for_each_learner
@pytest.mark.parametrize("symmetry", BOTH)
def test_every_learner_on_some_rows_swapped(learner, symmetry):
    """Each row keeps or flips its value on its own."""
    model = learned(learner, symmetry, Gaussian(1.0))
    pairs, sign = new_pairs(), SYMMETRIES[symmetry].sign
    turned = np.arange(len(pairs)) % 3 == 0
    mixed = Pairs(
        pairs.objects,
        np.where(turned, pairs.second, pairs.first),
        np.where(turned, pairs.first, pairs.second),
        pairs.symmetric,
        np.where(turned[:, None], -pairs.antisymmetric, pairs.antisymmetric),
    )
    expected = np.where(turned, sign, 1.0) * learner.of(model, pairs)
    assert np.array_equal(learner.of(model, mixed), expected)


@for_each_learner
@pytest.mark.parametrize("training_set", ["halved", "full"])
def test_every_learner_is_exactly_zero_at_an_object_with_itself(learner, training_set):
    model = learned(learner, ANTISYMMETRIC, Gaussian(1.0), training_set=training_set)
    assert model.intercept_ == 0.0
    pairs = new_pairs()
    zeros = np.zeros_like(pairs.antisymmetric)
    same = Pairs(pairs.objects, pairs.first, pairs.first, pairs.symmetric, zeros)
    assert learner.of(model, same).tolist() == [0.0] * len(same)
    objects = np.vstack([pairs.objects, pairs.objects])
    alike = Pairs(objects, pairs.first, pairs.first + 9, pairs.symmetric, zeros)
    assert learner.of(model, alike).tolist() == [0.0] * len(alike)


@for_each_learner
@pytest.mark.parametrize("symmetry", BOTH)
def test_every_learner_on_wide_rows(learner, symmetry):
    pairs, new = cases.random_pairs(1, n=40, m=12), new_pairs()
    model = learner.estimator(symmetry, kernel=Gaussian(1.0), n_symmetric=2, n_antisymmetric=2)
    model.fit(pairs.to_rows(), learner.targets(1, 40))
    values, sign = learner.of(model, new.to_rows()), SYMMETRIES[symmetry].sign
    assert np.array_equal(learner.of(model, new.swap().to_rows()), sign * values)
    assert np.array_equal(learner.of(model, new), values)


@for_each_learner
@pytest.mark.parametrize("symmetry", BOTH)
def test_every_learner_on_sparse_objects(learner, symmetry):
    pairs = cases.sparse_twin(cases.random_pairs(1, n=40, m=12))
    model = learner.fit(pairs, 1, symmetry, Gaussian(1.0))
    new, sign = cases.sparse_twin(new_pairs()), SYMMETRIES[symmetry].sign
    assert np.array_equal(learner.of(model, new.swap()), sign * learner.of(model, new))


@for_each_learner
@pytest.mark.parametrize("symmetry", BOTH)
def test_every_learner_is_the_same_after_clone_and_pickle(learner, symmetry):
    model = learned(learner, symmetry, Gaussian(1.0), tol=1e-2)
    restored = pickle.loads(pickle.dumps(model))
    assert np.array_equal(learner.of(restored, new_pairs()), learner.of(model, new_pairs()))
    copy = clone(model)
    assert copy.get_params().keys() == model.get_params().keys()
    assert (copy.symmetry, copy.kernel, copy.tol) == (symmetry, Gaussian(1.0), 1e-2)
    assert not hasattr(copy, "intercept_")
    copy.fit(cases.random_pairs(1, n=40, m=12), learner.targets(1, 40))
    assert np.array_equal(learner.of(copy, new_pairs()), learner.of(model, new_pairs()))


@for_each_learner
def test_no_learner_has_a_law_without_a_symmetry(learner):
    """The tests can fail."""
    model = learner.fit(cases.random_pairs(1, n=40, m=12), 1, "none", Gaussian(1.0))
    values, swapped = (learner.of(model, pairs) for pairs in (new_pairs(), new_pairs().swap()))
    assert np.abs(swapped - values).max() > 1e-3
    assert np.abs(swapped + values).max() > 1e-3
