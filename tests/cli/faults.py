"""Faults at any point of a command: an interrupt, a failed allocation, a failed write.

A command runs in this process through its entry point, with a function that counts calls of
Pairity's own functions (or writes) and lets the chosen one fail.
"""

from __future__ import annotations

import errno
import functools
import inspect
import io
import os
import signal
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

import pairity
from pairity.app.cli import run

PACKAGE = os.fspath(Path(pairity.__file__).parent)


@functools.cache  # asked at every call of any function
def in_package(filename):
    return filename.startswith(PACKAGE)


def counts(code):
    """Whether a function may fail; what fails before the entry point is Python's affair.

    So is what fails where a generator is closed, which counts as a call of it.
    """
    return code is not run.__code__ and not code.co_flags & inspect.CO_GENERATOR


class Calls:
    """Counts calls of functions of the package; the chosen one raises instead of running."""

    def __init__(self, fault=None, at=-1):
        self.fault, self.at, self.count = fault, at, 0

    def __call__(self, frame, event, argument):
        code = frame.f_code
        if event == "call" and in_package(code.co_filename) and counts(code):
            self.count += 1
            if self.count == self.at:
                sys.settrace(None)
                self.fault()

    @contextmanager
    def injected(self):
        sys.settrace(self)
        try:
            yield self
        finally:
            sys.settrace(None)


class Writes:
    """Counts operations that need room on a disk; the chosen one finds none."""

    PLACES = (
        *((os, name) for name in ("replace", "link", "open", "fsync", "mkdir", "rename")),
        (pd.DataFrame, "to_csv"),
        (Path, "write_text"),
    )

    def __init__(self, at=-1):
        self.at, self.count = at, 0

    def _counted(self, function):
        def call(*arguments, **options):
            self.count += 1
            if self.count == self.at:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "somewhere")
            return function(*arguments, **options)

        return call

    @contextmanager
    def injected(self):
        before = {place: getattr(*place) for place in self.PLACES}
        for place, function in before.items():
            setattr(*place, self._counted(function))
        try:
            yield self
        finally:
            for place, function in before.items():
                setattr(*place, function)


def interrupt():
    """Ctrl-C, at this moment."""
    signal.raise_signal(signal.SIGINT)


def exhaust():
    """No memory, at this moment."""
    raise MemoryError


def exit_code_of(arguments, faults):
    """Run ``pairity`` with a fault; signals, streams and arguments are as before afterwards."""
    assert threading.current_thread() is threading.main_thread()
    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM")
    handlers = {name: signal.getsignal(getattr(signal, name)) for name in names}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    hook = sys.unraisablehook
    kept = sys.argv, sys.stdout, sys.stderr
    sys.argv = ["pairity", *map(str, arguments)]
    sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
    try:
        with faults.injected():
            run()
    except SystemExit as ended:
        return ended.code or 0, sys.stderr.getvalue()
    finally:
        sys.argv, sys.stdout, sys.stderr = kept
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        sys.unraisablehook = hook
        for name, handler in handlers.items():
            signal.signal(getattr(signal, name), handler)
    raise AssertionError("run always ends with an exit code")
