"""Measure the delay from another process's commit to the painted row, and the cost of watching an idle file.

`python -m bench.tail [--commits N] [--mode wal|delete]` opens a database in the real window, off screen. A process commits one event every
30 to 70 ms; printed are the times from the commit to the painted row, then the processor time of five idle seconds.
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
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

from bench.in_window import in_window
from inspector_app.stream.event_table_model import EventTableModel

IDLE_SECONDS = 5.0
_WRITER = """
import json, random, sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode = " + sys.argv[2])
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    time.sleep(random.uniform(0.03, 0.07))
    data = json.dumps({"id": f"n{number}", "author": "me", "content": {"parts": [{"text": f"answer {number} " * 30}]}})
    values = (f"n{number}", "order_desk", "maria", "s-1", "i", "2026-11-21 10:00:00", data)
    connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    print(time.time(), flush=True)
sys.stdin.readline()
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.tail")
    parser.add_argument("--commits", type=int, default=400)
    parser.add_argument("--mode", choices=["wal", "delete"], default="delete")
    options = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    figures = _measure(options.commits, options.mode)
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


def _measure(commits: int, mode: str) -> dict[str, float]:
    from bench.generated import write_database

    figures: dict[str, float] = {}

    async def live(inspector: Any) -> int:
        inspector.show((1280, 800))
        await _run(inspector, str(file), commits, mode, figures)
        inspector.work.tail.close()
        return 0

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "live.db"
        write_database(file, 1_000)
        connection = sqlite3.connect(file)
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.close()
        in_window(live)
    return figures


def _writer(file: str, mode: str, commits: int) -> subprocess.Popen[str]:
    program = [sys.executable, "-c", _WRITER, file, mode, str(commits)]
    return subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


class Shown(QObject):
    """Records when the window has painted the rows of new events.

    Attributes:
        times: epoch seconds, one for each event.
        all: set when the wanted number is reached.
    """

    def __init__(self, events: EventTableModel, viewport: QWidget, wanted: int) -> None:
        super().__init__(viewport)
        self.times: list[float] = []
        self.all = asyncio.Event()
        self._wanted = wanted
        self._events = events
        self._before = events.event_count
        viewport.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notice a paint event; filter nothing."""
        if event.type() == QEvent.Type.Paint and self._events.event_count - self._before > len(self.times):
            QTimer.singleShot(0, self, self._painted)
        return False

    def _painted(self) -> None:
        self.times += [time.time()] * (self._events.event_count - self._before - len(self.times))
        if len(self.times) >= self._wanted:
            self.all.set()


async def _run(inspector: Any, file: str, commits: int, mode: str, figures: dict[str, float]) -> None:
    await inspector.open([file])
    await inspector.tasks.wait_until_idle()
    events, table = inspector.features.stream.events, inspector.window.parts.stream.table
    writer = _writer(file, mode, commits)
    assert writer.stdin is not None and writer.stdout is not None
    shown = Shown(events, table.viewport(), commits)
    await asyncio.sleep(1)
    spent = time.process_time()
    writer.stdin.write("go\n")
    writer.stdin.flush()
    await shown.all.wait()
    spent = time.process_time() - spent
    begun = [float(writer.stdout.readline()) for _ in range(commits)]
    late = sorted((seen - committed) * 1000 for seen, committed in zip(shown.times, begun, strict=True))
    figures["commit to row shown, median, ms"] = round(late[len(late) // 2], 1)
    figures["commit to row shown, p99, ms"] = round(late[int(len(late) * 0.99)], 1)
    figures["commit to row shown, max, ms"] = round(late[-1], 1)
    figures["of a processor's time for each commit, ms"] = round(spent / commits * 1000, 1)
    await asyncio.sleep(5)
    begin = time.process_time()
    await asyncio.sleep(IDLE_SECONDS)
    figures["idle, % of a processor"] = round((time.process_time() - begin) / IDLE_SECONDS * 100, 2)
    writer.communicate("end\n")


if __name__ == "__main__":
    main()
