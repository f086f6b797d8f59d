"""The command ``pairity``.

``app`` declares commands and options and imports nothing heavy, so that ``pairity --help`` is
quick; each command does its work in a module that is loaded when it runs.  ``outputs`` makes files
appear whole or not at all; ``errors`` turns bad input into one line and exit code 2.
"""

from __future__ import annotations

import sys

__all__ = ["EXTRA", "explain_missing", "run"]

#: Modules that the extra "cli" brings.
EXTRA = frozenset({"click", "rich", "pandas", "matplotlib"})


def explain_missing(module: str) -> str:
    """One line on how to get the command line's own dependencies."""
    return f'pairity: the command line needs {module}; run pip install "pairity[cli]"'


def run() -> None:
    """Entry point."""
    try:
        from pairity.cli.app import main
    except ModuleNotFoundError as missing:
        if missing.name not in EXTRA:
            raise
        print(explain_missing(missing.name), file=sys.stderr)
        raise SystemExit(2) from None
    main(prog_name="pairity")
