"""Why an action on the run or the session is impossible now, in sentences for tooltips."""

from __future__ import annotations

from typing import Literal

from inspector_app.documents.open_session import OpenSession
from inspector_app.documents.sources import Source
from inspector_app.workspace.current_agent import CurrentAgent
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.open_databases import OpenDatabases
from runtime.history.invocations import Invocation

Phase = Literal["idle", "running", "paused", "stopping"]
Action = Literal["send", "fork", "new_session", "resume", "respond", "continue", "pause", "step", "step_on", "stop"]


class ActionAvailability:
    """Which actions are possible now, and why the others are not.

    Args:
        cursor: the selection.
        agents: the loaded agent.
        databases: where a new session may be written.
        current: the displayed session.
    """

    def __init__(self, cursor: Cursor, agents: CurrentAgent, databases: OpenDatabases, current: CurrentSession) -> None:
        self._cursor = cursor
        self._agents = agents
        self._databases = databases
        self._current = current

    def reason_blocked(self, action: Action, phase: Phase, invocation_id: str | None = None, attached: str = "") -> str | None:
        """Return why an action is impossible now, as a sentence; None if it is possible.

        Args:
            action: the action.
            phase: what the run is doing.
            invocation_id: the invocation to resume; None: that of `resumable`.
            attached: the app that the window is attached to; empty if there is none.
        """
        if action in ("pause", "stop", "continue", "step_on"):
            return _blocked_control(action, phase)
        if phase == "paused" and action == "step":
            return None
        if attached:
            return f"{attached} drives its own runs. To use this window otherwise, stop watching it first (Shift+F5)."
        if phase != "idle":
            return "The agent is running: pause it first (F6)." if action == "step" else "A run is in progress: stop it first (Shift+F5)."
        if self._agents.busy:
            return self._agents.busy
        if self._current.session is not None and self._current.session.source.read_only_because:
            return self._current.session.source.read_only_because
        if self._agents.loaded is None:
            selected = self._cursor.session
            return f"To continue here, open the agent of {selected.key.app_name} (Ctrl+O)." if selected else "Open an agent first (Ctrl+O)."
        if action == "new_session":
            return None if self._new_session_source_allows() else "The database is open read-only: allow writing first."
        session = self._current.session
        if self._cursor.session is not None and session is None:
            return "The session is still being read."
        if session is None:
            return None if action == "send" else "No session is selected."
        return self._blocked_session(session, action, invocation_id)

    def resumable(self, invocation_id: str | None = None) -> Invocation | None:
        """Return the invocation that Resume would continue: the selected event's if it was interrupted, else the newest interrupted one.

        Args:
            invocation_id: return this invocation, if it is unfinished.
        """
        session = self._current.session
        if session is None:
            return None
        if invocation_id is not None:
            unfinished = (entry for entry in session.invocations if entry.is_open)
            return next((entry for entry in unfinished if entry.invocation_id == invocation_id), None)
        interrupted = [invocation for invocation in session.invocations if invocation.can_be_resumed]
        index = self._cursor.event_index
        if index is not None and index < len(session.events):
            selected = session.events.cached(index, request=False)
            for invocation in interrupted:
                if selected is not None and invocation.invocation_id == selected.invocation_id:
                    return invocation
        return interrupted[-1] if interrupted and not interrupted[-1].is_past else None

    def unfinished(self) -> Invocation | None:
        """Return the newest invocation of the displayed session if it is interrupted, or paused for an answer; earlier ones are past."""
        session = self._current.session
        found = [entry for entry in session.invocations if entry.is_open and not entry.is_past] if session is not None else []
        return found[-1] if found else None

    def new_session_source(self) -> Source | None:
        """Return the database of a new session: that of the agent's own server, else the selected session's, else the only writable one.

        Returns:
            None if there is no such database.
        """
        if self._agents.server:
            return self._databases.source(self._agents.server)
        if self._cursor.session is not None:
            return self._databases.source(self._cursor.session.database)
        writable = [source for source in self._databases.sources if source.writing_allowed and not source.is_unsaved]
        return writable[0] if len(writable) == 1 else None

    def _new_session_source_allows(self) -> bool:
        source = self.new_session_source()
        return source is None or source.writing_allowed

    def _blocked_session(self, session: OpenSession, action: Action, invocation_id: str | None = None) -> str | None:
        loaded = self._agents.loaded
        assert loaded is not None
        app_name = session.address.key.app_name
        if app_name != loaded.name:
            return f"The loaded agent is {loaded.name}; this session belongs to {app_name}. Open {app_name}'s agent, or a new session."
        if not session.source.writing_allowed and action not in ("resume", "step", "fork"):  # these ask where to write
            return f"{session.source.title} is open read-only: allow writing, or work on a copy."
        if action in ("send", "respond", "fork"):
            return None
        if action == "step":
            return self._blocked_session(session, "resume") and "Nothing to step through: write a message first."
        return self._blocked_resume(invocation_id)

    def _blocked_resume(self, invocation_id: str | None) -> str | None:
        loaded = self._agents.loaded
        assert loaded is not None
        if self.resumable(invocation_id) is None:
            waiting = self._current.session is not None and any(entry.status == "paused" for entry in self._current.session.invocations)
            return "The invocation waits for an answer: see Pending." if waiting else "Nothing was interrupted in this session."
        return loaded.why_not("resume")


def _blocked_control(action: Action, phase: Phase) -> str | None:
    if action in ("continue", "step_on"):
        return None if phase == "paused" else "The agent is not held."
    if phase == "idle":
        return "Nothing is running."
    if action == "pause" and phase == "paused":
        return "The agent is held already."
    return "The run is being stopped." if phase == "stopping" else None
