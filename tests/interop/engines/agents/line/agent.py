"""A resumable sequence of agents that each yield events and keep a checkpoint."""

from __future__ import annotations

from typing import Any

from google.adk.agents import BaseAgent, SequentialAgent
from google.adk.apps.app import App, ResumabilityConfig
from google.adk.events import Event, EventActions
from google.genai import types


class Counter(BaseAgent):
    """Yields three events, each with a number in the state."""

    async def _run_async_impl(self, ctx: Any) -> Any:
        for number in range(3):
            key = f"{self.name}_{number}"
            content = types.Content(role="model", parts=[types.Part(text=key)])
            actions = EventActions(state_delta={key: number})
            yield Event(invocation_id=ctx.invocation_id, author=self.name, branch=ctx.branch, content=content, actions=actions)


app = App(
    name="line",
    root_agent=SequentialAgent(name="line", sub_agents=[Counter(name=name) for name in ("one", "two", "three")]),
    resumability_config=ResumabilityConfig(is_resumable=True),
)
