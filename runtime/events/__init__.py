"""Events and their actions.

They are imported on first use: google-genai's types, which they are made of, take longer to load than most databases to read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.events.event import Event
    from runtime.events.event_actions import EventActions, EventCompaction
    from runtime.events.request_input import RequestInput

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "runtime.events.event": "Event",
        "runtime.events.event_actions": "EventActions EventCompaction",
        "runtime.events.request_input": "RequestInput",
    },
)
