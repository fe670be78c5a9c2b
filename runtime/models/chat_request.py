"""Conversion of `LlmRequest` to OpenAI's chat format, which most providers accept."""

from __future__ import annotations

import base64
import inspect
import json
from collections.abc import Iterable
from typing import Any

from google.genai import types
from pydantic import BaseModel, TypeAdapter

from runtime.errors.llm_error import LlmError
from runtime.models.llm_request import LlmRequest
from runtime.support.json_schema import json_schema, parameters_schema

_PARAMETERS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "max_output_tokens": "max_tokens",
    "stop_sequences": "stop",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "seed": "seed",
}
_CHOICES = {types.FunctionCallingConfigMode.ANY: "required", types.FunctionCallingConfigMode.NONE: "none"}


def chat_request(request: LlmRequest) -> dict[str, Any]:
    """Return the keyword arguments of a chat completion, without the model.

    Raises:
        LlmError: a part of the conversation cannot be expressed in the chat format.
    """
    arguments: dict[str, Any] = {"messages": _messages(request)}
    config = request.config
    tools = [_tool(declaration) for declaration in _declarations(config)]
    if tools:
        arguments["tools"] = tools
        calling = config.tool_config.function_calling_config if config.tool_config else None
        if calling and calling.mode in _CHOICES:
            arguments["tool_choice"] = _CHOICES[calling.mode]
    for ours, theirs in _PARAMETERS.items():
        if getattr(config, ours) is not None:
            arguments[theirs] = getattr(config, ours)
    arguments.update(_connection(config.http_options))
    if config.response_schema is not None or config.response_json_schema is not None:
        schema = config.response_json_schema if config.response_schema is None else _answer_schema(config.response_schema)
        arguments["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    elif config.response_mime_type == "application/json":
        arguments["response_format"] = {"type": "json_object"}
    return arguments


def _connection(options: types.HttpOptions | None) -> Iterable[tuple[str, Any]]:
    if options is None:
        return
    if options.headers:
        yield "extra_headers", dict(options.headers)
    if options.timeout is not None:
        yield "timeout", options.timeout / 1000  # milliseconds in google-genai, seconds in litellm
    if options.retry_options is not None and options.retry_options.attempts is not None:
        yield "num_retries", options.retry_options.attempts
    if options.extra_body is not None:
        yield "extra_body", options.extra_body


def _messages(request: LlmRequest) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    if request.config.system_instruction:
        messages.append({"role": "system", "content": _system_text(request.config.system_instruction)})
    ids = _CallIds()
    for content in request.contents:
        parts = content.parts or []
        if content.role == "model":
            messages.extend(_assistant(parts, ids))
        else:
            messages.extend(_user(parts, ids))
    return messages


class _CallIds:
    """Ids for calls without one: a conversation keeps only the ids assigned by its own model."""

    def __init__(self) -> None:
        self._made = 0
        self._open: list[tuple[str | None, str]] = []

    def of_call(self, call: types.FunctionCall) -> str:
        if call.id:
            return call.id
        self._made += 1
        self._open.append((call.name, f"call_{self._made}"))
        return self._open[-1][1]

    def of_response(self, response: types.FunctionResponse) -> str:
        if response.id:
            return response.id
        for entry in self._open:
            if entry[0] == response.name:
                self._open.remove(entry)
                return entry[1]
        raise LlmError(f"The conversation has a result of {response.name} without its call.", error_code="INVALID_REQUEST")


def _assistant(parts: list[types.Part], ids: _CallIds) -> Iterable[dict[str, Any]]:
    text = "".join(part.text for part in parts if part.text and not part.thought)
    calls = [
        {
            "id": ids.of_call(part.function_call),
            "type": "function",
            "function": {"name": part.function_call.name, "arguments": json.dumps(part.function_call.args or {}, ensure_ascii=False)},
        }
        for part in parts
        if part.function_call
    ]
    if text or calls:
        yield {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}


def _user(parts: list[types.Part], ids: _CallIds) -> Iterable[dict[str, Any]]:
    for part in parts:
        if part.function_response:
            result = json.dumps(part.function_response.response, ensure_ascii=False, default=str)
            yield {"role": "tool", "tool_call_id": ids.of_response(part.function_response), "content": result}
    said = [_said(part) for part in parts if not part.function_response and not part.thought]
    if all(one["type"] == "text" for one in said):
        if said:
            yield {"role": "user", "content": "\n".join(one["text"] for one in said)}
    else:
        yield {"role": "user", "content": said}


def _said(part: types.Part) -> dict[str, Any]:
    if part.text is not None:
        return {"type": "text", "text": part.text}
    if part.inline_data is not None and part.inline_data.data is not None:
        kind = part.inline_data.mime_type or "application/octet-stream"
        url = f"data:{kind};base64,{base64.b64encode(part.inline_data.data).decode()}"
        return (
            {"type": "image_url", "image_url": {"url": url}} if kind.startswith("image/") else {"type": "file", "file": {"file_data": url}}
        )
    if part.file_data is not None and part.file_data.file_uri:
        uri, kind = part.file_data.file_uri, part.file_data.mime_type or ""
        return {"type": "image_url", "image_url": {"url": uri}} if kind.startswith("image/") else {"type": "file", "file": {"file_id": uri}}
    names = ", ".join(sorted(part.model_fields_set)) or "nothing"
    raise LlmError(f"A part with {names} cannot be sent to a chat model.", error_code="INVALID_REQUEST")


def _system_text(instruction: Any) -> str:
    if isinstance(instruction, str):
        return instruction
    if isinstance(instruction, types.Content):
        return _system_text(instruction.parts or [])
    if isinstance(instruction, list):
        return "\n\n".join(map(_system_text, instruction))
    return getattr(instruction, "text", None) or ""


def _declarations(config: types.GenerateContentConfig) -> Iterable[types.FunctionDeclaration]:
    for tool in config.tools or []:
        if not isinstance(tool, types.Tool) or tool.function_declarations is None:
            raise LlmError("Only functions can be offered to a chat model as tools.", error_code="INVALID_REQUEST")
        yield from tool.function_declarations


def _tool(declaration: types.FunctionDeclaration) -> dict[str, Any]:
    parameters = parameters_schema(declaration)
    function = {"name": declaration.name, "description": declaration.description or "", "parameters": parameters}
    return {"type": "function", "function": function}


def _answer_schema(schema: Any) -> Any:
    if isinstance(schema, dict):
        return schema
    if isinstance(schema, types.Schema):
        return json_schema(schema)
    if inspect.isclass(schema) and issubclass(schema, BaseModel):
        return schema.model_json_schema()
    return TypeAdapter(schema).json_schema()
