"""Which events a filter lets through: a text that stands somewhere in them. Pure, no Qt."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from runtime.events.event import Event
from runtime.expressions import Expression, ExpressionError, ExpressionTooCostlyError, parse

_OPERATORS = (" changed", " contains ", " matches ", "call.", "response.", "==", "!=", "<", ">", "=~", "(", " and ", " or ", "not ", " in ")


# With these in it, an expression can hold for an event in which a text of it does not stand.
_NOT_ALL = re.compile(r"\b(or|not|in)\b|!=")
_LITERAL = re.compile(r"""\b(?:author|transfer|call(?:\.[\w*]+)+|response(?:\.[\w*]+)+)\s*==?\s*"([^"\\]+)\"""")
_NAMED = re.compile(r"\b(?:call|response|delta|artifact)\.(\w+)")


class FilterError(ValueError):
    """A filter is written wrongly; the text says what is wrong and where."""


@dataclass(frozen=True, slots=True)
class EventFilter:
    """A filter that can be asked.

    Attributes:
        text: as it was written.
        needle: the text that is looked for in all fields, without regard to ASCII case; None where the filter is an expression.
        expression: the condition; None where the filter is a plain text.
    """

    text: str
    needle: str | None
    expression: Expression | None

    @property
    def encodings(self) -> list[str]:
        """How the text looked for may stand in an event's JSON: in a value, all but ASCII escaped or not, or as a piece of JSON itself."""
        assert self.needle is not None
        return list(dict.fromkeys([*_encodings(self.needle), self.needle]))

    @property
    def needles(self) -> list[list[str]]:
        """Texts that stand in the JSON of every event that gets through: of each group one. Empty where that cannot be told."""
        if self.needle is not None:
            return [self.encodings]
        if _NOT_ALL.search(self.text):
            return []
        found = [match[1] for match in _LITERAL.finditer(self.text)]
        found += [match[1] for match in _NAMED.finditer(self.text)]
        return [_encodings(text) for text in dict.fromkeys(found)]

    def matches(self, event: Event) -> bool:
        """Return whether an event gets through."""
        if self.expression is not None:
            try:
                return self.expression.matches(event)
            except ExpressionTooCostlyError:
                return False
        text = event.model_dump_json(exclude_none=True).lower()
        return any(encoding.lower() in text for encoding in self.encodings)


def _encodings(text: str) -> list[str]:
    return list(dict.fromkeys(json.dumps(text, ensure_ascii=ascii_only)[1:-1] for ascii_only in (False, True)))


def read_filter(text: str) -> EventFilter | None:
    """Return the filter that a text means: an expression if it reads like one, else that text anywhere in an event; None if it is blank.

    A text in double quotes is always a plain one.

    Args:
        text: as it was written.

    Raises:
        FilterError: it reads like an expression, and is a wrong one.
    """
    text = text.strip()
    if not text:
        return None
    if len(text) > 1 and text[0] == text[-1] == '"' and '"' not in text[1:-1]:
        return EventFilter(text, text[1:-1], None)
    try:
        expression = parse(text)
    except ExpressionError as error:
        if any(operator in text for operator in _OPERATORS):
            raise FilterError(f"{error} For a plain text, put it in double quotes.") from error
        return EventFilter(text, text, None)
    if not any(operator in text for operator in _OPERATORS):
        return EventFilter(text, text, None)  # a single word is a name, too; whoever types it looks for the word
    return EventFilter(text, None, expression)
