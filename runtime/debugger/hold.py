"""Holds: where and why an agent is held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from runtime.debugger.agent_calls import AgentCall
from runtime.debugger.calls import ModelCall, ToolCall
from runtime.debugger.stepping import Place, Reason
from runtime.support.texts import error_text

if TYPE_CHECKING:
    from runtime.debugger.breakpoint import Breakpoint
    from runtime.events.event import Event


@dataclass(frozen=True, slots=True)
class RunningAgent:
    """An agent that runs while another one is held."""

    agent: str
    branch: str | None


@dataclass(frozen=True, slots=True)
class Hold:
    """One hold.

    Attributes:
        place: where the agent is held.
        reason: the command or breakpoint that caused it.
        text: place and reason as a sentence.
        agent, branch: the held agent; None if unknown.
        event: at the place `event`, the committed event; else None.
        inner: whether the event is of an agent that runs as a tool, so that it is not part of a stored session.
        call: before a model or tool call, or at its failure: the call that a person may inspect and change.
        error: at the place `error`, the exception.
        breakpoint: the id of the breakpoint, if one caused the hold.
        runs_on: the agents that run in parallel; at an event, each runs only to its own next event.
    """

    place: Place
    reason: Reason
    text: str
    agent: str | None
    branch: str | None
    event: Event | None = None
    inner: bool = False
    call: ModelCall | ToolCall | None = None
    error: BaseException | None = None
    breakpoint: int | None = None
    runs_on: tuple[RunningAgent, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A message while nothing is held.

    Attributes:
        kind: `log`: a logpoint's text; `arrived`: a tool has returned while another agent is held; `ahead`: an event was committed while
            the run is held; `problem`: a breakpoint cannot be evaluated.
        text: the message as a sentence.
        event: its event, if any.
        breakpoint: its breakpoint's id, if any.
    """

    kind: Literal["log", "arrived", "ahead", "problem"]
    text: str
    event: Event | None = None
    breakpoint: int | None = None


_REASONS: dict[Reason, str] = {
    "start": "held at the start",
    "pause": "paused",
    "step": "stepped",
    "step over": "stepped over",
    "step into": "stepped into",
    "step out": "stepped out",
    "run to kind": "run to this kind",
}


def describe(place: Place, reason: Reason, breakpoint: Breakpoint | None, agent: str | None, tool: str, error: BaseException | None) -> str:
    """Return a sentence that says where and why an agent is held."""
    why = f"breakpoint {breakpoint.id} ({breakpoint})" if breakpoint is not None else _REASONS[reason]
    text = f"{_where(place, agent, tool, error)}; {why}."
    return text if agent else text[0].upper() + text[1:]


def _where(place: Place, agent: str | None, tool: str, error: BaseException | None) -> str:
    who = agent or "the agent"
    if place == "agent start":
        return f"{who} starts"
    if place == "agent end":
        return f"{who} has ended"
    if place == "before model":
        return f"{who} is about to call its model"
    if place == "before tool":
        return f"{who} is about to call {tool}"
    if place == "error":
        what = f"{tool} failed" if tool else f"{who} failed"
        return f"{what}: {error_text(error)}" if error is not None else what
    return f"an event of {who} is committed"


def running_agents(calls: list[AgentCall]) -> tuple[RunningAgent, ...]:
    """Return calls as plain data."""
    return tuple(RunningAgent(call.agent, call.branch) for call in calls)
