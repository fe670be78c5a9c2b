"""How much of a processor the window uses while nothing happens.

`python -m bench.idle [--seconds S]` prints the share for an empty window, a stored session, its charts, a session that another process has
open, and a paused run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.generated import add_events, write_database
from bench.in_window import in_window

STORED = 1_000
_SETTLED = 12.0  # seconds after a change, when timers of the start and of the tail have ended, and the text cursor stays

_AGENT = """
from google.genai import types
from runtime.agents import BaseAgent
from runtime.events import Event

class Talker(BaseAgent):
    async def _run_async_impl(self, ctx):
        yield Event(author=self.name, content=types.Content(role="model", parts=[types.Part(text="an answer")]))

root_agent = Talker(name="talker")
"""


def main() -> None:
    """Measure and print as JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.idle")
    parser.add_argument("--seconds", type=float, default=60, help="of each")
    options = parser.parse_args()
    figures: dict[str, float] = {}

    async def look(inspector: Any) -> int:
        inspector.show((1280, 800))
        with tempfile.TemporaryDirectory() as folder:
            await _look(inspector, Path(folder), options.seconds, figures)
        return 0

    in_window(look)
    figures["idle: the most of these, %"] = max(figures.values())
    sys.stdout.write(json.dumps(figures) + "\n")


async def _look(inspector: Any, folder: Path, seconds: float, figures: dict[str, float]) -> None:
    async def measure(name: str) -> None:
        figures[f"idle: {name}, %"] = await _share(seconds)

    await measure("nothing open")
    file = folder / "stored.db"
    write_database(file, STORED)
    await inspector.open([str(file)])
    await inspector.tasks.wait_until_idle()
    await measure("a stored session")
    inspector.window.workbench.raise_pane("charts")
    await measure("its charts")
    inspector.window.workbench.raise_pane("pending")
    connection = sqlite3.connect(file)
    add_events(connection, STORED, STORED + 10)
    while inspector.features.stream.events.event_count < STORED + 10:  # noqa: ASYNC110 - a benchmark may poll
        await asyncio.sleep(0.05)
    await measure("a session that another process has open")
    connection.close()
    agent = folder / "talker"
    agent.mkdir()
    (agent / "agent.py").write_text(_AGENT)
    await inspector.open([str(agent)])
    inspector.cursor.select_session(None)  # the agent begins one of its own
    inspector.run.send("hello", paused=True)
    while inspector.run.hold is None:  # noqa: ASYNC110 - a benchmark may poll
        await asyncio.sleep(0.05)
    await measure("a paused run")
    inspector.run.continue_run()
    while inspector.run.phase != "idle":  # noqa: ASYNC110 - a benchmark may poll
        await asyncio.sleep(0.05)
    await inspector.databases.close_database(str(file))


async def _share(seconds: float) -> float:
    await asyncio.sleep(_SETTLED)
    began, spent = time.perf_counter(), time.process_time()
    await asyncio.sleep(seconds)
    return round((time.process_time() - spent) / (time.perf_counter() - began) * 100, 3)


if __name__ == "__main__":
    main()
