"""What rewinding undoes and what it does not restore, in plain words. No Qt."""

from __future__ import annotations

from collections.abc import Sequence

from inspector_app.presentation.decisions import Fact
from inspector_app.presentation.event_summary import short_id
from inspector_app.presentation.values import preview, visible
from runtime.running.rewind_plan import RewindPlan, UndoneFile
from runtime.sessions.state import Change

_MOST = 12
"""Keys, invocations or files that are named one by one."""


def rewind_title(plan: RewindPlan) -> str:
    """Return the question."""
    count = len(plan.undone)
    return f"Rewind to before {short_id(plan.invocation_id)}? It takes back {count} invocation{'' if count == 1 else 's'}."


def rewind_facts(plan: RewindPlan) -> list[Fact]:
    """Return what there is to know before a rewind, what cannot be taken back first."""
    facts = []
    if plan.tools:
        called = ", ".join(f"{name} ({count}×)" if count > 1 else name for name, count in plan.tools.items())
        facts.append(Fact("globe", "warn", f"Not undone: what tools did to the world. They ran: {called}."))
    if plan.stays:
        facts.append(Fact("users", "warn", f"Not restored, as other sessions share them: {', '.join(plan.stays)}."))
    if plan.unknown:
        facts.append(Fact("circle-question", "warn", f"Cleared, as nobody recorded what they were: {', '.join(plan.unknown)}."))
    facts += [
        Fact("backward", "accent", f"{short_id(each.invocation_id)}, {each.status}, {each.events} events: {preview(each.message, 80)}")
        for each in plan.undone[:_MOST]
    ]
    facts += [Fact("pen", "dim", _change(change)) for change in plan.state[:_MOST]]
    facts += [Fact("file", "dim", _file(file)) for file in plan.files[:_MOST]]
    facts += _rest("more invocations", plan.undone) + _rest("more keys", plan.state) + _rest("more files", plan.files)
    facts.append(
        Fact(
            "circle-info",
            "dim",
            "Nothing is deleted: the events stay, and agents do not see them any more. A fork keeps this session as it is.",
        )
    )
    return [Fact(fact.icon, fact.role, visible(fact.text)) for fact in facts]


def _change(change: Change) -> str:
    if change.after is None:
        return f"{change.key}: {preview(change.before, 110)} → cleared (null)"
    return f"{change.key}: {preview(change.before, 60)} → {preview(change.after, 60)}"


def _file(file: UndoneFile) -> str:
    after = f"as in version {file.then}" if file.then is not None else "empty, as it did not exist"
    return f"file {file.name}: version {file.now} → {after}"


def _rest(what: str, all_of_it: Sequence[object]) -> list[Fact]:
    return [Fact("ellipsis", "dim", f"and {len(all_of_it) - _MOST} {what}")] if len(all_of_it) > _MOST else []
