"""What `RecorderPlugin` costs a turn: `python recorder_work.py PACKAGE SCALE` prints a JSON object.

PACKAGE is `runtime` or `google.adk`. A turn is a model call, a tool call and a second model call of a model that answers at once. Sessions
of ten turns run without and with the recorder by turns, so that a machine whose speed changes does so for both. A turn of google-adk takes
20 times as long, so fewer of its sessions run.
"""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import json
import logging
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from bench.runtime_work import QUICK_LOOK, RuntimeWork, close_service

PLUGIN = Path(__file__).resolve().parents[1] / "resources" / "plugins" / "recorder_plugin.py"
TURNS = 10  # of a session
PAIRS = 4  # of a kind, without and with the recorder
SESSIONS = {"runtime": 10, "google.adk": 1}  # without or with the recorder
MODEL_CALLS = 2  # of a turn


class Took(NamedTuple):
    """Seconds of a turn: passed, of the loop's thread, and of the process, the recorder's thread included."""

    wall: float
    loop: float
    process: float


class RecorderWork(RuntimeWork):
    """Measures turns with and without the recorder."""

    async def measure(self) -> dict[str, float]:
        """Return figure name → µs of a turn; the extra columns are medians of pairs."""
        recorder = _recorder_module()
        figures: dict[str, float] = {}
        for kind in ("memory", "database"):
            plugin = recorder.RecorderPlugin(self._folder / f"{kind}.rec.db")
            service = self._service(kind)
            pairs = []
            for number in range(max(2, round(PAIRS * self._scale))):
                without = await self._sessions(service, f"{number}", [])
                pairs.append((without, await self._sessions(service, f"{number}-recorded", [plugin])))
            await close_service(service)
            await plugin.close()
            for index, name in enumerate(Took._fields):
                figures[f"{kind}: {name}, without"] = statistics.median(pair[0][index] for pair in pairs) * 1e6
                more = statistics.median(pair[1][index] - pair[0][index] for pair in pairs)
                figures[f"{kind}: {name}, more with the recorder"] = more * 1e6
        return figures

    async def _sessions(self, service: Any, name: str, plugins: list[Any]) -> Took:
        """Return the mean of the turns of some sessions. What the recorder writes after the last turn counts as CPU of the process."""
        runners = {
            f"{name}-{number}": await self._runner(self._assistant(), service, session_id=f"{name}-{number}", plugins=plugins)
            for number in range(SESSIONS["runtime" if self._ours else "google.adk"])
        }
        gc.collect()
        wall, loop, process = time.perf_counter(), time.thread_time(), time.process_time()
        for session_id, runner in runners.items():
            for _ in range(TURNS):
                await self._run(runner, session_id=session_id)
        wall, loop = time.perf_counter() - wall, time.thread_time() - loop
        for plugin in plugins:
            plugin.recording.wait()
        process = time.process_time() - process
        return Took(*(seconds / len(runners) / TURNS for seconds in (wall, loop, process)))


def _recorder_module() -> Any:
    spec = importlib.util.spec_from_file_location("recorder_plugin", PLUGIN)
    assert spec is not None and spec.loader is not None
    module = sys.modules["recorder_plugin"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Measure and print."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    package, scale = sys.argv[1], float(sys.argv[2])
    if scale < QUICK_LOOK:
        gc.freeze()  # collecting what was imported takes longer than the work
    with tempfile.TemporaryDirectory(dir="/var/tmp" if Path("/var/tmp").is_dir() else None) as folder:
        figures = asyncio.run(RecorderWork(package, Path(folder), scale).measure())
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
