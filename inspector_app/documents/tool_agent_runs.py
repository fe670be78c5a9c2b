"""Events of agents that run as tools: displayed below the event that called them. No Qt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runtime.events import Event


@dataclass(slots=True)
class ToolAgentRun:
    """One call of an agent as a tool, including the calls that this agent makes.

    Attributes:
        invocation_id, call_id: of the function call.
        agent: the called agent.
        place: place of the event that made the call.
        events: the events in order, each with the number of calls it is nested in.
        folded: whether only the header is displayed.
    """

    invocation_id: str
    call_id: str
    agent: str
    place: int
    events: list[tuple[Event, int]] = field(default_factory=list)
    folded: bool = False

    @property
    def rows(self) -> int:
        """Number of rows, including the header."""
        return 1 if self.folded else 1 + len(self.events)


class ToolAgentRuns:
    """The runs of agents as tools in the displayed session."""

    def __init__(self) -> None:
        self._by_call: dict[tuple[str, str], ToolAgentRun] = {}
        self._newest: dict[str, ToolAgentRun] = {}  # by call: models may use an id again in another invocation
        self._by_event: dict[str, tuple[ToolAgentRun, int]] = {}

    def __iter__(self) -> Iterator[ToolAgentRun]:
        return iter(self._by_call.values())

    def of_call(self, call_id: str, invocation_id: str | None = None) -> ToolAgentRun | None:
        """Return the run of a call, of the newest one with this id if no invocation is named; None if none of its events has arrived."""
        return self._newest.get(call_id) if invocation_id is None else self._by_call.get((invocation_id, call_id))

    def begin(self, run: ToolAgentRun) -> None:
        """Add a run whose first event has arrived."""
        self._by_call[run.invocation_id, run.call_id] = self._newest[run.call_id] = run

    def add(self, run: ToolAgentRun, event: Event, depth: int) -> None:
        """Add an event to a run."""
        self._by_event[event.id] = run, len(run.events)
        run.events.append((event, depth))

    def find(self, event_id: str) -> tuple[ToolAgentRun, int] | None:
        """Return the run of an event and the event's number in it."""
        return self._by_event.get(event_id)
