"""Bad input is one line on standard error, exit code 2, no traceback; streams end no command.

A letter that the terminal cannot show is written as its number.  A reader that has gone
(``pairity inspect MODEL | head -1``) wants no more: the rest is dropped, files are still written,
and the exit code is that of the command.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from pairity.app.cli import explain_missing
from pairity.app.cli.interrupts import Ended, ignore_signals, interrupt_behind


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


# Bad input --------------------------------------------------------------------------------------


_OUT_OF_MEMORY = "out of memory; expected fewer pairs or objects, or a machine with more of it."


class InputError(click.ClickException):
    """Something the user gave cannot be used: got, expected, what to do."""

    exit_code = 2


@contextmanager
def bad_input() -> Iterator[None]:
    """Take refusals of the library, which are sentences, for what they are: bad input.

    For the parts of a command in which the library looks at what the user gave.
    """
    try:
        yield
    except (ValueError, MemoryError) as error:
        raise InputError(str(error) or _OUT_OF_MEMORY) from None
    except ImportError as error:
        if error.name is not None or interrupt_behind(error) is not None:
            raise  # of Python: something is broken, which a traceback shows
        raise InputError(str(error)) from None  # of ours: an extra that is not installed


def _show_warning(message: Warning | str, *details: Any, **more: Any) -> None:
    print("pairity: warning:", " ".join(str(message).split()), file=sys.stderr)


class OneLineGroup(click.Group):
    """A command group that reports every error of the user in one line."""

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, and leave with 0, 2 (bad input, files that cannot be written) or 130 (143, 129)."""
        if not standalone_mode:
            return super().main(args, prog_name, standalone_mode=False, **extra)
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                for kind in (DeprecationWarning, FutureWarning):  # not for users of the command
                    warnings.simplefilter("ignore", kind)
                code = super().main(args, prog_name, standalone_mode=False, **extra)
            if sys.stdout is not None:
                sys.stdout.flush()  # what cannot be written is known only now
        except click.ClickException as error:
            context = getattr(error, "ctx", None)
            more = "" if context is None else f" See '{context.command_path} --help'."
            _leave(error.format_message() + more)
        except click.Abort as error:
            cause = error.__cause__
            if not isinstance(cause, KeyboardInterrupt):
                raise cause or error from None
            ignore_signals()
            ended = cause if isinstance(cause, Ended) else Ended()
            _leave("interrupted; nothing was written", ended.exit_code)
        except ModuleNotFoundError as error:
            explanation = explain_missing(error)
            if explanation is None:
                raise
            print(explanation, file=sys.stderr)
            sys.exit(2)
        except MemoryError as error:
            _leave(str(error) or _OUT_OF_MEMORY)
        except OSError as error:
            _leave(f"{error.strerror or error}: {error.filename or 'while writing'}")
        sys.exit(code if isinstance(code, int) else 0)


def _leave(message: str, code: int = 2) -> NoReturn:
    print("pairity:", " ".join(message.split()), file=sys.stderr)
    sys.exit(code)
