"""The groups that a session's events stand in, held in columns: a million events have a hundred thousand of them. No Qt."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from inspector_app.documents.tool_agent_runs import ToolAgentRun
from inspector_app.presentation.event_summary import tokens_of
from runtime.events import Event

_CONTINUED, _FOLDED, _COUNTED, _UNREAD = 1, 2, 4, 8


class InvocationGroups(Sequence["InvocationGroup"]):
    """Neighbouring events of one invocation are a group; an invocation that was resumed later has several.

    A *place* is an event's number in the session, or among those that a filter lets through. Each group takes the places that follow those
    of the one before it.

    Args:
        starts: the place and the invocation id that each group begins with, of events that are not read.
        end: the place behind the last one.
        unread: of so many places before the first group it is not known yet which invocations they belong to.
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
        """Return how many there are."""
        return len(self._firsts)

    def __getitem__(self, number: int) -> InvocationGroup:  # type: ignore[override]  # nobody slices them
        """Return one of them."""
        if not -len(self) <= number < len(self):
            raise IndexError(number)
        return InvocationGroup(self, number % len(self))

    @property
    def invocations(self) -> list[str]:
        """The invocation of each."""
        return self._invocations

    def begin(self, invocation_id: str) -> None:
        """Begin an empty group at the end."""
        self._append(invocation_id, self._end, _COUNTED)

    def append(self, event: Event) -> int:
        """Let one more event be in the last group, or in a new one where its invocation is another; return the tokens it cost."""
        if not self._firsts or self._invocations[-1] != event.invocation_id or self._flags[-1] & _UNREAD:
            self._begin(event.invocation_id, self._end, _COUNTED)
        return self.add(event)

    def _begin(self, invocation_id: str, first: int, flags: int) -> None:
        self._append(invocation_id, first, flags | (_CONTINUED if invocation_id in self._seen else 0))
        self._seen.add(invocation_id)

    def add(self, event: Event | None) -> int:
        """Let one more event be in the last group; return the tokens it cost.

        Args:
            event: it; None if it is not read.
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
        """Return the number of the group that a place belongs to."""
        return bisect_right(self._firsts, place) - 1

    def rows_from(self, first: int) -> Iterator[int]:
        """Return how many rows each group from a number on takes, its header included."""
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
    """One of `InvocationGroups`.

    Attributes:
        first: the place of its first event.
    """

    __slots__ = ("_all", "_number", "first")

    def __init__(self, groups: InvocationGroups, number: int) -> None:
        self._all = groups
        self._number = number
        self.first = groups._firsts[number]

    @property
    def invocation_id(self) -> str:
        """Whose events they are."""
        return self._all._invocations[self._number]

    @property
    def end(self) -> int:
        """The place behind its last event."""
        following = self._number + 1
        return self._all._firsts[following] if following < len(self._all) else self._all._end

    @property
    def count(self) -> int:
        """How many events it has."""
        return self.end - self.first

    @property
    def tokens(self) -> int:
        """What its events cost, once they are counted."""
        return self._all._tokens[self._number]

    @property
    def seconds(self) -> float | None:
        """From its first event to its last; None while they are not counted."""
        counted = self._all._flags[self._number] & _COUNTED
        return self._all._ended[self._number] - self._all._started[self._number] if counted else None

    @property
    def continued(self) -> bool:
        """Whether an earlier group has the same invocation."""
        return bool(self._all._flags[self._number] & _CONTINUED)

    @property
    def unread(self) -> bool:
        """Whether it is not known yet which invocations these events belong to."""
        return bool(self._all._flags[self._number] & _UNREAD)

    @property
    def counted(self) -> bool:
        """Whether its times and tokens are known; of events that are not read, only the number is."""
        return bool(self._all._flags[self._number] & _COUNTED)

    def count_events(self, events: Sequence[Event]) -> None:
        """Take in what its events, read by now, tell of times and tokens."""
        groups, number = self._all, self._number
        groups._tokens[number] = sum(map(tokens_of, events))
        groups._started[number], groups._ended[number] = events[0].timestamp, events[-1].timestamp
        groups._flags[number] |= _COUNTED

    @property
    def folded(self) -> bool:
        """Whether only the header is shown."""
        return bool(self._all._flags[self._number] & _FOLDED)

    @folded.setter
    def folded(self, folded: bool) -> None:
        if folded:
            self._all._flags[self._number] |= _FOLDED
        else:
            self._all._flags[self._number] &= ~_FOLDED

    @property
    def tool_agent_runs(self) -> Sequence[ToolAgentRun]:
        """What goes on inside calls that its events made, in the order of these events."""
        return self._all._tool_agent_runs.get(self._number, ())

    def insert_tool_agent_run(self, number: int, run: ToolAgentRun) -> None:
        """Put what goes on inside a call among the others."""
        self._all._tool_agent_runs.setdefault(self._number, []).insert(number, run)

    @property
    def rows(self) -> int:
        """How many rows the group takes, its header included."""
        return 1 if self.folded else 1 + self.count + sum(run.rows for run in self.tool_agent_runs)

    def offset_of(self, place: int) -> int:
        """Return how many rows below the header the event at a place stands."""
        return 1 + place - self.first + sum(run.rows for run in self.tool_agent_runs if run.place < place)

    def offset_of_run(self, wanted: ToolAgentRun) -> int:
        """Return how many rows below the header a call's header stands."""
        before = self.tool_agent_runs[: next(number for number, run in enumerate(self.tool_agent_runs) if run is wanted)]
        return 2 + wanted.place - self.first + sum(run.rows for run in before)

    def at_offset(self, offset: int) -> int | tuple[ToolAgentRun, int]:
        """Return what stands so many rows below the header: an event's place, or a call and the number of the row in it (0: its header)."""
        place = self.first + offset - 1
        for run in self.tool_agent_runs:
            if place <= run.place:
                break
            if place <= run.place + run.rows:
                return run, place - run.place - 1
            place -= run.rows
        return place
