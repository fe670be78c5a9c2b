"""The rows of a timeline: agents, their model calls and tools, of one invocation or of several one under the other. No Qt."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from inspector_app.presentation.critical_path import mark_critical_path
from inspector_app.presentation.lanes import Lane, lanes_of
from inspector_app.presentation.spans import Activity, Span, agent_spans
from inspector_app.presentation.time_scale import TimeScale

RowKind = Literal["section", "agent", "calls"]

OTHER_TOOLS = "other tools"  # label of the row that the tools after the first `MOST_TOOLS` share
MOST_TOOLS = 1_000  # rows below an agent


@dataclass(slots=True)
class TimelineRow:
    """A row: an agent, its model calls, one of its tools, or the title of a section.

    Attributes:
        kind: what the row is.
        label: name of the agent or tool; empty for the second and further rows of calls that ran at once.
        author: the agent the row belongs to.
        indent: 0 for an agent, 1 for its calls, plus one for each other agent in its branch that has a row.
        lane: the bars.
        zero: epoch seconds at the left end of the axis.
    """

    kind: RowKind
    label: str
    author: str
    indent: int
    lane: Lane
    zero: float

    @property
    def bars(self) -> Sequence[Span]:
        """The spans, sorted by start."""
        return self.lane.spans


@dataclass(frozen=True, slots=True)
class Section:
    """An invocation, or a whole session.

    Attributes:
        title: shown above its rows if there are several sections; empty for none.
        found: what happened.
    """

    title: str
    found: Activity


@dataclass(frozen=True, slots=True)
class Timeline:
    """The rows of a timeline.

    Attributes:
        rows: from top to bottom.
        scale: maps seconds since each section's begin to the width.
        recorded, computed: number of calls whose times were recorded, or were computed from events.
    """

    rows: list[TimelineRow]
    scale: TimeScale
    recorded: int = 0
    computed: int = 0
    _places: dict[int, list[tuple[int, int]]] = field(default_factory=dict)

    @property
    def sources(self) -> str:
        """A sentence that says where the times of calls are from; empty without calls."""
        if not self.recorded + self.computed:
            return ""
        if not self.computed:
            return "Times of calls as recorded"
        if not self.recorded:
            return "Times of calls computed from events"
        return f"Times of {self.recorded:,} of {self.recorded + self.computed:,} calls as recorded, the others computed from events"

    def bars_of(self, index: int | None) -> list[tuple[int, int]]:
        """Return the row and the number in it of each call that an event began or ended."""
        return self._places.get(index, []) if index is not None else []

    def row_of(self, index: int | None) -> int | None:
        """Return the row of an event: that of its call, else of the agent that was running."""
        if index is None:
            return None
        calls = self.bars_of(index)
        if calls:
            return min(calls)[0]
        agents: list[tuple[int, int]] = []
        for number, row in enumerate(self.rows):
            if row.kind == "agent":
                agents += [(span.last - span.index, number) for span in row.bars if _contains(span, index)]  # type: ignore[operator]
        return min(agents)[1] if agents else None


def timeline(sections: Sequence[Section]) -> Timeline:
    """Return the rows of some sections, which begin at the same place of the axis."""
    zeros = [_zero(section.found) for section in sections]
    scale = _scale(sections, zeros)
    rows: list[TimelineRow] = []
    for section, zero in zip(sections, zeros, strict=True):
        if section.title:
            rows.append(TimelineRow("section", section.title, "", 0, Lane([], array("d"), array("d")), zero))
        rows += _rows(section.found, zero, scale)
    calls = [span for section in sections for span in section.found.calls if span.kind != "wait"]
    exact = sum(span.exact for span in calls)
    places: dict[int, list[tuple[int, int]]] = {}
    for number, row in enumerate(rows):
        if row.kind == "calls":
            for place, span in enumerate(row.bars):
                if span.index is not None:
                    places.setdefault(span.index, []).append((number, place))
                if span.last is not None and span.last != span.index:
                    places.setdefault(span.last, []).append((number, place))
    return Timeline(rows, scale, exact, len(calls) - exact, places)


def _zero(found: Activity) -> float:
    return min((*found.times, *(span.start for span in found.calls)), default=0.0)


def _scale(sections: Sequence[Section], zeros: Sequence[float]) -> TimeScale:
    times: list[float] = []
    work: list[tuple[float, float]] = []
    for section, zero in zip(sections, zeros, strict=True):
        times += [time - zero for time in section.found.times]
        for span in section.found.calls:
            if span.end is not None and (span.exact or span.kind != "wait"):
                times += (span.start - zero, span.end - zero)
                if span.kind != "wait":
                    work.append((span.start - zero, span.end - zero))
    return TimeScale(times, work)


def _rows(found: Activity, zero: float, scale: TimeScale) -> list[TimelineRow]:
    for calls in _by_invocation(found.calls):
        mark_critical_path(calls)
    pauses = [(pause.start + zero, pause.end + zero) for pause in scale.pauses]
    below: dict[tuple[str, str], dict[str, list[Span]]] = {key: {} for key in found.steps}
    for span in sorted(found.calls, key=lambda span: (span.index is None, span.index or 0)):
        named = below.setdefault((span.author, span.branch), {})
        name = span.name if span.name in named or len(named) < MOST_TOOLS else OTHER_TOOLS
        named.setdefault(name, []).append(span)
    authors = {author for author, _ in below}
    rows: list[TimelineRow] = []
    for (author, branch), named in below.items():
        indent = sum(name in authors and name != author for name in branch.split("."))
        steps = found.steps.get((author, branch))
        runs = agent_spans(author, branch, steps, pauses) if steps else _around(author, branch, named)
        rows += _lanes("agent", author, author, indent, runs, zero, scale, most=1)
        for name, spans in named.items():
            rows += _lanes("calls", name, author, indent + 1, _distinct(spans), zero, scale)
    return rows


def _lanes(
    kind: RowKind, label: str, author: str, indent: int, spans: list[Span], zero: float, scale: TimeScale, most: int = 8
) -> list[TimelineRow]:
    spans.sort(key=lambda span: span.start)
    place = scale.place
    left = [place(span.start - zero) for span in spans]
    right = [1.0 if span.end is None else place(span.end - zero) for span in spans]
    lanes = lanes_of(spans, left, right, most)
    return [TimelineRow(kind, label if number == 0 else "", author, indent, lane, zero) for number, lane in enumerate(lanes)]


def _by_invocation(calls: Sequence[Span]) -> list[list[Span]]:
    found: dict[str, list[Span]] = {}
    for span in calls:
        found.setdefault(span.invocation_id, []).append(span)
    return list(found.values())


def _around(author: str, branch: str, named: dict[str, list[Span]]) -> list[Span]:
    """Return a span around the calls of an agent without events, such as one whose only call failed."""
    spans = [span for some in named.values() for span in some]
    start = min(span.start for span in spans)
    return [Span("agent", author, author, start, max(span.end or span.start for span in spans), branch=branch)]


def _distinct(spans: list[Span]) -> list[Span]:
    """Return the spans without those that look the same: an event's calls of one tool are one bar if they end together."""
    return list({(span.start, span.end, span.index, span.last, span.failed): span for span in spans}.values())


def _contains(span: Span, index: int) -> bool:
    return span.index is not None and span.last is not None and span.index <= index <= span.last
