"""What a step waits for. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from runtime.debugger.agent_calls import AgentCall
from runtime.events.event import Event
from runtime.events.kinds import Kind, kind_of

Place = Literal["event", "agent start", "agent end", "before model", "before tool", "error"]
"""Where an agent can be held: behind a committed event, as it begins or has ended, before it calls, or at a failure."""

Reason = Literal["start", "pause", "step", "step over", "step into", "step out", "run to kind", "breakpoint"]


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that just happened, or is about to.

    Attributes:
        place: what.
        call: the agent's; None if nobody knows it (without the interception plugin).
        event: of the place `event`.
    """

    place: Place
    call: AgentCall | None
    event: Event | None = None


@dataclass(frozen=True, slots=True)
class Goal:
    """What a run is let go for: it holds at the first moment that is the goal.

    Attributes:
        reason: the command.
        reached: whether a moment is it.
    """

    reason: Reason
    reached: Callable[[Moment], bool]


def next_event(reason: Reason = "step") -> Goal:
    """Hold at the next committed event."""
    return Goal(reason, lambda moment: moment.place == "event")


def anything() -> Goal:
    """Hold as soon as it is possible: at the next event, or before the next call."""
    return Goal("pause", lambda moment: moment.place != "agent end")


def over(origin: AgentCall | None) -> Goal:
    """Hold at the next event at the same agent level, or above: what the agent calls runs through."""

    def reached(moment: Moment) -> bool:
        if moment.place != "event" or moment.call is None or origin is None:
            return moment.place == "event"
        return moment.call.level <= origin.level and not _elsewhere(moment.call, origin)

    return Goal("step over", reached)


def into(origin: AgentCall | None) -> Goal:
    """Hold at the next model call, tool call or sub-agent; at the latest at the first event after the agent's end."""

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
    """Hold where this agent has ended, before its caller goes on; at the latest at the next event outside of it."""

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
    """Return whether the call is on a branch beside the one that is followed, while that goes on."""
    return call.runs_beside(origin) and origin.goes_on()
