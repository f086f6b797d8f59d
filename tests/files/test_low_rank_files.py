"""Low-rank models in files: the same function again, and parts that do not fit are noticed."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import cases
import pairity
from pairity import PairLogistic, PairRidge, Pairs, PairSVC, PairSVR
from pairity.exceptions import ModelFileError
from pairity.kernels import Gaussian, Linear, Nystroem, Product


def through_a_file(model, tmp_path):
    pairity.save(model, tmp_path / "model.pairity")
    return pairity.load(tmp_path / "model.pairity")


@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
@pytest.mark.parametrize("learner", [PairSVC, PairLogistic, PairSVR, PairRidge])
def test_every_learner(learner, symmetry, tmp_path):
    train, new = cases.random_pairs(3, n=20), cases.random_pairs(4, n=30, m=9)
    kernel = Product(Nystroem(Gaussian(1.1), 5)) + Linear()
    targets = cases.random_labels(3, 20)
    model = learner(symmetry, kernel=kernel, tol=1e-2).fit(train, targets)
    again = through_a_file(model, tmp_path)
    assert (again.predict(new) == model.predict(new)).all()
    assert (again._model.decisions(new) == model._model.decisions(new)).all()
    assert again.certificate_ == model.certificate_
    assert again.approximation_ == model.approximation_


def test_objects_known_by_their_ids(tmp_path):
    pairs = Pairs(sp.csr_array(sp.identity(4, format="csr")), [0, 1, 2], [1, 2, 3])
    model = PairLogistic("antisymmetric", kernel="linear", solver="low_rank").fit(pairs, [1, 1, -1])
    again = through_a_file(model, tmp_path)
    assert (again.decision_function(pairs) == model.decision_function(pairs)).all()


@pytest.mark.parametrize(
    "parts",
    [
        {"parity": None},
        {"bases": ()},
        {"parameters": np.zeros(3)},
        {"parameters": np.zeros(3, dtype=np.float32)},
        {"n_symmetric": 1.0},
        {"with_bias": 1},
    ],
    ids=str,
)
def test_parts_that_do_not_fit(parts, tmp_path):
    pairs = cases.without_group(cases.random_pairs(5, n=20))
    model = PairRidge("symmetric", kernel=Nystroem(Gaussian(1.1), 5)).fit(pairs, np.arange(20.0))
    model._model = replace(model._model, **parts)
    with pytest.raises(ModelFileError, match=r"whose parts do not fit|that no fit leaves there"):
        through_a_file(model, tmp_path)
