"""The engine that runs an agent in a child process: on the google-adk of the agent's own environment, or on the embedded runtime."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from typing import Any

from google.genai import types

from inspector_app.engines.agent_loader import check_names
from inspector_app.engines.agent_output import OnOutput, OutputLine, source_from_child
from inspector_app.engines.child_calls import AgentCodeError, ChildInterception, error_from_child
from inspector_app.engines.child_process import PROTOCOL, STOP_SECONDS, ChildEndedError, ChildError, ChildProcess
from inspector_app.engines.child_replay import ChildReplay
from inspector_app.engines.protocol import AgentDescription, Capability, Debugpy, places_from_json
from inspector_app.engines.recorder_file import RECORDER_FILE
from inspector_app.support.tasks import Tasks
from runtime.debugger.debugger import Debugger
from runtime.errors import KnownError, SessionNotFoundError, UnstorableValueError
from runtime.events.event import Event
from runtime.forks.recorded_answers import NOT_ASKED
from runtime.forks.recording import Recording
from runtime.models.llm_request import LlmRequest
from runtime.running.invocation_start import answered_calls, call_event
from runtime.running.system_events import StateEditError, cancelled_calls, progress, state_edit, state_edit_undone
from runtime.sessions.session import SessionKey
from runtime.sessions.state import storable
from runtime.storage.connections.companions import real_file
from runtime.storage.connections.database_url import named_file
from runtime.storage.connections.open_files import Identity, identity_of
from runtime.storage.connections.write_ahead_log import fold_log_of, remove_replaced_log
from runtime.storage.layouts.decode import parse_event
from runtime.storage.layouts.json_formats import reader_of_json
from runtime.support.ids import new_uuid
from runtime.support.worker_threads import run_in_thread

LOAD_SECONDS = 60.0  # for the agent's imports, as long as modules are still imported: a slow machine may need minutes
OPEN_SECONDS = 60.0  # for the services: importing drivers and opening the database

_READING = "Reading the agent's messages"
MOST_AT_ONCE = 200  # messages taken in one turn of the loop, about 2 ms
MAX_QUEUED = 2_000  # streamed pieces; the child is not read while more wait to be taken

IN_MEMORY: Mapping[str, Any] = {"kind": "memory"}


class AgentStillLoadingError(KnownError):
    """The agent's code has not been imported in time; the message says where it is."""


class ChildEngine:
    """Runs one agent in a child process with the agent's own Python.

    Use `start` to make one. All methods are called on the event loop's thread.

    Args:
        child: the started child.
        agent: the agent that it has loaded.
        capabilities: what its version cannot do: name → a sentence; None if it can.
        on_commit: called right after each commit with the event, the user's message included, and the `temp:` keys it set.
        on_request: called with a model event's id and the request that it answers.
        on_output: called with the traceback of each tool and model that fails.

    Attributes:
        child, agent: see above.
        leaves_threads: see `Engine.leaves_threads`: a blocked child is killed.
        unmarked_edits: the user's changes to calls of the last run that no committed event records.
    """

    leaves_threads = False

    def __init__(
        self,
        child: ChildProcess,
        agent: AgentDescription,
        capabilities: Mapping[str, str | None],
        on_commit: Callable[[Event, dict[str, Any]], None],
        on_request: Callable[[str, LlmRequest], None] = lambda event_id, request: None,
        on_output: OnOutput = lambda line: None,
    ) -> None:
        self.child = child
        self.agent = agent
        self._capabilities = capabilities
        self._on_commit = on_commit
        self._on_request = on_request
        self._on_output = on_output
        self._tasks = Tasks(self._on_task_failed)
        self._debugger: Debugger | None = None
        self._run: _Run | None = None
        self.unmarked_edits: dict[str, Any] = {}
        self._read_event = reader_of_json()
        self._files: dict[Path, Identity | None] = {}  # databases that the child has opened, and device and inode
        self._reading = self._tasks.spawn(self._take_messages(), _READING)

    @classmethod
    async def start(
        cls,
        python: str | Path,
        path: str | Path,
        on_commit: Callable[[Event, dict[str, Any]], None],
        *,
        sessions: Mapping[str, Any] = IN_MEMORY,
        recording: Path | None = None,
        seconds: float = LOAD_SECONDS,
        debugpy: Debugpy | None = None,
        environ: Mapping[str, str] | None = None,
        embedded: bool = False,
        on_output: OnOutput = lambda line: None,
        on_ended: Callable[[ChildEndedError], None] = lambda error: None,
        on_request: Callable[[str, LlmRequest], None] = lambda event_id, request: None,
    ) -> ChildEngine:
        """Start a child, load an agent and open its services.

        Args:
            python: the agent's Python.
            path: the agent's folder or file.
            on_commit: see the class.
            sessions: where sessions are stored; see `open` in docs/engine-protocol.md.
            recording: the file in which model and tool calls are recorded; None: nowhere.
            seconds: to wait for the agent's imports; longer as long as a module is imported in each half of this time.
            debugpy: let a debugger attach; nothing is waited for in vain then, as the debugger may hold the child at any time.
            environ: the child's environment variables; None means ours.
            embedded: run the agent on the embedded runtime, with our own Python.
            on_output: called with each line that the agent writes, and with the traceback of each tool and model that fails.
            on_ended: called once, when the child has ended.
            on_request: see the class.

        Raises:
            AgentLoadError: the embedded runtime has a package of the same name as one of the agent's own.
            ChildError: the agent cannot be loaded, or its services cannot be opened.
            AgentStillLoadingError: the agent's code was not imported in time.
            ChildEndedError: the child has ended meanwhile.
        """
        if embedded:
            check_names(Path(path))
        child = ChildProcess(python, on_output, on_ended, environ=environ, embedded=embedded)
        try:
            await child.start()
            loaded = await _load(child, str(path), seconds, debugpy)
            await child.request("open", OPEN_SECONDS if debugpy is None else None, **_services(sessions, recording))
        except BaseException:
            await child.close(0)
            raise
        agent = AgentDescription(
            loaded["app_name"],
            loaded["folder"],
            loaded["resumable"],
            loaded["root"],
            places_from_json(loaded.get("places")),
            tuple(map(str, loaded.get("files") or ())),
        )
        engine = cls(child, agent, loaded["capabilities"], on_commit, on_request, on_output)
        engine._note_file(sessions)
        return engine

    @property
    def title(self) -> str:
        """A phrase for the status bar."""
        engine = str(self.child.hello["engine"])
        return engine if engine.startswith("google-adk") else "embedded runtime, own process"

    def why_not(self, capability: Capability) -> str | None:
        """Return a sentence that says why the engine cannot do something; None if it can."""
        return self._capabilities.get(capability)

    async def open(self, sessions: Mapping[str, Any], recording: Path | None = None) -> None:
        """Open the services again, with sessions and their recording in another place. No run may be active.

        Raises:
            ChildError: they cannot be opened.
            ChildEndedError: the child has ended.
        """
        await self.child.request("open", OPEN_SECONDS, **_services(sessions, recording))
        self._note_file(sessions)

    def _note_file(self, sessions: Mapping[str, Any]) -> None:
        file = named_file(sessions.get("url" if sessions["kind"] == "database" else "path", ""))
        if file is not None:
            self._files[file] = identity_of(file)

    async def ask_model(self, agent_name: str, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request to an agent's model; see `Agent.ask_model`.

        Raises:
            ChildError: there is no such agent, the request is not one, or the model raised.
            ChildEndedError: the child has ended.
        """
        answer: dict[str, Any] = await self.child.request("ask_model", agent=agent_name, request=request)
        return answer

    def attach(self, debugger: Debugger) -> None:
        """Let a debugger hold the next run. Pass that run to `Debugger.run`."""
        self._debugger = debugger

    async def new_session(self, user_id: str, state: Mapping[str, Any] | None = None, session_id: str | None = None) -> SessionKey:
        """Create a session of the app."""
        storable([user_id, session_id], "The session")
        storable(dict(state or {}), "state")
        created = await self.child.request("create_session", user_id=user_id, state=dict(state or {}) or None, session_id=session_id)
        return SessionKey(created["app_name"], created["user_id"], created["id"])

    async def session(self, key: SessionKey) -> tuple[dict[str, Any], list[Event]] | None:
        """Return a session's merged state and its events, as google-adk's service returns them; None if it does not exist."""
        storable([*key], "The session")
        found = await self.child.request("get_session", user_id=key.user_id, session_id=key.session_id)
        return (found["state"], [_event(event) for event in found["events"]]) if found is not None else None

    async def run(
        self,
        key: SessionKey,
        message: types.Content | None,
        invocation_id: str | None = None,
        *,
        state_delta: Mapping[str, Any] | None = None,
        streaming: bool = True,
        replay: ChildReplay | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Run, resume or answer; see `Engine.run`.

        Args:
            key: the session.
            message: the user's message or answer.
            invocation_id: the invocation to resume.
            state_delta: keys that the message sets.
            streaming: whether the model streams.
            replay: answers calls from a recording; use `rerun`.

        Raises:
            AgentCodeError: the agent's code, or google-adk, raised an exception; of a subclass with that exception's name.
            ChildEndedError: the child has ended.
        """
        if self.child.ended is not None:
            raise self.child.ended
        run = self._run = _Run(self._debugger, self.child, replay)
        self.child.forget_tail()
        self._debugger = None
        self.unmarked_edits = {}
        run.send_policy()
        try:
            await self._start_run(key, message, invocation_id, state_delta, streaming)
            while (event := await run.take()) is not None:
                yield event
                if event.id == run.waits_at:
                    run.waits_at = ""
                    self.child.send("next")
        finally:
            await self._end(run)

    def rerun(self, key: SessionKey, recording: Recording, *, runs_tools: bool = False, strict: bool = False) -> ChildRerun:
        """Return a recorded run that can be repeated in a fork; see `Engine.rerun`, and `runtime.forks.replay.Replay` for the options."""
        debugger = self._debugger or Debugger()
        return ChildRerun(self, key, recording, lambda: self.attach(debugger), runs_tools=runs_tools, strict=strict)

    async def rewind(self, key: SessionKey, invocation_id: str) -> None:
        """Take back an invocation and all later ones."""
        await self.child.request("rewind", user_id=key.user_id, session_id=key.session_id, invocation_id=invocation_id)

    async def edit_state(self, key: SessionKey, changes: dict[str, Any]) -> Event:
        """Set state keys manually; see `SessionEdits.edit_state`."""
        state, _ = await self._stored(key)
        return await self._append(key, state_edit(changes, state, self._edit_invocation()))

    async def undo_state_edit(self, key: SessionKey, event_id: str) -> Event:
        """Undo a manual edit; see `SessionEdits.undo_state_edit`."""
        state, events = await self._stored(key)
        edit = next((event for event in events if event.id == event_id), None)
        if edit is None:
            raise StateEditError(f"Session {key.session_id} has no event {event_id}.")
        return await self._append(key, state_edit_undone(edit, state, self._edit_invocation()))

    async def report_progress(self, key: SessionKey, call_id: str, response: dict[str, Any]) -> Event:
        """Report the progress of a long-running call; see `SessionEdits.report_progress`."""
        _, events = await self._stored(key)
        return await self._append(key, progress(events, call_id, response))

    async def cancel_open_calls(self, key: SessionKey, invocation_id: str, edits: dict[str, Any]) -> list[Event]:
        """Answer the calls that a stopped run left unanswered; see `SessionEdits.cancel_open_calls`."""
        _, events = await self._stored(key)
        return [await self._append(key, event) for event in cancelled_calls(events, invocation_id, edits)]

    async def close(self) -> None:
        """End the child, and all processes that it has left behind. What it stored is in the database's file then."""
        try:
            for file in self._files:
                await run_in_thread(remove_replaced_log, real_file(file))  # google-adk does not notice that its file was replaced
        finally:
            await self.child.close()
        await self._tasks.close(1)
        for file, identity in self._files.items():
            await run_in_thread(fold_log_of, file, identity)  # a child that is killed leaves its log

    async def _start_run(
        self,
        key: SessionKey,
        message: types.Content | None,
        invocation_id: str | None,
        state_delta: Mapping[str, Any] | None,
        streaming: bool,
    ) -> None:
        try:
            content = message.model_dump(mode="json", exclude_none=True) if message is not None else None
            storable([content, dict(state_delta or {})], "The message")
            await self.child.request(
                "run",
                user_id=key.user_id,
                session_id=key.session_id,
                message=content,
                invocation_id=invocation_id,
                state_delta=dict(state_delta) if state_delta else None,
                streaming=streaming,
            )
        except (ChildError, ChildEndedError, UnstorableValueError) as error:  # it has not started
            if self._run is not None:
                self._run.finish(error)
            raise

    async def _stored(self, key: SessionKey) -> tuple[dict[str, Any], list[Event]]:
        found = await self.session(key)
        if found is None:
            raise SessionNotFoundError(f"Session not found: {key.session_id}")
        return found

    async def _append(self, key: SessionKey, event: Event) -> Event:
        data = json.loads(event.model_dump_json(exclude_none=True))
        return _event(await self.child.request("append_event", user_id=key.user_id, session_id=key.session_id, event=data))

    def _edit_invocation(self) -> str:
        return self._run.invocation_id if self._run is not None and self._run.invocation_id else f"e-{new_uuid()}"

    async def _end(self, run: _Run) -> None:
        """End a run; kill the child if the run does not end by itself in time."""
        run.discard()
        if self._reading.done():  # SIGTERM has cancelled all tasks
            self._reading = self._tasks.spawn(self._take_messages(), _READING)
        if not run.is_over and self.child.ended is None:
            self.child.send("stop")
            with contextlib.suppress(TimeoutError):
                # Not `asyncio.timeout`, which up to Python 3.11.2 raises CancelledError in a task that is being cancelled.
                await asyncio.wait_for(run.ended.wait(), STOP_SECONDS)
            if not run.is_over:
                self.child.kill(f"The agent did not stop within {STOP_SECONDS:g} s, so its process was killed.")
                await self.child.wait_until_ended()
                run.finish(self.child.ended)
        self.unmarked_edits = run.unmarked_edits
        self._run = None

    async def _take_messages(self) -> None:
        """Take the child's messages until it ends."""
        for number in itertools.count(1):
            if not number % MOST_AT_ONCE:
                await asyncio.sleep(0)
            try:
                message = await self.child.receive()
            except ChildEndedError as error:
                if self._run is not None:
                    self._run.finish(error)
                return
            kind = message["type"]
            if kind == "committed":
                self._take_commit(message)
            elif self._run is not None:
                await self._take(kind, message, self._run)

    async def _take(self, kind: str, message: dict[str, Any], run: _Run) -> None:
        if kind == "partial":
            await run.put(_event(message["event"]))
        elif kind == "yielded":
            event = run.committed.pop(message["event_id"], None)
            run.yielded(message["event_id"], message["waits"])
            await run.put(event if event is not None else _event(message["event"]))
        elif kind == "at":
            if message["place"] == "error":
                self._report_failure(message)
            if message["waits"]:
                await run.all_taken()  # the agent has moved on from the events before
            if message["waits"] and run.interception is not None:
                run.hold(message["at"], self._tasks.spawn(run.interception.at(message), "Holding the agent"))
            elif run.interception is not None:
                await run.interception.at(message)
            elif message["waits"]:
                self.child.send("go", at=message["at"])
        elif kind == "left" and message["at"] in run.places:
            run.places[message["at"]].cancel()
        elif kind == "end":
            run.unmarked_edits = message.get("unmarked_edits") or {}
            failure = message.get("error")
            error: AgentCodeError | None = None
            if failure is not None:
                error = run.interception.failure(failure) if run.interception is not None else error_from_child(failure)
            run.finish(error)

    def _report_failure(self, message: dict[str, Any]) -> None:
        text = str((message.get("error") or {}).get("traceback") or "").rstrip()
        source = source_from_child(message.get("source"))
        if text:
            self._on_output(OutputLine("traceback", text, source))

    def _take_commit(self, message: dict[str, Any]) -> None:
        event = self._read_event(message["event"].decode("utf-8", "backslashreplace"))
        run = self._run
        if run is not None:
            run.invocation_id = run.invocation_id or event.invocation_id
            run.committed[event.id] = event
            if run.interception is not None:
                run.interception.committed(event, message.get("state_before"), ahead=bool(message.get("ahead")))
            request = run.requests.pop(message.get("request") or 0, None)
            if request is not None:
                self._on_request(event.id, request)
        self._on_commit(event, message.get("temp") or {})

    def _on_task_failed(self, name: str, error: BaseException) -> None:
        self.child.kill(f"{name} failed: {type(error).__name__}: {error}")
        if self._run is not None:
            self._run.finish(error)


class _Run:
    """A run of the child, as the inspector sees it.

    Attributes:
        interception: passes places to the debugger, if there is one.
        committed: committed events that the run has not yielded yet, by id.
        requests: requests to models that no event answers yet, by the number of their place.
        places: the tasks that hold the agent, by the number of their place.
        invocation_id: its invocation; empty before the first commit.
        unmarked_edits: see `Engine.unmarked_edits`.
        waits_at: id of the event at which the agent waits to be asked for the next one; empty if it runs.
        ended: set when it is over.
    """

    def __init__(self, debugger: Debugger | None, child: ChildProcess, replay: ChildReplay | None = None) -> None:
        self._debugger = debugger
        self._child = child
        self._policy: dict[str, Any] = {}
        self._stop_listening = debugger.on_possible_holds(self.send_policy) if debugger is not None else lambda: None
        self.waits_at = ""
        self.requests: dict[int, LlmRequest] = {}
        self.interception = (
            ChildInterception(
                debugger, lambda number, fields: child.send("go", **{**fields, "at": number}), self.requests.__setitem__, replay
            )
            if debugger is not None
            else None
        )
        self.committed: dict[str | None, Event] = {}
        self.places: dict[int, asyncio.Task[Any]] = {}
        self.invocation_id = ""
        self.unmarked_edits: dict[str, Any] = {}
        self.ended = asyncio.Event()
        self._error: BaseException | None = None
        self._is_discarding = False
        self._events: deque[Event] = deque()
        self._changed = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()

    @property
    def is_over(self) -> bool:
        """Whether the child has reported the end, or has ended itself."""
        return self.ended.is_set()

    def send_policy(self) -> None:
        """Tell the child where the run waits for an answer: where the debugger may hold it; without a debugger, at each event."""
        holds = self.interception.places if self.interception is not None else ["event"]
        policy = {"hold": holds, "state": self.interception is not None and self.interception.needs_state, "requests": True}
        if policy != self._policy:
            self._policy = policy
            self._child.send("policy", **policy)

    def yielded(self, event_id: str, waits: bool) -> None:
        """Record that the run yields an event, and whether it waits there."""
        if waits:
            self.waits_at = event_id
        elif self._debugger is not None:
            self._debugger.passed(event_id)

    def hold(self, number: int, task: asyncio.Task[Any]) -> None:
        """Keep a task that holds the agent until it has ended."""
        self.places[number] = task
        task.add_done_callback(lambda _: self.places.pop(number, None))

    async def put(self, event: Event) -> None:
        """Hand over an event; wait while too many wait to be taken."""
        if self._is_discarding:
            return
        self._events.append(event)
        self._changed.set()
        if len(self._events) >= MAX_QUEUED:
            self._has_room.clear()
            await self._has_room.wait()

    async def take(self) -> Event | None:
        """Return the next event; None at the end.

        Raises:
            Exception: the run's failure.
        """
        while not self._events:
            if self.is_over:
                if self._error is not None:
                    raise self._error
                return None
            self._changed.clear()
            await self._changed.wait()
        event = self._events.popleft()
        if len(self._events) < MAX_QUEUED // 2:
            self._has_room.set()
        return event

    async def all_taken(self) -> None:
        """Wait until all events are taken, or the run is over."""
        while self._events and not self.is_over:
            self._has_room.clear()
            await self._has_room.wait()

    def discard(self) -> None:
        """Drop this run's events from now on: its consumer has left."""
        self._is_discarding = True
        self._events.clear()
        self._has_room.set()

    def finish(self, error: BaseException | None) -> None:
        """Record the end, and release what is held."""
        if self.is_over:
            return
        self._stop_listening()
        self._error = error
        for task in list(self.places.values()):
            task.cancel()
        self.ended.set()
        self._changed.set()
        self._has_room.set()


class ChildRerun:
    """One repeated run; see `runtime.forks.rerun.Rerun`.

    Args:
        before_each: called before each run of the agent.
    """

    def __init__(
        self,
        engine: ChildEngine,
        key: SessionKey,
        recording: Recording,
        before_each: Callable[[], None],
        *,
        runs_tools: bool = False,
        strict: bool = False,
    ) -> None:
        self._replay = ChildReplay(recording, runs_tools=runs_tools, strict=strict)
        self.answers = self._replay.answers
        self._engine = engine
        self._key = key
        self._recording = recording
        self._before_each = before_each

    async def events(self) -> AsyncGenerator[Event, None]:
        """Run it and yield its events. See `Rerun.events`."""
        invocation_id = ""
        for number, message in enumerate(self._recording.messages):
            content = self._with_new_ids(message.content)
            if number and not await self._is_requested(content):
                self.answers.divergences.append(NOT_ASKED)
                return
            self._before_each()
            resumed = invocation_id if self._engine.why_not("resume") is None else ""
            run = self._engine.run(self._key, content, resumed or None, state_delta=message.actions.state_delta, replay=self._replay)
            async with contextlib.aclosing(run) as events:
                async for event in events:
                    invocation_id = event.invocation_id
                    yield event

    def _with_new_ids(self, content: types.Content | None) -> types.Content | None:
        content = content and content.model_copy(deep=True)
        for part in (content and content.parts) or ():
            answer = part.function_response
            if answer is not None:
                answer.id = self._replay.new_ids.get(answer.id or "", answer.id or "")
        return content

    async def _is_requested(self, answer: types.Content | None) -> bool:
        found = await self._engine.session(self._key)
        return found is not None and call_event(found[1], answered_calls(answer)) is not None


def _services(sessions: Mapping[str, Any], recording: Path | None) -> dict[str, Any]:
    """Return the fields of `open`."""
    recorder = {} if recording is None else {"recorder": {"plugin": str(RECORDER_FILE), "file": str(recording)}}
    return {"sessions": dict(sessions), **recorder}


class Imports:
    """The imports of a child that loads an agent.

    Args:
        child: the child.
        seconds: between two looks.

    Attributes:
        passed: seconds until the last look.
    """

    def __init__(self, child: ChildProcess, seconds: float) -> None:
        self.seconds = seconds
        self.passed = 0.0
        self._child = child
        self._modules = 0

    async def proceed(self) -> bool:
        """Return whether a module was imported since the last look. To be called after `seconds`."""
        self.passed += self.seconds
        before, self._modules = self._modules, await self._child.modules(self.seconds)
        return self._modules > before


async def _load(child: ChildProcess, path: str, seconds: float, debugpy: Debugpy | None) -> dict[str, Any]:
    options = {} if debugpy is None else {"debugpy": debugpy.port, "wait": debugpy.wait}
    imports = Imports(child, seconds / 2)
    try:
        loaded: dict[str, Any] = await child.request(
            "load", imports.seconds if debugpy is None else None, proceeds=imports.proceed, path=path, protocol=PROTOCOL, **options
        )
        return loaded
    except TimeoutError:
        stack = await child.where()
        folder = path.removesuffix(".py").rstrip("/")
        own = [frame for frame in stack if frame["file"].startswith(folder)] or stack
        where = f" It is at {own[-1]['file']}, line {own[-1]['line']}." if own else ""
        raise AgentStillLoadingError(f"{path} is still being imported after {imports.passed:g} s.{where}") from None


def _event(data: bytes | Mapping[str, Any]) -> Event:
    return parse_event(data if isinstance(data, bytes) else json.dumps(data))


__all__ = ["IN_MEMORY", "AgentCodeError", "AgentStillLoadingError", "ChildEndedError", "ChildEngine", "ChildError"]
