"""The filter bar above the stream: the filter, the number of hits, and buttons that go from hit to hit."""

from __future__ import annotations

from PySide6.QtCore import QStringListModel, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QHBoxLayout, QLineEdit, QToolButton, QVBoxLayout, QWidget

from inspector_app.presentation.values import visible
from inspector_app.stream.saved_filters import SavedFilters
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.tooltips import set_tooltip

PAUSE_MS = 150  # without a key press until the filter is applied
MOST_REMEMBERED = 50  # earlier filters that are offered
HINT = 'Filter: any text, or a condition:  author == "pricing"'


class _Field(QLineEdit):
    """The filter's line edit. Enter goes to the next hit, Shift+Enter to the one before; Escape clears it, ↓ shows earlier filters."""

    key_pressed = Signal(str)

    @property
    def is_choosing(self) -> bool:
        """Whether the list of earlier filters is open."""
        popup = self.completer().popup()
        return popup is not None and popup.isVisible()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Report the bar's own keys by name."""
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        earlier = self.completer().popup()
        if earlier is not None and earlier.isVisible() and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape):
            earlier.hide()  # Qt leaves it open for a field that handles these keys
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
    """The filter bar.

    Attributes:
        field: the filter's line edit.
        saved: the button of saved filters.
        marking: the button that displays all events with the hits marked.

    Signals:
        filter_changed (str): the filter was edited, emitted a moment after the last key; blank: no filter.
        next_requested, previous_requested: the user wants to see another hit.
        help_requested: the user asks for the syntax of conditions.
        left: the keyboard focus goes back to the stream.
        marking_changed (bool): whether to display all events with the hits marked, or only the hits.
    """

    filter_changed = Signal(str)
    next_requested = Signal()
    previous_requested = Signal()
    left = Signal()
    help_requested = Signal()
    marking_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("filter_bar")
        self.field = named(_Field(), "event_filter", "Filter the events")
        self.field.setPlaceholderText(HINT)
        theme.make_clearable(self.field)
        theme.use_mono(self.field)
        self._remembered = QStringListModel(self)
        completer = QCompleter(self._remembered, self, caseSensitivity=Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.field.setCompleter(completer)
        self._hits = plain_label(name="filter_hits", role="secondary")
        self._previous = self._button("filter_previous", "arrow-up", "Previous hit", "Shift+F3")
        self._next = self._button("filter_next", "arrow-down", "Next hit", "F3")
        self._stop = self._button("filter_stop", "stop", "Stop searching", "Esc")
        self._help = self._button("filter_help", "circle-question", "How conditions are written", "F1")
        self._help.clicked.connect(self.help_requested)
        self.marking = self._button("filter_marking", "highlighter", "Show all events, hits marked", "Ctrl+Shift+H")
        self.marking.setCheckable(True)
        self.marking.toggled.connect(self.marking_changed)
        self.saved = SavedFilters()
        self.saved.chosen.connect(self.set_text)
        self._previous.clicked.connect(self.previous_requested)
        self._next.clicked.connect(self.next_requested)
        self._stop.clicked.connect(self.clear)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._on_written)
        self._sent = ""
        self.field.textChanged.connect(self._on_text_changed)
        self.field.key_pressed.connect(self._on_key)
        self._reason = plain_label(name="filter_reason", role="bad", wraps=True)
        row = QHBoxLayout()
        row.setSpacing(6)
        laid_out(QVBoxLayout(self), row, self._reason, margins=0, spacing=3)
        row.addWidget(self.field, 1)
        for widget in (self._hits, self._stop, self._previous, self._next, self.marking, self.saved, self._help):
            row.addWidget(widget)
        self.show_hits(None, 0)

    def _button(self, name: str, icon: str, does: str, key: str) -> QToolButton:
        button = named(QToolButton(), name, does)
        set_tooltip(button, f"{does} ({key})")
        button.setIcon(theme.icon(icon, "dim"))
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        theme.keep_icon_size(button, 16)
        return button

    @property
    def text(self) -> str:
        """The text of the filter."""
        return self.field.text()

    def set_text(self, text: str) -> None:
        """Set the filter and apply it at once."""
        self.field.setText(text)
        self._pause.stop()
        self._on_written()

    def clear(self) -> None:
        """Remove the filter."""
        self.set_text("")

    def focus(self) -> None:
        """Take the keyboard focus and select the text."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def show_hits(self, shown: int | None, count: int, *, progress: float | None = None) -> None:
        """Display the number of hits.

        Args:
            shown: number of events that pass the filter so far; None: there is no filter.
            count: number of all events.
            progress: the part of the events searched, from 0 to 1; None: all.
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
        set_tooltip(self.field, "")

    def show_problem(self, reason: str) -> None:
        """Display why the text is not a valid filter."""
        for widget in (self._hits, self._stop, self._previous, self._next):
            widget.hide()
        self.saved.offer("")
        self._reason.setText(visible(reason))
        self._reason.show()
        set_tooltip(self.field, reason)
        self._mark("wrong")

    def remember(self, text: str) -> None:
        """Add a filter to the earlier filters."""
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
        (self.next_requested if word == "next" else self.previous_requested).emit()
