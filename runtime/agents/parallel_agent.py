"""The agent that runs its sub-agents concurrently."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import ClassVar

from runtime.agents.base_agent import BaseAgent, BaseAgentState
from runtime.configs.agent_config import BaseAgentConfig, ParallelAgentConfig
from runtime.contexts.invocation_context import InvocationContext, InvocationPaused
from runtime.events.event import Event
from runtime.history.agent_places import numbered_name
from runtime.history.agent_tree import AgentTree
from runtime.support.merge import merge


class ParallelAgent(BaseAgent):
    """Runs its sub-agents concurrently, each on its own branch, so that none sees the events of its siblings.

    They share the state. Their events come in the order in which they are yielded. If one fails, the others are cancelled; if one pauses
    at a long-running call, the others finish first. In a resumable app, finished sub-agents do not run again.
    """

    config_type: ClassVar[type[BaseAgentConfig]] = ParallelAgentConfig

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        if not self.sub_agents:
            return
        if ctx.is_resumable and self._load_agent_state(ctx, BaseAgentState) is None:
            yield self._create_agent_state_event(ctx, BaseAgentState())
        paused: list[InvocationPaused] = []
        async with aclosing(merge([self._run_branch(ctx, sub_agent, paused) for sub_agent in self.sub_agents])) as events:
            async for event in events:
                yield event
        if paused:
            raise paused[0]
        if ctx.is_resumable:
            yield self._create_agent_state_event(ctx, end_of_agent=True)

    def branch_of(self, sub_agent: AgentTree) -> str:
        """See `BaseAgent.branch_of`. Sub-agents of one name have branches of their own."""
        return f"{self.name}.{numbered_name(self.sub_agents, sub_agent)}"

    async def _run_branch(
        self, ctx: InvocationContext, sub_agent: BaseAgent, paused: list[InvocationPaused]
    ) -> AsyncGenerator[Event, None]:
        branch = self.branch_of(sub_agent)
        own = ctx.for_agent(self)
        own.branch = f"{ctx.branch}.{branch}" if ctx.branch else branch
        try:
            async with aclosing(sub_agent.run_async(own)) as events:
                async for event in events:
                    yield event
        except InvocationPaused as pause:
            paused.append(pause)
