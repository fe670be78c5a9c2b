"""Exact times of calls, from recordings. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inspector_app.presentation.spans import MODEL, Activity, HeldTime, Span, activity, without_holds
from runtime.sessions.recorded_facts import RecordedFacts
from runtime.storage.recordings.recorded_call import RecordedModelCall, RecordedToolCall

if TYPE_CHECKING:
    from runtime.events.event import Event


@dataclass(frozen=True, slots=True)
class RecordedCalls:
    """The recorded calls of a session.

    Attributes:
        models: the model calls.
        tools: the tool calls.
        facts: what else is known of the session's events.
    """

    models: Sequence[RecordedModelCall] = ()
    tools: Sequence[RecordedToolCall] = ()
    facts: RecordedFacts = field(default_factory=RecordedFacts)


def activity_of(events: Sequence[Event], first: int, recorded: RecordedCalls, holds: Sequence[HeldTime]) -> Activity:
    """Return what happened in some events, at the times that were recorded, or computed without the holds.

    Args:
        events: neighbouring events of one session, in commit order.
        first: position of the first one in its session.
        recorded: the calls of the session.
        holds: the holds of the session.
    """
    found = activity(events, first)
    without_holds(found, holds)
    return with_recorded_times(found, recorded, {event.invocation_id for event in events})


def with_recorded_times(found: Activity, recorded: RecordedCalls, invocations: Iterable[str]) -> Activity:
    """Replace the times of calls by those recorded, and add the recorded calls that no event reports, such as failed ones.

    Args:
        found: what events report; changed.
        recorded: the calls of the session.
        invocations: the invocations that are displayed.
    """
    wanted = set(invocations)
    models = {span.event_id: span for span in found.calls if span.kind == "model"}
    tools: dict[tuple[str, str | None], Span] = {(span.invocation_id, span.call_id): span for span in found.calls if span.call_id}
    for call in recorded.models:
        if call.invocation_id in wanted and call.ended is not None:
            span = models.get(call.event_id) if call.event_id else None
            if span is None:
                span = Span("model", call.agent, MODEL, 0.0, None, branch=call.branch or "", invocation_id=call.invocation_id)
                span.label = "no answer" if call.error is None else ""
                found.calls.append(span)
            span.start, span.end, span.exact = call.started, call.started + call.ended, True
            span.first = call.started + call.first if call.first is not None else None
            span.failed = span.failed or call.error is not None
    for tool in recorded.tools:
        if tool.invocation_id in wanted and tool.ended is not None:
            _set_tool_times(found, tools.get((tool.invocation_id, tool.call_id)), tool, tool.ended)
    return found


def _set_tool_times(found: Activity, span: Span | None, call: RecordedToolCall, seconds: float) -> None:
    if span is None:
        span = Span("tool", call.agent, call.tool, 0.0, None, branch=call.branch or "", call_id=call.call_id)
        span.invocation_id = call.invocation_id
        found.calls.append(span)
    if span.kind == "wait":
        return  # the tool's own call only began the wait
    span.start, span.end, span.exact = call.started, call.started + seconds, True
    span.label = "" if span.label == "open" else span.label
    span.failed = span.failed or call.error is not None
