"""What agents do that run as tools: it stands under the event that called them, and in no stored session. No Qt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from runtime.events import Event


@dataclass(slots=True)
class ToolAgentRun:
    """One call of an agent as a tool, with what the agents do that it calls so itself.

    Attributes:
        call_id: of the function call.
        agent: who was called.
        place: index of the event that made the call.
        events: as they came, each with how many calls it is inside of.
        folded: whether only the header is shown.
    """

    call_id: str
    agent: str
    place: int
    events: list[tuple[Event, int]] = field(default_factory=list)
    folded: bool = False

    @property
    def rows(self) -> int:
        """How many rows it takes, its header included."""
        return 1 if self.folded else 1 + len(self.events)


class ToolAgentRuns:
    """Those of the session on show."""

    def __init__(self) -> None:
        self._by_call: dict[str, ToolAgentRun] = {}
        self._by_event: dict[str, tuple[ToolAgentRun, int]] = {}

    def __iter__(self) -> Iterator[ToolAgentRun]:
        return iter(self._by_call.values())

    def of_call(self, call_id: str) -> ToolAgentRun | None:
        """Return what is known of a call."""
        return self._by_call.get(call_id)

    def begin(self, run: ToolAgentRun) -> None:
        """Note a call whose first event has come."""
        self._by_call[run.call_id] = run

    def add(self, run: ToolAgentRun, event: Event, depth: int) -> None:
        """Note one more event of a call."""
        self._by_event[event.id] = run, len(run.events)
        run.events.append((event, depth))

    def find(self, event_id: str) -> tuple[ToolAgentRun, int] | None:
        """Return the call that an event is inside of, and its number in it."""
        return self._by_event.get(event_id)
