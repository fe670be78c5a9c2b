"""The effects of a rewind, and what it does not restore, as text. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from inspector_app.presentation.decisions import Fact
from inspector_app.presentation.event_summary import short_id
from inspector_app.presentation.values import counted, preview, visible
from runtime.sessions.state import Change

if TYPE_CHECKING:
    from runtime.running.rewind_plan import RewindPlan, UndoneFile

_MOST = 12  # keys, invocations or files listed individually


def rewind_title(plan: RewindPlan) -> str:
    """Return the question of the rewind card."""
    count = len(plan.undone)
    return f"Rewind to before {short_id(plan.invocation_id)}? It undoes {counted(count, 'invocation')}."


def rewind_facts(plan: RewindPlan) -> list[Fact]:
    """Return the facts to show before a rewind, those that cannot be undone first."""
    facts = []
    if plan.tools:
        called = ", ".join(f"{name} ({count}×)" if count > 1 else name for name, count in plan.tools.items())
        facts.append(Fact("globe", "warn", f"Not undone: side effects of tools. These tools ran: {called}."))
    if plan.stays:
        facts.append(Fact("users", "warn", f"Not restored, because other sessions share them: {', '.join(plan.stays)}."))
    if plan.unknown:
        facts.append(Fact("circle-question", "warn", f"Cleared, because their earlier values are not recorded: {', '.join(plan.unknown)}."))
    facts += [
        Fact(
            "backward",
            "accent",
            f"{short_id(each.invocation_id)}, {each.status}, {counted(each.events, 'event')}: {preview(each.message, 80)}",
        )
        for each in plan.undone[:_MOST]
    ]
    facts += [Fact("pen", "dim", _change(change)) for change in plan.state[:_MOST]]
    facts += [Fact("file", "dim", _file(file)) for file in plan.files[:_MOST]]
    facts += _rest("more invocations", plan.undone) + _rest("more keys", plan.state) + _rest("more files", plan.files)
    facts.append(
        Fact(
            "circle-info",
            "dim",
            "Nothing is deleted: the events stay, but agents no longer see them. To keep this session unchanged, fork it instead.",
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
