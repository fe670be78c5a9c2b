"""Files in the user's message, stored as artifacts instead of in every model request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.genai import types

if TYPE_CHECKING:
    from runtime.contexts.context import CallbackContext


async def with_saved_files(message: types.Content, context: CallbackContext) -> types.Content:
    """Save a message's files and return the message with each file replaced by its artifact name, named as google-adk names them.

    Args:
        message: the user's message; it is not changed.
        context: the callback context of the invocation that it starts; it saves the files and records their versions in its actions.
    """
    parts = list(message.parts or [])
    for index, part in enumerate(parts):
        if part.inline_data is not None:
            name = f"artifact_{context.invocation_id}_{index}"
            await context.save_artifact(name, part)
            parts[index] = types.Part(text=f"Uploaded file: {name}. It is saved into artifacts")
    return message.model_copy(update={"parts": parts})
