"""Screen readers get names and plain descriptions on every page and in every pane."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHeaderView, QPushButton, QWidget

from inspector_app.app import Inspector
from tests.gui.shell.accessible_tree import Heard, heard_in
from tests.gui.window.driver import WindowDriver

PANES = ("pending", "breakpoints", "timeline", "graph", "log", "findings")
NOT_NAMED = ("qt_scrollarea_viewport", "", "qt_spinbox_lineedit")  # parts that Qt makes


def read(window: QWidget) -> list[Heard]:
    heard = list(heard_in(window))
    assert len(heard) > 10
    assert [part for part in heard if "<div" in part.name + part.description or "&lt;" in part.description] == []
    assert [part for part in heard if part.is_focusable and not part.name and part.widget not in NOT_NAMED] == []
    return heard


def described(heard: list[Heard], widget: str) -> str:
    return next(part.description for part in heard if part.widget == widget)


def test_the_start_page_the_problem_page_and_the_settings_are_read_plainly(
    inspector: Inspector, driver: WindowDriver, opened: Callable[..., None], tmp_path: Path
) -> None:
    inspector.window.parts.welcome.set_recent(["/data/<b>orders</b>.db"])
    driver.run_until(lambda: all(row.isVisible() for row in inspector.window.findChildren(QPushButton, "recent_item")))
    heard = read(inspector.window)
    assert described(heard, "recent_item") == "/data/<b>orders</b>.db"
    assert described(heard, "button_action_run") == "Run (F5)\nOpen an agent first (Ctrl+O)."
    (tmp_path / "notes.db").write_text("no database")
    opened(tmp_path / "notes.db")
    assert any(part.widget == "problem_title" for part in read(inspector.window))
    inspector.window.commands.settings.trigger()
    dialog = inspector.window.findChild(QDialog, "settings_dialog")
    assert dialog is not None
    read(dialog)
    dialog.accept()


def test_every_pane_is_read_plainly(orders: Inspector, driver: WindowDriver) -> None:
    driver.run_message("40 boxes of A4 paper")
    for pane in PANES:
        driver.bench.raise_pane(pane)
        driver.run_until_idle()
        boxes = [part for part in read(orders.window) if part.role == "ComboBox"]
        assert all(part.description for part in boxes), "Qt names a box without a label by its choice"
    for tab in range(driver.bench.parts.detail.tabs.count()):
        driver.bench.parts.detail.tabs.setCurrentIndex(tab)
        driver.run_until_idle()
        read(orders.window)


def test_the_cards_and_the_pages_over_the_events_are_read_plainly(story: Inspector, driver: WindowDriver) -> None:
    bench, commands = driver.bench, story.window.commands
    for command, is_shown in (
        (commands.resume, lambda: bench.parts.preflight.shown),
        (commands.fork, lambda: bench.parts.fork_card.title),
        (commands.rewind, lambda: bench.parts.rewind_card.title),
    ):
        driver.stream.select(4)
        driver.run_until_idle()
        command.trigger()
        driver.run_until(is_shown)
        read(story.window)
    for command in (commands.inspect_database, commands.palette, commands.tour):
        command.trigger()
        driver.run_until_idle()
        read(story.window)
        story.window.palette_card.hide()
    story.window.tour_card.end()


def test_headings_of_columns_begin_with_a_capital(orders: Inspector, driver: WindowDriver) -> None:
    driver.run_message("40 boxes of A4 paper")
    headers = [header for header in orders.window.findChildren(QHeaderView) if header.orientation() == Qt.Orientation.Horizontal]
    headings = {
        str(header.model().headerData(column, Qt.Orientation.Horizontal) or "") for header in headers for column in range(header.count())
    }
    assert {"Author", "Pending", "Breakpoint", "Written by"} <= headings
    assert sorted(text for text in headings if text[:1].islower()) == []
