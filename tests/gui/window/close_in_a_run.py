"""A script that opens the window on an agent, sends a message, and closes the window during the run.

test_close_in_a_run.py runs it in a process of its own as `close_in_a_run.py AGENT WHEN`. It prints the tasks left over.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading

from PySide6.QtCore import QTimer

from inspector_app import app
from inspector_app.app import Inspector

AGENT, WHEN = sys.argv[1:]


class Closer:
    """Closes the window when the run has reached the point that WHEN names."""

    def __init__(self, inspector: Inspector) -> None:
        self.inspector = inspector
        inspector.run.changed.connect(self.look)
        inspector.current.events_added.connect(self.look)
        inspector.run.partial_arrived.connect(self.look)
        self.done = False
        inspector.closed.connect(self.report)

    def look(self, *_: object) -> None:
        run, events = self.inspector.run, self.inspector.features.stream.events
        reached = {
            "started": run.phase == "running",
            "streaming": run.phase == "running" and events.event_count > 1,
            "interrupted": run.phase == "running" and events.event_count > 1,
            "held": run.phase == "paused",
            "tool": any(thread.name.startswith("tool-is-running") for thread in threading.enumerate()),
        }
        if reached[WHEN] and not self.done:
            self.done = True
            QTimer.singleShot(0, self.interrupt if WHEN == "interrupted" else self.inspector.window.close)
        elif WHEN == "tool" and run.phase == "running" and not self.done:
            QTimer.singleShot(5, self.look)

    def interrupt(self) -> None:
        """Send SIGINT, as Ctrl+C in the terminal does."""
        os.kill(os.getpid(), signal.SIGINT)

    def report(self) -> None:
        pending = [task.get_name() for task in asyncio.all_tasks() if task.get_name() not in ("Closing", "Task-1")]
        sys.stdout.write(f"left: {pending}; visible: {self.inspector.window.isVisible()}\n")


class DrivenInspector(Inspector):
    """An Inspector that opens the agent, sends a message and is closed."""

    async def open(self, paths: list[str]) -> None:
        self.closer = Closer(self)
        await super().open(paths)
        self.run.send("go", paused=WHEN == "held")


app.Inspector = DrivenInspector  # type: ignore[misc]
sys.exit(app.run_window([AGENT], trust=True, theme="dark", size=(1280, 800)))
