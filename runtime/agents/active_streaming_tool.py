"""google-adk's record of a streaming tool that runs in a live conversation; `runtime.flows.live_tools` has its own."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import BaseModel, ConfigDict

from runtime.agents.live_request_queue import LiveRequestQueue


class ActiveStreamingTool(BaseModel):
    """A streaming tool that runs.

    Attributes:
        task: runs the tool.
        stream: gives the tool what the user sends.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    task: asyncio.Task[Any] | None = None
    stream: LiveRequestQueue | None = None
