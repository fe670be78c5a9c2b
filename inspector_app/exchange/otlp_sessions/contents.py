"""What a span says of messages, in any of the dialects, as parts of google-adk's events.

GenAI conventions as attributes or as events of the span, OpenInference's numbered attributes, google-adk's own JSON, and Bedrock's blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from inspector_app.support.otlp import OtlpSpan
from runtime.support.bounded import parse

Part = dict[str, Any]

_THOUGHTS = ("reasoning", "thinking", "reasoningContent", "thought")
_NUMBERED = re.compile(r"llm\.(input|output)_messages\.(\d{1,6})\.message\.(.+)")
_CALL = re.compile(r"tool_calls\.(\d{1,6})\.tool_call\.(id|function\.name|function\.arguments)")
_CONTENT = re.compile(r"contents\.(\d{1,6})\.message_content\.(type|text)")
_EVENT_ROLES = {"user": "user", "system": "system", "assistant": "assistant", "tool": "tool", "choice": "assistant"}


class Message(NamedTuple):
    """A message that a model read or wrote.

    Attributes:
        role: `user`, `assistant`, `tool` or `system`.
        parts: its texts, calls and results; a text that was not captured is left out.
        finish: why it ended; None if that is not said.
    """

    role: str
    parts: list[Part]
    finish: str | None = None

    @property
    def text(self) -> str:
        """Its text, without thoughts."""
        return "".join(part["text"] for part in self.parts if "text" in part and not part.get("thought"))

    @property
    def results(self) -> list[dict[str, Any]]:
        """The results of tools in it."""
        return [part["function_response"] for part in self.parts if "function_response" in part]


def json_in(value: object) -> Any:
    """Return the JSON value that a text is; any other value, and text that is no list or object, as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return parse(value.encode("utf-8", "replace"))
        except ValueError:
            return value
    return value


def inputs_of(span: OtlpSpan) -> list[Message]:
    """Return the messages that a span was given."""
    return _messages(span, "input")


def outputs_of(span: OtlpSpan) -> list[Message]:
    """Return the messages that a span gave, without the pieces of one that is there as a whole too."""
    found = _messages(span, "output")
    whole = [message for message in found if message.finish]
    return whole if whole and any(message.finish == "" for message in found) else found


def response_of(value: object) -> dict[str, Any]:
    """Return a tool's result as an event has it."""
    value = json_in(value)
    if isinstance(value, list) and value and all(isinstance(one, Mapping) and set(one) == {"text"} for one in value):
        value = json_in("".join(str(one["text"]) for one in value))
    if isinstance(value, Mapping) and isinstance(value.get("data"), Mapping) and value.get("type") == "tool":  # LangChain's message
        return response_of(value["data"].get("content"))
    return dict(value) if isinstance(value, Mapping) else {"result": value}


def _messages(span: OtlpSpan, way: str) -> list[Message]:
    given = span.attributes
    found = json_in(given.get(f"gen_ai.{way}.messages"))
    if not isinstance(found, list):
        details = [json_in(about.get(f"gen_ai.{way}.messages")) for _, about in span.events]
        found = [one for each in details if isinstance(each, list) for one in each]
    if found:
        return [_message(one) for one in found if isinstance(one, Mapping)]
    return _of_adk(given, way) or _of_openinference(given, way) or _of_events(span, way) or _of_completions(given, way)


def _message(given: Mapping[str, Any]) -> Message:
    content = given.get("parts", given.get("content"))
    parts = list(_parts(content))
    for call in _list(given.get("tool_calls")):
        parts += _parts([call])
    role = {"model": "assistant", "ai": "assistant", "human": "user", "developer": "system"}.get(
        str(given.get("role")), str(given.get("role"))
    )
    if role == "tool" and not any("function_response" in part for part in parts) and content is not None:
        parts = [_response(given.get("tool_call_id", given.get("id")), given.get("name"), content)]
    if parts and all("function_response" in part for part in parts):
        role = "tool"
    finish = given.get("finish_reason")
    return Message(role, parts, finish if isinstance(finish, str) else None)


def _parts(content: object) -> Iterator[Part]:
    content = json_in(content)
    if isinstance(content, str):
        yield {"text": content}
        return
    for one in _list(content):
        if isinstance(one, str):
            yield {"text": one}
        elif isinstance(one, Mapping):
            yield from _part(one)


def _part(given: Mapping[str, Any]) -> Iterator[Part]:
    kind = given.get("type")
    call = given.get("toolUse") or given.get("function_call") or given.get("functionCall")
    result = given.get("toolResult") or given.get("function_response") or given.get("functionResponse")
    if kind in _THOUGHTS or "reasoningContent" in given or given.get("thought") is True:
        if text := _text(given.get("content", given.get("reasoningContent", given.get("thinking", given.get("text"))))):
            yield {"text": text, "thought": True}
    elif isinstance(call, Mapping):
        yield _call(call.get("toolUseId", call.get("id")), call.get("name"), call.get("input", call.get("args")))
    elif isinstance(result, Mapping):
        content = result.get("content", result.get("response"))
        yield _response(result.get("toolUseId", result.get("id")), result.get("name"), content, result.get("status") == "error")
    elif kind in ("tool_call", "tool_use"):
        yield _call(given.get("id"), given.get("name"), given.get("arguments", given.get("input")))
    elif kind in ("tool_call_response", "tool_result"):
        content = next((given[name] for name in ("response", "result", "content") if name in given), None)
        yield _response(given.get("id", given.get("tool_use_id")), given.get("name"), content)
    elif isinstance(function := given.get("function"), Mapping):
        yield _call(given.get("id"), function.get("name"), function.get("arguments"))
    elif text := _text(given.get("text", given.get("content"))):
        yield {"text": text}


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _text(value.get("text", value.get("reasoningText")))
    return ""


def _call(call_id: object, name: object, arguments: object) -> Part:
    arguments = json_in(arguments)
    named = arguments if isinstance(arguments, Mapping) else None if arguments in (None, "") else {"input": arguments}
    return {"function_call": {"id": _named(call_id), "name": str(name), "args": named and dict(named)}}


def _response(call_id: object, name: object, content: object, is_error: bool = False) -> Part:
    response = None if content is None else response_of(content)
    if response is not None and is_error and "error" not in response:
        response = {"error": response.get("result", response)}
    return {"function_response": {"id": _named(call_id), "name": _named(name), "response": response}}


def _of_adk(given: Mapping[str, Any], way: str) -> list[Message]:
    """Return the messages of google-adk's own attributes."""
    found = json_in(given.get("gcp.vertex.agent.llm_request" if way == "input" else "gcp.vertex.agent.llm_response"))
    if not isinstance(found, Mapping):
        return []
    return [
        _message(one) for one in (_list(found.get("contents")) if way == "input" else [found.get("content")]) if isinstance(one, Mapping)
    ]


def _of_openinference(given: Mapping[str, Any], way: str) -> list[Message]:
    numbered: dict[int, dict[str, Any]] = {}
    for name, value in given.items():
        if (match := _NUMBERED.fullmatch(name)) and match[1] == way:
            numbered.setdefault(int(match[2]), {})[match[3]] = value
    return [_of_numbered(numbered[place]) for place in sorted(numbered)]


def _of_numbered(fields: Mapping[str, Any]) -> Message:
    calls: dict[int, dict[str, Any]] = {}
    texts: dict[int, dict[str, Any]] = {}
    for name, value in fields.items():
        if match := _CALL.fullmatch(name):
            calls.setdefault(int(match[1]), {})[match[2]] = value
        elif match := _CONTENT.fullmatch(name):
            texts.setdefault(int(match[1]), {})[match[2]] = value
    content: Any = [texts[place] for place in sorted(texts)] or fields.get("content")
    found = _message(
        {"role": fields.get("role"), "content": content, "tool_call_id": fields.get("tool_call_id"), "name": fields.get("name")}
    )
    for place in sorted(calls):
        call = calls[place]
        found.parts.append(_call(call.get("id"), call.get("function.name"), call.get("function.arguments")))
    return found


def _of_events(span: OtlpSpan, way: str) -> list[Message]:
    """Return the messages of the span's events `gen_ai.user.message`, `gen_ai.choice` and the like."""
    found = []
    for name, about in span.events:
        role = _EVENT_ROLES.get(name.removeprefix("gen_ai.").removesuffix(".message"))
        if role is None or (name == "gen_ai.choice") != (way == "output"):
            continue
        content = json_in(about.get("message", about.get("content")))
        if isinstance(content, Mapping) and "content" in content:
            found.append(_message({"role": role, **content}))
        else:
            found.append(
                _message({"role": role, "content": content, "id": about.get("id"), "tool_calls": json_in(about.get("tool_calls"))})
            )
    return found


def _of_completions(given: Mapping[str, Any], way: str) -> list[Message]:
    """Return the messages of older conventions: `gen_ai.prompt` and `gen_ai.completion`, whole or numbered."""
    base = "gen_ai.prompt" if way == "input" else "gen_ai.completion"
    if isinstance(whole := json_in(given.get(base)), list):
        return [_message(one) for one in whole if isinstance(one, Mapping)]
    numbered: dict[int, dict[str, Any]] = {}
    for name, value in given.items():
        place, _, rest = name.removeprefix(base + ".").partition(".")
        if name.startswith(base + ".") and place.isascii() and place.isdigit() and len(place) < 7:
            rest = re.sub(r"^tool_calls\.(\d+)\.(name|arguments)$", r"tool_calls.\1.tool_call.function.\2", rest)
            rest = re.sub(r"^tool_calls\.(\d+)\.id$", r"tool_calls.\1.tool_call.id", rest)
            numbered.setdefault(int(place), {})[rest] = value
    return [_of_numbered({"role": "assistant" if way == "output" else "user", **numbered[place]}) for place in sorted(numbered)]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _named(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
