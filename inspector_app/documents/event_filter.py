"""Filters of events: an expression, or a text anywhere in the event. No Qt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from runtime.expressions import Expression, ExpressionError, ExpressionTooCostlyError, parse
from runtime.sessions.note import Note
from runtime.storage.reading.event_pages import Found, containing
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from runtime.events.event import Event
    from runtime.storage.reading import prefilter as prefilters
else:
    prefilters = lazy_module("runtime.storage.reading.prefilter")

_OPERATORS = (" changed", " contains ", " matches ", "call.", "response.", "==", "!=", "<", ">", "=~", "(", " and ", " or ", "not ", " in ")


_WORDS = ("bookmarked",)  # a condition alone


class FilterError(ValueError):
    """The filter has a syntax error; the message says what is wrong and where."""


@dataclass(frozen=True, slots=True)
class EventFilter:
    """A filter of events.

    Attributes:
        text: the filter as the user wrote it.
        needle: the text to find in any field, ignoring ASCII case; None for an expression.
        expression: the condition; None for a plain text.
        notes: the notes on the events, by event id.
    """

    text: str
    needle: str | None
    expression: Expression | None
    notes: Mapping[str, Note] = field(default_factory=dict)

    def depends_on(self, notes: Mapping[str, Note]) -> bool:
        """Return whether other events may pass with these notes, by event id, instead of the present ones."""
        if self.expression is not None:
            return self.expression.uses_notes
        return self.with_notes(notes)._noted != self._noted

    @property
    def _noted(self) -> list[str]:
        """The ids of the events whose notes contain the needle."""
        needle = (self.needle or "").casefold()
        return sorted(event_id for event_id, note in self.notes.items() if needle in note.text.casefold())

    def with_notes(self, notes: Mapping[str, Note]) -> EventFilter:
        """Return the same filter for events with these notes, by event id."""
        return replace(self, notes=dict(notes))

    @property
    def encodings(self) -> list[str]:
        """The needle as an event's JSON may contain it: in a value, with or without non-ASCII escaped, or as a piece of JSON."""
        assert self.needle is not None
        return list(dict.fromkeys([*_encodings(self.needle), self.needle]))

    @property
    def candidates(self) -> Found | None:
        """The SQL condition that the row of every event that passes meets; None if that may be every row."""
        if self.needle is not None:
            return containing([[*self.encodings, *(json.dumps(event_id)[1:-1] for event_id in self._noted)]])
        return prefilters.prefilter(self.expression.required, self.notes) if self.expression is not None else None

    @property
    def candidates_pass(self) -> bool:
        """Whether every row that meets `candidates` passes."""
        return self.needle is not None and not self._noted

    def matches(self, event: Event) -> bool:
        """Return whether an event passes."""
        if self.expression is not None:
            try:
                return self.expression.matches(event, None, self.notes.get(event.id))
            except ExpressionTooCostlyError:
                return False
        note = self.notes.get(event.id)
        if note is not None and self.needle is not None and self.needle.casefold() in note.text.casefold():
            return True
        text = event.model_dump_json(exclude_none=True).lower()
        return any(encoding.lower() in text for encoding in self.encodings)


def _encodings(text: str) -> list[str]:
    return list(dict.fromkeys(json.dumps(text, ensure_ascii=ascii_only)[1:-1] for ascii_only in (False, True)))


def read_filter(text: str) -> EventFilter | None:
    """Parse a filter: an expression if the text has an operator, else the text anywhere in an event or its note.

    Return None for a blank text. A text in double quotes is always a plain one.

    Args:
        text: the filter as the user wrote it.

    Raises:
        FilterError: the text has an operator and is not a valid expression.
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
            raise FilterError(f"{error} To search for plain text, put it in double quotes.") from error
        return EventFilter(text, text, None)
    if text not in _WORDS and not any(operator in text for operator in _OPERATORS):
        return EventFilter(text, text, None)  # a single word is a valid expression, too, but the user searches for the word
    return EventFilter(text, None, expression)
