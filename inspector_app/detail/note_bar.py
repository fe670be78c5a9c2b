"""The note on the selected event: its text, and an editor in its place."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QPushButton, QToolButton, QVBoxLayout, QWidget

from inspector_app.presentation.values import visible_lines
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.icon_label import IconLabel
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.tooltips import set_tooltip
from runtime.sessions.note import MOST_CHARACTERS, Note

_ALWAYS = Qt.ScrollBarPolicy.ScrollBarAlwaysOn
_ROOM = 10  # pixels above and below the lines: margins and frame
_MOST_LINES, _EDITED_LINES = 5, 3  # of a text that is displayed, and at least while it is edited


class NoteBar(QWidget):
    """The note's text with buttons to edit and delete it, or its editor. Hidden while there is neither.

    Signals:
        saved (str): the user wrote this text.
        deleted: the user wants the text deleted.
        editing_began: the editor was opened.
        left: the editor was closed by a key.
    """

    saved = Signal(str)
    deleted = Signal()
    editing_began = Signal()
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("note_bar")
        self.setProperty("card", "said")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._stored = ""
        self._is_editing = False
        icon = IconLabel(14, self)
        icon.show_icon("note-sticky", "accent")
        self.text = _NoteEdit(self)
        self.text.finished.connect(self.save)
        self.text.given_up.connect(self._on_given_up)
        self.text.textChanged.connect(self._on_text_changed)
        self._edit = self._tool("edit_note", "Edit the note", "pen")
        self._edit.clicked.connect(self.edit)
        self._delete = self._tool("delete_note", "Delete the note", "trash")
        self._delete.clicked.connect(self.deleted)
        self._said = plain_label(name="note_hint", role="secondary", parent=self)
        self._save = self._button("save_note", "Save", is_primary=True)
        self._save.clicked.connect(self.save)
        self._cancel = self._button("cancel_note", "Cancel")
        self._cancel.clicked.connect(self._on_given_up)
        line = laid_out(QHBoxLayout(), (icon, 0, Qt.AlignmentFlag.AlignTop), (self.text, 1), spacing=6)
        for button in (self._edit, self._delete):
            line.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        below = laid_out(QHBoxLayout(), (self._said, 1), self._save, self._cancel, spacing=6)
        laid_out(QVBoxLayout(self), line, below, margins=(8, 5, 5, 5), spacing=4)
        self._show()

    def _tool(self, name: str, words: str, icon: str) -> QToolButton:
        made = named(QToolButton(self), name, words)
        set_tooltip(made, words)
        made.setIcon(theme.icon(icon, "dim"))
        made.setAutoRaise(True)
        made.setProperty("small", "true")
        theme.keep_icon_size(made, 12)
        return made

    def _button(self, name: str, words: str, *, is_primary: bool = False) -> QPushButton:
        made = push_button(words, name, does=f"{words} the note" if is_primary else "Leave the note as it was", parent=self)
        made.setProperty("primary", is_primary)
        return made

    @property
    def is_editing(self) -> bool:
        """Whether the editor is open."""
        return self._is_editing

    def set_note(self, note: Note | None) -> None:
        """Display an event's note; an open editor keeps what is typed."""
        text = note.text if note is not None else ""
        if text == self._stored:
            return  # nearly all events have none, and displaying it lays out the pane again
        self._stored = text
        if not self._is_editing:
            self._show()

    def edit(self) -> None:
        """Open the editor with the present text."""
        if not self._is_editing:
            self._is_editing = True
            self._show()
            self.editing_began.emit()
        self.text.setFocus(Qt.FocusReason.OtherFocusReason)
        self.text.moveCursor(QTextCursor.MoveOperation.End)

    def save(self) -> None:
        """Report the text and close the editor, if the text is not too long."""
        if self._save.isEnabled():
            text, had_focus = self.text.toPlainText(), self._has_focus
            self.close_editor()
            if text.strip() != self._stored:
                self.saved.emit(text)
            if had_focus:
                self.left.emit()

    def keep_draft(self) -> None:
        """Save what is typed, as another event is about to be displayed; a text that is too long is cut."""
        if self._is_editing:
            text = self.text.toPlainText()[:MOST_CHARACTERS]
            self.close_editor()
            if text.strip() != self._stored:
                self.saved.emit(text)

    def close_editor(self) -> None:
        """Close the editor without saving."""
        self._is_editing = False
        self._show()

    @property
    def _has_focus(self) -> bool:
        return any(part.hasFocus() for part in (self.text, self._save, self._cancel))

    def _on_given_up(self) -> None:
        self.close_editor()
        self.left.emit()

    def _show(self) -> None:
        editing = self._is_editing
        self.text.setPlainText(self._stored if editing else visible_lines(self._stored))
        self.text.set_editable(editing)
        for part in (self._said, self._save, self._cancel):
            part.setVisible(editing)
        for tool in (self._edit, self._delete):
            tool.setVisible(not editing)
        self.setVisible(editing or bool(self._stored))

    def _on_text_changed(self) -> None:
        length = len(self.text.toPlainText().strip())
        over = length > MOST_CHARACTERS
        self._save.setEnabled(not over)
        self._said.setText(f"{length:,} of at most {MOST_CHARACTERS:,} characters" if over else "Ctrl+Enter saves, Esc cancels")


class _NoteEdit(QPlainTextEdit):
    """A plain text as high as its lines, up to a limit.

    Signals:
        finished, given_up: Ctrl+Enter or Esc was pressed in the editor.
    """

    finished = Signal()
    given_up = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("note_text")
        self.setPlaceholderText("A note on this event")
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(2)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self.set_editable(False)

    def set_editable(self, editable: bool) -> None:
        """Open or close the editor."""
        self.setReadOnly(not editable)
        self.setAccessibleName("Write the note on the event" if editable else "Note on the event")
        self.setProperty("bare", "false" if editable else "true")
        theme.restyle(self)
        self._fit()

    def _fit(self, *_: object) -> None:
        least, most = (1, _MOST_LINES) if self.isReadOnly() else (_EDITED_LINES, _MOST_LINES + _EDITED_LINES)
        lines = int(self.document().size().height())
        # A scroll bar that comes and goes would wrap the text again, and so on.
        needs_bar = lines > most or (self.verticalScrollBarPolicy() == _ALWAYS and lines > most - 2)
        self.setVerticalScrollBarPolicy(_ALWAYS if needs_bar else Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFixedHeight(min(max(lines, least), most) * self.fontMetrics().lineSpacing() + _ROOM)

    def sizeHint(self) -> QSize:
        """Return a small size: the height is fixed, and the width is what there is."""
        return QSize(120, self.height())

    def minimumSizeHint(self) -> QSize:
        """Return the smallest size."""
        return QSize(60, self.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Save on Ctrl+Enter, and give up on Esc."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not self.isReadOnly() and is_enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.finished.emit()
        elif not self.isReadOnly() and event.key() == Qt.Key.Key_Escape:
            self.given_up.emit()
        else:
            super().keyPressEvent(event)
