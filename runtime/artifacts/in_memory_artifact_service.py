"""Artifacts in memory."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from google.genai import types

from runtime.artifacts.artifact_names import USER_PREFIX, check_segment, is_users
from runtime.artifacts.base_artifact_service import ERASED, ArtifactVersion, BaseArtifactService, as_part
from runtime.errors.input_validation_error import InputValidationError
from runtime.sessions.state import storable


class _Scope(NamedTuple):
    app_name: str
    user_id: str
    session_id: str | None  # None for the user's files


class InMemoryArtifactService(BaseArtifactService):
    """Stores artifacts in memory. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: dict[_Scope, dict[str, list[tuple[types.Part, ArtifactVersion]]]] = {}

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
        """See `BaseArtifactService.save_artifact`; parts with `file_data` are accepted too."""
        part = as_part(artifact)
        mime_type = _mime_type(part)
        metadata = storable(custom_metadata or {}, "custom_metadata")
        scope = _scope(app_name, user_id, session_id, filename)
        with self._lock:
            versions = self._files.setdefault(scope, {}).setdefault(filename, [])
            folder = f"sessions/{session_id}/" if scope.session_id else ""
            about = ArtifactVersion(
                version=len(versions),
                canonical_uri=f"memory://apps/{app_name}/users/{user_id}/{folder}artifacts/{filename}/versions/{len(versions)}",
                custom_metadata=metadata,
                mime_type=mime_type,
            )
            versions.append((part, about))
            return about.version

    async def load_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None, version: int | None = None
    ) -> types.Part | None:
        """See `BaseArtifactService.load_artifact`."""
        versions = self._versions(app_name, user_id, session_id, filename)
        if not versions or (version is not None and not 0 <= version < len(versions)):
            return None
        part = versions[-1 if version is None else version][0]
        return None if part == ERASED else part.model_copy(deep=True)

    async def list_artifact_keys(self, *, app_name: str, user_id: str, session_id: str | None = None) -> list[str]:
        """See `BaseArtifactService.list_artifact_keys`."""
        scopes = {_checked(app_name, user_id, None), _checked(app_name, user_id, session_id)}
        with self._lock:
            return sorted(name for scope in scopes for name in self._files.get(scope, {}))

    async def delete_artifact(self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None) -> None:
        """See `BaseArtifactService.delete_artifact`."""
        scope = _scope(app_name, user_id, session_id, filename)
        with self._lock:
            self._files.get(scope, {}).pop(filename, None)

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """See `BaseArtifactService.list_artifact_versions`."""
        return [about.model_copy(deep=True) for _, about in self._versions(app_name, user_id, session_id, filename)]

    def _versions(self, app_name: str, user_id: str, session_id: str | None, filename: str) -> list[tuple[types.Part, ArtifactVersion]]:
        scope = _scope(app_name, user_id, session_id, filename)
        with self._lock:
            return list(self._files.get(scope, {}).get(filename, ()))


def _scope(app_name: str, user_id: str, session_id: str | None, filename: str) -> _Scope:
    if not is_users(filename, session_id):
        return _checked(app_name, user_id, session_id)
    if not filename.startswith(USER_PREFIX):
        raise InputValidationError(f"The artifact {filename!r} needs a session_id; only names that begin with 'user:' do not.")
    return _checked(app_name, user_id, None)


def _checked(app_name: str, user_id: str, session_id: str | None) -> _Scope:
    check_segment(app_name, "The app name")
    check_segment(user_id, "The user id")
    if session_id is not None:
        check_segment(session_id, "The session id")
    return _Scope(app_name, user_id, session_id)


def _mime_type(part: types.Part) -> str | None:
    if part.inline_data is not None:
        return part.inline_data.mime_type or "application/octet-stream"
    if part.text is not None:
        return "text/plain"
    if part.file_data is not None:
        return part.file_data.mime_type
    raise InputValidationError("An artifact must be a part with text, bytes or file_data; this one has none of them.")
