"""Measure storage beside google-adk and raw sqlite3: `python -m bench.storage [--scale N] [--rounds N] [--adk PYTHON]`.

Without a Python that has google-adk, only this runtime and the limit are measured.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.generated import event_data
from bench.table import Figures, figures_of, headline, medians, table

BATCH = 100
_OF_ALL = {
    "append to a held session of 50,000, CPU µs": "1.2 × of 100",
    "last 50 of 50,000, ms": "0.5",
    "get_session of 10,000, ms": "25; 20×",
    "resume at step 25 of 50 after 10,000, to the first event, ms": "5; 100×",
    "list_sessions of 10,000, ms": "20",
    "a page of 100 of 10,000, ms": "1",
}
GOALS = {
    **{f"{kind}: {name}": goal for kind in ("memory", "database", "sqlite") for name, goal in _OF_ALL.items()},
    "memory: append to a held session of 50,000, CPU µs": "10; 1.2 × of 100",
    "database: append to a held session of 50,000, CPU µs": "120; 1.2 × of 100",
    "database: appends/s, FULL": "3,000; 12×",
    "database: appends/s, NORMAL": "8,000",
}


def main() -> None:
    """Measure in turn, print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.storage")
    parser.add_argument("--scale", type=float, default=1.0, help="1: 10,000 and 50,000 events")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--adk", metavar="PYTHON", default=os.environ.get("INSPECTOR_ADK_PYTHON"), help="a Python that has google-adk")
    options = parser.parse_args()
    began = headline(options.rounds)
    ours, theirs, raw = [], [], []
    for _ in range(options.rounds):
        raw.append(limits(options.scale))
        ours.append(figures_of(sys.executable, "storage_work.py", "runtime", str(options.scale)))
        if options.adk:
            theirs.append(figures_of(options.adk, "storage_work.py", "google.adk", str(options.scale)))
    sys.stdout.write(f"# Storage\n\n{began}{table(medians(ours), medians(theirs), medians(raw), GOALS)}\n")


def limits(scale: float) -> Figures:
    """Return the figures of raw sqlite3: one table, one thread, one hop into it per commit."""
    figures: Figures = {}
    appended, rows = max(BATCH, int(3000 * scale)), max(60, int(10_000 * scale))
    for mode in ("FULL", "NORMAL"):
        with tempfile.TemporaryDirectory(dir="/var/tmp" if Path("/var/tmp").is_dir() else None) as folder:
            # Used by one thread at a time.
            connection = sqlite3.connect(Path(folder) / "raw.db", isolation_level=None, check_same_thread=False)
            connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = {mode};")
            connection.execute("CREATE TABLE kept (number INTEGER PRIMARY KEY, data TEXT)")
            rate, cpu = asyncio.run(_appends(connection, appended))
            figures |= {f"database: appends/s, {mode}": rate, f"database: append CPU µs, {mode}": cpu}
            if mode == "FULL":
                _fill(connection, [json.dumps(event_data(number)) for number in range(rows)])
                figures["database: get_session of 10,000, ms"] = _read(connection, "ORDER BY number")
                figures["database: last 50 of 50,000, ms"] = _read(connection, "ORDER BY number DESC LIMIT 50")
                _fill(connection, [json.dumps({"step": number, "total": 4.2}) for number in range(rows)])
                figures["database: list_sessions of 10,000, ms"] = _read(connection, "ORDER BY number")
            connection.close()
    return figures


async def _appends(connection: sqlite3.Connection, count: int) -> tuple[float, float]:
    """Return commits per second and CPU time of one in µs, as medians of batches."""
    loop, rates, cpu = asyncio.get_running_loop(), [], []
    with ThreadPoolExecutor(1) as thread:
        for start in range(0, count, BATCH):
            rows = [(json.dumps(event_data(number)),) for number in range(start, start + BATCH)]
            began, used = time.perf_counter(), time.process_time()
            for row in rows:
                await loop.run_in_executor(thread, connection.execute, "INSERT INTO kept (data) VALUES (?)", row)
            rates.append(BATCH / (time.perf_counter() - began))
            cpu.append((time.process_time() - used) / BATCH * 1e6)
    return statistics.median(rates), statistics.median(cpu)


def _fill(connection: sqlite3.Connection, texts: list[str]) -> None:
    connection.execute("DELETE FROM kept")
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO kept (data) VALUES (?)", ((text,) for text in texts))
    connection.execute("COMMIT")


def _read(connection: sqlite3.Connection, order: str) -> float:
    took = []
    for _ in range(9):
        began = time.perf_counter()
        connection.execute(f"SELECT number, data FROM kept {order}").fetchall()
        took.append(time.perf_counter() - began)
    return statistics.median(took) * 1e3


if __name__ == "__main__":
    main()
