"""The five walks of the tutorials: short, and they do what the pages say."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("pandas", reason="pandas comes with the command line extra")

from pairity.app.cli.commands import main

ROOT = Path(__file__).resolve().parents[2]
WALKS = ROOT / "examples" / "walks"
DATA = ROOT.parent / "shared" / "data"
FOLDERS = {
    "forecast.py": "antisymmetric_intl_football",
    "leaderboard.sh": "antisymmetric_llmfao",
    "records.sh": "symmetric_restaurants",
    "links.py": "symmetric_us_airports",
    "pipeline.py": None,
}
#: What a walk prints, and the page that shows it.
SHOWN = {
    "forecast.py": (r"log-loss 0\.91\d on 2656 games", "tutorial-forecast"),
    "leaderboard.sh": (r"tied with the leader +99, 10, 17, 75", "tutorial-leaderboard"),
    "records.sh": (r"agree with it +0\.931507", "tutorial-records"),
    "links.py": (r"two new airports: 0\.75\d", "tutorial-links"),
    "pipeline.py": (r"'pairsvc__C': 1\.0\} accuracy 0\.706", "tutorial-pipeline"),
}


def test_every_walk_is_here():
    assert {path.name for path in WALKS.iterdir() if path.is_file()} == set(FOLDERS)


@pytest.mark.parametrize("name", [name for name in FOLDERS if name.endswith(".py")])
def test_walks_are_short(name):
    """Under 15 lines besides the docstring, imports and blank lines."""
    text = (WALKS / name).read_text(encoding="utf-8").split('"""', 2)[2]
    lines = [line for line in text.splitlines() if line.strip()]
    assert len([line for line in lines if not re.match(r"import |from ", line)]) < 15


def commands_of(script, folder, place):
    """The commands that the shell finds in a script, as lists of words."""
    noted = place / "noted"
    for command in ("pairity", "python"):
        stub = place / command
        stub.write_text(f"#!/bin/sh\nprintf '%s\\n' {command} \"$@\" '' >> '{noted}'\n")
        stub.chmod(0o755)
    path = f"{place}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["sh", script, folder], check=True, env=os.environ | {"PATH": path})
    return [block.split("\n") for block in noted.read_text().rstrip("\n").split("\n\n")]


def run_python(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", list(words))
    runpy.run_path(words[0], run_name="__main__")


def run_pairity(*words):
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    print(result.stdout)


@pytest.mark.parametrize("name", FOLDERS)
def test_walk(name, tmp_path, monkeypatch, capsys):
    """In this process: one of its own for each command would import everything anew."""
    folder = DATA / FOLDERS[name] if FOLDERS[name] else tmp_path
    if not folder.exists():
        pytest.skip("the data folder is not beside the repository")
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    if name.endswith(".sh"):
        for command, *words in commands_of(WALKS / name, folder, tmp_path):
            if command == "pairity":
                run_pairity(*words)
            else:
                run_python(monkeypatch, *words)
    else:
        run_python(monkeypatch, str(WALKS / name), str(folder))
    pattern, page = SHOWN[name]
    shown = capsys.readouterr().out
    assert re.search(pattern, shown), shown
    assert re.search(pattern, (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))
