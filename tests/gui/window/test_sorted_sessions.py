"""The session list, sorted and filtered by what sessions cost and the like."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from google.genai import types
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QToolButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.workspace import session_sums
from runtime.events import Event
from runtime.sessions.session_key import SessionKey
from tests.gui.window.driver import WindowDriver
from tests.gui.window.stored_sessions import store_sessions

TOKENS = {"a": 1_000, "b": 900_000, "c": 5_000}


@pytest.fixture
def sorting(tmp_path: Path, inspector: Inspector, opened: Callable[..., None]) -> Inspector:
    """A window with three sessions, of which `b` is the dearest."""

    def answered(tokens: int) -> Event:
        usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=tokens, total_token_count=tokens)
        return Event(author="me", invocation_id="i", usage_metadata=usage, model_version="gemini-2.5-flash")

    said = {SessionKey("shop", "ann", name): [answered(tokens)] for name, tokens in TOKENS.items()}
    opened(store_sessions(tmp_path / "shop.db", said))
    return inspector


def choose(inspector: Inspector, order: str) -> None:
    menu = inspector.window.parts.sessions.order.menu()
    next(entry for entry in menu.actions() if entry.text() == order).trigger()


def test_sessions_are_sorted_and_filtered_by_cost(sorting: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    pane = sorting.window.parts.sessions
    choose(sorting, "Highest cost first")
    qtbot.waitUntil(lambda: driver.sessions.ids() == ["b", "c", "a"])
    qtbot.keyClicks(pane.filter, "cost > 0.001 and tokens < 10000")
    qtbot.waitUntil(lambda: driver.sessions.ids() == ["c"])
    said = pane.findChild(QLabel, "sessions_said")
    qtbot.waitUntil(said.isHidden)
    qtbot.keyClicks(pane.filter, " and")
    assert "expected a name, such as `title`" in said.text() and driver.sessions.ids() == ["c"]
    pane.filter.clear()
    choose(sorting, "By id")
    assert driver.sessions.ids() == ["a", "b", "c"] and said.isHidden()


def test_reading_can_be_stopped(sorting: Inspector, driver: WindowDriver, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_sums, "AT_ONCE", 1)
    pane = sorting.window.parts.sessions
    stop, said = pane.findChild(QToolButton, "sessions_stop"), pane.findChild(QLabel, "sessions_said")
    with qtbot.waitSignal(sorting.work.sums.progressed):
        choose(sorting, "Most tokens first")
    assert said.text() == "Reading events: 1 of 3 sessions"
    qtbot.mouseClick(stop, Qt.MouseButton.LeftButton)
    driver.run_until_idle()
    assert said.text() == "Not all sessions were read." and not stop.isVisible()
