"""An agent that commits an event by itself, beside the run."""

from __future__ import annotations

import asyncio
from typing import Any

from google.adk.agents import BaseAgent
from google.adk.events import Event
from google.genai import types


class Beside(BaseAgent):
    """Yields an event, while a task of its own appends another one."""

    async def _run_async_impl(self, ctx: Any) -> Any:
        def event(text: str) -> Event:
            content = types.Content(role="model", parts=[types.Part(text=text)])
            return Event(invocation_id=ctx.invocation_id, author=self.name, content=content)

        async def append() -> None:
            await asyncio.sleep(0.05)
            await ctx.session_service.append_event(ctx.session, event("appended"))

        task = asyncio.ensure_future(append())
        yield event("yielded")
        await task


root_agent = Beside(name="beside")
