"""Progress on terminals only, and never in the way of results."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from pairity.app.cli.console import make_console, show_progress, show_stages


def test_nothing_is_shown_without_a_terminal(capsys):
    console = make_console()
    assert console.width == 130
    with show_progress(console, "working", 2) as tick:
        tick()
        tick()
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_results_start_on_a_line_of_their_own():
    console = Console(file=StringIO(), force_terminal=True, width=80, color_system=None)
    with show_progress(console, "working", 2) as tick:
        tick()
        console.print("a result")
        tick()
    text = console.file.getvalue()
    assert "working" in text
    line = next(line for line in text.splitlines() if "a result" in line)
    assert line.split("a result")[0].endswith("\x1b[2K")  # the bar is erased first


def test_stages_are_named_on_a_terminal_and_nowhere_else(capsys):
    console = Console(file=StringIO(), force_terminal=True, width=80, color_system=None)
    with show_stages(console, "reading", 2) as enter:
        enter("training")
    assert "training" in console.file.getvalue()
    with show_stages(make_console(), "reading", 2) as enter:
        enter("training")
    assert capsys.readouterr() == ("", "")
