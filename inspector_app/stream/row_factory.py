"""Makes the rows of the event stream, each when it is first displayed. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from inspector_app.documents.invocation_groups import InvocationGroup, InvocationGroups
from inspector_app.documents.session_events import SessionEvents
from inspector_app.documents.tool_agent_runs import ToolAgentRun
from inspector_app.presentation.author_colours import AuthorColours
from inspector_app.presentation.costs import CostSum
from inspector_app.presentation.event_summary import tokens_of
from inspector_app.presentation.invocation_title import invocation_title
from inspector_app.presentation.spans import HeldTime, free_pieces
from inspector_app.stream.stream_row import (
    StreamRow,
    event_row,
    header_row,
    tool_agent_event_row,
    tool_agent_header_row,
    unread_row,
)
from runtime.events.marks import begins_resumed_run
from runtime.history.key_writers import are_parallel
from runtime.sessions.note import Note

if TYPE_CHECKING:
    from runtime.events import Event

_CACHED_ROWS = 4096
_LONGEST_COUNTED = 64  # events of a group that are read for its header
_MOST_BEFORE_MESSAGE = 8  # first events of an invocation, among which its message is looked for
_MOST_BETWEEN = 32  # events of parallel branches between an event and the one that it followed


class RowFactory:
    """Makes rows of events, and caches those of committed events.

    Args:
        colours: the authors' colours.
        on_new_width: called when a row is made of an author or a larger count of tokens that was not seen before.

    Attributes:
        colours: the authors' colours.
        most_tokens: the largest count of tokens of one event seen so far.
        held: id of the event at which the agent is held, or None.
        breakpoint_mark: returns an event's mark, see `StreamRow.breakpoint`.
        temp_keys_of: returns the `temp:` keys that the event with an id set, as far as they are known.
        cost_of: returns what a group's model calls used, None while that is not known.
        ran_ahead: returns whether the event with an id was committed while the agent was held before it.
        note_of: returns the note on the event with an id, or None.
        holds: returns the holds of the session in this window.
    """

    def __init__(self, colours: AuthorColours, on_new_width: Callable[[], None]) -> None:
        self.colours = colours
        self._on_new_width = on_new_width
        self.breakpoint_mark: Callable[[Event], str] = lambda _event: ""
        self.temp_keys_of: Callable[[str], Collection[str]] = lambda _event_id: ()
        self.cost_of: Callable[[InvocationGroup], CostSum | None] = lambda _group: None
        self.ran_ahead: Callable[[str], bool] = lambda _event_id: False
        self.note_of: Callable[[str], Note | None] = lambda _event_id: None
        self.holds: Callable[[], Sequence[HeldTime]] = lambda: ()
        self.reset(SessionEvents())

    def reset(self, events: SessionEvents) -> None:
        """Make the rows of another session."""
        self._events = events
        self._cache: dict[int, StreamRow] = {}
        self._titles: dict[str, str] = {}
        self._first_groups: dict[str, int] = {}
        self.colours.clear()
        self.held: str | None = None
        self.most_tokens = 0

    def clear_cache(self) -> None:
        """Make all rows again when they are displayed next."""
        self._cache.clear()

    def forget(self, index: int) -> None:
        """Make the row of one event again."""
        self._cache.pop(index, None)

    def note(self, event: Event) -> bool:
        """Note the author and tokens of an event, which the columns' widths depend on; return whether one of them is new."""
        tokens = tokens_of(event)
        new = tokens > self.most_tokens or not self.colours.knows(event.author)
        if new:
            self.colours.role(event.author)
            self.most_tokens = max(self.most_tokens, tokens)
        return new

    def note_all(self, events: Iterable[Event]) -> bool:
        """Note the authors and tokens of events; return whether one of them is new."""
        new = False
        for event in events:
            new |= self.note(event)
        return new

    def title(self, invocation_id: str, groups: InvocationGroups) -> str:
        """Return what an invocation is called; empty while its first events are not in memory, or if they have no message.

        Args:
            invocation_id: the invocation.
            groups: the groups of all events.
        """
        known = self._titles.get(invocation_id)
        if known is None:
            number = self._first_groups.get(invocation_id)
            if number is None:
                number = self._first_groups[invocation_id] = groups.invocations.index(invocation_id)
            begin = groups[number].first
            places = range(begin, min(groups[number].end, begin + _MOST_BEFORE_MESSAGE))
            first = [self._events.cached(index, request=False) for index in places]
            known = invocation_title(event for event in first if event is not None)
            if known:
                self._titles[invocation_id] = known
        return known

    def forget_groups(self) -> None:
        """Look for the first group of each invocation again: the groups were replaced."""
        self._first_groups.clear()

    def header(self, group: InvocationGroup, status: str, title: str, *, is_whole: bool) -> StreamRow:
        """Return an invocation's header.

        Args:
            group: its events.
            status: the invocation's status, or an empty text.
            title: what the invocation is called; empty to use its id.
            is_whole: the group's places are those of the session; the filter hides none of its events.
        """
        if is_whole and not group.counted and not group.unread and group.count <= _LONGEST_COUNTED:
            self._count(group)
        return header_row(group, status, title, self.cost_of(group) if is_whole else None)

    def _count(self, group: InvocationGroup) -> None:
        """Compute a group's times and tokens if its events are in memory."""
        events = [self._events.cached(index, request=False) for index in range(group.first, group.end)]
        known = [event for event in events if event is not None]
        if len(known) == len(events):
            group.count_events(known)

    def event(self, index: int) -> StreamRow:
        """Return the row of a committed event; one that is not in memory is requested."""
        made = self._cache.get(index)
        if made is None:
            if len(self._cache) >= _CACHED_ROWS:
                self._cache.clear()
            event = self._events.cached(index)
            if event is None:
                return unread_row(index)
            if self.note(event):
                self._on_new_width()
            role, sign = self.colours.role(event.author), self.colours.sign(event.author)
            temp_keys, mark = self.temp_keys_of(event.id), self.breakpoint_mark(event)
            took, ahead, note = self._took(event, index), self.ran_ahead(event.id), self.note_of(event.id)
            made = event_row(event, index, role, event.id == self.held, temp_keys, sign, mark, took, ahead, note)
            self._cache[index] = made
        return made

    def _took(self, event: Event, index: int) -> float | None:
        """Return the seconds since the event that this one followed: the last of its invocation that is not on a parallel branch.

        Time at a hold does not count.
        """
        if begins_resumed_run(event):
            return None  # the time between two runs is not the agent's
        for place in range(index - 1, max(index - 1 - _MOST_BETWEEN, -1), -1):
            before = self._events.cached(place, request=False)
            if before is None or before.invocation_id != event.invocation_id:
                return None
            if not are_parallel(before.branch, event.branch):
                free = free_pieces(before.timestamp, event.timestamp, event.branch, self.holds())
                return sum(end - start for start, end in free)
        return None

    def tool_agent(self, run: ToolAgentRun, number: int) -> StreamRow:
        """Return a row of a tool agent's run; number 0 is its header."""
        if number == 0:
            return tool_agent_header_row(run, self.colours.role(run.agent))
        event, depth = run.events[number - 1]
        role, sign = self.colours.role(event.author), self.colours.sign(event.author)
        return tool_agent_event_row(event, depth, role, event.id == self.held, sign, self.breakpoint_mark(event))
