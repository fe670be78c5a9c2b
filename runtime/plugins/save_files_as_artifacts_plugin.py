"""A plugin that saves the files in user messages as artifacts."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from google.genai import types

from runtime.contexts.context import CallbackContext
from runtime.plugins.base_plugin import BasePlugin

if TYPE_CHECKING:
    from runtime.agents.base_agent import BaseAgent
    from runtime.contexts.invocation_context import InvocationContext

_log = logging.getLogger(__name__)


class SaveFilesAsArtifactsPlugin(BasePlugin):
    """Saves each file of a message, under its own name if it has one, and replaces it by that name.

    Without an artifact service messages are unchanged. The first agent's first event records the versions, as a plugin cannot add
    actions to the user's event.

    Args:
        name: unique among an app's plugins.
    """

    def __init__(self, name: str = "save_files_as_artifacts_plugin") -> None:
        super().__init__(name)
        self._saved: dict[str, dict[str, int]] = {}

    async def on_user_message_callback(self, *, invocation_context: InvocationContext, user_message: types.Content) -> types.Content | None:
        """Save the message's files."""
        files = {index: part for index, part in enumerate(user_message.parts or []) if part.inline_data}
        if not files:
            return None
        if invocation_context.artifact_service is None:
            _log.warning("Files in the message are not saved as artifacts: the Runner has no artifact service.")
            return None
        context = CallbackContext(invocation_context)
        parts = list(user_message.parts or [])
        for index, part in files.items():
            data = part.inline_data
            name = (data and data.display_name) or f"artifact_{invocation_context.invocation_id}_{index}"
            await context.save_artifact(name, part)
            parts[index] = types.Part(text=f'[Uploaded Artifact: "{name}"]')
        self._saved[invocation_context.invocation_id] = context.actions.artifact_delta
        return user_message.model_copy(update={"parts": parts})

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> types.Content | None:
        """Record the saved versions."""
        callback_context.actions.artifact_delta.update(self._saved.pop(callback_context.invocation_id, {}))
        return None

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Remove versions that no agent recorded."""
        self._saved.pop(invocation_context.invocation_id, None)
