"""Standard output and error that end no command.

A letter that the terminal cannot show is written as its number.  A reader that has gone
(``pairity inspect MODEL | head -1``) wants no more: the rest is dropped, files are still written,
and the exit code is that of the command.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Any

__all__ = ["make_patient"]


class _Patient(io.FileIO):
    """A file whose reader may go away; any other failure is told once."""

    _is_lost = False

    def write(self, content: Any) -> int:
        """Write, or drop what nobody can read."""
        size = memoryview(content).nbytes
        if self._is_lost:
            return size
        try:
            return super().write(content)
        except BrokenPipeError:
            self._is_lost = True
            return size
        except OSError:  # a full disk: what is buffered must not fail again at the end
            self._is_lost = True
            raise


def make_patient() -> None:
    """Replace ``sys.stdout`` and ``sys.stderr``, where they are streams of the system."""
    sys.stdout, sys.stderr = _patient(sys.stdout), _patient(sys.stderr)


def _patient(stream: Any) -> Any:
    try:
        descriptor = stream.fileno()
    except (AttributeError, OSError):  # closed, or not a file: that of a notebook or a test
        return stream
    if os.name != "posix":  # a console of Windows is no file
        stream.reconfigure(errors="backslashreplace")
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Patient(descriptor, "w", closefd=False)),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
    )
