"""Replacement of events by summaries."""

from __future__ import annotations

from collections.abc import Sequence

from google.genai import types

from runtime.events.event import Event
from runtime.events.event_actions import EventCompaction


def with_summaries(events: Sequence[Event]) -> list[Event]:
    """Replace the events covered by summaries; each summary becomes a message in the user role.

    Args:
        events: the events in commit order, without rewound ones.
    """
    summaries = [(index, event.actions.compaction) for index, event in enumerate(events) if event.actions.compaction]
    told: dict[int, list[Event]] = {}  # index → the summaries inserted there
    hidden: set[int] = set()
    for index, summary in summaries:
        covered = [
            earlier
            for earlier, event in enumerate(events[:index])
            if not event.actions.compaction and summary.start_timestamp <= event.timestamp <= summary.end_timestamp
        ]
        hidden.update(covered)
        if not any(later > index and _covers(other, summary) for later, other in summaries):
            told.setdefault(covered[0] if covered else index, []).append(_told(events[index], summary))
    shown: list[Event] = []
    for index, event in enumerate(events):
        shown.extend(told.get(index, ()))
        if index not in hidden and not event.actions.compaction:
            shown.append(event)
    return shown


def _covers(span: EventCompaction, other: EventCompaction) -> bool:
    return span.start_timestamp <= other.start_timestamp and other.end_timestamp <= span.end_timestamp


def _told(event: Event, span: EventCompaction) -> Event:
    parts = [types.Part(text="A summary of what was said before:"), *(span.compacted_content.parts or [])]
    content = types.Content(role="user", parts=parts)
    return Event(author="user", invocation_id=event.invocation_id, id=event.id, timestamp=event.timestamp, content=content)
