"""The event stream: one row for each event, grouped by invocation, following the tail until the user scrolls."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialogButtonBox,
    QInputDialog,
    QMenu,
    QPushButton,
    QSpinBox,
    QStackedLayout,
    QWidget,
)

from inspector_app.presentation.event_summary import is_model_answer
from inspector_app.presentation.value_filters import value_filters
from inspector_app.presentation.values import counted
from inspector_app.stream.event_cells import Column
from inspector_app.stream.event_table_model import EventTableModel
from inspector_app.stream.stream_table import StreamTable
from inspector_app.widgets import theme
from inspector_app.widgets.clipboard import add_copy_action, as_python
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.filter_actions import add_filter_actions
from inspector_app.widgets.layouts import named
from inspector_app.widgets.row_menu import RowMenu, passing_menu
from runtime.events.credentials import without_credentials

if TYPE_CHECKING:
    from runtime.events import Event


class EventStreamView(QWidget):
    """The stream with its empty state and a button that goes back to the tail.

    Attributes:
        table: the table of events.

    Signals:
        event_selected (int): the event at this index was selected, by the user or by `select_event`.
        tool_agent_event_selected (Event): an event of an agent that ran as a tool was selected.
        follow_changed (bool): whether the stream scrolls to new events.
        breakpoint_requested (Event): the user clicked the gutter at this event.
        curl_requested (Event): the user wants the model request behind this event as a command for the shell.
        filter_requested (str): the user wants to see only events that pass this filter.
        matching_call_requested: the user wants to go from the selected call to its response, or back.
        go_to_requested (int): the user wants to go to the event at this index.
        fork_requested (int): the user wants to fork at the event at this index.
        rewind_requested (int): the user wants to rewind to before the invocation of the event at this index.
        bookmark_requested, note_requested: the user wants to bookmark the selected event, or to write a note on it.
        compare_requested: the user wants to compare states with the state after the selected event.
    """

    event_selected = Signal(int)
    tool_agent_event_selected = Signal(object)
    follow_changed = Signal(bool)
    breakpoint_requested = Signal(object)
    curl_requested = Signal(object)
    filter_requested = Signal(str)
    matching_call_requested = Signal()
    go_to_requested = Signal(int)
    fork_requested = Signal(int)
    rewind_requested = Signal(int)
    compare_requested = Signal()
    bookmark_requested = Signal()
    note_requested = Signal()

    def __init__(self, model: EventTableModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("event_stream")
        self._model = model
        self._following = True
        self._unseen = 0
        self._selected: int | None = None
        self._by_program = False
        self._kept: tuple[int | None, bool, int | None] | None = None
        self.table = StreamTable(model)
        self._empty = EmptyState("No session is selected", "Choose one on the left, or send a message to an agent.")
        self._nothing_found = EmptyState()
        self.show_searching(False)
        self._tail_button = named(QPushButton(self.table), "follow_tail")
        self._tail_button.setProperty("pill", "true")
        self._tail_button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._tail_button.hide()
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._nothing_found)
        self._stack.addWidget(self.table)
        self._connect_signals()
        self._on_rows_changed()

    def _connect_signals(self) -> None:
        model = self._model
        model.modelReset.connect(self._on_reset)
        model.regrouping.connect(self._on_regrouping)
        model.regrouped.connect(self._on_regrouped)
        model.rowsInserted.connect(self._on_rows_changed)
        model.rowsRemoved.connect(self._on_rows_changed)
        model.refreshed.connect(self.table.fit_columns)
        model.events_appended.connect(self._on_events_appended)
        self.table.selectionModel().currentRowChanged.connect(self._on_current_changed)
        self.table.breakpoint_requested.connect(self.breakpoint_requested)
        RowMenu(self.table, lambda index: self.context_menu(index.row()))
        bar = self.table.verticalScrollBar()
        bar.valueChanged.connect(self._on_scrolled)
        bar.rangeChanged.connect(self._on_range_changed)
        self._tail_button.clicked.connect(self._on_tail_clicked)
        self.table.viewport().installEventFilter(self)

    # selecting and following

    def select_event(self, index: int | None) -> None:
        """Select an event and scroll to it, unfolding its group; None selects nothing."""
        if index is None:
            self._selected = None
            self.table.selectionModel().clear()
            return
        row = self._model.row_of_index(index)
        header = self._model.header_row_of_index(index)
        if row is None and header is not None:
            self._model.set_folded(header, False)
            row = self._model.row_of_index(index)
        if row is None:  # the filter hides it
            self.table.selectionModel().clear()
            self._selected = index
            self.event_selected.emit(index)
            return
        self._by_program = True
        self.table.setCurrentIndex(self._model.index(row, Column.EVENT))
        self._by_program = False
        if self._following and index == self._model.event_count - 1:
            self.table.scrollToBottom()

    def select_tool_agent_event(self, event_id: str) -> None:
        """Select an event of an agent that runs as a tool and scroll to it, unless a filter hides it."""
        self._model.unfold_tool_agent_run(event_id)
        row = self._model.row_of_tool_agent_event(event_id)
        if row is not None:
            self._by_program = True
            self.table.setCurrentIndex(self._model.index(row, Column.EVENT))
            self._by_program = False

    @property
    def selected_tool_agent_event(self) -> Event | None:
        """The selected event if it is a tool agent's, else None."""
        current = self.table.currentIndex()
        return self._model.tool_agent_event_at(current.row()) if current.isValid() else None

    @property
    def following(self) -> bool:
        """Whether the stream scrolls to new events."""
        return self._following

    def set_following(self, following: bool) -> None:
        """Follow the tail, or stop following it."""
        if following:
            self._unseen = 0
            self.table.scrollToBottom()
        changed = following != self._following
        self._following = self.table.keeps_tail = following
        self._show_tail_button()
        if changed:
            self.follow_changed.emit(following)

    def set_empty_text(self, title: str, hint: str) -> None:
        """Set the text that says why there are no events and what to do next."""
        self._empty.set_text(title, hint)

    def show_searching(self, searching: bool) -> None:
        """Set whether a search for events that pass the filter is in progress; it is displayed while there are no hits."""
        said = "No event so far: still searching…" if searching else "No event matches the filter"
        self._nothing_found.set_text(said, "Press Esc in the filter to clear it.")

    # slots

    def _on_regrouping(self) -> None:
        """Remember what the user sees, because its rows are about to move."""
        top = self.table.rowAt(0)
        anchor = (
            next((index for row in range(top, top + 3) if (index := self._model.index_at(row)) is not None), None) if top >= 0 else None
        )
        self._kept = (self._selected, self._following, anchor)

    def _on_regrouped(self) -> None:
        selected, following, anchor = self._kept or (None, True, None)
        self._kept = None
        row = self._model.row_of_index(selected) if selected is not None else None
        self._selected = selected
        self._by_program = True
        if row is not None:
            self.table.setCurrentIndex(self._model.index(row, Column.EVENT))
        self._by_program = False
        top = self._model.row_of_index(anchor) if anchor is not None else None
        if not following and top is not None:
            self.table.scrollTo(self._model.index(top, Column.EVENT), QAbstractItemView.ScrollHint.PositionAtTop)
        self.set_following(following)

    def _on_reset(self) -> None:
        if self._kept is not None:
            self._on_rows_changed()
            return
        self._selected = None
        self._unseen = 0
        self._on_rows_changed()
        self.set_following(True)

    def _on_rows_changed(self, *_: object) -> None:
        self.table.fit_columns()
        nothing = self._nothing_found if self._model.event_count else self._empty
        self._stack.setCurrentWidget(self.table if self._model.rowCount() else nothing)

    def _on_events_appended(self, count: int) -> None:
        if not self._following:
            self._unseen += count
            self._show_tail_button()

    def _on_current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        index = self._model.index_at(current.row()) if current.isValid() else None
        if index is None:
            self._on_tool_agent_current(self._model.tool_agent_event_at(current.row()) if current.isValid() else None)
            return
        if not self._by_program:
            self.set_following(index == self._model.event_count - 1)
        if index != self._selected:
            self._selected = index
            self.event_selected.emit(index)

    def _on_tool_agent_current(self, event: Event | None) -> None:
        if event is not None:
            if not self._by_program:
                self.set_following(False)
            self._selected = None
            self.tool_agent_event_selected.emit(event)

    def _on_scrolled(self, value: int) -> None:
        is_at_end = value >= self.table.verticalScrollBar().maximum()
        if is_at_end or not self.table.is_resizing:  # a smaller view lets no tail go
            self.set_following(is_at_end)

    def _on_range_changed(self, _minimum: int, maximum: int) -> None:
        # A hint that appears must not move the rows under the mouse: the user may be about to click one.
        if self._following and not (self.table.is_resizing and self.table.viewport().underMouse()):
            self.table.verticalScrollBar().setValue(maximum)

    def eventFilter(self, _viewport: QObject, event: QEvent) -> bool:
        """Show the tail, which a hint may cover, when the mouse leaves the rows."""
        if event.type() == QEvent.Type.Leave and self._following:
            self.table.show_tail()
        return False

    def _on_tail_clicked(self) -> None:
        self.set_following(True)

    def _show_tail_button(self) -> None:
        self._tail_button.setVisible(not self._following and self._unseen > 0)
        if self._unseen:
            words = counted(self._unseen, "new event")
            self._tail_button.setText(f"{words} ↓")
            self._tail_button.setAccessibleName(f"Show {words}")
            self._place_tail_button()

    def _place_tail_button(self) -> None:
        self._tail_button.adjustSize()
        size = self._tail_button.size()
        self._tail_button.move((self.table.width() - size.width()) // 2, self.table.height() - size.height() - 14)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the button at the bottom and the tail visible."""
        super().resizeEvent(event)
        self._place_tail_button()

    def context_menu(self, row: int) -> QMenu | None:
        """Return the menu of a row, None if there is no row."""
        if row < 0:
            return None
        menu = passing_menu(self)
        event = self._model.event_at(row)
        if event is not None:
            shown = self._model.stream_row(row)
            text = without_credentials(event).model_dump_json(exclude_none=True, indent=2)
            add_copy_action(menu, "Copy as JSON", text)
            add_copy_action(menu, "Copy as Python", as_python(text))
            number = self._model.index_at(row)
            if number is not None:
                add_copy_action(menu, "Copy path", f"session.events[{number}]")
            if is_model_answer(event) and number is not None:
                menu.addAction(theme.icon("copy", "dim"), "Copy its request as cURL").triggered.connect(partial(self._on_curl, event))
            add_copy_action(menu, "Copy line", f"{shown.number} {shown.time} {shown.author}: {shown.summary}".strip())
            add_copy_action(menu, "Copy event id", event.id)
            add_copy_action(menu, "Copy invocation id", event.invocation_id)
            menu.addSeparator()
            add_filter_actions(menu, value_filters(event), self.filter_requested.emit)
            if self._model.index_at(row) is not None and (event.get_function_calls() or event.get_function_responses()):
                half = "response" if event.get_function_calls() else "call"
                other = menu.addAction(theme.icon("arrow-right-arrow-left", "dim"), f"Go to its {half}\tCtrl+J")
                other.triggered.connect(self._on_other_half)
            menu.addAction(theme.icon("code-compare", "dim"), "Compare states with this one\tCtrl+B").triggered.connect(self._on_compare)
            if self._model.index_at(row) is not None:
                noted = shown.note
                mark = "Remove the bookmark" if noted is not None and noted.is_bookmark else "Bookmark this event"
                menu.addAction(theme.icon("bookmark", "dim"), f"{mark}\tCtrl+Shift+B").triggered.connect(self._on_bookmark)
                write = "Edit the note…" if noted is not None and noted.text else "Write a note on this event…"
                menu.addAction(theme.icon("note-sticky", "dim"), f"{write}\tCtrl+Shift+N").triggered.connect(self._on_note)
            menu.addSeparator()
            self._menu_index = self._model.index_at(row)
            menu.addAction(theme.icon("code-branch", "dim"), "Fork at this event…\tCtrl+Shift+K").triggered.connect(self._on_fork)
            rewind = menu.addAction(theme.icon("backward", "dim"), "Rewind to before this invocation…\tCtrl+Shift+Backspace")
            rewind.triggered.connect(self._on_rewind)
            menu.addSeparator()
        menu.addAction(theme.icon("square-minus", "dim"), "Fold all invocations").triggered.connect(self._on_fold_all)
        menu.addAction(theme.icon("square-plus", "dim"), "Unfold all invocations").triggered.connect(self._on_unfold_all)
        return menu

    def _on_fork(self) -> None:
        self.fork_requested.emit(self._menu_index)

    def _on_curl(self, event: Event, _checked: bool = False) -> None:
        self.curl_requested.emit(event)

    def _on_rewind(self) -> None:
        self.rewind_requested.emit(self._menu_index)

    def _on_other_half(self) -> None:
        self.matching_call_requested.emit()

    def _on_bookmark(self) -> None:
        self.bookmark_requested.emit()

    def _on_note(self) -> None:
        self.note_requested.emit()

    def _on_compare(self) -> None:
        self.compare_requested.emit()

    def ask_for_event(self) -> None:
        """Ask for an event's number and go to that event."""
        if not self._model.event_count:
            return
        dialog = named(QInputDialog(self), "go_to_event")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle("Go to event")
        dialog.setInputMode(QInputDialog.InputMode.IntInput)
        dialog.setLabelText(f"Number of the event, 1 to {self._model.event_count:,}:")
        dialog.setIntRange(1, self._model.event_count)
        dialog.setIntValue((self._selected or 0) + 1)
        theme.pad(dialog.findChildren(QSpinBox)[0])
        dialog.setOkButtonText("Go")
        go = dialog.findChildren(QDialogButtonBox)[0].button(QDialogButtonBox.StandardButton.Ok)
        go.setProperty("primary", True)
        theme.restyle(go)
        dialog.intValueSelected.connect(self._on_number_chosen)
        dialog.open()

    def _on_number_chosen(self, number: int) -> None:
        self.go_to_requested.emit(number - 1)

    def _on_fold_all(self) -> None:
        self._fold_all(True)

    def _on_unfold_all(self) -> None:
        self._fold_all(False)

    def _fold_all(self, folded: bool) -> None:
        selected, following = self._selected, self._following
        self._model.fold_all(folded)
        if selected is not None and not folded:
            self.select_event(selected)
        self.set_following(following)
