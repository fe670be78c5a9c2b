"""The caller's artifacts, for an agent that runs as a tool."""

from __future__ import annotations

from typing import Any

from google.genai import types

from runtime.artifacts.base_artifact_service import ArtifactVersion, BaseArtifactService
from runtime.contexts.context import ToolContext


class ForwardingArtifactService(BaseArtifactService):
    """Reads and writes the files of the caller's session, regardless of the requested session.

    The `artifact_delta` of the call's response records the saved versions.

    Args:
        tool_context: the call's context; its Runner must have an artifact service.
    """

    def __init__(self, tool_context: ToolContext) -> None:
        self._tool_context = tool_context
        self._service, self._names = tool_context._artifacts()

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
        """See `BaseArtifactService.save_artifact`."""
        return await self._tool_context.save_artifact(filename, artifact, custom_metadata)  # type: ignore[arg-type]  # services accept both

    async def load_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None, version: int | None = None
    ) -> types.Part | None:
        """See `BaseArtifactService.load_artifact`."""
        return await self._tool_context.load_artifact(filename, version)

    async def list_artifact_keys(self, *, app_name: str, user_id: str, session_id: str | None = None) -> list[str]:
        """See `BaseArtifactService.list_artifact_keys`."""
        return await self._tool_context.list_artifacts()

    async def delete_artifact(self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None) -> None:
        """See `BaseArtifactService.delete_artifact`."""
        await self._service.delete_artifact(**self._names, filename=filename)

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """See `BaseArtifactService.list_artifact_versions`."""
        versions: list[ArtifactVersion] = await self._service.list_artifact_versions(**self._names, filename=filename)
        return versions
