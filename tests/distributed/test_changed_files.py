"""Files that are replaced while something is made of them: the work ends, and says which file."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest

from pairity import PairSVC, distributed
from pairity.distributed import write_predictions
from pairity.distributed.parts import Columns, FramePart, parquet_parts, pin
from pairity.distributed.passes_on_workers import load_chunk
from pairity.distributed.train import survey_part
from pairity.exceptions import DataError
from pairity.kernels import Gaussian, Linear, Nystroem, Product
from pairity.losses.piecewise import LossRecipe
from pairity.pairs.parity import Parity
from pairity.solvers.low_rank.form import read_form

KERNEL = Product(Nystroem(Gaussian(2.0), 10)) + Linear()


# One file ---------------------------------------------------------------------------------------


@pytest.fixture
def pairs():
    """Numbers of fixed width: other values leave the length of a file as it was."""
    first = np.arange(40) % 7
    second = (first + 1 + np.arange(40) % 3) % 7
    return pd.DataFrame({"a": first, "b": second, "value": np.arange(40) * 0.5})


def write(pairs, path):
    pairs.to_parquet(path, row_group_size=20, index=False, compression=None, use_dictionary=False)
    return path


def replace_in_silence(pairs, path):
    """Another file of the same length and modification time."""
    before = path.stat()
    write(pairs, path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda pairs, path: write(pairs[:30], path), r"it has \d+ bytes, and had \d+"),
        (lambda pairs, path: os.utime(path, ns=(0, 0)), "its modification time is another"),
        (
            lambda pairs, path: replace_in_silence(pairs.assign(value=pairs["value"] + 1.0), path),
            "its footer is another",
        ),
        (lambda pairs, path: path.unlink(), r"cannot be opened \(No such file"),
    ],
    ids=["length", "time", "footer", "gone"],
)
@pytest.mark.parametrize("when", ["before", "between"])
def test_a_changed_file_is_named(pairs, tmp_path, change, message, when):
    path = write(pairs, tmp_path / "pairs.parquet")
    (part,) = parquet_parts([pin(str(path))], ["a"], 100)
    if when == "before":
        change(pairs, path)
        with pytest.raises(DataError, match=rf"got .*pairs\.parquet, which .*{message}"):
            list(part.frames(["a"]))
        return
    pieces = part.frames(["a"])
    next(pieces)
    shutil.copy(path, tmp_path / "other")
    change(pairs, tmp_path / "other")
    if message.startswith(r"cannot"):
        assert len(list(pieces)) == 1  # what was opened stays readable
        return
    path.write_bytes((tmp_path / "other").read_bytes())  # the open file itself
    with pytest.raises(DataError, match=r"pairs\.parquet"):
        list(pieces)


COLUMNS, INDEX = Columns("a", "b", target="value"), pd.Index(np.arange(7))


def survey(part):
    (checksums,) = survey_part(part, COLUMNS, INDEX, 100, odd=True, numeric=True).checksums
    return checksums


def load(part, checksums):
    form = read_form(Linear().fitted_to(np.eye(7)), Parity.ODD, 0, 0)
    recipe = LossRecipe("squared", 1.0)
    return load_chunk(part, COLUMNS, INDEX, form, recipe, None, {}, checksums)


def test_pairs_that_no_pin_tells_apart_are_told_apart_by_their_contents(pairs, tmp_path):
    path = write(pairs, tmp_path / "pairs.parquet")
    pinned = pin(str(path))
    (part,) = parquet_parts([pinned], ["a", "b"], 100)
    checksums = survey(part)
    assert len(load(part, checksums)) == 40
    values = pairs["value"].to_numpy()
    turned = np.r_[values[:20], values[20:][::-1]]  # of the same extremes in each row group
    replace_in_silence(pairs.assign(value=turned), path)
    assert pin(str(path)) == pinned
    with pytest.raises(DataError, match=r"pairs\.parquet, row group 1 with other pairs"):
        load(part, checksums)


@pytest.mark.parametrize("column", ["a", "b", "value"])
def test_a_partition_that_is_computed_again_must_hold_the_same_pairs(pairs, column):
    checksums = survey(FramePart(3, pairs))
    assert len(load(FramePart(3, pairs.copy()), checksums)) == 40
    other = pairs.assign(**{column: pairs[column].to_numpy()[::-1]})
    with pytest.raises(DataError, match="got partition 3 with other pairs than when the fit began"):
        load(FramePart(3, other), checksums)


# Predictions and checkpoints --------------------------------------------------------------------


def test_predictions_of_other_files_are_not_written(client, odd_problem, tmp_path):
    model = PairSVC("antisymmetric", kernel=KERNEL).fit(
        odd_problem.in_memory(), odd_problem.pairs["label"]
    )
    data = odd_problem.dataset(client)
    odd_problem.write_others()
    with pytest.raises(DataError, match=r"0\.parquet, which is not the file that it was"):
        write_predictions(model, data, tmp_path / "said")
    assert not (tmp_path / "said").exists()


@pytest.fixture
def checkpointed(client, odd_problem, tmp_path):
    """A problem, and the checkpoint of a fit to it."""
    state = tmp_path / "state.npz"
    model = distributed.fit(
        odd_problem.machine(), odd_problem.dataset(client, checkpoint=state), "label"
    )
    return odd_problem, state, model


def other_labels(problem):
    """As many of each kind, for the same pairs."""
    problem.pairs["label"] = problem.pairs["label"].to_numpy()[::-1].copy()


def other_objects(problem):
    problem.objects = problem.objects[::-1].set_axis(problem.objects.index)


@pytest.mark.parametrize("change", [other_labels, other_objects])
def test_a_checkpoint_of_other_pairs_or_objects_is_refused(client, checkpointed, change):
    problem, state, _ = checkpointed
    learner = problem.machine()
    change(problem)
    problem.write()
    with pytest.raises(DataError, match="another problem"):
        distributed.fit(learner, problem.dataset(client, checkpoint=state, resume=True), "label")


def test_a_checkpoint_outlives_the_times_of_files_and_the_parts(client, checkpointed):
    problem, state, model = checkpointed
    for path in problem.folder.glob("*.parquet"):
        os.utime(path, ns=(0, 0))
    data = problem.dataset(client, checkpoint=state, resume=True, pairs_per_part=600)
    resumed = distributed.fit(problem.machine(), data, "label")
    assert resumed.certificate_.holds
    assert resumed.n_iter_ == model.n_iter_
