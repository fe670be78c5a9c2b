"""The selected event, in tabs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QSplitter, QStackedLayout, QTabWidget, QToolButton, QVBoxLayout, QWidget

from inspector_app.analysis.finding import Finding
from inspector_app.detail.author_label import AuthorLabel
from inspector_app.detail.event_cards import EventCards
from inspector_app.detail.note_bar import NoteBar
from inspector_app.detail.request_view import RequestView
from inspector_app.presentation.event_summary import describe
from inspector_app.presentation.tokens import tokens_of
from inspector_app.presentation.values import clock_ms, counted, full_time, visible
from inspector_app.state.delta_view import DeltaView
from inspector_app.state.state_edit_bar import StateEditBar
from inspector_app.state.state_tree import StateByScope
from inspector_app.state.state_view import NO_STATE, StateView
from inspector_app.state.writers_card import WritersCard
from inspector_app.widgets import theme
from inspector_app.widgets.code_button import CodeButton
from inspector_app.widgets.elided_label import ElidedLabel
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.json_view import JsonView
from inspector_app.widgets.layouts import card, laid_out, named
from inspector_app.widgets.steady_label import SteadyPlace
from inspector_app.widgets.tooltips import set_tooltip
from inspector_app.widgets.value_tree import PINNED
from runtime.events.credentials import without_credentials
from runtime.sessions.note import Note
from runtime.sessions.state import Change, scope_of

if TYPE_CHECKING:
    from runtime.events import Event

_JSON_FORMS = (("json_of_event", "Event", "The JSON of the event"), ("json_of_request", "Request", "The request as a tree of values"))


class EventDetail(QWidget):
    """The details of one event. A tab is filled when it is first shown.

    Attributes:
        code: opens the code behind the event.
        bookmark, add_note: the buttons that bookmark the event and write a note on it.
        note: the note on the event.
        tabs: Event, State, Request and JSON; a button beside the others raises the last one.
        cards, delta, state, state_edit, writers, request, json: what they show; what the event changed is one of the cards, and who wrote
            a key a card of State.
        role_of: returns an author's colour role.

    Signals:
        event_shown (Event): another event is displayed.
        request_wanted (Event): the Request tab was shown for this model answer.
        event_requested (int): the user followed a link to the event at this position.
        filter_requested (str): the user chose a filter expression.
    """

    event_shown = Signal(object)
    request_wanted = Signal(object)
    event_requested = Signal(int)
    filter_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("event_detail")
        self._event: Event | None = None
        self._number = 0
        self._stale: set[QWidget] = set()
        self._findings: Mapping[str, Sequence[Finding]] = {}
        self.role_of: Callable[[str], str] = lambda author: "text"
        self._title = named(AuthorLabel(), "event_detail_title")
        self._facts = named(ElidedLabel(), "event_facts")
        self._facts.setProperty("role", "secondary")
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
        self.delta = DeltaView()
        self.cards = EventCards(self.delta, self.note)
        self.state = StateView()
        self.state_edit = StateEditBar()
        self.writers = WritersCard()
        self.request = RequestView()
        self.json = JsonView()
        self.tabs = named(QTabWidget(documentMode=True), "event_tabs", "Selected event")
        self.tabs.setUsesScrollButtons(False)  # titles are elided, so that every tab stays visible
        self.tabs.setElideMode(Qt.TextElideMode.ElideRight)
        self._state_page = card(self._state_with_edit())
        self._json_page = card(self._json_of_both())
        for page, title in ((self.cards, "Event"), (self._state_page, "State"), (self.request, "Request"), (self._json_page, "JSON")):
            self.tabs.addTab(page, title)
        self._raise_json = _tool("event_json", "")
        self._raise_json.setText("JSON")
        self._raise_json.setAccessibleName("The event as JSON")
        self._raise_json.setCheckable(True)
        self._raise_json.clicked.connect(self._on_json)
        self.tabs.setCornerWidget(self._raise_json)
        self.tabs.setTabVisible(self.tabs.indexOf(self._json_page), False)
        self.tabs.currentChanged.connect(self._fill_front_tab)
        for asking in (self.cards.tree.filter_requested, self.state.tree.filter_requested, self.delta.filter_requested):
            asking.connect(self.filter_requested)
        for page in (self.cards, self.request):
            page.link_chosen.connect(self._on_link_chosen)
        self.request.call_requested.connect(self.event_requested)
        self.note.editing_began.connect(self._show_note_editor)
        self._differences_unread = False
        self._empty = EmptyState()
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._shown_part())
        self.clear("No event is selected", "Select an event to see what it says, the state after it and its request.")

    def _shown_part(self) -> QWidget:
        head = laid_out(QHBoxLayout(), (SteadyPlace(self._title), 1), self.bookmark, self.add_note, margins=(8, 6, 8, 0), spacing=0)
        facts = laid_out(QHBoxLayout(), (SteadyPlace(self._facts), 1), self.code, margins=(8, 0, 8, 2), spacing=10)
        below = laid_out(QHBoxLayout(), self._note, margins=(8, 0, 8, 4))
        part = QWidget()
        laid_out(QVBoxLayout(part), head, facts, below, (self.tabs, 1), margins=0, spacing=0)
        return part

    def _json_of_both(self) -> QWidget:
        """Return the JSON of the event and the tree of its request, one of them displayed."""
        self._json_forms = QButtonGroup(self)
        for number, (name, words, does) in enumerate(_JSON_FORMS):
            button = _tool(name, "")
            button.setText(words)
            button.setAccessibleName(does)
            button.setCheckable(True)
            self._json_forms.addButton(button, number)
        self._json_forms.button(0).setChecked(True)
        page = QWidget()
        self._json_stack = QStackedLayout()
        self._json_stack.addWidget(self.json)
        self._json_stack.addWidget(self.request.tree)
        self._json_forms.idClicked.connect(self._json_stack.setCurrentIndex)
        self._json_forms.idClicked.connect(self._fill_front_tab)
        row = laid_out(QHBoxLayout(), *self._json_forms.buttons(), 1, margins=(6, 6, 6, 2), spacing=2)
        laid_out(QVBoxLayout(page), row, (self._json_stack, 1), margins=0, spacing=0)
        return page

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

    @property
    def state_is_in_front(self) -> bool:
        """Whether the State tab is in front."""
        return self.tabs.currentWidget() is self._state_page

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
        self._show_head(event, f"event {self._number:,}")
        self._show_note(note)
        self._fill()

    def show_tool_agent_event(self, event: Event) -> None:
        """Show an event of an agent that ran as a tool. Such events are in no stored session, and their state is unknown.

        Args:
            event: the event.
        """
        self._event = without_credentials(event)
        self._number = 0
        self._show_head(event, "inside a tool")
        self._show_note("")
        self.state.set_empty_text(
            "The state is not recorded", "An agent called as a tool has a session of its own, of which a recording keeps the events."
        )
        self.state.set_state(None, [], "state", None)
        delta = [Change(key, None, value, "written") for key, value in event.actions.state_delta.items()]
        self.delta.show_comparing(None)
        self.delta.set_changes(delta, "Key")
        self._show_changed()
        self._fill()

    def _show_note(self, note: str) -> None:
        self._note.setText(note)
        self._note.setVisible(bool(note))

    def refresh_author(self) -> None:
        """Give the author of the displayed event its colour again, which the app's agents decide."""
        event = self.shown_event
        if event is not None:
            self._title.show_words(visible(event.author[:60]), self.role_of(event.author), describe(event).kind)

    def _show_head(self, event: Event, place: str) -> None:
        self._title.show_words(visible(event.author[:60]), self.role_of(event.author), describe(event).kind)
        tokens = tokens_of(event.usage_metadata)
        used = [counted(tokens.input + tokens.output, "token")] if tokens is not None else []
        self._facts.setText(" · ".join((place, clock_ms(event.timestamp), *used)))
        set_tooltip(self._facts, full_time(event.timestamp))

    def _show_changed(self) -> None:
        """Show what changed in a card; nothing if nothing changed."""
        count, same = self.delta.changed - self.delta.same, self.delta.same
        words = [f"Changed {counted(count, 'key')}"] if count else []
        words += (
            [f"{'wrote' if count else 'Wrote'} {counted(same, 'key')} with the value {'it' if same == 1 else 'they'} had"] if same else []
        )
        self.cards.show_changes(", ".join(words) or ("Changed" if self.delta.is_comparing else ""))

    def _show_note_editor(self) -> None:
        self.tabs.setCurrentWidget(self.cards)
        QTimer.singleShot(0, self.note, lambda: self.cards.ensureWidgetVisible(self.note))  # once the editor has its height

    def _on_json(self) -> None:
        """Show the JSON of what is in front: the request's or the event's."""
        if self.tabs.currentWidget() is not self._json_page:
            form = 1 if self.tabs.currentWidget() is self.request else 0
            self._json_forms.button(form).setChecked(True)
            self._json_stack.setCurrentIndex(form)
        self.tabs.setCurrentWidget(self._json_page)
        self._raise_json.setChecked(True)

    def _on_link_chosen(self, link: str) -> None:
        kind, _, place = link.partition("/")
        if kind == "request":
            self.tabs.setCurrentWidget(self.request)
        elif kind == "event" and place.isdigit():
            self.event_requested.emit(int(place))

    def set_findings(self, found: Mapping[str, Sequence[Finding]]) -> None:
        """Show what is wrong with events, event id → findings."""
        self._findings = found
        self._show_findings()

    def _show_findings(self) -> None:
        self.cards.set_findings(self._findings.get(self.event_id or "", ()))

    def set_output(self, title: str, text: str) -> None:
        """Show what the agent wrote during the event.

        Args:
            title: of the card.
            text: the lines; empty if it wrote nothing.
        """
        self.cards.set_output(title, text)

    def _fill(self) -> None:
        self._stack.setCurrentIndex(1)
        assert self._event is not None
        self.event_shown.emit(self._event)
        self._show_findings()
        self._stale = {self.cards, self.request, self._json_page}
        self._fill_front_tab()

    def find_in_state(self) -> None:
        """Show the State tab and focus its search field; if no event is shown, focus the empty state."""
        if self._stack.currentWidget() is self._empty:
            self._empty.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return
        self.tabs.setCurrentWidget(self._state_page)
        self.state.ask_search()

    def show_writers(self) -> None:
        """Show the State tab, where the card of a key's writers is, and focus the card."""
        self.tabs.setCurrentWidget(self._state_page)
        self.writers.tree.setFocus()

    def _state_with_edit(self) -> QWidget:
        part = QWidget()
        split = named(QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False), "state_splitter")
        for pane, share in ((self.state, 3), (self.writers, 2)):
            pane.setMinimumHeight(theme.px(90))  # so that a low window has room for the buttons below
            split.addWidget(pane)
            split.setStretchFactor(split.count() - 1, share)
        laid_out(QVBoxLayout(part), (split, 1), self.state_edit, margins=0, spacing=0)
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
        self.state.set_state(state, changes, f"State at {number}", writers, changed_since, unread=unread)
        self._differences_unread = unread and compared is not None
        begins = compared is not None and not self.delta.is_comparing
        self.delta.show_comparing(None if compared is None else f"Compared with the state after event {compared + 1:,}")
        if compared is None:
            self.delta.set_changes(changes, "Key", unread=unread)
        else:
            self.delta.set_changes(() if unread else changes, f"{compared + 1:,} → {number}")
            self.delta.set_empty_text("The states are equal" if compared + 1 != self._number else "Now select another event")
        if begins:
            self.tabs.setCurrentWidget(self.cards)
        self._show_changed()

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
        self._raise_json.setChecked(page is self._json_page)
        if page is self._json_page and self._json_stack.currentWidget() is self.request.tree:
            page = self.request
        if self._event is None or page not in self._stale:
            return
        self._stale.discard(page)
        if page is self.cards:
            self.cards.set_event(self._event)
        elif page is self.request:
            self.request_wanted.emit(self._event)
        elif page is self._json_page:
            self.json.set_json(self._event.model_dump_json(exclude_none=True, indent=2))


def _tool(name: str, icon: str) -> QToolButton:
    made = named(QToolButton(autoRaise=True), name)
    made.setProperty("small", "true")
    if icon:
        made.setIcon(theme.icon(icon, "dim"))
        theme.keep_icon_size(made, 14)
    return made
