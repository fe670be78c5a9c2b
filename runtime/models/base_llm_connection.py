"""The base class of live connections to models. The embedded runtime opens none: live audio needs the google-adk engine."""

from __future__ import annotations

import abc
from collections.abc import AsyncGenerator

from google.genai import types

from runtime.models.llm_response import LlmResponse


class BaseLlmConnection(abc.ABC):
    """A live connection, as a language model of one's own may define it for google-adk."""

    @abc.abstractmethod
    async def send_history(self, history: list[types.Content]) -> None:
        """Send the conversation so far."""

    @abc.abstractmethod
    async def send_content(self, content: types.Content) -> None:
        """Send a message or function responses."""

    @abc.abstractmethod
    async def send_realtime(self, blob: types.Blob) -> None:
        """Send audio or video."""

    @abc.abstractmethod
    def receive(self) -> AsyncGenerator[LlmResponse, None]:
        """Yield the model's responses."""

    @abc.abstractmethod
    async def close(self) -> None:
        """Close the connection."""
