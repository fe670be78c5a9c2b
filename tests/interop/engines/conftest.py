"""Engines with the real google-adk, in processes of their own."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from inspector_app.engines.agent_output import OutputLine
from inspector_app.engines.child_engine import ChildEngine
from runtime.events.event import Event
from tests.interop.google_adk import adk_1_python, adk_python

_FOLDER = tempfile.TemporaryDirectory(prefix="agent-inspector-engines-")
AGENTS = Path(shutil.copytree(Path(__file__).with_name("agents"), Path(_FOLDER.name) / "agents"))
"""A copy: google-adk makes a folder `.adk` beside the agents."""


def _adk_1_25_python() -> str:
    given = os.environ.get("INSPECTOR_ADK_1_25_PYTHON")
    if not given or not Path(given).exists():
        pytest.skip("google-adk 1.25 is not installed: set INSPECTOR_ADK_1_25_PYTHON to a Python that has it")
    return given


EMBEDDED = "embedded"  # the embedded runtime, in a process of its own
PYTHONS = {"2.13": adk_python, "1.39": adk_1_python, "1.25": _adk_1_25_python, EMBEDDED: lambda: sys.executable}


@dataclass
class Started:
    """An engine, and what it has reported."""

    engine: ChildEngine
    version: str
    committed: list[tuple[Event, dict[str, Any]]] = field(default_factory=list)
    output: list[tuple[str, str]] = field(default_factory=list)
    written: list[OutputLine] = field(default_factory=list)
    ahead: list[str] = field(default_factory=list)
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
        on_ahead=started.ahead.append,
        on_ended=started.ended.append,
        embedded=version == EMBEDDED,
        **options,
    )
    return started


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


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(version: str) -> AsyncIterator[Started]:
    """An engine with the agent `steps`, for all tests of a module that do not end it."""
    started = await start(version, AGENTS / "steps")
    yield started
    await started.engine.close()
