"""Gemma 3, which knows neither system instructions nor function calls: both are texts of the conversation."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

from google.genai import types

from runtime.models.gemini import Gemini
from runtime.models.lite_llm import LiteLlm
from runtime.models.llm_request import LlmRequest
from runtime.models.llm_response import LlmResponse


class Gemma(Gemini):
    """Gemma 3 through the Gemini API. Its function calls are JSON objects in its answers.

    Attributes:
        model: the model's name.
    """

    model: str = "gemma-3-27b-it"

    @classmethod
    def supported_models(cls) -> list[str]:
        """Return a pattern for Gemma's names; Gemma 4 is served as Gemini is."""
        return [r"gemma-(?!4).*"]

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        """Call Gemma; see `Gemini.generate_content_async`."""
        request = with_functions_as_text(llm_request)
        if instruction := request.config.system_instruction:
            first = types.Content(role="user", parts=[types.Part(text=str(instruction))])
            request.contents = [first, *request.contents]
            request.config = request.config.model_copy(update={"system_instruction": None})
        async with aclosing(super().generate_content_async(request, stream)) as responses:
            async for response in responses:
                yield with_function_call(response)


class Gemma3Ollama(LiteLlm):
    """Gemma 3 on a local Ollama server.

    Attributes:
        model: the model's name, with `ollama/`.
    """

    model: str = "ollama/gemma3:12b"

    def __init__(self, model: str = "ollama/gemma3:12b", **more: Any) -> None:
        super().__init__(model, **more)

    @classmethod
    def supported_models(cls) -> list[str]:
        """Return a pattern for Ollama's names of Gemma 3."""
        return [r"ollama/gemma3.*"]

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        """Call Gemma; see `LiteLlm.generate_content_async`."""
        async with aclosing(super().generate_content_async(with_functions_as_text(llm_request), stream)) as responses:
            async for response in responses:
                yield with_function_call(response)


def with_functions_as_text(request: LlmRequest) -> LlmRequest:
    """Return a request in which declarations, calls and results of functions are texts; the given one is not changed."""
    request = request.model_copy()
    request.contents = [_as_text(content) for content in request.contents]
    tools = [tool for tool in request.config.tools or [] if isinstance(tool, types.Tool)]
    request.config = request.config.model_copy(update={"tools": None})
    declared = [one for tool in tools for one in tool.function_declarations or []]
    if declared:
        functions = ",\n".join(one.model_dump_json(exclude_none=True) for one in declared)
        request.append_instructions(
            [
                f"You can call these functions:\n[{functions}\n]\n"
                "To call one, answer with this JSON object and nothing else:"
                ' {"name": the function, "parameters": an object with its arguments}'
            ]
        )
    return request


def with_function_call(response: LlmResponse) -> LlmResponse:
    """Return a complete response with the function call that its text is; any other response as it is."""
    parts = (response.content.parts if response.content else None) or []
    if response.partial or len(parts) != 1 or not parts[0].text:
        return response
    call = next((call for found in _objects(parts[0].text) if (call := _call(found))), None)
    if call is None:
        return response
    return response.model_copy(update={"content": types.Content(role="model", parts=[types.Part(function_call=call)])})


def _as_text(content: types.Content) -> types.Content:
    parts = content.parts or []
    if not any(part.function_call or part.function_response for part in parts):
        return content
    texts = []
    for part in parts:
        if response := part.function_response:
            result = json.dumps(response.response, ensure_ascii=False, default=str)
            texts.append(types.Part(text=f"The function `{response.name}` returned: `{result}`."))
        elif call := part.function_call:
            texts.append(types.Part(text=json.dumps({"name": call.name, "parameters": call.args or {}}, ensure_ascii=False, default=str)))
        else:
            texts.append(part)
    return types.Content(role=content.role, parts=texts)


def _objects(text: str) -> Iterator[Any]:
    """Yield the JSON objects in a text, the last one first."""
    decoder, found, start = json.JSONDecoder(), [], text.find("{")
    while start >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except ValueError:
            end = start + 1
        else:
            found.append(value)
        start = text.find("{", end)
    yield from reversed(found)


def _call(found: Any) -> types.FunctionCall | None:
    name = found.get("name") or found.get("function")
    args = found.get("parameters", found.get("args"))
    return types.FunctionCall(name=name, args=args) if isinstance(name, str) and isinstance(args, dict) else None
