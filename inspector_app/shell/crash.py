"""Hooks that report uncaught exceptions on the message bus instead of the terminal."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from types import TracebackType
from typing import Any

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler
from shiboken6 import isValid

from inspector_app.workspace.messages import MessageBus

_log = logging.getLogger("qt")

# Qt prints these when it draws off screen. No other message is dropped.
_HARMLESS_QT = ("This plugin does not support propagateSizeHints()", "This plugin does not support raise()")

_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


class CrashHooks:
    """Python's and Qt's process-wide hooks for uncaught exceptions and Qt messages.

    Args:
        bus: reports uncaught exceptions to the user.
    """

    def __init__(self, bus: MessageBus) -> None:
        self._bus = bus
        self._telling: set[int] = set()  # ids of the threads that are reporting an error

    def install(self) -> None:
        """Install the hooks."""
        sys.excepthook = self._on_uncaught
        sys.unraisablehook = self._on_unraisable
        threading.excepthook = self._on_thread
        qInstallMessageHandler(self._on_qt_message)

    def remove(self) -> None:
        """Restore the default hooks, so that no report reaches a deleted bus."""
        sys.excepthook = sys.__excepthook__
        sys.unraisablehook = sys.__unraisablehook__
        threading.excepthook = threading.__excepthook__
        qInstallMessageHandler(None)

    def on_loop_exception(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Report an exception that asyncio could not deliver (a handler for `loop.set_exception_handler`)."""
        error = context.get("exception")
        if error is None:
            _log.warning("asyncio: %s", context.get("message"))
        else:
            self._tell("A background task", error)

    def _on_uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        self._tell("An action in the window", error)

    def _on_unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_value is not None:
            self._tell("Cleaning up", unraisable.exc_value)

    def _on_thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self._tell("A background thread", args.exc_value)

    def _tell(self, doing: str, error: BaseException) -> None:
        """Report an error; print it if the bus is deleted, and one that is raised while reporting, which would be reported endlessly."""
        thread = threading.get_ident()
        if thread in self._telling:
            sys.__excepthook__(type(error), error, error.__traceback__)
            return
        self._telling.add(thread)
        try:
            if isValid(self._bus):
                self._bus.error(doing, error)
            else:
                sys.__excepthook__(type(error), error, error.__traceback__)
        finally:
            self._telling.discard(thread)

    def _on_qt_message(self, kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        if text not in _HARMLESS_QT:
            _log.log(_LEVELS.get(kind, logging.WARNING), "%s", text)
