"""The agent that runs its sub-agents concurrently."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from runtime.agents.base_agent import BaseAgent, BaseAgentState
from runtime.contexts.invocation_context import InvocationContext, InvocationPaused
from runtime.events.event import Event
from runtime.events.marks import agent_key
from runtime.history.agent_places import numbered_name
from runtime.history.agent_tree import AgentTree
from runtime.history.turns import answered, asked_on_branch
from runtime.support.merge import merge


class ParallelAgent(BaseAgent):
    """Runs its sub-agents concurrently, each on its own branch, so that none sees the events of its siblings.

    They share the state. Their events come in the order in which they are yielded. If one fails, or itself escalates, the others are
    cancelled; if one pauses at a long-running call, the others finish first. In a resumable app, finished sub-agents do not run again.
    """

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        if not self.sub_agents:
            return
        is_resumed = self._load_agent_state(ctx, BaseAgentState) is not None
        if ctx.is_resumable and not is_resumed:
            yield self._create_agent_state_event(ctx, BaseAgentState())
        children = {ctx.places.key(sub_agent): sub_agent for sub_agent in self.sub_agents}
        resumed = ctx.shared.resumed
        escalated = is_resumed and resumed is not None and ctx.places.key(self) in resumed.escalated_by_child
        paused: list[InvocationPaused] = []
        # An escalation stopped the other children, but not the answers of a person.
        runs = [self._run_branch(ctx, child, paused) for child in children.values() if not escalated or self._asked(ctx, child)]
        async with aclosing(merge(runs)) as events:
            async for event in events:
                yield event
                if event.actions.escalate and not event.partial and agent_key(event) in children:
                    escalated = True
                    break
        if escalated and ctx.is_resumable and any(self._asked(ctx, child) - answered(ctx.invocation_events()) for child in self.sub_agents):
            raise InvocationPaused
        if paused:
            raise paused[0]
        if ctx.is_resumable:
            yield self._create_agent_state_event(ctx, end_of_agent=True)

    def _asked(self, ctx: InvocationContext, child: BaseAgent) -> set[str]:
        return asked_on_branch(ctx.invocation_events(), ctx.places.key(self), self._branch(ctx, child))

    def branch_of(self, sub_agent: AgentTree) -> str:
        """See `BaseAgent.branch_of`. Sub-agents of one name have branches of their own."""
        return f"{self.name}.{numbered_name(self.sub_agents, sub_agent)}"

    def _branch(self, ctx: InvocationContext, sub_agent: BaseAgent) -> str:
        return f"{ctx.branch}.{self.branch_of(sub_agent)}" if ctx.branch else self.branch_of(sub_agent)

    async def _run_branch(
        self, ctx: InvocationContext, sub_agent: BaseAgent, paused: list[InvocationPaused]
    ) -> AsyncGenerator[Event, None]:
        own = ctx.for_agent(self)
        own.branch = self._branch(ctx, sub_agent)
        try:
            async with aclosing(sub_agent.run_async(own)) as events:
                async for event in events:
                    yield event
        except InvocationPaused as pause:
            paused.append(pause)
