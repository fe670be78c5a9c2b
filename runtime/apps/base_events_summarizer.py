"""The base class of event summarizers."""

from __future__ import annotations

import abc
from collections.abc import Sequence

from google.genai import types

from runtime.events.event import Event
from runtime.events.event_actions import EventActions, EventCompaction
from runtime.support.ids import new_invocation_id


class BaseEventsSummarizer(abc.ABC):
    """Summarises events; models then receive the summary instead."""

    @abc.abstractmethod
    async def maybe_summarize_events(self, *, events: list[Event]) -> Event | None:
        """Summarise events.

        Args:
            events: the events, in order; the first may itself be a summary.

        Returns:
            An event that replaces them (see `summary_event`), or None to keep them.
        """


def summary_event(events: Sequence[Event], summary: types.Content) -> Event:
    """Return the event that replaces other events in requests to models.

    Args:
        events: the covered events; a summary among them extends the span to all that it covers.
        summary: the content that models receive instead.
    """
    spans = [event.actions.compaction for event in events]
    compaction = EventCompaction(
        start_timestamp=min(span.start_timestamp if span else event.timestamp for span, event in zip(spans, events, strict=True)),
        end_timestamp=max(span.end_timestamp if span else event.timestamp for span, event in zip(spans, events, strict=True)),
        compacted_content=summary.model_copy(update={"role": "model"}),
    )
    return Event(author="user", invocation_id=new_invocation_id(), actions=EventActions(compaction=compaction))
