"""The loop under the window does for async generators what asyncio's own does."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator

from pytestqt.qtbot import QtBot

from inspector_app.app import InspectorLoop


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
