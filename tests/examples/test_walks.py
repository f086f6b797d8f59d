"""The five walks of the tutorials: short, and they do what the pages say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pandas", reason="pandas comes with the command line extra")

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


@pytest.mark.parametrize("name", FOLDERS)
def test_walk(name, tmp_path):
    folder = DATA / FOLDERS[name] if FOLDERS[name] else tmp_path
    if not folder.exists():
        pytest.skip("the data folder is not beside the repository")
    commands = tmp_path / "commands"
    commands.mkdir()
    for command, target in {"pairity": "-m pairity", "python": ""}.items():
        script = commands / command
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {target} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    interpreter = "sh" if name.endswith(".sh") else sys.executable
    done = subprocess.run(
        [interpreter, str(WALKS / name), str(folder)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PATH": f"{commands}{os.pathsep}{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stderr
    pattern, page = SHOWN[name]
    assert re.search(pattern, done.stdout), done.stdout
    assert re.search(pattern, (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))
