"""The agent that runs its sub-agents in sequence."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

from runtime.agents.base_agent import BaseAgent, BaseAgentState
from runtime.contexts.invocation_context import InvocationContext
from runtime.events.event import Event

logger = logging.getLogger(__name__)


class SequentialAgentState(BaseAgentState):
    """A SequentialAgent's checkpoint.

    Attributes:
        current_sub_agent: the running sub-agent; empty before the first.
    """

    current_sub_agent: str = ""


class SequentialAgent(BaseAgent):
    """Runs its sub-agents in order, each once.

    If a sub-agent waits for a person's answer, those after it do not run: in an app that is not resumable, not after the answer either.

    In a resumable app it commits the sub-agent's name before each call, and a resumed run begins there.
    """

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        state = self._load_agent_state(ctx, SequentialAgentState)
        first = 0 if state is None else _position(self, ctx, state.current_sub_agent)
        for index, sub_agent in enumerate(self.sub_agents[first:], first):
            if ctx.is_resumable and not (state is not None and index == first):
                ctx.shared.positions[ctx.places.key(self)] = index
                yield self._create_agent_state_event(ctx, SequentialAgentState(current_sub_agent=sub_agent.name))
            waits = False
            async with aclosing(sub_agent.run_async(ctx)) as events:
                async for event in events:
                    yield event
                    waits = waits or ctx.should_pause_invocation(event)
            if waits and not ctx.is_resumable:  # in a resumable app the sub-agent itself pauses the invocation
                return
        if ctx.is_resumable:
            yield self._create_agent_state_event(ctx, end_of_agent=True)


def _position(agent: BaseAgent, ctx: InvocationContext, sub_agent: str) -> int:
    """Return the index of the sub-agent that a workflow's checkpoint names, or 0 if it no longer exists."""
    indices = [index for index, each in enumerate(agent.sub_agents) if each.name == sub_agent]
    if indices:
        position = ctx.shared.positions.get(ctx.places.key(agent))
        return position if position in indices else indices[0]
    if sub_agent:
        logger.warning(
            "The checkpoint of %s is at %r, which is no longer its sub-agent; it starts from its first one.", agent.name, sub_agent
        )
    return 0
