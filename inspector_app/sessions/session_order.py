"""How the sessions of a user are sorted and found, also where they are 100,000."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from inspector_app.presentation.values import short_day, visible
from inspector_app.sessions.session_node import Summary
from runtime.sessions.session import SessionKey

T = TypeVar("T")
STEP = 1_000
"""Sessions that are looked at before whoever sorts gives way: a few milliseconds' worth."""


@dataclass(frozen=True, slots=True)
class Order:
    """One way of sorting.

    Attributes:
        rank: what is compared; no two sessions of a user have the same.
        told: what a page says of its first session.
    """

    rank: Callable[[Summary], Any]
    told: Callable[[Summary], str]


NEWEST_FIRST = "Newest first"
ORDERS: dict[str, Order] = {
    NEWEST_FIRST: Order(
        lambda summary: (-summary.last_update_time, summary.key.session_id), lambda summary: short_day(summary.last_update_time)
    ),
    "Most events first": Order(
        lambda summary: (-(summary.event_count or 0), summary.key.session_id), lambda summary: f"{summary.event_count or 0:,} events"
    ),
    "By id": Order(lambda summary: summary.key.session_id, lambda summary: visible(summary.key.session_id)),
}
"""How the sessions of a user may be sorted."""


def in_order(things: Sequence[T], rank: Callable[[T], Any]) -> Generator[None, None, list[T]]:
    """Return things sorted; gives way after each `STEP` of them. One call of `sorted` for all would hold the window for too long."""
    runs = []
    for first in range(0, len(things), STEP):
        runs.append(sorted(things[first : first + STEP], key=rank))
        if len(runs) > 1:
            yield
    if len(runs) <= 1:
        return runs[0] if runs else []
    found: list[T] = []
    for thing in heapq.merge(*runs, key=rank):
        found.append(thing)
        if len(found) % STEP == 0:
            yield
    return found


def matches(session: SessionKey, words: Sequence[str]) -> bool:
    """Return whether a session's app, user or id contains every one of some case-folded words."""
    if not words:
        return True
    text = f"{session.app_name}\n{session.user_id}\n{session.session_id}".casefold()
    return all(word in text for word in words)
