"""Who sums up old events."""

from __future__ import annotations

import abc
from collections.abc import Sequence

from google.genai import types

from runtime.events.event import Event
from runtime.events.event_actions import EventActions, EventCompaction
from runtime.support.ids import new_invocation_id


class BaseEventsSummarizer(abc.ABC):
    """Sums up events, so that models need not read them again."""

    @abc.abstractmethod
    async def maybe_summarize_events(self, *, events: list[Event]) -> Event | None:
        """Sum up.

        Args:
            events: what to sum up, in order; the first may itself be a summary.

        Returns:
            The event that stands in for them (`summary_event` makes one), or None: leave them as they are.
        """


def summary_event(events: Sequence[Event], summary: types.Content) -> Event:
    """Return the event that stands in for others (SEMANTICS.md 8).

    Args:
        events: what the summary covers; a summary among them counts for all that it covers.
        summary: what models read in their place.
    """
    spans = [event.actions.compaction for event in events]
    compaction = EventCompaction(
        start_timestamp=min(span.start_timestamp if span else event.timestamp for span, event in zip(spans, events, strict=True)),
        end_timestamp=max(span.end_timestamp if span else event.timestamp for span, event in zip(spans, events, strict=True)),
        compacted_content=summary.model_copy(update={"role": "model"}),
    )
    return Event(author="user", invocation_id=new_invocation_id(), actions=EventActions(compaction=compaction))
