"""Storage figures beside google-adk's and raw sqlite3's limit, in one run: `python -m bench.storage [--scale N] [--rounds N] [--out FILE]`.

google-adk runs in the Python that `$INSPECTOR_ADK_PYTHON` names; without it only ours and the limit are measured.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from bench.generated import event_data

ROOT = Path(__file__).resolve().parents[1]
BATCH = 100
Figures = dict[str, float]


def main() -> None:
    """Measure in turn, print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.storage")
    parser.add_argument("--scale", type=float, default=1.0, help="1: 10,000 and 50,000 events")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="also write the table here")
    options = parser.parse_args()
    adk = os.environ.get("INSPECTOR_ADK_PYTHON")
    ours, theirs, raw = [], [], []
    for _ in range(options.rounds):
        raw.append(limits(options.scale))
        ours.append(_measure(sys.executable, "runtime", options.scale))
        if adk:
            theirs.append(_measure(adk, "google.adk", options.scale))
    table = _table(_medians(ours), _medians(theirs), _medians(raw))
    sys.stdout.write(table)
    if options.out:
        machine = f"{os.cpu_count()} cores, Python {sys.version.split()[0]}"
        options.out.write_text(f"{datetime.now(UTC):%Y-%m-%d}, {machine}, medians of {options.rounds} rounds.\n\n{table}")


def limits(scale: float) -> Figures:
    """Return what raw sqlite3 does of the same work, with nothing round it."""
    figures: Figures = {}
    for mode in ("FULL", "NORMAL"):
        with tempfile.TemporaryDirectory(dir="/var/tmp" if Path("/var/tmp").is_dir() else None) as folder:
            connection = sqlite3.connect(Path(folder) / "raw.db", isolation_level=None)
            connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = {mode};")
            connection.execute("CREATE TABLE events (id TEXT PRIMARY KEY, data TEXT) WITHOUT ROWID")
            figures |= {f"{name}, {mode}": value for name, value in _raw_appends(connection, max(BATCH, int(3000 * scale))).items()}
            if mode == "FULL":
                figures["rows of 10,000, ms"] = _raw_rows(connection, max(60, int(10_000 * scale)))
            connection.close()
    return figures


def _raw_appends(connection: sqlite3.Connection, count: int) -> Figures:
    rates, cpu = [], []
    for start in range(0, count, BATCH):
        rows = [(f"{number}", json.dumps(event_data(number))) for number in range(start, start + BATCH)]
        began, used = time.perf_counter(), time.process_time()
        for row in rows:
            connection.execute("INSERT INTO events VALUES (?, ?)", row)
        rates.append(BATCH / (time.perf_counter() - began))
        cpu.append((time.process_time() - used) / BATCH * 1e6)
    return {"appends/s": statistics.median(rates), "append CPU µs": statistics.median(cpu)}


def _raw_rows(connection: sqlite3.Connection, count: int) -> float:
    connection.execute("DELETE FROM events")
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO events VALUES (?, ?)", ((f"{number}", json.dumps(event_data(number))) for number in range(count)))
    connection.execute("COMMIT")
    took = []
    for _ in range(5):
        began = time.perf_counter()
        connection.execute("SELECT id, data FROM events ORDER BY id").fetchall()
        took.append(time.perf_counter() - began)
    return statistics.median(took) * 1e3


def _measure(python: str, package: str, scale: float) -> Figures:
    command = [python, "-W", "ignore", str(ROOT / "bench" / "storage_work.py"), package, str(scale)]
    done = subprocess.run(command, env={"PYTHONPATH": str(ROOT), "PATH": ""}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{package}: {done.stderr}")
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def _medians(runs: list[Figures]) -> Figures:
    return {name: statistics.median(run[name] for run in runs) for name in (runs[0] if runs else {})}


def _table(ours: Figures, theirs: Figures, raw: Figures) -> str:
    lines = ["| work | ours | google-adk | ratio |", "|---|---|---|---|"]
    for name, mine in ours.items():
        peer = theirs.get(name)
        ratio = "" if peer is None else f"{mine / peer if '/s' in name else peer / mine:.1f}×"
        lines.append(f"| {name} | {mine:,.2f} | {'' if peer is None else f'{peer:,.2f}'} | {ratio} |")
    lines += [
        "",
        "Raw sqlite3, one insert a commit in one thread, one table, nothing round it:",
        "",
        "| work | limit | ours |",
        "|---|---|---|",
    ]
    beside = {"rows of 10,000, ms": "get_session of 10,000, ms"}
    for name, limit in raw.items():
        lines.append(f"| {name} | {limit:,.2f} | {ours[f'database: {beside.get(name, name)}']:,.2f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
