"""A function call whose arguments arrive piece by piece (Gemini's `stream_function_call_arguments`)."""

from __future__ import annotations

import re
from typing import Any

from google.genai import types

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\[(['\"])((?:(?!\3\]).)*+)(?:\3\]|\Z)", re.DOTALL)
MAX_INDEX = 10_000  # a list's places are created up to the one that a piece names


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
