"""A live stream of a child process, through the engine's protocol and the run of the window, beside a bare Qt table with the same stream.

`python -m bench.live_child [--rate N] [--events N] [--stored N]` prints, for both, how many events a second are displayed, the loop's gaps,
and the processor time of an event. The child is no agent: it stores ready events 200 at once and reports each as the worker does, so that
it can commit more a second than an agent.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer

from bench.generated import APP, SESSION, USER, LiveWriter, write_database
from bench.in_window import in_window
from bench.live_stream import BareTable, LoopGaps
from bench.table import ROOT
from inspector_app.engines.child_process import PROTOCOL, ChildProcess

AT_ONCE = 200
BATCH_MS = 16
FIRST = "3000 3000"  # events, and events a second, of a first run, which loads what later ones need


def main() -> None:
    """Measure and print as JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.live_child")
    parser.add_argument("--rate", type=int, default=30_000, help="events a second")
    parser.add_argument("--events", type=int, default=100_000, help="that are streamed, twice")
    parser.add_argument("--stored", type=int, default=10_000, help="events of the session before")
    parser.add_argument("--worker", nargs=3, type=int, metavar="DESCRIPTOR", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        _Worker(*options.worker).serve()
        return
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_database(folder / "stored.db", options.stored)
        agent = _agent(folder)

        async def look(inspector: Any) -> int:
            inspector.show((1280, 800))
            work = f"{options.events} {options.rate}"
            for of, show in (("live", _in_window), ("limit", _in_bare_table)):
                file = str(shutil.copy(folder / "stored.db", folder / f"{of}.db"))
                figures.update({f"{of}: {what}": value for what, value in (await show(inspector, agent, file, work)).items()})
            return 0

        in_window(look)
    sys.stdout.write(json.dumps(figures) + "\n")


def _agent(folder: Path) -> Path:
    """Make the folder of an agent whose Python is the child of this benchmark."""
    agent = folder / APP
    packages = agent / ".venv" / "lib" / "python3.11" / "site-packages" / "google_adk-2.13.0.dist-info"
    packages.mkdir(parents=True)
    (packages / "METADATA").write_text("Name: google-adk\nVersion: 2.13.0\n")
    (agent / "agent.py").write_text("from google.adk.agents import Agent\n")
    (agent / ".venv" / "pyvenv.cfg").write_text("version = 3.11.0\n")
    python = agent / ".venv" / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m bench.live_child --worker "$2" "$3" "$4"\n')
    python.chmod(0o755)
    return agent


async def _measured(count: Callable[[], int], stream: Callable[[], Awaitable[None]]) -> dict[str, float]:
    """Stream twice: for the processor time, and for the loop's gaps, because watching these takes time."""
    first, began, thread, every = count(), time.perf_counter(), time.thread_time(), time.process_time()
    await stream()
    made = count() - first
    figures = {
        "events/s": round(made / (time.perf_counter() - began)),
        "µs an event, window's thread": round((time.thread_time() - thread) / made * 1e6, 1),
        "µs an event, all threads": round((time.process_time() - every) / made * 1e6, 1),
    }
    gaps = LoopGaps()
    await stream()
    p99, longest = gaps.take()
    gaps.stop()
    return figures | {"loop gap p99, ms": round(p99, 1), "loop gap max, ms": round(longest, 1)}


async def _in_window(inspector: Any, agent: Path, file: str, work: str) -> dict[str, float]:
    await inspector.open([file])
    await inspector.databases.allow_writing(inspector.databases.source(file))
    await inspector.open([str(agent)])
    await inspector.tasks.wait_until_idle()
    ended = asyncio.Event()
    inspector.run.run_ended.connect(lambda _end: ended.set())

    async def stream(message: str = work) -> None:
        ended.clear()
        inspector.run.send(message)
        await ended.wait()

    await stream(FIRST)
    await inspector.tasks.wait_until_idle()
    figures = await _measured(lambda: inspector.features.stream.events.event_count, stream)
    await inspector.databases.close_database(file)
    return figures


async def _in_bare_table(_inspector: Any, agent: Path, file: str, work: str) -> dict[str, float]:
    table, waiting = BareTable(), list[tuple[str, str]]()

    def show_batch() -> None:
        if waiting:
            table.add(waiting)
            waiting.clear()

    timer = QTimer(interval=BATCH_MS)
    timer.timeout.connect(show_batch)
    child = ChildProcess(agent / ".venv" / "bin" / "python")
    await child.start()
    await child.request("open", sessions={"url": f"sqlite:///{file}"})

    async def stream() -> None:
        timer.start()
        await child.request("run", message={"parts": [{"text": work}]})
        while (message := await child.receive())["type"] != "end":
            if message["type"] == "committed":
                event = json.loads(message["event"])
                waiting.append((event["author"], event["id"]))
        timer.stop()
        show_batch()

    try:
        return await _measured(lambda: table.count, stream)
    finally:
        table.close()
        await child.close()


class _Worker:
    """The child: answers the commands of the window, and streams events when told to run.

    Args:
        commands, messages, _lifeline: see docs/engine-protocol.md.
    """

    def __init__(self, commands: int, messages: int, _lifeline: int) -> None:
        self._commands = os.fdopen(commands)
        self._messages = messages
        self._database = ""
        self._made = 0

    def serve(self) -> None:
        """Answer commands until `quit`."""
        self._send({"type": "hello", "protocol": PROTOCOL, "pid": os.getpid(), "engine": "google-adk 2.13.0"})
        for line in self._commands:
            command = json.loads(line)
            if command["type"] == "quit":
                return
            if command["type"] == "open":
                self._database = command["sessions"].get("url", "").partition(":///")[2]
            if "id" in command:
                self._send({"type": "answer", "id": command["id"], "value": _AGENT})
            if command["type"] == "run":
                self._stream(*map(int, command["message"]["parts"][0]["text"].split()))
                self._send({"type": "end", "run": 1, "error": None, "stopped": False, "unmarked_edits": {}})

    def _stream(self, count: int, rate: int) -> None:
        """Store and report events at a rate, or as fast as they are taken."""
        writer, begin = LiveWriter(self._database), time.perf_counter()
        for made in range(0, count, AT_ONCE):
            time.sleep(max(begin + made / rate - time.perf_counter(), 0))
            self._write("".join(_messages(writer.store(self._made, AT_ONCE))))
            self._made += AT_ONCE
        writer.close()

    def _send(self, message: dict[str, Any]) -> None:
        self._write(json.dumps(message) + "\n")

    def _write(self, text: str) -> None:
        data = memoryview(text.encode())
        while data:
            data = data[os.write(self._messages, data) :]


_ROOT = {"name": APP, "class": "Agent", "children": []}
_CAPABILITIES = dict.fromkeys(("hold_calls", "resume", "rewind", "confirm", "edit_errors", "rerun"))
_AGENT = {"app_name": APP, "folder": "", "resumable": False, "root": _ROOT, "capabilities": _CAPABILITIES}


def _messages(stored: list[tuple[str, str]]) -> Iterator[str]:
    fields = f'"run": 1, "user_id": "{USER}", "session_id": "{SESSION}", "temp": {{}}, "request": null, "ahead": false'
    for event_id, text in stored:
        yield f'{{"type": "committed", {fields}}}\t{text}\n{{"type": "yielded", "run": 1, "event_id": "{event_id}", "waits": false}}\n'


if __name__ == "__main__":
    main()
