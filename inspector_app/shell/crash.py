"""What nobody caught reaches the message bus instead of a terminal nobody looks at."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from types import TracebackType
from typing import Any

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

from inspector_app.workspace.messages import MessageBus

_log = logging.getLogger("qt")

_HARMLESS_QT = ("This plugin does not support propagateSizeHints()", "This plugin does not support raise()")
"""What Qt says of itself when it draws off screen; the only messages that are dropped."""

_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


class CrashHooks:
    """Python's and Qt's hooks for what nobody caught, while the window lives.

    Args:
        bus: where it is reported.
    """

    def __init__(self, bus: MessageBus) -> None:
        self._bus = bus
        self._telling: set[int] = set()  # threads

    def install(self) -> None:
        """Take the process-wide hooks."""
        sys.excepthook = self._on_uncaught
        sys.unraisablehook = self._on_unraisable
        threading.excepthook = self._on_thread
        qInstallMessageHandler(self._on_qt_message)

    def remove(self) -> None:
        """Give the hooks back; nothing may reach a bus that is gone."""
        sys.excepthook = sys.__excepthook__
        sys.unraisablehook = sys.__unraisablehook__
        threading.excepthook = threading.__excepthook__
        qInstallMessageHandler(None)

    def on_loop_exception(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Handle what asyncio could give to nobody (`loop.set_exception_handler`)."""
        error = context.get("exception")
        if error is None:
            _log.warning("asyncio: %s", context.get("message"))
        else:
            self._tell("A background step", error)

    def _on_uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        self._tell("A step of the window", error)

    def _on_unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_value is not None:
            self._tell("Cleaning up", unraisable.exc_value)

    def _on_thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self._tell("A background thread", args.exc_value)

    def _tell(self, doing: str, error: BaseException) -> None:
        """Report an error; one that comes of showing an error goes to the terminal, or it would be reported for ever."""
        thread = threading.get_ident()
        if thread in self._telling:
            sys.__excepthook__(type(error), error, error.__traceback__)
            return
        self._telling.add(thread)
        try:
            self._bus.error(doing, error)
        finally:
            self._telling.discard(thread)

    def _on_qt_message(self, kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        if text not in _HARMLESS_QT:
            _log.log(_LEVELS.get(kind, logging.WARNING), "%s", text)
