"""What the server is and which agents it has."""

from __future__ import annotations

import logging
import platform
from typing import Annotated, Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from inspector_app.server.agents import ServedAgents
from inspector_app.server.app_info import NotAnLlmAgentError, agents_info
from inspector_app.server.bodies import Body, body_of, described
from inspector_app.server.paths import APP
from runtime.agents.llm_agent import LlmAgent
from runtime.errors import KnownError
from runtime.version import __version__

_log = logging.getLogger(__name__)
_TELEMETRY_HEADER = "x-adk-telemetry-request"  # which google-adk's page sends, and a page of another origin cannot


class TelemetryBody(Body):
    """A person's answer about telemetry."""

    telemetry: bool


class NoTelemetryError(KnownError):
    """Telemetry was allowed, and there is none."""


class General:
    """Endpoints without a session."""

    def __init__(self, agents: ServedAgents) -> None:
        self._agents = agents

    def add_to(self, router: APIRouter) -> None:
        """Add the routes."""
        router.add_api_route("/health", self.health, methods=["GET"])
        router.add_api_route("/version", self.version, methods=["GET"])
        router.add_api_route("/list-apps", self.list_apps, methods=["GET"], response_model=None)
        router.add_api_route(APP + "/app-info", self.app_info, methods=["GET"], response_model=None)
        router.add_api_route("/config/telemetry", self.telemetry, methods=["GET"])
        router.add_api_route("/config/telemetry", self.set_telemetry, methods=["POST"], openapi_extra=described(TelemetryBody))

    async def health(self) -> dict[str, str]:
        """Say that the server answers."""
        return {"status": "ok"}

    async def version(self) -> dict[str, str]:
        """Return the versions of Agent Inspector and of Python."""
        return {"version": __version__, "language": "python", "language_version": platform.python_version()}

    async def list_apps(self, detailed: bool = False) -> Response:
        """List the agents' names; with `detailed`, their root agents too. An agent that cannot be loaded has no details."""
        if not detailed:
            return JSONResponse(self._agents.names)
        apps = []
        for name in self._agents.names:
            try:
                apps.append(await self._details(name))
            except KnownError as error:
                _log.warning("%s is left out of the list of agents: %s", name, error)
        return JSONResponse({"apps": [{**app, "agents": None} for app in apps]})

    async def app_info(self, app_name: str) -> Response:
        """Describe an app's agents and their tools."""
        details = await self._details(app_name)
        root = (await self._agents.named(app_name).runner()).agent
        if not isinstance(root, LlmAgent):
            raise NotAnLlmAgentError("Root agent is not an LlmAgent")
        return JSONResponse({**details, "agents": await agents_info(root)})

    async def telemetry(self) -> dict[str, bool]:
        """Say that no telemetry is sent."""
        return {"telemetry": False}

    async def set_telemetry(self, request: Request, body: Annotated[TelemetryBody, body_of(TelemetryBody)]) -> dict[str, bool]:
        """Accept that no telemetry is sent; there is none to switch on."""
        if request.headers.get(_TELEMETRY_HEADER) != "true":
            raise NoTelemetryError("Forbidden: missing required security header")
        if body.telemetry:
            raise NoTelemetryError("Agent Inspector sends no telemetry, so there is none to switch on.")
        return {"telemetry": False}

    async def _details(self, name: str) -> dict[str, Any]:
        agent = self._agents.named(name)
        root = (await agent.runner()).agent
        return {
            "name": name,
            "rootAgentName": root.name,
            "description": root.description,
            "language": "yaml" if (agent.folder / "root_agent.yaml").is_file() else "python",
            "isComputerUse": False,
        }
