"""An agent as a web application that other agents ask over the protocol A2A."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.middleware import Middleware

from runtime.a2a.own_requests import OwnRequests
from runtime.agents.base_agent import BaseAgent
from runtime.artifacts.in_memory_artifact_service import InMemoryArtifactService
from runtime.errors.missing_package_error import require
from runtime.memory.in_memory_memory_service import InMemoryMemoryService
from runtime.runners import Runner
from runtime.sessions.in_memory_session_service import InMemorySessionService
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from runtime.a2a import agent_card as cards
    from runtime.a2a import routes
else:
    cards, routes = lazy_module("runtime.a2a.agent_card"), lazy_module("runtime.a2a.routes")


def to_a2a(
    agent: BaseAgent,
    *,
    host: str = "localhost",
    port: int = 8000,
    protocol: str = "http",
    rpc_path: str = "",
    agent_card: Any = None,
    push_config_store: Any = None,
    task_store: Any = None,
    runner: Runner | None = None,
    lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]] | None = None,
    agent_executor_factory: Callable[[Runner], Any] | None = None,
    security_schemes: dict[str, Any] | None = None,
    default_skill_security: list[dict[str, list[str]]] | None = None,
) -> Starlette:
    """Return an application for `uvicorn module:app` that serves an agent.

    The package a2a-sdk is needed when the application starts. Requests that a web page could have sent, and requests for another host than
    this machine, `host` or a host that the card names, are rejected.

    Args:
        agent: the agent.
        host: the host in the card's URL.
        port: the port in the card's URL.
        protocol: the scheme in the card's URL.
        rpc_path: the path below which the agent is served; empty for the root.
        agent_card: an `a2a.types.AgentCard`, or a file with one as JSON; None for one that is made from the agent.
        push_config_store: keeps where clients want to be notified; None for one in memory.
        task_store: keeps tasks; None for one in memory.
        runner: runs the agent; None for one with services in memory.
        lifespan: what else starts and ends with the application.
        agent_executor_factory: makes an `a2a.server.agent_execution.AgentExecutor` from the runner; None for ours.
        security_schemes: schemes that the card names, by name; nothing here enforces them.
        default_skill_security: what the card says each skill requires, as a list of objects: scheme → scopes.

    Raises:
        MissingPackageError: at the start: a2a-sdk is not installed.
        ValueError: at the start: the file has no card.
    """
    prefix = f"/{rpc_path.strip('/')}" if rpc_path.strip("/") else ""
    known_hosts = {host.strip("[]").lower()}

    @asynccontextmanager
    async def starting(app: Starlette) -> AsyncIterator[None]:
        require("a2a", "a2a", "Agents that are served over A2A", oldest="1", distribution="a2a-sdk")
        card = cards.given(agent_card)
        if card is None:
            security = (security_schemes or {}, default_skill_security or [])
            card = await cards.made_from(agent, f"{protocol}://{host}:{port}{prefix}", *security)
        known_hosts.update(cards.hosts_of(card))
        used = runner or _runner(agent)
        executor = agent_executor_factory(used) if agent_executor_factory else routes.executor_of(used)
        app.routes.extend(routes.made_for(card, executor, prefix, task_store, push_config_store))
        async with lifespan(app) if lifespan else nullcontext():
            yield

    return Starlette(lifespan=starting, middleware=[Middleware(OwnRequests, hosts=known_hosts)])


def _runner(agent: BaseAgent) -> Runner:
    return Runner(
        app_name=agent.name,
        agent=agent,
        session_service=InMemorySessionService(),
        artifact_service=InMemoryArtifactService(),
        memory_service=InMemoryMemoryService(),
    )
