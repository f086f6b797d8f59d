"""Predictions written part by part, and passes on workers against passes here."""

import numpy as np
import pandas as pd
import pytest

from pairity import PairLogistic, PairRidge, PairSVC
from pairity.distributed import write_predictions
from pairity.distributed.passes_on_workers import DaskEngine
from pairity.exceptions import DataError
from pairity.kernels import Gaussian, Linear, Nystroem, Product
from pairity.losses.piecewise import CompactLosses, LossRecipe
from pairity.pairs.parity import SYMMETRIES
from pairity.solvers.low_rank.design import PairChunk, arrange
from pairity.solvers.low_rank.form import group_columns, read_form
from pairity.solvers.low_rank.low_rank_fit import prepare
from pairity.solvers.low_rank.passes import Engine

KERNEL = Product(Nystroem(Gaussian(2.0), 10)) + Linear()


def read(files):
    return pd.concat([pd.read_parquet(file) for file in files], ignore_index=True)


@pytest.mark.parametrize(
    ("learner", "target"), [(PairLogistic, "label"), (PairSVC, "label"), (PairRidge, "value")]
)
def test_files_hold_what_the_model_says(client, problem, tmp_path, learner, target):
    pairs = problem.in_memory()
    model = learner(problem.symmetry, kernel=KERNEL).fit(pairs, problem.pairs[target])
    files = write_predictions(model, problem.dataset(client), tmp_path / "said")
    table = read(files)
    assert (table[["a", "b"]] == problem.pairs[["a", "b"]]).all(axis=None)
    if target == "value":
        np.testing.assert_allclose(table["value"], model.predict(pairs), rtol=1e-9, atol=1e-12)
        return
    np.testing.assert_allclose(
        table["decision"], model.decision_function(pairs), rtol=1e-9, atol=1e-12
    )
    assert (table["label"] == model.predict(pairs)).all()
    if learner is PairLogistic:
        chances = table[["probability no", "probability yes"]].to_numpy()
        assert (chances.sum(axis=1) == 1.0).all()
        np.testing.assert_allclose(chances, model.predict_proba(pairs), atol=1e-12)


def test_a_folder_with_something_in_it_is_left_alone(client, odd_problem, tmp_path):
    model = PairSVC("antisymmetric", kernel=KERNEL).fit(
        odd_problem.in_memory(), odd_problem.pairs["label"]
    )
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    with pytest.raises(DataError, match="there already"):
        write_predictions(model, odd_problem.dataset(client), folder)
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


def test_an_unknown_id_leaves_no_half_file(client, odd_problem, tmp_path):
    model = PairSVC("antisymmetric", kernel=KERNEL).fit(
        odd_problem.in_memory(), odd_problem.pairs["label"]
    )
    odd_problem.pairs.loc[599, "a"] = "nobody"
    odd_problem.write()
    with pytest.raises(DataError, match="'nobody'"):
        write_predictions(model, odd_problem.dataset(client), tmp_path / "said")
    left = (
        [path.name for path in (tmp_path / "said").rglob("*")]
        if (tmp_path / "said").exists()
        else []
    )
    assert not [name for name in left if name.startswith(".")]
    assert all(len(pd.read_parquet(tmp_path / "said" / name)) for name in left)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_passes_on_workers_are_those_of_one_process(client, problem, monkeypatch, precision):
    """Few curved pairs in one precision and many in the other, the other way round for each symmetry."""
    from pairity.distributed import passes_on_workers as engines

    few = (precision is np.float32) == (problem.symmetry == "symmetric")
    if not few:
        monkeypatch.setattr(engines, "_FEW_ENTRIES", -1)
    pairs = problem.in_memory()
    kernel = KERNEL.fitted_to(pairs)
    parity = SYMMETRIES[problem.symmetry]
    form = read_form(kernel, parity, pairs.n_symmetric, pairs.n_antisymmetric)
    order, came_from = arrange(pairs.first, pairs.second, pairs.n_objects)
    columns = group_columns(form, pairs)
    signs = np.where(problem.pairs["label"] == "yes", 1, -1).astype(np.int8)
    recipe = LossRecipe("hinge", 0.3)
    whole = PairChunk(order, columns[came_from], CompactLosses(recipe, signs[came_from], None))
    ends = np.bincount(np.r_[pairs.first, pairs.second], minlength=pairs.n_objects)
    prepared = prepare(form, pairs.objects, ends.astype(float), np.mean(columns**2, axis=0))
    parts = []
    for rows in np.array_split(np.arange(len(pairs)), 9):  # more than are added up at once
        piece, place = arrange(pairs.first[rows], pairs.second[rows], pairs.n_objects)
        losses = CompactLosses(recipe, signs[rows][place], None)
        parts.append(PairChunk(piece, columns[rows][place], losses))
    near = Engine(whole, prepared.design)
    far = DaskEngine(client, client.scatter(parts), prepared.design)
    rng = np.random.default_rng(0)
    point, direction = rng.normal(size=(2, near.layout.size)) / near.layout.size
    for vector in (point, direction):
        for matrix in near.layout.matrices(vector):
            matrix += parity.sign * matrix.T.copy()
    tolerance = (
        {"rtol": 2e-4, "atol": 2e-4} if precision is np.float32 else {"rtol": 1e-9, "atol": 1e-9}
    )
    found = []
    for engine in (near, far):
        engine.move_to(point, precision)
        sums = engine.sums(0.7)
        bent = engine.curve(direction)
        engine.look_along(direction)
        found.append((sums, bent, engine.slope(0.5)))
        engine.move_along(point + 0.5 * direction, 0.5)
        found[-1] += (engine.sums(0.7).loss,)
    (one, bent_one, slope_one, after_one), (two, bent_two, slope_two, after_two) = found
    for name in ("loss", "nothing", "rounded", "curvature", "theta", "conjugate", "pulls"):
        np.testing.assert_allclose(getattr(two, name), getattr(one, name), **tolerance)
    np.testing.assert_allclose(bent_two, bent_one, **tolerance)
    np.testing.assert_allclose([slope_two, after_two], [slope_one, after_one], **tolerance)
