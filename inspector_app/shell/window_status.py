"""The state of run and session in the window: which commands are possible, and the text of the bars."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.sources import Source, database_info
from inspector_app.presentation.costs import cost_text
from inspector_app.presentation.event_summary import describe
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.values import visible
from inspector_app.running.hold_text import words_for
from inspector_app.running.view_data import HoldText
from inspector_app.shell.main_window import MainWindow
from inspector_app.stream.event_table_model import EventTableModel
from inspector_app.stream.stream_table import PAINT_EACH_MS
from inspector_app.widgets.actions import allow
from inspector_app.workspace.action_availability import Action
from inspector_app.workspace.current_agent import CurrentAgent
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.session_costs import SessionCosts

if TYPE_CHECKING:
    from runtime.events.event import Event

MANY_AT_ONCE = 20  # events in one frame after which the counts may be shown a moment later


class WindowStatus(QObject):
    """Updates commands, composer, tool bar and status bar whenever one of the owners reports a change.

    Args:
        cursor: the selection.
        agents: the loaded agent.
        databases: the open databases.
        current: the displayed session.
        run: the run.
        events: the model behind the stream, which counts events and tokens.
        costs: the session's costs.
        window: the window.
        selected_event: returns the selected event.
        is_drafting_fork: returns whether the next message begins a fork, which needs no write access to this session.
    """

    def __init__(
        self,
        cursor: Cursor,
        agents: CurrentAgent,
        databases: OpenDatabases,
        current: CurrentSession,
        run: CurrentRun,
        events: EventTableModel,
        costs: SessionCosts,
        window: MainWindow,
        *,
        selected_event: Callable[[], Event | None],
        is_drafting_fork: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._cursor = cursor
        self._agents = agents
        self._databases = databases
        self._current = current
        self._run = run
        self._events = events
        self._costs = costs
        self._window = window
        self._selected_event = selected_event
        self._is_drafting_fork = is_drafting_fork
        self._counted_at = 0.0
        self._counting = QTimer(self)
        self._counting.setSingleShot(True)
        self._counting.timeout.connect(self._show_position)
        self._connect_signals()
        self._show_run()

    def _connect_signals(self) -> None:
        window, bench, current, databases = self._window, self._window.workbench, self._current, self._databases
        for signal in (
            window.page_changed,
            bench.composer.draft_changed,
            bench.pending.session_requested,
            bench.preflight.shown_changed,
            current.session_loaded,
            current.invocations_found,
            databases.writing_allowed,
            self._agents.agent_loaded,
            self._run.changed,
            self._run.beside_changed,
            self._run.attached_changed,
        ):
            signal.connect(self._show_run)
        databases.database_listed.connect(self._show_open)
        databases.database_closed.connect(self._show_open)
        databases.writing_allowed.connect(self._show_source)
        current.session_loading.connect(self._on_session_loading)
        for signal in (current.session_loading, current.state_computed, self._events.shown_changed):
            signal.connect(self._show_position)
        current.state_computed.connect(self._show_event_commands)
        current.events_added.connect(self._on_events_added)
        bench.stream.follow_changed.connect(self._show_live)
        self._costs.changed.connect(self._show_tokens)

    def on_drafting_changed(self) -> None:
        """Update what a message does now."""
        self._show_run()

    def _show_open(self) -> None:
        """Enable the panes' commands once anything is open; on the start page they would lose the keyboard."""
        anything = self._databases.sources or self._agents.loaded is not None
        for action in self._window.pane_actions:
            allow(action, None if anything else "Open an agent or a database first (Ctrl+O).")
        unsaved = any(source.is_unsaved for source in self._databases.sources)
        save = self._window.commands.save_as
        allow(save, None if unsaved else "All sessions are in databases.", "Puts unsaved sessions into a database of yours")

    def _show_run(self) -> None:
        """Update the commands, the composer and the text about the run."""
        self._show_open()
        self._show_run_commands()
        self._show_event_commands()
        self._show_session_commands()
        self._show_composer()
        self._show_pending_commands()
        self._show_phase()

    def _show_run_commands(self) -> None:
        run, commands = self._run, self._window.commands
        sending, resuming = self._blocked_sending(), self._blocked_resume(None)
        draft = bool(self._window.workbench.composer.text)
        paused = run.phase == "paused"
        allow(commands.run, None if paused else sending or (None if draft else "Write a message first (Ctrl+L)."), "")
        allow(commands.pause, self._blocked("pause"), "Hold the agent at its next event")
        step = None if draft and sending is None else self._blocked("step")
        allow(commands.step, step, "Continue to the next event" if paused else "Start, and hold the agent at its first event")
        on = self._blocked("step_on")
        agent = (run.hold.agent if run.hold else None) or "the agent"
        allow(commands.step_over, on, f"To the next event of {agent} itself: calls inside it run through")
        allow(commands.step_into, on, "To the next model call, tool call or sub-agent, before it is made")
        allow(commands.step_out, on, f"To the end of {agent}")
        commands.stop.setText("Stop watching" if run.attached is not None else "Stop")
        stop = "Leave the app; it continues without the window" if run.attached is not None else ""
        allow(commands.stop, self._blocked("stop"), stop or "End the run; it can be resumed if the agent is resumable")
        busy = None if run.phase == "idle" else run.blocked("new_session")
        allow(commands.attach, busy, "Watch, hold and step an app that is running on this machine")
        allow(commands.resume, resuming, "Continue the interrupted invocation from its last checkpoint")
        allow(commands.new_session, self._blocked("new_session"), "Start over in an empty session")

    def _show_event_commands(self) -> None:
        """Update the commands on the selected event; the others do not depend on which event is selected."""
        commands, chosen, session = self._window.commands, self._selected_event(), self._current.session
        to_kind = f"Runs to the next event that is: {describe(chosen).kind}" if chosen else ""
        allow(commands.run_to, self._blocked("step_on") or (None if chosen else "Select an event of the kind first."), to_kind)
        allow(commands.toggle_breakpoint, None if chosen else "Select an event to make the condition from.", "Stop at events like this one")
        no_event = None if chosen else "Select an event first."
        own = session.source.read_only_because if session is not None else ""
        allow(commands.fork, no_event or own or None, "Continue from here in a new session; this one does not change")
        allow(commands.rewind, no_event or own or None, "Take back this invocation and all after it; says first what that undoes")

    def _show_session_commands(self) -> None:
        run, commands, session = self._run, self._window.commands, self._current.session
        read_only = session is not None and not session.source.writing_allowed
        own = session.source.read_only_because if session is not None else ""
        writable = None if read_only else "The session's database can be written already." if session else "No session is selected."
        writable = own or writable
        is_refused = session is not None and not session.source.can_write
        allow(commands.allow_writing, writable or ("This layout is read-only here: work on a copy." if is_refused else None))
        no_copy = "It is on a server; only files are copied." if session is not None and not session.source.can_copy else None
        allow(commands.work_on_copy, writable or no_copy, "The original does not change")
        attached_here = run.attached is not None and session is not None and session.source is run.attached.source
        running_here = run.phase != "idle" and self._cursor.session is not None and run.address == self._cursor.session
        closing = "The agent is running in it: stop it first (Shift+F5)." if running_here else None
        is_own = session is not None and session.source.is_unsaved and not session.source.is_left
        closing = closing or ("Its sessions are not saved: save them first (Ctrl+S), or delete them." if is_own else None)
        closing = "The window watches its app: stop watching first (Shift+F5)." if attached_here else closing
        allow(commands.close_database, closing if self._cursor.session else "No session is selected.", "Nothing in it is changed")

    def _show_composer(self) -> None:
        loaded = self._agents.loaded
        composer = self._window.workbench.composer
        composer.set_blocked(self._blocked_sending(), loaded.name if loaded else "", self._instead_of_a_message())

    def _show_pending_commands(self) -> None:
        pending = self._window.workbench.pending
        if pending.selected_session in (None, self._cursor.session):
            pending.set_blocked(self._blocked("respond"), self._blocked_resume(pending.invocation_id))
        else:  # its session is displayed first; what blocks an answer there is known then
            busy = None if self._run.phase == "idle" else "A run is in progress: stop it first (Shift+F5)."
            pending.set_blocked(busy, busy)

    def _blocked_resume(self, invocation_id: str | None) -> str | None:
        """Return why an invocation cannot be resumed; while the card asks, its button is the only one that resumes."""
        asks = self._window.workbench.preflight.shown is not None
        return self._blocked("resume", invocation_id) or ("Answer the question below the events first." if asks else None)

    def _blocked_sending(self) -> str | None:
        return self._blocked("fork" if self._is_drafting_fork() else "send")

    def _blocked(self, action: Action, invocation_id: str | None = None) -> str | None:
        """Return why an action is impossible now; None if it is possible. Nothing starts in a session that another database covers."""
        if self._window.page is self._window.foreign_database and self._run.phase == "idle":
            return "Close the displayed database first (Esc)."
        return self._run.blocked(action, invocation_id)

    def _instead_of_a_message(self) -> str:
        """Return what the composer suggests before the next message; empty if nothing."""
        if self._run.attached is not None:
            name = self._run.attached.app.app.name
            if self._run.phase == "paused":
                return f"{name} is held: F5 continues, F10 steps to the next event, Shift+F5 stops watching."
            return f"{name} gets its messages elsewhere: F6 holds it, Shift+F5 stops watching."
        if self._run.phase == "paused":
            return "The run is held: F5 continues, F10 steps to the next event, Shift+F5 stops it."
        if self._run.phase != "idle":
            return "The agent is running: F6 holds it, Shift+F5 stops it."
        if self._idle_words()[0] == "waiting":
            return "The agent waits: answer it in Pending, or begin another invocation here."
        return ""

    def _show_phase(self) -> None:
        run = self._run
        phase, text, detail = str(run.phase), str(run.phase), ""
        words: HoldText | None = None
        if run.phase == "paused" and run.hold is not None:
            held_here = run.address == self._cursor.session and run.held is not None
            place = self._current.position_of(run.held.id) if held_here and run.held is not None else None
            text = "paused" if place is None else f"paused at {place + 1:,}"
            words = words_for(run.hold, run.held_by, run.waiting, run.runs_on)
            detail = words.place
        elif run.phase == "idle":
            phase, text, detail = self._idle_words()
        elif run.pausing:
            text, detail = "pausing", "held at the next event"
        elif run.is_watching and run.attached is not None:
            phase, text, detail = "watching", "watching", run.attached.app.title
        self._window.run_bar.show_state(phase, text, detail)
        self._window.status.show_run(phase, " · ".join(filter(None, (text, words.beside, words.why))) if words else text)

    def _idle_words(self) -> tuple[str, str, str]:
        """Return how the session was left: phase, text and detail for the tool bar."""
        session = self._current.session if self._window.session_is_in_sight else None
        open_ones = [entry for entry in session.invocations if entry.status in ("paused", "interrupted")] if session else []
        if not open_ones:
            return "idle", "idle", ""
        last = open_ones[-1]
        word = "interrupted" if last.status == "interrupted" else "waiting"
        return word, word, last.reason.removeprefix("waits ")

    def _on_session_loading(self, address: SessionAddress | None) -> None:
        source = self._databases.source(address.database) if address is not None else None
        if source is not None:
            self._show_source(source)
        elif address is None:
            self._window.status.show_database("", "")
        self._window.status.show_session(address.key.session_id if address is not None else "")
        title = f"{address.key.session_id} · {address.key.app_name} · " if address else ""
        self._window.setWindowTitle(f"{visible(title)}Agent Inspector")

    def _show_source(self, source: Source) -> None:
        info = database_info(source)
        self._window.status.show_database(info.title, info.badge)

    def _on_events_added(self, added: Sequence[Event]) -> None:
        """Update the counts. While many events arrive, do it as often as rows are painted: it takes as long as they do."""
        since = (time.perf_counter() - self._counted_at) * 1000
        if len(added) < MANY_AT_ONCE or since >= PAINT_EACH_MS:
            self._show_position()
        elif not self._counting.isActive():
            self._counting.start(int(PAINT_EACH_MS - since) + 1)

    def _show_position(self) -> None:
        """Show the selected event's place, and the counts of the session."""
        self._counting.stop()
        self._counted_at = time.perf_counter()
        shown = self._events.shown_count if self._events.is_filtered else None
        self._window.status.show_position(self._cursor.event_index, self._events.event_count, shown)
        self._show_tokens()
        self._show_live(self._window.workbench.stream.following)

    def _show_tokens(self) -> None:
        total = self._costs.total
        cost = cost_text(total) if total is not None and total.calls else ""
        self._window.status.show_tokens(self._events.total_tokens, cost, f"Prices: {Prices.source()}" if cost else "")

    def _show_live(self, following: bool) -> None:
        self._window.status.show_live(following if self._events.event_count else None)
