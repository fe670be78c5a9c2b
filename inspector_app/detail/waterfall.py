"""An invocation as a waterfall: when each agent ran, and its model and tool calls. No Qt.

The waterfall is computed from committed events alone. A model call is assumed to start at the event before its answer; a tool
call lasts from the event with the call to the event with its response.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from inspector_app.presentation.event_summary import failure_of
from runtime.events.event import Event
from runtime.events.kinds import kind_of
from runtime.events.marks import ASKING_CALLS, CONFIRMATION_CALL, CREDENTIAL_CALL, INPUT_CALL

BarKind = Literal["agent", "model", "tool", "wait"]

MODEL = "model"  # label of the row with an agent's model calls

OTHER_TOOLS = "other tools"  # label of the row that the tools after the first `MOST_TOOLS` share
MOST_TOOLS = 1_000  # rows below an agent

_ASKS = {CONFIRMATION_CALL: "confirmation", CREDENTIAL_CALL: "credential", INPUT_CALL: "input"}
_CUT_SHARE = 0.06  # share of the width given to a shortened pause
_LONG_PAUSE = 5.0  # seconds; shorter pauses are never shortened
_DEEPEST = 64  # levels of a branch that are told apart
_LONGEST_WORK = 600.0  # seconds; a longer gap is a pause even within a call, because the work was probably interrupted


@dataclass(frozen=True, slots=True)
class Bar:
    """An activity with a duration.

    Attributes:
        kind: type of the activity.
        start, end: epoch seconds; an `end` of None means it has not ended.
        index: position of the event that a click selects.
        last: position of the event that ended it; equal to `index` for a single event.
        label: text inside the bar.
        failed: whether it ended with an error.
    """

    kind: BarKind
    start: float
    end: float | None
    index: int
    last: int
    label: str
    failed: bool = False


@dataclass(slots=True)
class TimelineRow:
    """A row of the waterfall: an agent, its model calls, or one of its tools.

    Attributes:
        label: name of the agent or tool.
        author: the agent the row belongs to.
        indent: 0 for an agent, 1 for its calls, plus one for each other agent in its branch that has a row.
        bars: sorted by start.
    """

    label: str
    author: str
    indent: int
    bars: list[Bar] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Timeline:
    """The waterfall of some events.

    Attributes:
        rows: from top to bottom.
        start, end: epoch seconds of the first and the last event.
        scale: maps times to the width.
    """

    rows: list[TimelineRow]
    start: float
    end: float
    scale: Scale


@dataclass(frozen=True, slots=True)
class Pause:
    """A long period without activity, drawn short."""

    start: float
    end: float


class Scale:
    """A map from times to the range 0 to 1 that shortens long pauses, so that an answer on the next day leaves room for the rest.

    Args:
        times: timestamps of the events, epoch seconds.
        work: starts and ends of model and tool calls, which are not pauses.

    Attributes:
        pauses: the shortened pauses, by start.
    """

    def __init__(self, times: Iterable[float], work: Iterable[tuple[float, float]] = ()) -> None:
        ordered = sorted(times) or [0.0]
        busy = _joined(work)
        gaps = sorted(((after - before, before, after) for before, after in itertools.pairwise(ordered)), reverse=True)
        rest = ordered[-1] - ordered[0]
        self.pauses: list[Pause] = []
        for length, before, after in gaps[: int(0.5 / _CUT_SHARE)]:
            rest -= length
            if length < max(_LONG_PAUSE, rest):
                break
            if length < _LONGEST_WORK and any(start <= before and after <= end for start, end in busy):
                rest += length
                continue
            self.pauses.append(Pause(before, after))
        self.pauses.sort(key=lambda pause: pause.start)
        shown = ordered[-1] - ordered[0] - sum(pause.end - pause.start for pause in self.pauses)
        share = (1 - _CUT_SHARE * len(self.pauses)) / shown if shown > 0 else 0.0
        self._times, self._places = [ordered[0]], [0.0]
        for pause in self.pauses:
            self._add(pause.start, share)
            self._times.append(pause.end)
            self._places.append(self._places[-1] + _CUT_SHARE)
        self._add(ordered[-1], share)

    def _add(self, time: float, share: float) -> None:
        self._places.append(self._places[-1] + (time - self._times[-1]) * share)
        self._times.append(time)

    def place(self, time: float) -> float:
        """Return the position of a time: 0 for the first event, 1 for the last."""
        after = bisect_right(self._times, time)
        if after == 0:
            return 0.0
        if after == len(self._times):
            return min(self._places[-1], 1.0)
        before, length = self._times[after - 1], self._times[after] - self._times[after - 1]
        return min(self._places[after - 1] + (time - before) / length * (self._places[after] - self._places[after - 1]), 1.0)

    def ticks(self, most: int) -> list[float]:
        """Return round times for the axis, in epoch seconds, counted from the first event and from the end of each pause.

        Args:
            most: approximate number of ticks.
        """
        shown = self._times[-1] - self._times[0] - sum(pause.end - pause.start for pause in self.pauses)
        step = _round_step(shown / max(most, 1))
        ticks: list[float] = []
        for first, last in self._stretches():
            number = 0
            while first + number * step <= last + 1e-9:
                ticks.append(first + number * step)
                number += 1
        return ticks

    def pause_before(self, time: float) -> Pause | None:
        """Return the last pause that ended at or before a time."""
        return next((pause for pause in reversed(self.pauses) if pause.end <= time), None)

    def _stretches(self) -> list[tuple[float, float]]:
        edges = [self._times[0], *(edge for pause in self.pauses for edge in (pause.start, pause.end)), self._times[-1]]
        return list(zip(edges[::2], edges[1::2], strict=True))


def timeline(events: Sequence[Event], first: int = 0) -> Timeline:
    """Return the waterfall of an invocation.

    Args:
        events: events of one invocation, in commit order.
        first: position of the first one in its session.
    """
    drawn = _Waterfall()
    for index, event in enumerate(events, first):
        drawn.add(index, event)
    return drawn.result()


@dataclass(frozen=True, slots=True)
class _Span:
    """The time from the preceding event to an agent's event; `ends` if that event ends the agent."""

    index: int
    start: float
    end: float
    ends: bool


class _Waterfall:
    """A waterfall under construction."""

    def __init__(self) -> None:
        self._agents: dict[tuple[str, str], dict[str, TimelineRow]] = {}
        self._spans: dict[tuple[str, str], list[_Span]] = {}
        self._open: dict[str, tuple[TimelineRow, int, float, bool]] = {}
        self._times: list[float] = []
        self._latest_at: dict[str, int] = {}  # branch → its latest event
        self._latest_below: dict[str, int] = {}  # branch → the latest event of it and of all branches below

    def add(self, index: int, event: Event) -> None:
        """Add the next event."""
        branch = event.branch or ""
        for response in event.get_function_responses():
            self._close(response.id or "", index, event, failed=failure_of(response) is not None)
        if event.author != "user":
            begin = self._begin(branch, event.timestamp)
            self._agents.setdefault((event.author, branch), {})
            span = _Span(index, begin, event.timestamp, ends=bool(event.actions.end_of_agent))
            self._spans.setdefault((event.author, branch), []).append(span)
            if _is_from_model(event):
                usage = event.usage_metadata
                tokens = f"{usage.total_token_count:,} tokens" if usage and usage.total_token_count else ""
                failed = bool(event.error_code or event.error_message)
                bar = Bar("model", begin, event.timestamp, index, index, tokens or kind_of(event), failed)
                self._row(event.author, branch, MODEL).bars.append(bar)
            for call in event.get_function_calls():
                waits = call.name in ASKING_CALLS or (call.id or "") in (event.long_running_tool_ids or ())
                row = self._row(event.author, branch, _ASKS.get(call.name or "", call.name or "?"))
                self._open[call.id or f"{index} {call.name}"] = (row, index, event.timestamp, waits)
        self._note(branch, event.timestamp)

    def result(self) -> Timeline:
        """Return the waterfall of the events so far."""
        times = self._times
        for row, index, start, waits in self._open.values():
            row.bars.append(Bar("wait" if waits else "tool", start, None, index, index, "waits" if waits else "open"))
        called = [row for below in self._agents.values() for row in below.values()]
        work = [(bar.start, bar.end) for row in called for bar in row.bars if bar.kind in ("model", "tool") and bar.end is not None]
        scale = Scale(times, work)
        authors = {author for author, _ in self._agents}
        rows: list[TimelineRow] = []
        for (author, branch), below in self._agents.items():
            indent = sum(name in authors and name != author for name in branch.split("."))
            agent = TimelineRow(author, author, indent, _runs(self._spans[author, branch], scale))
            rows.append(agent)
            for row in below.values():
                row.bars = list(dict.fromkeys(row.bars))  # an event's calls of one tool are one bar if they end together
                row.indent = indent + 1
                rows.append(row)
        return Timeline(rows, min(times, default=0.0), max(times, default=0.0), scale)

    def _row(self, author: str, branch: str, label: str) -> TimelineRow:
        below = self._agents.setdefault((author, branch), {})
        if label not in below and len(below) >= MOST_TOOLS:
            label = OTHER_TOOLS
        if label not in below:
            below[label] = TimelineRow(label, author, 1)
        return below[label]

    def _begin(self, branch: str, time: float) -> float:
        """Return the time of the preceding event, ignoring parallel branches: the assumed start of what this event ended."""
        latest = max(self._latest_below.get(branch, -1), *(self._latest_at.get(above, -1) for above in _with_parents(branch)))
        return min(self._times[latest], time) if latest >= 0 else time

    def _note(self, branch: str, time: float) -> None:
        place = len(self._times)
        self._times.append(time)
        self._latest_at[branch] = place
        for above in _with_parents(branch):
            self._latest_below[above] = place

    def _close(self, call_id: str, index: int, event: Event, *, failed: bool) -> None:
        if call_id not in self._open:
            return
        row, first, start, waits = self._open[call_id]
        if waits and event.author != "user" and not failed:
            return  # a long-running tool's own response reports only that it started; the user's response ends it
        del self._open[call_id]
        row.bars.append(Bar("wait" if waits else "tool", start, event.timestamp, first, index, "", failed))


def _with_parents(branch: str) -> list[str]:
    """Return a branch and those above it, up to the empty one."""
    names = branch.split(".", _DEEPEST) if branch else []
    return [".".join(names[:count]) for count in range(len(names) + 1)]


def _is_from_model(event: Event) -> bool:
    if event.get_function_responses() or not (event.content and event.content.parts):
        return bool(event.error_code)
    return event.content.role == "model" or event.usage_metadata is not None


def _runs(spans: Sequence[_Span], scale: Scale) -> list[Bar]:
    """Return a bar for each run of an agent. A run ends with the agent or at a pause."""
    runs: list[Bar] = []
    goes_on = False
    for span in spans:
        pause = scale.pause_before(span.end)
        start = span.start if pause is None else max(span.start, pause.end)
        last = runs[-1] if goes_on else None
        if last is not None and last.end is not None and (pause is None or last.end > pause.start):
            runs[-1] = Bar("agent", last.start, span.end, last.index, span.index, "")
        else:
            runs.append(Bar("agent", start, span.end, span.index, span.index, ""))
        goes_on = not span.ends
    return runs


def _joined(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return time spans with overlapping and adjacent ones merged."""
    joined: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def _round_step(length: float) -> float:
    """Return 1, 2 or 5 times a power of ten that is not below `length` (in seconds, at least a millisecond)."""
    power = 10.0 ** math.floor(math.log10(max(length, 1e-3)))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= length * 0.999)
