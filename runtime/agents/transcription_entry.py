"""google-adk's record of what was spoken in a live conversation; here the models transcribe."""

from __future__ import annotations

from google.genai import types
from pydantic import BaseModel, ConfigDict


class TranscriptionEntry(BaseModel):
    """Speech that is not transcribed yet.

    Attributes:
        role: `user` or `model`; None for events of the conversation.
        data: the audio, or a turn of text.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    role: str | None = None
    data: types.Blob | types.Content
