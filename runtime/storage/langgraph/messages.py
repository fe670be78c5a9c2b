"""LangChain's messages as the parts of an event."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from runtime.storage.langgraph.values import Typed, plain

_KINDS = {"user": "human", "assistant": "ai", "developer": "system", "AIMessageChunk": "ai", "HumanMessageChunk": "human"}
_KNOWN = ("human", "ai", "tool", "system", "function", "chat", "remove")
_DATA = re.compile(r"data:([\w.+/-]+);base64,(.*)", re.DOTALL)
REMOVE_ALL = "__remove_all__"


class Message(NamedTuple):
    """A message in a channel.

    Attributes:
        kind: `human`, `ai`, `tool`, `system`, `function`, `chat` or `remove`.
        id: its id; None if it has none yet.
        fields: its fields as JSON data.
        text: its text, without thoughts and files.
        look: what a person sees of it, to compare.
        is_raw: whether it is not stored as a message, but as a form that LangGraph makes one of.
    """

    kind: str
    id: str | None
    fields: Mapping[str, Any]
    text: str
    look: tuple[str, str, str]
    is_raw: bool = False


def _message(kind: str, fields: dict[str, Any], *, is_raw: bool = False) -> Message:
    text = "".join(text for part, text in _content(fields.get("content")) if part == "text")
    look = kind, text, json.dumps(fields.get("tool_calls") or [], sort_keys=True)
    return Message(kind, _text(fields.get("id")), fields, text, look, is_raw)


def as_message(value: Any) -> Message | None:
    """Return a stored value as a message; None if it is not one."""
    return _as_message(value) if isinstance(value, Typed) and isinstance(value.value, dict) else None


@lru_cache(4_000)
def _as_message(typed: Typed) -> Message | None:
    kind = typed.value.get("type") or typed.name.removesuffix("Chunk").removesuffix("Message").lower()
    kind = _KINDS.get(kind, kind) if isinstance(kind, str) else kind
    if kind not in _KNOWN or not typed.name.removesuffix("Chunk").endswith("Message"):
        return None
    return _message(kind, {name: plain(item) for name, item in typed.value.items()})


def are_messages(value: Any) -> bool:
    """Return whether a channel's value is a list of messages."""
    return isinstance(value, list) and bool(value) and all(as_message(item) is not None for item in value)


def written_messages(value: Any, *, in_channel: bool) -> list[Message] | None:
    """Return the messages in what a task wrote to a channel; None if it wrote something else.

    Args:
        value: the written value: a message or a list.
        in_channel: whether the channel has messages, so that also other forms are messages: a text, `("user", "hi")`, `{"role": …}`.
    """
    if isinstance(value, Typed) and value.name == "Overwrite" and isinstance(value.value, dict):
        value = value.value.get("value")
    items = value if isinstance(value, list) and not _is_pair(value) else [value]
    found = [as_message(item) or (_raw(item) if in_channel else None) for item in items]
    known = [message for message in found if message is not None]
    return known if known and len(known) == len(found) else None


def _is_pair(value: list[Any]) -> bool:
    return len(value) == 2 and all(isinstance(item, str) for item in value) and _KINDS.get(value[0], value[0]) in _KNOWN


def is_conversation(value: Any) -> bool:
    """Return whether a written value is a list of pairs or objects with a role, which LangGraph makes messages of."""
    items = value if isinstance(value, list) and not _is_pair(value) else [value]
    return bool(items) and all(not isinstance(item, str) and (as_message(item) or _raw(item)) for item in items)


def _raw(item: Any) -> Message | None:
    if isinstance(item, str):
        return _message("human", {"content": item}, is_raw=True)
    if isinstance(item, list) and _is_pair(item):
        return _message(str(_KINDS.get(item[0], item[0])), {"content": item[1]}, is_raw=True)
    if isinstance(item, dict) and "content" in item:
        role = item.get("role") or item.get("type")
        kind = _KINDS.get(role, role) if isinstance(role, str) else None
        if kind in _KNOWN:
            return _message(str(kind), {name: plain(value) for name, value in item.items() if isinstance(name, str)}, is_raw=True)
    return None


def parts_of(message: Message) -> list[dict[str, Any]]:
    """Return a message as the parts of an event's content."""
    fields = message.fields
    if message.kind in ("tool", "function"):
        return [{"function_response": _response(message)}]
    contents = [*_content(fields.get("content"))]
    parts: list[dict[str, Any]] = []
    if thought := "".join(text for kind, text in contents if kind == "thought"):
        parts.append({"text": thought, "thought": True})
    if text := message.text:
        parts.append({"text": text})
    parts += [part for kind, part in contents if kind == "file"]
    for call in _dicts(fields.get("tool_calls")):
        arguments = call.get("args")
        parts.append(
            {
                "function_call": {
                    "id": _text(call.get("id")),
                    "name": str(call.get("name") or ""),
                    "args": arguments if isinstance(arguments, dict) else {"value": arguments},
                }
            }
        )
    return parts


def usage_of(message: Message) -> dict[str, int]:
    """Return a message's tokens, by the names of an event's `usage_metadata`."""
    usage = message.fields.get("usage_metadata")
    if message.kind != "ai" or not isinstance(usage, dict):
        return {}
    thoughts, cached = _detail(usage, "output_token_details", "reasoning"), _detail(usage, "input_token_details", "cache_read")
    prompt, output = _count(usage.get("input_tokens")), _count(usage.get("output_tokens"))
    counts = {
        "prompt_token_count": prompt,
        "candidates_token_count": max(output - thoughts, 0),
        "total_token_count": _count(usage.get("total_tokens")) or prompt + output,
    }
    return counts | ({"thoughts_token_count": thoughts} if thoughts else {}) | ({"cached_content_token_count": cached} if cached else {})


def model_of(message: Message) -> str | None:
    """Return the model that made a message."""
    about = message.fields.get("response_metadata")
    name = (about.get("model_name") or about.get("model")) if isinstance(about, dict) else None
    return name if message.kind == "ai" and isinstance(name, str) else None


def _response(message: Message) -> dict[str, Any]:
    content = message.fields.get("content")
    others = content if isinstance(content, list) and any(kind == "file" for kind, _ in _content(content)) else message.text
    result: Any = others
    if isinstance(result, str) and result.startswith("{"):
        try:
            result = json.loads(result)
        except (ValueError, RecursionError):
            result = others
    response = result if isinstance(result, dict) else {"result": result}
    if message.fields.get("status") == "error":
        response = {"error": others}
    return {"id": _text(message.fields.get("tool_call_id")), "name": str(message.fields.get("name") or "tool"), "response": response}


def _content(content: Any) -> Iterator[tuple[str, Any]]:
    """Yield a message's content: `text` and `thought` with a text, `file` with an event's part."""
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            yield "text", part
        elif isinstance(part, dict):
            kind = part.get("type")
            if kind in ("reasoning", "thinking"):
                yield "thought", str(part.get("reasoning") or part.get("thinking") or part.get("text") or "")
            elif isinstance(part.get("text"), str):
                yield "text", part["text"]
            elif (found := _file(part)) is not None:
                yield "file", found


def _file(part: dict[str, Any]) -> dict[str, Any] | None:
    nested = [part, *(item for item in part.values() if isinstance(item, dict))]
    for place in nested:
        media = next((str(place[name]) for name in ("mime_type", "media_type") if place.get(name)), "application/octet-stream")
        for name in ("base64", "data", "file_data", "url", "image_url", "file_uri"):
            value = place.get(name)
            if not isinstance(value, str):
                continue
            if match := _DATA.match(value):
                media, value = match[1], match[2]
            elif name in ("url", "image_url", "file_uri"):
                return {"file_data": {"file_uri": value, "mime_type": media}}
            return {"inline_data": {"data": value, "mime_type": media}} if _is_base64(value) else None
    return None


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except ValueError:
        return False
    return True


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0


def _detail(usage: dict[str, Any], group: str, name: str) -> int:
    details = usage.get(group)
    return _count(details.get(name)) if isinstance(details, dict) else 0
