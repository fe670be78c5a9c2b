"""The engine's benchmark without an engine: `python engine_work.py FOLDER ROUNDS WORK COUNT …` uses google-adk's own Runner.

FOLDER has the agent, a module `bench_agent`. After the name of each WORK and its COUNT, prints one JSON object: name → the least µs of a
unit in any round, wall and CPU. The imports are google-adk's, of the Python that runs this.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import time
import warnings
from contextlib import aclosing
from typing import Any

OF = {"app_name": "bench_agent", "user_id": "u"}


async def main() -> None:
    """Measure and print."""
    folder, rounds, *work = sys.argv[1:]
    sys.path.insert(0, folder)
    found: dict[str, list[float]] = {}
    agent = importlib.import_module("bench_agent").root_agent
    sessions = importlib.import_module("google.adk.sessions")
    runner = importlib.import_module("google.adk.runners").Runner(
        app_name="bench_agent", agent=agent, session_service=sessions.InMemorySessionService()
    )
    for _ in range(int(rounds)):
        for name, count in zip(work[::2], work[1::2], strict=True):
            wall, cpu = await _run(runner, f"{name} {count}")
            best = found.setdefault(name, [wall, cpu])
            found[name] = [min(best[0], wall), min(best[1], cpu)]
    figures = {name: [value / int(count) * 1e6 for value in found[name]] for name, count in zip(work[::2], work[1::2], strict=True)}
    sys.stdout.write(json.dumps(figures) + "\n")


async def _run(runner: Any, message: str) -> tuple[float, float]:
    types = importlib.import_module("google.genai.types")
    config = importlib.import_module("google.adk.agents.run_config")
    session = await runner.session_service.create_session(**OF)
    content = types.Content(role="user", parts=[types.Part(text=message)])
    streaming = config.RunConfig(streaming_mode=config.StreamingMode.SSE)
    began, used = time.perf_counter(), time.process_time()
    async with aclosing(runner.run_async(user_id="u", session_id=session.id, new_message=content, run_config=streaming)) as events:
        async for _ in events:
            pass
    return time.perf_counter() - began, time.process_time() - used


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asyncio.run(main())
