"""Events that use every field."""

from __future__ import annotations

import json
from typing import Any

from google.genai import types

from runtime.events import Event, EventActions
from runtime.events.tool_confirmation import ToolConfirmation

RICH = [
    Event(author="user", invocation_id="e-1", content=types.UserContent("hello ключ 🙂")),
    Event(
        author="me",
        invocation_id="e-1",
        branch="a.b",
        timestamp=1_700_000_000.123456,
        content=types.Content(
            role="model",
            parts=[
                types.Part(inline_data=types.Blob(data=bytes(range(256)), mime_type="image/png")),
                types.Part(text="thinking", thought=True, thought_signature=b"\xff\xfe\x00"),
                types.Part(function_call=types.FunctionCall(id="c", name="f", args={"a": None, "n": [1.5, True]})),
            ],
        ),
        long_running_tool_ids={"c"},
        usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=3, total_token_count=4),
        custom_metadata={"inspector": {"x": [1]}},
        finish_reason=types.FinishReason.STOP,
        actions=EventActions(
            state_delta={"k": {"deep": [1, {"x": None}]}, "user:lang": "pt", "app:limit": 10**20, "gone": None, "temp:x": 1},
            artifact_delta={"f.txt": 1},
            requested_tool_confirmations={"c": ToolConfirmation(hint="sure?", payload={"n": 1})},
        ),
    ),
    Event(author="me", invocation_id="e-1", timestamp=1_700_000_000.123456, actions=EventActions(agent_state={"step": 2})),
    Event(author="me", invocation_id="e-1", timestamp=1_600_000_000.0, actions=EventActions(end_of_agent=True)),
    Event(author="me", invocation_id="e-2", error_code="429", error_message="slow down"),
]


def dumped(event: Event) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(event.model_dump_json(exclude_none=True))
    return loaded
