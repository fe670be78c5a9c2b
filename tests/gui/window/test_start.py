"""The start page, dropping files, and what is remembered between starts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QLibraryInfo, QMimeData, QPoint, QPointF, QSize, Qt, QUrl, QVersionNumber
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QDockWidget, QFrame, QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.demo import STORY
from inspector_app.documents.event_notes import EventNotes
from inspector_app.opening.drop_target import DropTarget
from inspector_app.support.loop import InspectorLoop
from inspector_app.support.settings import Settings
from inspector_app.widgets import theme
from inspector_app.widgets.icon_label import IconLabel
from inspector_app.workspace.messages import MessageBus
from runtime.storage.reading.reader import StoredDatabase
from tests.gui.window.trusting import trust_folder


def idle(inspector: Inspector, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=10_000)


def test_a_sample_opens_without_a_trust_question(inspector: Inspector, qtbot: QtBot) -> None:
    window = inspector.window
    assert window.page is window.parts.welcome
    qtbot.mouseClick(window.findChild(QPushButton, "sample_orders"), Qt.MouseButton.LeftButton)
    idle(inspector, qtbot)
    assert window.page is window.workbench
    assert inspector.agents.loaded is not None and inspector.agents.loaded.name == "orders"
    assert window.commands.new_session.isEnabled()
    assert any("40 boxes of A4 paper" in label.text() for label in window.parts.stream.findChildren(QLabel))
    assert "No sessions yet" in [label.text() for label in window.parts.sessions.findChildren(QLabel) if label.isVisible()]


def test_a_dropped_database_opens(inspector: Inspector, story_db: Path, qtbot: QtBot) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(story_db))])
    no_buttons = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    drop = QDropEvent(QPoint(200, 200), Qt.DropAction.CopyAction, data, *no_buttons)
    inspector.window.findChild(DropTarget).eventFilter(inspector.window, drop)
    idle(inspector, qtbot)
    assert drop.isAccepted()
    assert inspector.features.stream.events.event_count > 0
    assert inspector.settings.recent == [str(story_db)]


def test_a_recent_item_opens_again(inspector: Inspector, story_db: Path, opened: Callable[..., None], qtbot: QtBot) -> None:
    opened(story_db)
    inspector.window.commands.close_database.trigger()
    idle(inspector, qtbot)
    assert inspector.databases.sources == [] and inspector.features.stream.events.event_count == 0
    inspector.window.commands.start_page.trigger()
    qtbot.mouseClick(inspector.window.findChild(QPushButton, "recent_item"), Qt.MouseButton.LeftButton)
    idle(inspector, qtbot)
    assert inspector.features.stream.events.event_count > 0


def test_tab_follows_the_reading_order_of_the_start_page(inspector: Inspector, story_db: Path, qtbot: QtBot) -> None:
    welcome = inspector.window.parts.welcome
    welcome.set_recent([str(story_db), "/somewhere/agent.py"])
    inspector.window.activateWindow()
    qtbot.waitUntil(lambda: isinstance(QApplication.focusWidget(), QPushButton))
    qtbot.waitUntil(lambda: all(row.isVisible() for row in welcome.findChildren(QPushButton, "recent_item")))
    seen = []
    for _ in range(8):
        seen.append(QApplication.focusWidget().accessibleName())
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    openers = ["Open agent…", "Open database…", "Open a server…", "Attach to a running app…"]
    assert seen == [*openers, f"Open {story_db}", "Open /somewhere/agent.py", "story", "orders"]


def test_recent_items_have_the_icon_of_their_type(inspector: Inspector, tmp_path: Path) -> None:
    welcome = inspector.window.parts.welcome
    welcome.set_recent([str(tmp_path), "/somewhere/orders.db", "postgresql://ana@db:5432/sessions", "sqlite:////somewhere/orders.db"])
    icons = [row.findChild(IconLabel).name for row in welcome.findChildren(QPushButton, "recent_item")]
    assert icons == ["robot", "database", "server", "database"]


def test_a_missing_recent_item_is_reported_and_removed(inspector: Inspector, opened: Callable[..., None], tmp_path: Path) -> None:
    inspector.settings.add_recent(str(tmp_path / "gone.db"))
    opened(tmp_path / "gone.db")
    assert inspector.window.page is inspector.window.parts.problem
    assert inspector.settings.recent == []


def test_the_drop_zone_is_highlighted_during_a_drag(inspector: Inspector, story_db: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(story_db))])
    zone, none = inspector.window.findChild(QFrame, "drop_zone"), Qt.KeyboardModifier.NoModifier
    # Before 6.12, Qt takes whole pixels only; since then, they are deprecated.
    place = QPointF(200, 200) if QLibraryInfo.version() >= QVersionNumber(6, 12) else QPoint(200, 200)
    enter = QDragEnterEvent(place, Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, none)
    QApplication.sendEvent(inspector.window, enter)
    assert zone.property("drop") == "able"
    QApplication.sendEvent(inspector.window, QDragLeaveEvent())
    assert zone.property("drop") == "none"


def test_an_agents_adk_web_sessions_are_offered(
    inspector: Inspector, story_db: Path, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    folder = tmp_path / "teller"
    shutil.copytree(STORY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / ".adk").mkdir()
    shutil.copy(story_db, folder / ".adk" / "session.db")
    trust_folder(inspector, folder)
    opened(folder)
    hint = inspector.window.parts.database_hint
    assert ".adk/session.db" in hint.text
    qtbot.mouseClick(hint.button, Qt.MouseButton.LeftButton)
    idle(inspector, qtbot)
    assert hint.text == ""
    assert [source.title for source in inspector.databases.sources] == ["session.db"]


@pytest.fixture
def start(
    running: InspectorLoop, qapp: QApplication, settings: Settings, story_db: Path, qtbot: QtBot
) -> Iterator[Callable[[], Inspector]]:
    """Return a function that starts the application with the same settings; windows left open are closed on teardown."""
    made: list[Inspector] = []

    def begin() -> Inspector:
        inspector = Inspector(qapp, settings, MessageBus())
        made.append(inspector)
        inspector.closed.connect(lambda: made.remove(inspector))
        inspector.show(None)
        inspector.tasks.spawn(inspector.open([str(story_db)]), "Opening")
        idle(inspector, qtbot)
        qtbot.waitUntil(lambda: inspector.window.workbench.layout_of_docks.saved_layout() is not None)
        return inspector

    yield begin
    for inspector in list(made):
        close(inspector, qtbot)


def test_layout_and_theme_are_remembered(start: Callable[[], Inspector], settings: Settings, qtbot: QtBot) -> None:
    first = start()
    assert dock(first, "log").isVisibleTo(first.window.workbench)
    dock(first, "sessions").close()
    first.window.resize(790, 700)  # the off-screen platform's screen is 800 × 800
    first.window.commands.theme_light.trigger()
    assert not theme.current().dark
    close(first, qtbot)

    second = start()
    assert not dock(second, "sessions").isVisible()
    assert second.window.size() == QSize(790, 700)
    assert settings.theme == "light"
    second.window.commands.reset_layout.trigger()
    qtbot.waitUntil(dock(second, "sessions").isVisible)
    close(second, qtbot)


def test_the_first_window_is_centred_and_fully_visible(start: Callable[[], Inspector], qtbot: QtBot) -> None:
    first = start()
    room = first.window.screen().availableGeometry()
    frame = first.window.frameGeometry()
    assert room.contains(frame)
    assert (frame.center() - room.center()).manhattanLength() <= 8  # the frame is known only once the window is shown
    close(first, qtbot)


def test_a_note_that_is_being_written_is_stored_when_the_window_closes(
    start: Callable[[], Inspector], story_db: Path, qtbot: QtBot
) -> None:
    inspector = start()
    session = inspector.current.session
    assert session is not None
    inspector.window.parts.stream.select_event(1)
    idle(inspector, qtbot)
    inspector.window.commands.edit_note.trigger()
    qtbot.keyClicks(inspector.window.parts.detail.note.text, "half a thought")
    close(inspector, qtbot)
    with StoredDatabase.open(str(story_db)) as stored:
        notes = EventNotes(str(story_db)).read(stored)
    assert [note.text for note in notes[session.address.key].values()] == ["half a thought"]


def close(inspector: Inspector, qtbot: QtBot) -> None:
    with qtbot.waitSignal(inspector.closed, timeout=10_000):
        inspector.window.commands.quit.trigger()


def dock(inspector: Inspector, name: str) -> QDockWidget:
    return inspector.window.findChild(QDockWidget, f"dock_{name}")


def test_every_visible_button_has_a_name(story: Inspector) -> None:
    nameless = [
        (button.parentWidget().objectName(), button.objectName(), button.text())
        for button in story.window.findChildren(QAbstractButton)
        if button.isVisible() and not isinstance(button.parentWidget(), (QLineEdit, QDockWidget))  # Qt's own buttons
        if not (button.objectName() and (button.accessibleName() or button.text()))
    ]
    assert nameless == []
