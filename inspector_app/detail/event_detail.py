"""The selected event, in tabs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSplitter, QStackedLayout, QTabWidget, QToolButton, QVBoxLayout, QWidget

from inspector_app.detail.content_view import ContentView
from inspector_app.detail.note_bar import NoteBar
from inspector_app.detail.output_view import OutputView
from inspector_app.detail.request_view import RequestView
from inspector_app.presentation.event_summary import describe
from inspector_app.presentation.values import clock_ms, full_time, visible
from inspector_app.state.delta_view import DeltaView
from inspector_app.state.state_edit_bar import StateEditBar
from inspector_app.state.state_tree import StateByScope
from inspector_app.state.state_view import NO_STATE, StateView
from inspector_app.widgets import theme
from inspector_app.widgets.code_button import CodeButton
from inspector_app.widgets.elided_label import ElidedLabel
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.json_view import JsonView
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.steady_label import SteadyLabel, SteadyPlace
from inspector_app.widgets.tooltips import set_tooltip
from inspector_app.widgets.value_tree import PINNED
from runtime.events.credentials import without_credentials
from runtime.sessions.note import Note
from runtime.sessions.state import Change, scope_of

if TYPE_CHECKING:
    from runtime.events import Event

_ROOM_FOR_TIME = 460  # pixels of the pane at a scale of 100 %


class EventDetail(QWidget):
    """The details of one event. A tab is filled when it is first shown.

    Attributes:
        code: opens the code behind the event.
        bookmark, add_note: the buttons that bookmark the event and write a note on it.
        note: the note on the event.
        tabs: Content, State & delta, Request, JSON, Output, and tabs added by others.
        content, state, state_edit, delta, request, output, json: the panes in the tabs.

    Signals:
        event_shown (Event): another event is displayed.
        request_wanted (Event): the Request tab was shown for this model answer.
        filter_requested (str): the user chose a filter expression.
    """

    event_shown = Signal(object)
    request_wanted = Signal(object)
    filter_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("event_detail")
        self._event: Event | None = None
        self._number = 0
        self._stale: set[QWidget] = set()
        self._title = named(ElidedLabel(), "event_detail_title")
        self._title.setProperty("role", "title")
        self._time = SteadyLabel()
        self._time.setTextFormat(Qt.TextFormat.PlainText)
        self._time.setProperty("role", "secondary")
        self._note = named(ElidedLabel(), "event_note")
        self._note.setProperty("role", "warn")
        self.code = CodeButton("event_code", keeps_room=True)
        self.bookmark = _tool("event_bookmark", "bookmark")
        self.bookmark.setCheckable(True)
        self._show_marked(False)
        self.add_note = _tool("event_add_note", "note-sticky")
        self.add_note.setAccessibleName("Write a note on this event")
        set_tooltip(self.add_note, "Write a note on this event (Ctrl+Shift+N)")
        self.note = NoteBar()
        self.content = ContentView()
        self.state = StateView()
        self.state_edit = StateEditBar()
        self.delta = DeltaView()
        self.request = RequestView()
        self.output = OutputView()
        self.json = JsonView()
        self.tabs = named(QTabWidget(documentMode=True), "event_tabs", "Selected event")
        self.tabs.setUsesScrollButtons(False)  # titles are elided, so that every tab stays visible
        self.tabs.setElideMode(Qt.TextElideMode.ElideRight)
        self._content_page = _card(self.content)
        self._state_page = _card(self._state_and_delta())
        self._request_page = _card(self.request)
        self._output_page = _card(self.output)
        self._json_page = _card(self.json)
        self.tabs.addTab(self._content_page, "Content")
        self.tabs.addTab(self._state_page, "State && delta")
        self.tabs.addTab(self._request_page, "Request")
        self.tabs.addTab(self._json_page, "JSON")
        self.tabs.addTab(self._output_page, "Output")
        for index in range(self.tabs.count()):
            self.tabs.setTabToolTip(index, self.tabs.tabText(index).replace("&&", "&"))
        self.tabs.setCurrentWidget(self._state_page)
        self.tabs.currentChanged.connect(self._fill_front_tab)
        for asking in (self.content.tree.filter_requested, self.state.tree.filter_requested, self.delta.filter_requested):
            asking.connect(self.filter_requested)
        self._differences_unread = False
        self._empty = EmptyState()
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._shown_part())
        self.clear("No event is selected", "Select an event to see its content, the state after it and its JSON.")

    def _shown_part(self) -> QWidget:
        head = laid_out(QHBoxLayout(), (SteadyPlace(self._title), 1), self.code, self._time, margins=(8, 6, 8, 2), spacing=10)
        marks = laid_out(QHBoxLayout(), self.bookmark, self.add_note, spacing=0)
        head.addLayout(marks)
        around = laid_out(QHBoxLayout(), self.note, margins=(6, 0, 6, 5))
        below = laid_out(QHBoxLayout(), self._note, margins=(8, 0, 8, 4))
        part = QWidget()
        laid_out(QVBoxLayout(part), head, below, around, (self.tabs, 1), margins=0, spacing=0)
        return part

    def _state_and_delta(self) -> QWidget:
        split = named(QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False), "state_delta_splitter")
        for pane in (self.state, self.delta):
            pane.setMinimumHeight(40)  # so that a low window has room for the buttons between them
        split.addWidget(self._state_with_edit())
        split.addWidget(self.delta)
        split.setStretchFactor(0, 5)
        split.setStretchFactor(1, 2)
        split.setSizes([500, 180])
        return split

    @property
    def shown_event(self) -> Event | None:
        """The displayed event."""
        return self._event

    @property
    def event_id(self) -> str | None:
        """The id of the displayed event."""
        return self._event.id if self._event is not None else None

    @property
    def is_of_session(self) -> bool:
        """Whether the displayed event is stored in the session, and not one inside a tool."""
        return self._event is not None and self._number > 0

    def show_note(self, note: Note | None, *, is_possible: bool) -> None:
        """Show the note on the event.

        Args:
            note: None if it has none.
            is_possible: whether the event can have one.
        """
        marked = note is not None and note.is_bookmark
        if marked != self.bookmark.isChecked():  # an icon lays out the window again
            self._show_marked(marked)
        self.bookmark.setVisible(is_possible)
        self.add_note.setVisible(is_possible)
        self.note.set_note(note)

    def _show_marked(self, marked: bool) -> None:
        words = "Remove the bookmark" if marked else "Bookmark this event"
        self.bookmark.setIcon(theme.icon("bookmark", "accent" if marked else "dim"))
        self.bookmark.setChecked(marked)
        self.bookmark.setAccessibleName(words)
        set_tooltip(self.bookmark, f"{words} (Ctrl+Shift+B)")

    def show_event(self, index: int, event: Event, note: str = "") -> None:
        """Show an event.

        Args:
            index: position in the session, from 0; the title shows it from 1.
            event: a committed or a streaming event.
            note: a sentence below the title, if any.
        """
        if not self._number:
            self.state.set_empty_text(*NO_STATE)
        self._event = without_credentials(event)
        self._number = index + 1
        self._title.setText(f"Event {self._number:,} · {visible(event.author[:60])} · {describe(event).kind}")
        self._show_note(note)
        self._show_time(event)
        self._fill()

    def show_tool_agent_event(self, event: Event) -> None:
        """Show an event of an agent that ran as a tool. Such events are not stored in a session, and their state is unknown.

        Args:
            event: the event.
        """
        self._event = event
        self._number = 0
        self._title.setText(f"Inside a tool · {visible(event.author[:60])} · {describe(event).kind}")
        self._show_note("")
        self._show_time(event)
        self.state.set_empty_text("The state is not recorded", "An agent called as a tool has a session of its own, which is not stored.")
        self.state.set_state(None, [], "state", None)
        delta = [Change(key, None, value, "written") for key, value in event.actions.state_delta.items()]
        self.delta.set_changes(delta, "delta")
        self.delta.set_empty_text("This event changed no key")
        self._fill()

    def _show_note(self, note: str) -> None:
        self._note.setText(note)
        self._note.setVisible(bool(note))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the time to the event's row where the title would be cut."""
        super().resizeEvent(event)
        self._time.setVisible(self.width() >= theme.px(_ROOM_FOR_TIME))

    def _show_time(self, event: Event) -> None:
        self._time.show_words(clock_ms(event.timestamp))
        set_tooltip(self._time, full_time(event.timestamp))

    def set_output(self, title: str, text: str) -> None:
        """Show what the agent wrote during the event.

        Args:
            title: of the tab.
            text: the lines; empty if it wrote nothing.
        """
        index = self.tabs.indexOf(self._output_page)
        if self.tabs.tabText(index) != title:  # a new text lays out all tabs again
            self.tabs.setTabText(index, title)
        self.output.set_text(text)

    def _fill(self) -> None:
        self._stack.setCurrentIndex(1)
        assert self._event is not None
        self.event_shown.emit(self._event)
        self._stale = {self._content_page, self._request_page, self._json_page}
        self._fill_front_tab()

    def find_in_state(self) -> None:
        """Show the State tab and focus its search field; if no event is shown, focus the empty state."""
        if self._stack.currentWidget() is self._empty:
            self._empty.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return
        self.tabs.setCurrentWidget(self._state_page)
        self.state.ask_search()

    def _state_with_edit(self) -> QWidget:
        part = QWidget()
        laid_out(QVBoxLayout(part), (self.state, 1), self.state_edit, margins=0, spacing=0)
        self.state_edit.form_shown.connect(self.delta.setHidden)
        self.state.tree.selectionModel().currentChanged.connect(self._on_key_selected)
        self.state.model.modelReset.connect(self._on_key_selected)
        QShortcut(QKeySequence("F2"), self.state.tree, context=Qt.ShortcutContext.WidgetShortcut).activated.connect(
            self.state_edit.start_edit
        )
        return part

    def _on_key_selected(self, *_: object) -> None:
        node = self.state.model.node(self.state.tree.currentIndex())
        while node.parent is not None and node.parent.parent is not None and not node.parent.lane:
            node = node.parent
        lane = node.parent.lane if node.parent is not None else ""
        editable = (scope_of(node.key) if lane == PINNED else lane) in ("session", "user", "app")
        self.state_edit.select(node.key if editable else None, node.value)

    def set_state(
        self,
        state: StateByScope | None,
        changes: Sequence[Change],
        writers: Mapping[str, tuple[int, str]] | None = None,
        compared: int | None = None,
        changed_since: Collection[str] = (),
        *,
        unread: bool = False,
    ) -> None:
        """Show the state after the event, and the event's changes.

        Args:
            state: None if the state is unknown.
            changes: changes of all scopes.
            writers: key → position and author of the event that wrote it.
            changed_since: keys that another session has written since.
            compared: position of the event whose state `changes` were computed against; None for the event's own delta.
            unread: the session's past is being read: values before the event are unknown, and so are `changes` if `compared` is given.
        """
        number = f"{self._number:,}"
        self.state.set_state(state, changes, f"state at {number}", writers, changed_since, unread=unread)
        self._differences_unread = unread and compared is not None
        self.delta.show_comparing(None if compared is None else f"Compared with the state after event {compared + 1:,}")
        if compared is None:
            self.delta.set_changes(changes, f"delta of {number}", unread=unread)
            self.delta.set_empty_text(f"Event {number} changed no key")
        else:
            self.delta.set_changes(() if unread else changes, f"{compared + 1:,} → {number}")
            self.delta.set_empty_text("The states are equal" if compared + 1 != self._number else "Now select another event")

    def show_reading(self, text: str) -> None:
        """Show how much of the session's past is read, where that makes the state or its differences unknown."""
        hint = "The state after an event is shown once all changes have been read."
        self.state.set_empty_text(text, hint)
        if self._differences_unread:
            self.delta.set_empty_text(text, hint)

    def clear(self, title: str, hint: str = "") -> None:
        """Show no event, and explain why.

        Args:
            title: why there is no event.
            hint: what to do.
        """
        self._event = None
        self._empty.set_text(title, hint)
        self._stack.setCurrentIndex(0)

    def _fill_front_tab(self, _index: int = 0) -> None:
        page = self.tabs.currentWidget()
        if self._event is None or page not in self._stale:
            return
        self._stale.discard(page)
        if page is self._content_page:
            self.content.set_event(self._event)
        elif page is self._request_page:
            self.request_wanted.emit(self._event)
        else:
            self.json.set_json(self._event.model_dump_json(exclude_none=True, indent=2))


def _tool(name: str, icon: str) -> QToolButton:
    made = named(QToolButton(autoRaise=True), name)
    made.setProperty("small", "true")
    made.setIcon(theme.icon(icon, "dim"))
    theme.keep_icon_size(made, 14)
    return made


def _card(inside: QWidget) -> QFrame:
    card = QFrame()
    card.setProperty("card", "true")
    laid_out(QVBoxLayout(card), inside, margins=1)
    return card
