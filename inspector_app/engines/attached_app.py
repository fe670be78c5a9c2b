"""A running app that the window is attached to: what it reports goes to a debugger, which holds and steps it.

The app drives its own runs. `docs/engine-protocol.md` has the messages; `resources/plugins/inspector_plugin.py` is the app's side.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import psutil
from pydantic import BaseModel, ValidationError

from inspector_app.engines.child_calls import ChildInterception
from inspector_app.engines.running_apps import MAX_ANSWER, PROTOCOL, AttachError, RunningApp
from inspector_app.support.tasks import Tasks
from runtime.debugger.agent_calls import AgentCall
from runtime.debugger.debugger import Debugger
from runtime.events.event import Event
from runtime.models.llm_request import LlmRequest
from runtime.sessions.session_key import SessionKey
from runtime.storage.layouts.decode import parse_event
from runtime.support.bounded import EVENT, MOST_BYTES, Budget, TooMuchError, parse

READ_SIZE = 256 * 1024  # bytes at once
CONNECT_SECONDS = 5.0  # for an app to answer
CLOSE_SECONDS = 1.0  # for an app to read the last message
PING_SECONDS = 2.0  # the app ends the connection after 10 s without a word


class _Error(BaseModel, strict=True, extra="allow"):
    """What ended a run."""

    type: str = ""
    message: str = ""
    traceback: str | None = None


class _Message(BaseModel, strict=True, extra="allow"):
    """What all messages of an app have in common; each kind needs some of it. See `docs/engine-protocol.md`."""

    type: str
    run: str | None = None
    app_name: str = ""
    user_id: str = ""
    session_id: str = ""
    state: dict[str, Any] = {}
    older: int | None = None
    store: dict[str, Any] | None = None
    at: int = 0
    root: dict[str, Any] | None = None
    state_before: dict[str, Any] | None = None
    temp: dict[str, Any] | None = None
    error: _Error | None = None


@dataclass(frozen=True, slots=True)
class SeenSession:
    """A session of the app, as it was when the window first saw it.

    Attributes:
        key: the session.
        events: its events, the newest ones if there are many.
        state: its merged state, without `temp:` keys.
        older: how many older events it has.
        file: the app's SQLite database on this machine; None if its sessions are elsewhere.
    """

    key: SessionKey
    events: Sequence[Event]
    state: Mapping[str, Any]
    older: int
    file: str | None


class Watcher(Protocol):
    """Receives what an app reports, on the event loop's thread."""

    def on_session(self, session: SeenSession) -> None:
        """A session is seen for the first time."""

    def on_started(self, key: SessionKey, invocation_id: str, root: Mapping[str, Any]) -> None:
        """A run began; `root` describes the app's agents."""

    def on_committed(self, key: SessionKey, event: Event, temp: dict[str, Any]) -> None:
        """The app's session service has stored an event."""

    async def on_partial(self, key: SessionKey, event: Event) -> None:
        """A piece of a streamed answer arrived; the app is not read on until this returns."""

    def on_request(self, event_id: str, request: LlmRequest) -> None:
        """A model's event answers this request."""

    def on_ended(self, key: SessionKey, invocation_id: str, error: Mapping[str, Any] | None, finished: bool) -> None:
        """A run is over.

        Args:
            key: its session.
            invocation_id: its invocation.
            error: describes the exception that ended it, if the app's google-adk reports it.
            finished: whether it ran to its end.
        """

    def on_problem(self, text: str) -> None:
        """The app could not do what the window asked."""

    def on_lost(self, reason: str, has_ended: bool) -> None:
        """The connection has ended, and the window did not end it; `has_ended` tells whether the app's process has ended, too."""


class _Run:
    """An invocation of the app."""

    def __init__(self, key: SessionKey, interception: ChildInterception) -> None:
        self.key = key
        self.interception = interception
        self.identity = interception.run(key.session_id)
        self.requests: dict[int, LlmRequest] = {}


@dataclass(frozen=True, slots=True)
class _Commit:
    event: Event
    run: _Run | None
    state_before: dict[str, Any] | None
    answer: int | None


class AttachedApp:
    """The connection to one app. Use `connect` to make one, then iterate over `watch`. All methods are called on the loop's thread.

    Attributes:
        app: the app, as it was listed.
        engine: google-adk with its version, or the embedded runtime.
        lost: why the connection ended; empty while it exists, and if the window ended it.
    """

    def __init__(
        self, app: RunningApp, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, hello: Mapping[str, Any], rest: bytes
    ) -> None:
        self.app = app
        self.engine = str(hello.get("engine") or app.engine)
        self.lost = ""
        silence = hello.get("silence")
        self._silence = silence if isinstance(silence, int | float) else 10
        self._reader, self._writer, self._rest = reader, writer, bytearray(rest)
        self._tasks = Tasks(self._on_task_failed)
        self._runs: dict[str, _Run] = {}
        self._places: dict[int, asyncio.Task[Any]] = {}
        self._commits: deque[_Commit] = deque()
        self._changed = asyncio.Event()
        self._is_over = False
        self._policy: dict[str, Any] = {}
        self._goodbye = ""
        self._born = _born(app.pid)
        self._debugger: Debugger | None = None
        self._watcher: Watcher | None = None

    @classmethod
    async def connect(cls, app: RunningApp) -> AttachedApp:
        """Attach to an app. It does not wait anywhere before `watch` is iterated.

        Raises:
            AttachError: the app has ended, does not answer, or refuses.
        """
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                reader, writer = await asyncio.open_connection("127.0.0.1", app.port)
        except (OSError, TimeoutError) as error:
            raise AttachError(f"{app.name} ({app.pid}) cannot be reached: it has ended, or does not answer.") from error
        hello: Any = {}
        line = rest = b""
        try:
            _send(writer, "attach", protocol=PROTOCOL, token=app.token, by=os.getpid())
            async with asyncio.timeout(CONNECT_SECONDS):
                received = b""
                while b"\n" not in received and len(received) < MAX_ANSWER and (data := await reader.read(READ_SIZE)):
                    received += data
            line, _, rest = received.partition(b"\n")
            hello = parse(line) if line else {}
        except (OSError, ValueError, TimeoutError):
            hello = {}
        if not isinstance(hello, dict) or hello.get("type") != "hello":
            await _close(writer)
            reason = hello.get("reason") if isinstance(hello, dict) and hello.get("type") == "refused" else None
            raise AttachError(str(reason or f"{app.name} ({app.pid}) did not answer as an app with the inspector plugin does."))
        return cls(app, reader, writer, hello, rest)

    @property
    def title(self) -> str:
        """The app with its process, for sentences."""
        return f"{self.app.name} ({self.app.pid})"

    def key_of(self, call: AgentCall | None) -> SessionKey | None:
        """Return the session that an agent's call runs in; None if it is unknown."""
        return next((run.key for run in self._runs.values() if call is not None and run.identity is call.run), None)

    async def watch(self, debugger: Debugger, watcher: Watcher) -> AsyncGenerator[Event, None]:
        """Yield the committed events of all runs until the connection ends; pass the generator to `Debugger.run`.

        An app that waits after an event continues when the next one is requested. Closing the generator detaches: the app continues.
        """
        self._debugger, self._watcher = debugger, watcher
        self._tasks.spawn(self._take_messages(), "Reading the app's messages")
        self._tasks.spawn(self._ping(), "Telling the app that the window is there")
        stop_listening = debugger.on_possible_holds(self._send_policy)
        self._send_policy()
        try:
            while (commit := await self._next()) is not None:
                if commit.run is not None:
                    commit.run.interception.committed(commit.event, commit.state_before, commit.run.identity)
                if commit.answer is None:
                    debugger.passed(commit.event.id)
                yield commit.event
                if commit.answer is not None:
                    self._answer(commit.answer, {})
        finally:
            stop_listening()
            await self.close()

    async def close(self) -> None:
        """Detach. All runs that wait in the app continue."""
        if not self._is_over:
            with contextlib.suppress(OSError):
                _send(self._writer, "detach")
        self._finish("")
        await self._tasks.close(1)
        await _close(self._writer)

    async def _next(self) -> _Commit | None:
        while not self._commits:
            if self._is_over:
                return None
            self._changed.clear()
            await self._changed.wait()
        return self._commits.popleft()

    def _send_policy(self) -> None:
        """Tell the app where its runs wait for an answer: where the debugger may hold them."""
        assert self._debugger is not None
        holds = sorted({"start", *self._debugger.possible_holds})  # a run that starts waits, so that it passes no breakpoint of before
        policy = {"hold": holds, "state": self._debugger.breakpoints.use_state, "requests": True}
        if policy != self._policy:
            self._policy = policy
            _send(self._writer, "policy", **policy)

    def _answer(self, number: int, fields: Mapping[str, Any]) -> None:
        if not self._is_over:
            _send(self._writer, "go", **{**fields, "at": number})

    async def _ping(self) -> None:
        while not self._is_over:
            await asyncio.sleep(PING_SECONDS)
            _send(self._writer, "ping")

    async def _take_messages(self) -> None:
        """Take the app's messages until the connection ends."""
        searched = 0
        try:
            while True:
                while (end := self._rest.find(b"\n", searched)) >= 0:
                    line = bytes(self._rest[:end])
                    del self._rest[: end + 1]
                    searched = 0
                    budget = Budget()
                    head, tab, about = line.partition(b"\t")
                    await self._take(_checked(budget.parse(head)), budget.parse(about) if tab else None, budget)
                searched = len(self._rest)
                data = await self._reader.read(READ_SIZE)
                if not data:
                    break
                if searched > MOST_BYTES:
                    raise TooMuchError(f"is longer than {MOST_BYTES:,} bytes")
                self._rest += data
        except OSError:
            pass
        except ValueError as error:
            self._finish(f"A message of {self.title} cannot be read: {error}. The app continues without the window.")
            return
        except (LookupError, TypeError, AttributeError) as error:
            why = f"A message of {self.title} lacks a field, or has one of another kind ({error!r})"
            self._finish(f"{why}. The app continues without the window; attach again, with the plugin of this version.")
            return
        self._finish(*await self._why_lost())

    async def _why_lost(self) -> tuple[str, bool]:
        """Return why the connection ended without a word of the window, and whether the process has ended."""
        if self._goodbye == "closed":
            return f"{self.title} has closed its Runner, and continues without the window.", False
        for _ in range(0 if self._goodbye == "exit" else 60):  # a killed process's sockets are closed a moment before it has ended
            if _born(self.app.pid) != self._born:
                break
            await asyncio.sleep(0.05)
        else:
            if not self._goodbye:
                text = f"An app closes it when the window has not answered for {self._silence:g} s"
                return f"The connection to {self.title} is lost; the app continues without the window. {text}: attach again.", False
        return f"{self.title} has ended.", True

    async def _take(self, message: dict[str, Any], about: Any, budget: Budget) -> None:
        """Take a message, and the event that it is about, or the session's events."""
        kind = message["type"]
        message["event"] = about
        assert self._debugger is not None and self._watcher is not None
        run = self._runs.get(message.get("run") or "")
        if kind == "session":
            budget.take(EVENT * len(about))
            events = [_event(event) for event in about]
            store = message.get("store") or {}
            self._watcher.on_session(SeenSession(_key(message), events, message["state"], message.get("older") or 0, store.get("file")))
        elif kind == "started":
            self._start(message)
        elif kind == "committed":
            self._commit(message, run)
        elif kind == "partial":
            await self._watcher.on_partial(_key(message), _event(message["event"]))
        elif kind == "at":
            await self._at(message, run)
        elif kind == "left" and message["at"] in self._places:
            self._places[message["at"]].cancel()
        elif kind == "ended" and run is not None:
            del self._runs[message["run"]]
            self._debugger.run_ended(run.identity)
            self._watcher.on_ended(run.key, message["run"], message.get("error"), bool(message.get("finished")))
        elif kind == "bye":
            self._goodbye = str(message.get("why"))
        elif kind == "error":
            error = message.get("error") or {}
            self._watcher.on_problem(f"{self.title}: {error.get('type')}: {error.get('message')}")

    def _start(self, message: Mapping[str, Any]) -> None:
        assert self._debugger is not None and self._watcher is not None
        requests: dict[int, LlmRequest] = {}
        run = _Run(_key(message), ChildInterception(self._debugger, self._answer, requests.__setitem__))
        run.requests = requests
        self._runs[message["run"]] = run
        self._watcher.on_started(run.key, message["run"], message.get("root") or {})
        if message.get("waits"):
            self._answer(message["at"], {})

    def _commit(self, message: Mapping[str, Any], run: _Run | None) -> None:
        assert self._watcher is not None
        event = _event(message["event"])
        request = run.requests.pop(message.get("request") or 0, None) if run is not None else None
        if request is not None:
            self._watcher.on_request(event.id, request)
        self._watcher.on_committed(_key(message), event, message.get("temp") or {})
        if event.author != "user":  # a run does not yield the user's own messages
            self._commits.append(_Commit(event, run, message.get("state_before"), message["at"] if message.get("waits") else None))
            self._changed.set()

    async def _at(self, message: Mapping[str, Any], run: _Run | None) -> None:
        if run is None:
            if message.get("waits"):
                self._answer(message["at"], {})
        elif message.get("waits"):
            number = message["at"]
            task = self._places[number] = self._tasks.spawn(run.interception.at(message), "Holding the app")
            task.add_done_callback(lambda _: self._places.pop(number, None))
        else:
            await run.interception.at(message)

    def _finish(self, why: str, has_ended: bool = False) -> None:
        if self._is_over:
            return
        self._is_over = True
        self.lost = why
        for task in list(self._places.values()):
            task.cancel()
        self._changed.set()
        if why and self._watcher is not None:
            self._watcher.on_lost(why, has_ended)

    def _on_task_failed(self, name: str, error: BaseException) -> None:
        self._finish(f"{name} failed: {type(error).__name__}: {error}. The app continues without the window.")


def _born(pid: int) -> float | None:
    """Return when a process began, which tells it from another one that has its id later; None if it has ended."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        return process.create_time() if process.status() != psutil.STATUS_ZOMBIE else None
    return None


def _send(writer: asyncio.StreamWriter, kind: str, **fields: Any) -> None:
    """Send a message without waiting; after the connection's end it is dropped."""
    if not writer.is_closing():
        writer.write(json.dumps({"type": kind, **fields}).encode() + b"\n")


async def _close(writer: asyncio.StreamWriter) -> None:
    """Close a connection; what an app does not read in time is dropped."""
    writer.close()
    with contextlib.suppress(OSError, TimeoutError):
        # Not `asyncio.timeout`, which up to Python 3.11.2 raises CancelledError in a task that is being cancelled.
        await asyncio.wait_for(writer.wait_closed(), CLOSE_SECONDS)
    writer.transport.abort()


def _checked(message: Any) -> dict[str, Any]:
    """Return a message whose fields are of their kinds.

    Raises:
        ValueError: one is not.
    """
    try:
        _Message.model_validate(message)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}") from None
    return message  # type: ignore[no-any-return]


def _key(message: Mapping[str, Any]) -> SessionKey:
    return SessionKey(message["app_name"], message["user_id"], message["session_id"])


def _event(data: Mapping[str, Any]) -> Event:
    return parse_event(json.dumps(data))
