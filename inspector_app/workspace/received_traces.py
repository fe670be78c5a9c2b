"""The owner of the traces that arrive at this window: calls of stored sessions are recorded, all others become sessions."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.sources import Source
from inspector_app.documents.trace_recording import TraceRecorder, sessions_of
from inspector_app.exchange.otlp_sessions.received_spans import Grown, ReceivedSpans
from inspector_app.support.otlp import OtlpError, OtlpSpan, spans_of_json
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.messages import MessageBus
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.session_catalog import SessionCatalog
from runtime import sessions
from runtime.errors.known_error import KnownError
from runtime.support.lazy import lazy_module
from runtime.support.linkless import open_named
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from inspector_app.exchange.otlp_sessions import trace_recording
else:  # loads google-genai's types
    trace_recording = lazy_module("inspector_app.exchange.otlp_sessions.trace_recording")

LONGEST_LINE = 32 * 2**20  # bytes of a line of a file; a longer one is left out
PAUSE_MS = 250  # between two times that arrived spans are stored; as long as that takes, if it takes longer


class ReceivedTraces(QObject):
    """Records the model and tool calls of traces in one file of the data folder, where every later window finds them too.

    Spans whose events are in no open database become sessions of a database of the window's own, which is not saved yet.

    Signals:
        recorded: calls were recorded; emitted on any thread.
        arrived: spans arrived; emitted on any thread.
        opened(SessionAddress): the first session of a new database.
        taken_in: what arrived before is stored.

    Args:
        file: the recording.
        databases: whose sources read it.
        catalog: the sessions that calls can be shown in.
        current: the displayed session.
        tasks: stores the sessions.
        messages: receives how much was read from files.
    """

    recorded = Signal()
    arrived = Signal()
    opened = Signal(object)
    taken_in = Signal()

    def __init__(
        self,
        file: Path,
        databases: OpenDatabases,
        catalog: SessionCatalog,
        current: CurrentSession,
        tasks: Tasks,
        messages: MessageBus,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        databases.traces = file
        self._databases, self._catalog, self._current = databases, catalog, current
        self._recorder = TraceRecorder(file)
        self._messages, self._tasks = messages, tasks
        self._spans = ReceivedSpans()
        self._named: frozenset[str] = frozenset()  # sessions of google-adk's spans, which may be in a database
        self._source: Source | None = None
        self._opened: set[str] = set()
        self._taking_in = asyncio.Lock()
        self._said = 0
        self._pause = QTimer(self, interval=PAUSE_MS, singleShot=True)
        self._pause.timeout.connect(self._on_pause_ended)
        self.arrived.connect(self._on_arrived)
        self.recorded.connect(current.calls_recorded)

    def add(self, spans: list[OtlpSpan]) -> None:
        """Take in spans: record the calls among them that google-adk's databases name, and show the others as sessions. Thread-safe."""
        if self._recorder.add(spans):
            self._recorder.wait()
            self.recorded.emit()
        self._named |= sessions_of(spans)
        self._spans.add(spans)
        self.arrived.emit()

    async def read_file(self, file: Path) -> None:
        """Take in a file of OpenTelemetry's JSON, one request in a line, and report what cannot be shown."""
        try:
            calls, wrong, spans = await run_in_thread(self._read, file)
        except OSError as error:
            self._messages.error(f"Reading {file}", KnownError(f"{file} cannot be read: {error.strerror or error}."))
            return
        left_out = f" Lines that are no traces: {wrong:,}." if wrong else ""
        self._messages.info(f"{file} has {calls:,} model and tool calls that were not recorded yet.{left_out}")
        self.recorded.emit()
        before = self._spans.unused
        await self._take_in()
        if self._spans.unused - before == spans:
            found = f"its {spans:,} spans are of no agent" if spans else "it has no traces"
            self._messages.error(f"Reading {file}", KnownError(f"Nothing of {file} can be shown: {found}."))

    def _on_arrived(self) -> None:
        if not self._pause.isActive():
            self._pause.start()

    def _on_pause_ended(self) -> None:
        self._tasks.spawn(self._take_in(), "Taking in traces")

    async def _take_in(self) -> None:
        """Store what the spans that arrived add to sessions."""
        async with self._taking_in:
            begin = time.monotonic()
            while self._spans.is_waiting:
                await self._leave_saved()
                grown = await run_in_thread(self._spans.grow, self._elsewhere())
                for each in grown:
                    await self._store(each)
                if self._source is not None and self._source.recording is not None:
                    await run_in_thread(trace_recording.record_calls, self._source.recording, {each.key: each.calls for each in grown})
            self._pause.setInterval(max(PAUSE_MS, int((time.monotonic() - begin) * 1_000)))
        self._say_what_is_unused()
        self.taken_in.emit()

    def _elsewhere(self) -> set[str]:
        """Return the ids of sessions whose spans only have calls that are recorded: their events are in an open database."""
        own = self._source.target if self._source is not None else None
        return {
            summary.key.session_id
            for source in (self._databases.sources if self._named else ())
            if source.target != own
            for summary in self._catalog.sessions(source.target)
            if summary.key.session_id in self._named
        }

    async def _store(self, grown: Grown) -> None:
        if self._source is None:
            self._source = await self._databases.new_unsaved()
        source = self._source
        service = await source.service()
        assert isinstance(service, sessions.DatabaseSessionService)  # of a database of our own
        if grown.is_empty:
            await service.delete_session(app_name=grown.key.app_name, user_id=grown.key.user_id, session_id=grown.key.session_id)
            return
        await service.continue_copy(grown.key, grown.copy, grown.replaced)
        for name, end in grown.ends.items():
            await service.record_end(grown.key, name, end)
        address = SessionAddress(source.target, grown.key)
        if grown.replaced and self._current.session is not None and self._current.session.address == address:
            await self._current.load_session(address)  # the live tail does not see that an event of the same id is another one
        if source.target not in self._opened:
            self._opened.add(source.target)
            await self._databases.relist(source)
            self.opened.emit(address)

    async def _leave_saved(self) -> None:
        """Begin a new database if the sessions were saved, or deleted, meanwhile."""
        if self._source is not None and self._databases.source(self._source.target) is not self._source:
            self._source = None
            await run_in_thread(self._spans.forget)

    def _say_what_is_unused(self) -> None:
        if count := self._spans.unused - self._said:
            self._messages.withdraw(_unused(self._said))
            self._said += count
            self._messages.info(_unused(self._said), quiet=True)

    def close(self) -> None:
        """Write what is waiting and close the file."""
        self._spans.close()
        self._recorder.close()

    def _read(self, file: Path) -> tuple[int, int, int]:
        """Take in a file; return how many calls were new, how many lines are no traces, and how many spans there are."""
        calls = wrong = count = 0
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
                    self._named |= sessions_of(spans)
                    self._spans.add(spans)
                    count += len(spans)
        self._recorder.wait()
        return calls, wrong, count


def _unused(count: int) -> str:
    return f"Traces arrived with {count:,} spans of no agent, which are not shown."
