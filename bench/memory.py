"""Measure the window's memory while a million events stream through it.

`python -m bench.memory [--events N] [--pieces N]` opens a session of 10,000 events in the real window, off screen. A process commits N
more events to it as fast as it can; then an agent in the window streams N pieces of text. Resident memory is read at every tenth.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.generated import add_events, write_database
from bench.in_window import in_window

STORED, AT_ONCE = 10_000, 200
READINGS = 10

_AGENT = """
import asyncio, itertools
from google.genai import types
from runtime.agents import BaseAgent
from runtime.events import Event

class Talker(BaseAgent):
    async def _run_async_impl(self, ctx):
        wanted = int(ctx.user_content.parts[0].text)
        for answer in range(wanted // 1000):
            text = ""
            for number in range(1000):
                text += f"word {number} "
                yield Event(author=self.name, partial=True, content=types.Content(role="model", parts=[types.Part(text=f"word {number} ")]))
            yield Event(author=self.name, content=types.Content(role="model", parts=[types.Part(text=text)]))

root_agent = Talker(name="talker")
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.memory")
    parser.add_argument("--events", type=int, default=1_000_000, help="that another process commits")
    parser.add_argument("--pieces", type=int, default=1_000_000, help="of text that an agent in the window streams")
    parser.add_argument("--commit", metavar="DATABASE", help=argparse.SUPPRESS)
    parser.add_argument("--measure", choices=["committed", "streamed"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.commit:
        _commit(options.commit, options.events)
    elif options.measure:
        in_window(_committed(options.events) if options.measure == "committed" else _streamed(options.pieces))
    else:
        for name, count in (("committed", options.events), ("streamed", options.pieces)):
            amount = ["--events", str(options.events), "--pieces", str(options.pieces)]
            done = _python("--measure", name, *amount, stdout=subprocess.PIPE, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
            readings = json.loads(done.communicate()[0].splitlines()[-1])
            sys.stdout.write(f"{count:,} {name}, MB at every tenth: {', '.join(f'{reading:.0f}' for reading in readings)}\n")


def _python(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-m", "bench.memory", *arguments], text=True, **options)


def _commit(database: str, count: int) -> None:
    connection = sqlite3.connect(database, timeout=30)
    for first in range(STORED, STORED + count, AT_ONCE):
        add_events(connection, first, min(first + AT_ONCE, STORED + count))
    connection.close()


def _committed(count: int) -> Callable[[Any], Any]:
    async def look(inspector: Any) -> int:
        inspector.show((1280, 800))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "live.db"
            write_database(file, STORED)
            connection = sqlite3.connect(file)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.close()
            await inspector.open([str(file)])
            await inspector.tasks.wait_until_idle()
            events = inspector.features.stream.events
            writer = _python("--commit", str(file), "--events", str(count))
            await _read(lambda: events.event_count - STORED, count)
            writer.wait()
            await inspector.databases.close_database(str(file))
        return 0

    return look


def _streamed(count: int) -> Callable[[Any], Any]:
    async def look(inspector: Any) -> int:
        inspector.show((1280, 800))
        with tempfile.TemporaryDirectory() as folder:
            agent = Path(folder) / "talker"
            agent.mkdir()
            (agent / "agent.py").write_text(_AGENT)
            await inspector.open([str(agent)])
            inspector.run.send(str(count))
            events = inspector.features.stream.events
            await _read(lambda: max(events.event_count - 1, 0) * 1000, count)
            while inspector.run.phase != "idle":  # noqa: ASYNC110 - a benchmark may poll
                await asyncio.sleep(0.05)
        return 0

    return look


async def _read(done: Callable[[], int], count: int) -> None:
    """Print the resident memory at every tenth, as JSON."""
    readings, begun = [], time.perf_counter()
    for part in range(READINGS + 1):
        while done() < count * part // READINGS:  # noqa: ASYNC110 - a benchmark may poll
            await asyncio.sleep(0.02)
        readings.append(_resident_mb())
        sys.stderr.write(f"{done():,} after {time.perf_counter() - begun:.0f} s: {readings[-1]:.0f} MB\n")
    sys.stdout.write(json.dumps(readings) + "\n")


def _resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    main()
