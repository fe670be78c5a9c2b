"""The agent that runs its sub-agents in a loop."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from runtime.agents.base_agent import BaseAgent
from runtime.agents.sequential_agent import SequentialAgentState, _position
from runtime.contexts.invocation_context import InvocationContext
from runtime.events.event import Event


class LoopAgentState(SequentialAgentState):
    """A LoopAgent's checkpoint.

    Attributes:
        times_looped: number of completed iterations.
    """

    times_looped: int = 0


class LoopAgent(BaseAgent):
    """Runs its sub-agents in order, repeatedly, until one escalates or `max_iterations` is reached.

    In a resumable app it commits iteration and sub-agent before each call, and a resumed run begins there. A committed escalation also
    ends the loop of a resumed run.

    Attributes:
        max_iterations: maximum number of iterations; unlimited if None.
    """

    max_iterations: int | None = None

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        if not self.sub_agents:
            return
        state = self._load_agent_state(ctx, LoopAgentState)
        resumed = ctx.shared.resumed
        escalated = state is not None and resumed is not None and ctx.places.key(self) in resumed.escalated
        current = LoopAgentState() if state is None else state
        first = _position(self, ctx, current.current_sub_agent)
        rounds = current.times_looped
        while state is not None or (not escalated and (self.max_iterations is None or rounds < self.max_iterations)):
            for index, sub_agent in enumerate(self.sub_agents[first:], first):
                if ctx.is_resumable and state is None:
                    ctx.shared.positions[ctx.places.key(self)] = index
                    yield self._create_agent_state_event(ctx, LoopAgentState(current_sub_agent=sub_agent.name, times_looped=rounds))
                state = None
                waits = False
                async with aclosing(sub_agent.run_async(ctx)) as events:
                    async for event in events:
                        yield event
                        escalated = escalated or bool(event.actions.escalate and not event.partial)
                        waits = waits or ctx.should_pause_invocation(event)
                if waits and not ctx.is_resumable:  # as in a SequentialAgent
                    return
                if escalated:
                    break
            first = 0
            rounds += 1
            ctx.reset_sub_agent_states(self.name)
        if ctx.is_resumable:
            yield self._create_agent_state_event(ctx, end_of_agent=True)
