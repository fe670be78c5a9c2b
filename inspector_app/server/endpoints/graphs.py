"""What google-adk's page shows of an app's structure: graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from inspector_app.server.agents import ServedAgents
from inspector_app.server.app_info import agent_tree, app_tree
from inspector_app.server.graph_dot import Pair, agents_graph, tree_graph
from inspector_app.server.paths import DEV_APP
from runtime.agents.base_agent import BaseAgent
from runtime.apps.app import App
from runtime.errors import NotFoundError
from runtime.events.event import Event
from runtime.support.worker_threads import run_in_thread

_LONGEST_README = 2**20  # characters


class Graphs:
    """Endpoints of graphs."""

    def __init__(self, agents: ServedAgents) -> None:
        self._agents = agents

    def add_to(self, router: APIRouter) -> None:
        """Add the routes."""
        add = router.add_api_route
        add(DEV_APP + "/build_graph", self.app_graph, methods=["GET"], response_model=None)
        add(DEV_APP + "/build_graph_image", self.tree_images, methods=["GET"], response_model=None)
        add(DEV_APP + "/graph", self.graph, methods=["GET"], response_model=None)
        path = DEV_APP + "/users/{user_id}/sessions/{session_id}/events/{event_id}/graph"
        add(path, self.event_graph, methods=["GET"], response_model=None)

    async def app_graph(self, app_name: str) -> Response:
        """Return the app's agents with their fields and tools."""
        readme = await run_in_thread(_readme, self._agents.named(app_name).folder / "README.md")
        return JSONResponse(app_tree(await self._app(app_name), readme))

    async def tree_images(self, app_name: str, dark_mode: bool = False, node: str | None = None) -> Response:
        """Return the tree of agents below a node, the root by default, as a graph."""
        tree = _below(agent_tree((await self._app(app_name)).root_agent), node or "")
        return JSONResponse({node or "": {"dotSrc": tree_graph(tree, is_dark=dark_mode)}})

    async def graph(self, app_name: str, dark_mode: bool = False) -> Response:
        """Return the app's agents and tools as a graph."""
        return JSONResponse({"dotSrc": await agents_graph((await self._app(app_name)).root_agent, is_dark=dark_mode)})

    async def event_graph(self, app_name: str, user_id: str, session_id: str, event_id: str) -> Response:
        """Return the same graph with an event's author and calls highlighted; nothing for an unknown event."""
        service = self._agents.named(app_name).sessions
        session = await service.get_session(app_name=app_name, user_id=user_id, session_id=session_id)
        event = next((event for event in session.events if event.id == event_id), None) if session is not None else None
        if event is None:
            return JSONResponse({})
        root: BaseAgent = (await self._app(app_name)).root_agent
        return JSONResponse({"dotSrc": await agents_graph(root, _pairs(event))})

    async def _app(self, app_name: str) -> App:
        runner = await self._agents.named(app_name).runner()
        assert runner.app is not None  # agents are loaded as apps
        return runner.app


def _pairs(event: Event) -> list[Pair]:
    """Return which agent called what, or what answered it, in an event."""
    if calls := event.get_function_calls():
        return [(event.author, call.name or "") for call in calls]
    return [(answer.name or "", event.author) for answer in event.get_function_responses()] or [(event.author, "")]


def _below(tree: dict[str, Any], path: str) -> dict[str, Any]:
    """Return the agent at a path of names below the root; the root's own name may come first."""
    names = [name for name in path.split("/") if name]
    for name in names[1:] if names[:1] == [tree["name"]] else names:
        found = next((below for below in tree["sub_agents"] if below["name"] == name), None)
        if found is None:
            raise NotFoundError(f"Node not found: {path}")
        tree = found
    return tree


def _readme(file: Path) -> str | None:
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            return opened.read(_LONGEST_README)
    except OSError:
        return None
