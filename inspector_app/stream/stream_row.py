"""The rows of the event stream as plain strings. No Qt."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from inspector_app.documents.invocation_groups import InvocationGroup
from inspector_app.documents.tool_agent_runs import ToolAgentRun
from inspector_app.presentation.author_colours import USER_ROLE
from inspector_app.presentation.costs import CostSum, cost_text
from inspector_app.presentation.event_summary import describe, short_id, tokens_of
from inspector_app.presentation.signs import SIGNS
from inspector_app.presentation.values import clock, counted, duration, visible
from runtime.events.kinds import node_path
from runtime.events.marks import EDITED
from runtime.sessions.note import Note

if TYPE_CHECKING:
    from runtime.events import Event

MOST_LANES = 6  # deeper branches are drawn like the sixth


@dataclass(frozen=True, slots=True)
class StreamRow:
    """One row of the stream, ready to paint.

    Attributes:
        kind: an invocation's header, a committed event, the header or an event of an agent that runs as a tool, or a streaming text.
        number, time, author, summary, delta, took, tokens: the cells' texts.
        icon: Font Awesome name; in a header, the sign of the invocation's status.
        role: colour role of the summary (of the sign in a header).
        author_role: colour role of the author and the icon.
        event_kind: the event's kind; in a header the status word.
        folded: whether a header's events are folded away.
        held: whether the agent is held at this event.
        breakpoint: `on` where a breakpoint stops, `off` where a disabled one would.
        edited: whether the user changed an input that led to this event.
        ran_ahead: whether the event was committed while the agent was held before it.
        note: the note on the event; None if it has none.
        author_sign: distinguishes authors of one colour: how often all colours had been given out before, from 0.
        lanes: depth of the agent's branch, or of its workflow's nodes, plus the number of agent-as-tool calls the event is nested in.
    """

    kind: Literal["invocation", "event", "tool agent", "tool agent event", "streaming"]
    summary: str
    number: str = ""
    time: str = ""
    author: str = ""
    delta: str = ""
    took: str = ""
    tokens: str = ""
    icon: str = ""
    role: str = "text"
    author_role: str = USER_ROLE
    event_kind: str = ""
    folded: bool = False
    held: bool = False
    breakpoint: str = ""
    edited: bool = False
    ran_ahead: bool = False
    author_sign: int = 0
    lanes: int = 0
    note: Note | None = None


def header_row(group: InvocationGroup, status: str, title: str = "", used: CostSum | None = None) -> StreamRow:
    """Return a group's header.

    Args:
        group: the group.
        status: the invocation's status, or an empty text if it is unknown.
        title: what the invocation is called; empty to use its id.
        used: what its model calls used, with those of agents as tools; None if that is not known yet.
    """
    if group.unread:
        return StreamRow("invocation", f"{group.count:,} earlier events", event_kind="reading…", role="dim", folded=group.folded)
    name = title or (f"invocation {short_id(group.invocation_id)}" if group.invocation_id else "no invocation")
    sign = SIGNS.get(status)
    facts = [counted(group.count, "event")]
    if group.count > 1 and group.seconds is not None:
        facts.append(duration(group.seconds))
    nested = used.nested_tokens if used is not None else 0
    if group.tokens or nested:
        facts.append(f"{group.tokens + nested:,} tokens" + (f" ({nested:,} nested)" if nested else ""))
        cost = cost_text(used) if used is not None else ""
        facts.append(f"cost {cost}" if cost == "unknown" else cost)
    return StreamRow(
        "invocation",
        name + (" (continued)" if group.continued else ""),
        tokens=" · ".join(filter(None, facts)),
        icon=sign.icon if sign is not None else "",
        role=sign.role if sign is not None else "dim",
        event_kind=status,
        folded=group.folded,
    )


def unread_row(index: int) -> StreamRow:
    """Return the row of an event that is being read."""
    return StreamRow("event", "…", number=f"{index + 1:,}", icon="ellipsis", role="dim", author_role="dim", event_kind="being read")


def event_row(
    event: Event,
    index: int,
    author_role: str,
    held: bool,
    temp_keys: Collection[str],
    author_sign: int = 0,
    breakpoint_mark: str = "",
    took: float | None = None,
    ran_ahead: bool = False,
    note: Note | None = None,
) -> StreamRow:
    """Return a committed event's row.

    Args:
        event: the event.
        index: the event's place, from 0; it is displayed from 1.
        author_role: the author's colour role.
        held: whether the agent is held at this event.
        temp_keys: the `temp:` keys the event set, which the stored event may lack.
        author_sign: see `StreamRow.author_sign`.
        breakpoint_mark: see `StreamRow.breakpoint`.
        took: seconds since the event that it followed; None if unknown.
        ran_ahead: see `StreamRow.ran_ahead`.
        note: see `StreamRow.note`.
    """
    shown = describe(event)
    changed = len({*event.actions.state_delta, *temp_keys})
    tokens = tokens_of(event)
    return StreamRow(
        "event",
        "changed for this run only, in temp:" if shown.kind == "empty" and temp_keys else shown.summary,
        breakpoint=breakpoint_mark,
        edited=EDITED in (event.custom_metadata or {}),
        ran_ahead=ran_ahead,
        number=f"{index + 1:,}",
        time=clock(event.timestamp),
        author=visible(event.author[:80]),
        delta=f"Δ{changed}" if changed else "",
        took=duration(took) if took is not None else "",
        tokens=f"{tokens:,}" if tokens else "",
        icon=shown.icon,
        role=shown.role,
        author_role=author_role,
        event_kind=shown.kind,
        held=held,
        author_sign=author_sign,
        lanes=_depth(event),
        note=note,
    )


def _depth(event: Event) -> int:
    """Return how deep an event is nested: in branches, or in workflows within a workflow."""
    branch = event.branch.count(".") + 1 if event.branch else 0
    return min(max(branch, len(node_path(event)) - 2), MOST_LANES)


def tool_agent_header_row(run: ToolAgentRun, author_role: str) -> StreamRow:
    """Return the header of an agent that runs as a tool.

    Args:
        run: the agent's run.
        author_role: the agent's colour role.
    """
    count, tokens = len(run.events), sum(tokens_of(event) for event, _ in run.events)
    return StreamRow(
        "tool agent",
        f"{counted(count, 'event')} inside this call" if count else "an agent ran inside this call · not recorded",
        author=visible(run.agent[:80]),
        tokens=f"{tokens:,}" if tokens else "",
        role="dim",
        author_role=author_role,
        event_kind="agent called as a tool",
        folded=run.folded,
        lanes=1,
    )


def tool_agent_event_row(event: Event, depth: int, author_role: str, held: bool, author_sign: int, breakpoint_mark: str) -> StreamRow:
    """Return the row of a tool agent's event, which has no number because it belongs to no session.

    Args:
        event: the event.
        depth: number of agent-as-tool calls it is nested in.
        author_role, held, author_sign, breakpoint_mark: see `event_row`.
    """
    row = event_row(event, 0, author_role, held, (), author_sign, breakpoint_mark)
    return replace(row, kind="tool agent event", number="", lanes=min(row.lanes + depth, MOST_LANES))
