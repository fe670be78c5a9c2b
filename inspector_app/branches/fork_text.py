"""The effects of forking, and the origin of a fork, as text. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector_app.presentation.decisions import Choice, Fact
from inspector_app.presentation.event_summary import short_id
from inspector_app.presentation.result_override import readable_content
from inspector_app.presentation.session_info import ForkInfo
from inspector_app.presentation.values import counted, full_time, preview, visible
from runtime.artifacts.artifact_names import USER_PREFIX
from runtime.forks.recording import Recording, is_agent_output
from runtime.sessions.lineage import Lineage, What
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from runtime.agents import llm_agent
    from runtime.agents.base_agent import BaseAgent
    from runtime.events.event import Event
    from runtime.running import rewind
else:
    llm_agent = lazy_module("runtime.agents.llm_agent")
    rewind = lazy_module("runtime.running.rewind")

_MOST = 8  # file names listed

FORK, EDIT, RERUN, OVERRIDE = "fork", "edit", "rerun", "override"

_AT = {
    "message": "with another message",
    "answer": "run again with another answer",
    "result": "run again with another result",
    "rerun": "run again",
}
_CHANGED = {"message": "edited", "rerun": "run again", "answer": "answer", "result": "result"}


@dataclass(frozen=True, slots=True)
class Saved:
    """The calls that a repeated run does not make, because they are answered from the recording."""

    model_calls: int
    tool_calls: int

    def __str__(self) -> str:
        """Return the numbers as text."""
        return f"{counted(self.model_calls, 'model call')} and {counted(self.tool_calls, 'tool call')}"


def saved_by(recording: Recording, root: BaseAgent | None) -> Saved:
    """Count the calls that a recording answers.

    Args:
        recording: the run up to the event.
        root: the agent tree, to distinguish agents with a model; None counts every author as one.
    """
    said = [event for event in recording.answers if is_agent_output(event)]
    if root is not None:
        said = [event for event in said if isinstance(root.find_agent(event.author), llm_agent.LlmAgent)]
    return Saved(len(said), sum(len(event.get_function_responses()) for event in recording.answers))


def fork_facts(index: int, events: Sequence[Event], where: str, saved: Saved | None, notes: Sequence[str]) -> list[Fact]:
    """Return the facts to show before a fork is made.

    Args:
        index: position of the event to fork at.
        events: the session's events.
        where: a sentence about the database of the fork.
        saved: the calls saved by a re-run from here; None if a re-run is not possible.
        notes: warnings about the recording.
    """
    count = index + 1
    every = f"all {count:,} events" if count > 1 else "its only event"
    taken = f"the first {count:,} of {len(events):,} events" if count < len(events) else every
    facts = [
        Fact("code-branch", "accent", f"Fork: a new session with {taken}, with their timestamps, and the state after event {count:,}."),
        Fact("pen", "dim", "Fork and edit the message: the new session ends before this invocation, whose message you change below."),
    ]
    if saved is not None:
        text = f"Fork and re-run: the invocation runs again; {saved} up to here are answered from the recording and cost nothing."
        facts.append(Fact("rotate-right", "dim", text))
    files = {name: version for name, version in rewind.versions_after(events[:count]).items() if not name.startswith(USER_PREFIX)}
    if files:
        named = ", ".join(f"{name} (version {version})" for name, version in sorted(files.items())[:_MOST])
        facts.append(Fact("file", "dim", f"Files copied at their versions: {named}{', …' if len(files) > _MOST else ''}."))
    facts += [Fact("triangle-exclamation", "warn", note) for note in notes]
    facts.append(Fact("database", "dim", f"{where} The original session is not changed."))
    return [Fact(fact.icon, fact.role, visible(fact.text)) for fact in facts]


def fork_choices(saved: Saved | None, part: What | None, no_edit: str | None, no_rerun: str | None) -> list[Choice]:
    """Return the choices of the fork card.

    Args:
        saved: as in `fork_facts`.
        part: the part of the event that can be replaced; None if there is none.
        no_edit, no_rerun: why the message cannot be edited, or the run not repeated; None if it can.
    """
    count = f" ({counted(saved.model_calls, 'model call')} saved)" if saved is not None else ""
    again = no_rerun or "Answered from the recording up to here, then live"
    choices = [
        Choice(FORK, "Fork", "A new session up to this event (Enter)"),
        Choice(EDIT, "Fork and edit the message", no_edit or "A new session up to this invocation, with another message", no_edit is None),
        Choice(RERUN, f"Fork and re-run from here{count}", again, no_rerun is None),
    ]
    if part is not None:
        what = f"What if? Replace this {part}; earlier calls are answered from the recording"
        choices.append(Choice(OVERRIDE, f"Change this {part}…", no_rerun or what, no_rerun is None))
    return choices


def fork_info(lineage: Lineage) -> ForkInfo:
    """Return the description of a fork for the session list."""
    changed = lineage.changed
    parent = lineage.parent.session_id
    where = f"after its event {lineage.event_count:,}" if lineage.event_count else "before its first event"
    what = _CHANGED[changed.what] if changed is not None else ""
    text = what or (f"fork at {lineage.event_count:,}" if lineage.event_count else "fork at the start")
    place = f" in {lineage.database}" if lineage.database else ""
    lines = [f"Fork of session {parent}{place}, {where}, made {full_time(lineage.at)}"]
    told = f"{place}, {where}."
    if changed is not None and changed.after is not None:
        before, after = readable_content(changed.before), readable_content(changed.after)
        text = f"{what}: {preview(after, 60)}"
        lines.append(f"{what}: {preview(before, 200)} → {preview(after, 200)}")
        told = f"{place}, {_AT[changed.what]}: {_from(before)}{preview(after, 120)}"
    elif changed is not None and changed.event_id:
        lines.append(f"{what}, answered from the recording up to event {short_id(changed.event_id)}")
        told = f"{place}: the same run again, answered from the recording up to event {short_id(changed.event_id)}."
    return ForkInfo(lineage.parent, visible(text), "\n".join(lines), visible(told), lineage.database)


def _from(before: object) -> str:
    return "" if before is None else f"{preview(before, 60)} → "
