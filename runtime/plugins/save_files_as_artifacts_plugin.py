"""A plugin that saves the files in user messages as artifacts."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from google.genai import types

from runtime.contexts.context import CallbackContext
from runtime.plugins.base_plugin import BasePlugin

if TYPE_CHECKING:
    from runtime.agents.base_agent import BaseAgent
    from runtime.contexts.invocation_context import InvocationContext

_log = logging.getLogger(__name__)


_LARGEST = 20 * 1024 * 1024  # bytes; the largest file that google-adk accepts in a message
_READ_BY_MODELS = ("gs", "https", "http")  # schemes of addresses that a model can read files from


class SaveFilesAsArtifactsPlugin(BasePlugin):
    """Saves each file of a message, under its own name if it has one, and replaces it by that name.

    Without an artifact service messages are unchanged, as is a file that cannot be saved. The first agent's first event records the
    versions, as a plugin cannot add actions to the user's event.

    Args:
        name: unique among an app's plugins.
        attach_file_reference: add the file's address to the message, if it has one that models can read.
    """

    def __init__(self, name: str = "save_files_as_artifacts_plugin", *, attach_file_reference: bool = True) -> None:
        super().__init__(name)
        self._attaches = attach_file_reference

    @property
    def _key(self) -> str:
        return f"{self.name}:pending_delta"

    async def on_user_message_callback(self, *, invocation_context: InvocationContext, user_message: types.Content) -> types.Content | None:
        """Save the message's files."""
        if not any(part.inline_data for part in user_message.parts or []):
            return None
        if not invocation_context.artifact_service:
            _log.warning("Files in the message are not saved as artifacts: the Runner has no artifact service.")
            return user_message
        saved: dict[str, int] = {}
        parts: list[types.Part] = []
        for index, part in enumerate(user_message.parts or []):
            parts += await self._replaced(invocation_context, index, part, saved) if part.inline_data else [part]
        if parts == user_message.parts:
            return None
        state = invocation_context.session.state
        state[self._key] = {**state.get(self._key, {}), **saved}
        return user_message.model_copy(update={"parts": parts})

    async def _replaced(self, ctx: InvocationContext, index: int, part: types.Part, saved: dict[str, int]) -> list[types.Part]:
        """Save a file; return what the message has in its place."""
        blob, service = part.inline_data, ctx.artifact_service
        assert blob is not None and service is not None
        name = blob.display_name or f"artifact_{ctx.invocation_id}_{index}"
        if len(blob.data or b"") > _LARGEST:
            size = len(blob.data or b"") / 1024**2
            text = f"The file {name} has {size:.1f} MB and was not uploaded: {_LARGEST // 1024**2} MB are the most."
            _log.warning(text)
            return [types.Part(text=f"[Upload Error: {text}]")]
        names = {"app_name": ctx.app_name, "user_id": ctx.user_id, "session_id": ctx.session.id, "filename": name}
        try:
            version = await service.save_artifact(**names, artifact=part.model_copy())
        except Exception as error:
            _log.error("The file %s of the message could not be saved: %s", name, error)
            return [part]
        saved[name] = version
        reference = await self._reference(ctx, names, version, blob) if self._attaches else None
        return [types.Part(text=f'[Uploaded Artifact: "{name}"]'), *([reference] if reference else [])]

    async def _reference(self, ctx: InvocationContext, names: dict[str, str], version: int, blob: types.Blob) -> types.Part | None:
        """Return a part with the file's address; None if models cannot read it there."""
        service = ctx.artifact_service
        assert service is not None
        try:
            found = await service.get_artifact_version(**names, version=version)
        except Exception as error:
            _log.warning("The address of the file %s is unknown: %s", names["filename"], error)
            return None
        if not found or urlsplit(found.canonical_uri or "").scheme.lower() not in _READ_BY_MODELS:
            return None
        data = types.FileData(file_uri=found.canonical_uri, mime_type=blob.mime_type or found.mime_type, display_name=names["filename"])
        return types.Part(file_data=data)

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> types.Content | None:
        """Record the saved versions."""
        if pending := callback_context.state.get(self._key):
            callback_context.actions.artifact_delta.update(pending)
            callback_context.state[self._key] = {}
        return None
