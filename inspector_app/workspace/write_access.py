"""Taking a database over: an explicit switch, after a look at who else may write to it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject

from inspector_app.documents.sources import Source, database_info
from inspector_app.shell.parts import Parts
from inspector_app.shell.window_status import WindowStatus
from runtime.storage.connections.other_processes import OtherProcess, others_with_open
from runtime.support.worker_threads import run_in_thread


class WriteAccess(QObject):
    """Allows writing into what others wrote; if another process has the file open, only when it is asked a second time.

    Args:
        parts: of the window.
        status: shows that a database may be written to now.
    """

    def __init__(self, parts: Parts, status: WindowStatus, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._window = parts.window
        self._sessions = parts.sessions
        self._status = status
        self._messages = parts.messages
        self._tasks = parts.tasks
        self._browse = parts.browse
        self._warned: set[str] = set()
        self._window.commands.allow_writing.triggered.connect(self._on_asked)
        self._window.workbench.writing_hint.accepted.connect(self._on_asked)

    def _on_asked(self) -> None:
        session = self._browse.session
        if session is not None and not session.source.writing_allowed:
            self._tasks.spawn(self.allow(session.source), f"Opening {session.source.title} for writing")

    async def allow(self, source: Source) -> None:
        """Let a database be written in place; or warn of others who have it open, the first time.

        Raises:
            StorageError: it can only be read.
        """
        others = await run_in_thread(others_with_open, Path(source.target)) if "://" not in source.target else []
        if others and source.target not in self._warned:
            self._warned.add(source.target)
            self._window.workbench.writing_hint.suggest(
                _warning(source.title, others), "Allow writing all the same", "triangle-exclamation"
            )
            return
        await source.service()  # what stands in the way is said now, not in the middle of a run
        source.writing_allowed = True
        self._messages.info(f"{source.title} may be written now; the first write makes a backup beside it.")
        self._sessions.set_database(source.target, database_info(source), await source.sessions())
        self._status.show_marks(source)
        self._status.show_source(source)
        self._status.show_session_hints()
        self._status.show_run()


def _warning(title: str, others: list[OtherProcess]) -> str:
    named = ", ".join(f"{other.pid} ({other.command})" for other in others[:3])
    what = f"Process {named} has" if len(others) == 1 else f"{len(others)} other processes ({named}) have"
    return f"{what} {title} open. Of two that write to one session, one fails. Close it first, or take care."
