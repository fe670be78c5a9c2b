"""Replacement of events by summaries."""

from __future__ import annotations

from collections.abc import Sequence

from google.genai import types

from runtime.events.event import Event
from runtime.events.event_actions import EventCompaction

HEADING = "A summary of what was said before:"  # the first part of a summary's message


def with_summaries(events: Sequence[Event], invocation_id: str | None = None) -> list[Event]:
    """Replace the events covered by summaries; each summary becomes a message in the user role.

    A covered call whose result came after the summary precedes that result, with the results of the calls beside it: models refuse a
    result alone.

    Args:
        events: the events in commit order, without rewound ones.
        invocation_id: a resumed invocation; its events stay.
    """
    summaries = [(index, event.actions.compaction) for index, event in enumerate(events) if event.actions.compaction]
    told: dict[int, list[Event]] = {}  # index → the summaries inserted there
    hidden: set[int] = set()
    for index, summary in summaries:
        covered = [
            earlier
            for earlier, event in enumerate(events[:index])
            if not event.actions.compaction
            and summary.start_timestamp <= event.timestamp <= summary.end_timestamp
            and (invocation_id is None or event.invocation_id != invocation_id)
        ]
        hidden.update(covered)
        if not any(later > index and _covers(other, summary) for later, other in summaries):
            told.setdefault(covered[0] if covered else index, []).append(_told(events[index], summary))
    shown: list[Event] = []
    for index, event in enumerate(events):
        shown.extend(told.get(index, ()))
        if index not in hidden and not event.actions.compaction:
            shown.extend(_callers(events, hidden, event))
            shown.append(event)
    return shown


def _callers(events: Sequence[Event], hidden: set[int], result: Event) -> list[Event]:
    """Return the hidden events with the calls of a result and the other results of those events' calls; they are hidden no longer."""
    answered = {response.id for response in result.get_function_responses()}
    if not answered or not hidden:
        return []
    callers = {index for index in hidden if any(call.id in answered for call in events[index].get_function_calls())}
    beside = {call.id for index in callers for call in events[index].get_function_calls()} - answered
    callers |= {index for index in hidden if any(response.id in beside for response in events[index].get_function_responses())}
    hidden -= callers
    return [events[index] for index in sorted(callers)]


def _covers(span: EventCompaction, other: EventCompaction) -> bool:
    return span.start_timestamp <= other.start_timestamp and other.end_timestamp <= span.end_timestamp


def _told(event: Event, span: EventCompaction) -> Event:
    parts = [types.Part(text=HEADING), *(span.compacted_content.parts or [])]
    content = types.Content(role="user", parts=parts)
    return Event(author="user", invocation_id=event.invocation_id, id=event.id, timestamp=event.timestamp, content=content)
