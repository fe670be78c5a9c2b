"""The base class of live connections to models."""

from __future__ import annotations

import abc
from collections.abc import AsyncGenerator
from typing import TypeAlias

from google.genai import types

from runtime.models.llm_response import LlmResponse

RealtimeInput: TypeAlias = types.Blob | types.ActivityStart | types.ActivityEnd | types.LiveClientRealtimeInput


class BaseLlmConnection(abc.ABC):
    """A live connection; the `connect` of a language model of one's own returns one."""

    @abc.abstractmethod
    async def send_history(self, history: list[types.Content]) -> None:
        """Send the conversation so far. The model answers if the last content is the user's."""

    @abc.abstractmethod
    async def send_content(self, content: types.Content) -> None:
        """Send a message or function responses, to which the model answers."""

    async def _send_content(self, content: types.Content, *, partial: bool = False) -> None:
        """Send a message that may be a part of a turn; connections that know such parts override this."""
        await self.send_content(content)

    @abc.abstractmethod
    async def send_realtime(self, blob: RealtimeInput) -> None:
        """Send audio or video, or a mark: the user begins or ends to speak, or the audio pauses."""

    @abc.abstractmethod
    def receive(self) -> AsyncGenerator[LlmResponse, None]:
        """Yield the model's responses. It is called again when it has ended, unless it has yielded nothing."""

    @abc.abstractmethod
    async def close(self) -> None:
        """Close the connection; `receive` must end."""
