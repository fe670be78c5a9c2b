"""The files of a session and of its user."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from google.genai import types
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from inspector_app.server.agents import ServedAgents
from inspector_app.server.bodies import BadBodyError, Body, body_of, described
from inspector_app.server.paths import SESSION
from runtime.artifacts.base_artifact_service import ArtifactVersion, BaseArtifactService
from runtime.errors import NotFoundError
from runtime.support.worker_threads import run_in_thread

ARTIFACTS = SESSION + "/artifacts"
_NAMED = ARTIFACTS + "/{artifact_name:path}"
_NEWEST = "latest"


class ArtifactBody(Body):
    """A file to save.

    Attributes:
        filename: its name; names that begin with `user:` belong to the user.
        artifact: its content.
        custom_metadata: kept with this version.
    """

    filename: str
    artifact: types.Part
    custom_metadata: dict[str, Any] | None = None


class Artifacts:
    """Endpoints of artifacts."""

    def __init__(self, agents: ServedAgents) -> None:
        self._agents = agents

    def add_to(self, router: APIRouter) -> None:
        """Add the routes; those of versions first, since a name may contain slashes."""
        add = router.add_api_route
        add(_NAMED + "/versions/{version_id}/metadata", self.version_metadata, methods=["GET"], response_model=None)
        add(_NAMED + "/versions/metadata", self.all_metadata, methods=["GET"], response_model=None)
        add(ARTIFACTS, self.save, methods=["POST"], response_model=None, openapi_extra=described(ArtifactBody))
        add(_NAMED + "/versions/{version_id}", self.load_version, methods=["GET"], response_model=None)
        add(ARTIFACTS, self.list_names, methods=["GET"], response_model=None)
        add(_NAMED + "/versions", self.list_versions, methods=["GET"], response_model=None)
        add(_NAMED, self.load, methods=["GET"], response_model=None)
        add(_NAMED, self.delete, methods=["DELETE"], response_model=None)

    async def list_names(self, app_name: str, user_id: str, session_id: str) -> Response:
        """List the names of a session's files and of its user's; none of an unknown app."""
        try:
            files = self._agents.named(app_name).files
        except NotFoundError:
            return JSONResponse([])
        return JSONResponse(await files.list_artifact_keys(app_name=app_name, user_id=user_id, session_id=session_id))

    async def save(self, app_name: str, user_id: str, session_id: str, body: Annotated[ArtifactBody, body_of(ArtifactBody)]) -> Response:
        """Save a new version of a file."""
        files, at = self._files(app_name), _place(app_name, user_id, session_id, body.filename)
        version = await files.save_artifact(**at, artifact=body.artifact, custom_metadata=body.custom_metadata)
        return await _json(await files.get_artifact_version(**at, version=version))

    async def load(self, app_name: str, user_id: str, session_id: str, artifact_name: str, version: int | None = None) -> Response:
        """Return a version of a file, the newest by default."""
        place = _place(app_name, user_id, session_id, artifact_name)
        return await _json(_found(await self._files(app_name).load_artifact(**place, version=version), "Artifact not found"))

    async def load_version(self, app_name: str, user_id: str, session_id: str, artifact_name: str, version_id: str) -> Response:
        """Return a version of a file; `latest` is the newest."""
        return await self.load(app_name, user_id, session_id, artifact_name, _number(version_id))

    async def list_versions(self, app_name: str, user_id: str, session_id: str, artifact_name: str) -> Response:
        """List the numbers of a file's versions."""
        return JSONResponse(await self._files(app_name).list_versions(**_place(app_name, user_id, session_id, artifact_name)))

    async def version_metadata(self, app_name: str, user_id: str, session_id: str, artifact_name: str, version_id: str) -> Response:
        """Return what is known about a version of a file; `latest` is the newest."""
        place = _place(app_name, user_id, session_id, artifact_name)
        found = await self._files(app_name).get_artifact_version(**place, version=_number(version_id))
        return await _json(_found(found, "Artifact version not found"))

    async def all_metadata(self, app_name: str, user_id: str, session_id: str, artifact_name: str) -> Response:
        """Return what is known about each version of a file."""
        found = await self._files(app_name).list_artifact_versions(**_place(app_name, user_id, session_id, artifact_name))
        return JSONResponse([version.model_dump(mode="json", by_alias=True, exclude_none=True) for version in found])

    async def delete(self, app_name: str, user_id: str, session_id: str, artifact_name: str) -> Response:
        """Delete all versions of a file."""
        await self._files(app_name).delete_artifact(**_place(app_name, user_id, session_id, artifact_name))
        return JSONResponse(None)

    def _files(self, app_name: str) -> BaseArtifactService:
        return self._agents.named(app_name).files


def _place(app_name: str, user_id: str, session_id: str, filename: str) -> dict[str, Any]:
    return {"app_name": app_name, "user_id": user_id, "session_id": session_id, "filename": filename}


def _number(version_id: str) -> int | None:
    if version_id == _NEWEST:
        return None
    try:
        return int(version_id)
    except ValueError:
        raise BadBodyError(422, "Invalid version ID") from None


def _found(value: types.Part | ArtifactVersion | None, missing: str) -> types.Part | ArtifactVersion:
    if value is None:
        raise NotFoundError(missing)
    return value


async def _json(value: BaseModel | None) -> Response:
    assert value is not None
    # In a thread: a large file takes a while.
    text = await run_in_thread(lambda: value.model_dump_json(by_alias=True, exclude_none=True))
    return Response(text, media_type="application/json")
