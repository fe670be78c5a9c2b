"""The texts of an event that can be searched: its author, and the texts, names and numbers of what is shown of it, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

DEEPEST = 60  # levels of JSON

# Names that occur in every event and are therefore not indexed.
STRUCTURE = frozenset(
    {
        "author",
        "content",
        "actions",
        "error_message",
        "errorMessage",
        "parts",
        "role",
        "text",
        "thought",
        "id",
        "name",
        "args",
        "response",
        "function_call",
        "functionCall",
        "function_response",
        "functionResponse",
        "state_delta",
        "stateDelta",
        "artifact_delta",
        "artifactDelta",
        "requested_auth_configs",
        "requestedAuthConfigs",
        "requested_tool_confirmations",
        "requestedToolConfirmations",
    }
)
SEARCHED = (
    "author",
    "content",
    "actions",
    "error_message",
    "errorMessage",
    "error_code",
    "errorCode",
    "output",
    "input_transcription",
    "inputTranscription",
    "output_transcription",
    "outputTranscription",
    "grounding_metadata",
    "groundingMetadata",
    "citation_metadata",
    "citationMetadata",
    "custom_metadata",
    "customMetadata",
)


def searched_texts(event: Mapping[str, Any]) -> list[str]:
    """Return the texts of an event's JSON."""
    found: list[str] = []
    for name in SEARCHED:
        if value := event.get(name):
            _gather(value, 0, found.append)
    return found


def _gather(value: Any, depth: int, add: Callable[[str], object]) -> None:
    """Add the texts, names and numbers in a value, in order. Texts and empty objects, which are most values, take no call of their own."""
    kind = type(value)
    if kind is dict and depth < DEEPEST:
        depth += 1
        for name, item in value.items():
            if name not in STRUCTURE:
                add(name)
            if type(item) is str:
                add(item)
            elif item:
                _gather(item, depth, add)
            elif item == 0 and type(item) is not bool:
                add(str(item))
    elif kind is list and depth < DEEPEST:
        depth += 1
        for item in value:
            if item or item == 0:
                _gather(item, depth, add)
    elif kind is str:
        add(value)
    elif kind is int or kind is float:
        add(str(value))
