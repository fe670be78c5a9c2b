"""A language model with live connections that a test drives, and the user who talks to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import Any

from google.genai import types
from pydantic import PrivateAttr

from runtime.agents import LiveRequest, LiveRequestQueue
from runtime.events import Event
from runtime.models.base_llm import BaseLlm
from runtime.models.base_llm_connection import BaseLlmConnection
from runtime.models.llm_request import LlmRequest
from runtime.models.llm_response import LlmResponse
from runtime.runners import Runner


class Line(BaseLlmConnection):
    """One connection: `say` makes the model speak, `sent` is what it heard."""

    def __init__(self, request: LlmRequest) -> None:
        self.request = request
        self.history: list[types.Content] = []
        self.sent: list[Any] = []
        self.closed = 0
        self.left = False
        self._heard = asyncio.Condition()
        self._spoken: asyncio.Queue[LlmResponse | Exception | None] = asyncio.Queue()

    def say(self, response: LlmResponse | Exception) -> None:
        """Receive a response, or the error of a broken connection."""
        self._spoken.put_nowait(response)

    async def heard(self, number: int) -> list[Any]:
        """Wait until so many messages were sent, and return them."""
        async with asyncio.timeout(10), self._heard:
            await self._heard.wait_for(lambda: len(self.sent) >= number)
            return self.sent

    async def send_history(self, history: list[types.Content]) -> None:
        """Keep the history."""
        self.history = history

    async def send_content(self, content: types.Content) -> None:
        """Keep a message."""
        await self._keep(content)

    async def send_realtime(self, blob: Any) -> None:
        """Keep audio or a mark."""
        await self._keep(blob)

    async def _keep(self, thing: Any) -> None:
        async with self._heard:
            self.sent.append(thing)
            self._heard.notify_all()

    async def receive(self) -> AsyncGenerator[LlmResponse, None]:
        """Yield what the test says until the connection is closed."""
        while (response := await self._spoken.get()) is not None:
            if isinstance(response, Exception):
                raise response
            yield response

    async def close(self) -> None:
        """Count the closings, and end `receive`."""
        self.closed += 1
        self._spoken.put_nowait(None)


class LiveLlm(BaseLlm):
    """A model whose connections are `lines`."""

    model: str = "live"
    _lines: list[Line] = PrivateAttr(default_factory=list)
    _opened: asyncio.Queue[Line] = PrivateAttr(default_factory=asyncio.Queue)

    @property
    def lines(self) -> list[Line]:
        """The connections so far."""
        return self._lines

    async def line(self) -> Line:
        """Wait for the next connection."""
        async with asyncio.timeout(10):
            return await self._opened.get()

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        """Answer an ordinary request."""
        yield spoken("written answer")

    @asynccontextmanager
    async def connect(self, llm_request: LlmRequest) -> AsyncGenerator[Line, None]:
        """Open a connection."""
        line = Line(llm_request)
        self._lines.append(line)
        self._opened.put_nowait(line)
        try:
            yield line
        finally:
            line.left = True


def spoken(text: str, **more: Any) -> LlmResponse:
    """Return a text of the model."""
    return LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]), **more)


def calling(*calls: types.FunctionCall) -> LlmResponse:
    """Return function calls of the model."""
    return LlmResponse(content=types.Content(role="model", parts=[types.Part(function_call=call) for call in calls]))


def heard(text: str, *, finished: bool = True) -> LlmResponse:
    """Return a transcript of the user's audio."""
    return LlmResponse(input_transcription=types.Transcription(text=text, finished=finished), partial=not finished)


def voiced(text: str, *, finished: bool = True) -> LlmResponse:
    """Return a transcript of the model's audio."""
    return LlmResponse(output_transcription=types.Transcription(text=text, finished=finished), partial=not finished)


DONE = LlmResponse(turn_complete=True)


class Talk:
    """A live run in session `s` of user `u`, for `async with`; it must end by itself, unless `stop` was called.

    Attributes:
        queue: what the user sends.
        events: what was yielded.
    """

    def __init__(self, runner: Runner, **more: Any) -> None:
        self.queue = LiveRequestQueue()
        self.events: list[Event] = []
        self._run = runner.run_live(user_id="u", session_id="s", live_request_queue=self.queue, **more)
        self._came = asyncio.Condition()
        self._group = asyncio.TaskGroup()

    async def __aenter__(self) -> Talk:
        await self._group.__aenter__()
        self._task = self._group.create_task(self._listen())
        return self

    async def __aexit__(self, *error: Any) -> None:
        async with asyncio.timeout(10):
            await self._group.__aexit__(*error)

    async def _listen(self) -> None:
        async with aclosing(self._run) as events:
            async for event in events:
                async with self._came:
                    self.events.append(event)
                    self._came.notify_all()

    async def until(self, number: int) -> list[Event]:
        """Wait for so many events, and return them."""
        async with asyncio.timeout(10), self._came:
            await self._came.wait_for(lambda: len(self.events) >= number)
            return self.events

    def type(self, text: str, **more: Any) -> None:
        """Send a turn of text."""
        self.queue.send(LiveRequest(content=types.UserContent(text), **more))

    def stop(self) -> None:
        """Cancel the run, as a window does."""
        self._task.cancel()
