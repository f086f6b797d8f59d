"""The command ``pairity``.

``commands`` and ``options`` import nothing heavy, so that ``pairity --help`` is quick; each command
does its work in a module that is loaded when it runs.  ``outputs`` makes files appear whole or not
at all; ``errors`` turns bad input into one line and exit code 2, ``interrupts`` Ctrl-C into 130.
"""

from __future__ import annotations

import sys

from pairity.app.cli.interrupts import ignore_signals, interrupt_behind, listen

__all__ = ["explain_missing", "run"]

#: Packages that the extra "cli" brings.
_EXTRA = frozenset({"click", "rich", "pandas", "pyarrow", "matplotlib"})


def explain_missing(error: ModuleNotFoundError) -> str | None:
    """One line on how to get a package of the extra "cli"; None for any other module."""
    package = (error.name or "").partition(".")[0]
    if package not in _EXTRA:
        return None
    return f'pairity: the command line needs {package}; run pip install "pairity[cli]"'


def run() -> None:
    """Entry point of the process: nothing is left behind, whatever happens."""
    try:
        try:
            listen()
            _run_command()
        finally:
            ignore_signals()
            scratch = sys.modules.get("pairity.app.cli.outputs")
            if scratch is not None:
                for folder in scratch.leftovers():
                    scratch.remove_folder(folder)
    except (KeyboardInterrupt, ImportError) as error:
        interrupt = interrupt_behind(error)
        if interrupt is None:
            raise
        print("pairity: interrupted; nothing was written", file=sys.stderr)
        raise SystemExit(getattr(interrupt, "exit_code", 130)) from None
    except MemoryError:
        print("pairity: out of memory; use fewer pairs or objects", file=sys.stderr)
        raise SystemExit(2) from None


def _run_command() -> None:
    try:
        from pairity.app.cli.commands import main
        from pairity.app.cli.errors import make_patient
    except ModuleNotFoundError as error:
        explanation = explain_missing(error)
        if explanation is None:
            raise
        print(explanation, file=sys.stderr)
        raise SystemExit(2) from None
    make_patient()
    main(prog_name="pairity")
