"""Measure the window on long sessions: the stream, the state and the filter.

`python -m bench.stream [--events N …] [--seconds S] [--keep FOLDER]` measures the start of the empty window, then generates databases,
opens each in a process of its own, off screen, and prints medians beside the goals. A bare Qt table with the same live stream is
measured as the limit.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.in_window import in_window

GOALS = {
    "cold start to a usable window, ms": "1,000",
    "open to last row, ms": "200 at 10,000; first rows 500 at 1,000,000",
    "RSS, MB": "200 at 10,000; 250 at 1,000,000",
    "select: detail, ms": "33",
    "state at any event, ms": "20 at 100,000",
    "live: events/s shown": "10,000, all of them",
    "live: loop gap p99, ms": "10",
    "live: loop gap max, ms": "60",
    "live: memory, KB an event": "flat",
    "filter, plain text: first hits, ms": "200",
    "filter, plain text: all, ms": "3,000 at 1,000,000",
}
LIVE_ON = 100_000
"""Events of the session that receives the stream; the next shorter one if there is none."""
BARE_TABLES = (16, 100)
"""Milliseconds between batches of rows."""


def main() -> None:
    """Generate, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.stream")
    parser.add_argument("--events", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument(
        "--seconds", type=float, default=60, help="of the live stream, on the session of 100,000 events or the next shorter"
    )
    parser.add_argument("--starts", type=int, default=5, help="of the empty window")
    parser.add_argument("--keep", metavar="FOLDER", help="where the databases are kept for the next time")
    parser.add_argument("--measure", metavar="DATABASE", help=argparse.SUPPRESS)
    parser.add_argument("--live", type=float, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--bare", type=float, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--start", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.start:
        sys.stdout.write(json.dumps(_start()) + "\n")
        return
    if options.bare:
        sys.stdout.write(json.dumps(_bare_tables(options.measure, options.bare)) + "\n")
        return
    if options.measure:
        sys.stdout.write(json.dumps(_measure(options.measure, options.live)) + "\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        live_on = max((count for count in options.events if count <= LIVE_ON), default=0)
        figures = {
            count: _opened(_database(Path(options.keep or folder), count), options.seconds if count == live_on else 0)
            for count in options.events
        }
        figures[options.events[0]] = _cold_start(options.starts) | figures[options.events[0]]
        _print(figures)


def _database(folder: Path, count: int) -> Path:
    from bench.generated import write_database

    file = folder / f"{count}.db"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_database(file, count)
    return file


def _opened(file: Path, seconds: float) -> dict[str, float]:
    if not seconds:
        return _in_a_process("--measure", str(file))
    bare = _in_a_process("--measure", str(file), "--bare", str(seconds / len(BARE_TABLES)))
    return _in_a_process("--measure", str(file), "--live", str(seconds)) | bare


def _cold_start(starts: int) -> dict[str, float]:
    begun, shown, busy = time.time(), [], []
    for _ in range(starts):
        begun = time.time()
        figures = _in_a_process("--start")
        shown.append((figures["shown"] - begun) * 1000)
        busy.append(figures["busy"] * 1000)
    return {"cold start to a usable window, ms": statistics.median(shown), "cold start: processor time, ms": statistics.median(busy)}


def _in_a_process(*arguments: str) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.stream", *arguments]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a first start compiles everything and is not measured
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{arguments}: {done.stderr}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def _print(figures: dict[int, dict[str, float]]) -> None:
    sys.stdout.write(f"{'':40}" + "".join(f"{count:>14,}" for count in figures) + "   goal\n")
    for name in dict.fromkeys(name for found in figures.values() for name in found):
        values = "".join(f"{found[name]:14,.1f}" if name in found else f"{'':14}" for found in figures.values())
        sys.stdout.write(f"{name:40}{values}   {GOALS.get(name, '')}\n")


def _start() -> dict[str, float]:
    figures: dict[str, float] = {}

    async def look(inspector: Any) -> int:
        inspector.show((1280, 800))
        inspector.window.repaint()
        await asyncio.sleep(0)  # one turn of the loop: a click would be handled
        figures["shown"], figures["busy"] = time.time(), time.process_time()
        return 0

    in_window(look)
    return figures


def _bare_tables(database: str, seconds: float) -> dict[str, float]:
    figures: dict[str, float] = {}

    async def look(_inspector: Any) -> int:
        from bench.live_stream import bare_table

        for each_ms in BARE_TABLES:
            with tempfile.TemporaryDirectory() as folder:
                name = f"limit: bare table, each {each_ms} ms:"
                rate, p99, longest = await bare_table(shutil.copy(database, folder), seconds, each_ms)
                figures.update({f"{name} events/s": rate, f"{name} loop gap p99, ms": p99, f"{name} loop gap max, ms": longest})
        return 0

    in_window(look)
    return figures


def _measure(database: str, seconds: float) -> dict[str, float]:
    figures: dict[str, float] = {}

    async def look(inspector: Any) -> int:
        from bench.opened_session import measure

        inspector.show((1280, 800))
        await asyncio.sleep(0.3)
        with tempfile.TemporaryDirectory() as folder:
            # Events of the live stream must not stay in a database that is kept.
            shown = shutil.copy(database, folder) if seconds else database
            figures.update(await measure(inspector, shown, seconds))
            await inspector.databases.close_database(shown)
        return 0

    in_window(look)
    return figures


if __name__ == "__main__":
    main()
