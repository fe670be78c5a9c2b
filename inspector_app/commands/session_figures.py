"""What sessions are sorted and chosen by: their titles and figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from operator import attrgetter
from typing import Any

from inspector_app.commands.costs import recorded_models
from inspector_app.presentation.costs import CostSum, dollars, model_calls
from inspector_app.presentation.event_summary import is_failure
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.tokens import own_prices
from inspector_app.presentation.values import duration
from inspector_app.support.preferences import Preferences
from runtime.expressions import Expression, parse
from runtime.history.invocations import PendingItem, present
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import SessionSummary, StoredDatabase


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """A session's title and figures.

    Attributes:
        title: see `session_title`.
        events: number of events.
        tokens: tokens of its model calls, as their models reported them.
        cost: US dollars of its model calls; None if no price is known.
        duration: seconds from its first to its last event.
        errors: number of events that report a failure.
        waiting: number of items that wait for a person.
        updated: when it was last updated, epoch seconds.
        age: seconds since then.
    """

    title: str
    events: int
    tokens: int
    cost: float | None
    duration: float
    errors: int
    waiting: int
    updated: float
    age: float

    def cells(self, names: Sequence[str]) -> list[str]:
        """Return figures as text."""
        told = {
            "tokens": f"{self.tokens:,}",
            "cost": "unknown" if self.cost is None else dollars(Decimal(self.cost)),
            "duration": duration(self.duration),
            "errors": f"{self.errors:,}",
        }
        return [told[name] for name in names]


_NAMES: dict[str, Callable[[SessionFigures], Any]] = {
    name: attrgetter(name) for name in ("title", "events", "tokens", "cost", "duration", "errors", "waiting", "age")
}
OF_EVENTS = ("tokens", "cost", "duration", "errors")  # names whose values take reading all events


def _largest_first(name: str, figures: SessionFigures) -> tuple[bool, float]:
    value = getattr(figures, name)
    return value is None, -(value or 0)


# order → sort key; sessions without a value come last
ORDERS: dict[str, Callable[[SessionFigures], Any]] = {
    "newest": lambda figures: -figures.updated,
    "title": lambda figures: figures.title.casefold(),
    **{name: partial(_largest_first, name) for name in ("events", *OF_EVENTS, "waiting")},
}


def session_condition(text: str) -> Expression:
    """Read a condition over the names of `SessionFigures`.

    Raises:
        ExpressionError: it is none; the error has the position.
    """
    return parse(text, _NAMES)


def figures_read(order: str | None, condition: Expression | None) -> list[str]:
    """Return the names, used by an order or a condition, whose values take reading all events."""
    used = {order, *(mention.name for mention in (condition.mentions if condition is not None else ()))}
    return [name for name in OF_EVENTS if name in used]


class SessionReader:
    """Reads the events of a database's sessions, and prices their model calls.

    Args:
        database: the open database.
        target: its path or URL.
    """

    def __init__(self, database: StoredDatabase, target: str) -> None:
        self._database = database
        self._prices = Prices(own_prices(Preferences().prices))
        self._models = recorded_models(target)

    def read(self, key: SessionKey) -> tuple[CostSum, int, float]:
        """Return what a session's model calls used, its number of failures, and the seconds from its first to its last event."""
        events = list(self._database.plain_events(key))
        total = CostSum()
        for call in model_calls(key, events, self._prices, self._models):
            total.add(call)
        times = [event.timestamp for event in events]
        return total, sum(map(is_failure, events)), max(times, default=0.0) - min(times, default=0.0)


def figures_of(summary: SessionSummary, title: str, pending: Sequence[PendingItem], reader: SessionReader | None) -> SessionFigures:
    """Return a session's figures.

    Args:
        summary: the session.
        title: its title.
        pending: its pending items.
        reader: reads its events; None: the figures that take that are 0.
    """
    total, errors, seconds = reader.read(summary.key) if reader is not None else (CostSum(), 0, 0.0)
    return SessionFigures(
        title=title,
        events=summary.event_count or 0,
        tokens=total.tokens.input + total.tokens.output,
        cost=None if total.calls and total.unpriced == total.calls else float(total.cost),
        duration=seconds,
        errors=errors,
        waiting=sum(item.kind != "interrupted" for item in present(pending)),
        updated=summary.last_update_time,
        age=time.time() - summary.last_update_time,
    )
