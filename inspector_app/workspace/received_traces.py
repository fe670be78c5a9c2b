"""The owner of the traces that arrive at this window: they are recorded, and the displayed session is drawn again."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.trace_recording import TraceRecorder, sessions_of
from inspector_app.support.otlp import OtlpError, OtlpSpan, spans_of_json
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.messages import MessageBus
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.session_catalog import SessionCatalog
from runtime.errors.known_error import KnownError
from runtime.support.linkless import open_named
from runtime.support.worker_threads import run_in_thread

LONGEST_LINE = 32 * 2**20  # bytes of a line of a file; a longer one is left out
_MOST_NAMED = 5  # sessions in a message


class ReceivedTraces(QObject):
    """Records the model and tool calls of traces in one file of the data folder, where every later window finds them too.

    Signals:
        recorded: calls were recorded; emitted on any thread.

    Args:
        file: the recording.
        databases: whose sources read it.
        catalog: the sessions that calls can be shown in.
        current: the displayed session.
        messages: receives how much was read from files.
    """

    recorded = Signal()

    def __init__(
        self,
        file: Path,
        databases: OpenDatabases,
        catalog: SessionCatalog,
        current: CurrentSession,
        messages: MessageBus,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        databases.traces = file
        self._databases, self._catalog = databases, catalog
        self._recorder = TraceRecorder(file)
        self._messages = messages
        self.recorded.connect(current.calls_recorded)

    def add(self, spans: list[OtlpSpan]) -> None:
        """Record the calls among spans; any thread may call it."""
        if self._recorder.add(spans):
            self._recorder.wait()
            self.recorded.emit()

    async def read_file(self, file: Path) -> None:
        """Record the calls in a file of OpenTelemetry's JSON, one request in a line, and report what cannot be shown."""
        try:
            calls, wrong, sessions = await run_in_thread(self._read, file)
        except OSError as error:
            self._messages.error(f"Reading {file}", KnownError(f"{file} cannot be read: {error.strerror or error}."))
            return
        left_out = f" Lines that are no traces: {wrong:,}." if wrong else ""
        self._messages.info(f"{file} has {calls:,} model and tool calls that were not recorded yet.{left_out}")
        if reason := self._why_not_shown(sessions):
            self._messages.error(f"Reading {file}", KnownError(f"Nothing of {file} can be shown: {reason}"))
        self.recorded.emit()

    def _why_not_shown(self, sessions: set[str]) -> str:
        """Return why no session of a file can be displayed; empty if one can."""
        if not sessions:
            return "it has no traces of google-adk's model calls that name a session."
        listed = (one for source in self._databases.sources for one in self._catalog.sessions(source.target))
        if any(one.key.session_id in sessions for one in listed):
            return ""
        names = ", ".join(sorted(sessions)[:_MOST_NAMED]) + (", …" if len(sessions) > _MOST_NAMED else "")
        return f"no open database has its sessions ({names}). Its calls are kept. Open the database with these sessions to see them."

    def close(self) -> None:
        """Write what is waiting and close the file."""
        self._recorder.close()

    def _read(self, file: Path) -> tuple[int, int, set[str]]:
        calls, wrong = 0, 0
        sessions: set[str] = set()
        with open_named(file) as lines:
            while line := lines.readline(LONGEST_LINE + 1):
                if not line.strip():
                    continue
                try:
                    spans = spans_of_json(line)
                except OtlpError:
                    wrong += 1
                else:
                    calls += self._recorder.add(spans)
                    sessions |= sessions_of(spans)
        self._recorder.wait()
        return calls, wrong, sessions
