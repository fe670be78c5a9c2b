"""A script that opens the window on an agent, stops its runs at random moments, and closes the window during the last one.

test_stops_at_random.py runs it as `stops_at_random.py AGENT SEED STOPS`. It prints as JSON what was left over.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys

from inspector_app import app
from inspector_app.app import Inspector
from inspector_app.workspace.current_run import RunEnd

AGENT, SEED, STOPS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
LONGEST = 0.3  # seconds; longest time from the start of a run to its stop


class RestlessInspector(Inspector):
    """An Inspector that starts and stops runs, and is closed."""

    async def open(self, paths: list[str]) -> None:
        self.chance = random.Random(SEED)
        self.left: list[str] = []
        self.run.run_ended.connect(self.note_end)
        self.closed.connect(self.report)
        await super().open(paths)
        self.journal = type(self.agents.loaded.app.root_agent).journal  # type: ignore[union-attr]
        for _ in range(STOPS):
            await self.start()
            self.run.stop()
            if self.chance.random() < 0.1:
                self.run.stop()
            for _ in range(1_000):
                if self.run.phase == "idle" and not self.tasks_left():
                    break  # includes the tasks that the window starts after a run
                await asyncio.sleep(0.01)
            self.look()
        await self.start()
        if self.chance.random() < 0.3:
            self.run.stop()
        self.window.close()

    async def start(self) -> None:
        """Start a run of a random kind and let it continue for a moment, or step it while it is held."""
        kind = self.chance.choice(["slow", "tool", "fan", "inner", "mixed"])
        paused = self.chance.random() < 0.3
        self.run.send(kind, paused=paused)
        await asyncio.sleep(self.chance.random() ** 2 * LONGEST)
        for _ in range(self.chance.randrange(4) if paused else 0):
            self.chance.choice([self.run.step, self.run.continue_run, lambda: self.run.step_on("into"), lambda: self.run.step_on("out")])()
            await asyncio.sleep(self.chance.random() * 0.02)

    def note_end(self, end: RunEnd) -> None:
        if end.error is not None:
            self.left.append(repr(end.error))

    def look(self) -> None:
        """Record what a stop left over."""
        names = self.tasks_left()
        if names or self.run.phase != "idle":
            self.left.append(f"{names} {self.run.phase}")
        self.left += [f"no finally: {name}" for name in {*self.journal} if self.journal.count(name) % 2]

    def tasks_left(self) -> list[str]:
        """Return the names of all tasks but those this code runs in, and the one that waits for it."""
        return [task.get_name() for task in asyncio.all_tasks() if task.get_name() not in ("Opening", "Preparing for agents", "Task-1")]

    def report(self) -> None:
        names = [task.get_name() for task in asyncio.all_tasks() if task.get_name() not in ("Closing", "Preparing for agents", "Task-1")]
        unended = [name for name in {*self.journal} if self.journal.count(name) % 2]
        sys.stdout.write(json.dumps({"left": [*self.left, *names, *unended], "ran": sorted({*self.journal})}) + "\n")


app.Inspector = RestlessInspector  # type: ignore[misc]
sys.exit(app.run_window([AGENT], trust=True, theme="dark", size=(1280, 800)))
