"""The HTTP application: google-adk's endpoints, their errors and the access to them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from inspector_app.engines.agent_loader import AgentLoadError
from inspector_app.engines.env_file import EnvFileError
from inspector_app.server.agents import AgentBusyError, ServedAgents
from inspector_app.server.bodies import SCHEMAS, BadBodyError
from inspector_app.server.endpoints.artifacts import ArtifactBody, Artifacts
from inspector_app.server.endpoints.development import Development, TestFileBody
from inspector_app.server.endpoints.general import General, TelemetryBody
from inspector_app.server.endpoints.graphs import Graphs
from inspector_app.server.endpoints.pages import Pages
from inspector_app.server.endpoints.running import Running
from inspector_app.server.endpoints.sessions import Sessions
from inspector_app.server.guard import Access, Guard
from inspector_app.server.request_models import MemoryBody, NewSessionBody, RunBody, StateBody
from inspector_app.server.runs import Runs, SessionBusyError
from runtime.errors import AlreadyExistsError, KnownError, NotFoundError, ResumeError, StaleSessionError, StorageError
from runtime.version import __version__

_WITHOUT_APP = re.compile(r"/(users/|app-info$)")
_BODIES = (RunBody, NewSessionBody, StateBody, MemoryBody, ArtifactBody, TestFileBody, TelemetryBody)  # read by the endpoints themselves
# The HTTP status for each kind of error; 400 for all others.
_STATUS: list[tuple[type[KnownError], int]] = [
    (NotFoundError, 404),
    (AlreadyExistsError, 409),
    (SessionBusyError, 409),
    (AgentBusyError, 409),
    (EnvFileError, 500),
    (StaleSessionError, 409),
    (ResumeError, 400),
    (AgentLoadError, 500),
    (StorageError, 500),
]


def application(agents: ServedAgents, runs: Runs, access: Access, page: Path | None = None) -> FastAPI:
    """Return the server's ASGI application.

    Args:
        agents: the served agents; closed when the server shuts down.
        runs: the active runs.
        access: who may use it.
        page: the folder of google-adk's page; None: no page is served.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await agents.close()

    app = FastAPI(
        title="Agent Inspector",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=lifespan,
        separate_input_output_schemas=False,
    )
    router = APIRouter()
    pages = Pages(app, document, page)
    for endpoints in (
        General(agents),
        Sessions(agents, runs),
        Running(agents, runs),
        Artifacts(agents),
        Graphs(agents),
        Development(agents),
        pages,
    ):
        endpoints.add_to(router)
    app.include_router(router)
    pages.mount()
    app.add_exception_handler(KnownError, _known_error)
    app.add_exception_handler(BadBodyError, bad_body)
    for status in (404, 405):
        app.add_exception_handler(status, _no_such_page)
    # The last one added sees a request first.
    app.add_middleware(OnlyApp, name=agents.only)
    if access.origins:
        app.add_middleware(CORSMiddleware, **access.origins.cors)
    app.add_middleware(Guard, access=access)
    return app


def _known_error(_: Request, error: Exception) -> Response:
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 400)
    return JSONResponse({"detail": str(error)}, status)


def bad_body(_: Request, error: Exception) -> Response:
    """Respond to a body that cannot be used."""
    assert isinstance(error, BadBodyError)
    # After a body that was not read to its end, the connection cannot be used for another request.
    headers = {"Connection": "close"} if error.status in (400, 408, 413) else None
    return JSONResponse({"detail": error.problems}, error.status, headers)


def _no_such_page(request: Request, error: Exception) -> Response:
    return JSONResponse(
        {"detail": getattr(error, "detail", "Not Found")}, getattr(error, "status_code", 404), getattr(error, "headers", None)
    )


class OnlyApp:
    """Adds the only agent's name to paths that begin with `/users/`, as google-adk does.

    Args:
        app: the application.
        name: the agent's name; None if there are several, and the paths stay as they are.
    """

    def __init__(self, app: ASGIApp, *, name: str | None) -> None:
        self._app = app
        self._name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request."""
        if self._name is not None and scope["type"] == "http" and _WITHOUT_APP.match(scope["path"]):
            path = f"/apps/{self._name}{scope['path']}"
            changed: dict[str, Any] = {**scope, "path": path, "raw_path": path.encode()}
            scope = changed
        await self._app(scope, receive, send)


def document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document, with the models of bodies that endpoints read themselves; made once."""
    if app.openapi_schema is None:
        found: dict[str, Any] = get_openapi(title=app.title, version=app.version, routes=app.routes)
        _, models = models_json_schema([(kind, "validation") for kind in _BODIES], ref_template=SCHEMAS + "{model}")
        found.setdefault("components", {}).setdefault("schemas", {}).update(models["$defs"])
        app.openapi_schema = found
    schema: dict[str, Any] = app.openapi_schema
    return schema
