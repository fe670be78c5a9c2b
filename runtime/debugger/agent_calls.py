"""The active calls of a run as a tree: which agent called which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runtime.debugger.call_context import CallContext, SharedContext
from runtime.sessions.state import same_value

if TYPE_CHECKING:
    from runtime.events.event import Event


@dataclass(eq=False, slots=True)
class AgentCall:
    """One call of an agent.

    Attributes:
        agent: the agent's name.
        branch: the branch of its events.
        caller: the call that made this one; None for the outermost.
        path: identifies parallel calls: two calls run in parallel if neither's path starts with the other's.
        returned: whether it returned or cannot continue.
        context: the call's invocation context.
    """

    agent: str
    branch: str | None
    caller: AgentCall | None
    path: tuple[str, ...]
    context: CallContext = field(repr=False)
    returned: bool = False

    @property
    def level(self) -> int:
        """The number of calls above it."""
        return sum(1 for _ in self.callers())

    @property
    def run(self) -> SharedContext:
        """What identifies the outermost run that the call is part of; an attached app has several runs at once."""
        shared = self.context.shared
        while shared.outer is not None:
            shared = shared.outer[0].shared
        return shared

    def callers(self) -> Iterator[AgentCall]:
        """Yield the caller, the caller's caller, and so on."""
        above = self.caller
        while above is not None:
            yield above
            above = above.caller

    def is_within(self, other: AgentCall) -> bool:
        """Return whether the other call made this one, directly or not."""
        return other in self.callers()

    def runs_beside(self, other: AgentCall) -> bool:
        """Return whether the two calls run in parallel, on different branches."""
        common = min(len(self.path), len(other.path))
        return self.path[:common] != other.path[:common]

    def is_active(self) -> bool:
        """Return whether this call, or one above it on its own branch, is still active."""
        return any(not call.returned for call in (self, *self.callers()) if call.path == self.path)


class AgentCalls:
    """The active calls of a run, including those of agents that run as tools."""

    def __init__(self) -> None:
        self._active: dict[int, AgentCall] = {}  # by id() of the context, which each entry keeps alive; in start order

    def entered(self, context: CallContext) -> AgentCall:
        """Record that an agent starts."""
        self._end_forgotten(context)
        caller = self._caller(context)
        call = AgentCall(context.agent.name, context.branch, caller, self._path(context), context)
        self._active[id(context)] = call
        return call

    def left(self, context: CallContext) -> AgentCall | None:
        """Record that an agent returned, and return its call."""
        call = self._active.get(id(context))
        if call is not None:
            for other in list(self._active.values()):
                if other is call or other.is_within(call):
                    self._end(other)
        return call

    def of_context(self, context: CallContext) -> AgentCall | None:
        """Return the active call with this context."""
        return self._active.get(id(context))

    def of_event(self, event: Event, yielded_by: CallContext | None, run: SharedContext | None = None) -> AgentCall | None:
        """Return the call that an event comes from.

        Args:
            event: an event about to be committed.
            yielded_by: the context of the agent that yielded it, if known. A caller yields the events of its agent's callbacks.
            run: the run that the event is part of, where there are several.
        """
        call = self._active.get(id(yielded_by)) if yielded_by is not None else None
        if call is not None and call.agent == event.author:
            return call
        for other in reversed(self._active.values()):
            if other.agent == event.author and other.branch == event.branch and (run is None or other.run is run):
                return other
        return call

    def beside(self, call: AgentCall) -> list[AgentCall]:
        """Return the innermost active calls that run in parallel with a call."""
        active = list(self._active.values())
        callers = {other.caller for other in active}
        return [other for other in active if other not in callers and other.runs_beside(call)]

    def uncommitted(self, held: AgentCall | None = None) -> dict[str, Any]:
        """Return the state keys whose value in the running session differs from the committed one.

        Args:
            held: a call of the run, where there are several.
        """
        outermost_calls = (call.context for call in self._active.values() if call.context.shared.outer is None)
        outermost = next((context for context in outermost_calls if held is None or context.shared is held.run), None)
        if outermost is None:
            return {}
        committed = outermost.shared.committed_state
        return {
            key: value
            for key, value in outermost.session.state.items()
            if key not in committed or (committed[key] is not value and not same_value(committed[key], value))
        }

    def clear(self) -> None:
        """Drop all calls: the run is over."""
        for call in list(self._active.values()):
            self._end(call)

    def _end(self, call: AgentCall) -> None:
        call.returned = True
        self._active.pop(id(call.context), None)

    def _end_forgotten(self, context: CallContext) -> None:
        """End calls that returned unnoticed: on one branch, a call at the depth of a new one, or deeper, is no longer active."""
        for call in list(self._active.values()):
            if call.context.shared is context.shared and call.branch == context.branch and call.context.depth >= context.depth:
                self._end(call)

    def _caller(self, context: CallContext) -> AgentCall | None:
        path = self._path(context)
        for call in reversed(self._active.values()):
            if call.context.shared is context.shared and call.path == path[: len(call.path)] and call.context.depth < context.depth:
                return call
        outer = context.shared.outer
        return self._active.get(id(outer[0])) if outer is not None else None

    def _path(self, context: CallContext) -> tuple[str, ...]:
        own = tuple(context.branch.split(".")) if context.branch else ()
        outer = context.shared.outer
        if outer is None:
            return own
        return (*self._path(outer[0]), f"call {outer[1]}", *own)
