"""The comparison of two sessions: a fork and its parent, sessions of two databases, and long sessions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from google.genai import types
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.branches.comparison_model import LEFT, RIGHT
from inspector_app.branches.session_picker import SessionPicker
from inspector_app.branches.view_data import Aspect
from inspector_app.documents.session_address import SessionAddress
from inspector_app.widgets import theme
from runtime.events import Event, EventActions
from runtime.sessions.session import SessionKey
from tests.gui.window.driver import WindowDriver, text_of
from tests.gui.window.stored_sessions import store_sessions
from tests.sweep import count

COMPARE_KEY = (Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
DRAFTS = {"one": ["a", "b", "c", "d"], "two": ["a", "B", "c", "D", "e"]}


def said(number: int, text: str, invocation: str = "e-1") -> Event:
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return Event(invocation_id=invocation, author="writer", content=content, actions=EventActions(state_delta={"draft": text, "n": number}))


def write(path: Path, sessions: dict[str, list[str]]) -> Path:
    said_in = {name: [said(number, text) for number, text in enumerate(texts)] for name, texts in sessions.items()}
    return store_sessions(path, {SessionKey("app", "u", name): events for name, events in said_in.items()})


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("compare")
    return write(folder / "left.db", {"one": DRAFTS["one"]}), write(folder / "right.db", {"two": DRAFTS["two"]})


@pytest.fixture
def compared(inspector: Inspector, databases: tuple[Path, Path], opened: Callable[..., None], qtbot: QtBot) -> Inspector:
    """Return the window with two sessions compared by keyboard: Ctrl+Shift+D, a few letters, Enter."""
    opened(*databases)
    left = SessionAddress(str(databases[0]), SessionKey("app", "u", "one"))
    inspector.cursor.select_session(left)
    qtbot.waitUntil(lambda: inspector.current.session is not None and inspector.current.session.address == left)
    qtbot.keyClick(inspector.window, *COMPARE_KEY)
    picker = inspector.window.findChild(SessionPicker)
    assert picker is not None
    qtbot.keyClicks(picker.filter, "right two")
    qtbot.keyClick(picker.filter, Qt.Key.Key_Return)
    inspector.window.activateWindow()  # as a window manager would
    qtbot.waitUntil(lambda: inspector.window.page is inspector.window.parts.compare and not inspector.tasks.running, timeout=10_000)
    return inspector


def aspects(inspector: Inspector) -> dict[str, Aspect]:
    return {aspect.name: aspect for aspect in inspector.window.parts.compare.aspects.aspects}


def test_the_first_difference_is_selected_and_f8_moves_between_differences(compared: Inspector, qtbot: QtBot) -> None:
    page = compared.window.parts.compare
    model, table = page.model, page.table
    assert [model.kind(row) for row in range(model.rowCount())] == ["same", "changed", "same", "changed", "right only"]
    assert model.index(1, LEFT).data() == "writer · b" and model.index(1, RIGHT).data() == "writer · B"
    assert table.currentIndex().row() == 1 and text_of(page, "compare_count") == "Difference 1 of 3"
    for row in (3, 4, 4):
        qtbot.keyClick(table, Qt.Key.Key_F8)
        assert table.currentIndex().row() == row
    qtbot.keyClick(table, Qt.Key.Key_F8, Qt.KeyboardModifier.ShiftModifier)
    assert table.currentIndex().row() == 3 and text_of(page, "compare_count") == "Difference 2 of 3"


def test_a_side_without_the_event_shows_that(compared: Inspector, qtbot: QtBot) -> None:
    page = compared.window.parts.compare
    page.table.setCurrentIndex(page.model.index(4, LEFT))
    left, right = page.aspects.left, page.aspects.right
    qtbot.waitUntil(lambda: left.placeholderText() == "The left session has no matching event.")
    assert left.toPlainText() == "" and right.placeholderText() == ""


def test_the_session_pickers_buttons_compare_or_cancel(
    story: Inspector, databases: tuple[Path, Path], opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(*databases)
    for name, compares in (("picker_cancel", False), ("picker_compare", True)):
        story.window.commands.compare.trigger()
        (picker,) = [each for each in story.window.findChildren(SessionPicker) if each.isVisible()]
        qtbot.mouseClick(picker.findChild(QPushButton, name), Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: not story.tasks.running)
        assert (story.window.page is story.window.parts.compare) == compares
        assert not [each for each in story.window.findChildren(SessionPicker) if each.isVisible()]


def test_the_session_picker_is_disabled_if_no_session_matches(
    story: Inspector, databases: tuple[Path, Path], opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(*databases)
    story.window.commands.compare.trigger()
    picker = story.window.findChild(SessionPicker)
    qtbot.keyClicks(picker.filter, "zebra")
    assert not picker.compare.isEnabled()
    picker.reject()


def test_a_pair_shows_text_state_prompt_tokens_and_time(compared: Inspector, qtbot: QtBot) -> None:
    page = compared.window.parts.compare
    qtbot.waitUntil(lambda: "state after" in aspects(compared))
    found = aspects(compared)
    assert found["text"] == Aspect("text", "b", "B")
    assert '"draft": "b"' in found["state after"].left and '"draft": "B"' in found["state after"].right
    assert {"prompt", "tokens", "time"} <= found.keys() and not found["prompt"].differs
    assert page.aspects.left.toPlainText() == "b" and page.aspects.right.toPlainText() == "B"
    page.table.setCurrentIndex(page.model.index(3, LEFT))
    qtbot.waitUntil(lambda: aspects(compared)["text"].right == "D")
    assert aspects(compared)["prompt"].differs, "the preceding conversation differs"


def test_a_double_click_selects_the_event_in_its_session(compared: Inspector, qtbot: QtBot) -> None:
    compared.window.parts.compare.table.doubleClicked.emit(compared.window.parts.compare.model.index(4, RIGHT))
    qtbot.waitUntil(lambda: compared.cursor.event_index == 4)
    assert compared.window.page is compared.window.workbench
    assert compared.cursor.session is not None and compared.cursor.session.key.session_id == "two"


def test_escape_closes_the_comparison(compared: Inspector, qtbot: QtBot) -> None:
    qtbot.keyClick(compared.window.parts.compare.table, Qt.Key.Key_Escape)
    assert compared.window.page is compared.window.workbench and compared.window.parts.compare.model.rowCount() == 0


@pytest.mark.sweep
def test_long_sessions_are_aligned_off_the_gui_thread(
    inspector: Inspector, opened: Callable[..., None], tmp_path: Path, qtbot: QtBot
) -> None:
    half = count(1_000, 5_000)
    texts = [f"line {number}" for number in range(2 * half)]
    other = [*texts[:half], "another line", *texts[half + 100 :]]
    database = write(tmp_path / "long.db", {"long": texts, "other": other})
    opened(database)
    page, ticks = inspector.window.parts.compare, []
    timer = QTimer(inspector.window)  # not left running if this fails
    timer.timeout.connect(lambda: ticks.append(page.model.rowCount()))
    timer.start(5)
    inspector.window.parts.sessions.compare_requested.emit(str(database), SessionKey("app", "u", "other"), SessionKey("app", "u", "long"))
    qtbot.waitUntil(lambda: inspector.window.page is page, timeout=60_000)
    timer.stop()
    assert page.model.rowCount() == 2 * half and page.table.currentIndex().row() == half
    assert ticks.count(0) > 5, "the window stayed responsive"


def test_the_session_list_compares_a_fork_with_its_parent(story: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    original = story.cursor.session
    assert original is not None
    driver.fork.ask(6)
    driver.fork.choose("fork")
    fork = driver.fork.wait(original)
    pane = story.window.parts.sessions
    menu = pane.context_menu(story.features.sessions.model.index_of(fork.database, fork.key))
    assert menu is not None
    next(action for action in menu.actions() if action.text() == "Compare with the session it was forked from").trigger()
    page = story.window.parts.compare
    qtbot.waitUntil(lambda: story.window.page is page, timeout=10_000)
    assert page.table.currentIndex().row() == 7 and page.model.kind(7) == "left only", "the first 7 events are the same"
    assert page.findChild(QLineEdit) is None
    titles = [
        label.text() for label in (page.findChild(QLabel, f"compare_{side}_title") for side in ("left", "right")) if label is not None
    ]
    story_of = "Write a story about the keeper of the north light"
    assert titles[0].startswith(f"{story_of} · ") and titles[1].startswith(f"{story_of} (fork at 7) · "), "named as in the list of sessions"


def test_with_many_sessions_the_newest_and_the_parent_are_offered(
    story: Inspector, driver: WindowDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = story.cursor.session
    assert original is not None
    driver.fork.ask(6)
    driver.fork.choose("fork")
    driver.fork.wait(original)
    monkeypatch.setattr("inspector_app.branches.compare_controller.MOST_OFFERED", 1)
    story.window.commands.compare.trigger()
    picker = story.window.findChild(SessionPicker)
    assert [picker.list.item(row).data(Qt.ItemDataRole.UserRole) for row in range(picker.list.count())] == [original]
    assert "one of the 1 newest" in picker.findChild(QLabel).text()
    picker.reject()


def test_differences_are_repainted_when_the_theme_changes(compared: Inspector, qapp: QApplication, qtbot: QtBot) -> None:
    pane = compared.window.parts.compare.aspects.right
    qtbot.waitUntil(lambda: bool(pane.extraSelections()))
    theme.apply(qapp, "light")
    assert [mark.format.background().color().name() for mark in pane.extraSelections()] == [theme.LIGHT.added]
