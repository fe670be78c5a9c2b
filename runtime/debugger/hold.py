"""Where and why an agent is held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from runtime.debugger.agent_calls import AgentCall
from runtime.debugger.breakpoints import Breakpoint
from runtime.debugger.calls import ModelCall, ToolCall
from runtime.debugger.stepping import Place, Reason
from runtime.events.event import Event


@dataclass(frozen=True, slots=True)
class RunningAgent:
    """An agent that runs on while another is held.

    Attributes:
        agent: its name.
        branch: the branch it is on.
    """

    agent: str
    branch: str | None


@dataclass(frozen=True, slots=True)
class Hold:
    """One hold.

    Attributes:
        place: where the agent is held.
        reason: which command, or that a breakpoint, did it.
        text: both as a sentence.
        agent, branch: who is held; the agent is None if nobody knows it.
        event: at the place `event`, the committed event. Elsewhere None.
        inner: the event is of an agent that runs as a tool: it is part of no stored session.
        call: before a model or tool call, or at its failure: what may be looked at and changed.
        error: at the place `error`: what was raised.
        breakpoint: the id of the breakpoint that did it.
        runs_on: who runs on beside it; at an event, each only up to its own next event.
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
    """Something to tell while nothing is held.

    Attributes:
        kind: a logpoint's text; that a tool's result has come in while a sibling is held; or that a breakpoint cannot be evaluated.
        text: as a sentence.
        event: what it is about, if it is an event.
        breakpoint: the breakpoint's id, if it is one's.
    """

    kind: Literal["log", "arrived", "problem"]
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
    """Say where an agent is held, and why."""
    why = f"breakpoint {breakpoint.id} ({breakpoint})" if breakpoint is not None else _REASONS[reason]
    text = f"{_where(place, agent, tool, error)}; {why}."
    return text if agent else text[0].upper() + text[1:]


def _where(place: Place, agent: str | None, tool: str, error: BaseException | None) -> str:
    who = agent or "the agent"
    if place == "agent start":
        return f"{who} begins"
    if place == "agent end":
        return f"{who} has ended"
    if place == "before model":
        return f"{who} is about to call its model"
    if place == "before tool":
        return f"{who} is about to call {tool}"
    if place == "error":
        what = f"{tool} failed" if tool else f"{who} failed"
        return f"{what}: {type(error).__name__}: {error}" if error is not None else what
    return f"an event of {who} is committed"


def running_agents(calls: list[AgentCall]) -> tuple[RunningAgent, ...]:
    """Return calls as plain data."""
    return tuple(RunningAgent(call.agent, call.branch) for call in calls)
