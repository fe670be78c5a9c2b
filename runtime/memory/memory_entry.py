"""One thing that is remembered."""

from __future__ import annotations

from typing import Any

from google.genai import types
from pydantic import BaseModel, Field


class MemoryEntry(BaseModel):
    """One thing that is remembered.

    Attributes:
        content: what was said.
        custom_metadata: anything the service keeps with it.
        id: names it, if the service names them.
        author: who said it.
        timestamp: when, ISO 8601; models read it.
    """

    content: types.Content
    custom_metadata: dict[str, Any] = Field(default_factory=dict)
    id: str | None = None
    author: str | None = None
    timestamp: str | None = None

    @property
    def text(self) -> str:
        """The texts of the content, thoughts left out."""
        return " ".join(part.text for part in self.content.parts or [] if part.text and not part.thought)
