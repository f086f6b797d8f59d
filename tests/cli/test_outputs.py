"""Outputs appear whole or not at all, and never over existing ones unless asked."""

from __future__ import annotations

import os

import pytest

from pairity.cli.errors import InputError
from pairity.cli.outputs import new_files

NAMES = ("one.csv", "two.csv")


def write(directory, text="new"):
    for name in NAMES:
        (directory / name).write_text(text)


def contents(directory):
    return {path.name: path.read_text() for path in directory.iterdir()}


def test_files_arrive_in_a_directory_that_is_made(tmp_path):
    target = tmp_path / "deep" / "out"
    with new_files(target, NAMES, force=False) as staged:
        write(staged)
        assert not (tmp_path / "deep").exists()
    assert contents(target) == {"one.csv": "new", "two.csv": "new"}
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]


def test_a_made_directory_has_ordinary_permissions(tmp_path):
    with new_files(tmp_path / "out", NAMES, force=False) as staged:
        write(staged)
    plain = tmp_path / "plain"
    plain.mkdir()
    assert (tmp_path / "out").stat().st_mode == plain.stat().st_mode


def test_other_files_in_the_directory_stay(tmp_path):
    (tmp_path / "mine.txt").write_text("keep")
    with new_files(tmp_path, NAMES, force=False) as staged:
        write(staged)
    assert contents(tmp_path) == {"mine.txt": "keep", "one.csv": "new", "two.csv": "new"}


def test_an_existing_file_is_refused_before_any_work(tmp_path):
    (tmp_path / "two.csv").write_text("old")
    with pytest.raises(InputError, match=r"already has two\.csv.*--force"):
        new_files(tmp_path, NAMES, force=False).__enter__()
    assert contents(tmp_path) == {"two.csv": "old"}


def test_force_replaces_only_files_of_these_names(tmp_path):
    write(tmp_path, "old")
    (tmp_path / "mine.txt").write_text("keep")
    with new_files(tmp_path, NAMES, force=True) as staged:
        write(staged)
    assert contents(tmp_path) == {"mine.txt": "keep", "one.csv": "new", "two.csv": "new"}


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_a_failure_half_way_leaves_everything_as_it_was(tmp_path, failure):
    write(tmp_path, "old")

    def work():
        with new_files(tmp_path, NAMES, force=True) as staged:
            (staged / "one.csv").write_text("half")
            raise failure

    with pytest.raises(failure):
        work()
    assert contents(tmp_path) == {"one.csv": "old", "two.csv": "old"}


def test_a_failure_without_a_directory_leaves_none(tmp_path):
    def work():
        with new_files(tmp_path / "out", NAMES, force=False):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        work()
    assert list(tmp_path.iterdir()) == []


def test_a_failing_move_puts_the_old_files_back(tmp_path, monkeypatch):
    write(tmp_path, "old")
    replace = os.replace

    def fail_on_the_second(source, target):
        if os.fspath(source).endswith("new/two.csv"):
            raise OSError("disk full")
        replace(source, target)

    def work():
        with new_files(tmp_path, NAMES, force=True) as staged:
            write(staged)
            monkeypatch.setattr(os, "replace", fail_on_the_second)

    with pytest.raises(OSError, match="disk full"):
        work()
    assert contents(tmp_path) == {"one.csv": "old", "two.csv": "old"}


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path):
    def work():
        with new_files(tmp_path, NAMES, force=False) as staged:
            write(staged)
            (tmp_path / "one.csv").write_text("someone else's")

    with pytest.raises(InputError, match="already has one"):
        work()
    assert contents(tmp_path) == {"one.csv": "someone else's"}


def test_a_file_in_the_place_of_the_directory_is_refused(tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(InputError, match="which is a file"):
        new_files(tmp_path / "out", NAMES, force=True).__enter__()
    with pytest.raises((InputError, OSError)):
        new_files(tmp_path / "out" / "deeper", NAMES, force=True).__enter__()
    assert (tmp_path / "out").read_text() == "mine"


def test_a_directory_in_the_place_of_a_file_is_refused_even_with_force(tmp_path):
    (tmp_path / "one.csv").mkdir()
    with pytest.raises(InputError, match="directories where files should go"):
        new_files(tmp_path, NAMES, force=True).__enter__()
