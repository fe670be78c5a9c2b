"""Filters suggested by a value of an event. Pure, no Qt."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from inspector_app.presentation.event_summary import describe, short_id
from inspector_app.presentation.values import preview, visible
from runtime.expressions import ExpressionError, parse

if TYPE_CHECKING:
    from runtime.events.event import Event

MOST_KEYS = 8

LONGEST_VALUE = 200  # characters of a text in a filter


def value_filters(event: Event) -> list[tuple[str, str]]:
    """Return filters that match events like this one, as pairs of menu text and filter.

    Args:
        event: a committed event.
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


def filters_of_value(path: str, value: Any) -> list[tuple[str, str]]:
    """Return filters that match other events with this value, as pairs of menu text and filter.

    Args:
        path: the value's path in an expression, such as `call.pay.args["amount"]`; if it is not one, there are no filters.
        value: JSON data; for containers and long texts, the filter only tests that they exist.
    """
    found = []
    if value is None or isinstance(value, (bool, int, float)) or (isinstance(value, str) and _is_writable(value)):
        found.append(("events with this value", f"{path} == {_text(value)}"))
    found.append(("events that change this", f"{path} changed") if path.startswith("state[") else ("events that have this", path))
    return [(words, text) for words, text in found if _is_expression(text)]


def path_below(root: str, steps: Sequence[str | int]) -> str:
    """Return the path of a value inside another value.

    Args:
        root: the outer value's path, such as `call.pay.args`.
        steps: the keys and indices from there.
    """
    return root + "".join(f"[{step}]" if isinstance(step, int) else f"[{_text(step)}]" for step in steps)


def state_root(key: str) -> str:
    """Return the path of a state key."""
    return f"state[{_text(key)}]"


def call_root(kind: str, name: str) -> str:
    """Return the path of a call's arguments, or of a response.

    Args:
        kind: `call` or `response`.
        name: the tool's name.
    """
    return f"{kind}.{_step(name)}{'.args' if kind == 'call' else ''}"


def _is_expression(text: str) -> bool:
    try:
        parse(text)
    except ExpressionError:
        return False
    return text.isprintable()


def _is_writable(text: str) -> bool:
    """Return whether a text fits into a one-line filter."""
    return len(text) <= LONGEST_VALUE and text.isprintable()


def _text(value: Any) -> str:
    if isinstance(value, str):  # not as JSON: an expression escapes only these two characters
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return json.dumps(value)


def _step(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else _text(name)
