"""Measure browsing of large databases: `python -m bench.browse [--sessions N] [--each N] [--gigabytes G] [--folder DIR]`.

Creates a file of many sessions, and one of G gigabytes with long texts (10 is the goal; 1 is quicker, 0 leaves it out). Opens each in the
real window, off screen, in a process of its own. Measures the time until its sessions are listed and the newest is displayed, the longest
time in which the window did not answer, and memory; then a filter of the list and a search through all sessions. The files are new, so as
much of them as fits is in the system's cache.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.in_window import in_window

TEXT_BYTES = 700
LONG_TEXT_BYTES = 9_000
WORDS = "order 4711"


def main() -> None:
    """Make the files, measure each, print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.browse")
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--each", type=int, default=10, help="events of a session")
    parser.add_argument("--gigabytes", type=float, default=1.0, help="of the large file; 10 takes some minutes and as much room")
    parser.add_argument("--folder", help="where to make the files; a temporary folder by default")
    parser.add_argument("--measure", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        sys.stdout.write(json.dumps(_measure(Path(options.measure))) + "\n")
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        many = _made(Path(folder) / "many.db", options.sessions, options.each, TEXT_BYTES)
        _print(f"{options.sessions:,} sessions, {options.sessions * options.each:,} events, {many.stat().st_size / 1e9:.1f} GB", many)
        if options.gigabytes:
            events = int(options.gigabytes * 1e9 / (LONG_TEXT_BYTES * 1.05))
            large = _made(Path(folder) / "large.db", max(events // options.each, 1), options.each, LONG_TEXT_BYTES)
            _print(f"{large.stat().st_size / 1e9:.1f} GB, {events // options.each:,} sessions, {events:,} events", large)


def _made(file: Path, sessions: int, each: int, text_bytes: int) -> Path:
    from bench.generated import write_many_sessions

    write_many_sessions(file, sessions, each, text_bytes)
    return file


def _print(title: str, file: Path) -> None:
    program = [sys.executable, "-m", "bench.browse", "--measure", str(file)]
    found = json.loads(subprocess.run(program, capture_output=True, text=True, check=True).stdout)
    file.unlink()
    rows = "".join(f"| {name} | {value} |\n" for name, value in found.items())
    sys.stdout.write(f"# {title}\n\n| | |\n|---|---|\n{rows}\n")
    sys.stdout.flush()


def _measure(file: Path) -> dict[str, str]:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    figures: dict[str, str] = {}

    async def live(inspector: Any) -> int:
        inspector.show((1280, 800))
        await inspector.tasks.wait_until_idle()
        await _browse(inspector, file, figures)
        for controller in (inspector.work.tail, inspector.features.sessions.search, inspector.features.databases.page):
            controller.close()
        return 0

    in_window(live)
    figures["memory at the end, MB"] = f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024:,}"
    return figures


async def _browse(inspector: Any, file: Path, figures: dict[str, str]) -> None:
    gaps = asyncio.ensure_future(_watch_gaps())
    await _timed(figures, "opened, listed and the newest session displayed", inspector.open([str(file)]))
    await inspector.tasks.wait_until_idle()
    pane = inspector.window.parts.sessions
    begun = time.perf_counter()
    pane.filter.setText("user123 0000")
    figures["the list filtered"] = f"{(time.perf_counter() - begun) * 1000:,.0f} ms"
    pane.filter.clear()
    gaps.cancel()
    ((longest, busiest),) = await asyncio.gather(gaps)
    figures["the window did not answer for at most"] = f"{longest * 1000:,.0f} ms ({busiest * 1000:,.0f} ms of a processor)"
    figures["memory then, MB"] = f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024:,}"
    await _search(inspector, figures, file.with_name(f"{file.stem}-index"))


async def _search(inspector: Any, figures: dict[str, str], folder: Path) -> None:
    search = inspector.features.sessions.search
    search.folder = folder
    inspector.window.commands.search_all.trigger()
    await _timed(figures, "read for the search", inspector.tasks.wait_until_idle())
    figures["the search index"] = f"{_bytes_in(folder) / 1e6:,.0f} MB"
    await _timed(figures, f"searched for {WORDS}", search._search(WORDS))
    figures["found"] = f"{len(search._hits):,}"


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


async def _timed(figures: dict[str, str], name: str, work: Any) -> None:
    begun, spent = time.perf_counter(), time.process_time()
    await work
    figures[name] = f"{time.perf_counter() - begun:,.2f} s ({time.process_time() - spent:,.2f} s of a processor)"


async def _watch_gaps() -> tuple[float, float]:
    """Return the longest time between two turns of the loop, and the most that its thread worked in one, when it is cancelled."""
    longest, busiest, last, spent = 0.0, 0.0, time.perf_counter(), time.thread_time()
    try:
        while True:
            await asyncio.sleep(0.001)
            now, worked = time.perf_counter(), time.thread_time()
            longest, busiest = max(longest, now - last), max(busiest, worked - spent)
            last, spent = now, worked
    except asyncio.CancelledError:
        return longest, busiest


if __name__ == "__main__":
    main()
