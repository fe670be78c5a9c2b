"""Where and why an agent is held, as text. No Qt."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from inspector_app.presentation.event_summary import describe
from inspector_app.presentation.values import ordinal, visible
from inspector_app.running.view_data import HoldText
from runtime.debugger.calls import ModelCall, ToolCall
from runtime.debugger.hold import Hold, RunningAgent
from runtime.debugger.stepping import Reason
from runtime.events.kinds import node_path

if TYPE_CHECKING:
    from runtime.debugger.breakpoint import Breakpoint

_WHY: dict[Reason, str] = {
    "start": "at the agent's first event",
    "pause": "by Pause",
    "step": "by Step",
    "step over": "by Step over",
    "step into": "by Step into",
    "step out": "by Step out",
    "run to kind": "by Run to an event like this",
    "breakpoint": "breakpoint",
}


def words_for(hold: Hold, met: Breakpoint | None = None, waiting: Sequence[Hold] = (), runs_on: Sequence[RunningAgent] = ()) -> HoldText:
    """Describe a hold as text.

    Args:
        hold: the current hold.
        met: the breakpoint that caused it.
        waiting: holds queued behind it.
        runs_on: agents that run in parallel.
    """
    title, subject, place = _place(hold)
    return HoldText(
        title, visible(subject), visible(place), visible(_why(hold, met)), visible(_beside(hold, waiting, runs_on)), _failure(hold)
    )


def _place(hold: Hold) -> tuple[str, str, str]:
    agent = hold.agent or "the agent"
    name = hold.call.name if isinstance(hold.call, ToolCall) else ""
    if hold.place == "before tool":
        return "Held before", name, f"before tool call {name}"
    if hold.place == "before model":
        return "Held before the model call of", agent, f"before the model call of {agent}"
    if hold.place == "agent start":
        return "Held at the start of", agent, f"at the start of {agent}"
    if hold.place == "agent end":
        return "Held at the end of", agent, f"at the end of {agent}"
    if hold.place == "error":
        what = name or (f"the model of {agent}" if isinstance(hold.call, ModelCall) else agent)
        return "Held at the failure of", what, f"at the failure of {what}"
    event = hold.event
    kind = describe(event).kind if event is not None else "event"
    node = node_path(event)[-1:] if event is not None else ()
    what = f"{node[0] if node else agent}'s {kind}{' inside a tool' if hold.inner else ''}"
    return "Held after", what, f"after {what}"


def _why(hold: Hold, met: Breakpoint | None) -> str:
    why = _WHY[hold.reason] if met is None else f"breakpoint: {met} ({ordinal(met.hits)} hit)"
    is_asked_for = hold.place == "event" and hold.event is not None and describe(hold.event).kind == "tool call"
    return f"{why}, before the tool runs" if is_asked_for else why


def _beside(hold: Hold, waiting: Sequence[Hold], runs_on: Sequence[RunningAgent]) -> str:
    running = [f"{other.agent} ({other.branch})" if other.branch else other.agent for other in runs_on]
    held = [f"{other.agent or 'an agent'}, {_place(other)[2]}" for other in waiting]
    parts = [f"{hold.branch} is held" if hold.branch else ""] if running or held else []
    if running:
        parts.append(f"running: {', '.join(running)}")
    if held:
        parts.append(f"held next: {'; '.join(held)}")
    return " · ".join(filter(None, parts))


def _failure(hold: Hold) -> str:
    if hold.error is None:
        return ""
    frames = traceback.extract_tb(hold.error.__traceback__)
    where = f"\nin {frames[-1].name}, {Path(frames[-1].filename).name} line {frames[-1].lineno}" if frames else ""
    return "\n".join(visible(line) for line in (f"{type(hold.error).__name__}: {hold.error}"[:400] + where).split("\n"))
