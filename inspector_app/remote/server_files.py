"""The artifacts of a server's sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from google.genai import types
from pydantic import ValidationError

from inspector_app.remote.requests import Requests
from runtime.artifacts.base_artifact_service import ArtifactVersion, BaseArtifactService
from runtime.errors.not_found_error import NotFoundError
from runtime.errors.storage_error import StorageError
from runtime.support.worker_threads import run_in_thread

_ONLY_READ = "The files of a server's sessions can only be read here: its agents write them."


class ServerFiles(BaseArtifactService):
    """Reads artifacts through the server's protocol, which reaches a user's files through any session.

    Args:
        requests: the server.
    """

    def __init__(self, requests: Requests) -> None:
        self._requests = requests

    async def save_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        artifact: types.Part | dict[str, Any],
        session_id: str | None = None,
        custom_metadata: dict[str, Any] | None = None,
    ) -> int:
        """Refuse.

        Raises:
            StorageError: always.
        """
        raise StorageError(_ONLY_READ)

    async def load_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None, version: int | None = None
    ) -> types.Part | None:
        """See `BaseArtifactService.load_artifact`."""
        place = f"{_place(app_name, user_id, session_id)}/{_name(filename)}"
        found = await self._ask(f"{place}/versions/{version}" if version is not None else place, None)
        try:
            return types.Part.model_validate(found) if found else None
        except ValidationError as error:
            raise StorageError(f"The server's answer for {filename} is no file.") from error

    async def list_artifact_keys(self, *, app_name: str, user_id: str, session_id: str | None = None) -> list[str]:
        """See `BaseArtifactService.list_artifact_keys`."""
        found = await self._ask(_place(app_name, user_id, session_id), [])
        return sorted(str(name) for name in found) if isinstance(found, list) else []

    async def delete_artifact(self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None) -> None:
        """Refuse.

        Raises:
            StorageError: always.
        """
        raise StorageError(_ONLY_READ)

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """See `BaseArtifactService.list_artifact_versions`."""
        place = f"{_place(app_name, user_id, session_id)}/{_name(filename)}/versions"
        described = await self._ask(f"{place}/metadata", None)
        try:
            if isinstance(described, list):
                return [ArtifactVersion.model_validate(one) for one in described]
            numbers = await self._ask(place, [])
            return [ArtifactVersion(version=int(number), canonical_uri="") for number in numbers]
        except (TypeError, ValueError) as error:
            raise StorageError(f"The server's answer for the versions of {filename} is no list of versions.") from error

    async def _ask(self, path: str, missing: Any) -> Any:
        return await run_in_thread(_unless_missing, lambda: self._requests.ask("GET", path), missing)


def _unless_missing(ask: Callable[[], Any], missing: Any) -> Any:
    try:
        return ask()
    except NotFoundError:
        return missing


def _place(app_name: str, user_id: str, session_id: str | None) -> str:
    # The protocol has no path without a session; a user's files are reached through any id.
    names = (app_name, user_id, session_id or "-")
    app, user, session = (quote(name, safe="") for name in names)
    return f"/apps/{app}/users/{user}/sessions/{session}/artifacts"


def _name(filename: str) -> str:
    return quote(filename, safe="")
