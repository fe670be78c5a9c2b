"""Conversion of a chat model's answer, complete or streamed, to `LlmResponse`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from google.genai import types

from runtime.models.llm_response import LlmResponse
from runtime.support.ids import new_function_call_id

_REASONS = {
    "stop": types.FinishReason.STOP,
    "tool_calls": types.FinishReason.STOP,
    "function_call": types.FinishReason.STOP,
    "length": types.FinishReason.MAX_TOKENS,
    "content_filter": types.FinishReason.SAFETY,
}


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: str = ""


class ChatAnswer:
    """Collects one answer: the chunks of a stream, or one complete message."""

    def __init__(self) -> None:
        self._thought = ""
        self._text = ""
        self._calls: dict[int, _Call] = {}
        self._usage: Any = None
        self._reason: str | None = None
        self._model: str | None = None

    def add(self, chunk: Any) -> list[LlmResponse]:
        """Add a chunk, or a complete completion.

        Args:
            chunk: litellm's chunk.

        Returns:
            The new pieces, with `partial=True`.
        """
        self._usage = getattr(chunk, "usage", None) or self._usage
        self._model = getattr(chunk, "model", None) or self._model
        if not chunk.choices:
            return []
        choice = chunk.choices[0]
        said = getattr(choice, "delta", None) or choice.message
        self._reason = choice.finish_reason or self._reason
        for position, call in enumerate(said.tool_calls or []):
            self._add_call(position if getattr(call, "index", None) is None else call.index, call)
        thought, text = getattr(said, "reasoning_content", None) or "", said.content or ""
        self._thought += thought
        self._text += text
        pieces = [types.Part(text=thought, thought=True)] if thought else []
        pieces += [types.Part(text=text)] if text else []
        return [
            LlmResponse(content=types.Content(role="model", parts=[piece]), partial=True, model_version=self._model) for piece in pieces
        ]

    def whole(self) -> LlmResponse | None:
        """Return the complete answer; None if the stream ended early."""
        if self._reason is None:
            return None
        reason = _REASONS.get(self._reason, types.FinishReason.OTHER)
        common = {"finish_reason": reason, "usage_metadata": self._usage_metadata(), "model_version": self._model}
        parts = [types.Part(text=self._thought, thought=True)] if self._thought else []
        parts += [types.Part(text=self._text)] if self._text else []
        for _, call in sorted(self._calls.items()):
            args = _arguments(call)
            if args is None:
                message = f"The arguments of {call.name} are not a JSON object: {call.arguments[:200]}"
                return LlmResponse(error_code="MALFORMED_FUNCTION_CALL", error_message=message, **common)
            parts.append(types.Part(function_call=types.FunctionCall(id=call.id or new_function_call_id(), name=call.name, args=args)))
        if not parts and reason is not types.FinishReason.STOP:
            return LlmResponse(error_code=reason.value, error_message=f"The model stopped: {self._reason}.", **common)
        return LlmResponse(content=types.Content(role="model", parts=parts), **common)

    def _add_call(self, index: int, piece: Any) -> None:
        call = self._calls.setdefault(index, _Call())
        call.id = piece.id or call.id
        call.name += piece.function.name or ""
        call.arguments += piece.function.arguments or ""

    def _usage_metadata(self) -> types.GenerateContentResponseUsageMetadata | None:
        usage = self._usage
        if usage is None:
            return None
        details = getattr(usage, "prompt_tokens_details", None)
        thoughts = getattr(getattr(usage, "completion_tokens_details", None), "reasoning_tokens", None)
        return types.GenerateContentResponseUsageMetadata(
            prompt_token_count=usage.prompt_tokens,
            candidates_token_count=usage.completion_tokens,
            total_token_count=usage.total_tokens,
            cached_content_token_count=getattr(details, "cached_tokens", None) or None,
            thoughts_token_count=thoughts or None,
        )


def _arguments(call: _Call) -> dict[str, Any] | None:
    try:
        args = json.loads(call.arguments or "{}")
    except ValueError:
        return None
    return args if isinstance(args, dict) else None
