from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from google.genai import types
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QDrag, QGuiApplication
from PySide6.QtWidgets import QApplication, QPushButton

from inspector_app.documents.invocation_groups import InvocationGroups
from inspector_app.documents.session_document import SessionDocument
from inspector_app.documents.session_events import PAGE, SessionEvents
from inspector_app.stream import stream_table
from inspector_app.stream.event_cells import Column
from inspector_app.stream.event_stream import EventStreamView
from inspector_app.stream.event_table_model import EventTableModel
from inspector_app.widgets import theme
from tests.gui.events import partial, said, turns
from tests.gui.stream.documents import append, document_of, show


@pytest.fixture
def model(qtbot) -> EventTableModel:
    return EventTableModel()


@pytest.fixture
def view(qtbot, model: EventTableModel) -> EventStreamView:
    made = EventStreamView(model)
    qtbot.addWidget(made)
    made.resize(700, 300)
    made.show()
    return made


def press(qtbot, view: EventStreamView, key: Qt.Key) -> None:
    qtbot.keyClick(view.table, key)


def click_row(qtbot, view: EventStreamView, row: int) -> None:
    rect = view.table.visualRect(view.table.model().index(row, Column.EVENT))
    qtbot.mouseClick(view.table.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())


def tail_button(view: EventStreamView) -> QPushButton:
    return view.findChild(QPushButton, "follow_tail")


def at_bottom(view: EventStreamView) -> bool:
    bar = view.table.verticalScrollBar()
    return bar.value() == bar.maximum() > 0


def test_an_empty_stream_says_why(view: EventStreamView, model: EventTableModel) -> None:
    assert not view.table.isVisible()
    view.set_empty_text("No events yet", "Send a message below.")
    assert view._empty.text == ("No events yet", "Send a message below.")
    show(model, turns(1))
    assert view.table.isVisible()
    show(model, [])
    assert not view.table.isVisible()


def test_a_click_and_the_keys_select(qtbot, view: EventStreamView, model: EventTableModel) -> None:
    show(model, turns(30))
    selected: list[int] = []
    view.event_selected.connect(selected.append)
    view.table.scrollToTop()
    click_row(qtbot, view, 2)
    press(qtbot, view, Qt.Key.Key_Down)
    press(qtbot, view, Qt.Key.Key_Down)
    press(qtbot, view, Qt.Key.Key_Down)
    assert selected == [1, 2, 3], "a header between two invocations is not an event"
    press(qtbot, view, Qt.Key.Key_Down)
    press(qtbot, view, Qt.Key.Key_Up)
    press(qtbot, view, Qt.Key.Key_Up)
    press(qtbot, view, Qt.Key.Key_End)
    press(qtbot, view, Qt.Key.Key_Home)
    assert selected == [1, 2, 3, 4, 3, 29, 0]


def test_end_goes_to_the_last_event_and_not_to_a_streaming_text(qtbot, view: EventStreamView, model: EventTableModel) -> None:
    show(model, turns(3))
    model.show_partial(partial("gro", invocation="e-0"))
    with qtbot.waitSignal(view.event_selected) as found:
        press(qtbot, view, Qt.Key.Key_End)
    assert found.args == [2]


def test_selecting_an_event_unfolds_its_group_scrolls_and_reports_once(view: EventStreamView, model: EventTableModel) -> None:
    show(model, turns(100))
    selected: list[int] = []
    view.event_selected.connect(selected.append)
    model.set_folded(0, True)
    view.select_event(2)
    view.select_event(2)
    assert selected == [2]
    row = model.row_of_index(2)
    assert row is not None
    assert view.table.viewport().rect().contains(view.table.visualRect(model.index(row, Column.EVENT)).center())
    view.select_event(None)
    assert not view.table.selectionModel().hasSelection()


def test_headers_fold_by_click_and_keys(qtbot, view: EventStreamView, model: EventTableModel) -> None:
    show(model, turns(8))
    view.table.scrollToTop()
    click_row(qtbot, view, 0)
    assert model.rowCount() == 6
    click_row(qtbot, view, 0)
    assert model.rowCount() == 10
    for key, expected in ((Qt.Key.Key_Left, 6), (Qt.Key.Key_Right, 10), (Qt.Key.Key_Return, 6), (Qt.Key.Key_Space, 10)):
        press(qtbot, view, key)
        assert model.rowCount() == expected


def test_folding_away_the_selected_event_selects_no_other(qtbot, view: EventStreamView, model: EventTableModel) -> None:
    show(model, turns(8))
    view.select_event(1)
    selected: list[int] = []
    view.event_selected.connect(selected.append)
    view.table.scrollToTop()
    click_row(qtbot, view, 0)
    assert selected == []


def test_the_tail_is_followed_until_the_user_scrolls(qtbot, view: EventStreamView, model: EventTableModel) -> None:
    show(model, turns(60))
    QApplication.processEvents()
    assert view.following and at_bottom(view)
    append(model, [said("more", invocation="e-14", number=61)])
    QApplication.processEvents()
    assert at_bottom(view)
    with qtbot.waitSignal(view.follow_changed) as change:
        view.table.verticalScrollBar().setValue(100)
    assert change.args == [False]
    append(model, [said("more", number=62), said("more", number=63)])
    append(model, [said("more", number=64)])
    QApplication.processEvents()
    assert view.table.verticalScrollBar().value() == 100
    button = tail_button(view)
    assert button.isVisible()
    assert button.text() == "3 new events ↓"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert view.following and at_bottom(view)
    assert not button.isVisible()


def test_scrolling_back_to_the_end_follows_again(view: EventStreamView, model: EventTableModel) -> None:
    show(model, turns(60))
    QApplication.processEvents()
    bar = view.table.verticalScrollBar()
    bar.setValue(10)
    assert not view.following
    bar.setValue(bar.maximum())
    assert view.following


def test_selecting_an_older_event_stops_following(qtbot, view: EventStreamView, model: EventTableModel) -> None:
    show(model, turns(4))
    click_row(qtbot, view, 2)
    assert not view.following
    append(model, [said("more", invocation="e-0", number=5)])
    assert tail_button(view).isVisible()
    press(qtbot, view, Qt.Key.Key_End)
    assert view.following
    assert not tail_button(view).isVisible()


def test_another_session_begins_at_its_tail(view: EventStreamView, model: EventTableModel) -> None:
    show(model, turns(60))
    QApplication.processEvents()
    view.table.verticalScrollBar().setValue(0)
    append(model, turns(1))
    show(model, turns(80))
    QApplication.processEvents()
    assert view.following and at_bottom(view)
    assert not tail_button(view).isVisible()


def test_a_row_is_copied_as_json(view: EventStreamView, model: EventTableModel) -> None:
    show(model, turns(2))
    menu = view.context_menu(1)
    assert menu is not None
    actions = {action.text(): action for action in menu.actions()}
    actions["Copy as JSON"].trigger()
    assert json.loads(QGuiApplication.clipboard().text())["id"] == model.committed(0).id
    actions["Copy path"].trigger()
    assert QGuiApplication.clipboard().text() == "session.events[0]"
    assert "Copy its request as cURL" not in actions  # the user wrote it
    actions["Copy event id"].trigger()
    assert QGuiApplication.clipboard().text() == model.committed(0).id
    assert view.context_menu(-1) is None
    actions["Fold all invocations"].trigger()
    assert model.rowCount() == 1


def test_an_event_is_dragged_out_as_a_file_that_is_written_when_it_is_asked_for(view: EventStreamView, model: EventTableModel) -> None:
    show(model, turns(2))
    assert view.table.dragEnabled() and not view.table.acceptDrops()
    event = model.index(1, Column.EVENT)
    assert event.flags() & Qt.ItemFlag.ItemIsDragEnabled and not model.index(0, 0).flags() & Qt.ItemFlag.ItemIsDragEnabled
    drag = QDrag(view)
    drag.setMimeData(model.mimeData([event]))
    data = drag.mimeData()
    assert data.hasUrls() and data.hasText()
    file = Path(data.urls()[0].toLocalFile())
    assert file.name == "event-1-user.json" and json.loads(file.read_text())["id"] == model.committed(0).id
    assert json.loads(data.text())["id"] == model.committed(0).id
    drag.deleteLater()
    QCoreApplication.sendPostedEvents(drag, QEvent.Type.DeferredDelete)
    assert file.exists()  # a file manager copies it now
    assert not model.mimeData([model.index(0, 0)]).hasUrls()
    model.mimeData([model.index(2, Column.EVENT)])
    assert not file.parent.exists()


def test_unfolding_all_keeps_the_selection(view: EventStreamView, model: EventTableModel) -> None:
    show(model, turns(8))
    view.select_event(5)
    menu = view.context_menu(0)
    assert menu is not None
    {action.text(): action for action in menu.actions()}["Unfold all invocations"].trigger()
    assert model.index_at(view.table.currentIndex().row()) == 5


def test_rows_are_painted_in_the_current_theme(qapp, view: EventStreamView, model: EventTableModel) -> None:
    hostile = said("x" * 100_000 + "\u202e\x00\ud800", author="a" * 1000)
    show(model, [*turns(3), hostile])
    model.set_held(hostile.id)
    model.show_partial(partial("grow"))
    model.document.set_statuses({"e-0": "waiting"})
    for choice, tokens in (("dark", theme.DARK), ("light", theme.LIGHT)):
        theme.apply(qapp, choice)
        image = view.grab().toImage()
        assert image.pixelColor(350, 290).name() == tokens.pane
        header = view.table.visualRect(model.index(0, Column.EVENT))
        spot = view.table.viewport().mapTo(view, QPoint(header.right() - 5, header.center().y()))
        assert image.pixelColor(spot).name() == tokens.raised


def test_the_tokens_column_appears_with_the_first_count(view: EventStreamView, model: EventTableModel) -> None:
    show(model, turns(2))
    assert view.table.isColumnHidden(Column.TOKENS)
    counted = said("x")
    counted.usage_metadata = types.GenerateContentResponseUsageMetadata(total_token_count=7)
    append(model, [counted])
    assert not view.table.isColumnHidden(Column.TOKENS)


class Paintings(QObject):
    """Counts how often the rows were painted."""

    def __init__(self, view: EventStreamView) -> None:
        super().__init__(view)
        self.count = 0
        view.table.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.Paint
        return False


def test_postponed_rows_are_painted(qtbot, view: EventStreamView, model: EventTableModel) -> None:
    append(model, turns(1))
    qtbot.waitUntil(lambda: not view.table.isHidden())
    paintings = Paintings(view)
    view.table.paint_later()
    append(model, turns(60))
    qtbot.waitUntil(lambda: paintings.count >= 1)
    assert view.table.viewport().updatesEnabled()


def test_many_frames_are_painted_at_once(qtbot, view: EventStreamView, model: EventTableModel, monkeypatch: pytest.MonkeyPatch) -> None:
    append(model, turns(1))
    paintings = Paintings(view)
    view.table.paint_later()
    qtbot.waitUntil(lambda: paintings.count >= 1 and not view.table._paint_timer.isActive() and not view.table._must_paint)
    QApplication.processEvents()  # the table, which was hidden while empty, may be painted once more
    monkeypatch.setattr(stream_table, "PAINT_EACH_MS", 1_000_000)
    view.table.paint_later()
    before = paintings.count
    for _ in range(5):
        view.table.paint_later()
        append(model, turns(20))
        QApplication.processEvents()
    assert paintings.count == before
    view.table._paint_timer.start(0)
    qtbot.waitUntil(lambda: paintings.count == before + 1)


@pytest.fixture
def unread(qtbot, view: EventStreamView, model: EventTableModel, monkeypatch: pytest.MonkeyPatch) -> SessionDocument:
    """A long session of which only the last page is read; its end is painted."""
    monkeypatch.setattr(stream_table, "PAINT_UNREAD_MS", 1_000_000)
    stored = turns(3 * PAGE)
    events = SessionEvents(stored_count=len(stored), decode=lambda row: row[1], on_request=lambda: None)
    events.store_page(2 * PAGE, [(event.id, event) for event in stored[2 * PAGE :]])
    document = document_of(events, InvocationGroups([(0, "e-0")], len(stored)))
    paintings = Paintings(view)
    model.set_document(document)
    view.select_event(len(stored) - 1)
    qtbot.waitUntil(lambda: paintings.count >= 1 and not view.table._must_paint)
    QApplication.processEvents()
    return document


def test_rows_that_are_not_read_are_painted_when_their_page_is(qtbot, view: EventStreamView, unread: SessionDocument) -> None:
    painted = view.table._painted_at
    view.select_event(50)
    QApplication.processEvents()
    assert view.table._painted_at == painted
    assert unread.events.next_requested_page() == (0, PAGE)
    unread.put(0, [(event.id, event) for event in turns(PAGE)])
    qtbot.waitUntil(lambda: view.table._painted_at > painted)
    assert view.table.viewport().updatesEnabled()


def test_rows_that_take_long_to_read_are_painted_empty(
    qtbot, view: EventStreamView, unread: SessionDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_table, "PAINT_UNREAD_MS", 1)
    painted = view.table._painted_at
    view.select_event(50)
    qtbot.waitUntil(lambda: view.table._painted_at > painted)
    assert view.table.viewport().updatesEnabled()


def test_another_size_paints_rows_that_are_not_read(qtbot, view: EventStreamView, unread: SessionDocument) -> None:
    view.select_event(50)
    painted = view.table._painted_at
    view.resize(700, 420)
    qtbot.waitUntil(lambda: view.table._painted_at > painted)
    assert view.table.viewport().updatesEnabled()


def test_painting_after_a_resize_is_not_postponed(
    qtbot, view: EventStreamView, model: EventTableModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(model, turns(1))
    paintings = Paintings(view)
    qtbot.waitUntil(lambda: paintings.count >= 1)
    monkeypatch.setattr(stream_table, "PAINT_EACH_MS", 1_000_000)
    view.table.paint_later()
    before = paintings.count
    view.table.paint_next()
    view.table.paint_later()
    assert view.table.viewport().updatesEnabled()
    qtbot.waitUntil(lambda: paintings.count > before)
    view.table.paint_later()
    assert not view.table.viewport().updatesEnabled()


def test_the_tokens_column_appears_when_a_streaming_text_becomes_the_first_event_with_tokens(
    qtbot, view: EventStreamView, model: EventTableModel
) -> None:
    show(model, [said("hello", author="user")])
    model.show_partial(partial("gro"))
    assert view.table.isColumnHidden(Column.TOKENS)
    append(model, [said("grown", usage_metadata=types.GenerateContentResponseUsageMetadata(total_token_count=144))])
    qtbot.waitUntil(lambda: not view.table.isColumnHidden(Column.TOKENS))


def test_the_selected_row_stays_visible_when_a_card_takes_room(qtbot, view: EventStreamView, model: EventTableModel) -> None:
    show(model, turns(30))
    row = model.row_of_index(25)
    assert row is not None
    click_row(qtbot, view, row)
    view.resize(700, 140)
    seen = view.table.visualRect(model.index(row, Column.EVENT))
    assert view.table.viewport().rect().contains(seen)


def test_a_search_in_progress_does_not_claim_that_nothing_matches(view: EventStreamView, model: EventTableModel) -> None:
    show(model, turns(3))
    model.set_filter(lambda event: False)
    view.show_searching(True)
    assert "still searching" in view._nothing_found.text[0]
    view.show_searching(False)
    assert view._nothing_found.text[0] == "No event matches the filter"


def test_a_third_author_of_a_colour_has_a_bar(view: EventStreamView, model: EventTableModel) -> None:
    show(model, [said("x", author=f"agent {number}") for number in range(17)])
    view.resize(700, 700)
    table = view.table
    picture = table.viewport().grab().toImage()
    left = table.columnViewportPosition(Column.AUTHOR)
    last = table.visualRect(model.index(model.rowCount() - 1, Column.AUTHOR)).center().y()
    grounds = [theme.color("pane"), theme.color("selected")]
    assert picture.pixelColor(left + 1, last) == theme.color("author0")
    assert all(picture.pixelColor(left + 1, last - 27 * row) in grounds for row in range(1, 17))
    tips = [model.data(model.index(row, Column.AUTHOR), Qt.ItemDataRole.ToolTipRole) or "" for row in (8, 9, 16, 17)]
    assert [("slanted" in tip, "bar" in tip) for tip in tips] == [(False, False), (True, False), (True, False), (False, True)]


def test_rows_are_painted_again_after_an_error_while_painting(qtbot, view: EventStreamView, model: EventTableModel, monkeypatch) -> None:
    show(model, turns(3))
    qtbot.waitExposed(view)
    good = view.grab().toImage()

    def fail(row: int) -> None:
        raise LookupError(row)

    monkeypatch.setattr(model, "stream_row", fail)
    with qtbot.captureExceptions() as errors, contextlib.suppress(LookupError):
        view.table.viewport().repaint()
    assert {kind for kind, _, _ in errors} <= {LookupError}
    monkeypatch.undo()
    view.table.viewport().repaint()
    assert view.grab().toImage() == good
