"""Signals that end a command, and the moment from which they come too late.

Ctrl-C, a request to end and a closed terminal are one exception, raised wherever the main thread
is.  Some library may swallow it; so it is remembered, and raised again by an alarm when it has
gone without having ended the command.  Outputs are not put in place after one.  Once they are
being put in place, the command is about to end well and an interrupt is too late: exit code 130
means that everything is as it was.
"""

from __future__ import annotations

import signal
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # not all systems have all of them
_NUMBERS = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]

_ALARM = getattr(signal, "SIGALRM", None)
#: Seconds after which an interrupt that was swallowed is raised again.
_PATIENCE = 0.5

_received: int | None = None
_raised: weakref.ref[Ended] | None = None
_too_late = False


class Ended(KeyboardInterrupt):
    """A signal that ends the command; shells know it by 128 plus its number."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        self.exit_code = 128 + number


def listen() -> None:
    """Take signals as the exception ``Ended``, except those that this process was told to ignore."""
    global _received, _too_late
    _received, _too_late = None, False
    if threading.current_thread() is not threading.main_thread():
        return
    for number in [*_NUMBERS, *([] if _ALARM is None else [_ALARM])]:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _end)
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _show_others


def ignore_signals() -> None:
    """For the last steps of a command that has ended, well or not, and the end of Python after them.

    A handler would be taken away there; other signals than Ctrl-C may end a process that waits for
    ever, for a reader say.
    """
    global _too_late
    _too_late = True
    _set_alarm(0.0)
    for number in _NUMBERS:
        if signal.getsignal(number) is _end:
            last = signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, last)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put outputs in place here: it is not begun after a signal, and once begun it is done."""
    global _too_late
    _too_late = True
    try:
        if _received is not None:
            raise Ended(_received)
        yield
    except BaseException:
        _too_late = False
        raise
    ignore_signals()


def _end(number: int, frame: Any) -> None:
    global _received, _raised
    # still being raised, or in the hands of some ``finally``
    is_on_its_way = _raised is not None and _raised() is not None
    if _too_late or (number == _ALARM and is_on_its_way):
        return
    if number != _ALARM or _received is None:
        _received = number
    _set_alarm(_PATIENCE)
    error = Ended(_received)
    _raised = weakref.ref(error)
    try:
        raise error
    finally:
        del error  # nothing but those who handle it may keep it alive


def interrupt_behind(error: BaseException) -> KeyboardInterrupt | None:
    """The interrupt that an error is, or was made of: compiled modules that it meets fail to import."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, KeyboardInterrupt):
        seen = seen.__cause__ or seen.__context__
    return seen


def _show_others(unraisable: Any) -> None:
    """Say nothing of an interrupt in a place that cannot raise it: the alarm will."""
    if not isinstance(unraisable.exc_value, Ended):
        sys.__unraisablehook__(unraisable)


def _set_alarm(seconds: float) -> None:
    if _ALARM is not None and signal.getsignal(_ALARM) is _end:
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
