"""Events and what they do."""

from runtime.events.event import Event
from runtime.events.event_actions import EventActions, EventCompaction

__all__ = ["Event", "EventActions", "EventCompaction"]
