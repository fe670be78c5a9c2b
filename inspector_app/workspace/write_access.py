"""Write access to a database that another program made: an explicit switch, after a check for other processes."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.sources import Source
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.messages import MessageBus
from inspector_app.workspace.open_databases import OpenDatabases
from runtime.storage.connections.other_processes import OtherProcess, others_with_open
from runtime.support.worker_threads import run_in_thread


class WriteAccess(QObject):
    """Allows writing in place; if another process has the file open, only when asked a second time.

    Signals:
        others_found(str): other processes have the database open; a warning that names them.

    Args:
        databases: keeps which databases may be written.
        current: the displayed session, whose database is meant.
        tasks: runs the check.
        messages: receives the outcome.
    """

    others_found = Signal(str)

    def __init__(
        self, databases: OpenDatabases, current: CurrentSession, tasks: Tasks, messages: MessageBus, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._databases = databases
        self._current = current
        self._tasks = tasks
        self._messages = messages
        self._warned: set[str] = set()

    def request(self) -> None:
        """Allow writing into the displayed session's database; see `allow`."""
        session = self._current.session
        if session is not None and not session.source.writing_allowed:
            self._tasks.spawn(self.allow(session.source), f"Opening {session.source.title} for writing")

    async def allow(self, source: Source) -> None:
        """Allow writing into a database, or warn of other processes that have it open, the first time.

        Raises:
            StorageError: it can only be read.
        """
        others = await run_in_thread(others_with_open, Path(source.target)) if "://" not in source.target else []
        if others and source.target not in self._warned:
            self._warned.add(source.target)
            self.others_found.emit(_warning(source.title, others))
            return
        await self._databases.allow_writing(source)
        self._messages.info(f"{source.title} may be written now; the first write makes a backup beside it.")


def _warning(title: str, others: list[OtherProcess]) -> str:
    named = ", ".join(f"{other.pid} ({other.command})" for other in others[:3])
    what = f"Process {named} has" if len(others) == 1 else f"{len(others)} other processes ({named}) have"
    return f"{what} {title} open. Of two that write to one session, one fails. Close it first, or take care."
