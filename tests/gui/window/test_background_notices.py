"""Notifications of the desktop about a run appear only while another window is active."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from tests.gui.window.driver import WindowDriver


@pytest.fixture
def notices(orders: Inspector) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    orders.features.shell.notices.noticed.connect(lambda *notice: found.append(notice))
    return found


@pytest.fixture
def other(orders: Inspector, qtbot: QtBot) -> Iterator[QWidget]:
    """Another window, which is active."""
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(lambda: window.isActiveWindow() and not orders.window.isActiveWindow())
    yield window


def test_a_pause_in_the_background_is_notified(driver: WindowDriver, notices: list[tuple[str, str]], other: QWidget) -> None:
    driver.run_message("40 boxes of A4 paper")
    assert notices == [("The agent waits for an answer", "40 boxes of A4 paper: see Pending.")]


def test_a_hold_in_the_background_is_notified(driver: WindowDriver, notices: list[tuple[str, str]], other: QWidget) -> None:
    driver.inspector.run.send("40 boxes of A4 paper", paused=True)
    driver.run_until_held()
    assert [title for title, _ in notices] == ["The agent is held"]
    driver.inspector.run.stop()
    driver.run_until_idle()
    assert len(notices) == 1, "the user stopped it"


def test_a_failure_in_the_background_is_notified(
    driver: WindowDriver, notices: list[tuple[str, str]], other: QWidget, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the line is cut " * 20)

    loaded = driver.inspector.agents.loaded
    assert loaded is not None
    loaded.app.root_agent.before_model_callback = fail  # type: ignore[attr-defined]
    driver.run_message("40 boxes of A4 paper")
    (title, text), *rest = notices
    assert title == "The run failed" and "the line is cut" in text and len(text) == 200 and not rest


def test_nothing_is_notified_in_the_active_window(
    driver: WindowDriver, notices: list[tuple[str, str]], orders: Inspector, qtbot: QtBot
) -> None:
    orders.window.activateWindow()
    qtbot.waitUntil(orders.window.isActiveWindow)
    driver.run_message("40 boxes of A4 paper")
    assert notices == []
