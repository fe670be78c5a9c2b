"""Contents: their text, and contents made of other values."""

from __future__ import annotations

import json
from typing import Any

from google.genai import types
from pydantic import BaseModel

# Signature of a part that no model made: Gemini accepts the part without the check of its signature.
SKIP_THOUGHT_SIGNATURE_VALIDATOR = b"skip_thought_signature_validator"


def is_audio_part(part: types.Part) -> bool:
    """Return whether a part is audio."""
    return any((data.mime_type or "").startswith("audio/") for data in (part.inline_data, part.file_data) if data is not None)


def filter_audio_parts(content: types.Content) -> types.Content | None:
    """Return a content without its audio; None if nothing is left."""
    parts = [part for part in content.parts or [] if not is_audio_part(part)]
    return types.Content(role=content.role, parts=parts) if parts else None


def extract_text_from_content(content: types.Content | None, splitter: str = "") -> str:
    """Return a content's text without thoughts.

    Args:
        content: the content.
        splitter: separates the texts of two parts.
    """
    return splitter.join(part.text for part in (content.parts if content else None) or [] if part.text and not part.thought)


def to_user_content(value: Any) -> types.Content:
    """Return a value as a message of the user: a content with the user's role, a text as it is, other values as JSON or text."""
    if isinstance(value, types.Content):
        return types.Content(role="user", parts=value.parts)
    if isinstance(value, BaseModel):
        value = value.model_dump_json()
    elif isinstance(value, (dict, list)):
        value = json.dumps(value, ensure_ascii=False)
    return types.Content(role="user", parts=[types.Part(text=str(value))])
