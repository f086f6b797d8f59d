"""The command ``pairity``.

``app`` declares commands and options and imports nothing heavy, so that ``pairity --help`` is
quick; each command does its work in a module that is loaded when it runs.  ``outputs`` makes files
appear whole or not at all; ``errors`` turns bad input into one line and exit code 2.
"""

from __future__ import annotations

import sys

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
    """Entry point."""
    try:
        from pairity.cli.app import main
    except ModuleNotFoundError as error:
        explanation = explain_missing(error)
        if explanation is None:
            raise
        print(explanation, file=sys.stderr)
        raise SystemExit(2) from None
    main(prog_name="pairity")
