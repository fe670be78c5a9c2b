"""Sorts and filters the sessions of a user. Sorting is done in steps, because there can be 100,000 sessions."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from inspector_app.presentation.session_figures import session_condition
from inspector_app.presentation.values import counted, short_day, visible
from inspector_app.sessions.session_node import Summary
from runtime.expressions import Expression, ExpressionError
from runtime.sessions.session_key import SessionKey

T = TypeVar("T")
_CONDITION = re.compile(r"[<>=~]|\s(contains|matches|in)\s|^(not\s+)?(errors|waiting)$")
STEP = 1_000  # sessions handled between two yields, which takes a few milliseconds


@dataclass(frozen=True, slots=True)
class Order:
    """An order of sessions.

    Attributes:
        figure: the name of the figure by which it sorts, a key of `session_figures.ORDERS`; empty: it sorts by `rank`.
        rank: returns the sort key, which differs for all sessions of a user; None if there is a figure.
        told: returns the text about a page's first session; None if there is a figure.
    """

    figure: str = ""
    rank: Callable[[Summary], Any] | None = None
    told: Callable[[Summary], str] | None = None


NEWEST_FIRST = "Newest first"
# the orders that the user can choose, by their names
ORDERS: dict[str, Order] = {
    NEWEST_FIRST: Order(
        rank=lambda summary: (-summary.last_update_time, summary.key.session_id),
        told=lambda summary: short_day(summary.last_update_time),
    ),
    "Most events first": Order(
        rank=lambda summary: (-(summary.event_count or 0), summary.key.session_id),
        told=lambda summary: counted(summary.event_count or 0, "event"),
    ),
    "Highest cost first": Order("cost"),
    "Most tokens first": Order("tokens"),
    "Longest first": Order("duration"),
    "Most errors first": Order("errors"),
    "Waiting first": Order("waiting"),
    "By title": Order("title"),
    "By id": Order(rank=lambda summary: summary.key.session_id, told=lambda summary: visible(summary.key.session_id)),
}


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """What sessions are displayed.

    Attributes:
        words: each must occur in the title, app, user or id, ignoring case.
        condition: over the names of `SessionFigures`; None: only the words count.
        problem: what is wrong with the text as a condition; empty if it is none, or nothing is.
        now: when it is applied, epoch seconds.
    """

    words: Sequence[str] = ()
    condition: Expression | None = None
    problem: str = ""
    now: float = 0.0


def session_filter(text: str) -> SessionFilter:
    """Return the filter that a text means: a condition if it has a sign of one, else words."""
    stripped = text.strip()
    if _CONDITION.search(stripped):
        try:
            return SessionFilter(condition=session_condition(stripped))
        except ExpressionError as error:
            return SessionFilter(problem=str(error))
    return SessionFilter(stripped.casefold().split())


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
