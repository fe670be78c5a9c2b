"""The effects of resuming an invocation, as text. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from inspector_app.presentation.decisions import Fact
from inspector_app.presentation.event_summary import short_id
from inspector_app.presentation.values import preview, visible
from inspector_app.running.view_data import Preflight

if TYPE_CHECKING:
    from runtime.running.resume_plan import ResumePlan, ToolRun


def preflight_of(plan: ResumePlan, number_of: Callable[[str], int | None]) -> Preflight:
    """Describe a resume plan.

    Args:
        plan: the plan.
        number_of: event id → the event's number as displayed, or None if it is unknown.
    """
    shown = Preflight(plan.invocation.invocation_id, visible(_title(plan, number_of)), blocked=" ".join(plan.blocks))
    shown.lines += [Fact("ban", "bad", text) for text in plan.blocks]
    if plan.runs_again:
        what = "tool call runs" if len(plan.runs_again) == 1 else "tool calls run"
        calls = ", ".join(_call(run) for run in plan.runs_again)
        shown.lines.append(
            Fact("rotate-right", "warn", f"{len(plan.runs_again)} {what} again if already executed (at least once): {calls}")
        )
    shown.lines += [
        Fact("backward-fast", "warn", f"{name} keeps no checkpoints: it starts over, and its events repeat.") for name in plan.starts_over
    ]
    shown.lines += [Fact("code-compare", "warn", f"Changed since: {text}") for text in plan.changed]
    shown.warns = bool(shown.lines)
    if plan.next_steps:
        shown.lines.insert(len(plan.blocks), Fact("play", "accent", " ".join(plan.next_steps)))
    if plan.lost_temp:
        shown.lines.append(Fact("eraser", "dim", f"Lost with the interrupted run: {', '.join(plan.lost_temp)}"))
    shown.lines += [
        Fact("hourglass-half", "dim", f"{item.name or 'A call'} still waits for an answer (see Pending).") for item in plan.waits_for
    ]
    if plan.finished:
        one = len(plan.finished) == 1
        names = ", ".join(plan.finished)
        shown.lines.append(Fact("check", "ok", f"Finished, {'does' if one else 'do'} not run again: {names}"))
    shown.lines = [Fact(line.icon, line.role, visible(line.text)) for line in shown.lines]
    return shown


def _title(plan: ResumePlan, number_of: Callable[[str], int | None]) -> str:
    name = f"Resume {short_id(plan.invocation.invocation_id)}"
    place = number_of(plan.last_checkpoint.id) if plan.last_checkpoint else None
    where = f" from the checkpoint at {place:,}" if place is not None else "" if plan.last_checkpoint else " (it has no checkpoint yet)"
    return f"{name}{where}?"


def _call(run: ToolRun) -> str:
    args = ", ".join(f"{key}={preview(value, 40)}" for key, value in run.args.items())
    return f"{run.agent} → {run.name}({args})"
