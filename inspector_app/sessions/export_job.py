"""Writing of an export on a worker thread, with its progress and a way to cancel it. No Qt."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector_app.documents.event_notes import EventNotes
from inspector_app.exchange.exported_session import ExportedSession, exported_session, session_of_history
from runtime.history.state_at import History
from runtime.sessions.note import Note
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import SessionSummary, StoredDatabase
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from inspector_app.exchange import eval_cases, formats
else:
    eval_cases = lazy_module("inspector_app.exchange.eval_cases")
    formats = lazy_module("inspector_app.exchange.formats")


class ExportCancelledError(Exception):
    """The user cancelled the export; no file was written."""


@dataclass(slots=True)
class ExportJob:
    """One export.

    Attributes:
        out: the file, which is replaced if it exists.
        kind: one of `FORMATS`.
        title: the database's name.
        total: the expected number of events; 0 if unknown.
        events: how many have been written.
        redactions: in how many events and states something was replaced; complete at the end.
        cancelled: set it to end the export.
    """

    out: Path
    kind: str
    title: str
    total: int = 0
    events: int = 0
    redactions: int = 0
    cancelled: threading.Event = field(default_factory=threading.Event)

    def write_stored(
        self, target: str, summaries: Sequence[SessionSummary], notes: Mapping[SessionKey, Mapping[str, Note]] | None = None
    ) -> None:
        """Write sessions of a database.

        Args:
            target: the database's path or URL.
            summaries: the sessions.
            notes: notes that are kept in memory only, by session and event id.

        Raises:
            ExportCancelledError: the user cancelled.
            StorageError: the database cannot be read, or the file not be written.
        """
        with closing(StoredDatabase.open(target)) as database:
            found = notes or EventNotes(target).read(database)
            self._write([exported_session(database, each.key, each.last_update_time, notes=found.get(each.key, {})) for each in summaries])

    def write_histories(self, found: Sequence[tuple[SessionKey, History, float, Mapping[str, Note]]]) -> None:
        """Write sessions that are in memory: their histories, times of creation and notes. See `write_stored` for the errors."""
        self._write([session_of_history(history, key, created, notes=notes) for key, history, created, notes in found])

    def _write(self, sessions: Sequence[ExportedSession]) -> None:
        text = formats.export_text(self.kind, self._counted(sessions), self.title, single=len(sessions) == 1)
        formats.write_export(self.out, str(self.out), text, replaces=True)
        self.redactions = sum(session.redactions for session in sessions)

    def _counted(self, sessions: Iterable[ExportedSession]) -> Iterator[ExportedSession]:
        for session in sessions:
            session.events = self._counted_events(session.events)
            yield session

    def _counted_events(self, events: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for event in events:
            if self.cancelled.is_set():
                raise ExportCancelledError
            self.events += 1
            yield event


def add_stored_case(target: str, summary: SessionSummary, file: Path) -> str:
    """Add a session of a database to an eval set; see `add_case`.

    Args:
        target: the database's path or URL.
        summary: the session.
        file: the eval set.
    """
    with closing(StoredDatabase.open(target)) as database:
        return eval_cases.add_case(file, exported_session(database, summary.key, summary.last_update_time))


def add_history_case(key: SessionKey, history: History, created: float, file: Path) -> str:
    """Add a session that is in memory to an eval set; see `add_case`.

    Args:
        key: the session.
        history: its past.
        created: epoch seconds.
        file: the eval set.
    """
    return eval_cases.add_case(file, session_of_history(history, key, created))
