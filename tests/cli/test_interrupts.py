"""Signals in processes of their own, readers that go away, folders of processes that were killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading

import pytest
from faults import Calls, exit_code_of
from tables_made import make_games, make_players

from fresh import Fresh
from pairity.app import cli
from pairity.app.cli import interrupts, outputs
from pairity.app.cli.outputs import new_folder, new_paths

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
#: Tells when the fit begins, and goes on until something ends it.
ENDLESS = """
import signal, sys, time
import pairity.estimators.kernel_machines as svc
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever those who run tests were told
def fit(*arguments):
    print("fitting", flush=True)
    while True:
        time.sleep(0.01)
svc.PairSVC.fit = fit
from pairity.app.cli import run
run()
"""


@pytest.fixture
def place(tmp_path):
    place = tmp_path / "here"
    place.mkdir()
    make_games(make_players(n=6), n=15).to_csv(place / "games.csv", index=False)
    (place / "out.pairity").write_bytes(b"old")
    return place


def start(place, script=ENDLESS):
    """A fit in a process of its own, begun."""
    words = "fit", "games.csv", *FIT, "--output", "out.pairity"
    begun = Fresh(script, *words, folder=place, notes=place.parent)
    begun.wait_for("fitting\n")
    return begun


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "term"]
)
def test_a_signal_leaves_what_was_there(place, number, code):
    begun = start(place)
    assert list(place.glob(".pairity-*"))
    os.kill(begun.process.pid, number)
    assert begun.ended() == code
    assert begun.stderr.split("\n")[-2:] == ["pairity: interrupted; nothing was written", ""]
    assert "Traceback" not in begun.stderr
    assert sorted(path.name for path in place.iterdir()) == ["games.csv", "out.pairity"]
    assert (place / "out.pairity").read_bytes() == b"old"


def test_the_next_command_removes_what_a_killed_one_left(place):
    begun = start(place)
    begun.process.kill()
    assert begun.ended() == -signal.SIGKILL
    (left,) = place.glob(".pairity-*")
    (left / "old" / "lost.csv").write_text("moved aside, and its place is empty")
    (left / "old" / "games.csv").write_text("replaced already")
    others = {".pairity-mine", left.name.rsplit("-", 1)[0], left.name.replace("-", "-f", 1)[:-1]}
    alive = left.name.replace(f"-{begun.process.pid}-", f"-{os.getpid()}-")
    for name in (*others, alive):
        (place / name).mkdir()
    games = (place / "games.csv").read_text()
    with new_paths([place / "x"], [], force=False) as (staged,):
        staged.write_text("new")
    assert not left.exists()
    assert {path.name for path in place.glob(".pairity-*")} == {*others, alive}
    assert (place / "lost.csv").read_text() == "moved aside, and its place is empty"
    assert (place / "games.csv").read_text() == games


def test_a_folder_that_cannot_be_moved_leaves_the_old_one(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "1.csv").write_text("old")
    with pytest.raises(OSError), new_folder(tmp_path / "out", [], "*.csv", force=True):  # noqa: PT011
        pass  # nothing was written, so that there is nothing to move
    assert (tmp_path / "out" / "1.csv").read_text() == "old"
    assert not list(tmp_path.glob(".*"))


def test_a_swallowed_interrupt_counts_when_outputs_are_put_in_place(place, monkeypatch):
    """Some library catches everything: what the command makes is not put in place."""
    import pairity.estimators.kernel_machines as svc

    fit = svc.PairSVC.fit

    def swallow(*arguments):
        try:
            signal.raise_signal(signal.SIGINT)
        except BaseException:
            return fit(*arguments)

    monkeypatch.setattr(svc.PairSVC, "fit", swallow)
    monkeypatch.chdir(place)
    code, said = exit_code_of(["fit", "games.csv", *FIT, "--output", "out.pairity"], Calls())
    assert (code, said.strip()) == (130, "pairity: interrupted; nothing was written")
    assert (place / "out.pairity").read_bytes() == b"old"


def test_a_swallowed_interrupt_comes_again(place):
    """Without the alarm this would go on for ever."""
    swallowing = ENDLESS.replace(
        "    while True:",
        "    try:\n        time.sleep(99)\n    except BaseException:\n        pass\n    while True:",
    )
    begun = start(place, swallowing)
    os.kill(begun.process.pid, signal.SIGINT)
    assert begun.ended() == 130
    assert begun.stderr.strip() == "pairity: interrupted; nothing was written"


def test_an_interrupt_of_the_removal_is_made_up_for(place, monkeypatch):
    remove, calls = outputs.shutil.rmtree, []

    def interrupted(folder, **options):
        calls.append(folder)
        if len(calls) == 1:
            raise KeyboardInterrupt
        remove(folder, **options)

    monkeypatch.setattr(outputs.shutil, "rmtree", interrupted)
    monkeypatch.chdir(place)
    code, _ = exit_code_of(["fit", "missing.csv", *FIT, "--output", "out.pairity"], Calls())
    assert code == 130
    assert len(calls) == 2
    assert not list(place.glob(".*"))


def forget_signals():
    sys.unraisablehook = sys.__unraisablehook__
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)


def test_too_late(monkeypatch):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        interrupts.listen()
        with pytest.raises(interrupts.Ended):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(interrupts.Ended), interrupts.uninterrupted():
            raise AssertionError("not begun after a signal")
        interrupts.listen()
        with interrupts.uninterrupted():
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # stays so when Python ends
    finally:
        forget_signals()
        signal.signal(signal.SIGINT, before)


def test_signals_that_are_ignored_stay_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        interrupts.listen()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
        forget_signals()


# Standard output --------------------------------------------------------------------------------

PRINT = """
import sys
from pairity.app.cli.errors import make_patient
make_patient()
print("Zoë " * 100_000)
sys.stdout.flush()
print("done", file=sys.stderr)
sys.exit(7)
"""


def test_a_reader_that_has_gone_changes_nothing():
    reading, writing = os.pipe()
    os.close(reading)
    found = subprocess.run(
        [sys.executable, "-c", PRINT], stdout=writing, stderr=subprocess.PIPE, text=True
    )
    os.close(writing)
    assert (found.returncode, found.stderr) == (7, "done\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_full_disk_is_told_once():
    script = PRINT.replace("sys.stdout.flush()", "")
    script = "import os, errno\n" + script.replace('print("Z', 'try:\n  print("Z').replace(
        "100_000)", "100_000)\nexcept OSError as error:\n  assert error.errno == errno.ENOSPC"
    )
    with open("/dev/full", "w") as full:
        found = subprocess.run(
            [sys.executable, "-c", script], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (found.returncode, found.stderr) == (7, "done\n")


def test_letters_that_the_terminal_does_not_have(tmp_path):
    script = (
        "import sys; sys.stdout.reconfigure(encoding='ascii');"
        "from pairity.app.cli.errors import make_patient;"
        "from pairity.app.cli import console, inspect_command as summary;"
        "make_patient(); content = {'best': ['Zoë']};"
        "summary.print_summary(console.make_console(), 'Zoë', content);"
        "summary.print_json(content)"
    )
    found = Fresh(script, folder=tmp_path, notes=tmp_path)
    assert found.ended() == 0, found.stderr
    text = "Zo\\xeb\nbest  Zo\\xeb\n"
    assert found.stdout.startswith(text)
    assert json.loads(found.stdout[len(text) :]) == {"best": ["Zoë"]}


def test_not_the_main_thread():
    """A program may run a command in a thread, where signals cannot be taken."""
    thread = threading.Thread(target=interrupts.listen)
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGTERM) is not interrupts._end


def _run_instead(monkeypatch, command):
    """Replace the command, and leave the signals of this process alone."""
    monkeypatch.setattr(cli, "_run_command", command)
    for name in ("listen", "ignore_signals"):
        monkeypatch.setattr(cli, name, lambda: None)


def test_an_interrupt_that_meets_the_import_of_a_compiled_module(monkeypatch, capsys):
    """Such a module fails to import, with the interrupt as its reason."""

    def interrupted():
        raise ImportError("initialization failed") from interrupts.Ended(signal.SIGINT)

    _run_instead(monkeypatch, interrupted)
    with pytest.raises(SystemExit) as ended:
        cli.run()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "pairity: interrupted; nothing was written\n"


def test_other_failures_to_import_are_no_interrupts(monkeypatch):
    def broken():
        raise ImportError("no such thing")

    _run_instead(monkeypatch, broken)
    with pytest.raises(ImportError, match="no such thing"):
        cli.run()
