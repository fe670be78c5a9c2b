"""Runs of an engine under the debugger."""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from google.genai import types

from inspector_app.engines.protocol import Engine
from runtime.debugger.debugger import Debugger
from runtime.debugger.hold import Hold
from runtime.events.event import Event
from runtime.sessions.session import SessionKey


def script(*steps: list[Any]) -> types.Content:
    """Return a message that tells the agent `steps` what its model answers."""
    return text(json.dumps(steps))


def text(message: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=message)])


def response(call_id: str | None, name: str, result: dict[str, Any]) -> types.Content:
    part = types.Part(function_response=types.FunctionResponse(id=call_id, name=name, response=result))
    return types.Content(role="user", parts=[part])


async def drive(
    engine: Engine,
    key: SessionKey,
    message: types.Content | None,
    debugger: Debugger | None = None,
    at_hold: Callable[[Hold], Any] = lambda hold: None,
    invocation_id: str | None = None,
    run: AsyncGenerator[Event, None] | None = None,
) -> list[Event]:
    """Run to the end, and return the events that are not partial; call `at_hold` at each hold, which has to release it.

    With `run`, that is run, and the other arguments are not sent.
    """
    debugger = debugger or Debugger()
    if run is None:
        engine.attach(debugger)
    events: list[Event] = []

    async def consume() -> None:
        async with aclosing(debugger.run(run or engine.run(key, message, invocation_id))) as stream:
            async for event in stream:
                if not event.partial:
                    events.append(event)

    running = asyncio.ensure_future(consume())
    while not running.done():
        held = asyncio.ensure_future(debugger.wait_until_held())
        await asyncio.wait({running, held}, return_when=asyncio.FIRST_COMPLETED)
        if held.done():
            done = at_hold(held.result())
            if inspect.isawaitable(done):
                await done
        else:
            held.cancel()
    await running
    return events


async def until(done: Callable[[], object], seconds: float = 20) -> None:
    """Wait for a condition of the child."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it did not happen in time"
        await asyncio.sleep(0.005)


def summary(events: list[Event]) -> list[str]:
    """Return the contents of events, shortly."""
    shown = []
    for event in events:
        parts = (event.content.parts if event.content else None) or []
        for part in parts:
            call, result = part.function_call, part.function_response
            shown.append(f"call {call.name}" if call else f"result {result.response}" if result else f"text {part.text}")
    return shown


def places(holds: list[Hold]) -> list[str]:
    """Return where an agent was held, shortly."""
    return [f"{hold.agent} {hold.place}" for hold in holds]
