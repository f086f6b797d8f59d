"""ObjectTransformer: laws of the swap, what is fitted, pipelines, names, refusals."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    StandardScaler,
    TargetEncoder,
)

import cases
from learners import LEARNERS
from pairity import ObjectTransformer, Pairs, PairSVC
from pairity.kernels import Gaussian, Linear
from pairity.model_selection import PairKFold
from pairity.pairs.parity import SYMMETRIES

BOTH = ["symmetric", "antisymmetric"]


def bins():
    return KBinsDiscretizer(3, encode="onehot", quantile_method="averaged_inverted_cdf")


def transformers():
    """What people put before a model; PCA and the like go through matrix products."""
    columns = [("scaled", StandardScaler(), [0, 2]), ("binned", bins(), [1])]
    return [
        StandardScaler(),
        QuantileTransformer(n_quantiles=5),
        PCA(3, whiten=True),
        TruncatedSVD(2, random_state=0),
        bins(),  # sparse
        Normalizer(),
        PolynomialFeatures(2),
        make_pipeline(StandardScaler(), PCA(2)),
        ColumnTransformer(columns, remainder="passthrough"),
    ]


def wide_pairs(seed=1, n=40, m=14, widths=(6, 2, 2)):
    return cases.random_pairs(seed, n=n, m=m, widths=widths)


def turned(pairs, mask):
    """The pairs, those of the mask with their ends exchanged."""
    return Pairs(
        pairs.objects,
        np.where(mask, pairs.second, pairs.first),
        np.where(mask, pairs.first, pairs.second),
        pairs.symmetric,
        np.where(mask[:, None], -pairs.antisymmetric, pairs.antisymmetric),
        ids=pairs.ids,
    )


def rows_of(pairs):
    rows = pairs.to_rows()
    return rows.toarray() if sp.issparse(rows) else rows


# Laws ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("transformer", transformers(), ids=lambda t: type(t).__name__)
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_a_swap_commutes_with_every_transformer(transformer, seed):
    step = ObjectTransformer(
        transformer, symmetric=StandardScaler(), antisymmetric=PCA(2, whiten=True)
    )
    step.fit(wide_pairs())
    rng = np.random.default_rng(seed)
    new = wide_pairs(seed, n=int(rng.integers(1, 30)), m=int(rng.integers(2, 12)))
    there, back = step.transform(new), step.transform(new.swap())
    assert np.array_equal(rows_of(there.swap()), rows_of(back))
    mask = rng.random(len(new)) < 0.5
    some = step.transform(turned(new, mask))
    assert np.array_equal(rows_of(turned(there, mask)), rows_of(some))


@pytest.mark.parametrize("transformer", transformers(), ids=lambda t: type(t).__name__)
def test_it_is_the_transformer_on_the_table_of_objects(transformer):
    train, new = wide_pairs(), wide_pairs(2, n=25, m=9)
    done = ObjectTransformer(transformer).fit(train).transform(new)
    expected = clone(transformer).fit(np.unique(train.objects, axis=0)).transform(new.objects)
    expected = expected.toarray() if sp.issparse(expected) else expected
    objects = done.objects.toarray() if sp.issparse(done.objects) else done.objects
    sign = 1.0
    if "PCA" in repr(transformer) or "SVD" in repr(transformer):  # components have no sign
        sign = np.sign(objects[0] * expected[0])
    assert np.allclose(objects * sign, expected, rtol=1e-9, atol=1e-12)
    assert sp.issparse(done.objects) == sp.issparse(clone(transformer).fit_transform(train.objects))
    assert np.array_equal(done.first, new.first)
    assert np.array_equal(done.symmetric, new.symmetric)
    assert np.array_equal(done.antisymmetric, new.antisymmetric)


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_pipelines_obey_the_swap_law(learner, symmetry):
    train, new = wide_pairs(), wide_pairs(3, n=31, m=11)
    step = ObjectTransformer(PCA(3), symmetric=StandardScaler(), antisymmetric=StandardScaler())
    model = make_pipeline(step, learner.estimator(symmetry, kernel=Linear() + Gaussian(2.0)))
    model.fit(train, learner.targets(0, len(train)))
    values = learner.of(model, new)
    assert np.abs(values).max() > 1e-6
    assert np.array_equal(learner.of(model, new.swap()), SYMMETRIES[symmetry].sign * values)
    for start in range(0, 30, 7):
        batch = new[start : start + 3]
        sign = SYMMETRIES[symmetry].sign
        assert np.array_equal(learner.of(model, batch.swap()), sign * learner.of(model, batch))


def test_the_order_of_pairs_objects_and_ends_does_not_matter_to_fit(rng):
    pairs = wide_pairs(5)
    shuffled = rng.permutation(pairs.n_objects)  # new place of each object
    table = np.empty_like(pairs.objects)
    table[shuffled] = pairs.objects
    moved = Pairs(
        table,
        shuffled[pairs.first],
        shuffled[pairs.second],
        pairs.symmetric,
        pairs.antisymmetric,
    )
    moved = turned(moved, rng.random(len(moved)) < 0.5)
    fits = [
        ObjectTransformer(PCA(3), antisymmetric=StandardScaler()).fit(given)
        for given in (pairs, moved)
    ]
    assert np.array_equal(fits[0].transformer_.components_, fits[1].transformer_.components_)
    assert np.array_equal(fits[0].antisymmetric_.scale_, fits[1].antisymmetric_.scale_)


def test_the_arrangement_of_the_table_does_not_matter_to_a_pair(rng):
    """PCA rounds a row differently at another place of a table: objects are put in order first."""
    step = ObjectTransformer(PCA(7)).fit(cases.random_pairs(1, n=40, m=13, widths=(30, 0, 0)))
    for seed in range(5):
        new = cases.random_pairs(seed, n=30, m=11, widths=(30, 0, 0))
        place = rng.permutation(11)
        table = np.empty_like(new.objects)
        table[place] = new.objects
        moved = Pairs(table, place[new.first], place[new.second])
        assert np.array_equal(step.transform(moved).to_rows(), step.transform(new).to_rows())
        again = Pairs.from_rows(new.swap().to_rows()).swap()
        assert np.array_equal(step.transform(again).to_rows(), step.transform(new).to_rows())


# What is fitted ------------------------------------------------------------------------------


def test_every_object_of_the_training_pairs_counts_once_and_no_other():
    objects = np.array([[1.0], [2.0], [9.0], [2.0], [1000.0]])
    pairs = Pairs(objects, first=[0, 0, 0, 1], second=[1, 1, 2, 3])  # row 4 is in no pair
    step = ObjectTransformer(StandardScaler()).fit(pairs)
    assert step.n_objects_seen_ == 3  # rows 1 and 3 look the same
    assert step.transformer_.mean_.tolist() == [4.0]
    named = Pairs(objects, pairs.first, pairs.second, ids=list("abcde"))
    step.fit(named)
    assert step.n_objects_seen_ == 4
    assert step.transformer_.mean_.tolist() == [3.5]
    twice = Pairs(objects, pairs.first, pairs.second, ids=list("abcbe"))  # row 3 is b again
    assert step.fit(twice).n_objects_seen_ == 3


def test_objects_without_features_are_rows():
    pairs = Pairs(np.zeros((4, 0)), [0, 1], [1, 2], symmetric=[[1.0], [3.0]])
    step = ObjectTransformer(None, symmetric=StandardScaler()).fit(pairs)
    assert step.n_objects_seen_ == 3
    assert step.transform(pairs).symmetric.ravel().tolist() == [-1.0, 1.0]


def test_nothing_leaks_in_cross_validation(rng):
    """Scores of a pipeline are those of scaling by hand with the training objects of each fold."""
    objects = rng.normal(size=(20, 3)) * [1.0, 50.0, 0.02]
    pairs = Pairs.complete(objects)[::2]
    scaled = objects / [1.0, 50.0, 0.02]
    margin = scaled.sum(axis=1)
    y = np.where(margin[pairs.first] > margin[pairs.second], 1, -1)
    model = PairSVC("antisymmetric", kernel=Gaussian(1.5))
    folds = PairKFold(4)
    scores = cross_val_score(
        make_pipeline(ObjectTransformer(StandardScaler()), model), pairs, y, cv=folds
    )
    by_hand = []
    for train, test in folds.split(pairs):
        seen = np.unique(np.concatenate([pairs.first[train], pairs.second[train]]))
        scaler = StandardScaler().fit(objects[seen])
        table = Pairs(scaler.transform(objects), pairs.first, pairs.second)
        by_hand.append(clone(model).fit(table[train], y[train]).score(table[test], y[test]))
    assert scores.tolist() == by_hand
    assert np.mean(scores) > cross_val_score(model, pairs, y, cv=folds).mean() + 0.1


# Antisymmetric group features ----------------------------------------------------------------


@pytest.mark.parametrize(
    "transformer",
    [
        StandardScaler(),
        QuantileTransformer(n_quantiles=8),
        PolynomialFeatures(3),
        FunctionTransformer(np.cbrt),
        OneHotEncoder(),
    ],
    ids=lambda t: type(t).__name__,
)
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_antisymmetric_features_change_sign_exactly(transformer, seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(-3, 4, size=(12, 2)).astype(float)
    values[0], values[1] = [3.0, -3.0], [2.0, 1.0]
    pairs = Pairs(np.zeros((2, 1)), [0] * 12, [1] * 12, antisymmetric=values)
    step = ObjectTransformer(None, antisymmetric=transformer).fit(pairs)
    there, back = step.transform(pairs).antisymmetric, step.transform(pairs.swap()).antisymmetric
    assert np.array_equal(there, -back)
    assert there.any()
    plain = clone(transformer).fit(np.vstack([values, -values]))
    parts = [plain.transform(table) for table in (values, -values)]
    parts = [part.toarray() if sp.issparse(part) else part for part in parts]
    assert np.allclose(there, (parts[0] - parts[1]) / 2.0, rtol=1e-12, atol=1e-15)


def test_a_scaler_divides_by_the_root_mean_square_and_does_not_centre():
    """Rows are written the same way round throughout, as games are, the host first."""
    values = np.array([[3.0], [5.0], [4.0], [0.0]])
    pairs = Pairs(np.zeros((3, 1)), [0, 1, 2, 1], [1, 2, 0, 1], antisymmetric=values)
    step = ObjectTransformer(None, antisymmetric=StandardScaler()).fit(pairs)
    expected = values / np.sqrt(np.mean(values**2))
    done = step.transform(pairs).antisymmetric
    assert np.allclose(done, expected, rtol=1e-14)
    assert done[3, 0] == 0.0  # an object with itself


def test_symmetric_features_may_go_through_anything():
    pairs = wide_pairs()
    done = ObjectTransformer(None, symmetric=bins()).fit(pairs).transform(pairs)
    assert isinstance(done.symmetric, np.ndarray)
    assert np.array_equal(done.symmetric, bins().fit_transform(pairs.symmetric).toarray())
    assert np.array_equal(done.objects, pairs.objects)


# scikit-learn's ways -------------------------------------------------------------------------


def test_sparse_objects():
    train = cases.sparse_twin(wide_pairs())
    step = ObjectTransformer(MaxAbsScaler()).fit(train)
    done = step.transform(train)
    assert sp.issparse(done.objects)
    dense = ObjectTransformer(MaxAbsScaler()).fit_transform(wide_pairs())
    assert np.allclose(done.objects.toarray(), dense.objects, rtol=1e-14, atol=0.0)
    reduced = ObjectTransformer(TruncatedSVD(2, random_state=0)).fit_transform(train)
    assert reduced.objects.shape == (train.n_objects, 2)


def test_search_over_the_inner_transformer(rng):
    pairs = wide_pairs(6, n=60, m=16, widths=(6, 0, 0))
    y = np.where(pairs.objects[pairs.first, 0] > pairs.objects[pairs.second, 0], 1, -1)
    model = make_pipeline(ObjectTransformer(PCA(2)), PairSVC("antisymmetric", kernel="linear"))
    grid = {"objecttransformer__transformer__n_components": [1, 6], "pairsvc__C": [1.0]}
    search = GridSearchCV(model, grid, cv=PairKFold(3)).fit(pairs, y)
    assert search.best_params_["objecttransformer__transformer__n_components"] == 6
    assert search.best_estimator_[0].transformer_.n_components_ == 6
    assert model[0].transformer.n_components == 2  # the user's own is left alone
    assert not hasattr(model[0].transformer, "components_")


def test_clone_parameters_and_pickling():
    step = ObjectTransformer(StandardScaler(), antisymmetric=StandardScaler())
    twin = clone(step).set_params(transformer__with_mean=False)
    assert step.transformer.with_mean
    assert not twin.transformer.with_mean
    pairs = wide_pairs()
    twin.fit(pairs)
    again = pickle.loads(pickle.dumps(twin))
    assert np.array_equal(again.transform(pairs).to_rows(), twin.transform(pairs).to_rows())


def test_ids_stay_with_their_objects():
    objects = np.array([[1.0], [2.0], [4.0], [2.0]])
    pairs = Pairs(objects, first=[2, 3], second=[1, 2], ids=["a", "b", "c", "d"])
    done = ObjectTransformer(StandardScaler()).fit_transform(pairs)
    assert done.ids.tolist() == ["b", "c", "d"]
    assert done.ids[done.first].tolist() == ["c", "d"]
    assert done.objects[0, 0] == done.objects[2, 0]


def test_the_output_stays_pairs_whatever_scikit_learn_is_told():
    pytest.importorskip("pandas", reason="pandas comes with the command line extra")
    pairs = wide_pairs()
    plain = ObjectTransformer(StandardScaler(), symmetric=StandardScaler()).fit_transform(pairs)
    with config_context(transform_output="pandas"):
        step = ObjectTransformer(StandardScaler(), symmetric=StandardScaler())
        done = step.fit_transform(pairs)
    assert isinstance(done, Pairs)
    assert np.array_equal(done.to_rows(), plain.to_rows())


def test_names():
    pairs = cases.random_pairs(1, widths=(2, 1, 1))
    step = ObjectTransformer(PCA(1), antisymmetric=StandardScaler()).fit(pairs)
    names = step.get_feature_names_out(["price", "time", "distance", "home"])
    assert names.tolist() == ["pca0(a)", "distance", "home", "pca0(b)"]
    assert len(names) == step.transform(pairs).shape[1]
    wide = ["price(a)", "time(a)", "distance", "home", "price(b)", "time(b)"]
    scaled = ObjectTransformer(StandardScaler()).fit(pairs)
    assert scaled.get_feature_names_out(wide).tolist() == wide
    assert scaled.get_feature_names_out().tolist() == [
        *("x0(a)", "x1(a)", "symmetric0", "antisymmetric0", "x0(b)", "x1(b)")
    ]
    logs = ObjectTransformer(FunctionTransformer(np.arctan)).fit(pairs)
    assert logs.get_feature_names_out()[0] == "functiontransformer0(a)"
    with pytest.raises(ValueError, match=r"got 3 names of features; expected 4 .* or 6"):
        scaled.get_feature_names_out(["a", "b", "c"])


@pytest.mark.parametrize(
    ("step", "widths", "message"),
    [
        (ObjectTransformer("scale"), (2, 0, 0), "got transformer='scale'; expected a scikit-learn"),
        (ObjectTransformer(StandardScaler), (2, 0, 0), r"expected an instance: write StandardSc"),
        (ObjectTransformer(TargetEncoder()), (2, 0, 0), "which needs targets"),
        (ObjectTransformer(StandardScaler()), (0, 1, 0), "pairs without object features"),
        (
            ObjectTransformer(None, symmetric=StandardScaler()),
            (2, 0, 0),
            "pairs without symmetric group features",
        ),
        (
            ObjectTransformer(None, antisymmetric=FunctionTransformer(np.abs)),
            (2, 0, 1),
            "whose odd part .* is zero",
        ),
        (
            ObjectTransformer(FunctionTransformer(lambda x: x / 0.0)),
            (2, 0, 0),
            r"(?s)objects after FunctionTransformer.*expected finite numbers",
        ),
        (
            ObjectTransformer(FunctionTransformer(lambda x: x[:1])),
            (2, 0, 0),
            "expected one row each",
        ),
    ],
)
def test_refusals(step, widths, message):
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=message):
        step.fit(cases.random_pairs(1, widths=widths))


def test_refusals_of_data():
    step = ObjectTransformer(StandardScaler())
    pairs = cases.random_pairs(1)
    with pytest.raises(ValueError, match="the two objects need the same number of columns"):
        step.fit(np.zeros((3, 5)))
    with pytest.raises(ValueError, match="got 0 pairs"):
        step.fit(pairs[:0])
    step.fit(pairs)
    with pytest.raises(ValueError, match=r"got pairs with \(3, 2, 2\) .* expected \(2, 2, 2\)"):
        step.transform(cases.random_pairs(1, widths=(3, 2, 2)))
    assert step.transform(pairs[:0]).shape == (0, pairs.shape[1])
