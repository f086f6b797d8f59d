"""Workers that die, fits that are cut off, files that are damaged."""

import os
import shutil
import signal

import numpy as np
import pytest
from tests.distributed.conftest import Problem

from fresh import Fresh
from pairity import distributed
from pairity.distributed import cluster, train
from pairity.distributed.cluster import read_checkpoint, write_checkpoint
from pairity.exceptions import DataError
from pairity.solvers.low_rank.minimise import Progress

# The steps of a fit and their checkpoints are the same for both symmetries: one test has the
# symmetric problem, the next one the other.


def test_a_killed_worker_costs_its_part_not_the_fit(own_client, tmp_path, monkeypatch):
    problem = Problem(tmp_path, "symmetric")
    expected = distributed.fit(problem.machine(), problem.dataset(own_client), "label")
    assert expected.n_iter_ >= 3
    killed = []

    def write_and_kill(path, progress, fingerprint):
        if progress.n_iter == 2:
            workers = own_client.run(os.getpid)
            victim = sorted(workers.values())[0]
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)
        write_checkpoint(path, progress, fingerprint)

    monkeypatch.setattr(train, "write_checkpoint", write_and_kill)
    data = problem.dataset(own_client, checkpoint=tmp_path / "state.npz")
    found = distributed.fit(problem.machine(), data, "label")
    assert len(killed) == 1
    assert killed[0] not in own_client.run(os.getpid).values()
    assert found.certificate_.holds
    assert found.n_iter_ == expected.n_iter_
    pairs = problem.in_memory()
    np.testing.assert_allclose(
        found.decision_function(pairs), expected.decision_function(pairs), atol=1e-5
    )


def kill_holders_of_chunks(client):
    """Kill the workers that have read pairs; the number of them."""
    pids = client.run(os.getpid)
    holders = [
        worker
        for worker, keys in client.has_what().items()
        if any("load_chunk" in str(key) for key in keys)
    ]
    for worker in holders:
        os.kill(pids[worker], signal.SIGKILL)
    return len(holders)


def test_a_fit_ends_where_lost_parts_would_be_read_from_other_files(
    own_client, odd_problem, tmp_path, monkeypatch
):
    killed = []

    def replace_and_kill(path, progress, fingerprint):
        if progress.n_iter == 2:
            odd_problem.write_others()
            killed.append(kill_holders_of_chunks(own_client))
        write_checkpoint(path, progress, fingerprint)

    monkeypatch.setattr(train, "write_checkpoint", replace_and_kill)
    data = odd_problem.dataset(own_client, checkpoint=tmp_path / "state.npz")
    with pytest.raises(DataError, match=r"got .*\d\.parquet, which is not the file that it was"):
        distributed.fit(odd_problem.machine(), data, "label")
    assert sum(killed) >= 1


CUT_OFF = """
import os, signal, sys
sys.path.insert(0, {root!r})
from pathlib import Path
from distributed import Client
from pairity.distributed import fit, train
from tests.distributed.conftest import Problem
from tests.distributed.test_resilience import write_checkpoint

def write_and_die(path, progress, fingerprint):
    write_checkpoint(path, progress, fingerprint)
    if progress.n_iter == 2:
        os.kill(os.getpid(), signal.SIGKILL)

train.write_checkpoint = write_and_die
problem = Problem(Path({folder!r}), {symmetry!r})
with Client({address!r}, set_as_default=False) as client:
    fit(problem.machine(), problem.dataset(client, checkpoint={state!r}), "label")
"""


def test_a_fit_that_is_cut_off_goes_on_to_the_same_model(client, odd_problem, tmp_path):
    problem = odd_problem
    expected = distributed.fit(problem.machine(), problem.dataset(client), "label")
    state = tmp_path / "state.npz"
    code = CUT_OFF.format(
        root=os.getcwd(),
        folder=str(problem.folder),
        symmetry=problem.symmetry,
        address=client.scheduler.address,
        state=str(state),
    )
    (tmp_path / "notes").mkdir()
    run = Fresh(code, folder=os.getcwd(), notes=tmp_path / "notes")
    assert run.ended() == -signal.SIGKILL, run.stderr
    with np.load(state) as stored:
        assert int(stored["n_iter"]) == 2
    resumed = distributed.fit(
        problem.machine(), problem.dataset(client, checkpoint=state, resume=True), "label"
    )
    assert resumed.certificate_.holds
    assert resumed.n_iter_ == expected.n_iter_
    pairs = problem.in_memory()
    np.testing.assert_allclose(
        resumed.decision_function(pairs), expected.decision_function(pairs), atol=1e-5
    )


def no_training(*arguments):
    raise AssertionError("training began")


@pytest.fixture
def untrained(monkeypatch):
    monkeypatch.setattr(train, "minimise_and_certify", no_training)


def test_an_unknown_id_is_named_before_training(client, odd_problem, untrained):
    odd_problem.pairs.loc[250, "b"] = "nobody"
    odd_problem.write()
    with pytest.raises(
        DataError, match=r"'nobody' .*row 50, column 'b' of .*1.parquet, row group 0"
    ):
        distributed.fit(odd_problem.machine(), odd_problem.dataset(client), "label")


def test_a_missing_id_is_named(client, odd_problem, untrained):
    odd_problem.pairs.loc[401, "a"] = None
    odd_problem.write()
    with pytest.raises(DataError, match=r"no id in row 1, column 'a' of .*2.parquet, row group 0"):
        distributed.fit(odd_problem.machine(), odd_problem.dataset(client), "label")


def test_a_file_that_is_no_parquet_is_named(client, odd_problem, untrained):
    (odd_problem.folder / "1.parquet").write_bytes(b"PAR1 nonsense PAR1")
    with pytest.raises(DataError, match=r"got .*1\.parquet, which is no whole Parquet file"):
        odd_problem.dataset(client)


def test_a_damaged_row_group_is_named_before_training(client, odd_problem, untrained):
    path = odd_problem.folder / "1.parquet"
    import pyarrow.parquet as pq

    place = pq.read_metadata(path).row_group(1).column(0).data_page_offset
    content = bytearray(path.read_bytes())
    content[place : place + 40] = b"\xff" * 40
    path.write_bytes(bytes(content))
    with pytest.raises(DataError, match=r"1\.parquet, row group 1, which cannot be read"):
        distributed.fit(odd_problem.machine(), odd_problem.dataset(client), "label")


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("g", np.nan, r"NaN or infinity in row 60 of .*2.parquet, row group 1"),
        ("weight", -1.0, r"negative weight in row 60 of .*2.parquet, row group 1"),
        ("label", None, r"no value of 'label' in row 60 of .*2.parquet, row group 1"),
    ],
)
def test_bad_values_are_named(client, odd_problem, untrained, column, value, message):
    odd_problem.pairs.loc[530, column] = value
    odd_problem.write()
    with pytest.raises(DataError, match=message):
        distributed.fit(odd_problem.machine(), odd_problem.dataset(client), "label", "weight")


def test_pairs_of_one_object_are_named(client, odd_problem, untrained):
    odd_problem.pairs.loc[75, "b"] = odd_problem.pairs.loc[75, "a"]
    odd_problem.write()
    with pytest.raises(DataError, match=r"row 5 of .*0.parquet, row group 1 that pairs 'object"):
        distributed.fit(odd_problem.machine(), odd_problem.dataset(client), "label")


# Checkpoints ------------------------------------------------------------------------------------

STATE = Progress(np.arange(5.0), 0.25, 7, 0.125, 31, "float64")


def test_checkpoints_come_back_as_they_were(tmp_path):
    path = tmp_path / "state.npz"
    write_checkpoint(path, STATE, "print")
    back = read_checkpoint(path, "print")
    assert (back.parameters == STATE.parameters).all()
    assert (back.width, back.n_iter, back.gap, back.n_products, back.precision) == (
        0.25,
        7,
        0.125,
        31,
        "float64",
    )
    assert [file.name for file in tmp_path.iterdir()] == ["state.npz"]


def test_a_checkpoint_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "state.npz"
    write_checkpoint(path, STATE, "print")

    def fail(*arguments, **named):
        raise OSError("no space left")

    monkeypatch.setattr(cluster.np, "savez", fail)
    with pytest.raises(OSError, match="no space"):
        write_checkpoint(path, STATE, "other")
    monkeypatch.undo()
    assert read_checkpoint(path, "print").n_iter == 7
    assert [file.name for file in tmp_path.iterdir()] == ["state.npz"]


def test_checkpoints_of_other_problems_are_refused(client, odd_problem, tmp_path):
    state = tmp_path / "state.npz"
    distributed.fit(odd_problem.machine(), odd_problem.dataset(client, checkpoint=state), "label")
    data = odd_problem.dataset(client, checkpoint=state, resume=True)
    other = odd_problem.machine().set_params(C=0.25)
    with pytest.raises(DataError, match="another problem"):
        distributed.fit(other, data, "label")
    shutil.copy(state, tmp_path / "cut.npz")
    (tmp_path / "cut.npz").write_bytes(state.read_bytes()[:100])
    data = odd_problem.dataset(client, checkpoint=tmp_path / "cut.npz", resume=True)
    with pytest.raises(DataError, match="which is no checkpoint"):
        distributed.fit(odd_problem.machine(), data, "label")
    data = odd_problem.dataset(client, checkpoint=tmp_path / "none.npz", resume=True)
    with pytest.raises(DataError, match=r"no checkpoint .* to resume from"):
        distributed.fit(odd_problem.machine(), data, "label")


def test_options_out_of_range(odd_problem):
    with pytest.raises(ValueError, match="every=0"):
        odd_problem.dataset(every=0)
    with pytest.raises(ValueError, match="resume=True without a checkpoint"):
        odd_problem.dataset(resume=True)
