"""Closing the window while a commit waits for another process's lock."""

from __future__ import annotations

import sqlite3
import sys
import threading
import time
from pathlib import Path

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector_app.app import SHUTDOWN_SECONDS, Inspector
from inspector_app.demo import STORY
from inspector_app.support.loop import InspectorLoop
from inspector_app.support.settings import Settings
from inspector_app.workspace.messages import MessageBus


def _waits_for_the_lock() -> bool:
    frames = sys._current_frames()
    for thread in threading.enumerate():
        frame = frames.get(thread.ident or 0) if thread.name.startswith("sessions ") else None
        while frame is not None:
            if frame.f_code.co_name == "writing":
                return True
            frame = frame.f_back
    return False


def test_the_window_closes_while_a_commit_waits_for_a_lock(
    story_db: Path, running: InspectorLoop, qapp: QApplication, settings: Settings, qtbot: QtBot
) -> None:
    inspector = Inspector(qapp, settings, MessageBus(), trust=True)
    inspector.show((1280, 800))
    inspector.tasks.spawn(inspector.open([str(story_db), str(STORY)]), "Opening")
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)
    other = sqlite3.connect(story_db, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    inspector.run.send("a story about a ferry")
    qtbot.waitUntil(_waits_for_the_lock)
    started = time.monotonic()
    with qtbot.waitSignal(inspector.closed, timeout=25_000):
        inspector.window.close()
    assert time.monotonic() - started < 2 * SHUTDOWN_SECONDS + 5
    other.close()
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)
