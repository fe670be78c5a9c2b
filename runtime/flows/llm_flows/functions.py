"""google-adk's import path of the names of its request calls, and of what events say of calls."""

from __future__ import annotations

from collections.abc import Sequence

from runtime.events.event import Event
from runtime.events.marks import CONFIRMATION_CALL, CREDENTIAL_CALL, INPUT_CALL
from runtime.flows.function_calls import merged_results as merge_parallel_function_response_events
from runtime.support.ids import new_function_call_id as generate_client_function_call_id

AF_FUNCTION_CALL_ID_PREFIX = "adk-"
REQUEST_CONFIRMATION_FUNCTION_CALL_NAME = CONFIRMATION_CALL
REQUEST_EUC_FUNCTION_CALL_NAME = CREDENTIAL_CALL
REQUEST_INPUT_FUNCTION_CALL_NAME = INPUT_CALL

__all__ = [
    "AF_FUNCTION_CALL_ID_PREFIX",
    "REQUEST_CONFIRMATION_FUNCTION_CALL_NAME",
    "REQUEST_EUC_FUNCTION_CALL_NAME",
    "REQUEST_INPUT_FUNCTION_CALL_NAME",
    "find_matching_function_call",
    "generate_client_function_call_id",
    "merge_parallel_function_response_events",
]


def find_matching_function_call(events: Sequence[Event]) -> Event | None:
    """Return the event with the call that the last event answers first; None if it answers none of them.

    Args:
        events: in commit order.
    """
    responses = events[-1].get_function_responses() if events else []
    if not responses:
        return None
    answered = responses[0].id
    return next((event for event in reversed(events[:-1]) if any(call.id == answered for call in event.get_function_calls())), None)
