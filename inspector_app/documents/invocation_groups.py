"""Groups of neighbouring events of one invocation, stored in columns because a long session has very many. No Qt."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from inspector_app.documents.tool_agent_runs import ToolAgentRun
from inspector_app.presentation.event_summary import tokens_of

if TYPE_CHECKING:
    from runtime.events import Event

_CONTINUED, _FOLDED, _COUNTED, _UNREAD = 1, 2, 4, 8  # flags of a group; see the properties of `InvocationGroup`


class InvocationGroups(Sequence["InvocationGroup"]):
    """Groups of neighbouring events of one invocation; an invocation that was resumed later has several.

    A *place* is an event's number in the session, or among the events that pass a filter. The places of a group follow those of the group
    before it.

    Args:
        starts: first place and invocation id of each group, for events that are not in memory.
        end: the place after the last.
        unread: number of places before the first group whose invocations are not known yet.
    """

    def __init__(self, starts: Iterable[tuple[int, str]] = (), end: int = 0, *, unread: int = 0) -> None:
        self._firsts = array("q")
        self._invocations: list[str] = []
        self._flags = bytearray()
        self._tokens = array("q")
        self._started, self._ended = array("d"), array("d")
        self._tool_agent_runs: dict[int, list[ToolAgentRun]] = {}
        self._end = end
        if unread:
            self._append("", 0, _UNREAD)
        self._seen: set[str] = set()
        for first, invocation_id in starts:
            self._begin(invocation_id, first, 0)

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self._firsts)

    def __getitem__(self, number: int) -> InvocationGroup:  # type: ignore[override]  # slices are not supported
        """Return a group."""
        if not -len(self) <= number < len(self):
            raise IndexError(number)
        return InvocationGroup(self, number % len(self))

    @property
    def invocations(self) -> list[str]:
        """The invocation id of each group."""
        return self._invocations

    def begin(self, invocation_id: str) -> None:
        """Begin an empty group at the end."""
        self._append(invocation_id, self._end, _COUNTED)

    def append(self, event: Event) -> int:
        """Append an event to the last group, or to a new one if its invocation differs; return its tokens."""
        if not self._firsts or self._invocations[-1] != event.invocation_id or self._flags[-1] & _UNREAD:
            self._begin(event.invocation_id, self._end, _COUNTED)
        return self.add(event)

    def _begin(self, invocation_id: str, first: int, flags: int) -> None:
        self._append(invocation_id, first, flags | (_CONTINUED if invocation_id in self._seen else 0))
        self._seen.add(invocation_id)

    def add(self, event: Event | None) -> int:
        """Append an event to the last group; return its tokens.

        Args:
            event: the event; None if it is not in memory.
        """
        self._end += 1
        if event is None:
            self._flags[-1] &= ~_COUNTED
            return 0
        if self._end - self._firsts[-1] == 1:
            self._started[-1] = event.timestamp
        self._ended[-1] = event.timestamp
        tokens = tokens_of(event)
        self._tokens[-1] += tokens
        return tokens

    def number_of(self, place: int) -> int:
        """Return the number of a place's group."""
        return bisect_right(self._firsts, place) - 1

    def first_of(self, place: int) -> int:
        """Return the first place of a place's group."""
        return self._firsts[self.number_of(place)]

    def rows_from(self, first: int) -> Iterator[int]:
        """Yield the number of rows of each group from a number on, including headers."""
        inside, begins = self._tool_agent_runs, self._firsts[first:]
        ends = chain(begins[1:], (self._end,))
        for number, (begin, end, flags) in enumerate(zip(begins, ends, self._flags[first:], strict=False), first):
            if flags & _FOLDED:
                yield 1
            elif number in inside:
                yield 1 + end - begin + sum(run.rows for run in inside[number])
            else:
                yield 1 + end - begin

    def fold_all(self, folded: bool) -> None:
        """Fold or unfold every group."""
        for number, flags in enumerate(self._flags):
            self._flags[number] = flags | _FOLDED if folded else flags & ~_FOLDED

    def _append(self, invocation_id: str, first: int, flags: int) -> None:
        self._firsts.append(first)
        self._invocations.append(invocation_id)
        self._flags.append(flags)
        self._tokens.append(0)
        self._started.append(0.0)
        self._ended.append(0.0)


class InvocationGroup:
    """A group of `InvocationGroups`.

    Attributes:
        first: place of its first event.
    """

    __slots__ = ("_all", "_number", "first")

    def __init__(self, groups: InvocationGroups, number: int) -> None:
        self._all = groups
        self._number = number
        self.first = groups._firsts[number]

    @property
    def invocation_id(self) -> str:
        """The invocation of its events."""
        return self._all._invocations[self._number]

    @property
    def end(self) -> int:
        """The place after its last event."""
        following = self._number + 1
        return self._all._firsts[following] if following < len(self._all) else self._all._end

    @property
    def count(self) -> int:
        """Number of events."""
        return self.end - self.first

    @property
    def tokens(self) -> int:
        """Tokens of its events; 0 until they are counted."""
        return self._all._tokens[self._number]

    @property
    def seconds(self) -> float | None:
        """Seconds from its first event to its last; None until they are counted."""
        counted = self._all._flags[self._number] & _COUNTED
        return self._all._ended[self._number] - self._all._started[self._number] if counted else None

    @property
    def continued(self) -> bool:
        """Whether an earlier group has the same invocation."""
        return bool(self._all._flags[self._number] & _CONTINUED)

    @property
    def unread(self) -> bool:
        """Whether the invocations of its events are not known yet."""
        return bool(self._all._flags[self._number] & _UNREAD)

    @property
    def counted(self) -> bool:
        """Whether its times and tokens are known."""
        return bool(self._all._flags[self._number] & _COUNTED)

    def count_events(self, events: Sequence[Event]) -> None:
        """Compute times and tokens from all its events."""
        groups, number = self._all, self._number
        groups._tokens[number] = sum(map(tokens_of, events))
        groups._started[number], groups._ended[number] = events[0].timestamp, events[-1].timestamp
        groups._flags[number] |= _COUNTED

    @property
    def folded(self) -> bool:
        """Whether only the header is displayed."""
        return bool(self._all._flags[self._number] & _FOLDED)

    @folded.setter
    def folded(self, folded: bool) -> None:
        if folded:
            self._all._flags[self._number] |= _FOLDED
        else:
            self._all._flags[self._number] &= ~_FOLDED

    @property
    def tool_agent_runs(self) -> Sequence[ToolAgentRun]:
        """Runs of agents as tools that its events called, in the order of these events."""
        return self._all._tool_agent_runs.get(self._number, ())

    def insert_tool_agent_run(self, number: int, run: ToolAgentRun) -> None:
        """Insert the run of an agent as a tool before the run with this index."""
        self._all._tool_agent_runs.setdefault(self._number, []).insert(number, run)

    @property
    def rows(self) -> int:
        """Number of rows, including the header."""
        return 1 if self.folded else 1 + self.count + sum(run.rows for run in self.tool_agent_runs)

    def offset_of(self, place: int) -> int:
        """Return the offset from the header to the row of the event at a place."""
        return 1 + place - self.first + sum(run.rows for run in self.tool_agent_runs if run.place < place)

    def offset_of_run(self, wanted: ToolAgentRun) -> int:
        """Return the offset from the header to a run's header."""
        before = self.tool_agent_runs[: next(number for number, run in enumerate(self.tool_agent_runs) if run is wanted)]
        return 2 + wanted.place - self.first + sum(run.rows for run in before)

    def at_offset(self, offset: int) -> int | tuple[ToolAgentRun, int]:
        """Return what is at an offset from the header: an event's place, or a run and the row's number in it (0 for its header)."""
        place = self.first + offset - 1
        for run in self.tool_agent_runs:
            if place <= run.place:
                break
            if place <= run.place + run.rows:
                return run, place - run.place - 1
            place -= run.rows
        return place
