"""What each agent did and used in a range of events. No Qt."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inspector_app.presentation.costs import CostSum, ModelCall, cost_text
from inspector_app.presentation.event_summary import is_failure
from inspector_app.presentation.spans import Span
from inspector_app.presentation.values import duration
from runtime.events.kinds import node_path

if TYPE_CHECKING:
    from runtime.events.event import Event


@dataclass(slots=True)
class ToolSum:
    """Calls of a tool.

    Attributes:
        calls, failures: how many.
        seconds: their summed times.
    """

    calls: int = 0
    failures: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class AgentSum:
    """What an agent did and used.

    Attributes:
        events: number of its events.
        failures: number of its events that report a failure.
        newest: position of its newest event.
        used: its model calls' tokens and cost.
        seconds: the summed times of its model and tool calls.
        tools: by name.
    """

    events: int = 0
    failures: int = 0
    newest: int | None = None
    used: CostSum = field(default_factory=CostSum)
    seconds: float = 0.0
    tools: dict[str, ToolSum] = field(default_factory=dict)

    @property
    def counts(self) -> str:
        """Events and time, as a line."""
        if not self.events:
            return "no events"
        time = f" · {duration(self.seconds)}" if self.seconds else ""
        return f"{self.events:,} event{'s' if self.events != 1 else ''}{time}"

    @property
    def usage(self) -> str:
        """Tokens and cost, as a line; empty if no event reports tokens."""
        tokens = self.used.tokens
        if not self.used.calls:
            return ""
        cost = cost_text(self.used)
        return f"{tokens.input + tokens.output:,} tokens · {'cost ' if cost == 'unknown' else ''}{cost}"


def agent_sums(
    events: Sequence[Event], first: int, calls: Iterable[ModelCall], spans: Iterable[Span], names: Collection[str]
) -> dict[str, AgentSum]:
    """Return what each agent did and used.

    Args:
        events: neighbouring events of a session.
        first: position of the first one.
        calls: the model calls whose tokens these report.
        spans: the calls of these.
        names: the agents of the graph. An event of another author counts for the last node of its path that is one of them.
    """
    found: dict[str, AgentSum] = {}
    actors = {}
    for index, event in enumerate(events, first):
        name = actor(event, names)
        actors[event.id] = name
        if name is not None:
            done = found.setdefault(name, AgentSum())
            done.events += 1
            done.failures += is_failure(event)
            done.newest = index
    for call in calls:
        name = actors.get(call.event_id)
        if name is not None:
            found[name].used.add(call)
    for span in spans:
        done = found.setdefault(span.author, AgentSum())
        seconds = span.end - span.start if span.end is not None and span.kind != "wait" else 0.0
        done.seconds += seconds
        if span.kind != "model":
            tool = done.tools.setdefault(span.name, ToolSum())
            tool.calls += 1
            tool.failures += span.failed
            tool.seconds += seconds
    return found


def actor(event: Event, names: Collection[str]) -> str | None:
    """Return the agent or node that an event belongs to; None for the user's events."""
    if event.author in names or event.author in ("user", "system"):
        return event.author if event.author in names else None
    return next((name for name in reversed(node_path(event)) if name in names), event.author)
