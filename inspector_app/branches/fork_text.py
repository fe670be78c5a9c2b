"""What forking will do, and where a fork comes from, in plain words. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inspector_app.presentation.decisions import Choice, Fact
from inspector_app.presentation.event_summary import short_id
from inspector_app.presentation.result_override import what_it_says
from inspector_app.presentation.session_info import ForkInfo
from inspector_app.presentation.values import full_time, preview, visible
from runtime.agents.base_agent import BaseAgent
from runtime.agents.llm_agent import LlmAgent
from runtime.artifacts.artifact_names import USER_PREFIX
from runtime.events.event import Event
from runtime.forks.recording import Recording, is_said
from runtime.running.rewind import versions_after
from runtime.sessions.lineage import Lineage, What

_MOST = 8
"""Files that are named."""

FORK, EDIT, RERUN, ALTER = "fork", "edit", "rerun", "alter"

_AT = {
    "message": "with another message",
    "answer": "run again with another answer",
    "result": "run again with another result",
    "rerun": "run again",
}
_CHANGED = {"message": "edited", "rerun": "run again", "answer": "answer", "result": "result"}


@dataclass(frozen=True, slots=True)
class Saved:
    """What a run made again does not ask for: it is answered from the recording."""

    model_calls: int
    tool_calls: int

    def __str__(self) -> str:
        """Return it in words."""
        return f"{_count(self.model_calls, 'model call')} and {_count(self.tool_calls, 'tool call')}"


def saved_by(recording: Recording, root: BaseAgent | None) -> Saved:
    """Count what a recording answers.

    Args:
        recording: of the run up to the event.
        root: the agent tree, for telling who has a model; None: everybody who speaks is taken for one who has.
    """
    said = [event for event in recording.answers if is_said(event)]
    if root is not None:
        said = [event for event in said if isinstance(root.find_agent(event.author), LlmAgent)]
    return Saved(len(said), sum(len(event.get_function_responses()) for event in recording.answers))


def fork_facts(index: int, events: Sequence[Event], where: str, saved: Saved | None, notes: Sequence[str]) -> list[Fact]:
    """Return what there is to know before a fork is made.

    Args:
        index: of the event that is forked at.
        events: of the session.
        where: which database the fork will be in, and why.
        saved: what running again from here saves; None if it cannot be done.
        notes: of the recording.
    """
    count = index + 1
    taken = f"the first {count:,} of {len(events):,} events" if count < len(events) else f"all {count:,} events"
    facts = [
        Fact("code-branch", "accent", f"Fork: a new session with {taken}, at their times, and the state after event {count:,}."),
        Fact("pen", "dim", "Fork and edit the message: the new session ends before this invocation, whose message you change below."),
    ]
    if saved is not None:
        text = f"Fork and re-run: the invocation runs again; up to here {saved} are answered from the recording and cost nothing."
        facts.append(Fact("rotate-right", "dim", text))
    files = {name: version for name, version in versions_after(events[:count]).items() if not name.startswith(USER_PREFIX)}
    if files:
        named = ", ".join(f"{name} (version {version})" for name, version in sorted(files.items())[:_MOST])
        facts.append(Fact("file", "dim", f"Its files go along as they were: {named}{', …' if len(files) > _MOST else ''}."))
    facts += [Fact("triangle-exclamation", "warn", note) for note in notes]
    facts.append(Fact("database", "dim", f"{where} The session you look at stays as it is."))
    return [Fact(fact.icon, fact.role, visible(fact.text)) for fact in facts]


def fork_choices(saved: Saved | None, alters: What | None, no_edit: str | None, no_rerun: str | None) -> list[Choice]:
    """Return what can be done.

    Args:
        saved: see `fork_facts`.
        alters: what of the event can be written anew; None if nothing can.
        no_edit, no_rerun: why the message cannot be edited, or the run not be made again; None where it can.
    """
    count = f" ({_count(saved.model_calls, 'model call')} saved)" if saved is not None else ""
    again = no_rerun or "Answered from the recording up to here, live from then on"
    choices = [
        Choice(FORK, "Fork", "A new session up to this event (Enter)"),
        Choice(EDIT, "Fork and edit the message", no_edit or "Up to this invocation, its message to be changed", no_edit is None),
        Choice(RERUN, f"Fork and re-run from here{count}", again, no_rerun is None),
    ]
    if alters is not None:
        what = f"What if? You write another {alters} in the place of this one; what came before is answered from the recording"
        choices.append(Choice(ALTER, f"Change this {alters}…", no_rerun or what, no_rerun is None))
    return choices


def fork_info(lineage: Lineage) -> ForkInfo:
    """Return how a fork is shown in the list of sessions."""
    changed = lineage.changed
    parent = lineage.parent.session_id
    where = f"after its event {lineage.event_count:,}" if lineage.event_count else "before its first event"
    what = _CHANGED[changed.what] if changed is not None else ""
    text = what or (f"fork at {lineage.event_count:,}" if lineage.event_count else "fork at the start")
    place = f" in {lineage.database}" if lineage.database else ""
    lines = [f"Fork of session {parent}{place}, {where}, made {full_time(lineage.at)}"]
    parent = short_id(parent)
    told = f"Fork of {parent}{place}, {where}."
    if changed is not None and changed.after is not None:
        before, after = what_it_says(changed.before), what_it_says(changed.after)
        text = f"{what}: {preview(after, 60)}"
        lines.append(f"{what}: {preview(before, 200)} → {preview(after, 200)}")
        told = f"Fork of {parent}{place}, {_AT[changed.what]}: {_from(before)}{preview(after, 120)}"
    elif changed is not None and changed.event_id:
        lines.append(f"{what}, up to event {short_id(changed.event_id)} from the recording")
        told = f"Fork of {parent}{place}: the same run made again, up to event {short_id(changed.event_id)} from the recording."
    return ForkInfo(lineage.parent, visible(text), "\n".join(lines), visible(told), lineage.database)


def _from(before: object) -> str:
    return "" if before is None else f"{preview(before, 60)} → "


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
