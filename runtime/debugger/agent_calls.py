"""Which agent called which: the call tree of a run, as far as it is active."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from runtime.debugger.call_context import CallContext
from runtime.events.event import Event
from runtime.sessions.state import same_value


@dataclass(eq=False, slots=True)
class AgentCall:
    """One call of an agent.

    Attributes:
        agent: its name.
        branch: the branch its events are on.
        caller: the call that made it; None for the outermost.
        path: tells calls apart that run at once: a call runs beside another if neither's path begins with the other's.
        returned: it returned, or cannot continue.
        context: what it runs in.
    """

    agent: str
    branch: str | None
    caller: AgentCall | None
    path: tuple[str, ...]
    context: CallContext = field(repr=False)
    returned: bool = False

    @property
    def level(self) -> int:
        """How many calls it is inside of."""
        return sum(1 for _ in self.callers())

    def callers(self) -> Iterator[AgentCall]:
        """Yield the call that made it, the one that made that, and so on."""
        above = self.caller
        while above is not None:
            yield above
            above = above.caller

    def is_within(self, other: AgentCall) -> bool:
        """Return whether this call was made by the other one, or by one that it made."""
        return other in self.callers()

    def runs_beside(self, other: AgentCall) -> bool:
        """Return whether the two run at once, on parallel branches."""
        common = min(len(self.path), len(other.path))
        return self.path[:common] != other.path[:common]

    def goes_on(self) -> bool:
        """Return whether this call, or one above it on its own branch, is still active."""
        return any(not call.returned for call in (self, *self.callers()) if call.path == self.path)


class AgentCalls:
    """The active calls of a run, those of agents that run as tools included."""

    def __init__(self) -> None:
        self._active: dict[int, AgentCall] = {}  # by id() of the context, which each entry keeps alive; in the order in which they began

    def entered(self, context: CallContext) -> AgentCall:
        """Note that an agent begins.

        Args:
            context: its own.
        """
        self._end_forgotten(context)
        caller = self._caller(context)
        call = AgentCall(context.agent.name, context.branch, caller, self._path(context), context)
        self._active[id(context)] = call
        return call

    def left(self, context: CallContext) -> AgentCall | None:
        """Note that an agent returned, and return its call."""
        call = self._active.get(id(context))
        if call is not None:
            for other in list(self._active.values()):
                if other is call or other.is_within(call):
                    self._end(other)
        return call

    def of_context(self, context: CallContext) -> AgentCall | None:
        """Return the active call that runs in a context."""
        return self._active.get(id(context))

    def of_event(self, event: Event, yielded_by: CallContext | None) -> AgentCall | None:
        """Return the call that an event comes from.

        Args:
            event: on its way to be committed.
            yielded_by: the context of the agent that yielded it, if known. (What callbacks of an agent say is yielded by its caller.)
        """
        call = self._active.get(id(yielded_by)) if yielded_by is not None else None
        if call is not None and call.agent == event.author:
            return call
        for other in reversed(self._active.values()):
            if other.agent == event.author and other.branch == event.branch:
                return other
        return call

    def beside(self, call: AgentCall) -> list[AgentCall]:
        """Return the innermost active calls that run beside a call."""
        active = list(self._active.values())
        callers = {other.caller for other in active}
        return [other for other in active if other not in callers and other.runs_beside(call)]

    def uncommitted(self) -> dict[str, Any]:
        """Return the state keys whose value in the running session is not the committed one."""
        outermost = next((call.context for call in self._active.values() if call.context.shared.outer is None), None)
        if outermost is None:
            return {}
        committed = outermost.shared.committed_state
        return {
            key: value
            for key, value in outermost.session.state.items()
            if key not in committed or (committed[key] is not value and not same_value(committed[key], value))
        }

    def clear(self) -> None:
        """Forget all: the run is over."""
        for call in list(self._active.values()):
            self._end(call)

    def _end(self, call: AgentCall) -> None:
        call.returned = True
        self._active.pop(id(call.context), None)

    def _end_forgotten(self, context: CallContext) -> None:
        """End calls that returned without a word: on one branch, what is as deep as a new call, or deeper, cannot be active any more."""
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
