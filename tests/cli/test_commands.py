"""The command line: exit codes, one line for bad input, no overwriting."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import pairity
from pairity import PairSVCCV
from pairity.app.cli import explain_missing, showcase
from pairity.app.cli.commands import main

TABLE_1 = {"table1.csv", "table1_summary.csv", "table1.png"}


def invoke(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def assert_refused(result, pattern):
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("pairity: ")
    assert re.search(pattern, result.stderr)
    assert "Traceback" not in result.output


def test_version():
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.stdout == f"pairity {pairity.__version__}\n"


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_lists_the_commands(arguments):
    result = invoke(*arguments)
    assert result.exit_code == 0
    for command in ("check", "demo", "fit", "inspect", "predict", "rank", "reproduce"):
        assert command in result.stdout


def test_help_of_the_demonstration_names_all_files():
    assert "writes predictions, models and reports" in " ".join(invoke("demo", "-h").stdout.split())


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        (("fly",), "No such command 'fly'"),
        (("reproduce", "table4"), "'table4' is not one of"),
        (("reproduce", "table1", "--seed", "-1"), "-1 is not in the range"),
        (("reproduce", "--seed", "x"), "not a valid integer"),
        (("demo", "--nonsense"), "No such option"),
        (("demo", "surplus"), "unexpected extra argument"),
    ],
)
def test_bad_arguments_give_one_line_and_exit_code_2(arguments, pattern):
    assert_refused(invoke(*arguments), pattern)


def test_reproduce_writes_prints_and_does_not_overwrite(tmp_path):
    output = tmp_path / "out"
    result = invoke("reproduce", "table1", "--output", output)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "Table 1(a)" in result.stdout
    assert {path.name for path in output.iterdir()} == TABLE_1
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    before = (output / "table1.csv").read_bytes()

    assert_refused(invoke("reproduce", "table1", "--output", output, "--seed", 1), "--force")
    assert (output / "table1.csv").read_bytes() == before

    forced = invoke("reproduce", "table1", "--output", output, "--seed", 1, "--force")
    assert forced.exit_code == 0
    assert (output / "table1.csv").read_bytes() != before
    assert {path.name for path in output.iterdir()} == TABLE_1


def test_an_output_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "out").write_text("mine")
    assert_refused(invoke("reproduce", "table1", "--output", tmp_path / "out"), "is a file")
    assert_refused(invoke("demo", "--output", tmp_path / "out" / "sub"), "out")


def test_an_error_half_way_leaves_no_files(tmp_path, monkeypatch):
    def fail(name, directory, *rest):
        (directory / f"{name}.csv").write_text("half")
        raise OSError(28, "No space left on device", "table1.csv")

    monkeypatch.setattr(showcase, "make_table", fail)
    result = invoke("reproduce", "table1", "--output", tmp_path / "out")
    assert_refused(result, "No space left on device: table1.csv")
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_leaves_no_files_and_says_so(tmp_path, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(showcase, "make_table", interrupt)
    result = invoke("reproduce", "table1", "--output", tmp_path / "out")
    assert result.exit_code == 130
    assert "interrupted" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_bug_is_not_dressed_up_as_bad_input(tmp_path, monkeypatch):
    def bug(*arguments):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(showcase, "make_table", bug)
    result = invoke("reproduce", "table1", "--output", tmp_path / "out")
    assert isinstance(result.exception, ZeroDivisionError)


ENDS = ("_predictions.csv", ".pairity", "_report.html")


def small(make_task):
    """A task of the demonstration on some of its pairs, with one kernel and one C."""

    def made():
        task = make_task()
        some = slice(0, 240)
        options = {"cv": 3} if task.symmetry == "symmetric" else {"cv": task.estimator.cv}
        report = task.report
        if "groups" in report:
            report = report | {"groups": report["groups"][some]}
        return replace(
            task,
            estimator=PairSVCCV(task.symmetry, kernel="linear", Cs=[1.0], **options),
            train=task.train[some],
            train_labels=task.train_labels[some],
            report=report,
        )

    return made


def test_demo_covers_both_symmetries(tmp_path, monkeypatch):
    for name, make_task in showcase._TASKS.items():
        monkeypatch.setitem(showcase._TASKS, name, small(make_task))
    result = invoke("demo", "--output", tmp_path / "out")
    assert result.exit_code == 0, result.output
    for text in ("f(b,a) == -f(a,b) holds", "f(b,a) == f(a,b) holds", "relative gap"):
        assert text in result.stdout
    names = {path.name for path in (tmp_path / "out").iterdir()}
    stems = ("train_choice", "same_digit")
    assert names == {f"{stem}{end}" for stem in stems for end in ENDS}
    assert f"{tmp_path / 'out' / 'same_digit_report.html'}" in result.stdout.replace("\n", "")
    inspected = invoke("inspect", tmp_path / "out" / "train_choice.pairity")
    assert "which of two train offers does a traveller take?" in inspected.stdout
    assert_refused(invoke("demo", "--output", tmp_path / "out"), "--force")


def run_entry_point(*arguments, **options):
    command = Path(sys.executable).with_name("pairity")
    return subprocess.run(
        [command, *arguments], capture_output=True, text=True, timeout=120, check=False, **options
    )


def test_the_installed_command_works_and_the_same_seed_gives_the_same_files(tmp_path):
    done = run_entry_point("reproduce", "table1", "--output", "here", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Table 1(e)" in done.stdout
    assert (tmp_path / "here" / "table1.png").exists()
    refused = invoke("reproduce", "table1", "--output", tmp_path / "here")
    assert_refused(refused, "--force")
    assert invoke("reproduce", "table1", "--output", tmp_path / "again").exit_code == 0
    for name in ("table1.csv", "table1_summary.csv"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_a_missing_module_of_another_kind_is_not_explained_away():
    assert explain_missing(ModuleNotFoundError("no numpy", name="numpy")) is None
    assert "matplotlib" in explain_missing(ModuleNotFoundError("no", name="matplotlib.figure"))


def test_python_dash_m_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "pairity", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"pairity {pairity.__version__}\n"


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from pairity.app.cli.commands import main; main(['--help'], standalone_mode=False);"
        "[main([name, '--help'], standalone_mode=False) for name in main.commands];"
        "heavy = ('numpy', 'scipy', 'sklearn', 'numba', 'rich', 'pandas', 'pyarrow');"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_without_its_extra_the_command_says_what_to_install(missing, tmp_path):
    code = (
        f"import sys; sys.modules[{missing!r}] = None; sys.argv = ['pairity', 'demo'];"
        "from pairity.app.cli import run; run()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 2
    expected = f'pairity: the command line needs {missing}; run pip install "pairity[cli]"'
    assert done.stderr == expected + "\n"
    assert list(tmp_path.iterdir()) == []
