"""An agent that yields as many events as the message says, and awaits nothing between them."""

from __future__ import annotations

from typing import Any

from google.adk.agents import BaseAgent
from google.adk.events import Event, EventActions
from google.genai import types


class Tally(BaseAgent):
    """Takes messages such as `events 100` and `partials 100`."""

    async def _run_async_impl(self, ctx: Any) -> Any:
        kind, count = ctx.user_content.parts[0].text.split()
        for number in range(int(count)):
            content = types.Content(role="model", parts=[types.Part(text=str(number))])
            actions = EventActions(state_delta={} if kind == "partials" else {"number": number})
            partial = True if kind == "partials" else None
            yield Event(invocation_id=ctx.invocation_id, author=self.name, partial=partial, content=content, actions=actions)


root_agent = Tally(name="tally")
