"""What the window shows: takes what the other controllers know to the views, and what is asked for in the views to them."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from inspector_app.branches.compare_controller import CompareController
from inspector_app.branches.fork_controller import ForkController
from inspector_app.branches.fork_origin import ForkOriginController
from inspector_app.branches.rewind_controller import RewindController
from inspector_app.databases.database_page_controller import DatabasePageController
from inspector_app.databases.foreign_database_controller import ForeignDatabaseController
from inspector_app.detail.artifact_controller import ArtifactController
from inspector_app.detail.request_controller import RequestController
from inspector_app.detail.timeline_controller import TimelineController
from inspector_app.documents.live_event_eviction import LiveEventEvictor
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_document import SessionDocument, StateAtEvent
from inspector_app.documents.sources import Source, database_info
from inspector_app.opening.agent_changes import AgentChanges
from inspector_app.opening.opening_controller import OpeningController
from inspector_app.presentation.message import Message
from inspector_app.presentation.values import error_text, visible
from inspector_app.running.pending_controller import PendingController
from inspector_app.running.resume_controller import ResumeController
from inspector_app.running.run_commands import RunCommands
from inspector_app.sessions.deletion_controller import DeletionController
from inspector_app.sessions.search_controller import SearchController
from inspector_app.sessions.sizes_controller import SizesController
from inspector_app.shell.parts import Parts
from inspector_app.shell.window_status import WindowStatus
from inspector_app.state.files_controller import FilesController
from inspector_app.state.pin_controller import PinController
from inspector_app.state.state_edits import StateEditController
from inspector_app.state.writers_controller import WritersController
from inspector_app.stream.saved_filters_controller import SavedFilterController
from inspector_app.stream.scroll_marks import ScrollMarks
from inspector_app.stream.stream_controller import MANY_AT_ONCE, StreamController
from inspector_app.stream.tool_agent_events import ToolAgentEvents
from inspector_app.widgets import theme
from inspector_app.workspace.current_run import RunEnd
from inspector_app.workspace.live_tail import LiveTail
from inspector_app.workspace.manual_events import ManualEvents
from inspector_app.workspace.messages import format_traceback
from inspector_app.workspace.session_catalog import mark_of
from inspector_app.workspace.working_copy import WorkingCopy
from inspector_app.workspace.write_access import WriteAccess
from runtime.errors.known_error import KnownError
from runtime.events.event import Event
from runtime.history.invocations import PendingItem
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import SessionSummary


class WindowController(QObject):
    """Fills the window and answers it.

    Attributes:
        window: the window.
        events, sessions: the Qt models behind the stream and the list of sessions.
        tail: watches the open databases; search: looks through all of one.

    Signals:
        close_asked: the window wants to be closed.
    """

    close_asked = Signal()

    def __init__(self, app: QApplication, parts: Parts) -> None:
        super().__init__()
        self._app = app
        self._settings = parts.settings
        self._messages = parts.messages
        self._tasks = tasks = parts.tasks
        self._cursor = cursor = parts.cursor
        self._browse = browse = parts.browse
        self._run = run = parts.run
        self.window = parts.window
        self.events = parts.events
        self.sessions = parts.sessions
        bench = self.window.workbench
        commits = ManualEvents(parts.agents, browse, run, tasks, parts.messages)
        self._state_edits = StateEditController(cursor, browse, commits, self)
        self._stream = StreamController(browse, cursor, tasks, parts.messages, parts.settings, self.events, bench.stream, bench.filter_bar)
        LiveEventEvictor(browse, tasks, self.events, self)
        ScrollMarks(browse, run, self._stream, tasks, self.events, bench.stream.table.bar)
        SavedFilterController(cursor, parts.settings, bench.filter_bar.saved)
        bench.detail.filter_asked.connect(bench.filter_bar.set_text)
        TimelineController(cursor, browse, self.events, bench.timeline)
        ArtifactController(browse, tasks, parts.messages, bench.detail)
        RequestController(run.requests, browse, tasks, bench.detail)
        FilesController(parts, self)
        PinController(cursor, parts.settings, bench.detail.state)
        self._status = WindowStatus(parts)
        self._opening = OpeningController(parts, self._status, self)
        AgentChanges(parts, self)
        self.foreign_database = ForeignDatabaseController(self.window, self._opening, parts.messages, tasks, self)
        taking_over = WriteAccess(parts, self._status, self)
        resume = ResumeController(parts, taking_over, WorkingCopy(parts, self), self)
        PendingController(parts, resume, commits, self)
        forks = ForkController(parts, self._status, self)
        ForkOriginController(parts, CompareController(parts, self._stream, self), self)
        WritersController(parts, self._stream, self)
        RewindController(parts, forks, commits, self._status, self)
        self._commands = RunCommands(parts, self._status, resume, forks, self)
        self._deletion = DeletionController(parts, self)
        self.search = SearchController(parts, self._stream, self)
        self.tail = LiveTail(self.window, self.events, self.sessions, parts.messages, tasks, cursor, browse, run, self)
        self.database_page = DatabasePageController(parts, self.tail, self)
        SizesController(self.sessions, tasks, browse, self)
        self._connect_signals()
        self._inner = ToolAgentEvents(
            run, browse, cursor, self.events, bench.stream, bench.detail
        )  # it adds to what the stream shows by then
        self._status.show_run()

    @property
    def filtering(self) -> bool:
        """Whether the stream's filter is still looking for hits."""
        return self._stream.filtering

    async def open_paths(self, paths: list[str]) -> None:
        """See `OpeningController.open_paths`."""
        await self._opening.open_paths(paths)

    # wiring

    def _connect_signals(self) -> None:
        window, bench, commands = self.window, self.window.workbench, self.window.commands
        window.close_asked.connect(self.close_asked)
        commands.reload.triggered.connect(self._on_reload)
        window.page_changed.connect(self._status.show_run)
        commands.close_database.triggered.connect(self._on_close_database)
        for choice, command in commands.themes.items():
            command.setChecked(choice == theme.current().choice)
            command.setData(choice)
            command.triggered.connect(self._on_theme_chosen)
        bench.composer.draft_changed.connect(self._status.show_run)
        bench.detail.state_edit.edit_asked.connect(self._state_edits.edit)
        bench.detail.state_edit.undo_asked.connect(self._state_edits.undo)
        bench.problem.retry.connect(self._on_reload)
        bench.problem.given_up.connect(self._on_session_given_up)
        bench.stream.event_selected.connect(self._cursor.select_event)
        bench.stream.follow_changed.connect(self._status.show_live)
        bench.sessions.session_selected.connect(self._on_session_chosen)
        bench.pending.session_asked.connect(self._cursor.select_session)
        bench.pending.session_asked.connect(self._status.show_run)
        self._messages.posted.connect(self._on_message)
        self._browse.database_listed.connect(self._on_database_listed)
        self._browse.database_closed.connect(self._on_database_closed)
        self._browse.session_changed_in_list.connect(self._on_session_changed_in_list)
        self._browse.pending_found.connect(self._on_pending_found)
        self._browse.much_pending_found.connect(self._on_much_pending_found)
        self._browse.session_loading.connect(self._on_session_loading)
        self._browse.session_loaded.connect(self._on_session_loaded)
        self._browse.session_failed.connect(self._on_session_failed)
        self._browse.events_added.connect(self._on_events_added)
        self._browse.state_computed.connect(self._on_state_computed)
        self.events.shown_changed.connect(self._status.show_position)
        self._browse.past_progress.connect(self._on_past_progress)
        self._browse.invocations_found.connect(self._on_invocations_found)
        bench.detail.state.tree.writer_asked.connect(self._stream.go_to)
        commands.next_hit.triggered.connect(self._stream.next_hit)
        commands.previous_hit.triggered.connect(self._stream.previous_hit)
        commands.compare_states.triggered.connect(self._stream.compare_states)
        bench.timeline.event_chosen.connect(self._stream.go_to)
        bench.detail.delta.comparing_ended.connect(self._stream.end_comparing)
        commands.matching_call.triggered.connect(self._stream.go_to_other_half)
        self._run.changed.connect(self._status.show_run)
        self._run.changed.connect(self._show_state_editing)
        self._run.hold_changed.connect(self._stream.settle)
        self._run.beside_changed.connect(self._status.show_run)
        self._run.run_started.connect(self._on_run_started)
        self._run.run_ended.connect(self._on_run_ended)
        self._run.partial_arrived.connect(self._on_partial)

    # what is asked for

    def _on_reload(self) -> None:
        self._tasks.spawn(self._browse.reload(), "Reading again")

    def _on_close_database(self) -> None:
        selected = self._cursor.session
        if selected is not None:
            self._tasks.spawn(self._browse.close_database(selected.database), "Closing the database")

    def _on_session_given_up(self) -> None:
        self._cursor.select_session(None)

    def _on_session_chosen(self, database: str, key: SessionKey) -> None:
        self._cursor.select_session(SessionAddress(database, key))

    def _on_theme_chosen(self) -> None:
        choice = self.window.commands.themes
        chosen = next(name for name, command in choice.items() if command.isChecked())
        self._settings.theme = chosen
        theme.apply(self._app, chosen)  # type: ignore[arg-type]  # one of its three words

    # what happened

    def _on_message(self, message: Message) -> None:
        self.window.message_bar.show_message(message)
        self.window.workbench.log.add(message)

    def _on_database_listed(self, source: Source, sessions: list[SessionSummary]) -> None:
        self.sessions.set_database(source.target, database_info(source), sessions)
        self._status.show_marks(source)
        self._status.show_open()
        if not sessions:
            self.window.workbench.sessions.set_empty_text("No sessions", "Send a message to an agent: a session is made for it.")

    def _on_database_closed(self, target: str) -> None:
        self.sessions.remove_database(target)
        self._status.show_open()
        self._status.pending = {address: items for address, items in self._status.pending.items() if address.database != target}
        self._status.show_pending()

    def _on_session_changed_in_list(self, source: Source, summary: SessionSummary) -> None:
        self.sessions.update_session(source.target, summary)

    def _on_pending_found(self, address: SessionAddress, items: list[PendingItem]) -> None:
        self._take_pending(address, items)
        self._status.show_pending_soon()

    def _on_much_pending_found(self, source: Source, found: dict[SessionKey, list[PendingItem]]) -> None:
        for key, items in found.items():
            self._take_pending(SessionAddress(source.target, key), items)
        self._status.show_pending()

    def _take_pending(self, address: SessionAddress, items: list[PendingItem]) -> None:
        self._status.pending[address] = items
        running = address == self._run.address and self._run.phase != "idle"
        if not running:
            self.sessions.set_mark(address.database, address.key, mark_of(items))

    def _on_session_loading(self, address: SessionAddress | None) -> None:
        bench = self.window.workbench
        bench.show_stream()
        bench.resume_hint.hide()
        bench.writing_hint.hide()
        self._stream.clear()
        self._status.show_pending()
        if address is None:
            bench.sessions.select_none()
            bench.stream.set_empty_text("No session is selected", "Choose one on the left, or send a message to an agent.")
            self.window.status.show_database("", "")
            self.window.status.show_session("")
        else:
            bench.stream.set_empty_text("Reading the session…", address.key.session_id)
            bench.sessions.select_session(address.database, address.key)
            source = self._browse.source(address.database)
            if source is not None:
                self._status.show_source(source)
            self.window.status.show_session(address.key.session_id)
        title = f"{address.key.session_id} · {address.key.app_name} · " if address else ""
        self.window.setWindowTitle(f"{visible(title)}Agent Inspector")
        self._status.show_position()

    def _on_session_loaded(self, session: SessionDocument) -> None:
        bench = self.window.workbench
        bench.stream.set_empty_text("This session has no events yet", "Write a message below.")
        self._stream.show(session)
        if session.address == self._run.address and self._run.phase != "idle" and session.events:
            last = session.events.cached(len(session.events) - 1)
            if last is not None:
                self.events.set_statuses({last.invocation_id: "running"})
        if self._nothing_has_focus():
            bench.stream.table.setFocus()
        self._status.show_session_hints()
        self._status.show_run()

    def _on_session_failed(self, address: SessionAddress, error: Exception) -> None:
        text = str(error) if isinstance(error, KnownError) else error_text(error)
        details = None if isinstance(error, KnownError) else format_traceback(error)
        self.window.workbench.show_problem(f"Session {address.key.session_id} could not be read", text, details)

    def _on_events_added(self, added: list[Event]) -> None:
        stream = self.window.workbench.stream
        following = stream.following
        if following and len(added) >= MANY_AT_ONCE:
            stream.table.paint_later()
        self.events.append_events(added)
        self.events.set_statuses({event.invocation_id: "running" for event in added})
        if following:
            self._stream.follow(len(added))
        self._status.show_position()

    def _on_partial(self, address: SessionAddress, event: Event) -> None:
        if address == self._cursor.session:
            self.events.show_partial(event)

    def _on_state_computed(self, computed: StateAtEvent | None) -> None:
        detail, session = self.window.workbench.detail, self._browse.session
        if computed is None:
            detail.clear("No event is selected", "Select one in the stream to see its content, the state after it and its JSON.")
        else:
            detail.show_event(computed.index, computed.event)
            past = computed.past
            if past is not None:
                detail.set_state(past.state, past.changes, past.writers, computed.compared, past.changed_since)
            elif session is not None and session.long is not None and session.long.history is None:
                detail.set_state(None, [])
        self._show_state_editing()
        self._status.show_position()

    def _show_state_editing(self) -> None:
        """Say whether state can be edited, and what the held agent has written without an event."""
        detail, session, index = self.window.workbench.detail, self._browse.session, self._cursor.event_index
        detail.state_edit.set_blocked(self._state_edits.blocked())
        detail.state_edit.set_undo(self._state_edits.selected_edit() is not None)
        at_end = session is not None and session.address == self._run.address and index == len(session.events) - 1
        detail.state.model.set_uncommitted(self._run.uncommitted if at_end else {})

    def _on_past_progress(self, read: int, count: int) -> None:
        self.window.workbench.detail.state.set_empty_text(
            f"Reading the past: {read / max(count, 1):.0%}", "The state after any event is known once every change has been read."
        )

    def _on_invocations_found(self, _session: SessionDocument) -> None:
        self._status.show_session_hints()
        self._status.show_run()

    def _on_run_started(self, address: SessionAddress) -> None:
        bench = self.window.workbench
        bench.composer.clear()
        bench.resume_hint.hide()
        bench.stream.set_following(True)
        self._status.show_pending()

    def _on_run_ended(self, end: RunEnd) -> None:
        if end.address == self._cursor.session and self._browse.session is not None:
            self.events.clear_partials()
            self.events.set_waiting(None)
            self.events.set_held(None)
            self.events.set_statuses({entry.invocation_id: entry.status for entry in self._browse.session.invocations})
        self.sessions.set_mark(end.address.database, end.address.key, mark_of(self._status.pending.get(end.address, [])))
        if any(item.kind != "interrupted" for item in self._status.pending.get(end.address, [])):
            self.window.workbench.raise_pane("pending")
        self._status.show_session_hints()
        self._status.show_pending()

    def _nothing_has_focus(self) -> bool:
        """Return whether the keyboard belongs to no pane, as after a start; a pane that has it keeps it."""
        focus = self.window.focusWidget()
        bar = self.window.run_bar
        return focus is None or not focus.isVisible() or focus is bar or bar.isAncestorOf(focus)
