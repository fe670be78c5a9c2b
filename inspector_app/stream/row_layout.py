"""Where the events of a session stand: in which group, in which row, and which of them a filter lets through. No Qt."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from itertools import accumulate

from inspector_app.documents.invocation_groups import InvocationGroup, InvocationGroups
from inspector_app.documents.session_events import SessionEvents
from inspector_app.documents.tool_agent_runs import ToolAgentRun, ToolAgentRuns
from runtime.events import Event


class RowLayout:
    """Counts rows; says nothing to anybody: that is the model's part, which calls what changes them between Qt's begin and end.

    An *index* is an event's place in the session, from 0; a *position* its place among those that the filter lets through; a *row* is a
    line of the table.

    Attributes:
        events: the session's.
        tool_agent_runs: what agents did that ran as tools.
        all_groups: of all events.
        groups: those on show.
        shown: indices of the events that the filter lets through, None without one.
        starts: the row in which each group on show begins.
        rows: how many rows the groups on show take.
    """

    def __init__(self) -> None:
        self.events = SessionEvents()
        self.tool_agent_runs = ToolAgentRuns()
        self.all_groups = InvocationGroups()
        self.groups = self.all_groups
        self.shown: array[int] | None = None
        self.starts = array("q")
        self.rows = 0
        self._statuses: dict[str, str] = {}
        self._statuses_before: dict[str, str] = {}

    @property
    def shown_count(self) -> int:
        """How many events meet the filter; all of them where there is none."""
        return len(self.events) if self.shown is None else len(self.shown)

    @property
    def is_filtered(self) -> bool:
        """Whether only events that meet a filter are shown."""
        return self.shown is not None

    def shown_after(self, index: int) -> int | None:
        """Return the next event after an index that is shown."""
        position = self.position_after(index)
        return self.index_of_position(position) if position < self.shown_count else None

    def shown_before(self, index: int) -> int | None:
        """Return the last event before an index that is shown."""
        position = self.position_after(index - 1) - 1
        return self.index_of_position(position) if position >= 0 else None

    def position_after(self, index: int) -> int:
        """Return the position of the first event behind an index."""
        return min(index + 1, len(self.events)) if self.shown is None else bisect_right(self.shown, index)

    def index_of_position(self, position: int) -> int:
        """Return which event stands at a position."""
        return position if self.shown is None else self.shown[position]

    def position_of_index(self, index: int) -> int | None:
        """Return the position of an event, None where the filter leaves it out."""
        if self.shown is None:
            return index
        position = bisect_left(self.shown, index)
        return position if position < len(self.shown) and self.shown[position] == index else None

    def index_at(self, row: int) -> int | None:
        """Return the index of the committed event in a row, or None."""
        if not 0 <= row < self.rows:
            return None
        place = self.at(row)[1]
        return self.index_of_position(place) if isinstance(place, int) else None

    def position_at(self, row: int) -> int:
        """Return the position of the first event at or below a row; of a header, of the first event under it, folded or not."""
        if row >= self.rows:
            return self.shown_count
        group, place = self.at(row)
        return group.first if place is None else place if isinstance(place, int) else place[0].place + 1

    def tool_agent_event_at(self, row: int) -> Event | None:
        """Return the event in a row if it is one of an agent that ran as a tool, or None."""
        place = self.at(row)[1] if 0 <= row < self.rows else None
        return place[0].events[place[1] - 1][0] if isinstance(place, tuple) and place[1] else None

    def row_of_index(self, index: int) -> int | None:
        """Return the row of the event at an index, or None where its group is folded or the filter leaves it out."""
        position = self.position_of_index(index)
        if position is None:
            return None
        group = self.group_of(position)
        if self.groups[group].folded:
            return None
        return self.starts[group] + self.groups[group].offset_of(position)

    def row_of_tool_agent_event(self, event_id: str) -> int | None:
        """Return the row of an event of an agent that ran as a tool, or None where there is none, or it is not on show."""
        found = self.tool_agent_runs.find(event_id)
        header = self.row_of_run(found[0]) if found is not None else None
        return None if found is None or header is None or found[0].folded else header + 1 + found[1]

    def row_of_run(self, run: ToolAgentRun) -> int | None:
        """Return the row of the header of an agent called as a tool, None where it is not on show."""
        group = self.group_of(run.place)
        if self.shown is not None or self.groups[group].folded:
            return None
        return self.starts[group] + self.groups[group].offset_of_run(run)

    def header_row_of_index(self, index: int) -> int | None:
        """Return the row of the header that the event at an index stands under, None where the filter leaves it out."""
        position = self.position_of_index(index)
        return None if position is None else self.starts[self.group_of(position)]

    def is_header(self, row: int) -> bool:
        """Return whether a row can be folded: an invocation's header, or that of an agent called as a tool."""
        place = self.at(row)[1] if 0 <= row < self.rows else 0
        return place is None or (isinstance(place, tuple) and place[1] == 0)

    def at(self, row: int) -> tuple[InvocationGroup, int | tuple[ToolAgentRun, int] | None]:
        """Return the group that a row belongs to, and what is in it: None for the header, else see `InvocationGroup.at_offset`."""
        number, offset = self.locate(row)
        group = self.groups[number]
        return group, group.at_offset(offset) if offset else None

    def locate(self, row: int) -> tuple[int, int]:
        """Return the group that a row belongs to and the row's place in it, 0 for the header."""
        group = bisect_right(self.starts, row) - 1
        return group, row - self.starts[group]

    def group_of(self, position: int) -> int:
        """Return the number of the group on show that a position belongs to."""
        return self.groups.number_of(position)

    def all_group_of(self, index: int) -> int:
        """Return the number of the group, of all of them, that an event belongs to."""
        return self.all_groups.number_of(index)

    def invocation_of(self, index: int) -> str:
        """Return the invocation that an event belongs to."""
        return self.all_groups.invocations[self.all_group_of(index)]

    def take_groups(self, groups: InvocationGroups) -> None:
        """Show all events, in these groups."""
        self.all_groups = self.groups = groups
        self._statuses_before |= self._statuses
        self._statuses = {name: self._statuses_before.pop(name, "") for name in dict.fromkeys(groups.invocations) if name}
        self.place_groups(0)

    def show_only(self, shown: array[int]) -> None:
        """Show only these events, ascending."""
        self.shown = array("q")
        self.groups = InvocationGroups()
        for index in shown:
            self.group_shown(index, self.invocation_of(index), None)
        self.place_groups(0)

    def group_shown(self, index: int, invocation_id: str, event: Event | None) -> None:
        """Put an event that meets the filter at the end of those that do."""
        assert self.shown is not None
        self.shown.append(index)
        self._add_to(self.groups, invocation_id, event)

    def add(self, event: Event) -> int:
        """Put an event at the end of all; return the tokens it cost."""
        return self._add_to(self.all_groups, event.invocation_id, event)

    def _add_to(self, groups: InvocationGroups, invocation_id: str, event: Event | None) -> int:
        if not groups or groups.invocations[-1] != invocation_id or groups[-1].unread:
            groups.begin(invocation_id, continued=invocation_id in self._statuses and groups is self.all_groups)
            if invocation_id not in self._statuses:
                self._statuses[invocation_id] = self._statuses_before.pop(invocation_id, "")
        return groups.add(event)

    def status_of(self, invocation_id: str) -> str:
        """Return how an invocation ended, an empty text where that is not known."""
        return self._statuses.get(invocation_id, "")

    def set_statuses(self, statuses: Mapping[str, str]) -> None:
        """Take in how invocations ended, also of those whose events are not known yet."""
        for name, status in statuses.items():
            (self._statuses if name in self._statuses else self._statuses_before)[name] = status

    def place_groups(self, first: int) -> None:
        """Compute where the groups from `first` on begin."""
        del self.starts[first:]
        row = self.starts[-1] + self.groups[first - 1].rows if first else 0
        self.starts.extend(accumulate(self.groups.rows_from(first), initial=row))
        self.rows = self.starts.pop()
