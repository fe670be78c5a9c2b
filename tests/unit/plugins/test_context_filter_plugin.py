"""`ContextFilterPlugin`: which part of a conversation is sent."""

from __future__ import annotations

import pytest
from google.genai import types

from runtime.models import LlmRequest
from runtime.plugins.context_filter_plugin import ContextFilterPlugin

CALL = types.Part(function_call=types.FunctionCall(id="c", name="wait", args={}))
RESPONSE = types.Part(function_response=types.FunctionResponse(id="c", name="wait", response={"done": True}))


def said(role: str, part: str | types.Part) -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=part) if isinstance(part, str) else part])


async def sent(plugin: ContextFilterPlugin, contents: list[types.Content]) -> int:
    """Return the number of contents that remain, which are the last ones."""
    request = LlmRequest(contents=list(contents))
    await plugin.before_model_callback(callback_context=None, llm_request=request)  # type: ignore[arg-type]
    assert request.contents == contents[len(contents) - len(request.contents) :]
    return len(request.contents)


async def test_turns_are_left_out_several_at_a_time() -> None:
    plugin = ContextFilterPlugin(num_invocations_to_keep=2, remove_amount=2)
    turns = [said(role, str(turn)) for turn in range(5) for role in ("user", "model")]
    assert [await sent(plugin, turns[: 2 * count]) for count in range(1, 6)] == [2, 4, 6, 4, 4]
    with pytest.raises(ValueError, match="remove_amount"):
        ContextFilterPlugin(num_invocations_to_keep=2, remove_amount=0)


async def test_a_response_is_sent_with_its_call() -> None:
    plugin = ContextFilterPlugin(num_invocations_to_keep=1)
    answered_later = [said("user", "1"), said("model", "x"), said("model", CALL), said("user", "2"), said("user", RESPONSE)]
    assert await sent(plugin, answered_later) == 3
    assert await sent(plugin, [*answered_later, said("user", "3")]) == 1
