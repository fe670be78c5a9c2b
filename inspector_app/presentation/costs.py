"""Sums of tokens and costs over the model calls of events. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from inspector_app.presentation.prices import Prices
from inspector_app.presentation.tokens import Tokens, tokens_of
from inspector_app.presentation.values import counted
from runtime.sessions.recorded_facts import RecordedFacts
from runtime.sessions.session_key import SessionKey

if TYPE_CHECKING:
    from runtime.events.event import Event

_NO_SESSION = SessionKey("", "", "")


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A model call whose tokens an event reports, or the call of an agent as a tool whose model calls are not known.

    Attributes:
        key: the session.
        invocation_id: the session's invocation.
        event_id: the event.
        agent: the event's author.
        model: the model's name, or None if neither the event nor a recording has it.
        tools: names of the tools that the answer called.
        tokens: the tokens.
        cost: US dollars, or None if the price is unknown.
        timestamp: the event's.
        is_nested: whether an agent that ran as a tool made the call.
        is_recorded: whether the call is known; of an agent as a tool that was not recorded, there are only its name and the calling event.
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
    is_nested: bool = False
    is_recorded: bool = True


@dataclass(slots=True)
class CostSum:
    """A sum over model calls.

    Attributes:
        calls: number of calls.
        tokens: their tokens.
        cost: US dollars of the calls with a known price.
        unpriced: number of calls whose price is unknown; they are not part of `cost`.
        nested: number of calls by agents that ran as tools.
        nested_tokens: the tokens of these.
        not_recorded: number of agents that ran as tools and are missing, as they were not recorded.
    """

    calls: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    cost: Decimal = Decimal(0)
    unpriced: int = 0
    nested: int = 0
    nested_tokens: int = 0
    not_recorded: int = 0

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
        if not call.is_recorded:
            self.not_recorded += 1
            return
        self.calls += 1
        if call.is_nested:
            self.nested += 1
            self.nested_tokens += call.tokens.input + call.tokens.output
        self.tokens += call.tokens
        if call.cost is None:
            self.unpriced += 1
        else:
            self.cost += call.cost

    def add_sum(self, other: CostSum) -> None:
        """Add the calls of another sum."""
        self.calls += other.calls
        self.tokens += other.tokens
        self.cost += other.cost
        self.unpriced += other.unpriced
        self.nested += other.nested
        self.not_recorded += other.not_recorded
        self.nested_tokens += other.nested_tokens


def model_calls(
    key: SessionKey, events: Iterable[Event], prices: Prices, recorded: RecordedFacts | None = None, default: str | None = None
) -> Iterator[ModelCall]:
    """Yield the model calls of a session, with those of the agents that it calls as tools.

    Args:
        key: the session.
        events: its events; those without tokens are no model calls.
        prices: the prices.
        recorded: what a recording knows: models of events that do not name theirs, and the events of agents as tools.
        default: the model of all other events.
    """
    recorded = recorded or RecordedFacts()

    def of_event(event: Event, invocation_id: str, is_nested: bool) -> Iterator[ModelCall]:
        tokens = tokens_of(event.usage_metadata)
        if tokens is not None and not event.partial:
            model = event.model_version or recorded.models.get(event.id) or default
            tools = tuple(dict.fromkeys(call.name or "?" for call in event.get_function_calls()))
            cost = prices.cost(model, tokens, event.timestamp)
            yield ModelCall(key, invocation_id, event.id, event.author, model, tools, tokens, cost, event.timestamp, is_nested)

    done: set[tuple[str, str | None]] = set()
    authors: set[tuple[str, str]] = set()
    unseen: list[ModelCall] = []
    for event in events:
        yield from of_event(event, event.invocation_id, is_nested=False)
        authors.add((event.invocation_id, event.author))
        for call in event.get_function_calls():
            place = (event.invocation_id, call.id)
            if place in done:
                continue
            done.add(place)
            inner = recorded.inside(*place)
            for one in inner:
                if one.event is not None:
                    yield from of_event(one.event, event.invocation_id, is_nested=True)
            missing = sum(one.event is None for one in inner)
            missing += not recorded.is_known(*place) and _may_run_an_agent(call)
            where = (key, event.invocation_id, event.id, call.name or "?")
            unseen += [ModelCall(*where, None, (), Tokens(), None, event.timestamp, is_nested=True, is_recorded=False)] * missing
    # an agent that runs as a tool within the session (google-adk's `single_turn`) has its events there
    yield from (call for call in unseen if (call.invocation_id, call.agent) not in authors)


def _may_run_an_agent(call: Any) -> bool:
    """Return whether a call has the one argument that google-adk's `AgentTool` asks for."""
    args = call.args
    return isinstance(args, Mapping) and len(args) == 1 and isinstance(args.get("request"), str)


def sums_of_runs(events: Sequence[Event], prices: Prices, recorded: RecordedFacts) -> list[tuple[int, CostSum]]:
    """Return the costs of each run of events with one invocation that has any, with the place of its first event.

    Args:
        events, prices, recorded: as for `model_calls`.
    """
    found: list[tuple[int, CostSum]] = []
    for first, run in _runs(events):
        total = CostSum()
        for call in model_calls(_NO_SESSION, run, prices, recorded):
            total.add(call)
        if total.calls or total.not_recorded:
            found.append((first, total))
    return found


def _runs(events: Sequence[Event]) -> Iterator[tuple[int, list[Event]]]:
    first = 0
    for _, group in groupby(events, key=attrgetter("invocation_id")):
        run = list(group)
        yield first, run
        first += len(run)


def dollars(cost: Decimal) -> str:
    """Return an amount for people: at least two significant digits, and never 0 for what is not free."""
    if cost == 0:
        return "$0"
    if cost >= 1:
        return f"${cost:,.2f}"
    return f"${cost:.{max(2, 1 - cost.adjusted())}f}"


def cost_text(found: CostSum) -> str:
    """Return a sum's costs for people; an unknown price is never shown as 0."""
    missing = " + not recorded" if found.not_recorded else ""
    if found.unpriced == found.calls:
        return ("unknown" if found.calls else "not recorded" if missing else "$0") + (missing if found.calls else "")
    return dollars(found.cost) + (" + unknown" if found.unpriced else "") + missing


def missing_text(found: CostSum) -> str:
    """Return which agents a sum is without; empty if none is missing."""
    agents = counted(found.not_recorded, "agent as a tool", "agents as tools")
    return f"without {agents}: not recorded" if found.not_recorded else ""


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
        "nested_calls": found.nested,
        "agents_not_recorded": found.not_recorded,
    }
