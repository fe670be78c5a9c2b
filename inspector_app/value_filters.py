"""Filters that a value of an event suggests. Pure, no Qt."""

from __future__ import annotations

import json

from inspector_app.presentation import describe, short_id
from inspector_app.values import preview, visible
from runtime.events.event import Event

MOST_KEYS = 8


def value_filters(event: Event) -> list[tuple[str, str]]:
    """Return filters that let events like this one through: words for a menu, and the filter.

    Args:
        event: committed.
    """
    kind = describe(event).kind
    found = [
        (f"author {visible(event.author[:40])}", f"author == {_text(event.author)}"),
        (f"kind {kind}", f"kind == {_text(kind)}"),
        (f"invocation {short_id(event.invocation_id)}", f"invocation == {_text(event.invocation_id)}"),
    ]
    if event.branch:
        found.append((f"branch {visible(event.branch[:60])}", f"branch == {_text(event.branch)}"))
    for call in event.get_function_calls()[:MOST_KEYS]:
        found.append((f"calls of {visible((call.name or '?')[:40])}", f"call.{_step(call.name or '?')}"))
        for key, value in list((call.args or {}).items())[:MOST_KEYS]:
            if isinstance(value, (str, int, float)) and len(str(value)) < 100:
                words = f"{visible((call.name or '?')[:40])} with {visible(key[:40])} = {preview(value, 40)}"
                found.append((words, f"call.{_step(call.name or '?')}.args.{_step(key)} == {_text(value)}"))
    for response in event.get_function_responses()[:MOST_KEYS]:
        found.append((f"responses of {visible((response.name or '?')[:40])}", f"response.{_step(response.name or '?')}"))
    for key in list(event.actions.state_delta)[:MOST_KEYS]:
        found.append((f"changes of {visible(key[:40])}", f"state[{_text(key)}] changed"))
    return found


def _text(value: str | int | float) -> str:
    return json.dumps(value, ensure_ascii=False)


def _step(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else json.dumps(name, ensure_ascii=False)
