"""The base class of artifact services."""

from __future__ import annotations

import abc
import time
from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from runtime.errors.input_validation_error import InputValidationError

# Saved by a rewind as the newest version of a file that did not exist at that point; loading it gives None.
ERASED = types.Part(inline_data=types.Blob(mime_type="application/octet-stream", data=b""))


class ArtifactVersion(BaseModel):
    """Metadata of one version of a file.

    Attributes:
        version: the version number, from 0.
        canonical_uri: where the service keeps it.
        custom_metadata: the application's own metadata.
        create_time: epoch seconds.
        mime_type: the content's type; None or `text/plain` for text.
    """

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    version: int
    canonical_uri: str
    custom_metadata: dict[str, Any] = Field(default_factory=dict)
    create_time: float = Field(default_factory=time.time)
    mime_type: str | None = None


class BaseArtifactService(abc.ABC):
    """Stores files in versions, numbered from 0.

    `app_name`, `user_id`, `session_id` and `filename` identify a file. A file whose name begins with `user:` belongs to the user and is
    visible in all of the user's sessions; any other file belongs to one session. Every method accepts `session_id=None` for the user's
    files, and raises `InputValidationError` for an invalid name or id.
    """

    @abc.abstractmethod
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
        """Save a new version of a file.

        Args:
            app_name, user_id, session_id, filename: the file.
            artifact: a part with text or bytes, or its JSON object.
            custom_metadata: JSON values to keep with this version.

        Returns:
            The new version number: 0 for the first, then higher than all earlier ones.

        Raises:
            InputValidationError: a name, an id or the part is invalid.
        """

    @abc.abstractmethod
    async def load_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None, version: int | None = None
    ) -> types.Part | None:
        """Return a version of a file, the newest by default; None if it does not exist or a rewind erased it."""

    @abc.abstractmethod
    async def list_artifact_keys(self, *, app_name: str, user_id: str, session_id: str | None = None) -> list[str]:
        """Return the sorted names of the session's and the user's files; only the user's if `session_id` is None."""

    @abc.abstractmethod
    async def delete_artifact(self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None) -> None:
        """Delete all versions of a file; does nothing if there are none."""

    @abc.abstractmethod
    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """Return the metadata of each version of a file, oldest first."""

    async def list_versions(self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None) -> list[int]:
        """Return the numbers of a file's versions, oldest first."""
        names = {"app_name": app_name, "user_id": user_id, "filename": filename, "session_id": session_id}
        return [found.version for found in await self.list_artifact_versions(**names)]  # type: ignore[arg-type]

    async def get_artifact_version(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None, version: int | None = None
    ) -> ArtifactVersion | None:
        """Return the metadata of one version, the newest by default; None if it does not exist."""
        names = {"app_name": app_name, "user_id": user_id, "filename": filename, "session_id": session_id}
        versions = await self.list_artifact_versions(**names)  # type: ignore[arg-type]
        if version is None:
            return versions[-1] if versions else None
        return next((found for found in versions if found.version == version), None)


def as_part(artifact: types.Part | dict[str, Any]) -> types.Part:
    """Return an artifact as an independent part.

    Raises:
        InputValidationError: it is neither a part nor the JSON object of a part.
    """
    if isinstance(artifact, types.Part):
        return artifact.model_copy(deep=True)
    try:
        return types.Part.model_validate(artifact)
    except ValueError as error:
        raise InputValidationError(f"The artifact is not a types.Part: {error}") from error


def ensure_part(artifact: types.Part | dict[str, Any]) -> types.Part:
    """Return a part unchanged, and the JSON object of a part as one; see `as_part`."""
    return artifact if isinstance(artifact, types.Part) else as_part(artifact)
