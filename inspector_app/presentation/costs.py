"""Sums of tokens and costs over the model calls of events. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from inspector_app.presentation.prices import Prices
from inspector_app.presentation.tokens import Tokens, tokens_of
from runtime.sessions.session_key import SessionKey

if TYPE_CHECKING:
    from runtime.events.event import Event


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A model call whose tokens an event reports.

    Attributes:
        key: the session.
        invocation_id: the invocation.
        event_id: the event.
        agent: the event's author.
        model: the model's name, or None if neither the event nor a recording has it.
        tools: names of the tools that the answer called.
        tokens: the tokens.
        cost: US dollars, or None if the price is unknown.
        timestamp: the event's.
    """

    key: SessionKey
    invocation_id: str
    event_id: str
    agent: str
    model: str | None
    tools: tuple[str, ...]
    tokens: Tokens
    cost: Decimal | None
    timestamp: float


@dataclass(slots=True)
class CostSum:
    """A sum over model calls.

    Attributes:
        calls: number of calls.
        tokens: their tokens.
        cost: US dollars of the calls with a known price.
        unpriced: number of calls whose price is unknown; they are not part of `cost`.
    """

    calls: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    cost: Decimal = Decimal(0)
    unpriced: int = 0

    @classmethod
    def of(cls, calls: Iterable[ModelCall]) -> CostSum:
        """Return the sum of calls."""
        total = cls()
        for call in calls:
            total.add(call)
        return total

    @classmethod
    def of_sums(cls, sums: Iterable[CostSum]) -> CostSum:
        """Return the sum of the calls of several sums."""
        total = cls()
        for each in sums:
            total.add_sum(each)
        return total

    def add(self, call: ModelCall) -> None:
        """Add a call."""
        self.add_call(call.tokens, call.cost)

    def add_call(self, tokens: Tokens, cost: Decimal | None) -> None:
        """Add a call by its tokens and its price, which may be unknown."""
        self.calls += 1
        self.tokens += tokens
        if cost is None:
            self.unpriced += 1
        else:
            self.cost += cost

    def add_sum(self, other: CostSum) -> None:
        """Add the calls of another sum."""
        self.calls += other.calls
        self.tokens += other.tokens
        self.cost += other.cost
        self.unpriced += other.unpriced


def model_calls(
    key: SessionKey, events: Iterable[Event], prices: Prices, models: Mapping[str, str] | None = None, default: str | None = None
) -> Iterator[ModelCall]:
    """Yield the model calls of a session.

    Args:
        key: the session.
        events: its events; those without tokens are no model calls.
        prices: the prices.
        models: event id → model, of a recording; used for events that do not name their model.
        default: the model of all other events.
    """
    for event in events:
        tokens = tokens_of(event.usage_metadata)
        if tokens is None or event.partial:
            continue
        model = event.model_version or (models or {}).get(event.id) or default
        tools = tuple(dict.fromkeys(call.name or "?" for call in event.get_function_calls()))
        cost = prices.cost(model, tokens, event.timestamp)
        yield ModelCall(key, event.invocation_id, event.id, event.author, model, tools, tokens, cost, event.timestamp)


def sums_of_runs(events: Iterable[Event], prices: Prices, models: Mapping[str, str]) -> list[tuple[int, CostSum]]:
    """Return the costs of each run of events with one invocation that has any, with the place of its first event.

    Args:
        events, prices, models: as for `model_calls`.
    """
    found: list[tuple[int, CostSum]] = []
    invocation_id: str | None = None
    first, run = 0, CostSum()
    for place, event in enumerate(events):
        if event.invocation_id != invocation_id:
            invocation_id, first, run = event.invocation_id, place, CostSum()
        tokens = tokens_of(event.usage_metadata)
        if tokens is None or event.partial:
            continue
        if not run.calls:
            found.append((first, run))
        run.add_call(tokens, prices.cost(event.model_version or models.get(event.id), tokens, event.timestamp))
    return found


def dollars(cost: Decimal) -> str:
    """Return an amount for people: at least two significant digits, and never 0 for what is not free."""
    if cost == 0:
        return "$0"
    if cost >= 1:
        return f"${cost:,.2f}"
    return f"${cost:.{max(2, 1 - cost.adjusted())}f}"


def cost_text(found: CostSum) -> str:
    """Return a sum's costs for people; an unknown price is never shown as 0."""
    if found.unpriced == found.calls:
        return "unknown" if found.calls else "$0"
    return dollars(found.cost) + (" + unknown" if found.unpriced else "")


def cost_json(found: CostSum) -> dict[str, Any]:
    """Return a sum as JSON values; `cost_usd` is null if no price is known."""
    return {
        "calls": found.calls,
        "input_tokens": found.tokens.input,
        "cached_tokens": found.tokens.cached,
        "output_tokens": found.tokens.output,
        "thought_tokens": found.tokens.thoughts,
        "cost_usd": None if found.calls and found.unpriced == found.calls else float(found.cost),
        "calls_without_price": found.unpriced,
    }
