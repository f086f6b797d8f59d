"""DerivedFeatures: values against a plain twin, laws, names, models, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cases
from learners import LEARNERS
from pairity import DerivedFeatures, ObjectTransformer, Pairs, PairSVC
from pairity.estimators import PairNames
from pairity.kernels import Gaussian
from pairity.model_selection import PairKFold
from pairity.pairs.derived import PARTS
from pairity.pairs.parity import SYMMETRIES, Parity

EVEN = ["absolute_difference", "sum", "product", "distance", "cosine", "absolute_antisymmetric"]


def naive_columns(x, z, given, part):
    """One part of one pair, entry by entry."""
    ends = list(zip(x.tolist(), z.tolist(), strict=True))
    return {
        "absolute_difference": lambda: [abs(p - q) for p, q in ends],
        "sum": lambda: [p + q for p, q in ends],
        "product": lambda: [p * q for p, q in ends],
        "distance": lambda: [math.sqrt(sum((p - q) * (p - q) for p, q in ends))],
        "cosine": lambda: [
            sum(p * q for p, q in ends)
            / math.sqrt(sum(p * p for p, _ in ends) * sum(q * q for _, q in ends))
        ],
        "difference": lambda: [p - q for p, q in ends],
        "absolute_antisymmetric": lambda: [abs(v) for v in given.tolist()],
    }[part]()


def test_values_are_those_of_the_plain_twin():
    pairs = cases.random_pairs(1)
    done = DerivedFeatures(EVEN, ["difference"]).fit_transform(pairs)
    for row in range(len(pairs)):
        x, z = pairs.objects[pairs.first[row]], pairs.objects[pairs.second[row]]
        given = pairs.antisymmetric[row]
        even = [v for part in EVEN for v in naive_columns(x, z, given, part)]
        odd = naive_columns(x, z, given, "difference")
        assert done.symmetric[row].tolist() == pairs.symmetric[row].tolist() + even
        assert done.antisymmetric[row].tolist() == given.tolist() + odd
    assert np.array_equal(done.objects, pairs.objects)


@given(seed=st.integers(0, 10**6), keep=st.booleans(), sparse=st.booleans())
def test_a_swap_commutes(seed, keep, sparse):
    pairs = cases.random_pairs(seed)
    pairs = cases.sparse_twin(pairs) if sparse else pairs
    step = DerivedFeatures(EVEN, ("difference",), keep_objects=keep).fit(pairs)
    there, back = step.transform(pairs).swap(), step.transform(pairs.swap())
    assert np.array_equal(there.symmetric, back.symmetric)
    assert np.array_equal(there.antisymmetric, back.antisymmetric)
    assert np.array_equal(there.first, back.first)
    assert there.n_object_features == (2 if keep else 0)


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_models_on_derived_features_obey_the_swap_law(learner, symmetry, keep):
    train, new = cases.random_pairs(1, n=40, m=12), cases.random_pairs(2, n=17, m=9)
    model = make_pipeline(
        ObjectTransformer(StandardScaler()),
        DerivedFeatures(keep_objects=keep),
        learner.estimator(symmetry, kernel=Gaussian(2.0)),
    ).fit(train, learner.targets(0, 40))
    values = learner.of(model, new)
    assert np.abs(values).max() > 1e-6
    assert np.array_equal(learner.of(model, new.swap()), SYMMETRIES[symmetry].sign * values)
    alone = Pairs(new.objects, [0, 1], [0, 1], new.symmetric[:2], np.zeros((2, 2)))
    if symmetry == "antisymmetric":
        assert (learner.of(model, alone) == 0.0).all()


def test_differences_alone_make_a_kernel_of_differences(rng):
    """Without the objects the Gaussian sees |d - e| only: its odd part, written out."""
    objects = rng.normal(size=(12, 2))
    pairs = Pairs.complete(objects)[::3]
    y = cases.random_labels(0, len(pairs))
    step = DerivedFeatures((), ("difference",), keep_objects=False)
    model = make_pipeline(step, PairSVC("antisymmetric", kernel=Gaussian(1.5), tol=1e-8)).fit(
        pairs, y
    )
    difference = objects[pairs.first] - objects[pairs.second]
    close = np.exp(-((difference[:, None] - difference[None]) ** 2).sum(-1) / (2 * 1.5**2))
    far = np.exp(-((difference[:, None] + difference[None]) ** 2).sum(-1) / (2 * 1.5**2))
    theta = np.zeros(len(pairs))
    theta[model[-1].support_] = model[-1].dual_coef_
    assert np.allclose(model.decision_function(pairs), (close - far) @ theta / 2, atol=1e-12)


def test_search_over_parts(rng):
    """Alike means close together: sums cannot see that, absolute differences can."""
    objects = rng.normal(size=(30, 1))
    pairs = Pairs.complete(objects)[::4]
    gap = np.abs(objects[pairs.first, 0] - objects[pairs.second, 0])
    y = np.where(gap < np.median(gap), 1, -1)
    step = DerivedFeatures(("sum",), (), keep_objects=False)
    model = make_pipeline(step, PairSVC("symmetric", kernel="linear"))
    grid = {"derivedfeatures__symmetric": [("sum",), ("absolute_difference",)]}
    search = GridSearchCV(model, grid, cv=PairKFold(3)).fit(pairs, y)
    assert search.best_params_["derivedfeatures__symmetric"] == ("absolute_difference",)
    assert search.best_score_ > 0.9


def test_names_follow_the_columns_through_a_pipeline():
    pairs = cases.random_pairs(1, widths=(2, 1, 1))
    steps = make_pipeline(ObjectTransformer(StandardScaler()), DerivedFeatures(EVEN, "difference"))
    steps.fit(pairs)
    names = steps.get_feature_names_out(["price", "time", "distance", "home"])
    assert names.tolist() == [
        *("price(a)", "time(a)", "distance"),
        *("|price(a) - price(b)|", "|time(a) - time(b)|"),
        *("price(a) + price(b)", "time(a) + time(b)"),
        *("price(a) * price(b)", "time(a) * time(b)"),
        *("distance(a, b)", "cosine(a, b)", "|home|", "home"),
        *("price(a) - price(b)", "time(a) - time(b)", "price(b)", "time(b)"),
    ]
    assert len(names) == steps.transform(pairs).shape[1]
    alone = DerivedFeatures(keep_objects=False).fit(pairs)
    assert len(alone.get_feature_names_out()) == alone.transform(pairs).shape[1]


def test_one_distance_of_all_features_is_the_example_of_remark_1(rng):
    objects = rng.normal(size=(5, 7))
    pairs = Pairs.complete(objects)
    done = DerivedFeatures("distance", (), keep_objects=False).fit_transform(pairs)
    expected = [math.dist(*objects[[a, b]]) for a, b in zip(pairs.first, pairs.second, strict=True)]
    np.testing.assert_allclose(done.symmetric[:, -1], expected, rtol=1e-15)
    assert done.symmetric.shape[1] == pairs.n_symmetric + 1


def test_names_of_wide_rows_that_follow_no_pattern_are_taken_as_they_are():
    names = PairNames.read(["p", "q", "d", "r", "s"], 2, 1, 0)
    assert names == PairNames(("p", "q"), ("d",))


def test_every_part_is_taken_on_one_side_or_refused():
    pairs = cases.random_pairs(1)
    for part, (parity, *_) in PARTS.items():
        name = "symmetric" if parity is Parity.EVEN else "antisymmetric"
        other = "antisymmetric" if parity is Parity.EVEN else "symmetric"
        neither = {"symmetric": (), "antisymmetric": ()}
        if part in ("symmetric", "antisymmetric"):
            with pytest.raises(ValueError, match="stay anyway"):
                DerivedFeatures(**{**neither, name: (part,)}).fit(pairs)
            continue
        assert clone(DerivedFeatures(**{**neither, name: (part,)})).fit(pairs).n_features_in_ == 8
        with pytest.raises(ValueError, match=f"under a swap: pass these as {name}"):
            DerivedFeatures(**{**neither, other: (part,)}).fit(pairs)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (DerivedFeatures(("ratio",)), "got part 'ratio'; expected some of"),
        (DerivedFeatures((), ()), "got no parts for DerivedFeatures"),
        (DerivedFeatures(("sum", "difference")), "some that stay and some that change sign"),
        (DerivedFeatures(("absolute_antisymmetric",)), "without antisymmetric group features"),
    ],
)
def test_refusals(step, message):
    with pytest.raises(ValueError, match=message):
        step.fit(cases.random_pairs(1, widths=(2, 1, 0)))


def test_wide_rows_are_pairs():
    rows = np.random.default_rng(0).normal(size=(9, 5))
    step = DerivedFeatures(n_symmetric=1)
    expected = step.fit_transform(Pairs.from_rows(rows, 1)).to_rows()
    assert (step.fit(rows).transform(rows).to_rows() == expected).all()
    with pytest.raises(ValueError, match="the two objects need the same number of columns"):
        DerivedFeatures().fit(rows)
