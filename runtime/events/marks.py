"""Keys of our own in an event's `custom_metadata`."""

from __future__ import annotations

EDITED = "inspector_edited"
"""What a person changed by hand: see `runtime.debugger.interception` and `runtime.system_events`."""

CANCELLED = "inspector_cancelled"
"""Ids of the function calls whose response only says that the run was stopped."""
