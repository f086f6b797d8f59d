"""Models with landmark features: trained, searched, copied, saved."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import cases
import pairity
from pairity import Pairs, PairSVC
from pairity.exceptions import PairityWarning
from pairity.kernels import (
    Additive,
    Gaussian,
    Linear,
    Nystroem,
    Product,
    Standardized,
    Tensor,
)
from pairity.model_selection import PairKFold


def objects_table(seed, n=60, columns=3):
    return np.random.default_rng(seed).normal(size=(n, columns))


def task(m=30, seed=24):
    objects = objects_table(seed, m)
    pairs = Pairs.complete(objects)
    return pairs, np.where(objects[pairs.first, 0] > objects[pairs.second, 0], 1, -1)


MODELS = [
    Nystroem("gaussian", 20),
    Standardized(Nystroem(Product(Gaussian("median")) + Additive(Linear()), 10)),
    Nystroem("product", 20, "leverage"),
    Product(Nystroem(Gaussian("median"), 20, "uniform")),
]


@pytest.mark.parametrize("solver", ["chunking", "smo"])
@pytest.mark.parametrize("kernel", MODELS, ids=repr)
def test_machines_obey_the_swap_law(kernel, solver):
    pairs, y = task()
    model = PairSVC("antisymmetric", kernel=kernel, solver=solver).fit(pairs, y)
    decision = model.decision_function(pairs)
    assert np.array_equal(model.decision_function(pairs.swap()), -decision)
    assert (np.sign(decision) == y).mean() > 0.9
    even = PairSVC("symmetric", kernel=kernel, solver=solver).fit(pairs, np.roll(y, 1))
    assert np.array_equal(even.decision_function(pairs.swap()), even.decision_function(pairs))


def test_enough_landmarks_give_the_machine_of_the_kernel():
    pairs, y = task()
    one = PairSVC("antisymmetric", kernel=Nystroem("gaussian", 30), tol=1e-6).fit(pairs, y)
    two = PairSVC("antisymmetric", kernel="gaussian", tol=1e-6).fit(pairs, y)
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-5)


@pytest.mark.parametrize("kernel", MODELS, ids=repr)
def test_models_come_back_from_files(kernel, tmp_path):
    pairs, y = task()
    model = PairSVC("antisymmetric", kernel=kernel, solver="chunking").fit(pairs, y)
    pairity.save(model, tmp_path / "model.pairity")
    loaded = pairity.load(tmp_path / "model.pairity")
    assert loaded.kernel == kernel
    probe = cases.random_pairs(25, widths=(3, 0, 0))
    assert np.array_equal(loaded.decision_function(probe), model.decision_function(probe))


def test_models_of_sparse_objects_come_back_from_files(tmp_path):
    pairs, y = task()
    pairs = cases.sparse_twin(pairs)
    model = PairSVC("antisymmetric", kernel=Nystroem("gaussian", 8), solver="chunking").fit(
        pairs, y
    )
    pairity.save(model, tmp_path / "model.pairity")
    loaded = pairity.load(tmp_path / "model.pairity")
    assert np.array_equal(loaded.decision_function(pairs), model.decision_function(pairs))


def test_copies_of_fitted_kernels_are_the_same_kernels():
    pairs = cases.random_pairs(26, n=40, m=20)
    for kernel in (
        Nystroem("gaussian", 5),
        Nystroem(Nystroem(Gaussian(1.0), 9), 5),
        Nystroem(2.0 * Tensor(Gaussian(1.0) + 3.0 * Gaussian(2.0)), 5),
    ):
        fitted = kernel.fitted_to(pairs)
        gram = fitted.gram(pairs)
        for twin in (clone(fitted), pickle.loads(pickle.dumps(fitted)), fitted.detached()):
            assert np.array_equal(twin.gram(pairs), gram)
        sparse = cases.sparse_twin(pairs)
        fitted = kernel.fitted_to(sparse)
        np.testing.assert_array_equal(clone(fitted).gram(sparse), fitted.gram(sparse))


def test_parameters_work_as_in_scikit_learn():
    kernel = Nystroem(Gaussian(2.0), 32, "leverage", 7)
    assert clone(kernel) == kernel
    assert clone(kernel).set_params(kernel__sigma=3.0) != kernel
    assert kernel.get_params()["kernel__sigma"] == 2.0
    assert Nystroem("gaussian") == clone(Nystroem("gaussian"))
    pairs, y = task(16)
    search = GridSearchCV(
        PairSVC("antisymmetric", kernel=Nystroem("gaussian", 8)),
        {"kernel__n_components": [2, 8]},
        cv=PairKFold(3),
        error_score="raise",
    ).fit(pairs, y)
    assert search.best_params_ == {"kernel__n_components": 8}


def test_one_landmark_tells_no_pair_from_its_swap():
    """One feature per object: its products are symmetric, so the odd part is zero, and that is said."""
    pairs, y = task(16)
    with pytest.warns(PairityWarning, match="odd part is zero"):
        model = PairSVC("antisymmetric", kernel=Nystroem("gaussian", 1)).fit(pairs, y)
    assert not model.decision_function(pairs).any()
