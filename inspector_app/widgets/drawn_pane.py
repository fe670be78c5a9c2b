"""A pane that draws something of the session, with a line above it, or a text that explains why there is nothing."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from inspector_app.widgets.displayed import Displayed
from inspector_app.widgets.elided_label import ElidedLabel
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.layouts import Part, laid_out, named
from inspector_app.widgets.pictures import PictureButton


class DrawnPane(QWidget):
    """A pane with a drawing.

    Attributes:
        displayed: whether the pane is displayed; one that is not is not computed.
        picture: the button that saves a picture; the subclass makes it.

    Args:
        name: object name.
        note: object name of the line.
        drawing: what is drawn.
        empty: shown where there is nothing to draw.
    """

    picture: PictureButton

    def __init__(self, name: str, note: str, drawing: QWidget, empty: EmptyState, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.displayed = Displayed(self)
        self._drawing = drawing
        self._note = named(ElidedLabel(), note)
        self._note.setProperty("role", "secondary")
        self._empty = empty
        self._empty.setMinimumHeight(drawing.minimumSizeHint().height())  # the pane shares its place with panes that may be low
        self._blank = QWidget()
        self._stack = QStackedLayout()
        for page in (self._empty, drawing, self._blank):
            self._stack.addWidget(page)

    def lay_out(self, *line: Part, spacing: int | None = None, left: int = 0) -> None:
        """Place the parts of the line above the drawing.

        Args:
            line: the parts.
            spacing: between them, in pixels; None: that of the style.
            left: the room before them, in pixels.
        """
        bar = laid_out(QHBoxLayout(), *line, margins=(left, 0, 0, 0), spacing=spacing)
        laid_out(QVBoxLayout(self), bar, (self._stack, 1), margins=0, spacing=2)

    @property
    def note(self) -> str:
        """The line about what is drawn."""
        return self._note.text()

    def show_note(self, note: str) -> None:
        """Show another line, such as that a session is being read."""
        self._note.setText(note)

    def clear(self) -> None:
        """Show nothing until the next drawing: what is shown is out of date."""
        self._note.setText("")
        self.picture.setEnabled(False)
        self._stack.setCurrentWidget(self._blank)

    def show_drawing(self, is_there: bool) -> None:
        """Show the drawing, or why there is none."""
        self.picture.setEnabled(is_there)
        self._stack.setCurrentWidget(self._drawing if is_there else self._empty)
