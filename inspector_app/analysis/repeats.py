"""Runs of one message, compared: what they did, what they cost, how long they took."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector_app.presentation.costs import CostSum, model_calls
from inspector_app.presentation.prices import Prices
from runtime.events.kinds import text_of
from runtime.history.invocations import invocations
from runtime.history.run_ends import end_of
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.session_key import SessionKey
from runtime.support.texts import error_text
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from google.genai import types

    from inspector_app.analysis.evals import EvalAgent
    from runtime.events.event import Event


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run.

    Attributes:
        key: its session.
        status: `finished`, `paused`, `interrupted` or `failed`.
        path: the tools that were called and the agents that were transferred to, in order.
        answer: the last text of an agent.
        events: number of events.
        cost: tokens and costs of its model calls.
        seconds: how long it took.
        error: what it failed with; empty if it did not.
    """

    key: SessionKey
    status: str
    path: tuple[str, ...]
    answer: str
    events: int
    cost: CostSum
    seconds: float
    error: str = ""


@dataclass(frozen=True, slots=True)
class PathGroup:
    """The runs that took one path, in the order they ran."""

    path: tuple[str, ...]
    runs: tuple[RunFacts, ...]

    @property
    def seconds(self) -> float:
        """The mean duration."""
        return sum(run.seconds for run in self.runs) / len(self.runs)

    @property
    def cost(self) -> CostSum:
        """The sum of the tokens and costs."""
        return CostSum.of_sums(run.cost for run in self.runs)


async def run_once(agent: EvalAgent, key: SessionKey, messages: Sequence[types.Content], prices: Prices) -> RunFacts:
    """Send messages one after another, and return what the agent did. Its errors end the run and are part of the facts.

    Args:
        agent: the agent.
        key: its session, which exists.
        messages: what the user says.
        prices: the prices.
    """
    events: list[Event] = []
    began, error, status = time.perf_counter(), "", ""
    for message in messages:
        try:
            async with aclosing(agent.run(key, message.model_copy(deep=True))) as yielded:
                async for event in yielded:
                    events += [] if event.partial else [event]  # those before an error count, too
        except Exception as raised:
            error = error_text(raised)
        stored = await agent.events(key)
        found = invocations(stored, ends=_end(stored))
        status = "failed" if error else found[-1].status if found else "interrupted"
        if status != "finished":
            break
    seconds = time.perf_counter() - began
    return await run_in_thread(run_facts, key, events, status, seconds, prices, error)  # the first price takes a third of a second


def _end(events: Sequence[Event]) -> dict[str, RecordedEnd]:
    """Return the end of the last invocation, whose run did not fail."""
    own = [event for event in events if event.invocation_id == events[-1].invocation_id]
    end = end_of(own, None) if own else None
    return {own[-1].invocation_id: end} if end is not None else {}


def run_facts(key: SessionKey, events: Sequence[Event], status: str, seconds: float, prices: Prices, error: str = "") -> RunFacts:
    """Return what a run did.

    Args:
        key: its session.
        events: the run's committed events.
        status: how it ended.
        seconds: how long it took.
        prices: the prices.
        error: what it failed with.
    """
    cost = CostSum.of(model_calls(key, events, prices))
    said = [text for event in events if event.author != "user" and (text := text_of(event))]
    return RunFacts(key, status, path_of(events), said[-1] if said else "", len(events), cost, seconds, error)


def path_of(events: Iterable[Event]) -> tuple[str, ...]:
    """Return the tools that were called and the agents that were transferred to, in order."""
    steps: list[str] = []
    for event in events:
        steps += [call.name or "?" for call in event.get_function_calls() if call.name != "transfer_to_agent"]
        if event.actions.transfer_to_agent:
            steps.append(f"→ {event.actions.transfer_to_agent}")
    return tuple(steps)


def by_path(runs: Iterable[RunFacts]) -> list[PathGroup]:
    """Return the runs grouped by path, the most frequent path first."""
    found: dict[tuple[str, ...], list[RunFacts]] = {}
    for run in runs:
        found.setdefault(run.path, []).append(run)
    return [PathGroup(path, tuple(own)) for path, own in sorted(found.items(), key=lambda item: -len(item[1]))]
