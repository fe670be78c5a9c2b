"""Running apps with the inspector plugin, and a window's side without a window."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

import pytest

from inspector_app.engines.attached_app import AttachedApp, SeenSession
from inspector_app.engines.running_apps import PLUGIN, PROTOCOL, RunningApp, choose, running_apps
from runtime.debugger.breakpoints import Breakpoints
from runtime.debugger.debugger import Debugger
from runtime.debugger.hold import Hold
from runtime.events.event import Event
from runtime.sessions.session_key import SessionKey
from tests.interop.engines.conftest import EMBEDDED, PYTHONS

STEPS = Path(__file__).parents[1] / "engines" / "agents" / "steps"
ROOT = Path(__file__).parents[3]
SECONDS = 60.0  # for anything that an app or the connection does; a slow machine needs a part of it

WEATHER = json.dumps([["call", "weather", {"city": "Bern"}], ["stream", "It is ", "blue."]])
WEATHER_TEXTS = ["call weather", "result {'sky': 'blue over Bern'}", "It is blue."]


class UserApp:
    """A running app, as `user_app.py`."""

    def __init__(self, version: str, folder: Path, database: str, environ: Mapping[str, str]) -> None:
        program = [PYTHONS[version](), str(Path(__file__).with_name("user_app.py")), str(folder), database, version]
        self.process = subprocess.Popen(
            program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(environ), cwd=folder.parent
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        assert self.answer() == {"ready": True}

    @property
    def pid(self) -> int:
        return self.process.pid

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):  # the others are what tools print
                self._lines.put(line)

    def send(self, message: str, session: str = "s1", **fields: Any) -> None:
        """Begin a run."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"session": session, "message": message, **fields}) + "\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Return what the app says next."""
        found: dict[str, Any] = json.loads(self._lines.get(timeout=SECONDS))
        return found

    async def answered(self) -> dict[str, Any]:
        """Return what the app says next, while the loop runs."""
        return await asyncio.to_thread(self.answer)

    @property
    def is_silent(self) -> bool:
        """Whether the app has said nothing that was not taken."""
        return self._lines.empty()

    def connect(self, **fields: Any) -> tuple[socket.socket, dict[str, Any]]:
        """Send a handshake, and return the connection and the answer; the answer is empty if there is none."""
        app = self.listed()
        connection = socket.create_connection(("127.0.0.1", app.port), SECONDS)
        line = {"type": "attach", "protocol": PROTOCOL, "token": app.token, "by": os.getpid(), **fields}
        connection.sendall(json.dumps(line).encode() + b"\n")
        received = b""
        while not received.endswith(b"\n") and (data := connection.recv(65_536)):
            received += data
        return connection, json.loads(received or b"{}")

    def listed(self) -> RunningApp:
        """Return the app as the list of running apps has it."""
        return choose(str(self.pid), running_apps())


StartApp = Callable[..., UserApp]


@pytest.fixture
def runtime_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's runtime folder of this test."""
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


@pytest.fixture
def start_app(tmp_path: Path, runtime_folder: Path) -> Iterator[StartApp]:
    """Return a function that starts an app; all are ended after the test."""
    started: list[UserApp] = []

    def begin(version: str = "2.13", database: str = "memory") -> UserApp:
        folder = tmp_path / "user" / "steps"
        if not folder.exists():
            shutil.copytree(STEPS, folder, ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copy(PLUGIN, folder.parent)
        environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore"}
        environ["PYTHONPATH"] = os.pathsep.join([str(folder.parent), *([str(ROOT)] if version == EMBEDDED else [])])
        started.append(UserApp(version, folder, database, environ))
        return started[-1]

    yield begin
    for app in started:
        app.process.kill()
        app.process.wait()
        for pipe in (app.process.stdin, app.process.stdout):
            assert pipe is not None
            with_errors(pipe.close)


def with_errors(close: Callable[[], None]) -> None:
    """Close a pipe whose reader may have ended."""
    with suppress(BrokenPipeError):
        close()


class Watching:
    """The window's side: attaches, and records what the app reports."""

    def __init__(self, attached: AttachedApp, debugger: Debugger) -> None:
        self.attached = attached
        self.debugger = debugger
        self.sessions: dict[str, SeenSession] = {}
        self.started: list[str] = []
        self.committed: list[tuple[str, Event, dict[str, Any]]] = []
        self.partials: list[str] = []
        self.requests: list[str] = []
        self.ended: list[tuple[str, Any, bool]] = []
        self.problems: list[str] = []
        self.lost = ""
        self.has_ended = False
        self.root: Mapping[str, Any] = {}
        self._reported = asyncio.Event()
        self.task = asyncio.ensure_future(self._consume())

    @classmethod
    async def begin(cls, app: UserApp, *, paused: bool = False, breakpoints: Breakpoints | None = None) -> Watching:
        listed = await asyncio.to_thread(app.listed)
        return cls(await AttachedApp.connect(listed), Debugger(paused=paused, breakpoints=breakpoints))

    async def _consume(self) -> None:
        async with aclosing(self.debugger.run(self.attached.watch(self.debugger, self))) as events:
            async for _ in events:
                pass
        await self.attached.close()

    async def held(self, place: str = "") -> Hold:
        """Return the next hold, which must be at this place."""
        async with asyncio.timeout(SECONDS):
            hold = await self.debugger.wait_until_held()
        assert place in ("", hold.place), hold
        return hold

    async def wait_for(self, condition: Callable[[], Any]) -> None:
        """Wait until something has been reported."""
        async with asyncio.timeout(SECONDS):
            while not condition():
                self._reported.clear()
                await self._reported.wait()

    async def detach(self) -> None:
        """Stop watching."""
        self.debugger.stop()
        async with asyncio.timeout(SECONDS):
            await self.task

    def texts(self, session: str = "s1") -> list[str]:
        """Return what was committed to a session, in the app's words."""
        return [text for key, event, _ in self.committed if key == session and event.author != "user" for text in _texts(event)]

    def on_session(self, session: SeenSession) -> None:
        self._reported.set()
        self.sessions[session.key.session_id] = session

    def on_started(self, key: SessionKey, invocation_id: str, root: Mapping[str, Any]) -> None:
        self._reported.set()
        self.started.append(key.session_id)
        self.root = root

    def on_committed(self, key: SessionKey, event: Event, temp: dict[str, Any]) -> None:
        self._reported.set()
        self.committed.append((key.session_id, event, temp))

    async def on_partial(self, key: SessionKey, event: Event) -> None:
        self._reported.set()
        self.partials.extend(_texts(event))

    def on_request(self, event_id: str, request: Any) -> None:
        self._reported.set()
        self.requests.append(event_id)

    def on_ended(self, key: SessionKey, invocation_id: str, error: Mapping[str, Any] | None, finished: bool) -> None:
        self._reported.set()
        self.ended.append((key.session_id, error, finished))

    def on_problem(self, text: str) -> None:
        self._reported.set()
        self.problems.append(text)

    def on_lost(self, reason: str, has_ended: bool) -> None:
        self._reported.set()
        self.lost, self.has_ended = reason, has_ended
        self.debugger.stop()


def _texts(event: Event) -> list[str]:
    parts = event.content.parts if event.content and event.content.parts else []
    return [
        part.text or (f"call {part.function_call.name}" if part.function_call else f"result {part.function_response.response}")  # type: ignore[union-attr]
        for part in parts
    ]


@pytest.fixture(params=PYTHONS)
def version(request: pytest.FixtureRequest) -> str:
    PYTHONS[request.param]()
    return str(request.param)
