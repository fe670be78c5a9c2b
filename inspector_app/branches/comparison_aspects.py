"""The aspects in which two matching events are compared, as text. No Qt, so that it can run on a worker thread."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from inspector_app.branches.view_data import Aspect
from inspector_app.presentation.event_summary import tokens_of
from inspector_app.presentation.values import clock_ms, duration
from runtime.compare.comparison import prompt_of, state_differences
from runtime.compare.event_differences import differences_of
from runtime.events.credentials import without_credentials
from runtime.history.state_at import History

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events.event import Event


def aspects_of(left: History, i: int | None, right: History, j: int | None, ids: frozenset[str]) -> list[Aspect]:
    """Return all aspects of two events, those that differ first.

    Args:
        left, right: the histories of the sessions.
        i, j: positions of the events; None if there is none.
        ids: the function call ids of both sessions.
    """
    one, other = (left.events[i] if i is not None else None), (right.events[j] if j is not None else None)
    found = [
        Aspect(" ".join(filter(None, (each.area, each.name))), _text(each.left), _text(each.right))
        for each in differences_of(one, other, ids)
        if each.area != "tokens"
    ]
    if not found and one is not None and other is not None:
        found.append(Aspect("event", _json(one), _json(other), False))
    if i is not None and j is not None:
        found.append(_state(left, i, right, j))
    found.append(_aspect("prompt", _prompt(left.events, i), _prompt(right.events, j)))
    found.append(_aspect("tokens", _tokens(one), _tokens(other)))
    found.append(Aspect("time", _time(left.events, i), _time(right.events, j), _seconds(left.events, i) != _seconds(right.events, j)))
    return sorted(found, key=lambda aspect: not aspect.differs)


def _aspect(name: str, left: str, right: str) -> Aspect:
    return Aspect(name, left, right, left != right)


def _state(left: History, i: int, right: History, j: int) -> Aspect:
    changes = state_differences(left, i, right, j)
    if not changes:
        return Aspect("state after", "the same", "the same", False)
    one = {change.key: change.before for change in changes if change.kind != "added"}
    other = {change.key: change.after for change in changes if change.kind != "removed"}
    return Aspect("state after", _text(one), _text(other))


def _prompt(events: Sequence[Event], index: int | None) -> str:
    if index is None or events[index].author == "user":
        return ""
    return "\n\n".join(f"{content.role}:\n{_content(content)}" for content in prompt_of(events, index))


def _content(content: types.Content) -> str:
    return "\n".join(part.text if part.text else _text(part.model_dump(mode="json", exclude_none=True)) for part in content.parts or [])


def _tokens(event: Event | None) -> str:
    if event is None or event.usage_metadata is None:
        return f"{tokens_of(event)}" if event is not None else ""
    usage = event.usage_metadata
    return "\n".join(
        f"{name}: {count:,}"
        for name, count in (
            ("prompt", usage.prompt_token_count),
            ("answer", usage.candidates_token_count),
            ("thoughts", usage.thoughts_token_count),
            ("total", usage.total_token_count),
        )
        if count is not None
    )


def _time(events: Sequence[Event], index: int | None) -> str:
    if index is None:
        return ""
    return f"{clock_ms(events[index].timestamp)}\n{duration(_seconds(events, index))} after the previous event"


def _seconds(events: Sequence[Event], index: int | None) -> float:
    """Return the seconds since the previous event of the same invocation; 0 for its first event."""
    if index is None or index == 0 or events[index - 1].invocation_id != events[index].invocation_id:
        return 0.0
    return round(max(0.0, events[index].timestamp - events[index - 1].timestamp), 3)


def _json(event: Event) -> str:
    return without_credentials(event).model_dump_json(exclude_none=True, indent=2)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=repr)
