"""Events and their actions."""

from runtime.events.event import Event
from runtime.events.event_actions import EventActions, EventCompaction

__all__ = ["Event", "EventActions", "EventCompaction"]
