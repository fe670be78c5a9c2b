"""Summaries in place of old events: when to make one, and what models then read (SEMANTICS.md 8).

Nothing is deleted. A summary is an event that says which times it covers; what models are sent has it in place of the events of those
times that came before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from google.genai import types

from runtime.events.event import Event
from runtime.events.event_actions import EventCompaction
from runtime.history.invocations import invocations
from runtime.running.rewind import without_rewound

if TYPE_CHECKING:
    from runtime.apps.app import EventsCompactionConfig


def with_summaries(events: Sequence[Event]) -> list[Event]:
    """Return the events with what summaries cover left out, and each summary as something the user's side says in its place.

    Args:
        events: in commit order, without what was taken back.
    """
    summaries = [(index, event.actions.compaction) for index, event in enumerate(events) if event.actions.compaction]
    told: dict[int, list[Event]] = {}  # where, and what
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


def events_to_sum_up(config: EventsCompactionConfig, events: Sequence[Event], *, resumable: bool) -> list[Event]:
    """Return the events that are to be summed up now; none if it is not time yet.

    An invocation that waits for an answer, or can be resumed, ends what is summed up: its agents must find their calls as they made them.

    Args:
        config: when to sum up.
        events: the session's, in commit order.
        resumable: interrupted invocations can be resumed.
    """
    present = without_rewound(events)
    open_ones = {"paused", "interrupted"} if resumable else {"paused"}
    first_open = next((one.first_event_id for one in invocations(present) if one.status in open_ones), None)
    end = next((index for index, event in enumerate(present) if event.id == first_open), len(present))
    done = present[:end]
    return _too_many_tokens(config, done) or _window(config, done)


def _window(config: EventsCompactionConfig, events: Sequence[Event]) -> list[Event]:
    """Return the newest invocations, if they are enough, with some that the last summary covers already."""
    if config.compaction_interval is None or config.overlap_size is None:
        return []
    last = _last_summary(events)
    ends: dict[str, float] = {}
    for event in events:
        if not event.actions.compaction:
            ends[event.invocation_id] = max(event.timestamp, ends.get(event.invocation_id, event.timestamp))
    order = list(ends)
    new = [name for name in order if last is None or ends[name] > last.end_timestamp]
    if len(new) < config.compaction_interval:
        return []
    chosen = set(order[max(0, order.index(new[0]) - config.overlap_size) :])
    return [event for event in events if event.invocation_id in chosen]


def _too_many_tokens(config: EventsCompactionConfig, events: Sequence[Event]) -> list[Event]:
    """Return all but the newest events, behind the last summary, if the last prompt was too long."""
    if config.token_threshold is None or config.event_retention_size is None:
        return []
    sizes = [event.usage_metadata.prompt_token_count for event in events if event.usage_metadata]
    if not sizes or (sizes[-1] or 0) < config.token_threshold:
        return []
    shown = [event for event in events if not event.actions.compaction]
    last = _last_summary(events)
    if last is not None:
        shown = [event for event in shown if event.timestamp > last.end_timestamp]
    split = _between_turns(shown, len(shown) - config.event_retention_size)
    if split <= 0:
        return []
    before = [event for event in events if event.actions.compaction is last] if last is not None else []
    return [*before, *shown[:split]]


def _between_turns(events: Sequence[Event], split: int) -> int:
    """Return the last place up to `split` that parts no function call from its response."""
    for index in range(min(split, len(events)), 0, -1):
        called = {call.id for event in events[:index] for call in event.get_function_calls()}
        if not called & {response.id for event in events[index:] for response in event.get_function_responses()}:
            return index
    return 0


def _last_summary(events: Sequence[Event]) -> EventCompaction | None:
    return next((event.actions.compaction for event in reversed(events) if event.actions.compaction), None)
