"""Runs of an engine under the debugger."""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import Callable
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
) -> list[Event]:
    """Run to the end, and return the events that are not partial; call `at_hold` at each hold, which has to release it."""
    debugger = debugger or Debugger()
    engine.attach(debugger)
    events: list[Event] = []

    async def consume() -> None:
        async with aclosing(debugger.run(engine.run(key, message, invocation_id))) as run:
            async for event in run:
                if not event.partial:
                    events.append(event)

    run = asyncio.ensure_future(consume())
    while not run.done():
        held = asyncio.ensure_future(debugger.wait_until_held())
        await asyncio.wait({run, held}, return_when=asyncio.FIRST_COMPLETED)
        if held.done():
            done = at_hold(held.result())
            if inspect.isawaitable(done):
                await done
        else:
            held.cancel()
    await run
    return events


async def until(done: Callable[[], object], seconds: float = 20) -> None:
    """Wait for a condition of the child."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it did not happen in time"
        await asyncio.sleep(0.005)


def places(holds: list[Hold]) -> list[str]:
    """Return where an agent was held, shortly."""
    return [f"{hold.agent} {hold.place}" for hold in holds]
