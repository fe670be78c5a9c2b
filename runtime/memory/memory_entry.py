"""The entry of a memory service."""

from __future__ import annotations

from typing import Any

from google.genai import types
from pydantic import BaseModel, Field


class MemoryEntry(BaseModel):
    """One memory.

    Attributes:
        content: the remembered content.
        custom_metadata: additional data kept by the service.
        id: the entry's id, if the service assigns one.
        author: the author of the content.
        timestamp: ISO 8601 text, as models read it.
    """

    content: types.Content
    custom_metadata: dict[str, Any] = Field(default_factory=dict)
    id: str | None = None
    author: str | None = None
    timestamp: str | None = None

    @property
    def text(self) -> str:
        """The text of the content, without thoughts."""
        return " ".join(part.text for part in self.content.parts or [] if part.text and not part.thought)
