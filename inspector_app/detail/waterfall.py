"""An invocation as a waterfall: which agent was at work when, and which model and tool calls it made. Pure.

Only what is committed is known: a model call is taken to begin with the event before its answer; a tool call lasts from its event
to that of its response.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from inspector_app.presentation.event_summary import describe, failure_of
from runtime.events.event import Event
from runtime.events.kinds import CONFIRMATION_TOOL, CREDENTIAL_TOOL, INPUT_TOOL, REQUEST_TOOLS

BarKind = Literal["agent", "model", "tool", "wait"]

MODEL = "model"
"""What the row of an agent's model calls is called."""

_ASKS = {CONFIRMATION_TOOL: "confirmation", CREDENTIAL_TOOL: "credential", INPUT_TOOL: "input"}
_CUT_SHARE = 0.06
"""Of the width, for a pause that is cut out."""
_LONG_PAUSE = 5.0
"""Seconds; a shorter pause is never cut out."""
_LONGEST_WORK = 600.0
"""Seconds; no call lasts longer: before that the work was interrupted, even if a call's answer is what comes next."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Something that took a while.

    Attributes:
        kind: what it was.
        start, end: epoch seconds; an end of None: it has not ended.
        index: place of the event that a click on it goes to.
        last: place of the event that ended it; the same where there is only one.
        label: what stands in it.
        failed: it ended with an error.
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
    """A line of the waterfall: an agent, its model calls, or one of its tools.

    Attributes:
        label: the agent's, or the tool's name.
        author: whose row it is.
        indent: 0 for an agent, 1 for what it called; one more for each agent with a row whose branch it is in.
        bars: by their start.
    """

    label: str
    author: str
    indent: int
    bars: list[Bar] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Timeline:
    """The waterfall of some events.

    Attributes:
        rows: from above.
        start, end: epoch seconds of the first and the last event.
        scale: places times on the width.
    """

    rows: list[TimelineRow]
    start: float
    end: float
    scale: Scale


@dataclass(frozen=True, slots=True)
class Pause:
    """A long time in which nothing happened, shown short."""

    start: float
    end: float


class Scale:
    """Places times between 0 and 1, long pauses cut short: else an answer that came the next day leaves nothing of the rest.

    Args:
        times: of the events, epoch seconds.
        work: starts and ends of model and tool calls: no pauses.

    Attributes:
        pauses: what was cut short.
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
        """Return where a time stands, 0 for the first event's and 1 for the last one's."""
        after = bisect_right(self._times, time)
        if after == 0:
            return 0.0
        if after == len(self._times):
            return min(self._places[-1], 1.0)
        before, length = self._times[after - 1], self._times[after] - self._times[after - 1]
        return min(self._places[after - 1] + (time - before) / length * (self._places[after] - self._places[after - 1]), 1.0)

    def ticks(self, most: int) -> list[float]:
        """Return round times (epoch seconds, counted from the first one and from the end of each pause) to be named on the axis.

        Args:
            most: about how many.
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
        """Return the last pause that was over by then."""
        return next((pause for pause in reversed(self.pauses) if pause.end <= time), None)

    def _stretches(self) -> list[tuple[float, float]]:
        edges = [self._times[0], *(edge for pause in self.pauses for edge in (pause.start, pause.end)), self._times[-1]]
        return list(zip(edges[::2], edges[1::2], strict=True))


def timeline(events: Sequence[Event], first: int = 0) -> Timeline:
    """Return the waterfall of an invocation.

    Args:
        events: of one invocation, in commit order.
        first: the place of the first one in its session.
    """
    drawn = _Waterfall()
    for index, event in enumerate(events, first):
        drawn.add(index, event)
    return drawn.result()


@dataclass(frozen=True, slots=True)
class _Span:
    """From what came before an agent's event to the event; with `ends` the agent says that it is done."""

    index: int
    start: float
    end: float
    ends: bool


class _Waterfall:
    """Grows event by event."""

    def __init__(self) -> None:
        self._agents: dict[tuple[str, str], dict[str, TimelineRow]] = {}
        self._spans: dict[tuple[str, str], list[_Span]] = {}
        self._open: dict[str, tuple[TimelineRow, int, float, bool]] = {}
        self._seen: list[tuple[str, float]] = []

    def add(self, index: int, event: Event) -> None:
        """Take in the next event."""
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
                bar = Bar("model", begin, event.timestamp, index, index, tokens or describe(event).kind, failed)
                self._row(event.author, branch, MODEL).bars.append(bar)
            for call in event.get_function_calls():
                waits = call.name in REQUEST_TOOLS or (call.id or "") in (event.long_running_tool_ids or ())
                row = self._row(event.author, branch, _ASKS.get(call.name or "", call.name or "?"))
                self._open[call.id or f"{index} {call.name}"] = (row, index, event.timestamp, waits)
        self._seen.append((branch, event.timestamp))

    def result(self) -> Timeline:
        """Return what there is so far."""
        times = [time for _, time in self._seen]
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
                row.indent = indent + 1
                rows.append(row)
        return Timeline(rows, min(times, default=0.0), max(times, default=0.0), scale)

    def _row(self, author: str, branch: str, label: str) -> TimelineRow:
        below = self._agents.setdefault((author, branch), {})
        return below.setdefault(label, TimelineRow(label, author, 1))

    def _begin(self, branch: str, time: float) -> float:
        """Return when what ended with an event began: with the event before it, that of a parallel branch left out."""
        for other, seen in reversed(self._seen):
            if branch.startswith(other) or other.startswith(branch):
                return min(seen, time)
        return time

    def _close(self, call_id: str, index: int, event: Event, *, failed: bool) -> None:
        if call_id not in self._open:
            return
        row, first, start, waits = self._open[call_id]
        if waits and event.author != "user" and not failed:
            return  # the tool said that it has begun; who closes it is a person
        del self._open[call_id]
        row.bars.append(Bar("wait" if waits else "tool", start, event.timestamp, first, index, "", failed))


def _is_from_model(event: Event) -> bool:
    if event.get_function_responses() or not (event.content and event.content.parts):
        return bool(event.error_code)
    return event.content.role == "model" or event.usage_metadata is not None


def _runs(spans: Sequence[_Span], scale: Scale) -> list[Bar]:
    """Return a bar for each run of an agent: one ends with the agent, or with a pause in which nothing happened."""
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
    """Return spans of time with those that touch each other made one."""
    joined: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def _round_step(length: float) -> float:
    """Return 1, 2 or 5 times a power of ten, not shorter than a length (a millisecond at least)."""
    power = 10.0 ** math.floor(math.log10(max(length, 1e-3)))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= length * 0.999)
