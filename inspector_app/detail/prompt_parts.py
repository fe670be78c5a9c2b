"""What a request is made of, and how much of it each part takes. No Qt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from inspector_app.detail.view_data import PromptPart
from inspector_app.presentation.tokens import Tokens
from runtime.storage.recordings.recorded_call import RecordedModelRequest

FILE_CHARACTERS = 1_032  # that a picture or file counts: Gemini charges 258 tokens for a picture, a token is about four characters


_ROLES = {
    "system instruction": "accent",
    "tools": "author1",
    "user": "author0",
    "model": "author3",
    "tool calls": "author2",
    "tool results": "text",
    "files": "warn",
    "settings": "dim",
}


def prompt_parts(request: RecordedModelRequest, tokens: int | None) -> list[PromptPart]:
    """Return the parts of a request that take any room, in the order in which a model reads them.

    Args:
        request: the request.
        tokens: those of the whole request, as the model reports; None if it does not.
    """
    sizes = dict.fromkeys(_ROLES, 0)
    config = request.config
    sizes["system instruction"] = _length(config.get("system_instruction"))
    sizes["tools"] = _length(config.get("tools"))
    sizes["settings"] = _length(config.get("response_schema") or config.get("response_json_schema"))
    for content in request.contents:
        if isinstance(content, Mapping):
            for part in content.get("parts") or ():
                kind, length = _part(part, str(content.get("role") or "user"))
                sizes[kind] += length
    whole = sum(sizes.values())
    return [
        PromptPart(name, _ROLES[name], size, round(tokens * size / whole) if tokens else None, size / whole)
        for name, size in sizes.items()
        if size
    ]


def size_text(parts: list[PromptPart], tokens: Tokens | None, window: int | None) -> str:
    """Return the size of a whole request in words.

    Args:
        parts: its parts.
        tokens: what the model reports; None if it does not.
        window: how many tokens the model takes; None if it is not known.
    """
    if not parts:
        return ""
    if tokens is None:
        return f"{sum(part.characters for part in parts):,} characters; the model reported no tokens"
    of = f" of {window:,}" if window else ""
    share = f" ({tokens.input / window:.1%})" if window else ""
    cached = f" · {tokens.cached:,} cached" if tokens.cached else ""
    return f"{tokens.input:,}{of} tokens{share}{cached} · parts by length"


def _part(part: Any, role: str) -> tuple[str, int]:
    """Return the kind of a content's part and its length."""
    if not isinstance(part, Mapping):
        return "user", _length(part)
    if "function_call" in part:
        return "tool calls", _length(part["function_call"])
    if "function_response" in part:
        return "tool results", _length(part["function_response"])
    if "inline_data" in part or "file_data" in part:
        return "files", FILE_CHARACTERS
    text = part.get("text")
    return "model" if role == "model" else "user", len(text) if isinstance(text, str) else _length(part)


def _length(value: Any) -> int:
    if not value:
        return 0
    return len(value) if isinstance(value, str) else len(json.dumps(value, ensure_ascii=False))
