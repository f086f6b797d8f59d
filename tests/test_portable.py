"""The levels of ``make test-portable``: what is switched off is there, and a failure is seen."""

import portable


def test_features_are_switched_off_from_the_newest():
    assert portable.numpy_levels(["X86_V3", "X86_V4"]) == [["X86_V4"], ["X86_V4", "X86_V3"]]
    assert portable.numpy_levels([]) == []


def test_levels_of_a_processor():
    names = [level.name for level in portable.levels(["X86_V3"], "x86_64", "cache")]
    assert names[:3] == ["threads-1", "threads-2", "numpy-without-X86_V3"]
    assert names[-1] == "oldest"
    assert "openblas-Sandybridge" in names
    others = portable.levels([], "aarch64", "cache")
    assert [level.name for level in others] == ["threads-1", "threads-2", "numba-generic", "oldest"]
    assert not any("NPY_DISABLE_CPU_FEATURES" in level.environment for level in others)


def test_the_law_tests_are_there():
    assert all((portable.TESTS / name).is_file() for name in portable.LAWS)


def test_a_law_that_fails_is_seen(monkeypatch, tmp_path, capsys):
    broken = tmp_path / "test_broken.py"
    broken.write_text("def test_law():\n    assert 1 == 2\n", encoding="utf-8")
    monkeypatch.setattr(portable, "LAWS", (str(broken),))
    monkeypatch.setattr(
        portable, "probe", lambda environment: {"numpy": [], "openblas": [], "numba": "host"}
    )
    assert portable.main(["threads-1"]) == 1
    assert "FAILED" in capsys.readouterr().out
    assert portable.main(["no-such-level"]) == 2
