"""The owner of the run: starts it under the debugger, holds it, steps it, stops it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QObject, QTimer, Signal

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_document import Committed
from inspector_app.documents.sources import AttachedSource, Source
from inspector_app.engines.agent_output import OutputLine
from inspector_app.engines.child_process import ChildEndedError
from inspector_app.engines.protocol import Agent, Engine
from inspector_app.engines.samples import is_bundled
from inspector_app.presentation.spans import HeldTime
from inspector_app.support.frame_batcher import CALM_MS
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.action_availability import Action, ActionAvailability, Phase
from inspector_app.workspace.breakpoint_store import BreakpointStore
from inspector_app.workspace.current_agent import CurrentAgent
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.incoming_events import IncomingEvents, ToolAgentEvent
from inspector_app.workspace.messages import MessageBus
from inspector_app.workspace.new_sessions import NewSessions
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.session_catalog import SessionCatalog
from inspector_app.workspace.watched_app import WatchedApp
from inspector_app.workspace.written_output import WrittenOutput
from runtime.debugger.calls import ToolCall
from runtime.debugger.debugger import Debugger
from runtime.debugger.hold import Hold, Report, RunningAgent
from runtime.debugger.request_recorder import RequestRecorder
from runtime.debugger.stepping import Goal
from runtime.debugger.watchdog import Block, Watchdog
from runtime.errors import KnownError, StorageError
from runtime.events.kinds import Kind
from runtime.events.marks import CONFIRMATION_CALL, CREDENTIAL_CALL
from runtime.history.invocations import Invocation, PendingItem
from runtime.sessions.session_key import SessionKey
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from google.genai import types

    from inspector_app.engines import attached_app, embedded, tracebacks
    from runtime.debugger.breakpoint import Breakpoint
    from runtime.events.event import Event
    from runtime.history import run_ends
else:
    types = lazy_module("google.genai.types")
    attached_app = lazy_module("inspector_app.engines.attached_app")
    embedded = lazy_module("inspector_app.engines.embedded")
    tracebacks = lazy_module("inspector_app.engines.tracebacks")
    run_ends = lazy_module("runtime.history.run_ends")

StepKind = Literal["over", "into", "out"]

_BEGINNING: tuple[Action, ...] = ("send", "fork", "new_session", "resume", "respond", "step")

Begin = Callable[[Engine, SessionKey], AsyncGenerator["Event", None]]


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended.

    Attributes:
        address: its session.
        error: the failure; None if it ended or was stopped.
        stopped: whether the user stopped it.
        committed: whether any of its events was stored, the user's message included.
    """

    address: SessionAddress
    error: Exception | None
    stopped: bool
    committed: bool


class CurrentRun(QObject):
    """One run at a time, under the debugger.

    Attributes:
        phase: what the run is doing.
        address: the session of this run, or of the last one.
        held: the committed event at or after which the agent is held.
        hold: where and why it is held.
        requests: the requests to models, in all runs of this window.
        sessions: creates the sessions of runs.
        quiet: the session in which the agent runs without the debugger; None while it does not. See `AgentRuns`.
        records_requests: whether runs also record them beside the database.
        message: the text that this run, or the last one, was begun with; empty if it was not begun with a message.
        pausing: whether Pause was pressed and the agent has not reached its next event yet.

    Signals:
        changed: something that `blocked` depends on changed.
        session_created(SessionAddress, bool): the session was created that a message without a session is for; whether it will be selected,
            as the user has selected no other one meanwhile.
        run_started(SessionAddress), run_ended(RunEnd): the phase is `idle` again by then.
        partial_arrived(SessionAddress, Event): a piece of streamed text; nothing is committed with it.
        tool_agent_event_arrived(ToolAgentEvent): an agent that runs as a tool yielded an event, partial ones too.
        reported(Report): a logpoint wrote a line, or the debugger met a problem.
        hold_changed(Hold | None): the agent is held somewhere else, or was released.
        beside_changed: other branches than before run beside the held one, or wait to be held.
        attached_changed: the window was attached to a running app, or detached; see `attached`.
        detached(str): the window is no longer attached; a sentence that says why.
    """

    changed = Signal()
    session_created = Signal(object, bool)
    run_started = Signal(object)
    run_ended = Signal(object)
    partial_arrived = Signal(object, object)
    tool_agent_event_arrived = Signal(object)
    reported = Signal(object)
    hold_changed = Signal(object)
    beside_changed = Signal()
    attached_changed = Signal()
    detached = Signal(str)

    def __init__(
        self,
        cursor: Cursor,
        agents: CurrentAgent,
        databases: OpenDatabases,
        catalog: SessionCatalog,
        current: CurrentSession,
        breakpoints: BreakpointStore,
        output: WrittenOutput,
        tasks: Tasks,
        messages: MessageBus,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._cursor = cursor
        self._agents = agents
        self._databases = databases
        self._catalog = catalog
        self._current = current
        self._breakpoints = breakpoints
        self._output = output
        self._tasks = tasks
        self._messages = messages
        self._availability = ActionAvailability(cursor, agents, databases, current)
        self.sessions = NewSessions(cursor, agents, databases, self._availability, messages)
        self._debugger: Debugger | None = None
        self._engine: Engine | None = None
        self._told_hold: Hold | None = None
        self._told_beside: tuple[tuple[RunningAgent, ...], tuple[Hold, ...]] = ((), ())
        self._watched: WatchedApp | None = None
        self._invocation_id = ""
        self._not_begun: set[str | None] = set()
        self.requests = RequestRecorder()
        self.records_requests = True
        self._task: asyncio.Task[Any] | None = None
        self._stopped = False
        self._is_over = False
        self._is_closed = False
        self._ran_ahead: set[str] = set()
        self._holds: dict[SessionAddress, list[HeldTime]] = {}
        self._held_since = 0.0  # epoch seconds
        self._end: RunEnd | None = None
        self._watchdog: Watchdog | None = None
        self._arrivals = IncomingEvents(current, self)
        self._arrivals.partial_arrived.connect(self.partial_arrived)
        self._arrivals.tool_agent_event_arrived.connect(self.tool_agent_event_arrived)
        self._arrivals.shown.connect(self._on_arrivals_shown)
        self.address: SessionAddress | None = None
        self.quiet: SessionAddress | None = None
        self.pausing = False
        self.message = ""
        self._creating = False  # a session that the user asked for
        self._moves = 0  # of the cursor to another session
        self._moves_before: int | None = None  # when that session was asked for
        cursor.session_changed.connect(self._on_session_changed)
        for signal in (agents.agent_loaded, agents.busy_changed, current.session_loaded, current.session_loading):
            signal.connect(self._on_context_changed)
        catalog.pending_changed.connect(self._on_pending_changed)

    @property
    def phase(self) -> Phase:
        """What the run is doing."""
        state = self._debugger.state if self._debugger is not None else "idle"
        if self._task is None:
            return "idle"
        if state == "paused":
            return "paused"
        return "stopping" if state in ("stopping", "finished") else "running"

    @property
    def held(self) -> Event | None:
        """The committed event at or after which the agent is held."""
        if self._watched is not None:  # the debugger's last event may be another session's
            return self._watched.last_event() if self.hold is not None else None
        return self._debugger.held if self._debugger is not None else None

    @property
    def invocation_id(self) -> str:
        """The invocation that runs; empty as long as it is not known. A held run may have yielded no event yet."""
        return self.held.invocation_id if self.held is not None else self._invocation_id

    @property
    def hold(self) -> Hold | None:
        """Where and why the agent is held; None while it runs."""
        return self._debugger.hold if self._debugger is not None else None

    @property
    def held_by(self) -> Breakpoint | None:
        """The breakpoint that holds the agent; None if the agent runs or something else holds it."""
        number = self.hold.breakpoint if self.hold is not None else None
        return self._debugger.breakpoints.get(number) if self._debugger is not None and number is not None else None

    @property
    def waiting(self) -> tuple[Hold, ...]:
        """Holds of other branches, which take effect one after another once this one is released."""
        return self._debugger.waiting if self._debugger is not None else ()

    @property
    def runs_on(self) -> tuple[RunningAgent, ...]:
        """Agents of other branches that run while this one is held."""
        return self._debugger.runs_on if self._debugger is not None else ()

    @property
    def uncommitted(self) -> dict[str, Any]:
        """State keys that the held agent wrote and no event carries yet."""
        return self._debugger.uncommitted() if self._debugger is not None else {}

    def ran_ahead(self, event_id: str) -> bool:
        """Return whether an event was committed while the agent was held before it, in a run of this window."""
        return event_id in self._ran_ahead

    def holds(self) -> Sequence[HeldTime]:
        """Return the holds of the selected session in runs of this window that have ended, in order."""
        selected = self._cursor.session
        return self._holds.get(selected, ()) if selected is not None else ()

    @property
    def engine(self) -> Engine | None:
        """What drives the agent while it runs."""
        return self._engine if self.phase != "idle" else None

    @property
    def is_watching(self) -> bool:
        """Whether the window waits for an attached app to run something in the session of the run."""
        return self._watched is not None and self.phase == "running" and not self._watched.is_active

    @property
    def attached(self) -> WatchedApp | None:
        """The running app that the window is attached to; `phase` is then that of the app. None if there is none."""
        return self._watched

    @property
    def message_address(self) -> SessionAddress | None:
        """The session that a message of the user would go to; None for a new one, also while that is being created."""
        return None if self._moves_before == self._moves else self._cursor.session

    def blocked(self, action: Action, invocation_id: str | None = None) -> str | None:
        """Return why an action is impossible now; see `ActionAvailability.reason_blocked`."""
        attached = self._watched.app.title if self._watched is not None else ""
        if self._creating and action in _BEGINNING:
            return "The new session is being created: wait a moment."
        return self._availability.reason_blocked(action, self.phase, invocation_id, attached)

    def resumable(self, invocation_id: str | None = None) -> Invocation | None:
        """Return the invocation that Resume would continue; see `ActionAvailability.resumable`."""
        return self._availability.resumable(invocation_id)

    def unfinished(self) -> Invocation | None:
        """Return the newest unfinished invocation; see `ActionAvailability.unfinished`."""
        return self._availability.unfinished()

    def send(self, text: str, *, paused: bool | Goal = False, to: SessionAddress | None = None) -> None:
        """Send the user's message, to a new session if none is selected.

        Args:
            text: the message.
            paused: hold the agent at the first event, or where this goal is reached.
            to: a session that was made for the message, and need not be displayed any more; None: the displayed one.
        """
        if self.blocked("send") is None if to is None else self.phase == "idle":
            message = types.Content(role="user", parts=[types.Part(text=text)])
            self.start(lambda engine, key: engine.run(key, message), paused=paused, address=to)
            self.message = text

    def resume(self, invocation_id: str | None = None, *, paused: bool = False) -> None:
        """Continue an interrupted invocation from its last checkpoint.

        Args:
            invocation_id: the invocation; None: that of `resumable`.
            paused: hold the agent at the first event.
        """
        invocation, session = self.resumable(invocation_id), self._current.session
        allowed = session is not None and session.source.writing_allowed
        if allowed and invocation is not None and self.blocked("resume", invocation.invocation_id) is None:
            found = invocation.invocation_id
            self.start(lambda engine, key: engine.run(key, None, found), paused=paused)

    def respond(self, item: PendingItem, response: dict[str, Any]) -> None:
        """Answer a pending call.

        Args:
            item: the call.
            response: the function response's object.
        """
        if self.blocked("respond") is not None:
            return
        name = {"confirmation": CONFIRMATION_CALL, "credential": CREDENTIAL_CALL}.get(item.kind, item.name)
        answer = types.FunctionResponse(id=item.call_id, name=name, response=response)
        message = types.Content(role="user", parts=[types.Part(function_response=answer)])
        self.start(lambda engine, key: engine.run(key, message))

    def new_session(self) -> None:
        """Create an empty session and select it."""
        if self.blocked("new_session") is None:
            self._tasks.spawn(self.create_new(), "Creating a session")

    def create_new(
        self, state: Mapping[str, Any] | None = None, user_id: str = "", session_id: str | None = None
    ) -> Coroutine[Any, Any, None]:
        """Let no message go elsewhere from now on, and return what creates and selects a session; see `NewSessions.create`."""
        self._creating, self._moves_before = True, self._moves
        self._emit_changed()
        return self._create_new(self._moves, state, user_id, session_id)

    async def _create_new(self, asked_at: int, state: Mapping[str, Any] | None, user_id: str, session_id: str | None) -> None:
        try:
            await self.create_session(state, user_id, session_id, asked_at=asked_at)
        finally:
            self._end_creating()
            if not self._is_closed:
                self._emit_changed()

    def _end_creating(self) -> None:
        self._creating, self._moves_before = False, None

    def _on_session_changed(self) -> None:
        self._moves += 1

    def continue_run(self) -> None:
        """Release a held agent."""
        if self._debugger is not None:
            self._debugger.resume()

    def pause(self) -> None:
        """Hold the agent at its next event."""
        if self._debugger is not None:
            self.pausing = True
            self._debugger.pause()
            self._emit_changed()

    def step(self) -> None:
        """Release a held agent until its next event."""
        if self._debugger is not None:
            self._debugger.step()

    def step_on(self, kind: StepKind) -> None:
        """Release a held agent until it has passed over a call, stepped into it, or left the agent."""
        if self._debugger is not None:
            {"over": self._debugger.step_over, "into": self._debugger.step_into, "out": self._debugger.step_out}[kind]()

    def run_to(self, kind: Kind) -> None:
        """Release a held agent until the next event of a kind."""
        if self._debugger is not None:
            self._debugger.run_to(kind)

    def stop(self) -> None:
        """End the run; every `finally` of the agent runs."""
        self._stopped = True
        if self._debugger is not None:
            holds = [hold for hold in (self._debugger.hold, *self._debugger.waiting) if hold is not None]
            self._not_begun = {hold.call.call_id for hold in holds if isinstance(hold.call, ToolCall)}
            self._not_begun |= {call.id for hold in holds if hold.event is not None for call in hold.event.get_function_calls()}
            self._debugger.stop()
        elif self._task is not None and not self._is_over:  # its session is still being created
            self._task.cancel()

    def show_quiet(self, address: SessionAddress | None) -> None:
        """Mark the session in which the agent runs without the debugger; None ends that."""
        self.quiet = address
        self._emit_changed()

    def close(self) -> None:
        """Report nothing any more. The run's task may still wait for a commit, and ends after the window's parts are deleted."""
        self._is_closed = True
        if self._task is not None:
            self._task.remove_done_callback(self._on_task_done)

    def start(self, begin: Begin, *, paused: bool | Goal = False, address: SessionAddress | None = None) -> None:
        """Run something under the debugger. Selecting another session meanwhile changes nothing.

        Args:
            begin: starts the run.
            paused: hold the agent at the first event, or where this goal is reached.
            address: the session; None: the displayed one, or a new one if none is displayed.
        """
        loaded = self._agents.loaded
        assert loaded is not None  # `blocked` has checked it
        self._stopped = self.pausing = self._is_over = False
        self.message = ""
        session = self._current.session
        self.address = address or (session.address if session is not None else None)
        self._task = self._tasks.spawn(self._run(begin, paused, self.address, self._moves), f"Running {loaded.name}")
        self._task.add_done_callback(self._on_task_done)
        self._emit_changed()

    def watch(self, app: attached_app.AttachedApp, source: AttachedSource) -> None:
        """Watch a running app under the debugger, until `stop` or the end of the connection. The app drives its own runs.

        Args:
            app: the connection.
            source: the app's sessions.
        """
        self._stopped = self.pausing = self._is_over = False
        selected = self._cursor.session
        if selected is not None and selected.database != source.target:
            self._cursor.select_session(None)
        self.address = None
        self._watched = WatchedApp(
            app,
            source,
            self._arrivals,
            self._cursor,
            self._current,
            self._catalog,
            self.requests,
            self._tasks,
            self._messages,
            is_held=lambda: self.hold is not None,
            stop=self._on_watched_lost,
            parent=self,
        )
        self._watched.changed.connect(self._on_watched_changed)
        self._task = self._tasks.spawn(self._watch(self._watched), f"Watching {app.title}")
        self._task.add_done_callback(self._on_task_done)
        self.attached_changed.emit()
        self._emit_changed()

    async def _watch(self, watched: WatchedApp) -> None:
        self._debugger = debugger = Debugger(
            breakpoints=self._breakpoints.breakpoints,
            on_change=self._on_debugger_changed,
            on_report=self._on_reported,
            on_inner_event=self._on_watched_inner_event,
        )
        error: Exception | None = None
        self.run_started.emit(self.address)
        try:
            async with aclosing(debugger.run(watched.app.watch(debugger, watched))) as events:
                async for _ in events:
                    pass
        except Exception as failure:
            error = failure
        finally:
            self._is_over = True
            await watched.app.close()  # a run that was stopped before it began has not closed it
            if not self._is_closed:
                self._arrivals.flush()
            self._debugger = None
            self._tell_hold()
        if self._is_closed:
            return
        if error is not None:
            self._messages.error(f"Watching {watched.app.title}", error)
        if self.address is not None:
            await self._current.refresh_session(self.address)
            self._end = RunEnd(self.address, error, self._stopped, committed=True)

    def _on_watched_inner_event(self, event: Event, call_ids: tuple[str | None, ...]) -> None:
        if self.address is not None:
            self._take(ToolAgentEvent(self.address, event, call_ids))

    def _on_watched_changed(self) -> None:
        if self._watched is not None:
            self.address = self._watched.address
            self._emit_changed()

    def _on_watched_lost(self) -> None:
        if self._debugger is not None:
            self._debugger.stop()

    async def _run(self, begin: Begin, paused: bool | Goal, address: SessionAddress | None, asked_at: int) -> None:
        if not await self._has_free_thread():
            return
        address = address or await self.create_session(asked_at=asked_at)
        source = self._databases.source(address.database)
        loaded = self._agents.loaded
        assert loaded is not None
        if source is None or loaded.name != address.key.app_name:  # closed, or another agent was opened, before the run could begin
            raise KnownError(f"Session {address.key.session_id} is not continued: its database or its agent was closed meanwhile.")
        if not is_bundled(loaded.folder):
            source.repeatable.discard(address.key)
        self.address = self._arrivals.address = address
        self._invocation_id = ""
        self._debugger = debugger = self._make_debugger(address, paused)
        self._watchdog = watchdog = Watchdog(self._on_block)
        watchdog.start()
        error: Exception | None = None
        self._agents.begin_use(loaded)
        self._output.begin(address)
        self.run_started.emit(address)
        try:
            recording = source.recording if self.records_requests else None
            engine = self._engine = await loaded.open_engine(source, self._on_committed, self.requests, recording)
            engine.attach(debugger)
            with loaded.active():
                async with aclosing(debugger.run(begin(engine, address.key))) as events:
                    async for event in events:
                        if event.partial:
                            self._take(event)
                        await self._arrivals.wait_for_capacity()
                if self._stopped:
                    await self._cancel_open_calls(engine, address, source)
        except Exception as failure:
            error = failure
        finally:
            self._is_over = True  # nothing is left to stop; the end is reported later
            self._watchdog = None
            watchdog.stop()
            if not self._is_closed:
                self._arrivals.flush()
            self._debugger = self._engine = None
            self._tell_hold()
        if self._is_closed:
            return
        await self._agents.end_use()
        if error is not None:
            self._report_failure(loaded, error)
        self._output.end()
        if self._stopped or not loaded.records_ends or isinstance(error, StorageError):
            try:
                await record_end(source, address.key, self._invocation_id, error, is_stopped=self._stopped)
            except StorageError as failed:
                if error is None:  # otherwise the run's own failure has been reported
                    self._messages.error("Recording how the run ended", failed)
        await self._current.refresh_session(address)
        self._end = RunEnd(address, error, self._stopped, bool(self._invocation_id))

    def _report_failure(self, loaded: Agent, error: Exception) -> None:
        details = tracebacks.traceback_of(error, loaded.folder)
        self._messages.error(f"Running {loaded.name}", error, details)
        if not isinstance(error, KnownError) and not self._output.has_traceback(details):
            self._output.take(OutputLine("traceback", details.rstrip()))

    async def _has_free_thread(self) -> bool:
        """Load the agent again if a function of a stopped run keeps its thread; return whether the agent can run."""
        loaded = self._agents.loaded
        assert loaded is not None
        if not loaded.is_blocked:
            return True
        if not await self._agents.load_again():
            return False
        self._messages.warning(
            f"{loaded.name} was loaded again and runs on a new thread: a function that the stopped run called has not returned and keeps"
            " the old thread. What the agent's modules kept in memory starts over."
        )
        return True

    def _make_debugger(self, address: SessionAddress, paused: bool | Goal) -> Debugger:
        return Debugger(
            paused=paused,
            breakpoints=self._breakpoints.breakpoints,
            on_change=self._on_debugger_changed,
            on_report=self._on_reported,
            on_inner_event=lambda event, call_ids: self._take(ToolAgentEvent(address, event, call_ids)),
        )

    def _on_reported(self, report: Report) -> None:
        if report.kind == "ahead" and report.event is not None:
            self._ran_ahead.add(report.event.id)
        if not self._is_closed:
            self.reported.emit(report)

    def _take(self, arrival: Committed | ToolAgentEvent | Event) -> None:
        if not self._is_closed:
            self._arrivals.add(arrival)

    async def _cancel_open_calls(self, engine: Engine, address: SessionAddress, source: Source) -> None:
        """Record the calls that were interrupted as cancelled, and report what cannot be stopped."""
        if not self._invocation_id:
            return
        edits = engine.unmarked_edits
        try:
            cancelled = await engine.cancel_open_calls(address.key, self._invocation_id, edits)
        except ChildEndedError as ended:  # it blocked, and was killed
            self._messages.warning(str(ended))
            writer = embedded.EmbeddedEngine.without_agent(address.key.app_name, await source.service(), source.files, self._on_committed)
            cancelled = await writer.cancel_open_calls(address.key, self._invocation_id, edits)
        runs_on = " A blocking tool (a plain function) cannot be stopped: it runs on in its thread to its end, and its result is dropped."
        for event in cancelled:
            for response in event.get_function_responses():
                began = response.id not in self._not_begun
                self._messages.info(
                    f"{response.name} had not returned and is recorded as cancelled.{runs_on if engine.leaves_threads else ''}"
                    if began
                    else f"{response.name} was not called: it is recorded as cancelled.",
                    quiet=not began,
                )

    async def create_session(
        self, state: Mapping[str, Any] | None = None, user_id: str = "", session_id: str | None = None, *, asked_at: int | None = None
    ) -> SessionAddress:
        """Create a session of the loaded agent, and select it unless the user has selected another one meanwhile.

        Args:
            state: its first state; None: empty.
            user_id: its user; empty: that of the selected session if it is of this agent.
            session_id: its id; None: a new one.
            asked_at: the count of the cursor's moves when the user asked for the session that messages without a session are for; None: the
                user asked for something else.
        """
        moves = self._moves if asked_at is None else asked_at
        address = await self.sessions.create(self._on_committed, state=state, user_id=user_id, session_id=session_id)
        await self._current.refresh_session(address)
        self._end_creating()
        is_wanted = self._moves == moves
        if asked_at is not None:
            self.session_created.emit(address, is_wanted)
        if is_wanted:
            self._cursor.select_session(address)
            await self._current.wait_until_loaded()
        return address

    def _on_block(self, block: Block) -> None:
        place = f"{block.function} ({Path(block.file).name}, line {block.line})"
        text = f"The window did not answer for {block.seconds:.1f} s: {place} kept it waiting."
        self._messages.warning(text, details="\n".join(block.stack), quiet=True)

    def _on_committed(self, event: Event, temp: dict[str, Any]) -> None:
        self._invocation_id = event.invocation_id
        self._output.committed(event)
        self._take(Committed(event, temp))

    def _on_arrivals_shown(self) -> None:
        self._tell_beside()
        if self.phase == "paused":  # another branch continued meanwhile
            self._emit_changed()

    def _on_debugger_changed(self) -> None:
        if self._is_closed:
            return
        if self.hold is not None:
            self.pausing = False
            if self._watched is not None and self._debugger is not None:
                self._watched.follow_hold(self._debugger)
                self.address = self._watched.address
            self._arrivals.flush()  # display the event before the hold at it
            QTimer.singleShot(CALM_MS, self, self._tell_beside)  # other branches may be about to start
        self._watch_loop()
        self._tell_hold()
        self._emit_changed()

    def _tell_beside(self) -> None:
        beside = (self.runs_on, self.waiting)
        if beside != self._told_beside:
            self._told_beside = beside
            self._watch_loop()
            self.beside_changed.emit()

    def _watch_loop(self) -> None:
        """Look for code that blocks the loop, unless all of the agent is held."""
        if self._watchdog is None:
            return
        if self.hold is None or self.runs_on:
            self._watchdog.start()
        else:
            self._watchdog.rest()

    def _tell_hold(self) -> None:
        if self.hold is not self._told_hold and not self._is_closed:
            before, now = self._told_hold, time.time()
            if before is not None and self.address is not None:
                self._holds.setdefault(self.address, []).append(HeldTime(self._held_since, now, before.branch))
            self._told_hold, self._held_since = self.hold, now
            self.hold_changed.emit(self._told_hold)

    def _on_task_done(self, task: asyncio.Task[Any]) -> None:
        if task is self._task:
            self._task = None
            self._debugger = None
            end, self._end = self._end, None
            watched, self._watched = self._watched, None
            self._emit_changed()
            if end is not None:
                self.run_ended.emit(end)
            if watched is not None:
                self._release(watched)

    def _release(self, watched: WatchedApp) -> None:
        """Report that the window is detached."""
        watched.deleteLater()
        self._arrivals.address = None
        self.attached_changed.emit()
        self.detached.emit(watched.lost or f"Stopped watching {watched.app.title}. The app continues without the window.")

    def _on_context_changed(self) -> None:
        self._emit_changed()

    def _on_pending_changed(self, target: str, keys: Collection[SessionKey]) -> None:
        selected = self._cursor.session
        if selected is not None and selected.database == target and selected.key in keys:
            self._emit_changed()

    def _emit_changed(self) -> None:
        """Report a change, the mark of the run's session first."""
        phase = self.phase
        is_running = phase != "idle" and not self.is_watching
        self._catalog.set_running(self.address if is_running else self.quiet, "held" if phase == "paused" else "running")
        self.changed.emit()


async def record_end(source: Source, key: SessionKey, invocation_id: str, error: Exception | None, *, is_stopped: bool) -> None:
    """Record how a run ended whose engine does not; google-adk's events do not always tell.

    Args:
        source: its database.
        key: its session.
        invocation_id: the invocation.
        error: what it raised; None if it ended normally.
        is_stopped: whether a person stopped it.
    """
    if isinstance(error, ChildEndedError) or await source.is_long(key):
        return
    events = [event for event in await source.events(key) if event.invocation_id == invocation_id]
    end = run_ends.end_of(events, error, is_stopped=is_stopped) if events else None
    if end is not None:
        await source.record_end(key, invocation_id, end)
