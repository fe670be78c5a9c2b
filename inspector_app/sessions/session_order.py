"""Sorts and filters the sessions of a user. Sorting is done in steps, because there can be 100,000 sessions."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from inspector_app.presentation.values import counted, short_day, visible
from inspector_app.sessions.session_node import Summary
from runtime.sessions.session_key import SessionKey

T = TypeVar("T")
STEP = 1_000  # sessions handled between two yields, which takes a few milliseconds


@dataclass(frozen=True, slots=True)
class Order:
    """An order of sessions.

    Attributes:
        rank: returns the sort key, which differs for all sessions of a user.
        told: returns the text about a page's first session.
    """

    rank: Callable[[Summary], Any]
    told: Callable[[Summary], str]


NEWEST_FIRST = "Newest first"
# the orders that the user can choose, by their names
ORDERS: dict[str, Order] = {
    NEWEST_FIRST: Order(
        lambda summary: (-summary.last_update_time, summary.key.session_id), lambda summary: short_day(summary.last_update_time)
    ),
    "Most events first": Order(
        lambda summary: (-(summary.event_count or 0), summary.key.session_id), lambda summary: counted(summary.event_count or 0, "event")
    ),
    "By id": Order(lambda summary: summary.key.session_id, lambda summary: visible(summary.key.session_id)),
}


def in_order(things: Sequence[T], rank: Callable[[T], Any]) -> Generator[None, None, list[T]]:
    """Sort things; yield after each `STEP` of them, and return the sorted list.

    One call of `sorted` for all of them would block the window for too long.
    """
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


def matches(session: SessionKey, title: str, words: Sequence[str]) -> bool:
    """Return whether each word occurs in a session's title, app, user or id.

    Args:
        session: the session.
        title: its title; empty if that is not known.
        words: case-folded words.
    """
    if not words:
        return True
    text = f"{title}\n{session.app_name}\n{session.user_id}\n{session.session_id}".casefold()
    return all(word in text for word in words)
