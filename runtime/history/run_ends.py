"""How a run ended, as far as the events of its invocation do not tell."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from runtime.history.invocations import confirmed_calls, read_invocation
from runtime.sessions.recorded_end import RecordedEnd
from runtime.support.texts import error_text

if TYPE_CHECKING:
    from runtime.events.event import Event

_LONGEST_REASON = 200  # characters


def end_of(
    events: list[Event], error: Exception | None, known: RecordedEnd | None = None, *, is_stopped: bool = False
) -> RecordedEnd | None:
    """Return how a run ended; None if its events tell.

    Args:
        events: those of its invocation, at least one.
        error: what the run raised; None if it ended normally.
        known: what was recorded of the invocation before.
        is_stopped: whether a person stopped it.
    """
    answered = {response.id for event in events if event.author == "user" for response in event.get_function_responses()}
    found = read_invocation(events, is_rewound=False, answered=answered)
    if found.status == "paused":
        return None
    if is_stopped:
        return RecordedEnd("stopped", "by a person", events[-1].id, time.time())
    if error is not None:
        text = " ".join(error_text(error).split())
        return RecordedEnd("failed", text[:_LONGEST_REASON], events[-1].id, time.time())
    if found.status == "finished":
        return RecordedEnd("finished", found.reason, events[-1].id, time.time()) if known else None
    is_unseen = events[-1].author == "user" and bool(events[-1].get_function_responses())
    if found.checkpoint or events[-1].error_code or is_unseen or confirmed_calls(events):
        return None  # what a person answered has had no effect: the invocation can be resumed
    return RecordedEnd("finished", "the agent ended", events[-1].id, time.time())
