"""Live tail: reads what other processes commit to the open databases."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_document import Committed, SessionDocument
from inspector_app.documents.sources import DatabaseSource, Source
from inspector_app.documents.tail_thread import Subscription, TailThread, TailUpdate
from inspector_app.support.frame_batcher import FrameBatcher
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.current_run import CurrentRun, RunEnd
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.file_hints import FileHints
from inspector_app.workspace.messages import MessageBus
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.session_catalog import SessionCatalog
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import SessionSummary
from runtime.storage.tail.tail import Changes

if TYPE_CHECKING:
    from runtime.events.event import Event

CALM_SECONDS = 1.5  # without a commit to a session before its open calls count as pending, and it is not shown as running
LIVE_SECONDS = 4.0  # since the last commit during which a database is called live
MOST_LOOKED_THROUGH = 20  # changed sessions examined for pending items after each calm; a busy database has more than can be read
LAST_IDS = 1_000  # newest events of a long session whose ids tell its thread which events are known


class LiveTail(QObject):
    """Watches every open database and follows the displayed session: events go to the session, summaries to the catalog.

    Attributes:
        follows_newest: returns whether a new session is to be selected.
        has_draft: returns whether the user is writing a message; no other session is selected then.

    Signals:
        told(TailUpdate): a watching thread read something; emitted from that thread.
        notes_changed(str): a note on an event of this database changed.
        watching_changed(str, str): how the selected session's database is watched (`watching`, `live`, `lost`; empty: not at all), and
            why.

    Args:
        cursor: the selection.
        databases: what is watched.
        catalog: receives summaries and pending items.
        current: receives the displayed session's events.
        run: events of its session are not taken from the database.
        tasks: runs what reads the database.
        messages: receives what the user should know.
    """

    told = Signal(object)
    notes_changed = Signal(str)
    watching_changed = Signal(str, str)

    def __init__(
        self,
        cursor: Cursor,
        databases: OpenDatabases,
        catalog: SessionCatalog,
        current: CurrentSession,
        run: CurrentRun,
        tasks: Tasks,
        messages: MessageBus,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._cursor = cursor
        self._databases = databases
        self._catalog = catalog
        self._current = current
        self._run = run
        self._tasks = tasks
        self._messages = messages
        self.follows_newest: Callable[[], bool] = bool
        self.has_draft: Callable[[], bool] = bool
        self._threads: dict[str, TailThread] = {}
        self._hints: dict[str, FileHints] = {}
        self._last_commit: dict[str, float] = {}
        self._problems: dict[str, str] = {}
        self._by_others: set[SessionAddress] = set()  # written since they were looked through
        self._unread: dict[SessionAddress, float] = {}  # sessions that others wrote to and when, the longest calm first
        self._deleted: set[SessionAddress] = set()
        self._following: Subscription | None = None
        self._is_left_to_run = False
        self._calm = _timer(self, CALM_SECONDS, self._on_calm)
        self._fading = _timer(self, LIVE_SECONDS, self._show_mark)
        self._frames = FrameBatcher(self._on_frame, self)
        self.told.connect(self._on_told)
        databases.database_listed.connect(self._on_database_listed)
        databases.database_counted.connect(self._on_database_counted)
        databases.database_closed.connect(self._on_database_closed)
        current.session_loading.connect(self._on_session_loading)
        current.session_loaded.connect(self._on_session_loaded)
        run.run_started.connect(self._on_run_started)
        run.changed.connect(self._on_run_changed)
        run.run_ended.connect(self._on_run_ended)

    def close(self) -> None:
        """Stop watching."""
        self._calm.stop()
        self._fading.stop()
        for target in list(self._threads):
            self._on_database_closed(target)

    def _on_database_listed(self, source: Source, sessions: list[SessionSummary]) -> None:
        # A new thread counts all events; in a large database it starts only once the counts are known.
        counted = all(summary.event_count is not None for summary in sessions)
        if counted and isinstance(source, DatabaseSource) and source.target not in self._threads:
            is_file = "://" not in source.target
            thread = self._threads[source.target] = TailThread(
                source.target, partial(source.open_tail, sessions), self.told.emit, is_hinted=is_file
            )
            if is_file:
                self._hints[source.target] = FileHints(Path(source.target), thread.hint, self)
        self._show_mark()

    def _on_database_counted(self, source: Source, sessions: list[SessionSummary]) -> None:
        self._on_database_listed(source, sessions)
        self._follow(self._current.session)

    def _on_database_closed(self, target: str) -> None:
        thread = self._threads.pop(target, None)
        if thread is not None:
            thread.close()
        hints = self._hints.pop(target, None)
        if hints is not None:
            hints.deleteLater()
        self._problems.pop(target, None)

    # following

    def _on_session_loading(self, _address: SessionAddress | None) -> None:
        self._follow(None)
        self._show_mark()

    def _on_session_loaded(self, session: SessionDocument) -> None:
        self._follow(session)
        self._show_mark()

    def _on_run_started(self) -> None:
        self._follow(self._current.session)

    def _on_run_changed(self) -> None:
        session = self._current.session
        if self._is_left_to_run and self._run.phase == "idle":
            self._follow(session if session is not None and session.address not in self._deleted else None)

    def _on_run_ended(self, end: RunEnd) -> None:
        if end.address in self._deleted:  # during the run, whose end listed it again
            self._catalog.update_sessions(end.address.database, (), [end.address.key])
            self._catalog.set_pending(end.address, [])

    def _follow(self, session: SessionDocument | None) -> None:
        """Follow a session from what is known of it; the session of a run only once the run ends, as the run reports its events."""
        for thread in self._threads.values():
            thread.follow(Subscription(None))
        self._following = None
        self._is_left_to_run = session is not None and self._is_running(session.address)
        if self._is_left_to_run:
            return
        thread_of = self._threads.get(session.address.database) if session is not None else None
        if session is None or thread_of is None:
            return
        events, count = session.events, len(session.events)
        ids = [event.id for event in events.in_memory] if session.pages is None else events.last_ids(LAST_IDS)
        self._following = Subscription(session.address.key, ids, count)
        thread_of.follow(self._following)

    # updates from the threads

    def _on_told(self, told: TailUpdate) -> None:
        source = self._databases.source(told.target)
        if source is None or told.target not in self._threads:
            return
        self._say_problem(source, told.problem)
        if told.changes:
            self._take_changes(source, told)
        if not self._frames.waiting:
            self._threads[told.target].acknowledge()

    def _take_changes(self, source: Source, told: TailUpdate) -> None:
        changes = told.changes
        if changes.notes:
            self.notes_changed.emit(told.target)
        own = self._run.quiet or self._run.address
        starting = own is None and self._run.phase != "idle"  # its session is created just now
        written = {summary.key for summary in changes.changed if summary.event_count or not starting}
        others = written - ({own.key} if own is not None and own.database == told.target else set())
        self._by_others.update(SessionAddress(told.target, key) for key in others)
        if others or changes.removed:
            self._last_commit[told.target] = time.monotonic()
        self._take_sessions(source, changes)
        key = told.following.key
        if told.following is self._following and key is not None:
            if changes.reread:
                self._read_again(SessionAddress(told.target, key))
            for event in () if changes.reread else changes.events:
                self._frames.add((told.following, event))
        self._await_calm()
        self._fading.start()
        self._show_mark()

    def _on_frame(self, frame: list[tuple[Subscription, Event]]) -> None:
        """Take in events of the followed session, as many as one frame can show."""
        following, selected = self._following, self._cursor.session
        arrived = [Committed(event, {}) for wish, event in frame if wish is following]
        if arrived and following is not None and selected is not None and selected.key == following.key and not self._is_running(selected):
            self._current.add_committed(selected, arrived)
        if not self._frames.waiting:
            for thread in self._threads.values():
                thread.acknowledge()

    def _read_again(self, address: SessionAddress) -> None:
        if not self._is_running(address):
            self._messages.info(f"Another process changed what session {address.key.session_id} had before; it was read again.", quiet=True)
            self._tasks.spawn(self._current.load_session(address), f"Reading session {address.key.session_id}")

    def _take_sessions(self, source: Source, changes: Changes) -> None:
        changed, removed = changes.changed, changes.removed
        self._catalog.update_sessions(source.target, changed, removed)
        self._deleted.difference_update(SessionAddress(source.target, summary.key) for summary in changed)
        self._deleted.update(SessionAddress(source.target, key) for key in removed)
        for summary in changed:
            address = SessionAddress(source.target, summary.key)
            self._unread.pop(address, None)
            self._unread[address] = time.monotonic()
        for key in removed:
            address = SessionAddress(source.target, key)
            self._unread.pop(address, None)
            self._catalog.set_pending(address, [])
            if address == self._cursor.session:
                self._messages.warning(f"Session {key.session_id} was deleted by another process. What was read of it is still shown.")
        if changes.new and self.follows_newest():
            self._go_to(source, max(changes.new, key=lambda summary: (summary.last_update_time, summary.key)).key)

    def _go_to(self, source: Source, key: SessionKey) -> None:
        selected = self._cursor.session
        here = selected is None or selected.database == source.target
        if here and self._run.phase == "idle" and self._run.quiet is None and not self.has_draft():
            self._cursor.select_session(SessionAddress(source.target, key))

    def _is_running(self, address: SessionAddress) -> bool:
        return address == self._run.address and self._run.phase != "idle"

    # calm, judged per session: in a busy database some process always writes

    def _await_calm(self) -> None:
        if self._unread:
            self._calm.start(max(0, math.ceil((next(iter(self._unread.values())) + CALM_SECONDS - time.monotonic()) * 1000)))

    def _on_calm(self) -> None:
        now = time.monotonic()
        calm = [address for address, written in self._unread.items() if now - written >= CALM_SECONDS]
        for address in calm:
            del self._unread[address]
        self._await_calm()
        self._tasks.spawn(self._look_through(calm[-MOST_LOOKED_THROUGH:]), "Looking through what others committed")

    async def _look_through(self, addresses: Sequence[SessionAddress]) -> None:
        """Find the pending items of sessions that others wrote to."""
        for address in addresses:
            source, session = self._databases.source(address.database), self._current.session
            if source is None or self._is_running(address):
                continue
            if address in self._by_others:  # its silence does not say that it has ended
                self._by_others.discard(address)
                pending, is_unfinished = await source.pending_of_others(address.key)
                self._catalog.set_unfinished(address, is_unfinished)
            else:
                pending = await source.pending(address.key)
            if session is not None and session.address == address:
                await self._current.refresh_invocations(address)
            else:
                self._catalog.set_pending(address, pending)

    # the mark in the status bar

    def _say_problem(self, source: Source, problem: str | None) -> None:
        before = self._problems.pop(source.target, None)
        if problem is not None:
            self._problems[source.target] = problem
        if problem == before:
            return
        if before is not None:
            self._messages.withdraw(_lost(before))
        if problem is not None:
            self._messages.warning(_lost(problem))
        else:
            self._messages.info(f"{source.title} can be read again.")
        self._show_mark()

    def _show_mark(self) -> None:
        address = self._cursor.session
        if address is None or address.database not in self._threads:
            self.watching_changed.emit("", "")
        elif problem := self._problems.get(address.database):
            self.watching_changed.emit("lost", problem)
        elif time.monotonic() - self._last_commit.get(address.database, -LIVE_SECONDS) < LIVE_SECONDS * 0.95:
            self.watching_changed.emit("live", "This database was written to a moment ago, other than by the run here.")
        else:
            self.watching_changed.emit("watching", "What other processes commit to this database appears by itself.")


def _lost(problem: str) -> str:
    return f"{problem} What was read of it is still shown; it is looked for again and again."


def _timer(parent: LiveTail, seconds: float, work: Callable[[], None]) -> QTimer:
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(int(seconds * 1000))
    timer.timeout.connect(work)
    return timer
