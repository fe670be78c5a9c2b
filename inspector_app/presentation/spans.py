"""When agents, models and tools worked, and when a run waited for a person. No Qt.

Spans are read from committed events. A model call is assumed to begin at the event before its answer; a tool call lasts from the event
with the call to the event with its response. Where calls were recorded, `documents.recorded_spans` replaces these times.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from inspector_app.presentation.event_summary import failure_of
from runtime.events.kinds import kind_of
from runtime.events.marks import ASKING_CALLS, CONFIRMATION_CALL, CREDENTIAL_CALL, INPUT_CALL
from runtime.history.key_writers import are_parallel

if TYPE_CHECKING:
    from runtime.events.event import Event

SpanKind = Literal["agent", "model", "tool", "wait"]

MODEL = "model"  # name of the spans of model calls

_ASKS = {CONFIRMATION_CALL: "confirmation", CREDENTIAL_CALL: "credential", INPUT_CALL: "input"}
_DEEPEST = 64  # levels of a branch that are told apart


@dataclass(slots=True, eq=False)
class Span:
    """An activity with a duration.

    Attributes:
        kind: type of the activity; `wait` waits for a person.
        author: the agent.
        name: the tool's name, `MODEL`, or the agent's name.
        start, end: epoch seconds; an `end` of None means it has not ended.
        index: position of the event that a click selects; None if the call has no event.
        last: position of the event that ended it; equal to `index` for a single event.
        label: text inside the bar.
        failed: whether it ended with an error.
        branch: the agent's branch; empty for none.
        event_id: of a model call, the event that the answer became.
        call_id: of a tool call, the id of the function call.
        invocation_id: the invocation.
        first: epoch seconds of the answer's first piece, if it was recorded.
        exact: whether its times were recorded, not computed from events.
        critical: whether it is on the critical path; see `critical_path`.
    """

    kind: SpanKind
    author: str
    name: str
    start: float
    end: float | None
    index: int | None = None
    last: int | None = None
    label: str = ""
    failed: bool = False
    branch: str = ""
    event_id: str | None = None
    call_id: str | None = None
    invocation_id: str = ""
    first: float | None = None
    exact: bool = False
    critical: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """The time from the preceding event to an agent's event; `ends` if that event ends the agent."""

    index: int
    start: float
    end: float
    ends: bool


@dataclass(slots=True)
class Activity:
    """What happened in some events.

    Attributes:
        calls: model calls, tool calls and waits.
        steps: (agent, branch) → its steps, in order; agents in order of first appearance.
        times: timestamps of the events, in commit order.
    """

    calls: list[Span] = field(default_factory=list)
    steps: dict[tuple[str, str], list[Step]] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)


def activity(events: Iterable[Event], first: int = 0) -> Activity:
    """Return what happened in events of one session.

    Args:
        events: neighbouring events, in commit order.
        first: position of the first one in its session.
    """
    reading = _Reading()
    for index, event in enumerate(events, first):
        reading.add(index, event)
    return reading.result()


@dataclass(frozen=True, slots=True)
class HeldTime:
    """The time of a hold, in epoch seconds, on a branch; the agents of parallel branches ran on."""

    start: float
    end: float
    branch: str | None


def free_pieces(start: float, end: float, branch: str | None, holds: Iterable[HeldTime]) -> list[tuple[float, float]]:
    """Return the pieces of a time on a branch in which its agent was not held, the first one first; at least one, which may be empty.

    Args:
        start, end: the time, epoch seconds.
        branch: the branch.
        holds: the holds, in order.
    """
    pieces = []
    for hold in holds:
        if hold.start < end and hold.end > start and not are_parallel(hold.branch, branch):
            pieces.append((start, max(hold.start, start)))
            start = min(hold.end, end)
    return [*pieces, (start, end)]


def without_holds(found: Activity, holds: Iterable[HeldTime]) -> None:
    """Keep of the computed time of each call its longest piece without a hold: an agent that is held does not work."""
    for span in found.calls:
        if span.kind != "wait" and span.end is not None:
            pieces = free_pieces(span.start, span.end, span.branch or None, holds)
            span.start, span.end = max(pieces, key=lambda piece: piece[1] - piece[0])


def agent_spans(author: str, branch: str, steps: Sequence[Step], pauses: Sequence[tuple[float, float]]) -> list[Span]:
    """Return a span for each run of an agent. A run ends with the agent or at a pause.

    Args:
        author, branch: the agent.
        steps: its steps.
        pauses: starts and ends of long periods without activity, in order, epoch seconds.
    """
    runs: list[Span] = []
    goes_on = False
    number = 0  # of the first pause that has not ended by the step's end
    for step in steps:
        while number < len(pauses) and pauses[number][1] <= step.end:
            number += 1
        pause = pauses[number - 1] if number else None
        start = step.start if pause is None else max(step.start, pause[1])
        run = runs[-1] if goes_on else None
        if run is not None and run.end is not None and (pause is None or run.end > pause[0]):
            run.end, run.last = step.end, step.index
        else:
            runs.append(Span("agent", author, author, start, step.end, step.index, step.index, branch=branch))
        goes_on = not step.ends
    return runs


class _Reading:
    """Events that are being read."""

    def __init__(self) -> None:
        self._found = Activity()
        self._open: dict[str, Span] = {}
        self._latest_at: dict[str, int] = {}  # branch → its latest event
        self._latest_below: dict[str, int] = {}  # branch → the latest event of it and of all branches below

    def add(self, index: int, event: Event) -> None:
        """Add the next event."""
        branch = event.branch or ""
        for response in event.get_function_responses():
            self._close(response.id or "", index, event, failed=failure_of(response) is not None)
        if event.author != "user":
            begin = self._begin(branch, event.timestamp)
            step = Step(index, begin, event.timestamp, ends=bool(event.actions.end_of_agent))
            self._found.steps.setdefault((event.author, branch), []).append(step)
            if _is_from_model(event):
                self._add_model_call(index, event, branch, begin)
            for call in event.get_function_calls():
                waits = call.name in ASKING_CALLS or (call.id or "") in (event.long_running_tool_ids or ())
                name = _ASKS.get(call.name or "", call.name or "?")
                span = Span("wait" if waits else "tool", event.author, name, event.timestamp, None, index, index, branch=branch)
                span.call_id, span.invocation_id = call.id, event.invocation_id
                self._open[call.id or f"{index} {call.name}"] = span
                self._found.calls.append(span)
        self._note(branch, event.timestamp)

    def result(self) -> Activity:
        """Return what the events so far contain."""
        for span in self._open.values():
            span.label = "waits" if span.kind == "wait" else "open"
        return self._found

    def _add_model_call(self, index: int, event: Event, branch: str, begin: float) -> None:
        usage = event.usage_metadata
        tokens = f"{usage.total_token_count:,} tokens" if usage and usage.total_token_count else ""
        failed = bool(event.error_code or event.error_message)
        span = Span("model", event.author, MODEL, begin, event.timestamp, index, index, tokens or kind_of(event), failed, branch)
        span.event_id, span.invocation_id = event.id, event.invocation_id
        self._found.calls.append(span)

    def _begin(self, branch: str, time: float) -> float:
        """Return the time of the preceding event, ignoring parallel branches: the assumed start of what this event ended."""
        latest = max(self._latest_below.get(branch, -1), *(self._latest_at.get(above, -1) for above in _with_parents(branch)))
        return min(self._found.times[latest], time) if latest >= 0 else time

    def _note(self, branch: str, time: float) -> None:
        place = len(self._found.times)
        self._found.times.append(time)
        self._latest_at[branch] = place
        for above in _with_parents(branch):
            self._latest_below[above] = place

    def _close(self, call_id: str, index: int, event: Event, *, failed: bool) -> None:
        span = self._open.get(call_id)
        if span is None or (span.kind == "wait" and event.author != "user" and not failed):
            return  # a long-running tool's own response reports only that it started; the user's response ends it
        del self._open[call_id]
        span.end, span.last, span.failed = event.timestamp, index, failed


def _with_parents(branch: str) -> list[str]:
    """Return a branch and those above it, up to the empty one."""
    names = branch.split(".", _DEEPEST) if branch else []
    return [".".join(names[:count]) for count in range(len(names) + 1)]


def _is_from_model(event: Event) -> bool:
    if event.get_function_responses() or not (event.content and event.content.parts):
        return bool(event.error_code)
    return event.content.role == "model" or event.usage_metadata is not None
