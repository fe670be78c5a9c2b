"""Keys of our own in an event's `custom_metadata`."""

from __future__ import annotations

from runtime.events.event import Event

EDITED = "inspector_edited"
"""What a person changed by hand: see `runtime.debugger.interception` and `runtime.running.system_events`."""

CANCELLED = "inspector_cancelled"
"""Ids of the function calls whose response only says that the run was stopped."""

PROGRESS = "inspector_progress"
"""Ids of the long-running calls whose response only tells how far they are: they stay open."""

REPLAYED = "inspector_replayed"
"""Set on an event of a run made again that no model was called and no tool was run for: the id of the recorded event it repeats."""

SYSTEM = "system"
"""Author of what a person does to a session by hand."""


def is_state_edit(event: Event) -> bool:
    """Return whether an event is an edit of the state by hand, or the undoing of one."""
    edited = (event.custom_metadata or {}).get(EDITED)
    return event.author == SYSTEM and isinstance(edited, dict) and isinstance(edited.get("state"), dict)


def is_progress(event: Event) -> bool:
    """Return whether an event only tells how far a long-running call is."""
    return PROGRESS in (event.custom_metadata or {})


RESUMED = "inspector_resumed"
"""Set on the first event that a resumed run commits: what the interrupted run had in `temp:` is gone from there on."""

CALLBACK = "inspector_callback"
"""Which of its agent's own callbacks an event carries the words or changes of (resumable apps): a resumed run does not call it again."""

TEMP_GONE = "inspector_temp_gone"
"""Stands among an event's recorded `temp:` keys where the event carries `RESUMED`."""


def begins_resumed_run(event: Event) -> bool:
    """Return whether the event is the first that a resumed run committed."""
    return bool((event.custom_metadata or {}).get(RESUMED))


REPLAYED_CHECKPOINT = "inspector_replayed_checkpoint"
"""Mark in an event's custom_metadata: a resumed custom agent yielded, before any other work, a checkpoint that was committed already.

It walked past steps that are done, so the checkpoint must not move it back when the run is resumed once more."""


def is_replayed_checkpoint(event: Event) -> bool:
    """Return whether the event is a checkpoint that a resumed agent walked past again."""
    return bool(event.custom_metadata and event.custom_metadata.get(REPLAYED_CHECKPOINT))
