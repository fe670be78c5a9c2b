"""How fast the window takes in what another process commits, beside a bare Qt table that is fed from the same file.

`python -m bench.tail_rate [--events N] [--stored N]` prints both rates, and the processor time of each for an event. The other process
commits 200 events at once, as fast as it can, to the displayed session.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer

from bench.generated import LiveWriter, write_database
from bench.in_window import in_window
from bench.live_stream import BareTable
from runtime.support.worker_threads import run_in_thread

AT_ONCE = 200
BATCH_MS = 100


def main() -> None:
    """Measure and print as JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.tail_rate")
    parser.add_argument("--events", type=int, default=60_000, help="that the other process commits")
    parser.add_argument("--stored", type=int, default=10_000, help="events of the session before")
    parser.add_argument("--commit", metavar="DATABASE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.commit:
        _commit(options.commit, options.events)
        return
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        stored = Path(folder) / "stored.db"
        write_database(stored, options.stored)
        in_window(_measure(stored, options.events, figures))
    sys.stdout.write(json.dumps(figures) + "\n")


def _commit(database: str, count: int) -> None:
    writer = LiveWriter(database)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    for first in range(0, count, AT_ONCE):
        writer.commit(first, min(AT_ONCE, count - first))
    sys.stdin.readline()  # the last connection that closes would move the log into the file
    writer.close()


def _measure(stored: Path, count: int, figures: dict[str, float]) -> Callable[[Any], Any]:
    async def look(inspector: Any) -> int:
        inspector.show((1280, 800))
        for name, fill in (("tail", _fill_window), ("limit", _fill_bare_table)):
            file = stored.with_name(f"{name}.db")
            shutil.copy(stored, file)
            rate, spent = await fill(inspector, str(file), count)
            if name == "tail":
                figures["tail: memory, MB"] = round(_resident_mb())
            figures.update({f"{name}: events/s": round(rate), f"{name}: CPU µs an event": round(spent / count * 1e6, 1)})
        return 0

    return look


def _resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


async def _fill_window(inspector: Any, file: str, count: int) -> tuple[float, float]:
    await inspector.open([file])
    await inspector.tasks.wait_until_idle()
    events = inspector.features.stream.events
    wanted = events.event_count + count
    try:
        return await _filled(file, count, lambda: events.event_count >= wanted)
    finally:
        await inspector.databases.close_database(file)


async def _fill_bare_table(_inspector: Any, file: str, count: int) -> tuple[float, float]:
    table = BareTable()
    last, reading = _table_end(file), False

    async def read() -> None:
        nonlocal last, reading
        reading, rows = True, await run_in_thread(_rows, file, last)
        reading = False
        if rows:
            last = rows[-1][0]
            table.add([(event["author"], event["id"]) for event in map(json.loads, (text for _, text in rows))])

    tasks = set()

    def start() -> None:
        if not reading:
            tasks.add(asyncio.ensure_future(read()))

    timer = QTimer(interval=BATCH_MS)
    timer.timeout.connect(start)
    timer.start()
    try:
        return await _filled(file, count, lambda: table.count >= count)
    finally:
        timer.stop()
        await asyncio.gather(*tasks)
        table.close()


async def _filled(file: str, count: int, is_there: Callable[[], bool]) -> tuple[float, float]:
    """Start the writer; return events a second until all are there, and this process's processor seconds."""
    writer = _writer(file, count)
    assert writer.stdin is not None and writer.stdout is not None
    await run_in_thread(writer.stdout.readline)  # it has loaded
    began, spent = time.perf_counter(), time.process_time()
    writer.stdin.write("go\n")
    writer.stdin.flush()
    while not is_there():  # noqa: ASYNC110 - a benchmark may poll
        await asyncio.sleep(0.01)
    found = count / (time.perf_counter() - began), time.process_time() - spent
    writer.communicate("end\n")
    return found


def _writer(file: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bench.tail_rate", "--commit", file, "--events", str(count)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _table_end(file: str) -> int:
    """Return the last row's number."""
    connection = sqlite3.connect(file)
    (last,) = connection.execute("SELECT max(rowid) FROM events").fetchone()
    connection.close()
    return int(last)


def _rows(file: str, last: int) -> list[tuple[int, str]]:
    connection = sqlite3.connect(file)
    rows = connection.execute("SELECT rowid, event_data FROM events WHERE rowid > ? ORDER BY rowid", (last,)).fetchall()
    connection.close()
    return rows


if __name__ == "__main__":
    main()
