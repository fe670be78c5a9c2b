"""Which commands of a run are possible now, and what the composer says that a message will do."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from inspector_app.presentation.event_summary import describe
from inspector_app.running.commands import RunningCommands
from inspector_app.running.composer import Composer
from inspector_app.running.pending_pane import PendingPane
from inspector_app.running.preflight_card import PreflightCard
from inspector_app.widgets.actions import allow
from inspector_app.widgets.places import Places
from inspector_app.workspace.action_availability import Action
from inspector_app.workspace.workspace import Workspace


class RunAvailability(QObject):
    """Updates the commands, the composer and the pending items whenever something reports a change.

    Attributes:
        is_drafting_fork: returns whether the next message begins a fork, which needs no write access to this session.
        is_covered: returns whether a page covers the sessions, in which nothing starts.
        session_is_in_sight: returns whether the displayed page shows the open session.

    Args:
        work: the owners.
        places: reports changes, and the selected event.
        commands: the commands of a run.
        composer, pending: where messages and answers are written.
        preflight: asks before an invocation is resumed.
    """

    def __init__(
        self, work: Workspace, places: Places, commands: RunningCommands, composer: Composer, pending: PendingPane, preflight: PreflightCard
    ) -> None:
        super().__init__(composer)
        self.is_drafting_fork: Callable[[], bool] = bool
        self.is_covered: Callable[[], bool] = bool
        self.session_is_in_sight: Callable[[], bool] = bool
        self._work = work
        self._places = places
        self._commands = commands
        self._composer = composer
        self._pending = pending
        self._preflight = preflight
        for signal in (composer.draft_changed, pending.session_requested, preflight.shown_changed):
            signal.connect(places.availability_changed)
        places.availability_changed.connect(self._show)
        work.current.state_computed.connect(self._show_event_commands)

    def _show(self) -> None:
        self._show_run_commands()
        self._show_event_commands()
        loaded, watched = self._work.agents.loaded, self._work.run.attached
        to = watched.app.app.name if watched is not None else loaded.name if loaded is not None else ""
        self._composer.set_blocked(self._blocked_sending(), to, self._effect_of_a_message())
        self._show_pending_commands()

    def _show_run_commands(self) -> None:
        run, commands = self._work.run, self._commands
        sending, resuming = self._blocked_sending(), self._blocked_resume(None)
        draft = bool(self._composer.text)
        paused = run.phase == "paused"
        allow(commands.run, None if paused else sending or (None if draft else "Write a message first (Ctrl+L)."), "")
        allow(commands.pause, self._blocked("pause"), "Hold the agent at its next event")
        step = None if draft and sending is None else self._blocked("step")
        allow(commands.step, step, "Continue to the next event" if paused else "Start, and hold the agent at its first event")
        on = self._blocked("step_on")
        agent = (run.hold.agent if run.hold else None) or "the agent"
        allow(commands.step_over, on, f"To the next event of {agent} itself: calls inside it run through")
        into = None if draft and sending is None else on
        allow(commands.step_into, into, "To the next model call, tool call or sub-agent, before it is made")
        allow(commands.step_out, on, f"To the end of {agent}")
        commands.stop.setText("Stop watching" if run.attached is not None else "Stop")
        stop = "Leave the app; it continues without the window" if run.attached is not None else ""
        allow(commands.stop, self._blocked("stop"), stop or "End the run; it can be resumed if the agent is resumable")
        allow(commands.resume, resuming, "Continue the interrupted invocation from its last checkpoint")
        allow(commands.new_session, self._blocked("new_session"), "Start over in an empty session")
        allow(commands.new_session_with, self._blocked("new_session"), "Choose the id, the user and the first state of a new session")

    def _show_event_commands(self) -> None:
        """Update the commands on the selected event; the others do not depend on which event is selected."""
        commands, chosen = self._commands, self._places.selected_event()
        to_kind = f"Runs to the next event that is: {describe(chosen).kind}" if chosen else ""
        allow(commands.run_to, self._blocked("step_on") or (None if chosen else "Select an event of the kind first."), to_kind)
        allow(commands.toggle_breakpoint, None if chosen else "Select an event to make the condition from.", "Stop at events like this one")

    def _show_pending_commands(self) -> None:
        pending = self._pending
        if pending.selected_session in (None, self._work.cursor.session):
            pending.set_blocked(self._blocked("respond"), self._blocked_resume(pending.invocation_id))
        else:  # its session is displayed first; what blocks an answer there is known then
            busy = None if self._work.run.phase == "idle" else "A run is in progress: stop it first (Shift+F5)."
            pending.set_blocked(busy, busy)

    def _blocked_resume(self, invocation_id: str | None) -> str | None:
        """Return why an invocation cannot be resumed; while the card asks, its button is the only one that resumes."""
        asks = self._preflight.shown is not None
        return self._blocked("resume", invocation_id) or ("Answer the question below the events first." if asks else None)

    def _blocked_sending(self) -> str | None:
        return self._blocked("fork" if self.is_drafting_fork() else "send")

    def _blocked(self, action: Action, invocation_id: str | None = None) -> str | None:
        """Return why an action is impossible now; None if it is possible. Nothing starts in a session that another database covers."""
        if self.is_covered() and self._work.run.phase == "idle":
            return "Close the displayed database first (Esc)."
        return self._work.run.blocked(action, invocation_id)

    def _effect_of_a_message(self) -> str:
        """Return what a message will do, if that is not to continue the displayed session."""
        run = self._work.run
        if run.attached is not None:
            return "sent elsewhere, not from this window"
        if run.phase != "idle":
            return "can be sent when this run has ended"
        if self.is_drafting_fork():
            return "begins the fork"
        if self._work.agents.loaded is not None and run.message_address is None:
            return "begins a new session"
        return "begins another invocation" if self.idle_words()[0] != "idle" else ""

    def idle_words(self) -> tuple[str, str, str]:
        """Return how the session was left: phase, text and detail for the tool bar."""
        left = self._work.run.unfinished() if self.session_is_in_sight() else None
        return (left.word, left.word, left.reason) if left is not None else ("idle", "idle", "")
