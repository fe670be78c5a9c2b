"""What every artifact service promises."""

from __future__ import annotations

import abc
import time
from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from runtime.errors.input_validation_error import InputValidationError

ERASED = types.Part(inline_data=types.Blob(mime_type="application/octet-stream", data=b""))
"""What a rewind saves in place of a file that did not exist before (SEMANTICS.md 8); loading it gives None."""


class ArtifactVersion(BaseModel):
    """What is known of one version of a file.

    Attributes:
        version: its number, from 0.
        canonical_uri: where the service keeps it.
        custom_metadata: what the application kept with it.
        create_time: epoch seconds.
        mime_type: of its bytes; None or `text/plain` for a text.
    """

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    version: int
    canonical_uri: str
    custom_metadata: dict[str, Any] = Field(default_factory=dict)
    create_time: float = Field(default_factory=time.time)
    mime_type: str | None = None


class BaseArtifactService(abc.ABC):
    """Keeps files in versions, which are numbered from 0.

    `app_name`, `user_id`, `session_id` and `filename` name a file. One whose name begins with `user:` is the user's and seen by all of that
    user's sessions; any other belongs to one session. Every verb takes `session_id=None` for the user's files, and refuses a name or id
    that cannot be used with an `InputValidationError`.
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
            app_name, user_id, session_id, filename: which file.
            artifact: a part with text or bytes, or the JSON object of one.
            custom_metadata: JSON values to keep with this version.

        Returns:
            The new version: 0 for the first, then higher than all before it.

        Raises:
            InputValidationError: a name, an id or the part cannot be used.
        """

    @abc.abstractmethod
    async def load_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None, version: int | None = None
    ) -> types.Part | None:
        """Return a version of a file, the newest by default; None if there is none, or a rewind erased it."""

    @abc.abstractmethod
    async def list_artifact_keys(self, *, app_name: str, user_id: str, session_id: str | None = None) -> list[str]:
        """Return the sorted names of the session's and the user's files; only the user's without a session."""

    @abc.abstractmethod
    async def delete_artifact(self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None) -> None:
        """Delete all versions of a file; nothing happens if there are none."""

    @abc.abstractmethod
    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """Return what is known of each version of a file, oldest first."""

    async def list_versions(self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None) -> list[int]:
        """Return the numbers of a file's versions, oldest first."""
        names = {"app_name": app_name, "user_id": user_id, "filename": filename, "session_id": session_id}
        return [found.version for found in await self.list_artifact_versions(**names)]  # type: ignore[arg-type]

    async def get_artifact_version(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None, version: int | None = None
    ) -> ArtifactVersion | None:
        """Return what is known of one version, the newest by default; None if there is none."""
        names = {"app_name": app_name, "user_id": user_id, "filename": filename, "session_id": session_id}
        versions = await self.list_artifact_versions(**names)  # type: ignore[arg-type]
        if version is None:
            return versions[-1] if versions else None
        return next((found for found in versions if found.version == version), None)


def as_part(artifact: types.Part | dict[str, Any]) -> types.Part:
    """Return an artifact as a part of its own.

    Raises:
        InputValidationError: it is neither a part nor the JSON object of one.
    """
    if isinstance(artifact, types.Part):
        return artifact.model_copy(deep=True)
    try:
        return types.Part.model_validate(artifact)
    except ValueError as error:
        raise InputValidationError(f"The artifact is no types.Part: {error}") from error
