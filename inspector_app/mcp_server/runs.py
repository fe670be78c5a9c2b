"""One run of trusted code at a time, under the debugger, in a database of the server's own: nothing of the user's is written."""

from __future__ import annotations

import asyncio
import importlib
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspector_app.documents.sources import UnsavedFile
from inspector_app.engines.agent_loader import check_agent_path, load_agent
from inspector_app.engines.code_files import code_digest
from inspector_app.engines.engine_choice import EngineChoice, plan_engine
from inspector_app.engines.protocol import Agent, Engine
from inspector_app.engines.samples import is_bundled
from inspector_app.mcp_server.tool import WrongArgumentError
from inspector_app.support.preferences import Preferences
from inspector_app.support.tasks import Tasks
from runtime.debugger.breakpoint import When
from runtime.debugger.breakpoints import Breakpoints
from runtime.debugger.debugger import Debugger
from runtime.debugger.hold import Hold
from runtime.errors import KnownError
from runtime.events.event import Event
from runtime.expressions import ExpressionError
from runtime.sessions.session_key import SessionKey
from runtime.storage.recordings.recording import recording_beside
from runtime.support.worker_threads import run_in_thread

_BEFORE_TOOL = re.compile(r"before tool(?:\s+(\S+))?\Z")
SECONDS = 60  # that a question waits for a run; it may ask for more


class RunStateError(KnownError):
    """There is no run to continue, or one has not ended; the message says what to do."""


@dataclass
class Run:
    """A run.

    Attributes:
        agent: what runs.
        key: its session.
        debugger: holds it.
        task: drives it.
        events: the committed events so far.
        told: how many of them were in an answer.
        error: why it failed.
        notes: more to say once it has ended.
    """

    agent: str
    key: SessionKey
    debugger: Debugger
    task: asyncio.Task[None] | None = None
    events: list[Event] = field(default_factory=list)
    told: int = 0
    error: Exception | None = None
    notes: Callable[[], list[str]] = list

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.task is not None and self.task.done()

    @property
    def hold(self) -> Hold | None:
        """Where it is held; None while it runs and after its end."""
        return None if self.is_over else self.debugger.hold


Begin = Callable[[Engine, SessionKey], AsyncGenerator[Event, None]]


class Runs:
    """The runs of one server."""

    def __init__(self, database: Path) -> None:
        self.store = UnsavedFile(database)
        self.current: Run | None = None
        self._agents: dict[str, Agent] = {}
        self._tasks = Tasks(_unreported)

    async def agent(self, path: str) -> Agent:
        """Return an agent, loaded again if no run uses it, so that its present code runs.

        Raises:
            KnownError: it is not trusted, or cannot be loaded.
        """
        self.check_free()
        previous = self._agents.pop(path, None)
        if previous is not None:
            await previous.close()
        loaded = await load_trusted(path)
        self._agents[path] = loaded
        Path(self.store.target).parent.mkdir(parents=True, exist_ok=True)
        return loaded

    def check_free(self) -> None:
        """Refuse a second run.

        Raises:
            RunStateError: a run has not ended.
        """
        if self.current is not None and not self.current.is_over:
            raise RunStateError("A run is still held or running. continue_run(how='stop') ends it.")

    def held(self) -> Run:
        """Return the present run.

        Raises:
            RunStateError: there is none, or it has ended.
        """
        run = self.current
        if run is None or run.is_over:
            raise RunStateError("No run is held. run_agent or rerun_with_change begins one.")
        return run

    async def start(self, path: str, agent: Agent, key: SessionKey | None, user: str, begin: Begin, until: str | None) -> Run:
        """Begin a run.

        Args:
            path: the agent's, for answers.
            agent: the loaded agent.
            key: the session; None: a new one.
            user: the new session's user.
            begin: starts it.
            until: where to hold; see `condition_of`.

        Raises:
            KnownError: it cannot be started.
        """
        engine = await agent.open_engine(self.store, _ignore, recording=recording_beside(Path(self.store.target)))
        key = key or await engine.new_session(user)
        debugger = Debugger(paused=until == "step", breakpoints=breakpoints_of(until))
        engine.attach(debugger)
        run = self.current = Run(path, key, debugger)
        run.task = self._tasks.spawn(_drive(run, agent, debugger.run(begin(engine, key))), f"Running {path}")
        return run

    async def wait(self, run: Run, seconds: int | None) -> None:
        """Wait until a run is held or over, for some time at most."""
        assert run.task is not None
        held = self._tasks.spawn(run.debugger.wait_until_held(), "Waiting for a hold")
        try:
            await asyncio.wait({held, run.task}, timeout=SECONDS if seconds is None else seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            held.cancel()
            await asyncio.wait({held})

    async def close(self) -> None:
        """End the run and the agents."""
        run = self.current
        if run is not None and run.task is not None and not run.task.done():
            run.debugger.stop()
            await asyncio.wait({run.task}, timeout=5)
            run.task.cancel()
        for agent in self._agents.values():
            await agent.close()
        await self.store.close()


def breakpoints_of(until: str | None) -> Breakpoints:
    """Return the breakpoints of a condition.

    Args:
        until: `step`, `before model`, `before tool`, `before tool NAME`, `error`, or an expression over committed events; None: none.

    Raises:
        WrongArgumentError: it cannot be read.
    """
    found = Breakpoints()
    if until is None or until == "step":
        return found
    when: When = "event"
    tool = condition = ""
    if before := _BEFORE_TOOL.match(until):
        when, tool = "before tool", before[1] or ""
    elif until in ("before model", "error"):
        when = "before model" if until == "before model" else "error"
    else:
        condition = until
    try:
        found.add(condition, when=when, tool=tool)
    except ExpressionError as error:
        raise WrongArgumentError(f"`until` is not a place or a condition: {error}") from None
    return found


async def _drive(run: Run, agent: Agent, events: AsyncGenerator[Event, None]) -> None:
    try:
        with agent.active():
            async with aclosing(events) as going:
                async for event in going:
                    if not event.partial:
                        run.events.append(event)
    except Exception as error:
        run.error = error


def _unreported(_name: str, _error: BaseException) -> None:
    """Report nothing: a run's error is part of the answer."""


def _ignore(*_: object) -> None:
    """Ignore an event, or what the agent writes: neither is in an answer of its own."""


class NotTrustedError(KnownError):
    """The folder's code may not run; the message says why."""


async def load_trusted(path: str) -> Agent:
    """Load an agent.

    Raises:
        NotTrustedError: the user has not trusted the folder, or its code has changed since.
        KnownError: it cannot be loaded.
    """
    check_agent_path(path)
    folder = await run_in_thread(_folder_of, path)
    if not await run_in_thread(is_trusted, folder):
        raise NotTrustedError(
            f"{path} is not trusted, or its code has changed since it was. Ask the user to open it once with `agent-inspector {path}`"
            " and to trust it there. This server trusts nothing by itself."
        )
    preferences = Preferences()
    chosen = preferences.engine(folder)
    plan = await run_in_thread(plan_engine, path, _choice(chosen))
    if plan.kind == "embedded":
        return await run_in_thread(load_agent, path)
    child = importlib.import_module("inspector_app.engines.child_agent").ChildAgent
    environment = plan.decision.environment if plan.kind == "adk" else None
    loaded: Agent = await child.load(plan.decision.agent, environment, _ignore)
    return loaded


def _folder_of(path: str) -> Path:
    place = Path(path)
    return (place if place.is_dir() else place.parent).resolve()


def is_trusted(folder: Path) -> bool:
    """Return whether the user has trusted a folder's present code.

    Args:
        folder: an absolute path without links.
    """
    if is_bundled(folder):
        return True
    known = Preferences().trusted_code(folder)
    inode = str(known.get("identity", "")).partition(":")[0]  # the rest is the time of creation, which Python cannot read everywhere
    if not known or inode != str(folder.stat().st_ino):
        return False
    return known.get("changes") is True or (known.get("digest") is not None and known["digest"] == code_digest(folder))


def _choice(chosen: dict[str, Any]) -> EngineChoice:
    kind, python = chosen.get("kind"), chosen.get("python")
    return EngineChoice(kind if kind in ("adk", "embedded", "embedded-process") else None, python if isinstance(python, str) else None)
