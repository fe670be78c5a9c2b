"""The services that a Runner gets."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any

from . import google_adk
from .errors import WorkerError
from .loading import Agent


def make_session_service(wanted: dict[str, Any], agent: Agent) -> Any:
    """Return google-adk's own session service.

    Args:
        wanted: `kind`: `memory`, `database` with `url`, `sqlite` with `path`, or `adk`: as `adk web` chooses for this folder.
        agent: the agent.
    """
    kind = wanted.get("kind")
    if kind == "memory":
        return google_adk.required("google.adk.sessions.in_memory_session_service", "InMemorySessionService")()
    if kind == "sqlite":
        return google_adk.required("google.adk.sessions.sqlite_session_service", "SqliteSessionService")(wanted["path"])
    if kind == "database":
        return google_adk.required("google.adk.sessions.database_session_service", "DatabaseSessionService")(wanted["url"])
    if kind == "adk":
        return _from_factory("create_session_service_from_options", agent)
    raise WorkerError(f"There is no session service of kind {kind!r}.")


def make_other_services(agent: Agent, app_name: str) -> dict[str, Any]:
    """Return the artifact, memory and credential services that `adk web` would choose for the agent's folder."""
    with contextlib.suppress(ImportError):
        google_adk.module("google.adk.cli.service_registry").load_services_module(str(agent.agents_dir))
    services = {
        "artifact_service": _from_factory("create_artifact_service_from_options", agent, app_name),
        "memory_service": _from_factory("create_memory_service_from_options", agent, app_name),
    }
    credentials = google_adk.find_class("google.adk.auth.credential_service.in_memory_credential_service", "InMemoryCredentialService")
    if credentials is not None:
        services["credential_service"] = credentials()
    return services


_IN_MEMORY = {
    "create_session_service_from_options": ("google.adk.sessions.in_memory_session_service", "InMemorySessionService"),
    "create_artifact_service_from_options": ("google.adk.artifacts.in_memory_artifact_service", "InMemoryArtifactService"),
    "create_memory_service_from_options": ("google.adk.memory.in_memory_memory_service", "InMemoryMemoryService"),
}


def _from_factory(function: str, agent: Agent, app_name: str = "") -> Any:
    try:
        make = getattr(google_adk.module("google.adk.cli.utils.service_factory"), function)
    except (ImportError, AttributeError):  # an older version, whose adk web keeps them in memory
        return google_adk.required(*_IN_MEMORY[function])()
    names = {app_name: agent.name} if app_name and app_name != agent.name else None
    options = {"base_dir": agent.agents_dir, "app_name_to_dir": names, "use_local_storage": True}
    known = inspect.signature(make).parameters
    return make(**{name: value for name, value in options.items() if name in known})


async def close(opened: Any) -> None:
    """Close a service or a Runner, if its version of google-adk can."""
    end = getattr(opened, "close", None)
    closing = end() if callable(end) else None
    if inspect.isawaitable(closing):
        await closing


def make_runner(agent: Agent, is_app: bool, app_name: str, services: dict[str, Any]) -> Any:
    """Return the Runner for an agent.

    Args:
        agent: the agent.
        is_app: whether its code defines an App.
        app_name: the app's name.
        services: the Runner's services, by the names of its arguments.
    """
    runner_class = google_adk.required("google.adk.runners", "Runner")
    if is_app:
        return runner_class(app=agent.root, **services)
    base = google_adk.required("google.adk.agents.base_agent", "BaseAgent")
    what = "agent" if isinstance(agent.root, base) else "node"
    return runner_class(app_name=app_name, **{what: agent.root}, **services)
