"""The message bus: the message bar shows what needs attention now, the log pane keeps everything."""

from __future__ import annotations

import logging
import re

from PySide6.QtCore import QObject, Signal

from inspector_app.engines.adk_worker.errors import formatted
from inspector_app.engines.agent_output import is_agents_record, message_of
from inspector_app.presentation.message import Message, Remedy, Severity
from runtime.errors.known_error import KnownError
from runtime.errors.storage_error import StaleSessionError
from runtime.support.texts import error_text

_NO_KEY = re.compile(
    r"missing key inputs|no api key|api[ _]key not (valid|found)|provide \(`?api_key`?\)", re.IGNORECASE
)  # of google-genai


class MessageBus(QObject):
    """Collects messages for the user; any thread may post.

    Signals:
        posted(Message): a message was posted.
        withdrawn(str): messages with this text no longer hold.
    """

    posted = Signal(object)
    withdrawn = Signal(str)

    def post(self, message: Message) -> None:
        """Post a message."""
        self.posted.emit(message)

    def withdraw(self, text: str) -> None:
        """Take the messages with this text back from the message bar."""
        self.withdrawn.emit(text)

    def info(self, text: str, *, quiet: bool = False) -> None:
        """Post a message that needs no attention."""
        self.posted.emit(Message("info", text, quiet=quiet))

    def warning(self, text: str, *, details: str | None = None, quiet: bool = False) -> None:
        """Post a warning."""
        self.posted.emit(Message("warning", text, details, quiet=quiet))

    def error(self, doing: str, error: BaseException, details: str | None = None) -> None:
        """Report a failure.

        Args:
            doing: the failed action, such as "Opening orders.db"; starts the sentence unless the error is a `KnownError`.
            error: the failure. A `KnownError` is shown by its text alone; any other error is shown with its traceback.
            details: shown in place of that traceback.
        """
        if isinstance(error, KnownError):
            self.posted.emit(Message("error", str(error), getattr(error, "traceback", None), remedy=_remedy(error)))
            return
        text = f"{doing} failed: {error_text(error)}"
        self.posted.emit(Message("error", text, details or format_traceback(error), remedy=_remedy(error)))


def _remedy(error: BaseException) -> Remedy:
    if isinstance(error, StaleSessionError):
        return "reload"
    needs_key = getattr(error, "error_code", None) == "NO_CREDENTIALS" or getattr(error, "status_code", None) == 401
    return "keys" if needs_key or (not isinstance(error, KnownError) and _NO_KEY.search(str(error))) else ""


def format_traceback(error: BaseException) -> str:
    """Return the traceback of `error` as Python prints it."""
    return formatted(error, error.__traceback__)


class BusHandler(logging.Handler):
    """Forwards log records to the bus: all of them to the log pane, errors to the message bar too."""

    def __init__(self, bus: MessageBus, level: int = logging.INFO) -> None:
        super().__init__(level)
        self._bus = bus

    def emit(self, record: logging.LogRecord) -> None:
        """Post the record, unless an agent's run reports it; ignore a bus that Qt has already deleted (at exit)."""
        if is_agents_record(record):
            return
        severity: Severity = "error" if record.levelno >= logging.ERROR else "warning" if record.levelno >= logging.WARNING else "info"
        details = format_traceback(record.exc_info[1]) if record.exc_info and record.exc_info[1] else None
        try:
            self._bus.posted.emit(Message(severity, f"{record.name}: {message_of(record)}", details, quiet=severity != "error"))
        except RuntimeError:
            self.handleError(record)
