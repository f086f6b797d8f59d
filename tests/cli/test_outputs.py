"""Outputs appear whole or not at all, and never over existing ones unless asked."""

from __future__ import annotations

import os

import pytest

from pairity.app.cli.errors import InputError
from pairity.app.cli.outputs import new_files, new_paths

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


# Single files anywhere --------------------------------------------------------------------------


def write_paths(staged, text="new"):
    for path in staged:
        path.write_text(text)


def targets(tmp_path):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    return [tmp_path / "here" / "one", tmp_path / "there" / "two"]


def test_files_arrive_in_their_own_directories(tmp_path):
    paths = targets(tmp_path)
    with new_paths(paths, [], force=False) as staged:
        write_paths(staged)
        assert not any(path.exists() for path in paths)
    assert [path.read_text() for path in paths] == ["new", "new"]
    assert all(list(path.parent.iterdir()) == [path] for path in paths)


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_a_failure_leaves_all_paths_as_they_were(tmp_path, failure):
    paths = targets(tmp_path)
    paths[0].write_text("old")

    def work():
        with new_paths(paths, [], force=True) as staged:
            write_paths(staged)
            raise failure

    with pytest.raises(failure):
        work()
    assert paths[0].read_text() == "old"
    assert list(paths[0].parent.iterdir()) == [paths[0]]
    assert list(paths[1].parent.iterdir()) == []


@pytest.mark.parametrize("old", [True, False], ids=["over old files", "new files"])
def test_a_file_that_cannot_be_moved_leaves_the_others_too(tmp_path, old, monkeypatch):
    paths = targets(tmp_path)
    if old:
        write_paths(paths, "old")
    replace = os.replace

    def fail_on_the_second(source, target):
        if os.fspath(target) == os.fspath(paths[1]) and source.name == "two":
            raise OSError("disk full")
        replace(source, target)

    def work():
        with new_paths(paths, [], force=True) as staged:
            write_paths(staged)
            monkeypatch.setattr(os, "replace", fail_on_the_second)

    with pytest.raises(OSError, match="disk full"):
        work()
    found = [path.read_text() if path.exists() else None for path in paths]
    assert found == (["old", "old"] if old else [None, None])


def test_paths_that_are_refused_before_any_work(tmp_path):
    one, two = targets(tmp_path)
    one.write_text("mine")
    cases = [
        ([one], [], False, "is there already"),
        ([one], [one], True, "as input and as output"),
        ([two, two], [], True, "as two outputs"),
        ([tmp_path / "here"], [], True, "which is no file"),
        ([tmp_path / "nowhere" / "one"], [], True, "there is no directory"),
    ]
    for paths, inputs, force, message in cases:
        with pytest.raises(InputError, match=message):
            new_paths(paths, inputs, force=force).__enter__()
    assert one.read_text() == "mine"


def test_a_path_that_appears_meanwhile_is_not_overwritten(tmp_path):
    paths = targets(tmp_path)

    def work():
        with new_paths(paths, [], force=False) as staged:
            write_paths(staged)
            paths[1].write_text("someone else's")

    with pytest.raises(InputError, match="is there already"):
        work()
    assert paths[1].read_text() == "someone else's"
    assert not paths[0].exists()


def test_an_input_by_another_name_is_still_an_input(tmp_path):
    one, two = targets(tmp_path)
    one.write_text("mine")
    two.symlink_to(one)
    with pytest.raises(InputError, match="as input and as output"):
        new_paths([two], [one], force=True).__enter__()
