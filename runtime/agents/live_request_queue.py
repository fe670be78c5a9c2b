"""google-adk's queue of live requests. The embedded runtime has no live audio: `run_live` says so."""

from __future__ import annotations

import asyncio

from google.genai import types
from pydantic import BaseModel, ConfigDict


class LiveRequest(BaseModel):
    """One message of a live conversation.

    Attributes:
        content: a turn of text.
        blob: audio or video.
        activity_start, activity_end: the user begins or ends to speak.
        close: the conversation ends.
    """

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    content: types.Content | None = None
    blob: types.Blob | None = None
    activity_start: types.ActivityStart | None = None
    activity_end: types.ActivityEnd | None = None
    close: bool = False


class LiveRequestQueue:
    """A queue of live requests, which agents name in the parameters of streaming tools."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[LiveRequest] = asyncio.Queue()

    def send(self, req: LiveRequest) -> None:
        """Add a request."""
        self._queue.put_nowait(req)

    def send_content(self, content: types.Content) -> None:
        """Add a turn of text."""
        self.send(LiveRequest(content=content))

    def send_realtime(self, blob: types.Blob) -> None:
        """Add audio or video."""
        self.send(LiveRequest(blob=blob))

    def send_activity_start(self) -> None:
        """Add the mark that the user begins to speak."""
        self.send(LiveRequest(activity_start=types.ActivityStart()))

    def send_activity_end(self) -> None:
        """Add the mark that the user ends to speak."""
        self.send(LiveRequest(activity_end=types.ActivityEnd()))

    def close(self) -> None:
        """Add the mark that the conversation ends."""
        self.send(LiveRequest(close=True))

    async def get(self) -> LiveRequest:
        """Return the next request, when there is one."""
        return await self._queue.get()
