"""An agent that runs in a process of its own, for the commands."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from google.genai import types

from inspector_app.commands import stdout
from inspector_app.engines.adk_storage import session_storage
from inspector_app.engines.agent_output import OutputLine
from inspector_app.engines.child_engine import ChildEngine
from inspector_app.engines.engine_choice import EnginePlan
from inspector_app.engines.environments import child_variables, own_environment
from inspector_app.engines.protocol import Debugpy, free_port
from runtime.debugger.debugger import Debugger
from runtime.events import Event
from runtime.storage.connections.database_url import database_url
from runtime.support.worker_threads import run_in_thread


@asynccontextmanager
async def open_child(plan: EnginePlan, database: str | None, recording: Path | None = None) -> AsyncIterator[ChildEngine]:
    """Yield the engine of a child process, and end the process afterwards. What the agent writes goes to stderr.

    Args:
        plan: what runs the agent.
        database: the path or URL of the sessions' database; None keeps them in memory.
        recording: the file in which model and tool calls are recorded; None: nowhere.

    Raises:
        KnownError: the agent cannot be loaded, or its google-adk cannot use the database.
    """
    is_adk = plan.kind == "adk"
    environment = plan.decision.environment if is_adk else own_environment()
    debugpy = Debugpy(free_port(plan.debugpy), wait=True) if plan.debugpy is not None else None
    if debugpy is not None:
        stdout.complain(f"agent-inspector: {debugpy.hint} The agent starts then.\n")
    engine = await ChildEngine.start(
        environment.python,
        plan.decision.agent,
        _nothing,
        sessions=await run_in_thread(_sessions, database, environment.adk_version if is_adk else None),
        environ=await run_in_thread(child_variables, environment, plan.decision.agent),
        embedded=not is_adk,
        debugpy=debugpy,
        recording=recording,
        on_output=_show_output,
    )
    try:
        engine.attach(Debugger())
        yield engine
    finally:
        await engine.close()


def message_of(text: str) -> types.Content:
    """Return a user's message."""
    return types.Content(role="user", parts=[types.Part(text=text)])


def _sessions(database: str | None, adk_version: str | None) -> Mapping[str, Any]:
    """Return where a child stores its sessions; `adk_version` is None on the embedded runtime."""
    if adk_version is not None:
        return session_storage(database, adk_version)
    return {"kind": "database", "url": database_url(database).render_as_string(hide_password=False)} if database else {"kind": "memory"}


def _show_output(line: OutputLine) -> None:
    if line.stream != "traceback":  # printed with the failure
        stdout.complain(f"{line.text}\n")


def _nothing(event: Event, temp: dict[str, Any]) -> None:
    """Ignore a commit: the run yields the event."""
