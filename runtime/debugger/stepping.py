"""The goals of step commands. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from runtime.debugger.agent_calls import AgentCall
from runtime.events.kinds import Kind, kind_of

if TYPE_CHECKING:
    from runtime.events.event import Event

# Where an agent can be held: after a committed event, at its start or end, before a call, or at a failure.
Place = Literal["event", "agent start", "agent end", "before model", "before tool", "error"]

Reason = Literal["start", "pause", "step", "step over", "step into", "step out", "run to kind", "breakpoint"]


@dataclass(frozen=True, slots=True)
class Moment:
    """An action that has just happened or is about to.

    Attributes:
        place: the kind of action.
        call: the agent's call; None if unknown (without the interception plugin).
        event: at the place `event`, the event.
    """

    place: Place
    call: AgentCall | None
    event: Event | None = None


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal of a command: the run holds at the first moment that reaches it.

    Attributes:
        reason: the command.
        reached: returns whether a moment reaches the goal.
    """

    reason: Reason
    reached: Callable[[Moment], bool]


def next_event(reason: Reason = "step") -> Goal:
    """Hold at the next committed event."""
    return Goal(reason, lambda moment: moment.place == "event")


def first_call() -> Goal:
    """Hold a run that begins before its first call of a model or tool, at the latest at the first event of an agent."""

    def reached(moment: Moment) -> bool:
        return moment.place in ("before model", "before tool") or (moment.event is not None and moment.event.author != "user")

    return Goal("step into", reached)


def anything() -> Goal:
    """Hold as soon as possible: at the next event, or before the next call."""
    return Goal("pause", lambda moment: moment.place != "agent end")


def over(origin: AgentCall | None) -> Goal:
    """Hold at the next event at the same agent level or above; agents that this one calls run through."""

    def reached(moment: Moment) -> bool:
        if moment.place != "event" or moment.call is None or origin is None:
            return moment.place == "event"
        return moment.call.level <= origin.level and not _elsewhere(moment.call, origin)

    return Goal("step over", reached)


def into(origin: AgentCall | None) -> Goal:
    """Hold at the next model call, tool call or sub-agent, at the latest at the first event after the agent's end."""

    def reached(moment: Moment) -> bool:
        if moment.call is None or origin is None:
            return moment.place in ("event", "before model", "before tool", "agent start")
        if _elsewhere(moment.call, origin):
            return False
        if moment.place == "event":
            return not _inside(moment.call, origin)
        return moment.place in ("before model", "before tool", "agent start")

    return Goal("step into", reached)


def out(origin: AgentCall | None) -> Goal:
    """Hold at this agent's end, before its caller resumes, at the latest at the next event outside it."""

    def reached(moment: Moment) -> bool:
        if moment.call is None or origin is None:
            return moment.place == "event"
        if moment.place == "agent end":
            return moment.call is origin
        return moment.place == "event" and not _inside(moment.call, origin) and not _elsewhere(moment.call, origin)

    return Goal("step out", reached)


def to_kind(kind: Kind) -> Goal:
    """Hold at the next event of a kind."""
    return Goal("run to kind", lambda moment: moment.event is not None and kind_of(moment.event) == kind)


def _inside(call: AgentCall, origin: AgentCall) -> bool:
    return call is origin or call.is_within(origin)


def _elsewhere(call: AgentCall, origin: AgentCall) -> bool:
    """Return whether the call is on another, parallel branch while the followed one is still active."""
    return call.runs_beside(origin) and origin.is_active()
