"""Gemma, against a local server with Gemini's protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.genai import types

from runtime.models import Gemma
from runtime.models.gemma_llm import with_function_call
from runtime.models.llm_request import LlmRequest
from runtime.models.llm_response import LlmResponse
from runtime.tools import FunctionTool
from tests.gemini_server import Answer, chunk, gemini_server


def weather(city: str) -> str:
    """Return the weather."""
    return f"rain in {city}"


def asked() -> LlmRequest:
    call = types.FunctionCall(name="weather", args={"city": "Oslo"})
    response = types.FunctionResponse(name="weather", response={"result": "rain"})
    request = LlmRequest(
        contents=[
            types.Content(role="user", parts=[types.Part(text="Weather?")]),
            types.Content(role="model", parts=[types.Part(function_call=call)]),
            types.Content(role="user", parts=[types.Part(function_response=response)]),
        ],
        config=types.GenerateContentConfig(system_instruction="Be short."),
    )
    request.append_tools([FunctionTool(weather)])
    return request


async def test_functions_and_instructions_are_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "k")
    request = asked()
    before = request.model_dump_json(exclude={"tools_dict"})
    with gemini_server(Answer([chunk({"text": "It rains."}, finish="STOP")])) as server:
        (answer,) = [one async for one in Gemma(base_url=server.url).generate_content_async(request)]
        (sent,) = server.requests

    assert answer.content and answer.content.parts and answer.content.parts[0].text == "It rains."
    texts = [part["text"] for content in sent.body["contents"] for part in content["parts"]]
    assert texts[0].startswith("Be short.") and '"weather"' in texts[0] and "You can call these functions" in texts[0]
    assert texts[1] == "Weather?"
    assert json.loads(texts[2]) == {"name": "weather", "parameters": {"city": "Oslo"}}
    assert texts[3] == 'The function `weather` returned: `{"result": "rain"}`.'
    assert "tools" not in sent.body and "systemInstruction" not in sent.body and "gemma-3-27b-it" in sent.path
    assert request.model_dump_json(exclude={"tools_dict"}) == before


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ('{"name": "weather", "parameters": {"city": "Oslo"}}', ("weather", {"city": "Oslo"})),
        ('```json\n{"function": "weather", "args": {}}\n```', ("weather", {})),
        ('I call {"x": 1} and {"name": "weather", "parameters": {"a": "}"}} now.', ("weather", {"a": "}"})),
        ('{"name": "weather"}', None),
        ("{broken", None),
        ("It rains.", None),
    ],
)
def test_a_text_can_be_a_call(text: str, call: tuple[str, dict[str, Any]] | None) -> None:
    response = LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))
    found = with_function_call(response)
    part = found.content.parts[0]  # type: ignore[union-attr, index]
    assert (part.function_call and (part.function_call.name, part.function_call.args)) == call
    assert call is not None or found is response


def test_a_piece_of_an_answer_is_no_call() -> None:
    text = types.Part(text='{"name": "a", "parameters": {}}')
    piece = LlmResponse(content=types.Content(role="model", parts=[text]), partial=True)
    assert with_function_call(piece) is piece
