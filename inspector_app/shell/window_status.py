"""What the window says about the run and the session: which commands there are, the hints, the words in the bars."""

from __future__ import annotations

import heapq

from PySide6.QtCore import QTimer

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.sources import Source, database_info
from inspector_app.presentation.event_summary import describe
from inspector_app.presentation.values import plain_tooltip
from inspector_app.running.hold_text import words_for
from inspector_app.running.pending_pane import PendingRow
from inspector_app.shell.parts import Parts
from inspector_app.widgets.actions import allow
from inspector_app.workspace.action_availability import Action
from inspector_app.workspace.session_catalog import mark_of
from runtime.events.event import Event
from runtime.history.invocations import PendingItem

MOST_LISTED = 2_000
"""Lines of Pending. Who has more of them looks for a session on the left."""

_FEW = 100
"""Lines of Pending that are listed anew each time something is found."""


class WindowStatus:
    """Works out, each time something happened, what can be done now and what to say about it.

    Attributes:
        pending: what waits for a person, by session; brought up to date by whoever finds out.
        forking: the next message begins a fork, which needs no writing here.
    """

    def __init__(self, parts: Parts) -> None:
        self.window = parts.window
        self.events = parts.events
        self.sessions = parts.sessions
        self.pending: dict[SessionAddress, list[PendingItem]] = {}
        self.forking = False
        self._cursor = parts.cursor
        self._agents = parts.agents
        self._browse = parts.browse
        self._breakpoints = parts.breakpoints
        self._run = parts.run
        self._pending_timer = QTimer(self.window)
        self._pending_timer.setSingleShot(True)
        self._pending_timer.setInterval(250)
        self._pending_timer.timeout.connect(self.show_pending)
        parts.sessions.forks_changed.connect(self.show_pending_soon)  # the sessions' names are others

    def show_open(self) -> None:
        """Let what goes to a pane be asked for as soon as anything is open: on the start page alone the keyboard would be lost."""
        anything = self._browse.sources or self._agents.loaded is not None
        for action in self.window.pane_actions:
            allow(action, None if anything else "Open an agent or a database first (Ctrl+O).")

    def show_run(self) -> None:
        """Bring every command, the composer and the words about the run up to date."""
        self.show_open()
        run, commands, bench = self._run, self.window.commands, self.window.workbench
        sending = self._blocked("fork" if self.forking else "send")
        draft = bool(bench.composer.text)
        paused = run.phase == "paused"
        allow(commands.run, None if paused else sending or (None if draft else "Write a message first (Ctrl+L)."), "")
        allow(commands.pause, self._blocked("pause"), "Hold the agent at its next event")
        step = None if draft and sending is None else self._blocked("step")
        allow(commands.step, step, "Go on to the next event" if paused else "Start, and hold the agent at its first event")
        on = self._blocked("step_on")
        agent = (run.hold.agent if run.hold else None) or "the agent"
        allow(commands.step_over, on, f"To the next event of {agent} itself: what it calls runs through")
        allow(commands.step_into, on, "To the next model call, tool call or sub-agent, before it is made")
        allow(commands.step_out, on, f"To the end of {agent}")
        chosen = self.selected_event()
        to_kind = f"Runs to the next event that is: {describe(chosen).kind}" if chosen else ""
        allow(commands.run_to, on or (None if chosen else "Select an event of the kind first."), to_kind)
        allow(commands.toggle_breakpoint, None if chosen else "Select an event to make the condition from.", "Stop at events like this one")
        no_event = None if chosen else "Select an event first."
        allow(commands.fork, no_event, "Go on from here in a new session; this one stays as it is")
        allow(commands.rewind, no_event, "Take back this invocation and all after it; says first what that undoes")
        allow(commands.stop, self._blocked("stop"), "End the run; it can be resumed if the agent is resumable")
        allow(commands.resume, self._blocked("resume"), "Go on with the interrupted invocation, from its last checkpoint")
        allow(commands.new_session, self._blocked("new_session"), "Start over in an empty session")
        session = self._browse.session
        read_only = session is not None and not session.source.writing_allowed
        writable = None if read_only else "The session's database can be written already." if session else "No session is selected."
        old_layout = "This layout is only read: work on a copy." if session is not None and not session.source.can_write else None
        allow(commands.allow_writing, writable or old_layout)
        no_copy = "It is on a server; only files are copied." if session is not None and not session.source.can_copy else None
        allow(commands.work_on_copy, writable or no_copy, "The original stays as it is")
        running_here = run.phase != "idle" and self._cursor.session is not None and run.address == self._cursor.session
        closing = "The agent is running in it: stop it first (Shift+F5)." if running_here else None
        allow(commands.close_database, closing if self._cursor.session else "No session is selected.", "Nothing in it is changed")
        self.window.run_bar.suggest_resume(self._blocked("resume") is None)
        loaded = self._agents.loaded
        bench.composer.set_blocked(sending, loaded.name if loaded else "", self._instead_of_a_message())
        if bench.pending.selected_session in (None, self._cursor.session):
            bench.pending.set_blocked(self._blocked("respond"), self._blocked("resume", bench.pending.invocation_id))
        else:  # its session is shown first, and then it is seen what stands in the way there
            busy = None if run.phase == "idle" else "A run is going on: stop it first (Shift+F5)."
            bench.pending.set_blocked(busy, busy)
        self._show_phase()

    def _blocked(self, action: Action, invocation_id: str | None = None) -> str | None:
        """Return why something cannot be done now; None if it can. Nothing begins in a session that another database hides."""
        if self.window.page is self.window.foreign_database and self._run.phase == "idle":
            return "Close the database that is on show first (Esc)."
        return self._run.blocked(action, invocation_id)

    def _instead_of_a_message(self) -> str:
        """Return what the composer says to do before the next message; empty if there is nothing."""
        if self._run.phase == "paused":
            return "The run is held: F5 goes on, F10 goes on to the next event, Shift+F5 stops it."
        if self._run.phase != "idle":
            return "A run is going on: F6 holds it, Shift+F5 stops it."
        if self._idle_words()[0] == "waiting":
            return "The agent waits: answer it in Pending, or begin another invocation here."
        return ""

    def selected_event(self) -> Event | None:
        """Return the selected event, if it is here."""
        index = self._cursor.event_index
        if index is None:
            return self.window.workbench.stream.selected_tool_agent_event
        if self._browse.session is None or index >= self.events.event_count:
            return None
        return self.events.event_at(row) if (row := self.events.row_of_index(index)) is not None else None

    def _show_phase(self) -> None:
        run = self._run
        held, hold = run.held, run.hold
        here = run.address == self._cursor.session
        phase, text, detail, words = str(run.phase), str(run.phase), "", None
        if run.phase == "paused" and hold is not None:
            place = self._browse.position_of(held.id) if here and held is not None else None
            text = "paused" if place is None else f"paused at {place + 1:,}"
            words = words_for(hold, self._breakpoints.get(hold.breakpoint), run.waiting, run.runs_on)
            detail = words.place
        elif run.phase == "idle":
            phase, text, detail = self._idle_words()
        elif run.pausing:
            text, detail = "pausing", "held at the next event"
        self.window.run_bar.show_state(phase, text, detail)
        self.window.status.show_run(phase, " · ".join(filter(None, (text, words.beside, words.why))) if words else text)
        if run.address is not None and run.phase != "idle":
            self.sessions.set_mark(run.address.database, run.address.key, "paused" if run.phase == "paused" else "running")
        if here:
            at = hold.event if hold is not None and hold.inner else held
            self.events.set_held(at.id if at is not None else None)
            running = "running; it is held at its next event" if run.pausing else "running…"
            held_text = f"held: {words.place}" if words else ""
            waiting = {"running": running, "paused": held_text, "stopping": "stopping…"}.get(run.phase)
            author = (hold.agent if hold is not None else None) or (held.author if held is not None else "")
            self.events.set_waiting(waiting, author)
            if held is not None and run.phase in ("running", "paused"):
                self.events.set_statuses({held.invocation_id: "held" if run.phase == "paused" else "running"})

    def _idle_words(self) -> tuple[str, str, str]:
        """Return how the session was left, for `show_state`."""
        session = self._browse.session if self.window.session_is_in_sight else None
        open_ones = [entry for entry in session.invocations if entry.status in ("paused", "interrupted")] if session else []
        if not open_ones:
            return "idle", "idle", ""
        last = open_ones[-1]
        word = "interrupted" if last.status == "interrupted" else "waiting"
        return word, word, last.reason.removeprefix("waits ")

    def show_session_hints(self) -> None:
        """Offer to resume, and to allow writing, where that is the next thing to do."""
        bench = self.window.workbench
        session = self._browse.session
        bench.writing_hint.hide()
        bench.resume_hint.hide()
        if session is None:
            return
        if not session.source.writing_allowed:
            bench.writing_hint.suggest(
                f"{session.source.title} was written by google-adk and is open read only."
                if session.source.can_write
                else f"{session.source.title} has the format of an old google-adk (v0): it can be read, or worked on in a copy.",
                "Allow writing… (backup)" if session.source.can_write else "",
                "lock",
                "accent",
                other="Work on a copy" if session.source.can_copy else "",
            )
        invocation = self._run.resumable()
        if invocation is not None and self._run.phase == "idle":
            place = session.index_of(invocation.last_event_id)
            where = f" after event {place + 1}" if place is not None else ""
            next_step = self._run.blocked("resume") or f"Resume goes on from {'its last checkpoint' if invocation.checkpoint else 'there'}."
            bench.resume_hint.suggest(f"Interrupted{where}. {next_step}", "Resume", "triangle-exclamation")
            bench.resume_hint.setToolTip(plain_tooltip(f"Invocation {invocation.invocation_id}: {invocation.reason}"))
        self._show_resume_button()

    def _show_resume_button(self) -> None:
        blocked = self._run.blocked("resume")
        button = self.window.workbench.resume_hint.button
        button.setEnabled(blocked is None)
        button.setToolTip(plain_tooltip(blocked or "Go on from the last checkpoint (Ctrl+Shift+R)"))

    def show_marks(self, source: Source) -> None:
        """Mark each session of a database with what waits in it."""
        marks = {address.key: mark_of(items) for address, items in self.pending.items() if address.database == source.target}
        self.sessions.set_marks(source.target, marks)

    def show_pending_soon(self) -> None:
        """List what waits; where it is much, and more is found every moment, a few times a second."""
        if len(self.window.workbench.pending.rows) < _FEW:
            self.show_pending()
        elif not self._pending_timer.isActive():
            self._pending_timer.start()

    def show_pending(self) -> None:
        """List what waits, the selected session's first."""
        self._pending_timer.stop()
        selected = self._cursor.session
        waiting = (address for address, items in self.pending.items() if items)
        places = heapq.nsmallest(MOST_LISTED, waiting, key=lambda address: (address != selected, address.database, address.key))
        running = self._run.address if self._run.phase != "idle" else None
        rows = [
            PendingRow(
                address,
                item,
                source.title if (source := self._browse.source(address.database)) is not None else "",
                fork.text if (fork := self.sessions.fork_info(address.database, address.key)) is not None else "",
            )
            for address in places
            for item in self.pending[address]
            if not (address == running and item.kind == "interrupted")  # it is being resumed
        ]
        resumed = [item for item in self.pending.get(running, ()) if item.kind == "interrupted"] if running is not None else []
        count = sum(map(len, self.pending.values())) - len(resumed)
        self.window.workbench.pending.set_rows(rows[:MOST_LISTED], selected)
        self.window.workbench.show_pending(count=count, listed=min(len(rows), MOST_LISTED))

    def show_source(self, source: Source) -> None:
        """Say which database the session is in."""
        info = database_info(source)
        self.window.status.show_database(info.title, info.badge)

    def show_position(self) -> None:
        """Say where in the session the selected event is."""
        shown = self.events.shown_count if self.events.is_filtered else None
        self.window.status.show_position(self._cursor.event_index, self.events.event_count, shown)
        self.window.status.show_tokens(self.events.total_tokens)
        self.show_live(self.window.workbench.stream.following)

    def show_live(self, following: bool) -> None:
        """Say whether the newest event is followed."""
        self.window.status.show_live(following if self.events.event_count else None)
