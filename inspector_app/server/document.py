"""The OpenAPI document: all endpoints, with the models of bodies that they read themselves."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from inspector_app.server.bodies import SCHEMAS
from inspector_app.server.endpoints.artifacts import ArtifactBody
from inspector_app.server.endpoints.development import TestFileBody
from inspector_app.server.endpoints.general import TelemetryBody
from inspector_app.server.request_models import MemoryBody, NewSessionBody, RunBody, StateBody

_BODIES = (
    RunBody,
    NewSessionBody,
    StateBody,
    MemoryBody,
    ArtifactBody,
    TestFileBody,
    TelemetryBody,
)


def document(app: FastAPI) -> dict[str, Any]:
    """Return the description of an application's endpoints; made once."""
    if app.openapi_schema is None:
        found: dict[str, Any] = get_openapi(title=app.title, version=app.version, routes=app.routes)
        _, models = models_json_schema([(kind, "validation") for kind in _BODIES], ref_template=SCHEMAS + "{model}")
        found.setdefault("components", {}).setdefault("schemas", {}).update(models["$defs"])
        app.openapi_schema = found
    schema: dict[str, Any] = app.openapi_schema
    return schema
