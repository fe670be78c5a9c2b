"""The event loop: async generators, callbacks, cancellation and shutdown behave as in asyncio."""

from __future__ import annotations

import asyncio
import contextvars
import gc
from collections.abc import AsyncGenerator

import pytest
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector_app import app
from inspector_app.app import Inspector
from inspector_app.support.loop import InspectorLoop
from inspector_app.support.settings import Settings
from inspector_app.workspace.messages import MessageBus


def test_the_finally_block_of_an_abandoned_generator_completes(running: InspectorLoop, qtbot: QtBot) -> None:
    steps = []

    async def numbers() -> AsyncGenerator[int, None]:
        try:
            yield 1
            yield 2
        finally:
            steps.append("finally begins")
            await asyncio.sleep(0)
            steps.append("finally ends")

    async def abandon() -> None:
        async for _ in numbers():
            break

    task = running.create_task(abandon())
    qtbot.waitUntil(task.done)
    gc.collect()
    qtbot.waitUntil(lambda: steps == ["finally begins", "finally ends"])


def test_a_task_woken_by_a_timer_runs_before_other_qt_events(running: InspectorLoop, qtbot: QtBot) -> None:
    steps = []
    done = running.create_future()

    async def wait() -> None:
        await done
        steps.append("awake")

    def wake() -> None:
        QTimer.singleShot(0, lambda: steps.append("Qt"))
        done.set_result(None)

    task = running.create_task(wait())
    running.call_later(0.001, wake)
    qtbot.waitUntil(lambda: len(steps) == 2)
    assert steps == ["awake", "Qt"]
    assert task.done()


def test_a_busy_task_does_not_starve_qt(running: InspectorLoop, qtbot: QtBot) -> None:
    turns = 0
    over = False

    async def spin() -> None:
        nonlocal turns
        while not over:
            turns += 1
            await asyncio.sleep(0)

    task = running.create_task(spin())
    qtbot.wait(1)
    seen = []
    QTimer.singleShot(5, lambda: seen.append(turns))
    qtbot.waitUntil(lambda: bool(seen))
    over = True
    qtbot.waitUntil(task.done)
    assert seen[0] > 0


def test_a_cancelled_callback_is_not_called(running: InspectorLoop, qtbot: QtBot) -> None:
    called = []
    running.call_soon(called.append, "soon").cancel()
    running.call_later(0.001, called.append, "later").cancel()
    running.call_later(0.02, called.append, "last")
    qtbot.waitUntil(lambda: "last" in called)
    assert called == ["last"]


def test_the_loop_runs_while_a_callback_has_a_dialog_open(running: InspectorLoop, qtbot: QtBot) -> None:
    steps = []

    def ask() -> None:
        dialog = QEventLoop()
        running.call_soon(steps.append, "soon")
        running.call_later(0.001, steps.append, "later")
        running.call_later(0.01, dialog.quit)
        dialog.exec()
        steps.append("answered")

    running.call_soon(ask)
    running.call_soon(steps.append, "behind it")
    qtbot.waitUntil(lambda: "answered" in steps)
    assert steps == ["behind it", "soon", "later", "answered"]


def test_each_callback_runs_in_its_context(running: InspectorLoop, qtbot: QtBot) -> None:
    name = contextvars.ContextVar("name", default="none")
    seen = []
    mine = contextvars.copy_context()
    mine.run(name.set, "mine")
    running.call_soon(lambda: seen.append(name.get()), context=mine)
    running.call_later(0.001, lambda: seen.append(name.get()), context=mine)
    running.call_soon(lambda: seen.append(name.get()))
    qtbot.waitUntil(lambda: len(seen) == 3)
    assert seen == ["mine", "none", "mine"]


@pytest.mark.logs("were not closed in time")
def test_a_database_that_never_closes_does_not_keep_the_window_open(
    running: InspectorLoop, qapp: QApplication, settings: Settings, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_of_test = asyncio.Event()

    async def answer_never() -> None:
        await end_of_test.wait()

    inspector = Inspector(qapp, settings, MessageBus())
    inspector.show((1280, 800))
    monkeypatch.setattr(app, "SHUTDOWN_SECONDS", 0.05)
    monkeypatch.setattr(inspector.databases, "close", answer_never)
    with qtbot.waitSignal(inspector.closed, timeout=5_000):
        inspector.window.close()
    end_of_test.set()
    qtbot.waitUntil(lambda: not inspector.tasks.running)
