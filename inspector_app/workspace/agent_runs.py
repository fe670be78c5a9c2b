"""Runs of the loaded agent without the debugger: several, one after another, each in a session of its own."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.sources import Source
from inspector_app.engines.agent_output import OutputLine
from inspector_app.engines.child_process import ChildEndedError
from inspector_app.engines.engine_choice import EnginePlan
from inspector_app.engines.protocol import Agent, Engine
from inspector_app.engines.tracebacks import traceback_of
from inspector_app.workspace.current_agent import CurrentAgent
from inspector_app.workspace.current_run import CurrentRun, record_end
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.new_sessions import NewSessions
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.written_output import WrittenOutput
from runtime.debugger.debugger import Debugger
from runtime.errors import KnownError
from runtime.sessions.session_key import SessionKey
from runtime.support.ids import new_uuid

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events.event import Event


class AgentRuns(QObject):
    """Runs the loaded agent without the debugger, while no other run is in progress.

    Args:
        agents: the loaded agent, which is in use meanwhile.
        databases: where the sessions are.
        current: lists each session after its run.
        run: the window's run; both exclude each other.
        output: receives what the agent writes.
        sessions: creates the sessions.
    """

    def __init__(
        self,
        agents: CurrentAgent,
        databases: OpenDatabases,
        current: CurrentSession,
        run: CurrentRun,
        output: WrittenOutput,
        sessions: NewSessions,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._agents = agents
        self._databases = databases
        self._current = current
        self._run = run
        self._output = output
        self._sessions = sessions

    def why_not(self) -> str | None:
        """Return why nothing can be run now, as a sentence; None if it can."""
        if self._agents.busy:
            return self._agents.busy
        if self._run.attached is not None:
            return "The window is attached to a running app: stop watching it first (Shift+F5)."
        if self._run.phase != "idle":
            return "A run is in progress: stop it first (Shift+F5)."
        return None if self._agents.loaded is not None else "Open an agent first (Ctrl+O)."

    def place(self) -> str:
        """Return where the sessions of runs are stored, as a phrase."""
        source = self._sessions.place()
        return f"in {source.title}" if source is not None else "in this window, unsaved"

    @asynccontextmanager
    async def begin(self, busy: str, *, unsaved: bool = False) -> AsyncIterator[QuietRuns]:
        """Yield the loaded agent for runs; the window starts no other run meanwhile.

        Args:
            busy: why the window starts no run, as a sentence.
            unsaved: put the sessions into this window's own.

        Raises:
            KnownError: `why_not`, or the agent cannot be loaded again.
        """
        if reason := self.why_not():
            raise KnownError(reason)
        self._agents.set_busy(busy)
        try:
            loaded = self._agents.loaded
            assert loaded is not None
            if loaded.is_blocked and not await self._agents.load_again():
                raise KnownError(f"{loaded.name} must be loaded again before it can run: a function of a stopped run keeps its thread.")
            loaded = self._agents.loaded
            assert loaded is not None and self._agents.plan is not None
            self._agents.begin_use(loaded)
            try:
                with loaded.active():
                    yield QuietRuns(
                        loaded, self._agents.plan, self._databases, self._current, self._run, self._output, self._sessions, unsaved
                    )
            finally:
                await self._agents.end_use()
        finally:
            self._agents.set_busy("")


class QuietRuns:
    """An agent that runs in new sessions. See `inspector_app.analysis.evals.EvalAgent`.

    Attributes:
        plan: what runs the agent.
        app_name: the app's name.
        is_stopped: whether `stop` was called; further runs end at once.
    """

    def __init__(
        self,
        loaded: Agent,
        plan: EnginePlan,
        databases: OpenDatabases,
        current: CurrentSession,
        run: CurrentRun,
        output: WrittenOutput,
        sessions: NewSessions,
        unsaved: bool,
    ) -> None:
        self.plan = plan
        self.app_name = loaded.name
        self.is_stopped = False
        self._loaded = loaded
        self._databases = databases
        self._current = current
        self._window_run = run
        self._output = output
        self._sessions = sessions
        self._unsaved = unsaved
        self._debugger: Debugger | None = None
        self._target = ""

    def address(self, key: SessionKey) -> SessionAddress:
        """Return the address of a session that `new_session` has created."""
        return SessionAddress(self._target, key)

    async def new_session(self, user_id: str, state: Mapping[str, Any] | None = None, session_id: str | None = None) -> SessionKey:
        """Create a session; one that exists already gets another id."""
        if session_id is not None and await self._exists(user_id, session_id):
            session_id = f"{session_id} {new_uuid()[:8]}"
        address = await self._sessions.create(
            lambda event, _temp: self._output.committed(event),
            user_id=user_id,
            state=state,
            session_id=session_id,
            unsaved=self._unsaved,
        )
        self._target = address.database
        return address.key

    async def run(self, key: SessionKey, message: types.Content) -> AsyncGenerator[Event, None]:
        """Send a message and yield the events, without those of streamed text."""
        if self.is_stopped:
            return
        source, address = self._source(), self.address(key)
        self._debugger = debugger = Debugger()
        invocation_id, error = "", None
        self._output.begin(address)
        self._window_run.show_quiet(address)
        try:
            recording = source.recording if self._window_run.records_requests else None
            engine = await self._loaded.open_engine(source, self._on_committed, self._window_run.requests, recording)
            engine.attach(debugger)
            async with aclosing(debugger.run(engine.run(key, message))) as events:
                async for event in events:
                    invocation_id = event.invocation_id
                    if not event.partial:
                        yield event
            if self.is_stopped and invocation_id:
                await _cancel_open_calls(engine, key, invocation_id)
        except Exception as failure:
            error = failure
            raise
        finally:
            self._debugger = None
            self._end(error)
            try:
                if invocation_id and (self.is_stopped or not self._loaded.records_ends):
                    await record_end(source, key, invocation_id, error, is_stopped=self.is_stopped)
            finally:
                await self._current.refresh_session(address)
                self._window_run.show_quiet(None)

    async def events(self, key: SessionKey) -> list[Event]:
        """Return a session's events."""
        return await self._source().events(key)

    def stop(self) -> None:
        """End the current run, and begin no other."""
        self.is_stopped = True
        if self._debugger is not None:
            self._debugger.stop()

    def _on_committed(self, event: Event, _temp: dict[str, Any]) -> None:
        self._output.committed(event)

    def _source(self) -> Source:
        source = self._databases.source(self._target)
        if source is None:
            raise KnownError("The database of the runs was closed.")
        return source

    def _end(self, error: Exception | None) -> None:
        if error is not None and not isinstance(error, KnownError):
            details = traceback_of(error, self._loaded.folder)
            if not self._output.has_traceback(details):
                self._output.take(OutputLine("traceback", details.rstrip()))
        self._output.end()

    async def _exists(self, user_id: str, session_id: str) -> bool:
        wanted = SessionKey(self.app_name, user_id, session_id)
        used = self._databases.source(self._target)
        own = {source.target: source for source in (*self._databases.unsaved, *([used] if used is not None else ()))}
        found = [summary.key for source in own.values() for summary in await source.listing()]
        return wanted in found


async def _cancel_open_calls(engine: Engine, key: SessionKey, invocation_id: str) -> None:
    try:
        await engine.cancel_open_calls(key, invocation_id, engine.unmarked_edits)
    except ChildEndedError:
        return  # it blocked, and was killed; the calls stay open
