"""Conversion of requests to the chat format."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel

from runtime.errors import LlmError
from runtime.models.chat_request import chat_request
from runtime.models.llm_request import LlmRequest
from runtime.tools import FunctionTool


def content(role: str, *parts: Any) -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=part) if isinstance(part, str) else part for part in parts])


def called(name: str, call_id: str | None = None, **args: Any) -> types.Part:
    return types.Part(function_call=types.FunctionCall(id=call_id, name=name, args=args))


def returned(name: str, result: Any, call_id: str | None = None) -> types.Part:
    return types.Part(function_response=types.FunctionResponse(id=call_id, name=name, response={"result": result}))


def messages(*contents: types.Content, **config: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = chat_request(LlmRequest(contents=list(contents), config=types.GenerateContentConfig(**config)))[
        "messages"
    ]
    return found


def test_roles_of_messages() -> None:
    said = messages(content("user", "a", "b"), content("model", types.Part(text="hm", thought=True), "c"), system_instruction="be brief")
    assert said == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "a\nb"},
        {"role": "assistant", "content": "c"},
    ]


def test_calls_and_results_are_paired_by_id() -> None:
    said = messages(content("model", "x", called("f", "1", a="ä")), content("user", returned("f", 2, "1")))
    assert said[0]["tool_calls"] == [{"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": "ä"}'}}]
    assert said[1] == {"role": "tool", "tool_call_id": "1", "content": '{"result": 2}'}


def test_calls_without_an_id_are_paired_by_name_and_order() -> None:
    said = messages(
        content("model", called("f"), called("g"), called("f")),
        content("user", returned("f", 1), returned("f", 2), returned("g", 3)),
        content("model", called("f")),
        content("user", returned("f", 4)),
    )
    ids = {call["id"]: (call["function"]["name"], number) for number, call in enumerate(said[0]["tool_calls"] + said[4]["tool_calls"])}
    assert len(ids) == 4
    assert [ids[one["tool_call_id"]] for one in said if one["role"] == "tool"] == [("f", 0), ("f", 2), ("g", 1), ("f", 3)]


def test_a_result_without_a_call_is_rejected() -> None:
    with pytest.raises(LlmError, match="without its call"):
        messages(content("user", returned("f", 1)))


def test_images_and_files() -> None:
    picture = types.Part.from_bytes(data=b"1", mime_type="image/png")
    pdf = types.Part.from_bytes(data=b"2", mime_type="application/pdf")
    linked = types.Part.from_uri(file_uri="https://x/y.png", mime_type="image/png")
    (said,) = messages(content("user", "see", picture, pdf, linked))
    assert said["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,MQ=="}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,Mg=="}},
        {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
    ]


def test_an_unsupported_part_is_rejected() -> None:
    with pytest.raises(LlmError, match="executable_code"):
        messages(content("user", types.Part(executable_code=types.ExecutableCode(code="1", language=types.Language.PYTHON))))


class Color(Enum):
    RED = "red"


class Item(BaseModel):
    name: str
    color: Color | None = None


def test_tools_become_json_schema() -> None:
    def order(items: list[Item], count: int = 1) -> None:
        """Order."""

    request = LlmRequest()
    request.append_tools([FunctionTool(order), FunctionTool(test_roles_of_messages)])
    first, second = chat_request(request)["tools"]
    assert first["function"]["name"] == "order" and first["function"]["description"] == "Order."
    parameters = first["function"]["parameters"]
    assert parameters["type"] == "object" and parameters["required"] == ["items"]
    assert parameters["properties"]["count"] == {"type": "integer", "default": 1}
    item = parameters["properties"]["items"]["items"]
    assert item["properties"]["name"]["type"] == "string"
    assert item["properties"]["color"]["enum"] == ["red"] and item["properties"]["color"]["type"] == ["string", "null"]
    assert second["function"]["parameters"] == {"type": "object", "properties": {}}


def test_sampling_settings() -> None:
    config = types.GenerateContentConfig(temperature=0.5, max_output_tokens=7, stop_sequences=["x"], seed=1)
    asked = chat_request(LlmRequest(config=config))
    assert asked == {"messages": [], "temperature": 0.5, "max_tokens": 7, "stop": ["x"], "seed": 1}


@pytest.mark.parametrize("schema", [Item, Item.model_json_schema()])
def test_the_output_schema_becomes_the_response_format(schema: Any) -> None:
    request = LlmRequest()
    request.set_output_schema(schema)
    form = chat_request(request)["response_format"]
    assert form == {"type": "json_schema", "json_schema": {"name": "answer", "schema": Item.model_json_schema()}}


def test_tools_other_than_functions_are_rejected() -> None:
    with pytest.raises(LlmError, match="Only functions"):
        chat_request(LlmRequest(config=types.GenerateContentConfig(tools=[types.Tool(google_search=types.GoogleSearch())])))
