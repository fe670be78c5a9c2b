"""Conversion of a chat model's answer, complete or streamed, to `LlmResponse`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from google.genai import types

from runtime.models.llm_response import NO_CONTENT, LlmResponse
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
    index: int | None
    id: str = ""
    name: str = ""
    arguments: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether the arguments are a whole JSON object."""
        return self.arguments.rstrip().endswith("}") and _arguments(self) is not None


@dataclass(slots=True)
class _Said:
    """A text that arrives in pieces, cut anywhere: the first half of a surrogate pair is held until the second one comes."""

    text: str = ""
    held: str = ""

    def add(self, piece: str) -> str:
        """Add a piece, and return what of it is whole."""
        piece = self.held + piece
        self.held = piece[-1] if "\ud800" <= piece[-1:] <= "\udbff" else ""
        piece = _joined(piece[: len(piece) - len(self.held)])
        self.text += piece
        return piece


class ChatAnswer:
    """Collects one answer: the chunks of a stream, or one complete message."""

    def __init__(self) -> None:
        self._thought = _Said()
        self._text = _Said()
        self._calls: list[_Call] = []
        self._usage: Any = None
        self._reason: str | None = None
        self._model: str | None = None

    def add(self, chunk: Any) -> list[LlmResponse]:
        """Add a chunk, or a complete completion.

        Returns:
            The new pieces, with `partial=True`.
        """
        self._usage = getattr(chunk, "usage", None) or self._usage
        self._model = getattr(chunk, "model", None) or self._model
        choice = next((choice for choice in chunk.choices if not getattr(choice, "index", None)), None)  # of several answers, the first
        if choice is None:
            return []
        said = getattr(choice, "delta", None) or choice.message
        self._reason = choice.finish_reason or self._reason
        here: list[_Call] = []
        for piece in said.tool_calls or []:
            self._add_to_call(piece, here)
        thought = self._thought.add(getattr(said, "reasoning_content", None) or "")
        text = self._text.add(said.content or "")
        pieces = [types.Part(text=thought, thought=True)] if thought else []
        pieces += [types.Part(text=text)] if text else []
        return [
            LlmResponse(content=types.Content(role="model", parts=[piece]), partial=True, model_version=self._model) for piece in pieces
        ]

    def whole(self) -> list[LlmResponse]:
        """Return the complete answer; empty if the stream ended early.

        If a call was cut off, the text before it is an answer of its own, and the last one has the error.
        """
        if self._reason is None:
            return []
        reason = _REASONS.get(self._reason, types.FinishReason.OTHER)
        parts = [types.Part(text=self._thought.text, thought=True)] if self._thought.text else []
        parts += [types.Part(text=self._text.text)] if self._text.text else []
        last = LlmResponse(finish_reason=reason, usage_metadata=self._usage_metadata(), model_version=self._model)
        cut_off = next((call for call in self._calls if _arguments(call) is None), None)
        if cut_off is not None:
            last.error_code, last.error_message = _cut_off(cut_off, reason)
            said = LlmResponse(content=types.Content(role="model", parts=parts), finish_reason=reason, model_version=self._model)
            return [said, last] if self._text.text else [last]
        for call in self._in_order():
            function_call = types.FunctionCall(id=call.id or new_function_call_id(), name=call.name, args=_arguments(call))
            parts.append(types.Part(function_call=function_call))
        last.content = types.Content(role="model", parts=parts) if parts else None
        if reason is types.FinishReason.STOP and not parts:
            last.error_code, last.error_message = NO_CONTENT, "The model returned no content. Ask again, or change the instruction."
        elif reason is types.FinishReason.MAX_TOKENS:
            last.error_code, last.error_message = reason.value, "Maximum tokens reached"  # google-adk's words
        elif reason is not types.FinishReason.STOP:
            last.error_code, last.error_message = reason.value, f"The model stopped: {self._reason}."
        return [last]

    def _in_order(self) -> list[_Call]:
        """Return the calls in the order of their indexes, if each has its own, or else in which they began."""
        indexes = {call.index for call in self._calls if call.index is not None}
        return sorted(self._calls, key=lambda call: call.index or 0) if len(indexes) == len(self._calls) else self._calls

    def _add_to_call(self, piece: Any, here: list[_Call]) -> None:
        """Add a piece of a call to the call that it belongs to.

        Args:
            piece: litellm's piece; a provider may leave out any of its fields, or repeat them in each piece of the call.
            here: the calls that the same chunk has pieces of; the call is added.
        """
        function = getattr(piece, "function", None)
        name, arguments = getattr(function, "name", None) or "", getattr(function, "arguments", None) or ""
        index, call_id = getattr(piece, "index", None), piece.id or ""
        call = self._named_by(call_id, index, name)
        if not (name or arguments or (call_id and call is None)):
            return
        is_here = any(call is one for one in here) and len({one.index for one in self._calls}) == 1
        if call is not None and _begins_another(call, call_id, index, name, arguments, is_here=is_here):
            name, call = name or call.name, None
        if call is None:
            call = _Call(index)
            self._calls.append(call)
        call.id = call.id or call_id
        if name != call.name:
            call.name += name
        call.arguments += arguments
        here.append(call)

    def _named_by(self, call_id: str, index: int | None, name: str) -> _Call | None:
        """Return the call that a piece's id and index name; None for a new one."""
        newest = self._calls[-1] if self._calls else None
        at_index = next((call for call in reversed(self._calls) if index is not None and call.index == index), None)
        if call_id:
            same = [call for call in self._calls if call.id == call_id]
            if same:  # several, where all calls of an answer have one id
                return next((call for call in reversed(same) if call.index == index), same[-1])
            if name and (at_index is None or at_index.id):
                return None
        if at_index is None:
            return None if name and index is not None else newest
        # An index that only counts within its chunk names a call that is complete while a later one is not.
        is_older = not name and at_index is not newest and newest is not None and at_index.is_complete and not newest.is_complete
        return newest if is_older else at_index

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
        args = json.loads(_joined(call.arguments).strip() or "{}")
    except ValueError:
        return None
    return args if isinstance(args, dict) else None


def _begins_another(call: _Call, call_id: str, index: int | None, name: str, arguments: str, *, is_here: bool) -> bool:
    """Return whether a piece begins another call than the one that its id and index name.

    Args:
        call: the call that they name.
        call_id, index, name, arguments: the piece.
        is_here: whether an earlier piece of the same chunk belongs to the call, and no other index was used.
    """
    if name and name != call.name:
        is_rest_of_name = bool(call_id) and (call_id, index) == (call.id, call.index) and not call.arguments
        return bool(call.name) and not is_rest_of_name
    if name and is_here and not (call_id or call.id) and (not call.arguments or call.is_complete):
        return True
    return arguments.lstrip().startswith("{") and call.is_complete


def _cut_off(call: _Call, reason: types.FinishReason) -> tuple[str, str]:
    """Return the error code and message for a call whose arguments are not a JSON object."""
    if reason is types.FinishReason.STOP:
        return "MALFORMED_FUNCTION_CALL", f"The arguments of {call.name} are not a JSON object: {call.arguments[:200]}"
    if reason is types.FinishReason.MAX_TOKENS:
        what = f"Maximum tokens reached inside the call of {call.name}, which was not run. Raise max_output_tokens and try again."
        return reason.value, what
    return reason.value, f"The model stopped inside the call of {call.name}, which was not run."


def _joined(text: str) -> str:
    """Return a text with the halves of its surrogate pairs joined, between which a provider may have cut it."""
    if text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
