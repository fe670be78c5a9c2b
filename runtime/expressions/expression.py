"""Conditions over events, and text templates filled with event values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runtime.expressions.errors import ExpressionError
from runtime.expressions.names import NOTED, Note, Simple, View
from runtime.expressions.operand import Operand
from runtime.expressions.parser import Reader

if TYPE_CHECKING:
    from runtime.events.event import Event

_VALUE_LIMIT = 500
_VALUES_LIMIT = 2_000


class Expression:
    """A condition over an event, or over another object with names of its own; made by `parse`.

    Attributes:
        source: the text as written.
        uses_state: whether it reads state, so that it needs `state_before` to be exact.
        uses_notes: whether it reads notes, so that it needs `note`.
        mentions: the names it uses.
        required: what an event contains for which the condition holds; None if nothing is known.
    """

    __slots__ = ("_test", "mentions", "required", "source", "uses_notes", "uses_state")

    def __init__(self, source: str, names: Mapping[str, Simple] | None = None) -> None:
        reader = Reader(source, names)
        self.source = source
        self._test, self.required = reader.expression()
        self.uses_state = reader.uses_state
        self.mentions = tuple(reader.mentions)
        self.uses_notes = any(mention.name in NOTED for mention in self.mentions)

    def matches(self, event: Any, state_before: Mapping[str, Any] | None = None, note: Note | None = None) -> bool:
        """Return whether the condition holds for an event.

        Args:
            event: committed or partial; or the object for whose names the expression was made.
            state_before: the state before it, keys with prefixes. Without it, only the keys that the event itself sets are known, and each
                of them counts as changed.
            note: the note on it; None if it has none.

        Raises:
            ExpressionTooCostlyError: the evaluation takes more steps than allowed.
        """
        return self._test(View(event, state_before, note))

    def __repr__(self) -> str:
        return f"Expression({self.source!r})"


def parse(text: str, names: Mapping[str, Simple] | None = None) -> Expression:
    """Read an expression.

    Args:
        text: the expression; see the package for the grammar.
        names: the only names that there are, and how each is looked up in an object; None: the names of an event.

    Raises:
        ExpressionError: the text is not an expression; the error has the position and what was expected there.
    """
    return Expression(text, names)


class Template:
    """A text with event values in it, for logpoints: `paid {call.pay.args.amount} to {call.pay.args.to}`.

    Args:
        source: braces hold a path as in expressions; write `{{` and `}}` for literal braces.

    Raises:
        ExpressionError: the text is not a template; the error has the position.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._pieces: list[str | Operand] = []
        at = 0
        for match in re.finditer(r"\{\{|\}\}|\{([^{}]*)\}|[{}]", source):
            self._pieces.append(source[at : match.start()])
            at = match.end()
            if match[0] in ("{", "}"):
                raise ExpressionError("this brace has no counterpart; write it twice for a literal brace.", match.start())
            self._pieces.append(match[0][0] if match[1] is None else _operand(match[1], match.start() + 1))
        self._pieces.append(source[at:])

    def fill(self, event: Event, state_before: Mapping[str, Any] | None = None) -> str:
        """Return the text for an event; a missing value becomes `-`, several values are separated by commas.

        Args:
            event: the source of the values.
            state_before: the state before it, keys with prefixes.

        Raises:
            ExpressionTooCostlyError: the evaluation takes more steps than allowed.
        """
        view = View(event, state_before)
        return "".join(piece if isinstance(piece, str) else _shown(piece, view) for piece in self._pieces)


def _operand(source: str, offset: int) -> Operand:
    try:
        return Reader(source).value()
    except ExpressionError as error:
        raise ExpressionError(error.problem, error.position + offset) from None


def _shown(operand: Operand, view: View) -> str:
    texts = [_text(value) for value in operand.each(view)]
    shown = ", ".join(texts)
    return (shown if len(shown) <= _VALUES_LIMIT else shown[:_VALUES_LIMIT] + "…") or "-"


def _text(value: Any) -> str:
    if value is None:
        return "-"
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, skipkeys=True, default=lambda other: "?")
    except (ValueError, RecursionError):  # it contains itself, is nested too deeply, or has thousands of digits
        text = "?"
    return text if len(text) <= _VALUE_LIMIT else text[:_VALUE_LIMIT] + "…"
