"""The work that is measured, written for google-adk's public names, so that both runtimes do the very same.

`python work.py PACKAGE SIZE` prints a JSON object of figures; PACKAGE is `runtime` or `google.adk`.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

TEXT = "The warehouse answered; here is what it said. " * 8
"""Makes an event of about 700 bytes of JSON, together with its three state keys."""


def measure(package: str, size: int) -> dict[str, float]:
    """Return figure name → value.

    Args:
        package: `runtime` or `google.adk`.
        size: events of the longest run.
    """
    started = time.perf_counter()
    names = _Names(package)
    figures = {"import Runner and LlmAgent, ms": (time.perf_counter() - started) * 1000}
    figures["events/s in memory"] = asyncio.run(_events_per_second(names, names.in_memory(), size))
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite{'+aiosqlite' if package == 'google.adk' else ''}:///{Path(folder) / 'bench.db'}"
        figures |= asyncio.run(_durable(names, url, size))
    return figures


class _Names:
    """The names of one of the two runtimes."""

    def __init__(self, package: str) -> None:
        def load(module: str, name: str) -> Any:
            return getattr(importlib.import_module(f"{package}.{module}"), name)

        self.runner, self.llm_agent = load("runners", "Runner"), load("agents", "LlmAgent")
        self.base_agent = load("agents.base_agent", "BaseAgent")
        self.event, self.actions = load("events", "Event"), load("events", "EventActions")
        self.in_memory = load("sessions", "InMemorySessionService")
        self.load = load
        self.types = importlib.import_module("google.genai.types")

    def talker(self, count: int) -> Any:
        """Return an agent that yields so many events."""
        names = self

        class Talker(self.base_agent):  # type: ignore[misc,name-defined]
            async def _run_async_impl(self, ctx: Any) -> AsyncGenerator[Any, None]:
                for number in range(count):
                    yield names.event(
                        author=self.name,
                        invocation_id=ctx.invocation_id,
                        content=names.types.Content(role="model", parts=[names.types.Part(text=TEXT)]),
                        actions=names.actions(state_delta={"step": number, "user:last": number, "note": TEXT[:80]}),
                    )

        return Talker(name="talker")


async def _events_per_second(names: _Names, service: Any, count: int) -> float:
    session = await service.create_session(app_name="bench", user_id="u")
    runner = names.runner(app_name="bench", agent=names.talker(count), session_service=service)
    message = names.types.Content(role="user", parts=[names.types.Part(text="go")])
    started = time.perf_counter()
    seen = 0
    async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=message):
        seen += 1
    assert seen == count
    return count / (time.perf_counter() - started)


async def _durable(names: _Names, url: str, count: int) -> dict[str, float]:
    service = names.load("sessions", "DatabaseSessionService")(url)
    figures = {"durable events/s, SQLite": await _events_per_second(names, service, max(count // 5, 20))}
    (session,) = (await service.list_sessions(app_name="bench", user_id="u")).sessions
    started = time.perf_counter()
    whole = await service.get_session(app_name="bench", user_id="u", session_id=session.id)
    figures[f"get_session of {len(whole.events)} events, ms"] = (time.perf_counter() - started) * 1000
    await service.close()
    return figures


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(sys.argv[1], int(sys.argv[2]))) + "\n")
