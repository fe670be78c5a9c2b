"""The filter above the stream: what is looked for, how much of it there is, and the way from one hit to the next."""

from __future__ import annotations

from PySide6.QtCore import QStringListModel, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QHBoxLayout, QLabel, QLineEdit, QToolButton, QVBoxLayout, QWidget

from inspector_app.presentation.values import plain_tooltip, visible
from inspector_app.stream.saved_filters import SavedFilters
from inspector_app.widgets import theme

PAUSE_MS = 150
"""Without a key pressed, before the filter is asked."""

MOST_REMEMBERED = 50
HINT = 'Filter: any text, or a condition:  author == "pricing"'


class _Field(QLineEdit):
    """The line; Enter and F3 go on, Escape gives up, ↓ shows earlier filters."""

    key_pressed = Signal(str)

    @property
    def is_choosing(self) -> bool:
        """Whether earlier filters are offered right now."""
        popup = self.completer().popup()
        return popup is not None and popup.isVisible()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Turn the keys of the bar into words."""
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        earlier = self.completer().popup()
        if earlier is not None and earlier.isVisible() and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape):
            earlier.hide()  # Qt leaves it open for a field that takes these keys
            if event.key() == Qt.Key.Key_Escape:
                return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.key_pressed.emit("previous" if shift else "next")
        elif event.key() == Qt.Key.Key_Escape:
            self.key_pressed.emit("escape")
        elif event.key() == Qt.Key.Key_Down and not self.is_choosing:
            self.completer().setCompletionPrefix(self.text())
            self.completer().complete()
        else:
            super().keyPressEvent(event)


class FilterBar(QWidget):
    """Where a filter is written.

    Attributes:
        field: the line.
        saved: the filters with a name.
        marking: the button that shows all events, with the hits marked among them.

    Signals:
        filter_changed (str): what is written now, a moment after the last key; blank: no filter.
        next_asked, previous_asked: go to another hit.
        help_asked: how are conditions written?
        left: the keyboard goes back to the stream.
        marking_changed (bool): show all events, the hits marked; or only the hits.
    """

    filter_changed = Signal(str)
    next_asked = Signal()
    previous_asked = Signal()
    left = Signal()
    help_asked = Signal()
    marking_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("filter_bar")
        self.field = _Field()
        self.field.setObjectName("event_filter")
        self.field.setAccessibleName("Filter the events")
        self.field.setPlaceholderText(HINT)
        theme.make_clearable(self.field)
        self.field.setFont(theme.mono_font())
        self._remembered = QStringListModel(self)
        completer = QCompleter(self._remembered, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.field.setCompleter(completer)
        self._hits = QLabel()
        self._hits.setObjectName("filter_hits")
        self._hits.setTextFormat(Qt.TextFormat.PlainText)
        self._hits.setProperty("role", "secondary")
        self._previous = self._button("filter_previous", "arrow-up", "Previous hit", "Shift+F3")
        self._next = self._button("filter_next", "arrow-down", "Next hit", "F3")
        self._stop = self._button("filter_stop", "stop", "Stop searching", "Esc")
        self._help = self._button("filter_help", "circle-question", "How conditions are written", "F1")
        self._help.clicked.connect(self.help_asked)
        self.marking = self._button("filter_marking", "highlighter", "Show all events, the hits marked among them", "Ctrl+Shift+H")
        self.marking.setCheckable(True)
        self.marking.toggled.connect(self.marking_changed)
        self.saved = SavedFilters()
        self.saved.chosen.connect(self.set_text)
        self._previous.clicked.connect(self.previous_asked)
        self._next.clicked.connect(self.next_asked)
        self._stop.clicked.connect(self.clear)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._on_written)
        self._sent = ""
        self.field.textChanged.connect(self._on_text_changed)
        self.field.key_pressed.connect(self._on_key)
        self._reason = QLabel()
        self._reason.setObjectName("filter_reason")
        self._reason.setTextFormat(Qt.TextFormat.PlainText)
        self._reason.setWordWrap(True)
        self._reason.setProperty("role", "bad")
        row = QHBoxLayout()
        row.setSpacing(6)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        column.addLayout(row)
        column.addWidget(self._reason)
        row.addWidget(self.field, 1)
        for widget in (self._hits, self._stop, self._previous, self._next, self.marking, self.saved, self._help):
            row.addWidget(widget)
        self.show_hits(None, 0)

    def _button(self, name: str, icon: str, does: str, key: str) -> QToolButton:
        button = QToolButton()
        button.setObjectName(name)
        button.setAccessibleName(does)
        button.setToolTip(plain_tooltip(f"{does} ({key})"))
        button.setIcon(theme.icon(icon, "dim"))
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return button

    @property
    def text(self) -> str:
        """What is written."""
        return self.field.text()

    def set_text(self, text: str) -> None:
        """Write a filter, and ask it at once."""
        self.field.setText(text)
        self._pause.stop()
        self._on_written()

    def clear(self) -> None:
        """Take the filter away."""
        self.set_text("")

    def focus(self) -> None:
        """Take the keyboard, with all that is written selected."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def show_hits(self, shown: int | None, count: int, *, progress: float | None = None) -> None:
        """Say how much there is of it.

        Args:
            shown: events that meet the filter so far; None: there is no filter.
            count: of all events.
            progress: from 0 to 1 how much has been looked through; None: all.
        """
        searching = shown is not None and progress is not None
        for widget in (self._hits, self._previous, self._next):
            widget.setVisible(shown is not None)
        self._stop.setVisible(searching)
        if shown is not None:
            found = f"{shown:,} of {count:,}" if progress is None else f"{shown:,} found · {progress:.0%}"
            self._hits.setText(found)
            self.saved.offer(self.text.strip())
            self._next.setEnabled(shown > 0)
            self._previous.setEnabled(shown > 0)
        else:
            self.saved.offer("")
        self._reason.hide()
        self._mark("good" if shown is not None else "")
        self.field.setToolTip("")

    def show_problem(self, reason: str) -> None:
        """Say why what is written is no filter."""
        for widget in (self._hits, self._stop, self._previous, self._next):
            widget.hide()
        self.saved.offer("")
        self._reason.setText(visible(reason))
        self._reason.show()
        self.field.setToolTip(plain_tooltip(reason))
        self.field.setAccessibleDescription(reason)
        self._mark("wrong")

    def remember(self, text: str) -> None:
        """Offer a filter again later."""
        kept = [text, *(other for other in self._remembered.stringList() if other != text)]
        self._remembered.setStringList(kept[:MOST_REMEMBERED])

    @property
    def remembered(self) -> list[str]:
        """Earlier filters, the latest first."""
        return self._remembered.stringList()

    def set_remembered(self, texts: list[str]) -> None:
        """Offer these filters."""
        self._remembered.setStringList(texts[:MOST_REMEMBERED])

    def _mark(self, state: str) -> None:
        if self.field.property("state") != state:
            self.field.setProperty("state", state)
            theme.restyle(self.field)

    def _on_text_changed(self, _text: str) -> None:
        self._pause.start()

    def _on_written(self) -> None:
        text = self.field.text().strip()
        if text != self._sent:
            self._sent = text
            self.filter_changed.emit(text)

    def _on_key(self, word: str) -> None:
        if word == "escape":
            if self.text:
                self.clear()
            else:
                self.left.emit()
            return
        if self._pause.isActive():
            self._pause.stop()
            self._on_written()
            return
        (self.next_asked if word == "next" else self.previous_asked).emit()
