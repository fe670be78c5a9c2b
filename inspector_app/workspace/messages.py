"""Everything the user is told goes through one bus: the message bar shows what matters now, the log keeps all of it."""

from __future__ import annotations

import logging
import time
import traceback
from dataclasses import dataclass, field
from typing import Literal

from PySide6.QtCore import QObject, Signal

from inspector_app.presentation.values import error_text
from runtime.errors.known_error import KnownError
from runtime.errors.storage_error import StaleSessionError

Severity = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Message:
    """One thing the user is told.

    Attributes:
        severity: how much it matters.
        text: a plain sentence, and what to do about it.
        details: what an expert wants to copy, such as a traceback.
        quiet: only for the log; the bar does not show it.
        offers_reload: reading the session again is what helps.
        time: epoch seconds.
    """

    severity: Severity
    text: str
    details: str | None = None
    quiet: bool = False
    offers_reload: bool = False
    time: float = field(default_factory=time.time)


class MessageBus(QObject):
    """Where messages are posted, from any thread.

    Signals:
        posted(Message): something was said.
    """

    posted = Signal(object)

    def info(self, text: str, *, quiet: bool = False) -> None:
        """Say that something happened."""
        self.posted.emit(Message("info", text, quiet=quiet))

    def warning(self, text: str, *, details: str | None = None, quiet: bool = False) -> None:
        """Say that something needs attention."""
        self.posted.emit(Message("warning", text, details, quiet=quiet))

    def error(self, doing: str, error: BaseException) -> None:
        """Report a failure.

        Args:
            doing: what was tried, such as "Opening orders.db"; begins the sentence where the error is not the world's own.
            error: what went wrong. The text of a `KnownError` is shown as it stands; anything else comes with its traceback.
        """
        if isinstance(error, KnownError):
            stale = isinstance(error, StaleSessionError)
            self.posted.emit(Message("error", str(error), getattr(error, "traceback", None), offers_reload=stale))
            return
        self.posted.emit(Message("error", f"{doing} failed: {error_text(error)}", format_traceback(error)))


def format_traceback(error: BaseException) -> str:
    """Return the traceback as Python prints it."""
    return "".join(traceback.format_exception(error))


class BusHandler(logging.Handler):
    """Shows what the log says: warnings of the runtime and of agents reach the log pane, and errors the bar too."""

    def __init__(self, bus: MessageBus, level: int = logging.INFO) -> None:
        super().__init__(level)
        self._bus = bus

    def emit(self, record: logging.LogRecord) -> None:
        """Post the record; a bus that is gone already (at exit) is not an error."""
        severity: Severity = "error" if record.levelno >= logging.ERROR else "warning" if record.levelno >= logging.WARNING else "info"
        details = format_traceback(record.exc_info[1]) if record.exc_info and record.exc_info[1] else None
        try:
            self._bus.posted.emit(Message(severity, f"{record.name}: {record.getMessage()}", details, quiet=severity != "error"))
        except RuntimeError:
            self.handleError(record)
