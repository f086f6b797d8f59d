"""Processes of their own that need not import everything: forks of a server that has.

Python with NumPy, SciPy, scikit-learn, Numba and pandas takes seconds to start, and a fork of it
none.  Where processes cannot be forked they are started from scratch.
"""

import contextlib
import multiprocessing
import os
import sys
import time
from pathlib import Path

METHOD = "forkserver" if sys.platform.startswith("linux") else "spawn"
CONTEXT = multiprocessing.get_context(METHOD)
#: What processes of tests need; missing extras are left out.
PACKAGES = (
    "distributed",
    "pandas",
    "pyarrow.parquet",
    "rich.console",
    "rich.table",
    "pairity.app.cli.commands",
    "pairity.app.cli.fit_command",
    "pairity.app.cli.inspect_command",
    "pairity.distributed.train",
    "pairity.estimators.kernel_machines",
)


def ready():
    """Start the server, unless it runs: Dask would start one that knows nothing of the package."""
    if METHOD == "forkserver":
        from multiprocessing import forkserver  # not everywhere

        CONTEXT.set_forkserver_preload(list(PACKAGES))
        forkserver.ensure_running()


def _run(code, arguments, folder, variables, paths):
    for stream, path in zip((sys.stdout, sys.stderr), paths, strict=True):
        with open(path, "ab", buffering=0) as file:
            os.dup2(file.fileno(), stream.fileno())
    os.chdir(folder)
    os.environ.update(variables)
    sys.argv = ["-c", *map(str, arguments)]
    try:
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()


class Fresh:
    """``python -c code *arguments`` in a folder, which has a folder of notes for what it prints."""

    def __init__(self, code, *arguments, folder, notes, **variables):
        ready()
        self._paths = [Path(notes) / name for name in ("standard output", "standard error")]
        for path in self._paths:
            path.write_bytes(b"")
        given = (code, arguments, os.fspath(folder), variables, self._paths)
        self.process = CONTEXT.Process(target=_run, args=given)
        self.process.start()

    @property
    def stdout(self):
        """What it has printed so far."""
        return self._paths[0].read_text(encoding="utf-8")

    @property
    def stderr(self):
        """What it has said on standard error so far."""
        return self._paths[1].read_text(encoding="utf-8")

    def wait_for(self, text):
        """Wait until it has printed that."""
        while text not in self.stdout:
            assert self.process.is_alive(), self.stderr
            time.sleep(0.01)

    def ended(self):
        """Wait for its end; its exit code, minus the number of the signal that ended it."""
        self.process.join()
        return self.process.exitcode
