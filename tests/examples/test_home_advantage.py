"""The example of home advantage runs, and finds what it planted."""

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "home_advantage.py"


def test_home_advantage_is_found(capsys):
    script = runpy.run_path(str(EXAMPLE))
    found = script["main"]()
    assert found["home"] == pytest.approx(script["HOME"], abs=0.15)
    assert found["threshold"] == pytest.approx(script["THRESHOLD"], abs=0.15)
    assert found["model"] < found["base rates"] - 0.03
    shown = capsys.readouterr().out
    assert "home advantage: " in shown
    assert shown.count("\n") == 8
