"""The rows of the event stream: which group and row each event is in, and which events pass the filter. No Qt."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from inspector_app.documents.invocation_groups import InvocationGroup, InvocationGroups
from inspector_app.documents.tool_agent_runs import ToolAgentRun, ToolAgentRuns

if TYPE_CHECKING:
    from runtime.events import Event


class RowLayout:
    """Counts rows. The model changes the layout between Qt's begin and end calls.

    The groups belong to the document and grow before the model is notified. `rows`, `starts` and `count` change only with the layout's own
    methods, so that Qt never sees rows before they are announced.

    An *index* is an event's place in the session, from 0; a *position* its place among those that pass the filter; a *row* is a line of
    the table.

    Args:
        groups: groups of all events.
        count: number of events.

    Attributes:
        count: number of events laid out.
        tool_agent_runs: the displayed runs of agents as tools.
        all_groups: groups of all events.
        groups: the displayed groups.
        shown: indices of the events that pass the filter, None without one.
        starts: the row in which each displayed group begins.
        rows: number of rows of the displayed groups.
    """

    def __init__(self, groups: InvocationGroups | None = None, count: int = 0) -> None:
        self.count = count
        self.tool_agent_runs = ToolAgentRuns()
        self.all_groups = InvocationGroups() if groups is None else groups
        self.groups = self.all_groups
        self.shown: array[int] | None = None
        self.starts = array("q")
        self.rows = 0
        self.place_groups(0)

    @property
    def shown_count(self) -> int:
        """Number of events that pass the filter, or of all events without one."""
        return self.count if self.shown is None else len(self.shown)

    @property
    def is_filtered(self) -> bool:
        """Whether only events that pass a filter are displayed."""
        return self.shown is not None

    # from an event to its row

    def shown_after(self, index: int) -> int | None:
        """Return the next displayed event after an index."""
        position = self.position_after(index)
        return self.index_of_position(position) if position < self.shown_count else None

    def shown_before(self, index: int) -> int | None:
        """Return the last displayed event before an index."""
        position = self.position_after(index - 1) - 1
        return self.index_of_position(position) if position >= 0 else None

    def position_after(self, index: int) -> int:
        """Return the position of the first event after an index."""
        return min(index + 1, self.count) if self.shown is None else bisect_right(self.shown, index)

    def position_of_index(self, index: int) -> int | None:
        """Return the position of an event, None where the filter hides it."""
        if self.shown is None:
            return index
        position = bisect_left(self.shown, index)
        return position if position < len(self.shown) and self.shown[position] == index else None

    def row_of_index(self, index: int) -> int | None:
        """Return the row of the event at an index, None where its group is folded or the filter hides it."""
        position = self.position_of_index(index)
        if position is None or position >= self.shown_count:
            return None
        group = self.group_of(position)
        if group >= len(self.starts) or self.groups[group].folded:
            return None
        return self.starts[group] + self.groups[group].offset_of(position)

    def header_row_of_index(self, index: int) -> int | None:
        """Return the row of the header above the event at an index, None where the filter hides it."""
        position = self.position_of_index(index)
        return None if position is None else self.starts[self.group_of(position)]

    def row_of_tool_agent_event(self, event_id: str) -> int | None:
        """Return the row of a tool agent's event, None where there is none or it is not displayed."""
        found = self.tool_agent_runs.find(event_id)
        header = self.row_of_run(found[0]) if found is not None else None
        return None if found is None or header is None or found[0].folded else header + 1 + found[1]

    def row_of_run(self, run: ToolAgentRun) -> int | None:
        """Return the row of a tool agent's header, None where it is not displayed."""
        group = self.group_of(run.place)
        if self.shown is not None or self.groups[group].folded:
            return None
        return self.starts[group] + self.groups[group].offset_of_run(run)

    # from a row to its event

    def index_of_position(self, position: int) -> int:
        """Return the index of the event at a position."""
        return position if self.shown is None else self.shown[position]

    def index_at(self, row: int) -> int | None:
        """Return the index of the committed event in a row, or None."""
        if not 0 <= row < self.rows:
            return None
        place = self.at(row)[1]
        return self.index_of_position(place) if isinstance(place, int) else None

    def position_at(self, row: int) -> int:
        """Return the position of the first event at or below a row; for a header, of the first event under it, folded or not."""
        if row >= self.rows:
            return self.shown_count
        group, place = self.at(row)
        return group.first if place is None else place if isinstance(place, int) else place[0].place + 1

    def tool_agent_event_at(self, row: int) -> Event | None:
        """Return the event in a row if it is a tool agent's, or None."""
        place = self.at(row)[1] if 0 <= row < self.rows else None
        return place[0].events[place[1] - 1][0] if isinstance(place, tuple) and place[1] else None

    def is_header(self, row: int) -> bool:
        """Return whether a row can be folded: an invocation's header, or a tool agent's."""
        place = self.at(row)[1] if 0 <= row < self.rows else 0
        return place is None or (isinstance(place, tuple) and place[1] == 0)

    def at(self, row: int) -> tuple[InvocationGroup, int | tuple[ToolAgentRun, int] | None]:
        """Return the group of a row, and what is in the row: None for the header, else see `InvocationGroup.at_offset`."""
        number, offset = self.locate(row)
        group = self.groups[number]
        return group, group.at_offset(offset) if offset else None

    def locate(self, row: int) -> tuple[int, int]:
        """Return the number of a row's group and the row's offset in it, 0 for the header."""
        group = bisect_right(self.starts, row) - 1
        return group, row - self.starts[group]

    # groups

    def group_of(self, position: int) -> int:
        """Return the number of the displayed group that a position belongs to."""
        return self.groups.number_of(position)

    def all_group_of(self, index: int) -> int:
        """Return the number of the group, of all groups, that an event belongs to."""
        return self.all_groups.number_of(index)

    def invocation_of(self, index: int) -> str:
        """Return the invocation of an event."""
        return self.all_groups.invocations[self.all_group_of(index)]

    def set_groups(self, groups: InvocationGroups) -> None:
        """Display all events in other groups."""
        self.all_groups = self.groups = groups
        for run in sorted(self.tool_agent_runs, key=lambda run: run.place):
            group = groups[groups.number_of(run.place)]
            group.insert_tool_agent_run(len(group.tool_agent_runs), run)
        self.place_groups(0)

    def show_all(self) -> None:
        """Display all events."""
        self.shown, self.groups = None, self.all_groups
        self.place_groups(0)

    def show_only(self, shown: array[int]) -> None:
        """Display only some events.

        Args:
            shown: their indices, ascending.
        """
        self.shown = array("q")
        self.groups = InvocationGroups()
        for index in shown:
            self.add_hit(index, None)
        self.place_groups(0)

    def add_hit(self, index: int, event: Event | None) -> None:
        """Append an event that passes the filter; its row counts when the groups are placed.

        Args:
            index: the event's place, after those that passed before.
            event: the event; None if it is not in memory.
        """
        assert self.shown is not None
        self.shown.append(index)
        invocation_id = self.invocation_of(index)
        if not self.groups or self.groups.invocations[-1] != invocation_id:
            self.groups.begin(invocation_id)
        self.groups.add(event)

    # rows

    def grown_rows(self) -> int:
        """Return the number of rows that placing the groups at the end will give."""
        first = max(len(self.starts) - 1, 0)
        return (self.starts[first] if self.starts else 0) + sum(self.groups.rows_from(first))

    def place_next(self) -> int:
        """Count the next event, which continues the last placed group; return its row."""
        self.count += 1
        self.rows += 1
        return self.rows - 1

    def place_new_groups(self) -> None:
        """Count the rows by which the last group and the groups after it have grown."""
        self.place_groups(max(len(self.starts) - 1, 0))

    def place_groups(self, first: int) -> None:
        """Compute the rows in which the groups from number `first` on begin."""
        del self.starts[first:]
        row = self.starts[-1] + self.groups[first - 1].rows if first else 0
        self.starts.extend(accumulate(self.groups.rows_from(first), initial=row))
        self.rows = self.starts.pop()
