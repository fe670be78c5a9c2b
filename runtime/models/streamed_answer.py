"""Assembly of a streamed answer."""

from __future__ import annotations

import re
from typing import Any

from google.genai import types

from runtime.models.llm_response import LlmResponse
from runtime.support.ids import new_function_call_id

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\[(['\"])((?:(?!\3\]).)*+)(?:\3\]|\Z)", re.DOTALL)
MAX_INDEX = 10_000  # a list's places are created up to the one that a piece names


class StreamedAnswer:
    """Collects the chunks of one streamed answer."""

    def __init__(self) -> None:
        self._parts: list[types.Part] = []
        self._last: types.GenerateContentResponse | None = None
        self._candidate: dict[str, Any] = {}
        self._usage: types.GenerateContentResponseUsageMetadata | None = None
        self._call: StreamedCall | None = None  # whose arguments are arriving
        self._place = 0  # of that call in the parts

    def add(self, chunk: types.GenerateContentResponse) -> LlmResponse | None:
        """Add a chunk.

        Returns:
            The new piece, with `partial=True`; None if the chunk has no content.
        """
        self._last = chunk
        self._usage = chunk.usage_metadata or self._usage
        if not chunk.candidates:
            return None
        candidate = chunk.candidates[0]
        # Finish reason, grounding and citations may arrive in any chunk and apply to the whole answer.
        self._candidate.update({name: value for name in _ONCE if (value := getattr(candidate, name)) is not None})
        parts = (candidate.content and candidate.content.parts) or []
        for part in parts:
            if part.function_call and StreamedCall.is_piece(part.function_call):
                self._add_piece(part, part.function_call)
                continue
            if part.function_call and not part.function_call.id:
                # Assigned here, so that the piece and the complete answer have the same id.
                part.function_call.id = new_function_call_id()
            self._append(part)
        if not parts:
            return None
        return LlmResponse(content=candidate.content, partial=True, model_version=chunk.model_version)

    def whole(self, *, is_cut_off_kept: bool = False) -> LlmResponse | None:
        """Return the complete answer, as without streaming, with `partial=False`.

        Args:
            is_cut_off_kept: return also an answer whose stream ended early.

        Returns:
            None if there is no answer, or only one whose stream ended early.
        """
        if self._last is None:
            return None
        if not (is_cut_off_kept or self._candidate.get("finish_reason") or self._last.prompt_feedback):
            return None
        candidate = types.Candidate(content=types.Content(role="model", parts=self._parts) if self._parts else None, **self._candidate)
        whole = LlmResponse.create(
            types.GenerateContentResponse(
                candidates=[candidate] if self._candidate or self._parts else None,
                prompt_feedback=self._last.prompt_feedback,
                usage_metadata=self._usage,
                model_version=self._last.model_version,
            )
        )
        whole.partial = False
        return whole

    def _add_piece(self, part: types.Part, piece: types.FunctionCall) -> None:
        if self._call is not None:
            self._call.add(piece)
        elif piece.name:
            self._call, self._place = StreamedCall(piece, piece.id or new_function_call_id(), part.thought_signature), len(self._parts)
            self._parts.append(types.Part())
        else:  # the mark that a call is complete may arrive after its last piece
            return
        piece.id = self._call.id
        self._parts[self._place] = self._call.part()
        if not piece.will_continue:
            self._call = None

    def _append(self, part: types.Part) -> None:
        last = self._parts[-1] if self._parts else None
        if last and _is_plain_text(part) and _is_plain_text(last) and bool(part.thought) == bool(last.thought):
            self._parts[-1] = types.Part(text=(last.text or "") + (part.text or ""), thought=part.thought)
        else:
            self._parts.append(part)


_ONCE = (
    "finish_reason",
    "finish_message",
    "grounding_metadata",
    "citation_metadata",
    "url_context_metadata",
    "safety_ratings",
    "avg_logprobs",
    "logprobs_result",
)


def _is_plain_text(part: types.Part) -> bool:
    """Return whether a text part may be joined with others: one with a signature must be sent back to the model unchanged."""
    return part.text is not None and part.thought_signature is None


class StreamedCall:
    """Collects the pieces of one call.

    Args:
        first: the first piece, which has the function's name.
        call_id: see above.
        signature: the part's thought signature.
    """

    def __init__(self, first: types.FunctionCall, call_id: str, signature: bytes | None) -> None:
        self._name, self.id, self._signature = first.name, call_id, signature
        self._args: dict[str, Any] = {}
        self.add(first)

    @staticmethod
    def is_piece(call: types.FunctionCall) -> bool:
        """Return whether a call is a piece of one."""
        return bool(call.partial_args or call.will_continue) or not (call.name or call.args)

    def add(self, piece: types.FunctionCall) -> None:
        """Add a piece. The text of one argument may arrive in several."""
        self._args.update(piece.args or {})
        for given in piece.partial_args or []:
            _put(self._args, _steps(given.json_path or ""), _value(given))

    def part(self) -> types.Part:
        """Return the call with what has arrived of its arguments."""
        call = types.FunctionCall(name=self._name, id=self.id, args=self._args)
        return types.Part(function_call=call, thought_signature=self._signature)


def _steps(path: str) -> list[str | int]:
    """Return the keys and indices of a JSON path such as `$.stops[0].city`."""
    found = _STEP.finditer(path.removeprefix("$"))
    return [int(match[2]) if match[2] else match[1] or match[4] for match in found]


def _value(piece: types.PartialArg) -> Any:
    for value in (piece.string_value, piece.number_value, piece.bool_value):
        if value is not None:
            return value
    return None


def _put(target: Any, steps: list[str | int], value: Any) -> None:
    """Set the value at a path; text is added to text that is there. A path that does not fit what is there is ignored."""
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        present = _read(target, step)
        if following is None:
            _write(target, step, present + value if isinstance(present, str) and isinstance(value, str) else value)
        elif present is None:
            present = [] if isinstance(following, int) else {}
            _write(target, step, present)
        target = present


def _read(target: Any, step: str | int) -> Any:
    if isinstance(target, dict):
        return target.get(step)
    fits = isinstance(target, list) and isinstance(step, int) and step < len(target)
    return target[step] if fits else None


def _write(target: Any, step: str | int, value: Any) -> None:
    if isinstance(target, dict):
        target[step] = value
    elif isinstance(target, list) and isinstance(step, int) and step < MAX_INDEX:
        target.extend([None] * (step + 1 - len(target)))
        target[step] = value
