"""The queue through which a program speaks to a live agent."""

from __future__ import annotations

import asyncio
from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict


class LiveRequest(BaseModel):
    """One message of a live conversation.

    Attributes:
        content: a turn of text, or answers to function calls.
        blob: audio or video.
        activity_start, activity_end: the user begins or ends to speak.
        audio_stream_end: the user's audio pauses, such as when the microphone is muted.
        close: the conversation ends.
        partial: whether more of the turn follows; such a content is not stored.
        state_delta: state changes that go with the request.
    """

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    content: types.Content | None = None
    blob: types.Blob | None = None
    activity_start: types.ActivityStart | None = None
    activity_end: types.ActivityEnd | None = None
    audio_stream_end: bool = False
    close: bool = False
    partial: bool = False
    state_delta: dict[str, Any] | None = None


class LiveRequestQueue:
    """A queue of live requests: `Runner.run_live` sends them to the model, and copies them to the streaming tools that run."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[LiveRequest] = asyncio.Queue()
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether the end of the conversation was added."""
        return self._closed

    def send(self, req: LiveRequest) -> None:
        """Add a request."""
        self._closed = self._closed or req.close
        self._queue.put_nowait(req)

    def send_content(self, content: types.Content, partial: bool = False) -> None:
        """Add a turn of text, or a part of one."""
        self.send(LiveRequest(content=content, partial=partial))

    def send_realtime(self, blob: types.Blob) -> None:
        """Add audio or video."""
        self.send(LiveRequest(blob=blob))

    def send_activity_start(self) -> None:
        """Add the mark that the user begins to speak."""
        self.send(LiveRequest(activity_start=types.ActivityStart()))

    def send_activity_end(self) -> None:
        """Add the mark that the user ends to speak."""
        self.send(LiveRequest(activity_end=types.ActivityEnd()))

    def send_audio_stream_end(self) -> None:
        """Add the mark that the user's audio pauses."""
        self.send(LiveRequest(audio_stream_end=True))

    def close(self) -> None:
        """Add the mark that the conversation ends."""
        self.send(LiveRequest(close=True))

    async def get(self) -> LiveRequest:
        """Return the next request, when there is one."""
        return await self._queue.get()
