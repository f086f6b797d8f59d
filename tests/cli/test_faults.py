"""Whatever fails, and whenever: nothing is lost, nothing is left behind, the exit code tells.

Points are drawn at random from all calls of Pairity's functions in a command, and from all writes.
``PAIRITY_FAULT_POINTS=500`` draws more of them, ``PAIRITY_FAULT_POINTS=all`` takes every one.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from faults import Calls, Writes, exhaust, exit_code_of, interrupt
from tables_made import make_games, make_players

from pairity.app.cli import outputs

#: An interrupt in a place that cannot raise it, such as the end of a generator, comes again.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
POINTS = os.environ.get("PAIRITY_FAULT_POINTS", "few")
FIT = [
    "--first",
    "white",
    "--second",
    "black",
    "--label",
    "result",
    "--symmetry",
    "antisymmetric",
    "--force",
]
COMMANDS = {
    "fit": ["fit", "games.csv", *FIT, "--output", "out.pairity"],
    "predict": ["predict", "model.pairity", "games.csv", "--output", "out.csv", "--force"],
    "rank": ["rank", "model.pairity", "--output", "out.csv", "--force"],
    "report": ["fit", "games.csv", *FIT, "--output", "out.pairity", "--report", "out.html"],
}
OLD = b"what was there"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Tables and a model, with everything imported and compiled."""
    folder = tmp_path_factory.mktemp("faults")
    make_games(make_players(n=6), n=15).to_csv(folder / "games.csv", index=False)
    before = os.getcwd()
    os.chdir(folder)
    fit = [*COMMANDS["fit"][:-1], "model.pairity"]
    assert exit_code_of(fit, Calls())[0] == 0
    yield folder
    os.chdir(before)


def outputs_of(command):
    return [name for name in COMMANDS[command] if name.startswith("out.")]


def prepare(place, command):
    """Old outputs, and all that there is."""
    for name in outputs_of(command):
        (place / name).write_bytes(OLD)
    return contents(place)


def contents(place):
    return {path.name: path.read_bytes() for path in place.rglob("*") if path.is_file()}


def clean(place, command):
    for name in outputs_of(command):
        (place / name).unlink(missing_ok=True)


def points_of(count, seed, n_points):
    if POINTS == "all":
        return range(1, count + 1)
    rng = np.random.default_rng(seed)
    return sorted(rng.choice(count, min(n_points, count), replace=False) + 1)


def test_what_is_left_behind_is_seen(place, monkeypatch):
    """The check fails where folders are not removed."""
    monkeypatch.setattr("pairity.app.cli.outputs.shutil.rmtree", lambda *given, **options: None)
    with pytest.raises(AssertionError, match=r"Calls \d+ of"):
        test_faults(place, "predict")
    monkeypatch.undo()
    for folder in outputs.leftovers():
        outputs.remove_folder(folder)
    clean(place, "predict")


@pytest.mark.parametrize("command", COMMANDS)
def test_faults(place, command):
    arguments = COMMANDS[command]
    calls, writes = Calls(), Writes()
    for counted in (calls, writes):
        prepare(place, command)
        assert exit_code_of(arguments, counted)[0] == 0
        done = contents(place)
    few = 4 if command == "report" else 12
    for number, (make, code, counted) in enumerate(
        [
            (lambda at: Calls(interrupt, at), 130, calls),
            (lambda at: Calls(exhaust, at), 2, calls),
            (Writes, 2, writes),
        ]
    ):
        for at in points_of(counted.count, number, int(POINTS) if POINTS.isdigit() else few):
            before = prepare(place, command)
            fault = make(int(at))
            found, said = exit_code_of(arguments, fault)
            after = contents(place)
            where = f"{type(fault).__name__} {at} of {counted.count}, exit code {found}: {said}"
            assert "Traceback" not in said, where
            assert not list(place.glob(".*")), where
            assert found in (0, code), where
            new = after.keys() == done.keys() and all(
                after[name] == done[name] or (name in outputs_of(command) and after[name] != OLD)
                for name in done
            )
            assert new if found == 0 else after == before or (new and code == 2), where
    clean(place, command)
