"""The engines: the real google-adk and the embedded runtime in processes of their own, and the embedded runtime in this one."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest
import pytest_asyncio

from inspector_app.engines.agent_loader import load_agent
from inspector_app.engines.agent_output import OutputLine, OutputSources
from inspector_app.engines.child_engine import ChildEngine
from inspector_app.engines.embedded import EmbeddedEngine
from inspector_app.engines.recorder_file import recorder_plugin
from runtime.artifacts.in_memory_artifact_service import InMemoryArtifactService
from runtime.debugger.request_recorder import RequestRecorder
from runtime.events.event import Event
from runtime.plugins.base_plugin import BasePlugin
from runtime.sessions.in_memory_session_service import InMemorySessionService
from runtime.sessions.session_key import SessionKey
from tests.interop.google_adk import adk_1_25_python, adk_1_python, adk_python

_FOLDER = tempfile.TemporaryDirectory(prefix="agent-inspector-engines-")
AGENTS = Path(shutil.copytree(Path(__file__).with_name("agents"), Path(_FOLDER.name) / "agents"))
"""A copy: google-adk makes a folder `.adk` beside the agents."""


EMBEDDED = "embedded"  # the embedded runtime, in a process of its own
PYTHONS = {"2.13": adk_python, "1.39": adk_1_python, "1.25": adk_1_25_python, EMBEDDED: lambda: sys.executable}


IN_PROCESS = "in process"  # the embedded runtime, in this process
ENGINES = (*PYTHONS, IN_PROCESS)


class EngineInProcess(EmbeddedEngine):
    """The embedded engine, with what tests ask of a child engine."""

    async def new_session(self, user_id: str, state: Mapping[str, Any] | None = None, session_id: str | None = None) -> SessionKey:
        session = await self._service.create_session(
            app_name=self.agent.app_name, user_id=user_id, state=dict(state or {}), session_id=session_id
        )
        return session.key

    async def session(self, key: SessionKey) -> tuple[dict[str, Any], list[Event]] | None:
        found = await self._service.get_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
        return (dict(found.state), list(found.events)) if found is not None else None


class _Requests(RequestRecorder):
    def __init__(self, kept: dict[str, Any]) -> None:
        super().__init__()
        self._all = kept

    def keep(self, event_id: str, request: Any) -> None:
        self._all[event_id] = request


@dataclass
class Started:
    """An engine, and what it has reported."""

    engine: ChildEngine
    version: str
    committed: list[tuple[Event, dict[str, Any]]] = field(default_factory=list)
    output: list[tuple[str, str]] = field(default_factory=list)
    written: list[OutputLine] = field(default_factory=list)
    requests: dict[str, Any] = field(default_factory=dict)
    ended: list[Exception] = field(default_factory=list)

    def take_output(self, line: OutputLine) -> None:
        self.written.append(line)
        if line.stream != "traceback":
            self.output.append((line.stream, line.text))


Start = Callable[..., Awaitable[Started]]


async def start(version: str, path: Path | str, **options: Any) -> Started:
    started = Started(None, version)  # type: ignore[arg-type]
    started.engine = await ChildEngine.start(
        PYTHONS[version](),
        path,
        lambda event, temp: started.committed.append((event, temp)),
        on_output=started.take_output,
        on_request=started.requests.__setitem__,
        on_ended=started.ended.append,
        embedded=version == EMBEDDED,
        **options,
    )
    return started


@asynccontextmanager
async def started_in_process(path: Path, recording: Path | None = None) -> AsyncIterator[Started]:
    started = Started(None, IN_PROCESS)  # type: ignore[arg-type]
    loaded = replace(load_agent(str(path)), on_output=started.take_output)

    def on_commit(event: Event, temp: dict[str, Any]) -> None:
        started.committed.append((event, temp))

    plugins: list[BasePlugin] = [_Requests(started.requests), OutputSources(started.take_output, loaded.folder)]
    plugins += [recorder_plugin(recording)] if recording is not None else []
    engine = EngineInProcess(loaded.app, InMemorySessionService(), InMemoryArtifactService(), on_commit, plugins)
    started.engine = cast(ChildEngine, engine)
    with loaded.active():
        yield started


@pytest.fixture(scope="module", params=PYTHONS)
def version(request: pytest.FixtureRequest) -> Iterator[str]:
    PYTHONS[request.param]()  # skips where that google-adk is absent
    yield request.param


@pytest.fixture(params=PYTHONS if os.environ.get("INSPECTOR_SOAK") else ["2.13"])
def newest(request: pytest.FixtureRequest) -> str:
    """One version, where the others differ in nothing; all of them in `make soak`."""
    PYTHONS[request.param]()
    return str(request.param)


@pytest_asyncio.fixture
async def start_engine() -> AsyncIterator[Start]:
    """Return a function that starts an engine, which is closed after the test."""
    all_started: list[Started] = []

    async def begin(version: str, path: Path | str, **options: Any) -> Started:
        all_started.append(await start(version, path, **options))
        return all_started[-1]

    yield begin
    for started in all_started:
        await started.engine.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=ENGINES)
async def shared(request: pytest.FixtureRequest) -> AsyncIterator[Started]:
    """An engine with the agent `steps`, for all tests of a module that do not end it."""
    version = request.param
    if version == IN_PROCESS:
        async with started_in_process(AGENTS / "steps") as started:
            yield started
        return
    started = await start(version, AGENTS / "steps")
    yield started
    await started.engine.close()
