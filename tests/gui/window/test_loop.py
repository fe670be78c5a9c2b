"""The loop under the window does for async generators what asyncio's own does."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector_app import app
from inspector_app.app import Inspector, InspectorLoop
from inspector_app.messages import MessageBus
from inspector_app.settings import Settings


def test_an_abandoned_generators_finally_runs_to_its_end(running: InspectorLoop, qtbot: QtBot) -> None:
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


def test_a_database_that_does_not_let_itself_be_closed_does_not_hold_the_window(
    running: InspectorLoop, qapp: QApplication, settings: Settings, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer_never() -> None:
        await asyncio.Event().wait()

    inspector = Inspector(qapp, settings, MessageBus())
    inspector.show((1280, 800))
    monkeypatch.setattr(app, "SHUTDOWN_SECONDS", 0.05)
    monkeypatch.setattr(inspector.browse, "close", answer_never)
    with qtbot.waitSignal(inspector.closed, timeout=5_000):
        inspector.window.close()
