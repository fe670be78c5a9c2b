"""A script that opens the window on an agent and sends it messages; test_kept_sessions.py kills it.

It runs as `unsaved_window.py AGENT ENGINE PYTHON`, and prints the ids of committed events as the window shows them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QTimer

from inspector_app import app
from inspector_app.app import Inspector
from inspector_app.documents.session_address import SessionAddress
from inspector_app.engines.engine_choice import EngineChoice
from inspector_app.workspace.current_run import RunEnd

AGENT, ENGINE, PYTHON = sys.argv[1:]


def tell(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


class DrivenInspector(Inspector):
    """An Inspector that opens the agent and sends a message, and another when that has been answered."""

    async def open(self, paths: list[str]) -> None:
        self.current.events_added.connect(self._on_events)
        self.run.run_started.connect(self._on_started)
        self.run.run_ended.connect(self._on_ended)
        tell("opening")
        await super().open(paths)
        self._send()

    def _send(self) -> None:
        tell("sending")
        self.run.send("go")

    def _on_started(self, address: SessionAddress) -> None:
        tell("session", *address.key)

    def _on_events(self, events: list[object]) -> None:
        for event in events:
            tell("event", event.id)  # type: ignore[attr-defined]

    def _on_ended(self, end: RunEnd) -> None:
        tell("ended", end.error or "")
        QTimer.singleShot(0, self._send)


if __name__ == "__main__":
    app.Inspector = DrivenInspector  # type: ignore[misc]
    engine = EngineChoice(ENGINE, PYTHON or None)  # type: ignore[arg-type]
    paths = [str(Path(AGENT))]
    sys.exit(app.run_window(paths, trust=True, theme="dark", size=(1280, 800), engine=engine))
