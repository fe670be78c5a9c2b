"""Claude, against a local server with Anthropic's protocol."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from runtime.errors import LlmError
from runtime.models import AnthropicLlm, Claude, LiteLlm
from runtime.models.lite_llm import LiteLLMClient
from runtime.models.llm_request import LlmRequest
from tests.gemini_server import Answer, gemini_server

PROMPT = LlmRequest(contents=[types.Content(role="user", parts=[types.Part(text="Hello?")])])
MESSAGE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-20250514",
    "content": [{"type": "text", "text": "Hi."}, {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": "x"}}],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 3, "output_tokens": 2},
}

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*using the `ReadOnly` qualifier:UserWarning", "ignore:Accessing the .model_:DeprecationWarning"),
    pytest.mark.logs("LiteLLM: "),
]


async def test_claude_answers_through_anthropics_api() -> None:
    with gemini_server(Answer([MESSAGE])) as server:
        llm = AnthropicLlm(max_tokens=100, api_base=server.url, api_key="k")
        (answer,) = [one async for one in llm.generate_content_async(PROMPT)]
        (sent,) = server.requests

    assert (sent.path, sent.body["model"], sent.body["max_tokens"]) == ("/v1/messages", "claude-sonnet-4-20250514", 100)
    assert answer.content and answer.content.parts
    assert answer.content.parts[0].text == "Hi."
    call = answer.content.parts[1].function_call
    assert call and (call.id, call.name, call.args) == ("t1", "look", {"at": "x"})


async def test_claude_on_vertex_ai_needs_a_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT", raising=False)
    with pytest.raises(LlmError, match="GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION must be set"):
        _ = [one async for one in Claude().generate_content_async(PROMPT)]


async def test_claude_on_vertex_ai_is_asked_for_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "l")
    seen: dict[str, Any] = {}

    class Client(LiteLLMClient):
        async def acompletion(self, model: str, messages: list[Any], tools: list[Any] | None, **kwargs: Any) -> Any:
            seen.update(kwargs, model=model, tools=tools, messages=messages)
            raise LlmError("enough")

    with pytest.raises(LlmError, match="enough"):
        _ = [one async for one in Claude(llm_client=Client()).generate_content_async(PROMPT)]

    assert (seen["model"], seen["vertex_project"], seen["vertex_location"]) == ("vertex_ai/claude-3-5-sonnet-v2@20241022", "p", "l")
    assert seen["messages"] == [{"role": "user", "content": "Hello?"}] and seen["tools"] is None and seen["max_tokens"] == 8192


def test_the_client_is_google_adks() -> None:
    client = LiteLLMClient()
    assert LiteLlm("openai/m", llm_client=client).llm_client is client
