"""The names in expressions, and how each is looked up in an event."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from runtime.events.kinds import cut_off, kind_of, text_of, tokens_of
from runtime.events.marks import EDITED
from runtime.expressions.budget import Budget
from runtime.expressions.values import NOTHING, plain
from runtime.support.context_window import context_window

if TYPE_CHECKING:
    from runtime.events.event import Event

Step = str | int | None  # one step of a path: a key, an index, or None for `*`


class Note(Protocol):
    """What a person noted at an event; see `runtime.sessions.note`."""

    @property
    def text(self) -> str:
        """The text; empty for a bookmark alone."""

    @property
    def is_bookmark(self) -> bool:
        """Whether the event is bookmarked."""


class View:
    """An event as an expression sees it.

    Args:
        event: the event.
        state_before: the state before it was committed, keys with prefixes; None if unknown.
        note: the note on it; None if it has none.
    """

    __slots__ = ("_json", "budget", "event", "note", "state_before")

    def __init__(self, event: Event, state_before: Mapping[str, Any] | None = None, note: Note | None = None) -> None:
        self.event = event
        self.state_before = state_before
        self.note = note
        self.budget = Budget()
        self._json: dict[str, Any] | None = None

    def json(self) -> dict[str, Any]:
        """Return the event's JSON, with null for other objects; empty if it cannot be converted."""
        if self._json is None:
            try:
                self._json = self.event.model_dump(mode="json", exclude_none=True, fallback=lambda other: None)
            except ValueError:  # such as an object that contains itself
                self._json = {}
        return self._json

    def json_text(self) -> str:
        """Return the event's JSON as text; empty if it cannot be written because it is nested too deeply or a number is too long."""
        try:
            return json.dumps(self.json(), ensure_ascii=False)
        except (ValueError, RecursionError):
            return ""


Simple = Callable[[Any], Any]  # of an event


def _context(event: Event) -> float | None:
    usage = event.usage_metadata
    prompt = (usage.prompt_token_count if usage else None) or 0
    window = context_window(event.model_version) if prompt else None
    return prompt / window if window else None


# Names with one value; null where the event has none.
SIMPLE: dict[str, Simple] = {
    "author": lambda event: event.author,
    "branch": lambda event: event.branch,
    "context": _context,
    "cut_off": cut_off,
    "edited": lambda event: EDITED in (event.custom_metadata or {}),
    "end_of_agent": lambda event: bool(event.actions.end_of_agent),
    "escalate": lambda event: bool(event.actions.escalate),
    "final": lambda event: event.is_final_response(),
    "id": lambda event: event.id,
    "invocation": lambda event: event.invocation_id,
    "kind": kind_of,
    "model": lambda event: event.model_version,
    "partial": lambda event: bool(event.partial),
    "text": text_of,
    "thought": lambda event: text_of(event, thoughts=True),
    "time": lambda event: event.timestamp,
    "transfer": lambda event: event.actions.transfer_to_agent,
}


def _error_text(event: Event) -> str | None:
    return ": ".join(part for part in (event.error_code, event.error_message) if part) or None


def _tokens(field: str) -> Simple:
    def count(event: Event) -> int:
        usage = event.usage_metadata
        return (getattr(usage, field) if usage else None) or 0

    return count


# Names with a value of their own and with fields: the value and the fields.
RECORDS: dict[str, tuple[Simple, dict[str, Simple]]] = {
    "error": (_error_text, {"code": lambda event: event.error_code, "message": lambda event: event.error_message}),
    "tokens": (
        tokens_of,
        {
            "total": tokens_of,
            "prompt": _tokens("prompt_token_count"),
            "answer": _tokens("candidates_token_count"),
            "thoughts": _tokens("thoughts_token_count"),
            "cached": _tokens("cached_content_token_count"),
        },
    ),
}

# Objects with arbitrary keys; the name alone means the keys.
OBJECTS: dict[str, Simple] = {
    "artifact": lambda event: event.actions.artifact_delta,
    "checkpoint": lambda event: event.actions.agent_state,
    "delta": lambda event: event.actions.state_delta,
    "metadata": lambda event: event.custom_metadata,
}


def _calls(event: Event, name: Step) -> Iterator[Any]:
    for call in event.get_function_calls():
        if name is None or call.name == name:
            yield {"name": call.name, "id": call.id, "args": call.args or {}}


def _responses(event: Event, name: Step) -> Iterator[Any]:
    for response in event.get_function_responses():
        if name is None or response.name == name:
            yield response.response or {}


def _call_names(event: Event) -> Iterator[Any]:
    return (call.name for call in event.get_function_calls())


def _response_names(event: Event) -> Iterator[Any]:
    return (response.name for response in event.get_function_responses())


# Named items that an event may have several of: all names, and the items of one name (None: all items).
NAMED: dict[str, tuple[Callable[[Event], Iterator[Any]], Callable[[Event, Step], Iterator[Any]]]] = {
    "call": (_call_names, _calls),
    "response": (_response_names, _responses),
}

# What people noted at an event, which is not part of it.
NOTED: dict[str, Callable[[Note | None], Any]] = {
    "bookmarked": lambda note: note is not None and note.is_bookmark,
    "note": lambda note: (note.text or None) if note is not None else None,
}

# The type of names that always have the same one, or null.
TYPES: dict[str, str] = {
    **dict.fromkeys(
        ("author", "branch", "cut_off", "id", "invocation", "kind", "model", "note", "text", "thought", "transfer", "error"), "a text"
    ),
    **dict.fromkeys(("context", "time", "tokens"), "a number"),
    "title": "a text",  # of sessions, as the next ones
    **dict.fromkeys(("events", "cost", "duration", "errors", "waiting", "age"), "a number"),
    **dict.fromkeys(("bookmarked", "edited", "end_of_agent", "escalate", "final", "partial"), "true or false"),
}

ALL_NAMES = sorted([*SIMPLE, *RECORDS, *OBJECTS, *NAMED, *NOTED, "state", "json"])


def state_after(view: View, key: str) -> Any:
    """Return a state key's value after the event; NOTHING if it is missing or unknown."""
    delta = view.event.actions.state_delta
    if key in delta:
        return plain(delta[key])
    before = view.state_before
    return plain(before[key]) if before is not None and key in before else NOTHING


def state_before(view: View, key: str) -> Any:
    """Return a state key's value before the event; NOTHING if it was missing or is unknown."""
    before = view.state_before
    return plain(before[key]) if before is not None and key in before else NOTHING


def walk(value: Any, steps: tuple[Step, ...], budget: Budget) -> Iterator[Any]:
    """Yield the values at a path: one, none, or with `*` any number."""
    for number, step in enumerate(steps):
        if step is None:
            if type(value) is not dict and type(value) is not list:
                return
            budget.spend(len(value))
            for item in value.values() if type(value) is dict else value:
                yield from walk(plain(item), steps[number + 1 :], budget)
            return
        value = one_step(value, step)
        if value is NOTHING:
            return
    yield value


def one_step(value: Any, step: str | int) -> Any:
    """Return an object's value for a key, or a list's item; NOTHING if it is missing."""
    if type(value) is dict:
        return plain(value.get(step, NOTHING)) if type(step) is str else NOTHING
    if type(value) is list and type(step) is int and -len(value) <= step < len(value):
        return plain(value[step])
    return NOTHING
