"""What sessions are sorted and chosen by: their titles and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector_app.presentation.costs import CostSum, dollars, model_calls
from inspector_app.presentation.event_summary import is_failure
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.values import counted, short_day
from inspector_app.presentation.values import duration as span
from runtime.expressions import Expression, parse
from runtime.history.invocations import PendingItem, present
from runtime.sessions.recorded_facts import RecordedFacts
from runtime.sessions.session_key import SessionKey

if TYPE_CHECKING:
    from runtime.events.event import Event


class EventFigures(NamedTuple):
    """The figures of a session that take reading its events.

    Attributes:
        tokens: tokens of its model calls, as their models reported them.
        cost: US dollars of its model calls; None if no price is known.
        duration: seconds from its first to its last event.
        errors: number of events that report a failure.
    """

    tokens: int | None = None
    cost: float | None = None
    duration: float | None = None
    errors: int | None = None


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """A session's title and figures.

    Attributes:
        title: see `session_title`.
        events: number of events.
        waiting: number of items that wait for a person.
        updated: when it was last updated, epoch seconds.
        age: seconds since then.
        tokens, cost, duration, errors: see `EventFigures`; None as long as its events are not read.
    """

    title: str
    events: int
    waiting: int
    updated: float
    age: float
    tokens: int | None = None
    cost: float | None = None
    duration: float | None = None
    errors: int | None = None

    def told(self, name: str) -> str:
        """Return a figure as text."""
        value = getattr(self, name if name != "newest" else "updated")
        if value is None:
            return "unknown"
        words: dict[str, Callable[[Any], str]] = {
            "newest": short_day,
            "title": str,
            "cost": lambda cost: dollars(Decimal(cost)),
            "duration": span,
            "events": lambda count: counted(count, "event"),
        }
        return words[name](value) if name in words else f"{value:,}"


_NAMES: dict[str, Callable[[SessionFigures], Any]] = {
    name: attrgetter(name) for name in ("title", "events", "tokens", "cost", "duration", "errors", "waiting", "age")
}
OF_EVENTS = EventFigures._fields  # names whose values take reading all events


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


def figures_used(order: str, condition: Expression | None) -> frozenset[str]:
    """Return the names of the figures that an order, which may be empty, and a condition use."""
    used = {order, *(mention.name for mention in (condition.mentions if condition is not None else ()))}
    return frozenset(used - {""})


def event_figures(key: SessionKey, events: Sequence[Event], prices: Prices, recorded: RecordedFacts) -> EventFigures:
    """Return the figures of a session's events.

    Args:
        key: the session.
        events: all its events.
        prices: the prices.
        recorded: what a recording knows of them.
    """
    total = CostSum.of(model_calls(key, events, prices, recorded))
    times = [event.timestamp for event in events]
    cost = None if total.calls and total.unpriced == total.calls else float(total.cost)
    seconds = max(times, default=0.0) - min(times, default=0.0)
    return EventFigures(total.tokens.input + total.tokens.output, cost, seconds, sum(map(is_failure, events)))


def session_figures(title: str, events: int | None, updated: float, waiting: int, read: EventFigures | None, now: float) -> SessionFigures:
    """Return a session's figures.

    Args:
        title: its title.
        events: number of its events; None: not counted.
        updated: its last update, epoch seconds.
        waiting: number of items that wait for a person.
        read: the figures of its events; None: they are not read.
        now: epoch seconds.
    """
    return SessionFigures(title, events or 0, waiting, updated, now - updated, *(read or EventFigures()))


def waiting_of(pending: Iterable[PendingItem]) -> int:
    """Return how many of a session's pending items wait for a person."""
    return sum(item.kind != "interrupted" for item in present(tuple(pending)))
