"""The active calls of agents and tools."""

from __future__ import annotations

import contextvars
import itertools
from typing import Any


class Calls:
    """The active calls of agents, numbered, for a run."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._agents: dict[int, tuple[str, str | None]] = {}  # each call's agent and branch
        self._known: dict[int, tuple[Any, int]] = {}  # by id() of the context, which each entry keeps alive
        self._callers: contextvars.ContextVar[tuple[int, ...]] = contextvars.ContextVar("callers", default=())
        self.tool_call: contextvars.ContextVar[tuple[int | None, str | None] | None] = contextvars.ContextVar("tool_call", default=None)
        self.writing_call: contextvars.ContextVar[dict[str, Any] | None] = contextvars.ContextVar("writing_call", default=None)

    def entered(self, context: Any) -> tuple[int, tuple[int, ...]]:
        """Number an agent's call; return the number and those of its callers, the outermost first."""
        callers = self._callers.get()
        number = next(self._numbers)
        self._known[id(context)] = (context, number)
        self._agents[number] = (str(getattr(context.agent, "name", "")), context.branch)
        self._callers.set((*callers, number))
        return number, callers

    def left(self, context: Any) -> int | None:
        """Return the number of a call that ends."""
        number = self.number(context)
        callers = self._callers.get()
        if number in callers:
            self._callers.set(callers[: callers.index(number)])
        self._known.pop(id(context), None)
        return number

    def number(self, context: Any) -> int | None:
        """Return the number of the call that has this context."""
        found = self._known.get(id(context))
        if found is not None:
            return found[1]
        same = [number for other, number in self._known.values() if _is_same_call(other, context)]
        return same[-1] if same else None

    def clear(self) -> None:
        """Drop all calls."""
        self._known.clear()
        self._agents.clear()

    def source(self) -> dict[str, Any] | None:
        """Return what is running in the present context: an agent, or a tool that it called."""
        callers, call = self._callers.get(), self.writing_call.get()
        if call is not None or not callers or callers[-1] not in self._agents:
            return call
        agent, branch = self._agents[callers[-1]]
        return {"agent": agent, "branch": branch}

    def tool_starts(self, context: Any, tool: str, call_id: str | None) -> None:
        """Record that a tool runs in the present context; it writes for the tool around it, if any."""
        number = self.number(context)
        self.tool_call.set((number, call_id))
        if self.writing_call.get() is None:
            agent = str(getattr(context.agent, "name", ""))
            self.writing_call.set({"agent": agent, "branch": context.branch, "call_id": call_id, "tool": tool})

    def tool_ends(self, call_id: str | None) -> None:
        """Record that a tool has returned or raised."""
        self.tool_call.set(None)
        call = self.writing_call.get()
        if call is not None and call["call_id"] == call_id:
            self.writing_call.set(None)


def _is_same_call(one: Any, other: Any) -> bool:
    return bool(
        one.session.id == other.session.id
        and getattr(one.agent, "name", None) == getattr(other.agent, "name", None)
        and one.branch == other.branch
    )
