"""Closing the window during a run: no task is left, `finally` blocks run, and a locked database does not keep it open."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector_app.app import SHUTDOWN_SECONDS, Inspector
from inspector_app.demo import STORY
from inspector_app.support.loop import InspectorLoop
from inspector_app.support.settings import Settings
from inspector_app.workspace.messages import MessageBus
from runtime.storage.layouts.commit_record import Execute
from runtime.storage.writing.database import Database
from tests.gui.window.window_processes import complaints

DRIVER = Path(__file__).with_name("close_in_a_run.py")
ROOT = DRIVER.parents[3]

SLOW = """
import asyncio, sys
from runtime.agents import BaseAgent
from runtime.events import Event
from google.genai import types

class Slow(BaseAgent):
    async def _run_async_impl(self, ctx):
        try:
            for number in range(10_000):
                yield Event(author=self.name, content=types.Content(role="model", parts=[types.Part(text=f"{number}")]))
                await asyncio.sleep(0.01)
        finally:
            await asyncio.sleep(0.01)
            sys.stdout.write("finally ran\\n")

root_agent = Slow(name="slow")
"""

BLOCKING = '''
import threading, time
from runtime.agents import LlmAgent
from runtime.models import LlmResponse, ScriptedLlm
from google.genai import types

def sleep_long() -> dict:
    """Sleep for a minute."""
    threading.current_thread().name = "tool-is-running"
    time.sleep(60)
    return {}

call = types.Part(function_call=types.FunctionCall(name="sleep_long", args={}))

class Caller(ScriptedLlm):
    async def generate_content_async(self, llm_request, stream=False):
        yield LlmResponse(content=types.Content(role="model", parts=[call]))

root_agent = LlmAgent(name="blocking", model=Caller(rules=[]), tools=[sleep_long])
'''


def close_during(agent_code: str, when: str, tmp_path: Path) -> tuple[subprocess.CompletedProcess[str], float]:
    folder = tmp_path / "slow_agent"
    folder.mkdir()
    (folder / "agent.py").write_text(agent_code)
    env = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONPATH": str(ROOT),
        "XDG_CONFIG_HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path),
    }
    started = time.monotonic()
    command = [sys.executable, "-X", "dev", "-W", "error", str(DRIVER), str(folder), when]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=200, cwd=tmp_path)
    return done, time.monotonic() - started


@pytest.mark.parametrize("when", ["started", "streaming", "held", "interrupted"])
def test_closing_during_a_run_leaves_no_task(when: str, tmp_path: Path) -> None:
    done, _ = close_during(SLOW, when, tmp_path)
    assert complaints(done.stderr) == []
    assert done.returncode == 0
    assert "left: []; visible: False" in done.stdout
    if when != "started":
        assert "finally ran" in done.stdout


def test_a_blocking_tool_does_not_delay_the_exit(tmp_path: Path) -> None:
    done, seconds = close_during(BLOCKING, "tool", tmp_path)
    assert complaints(done.stderr) == []
    assert done.returncode == 0
    assert "left: []" in done.stdout
    assert seconds < 20


def test_a_task_that_a_timer_starts_while_the_window_closes_is_ended(
    running: InspectorLoop, qapp: QApplication, settings: Settings, qtbot: QtBot
) -> None:
    inspector = Inspector(qapp, settings, MessageBus(), trust=True)
    inspector.show((1280, 800))
    timer = QTimer(inspector.features.shell, interval=1)
    timer.timeout.connect(lambda: inspector.tasks.spawn(asyncio.sleep(60), "Late"))
    timer.start()
    left: list[str] = []
    inspector.closed.connect(lambda: left.extend(task.get_name() for task in inspector.tasks.running))
    with qtbot.waitSignal(inspector.closed, timeout=25_000):
        inspector.window.close()
    assert left == ["Closing"]


@pytest.mark.logs("did not end in time", "were not closed in time", "could not be recorded")
def test_the_window_closes_while_a_commit_waits_for_a_lock(
    story_db: Path, running: InspectorLoop, qapp: QApplication, settings: Settings, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, begun = Database.writing, threading.Event()

    def note_begin(database: Database) -> AbstractContextManager[Execute]:
        begun.set()
        return writing(database)

    inspector = Inspector(qapp, settings, MessageBus(), trust=True)
    inspector.show((1280, 800))
    inspector.tasks.spawn(inspector.open([str(story_db), str(STORY)]), "Opening")
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)
    other = sqlite3.connect(story_db, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(Database, "writing", note_begin)
    inspector.run.send("a story about a ferry")
    qtbot.waitUntil(begun.is_set)
    started = time.monotonic()
    with qtbot.waitSignal(inspector.closed, timeout=25_000):
        inspector.window.close()
    assert time.monotonic() - started < 2 * SHUTDOWN_SECONDS + 5
    other.close()
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)
