"""Ctrl-C in Qt's event loop, where asyncio's loop handles no signals."""

from __future__ import annotations

import signal
import socket
from asyncio import AbstractEventLoop
from collections.abc import Callable
from contextlib import suppress

from PySide6.QtCore import QSocketNotifier


def call_on_interrupt(loop: AbstractEventLoop, callback: Callable[[], object]) -> Interrupts | None:
    """Call a function in the window's loop on Ctrl-C and on SIGTERM.

    Args:
        loop: of the window.
        callback: called on the main thread.

    Returns:
        What is to be closed before the loop; None where the loop handles signals itself.
    """
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, callback)
    except NotImplementedError:  # Windows
        return Interrupts(callback)
    return None


class Interrupts:
    """Calls a function in Qt's event loop on Ctrl-C and on SIGTERM.

    Python runs signal handlers between two of its own instructions, and Qt's idle loop executes none. So each signal also writes a byte
    into a socket that wakes Qt. Created on the main thread; `close` restores what was there before.

    Args:
        callback: called on the main thread.
    """

    def __init__(self, callback: Callable[[], object]) -> None:
        self._callback = callback
        self._wake, self._woken = socket.socketpair()
        for end in (self._wake, self._woken):
            end.setblocking(False)
        self._notifier = QSocketNotifier(self._wake.fileno(), QSocketNotifier.Type.Read)
        self._notifier.activated.connect(self._on_signal)
        self._wakeup_before = signal.set_wakeup_fd(self._woken.fileno(), warn_on_full_buffer=False)
        self._before = {number: signal.signal(number, _do_nothing) for number in (signal.SIGINT, signal.SIGTERM)}

    def close(self) -> None:
        """Restore the handlers that were set before."""
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        signal.set_wakeup_fd(self._wakeup_before)
        self._notifier.setEnabled(False)
        self._wake.close()
        self._woken.close()

    def _on_signal(self) -> None:
        with suppress(BlockingIOError):
            if any(number in self._before for number in self._wake.recv(4096)):
                self._callback()


def _do_nothing(number: int, frame: object) -> None:
    """Handle a signal: the byte that it wrote is what counts."""
