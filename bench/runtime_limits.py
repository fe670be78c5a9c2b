"""The least cost of the runtime's work: the same work without the runtime."""

from __future__ import annotations

import asyncio
import gc
import statistics
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any

from google.genai import types
from pydantic import BaseModel

from bench.runtime_work import DELTA, PARTS, ROUNDS
from bench.table import Figures


@dataclass(slots=True)
class LightEvent:
    """The lightest possible event."""

    author: str
    text: str
    state_delta: dict[str, Any] = field(default_factory=dict)
    partial: bool = False


class LeanEvent(BaseModel):
    """An event with the fields that every event has."""

    author: str
    invocation_id: str
    content: types.Content
    state_delta: dict[str, Any]


def runtime_limits(scale: float) -> Figures:
    """Return the lower limit of each figure of `runtime_work.py`, by its name."""
    count = max(20, int(2000 * scale))
    whole, partial = asyncio.run(_passed_on(count, partial=False)), asyncio.run(_passed_on(count, partial=True))
    content = _content()
    return {
        "an event, µs": _repeated(count, lambda: _lean(_content())) + whole,
        "an event, its content made once, µs": _repeated(count, lambda: _lean(content)) + whole,
        "an event made beforehand, µs": whole,
        "a partial event, µs": _repeated(count, lambda: _lean(_content())) + partial,
        "a partial event, its content made once, µs": _repeated(count, lambda: _lean(content)) + partial,
        "a partial event made beforehand, µs": partial,
        "building an event, µs": _repeated(count, lambda: _lean(_content())),
        "memory: turn, fresh session, CPU ms": _repeated(count // 10, _turn) / 1e3,
    }


async def _passed_on(count: int, *, partial: bool) -> float:
    """Return the CPU µs of an event in a minimal runner: commit, pass on."""
    used = []
    for _ in range(ROUNDS):
        events = [LightEvent("emitter", "x", dict(DELTA), partial) for _ in range(count)]
        gc.collect()
        began = time.process_time()
        async for _event in _smallest_runner(events):
            pass
        used.append((time.process_time() - began) / count)
    return statistics.median(used) * 1e6


async def _smallest_runner(events: list[LightEvent]) -> AsyncGenerator[LightEvent, None]:
    history: list[LightEvent] = []
    state: dict[str, Any] = {}
    async for event in _agent(events):
        if not event.partial:
            history.append(event)
            state.update(event.state_delta)
        yield event


async def _agent(events: list[LightEvent]) -> AsyncGenerator[LightEvent, None]:
    for event in events:
        yield event


def _content() -> types.Content:
    return types.Content(role="model", parts=[types.Part(**PARTS)])  # type: ignore[arg-type]


def _lean(content: types.Content) -> LeanEvent:
    return LeanEvent(author="emitter", invocation_id="i", content=content, state_delta=dict(DELTA))


def _turn() -> None:
    """Create the parts of a turn: four events and their contents."""
    call = types.FunctionCall(name="look_up", args={"item": "paper"})
    answer = types.FunctionResponse(name="look_up", response={"item": "paper", "cents": 500})
    parts = (types.Part(text="go"), types.Part(function_call=call), types.Part(function_response=answer), types.Part(text="done"))
    for part in parts:
        _lean(types.Content(role="model", parts=[part]))


def _repeated(count: int, work: Callable[[], object]) -> float:
    used = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(count):
            work()
        used.append((time.process_time() - began) / count)
    return statistics.median(used) * 1e6
