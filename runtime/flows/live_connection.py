"""One open connection of a live conversation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from types import TracebackType

from google.genai import types

from runtime.contexts.live_request_queue import LiveRequest
from runtime.models.base_llm_connection import BaseLlmConnection, RealtimeInput
from runtime.models.llm_response import LlmResponse

logger = logging.getLogger(__name__)


class LiveConnection:
    """Sends to a model, one message at a time, and closes the connection once.

    Attributes:
        is_closed: whether `close` was called.

    Args:
        opening: opens the model's own connection when this object is entered.
    """

    _connection: BaseLlmConnection

    def __init__(self, opening: AbstractAsyncContextManager[BaseLlmConnection]) -> None:
        self.is_closed = False
        self._opening = opening
        self._sending = asyncio.Lock()  # the user, function calls and streaming tools all send

    async def __aenter__(self) -> LiveConnection:
        """Open the connection."""
        self._connection = await self._opening.__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the connection in any case."""
        if kind is GeneratorExit:  # the consumer stops listening, which is no failure of the model's
            kind = error = trace = None
        try:
            await self.close()
        finally:
            await self._opening.__aexit__(kind, error, trace)

    async def send_history(self, contents: list[types.Content]) -> None:
        """Send the conversation so far."""
        await self._connection.send_history(contents)

    def receive(self) -> AsyncGenerator[LlmResponse, None]:
        """Yield the model's responses, until it pauses or ends."""
        return self._connection.receive()

    async def send_content(self, content: types.Content, *, partial: bool = False) -> None:
        """Send a message, a part of one, or function responses."""
        async with self._sending:
            await self._connection._send_content(content, partial=partial)

    async def send_realtime(self, request: LiveRequest) -> None:
        """Send what a request holds besides its content: one of a mark and audio or video, if any."""
        given: RealtimeInput | None = request.activity_start or request.activity_end
        if given is None and request.audio_stream_end:
            given = types.LiveClientRealtimeInput(audio_stream_end=True)
        given = given or request.blob
        if given is not None:
            async with self._sending:
                await self._connection.send_realtime(given)

    async def close(self) -> None:
        """Close the connection; an error of a connection that is lost anyway is logged."""
        if self.is_closed:
            return
        self.is_closed = True
        try:
            await self._connection.close()
        except Exception as error:
            logger.warning("The live connection could not be closed: %s", error)
