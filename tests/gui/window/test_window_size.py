"""A window that is resized while the painting of a live stream is delayed."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.stream import stream_table


def test_delayed_rows_are_painted_after_a_resize(story: Inspector, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_table, "PAINT_EACH_MS", 1_000_000)
    table = story.window.parts.stream.table

    def is_delayed() -> bool:
        table.paint_later()  # does nothing before the table was painted
        return not table.viewport().updatesEnabled()

    qtbot.waitUntil(is_delayed)
    story.window.resize(story.window.width() + 20, story.window.height())
    qtbot.waitUntil(table.viewport().updatesEnabled)
