"""Which events are an agent's answer to show to the user."""

from __future__ import annotations

from typing import Any


def is_final_response(event: Any) -> bool:
    """Return whether an event is an agent's answer to show to the user.

    Follows google-adk, except that escalations, and events that carry actions without content, are not final.

    Args:
        event: an `Event` or a `PlainEvent`.
    """
    actions = event.actions
    if actions.escalate or (not (event.content and event.content.parts) and _acts(actions)):
        return False
    if actions.skip_summarization or event.long_running_tool_ids:
        return True
    if event.partial or event.get_function_calls():
        return False
    return bool(event.error_code) or not (event.get_function_responses() or event.has_trailing_code_execution_result())


def _acts(actions: Any) -> bool:
    """Return whether an event changes state or files, or moves an agent on."""
    if actions.state_delta or actions.artifact_delta or actions.transfer_to_agent or actions.end_of_agent:
        return True
    return actions.agent_state is not None


def says_something(content: Any) -> bool:
    """Return whether there is more in a content than thoughts and blank text.

    Args:
        content: a `types.Content`, also one of a plain event; None is empty.
    """
    parts = (content.parts if content is not None else None) or ()
    return any(not part.thought and (part.text is None or bool(part.text.strip())) for part in parts)
